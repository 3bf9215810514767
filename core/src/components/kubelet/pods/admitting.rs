//! Whether a pod that is seen for the first time runs here: all handlers of admission, in their order.
//!
//! Mirrors `canAdmitPod` of pkg/kubelet/allocation/allocation_manager.go (v1.34). Inputs: the pod, the others, the
//! state of the node. Outputs: the verdict, and what the pod got for itself.

use super::*;
use crate::components::kubelet::admission::{AdmissionContext, early_refusal, verdict};

impl Kubelet {
    /// Decides whether a pod is admitted, and gives it the resources that are for it alone.
    pub(super) fn verdict(&mut self, pod: &Object, context: &mut KubeletContext<'_>) -> AdmissionResult {
        let node = self.cached_node().map(|node| node.stable().clone()).unwrap_or_default();
        let settings = self.settings.clone();
        let (config, pressures) = (self.config.clone(), self.eviction.conditions());
        let profile = settings.profile();
        let place = AdmissionContext { config: &config, host: context.host, node: &node, pressures, profile };
        if let Some((reason, message)) = early_refusal(pod, &place) {
            return AdmissionResult::Refused(reason, message);
        }
        if let Err((reason, message)) = self.allocate(pod, context) {
            return AdmissionResult::Refused(reason, message);
        }
        let place = AdmissionContext { config: &config, host: context.host, node: &node, pressures, profile };
        let others = self.led_victims_last(self.admitted(), context.now);
        match verdict(pod, others.into_iter(), &place) {
            AdmissionResult::Admitted | AdmissionResult::AdmittedAfter(_) if self.shutdown.is_shutting_down() => {
                let (reason, message) = crate::components::kubelet::shutdown::refusal();
                AdmissionResult::Refused(reason, message)
            }
            verdict => verdict,
        }
    }

    /// Tells whether a pod keeps what it got for itself. Nothing is known yet of pods that a restarted kubelet has not
    /// seen.
    pub(in crate::components::kubelet) fn keeps_resources(&self, uid: &Text) -> bool {
        match self.pods.workers.get(uid) {
            Some(worker) => worker.counts(),
            None => !self.pods.is_filled,
        }
    }

    /// Returns the pods beside which another one has to find room.
    pub(super) fn admitted(&self) -> impl Iterator<Item = &Object> {
        let stays = |worker: &&Worker| worker.counts() && !worker.is_preempted();
        self.pods.workers.active().filter(stays).map(|worker| &worker.object)
    }
}
