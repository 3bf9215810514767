//! Attaches volumes to the nodes whose Pods want them, and detaches those that no Pod wants any more.
//!
//! Mirrors kube-controller-manager's `persistent-volume-attach-detach-controller`
//! (pkg/controller/volume/attachdetach, v1.34) and the controller's half of the CSI plugin
//! (pkg/volume/csi/csi_attacher.go). Every 100 ms the actual state is compared with the desired one: a volume that is
//! not wanted is detached when its Node does not use it, by force six minutes later if the Node is not ready, and at
//! once if the Node is out of service; a wanted one is attached, unless another node has it. Nodes are told in
//! `volumesAttached`; drivers attach and detach when they see a VolumeAttachment.
//! Inputs: Nodes, Pods, claims, volumes, attachments, drivers, answers, time. Outputs: VolumeAttachments created and
//! deleted, patches of Nodes' statuses, reads of Nodes, Events.
//! Invariant: a round that can change nothing is not made, so that a cluster without volumes has no timer.
//! Left out on purpose: volumes of plugins other than CSI.

mod actual;
mod desired;
mod measures;
mod operations;
mod pass;
mod work;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use self::actual::ActualState;
use self::desired::DesiredState;
use self::operations::Operations;
use self::pass::Pass;
use self::work::Job;
use super::client::{CacheEvent, node_name};
use super::controller::{ApiResult, Controller, ControllerContext, ControllerRuntime, LoopInfo, Measure, Watched};
use super::volumes::{
    ATTACHMENTS, CLAIMS, CONTROLLER_ATTACHES, ClaimUsers, CsiVolume, DRIVERS, VOLUMES, attaches, bound, claim_of,
    csi_volume, has_claims, is_finished, split_unique,
};
use super::{Deadline, next_of};
use crate::chance::Chance;
use crate::json;
use crate::network::{NODES, PODS, RequestId};
use crate::objects::time::to_micro_time;
use crate::objects::{Json, Object, ObjectKey, Text};

/// Pause between two rounds. Source: attach_detach_controller.go (v1.34), `DefaultTimerConfig`,
/// `ReconcilerLoopPeriod`.
const PERIOD: SignedDuration = SignedDuration::from_millis(100);
/// How long a volume that is not wanted waits for its node to let it go. Source: attach_detach_controller.go (v1.34),
/// `DefaultTimerConfig`, `ReconcilerMaxWaitForUnmountDuration`.
const UNMOUNT_MAX: SignedDuration = SignedDuration::from_mins(6);
/// Pause between two looks for Pods that were missed. Source: attach_detach_controller.go (v1.34),
/// `DefaultTimerConfig`, `DesiredStateOfWorldPopulatorLoopSleepPeriod`.
const POPULATE_PERIOD: SignedDuration = SignedDuration::from_mins(1);
/// Pause between two looks at all Pods. Source: attach_detach_controller.go (v1.34), `DefaultTimerConfig`,
/// `DesiredStateOfWorldPopulatorListPodsRetryDuration`.
const LIST_PERIOD: SignedDuration = SignedDuration::from_mins(3);

const NODE_CACHE: usize = 0;
const POD_CACHE: usize = 1;
const CLAIM_CACHE: usize = 2;
const VOLUME_CACHE: usize = 3;
const ATTACHMENT_CACHE: usize = 4;
const DRIVER_CACHE: usize = 5;

/// What differs by flags and release.
#[derive(Clone, Copy, Debug)]
struct DetachRules {
    /// Whether a node out of service gives its volumes up at once.
    detaches_out_of_service: bool,
    /// Whether a ready node keeps its volumes after the time is over.
    spares_healthy: bool,
    /// Whether the time counts at all.
    detaches_after_time: bool,
    /// How an Event about a volume that another node has begins.
    waiting: &'static str,
    /// How it goes on where no Pod uses the volume there.
    unused: &'static str,
    /// How often attachments are checked; `None` for never.
    check_period: Option<SignedDuration>,
}

/// What a request is for.
#[derive(Clone, Debug)]
enum AttachPurpose {
    /// The pass told a Node what is attached to it.
    Report(Text),
    /// A step of an operation.
    Job(u64),
}

/// The controller; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
pub(super) struct AttachDetach {
    runtime: ControllerRuntime,
    chance: Chance,
    rules: DetachRules,
    desired: DesiredState,
    actual: ActualState,
    operations: Operations,
    jobs: BTreeMap<u64, Job>,
    last_job: u64,
    under_way: BTreeMap<RequestId, AttachPurpose>,
    users: ClaimUsers,
    pass: Option<Pass>,
    /// When it started to work; `None` before its caches are filled.
    started: Option<Timestamp>,
    /// The end of the last round: the next ones come at multiples of the period after it.
    phase: Timestamp,
    /// When the next round comes that may change something.
    tick: Option<Timestamp>,
    /// Whether something has changed since the last round.
    is_dirty: bool,
    /// Whether a Pod's wish could not be read, or a Pod may be gone unseen.
    is_unsettled: bool,
    last_list: Timestamp,
    populate_at: Option<Timestamp>,
    /// Whether an attachment that is taken to be there may be gone.
    is_doubtful: bool,
    /// How often volumes were detached by force, by reason.
    forced: BTreeMap<&'static str, u64>,
}

/// Starts the controller with empty caches.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> AttachDetach {
    let watched = [
        Watched::of(NODES),
        Watched::of(PODS),
        Watched::of(CLAIMS),
        Watched::of(VOLUMES),
        Watched::of(ATTACHMENTS),
        Watched::of(DRIVERS),
    ];
    let settings = &context.settings;
    let is_on = |row: &str| settings.value(row) == crate::profile::Value::Bool(true);
    let checks = !is_on("disable-attach-detach-reconcile-sync");
    AttachDetach {
        runtime: ControllerRuntime::new(&watched, context, now),
        chance: context.chance.fork("polls"),
        rules: DetachRules {
            detaches_out_of_service: settings.profile().is("out-of-service-nodes-give-up-volumes"),
            spares_healthy: settings.profile().is("ready-nodes-keep-volumes"),
            detaches_after_time: !is_on("disable-force-detach-on-timeout"),
            waiting: settings.profile().text("taken-volume-event"),
            unused: settings.profile().text("taken-volume-nobody-uses"),
            check_period: checks.then(|| settings.duration("attach-detach-reconcile-sync-period")),
        },
        desired: DesiredState::default(),
        actual: ActualState::default(),
        operations: Operations::default(),
        jobs: BTreeMap::new(),
        last_job: 0,
        under_way: BTreeMap::new(),
        users: ClaimUsers::default(),
        pass: None,
        started: None,
        phase: now,
        tick: None,
        is_dirty: false,
        is_unsettled: false,
        last_list: now,
        populate_at: None,
        is_doubtful: false,
        forced: BTreeMap::new(),
    }
}

/// Returns `volumesInUse` of a Node.
fn in_use(node: &Object) -> BTreeSet<Text> {
    node.stable().at(&["status", "volumesInUse"]).items().iter().filter_map(|name| name.as_text().cloned()).collect()
}

impl AttachDetach {
    fn node(&self, name: &str) -> Option<&Object> {
        self.runtime.cache(NODE_CACHE).cache().get("", name)
    }

    /// Finds the volume of a CSI driver that a Pod's volume stands for.
    ///
    /// `Err` if that is not known yet; `None` if there is nothing to attach.
    fn volume_of(&self, pod: &ObjectKey, volume: &Json) -> Result<Option<CsiVolume>, ()> {
        let Some((key, _)) = claim_of(pod, volume) else { return Ok(None) };
        let claim = self.runtime.cache(CLAIM_CACHE).get(&key).ok_or(())?;
        let found = bound(claim, |key| self.runtime.cache(VOLUME_CACHE).get(key)).ok_or(())?;
        let csi = csi_volume(found);
        Ok(csi.filter(|own| attaches(self.runtime.cache(DRIVER_CACHE).cache().get("", &own.driver))))
    }

    /// Adds or takes back what a Pod wants.
    ///
    /// Source: attachdetach/util/util.go (v1.34), `ProcessPodVolumes`.
    fn process(&mut self, pod: &Object, wants: bool) {
        let Some(node) = node_name(pod).cloned() else { return };
        if !self.desired.has_node(&node) {
            self.is_unsettled |= wants;
            return;
        }
        let key = pod.key();
        for volume in pod.stable().at(&["spec", "volumes"]).items() {
            match self.volume_of(&key, volume) {
                Err(()) => self.is_unsettled = true,
                Ok(None) => {}
                Ok(Some(volume)) if wants => self.is_dirty |= self.desired.add(&volume, &node, pod),
                Ok(Some(volume)) => self.is_dirty |= self.desired.remove(&volume.unique, &node, pod.uid()),
            }
        }
    }

    fn handle_pod_event(&mut self, event: &CacheEvent) {
        let pod = event.object();
        self.users.update(event.before.as_ref(), event.after.as_ref());
        if self.started.is_some() && has_claims(pod) {
            self.process(pod, event.after.is_some() && !is_finished(pod));
        }
    }

    /// Lets the Pods of a claim that is bound now have their volumes.
    fn handle_claim_event(&mut self, claim: &Object) {
        let tree = claim.stable();
        let is_bound =
            tree.at(&["status", "phase"]).as_str() == Some("Bound") && !tree.at(&["spec", "volumeName"]).is_empty();
        if !is_bound {
            return;
        }
        let pods: Vec<Object> =
            self.users.of(&claim.key()).filter_map(|key| self.runtime.cache(POD_CACHE).get(key)).cloned().collect();
        for pod in pods.iter().filter(|pod| !is_finished(pod)) {
            self.process(pod, true);
        }
    }

    fn handle_node_event(&mut self, event: &CacheEvent) {
        let node = event.object();
        let name = Text::from(node.name());
        if event.after.is_some() {
            if !node.stable().at(&["metadata", "annotations", CONTROLLER_ATTACHES]).is_null() {
                self.desired.add_node(&name);
            }
            self.actual.set_in_use(&name, in_use(node));
            if event.before.is_none() {
                self.actual.report_again(&name);
            }
        } else {
            self.desired.remove_node(&name);
            self.actual.set_in_use(&name, in_use(node));
        }
        self.is_dirty |= self.actual.all().next().is_some();
    }

    /// Notes that volumes of a driver have to be attached now, or do so no longer.
    fn handle_driver_event(&mut self, event: &CacheEvent) {
        self.is_unsettled |= attaches(event.before.as_ref()) != attaches(event.after.as_ref());
    }

    /// Notes whether an attachment that is taken to be there may be gone.
    fn handle_attachment_event(&mut self, event: &CacheEvent) {
        let is_there = |object: &Object| object.stable().at(&["status", "attached"]).as_bool() == Some(true);
        let was = event.before.as_ref().is_some_and(is_there);
        self.is_doubtful |= was && !event.after.as_ref().is_some_and(is_there);
    }

    /// Begins to work, when all caches are filled.
    ///
    /// Source: attach_detach_controller.go (v1.34), `populateActualStateOfWorld`, `processVolumeAttachments`,
    /// `populateDesiredStateOfWorld`.
    fn begin(&mut self, now: Timestamp) {
        self.started = Some(now);
        let nodes: Vec<Object> = self.runtime.cache(NODE_CACHE).objects().cloned().collect();
        for node in &nodes {
            let name = Text::from(node.name());
            for volume in node.stable().at(&["status", "volumesAttached"]).items() {
                if let Some(unique) = volume.get("name").as_text() {
                    self.actual.mark(unique, &name, None, true);
                }
            }
            self.actual.set_in_use(&name, in_use(node));
            if !node.stable().at(&["metadata", "annotations", CONTROLLER_ATTACHES]).is_null() {
                self.desired.add_node(&name);
            }
        }
        let attachments: Vec<Object> = self.runtime.cache(ATTACHMENT_CACHE).objects().cloned().collect();
        for attachment in &attachments {
            let spec = attachment.stable().get("spec");
            let node = spec.get("nodeName").as_text().cloned().unwrap_or_default();
            let name = spec.at(&["source", "persistentVolumeName"]).as_str().unwrap_or("");
            let Some(volume) = self.runtime.cache(VOLUME_CACHE).cache().get("", name).and_then(csi_volume) else {
                continue;
            };
            if self.actual.get(&volume.unique, &node).is_none() {
                self.actual.mark(&volume.unique.clone(), &node, Some(volume), false);
            }
        }
        let pods: Vec<Object> =
            self.runtime.cache(POD_CACHE).objects().filter(|pod| has_claims(pod)).cloned().collect();
        for pod in &pods {
            self.process(pod, !is_finished(pod));
            let Some(node) = node_name(pod).cloned() else { continue };
            for volume in pod.stable().at(&["spec", "volumes"]).items() {
                if let Ok(Some(volume)) = self.volume_of(&pod.key(), volume)
                    && self.actual.get(&volume.unique, &node).is_some_and(|own| own.is_confirmed)
                {
                    self.actual.mark(&volume.unique.clone(), &node, Some(volume), true);
                }
            }
        }
        self.last_list = now;
        self.is_dirty = true;
        self.phase = now - PERIOD;
    }

    /// Looks for Pods that were missed, and for volumes that need not be attached any more.
    ///
    /// Source: populator/desired_state_of_world_populator.go (v1.34).
    fn populate(&mut self, now: Timestamp) {
        self.is_unsettled = false;
        for (unique, node, pod) in self.desired.wishes() {
            let cached = self.runtime.cache(POD_CACHE).get(&pod.key());
            let wants = cached.is_some_and(|own| own.uid() == pod.uid() && !is_finished(own));
            let driver = split_unique(&unique).map_or("", |(driver, _)| driver);
            if !wants || !attaches(self.runtime.cache(DRIVER_CACHE).cache().get("", driver)) {
                self.is_dirty |= self.desired.remove(&unique, &node, pod.uid());
            }
        }
        if now.duration_since(self.last_list) < LIST_PERIOD {
            self.is_unsettled = true;
            return;
        }
        self.last_list = now;
        let pods: Vec<Object> =
            self.runtime.cache(POD_CACHE).objects().filter(|pod| has_claims(pod)).cloned().collect();
        for pod in pods.iter().filter(|pod| !is_finished(pod)) {
            self.process(pod, true);
        }
    }

    /// Returns the first round at or after an instant.
    fn round_at(&self, instant: Timestamp) -> Timestamp {
        let since = instant.duration_since(self.phase).as_nanos().max(1);
        let rounds = since.div_euclid(PERIOD.as_nanos()) + i128::from(since.rem_euclid(PERIOD.as_nanos()) > 0);
        let nanos = rounds.max(1) * PERIOD.as_nanos();
        self.phase + SignedDuration::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
    }

    /// Returns the first round after an instant.
    fn round_after(&self, instant: Timestamp) -> Timestamp {
        self.round_at(instant + SignedDuration::from_nanos(1))
    }

    /// Returns the next instant at which attachments are checked.
    fn next_check(&self, now: Timestamp) -> Option<Timestamp> {
        let (start, period) = (self.started?, self.rules.check_period? + PERIOD);
        Some(next_of(start, period, now))
    }

    /// Finds out when the next round may change something, and when Pods are looked for.
    fn plan(&mut self, now: Timestamp) {
        let Some(started) = self.started else { return };
        if self.is_unsettled && self.populate_at.is_none() {
            self.populate_at = Some(next_of(started, POPULATE_PERIOD, now));
        }
        if self.pass.is_some() {
            self.tick = None;
            return;
        }
        let mut next = self.is_dirty.then(|| self.round_at(now));
        let mut note = |at: Timestamp| next = Some(next.map_or(at, |before: Timestamp| before.min(at)));
        if self.rules.detaches_after_time {
            let ends = self.actual.all().filter_map(|(_, own)| own.detach_since).map(|since| since + UNMOUNT_MAX);
            for end in ends.filter(|end| *end >= self.phase) {
                note(self.round_after(end));
            }
        }
        // An end that the last round has not seen is waited for, however much else comes before the next.
        for end in self.operations.pauses().filter(|end| *end >= self.phase) {
            note(self.round_after(end));
        }
        if self.is_doubtful
            && let Some(check) = self.next_check(self.phase)
        {
            note(self.round_at(check.max(now)));
        }
        self.tick = next;
    }

    fn show(&self) -> Json {
        let each = self.actual.all().map(|((unique, node), own)| {
            let mut shown = json!({
                "volume": unique.as_str(), "node": node.as_str(), "confirmed": own.is_confirmed,
                "wanted": self.desired.wants(unique, node), "inUse": self.actual.is_in_use(unique, node),
            });
            if let Some(since) = own.detach_since {
                shown.set(&["detachSince"], to_micro_time(since));
            }
            shown
        });
        each.collect()
    }
}

impl Controller for AttachDetach {
    fn runtime(&self) -> &ControllerRuntime {
        &self.runtime
    }

    fn runtime_mut(&mut self) -> &mut ControllerRuntime {
        &mut self.runtime
    }

    fn handle_event(&mut self, source: usize, event: &CacheEvent, _: Timestamp) {
        match (source, &event.after) {
            (POD_CACHE, _) => self.handle_pod_event(event),
            _ if self.started.is_none() => {}
            (NODE_CACHE, _) => self.handle_node_event(event),
            (CLAIM_CACHE, Some(claim)) => self.handle_claim_event(claim),
            (ATTACHMENT_CACHE, _) => self.handle_attachment_event(event),
            (DRIVER_CACHE, _) => self.handle_driver_event(event),
            _ => {}
        }
    }

    fn handle_reply(&mut self, id: RequestId, reply: &ApiResult, now: Timestamp) {
        match self.under_way.remove(&id) {
            Some(AttachPurpose::Report(node)) => self.reported(&node, reply, now),
            Some(AttachPurpose::Job(job)) => self.continue_job(job, reply, now),
            None => {}
        }
    }

    fn work(&mut self, now: Timestamp) {
        if self.started.is_none() && self.runtime.is_synced() {
            self.begin(now);
            self.plan(now);
        }
        self.poll_jobs(now);
        if self.populate_at.is_some_and(|at| at <= now) {
            self.populate_at = None;
            self.populate(now);
        }
        if self.pass.is_none() && self.tick.is_some_and(|at| at <= now) {
            self.begin_pass(now);
        }
        self.plan(now);
    }

    fn own_deadline(&self) -> Option<Deadline> {
        let tick = self.tick.map(|at| Deadline { at, reason: "attach and detach volumes" });
        let populate = self.populate_at.map(|at| Deadline { at, reason: "look for Pods with volumes" });
        super::earliest([tick, populate, self.next_poll()])
    }

    fn loops(&self) -> Vec<LoopInfo> {
        Vec::from([LoopInfo { name: "reconcile", period: PERIOD, next: self.tick }])
    }

    fn details(&self, _: Timestamp) -> Vec<(&'static str, Json)> {
        let counts: Json = self.forced.iter().fold(Json::object(), |mut all, (reason, count)| {
            all.set(&[reason], i64::try_from(*count).unwrap_or(i64::MAX));
            all
        });
        Vec::from([
            ("attachments", self.show()),
            ("wanted", Json::Int(i64::try_from(self.desired.len()).unwrap_or(i64::MAX))),
            ("forcedDetaches", counts),
        ])
    }

    fn measures(&self) -> Vec<Measure> {
        self.measured()
    }

    fn run_once(&mut self, name: &str, now: Timestamp) -> bool {
        if name != "reconcile" || self.started.is_none() || self.pass.is_some() {
            return false;
        }
        self.begin_pass(now);
        self.plan(now);
        true
    }
}
