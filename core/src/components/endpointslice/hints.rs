//! Hints of slices that follow from the endpoint alone: the traffic of its own zone, or of its own node.
//!
//! Mirrors k8s.io/endpointslice trafficdist/trafficdist.go and `RemoveHintsFromSlices` of topologycache/utils.go
//! (v1.34). Inputs: `spec.trafficDistribution`, a plan. Output: the plan with hints.

use alloc::vec::Vec;

use super::plan::SlicePlan;
use crate::json;
use crate::objects::{Json, Object};

/// Tells whether the controller knows a Service's wish; the names of zones and nodes came after the first one.
/// Source: k8s.io/endpointslice reconciler.go (v1.34), `validTrafficDistribution`.
pub(super) fn is_known(distribution: &str, knows_nodes: bool) -> bool {
    distribution == "PreferClose" || knows_nodes && ["PreferSameZone", "PreferSameNode"].contains(&distribution)
}

/// Tells whether an endpoint is ready; only such ones have hints.
pub(super) fn is_ready_endpoint(endpoint: &Json) -> bool {
    endpoint.at(&["conditions", "ready"]).as_bool() == Some(true)
}

/// Calls a function with each endpoint of a slice.
pub(super) fn each_endpoint(slice: &mut Json, mut change: impl FnMut(&mut Json)) {
    if slice.get("endpoints").is_empty() {
        return;
    }
    for endpoint in slice.entry(&["endpoints"]).make_array() {
        change(endpoint);
    }
}

impl SlicePlan {
    /// Writes the slices again that must change though their endpoints do not.
    pub(super) fn write_again(&mut self, is_wrong: impl FnMut(&Object) -> bool) {
        let (wrong, right): (Vec<Object>, Vec<Object>) =
            core::mem::take(&mut self.unchanged).into_iter().partition(is_wrong);
        self.update.extend(wrong.iter().map(Object::json));
        self.unchanged = right;
    }

    /// Returns the slices that are written.
    pub(super) fn written(&mut self) -> impl Iterator<Item = &mut Json> {
        self.create.iter_mut().chain(&mut self.update)
    }
}

/// Takes all hints away.
pub(super) fn remove(plan: &mut SlicePlan) {
    let has_hints = |endpoint: &Json| !endpoint.get("hints").is_null();
    plan.write_again(|slice| slice.stable().get("endpoints").items().iter().any(has_hints));
    for slice in plan.written() {
        each_endpoint(slice, |endpoint| drop(endpoint.remove(&["hints"])));
    }
}

/// Gives each ready endpoint the hints that a Service's wish makes of its zone and node.
pub(super) fn follow(distribution: &str, plan: &mut SlicePlan) {
    let names_node = distribution == "PreferSameNode";
    let is_wrong = |endpoint: &Json| is_ready_endpoint(endpoint) && !is_right(endpoint, names_node);
    plan.write_again(|slice| slice.stable().get("endpoints").items().iter().any(is_wrong));
    for slice in plan.written() {
        each_endpoint(slice, |endpoint| {
            if is_ready_endpoint(endpoint) {
                match hints_of(endpoint, names_node) {
                    Json::Null => drop(endpoint.remove(&["hints"])),
                    hints => endpoint.set(&["hints"], hints),
                }
            }
        });
    }
}

fn is_right(endpoint: &Json, names_node: bool) -> bool {
    let wanted = hints_of(endpoint, names_node);
    ["forZones", "forNodes"].into_iter().all(|list| {
        let (own, wanted) = (endpoint.at(&["hints", list]).items(), wanted.get(list).items());
        own.iter().map(|one| one.get("name")).eq(wanted.iter().map(|one| one.get("name")))
    })
}

fn hints_of(endpoint: &Json, names_node: bool) -> Json {
    let mut hints = Json::Null;
    for (list, field, is_wanted) in [("forZones", "zone", true), ("forNodes", "nodeName", names_node)] {
        if let Some(name) = endpoint.get(field).as_text().filter(|_| is_wanted) {
            hints.set(&[list], json!([{"name": name.as_str()}]));
        }
    }
    hints
}
