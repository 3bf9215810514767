//! Patches of a pod's status that controllers make before they delete it.
//!
//! Mirrors `PatchPodStatus` (pkg/util/pod/pod.go, v1.34) as far as the condition `DisruptionTarget` and the phase go: a
//! strategic merge patch of what differs, bound to the pod's UID. Inputs: the pod as it was read. Outputs: the patch.

use alloc::vec::Vec;

use jiff::Timestamp;

use crate::json;
use crate::objects::lifecycle::condition_in;
use crate::objects::time::to_time;
use crate::objects::{Json, Object};
use crate::profile::Profile;

/// Whether writes of a pod's status set `observedGeneration`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Generation {
    /// They do.
    Observed,
    /// They do not.
    NotObserved,
}

impl Generation {
    /// Returns how the status of a pod is written before its deletion; `None` where it is not.
    ///
    /// Source: pkg/controller/podgc/gc_controller.go, `markFailedAndDeletePodWithCondition`, and
    /// pkg/controller/nodelifecycle/scheduler/taint_manager.go, `addConditionAndDeletePod` (v1.25, v1.26).
    pub(super) fn of(profile: &Profile) -> Option<Self> {
        let observed = profile.is("pod-conditions-observe-generation");
        let own = if observed { Self::Observed } else { Self::NotObserved };
        profile.is("disruptions-are-told").then_some(own)
    }
}

/// Why a pod is disrupted: reason and message of its condition `DisruptionTarget`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct DisruptionTarget {
    /// The reason, as `DeletionByPodGC`.
    pub(super) reason: &'static str,
    /// The message.
    pub(super) message: &'static str,
}

/// Returns the patch that sets `DisruptionTarget`; `None` if the pod has it already.
pub(super) fn target_patch(
    pod: &Object,
    target: DisruptionTarget,
    generation: Generation,
    now: Timestamp,
) -> Option<Json> {
    let mut patch = json!({"metadata": {"uid": pod.uid()}});
    set_target(&mut patch, pod, target, generation, now).then_some(patch)
}

/// Returns the patch that ends a pod as Failed, with `DisruptionTarget` if there is a reason for one.
pub(super) fn failed_patch(
    pod: &Object,
    target: Option<DisruptionTarget>,
    generation: Generation,
    now: Timestamp,
) -> Json {
    let mut patch = json!({"metadata": {"uid": pod.uid()}});
    if let Some(target) = target {
        set_target(&mut patch, pod, target, generation, now);
    }
    let tree = pod.stable();
    let about = tree.at(&["metadata", "generation"]);
    if generation == Generation::Observed && !about.is_null() && about != tree.at(&["status", "observedGeneration"]) {
        patch.set(&["status", "observedGeneration"], about.clone());
    }
    patch.set(&["status", "phase"], "Failed");
    patch
}

fn set_target(
    patch: &mut Json,
    pod: &Object,
    target: DisruptionTarget,
    generation: Generation,
    now: Timestamp,
) -> bool {
    let tree = pod.stable();
    let conditions = tree.at(&["status", "conditions"]).items();
    let old = condition_in(conditions, "DisruptionTarget");
    let mut new = json!({"type": "DisruptionTarget", "status": "True", "reason": target.reason,
        "message": target.message, "lastProbeTime": null});
    let was_true = old.filter(|old| old.get("status").as_str() == Some("True"));
    let since = was_true.map_or_else(|| Json::from(to_time(now)), |old| old.get("lastTransitionTime").clone());
    new.set(&["lastTransitionTime"], since);
    if generation == Generation::Observed
        && let Some(number) = tree.at(&["metadata", "generation"]).as_i64()
    {
        new.set(&["observedGeneration"], number);
    }
    let mut condition = new.clone();
    if let Some(old) = old {
        let differs = |field: &str| *old.get(field) != *new.get(field);
        if !["status", "reason", "message", "lastTransitionTime"].into_iter().any(differs) {
            return false;
        }
        condition = new.fields().filter(|(field, _)| differs(field)).map(|(f, v)| (f.clone(), v.clone())).collect();
        condition.set(&["type"], "DisruptionTarget");
    }
    patch.set(&["status", "conditions"], Json::array(Vec::from([condition])));
    if !conditions.is_empty() {
        let mut order: Vec<Json> = conditions.iter().map(|one| json!({"type": one.get("type").as_str()})).collect();
        if old.is_none() {
            order.push(json!({"type": "DisruptionTarget"}));
        }
        patch.set(&["status", "$setElementOrder/conditions"], Json::array(order));
    }
    true
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{DisruptionTarget, Generation, failed_patch, target_patch};
    use crate::json;
    use crate::objects::Object;

    const TARGET: DisruptionTarget =
        DisruptionTarget { reason: "DeletionByPodGC", message: "PodGC: node no longer exists" };

    #[test]
    fn the_condition_is_appended_and_named_in_the_order_of_elements() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let pod = Object::new(
            json!({"metadata": {"uid": "u", "generation": 3}, "status": {"conditions": [{"type": "Ready"}]}}),
            1,
        );
        let patch = target_patch(&pod, TARGET, Generation::Observed, now).unwrap();
        assert_eq!(
            patch,
            json!({"metadata": {"uid": "u"}, "status": {
                "$setElementOrder/conditions": [{"type": "Ready"}, {"type": "DisruptionTarget"}],
                "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC",
                    "message": "PodGC: node no longer exists", "lastProbeTime": null,
                    "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 3}]}})
        );
        let bare = Object::new(json!({"metadata": {"uid": "u", "generation": 3}}), 1);
        let patch = target_patch(&bare, TARGET, Generation::NotObserved, now).unwrap();
        assert!(patch.at(&["status", "$setElementOrder/conditions"]).is_null());
        assert!(patch.at(&["status", "conditions"]).items()[0].get("observedGeneration").is_null());
    }

    #[test]
    fn a_pod_that_has_the_condition_is_not_patched() {
        let now = Timestamp::UNIX_EPOCH;
        let pod = Object::new(json!({"metadata": {"uid": "u"}}), 1);
        let patch = target_patch(&pod, TARGET, Generation::Observed, now).unwrap();
        let mut again = json!({"metadata": {"uid": "u"}});
        again.set(&["status", "conditions"], patch.at(&["status", "conditions"]).clone());
        let later = "2026-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(target_patch(&Object::new(again, 2), TARGET, Generation::Observed, later), None);
    }

    #[test]
    fn a_failed_pod_tells_its_generation_only_where_the_status_does_not_yet() {
        let now = Timestamp::UNIX_EPOCH;
        let cases = [
            (json!({"metadata": {"uid": "u", "generation": 2}}), json!({"observedGeneration": 2, "phase": "Failed"})),
            (
                json!({"metadata": {"uid": "u", "generation": 2}, "status": {"observedGeneration": 2}}),
                json!({"phase": "Failed"}),
            ),
        ];
        for (pod, expected) in cases {
            let patch = failed_patch(&Object::new(pod, 1), None, Generation::Observed, now);
            assert_eq!(*patch.get("status"), expected);
        }
    }
}
