//! Warnings of the server about objects that it accepts.
//!
//! Mirrors the strategies' `WarningsOnCreate` and `WarningsOnUpdate`: pkg/api/pod/warnings.go,
//! pkg/api/{node,storage,persistentvolume}/util.go and k8s.io/apimachinery pkg/util/validation/ip.go (v1.34). Left out
//! on purpose: warnings about fields of other kinds that are deprecated.

mod pods;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;

use super::validation::{ip, meta, networking, quote};
use super::workloads::TEMPLATE_GENERATION;
use crate::network::kinds::{Kind, Trait};
use crate::objects::names::{self, Wording};
use crate::objects::quantity::Quantity;
use crate::objects::{Json, Text};
use crate::profile::Settings;

/// Source: k8s.io/api discovery/v1/well_known_labels.go (v1.34), `LabelManagedBy`.
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
/// Source: pkg/apis/core/types.go (v1.34), `BetaStorageClassAnnotation`.
const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";
/// Whose addresses are not looked at. Source: pkg/controller/{endpointslice,endpointslicemirroring} (v1.34),
/// `ControllerName`.
const WRITERS: [&str; 2] = ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"];

/// Returns the warnings about a change: of the object itself, or through a subresource, where most kinds have none.
pub(super) fn of_change(
    kind: &Kind,
    subresource: &str,
    (tree, old): (&Json, &Json),
    settings: &Settings,
) -> Vec<String> {
    match (kind.rules(), subresource) {
        (_, "") => of(kind, tree, old, settings),
        ("Pod" | "Service" | "Ingress", "status") if settings.profile().is("unusual-addresses-warn") => {
            let lists: &[&[&str]] = match kind.rules() {
                "Pod" => &[&["status", "podIPs"], &["status", "hostIPs"]],
                _ => &[&["status", "loadBalancer", "ingress"]],
            };
            let end = if kind.rules() == "Pod" { ".ip" } else { "" };
            let warned = |list: &&[&str]| -> Vec<String> {
                let items = tree.at(list).items().iter().enumerate();
                let path = list.join(".");
                items
                    .filter_map(|(at, item)| ip::warning(item.get("ip").as_str()?, &format!("{path}[{at}]{end}")))
                    .collect()
            };
            lists.iter().flat_map(warned).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the warnings about a new object as it was sent, before it is prepared for the store.
pub(super) fn of_sent(kind: &Kind, tree: &Json, settings: &Settings) -> Vec<String> {
    if kind.rules() == "Pod" { pods::of_app_armor(tree, settings) } else { Vec::new() }
}

/// Returns the warnings about an object that is written: new, or in place of an old one.
pub(super) fn of(kind: &Kind, tree: &Json, old: &Json, settings: &Settings) -> Vec<String> {
    let mut warnings = Vec::new();
    match kind.rules() {
        _ if kind.is(Trait::Custom) => finalizers(tree, old, settings, &mut warnings),
        "Node" => {
            let cidrs = tree.at(&["spec", "podCIDRs"]).items();
            let cidrs = if settings.profile().is("ambiguous-cidrs-warn") { cidrs } else { &[] };
            for (at, cidr) in cidrs.iter().enumerate() {
                cidr_warnings(cidr.as_str().unwrap_or(""), &format!("spec.podCIDRs[{at}]"), &mut warnings);
            }
            if !tree.at(&["spec", "externalID"]).is_null() {
                let why = "spec.externalID: this field is deprecated, and is unused by Kubernetes";
                warnings.push(String::from(why));
            }
        }
        "Endpoints" if settings.profile().is("unusual-addresses-warn") => endpoints(tree, &mut warnings),
        // Source: pkg/registry/core/pod/strategy.go (v1.34): a change of a Pod has none.
        "Pod" if old.is_null() => pod(tree, settings, &mut warnings),
        "Deployment" | "ReplicaSet" | "ReplicationController" | "DaemonSet" | "StatefulSet" => {
            workload(kind.name, tree, old, settings, &mut warnings);
        }
        "PodTemplate" if tree.get("template") != old.get("template") => {
            pods::of(tree.get("template"), "template.", settings, &mut warnings);
        }
        "NetworkPolicy" if settings.profile().is("unusual-addresses-warn") => policy(tree.get("spec"), &mut warnings),
        "Ingress" if old.is_null() => {
            let is_noted = !tree.at(&["metadata", "annotations", networking::CLASS_ANNOTATION]).is_null();
            if is_noted && tree.at(&["spec", "ingressClassName"]).is_null() {
                let annotation = networking::CLASS_ANNOTATION;
                let why = "is deprecated, please use 'spec.ingressClassName' instead";
                warnings.push(format!("annotation {annotation:?} {why}"));
            }
        }
        "Service" => service(tree.get("spec"), settings, &mut warnings),
        "Job" | "CronJob" => {
            if old.is_null() {
                pod_names(tree, meta::wording(settings), &mut warnings);
            }
            if tree.get("spec") != old.get("spec") {
                let of_jobs: &[&str] = if kind.rules() == "CronJob" { &["spec", "jobTemplate"] } else { &[] };
                let path = [of_jobs, &["spec", "template"]].concat();
                pods::of(tree.at(&path), &format!("{}.", path.join(".")), settings, &mut warnings);
            }
        }
        "EndpointSlice" => endpoint_slice(tree, old, settings, &mut warnings),
        name => of_storage(name, tree, &mut warnings),
    }
    warnings
}

/// Adds the warnings about the owner of Pods: about its name when it is new, about its template when it may be another.
///
/// Source: pkg/registry/apps/{deployment,replicaset,statefulset,daemonset}/strategy.go and
/// pkg/registry/core/replicationcontroller/strategy.go (v1.31 to v1.37), `WarningsOnUpdate`.
fn workload(kind: &str, tree: &Json, old: &Json, settings: &Settings, warnings: &mut Vec<String>) {
    if old.is_null() && !matches!(kind, "DaemonSet" | "StatefulSet") {
        pod_names(tree, meta::wording(settings), warnings);
    }
    let counter: &[&str] = if kind == "DaemonSet" {
        &["metadata", "annotations", TEMPLATE_GENERATION]
    } else {
        &["metadata", "generation"]
    };
    if old.is_null() || tree.at(counter) != old.at(counter) {
        // Upstream hands the templates of a changed ReplicationController over in the wrong order.
        let whole = if kind == "ReplicationController" && !old.is_null() { old } else { tree };
        pods::of(whole.at(&["spec", "template"]), "spec.template.", settings, warnings);
    }
    if kind == "StatefulSet" {
        let templates = tree.at(&["spec", "volumeClaimTemplates"]).items();
        for (at, template) in templates.iter().enumerate() {
            claim(template.get("spec"), &format!("spec.volumeClaimTemplates[{at}].Spec"), warnings);
        }
        if tree.at(&["spec", "revisionHistoryLimit"]).as_i64().is_some_and(|limit| limit < 0) {
            let why = "a negative value retains all historical revisions; a value >= 0 is recommended";
            warnings.push(format!("spec.revisionHistoryLimit: {why}"));
        }
    }
}

/// Adds the warnings about new finalizers of a custom object.
///
/// Source: k8s.io/apiextensions-apiserver pkg/registry/customresource/validator.go (v1.31, v1.34),
/// `validateKubeFinalizerName`.
fn finalizers(tree: &Json, old: &Json, settings: &Settings, warnings: &mut Vec<String>) {
    let own = |tree: &Json| -> BTreeSet<Text> {
        tree.at(&["metadata", "finalizers"]).items().iter().filter_map(Json::as_text).cloned().collect()
    };
    for name in own(tree).difference(&own(old)) {
        let mut say = |why: &str| warnings.push(format!("metadata.finalizers: {}: {why}", quote(name)));
        names::qualified(name, meta::wording(settings)).iter().for_each(|why| say(why));
        if name.contains('/') || ["orphan", "foregroundDeletion", "kubernetes"].contains(&name.as_str()) {
            continue;
        }
        let has_path = name.contains('.') && settings.profile().is("finalizers-should-have-a-path");
        let path = if has_path { " including a path (/)" } else { "" };
        let others = "to avoid accidental conflicts with other finalizer writers";
        say(&format!("prefer a domain-qualified finalizer name{path} {others}"));
    }
}

/// Adds the warnings about an object of storage.
fn of_storage(kind: &str, tree: &Json, warnings: &mut Vec<String>) {
    match kind {
        "PersistentVolume" => {
            let terms = tree.at(&["spec", "nodeAffinity", "required", "nodeSelectorTerms"]).items();
            for (at, term) in terms.iter().enumerate() {
                pods::node_term(term, &format!("spec.nodeAffinity.required.nodeSelectorTerms[{at}]"), warnings);
            }
            volume(tree.get("spec"), warnings);
        }
        "PersistentVolumeClaim" => {
            if !tree.at(&["metadata", "annotations", CLASS_ANNOTATION]).is_null() {
                let why = "deprecated since v1.8; use \"storageClassName\" attribute instead";
                warnings.push(format!("metadata.annotations[{CLASS_ANNOTATION}]: {why}"));
            }
            claim(tree.get("spec"), "spec", warnings);
        }
        "StorageClass" => {
            for (at, topology) in tree.get("allowedTopologies").items().iter().enumerate() {
                let path = format!("allowedTopologies[{at}].matchLabelExpressions");
                for (at, own) in topology.get("matchLabelExpressions").items().iter().enumerate() {
                    let why = pods::deprecated_label(own.get("key").as_str().unwrap_or(""));
                    warnings.extend(why.map(|why| format!("{path}[{at}].key: {why}")));
                }
            }
        }
        "CSIStorageCapacity" => {
            let topology = tree.get("nodeTopology");
            pods::node_term(topology, "nodeTopology", warnings);
            for (key, _) in topology.get("matchLabels").fields() {
                let why = pods::deprecated_label(key);
                warnings.extend(why.map(|why| format!("nodeTopology.matchLabels.{key}: {why}")));
            }
        }
        _ => {}
    }
}

/// Source: pkg/api/persistentvolumeclaim/util.go (v1.34), `GetWarningsForPersistentVolumeClaimSpec`.
fn claim(spec: &Json, path: &str, warnings: &mut Vec<String>) {
    for list in ["requests", "limits"] {
        let amount = spec.at(&["resources", list, "storage"]);
        let parts = Quantity::from_json(amount).map_or(0, |amount| amount.milli_value() % 1000);
        if let Some(text) = amount.as_str().filter(|_| parts != 0) {
            let path = format!("{path}.resources.{list}[storage]");
            warnings.push(format!("{path}: fractional byte value {text:?} is invalid, must be an integer"));
        }
    }
}

/// Source: pkg/api/persistentvolume/util.go (v1.34), `warningsForPersistentVolumeSpecAndMeta`.
fn volume(spec: &Json, warnings: &mut Vec<String>) {
    if spec.get("persistentVolumeReclaimPolicy").as_str() == Some("Recycle") {
        warnings.push(String::from(
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended \
             approach is to use dynamic provisioning.",
        ));
    }
    for (source, shown, deprecated, gone) in [
        ("cephfs", "cephfs", "1.28", "1.31"),
        ("photonPersistentDisk", "photonPersistentDisk", "1.11", "1.16"),
        ("scaleIO", "scaleIO", "1.16", "1.22"),
        ("storageos", "storageOS", "1.22", "1.25"),
        ("glusterfs", "glusterfs", "1.25", "1.26"),
        ("rbd", "rbd", "1.28", "1.31"),
    ] {
        if !spec.get(source).is_null() {
            warnings.push(format!("spec.{shown}: deprecated in v{deprecated}, non-functional in v{gone}+"));
        }
    }
}

/// Source: pkg/registry/networking/networkpolicy/strategy.go (v1.34), `networkPolicyWarnings`.
fn policy(spec: &Json, warnings: &mut Vec<String>) {
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for (at, rule) in spec.get(direction).items().iter().enumerate() {
            for (place, peer) in rule.get(peers).items().iter().enumerate() {
                let (block, path) = (peer.get("ipBlock"), format!("spec.{direction}[{at}].{peers}[{place}].ipBlock"));
                cidr_warnings(block.get("cidr").as_str().unwrap_or(""), &format!("{path}.cidr"), warnings);
                for (at, except) in block.get("except").items().iter().enumerate() {
                    cidr_warnings(except.as_str().unwrap_or(""), &format!("{path}.except[{at}]"), warnings);
                }
            }
        }
    }
}

/// Source: pkg/registry/core/endpoint/strategy.go (v1.34), `WarningsOnCreate`.
fn endpoints(tree: &Json, warnings: &mut Vec<String>) {
    // Source: pkg/controller/endpoint/endpoints_controller.go (v1.34), `LabelManagedBy` and `ControllerName`.
    let by = tree.at(&["metadata", "labels", "endpoints.kubernetes.io/managed-by"]);
    if by.as_str() == Some("endpoint-controller") {
        return;
    }
    for (at, subset) in tree.get("subsets").items().iter().enumerate() {
        for list in ["addresses", "notReadyAddresses"] {
            let all = subset.get(list).items().iter().enumerate();
            let warned = all.filter_map(|(number, address)| {
                ip::warning(address.get("ip").as_str()?, &format!("subsets[{at}].{list}[{number}].ip"))
            });
            warnings.extend(warned);
        }
    }
}

/// Source: pkg/registry/discovery/endpointslice/strategy.go (v1.34), `WarningsOnCreate`, `WarningsOnUpdate`.
fn endpoint_slice(tree: &Json, old: &Json, settings: &Settings, warnings: &mut Vec<String>) {
    if old.is_null() && tree.get("addressType").as_str() == Some("FQDN") {
        warnings.push(String::from("spec.addressType: FQDN endpoints are deprecated"));
    }
    let manager = tree.at(&["metadata", "labels", MANAGED_BY]).as_str();
    if ip::Reading::of(settings) == ip::Reading::Old || manager.is_some_and(|manager| WRITERS.contains(&manager)) {
        return;
    }
    for (at, endpoint) in tree.get("endpoints").items().iter().enumerate() {
        for (place, address) in endpoint.get("addresses").items().iter().enumerate() {
            let path = format!("endpoints[{at}].addresses[{place}]");
            warnings.extend(address.as_str().and_then(|address| ip::warning(address, &path)));
        }
    }
}

/// Source: pkg/registry/batch/{job,cronjob}/strategy.go and pkg/registry/apps/deployment/strategy.go (v1.34),
/// `WarningsOnCreate`.
fn pod_names(tree: &Json, wording: Wording, warnings: &mut Vec<String>) {
    let problems = names::label(tree.at(&["metadata", "name"]).as_str().unwrap_or(""), wording);
    if !problems.is_empty() {
        warnings.push(format!(
            "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS \
             label is recommended: [{}]",
            problems.join(" ")
        ));
    }
}

/// Source: pkg/api/service/warnings.go (v1.34), `GetWarningsForService`.
fn service(spec: &Json, settings: &Settings, warnings: &mut Vec<String>) {
    let is = |field: &str, word: &str| spec.get(field).as_str() == Some(word);
    let is_set = |field: &str| !spec.get(field).is_empty() && !is(field, "");
    let (is_headless, is_external) = (is("type", "ClusterIP") && is("clusterIP", "None"), is("type", "ExternalName"));
    let warns = ip::Reading::of(settings) != ip::Reading::Old;
    let of_list = |field: &'static str| {
        let addresses = spec.get(field).items().iter().enumerate();
        addresses.filter_map(move |(at, address)| ip::warning(address.as_str()?, &format!("spec.{field}[{at}]")))
    };
    warnings.extend(of_list("clusterIPs").filter(|_| warns));
    let ignored = [
        (is_headless && is_set("loadBalancerIP"), "spec.loadBalancerIP is ignored for headless services"),
        (is_headless && is_set("externalIPs"), "spec.externalIPs is ignored for headless services"),
        (is_headless && !is("sessionAffinity", "None"), "spec.SessionAffinity is ignored for headless services"),
    ];
    warnings.extend(ignored.into_iter().filter(|(holds, _)| *holds).map(|(_, warning)| String::from(warning)));
    warnings.extend(of_list("externalIPs").filter(|_| warns));
    if is_set("externalIPs") && !is_headless && !is_external && settings.profile().is("external-ips-warn") {
        warnings.push(String::from("spec.externalIPs is deprecated and may no longer be implemented in some clusters"));
    }
    let address = spec.get("loadBalancerIP").as_str().filter(|_| warns);
    warnings.extend(address.and_then(|address| ip::warning(address, "spec.loadBalancerIP")));
    let ranges = if warns { spec.get("loadBalancerSourceRanges").items() } else { &[] };
    for (at, range) in ranges.iter().filter_map(Json::as_str).enumerate() {
        cidr_warnings(range, &format!("spec.loadBalancerSourceRanges[{at}]"), warnings);
    }
    if is_external && is_set("externalIPs") {
        warnings.push(String::from("spec.externalIPs is ignored when spec.type is \"ExternalName\""));
    }
    if !is_external && is_set("externalName") {
        warnings.push(String::from("spec.externalName is ignored when spec.type is not \"ExternalName\""));
    }
}

fn pod(tree: &Json, settings: &Settings, warnings: &mut Vec<String>) {
    let name = tree.at(&["metadata", "name"]).as_str().unwrap_or("");
    let problems = names::label(name, meta::wording(settings));
    if !problems.is_empty() {
        warnings.push(format!(
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label \
             is recommended: [{}]",
            problems.join(" ")
        ));
    }
    pods::of(tree, "", settings, warnings);
}

/// Warns about a CIDR that is not written as it should be.
/// Source: k8s.io/apimachinery pkg/util/validation/ip.go (v1.34), `GetWarningsForCIDR`.
fn cidr_warnings(text: &str, path: &str, warnings: &mut Vec<String>) {
    let Some((address, bits)) = text.split_once('/') else { return };
    let Some(read) = ip::parse(address) else { return };
    let canonical = format!("{}/{bits}", read.to_canonical());
    let before = warnings.len();
    // The address that leads to the network is told in its usual form, the value as it was written.
    let ambiguous = ip::ambiguous_cidr(&canonical).map(|why| why.replacen(&canonical, text, 1));
    warnings.extend(ambiguous.map(|why| format!("{path}: {why}")));
    let network = ip::network_of(read.to_canonical(), bits).unwrap_or(canonical);
    if address.parse::<IpAddr>().is_err() || read != read.to_canonical() {
        warnings.push(format!(
            "{path}: non-standard CIDR value {text:?} will be considered invalid in a future Kubernetes release: use \
             {network:?}"
        ));
    }
    let usual = format!("{read}/{bits}");
    if warnings.len() == before && read.is_ipv6() && usual != text {
        let why = format!("IPv6 CIDR value {text:?} should be in RFC 5952 canonical format ({usual:?})");
        warnings.push(format!("{path}: {why}"));
    }
}
