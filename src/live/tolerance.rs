//! How long scenarios may take in real time, and by how much a bound may be missed.
//!
//! Inputs: measured latency, the settings of the release, a scenario. Outputs: a [`TimingTolerance`], the scenario with
//! wider bounds, or why it takes too long. The bounds of a scenario leave room for the phases of all loops of the
//! cluster, as every seed of the simulator shows. Real time adds the latency of each request and watch event, and the
//! delays of a busy machine. Invariant: the tolerance consists of latency and of API times in whole seconds, never of
//! loop periods. Pure.

use std::fmt;

use jiff::SignedDuration;
use nodeproof_core::objects::time::seconds;
use nodeproof_core::profile::Settings;
use nodeproof_core::scenario::{Bound, Expectation, Fact, Predicate, Scenario, ScenarioAction, Setup, Subject};

use super::timing::{API_SECOND, EVICTED_AFTER, LOST_AFTER, SHORT_MAX, SLOW_MAX, TOLERANCE_MAX};

/// How long the bounds of a scenario may last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeLimit {
    /// Bounds of at most two minutes.
    #[default]
    Short,
    /// Bounds of at most ten minutes: `--slow`.
    Slow,
}

impl TimeLimit {
    /// Returns the limit.
    #[must_use]
    pub const fn limit(self) -> SignedDuration {
        match self {
            Self::Short => SHORT_MAX,
            Self::Slow => SLOW_MAX,
        }
    }

    /// Returns why a scenario takes too long.
    #[must_use]
    pub fn obstacle(self, scenario: &Scenario) -> Option<String> {
        let length = expected_length(scenario);
        if length <= self.limit() {
            return None;
        }
        Some(match self {
            Self::Short if length <= Self::Slow.limit() => "more than 2 min of real time: --slow runs it".to_owned(),
            _ => "more than 10 min of real time".to_owned(),
        })
    }
}

/// Returns how long the bounds of a scenario last in all, as far as that is known before it runs.
#[must_use]
pub fn expected_length(scenario: &Scenario) -> SignedDuration {
    let pass = |action: &ScenarioAction| match action {
        ScenarioAction::Pass(duration) => *duration,
        ScenarioAction::Until(fact) => comes_after(fact),
        _ => SignedDuration::ZERO,
    };
    let given = scenario.given.iter().map(|given| match &given.setup {
        Setup::Until(fact) => comes_after(fact),
        _ => SignedDuration::ZERO,
    });
    let acts = scenario.acts.iter().map(|act| act.expectations.iter().map(latest).max().unwrap_or_default());
    given.chain(scenario.actions().map(pass)).chain(acts).sum()
}

/// Returns how long a state is awaited that a bound refers to. Pods leave a lost Node when its grace period and the
/// default toleration are over; anything else comes within a grace period.
fn comes_after(fact: &Fact) -> SignedDuration {
    match fact.predicate {
        Predicate::Deleted | Predicate::Gone | Predicate::Terminating => EVICTED_AFTER,
        Predicate::Condition { .. } | Predicate::Taint(_) => LOST_AFTER,
        _ => SignedDuration::ZERO,
    }
}

/// Returns the end of a bound. What the bound refers to is included if another line says when that comes at the latest.
fn latest(line: &Expectation) -> SignedDuration {
    match &line.bound {
        Bound::At { offset, .. } => *offset,
        Bound::Apart { to, .. } => *to,
        bound => bound.end(),
    }
}

/// By how much bounds may be missed, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct TimingTolerance {
    /// How long a request takes to be answered, and an event to be seen.
    pub latency: SignedDuration,
    /// By how much a bound may be missed.
    pub tolerance: SignedDuration,
    /// How many requests and events, each of this latency, the tolerance covers.
    pub ways: i32,
    /// The period of health passes: `--node-monitor-period`.
    pub health_period: SignedDuration,
}

impl TimingTolerance {
    /// How many requests and events lie between a cause and its observation: a heartbeat, the controller's watch, its
    /// write, our watch, each with the queue of a busy machine before it.
    const WAYS: i32 = 20;

    /// How many requests lengthen a health pass, one after the other: those about a Node that falls silent, for its
    /// status and its Pods. The next pass comes a period after the end of the last one, so a grace period takes longer
    /// by all of them.
    ///
    /// Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), `Run` and `monitorNodeHealth`.
    const PASS_WAYS: i32 = 3;

    /// How many requests one slow moment affects: those of one cause, one after the other.
    const SLOW_WAYS: i32 = 4;

    /// Computes the tolerance from the measured latency and the settings.
    #[must_use]
    pub fn of(latency: SignedDuration, settings: &Settings) -> Self {
        let health_period = settings.duration("node-monitor-period");
        let grace_period = settings.duration("node-monitor-grace-period");
        let passes = grace_period.as_secs() / health_period.as_secs().max(1);
        let ways = Self::WAYS + Self::PASS_WAYS * i32::try_from(passes).unwrap_or(i32::MAX / 100);
        let tolerance = (API_SECOND + latency.saturating_mul(ways)).min(TOLERANCE_MAX);
        Self { latency, tolerance, ways, health_period }
    }

    /// Tells whether a machine on which a single request took this long is too slow for the tolerance: the latency that
    /// was measured before the scenario is then no longer true, or it was so long that even the largest tolerance does
    /// not cover what lies between a cause and its observation.
    #[must_use]
    pub fn is_overrun_by(&self, slowest: SignedDuration) -> bool {
        slowest * Self::SLOW_WAYS > self.tolerance || self.latency * Self::WAYS > self.tolerance
    }

    /// Returns a scenario whose bounds are wider by the tolerance at both ends.
    #[must_use]
    pub fn widened(&self, scenario: &Scenario) -> Scenario {
        let mut scenario = scenario.clone();
        for act in &mut scenario.acts {
            // What is checked as long as the act lasts must be there by the end of the tolerance.
            let is_looked_at = act.expectations.iter().any(|line| line.bound == Bound::Act);
            for line in &mut act.expectations {
                // An exact number of Events is counted at the end of the bound, and an answer comes at once.
                let is_counted = matches!(line.fact.predicate, Predicate::Event { times: Some(_), .. });
                if line.fact.subject != Subject::Answer && !is_counted {
                    line.bound = match &line.bound {
                        Bound::AtOnce if is_looked_at => Bound::Within(self.tolerance),
                        bound => self.widen(bound),
                    };
                }
                widen_pauses(&mut line.fact, self.tolerance);
            }
        }
        scenario
    }

    fn widen(&self, bound: &Bound) -> Bound {
        let earlier = |at: SignedDuration| (at - self.tolerance).max(SignedDuration::ZERO);
        match bound {
            // It does not prolong the act: the next one follows at once, as on the simulator, where news take no time.
            Bound::AtOnce => Bound::Soon(self.tolerance),
            Bound::Within(limit) => Bound::Within(*limit + self.tolerance),
            Bound::Between(first, last) => Bound::Between(earlier(*first), *last + self.tolerance),
            Bound::For(limit) => Bound::For(earlier(*limit).max(*limit / 2)),
            Bound::Apart { from, to, after } => {
                Bound::Apart { from: earlier(*from), to: *to + self.tolerance, after: after.clone() }
            }
            Bound::After { fact, within } => {
                Bound::After { fact: fact.clone(), within: within.map(|within| within + self.tolerance) }
            }
            // For an exact instant the run applies the tolerance itself; an act needs none.
            Bound::At { .. } | Bound::Soon(_) | Bound::Act => bound.clone(),
        }
    }
}

fn widen_pauses(fact: &mut Fact, by: SignedDuration) {
    if let Predicate::RenewedEvery { tolerance, .. } = &mut fact.predicate {
        *tolerance += by;
    }
}

impl fmt::Display for TimingTolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tolerance, latency) = (seconds(self.tolerance), seconds(self.latency));
        let ways = self.ways;
        let most = seconds(TOLERANCE_MAX);
        write!(
            f,
            "bounds may be missed by {tolerance}: API times are whole seconds, and {ways} ways of {latency}, at most \
                {most}"
        )
    }
}

#[cfg(test)]
mod tests {
    use nodeproof_core::profile::{DEFAULT_RELEASE, Settings};

    use super::*;

    #[test]
    fn bounds_are_widened_at_both_ends() {
        let timing_tolerance = TimingTolerance::of(SignedDuration::from_millis(20), &Settings::of(DEFAULT_RELEASE));
        let sec = SignedDuration::from_secs;
        // 20 requests, and three in each of the ten passes of a grace period.
        assert_eq!((timing_tolerance.ways, timing_tolerance.tolerance), (50, sec(2)));
        for (bound, wider) in [
            (Bound::AtOnce, Bound::Soon(sec(2))),
            (Bound::Within(sec(60)), Bound::Within(sec(62))),
            (Bound::Between(sec(1), sec(5)), Bound::Between(sec(0), sec(7))),
            (Bound::For(sec(25)), Bound::For(sec(23))),
        ] {
            assert_eq!(timing_tolerance.widen(&bound), wider);
        }
    }

    #[test]
    fn four_slow_ways_use_a_tolerance_up() {
        let timing_tolerance = TimingTolerance::of(SignedDuration::from_millis(20), &Settings::of(DEFAULT_RELEASE));
        assert!(!timing_tolerance.is_overrun_by(SignedDuration::from_millis(500)));
        assert!(timing_tolerance.is_overrun_by(SignedDuration::from_millis(501)));
    }

    #[test]
    fn a_latency_that_the_largest_tolerance_does_not_cover_uses_it_up() {
        let of = |millis| TimingTolerance::of(SignedDuration::from_millis(millis), &Settings::of(DEFAULT_RELEASE));
        assert_eq!((of(250).tolerance, of(251).tolerance), (TOLERANCE_MAX, TOLERANCE_MAX));
        assert!(!of(250).is_overrun_by(SignedDuration::ZERO));
        assert!(of(251).is_overrun_by(SignedDuration::ZERO));
    }
}
