//! How a Job accounts for pods that ended, and how it tells its end.
//!
//! Mirrors `trackJobStatusAndRemoveFinalizers` and its neighbours in pkg/controller/job/job_controller.go (v1.34).
//! Inputs: a sync with its counts. Outputs: the status to write before finalizers are removed, the pods that lose them,
//! and the status to write afterwards. Invariant: no pod is counted while it has the finalizer, and none twice.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::UNCOUNTED_MAX;
use super::indexes::index_of;
use super::policies::{failure_match, is_failed};
use super::sync::{JobSync, final_condition};
use crate::objects::lifecycle::{is_ending, phase};
use crate::objects::{Json, Object, Text};

/// Counts the pods of the status that have lost their finalizer; tells whether there were any.
pub(super) fn settle_uncounted(status: &mut Json, held: &BTreeSet<Text>) -> bool {
    let mut has_changed = false;
    for list in ["succeeded", "failed"] {
        let path = ["uncountedTerminatedPods", list];
        let known = status.at(&path).items().to_vec();
        let (left, settled): (Vec<Json>, Vec<Json>) =
            known.into_iter().partition(|uid| uid.as_text().is_some_and(|uid| held.contains(uid)));
        if settled.is_empty() {
            continue;
        }
        has_changed = true;
        let count = status.get(list).as_i64().unwrap_or(0) + i64::try_from(settled.len()).unwrap_or(i64::MAX);
        status.set(&[list], count);
        if left.is_empty() {
            status.remove(&path);
        } else {
            status.set(&path, left);
        }
    }
    has_changed
}

fn kind_of(end: Option<&Json>) -> &str {
    end.and_then(|end| end.get("type").as_str()).unwrap_or_default()
}

impl JobSync {
    /// Prepares the status that is written before finalizers are removed, and chooses the pods that lose them.
    pub(super) fn track(&mut self, now: Timestamp) {
        if self.is_indexed {
            self.pods.sort_by_key(index_of);
        }
        self.held = self.pods.iter().filter(|pod| self.is_held(pod)).map(|pod| Text::from(pod.uid())).collect();
        self.is_changed |= settle_uncounted(&mut self.status, &self.held);
        let new = self.account();
        if self.is_indexed {
            self.tell_indexes(&new);
        }
        let announced = self.end.take();
        let kind = match kind_of(announced.as_ref()) {
            "FailureTarget" => "Failed",
            "SuccessCriteriaMet" => "Complete",
            _ => {
                self.end = announced;
                return;
            }
        };
        let Some(announced) = announced else { return };
        let conditions = self.status.entry(&["conditions"]).make_array();
        if !conditions.iter().any(|known| known.get("type") == announced.get("type")) {
            conditions.push(announced.clone());
            self.is_changed = true;
        }
        self.end = Some(final_condition(kind, &announced, now));
    }

    /// Writes the UIDs of pods that ended to the status; returns the indexes that succeeded.
    fn account(&mut self) -> BTreeSet<i64> {
        let mut new = BTreeSet::new();
        let is_lost = !matches!(kind_of(self.end.as_ref()), "" | "SuccessCriteriaMet");
        for pod in self.pods.clone() {
            let has_failed = is_failed(&self.job, &pod);
            if !self.held.contains(pod.uid()) || !self.may_free(&pod, has_failed) {
                continue;
            }
            self.ended.push(pod.clone());
            let index = self.index(&pod);
            let [succeeded, failed] = &self.uncounted;
            let counts_as_failed = failed.contains(pod.uid());
            if phase(&pod) == "Succeeded" && !counts_as_failed {
                if let Some(index) = index.filter(|index| self.is_indexed && !self.before.has(*index)) {
                    new.insert(index);
                    self.is_changed = true;
                } else if !self.is_indexed && !succeeded.contains(pod.uid()) {
                    self.add_uncounted("succeeded", &pod);
                }
            } else if (has_failed || is_lost)
                && !counts_as_failed
                && (!self.is_indexed || index.is_some())
                && failure_match(&self.job, &pod).counts
            {
                self.add_uncounted("failed", &pod);
            }
            let uncounted = self.status.get("uncountedTerminatedPods");
            let waiting = uncounted.get("succeeded").items().len() + uncounted.get("failed").items().len();
            if new.len() + waiting >= UNCOUNTED_MAX {
                self.is_full = true;
                break;
            }
        }
        new
    }

    fn add_uncounted(&mut self, list: &str, pod: &Object) {
        self.status.entry(&["uncountedTerminatedPods", list]).make_array().push(Json::from(pod.uid()));
        self.is_changed = true;
    }

    /// Tells whether the finalizer of a pod may go: not while its index needs it to know how often it failed.
    fn may_free(&self, pod: &Object, has_failed: bool) -> bool {
        if is_ending(&self.job) || self.end.is_some() || phase(pod) == "Succeeded" {
            return true;
        }
        let delayed = self.index(pod).and_then(|index| self.delayed.get(&index));
        has_failed && delayed.is_none_or(|delayed| delayed.uid() != pod.uid())
    }

    fn tell_indexes(&mut self, new: &BTreeSet<i64>) {
        self.succeeded_indexes = self.succeeded_indexes.with(new);
        let text = format!("{}", self.succeeded_indexes);
        self.is_changed |= text != self.status.get("completedIndexes").as_str().unwrap_or_default();
        let failed = self.failed_indexes.as_ref().map_or(Json::Null, |failed| Json::from(format!("{failed}")));
        self.is_changed |= failed != *self.status.get("failedIndexes");
        let succeeded = self.succeeded_indexes.total();
        let completed = if text.is_empty() { Json::Null } else { Json::from(text) };
        let total = if succeeded == 0 { Json::Null } else { Json::from(succeeded) };
        for (field, value) in [("completedIndexes", completed), ("failedIndexes", failed), ("succeeded", total)] {
            if value.is_null() {
                self.status.remove(&[field]);
            } else {
                self.status.set(&[field], value);
            }
        }
    }

    /// Writes the end of the Job to the status, unless pods are left that do not count yet or still run; tells whether
    /// it did.
    pub(super) fn finish(&mut self, now: Timestamp) -> bool {
        let uncounted = self.status.get("uncountedTerminatedPods");
        let is_open = !uncounted.get("succeeded").is_empty() || !uncounted.get("failed").is_empty();
        let Some(end) = self.end.clone().filter(|_| !self.is_full && !is_open && self.terminating <= 0) else {
            return false;
        };
        let end = final_condition(kind_of(Some(&end)), &end, now);
        if kind_of(self.end.as_ref()) == "Complete" {
            self.status.set(&["completionTime"], end.get("lastTransitionTime").clone());
        }
        self.status.entry(&["conditions"]).make_array().push(end);
        self.is_changed = true;
        true
    }
}
