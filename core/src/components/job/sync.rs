//! One sync of a Job: what is counted, and whether the Job has ended.
//!
//! Mirrors `syncJob` of pkg/controller/job/job_controller.go (v1.34). Inputs: a Job, its pods, the failures before,
//! time. Outputs: counts, the condition with which the Job ends, when its deadline is to be looked at, the status.
//! Pure: requests are the business of the callers.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::FINALIZER;
use super::backoff::{BackoffRecord, finished_at};
use super::indexes::{FAILURES, IndexIntervals, all_failures, count_of, index_of, indexes_of};
use super::policies::{failure_match, is_failed, success_match};
use crate::components::DecisionId;
use crate::components::workload::pods::number;
use crate::json;
use crate::objects::lifecycle::{condition, has_finalizer, is_active, is_ending, is_ready, is_terminal, phase};
use crate::objects::{Json, Object, Text, time};

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum JobStage {
    /// Adopt and release pods.
    Claim,
    /// The pods of a Job that has ended are deleted.
    Ended,
    /// Pods were made or deleted, or neither.
    Managed,
    /// Create `left` more pods, in batches of this size.
    Create { left: usize, batch: usize },
    /// Remove the finalizers of pods that the status accounts for.
    Free,
    /// Count them, and write whether the Job has ended.
    Finish,
    /// All is written; whether the Job has ended.
    Written(bool),
    /// Nothing more can be done now.
    Failed,
}

/// A sync under way.
#[derive(Clone, Debug)]
pub(super) struct JobSync {
    pub(super) job: Object,
    pub(super) status: Json,
    pub(super) stage: JobStage,
    pub(super) because: Option<DecisionId>,
    /// How many pods have to succeed; `None` for a queue of work.
    pub(super) completions: Option<i64>,
    pub(super) is_indexed: bool,
    /// Whether all pods were seen that the Job made and deleted before.
    pub(super) is_settled: bool,
    /// Pods that the Job may adopt.
    pub(super) wanted: Vec<Object>,
    pub(super) pods: Vec<Object>,
    pub(super) active: Vec<Object>,
    pub(super) running: i64,
    pub(super) ready: i64,
    pub(super) terminating: i64,
    pub(super) succeeded: i64,
    /// The indexes that the status had as succeeded, those that are now, and those that failed, if they are limited.
    pub(super) before: IndexIntervals,
    pub(super) succeeded_indexes: IndexIntervals,
    pub(super) failed_indexes: Option<IndexIntervals>,
    /// The failed pods whose finalizers stay until their indexes have other ones.
    pub(super) delayed: BTreeMap<i64, Object>,
    /// The condition with which the Job ends.
    pub(super) end: Option<Json>,
    pub(super) backoff: BackoffRecord,
    /// UIDs of pods that have lost their finalizer, whatever the cache shows.
    freed: BTreeSet<Text>,
    /// UIDs of pods that the status had as succeeded and as failed without counting them.
    pub(super) uncounted: [BTreeSet<Text>; 2],
    /// How many pods were deleted, and how many of them were ready.
    pub(super) removed: i64,
    pub(super) removed_ready: i64,
    /// The indexes of the pods to make.
    pub(super) missing: VecDeque<Option<i64>>,
    pub(super) is_managed: bool,
    pub(super) has_failed: bool,
    pub(super) has_failed_to_free: bool,
    pub(super) is_changed: bool,
    /// Whether the status was written in this sync.
    pub(super) is_written: bool,
    /// The pods to remove the finalizer of.
    pub(super) ended: Vec<Object>,
    /// UIDs of pods with the finalizer.
    pub(super) held: BTreeSet<Text>,
    /// Whether pods are left for the next sync.
    pub(super) is_full: bool,
}

/// Makes a condition that is True.
pub(super) fn new_condition(kind: &str, reason: &str, message: &str, now: Timestamp) -> Json {
    let at = time::to_time(now);
    json!({"type": kind, "status": "True", "lastProbeTime": at, "lastTransitionTime": at, "reason": reason,
        "message": message})
}

/// Makes the condition that a Job ends with in the place of one that announces it.
pub(super) fn final_condition(kind: &str, announced: &Json, now: Timestamp) -> Json {
    let text = |field| announced.get(field).as_str().unwrap_or_default();
    new_condition(kind, text("reason"), text("message"), now)
}

fn counted(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl JobSync {
    pub(super) fn new(job: Object, freed: BTreeSet<Text>, is_settled: bool) -> Self {
        let mut status = job.stable().get("status").clone();
        if status.get("uncountedTerminatedPods").is_null() {
            status.set(&["uncountedTerminatedPods"], Json::object());
        }
        let uids = |list| {
            let uids = status.at(&["uncountedTerminatedPods", list]).items().iter();
            uids.filter_map(Json::as_text).cloned().collect()
        };
        let uncounted = [uids("succeeded"), uids("failed")];
        Self {
            completions: job.stable().at(&["spec", "completions"]).as_i64(),
            is_indexed: job.stable().at(&["spec", "completionMode"]).as_str() == Some("Indexed"),
            stage: JobStage::Claim,
            because: None,
            wanted: Vec::new(),
            pods: Vec::new(),
            active: Vec::new(),
            running: 0,
            ready: 0,
            terminating: 0,
            succeeded: 0,
            before: IndexIntervals::default(),
            succeeded_indexes: IndexIntervals::default(),
            failed_indexes: None,
            delayed: BTreeMap::new(),
            end: None,
            backoff: BackoffRecord::default(),
            removed: 0,
            removed_ready: 0,
            missing: VecDeque::new(),
            is_managed: false,
            has_failed: false,
            has_failed_to_free: false,
            is_changed: false,
            is_written: false,
            ended: Vec::new(),
            held: BTreeSet::new(),
            is_full: false,
            status,
            job,
            freed,
            uncounted,
            is_settled,
        }
    }

    /// Returns a number of the status; 0 for none.
    pub(super) fn number(&self, field: &str) -> i64 {
        self.status.get(field).as_i64().unwrap_or(0)
    }

    fn spec(&self, field: &str) -> Option<i64> {
        self.job.stable().at(&["spec", field]).as_i64()
    }

    pub(super) fn is_suspended(&self) -> bool {
        self.job.stable().at(&["spec", "suspend"]).as_bool() == Some(true)
    }

    /// Tells whether failures are limited for each index.
    pub(super) fn limits_indexes(&self) -> bool {
        self.spec("backoffLimitPerIndex").is_some()
    }

    /// Returns a pod's index, if the Job has such a one.
    pub(super) fn index(&self, pod: &Object) -> Option<i64> {
        index_of(pod).filter(|index| *index < self.completions.unwrap_or(0))
    }

    /// Tells whether a pod has the finalizer still, and is not only shown with it.
    pub(super) fn is_held(&self, pod: &Object) -> bool {
        has_finalizer(pod, FINALIZER) && !self.freed.contains(pod.uid())
    }

    /// Returns the pods that a test is true of and that neither count already nor are about to.
    fn fresh(&self, uncounted: &BTreeSet<Text>, is_meant: impl Fn(&Object) -> bool) -> Vec<Object> {
        let is_valid = |pod: &&Object| {
            self.is_held(pod)
                && !uncounted.contains(pod.uid())
                && (!self.is_indexed || self.index(pod).is_some())
                && is_meant(pod)
        };
        self.pods.iter().filter(is_valid).cloned().collect()
    }

    /// A pod was not deleted; one that was gone already counts as deleted.
    pub(super) fn miss_deletion(&mut self, is_gone: bool) {
        if !is_gone {
            self.removed -= 1;
            self.has_failed = true;
        }
    }

    /// Takes over the Job as the server has it after a write of the status.
    pub(super) fn take(&mut self, job: Object) {
        self.status = job.stable().get("status").clone();
        self.job = job;
    }

    /// Counts the pods, and judges whether the Job has ended; returns when to look at its deadline.
    pub(super) fn judge(&mut self, known: &BackoffRecord, now: Timestamp) -> Option<SignedDuration> {
        self.active = self.pods.iter().filter(|pod| is_active(pod)).cloned().collect();
        self.running = counted(self.active.len());
        self.ready = counted(self.active.iter().filter(|pod| is_ready(pod)).count());
        self.terminating = counted(self.pods.iter().filter(|pod| is_ending(pod) && !is_terminal(pod)).count());
        let succeeded = self.fresh(&self.uncounted[0], |pod| phase(pod) == "Succeeded");
        let failed = self.fresh(&self.uncounted[1], |pod| is_failed(&self.job, pod));
        self.succeeded = self.number("succeeded") + counted(succeeded.len() + self.uncounted[0].len());
        let counting = failed.iter().filter(|pod| failure_match(&self.job, pod).counts).count();
        let failures = self.number("failed") + counted(counting + self.uncounted[1].len());
        if self.status.get("startTime").is_null() && !self.is_suspended() {
            self.status.set(&["startTime"], time::to_time(now));
        }
        self.backoff = known.after(&succeeded, &failed);
        self.end = self.known_end(now).or_else(|| self.exceeded(failures, now));
        let pause = self.deadline(now).filter(|_| self.end.is_none());
        if self.is_indexed {
            self.judge_indexes(now);
        }
        pause
    }

    /// Returns the end that an earlier sync announced, or that the policy for failures asks for.
    fn known_end(&self, now: Timestamp) -> Option<Json> {
        let announced = |kind| Some(condition(&self.job, kind)).filter(|it| it.get("status").as_str() == Some("True"));
        if let Some(success) = announced("SuccessCriteriaMet") {
            return Some(success.clone());
        }
        if let Some(failure) = announced("FailureTarget") {
            return Some(final_condition("Failed", failure, now));
        }
        let failed = self.pods.iter().filter(|pod| is_failed(&self.job, pod));
        let message = failed.filter_map(|pod| failure_match(&self.job, pod).ends_job).next()?;
        Some(new_condition("FailureTarget", "PodFailurePolicy", &message, now))
    }

    /// Returns the end for too many failures, or too long a time.
    fn exceeded(&self, failures: i64, now: Timestamp) -> Option<Json> {
        let limit = self.spec("backoffLimit").unwrap_or(6);
        let end = |reason, message| Some(new_condition("FailureTarget", reason, message, now));
        if failures > limit || self.restarts().is_some_and(|restarts| restarts >= limit.max(1)) {
            return end("BackoffLimitExceeded", "Job has reached the specified backoff limit");
        }
        if self.deadline(now).is_some_and(|left| left <= SignedDuration::ZERO) {
            return end("DeadlineExceeded", "Job was active longer than specified deadline");
        }
        None
    }

    /// Returns how long the Job may still be active.
    fn deadline(&self, now: Timestamp) -> Option<SignedDuration> {
        let whole = self.spec("activeDeadlineSeconds").filter(|_| !self.is_suspended())?;
        let start = self.status.get("startTime").as_str().and_then(time::parse)?;
        // The first sync knows the start to the nanosecond.
        let is_new = self.job.stable().at(&["status", "startTime"]).is_null();
        let since = if is_new { SignedDuration::ZERO } else { now.duration_since(start) };
        Some(SignedDuration::from_secs(whole) - since)
    }

    /// Returns how often containers of pods that are there were started again, if that counts.
    fn restarts(&self) -> Option<i64> {
        let policy = self.job.stable().at(&["spec", "template", "spec", "restartPolicy"]);
        if policy.as_str() != Some("OnFailure") {
            return None;
        }
        let there = self.pods.iter().filter(|pod| matches!(phase(pod), "Running" | "Pending"));
        let statuses = there.flat_map(|pod| {
            let of = |list| pod.stable().at(&["status", list]).items().iter();
            of("initContainerStatuses").chain(of("containerStatuses"))
        });
        Some(statuses.map(|status| status.get("restartCount").as_i64().unwrap_or(0)).sum())
    }

    /// Finds the indexes that succeeded and failed, and judges by them whether the Job has ended.
    fn judge_indexes(&mut self, now: Timestamp) {
        let completions = self.completions.unwrap_or(0);
        let read = |text: &Json| IndexIntervals::parse(text.as_str().unwrap_or_default(), completions);
        let new = |is_meant: &dyn Fn(&Object) -> bool| -> BTreeSet<i64> {
            let own = self.pods.iter().filter(|pod| has_finalizer(pod, FINALIZER) && is_meant(pod));
            own.filter_map(|pod| self.index(pod)).collect()
        };
        let before = read(self.status.get("completedIndexes"));
        let succeeded = before.with(&new(&|pod| phase(pod) == "Succeeded"));
        let failed = self
            .limits_indexes()
            .then(|| read(self.status.get("failedIndexes")).with(&new(&|pod| self.has_lost_index(pod))));
        self.succeeded = succeeded.total();
        let end = |reason, message| Some(new_condition("FailureTarget", reason, message, now));
        if let (Some(failed), None) = (&failed, &self.end) {
            if self.spec("maxFailedIndexes").is_some_and(|most| failed.total() > most) {
                let message = "Job has exceeded the specified maximal number of failed indexes";
                self.end = end("MaxFailedIndexesExceeded", message);
            } else if !failed.is_empty() && failed.total() + succeeded.total() >= completions {
                self.end = end("FailedIndexes", "Job has failed indexes");
            }
        }
        (self.before, self.succeeded_indexes, self.failed_indexes) = (before, succeeded, failed);
        if self.limits_indexes() {
            self.delayed = self.last_failures();
        }
        if self.end.is_none()
            && let Some(message) = success_match(&self.job, &self.succeeded_indexes, completions)
        {
            self.end = Some(new_condition("SuccessCriteriaMet", "SuccessPolicy", &message, now));
        }
    }

    /// Tells whether the index of a pod that failed gets no other one.
    fn has_lost_index(&self, pod: &Object) -> bool {
        if !is_failed(&self.job, pod) {
            return false;
        }
        let policy = failure_match(&self.job, pod);
        let limit = self.spec("backoffLimitPerIndex").unwrap_or(0);
        policy.ends_index || (policy.counts && count_of(pod, FAILURES) >= limit)
    }

    /// Finds the last failed pod of each index that waits for another one.
    fn last_failures(&self) -> BTreeMap<i64, Object> {
        let is_over = |index| {
            let failed = self.failed_indexes.as_ref().is_some_and(|failed| failed.has(index));
            failed || self.succeeded_indexes.has(index)
        };
        let active = indexes_of(self.active.iter());
        let mut last: BTreeMap<i64, Object> = BTreeMap::new();
        for pod in self.fresh(&BTreeSet::new(), |pod| is_failed(&self.job, pod)) {
            let Some(index) = self.index(&pod).filter(|index| !is_over(*index) && !active.contains(index)) else {
                continue;
            };
            let is_later =
                |other: &Object| all_failures(other) <= all_failures(&pod) && finished_at(&pod) >= finished_at(other);
            if last.get(&index).is_none_or(is_later) {
                last.insert(index, pod);
            }
        }
        last
    }

    /// Takes the deletions into account, and tells whether enough pods have succeeded or whether the Job is suspended;
    /// returns the Event about a change of that.
    pub(super) fn conclude(&mut self, now: Timestamp) -> Option<(&'static str, &'static str)> {
        let is_whole = self.removed == counted(self.active.len()) && self.is_settled;
        self.running -= self.removed;
        self.terminating += self.removed;
        self.ready -= self.removed_ready;
        let mut told = None;
        if self.stage == JobStage::Ended {
            if !is_whole {
                // Other pods may be left.
                self.end = None;
            }
        } else if self.running == 0 && self.has_enough() {
            let message = "Reached expected number of succeeded pods";
            self.end = Some(new_condition("SuccessCriteriaMet", "CompletionsReached", message, now));
        } else if self.is_managed {
            told = self.suspend_or_resume(now);
        }
        for (field, value) in [("active", self.running), ("ready", self.ready), ("terminating", self.terminating)] {
            let is_known = if field == "active" { self.number(field) } else { self.known(field) } == value;
            self.is_changed |= !is_known;
            self.status.set(&[field], value);
        }
        if self.running == 0 {
            self.status.remove(&["active"]);
        }
        told
    }

    /// Returns a number of the status that is there even if it is 0; -1 for none.
    fn known(&self, field: &str) -> i64 {
        self.status.get(field).as_i64().unwrap_or(-1)
    }

    fn has_enough(&self) -> bool {
        self.completions.map_or(self.succeeded > 0, |wanted| self.succeeded >= wanted)
    }

    fn suspend_or_resume(&mut self, now: Timestamp) -> Option<(&'static str, &'static str)> {
        let is_suspended = self.is_suspended();
        let (status, reason, message) = if is_suspended {
            ("True", "JobSuspended", "Job suspended")
        } else {
            ("False", "JobResumed", "Job resumed")
        };
        let mut new = new_condition("Suspended", reason, message, now);
        new.set(&["status"], status);
        let conditions = self.status.entry(&["conditions"]).make_array();
        let known = conditions.iter_mut().find(|known| known.get("type").as_str() == Some("Suspended"));
        let is_told = match known {
            Some(known) if known.get("status").as_str() == Some(status) => false,
            Some(known) => {
                *known = new;
                true
            }
            None if is_suspended => {
                conditions.push(new);
                true
            }
            None => false,
        };
        if conditions.is_empty() {
            self.status.remove(&["conditions"]);
        }
        self.is_changed |= is_told;
        if is_told && !is_suspended {
            self.status.set(&["startTime"], time::to_time(now));
        }
        is_told.then_some((if is_suspended { "Suspended" } else { "Resumed" }, message))
    }

    /// Returns how many pods may run at a time.
    pub(super) fn parallelism(&self) -> i64 {
        number(&self.job, &["spec", "parallelism"], 1)
    }
}
