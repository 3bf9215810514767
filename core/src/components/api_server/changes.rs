//! What a change of an object cannot change: each write resets the parts that are not its own.
//!
//! Mirrors `PrepareForUpdate` of the strategies in pkg/registry (v1.34). Pure: trees and settings in, trees out.

use jiff::Timestamp;

use super::fields::put;
use super::{certificates, custom, endpoint_slices, jobs, nodes, pods, services, storage_kinds, workloads};
use crate::network::kinds::{Kind, Trait};
use crate::objects::Json;
use crate::profile::Settings;

/// The kinds whose metadata a write of the status cannot change.
///
/// Source: `PrepareForUpdate` of the strategies of the status in pkg/registry and in k8s.io/kube-aggregator
/// pkg/registry/apiservice (v1.34); that of CustomResourceDefinitions means to and does not.
const KEEP_METADATA: [&str; 11] = [
    "APIService",
    "CSINode",
    "DeviceTaintRule",
    "FlowSchema",
    "PodCertificateRequest",
    "PriorityLevelConfiguration",
    "ResourceClaim",
    "ServiceCIDR",
    "StorageVersionMigration",
    "ValidatingAdmissionPolicy",
    "VolumeAttachment",
];

/// Resets what a write cannot change: the status through the object, everything else through the status.
pub(super) fn prepare_update(
    kind: &Kind,
    subresource: &str,
    tree: &mut Json,
    old: &Json,
    (settings, now): (&Settings, Timestamp),
) {
    put(tree, &["metadata", "generation"], old.at(&["metadata", "generation"]));
    pods::drop_disabled(kind, tree, Some(old), settings);
    let has_status = kind.subresource("status").is_some();
    match (kind.rules(), subresource) {
        ("Pod", "") => {
            pods::keep_amounts(tree, old, settings);
            put(tree, &["status"], old.get("status"));
        }
        ("Pod", "status") => pods::prepare_status_update(tree, old, settings),
        ("Pod", "ephemeralcontainers" | "resize") => pods::prepare_containers_update(subresource, tree, old),
        ("CertificateSigningRequest", _) => certificates::prepare_update(subresource, tree, old, now),
        ("Node", "status") => put(tree, &["spec"], old.get("spec")),
        (_, "status") if kind.is(Trait::Custom) => custom::keep_all_but_status(tree, old),
        ("Deployment", "status") => keep(tree, old, &[&["spec"], &["metadata", "labels"]]),
        (name, "status") if KEEP_METADATA.contains(&name) => keep_all_but_status(kind, tree, old, settings),
        (_, "status") => put(tree, &["spec"], old.get("spec")),
        (_, "finalize") => put(tree, &["status"], old.get("status")),
        ("Namespace", _) => {
            put(tree, &["spec", "finalizers"], old.at(&["spec", "finalizers"]));
            put(tree, &["status"], old.get("status"));
        }
        _ if has_status => put(tree, &["status"], old.get("status")),
        _ => {}
    }
    match kind.rules() {
        "Node" => {
            nodes::drop_config(tree);
            if subresource.is_empty() {
                nodes::drop_disabled(tree, Some(old), settings);
            } else {
                nodes::drop_disabled_status(tree, old, settings);
            }
        }
        "PersistentVolumeClaim" if subresource == "status" => {
            storage_kinds::drop_disabled_status(tree.entry(&["status"]), old, settings);
        }
        "PersistentVolumeClaim" if subresource.is_empty() => storage_kinds::data_sources(tree, old),
        "Lease" => drop_election(tree),
        "ServiceAccount" => secrets_by_name(tree),
        "DaemonSet" => workloads::count_templates(tree, Some(old)),
        "StatefulSet" => workloads::prepare_roll(tree, Some(old), settings),
        "EndpointSlice" => endpoint_slices::drop_fields(tree, old, settings),
        "Service" if subresource.is_empty() => services::drop_fields(tree, old),
        "Job" => jobs::default_labels(tree),
        _ => {}
    }
    drop_of_gates(kind, tree, old, settings);
    if (kind.rules(), subresource) == ("PersistentVolume", "status") {
        storage_kinds::time_phase(tree, old, now);
    }
    let counted = counts(kind, settings) || kind.rules() == "CSIDriver";
    if counted && matches!(subresource, "" | "ephemeralcontainers" | "resize") && is_other(kind, tree, old) {
        let generation = old.at(&["metadata", "generation"]).as_i64().unwrap_or(0);
        tree.set(&["metadata", "generation"], generation + 1);
    }
}

/// Keeps what a write of the status alone may not change. The status of CSINodes waits for its gate.
fn keep_all_but_status(kind: &Kind, tree: &mut Json, old: &Json, settings: &Settings) {
    if kind.rules() == "CSINode" && !settings.is_gate_on("CSIVolumeHealth") {
        tree.set(&["status"], Json::object());
    }
    keep(tree, old, &[&["spec"]]);
    for field in ["labels", "annotations", "finalizers", "ownerReferences"] {
        keep(tree, old, &[&["metadata", field]]);
    }
}

/// Tells whether the server counts the changes of a kind in the release.
///
/// Source: the strategies in pkg/registry (v1.34), and that of HorizontalPodAutoscalers (v1.37).
pub(super) fn counts(kind: &Kind, settings: &Settings) -> bool {
    let is_on = || match kind.rules() {
        "Pod" => settings.profile().is("pod-generation"),
        "HorizontalPodAutoscaler" => settings.is_gate_on("HPAGeneration"),
        _ => true,
    };
    kind.is(Trait::Generation) && is_on()
}

/// Drops new values of fields whose gates are off. Source: `dropDisabledFields` and its like in the strategies (v1.34).
fn drop_of_gates(kind: &Kind, tree: &mut Json, old: &Json, settings: &Settings) {
    let mut drop = |is_on: bool, path: &[&str]| {
        if !is_on && old.at(path).is_null() && !tree.at(path).is_null() {
            tree.remove(path);
        }
    };
    match kind.rules() {
        "Deployment" | "ReplicaSet" => {
            let is_on = settings.is_gate_on("DeploymentReplicaSetTerminatingReplicas");
            drop(is_on, &["status", "terminatingReplicas"]);
        }
        "Job" => {
            drop(settings.is_gate_on("WorkloadWithJob"), &["spec", "scheduling"]);
        }
        "VolumeAttachment" | "CSIDriver" => {
            let is_on = settings.profile().is("csi-drivers-time-recounts");
            drop(is_on, &["spec", "nodeAllocatableUpdatePeriodSeconds"]);
            drop(is_on, &["status", "attachError", "errorCode"]);
            drop(is_on, &["status", "detachError", "errorCode"]);
        }
        _ => {}
    }
    if kind.rules() == "CSIDriver" {
        drop(settings.is_gate_on("VolumeLimitScaling"), &["spec", "preventPodSchedulingIfMissing"]);
    }
}

fn keep(tree: &mut Json, old: &Json, paths: &[&[&str]]) {
    for path in paths {
        put(tree, path, old.at(path));
    }
}

/// Tells whether an object differs in what its generation counts: its specification; of an EndpointSlice, which has
/// none, all but its metadata, and its labels; of a Deployment its annotations too. Source:
/// pkg/registry/discovery/endpointslice/strategy.go and pkg/registry/apps/deployment/strategy.go (v1.34).
fn is_other(kind: &Kind, tree: &Json, old: &Json) -> bool {
    let differ = |path: &[&str]| tree.at(path) != old.at(path);
    match kind.rules() {
        "Deployment" => differ(&["spec"]) || differ(&["metadata", "annotations"]),
        "PodTemplate" => differ(&["template"]),
        "EndpointSlice" => differ(&["endpoints"]) || differ(&["ports"]) || differ(&["metadata", "labels"]),
        _ if kind.is(Trait::Custom) => {
            let is_counted =
                |name: &str| name != "metadata" && (name != "status" || kind.subresource("status").is_none());
            let counted = |tree: &Json| {
                tree.fields()
                    .filter(|(name, _)| is_counted(name))
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect::<Json>()
            };
            counted(tree) != counted(old)
        }
        _ => differ(&["spec"]),
    }
}

/// Drops the fields of CoordinatedLeaderElection, which no release has on by default.
pub(super) fn drop_election(lease: &mut Json) {
    for field in ["strategy", "preferredHolder"] {
        lease.remove(&["spec", field]);
    }
}

/// Leaves the names of the secrets of a ServiceAccount. Source: pkg/registry/core/serviceaccount/strategy.go (v1.34),
/// `cleanSecretReferences`.
pub(super) fn secrets_by_name(tree: &mut Json) {
    if tree.get("secrets").is_empty() {
        return;
    }
    for secret in tree.entry(&["secrets"]).make_array() {
        let name = secret.get("name").clone();
        *secret = Json::object();
        put(secret, &["name"], &name);
    }
}
