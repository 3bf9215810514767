//! The random generators of a simulation, forked by name from one seed.
//!
//! Inputs: a seed, names. Outputs: numbers, durations and pauses. Invariant: a fork depends on the seed and its name
//! alone, so a new component does not change the choices of the others.
//! The generator is SplitMix64 (Steele, Lea, Flood 2014): no state beyond 64 bits, the same on every machine.

use jiff::SignedDuration;

use crate::objects::fnv;

/// A seeded generator.
#[derive(Clone, Debug)]
pub struct Chance {
    state: u64,
}

impl Chance {
    /// Starts a generator from a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the generator of a name; the parent is left as it is.
    #[must_use]
    pub fn fork(&self, name: &str) -> Self {
        let mut child = Self { state: self.state ^ fnv::add(fnv::START, name.bytes()) };
        child.bits();
        child
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`; 0 for a bound of 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The bias of the remainder is below 2^-40 for any bound that occurs here.
        if bound == 0 { 0 } else { self.bits() % bound }
    }

    /// Returns a number in [0, 1).
    #[expect(clippy::cast_precision_loss, reason = "53 bits are what a float holds")]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a duration from zero to `max`, both included, in whole microseconds.
    pub fn up_to(&mut self, max: SignedDuration) -> SignedDuration {
        SignedDuration::from_micros(i64::try_from(self.below(choices_up_to(max))).unwrap_or(0))
    }

    /// Returns `base` and up to `factor` of it more: Kubernetes' `wait.Jitter` (k8s.io/apimachinery pkg/util/wait).
    pub fn jitter(&mut self, base: SignedDuration, factor: f64) -> SignedDuration {
        self.pause(Jitter::of(base, factor))
    }

    /// Returns the next pause of a loop.
    pub fn pause(&mut self, jitter: Jitter) -> SignedDuration {
        jitter.base + SignedDuration::from_micros(i64::try_from(self.below(jitter.choices)).unwrap_or(0))
    }
}

/// The pauses of a loop: a shortest one, and how many longer ones there are, a microsecond apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Jitter {
    base: SignedDuration,
    choices: u64,
}

impl Jitter {
    /// Describes pauses of `base` and up to `factor` of it more.
    #[must_use]
    pub fn of(base: SignedDuration, factor: f64) -> Self {
        Self { base, choices: choices_up_to(base.mul_f64(factor)) }
    }

    /// Returns the shortest pause.
    #[must_use]
    pub const fn least(self) -> SignedDuration {
        self.base
    }

    /// Returns the longest pause.
    #[must_use]
    pub fn most(self) -> SignedDuration {
        self.base + SignedDuration::from_micros(i64::try_from(self.choices.saturating_sub(1)).unwrap_or(0))
    }
}

fn choices_up_to(max: SignedDuration) -> u64 {
    u64::try_from(max.as_micros()).unwrap_or(0).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::Chance;

    #[test]
    fn a_fork_depends_on_its_name_alone() {
        let mut used = Chance::new(1);
        let fresh = used.clone();
        used.bits();
        assert_eq!(fresh.fork("kubelet/w1").bits(), Chance::new(1).fork("kubelet/w1").bits());
        assert_ne!(fresh.fork("kubelet/w1").bits(), fresh.fork("kubelet/w2").bits());
    }

    #[test]
    fn unit_stays_below_one() {
        let mut chance = Chance::new(7);
        assert!((0..10_000).map(|_| chance.unit()).all(|unit| (0.0..1.0).contains(&unit)));
    }
}
