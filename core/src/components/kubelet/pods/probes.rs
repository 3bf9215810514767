//! The probes of a container: when they ask, what they have found, and when somebody has to look at them again.
//!
//! Mirrors pkg/kubelet/prober/worker.go and prober_manager.go (v1.34). Pure. Inputs: the container's specification, how
//! well its process is, when its probes look first, time. Outputs: what the probes that were due have found, the next
//! instant at which one finds something to tell. Invariant: a probe that finds a healthy process healthy again needs no
//! wake-up.

use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::probe_starts::{FIRST_ANSWER, FoundAs, ProbeStart, Unseen};
use crate::components::host::ContainerBehaviour;
use crate::components::host::runtime::CommandEnd;
use crate::objects::Json;

/// What a probe is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ProbeKind {
    /// Whether the process has started; before, no other probe asks.
    Startup,
    /// Whether it can serve.
    Readiness,
    /// Whether it has to be started again.
    Liveness,
}

impl ProbeKind {
    /// All kinds, in the order in which the kubelet makes them.
    const ALL: [Self; 3] = [Self::Startup, Self::Readiness, Self::Liveness];

    /// Returns its field in the specification of a container.
    pub(super) const fn field(self) -> &'static str {
        match self {
            Self::Startup => "startupProbe",
            Self::Readiness => "readinessProbe",
            Self::Liveness => "livenessProbe",
        }
    }

    /// Returns its name in messages: `Readiness`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Startup => "Startup",
            Self::Readiness => "Readiness",
            Self::Liveness => "Liveness",
        }
    }
}

/// Between which instants a process answers its probes as it should.
#[derive(Clone, Copy, Debug)]
pub(super) struct Health {
    /// From when on it is well.
    well_at: Timestamp,
    /// From when on its readiness probe fails.
    unready_at: Timestamp,
    /// From when on its liveness probe fails.
    dead_at: Timestamp,
}

impl Health {
    /// Returns how well a process is that started at an instant.
    pub(super) fn of(behaviour: &ContainerBehaviour, started_at: Timestamp) -> Self {
        let after = |span: Option<SignedDuration>| {
            span.and_then(|span| started_at.checked_add(span).ok()).unwrap_or(Timestamp::MAX)
        };
        Self {
            well_at: after(behaviour.ready_delay()),
            unready_at: after(behaviour.fails_readiness_after.and_then(|after| after.delay())),
            dead_at: after(behaviour.fails_liveness_after.and_then(|after| after.delay())),
        }
    }

    /// Returns between which instants a probe succeeds that asks the process.
    const fn span(&self, kind: ProbeKind) -> (Timestamp, Timestamp) {
        match kind {
            ProbeKind::Startup => (self.well_at, Timestamp::MAX),
            ProbeKind::Readiness => (self.well_at, self.unready_at),
            ProbeKind::Liveness => (Timestamp::MIN, self.dead_at),
        }
    }

    /// Tells whether a process is ready that no probe asks.
    fn is_ready(&self, at: Timestamp) -> bool {
        let (from, until) = self.span(ProbeKind::Readiness);
        from <= at && at < until
    }
}

/// What a probe that has asked makes known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ProbeFinding {
    /// Which one.
    pub(super) kind: ProbeKind,
    /// Whether this time it failed.
    pub(super) has_failed: bool,
    /// What it has found by its thresholds, if that is something else than before.
    pub(super) verdict: Option<bool>,
    /// Whether the container does not count as well any more, since this is the first look at it.
    pub(super) is_void: bool,
}

impl ProbeFinding {
    /// Tells whether the container is something else now.
    pub(super) const fn changes(&self) -> bool {
        self.verdict.is_some() || self.is_void
    }
}

/// One probe of a container.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Probe {
    kind: ProbeKind,
    period: SignedDuration,
    delay_seconds: i64,
    /// What its command always finds, if that can be read from it.
    always: Option<bool>,
    successes: u32,
    failures: u32,
    /// When it looks first.
    begins_at: Timestamp,
    /// The next tick.
    tick: Timestamp,
    /// When the first look at a container that was there before is answered.
    answer_at: Option<Timestamp>,
    /// The look that a sync wanted while there was none yet: it follows the next one, and a period begins with it, or
    /// none for zero.
    again: Option<SignedDuration>,
    /// What the container counts as until something was found.
    unseen: Option<Unseen>,
    /// What it found last, and how often in a row.
    last: Option<bool>,
    run: u32,
    /// What it has found by its thresholds.
    verdict: Option<bool>,
    /// Whether it asks nothing any more.
    is_on_hold: bool,
}

impl Probe {
    /// Reads a probe.
    ///
    /// Source: pkg/apis/core/v1/defaults.go (v1.34), `SetDefaults_Probe`.
    fn read(kind: ProbeKind, container: &Json, start: &ProbeStart<'_>) -> Option<Self> {
        let spec = container.get(kind.field());
        let number = |field: &str, default: i64| spec.get(field).as_i64().filter(|own| *own > 0).unwrap_or(default);
        let times = |field, default| u32::try_from(number(field, default)).unwrap_or(u32::MAX);
        let verdict = match kind {
            ProbeKind::Startup => None,
            ProbeKind::Readiness => Some(false),
            ProbeKind::Liveness => Some(true),
        };
        let period = SignedDuration::from_secs(number("periodSeconds", 10));
        let begins_at = spec.is_object().then(|| start.first_look(container, kind, period))?;
        Some(Self {
            kind,
            period,
            delay_seconds: number("initialDelaySeconds", 0),
            always: CommandEnd::of_handler(spec).map(|end| end.exit_code == 0 && !is_too_slow(spec, end)),
            successes: times("successThreshold", 1),
            failures: times("failureThreshold", 3),
            begins_at,
            tick: begins_at,
            answer_at: None,
            again: None,
            unseen: None,
            last: None,
            run: 0,
            verdict,
            is_on_hold: false,
        })
    }

    /// Returns the first tick at an instant or later.
    fn tick_from(&self, at: Timestamp) -> Timestamp {
        let (tick, period) = (self.tick.as_nanosecond(), self.period.as_nanos());
        let late = (at.as_nanosecond() - tick).max(0);
        let passed = (late + period - 1) / period;
        Timestamp::from_nanosecond(tick + passed * period).unwrap_or(Timestamp::MAX)
    }

    /// Returns between which instants it succeeds.
    fn span(&self, health: &Health) -> (Timestamp, Timestamp) {
        match self.always {
            Some(true) => (Timestamp::MIN, Timestamp::MAX),
            Some(false) => (Timestamp::MAX, Timestamp::MAX),
            None => health.span(self.kind),
        }
    }

    /// Tells whether it succeeds at an instant.
    fn succeeds(&self, health: &Health, at: Timestamp) -> bool {
        let (from, until) = self.span(health);
        from <= at && at < until
    }

    /// Tells whether asking a healthy process once more would change nothing.
    fn is_settled(&self) -> bool {
        self.last == Some(true) && self.verdict == Some(true)
    }

    /// Returns what the container counts as.
    fn counted(&self) -> Option<bool> {
        self.unseen.map_or(self.verdict, |unseen| Some(unseen.is_well()))
    }

    /// Tells whether it has to look for the first time at a container that was there before.
    fn looks_first(&self) -> bool {
        self.unseen.is_some_and(Unseen::is_void_at_first)
    }

    /// Looks for the first time: what the container counted as is void.
    ///
    /// Source: pkg/kubelet/prober/worker.go (v1.34), `newWorker` and `doProbe`, `initialValue`.
    fn look_first(&mut self) -> Option<ProbeFinding> {
        let was_well = self.unseen.take().is_some_and(Unseen::is_well);
        self.verdict = (self.kind == ProbeKind::Readiness).then_some(false);
        was_well.then_some(ProbeFinding { kind: self.kind, has_failed: false, verdict: None, is_void: true })
    }

    /// Asks, and counts.
    fn ask(&mut self, is_well: bool) -> ProbeFinding {
        self.run = if self.last == Some(is_well) { self.run.saturating_add(1) } else { 1 };
        self.last = Some(is_well);
        let before = self.counted();
        if self.run >= if is_well { self.successes } else { self.failures } {
            (self.verdict, self.unseen) = (Some(is_well), None);
            if self.kind == ProbeKind::Startup || self.kind == ProbeKind::Liveness && !is_well {
                (self.is_on_hold, self.run) = (true, 0);
            }
        }
        let verdict = self.verdict.filter(|_| self.verdict != before);
        ProbeFinding { kind: self.kind, has_failed: !is_well, verdict, is_void: false }
    }
}

/// The probes of one run of a container.
#[derive(Clone, Debug)]
pub(in crate::components::kubelet) struct Probes {
    started_at: Timestamp,
    health: Health,
    /// Whether it is ready, if it has no readiness probe.
    is_ready: bool,
    /// Whether its pod was told to end: only readiness is still asked for.
    is_ending: bool,
    /// Whether no probe was ever made: its pod had to end when the kubelet saw it.
    is_unasked: bool,
    list: Vec<Probe>,
}

impl Probes {
    /// Makes the probes of a process that started at an instant; they have ticked since its pod was first synced.
    pub(super) fn new(container: &Json, health: Health, start: &ProbeStart<'_>, started_at: Timestamp) -> Self {
        let read = |kind| Probe::read(kind, container, start);
        let mut list: Vec<Probe> = ProbeKind::ALL.into_iter().filter_map(read).collect();
        for probe in &mut list {
            probe.tick = probe.tick_from(after(started_at));
        }
        let is_ready = health.is_ready(started_at);
        Self { started_at, health, is_ready, is_ending: false, is_unasked: false, list }
    }

    /// Goes on from the run of its container before: what was counted then still counts, and the ticks stay the same.
    ///
    /// Source: pkg/kubelet/prober/worker.go (v1.34), `doProbe`: another container id resets neither.
    pub(super) fn going_on(mut self, before: Option<&Self>) -> Self {
        for probe in &mut self.list {
            let Some(own) = before.and_then(|before| before.of(probe.kind)) else { continue };
            (probe.last, probe.run, probe.tick) = (own.last, own.run, own.tick);
            probe.tick = probe.tick_from(after(self.started_at));
        }
        self
    }

    /// Takes a process that was there before the kubelet for something. In a pod that has to end nobody asks it.
    ///
    /// Source: pkg/kubelet/kubelet.go (v1.34), `SyncTerminatingPod`, which makes no probes.
    pub(super) fn adopted(mut self, (found, is_ending): (FoundAs, bool), now: Timestamp) -> Self {
        self.is_unasked = is_ending && found != FoundAs::Recorded;
        self.is_ready = self.health.is_ready(now);
        for probe in &mut self.list {
            probe.tick = probe.begins_at;
            match (found, probe.kind) {
                (FoundAs::Recorded, kind) => {
                    probe.tick = probe.tick_from(after(now));
                    if probe.succeeds(&self.health, now) {
                        (probe.last, probe.run, probe.verdict) = (Some(true), probe.successes, Some(true));
                        probe.is_on_hold = kind == ProbeKind::Startup;
                    }
                }
                (_, ProbeKind::Liveness) => {}
                (FoundAs::Unknown, _) => (probe.verdict, probe.unseen) = (None, Some(Unseen::Untold)),
                (FoundAs::Before { .. }, ProbeKind::Startup) => (probe.verdict, probe.is_on_hold) = (Some(true), true),
                (FoundAs::Before { is_ready }, ProbeKind::Readiness) => {
                    (probe.verdict, probe.unseen) = (None, Some(Unseen::Kept(is_ready)));
                }
            }
        }
        self
    }

    /// Returns the last instant at which a probe has not looked yet for the first time at what was there before.
    pub(super) fn unseen_until(&self) -> Option<Timestamp> {
        self.list.iter().filter(|probe| probe.looks_first()).map(|probe| probe.begins_at).max()
    }

    /// Notes another sync of its pod, with what the API says of the pod; tells whether the container counts as
    /// something else with that.
    pub(super) fn note_sync(&mut self, is_pod_ready: bool) -> bool {
        let before = (self.has_started_up(), self.is_ready());
        let is_unasked = self.is_unasked;
        let unseen = self.list.iter_mut().filter_map(|probe| probe.unseen.as_mut());
        for unseen in unseen.filter(|unseen| !is_unasked || **unseen != Unseen::Untold) {
            *unseen = unseen.synced(is_pod_ready);
        }
        before != (self.has_started_up(), self.is_ready())
    }

    /// Tells whether something was not looked at yet.
    pub(super) fn is_unseen(&self) -> bool {
        self.list.iter().any(|probe| probe.unseen.is_some())
    }

    /// Notes that its process is well at other times than before; what was asked before stays as it was found.
    pub(super) fn note_health(&mut self, health: Health, now: Timestamp) {
        self.health = health;
        for probe in &mut self.list {
            probe.tick = probe.tick_from(now);
        }
    }

    /// Notes that its pod is told to end.
    ///
    /// Source: pkg/kubelet/kubelet.go (v1.34), `SyncTerminatingPod`, `StopLivenessAndStartup`.
    pub(super) const fn note_end(&mut self) {
        self.is_ending = true;
    }

    fn of(&self, kind: ProbeKind) -> Option<&Probe> {
        self.list.iter().find(|probe| probe.kind == kind)
    }

    /// Tells whether its startup probe does not hold it back.
    pub(super) fn has_started_up(&self) -> bool {
        self.of(ProbeKind::Startup).is_none_or(|probe| probe.counted() == Some(true))
    }

    /// Tells whether it is ready by its readiness probe; one without is so while it is well.
    pub(super) fn is_ready(&self) -> bool {
        self.of(ProbeKind::Readiness).map_or(self.is_ready, |probe| probe.counted() == Some(true))
    }

    /// Tells whether its process listens at all.
    pub(super) fn listens(&self, now: Timestamp) -> bool {
        self.health.well_at <= now
    }

    /// Tells whether a probe has stopped, since its pod ends, or was never made.
    fn has_stopped(&self, probe: &Probe) -> bool {
        self.is_unasked || self.is_ending && probe.kind != ProbeKind::Readiness
    }

    /// Tells whether a probe asks nothing for now: it has found what it is for, or waits for the startup probe.
    fn is_held(&self, probe: &Probe) -> bool {
        self.has_stopped(probe) || probe.is_on_hold || (probe.kind == ProbeKind::Startup) == self.has_started_up()
    }

    /// Returns when a probe may ask first: the status that it looks at has whole seconds.
    fn first_at(&self, probe: &Probe) -> Timestamp {
        let seconds = self.started_at.as_second().saturating_add(probe.delay_seconds);
        Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX)
    }

    /// Returns the next instant at which there is something to tell.
    pub(super) fn next(&self, now: Timestamp) -> Option<Timestamp> {
        let asked = self.list.iter().filter_map(|probe| self.next_of(probe));
        let by_itself = self.changes_by_itself().then(|| self.next_change(now)).flatten();
        asked.chain(by_itself).filter(|at| *at < Timestamp::MAX).min()
    }

    /// Returns when a probe finds something to tell.
    fn next_of(&self, probe: &Probe) -> Option<Timestamp> {
        let tick = probe.tick_from(self.first_at(probe));
        match probe.span(&self.health) {
            _ if self.has_stopped(probe) => None,
            _ if probe.looks_first() => Some(probe.tick),
            _ if probe.answer_at.is_some() => probe.answer_at,
            _ if self.is_held(probe) => None,
            (_, until) if probe.is_settled() && probe.succeeds(&self.health, tick) => Some(probe.tick_from(until)),
            _ => Some(tick),
        }
    }

    /// Tells whether it becomes ready, or unready, without being asked.
    fn changes_by_itself(&self) -> bool {
        !self.is_ending && self.of(ProbeKind::Readiness).is_none()
    }

    /// Returns when a container without a readiness probe will be ready, or will not be any more.
    fn next_change(&self, now: Timestamp) -> Option<Timestamp> {
        if self.health.is_ready(now) != self.is_ready {
            return Some(now);
        }
        let (from, until) = self.health.span(ProbeKind::Readiness);
        [from, until].into_iter().filter(|at| *at > now).min()
    }

    /// Lets the probes ask whose tick has come.
    pub(super) fn run_due(&mut self, now: Timestamp) -> Vec<ProbeFinding> {
        let mut found = Vec::new();
        // What one finds counts for the others from their next tick on.
        let asks = |probe: &Probe| !self.is_held(probe) && now >= self.first_at(probe);
        let looks_first = |probe: &Probe| probe.looks_first() && !self.has_stopped(probe);
        // The ticks of which nothing was to be told have passed without a wake-up.
        let ticks = |probe: &Probe| {
            probe.tick <= now && probe.tick_from(now) == now || self.next_of(probe).is_some_and(|at| at <= now)
        };
        let due = self.list.iter().map(|probe| (ticks(probe), asks(probe), looks_first(probe)));
        let due: Vec<(bool, bool, bool)> = due.collect();
        for (probe, (is_due, asks, looks_first)) in self.list.iter_mut().zip(due) {
            probe.tick = probe.tick_from(after(now));
            if is_due && looks_first {
                found.extend(probe.look_first());
                probe.answer_at = asks.then(|| now.checked_add(FIRST_ANSWER).unwrap_or(Timestamp::MAX));
                continue;
            }
            let is_answered = probe.answer_at.take_if(|at| *at <= now).is_some();
            if probe.answer_at.is_some() || !is_due && !is_answered {
                continue;
            }
            let again = probe.again.take();
            if is_due && asks || is_answered {
                let is_well = probe.succeeds(&self.health, now);
                found.push(probe.ask(is_well));
                // One more time it would only find the same; twice in a row counts.
                found.extend(again.filter(|_| !is_well).map(|_| probe.ask(is_well)));
            }
            if let Some(period) = again.filter(|period| *period > SignedDuration::ZERO) {
                probe.tick = now.checked_add(period).unwrap_or(Timestamp::MAX);
            }
        }
        let is_ready = self.health.is_ready(now);
        if self.changes_by_itself() && is_ready != self.is_ready {
            self.is_ready = is_ready;
            let verdict = Some(is_ready);
            found.push(ProbeFinding { kind: ProbeKind::Readiness, has_failed: false, verdict, is_void: false });
        }
        found
    }

    /// Lets the readiness probe of a container that is not ready ask at once, as each sync of its pod does.
    ///
    /// Source: pkg/kubelet/prober/prober_manager.go (v1.34), `UpdatePodStatus`.
    pub(super) fn run_at_once(&mut self, restarts_period: bool, now: Timestamp) -> Option<ProbeFinding> {
        let at = self.list.iter().position(|probe| probe.kind == ProbeKind::Readiness)?;
        let probe = &self.list[at];
        if self.is_held(probe) || probe.counted() == Some(true) {
            return None;
        }
        let asks = now >= self.first_at(probe);
        let probe = &mut self.list[at];
        if now < probe.begins_at || probe.looks_first() || probe.answer_at.is_some() {
            probe.again = Some(if restarts_period { probe.period } else { SignedDuration::ZERO });
            return None;
        }
        if restarts_period {
            probe.tick = now.checked_add(probe.period).unwrap_or(Timestamp::MAX);
        }
        asks.then(|| probe.ask(probe.succeeds(&self.health, now)))
    }
}

/// Returns for how many seconds a probe waits for an answer.
///
/// Source: pkg/apis/core/v1/defaults.go (v1.34), `SetDefaults_Probe`.
pub(super) fn timeout_seconds(probe: &Json) -> i64 {
    probe.get("timeoutSeconds").as_i64().filter(|seconds| *seconds > 0).unwrap_or(1)
}

/// Tells whether the command of a probe has not ended when its time is over.
pub(super) fn is_too_slow(probe: &Json, end: CommandEnd) -> bool {
    end.takes.is_none_or(|takes| takes >= SignedDuration::from_secs(timeout_seconds(probe)))
}

/// Returns the instant after an instant.
fn after(at: Timestamp) -> Timestamp {
    at.checked_add(SignedDuration::from_nanos(1)).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use jiff::{SignedDuration, Timestamp};

    use super::{FIRST_ANSWER, FoundAs, Health, ProbeKind, ProbeStart, Probes};
    use crate::components::host::{After, ContainerBehaviour};
    use crate::json;
    use crate::objects::Json;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    fn seen_at(seconds: i64) -> ProbeStart<'static> {
        ProbeStart { started: at(0), seen_at: at(seconds), pauses: None }
    }

    fn told(ready: i64, unready: Option<i64>, dead: Option<i64>) -> ContainerBehaviour {
        let after = |seconds| After::Delay(SignedDuration::from_secs(seconds));
        ContainerBehaviour {
            ready_after: Some(after(ready)),
            fails_readiness_after: unready.map(after),
            fails_liveness_after: dead.map(after),
            ..ContainerBehaviour::default()
        }
    }

    /// Plays the probes of a container whose pod is seen at 0 s, at each of their deadlines, with the probe at once of
    /// the sync at its start and of each further one: what was found, at which second.
    fn play(
        container: &Json,
        behaviour: &ContainerBehaviour,
        started: i64,
        until: i64,
    ) -> Vec<(i64, char, Option<bool>)> {
        let mut probes = Probes::new(container, Health::of(behaviour, at(started)), &seen_at(0), at(started));
        let mut told = Vec::new();
        let mut now = at(started);
        loop {
            let mut found = probes.run_due(now);
            let is_sync = now == at(started) || found.iter().any(|found| found.verdict.is_some());
            found.extend(is_sync.then(|| probes.run_at_once(true, now)).flatten());
            for found in found {
                let kind = match found.kind {
                    ProbeKind::Startup => 's',
                    ProbeKind::Readiness => 'r',
                    ProbeKind::Liveness => 'l',
                };
                if found.has_failed || found.verdict.is_some() {
                    told.push((now.as_second(), kind, found.verdict));
                }
            }
            match probes.next(now) {
                Some(next) if next <= at(until) => {
                    assert!(next > now, "{next} {probes:?}");
                    now = next;
                }
                _ => return told,
            }
        }
    }

    fn ready_at(container: &Json, started: i64, ready: i64) -> Option<i64> {
        let all = play(container, &told(ready, None, None), started, 1000);
        all.into_iter().find(|(_, kind, verdict)| *kind == 'r' && *verdict == Some(true)).map(|(at, ..)| at)
    }

    #[test]
    fn a_probe_succeeds_at_its_ticks() {
        let probed = |startup: Json, readiness: Json| json!({"startupProbe": startup, "readinessProbe": readiness});
        assert_eq!(ready_at(&json!({}), 3, 4), Some(7));
        // At once, if the process is well; else a period later.
        assert_eq!(ready_at(&probed(Json::Null, json!({})), 3, 0), Some(3));
        assert_eq!(ready_at(&probed(Json::Null, json!({})), 3, 1), Some(13));
        let late = probed(Json::Null, json!({"initialDelaySeconds": 5, "periodSeconds": 3}));
        assert_eq!(ready_at(&late, 3, 0), Some(9));
        assert_eq!(ready_at(&probed(Json::Null, json!({"periodSeconds": 4, "successThreshold": 3})), 3, 0), Some(11));
        // As many as never come.
        let never = json!({"periodSeconds": i32::MAX, "successThreshold": i32::MAX});
        assert_eq!(ready_at(&probed(Json::Null, never), 3, 0), None);
        // Until the startup probe has succeeded no other runs.
        assert_eq!(ready_at(&probed(json!({"periodSeconds": 5}), json!({})), 3, 4), Some(10));
        assert_eq!(ready_at(&probed(json!({"periodSeconds": 5}), json!({"initialDelaySeconds": 9})), 3, 4), Some(20));
    }

    #[test]
    fn a_probe_that_fails_is_told_each_time_and_counts_by_its_threshold() {
        let container = json!({"readinessProbe": {"periodSeconds": 5, "failureThreshold": 2}});
        let all = play(&container, &told(0, Some(12), None), 3, 30);
        // The sync that follows asks once more, and the period begins anew.
        let failed = [(18, 'r', None), (23, 'r', Some(false)), (23, 'r', None), (28, 'r', None)];
        assert_eq!(all, [[(3, 'r', Some(true))].as_slice(), failed.as_slice()].concat());
    }

    #[test]
    fn a_liveness_probe_that_failed_asks_no_more() {
        let container = json!({"livenessProbe": {"periodSeconds": 10, "initialDelaySeconds": 15}});
        let all = play(&container, &told(0, None, Some(20)), 1, 200);
        assert_eq!(all, [(30, 'l', None), (40, 'l', None), (50, 'l', Some(false))]);
    }

    #[test]
    fn what_was_counted_of_the_run_before_counts_on() {
        let probe = json!({"periodSeconds": 5, "failureThreshold": 3, "successThreshold": 2});
        let container = json!({"livenessProbe": {"periodSeconds": 5}, "readinessProbe": probe});
        let dead = Health::of(&told(0, Some(7), Some(7)), at(0));
        let mut probes = Probes::new(&container, dead, &seen_at(1), at(1));
        let verdicts = |probes: &mut Probes, second| -> Vec<_> {
            probes.run_due(at(second)).into_iter().map(|found| (found.kind, found.verdict)).collect()
        };
        let (ready, alive) = (ProbeKind::Readiness, ProbeKind::Liveness);
        assert_eq!(verdicts(&mut probes, 6), [(ready, None), (alive, None)]);
        assert_eq!(verdicts(&mut probes, 11), [(ready, None), (alive, None)]);
        assert_eq!(verdicts(&mut probes, 16), [(ready, None), (alive, None)]);
        // Another process, and the third failure in a row.
        let mut next = Probes::new(&container, dead, &seen_at(18), at(18)).going_on(Some(&probes));
        assert_eq!((next.next(at(18)), next.is_ready()), (Some(at(21)), false));
        assert_eq!(verdicts(&mut next, 21), [(ready, None), (alive, Some(false))]);
        let well = Health::of(&told(0, None, None), at(30));
        let mut last = Probes::new(&container, well, &seen_at(30), at(30)).going_on(Some(&next));
        assert_eq!(verdicts(&mut last, 31), [(ready, None), (alive, None)]);
        assert_eq!(verdicts(&mut last, 36), [(ready, Some(true)), (alive, None)]);
        let mut again = Probes::new(&container, well, &seen_at(40), at(40)).going_on(Some(&last));
        assert_eq!(verdicts(&mut again, 41), [(ready, Some(true)), (alive, None)]);
    }

    #[test]
    fn what_changes_meanwhile_is_found_at_the_next_tick() {
        let container = json!({"startupProbe": {"periodSeconds": 4}, "livenessProbe": {"periodSeconds": 3}});
        let start = Health::of(&told(0, None, None), at(1));
        let mut probes = Probes::new(&container, start, &seen_at(0), at(1));
        assert_eq!(probes.run_due(at(4)).len(), 1);
        assert_eq!(probes.next(at(4)), Some(at(6)));
        assert_eq!(probes.run_due(at(6)).len(), 1);
        assert_eq!(probes.next(at(6)), None);
        probes.note_health(Health::of(&told(0, None, Some(0)), at(1)), at(20));
        assert_eq!(probes.next(at(20)), Some(at(21)));
    }

    #[test]
    fn a_settled_probe_that_is_woken_between_two_ticks_waits_for_the_next() {
        let container = json!({"readinessProbe": {"failureThreshold": 1}});
        let health = Health::of(&told(0, Some(45), None), at(0));
        let mut probes = Probes::new(&container, health, &seen_at(0), at(0));
        assert_eq!(probes.run_due(at(10)).len(), 1);
        assert_eq!(probes.next(at(10)), Some(at(50)));
        for (second, found) in [(44, 0), (46, 0), (50, 1)] {
            assert_eq!(probes.run_due(at(second)).len(), found, "{second}");
        }
        // Whoever comes late, as a kubelet that was frozen, finds it at once.
        let mut late = Probes::new(&container, health, &seen_at(0), at(0));
        assert_eq!((late.run_due(at(10)).len(), late.run_due(at(53)).len()), (1, 1));
    }

    #[test]
    fn a_startup_probe_that_failed_asks_no_more_and_no_other_asks() {
        let container = json!({"startupProbe": {"periodSeconds": 3, "failureThreshold": 2}, "livenessProbe": {}});
        let all = play(&container, &told(100, None, Some(0)), 1, 200);
        assert_eq!(all, [(3, 's', None), (6, 's', Some(false)), (101, 'r', Some(true))]);
    }

    #[test]
    fn while_a_pod_ends_only_readiness_is_asked_for() {
        let probe = json!({"httpGet": {"port": 80}, "periodSeconds": 1, "failureThreshold": 1});
        let container = json!({"readinessProbe": probe.clone(), "livenessProbe": probe});
        let health = Health::of(&told(0, Some(5), Some(5)), at(0));
        let mut probes = Probes::new(&container, health, &seen_at(0), at(0));
        for second in 1..4 {
            probes.run_due(at(second));
        }
        probes.note_end();
        assert_eq!(probes.next(at(4)), Some(at(5)));
        let found: Vec<_> = probes.run_due(at(5)).into_iter().map(|found| (found.kind, found.verdict)).collect();
        assert_eq!(found, [(ProbeKind::Readiness, Some(false))]);
        let mut alone = Probes::new(&json!({}), health, &seen_at(0), at(0));
        alone.note_end();
        assert_eq!((alone.next(at(1)), alone.run_due(at(9)).len()), (None, 0));
    }

    #[test]
    fn the_first_look_at_what_was_there_before_finds_it_unready_until_it_is_answered() {
        let container = json!({"readinessProbe": {"periodSeconds": 20, "failureThreshold": 3}});
        let answered = at(100) + FIRST_ANSWER;
        for (unready, found, is_ready) in [(None, [Some(true), None], true), (Some(50), [None, None], false)] {
            let health = Health::of(&told(0, unready, None), at(0));
            let probes = Probes::new(&container, health, &seen_at(100), at(0));
            let mut probes = probes.adopted((FoundAs::Unknown, false), at(100));
            assert!(probes.is_ready());
            assert!(probes.run_due(at(100)).iter().all(|found| found.is_void && !found.has_failed));
            assert!(!probes.is_ready());
            // The sync that follows wants another look, which comes after the first and counts if that has failed.
            assert_eq!(probes.run_at_once(true, at(100)), None);
            assert_eq!(probes.next(at(100)), Some(answered));
            let verdicts: Vec<_> = probes.run_due(answered).iter().map(|found| found.verdict).collect();
            assert_eq!((verdicts.as_slice(), probes.is_ready()), (&found[..verdicts.len()], is_ready));
            assert_eq!(verdicts.len(), if is_ready { 1 } else { 2 });
            assert_eq!(probes.next(answered), (!is_ready).then(|| answered + SignedDuration::from_secs(20)));
        }
    }

    #[test]
    fn what_nobody_has_looked_at_is_unready_with_the_next_sync_or_stays_what_its_pod_was() {
        let container = json!({"startupProbe": {}, "readinessProbe": {}});
        let health = Health::of(&told(0, None, None), at(0));
        for (found, pod_is_ready, before, after) in [
            (FoundAs::Unknown, true, (true, true), (false, false)),
            (FoundAs::Before { is_ready: true }, true, (true, true), (true, true)),
            (FoundAs::Before { is_ready: true }, false, (true, true), (true, false)),
            (FoundAs::Before { is_ready: false }, true, (true, false), (true, false)),
        ] {
            let probes = Probes::new(&container, health, &seen_at(100), at(0));
            let mut probes = probes.adopted((found, false), at(100));
            assert_eq!((probes.has_started_up(), probes.is_ready()), before);
            assert_eq!(probes.note_sync(pod_is_ready), before != after);
            assert_eq!((probes.has_started_up(), probes.is_ready()), after);
            let unasked = Probes::new(&container, health, &seen_at(100), at(0));
            let mut unasked = unasked.adopted((found, true), at(100));
            unasked.note_sync(true);
            assert_eq!((unasked.has_started_up(), unasked.is_ready(), unasked.next(at(100))), (true, before.1, None));
        }
    }

    #[test]
    fn a_command_that_can_be_read_is_asked_and_not_the_process() {
        let container = |command: &Json| {
            let handler = json!({"command": command.clone()});
            json!({"livenessProbe": {"exec": handler, "periodSeconds": 1, "failureThreshold": 1}})
        };
        for (command, fails) in [
            (json!(["true"]), false),
            (json!(["/bin/false"]), true),
            (json!(["sleep", "10"]), true),
            (json!(["sh", "-c", "sleep 0.5"]), false),
            (json!(["cat", "/tmp/well"]), false),
        ] {
            let health = Health::of(&ContainerBehaviour::default(), at(0));
            let mut probes = Probes::new(&container(&command), health, &seen_at(0), at(0));
            let found = probes.run_due(at(1));
            assert_eq!(found.iter().any(|found| found.has_failed), fails, "{command}");
        }
    }
}
