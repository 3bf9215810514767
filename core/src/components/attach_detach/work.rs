//! The operations: an attachment is created or deleted, and its driver waited for.
//!
//! Mirrors pkg/volume/csi/csi_attacher.go and pkg/volume/util/operationexecutor/operation_generator.go (v1.34). The
//! cache of attachments is polled with a growing pause, for two minutes at most. Inputs: answers, time, attachments.
//! Outputs: requests, Events, changes of the actual state.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::desired::Wanted;
use super::operations::OperationKey;
use super::{ATTACHMENT_CACHE, AttachDetach, AttachPurpose};
use crate::components::controller::{ApiResult, code, failure, object};
use crate::components::events::{EventType, InvolvedObject};
use crate::components::volumes::{ATTACHMENTS, CsiVolume, attachment_name, split_unique};
use crate::components::{Because, Deadline, DecisionId};
use crate::json;
use crate::network::{Call, NODES, Verb};
use crate::objects::{Object, Text};

/// The first pause before the cache is looked at. Source: csi_attacher.go (v1.34),
/// `waitForVolumeAttachDetachStatusWithLister`, `initBackoff`.
const POLL_FIRST: SignedDuration = SignedDuration::from_millis(500);
/// The longest pause. Source: as [`POLL_FIRST`], `maxBackoff`.
const POLL_MAX: SignedDuration = SignedDuration::from_secs(7);
/// By how much each pause is longer than the one before. Source: as [`POLL_FIRST`], `backoffFactor`.
const POLL_FACTOR: f64 = 1.05;
/// By how much a pause is longer at most. Source: as [`POLL_FIRST`], `jitter`.
const POLL_JITTER: f64 = 0.1;
/// How long a driver is waited for. Source: pkg/volume/csi/csi_plugin.go (v1.34), `csiTimeout`.
const PATIENCE: SignedDuration = SignedDuration::from_mins(2);

/// What an operation does to its volume.
#[derive(Clone, Debug)]
enum JobKind {
    /// For these Pods.
    Attach(Vec<Object>),
    Detach,
}

/// What comes next in an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum JobStep {
    /// The Node is asked whether it uses the volume.
    Ask,
    /// The attachment is created or deleted.
    Write,
    /// The driver is waited for: when to look next, the pause after that, and until when.
    Poll(Timestamp, SignedDuration, Timestamp),
}

/// An operation under way.
#[derive(Clone, Debug)]
pub(super) struct Job {
    kind: JobKind,
    unique: Text,
    node: Text,
    volume: Option<CsiVolume>,
    attachment: Text,
    key: OperationKey,
    step: JobStep,
    because: DecisionId,
}

/// What a look at an attachment says.
enum Look {
    Done,
    NotYet,
    Failed(String),
}

impl AttachDetach {
    pub(super) fn start_attachment(&mut self, wanted: Wanted, node: Text, key: OperationKey, now: Timestamp) {
        let volume = wanted.volume;
        let pods: Vec<Object> = wanted.pods.into_values().collect();
        let facts = pods.iter().map(|pod| Because::Fact(format!("Pod {} wants it", pod.key()))).collect();
        let because = self.runtime.decide(format!("node/{node}"), format!("attach volume {}", volume.unique), facts);
        let name = attachment_name(&volume.handle, &volume.driver, &node);
        let is_there = self.runtime.cache(ATTACHMENT_CACHE).cache().get("", &name).is_some();
        let job = Job {
            kind: JobKind::Attach(pods),
            unique: volume.unique.clone(),
            node: node.clone(),
            volume: Some(volume.clone()),
            attachment: name.clone(),
            key,
            step: JobStep::Write,
            because,
        };
        let number = self.add_job(job);
        if is_there {
            self.wait(number, now);
            return;
        }
        let body = json!({"kind": "VolumeAttachment", "apiVersion": "storage.k8s.io/v1",
            "metadata": {"name": name.as_str()},
            "spec": {"attacher": volume.driver.as_str(), "nodeName": node.as_str(),
                "source": {"persistentVolumeName": volume.name.as_str()}}});
        self.ask(number, Call::new(Verb::Create, ATTACHMENTS, "", "").body(body), now);
    }

    pub(super) fn start_detachment(
        &mut self,
        unique: Text,
        node: Text,
        key: OperationKey,
        asks: bool,
        because: DecisionId,
        now: Timestamp,
    ) {
        let (driver, handle) = split_unique(&unique).unwrap_or_default();
        let attachment = attachment_name(handle, driver, &node);
        let volume = self.actual.get(&unique, &node).and_then(|own| own.volume.clone());
        let step = if asks { JobStep::Ask } else { JobStep::Write };
        let job = Job { kind: JobKind::Detach, unique, node: node.clone(), volume, attachment, key, step, because };
        let number = self.add_job(job);
        if asks {
            self.ask(number, Call::new(Verb::Get, NODES, "", node), now);
        } else {
            self.delete(number, now);
        }
    }

    fn add_job(&mut self, job: Job) -> u64 {
        self.last_job += 1;
        self.jobs.insert(self.last_job, job);
        self.last_job
    }

    fn ask(&mut self, number: u64, call: Call, now: Timestamp) {
        let because = self.jobs.get(&number).map(|job| job.because);
        let id = self.runtime.send(call, because, now);
        self.under_way.insert(id, AttachPurpose::Job(number));
    }

    fn delete(&mut self, number: u64, now: Timestamp) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        job.step = JobStep::Write;
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
        let call = Call::new(Verb::Delete, ATTACHMENTS, "", job.attachment.clone()).body(options);
        self.ask(number, call, now);
    }

    fn wait(&mut self, number: u64, now: Timestamp) {
        let first = now + self.chance.jitter(POLL_FIRST, POLL_JITTER);
        if let Some(job) = self.jobs.get_mut(&number) {
            job.step = JobStep::Poll(first, POLL_FIRST.mul_f64(POLL_FACTOR), now + PATIENCE);
        }
    }

    /// Takes the answer to a step.
    pub(super) fn continue_job(&mut self, number: u64, reply: &ApiResult, now: Timestamp) {
        let Some(job) = self.jobs.get(&number) else { return };
        let error = failure(reply);
        match (&job.kind, job.step, error, code(reply)) {
            (_, JobStep::Ask, None, _) => {
                let used = object(reply).is_some_and(|node| super::in_use(&node).contains(&job.unique));
                if used {
                    let why = "volume is still in use by node, according to Node status";
                    self.end_job(number, Err(String::from(why)), now);
                } else {
                    self.delete(number, now);
                }
            }
            (_, JobStep::Ask, Some(_), 404) => self.delete(number, now),
            (JobKind::Attach(_), JobStep::Write, None, _) | (JobKind::Attach(_), JobStep::Write, Some(_), 409) => {
                self.wait(number, now);
            }
            (JobKind::Attach(_), JobStep::Write, Some(error), _) => {
                self.end_job(number, Err(format!("kubernetes.io/csi: attacher.Attach failed: {error}")), now);
            }
            (JobKind::Detach, JobStep::Write, None, _) => self.wait(number, now),
            (JobKind::Detach, JobStep::Write, Some(_), 404) => self.end_job(number, Ok(()), now),
            (_, _, error, _) => self.end_job(number, Err(error.unwrap_or_default()), now),
        }
    }

    /// Looks at the attachments whose pause is over.
    pub(super) fn poll_jobs(&mut self, now: Timestamp) {
        let due: Vec<u64> = self
            .jobs
            .iter()
            .filter(|(_, job)| matches!(job.step, JobStep::Poll(at, _, until) if at.min(until) <= now))
            .map(|(number, _)| *number)
            .collect();
        for number in due {
            let Some(job) = self.jobs.get(&number) else { continue };
            let JobStep::Poll(at, pause, until) = job.step else { continue };
            let look = if at <= now { self.look(job) } else { Look::NotYet };
            match look {
                Look::Done => self.end_job(number, Ok(()), now),
                Look::Failed(why) => self.end_job(number, Err(why), now),
                Look::NotYet if until <= now => {
                    let why = timed_out(job);
                    self.end_job(number, Err(why), now);
                }
                Look::NotYet => {
                    let next = now + self.chance.jitter(pause, POLL_JITTER);
                    let longer = pause.mul_f64(POLL_FACTOR).min(POLL_MAX);
                    if let Some(job) = self.jobs.get_mut(&number) {
                        job.step = JobStep::Poll(next, longer, until);
                    }
                }
            }
        }
    }

    pub(super) fn next_poll(&self) -> Option<Deadline> {
        let polls = self.jobs.values().filter_map(|job| match job.step {
            JobStep::Poll(at, _, until) => Some(at.min(until)),
            _ => None,
        });
        polls.min().map(|at| Deadline { at, reason: "look at a VolumeAttachment" })
    }

    /// Source: csi_attacher.go (v1.34), `verifyAttachmentStatus`, `verifyDetachmentStatus`.
    fn look(&self, job: &Job) -> Look {
        let cached = self.runtime.cache(ATTACHMENT_CACHE).cache().get("", &job.attachment);
        let status = |object: &Object, field: &str| object.stable().at(&["status", field, "message"]).clone();
        let is_failed = |object: &Object, field: &str| !object.stable().at(&["status", field]).is_null();
        let told = |object: &Object, field: &str| {
            Look::Failed(String::from(status(object, field).as_str().unwrap_or_default()))
        };
        match (&job.kind, cached) {
            (JobKind::Detach, None) => Look::Done,
            (JobKind::Detach, Some(own)) if is_failed(own, "detachError") => told(own, "detachError"),
            (JobKind::Attach(_), Some(own)) => {
                if !own.stable().at(&["metadata", "deletionTimestamp"]).is_null() {
                    Look::Failed(String::from("volume attachment is being deleted"))
                } else if own.stable().at(&["status", "attached"]).as_bool() == Some(true) {
                    Look::Done
                } else if is_failed(own, "attachError") {
                    told(own, "attachError")
                } else {
                    Look::NotYet
                }
            }
            _ => Look::NotYet,
        }
    }

    fn end_job(&mut self, number: u64, outcome: Result<(), String>, now: Timestamp) {
        let Some(job) = self.jobs.remove(&number) else { return };
        self.operations.end(&job.key, outcome.is_ok(), now);
        self.is_dirty = true;
        let name = job.volume.as_ref().map_or("nil", |volume| volume.name.as_str());
        match (job.kind, outcome) {
            (JobKind::Attach(pods), Ok(())) => {
                let message = format!("AttachVolume.Attach succeeded for volume \"{name}\" ");
                for pod in &pods {
                    let about = InvolvedObject::pod(pod);
                    let because = Some(job.because);
                    self.runtime.emit(&about, EventType::Normal, "SuccessfulAttachVolume", &message, because, now);
                }
                self.actual.mark(&job.unique, &job.node, job.volume.clone(), true);
            }
            (JobKind::Attach(pods), Err(why)) => {
                self.actual.mark(&job.unique, &job.node, job.volume.clone(), false);
                let message = format!("AttachVolume.Attach failed for volume \"{name}\" : {why}");
                for pod in &pods {
                    let about = InvolvedObject::pod(pod);
                    let because = Some(job.because);
                    self.runtime.emit(&about, EventType::Warning, "FailedAttachVolume", &message, because, now);
                }
            }
            (JobKind::Detach, Ok(())) => self.actual.forget(&job.unique, &job.node),
            (JobKind::Detach, Err(why)) => {
                self.runtime.log(format!(
                    "DetachVolume.Detach failed for volume \"{name}\" (UniqueName: \"{}\") on node \"{}\" : {why}",
                    job.unique, job.node
                ));
                self.actual.mark(&job.unique, &job.node, job.volume.clone(), false);
            }
        }
    }
}

/// Says that a driver did nothing. Source: as [`POLL_FIRST`]: the volume of a detachment is not known.
fn timed_out(job: &Job) -> String {
    let (handle, driver, verb) = match (&job.kind, &job.volume) {
        (JobKind::Attach(_), Some(volume)) => (volume.handle.as_str(), volume.driver.as_str(), "attach"),
        _ => (split_unique(&job.unique).map_or("", |(_, handle)| handle), "unknown", "detach"),
    };
    format!("timed out waiting for external-attacher of {driver} CSI driver to {verb} volume {handle}")
}
