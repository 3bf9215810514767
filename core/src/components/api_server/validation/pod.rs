//! Validation of Pods.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34), `ValidatePodCreate`, as far as a node's life touches it.
//! The sources of volumes are checked in `volumes`.

use alloc::format;
use alloc::vec::Vec;

use super::pod_rules::Comparisons;
pub(in super::super) use super::pod_rules::Rules;
use super::{
    FieldError, claim_volumes, container, invalid, meta, one_of, placement, pod_details, pod_resources, security, text,
    volumes, windows,
};
use crate::network::kinds::Kind;
use crate::objects::Json;
use crate::objects::names::{self, Wording, why_no_number};

/// Source: pkg/apis/core/annotation_key_constants.go (v1.34), `MirrorPodAnnotationKey`.
pub(super) const MIRROR: &str = "kubernetes.io/config.mirror";
/// Source: pkg/apis/core/annotation_key_constants.go (v1.34), `PodDeletionCost`.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
/// The sources of volumes in the order in which they are counted: all but the first are too many.
/// Source: validation.go (v1.34), `validateVolumeSource`.
const VOLUME_SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

/// Checks a new Pod.
pub(in super::super) fn validate(kind: &Kind, tree: &Json, wording: Wording, rules: Rules) -> Vec<FieldError> {
    let mut errors = meta::validate(kind, tree, wording);
    annotations(tree, "metadata.annotations", &mut errors);
    let spec = tree.get("spec");
    claim_volumes::of_named_pod(tree, wording, &mut errors);
    validate_spec(spec, wording, rules, &mut errors);
    tokens(spec, &mut errors);
    for list in ["containers", "initContainers"] {
        for (at, container) in spec.get(list).items().iter().enumerate() {
            container::trimmed_image(container, &format!("spec.{list}[{at}]"), &mut errors);
        }
    }
    if !spec.get("ephemeralContainers").is_empty() {
        errors.push(FieldError::forbidden("spec.ephemeralContainers", "cannot be set on create"));
    }
    if !spec.get("schedulingGates").is_empty() && !text(spec, "nodeName").is_empty() {
        errors
            .push(FieldError::forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
    }
    security::profiles_match(tree, rules.app_armor_fields, &mut errors);
    errors
}

/// Checks that a Pod without a service account has no token of one. Source: validation.go (v1.34),
/// `validatePodMetadataAndSpec`.
pub(super) fn tokens(spec: &Json, errors: &mut Vec<FieldError>) {
    if !text(spec, "serviceAccountName").is_empty() {
        return;
    }
    for (at, volume) in spec.get("volumes").items().iter().enumerate() {
        let sources = volume.at(&["projected", "sources"]).items();
        for (place, _) in sources.iter().enumerate().filter(|(_, own)| !own.get("serviceAccountToken").is_null()) {
            let path = format!("spec.volumes[{at}].projected.sources[{place}].serviceAccountToken");
            errors.push(FieldError::forbidden(path, "must not be specified when serviceAccountName is not set"));
        }
    }
}

/// Checks the template of a workload: labels, annotations and specification of its Pods.
///
/// Source: validation.go (v1.34), `ValidatePodTemplateSpec`.
pub(in super::super) fn validate_template(
    template: &Json,
    wording: Wording,
    rules: Rules,
    errors: &mut Vec<FieldError>,
) {
    validate_template_metadata(template, wording, errors);
    let mut own = Vec::new();
    validate_spec(template.get("spec"), wording, rules, &mut own);
    security::profiles_match(template, false, &mut own);
    errors.extend(own.into_iter().map(|mut error| {
        error.field = format!("spec.template.{}", error.field);
        error
    }));
}

/// Checks the labels and annotations of a template.
pub(super) fn validate_template_metadata(template: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let metadata = template.get("metadata");
    meta::validate_labels(metadata.get("labels"), "spec.template.labels", wording, errors);
    meta::validate_annotations(metadata.get("annotations"), "spec.template.annotations", wording, errors);
    annotations(template, "spec.template.annotations", errors);
}

/// Checks the annotations that mean something for a Pod. Source: validation.go (v1.34),
/// `ValidatePodSpecificAnnotations`.
pub(super) fn annotations(tree: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let of = |name: &str| tree.at(&["metadata", "annotations", name]).as_str();
    if let Some(value) = of(MIRROR).filter(|_| text(tree.get("spec"), "nodeName").is_empty()) {
        let why = "must set spec.nodeName if mirror pod annotation is set";
        errors.push(FieldError::invalid_text(format!("{path}[{MIRROR}]"), value, why));
    }
    let is_cost = |text: &str| {
        let first = text.as_bytes();
        let is_canonical = match first {
            [b'0'] => true,
            [b'-', digit, ..] | [digit, ..] => (b'1'..=b'9').contains(digit),
            [] => false,
        };
        is_canonical && text.parse::<i32>().is_ok()
    };
    if let Some(cost) = of(DELETION_COST).filter(|cost| !is_cost(cost)) {
        errors.push(FieldError::invalid_text(format!("{path}[{DELETION_COST}]"), cost, "must be a 32bit integer"));
    }
    security::annotations(tree, path, errors);
}

/// Checks the specification of a Pod.
pub(super) fn validate_spec(spec: &Json, wording: Wording, rules: Rules, errors: &mut Vec<FieldError>) {
    let volumes = checked_volumes(spec, wording, errors);
    pod_details::claims(spec, wording, errors);
    container::validate(spec, &volumes, (wording, rules), errors);
    pod_resources::validate(spec, wording, errors);
    host_ports(spec, errors);
    one_of("spec.restartPolicy", text(spec, "restartPolicy"), &["Always", "OnFailure", "Never"], errors);
    let dns = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    one_of("spec.dnsPolicy", text(spec, "dnsPolicy"), &dns, errors);
    meta::validate_labels(spec.get("nodeSelector"), "spec.nodeSelector", wording, errors);
    pod_details::security(spec, wording, errors);
    placement::affinity(spec, wording, rules.node_values, errors);
    pod_details::dns(spec, wording, (rules.dns_underscores, rules.addresses), errors);
    for (at, gate) in spec.get("readinessGates").items().iter().enumerate() {
        let name = text(gate, "conditionType");
        invalid(names::qualified(name, wording), format!("spec.readinessGates[{at}].conditionType"), name, errors);
    }
    gates(spec, wording, errors);
    placement::spreading(spec, wording, rules.merges_spread_keys, errors);
    windows::host_processes(spec, errors);
    security::host_users(spec, errors);
    host_name(spec, wording, errors);
    let node = text(spec, "nodeName");
    if !node.is_empty() {
        invalid(names::subdomain(node, wording), "spec.nodeName", node, errors);
    }
    if let Some(seconds) = spec.get("activeDeadlineSeconds").as_i64()
        && !(1..=i64::from(i32::MAX)).contains(&seconds)
    {
        let detail = "must be between 1 and 2147483647, inclusive";
        errors.push(FieldError::invalid("spec.activeDeadlineSeconds", &Json::Int(seconds), detail));
    }
    let account = text(spec, "serviceAccountName");
    if !account.is_empty() {
        invalid(names::subdomain(account, wording), "spec.serviceAccountName", account, errors);
    }
    for field in ["hostname", "subdomain"] {
        let value = text(spec, field);
        if !value.is_empty() {
            invalid(names::label(value, wording), format!("spec.{field}"), value, errors);
        }
    }
    tolerations(spec, wording, rules, errors);
    pod_details::host_aliases(spec, wording, rules.addresses, errors);
    pod_details::names_and_policies(spec, wording, errors);
    super::variables::files(spec, errors);
}

/// Most bytes of a name that takes the place of a Pod's own. Source: validation.go (v1.34), `validatePodHostName`.
const HOST_NAME_MAX: usize = 64;

/// Checks the name that takes the place of a Pod's own. Source: as above.
fn host_name(spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    const PATH: &str = "spec.hostnameOverride";
    let Some(name) = spec.get("hostnameOverride").as_str() else { return };
    for other in ["setHostnameAsFQDN", "hostNetwork"] {
        if spec.get(other).as_bool() == Some(true) {
            errors.push(FieldError::forbidden(PATH, format!("may not be specified when {other} is true")));
        }
    }
    if name.len() > HOST_NAME_MAX {
        errors.push(FieldError::too_long(PATH, format!("may not be more than {HOST_NAME_MAX} bytes")));
    }
    invalid(names::subdomain(name, wording), PATH, name, errors);
}

/// Checks that the ports of a Pod in the machine's network are the machine's. Source: validation.go (v1.34),
/// `validatePodHostNetworkDeps`; that a port without one has it is a default of Pods, so a template may lack it.
fn host_ports(spec: &Json, errors: &mut Vec<FieldError>) {
    if spec.get("hostNetwork").as_bool() != Some(true) {
        return;
    }
    for (number, container) in spec.get("containers").items().iter().enumerate() {
        for (at, port) in container.get("ports").items().iter().enumerate() {
            let (own, inner) = (port.get("hostPort"), port.get("containerPort"));
            if own.as_i64().is_some_and(|own| own != 0) && own != inner {
                let path = format!("spec.containers[{number}].ports[{at}].hostPort");
                let why = "must match `containerPort` when `hostNetwork` is true";
                errors.push(FieldError::invalid(path, own, why));
            }
        }
    }
}

/// Checks the volumes: each has a name of its own and one source. Returns those that are as they should be.
/// Source: validation.go (v1.34), `ValidateVolumes` and `validateVolumeSource`.
fn checked_volumes<'a>(spec: &'a Json, wording: Wording, errors: &mut Vec<FieldError>) -> Vec<&'a Json> {
    let mut valid: Vec<&Json> = Vec::new();
    for (at, volume) in spec.get("volumes").items().iter().enumerate() {
        let path = format!("spec.volumes[{at}]");
        let before = errors.len();
        let mut sources = VOLUME_SOURCES.into_iter().filter(|source| !volume.get(source).is_null());
        if let Some(first) = sources.next() {
            let own = (first, volume.get(first));
            volumes::source(volumes::Owner::Pod, own, &format!("{path}.{first}"), wording, errors);
        }
        for source in sources {
            let field = if source == "downwardAPI" { "downwarAPI" } else { source };
            let field = if source == "cephfs" { "cephFS" } else { field };
            errors.push(FieldError::forbidden(format!("{path}.{field}"), "may not specify more than 1 volume type"));
        }
        let name = text(volume, "name");
        let path = format!("{path}.name");
        if name.is_empty() {
            errors.push(FieldError::required(path, ""));
            continue;
        }
        invalid(names::label(name, wording), &path, name, errors);
        if valid.iter().any(|own| text(own, "name") == name) {
            errors.push(FieldError::duplicate(path, &Json::from(name)));
        }
        if errors.len() == before {
            valid.push(volume);
        }
    }
    valid
}

/// Source: validation.go (v1.34 and v1.36), `ValidateTolerations`.
pub(super) fn tolerations(spec: &Json, wording: Wording, rules: Rules, errors: &mut Vec<FieldError>) {
    let comparisons = rules.comparisons;
    for (at, toleration) in spec.get("tolerations").items().iter().enumerate() {
        let path = format!("spec.tolerations[{at}]");
        let (key, operator) = (text(toleration, "key"), text(toleration, "operator"));
        let (value, effect) = (text(toleration, "value"), text(toleration, "effect"));
        if !key.is_empty() {
            invalid(names::qualified(key, wording), format!("{path}.key"), key, errors);
        }
        if key.is_empty() && operator != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.push(FieldError::invalid_text(format!("{path}.operator"), operator, detail));
        }
        if !toleration.get("tolerationSeconds").is_null() && effect != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.push(FieldError::invalid_text(format!("{path}.effect"), effect, detail));
        }
        match operator {
            "" | "Equal" => {
                let problems = names::label_value(value, wording);
                if !problems.is_empty() {
                    errors.push(FieldError::invalid_text(format!("{path}.operator"), value, problems.join(";")));
                }
            }
            "Exists" if !value.is_empty() => {
                let detail = "value must be empty when `operator` is 'Exists'";
                let error = FieldError::invalid_text(format!("{path}.operator"), value, detail);
                errors.push(if toleration.get("tolerationSeconds").is_null() {
                    error.in_go(format!(
                        "core.Toleration{{Key:{key:?}, Operator:{operator:?}, Value:{value:?}, Effect:{effect:?}, \
                         TolerationSeconds:(*int64)(nil)}}"
                    ))
                } else {
                    error
                });
            }
            "Exists" => {}
            "Lt" | "Gt" if comparisons == Comparisons::Allowed => {
                invalid(names::decimal_integer(value), format!("{path}.value"), value, errors);
                // Source: validation.go (v1.35), `ValidateTolerations`: what the parser says is told beside it.
                if value.parse::<i64>().is_err() {
                    let why = format!("strconv.ParseInt: parsing {value:?}: {}", why_no_number(value));
                    errors.push(FieldError::invalid_text(format!("{path}.value"), value, why));
                }
            }
            other => {
                let operators = ["Equal", "Exists", "Lt", "Gt"];
                let is_refused = comparisons == Comparisons::Refused && matches!(other, "Lt" | "Gt");
                let known = if is_refused { &operators[..] } else { &operators[..2] };
                errors.push(FieldError::not_supported(format!("{path}.operator"), other, known));
            }
        }
        let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
        if !effect.is_empty() && !effects.contains(&effect) {
            errors.push(FieldError::not_supported(format!("{path}.effect"), effect, &effects));
        }
    }
}

fn gates(spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let gates = spec.get("schedulingGates").items();
    for (at, gate) in gates.iter().enumerate() {
        let name = text(gate, "name");
        invalid(names::qualified(name, wording), format!("spec.schedulingGates[{at}]"), name, errors);
        if gates[..at].iter().any(|other| text(other, "name") == name) {
            errors.push(FieldError::duplicate(format!("spec.schedulingGates[{at}]"), &Json::from(name)));
        }
    }
}
