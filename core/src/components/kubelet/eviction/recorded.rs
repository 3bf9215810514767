//! What a recording tells of the passes of the eviction manager: a disk and a kernel decided what was short.
//!
//! Inputs: the outcomes of a recording, the instant of a pass. Outputs: when the next pass is made, what it measured,
//! and in which order it put the pods. Invariant: what the recording tells has to be possible; what is not is left out,
//! and the pass finds what the model alone would find.
//! Source: README of the recordings of kubelet 1.34.4, "Replaying", outcomes `threshold` and `measured`.

use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::ranking::{Candidate, PodFigures};
use super::signals::{Observation, SignalKind};
use crate::objects::quantity::{Format, Quantity};
use crate::objects::{ObjectKey, Text};

/// How far an instant may be missed: a busy machine runs late by this much.
const SLACK: SignedDuration = SignedDuration::from_millis(500);
/// How long after its begin a pass may still end pods: each is waited for.
const PASS_MAX: SignedDuration = SignedDuration::from_secs(2);

/// What a recording tells of the passes, each list in the order of time.
#[derive(Clone, Debug, Default)]
pub struct RecordedEvictions {
    /// The passes that met a threshold, with the resource that was short.
    pub met: Vec<(Timestamp, Text)>,
    /// The passes that put pods in an order.
    pub ranked: Vec<(Timestamp, Vec<ObjectKey>)>,
    /// What was measured of evicted pods.
    pub measured: Vec<MeasuredPod>,
}

/// What was measured of an evicted pod.
#[derive(Clone, Debug)]
pub struct MeasuredPod {
    /// When it was evicted, about.
    pub at: Timestamp,
    /// The pod.
    pub key: ObjectKey,
    /// The text of its eviction.
    pub text: Text,
    /// What its containers used of the resource that was short.
    pub containers: Vec<(Text, Quantity)>,
}

impl MeasuredPod {
    /// Returns how much the text says was available of a resource; `None` if it is about something else.
    fn available(&self, kind: SignalKind) -> Option<Quantity> {
        let (what, rest) = self.text.strip_prefix("The node was low on resource: ")?.split_once(". ")?;
        let (_, amount) = rest.split_once("available: ")?;
        let amount = amount.split([' ', ',']).next()?.trim_end_matches('.');
        (what == kind.resource()).then(|| Quantity::parse(amount)).flatten()
    }

    /// Tells whether the pod was evicted for a limit of its own.
    fn is_for_limit(&self) -> bool {
        !self.text.starts_with("The node was low on resource: ")
    }
}

fn is_near(at: Timestamp, now: Timestamp) -> bool {
    at >= now - SLACK && at <= now + SLACK
}

fn is_in_pass(at: Timestamp, now: Timestamp) -> bool {
    at >= now - SLACK && at <= now + PASS_MAX
}

impl RecordedEvictions {
    /// Returns when the next pass that found something was made, if that is between two instants.
    pub(super) fn next_pass(&self, least: Timestamp, most: Timestamp) -> Option<Timestamp> {
        let limits = self.measured.iter().filter(|own| own.is_for_limit()).map(|own| own.at);
        let all = self.met.iter().map(|(at, _)| *at).chain(limits);
        all.filter(|at| *at >= least && *at <= most).min()
    }

    /// Returns what a pass measured: all of a resource is left if no threshold was met.
    pub(super) fn observe(&self, kind: SignalKind, real: Observation, now: Timestamp) -> Observation {
        let format =
            if matches!(kind, SignalKind::Memory | SignalKind::Disk) { Format::BinarySi } else { Format::DecimalSi };
        let is_met = self.met.iter().any(|(at, resource)| is_near(*at, now) && **resource == *kind.resource());
        if !is_met {
            return Observation { available: Quantity::whole(real.capacity, format), ..real };
        }
        let told = self.measured.iter().filter(|own| is_near(own.at, now)).find_map(|own| own.available(kind));
        Observation { available: told.unwrap_or_else(|| Quantity::whole(0, format)), ..real }
    }

    /// Tells whether a pass had to end a pod: else what no pod needs was enough.
    pub(super) fn ranks(&self, now: Timestamp) -> bool {
        self.ranked.iter().any(|(at, _)| is_near(*at, now))
    }

    /// Puts the pods in the order of a pass, if that is possible: each group is in the order of priorities. There are
    /// up to three: pods of which nothing was known, those above their requests, and the others.
    pub(super) fn rank(&self, candidates: &mut [Candidate], kind: SignalKind, now: Timestamp) {
        let Some((_, order)) = self.ranked.iter().find(|(at, _)| is_near(*at, now)) else { return };
        let place = |own: &Candidate| order.iter().position(|key| *key == own.pod.key()).unwrap_or(order.len());
        let mut sorted: Vec<&Candidate> = candidates.iter().collect();
        sorted.sort_by_key(|own| place(own));
        let steps_down = sorted.windows(2).filter(|pair| pair[0].priority > pair[1].priority).count();
        let is_known = sorted.iter().all(|own| place(own) < order.len());
        if is_known && steps_down <= if kind == SignalKind::Pids { 0 } else { 2 } {
            candidates.sort_by_key(place);
        }
    }

    /// Returns what was measured of a pod that a pass evicts.
    pub(super) fn figures(&self, key: &ObjectKey, kind: SignalKind, now: Timestamp) -> Option<PodFigures> {
        let mut own = self.measured.iter().filter(|own| is_in_pass(own.at, now) && own.key == *key);
        let measured = own.find(|own| own.available(kind).is_some())?;
        let of_kind = |wanted: SignalKind, used: &Quantity| if kind == wanted { used.value() } else { 0 };
        let containers = measured.containers.iter();
        let containers = containers
            .map(|(name, used)| (name.clone(), of_kind(SignalKind::Memory, used), of_kind(SignalKind::Disk, used)));
        Some(PodFigures { containers: containers.collect(), ..PodFigures::default() })
    }

    /// Returns the text about the limit for which a pass evicts a pod.
    pub(super) fn limit(&self, key: &ObjectKey, now: Timestamp) -> Option<String> {
        let mut own = self.measured.iter().filter(|own| is_in_pass(own.at, now) && own.key == *key);
        own.find(|own| own.is_for_limit()).map(|own| String::from(own.text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use jiff::{SignedDuration, Timestamp};

    use super::super::ranking::Candidate;
    use super::super::signals::{Observation, SignalKind};
    use super::{MeasuredPod, RecordedEvictions};
    use crate::json;
    use crate::objects::quantity::{Format, Quantity};
    use crate::objects::{Object, ObjectKey, Text};

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn after(millis: i64) -> Timestamp {
        NOW + SignedDuration::from_millis(millis)
    }

    fn recorded() -> RecordedEvictions {
        let text = "The node was low on resource: memory. Threshold quantity: 1Gi, available: 500Ki. Container main \
                    was using 20Ki, request is 0, has larger consumption of memory. ";
        RecordedEvictions {
            met: Vec::from([(after(100), Text::of("memory"))]),
            ranked: Vec::from([(after(110), ["c", "a", "b"].map(|name| ObjectKey::namespaced("d", name)).to_vec())]),
            measured: Vec::from([MeasuredPod {
                at: after(120),
                key: ObjectKey::namespaced("d", "c"),
                text: Text::of(text),
                containers: Vec::from([(Text::of("main"), Quantity::whole(20 << 10, Format::BinarySi))]),
            }]),
        }
    }

    #[test]
    fn a_pass_measures_what_its_text_says_and_another_one_that_all_is_left() {
        let real = Observation { available: Quantity::whole(7, Format::BinarySi), capacity: 4096 };
        let seen = |kind, at| recorded().observe(kind, real, at).available.to_string();
        assert_eq!(seen(SignalKind::Memory, NOW), "500Ki");
        assert_eq!(seen(SignalKind::Disk, NOW), "4Ki");
        assert_eq!(seen(SignalKind::Memory, after(10_000)), "4Ki");
        assert_eq!(recorded().next_pass(NOW, after(99)), None);
        assert_eq!(recorded().next_pass(NOW, after(100)), Some(after(100)));
        let figures = recorded().figures(&ObjectKey::namespaced("d", "c"), SignalKind::Memory, NOW).unwrap();
        assert_eq!(figures.containers, [("main".into(), 20 << 10, 0)]);
        assert!(recorded().figures(&ObjectKey::namespaced("d", "a"), SignalKind::Memory, NOW).is_none());
        assert_eq!(recorded().limit(&ObjectKey::namespaced("d", "c"), NOW), None);
    }

    #[test]
    fn an_order_that_cannot_be_is_not_taken() {
        let order = |priorities: [i64; 3], kind| {
            let pod = |(name, priority)| Candidate {
                pod: Object::new(json!({"metadata": {"name": name, "namespace": "d"}}), 1),
                priority,
                memory_request: 0,
                disk_request: 0,
                figures: None,
            };
            let mut candidates: Vec<Candidate> = ["a", "b", "c"].into_iter().zip(priorities).map(pod).collect();
            recorded().rank(&mut candidates, kind, NOW);
            candidates.iter().map(|own| own.pod.name().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(order([5, 5, 0], SignalKind::Pids), ["c", "a", "b"]);
        assert_eq!(order([5, 0, 9], SignalKind::Memory), ["c", "a", "b"]);
        assert_eq!(order([5, 0, 9], SignalKind::Pids), ["a", "b", "c"]);
    }
}
