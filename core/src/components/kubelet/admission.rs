//! Admission: whether a pod that was bound to the node fits there.
//!
//! Mirrors pkg/kubelet/lifecycle/predicate.go and pkg/scheduler/eventhandlers.go, `AdmissionCheck` (v1.34): operating
//! system, resources against what is allocatable, affinity, name, host ports and NoExecute taints, in this order; the
//! first that fails is reported.
//! Left out on purpose: topology, devices, preemption by critical pods, and another admission after a restart.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::config::KubeletConfig;
use crate::components::machine::host::Host;
use crate::components::machine::values::quantity;
use crate::components::node_affinity::matches_required;
use crate::components::pod_resources::HostPort;
use crate::components::taint_eviction::tolerates;
use crate::objects::quantity::{Format, Quantity};
use crate::objects::{Json, Object};

/// Reason and message of a refusal.
type Refusal = (&'static str, String);

/// The reasons of resources that other than the well-known ones have. Source: pkg/kubelet/lifecycle/predicate.go (v1.34), `OutOf`.
const OUT_OF: [(&str, &str); 5] = [
    ("cpu", "OutOfcpu"),
    ("memory", "OutOfmemory"),
    ("ephemeral-storage", "OutOfephemeral-storage"),
    ("hugepages-1Gi", "OutOfhugepages-1Gi"),
    ("hugepages-2Mi", "OutOfhugepages-2Mi"),
];

/// Adds up what the containers of a pod ask for.
fn request(pod: &Object, resource: &str) -> Quantity {
    let containers = pod.stable().at(&["spec", "containers"]);
    containers
        .items()
        .iter()
        .filter_map(|container| quantity(container.at(&["resources", "requests", resource])))
        .fold(Quantity::milli(0), |sum, amount| sum + amount)
}

/// Returns reason and message with which a pod is refused on a node, `Null` for one that is not known.
pub(super) fn refusal<'a>(
    pod: &Object,
    others: impl Iterator<Item = &'a Object>,
    config: &KubeletConfig,
    host: &Host,
    node: &Json,
) -> Option<Refusal> {
    let others: Vec<&Object> = others.collect();
    let spec = pod.stable().get("spec");
    wrong_system(pod, node)
        .or_else(|| out_of_resources(pod, &others, config, host))
        .or_else(|| {
            let fits = node.is_null() || matches_required(spec, node);
            (!fits).then(|| predicate("NodeAffinity", "didn't match Pod's node affinity/selector"))
        })
        .or_else(|| {
            let is_taken =
                |port: &HostPort| others.iter().flat_map(|other| HostPort::of(other)).any(|own| own.conflicts(port));
            HostPort::of(pod)
                .iter()
                .any(is_taken)
                .then(|| predicate("NodePorts", "didn't have free ports for the requested pod ports"))
        })
        .or_else(|| {
            let taints = node.at(&["spec", "taints"]).items().iter();
            let is_hostile = |taint: &Json| {
                taint.get("effect").as_str() == Some("NoExecute")
                    && !spec.get("tolerations").items().iter().any(|toleration| tolerates(toleration, taint))
            };
            taints
                .into_iter()
                .any(is_hostile)
                .then(|| predicate("TaintToleration", "had taints that the pod didn't tolerate"))
        })
}

fn predicate(reason: &'static str, what: &str) -> Refusal {
    (reason, format!("Predicate {reason} failed: node(s) {what}"))
}

fn wrong_system(pod: &Object, node: &Json) -> Option<Refusal> {
    let label = |object: &Json| object.at(&["metadata", "labels", "kubernetes.io/os"]).as_text().cloned();
    let wanted = label(pod.stable());
    if !node.is_null() && wanted.is_some() && wanted != label(node) {
        let message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
        return Some(("PodOSSelectorNodeLabelDoesNotMatch", message.into()));
    }
    let system = pod.stable().at(&["spec", "os", "name"]).as_str();
    let message = "Failed to admit pod as the OS field doesn't match node OS";
    system.is_some_and(|name| name != "linux").then(|| ("PodOSNotSupported", message.into()))
}

fn out_of_resources(pod: &Object, others: &[&Object], config: &KubeletConfig, host: &Host) -> Option<Refusal> {
    let hardware = &host.spec.hardware;
    let message = |resource: &str, requested: i64, used: i64, capacity: i64| {
        format!(
            "Node didn't have enough resource: {resource}, requested: {requested}, used: {used}, capacity: {capacity}"
        )
    };
    let (count, pods) = (i64::try_from(others.len()).unwrap_or(i64::MAX), config.pods(hardware));
    if count + 1 > pods {
        return Some(("OutOfpods", message("pods", 1, count, pods)));
    }
    let kept = config.reservations;
    let huge_pages: Quantity = hardware
        .extended
        .iter()
        .filter(|(name, ..)| name.starts_with("hugepages-"))
        .fold(Quantity::whole(0, Format::BinarySi), |sum, (_, all, _)| sum + *all);
    for (resource, reason) in OUT_OF {
        let total = match resource {
            "cpu" => hardware.cpu - kept.cpu,
            "memory" => hardware.memory - kept.memory - huge_pages,
            "ephemeral-storage" => hardware.ephemeral_storage - kept.ephemeral_storage,
            other => {
                let own = hardware.extended.iter().find(|(name, ..)| *name == *other);
                own.map_or(Quantity::whole(0, Format::BinarySi), |(_, _, free)| *free)
            }
        };
        let requested = request(pod, resource);
        let used = others.iter().fold(Quantity::milli(0), |sum, other| sum + request(other, resource));
        if !requested.is_zero() && requested + used > total {
            let shown = |amount: Quantity| if resource == "cpu" { amount.milli_value() } else { amount.value() };
            return Some((reason, message(resource, shown(requested), shown(used), shown(total))));
        }
    }
    None
}
