//! Tests of a live run without a cluster: what is handed to the judge and when, and what ends the run.

use nodeproof_core::json;
use nodeproof_core::network::{EVENTS, PODS};
use nodeproof_core::scenario::{
    Act, Bound, Expectation, Fact, Feed, FieldTest, Given, GraceLimits, ObjectRef, Predicate, ScenarioAction, Setup,
    Verdict, When,
};

use super::*;

fn at(millis: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_millis(millis)
}

fn position(text: &str) -> Position {
    Position { text: text.into(), ..Position::default() }
}

fn action(number: i64) -> ScenarioAction {
    let condition = Feed::Condition {
        kind: format!("C{number}").into(),
        status: "True".into(),
        reason: "R".into(),
        message: "m".into(),
    };
    ScenarioAction::Feed { node: "w1".into(), feed: condition }
}

/// A scenario with actions before the first act; then `spec.step` of Node w1 must become 5 within a second and stay so
/// for ten.
fn scenario(actions: &[i64]) -> Scenario {
    let given = Given { setup: Setup::Do(action(0)), position: position("given") };
    let path = "spec.step".parse().unwrap();
    let fact = Fact {
        subject: Subject::Object(ObjectRef::node("w1")),
        predicate: Predicate::Field { path, test: FieldTest::Is(Json::from(5)) },
    };
    let line = Expectation {
        fact,
        bound: Bound::For(SignedDuration::from_secs(10)),
        in_grace: GraceLimits::default(),
        position: position("keeps"),
    };
    let when = When { actions: actions.iter().map(|number| action(*number)).collect(), position: position("when") };
    let act = Act { when: Vec::from([when]), expectations: Vec::from([line]) };
    Scenario { given: Vec::from([given]), acts: Vec::from([act]), ..Scenario::default() }
}

fn live(scenario: Scenario) -> LiveRun {
    let options = RunOptions { wait_for_late: SignedDuration::ZERO, ..RunOptions::default() };
    LiveRun::new(scenario, Aliases::none(), options, at(0))
}

fn node(step: i64, revision: u64) -> Json {
    json!({"kind": "Node", "metadata": {"name": "w1", "resourceVersion": revision.to_string()}, "spec": {"step": step}})
}

fn arrive(live: &mut LiveRun, millis: i64, resource: Resource, seen: Seen) {
    live.handle_arrival(Arrival { at: at(millis), resource, seen });
}

fn list(live: &mut LiveRun, millis: i64) {
    for resource in [NODES, LEASES, PODS, EVENTS] {
        let objects = if resource == NODES { vec![node(5, 3)] } else { Vec::new() };
        arrive(live, millis, resource, Seen::Listed { objects, resource_version: 10 });
    }
    live.handle_timeout(at(millis));
}

fn commands(live: &mut LiveRun) -> Vec<String> {
    let name = |command| match command {
        DriverCommand::Perform(id, _) => format!("perform {}", id.0),
        DriverCommand::FinishFeeding => "finish feeding".to_owned(),
        DriverCommand::FindTrouble => "find trouble".to_owned(),
        other => format!("{other:?}").split('(').next().unwrap_or_default().to_owned(),
    };
    std::iter::from_fn(|| live.poll_command()).map(name).collect()
}

fn perform(live: &mut LiveRun, number: u32, written: Vec<Written>, millis: i64) {
    live.handle_performed(Performed { written, ..Performed::of(Observation::Done(ActionId(number))) }, at(millis));
}

/// Plays the scenario up to its `When`, which is under way at 650 ms.
fn in_when() -> LiveRun {
    let mut live = live(scenario(&[1]));
    list(&mut live, 100);
    live.handle_timeout(at(500));
    assert_eq!(commands(&mut live), ["NodeChanged", "perform 1"]);
    perform(&mut live, 1, Vec::new(), 500);
    live.handle_written(Vec::new(), at(500));
    assert_eq!(commands(&mut live), ["finish feeding"]);
    // The act begins when everything that arrived before it is known.
    assert_eq!(live.next_deadline(), Some(at(650)));
    live.handle_timeout(at(650));
    assert_eq!(commands(&mut live), ["perform 2"]);
    live
}

/// Plays the scenario up to the beginning of the act, at 1 s.
fn in_act() -> LiveRun {
    let mut live = in_when();
    perform(&mut live, 2, Vec::new(), 1000);
    live.handle_written(Vec::new(), at(1000));
    assert_eq!(commands(&mut live), ["finish feeding"]);
    live
}

fn end(live: &mut LiveRun, from: i64, to: i64) {
    for millis in (from..=to).step_by(100) {
        live.handle_timeout(at(millis));
        if commands(live).contains(&"find trouble".to_owned()) {
            live.handle_trouble(None, at(millis));
        }
    }
}

#[test]
fn an_older_change_held_over_a_list_after_410_breaks_no_line_that_keeps() {
    let mut live = in_when();
    // The action wrote revision 28, which a list shows: a change before it is held at the same time.
    perform(&mut live, 2, Vec::from([(NODES, 28)]), 900);
    live.handle_written(Vec::new(), at(900));
    arrive(&mut live, 980, NODES, Seen::Set(node(4, 20)));
    arrive(&mut live, 990, NODES, Seen::Listed { objects: vec![node(5, 30)], resource_version: 31 });
    end(&mut live, 1000, 12_000);
    assert!(live.is_over());
    assert_eq!(live.cache.get(&NODES, &ObjectKey::cluster("w1")), Some(&node(5, 30)));
    // Something may have been missed before the list, but nothing that was seen breaks the line.
    let outcome = live.into_outcome().0.unwrap();
    assert_eq!(outcome.verdict, Verdict::Inconclusive, "{:?}", outcome.mismatch);
}

#[test]
fn what_came_and_went_before_a_list_after_410_was_not_seen() {
    let mut live = in_act();
    arrive(&mut live, 2000, NODES, Seen::Listed { objects: vec![node(5, 30)], resource_version: 31 });
    end(&mut live, 2000, 12_000);
    assert_eq!(live.into_outcome().0.unwrap().verdict, Verdict::Inconclusive);
}

#[test]
fn a_line_that_breaks_has_failed() {
    let mut live = in_act();
    arrive(&mut live, 2000, NODES, Seen::Set(node(4, 20)));
    end(&mut live, 2000, 12_000);
    assert_eq!(live.into_outcome().0.unwrap().verdict, Verdict::Failed);
    let mut live = in_act();
    end(&mut live, 2000, 12_000);
    assert_eq!(live.into_outcome().0.unwrap().verdict, Verdict::Passed);
}

#[test]
fn a_limit_is_judged_when_all_that_arrived_before_it_is_known() {
    let mut live = in_act();
    live.handle_timeout(at(11_149));
    assert!(!live.is_over());
    assert_eq!(live.next_deadline(), Some(at(11_150)).min(Some(live.examined + TROUBLE_PERIOD)));
    live.handle_timeout(at(11_150));
    assert!(live.is_over());
    assert_eq!(live.next_deadline(), None);
}

#[test]
fn a_line_waits_until_it_is_quiet_and_not_for_ever() {
    let mut live = live(scenario(&[1]));
    list(&mut live, 100);
    // The list was a change; 400 ms later the cluster is quiet, unless something else changes.
    assert_eq!(live.next_deadline(), Some(at(500)));
    arrive(&mut live, 300, NODES, Seen::Set(node(5, 20)));
    live.handle_timeout(at(500));
    assert_eq!(live.next_deadline(), Some(at(700)));
    arrive(&mut live, 600, NODES, Seen::Set(node(5, 21)));
    live.handle_timeout(at(700));
    live.handle_timeout(at(700));
    assert!(!commands(&mut live).contains(&"perform 1".to_owned()));
    arrive(&mut live, 900, NODES, Seen::Set(node(5, 22)));
    live.handle_timeout(at(1100));
    assert_eq!(commands(&mut live), ["NodeChanged", "perform 1"]);
}

#[test]
fn the_deeds_of_one_line_follow_each_other_and_end_together() {
    let mut live = live(scenario(&[1, 2]));
    list(&mut live, 100);
    live.handle_timeout(at(500));
    perform(&mut live, 1, Vec::new(), 500);
    live.handle_written(Vec::new(), at(500));
    live.handle_timeout(at(650));
    assert_eq!(commands(&mut live), ["NodeChanged", "perform 1", "finish feeding", "perform 2"]);
    perform(&mut live, 2, Vec::new(), 700);
    assert_eq!(commands(&mut live), ["perform 3"]);
    perform(&mut live, 3, Vec::new(), 700);
    assert_eq!(commands(&mut live), ["finish feeding"]);
}

#[test]
fn a_deed_is_done_when_the_watches_have_shown_its_write() {
    let written = || Vec::from([(NODES, 40)]);
    let is_done = |live: &LiveRun| !matches!(live.phase, LivePhase::CatchingUp { .. });
    for (shown, done) in [(39, false), (40, true), (41, true)] {
        let mut live = live(scenario(&[1]));
        list(&mut live, 100);
        live.handle_timeout(at(500));
        perform(&mut live, 1, written(), 500);
        live.handle_written(Vec::new(), at(500));
        assert!(!is_done(&live));
        arrive(&mut live, 510, NODES, Seen::Bookmark(shown));
        live.handle_timeout(at(510));
        assert_eq!(is_done(&live), done, "{shown}");
        assert!(done || live.next_deadline() == Some(at(3000)), "the cluster is looked at");
        live.handle_timeout(at(3500));
        assert!(is_done(&live), "it is awaited for 3 s");
    }
}

#[test]
fn a_cluster_that_has_broken_down_ends_a_scenario_at_once() {
    let mut live = live(scenario(&[1]));
    arrive(&mut live, 10, NODES, Seen::Trouble("connection refused".to_owned()));
    live.handle_timeout(at(10));
    assert_eq!(live.next_deadline(), Some(at(3000)));
    live.handle_timeout(at(3000));
    assert_eq!(commands(&mut live), ["find trouble"]);
    live.handle_trouble(Some("etcd was killed".to_owned()), at(3000));
    assert!(live.is_over());
    let (outcome, trouble) = live.into_outcome();
    assert_eq!((outcome, trouble), (None, Some(Trouble::Cluster("etcd was killed".to_owned()))));
}

#[test]
fn lists_that_do_not_come_are_awaited_for_half_a_minute() {
    let mut live = live(scenario(&[1]));
    live.handle_timeout(at(29_999));
    assert!(!live.is_over());
    live.handle_timeout(at(30_000));
    let why = "the cluster cannot be watched: no answer".to_owned();
    assert_eq!(live.into_outcome(), (None, Some(Trouble::Cluster(why))));
}

#[test]
fn what_is_not_seen_for_twenty_seconds_ends_a_scenario() {
    let mut live = in_act();
    arrive(&mut live, 2000, PODS, Seen::Trouble("connection refused".to_owned()));
    arrive(&mut live, 3000, PODS, Seen::Bookmark(50));
    assert_eq!(live.silence(at(9000)), (SignedDuration::from_secs(1), false));
    arrive(&mut live, 4000, PODS, Seen::Trouble("connection refused".to_owned()));
    arrive(&mut live, 5000, PODS, Seen::Trouble("connection reset".to_owned()));
    live.handle_trouble(None, at(24_000));
    assert!(!live.is_over());
    assert_eq!(live.silence(at(24_000)), (SignedDuration::from_secs(20), true));
    live.handle_trouble(None, at(24_001));
    let (outcome, trouble) = live.into_outcome();
    assert!(outcome.is_some());
    let why = "the API server has not answered for 20s: connection reset".to_owned();
    assert_eq!(trouble, Some(Trouble::Cluster(why)));
}

#[test]
fn an_interruption_ends_a_scenario_and_what_it_was_to_do() {
    let mut live = live(scenario(&[1]));
    list(&mut live, 100);
    live.handle_timeout(at(500));
    live.end(Trouble::Interrupted);
    assert_eq!(commands(&mut live), [""; 0]);
    live.handle_timeout(at(900));
    assert_eq!(commands(&mut live), [""; 0]);
    assert_eq!(live.into_outcome().1, Some(Trouble::Interrupted));
}

#[test]
fn a_look_at_a_machine_that_takes_long_is_done_less_often() {
    let mut own = scenario(&[1]);
    let path = "state".parse().unwrap();
    own.acts[0].expectations[0].fact = Fact {
        subject: Subject::Machine("w1".into()),
        predicate: Predicate::Field { path, test: FieldTest::Is(Json::from("off")) },
    };
    let mut live = live(own);
    let mut looks = Vec::new();
    let mut ends = None;
    list(&mut live, 100);
    for millis in (100..9000).step_by(50) {
        live.handle_timeout(at(millis));
        while let Some(command) = live.poll_command() {
            match command {
                DriverCommand::Perform(id, _) => perform(&mut live, id.0, Vec::new(), millis),
                DriverCommand::FinishFeeding => live.handle_written(Vec::new(), at(millis)),
                DriverCommand::LookAtMachines(_) => {
                    looks.push(millis);
                    // The first looks are quick; those from five seconds on take 300 ms.
                    ends = Some(if millis < 5000 { millis } else { millis + 300 });
                }
                DriverCommand::FindTrouble => live.handle_trouble(None, at(millis)),
                _ => {}
            }
            if ends.take_if(|end| *end <= millis).is_some() {
                live.handle_machines(Vec::new(), at(millis));
            }
        }
        if ends.take_if(|end| *end <= millis).is_some() {
            live.handle_machines(Vec::new(), at(millis));
        }
    }
    let pauses: Vec<i64> = looks.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(pauses.starts_with(&[250, 250]) && pauses.ends_with(&[1500, 1500]), "{looks:?}");
}
