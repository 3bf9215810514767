//! The state of an object's life: its phase, its conditions, whether it is being deleted.
//!
//! Mirrors pkg/api/v1/pod/util.go and pkg/controller/controller_utils.go (v1.34). Inputs: an object. Outputs: values of
//! its fields; an absent field equals an empty one.

use super::{Json, Object};

/// Returns the phase.
#[must_use]
pub fn phase(pod: &Object) -> &str {
    pod.stable().at(&["status", "phase"]).as_str().unwrap_or("")
}

/// Tells whether an object is being deleted.
#[must_use]
pub fn is_ending(object: &Object) -> bool {
    !object.stable().at(&["metadata", "deletionTimestamp"]).is_null()
}

/// Tells whether an object has a finalizer.
#[must_use]
pub fn has_finalizer(object: &Object, finalizer: &str) -> bool {
    object.stable().at(&["metadata", "finalizers"]).items().iter().any(|item| item.as_str() == Some(finalizer))
}

/// Tells whether a pod has ended by itself.
#[must_use]
pub fn is_terminal(pod: &Object) -> bool {
    matches!(phase(pod), "Succeeded" | "Failed")
}

/// Tells whether a pod counts as one of its owner's: it has not ended and is not being deleted.
#[must_use]
pub fn is_active(pod: &Object) -> bool {
    !is_terminal(pod) && !is_ending(pod)
}

/// Returns a condition of an object's status; `Null` for none.
#[must_use]
pub fn condition<'a>(object: &'a Object, kind: &str) -> &'a Json {
    condition_of(object.stable(), kind)
}

/// Returns a condition of a tree's status; `Null` for none.
#[must_use]
pub fn condition_of<'a>(tree: &'a Json, kind: &str) -> &'a Json {
    let conditions = tree.at(&["status", "conditions"]).items();
    conditions.iter().find(|condition| condition.get("type").as_str() == Some(kind)).unwrap_or(&Json::Null)
}

/// Tells whether a condition of a tree's status is True.
#[must_use]
pub fn is_condition_true(tree: &Json, kind: &str) -> bool {
    condition_of(tree, kind).get("status").as_str() == Some("True")
}

/// Tells whether the condition Ready is True.
#[must_use]
pub fn is_ready(object: &Object) -> bool {
    condition(object, "Ready").get("status").as_str() == Some("True")
}

/// The taint that says that a node is down for good, with any value and effect.
/// Source: k8s.io/api core/v1/well_known_taints.go (v1.34), `TaintNodeOutOfService`.
pub const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// Tells whether somebody has said of a Node that it is down for good.
#[must_use]
pub fn is_out_of_service(node: &Object) -> bool {
    let taints = node.stable().at(&["spec", "taints"]).items();
    taints.iter().any(|taint| taint.get("key").as_str() == Some(OUT_OF_SERVICE))
}

/// Tells whether an init container runs on beside the containers.
/// Source: pkg/api/v1/pod/util.go (v1.34), `IsRestartableInitContainer`.
#[must_use]
pub fn is_sidecar(container: &Json) -> bool {
    container.get("restartPolicy").as_str() == Some("Always")
}

/// Tells whether the kind of a CustomResourceDefinition is served.
#[must_use]
pub fn is_established(definition: &Json) -> bool {
    is_condition_true(definition, "Established")
}
