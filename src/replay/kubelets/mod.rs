//! Replays recordings of kubelets: the machine of each is driven by what happened to it, and what its kubelet writes is
//! compared with what the real one wrote.
//!
//! Inputs: `about.yaml`, `machine.yaml` (what the machine is), `verbs.jsonl` (what happened to it and what its
//! environment decided), `watch.jsonl` (the objects of other writers are inputs), `requests.jsonl` (the writes).
//! Output: a [`ReplayReport`]. The machine is the model's own, behind the model's network; the API server shows the
//! recorded objects. A write that the recording has is answered as recorded, so that one difference does not cause
//! others. A directory without a machine has starts of a kubelet or answers of its server.
//! Invariant: each recorded write is matched at most once, and what is free is free for all recordings alike.

mod answers;
mod compare;
mod drive;
mod driven;
mod environment;
mod events;
mod files;
mod made;
mod outage;
mod process;
mod recorded;
mod server;
mod starts;

use std::collections::BTreeMap;
use std::path::Path;

use nodeproof_core::objects::Json;
use nodeproof_core::profile::Release;

use super::load::{LoadError, Micros};
use super::report::{ReplayReport, WriteDifference, in_seconds};
use super::{Ledger, finish};
use files::KubeletRecording;
use made::{KubeletRun, Made};
use recorded::RecordedWrites;

/// The writer of all judged writes, as reports and the ledger name it.
const KUBELET: &str = "kubelet";
/// A write of the same content at most this far away is reported as one at another instant.
const SHIFTED_WITHIN: Micros = 60_000_000;
/// What is made in this time before the end may have been seen after it.
const END_SLACK: Micros = 2_000_000;

/// Tells whether a directory holds a recording of kubelets, of their starts or of their servers.
#[must_use]
pub fn is_here(dir: &Path) -> bool {
    dir.join("machine.yaml").is_file() || answers::is_here(dir) || starts::is_here(dir)
}

/// Replays the recording of a directory, under its own release or another.
///
/// # Errors
/// The recording cannot be read.
pub fn replay(dir: &Path, release: Option<Release>, ledger: &Ledger) -> Result<ReplayReport, LoadError> {
    if !dir.join("machine.yaml").is_file() {
        let is_served = answers::is_here(dir);
        return if is_served { answers::replay(dir, release, ledger) } else { starts::replay(dir, release, ledger) };
    }
    let recording = KubeletRecording::load(dir, release)?;
    Ok(judge(&recording, ledger))
}

/// Judges a recording.
fn judge(recording: &KubeletRecording, ledger: &Ledger) -> ReplayReport {
    let recorded = RecordedWrites::of(recording);
    let run = drive::run(recording, &recorded);
    let mut report = ReplayReport {
        recording: format!("kubelet-{}/{}", recording.kubernetes, recording.name),
        writes: recorded.writes.len() + recorded.events.len(),
        judged: recorded.writes.len() + recorded.events.len(),
        ..ReplayReport::default()
    };
    let mut differences = differences(recording, &recorded, &run);
    let (events, matched) = events::differences(recording, &recorded, &run);
    report.matched = matched;
    let wrong: std::collections::BTreeSet<usize> = run.differences.iter().map(|(index, _)| *index).collect();
    report.matched += run.matched.keys().filter(|index| !wrong.contains(index)).count();
    differences.extend(events);
    report.by_writer.insert(KUBELET, (report.judged, report.matched));
    for (what, count) in &run.choices {
        *report.choices.entry(what).or_default() += count;
    }
    report.differences = differences;
    finish(&mut report, ledger);
    report
}

/// Returns the differences of the writes.
fn differences(recording: &KubeletRecording, recorded: &RecordedWrites<'_>, run: &KubeletRun) -> Vec<WriteDifference> {
    let mut found: Vec<WriteDifference> = run.differences.iter().map(|(_, difference)| difference.clone()).collect();
    found.extend(run.refused.iter().cloned());
    let mut extra: Vec<&Made> = run.made.iter().filter(|made| made.matched.is_none()).collect();
    for (index, write) in recorded.writes.iter().enumerate() {
        if run.matched.contains_key(&index) {
            continue;
        }
        let shifted = extra.iter().position(|made| {
            made.place == write.place
                && made.verb == write.verb
                && (made.t - write.t).abs() < SHIFTED_WITHIN
                && compare::bodies(write, made.t, &made.body).is_empty()
        });
        let (path, real, sim) = match shifted {
            Some(at) => ("t".to_owned(), Json::Float(in_seconds(write.t)), Json::Float(in_seconds(extra.remove(at).t))),
            None => (write.verb.name().to_owned(), shown(&write.body), Json::Null),
        };
        found.push(difference(write.t, subject(&write.place), path, real, sim));
    }
    let is_judged =
        |t: Micros| t >= 0 && t < recording.ended - END_SLACK && !recorded.is_ending(t) && !run.may_be_lost(t);
    for made in extra.into_iter().filter(|made| is_judged(made.t)) {
        let path = made.verb.name().to_owned();
        found.push(difference(made.t, subject(&made.place), path, Json::Null, shown(&made.body)));
    }
    found
}

fn difference(t: Micros, object: String, path: String, real: Json, sim: Json) -> WriteDifference {
    WriteDifference { t, writer: KUBELET, object, path, real, sim, ledger: None }
}

fn subject(place: &super::writers::WriteTarget) -> String {
    let object = place.object();
    if place.subresource.is_empty() { object } else { format!("{object}/{}", place.subresource) }
}

fn shown(body: &Json) -> Json {
    if body.is_empty() { Json::text("a write") } else { compare::normal(body) }
}

#[cfg(test)]
mod tests;

/// Counts by name.
type Counts = BTreeMap<&'static str, usize>;
