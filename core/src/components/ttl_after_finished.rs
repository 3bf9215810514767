//! Deletes Jobs so many seconds after they have ended.
//!
//! Mirrors kube-controller-manager's `ttl-after-finished-controller` (pkg/controller/ttlafterfinished/
//! ttlafterfinished_controller.go, v1.34). The seconds count from the condition that ended the Job, which is kept to
//! the second. Before the deletion the Job is read once more. Inputs: Jobs, answers, time. Outputs: deletions in the
//! foreground, for the uid that was read.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::Because;
use super::client::CacheEvent;
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, code, failure, object,
};
use super::workload::JOBS;
use crate::json;
use crate::network::{Call, Verb};
use crate::objects::lifecycle::{condition, is_ending, job_end};
use crate::objects::{Object, ObjectKey, time};

const CONFIG: ControllerConfig = ControllerConfig {
    queue: "ttl_jobs_to_delete",
    workers: 5,
    retries: Retries::ENDLESS,
    watched: &[Watched::of(JOBS)],
};

/// Starts the controller with an empty cache.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    KeyedController::new(TtlAfterFinished::default(), &CONFIG, context, now)
}

/// What a request is for.
#[derive(Clone, Copy, Debug)]
enum ExpiryPurpose {
    Read,
    Delete,
}

/// What the controller knows: the Jobs to delete, as they were read. It keeps the contract of
/// [`Component`](super::Component).
#[derive(Clone, Debug, Default)]
struct TtlAfterFinished {
    expired: BTreeMap<ObjectKey, Object>,
}

/// Returns when a Job is to be deleted; `None` for one that has not ended, has no such time, or is being deleted.
fn expiry(job: &Object) -> Option<Timestamp> {
    let seconds = job.stable().at(&["spec", "ttlSecondsAfterFinished"]).as_i64().filter(|_| !is_ending(job))?;
    let end = condition(job, job_end(job)?);
    Some(time::parse(end.get("lastTransitionTime").as_str()?)? + SignedDuration::from_secs(seconds))
}

/// Tells whether a Job is to be deleted now; one whose time comes later is looked at then.
fn is_due(key: &ObjectKey, job: &Object, runtime: &mut KeyedRuntime<ExpiryPurpose>, now: Timestamp) -> bool {
    let Some(at) = expiry(job) else { return false };
    if at > now {
        runtime.add_after(key.clone(), at.duration_since(now), now);
    }
    at <= now
}

impl Reconciler for TtlAfterFinished {
    type Purpose = ExpiryPurpose;

    fn handle_event(&mut self, _: usize, event: &CacheEvent, runtime: &mut KeyedRuntime<ExpiryPurpose>, _: Timestamp) {
        if let Some(job) = event.after.as_ref().filter(|job| expiry(job).is_some()) {
            runtime.add(job.key());
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<ExpiryPurpose>, now: Timestamp) -> Flow {
        let Some(job) = runtime.cache(0).get(key).cloned() else { return Flow::Done };
        if is_due(key, &job, runtime, now) {
            let call = Call::new(Verb::Get, JOBS, &key.namespace, &key.name);
            runtime.send(key, ExpiryPurpose::Read, call, None, now);
        }
        Flow::Next
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        step: ExpiryPurpose,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<ExpiryPurpose>,
        now: Timestamp,
    ) -> Flow {
        match (step, failure(reply)) {
            (ExpiryPurpose::Read, Some(_)) if code(reply) == 404 => {}
            (_, Some(_)) => return Flow::Retry,
            (ExpiryPurpose::Read, None) => {
                if let Some(job) = object(reply).filter(|job| is_due(key, job, runtime, now)) {
                    self.expired.insert(key.clone(), job);
                }
            }
            (ExpiryPurpose::Delete, None) => {}
        }
        Flow::Next
    }

    fn proceed(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<ExpiryPurpose>, now: Timestamp) -> Flow {
        let Some(job) = self.expired.remove(key) else { return Flow::Done };
        let seconds = job.stable().at(&["spec", "ttlSecondsAfterFinished"]).as_i64().unwrap_or(0);
        let fact = Vec::from([Because::Fact(format!("it ended {seconds} s ago or earlier"))]);
        let because = runtime.decide(format!("job/{key}"), "delete", fact);
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Foreground",
            "preconditions": {"uid": job.uid()}});
        let call = Call::new(Verb::Delete, JOBS, &key.namespace, &key.name).body(options);
        runtime.send(key, ExpiryPurpose::Delete, call, Some(because), now);
        Flow::Next
    }
}
