//! Compares statuses of workloads, and endpoint slices, when they have settled. How many syncs a burst of changes takes
//! is chance; the last status is not.
//!
//! Each sync of a controller writes the status for what its cache shows; of several changes within milliseconds a sync
//! may see one or all. Inputs: a run and the recorded writes. Outputs: a difference for each instant at which one side
//! has settled and the other has another status. Invariant: every recorded status is the last of a burst or is followed
//! by one that is. If the bodies were not recorded, both sides must write in each burst.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use nodeproof_core::network::Verb;
use nodeproof_core::objects::Json;

use super::drive::Run;
use super::load::Micros;
use super::recorded::{Recorded, RecordedWrite};
use super::report::WriteDifference;
use super::subject;
use super::writers::{FieldDifference, WriteChange, WriteTarget, Writer};

/// Writes of a status that follow each other within this time are one burst.
const BURST: Micros = 1_500_000;
/// Instants within a status may differ by this.
const TOLERANCE: SignedDuration = SignedDuration::from_secs(2);

/// Tells whether a write is judged here.
#[must_use]
pub fn is_judged(writer: Writer, verb: Verb, place: &WriteTarget) -> bool {
    match writer {
        Writer::ENDPOINT_SLICE => verb == Verb::Update,
        _ => writer.is_workload() && verb == Verb::Update && *place.subresource == *"status",
    }
}

/// Tells whether a write only counts how often a sync wrote the same. That number depends on chance: it is the number
/// of syncs of a burst. `object_writes` are the writes of the other side.
#[must_use]
pub fn counts_syncs<'a>(
    writer: Writer,
    (t, verb, change): (Micros, Verb, &WriteChange),
    object_writes: impl Iterator<Item = (Micros, &'a WriteChange)>,
) -> bool {
    let same = |(at, other): (Micros, &WriteChange)| (at - t).abs() <= BURST && change.alike(other);
    let is_count = verb == Verb::Patch && matches!(change, WriteChange::Event(_));
    writer == Writer::ENDPOINT_SLICE && is_count && object_writes.into_iter().any(same)
}

/// The writes of both sides to one object, in order.
#[derive(Default)]
struct ObjectWrites<'a> {
    real: Vec<(Micros, &'a RecordedWrite)>,
    sim: Vec<(Micros, &'a WriteChange)>,
}

impl ObjectWrites<'_> {
    /// Returns the difference of a burst in which only one side wrote, for a recording without bodies.
    fn one_sided(
        &self,
        writer: Writer,
        place: &WriteTarget,
        (first, last): (Micros, Micros),
    ) -> Option<WriteDifference> {
        let is_blind = self.real.iter().all(|(_, write)| write.change == WriteChange::Unknown);
        let is_in = |t: Micros| (first..=last).contains(&t);
        let (real, sim) = (self.real.iter().any(|(t, _)| is_in(*t)), self.sim.iter().any(|(t, _)| is_in(*t)));
        let said = |wrote: bool| if wrote { Json::text("a write") } else { Json::Null };
        let field = FieldDifference { path: "update".to_owned(), real: said(real), sim: said(sim) };
        (is_blind && real != sim).then(|| WriteDifference {
            object: subject(place, &WriteChange::Unknown),
            ..WriteDifference::of_field(writer, first, place, field)
        })
    }
}

/// Returns the bursts: the instants of their first and their last write.
fn bursts(mut instants: Vec<Micros>) -> Vec<(Micros, Micros)> {
    instants.sort_unstable();
    let mut found: Vec<(Micros, Micros)> = Vec::new();
    for t in instants {
        match found.last_mut() {
            Some((_, last)) if t - *last <= BURST => *last = t,
            _ => found.push((t, t)),
        }
    }
    found
}

/// Returns where the statuses of a run settle differently from the recorded ones.
#[must_use]
pub fn differences(recorded: &Recorded<'_>, writer: Writer, run: &Run) -> Vec<WriteDifference> {
    let mut objects: BTreeMap<&WriteTarget, ObjectWrites<'_>> = BTreeMap::new();
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
    for (place, object_writes) in &objects {
        let instants =
            object_writes.real.iter().map(|(t, _)| *t).chain(object_writes.sim.iter().map(|(t, _)| *t)).collect();
        for (first, last) in bursts(instants).into_iter().filter(|(_, last)| end == 0 || last + BURST < end) {
            found.extend(object_writes.one_sided(writer, place, (first, last)));
            let rest = last + BURST;
            let real = object_writes.real.iter().rev().find(|(t, _)| *t <= rest).map(|(_, write)| *write);
            let sim = object_writes.sim.iter().rev().find(|(t, _)| *t <= rest).map(|(_, change)| *change);
            let nothing = WriteChange::Status(Json::Null);
            let (before, after) = (real.map_or(&nothing, |write| &write.change), sim.unwrap_or(&nothing));
            for field in before.differences(after, TOLERANCE) {
                let object = subject(place, before);
                found.push(WriteDifference { object, ..WriteDifference::of_field(writer, rest - BURST, place, field) });
            }
        }
    }
    found
}
