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

    /// Returns when it will have run for as long as it may, by the clock of its machine.
    fn ends_overdue_at(&self, host: &Host) -> Option<Timestamp> {
        let tree = self.object.stable();
        let seconds = tree.at(&["spec", "activeDeadlineSeconds"]).as_i64()?;
        let known = tree.at(&["status", "startTime"]).as_str().and_then(parse);
        let started = known.unwrap_or_else(|| to_seconds(host.wall(self.seen_at)));
        started.checked_add(SignedDuration::from_secs(seconds)).ok()
    }
}

impl Kubelet {
    /// Notes how long a pod may run: the kubelet looks each second whether its time is over.
    pub(super) fn note_deadline(&mut self, uid: &Text, context: &KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get(uid).filter(|worker| !worker.is_overdue()) else { return };
        let ahead = context.wall().duration_since(context.now);
        let at = worker.ends_overdue_at(context.host);
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
        let ending = overdue(None);
        self.end_pod(uid, ending, context);
        if let Some(worker) = self.pods.workers.get_mut(uid) {
            worker.is_dirty = true;
        }
        self.sync_pod(uid, context);
    }

    /// Notes at the end of a pod that its time was over by then: it has failed, whatever it was told to end for.
    pub(super) fn note_overdue(&mut self, uid: &Text, context: &KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid).filter(|own| !own.is_overdue() && !own.is_gone) else {
            return;
        };
        if worker.ends_overdue_at(context.host).is_some_and(|at| at <= context.wall()) {
            worker.ending = Some(overdue(worker.ending.take()));
        }
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

/// Returns why a pod has ended that has run for too long. What else it was told to end for still holds, but for reason
/// and message.
fn overdue(before: Option<Ending>) -> Ending {
    let (reason, message) = OVERDUE;
    let why = "the pod has run for longer than activeDeadlineSeconds";
    match before {
        Some(before) => Ending { reason: Text::of(reason), message: Text::of(message), ..before },
        None => Ending {
            reason: Text::of(reason),
            message: Text::of(message),
            disruption: None,
            grace_seconds: None,
            loses_containers: false,
            why,
        },
    }
}

/// Returns an instant in whole seconds, as a status has it.
fn to_seconds(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}
