//! Calls of a container runtime that is frozen: they hang, and are given up at last.
//!
//! Mirrors the time-outs of k8s.io/cri-client pkg/remote_runtime.go (v0.34), and what pkg/kubelet/kuberuntime says of a
//! call that fails. Inputs: starts and ends of pods, time. Outputs: Events. What has timed out is tried again once the
//! runtime is back. Left out on purpose: calls that hang in a sandbox which is there already, and those that were under
//! way as the runtime froze; they hang until it continues.

use super::*;
use crate::components::kubelet::runtime_state::{NO_ANSWER, RUNTIME_TIMEOUT};

impl Worker {
    /// Notes that containers are to be started that nobody starts now.
    pub(super) fn await_start(&mut self, host: &Host, now: Timestamp) {
        let has_sandbox = host.runtime.sandbox(&self.uid).is_some_and(|sandbox| sandbox.is_ready);
        if !host.runtime.is_frozen() {
            self.hung_until = None;
        } else if !has_sandbox {
            // Source: remote_runtime.go (v0.34), `RunPodSandbox`: twice as long as other calls.
            self.hung_until.get_or_insert(now + RUNTIME_TIMEOUT * 2);
        }
    }
}

impl Kubelet {
    /// Notes that the sandbox of a pod is to be ended, and for how long its containers may take.
    ///
    /// Source: remote_runtime.go (v0.34), `StopContainer`, `StopPodSandbox`; the containers come before the sandbox.
    pub(super) fn await_stop(&mut self, uid: &Text, grace: SignedDuration, context: &KubeletContext<'_>) {
        let sandbox = context.host.runtime.sandbox(uid).filter(|_| context.host.runtime.is_frozen());
        let of_containers = |runs: bool| if runs { grace + RUNTIME_TIMEOUT } else { SignedDuration::ZERO };
        let takes = sandbox.map(|own| of_containers(own.is_running()) + RUNTIME_TIMEOUT);
        if let Some(worker) = self.pods.workers.get_mut(uid) {
            worker.hung_until = takes.and_then(|takes| context.now.checked_add(takes).ok());
        }
    }

    /// Gives up a call that has hung for too long.
    pub(super) fn give_up_call(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let is_due = |own: &&mut Worker| own.hung_until.is_some_and(|at| at <= context.now);
        let Some(worker) = self.pods.workers.get_mut(uid).filter(is_due) else { return };
        worker.hung_until = None;
        if !context.host.runtime.is_frozen() {
            return;
        }
        let pod = worker.object.clone();
        if worker.stage == WorkerStage::Stopping {
            let message = self.kill_error(uid, context.host);
            context.host.runtime.forget_unheard(uid);
            self.pod_event(&pod, None, (EventType::Warning, "FailedKillPod", message), context);
            return;
        }
        worker.stage = WorkerStage::Blocked;
        worker.plans.iter_mut().for_each(|plan| plan.start_at = None);
        let message = format!("Failed to create pod sandbox: {NO_ANSWER}");
        self.pod_event(&pod, None, (EventType::Warning, "FailedCreatePodSandBox", message), context);
    }

    /// Returns what is said of a pod that could not be ended.
    ///
    /// Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go (v1.34), `killPodWithSyncResult`.
    fn kill_error(&self, uid: &Text, host: &Host) -> String {
        let error =
            |what: &str, of: &str| format!("failed to \"{what}\" for \"{of}\" with {what}Error: \"{NO_ANSWER}\"");
        let containers = host.runtime.sandbox(uid).into_iter().flat_map(|sandbox| &sandbox.containers);
        let running = containers.filter(|own| own.is_running()).map(|own| error("KillContainer", &own.name));
        let all: Vec<String> = running.chain([error("KillPodSandbox", uid)]).collect();
        let all = if let [only] = all.as_slice() { only.clone() } else { format!("[{}]", all.join(", ")) };
        format!("error killing pod: {all}")
    }
}
