//! The setup cache: started control planes, and the cluster after the `Given` lines of the last scenario, for reuse by
//! scenarios of the same seed.
//!
//! A scenario that wants the same cluster as the one before it, and begins with the same `Given` lines, continues with
//! a copy of that cluster. Its run takes the recorded inputs again, since its lines have other positions and look at
//! other objects.
//! Inputs: scenarios, one after the other. Outputs: the cluster that each may start from. Invariant (tested in
//! `harness`): the outcome is the same as without the cache.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use jiff::Timestamp;

use super::world::ClusterState;
use super::{Simulation, SimulationOptions};
use crate::components::api_server::Tap;
use crate::network::Resource;
use crate::objects::Text;
use crate::scenario::{Observation, Run, RunOutput, Setup};

/// How many started control planes are kept: one for each set of flags that a suite is likely to have.
const STARTED_MAX: usize = 64;
/// How many objects a kept cluster may have: a copy of a large one takes longer than it saves.
const OBJECTS_MAX: usize = 4096;

/// Clusters of earlier scenarios, kept so that others of the same seed begin with copies.
#[derive(Default)]
pub struct SetupCache {
    /// A copy takes an eighth of the time that a control plane takes to start.
    started: Vec<Simulation>,
    /// What the last scenario ran on.
    key: Option<SetupKey>,
    /// Its `Given` lines, each with the cluster after it if two scenarios in a row had the lines up to it.
    pub(super) given: Vec<(Setup, Option<Prepared>)>,
    /// How many of them it had in common with the scenario before it.
    shared: usize,
}

/// What must be equal for two scenarios to share a cluster, beside their `Given` lines.
#[derive(Clone, PartialEq)]
pub(super) struct SetupKey {
    pub(super) options: SimulationOptions,
    /// Which commits the driver gets.
    pub(super) tap: Tap,
    /// The kinds whose objects the run is told of at the start.
    pub(super) kinds: BTreeSet<Resource>,
    /// The machines that lines look at, and whether at their containers alone.
    pub(super) machines: BTreeMap<Text, bool>,
}

/// A cluster after some `Given` line, and the inputs of the run up to then.
#[derive(Clone)]
pub(super) struct Prepared {
    pub(super) cluster: ClusterState,
    pub(super) inputs: Vec<RunInput>,
}

/// An input of a run, or an output that is taken from it.
#[derive(Clone)]
pub(super) enum RunInput {
    Start(Timestamp),
    Observation(Observation, Timestamp),
    Timeout(Timestamp),
    /// This output is taken.
    Poll(RunOutput),
}

impl SetupCache {
    /// Starts a simulation as [`Simulation::new`] does.
    #[must_use]
    pub fn start(&mut self, options: &SimulationOptions) -> Simulation {
        if let Some(started) = self.started.iter().find(|started| started.options() == options) {
            return started.clone();
        }
        let started = Simulation::new(options.clone());
        if self.started.len() == STARTED_MAX
            || self.started.last().is_some_and(|last| last.options.seed != options.seed)
        {
            self.started.clear();
        }
        self.started.push(started.clone());
        started
    }

    /// Brings a run to the last kept cluster that it shares with the scenario before; `None` if none is kept.
    pub(super) fn resume(&mut self, key: SetupKey, given: Vec<Setup>, run: &mut Run) -> Option<Prepared> {
        if self.key.as_ref() != Some(&key) {
            self.key = Some(key);
            self.given.clear();
        }
        self.shared = self.given.iter().zip(&given).take_while(|((own, _), other)| own == *other).count();
        self.given.truncate(self.shared);
        let prepared = self.given.iter().rev().find_map(|(_, prepared)| prepared.clone());
        self.given.extend(given.into_iter().skip(self.shared).map(|setup| (setup, None)));
        prepared.filter(|prepared| prepared.inputs.iter().all(|input| input.clone().give(run)))
    }

    /// Returns the number of `Given` lines after which the scenario's cluster is to be kept, if at all.
    pub(super) fn keeps_after(&self) -> Option<usize> {
        let (_, prepared) = self.given.get(self.shared.checked_sub(1)?)?;
        prepared.is_none().then_some(self.shared)
    }

    /// Keeps the cluster of a scenario after the line of [`Self::keeps_after`].
    pub(super) fn keep(&mut self, prepared: Prepared) {
        if prepared.cluster.size() <= OBJECTS_MAX
            && let Some((_, kept)) = self.shared.checked_sub(1).and_then(|last| self.given.get_mut(last))
        {
            *kept = Some(prepared);
        }
    }
}

impl RunInput {
    /// Applies it to a run; false if the run gives another output.
    pub(super) fn give(self, run: &mut Run) -> bool {
        match self {
            Self::Start(at) => run.handle_start(at),
            Self::Observation(observation, at) => run.handle_observation(observation, at),
            Self::Timeout(at) => run.handle_timeout(at),
            Self::Poll(output) => return run.poll_output().is_some_and(|own| is_alike(&own, &output)),
        }
        true
    }
}

/// Tells whether two outputs ask for the same, apart from the positions of their steps.
fn is_alike(one: &RunOutput, other: &RunOutput) -> bool {
    match (one, other) {
        (RunOutput::Perform { id, task, .. }, RunOutput::Perform { id: other_id, task: other_task, .. }) => {
            id == other_id && task == other_task
        }
        _ => one == other,
    }
}

impl core::fmt::Debug for SetupCache {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SetupCache")
            .field("started", &self.started.len())
            .field("given", &self.given.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use jiff::SignedDuration;

    use super::SetupCache;
    use crate::components::machine::MachineSpec;
    use crate::json;
    use crate::sim::{Simulation, SimulationOptions};

    /// Lets a machine join and five minutes pass; returns the trace.
    fn trace_of(mut simulation: Simulation) -> String {
        simulation.add_machine(MachineSpec::from_json(&json!({"name": "worker-1"})).unwrap()).unwrap();
        simulation.advance_until(simulation.now() + SignedDuration::from_mins(5));
        simulation.record().last_lines(usize::MAX)
    }

    #[test]
    fn a_copy_of_a_started_control_plane_goes_on_as_a_start_of_its_own_does() {
        let mut cache = SetupCache::default();
        for seed in [1, 2] {
            let options = SimulationOptions { seed, ..SimulationOptions::default() };
            let own = trace_of(Simulation::new(options.clone()));
            assert!(own.lines().count() > 100, "{own}");
            // The first is kept, the others are copies: what is done to one is not done to the next.
            for _ in 0..3 {
                assert_eq!(trace_of(cache.start(&options)), own);
            }
            assert_eq!(cache.started.len(), 1);
        }
        let _other = cache.start(&SimulationOptions { seed: 2, trace: false, ..SimulationOptions::default() });
        assert_eq!(cache.started.len(), 2);
    }
}
