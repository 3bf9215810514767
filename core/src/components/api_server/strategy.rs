//! What differs between kinds on writes: defaults, fields that are reset, validation, objects that exist from the
//! start.
//!
//! Mirrors the strategies in pkg/registry and the defaults in pkg/apis (v1.34). Pure: trees and settings in, trees and
//! errors out.

mod group_kinds;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::call::RequestInfo;
use super::validation::others::{CLUSTER_CRITICAL, NODE_CRITICAL};
use super::validation::{
    FieldError, autoscaler, declared, endpoint_slice, event, ip, job, job_status, kept, lease, meta, networking, node,
    others, persistent_volume, pod, pod_containers, pod_status, pod_update, quota, roles, service, small_kinds,
    storage, storage_status, storage_update, with_empty, worded, worded_beside, workload, workload_status,
};
use super::{
    certificates, changes, core_defaults, custom, endpoint_slices, jobs, nodes, pods, services, status, storage_kinds,
    workloads,
};
use crate::json;
use crate::network::kinds::{KINDS, Kind, Trait};
use crate::network::{Answer, NAMESPACES, Resource};
use crate::objects::time::to_time;
use crate::objects::{Json, NULL};
use crate::profile::Settings;

const PRIORITY_CLASSES: Resource = Resource::of("scheduling.k8s.io", "v1", "priorityclasses");

/// Returns what every cluster has from the start, in the order in which it is made.
///
/// Source: pkg/controlplane/controller/systemnamespaces (v1.34), pkg/registry/scheduling/rest/storage_scheduling.go.
pub(super) fn initial_objects() -> Vec<(Resource, Json)> {
    let namespace = |name: &str| {
        let mut tree = json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name},
            "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}});
        tree.set(&["metadata", "labels", "kubernetes.io/metadata.name"], name);
        (NAMESPACES, tree)
    };
    let class = |(name, value): (&str, i64), description: &str| {
        let tree = json!({"kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1",
            "metadata": {"name": name, "generation": 1}, "value": value, "description": description,
            "preemptionPolicy": "PreemptLowerPriority"});
        (PRIORITY_CLASSES, tree)
    };
    Vec::from([
        namespace("kube-system"),
        namespace("kube-public"),
        namespace("kube-node-lease"),
        namespace("default"),
        class(NODE_CRITICAL, "Used for system critical pods that must not be moved from their current node."),
        class(
            CLUSTER_CRITICAL,
            "Used for system critical pods that must run in the cluster, but can be moved to another node if \
                necessary.",
        ),
    ])
}

/// Sets the API's defaults.
pub(super) fn default(kind: &Kind, tree: &mut Json, settings: &Settings) {
    match kind.rules() {
        "Node" => nodes::default(tree),
        "Pod" => pods::default(tree, settings),
        "Namespace" => default_namespace(tree),
        "EndpointSlice" => endpoint_slices::default(tree),
        "Endpoints" => endpoint_slices::default_endpoints(tree),
        "Job" | "CronJob" => jobs::default(kind.name, tree),
        "RoleBinding" | "ClusterRoleBinding" => roles::default_binding(tree),
        "Service" => services::default(tree),
        "CustomResourceDefinition" => custom::default(tree),
        "DaemonSet" | "Deployment" | "ReplicaSet" | "StatefulSet" | "ReplicationController" => {
            workloads::default(kind.name, tree);
        }
        "PersistentVolume" | "PersistentVolumeClaim" | "StorageClass" | "CSIDriver" => {
            storage_kinds::default(kind.name, tree);
            storage_kinds::default_of_gate(kind.name, tree, settings);
        }
        "PodTemplate" => workloads::default_template(tree),
        "LimitRange" => core_defaults::default_limit_range(tree),
        "Secret" => core_defaults::default_secret(tree),
        "PriorityClass" if tree.get("preemptionPolicy").is_null() => {
            tree.set(&["preemptionPolicy"], "PreemptLowerPriority");
        }
        name => group_kinds::default(name, tree),
    }
}

/// Sets the defaults that follow from what the server has set itself, and tells whether the object is stored without
/// some of its defaults: a claim without its phase, and a Job without the labels of its template.
pub(super) fn default_stored(kind: &Kind, tree: &mut Json) -> bool {
    let had_labels = !tree.at(&["metadata", "labels"]).is_empty();
    if kind.rules() == "Job" {
        jobs::default_labels(tree);
    }
    kind.rules() == "PersistentVolumeClaim" || kind.rules() == "Job" && !had_labels
}

fn default_namespace(tree: &mut Json) {
    let name = tree.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
    if !name.is_empty() {
        tree.set(&["metadata", "labels", "kubernetes.io/metadata.name"], name);
    }
    if tree.at(&["status", "phase"]).is_null() {
        tree.set(&["status", "phase"], "Active");
    }
}

/// Resets and sets the fields that a kind resets and sets on creation.
pub(super) fn prepare_create(kind: &Kind, tree: &mut Json, settings: &Settings, now: Timestamp) {
    pods::drop_disabled(kind, tree, None, settings);
    match kind.rules() {
        "Pod" => pods::prepare_create(tree, settings, now),
        "Node" => {
            nodes::drop_config(tree);
            nodes::drop_disabled(tree, None, settings);
        }
        "CustomResourceDefinition" => custom::prepare(tree),
        _ if kind.is(Trait::Custom) => tree.set(&["metadata", "generation"], 1_i64),
        "PersistentVolume" | "PersistentVolumeClaim" | "CSIDriver" => {
            storage_kinds::prepare_create(kind.name, tree, settings, now);
        }
        "ServiceAccount" => changes::secrets_by_name(tree),
        "Lease" => changes::drop_election(tree),
        "Namespace" => {
            tree.set(&["status"], json!({"phase": "Active"}));
            let has = tree.at(&["spec", "finalizers"]).items().iter().any(|item| item.as_str() == Some("kubernetes"));
            if !has {
                tree.entry(&["spec", "finalizers"]).make_array().push(Json::from("kubernetes"));
            }
        }
        _ if changes::counts(kind, settings) => {
            tree.set(&["metadata", "generation"], 1_i64);
            match kind.rules() {
                // Source: pkg/apis/resource/v1/defaults.go (v1.37), `SetDefaults_DeviceTaint`.
                "DeviceTaintRule" if tree.at(&["spec", "taint", "timeAdded"]).is_null() => {
                    tree.set(&["spec", "taint", "timeAdded"], to_time(now));
                }
                "DaemonSet" => workloads::count_templates(tree, None),
                "EndpointSlice" => endpoint_slices::drop_fields(tree, &NULL, settings),
                "Job" => jobs::prepare_create(tree, settings),
                "StatefulSet" => workloads::prepare_roll(tree, None, settings),
                _ => {}
            }
        }
        _ => {}
    }
}

/// Tells whether a new object begins with an empty status, whatever was sent.
pub(super) fn resets_status(kind: &Kind) -> bool {
    let own = ["CustomResourceDefinition", "Namespace", "Node", "PersistentVolume", "PersistentVolumeClaim", "Pod"];
    kind.subresource("status").is_some() && !own.contains(&kind.rules())
}

/// Tells whether the release knows a kind under another version too. Source: the `install` packages in pkg/apis
/// (v1.34).
pub(super) fn has_version(kind: &Kind, found: &str, version: &str) -> bool {
    let others: &[&str] = match kind.rules() {
        "Lease" => &["coordination.k8s.io/v1beta1", "coordination.k8s.io/v1alpha2"],
        "PodDisruptionBudget" => &["policy/v1beta1"],
        "DaemonSet" | "ReplicaSet" => &["apps/v1beta2", "extensions/v1beta1"],
        "Deployment" => &["apps/v1beta1", "apps/v1beta2", "extensions/v1beta1"],
        "StatefulSet" => &["apps/v1beta1", "apps/v1beta2"],
        "ControllerRevision" => &["apps/v1beta1", "apps/v1beta2"],
        "CronJob" => &["batch/v1beta1"],
        "EndpointSlice" => &["discovery.k8s.io/v1beta1"],
        "PriorityClass" => &["scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha1"],
        "CSINode" | "CSIDriver" | "StorageClass" => &["storage.k8s.io/v1beta1"],
        "VolumeAttachment" => &["storage.k8s.io/v1beta1", "storage.k8s.io/v1alpha1"],
        "CertificateSigningRequest" => &["certificates.k8s.io/v1beta1"],
        "Event" => &["v1", "events.k8s.io/v1", "events.k8s.io/v1beta1"],
        _ => &[],
    };
    found == kind.name && others.contains(&version)
}

/// Checks a new object.
pub(super) fn validate_create(kind: &Kind, tree: &Json, settings: &Settings) -> Vec<FieldError> {
    worded(check_new(kind, tree, settings), settings)
}

fn check_new(kind: &Kind, tree: &Json, settings: &Settings) -> Vec<FieldError> {
    let wording = meta::wording(settings);
    match kind.rules() {
        "Node" => {
            let mut errors = node::validate(kind, tree, &NULL, (wording, ip::Reading::of(settings)));
            node::repeated_cidrs(tree, settings, &mut errors);
            errors
        }
        "Pod" => pod::validate(kind, tree, wording, pod::Rules::of(settings)),
        // Their strategies do not check the metadata; that is done after them, as for any object.
        "PodDisruptionBudget" | "Event" => {
            let mut errors = Vec::new();
            match (kind.rules(), kind.resource.group.as_str()) {
                ("Event", "") => event::validate(tree, wording, &mut errors),
                ("Event", _) => event::validate_new(kind, tree, wording, &mut errors),
                _ => others::budget(tree, wording, &mut errors),
            }
            if errors.is_empty() { meta::validate(kind, tree, wording) } else { errors }
        }
        _ => {
            let mut errors = meta::validate(kind, tree, wording);
            match (kind.rules(), kind.resource.group.as_str()) {
                ("Lease", _) => lease::validate_spec(tree, &mut errors),
                ("Namespace", _) => meta::namespace(tree, wording, &mut errors),
                ("PriorityClass", _) => others::priority_class(tree, &mut errors),
                ("CSINode", _) => others::csi_node(tree, wording, &mut errors),
                ("VolumeAttachment", _) => persistent_volume::volume_attachment(tree, settings, &mut errors),
                ("PersistentVolume", _) => persistent_volume::volume(tree, wording, settings, &mut errors),
                ("PersistentVolumeClaim", _) => storage::claim(tree, wording, &mut errors),
                ("StorageClass", _) => storage::class(tree, wording, &mut errors),
                ("CSIDriver", _) => storage::driver(tree, &mut errors),
                ("CertificateSigningRequest", _) => certificates::validate(tree, &mut errors),
                ("EndpointSlice", _) => {
                    endpoint_slice::validate(tree, &NULL, wording, ip::Reading::of(settings), &mut errors);
                }
                ("Job", _) => job::job(tree, wording, pod::Rules::of(settings), &mut errors),
                ("CronJob", _) => job::cron_job(tree, &NULL, wording, pod::Rules::of(settings), &mut errors),
                ("Secret", _) => others::secret(tree, &mut errors),
                ("ConfigMap", _) => others::config_map(tree, &mut errors),
                ("LimitRange", _) => quota::limit_range(tree, wording, &mut errors),
                ("ResourceQuota", _) => quota::quota(tree, wording, &mut errors),
                ("Role" | "ClusterRole", _) => roles::role(kind.name, tree, wording, &mut errors),
                ("RoleBinding" | "ClusterRoleBinding", _) => {
                    roles::binding(kind.name, tree, &NULL, wording, &mut errors);
                }
                ("CustomResourceDefinition", _) => custom::check(tree, &mut errors),
                ("Service", _) => service::create(tree, settings, &mut errors),
                ("DaemonSet" | "Deployment" | "ReplicaSet" | "StatefulSet" | "ReplicationController", _) => {
                    workload::validate(kind.name, (tree, true), wording, pod::Rules::of(settings), &mut errors);
                }
                (name, _) => small_kinds::create(name, tree, settings, &mut errors),
            }
            errors
        }
    }
}

/// Checks a change, beside what it was read from. The generic layer checks the metadata, and most strategies again.
pub(super) fn validate_update(
    kind: &Kind,
    subresource: &str,
    (tree, sent): (&Json, &Json),
    old: &Json,
    settings: &Settings,
) -> Vec<FieldError> {
    // Its parameters are compared by a rule that tells an empty map from none.
    let whole = (kind.rules() == "StorageClass").then(|| with_empty(tree, sent));
    let tree = whole.as_ref().unwrap_or(tree);
    let mut errors = check_change(kind, subresource, tree, old, settings);
    declared::leave_unchanged(&mut errors, tree, old);
    worded_beside(sent, errors, settings)
}

fn check_change(kind: &Kind, subresource: &str, tree: &Json, old: &Json, settings: &Settings) -> Vec<FieldError> {
    let wording = meta::wording(settings);
    let mut errors = meta::validate_common(tree, old, wording);
    match (kind.rules(), subresource) {
        ("Node", "status") => errors.extend(node::validate_update(tree, old, wording)),
        ("Node", _) => {
            errors.extend(node::validate(kind, tree, old, (wording, ip::Reading::of(settings))));
            node::repeated_cidrs(tree, settings, &mut errors);
            errors.extend(node::validate_update(tree, old, wording));
        }
        ("Lease", _) => {
            errors.extend(meta::validate_update(tree, old, wording));
            lease::validate_spec(tree, &mut errors);
        }
        ("Pod", "status") => {
            errors.extend(pod_status::validate(tree, old, wording, settings));
        }
        ("Pod", "ephemeralcontainers") => {
            errors.extend(pod_containers::ephemeral(kind, (tree, old), wording, pod::Rules::of(settings)));
        }
        ("Pod", "resize") => {
            errors.extend(pod_containers::resize(kind, (tree, old), wording, settings));
        }
        ("Pod", _) => {
            errors.extend(pod_update::validate(tree, old, wording, pod::Rules::of(settings)));
            errors.extend(meta::validate_change(kind, tree, old, wording));
        }
        ("Event", _) if kind.resource.group.is_empty() => event::validate(tree, wording, &mut errors),
        ("Event", _) => event::validate_new_update(tree, old, wording, &mut errors),
        _ => {
            errors.extend(meta::validate_by_strategy(kind, subresource, (tree, old), settings));
            check_status(kind, subresource, (tree, old), settings, &mut errors);
        }
    }
    errors
}

/// Checks what a change through a subresource may change, or else the object.
fn check_status(
    kind: &Kind,
    subresource: &str,
    (tree, old): (&Json, &Json),
    settings: &Settings,
    errors: &mut Vec<FieldError>,
) {
    let wording = meta::wording(settings);
    match (kind.rules(), subresource) {
        ("Namespace", "finalize") => kept::namespace_finalizers(tree, wording, errors),
        ("ResourceQuota", "status") => quota::status(tree, wording, errors),
        ("Job", "status") => job_status::validate(tree, old, settings, errors),
        ("Service", "status") => {
            kept::service_status(tree, old, wording, ip::Reading::of(settings), errors);
        }
        ("DaemonSet" | "Deployment" | "ReplicaSet" | "StatefulSet" | "ReplicationController", "status") => {
            workload_status::validate(kind.name, tree, old, errors);
        }
        ("Namespace", "status") => kept::namespace_status(tree, old, errors),
        ("PodDisruptionBudget", "status") => others::budget_status(tree, wording, errors),
        _ => check_workload(kind, subresource, (tree, old), settings, errors),
    }
}

/// Checks what runs Pods or stands before them, or else the rest.
fn check_workload(
    kind: &Kind,
    subresource: &str,
    (tree, old): (&Json, &Json),
    settings: &Settings,
    errors: &mut Vec<FieldError>,
) {
    let wording = meta::wording(settings);
    match (kind.rules(), subresource) {
        ("Namespace", "") => meta::namespace(tree, wording, errors),
        ("PodDisruptionBudget", _) => others::budget(tree, wording, errors),
        ("EndpointSlice", _) => {
            endpoint_slice::validate(tree, old, wording, ip::Reading::of(settings), errors);
        }
        ("Job", "") => {
            let is_twice = meta::checks(kind, settings) > 1;
            job::job_update((tree, old), (wording, is_twice), pod::Rules::of(settings), errors);
        }
        ("CronJob", "") => job::cron_job(tree, old, wording, pod::Rules::of(settings), errors),
        ("Service", "") => service::update(tree, old, settings, errors),
        ("Role" | "ClusterRole", _) => {
            (0..meta::checks(kind, settings)).for_each(|_| roles::role(kind.name, tree, wording, errors));
        }
        ("RoleBinding" | "ClusterRoleBinding", _) => {
            if meta::checks(kind, settings) > 1 {
                roles::binding(kind.name, tree, &NULL, wording, errors);
            }
            roles::binding(kind.name, tree, old, wording, errors);
        }
        ("DaemonSet" | "Deployment" | "ReplicaSet" | "StatefulSet" | "ReplicationController", "") => {
            if !tree.get("spec").is_same_allocation(old.get("spec")) {
                workload::validate_change(kind.name, (tree, old), wording, pod::Rules::of(settings), errors);
            }
            if kind.rules() == "StatefulSet" && settings.profile().is("stateful-set-fields-are-immutable") {
                workload::fixed_fields(tree, old, errors);
            } else if kind.rules() == "StatefulSet" {
                let limit = settings.profile().is("stateful-set-history-limit-may-change");
                workload::only_changeable(tree, old, limit, errors);
            }
        }
        _ => check_other(kind, subresource, (tree, old), settings, errors),
    }
}

/// Checks kinds that neither run Pods nor stand before them.
fn check_other(
    kind: &Kind,
    subresource: &str,
    (tree, old): (&Json, &Json),
    settings: &Settings,
    errors: &mut Vec<FieldError>,
) {
    let wording = meta::wording(settings);
    match (kind.rules(), subresource) {
        ("ConfigMap", _) => {
            kept::sealed(tree, old, &["data", "binaryData"], errors);
            others::config_map(tree, errors);
        }
        ("Secret", _) => {
            kept::same(tree, old, "type", errors);
            kept::sealed(tree, old, &["data"], errors);
            others::secret(tree, errors);
        }
        ("PriorityClass", _) => kept::priority_class(tree, old, errors),
        ("LimitRange", _) => quota::limit_range(tree, wording, errors),
        ("ResourceQuota", _) => {
            quota::quota(tree, wording, errors);
            quota::same_scopes(tree, old, errors);
        }
        ("CSINode", _) => {
            (0..meta::checks(kind, settings)).for_each(|_| others::csi_node(tree, wording, errors));
            kept::csi_node(tree, old, settings.profile().is("csi-drivers-time-recounts"), errors);
        }
        ("CustomResourceDefinition", "") => custom::check_change(tree, old, errors),
        ("CertificateSigningRequest", _) => {
            certificates::validate_update(subresource, (tree, old), settings, errors);
        }
        // Their strategies check the object, and then its change, which is the object again.
        ("PersistentVolume", "") => {
            (0..2).for_each(|_| persistent_volume::volume(tree, wording, settings, errors));
            storage_update::volume(tree, old, settings, errors);
        }
        ("PersistentVolumeClaim", "") => {
            (0..meta::checks(kind, settings)).for_each(|_| storage::claim(tree, wording, errors));
            storage_update::claim(tree, old, settings, errors);
        }
        ("PersistentVolumeClaim", "status") => storage_status::claim(tree, settings, errors),
        ("StorageClass", _) => {
            storage::class(tree, wording, errors);
            storage::class_update(tree, old, settings, errors);
        }
        ("CSIDriver", _) => {
            storage::driver(tree, errors);
            kept::driver(tree, old, errors);
        }
        ("VolumeAttachment", _) => {
            (0..meta::checks(kind, settings)).for_each(|_| persistent_volume::attachment(tree, settings, errors));
            kept::attachment(tree, old, errors);
        }
        ("Ingress", "status") => networking::ingress_status(tree, settings, errors),
        ("HorizontalPodAutoscaler", "status") => autoscaler::status(tree, errors),
        (name, _) => small_kinds::update(name, (tree, old), settings, errors),
    }
}

/// Tells whether a terminating object can be removed: no grace, no finalizers.
pub(super) fn is_finished(tree: &Json) -> bool {
    let metadata = tree.get("metadata");
    !metadata.get("deletionTimestamp").is_null()
        && metadata.get("finalizers").is_empty()
        && metadata.get("deletionGracePeriodSeconds").as_i64().unwrap_or(0) == 0
        && (tree.get("kind").as_str() != Some("Namespace") || tree.at(&["spec", "finalizers"]).is_empty())
}

/// Tells whether an object waits for finalizers in its specification, as a Namespace does.
pub(super) fn has_spec_finalizers(kind: &Kind, tree: &Json) -> bool {
    // The first deletion of a Namespace only begins its end, even if nothing is left to wait for.
    let live = tree.at(&["metadata", "deletionTimestamp"]).is_null();
    kind.rules() == "Namespace" && (live || !tree.at(&["spec", "finalizers"]).is_empty())
}

/// Sets what a kind sets when its deletion begins.
pub(super) fn begin_termination(kind: &Kind, tree: &mut Json) {
    if kind.rules() == "Namespace" {
        tree.set(&["status", "phase"], "Terminating");
        tree.remove(&["metadata", "deletionGracePeriodSeconds"]);
    }
}

/// Refuses to delete what the cluster cannot do without. Source: k8s.io/apiserver
/// pkg/admission/plugin/namespace/lifecycle/admission.go (v1.34), `immortalNamespaces`.
pub(super) fn may_delete(kind: &Kind, name: &str) -> Result<(), Answer> {
    if kind.rules() == "Namespace" && ["default", "kube-system", "kube-public"].contains(&name) {
        return Err(status::forbidden(&kind.resource, name, "this namespace may not be deleted"));
    }
    Ok(())
}

/// Returns the key in etcd. Source: pkg/kubeapiserver/default_storage_factory_builder.go (v1.34),
/// `SpecialDefaultResourcePrefixes`.
pub(super) fn storage_key(kind: &Kind, info: &RequestInfo) -> String {
    let prefix = match kind.resource.plural.as_str() {
        "nodes" => "minions",
        "endpoints" => "services/endpoints",
        "services" => "services/specs",
        plural => plural,
    };
    if info.namespace.is_empty() {
        format!("{prefix}/{}", info.name)
    } else {
        format!("{prefix}/{}/{}", info.namespace, info.name)
    }
}

/// Says why an object of another kind is not taken.
pub(super) fn wrong_kind(kind: &Kind, found: &str, version: &str, scheme: &str) -> String {
    let known = KINDS
        .iter()
        .find(|other| other.resource.api_version() == version && other.name == found.trim_end_matches("List"));
    if known.is_some() || found == "List" && version == "v1" {
        let package = |version: &str| String::from(version.rsplit('/').next().unwrap_or(version));
        let internal = match kind.resource.group.as_str() {
            "" => "core",
            group => group.split('.').next().unwrap_or(group),
        };
        return format!("converting ({}.{found}) to ({internal}.{}): unknown conversion", package(version), kind.name);
    }
    format!("no kind {found:?} is registered for version {version:?} in scheme {scheme:?}")
}
