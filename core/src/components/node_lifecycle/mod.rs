//! Marks nodes Unknown when their signs of life stop, and taints nodes that are not ready.
//!
//! Mirrors kube-controller-manager's `node-lifecycle-controller`
//! (pkg/controller/nodelifecycle/node_lifecycle_controller.go, v1.34).
//! Inputs: Nodes, Leases, Pods, answers, time. Outputs: node and pod status, taints, beta labels, Events.
//! Loops: the health pass each node monitor period (`health_pass`), the NoExecute pass on a grid of 100 ms (`tick`),
//! and two work queues that Node and Pod events feed (`items`).
//!
//! Deterministic where upstream has a race (kubernetes#111385): a NoExecute pass that falls into a health pass waits
//! until that is over, unless the health pass only has pods left to mark and will change no zone's state. So a node
//! that was queued by the pass that finds all zones disrupted is never tainted, but for the first pass after a start.
//! A health pass over hundreds of silent nodes, drawn out by the limit of requests, holds them up for one period.
//! A health pass checks only nodes that changed, whose grace period is over or that are not ready; a test compares it
//! with the literal pass over all nodes.

mod direct_eviction;
mod disruption;
mod grace_expiries;
mod health;
mod health_pass;
mod informers;
mod items;
mod measures;
mod node_check;
mod order;
mod pods;
mod pods_deletion;
mod queue;
mod taints;
mod tick;
mod work_items;
mod zones;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use self::direct_eviction::DirectEviction;
use self::grace_expiries::GraceExpiries;
use self::health::{Graces, Signs};
use self::health_pass::HealthPass;
pub use self::taints::taint_violations;
use self::tick::Tick;
use self::work_items::{End, WorkItem, WorkItems};
pub use self::zones::ZoneKey;
use self::zones::{Rates, Zones};
use super::client::{CacheEvent, CacheIndex, PodsByNode, RequestOutcome, WorkQueue};
use super::controller::{
    ApiResult, Controller, ControllerContext, ControllerRuntime, FreeChoice, LoopInfo, Measure, Watched,
};
use super::workload::DAEMON_SETS;
use super::{Deadline, earliest};
use crate::chance::Chance;
use crate::json;
use crate::network::{LEASES, NODE_LEASES, NODES, PODS, RequestId};
use crate::objects::{HeartbeatStamp, Json, Object, ObjectKey, Text};
use crate::profile::Race;

/// The place of a name in the controller's table; names are never forgotten, as upstream's health map.
type NodeId = u32;

/// Pause between two NoExecute passes. Source: node_lifecycle_controller.go (v1.34), `scheduler.NodeEvictionPeriod`.
const TICK: SignedDuration = SignedDuration::from_millis(100);
/// The shortest duration of a health pass: real passes take time, and strict comparisons rely on that.
const HEALTH_PASS_COST: SignedDuration = SignedDuration::from_millis(1);

const NODE_CACHE: usize = 0;
const POD_CACHE: usize = 1;
const LEASE_CACHE: usize = 2;
/// Read where the controller deletes Pods itself.
const DAEMON_SET_CACHE: usize = 3;

/// What is known of one node. The fields that each renewal of a Lease touches come first, in one cache line: a cluster
/// has many nodes.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Node {
    signs: Signs,
    /// The cached object's place; `None` while there is no Node of this name.
    slot: Option<CacheIndex>,
    /// Whether it is in `changed`.
    changed: bool,
    /// The instant of the node's valid entry in the queue of grace expiries.
    armed: Option<Timestamp>,
    /// The tree of the Node, if the last check found it ready, without taints, and with nothing to do.
    well: Option<Json>,
    /// The zone in which the last check counted it, and whether as ready.
    counted: Option<(ZoneKey, bool)>,
    /// UID at the pass that found the node, and zone at the last pass; `None` if none has found it.
    known: Option<(Text, ZoneKey)>,
    name: Text,
}

/// Which nodes a health pass checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PassScope {
    /// Those whose result may differ from the last pass.
    Changed,
    /// All, as upstream; kept to test the other.
    #[cfg(test)]
    All,
}

/// What waits for the end of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Owner {
    /// The health pass, before its first check.
    Added(NodeId),
    /// The check of a node within the health pass.
    NodeCheck(NodeId),
    /// The health pass, when all zones are disrupted.
    Cleanup(NodeId),
    /// The NoExecute pass.
    Tick(ZoneKey, NodeId),
    /// A node's NoSchedule taints.
    Taints(NodeId),
    /// A node's labels.
    Labels(NodeId),
    /// A pod that was bound.
    Pod(ObjectKey),
    /// The deletion of a pod that was bound.
    PodEviction(ObjectKey),
    /// The deletion of a node's pods.
    Eviction(ZoneKey, NodeId),
    /// The end of a node's terminating pods, and when to look again.
    Termination { zone: ZoneKey, node: NodeId, again: Option<Timestamp> },
}

/// The controller; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
pub struct NodeLifecycle {
    runtime: ControllerRuntime,
    chance: Chance,
    work_items: WorkItems<Owner>,
    pods_by_node: PodsByNode,
    period: SignedDuration,
    graces: Graces,
    rates: Rates,
    decide_by_current: bool,
    no_schedule_taints: bool,
    handles_bound_pods: bool,
    sees_leases: bool,
    /// Whether the Lease of a silent node is read from the server before the node is written as silent.
    confirms_silence: bool,
    /// The version of a Lease that a read has shown and that the cache lacks.
    awaited_lease: Option<u64>,
    conditions: &'static str,
    /// `None` where NoExecute taints evict.
    direct: Option<DirectEviction>,
    reach: PassScope,
    /// Whether the driver runs both loops.
    held: bool,
    /// The nodes that come first in the next pass, in order.
    preferred: Vec<Text>,
    /// Whether a NoExecute pass is made between the last node of the next health pass and its judgement of the zones.
    tick_before_judgement: bool,
    /// Whether the first checks come before the first NoExecute pass.
    checks_come_first: bool,
    /// Whether checks of one pass are done in the reverse order of the names.
    names_in_reverse: bool,
    ids: BTreeMap<Text, NodeId>,
    table: Vec<Node>,
    node_ids: Vec<NodeId>,
    lease_ids: Vec<NodeId>,
    passes: Vec<Timestamp>,
    changed: Vec<NodeId>,
    grace_expiries: GraceExpiries,
    not_ready: BTreeSet<NodeId>,
    /// Ready nodes that still have a NoExecute taint or a place in a queue.
    lingering: BTreeSet<NodeId>,
    tainted: BTreeSet<NodeId>,
    retry: BTreeSet<NodeId>,
    zones: Zones,
    known_zones: BTreeMap<ZoneKey, BTreeSet<NodeId>>,
    health_pass: Option<HealthPass>,
    health_pass_end: Timestamp,
    next_health_pass: Option<Timestamp>,
    started: bool,
    tick: Option<Tick>,
    next_tick: Option<Timestamp>,
    last_tick: Timestamp,
    grid: Timestamp,
    node_queue: WorkQueue<NodeId>,
    failed: BTreeSet<NodeId>,
    pod_queue: WorkQueue<ObjectKey>,
}

/// Borrows what a job needs to send requests, separately from the jobs.
macro_rules! io {
    ($self:ident, $now:expr) => {
        &mut $crate::components::node_lifecycle::work_items::Io {
            runtime: &mut $self.runtime,
            chance: &mut $self.chance,
            now: $now,
        }
    };
}
use io;

impl NodeLifecycle {
    /// Starts the controller with empty caches.
    #[must_use]
    pub fn new(context: &ControllerContext, now: Timestamp) -> Self {
        let settings = &context.settings;
        let mut watched = Vec::from([
            Watched::with(NODES, None),
            Watched::with(PODS, None),
            Watched::with(LEASES, None).within(NODE_LEASES),
        ]);
        let direct = DirectEviction::of(settings);
        watched.extend(direct.is_some().then(|| Watched::of(DAEMON_SETS)));
        let profile = settings.profile();
        let runtime = ControllerRuntime::new(&watched, context, now);
        Self {
            runtime,
            chance: context.chance.fork("retries"),
            work_items: WorkItems::default(),
            pods_by_node: PodsByNode::default(),
            period: settings.duration("node-monitor-period"),
            graces: Graces::of(settings),
            rates: Rates::of(settings),
            decide_by_current: profile.is("no-execute-from-current-condition"),
            no_schedule_taints: profile.is("conditions-make-no-schedule-taints"),
            handles_bound_pods: profile.is("pods-that-come-to-silent-nodes-are-handled"),
            sees_leases: profile.is("leases-are-signs-of-life"),
            confirms_silence: profile.is("silent-nodes-leases-are-read"),
            awaited_lease: None,
            conditions: profile.text("conditions-of-silent-nodes"),
            direct,
            reach: PassScope::Changed,
            held: false,
            preferred: Vec::new(),
            tick_before_judgement: false,
            checks_come_first: !settings.is_lost(Race::TaintPassBeforeChecks),
            names_in_reverse: settings.is_lost(Race::NodesInReverse),
            ids: BTreeMap::new(),
            table: Vec::new(),
            node_ids: Vec::new(),
            lease_ids: Vec::new(),
            passes: Vec::new(),
            changed: Vec::new(),
            grace_expiries: GraceExpiries::default(),
            not_ready: BTreeSet::new(),
            lingering: BTreeSet::new(),
            tainted: BTreeSet::new(),
            retry: BTreeSet::new(),
            zones: Zones::default(),
            known_zones: BTreeMap::new(),
            health_pass: None,
            health_pass_end: now,
            next_health_pass: None,
            started: false,
            tick: None,
            next_tick: None,
            last_tick: now - TICK,
            grid: now + context.chance.fork("tick").up_to(TICK),
            node_queue: WorkQueue::default(),
            failed: BTreeSet::new(),
            pod_queue: WorkQueue::default(),
        }
    }

    fn id(&mut self, name: &str) -> NodeId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = u32::try_from(self.table.len()).expect("fewer than 2^32 names");
        let name = Text::from(name);
        self.ids.insert(name.clone(), id);
        self.table.push(Node {
            name,
            slot: None,
            known: None,
            signs: Signs::default(),
            armed: None,
            counted: None,
            well: None,
            changed: false,
        });
        id
    }

    /// Returns the id of an object's name; looked up by the object's place in its cache after the first time.
    fn id_at(&mut self, event: &CacheEvent, ids: fn(&mut Self) -> &mut Vec<NodeId>) -> NodeId {
        let slot = event.slot as usize;
        if event.before.is_some()
            && let Some(id) = ids(self).get(slot)
        {
            return *id;
        }
        let id = self.id(event.object().name());
        let ids = ids(self);
        if ids.len() <= slot {
            ids.resize(slot + 1, id);
        }
        ids[slot] = id;
        id
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.table[id as usize]
    }

    /// Returns the cached Node.
    fn cached(&self, id: NodeId) -> Option<&Object> {
        self.runtime.cache(NODE_CACHE).cache().at(self.node(id).slot?)
    }

    /// Returns the number of the next health pass.
    fn next_pass(&self) -> u32 {
        u32::try_from(self.passes.len()).expect("fewer than 2^32 passes")
    }

    /// Returns the next deadline other than those of the passes.
    fn next_of_others(&self) -> Option<Deadline> {
        earliest([
            self.runtime.next_deadline(),
            self.work_items.next_deadline(),
            self.node_queue.next_deadline(),
            self.pod_queue.next_deadline(),
        ])
    }

    fn start_item(&mut self, owner: Owner, item: WorkItem, now: Timestamp) {
        if let Some((owner, end)) = self.work_items.start(owner, item, io!(self, now)) {
            self.handle_end(owner, end, now);
        }
    }

    fn handle_end(&mut self, owner: Owner, end: End, now: Timestamp) {
        match owner {
            Owner::Added(id) | Owner::Cleanup(id) => self.handle_reachable(id, &end, now),
            Owner::NodeCheck(id) => self.handle_check(id, end, now),
            Owner::Tick(zone, id) => self.handle_ticked(&zone, id, &end, now),
            Owner::Taints(id) => self.handle_taints_done(id, &end, now),
            Owner::Labels(id) => self.handle_labels_done(id, &end),
            Owner::Pod(key) => self.handle_pod_done(key, &end, now),
            Owner::PodEviction(key) => self.handle_pod_evicted(key, &end, now),
            Owner::Eviction(zone, id) => self.handle_evicted(&zone, id, &end, now),
            Owner::Termination { zone, node, again } => self.handle_terminated(&zone, node, (&end, again), now),
        }
    }
}

impl Controller for NodeLifecycle {
    fn runtime(&self) -> &ControllerRuntime {
        &self.runtime
    }

    fn runtime_mut(&mut self) -> &mut ControllerRuntime {
        &mut self.runtime
    }

    fn handle_event(&mut self, source: usize, event: &CacheEvent, _: Timestamp) {
        match source {
            NODE_CACHE => self.handle_node(event),
            POD_CACHE => self.handle_pod(event),
            LEASE_CACHE => self.handle_lease(event),
            _ => {}
        }
    }

    fn works_after(&self, source: usize) -> bool {
        // A renewed Lease causes no work before the next pass.
        source != LEASE_CACHE || !self.started
    }

    fn handle_reply(&mut self, id: RequestId, reply: &ApiResult, now: Timestamp) {
        if let Some((owner, end)) = self.work_items.handle_outcome(id, RequestOutcome::of(reply), io!(self, now)) {
            self.handle_end(owner, end, now);
        }
    }

    fn handle_due(&mut self, now: Timestamp) {
        self.node_queue.handle_timeout(now);
        self.pod_queue.handle_timeout(now);
        while let Ok(ended) = self.work_items.handle_timeout(io!(self, now)) {
            if let Some((owner, end)) = ended {
                self.handle_end(owner, end, now);
            }
        }
    }

    fn work(&mut self, now: Timestamp) {
        if !self.started {
            if !self.runtime.is_synced() {
                return;
            }
            self.started = true;
            self.next_health_pass = (!self.held).then_some(now);
            // The workers run before the first pass does, and pass over the Pods of nodes that it has not seen.
            // Upstream they race; the workers came first in 23 of 24 starts of a real one (v1.34.4).
            self.advance_pods(now);
        }
        if self.health_pass.is_none() && self.next_health_pass.is_some_and(|at| at <= now) {
            self.next_health_pass = None;
            self.begin_health_pass(now);
        }
        self.advance_health_pass(now);
        self.advance_items(now);
        self.advance_tick(now);
        self.next_tick = if self.held { None } else { self.compute_next_tick() };
    }

    fn own_deadline(&self) -> Option<Deadline> {
        earliest([
            self.next_of_others(),
            self.next_health_pass
                .filter(|_| self.health_pass.is_none())
                .map(|at| Deadline { at, reason: "health pass" }),
            self.next_tick.map(|at| Deadline { at, reason: "taint pass" }),
        ])
    }

    fn handle_renewal(&mut self, watch: RequestId, before: HeartbeatStamp, after: HeartbeatStamp) -> bool {
        self.take_renewal(watch, before, after)
    }

    fn takes_renewals(&self, watch: RequestId) -> bool {
        self.started && self.runtime.cache(LEASE_CACHE).owns(watch)
    }

    fn loops(&self) -> Vec<LoopInfo> {
        Vec::from([
            LoopInfo { name: "health-pass", period: self.period, next: self.next_health_pass },
            LoopInfo { name: "taint-pass", period: TICK, next: self.next_tick },
        ])
    }

    fn own_queues(&self) -> Vec<(&'static str, usize)> {
        let nodes = ("node_lifecycle_controller", self.node_queue.len());
        let pods = ("node_lifecycle_controller_pods", self.pod_queue.len());
        Vec::from([nodes, pods])
    }

    fn measures(&self) -> Vec<Measure> {
        measures::of(&self.zones)
    }

    fn details(&self, _now: Timestamp) -> Vec<(&'static str, Json)> {
        let zones: Json = self
            .zones
            .iter()
            .filter_map(|(key, zone)| {
                let state = zone.state?;
                let queued: Json = zone.queue.waiting().map(|id| Json::from(&self.node(id).name)).collect();
                let mut line = json!({"zone": &*key.zone, "state": state.name(), "evictionRate": zone.queue.rate(),
                    "nodes": zone.ready + zone.not_ready, "notReady": zone.not_ready});
                if !key.region.is_empty() {
                    line.set(&["region"], &key.region);
                }
                line.set(&["queued"], queued);
                Some(line)
            })
            .collect();
        Vec::from([("zones", zones)])
    }

    fn hold_loops(&mut self) {
        self.held = true;
        self.next_health_pass = None;
        self.next_tick = None;
    }

    fn prefer(&mut self, choice: FreeChoice<'_>) {
        match choice {
            FreeChoice::NodeOrder(order) => self.preferred = order.to_vec(),
            FreeChoice::TaintPassBeforeJudgement => self.tick_before_judgement = true,
            #[cfg(test)]
            FreeChoice::LookAtAll => self.reach = PassScope::All,
            FreeChoice::PodOrder(_) | FreeChoice::NodeOfPod { .. } => {}
        }
    }

    fn run_once(&mut self, name: &str, now: Timestamp) -> bool {
        if !self.started {
            return false;
        }
        match name {
            "health-pass" if self.health_pass.is_none() => self.begin_health_pass(now),
            "taint-pass" if self.tick.is_none() => self.begin_tick(now),
            _ => return false,
        }
        self.work(now);
        self.runtime.flush(now);
        true
    }
}

/// Returns the first instant of a grid at or after another; `None` beyond the largest instant.
fn on_grid(at: Timestamp, grid: Timestamp, step: SignedDuration) -> Option<Timestamp> {
    let wait = grid.duration_since(at).as_nanos().rem_euclid(step.as_nanos());
    at.checked_add(SignedDuration::from_nanos(i64::try_from(wait).ok()?)).ok()
}
