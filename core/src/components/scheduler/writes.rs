//! The scheduler's writes other than the condition: bindings, and the deletion of the victims of a preemption.
//!
//! Mirrors pkg/scheduler/schedule_one.go, `bindingCycle` and `handleBindingCycleError`, and
//! pkg/scheduler/framework/preemption/preemption.go, `prepareCandidate` and `prepareCandidateAsync` (v1.34). Inputs: an
//! assigned Pod or an offer with victims, answers. Outputs: requests, and when a preemption is done.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::attempt::ClusterActivity;
use super::cache::PodInfo;
use super::informers::POD_CACHE;
use super::preemption::Offer;
use super::queue::Queued;
use super::recorder::EventText;
use super::status::{Condition, overwrite, patch};
use super::volume_binding::VolumeWait;
use super::{Scheduler, SchedulingState};
use crate::components::{Because, DecisionId};
use crate::json;
use crate::network::{Answer, Call, PODS, RequestId, TransportError, Verb};
use crate::objects::Text;
use crate::objects::lifecycle::is_ending;

/// How often a binding is tried. Source: k8s.io/client-go util/retry/util.go (v0.37), `DefaultBackoff`.
const BINDING_TRIES: u32 = 4;
/// The first pause between two tries, and how many times longer each further one is. Source: as [`BINDING_TRIES`].
const BINDING_PAUSE: SignedDuration = SignedDuration::from_millis(10);
const BINDING_PAUSE_FACTOR: i32 = 5;
/// By which share a pause may be longer. Source: as [`BINDING_TRIES`].
const BINDING_JITTER: f64 = 0.1;

/// A request under way.
#[derive(Clone, Debug)]
pub(super) enum Write {
    /// The status of a Pod that fits nowhere.
    Status,
    Binding(PendingBinding),
    /// The condition of a victim, before it is deleted.
    Victim {
        job: u64,
        pod: Arc<PodInfo>,
    },
    Deletion {
        job: u64,
        pod: Arc<PodInfo>,
    },
    /// What binds the claims of a Pod.
    Volumes(VolumeWait),
}

/// A Pod that is being bound.
#[derive(Clone, Debug)]
pub(super) struct PendingBinding {
    pub(super) queued: Queued,
    node: Text,
    because: DecisionId,
    /// How often it was tried.
    tries: u32,
    /// When it is tried again.
    pub(super) next: Timestamp,
}

/// A preemption under way.
#[derive(Clone, Debug)]
pub(super) struct OngoingPreemption {
    preemptor: Arc<PodInfo>,
    node: Text,
    because: DecisionId,
    left: VecDeque<Arc<PodInfo>>,
    under_way: usize,
    /// The first error.
    error: Option<String>,
}

impl Scheduler {
    pub(super) fn bind(&mut self, queued: Queued, node: Text, because: DecisionId, now: Timestamp) {
        self.try_binding(PendingBinding { queued, node, because, tries: 0, next: now }, now);
    }

    /// Writes for which node a Pod is meant; an empty name takes that back.
    ///
    /// Source: pkg/scheduler/schedule_one.go (v1.36), `bindingCycle`.
    pub(super) fn nominate(&mut self, pod: &PodInfo, node: &Text, because: DecisionId, now: Timestamp) {
        if let Some(body) = patch(&pod.object, None, Some(&**node), now) {
            let call = Call::strategic_patch(PODS, pod.key.namespace.clone(), pod.key.name.clone(), body);
            let id = self.runtime.send(call.subresource("status"), Some(because), now);
            self.under_way.insert(id, Write::Status);
        }
    }

    /// Tries the bindings again whose pause is over.
    pub(super) fn bind_again(&mut self, now: Timestamp) {
        let (due, others) = core::mem::take(&mut self.failed_bindings).into_iter().partition(|own| own.next <= now);
        self.failed_bindings = others;
        let due: Vec<PendingBinding> = due;
        due.into_iter().for_each(|binding| self.try_binding(binding, now));
    }

    fn try_binding(&mut self, mut binding: PendingBinding, now: Timestamp) {
        let (pod, node, because) = (&binding.queued.pod, &binding.node, binding.because);
        let (namespace, name) = (pod.key.namespace.clone(), pod.key.name.clone());
        let body = json!({"kind": "Binding", "apiVersion": "v1",
            "metadata": {"name": &*name, "namespace": &*namespace, "uid": pod.object.uid()},
            "target": {"kind": "Node", "name": &**node}});
        let call = Call::new(Verb::Create, PODS, namespace, name).subresource("binding").body(body);
        let id = self.runtime.send(call, Some(because), now);
        binding.tries += 1;
        self.under_way.insert(id, Write::Binding(binding));
    }

    /// Lets a binding be tried again after a pause, if the server could not take it; `None` then.
    ///
    /// Source: pkg/scheduler/util/utils.go (v1.37), `BindPod` and `Retriable`.
    fn held_binding(
        &mut self,
        mut binding: PendingBinding,
        result: &Result<Answer, TransportError>,
        now: Timestamp,
    ) -> Option<PendingBinding> {
        let is_passing = match result {
            Ok(answer) => matches!(answer.code, 500 | 503),
            Err(error) => *error == TransportError::Refused,
        };
        if !self.behaviour.retries_bindings || !is_passing || binding.tries >= BINDING_TRIES {
            return Some(binding);
        }
        let pause = (1..binding.tries).fold(BINDING_PAUSE, |pause, _| pause * BINDING_PAUSE_FACTOR);
        binding.next = now + self.chance.jitter(pause, BINDING_JITTER);
        self.failed_bindings.push(binding);
        None
    }

    pub(super) fn handle_answer(
        &mut self,
        id: RequestId,
        write: Write,
        result: &Result<Answer, TransportError>,
        now: Timestamp,
    ) {
        let refusal = match result {
            Ok(answer) if answer.is_success() => None,
            Ok(answer) => Some(answer.message()),
            Err(error) => Some(format!("{error}")),
        };
        let is_gone = matches!(result, Ok(answer) if answer.code == 404);
        match write {
            Write::Status => {
                if matches!(self.step, SchedulingState::Writing(own) if own == id) {
                    self.step = SchedulingState::Idle;
                }
            }
            Write::Binding(binding) => {
                if let Some(binding) = self.held_binding(binding, result, now) {
                    self.bound(binding, refusal, now);
                }
            }
            Write::Volumes(wait) => self.wrote_volumes(wait, refusal, now),
            Write::Victim { job, pod } => match refusal {
                None => self.delete_victim(job, pod, now),
                Some(_) if is_gone && self.behaviour.leaves_ending_victims => self.end_victim(job, None, now),
                error => self.end_victim(job, error, now),
            },
            Write::Deletion { job, pod } => {
                if refusal.is_none() {
                    self.tell_victim(job, &pod, "", now);
                }
                self.end_victim(job, refusal.filter(|_| !is_gone), now);
            }
        }
    }

    fn bound(&mut self, binding: PendingBinding, refusal: Option<String>, now: Timestamp) {
        let PendingBinding { queued, node, because, .. } = binding;
        let pod = queued.pod.clone();
        let Some(refusal) = refusal else {
            let note = format!("Successfully assigned {}/{} to {node}", pod.key.namespace, pod.key.name);
            let text_of_event =
                EventText { kind: "Normal", reason: "Scheduled", action: "Binding", note: &note, related: None };
            self.recorder.emit(
                &pod.object,
                text_of_event,
                Some(because),
                (&mut self.event_client, &mut self.runtime.outbox),
                now,
            );
            // One that went before it was seen bound has no room any more.
            if self.runtime.cache(POD_CACHE).get(&pod.key).is_none_or(|own| own.uid() != pod.object.uid()) {
                self.forget_assumed(&pod, now);
            }
            return;
        };
        self.forget_assumed(&pod, now);
        self.fail_binding(queued, format!("running Bind plugin \"DefaultBinder\": {refusal}"), now);
    }

    /// Prepares the deletion of a preemption's victims; [`Self::go_on_with_job`] starts it. `None` if there is nothing
    /// to do but to wait.
    pub(super) fn start_job(
        &mut self,
        pod: &Arc<PodInfo>,
        offer: Offer,
        because: DecisionId,
        now: Timestamp,
    ) -> Option<u64> {
        let leaves = self.behaviour.leaves_ending_victims;
        let left: VecDeque<_> = offer.victims.into_iter().filter(|own| !(leaves && is_ending(&own.object))).collect();
        if left.is_empty() && self.behaviour.preempts_beside {
            return None;
        }
        for other in self.nominations.below(pod.priority, &offer.node) {
            self.nominations.set(other.clone(), &Text::of(""));
            self.nominate(&other, &Text::of(""), because, now);
        }
        self.last_job += 1;
        let job =
            OngoingPreemption { preemptor: pod.clone(), node: offer.node, because, left, under_way: 0, error: None };
        self.jobs.insert(self.last_job, job);
        Some(self.last_job)
    }

    /// Deletes the next victims: all at once, or all but the last first; after the last the Pod may be tried again. An
    /// error ends it, since it cancels the requests that would follow.
    pub(super) fn go_on_with_job(&mut self, number: u64, now: Timestamp) {
        let beside = self.behaviour.preempts_beside;
        let Some(job) = self.jobs.get_mut(&number) else { return };
        if job.under_way > 0 {
            return;
        }
        if job.error.is_some() {
            job.left.clear();
        }
        let count = if beside && job.left.len() > 1 { job.left.len() - 1 } else { job.left.len() };
        let batch: alloc::vec::Vec<_> = job.left.drain(..count).collect();
        job.under_way = batch.len();
        let is_last = job.left.is_empty();
        let preemptor = job.preemptor.key.clone();
        if batch.is_empty() {
            self.finish_job(number, now);
            return;
        }
        if is_last {
            self.queue.let_go(&preemptor);
        }
        for victim in batch {
            self.end(number, victim, now);
        }
    }

    fn end(&mut self, number: u64, victim: Arc<PodInfo>, now: Timestamp) {
        if self.behaviour.preempts_in_memory
            && let Some(wait) = self.take_volumes(&victim)
        {
            self.tell_victim(number, &victim, " (in kube-scheduler memory).", now);
            self.give_up_volumes(wait, "preempted by DefaultPreemption", now);
            return self.end_victim(number, None, now);
        }
        let Some(job) = self.jobs.get(&number) else { return };
        let key = victim.key.clone();
        let profile = job.preemptor.spec().get("schedulerName").as_str().unwrap_or(super::PROFILE);
        let message = format!("{profile}: preempting to accommodate a higher priority pod");
        let condition = Condition {
            kind: "DisruptionTarget",
            status: "True",
            reason: "PreemptionByScheduler",
            message: &message,
            tells_generation: self.behaviour.tells_generation,
        };
        let because = job.because;
        // The current victim: its status may have changed since it was chosen.
        let current = self.cluster.pod(&key).cloned().unwrap_or(victim);
        let body = if self.behaviour.mixes_up_status {
            overwrite(&current.object, &job.preemptor.object, condition, now)
        } else {
            patch(&current.object, Some(condition), None, now)
        };
        match body {
            Some(body) => {
                let call = Call::strategic_patch(PODS, key.namespace, key.name, body).subresource("status");
                let id = self.runtime.send(call, Some(because), now);
                self.under_way.insert(id, Write::Victim { job: number, pod: current });
            }
            None => self.delete_victim(number, current, now),
        }
    }

    fn delete_victim(&mut self, number: u64, pod: Arc<PodInfo>, now: Timestamp) {
        let Some(job) = self.jobs.get(&number) else { return };
        let fact =
            Because::Fact(format!("Pod {} with priority {} needs its room", job.preemptor.key, job.preemptor.priority));
        let why = alloc::vec![Because::Decision(job.because), fact];
        let because = self.runtime.decide(format!("pod/{}", pod.key), "preempt", why);
        let call = Call::new(Verb::Delete, PODS, pod.key.namespace.clone(), pod.key.name.clone());
        let call = call.body(json!({"kind": "DeleteOptions", "apiVersion": "v1"}));
        let id = self.runtime.send(call, Some(because), now);
        self.under_way.insert(id, Write::Deletion { job: number, pod });
    }

    fn tell_victim(&mut self, number: u64, pod: &PodInfo, how: &str, now: Timestamp) {
        let Some(job) = self.jobs.get(&number) else { return };
        let (preemptor, because) = (job.preemptor.clone(), job.because);
        let note = format!("Preempted by pod {} on node {}{how}", preemptor.object.uid(), job.node);
        let text_of_event = EventText {
            kind: "Normal",
            reason: "Preempted",
            action: "Preempting",
            note: &note,
            related: self.behaviour.relates_preemptor.then_some(&preemptor.object),
        };
        self.recorder.emit(
            &pod.object,
            text_of_event,
            Some(because),
            (&mut self.event_client, &mut self.runtime.outbox),
            now,
        );
    }

    fn end_victim(&mut self, number: u64, error: Option<String>, now: Timestamp) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        job.under_way -= 1;
        job.error = job.error.take().or(error);
        self.go_on_with_job(number, now);
    }

    fn finish_job(&mut self, number: u64, now: Timestamp) {
        let Some(job) = self.jobs.remove(&number) else { return };
        if job.error.is_some() && self.behaviour.preempts_beside {
            self.queue.let_go(&job.preemptor.key);
            self.queue.activate(&job.preemptor.key);
        }
        match core::mem::replace(&mut self.step, SchedulingState::Idle) {
            SchedulingState::Preempting(own, mut failure) if own == number => {
                if let Some(error) = &job.error {
                    failure.end_preemption(error);
                }
                let moved = core::mem::take(&mut self.moved);
                self.conclude(failure, ClusterActivity::of(moved), now);
            }
            other => self.step = other,
        }
    }
}
