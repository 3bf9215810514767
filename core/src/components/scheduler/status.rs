//! What the scheduler writes into the status of Pods: a condition, and for which node a Pod is nominated.
//!
//! Mirrors pkg/api/v1/pod/util.go, `UpdatePodCondition`, and pkg/scheduler/util/utils.go, `PatchPodStatus` (v1.34): the
//! patch is the two-way strategic merge patch between the status seen and the wanted one. Inputs: the Pod, the
//! condition, the nominated node. Outputs: the patch, or nothing if it would be empty.

use alloc::vec::Vec;

use jiff::Timestamp;

use crate::json;
use crate::objects::lifecycle::condition_in;
use crate::objects::patch::two_way;
use crate::objects::time::to_time;
use crate::objects::{Json, Object};

/// A condition to set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Condition<'a> {
    pub(super) kind: &'static str,
    pub(super) status: &'static str,
    pub(super) reason: &'static str,
    pub(super) message: &'a str,
    /// Whether the condition has `observedGeneration`.
    pub(super) tells_generation: bool,
}

/// Returns the patch that sets a condition and, where given, the nominated node; `None` if nothing would change.
pub(super) fn patch(
    pod: &Object,
    condition: Option<Condition<'_>>,
    nominated: Option<&str>,
    now: Timestamp,
) -> Option<Json> {
    let tree = pod.stable();
    let mut status = condition.and_then(|condition| condition_patch(tree, condition, now)).unwrap_or_else(Json::object);
    let before = tree.at(&["status", "nominatedNodeName"]).as_str().unwrap_or("");
    if let Some(node) = nominated.filter(|node| *node != before) {
        status.set(&["nominatedNodeName"], if node.is_empty() { Json::Null } else { Json::from(node) });
    }
    if status.is_empty() {
        return None;
    }
    let mut patch = json!({});
    patch.set(&["status"], status);
    Some(patch)
}

/// Returns the patch that makes the status of one Pod that of another, with a condition more.
///
/// Source: pkg/scheduler/framework/preemption/preemption.go (v1.31), `prepareCandidate`.
pub(super) fn overwrite(pod: &Object, other: &Object, condition: Condition<'_>, now: Timestamp) -> Option<Json> {
    let mut status = other.stable().get("status").clone();
    let added = condition_patch(&Json::object(), condition, now)?;
    status.entry(&["conditions"]).make_array().extend(added.get("conditions").items().iter().cloned());
    let difference = two_way(pod.stable().get("status"), &status);
    let mut patch = json!({});
    patch.set(&["status"], difference);
    Some(patch)
}

fn condition_patch(tree: &Json, condition: Condition<'_>, now: Timestamp) -> Option<Json> {
    let conditions = tree.at(&["status", "conditions"]).items();
    let old = condition_in(conditions, condition.kind);
    let mut new = json!({"type": condition.kind, "status": condition.status, "reason": condition.reason,
        "message": condition.message, "lastProbeTime": null});
    let kept = old.filter(|old| old.get("status").as_str() == Some(condition.status));
    let since = kept.map_or_else(|| Json::from(to_time(now)), |old| old.get("lastTransitionTime").clone());
    new.set(&["lastTransitionTime"], since);
    if condition.tells_generation
        && let Some(number) = tree.at(&["metadata", "generation"]).as_i64()
    {
        new.set(&["observedGeneration"], number);
    }
    let mut entry = new.clone();
    if let Some(old) = old {
        let differs = |field: &str| *old.get(field) != *new.get(field);
        if !["status", "reason", "message", "lastTransitionTime"].into_iter().any(differs) {
            return None;
        }
        entry = new.fields().filter(|(field, _)| differs(field)).map(|(f, v)| (f.clone(), v.clone())).collect();
        entry.set(&["type"], condition.kind);
    }
    let mut patch = json!({});
    patch.set(&["conditions"], Json::array(Vec::from([entry])));
    if !conditions.is_empty() {
        let mut order: Vec<Json> = conditions.iter().map(|one| json!({"type": one.get("type").as_str()})).collect();
        if old.is_none() {
            order.push(json!({"type": condition.kind}));
        }
        patch.set(&["$setElementOrder/conditions"], Json::array(order));
    }
    Some(patch)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{Condition, patch};
    use crate::json;
    use crate::objects::Object;

    const WAITING: Condition<'_> = Condition {
        kind: "PodScheduled",
        status: "False",
        reason: "Unschedulable",
        message: "m",
        tells_generation: true,
    };

    #[test]
    fn the_first_condition_goes_whole_and_a_later_one_by_what_differs() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let bare = Object::new(json!({"metadata": {"generation": 1}}), 1);
        let first = patch(&bare, Some(WAITING), Some(""), now).unwrap();
        assert_eq!(
            first,
            json!({"status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                "message": "m", "lastProbeTime": null, "lastTransitionTime": "2026-01-01T00:00:00Z",
                "observedGeneration": 1}]}})
        );
        let mut tree = json!({"metadata": {"generation": 1}});
        tree.set(&["status"], first.get("status").clone());
        let there = Object::new(tree, 2);
        let later: Timestamp = "2026-01-01T00:00:09Z".parse().unwrap();
        assert_eq!(patch(&there, Some(WAITING), None, later), None);
        assert_eq!(
            patch(&there, Some(Condition { message: "n", ..WAITING }), Some("w1"), later),
            Some(json!({"status": {"$setElementOrder/conditions": [{"type": "PodScheduled"}],
                "conditions": [{"type": "PodScheduled", "message": "n"}], "nominatedNodeName": "w1"}}))
        );
    }

    #[test]
    fn a_nomination_is_taken_back_by_null() {
        let pod = Object::new(json!({"status": {"nominatedNodeName": "w1"}}), 1);
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(patch(&pod, None, Some(""), now), Some(json!({"status": {"nominatedNodeName": null}})));
        assert_eq!(patch(&pod, None, Some("w1"), now), None);
        assert_eq!(patch(&pod, None, None, now), None);
    }
}
