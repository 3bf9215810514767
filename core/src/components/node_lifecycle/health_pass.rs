//! The health pass: every node's signs of life, and then the state of the zones.
//!
//! Mirrors `monitorNodeHealth` (node_lifecycle_controller.go, v1.34): new nodes are handled one after the other, then
//! eight workers check the nodes, and at the end the states of the zones are computed. Inputs: the caches, answers,
//! time. Outputs: requests, decisions, nodes queued for taints.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::node_check::NodeCheck;
use super::taints::TaintWrite;
use super::work_items::{End, WorkItem};
use super::zones::ZoneKey;
use super::{HEALTH_PASS_COST, NodeId, NodeLifecycle, Owner, PassScope};
use crate::components::DecisionId;
use crate::components::events::{EventType, InvolvedObject};
use crate::objects::{Object, Text};

/// Nodes that are checked concurrently. Source: `scheduler.UpdateWorkerSize` (v1.34).
const WORKERS: usize = 8;

/// A health pass under way.
#[derive(Clone, Debug)]
pub(super) struct HealthPass {
    pub(super) began: Timestamp,
    /// Whether the next pass is scheduled from its end; a pass on demand does not change the schedule.
    scheduled: bool,
    new_nodes: VecDeque<(NodeId, Object)>,
    waiting: VecDeque<(NodeId, Object)>,
    pub(super) checks: BTreeMap<NodeId, NodeCheck>,
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

    /// Tells whether nothing is left that changes a zone.
    pub(super) fn leaves_zones(&self) -> bool {
        !self.judged
            && !self.writing
            && self.new_nodes.is_empty()
            && self.waiting.is_empty()
            && self.checks.values().all(NodeCheck::leaves_zones)
    }
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
                (true, true) => self.follow_zone(*id),
                (false, false) => {}
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

    /// Moves a known node to the zone that its labels name now.
    fn follow_zone(&mut self, id: NodeId) {
        let zone = self.zone_of(id);
        let Some((_, known)) = &mut self.table[id as usize].known else { return };
        if *known != zone {
            let before = core::mem::replace(known, zone.clone());
            self.leave_zone(id, &before);
            self.known_zones.entry(zone).or_default().insert(id);
        }
    }

    fn leave_zone(&mut self, id: NodeId, zone: &ZoneKey) {
        if let Some(members) = self.known_zones.get_mut(zone) {
            members.remove(&id);
            if members.is_empty() {
                self.known_zones.remove(zone);
            }
        }
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
        self.leave_zone(id, &zone);
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
        if self.leases_are_stale() {
            // None is judged, so none counts in its zone.
            ids.extend(self.ids.values());
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
}
