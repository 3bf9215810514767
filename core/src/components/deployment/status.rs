//! The status of a Deployment: counts of its ReplicaSets, and the conditions Available and Progressing.
//!
//! Mirrors `calculateStatus` and `syncRolloutStatus` (pkg/controller/deployment/{sync,progress}.go, v1.34). Inputs: the
//! Deployment and its ReplicaSets. Output: the status. Left out on purpose: the deadline of a rollout's progress.

use alloc::format;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::{DeploymentSync, size};
use crate::components::workload::pods::{number, set_unless_zero};
use crate::json;
use crate::objects::time::to_time;
use crate::objects::{Json, Object};

/// Source: k8s.io/api apps/v1/types.go (v1.34): a deadline of `MaxInt32` seconds is none.
const NO_DEADLINE: i64 = 2_147_483_647;

/// Tells whether a rollout's progress is watched; it is so by default.
pub(super) fn has_deadline(deployment: &Object) -> bool {
    number(deployment, &["spec", "progressDeadlineSeconds"], 600) != NO_DEADLINE
}

/// Makes a condition.
pub(super) fn condition(kind: &str, status: &str, reason: &str, message: &str, now: Timestamp) -> Json {
    json!({"type": kind, "status": status, "lastUpdateTime": to_time(now), "lastTransitionTime": to_time(now),
        "reason": reason, "message": message})
}

/// Sets a condition of a tree's status, unless it has its status and reason already.
///
/// Source: pkg/controller/deployment/util/deployment_util.go (v1.34), `SetDeploymentCondition`.
pub(super) fn set(tree: &mut Json, new: Json) {
    set_in(tree.entry(&["status", "conditions"]).make_array(), new);
}

fn set_in(conditions: &mut Vec<Json>, mut new: Json) {
    let kind = new.get("type").clone();
    let old = conditions.iter().find(|one| *one.get("type") == kind);
    if let Some(old) = old.filter(|old| old.get("status") == new.get("status")) {
        if old.get("reason") == new.get("reason") {
            return;
        }
        new.set(&["lastTransitionTime"], old.get("lastTransitionTime").clone());
    }
    conditions.retain(|one| *one.get("type") != kind);
    conditions.push(new);
}

/// Returns the status.
pub(super) fn of(work: &DeploymentSync, tells_terminating: bool, now: Timestamp) -> Json {
    let deployment = &work.deployment;
    let sum = |field: &str| work.sets.iter().map(|set| number(set, &["status", field], 0)).sum::<i64>();
    let updated = work.newest().map_or(0, |set| number(set, &["status", "replicas"], 0));
    let (replicas, available) = (sum("replicas"), sum("availableReplicas"));
    let total: i64 = work.sets.iter().map(size).sum();
    let old = work.tree.get("status");
    let mut status = Json::object();
    set_unless_zero(&mut status, &["observedGeneration"], number(deployment, &["metadata", "generation"], 0));
    set_unless_zero(&mut status, &["replicas"], replicas);
    set_unless_zero(&mut status, &["updatedReplicas"], updated);
    set_unless_zero(&mut status, &["readyReplicas"], sum("readyReplicas"));
    set_unless_zero(&mut status, &["availableReplicas"], available);
    set_unless_zero(&mut status, &["unavailableReplicas"], (total - available).max(0));
    if tells_terminating {
        status.set(&["terminatingReplicas"], sum("terminatingReplicas"));
    }
    if !old.get("collisionCount").is_null() {
        status.set(&["collisionCount"], old.get("collisionCount").clone());
    }
    let mut conditions = old.get("conditions").items().to_vec();
    let is_available = available >= work.replicas() - work.max_unavailable();
    let (truth, reason, words) = if is_available {
        ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    } else {
        ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    };
    set_in(&mut conditions, condition("Available", truth, reason, words, now));
    if has_deadline(deployment) {
        progress(work, &status, &mut conditions, now);
    } else {
        conditions.retain(|one| one.get("type").as_str() != Some("Progressing"));
    }
    status.set(&["conditions"], conditions);
    status
}

fn progress(work: &DeploymentSync, status: &Json, conditions: &mut Vec<Json>, now: Timestamp) {
    let old = work.tree.get("status");
    let count = |status: &Json, field: &str| status.get(field).as_i64().unwrap_or(0);
    let current = conditions.iter().find(|one| one.get("type").as_str() == Some("Progressing")).cloned();
    let is_settled = count(status, "replicas") == count(status, "updatedReplicas")
        && current.as_ref().is_some_and(|one| one.get("reason").as_str() == Some("NewReplicaSetAvailable"));
    if is_settled {
        return;
    }
    let named = match &work.new {
        Some(name) => format!("ReplicaSet \"{name}\""),
        None => format!("Deployment \"{}\"", work.deployment.name()),
    };
    let wanted = work.replicas();
    let is_complete =
        ["updatedReplicas", "replicas", "availableReplicas"].iter().all(|field| count(status, field) == wanted);
    let outdated = |status: &Json| count(status, "replicas") - count(status, "updatedReplicas");
    let grew = |field: &str| count(status, field) > count(old, field);
    let moves = grew("updatedReplicas")
        || outdated(status) < outdated(old)
        || grew("readyReplicas")
        || grew("availableReplicas");
    if is_complete {
        let words = format!("{named} has successfully progressed.");
        set_in(conditions, condition("Progressing", "True", "NewReplicaSetAvailable", &words, now));
    } else if moves {
        let words = format!("{named} is progressing.");
        let mut new = condition("Progressing", "True", "ReplicaSetUpdated", &words, now);
        if let Some(current) = current.filter(|one| one.get("status").as_str() == Some("True")) {
            new.set(&["lastTransitionTime"], current.get("lastTransitionTime").clone());
        }
        conditions.retain(|one| one.get("type").as_str() != Some("Progressing"));
        set_in(conditions, new);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{condition, set_in};
    use crate::json;

    #[test]
    fn a_condition_keeps_its_transition_while_its_status_stays() {
        let at = |text: &str| text.parse().unwrap();
        let mut conditions = Vec::new();
        let (early, late) = (at("2026-01-01T00:00:00Z"), at("2026-01-01T00:01:00Z"));
        set_in(&mut conditions, condition("Progressing", "True", "ReplicaSetUpdated", "a", early));
        set_in(&mut conditions, condition("Progressing", "True", "ReplicaSetUpdated", "b", late));
        assert_eq!(conditions[0].get("message").as_str(), Some("a"));
        set_in(&mut conditions, condition("Progressing", "True", "NewReplicaSetAvailable", "c", late));
        assert_eq!(
            conditions,
            [json!({"type": "Progressing", "status": "True", "lastUpdateTime": "2026-01-01T00:01:00Z",
                "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "NewReplicaSetAvailable", "message": "c"})]
        );
    }
}
