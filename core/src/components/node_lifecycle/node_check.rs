//! The check of one node within a health pass.
//!
//! Mirrors `tryUpdateNodeHealth` and what `monitorNodeHealth` does with its result
//! (pkg/controller/nodelifecycle/node_lifecycle_controller.go, v1.34; the Lease that is looked up: v1.37). Inputs: a
//! node from the pass, answers, time. Outputs: requests, decisions, the node's place in the zones' counts and queues.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::health::{self, Found, Renewal, Status};
use super::informers::same_tree;
use super::pods::PodsWrite;
use super::taints::{NOT_READY, Taint, TaintWrite, UNREACHABLE, is_tainted};
use super::work_items::{End, WorkItem};
use super::zones::ZoneKey;
use super::{LEASE_CACHE, NodeId, NodeLifecycle, Owner, io};
use crate::components::client::RequestOutcome;
use crate::components::{Because, DecisionId};
use crate::network::{Call, LEASES, NODE_LEASES, NODES, Verb};
use crate::objects::Object;

/// Pause between two checks of one node after a failed write. Source: `retrySleepTime` (v1.34).
const RETRY_PAUSE: SignedDuration = SignedDuration::from_millis(20);
/// How long the check of a node is retried. Source: `retrySleepTime * scheduler.NodeHealthUpdateRetry` (v1.34).
const RETRY_MAX: SignedDuration = SignedDuration::from_millis(100);
/// The label that keeps a node out of the zones' counts. Source: `labelNodeDisruptionExclusion` (v1.34).
const EXCLUDE: &str = "node.kubernetes.io/exclude-disruption";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CheckStage {
    /// The Lease of a silent node is read from the server.
    Lease,
    Put,
    Refetch,
    Pause,
    Taints,
    Eviction,
    Pods,
}

/// The check of one node.
#[derive(Clone, Debug)]
pub(super) struct NodeCheck {
    node: Object,
    began: Timestamp,
    attempt: Timestamp,
    stage: CheckStage,
    found: Found,
    /// The Lease that was cached at the look.
    lease: Renewal,
    /// Why the node counts as silent.
    reasons: Vec<Because>,
    because: Option<DecisionId>,
    pods: Vec<Object>,
}

impl NodeCheck {
    /// Tells whether what is left changes no zone: marks on Pods, or a confirmation that the node is still silent.
    pub(super) fn leaves_zones(&self) -> bool {
        self.stage == CheckStage::Pods || self.stage == CheckStage::Lease && !self.found.write
    }
}

impl NodeLifecycle {
    pub(super) fn begin_check(&mut self, id: NodeId, node: Object, now: Timestamp) {
        if self.leases_are_stale() {
            self.skip_unseen(id, now);
            return;
        }
        let again = self.look_again(id, &node, now);
        if again.is_some_and(|found| !found.write) {
            self.schedule_check(id);
            return;
        }
        let pods = self.pods_on(id);
        let found = Found::default();
        let check = NodeCheck {
            node,
            began: now,
            attempt: now,
            stage: CheckStage::Put,
            found,
            lease: Renewal::NONE,
            reasons: Vec::new(),
            because: None,
            pods,
        };
        match again {
            Some(found) => self.attempted(id, check, found, now),
            None => self.attempt(id, check, now),
        }
    }

    /// Checks a node that was well at the last check and differs by heartbeats only; `None` for any other node.
    fn look_again(&mut self, id: NodeId, node: &Object, now: Timestamp) -> Option<Found> {
        let pass = self.next_pass() - 1;
        let own = &mut self.table[id as usize];
        let is_same = own.well.as_ref().is_some_and(|tree| same_tree(tree, node.stable()));
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
        check.lease = signs.latest();
        check.reasons = reasons;
        if found.is_silent && self.confirms_silence {
            check.stage = CheckStage::Lease;
            let call = Call::new(Verb::Get, LEASES, NODE_LEASES, &self.node(id).name);
            self.keep_check(id, check);
            self.work_items.request(Owner::NodeCheck(id), call, None, io!(self, now));
            return;
        }
        self.write_health(id, check, now);
    }

    /// Tells whether the cache of Leases is older than a Lease that was read from the server: then no node is judged.
    pub(super) fn leases_are_stale(&mut self) -> bool {
        let known = self.runtime.cache(LEASE_CACHE).resource_version();
        self.awaited_lease = self.awaited_lease.filter(|awaited| *awaited > known);
        self.awaited_lease.is_some()
    }

    /// Goes on with a silent node if its Lease on the server is the one that was saved, or if there is none.
    fn handle_lease_read(&mut self, id: NodeId, check: NodeCheck, end: End, now: Timestamp) {
        match end {
            End::Answer(RequestOutcome::NotFound) => self.write_health(id, check, now),
            End::Answer(RequestOutcome::Done(Some(lease))) => {
                let version = lease.resource_version();
                if self.node(id).signs.saved_version() == version {
                    self.write_health(id, check, now);
                } else {
                    self.awaited_lease = self.awaited_lease.max(Some(version));
                    self.skip(id, now);
                }
            }
            End::Answer(_) | End::Over(_) => self.skip(id, now),
        }
    }

    fn write_health(&mut self, id: NodeId, mut check: NodeCheck, now: Timestamp) {
        if !check.found.write {
            self.after_health(id, check, now);
            return;
        }
        let reasons = core::mem::take(&mut check.reasons);
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
            CheckStage::Lease => self.handle_lease_read(id, check, end, now),
            CheckStage::Put if end.is_well() => {
                let pass = self.next_pass() - 1;
                self.table[id as usize].signs.handle_written((&check.node, check.lease), pass);
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
            CheckStage::Pause if self.leases_are_stale() => self.skip_unseen(id, now),
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

    /// Skips a node in this pass without a look at it.
    fn skip_unseen(&mut self, id: NodeId, now: Timestamp) {
        let pass = self.next_pass() - 1;
        self.table[id as usize].signs.miss(pass, &self.passes);
        self.skip(id, now);
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
        let lingers =
            ready && (is_tainted(&check.node) || self.zones.get(&zone).is_some_and(|zone| zone.queue.is_known(id)));
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
        if !is_tainted(&check.node) {
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

    pub(super) fn decide_reachable(
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
