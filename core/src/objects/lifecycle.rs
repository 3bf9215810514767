//! The state of an object's life: its phase, its conditions, whether it is being deleted.
//!
//! Mirrors pkg/api/v1/pod/util.go and pkg/controller/controller_utils.go (v1.34). Inputs: an object. Outputs: values of
//! its fields; an absent field equals an empty one.

use alloc::vec::Vec;

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

/// Returns the owner reference of the controller of an object.
///
/// Source: k8s.io/apimachinery pkg/apis/meta/v1/controller_ref.go (v1.34), `GetControllerOfNoCopy`.
#[must_use]
pub fn controller_of(tree: &Json) -> Option<&Json> {
    let owners = tree.at(&["metadata", "ownerReferences"]).items();
    owners.iter().find(|owner| owner.get("controller").as_bool() == Some(true))
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
    condition_in(tree.at(&["status", "conditions"]).items(), kind).unwrap_or(&Json::Null)
}

/// Returns a condition of a list.
#[must_use]
pub fn condition_in<'a>(conditions: &'a [Json], kind: &str) -> Option<&'a Json> {
    conditions.iter().find(|condition| condition.get("type").as_str() == Some(kind))
}

/// Puts a condition in the place of the one of its type; `lastTransitionTime` stays if the status does. Tells whether
/// anything changed.
///
/// Source: pkg/api/v1/pod/util.go (v1.34), `UpdatePodCondition`, and k8s.io/apimachinery pkg/api/meta/conditions.go.
pub fn put_condition(conditions: &mut Vec<Json>, mut condition: Json) -> bool {
    let Some(old) = conditions.iter_mut().find(|old| old.get("type") == condition.get("type")) else {
        conditions.push(condition);
        return true;
    };
    if old.get("status") == condition.get("status") {
        condition.set(&["lastTransitionTime"], old.get("lastTransitionTime").clone());
    }
    let has_changed = *old != condition;
    if has_changed {
        *old = condition;
    }
    has_changed
}

/// Returns the condition with which a Job has ended. Source: pkg/controller/job/util/utils.go (v1.34),
/// `FinishedCondition`.
#[must_use]
pub fn job_end(job: &Object) -> Option<&'static str> {
    ["Complete", "Failed"].into_iter().find(|kind| is_condition_true(job.stable(), kind))
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

/// Tells whether a container that has ended is to run again: by the first of its own rules that its exit code meets,
/// by its own policy, or by that of its Pod. Left out on purpose: the action `RestartAllContainers`, which is as if no
/// rule had been met.
/// Source: pkg/api/v1/pod/util.go (v1.34), `ContainerShouldRestart`.
#[must_use]
pub fn should_restart(container: &Json, policy_of_pod: &str, exit_code: i64) -> bool {
    let own = container.get("restartPolicy").as_str();
    let policy = own.unwrap_or(policy_of_pod);
    own.is_some() && has_matching_rule(container, exit_code)
        || !matches!(policy, "Never" | "OnFailure")
        || policy == "OnFailure" && exit_code != 0
}

/// Tells whether the first rule that an exit code meets wants the container restarted.
fn has_matching_rule(container: &Json, exit_code: i64) -> bool {
    let meets = |rule: &&Json| {
        let is_listed = rule.at(&["exitCodes", "values"]).items().iter().any(|code| code.as_i64() == Some(exit_code));
        match rule.at(&["exitCodes", "operator"]).as_str() {
            Some("In") => is_listed,
            Some("NotIn") => !is_listed,
            _ => false,
        }
    };
    let first = container.get("restartPolicyRules").items().iter().find(meets);
    first.is_some_and(|rule| rule.get("action").as_str() == Some("Restart"))
}

/// Returns the newest object that one of some annotations marks with `true`; of several, the first by name.
pub(crate) fn newest_marked<'a>(objects: impl Iterator<Item = &'a Object>, marks: &[&str]) -> Option<&'a Object> {
    let is_marked = |object: &&Object| {
        marks.iter().any(|mark| object.stable().at(&["metadata", "annotations", mark]).as_str() == Some("true"))
    };
    let created = |object: &Object| object.stable().at(&["metadata", "creationTimestamp"]).as_text().cloned();
    objects
        .filter(is_marked)
        .min_by(|one, other| created(other).cmp(&created(one)).then_with(|| one.name().cmp(other.name())))
}

/// Tells whether the kind of a CustomResourceDefinition is served.
#[must_use]
pub fn is_established(definition: &Json) -> bool {
    is_condition_true(definition, "Established")
}

#[cfg(test)]
mod tests {
    use super::should_restart;
    use crate::json;
    use crate::objects::Json;

    #[test]
    fn the_first_rule_that_an_exit_code_meets_counts() {
        let rule = |action: &str, operator: &str, codes: [i64; 2]| {
            let values: Json = codes.into_iter().map(Json::from).collect();
            json!({"action": action, "exitCodes": {"operator": operator, "values": values}})
        };
        let container = json!({"restartPolicy": "Never", "restartPolicyRules": [rule("Restart", "In", [42, 43]),
            rule("RestartAllContainers", "In", [7, 8]), rule("Restart", "NotIn", [1, 7])]});
        for (code, restarts) in [(42, true), (43, true), (1, false), (7, false), (8, false), (2, true)] {
            assert_eq!(should_restart(&container, "Always", code), restarts, "{code}");
        }
        assert!(!should_restart(&json!({}), "Never", 0));
    }
}
