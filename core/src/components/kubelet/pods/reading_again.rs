//! What each sync of a pod reads again: the secrets for pulling its images, and what its volumes are made of.
//!
//! Mirrors `SyncPod` of pkg/kubelet/kubelet.go and `getPullSecretsForPod` of pkg/kubelet/kubelet_pods.go (v1.34).
//! Inputs: syncs, changes of what a pod names. Outputs: Events about what is missing. Invariant: a pod that lacks
//! nothing needs no sync for it. Left out on purpose: that a pull fails without its secret.

use super::*;
use crate::components::kubelet::object_cache::{CacheError, CacheReader, CachedKind};

impl Kubelet {
    /// Reads in the first sync of a pod the secrets for its pulls; false while it waits for the first list of one.
    pub(super) fn has_pull_secrets(&mut self, uid: &Text, context: &mut KubeletContext<'_>) -> bool {
        match self.missing_pull_secrets(uid, context) {
            Ok(missing) => self.tell_pull_secrets(uid, &missing, context),
            Err(until) => {
                self.pods.wake_at(uid, until);
                return false;
            }
        }
        true
    }

    /// Reads again in a sync of a pod that runs.
    pub(super) fn read_again(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        if self.pods.workers.get(uid).is_none_or(|worker| worker.stage != WorkerStage::Active) {
            return;
        }
        self.remount(uid, context);
        let missing = self.missing_pull_secrets(uid, context).unwrap_or_default();
        self.tell_pull_secrets(uid, &missing, context);
    }

    /// Tells which secrets are missing, and lets the next sync do the same.
    fn tell_pull_secrets(&mut self, uid: &Text, missing: &[String], context: &mut KubeletContext<'_>) {
        let Some(pod) = self.pods.object(uid).cloned().filter(|_| !missing.is_empty()) else { return };
        let message = format!(
            "Unable to retrieve some image pull secrets ({}); attempting to pull the image may not succeed.",
            missing.join(", ")
        );
        self.pod_event(&pod, None, (EventType::Warning, "FailedToRetrieveImagePullSecret", message), context);
        self.schedule_resync(uid, (context.now + RESYNC_PERIOD, context.now), context.now);
    }

    /// Returns the secrets for pulls that are not to be had; the error is until when a first list is waited for.
    fn missing_pull_secrets(&mut self, uid: &Text, context: &mut KubeletContext<'_>) -> Result<Vec<String>, Timestamp> {
        let Some(pod) = self.pods.object(uid).cloned() else { return Ok(Vec::new()) };
        let names = pod.stable().at(&["spec", "imagePullSecrets"]).items().iter();
        let mut missing = Vec::new();
        for name in names.filter_map(|own| own.get("name").as_text()).filter(|name| !name.is_empty()) {
            let key = ObjectKey { namespace: pod.key().namespace, name: name.clone() };
            match self.referenced(CachedKind::Secret, &key, CacheReader::Sync, context) {
                Ok(_) => {}
                Err(CacheError::Pending(until)) => return Err(until),
                Err(_) => missing.push(String::from(name.as_str())),
            }
        }
        Ok(missing)
    }

    /// Lets the next sync of a pod find what it lacks since an object has changed.
    pub(in crate::components::kubelet) fn note_lack(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get(uid) else { return };
        if worker.stage != WorkerStage::Active || worker.resync_at.is_some() {
            return;
        }
        let since = worker.synced_at;
        let lacks = !self.failing_mounts(uid, context).is_empty()
            || self.missing_pull_secrets(uid, context).is_ok_and(|missing| !missing.is_empty());
        if !lacks {
            return;
        }
        self.schedule_resync(uid, (since, since), context.now);
        // When the last of the syncs before was that found nothing is not known.
        let phase = self.pods.chance.up_to(RESYNC_PERIOD);
        let is_later = context.now.duration_since(since) > RESYNC_PERIOD;
        if let Some(worker) = self.pods.workers.get_mut(uid).filter(|_| is_later) {
            worker.resync_at = Some(context.now + phase);
        }
    }
}
