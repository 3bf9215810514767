//! The pods of a node: their containers are started and stopped, and their status is written back.
//!
//! Mirrors pkg/kubelet/pod_workers.go, pkg/kubelet/status/status_manager.go and pkg/kubelet/kuberuntime (v1.34).
//! A status is written by GET and PATCH, with DELETE at the end; a pod has one such request under way at a time.
//! Inputs: the watch of pods, answers, time, ended processes. Outputs: containers on the host, requests, Events,
//! decisions. Invariant: no running pod is stopped because the API server is unreachable.
//! Left out on purpose: pulls of images that succeed.

mod admitting;
mod adoption;
mod changes;
mod container_status;
mod ending;
mod environment;
mod from_manifests;
mod hanging;
mod host_addresses;
mod initializing;
mod known_status;
mod overdue;
mod own_status;
mod pod_status;
mod post_start;
mod preempting;
mod probe_starts;
mod probes;
mod probing;
mod pulling;
mod reading_again;
mod rejections;
mod resizing;
mod restarts;
mod running;
mod starting;
mod status_context;
mod sub_paths;
mod volume_mounts;
mod whole_pod;
mod worker;
mod workers;
mod writing;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

pub(super) use self::ending::{Ending, kill_timeout};
pub(super) use self::environment::is_optional;
use self::pod_status::{build, has_stale_readiness};
pub(super) use self::restarts::CrashPauses;
use self::status_context::StatusContext;
use super::admission::AdmissionResult;
use super::events::{EventType, decided_about};
use super::runtime_state::{RELIST_PERIOD, RUNTIME_CALL};
use super::static_pods::{hash_of, is_mirror, is_static};
use super::{ApiResult, Kubelet, KubeletContext, NODE_SYNC_PERIOD, Purpose, Timer};
use crate::chance::Chance;
use crate::components::client::Reflector;
use crate::components::host::Host;
use crate::components::host::runtime::{Container, ContainerRole, ContainerState};
use crate::components::{Because, Deadline, earliest, next_of};
use crate::json;
use crate::network::{Call, PODS, RequestId, ToClient, Verb};
use crate::objects::patch::two_way;
use crate::objects::{Json, Object, ObjectKey, Text};
use initializing::Initialization;
use probe_starts::ProbePauses;
use probing::adopted_probes;
use resizing::Resizes;
use starting::plan_of;
use worker::KilledFor;
use worker::WorkerStage;
pub(super) use worker::{ContainerPlan, Worker};
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

/// All pods of the node.
#[derive(Clone, Debug)]
pub(super) struct PodManager {
    /// The watch.
    pub(super) source: Option<Reflector>,
    chance: Chance,
    pauses: ProbePauses,
    workers: Workers,
    resizes: Resizes,
    due: Option<Timestamp>,
    /// The addresses of the Node as of the last look.
    addresses: Option<Json>,
    is_filled: bool,
    /// The pods of which containers have ended while the runtime told nobody.
    unseen: Vec<Text>,
    /// Whether changes were not looked at, since a critical pod waited for its victims.
    has_unheard: bool,
    /// How often pods were refused, by what is counted.
    rejections: BTreeMap<&'static str, usize>,
}

impl PodManager {
    /// Starts without pods.
    pub(super) fn new(chance: Chance) -> Self {
        Self {
            source: None,
            pauses: ProbePauses::new(chance.fork("probes")),
            chance,
            workers: Workers::default(),
            resizes: Resizes::default(),
            due: None,
            addresses: None,
            is_filled: false,
            unseen: Vec::new(),
            has_unheard: false,
            rejections: BTreeMap::new(),
        }
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

    /// Returns the UID of a pod of a name that the API or a manifest has, the latest if there are several.
    pub(super) fn uid_of(&self, key: &ObjectKey) -> Option<Text> {
        let own = |own: &Worker| own.object.key() == *key && !own.is_gone && !own.is_removed;
        self.workers.uids().into_iter().rfind(|uid| self.workers.get(uid).is_some_and(own))
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

    /// Returns the pods whose resources count as used.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = &Object> {
        self.workers.active().filter(|worker| worker.counts()).map(|worker| &worker.object)
    }

    /// Tells whether a status is being written, or has to be.
    pub(super) fn has_statuses_to_write(&self) -> bool {
        self.workers.active().any(|worker| worker.is_dirty || worker.is_syncing)
    }

    fn recompute_deadline(&mut self, now: Timestamp) {
        self.due = self.workers.settle(now).into_iter().chain(self.resizes.due()).min();
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

    /// Watches the pods of the node, once the node's own cache is filled.
    pub(super) fn start_pod_source(&mut self, context: &mut KubeletContext<'_>) {
        let waits_for_node = self.settings.profile().is("pods-wait-for-their-node");
        let is_early = if waits_for_node { self.cached_node().is_none() } else { !self.nodes.synced() };
        if is_early {
            self.set(Timer::PodSource, context.now + NODE_SYNC_PERIOD);
            return;
        }
        let selector = format!("spec.nodeName={}", self.config.node_name);
        let selectors = Vec::from([(Text::of("fieldSelector"), Text::from(selector))]);
        let chance = self.chance.fork("pods");
        let mut source = Reflector::new(self.identity.clone(), PODS, "", selectors, chance, context.outbox);
        if let Some(choices) = &self.choices {
            source.lead(&choices.pod_lists);
        }
        self.pods.source = Some(source);
    }

    /// Takes a message of the watch of pods.
    pub(super) fn handle_pod_source(&mut self, message: ToClient, context: &mut KubeletContext<'_>) {
        let Some(source) = &mut self.pods.source else { return };
        let changes: Vec<_> = source.handle_message(message, context.outbox, context.now).into_iter().collect();
        let is_first = !self.pods.is_filled && source.synced();
        // Without a runtime the kubelet ignores the change; it reads its cache once the runtime is back.
        if !self.pod_work_is_possible(context.now) {
            return;
        }
        let mut seen: Vec<Object> = Vec::new();
        let mut has_gone = false;
        for change in changes {
            let replaced =
                change.before.filter(|before| change.after.as_ref().is_none_or(|after| after.uid() != before.uid()));
            if let Some(gone) = replaced {
                has_gone = true;
                if is_mirror(&gone) {
                    self.mirror_gone(gone.uid(), context.now);
                }
                if self.is_preempting() {
                    self.pods.has_unheard = true;
                } else {
                    self.pod_gone(&Text::from(gone.uid()), context);
                }
            }
            seen.extend(change.after);
        }
        self.pods_seen(seen, context);
        if is_first && self.is_preempting() {
            self.pods.has_unheard = true;
        } else if is_first {
            self.pods.is_filled = true;
            self.end_orphans(context);
        }
        if has_gone {
            self.retry_resizes(context);
        }
        self.start_preemptors(context);
        self.note_pods(context);
        self.pods.recompute_deadline(context.now);
    }

    /// Stops the sandboxes that have no pod in the API, once all pods are known.
    fn end_orphans(&mut self, context: &mut KubeletContext<'_>) {
        let sandboxes = context.host.runtime.sandboxes().map(|(uid, _)| uid);
        let orphans: Vec<Text> = sandboxes.filter(|uid| !self.pods.workers.contains_key(uid)).cloned().collect();
        for uid in orphans {
            // Their own grace period does not count.
            // Source: pkg/kubelet/kubelet.go (v1.34), `SyncTerminatingRuntimePod`.
            let grace = SignedDuration::from_secs(STOP_MIN_SECONDS);
            let stopped = context.host.runtime.stop(&uid, (None, None), grace, context.now);
            let key = context.host.runtime.sandbox(&uid).map(|sandbox| sandbox.key.clone());
            for name in stopped {
                self.orphan_event(key.as_ref(), &uid, &name, context);
            }
        }
    }

    /// Starts a pod, if runtime and network are ready.
    fn unblock(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get(uid) else { return };
        if worker.stage != WorkerStage::Blocked || !worker.victims.is_empty() {
            return;
        }
        if !self.pod_work_is_possible(context.now) {
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
        self.register_references(uid, context);
        let has_claims = self.has_volumes(uid, context);
        let is_mounted = self.has_sources(uid, context) && has_claims;
        if !is_mounted && !runs || !self.has_pull_secrets(uid, context) {
            return;
        }
        let keeps = self.settings.profile().is("restart-keeps-container-status");
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        worker.stage = WorkerStage::Active;
        worker.retry_at = None;
        for plan in worker.plans.iter_mut().filter(|plan| plan.probes.is_none()) {
            let running = context.host.runtime.container(uid, &plan.name).filter(|own| own.is_running());
            let start = self.pods.pauses.start(&worker.object, (self.started, context.now), context.host);
            plan.probes = running.map(|own| adopted_probes(&worker.object, own, (&start, keeps), context.host));
        }
        let progress = Initialization::of(worker, context.host.runtime.sandbox(uid), self.settings.profile());
        self.plan_next(uid, &progress, context);
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
        let at = self.at_tick(at);
        if let Some(worker) = self.pods.workers.get_mut(uid) {
            worker.retry_at = Some(at);
        }
    }

    /// Returns when the kubelet looks which pods are due, at an instant or later.
    fn at_tick(&self, at: Timestamp) -> Timestamp {
        let age = at.duration_since(self.started).as_nanos();
        let late = (-age).rem_euclid(SYNC_PERIOD.as_nanos());
        at.checked_add(SignedDuration::from_nanos(i64::try_from(late).unwrap_or(0))).unwrap_or(Timestamp::MAX)
    }

    /// Syncs a pod again after the pause of a sync that failed.
    pub(super) fn retry_pod_later(&mut self, uid: &Text, now: Timestamp) {
        self.retry_pod(uid, FAILED_SYNC_PAUSE, now);
        self.pods.recompute_deadline(now);
    }

    /// Takes the changes that were ignored for a while.
    fn hear_again(&mut self, context: &mut KubeletContext<'_>) {
        let heard: Vec<Object> = self.pods.source.iter().flat_map(Reflector::objects).cloned().collect();
        if self.pods.source.as_ref().is_some_and(Reflector::synced) {
            let known: BTreeSet<&str> = heard.iter().map(Object::uid).collect();
            let mut gone = self.pods.workers.uids();
            // A static pod is known by its manifest; what the API has of it is a mirror of another UID.
            gone.retain(|uid| !known.contains(uid.as_str()) && !self.pods.object(uid).is_some_and(is_static));
            let mirrors = self.pods.workers.active().map(|worker| worker.mirror.clone());
            let mirrors: Vec<Text> = mirrors.filter(|uid| !uid.is_empty() && !known.contains(uid.as_str())).collect();
            for uid in gone {
                self.pod_gone(&uid, context);
            }
            for uid in mirrors {
                self.mirror_gone(&uid, context.now);
            }
            self.pods_seen(heard, context);
            if !self.is_preempting() && !core::mem::replace(&mut self.pods.is_filled, true) {
                self.end_orphans(context);
            }
        }
    }

    /// Resumes the work on all pods, with the changes that were ignored meanwhile.
    pub(super) fn resume_pods(&mut self, context: &mut KubeletContext<'_>) {
        self.hear_again(context);
        let unseen = core::mem::take(&mut self.pods.unseen);
        self.handle_ended(&unseen, context);
        let uids = self.pods.workers.uids();
        for uid in uids {
            let ends = |own: &Worker| own.has_to_end() || own.stage == WorkerStage::Stopping;
            if self.pods.workers.get(&uid).is_some_and(ends) {
                self.stop_pod(&uid, context);
            } else {
                self.unblock(&uid, context);
            }
            self.settle_pod(&uid, context);
            self.end_awaited(&uid, context);
            self.sync_pod(&uid, context);
        }
        self.start_preemptors(context);
        self.note_pods(context);
        self.pods.recompute_deadline(context.now);
    }
}
