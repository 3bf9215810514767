//! The hook `postStart`: the sync that starts a container waits for its end, and nothing is told of the pod before.
//!
//! Mirrors `startContainer` of pkg/kubelet/kuberuntime/kuberuntime_container.go (v1.34). Inputs: containers that have
//! started, time. Outputs: when the sync goes on; of a hook that fails Events and the end of its container.

use super::initializing::Initialization;
use super::worker::PostStart;
use super::*;
use crate::components::host::runtime::Hook;

impl Kubelet {
    /// Begins the hook of a container that has just started; false if the sync does not have to wait for it.
    pub(super) fn begin_post_start(&mut self, uid: &Text, at: usize, context: &KubeletContext<'_>) -> bool {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return false };
        let name = &worker.plans[at].name;
        let found = ContainerRole::find(&worker.object, name).filter(|_| !context.host.runtime.is_scripted());
        let hook = found.map(|(_, own)| Hook::read(own, "postStart")).unwrap_or_default();
        if hook == Hook::default() {
            return false;
        }
        let ends_at = Some(context.now.checked_add(hook.takes).unwrap_or(Timestamp::MAX));
        worker.post_start = Some(PostStart { container: name.clone(), ends_at, fails: hook.fails });
        true
    }

    /// Goes on with a sync whose hook has ended.
    pub(super) fn end_post_start(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        let is_due = |hook: &mut PostStart| hook.ends_at.is_some_and(|at| at <= context.now);
        let Some(hook) = worker.post_start.take_if(is_due) else { return };
        if hook.fails {
            worker.post_start = Some(PostStart { ends_at: None, ..hook.clone() });
            self.fail_post_start(uid, &hook.container, context);
            return;
        }
        worker.note_sync(context.now);
        worker.is_dirty = !worker.is_gone;
        let progress = Initialization::of(worker, context.host.runtime.sandbox(uid), self.settings.profile());
        self.plan_next(uid, &progress, context);
        self.probe_at_once(uid, context);
    }

    /// Tells a container to end whose hook has failed.
    fn fail_post_start(&mut self, uid: &Text, name: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        let pod = worker.object.clone();
        let error = ContainerRole::find(&pod, name).map(|(_, own)| failure(&pod, own));
        if let Some(plan) = worker.plans.iter_mut().find(|plan| plan.name == *name) {
            plan.hook_error = error;
        }
        for (kind, reason, message) in [
            (EventType::Warning, "FailedPostStartHook", "PostStartHook failed"),
            (EventType::Normal, "Killing", "FailedPostStartHook"),
        ] {
            self.pod_event(&pod, Some(name), (kind, reason, String::from(message)), context);
        }
        let grace = pod.stable().at(&["spec", "terminationGracePeriodSeconds"]).as_i64().unwrap_or(30);
        let grace = SignedDuration::from_secs(grace.max(STOP_MIN_SECONDS));
        context.host.runtime.stop(uid, (Some(&pod), Some(name)), grace, context.now);
        self.tell_failed_hooks(uid, context);
    }
}

/// Returns what the kubelet says of a command that fails as the hook of a container.
///
/// Source: pkg/kubelet/lifecycle/handlers.go (v1.34), `Run`; k8s.io/cri-client pkg/remote_runtime.go, `ExecSync`.
fn failure(pod: &Object, container: &Json) -> Text {
    let command = container.at(&["lifecycle", "postStart", "exec", "command"]).items();
    let command: Vec<&str> = command.iter().filter_map(Json::as_str).collect();
    let (command, key) = (command.join(" "), pod.key());
    let name = container.get("name").as_str().unwrap_or_default();
    Text::from(format!(
        "Exec lifecycle hook ([{command}]) for Container \"{name}\" in Pod \"{}_{}({})\" failed - error: command \
         '{command}' exited with 1: , message: \"\"",
        key.name,
        key.namespace,
        pod.uid()
    ))
}
