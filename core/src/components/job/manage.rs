//! How many pods a Job makes or deletes.
//!
//! Mirrors `manageJob` of pkg/controller/job/job_controller.go and pkg/controller/job/indexed_job_utils.go (v1.34).
//! Inputs: the counts of a sync. Outputs: pods created and deleted, the pause before the next ones. Creations go in
//! batches of 1, 2, 4 …; in one sync pods are either created or deleted.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::backoff::remaining_of_index;
use super::indexes::indexes_of;
use super::policies::replaces_only_failed;
use super::sync::{JobStage, JobSync};
use super::template::new_pod;
use super::{BATCH, BURST, FINALIZER, JobPurpose, Jobs, without_finalizer};
use crate::components::controller::KeyedRuntime;
use crate::components::workload::scale_down::in_order_of_loss;
use crate::components::{Because, DecisionId};
use crate::json;
use crate::network::{Call, PODS, Verb};
use crate::objects::lifecycle::{has_finalizer, is_ending, is_terminal};
use crate::objects::time::seconds;
use crate::objects::{Object, ObjectKey, Text};

impl Jobs {
    /// Deletes surplus pods, or finds out which ones are missing.
    pub(super) fn manage(
        &mut self,
        key: &ObjectKey,
        work: &mut JobSync,
        runtime: &mut KeyedRuntime<JobPurpose>,
        now: Timestamp,
    ) {
        let parallelism = work.parallelism();
        let wanted = match work.completions {
            _ if work.is_suspended() => 0,
            None if work.succeeded > 0 => work.running,
            None => parallelism,
            Some(all) => (all - work.succeeded).min(parallelism).max(0),
        };
        let mut doomed = work.doomed(usize::try_from(work.running - wanted).unwrap_or(0));
        if !work.is_suspended() {
            doomed.truncate(BURST);
        }
        if !doomed.is_empty() {
            let what = format!("delete {} pods", doomed.len());
            let fact = if work.is_suspended() {
                String::from("it is suspended")
            } else {
                format!("{} pods run, and {wanted} have to", work.running)
            };
            work.because = Some(runtime.decide(format!("job/{key}"), what, Vec::from([Because::Fact(fact)])));
            self.delete_surplus(key, doomed, work, runtime, now);
            return;
        }
        let leaving = if replaces_only_failed(&work.job) { work.terminating } else { 0 };
        let missing = usize::try_from(wanted - leaving - work.running).unwrap_or(0);
        if missing > 0 {
            self.plan(key, work, missing, runtime, now);
        }
    }

    /// Removes the finalizers of surplus pods, which are no failures, and deletes them.
    fn delete_surplus(
        &mut self,
        key: &ObjectKey,
        doomed: Vec<Object>,
        work: &mut JobSync,
        runtime: &mut KeyedRuntime<JobPurpose>,
        now: Timestamp,
    ) {
        self.expectations.expect(key, 0, doomed.iter().map(|pod| Text::from(pod.uid())), now);
        work.removed = i64::try_from(doomed.len()).unwrap_or(i64::MAX);
        for pod in doomed {
            if has_finalizer(&pod, FINALIZER) {
                let call = Call::strategic_patch(PODS, &key.namespace, pod.name(), without_finalizer());
                runtime.send(key, JobPurpose::Strip(pod), call, work.because, now);
            } else {
                Self::delete(key, pod, work.because, runtime, now);
            }
        }
    }

    /// Deletes a pod.
    pub(super) fn delete(
        key: &ObjectKey,
        pod: Object,
        because: Option<DecisionId>,
        runtime: &mut KeyedRuntime<JobPurpose>,
        now: Timestamp,
    ) {
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
        let call = Call::new(Verb::Delete, PODS, &key.namespace, pod.name()).body(options);
        runtime.send(key, JobPurpose::Delete(pod), call, because, now);
    }

    /// Chooses the pods to create; none while failed ones have their pause.
    fn plan(
        &mut self,
        key: &ObjectKey,
        work: &mut JobSync,
        missing: usize,
        runtime: &mut KeyedRuntime<JobPurpose>,
        now: Timestamp,
    ) {
        let mut wait = if work.limits_indexes() { SignedDuration::ZERO } else { work.backoff.remaining(now) };
        let mut indexes: Vec<Option<i64>> = Vec::new();
        if wait.is_zero() && work.is_indexed {
            let pending = work.pending(missing.min(BURST));
            let pause = |index: &i64| remaining_of_index(work.delayed.get(index), now);
            indexes = pending.iter().filter(|index| pause(index).is_zero()).copied().map(Some).collect();
            if indexes.is_empty() {
                wait = pending.iter().map(pause).min().unwrap_or_default();
            }
        } else if wait.is_zero() {
            indexes = core::iter::repeat_n(None, missing.min(BURST)).collect();
        }
        let decide = |runtime: &mut KeyedRuntime<JobPurpose>, what: String, fact: String| {
            Some(runtime.decide(format!("job/{key}"), what, Vec::from([Because::Fact(fact)])))
        };
        if wait > SignedDuration::ZERO {
            let fact = format!("{} pods have failed since the last success", work.backoff.failures());
            work.because = decide(runtime, format!("make the next pod in {}", seconds(wait)), fact);
            runtime.add_after(key.clone(), wait.max(BATCH), now);
            if !self.counts_in_pauses {
                work.running = 0;
            }
            return;
        }
        let fact = format!("{} pods run, {} have succeeded, and {missing} are missing", work.running, work.succeeded);
        work.because = decide(runtime, format!("create {} pods", indexes.len()), fact);
        self.expectations.expect(key, indexes.len(), [], now);
        work.running += i64::try_from(indexes.len()).unwrap_or(i64::MAX);
        work.stage = JobStage::Create { left: indexes.len(), batch: 1 };
        work.missing = indexes.into();
    }

    /// Creates the next batch of pods; after a failure the rest is not tried.
    pub(super) fn create(
        &mut self,
        key: &ObjectKey,
        work: &mut JobSync,
        (left, batch): (usize, usize),
        runtime: &mut KeyedRuntime<JobPurpose>,
        now: Timestamp,
    ) {
        if left == 0 || work.has_failed {
            for _ in 0..left {
                self.expectations.created(key);
                work.running -= 1;
            }
            work.stage = JobStage::Managed;
            return;
        }
        let size = batch.min(left);
        for index in work.missing.drain(..size) {
            let delayed = index.and_then(|index| work.delayed.get(&index));
            let replaced = work.job.stable().at(&["spec", "backoffLimitPerIndex"]).as_i64().map(|_| delayed);
            let pod = new_pod(&work.job, index, replaced);
            let call = Call::new(Verb::Create, PODS, &key.namespace, "").body(pod);
            runtime.send(key, JobPurpose::Create, call, work.because, now);
        }
        work.stage = JobStage::Create { left: left - size, batch: size * 2 };
    }
}

impl JobSync {
    /// Returns so many active pods to delete; of an Indexed Job also those without a valid index of their own.
    fn doomed(&self, surplus: usize) -> Vec<Object> {
        let (mut doomed, left) = if self.is_indexed { self.repeated() } else { (Vec::new(), self.active.clone()) };
        let more = surplus.saturating_sub(doomed.len());
        if more > 0 {
            doomed.extend(in_order_of_loss(left).into_iter().take(more));
        }
        doomed
    }

    /// Sorts the active pods into those without a valid index of their own, and the others.
    fn repeated(&self) -> (Vec<Object>, Vec<Object>) {
        let mut by_index: BTreeMap<Option<i64>, Vec<Object>> = BTreeMap::new();
        for pod in &self.active {
            by_index.entry(self.index(pod)).or_default().push(pod.clone());
        }
        let mut doomed = by_index.remove(&None).unwrap_or_default();
        let mut left = Vec::new();
        for pods in by_index.into_values() {
            let mut pods = in_order_of_loss(pods);
            left.extend(pods.pop());
            doomed.append(&mut pods);
        }
        (doomed, left)
    }

    /// Returns the first indexes that have no pod and are neither over nor about to be.
    fn pending(&self, count: usize) -> Vec<i64> {
        let mut taken: BTreeSet<i64> = indexes_of(self.active.iter());
        if replaces_only_failed(&self.job) {
            taken.extend(indexes_of(self.pods.iter().filter(|pod| is_ending(pod) && !is_terminal(pod))));
        }
        let mut taken = self.succeeded_indexes.with(&taken);
        if let Some(failed) = &self.failed_indexes {
            taken = taken.merged(failed);
        }
        taken.first_missing(count, self.completions.unwrap_or(0))
    }
}
