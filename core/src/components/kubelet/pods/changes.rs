//! Containers whose pod names another image by now.
//!
//! Mirrors `containerChanged` and what follows from it in pkg/kubelet/kuberuntime/kuberuntime_manager.go and
//! kuberuntime_container.go (v1.34). Inputs: a pod that was seen again. Outputs: its running containers with another
//! image are told to end and start again, whatever the restart policy is; those that wait after a crash or a failed
//! pull wait no longer, and those that go on waiting are shown to. An init container that is no sidecar stays as it is.

use super::*;

/// Returns the image that a pod names for a container.
pub(super) fn image_of<'a>(pod: &'a Object, container: &str) -> &'a str {
    let own = ContainerRole::find(pod, container);
    own.and_then(|(_, own)| own.get("image").as_str()).unwrap_or_default()
}

/// Tells whether a container was started from another image; of one that was there before everything nobody knows.
pub(super) fn has_other_image(container: &Container, image: &str) -> bool {
    !container.image.is_empty() && *container.image != *image
}

impl Kubelet {
    /// Does what follows from the images that a pod names now.
    pub(super) fn take_images(&mut self, uid: &Text, before: &Object, context: &mut KubeletContext<'_>) {
        let is_free = |own: &&mut Worker| own.stage == WorkerStage::Active && own.post_start.is_none();
        let Some(worker) = self.pods.workers.get_mut(uid).filter(is_free) else { return };
        if !context.host.is_runtime_up {
            return;
        }
        let mut changed = Vec::new();
        for (at, plan) in worker.plans.iter_mut().enumerate() {
            let image = image_of(&worker.object, &plan.name);
            match context.host.runtime.container(uid, &plan.name) {
                Some(own) if own.is_running() && has_other_image(own, image) => {
                    let stays = plan.role == ContainerRole::Init || plan.killed_for.is_some();
                    changed.extend(Some((at, plan.name.clone(), plan.role)).filter(|_| !stays));
                }
                None if plan.start_error.is_some() && image_of(before, &plan.name) != image => {
                    (plan.failed_pull, plan.start_at) = (None, Some(context.now));
                }
                _ => {}
            }
        }
        for (at, name, role) in changed {
            let message = match role {
                ContainerRole::Regular => format!("Container {name} definition changed, will be restarted"),
                _ => format!("Init container {name} definition changed"),
            };
            self.end_container(uid, at, (KilledFor::Image, message), None, context);
        }
    }

    /// Looks again at the containers of a pod that wait after a crash, if more than its status has changed.
    ///
    /// Source: pkg/kubelet/config/config.go (v1.34), `podsDifferSemantically`.
    pub(super) fn settle_changed(&mut self, uid: &Text, before: &Object, context: &mut KubeletContext<'_>) {
        let waits = |own: &&mut Worker| own.plans.iter().any(|plan| plan.is_waiting);
        let Some(worker) = self.pods.workers.get_mut(uid).filter(waits) else { return };
        let paths: [&[&str]; 3] = [&["spec"], &["metadata", "labels"], &["metadata", "annotations"]];
        if paths.iter().any(|path| before.stable().at(path) != worker.object.stable().at(path)) {
            worker.note_sync(context.now);
            self.settle_in_sync(uid, context);
        }
    }
}
