//! Compares the order of a writer's writes to one object with the recorded order.
//!
//! Inputs: a run whose writes are matched with the recorded ones. Output: a difference for each write that the model
//! makes before one that was recorded earlier. Only what upstream does in different goroutines may come in any order:
//! the NoSchedule taints and labels of a Node beside its NoExecute taints, and Events beside the writes that they are
//! about.

use std::collections::BTreeMap;

use nodeproof_core::network::{EVENTS, NODES};
use nodeproof_core::objects::Json;

use super::drive::Run;
use super::phases;
use super::recorded::{Recorded, RecordedWrite};
use super::report::WriteDifference;
use super::writers::{WriteChange, Writer};
use super::{shown, subject};

/// The goroutine of a writer to which a write belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WriterThread {
    /// All other writes.
    Main,
    /// The NoExecute taints of a Node.
    NoExecute,
    /// The NoSchedule taints and labels of a Node.
    NoSchedule,
    /// Unknown: the write changes nothing.
    Any,
}

fn thread_of(write: &RecordedWrite) -> WriterThread {
    match &write.change {
        change if change.is_empty() => WriterThread::Any,
        WriteChange::Taints { added, removed } => {
            if added.iter().chain(removed).any(phases::is_eviction_taint) {
                WriterThread::NoExecute
            } else {
                WriterThread::NoSchedule
            }
        }
        WriteChange::Patch(_) if write.place.resource == NODES => WriterThread::NoSchedule,
        _ => WriterThread::Main,
    }
}

const fn are_ordered(one: WriterThread, other: WriterThread) -> bool {
    !matches!(
        (one, other),
        (WriterThread::Any, _)
            | (_, WriterThread::Any)
            | (WriterThread::NoExecute, WriterThread::NoSchedule)
            | (WriterThread::NoSchedule, WriterThread::NoExecute)
    )
}

/// Returns the object that a write is about; Events about an object are kept apart from the writes to it.
fn about(write: &RecordedWrite) -> (bool, String) {
    match &write.change {
        WriteChange::Event(event) => {
            let part = |field| event.at(&["involvedObject", field]).as_str().unwrap_or_default().to_owned();
            (true, format!("{}/{}/{}", part("kind"), part("namespace"), part("name")))
        }
        _ => (false, write.place.object()),
    }
}

/// Returns the writes that the model makes in another order than the recorded one.
#[must_use]
pub fn differences(recorded: &Recorded<'_>, writer: Writer, run: &Run) -> Vec<WriteDifference> {
    let mut by_object: BTreeMap<(bool, String), Vec<(&RecordedWrite, usize)>> = BTreeMap::new();
    for (index, write) in recorded.writes_of(writer) {
        if let Some(prediction) = run.matched.get(&index) {
            by_object.entry(about(write)).or_default().push((write, *prediction));
        }
    }
    let mut found = Vec::new();
    for writes in by_object.values() {
        for (at, (write, made)) in writes.iter().enumerate() {
            let overtaken = writes[..at].iter().find(|(before, made_before)| {
                made_before > made && before.t < write.t && are_ordered(thread_of(before), thread_of(write))
            });
            if let Some((before, _)) = overtaken {
                found.push(WriteDifference {
                    t: write.t,
                    writer: writer.name(),
                    object: subject(&write.place, &write.change),
                    path: "order".to_owned(),
                    real: sequence(before, write),
                    sim: sequence(write, before),
                    ledger: None,
                });
            }
        }
    }
    found
}

fn sequence(first: &RecordedWrite, second: &RecordedWrite) -> Json {
    let one = |write: &RecordedWrite| {
        let what = if write.place.resource == EVENTS { "event" } else { write.verb.name() };
        Json::array(Vec::from([Json::text(what), shown(&write.change)]))
    };
    Json::array(Vec::from([one(first), one(second)]))
}
