//! What scenarios of one seed have in common: a control plane that has just started, and what they are given.
//!
//! Where two scenarios want the same cluster and begin with the same `Given` lines, all goes alike up to the last of
//! these: the second goes on with a copy of the first one's cluster, and its run is told what the first one's was told.
//! Inputs: scenarios, one after the other. Outputs: where each may begin. Invariant: nobody can tell a scenario that went
//! along from one that went all the way by itself.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Deref;

use jiff::Timestamp;

use super::world::Site;
use super::{Options, Simulation};
use crate::components::api_server::Tap;
use crate::network::Resource;
use crate::objects::Text;
use crate::scenario::{Observation, Outcome, Run, RunOutput, Setup};

/// How many objects the clusters may hold that are kept after something was given to them: some 60 small clusters, of
/// which a suite asks for the latest, in about as many MiB. A larger cluster is never kept.
const KEPT_OBJECTS_MAX: usize = 4096;
/// How many control planes are kept that have just started: one for each set of flags that a suite is likely to have.
const STARTED_MAX: usize = 64;
/// How many ways may go on from one place. Those after them are not remembered.
const WAYS_MAX: usize = 256;

/// What scenarios have begun with, kept so that others of the same seed begin with copies.
#[derive(Default)]
pub struct Beginnings {
    /// How a control plane starts hangs on its options alone, and 60 informers list and watch by then: a copy takes an
    /// eighth of the time.
    started: Vec<Simulation>,
    /// What scenarios stand on, with the first of their places.
    grounds: Vec<(Ground, usize)>,
    places: Vec<Place>,
    /// The places that have a cluster, the latest used last, and how many objects it holds.
    pub(super) kept: Vec<(usize, usize)>,
}

/// What must be equal for two scenarios to go alike, beside what they are given.
#[derive(Clone, PartialEq)]
pub(super) struct Ground {
    pub(super) options: Options,
    /// Which commits the driver is told.
    pub(super) tap: Tap,
    /// The kinds whose objects the run is told of at the start.
    pub(super) kinds: BTreeSet<Resource>,
    /// The machines that lines look at, and whether at their containers alone.
    pub(super) machines: BTreeMap<Text, bool>,
}

/// A place on the way that `Given` lines lead.
#[derive(Default)]
struct Place {
    /// What each line that goes on from here asks for, and where it leads.
    ways: Vec<(Setup, usize)>,
    /// How many scenarios of this seed, and of the one before, came by.
    passed: u32,
    passed_before: u32,
    begun: Option<Begun>,
}

/// A scenario that has come to a place.
struct Begun {
    site: Site,
    told: Vec<Arc<Vec<Told>>>,
}

/// The places that a scenario comes by, the first behind its first `Given` line.
#[derive(Default)]
pub(super) struct Way {
    places: Vec<usize>,
    /// How many of them it has come by.
    passed: usize,
}

/// What a driver did to a run.
enum Told {
    Start(Timestamp),
    Observation(Observation, Timestamp),
    Timeout(Timestamp),
    /// It took an output, this one.
    Polled(RunOutput),
}

/// A run that remembers what it was told until all is there that its scenario was given.
pub(super) struct Telling {
    run: Run,
    /// What it was told up to the last place.
    told: Vec<Arc<Vec<Told>>>,
    /// What it was told since then; `None` once nobody can go along any further.
    since: Option<Vec<Told>>,
}

impl Beginnings {
    /// Starts a simulation as [`Simulation::new`] does.
    #[must_use]
    pub fn begin(&mut self, options: &Options) -> Simulation {
        self.turn_to(options.seed);
        if let Some(started) = self.started.iter().find(|started| started.options() == options) {
            return started.clone();
        }
        let started = Simulation::new(options.clone());
        if self.started.len() == STARTED_MAX {
            self.started.remove(0);
        }
        self.started.push(started.clone());
        started
    }

    /// Gives up what was kept of another seed. Which ways there are, and how much they are used, is the same with each.
    fn turn_to(&mut self, seed: u64) {
        let is_of = |kept: &Options| kept.seed == seed;
        if self.started.last().is_some_and(|started| !is_of(started.options())) {
            self.started.clear();
        }
        if self.grounds.last().is_some_and(|(ground, _)| !is_of(&ground.options)) {
            self.grounds.iter_mut().for_each(|(ground, _)| ground.options.seed = seed);
            self.kept.clear();
            for place in &mut self.places {
                place.begun = None;
                place.passed_before = core::mem::take(&mut place.passed);
            }
        }
    }

    /// Finds the places that a scenario comes by, and notes that it does.
    pub(super) fn way<'a>(&mut self, ground: Ground, given: impl Iterator<Item = &'a Setup>) -> Way {
        self.turn_to(ground.options.seed);
        let known = self.grounds.iter().find(|(known, _)| *known == ground).map(|(_, place)| *place);
        let mut at = known.unwrap_or_else(|| {
            let place = self.add_place();
            self.grounds.push((ground, place));
            place
        });
        let mut way = Way::default();
        for setup in given {
            let known = self.places[at].ways.iter().find(|(known, _)| known == setup).map(|(_, to)| *to);
            at = match known {
                Some(to) => to,
                None if self.places[at].ways.len() == WAYS_MAX => break,
                None => {
                    let to = self.add_place();
                    self.places[at].ways.push((setup.clone(), to));
                    to
                }
            };
            self.places[at].passed += 1;
            way.places.push(at);
        }
        way
    }

    fn add_place(&mut self) -> usize {
        self.places.push(Place::default());
        self.places.len() - 1
    }

    /// Takes a run as far as another scenario has come on the same way; `None` if none has.
    pub(super) fn go_along(&mut self, way: &Way, mut run: Run) -> Option<(Telling, Site)> {
        let passed = way.places.iter().rposition(|place| self.places[*place].begun.is_some())? + 1;
        let place = way.places[passed - 1];
        let begun = self.places[place].begun.as_ref()?;
        let went_alike = begun.told.iter().flat_map(|told| &**told).all(|told| told.tell(&mut run));
        if !went_alike || run.given() != passed || run.is_over() {
            return None;
        }
        let copy = (Telling { run, told: begun.told.clone(), since: Some(Vec::new()) }, begun.site.clone());
        if let Some(kept) = self.kept.iter().position(|(kept, _)| *kept == place) {
            self.kept[kept..].rotate_left(1);
        }
        Some(copy)
    }

    /// Keeps the cluster of a scenario that has come to a place where others go along.
    pub(super) fn keep(&mut self, way: &mut Way, run: &mut Telling, site: &Site) {
        if run.since.is_none() || run.is_over() {
            return;
        }
        let passed = run.given().min(way.places.len());
        if passed > way.passed {
            way.passed = passed;
            let at = way.places[passed - 1];
            let objects = site.size();
            if self.is_worth_keeping(at) && self.make_room(objects) {
                self.places[at].begun = Some(Begun { site: site.clone(), told: run.told_so_far() });
                self.kept.push((at, objects));
            }
        }
        if passed == way.places.len() {
            run.since = None;
        }
    }

    /// Gives up what was used longest ago until so many objects find room; false if they never do.
    fn make_room(&mut self, objects: usize) -> bool {
        let Some(most) = KEPT_OBJECTS_MAX.checked_sub(objects) else { return false };
        let mut kept: usize = self.kept.iter().map(|(_, objects)| objects).sum();
        while kept > most {
            let (oldest, objects) = self.kept.remove(0);
            self.places[oldest].begun = None;
            kept -= objects;
        }
        true
    }

    /// Tells whether more scenarios are to be expected at a place: as many as came by under the seed before, if not all
    /// of them go on to the same next place; else, if this is the second.
    fn is_worth_keeping(&self, at: usize) -> bool {
        let place = &self.places[at];
        let is_fork = place.ways.iter().all(|(_, to)| self.places[*to].passed_before < place.passed_before);
        let is_used = if place.passed_before > 0 { place.passed_before > 1 && is_fork } else { place.passed > 1 };
        place.begun.is_none() && is_used
    }
}

impl Told {
    /// Does the same to another run; false if that one asks for something else.
    fn tell(&self, run: &mut Run) -> bool {
        match self {
            Self::Start(at) => run.handle_start(*at),
            Self::Observation(observation, at) => run.handle_observation(observation.clone(), *at),
            Self::Timeout(at) => run.handle_timeout(*at),
            Self::Polled(output) => return run.poll_output().is_some_and(|own| is_alike(&own, output)),
        }
        true
    }
}

/// Tells whether two outputs ask for the same; their steps stand in other lines.
fn is_alike(one: &RunOutput, other: &RunOutput) -> bool {
    match (one, other) {
        (RunOutput::Perform { id, task, .. }, RunOutput::Perform { id: other_id, task: other_task, .. }) => {
            id == other_id && task == other_task
        }
        _ => one == other,
    }
}

impl Telling {
    pub(super) const fn new(run: Run) -> Self {
        Self { run, told: Vec::new(), since: Some(Vec::new()) }
    }

    pub(super) fn start(&mut self, now: Timestamp) {
        self.remember(|| Told::Start(now));
        self.run.handle_start(now);
    }

    pub(super) fn handle_observation(&mut self, observation: Observation, now: Timestamp) {
        self.remember(|| Told::Observation(observation.clone(), now));
        self.run.handle_observation(observation, now);
    }

    pub(super) fn handle_timeout(&mut self, now: Timestamp) {
        self.remember(|| Told::Timeout(now));
        self.run.handle_timeout(now);
    }

    pub(super) fn poll_output(&mut self) -> Option<RunOutput> {
        let output = self.run.poll_output()?;
        self.remember(|| Told::Polled(output.clone()));
        Some(output)
    }

    pub(super) fn into_outcome(self) -> Outcome {
        self.run.into_outcome()
    }

    fn remember(&mut self, told: impl FnOnce() -> Told) {
        if let Some(since) = &mut self.since {
            since.push(told());
        }
    }

    /// Returns all that it was told, which others share from here on.
    fn told_so_far(&mut self) -> Vec<Arc<Vec<Told>>> {
        let since = self.since.as_mut().map(core::mem::take).unwrap_or_default();
        self.told.push(Arc::new(since));
        self.told.clone()
    }
}

/// To be asked; what is told goes by the methods above.
impl Deref for Telling {
    type Target = Run;

    fn deref(&self) -> &Run {
        &self.run
    }
}

impl core::fmt::Debug for Beginnings {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Beginnings")
            .field("started", &self.started.len())
            .field("kept", &self.kept)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use jiff::SignedDuration;

    use super::{Beginnings, KEPT_OBJECTS_MAX};
    use crate::components::machine::MachineSpec;
    use crate::json;
    use crate::sim::{Options, Simulation};

    /// Lets a machine join and five minutes pass; returns the trace.
    fn trace_of(mut simulation: Simulation) -> String {
        simulation.add_machine(MachineSpec::from_json(&json!({"name": "worker-1"})).unwrap()).unwrap();
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
            // The first is kept, the others are copies: what befalls one does not befall the next.
            for _ in 0..3 {
                assert_eq!(trace_of(beginnings.begin(&options)), own);
            }
            assert_eq!(beginnings.started.len(), 1);
        }
        let _other = beginnings.begin(&Options { seed: 2, trace: false, ..Options::default() });
        assert_eq!(beginnings.started.len(), 2);
    }

    #[test]
    fn what_was_used_longest_ago_makes_room_but_not_for_what_never_finds_any() {
        let mut beginnings = Beginnings::default();
        let places: [usize; 3] = core::array::from_fn(|_| beginnings.add_place());
        beginnings.kept = Vec::from([(places[1], KEPT_OBJECTS_MAX - 10), (places[0], 4), (places[2], 6)]);
        assert!(!beginnings.make_room(KEPT_OBJECTS_MAX + 1));
        assert_eq!(beginnings.kept.len(), 3);
        assert!(beginnings.make_room(1));
        assert_eq!(beginnings.kept, [(places[0], 4), (places[2], 6)]);
        assert!(beginnings.make_room(KEPT_OBJECTS_MAX - 6));
        assert_eq!(beginnings.kept, [(places[2], 6)]);
    }
}
