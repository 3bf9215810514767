//! Makes the Jobs of CronJobs when their schedules say so.
//!
//! Mirrors kube-controller-manager's `cronjob-controller` (pkg/controller/cronjob/{cronjob_controllerv2,utils}.go,
//! v1.34). A CronJob is looked at when it or a Job of its changes, and a tenth of a second after each instant of its
//! schedule. A sync deletes the oldest of too many finished Jobs, follows the active ones, makes the Job of the last
//! instant that was missed, if it is not too late and its policy allows one, and writes the status at the end.
//! Inputs: CronJobs, Jobs, answers, time. Outputs: Jobs made and deleted, statuses, Events.

mod due;
mod sync;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use self::due::{is_followed, next_look, schedule, schedule_text};
use self::sync::{CronStage, CronSync};
use super::Because;
use super::client::CacheEvent;
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, code, failure, is_namespace_ending, object,
};
use super::events::{EventType, InvolvedObject};
use super::workload::JOBS;
use super::workload::pods::{controller_of, owner_key};
use crate::json;
use crate::network::{Call, Resource, Verb};
use crate::objects::{Json, Object, ObjectKey, Text};

const CRON_JOBS: Resource = Resource::of("batch", "v1", "cronjobs");

const JOBS_CACHE: usize = 0;
const CRON_JOBS_CACHE: usize = 1;

/// Source of the workers: pkg/controller/cronjob/config/v1alpha1/defaults.go (v1.34).
const CONFIG: ControllerConfig = ControllerConfig {
    queue: "cronjob",
    workers: 5,
    retries: Retries::ENDLESS,
    watched: &[Watched::of(JOBS), Watched::of(CRON_JOBS)],
};

/// Starts the controller with empty caches.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let profile = context.settings.profile();
    let logic = CronJobs {
        knows_jobs_by_uid: profile.is("cron-jobs-know-jobs-by-uid"),
        finds_job_of_name: profile.is("cron-jobs-find-job-of-name"),
        work: BTreeMap::new(),
    };
    KeyedController::new(logic, &CONFIG, context, now)
}

/// What a request is for.
#[derive(Clone, Debug)]
enum CronPurpose {
    /// Delete one of too many finished Jobs, or one that is replaced.
    Delete {
        job: Object,
        is_replaced: bool,
    },
    /// Read the CronJob once more: it has a Job that its status does not name.
    Reread(Object),
    /// Check whether a Job that the status names is there.
    Confirm(Json),
    /// Read a Job that is replaced.
    Replaced,
    Create,
    /// Read the Job whose name is taken.
    Existing,
    Status,
}

/// What the controller knows; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
struct CronJobs {
    /// Whether the Jobs of a CronJob are those that name its UID, and not those that name it.
    knows_jobs_by_uid: bool,
    /// Whether a Job whose name is taken is looked for where it is.
    finds_job_of_name: bool,
    work: BTreeMap<ObjectKey, CronSync>,
}

fn about(cron: &Object) -> InvolvedObject {
    InvolvedObject::object("batch/v1", "CronJob", cron)
}

/// Returns the name in a reference of the status.
fn name_in(reference: &Json) -> Text {
    reference.get("name").as_text().cloned().unwrap_or_default()
}

impl CronJobs {
    fn jobs_of(&self, cron: &Object, runtime: &KeyedRuntime<CronPurpose>) -> Vec<Object> {
        let field = if self.knows_jobs_by_uid { ("uid", cron.uid()) } else { ("name", cron.name()) };
        let is_own = |job: &&Object| {
            job.key().namespace == cron.key().namespace
                && controller_of(job).is_some_and(|owner| owner.get(field.0).as_str() == Some(field.1))
        };
        runtime.cache(JOBS_CACHE).objects().filter(is_own).cloned().collect()
    }

    /// Follows a change of a CronJob: a new schedule is waited for, anything else is looked at now.
    fn follow_change(before: &Object, cron: &Object, runtime: &mut KeyedRuntime<CronPurpose>, now: Timestamp) {
        let of = |cron: &Object| {
            let spec = cron.stable().get("spec");
            (spec.get("schedule").clone(), spec.get("timeZone").clone())
        };
        if of(before) == of(cron) {
            runtime.add(cron.key());
        } else if let Ok(schedule) = schedule(cron) {
            runtime.add_after(cron.key(), next_look(cron, &schedule, now), now);
        } else {
            let message = format!("unparseable schedule for cronjob: {}", schedule_text(cron));
            runtime.emit(&about(cron), EventType::Warning, "UnParseableCronJobSchedule", &message, now);
        }
    }

    fn send_delete(
        key: &ObjectKey,
        (job, is_replaced): (Object, bool),
        runtime: &mut KeyedRuntime<CronPurpose>,
        now: Timestamp,
    ) {
        let why = if is_replaced { "the next one replaces it" } else { "too many have ended" };
        let because = runtime.decide(
            format!("job/{}/{}", key.namespace, job.name()),
            "delete",
            Vec::from([Because::Fact(String::from(why))]),
        );
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"});
        let call = Call::new(Verb::Delete, JOBS, &key.namespace, job.name()).body(options);
        runtime.send(key, CronPurpose::Delete { job, is_replaced }, call, Some(because), now);
    }

    fn send_get(
        key: &ObjectKey,
        (resource, name): (Resource, Text),
        purpose: CronPurpose,
        runtime: &mut KeyedRuntime<CronPurpose>,
        now: Timestamp,
    ) {
        runtime.send(key, purpose, Call::new(Verb::Get, resource, &key.namespace, name), None, now);
    }

    fn send_create(key: &ObjectKey, work: &CronSync, runtime: &mut KeyedRuntime<CronPurpose>, now: Timestamp) {
        let job = work.new_job();
        let fact = Vec::from([Because::Fact(format!("it was due at {}", work.due))]);
        let because = runtime.decide(format!("cronjob/{key}"), format!("make job {}", work.job_name()), fact);
        let call = Call::new(Verb::Create, JOBS, &key.namespace, "").body(job);
        runtime.send(key, CronPurpose::Create, call, Some(because), now);
    }

    /// Takes the answer to the creation of a Job.
    fn take_created(
        &self,
        key: &ObjectKey,
        work: &mut CronSync,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<CronPurpose>,
        now: Timestamp,
    ) {
        if let Some(job) = object(reply) {
            let message = format!("Created job {}", job.name());
            runtime.emit(&about(&work.cron), EventType::Normal, "SuccessfulCreate", &message, now);
            work.note_started(&job, now);
            return;
        }
        let is_taken = reply
            .as_ref()
            .is_ok_and(|answer| answer.code == 409 && answer.body().get("reason").as_str() == Some("AlreadyExists"));
        if is_taken && self.finds_job_of_name {
            Self::send_get(key, (JOBS, work.job_name()), CronPurpose::Existing, runtime, now);
            return;
        }
        work.fail();
        if !is_taken && !is_namespace_ending(reply) {
            let message = format!("Error creating job: {}", failure(reply).unwrap_or_default());
            runtime.emit(&about(&work.cron), EventType::Warning, "FailedCreate", &message, now);
        }
    }

    fn take_deleted(
        work: &mut CronSync,
        (job, is_replaced): (&Object, bool),
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<CronPurpose>,
        now: Timestamp,
    ) {
        let Some(error) = failure(reply) else {
            work.remove_active(job.uid());
            work.is_changed = true;
            let message = format!("Deleted job {}", job.name());
            runtime.emit(&about(&work.cron), EventType::Normal, "SuccessfulDelete", &message, now);
            return;
        };
        let message = format!("Deleted job: {error}");
        runtime.emit(&about(&work.cron), EventType::Warning, "FailedDelete", &message, now);
        if is_replaced {
            work.fail();
        }
    }

    /// Begins what comes after the Jobs were looked at: the Job that is due, if any.
    fn judge(work: &mut CronSync, runtime: &mut KeyedRuntime<CronPurpose>, now: Timestamp) {
        work.stage = CronStage::Write;
        if !is_followed(&work.cron) {
            return;
        }
        for (kind, reason, message) in work.judge(now) {
            runtime.emit(&about(&work.cron), kind, reason, &message, now);
        }
    }
}

impl Reconciler for CronJobs {
    type Purpose = CronPurpose;

    fn handle_event(
        &mut self,
        source: usize,
        event: &CacheEvent,
        runtime: &mut KeyedRuntime<CronPurpose>,
        now: Timestamp,
    ) {
        if source == CRON_JOBS_CACHE {
            match (&event.before, &event.after) {
                (Some(before), Some(after)) => Self::follow_change(before, after, runtime, now),
                _ => runtime.add(event.object().key()),
            }
            return;
        }
        let mut owners: Vec<_> =
            [&event.before, &event.after].into_iter().flatten().filter_map(|job| owner_key(job, "CronJob")).collect();
        owners.dedup();
        for (key, uid) in owners {
            if runtime.cache(CRON_JOBS_CACHE).get(&key).is_some_and(|cron| cron.uid() == &*uid) {
                runtime.add(key);
            }
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<CronPurpose>, _: Timestamp) -> Flow {
        let Some(cron) = runtime.cache(CRON_JOBS_CACHE).get(key).cloned() else { return Flow::Done };
        let jobs = self.jobs_of(&cron, runtime);
        self.work.insert(key.clone(), CronSync::new(cron, jobs));
        Flow::Next
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        step: CronPurpose,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<CronPurpose>,
        now: Timestamp,
    ) -> Flow {
        let Some(mut work) = self.work.remove(key) else { return Flow::Done };
        let error = failure(reply);
        match (step, object(reply)) {
            (CronPurpose::Delete { job, is_replaced }, _) => {
                Self::take_deleted(&mut work, (&job, is_replaced), reply, runtime, now);
            }
            (CronPurpose::Reread(job), Some(cron)) => {
                if work.take_reread(cron, &job) {
                    let message = format!("Saw a job that the controller did not create or forgot: {}", job.name());
                    runtime.emit(&about(&work.cron), EventType::Warning, "UnexpectedJob", &message, now);
                }
            }
            (CronPurpose::Confirm(job), None) if code(reply) == 404 => {
                let message = format!("Active job went missing: {}", name_in(&job));
                runtime.emit(&about(&work.cron), EventType::Normal, "MissingJob", &message, now);
                work.remove_active(job.get("uid").as_str().unwrap_or_default());
                work.is_changed = true;
            }
            (CronPurpose::Confirm(_), Some(_)) => {}
            (CronPurpose::Replaced, Some(job)) => {
                Self::send_delete(key, (job, true), runtime, now);
            }
            (CronPurpose::Replaced, None) => {
                let message = format!("Get job: {}", error.unwrap_or_default());
                runtime.emit(&about(&work.cron), EventType::Warning, "FailedGet", &message, now);
                work.fail();
            }
            (CronPurpose::Create, _) => self.take_created(key, &mut work, reply, runtime, now),
            (CronPurpose::Existing, Some(job)) => work.take_existing(&job, now),
            (CronPurpose::Status, _) if error.is_some() => work.fail(),
            (CronPurpose::Status, _) => {}
            (CronPurpose::Reread(_) | CronPurpose::Confirm(_) | CronPurpose::Existing, None) => work.fail(),
        }
        self.work.insert(key.clone(), work);
        Flow::Next
    }

    fn proceed(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<CronPurpose>, now: Timestamp) -> Flow {
        let Some(mut work) = self.work.remove(key) else { return Flow::Done };
        loop {
            match &mut work.stage {
                CronStage::Clean(old) => match old.pop_front() {
                    Some(job) => {
                        Self::send_delete(key, (job, false), runtime, now);
                        break;
                    }
                    None => work.stage = CronStage::Follow(work.jobs.iter().cloned().collect()),
                },
                CronStage::Follow(jobs) => match jobs.pop_front() {
                    None => work.stage = CronStage::Confirm(work.missing()),
                    Some(job) if work.is_unknown(&job) => {
                        Self::send_get(key, (CRON_JOBS, key.name.clone()), CronPurpose::Reread(job), runtime, now);
                        break;
                    }
                    Some(job) => {
                        if let Some(message) = work.follow(&job) {
                            runtime.emit(&about(&work.cron), EventType::Normal, "SawCompletedJob", &message, now);
                        }
                    }
                },
                CronStage::Confirm(missing) => match missing.pop_front() {
                    Some(job) => {
                        Self::send_get(key, (JOBS, name_in(&job)), CronPurpose::Confirm(job), runtime, now);
                        break;
                    }
                    None => Self::judge(&mut work, runtime, now),
                },
                CronStage::Replace(active) => {
                    if let Some(job) = active.pop_front() {
                        Self::send_get(key, (JOBS, name_in(&job)), CronPurpose::Replaced, runtime, now);
                    } else {
                        work.stage = CronStage::Write;
                        Self::send_create(key, &work, runtime, now);
                    }
                    break;
                }
                CronStage::Write => {
                    work.stage = CronStage::End;
                    if work.is_changed {
                        let call = Call::new(Verb::Update, CRON_JOBS, &key.namespace, &key.name).subresource("status");
                        runtime.send(key, CronPurpose::Status, call.body(work.written()), None, now);
                        break;
                    }
                }
                CronStage::End if work.has_failed => return Flow::Retry,
                CronStage::End => {
                    if let Some(pause) = work.look_again {
                        runtime.add_after(key.clone(), pause, now);
                    }
                    return Flow::Done;
                }
            }
        }
        self.work.insert(key.clone(), work);
        Flow::Next
    }
}
