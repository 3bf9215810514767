//! What is said of an evicted pod: its message, and the annotations of its Event.
//!
//! Mirrors `evictionMessage` of pkg/kubelet/eviction/helpers.go (v1.34). Pure. Trailing blanks are Kubernetes' own.
//! Inputs: the pod with its figures, the threshold. Outputs: texts.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::ranking::Candidate;
use super::signals::{Observation, SignalKind};
use crate::components::pod_resources::PodLevel;
use crate::json;
use crate::objects::quantity::{Format, Quantity};
use crate::objects::{Json, Text};

/// The threshold that pods are evicted for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cause {
    pub(super) kind: SignalKind,
    /// How much has to be available.
    pub(super) wanted: Quantity,
    pub(super) observed: Observation,
}

/// Returns the message of a pod that is evicted for a threshold, and the annotations of its Event.
pub(super) fn describe(candidate: &Candidate, cause: &Cause, level: PodLevel) -> (String, Json) {
    let resource = cause.kind.resource();
    let mut message = format!(
        "The node was low on resource: {resource}. Threshold quantity: {}, available: {}. ",
        cause.wanted, cause.observed.available
    );
    let Some(figures) = &candidate.figures else { return (message, Json::Null) };
    let mut annotations = json!({});
    let spec = candidate.pod.stable().get("spec");
    let bytes = |amount: i64| Quantity::whole(amount, Format::BinarySi);
    if cause.kind == SignalKind::Memory && level == PodLevel::Counts {
        let request = Quantity::from_json(spec.at(&["resources", "requests", "memory"]));
        if let Some(request) = request {
            let (name, used) = (candidate.pod.name(), bytes(figures.memory));
            message +=
                &format!("Pod {name} was using {used}, request is {request}, has larger consumption of {resource}. ");
            annotations.set(&["offending_pod"], name);
            annotations.set(&["offending_pod_usage"], used.to_string());
        }
    }
    let (mut names, mut usages): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
    for (name, memory, disk) in &figures.containers {
        let used = match cause.kind {
            SignalKind::Memory => *memory,
            SignalKind::Disk => *disk,
            SignalKind::Inodes | SignalKind::Pids => continue,
        };
        let Some(container) = container_of(spec, name) else { continue };
        let request = Quantity::from_json(container.at(&["resources", "requests", resource]));
        let (request, used) = (request.unwrap_or_else(|| bytes(0)), bytes(used));
        if used > request {
            message += &format!(
                "Container {name} was using {used}, request is {request}, has larger consumption of {resource}. "
            );
            names.push(name);
            usages.push(used.to_string());
        }
    }
    annotations.set(&["offending_containers"], names.join(","));
    annotations.set(&["offending_containers_usage"], usages.join(","));
    annotations.set(&["starved_resource"], resource);
    (message, annotations)
}

fn container_of<'a>(spec: &'a Json, name: &Text) -> Option<&'a Json> {
    let lists = ["containers", "initContainers"];
    let mut all = lists.iter().flat_map(|list| spec.get(list).items());
    all.find(|container| container.get("name").as_str() == Some(name.as_str()))
}
