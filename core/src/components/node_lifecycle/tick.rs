//! The NoExecute pass: taints the nodes that the rate limiters of the zones allow.
//!
//! Mirrors `doNoExecuteTaintingPass` (node_lifecycle_controller.go, v1.34). The passes are due every 100 ms from the
//! controller's start; one is made only when some limiter can grant a token, since the others would change nothing.
//! Inputs: the queues of the zones, answers, time. Outputs: requests and decisions about NoExecute taints.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::direct_eviction::DirectEviction;
use super::health::{Ready, Status};
use super::queue::UNDECIDED_PAUSE;
use super::taints::{NOT_READY, Taint, TaintWrite, UNREACHABLE};
use super::work_items::{End, WorkItem};
use super::zones::ZoneKey;
use super::{NodeId, NodeLifecycle, Owner, TICK, on_grid};
use crate::components::Because;

/// Added to the instant of an item that is retried. Source: rate_limited_queue.go (v1.34), `Try`.
const NEXT: SignedDuration = SignedDuration::from_nanos(1);

/// Which queue of a zone a pass looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TickQueue {
    /// The nodes that wait for their taint, or for the deletion of their Pods.
    Evictions,
    /// The nodes with terminating Pods, where these are deleted by force.
    Terminations,
}

/// A pass under way.
#[derive(Clone, Debug)]
pub(super) struct Tick {
    zones: VecDeque<(ZoneKey, TickQueue)>,
    writing: bool,
}

impl NodeLifecycle {
    /// Returns when the next pass can grant something.
    pub(super) fn compute_next_tick(&self) -> Option<Timestamp> {
        if self.tick.is_some() {
            return None;
        }
        let grants = self.zones.iter().filter_map(|(_, zone)| zone.queue.next_grant());
        let grant = grants.chain(self.direct.iter().filter_map(DirectEviction::next_look)).min()?;
        let floor = (self.last_tick + TICK).max(self.first_tick_in_pass().unwrap_or(self.health_pass_end));
        on_grid(grant.max(floor), self.grid, TICK)
    }

    /// Says in the first health pass that a NoExecute pass falls into it: both are due at the same instant. Upstream
    /// they race: in 35 of 40 starts of a real one (v1.34.4) the first checks came before and the judgement after. If
    /// taints of before have to be taken off new nodes, the checks come too late.
    pub(super) const fn place_first_tick(&mut self, pass: u32, finds_no_taint: bool) {
        if pass == 0 && finds_no_taint && !self.held && self.checks_come_first {
            self.tick_before_judgement = true;
        }
    }

    /// Returns from when on a pass may be made while a health pass is under way; `None` while none is. In a health pass
    /// that is longer than the pause between two, passes are made; before, only if no zone can change any more.
    fn first_tick_in_pass(&self) -> Option<Timestamp> {
        let health_pass = self.health_pass.as_ref()?;
        let is_harmless = health_pass.leaves_zones() && self.zones.is_settled(&self.rates);
        Some(if is_harmless { self.last_tick } else { health_pass.began + self.period })
    }

    pub(super) fn begin_tick(&mut self, now: Timestamp) {
        self.last_tick = now;
        let mut zones: Vec<ZoneKey> = self.zones.iter().map(|(key, _)| key.clone()).collect();
        if let Some(since) = self.passes.last() {
            self.zones.take_turns(*since);
        }
        if !self.preferred.is_empty() {
            self.order_tick(&mut zones);
        }
        let terminations =
            zones.iter().filter(|_| self.direct.is_some()).map(|key| (key.clone(), TickQueue::Terminations));
        // What is deleted now is looked at again by a later pass, when the watch has shown it.
        let mut looks: VecDeque<_> = terminations.collect();
        looks.extend(zones.iter().map(|key| (key.clone(), TickQueue::Evictions)));
        self.tick = Some(Tick { zones: looks, writing: false });
    }

    /// Applies the order that a driver prefers to the zones, and in each zone to the nodes that the last health pass
    /// queued. Upstream both orders are arbitrary: zones are in a map, and nodes are checked concurrently.
    fn order_tick(&mut self, zones: &mut [ZoneKey]) {
        let Some(since) = self.passes.last().copied() else { return };
        let preferred: Vec<NodeId> = self.preferred.iter().filter_map(|name| self.ids.get(name).copied()).collect();
        let first = |key: &ZoneKey| {
            let zone = self.zones.get(key)?;
            preferred.iter().position(|id| zone.queue.waiting().any(|waiting| waiting == *id))
        };
        let ranks: BTreeMap<ZoneKey, usize> =
            zones.iter().filter_map(|key| first(key).map(|at| (key.clone(), at))).collect();
        zones.sort_by_key(|key| ranks.get(key).copied().unwrap_or(usize::MAX));
        for (key, at) in &ranks {
            if let Some(zone) = self.zones.get_mut(key) {
                zone.queue.bring_forward(preferred[*at], since);
            }
        }
    }

    pub(super) fn advance_tick(&mut self, now: Timestamp) {
        let is_early = || self.first_tick_in_pass().is_some_and(|at| at > now);
        if self.tick.is_none() && self.next_tick.is_some_and(|at| at <= now) && !is_early() {
            self.begin_tick(now);
        }
        while let Some(tick) = &mut self.tick
            && !tick.writing
        {
            let Some((key, queue)) = tick.zones.front().cloned() else {
                self.tick = None;
                return;
            };
            let next = match (queue, &mut self.direct) {
                (TickQueue::Evictions, _) => self.zones.get_mut(&key).and_then(|zone| zone.queue.try_next(now)),
                (TickQueue::Terminations, Some(direct)) => direct.next_terminating(&self.zones, &key, now),
                (TickQueue::Terminations, None) => None,
            };
            let Some(id) = next else {
                tick.zones.pop_front();
                continue;
            };
            match queue {
                TickQueue::Evictions if self.direct.is_none() => self.tick_node(key, id, now),
                TickQueue::Evictions => {
                    tick.writing = true;
                    self.evict_node(key, id, now);
                }
                TickQueue::Terminations => {
                    tick.writing = true;
                    self.terminate_pods(key, id, now);
                }
            }
        }
    }

    fn tick_node(&mut self, key: ZoneKey, id: NodeId, now: Timestamp) {
        let node = self.cached(id).cloned();
        let ready = node.as_ref().and_then(Ready::of);
        let queue = self.zones.queue(&key, &self.rates, now);
        let rate = queue.rate();
        let (Some(node), Some(ready)) = (&node, ready) else {
            if node.is_none() {
                queue.finish(id);
            } else {
                queue.put_back(id, now + UNDECIDED_PAUSE + NEXT);
            }
            return;
        };
        let (wanted, opposite) = match ready.status {
            Status::False => (NOT_READY, UNREACHABLE),
            Status::Unknown => (UNREACHABLE, NOT_READY),
            Status::True | Status::Other => {
                queue.finish(id);
                return;
            }
        };
        let (wanted, opposite) = (Taint::no_execute(wanted), Taint::no_execute(opposite));
        let because = self.runtime.decide(
            format!("node/{}", self.node(id).name),
            format!("+{wanted}"),
            Vec::from([
                Because::Fact(format!("Ready={}", ready.status.name())),
                Because::Fact(format!("zone {key} lets {rate} nodes per second go, and it is this node's turn")),
            ]),
        );
        let write = TaintWrite::swap(node, [wanted].into(), [opposite].into(), Some(because), now);
        if let Some(tick) = &mut self.tick {
            tick.writing = true;
        }
        self.start_item(Owner::Tick(key, id), WorkItem::Taints(write), now);
    }

    /// Lets a pass go on after a write.
    pub(super) fn end_tick_write(&mut self) {
        if let Some(tick) = &mut self.tick {
            tick.writing = false;
        }
    }

    pub(super) fn handle_ticked(&mut self, key: &ZoneKey, id: NodeId, end: &End, now: Timestamp) {
        self.end_tick_write();
        if end.is_well()
            && let Some(zone) = self.zones.get_mut(key)
        {
            zone.evictions += 1;
        }
        let queue = self.zones.queue(key, &self.rates, now);
        if end.is_well() {
            queue.finish(id);
        } else {
            queue.put_back(id, now + NEXT);
        }
    }
}
