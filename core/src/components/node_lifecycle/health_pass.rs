//! The health pass: every node's signs of life, and then the state of the zones.
//!
//! Mirrors `monitorNodeHealth` (node_lifecycle_controller.go, v1.34): new nodes are handled one after the other, then
//! eight workers check the nodes, and at the end the states of the zones are computed. Inputs: the caches, answers,
//! time. Outputs: requests, decisions, nodes queued for taints.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::health::{self, Found, Status};
use super::pods::PodsWrite;
use super::taints::{NOT_READY, Taint, TaintWrite, UNREACHABLE};
use super::work_items::{End, WorkItem};
use super::zones::ZoneKey;
use super::{HEALTH_PASS_COST, NodeId, NodeLifecycle, Owner, PassScope, io};
use crate::components::events::{EventType, InvolvedObject};
use crate::components::{Because, DecisionId};
use crate::network::{Call, NODES, Verb};
use crate::objects::{Object, Text};

/// Nodes that are checked concurrently. Source: `scheduler.UpdateWorkerSize` (v1.34).
const WORKERS: usize = 8;
/// Pause between two checks of one node after a failed write. Source: `retrySleepTime` (v1.34).
const RETRY_PAUSE: SignedDuration = SignedDuration::from_millis(20);
/// How long the check of a node is retried. Source: `retrySleepTime * scheduler.NodeHealthUpdateRetry` (v1.34).
const RETRY_MAX: SignedDuration = SignedDuration::from_millis(100);
/// The label that keeps a node out of the zones' counts. Source: `labelNodeDisruptionExclusion` (v1.34).
const EXCLUDE: &str = "node.kubernetes.io/exclude-disruption";

/// A health pass under way.
#[derive(Clone, Debug)]
pub(super) struct HealthPass {
    began: Timestamp,
    /// Whether the next pass is scheduled from its end; a pass on demand does not change the schedule.
    scheduled: bool,
    new_nodes: VecDeque<(NodeId, Object)>,
    waiting: VecDeque<(NodeId, Object)>,
    checks: BTreeMap<NodeId, NodeCheck>,
    /// The nodes with NoExecute taints as the pass read them at its beginning.
    tainted: Vec<(NodeId, Object)>,
    cleanup: VecDeque<(NodeId, Object)>,
    /// Whether writes of a new or a cleaned node are under way.
    writing: bool,
    judged: bool,
}

impl HealthPass {
    /// Begins to take the NoExecute taints off the nodes that had them at its beginning, and returns these nodes; none
    /// where there are no such taints.
    pub(super) fn clean_up(&mut self, is_direct: bool) -> BTreeSet<NodeId> {
        if is_direct {
            return BTreeSet::new();
        }
        self.cleanup = core::mem::take(&mut self.tainted).into();
        self.cleanup.iter().map(|(id, _)| *id).collect()
    }

    /// Tells whether nothing is left but pods to mark.
    pub(super) fn only_marks_pods(&self) -> bool {
        !self.judged
            && !self.writing
            && self.new_nodes.is_empty()
            && self.waiting.is_empty()
            && self.checks.values().all(|check| check.stage == CheckStage::Pods)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CheckStage {
    Put,
    Refetch,
    Pause,
    Taints,
    Eviction,
    Pods,
}

/// The check of one node.
#[derive(Clone, Debug)]
struct NodeCheck {
    node: Object,
    began: Timestamp,
    attempt: Timestamp,
    stage: CheckStage,
    found: Found,
    because: Option<DecisionId>,
    pods: Vec<Object>,
}

impl NodeLifecycle {
    /// Begins a pass: finds the nodes that are new, gone, or have to be checked.
    pub(super) fn begin_health_pass(&mut self, now: Timestamp) {
        let pass = self.next_pass();
        let scheduled = self.next_health_pass.is_none();
        self.passes.push(now);
        let changed = core::mem::take(&mut self.changed);
        let (mut added, mut gone) = (Vec::new(), Vec::new());
        for id in &changed {
            let node = &mut self.table[*id as usize];
            node.changed = false;
            match (node.slot.is_some(), node.known.is_some()) {
                (true, false) => added.push(*id),
                (false, true) => gone.push(*id),
                _ => {}
            }
        }
        self.sort_by_name(&mut added);
        self.sort_by_name(&mut gone);
        self.renew_zones(now);
        let mut new_nodes = VecDeque::new();
        for id in added {
            if let Some(node) = self.handle_added_node(id, now) {
                new_nodes.push_back((id, node));
            }
        }
        for id in gone {
            self.handle_deleted_node(id, now);
        }
        self.place_first_tick(pass, new_nodes.is_empty());
        let tainted = self.tainted.iter().filter_map(|id| self.cached(*id).map(|node| (*id, node.clone()))).collect();
        self.health_pass = Some(HealthPass {
            began: now,
            scheduled,
            new_nodes,
            waiting: self.nodes_to_check(&changed, pass, now),
            checks: BTreeMap::new(),
            tainted,
            cleanup: VecDeque::new(),
            writing: false,
            judged: false,
        });
    }

    /// Gives dropped zones a new queue if a known node is still in them.
    fn renew_zones(&mut self, now: Timestamp) {
        let unused: Vec<NodeId> = self
            .known_zones
            .iter()
            .filter(|(key, _)| !self.zones.is_known(key))
            .flat_map(|(_, members)| members.iter().copied())
            .collect();
        for id in unused {
            if let Some(node) = self.cached(id) {
                let zone = ZoneKey::of(node.stable());
                self.zones.ensure(&zone, &self.rates, now);
            }
        }
    }

    /// Takes a new node in, and returns it if its NoExecute taints have to go.
    fn handle_added_node(&mut self, id: NodeId, now: Timestamp) -> Option<Object> {
        let object = self.cached(id)?.clone();
        let zone = ZoneKey::of(object.stable());
        let node = &mut self.table[id as usize];
        let name = node.name.clone();
        node.known = Some((Text::from(object.uid()), zone.clone()));
        self.known_zones.entry(zone.clone()).or_default().insert(id);
        let message = format!("Node {name} event: Registered Node {name} in Controller");
        self.node_event(id, object.uid(), "RegisteredNode", &message, None, now);
        self.zones.ensure(&zone, &self.rates, now);
        if self.direct.is_some() || TaintWrite::reachable(&object, None, now).is_empty() {
            self.cancel_eviction(id, &zone, now);
            return None;
        }
        Some(object)
    }

    fn handle_deleted_node(&mut self, id: NodeId, now: Timestamp) {
        let node = &mut self.table[id as usize];
        let name = node.name.clone();
        let counted = node.counted.take();
        let Some((uid, zone)) = node.known.take() else { return };
        if let Some(direct) = &mut self.direct {
            direct.unregister(id);
        }
        if let Some(members) = self.known_zones.get_mut(&zone) {
            members.remove(&id);
            if members.is_empty() {
                self.known_zones.remove(&zone);
            }
        }
        self.zones.recount(counted.as_ref(), None, &self.rates, now);
        let message = format!("Node {name} event: Removing Node {name} from Controller");
        self.node_event(id, &uid, "RemovingNode", &message, None, now);
    }

    pub(super) fn node_event(
        &mut self,
        id: NodeId,
        uid: &str,
        reason: &str,
        message: &str,
        because: Option<DecisionId>,
        now: Timestamp,
    ) {
        let about = InvolvedObject::node(&self.table[id as usize].name, uid);
        self.runtime.emit(&about, EventType::Normal, reason, message, because, now);
    }

    fn nodes_to_check(&mut self, changed: &[NodeId], pass: u32, now: Timestamp) -> VecDeque<(NodeId, Object)> {
        let mut ids: BTreeSet<NodeId> = changed.iter().copied().collect();
        ids.extend(self.not_ready.iter().chain(&self.lingering).chain(&self.retry));
        while let Some(id) = self.overdue(pass, now) {
            ids.insert(id);
        }
        match self.reach {
            PassScope::Changed => {}
            #[cfg(test)]
            PassScope::All => ids.extend((0..self.table.len()).map(|id| NodeId::try_from(id).unwrap_or(0))),
        }
        let mut ids: Vec<NodeId> = ids.into_iter().filter(|id| self.node(*id).slot.is_some()).collect();
        self.sort_by_name(&mut ids);
        ids.into_iter().filter_map(|id| self.cached(id).map(|node| (id, node.clone()))).collect()
    }

    /// Takes out a node whose grace is over at the given pass.
    pub(super) fn overdue(&mut self, pass: u32, now: Timestamp) -> Option<NodeId> {
        while let Some((at, id)) = self.grace_expiries.pop_before(now) {
            let node = &mut self.table[id as usize];
            if node.armed != Some(at) {
                continue;
            }
            node.armed = None;
            node.signs.catch_up(pass, &self.passes);
            match node.signs.expiry(&self.graces) {
                Some(expiry) if expiry >= now => self.schedule_check(id),
                _ => return Some(id),
            }
        }
        None
    }

    /// Queues a check of the node for the end of its grace period.
    pub(super) fn schedule_check(&mut self, id: NodeId) {
        let node = &mut self.table[id as usize];
        let expiry = node.signs.expiry(&self.graces);
        // An early entry costs an extra check; a late one would miss the end of the grace period.
        if node.slot.is_some()
            && let Some(at) = expiry
            && node.armed.is_none_or(|armed| at < armed)
        {
            node.armed = Some(at);
            self.grace_expiries.push(at, id);
        }
    }

    /// Does what the pass can do without waiting for an answer.
    pub(super) fn advance_health_pass(&mut self, now: Timestamp) {
        loop {
            let Some(health_pass) = &mut self.health_pass else { return };
            if health_pass.writing {
                return;
            }
            if let Some((id, node)) = health_pass.new_nodes.pop_front() {
                health_pass.writing = true;
                let because = self.decide_reachable(id, &node, "the controller sees it for the first time", None);
                let write = TaintWrite::reachable(&node, because, now);
                self.start_item(Owner::Added(id), WorkItem::Taints(write), now);
            } else if health_pass.checks.len() < WORKERS && !health_pass.waiting.is_empty() {
                let Some((id, node)) = health_pass.waiting.pop_front() else { return };
                self.begin_check(id, node, now);
            } else if !health_pass.checks.is_empty() {
                return;
            } else if !health_pass.judged {
                health_pass.judged = true;
                if core::mem::take(&mut self.tick_before_judgement) && self.tick.is_none() {
                    self.begin_tick(now);
                    self.advance_tick(now);
                }
                self.judge(now);
            } else if let Some((id, node)) = health_pass.cleanup.pop_front() {
                health_pass.writing = true;
                let because = self.decide_reachable(id, &node, "no node of any zone is ready", None);
                let write = TaintWrite::reachable(&node, because, now);
                self.start_item(Owner::Cleanup(id), WorkItem::Taints(write), now);
            } else {
                self.end_health_pass(now);
            }
        }
    }

    fn end_health_pass(&mut self, now: Timestamp) {
        let Some(health_pass) = self.health_pass.take() else { return };
        self.health_pass_end = now.max(health_pass.began + HEALTH_PASS_COST);
        if health_pass.scheduled && !self.held {
            self.next_health_pass = Some(self.health_pass_end + self.period);
        }
    }

    pub(super) fn handle_reachable(&mut self, id: NodeId, end: &End, now: Timestamp) {
        if let Some(health_pass) = &mut self.health_pass {
            health_pass.writing = false;
        }
        if end.is_well() {
            let zone = self.zone_of(id);
            self.zones.queue(&zone, &self.rates, now).forget(id);
        }
    }

    pub(super) fn zone_of(&self, id: NodeId) -> ZoneKey {
        self.cached(id).map(|node| ZoneKey::of(node.stable())).unwrap_or_default()
    }

    fn begin_check(&mut self, id: NodeId, node: Object, now: Timestamp) {
        let again = self.look_again(id, &node, now);
        if again.is_some_and(|found| !found.write) {
            self.schedule_check(id);
            return;
        }
        let pods = self.pods_on(id);
        let found = Found { observed: Status::Unknown, current: None, write: false, grace: SignedDuration::ZERO };
        let check = NodeCheck { node, began: now, attempt: now, stage: CheckStage::Put, found, because: None, pods };
        match again {
            Some(found) => self.attempted(id, check, found, now),
            None => self.attempt(id, check, now),
        }
    }

    /// Checks a node that was well at the last check and differs by heartbeats only; `None` for any other node.
    fn look_again(&mut self, id: NodeId, node: &Object, now: Timestamp) -> Option<Found> {
        let pass = self.next_pass() - 1;
        let own = &mut self.table[id as usize];
        let is_same = own.well.as_ref().is_some_and(|tree| super::same_tree(tree, node.stable()));
        let is_well = is_same && self.tick.is_none() && self.zones.iter().all(|(_, zone)| zone.queue.is_empty());
        is_well.then(|| own.signs.look_again(node, &self.graces, pass, &self.passes, now))
    }

    fn attempt(&mut self, id: NodeId, check: NodeCheck, now: Timestamp) {
        let pass = self.next_pass() - 1;
        if let Some(direct) = &mut self.direct {
            direct.observe(id, &check.node, now);
        }
        let signs = &mut self.table[id as usize].signs;
        let found = signs.look(&check.node, &self.graces, pass, &self.passes, now);
        self.attempted(id, check, found, now);
    }

    fn attempted(&mut self, id: NodeId, mut check: NodeCheck, found: Found, now: Timestamp) {
        let signs = &self.table[id as usize].signs;
        let reasons = if found.write { signs.reasons(&found, now) } else { Vec::new() };
        check.found = found;
        check.attempt = now;
        if !found.write {
            self.after_health(id, check, now);
            return;
        }
        let name = self.node(id).name.clone();
        let because = self.runtime.decide(format!("node/{name}"), health::change(Status::Unknown), reasons);
        check.because = Some(because);
        check.stage = CheckStage::Put;
        let call = Call::new(Verb::Update, NODES, "", &name).subresource("status").body(health::silenced(
            &check.node,
            self.conditions,
            now,
        ));
        self.keep_check(id, check);
        self.work_items.request(Owner::NodeCheck(id), call, Some(because), io!(self, now));
    }

    fn keep_check(&mut self, id: NodeId, check: NodeCheck) {
        if let Some(health_pass) = &mut self.health_pass {
            health_pass.checks.insert(id, check);
        }
    }

    pub(super) fn handle_check(&mut self, id: NodeId, end: End, now: Timestamp) {
        let Some(mut check) = self.health_pass.as_mut().and_then(|health_pass| health_pass.checks.remove(&id)) else {
            return;
        };
        match check.stage {
            CheckStage::Put if end.is_well() => {
                let pass = self.next_pass() - 1;
                self.table[id as usize].signs.handle_written(&check.node, pass);
                if let Some(direct) = &mut self.direct {
                    direct.handle_written(id, now);
                }
                self.after_health(id, check, now);
            }
            CheckStage::Put => {
                check.stage = CheckStage::Refetch;
                let because = check.because;
                let call = Call::new(Verb::Get, NODES, "", &self.node(id).name);
                self.keep_check(id, check);
                self.work_items.request(Owner::NodeCheck(id), call, because, io!(self, now));
            }
            CheckStage::Refetch => match end.into_object() {
                Some(node) if now.duration_since(check.began) < RETRY_MAX => {
                    check.node = node;
                    check.stage = CheckStage::Pause;
                    let next = super::on_grid(check.attempt + SignedDuration::from_nanos(1), check.began, RETRY_PAUSE);
                    self.keep_check(id, check);
                    self.work_items.pause(Owner::NodeCheck(id), next.map_or(now, |next| next.max(now)));
                }
                _ => self.skip(id, now),
            },
            CheckStage::Pause => self.attempt(id, check, now),
            CheckStage::Taints => {
                if end.is_well() && self.decided_status(&check.found) == Some(Status::True) {
                    let zone = ZoneKey::of(check.node.stable());
                    self.zones.queue(&zone, &self.rates, now).forget(id);
                }
                self.after_taints(id, check, now);
            }
            CheckStage::Eviction => self.after_taints(id, check, now),
            CheckStage::Pods => {
                if end.is_well() {
                    self.retry.remove(&id);
                } else {
                    self.retry.insert(id);
                }
            }
        }
    }

    /// Skips a node in this pass: it is not counted, and the next pass checks it again.
    fn skip(&mut self, id: NodeId, now: Timestamp) {
        let node = &mut self.table[id as usize];
        let counted = node.counted.take();
        node.well = None;
        if node.slot.is_some() && !node.changed {
            node.changed = true;
            self.changed.push(id);
        }
        self.zones.recount(counted.as_ref(), None, &self.rates, now);
    }

    fn decided_status(&self, found: &Found) -> Option<Status> {
        found.current.map(|current| if self.decide_by_current { current } else { found.observed })
    }

    fn after_health(&mut self, id: NodeId, check: NodeCheck, now: Timestamp) {
        // A node that is Unknown already has no write due at the end of its grace period.
        if check.found.current != Some(Status::Unknown) {
            self.schedule_check(id);
        }
        self.table[id as usize].well = None;
        let tree = check.node.stable();
        let zone = ZoneKey::of(tree);
        let ready = check.found.current == Some(Status::True);
        let excluded = !tree.at(&["metadata", "labels", EXCLUDE]).is_null();
        let counted = (!excluded).then(|| (zone.clone(), ready));
        let before = core::mem::replace(&mut self.table[id as usize].counted, counted.clone());
        self.zones.recount(before.as_ref(), counted.as_ref(), &self.rates, now);
        let lingers = ready
            && (super::is_tainted(&check.node) || self.zones.get(&zone).is_some_and(|zone| zone.queue.is_known(id)));
        for (set, belongs) in
            [(&mut self.not_ready, !ready && check.found.current.is_some()), (&mut self.lingering, lingers)]
        {
            if belongs {
                set.insert(id);
            } else {
                set.remove(&id);
            }
        }
        match self.decided_status(&check.found) {
            None => {
                self.retry.remove(&id);
            }
            Some(_) if self.direct.is_some() => self.check_pods(id, check, now),
            Some(Status::True) => self.check_reachable(id, check, &zone, now),
            Some(Status::False) => self.check_taint(id, check, &zone, (NOT_READY, UNREACHABLE), now),
            Some(Status::Unknown) => self.check_taint(id, check, &zone, (UNREACHABLE, NOT_READY), now),
            Some(Status::Other) => self.after_taints(id, check, now),
        }
    }

    fn check_pods(&mut self, id: NodeId, mut check: NodeCheck, now: Timestamp) {
        let pods = check.pods.clone();
        let (observed, because) = (check.found.observed, check.because);
        match self.check_eviction((id, &check.node), |_| pods, (observed, because), now) {
            Some(item) => {
                check.stage = CheckStage::Eviction;
                self.keep_check(id, check);
                self.start_item(Owner::NodeCheck(id), item, now);
            }
            None => self.after_taints(id, check, now),
        }
    }

    fn check_reachable(&mut self, id: NodeId, mut check: NodeCheck, zone: &ZoneKey, now: Timestamp) {
        if !super::is_tainted(&check.node) {
            self.zones.queue(zone, &self.rates, now).forget(id);
            if check.found.observed == Status::True {
                self.table[id as usize].well = Some(check.node.stable().clone());
            }
            self.after_taints(id, check, now);
            return;
        }
        let because = self.decide_reachable(id, &check.node, "Ready=True", check.because);
        let write = TaintWrite::reachable(&check.node, because, now);
        check.stage = CheckStage::Taints;
        self.keep_check(id, check);
        self.start_item(Owner::NodeCheck(id), WorkItem::Taints(write), now);
    }

    fn decide_reachable(
        &mut self,
        id: NodeId,
        node: &Object,
        why: &str,
        because: Option<DecisionId>,
    ) -> Option<DecisionId> {
        let taints = [UNREACHABLE, NOT_READY].map(Taint::no_execute);
        let gone: Vec<String> =
            taints.iter().filter(|taint| taint.is_on(node.stable())).map(|taint| format!("-{taint}")).collect();
        let mut reasons = Vec::from([Because::Fact(String::from(why))]);
        reasons.extend(because.map(Because::Decision));
        let about = format!("node/{}", self.node(id).name);
        Some(self.runtime.decide(about, gone.join(" "), reasons))
    }

    fn check_taint(
        &mut self,
        id: NodeId,
        mut check: NodeCheck,
        zone: &ZoneKey,
        (wanted, opposite): (&'static str, &'static str),
        now: Timestamp,
    ) {
        let (wanted, opposite) = (Taint::no_execute(wanted), Taint::no_execute(opposite));
        if opposite.is_on(check.node.stable()) {
            let (about, reasons) = (format!("node/{}", self.node(id).name), self.reasons_for_taint(&check));
            let because = self.runtime.decide(about, format!("+{wanted} -{opposite}"), reasons);
            let write = TaintWrite::swap(&check.node, [wanted].into(), [opposite].into(), Some(because), now);
            check.stage = CheckStage::Taints;
            self.keep_check(id, check);
            self.start_item(Owner::NodeCheck(id), WorkItem::Taints(write), now);
            return;
        }
        let tainted = wanted.is_on(check.node.stable());
        let queue = self.zones.queue(zone, &self.rates, now);
        // A node that lacks its taint is moved to the end of the queue by each pass.
        let was_known = if tainted { queue.is_known(id) } else { queue.forget(id) };
        if queue.add(id, now) && !was_known {
            let rate = queue.rate();
            let (about, mut reasons) = (format!("node/{}", self.node(id).name), self.reasons_for_taint(&check));
            reasons.push(Because::Fact(format!("zone {zone} lets {rate} nodes per second go")));
            self.runtime.decide(about, format!("queued for taint {wanted}"), reasons);
        }
        self.after_taints(id, check, now);
    }

    fn reasons_for_taint(&self, check: &NodeCheck) -> Vec<Because> {
        let status = self.decided_status(&check.found).map_or("", Status::name);
        let mut reasons = Vec::from([Because::Fact(format!("Ready={status}"))]);
        reasons.extend(check.because.map(Because::Decision));
        reasons
    }

    fn after_taints(&mut self, id: NodeId, mut check: NodeCheck, now: Timestamp) {
        let was_ready = check.found.observed == Status::True;
        let is_ready = check.found.current == Some(Status::True);
        if !is_ready && was_ready {
            let message = format!("Node {} status is now: NodeNotReady", self.node(id).name);
            self.node_event(id, check.node.uid(), "NodeNotReady", &message, check.because, now);
        } else if !self.retry.contains(&id) || was_ready {
            self.retry.remove(&id);
            return;
        }
        self.runtime.flush(now);
        let pods = core::mem::take(&mut check.pods);
        let write = PodsWrite::new(self.node(id).name.clone(), pods, check.because);
        check.stage = CheckStage::Pods;
        self.keep_check(id, check);
        self.start_item(Owner::NodeCheck(id), WorkItem::Pods(write), now);
    }
}
