//! How a controller handles the answers to creations and deletions of its pods.
//!
//! Mirrors `RealPodControl` (pkg/controller/controller_utils.go, v1.34) with the expectations that its callers keep.
//! Inputs: answers. Outputs: the Event; on a failure its reason and text, for the status and the retry.

use alloc::format;
use alloc::string::String;

use jiff::Timestamp;

use super::Expectations;
use crate::components::controller::{ApiResult, KeyedRuntime, code, failure, is_namespace_ending, object};
use crate::components::events::{EventType, InvolvedObject};
use crate::objects::{Object, ObjectKey, Text};

/// Takes the answer to the creation of a pod. That its namespace is ending is no failure. Source: also
/// pkg/controller/{replicaset/replica_set.go,daemon/daemon_controller.go} (v1.34), `NamespaceTerminatingCause`.
pub(in crate::components) fn created<S>(
    key: &ObjectKey,
    owner: &InvolvedObject,
    reply: &ApiResult,
    (expectations, runtime): (&mut Expectations, &mut KeyedRuntime<S>),
    now: Timestamp,
) -> Option<(&'static str, String)> {
    let Some(error) = failure(reply) else {
        let name = object(reply).map(|pod| Text::from(pod.name())).unwrap_or_default();
        runtime.emit(owner, EventType::Normal, "SuccessfulCreate", &format!("Created pod: {name}"), now);
        return None;
    };
    if is_namespace_ending(reply) {
        // The pod stays expected, and all others would fail as well.
        return None;
    }
    expectations.created(key);
    runtime.emit(owner, EventType::Warning, "FailedCreate", &format!("Error creating: {error}"), now);
    Some(("FailedCreate", error))
}

/// Takes the answer to the deletion of a pod; one that is gone already is no failure.
pub(in crate::components) fn deleted<S>(
    key: &ObjectKey,
    (owner, pod): (&InvolvedObject, &Object),
    reply: &ApiResult,
    (expectations, runtime): (&mut Expectations, &mut KeyedRuntime<S>),
    now: Timestamp,
) -> Option<(&'static str, String)> {
    let Some(error) = failure(reply) else {
        runtime.emit(owner, EventType::Normal, "SuccessfulDelete", &format!("Deleted pod: {}", pod.name()), now);
        return None;
    };
    expectations.deleted(key, pod.uid());
    if code(reply) == 404 {
        return None;
    }
    runtime.emit(owner, EventType::Warning, "FailedDelete", &format!("Error deleting: {error}"), now);
    Some(("FailedDelete", error))
}
