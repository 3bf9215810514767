//! Validation of metadata.
//!
//! Mirrors k8s.io/apimachinery pkg/api/validation/objectmeta.go and pkg/apis/meta/v1/validation (v1.34).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::amount::not_negative;
use super::ip;
use super::{FieldError, IMMUTABLE, Problem, invalid};
use crate::network::kinds::{Kind, Trait};
use crate::objects::names::{self, Wording};
use crate::objects::{Json, NULL};
use crate::profile::Settings;

/// Most bytes of all annotations of an object. Source: objectmeta.go, `TotalAnnotationSizeLimitB`.
const ANNOTATIONS_LIMIT: usize = 256 * 1024;
/// Source: pkg/apis/core/helper/helpers.go (v1.34), `standardFinalizers`, and apimachinery's.
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// Says what is wrong with a name.
type NameCheck<'a> = &'a dyn Fn(&str) -> Vec<String>;

/// Returns the wording of the release.
pub(in super::super) fn wording(settings: &Settings) -> Wording {
    if settings.profile().is("errors-speak-as-declared") {
        Wording::Declared
    } else if settings.profile().is("lengths-in-bytes") {
        Wording::Bytes
    } else {
        Wording::Characters
    }
}

/// Checks the metadata of a new object.
pub(in super::super) fn validate(kind: &Kind, tree: &Json, wording: Wording) -> Vec<FieldError> {
    validate_change(kind, tree, &NULL, wording)
}

/// Checks metadata as [`validate`] does, but for the maps and owners that a stored object shares.
pub(in super::super) fn validate_change(kind: &Kind, tree: &Json, old: &Json, wording: Wording) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let check = |name: &str| match kind.rules() {
        "Namespace" | "StatefulSet" => names::label(name, wording),
        "IPAddress" => ip::name(name),
        "PodDisruptionBudget" => names::path_segment(name),
        "Event" if kind.resource.group.is_empty() => names::path_segment(name),
        // That of a Service depends on the release; a request may have any name.
        "Service" | "CertificateSigningRequest" => Vec::new(),
        _ if kind.resource.group == *"rbac.authorization.k8s.io" => names::path_segment(name),
        _ => names::subdomain(name, wording),
    };
    metadata_of_any(tree, old, (&check, kind.rules() != "Event"), wording, &mut errors);
    if is_core(kind) {
        standard_finalizers(tree, &mut errors);
    }
    errors
}

/// Checks what the generic layer checks of each change, before the strategy of the kind does.
///
/// Source: k8s.io/apiserver pkg/registry/rest/update.go (v1.34), `validateCommonFields`.
pub(in super::super) fn validate_common(tree: &Json, old: &Json, wording: Wording) -> Vec<FieldError> {
    let mut errors = Vec::new();
    metadata_of_any(tree, old, (&names::path_segment, true), wording, &mut errors);
    errors.extend(validate_update(tree, old, wording));
    errors
}

/// Checks a change by the rules of the core group, which know the standard finalizers.
pub(in super::super) fn validate_core_update(tree: &Json, old: &Json, wording: Wording) -> Vec<FieldError> {
    let mut errors = validate_update(tree, old, wording);
    standard_finalizers(tree, &mut errors);
    errors
}

/// Returns how often the strategy of a kind checks a changed object: some check the object, and then its change, which
/// is the object again. Source: pkg/registry/{core,rbac,storage}/*/strategy.go (v1.34), `ValidateUpdate`.
pub(in super::super) fn checks(kind: &Kind, settings: &Settings) -> usize {
    if settings.profile().text("kinds-checked-once").split(',').any(|once| once == kind.rules()) { 1 } else { 2 }
}

/// Checks a change as often as the strategy of a kind does: all metadata, and what may not change.
///
/// Source: the strategies in pkg/registry and the validation that they call (v1.34).
pub(in super::super) fn validate_by_strategy(
    kind: &Kind,
    subresource: &str,
    (tree, old): (&Json, &Json),
    settings: &Settings,
) -> Vec<FieldError> {
    let wording = wording(settings);
    let (all, changes) = match (kind.rules(), subresource) {
        ("PodDisruptionBudget", _) | ("CronJob", "status") => (0, 0),
        ("EndpointSlice" | "LimitRange", _) => (1, 0),
        ("PersistentVolume", "") => (2, 0),
        ("VolumeAttributesClass", _) => (2, 1),
        ("CSINode", "") | ("VolumeAttachment", _) => (checks(kind, settings), 0),
        // The generic layer has checked the rest of the metadata.
        ("Job", "") => (checks(kind, settings) - 1, 1),
        ("PersistentVolumeClaim" | "Role" | "ClusterRole" | "RoleBinding" | "ClusterRoleBinding", "") => {
            (checks(kind, settings), 1)
        }
        (
            "ConfigMap"
            | "Endpoints"
            | "Ingress"
            | "IngressClass"
            | "Namespace"
            | "NetworkPolicy"
            | "ReplicationController"
            | "RuntimeClass"
            | "Secret"
            | "ServiceAccount"
            | "StorageClass",
            "",
        ) => (1, 1),
        _ => (0, 1),
    };
    let mut errors = Vec::new();
    for _ in 0..all {
        errors.extend(validate_change(kind, tree, old, wording));
    }
    for _ in 0..changes {
        errors.extend(match is_core(kind) {
            true => validate_core_update(tree, old, wording),
            false => validate_update(tree, old, wording),
        });
    }
    errors
}

/// Tells whether metadata are checked by the rules of the core group, and not by those of apimachinery alone.
///
/// Source: pkg/apis/{coordination,node,policy,admissionregistration}/validation/validation.go (v1.34), which do not.
fn is_core(kind: &Kind) -> bool {
    let others = ["coordination.k8s.io", "node.k8s.io", "policy", "admissionregistration.k8s.io"];
    !others.contains(&kind.resource.group.as_str()) && !kind.is(Trait::Custom)
}

fn standard_finalizers(tree: &Json, errors: &mut Vec<FieldError>) {
    for (at, finalizer) in tree.at(&["metadata", "finalizers"]).items().iter().enumerate() {
        let name = finalizer.as_str().unwrap_or("");
        standard_finalizer(name, &format!("metadata.finalizers[{at}]"), errors);
    }
}

/// Checks the metadata of any object; `check` says what is wrong with a name.
///
/// Source: k8s.io/apimachinery pkg/api/validation/objectmeta.go (v1.34), `ValidateObjectMetaAccessor`.
fn metadata_of_any(
    tree: &Json,
    old: &Json,
    (check, checks_base): (NameCheck<'_>, bool),
    wording: Wording,
    errors: &mut Vec<FieldError>,
) {
    let metadata = tree.get("metadata");
    if let Some(base) = metadata.get("generateName").as_str().filter(|base| !base.is_empty() && checks_base) {
        invalid(check(&without_last_dash(base)), "metadata.generateName", base, errors);
    }
    match metadata.get("name").as_str() {
        None | Some("") => errors.push(FieldError::required("metadata.name", "name or generateName is required")),
        Some(name) => {
            invalid(check(name), "metadata.name", name, errors);
        }
    }
    not_negative(metadata, "metadata", "generation", errors);
    validate_maps(metadata, old.get("metadata"), wording, errors);
    validate_finalizers(metadata.get("finalizers"), wording, errors);
}

/// Returns the base of generated names as it is checked: one that ends with a dash is none that an object has.
///
/// Source: k8s.io/apimachinery pkg/api/validation/generic.go (v1.34), `maskTrailingDash`, which cuts off two.
pub(super) fn without_last_dash(base: &str) -> String {
    match base.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let mut rest = String::from(rest);
            rest.pop();
            rest.push('a');
            rest
        }
        _ => String::from(base),
    }
}

/// Checks that a finalizer without a prefix is one that Kubernetes has.
pub(super) fn standard_finalizer(name: &str, field: &str, errors: &mut Vec<FieldError>) {
    if !name.contains('/') && !STANDARD_FINALIZERS.contains(&name) {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        errors.push(FieldError::invalid_text(field, name, detail));
    }
}

/// Checks the finalizers of a Namespace's specification. Source: pkg/apis/core/validation/validation.go (v1.34),
/// `ValidateNamespace`.
pub(in super::super) fn namespace(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    for finalizer in tree.at(&["spec", "finalizers"]).items() {
        let name = finalizer.as_str().unwrap_or("");
        invalid(names::qualified(name, wording), "spec.finalizers", name, errors);
        standard_finalizer(name, "spec.finalizers", errors);
    }
}

/// Checks the metadata of a change: what is immutable, and what every write checks.
pub(in super::super) fn validate_update(tree: &Json, old: &Json, wording: Wording) -> Vec<FieldError> {
    let (metadata, stored) = (tree.get("metadata"), old.get("metadata"));
    let mut errors = Vec::new();
    if !stored.get("deletionTimestamp").is_null() {
        let had = stored.get("finalizers").items();
        let new: Vec<Json> =
            metadata.get("finalizers").items().iter().filter(|item| !had.contains(item)).cloned().collect();
        if !new.is_empty() {
            let names: Vec<String> = new.iter().filter_map(|item| Some(format!("{:?}", item.as_str()?))).collect();
            errors.push(FieldError::forbidden(
                "metadata.finalizers",
                format!(
                    "no new finalizers can be added if the object is being deleted, found new finalizers \
                        []string{{{}}}",
                    names.join(", ")
                ),
            ));
        }
    }
    for field in ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        if metadata.get(field) != stored.get(field) {
            let error = FieldError::invalid(format!("metadata.{field}"), metadata.get(field), IMMUTABLE);
            errors.push(error);
        }
    }
    validate_maps(metadata, stored, wording, &mut errors);
    errors
}

/// Checks the maps and the owners; what is shared with the stored metadata is not checked again.
fn validate_maps(metadata: &Json, stored: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let changed = |field: &str| {
        let value = metadata.get(field);
        if value.is_same_allocation(stored.get(field)) { &NULL } else { value }
    };
    validate_labels(changed("labels"), "metadata.labels", wording, errors);
    validate_annotations(changed("annotations"), "metadata.annotations", wording, errors);
    validate_owners(changed("ownerReferences"), wording, errors);
}

/// Checks keys and size of annotations.
pub(super) fn validate_annotations(annotations: &Json, field: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    let mut size = 0;
    for (key, value) in annotations.fields() {
        invalid(names::qualified(&key.to_lowercase(), wording), field, key, errors);
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > ANNOTATIONS_LIMIT {
        let detail = format!("may not be more than {ANNOTATIONS_LIMIT} bytes");
        errors.push(FieldError::too_long(field, detail));
    }
}

/// Checks keys and values of labels.
pub(in super::super) fn validate_labels(labels: &Json, field: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    for (key, value) in labels.fields() {
        invalid(names::qualified(key, wording), field, key, errors);
        let value = value.as_str().unwrap_or("");
        invalid(names::label_value(value, wording), field, value, errors);
    }
}

/// Source: objectmeta.go (v1.34; v1.37 tells the place of an owner), `validateOwnerReference`.
fn validate_owners(owners: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let mut controller: Option<String> = None;
    for (at, owner) in owners.items().iter().enumerate() {
        let base = if wording.is_declared() { format!("[{at}]") } else { String::new() };
        let base = format!("metadata.ownerReferences{base}");
        let missing = |field: &str, why: &str| match wording.is_declared() {
            true => FieldError::required(format!("{base}.{field}"), "must not be empty"),
            false => FieldError::invalid_text(format!("{base}.{field}"), "", why),
        };
        let text = |field: &str| owner.get(field).as_str().unwrap_or("");
        let version = text("apiVersion");
        let empty = "version must not be empty";
        if version.is_empty() {
            errors.push(missing("apiVersion", empty));
        } else if version.split('/').count() > 2 || version.ends_with('/') {
            let why = if wording.is_declared() { "must be <group>/<version> or <version>" } else { empty };
            errors.push(FieldError::invalid_text(format!("{base}.apiVersion"), version, why));
        }
        for field in ["kind", "name", "uid"] {
            if text(field).is_empty() {
                errors.push(missing(field, "must not be empty"));
            }
        }
        if version == "v1" && text("kind") == "Event" {
            let printed = format!("/v1, Kind={}", text("kind"));
            let detail = format!("{printed} is disallowed from being an owner");
            errors.push(FieldError::new(base.as_str(), Problem::Invalid, quoted(owner), detail));
        }
        if owner.get("controller").as_bool() == Some(true) {
            let named = format!("{}/{}", text("kind"), text("name"));
            if let Some(first) = &controller {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and \
                        {named}"
                );
                errors.push(FieldError::new("metadata.ownerReferences", Problem::Invalid, quoted(owners), detail));
            } else {
                controller = Some(named);
            }
        }
    }
}

/// Prints owners as Go does: in the order of the type's fields. Source: k8s.io/apimachinery
/// pkg/apis/meta/v1/types.go (v1.34), `OwnerReference`.
fn quoted(value: &Json) -> String {
    const FIELDS: [&str; 6] = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
    let parts: Vec<String> = match value {
        Json::Array(owners) => owners.iter().map(quoted).collect(),
        owner => {
            let own = FIELDS.iter().filter(|field| !owner.get(field).is_null());
            own.map(|field| format!("\"{field}\":{}", owner.get(field))).collect()
        }
    };
    let parts = parts.join(",");
    if value.is_array() { format!("[{parts}]") } else { format!("{{{parts}}}") }
}

fn validate_finalizers(finalizers: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let has = |name: &str| finalizers.items().iter().any(|item| item.as_str() == Some(name));
    for finalizer in finalizers.items() {
        let name = finalizer.as_str().unwrap_or("");
        invalid(names::qualified(name, wording), "metadata.finalizers", name, errors);
    }
    if has("orphan") && has("foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(FieldError::invalid("metadata.finalizers", finalizers, detail));
    }
}
