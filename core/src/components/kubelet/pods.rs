//! The pods of a node: their containers are started and stopped, and their status is written back.
//!
//! Mirrors pkg/kubelet/pod_workers.go, pkg/kubelet/status/status_manager.go and pkg/kubelet/kuberuntime (v1.34).
//! A status is written by GET and PATCH, with DELETE at the end; a pod has one such request under way at a time.
//! Inputs: the watch of pods, answers, time, ended processes. Outputs: containers on the host, requests, Events,
//! decisions. Invariant: no running pod is stopped because the API server is unreachable.
//! Left out on purpose: init containers, probes and images.

mod admitting;
mod ending;
mod pod_status;
mod running;
mod workers;
mod writing;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

pub(super) use self::ending::Ending;
use self::ending::PREEMPTED;
use self::pod_status::{StatusContext, build, has_stale_readiness};
use super::admission::AdmissionResult;
use super::events::EventType;
use super::runtime_state::RELIST_PERIOD;
use super::static_pods::{hash_of, is_mirror, is_static};
use super::{ApiResult, Kubelet, KubeletContext, Purpose};
use crate::chance::Chance;
use crate::components::client::Reflector;
use crate::components::host::Host;
use crate::components::host::runtime::{Container, ContainerState};
use crate::components::{Because, Deadline, earliest};
use crate::json;
use crate::network::{Call, PODS, RequestId, ToClient, Verb};
use crate::objects::patch::two_way;
use crate::objects::{Json, Object, ObjectKey, Text};
use running::plan_of;
use workers::Workers;

/// The shortest grace period that the runtime gets to stop a container.
/// Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go (v1.34), `minimumGracePeriodInSeconds`.
const STOP_MIN_SECONDS: i64 = 2;
/// Pause after a failed sync of a pod, plus up to half of it.
/// Source: pkg/kubelet/kubelet.go and pkg/kubelet/pod_workers.go (v1.34), `backOffPeriod`,
/// `workerBackOffPeriodJitterFactor`.
const FAILED_SYNC_PAUSE: SignedDuration = SignedDuration::from_secs(10);
/// The same for a pod that waits for the network. Source: pkg/kubelet/pod_workers.go (v1.34),
/// `backOffOnTransientErrorPeriod`.
const NETWORK_PAUSE: SignedDuration = SignedDuration::from_secs(1);
/// Source: pkg/kubelet/pod_workers.go (v1.34), `workerBackOffPeriodJitterFactor`.
const PAUSE_JITTER: f64 = 0.5;
/// How often a pod is synced without any other reason, plus up to half of it.
/// Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34), `syncFrequency`; pkg/kubelet/pod_workers.go,
/// `workerResyncIntervalJitterFactor`.
const RESYNC_PERIOD: SignedDuration = SignedDuration::from_secs(60);
/// How often the kubelet checks which pods are due. Source: pkg/kubelet/kubelet.go (v1.34), `syncTicker` of `syncLoop`.
const SYNC_PERIOD: SignedDuration = SignedDuration::from_secs(1);

/// What an answer is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PodPurpose {
    /// The pod was read before its status is written.
    Get,
    /// The status was written.
    Patch,
    /// The pod was finally deleted.
    Delete,
}

/// The phase of a pod's worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WorkerStage {
    /// It waits for the runtime or the network.
    Blocked,
    /// It runs, or is about to.
    Active,
    /// Its containers were told to stop.
    Stopping,
    /// All containers have ended, and none is started again.
    Over,
}

/// When one container is started, and how often it was restarted.
#[derive(Clone, Debug)]
pub(super) struct ContainerPlan {
    /// The container's name.
    pub(super) name: Text,
    /// When its process starts; `None` once it has, or if it never will.
    pub(super) start_at: Option<Timestamp>,
    /// When it is ready, once it runs.
    pub(super) ready_at: Option<Timestamp>,
    /// How often it was started again.
    pub(super) restarts: u32,
    /// The pause after its next crash; `None` before the first.
    pub(super) backoff: Option<SignedDuration>,
    /// The pause for which it was held back last.
    pub(super) held_back: SignedDuration,
    /// Whether it has ended, and is to run again after its pause.
    pub(super) is_waiting: bool,
    /// Whether a second sync found it waiting: only then its status says `CrashLoopBackOff`.
    pub(super) is_crash_looping: bool,
}

/// The worker of one pod.
#[derive(Clone, Debug)]
pub(super) struct Worker {
    /// The pod's UID.
    pub(super) uid: Text,
    /// The pod as it was seen last.
    pub(super) object: Object,
    /// When it was first seen.
    pub(super) seen_at: Timestamp,
    /// Reason and message of a refusal.
    pub(super) rejection: Option<(Text, Text)>,
    /// The containers.
    pub(super) plans: Vec<ContainerPlan>,
    /// Until when the phase in the API stays, after the containers have ended by themselves.
    pub(super) phase_held_until: Option<Timestamp>,
    /// Why the kubelet itself ends it.
    pub(super) ending: Option<Ending>,
    /// The UID of the mirror of a static pod; empty before it was seen.
    mirror: Text,
    /// Whether it ran when this process started.
    ran_before: bool,
    /// Whether it is a static pod whose manifest is gone.
    is_removed: bool,
    /// The node's address as of the last sync.
    pub(super) host_ip: Text,
    /// When it is synced because its time has come; set only while that would change something.
    resync_at: Option<Timestamp>,
    /// The conditions as this process has written them last; `Null` before the first time.
    pub(super) conditions: Json,
    /// The pods that have to end before it starts.
    victims: Vec<Text>,
    stage: WorkerStage,
    is_gone: bool,
    is_dirty: bool,
    is_syncing: bool,
    sync_at: Option<Timestamp>,
    delete_at: Option<Timestamp>,
    retry_at: Option<Timestamp>,
    /// Whether the removal of its sandbox has failed.
    has_failed_to_end: bool,
    /// Whether it ended before this process started, and its sandbox did not outlive a boot.
    has_lost_address: bool,
}

impl Worker {
    /// Tells whether all containers have ended and none will be restarted.
    pub(super) fn is_over(&self) -> bool {
        self.stage == WorkerStage::Over
    }

    /// Tells whether its containers have ended and were removed before the kubelet could read how.
    fn has_lost_containers(&self) -> bool {
        self.is_over() && self.ending.as_ref().is_some_and(|ending| ending.loses_containers)
    }

    /// Tells whether it has ended and has no deadline, no request under way and nothing to write.
    fn is_idle(&self) -> bool {
        self.is_over() && self.victims.is_empty() && !self.is_dirty && !self.is_syncing
    }

    /// Tells whether its containers have to end, or are about to.
    fn has_to_end(&self) -> bool {
        !self.is_over() && (self.is_deleted() || self.ending.is_some())
    }

    fn is_preempted(&self) -> bool {
        self.ending.as_ref().is_some_and(|ending| ending.reason == *PREEMPTED.0)
    }

    fn is_deleted(&self) -> bool {
        !self.object.stable().at(&["metadata", "deletionTimestamp"]).is_null()
    }

    fn restart_policy(&self) -> &str {
        self.object.stable().at(&["spec", "restartPolicy"]).as_str().unwrap_or("Always")
    }

    fn needs_network(&self) -> bool {
        self.object.stable().at(&["spec", "hostNetwork"]).as_bool() != Some(true)
    }

    /// Returns the next deadline of this pod after `now`.
    fn next(&self, now: Timestamp) -> Option<Timestamp> {
        let is_active = self.stage == WorkerStage::Active;
        let starts = self.plans.iter().filter(|_| is_active).filter_map(|plan| plan.start_at);
        let readies = self.plans.iter().filter(|_| is_active).filter_map(|plan| plan.ready_at.filter(|at| *at > now));
        let retry = self.retry_at.filter(|_| self.stage != WorkerStage::Over);
        starts.chain(readies).chain(self.resync_at).chain(self.sync_at).chain(self.delete_at).chain(retry).min()
    }
}

/// All pods of the node.
#[derive(Clone, Debug)]
pub(super) struct PodManager {
    /// The watch.
    pub(super) source: Option<Reflector>,
    chance: Chance,
    workers: Workers,
    due: Option<Timestamp>,
    is_filled: bool,
}

impl PodManager {
    /// Starts without pods.
    pub(super) fn new(chance: Chance) -> Self {
        Self { source: None, chance, workers: Workers::default(), due: None, is_filled: false }
    }

    /// Tells whether a message is of the watch.
    pub(super) fn owns(&self, id: RequestId) -> bool {
        self.source.as_ref().is_some_and(|source| source.owns(id))
    }

    /// Returns when something is due.
    pub(super) fn next_deadline(&self) -> Option<Deadline> {
        let own = self.due.map(|at| Deadline { at, reason: "pods" });
        earliest([own, self.source.as_ref().and_then(Reflector::next_deadline)])
    }

    /// Takes a bookmark of the watch, if no pod depends on when it arrives.
    pub(super) fn handle_bookmark(&mut self, id: RequestId, resource_version: u64) -> bool {
        let is_idle = self.is_filled && self.due.is_none() && self.workers.active().all(|own| own.victims.is_empty());
        match &mut self.source {
            Some(source) if is_idle && source.owns(id) => source.handle_bookmark(resource_version),
            _ => false,
        }
    }

    /// Returns the UID under which a pod of a name runs, the first that did.
    pub(super) fn named(&self, key: &ObjectKey) -> Option<Text> {
        self.workers.named(key)
    }

    /// Forgets a pod of the watch before the watch says that it is gone.
    pub(super) fn forget(&mut self, key: &ObjectKey) {
        if let Some(source) = &mut self.source {
            source.forget(key);
        }
    }

    /// Returns a pod as it was seen last.
    pub(super) fn object(&self, uid: &Text) -> Option<&Object> {
        self.workers.get(uid).map(|worker| &worker.object)
    }

    /// Tells whether a pod's containers have ended for good, or it is not known any more.
    pub(super) fn has_ended(&self, uid: &Text) -> bool {
        self.workers.get(uid).is_none_or(Worker::is_over)
    }

    /// Returns the admitted pods that have not ended.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = &Object> {
        let stays = |own: &&Worker| !own.is_over() && !own.is_gone && own.rejection.is_none();
        self.workers.active().filter(stays).map(|worker| &worker.object)
    }

    /// Tells whether a status is being written, or has to be.
    pub(super) fn has_statuses_to_write(&self) -> bool {
        self.workers.active().any(|worker| worker.is_dirty || worker.is_syncing)
    }

    fn recompute_deadline(&mut self, now: Timestamp) {
        self.due = self.workers.settle(now);
    }

    /// Tells whether the pods of the node are known.
    pub(super) const fn is_known(&self) -> bool {
        self.is_filled
    }

    /// Lets a waiting pod be looked at again at an instant.
    pub(super) fn wake_at(&mut self, uid: &Text, at: Timestamp) {
        if let Some(worker) = self.workers.get_mut(uid).filter(|worker| worker.stage == WorkerStage::Blocked) {
            worker.retry_at = Some(at);
        }
    }
}

impl Kubelet {
    /// Notes when the next pod is due, after changes from elsewhere.
    pub(super) fn settle_pods(&mut self, context: &KubeletContext<'_>) {
        self.pods.recompute_deadline(context.now);
    }

    /// Stops a static pod whose manifest is gone.
    pub(super) fn end_static(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        worker.is_removed = true;
        if worker.is_over() {
            self.remove_static(uid, context);
        } else {
            self.stop_pod(uid, context);
            self.sync_pod(uid, context);
        }
    }

    /// Forgets a static pod that has ended.
    pub(super) fn remove_static(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let pod = self.pods.workers.get(uid).map(|worker| worker.object.clone());
        self.pods.workers.remove(uid);
        context.host.runtime.remove(uid, context.now);
        if let Some(pod) = pod {
            self.static_ended(&pod, context);
        }
    }

    /// Notes that the mirror of a static pod is gone.
    fn mirror_gone(&mut self, mirror: &Object) {
        let uid = Text::from(hash_of(mirror));
        if let Some(worker) = self.pods.workers.get_mut(&uid)
            && worker.mirror == *mirror.uid()
        {
            worker.mirror = Text::default();
        }
    }

    /// Notes that the mirror of a static pod is there: its status is written with the next period.
    pub(super) fn mirror_is_there(&mut self, uid: &Text, mirror: &Object, context: &KubeletContext<'_>) {
        let is_new = self.pods.workers.get(uid).is_some_and(|worker| worker.mirror != *mirror.uid());
        if let Some(worker) = self.pods.workers.get_mut(uid).filter(|_| is_new) {
            worker.mirror = Text::from(mirror.uid());
            self.sync_with_next_period(uid, context);
        }
    }

    /// Takes a message of the watch of pods.
    pub(super) fn handle_pod_source(&mut self, message: ToClient, context: &mut KubeletContext<'_>) {
        let Some(source) = &mut self.pods.source else { return };
        let changes: Vec<_> = source.handle_message(message, context.outbox, context.now).into_iter().collect();
        let is_first = !self.pods.is_filled && source.synced();
        // Without a runtime the kubelet ignores the change; it reads its cache once the runtime is back.
        if !self.pod_work_is_possible(context.host, context.now, false) {
            return;
        }
        let mut seen: Vec<Object> = Vec::new();
        for change in changes {
            let replaced =
                change.before.filter(|before| change.after.as_ref().is_none_or(|after| after.uid() != before.uid()));
            if let Some(gone) = replaced {
                if is_mirror(&gone) {
                    self.mirror_gone(&gone);
                }
                self.pod_gone(&Text::from(gone.uid()), context);
            }
            seen.extend(change.after);
        }
        self.pods_seen(seen, context);
        if is_first {
            self.pods.is_filled = true;
            self.end_orphans(context);
        }
        self.start_preemptors(context);
        self.note_pods(context);
        self.pods.recompute_deadline(context.now);
    }

    /// Takes pods in the order of their creation, in which new ones are admitted.
    fn pods_seen(&mut self, mut pods: Vec<Object>, context: &mut KubeletContext<'_>) {
        pods.sort_by(|one, other| {
            let created = |pod: &Object| {
                Text::from(pod.stable().at(&["metadata", "creationTimestamp"]).as_str().unwrap_or_default())
            };
            created(one).cmp(&created(other))
        });
        for pod in pods {
            if is_mirror(&pod) {
                self.mirror_seen(&pod, context);
            } else {
                self.pod_seen(pod, context);
            }
        }
    }

    /// Stops the sandboxes that have no pod in the API, once all pods are known.
    fn end_orphans(&mut self, context: &mut KubeletContext<'_>) {
        let orphans: Vec<(Text, i64)> = context
            .host
            .runtime
            .sandboxes()
            .filter(|(uid, _)| !self.pods.workers.contains_key(uid))
            .map(|(uid, sandbox)| (uid.clone(), sandbox.grace_seconds))
            .collect();
        for (uid, grace) in orphans {
            let grace = SignedDuration::from_secs(grace.max(STOP_MIN_SECONDS));
            let stopped = context.host.runtime.stop(&uid, None, grace, context.now);
            let key = context.host.runtime.sandbox(&uid).map(|sandbox| sandbox.key.clone());
            for name in stopped {
                self.orphan_event(key.as_ref(), &uid, &name, context);
            }
        }
    }

    fn pod_seen(&mut self, pod: Object, context: &mut KubeletContext<'_>) {
        let uid = Text::from(pod.uid());
        context.host.runtime.note_annotations(&pod);
        if let Some(worker) = self.pods.workers.get_mut(&uid) {
            let generation = |pod: &Object| pod.stable().at(&["metadata", "generation"]).as_i64();
            let is_new_generation = generation(&worker.object) != generation(&pod);
            let was_deleted = worker.is_deleted();
            worker.object = pod;
            if worker.is_deleted() && !worker.is_over() {
                worker.is_dirty |= is_new_generation;
                self.stop_pod(&uid, context);
            } else if worker.is_over() {
                // Only the deletion itself asks for another look: a status of somebody else would be answered for ever.
                worker.is_dirty |= worker.is_deleted() && !was_deleted;
            } else {
                worker.is_dirty |= has_stale_readiness(&worker.object);
                self.watch_for_foreign_writes(&uid, context);
            }
            self.sync_pod(&uid, context);
            return;
        }
        self.adopt(uid, pod, context);
    }

    /// Makes the worker of a pod.
    pub(super) fn adopt(&mut self, uid: Text, pod: Object, context: &mut KubeletContext<'_>) {
        let is_terminal = matches!(pod.stable().at(&["status", "phase"]).as_str(), Some("Succeeded" | "Failed"));
        let has_sandbox = context.host.runtime.sandbox(&uid).is_some();
        let containers = pod.stable().at(&["spec", "containers"]);
        let plans: Vec<ContainerPlan> = containers
            .items()
            .iter()
            .filter_map(|container| container.get("name").as_text())
            .map(|name| plan_of(name, &pod, context.host))
            .collect();
        let is_ending = has_sandbox && !pod.stable().at(&["metadata", "deletionTimestamp"]).is_null();
        let verdict = if is_terminal || is_ending { AdmissionResult::Admitted } else { self.verdict(&pod, context) };
        let (rejection, victims) = match verdict {
            AdmissionResult::Admitted => (None, Vec::new()),
            AdmissionResult::AdmittedAfter(victims) => (None, victims),
            AdmissionResult::Refused(reason, message) => {
                (Some((reason, Text::from(format!("Pod was rejected: {message}")))), Vec::new())
            }
        };
        let stage = match &rejection {
            Some(_) if has_sandbox => WorkerStage::Stopping,
            Some(_) => WorkerStage::Over,
            None if is_terminal => WorkerStage::Over,
            None => WorkerStage::Blocked,
        };
        let is_down = context.host.runtime.sandbox(&uid).is_some_and(|sandbox| !sandbox.is_ready);
        let has_address = !pod.stable().at(&["status", "podIP"]).is_null();
        let in_own_network = pod.stable().at(&["spec", "hostNetwork"]).as_bool() != Some(true);
        let has_lost_address = is_terminal && is_down && has_address && in_own_network;
        let worker = Worker {
            uid: uid.clone(),
            seen_at: context.now,
            stage,
            rejection: rejection.clone(),
            plans,
            is_gone: false,
            is_dirty: has_lost_address
                || victims.is_empty()
                    && (!is_terminal || !pod.stable().at(&["metadata", "deletionTimestamp"]).is_null()),
            is_syncing: false,
            sync_at: None,
            delete_at: None,
            retry_at: None,
            has_failed_to_end: false,
            has_lost_address,
            phase_held_until: None,
            ending: None,
            mirror: Text::default(),
            is_removed: false,
            ran_before: context.host.runtime.sandbox(&uid).is_some_and(|sandbox| sandbox.is_running()),
            host_ip: self.host_ip(context.host),
            resync_at: None,
            conditions: Json::Null,
            victims: victims.clone(),
            object: pod.clone(),
        };
        let is_deleted = worker.is_deleted();
        let mut worker = worker;
        for plan in &mut worker.plans {
            let container = context.host.runtime.sandbox(&uid).and_then(|sandbox| sandbox.container(&plan.name));
            let behaviour = context.host.runtime.behaviour(&worker.object, &plan.name);
            let running = container.filter(|own| own.is_running());
            plan.ready_at = running.map(|own| own.started_at + behaviour.ready_after.unwrap_or_default());
        }
        self.pods.workers.insert(uid.clone(), worker);
        self.preempt(&victims, &pod, context);
        if let Some((reason, message)) = rejection {
            let facts = Vec::from([Because::Fact(String::from(message.as_str()))]);
            context.outbox.decide(about(&pod.key()), format!("refused: {reason}"), facts);
            let text = message.strip_prefix("Pod was rejected: ").unwrap_or(&message);
            self.pod_event(&pod, None, (EventType::Warning, &reason, String::from(text)), context);
            if has_sandbox {
                self.stop_pod(&uid, context);
            }
        } else if is_terminal && has_sandbox {
            context.host.runtime.remove(&uid, context.now);
        } else if is_deleted && !is_terminal {
            self.stop_pod(&uid, context);
        } else if !is_terminal {
            self.unblock(&uid, context);
        }
        self.settle_pod(&uid, context);
        self.sync_pod(&uid, context);
    }

    /// Stops pods for a critical one.
    fn preempt(&mut self, victims: &[Text], critical: &Object, context: &mut KubeletContext<'_>) {
        let key = critical.key();
        for uid in victims {
            let Some(worker) = self.pods.workers.get_mut(uid) else { continue };
            let pod = worker.object.clone();
            let facts = Vec::from([Because::Fact(format!("it makes room for pod/{}/{}", key.namespace, key.name))]);
            context.outbox.decide(about(&pod.key()), "preempted", facts);
            let (reason, message) = PREEMPTED;
            self.pod_event(&pod, None, (EventType::Warning, reason, String::from(message)), context);
            self.end_pod(uid, Ending::preempted(), context);
        }
    }

    /// Starts the critical pods whose victims have ended.
    pub(super) fn start_preemptors(&mut self, context: &mut KubeletContext<'_>) {
        let is_over = |uid: &Text| self.pods.workers.get(uid).is_none_or(Worker::is_over);
        let free = |worker: &&Worker| !worker.victims.is_empty() && worker.victims.iter().all(is_over);
        let ready: Vec<Text> = self.pods.workers.active().filter(free).map(|worker| worker.uid.clone()).collect();
        for uid in ready {
            let Some(worker) = self.pods.workers.get_mut(&uid) else { continue };
            worker.victims.clear();
            worker.is_dirty = true;
            self.unblock(&uid, context);
            self.sync_pod(&uid, context);
        }
    }

    /// Starts a pod, if runtime and network are ready.
    fn unblock(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get(uid) else { return };
        if worker.stage != WorkerStage::Blocked || !worker.victims.is_empty() {
            return;
        }
        if !self.pod_work_is_possible(context.host, context.now, false) {
            return;
        }
        let needs_network =
            worker.needs_network() && context.host.runtime.sandbox(uid).is_none_or(|sandbox| !sandbox.is_ready);
        if let Some(error) = self.network_error().filter(|_| needs_network) {
            let pod = worker.object.clone();
            let message = format!("network is not ready: {error}");
            self.pod_event(&pod, None, (EventType::Warning, "NetworkNotReady", message), context);
            self.retry_pod(uid, NETWORK_PAUSE, context.now);
            return;
        }
        let runs = context.host.runtime.sandbox(uid).is_some_and(|sandbox| sandbox.is_ready);
        if self.gives_up_on_volumes(uid, context.now) {
            self.retry_pod(uid, FAILED_SYNC_PAUSE, context.now);
            return;
        }
        if !self.has_volumes(uid, context) && !runs {
            return;
        }
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        worker.stage = WorkerStage::Active;
        worker.retry_at = None;
        for plan in &mut worker.plans {
            let container = context.host.runtime.sandbox(uid).and_then(|sandbox| sandbox.container(&plan.name));
            let behaviour = context.host.runtime.behaviour(&worker.object, &plan.name);
            match container {
                None => {
                    plan.start_at = Some(context.host.runtime.next_run(&worker.object, &plan.name, context.now));
                }
                Some(own) if own.is_running() => {
                    let ready_at = own.started_at + behaviour.ready_after.unwrap_or_default();
                    // One of a recording may have started after the beginning of what is driven here.
                    let is_scripted = context.host.runtime.is_scripted();
                    plan.ready_at = Some(if is_scripted { ready_at.min(context.now) } else { ready_at });
                }
                Some(_) => {}
            }
        }
    }

    /// Syncs a pod again after a pause, at the next tick of the loop.
    fn retry_pod(&mut self, uid: &Text, pause: SignedDuration, now: Timestamp) {
        if let Some(at) = self.led_retry(uid, now, pause) {
            if let Some(worker) = self.pods.workers.get_mut(uid) {
                worker.retry_at = Some(at);
            }
            return;
        }
        let at = now + self.pods.chance.jitter(pause, PAUSE_JITTER);
        let age = at.duration_since(self.started).as_nanos();
        let late = (-age).rem_euclid(SYNC_PERIOD.as_nanos());
        if let Some(worker) = self.pods.workers.get_mut(uid) {
            worker.retry_at = Some(at + SignedDuration::from_nanos(i64::try_from(late).unwrap_or(0)));
        }
    }

    /// Returns a pod as it was seen last.
    pub(super) fn pod(&self, uid: &Text) -> Option<&Object> {
        self.pods.workers.get(uid).map(|worker| &worker.object)
    }

    /// Syncs a pod again after the pause of a sync that failed.
    pub(super) fn retry_pod_later(&mut self, uid: &Text, now: Timestamp) {
        self.retry_pod(uid, FAILED_SYNC_PAUSE, now);
        self.pods.recompute_deadline(now);
    }

    /// Finds out when the next pod is due.
    pub(super) fn recompute_pods(&mut self, now: Timestamp) {
        self.pods.recompute_deadline(now);
    }

    /// Resumes the work on all pods, with the changes that were ignored meanwhile.
    pub(super) fn resume_pods(&mut self, context: &mut KubeletContext<'_>) {
        let heard: Vec<Object> = self.pods.source.iter().flat_map(Reflector::objects).cloned().collect();
        if self.pods.source.as_ref().is_some_and(Reflector::synced) {
            let known: BTreeSet<&str> = heard.iter().map(Object::uid).collect();
            let mut gone = self.pods.workers.uids();
            gone.retain(|uid| !known.contains(uid.as_str()));
            for uid in gone {
                self.pod_gone(&uid, context);
            }
            self.pods_seen(heard, context);
            if !core::mem::replace(&mut self.pods.is_filled, true) {
                self.end_orphans(context);
            }
        }
        let uids = self.pods.workers.uids();
        for uid in uids {
            let is_deleted = self.pods.workers.get(&uid).is_some_and(Worker::has_to_end);
            if is_deleted {
                self.stop_pod(&uid, context);
            } else {
                self.unblock(&uid, context);
            }
            self.settle_pod(&uid, context);
            self.sync_pod(&uid, context);
        }
        self.start_preemptors(context);
        self.note_pods(context);
        self.pods.recompute_deadline(context.now);
    }
}

fn about(key: &ObjectKey) -> Text {
    Text::from(format!("pod/{}/{}", key.namespace, key.name))
}
