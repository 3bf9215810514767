//! Eviction without taints: the controller itself deletes the Pods of nodes that stay silent or not ready.
//!
//! Mirrors `processNoTaintBaseEviction`, `evictPods`, `cancelPodEviction` and `doEvictionPass`
//! (pkg/controller/nodelifecycle/node_lifecycle_controller.go, v1.15, v1.26), and the termination pass of
//! pkg/controller/node/nodecontroller.go (v1.4). It takes the place of the NoExecute taints where these are off.
//! Inputs: what the health pass found, the queues of the zones, answers, time. Outputs: deletions, decisions.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::health::{Ready, Status};
use super::pods_deletion::{Doomed, Manner, PodsDeletion};
use super::queue::TaintQueue;
use super::work_items::{End, WorkItem};
use super::zones::{Rates, ZoneKey, Zones};
use super::{DAEMON_SET_CACHE, NodeId, NodeLifecycle, Owner, POD_CACHE, TICK};
use crate::components::{Because, DecisionId};
use crate::objects::lifecycle::condition_in;
use crate::objects::selector::Selector;
use crate::objects::time::{self, to_micro_time};
use crate::objects::{Object, Text};
use crate::profile::Settings;

/// The longest grace period that is granted to a terminating Pod. Source: pkg/controller/node/nodecontroller.go
/// (v1.4), `maximumGracePeriod`.
const GRACE_MAX: SignedDuration = SignedDuration::from_mins(5);

/// When a node's Ready condition was last seen to change.
#[derive(Clone, Debug)]
struct Transition {
    seen: Timestamp,
    /// Its `lastHeartbeatTime` and `lastTransitionTime`; `None` without a condition.
    condition: Option<(Option<Timestamp>, Text)>,
}

/// What direct eviction knows.
#[derive(Clone, Debug)]
pub(super) struct DirectEviction {
    timeout: SignedDuration,
    /// Whether the controller remembers whose Pods it deleted, and deletes those that come later.
    remembers: bool,
    says_lost: bool,
    forces: bool,
    transitions: BTreeMap<NodeId, Transition>,
    evicted: BTreeSet<NodeId>,
    /// The nodes with terminating Pods, by zone, each since when.
    terminating: BTreeMap<ZoneKey, TaintQueue>,
    since: BTreeMap<NodeId, Timestamp>,
}

impl DirectEviction {
    /// Returns it where it takes the place of NoExecute taints.
    #[must_use]
    pub(super) fn of(settings: &Settings) -> Option<Self> {
        let profile = settings.profile();
        let by_taints = profile.is("silent-nodes-get-no-execute-taints")
            && settings.value("enable-taint-manager") != crate::profile::Value::Bool(false);
        (!by_taints).then(|| Self {
            timeout: settings.duration("pod-eviction-timeout"),
            remembers: profile.is("pods-that-come-to-silent-nodes-are-handled"),
            says_lost: profile.is("pods-of-silent-nodes-are-said-to-be-lost"),
            forces: profile.is("pods-of-silent-nodes-are-deleted-by-force"),
            transitions: BTreeMap::new(),
            evicted: BTreeSet::new(),
            terminating: BTreeMap::new(),
            since: BTreeMap::new(),
        })
    }

    /// Takes a node as a health pass reads it.
    pub(super) fn observe(&mut self, id: NodeId, node: &Object, now: Timestamp) {
        let text = |path: &[&str]| node.stable().at(path).as_text().cloned().unwrap_or_default();
        let conditions = node.stable().at(&["status", "conditions"]).items();
        let condition = condition_in(conditions, "Ready");
        let found = condition.map(|ready| {
            (node.heartbeat_time("Ready"), ready.get("lastTransitionTime").as_text().cloned().unwrap_or_default())
        });
        let created = || time::parse(&text(&["metadata", "creationTimestamp"])).unwrap_or(now);
        let seen = match (self.transitions.get(&id), &found) {
            (None, None) => created(),
            (None, Some(_)) => now,
            (Some(saved), None) => saved.seen,
            (Some(saved), Some(found)) => match &saved.condition {
                None => now,
                Some(before) if before.0 != found.0 && before.1 != found.1 => now,
                Some(_) => saved.seen,
            },
        };
        self.transitions.insert(id, Transition { seen, condition: found });
    }

    /// Notes that the conditions were written as Unknown.
    pub(super) fn handle_written(&mut self, id: NodeId, now: Timestamp) {
        if let Some(transition) = self.transitions.get_mut(&id) {
            transition.seen = now;
            if let Some((_, changed)) = &mut transition.condition {
                *changed = Text::from(time::to_time(now));
            }
        }
    }

    /// Gives every node a new timeout.
    pub(super) fn reset(&mut self, now: Timestamp) {
        for transition in self.transitions.values_mut() {
            transition.seen = now;
        }
    }

    /// Forgets an eviction that was asked for or done.
    pub(super) fn forget(&mut self, id: NodeId, zone: &ZoneKey) {
        self.evicted.remove(&id);
        self.since.remove(&id);
        if let Some(queue) = self.terminating.get_mut(zone) {
            queue.forget(id);
        }
    }

    /// Forgets a node that is gone.
    pub(super) fn unregister(&mut self, id: NodeId) {
        self.evicted.remove(&id);
    }

    /// Returns when the next pass can look at terminating Pods.
    pub(super) fn next_look(&self) -> Option<Timestamp> {
        self.terminating.values().filter_map(TaintQueue::next_token).min()
    }

    /// Takes the next node of a zone with terminating Pods, as the limiter of the zone allows.
    pub(super) fn next_terminating(&mut self, zones: &Zones, key: &ZoneKey, now: Timestamp) -> Option<NodeId> {
        let rate = zones.get(key)?.queue.rate();
        let queue = self.terminating.get_mut(key)?;
        queue.swap_limiter(rate, now);
        queue.try_next(now)
    }

    fn watch_terminating(&mut self, id: NodeId, zone: &ZoneKey, rates: &Rates, now: Timestamp) {
        let queue = self.terminating.entry(zone.clone()).or_insert_with(|| TaintQueue::new(rates.normal, now));
        if queue.add(id, now) {
            self.since.insert(id, now);
        }
    }
}

impl NodeLifecycle {
    /// Ends what was begun or done to evict a node's Pods.
    pub(super) fn cancel_eviction(&mut self, id: NodeId, zone: &ZoneKey, now: Timestamp) {
        let was_queued = self.zones.queue(zone, &self.rates, now).forget(id);
        let Some(direct) = &mut self.direct else { return };
        let was_evicted = direct.evicted.contains(&id);
        direct.forget(id, zone);
        if was_queued && !was_evicted {
            let about = format!("node/{}", self.node(id).name);
            let why = Vec::from([Because::Fact(String::from("Ready=True, or no node of any zone is ready"))]);
            self.runtime.decide(about, "its Pods are not deleted", why);
        }
    }

    /// Decides about the Pods of a node by its Ready condition; returns the work if they have to go at once.
    pub(super) fn check_eviction(
        &mut self,
        (id, node): (NodeId, &Object),
        pods: impl FnOnce(&Self) -> Vec<Object>,
        (observed, because): (Status, Option<DecisionId>),
        now: Timestamp,
    ) -> Option<WorkItem> {
        let zone = ZoneKey::of(node.stable());
        let direct = self.direct.as_ref()?;
        let (since, what) = match observed {
            Status::False => (direct.transitions.get(&id)?.seen, "not ready"),
            Status::Unknown => (self.node(id).signs.health.as_ref()?.probe, "silent"),
            Status::True => {
                self.cancel_eviction(id, &zone, now);
                return None;
            }
            Status::Other => return None,
        };
        if now <= since + direct.timeout {
            return None;
        }
        let spent = time::seconds(now.duration_since(since));
        let limit = format!("{spent} > pod-eviction-timeout {}", time::seconds(direct.timeout));
        let mut reasons = Vec::from([Because::Fact(format!("{what} since {}", to_micro_time(since)))]);
        reasons.push(Because::Fact(limit));
        reasons.extend(because.map(Because::Decision));
        let about = format!("node/{}", self.node(id).name);
        if direct.remembers && direct.evicted.contains(&id) {
            let pods = pods(self);
            if pods.is_empty() {
                return None;
            }
            reasons.push(Because::Fact(String::from("the Pods that were there are deleted already")));
            let because = self.runtime.decide(about, "its Pods are deleted", reasons);
            return Some(self.deletion(id, node.uid(), pods, because));
        }
        let queue = self.zones.queue(&zone, &self.rates, now);
        if queue.add(id, now) {
            reasons.push(Because::Fact(format!("zone {zone} lets {} nodes per second go", queue.rate())));
            self.runtime.decide(about, "queued for the deletion of its Pods", reasons);
        }
        None
    }

    /// Returns the Pods of a node as they are cached.
    pub(super) fn pods_on(&self, id: NodeId) -> Vec<Object> {
        let pods = self.runtime.cache(POD_CACHE);
        self.pods_by_node.of(&self.node(id).name).filter_map(|key| pods.get(key).cloned()).collect()
    }

    fn deletion(&self, id: NodeId, uid: &str, pods: Vec<Object>, because: DecisionId) -> WorkItem {
        let says_lost = self.direct.as_ref().is_some_and(|direct| direct.says_lost);
        let doomed = pods.into_iter().map(|pod| Doomed { is_daemon: self.is_daemon(&pod), pod }).collect();
        let node = (&self.node(id).name, uid);
        WorkItem::Deletion(PodsDeletion::new(node, doomed, Manner::Graceful { says_lost }, Some(because)))
    }

    /// Tells whether a DaemonSet of the Pod's namespace selects it, whoever owns it.
    ///
    /// Source: k8s.io/client-go listers/apps/v1/daemonset_expansion.go (v0.26), `GetPodDaemonSets`.
    fn is_daemon(&self, pod: &Object) -> bool {
        let labels = pod.stable().at(&["metadata", "labels"]);
        let mut sets = self.runtime.cache(DAEMON_SET_CACHE).cache().objects();
        !labels.is_empty()
            && sets.any(|set| {
                let selector = Selector::of_object(set.stable().at(&["spec", "selector"]));
                let selects = selector.is_some_and(|selector| !selector.is_everything() && selector.matches(labels));
                set.key().namespace == pod.key().namespace && selects
            })
    }

    /// Deletes the Pods of the node whose turn it is.
    pub(super) fn evict_node(&mut self, zone: ZoneKey, id: NodeId, now: Timestamp) {
        let node = self.cached(id);
        let uid = node
            .map(|node| Text::from(node.uid()))
            .or_else(|| self.node(id).known.as_ref().map(|(uid, _)| uid.clone()));
        let status = node.and_then(Ready::of).map_or("gone", |ready| ready.status.name());
        let rate = self.zones.queue(&zone, &self.rates, now).rate();
        let why = Vec::from([
            Because::Fact(format!("Ready={status}")),
            Because::Fact(format!("zone {zone} lets {rate} nodes per second go, and it is this node's turn")),
        ]);
        let because = self.runtime.decide(format!("node/{}", self.node(id).name), "its Pods are deleted", why);
        let item = self.deletion(id, &uid.unwrap_or_default(), self.pods_on(id), because);
        self.start_item(Owner::Eviction(zone, id), item, now);
    }

    pub(super) fn handle_evicted(&mut self, zone: &ZoneKey, id: NodeId, end: &End, now: Timestamp) {
        self.end_tick_write();
        let queue = self.zones.queue(zone, &self.rates, now);
        if !end.is_well() {
            queue.put_back(id, now + SignedDuration::from_nanos(1));
            return;
        }
        queue.finish(id);
        let is_known = self.node(id).known.is_some();
        let remain = !self.pods_on(id).is_empty();
        let Some(direct) = &mut self.direct else { return };
        if is_known && direct.remembers {
            direct.evicted.insert(id);
        }
        if direct.forces && remain {
            direct.watch_terminating(id, zone, &self.rates, now);
        }
    }

    /// Deletes by force the Pods that are terminating for too long on the node whose turn it is.
    pub(super) fn terminate_pods(&mut self, zone: ZoneKey, id: NodeId, now: Timestamp) {
        let Some(since) = self.direct.as_ref().and_then(|direct| direct.since.get(&id).copied()) else { return };
        let elapsed = now.duration_since(since);
        let mut longest = SignedDuration::ZERO;
        let mut overdue = Vec::new();
        let mut waits = false;
        for pod in self.pods_on(id) {
            let Some(grace) = pod.stable().at(&["metadata", "deletionGracePeriodSeconds"]).as_i64() else { continue };
            let remaining = SignedDuration::from_secs(grace).min(GRACE_MAX) - elapsed;
            if remaining < SignedDuration::ZERO {
                overdue.push(Doomed { pod, is_daemon: false });
            } else {
                waits = true;
                longest = longest.max(remaining);
            }
        }
        let again = waits.then(|| now + longest.max(TICK));
        let name = self.node(id).name.clone();
        let mut because = None;
        if !overdue.is_empty() {
            let count = overdue.len();
            let spent = time::seconds(elapsed);
            let why = Vec::from([Because::Fact(format!("{count} of its Pods are still there after {spent}"))]);
            because = Some(self.runtime.decide(format!("node/{name}"), "its Pods are deleted by force", why));
        }
        let uid = self.cached(id).map(|node| Text::from(node.uid())).unwrap_or_default();
        let work = PodsDeletion::new((&name, &uid), overdue, Manner::Forced, because);
        self.start_item(Owner::Termination { zone, node: id, again }, WorkItem::Deletion(work), now);
    }

    pub(super) fn handle_terminated(
        &mut self,
        zone: &ZoneKey,
        id: NodeId,
        (end, again): (&End, Option<Timestamp>),
        now: Timestamp,
    ) {
        self.end_tick_write();
        let again = again.or_else(|| (!end.is_well()).then_some(now + TICK));
        let Some(queue) = self.direct.as_mut().and_then(|direct| direct.terminating.get_mut(zone)) else { return };
        if let Some(again) = again {
            queue.put_back(id, again);
            return;
        }
        queue.finish(id);
        let uid = self.cached(id).map(|node| Text::from(node.uid())).unwrap_or_default();
        let message = format!("Node {0} event: Terminated all Pods on Node {0}.", self.node(id).name);
        self.node_event(id, &uid, "TerminatedAllPods", &message, None, now);
    }
}
