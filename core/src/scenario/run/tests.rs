//! Tests the judge without a backend: each bound at its limits.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::components::machine::MachineAction;
use crate::components::{Because, Decision, DecisionId};
use crate::network::{Fault, NODES};
use crate::objects::ObjectKey;
use crate::scenario::{Bound, FieldTest, GraceLimits, PodsBy, SnapshotKind, Taint, Writer};

const START: &str = "2026-01-01T00:00:00Z";

fn start() -> Timestamp {
    START.parse().unwrap()
}

fn ms(millis: i64) -> SignedDuration {
    SignedDuration::from_millis(millis)
}

fn sec(seconds: i64) -> SignedDuration {
    SignedDuration::from_secs(seconds)
}

fn node() -> Subject {
    Subject::Object(ObjectRef::node("w1"))
}

fn ready(status: &'static str) -> Predicate {
    Predicate::Condition { kind: Text::of("Ready"), status: Text::of(status), reason: None, message: None }
}

fn tainted(key: &'static str) -> Predicate {
    Predicate::Taint(Taint { key: Text::of(key), value: None, effect: Text::of("NoExecute") })
}

fn field(path: &str, test: FieldTest) -> Predicate {
    Predicate::Field { path: path.parse().unwrap(), test }
}

fn line(subject: Subject, predicate: Predicate, bound: Bound) -> Expectation {
    let position = Position { file: Text::of("a.feature"), line: 9, column: 5, text: Text::of("Then it is so") };
    Expectation { fact: Fact { subject, predicate }, bound, in_grace: GraceLimits::default(), position }
}

fn on_node(predicate: Predicate, bound: Bound) -> Expectation {
    line(node(), predicate, bound)
}

fn when(action: impl Into<ScenarioAction>) -> When {
    let text = Text::of("When the kubelet on \"w1\" is killed");
    let position = Position { file: Text::of("a.feature"), line: 8, column: 5, text };
    When { actions: Vec::from([action.into()]), position }
}

fn kill() -> Action {
    Action::Machine { name: Text::of("w1"), action: MachineAction::KubeletKill }
}

fn scenario(acts: Vec<Vec<Expectation>>) -> Scenario {
    let acts = acts.into_iter().map(|expectations| Act { when: Vec::from([when(kill())]), expectations });
    Scenario { acts: acts.collect(), ..Scenario::default() }
}

/// A Node with the given status of Ready and the given taints.
fn with(status: &str, taints: &[&str]) -> Json {
    let taints: Json = taints.iter().map(|key| json!({"key": key, "effect": "NoExecute"})).collect();
    let mut node = json!({
        "metadata": {"name": "w1", "uid": "u1"}, "spec": {},
        "status": {"conditions": [{"type": "Ready", "status": status, "reason": "R"}]},
    });
    node.set(&["spec", "taints"], taints);
    node
}

/// Drives a run by hand: what happens when, and the rest by the clock.
struct Driver {
    run: Run,
    now: Timestamp,
    zero: Timestamp,
    revision: u64,
    objects: BTreeMap<(Resource, ObjectKey), Object>,
    hits: FaultEffect,
    because: Option<u32>,
    started: bool,
}

impl Driver {
    fn new(scenario: Scenario) -> Self {
        Self {
            run: Run::new(Arc::new(scenario), RunOptions::default(), start()),
            now: start(),
            zero: start(),
            revision: 0,
            objects: BTreeMap::new(),
            hits: FaultEffect::Ended,
            because: None,
            started: false,
        }
    }

    /// Starts with a Node before the first act's actions take effect.
    fn with_node(acts: Vec<Vec<Expectation>>, first: Json) -> Self {
        let scenario = scenario(acts);
        let mut driver = Self::new(scenario);
        driver.write(NODES, first);
        driver.settle();
        driver
    }

    fn settle(&mut self) {
        if !core::mem::replace(&mut self.started, true) {
            self.run.handle_start(self.now);
        }
        loop {
            if let Some(output) = self.run.poll_output() {
                match output {
                    RunOutput::Perform { id, .. } => {
                        self.run.handle_observation(Observation::Done(id), self.now);
                        self.zero = self.now;
                    }
                    RunOutput::CountHits(id) => {
                        self.run.handle_observation(Observation::FaultHits(id, self.hits), self.now);
                    }
                    RunOutput::Finished => {}
                }
            } else if self.run.next_deadline().is_some_and(|deadline| deadline.at <= self.now) {
                self.run.handle_timeout(self.now);
            } else {
                return;
            }
        }
    }

    /// Lets time pass to an offset of the act, with all that is due before it.
    fn go(&mut self, millis: i64) -> &mut Self {
        let target = self.zero + ms(millis);
        while let Some(deadline) = self.run.next_deadline().filter(|deadline| deadline.at < target) {
            self.now = self.now.max(deadline.at);
            self.run.handle_timeout(self.now);
            self.settle();
        }
        self.now = target;
        self
    }

    fn write(&mut self, resource: Resource, tree: Json) {
        self.revision += 1;
        let after = Object::new(tree, self.revision);
        let key = after.key();
        let before = self.objects.insert((resource.clone(), key.clone()), after.clone());
        self.tell(resource, key, before, Some(after));
    }

    fn tell(&mut self, resource: Resource, key: ObjectKey, before: Option<Object>, after: Option<Object>) {
        let writer = Writer { manager: Text::of("kcm"), subresource: Text::of("status"), user: Text::of("kcm") };
        let (resource_version, because) = (self.revision, self.because);
        let change = ObjectChange { resource, key, before, after, resource_version, writer, because };
        self.run.handle_observation(Observation::Change(change), self.now);
    }

    /// The Node becomes this at an offset.
    fn node(&mut self, millis: i64, status: &str, taints: &[&str]) -> &mut Self {
        self.object(millis, NODES, with(status, taints))
    }

    fn object(&mut self, millis: i64, resource: Resource, tree: Json) -> &mut Self {
        self.go(millis);
        self.write(resource, tree);
        self
    }

    fn delete(&mut self, millis: i64, resource: Resource, key: ObjectKey) -> &mut Self {
        self.go(millis);
        self.revision += 1;
        let before = self.objects.remove(&(resource.clone(), key.clone()));
        self.tell(resource, key, before, None);
        self
    }

    fn gap(&mut self, millis: i64, resource: Resource) -> &mut Self {
        self.go(millis);
        self.run.handle_observation(Observation::Gap(resource), self.now);
        self
    }

    fn finish(mut self) -> Outcome {
        self.settle();
        while let Some(deadline) = self.run.next_deadline() {
            self.now = self.now.max(deadline.at);
            self.run.handle_timeout(self.now);
            self.settle();
        }
        assert!(self.run.is_over(), "the run hangs");
        self.run.into_outcome()
    }

    /// Finishes and returns verdict and observation of the first `Then`.
    fn verdict(&mut self) -> (Verdict, String) {
        let whole = core::mem::replace(self, Self::new(Scenario::default()));
        let outcome = whole.finish();
        let step = outcome.steps.into_iter().find(|step| step.position.text.starts_with("Then")).unwrap();
        (step.verdict, step.observed)
    }

    #[track_caller]
    fn passes(&mut self, observed: &str) {
        assert_eq!(self.verdict(), (Verdict::Passed, String::from(observed)));
    }

    #[track_caller]
    fn fails(&mut self, observed: &str) {
        assert_eq!(self.verdict(), (Verdict::Failed, String::from(observed)));
    }

    #[track_caller]
    fn is_inconclusive(&mut self) {
        assert_eq!(self.verdict().0, Verdict::Inconclusive);
    }
}

/// A Node that is Ready, and one line about it.
fn ready_node(predicate: Predicate, bound: Bound) -> Driver {
    Driver::with_node(Vec::from([Vec::from([on_node(predicate, bound)])]), with("True", &[]))
}

#[test]
fn within_includes_its_limit() {
    ready_node(ready("Unknown"), Bound::Within(sec(40))).node(40_000, "Unknown", &[]).passes("at +40s");
    ready_node(ready("Unknown"), Bound::Within(sec(40)))
        .node(40_001, "Unknown", &[])
        .fails("Ready=True (R) until +40.001s, then Unknown: 0.001s late");
}

#[test]
fn within_holds_at_some_moment_even_if_it_does_not_last() {
    ready_node(ready("Unknown"), Bound::Within(sec(40)))
        .node(5_000, "Unknown", &[])
        .node(6_000, "True", &[])
        .passes("at +5s");
}

#[test]
fn within_that_is_true_already_passes_at_zero() {
    ready_node(ready("True"), Bound::Within(sec(40))).passes("at +0s");
}

#[test]
fn what_comes_soon_ends_its_act_when_it_is_there() {
    for (bound, length) in [(Bound::Soon(sec(3)), sec(1)), (Bound::Within(sec(3)), sec(3))] {
        let first = Vec::from([on_node(ready("Unknown"), bound)]);
        let second = Vec::from([on_node(ready("Unknown"), Bound::AtOnce)]);
        let mut driver = Driver::with_node(Vec::from([first, second]), with("True", &[]));
        let zero = driver.zero;
        driver.node(1_000, "Unknown", &[]).settle();
        driver.go(4_000);
        assert_eq!(driver.zero.duration_since(zero), length);
    }
    ready_node(ready("Unknown"), Bound::Soon(sec(3)))
        .node(3_001, "Unknown", &[])
        .fails("Ready=True (R) until +3.001s, then Unknown: 0.001s late");
}

#[test]
fn within_that_never_comes_says_how_long_it_was_awaited() {
    ready_node(ready("Unknown"), Bound::Within(sec(40))).fails("Ready=True (R) up to +160s");
    ready_node(ready("Unknown"), Bound::Within(sec(40)))
        .node(10_000, "False", &[])
        .fails("Ready=True (R) until +10s, then False up to +160s");
}

#[test]
fn a_line_that_is_late_says_so_with_the_sample_s_words() {
    ready_node(ready("Unknown"), Bound::Within(sec(40)))
        .node(46_251, "Unknown", &[])
        .fails("Ready=True (R) until +46.251s, then Unknown: 6.251s late");
}

#[test]
fn between_includes_both_ends() {
    for at in [40_000, 45_000, 55_000] {
        ready_node(ready("Unknown"), Bound::Between(sec(40), sec(55)))
            .node(at, "Unknown", &[])
            .passes(&format!("at +{}s", at / 1000));
    }
    ready_node(ready("Unknown"), Bound::Between(sec(40), sec(55)))
        .node(39_999, "Unknown", &[])
        .fails("Ready=Unknown (R) at +39.999s: 0.001s too early");
    ready_node(ready("Unknown"), Bound::Between(sec(40), sec(55)))
        .node(55_001, "Unknown", &[])
        .fails("Ready=True (R) until +55.001s, then Unknown: 0.001s late");
}

#[test]
fn between_fails_if_it_was_true_for_a_moment_before() {
    ready_node(ready("Unknown"), Bound::Between(sec(40), sec(55)))
        .node(10_000, "Unknown", &[])
        .node(11_000, "True", &[])
        .node(45_000, "Unknown", &[])
        .fails("Ready=Unknown (R) at +10s: 30s too early");
}

#[test]
fn between_fails_if_it_was_true_all_along() {
    ready_node(ready("True"), Bound::Between(sec(0), sec(55)))
        .fails("Ready=True (R) before the When already; what comes back wants an act of its own");
}

#[test]
fn keeps_includes_its_limit_and_the_state_at_zero() {
    ready_node(ready("True"), Bound::For(sec(25))).passes("up to +25s");
    ready_node(ready("True"), Bound::For(sec(25))).node(25_001, "Unknown", &[]).passes("up to +25s");
    ready_node(ready("True"), Bound::For(sec(25)))
        .node(25_000, "Unknown", &[])
        .fails("Ready=True (R) until +25s, then Unknown: 0s short of 25s");
    ready_node(ready("False"), Bound::For(sec(25))).fails("Ready=True (R) at +0s");
}

#[test]
fn keeps_notices_a_lapse_that_was_over_at_once() {
    ready_node(ready("True"), Bound::For(sec(25)))
        .node(10_000, "False", &[])
        .node(10_000, "True", &[])
        .fails("Ready=True (R) until +10s, then False: 15s short of 25s");
}

#[test]
fn never_is_broken_by_one_observation() {
    ready_node(tainted("k").negated(), Bound::For(sec(25))).node(30_000, "True", &["k"]).passes("up to +25s");
    ready_node(tainted("k").negated(), Bound::For(sec(25)))
        .node(10_000, "True", &["k"])
        .fails("no taint until +10s, then taints k:NoExecute: 15s short of 25s");
}

#[test]
fn never_of_an_object_that_was_never_there_proves_nothing() {
    let other = Subject::Object(ObjectRef::node("w2"));
    let lines = Vec::from([line(other, tainted("k").negated(), Bound::For(sec(5)))]);
    Driver::with_node(Vec::from([lines]), with("True", &[])).fails("there is no Node \"w2\" up to +5s");
}

#[test]
fn keeping_a_condition_fails_once_the_object_is_gone() {
    ready_node(ready("True"), Bound::For(sec(25)))
        .delete(10_000, NODES, ObjectKey::cluster("w1"))
        .fails("Ready=True (R) until +10s, then there is no Node \"w1\": 15s short of 25s");
}

#[test]
fn what_is_kept_of_a_new_object_may_come_within_the_tolerance() {
    let kept = |tolerance: i64, states: &[(i64, &str)]| {
        let lines = Vec::from([on_node(ready("True"), Bound::For(sec(25)))]);
        let mut driver = Driver::new(scenario(Vec::from([lines])));
        driver.run.options.tolerance = ms(tolerance);
        driver.settle();
        for (at, status) in states {
            driver.node(*at, status, &[]);
        }
        driver.finish().verdict == Verdict::Passed
    };
    assert!(kept(1_000, &[(0, "False"), (800, "True")]));
    assert!(kept(1_000, &[(5_000, "False"), (5_800, "True")]));
    assert!(!kept(1_000, &[(0, "False"), (1_001, "True")]));
    assert!(!kept(1_000, &[(0, "False")]));
    assert!(!kept(1_000, &[(0, "False"), (800, "True"), (900, "False"), (950, "True")]));
    assert!(!kept(0, &[(0, "False"), (1, "True")]));
}

#[test]
fn at_is_exact_to_the_millisecond() {
    let at = |after| Bound::At { offset: sec(60), after };
    ready_node(ready("Unknown"), at(None)).node(60_000, "Unknown", &[]).passes("at +60s");
    ready_node(ready("Unknown"), at(None))
        .node(59_999, "Unknown", &[])
        .fails("Ready=Unknown (R) at +59.999s: 0s too early");
    ready_node(ready("Unknown"), at(None))
        .node(60_001, "Unknown", &[])
        .fails("Ready=True (R) until +60.001s, then Unknown: 0.001s late");
}

#[test]
fn at_may_depend_on_another_fact() {
    let bound =
        || Bound::At { offset: sec(60), after: Some(Box::new(Fact { subject: node(), predicate: tainted("k") })) };
    ready_node(ready("Unknown"), bound())
        .node(46_251, "True", &["k"])
        .node(106_251, "Unknown", &["k"])
        .passes("at +106.251s");
    ready_node(ready("Unknown"), bound())
        .node(46_251, "True", &["k"])
        .node(107_000, "Unknown", &["k"])
        .fails("Ready=True (R) until +107s, then Unknown: 0.749s late");
    ready_node(ready("Unknown"), bound()).fails("what it is measured from did not happen up to +600s");
    ready_node(ready("Unknown"), bound())
        .node(1_000, "Unknown", &[])
        .fails("Ready=Unknown (R) at +1s before what it is measured from");
    let lines = Vec::from([on_node(ready("Unknown"), bound())]);
    Driver::with_node(Vec::from([lines]), with("True", &["k"]))
        .fails("what it is measured from was true before the When already");
}

#[test]
fn after_is_a_matter_of_revisions() {
    let bound =
        || Bound::After { fact: Box::new(Fact { subject: node(), predicate: tainted("k") }), within: Some(sec(60)) };
    ready_node(ready("Unknown"), bound()).node(1_000, "True", &["k"]).node(1_000, "Unknown", &["k"]).passes("at +1s");
    ready_node(ready("Unknown"), bound())
        .node(1_000, "Unknown", &["k"])
        .fails("Ready=Unknown (R) at +1s, not after +1s");
    ready_node(ready("Unknown"), bound())
        .node(1_000, "Unknown", &[])
        .node(2_000, "Unknown", &["k"])
        .fails("Ready=Unknown (R) at +1s, not after +2s");
}

#[test]
fn unchanged_ignores_heartbeats_and_refuses_what_is_absent() {
    let ready_entry = || field("status.conditions[Ready]", FieldTest::Unchanged);
    let mut beaten = with("True", &[]);
    beaten.entry(&["status", "conditions"]).make_array()[0].set(&["lastHeartbeatTime"], START);
    ready_node(ready_entry(), Bound::For(sec(25))).object(10_000, NODES, beaten).passes("up to +25s");
    let (verdict, _) = ready_node(ready_entry(), Bound::For(sec(25))).node(10_000, "False", &[]).verdict();
    assert_eq!(verdict, Verdict::Failed);
    ready_node(field("spec.unschedulable", FieldTest::Unchanged), Bound::For(sec(25)))
        .fails("spec.unschedulable is absent when the act begins: that it stays so proves nothing");
}

#[test]
fn gone_deleted_and_terminating_tell_objects_of_one_name_apart() {
    let key = || ObjectKey::cluster("w1");
    let mut other = with("True", &[]);
    other.set(&["metadata", "uid"], "u2");
    let mut ending = with("True", &[]);
    ending.set(&["metadata", "deletionTimestamp"], START);
    ready_node(Predicate::Gone, Bound::Within(sec(9)))
        .delete(4_000, NODES, key())
        .object(4_000, NODES, other.clone())
        .passes("at +4s");
    ready_node(Predicate::Gone, Bound::Within(sec(9))).object(4_000, NODES, other).passes("at +4s");
    ready_node(Predicate::Gone, Bound::Within(sec(9)))
        .object(4_000, NODES, ending.clone())
        .fails("there until +4s, then Terminating up to +129s");
    ready_node(Predicate::Deleted, Bound::Within(sec(9))).object(4_000, NODES, ending.clone()).passes("at +4s");
    ready_node(Predicate::Deleted, Bound::Within(sec(9))).delete(4_000, NODES, key()).passes("at +4s");
    ready_node(Predicate::Terminating, Bound::Within(sec(9))).object(4_000, NODES, ending).passes("at +4s");
    ready_node(Predicate::Exists, Bound::For(sec(9)))
        .delete(4_000, NODES, key())
        .fails("there until +4s, then gone: 5s short of 9s");
}

#[test]
fn an_object_of_another_name_that_never_was_is_not_gone() {
    let other = Subject::Object(ObjectRef::node("w2"));
    let lines = Vec::from([line(other, Predicate::Gone, Bound::Within(sec(5)))]);
    Driver::with_node(Vec::from([lines]), with("True", &[])).fails("there has never been a Node \"w2\" up to +125s");
}

fn lease(renewed: i64) -> Json {
    json!({"metadata": {"name": "w1", "namespace": "kube-node-lease", "uid": "l1"},
        "spec": {"renewTime": format!("2026-01-01T00:{:02}:{:02}.000000Z", renewed / 60, renewed % 60)}})
}

#[test]
fn renewals_must_come_again_and_again() {
    let lines = || {
        let predicate = Predicate::RenewedEvery { every: sec(10), tolerance: ms(400) };
        Vec::from([line(Subject::Object(ObjectRef::lease("w1")), predicate, Bound::For(sec(30)))])
    };
    let driver = || Driver::with_node(Vec::from([lines()]), with("True", &[]));
    let renew = |driver: &mut Driver, at: &[i64]| {
        for millis in at {
            driver.object(*millis, LEASES, lease(millis / 1000));
        }
    };
    let mut steady = driver();
    renew(&mut steady, &[3_000, 13_400, 23_000]);
    steady.passes("up to +30s");
    let mut slow = driver();
    renew(&mut slow, &[3_000, 13_401, 23_000]);
    slow.fails("renewed last at +3s");
    let mut hasty = driver();
    renew(&mut hasty, &[3_000, 12_000, 22_000]);
    hasty.fails("a pause of 9s at +12s");
    let mut silent = driver();
    silent.fails("not renewed up to +10.4s");
}

fn event(name: &str, reason: &str, count: i64) -> Json {
    json!({"metadata": {"name": name, "namespace": "default", "uid": name}, "reason": reason, "message": "m",
        "count": count, "involvedObject": {"kind": "Node", "name": "w1"}})
}

#[test]
fn events_count_from_zero_on() {
    let said = |times| Predicate::Event { reason: Text::of("NodeNotReady"), message: None, times };
    let mut driver = ready_node(said(None), Bound::Within(sec(9)));
    driver.object(4_000, EVENTS, event("e1", "NodeNotReady", 1)).passes("at +4s");
    let mut old = Driver::new(scenario(Vec::from([Vec::from([on_node(said(None), Bound::Within(sec(9)))])])));
    old.write(EVENTS, event("e1", "NodeNotReady", 3));
    old.fails("no Event up to +129s");
    ready_node(said(Some(2)), Bound::Within(sec(9)))
        .object(1_000, EVENTS, event("e1", "NodeNotReady", 1))
        .object(2_000, EVENTS, event("e1", "NodeNotReady", 2))
        .passes("at +9s");
    ready_node(said(Some(2)), Bound::Within(sec(9)))
        .object(1_000, EVENTS, event("e1", "NodeNotReady", 1))
        .delete(2_000, EVENTS, ObjectKey::namespaced("default", "e1"))
        .object(3_000, EVENTS, event("e2", "NodeNotReady", 1))
        .delete(4_000, EVENTS, ObjectKey::namespaced("default", "e2"))
        .passes("at +9s");
    ready_node(said(Some(2)), Bound::Within(sec(9)))
        .object(1_000, EVENTS, event("e1", "NodeNotReady", 2))
        .object(2_000, EVENTS, event("e1", "NodeNotReady", 3))
        .fails(
            "no Event until +1s, then Event NodeNotReady 2 times until +2s, then Event NodeNotReady 3 times up to +9s",
        );
}

#[test]
fn so_many_pods_are_neither_fewer_nor_more() {
    let of = Subject::PodsOf { namespace: Text::of("default"), by: PodsBy::Owner(Text::of("db")), place: None };
    let line = line(of, Predicate::Count { count: 2, of: Box::new(Predicate::Exists) }, Bound::Within(sec(9)));
    for (names, holds, seen) in [
        ("a", false, "1 Pod (a without a Node) up to +129s"),
        ("ab", true, "at +0s"),
        ("abc", false, "3 Pods (a without a Node, b without a Node, c without a Node) up to +129s"),
    ] {
        let mut driver = Driver::new(scenario(Vec::from([Vec::from([line.clone()])])));
        for name in names.chars().map(String::from) {
            let (name, uid) = (name.as_str(), name.as_str());
            let owner = json!({"kind": "StatefulSet", "name": "db", "uid": "s"});
            let mut pod = json!({"metadata": {"name": name, "namespace": "default", "uid": uid}});
            pod.set(&["metadata", "ownerReferences"], Json::array(Vec::from([owner])));
            driver.write(PODS, pod);
        }
        if holds { driver.passes(seen) } else { driver.fails(seen) }
    }
}

#[test]
fn nothing_else_changes_but_what_other_lines_name() {
    let lines = || {
        Vec::from([
            on_node(Predicate::NothingElseChanges, Bound::Act),
            on_node(ready("Unknown"), Bound::Within(sec(9))),
        ])
    };
    let mut quiet = Driver::with_node(Vec::from([lines()]), with("True", &[]));
    quiet.node(4_000, "Unknown", &[]).passes("up to +9s");
    let mut loud = Driver::with_node(Vec::from([lines()]), with("True", &[]));
    loud.node(4_000, "Unknown", &["k"]).node(5_000, "Unknown", &[]).fails("spec.taints: + k:NoExecute at +4s, by kcm");
}

#[test]
fn a_gap_leaves_open_what_it_could_have_hidden() {
    ready_node(ready("True"), Bound::For(sec(25))).gap(5_000, NODES).is_inconclusive();
    ready_node(ready("True"), Bound::For(sec(25))).gap(5_000, PODS).passes("up to +25s");
    ready_node(ready("Unknown"), Bound::Within(sec(25))).gap(5_000, NODES).is_inconclusive();
    ready_node(ready("Unknown"), Bound::Within(sec(25))).gap(5_000, NODES).node(6_000, "Unknown", &[]).passes("at +6s");
    ready_node(ready("Unknown"), Bound::Between(sec(10), sec(25)))
        .gap(5_000, NODES)
        .node(12_000, "Unknown", &[])
        .is_inconclusive();
    ready_node(ready("True"), Bound::For(sec(25)))
        .gap(5_000, NODES)
        .node(6_000, "False", &[])
        .fails("Ready=True (R) until +6s, then False: 19s short of 25s");
}

#[test]
fn a_fault_that_met_nothing_fails_its_step() {
    let mut plan = scenario(Vec::from([Vec::from([on_node(ready("True"), Bound::For(sec(5)))])]));
    plan.acts[0].when = Vec::from([when(Action::AddRule(Fault::disconnect("machine/w1")))]);
    let mut driver = Driver::new(plan);
    driver.write(NODES, with("True", &[]));
    driver.hits = FaultEffect::Messages(0);
    let outcome = driver.finish();
    assert_eq!(outcome.verdict, Verdict::Failed);
    assert_eq!(outcome.mismatch.unwrap().observed, "the fault did nothing: it met no message");
}

#[test]
fn the_second_act_counts_from_its_own_zero_and_comes_after_the_first() {
    let acts = || {
        Vec::from([
            Vec::from([on_node(ready("Unknown"), Bound::Within(sec(10)))]),
            Vec::from([on_node(ready("True"), Bound::Between(sec(3), sec(4)))]),
        ])
    };
    let mut driver = Driver::with_node(acts(), with("True", &[]));
    driver.node(4_000, "Unknown", &[]).go(10_001).settle();
    driver.node(3_000, "True", &[]);
    let outcome = driver.finish();
    assert_eq!(outcome.verdict, Verdict::Passed, "{:?}", outcome.mismatch);
    assert_eq!(outcome.duration, sec(14));
    let mut failed = Driver::with_node(acts(), with("True", &[]));
    failed.go(200_000);
    let outcome = failed.finish();
    assert_eq!(outcome.steps.iter().filter(|step| step.position.text.starts_with("Then")).count(), 1);
}

#[test]
fn an_act_ends_at_its_largest_bound() {
    let lines = Vec::from([
        on_node(ready("True"), Bound::Within(sec(3))),
        on_node(Predicate::MatchesSnapshot(SnapshotKind::History), Bound::Act),
        on_node(tainted("k").negated(), Bound::For(sec(30))),
    ]);
    let mut driver = Driver::with_node(Vec::from([lines]), with("True", &[]));
    driver.node(20_000, "False", &[]).node(30_000, "Unknown", &[]);
    let outcome = driver.finish();
    assert_eq!(outcome.duration, sec(30));
    let printed = format!("{}", outcome.snapshots[0].value);
    assert_eq!(
        printed,
        "[{\"at\":\"+20s\",\"by\":\"kcm/status\",\"changed\":{\"status.conditions[Ready].status\":\"True -> False\"}},\
         {\"at\":\"+30s\",\"by\":\"kcm/status\",\"changed\":{\"status.conditions[Ready].status\":\"False -> \
         Unknown\"}}]"
    );
}

#[test]
fn a_history_tells_all_acts() {
    let history = || on_node(Predicate::MatchesSnapshot(SnapshotKind::History), Bound::Act);
    let acts = Vec::from([
        Vec::from([history(), on_node(ready("Unknown"), Bound::Within(sec(20)))]),
        Vec::from([history(), on_node(ready("True"), Bound::Within(sec(10)))]),
    ]);
    let mut driver = Driver::with_node(acts, with("True", &[]));
    driver.node(4_000, "Unknown", &[]).go(20_000).settle();
    driver.node(1_000, "True", &[]);
    let outcome = driver.finish();
    assert_eq!(outcome.verdict, Verdict::Passed, "{:?}", outcome.mismatch);
    let first = "{\"at\":\"+4s\",\"by\":\"kcm/status\",\"changed\":{\"status.conditions[Ready].status\":\"True -> \
                 Unknown\"}}";
    let printed: Vec<String> = outcome.snapshots.iter().map(|snapshot| format!("{}", snapshot.value)).collect();
    assert_eq!(printed[0], format!("[{first}]"));
    assert!(printed[1].starts_with("[{\"act\":\"") && printed[1].contains(&format!("}},{first},{{\"act\":\"")));
    assert!(printed[1].contains("\"after\":\"+20s\"},{\"at\":\"+1s\""), "{}", printed[1]);
}

#[test]
fn limits_that_are_told_by_the_grace_period_move_with_it() {
    let limits = |from, to| GraceLimits { from, to };
    let shifted = |bound, in_grace, grace| {
        let line = Expectation { in_grace, ..on_node(ready("True"), bound) };
        let act = Act { when: Vec::new(), expectations: Vec::from([line]) };
        let mut scenario = Scenario { acts: Vec::from([act]), ..Scenario::default() };
        scenario.set_grace_period(grace);
        scenario.acts.remove(0).expectations.remove(0).bound
    };
    assert_eq!(shifted(Bound::Within(sec(56)), limits(false, true), sec(40)), Bound::Within(sec(46)));
    assert_eq!(shifted(Bound::Within(sec(56)), limits(false, false), sec(40)), Bound::Within(sec(56)));
    assert_eq!(shifted(Bound::For(sec(39)), limits(false, true), sec(3)), Bound::For(SignedDuration::ZERO));
    let between = Bound::Between(sec(39), sec(56));
    assert_eq!(shifted(between.clone(), limits(true, true), sec(60)), Bound::Between(sec(49), sec(66)));
    assert_eq!(shifted(between.clone(), limits(true, false), sec(45)), Bound::Between(sec(34), sec(56)));
    assert_eq!(shifted(between.clone(), limits(true, true), sec(50)), between);
}

#[test]
fn a_failure_reads_as_the_guide_says() {
    let mut driver = ready_node(ready("Unknown"), Bound::Within(sec(40)));
    driver.go(46_251);
    let decision = Decision {
        id: DecisionId(1),
        about: Text::of("node/w1"),
        what: String::from("Ready -> Unknown"),
        because: Vec::from([Because::Fact(String::from("50.010s > grace period 50s"))]),
    };
    let component = Text::of("node-lifecycle-controller");
    let recorded = RecordedDecision { at: driver.now, number: 17, component, decision, because: Vec::new() };
    let now = driver.now;
    driver.run.handle_observation(Observation::Decision(recorded), now);
    driver.because = Some(17);
    driver.node(46_251, "Unknown", &[]);
    let mut mismatch = driver.finish().mismatch.unwrap();
    mismatch.replay = String::from("nodeproof run");
    assert_eq!(
        format!("{mismatch}"),
        "a.feature:9: Then it is so
  expected  Ready=Unknown within 40s
  observed  Ready=True (R) until +46.251s, then Unknown: 6.251s late
  why       d17 node-lifecycle-controller at +46.251s: Ready -> Unknown: 50.010s > grace period 50s
  last      +46.251s Node w1: kcm/status wrote status.conditions[Ready].status · +0s the kubelet on w1 is killed \
  (line 8) · +0s Node w1: kcm/status wrote object
  replay    nodeproof run"
    );
}

#[test]
fn a_refused_request_fails_its_step_unless_a_line_expects_it() {
    let request = || {
        let call = Call::new(Verb::Create, NODES, "", "");
        when(Action::Api { identity: Identity::admin(), call })
    };
    let answered = |lines: Vec<Expectation>| {
        let mut plan = scenario(Vec::from([lines]));
        plan.acts[0].when = Vec::from([request()]);
        let mut run = Run::new(Arc::new(plan), RunOptions::default(), start());
        run.handle_start(start());
        let Some(RunOutput::Perform { id, .. }) = run.poll_output() else { panic!("no deed") };
        let answer = AnswerSeen { code: 422, message: String::from("Node is invalid"), ..AnswerSeen::default() };
        run.handle_observation(Observation::Answer(id, answer), start());
        while run.next_deadline().is_some() {
            run.handle_timeout(run.next_deadline().unwrap().at);
        }
        run.into_outcome()
    };
    let line = |code, text| {
        let predicate = Predicate::Answered { code: Some(code), text: Some(Text::of(text)) };
        Vec::from([line(Subject::Answer, predicate, Bound::AtOnce)])
    };
    assert_eq!(answered(line(422, "invalid")).verdict, Verdict::Passed);
    let wrong = answered(line(403, "invalid"));
    assert_eq!(wrong.mismatch.unwrap().observed, "answered 422 \"Node is invalid\" at +0s");
    assert_eq!(answered(Vec::new()).mismatch.unwrap().observed, "answered 422 \"Node is invalid\"");
}

#[test]
fn a_given_that_does_not_come_true_fails_and_says_what_is_there() {
    let mut plan = scenario(Vec::new());
    let setup = Setup::Until(Fact { subject: node(), predicate: ready("True") });
    plan.given.push(super::super::Given { setup, position: Position::default() });
    let mut driver = Driver::new(plan);
    driver.write(NODES, with("False", &[]));
    let outcome = driver.finish();
    assert_eq!(outcome.mismatch.unwrap().observed, "Ready=False (R)");
    assert_eq!(outcome.duration, sec(600));
}

#[test]
fn what_only_a_given_or_a_when_waits_for_is_watched_too() {
    let of = |kind: &'static str| {
        let resource = Resource::of("", "v1", kind);
        let subject = Subject::Object(ObjectRef { resource, ..ObjectRef::pod("default", "x") });
        Fact { subject, predicate: field("data.a", FieldTest::Present) }
    };
    let mut plan = scenario(Vec::from([Vec::new()]));
    plan.given.push(super::super::Given { setup: Setup::Until(of("configmaps")), position: Position::default() });
    plan.acts[0].when = Vec::from([when(ScenarioAction::Until(of("secrets")))]);
    let watched = Driver::new(plan).run.subscriptions();
    for kind in ["configmaps", "secrets"] {
        assert!(watched.contains(&Resource::of("", "v1", kind)), "{watched:?}");
    }
}

#[test]
fn time_that_passes_lies_before_zero() {
    let mut plan = scenario(Vec::from([Vec::from([on_node(ready("True"), Bound::Within(sec(5)))])]));
    plan.acts[0].when = Vec::from([when(ScenarioAction::Pass(sec(60)))]);
    let mut driver = Driver::new(plan);
    driver.write(NODES, with("True", &[]));
    let outcome = driver.finish();
    assert_eq!((outcome.duration, outcome.zeros), (sec(65), Vec::from([start() + sec(60)])));
}

#[test]
fn a_when_may_wait_for_a_state_and_time_is_counted_from_what_follows() {
    let plan = || {
        let mut plan = scenario(Vec::from([Vec::from([on_node(tainted("k"), Bound::Within(sec(5)))])]));
        let ready = Fact { subject: node(), predicate: ready("True") };
        plan.acts[0].when = Vec::from([when(ScenarioAction::Until(ready)), when(ScenarioAction::Pass(sec(1)))]);
        plan
    };
    let mut driver = Driver::new(plan());
    driver.write(NODES, with("False", &[]));
    driver.settle();
    driver.node(30_000, "True", &[]).node(33_000, "True", &["k"]);
    let outcome = driver.finish();
    assert_eq!((outcome.verdict, outcome.zeros), (Verdict::Passed, Vec::from([start() + sec(31)])));

    let mut driver = Driver::new(plan());
    driver.write(NODES, with("False", &[]));
    let outcome = driver.finish();
    let mismatch = outcome.mismatch.unwrap();
    assert_eq!((mismatch.expected.as_str(), outcome.duration), ("Node \"w1\": Ready=True within 600s", sec(600)));
    assert_eq!(mismatch.observed, "Ready=False (R)");
}

#[test]
fn an_interval_may_depend_on_another_fact() {
    let after = || Box::new(Fact { subject: node(), predicate: tainted("k") });
    let apart = || ready_node(ready("Unknown"), Bound::Apart { from: sec(10), to: sec(11), after: after() });
    apart().node(5_000, "True", &["k"]).node(15_000, "Unknown", &["k"]).passes("at +15s");
    apart().node(5_000, "True", &["k"]).node(16_000, "Unknown", &["k"]).passes("at +16s");
    apart()
        .node(5_000, "True", &["k"])
        .node(14_000, "Unknown", &["k"])
        .fails("Ready=Unknown (R) at +14s: 0.999s too early");
    apart()
        .node(5_000, "True", &["k"])
        .node(17_000, "Unknown", &["k"])
        .fails("Ready=True (R) until +17s, then Unknown: 1s late");
    apart().fails("what it is measured from did not happen up to +600s");
}

#[test]
fn several_objects_are_counted_and_named() {
    let of = ["w1", "w2"].map(ObjectRef::node).to_vec();
    let several = || Subject::Several { called: Text::of("the Nodes"), of: of.clone() };
    let count = |count| Predicate::Count { count, of: Box::new(tainted("k")) };
    let run = |predicate, bound| {
        Driver::with_node(Vec::from([Vec::from([line(several(), predicate, bound)])]), with("True", &[]))
    };
    run(count(1), Bound::Between(sec(5), sec(6))).node(5_000, "True", &["k"]).passes("at +5s");
    run(count(2), Bound::Within(sec(6)))
        .node(5_000, "True", &["k"])
        .fails("0 of 2 until +5s, then 1 of 2: w1 up to +126s");
    run(count(1).negated(), Bound::For(sec(6)))
        .node(5_000, "True", &["k"])
        .fails("0 of 2 until +5s, then 1 of 2: w1: 1s short of 6s");
    run(count(2).negated(), Bound::For(sec(6))).node(5_000, "True", &["k"]).passes("up to +6s");
}

#[test]
fn a_container_runs_if_its_machine_says_so() {
    let predicate =
        Predicate::ContainerRuns { namespace: Text::of("default"), pod: Text::of("web"), container: Text::of("main") };
    let shown = |state| {
        let other = json!({"namespace": "other", "pod": "web", "container": "main", "state": "running"});
        let own = json!({"namespace": "default", "pod": "web", "container": "main", "state": state});
        json!({"containers": [other, own]})
    };
    for (state, holds) in [("running", true), ("exited", false)] {
        let mut view = ClusterView::default();
        view.set_machine(Text::of("w1"), shown(state));
        let fact = Fact { subject: Subject::Machine(Text::of("w1")), predicate: predicate.clone() };
        let truth = truth::judge(&fact, &view, &view);
        assert_eq!(truth.holds == Holds::Yes, holds, "{}", truth.seen);
    }
}

#[test]
fn what_comes_while_the_first_act_waits_belongs_to_what_was_given() {
    let lines = Vec::from([on_node(ready("True"), Bound::For(sec(10)))]);
    let mut driver = Driver::new(scenario(Vec::from([lines])));
    driver.run.options.lead = sec(2);
    driver.write(NODES, with("True", &["new"]));
    driver.settle();
    driver.node(1_000, "True", &[]);
    driver.go(2_000).settle();
    driver.node(3_000, "True", &["later"]);
    let outcome = driver.finish();
    let entries: Vec<_> =
        outcome.histories.to_vec()[0].entries.iter().map(|entry| entry.at.duration_since(start())).collect();
    assert_eq!((outcome.verdict, entries), (Verdict::Passed, Vec::from([sec(5)])));
}

#[test]
fn the_times_of_a_write_count_from_the_zero_of_its_own_act() {
    let lines = || Vec::from([on_node(ready("True"), Bound::For(sec(10)))]);
    let mut driver = Driver::new(scenario(Vec::from([lines(), lines()])));
    driver.write(NODES, with("True", &[]));
    driver.settle();
    driver.node(3_000, "True", &["first"]);
    driver.go(10_000).settle();
    driver.node(4_000, "True", &["second"]);
    let outcome = driver.finish();
    let entries: Vec<_> =
        outcome.histories.to_vec()[0].entries.iter().map(|entry| entry.at.duration_since(entry.zero)).collect();
    assert_eq!((outcome.verdict, entries), (Verdict::Passed, Vec::from([sec(3), sec(4)])));
}

#[test]
fn a_line_goes_on_as_long_as_it_has_actions() {
    let mut first = when(kill());
    first.actions.push(kill().into());
    let mut second = when(kill());
    second.position.line = 10;
    let act = Act { when: Vec::from([first, second]), expectations: Vec::new() };
    let scenario = Scenario { acts: Vec::from([act]), ..Scenario::default() };
    let mut run = Run::new(Arc::new(scenario), RunOptions::default(), start());
    run.handle_start(start());
    let mut told = Vec::new();
    while let Some(RunOutput::Perform { id, step, .. }) = run.poll_output() {
        told.push((step.line, run.goes_on_with(&step)));
        run.handle_observation(Observation::Done(id), start());
    }
    assert_eq!(told, [(8, true), (8, false), (10, false)]);
}
