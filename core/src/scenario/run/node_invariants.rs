//! The invariants of Nodes: the parts of a Node are consistent, in any cluster.
//!
//! Inputs: a Node, what else is known of the cluster, the instant. Output: nothing, or a text that says what is wrong.
//! Nothing here depends on the wanted Node or the provider.
//! Left out on purpose: what only some providers promise (zones, external addresses, an instance behind the Node).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;

use jiff::SignedDuration;

use super::view::ClusterView;
use crate::components::node_lifecycle::taint_violations;
use crate::objects::Json;
use crate::objects::quantity::Quantity;
use crate::objects::time::{parse, seconds};
use crate::profile::Release;
use crate::scenario::{Aspect, ObjectRef};

/// The conditions that a kubelet posts. Source: pkg/kubelet/kubelet_node_status.go (v1.34), `defaultNodeStatusFuncs`.
const OF_KUBELET: [&str; 4] = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];
/// The resources that every Node has. Source: pkg/kubelet/nodestatus/setters.go (v1.34), `MachineInfo`.
const RESOURCES: [&str; 3] = ["cpu", "memory", "pods"];
/// How many minor releases a kubelet may be behind the API server; before which minor release it was fewer, and how
/// many.
///
/// Source: KEP-3935 (v1.28) and the version skew policy: three, but two for a kubelet before 1.25.
const BEHIND: (u16, u16, u16) = (3, 25, 2);

/// Checks an aspect of a Node.
pub(super) fn judge(aspect: Aspect, node: &Json, view: &ClusterView) -> Result<(), String> {
    let name = node.at(&["metadata", "name"]).as_str().unwrap_or_default();
    match aspect {
        Aspect::Lease => match view.object(&ObjectRef::lease(name)) {
            Some(lease) => lease_of(name, node.at(&["metadata", "uid"]), &lease.json()),
            None => Err(String::from("it has no Lease")),
        },
        Aspect::Conditions => conditions(node),
        Aspect::Taints => taints(node),
        Aspect::Allocatable => allocatable(node),
        Aspect::Labels => labels(node),
        Aspect::Addresses => addresses(node),
        Aspect::Skew => skew(node, view.measures().server),
        Aspect::HeardFrom => heard_from(name, node, view),
        Aspect::UnknownAtMost(limit) => unknown_at_most(node, limit, view),
    }
}

/// Gathers what is wrong.
fn verdict(wrong: Vec<String>) -> Result<(), String> {
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join(", ")) }
}

fn word<'a>(object: &'a Json, path: &[&str]) -> &'a str {
    object.at(path).as_str().unwrap_or_default()
}

fn lease_of(name: &str, uid: &Json, lease: &Json) -> Result<(), String> {
    let holder = word(lease, &["spec", "holderIdentity"]);
    let owners = lease.at(&["metadata", "ownerReferences"]).items();
    let is_node = |owner: &&Json| word(owner, &["kind"]) == "Node" && word(owner, &["name"]) == name;
    let mut wrong = Vec::new();
    if holder != name {
        wrong.push(format!("its Lease is held by {holder:?}"));
    }
    match owners.iter().find(is_node) {
        None => wrong.push(String::from("its Lease is not owned by it")),
        Some(owner) if owner.get("uid") != uid => {
            wrong.push(String::from("its Lease is owned by an older Node of its name"));
        }
        Some(_) => {}
    }
    if lease.at(&["spec", "leaseDurationSeconds"]).as_i64().is_none_or(|seconds| seconds <= 0) {
        wrong.push(String::from("its Lease has no duration"));
    }
    verdict(wrong)
}

fn condition<'a>(node: &'a Json, kind: &str) -> Option<&'a Json> {
    node.at(&["status", "conditions"]).items().iter().find(|item| word(item, &["type"]) == kind)
}

fn conditions(node: &Json) -> Result<(), String> {
    let all = node.at(&["status", "conditions"]).items();
    let mut wrong = Vec::new();
    for kind in OF_KUBELET {
        match all.iter().filter(|item| word(item, &["type"]) == kind).count() {
            0 => wrong.push(format!("no condition {kind}")),
            1 => {}
            count => wrong.push(format!("{count} conditions {kind}")),
        }
    }
    for item in all {
        let kind = word(item, &["type"]);
        let status = word(item, &["status"]);
        if !["True", "False", "Unknown"].contains(&status) {
            wrong.push(format!("{kind} has the status {status:?}"));
        }
        if parse(word(item, &["lastTransitionTime"])).is_none() {
            wrong.push(format!("{kind} has no lastTransitionTime"));
        }
    }
    let there = OF_KUBELET.iter().filter_map(|kind| Some((*kind, word(condition(node, kind)?, &["status"]))));
    let (unknown, known): (Vec<_>, Vec<_>) = there.partition(|(_, status)| *status == "Unknown");
    if !unknown.is_empty() && !known.is_empty() {
        let kinds = |of: &[(&str, &str)]| of.iter().map(|(kind, _)| *kind).collect::<Vec<_>>().join(" and ");
        wrong.push(format!("{} Unknown, but not {}", kinds(&unknown), kinds(&known)));
    }
    verdict(wrong)
}

fn taints(node: &Json) -> Result<(), String> {
    let (missing, astray) = taint_violations(node);
    let missing = missing.iter().map(|taint| format!("taint {taint} is missing"));
    verdict(missing.chain(astray.iter().map(|taint| format!("taint {taint} without its reason"))).collect())
}

fn allocatable(node: &Json) -> Result<(), String> {
    let (capacity, allocatable) = (node.at(&["status", "capacity"]), node.at(&["status", "allocatable"]));
    let amount = |of: &Json| of.as_str().map_or_else(|| Quantity::parse(&of.to_string()), Quantity::parse);
    let mut wrong = Vec::new();
    for name in RESOURCES {
        for (what, of) in [("capacity", capacity), ("allocatable", allocatable)] {
            if of.get(name).is_null() {
                wrong.push(format!("no {name} in {what}"));
            }
        }
    }
    for (name, free) in allocatable.fields() {
        match (amount(free), amount(capacity.get(name))) {
            (None, _) => wrong.push(format!("allocatable {name} {free} is no quantity")),
            (Some(own), _) if own.is_negative() => wrong.push(format!("allocatable {name} {free} is below zero")),
            (Some(_), None) => wrong.push(format!("allocatable {name} {free} without capacity")),
            (Some(own), Some(all)) if own > all => {
                wrong.push(format!("allocatable {name} {free} of {}", capacity.get(name)));
            }
            _ => {}
        }
    }
    verdict(wrong)
}

/// The labels that a kubelet sets, with the field of `status.nodeInfo` that says the same.
///
/// Source: pkg/kubelet/kubelet_node_status.go (v1.34), `initialNode`.
const LABELS: [(&str, &str); 3] =
    [("kubernetes.io/hostname", ""), ("kubernetes.io/os", "operatingSystem"), ("kubernetes.io/arch", "architecture")];

fn labels(node: &Json) -> Result<(), String> {
    let labels = node.at(&["metadata", "labels"]);
    let mut wrong = Vec::new();
    for (label, field) in LABELS {
        let reported = word(node, &["status", "nodeInfo", field]);
        match labels.get(label).as_str().unwrap_or_default() {
            "" => wrong.push(format!("no label {label}")),
            own if !field.is_empty() && own != reported => {
                wrong.push(format!("label {label}={own}, but its kubelet reports {reported:?}"));
            }
            _ => {}
        }
    }
    verdict(wrong)
}

fn addresses(node: &Json) -> Result<(), String> {
    let all = node.at(&["status", "addresses"]).items();
    let mut wrong = Vec::new();
    for kind in ["InternalIP", "Hostname"] {
        if !all.iter().any(|item| word(item, &["type"]) == kind && !word(item, &["address"]).is_empty()) {
            wrong.push(format!("no address {kind}"));
        }
    }
    for item in all.iter().filter(|item| ["InternalIP", "ExternalIP"].contains(&word(item, &["type"]))) {
        let address = word(item, &["address"]);
        if address.parse::<IpAddr>().is_err() {
            wrong.push(format!("{} {address:?} is no IP address", word(item, &["type"])));
        }
    }
    verdict(wrong)
}

fn skew(node: &Json, server: Release) -> Result<(), String> {
    let version = word(node, &["status", "nodeInfo", "kubeletVersion"]);
    let mut numbers = version.strip_prefix('v').unwrap_or(version).split('.').map(str::parse::<u16>);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else {
        return Err(format!("its kubelet says that it is {version:?}"));
    };
    let (usual, since, before) = BEHIND;
    let allowed = if minor < since { before } else { usual };
    if (major, minor) > (server.major, server.minor) {
        return Err(format!("its kubelet {version} is newer than the API server {server}"));
    }
    if major != server.major || server.minor - minor > allowed {
        return Err(format!("its kubelet {version} is more than {allowed} releases behind the API server {server}"));
    }
    Ok(())
}

fn heard_from(name: &str, node: &Json, view: &ClusterView) -> Result<(), String> {
    let ready = condition(node, "Ready").map_or("absent", |item| word(item, &["status"]));
    let limit = view.measures().silence_max;
    let silent = view.heard(name).map(|at| view.now().duration_since(at));
    match silent {
        _ if ready == "Unknown" => Ok(()),
        Some(silent) if silent <= limit => Ok(()),
        Some(_) => Err(format!("no heartbeat for {}, and Ready={ready}", seconds(limit))),
        None => Err(format!("never a heartbeat, and Ready={ready}")),
    }
}

fn unknown_at_most(node: &Json, limit: SignedDuration, view: &ClusterView) -> Result<(), String> {
    let mut wrong = Vec::new();
    for item in node.at(&["status", "conditions"]).items() {
        let since = parse(word(item, &["lastTransitionTime"]));
        if word(item, &["status"]) == "Unknown"
            && let Some(since) = since.filter(|since| view.now().duration_since(*since) > limit)
        {
            wrong.push(format!("{} Unknown since {since}", word(item, &["type"])));
        }
    }
    verdict(wrong)
}

#[cfg(test)]
mod tests {
    use super::super::view::Measures;
    use super::*;
    use crate::json;

    fn node() -> Json {
        let conditions: Json = OF_KUBELET
            .iter()
            .map(|kind| {
                let status = if *kind == "Ready" { "True" } else { "False" };
                json!({"type": *kind, "status": status, "lastTransitionTime": "2026-01-01T00:00:00Z"})
            })
            .collect();
        let mut node = json!({
            "metadata": {"name": "w1", "uid": "u1", "labels": {
                "kubernetes.io/hostname": "w1", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}},
            "spec": {},
            "status": {
                "capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"},
                "allocatable": {"cpu": "3900m", "memory": "7.5Gi", "pods": "110"},
                "addresses": [{"type": "InternalIP", "address": "fd00::1"}, {"type": "Hostname", "address": "w1"}],
                "nodeInfo": {"kubeletVersion": "v1.34.1-eks-1", "operatingSystem": "linux", "architecture": "amd64"}},
        });
        node.set(&["status", "conditions"], conditions);
        node
    }

    #[track_caller]
    fn check(aspect: Aspect, change: impl Fn(&mut Json), expected: &str) {
        let mut node = node();
        change(&mut node);
        let view = ClusterView::new(Measures { server: Release::new(34, 4), ..Measures::default() });
        let found = judge(aspect, &node, &view).err().unwrap_or_default();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_node_in_order_is_sound() {
        for aspect in
            [Aspect::Conditions, Aspect::Taints, Aspect::Allocatable, Aspect::Labels, Aspect::Addresses, Aspect::Skew]
        {
            check(aspect, |_| {}, "");
        }
    }

    #[test]
    fn the_skew_policy_counts_minor_releases() {
        let version =
            |text: &'static str| move |node: &mut Json| node.set(&["status", "nodeInfo", "kubeletVersion"], text);
        check(Aspect::Skew, version("v1.31.0"), "");
        check(Aspect::Skew, version("v1.34.9"), "");
        check(
            Aspect::Skew,
            version("v1.30.9"),
            "its kubelet v1.30.9 is more than 3 releases behind the API server 1.34.4",
        );
        check(
            Aspect::Skew,
            version("v1.35.0-alpha.1"),
            "its kubelet v1.35.0-alpha.1 is newer than the API server 1.34.4",
        );
        check(Aspect::Skew, version("unknown"), "its kubelet says that it is \"unknown\"");
    }

    #[test]
    fn what_is_wrong_is_said_all_at_once() {
        check(
            Aspect::Allocatable,
            |node| node.set(&["status", "allocatable"], json!({"cpu": "4100m", "memory": "x", "a.b/gpu": "1"})),
            "no pods in allocatable, allocatable a.b/gpu \"1\" without capacity, allocatable cpu \"4100m\" of \"4\", \
            allocatable memory \"x\" is no quantity",
        );
        check(
            Aspect::Addresses,
            |node| node.set(&["status", "addresses"], json!([{"type": "InternalIP", "address": "10.0.0"}])),
            "no address Hostname, InternalIP \"10.0.0\" is no IP address",
        );
        check(
            Aspect::Conditions,
            |node| {
                let one = json!([{"type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-01-01T00:00:00Z"},
                    {"type": "DiskPressure", "status": "False"}]);
                node.set(&["status", "conditions"], one);
            },
            "no condition MemoryPressure, no condition PIDPressure, DiskPressure has no lastTransitionTime, Ready \
            Unknown, but not DiskPressure",
        );
    }

    #[test]
    fn a_cordon_and_a_lost_node_have_their_taints() {
        check(
            Aspect::Taints,
            |node| node.set(&["spec", "unschedulable"], true),
            "taint node.kubernetes.io/unschedulable:NoSchedule is missing",
        );
        check(
            Aspect::Taints,
            |node| {
                node.set(&["spec", "taints"], json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]))
            },
            "taint node.kubernetes.io/not-ready:NoExecute without its reason",
        );
    }
}
