//! What the server does to Nodes on writes: defaults, and fields that are dropped.
//!
//! Mirrors pkg/registry/core/node/strategy.go, pkg/apis/core/v1/{conversion,defaults}.go (v1.31, v1.34).

use alloc::vec::Vec;

use super::fields::round_up;
use crate::objects::Json;
use crate::profile::Settings;

/// Sets the defaults: allocatable from capacity, and `podCIDR` and the first of `podCIDRs` as one value.
pub(super) fn default(tree: &mut Json) {
    for list in ["capacity", "allocatable"] {
        round_up(tree, &["status", list]);
    }
    let capacity = tree.at(&["status", "capacity"]).clone();
    if !capacity.is_empty() && tree.at(&["status", "allocatable"]).is_empty() {
        tree.set(&["status", "allocatable"], capacity);
    }
    let cidr = tree.at(&["spec", "podCIDR"]).clone();
    let first = tree.at(&["spec", "podCIDRs"]).items().first().cloned();
    match (cidr.is_null(), first) {
        (true, Some(first)) => tree.set(&["spec", "podCIDR"], first),
        (false, None) => tree.set(&["spec", "podCIDRs"], Vec::from([cidr])),
        (false, Some(first)) if first != cidr => tree.set(&["spec", "podCIDRs"], Vec::from([cidr])),
        _ => {}
    }
}

/// Drops status fields of feature gates that are off, on writes of the Node itself only. What a kubelet posts through
/// `status` stays; the runtime handlers are dropped with the next write of the Node itself.
pub(super) fn drop_disabled(tree: &mut Json, old: Option<&Json>, settings: &Settings) {
    let is_on = |gate: &str| settings.is_gate_on(gate);
    let handlers = ["status", "runtimeHandlers"];
    let has_handlers = !tree.at(&handlers).is_null();
    if has_handlers && !is_on("RecursiveReadOnlyMounts") && !is_on("UserNamespacesSupport") {
        tree.remove(&handlers);
    }
    // Source: pkg/registry/core/node/strategy.go (v1.35), `dropDisabledFields`.
    let fields: [(&[&str], &str); 3] = [
        (&["status", "features"], "SupplementalGroupsPolicy"),
        (&["status", "declaredFeatures"], "NodeDeclaredFeatures"),
        // Source: as above (v1.37).
        (&["spec", "podPreemptionPolicy"], "InPlacePodVerticalScalingSchedulerPreemption"),
    ];
    for (field, gate) in fields {
        let is_new = !tree.at(field).is_null() && old.is_none_or(|old| old.at(field).is_null());
        if is_new && !is_on(gate) {
            tree.remove(field);
        }
    }
}

/// Drops what a kubelet tells of its user namespace while that gate is off. Source: pkg/registry/core/node/strategy.go
/// (v1.37), `PrepareForUpdate` of the status.
pub(super) fn drop_disabled_status(tree: &mut Json, old: &Json, settings: &Settings) {
    const FIELD: [&str; 3] = ["status", "nodeInfo", "runningInUserNamespace"];
    let is_new = !tree.at(&FIELD).is_null() && old.at(&FIELD).is_null();
    if is_new && !settings.is_gate_on("KubeletInUserNamespace") {
        tree.remove(&FIELD);
    }
}

/// Drops the fields of dynamic kubelet configuration. Admission sees them, the store does not keep them.
pub(super) fn drop_config(tree: &mut Json) {
    tree.remove(&["spec", "configSource"]);
    tree.remove(&["status", "config"]);
}
