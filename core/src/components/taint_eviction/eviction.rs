//! One eviction: read the pod, say why in its status, delete it.
//!
//! Mirrors `deletePodHandler` and `addConditionAndDeletePod` (pkg/controller/tainteviction/taint_eviction.go, v1.34):
//! five tries, 10 ms apart; any error counts, even that the pod is gone. No precondition, no disruption budget.

use alloc::format;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use crate::components::DecisionId;
use crate::components::client::Outcome;
use crate::json;
use crate::network::{Call, PODS, Verb};
use crate::objects::time::to_time;
use crate::objects::{Json, Object, ObjectKey};

/// Tries of one eviction. Source: taint_eviction.go (v1.34), `retries`.
const TRIES_MAX: u32 = 5;
/// Pause after a failed try. Source: taint_eviction.go (v1.34), `deletePodHandler`.
const PAUSE: SignedDuration = SignedDuration::from_millis(10);

/// What an eviction does next.
#[derive(Debug)]
pub(super) enum Next {
    /// Send a request.
    Send(Call),
    /// Pause, then go on with [`Eviction::start`].
    Pause(Timestamp),
    /// The pod is being deleted.
    Deleted,
    /// It is given up.
    GivenUp,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Reading,
    Patching,
    Deleting,
}

/// An eviction under way.
#[derive(Debug)]
pub(super) struct Eviction {
    pub(super) pod: ObjectKey,
    pub(super) because: DecisionId,
    stage: Stage,
    tries: u32,
}

impl Eviction {
    pub(super) const fn new(pod: ObjectKey, because: DecisionId) -> Self {
        Self { pod, because, stage: Stage::Reading, tries: 0 }
    }

    fn call(&self, verb: Verb) -> Call {
        Call::new(verb, PODS, &self.pod.namespace, &self.pod.name)
    }

    /// Begins a try, or gives up after the last.
    pub(super) fn start(&mut self) -> Next {
        if self.tries == TRIES_MAX {
            return Next::GivenUp;
        }
        self.tries += 1;
        self.stage = Stage::Reading;
        Next::Send(self.call(Verb::Get))
    }

    /// Goes on after an answer.
    pub(super) fn handle_outcome(&mut self, outcome: Outcome, generation: Generation, now: Timestamp) -> Next {
        match (self.stage, outcome) {
            (Stage::Reading, Outcome::Done(Some(pod))) => match target_patch(&pod, generation, now) {
                Some(patch) => {
                    self.stage = Stage::Patching;
                    let (namespace, name) = (&self.pod.namespace, &self.pod.name);
                    Next::Send(Call::strategic_patch(PODS, namespace, name, patch).subresource("status"))
                }
                None => self.delete(),
            },
            (Stage::Patching, Outcome::Done(_)) => self.delete(),
            (Stage::Deleting, Outcome::Done(_)) => Next::Deleted,
            _ => Next::Pause(now + PAUSE),
        }
    }

    fn delete(&mut self) -> Next {
        self.stage = Stage::Deleting;
        Next::Send(self.call(Verb::Delete).body(json!({"kind": "DeleteOptions", "apiVersion": "v1"})))
    }
}

/// Whether conditions of pods say which generation they are about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Generation {
    Told,
    Untold,
}

/// Returns the patch that sets DisruptionTarget; `None` if the pod has it already.
fn target_patch(pod: &Object, generation: Generation, now: Timestamp) -> Option<Json> {
    let tree = pod.stable();
    let conditions = tree.at(&["status", "conditions"]).items();
    let old = conditions.iter().find(|condition| condition.get("type").as_str() == Some("DisruptionTarget"));
    let mut new = json!({"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint", "lastProbeTime": null});
    let was_true = old.filter(|old| old.get("status").as_str() == Some("True"));
    let since = was_true.map_or_else(|| Json::from(to_time(now)), |old| old.get("lastTransitionTime").clone());
    new.set(&["lastTransitionTime"], since);
    if generation == Generation::Told
        && let Some(number) = tree.at(&["metadata", "generation"]).as_i64()
    {
        new.set(&["observedGeneration"], number);
    }
    let mut condition = new.clone();
    if let Some(old) = old {
        let differs = |field: &str| *old.get(field) != *new.get(field);
        if !["status", "reason", "message", "lastTransitionTime"].into_iter().any(differs) {
            return None;
        }
        condition = new.fields().filter(|(field, _)| differs(field)).map(|(f, v)| (f.clone(), v.clone())).collect();
        condition.set(&["type"], "DisruptionTarget");
    }
    let mut patch = json!({"metadata": {"uid": pod.uid()}});
    patch.set(&["status", "conditions"], Json::array(Vec::from([condition])));
    if !conditions.is_empty() {
        let mut order: Vec<Json> = conditions.iter().map(|one| json!({"type": one.get("type").as_str()})).collect();
        if old.is_none() {
            order.push(json!({"type": "DisruptionTarget"}));
        }
        patch.set(&["status", "$setElementOrder/conditions"], Json::array(order));
    }
    Some(patch)
}

/// Names a pod as its Events do.
pub(super) fn event_name(pod: &ObjectKey) -> alloc::string::String {
    format!("{}/{}", pod.namespace, pod.name)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{Generation, target_patch};
    use crate::json;
    use crate::objects::Object;

    #[test]
    fn the_condition_is_appended_and_named_in_the_order_of_elements() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let pod = Object::new(
            json!({"metadata": {"uid": "u", "generation": 3}, "status": {"conditions": [{"type": "Ready"}]}}),
            1,
        );
        let patch = target_patch(&pod, Generation::Told, now).unwrap();
        assert_eq!(
            patch,
            json!({"metadata": {"uid": "u"}, "status": {
                "$setElementOrder/conditions": [{"type": "Ready"}, {"type": "DisruptionTarget"}],
                "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
                    "message": "Taint manager: deleting due to NoExecute taint", "lastProbeTime": null,
                    "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 3}]}})
        );
        let bare = Object::new(json!({"metadata": {"uid": "u", "generation": 3}}), 1);
        let patch = target_patch(&bare, Generation::Untold, now).unwrap();
        assert!(patch.at(&["status", "$setElementOrder/conditions"]).is_null());
        assert!(patch.at(&["status", "conditions"]).items()[0].get("observedGeneration").is_null());
    }

    #[test]
    fn a_pod_that_has_the_condition_is_not_patched() {
        let now = Timestamp::UNIX_EPOCH;
        let pod = Object::new(json!({"metadata": {"uid": "u"}}), 1);
        let condition = target_patch(&pod, Generation::Told, now).unwrap().at(&["status", "conditions"]).clone();
        let mut again = json!({"metadata": {"uid": "u"}});
        again.set(&["status", "conditions"], condition);
        assert_eq!(
            target_patch(&Object::new(again, 2), Generation::Told, "2026-01-01T00:00:00Z".parse().unwrap()),
            None
        );
    }
}
