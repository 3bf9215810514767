//! The status of the Node: computed at each tick, posted when it changed or a report is due.
//!
//! Mirrors pkg/kubelet/kubelet_node_status.go (v1.34), `syncNodeStatus`, `tryUpdateNodeStatus` and
//! `fastNodeStatusUpdate`. The first try of a tick starts from the kubelet's own cache, so a stale cache can hide
//! foreign changes; further tries read the Node.
//! Inputs: ticks, answers. Outputs: PATCHes of the status, Events.
//! Invariant: a tick with the same inputs as the last one compares two numbers and a pointer, and nothing else.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::conditions::differ;
use super::registration::BACKOFF_FIRST;
use super::runtime_state::RUNTIME_TIMEOUT;
use super::setters::{OS_LABELS, PROVIDED_IP_ANNOTATION, StatusEvents};
use super::{ApiResult, Kubelet, KubeletContext, Purpose, Timer, failure};
use crate::components::host::{CniSource, Host};
use crate::components::{Because, DecisionId};
use crate::network::{Ask, Call, NODES};
use crate::objects::lifecycle::{is_condition_true, is_ready};
use crate::objects::patch::two_way;
use crate::objects::time::{seconds, whole_seconds};
use crate::objects::{Json, KUBELET_CONDITIONS, Object};

/// Tries per tick. Source: pkg/kubelet/kubelet.go (v1.34), `nodeStatusUpdateRetry`.
const TRIES_MAX: u8 = 5;
/// Period of the fast loop after the start. Source: pkg/kubelet/kubelet.go (v1.34), `fastStatusUpdateOnce`.
pub(super) const FAST_PERIOD: SignedDuration = SignedDuration::from_millis(100);
/// How long the fast loop runs at most. Source: pkg/kubelet/kubelet.go (v1.34), `nodeReadyGracePeriod`.
const FAST_FOR: SignedDuration = SignedDuration::from_secs(120);

/// How long after its volume plug-ins, which look for the CSINode, a kubelet starts its status loop. Without this pause
/// a restarted kubelet would report NotReady for a moment. If the Node has to be registered first, the pause before the
/// first attempt is as long. Source: seen with v1.34.4; pkg/kubelet/kubelet.go, `NewMainKubelet` and `Run`.
const FIRST_TICK_PAUSE: SignedDuration = BACKOFF_FIRST;

/// What an answer is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StatusPurpose {
    /// The Node was looked up for a try.
    Get,
    /// The status was posted.
    Patch,
    /// The fast loop posted the status.
    FastPatch,
}

/// The status loop.
#[derive(Clone, Debug)]
pub(super) struct StatusLoop {
    /// Whether the Node was created or taken over by this process.
    pub(super) is_registered: bool,
    /// The pause before the next attempt to register.
    pub(super) registration_pause: SignedDuration,
    /// The Node of the attempt under way.
    pub(super) initial: Option<Json>,
    is_busy: bool,
    tick_waits: bool,
    /// Whether the sync under way, or one after it, is beside the ticks, which it does not move.
    is_extra: bool,
    extra_waits: bool,
    /// Whether the runtime did not answer this tick's calls.
    pub(super) has_timed_out: bool,
    tries: u8,
    pub(super) last_report: Option<Timestamp>,
    /// The addresses that the Node had with the last report.
    pub(super) addresses: Json,
    pub(super) delay: SignedDuration,
    pod_cidr: Option<Json>,
    /// The tree of the Node and the generations of machine and kubelet with which the last tick found nothing to
    /// change.
    clean: Option<(Json, u64, u64)>,
}

impl Default for StatusLoop {
    fn default() -> Self {
        Self {
            is_registered: false,
            registration_pause: BACKOFF_FIRST,
            initial: None,
            is_busy: false,
            tick_waits: false,
            is_extra: false,
            extra_waits: false,
            has_timed_out: false,
            tries: 0,
            last_report: None,
            addresses: Json::Null,
            delay: SignedDuration::ZERO,
            pod_cidr: None,
            clean: None,
        }
    }
}

impl StatusLoop {
    /// Takes over when a process before posted the status, for a kubelet whose start is not part of a recording.
    pub(super) fn prefer_report(&mut self, at: Option<Timestamp>) {
        self.last_report = self.last_report.or(at);
    }

    /// Tells whether a sync is under way.
    pub(super) const fn is_syncing(&self) -> bool {
        self.is_busy
    }
}

/// Tells whether two trees of a Node are the same to the setters: the status, and the other fields that they read.
fn is_same_to_setters(known: &Json, base: &Json) -> bool {
    let read_beside: [&[&str]; 4] = [
        &["metadata", "labels"],
        &["metadata", "annotations", PROVIDED_IP_ANNOTATION],
        &["spec", "podCIDRs"],
        &["spec", "unschedulable"],
    ];
    known.is_same_allocation(base)
        || known.get("status").is_same_allocation(base.get("status"))
            && read_beside.iter().all(|path| known.at(path) == base.at(path))
}

/// The result of running the setters.
struct Computed {
    node: Json,
    is_changed: bool,
    /// Whether a post would change heartbeats alone.
    is_same: bool,
    said: StatusEvents,
}

impl Kubelet {
    /// Starts both loops.
    pub(super) fn start_status(&mut self, context: &mut KubeletContext<'_>) {
        let told = self.config.pod_cidr.clone();
        self.take_pod_cidrs(&told.split(',').filter(|cidr| !cidr.is_empty()).map(Json::from).collect(), context);
        let late = self.led_slowness();
        let (begin, is_fast_first) = (context.now + late, self.is_fast_first());
        let first = if is_fast_first { FAST_PERIOD / 2 } else { FAST_PERIOD };
        self.set(Timer::FastStatus, begin + first);
        match is_fast_first || !self.config.register_node {
            true => self.set(Timer::StatusTick, begin + FIRST_TICK_PAUSE),
            false if late.is_positive() => self.set(Timer::StatusTick, begin),
            false => self.begin_tick(context),
        }
    }

    /// Begins a tick; if one is under way, after it.
    pub(super) fn begin_tick(&mut self, context: &mut KubeletContext<'_>) {
        if self.status.is_busy {
            self.status.tick_waits = true;
            return;
        }
        self.status.is_busy = true;
        if self.config.register_node && !self.status.is_registered {
            self.await_registration(context);
        } else {
            self.begin_tries(context);
        }
    }

    /// Begins the first try of a tick, from the kubelet's own cache.
    pub(super) fn begin_tries(&mut self, context: &mut KubeletContext<'_>) {
        self.status.is_busy = true;
        self.status.tries = 0;
        if context.host.runtime.is_frozen() && !self.status.has_timed_out {
            self.set(Timer::RuntimeCall, context.now + RUNTIME_TIMEOUT);
            return;
        }
        match self.cached_node().cloned() {
            Some(base) => self.try_with(&base, context),
            None => self.try_failed(&format!("node {:?} not found", self.config.node_name), context),
        }
    }

    fn finish_tick(&mut self, context: &mut KubeletContext<'_>) {
        self.status.has_timed_out = false;
        self.status.is_busy = false;
        if core::mem::take(&mut self.status.is_extra) {
            self.begin_what_waits(context);
            return;
        }
        self.status.tick_waits = false;
        let next = context.now + self.tick_pause(context.now);
        self.set(Timer::StatusTick, next);
        self.begin_what_waits(context);
    }

    /// Syncs the status at once, beside the ticks; if a sync is under way, after it.
    pub(super) fn sync_status_now(&mut self, context: &mut KubeletContext<'_>) {
        self.status.extra_waits = true;
        if !self.status.is_busy {
            self.begin_what_waits(context);
        }
    }

    fn begin_what_waits(&mut self, context: &mut KubeletContext<'_>) {
        if core::mem::take(&mut self.status.tick_waits) {
            self.begin_tick(context);
        } else if core::mem::take(&mut self.status.extra_waits) {
            self.status.is_extra = true;
            self.begin_tries(context);
        }
    }

    /// Returns the instant from which a tick may do more than schedule the next one; `None` if the next tick may.
    pub(super) fn next_report(&self, host: &Host) -> Option<Timestamp> {
        let is_idle = !self.status.is_busy
            && !self.status.tick_waits
            && !self.status.extra_waits
            && (self.status.is_registered || !self.config.register_node)
            && self.cached_node().is_some_and(|base| self.is_clean(base, host));
        self.status.last_report.filter(|_| is_idle)?.checked_add(self.report_period()).ok()
    }

    fn report_period(&self) -> SignedDuration {
        self.config.status_report + self.status.delay
    }

    fn try_failed(&mut self, why: &str, context: &mut KubeletContext<'_>) {
        self.log(format!("Error updating node status, will retry: {why}"), context);
        self.status.tries += 1;
        if self.status.tries < TRIES_MAX {
            self.heartbeat_call(self.get_node(), None, Purpose::Status(StatusPurpose::Get), context);
        } else {
            self.log("Unable to update node status: update node status exceeds retry count".into(), context);
            self.finish_tick(context);
        }
    }

    fn is_report_due(&self, now: Timestamp) -> bool {
        self.status.last_report.is_none_or(|last| now.duration_since(last) >= self.report_period())
    }

    /// Tells whether a tick with this Node would find nothing to change, as the last one.
    fn is_clean(&self, base: &Object, host: &Host) -> bool {
        self.runtime.is_steady()
            && self.status.clean.as_ref().is_some_and(|(tree, generation, own)| {
                *generation == host.generation && *own == self.generation && is_same_to_setters(tree, base.stable())
            })
    }

    fn try_with(&mut self, base: &Object, context: &mut KubeletContext<'_>) {
        let is_due = self.is_report_due(context.now);
        if self.is_clean(base, context.host) {
            if !is_due {
                self.note_volumes_in_use(base.stable(), context);
                self.finish_tick(context);
                return;
            }
            if self.only_times_change(base, context.wall()) {
                self.status.delay = SignedDuration::ZERO;
                self.heartbeat(context);
                return;
            }
        }
        let tree = base.json();
        let computed = self.compute(&tree, context);
        self.status.clean = computed.is_same.then(|| (base.stable().clone(), context.host.generation, self.generation));
        let because = self.decide_status(&tree, &computed, context);
        self.emit_said(computed.said, because, context);
        if !computed.is_changed && !is_due {
            self.note_volumes_in_use(&tree, context);
            self.finish_tick(context);
            return;
        }
        let is_random = computed.is_changed || self.status.last_report.is_none();
        self.status.delay = if is_random { self.report_delay(context.now) } else { SignedDuration::ZERO };
        if computed.is_same && self.only_times_change(base, context.wall()) {
            self.heartbeat(context);
            return;
        }
        self.patch_status(&tree, &computed.node, because, StatusPurpose::Patch, context);
    }

    /// Tells whether a post would change heartbeat times, and them alone.
    fn only_times_change(&self, base: &Object, wall: Timestamp) -> bool {
        let stamp = Some(whole_seconds(wall));
        KUBELET_CONDITIONS.iter().all(|kind| {
            let last = base.heartbeat_time(kind);
            last.is_some() && last != stamp
        })
    }

    fn heartbeat(&mut self, context: &mut KubeletContext<'_>) {
        let ask = Ask::Heartbeat { name: self.config.node_name.clone(), at: whole_seconds(context.wall()) };
        let timeout = Some(self.config.heartbeat_timeout());
        self.send(ask, timeout, None, Purpose::Status(StatusPurpose::Patch), context);
    }

    /// Source: pkg/kubelet/kubelet_node_status.go (v1.34), `calculateDelay`: plus or minus half the frequency.
    fn report_delay(&mut self, now: Timestamp) -> SignedDuration {
        if self.settings.profile().is("node-status-report-delay") {
            let random = self.config.status_report.mul_f64(self.chance.unit() - 0.5);
            self.preferred_delay(now, self.config.status_report / 2).unwrap_or(random)
        } else {
            SignedDuration::ZERO
        }
    }

    fn compute(&mut self, base: &Json, context: &mut KubeletContext<'_>) -> Computed {
        let mut node = base.clone();
        let mut is_changed = false;
        is_changed |= self.take_pod_cidrs(base.at(&["spec", "podCIDRs"]), context);
        for (key, value) in OS_LABELS {
            if node.at(&["metadata", "labels", key]).as_str() != Some(value) {
                node.set(&["metadata", "labels", key], value);
                is_changed = true;
            }
        }
        let mut said = StatusEvents::new();
        self.set_status(&mut node, context.host, context.now, &mut said);
        is_changed |= status_differs(base, &node);
        // An annotation alone waits for the next report.
        let is_same = !is_changed && base.get("metadata") == node.get("metadata");
        Computed { node, is_changed, is_same, said }
    }

    /// Tells the runtime the blocks of addresses of the Node, if they are new. A runtime that waits for them writes the
    /// configuration of its network then.
    fn take_pod_cidrs(&mut self, cidrs: &Json, context: &mut KubeletContext<'_>) -> bool {
        if cidrs.is_empty() || self.status.pod_cidr.as_ref() == Some(cidrs) {
            return false;
        }
        self.status.pod_cidr = Some(cidrs.clone());
        if context.host.spec.cni == CniSource::WithPodCidr && context.host.is_runtime_up {
            context.host.is_cni_installed = true;
            self.note_host_change(context);
        }
        true
    }

    fn decide_status(&self, base: &Json, computed: &Computed, context: &mut KubeletContext<'_>) -> Option<DecisionId> {
        let ready = |node: &Json| {
            let found = node
                .at(&["status", "conditions"])
                .items()
                .iter()
                .find(|item| item.get("type").as_str() == Some("Ready"));
            found.cloned().unwrap_or_default()
        };
        let (before, after) = (ready(base), ready(&computed.node));
        let status = |ready: &Json| String::from(ready.get("status").as_str().unwrap_or("unset"));
        if !computed.is_changed || before.get("status") == after.get("status") {
            return None;
        }
        let mut facts = Vec::from([Because::Fact(String::from(after.get("message").as_str().unwrap_or_default()))]);
        if let Some(last) = self.status.last_report {
            facts.push(Because::Fact(format!("status last posted {} ago", seconds(context.now.duration_since(last)))));
        }
        Some(context.outbox.decide(
            self.about_node(),
            format!("Ready {} -> {}", status(&before), status(&after)),
            facts,
        ))
    }

    /// Emits the Events that the setters asked for.
    pub(super) fn emit_said(
        &mut self,
        said: StatusEvents,
        because: Option<DecisionId>,
        context: &mut KubeletContext<'_>,
    ) {
        for (kind, reason, message) in said {
            self.node_event(kind, reason, message, because, context);
        }
    }

    fn patch_status(
        &mut self,
        old: &Json,
        new: &Json,
        because: Option<DecisionId>,
        step: StatusPurpose,
        context: &mut KubeletContext<'_>,
    ) {
        let part = |node: &Json| {
            let mut part = Json::object();
            for field in ["metadata", "status"] {
                part.set(&[field], node.get(field).clone());
            }
            part
        };
        let patch = two_way(&part(old), &part(new));
        let call = Call::strategic_patch(NODES, "", &self.config.node_name, patch).subresource("status");
        let timeout = Some(self.config.heartbeat_timeout());
        self.send(Ask::Call(Box::new(call)), timeout, because, Purpose::Status(step), context);
    }

    /// Takes an answer.
    pub(super) fn handle_status(&mut self, step: StatusPurpose, outcome: ApiResult, context: &mut KubeletContext<'_>) {
        let why = failure(&outcome);
        match (step, why) {
            (StatusPurpose::Get, None) => match outcome.ok().and_then(|answer| answer.as_object().cloned()) {
                Some(base) => self.try_with(&base, context),
                None => self.try_failed("the answer holds no Node", context),
            },
            (StatusPurpose::Get, Some(why)) => {
                self.try_failed(&format!("error getting node {:?}: {why}", self.config.node_name), context);
            }
            (StatusPurpose::Patch, None) => {
                self.posted(&outcome, context);
                if let Some(node) = outcome.as_ref().ok().and_then(|answer| answer.as_object().cloned()) {
                    self.note_volumes_in_use(node.stable(), context);
                }
                self.finish_tick(context);
            }
            (StatusPurpose::Patch, Some(why)) => {
                self.try_failed(
                    &format!("failed to patch status for node {:?}: {why}", self.config.node_name),
                    context,
                );
            }
            // What the Node says of volumes the ordinary ticks read.
            (StatusPurpose::FastPatch, None) => {
                self.posted(&outcome, context);
                self.finish_fast(context);
            }
            // The cached Node is probably stale: a sync beside the ticks will read it. The fast loop has ended.
            (StatusPurpose::FastPatch, Some(_)) => {
                self.status.is_extra = true;
                self.begin_tries(context);
            }
        }
    }

    fn posted(&mut self, outcome: &ApiResult, context: &mut KubeletContext<'_>) {
        self.note_report(context.now);
        if let Some(node) = outcome.as_ref().ok().and_then(|answer| answer.as_object()) {
            self.status.addresses = node.stable().at(&["status", "addresses"]).clone();
            self.note_served_names(context);
        }
    }

    /// Checks whether the node has become ready, between the ticks of the first two minutes.
    pub(super) fn fast_tick(&mut self, context: &mut KubeletContext<'_>) {
        if context.now.duration_since(self.started) >= FAST_FOR {
            if !self.is_cached_ready() {
                self.log("Node not becoming ready in time after startup".into(), context);
            }
            return;
        }
        self.set(Timer::FastStatus, context.now + FAST_PERIOD);
        if self.status.is_busy {
            return;
        }
        let Some(base) = self.cached_node().cloned() else { return };
        if self.is_cached_ready() {
            self.clear(Timer::FastStatus);
            return;
        }
        if self.timers[Timer::RuntimePoll as usize].is_some() {
            self.poll_runtime(context);
        }
        let has_ready = |item: &Json| item.get("type").as_str() == Some("Ready");
        if !base.stable().at(&["status", "conditions"]).items().iter().any(has_ready) {
            return;
        }
        let tree = base.json();
        self.take_pod_cidrs(tree.at(&["spec", "podCIDRs"]), context);
        if !self.ready_errors(context.now).is_empty() {
            return;
        }
        let computed = self.compute(&tree, context);
        if !is_condition_true(&computed.node, "Ready") {
            return;
        }
        let because = self.decide_status(&tree, &computed, context);
        self.emit_said(computed.said, because, context);
        self.log("Fast updating node status as it just became ready".into(), context);
        self.status.is_busy = true;
        self.clear(Timer::FastStatus);
        self.patch_status(&tree, &computed.node, because, StatusPurpose::FastPatch, context);
    }

    fn finish_fast(&mut self, context: &mut KubeletContext<'_>) {
        self.status.is_busy = false;
        self.begin_what_waits(context);
    }

    fn is_cached_ready(&self) -> bool {
        self.cached_node().is_some_and(is_ready)
    }
}

/// Tells whether two Nodes differ in their status, heartbeats apart.
fn status_differs(old: &Json, new: &Json) -> bool {
    let (old, new) = (old.get("status"), new.get("status"));
    let rest = |status: &Json| {
        let mut status = status.clone();
        status.remove(&["conditions"]);
        status
    };
    differ(old.get("conditions"), new.get("conditions")) || rest(old) != rest(new)
}
