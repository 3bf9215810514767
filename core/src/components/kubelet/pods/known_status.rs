//! What a kubelet can tell of a pod to who asks it and not the API server.
//!
//! Mirrors `GetPodStatus` of pkg/kubelet/status/status_manager.go (v1.34). Pure. Inputs: the pod's worker, the host.
//! Outputs: its status, and whether the runtime still has a run of a container.

use super::status_context::is_collected;
use super::*;

impl Kubelet {
    /// Returns the status of a pod: as it was written last, or is about to be; that in the API if there is none yet.
    pub(in crate::components::kubelet) fn known_status(&self, uid: &Text, context: &KubeletContext<'_>) -> Json {
        let Some(worker) = self.pods.workers.get(uid) else { return Json::Null };
        let is_newer = worker.is_dirty || worker.is_syncing || worker.has_failed_sync;
        let made = is_newer.then(|| self.status_of(worker, worker.over(&worker.object), context)).flatten();
        let last = worker.written.as_ref().unwrap_or(&worker.object);
        made.unwrap_or_else(|| last.stable().get("status").clone())
    }

    /// Tells whether the runtime has a run of a container, by its id.
    pub(in crate::components::kubelet) fn has_run(&self, uid: &Text, id: &str, context: &KubeletContext<'_>) -> bool {
        let sandbox = context.host.runtime.sandbox(uid);
        let mut runs = sandbox.into_iter().flat_map(|own| &own.containers);
        runs.any(|own| {
            let before = own.before.as_ref().filter(|_| !is_collected(own, self.started, context.now));
            *own.id == *id || before.is_some_and(|before| *before.id == *id)
        })
    }
}
