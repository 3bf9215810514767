//! The status of a Deployment: counts of its ReplicaSets, and the conditions Available and Progressing.
//!
//! Mirrors `calculateStatus`, `syncRolloutStatus` and `requeueStuckDeployment` (pkg/controller/deployment/{sync,
//! progress}.go, v1.34). Inputs: the Deployment and its ReplicaSets, time. Outputs: the status, and when a rollout
//! without progress is to be looked at again: a Deployment whose rollout has long ended and that lacks pods is looked
//! at all the time, as often as the queue's rate limiter allows.

use alloc::format;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::{DeploymentSync, size};
use crate::components::client::{PAUSE_FIRST, TokenBucket};
use crate::components::workload::pods::{number, set_unless_zero};
use crate::json;
use crate::objects::lifecycle::{condition as object_condition, condition_of};
use crate::objects::time::{self, to_time};
use crate::objects::{Json, Object};

/// Source: k8s.io/api apps/v1/types.go (v1.34): a deadline of `MaxInt32` seconds is none.
const NO_DEADLINE: i64 = 2_147_483_647;

/// Source: pkg/apis/apps/v1/defaults.go (v1.34), `SetDefaults_Deployment`.
const DEFAULT_DEADLINE: i64 = 600;
/// Source: pkg/controller/deployment/util/deployment_util.go (v1.34), `TimedOutReason`.
const TIMED_OUT: &str = "ProgressDeadlineExceeded";

/// Tells whether a rollout's progress is watched; it is so by default.
pub(super) fn has_deadline(deployment: &Object) -> bool {
    number(deployment, &["spec", "progressDeadlineSeconds"], DEFAULT_DEADLINE) != NO_DEADLINE
}

/// Makes a condition.
pub(super) fn condition(kind: &str, status: &str, reason: &str, message: &str, now: Timestamp) -> Json {
    json!({"type": kind, "status": status, "lastUpdateTime": to_time(now), "lastTransitionTime": to_time(now),
        "reason": reason, "message": message})
}

/// Returns the condition Progressing of a Deployment; `Null` for none.
pub(super) fn progressing(tree: &Json) -> &Json {
    condition_of(tree, "Progressing")
}

/// Sets a condition of a tree's status, unless it has its status and reason already; tells whether it did.
///
/// Source: pkg/controller/deployment/util/deployment_util.go (v1.34), `SetDeploymentCondition`.
pub(super) fn set(tree: &mut Json, new: Json) -> bool {
    set_in(tree.entry(&["status", "conditions"]).make_array(), new)
}

fn set_in(conditions: &mut Vec<Json>, mut new: Json) -> bool {
    let kind = new.get("type").clone();
    let old = conditions.iter().find(|one| *one.get("type") == kind);
    if let Some(old) = old.filter(|old| old.get("status") == new.get("status")) {
        if old.get("reason") == new.get("reason") {
            return false;
        }
        new.set(&["lastTransitionTime"], old.get("lastTransitionTime").clone());
    }
    conditions.retain(|one| *one.get("type") != kind);
    conditions.push(new);
    true
}

/// Notes that a rollout is paused, or no longer is; tells whether the status changed.
///
/// Source: pkg/controller/deployment/sync.go (v1.34), `checkPausedConditions`.
pub(super) fn set_paused(work: &mut DeploymentSync, now: Timestamp) -> bool {
    let reason = progressing(&work.tree).get("reason").as_str();
    if !has_deadline(&work.deployment) || reason == Some(TIMED_OUT) {
        return false;
    }
    let (reason, words) = match (work.is_paused(), reason == Some("DeploymentPaused")) {
        (true, false) => ("DeploymentPaused", "Deployment is paused"),
        (false, true) => ("DeploymentResumed", "Deployment is resumed"),
        _ => return false,
    };
    set(&mut work.tree, condition("Progressing", "Unknown", reason, words, now))
}

/// Returns the counts, and the condition Available.
pub(super) fn of(work: &DeploymentSync, tells_terminating: bool, now: Timestamp) -> Json {
    let deployment = &work.deployment;
    let sum = |field: &str| work.all().map(|set| number(set, &["status", field], 0)).sum::<i64>();
    let updated = work.new.as_ref().map_or(0, |set| number(set, &["status", "replicas"], 0));
    let (replicas, available) = (sum("replicas"), sum("availableReplicas"));
    let total: i64 = work.all().map(size).sum();
    let old = work.tree.get("status");
    let mut status = Json::object();
    set_unless_zero(&mut status, &["observedGeneration"], number(deployment, &["metadata", "generation"], 0));
    set_unless_zero(&mut status, &["replicas"], replicas);
    set_unless_zero(&mut status, &["updatedReplicas"], updated);
    set_unless_zero(&mut status, &["readyReplicas"], sum("readyReplicas"));
    set_unless_zero(&mut status, &["availableReplicas"], available);
    set_unless_zero(&mut status, &["unavailableReplicas"], (total - available).max(0));
    // A ReplicaSet whose controller did not count them yet makes the sum unknown.
    let is_counted = |set: &Object| {
        let status = set.stable().get("status");
        !status.get("terminatingReplicas").is_null() || status.get("observedGeneration").is_null()
    };
    if tells_terminating && work.all().all(is_counted) {
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
    status.set(&["conditions"], conditions);
    status
}

/// Adds the conditions of a rollout to the counts: its progress, and what its ReplicaSets failed at.
pub(super) fn add_rollout(work: &DeploymentSync, status: &mut Json, now: Timestamp) {
    let mut conditions = status.get("conditions").items().to_vec();
    if has_deadline(&work.deployment) {
        progress(work, status, &mut conditions, now);
    } else {
        conditions.retain(|one| one.get("type").as_str() != Some("Progressing"));
    }
    let failure = work.new.iter().chain(work.all()).find_map(|set| {
        let failure = object_condition(set, "ReplicaFailure");
        (!failure.is_null()).then_some(failure)
    });
    match failure {
        Some(failure) => {
            let mut own = failure.clone();
            own.set(&["lastUpdateTime"], failure.get("lastTransitionTime").clone());
            set_in(&mut conditions, own);
        }
        None => conditions.retain(|one| one.get("type").as_str() != Some("ReplicaFailure")),
    }
    status.set(&["conditions"], conditions);
}

fn count(status: &Json, field: &str) -> i64 {
    status.get(field).as_i64().unwrap_or(0)
}

/// Tells whether a status says that all pods are new and available.
///
/// Source: pkg/controller/deployment/util/deployment_util.go (v1.34), `DeploymentComplete`.
pub(super) fn is_complete(work: &DeploymentSync, status: &Json) -> bool {
    let wanted = work.replicas();
    ["updatedReplicas", "replicas", "availableReplicas"].iter().all(|field| count(status, field) == wanted)
        && count(status, "observedGeneration") >= number(&work.deployment, &["metadata", "generation"], 0)
}

/// Returns when a rollout has had no progress for too long.
fn deadline(work: &DeploymentSync, progressing: &Json) -> Option<Timestamp> {
    let since = progressing.get("lastUpdateTime").as_str().and_then(time::parse)?;
    let seconds = number(&work.deployment, &["spec", "progressDeadlineSeconds"], DEFAULT_DEADLINE);
    since.checked_add(SignedDuration::from_secs(seconds)).ok()
}

fn progress(work: &DeploymentSync, status: &Json, conditions: &mut Vec<Json>, now: Timestamp) {
    let old = work.tree.get("status");
    let current = progressing(&work.tree).clone();
    let reason = current.get("reason").as_str();
    if count(status, "replicas") == count(status, "updatedReplicas") && reason == Some("NewReplicaSetAvailable") {
        return;
    }
    let named = match &work.new {
        Some(set) => format!("ReplicaSet \"{}\"", set.name()),
        None => format!("Deployment \"{}\"", work.deployment.name()),
    };
    let outdated = |status: &Json| count(status, "replicas") - count(status, "updatedReplicas");
    let grew = |field: &str| count(status, field) > count(old, field);
    let moves = grew("updatedReplicas")
        || outdated(status) < outdated(old)
        || grew("readyReplicas")
        || grew("availableReplicas");
    if is_complete(work, status) {
        let words = format!("{named} has successfully progressed.");
        set_in(conditions, condition("Progressing", "True", "NewReplicaSetAvailable", &words, now));
    } else if moves {
        let words = format!("{named} is progressing.");
        let mut new = condition("Progressing", "True", "ReplicaSetUpdated", &words, now);
        if current.get("status").as_str() == Some("True") {
            new.set(&["lastTransitionTime"], current.get("lastTransitionTime").clone());
        }
        conditions.retain(|one| one.get("type").as_str() != Some("Progressing"));
        set_in(conditions, new);
    } else if is_late(work, now) {
        let words = format!("{named} has timed out progressing.");
        set_in(conditions, condition("Progressing", "False", TIMED_OUT, &words, now));
    }
}

/// Source: pkg/controller/deployment/util/deployment_util.go (v1.34), `DeploymentTimedOut`.
fn is_late(work: &DeploymentSync, now: Timestamp) -> bool {
    let current = progressing(&work.tree);
    match current.get("reason").as_str() {
        Some("NewReplicaSetAvailable") => false,
        Some(TIMED_OUT) => true,
        _ => deadline(work, current).is_some_and(|deadline| deadline < now),
    }
}

/// Makes the limit of such looks, for all Deployments together.
///
/// Source: k8s.io/client-go util/workqueue/default_rate_limiters.go (v1.34), `DefaultTypedControllerRateLimiter`.
pub(super) const fn limit(now: Timestamp) -> TokenBucket {
    TokenBucket::new(10.0, 100.0, now)
}

/// Returns after which pause a rollout without progress is to be looked at again, if it is.
///
/// Source: pkg/controller/deployment/progress.go (v1.34), `requeueStuckDeployment`.
pub(super) fn next_look(work: &DeploymentSync, limit: &mut TokenBucket, now: Timestamp) -> Option<SignedDuration> {
    let current = progressing(&work.tree);
    let is_over = is_complete(work, work.tree.get("status")) || current.get("reason").as_str() == Some(TIMED_OUT);
    if !has_deadline(&work.deployment) || is_over {
        return None;
    }
    let left = deadline(work, current)?.duration_since(now);
    let second = SignedDuration::from_secs(1);
    if left >= second {
        return Some(left + second);
    }
    Some(limit.reserve(now)?.duration_since(now).max(PAUSE_FIRST))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use jiff::{SignedDuration, Timestamp};

    use super::{DeploymentSync, condition, limit, next_look, set_in};
    use crate::json;
    use crate::objects::Object;

    #[test]
    fn a_deployment_that_lacks_pods_after_its_rollout_is_looked_at_ten_times_a_second() {
        let deployment = json!({"spec": {"replicas": 2}, "status": {"replicas": 2, "updatedReplicas": 2,
            "availableReplicas": 1, "conditions": [{"type": "Progressing", "status": "True",
                "reason": "NewReplicaSetAvailable", "lastUpdateTime": "2026-01-01T00:00:00Z"}]}});
        let work = DeploymentSync::of(Object::new(deployment, 1), Vec::new());
        let begun: Timestamp = "2026-01-01T01:00:00Z".parse().unwrap();
        let (mut now, mut limit) = (begun, limit(begun));
        let looks = core::iter::from_fn(|| {
            now += next_look(&work, &mut limit, now)?;
            (now <= begun + SignedDuration::from_mins(1)).then_some(())
        });
        assert_eq!(looks.count(), 700);
    }

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
