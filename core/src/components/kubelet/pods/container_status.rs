//! The status that a kubelet writes for one container of a pod.
//!
//! Mirrors `convertToAPIContainerStatuses` of pkg/kubelet/kubelet_pods.go (v1.34). Pure. Inputs: the pod's worker, the
//! plan of the container, the pod in the API, the host, the instant. Output: an entry of `containerStatuses` or
//! `initContainerStatuses`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::status_context::StatusContext;
use super::volume_mounts::volume_mounts;
use super::{ContainerPlan, Worker, WorkerStage};
use crate::components::host::Host;
use crate::components::host::runtime::{Container, ContainerState};
use crate::components::kubelet::image_names::{full_name, image_id};
use crate::json;
use crate::objects::go_duration::go_duration;
use crate::objects::{Json, NULL, Text};

/// Builds the status of a container.
pub(super) fn container_status(worker: &Worker, plan: &ContainerPlan, pod: &Json, view: &StatusContext<'_>) -> Json {
    let spec =
        pod.at(&["spec", plan.role.list()]).items().iter().find(|item| item.get("name").as_str() == Some(&*plan.name));
    let image = spec.map(|spec| spec.get("image").clone()).unwrap_or_default();
    let mut status = json!({"name": plan.name.as_str(), "lastState": {}, "ready": plan.is_ready(worker, view),
        "restartCount": plan.restarts, "imageID": "", "started": false});
    status.set(&["image"], image.clone());
    let stored = pod.at(&["status", plan.role.status_list()]).items();
    let stored = stored.iter().find(|status| status.get("name").as_str() == Some(&*plan.name));
    // The mirror of a static pod may be that of a run before.
    let is_new = |own: &Container| plan.restarts == 0 && own.started_at >= view.started;
    let container = view.host.runtime.container(&worker.uid, &plan.name);
    let stored = stored.filter(|_| !(super::is_static(&worker.object) && container.is_some_and(is_new)));
    // Once the API has the status of a container its mounts stay, even if a kubelet before wrote none.
    let made = || spec.and_then(|spec| volume_mounts(spec, view.host.has_runtime_features()));
    let mounts = stored.map_or_else(made, |stored| Some(stored.get("volumeMounts").clone()));
    if let Some(mounts) = mounts.filter(|own| !own.is_null() && view.settings.is_gate_on("RecursiveReadOnlyMounts")) {
        status.set(&["volumeMounts"], mounts);
    }
    if !plan.role.is_initial() && view.settings.is_gate_on("ResourceHealthStatus") {
        let devices = view.host.device_health(&worker.uid, &plan.name);
        if !devices.is_empty() {
            status.set(&["allocatedResourcesStatus"], devices);
        }
    }
    let is_lost = container.is_some() && worker.has_lost_containers();
    let Some(container) = container.filter(|_| !is_lost) else {
        set_unknown(&mut status, worker, plan, is_lost, view.host);
        return status;
    };
    let told = view.host.runtime.recorded_image(&worker.uid, &plan.name).map(|name| String::from(name.as_str()));
    let run = Some(container.image.as_str()).filter(|own| !own.is_empty());
    let image = told.unwrap_or_else(|| full_name(run.or(image.as_str()).unwrap_or_default()));
    let digest = view.host.runtime.recorded_digest(&image);
    status.set(&["imageID"], digest.map_or_else(|| Text::from(image_id(&image)), Text::clone));
    status.set(&["image"], image);
    status.set(&["containerID"], format!("containerd://{}", container.id));
    if let Some(before) = container.before.as_ref().filter(|_| !view.is_collected(container)) {
        status.set(&["lastState", "terminated"], terminated(before, view));
    }
    match container.state {
        ContainerState::Running => {
            status.set(&["started"], plan.has_started_up());
            status.set(&["state", "running", "startedAt"], view.time(container.started_at));
        }
        ContainerState::Exited { .. } => match waiting(worker, plan) {
            Some(waiting) => {
                status.set(&["lastState", "terminated"], terminated(container, view));
                status.set(&["state", "waiting"], waiting);
            }
            None => status.set(&["state", "terminated"], terminated(container, view)),
        },
    }
    if view.settings.profile().is("container-resources-in-status") {
        worker.resizing.set_resources(&mut status, worker, container, stored.unwrap_or(&NULL));
    }
    status
}

/// Writes the state of a container of which nothing is known, or that was removed before anybody asked how it ended.
///
/// Source: pkg/kubelet/kubelet_pods.go (v1.34), `convertToAPIContainerStatuses`.
fn set_unknown(status: &mut Json, worker: &Worker, plan: &ContainerPlan, is_lost: bool, host: &Host) {
    let unknown = |message: &str| {
        json!({"exitCode": 137, "reason": "ContainerStatusUnknown", "startedAt": null, "finishedAt": null,
            "message": message})
    };
    if is_lost {
        let message = "The container could not be located when the pod was deleted.  The container used to be Running";
        status.set(&["restartCount"], i64::from(plan.restarts) + 1);
        status.set(&["lastState", "terminated"], unknown(message));
    }
    let is_ended = worker.is_over() && worker.rejection.is_none() && has_to_be_known(worker, plan, host);
    let has_started = worker.stage == WorkerStage::Active && !worker.is_deleted();
    // What of a lost container is not known is told with the next sync.
    if is_ended && !(is_lost && worker.delete_at.is_some()) {
        let message = "The container could not be located when the pod was terminated";
        status.set(&["state", "terminated"], unknown(message));
    } else if let Some((reason, message)) = plan.shown_error.as_ref().filter(|_| has_started) {
        status.set(&["state", "waiting"], waiting_for(reason, message));
    } else {
        let is_initial = |plan: &ContainerPlan| plan.role.is_initial();
        let reason = if worker.plans.iter().any(is_initial) { "PodInitializing" } else { "ContainerCreating" };
        status.set(&["state", "waiting", "reason"], reason);
    }
}

/// Tells whether a container of a pod that has ended is told to have ended too, although nothing is known of it: of a
/// pod that was initialized each, of one that was not the init containers up to the last that was started.
///
/// Source: pkg/kubelet/status/status_manager.go (v1.34), `TerminatePod`.
fn has_to_be_known(worker: &Worker, plan: &ContainerPlan, host: &Host) -> bool {
    let known = |plan: &ContainerPlan| host.runtime.container(&worker.uid, &plan.name);
    let initial: Vec<&ContainerPlan> = worker.plans.iter().filter(|plan| plan.role.is_initial()).collect();
    if plan.role.is_initial() {
        let last = initial.iter().rposition(|own| known(own).is_some()).unwrap_or(0);
        return initial.iter().take(last + 1).any(|own| own.name == plan.name);
    }
    let is_done = |own: &&ContainerPlan| known(own).is_some_and(|own| own.exit_code() == Some(0));
    worker.regular().any(|own| known(own).is_some()) || initial.last().is_none_or(is_done)
}

/// Returns the state of a container that has ended and is to run again; `None` if nothing holds it back, or its pod has
/// ended.
///
/// Source: pkg/kubelet/kubelet_pods.go (v1.34), `convertToAPIContainerStatuses`, what the `reasonCache` has.
fn waiting(worker: &Worker, plan: &ContainerPlan) -> Option<Json> {
    if worker.is_over() {
        return None;
    }
    if plan.is_crash_looping {
        let text = format!(
            "back-off {} restarting failed container={} pod={}_{}({})",
            go_duration(plan.held_back),
            plan.name,
            worker.object.key().name,
            worker.object.key().namespace,
            worker.uid
        );
        return Some(waiting_for("CrashLoopBackOff", &text));
    }
    let of_hook = plan.hook_error.as_ref().map(|message| waiting_for("PostStartHookError", message));
    of_hook.or_else(|| plan.shown_error.as_ref().map(|(reason, message)| waiting_for(reason, message)))
}

fn waiting_for(reason: &str, message: &str) -> Json {
    json!({"message": message, "reason": reason})
}

fn terminated(container: &Container, view: &StatusContext<'_>) -> Json {
    let ContainerState::Exited { finished_at, exit_code, reason } = container.state else { return Json::Null };
    json!({
        "containerID": format!("containerd://{}", container.id), "exitCode": exit_code, "reason": reason,
        "startedAt": view.time(container.started_at), "finishedAt": view.time(finished_at),
    })
}
