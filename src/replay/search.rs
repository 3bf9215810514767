//! Searches the free choices with which a component makes the recorded writes.
//!
//! Inputs: a recording in order, a writer, the known passes. Output: the best run with its choices. A real run contains
//! races: whether a taint pass came before a status was seen, whether a renewal reached the cache before a health pass
//! began. The differences of a run suggest choices that could explain them. These are tried together, then one by one,
//! and kept only if they leave fewer differences. Invariant: a choice is within the milliseconds by which the recorded
//! instants are uncertain; a choice that changes nothing is dropped.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use nodeproof_core::components::volumes::VOLUMES;
use nodeproof_core::network::{EVENTS, NODES, Verb};
use nodeproof_core::profile::Settings;

use super::differences;
use super::drive::{self, Choices, Prediction, Run};
use super::load::Micros;
use super::phases::{self, Passes};
use super::recorded::{Recorded, RecordedWrite};
use super::writers::{WriteChange, Writer};

/// How many runs of one writer a search may take.
const RUNS_MAX: usize = 100;
/// If a write repeats another one of the same object within this time, the cache had an old version.
const STALE_WITHIN: Micros = 1_000_000;
/// A taint that comes this soon after the status that causes it may belong to the next taint pass.
const TICK_WITHIN: Micros = 300_000;
/// How near a change of a volume is to an attempt to schedule that it may cause.
const VOLUME_MATTERS: Micros = 60_000;
/// How long after a write of a volume is answered the scheduler sees it, at most.
const VOLUME_LATE: Micros = 5_000;
/// How much later than the recorder, or earlier, an event may reach a cache.
const EVENT_LATE: Micros = 60_000;
const EVENT_EARLY: Micros = 4_000;
/// The same for a pass whose instant is inferred from its neighbours.
const PASS_UNCERTAIN: Micros = 150_000;
/// How long before the taint that it causes a health pass may have begun: these times are tried.
const PASS_BEFORE_TAINT: [Micros; 2] = [10_000, 60_000];
/// For how long a renewal can affect whether a node counts as silent.
const RENEWAL_MATTERS: Micros = 120_000_000;
/// For how long a change of a Node can affect health passes.
const CHANGE_MATTERS: Micros = 15_000_000;

/// A choice that could explain a difference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Choice {
    LateEcho(usize),
    /// The same, and the server's cache lagged as well.
    LateCache(usize),
    EarlyTick(usize),
    TickInPass(usize),
    /// An event of a stream came at this instant instead of the recorded one.
    Moved(usize, usize, Micros),
    /// A health pass began at this instant.
    Pass(Micros),
}

impl Choice {
    fn is_in(self, choices: &Choices) -> bool {
        match self {
            Self::LateEcho(write) => choices.late_echo.contains(&write),
            Self::LateCache(write) => choices.late_cache.contains(&write),
            Self::EarlyTick(write) => choices.early_tick.contains(&write),
            Self::TickInPass(pass) => choices.tick_in_pass.contains(&pass),
            Self::Moved(stream, at, _) => choices.moved.contains_key(&(stream, at)),
            Self::Pass(start) => choices.passes.contains(&start),
        }
    }

    fn put(self, choices: &mut Choices) {
        match self {
            Self::LateEcho(write) => {
                choices.late_echo.insert(write);
            }
            Self::LateCache(write) => {
                choices.late_echo.insert(write);
                choices.late_cache.insert(write);
            }
            Self::EarlyTick(write) => {
                choices.early_tick.insert(write);
            }
            Self::TickInPass(pass) => {
                choices.tick_in_pass.insert(pass);
            }
            Self::Moved(stream, at, to) => {
                choices.moved.entry((stream, at)).or_insert(to);
            }
            Self::Pass(start) => {
                choices.passes.insert(start);
            }
        }
    }

    fn take(self, choices: &mut Choices) {
        match self {
            Self::LateEcho(write) => {
                choices.late_echo.remove(&write);
                choices.late_cache.remove(&write);
            }
            Self::LateCache(write) => {
                choices.late_cache.remove(&write);
            }
            Self::EarlyTick(write) => {
                choices.early_tick.remove(&write);
            }
            Self::TickInPass(pass) => {
                choices.tick_in_pass.remove(&pass);
            }
            Self::Moved(stream, at, _) => {
                choices.moved.remove(&(stream, at));
            }
            Self::Pass(start) => {
                choices.passes.remove(&start);
            }
        }
    }
}

fn all_of(choices: &Choices) -> Vec<Choice> {
    let mut all: Vec<Choice> = choices.late_echo.iter().map(|write| Choice::LateEcho(*write)).collect();
    all.extend(choices.late_cache.iter().map(|write| Choice::LateCache(*write)));
    all.extend(choices.early_tick.iter().map(|write| Choice::EarlyTick(*write)));
    all.extend(choices.tick_in_pass.iter().map(|pass| Choice::TickInPass(*pass)));
    all.extend(choices.passes.iter().map(|start| Choice::Pass(*start)));
    all.extend(choices.moved.iter().map(|((stream, at), to)| Choice::Moved(*stream, *at, *to)));
    all
}

/// The search for the best run of one writer.
pub struct Search<'a> {
    recorded: &'a Recorded<'a>,
    writer: Writer,
    settings: &'a Arc<Settings>,
    passes: &'a Passes,
    /// The period of the health passes.
    period: Micros,
    runs: usize,
}

impl<'a> Search<'a> {
    /// Begins a search.
    #[must_use]
    pub const fn new(
        recorded: &'a Recorded<'a>,
        writer: Writer,
        settings: &'a Arc<Settings>,
        (passes, period): (&'a Passes, Micros),
    ) -> Self {
        Self { recorded, writer, settings, passes, period, runs: 0 }
    }

    /// Returns the run with the fewest differences and its choices; `None` if the flags keep the writer from running.
    #[must_use]
    pub fn best(mut self) -> Option<(Run, Choices)> {
        let mut choices = Choices::default();
        let (mut run, mut open) = self.run(&choices)?;
        while open > 0
            && let Some((better, more, left)) = self.better(&run, &choices, open)
        {
            (run, choices, open) = (better, more, left);
        }
        for choice in all_of(&choices) {
            let mut fewer = choices.clone();
            choice.take(&mut fewer);
            if self.runs >= RUNS_MAX {
                break;
            }
            let (without, left) = self.run(&fewer)?;
            if left <= open {
                (run, choices, open) = (without, fewer, left);
            }
        }
        Some((run, choices))
    }

    fn run(&mut self, choices: &Choices) -> Option<(Run, usize)> {
        self.runs += 1;
        let passes = self.passes(choices);
        let run = drive::run(self.recorded, self.writer, self.settings, &passes, choices)?;
        let open = differences(self.recorded, self.writer, &run).len();
        Some((run, open))
    }

    /// Returns the health passes with some choices.
    fn passes(&self, choices: &Choices) -> Cow<'a, Passes> {
        if choices.passes.is_empty() {
            Cow::Borrowed(self.passes)
        } else {
            Cow::Owned(phases::passes(self.recorded, self.period, &choices.passes))
        }
    }

    /// Finds choices that leave fewer differences: all candidates together, otherwise the first one that helps.
    fn better(&mut self, run: &Run, choices: &Choices, open: usize) -> Option<(Run, Choices, usize)> {
        let passes = self.passes(choices);
        let found: Vec<Choice> =
            self.candidates(run, &passes).into_iter().filter(|choice| !choice.is_in(choices)).collect();
        // With other passes other choices are possible, so passes are tried alone.
        let together: Vec<Choice> = found.iter().copied().filter(|choice| !matches!(choice, Choice::Pass(_))).collect();
        // Of several instants for one change the first counts.
        let latest = together.iter().rev().copied().collect();
        let both = match together.len() {
            0 | 1 => Vec::new(),
            // What these tell is not found step by step.
            _ if self.writer == Writer::SCHEDULER => Vec::from([latest, together]),
            _ => Vec::from([together, latest]),
        };
        let groups = both.into_iter().chain(found.iter().map(|one| Vec::from([*one])));
        for group in groups {
            if self.runs >= RUNS_MAX {
                return None;
            }
            let mut more = choices.clone();
            for choice in group {
                choice.put(&mut more);
            }
            let is_possible =
                more.passes == choices.passes || !passes.fit(self.period) || self.passes(&more).fit(self.period);
            if !is_possible {
                continue;
            }
            let (next, left) = self.run(&more)?;
            if left < open {
                return Some((next, more, left));
            }
        }
        None
    }

    fn candidates(&self, run: &Run, passes: &Passes) -> BTreeSet<Choice> {
        let mut found = BTreeSet::new();
        let missed = self.recorded.writes_of(self.writer).filter(|(index, _)| !run.matched.contains_key(index));
        for (index, write) in missed {
            if write.place.resource != EVENTS {
                found.extend(self.stale(index, write));
            }
            if self.writer == Writer::NODE_LIFECYCLE && write.place.resource == NODES {
                found.extend(tick_in_pass(write, passes));
                found.extend(pass_before(write, passes, self.period));
                found.extend(self.events_beside_passes(&write.place.name, write.t, passes));
            }
        }
        if self.writer == Writer::SCHEDULER {
            let missed = self.recorded.writes_of(self.writer).filter(|(index, _)| !run.matched.contains_key(index));
            let extra = run.predictions.iter().filter(|made| made.matched.is_none()).map(|made| made.t);
            for t in missed.map(|(_, write)| write.t).chain(extra) {
                found.extend(self.volumes_beside(t));
            }
        }
        for made in run.predictions.iter().filter(|made| made.matched.is_none()) {
            if self.writer == Writer::NODE_LIFECYCLE && made.place.resource == NODES {
                found.extend(self.early_tick(made));
                found.extend(self.events_beside_passes(&made.place.name, made.t, passes));
            }
        }
        found
    }

    /// Finds the changes of volumes that are told from the binder's writes near an instant, and moves each to the
    /// beginning of its write and behind its end: when the server made them between these is not recorded.
    fn volumes_beside(&self, t: Micros) -> Vec<Choice> {
        let mut found = Vec::new();
        for (stream, list) in self.recorded.streams.iter().enumerate().filter(|(_, list)| list.resource == VOLUMES) {
            for (at, event) in list.events.iter().enumerate() {
                let Some(write) = event.cause.map(|cause| &self.recorded.writes[cause]) else { continue };
                if event.is_told() && (event.t - t).abs() < VOLUME_MATTERS {
                    found.extend([write.end + VOLUME_LATE, write.end, write.t].map(|to| Choice::Moved(stream, at, to)));
                }
            }
        }
        found
    }

    /// The choices for a write that repeats an earlier one: the writer had not seen its effect.
    fn stale(&self, index: usize, write: &RecordedWrite) -> Vec<Choice> {
        let earlier = self.recorded.writes_of(self.writer).filter(|(other, earlier)| {
            *other < index
                && earlier.place == write.place
                && earlier.verb == write.verb
                && write.t - earlier.t < STALE_WITHIN
                && earlier.code < 300
                && (self.writer == Writer::NODE_IPAM || write.change.is_empty() || earlier.change == write.change)
        });
        let choice = |(other, earlier): (usize, &RecordedWrite)| {
            // An object that is requested again was missing where the server looked.
            let is_repeated = !write.change.is_empty() && earlier.change == write.change;
            let cache = is_repeated.then_some(Choice::LateCache(other));
            [Some(Choice::LateEcho(other)), cache]
        };
        earlier.flat_map(choice).flatten().collect()
    }

    /// The choices for a taint pass that came before the status that it used was seen.
    fn early_tick(&self, made: &Prediction) -> Vec<Choice> {
        let WriteChange::Taints { added, .. } = &made.change else { return Vec::new() };
        if !added.iter().any(phases::is_eviction_taint) {
            return Vec::new();
        }
        let status = self.recorded.writes_of(self.writer).filter(|(_, write)| {
            write.place.resource == NODES
                && write.verb == Verb::Update
                && write.place.name == made.place.name
                && made.t - write.end < TICK_WITHIN
                && write.t <= made.t
        });
        status.map(|(index, _)| Choice::EarlyTick(index)).collect()
    }

    /// Finds the renewals and changes of a node for which it is uncertain whether a health pass saw them, and moves
    /// each to the other side of the pass.
    fn events_beside_passes(&self, node: &str, before: Micros, passes: &Passes) -> Vec<Choice> {
        let mut found = Vec::new();
        for (stream, list) in self.recorded.streams.iter().enumerate() {
            for (at, event) in list.events.iter().enumerate() {
                let matters = if event.is_renewal() { RENEWAL_MATTERS } else { CHANGE_MATTERS };
                let may_move = (event.is_renewal() || (list.resource == NODES && event.cause.is_none()))
                    && event.object.name() == node
                    && event.t < before + EVENT_LATE
                    && before - event.t < matters;
                if may_move && let Some(to) = beyond_pass(event.t, passes) {
                    found.push(Choice::Moved(stream, at, to));
                }
            }
        }
        found
    }
}

/// The choice of a taint pass between the last node of a health pass and its judgement of the zones.
fn tick_in_pass(write: &RecordedWrite, passes: &Passes) -> Option<Choice> {
    let WriteChange::Taints { added, .. } = &write.change else { return None };
    let pass = passes.starts.partition_point(|start| *start <= write.t).checked_sub(1)?;
    let soon = write.t - passes.starts[pass] < TICK_WITHIN;
    (soon && added.iter().any(phases::is_eviction_taint)).then_some(Choice::TickInPass(pass))
}

/// The choices of a health pass at an inferred instant that began shortly before this taint and caused it.
fn pass_before(write: &RecordedWrite, passes: &Passes, period: Micros) -> Vec<Choice> {
    let WriteChange::Taints { added, .. } = &write.change else { return Vec::new() };
    let next = passes.starts.partition_point(|start| *start < write.t);
    let is_near = |pass: usize| {
        let start = passes.starts.get(pass).filter(|_| !passes.is_seen(pass));
        start.is_some_and(|start| (start - write.t).abs() < period / 4)
    };
    if !added.iter().any(phases::is_eviction_taint) || !(is_near(next) || next.checked_sub(1).is_some_and(is_near)) {
        return Vec::new();
    }
    PASS_BEFORE_TAINT.iter().map(|before| Choice::Pass(write.t - before)).collect()
}

fn beyond_pass(t: Micros, passes: &Passes) -> Option<Micros> {
    let after = passes.starts.partition_point(|start| *start < t);
    let near = |pass: usize, certain: Micros| {
        let start = *passes.starts.get(pass)?;
        let reach = if passes.is_seen(pass) { certain } else { PASS_UNCERTAIN };
        ((start - t).abs() <= reach).then_some(start)
    };
    let later = near(after, EVENT_LATE).map(|start| start + 1);
    later.or_else(|| near(after.checked_sub(1)?, EVENT_EARLY).map(|start| start - 1))
}
