//! The eviction manager: conditions of pressure, and pods that are ended so that the node survives.
//!
//! Mirrors pkg/kubelet/eviction/eviction_manager.go (v1.34), `synchronize`: a pass each ten seconds; after an eviction
//! the manager waits for the pod to be cleaned up and passes again at once. A pass that finds nothing used is not made.
//! Inputs: what the machine measures, the pods, time. Outputs: conditions of the Node, ended pods, Events, decisions.
//! Invariants: a pass evicts one pod at most, local storage apart; critical pods are never evicted.
//! Left out on purpose: file systems of their own for images and containers, notifications of the kernel.

mod local_storage;
mod message;
mod ranking;
mod recorded;
mod signals;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use self::local_storage::Volumes;
use self::message::Cause;
use self::ranking::{Candidate, PodFigures, rank};
pub use self::recorded::{MeasuredPod, RecordedEvictions};
use self::signals::{Observation, SignalKind, is_met, observe};
use super::conditions::PRESSURES;
use super::events::{EventType, decided_about};
use super::pods::{Ending, kill_timeout};
use super::preemption::{is_critical, priority};
use super::setters::is_huge_page;
use super::thresholds::EvictionThreshold;
use super::upkeep::Upkeep;
use super::{Kubelet, KubeletContext};
use crate::chance::Chance;
use crate::components::Because;
use crate::components::host::Host;
use crate::components::next_of;
use crate::components::pod_resources::{PodLevel, requests};
use crate::objects::quantity::Quantity;
use crate::objects::{Json, Object, Text};

/// How often the manager looks. Source: pkg/kubelet/kubelet.go (v1.34), `evictionMonitoringPeriod`.
const PERIOD: SignedDuration = SignedDuration::from_secs(10);
/// How often it looks whether an evicted pod is cleaned up, and for how long. Source:
/// pkg/kubelet/eviction/eviction_manager.go (v1.34), `podCleanupPollFreq`, `podCleanupTimeout`.
const CLEANUP_POLL: SignedDuration = SignedDuration::from_secs(1);
const CLEANUP_TIMEOUT: SignedDuration = SignedDuration::from_secs(30);
/// How late a pass of a recording may be. Source: README of the recordings of kubelet 1.34.4, "Replaying".
const PASS_SLACK: SignedDuration = SignedDuration::from_millis(500);
/// The grace period, in seconds, of a pod that a hard threshold or local storage evicts. Source: as above,
/// `immediateEvictionGracePeriodSeconds`.
const IMMEDIATE_GRACE_SECONDS: i64 = 1;
/// Source: pkg/kubelet/eviction/helpers.go (v1.34), `Reason`.
pub(super) const EVICTED: &str = "Evicted";

/// What the manager does.
#[derive(Clone, Debug)]
enum Stage {
    /// It sleeps; passes follow this instant by whole periods.
    Asleep { since: Timestamp },
    /// It waits for a pod to end, and then ends the others.
    Ending { uid: Text, give_up_at: Timestamp, left: VecDeque<Eviction>, evicted: Vec<Text> },
    /// It waits for the evicted pods to be cleaned up.
    CleaningUp { evicted: Vec<Text>, give_up_at: Timestamp },
}

/// A pod that is to be evicted.
#[derive(Clone, Debug)]
struct Eviction {
    uid: Text,
    /// What it is evicted for, as the metric names it.
    signal: &'static str,
    ending: Ending,
    /// Annotations of the Event.
    annotations: Json,
}

/// The eviction manager.
#[derive(Clone, Debug)]
pub(super) struct EvictionManager {
    stage: Stage,
    /// The thresholds that are met, and since when.
    first_observed: Vec<(EvictionThreshold, Timestamp)>,
    /// Those of them whose grace period is over.
    met: Vec<EvictionThreshold>,
    /// When each condition was last observed.
    last_observed: [Option<Timestamp>; 3],
    conditions: [bool; 3],
    volumes: Volumes,
    /// How many pods were evicted, by what for.
    counts: BTreeMap<&'static str, usize>,
}

impl EvictionManager {
    /// Starts the manager. Its first pass is at `start` and finds no figures yet.
    pub(super) fn new(start: Timestamp, chance: Chance) -> Self {
        Self {
            stage: Stage::Asleep { since: start },
            first_observed: Vec::new(),
            met: Vec::new(),
            last_observed: [None; 3],
            conditions: [false; 3],
            volumes: Volumes::new(chance),
            counts: BTreeMap::new(),
        }
    }

    /// Tells whether memory, disk and process ids run short, in this order.
    pub(super) const fn conditions(&self) -> [bool; 3] {
        self.conditions
    }

    /// Tells whether another pass may change anything although nothing is used otherwise than now.
    fn is_busy(&self) -> bool {
        !self.first_observed.is_empty() || !self.met.is_empty() || self.conditions.contains(&true)
    }
}

impl Kubelet {
    /// Returns how many pods this process has evicted, by the signal or limit.
    #[must_use]
    pub const fn evictions(&self) -> &BTreeMap<&'static str, usize> {
        &self.eviction.counts
    }

    /// Tells whether a threshold is met even though nothing is used: the machine has less than that.
    pub(super) fn is_short_of_all(&self, host: &Host) -> bool {
        let met = |own: &EvictionThreshold| is_met(own, self.observe(own.signal(), host), false);
        self.config.eviction.thresholds.iter().any(met)
    }

    /// Lets the next pass be made.
    pub(super) fn await_eviction_pass(&mut self, now: Timestamp) {
        if let Stage::Asleep { since } = self.eviction.stage
            && self.upkeep.at(Upkeep::Eviction).is_none()
        {
            // The first pass finds nothing measured.
            let at = next_of(since, PERIOD, now).max(self.first_measures());
            self.set_upkeep(Upkeep::Eviction, self.led_pass(now, Timestamp::MAX).unwrap_or(at));
        }
    }

    /// Lets the first pass of a process be made that a recording shows to have found something: on a machine that is
    /// measured already.
    pub(super) fn lead_first_pass(&mut self, now: Timestamp) {
        if let Some(at) = self.led_pass(now - PERIOD / 100, now + PERIOD / 10) {
            self.set_upkeep(Upkeep::Eviction, at.max(now));
        }
    }

    /// Returns when a recording has the next pass that found something, if that is after `now` and not after `last`.
    fn led_pass(&self, now: Timestamp, last: Timestamp) -> Option<Timestamp> {
        let choices = self.choices.as_ref()?;
        choices.evictions.next_pass(now + SignedDuration::from_millis(1), last)
    }

    /// Measures a signal. The huge pages are those that the Node has, or will have.
    fn observe(&self, signal: &str, host: &Host) -> Observation {
        if !self.settings.is_gate_on("HugepageAwareEviction") {
            return observe(signal, host, &self.config, 0);
        }
        let huge_pages = match self.cached_node() {
            Some(node) => {
                let own = node.stable().at(&["status", "capacity"]).fields().filter(|(name, _)| is_huge_page(name));
                own.filter_map(|(_, amount)| Quantity::from_json(amount)).map(|amount| amount.value()).sum()
            }
            None => self.config.huge_pages().map(|(_, amount, _)| amount.value()).sum(),
        };
        observe(signal, host, &self.config, huge_pages)
    }

    /// Measures a signal, or reads what a recorded pass has measured.
    fn observed(&self, signal: &str, context: &KubeletContext<'_>) -> Observation {
        let real = self.observe(signal, context.host);
        match &self.choices {
            Some(choices) => choices.evictions.observe(SignalKind::of(signal), real, context.now),
            None => real,
        }
    }

    fn first_measures(&self) -> Timestamp {
        self.started + super::registration::BACKOFF_FIRST + PERIOD
    }

    /// Does what the manager waits for.
    pub(super) fn go_on_evicting(&mut self, context: &mut KubeletContext<'_>) {
        match &self.eviction.stage {
            Stage::Asleep { .. } => self.eviction_pass(context),
            Stage::Ending { uid, give_up_at, .. } if *give_up_at <= context.now => {
                let uid = uid.clone();
                self.give_up_ending(&uid, context);
                self.end_next(context);
            }
            Stage::Ending { .. } => {}
            Stage::CleaningUp { evicted, give_up_at } => {
                if *give_up_at <= context.now || evicted.iter().all(|uid| self.pods.has_ended(uid)) {
                    self.eviction_pass(context);
                } else {
                    self.poll_cleanup(context.now);
                }
            }
        }
    }

    /// Looks again whether the evicted pods are cleaned up. In a recording the next pass tells when they were.
    fn poll_cleanup(&mut self, now: Timestamp) {
        let at = self.led_pass(now, now + CLEANUP_POLL * 3).unwrap_or(now + CLEANUP_POLL);
        self.set_upkeep(Upkeep::Eviction, at);
    }

    /// Notes that pods may have ended for which the manager waits.
    pub(super) fn heed_ended_pods(&mut self, context: &mut KubeletContext<'_>) {
        if let Stage::Ending { uid, .. } = &self.eviction.stage
            && self.pods.has_ended(uid)
        {
            self.end_next(context);
        }
    }

    /// Makes a pass.
    fn eviction_pass(&mut self, context: &mut KubeletContext<'_>) {
        self.eviction.stage = Stage::Asleep { since: context.now };
        if !context.host.is_runtime_answering() {
            // Without the runtime nothing can be measured, and all stays as it was.
            self.set_upkeep(Upkeep::Eviction, context.now + PERIOD);
            return;
        }
        let active = self.observe_thresholds(context);
        let candidates = self.candidates(context.host);
        let left = self.over_local_limits(&candidates, context.now);
        if left.is_empty() {
            self.relieve(&active, candidates, context);
        } else {
            self.end_pods(left, context);
        }
        let is_asleep = matches!(self.eviction.stage, Stage::Asleep { .. });
        let at = context.now + PERIOD;
        if is_asleep && self.eviction.is_busy() {
            self.set_upkeep(Upkeep::Eviction, self.led_pass(context.now, at + PASS_SLACK).unwrap_or(at));
        } else if let Some(led) = self.led_pass(context.now, Timestamp::MAX).filter(|_| is_asleep) {
            self.set_upkeep(Upkeep::Eviction, led);
        }
    }

    /// Sees which thresholds are met, sets the conditions, and returns those for which pods may be evicted.
    fn observe_thresholds(&mut self, context: &mut KubeletContext<'_>) -> Vec<EvictionThreshold> {
        let now = context.now;
        let of = |own: &EvictionThreshold| self.observed(own.signal(), context);
        let all = &self.config.eviction.thresholds;
        let is_still_met = |own: &EvictionThreshold| self.eviction.met.contains(own) && is_met(own, of(own), true);
        let met = all.iter().filter(|own| is_met(own, of(own), false) || is_still_met(own));
        let since = |own: &EvictionThreshold| {
            let before = self.eviction.first_observed.iter().find(|(other, _)| other == own);
            before.map_or(now, |(_, at)| *at)
        };
        let met: Vec<(EvictionThreshold, Timestamp)> = met.map(|own| (*own, since(own))).collect();
        for (own, _) in &met {
            self.eviction.last_observed[SignalKind::of(own.signal()).condition()] = Some(now);
        }
        let facts: Vec<String> =
            met.iter().map(|(own, _)| fact_of(own, self.observed(own.signal(), context))).collect();
        let transition = self.config.eviction.transition;
        let conditions = self.eviction.last_observed.map(|at| at.is_some_and(|at| now.duration_since(at) < transition));
        self.set_pressures(conditions, &facts, context);
        self.eviction.met =
            met.iter().filter(|(own, at)| now.duration_since(*at) >= own.grace).map(|(own, _)| *own).collect();
        self.eviction.first_observed = met;
        self.eviction.met.clone()
    }

    fn set_pressures(&mut self, conditions: [bool; 3], facts: &[String], context: &mut KubeletContext<'_>) {
        let before = core::mem::replace(&mut self.eviction.conditions, conditions);
        for (pressure, (was, is)) in PRESSURES.iter().zip(before.into_iter().zip(conditions)) {
            if was == is {
                continue;
            }
            self.generation += 1;
            let why = if is {
                facts.iter().cloned().map(Because::Fact).collect()
            } else {
                let period = crate::objects::time::seconds(self.config.eviction.transition);
                Vec::from([Because::Fact(format!("no threshold was met for the transition period of {period}"))])
            };
            let what = if is { "observed" } else { "over" };
            context.outbox.decide(self.about_node(), format!("{} {what}", pressure.kind()), why);
        }
    }

    /// Returns the pods that may be evicted, with what was measured of them.
    fn candidates(&self, host: &Host) -> Vec<Candidate> {
        let candidate = |pod: Object| {
            let requested = requests(pod.stable().get("spec"), PodLevel::of(self.settings.profile()));
            Candidate {
                priority: priority(&pod).unwrap_or_default(),
                memory_request: requested.get("memory"),
                disk_request: requested.get("ephemeral-storage"),
                figures: self.figures(pod.uid(), host),
                pod,
            }
        };
        self.active_pods().into_iter().map(candidate).collect()
    }

    /// Measures a pod: nothing is known of one that has no containers yet.
    fn figures(&self, uid: &str, host: &Host) -> Option<PodFigures> {
        let sandbox = host.runtime.sandbox(uid).filter(|sandbox| !sandbox.containers.is_empty())?;
        let mut figures = PodFigures { volumes: self.eviction.volumes.of(uid).to_vec(), ..PodFigures::default() };
        figures.disk = figures.volumes.iter().map(|(_, bytes)| *bytes).sum();
        for container in sandbox.containers.iter().filter(|container| container.is_running()) {
            let uses = host.runtime.uses(sandbox, &container.name);
            figures.memory = figures.memory.saturating_add(uses.memory);
            figures.disk = figures.disk.saturating_add(uses.disk);
            figures.inodes = figures.inodes.saturating_add(uses.inodes);
            figures.pids = figures.pids.saturating_add(uses.pids);
            figures.containers.push((container.name.clone(), uses.memory, uses.disk));
        }
        Some(figures)
    }

    /// Returns the pods that write more than they may.
    fn over_local_limits(&self, candidates: &[Candidate], now: Timestamp) -> VecDeque<Eviction> {
        if !self.config.isolates_local_storage {
            return VecDeque::new();
        }
        let sidecars = self.settings.profile().is("sidecars-have-storage-limits");
        let exceeded = |own: &Candidate| match &self.choices {
            Some(choices) => local_storage::possible(own, &choices.evictions.limit(&own.pod.key(), now)?, sidecars),
            None => local_storage::exceeded(own, sidecars),
        };
        let over = candidates.iter().filter(|own| !is_critical(&own.pod)).filter_map(|own| {
            let (signal, message) = exceeded(own)?;
            let ending = Ending {
                reason: Text::of(EVICTED),
                message: Text::from(message),
                disruption: None,
                grace_seconds: Some(IMMEDIATE_GRACE_SECONDS),
                loses_containers: false,
                why: "the pod is evicted",
            };
            Some(Eviction { uid: Text::from(own.pod.uid()), signal, ending, annotations: Json::Null })
        });
        over.collect()
    }

    /// Reclaims what runs short: first what no pod needs, then a pod.
    fn relieve(
        &mut self,
        active: &[EvictionThreshold],
        mut candidates: Vec<Candidate>,
        context: &mut KubeletContext<'_>,
    ) {
        // The thresholds are in the order in which they are reclaimed, those of memory first.
        let Some(threshold) = active.iter().min_by_key(|own| own.signal) else { return };
        let observed = self.observed(threshold.signal(), context);
        let kind = SignalKind::of(threshold.signal());
        let message = format!("Attempting to reclaim {}", kind.resource());
        self.part_event(EventType::Warning, "EvictionThresholdMet", message, None, context);
        if matches!(kind, SignalKind::Disk | SignalKind::Inodes) && self.reclaim_of_node(context) {
            context.outbox.decide(self.about_node(), "pressure relieved without evictions", Vec::new());
            return;
        }
        rank(&mut candidates, kind);
        if let Some(choices) = &self.choices {
            choices.evictions.rank(&mut candidates, kind, context.now);
            for own in &mut candidates {
                own.figures = choices.evictions.figures(&own.pod.key(), kind, context.now);
            }
        }
        let Some(chosen) = candidates.iter().find(|own| !is_critical(&own.pod)) else { return };
        let cause = Cause { kind, wanted: threshold.value.quantity(observed.capacity), observed };
        let (message, annotations) = message::describe(chosen, &cause, PodLevel::of(self.settings.profile()));
        let message = Text::from(message);
        let ending = Ending {
            reason: Text::of(EVICTED),
            disruption: Some(message.clone()),
            message,
            grace_seconds: Some(self.eviction_grace(threshold, &chosen.pod)),
            loses_containers: matches!(kind, SignalKind::Disk | SignalKind::Inodes)
                || context.host.runtime.lacks_recorded_end(chosen.pod.uid()),
            why: "the pod is evicted",
        };
        let uid = Text::from(chosen.pod.uid());
        self.end_pods(VecDeque::from([Eviction { uid, signal: threshold.signal(), ending, annotations }]), context);
    }

    fn eviction_grace(&self, threshold: &EvictionThreshold, pod: &Object) -> i64 {
        if threshold.is_hard() {
            return IMMEDIATE_GRACE_SECONDS;
        }
        let longest = self.config.eviction.max_pod_grace;
        let own = pod.stable().at(&["spec", "terminationGracePeriodSeconds"]).as_i64();
        let bound = own.filter(|_| self.settings.profile().is("soft-eviction-within-pods-grace"));
        bound.map_or(longest, |own| own.min(longest)).max(1)
    }

    /// Removes ended containers and unused images; tells whether no threshold is met then.
    ///
    /// Source: pkg/kubelet/eviction/helpers.go (v1.34), `buildSignalToNodeReclaimFuncs`.
    fn reclaim_of_node(&mut self, context: &mut KubeletContext<'_>) -> bool {
        context.host.runtime.remove_ended();
        if let Some(choices) = &self.choices {
            // Which images a recorded machine has is told by the recording.
            return !choices.evictions.ranks(context.now);
        }
        self.remove_unused_images(i64::MAX, context);
        let met = |own: &EvictionThreshold| is_met(own, self.observe(own.signal(), context.host), true);
        !self.config.eviction.thresholds.iter().any(met)
    }

    /// Ends pods one after the other.
    fn end_pods(&mut self, left: VecDeque<Eviction>, context: &mut KubeletContext<'_>) {
        self.eviction.stage =
            Stage::Ending { uid: Text::default(), give_up_at: context.now, left, evicted: Vec::new() };
        self.end_next(context);
    }

    fn end_next(&mut self, context: &mut KubeletContext<'_>) {
        let Stage::Ending { uid, give_up_at, left, evicted } = &mut self.eviction.stage else { return };
        let Some(Eviction { uid: next, signal, ending, annotations }) = left.pop_front() else {
            let evicted = core::mem::take(evicted);
            self.eviction.stage = Stage::CleaningUp { evicted, give_up_at: context.now + CLEANUP_TIMEOUT };
            self.poll_cleanup(context.now);
            return;
        };
        let at = context.now + kill_timeout(ending.grace_seconds.unwrap_or_default());
        (*uid, *give_up_at) = (next.clone(), at);
        evicted.push(next.clone());
        *self.eviction.counts.entry(signal).or_default() += 1;
        self.set_upkeep(Upkeep::Eviction, at);
        if let Some(pod) = self.pods.object(&next).cloned() {
            let about = decided_about(&pod.key());
            let facts = Vec::from([Because::Fact(ending.message.trim_end().to_string())]);
            context.outbox.decide(about, "evicted by the kubelet", facts);
            let said = (EventType::Warning, EVICTED, String::from(ending.message.as_str()));
            self.annotated_pod_event(&pod, &annotations, said, context);
        }
        self.end_pod(&next, ending, context);
        self.heed_ended_pods(context);
    }
}

/// Says how far a threshold is met.
fn fact_of(threshold: &EvictionThreshold, observed: Observation) -> String {
    let wanted = threshold.value.quantity(observed.capacity);
    format!("{} is {} of at least {wanted}", threshold.signal(), observed.available)
}
