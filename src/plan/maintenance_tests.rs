//! Nodes that are drained in turn: budgets hold them, the next one waits, and what is left is named.

use jiff::SignedDuration;
use nodeproof_core::json;
use nodeproof_core::objects::{Json, Text};

use super::tests::question;
use super::{Answer, Down, How, Question, Workloads, answer, compared, spread, text};

fn pods(app: &str) -> Json {
    json!({"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "main", "image": "nginx"}]}})
}

fn workload(kind: &str, app: &str, replicas: i64) -> Json {
    let mut object = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": app}});
    object.set(&["spec"], json!({"replicas": replicas, "selector": {"matchLabels": {"app": app}}}));
    object.set(&["spec", "template"], pods(app));
    if kind == "StatefulSet" {
        object.set(&["spec", "serviceName"], app);
    }
    object
}

fn budget(app: &str, field: &str, value: i64) -> Json {
    let mut object = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": app}});
    object.set(&["spec", "selector", "matchLabels", "app"], app);
    object.set(&["spec", field], value);
    object
}

fn asked(how: How, objects: Vec<Json>) -> Question {
    let down = vec![Down::Zone(Text::of("zone-a"))];
    let workloads = Workloads::Given(objects.into_iter().map(|object| (String::new(), object)).collect());
    Question { how, workloads, ..question("1.34", spread(6, 3), down) }
}

fn secs(at: Option<SignedDuration>) -> f64 {
    at.map_or(f64::NAN, |at| at.as_secs_f64())
}

fn ready(answer: &Answer, name: &str) -> (usize, Option<usize>, bool) {
    let line = answer.workloads.iter().find(|line| line.workload.2 == *name).expect(name);
    (line.before, line.least.map(|(least, _)| least), line.whole.is_some())
}

#[test]
fn each_node_is_upgraded_when_the_one_before_is_ready_again() {
    let answer = answer(&asked(How::Upgrade, vec![workload("Deployment", "web", 6)])).unwrap();
    let [first, second] = &answer.nodes[..] else { panic!("{:?}", answer.nodes) };
    for node in [first, second] {
        let (cordoned, drained, uncordoned) = (secs(node.cordoned), secs(node.drained), secs(node.uncordoned));
        assert!(cordoned < drained && drained < uncordoned, "{node:?}");
        assert_eq!(node.deleted.count(), node.pods, "{node:?}");
    }
    assert!(secs(first.uncordoned) <= secs(second.cordoned), "{:?}", answer.nodes);
    let (before, least, is_whole) = ready(&answer, "web");
    assert!(before == 6 && least.is_some_and(|least| least < 6) && is_whole, "{:?}", answer.workloads);
    assert!(answer.stuck.is_empty(), "{:?}", answer.stuck);
}

#[test]
fn a_drain_cordons_all_nodes_before_the_first_pod_leaves_and_gives_them_back_at_the_end() {
    let answer = answer(&asked(How::Drain, vec![workload("Deployment", "web", 6)])).unwrap();
    for node in &answer.nodes {
        assert_eq!((secs(node.cordoned), secs(node.uncordoned)), (0.0, 1200.0), "{node:?}");
        assert!(node.not_ready.is_none(), "{node:?}");
    }
    assert_eq!(answer.replaced.count(), answer.affected, "{answer:?}");
}

#[test]
fn a_budget_holds_a_node_up_and_the_next_one_with_it() {
    let objects = vec![workload("StatefulSet", "db", 6), budget("db", "maxUnavailable", 0)];
    let question = Question { lasts: SignedDuration::from_mins(5), ..asked(How::Upgrade, objects) };
    let answer = answer(&question).unwrap();
    assert_eq!((answer.deleted.count(), ready(&answer, "db")), (0, (6, None, false)), "{answer:?}");
    let [first, second] = &answer.nodes[..] else { panic!("{:?}", answer.nodes) };
    assert_eq!((secs(first.cordoned), secs(first.uncordoned)), (0.0, 300.0), "{first:?}");
    assert!(first.drained.is_none() && second.cordoned.is_none(), "{:?}", answer.nodes);
    let stuck: Vec<&str> = answer.stuck.iter().map(|stuck| stuck.why.as_str()).collect();
    let expected = ["the budget db needs 6 healthy Pods, and 6 are", "the turn of their node has not come"];
    assert_eq!(stuck, expected);
    let text = text(&answer);
    assert!(text.contains("held by a budget (zone-a)") && text.contains("Stuck when this ended:\n"), "{text}");
}

#[test]
fn a_pod_without_a_controller_stops_the_drain_of_its_node_and_not_of_the_others() {
    let mut bare = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bare"}});
    bare.set(&["spec"], json!({"nodeName": "a-1", "containers": [{"name": "main", "image": "nginx"}]}));
    let answer = answer(&asked(How::Drain, vec![bare, workload("Deployment", "web", 6)])).unwrap();
    let [first, second] = &answer.nodes[..] else { panic!("{:?}", answer.nodes) };
    assert!(first.drained.is_none() && second.drained.is_some(), "{:?}", answer.nodes);
    let why = &answer.stuck[0].why;
    assert!(why.starts_with("kubectl drain gave up on a-1: ") && why.contains("default/bare"), "{why}");
}

#[test]
fn pods_that_tolerate_a_loss_are_ready_no_more_but_are_not_lost_when_the_node_is_back_soon() {
    let question = Question {
        how: How::Partition,
        lasts: SignedDuration::from_mins(2),
        ..asked(How::Partition, vec![workload("Deployment", "web", 6)])
    };
    let answer = answer(&question).unwrap();
    let (before, least, is_whole) = ready(&answer, "web");
    assert_eq!((before, least, is_whole), (6, Some(6 - answer.affected), true), "{:?}", answer.workloads);
    assert_eq!(answer.deleted.count(), 0);
}

#[test]
fn answers_under_several_seeds_give_the_range_of_each_figure() {
    let ask = |release, seed| {
        let down = vec![Down::Node(Text::of("a-1"))];
        answer(&Question { seed, ..question(release, spread(4, 2), down) }).unwrap()
    };
    let answers = [ask("1.31", 1), ask("1.34", 1), ask("1.34", 5)];
    let text = compared(&answers);
    let row = |head: &str| text.lines().find_map(|line| line.trim_start().strip_prefix(head)).expect(head).trim();
    assert!(row("Seeds").starts_with("1 ") && row("Seeds").ends_with("1 to 5"), "{text}");
    let not_ready = |answer: &Answer| super::answer::shown(answer.nodes[0].not_ready.unwrap());
    let [old, one, other] = answers.each_ref().map(not_ready);
    assert_ne!(one, other);
    let (first, last) =
        if answers[1].nodes[0].not_ready < answers[2].nodes[0].not_ready { (one, other) } else { (other, one) };
    let cells: Vec<&str> = row("Nodes not ready").split("   ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(cells, [old, format!("{first} … {last}")], "{text}");
}
