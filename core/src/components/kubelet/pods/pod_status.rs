//! The status that a kubelet writes for a pod.
//!
//! Mirrors pkg/kubelet/kubelet_pods.go and pkg/kubelet/status/generate.go (v1.34). Pure. Inputs: the pod's worker, the
//! pod in the API, the host, the instant. Output: the new status. Invariant: conditions of other writers stay.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::container_status::container_status;
use super::initializing::Initialization;
use super::resizing::is_of_resize;
use super::status_context::StatusContext;
use super::whole_pod::set_resources;
use super::{ContainerPlan, Worker};
use crate::components::MIRROR;
use crate::components::host::runtime::{Container, ContainerRole};
use crate::json;
use crate::objects::{Json, Object, Text};

/// The conditions of a pod that a kubelet owns, in the order in which it writes them.
pub(super) const OWNED: [&str; 5] =
    ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];

/// The reason with which a pod that has failed is not ready.
const FAILED: &str = "PodFailed";

/// Returns the phase of a pod from its containers.
///
/// Source: pkg/kubelet/kubelet_pods.go (v1.34), `getPhase`.
pub(super) fn phase(worker: &Worker, view: &StatusContext<'_>) -> &'static str {
    let known = |plan: &ContainerPlan| view.host.runtime.container(&worker.uid, &plan.name);
    if worker.is_over() && worker.is_overdue() {
        return "Failed";
    }
    if worker.is_over() {
        let is_lost = worker.has_lost_containers();
        let ended_well = |plan: &ContainerPlan| !is_lost && known(plan).is_some_and(|own| own.exit_code() == Some(0));
        let is_empty = worker.regular().next().is_none();
        return if !is_empty && worker.regular().all(ended_well) { "Succeeded" } else { "Failed" };
    }
    if Initialization::of(worker, view.host.runtime.sandbox(&worker.uid), view.settings.profile()).has_failed {
        return "Failed";
    }
    // A pod is Running while one container runs or will be restarted; it is Pending until each has started once. Its
    // init containers count until then, and from 1.33 on also if they run again in a new sandbox.
    let starts = |plan: &&ContainerPlan| match (plan.role, known(plan)) {
        (ContainerRole::Regular, _) => false,
        (ContainerRole::Init, own) => own.is_none_or(Container::is_running),
        (ContainerRole::Sidecar, own) => own.is_none_or(|own| own.is_running() && !plan.has_started_up()),
    };
    let has_started = worker.regular().any(|plan| has_started(plan, known(plan)));
    let runs_init =
        |own: &ContainerPlan| own.role == ContainerRole::Init && known(own).is_some_and(Container::is_running);
    let is_back = view.settings.profile().is("running-init-makes-pending") && worker.plans.iter().any(runs_init);
    let is_initializing = is_back || !has_started && worker.plans.iter().any(|plan| starts(&plan));
    if !is_initializing && worker.regular().all(|plan| known(plan).is_some()) { "Running" } else { "Pending" }
}

/// Tells whether the status shows that a container runs or has ended, and does not wait to be started again.
///
/// Source: pkg/kubelet/container/helpers.go (v1.34), `HasAnyRegularContainerStarted`.
fn has_started(plan: &ContainerPlan, container: Option<&Container>) -> bool {
    container.is_some_and(|own| own.is_running() || !plan.is_crash_looping)
}

/// Builds the status of a pod over the one that the API server has.
pub(super) fn build(worker: &Worker, stored: &Json, view: &StatusContext<'_>) -> Json {
    let mut status = stored.get("status").clone();
    if !status.is_object() {
        status = Json::object();
    }
    let was_started = view.host.runtime.sandbox(&worker.uid).is_some();
    if worker.has_lost_address {
        // A pod that ended before this process started: of its sandbox only the addresses are new.
        status.remove(&["podIP"]);
        status.remove(&["podIPs"]);
        set_host(&mut status, view);
        return status;
    }
    // The relist that sees the containers of a refused pod end syncs it like any other.
    // Source: pkg/kubelet/kubelet.go (v1.34), `HandlePodSyncs`, which asks for no admission.
    let refused = worker.rejection.as_ref().filter(|_| !was_started || !worker.is_over());
    // The API server deletes an ended pod at once; what a kubelet that is faster writes is the status of any ended pod.
    if let Some((reason, message)) = refused.filter(|_| was_started || !worker.is_deleted()) {
        return refusal(worker, (reason, message), stored, view);
    }
    let generation = observed_generation(stored, view);
    if worker.tells_sandbox {
        set_sandbox_ready(&mut status, generation, view);
        return status;
    }
    // The phase of a static pod whose manifest is gone stays, if it would go on.
    let phase = match () {
        () if worker.is_static_ended() => "Failed",
        () if worker.is_removed && worker.goes_on(view.host) => "Running",
        () => phase(worker, view),
    };
    if !is_phase_held(worker, phase, view) || status.get("phase").is_null() {
        // Reason and message belong to a phase.
        if status.get("phase").as_str() != Some(phase) {
            status.remove(&["reason"]);
            status.remove(&["message"]);
        }
        status.set(&["phase"], phase);
    }
    if let Some(ending) = worker.ending.as_ref().filter(|_| phase == "Failed") {
        status.set(&["reason"], &ending.reason);
        status.set(&["message"], &ending.message);
    }
    if let Some((reason, message)) = worker.rejection.as_ref().filter(|_| phase == "Failed") {
        status.set(&["reason"], reason);
        status.set(&["message"], message);
    }
    if let Some(generation) = generation {
        status.set(&["observedGeneration"], generation);
    }
    set_host(&mut status, view);
    if status.get("startTime").is_null() || super::is_static(&worker.object) && !worker.keeps_start {
        status.set(&["startTime"], view.time(worker.seen_at));
    }
    set_addresses(&mut status, worker, view);
    set_resources(&mut status, worker, view);
    let of = |is_initial: bool| worker.plans.iter().filter(move |plan| plan.role.is_initial() == is_initial);
    let write = |plan: &ContainerPlan| container_status(worker, plan, stored, view);
    let mut statuses: Vec<Json> = of(false).map(write).collect();
    statuses.sort_by(|one, other| one.get("name").as_str().cmp(&other.get("name").as_str()));
    status.set(&["containerStatuses"], statuses);
    let initial: Vec<Json> = of(true).map(write).collect();
    if !initial.is_empty() {
        status.set(&["initContainerStatuses"], initial);
    }
    let unready = worker.plans.iter().filter(|plan| plan.role != ContainerRole::Init && !plan.is_ready(worker, view));
    let unready: Vec<&str> = unready.map(|plan| plan.name.as_str()).collect();
    conditions(&mut status, worker, &unready, phase, (generation, stored), view);
    status
}

/// Tells whether the phase in the API stays: containers may still run, as far as the kubelet has seen.
///
/// Source: pkg/kubelet/status/status_manager.go (v1.34), `mergePodStatus`.
fn is_phase_held(worker: &Worker, phase: &str, view: &StatusContext<'_>) -> bool {
    let could_run = phase == "Failed" && !worker.is_over() && !worker.is_static_ended();
    could_run || worker.phase_held_until.is_some_and(|until| view.now < until)
}

fn set_host(status: &mut Json, view: &StatusContext<'_>) {
    if view.host_ip.is_empty() {
        status.remove(&["hostIP"]);
        status.remove(&["hostIPs"]);
        return;
    }
    status.set(&["hostIP"], view.host_ip);
    status.set(&["hostIPs"], view.addresses(view.host_ip));
}

/// Writes nothing but that the sandbox is ready.
fn set_sandbox_ready(status: &mut Json, generation: Option<i64>, view: &StatusContext<'_>) {
    let list = status.entry(&["conditions"]).make_array();
    let is_ready = |item: &Json| item.get("type").as_str() == Some(OWNED[0]);
    let condition = match list.iter_mut().find(|item| is_ready(item)) {
        Some(condition) => condition,
        None => {
            list.push(json!({"type": OWNED[0], "lastProbeTime": null}));
            let Some(added) = list.last_mut() else { return };
            added
        }
    };
    if condition.get("status").as_str() != Some("True") {
        condition.set(&["status"], "True");
        condition.set(&["lastTransitionTime"], view.time(view.now));
        condition.remove(&["reason"]);
        condition.remove(&["message"]);
    }
    if let Some(generation) = generation {
        condition.set(&["observedGeneration"], generation);
    }
}

/// Builds the status of a pod that was not admitted, with the reason and the message.
fn refusal(worker: &Worker, (reason, message): (&Text, &Text), stored: &Json, view: &StatusContext<'_>) -> Json {
    let status = stored.get("status");
    let was_started = view.host.runtime.sandbox(&worker.uid).is_some();
    // While containers may still run the phase stays, and the reason is not written yet.
    let mut rejected = if was_started {
        json!({"phase": status.get("phase").as_str().unwrap_or("Pending"), "conditions": others(status, view)})
    } else {
        json!({"phase": "Failed", "reason": reason.as_str(), "message": message.as_str()})
    };
    if let Some(generation) = observed_generation(stored, view) {
        rejected.set(&["observedGeneration"], generation);
    }
    match status.get("startTime") {
        Json::Null => rejected.set(&["startTime"], view.time(worker.seen_at)),
        since => rejected.set(&["startTime"], since.clone()),
    }
    if !status.get("qosClass").is_null() {
        rejected.set(&["qosClass"], status.get("qosClass").clone());
    }
    rejected
}

/// Sets the addresses of a pod.
fn set_addresses(status: &mut Json, worker: &Worker, view: &StatusContext<'_>) {
    let sandbox = view.host.runtime.sandbox(&worker.uid);
    if !worker.needs_network() && !status.get("podIP").is_null() {
        // One that has an address keeps it, even if the node gets another one, but for one of the other family.
        let own = status.get("podIP").as_str().map(|own| view.addresses(own));
        if let Some(both) = own.filter(|_| status.get("podIPs").items().len() == 1) {
            status.set(&["podIPs"], both);
        }
    } else if !worker.needs_network() && view.host_ip.is_empty() {
        // Not even that is known yet.
    } else if !worker.needs_network() {
        // Pods in the host's network have its address, whether they run or not.
        status.set(&["podIP"], view.host_ip);
        status.set(&["podIPs"], view.addresses(view.host_ip));
    } else if sandbox.is_some_and(|sandbox| !sandbox.is_ready) {
        status.remove(&["podIP"]);
        status.remove(&["podIPs"]);
    } else if let Some(sandbox) = sandbox {
        status.set(&["podIP"], &sandbox.ip);
        status.set(&["podIPs"], [json!({"ip": sandbox.ip.as_str()})].into_iter().collect::<Json>());
    }
}

fn observed_generation(pod: &Json, view: &StatusContext<'_>) -> Option<i64> {
    // A static pod has no generation; its mirror has one, and the kubelet does not look at it.
    let is_own = pod.at(&["metadata", "annotations", MIRROR]).is_null();
    tracked_generation(pod, view).filter(|_| is_own)
}

fn tracked_generation(pod: &Json, view: &StatusContext<'_>) -> Option<i64> {
    let is_tracked = view.settings.profile().is("pod-observed-generation");
    pod.at(&["metadata", "generation"]).as_i64().filter(|_| is_tracked)
}

fn conditions(
    status: &mut Json,
    worker: &Worker,
    unready: &[&str],
    phase: &str,
    (generation, stored): (Option<i64>, &Json),
    view: &StatusContext<'_>,
) {
    let before = status.get("conditions").clone();
    let known = match &worker.conditions {
        // The file of a static pod has no status.
        Json::Null if super::is_static(&worker.object) => &Json::Null,
        Json::Null => &before,
        own => own,
    };
    // What makes a pod fail that never ran leaves its conditions alone.
    // Source: pkg/kubelet/status/status_manager.go (v1.34), `TerminatePod`.
    let phase = if worker.awaits_relist && worker.is_over() { "Pending" } else { phase };
    let is_over = matches!(phase, "Succeeded" | "Failed");
    // One that is overdue has failed from then on; only its phase is held back until its containers have ended.
    let phase = if worker.is_overdue() { "Failed" } else { phase };
    let has_sandbox = is_ready_to_start(worker, is_over, view);
    let mut written: Vec<Json> = others(status, view);
    written.extend(worker.resizing.conditions(worker.is_over(), view));
    let is_early = worker.has_failed_early();
    if is_over && !is_early {
        disturb(&mut written, worker, stored, generation, view);
    }
    for kind in OWNED {
        if kind == "PodReadyToStartContainers" && !view.settings.profile().is("pod-ready-to-start-containers") {
            continue;
        }
        let (is_true, reason, message) = match kind {
            "PodReadyToStartContainers" => sandbox_readiness(has_sandbox, worker, view),
            "Ready" if unready.is_empty() && !is_over && !worker.is_overdue() => readiness(&worker.object, &before),
            "Initialized" => initialized(worker, phase, view),
            _ if is_early && !unready.is_empty() => state_of(kind, unready, "Running"),
            _ => state_of(kind, unready, phase),
        };
        let value = if is_true { "True" } else { "False" };
        let of_kind = |item: &&Json| item.get("type").as_str() == Some(kind);
        let old = before.items().iter().find(of_kind);
        // What the kubelet itself said last counts, and not what somebody else has written since.
        let since = known.items().iter().find(of_kind).filter(|known| known.get("status").as_str() == Some(value));
        let since = since.map(|known| known.get("lastTransitionTime"));
        let mut condition = json!({"type": kind, "status": value, "lastProbeTime": null});
        match since.filter(|since| !since.is_null()) {
            Some(since) => condition.set(&["lastTransitionTime"], since.clone()),
            None => condition.set(&["lastTransitionTime"], view.time(view.now)),
        }
        if let Some(old) = old
            && old.get("lastProbeTime").is_null()
            && !old.fields().any(|(name, _)| name.as_str() == "lastProbeTime")
        {
            condition.remove(&["lastProbeTime"]);
        }
        reason.iter().for_each(|reason| condition.set(&["reason"], *reason));
        message.into_iter().for_each(|message| condition.set(&["message"], message));
        // Of a static pod that fails early the kubelet only takes back that it is ready, as of its mirror.
        let is_taken_back = is_early && reason == Some(FAILED);
        if let Some(generation) = generation.or_else(|| tracked_generation(stored, view).filter(|_| is_taken_back)) {
            condition.set(&["observedGeneration"], generation);
        }
        written.push(condition);
    }
    if is_early {
        disturb(&mut written, worker, stored, generation, view);
    }
    status.set(&["conditions"], written);
}

/// Tells whether the sandbox of a pod is ready, as far as the kubelet has seen.
fn is_ready_to_start(worker: &Worker, is_over: bool, view: &StatusContext<'_>) -> bool {
    let is_held = worker.phase_held_until.is_some_and(|until| view.now < until);
    view.host.runtime.sandbox(&worker.uid).is_some_and(|sandbox| sandbox.is_ready)
        && (!is_over || is_held || !worker.is_over())
        && !worker.has_failed_to_end
        && !worker.awaits_relist
        && !(worker.is_removed && worker.is_over())
}

/// Tells whether a pod has its sandbox, with reason and message.
///
/// Source: pkg/kubelet/status/generate.go (v1.37), `GeneratePodReadyToStartContainersCondition`, and
/// kuberuntime/util/util.go (v1.37), `PodSandboxChanged`.
fn sandbox_readiness(
    is_ready: bool,
    worker: &Worker,
    view: &StatusContext<'_>,
) -> (bool, Option<&'static str>, Option<String>) {
    if is_ready || !view.settings.profile().is("unready-sandbox-is-explained") {
        return (is_ready, None, None);
    }
    let is_known = view.host.runtime.sandbox(&worker.uid).is_some();
    let message = if is_known { "pod sandbox is not ready" } else { "no pod sandbox exists" };
    (false, Some("PodSandboxNotReady"), Some(String::from(message)))
}

/// Says among the conditions why the kubelet itself ended a pod, in the place of what others have said, unless the
/// API has its end already.
///
/// Source: pkg/kubelet/status/status_manager.go (v1.34), `mergePodStatus`.
fn disturb(written: &mut Vec<Json>, worker: &Worker, stored: &Json, generation: Option<i64>, view: &StatusContext<'_>) {
    const KIND: &str = "DisruptionTarget";
    let Some(message) = worker.ending.as_ref().and_then(|ending| ending.disruption.as_ref()) else { return };
    let place = written.iter().position(|item| item.get("type").as_str() == Some(KIND));
    let has_ended = matches!(stored.at(&["status", "phase"]).as_str(), Some("Succeeded" | "Failed"));
    if place.is_some() && has_ended {
        return;
    }
    let mut target = json!({"type": KIND, "status": "True", "lastProbeTime": null});
    let before = place.map(|at| &written[at]).filter(|before| before.get("status").as_str() == Some("True"));
    match before.map(|before| before.get("lastTransitionTime")).filter(|since| !since.is_null()) {
        Some(since) => target.set(&["lastTransitionTime"], since.clone()),
        None => target.set(&["lastTransitionTime"], view.time(view.now)),
    }
    target.set(&["reason"], "TerminationByKubelet");
    target.set(&["message"], message);
    if let Some(generation) = generation {
        target.set(&["observedGeneration"], generation);
    }
    match place {
        Some(at) => written[at] = target,
        None => written.push(target),
    }
}

/// Tells whether a pod's init containers are done, with reason and message.
///
/// Source: pkg/kubelet/status/generate.go (v1.34), `GeneratePodInitializedCondition`.
fn initialized(worker: &Worker, phase: &str, view: &StatusContext<'_>) -> (bool, Option<&'static str>, Option<String>) {
    let known = |plan: &ContainerPlan| view.host.runtime.container(&worker.uid, &plan.name);
    let is_done = |plan: &ContainerPlan| match plan.role {
        ContainerRole::Init => plan.is_ready(worker, view),
        ContainerRole::Sidecar => known(plan).is_some_and(Container::is_running) && plan.has_started_up(),
        ContainerRole::Regular => true,
    };
    let open: Vec<&str> = worker.plans.iter().filter(|plan| !is_done(plan)).map(|plan| plan.name.as_str()).collect();
    if phase == "Succeeded" {
        (true, Some("PodCompleted"), None)
    } else if open.is_empty() || worker.regular().any(|plan| has_started(plan, known(plan))) {
        (true, None, None)
    } else {
        let message = format!("containers with incomplete status: [{}]", open.join(" "));
        (false, Some("ContainersNotInitialized"), Some(message))
    }
}

/// Tells whether a condition is true, with its reason and message.
fn state_of(kind: &str, unready: &[&str], phase: &str) -> (bool, Option<&'static str>, Option<String>) {
    match kind {
        "PodScheduled" => (true, None, None),
        _ if phase == "Succeeded" => (false, Some("PodCompleted"), None),
        _ if phase == "Failed" => (false, Some(FAILED), None),
        _ if unready.is_empty() => (true, None, None),
        _ => {
            let message = format!("containers with unready status: [{}]", unready.join(" "));
            (false, Some("ContainersNotReady"), Some(message))
        }
    }
}

/// Tells whether a pod whose containers are ready is so too: each condition that its readiness gates name is True.
///
/// Source: pkg/kubelet/status/generate.go (v1.34), `GeneratePodReadyCondition`.
fn readiness(pod: &Object, conditions: &Json) -> (bool, Option<&'static str>, Option<String>) {
    let gates = pod.stable().at(&["spec", "readinessGates"]).items();
    let closed = gates.iter().filter_map(|gate| {
        let kind = gate.get("conditionType").as_str()?;
        let found = conditions.items().iter().find(|item| item.get("type").as_str() == Some(kind));
        match found.map(|item| item.get("status").as_str().unwrap_or("")) {
            Some("True") => None,
            Some(other) => Some(format!("the status of pod readiness gate \"{kind}\" is not \"True\", but {other}")),
            None => Some(format!("corresponding condition of pod readiness gate \"{kind}\" does not exist.")),
        }
    });
    let closed: Vec<String> = closed.collect();
    if closed.is_empty() {
        return (true, None, None);
    }
    (false, Some("ReadinessGatesNotReady"), Some(closed.join(", ")))
}

/// Tells whether a pod's Ready condition does not follow from its readiness gates: the kubelet then writes it at once.
///
/// Source: pkg/kubelet/status/status_manager.go (v1.34), `NeedToReconcilePodReadiness`.
pub(super) fn has_stale_readiness(pod: &Object) -> bool {
    let conditions = pod.stable().at(&["status", "conditions"]);
    let find = |kind: &str| conditions.items().iter().find(|item| item.get("type").as_str() == Some(kind));
    let are_ready = find("ContainersReady").is_some_and(|item| item.get("status").as_str() == Some("True"));
    let has_gates = !pod.stable().at(&["spec", "readinessGates"]).is_empty();
    let Some(ready) = find("Ready").filter(|_| has_gates && are_ready) else { return false };
    let (is_true, _, message) = readiness(pod, conditions);
    let status = if is_true { "True" } else { "False" };
    ready.get("status").as_str() != Some(status) || ready.get("message").as_str() != message.as_deref()
}

/// Returns the conditions of other writers; those of a resize are the kubelet's too.
fn others(status: &Json, view: &StatusContext<'_>) -> Vec<Json> {
    foreign(status, |kind| OWNED.contains(&kind) || is_of_resize(kind, view.settings))
}

/// Returns the conditions that are not one's own.
pub(super) fn foreign(status: &Json, is_own: impl Fn(&str) -> bool) -> Vec<Json> {
    let is_foreign = |item: &&Json| item.get("type").as_str().is_some_and(|kind| !is_own(kind));
    status.get("conditions").items().iter().filter(is_foreign).cloned().collect()
}
