//! The default scheduler with its filters, scores, queue and preemption: it gives Pods a node.
//!
//! Mirrors kube-scheduler (pkg/scheduler/schedule_one.go, eventhandlers.go, backend/queue, framework/plugins; v1.31,
//! v1.34, v1.36) with the default profile `default-scheduler`.
//! Inputs: Pods, Nodes and what selects them, answers, time. Outputs: bindings, the condition PodScheduled,
//! nominations, deletions of preempted Pods, Events.
//! Invariants: one Pod is tried at a time, and the next one only after the status of the last was written. A Pod that
//! was given a node counts there from that moment, before the watch shows it. An attempt takes no time.
//! Left out on purpose: dynamic resources, extenders, other profiles, gangs, and the reuse of scores for equal Pods
//! (1.35 on), which can only change the choice among fitting nodes.

mod attempt;
mod cache;
mod diagnosis;
mod filters;
mod hints;
mod informers;
mod interpod;
mod nominated;
mod plugins;
mod preemption;
mod queue;
mod recorder;
mod score;
mod snapshot;
mod spread;
mod status;
mod volume_binding;
mod volume_hints;
mod volume_rules;
mod volumes;
mod writes;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::Timestamp;

use self::attempt::Failure;
use self::cache::{NodeInfo, PodInfo, SchedulerCache, home};
use self::filters::Rules;
use self::hints::{ClusterEvent, Hinting, NodeChange, helps, own_change_helps};
use self::informers::{
    ATTACHMENT_CACHE, CLAIM_CACHE, CLASS_CACHE, CSI_NODE_CACHE, NODE_CACHE, POD_CACHE, VOLUME_CACHE, watched,
};
use self::nominated::Nominations;
use self::queue::Queue;
use self::recorder::Recorder;
use self::score::Balance;
use self::volume_binding::VolumeWait;
use self::volume_hints::StorageChange;
use self::volumes::Promised;
use self::writes::{OngoingPreemption, PendingBinding, Write};
use super::client::{CacheEvent, Client};
use super::controller::{ApiResult, Controller, ControllerContext, ControllerRuntime, FreeChoice};
use super::{Because, Deadline, earliest};
use crate::chance::Chance;
use crate::network::{Identity, RequestId};
use crate::objects::lifecycle::is_terminal;
use crate::objects::{Object, ObjectKey, Text};

/// The profile, which Pods name by `spec.schedulerName`. Source: pkg/apis/core/v1/defaults.go (v1.34).
const PROFILE: &str = "default-scheduler";
/// Requests per second of each of the scheduler's two clients: one writes Pods, the other Events.
/// Source: pkg/scheduler/apis/config/v1/defaults.go (v1.34), `ClientConnection.QPS`.
const CLIENT_QPS: f64 = 50.0;
/// Requests at once after a quiet time. Source: as [`CLIENT_QPS`], `ClientConnection.Burst`.
const CLIENT_BURST: f64 = 100.0;

/// The behaviours of a release.
#[derive(Clone, Copy, Debug)]
struct ReleaseBehaviour {
    rules: Rules,
    balance: Balance,
    hinting: Hinting,
    /// Whether a Pod that is not nominated for a node any more lets others try again.
    heeds_nominations: bool,
    /// Victims are deleted while further attempts are made, and not before the next one.
    preempts_beside: bool,
    has_claims_plugin: bool,
    /// The plugin for resource claims says of a Pod without any that there are none to deallocate.
    tells_of_no_claims: bool,
    says_what_preemption_found: bool,
    /// A message about a Pod for which others are preempted says on which node, and how many.
    tells_victims: bool,
    tells_generation: bool,
    /// A failure without a search for victims clears the nomination.
    failure_clears_nomination: bool,
    /// A Pod whose volumes are bound first is nominated for its node meanwhile.
    nominates: bool,
    /// The nodes that node affinity by name leaves out are counted.
    counts_unnamed_nodes: bool,
    /// A preempted Pod gets the status of the one that preempts it: a defect of that release.
    mixes_up_status: bool,
    /// The Event of a preempted Pod refers to the one that preempts it.
    relates_preemptor: bool,
    /// A binding that the server could not take is tried again.
    retries_bindings: bool,
    /// A nominated Pod that is bound lets others try again, as if it had gone.
    bound_nominee_frees: bool,
    /// Victims that are being deleted or gone are left alone.
    leaves_ending_victims: bool,
    /// A victim whose volumes are being bound is not deleted: its binding is given up.
    preempts_in_memory: bool,
    /// A binding that failed is not told of a Pod in whose place there is another one.
    ignores_replaced_pods: bool,
}

/// What the scheduler waits for before it tries the next Pod.
#[derive(Clone, Debug)]
enum SchedulingState {
    Idle,
    /// The status of the Pod that was tried last is being written.
    Writing(RequestId),
    /// The victims of the Pod that was tried last are being deleted.
    Preempting(u64, Failure),
}

/// The scheduler; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
pub struct Scheduler {
    runtime: ControllerRuntime,
    event_client: Client,
    recorder: Recorder,
    behaviour: ReleaseBehaviour,
    cluster: SchedulerCache,
    queue: Queue,
    nominations: Nominations,
    /// Pods that were given a node and are not seen bound yet, with their uids.
    assumed: BTreeMap<ObjectKey, Text>,
    under_way: BTreeMap<RequestId, Write>,
    /// Volumes that claims of Pods which are being bound will have.
    promised: Promised,
    waiting_for_volumes: Vec<VolumeWait>,
    /// Bindings that failed and are tried again.
    failed_bindings: Vec<PendingBinding>,
    jobs: BTreeMap<u64, OngoingPreemption>,
    last_job: u64,
    step: SchedulingState,
    /// Whether something changed while victims were being deleted.
    moved: bool,
    next_start: usize,
    chance: Chance,
    /// The nodes that were set as the choice for a Pod, by its uid.
    laid_down: BTreeMap<Text, Vec<Text>>,
}

impl Scheduler {
    /// Starts the scheduler with empty caches.
    #[must_use]
    pub fn new(context: &ControllerContext, now: Timestamp) -> Self {
        let client = || Client::with_rate(Identity::scheduler(), CLIENT_QPS, CLIENT_BURST, now);
        let settings = &context.settings;
        let profile = settings.profile();
        let nominates = settings.is_gate_on("NominatedNodeNameForExpectation");
        let behaviour = ReleaseBehaviour {
            rules: Rules::of(settings),
            balance: Balance::of(settings),
            heeds_nominations: profile.is("scheduler-heeds-gone-nominations"),
            hinting: if profile.is("scheduler-queueing-hints") { Hinting::ByPlugin } else { Hinting::ByKind },
            preempts_beside: profile.is("scheduler-preempts-beside-attempts"),
            has_claims_plugin: profile.is("scheduler-looks-for-resource-claims"),
            tells_of_no_claims: profile.is("scheduler-tells-of-no-claims"),
            says_what_preemption_found: profile.is("scheduler-says-what-preemption-found"),
            tells_victims: profile.is("scheduler-tells-victims"),
            tells_generation: profile.is("pod-conditions-observe-generation"),
            failure_clears_nomination: !nominates || profile.is("scheduler-failure-always-clears-nomination"),
            nominates,
            counts_unnamed_nodes: profile.is("scheduler-counts-unnamed-nodes"),
            mixes_up_status: profile.is("scheduler-victim-gets-preemptors-status"),
            relates_preemptor: profile.is("scheduler-preempted-event-relates-preemptor"),
            retries_bindings: profile.is("scheduler-retries-bindings"),
            bound_nominee_frees: profile.is("scheduler-bound-nominee-frees-others"),
            leaves_ending_victims: profile.is("scheduler-leaves-ending-victims"),
            preempts_in_memory: profile.is("scheduler-preempts-in-memory"),
            ignores_replaced_pods: profile.is("scheduler-ignores-failures-of-replaced-pods"),
        };
        Self {
            runtime: ControllerRuntime::with_client(client(), watched(behaviour.rules), context),
            event_client: client(),
            recorder: Recorder::new(context.event_source, now),
            behaviour,
            cluster: SchedulerCache::default(),
            queue: Queue::new(settings, now),
            nominations: Nominations::default(),
            assumed: BTreeMap::new(),
            under_way: BTreeMap::new(),
            promised: Promised::new(),
            waiting_for_volumes: Vec::new(),
            failed_bindings: Vec::new(),
            jobs: BTreeMap::new(),
            last_job: 0,
            step: SchedulingState::Idle,
            moved: false,
            next_start: 0,
            chance: context.chance.fork("choices"),
            laid_down: BTreeMap::new(),
        }
    }

    fn info(&self, pod: &Object) -> Arc<PodInfo> {
        Arc::new(PodInfo::of(pod, self.behaviour.rules.level))
    }

    fn handle_node_event(&mut self, event: &CacheEvent, now: Timestamp) {
        let name = Text::from(event.object().name());
        match (&event.before, &event.after) {
            (_, None) => {
                // A release without hints ignores removed Nodes.
                if self.behaviour.hinting == Hinting::ByPlugin {
                    self.retry(Reason::NodeDeleted(event.object()), None, now);
                }
                self.cluster.remove_node(&name);
            }
            (None, Some(node)) => {
                self.cluster.set_node(node);
                self.retry(Reason::NodeAdded(&name), None, now);
            }
            (Some(before), Some(node)) => {
                if before.stable().is_same_allocation(node.stable()) {
                    return;
                }
                self.cluster.set_node(node);
                for what in NodeChange::of(before.stable(), node.stable()) {
                    self.retry(Reason::NodeChanged(&name, what, before), None, now);
                }
            }
        }
    }

    fn handle_pod_event(&mut self, event: &CacheEvent, now: Timestamp) {
        let before = event.before.as_ref().filter(|pod| !is_terminal(pod));
        let after = event.after.as_ref().filter(|pod| !is_terminal(pod));
        if let (Some(old), Some(new)) = (before, after)
            && old.uid() != new.uid()
        {
            self.change_pod(Some(old), None, now);
            self.change_pod(None, Some(new), now);
        } else {
            self.change_pod(before, after, now);
        }
    }

    fn change_pod(&mut self, before: Option<&Object>, after: Option<&Object>, now: Timestamp) {
        let (was_home, is_home) = (before.and_then(home).is_some(), after.and_then(home).cloned());
        let waited = before.filter(|pod| !was_home && is_ours(pod));
        let waits = after.filter(|pod| is_home.is_none() && is_ours(pod));
        if let (Some(node), Some(pod)) = (&is_home, after) {
            self.settle_pod(before.filter(|_| was_home), pod, node, now);
        } else if was_home && let Some(pod) = before {
            let gone = self.cluster.remove_pod(&pod.key()).unwrap_or_else(|| self.info(pod));
            self.retry(Reason::PodGone(&gone), None, now);
        }
        match (waited, waits) {
            (None, Some(pod)) => {
                let info = self.info(pod);
                self.nominations.follow(None, info.clone());
                self.queue.add(info, now);
            }
            (Some(old), Some(new)) => self.update_waiting(old, new, now),
            (Some(old), None) => self.leave_queue(old, after.is_some(), now),
            (None, None) => {}
        }
    }

    /// Takes a Pod that is bound.
    fn settle_pod(&mut self, before: Option<&Object>, pod: &Object, node: &Text, now: Timestamp) {
        let info = self.info(pod);
        self.assumed.remove(&info.key);
        let counted = self.cluster.place(info.clone(), node);
        match before {
            None => self.retry(Reason::PodBound(&info), None, now),
            Some(before) => {
                if let Some(counted) = counted
                    && counted.requests_more_than(&info)
                {
                    self.retry(Reason::PodShrunk(&counted, &info), None, now);
                }
                let labels = |pod: &Object| pod.stable().at(&["metadata", "labels"]).clone();
                if labels(before) != labels(pod) {
                    let before = self.info(before);
                    self.retry(Reason::PodRelabelled(&before, &info), None, now);
                }
            }
        }
    }

    fn update_waiting(&mut self, before: &Object, pod: &Object, now: Timestamp) {
        let info = self.info(pod);
        if self.is_assumed(&info) {
            return;
        }
        self.nominations.follow(Some(before), info.clone());
        if let SchedulingState::Preempting(_, failure) = &mut self.step
            && failure.queued.pod.key == info.key
        {
            failure.queued.pod = info;
            return;
        }
        if !self.queue.contains(&info.key) {
            self.queue.add(info.clone(), now);
        }
        self.queue.update(&info);
        let ReleaseBehaviour { hinting, rules, .. } = self.behaviour;
        if self.queue.retry_one(&info.key, now, |queued| own_change_helps(before, &info, queued, hinting, rules)) {
            self.say_again(&info.key, "the Pod itself changed");
        }
        let nominated = |pod: &Object| pod.stable().at(&["status", "nominatedNodeName"]).as_text().cloned();
        if self.behaviour.heeds_nominations && nominated(before).is_some() && nominated(before) != nominated(pod) {
            let gone = self.info(before);
            self.retry(Reason::NominationGone(&gone), Some(gone.priority), now);
        }
    }

    fn leave_queue(&mut self, before: &Object, is_bound: bool, now: Timestamp) {
        let key = before.key();
        self.queue.remove(&key);
        self.nominations.remove(&key);
        if !is_bound && !self.is_being_bound(&key) {
            let gone = self.info(before);
            self.forget_assumed(&gone, now);
        }
        let nominated = before.stable().at(&["status", "nominatedNodeName"]).as_str().is_some_and(|n| !n.is_empty());
        let frees = !is_bound || self.behaviour.bound_nominee_frees;
        if nominated && frees && self.behaviour.heeds_nominations {
            let gone = self.info(before);
            self.retry(Reason::NominationGone(&gone), Some(gone.priority), now);
        }
    }

    fn is_assumed(&self, pod: &PodInfo) -> bool {
        self.assumed.get(&pod.key).is_some_and(|uid| **uid == *pod.object.uid())
    }

    /// Gives the room back that a Pod was given, unless it was seen bound meanwhile.
    ///
    /// Source: pkg/scheduler/schedule_one.go (v1.34), `handleBindingCycleError`.
    fn forget_assumed(&mut self, pod: &PodInfo, now: Timestamp) {
        if self.is_assumed(pod) {
            self.assumed.remove(&pod.key);
            self.cluster.remove_pod(&pod.key);
            self.retry(Reason::PodGone(pod), None, now);
        }
    }

    /// Queues the Pods that a change may help for another attempt; with `priority_max`, only those up to that priority.
    fn retry(&mut self, reason: Reason<'_>, priority_max: Option<i64>, now: Timestamp) {
        self.moved = true;
        let ReleaseBehaviour { hinting, rules, .. } = self.behaviour;
        let Some(change) = reason.change(&self.cluster) else { return };
        let moved = self.queue.retry(now, |queued| {
            priority_max.is_none_or(|most| queued.pod.priority <= most)
                && helps(change, &queued.pod, queued.rejectors, hinting, rules)
        });
        if !moved.is_empty() {
            let why = format!("{reason}");
            for key in moved {
                self.say_again(&key, &why);
            }
        }
    }

    fn say_again(&mut self, key: &ObjectKey, why: &str) {
        self.runtime.decide(format!("pod/{key}"), "try again", Vec::from([Because::Fact(String::from(why))]));
    }
}

/// Tells whether a Pod asks for this scheduler.
fn is_ours(pod: &Object) -> bool {
    pod.stable().at(&["spec", "schedulerName"]).as_str().unwrap_or(PROFILE) == PROFILE
}

/// A change as it happened; [`Self::change`] makes a [`ClusterEvent`] of it with the cluster as cached now.
#[derive(Clone, Copy, Debug)]
enum Reason<'a> {
    NodeAdded(&'a Text),
    NodeChanged(&'a Text, NodeChange, &'a Object),
    NodeDeleted(&'a Object),
    PodBound(&'a PodInfo),
    PodRelabelled(&'a PodInfo, &'a PodInfo),
    PodShrunk(&'a PodInfo, &'a PodInfo),
    PodGone(&'a PodInfo),
    NominationGone(&'a PodInfo),
    Storage(StorageChange<'a>),
}

impl<'a> Reason<'a> {
    fn change(self, cluster: &'a SchedulerCache) -> Option<ClusterEvent<'a>> {
        let node = |name: &Text| -> Option<&'a NodeInfo> { cluster.get(name) };
        Some(match self {
            Self::NodeAdded(name) => ClusterEvent::NodeAdded(node(name)?),
            Self::NodeChanged(name, what, before) => ClusterEvent::NodeChanged { what, before, after: node(name)? },
            Self::NodeDeleted(node) => ClusterEvent::NodeDeleted(node),
            Self::PodBound(pod) => ClusterEvent::PodBound(pod),
            Self::PodRelabelled(before, after) => ClusterEvent::PodRelabelled { before, after },
            Self::PodShrunk(before, after) => ClusterEvent::PodShrunk { before, after },
            Self::PodGone(pod) => ClusterEvent::PodGone(pod),
            Self::NominationGone(pod) => ClusterEvent::NominationGone(pod),
            Self::Storage(change) => ClusterEvent::Storage(change),
        })
    }
}

impl core::fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NodeAdded(name) => write!(f, "Node {name} was added"),
            Self::NodeChanged(name, what, _) => write!(f, "Node {name} changed: {what:?}"),
            Self::NodeDeleted(node) => write!(f, "Node {} was deleted", node.name()),
            Self::PodBound(pod) => write!(f, "Pod {} was bound", pod.key),
            Self::PodRelabelled(_, pod) => write!(f, "the labels of Pod {} changed", pod.key),
            Self::PodShrunk(_, pod) => write!(f, "Pod {} asks for less", pod.key),
            Self::PodGone(pod) | Self::NominationGone(pod) => write!(f, "Pod {} is gone", pod.key),
            Self::Storage(change) => write!(f, "{change}"),
        }
    }
}

impl Controller for Scheduler {
    fn runtime(&self) -> &ControllerRuntime {
        &self.runtime
    }

    fn runtime_mut(&mut self) -> &mut ControllerRuntime {
        &mut self.runtime
    }

    fn handle_event(&mut self, source: usize, event: &CacheEvent, now: Timestamp) {
        let before = event.before.as_ref();
        let change = match (source, &event.after) {
            (NODE_CACHE, _) => return self.handle_node_event(event, now),
            (POD_CACHE, _) => return self.handle_pod_event(event, now),
            (CLAIM_CACHE, Some(after)) => StorageChange::Claim { before, after },
            (VOLUME_CACHE, Some(after)) => StorageChange::Volume { before, after },
            (CLASS_CACHE, Some(after)) => StorageChange::Class { before, after },
            (CSI_NODE_CACHE, Some(after)) => StorageChange::CsiNode { before, after },
            (ATTACHMENT_CACHE, None) => StorageChange::AttachmentGone(event.object()),
            _ => return,
        };
        self.retry(Reason::Storage(change), None, now);
    }

    fn handle_reply(&mut self, id: RequestId, reply: &ApiResult, now: Timestamp) {
        if self.recorder.owns(id) {
            self.recorder.handle_response(id, reply, (&mut self.event_client, &mut self.runtime.outbox), now);
        } else if let Some(write) = self.under_way.remove(&id) {
            self.handle_answer(id, write, reply, now);
        }
    }

    fn handle_due(&mut self, now: Timestamp) {
        self.event_client.handle_timeout(&mut self.runtime.outbox, now);
        self.recorder.handle_timeout((&mut self.event_client, &mut self.runtime.outbox), now);
        self.queue.handle_timeout(now);
        if !self.waiting_for_volumes.is_empty() {
            self.look_at_volumes(now);
        }
        self.bind_again(now);
    }

    /// Tries Pods until one's status has to be written, or none is left.
    fn work(&mut self, now: Timestamp) {
        while self.runtime.is_synced() && matches!(self.step, SchedulingState::Idle) {
            let Some(queued) = self.queue.pop() else { return };
            self.attempt(queued, now);
        }
    }

    fn own_deadline(&self) -> Option<Deadline> {
        let looks = self.waiting_for_volumes.iter().filter_map(|wait| wait.look_at).min();
        let looks = looks.map(|at| Deadline { at, reason: "volumes" });
        let binding = self.failed_bindings.iter().map(|binding| binding.next).min();
        let binding = binding.map(|at| Deadline { at, reason: "binding" });
        let (events, recorder) = (self.event_client.next_deadline(), self.recorder.next_deadline());
        earliest([events, recorder, self.queue.next_deadline(), looks, binding])
    }

    fn queues(&self) -> Vec<(&'static str, usize)> {
        let [active, backoff, unschedulable] = self.queue.lengths();
        let own = [("active", active), ("backoff", backoff), ("unschedulable", unschedulable)];
        own.into_iter().chain(self.runtime.queues()).chain([("events", self.recorder.len())]).collect()
    }

    fn prefer(&mut self, choice: FreeChoice<'_>) {
        if let FreeChoice::NodeOfPod { uid, node } = choice {
            self.laid_down.entry(uid.clone()).or_default().push(node.clone());
        }
    }
}
