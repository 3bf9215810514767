//! Control planes that have just started: what scenarios of one seed and the same settings begin alike with.

use alloc::vec::Vec;

use super::{Options, Simulation};

/// Control planes that have just started, kept so that further simulations begin with copies.
///
/// How a control plane starts hangs on its options alone, and 60 informers list and watch by then: a copy takes a tenth
/// of the time.
#[derive(Debug, Default)]
pub struct Beginnings(Vec<Simulation>);

impl Beginnings {
    /// Starts a simulation as [`Simulation::new`] does. What was kept of another seed is given up.
    #[must_use]
    pub fn begin(&mut self, options: &Options) -> Simulation {
        if self.0.last().is_some_and(|kept| kept.options().seed != options.seed) {
            self.0.clear();
        }
        if let Some(kept) = self.0.iter().find(|kept| kept.options() == options) {
            return kept.clone();
        }
        let started = Simulation::new(options.clone());
        self.0.push(started.clone());
        started
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use jiff::SignedDuration;

    use super::Beginnings;
    use crate::components::machine::MachineSpec;
    use crate::sim::{Options, Simulation};

    /// Lets a machine join and five minutes pass; returns the trace.
    fn trace_of(mut simulation: Simulation) -> String {
        simulation.add_machine(MachineSpec::named("worker-1")).expect("a machine");
        simulation.advance_until(simulation.now() + SignedDuration::from_mins(5));
        simulation.record().last_lines(usize::MAX)
    }

    #[test]
    fn a_copy_of_a_beginning_goes_on_as_a_start_of_its_own_does() {
        let mut beginnings = Beginnings::default();
        for seed in [1, 2] {
            let options = Options { seed, ..Options::default() };
            let own = trace_of(Simulation::new(options.clone()));
            assert!(own.lines().count() > 100, "{own}");
            // The first is kept, the second copied; what befalls one copy does not befall the next.
            for _ in 0..3 {
                assert_eq!(trace_of(beginnings.begin(&options)), own);
            }
            assert_eq!(beginnings.0.len(), 1);
        }
        let _other = beginnings.begin(&Options { seed: 2, trace: false, ..Options::default() });
        assert_eq!(beginnings.0.len(), 2);
    }
}
