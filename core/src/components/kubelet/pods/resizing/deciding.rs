//! Whether a pod gets the resources that it asks for.
//!
//! Mirrors `handlePodResourcesResize` and `canResizePod` of pkg/kubelet/kubelet.go (v1.33) and of
//! pkg/kubelet/allocation/allocation_manager.go (v1.34), and pkg/kubelet/allocation/handlers.go (v1.36). Inputs: the
//! pod with what it asks for, the other pods, the node. Outputs: what the pod was given, conditions, Events.

use super::telling::{DEFERRED_EVENT, INFEASIBLE_EVENT, STARTED_EVENT};
use super::*;
use crate::components::kubelet::admission::{AdmissionContext, allocatable, early_refusal, shortages, verdict};
use crate::components::kubelet::preemption::is_critical;
use crate::components::kubelet::shutdown;
use crate::components::kubelet::swap::SwapBehaviour;

/// The reason of a resize that cannot be. Source: k8s.io/api core/v1/types.go (v1.34), `PodReasonInfeasible`.
pub(super) const INFEASIBLE: &str = "Infeasible";
/// The reason of one that has to wait. Source: as above, `PodReasonDeferred`.
const DEFERRED: &str = "Deferred";

impl Kubelet {
    /// Decides whether a pod gets what it asks for; tells whether it was given something.
    pub(super) fn decide_resize(&mut self, uid: &Text, context: &mut KubeletContext<'_>) -> bool {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return false };
        if worker.resizing.wanted.is_null() {
            worker.resizing.pending = None;
            return false;
        }
        let pod = with_resources_of(&worker.object, &worker.resizing.wanted);
        match self.resize_refusal(uid, &pod, context) {
            None => self.give_resources(uid, pod, context),
            Some((reason, message)) => {
                let tells = self.settings.profile().is("resize-steps-are-told");
                let Some(worker) = self.pods.workers.get_mut(uid) else { return false };
                let (before, generation) = (worker.resizing.pending.take(), generation_of(&pod));
                let now = ResizeCondition::after(before.as_ref(), (reason, &message), generation, context.now);
                let is_same = |own: &ResizeCondition| own.reason == now.reason && own.generation == generation;
                let is_new = !before.as_ref().is_some_and(is_same);
                worker.resizing.pending = Some(now);
                if is_new {
                    let facts = Vec::from([Because::Fact(message.clone())]);
                    context.outbox.decide(decided_about(&pod.key()), format!("resize: {reason}"), facts);
                }
                if is_new && tells {
                    let event = if reason == INFEASIBLE { INFEASIBLE_EVENT } else { DEFERRED_EVENT };
                    self.resize_event(&pod, event, (generation, &message), context);
                }
                return false;
            }
        }
        true
    }

    /// Gives a pod what it asks for.
    fn give_resources(&mut self, uid: &Text, pod: Object, context: &mut KubeletContext<'_>) {
        let forgets_pauses = !self.settings.profile().is("resizes-are-queued");
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        // The pause of a container that has crashed is forgotten in the first releases. Source:
        // pkg/kubelet/kubelet.go (v1.33), `handlePodResourcesResize`, `crashLoopBackOff.Reset`.
        for plan in worker.plans.iter_mut().filter(|_| forgets_pauses) {
            let of = |pod: &Object| ContainerRole::find(pod, &plan.name).map(|(_, own)| own.get("resources").clone());
            if of(&worker.object) != of(&pod) {
                plan.backoff = None;
            }
        }
        let generation = generation_of(&pod);
        let own = &mut worker.resizing;
        (own.wanted, own.pending, own.failure, own.is_open) = (Json::Null, None, None, true);
        own.progress = Some(ResizeCondition::after(None, ("", ""), generation, context.now));
        worker.object = pod.clone();
        context.host.runtime.give(uid, pod.stable().get("spec"));
        context.outbox.decide(decided_about(&pod.key()), "other resources given", Vec::new());
        if self.settings.profile().is("resize-steps-are-told") {
            self.resize_event(&pod, STARTED_EVENT, (generation, ""), context);
        }
    }

    /// Returns reason and message if a pod does not get what it asks for.
    fn resize_refusal(&self, uid: &Text, pod: &Object, context: &KubeletContext<'_>) -> Option<(&'static str, String)> {
        let refused = self.resize_limitation(uid, pod, context.host);
        if let Some(message) = refused {
            return Some((INFEASIBLE, message));
        }
        let node = self.cached_node().map(|node| node.stable().clone()).unwrap_or_default();
        let (pressures, profile) = (self.eviction.conditions(), self.settings.profile());
        let place = AdmissionContext { config: &self.config, host: context.host, node: &node, pressures, profile };
        let asked = requests(pod.stable().get("spec"), PodLevel::of(profile));
        let beyond = |name: &str| {
            let (asked, has) = (asked.get(name), allocatable(name, &place)?);
            let message = format!("Node didn't have enough capacity: {name}, requested: {asked}, capacity: {has}");
            (asked > has).then_some((INFEASIBLE, message))
        };
        if profile.is("resize-beyond-node-is-infeasible")
            && let Some(refusal) = beyond("memory").or_else(|| beyond("cpu"))
        {
            return Some(refusal);
        }
        if let Some((_, message)) = early_refusal(pod, &place) {
            return Some((DEFERRED, message));
        }
        let others: Vec<&Object> = self.admitted().filter(|other| other.uid() != pod.uid()).collect();
        let message = match verdict(pod, others.iter().copied(), &place) {
            AdmissionResult::Refused(_, message) => message,
            AdmissionResult::AdmittedAfter(_) => {
                shortages(pod.stable().get("spec"), &others, &place).first()?.message()
            }
            AdmissionResult::Admitted if self.shutdown.is_shutting_down() => shutdown::refusal().1,
            AdmissionResult::Admitted => return None,
        };
        Some((DEFERRED, message))
    }

    /// Returns why a resize cannot be, whatever the node has: swap, or resources that are for the pod alone.
    fn resize_limitation(&self, uid: &Text, pod: &Object, host: &Host) -> Option<String> {
        let worker = self.pods.workers.get(uid)?;
        let given = &worker.object;
        let changes = |resource: &str| changed_requests(given, pod, resource);
        let starts_anew = |own: &Json| policy(own, "memory") == "RestartContainer";
        let swaps = |own: &Json| self.may_swap(given, own, host);
        let of_memory = changes("memory");
        if of_memory.iter().any(|both| !starts_anew(both[0]) && both.iter().any(|own| swaps(own))) {
            return Some("In-place resize of containers with swap is not supported.".into());
        }
        if pod.stable().at(&["status", "qosClass"]).as_str() != Some("Guaranteed") {
            return None;
        }
        let names_policies = self.settings.profile().is("resize-refusals-name-policies");
        let [cpus, memory] = self.config.topology.state_policies();
        for (manager, policy, is_static, resource) in
            [("CPU", cpus, cpus == "static", "cpu"), ("Memory", memory, memory == "Static", "memory")]
        {
            let refused = "Resize is infeasible for Guaranteed Pods alongside";
            if is_static && !names_policies {
                return Some(format!("{refused} {manager} Manager static policy"));
            }
            if is_static && !changes(resource).is_empty() {
                return Some(format!("{refused} {manager} Manager policy \"{policy}\""));
            }
        }
        None
    }

    /// Tells whether a container may swap.
    ///
    /// Source: pkg/kubelet/kuberuntime/kuberuntime_container_linux.go (v1.34), `GetContainerSwapBehavior`.
    fn may_swap(&self, pod: &Object, container: &Json, host: &Host) -> bool {
        let hardware = &host.spec.hardware;
        let memory = |kind| quantities(container.at(&["resources", kind])).get("memory").map_or(0, |own| own.value());
        let (request, limit) = (memory("requests"), memory("limits"));
        self.config.swap == SwapBehaviour::Share
            && hardware.swap_controller
            && hardware.cgroup_version != 1
            && !is_critical(pod)
            && pod.stable().at(&["status", "qosClass"]).as_str() == Some("Burstable")
            && request != limit
    }
}

/// Returns the containers whose requests of a resource change: what was given, and what is asked for.
fn changed_requests<'a>(given: &'a Object, pod: &'a Object, resource: &str) -> Vec<[&'a Json; 2]> {
    let amount = |own: &Json| quantities(own.at(&["resources", "requests"])).get(resource).copied();
    let both = ContainerRole::containers(given).zip(ContainerRole::containers(pod));
    both.map(|((_, one), (_, other))| [one, other]).filter(|[one, other]| amount(one) != amount(other)).collect()
}

/// Returns what a container needs when an amount of it changes.
pub(super) fn policy<'a>(container: &'a Json, resource: &str) -> &'a str {
    let policies = container.get("resizePolicy").items();
    let own = policies.iter().find(|own| own.get("resourceName").as_str() == Some(resource));
    own.and_then(|own| own.get("restartPolicy").as_str()).unwrap_or("NotRequired")
}
