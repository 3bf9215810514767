//! Tests scenarios on the simulator, from the Given to the failure text.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::SignedDuration;

use crate::components::machine::{MachineAction, MachineSpec};
use crate::json;
use crate::network::{Call, Identity, NODES, Verb};
use crate::objects::Text;
use crate::profile::{Release, Settings};
use crate::scenario::{
    Act, Action, Bound, Bystanders, Expectation, Fact, Feed, FieldTest, Given, GraceLimits, HandFedNode, ObjectRef,
    Outcome, OwnLook, OwnSeen, Position, Predicate, Scenario, ScenarioAction, Setup, SnapshotKind, Subject, Taint,
    Verdict, When,
};
use crate::sim::{Own, SetupCache, SimulationOptions, run_scenario, run_scenario_with};

fn sec(seconds: i64) -> SignedDuration {
    SignedDuration::from_secs(seconds)
}

fn at(line: u32, text: &'static str) -> Position {
    Position { file: Text::of("a.feature"), line, column: 5, text: Text::of(text) }
}

fn ready(status: &'static str) -> Predicate {
    Predicate::Condition { kind: Text::of("Ready"), status: Text::of(status), reason: None, message: None }
}

fn unreachable(effect: &'static str) -> Predicate {
    let key = Text::of("node.kubernetes.io/unreachable");
    Predicate::Taint(Taint { key, value: None, effect: Text::of(effect) })
}

fn line(predicate: Predicate, bound: Bound) -> Expectation {
    let fact = Fact { subject: Subject::Object(ObjectRef::node("w1")), predicate };
    Expectation { fact, bound, in_grace: GraceLimits::default(), position: at(7, "Then it is so") }
}

/// Two hand-fed Nodes, of which one does something.
fn scenario(action: ScenarioAction, expectations: Vec<Expectation>) -> Scenario {
    let node = |name| {
        let mut node = HandFedNode::new(Text::of(name));
        node.labels.push((Text::of("topology.kubernetes.io/zone"), Text::of(name)));
        Given { setup: Setup::HandFedNodes(Vec::from([node])), position: at(5, "Given a hand-fed Node") }
    };
    let when = When { actions: Vec::from([action]), position: at(6, "When the hand-fed Node \"w1\" falls silent") };
    let mut scenario = Scenario {
        given: Vec::from([node("w1"), node("w2")]),
        acts: Vec::from([Act { when: Vec::from([when]), expectations }]),
        ..Scenario::default()
    };
    scenario.cluster.bystanders = Bystanders::Nobody;
    scenario
}

fn silence() -> ScenarioAction {
    ScenarioAction::Feed { node: Text::of("w1"), feed: Feed::Silence }
}

#[track_caller]
fn passes(scenario: &Scenario, options: SimulationOptions) -> Outcome {
    let outcome = run_scenario(scenario, options);
    assert_eq!(outcome.verdict, Verdict::Passed, "{}", outcome.mismatch.unwrap());
    outcome
}

#[test]
fn a_silent_node_becomes_unreachable_after_the_grace_period_of_its_release() {
    for (release, first, last) in [(Release::new(34, 4), 40, 56), (Release::new(31, 0), 29, 46)] {
        let lines = Vec::from([
            line(ready("True"), Bound::For(sec(first))),
            line(ready("Unknown"), Bound::Between(sec(first), sec(last))),
            line(unreachable("NoExecute"), Bound::Within(sec(last + 10))),
            line(
                Predicate::Field { path: "status.capacity".parse().unwrap(), test: FieldTest::Unchanged },
                Bound::For(sec(120)),
            ),
            line(Predicate::MatchesSnapshot(SnapshotKind::History), Bound::Act),
        ]);
        let options = SimulationOptions { settings: Settings::of(release), ..SimulationOptions::default() };
        let outcome = passes(&scenario(silence(), lines), options);
        let history = outcome.snapshots[0].value.to_string();
        assert!(history.contains("\"status.conditions[Ready].status\":\"True -> Unknown\""), "{history}");
        assert!(history.contains("+ node.kubernetes.io/unreachable:NoExecute"), "{history}");
    }
}

#[test]
fn a_miss_says_how_late_it_was_and_why() {
    let lines = Vec::from([line(ready("Unknown"), Bound::Within(sec(30)))]);
    let outcome = run_scenario(&scenario(silence(), lines), SimulationOptions::default());
    let text = outcome.mismatch.unwrap().to_string();
    assert!(text.contains("observed  Ready=True (KubeletReady) until +"), "{text}");
    assert!(text.contains(", then Unknown: ") && text.contains("s late\n"), "{text}");
    assert!(text.contains("  why       d") && text.contains(" node-lifecycle-controller at +"), "{text}");
    assert!(text.contains("Lease w1 renewed") && text.contains("falls silent (line 6)"), "{text}");
}

#[test]
fn a_fed_node_that_returns_says_since_when() {
    let away = Act {
        when: Vec::from([When { actions: Vec::from([silence()]), position: at(6, "When it falls silent") }]),
        expectations: Vec::from([line(ready("Unknown"), Bound::Within(sec(60)))]),
    };
    let resume = ScenarioAction::Feed { node: Text::of("w1"), feed: Feed::Resume };
    let since = |test| {
        let path = "status.conditions[Ready].lastTransitionTime".parse().unwrap();
        line(Predicate::Field { path, test }.negated(), Bound::AtOnce)
    };
    let made = json!("2026-01-01T00:00:00Z");
    let mut scenario = scenario(resume, Vec::from([since(FieldTest::Unchanged), since(FieldTest::Is(made))]));
    scenario.acts.insert(0, away);
    passes(&scenario, SimulationOptions::default());
}

#[test]
fn a_scenario_that_goes_on_with_the_cluster_of_another_ends_as_it_does_by_itself() {
    let within = |seconds| Vec::from([line(ready("Unknown"), Bound::Within(sec(seconds)))]);
    let (good, late) = (scenario(silence(), within(60)), scenario(silence(), within(30)));
    let mut larger = good.clone();
    let third = Setup::HandFedNodes(Vec::from([HandFedNode::new(Text::of("w3"))]));
    larger.given.push(Given { setup: third, position: at(6, "Given a hand-fed Node") });
    let mut cache = SetupCache::default();
    for seed in 1..=3 {
        for scenario in [&good, &late, &larger, &good] {
            let options = SimulationOptions { seed, ..SimulationOptions::default() };
            let resumed = run_scenario_with(scenario, options.clone(), &Own::default(), &mut cache);
            assert_eq!(resumed, run_scenario(scenario, options));
            assert_eq!(resumed.mismatch.is_some(), *scenario == late);
        }
        // The second scenario kept the cluster behind the lines that it had in common with the first.
        let kept: Vec<bool> = cache.given.iter().map(|(_, prepared)| prepared.is_some()).collect();
        assert_eq!(kept, [false, true], "seed {seed}");
    }
}

#[test]
fn the_same_seed_gives_the_same_outcome() {
    let lines = || Vec::from([line(ready("Unknown"), Bound::Within(sec(60)))]);
    let run = || run_scenario(&scenario(silence(), lines()), SimulationOptions::default());
    let (one, other) = (run(), run());
    assert!(!one.trace.is_empty());
    assert_eq!(one, other);
}

/// Unknown comes 50 s after the first health pass that saw the last Lease, so 40 to 55 s after a loss of power.
#[test]
fn seeds_move_heartbeats_and_loops_against_each_other() {
    let lines = Vec::from([line(ready("True"), Bound::For(sec(48)))]);
    let mut scenario = scenario(silence(), lines);
    let machine = MachineSpec::from_json(&json!({"name": "w1"})).unwrap();
    scenario.given =
        Vec::from([Given { setup: Setup::ReadyNodes(Vec::from([machine])), position: at(5, "Given a ready Node") }]);
    let power_off = Action::Machine { name: Text::of("w1"), action: MachineAction::PowerOff };
    scenario.acts[0].when[0].actions = Vec::from([ScenarioAction::Action(Box::new(power_off))]);
    let holds = |seed: &u64| {
        let options = SimulationOptions { seed: *seed, ..SimulationOptions::default() };
        run_scenario(&scenario, options).verdict == Verdict::Passed
    };
    let held = (1..=20).filter(holds).count();
    assert!((4..=18).contains(&held), "under {held} of 20 seeds the Node is ready for 48 s");
}

#[test]
fn a_request_s_answer_is_judged() {
    let call = Call::new(Verb::Create, NODES, "", "").body(json!({"metadata": {"name": "w1"}}));
    let create = ScenarioAction::from(Action::Api { identity: Identity::admin(), call });
    let answered = Predicate::Answered { code: Some(409), text: Some(Text::of("already exists")) };
    let fact = Fact { subject: Subject::Answer, predicate: answered };
    let expectation = Expectation {
        fact,
        bound: Bound::AtOnce,
        in_grace: GraceLimits::default(),
        position: at(7, "Then it is refused"),
    };
    passes(&scenario(create, Vec::from([expectation])), SimulationOptions::default());
}

#[test]
fn taints_are_added_and_taken_off_beside_the_others() {
    let taint = |key| Taint { key: Text::of(key), value: Some(Text::of("v")), effect: Text::of("NoSchedule") };
    let change = |add: &[&'static str], remove: &[&'static str]| ScenarioAction::Taint {
        node: Text::of("w1"),
        add: add.iter().map(|key| taint(key)).collect(),
        remove: remove.iter().map(|key| taint(key)).collect(),
    };
    let lines = Vec::from([
        line(Predicate::Taint(taint("b")), Bound::For(sec(5))),
        line(Predicate::Taint(taint("a")).negated(), Bound::For(sec(5))),
    ]);
    let mut plan = scenario(change(&["a", "b"], &[]), lines);
    plan.acts[0].when[0].actions.push(change(&[], &["a"]));
    passes(&plan, SimulationOptions::default());
}

#[test]
fn a_flag_that_is_none_fails_the_scenario_before_it_runs() {
    let mut plan = scenario(silence(), Vec::new());
    plan.cluster.flags.push((Text::of("kube-controller-manager.nope"), Text::of("1s")));
    let outcome = run_scenario(&plan, SimulationOptions::default());
    assert_eq!(outcome.mismatch.unwrap().observed, String::from("unknown flag \"kube-controller-manager.nope\""));
}

#[test]
fn steps_of_the_users_own_do_things_and_look_at_them() {
    let mut own = Own::default();
    own.add_action(
        "cordon",
        Arc::new(|simulation, body| {
            let name = body.get("node").as_text().cloned().unwrap_or_default();
            let call = Call::strategic_patch(NODES, "", name, json!({"spec": {"unschedulable": true}}));
            let answer = simulation.request(Identity::admin(), call).map_err(|error| error.to_string())?;
            if answer.is_success() { Ok(()) } else { Err(answer.message()) }
        }),
    );
    own.add_look(
        "cordoned",
        Arc::new(|simulation, _| {
            let nodes = simulation.api().objects(&NODES);
            let is_cordoned =
                |node: &crate::objects::Object| *node.json().at(&["spec", "unschedulable"]) == json!(true);
            let count = nodes.iter().filter(|node| is_cordoned(node)).count();
            OwnSeen { holds: count == 1, seen: alloc::format!("{count} Nodes are cordoned") }
        }),
    );
    let action = |node| ScenarioAction::from(Action::Custom { name: Text::of("cordon"), body: json!({"node": node}) });
    let holds = |name, bound| {
        let subject = Subject::Own(OwnLook { name: Text::of(name), body: Text::of("{}") });
        let fact = Fact { subject, predicate: Predicate::Holds };
        Expectation { fact, bound, in_grace: GraceLimits::default(), position: at(7, "Then one Node is cordoned") }
    };
    let run = |node, name, bound| {
        let plan = scenario(action(node), Vec::from([holds(name, bound)]));
        let outcome = run_scenario_with(&plan, SimulationOptions::default(), &own, &mut SetupCache::default());
        (outcome.verdict, outcome.mismatch.map(|mismatch| mismatch.to_string()).unwrap_or_default())
    };
    assert_eq!(run("w1", "cordoned", Bound::For(sec(20))), (Verdict::Passed, String::new()));
    assert!(run("nobody", "cordoned", Bound::AtOnce).1.contains("\"nobody\" not found"));
    assert!(run("w1", "unknown", Bound::AtOnce).1.contains("nothing was seen by \"unknown\""));
    let nothing = scenario(ScenarioAction::Pass(sec(1)), Vec::from([holds("cordoned", Bound::Within(sec(5)))]));
    let outcome = run_scenario_with(&nothing, SimulationOptions::default(), &own, &mut SetupCache::default());
    assert!(outcome.mismatch.unwrap().to_string().contains("0 Nodes are cordoned"));
}
