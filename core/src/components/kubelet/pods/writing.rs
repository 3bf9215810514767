//! Writes a pod's status to the API server: a GET, a PATCH, and at the end the DELETE.
//!
//! Inputs: pods whose status may have changed, answers. Outputs: requests. Invariant: a terminal phase of a pod that
//! ends or has ended is never overwritten.

use super::whole_pod::is_shown;
use super::*;
use crate::objects::lifecycle::{is_ending, is_terminal};

/// How often statuses that could not be written, or were overwritten, are written again.
/// Source: pkg/kubelet/status/status_manager.go (v1.34), `syncPeriod`.
const STATUS_SYNC_PERIOD: SignedDuration = SignedDuration::from_secs(10);

impl Kubelet {
    /// Notes that another writer has overwritten a status in the API, for the next period of the status manager.
    pub(in crate::components::kubelet) fn watch_for_foreign_writes(
        &mut self,
        uid: &Text,
        stored: &Object,
        context: &KubeletContext<'_>,
    ) {
        let is_overwritten = |own: &&Worker| !own.is_dirty && !own.is_syncing && own.is_overwritten(stored);
        if self.pods.workers.get(uid).filter(is_overwritten).is_some() {
            self.sync_with_next_period(uid, context);
        }
    }

    /// Schedules the writing of a status for the next period of the status manager.
    pub(super) fn sync_with_next_period(&mut self, uid: &Text, context: &KubeletContext<'_>) {
        let next = next_of(self.started, STATUS_SYNC_PERIOD, context.now);
        let in_api = self.pods.workers.get(uid).map(|worker| &worker.mirror).filter(|mirror| !mirror.is_empty());
        let has_passed = self.has_just_missed(in_api.unwrap_or(uid), next, context.now);
        let at = if has_passed { next + STATUS_SYNC_PERIOD } else { next };
        if let Some(worker) = self.pods.workers.get_mut(uid) {
            worker.sync_at = Some(worker.sync_at.map_or(at, |before| before.min(at)));
        }
    }

    pub(super) fn status_of(&self, worker: &Worker, server: Json, context: &KubeletContext<'_>) -> Option<Json> {
        let (_, second_ip) = self.host_ips(context.host);
        let view = StatusContext {
            host: context.host,
            settings: &self.settings,
            host_ip: &worker.host_ip,
            second_ip: second_ip.as_deref(),
            now: context.now,
            started: self.started,
        };
        (!worker.is_gone).then(|| build(worker, &server, &view))
    }

    /// Schedules the sync that will read back what a pod is as a whole: the first after its phase is in the API.
    pub(super) fn note_whole(&mut self, uid: &Text, now: Timestamp) {
        let Some(worker) = self.pods.workers.get(uid) else { return };
        let is_unread = is_shown(&self.settings) && worker.synced_phase != worker.phase_in_api();
        if is_unread && worker.stage == WorkerStage::Active && worker.resync_at.is_none() {
            let since = worker.synced_at;
            self.schedule_resync(uid, (since + RESYNC_PERIOD, since), now);
        }
    }

    pub(super) fn schedule_resync(&mut self, uid: &Text, (least, since): (Timestamp, Timestamp), now: Timestamp) {
        let random = since + self.pods.chance.jitter(RESYNC_PERIOD, PAUSE_JITTER);
        let most = since + RESYNC_PERIOD.mul_f64(1.0 + PAUSE_JITTER);
        let at = self.led_resync(uid, (least, most)).unwrap_or(random).max(now);
        if let Some(worker) = self.pods.workers.get_mut(uid) {
            worker.resync_at = Some(at);
        }
    }

    /// Writes the status of a pod, unless a request for it is under way.
    pub(super) fn sync_pod(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let is_free = |own: &&mut Worker| own.post_start.is_none() || own.tells_sandbox;
        let Some(worker) = self.pods.workers.get_mut(uid).filter(is_free) else { return };
        if worker.is_dirty && !worker.is_gone {
            self.sync_resize(uid, context);
            self.note_conditions(uid, context);
        }
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        let has_no_mirror = is_static(&worker.object) && worker.mirror.is_empty();
        if !worker.is_dirty || worker.is_syncing || worker.is_gone || has_no_mirror {
            return;
        }
        worker.is_dirty = false;
        worker.is_syncing = true;
        worker.has_failed_sync = false;
        let key = worker.object.key();
        let get = Call::new(Verb::Get, PODS, &key.namespace, &key.name);
        self.call(get, Purpose::Pod(uid.clone(), PodPurpose::Get), context);
        // With each change all statuses that are not in the API yet are tried again.
        let mut failed = self.pods.workers.active().filter(|worker| worker.has_failed_sync && !worker.is_syncing);
        let other = failed.next().map(|worker| worker.uid.clone());
        drop(failed);
        if let Some(other) = other {
            if let Some(worker) = self.pods.workers.get_mut(&other) {
                worker.has_failed_sync = false;
                worker.is_dirty = true;
            }
            self.sync_pod(&other, context);
        }
    }

    /// Notes the conditions of a pod as they are now, so that their times are those of the changes and not those of a
    /// later writing.
    fn note_conditions(&mut self, uid: &Text, context: &KubeletContext<'_>) {
        let status =
            self.pods.workers.get(uid).and_then(|worker| self.status_of(worker, worker.object.json(), context));
        if let (Some(worker), Some(status)) = (self.pods.workers.get_mut(uid), status)
            && !status.get("conditions").is_null()
            && !worker.has_failed_early()
        {
            worker.conditions = status.get("conditions").clone();
        }
    }

    /// Takes an answer.
    pub(in crate::components::kubelet) fn handle_pod_answer(
        &mut self,
        uid: &Text,
        step: PodPurpose,
        outcome: ApiResult,
        context: &mut KubeletContext<'_>,
    ) {
        let code = outcome.as_ref().map_or(0, |answer| answer.code);
        let object = outcome.ok().and_then(|answer| answer.as_object().cloned());
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        match (step, code, object) {
            (PodPurpose::Get, 200, Some(pod)) if pod.uid() == uid.as_str() || hash_of(&pod) == uid.as_str() => {
                self.write_status(uid, &pod, context);
            }
            (PodPurpose::Patch, 200, Some(pod)) => self.status_written(uid, &pod, context),
            // The mirror is gone too, and with it the last that was left to do.
            (PodPurpose::Get, 403 | 404, _) if worker.is_removed && worker.is_over() => {
                self.remove_static(uid, context)
            }
            // The pod is gone, or there is another one of its name: nothing to write. One that was not seen to go is
            // asked for again with the next period.
            (_, 200, _) | (PodPurpose::Get, 404, _) if code == 200 || worker.is_gone || is_static(&worker.object) => {
                worker.is_syncing = false;
                worker.sync_at = None;
                if step == PodPurpose::Delete && code == 200 {
                    context.host.runtime.remove(uid, context.now);
                }
                self.sync_pod(uid, context);
            }
            // Nobody waits for the last status of a static pod whose manifest is gone.
            _ if worker.is_removed && worker.is_over() => self.remove_static(uid, context),
            _ => {
                worker.is_syncing = false;
                worker.has_failed_sync = true;
                self.sync_with_next_period(uid, context);
            }
        }
        self.pods.recompute_deadline(context.now);
    }

    fn write_status(&mut self, uid: &Text, pod: &Object, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get(uid) else { return };
        let Some(status) = self.status_of(worker, worker.over(pod), context) else { return };
        if let Some(worker) = self.pods.workers.get_mut(uid) {
            // What has begun in the sandbox is told next; of what could not be started the next sync tells.
            let has_begun = context.host.runtime.sandbox(uid).is_some_and(|sandbox| !sandbox.containers.is_empty());
            worker.is_dirty |= core::mem::take(&mut worker.tells_sandbox) && has_begun;
            if !worker.has_failed_early() {
                worker.conditions = status.get("conditions").clone();
            }
        }
        let tree = pod.json();
        let changed = two_way(tree.get("status"), &status);
        let is_final = self.pods.workers.get(uid).is_some_and(|own| own.stays_ended(&tree, &status));
        if changed.is_empty() || is_final {
            self.status_written(uid, pod, context);
            return;
        }
        let mut patch = json!({"metadata": {"uid": pod.uid()}});
        patch.set(&["status"], changed);
        let key = pod.key();
        let call = Call::strategic_patch(PODS, &key.namespace, &key.name, patch).subresource("status");
        self.call(call, Purpose::Pod(uid.clone(), PodPurpose::Patch), context);
    }

    fn status_written(&mut self, uid: &Text, pod: &Object, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        worker.is_syncing = false;
        worker.written = Some(pod.clone());
        if !worker.conditions.is_null() && !worker.is_static_ended() {
            worker.conditions = pod.stable().at(&["status", "conditions"]).clone();
        }
        let (is_terminal, is_deleted) = (is_terminal(pod), is_ending(pod));
        if has_foreign_disruption(worker, pod) {
            self.sync_with_next_period(uid, context);
        }
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        if worker.is_removed && worker.is_over() && !worker.is_dirty {
            return self.remove_static(uid, context);
        }
        if is_terminal && is_deleted && !is_static(&worker.object) && worker.is_over() && worker.delete_at.is_none() {
            worker.is_syncing = true;
            let body = json!({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0,
                "preconditions": {"uid": uid.as_str()}});
            let key = pod.key();
            let facts = Vec::from([Because::Fact(String::from("all containers have ended and the status is written"))]);
            context.outbox.decide(decided_about(&key), "finally deleted", facts);
            let delete = Call::new(Verb::Delete, PODS, &key.namespace, &key.name).body(body);
            self.call(delete, Purpose::Pod(uid.clone(), PodPurpose::Delete), context);
            return;
        }
        self.sync_pod(uid, context);
    }
}

/// Tells whether a mirror has a condition that its static pod lacks, since a process before has ended it: then the two
/// never agree, and the status is written again with each period.
///
/// Source: pkg/kubelet/status/status_manager.go (v1.34), `needsReconcile` and `isPodStatusByKubeletEqual`.
fn has_foreign_disruption(worker: &Worker, mirror: &Object) -> bool {
    let conditions = mirror.stable().at(&["status", "conditions"]).items();
    let is_disruption = |item: &Json| item.get("type").as_str() == Some("DisruptionTarget");
    is_static(&worker.object) && worker.ending.is_none() && conditions.iter().any(is_disruption)
}
