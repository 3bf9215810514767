//! Validation of the status of claims.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34), `ValidatePersistentVolumeClaimStatusUpdate`.
//! Inputs: the changed claim. Outputs: errors.

use alloc::format;
use alloc::vec::Vec;

use super::{FieldError, meta};
use crate::objects::names;
use crate::objects::quantity::Quantity;
use crate::objects::{Json, Text};
use crate::profile::Settings;

/// How far a resize can be. Source: k8s.io/api core/v1/types.go (v1.34), `ClaimResourceStatus`; sorted.
const RESIZES: [&str; 5] = [
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];

/// Checks the status of a claim.
pub(in super::super) fn claim(tree: &Json, settings: &Settings, errors: &mut Vec<FieldError>) {
    let status = tree.get("status");
    for (name, amount) in status.get("capacity").fields() {
        not_negative(&format!("status.capacity[{name}]"), amount, errors);
    }
    let is_named_well = settings.profile().is("claim-resize-errors-name-their-field");
    let path = format!("status.allocatedResourceStatus{}", if is_named_well { "es" } else { "" });
    for (name, progress) in status.get("allocatedResourceStatuses").fields() {
        resource(&path, name, settings, errors);
        if !RESIZES.contains(&progress.as_str().unwrap_or("")) {
            errors.push(FieldError::not_supported(&path, name, &RESIZES));
        }
    }
    for (name, amount) in status.get("allocatedResources").fields() {
        if resource("status.allocatedResources", name, settings, errors) {
            not_negative(&format!("status.allocatedResources[{name}]"), amount, errors);
        }
    }
}

/// Checks a resource of a claim by its name; of Kubernetes' own there is `storage` alone. Tells whether it is good.
fn resource(path: &str, name: &Text, settings: &Settings, errors: &mut Vec<FieldError>) -> bool {
    let before = errors.len();
    super::invalid(names::qualified(name, meta::wording(settings)), path, name, errors);
    if errors.len() == before && names::is_native_resource(name) && *name != *"storage" {
        errors.push(FieldError::not_supported(path, name, &["storage"]));
    }
    errors.len() == before
}

fn not_negative(path: &str, amount: &Json, errors: &mut Vec<FieldError>) {
    let quantity = amount.as_str().and_then(Quantity::parse);
    let whole = quantity.map_or(0, |quantity| quantity.value());
    if whole < 0 {
        errors.push(FieldError::invalid(path, &Json::Int(whole), "must be a valid resource quantity"));
    }
}
