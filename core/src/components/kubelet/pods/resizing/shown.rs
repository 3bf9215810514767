//! What the status of a container says of its resources.
//!
//! Mirrors `convertContainerStatusResources` of pkg/kubelet/kubelet_pods.go (v1.34). Pure. Inputs: what the pod was
//! given, the container, its status in the API. Outputs: `resources` and `allocatedResources`.

use super::*;
use crate::components::kubelet::pods::whole_pod::{MIN_LIMIT, MIN_REQUEST};
use crate::objects::quantity::{Format, Quantity};

impl Resizing {
    /// Sets what a container has, and what its pod was given for it.
    pub(in crate::components::kubelet::pods) fn set_resources(
        &self,
        status: &mut Json,
        worker: &Worker,
        container: &Container,
        stored: &Json,
    ) {
        let given = ContainerRole::find(&worker.object, &container.name).map(|(_, own)| own.get("resources").clone());
        let given = given.filter(Json::is_object).unwrap_or_else(Json::object);
        if !given.get("requests").is_empty() {
            status.set(&["allocatedResources"], given.get("requests").clone());
        }
        let unseen = self.shown.iter().find(|(name, _)| *name == container.name).map(|(_, own)| own.clone());
        status.set(&["resources"], unseen.unwrap_or_else(|| resources(&given, container, stored)));
    }
}

/// Returns what a container has: of one that runs, what the runtime tells.
pub(super) fn resources(given: &Json, container: &Container, stored: &Json) -> Json {
    let mut own = if given.is_object() { given.clone() } else { Json::object() };
    let Some(limits) = container.limits.filter(|_| container.is_running()) else { return own };
    let milli = |list: &Json| Quantity::from_json(list.get("cpu")).map_or(0, |own| own.milli_value());
    let text = |quantity: Quantity| Json::text(format!("{quantity}"));
    if !given.get("limits").is_empty() {
        match limits.cpu_limit_read_back() {
            Some(cpu) if cpu > MIN_LIMIT || milli(given.get("limits")) > MIN_LIMIT => {
                own.set(&["limits", "cpu"], text(Quantity::milli(cpu)));
            }
            Some(_) => {}
            None => keep(&mut own, container, stored),
        }
        if limits.memory > 0 {
            own.set(&["limits", "memory"], text(Quantity::whole(limits.memory, Format::BinarySi)));
        }
    }
    if !given.get("requests").is_empty() {
        let cpu = limits.cpu_request_read_back();
        if cpu > MIN_REQUEST || milli(given.get("requests")) > MIN_REQUEST {
            own.set(&["requests", "cpu"], text(Quantity::milli(cpu)));
        }
        let memory = container.resources.at(&["requests", "memory"]);
        if !own.at(&["requests", "memory"]).is_null() && !container.resources.is_null() {
            own.set(&["requests", "memory"], if memory.is_null() { Json::text("0") } else { memory.clone() });
        }
    }
    own
}

/// Keeps the limit of CPU that the status of the same run has, where the runtime tells of none.
fn keep(own: &mut Json, container: &Container, stored: &Json) {
    let id = format!("containerd://{}", container.id);
    let before = stored.at(&["resources", "limits", "cpu"]);
    let is_same = stored.get("containerID").as_str() == Some(&id) && !stored.at(&["state", "running"]).is_null();
    if is_same && !before.is_null() {
        own.set(&["limits", "cpu"], before.clone());
    }
}
