//! Defaults of EndpointSlices and Endpoints, and the fields that a write cannot set.
//!
//! Mirrors pkg/apis/{discovery,core}/v1/defaults.go and pkg/registry/discovery/endpointslice/strategy.go (v1.34).
//! Inputs: the tree of an object. Output: the same tree.

use super::fields::set_absent;
use crate::objects::Json;
use crate::profile::Settings;

/// Sets what the API's defaults set.
pub(super) fn default(tree: &mut Json) {
    let is_complete = |port: &Json| !port.get("name").is_null() && !port.get("protocol").is_null();
    if tree.get("ports").items().iter().all(is_complete) {
        return;
    }
    for port in tree.entry(&["ports"]).make_array() {
        for (field, value) in [("name", ""), ("protocol", "TCP")] {
            set_absent(port, &[field], value);
        }
    }
}

/// Sets what the API's defaults set in Endpoints.
pub(super) fn default_endpoints(tree: &mut Json) {
    let lacks = |subset: &Json| subset.get("ports").items().iter().any(|port| port.get("protocol").is_empty());
    if !tree.get("subsets").items().iter().any(lacks) {
        return;
    }
    for subset in tree.entry(&["subsets"]).make_array().iter_mut().filter(|subset| lacks(subset)) {
        for port in subset.entry(&["ports"]).make_array() {
            if port.get("protocol").is_empty() {
                port.set(&["protocol"], "TCP");
            }
        }
    }
}

/// Takes away what v1 does not write: the topology, and hints of nodes while the release does not know them.
pub(super) fn drop_fields(tree: &mut Json, old: &Json, settings: &Settings) {
    if tree.get("endpoints") == old.get("endpoints") {
        return;
    }
    let has_node_hints = |tree: &Json| {
        let mut endpoints = tree.get("endpoints").items().iter();
        endpoints.any(|endpoint| !endpoint.at(&["hints", "forNodes"]).is_null())
    };
    let drops_hints =
        !settings.profile().is("endpoint-hints-name-nodes") && !has_node_hints(old) && has_node_hints(tree);
    let has_topology = |endpoint: &Json| !endpoint.get("deprecatedTopology").is_null();
    if !drops_hints && !tree.get("endpoints").items().iter().any(has_topology) {
        return;
    }
    for endpoint in tree.entry(&["endpoints"]).make_array() {
        endpoint.remove(&["deprecatedTopology"]);
        if drops_hints {
            endpoint.remove(&["hints", "forNodes"]);
        }
    }
}
