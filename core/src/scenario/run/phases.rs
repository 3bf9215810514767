//! The phases of a run: each `Given` in turn, then each act with its actions, its lines and its faults.
//!
//! Inputs: the state of the run and the instant. Outputs: jobs for the backend, judges, verdicts, the next phase.
//! Invariant: phases never go back.

use super::*;
use crate::components::machine::MachineSpec;
use crate::network::{is_known, is_namespaced};
use crate::objects::subset::leaves;
use crate::scenario::{FieldTest, Given};

/// A Node that has been ready for this long need not become quieter: a kubelet writes its status that often.
const SETTLED: SignedDuration = SignedDuration::from_mins(5);
/// How often a kubelet renews its Lease. Source: pkg/kubelet/kubelet.go (v1.34), `NodeLeaseDurationSeconds` 40 and
/// `nodeLeaseRenewIntervalFraction` 0.25.
const HEARTBEAT_PERIOD: SignedDuration = SignedDuration::from_secs(10);
/// The period of the slowest loop that acts on nodes and their Pods, the pass of the Pod garbage collector; those of
/// the health pass, 5 s, and of heartbeats, 10 s, divide it. Source: pkg/controller/podgc/gc_controller.go (v1.34),
/// `gcCheckPeriod`.
pub const LOOP_PERIOD: SignedDuration = SignedDuration::from_secs(20);

fn pass(span: SignedDuration) -> Task {
    Task::Action(ScenarioAction::Pass(span))
}

impl Run {
    /// Notes that a command of kubectl has ended. Its failure ends the scenario if no line speaks of the command.
    pub(super) fn handle_exit(&mut self, code: u8, now: Timestamp) {
        self.view.end_command(code);
        self.each_judge(None, now, Judge::observe);
        let Some(command) = self.view.command().filter(|_| code != 0) else { return };
        let (last, step) = (command.printed.last().cloned().unwrap_or_default(), command.step.clone());
        let is_judged = self.scenario.expectations().any(|line| line.fact.subject == Subject::Command);
        if let Some(step) = step.filter(|_| !is_judged) {
            let texts = (String::from("kubectl succeeds"), format!("kubectl ends with {code}: {last}"));
            self.end_at_step(Verdict::Failed, step, texts, None, now);
        }
    }

    pub(super) fn enter_setup(&mut self, given: usize, now: Timestamp) {
        self.phase = Phase::Setup(given);
        let scenario = self.scenario.clone();
        let Some(line) = scenario.given.get(given) else {
            self.enter_when(0, now);
            return;
        };
        let tasks = match &line.setup {
            Setup::ReadyNodes(specs) => self.starts(specs),
            Setup::HandFedNodes(nodes) => nodes.iter().cloned().map(Task::Feed).collect(),
            Setup::RunningPod { pod } => self.running_pod(pod),
            Setup::Objects(objects) => {
                objects.iter().map(|(resource, object)| create(resource.clone(), object)).collect()
            }
            Setup::Do(action) => Vec::from([Task::Action(action.clone())]),
            Setup::Until(_) => Vec::new(),
        };
        let first = self.options.starts.as_ref().filter(|_| given == 0);
        let first = first.map(|chance| pass(chance.fork("").up_to(LOOP_PERIOD)));
        let tasks = first.into_iter().chain(tasks);
        self.jobs = tasks.map(|task| QueuedTask { task, step: line.position.clone(), when: false }).collect();
        self.next_job(now);
    }

    /// Returns the tasks that start machines, each where chance has it within a heartbeat period.
    fn starts(&self, specs: &[MachineSpec]) -> Vec<Task> {
        let chance = self.options.starts.as_ref();
        let start = |name: &Text| chance.map(|chance| chance.fork(name).up_to(HEARTBEAT_PERIOD)).unwrap_or_default();
        let mut starts: Vec<(SignedDuration, &MachineSpec)> =
            specs.iter().map(|spec| (start(&spec.name), spec)).collect();
        starts.sort_by_key(|(at, _)| *at);
        let mut last = SignedDuration::ZERO;
        let mut tasks = Vec::new();
        for (at, spec) in starts {
            let pause = at - core::mem::replace(&mut last, at);
            tasks.extend(Some(pass(pause)).filter(|_| !pause.is_zero()));
            tasks.push(Task::Action(Action::AddMachine(spec.clone()).into()));
        }
        tasks
    }

    /// Returns the tasks for a running Pod. On a Node without a kubelet the scenario writes the Pod's status in the
    /// kubelet's place.
    fn running_pod(&self, pod: &Json) -> Vec<Task> {
        let mut tasks = Vec::from([create(PODS, pod)]);
        let node = pod.at(&["spec", "nodeName"]).as_str().unwrap_or("");
        if self.is_hand_fed(node) {
            let text = |field| pod.at(&["metadata", field]).as_text().cloned().unwrap_or_default();
            let namespace = if text("namespace").is_empty() { Text::of("default") } else { text("namespace") };
            let status = json!({"status": {"phase": "Running", "conditions": [
                {"type": "Initialized", "status": "True"}, {"type": "Ready", "status": "True"},
                {"type": "ContainersReady", "status": "True"}, {"type": "PodScheduled", "status": "True"}]}});
            let call = Call::strategic_patch(PODS, namespace, text("name"), status).subresource("status");
            tasks.push(Task::Action(Action::Api { identity: Identity::kubelet(node), call }.into()));
        }
        tasks
    }

    fn is_hand_fed(&self, node: &str) -> bool {
        let fed = |given: &Given| match &given.setup {
            Setup::HandFedNodes(nodes) => nodes.iter().any(|fed| fed.name == node),
            _ => false,
        };
        self.scenario.given.iter().any(fed)
    }

    pub(super) fn enter_waiting(&mut self, given: usize, now: Timestamp) {
        let condition = |kind, status| Predicate::Condition {
            kind: Text::of(kind),
            status: Text::of(status),
            reason: None,
            message: None,
        };
        let fact = |of, predicate| Fact { subject: Subject::Object(of), predicate };
        let ready = |node: &Text| {
            [fact(ObjectRef::node(node), condition("Ready", "True")), fact(ObjectRef::lease(node), Predicate::Exists)]
        };
        let (facts, quiet) = match &self.scenario.given[given].setup {
            Setup::ReadyNodes(specs) => {
                let names: Vec<Text> = specs.iter().map(node_name).collect();
                (names.iter().flat_map(ready).collect(), names)
            }
            Setup::HandFedNodes(nodes) => {
                let names: Vec<Text> = nodes.iter().map(|node| node.name.clone()).collect();
                (names.iter().flat_map(ready).collect(), names)
            }
            Setup::RunningPod { pod } => {
                let text = |field| pod.at(&["metadata", field]).as_text().cloned().unwrap_or_default();
                let namespace = if text("namespace").is_empty() { Text::of("default") } else { text("namespace") };
                let of = ObjectRef::pod(namespace, text("name"));
                (Vec::from([fact(of, Predicate::Phase(Text::of("Running")))]), Vec::new())
            }
            Setup::Until(fact) => (Vec::from([fact.clone()]), Vec::new()),
            Setup::Objects(_) | Setup::Do(_) => (Vec::new(), Vec::new()),
        };
        self.phase = Phase::Waiting(given, Waiting { since: now, facts, quiet });
    }

    /// Returns when a wait ends: two health passes after the last status write, or at the end of patience.
    pub(super) fn waiting_deadline(&self, waiting: &Waiting) -> Timestamp {
        let end = waiting.since + self.options.patience;
        let quiet = waiting.quiet.iter().filter_map(|node| self.quiet_since(node)).max();
        if self.first_untrue(waiting).is_some() { end } else { quiet.map_or(waiting.since, |at| at.min(end)) }
    }

    /// Returns from when a node counts as settled: two health passes after its last status write. If the status is
    /// written more often than that, a node that has been ready for long counts as settled.
    fn quiet_since(&self, node: &str) -> Option<Timestamp> {
        let written = self.view.status_written(node)? + self.options.health_period * 2;
        let settled = self.view.ready_turned(node).map(|at| at + SETTLED);
        Some(settled.map_or(written, |settled| settled.min(written)))
    }

    /// Returns the first fact that is not true yet, with what is there instead.
    fn first_untrue<'a>(&self, waiting: &'a Waiting) -> Option<(&'a Fact, truth::Truth)> {
        let judged = waiting.facts.iter().map(|fact| (fact, truth::judge(fact, &self.view, &self.baseline)));
        judged.into_iter().find(|(_, truth)| truth.holds != Holds::Yes)
    }

    /// Says what was waited for in vain, and what is there: a fact that did not become true, which comes with it, or
    /// else a Node that does not settle.
    fn awaited_in_vain(&self, awaited: &Waiting, now: Timestamp) -> ((String, String), Option<Fact>) {
        let patience = seconds(self.options.patience);
        if let Some((fact, truth)) = self.first_untrue(awaited) {
            return ((format!("{fact} within {patience}"), self.with_offsets(&truth.seen)), Some(fact.clone()));
        }
        let restless = awaited.quiet.iter().find(|node| self.quiet_since(node).is_some_and(|at| at > now));
        let node = restless.map_or("", Text::as_str);
        let quiet = seconds(self.options.health_period * 2);
        let expected = format!("Node {node:?}: no write of its status for {quiet}, within {patience}");
        let written = self.view.status_written(node).map_or_else(String::new, |at| offset(at, self.zero));
        ((expected, format!("its status is written all the time, the last time at {written}")), None)
    }

    pub(super) fn check_waiting(&mut self, now: Timestamp) {
        let Phase::Waiting(given, waiting) = &self.phase else { return };
        let given = *given;
        let position = self.scenario.given[given].position.clone();
        let untrue = self.first_untrue(waiting).is_some();
        let quiet = waiting.quiet.iter().all(|node| self.quiet_since(node).is_none_or(|at| at <= now));
        if !untrue && quiet {
            let at = now.duration_since(self.zero);
            let observed = format!("there after {}", seconds(now.duration_since(waiting.since)));
            self.steps.push(StepVerdict { position, verdict: Verdict::Passed, at, observed, because: None });
            self.enter_setup(given + 1, now);
        } else if now >= waiting.since + self.options.patience {
            let (texts, fact) = self.awaited_in_vain(waiting, now);
            self.end_at_step(Verdict::Failed, position, texts, fact, now);
        }
    }

    pub(super) fn enter_when(&mut self, act: usize, now: Timestamp) {
        if act >= self.scenario.acts.len() {
            self.finish(now);
            return;
        }
        self.phase = Phase::When(act);
        if act == 0 && self.options.lead > SignedDuration::ZERO {
            self.pause = Some(Pause::Lead(now + self.options.lead));
        } else {
            self.begin_when(act, now);
        }
    }

    fn begin_when(&mut self, act: usize, now: Timestamp) {
        let scenario = self.scenario.clone();
        let next = &scenario.acts[act];
        self.faults.clear();
        self.view.begin_act();
        self.log.begin_actions(now);
        self.set_baseline(next, now);
        self.jobs = next.when.iter().flat_map(tasks_of).collect();
        self.next_job(now);
    }

    /// Continues after a pause.
    pub(super) fn check_pause(&mut self, now: Timestamp) {
        match &self.pause {
            Some(Pause::Pass(until)) if *until <= now => {}
            Some(Pause::Lead(until)) if *until <= now => {
                self.pause = None;
                return self.begin_when(0, now);
            }
            Some(Pause::Until(step, awaited)) => {
                if self.first_untrue(awaited).is_some() {
                    if now >= awaited.since + self.options.patience {
                        let (step, (texts, fact)) = (step.clone(), self.awaited_in_vain(awaited, now));
                        self.end_at_step(Verdict::Failed, step, texts, fact, now);
                    }
                    return;
                }
            }
            _ => return,
        }
        self.pause = None;
        self.rebase(now);
        self.next_job(now);
    }

    /// Takes the current state as the baseline again: time that passed counts as before the act's last action.
    fn rebase(&mut self, now: Timestamp) {
        if let Phase::When(act) = &self.phase {
            let scenario = self.scenario.clone();
            let act = *act;
            self.set_baseline(&scenario.acts[act], now);
        }
    }

    fn set_baseline(&mut self, act: &Act, now: Timestamp) {
        self.baseline = self.view.clone();
        let (view, baseline, own) = (&self.view, &self.baseline, ChangeOrigin::Cluster);
        let scene = Scene { view, baseline, change: None, own, revision: self.revision, now };
        self.judges = act
            .expectations
            .iter()
            .map(|line| Judge::new(line, paths_named_beside(line, act), self.options.tolerance, scene))
            .collect();
    }

    pub(super) fn enter_then(&mut self, act: usize, now: Timestamp) {
        self.phase = Phase::Then(act);
        self.zero = now;
        self.zeros.push(now);
        self.log.begin_act(now);
        self.each_judge(None, now, |judge, scene| judge.begin(now, scene));
    }

    /// Returns the act's end as far as it is known: the largest bound; the end of patience while a bound depends on a
    /// fact that has not become true; later if a line is late.
    pub(super) fn act_end(&self, act: &Act) -> Timestamp {
        let known = self.zero + act.length();
        let ends = self.judges.iter().flat_map(|judge| [judge.end(), judge.deadline()]).flatten();
        let end = ends.max().map_or(known, |end| end.max(known));
        if self.judges.iter().any(Judge::is_end_unknown) {
            end.max(self.zero + self.options.patience)
        } else if self.judges.iter().any(Judge::is_late) {
            end + self.options.wait_for_late
        } else {
            end
        }
    }

    /// Ends the act when its time is over.
    pub(super) fn check_act(&mut self, act: usize, now: Timestamp) {
        let scenario = self.scenario.clone();
        if now < self.act_end(&scenario.acts[act]) || self.judges.iter().any(|judge| judge.deadline().is_some()) {
            return;
        }
        for judge in &mut self.judges {
            judge.end_act(now);
            judge.end_wait(now);
        }
        self.enter_counting(act, now);
    }

    fn enter_counting(&mut self, act: usize, now: Timestamp) {
        self.phase = Phase::Counting(act);
        for (id, _) in &self.faults {
            self.outputs.push_back(RunOutput::CountHits(*id));
        }
        if self.faults.is_empty() {
            self.end_act(act, Vec::new(), now);
        }
    }

    pub(super) fn handle_hits(&mut self, id: ActionId, effect: FaultEffect, now: Timestamp) {
        let Phase::Counting(act) = self.phase else { return };
        let Some(at) = self.faults.iter().position(|(fault, _)| *fault == id) else { return };
        let (_, step) = self.faults.remove(at);
        let faults = if effect == FaultEffect::Messages(0) { &mut self.idle } else { &mut self.met };
        faults.push(step);
        if self.faults.is_empty() {
            // A line may lay several faults, as on each controller of a program: one that meets a message is enough.
            let met = core::mem::take(&mut self.met);
            let mut idle = core::mem::take(&mut self.idle);
            idle.retain(|step| !met.contains(step));
            idle.dedup();
            self.end_act(act, idle, now);
        }
    }

    /// Records the verdicts of an act, with those of its faults that had no effect.
    fn end_act(&mut self, act: usize, idle: Vec<Position>, now: Timestamp) {
        let scenario = self.scenario.clone();
        for when in &scenario.acts[act].when {
            let without_effect = idle.contains(&when.position);
            let verdict = if without_effect { Verdict::Failed } else { Verdict::Passed };
            let observed = if without_effect { "it met no message up to the end of the act" } else { "done" };
            self.steps.push(StepVerdict {
                position: when.position.clone(),
                verdict,
                at: SignedDuration::ZERO,
                observed: String::from(observed),
                because: None,
            });
        }
        self.note_verdicts(now);
        idle.iter().for_each(|step| self.note_idle(step, now));
        let good = self.judges.iter().all(|judge| judge.finding().is_some_and(|it| it.verdict == Verdict::Passed));
        if good && idle.is_empty() {
            self.take_snapshots(act, now);
            self.enter_when(act + 1, now);
        } else {
            self.finish(now);
        }
    }

    /// Notes a fault that had no effect.
    fn note_idle(&mut self, step: &Position, now: Timestamp) {
        let step = step.clone();
        let expected = String::from("the fault meets at least one message by the end of the act");
        let observed = String::from("the fault did nothing: it met no message");
        if let Some(mismatch) = &mut self.mismatch {
            mismatch.also.push(Missed { step, expected, observed });
            return;
        }
        let (why, last) = self.explain_step(None, now);
        let (also, replay) = (Vec::new(), String::new());
        self.mismatch = Some(Mismatch { step, expected, observed, why, last, also, replay });
    }

    fn note_verdicts(&mut self, now: Timestamp) {
        let findings: Vec<_> = self
            .judges
            .iter()
            .filter_map(|judge| Some((judge.expectation().clone(), judge.finding()?.clone())))
            .collect();
        for (line, finding) in &findings {
            self.steps.push(StepVerdict {
                position: line.position.clone(),
                verdict: finding.verdict,
                at: finding.at.duration_since(self.zero),
                observed: finding.observed.clone(),
                because: finding.because,
            });
        }
        let worst = [Verdict::Failed, Verdict::Inconclusive];
        let first =
            worst.iter().find_map(|verdict| findings.iter().position(|(_, finding)| finding.verdict == *verdict));
        let Some(first) = first else { return };
        let (line, finding) = &findings[first];
        let mut mismatch = self.explain(line, finding, now);
        let others = findings.iter().enumerate().filter(|(at, _)| *at != first).map(|(_, other)| other);
        let missed = others.filter(|(_, finding)| worst.contains(&finding.verdict));
        mismatch.also = missed.map(|(line, finding)| self.missed(line, finding)).collect();
        self.mismatch.get_or_insert(mismatch);
    }
}

/// The Node's name is the host name's.
fn node_name(spec: &MachineSpec) -> Text {
    spec.node_name.clone().unwrap_or_else(|| spec.name.clone())
}

fn create(resource: Resource, object: &Json) -> Task {
    let namespace = object.at(&["metadata", "namespace"]).as_text().cloned().unwrap_or_default();
    // An object of a custom kind says its namespace itself.
    let has_namespace = is_known(&resource) && is_namespaced(&resource);
    let namespace = if namespace.is_empty() && has_namespace { Text::of("default") } else { namespace };
    let call = Call::new(Verb::Create, resource, namespace, "").body(object.clone());
    Task::Action(Action::Api { identity: Identity::admin(), call }.into())
}

fn tasks_of(when: &When) -> impl Iterator<Item = QueuedTask> {
    when.actions.iter().map(|action| QueuedTask {
        task: Task::Action(action.clone()),
        step: when.position.clone(),
        when: true,
    })
}

/// Returns the paths that the other lines about the same object name.
fn paths_named_beside(line: &Expectation, act: &Act) -> Vec<Path> {
    act.expectations
        .iter()
        .filter(|other| other.fact.subject == line.fact.subject)
        .flat_map(|other| named_paths(&other.fact.predicate))
        .collect()
}

fn named_paths(predicate: &Predicate) -> Vec<Path> {
    let conditions = Path::of(&["status", "conditions"]);
    match predicate {
        Predicate::Condition { kind, .. } => Vec::from([conditions.item(kind)]),
        Predicate::Taint(taint) => {
            let name = format!("{}:{}", taint.key, taint.effect);
            Vec::from([Path::of(&["spec", "taints"]).item(name)])
        }
        Predicate::Label { key, .. } => Vec::from([Path::of(&["metadata", "labels"]).item(key)]),
        Predicate::Field { path, test: FieldTest::Has(part) } => {
            leaves(part).iter().map(|(below, _)| path.followed_by(below)).collect()
        }
        Predicate::Field { path, .. } => Vec::from([path.clone()]),
        Predicate::Phase(_) => Vec::from([Path::of(&["status", "phase"])]),
        Predicate::Deleted | Predicate::Gone | Predicate::Terminating => Vec::from([
            Path::of(&["metadata", "deletionTimestamp"]),
            Path::of(&["metadata", "deletionGracePeriodSeconds"]),
            Path::of(&["metadata", "generation"]),
        ]),
        Predicate::Not(inner) => named_paths(inner),
        Predicate::Count { of, .. } => named_paths(of),
        Predicate::All(parts) => parts.iter().flat_map(named_paths).collect(),
        _ => Vec::new(),
    }
}
