//! The parts of a pod's status that are its kubelet's own: what somebody else writes there is taken back.
//!
//! Mirrors `needsReconcile`, `isPodStatusByKubeletEqual` and `mergePodStatus` of pkg/kubelet/status/status_manager.go
//! (v1.34), whose cache is here the status as the kubelet's last write left it. Pure. Inputs: the pod in the API.
//! Outputs: whether it differs from that status, and the pod with that status in its place. Left out on purpose: that a
//! sync which finds a phase of somebody else that is final ends the pod.

use super::pod_status::{OWNED, foreign};
use super::{Worker, WorkerStage};
use crate::objects::{Json, Object};

/// The fields of a status that a kubelet owns, beside its conditions.
const FIELDS: [&str; 14] = [
    "allocatedResources",
    "containerStatuses",
    "hostIP",
    "hostIPs",
    "initContainerStatuses",
    "message",
    "observedGeneration",
    "phase",
    "podIP",
    "podIPs",
    "qosClass",
    "reason",
    "resources",
    "startTime",
];

impl Worker {
    /// Tells whether a pod in the API is newer than what this process has written last, and differs in what is its
    /// kubelet's own.
    pub(super) fn is_overwritten(&self, stored: &Object) -> bool {
        let known = self.written.as_ref().filter(|own| own.uid() == stored.uid());
        let older = known.filter(|own| own.resource_version() < stored.resource_version());
        let Some(own) = older.map(|own| own.stable().get("status")) else { return false };
        let status = stored.stable().get("status");
        let differs = |kind: &&str| {
            let of_kind = |status: &Json| {
                let conditions = status.get("conditions").items();
                let found = conditions.iter().find(|item| item.get("type").as_str() == Some(kind));
                found.map(|item| ["status", "reason", "message"].map(|field| item.get(field).clone()))
            };
            of_kind(own) != of_kind(status)
        };
        FIELDS.iter().any(|field| own.get(field) != status.get(field)) || OWNED.iter().any(differs)
    }

    /// Returns a pod of the API with what this process has written last in the place of what others have written over
    /// it.
    pub(super) fn over(&self, stored: &Object) -> Json {
        let mut pod = stored.json();
        let Some(own) = self.written.as_ref().filter(|_| self.is_overwritten(stored)) else { return pod };
        let own = own.stable().get("status");
        let mut conditions = foreign(pod.get("status"), |kind| OWNED.contains(&kind));
        let owned = own.get("conditions").items().iter();
        conditions
            .extend(owned.filter(|item| item.get("type").as_str().is_some_and(|kind| OWNED.contains(&kind))).cloned());
        for field in FIELDS {
            pod.remove(&["status", field]);
            if !own.get(field).is_null() {
                pod.set(&["status", field], own.get(field).clone());
            }
        }
        pod.set(&["status", "conditions"], conditions);
        pod
    }

    /// Tells whether a status is not written since the pod in the API has another phase that is final: that of a pod
    /// that runs is somebody else's. The phase of a mirror does not hold its static pod back.
    pub(super) fn stays_ended(&self, stored: &Json, status: &Json) -> bool {
        let before = stored.at(&["status", "phase"]);
        let is_final = matches!(before.as_str(), Some("Succeeded" | "Failed")) && before != status.get("phase");
        is_final && !super::is_static(&self.object) && self.stage != WorkerStage::Active
    }
}
