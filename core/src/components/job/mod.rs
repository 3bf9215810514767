//! Runs the pods of a Job until enough have succeeded, or too many have failed.
//!
//! Mirrors kube-controller-manager's `job-controller` (pkg/controller/job/{job_controller,tracking_utils}.go and their
//! neighbours, v1.34). What happens to pods is looked at together after a second; a new Job, and one whose
//! specification changed, at once. A sync adopts and releases pods, judges whether the Job has ended, makes or deletes
//! pods, and accounts for those that ended in two steps: their UIDs are written to the status, then the finalizer
//! that keeps them is removed, and then they count. A Job that has ended tells so before (`SuccessCriteriaMet`,
//! `FailureTarget`) and after its last pod is gone (`Complete`, `Failed`).
//! Inputs: Jobs, Pods, answers, time. Outputs: pods created, deleted, adopted, released and let go, statuses, Events.
//! Left out on purpose: Jobs of a completion mode that the server does not know; gates of Jobs that are on by default
//! and turned off; the wait for the controller's own writes that gate `StaleControllerConsistencyJob` adds, since a
//! cache here is never behind for longer than a fault makes it.

mod backoff;
mod claim;
mod indexes;
mod manage;
mod policies;
mod sync;
mod template;
mod track;
mod watching;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use self::backoff::BackoffRecord;
use self::sync::{JobStage, JobSync};
use self::watching::orphan_in;
use super::client::CacheEvent;
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, code, failure, object,
};
use super::events::{EventType, InvolvedObject};
use super::workload::pods::{Orphans, Owned};
use super::workload::{Expectations, JOBS, pod_control};
use crate::json;
use crate::network::{Call, PODS, Verb};
use crate::objects::lifecycle::{is_ending, is_ready, job_end};
use crate::objects::{Json, Object, ObjectKey, Text};

/// The finalizer of pods that the status does not account for yet.
/// Source: k8s.io/api batch/v1/types.go (v1.34), `JobTrackingFinalizer`.
const FINALIZER: &str = "batch.kubernetes.io/job-tracking";
/// How long changes of pods and statuses are gathered before a sync.
/// Source: pkg/controller/job/job_controller.go (v1.34), `SyncJobBatchPeriod`.
const BATCH: SignedDuration = SignedDuration::from_secs(1);
/// Pods made or deleted in one sync at most.
/// Source: pkg/controller/job/job_controller.go (v1.34), `MaxPodCreateDeletePerSync`.
const BURST: usize = 500;
/// Pods whose UIDs a status has at most. Source: pkg/controller/job/job_controller.go (v1.34), `MaxUncountedPods`.
const UNCOUNTED_MAX: usize = 500;

const JOBS_CACHE: usize = 0;
const PODS_CACHE: usize = 1;

/// Source of the pauses: pkg/controller/job/job_controller.go (v1.34), `DefaultJobApiBackOff` and `MaxJobApiBackOff`.
const CONFIG: ControllerConfig = ControllerConfig {
    queue: "job",
    workers: 5,
    retries: Retries { first: SignedDuration::from_secs(1), longest: SignedDuration::from_secs(60), most: u32::MAX },
    watched: &[Watched::of(JOBS), Watched::of(PODS)],
};

/// Starts the controller with empty caches.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let logic = Jobs {
        heeds_manager: context.settings.profile().is("jobs-name-their-manager"),
        forgets_start: context.settings.is_gate_on("MutableSchedulingDirectivesForSuspendedJobs"),
        counts_in_pauses: context.settings.profile().is("jobs-count-pods-in-pauses"),
        pods: Owned::default(),
        orphans: Orphans::default(),
        expectations: Expectations::default(),
        freed: BTreeMap::new(),
        backoff: BTreeMap::new(),
        finished: BTreeSet::new(),
        work: BTreeMap::new(),
    };
    KeyedController::new(logic, &CONFIG, context, now)
}

/// What a request is for.
#[derive(Clone, Debug)]
enum JobPurpose {
    /// Check that the Job still exists, before it adopts pods.
    Confirm,
    Adopt(Object),
    Release,
    Create,
    /// Remove the finalizer of a pod that is deleted next.
    Strip(Object),
    Delete(Object),
    Status,
    /// Remove the finalizer of a pod that the status accounts for.
    Free(Text),
    /// Remove the finalizer of a pod that no Job accounts for.
    FreeOrphan,
}

/// What the controller knows; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
struct Jobs {
    /// Whether Jobs of another manager are left alone.
    heeds_manager: bool,
    /// Whether a Job that is suspended has no start.
    forgets_start: bool,
    /// Whether the active pods count while the Job waits before it makes the next one.
    counts_in_pauses: bool,
    pods: Owned,
    orphans: Orphans,
    expectations: Expectations,
    /// UIDs of pods whose finalizer was removed while the cache still shows it, by Job.
    freed: BTreeMap<ObjectKey, BTreeSet<Text>>,
    backoff: BTreeMap<ObjectKey, BackoffRecord>,
    /// UIDs of Jobs that have ended while the cache does not show it yet.
    finished: BTreeSet<Text>,
    work: BTreeMap<ObjectKey, JobSync>,
}

/// Tells whether a Job has ended. Source: pkg/controller/job/util/utils.go (v1.34), `IsJobFinished`.
fn is_finished(job: &Object) -> bool {
    job_end(job).is_some()
}

/// Makes the patch that removes the finalizer of a pod.
fn without_finalizer() -> Json {
    json!({"metadata": {"$deleteFromPrimitiveList/finalizers": [FINALIZER]}})
}

fn about(job: &Object) -> InvolvedObject {
    InvolvedObject::object("batch/v1", "Job", job)
}

impl Jobs {
    /// Tells whether another controller keeps a Job.
    fn is_foreign(&self, job: &Object) -> bool {
        let manager = job.stable().at(&["spec", "managedBy"]).as_str();
        // Source: k8s.io/api batch/v1/types.go (v1.34), `JobControllerName`.
        self.heeds_manager && manager.is_some_and(|name| name != "kubernetes.io/job-controller")
    }

    /// Forgets what was expected of a Job that is gone.
    fn forget(&mut self, key: &ObjectKey) {
        self.expectations.forget(key);
        self.freed.remove(key);
        self.backoff.remove(key);
    }

    fn send_status(key: &ObjectKey, work: &JobSync, runtime: &mut KeyedRuntime<JobPurpose>, now: Timestamp) {
        let mut body = work.job.json();
        body.set(&["status"], work.status.clone());
        let call = Call::new(Verb::Update, JOBS, &key.namespace, &key.name).subresource("status").body(body);
        runtime.send(key, JobPurpose::Status, call, work.because, now);
    }

    /// Removes the finalizers of the pods that the status accounts for.
    fn free(&mut self, key: &ObjectKey, work: &JobSync, runtime: &mut KeyedRuntime<JobPurpose>, now: Timestamp) {
        for pod in &work.ended {
            let uid = Text::from(pod.uid());
            self.freed.entry(key.clone()).or_default().insert(uid.clone());
            let call = Call::strategic_patch(PODS, &key.namespace, pod.name(), without_finalizer());
            runtime.send(key, JobPurpose::Free(uid), call, work.because, now);
        }
    }

    /// Tells of the end of a Job.
    fn tell_end(&mut self, work: &JobSync, runtime: &mut KeyedRuntime<JobPurpose>, now: Timestamp) {
        self.finished.insert(Text::from(work.job.uid()));
        let Some(end) = &work.end else { return };
        let about = about(&work.job);
        let text = |field| end.get(field).as_str().unwrap_or_default();
        if text("type") != "Complete" {
            runtime.emit(&about, EventType::Warning, text("reason"), text("message"), now);
            return;
        }
        if work.completions.is_some_and(|wanted| work.number("succeeded") > wanted) {
            let message = "Too many succeeded pods running after completion count reached";
            runtime.emit(&about, EventType::Warning, "TooManySucceededPods", message, now);
        }
        runtime.emit(&about, EventType::Normal, "Completed", "Job completed", now);
    }

    /// Begins what comes after the pods are claimed: those of a Job that has ended go, others are made or deleted.
    fn judge(&mut self, key: &ObjectKey, work: &mut JobSync, runtime: &mut KeyedRuntime<JobPurpose>, now: Timestamp) {
        let known = self.backoff.get(key).cloned().unwrap_or_default();
        if let Some(pause) = work.judge(&known, now) {
            runtime.add_after(key.clone(), pause, now);
        }
        work.stage = JobStage::Managed;
        if let Some(end) = &work.end {
            let text = |field| end.get(field).as_str().unwrap_or_default();
            let fact = Vec::from([super::Because::Fact(format!("{}: {}", text("reason"), text("message")))]);
            work.because = Some(runtime.decide(format!("job/{key}"), format!("end with {}", text("type")), fact));
            work.stage = JobStage::Ended;
            work.removed = i64::try_from(work.active.len()).unwrap_or(i64::MAX);
            for pod in work.active.clone() {
                Self::delete(key, pod, work.because, runtime, now);
            }
        } else if work.is_settled && !is_ending(&work.job) {
            work.is_managed = true;
            self.manage(key, work, runtime, now);
        }
    }

    /// Writes the status if it changed; returns what comes next.
    fn write(
        key: &ObjectKey,
        work: &mut JobSync,
        next: JobStage,
        runtime: &mut KeyedRuntime<JobPurpose>,
        now: Timestamp,
    ) {
        work.stage = next;
        if core::mem::take(&mut work.is_changed) {
            work.is_written = true;
            Self::send_status(key, work, runtime, now);
        }
    }
}

impl Reconciler for Jobs {
    type Purpose = JobPurpose;

    fn handle_event(
        &mut self,
        source: usize,
        event: &CacheEvent,
        runtime: &mut KeyedRuntime<JobPurpose>,
        now: Timestamp,
    ) {
        if source == PODS_CACHE {
            self.handle_pod(event, runtime, now);
        } else {
            self.handle_job(event, runtime, now);
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<JobPurpose>, now: Timestamp) -> Flow {
        if let Some(pod) = orphan_in(key) {
            self.free_orphan(key, &pod, runtime, now);
            return Flow::Next;
        }
        let Some(job) = runtime.cache(JOBS_CACHE).get(key).cloned() else {
            self.forget(key);
            return Flow::Done;
        };
        if self.is_foreign(&job) {
            return Flow::Done;
        }
        if is_finished(&job) {
            self.backoff.remove(key);
            self.finished.remove(job.uid());
            return Flow::Done;
        }
        if self.finished.contains(job.uid()) {
            return Flow::Done;
        }
        let freed = self.freed.get(key).cloned().unwrap_or_default();
        let mut work = JobSync::new(job, freed, self.expectations.are_met(key, now));
        self.claim(key, &mut work, runtime, now);
        self.work.insert(key.clone(), work);
        Flow::Next
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        step: JobPurpose,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<JobPurpose>,
        now: Timestamp,
    ) -> Flow {
        let has_failed = failure(reply).is_some();
        let is_gone = code(reply) == 404;
        let Some(mut work) = self.work.remove(key) else {
            return if has_failed && !is_gone { Flow::Retry } else { Flow::Next };
        };
        match step {
            JobPurpose::FreeOrphan => {}
            JobPurpose::Confirm | JobPurpose::Adopt(_) | JobPurpose::Release => {
                Self::take_claim(key, &mut work, step, reply, runtime, now);
            }
            JobPurpose::Create => {
                let tools = (&mut self.expectations, runtime);
                if pod_control::created(key, &about(&work.job), reply, tools, now).is_some() {
                    work.running -= 1;
                    work.has_failed = true;
                }
            }
            JobPurpose::Strip(pod) if !has_failed => Self::delete(key, pod, work.because, runtime, now),
            JobPurpose::Strip(pod) => {
                self.expectations.deleted(key, pod.uid());
                work.miss_deletion(is_gone);
            }
            JobPurpose::Delete(pod) => {
                let tools = (&mut self.expectations, runtime);
                if pod_control::deleted(key, (&about(&work.job), &pod), reply, tools, now).is_some() {
                    work.miss_deletion(false);
                }
                work.removed_ready += i64::from(is_ready(&pod));
            }
            JobPurpose::Status => match object(reply) {
                Some(job) if !has_failed => work.take(job),
                _ => work.stage = JobStage::Failed,
            },
            JobPurpose::Free(uid) => {
                if has_failed && let Some(freed) = self.freed.get_mut(key) {
                    freed.remove(&uid);
                }
                if has_failed && !is_gone {
                    work.has_failed_to_free = true;
                } else {
                    work.held.remove(&uid);
                }
            }
        }
        self.work.insert(key.clone(), work);
        Flow::Next
    }

    fn proceed(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<JobPurpose>, now: Timestamp) -> Flow {
        let Some(mut work) = self.work.remove(key) else { return Flow::Done };
        match work.stage {
            JobStage::Claim => self.judge(key, &mut work, runtime, now),
            JobStage::Ended | JobStage::Managed => {
                if let Some((reason, message)) = work.conclude(now) {
                    // Source: job_controller.go (v1.35), `syncJob`.
                    if self.forgets_start && reason == "Suspended" {
                        work.status.remove(&["startTime"]);
                    }
                    runtime.emit(&about(&work.job), EventType::Normal, reason, message, now);
                }
                work.track(now);
                Self::write(key, &mut work, JobStage::Free, runtime, now);
            }
            JobStage::Create { left, batch } => self.create(key, &mut work, (left, batch), runtime, now),
            JobStage::Free => {
                if work.is_written {
                    self.backoff.insert(key.clone(), work.backoff.clone());
                }
                self.free(key, &work, runtime, now);
                work.stage = JobStage::Finish;
            }
            JobStage::Finish => {
                work.is_changed = track::settle_uncounted(&mut work.status, &work.held);
                let next = if work.has_failed_to_free { JobStage::Failed } else { JobStage::Written(work.finish(now)) };
                Self::write(key, &mut work, next, runtime, now);
            }
            JobStage::Written(is_end) => {
                if is_end {
                    self.tell_end(&work, runtime, now);
                }
                return if work.has_failed { Flow::Retry } else { Flow::Done };
            }
            JobStage::Failed => return Flow::Retry,
        }
        self.work.insert(key.clone(), work);
        Flow::Next
    }
}
