//! Starts of a recorded kubelet's process: how its loops began, whether it went on, and its last words if it did not.
//!
//! Inputs: the recording and its writes. Outputs: free choices, and what the environment must have decided.

use jiff::Timestamp;
use nodeproof_core::components::machine::RecordedChoices;
use nodeproof_core::network::{NODES, Verb};
use nodeproof_core::objects::Json;

use super::files::{KubeletRecording, MachineEntry};
use super::recorded::RecordedWrites;
use super::starts::are_same_words;
use crate::replay::load::Micros;
use crate::replay::writers::WriteTarget;

/// Notes how each process of a machine began its work.
pub(super) fn note_starts(
    recording: &KubeletRecording,
    recorded: &RecordedWrites<'_>,
    (entry, ups): (&MachineEntry, &[Micros]),
    choices: &mut RecordedChoices,
) {
    choices.modules = modules(recording, recorded, entry, ups);
    let fast = ups.iter().filter(|up| is_fast_first(recorded, entry, **up));
    choices.fast_first = fast.map(|t| recording.at(*t)).collect();
    let slow = ups.iter().filter_map(|up| Some((recording.at(*up), recording.at(slow_start(recorded, entry, *up)?))));
    choices.slow_starts = slow.collect();
    choices.ups = ups.iter().map(|t| recording.at(*t)).collect();
}

/// Tells whether the fast loop of a starting process posted the status before the other loop registered the Node.
fn is_fast_first(recorded: &RecordedWrites<'_>, entry: &MachineEntry, up: Micros) -> bool {
    const WITHIN: Micros = 1_500_000;
    let of_node = |write: &&super::recorded::RecordedWrite| {
        write.place.resource == NODES && write.t >= up && write.t <= up + WITHIN
    };
    let first = recorded.writes.iter().filter(of_node).min_by_key(|write| write.t);
    first.is_some_and(|write| write.verb == Verb::Patch && write.place.name == *entry.node)
        && recorded.writes.iter().filter(of_node).any(|write| write.verb == Verb::Create)
}

/// Returns when the loops of a process have their first turn, if that is late: on a machine that has just booted. The
/// first write of the Node tells.
fn slow_start(recorded: &RecordedWrites<'_>, entry: &MachineEntry, up: Micros) -> Option<Micros> {
    const SLOW: Micros = 150_000;
    const WITHIN: Micros = 1_500_000;
    /// The first pause of both loops. Source: pkg/kubelet/kubelet_node_status.go (v1.34), `fastNodeStatusUpdate`.
    const FIRST_PAUSE: Micros = 100_000;
    let is_own = |place: &WriteTarget| place.resource == NODES && (place.name == *entry.node || place.name.is_empty());
    let of_node = recorded.writes.iter().filter(|write| is_own(&write.place) && write.t >= up);
    let first = of_node.map(|write| write.t).min()?;
    (first > up + SLOW && first <= up + WITHIN).then_some(first - FIRST_PAUSE)
}

/// Returns how many Nodes each starting process built for its modules.
fn modules(
    recording: &KubeletRecording,
    recorded: &RecordedWrites<'_>,
    entry: &MachineEntry,
    ups: &[Micros],
) -> Vec<(Timestamp, usize)> {
    const WITHIN: Micros = 1_500_000;
    let of_start = |up: Micros, t: Micros| t >= up && t <= up + WITHIN;
    ups.iter()
        .map(|up| {
            let said = recorded.events.iter().filter(|event| {
                event.event.get("reason").as_str() == Some("NodeHasSufficientMemory")
                    && event.event.at(&["involvedObject", "name"]).as_str() == Some(&entry.node)
                    && of_start(*up, event.t)
            });
            let tries = recorded
                .writes
                .iter()
                .filter(|write| write.verb == Verb::Create && write.place.resource == NODES && of_start(*up, write.t));
            let said: i64 = said.map(|event| event.times).sum();
            // A status that puts a condition right says so too.
            let righted = recorded.writes.iter().filter(|write| {
                let conditions = write.body.at(&["status", "conditions"]).items();
                let is_memory = |item: &Json| item.get("type").as_str() == Some("MemoryPressure");
                write.place.resource == NODES
                    && of_start(*up, write.t)
                    && write.verb == Verb::Patch
                    && conditions.iter().any(|item| is_memory(item) && !item.get("status").is_null())
            });
            let said = said - i64::try_from(righted.count()).unwrap_or(0);
            let asked = usize::try_from(said).unwrap_or(0).saturating_sub(tries.count()).min(2);
            (recording.at(*up), asked)
        })
        .collect()
}

/// Tells whether the process that a verb started wrote its Node: then somebody who changed the policy of a manager has
/// removed the file of the one before.
pub(super) fn has_gone_on(recording: &KubeletRecording, recorded: &RecordedWrites<'_>, at: usize) -> bool {
    let (t, next) = (recording.verbs[at].t, recording.next_act(at));
    let mut writes = recorded.writes.iter().filter(|write| write.t >= t && write.t < next);
    writes.any(|write| write.place.resource == NODES)
}

/// Tells whether the recorded process did not start either, with the same words if the recording has any.
pub(super) fn is_refused_too(recording: &KubeletRecording, at: usize, why: &str) -> bool {
    let words = recording.last_words(at);
    recording.outcomes_of(at).all(|outcome| outcome.get("kubelet").as_str() != Some("up"))
        && (words.is_empty() || words.iter().filter_map(Json::as_str).any(|text| are_same_words(text, why)))
}
