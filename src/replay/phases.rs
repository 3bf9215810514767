//! Infers when the loops of the node lifecycle controller and of the pod garbage collector ran.
//!
//! Inputs: a recording in order. Outputs: instants of passes. Health passes start when the controller manager logged
//! them, otherwise at the first writes that only a pass makes. Between two known passes the pauses are equal, except
//! for the first pause, which contains the work of the pass before it. The taint pass runs every 100 ms with a phase
//! that drifts, so its grid is aligned with each recorded taint. Invariant: two passes are at least the period apart.

use std::collections::BTreeSet;

use nodeproof_core::network::{NODES, Verb};
use nodeproof_core::objects::Json;

use super::load::Micros;
use super::recorded::Recorded;
use super::writers::{WriteChange, Writer};

/// How long a pass without writes takes: recordings show a period of 5.001 s.
const PASS_TAKES: Micros = 1_000;
/// How long a pass takes at least: an anchor from writes is late rather than early.
const PASS_TAKES_MIN: Micros = 500;
/// The pause between two taint passes.
/// Source: pkg/controller/nodelifecycle/scheduler/rate_limited_queue.go (v1.34), `NodeEvictionPeriod`.
pub const TICK: Micros = 100_000;
/// How long after its start the first write of a health pass is received, about.
const WRITES_AFTER: Micros = 3_000;
/// The two patches of a swap of taints are at most this far apart.
const SWAP_WITHIN: Micros = 1_000_000;
/// How long before its first request is received a taint pass starts.
const TICK_BEFORE_READ: Micros = 500;

/// The starts of the health passes.
#[derive(Clone, Debug, Default)]
pub struct Passes {
    /// The starts in order.
    pub starts: Vec<Micros>,
    /// The starts that the log shows.
    logged: Vec<Micros>,
    /// How many of them the recording shows directly.
    pub seen: usize,
    /// By how much all starts could be shifted and still fit all writes.
    pub slack: (Micros, Micros),
}

impl Passes {
    /// Tells whether any two passes are at least a period apart.
    #[must_use]
    pub fn fit(&self, period: Micros) -> bool {
        self.starts.windows(2).all(|pair| pair[1] - pair[0] >= period)
    }

    /// Tells whether the log shows the instant of a pass to the millisecond.
    #[must_use]
    pub fn is_seen(&self, pass: usize) -> bool {
        self.starts.get(pass).is_some_and(|start| self.logged.binary_search(start).is_ok())
    }
}

/// Infers the starts of the health passes; `more` are the instants of additional ones.
#[must_use]
pub fn passes(recorded: &Recorded<'_>, period: Micros, more: &BTreeSet<Micros>) -> Passes {
    let about = &recorded.recording.about;
    let mut logged = about.health_passes_seen.clone();
    logged.sort_unstable();
    logged.dedup();
    let anchors = with_anchors_of_writes(recorded, (&logged, more), period);
    let mut starts = spread(&anchors, period, about.ended);
    let first_after = |until: Micros| anchors.iter().copied().find(|anchor| *anchor >= until).unwrap_or(until);
    for outage in &recorded.outages {
        starts.retain(|start| *start < outage.from || *start >= first_after(outage.until));
    }
    let slack = slack(recorded, &starts, !logged.is_empty());
    Passes { seen: anchors.len(), starts, logged, slack }
}

fn spread(anchors: &[Micros], period: Micros, ended: Micros) -> Vec<Micros> {
    let pause = period + PASS_TAKES;
    let first = anchors.first().copied().unwrap_or(0);
    let mut starts: Vec<Micros> =
        (1..).map(|back| first - back * pause).take_while(|start| *start > -2 * pause).collect();
    starts.reverse();
    for (at, anchor) in anchors.iter().enumerate() {
        starts.push(*anchor);
        let Some(next) = anchors.get(at + 1) else { break };
        let gap = next - anchor;
        let count = ((gap + 2_000) / period).max(1);
        let even = gap / count;
        let step = if gap - (count - 1) * pause >= period { pause } else { even };
        starts.extend((1..count).rev().map(|back| next - back * step));
    }
    let last = starts.last().copied().unwrap_or(0);
    starts.extend((1..).map(|ahead| last + ahead * pause).take_while(|start| *start <= ended));
    starts
}

/// The period of the pod garbage collector. Source: pkg/controller/podgc/gc_controller.go (v1.34), `gcCheckPeriod`.
const COLLECTION_PERIOD: Micros = 20_000_000;

/// Returns the starts of the passes of the pod garbage collector: those that were logged, otherwise those that its
/// writes show and as many between and around them as the period allows.
#[must_use]
pub fn collections(recorded: &Recorded<'_>) -> Vec<Micros> {
    let about = &recorded.recording.about;
    if !about.podgc_passes.is_empty() {
        return about.podgc_passes.clone();
    }
    let mut anchors: Vec<Micros> = Vec::new();
    for (_, write) in recorded.writes_of(Writer::POD_GC) {
        if anchors.last().is_none_or(|last| write.t - last > COLLECTION_PERIOD / 2) {
            anchors.push(write.t - WRITES_AFTER);
        }
    }
    if anchors.is_empty() {
        return anchors;
    }
    let mut starts = spread(&anchors, COLLECTION_PERIOD, about.ended);
    let first_after = |until: Micros| anchors.iter().copied().find(|anchor| *anchor >= until).unwrap_or(until);
    for outage in &recorded.outages {
        starts.retain(|start| *start < outage.from || *start >= first_after(outage.until));
    }
    starts
}

/// Tells whether only a health pass makes such a write.
fn only_a_pass_writes(recorded: &Recorded<'_>, index: usize) -> bool {
    let write = &recorded.writes[index];
    match &write.change {
        WriteChange::Status(_) | WriteChange::Unknown => write.place.resource == NODES && write.verb == Verb::Update,
        WriteChange::Event(event) => matches!(event.get("reason").as_str(), Some("RegisteredNode" | "RemovingNode")),
        WriteChange::Taints { added, removed } => {
            added.is_empty() && removed.iter().any(is_eviction_taint) && !is_half_of_a_swap(recorded, index)
        }
        _ => false,
    }
}

/// Tells whether the node got the other taint just before: the taint pass swaps taints too.
fn is_half_of_a_swap(recorded: &Recorded<'_>, index: usize) -> bool {
    let removal = &recorded.writes[index];
    recorded.writes[..index].iter().rev().take_while(|write| removal.t - write.t < SWAP_WITHIN).any(|write| {
        write.place == removal.place
            && matches!(&write.change, WriteChange::Taints { added, .. } if added.iter().any(is_eviction_taint))
    })
}

/// Adds passes that only writes show to the logged ones: a pass starts a period after the end of the one before. An
/// instant of `more` just before a known pass corrects that pass and adds none.
fn with_anchors_of_writes(
    recorded: &Recorded<'_>,
    (logged, more): (&[Micros], &BTreeSet<Micros>),
    period: Micros,
) -> Vec<Micros> {
    let mut found: Vec<Micros> = Vec::new();
    let mut busy_until = Micros::MIN;
    for (index, write) in recorded.writes_of(Writer::NODE_LIFECYCLE) {
        if !only_a_pass_writes(recorded, index) {
            continue;
        }
        if found.is_empty() || write.t - busy_until > period * 8 / 10 {
            found.push(write.t - WRITES_AFTER);
        }
        busy_until = busy_until.max(write.end);
    }
    for extra in more {
        found.retain(|start| (start - extra).abs() > period / 2);
        found.push(*extra);
    }
    found.sort_unstable();
    found.retain(|start| {
        let before = logged[..logged.partition_point(|other| *other <= start + TICK)].last();
        let after = logged[logged.partition_point(|other| *other <= start + TICK)..].first();
        before.is_none_or(|before| start - before > period * 8 / 10)
            && after.is_none_or(|after| after - start > period * 8 / 10)
    });
    let mut anchors: Vec<(Micros, bool)> = logged.iter().map(|start| (*start, true)).collect();
    anchors.extend(found.iter().map(|start| (*start, false)));
    anchors.sort_unstable();
    // A pause is never shorter than the period: if an anchor follows too soon, the one before it was late.
    for at in (1..anchors.len()).rev() {
        let count = (anchors[at].0 - anchors[at - 1].0 + period / 2) / period;
        if !anchors[at - 1].1 {
            anchors[at - 1].0 = anchors[at - 1].0.min(anchors[at].0 - count * (period + PASS_TAKES_MIN));
        }
    }
    anchors.into_iter().map(|(start, _)| start).collect()
}

fn slack(recorded: &Recorded<'_>, starts: &[Micros], logged: bool) -> (Micros, Micros) {
    if logged {
        // The log has a precision of milliseconds.
        return (-500, 500);
    }
    let mut later = Micros::MAX;
    for (index, write) in recorded.writes_of(Writer::NODE_LIFECYCLE) {
        if only_a_pass_writes(recorded, index)
            && let Some(start) = starts.iter().rfind(|start| **start <= write.t)
        {
            later = later.min(write.t - start);
        }
    }
    let mut earlier = Micros::MAX;
    for event in recorded.streams[0].events.iter().filter(|event| !event.listed) {
        if let Some(start) = starts.iter().find(|start| **start >= event.t) {
            earlier = earlier.min(start - event.t);
        }
    }
    (-earlier.min(TICK), later.min(TICK))
}

/// Tells whether a taint is one of the node lifecycle controller's with the effect NoExecute.
#[must_use]
pub fn is_eviction_taint(taint: &Json) -> bool {
    taint.get("effect").as_str() == Some("NoExecute")
        && matches!(taint.get("key").as_str(), Some("node.kubernetes.io/not-ready" | "node.kubernetes.io/unreachable"))
}

/// A recorded NoExecute taint.
#[derive(Clone, Debug)]
pub struct Tainting {
    /// When the taint pass that set it began.
    pub t: Micros,
    /// The node's name.
    pub node: String,
}

/// Finds the recorded NoExecute taints with the instants of the taint passes that set them.
#[must_use]
pub fn taintings(recorded: &Recorded<'_>) -> Vec<Tainting> {
    let mut found: Vec<Tainting> = Vec::new();
    for (_, write) in recorded.writes_of(Writer::NODE_LIFECYCLE) {
        let WriteChange::Taints { added, .. } = &write.change else { continue };
        if !added.iter().any(is_eviction_taint) {
            continue;
        }
        let node = write.place.name.as_str();
        // A write after a conflict is a repetition and no pass of its own.
        if found.iter().rev().take_while(|other| write.t - other.t < 1_000_000).any(|other| other.node == node) {
            continue;
        }
        let reads = &recorded.node_reads[..recorded.node_reads.partition_point(|(t, _)| *t <= write.t)];
        let read = reads.iter().rev().take_while(|(t, _)| write.t - t < 1_000_000).find(|(_, name)| *name == *node);
        let t = read.map_or(write.t - 2_000, |(t, _)| t - TICK_BEFORE_READ);
        found.push(Tainting { t, node: node.to_owned() });
    }
    found.sort_by_key(|tainting| tainting.t);
    found
}

/// Returns the next taint pass after an instant, on the grid of 100 ms through the next recorded taint, or the last
/// one.
#[must_use]
pub fn next_tick(taintings: &[Tainting], after: Micros) -> Micros {
    let next = taintings.get(taintings.partition_point(|tainting| tainting.t <= after)).or(taintings.last());
    let phase = next.map_or(0, |tainting| tainting.t).rem_euclid(TICK);
    let base = after - after.rem_euclid(TICK) + phase;
    if base > after { base } else { base + TICK }
}

#[cfg(test)]
mod tests {
    use super::{Tainting, next_tick, spread};

    #[test]
    fn passes_between_two_seen_ones_keep_the_period_before_the_second() {
        let starts = spread(&[2_304_000, 12_500_000, 27_503_000], 5_000_000, 33_000_000);
        assert_eq!(
            starts[starts.len() - 7..],
            [2_304_000, 7_499_000, 12_500_000, 17_501_000, 22_502_000, 27_503_000, 32_504_000]
        );
        assert!(starts[0] < 0 && starts.windows(2).all(|pair| pair[1] - pair[0] >= 5_000_000));
    }

    #[test]
    fn ticks_meet_the_next_recorded_taint() {
        let taintings = [1_030_000, 2_070_000].map(|t| Tainting { t, node: String::new() });
        assert_eq!(next_tick(&taintings, 900_000), 930_000);
        assert_eq!(next_tick(&taintings, 930_000), 1_030_000);
        assert_eq!(next_tick(&taintings, 1_030_000), 1_070_000);
        assert_eq!(next_tick(&taintings, 2_070_000), 2_170_000);
    }
}
