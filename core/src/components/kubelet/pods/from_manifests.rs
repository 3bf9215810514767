//! The workers of static pods: how they end with their manifest, and what they do about their mirrors.
//!
//! Mirrors `SyncKnownPods` and `UpdatePod` of pkg/kubelet/pod_workers.go and `tryReconcileMirrorPods` of
//! pkg/kubelet/kubelet.go (v1.34). Inputs: manifests that go and come back, mirrors that the watch shows. Outputs:
//! containers told to end, syncs, requests.

use super::*;
use crate::components::kubelet::static_pods::HOUSEKEEPING;

impl Kubelet {
    /// Stops a static pod whose manifest is gone.
    pub(in crate::components::kubelet) fn end_static(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        worker.is_removed = true;
        worker.orphaned_at = Some(next_of(self.started, HOUSEKEEPING, context.now));
        if worker.is_over() {
            self.remove_static(uid, context);
        } else {
            self.stop_pod(uid, context);
            self.sync_pod(uid, context);
        }
    }

    /// Notes that the manifest of a static pod that ends is there again, unchanged; false if there is no such pod. If
    /// housekeeping has not missed it, the ended containers stay.
    ///
    /// Source: pkg/kubelet/pod_workers.go (v1.34), `ShouldPodContentBeRemoved`.
    pub(in crate::components::kubelet) fn is_back(&mut self, uid: &Text, now: Timestamp) -> bool {
        let Some(worker) = self.pods.workers.get_mut(uid).filter(|worker| worker.is_removed) else { return false };
        worker.orphaned_at = worker.orphaned_at.filter(|at| *at <= now);
        true
    }

    /// Forgets a static pod that has ended.
    pub(in crate::components::kubelet) fn remove_static(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get(uid) else { return };
        let (pod, goes_on) = (worker.object.clone(), worker.goes_on(context.host));
        if worker.orphaned_at.is_some_and(|at| at <= context.now) {
            context.host.runtime.remove(uid, context.now);
        } else {
            context.host.runtime.stop_sandbox(uid);
        }
        self.pods.workers.remove(uid);
        self.release_volumes(uid, context);
        self.static_ended(&pod, goes_on, context);
    }

    /// Notes that the mirror of a static pod is gone. The sync that follows still knows it; the next one that only its
    /// time brings about makes another.
    ///
    /// Source: pkg/kubelet/kubelet.go (v1.34), `HandlePodRemoves` and `tryReconcileMirrorPods`.
    pub(super) fn mirror_gone(&mut self, mirror: &str, now: Timestamp) {
        let mut own = self.pods.workers.active().filter(|worker| *worker.mirror == *mirror);
        let uid = own.next().map(|worker| worker.uid.clone());
        drop(own);
        if let Some(worker) = uid.as_ref().and_then(|uid| self.pods.workers.get_mut(uid)) {
            worker.mirror = Text::default();
        }
        if let Some(uid) = uid {
            self.sync_in_time(&uid, now);
        }
    }

    /// Syncs a pod when its time has come.
    pub(in crate::components::kubelet) fn sync_in_time(&mut self, uid: &Text, now: Timestamp) {
        self.schedule_resync(uid, (now + RESYNC_PERIOD, now), now);
        self.pods.recompute_deadline(now);
    }

    /// Makes the mirror of a static pod that has none in a sync, or deletes one that is not right.
    pub(super) fn reconcile_mirror(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let is_meant = |own: &&Worker| is_static(&own.object) && !own.is_removed;
        let Some(pod) = self.pods.workers.get(uid).filter(is_meant).map(|worker| worker.object.clone()) else { return };
        match self.mirror_of(&pod.key()) {
            Some(mirror) => self.mirror_seen(&mirror, context),
            None => self.create_mirror(&pod, context),
        }
    }

    /// Notes that the mirror of a static pod is there: its status is written with the next period.
    pub(in crate::components::kubelet) fn mirror_is_there(
        &mut self,
        uid: &Text,
        mirror: &Object,
        context: &KubeletContext<'_>,
    ) {
        let is_new = self.pods.workers.get(uid).is_some_and(|worker| worker.mirror != *mirror.uid());
        if let Some(worker) = self.pods.workers.get_mut(uid).filter(|_| is_new) {
            worker.mirror = Text::from(mirror.uid());
            match self.led_first_status(&Text::from(mirror.uid()), context.now) {
                Some(at) => {
                    // That first status is made then, whatever was seen before.
                    if let Some(worker) = self.pods.workers.get_mut(uid) {
                        (worker.sync_at, worker.seen_at, worker.conditions) = (Some(at), at, Json::Null);
                        worker.is_dirty = false;
                    }
                }
                None => self.sync_with_next_period(uid, context),
            }
        } else {
            self.watch_for_foreign_writes(uid, mirror, context);
        }
    }
}
