//! What is special about Nodes on writes.
//!
//! Mirrors pkg/registry/core/node/strategy.go, pkg/apis/core/v1/{conversion,defaults}.go (v1.34).

use alloc::vec::Vec;

use super::pods::round_up;
use crate::objects::Json;

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

/// Drops what was for dynamic configuration: admission still sees it, the store does not.
pub(super) fn drop_config(tree: &mut Json) {
    tree.remove(&["spec", "configSource"]);
    tree.remove(&["status", "config"]);
}
