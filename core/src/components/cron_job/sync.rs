//! One sync of a CronJob: what was found, and what comes next.
//!
//! Mirrors `syncCronJob` of pkg/controller/cronjob/cronjob_controllerv2.go (v1.34). Inputs: a CronJob, its Jobs, the
//! answers. Outputs: the next stage.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::due::{due, next_look, schedule, schedule_text, starting_deadline};
use crate::components::events::EventType;
use crate::components::workload::pods::{is_controlled_by, reference_to};
use crate::json;
use crate::objects::cron::{find_zone, time_in};
use crate::objects::lifecycle::job_end;
use crate::objects::{Json, Object, Text, time};

/// The annotation that tells what instant a Job is for.
/// Source: k8s.io/api batch/v1/types.go (v1.34), `CronJobScheduledTimestampAnnotation`.
const SCHEDULED: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";

/// What a sync does next.
#[derive(Clone, Debug)]
pub(super) enum CronStage {
    /// These finished Jobs are deleted.
    Clean(VecDeque<Object>),
    /// These Jobs are compared with the status.
    Follow(VecDeque<Object>),
    /// It is checked whether these Jobs of the status are there.
    Confirm(VecDeque<Json>),
    /// These Jobs are deleted before the next one is made.
    Replace(VecDeque<Json>),
    /// The status is written, if it changed.
    Write,
    End,
}

/// The sync of a CronJob.
#[derive(Clone, Debug)]
pub(super) struct CronSync {
    /// The CronJob, with the status as it is found to be.
    pub(super) cron: Object,
    /// The CronJob that is written, if another one was read since.
    superseded: Option<Json>,
    pub(super) jobs: Vec<Object>,
    pub(super) stage: CronStage,
    /// The instant that a Job is made for.
    pub(super) due: Timestamp,
    pub(super) is_changed: bool,
    pub(super) has_failed: bool,
    /// How long it is until the CronJob is looked at again.
    pub(super) look_again: Option<SignedDuration>,
}

impl CronSync {
    pub(super) fn new(cron: Object, jobs: Vec<Object>) -> Self {
        let stage = CronStage::Clean(too_many(&cron, &jobs));
        Self {
            cron,
            superseded: None,
            jobs,
            stage,
            due: Timestamp::UNIX_EPOCH,
            is_changed: false,
            has_failed: false,
            look_again: None,
        }
    }

    /// Ends the sync, to be tried again.
    pub(super) fn fail(&mut self) {
        self.has_failed = true;
        self.look_again = None;
        if !matches!(self.stage, CronStage::End) {
            self.stage = CronStage::Write;
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut Json)) {
        let mut tree = self.cron.json();
        change(&mut tree);
        self.cron = Object::as_received(tree);
    }

    fn active(&self) -> Vec<Json> {
        self.cron.stable().at(&["status", "active"]).items().to_vec()
    }

    fn is_active(&self, uid: &str) -> bool {
        self.active().iter().any(|job| job.get("uid").as_str() == Some(uid))
    }

    pub(super) fn remove_active(&mut self, uid: &str) {
        let mut left = self.active();
        left.retain(|job| job.get("uid").as_str() != Some(uid));
        self.change(|tree| {
            if left.is_empty() {
                tree.remove(&["status", "active"]);
            } else {
                tree.set(&["status", "active"], Json::array(left));
            }
        });
    }

    /// Tells whether a Job runs that the status does not name.
    pub(super) fn is_unknown(&self, job: &Object) -> bool {
        job_end(job).is_none() && !self.is_active(job.uid())
    }

    /// Takes the CronJob as the server has it; true if that does not name the Job either.
    pub(super) fn take_reread(&mut self, cron: Object, job: &Object) -> bool {
        let is_named = |item: &Json| item.get("uid").as_str() == Some(job.uid());
        if !cron.stable().at(&["status", "active"]).items().iter().any(is_named) {
            return true;
        }
        // What changes from here on is not written.
        self.superseded.get_or_insert_with(|| self.cron.json());
        self.cron = cron;
        false
    }

    /// Returns the CronJob with its new status.
    pub(super) fn written(&self) -> Json {
        self.superseded.clone().unwrap_or_else(|| self.cron.json())
    }

    /// Notes the end of a Job; returns what to tell of it.
    pub(super) fn follow(&mut self, job: &Object) -> Option<String> {
        let end = job_end(job)?;
        let told = self.is_active(job.uid()).then(|| {
            self.remove_active(job.uid());
            self.is_changed = true;
            format!("Saw completed job: {}, condition: {end}", job.name())
        });
        let completed = job.stable().at(&["status", "completionTime"]).clone();
        let instant = |value: &Json| value.as_str().and_then(time::parse);
        let last = instant(self.cron.stable().at(&["status", "lastSuccessfulTime"]));
        if end == "Complete" && (last.is_none() || instant(&completed) > last) {
            if !completed.is_null() {
                self.change(|tree| tree.set(&["status", "lastSuccessfulTime"], completed));
            }
            self.is_changed = true;
        }
        told
    }

    /// Returns the Jobs that the status names and that are not there.
    pub(super) fn missing(&self) -> VecDeque<Json> {
        let is_there = |item: &Json| self.jobs.iter().any(|job| item.get("uid").as_str() == Some(job.uid()));
        self.active().into_iter().filter(|item| !is_there(item)).collect()
    }

    /// Finds out whether a Job is due; returns what to tell.
    pub(super) fn judge(&mut self, now: Timestamp) -> Vec<(EventType, &'static str, String)> {
        let mut told = Vec::new();
        let text = schedule_text(&self.cron);
        if text.contains("TZ") {
            let message = format!(
                "CRON_TZ or TZ used in schedule {text:?} is not officially supported, see \
                 https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
            );
            told.push((EventType::Warning, "UnsupportedSchedule", message));
        }
        let schedule = match schedule(&self.cron) {
            Ok(schedule) => schedule,
            Err(error) => {
                let message = format!("unparseable schedule: {text:?} : {error}");
                told.push((EventType::Warning, "UnparseableSchedule", message));
                return told;
            }
        };
        let due = match due(&self.cron, &schedule, now) {
            Ok(due) => due,
            Err(error) => {
                told.push((EventType::Warning, "InvalidSchedule", format!("invalid schedule: {text} : {error}")));
                return told;
            }
        };
        self.look_again = Some(next_look(&self.cron, &schedule, now));
        let Some((due, is_after_many)) = due else { return told };
        if is_after_many {
            let message = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock \
                           skew";
            told.push((EventType::Warning, "TooManyMissedTimes", String::from(message)));
        }
        self.due = due;
        if starting_deadline(&self.cron).is_some_and(|deadline| due.checked_add(deadline).is_ok_and(|end| end < now)) {
            let at = due.strftime("%a, %d %b %Y %H:%M:%S +0000");
            told.push((EventType::Warning, "MissSchedule", format!("Missed scheduled time to start a job: {at}")));
            return told;
        }
        let name = self.job_name();
        let active = self.active();
        let last = self.cron.stable().at(&["status", "lastScheduleTime"]).as_str().and_then(time::parse);
        if active.iter().any(|job| job.get("name").as_str() == Some(name.as_str())) || last == Some(due) {
            return told;
        }
        match self.cron.stable().at(&["spec", "concurrencyPolicy"]).as_str() {
            Some("Forbid") if !active.is_empty() => {
                let message = "Not starting job because prior execution is running and concurrency policy is Forbid";
                told.push((EventType::Normal, "JobAlreadyActive", String::from(message)));
            }
            Some("Replace") => self.stage = CronStage::Replace(active.into()),
            _ => self.stage = CronStage::Replace(VecDeque::new()),
        }
        told
    }

    /// Returns the name of the Job that is due. Source: cronjob_controllerv2.go (v1.34), `getJobName`.
    pub(super) fn job_name(&self) -> Text {
        Text::from(format!("{}-{}", self.cron.name(), self.due.as_second() / 60))
    }

    /// Returns the Job that is due. Source: utils.go (v1.34), `getJobFromTemplate2`.
    pub(super) fn new_job(&self) -> Json {
        let template = self.cron.stable().at(&["spec", "jobTemplate"]);
        let mut job = json!({"kind": "Job", "apiVersion": "batch/v1",
            "metadata": {"name": self.job_name(), "namespace": self.cron.key().namespace,
                "creationTimestamp": time::to_time(self.due)}});
        let labels = template.at(&["metadata", "labels"]);
        if !labels.is_empty() {
            job.set(&["metadata", "labels"], labels.clone());
        }
        let annotations = template.at(&["metadata", "annotations"]);
        if !annotations.is_empty() {
            job.set(&["metadata", "annotations"], annotations.clone());
        }
        let zone = self.cron.stable().at(&["spec", "timeZone"]).as_str().unwrap_or_default();
        if let Ok(zone) = find_zone(zone) {
            job.set(&["metadata", "annotations", SCHEDULED], time_in(&zone, self.due));
        }
        let owner = reference_to(&self.cron, "batch/v1", "CronJob");
        job.set(&["metadata", "ownerReferences"], Json::array(Vec::from([owner])));
        job.set(&["spec"], template.get("spec").clone());
        job
    }

    /// Notes that the Job that is due is there.
    pub(super) fn note_started(&mut self, job: &Object, now: Timestamp) {
        let reference = json!({"kind": "Job", "namespace": job.key().namespace, "name": job.name(), "uid": job.uid(),
            "apiVersion": "batch/v1", "resourceVersion": format!("{}", job.resource_version())});
        let mut active = self.active();
        active.push(reference);
        let due = time::to_time(self.due);
        self.change(|tree| {
            tree.set(&["status", "active"], Json::array(active));
            tree.set(&["status", "lastScheduleTime"], due);
        });
        self.is_changed = true;
        if let Ok(schedule) = schedule(&self.cron) {
            self.look_again = Some(next_look(&self.cron, &schedule, now));
        }
    }

    /// Takes the Job that has the name already: nothing is done about one of somebody else, or one that is known.
    pub(super) fn take_existing(&mut self, job: &Object, now: Timestamp) {
        if is_controlled_by(job, &self.cron) && !self.is_active(job.uid()) {
            self.note_started(job, now);
        } else {
            self.look_again = None;
        }
    }
}

/// Returns the oldest Jobs of each kind of end, as many as there are beyond the limits.
///
/// Source: cronjob_controllerv2.go (v1.34), `cleanupFinishedJobs`; utils.go, `byJobStartTime`.
fn too_many(cron: &Object, jobs: &[Object]) -> VecDeque<Object> {
    let limits = [("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")];
    let mut found = VecDeque::new();
    for (end, limit) in limits {
        let limit = cron.stable().at(&["spec", limit]).as_i64().and_then(|limit| usize::try_from(limit).ok());
        let Some(limit) = limit else { continue };
        let mut ended: Vec<&Object> = jobs.iter().filter(|job| job_end(job) == Some(end)).collect();
        let start = |job: &Object| job.stable().at(&["status", "startTime"]).as_str().and_then(time::parse);
        ended.sort_by_key(|job| (start(job).is_none(), start(job), Text::from(job.name())));
        let spare = ended.len().saturating_sub(limit);
        found.extend(ended.into_iter().take(spare).cloned());
    }
    found
}
