//! Validation of the claims that the volumes of a Pod make.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34), `ValidateVolumes` and
//! `ValidatePersistentVolumeClaimTemplate`. Inputs: a Pod, or the template of a claim. Outputs: errors.

use alloc::format;
use alloc::vec::Vec;

use super::{FieldError, meta, storage, text};
use crate::objects::Json;
use crate::objects::names::{self, Wording};

/// Checks the claims that the volumes of a Pod with a name will have. Source: validation.go (v1.34), `ValidateVolumes`
/// and `validateVolumeSource`.
pub(super) fn of_named_pod(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let pod = text(tree.get("metadata"), "name");
    let volumes = tree.at(&["spec", "volumes"]).items();
    let claim_of = |volume: &Json| format!("{pod}-{}", text(volume, "name"));
    let is_own = |volume: &&Json| !volume.get("ephemeral").is_null() && !text(volume, "name").is_empty();
    for (at, volume) in volumes.iter().enumerate().filter(|_| !pod.is_empty()) {
        if is_own(&volume) {
            let claim = claim_of(volume);
            for problem in names::subdomain(&claim, wording) {
                let why = format!("PVC name {claim:?}: {problem}");
                errors.push(FieldError::invalid_text(format!("spec.volumes[{at}].name"), text(volume, "name"), why));
            }
        }
        let used = text(volume.get("persistentVolumeClaim"), "claimName");
        if volumes.iter().filter(is_own).any(|own| claim_of(own) == used) {
            let path = format!("spec.volumes[{at}].persistentVolumeClaim.claimName");
            let why = "must not reference a PVC that gets created for an ephemeral volume";
            errors.push(FieldError::invalid_text(path, used, why));
        }
    }
}

/// The metadata that no template of a claim has. Source: validation.go (v1.34), `allowedTemplateObjectMetaFields`.
const NOT_IN_TEMPLATES: [&str; 13] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

/// Checks the claim that a volume makes. Source: validation.go (v1.34), `ValidatePersistentVolumeClaimTemplate`.
pub(super) fn template(template: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    let metadata = template.get("metadata");
    meta::validate_annotations(metadata.get("annotations"), &format!("{path}.metadata.annotations"), wording, errors);
    meta::validate_labels(metadata.get("labels"), &format!("{path}.metadata.labels"), wording, errors);
    for field in NOT_IN_TEMPLATES.into_iter().filter(|field| !metadata.get(field).is_null()) {
        let shown = if field == "uid" { "uID" } else { field };
        errors.push(FieldError::forbidden(format!("{path}.metadata.{shown}"), "cannot be set"));
    }
    let mut own = Vec::new();
    storage::claim(template, wording, &mut own);
    errors.extend(own.into_iter().map(|mut error| {
        error.field = format!("{path}.{}", error.field);
        error
    }));
}
