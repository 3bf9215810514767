//! Pods that may run for a limited time only: `activeDeadlineSeconds`.
//!
//! Mirrors pkg/kubelet/active_deadline.go and `generateAPIPodStatus` of pkg/kubelet/kubelet_pods.go (v1.34).
//! Inputs: the pod, time. Outputs: its Events, its containers told to end, and a status that has failed however they
//! end.

use super::*;
use crate::objects::time::parse;

/// Reason and message of a pod that has run for too long.
const OVERDUE: (&str, &str) = ("DeadlineExceeded", "Pod was active on the node longer than the specified deadline");
/// How often the kubelet makes a status on the way to the end, each time with an Event: in the sync that finds the pod
/// overdue and at the beginning of its end, and then when its containers have ended and when it is cleaned up.
/// Source: pkg/kubelet/kubelet.go (v1.34), `SyncPod`, `SyncTerminatingPod`, `SyncTerminatedPod`.
const EVENTS_EACH: usize = 2;

impl Worker {
    /// Tells whether it has run for too long, and so has failed.
    pub(super) fn is_overdue(&self) -> bool {
        self.ending.as_ref().is_some_and(|ending| ending.reason == *OVERDUE.0)
    }
}

impl Kubelet {
    /// Notes how long a pod may run: the kubelet looks each second whether its time is over.
    pub(super) fn note_deadline(&mut self, uid: &Text, context: &KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get(uid).filter(|worker| !worker.is_overdue()) else { return };
        let tree = worker.object.stable();
        let seconds = tree.at(&["spec", "activeDeadlineSeconds"]).as_i64();
        let known = tree.at(&["status", "startTime"]).as_str().and_then(parse);
        let started = known.unwrap_or_else(|| to_seconds(context.host.wall(worker.seen_at)));
        let ahead = context.wall().duration_since(context.now);
        let at = seconds.and_then(|seconds| started.checked_add(SignedDuration::from_secs(seconds)).ok());
        let at = at.and_then(|at| at.checked_sub(ahead).ok()).map(|at| self.at_tick(at.max(context.now)));
        if let Some(worker) = self.pods.workers.get_mut(uid).filter(|worker| worker.deadline_at != at) {
            worker.deadline_at = at;
        }
    }

    /// Ends a pod whose time is over.
    pub(super) fn end_overdue(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let is_due = |own: &&mut Worker| own.deadline_at.is_some_and(|at| at <= context.now);
        let Some(worker) = self.pods.workers.get_mut(uid).filter(is_due) else { return };
        worker.deadline_at = None;
        if worker.is_deleted() || !matches!(worker.stage, WorkerStage::Active | WorkerStage::Blocked) {
            return;
        }
        self.tell_overdue(uid, context);
        let ending = Ending {
            reason: Text::of(OVERDUE.0),
            message: Text::of(OVERDUE.1),
            disruption: None,
            grace_seconds: None,
            loses_containers: false,
            why: "the pod has run for longer than activeDeadlineSeconds",
        };
        self.end_pod(uid, ending, context);
        if let Some(worker) = self.pods.workers.get_mut(uid) {
            worker.is_dirty = true;
        }
        self.sync_pod(uid, context);
    }

    /// Tells that a pod has run for too long.
    pub(super) fn tell_overdue(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(pod) = self.pods.object(uid).cloned() else { return };
        for _ in 0..EVENTS_EACH {
            let said = (EventType::Normal, OVERDUE.0, String::from(OVERDUE.1));
            self.pod_event(&pod, None, said, context);
        }
    }
}

/// Returns an instant in whole seconds, as a status has it.
fn to_seconds(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}
