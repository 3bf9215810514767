//! How long a Job waits before it makes another pod after failures.
//!
//! Mirrors pkg/controller/job/backoff_utils.go (v1.34). Inputs: pods that ended since the last sync, the time. Outputs:
//! how many failed since the last success, and the pause that is left: 10 s after the end of the last one, doubled with
//! each further failure, 10 minutes at most.

use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::indexes::all_failures;
use crate::objects::lifecycle::{condition, is_sidecar};
use crate::objects::{Json, Object, time};

/// The pause after the first failure.
/// Source: pkg/controller/job/job_controller.go (v1.34), `DefaultJobPodFailureBackOff`.
const FIRST: SignedDuration = SignedDuration::from_secs(10);
/// The longest pause. Source: pkg/controller/job/job_controller.go (v1.34), `MaxJobPodFailureBackOff`.
const LONGEST: SignedDuration = SignedDuration::from_secs(600);

/// The failures of a Job since its last success.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct BackoffRecord {
    failures: u32,
    last: Option<Timestamp>,
}

impl BackoffRecord {
    /// Returns the record after more pods ended; those that failed before the last success no longer count.
    pub(super) fn after(&self, succeeded: &[Object], failed: &[Object]) -> Self {
        let ends = |pods: &[Object]| pods.iter().map(finished_at).collect::<Vec<_>>();
        let mut failed = ends(failed);
        let Some(success) = ends(succeeded).into_iter().max() else {
            let more = u32::try_from(failed.len()).unwrap_or(u32::MAX);
            let last = failed.into_iter().max().or(self.last);
            return Self { failures: self.failures.saturating_add(more), last };
        };
        failed.retain(|end| *end > success);
        Self { failures: u32::try_from(failed.len()).unwrap_or(u32::MAX), last: failed.into_iter().max() }
    }

    /// Returns the number of failures, for a decision.
    pub(super) const fn failures(&self) -> u32 {
        self.failures
    }

    /// Returns the pause that is left.
    pub(super) fn remaining(&self, now: Timestamp) -> SignedDuration {
        let Some(last) = self.last.filter(|_| self.failures > 0) else { return SignedDuration::ZERO };
        let pause = FIRST.saturating_mul(1 << (self.failures - 1).min(16)).min(LONGEST);
        (pause - now.duration_since(last)).max(SignedDuration::ZERO)
    }
}

/// Returns the pause that is left before the pod of an index is replaced; none for an index whose pods did not fail.
pub(super) fn remaining_of_index(failed: Option<&Object>, now: Timestamp) -> SignedDuration {
    let Some(pod) = failed else { return SignedDuration::ZERO };
    let failures = u32::try_from(all_failures(pod) + 1).unwrap_or(u32::MAX);
    BackoffRecord { failures, last: Some(finished_at(pod)) }.remaining(now)
}

/// Returns when a pod ended: when the last of its containers did, when it was last ready, or when its deletion began.
pub(super) fn finished_at(pod: &Object) -> Timestamp {
    let instant = |json: &Json| json.as_str().and_then(time::parse);
    let tree = pod.stable();
    let ready = condition(pod, "Ready");
    let unready = || {
        let is_false = ready.get("status").as_str() == Some("False");
        instant(ready.get("lastTransitionTime")).filter(|_| is_false)
    };
    let deleted = || {
        let grace = tree.at(&["metadata", "deletionGracePeriodSeconds"]).as_i64().unwrap_or(0);
        Some(instant(tree.at(&["metadata", "deletionTimestamp"]))? - SignedDuration::from_secs(grace))
    };
    let created = || instant(tree.at(&["metadata", "creationTimestamp"])).unwrap_or_default();
    containers_end(tree).or_else(unready).or_else(deleted).unwrap_or_else(created)
}

/// Returns when the last container or sidecar ended, if all have.
fn containers_end(tree: &Json) -> Option<Timestamp> {
    let inits = tree.at(&["spec", "initContainers"]).items();
    let is_of_sidecar =
        |status: &&Json| inits.iter().any(|init| init.get("name") == status.get("name") && is_sidecar(init));
    let end = |status: &Json| status.at(&["state", "terminated", "finishedAt"]).as_str().and_then(time::parse);
    let of = |list| tree.at(&["status", list]).items().iter();
    let own = of("containerStatuses").chain(of("initContainerStatuses").filter(is_of_sidecar));
    own.map(end).collect::<Option<Vec<_>>>()?.into_iter().max()
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::{BackoffRecord, finished_at, remaining_of_index};
    use crate::json;
    use crate::objects::{Json, Object, time};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn ended(second: i64) -> Object {
        let end = time::to_time(at(second));
        Object::new(json!({"status": {"containerStatuses": [{"state": {"terminated": {"finishedAt": end}}}]}}), 1)
    }

    #[test]
    fn the_pause_doubles_with_each_failure_up_to_ten_minutes_and_counts_from_the_last_one() {
        for (failures, pause) in [(0, 0), (1, 10), (2, 20), (6, 320), (7, 600), (40, 600)] {
            let record = BackoffRecord { failures, last: Some(at(100)) };
            assert_eq!(record.remaining(at(100)), SignedDuration::from_secs(pause), "{failures}");
        }
        let record = BackoffRecord::default().after(&[], &[ended(102), ended(100)]);
        assert_eq!(record.remaining(at(110)), SignedDuration::from_secs(12));
        assert_eq!(record.remaining(at(130)), SignedDuration::ZERO);
        assert_eq!(record.after(&[], &[]), record);
    }

    #[test]
    fn only_failures_after_the_last_success_count() {
        let before = BackoffRecord::default().after(&[], &[ended(100)]);
        assert_eq!(before.after(&[ended(105)], &[]), BackoffRecord::default());
        let after = before.after(&[ended(105)], &[ended(105), ended(106), ended(107)]);
        assert_eq!(after, BackoffRecord { failures: 2, last: Some(at(107)) });
    }

    #[test]
    fn the_pause_of_an_index_follows_from_its_last_pod() {
        assert_eq!(remaining_of_index(None, at(100)), SignedDuration::ZERO);
        let mut pod = ended(100).json();
        pod.set(&["metadata", "annotations", "batch.kubernetes.io/job-index-failure-count"], "1");
        pod.set(&["metadata", "annotations", "batch.kubernetes.io/job-index-ignored-failure-count"], "1");
        assert_eq!(remaining_of_index(Some(&Object::new(pod, 1)), at(101)), SignedDuration::from_secs(39));
    }

    #[test]
    fn a_pod_ended_with_its_last_container_or_when_it_was_no_longer_ready_or_was_deleted() {
        let mut pod = json!({"metadata": {"creationTimestamp": time::to_time(at(1))}});
        let ends = |pod: &Json| finished_at(&Object::new(pod.clone(), 1));
        assert_eq!(ends(&pod), at(1));
        pod.set(&["metadata", "deletionTimestamp"], time::to_time(at(40)));
        pod.set(&["metadata", "deletionGracePeriodSeconds"], 30_i64);
        assert_eq!(ends(&pod), at(10));
        let ready =
            |status: &str| json!([{"type": "Ready", "status": status, "lastTransitionTime": time::to_time(at(5))}]);
        pod.set(&["status", "conditions"], ready("True"));
        assert_eq!(ends(&pod), at(10));
        pod.set(&["status", "conditions"], ready("False"));
        assert_eq!(ends(&pod), at(5));
        let ended = |second: i64| json!({"terminated": {"finishedAt": time::to_time(at(second))}});
        pod.set(&["status", "containerStatuses"], json!([{"name": "a", "state": ended(3)}, {"name": "b"}]));
        assert_eq!(ends(&pod), at(5));
        pod.set(&["status", "containerStatuses"], json!([{"name": "a", "state": ended(3)}]));
        pod.set(&["spec", "initContainers"], json!([{"name": "s", "restartPolicy": "Always"}, {"name": "i"}]));
        let inits = json!([{"name": "s", "state": ended(4)}, {"name": "i", "state": ended(9)}]);
        pod.set(&["status", "initContainerStatuses"], inits);
        assert_eq!(ends(&pod), at(4));
    }
}
