//! Pods that the kubelet itself ends, whatever the API server thinks of them: preempted or evicted.
//!
//! Mirrors `killPodNow` and `KillPodOptions` of pkg/kubelet/pod_workers.go (v1.34): a grace period that can only be
//! shorter than the one under way, and a status for the end. Inputs: a pod and why it has to go. Outputs: an Event, its
//! containers told to stop, and later its status.

use super::*;

/// Reason and message of a preempted pod. Source: pkg/kubelet/events/event.go, `PreemptContainer`, and
/// pkg/kubelet/preemption/preemption.go (v1.34), `message`.
pub(super) const PREEMPTED: (&str, &str) = ("Preempting", "Preempted in order to admit critical pod");

/// Why the kubelet itself ends a pod, and what the pod's status says of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::components::kubelet) struct Ending {
    /// The reason of a pod that has failed by it.
    pub(in crate::components::kubelet) reason: Text,
    /// The message of such a pod.
    pub(in crate::components::kubelet) message: Text,
    /// The message of the condition `DisruptionTarget`; `None` for no such condition.
    pub(in crate::components::kubelet) disruption: Option<Text>,
    /// A grace period in the place of the pod's own; the shorter one of this and of a deletion's holds.
    pub(in crate::components::kubelet) grace_seconds: Option<i64>,
    /// Whether the ended containers are removed before the kubelet reads how they have ended: then the status tells of
    /// no exit code but 137, and the pod has failed.
    pub(in crate::components::kubelet) loses_containers: bool,
    /// The reason in a decision.
    pub(in crate::components::kubelet) why: &'static str,
}

impl Ending {
    /// A pod that makes room for a critical one.
    pub(super) fn preempted() -> Self {
        Self {
            reason: Text::of(PREEMPTED.0),
            message: Text::of(PREEMPTED.1),
            disruption: Some(Text::of("Pod was preempted by Kubelet to accommodate a critical pod.")),
            grace_seconds: None,
            loses_containers: false,
            why: "the pod is preempted",
        }
    }
}

/// Returns for how long the end of a pod is waited for: one and a half of its grace period in whole seconds, at least
/// 10 s.
///
/// Source: pkg/kubelet/pod_workers.go (v1.34), `killPodNow`.
pub(in crate::components::kubelet) fn kill_timeout(grace_seconds: i64) -> SignedDuration {
    SignedDuration::from_secs((grace_seconds + grace_seconds / 2).max(10))
}

impl Kubelet {
    /// Says that a pod has not ended in time.
    pub(in crate::components::kubelet) fn give_up_ending(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(pod) = self.pods.object(uid).cloned() else { return };
        let message = String::from("Container runtime did not kill the pod within specified grace period.");
        self.pod_event(&pod, None, (EventType::Warning, "ExceededGracePeriod", message), context);
    }

    /// Ends a pod for a reason of the kubelet's own. A second reason takes the place of the first; the shorter grace
    /// period holds.
    pub(in crate::components::kubelet) fn end_pod(
        &mut self,
        uid: &Text,
        mut ending: Ending,
        context: &mut KubeletContext<'_>,
    ) {
        let Some(worker) = self.pods.workers.get_mut(uid).filter(|worker| !worker.is_over()) else { return };
        let before = worker.ending.as_ref().and_then(|before| before.grace_seconds);
        ending.grace_seconds = ending.grace_seconds.into_iter().chain(before).min();
        worker.ending = Some(ending);
        worker.is_dirty |= worker.has_failed_early();
        self.stop_pod(uid, context);
        self.sync_pod(uid, context);
        self.pods.recompute_deadline(context.now);
    }

    /// Returns the pods whose resources count as used, in the order in which they came.
    pub(in crate::components::kubelet) fn active_pods(&self) -> Vec<Object> {
        let mut active: Vec<&Worker> = self.pods.workers.active().filter(|worker| worker.counts()).collect();
        active.sort_by(|one, other| (one.seen_at, &one.uid).cmp(&(other.seen_at, &other.uid)));
        active.into_iter().map(|worker| worker.object.clone()).collect()
    }
}
