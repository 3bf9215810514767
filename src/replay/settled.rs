//! Statuses of workloads as they settle: how many syncs a burst of changes takes is chance, what they end with is not.
//!
//! Each sync of a controller writes the status of what its cache shows then; of several changes within milliseconds a
//! sync may see one or all. Inputs: a run and the recorded writes. Outputs: a difference for each instant at which one
//! side has come to rest and the other says something else. Invariant: every recorded status is the last of a burst or
//! is followed by one that is.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use nodeproof_core::network::Verb;
use nodeproof_core::objects::Json;

use super::drive::Run;
use super::load::Micros;
use super::recorded::{Recorded, RecordedWrite};
use super::report::Difference;
use super::subject;
use super::writers::{Change, Place, Writer};

/// Writes of a status that follow each other within this time are one burst.
const BURST: Micros = 1_500_000;
/// Instants within a status may differ by this.
const TOLERANCE: SignedDuration = SignedDuration::from_secs(2);

/// Tells whether a write is one of those that are judged here.
#[must_use]
pub fn is_judged(writer: Writer, verb: Verb, place: &Place) -> bool {
    writer.is_workload() && verb == Verb::Update && *place.subresource == *"status"
}

/// What both sides say of one object, in order.
#[derive(Default)]
struct Told<'a> {
    real: Vec<(Micros, &'a RecordedWrite)>,
    sim: Vec<(Micros, &'a Change)>,
}

/// Returns the instants at which a burst has ended.
fn rests(mut instants: Vec<Micros>) -> BTreeSet<Micros> {
    instants.sort_unstable();
    let ends = instants.iter().enumerate().filter(|(at, t)| instants.get(at + 1).is_none_or(|next| next - **t > BURST));
    ends.map(|(_, t)| t + BURST).collect()
}

/// Returns where the statuses of a run come to rest at something else than the recorded ones.
#[must_use]
pub fn differences(recorded: &Recorded<'_>, writer: Writer, run: &Run) -> Vec<Difference> {
    let mut objects: BTreeMap<&Place, Told<'_>> = BTreeMap::new();
    for (_, write) in recorded.writes_of(writer) {
        if is_judged(writer, write.verb, &write.place) && write.code < 300 {
            objects.entry(&write.place).or_default().real.push((write.t, write));
        }
    }
    for made in run.predictions.iter().filter(|made| is_judged(writer, made.verb, &made.place)) {
        objects.entry(&made.place).or_default().sim.push((made.t, &made.change));
    }
    let end = recorded.recording.about.ended;
    let mut found = Vec::new();
    for (place, told) in &objects {
        let instants = told.real.iter().map(|(t, _)| *t).chain(told.sim.iter().map(|(t, _)| *t)).collect();
        for rest in rests(instants).into_iter().filter(|rest| end == 0 || *rest < end) {
            let real = told.real.iter().rev().find(|(t, _)| *t <= rest).map(|(_, write)| *write);
            let sim = told.sim.iter().rev().find(|(t, _)| *t <= rest).map(|(_, change)| *change);
            let nothing = Change::Status(Json::Null);
            let (before, after) = (real.map_or(&nothing, |write| &write.change), sim.unwrap_or(&nothing));
            for field in before.differences(after, TOLERANCE) {
                let object = subject(place, before);
                found.push(Difference { object, ..Difference::of_field(writer, rest - BURST, place, field) });
            }
        }
    }
    found
}
