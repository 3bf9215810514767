//! The state machine that runs and judges a scenario, on any backend.
//!
//! A sans-IO component: observations and time in, actions and an outcome out, so "within 60s" means the same on every
//! backend, and is tested without one. Contract beyond that of every component: a driver hands over all observations of
//! an instant before it calls `handle_timeout` for that instant; an action is reported back exactly once.

mod answers;
mod chosen_pods;
mod cost;
mod explain;
mod facts;
mod judge;
mod node_invariants;
mod phases;
mod renewals;
#[cfg(test)]
mod tests;
mod truth;
mod view;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use self::facts::{bare, is_fault, is_watch, named_after_service, observed};
use self::judge::{ChangeOrigin, Judge, Scene};
pub use self::phases::LOOP_PERIOD;
use self::truth::Holds;
use self::view::{ClusterView, Measures};
use super::history::Log;
use super::{
    Act, Action, ActionId, AnswerSeen, Expectation, Fact, FaultEffect, Histories, Mismatch, Missed, ObjectChange,
    ObjectRef, Observation, Outcome, Position, Predicate, RunOutput, Scenario, ScenarioAction, Setup, Snapshot,
    StepVerdict, Subject, Task, Verdict, When,
};
use crate::chance::Chance;
use crate::components::{Deadline, RecordedDecision};
use crate::json;
use crate::network::{Call, EVENTS, Identity, LEASES, NODES, PODS, Resource, Verb};
use crate::objects::is_not_modelled;
use crate::objects::time::{offset, seconds};
use crate::objects::{Json, Object, Path, Text};
use crate::profile::{DEFAULT_RELEASE, Release};

/// How a run judges.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The period of the node lifecycle controller's health pass: `--node-monitor-period`. Default 5 s.
    pub health_period: SignedDuration,
    /// How long a `Given` may take, at least two health passes: something that depends on the next pass may wait for
    /// nearly a whole period. Default 10 min.
    pub patience: SignedDuration,
    /// How long after its act a missed line is still observed, to say how late it came. Default 2 min.
    pub wait_for_late: SignedDuration,
    /// How long the first act waits after all `Given` lines are established. Backends vary it by seed to shift the act
    /// against the periodic loops, and controllers can react to the last `Given` before it. Default 0 s.
    pub lead: SignedDuration,
    /// Chooses when the first `Given` begins, and when within a heartbeat period each machine of a `Given` starts, so
    /// that heartbeats and periodic loops meet in each way that they can. Default: all at once.
    pub starts: Option<Chance>,
    /// How far an exact instant may be missed. Default 1 ms, less a nanosecond: what prints as the same millisecond.
    pub tolerance: SignedDuration,
    /// How long a Node may be silent before its conditions become Unknown: `--node-monitor-grace-period`. Default 50 s.
    pub grace_period: SignedDuration,
    /// The release of the API server, which kubelets are compared with. Default that of a simulation.
    pub server: Release,
    /// How many Nodes that no line is about are kept as well, for a picture: those that come first. Default 0.
    pub other_nodes: usize,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            health_period: SignedDuration::from_secs(5),
            patience: SignedDuration::from_mins(10),
            wait_for_late: SignedDuration::from_mins(2),
            lead: SignedDuration::ZERO,
            starts: None,
            tolerance: SignedDuration::from_nanos(999_999),
            grace_period: SignedDuration::from_secs(50),
            server: DEFAULT_RELEASE,
            other_nodes: 0,
        }
    }
}

#[derive(Debug)]
enum Phase {
    /// The actions of the `Given` line of this number are under way.
    Setup(usize),
    /// All actions of the `Given` line are done, and it must become true.
    Waiting(usize, Waiting),
    /// The actions of an act are under way.
    When(usize),
    /// An act's `Then` lines are judged.
    Then(usize),
    /// An act is over, except for the effects of its faults, which are being counted.
    Counting(usize),
    Over,
}

#[derive(Debug)]
struct Waiting {
    since: Timestamp,
    facts: Vec<Fact>,
    /// Nodes that must have settled: no status write for two health passes, or ready for long.
    quiet: Vec<Text>,
}

/// An action that is to be done or was done.
#[derive(Debug, Clone)]
struct QueuedTask {
    task: Task,
    step: Position,
    /// Whether it belongs to an act's `When`.
    when: bool,
}

/// What the next job waits for.
#[derive(Debug)]
enum Pause {
    /// An instant.
    Pass(Timestamp),
    /// An instant before the first act: changes until then belong to the `Given` lines.
    Lead(Timestamp),
    /// A state that a step of a `When` names.
    Until(Position, Waiting),
}

/// A running scenario.
#[derive(Debug)]
pub struct Run {
    scenario: Arc<Scenario>,
    options: RunOptions,
    start: Timestamp,
    phase: Phase,
    jobs: VecDeque<QueuedTask>,
    under_way: Option<(ActionId, QueuedTask)>,
    pause: Option<Pause>,
    last_action: u32,
    view: ClusterView,
    baseline: ClusterView,
    revision: u64,
    zero: Timestamp,
    zeros: Vec<Timestamp>,
    judges: Vec<Judge>,
    /// Actions of the act that must have an effect.
    faults: Vec<(ActionId, Position)>,
    /// Actions that turned out to have none.
    idle: Vec<Position>,
    /// Actions that turned out to have one.
    met: Vec<Position>,
    /// The actions so far, for explanations.
    story: Vec<(Timestamp, Position)>,
    log: Log,
    decisions: BTreeMap<u32, RecordedDecision>,
    steps: Vec<StepVerdict>,
    mismatch: Option<Mismatch>,
    snapshots: Vec<Snapshot>,
    outputs: VecDeque<RunOutput>,
    ended: Timestamp,
}

impl Run {
    /// Prepares a run. Observations of what exists already come before [`Self::handle_start`].
    #[must_use]
    pub fn new(scenario: Arc<Scenario>, options: RunOptions, now: Timestamp) -> Self {
        let patience = options.patience.max(options.health_period * 2);
        let options = RunOptions { patience, ..options };
        Self {
            log: Log::new(observed(&scenario), options.other_nodes),
            view: ClusterView::new(Measures::of(&options)),
            scenario,
            options,
            start: now,
            phase: Phase::Setup(0),
            jobs: VecDeque::new(),
            under_way: None,
            pause: None,
            last_action: 0,
            baseline: ClusterView::default(),
            revision: 0,
            zero: now,
            zeros: Vec::new(),
            judges: Vec::new(),
            faults: Vec::new(),
            idle: Vec::new(),
            met: Vec::new(),
            story: Vec::new(),
            decisions: BTreeMap::new(),
            steps: Vec::new(),
            mismatch: None,
            snapshots: Vec::new(),
            outputs: VecDeque::new(),
            ended: now,
        }
    }

    /// Begins with the first `Given`.
    pub fn handle_start(&mut self, now: Timestamp) {
        self.enter_setup(0, now);
    }

    /// Returns the kinds that a backend must watch.
    #[must_use]
    pub fn subscriptions(&self) -> BTreeSet<Resource> {
        let mut kinds = BTreeSet::from([NODES, LEASES, PODS, EVENTS]);
        for fact in self.scenario.facts() {
            if let Subject::Object(of) = &fact.subject {
                kinds.insert(of.resource.clone());
            }
        }
        kinds
    }

    /// Takes what was seen.
    pub fn handle_observation(&mut self, observation: Observation, now: Timestamp) {
        self.view.set_now(now);
        match observation {
            Observation::Change(change) => self.handle_change(&change, now),
            Observation::Decision(decision) => drop(self.decisions.insert(decision.number, decision)),
            Observation::Machine { name, state } => {
                self.view.set_machine(name, state);
                self.each_judge(None, now, Judge::observe);
            }
            Observation::Own(look, seen) => {
                self.view.set_own(look, seen);
                self.each_judge(None, now, Judge::observe);
            }
            Observation::Started => {
                self.view.start_command(self.under_way.as_ref().map(|(_, job)| job.step.clone()));
            }
            Observation::Printed(line) => {
                self.view.add_printed(line);
                self.each_judge(None, now, Judge::observe);
            }
            Observation::Exited(code) => self.handle_exit(code, now),
            Observation::Gap(resource) => {
                for judge in &mut self.judges {
                    judge.handle_gap(&resource);
                }
            }
            Observation::Answer(id, answer) => self.handle_answer(id, answer, now),
            Observation::Watched(id, event) => {
                self.view.add_watched(id, event);
                self.each_judge(None, now, Judge::observe);
            }
            Observation::Done(id) => self.handle_done(id, now),
            Observation::Refused(id, why) => self.handle_refused(id, why, now),
            Observation::FaultHits(id, effect) => self.handle_hits(id, effect, now),
        }
    }

    /// Decides what is due. All observations up to now must have been handed over.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        self.view.set_now(now);
        self.check_pause(now);
        match self.phase {
            Phase::Waiting(..) => self.check_waiting(now),
            Phase::Then(act) => {
                self.each_judge(None, now, Judge::handle_timeout);
                self.check_act(act, now);
            }
            _ => {}
        }
    }

    /// Returns what the run wants next.
    pub fn poll_output(&mut self) -> Option<RunOutput> {
        self.outputs.pop_front()
    }

    /// Tells whether the line of an action that was handed out has a further action, which follows as soon as that one
    /// is done.
    #[must_use]
    pub fn goes_on_with(&self, line: &Position) -> bool {
        self.jobs.front().is_some_and(|job| job.step == *line)
    }

    /// Returns when to call `handle_timeout`.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Deadline> {
        let at = |at, reason| Some(Deadline { at, reason });
        match &self.pause {
            Some(Pause::Pass(until)) => return at(*until, "time passes"),
            Some(Pause::Lead(until)) => return at(*until, "the first act waits"),
            Some(Pause::Until(_, awaited)) => return at(self.waiting_deadline(awaited), "a When waits"),
            None => {}
        }
        match &self.phase {
            Phase::Waiting(_, waiting) => at(self.waiting_deadline(waiting), "a Given is awaited"),
            Phase::Then(act) => {
                let next = self.judges.iter().filter_map(Judge::deadline).min();
                let end = self.act_end(&self.scenario.acts[*act]);
                at(next.map_or(end, |next| next.min(end)), "a bound ends")
            }
            Phase::Setup(_) | Phase::When(_) | Phase::Counting(_) | Phase::Over => None,
        }
    }

    /// Tells whether the scenario is over.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// Returns how many `Given` lines are established: all of them once the first act is waited for.
    #[must_use]
    pub fn given(&self) -> usize {
        match self.phase {
            Phase::Setup(given) | Phase::Waiting(given, _) => given,
            _ => self.scenario.given.len(),
        }
    }

    /// Returns the outcome, with decisions and without a trace.
    #[must_use]
    pub fn into_outcome(self) -> Outcome {
        let verdict = self.steps.iter().map(|step| step.verdict).max().unwrap_or(Verdict::Passed);
        Outcome {
            verdict,
            histories: Histories::of(self.log),
            snapshots: if verdict == Verdict::Passed { self.snapshots } else { Vec::new() },
            steps: self.steps,
            mismatch: self.mismatch,
            decisions: self.decisions.into_values().collect(),
            trace: Vec::new(),
            start: self.start,
            zeros: self.zeros,
            duration: self.ended.duration_since(self.start),
            tolerance: String::new(),
            is_too_slow: false,
        }
    }

    /// Lets every judge of the act observe the cluster as it is.
    fn each_judge(
        &mut self,
        change: Option<&ObjectChange>,
        now: Timestamp,
        mut look: impl FnMut(&mut Judge, Scene<'_>),
    ) {
        let own =
            if change.is_some_and(|change| self.is_own(change)) { ChangeOrigin::Action } else { ChangeOrigin::Cluster };
        let scene = Scene { view: &self.view, baseline: &self.baseline, change, own, revision: self.revision, now };
        for judge in &mut self.judges {
            look(judge, scene);
        }
    }

    fn handle_change(&mut self, change: &ObjectChange, now: Timestamp) {
        let renamed = named_after_service(change);
        let change = renamed.as_ref().unwrap_or(change);
        self.revision = self.revision.max(change.resource_version);
        self.view.apply(change, now);
        self.log.record(change, now);
        self.each_judge(Some(change), now, Judge::observe);
    }

    /// Tells whether the action under way made a change.
    fn is_own(&self, change: &ObjectChange) -> bool {
        matches!(&self.under_way, Some((_, QueuedTask { task: Task::Action(ScenarioAction::Action(action)), .. }))
            if matches!(&**action, Action::Api { identity, .. } if identity.user == change.writer.user))
    }

    fn handle_answer(&mut self, id: ActionId, answer: AnswerSeen, now: Timestamp) {
        let Some((_, job)) = self.under_way.take_if(|(own, _)| *own == id) else { return };
        if answer.code == 501 && is_not_modelled(&answer.message) {
            return self.give_up(job.step, answer.message, now);
        }
        if let Some(unmodelled) = answer.unmodelled.as_ref().filter(|own| facts::is_judged(own, &self.scenario)) {
            return self.give_up(job.step, unmodelled.what.clone(), now);
        }
        let ok = (200..300).contains(&answer.code);
        let text = format!("answered {} {:?}", answer.code, answer.message);
        self.view.set_answer(answer);
        if ok && is_watch(&job.task) {
            self.view.open_watch(id);
        }
        let judged = self.expects(|predicate| matches!(predicate, Predicate::Answered { .. }));
        if ok || (job.when && judged) {
            self.next_job(now);
        } else {
            self.fail_step(job.step, String::from("the request succeeds"), text, now);
        }
    }

    fn handle_done(&mut self, id: ActionId, now: Timestamp) {
        if self.under_way.take_if(|(own, _)| *own == id).is_some() {
            self.next_job(now);
        }
    }

    fn handle_refused(&mut self, id: ActionId, why: String, now: Timestamp) {
        let Some((_, job)) = self.under_way.take_if(|(own, _)| *own == id) else { return };
        self.faults.retain(|(fault, _)| *fault != id);
        let judged = self.expects(|predicate| matches!(predicate, Predicate::Refused { .. }));
        self.view.set_refusal(why.clone());
        if is_not_modelled(&why) {
            self.give_up(job.step, why, now);
        } else if job.when && judged {
            self.next_job(now);
        } else {
            let expected = if job.when { "it can be done" } else { "it can be done; a refusal is expected of a When" };
            self.fail_step(job.step, String::from(expected), format!("refused: {why}"), now);
        }
    }

    /// Tells whether a line of the current act has a predicate that passes the test.
    fn expects(&self, mut test: impl FnMut(&Predicate) -> bool) -> bool {
        let (Phase::When(act) | Phase::Then(act)) = &self.phase else { return false };
        self.scenario.acts[*act].expectations.iter().any(|line| test(bare(&line.fact.predicate)))
    }

    /// Gives the backend its next job, or continues with the next phase if all are done.
    fn next_job(&mut self, now: Timestamp) {
        if self.under_way.is_some() || self.pause.is_some() {
            return;
        }
        let Some(job) = self.jobs.pop_front() else {
            match self.phase {
                Phase::Setup(given) => self.enter_waiting(given, now),
                Phase::When(act) => self.enter_then(act, now),
                _ => {}
            }
            return;
        };
        match job.task {
            Task::Action(ScenarioAction::Pass(duration)) => {
                self.pause = Some(Pause::Pass(now + duration));
                return;
            }
            Task::Action(ScenarioAction::Until(fact)) => {
                let awaited = Waiting { since: now, facts: Vec::from([fact]), quiet: Vec::new() };
                self.pause = Some(Pause::Until(job.step, awaited));
                return self.check_pause(now);
            }
            _ => {}
        }
        if job.when && self.story.last().is_none_or(|(_, step)| *step != job.step) {
            self.story.push((now, job.step.clone()));
        }
        self.last_action += 1;
        let id = ActionId(self.last_action);
        if job.when && is_fault(&job.task) {
            self.faults.push((id, job.step.clone()));
        }
        self.outputs.push_back(RunOutput::Perform { id, task: job.task.clone(), step: job.step.clone() });
        self.under_way = Some((id, job));
    }

    fn finish(&mut self, now: Timestamp) {
        self.phase = Phase::Over;
        self.ended = now;
        self.jobs.clear();
        self.pause = None;
        self.outputs.push_back(RunOutput::Finished);
    }

    /// Ends the scenario with a step that could not be done.
    fn fail_step(&mut self, step: Position, expected: String, observed: String, now: Timestamp) {
        self.end_at_step(Verdict::Failed, step, (expected, observed), None, now);
    }

    /// Ends the scenario with a step that needs what is not modelled.
    fn give_up(&mut self, step: Position, what: String, now: Timestamp) {
        self.end_at_step(Verdict::Unsupported, step, (String::from("what the model has"), what), None, now);
    }

    /// Ends the scenario with a step, with what was expected and observed, and for what it waited.
    fn end_at_step(
        &mut self,
        verdict: Verdict,
        step: Position,
        (expected, observed): (String, String),
        awaited: Option<Fact>,
        now: Timestamp,
    ) {
        let at = now.duration_since(self.zero);
        self.steps.push(StepVerdict { position: step.clone(), verdict, at, observed: observed.clone(), because: None });
        let (why, last) = self.explain_step(awaited.as_ref(), now);
        let (also, replay) = (Vec::new(), String::new());
        self.mismatch.get_or_insert(Mismatch { step, expected, observed, why, last, also, replay });
        self.finish(now);
    }
}
