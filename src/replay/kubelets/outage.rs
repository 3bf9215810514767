//! What a recording tells of outages: when informers worked again, when renewals began that failed, and when the first
//! connection was tried that succeeded.
//!
//! Inputs: the recording. Outputs: instants. Pure.

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::network::{LEASES, NODES, PODS, Verb};

use super::environment::{WAIT_LEAST, WAIT_MOST};
use super::files::{KubeletRecording, MachineEntry, VerbLine, outages};
use super::recorded::RecordedWrites;
use crate::replay::load::Micros;

/// How long a connection waits that is tried just before the server listens: for TCP's second try, after 1 s, and the
/// server's start. Source: RFC 6298, section 2.1.
pub(super) const CONNECTION_WAITS: Micros = 1_030_000;

/// Returns the instants after an outage at which the informers of a machine may have worked again: at once, or before
/// the next writes that depend on them.
pub(super) fn lists_after(
    recording: &KubeletRecording,
    recorded: &RecordedWrites<'_>,
    entry: &MachineEntry,
    outage: Micros,
) -> (Vec<Micros>, Vec<Micros>) {
    const BEFORE_WRITE: Micros = 60_000;
    const TRIED: usize = 6;
    let next = recorded.writes.iter().filter(|write| write.t > outage);
    let nodes = next.clone().filter(|write| write.place.resource == NODES && write.place.name == *entry.node);
    let mut nodes: Vec<Micros> = nodes.map(|write| write.t - BEFORE_WRITE).take(TRIED / 2).collect();
    let pods = next.filter(|write| write.place.resource == PODS);
    let mut pods: Vec<Micros> = pods.map(|write| write.t - BEFORE_WRITE).collect();
    let said = recorded
        .events
        .iter()
        .filter(|event| event.t > outage && event.event.at(&["involvedObject", "kind"]).as_str() == Some("Pod"));
    pods.extend(said.map(|event| event.t - BEFORE_WRITE));
    pods.sort_unstable();
    pods.dedup_by(|later, earlier| *later - *earlier < 500_000);
    pods.truncate(TRIED);
    // Long after: one that is seen by nothing in the recording.
    for list in [&mut nodes, &mut pods] {
        list.insert(0, outage + BEFORE_WRITE);
        list.push(recording.ended + BEFORE_WRITE);
    }
    (nodes, pods)
}

/// Returns when renewals began that an outage made fail: the first look at the Lease that succeeded lies behind them by
/// the pauses of the attempts, and by the wait of a connection that was under way when the server came up. With each
/// the instant of the attempt that succeeded.
pub(super) fn failed_renewals(
    recording: &KubeletRecording,
    entry: &MachineEntry,
    renewals: &[Timestamp],
) -> Vec<(Micros, Micros)> {
    const SLACK: Micros = 300_000;
    let mut found = Vec::new();
    for verb in recording.verbs.iter().filter(|verb| verb.machine == entry.name && !verb.line.get("rule").is_null()) {
        let renewed = renewals.iter().map(|at| recording.offset(*at)).filter(|at| *at < verb.t).max();
        let end = outages(recording, &entry.name).into_iter().find(|end| *end > verb.t);
        let (Some(renewed), Some(end)) = (renewed, end) else { continue };
        let looked = recording.requests.iter().find(|line| {
            line.t > end - SLACK
                && line.verb == Verb::Get
                && line.place.resource == LEASES
                && line.place.name == *entry.node
        });
        let Some(looked) = looked else { continue };
        let fits = |began: Micros| {
            began >= verb.t && (renewed + WAIT_LEAST - SLACK..=renewed + WAIT_MOST + SLACK).contains(&began)
        };
        // 0.2 s, doubled up to 7 s: the sums of the pauses after the first attempt.
        let mut sums = vec![0];
        let mut pause = 200_000;
        while sums.last().is_some_and(|sum| *sum <= looked.t - verb.t) {
            sums.push(sums[sums.len() - 1] + pause);
            pause = (pause * 2).min(7_000_000);
        }
        let attempts = [looked.t, looked.t - CONNECTION_WAITS];
        let tried = attempts.iter().flat_map(|at| sums.iter().map(move |sum| (at - sum, *at)));
        found.extend(tried.into_iter().find(|(began, _)| fits(*began)));
    }
    found
}

/// Returns how long an outage lasts for a machine: up to its first answer, or to the attempt that waited for it.
pub(super) fn lasts(
    recording: &KubeletRecording,
    entry: Option<&MachineEntry>,
    verb: &VerbLine,
    (renewals, told): (&[Timestamp], SignedDuration),
) -> SignedDuration {
    /// By how much the end of an outage may be told late.
    const LATE: SignedDuration = SignedDuration::from_millis(30);
    let end = verb.t + i64::try_from(told.as_micros()).unwrap_or(Micros::MAX / 2);
    let earlier = renewals.iter().copied().filter(|at| recording.offset(*at) < verb.t).collect::<Vec<_>>();
    let attempts = entry.map(|entry| failed_renewals(recording, entry, &earlier)).unwrap_or_default();
    let waiting = attempts.into_iter().map(|(_, attempt)| attempt);
    let waiting = waiting.filter(|at| *at < end && end - at <= CONNECTION_WAITS).min();
    let told = waiting.map_or(told, |at| SignedDuration::from_micros(at - verb.t));
    (told - LATE).max(LATE)
}
