//! Admission: whether a pod that was bound to the node fits there.
//!
//! Mirrors pkg/kubelet/lifecycle/predicate.go and the scheduler's noderesources plug-in (v1.34): number of pods, cpu and
//! memory against what is allocatable; the first that fails is reported.
//! Left out on purpose: node affinity, host ports, taints, topology, devices, preemption by critical pods.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::config::KubeletConfig;
use crate::components::machine::host::Host;
use crate::components::machine::values::quantity;
use crate::objects::Object;
use crate::objects::quantity::Quantity;

/// Adds up what the containers of a pod ask for.
fn request(pod: &Object, resource: &str) -> Quantity {
    let containers = pod.stable().at(&["spec", "containers"]);
    containers
        .items()
        .iter()
        .filter_map(|container| quantity(container.at(&["resources", "requests", resource])))
        .fold(Quantity::milli(0), |sum, amount| sum + amount)
}

/// Returns reason and message with which a pod is refused.
pub(super) fn refusal<'a>(
    pod: &Object,
    others: impl Iterator<Item = &'a Object>,
    config: &KubeletConfig,
    host: &Host,
) -> Option<(&'static str, String)> {
    let others: Vec<&Object> = others.collect();
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
    for (resource, reason, total) in [
        ("cpu", "OutOfcpu", hardware.cpu - kept.cpu),
        ("memory", "OutOfmemory", hardware.memory - kept.memory),
        ("ephemeral-storage", "OutOfephemeral-storage", hardware.ephemeral_storage - kept.ephemeral_storage),
    ] {
        let requested = request(pod, resource);
        let used = others.iter().fold(Quantity::milli(0), |sum, other| sum + request(other, resource));
        if !requested.is_zero() && requested + used > total {
            let shown = |amount: Quantity| if resource == "cpu" { amount.milli_value() } else { amount.value() };
            return Some((reason, message(resource, shown(requested), shown(used), shown(total))));
        }
    }
    None
}
