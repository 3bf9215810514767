//! Validation of changes of Pods: hardly anything of a Pod's specification may change.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34), `ValidatePodUpdate`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::pod::{MIRROR, Rules, annotations, tokens, tolerations, validate_spec};
use super::{FieldError, meta, text};
use crate::components::api_server::fields::put;
use crate::objects::names::Wording;
use crate::objects::{Json, NULL};

const UPDATES: &str = "pod updates may not change fields other than `spec.containers[*].image`,\
    `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing \
    tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// Checks a change of a Pod itself. A specification that is shared with the stored Pod is not checked again.
pub(in super::super) fn validate(tree: &Json, old: &Json, wording: Wording, rules: Rules) -> Vec<FieldError> {
    let mut errors = meta::validate_core_update(tree, old, wording);
    let (spec, stored) = (tree.get("spec"), old.get("spec"));
    annotations(tree, "metadata.annotations", &mut errors);
    if !spec.is_same_allocation(stored) {
        validate_spec(spec, wording, rules.beside(stored), &mut errors);
        tokens(spec, &mut errors);
    }
    mirror(tree, old, &mut errors);
    for list in ["containers", "initContainers"] {
        if spec.get(list).items().len() != stored.get(list).items().len() {
            let why = "pod updates may not add or remove containers";
            errors.push(FieldError::forbidden(format!("spec.{list}"), why));
            return errors;
        }
        for (at, container) in spec.get(list).items().iter().enumerate() {
            let image = text(container, "image");
            if image.is_empty() {
                errors.push(FieldError::required(format!("spec.{list}[{at}].image"), ""));
            } else if image.trim() != image {
                let why = "must not have leading or trailing whitespace";
                errors.push(FieldError::invalid_text(format!("spec.{list}[{at}].image"), image, why));
            }
        }
    }
    let deadline = |spec: &Json| spec.get("activeDeadlineSeconds").as_i64();
    match (deadline(spec), deadline(stored)) {
        (Some(new), _) if !(0..=i64::from(i32::MAX)).contains(&new) => {
            let detail = "must be between 0 and 2147483647, inclusive";
            errors.push(FieldError::invalid("spec.activeDeadlineSeconds", &Json::Int(new), detail));
            return errors;
        }
        (Some(new), Some(old)) if new > old => {
            let detail = "must be less than or equal to previous value";
            errors.push(FieldError::invalid("spec.activeDeadlineSeconds", &Json::Int(new), detail));
            return errors;
        }
        (None, Some(_)) => {
            let detail = "must not update from a positive integer to nil value";
            errors.push(FieldError::invalid("spec.activeDeadlineSeconds", &NULL, detail));
        }
        _ => {}
    }
    if only_added_tolerations(spec, stored, &mut errors) && !spec.is_same_allocation(stored) {
        tolerations(spec, wording, rules.beside(stored), &mut errors);
    }
    only_deleted_gates(spec, stored, &mut errors);
    let is_gated = !stored.get("schedulingGates").is_empty();
    if is_gated {
        added_placement(spec, stored, &mut errors);
    }
    let frozen = frozen(spec, stored, is_gated);
    if frozen != *stored {
        errors.push(FieldError::changed("PodSpec", "spec", UPDATES, stored.clone(), frozen));
    }
    errors
}

/// Checks that nobody makes a Pod a mirror Pod, or another Pod's mirror. Source: validation.go (v1.34),
/// `ValidatePodSpecificAnnotationUpdates`.
pub(super) fn mirror(tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    let of = |tree: &Json| tree.at(&["metadata", "annotations", MIRROR]).as_str().map(String::from);
    let why = match (of(old), of(tree)) {
        (Some(old), new) if new.as_ref() != Some(&old) => Some("may not remove or update mirror pod annotation"),
        (None, Some(_)) => Some("may not add mirror pod annotation"),
        _ => None,
    };
    errors.extend(why.map(|why| FieldError::forbidden(format!("metadata.annotations[{MIRROR}]"), why)));
    // Once more than for a new Pod.
    annotations(tree, "metadata.annotations", errors);
}

/// Checks that no gate is new. Source: validation.go (v1.34), `validateOnlyDeletedSchedulingGates`.
fn only_deleted_gates(spec: &Json, stored: &Json, errors: &mut Vec<FieldError>) {
    let known = stored.get("schedulingGates").items();
    for (at, gate) in spec.get("schedulingGates").items().iter().enumerate() {
        let name = text(gate, "name");
        if !known.iter().any(|old| text(old, "name") == name) {
            let why = format!("only deletion is allowed, but found new scheduling gate '{name}'");
            errors.push(FieldError::forbidden(format!("spec.schedulingGates[{at}].name"), why));
        }
    }
}

const NODE_TERMS: [&str; 4] =
    ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];

/// Checks that the choice of Nodes of a gated Pod becomes only narrower. Source: validation.go (v1.34),
/// `validateNodeSelectorMutation` and `validateNodeAffinityMutation`.
fn added_placement(spec: &Json, stored: &Json, errors: &mut Vec<FieldError>) {
    let (new, old) = (spec.get("nodeSelector"), stored.get("nodeSelector"));
    if old.fields().any(|(key, value)| new.get(key) != value) {
        let why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        errors.push(FieldError::invalid("spec.nodeSelector", new, why));
    }
    let (new, old) = (spec.at(&NODE_TERMS).items(), stored.at(&NODE_TERMS).items());
    let path = format!("spec.{}", NODE_TERMS.join("."));
    if !old.is_empty() && old.len() != new.len() {
        let why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        errors.push(FieldError::invalid_of("[NodeSelectorTerm]", path, spec.at(&NODE_TERMS), why));
        return;
    }
    for (at, (new, old)) in new.iter().zip(old).enumerate() {
        let keeps = |list: &str| new.get(list).items().starts_with(old.get(list).items());
        let is_empty = |term: &Json| term.get("matchExpressions").is_empty() && term.get("matchFields").is_empty();
        if !keeps("matchExpressions") || !keeps("matchFields") || is_empty(old) && !is_empty(new) {
            let why = "only additions are allowed (no mutations or deletions)";
            errors.push(FieldError::invalid_of("NodeSelectorTerm", format!("{path}[{at}]"), new, why));
        }
    }
}

/// Tells whether the tolerations are only more than they were; if not, the new ones are not looked at.
fn only_added_tolerations(spec: &Json, stored: &Json, errors: &mut Vec<FieldError>) -> bool {
    let bare = |toleration: &Json| {
        let mut toleration = toleration.clone();
        toleration.remove(&["tolerationSeconds"]);
        toleration
    };
    let kept = |old: &Json| spec.get("tolerations").items().iter().any(|new| bare(new) == bare(old));
    let all_kept = stored.get("tolerations").items().iter().all(kept);
    if !all_kept {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        errors.push(FieldError::forbidden("spec.tolerations", detail));
    }
    all_kept
}

/// Returns the specification with the fields that may change set to what is stored.
fn frozen(spec: &Json, stored: &Json, is_gated: bool) -> Json {
    let mut spec = spec.clone();
    for list in ["containers", "initContainers"] {
        let images: Vec<Json> =
            stored.get(list).items().iter().map(|container| container.get("image").clone()).collect();
        if spec.get(list).items().len() == images.len() && !images.is_empty() {
            for (container, image) in spec.entry(&[list]).make_array().iter_mut().zip(images) {
                container.set(&["image"], image);
            }
        }
    }
    for field in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        put(&mut spec, &[field], stored.get(field));
    }
    let grace = |spec: &Json| spec.get("terminationGracePeriodSeconds").as_i64();
    if grace(stored).is_some_and(|seconds| seconds < 0) && grace(&spec) == Some(1) {
        spec.set(&["terminationGracePeriodSeconds"], stored.get("terminationGracePeriodSeconds").clone());
    }
    if is_gated {
        put(&mut spec, &["nodeSelector"], stored.get("nodeSelector"));
        let path = ["affinity", "nodeAffinity"];
        if spec.at(&path) != stored.at(&path) {
            put(&mut spec, &path, stored.at(&path));
        }
        if stored.get("affinity").is_null() && spec.get("affinity").is_empty() {
            spec.remove(&["affinity"]);
        }
    }
    spec
}
