//! Validation of metadata.
//!
//! Mirrors k8s.io/apimachinery pkg/api/validation/objectmeta.go and pkg/apis/meta/v1/validation (v1.34).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{FieldError, Problem};
use crate::network::kinds::Kind;
use crate::objects::names::{self, Wording};
use crate::objects::{Json, NULL};
use crate::profile::Settings;

/// Most bytes of all annotations of an object. Source: objectmeta.go, `TotalAnnotationSizeLimitB`.
const ANNOTATIONS_LIMIT: usize = 256 * 1024;
/// Source: pkg/apis/core/helper/helpers.go (v1.34), `standardFinalizers`, and apimachinery's.
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// Returns the wording of the release.
pub(in super::super) fn wording(settings: &Settings) -> Wording {
    if settings.profile().is("lengths-in-bytes") { Wording::Bytes } else { Wording::Characters }
}

/// Checks the metadata of a new object.
pub(in super::super) fn validate(kind: &Kind, tree: &Json, wording: Wording) -> Vec<FieldError> {
    validate_change(kind, tree, &NULL, wording)
}

/// Checks metadata as [`validate`] does, but for the maps and owners that a stored object shares.
pub(super) fn validate_change(kind: &Kind, tree: &Json, old: &Json, wording: Wording) -> Vec<FieldError> {
    let metadata = tree.get("metadata");
    let mut errors = Vec::new();
    let check = |name: &str| match kind.name {
        "Namespace" => names::label(name, wording),
        // That of a Service depends on the release; a request may have any name.
        "Service" | "CertificateSigningRequest" => Vec::new(),
        _ if kind.resource.group == *"rbac.authorization.k8s.io" => Vec::new(),
        _ => names::subdomain(name, wording),
    };
    if let Some(base) = metadata.get("generateName").as_str().filter(|base| !base.is_empty() && kind.name != "Event") {
        let masked = match base.strip_suffix('-') {
            Some(rest) if !rest.is_empty() => format!("{rest}a"),
            _ => String::from(base),
        };
        for problem in check(&masked) {
            errors.push(FieldError::invalid_text("metadata.generateName", base, problem));
        }
    }
    match metadata.get("name").as_str() {
        None | Some("") => errors.push(FieldError::required("metadata.name", "name or generateName is required")),
        Some(name) => {
            for problem in check(name) {
                errors.push(FieldError::invalid_text("metadata.name", name, problem));
            }
        }
    }
    validate_maps(metadata, old.get("metadata"), wording, &mut errors);
    validate_finalizers(metadata, wording, &mut errors);
    errors
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
            let error = FieldError::invalid(format!("metadata.{field}"), metadata.get(field), "field is immutable");
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
    validate_owners(changed("ownerReferences"), errors);
}

/// Checks keys and size of annotations.
pub(super) fn validate_annotations(annotations: &Json, field: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    let mut size = 0;
    for (key, value) in annotations.fields() {
        for problem in names::qualified(&key.to_lowercase(), wording) {
            errors.push(FieldError::invalid_text(field, key, problem));
        }
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
        for problem in names::qualified(key, wording) {
            errors.push(FieldError::invalid_text(field, key, problem));
        }
        let value = value.as_str().unwrap_or("");
        for problem in names::label_value(value, wording) {
            errors.push(FieldError::invalid_text(field, value, problem));
        }
    }
}

fn validate_owners(owners: &Json, errors: &mut Vec<FieldError>) {
    let mut controller: Option<String> = None;
    for owner in owners.items() {
        let text = |field: &str| owner.get(field).as_str().unwrap_or("");
        let version = text("apiVersion");
        if version.is_empty() || version.split('/').count() > 2 || version.ends_with('/') {
            let field = "metadata.ownerReferences.apiVersion";
            errors.push(FieldError::invalid_text(field, version, "version must not be empty"));
        }
        for field in ["kind", "name", "uid"] {
            if text(field).is_empty() {
                let path = format!("metadata.ownerReferences.{field}");
                errors.push(FieldError::invalid_text(path, "", "must not be empty"));
            }
        }
        if version == "v1" && text("kind") == "Event" {
            let printed = format!("/v1, Kind={}", text("kind"));
            let detail = format!("{printed} is disallowed from being an owner");
            errors.push(FieldError::new("metadata.ownerReferences", Problem::Invalid, quoted(owner), detail));
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

fn quoted(value: &Json) -> String {
    format!("{value}")
}

fn validate_finalizers(metadata: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let finalizers = metadata.get("finalizers");
    let has = |name: &str| finalizers.items().iter().any(|item| item.as_str() == Some(name));
    for (at, finalizer) in finalizers.items().iter().enumerate() {
        let name = finalizer.as_str().unwrap_or("");
        for problem in names::qualified(name, wording) {
            errors.push(FieldError::invalid_text("metadata.finalizers", name, problem));
        }
        if !name.contains('/') && !STANDARD_FINALIZERS.contains(&name) {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            errors.push(FieldError::invalid_text(format!("metadata.finalizers[{at}]"), name, detail));
        }
    }
    if has("orphan") && has("foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(FieldError::invalid("metadata.finalizers", finalizers, detail));
    }
}
