//! What the server does to Pods on writes: defaults, and the first status of a new Pod.
//!
//! Mirrors pkg/registry/core/pod/{strategy.go,storage/storage.go}, pkg/apis/core/v1/defaults.go and
//! pkg/apis/core/v1/helper/qos/qos.go (v1.34).

mod alpha_fields;
mod dropped_fields;
mod label_keys;
pub(in crate::components) mod static_pod;

use alloc::string::ToString;
use alloc::vec::Vec;

use jiff::Timestamp;

pub(super) use dropped_fields::drop_disabled;

use super::fields::{put, round_up, set_absent};
use super::validation::{pod_resources, security};
use crate::components::pod_resources::{default_requests, qos_class};
use crate::json;
use crate::objects::{Json, time};
use crate::profile::Settings;

/// Sets the defaults of a Pod.
pub(super) fn default(tree: &mut Json, settings: &Settings) {
    default_template(tree);
    default_addresses(tree);
    let spec = tree.entry(&["spec"]);
    set_absent(spec, &["enableServiceLinks"], true);
    let host_network = spec.get("hostNetwork").as_bool() == Some(true);
    for list in ["containers", "initContainers"] {
        if spec.get(list).is_array() {
            for container in spec.entry(&[list]).make_array() {
                default_requests(container);
                if host_network {
                    default_host_ports(container);
                }
            }
        }
    }
    if !pod_resources::defaults_last(spec, settings) {
        pod_resources::default_requests(spec);
    }
    // Source: pkg/apis/core/v1/conversion.go (v1.34), `Convert_v1_Pod_To_core_Pod`: of Pods, and not of templates.
    if spec.get("terminationGracePeriodSeconds").as_i64().is_some_and(|seconds| seconds < 0) {
        spec.set(&["terminationGracePeriodSeconds"], 1_i64);
    }
}

/// Sets what is a default in templates of Pods too.
///
/// Source: pkg/apis/core/v1/defaults.go (v1.34), `SetDefaults_PodSpec`; the rest are those of `SetDefaults_Pod`.
pub(super) fn default_template(tree: &mut Json) {
    let spec = tree.entry(&["spec"]);
    set_absent(spec, &["restartPolicy"], "Always");
    set_absent(spec, &["terminationGracePeriodSeconds"], 30_i64);
    set_absent(spec, &["dnsPolicy"], "ClusterFirst");
    set_absent(spec, &["schedulerName"], "default-scheduler");
    set_absent(spec, &["securityContext"], Json::object());
    let account = spec.get("serviceAccountName").clone();
    let legacy = spec.get("serviceAccount").clone();
    if !account.is_null() {
        spec.set(&["serviceAccount"], account);
    } else if !legacy.is_null() {
        spec.set(&["serviceAccountName"], legacy);
    }
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        if spec.get(list).is_array() {
            for container in spec.entry(&[list]).make_array() {
                default_container(container);
            }
        }
    }
    if spec.get("volumes").is_array() {
        for volume in spec.entry(&["volumes"]).make_array() {
            default_volume(volume);
        }
    }
}

/// Lets the ports of a container in the machine's network be the machine's.
fn default_host_ports(container: &mut Json) {
    if container.get("ports").is_array() {
        for port in container.entry(&["ports"]).make_array() {
            if port.get("hostPort").is_null() {
                let inner = port.get("containerPort").clone();
                port.set(&["hostPort"], inner);
            }
        }
    }
}

fn default_container(container: &mut Json) {
    set_absent(container, &["terminationMessagePath"], "/dev/termination-log");
    set_absent(container, &["terminationMessagePolicy"], "File");
    let image = container.get("image").as_str().unwrap_or("").to_string();
    if container.get("imagePullPolicy").is_null() && !image.is_empty() {
        container.set(&["imagePullPolicy"], if uses_latest(&image) { "Always" } else { "IfNotPresent" });
    } else if container.get("imagePullPolicy").is_null() {
        container.set(&["imagePullPolicy"], "IfNotPresent");
    }
    if container.get("ports").is_array() {
        for port in container.entry(&["ports"]).make_array() {
            set_absent(port, &["protocol"], "TCP");
        }
    }
    for list in ["limits", "requests"] {
        round_up(container, &["resources", list]);
    }
    for hook in ["postStart", "preStop"] {
        if container.at(&["lifecycle", hook, "httpGet"]).is_object() {
            default_http(container.entry(&["lifecycle", hook, "httpGet"]));
        }
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if container.get(probe).is_object() {
            let probe = container.entry(&[probe]);
            for (field, value) in
                [("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)]
            {
                set_absent(probe, &[field], value);
            }
            if probe.get("httpGet").is_object() {
                default_http(probe.entry(&["httpGet"]));
            }
            if probe.get("grpc").is_object() {
                set_absent(probe, &["grpc", "service"], "");
            }
        }
    }
    if container.get("env").is_array() {
        for variable in container.entry(&["env"]).make_array() {
            if variable.get("valueFrom").is_object() {
                default_references(variable.entry(&["valueFrom"]));
            }
        }
    }
}

fn default_http(get: &mut Json) {
    for (field, value) in [("path", "/"), ("scheme", "HTTP")] {
        set_absent(get, &[field], value);
    }
}

/// Tells whether an image has the tag `latest` or none.
fn uses_latest(image: &str) -> bool {
    let last = image.rsplit('/').next().unwrap_or(image);
    if last.contains('@') {
        return false;
    }
    last.split_once(':').is_none_or(|(_, tag)| tag == "latest")
}

fn default_volume(volume: &mut Json) {
    let sources = volume.fields().filter(|(name, _)| name.as_str() != "name").count();
    if sources == 0 {
        volume.set(&["emptyDir"], Json::object());
    }
    for source in ["secret", "configMap", "projected", "downwardAPI"] {
        if volume.get(source).is_object() && volume.at(&[source, "defaultMode"]).is_null() {
            volume.set(&[source, "defaultMode"], 420_i64);
        }
    }
    default_sources(volume);
    if volume.at(&["ephemeral", "volumeClaimTemplate"]).is_object() {
        set_absent(volume, &["ephemeral", "volumeClaimTemplate", "spec", "volumeMode"], "Filesystem");
    }
    if volume.get("image").is_object() && volume.at(&["image", "pullPolicy"]).is_null() {
        let is_latest = uses_latest(volume.at(&["image", "reference"]).as_str().unwrap_or(""));
        volume.set(&["image", "pullPolicy"], if is_latest { "Always" } else { "IfNotPresent" });
    }
    if volume.at(&["downwardAPI", "items"]).is_array() {
        volume.entry(&["downwardAPI", "items"]).make_array().iter_mut().for_each(default_references);
    }
    if volume.at(&["projected", "sources"]).is_array() {
        for source in volume.entry(&["projected", "sources"]).make_array() {
            if source.get("serviceAccountToken").is_object() {
                set_absent(source, &["serviceAccountToken", "expirationSeconds"], 3600_i64);
            }
            if source.at(&["downwardAPI", "items"]).is_array() {
                source.entry(&["downwardAPI", "items"]).make_array().iter_mut().for_each(default_references);
            }
        }
    }
}

/// Fills in what sources have of their own, of a Pod's volume or of a PersistentVolume.
pub(super) fn default_sources(volume: &mut Json) {
    for (source, field, value) in SOURCE_DEFAULTS {
        if volume.get(source).is_object() {
            set_absent(volume, &[source, field], *value);
        }
    }
    if volume.at(&["ephemeral", "volumeClaimTemplate", "spec"]).is_object() {
        set_absent(volume, &["ephemeral", "volumeClaimTemplate", "spec", "volumeMode"], "Filesystem");
    }
    if volume.get("azureDisk").is_object() {
        set_absent(volume, &["azureDisk", "readOnly"], false);
    }
}

/// What else has a default in the sources of volumes. Source: pkg/apis/core/v1/zz_generated.defaults.go (v1.34).
const SOURCE_DEFAULTS: &[(&str, &str, &str)] = &[
    ("hostPath", "type", ""),
    ("iscsi", "iscsiInterface", "default"),
    ("rbd", "pool", "rbd"),
    ("rbd", "user", "admin"),
    ("rbd", "keyring", "/etc/ceph/keyring"),
    ("azureDisk", "cachingMode", "ReadWrite"),
    ("azureDisk", "fsType", "ext4"),
    ("azureDisk", "kind", "Shared"),
    ("scaleIO", "storageMode", "ThinProvisioned"),
    ("scaleIO", "fsType", "xfs"),
];

/// Fills in a reference to a field or a resource, of a variable or of a file. The divisor is no pointer, so it is shown
/// in any case. Source: pkg/apis/core/v1/defaults.go (v1.34), `SetDefaults_ObjectFieldSelector`.
fn default_references(of: &mut Json) {
    if of.get("fieldRef").is_object() {
        set_absent(of, &["fieldRef", "apiVersion"], "v1");
    }
    if of.get("resourceFieldRef").is_object() {
        set_absent(of, &["resourceFieldRef", "divisor"], "0");
    }
}

/// Sets the resources of a whole Pod that admission left to the server.
fn default_whole(tree: &mut Json, settings: &Settings) {
    if pod_resources::defaults_last(tree.get("spec"), settings) {
        pod_resources::default_amounts(tree.entry(&["spec"]));
    }
}

/// Keeps the resources of a whole Pod that a writer left out: it may not know them.
///
/// Source: pkg/registry/core/pod/strategy.go (v1.37), `PrepareForUpdate`.
pub(super) fn keep_amounts(tree: &mut Json, old: &Json, settings: &Settings) {
    let (new, stored) = (tree.at(&["spec", "resources"]), old.at(&["spec", "resources"]));
    if new.is_null() && !stored.is_null() && pod_resources::defaults_last(old.get("spec"), settings) {
        put(tree, &["spec", "resources"], stored);
    }
}

/// Gives a new Pod its first status.
pub(super) fn prepare_create(tree: &mut Json, settings: &Settings, now: Timestamp) {
    // Source: pkg/api/pod/util.go (v1.34), `dropDisabledPodLevelResources`.
    if !settings.profile().is("pod-level-resources") {
        tree.remove(&["spec", "resources"]);
    }
    // Source: as above, `dropDisabledDynamicResourceAllocationFields`.
    if !settings.profile().is("dynamic-resources-are-served") {
        tree.remove(&["spec", "resourceClaims"]);
        for list in ["containers", "initContainers", "ephemeralContainers"] {
            if tree.at(&["spec", list]).is_array() {
                for container in tree.entry(&["spec", list]).make_array() {
                    container.remove(&["resources", "claims"]);
                }
            }
        }
    }
    if settings.profile().is("app-armor-is-a-field") {
        security::take_app_armor(tree);
    }
    if settings.profile().is("pod-generation") {
        tree.set(&["metadata", "generation"], 1_i64);
    }
    default_whole(tree, settings);
    // A class that was sent stays. Source: pkg/apis/core/v1/helper/qos/qos.go (v1.34), `GetPodQOS`.
    let sent = tree.at(&["status", "qosClass"]).as_text().filter(|class| !class.is_empty()).cloned();
    let class = sent.map_or_else(|| Json::from(qos_class(tree, settings)), Json::from);
    tree.set(&["status"], json!({"phase": "Pending", "qosClass": class}));
    if !tree.at(&["spec", "schedulingGates"]).is_empty() {
        let condition = json!({"type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
            "lastProbeTime": null, "lastTransitionTime": time::to_time(now)});
        tree.entry(&["status", "conditions"]).make_array().push(condition);
    }
    label_keys::apply(tree, settings.profile());
}

/// A write of the status changes neither the specification nor who owns the Pod.
pub(super) fn prepare_status_update(tree: &mut Json, old: &Json, settings: &Settings) {
    put(tree, &["spec"], old.get("spec"));
    for field in ["deletionTimestamp", "ownerReferences"] {
        put(tree, &["metadata", field], old.at(&["metadata", field]));
    }
    if tree.at(&["status", "qosClass"]).is_null() {
        let stored = old.at(&["status", "qosClass"]);
        let class = if stored.is_null() { Json::from(qos_class(tree, settings)) } else { stored.clone() };
        tree.set(&["status", "qosClass"], class);
    }
    let status = tree.entry(&["status"]);
    keep_claims(status, old.get("status"), settings);
    drop_disabled_status(status, old, settings);
    keep_observed_generations(status, old.get("status"));
}

/// Keeps what a writer that does not know claims of devices leaves out. Left out on purpose: an empty list, which takes
/// them away and is not told from none here.
///
/// Source: pkg/registry/core/pod/strategy.go (v1.37), `PrepareForUpdate` of the status.
fn keep_claims(status: &mut Json, old: &Json, settings: &Settings) {
    let fields = ["resourceClaimStatuses", "extendedResourceClaimStatus", "nodeAllocatableResourceClaimStatuses"];
    for field in fields.into_iter().filter(|field| !old.get(field).is_null()) {
        if status.get(field).is_null() && settings.profile().is("status-keeps-claim-statuses") {
            put(status, &[field], old.get(field));
        }
    }
}

/// Drops the fields of a status whose feature is off and that the Pod does not use.
/// Source: pkg/api/pod/util.go (v1.34), `dropDisabledPodStatusFields`.
fn drop_disabled_status(status: &mut Json, old: &Json, settings: &Settings) {
    let spec = old.get("spec");
    let containers = || ["containers", "initContainers"].into_iter().flat_map(|list| spec.get(list).items());
    let claims = !spec.get("resourceClaims").is_empty();
    let groups = spec.at(&["securityContext", "supplementalGroupsPolicy"]);
    let mut of_containers = Vec::new();
    if !settings.is_gate_on("InPlacePodVerticalScaling") && containers().all(|own| own.get("resizePolicy").is_empty()) {
        of_containers.extend(["resources", "allocatedResources"]);
    }
    if !settings.is_gate_on("ResourceHealthStatus") {
        of_containers.push("allocatedResourcesStatus");
    }
    if !settings.is_gate_on("SupplementalGroupsPolicy") && groups.is_null() {
        of_containers.push("user");
    }
    for list in ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] {
        if !status.get(list).is_empty() && !of_containers.is_empty() {
            for own in status.entry(&[list]).make_array() {
                of_containers.iter().for_each(|field| drop(own.remove(&[*field])));
            }
        }
    }
    if !settings.is_gate_on("DynamicResourceAllocation") && !claims {
        status.remove(&["resourceClaimStatuses"]);
    }
    for (field, gate) in
        [("volumeHealth", "CSIVolumeHealth"), ("nodeAllocatableResourceClaimStatuses", "DRANodeAllocatableResources")]
    {
        if !status.get(field).is_null() && old.at(&["status", field]).is_null() && !settings.is_gate_on(gate) {
            status.remove(&[field]);
        }
    }
    let extended = "extendedResourceClaimStatus";
    if !settings.is_gate_on("DRAExtendedResource") && old.at(&["status", extended]).is_null() {
        status.remove(&[extended]);
    }
}

/// Gives a status and its conditions the generations that they were made for, where a writer does not say them. Of
/// several conditions of one type, each gets its own. Source: pkg/registry/core/pod/strategy.go (v1.34),
/// `preserveOldObservedGeneration`.
fn keep_observed_generations(status: &mut Json, old: &Json) {
    const FIELD: &str = "observedGeneration";
    let keep = |new: &mut Json, old: &Json| {
        let number = |of: &Json| of.get(FIELD).as_i64().unwrap_or(0);
        if number(new) == 0 && number(old) != 0 {
            new.set(&[FIELD], number(old));
        }
    };
    keep(status, old);
    if status.get("conditions").items().is_empty() {
        return;
    }
    let mut before: Vec<&Json> = old.get("conditions").items().iter().collect();
    for condition in status.entry(&["conditions"]).make_array() {
        if let Some(at) = before.iter().position(|old| old.get("type") == condition.get("type")) {
            keep(condition, before.remove(at));
        }
    }
}

/// A write of the containers that debug, or of resources, changes nothing else. Source:
/// pkg/registry/core/pod/strategy.go (v1.34), `dropNonEphemeralContainerUpdates` and `dropNonResizeUpdates`.
pub(super) fn prepare_containers_update(subresource: &str, tree: &mut Json, old: &Json) {
    let sent = tree.get("spec").clone();
    let lists = ["containers", "initContainers"];
    let count = |spec: &Json, list: &str| spec.get(list).items().len();
    if subresource == "resize" && lists.iter().any(|list| count(&sent, list) != count(old.get("spec"), list)) {
        // Left as it is for validation to refuse.
        return;
    }
    for part in ["spec", "status"] {
        put(tree, &[part], old.get(part));
    }
    for field in ["labels", "annotations", "finalizers", "ownerReferences"] {
        put(tree, &["metadata", field], old.at(&["metadata", field]));
    }
    if subresource == "ephemeralcontainers" {
        put(tree, &["spec", "ephemeralContainers"], sent.get("ephemeralContainers"));
        return;
    }
    for list in lists {
        let kept = tree.at(&["spec", list]).clone();
        let (new, kept) = (sent.get(list).items(), kept.items());
        if new.is_empty() {
            continue;
        }
        let is_renamed = new.iter().zip(kept).any(|(new, kept)| new.get("name") != kept.get("name"));
        let resized = new.iter().zip(kept).map(|(new, kept)| {
            let mut kept = kept.clone();
            for field in ["resources", "resizePolicy"] {
                put(&mut kept, &[field], new.get(field));
            }
            kept
        });
        let list_now = if is_renamed { sent.get(list).clone() } else { resized.collect::<Json>() };
        put(tree, &["spec", list], &list_now);
    }
}

/// Makes `podIP` the first of `podIPs`. If both are sent and differ, the one counts. Source:
/// pkg/apis/core/v1/conversion.go (v1.34), `Convert_v1_PodStatus_To_core_PodStatus` and back.
fn default_addresses(tree: &mut Json) {
    let one = tree.at(&["status", "podIP"]).as_text().cloned().unwrap_or_default();
    let first = tree.at(&["status", "podIPs"]).items().first().map(|item| item.get("ip").clone());
    match first {
        Some(first) if one.is_empty() => put(tree, &["status", "podIP"], &first),
        Some(first) if first.as_str() == Some(one.as_str()) => {}
        None if one.is_empty() => {}
        _ => tree.set(&["status", "podIPs"], json!([{"ip": one}])),
    }
}

#[cfg(test)]
mod tests {
    use super::prepare_status_update;
    use crate::json;
    use crate::profile::Settings;

    #[test]
    fn a_status_without_generations_keeps_those_that_it_had() {
        let condition = |kind: &str, generation: i64| json!({"type": kind, "observedGeneration": generation});
        let old = json!({"spec": {}, "status": {"observedGeneration": 2, "conditions":
            [condition("Ready", 1), condition("Twice", 3), condition("Twice", 4), {"type": "Old"}]}});
        let mut new = json!({"spec": {}, "status": {"conditions": [condition("Ready", 5), {"type": "Twice"},
            {"type": "Old"}, {"type": "Twice"}, {"type": "Twice"}, {"type": "New"}]}});
        prepare_status_update(&mut new, &old, &Settings::default());
        assert_eq!(new.at(&["status", "observedGeneration"]), &json!(2));
        let expected = json!([condition("Ready", 5), condition("Twice", 3), {"type": "Old"}, condition("Twice", 4),
            {"type": "Twice"}, {"type": "New"}]);
        assert_eq!(new.at(&["status", "conditions"]), &expected);
    }
}
