//! The resizes that wait, in the order in which they are tried.
//!
//! Mirrors `PushPendingResize`, `sortPendingResizes` and `retryPendingResizes` of
//! pkg/kubelet/allocation/allocation_manager.go (v1.34). Inputs: pods that ask, time. Outputs: decisions, statuses.

use super::*;
use crate::components::kubelet::preemption::priority;

/// How long the queue is left alone. Source: as above, `retryDelay`.
const RETRY_PAUSE: SignedDuration = SignedDuration::from_secs(180);
/// The same before the pods of the node are known. Source: as above, `initialRetryDelay`.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_secs(30);

/// The pods whose resizes wait.
#[derive(Clone, Debug, Default)]
pub(in crate::components::kubelet::pods) struct Resizes {
    waiting: Vec<Text>,
    retry_at: Option<Timestamp>,
}

impl Resizes {
    /// Returns when the queue is tried again.
    pub(in crate::components::kubelet::pods) const fn due(&self) -> Option<Timestamp> {
        self.retry_at
    }

    pub(super) const fn are_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Lets the queue be tried after the first pause.
    pub(super) fn retry_first(&mut self, now: Timestamp) {
        self.retry_at = now.checked_add(FIRST_PAUSE).ok();
    }
}

impl Kubelet {
    /// Puts a pod into the queue.
    pub(super) fn queue_resize(&mut self, uid: &Text) {
        let mut waiting = core::mem::take(&mut self.pods.resizes.waiting);
        if !waiting.contains(uid) {
            waiting.push(uid.clone());
            waiting.retain(|uid| self.pods.workers.contains_key(uid));
            // The order is not a total one, and what comes of it depends on how it is sorted: upstream inserts, as Go
            // does with fewer than 12.
            for end in 1..waiting.len() {
                let mut at = end;
                while at > 0 && self.goes_before(&waiting[at], &waiting[at - 1]) {
                    waiting.swap(at, at - 1);
                    at -= 1;
                }
            }
        }
        self.pods.resizes.waiting = waiting;
    }

    /// Tells whether a pod's resize is tried before that of another.
    fn goes_before(&self, one: &Text, other: &Text) -> bool {
        let (Some(one), Some(other)) = (self.pods.workers.get(one), self.pods.workers.get(other)) else { return false };
        let level = PodLevel::of(self.settings.profile());
        if !one.asks_for_more(level) || !other.asks_for_more(level) {
            return !one.asks_for_more(level);
        }
        let rank = |worker: &Worker| {
            let class = worker.object.stable().at(&["status", "qosClass"]).as_str();
            (priority(&worker.object).unwrap_or_default(), class == Some("Guaranteed"))
        };
        let since = |worker: &Worker| worker.resizing.pending.as_ref().map(|own| own.since);
        match rank(one).cmp(&rank(other)) {
            core::cmp::Ordering::Equal => since(one).is_some_and(|at| since(other).is_none_or(|other| at < other)),
            order => order.is_gt(),
        }
    }

    /// Tries the queue again when its time has come.
    pub(in crate::components::kubelet::pods) fn retry_due_resizes(&mut self, context: &mut KubeletContext<'_>) {
        if self.pods.resizes.retry_at.is_some_and(|at| at <= context.now) {
            self.retry_resizes(context);
        }
    }

    /// Tries all resizes that wait.
    pub(in crate::components::kubelet::pods) fn retry_resizes(&mut self, context: &mut KubeletContext<'_>) {
        if !self.pods.resizes.are_waiting() {
            self.pods.resizes.retry_at = None;
            return;
        }
        if !self.pods.is_filled {
            self.pods.resizes.retry_first(context.now);
            return;
        }
        for uid in core::mem::take(&mut self.pods.resizes.waiting) {
            let conditions = |own: &Worker| (own.resizing.pending.clone(), own.resizing.progress.clone());
            let Some(before) = self.pods.workers.get(&uid).filter(|own| !own.is_gone).map(conditions) else { continue };
            let is_given = self.decide_resize(&uid, context);
            let Some(worker) = self.pods.workers.get_mut(&uid) else { continue };
            if worker.resizing.pending.as_ref().is_some_and(|own| *own.reason != *deciding::INFEASIBLE) {
                self.pods.resizes.waiting.push(uid.clone());
            }
            if is_given || before != conditions(worker) {
                worker.is_dirty |= !worker.is_over();
                worker.resizing.is_open = true;
                self.sync_pod(&uid, context);
            }
        }
        let is_waiting = self.pods.resizes.are_waiting();
        self.pods.resizes.retry_at = context.now.checked_add(RETRY_PAUSE).ok().filter(|_| is_waiting);
    }
}

impl Worker {
    /// Tells whether its pod asks for more CPU or memory than it was given.
    fn asks_for_more(&self, level: PodLevel) -> bool {
        if self.resizing.wanted.is_null() {
            return false;
        }
        let (given, wanted) =
            (requests(self.object.stable().get("spec"), level), requests(&self.resizing.wanted, level));
        ["cpu", "memory"].iter().any(|name| wanted.get(name) > given.get(name))
    }
}
