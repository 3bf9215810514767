//! Validation of the status of workloads: numbers of Pods that agree with each other.
//!
//! Mirrors pkg/apis/apps/validation/validation.go and, for ReplicationControllers, that of pkg/apis/core (v1.34):
//! `ValidateDeploymentStatusUpdate` and its like. Inputs: the changed object and the stored one. Outputs: errors.

use alloc::format;
use alloc::vec::Vec;

use super::FieldError;
use crate::objects::Json;

/// What is counted of a kind's Pods, in the order in which it is checked, and which of that is at most all of them.
fn counts(kind: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match kind {
        "Deployment" => (
            &[
                "observedGeneration",
                "replicas",
                "updatedReplicas",
                "readyReplicas",
                "availableReplicas",
                "unavailableReplicas",
                "terminatingReplicas",
                "collisionCount",
            ],
            &["updatedReplicas", "readyReplicas", "availableReplicas"],
        ),
        "StatefulSet" => (
            &[
                "replicas",
                "readyReplicas",
                "currentReplicas",
                "updatedReplicas",
                "availableReplicas",
                "observedGeneration",
                "collisionCount",
            ],
            &["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
        ),
        "DaemonSet" => (
            &[
                "currentNumberScheduled",
                "numberMisscheduled",
                "desiredNumberScheduled",
                "numberReady",
                "observedGeneration",
                "updatedNumberScheduled",
                "numberAvailable",
                "numberUnavailable",
                "collisionCount",
            ],
            &[],
        ),
        _ => (
            &[
                "replicas",
                "fullyLabeledReplicas",
                "readyReplicas",
                "availableReplicas",
                "observedGeneration",
                "terminatingReplicas",
            ],
            &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
        ),
    }
}

/// Checks a changed status.
pub(in super::super) fn validate(kind: &str, tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    let number = |of: &Json, field: &str| of.at(&["status", field]).as_i64().unwrap_or(0);
    let refused =
        |field: &str, why: &str| FieldError::invalid(format!("status.{field}"), &Json::Int(number(tree, field)), why);
    let (counted, parts) = counts(kind);
    for field in counted.iter().filter(|field| number(tree, field) < 0) {
        errors.push(refused(field, "must be greater than or equal to 0"));
    }
    for field in parts.iter().filter(|field| number(tree, field) > number(tree, "replicas")) {
        errors.push(refused(field, "cannot be greater than status.replicas"));
    }
    if parts.contains(&"availableReplicas") && number(tree, "availableReplicas") > number(tree, "readyReplicas") {
        let of = if kind == "StatefulSet" { "status.readyReplicas" } else { "readyReplicas" };
        errors.push(refused("availableReplicas", &format!("cannot be greater than {of}")));
    }
    let collisions = |of: &Json| of.at(&["status", "collisionCount"]).as_i64();
    if collisions(old).is_some_and(|before| collisions(tree).is_none_or(|now| now < before)) {
        errors.push(refused("collisionCount", "cannot be decremented"));
    }
}
