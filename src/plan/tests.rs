//! The answers are held against scenarios, whose bounds are read from the feature files, and against recordings.

use std::path::Path;

use jiff::SignedDuration;
use nodeproof_core::json;
use nodeproof_core::network::{Call, NODES, PODS, Resource, Verb};
use nodeproof_core::objects::quantity::Quantity;
use nodeproof_core::objects::{Json, Text, time};
use nodeproof_core::profile::{Release, Settings};
use serde::Deserialize as _;

use super::copies::COPIED_FROM;
use super::{
    Answer, CARRIED_KINDS, Carried, Down, How, LeftOut, Node, Question, Workloads, answer, answer_with, set_scene,
    spread,
};
use crate::replay::load::Recording;

const EVICTION: &str = include_str!("../../features/eviction/unreachable_pods.feature");
const PARTIAL: &str = include_str!("../../features/zones/partial_disruption.feature");

pub(super) fn question(release: &str, nodes: Vec<Node>, down: Vec<Down>) -> Question {
    let release: Release = release.parse().unwrap();
    Question {
        release,
        settings: Settings::of(release),
        seed: 1,
        nodes,
        down,
        how: How::Partition,
        lasts: SignedDuration::from_mins(20),
        heals: true,
        patience: SignedDuration::from_mins(30),
        workloads: Workloads::Default,
        left_out: Vec::new(),
    }
}

fn node(name: &str, zone: &str) -> Node {
    let zone = (!zone.is_empty()).then(|| Text::from(zone));
    Node { name: Text::from(name), zone, ..Node::default() }
}

/// Returns the limits of the first line after a heading that holds some words:
/// `between the grace period and 289s and the grace period and 307s`.
fn limits(text: &str, heading: &str, words: &str, grace: SignedDuration) -> (SignedDuration, SignedDuration) {
    const GRACE: &str = "the grace period and ";
    let scenario = &text[text.find(heading).expect(heading)..];
    let line = scenario.lines().find(|line| line.contains(words)).expect(words);
    let after = |text: &str| time::parse_duration(text.split_whitespace().next().unwrap()).expect(line);
    let found: Vec<SignedDuration> = line.split(GRACE).skip(1).map(after).collect();
    (grace + found[0], grace + found[1])
}

/// Returns the rows of an outline's table.
fn rows(text: &str, heading: &str) -> Vec<(usize, usize)> {
    let scenario = &text[text.find(heading).expect(heading)..];
    let table = &scenario[scenario.find("Examples:").unwrap()..];
    let rows = table.lines().skip(2).map(str::trim).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| -> Vec<usize> { line.split('|').filter_map(|cell| cell.trim().parse().ok()).collect() };
    rows.map(|line| (cells(line)[0], cells(line)[1])).collect()
}

#[test]
fn pods_leave_when_the_scenarios_of_eviction_say() {
    for (release, heading) in [
        ("1.34", "Scenario: The kubelet is killed and stays away\n"),
        ("1.31", "Scenario: The kubelet is killed and stays away, up to 1.33\n"),
        ("1.33", "Scenario: The kubelet is killed and stays away, up to 1.33\n"),
    ] {
        let mut question = question(release, spread(4, 2), vec![Down::Node(Text::of("a-1"))]);
        question.how = How::KubeletKilled;
        let answer = answer(&question).unwrap();
        let (first, last) = answer.deleted.span().unwrap();
        let grace = question.settings.duration("node-monitor-grace-period");
        let (from, to) = limits(EVICTION, heading, "is deleted between", grace);
        assert!(from <= first && last <= to, "{release}: {first:?} to {last:?}");
    }
}

#[test]
fn a_zone_is_partly_disrupted_when_the_scenarios_of_zones_say() {
    let ask = |nodes: usize, unhealthy: usize| {
        let mut all: Vec<Node> = (1..=nodes).map(|at| node(&format!("a-{at}"), "zone-a")).collect();
        all.push(node("b-1", "zone-b"));
        let down = (1..=unhealthy).map(|at| Down::Node(Text::from(format!("a-{at}")))).collect();
        // Nodes that shut down say at once that they are not ready, as the Nodes of the scenarios do.
        let mut question = Question { how: How::Shutdown, ..question("1.34", all, down) };
        for field in ["shutdownGracePeriod", "shutdownGracePeriodCriticalPods"] {
            question.settings.set_kubelet_field(Text::of(field), Json::from("60s"));
        }
        answer(&question).unwrap()
    };
    for (nodes, unhealthy) in rows(PARTIAL, "<unhealthy> of <nodes> nodes are not ready: no eviction") {
        let answer = ask(nodes, unhealthy);
        assert!(answer.nodes.iter().all(|line| line.tainted.is_none()), "{unhealthy} of {nodes}: {answer:#?}");
    }
    for (nodes, unhealthy) in rows(PARTIAL, "A zone of <nodes> with <unhealthy> unhealthy is never partly disrupted") {
        let answer = ask(nodes, unhealthy);
        let limit = SignedDuration::from_secs(16);
        let is_tainted = |line: &super::NodeLine| line.tainted.is_some_and(|at| at <= limit);
        assert!(answer.nodes.iter().all(is_tainted), "{unhealthy} of {nodes}: {:#?}", answer.nodes);
    }
}

#[test]
fn when_all_zones_are_lost_nobody_is_evicted_and_the_answer_says_why() {
    let down = ["zone-a", "zone-b"].map(|zone| Down::Zone(Text::of(zone))).to_vec();
    let answer = answer(&question("1.34", spread(6, 2), down)).unwrap();
    assert_eq!(answer.deleted.count(), 0, "{answer:#?}");
    let why = |stuck: &super::Stuck| stuck.why.contains("disruption of all zones");
    assert!(answer.stuck.iter().any(why), "{:#?}", answer.stuck);
}

#[test]
fn the_same_question_has_the_same_answer() {
    let ask = || answer(&question("1.34", spread(6, 3), vec![Down::Count(2)])).unwrap();
    assert_eq!(ask().json().to_string(), ask().json().to_string());
}

#[test]
fn what_cannot_be_lost_is_said() {
    let refused = |down: Down| question("1.34", spread(4, 2), vec![down]).lost().unwrap_err();
    assert_eq!(
        refused(Down::Zone(Text::of("zone-c"))),
        "there is no zone zone-c; there are the zones zone-a, zone-b and the nodes a-1 to b-2"
    );
    assert!(refused(Down::Node(Text::of("x"))).starts_with("there is no zone and no node x; "));
    assert_eq!(refused(Down::Count(5)), "5 nodes cannot be lost of 4");
    assert_eq!(refused(Down::Count(0)), "0 nodes are no loss: the number must be 1 or more");
}

#[test]
fn an_object_that_is_refused_is_named_with_its_place() {
    let ask = |object: Json| {
        let workloads = Workloads::Given(vec![("pods.yaml:3".to_owned(), object)]);
        answer(&Question { workloads, ..question("1.34", spread(2, 2), vec![Down::Count(1)]) }).unwrap_err()
    };
    assert_eq!(ask(json!({"kind": "Pod"})), "pods.yaml:3: the object has no kind or no apiVersion");
    assert_eq!(ask(json!({"kind": "Pods", "apiVersion": "v1"})), "pods.yaml:3: v1 Pods is not modelled");
    let error = ask(json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "Web"}}));
    assert!(error.starts_with("pods.yaml:3: Pod Web: Pod \"Web\" is invalid: "), "{error}");
    let error = ask(json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web", "lables": {}}}));
    assert!(error.starts_with("pods.yaml:3: Pod web: "), "{error}");
    assert!(error.contains("unknown field \"metadata.lables\""), "{error}");
    assert_eq!(ask(json!({"kind": "Pod", "apiVersion": "core/v1"})), "pods.yaml:3: core/v1 Pod is not modelled");
}

/// Returns the objects of a YAML text as those of a file.
fn given(text: &str) -> Workloads {
    let found = serde_yaml::Deserializer::from_str(text).map(|one| Json::deserialize(one).unwrap());
    Workloads::Given(found.map(|object| ("pods.yaml".to_owned(), object)).collect())
}

/// Asks what happens to a workload when the first zones of a cluster are lost.
fn ask(yaml: &str, (nodes, zones): (usize, usize), lost: &str) -> Answer {
    let down = vec![Down::Zone(Text::from(lost))];
    answer(&Question { workloads: given(yaml), ..question("1.34", spread(nodes, zones), down) }).unwrap()
}

#[test]
fn another_seed_loses_the_nodes_at_another_moment_within_the_bounds_that_the_page_tells() {
    for (release, from, to) in [("1.31", 30, 45), ("1.34", 40, 55)] {
        let mut seen = Vec::new();
        let mut is_apart = false;
        for seed in 1..=8 {
            let asked = question(release, spread(8, 2), vec![Down::Zone(Text::of("zone-a"))]);
            let nodes = answer(&Question { seed, lasts: SignedDuration::from_mins(2), ..asked }).unwrap().nodes;
            let own: Vec<i64> = nodes.iter().map(|line| line.not_ready.unwrap().as_secs()).collect();
            // A kubelet that had just posted its status has five seconds more.
            assert!(own.iter().all(|at| (from..=to + 5).contains(at)), "{release}, seed {seed}: {own:?}");
            is_apart |= own.iter().any(|at| *at != own[0]);
            seen.extend(own);
        }
        assert!(is_apart, "the Leases of one zone were renewed at different moments: {seen:?}");
        let (first, last) = (*seen.iter().min().unwrap(), *seen.iter().max().unwrap());
        assert!(first <= from + 3 && last >= to - 3, "{release}: {first} to {last} s: {seen:?}");
    }
}

#[test]
fn pods_that_no_node_takes_while_the_nodes_are_away_are_stuck() {
    let answer = ask(
        "
apiVersion: apps/v1
kind: Deployment
metadata: {name: anti}
spec:
  replicas: 6
  selector: {matchLabels: {app: anti}}
  template:
    metadata: {labels: {app: anti}}
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: anti}}}
      containers: [{name: main, image: x}]
",
        (6, 3),
        "zone-a",
    );
    let refused: Vec<_> = answer.stuck.iter().filter(|stuck| stuck.what == "on no node").collect();
    assert!(refused.iter().all(|stuck| stuck.why.contains("didn't match pod anti-affinity rules")), "{refused:?}");
    assert_eq!(refused.iter().map(|stuck| stuck.count).sum::<usize>(), 2, "{answer:#?}");
    assert_eq!(answer.replaced.count(), 0, "{answer:#?}");
    let text = super::text(&answer);
    assert!(text.contains("2 Pods on no node: anti-"), "{text}");
}

#[test]
fn what_was_not_ready_before_the_loss_stands_at_the_head() {
    let answer = ask(
        "
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: main, image: x, volumeMounts: [{name: d, mountPath: /d}]}]
  volumeClaimTemplates:
  - metadata: {name: d}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: lonely}
spec: {nodeName: zz, containers: [{name: main, image: x}]}
",
        (4, 2),
        "zone-a",
    );
    assert_eq!(answer.cluster, (4, 2, 0));
    let text = super::text(&answer);
    let head = &text[..text.find("cut off from the API server\n").unwrap()];
    assert!(head.contains("Not ready before anything was lost:\n"), "{text}");
    assert!(
        head.contains("1 Pod not ready: db-0\n") && head.contains("unbound immediate PersistentVolumeClaims"),
        "{text}"
    );
    assert!(head.contains("1 StatefulSet with 1 of 3 Pods: db\n"), "{text}");
    assert_eq!(answer.json().get("unready").items().len(), answer.unready.len());
    // The collector of Pods takes those of Nodes that are not there.
    let is_gone = |left: &LeftOut| left.what.starts_with("gone from the") && left.names.contains("Pod lonely");
    assert!(answer.left_out.iter().any(is_gone), "{text}");
}

#[test]
fn only_pods_that_were_made_for_lost_ones_are_in_their_place() {
    let answer = ask(
        "
apiVersion: batch/v1
kind: CronJob
metadata: {name: tick}
spec:
  schedule: '*/5 * * * *'
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, image: x}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: x, resources: {requests: {cpu: 100m}}}]}
",
        (4, 2),
        "zone-a",
    );
    assert_eq!((answer.affected, answer.replaced.count()), (2, 2), "{answer:#?}");
    assert!(!answer.moments.iter().any(|moment| moment.what.contains("of Job ready")), "{answer:#?}");
}

#[test]
fn a_pace_and_a_growing_number_are_told_as_they_were() {
    let answer = answer(&question("1.34", spread(12, 3), vec![Down::Zone(Text::of("zone-a"))])).unwrap();
    let text = super::text(&answer);
    assert!(
        text.contains("4 Nodes taint node.kubernetes.io/unreachable:NoExecute set (zone-a), one each 10s\n"),
        "{text}"
    );
    let is_uneven = |moment: &&super::Moment| {
        let gaps = moment.gaps.filter(|_| moment.count > 2);
        gaps.is_some_and(|(least, most)| most - least > SignedDuration::from_secs(3))
    };
    let uneven: Vec<_> = answer.moments.iter().filter(is_uneven).collect();
    assert!(!uneven.is_empty(), "{text}");
    for moment in uneven {
        let own = format!("{} {}s {} ({}), one each", moment.count, moment.subject, moment.what, moment.zone);
        assert!(!text.contains(&own), "{own}: {text}");
    }
    let drawn = super::picture(&answer);
    let row = drawn.lanes.last().unwrap().rows.iter().find(|row| row.name == "deleted").unwrap();
    assert!(row.spans.len() >= 3, "{row:?}");
    for span in &row.spans {
        let by_then = answer.deleted.instants.iter().filter(|at| at.as_secs_f64() <= span.from + 5.0).count();
        assert_eq!(span.text, format!("{by_then} of {}", answer.affected), "{row:?}");
    }
}

#[test]
fn pods_that_stay_are_ready_again_and_a_zone_that_stops_says_why() {
    let down = vec![Down::Count(6)];
    let asked = Question { lasts: SignedDuration::from_mins(3), ..question("1.34", spread(10, 1), down) };
    let answer = answer(&asked).unwrap();
    let of = |what: &str| -> usize {
        let own = answer.moments.iter().filter(|moment| moment.subject == "Pod" && moment.what == what);
        own.map(|moment| moment.count).sum()
    };
    assert_eq!(of("Ready=True again"), answer.affected, "{answer:#?}");
    assert_eq!(of("Ready=False, since their node is not ready"), answer.affected, "{answer:#?}");
    let stays: Vec<_> = answer.stuck.iter().filter(|stuck| stuck.what == "not deleted").collect();
    let why = |text: &str| stays.iter().any(|stuck| stuck.why.contains(text));
    assert!(why("Normal -> PartialDisruption: 6 of 10 nodes are not ready"), "{stays:?}");
    assert!(why("nodes per second: 0.1 -> 0"), "{stays:?}");
}

#[test]
fn objects_of_custom_kinds_are_left_out_and_named() {
    let monitor =
        json!({"apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor", "metadata": {"name": "web"}});
    let workloads = Workloads::Given(vec![("pods.yaml:1".to_owned(), monitor)]);
    let asked = Question { workloads, ..question("1.34", spread(2, 2), vec![Down::Count(1)]) };
    let scene = set_scene(&asked, COPIED_FROM).unwrap();
    let [left] = scene.left_out.as_slice() else { panic!("{:?}", scene.left_out) };
    assert!(left.what.contains("not Kubernetes' own") && left.names.contains("ServiceMonitor web"), "{left:?}");
}

/// What a recording shows of one node that fell silent: from the silence to Unknown, from there to NoExecute, and from
/// there to the deletion of its Pods, by name.
struct Recorded {
    unknown: SignedDuration,
    tainted: SignedDuration,
    deleted: Vec<(String, SignedDuration)>,
    question: Question,
}

fn recorded(name: &str, lost: &str) -> Recorded {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recorded/1.34.4").join(name);
    let recording = Recording::load(&directory, None).unwrap();
    let about: serde_json::Value =
        serde_yaml::from_str(&std::fs::read_to_string(directory.join("about.yaml")).unwrap()).unwrap();
    let mark = |what: &str| {
        let own = |mark: &&serde_json::Value| mark["what"].as_str().unwrap().starts_with(what);
        about["marks"].as_array().unwrap().iter().find(own).unwrap()["t"].as_f64().unwrap()
    };
    let (silent, returns) = (mark("silent"), mark("returns"));
    let at = |t: f64| SignedDuration::from_secs_f64(t - silent);
    let watch = || recording.watch.iter().map(|line| (line, recording.at(line.t))).filter(|(line, _)| !line.listed);
    let zero = recording.about.started;
    let offset = |instant: jiff::Timestamp| at(instant.duration_since(zero).as_secs_f64());
    let seen = |text: &str| {
        let own = watch().filter(|(line, _)| line.kind == "Node" && line.object.name() == lost);
        let mut own = own.map(|(line, at)| (line.object.json().to_string(), offset(at)));
        own.find(|(object, at)| *at > SignedDuration::ZERO && object.contains(text)).unwrap().1
    };
    let unknown = seen(r#""reason":"NodeStatusUnknown""#);
    let tainted = seen(r#""effect":"NoExecute""#);
    let mut deleted: Vec<(String, SignedDuration)> = Vec::new();
    for (line, instant) in watch().filter(|(line, _)| line.kind == "Pod") {
        let (pod, name) = (line.object.stable(), line.object.name().to_owned());
        let is_new = !deleted.iter().any(|(other, _)| *other == name);
        let on_lost = pod.at(&["spec", "nodeName"]).as_str() == Some(lost);
        let before = offset(instant) < at(returns);
        if is_new && on_lost && before && !pod.at(&["metadata", "deletionTimestamp"]).is_null() {
            deleted.push((name, offset(instant) - tainted));
        }
    }
    let nodes = about["nodes"].as_array().unwrap();
    let nodes = nodes.iter().map(|own| node(own["name"].as_str().unwrap(), own["zone"].as_str().unwrap_or("")));
    let made = recording.actions.iter().filter(|line| line.actor == "user" && line.action.starts_with("create-"));
    // Jobs are not modelled.
    let made =
        made.map(|line| line.request.get("body").clone()).filter(|body| body.get("kind").as_str() != Some("Job"));
    let workloads = Workloads::Given(made.map(|body| (name.to_owned(), body)).collect());
    let question = question("1.34", nodes.collect(), vec![Down::Node(Text::from(lost))]);
    let lasts = SignedDuration::from_secs_f64(returns - silent);
    let question = Question { workloads, lasts, ..question };
    Recorded { unknown, tainted: tainted - unknown, deleted, question }
}

/// A real cluster needs some tenths of a second for what the model does at once.
fn assert_near(one: SignedDuration, other: SignedDuration, what: &str) {
    assert!((one - other).abs() < SignedDuration::from_millis(900), "{what}: {one:?} and {other:?}");
}

#[test]
fn a_recorded_node_and_its_pods_go_as_planned() {
    for (name, lost) in [("node-silent-evict-return", "worker-2"), ("zone-1-of-4", "a2")] {
        let recorded = recorded(name, lost);
        let answer: Answer = answer(&recorded.question).unwrap();
        let line = &answer.nodes[0];
        let (unknown, tainted) = (line.not_ready.unwrap(), line.tainted.unwrap());
        // Where in its ten seconds the Lease was renewed last, and where in its five the pass was, is chance.
        let phases = SignedDuration::from_secs(15);
        assert!((unknown - recorded.unknown).abs() <= phases, "{name}: {unknown:?} and {:?}", recorded.unknown);
        assert_near(tainted - unknown, recorded.tainted, name);
        assert!(!recorded.deleted.is_empty(), "{name}");
        let lengths = |all: Vec<SignedDuration>| {
            let mut all: Vec<i64> = all.into_iter().map(|at| at.as_secs()).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let planned = lengths(answer.deletions(lost).into_iter().map(|at| at - tainted).collect());
        let seen = lengths(recorded.deleted.iter().map(|(_, at)| *at).collect());
        assert_eq!(planned, seen, "{name}: {:?}", recorded.deleted);
    }
}

/// An object as a list of a real cluster has it.
fn listed(kind: &str, api: &str, name: &str, spec: Json) -> Json {
    let namespaced = !matches!(kind, "Node" | "PriorityClass");
    let mut object = json!({"kind": kind, "apiVersion": api, "metadata": {"name": name, "uid": format!("uid-{name}")}});
    if namespaced {
        object.set(&["metadata", "namespace"], "shop");
    }
    object.set(&["spec"], spec);
    object
}

fn listed_node(name: &str, zone: &str, ready: &str) -> Json {
    let mut node = listed("Node", "v1", name, json!({}));
    node.set(&["metadata", "labels"], json!({"topology.kubernetes.io/zone": zone, "pool": "blue"}));
    node.set(
        &["status"],
        json!({
            "capacity": {"cpu": "8", "memory": "32000Mi", "ephemeral-storage": "100Gi", "pods": "58",
                "example.com/gpu": "2"},
            "allocatable": {"cpu": "7910m", "memory": "31000Mi", "ephemeral-storage": "90Gi", "pods": "58",
                "example.com/gpu": "1"},
            "nodeInfo": {"kubeletVersion": "v1.33.2-eks-abc"},
            "conditions": [{"type": "Ready", "status": ready}],
        }),
    );
    node
}

fn listed_pod(name: &str, node: &str, owner: (&str, &str)) -> Json {
    let mut pod = listed("Pod", "v1", name, json!({"nodeName": node, "containers": [{"name": "main", "image": "i"}]}));
    pod.set(&["metadata", "labels", "app"], "web");
    let (kind, name) = owner;
    let owner =
        json!({"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": format!("uid-{name}"), "controller": true});
    pod.set(&["metadata", "ownerReferences"], Json::array(vec![owner]));
    pod.set(&["status"], json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}));
    pod
}

/// The lists of a cluster: `web` of a Deployment on n1 and n2, a Pod of a Rollout on n1, `db-0` with a claim on n2.
fn lists() -> Vec<(Resource, Vec<Json>)> {
    let mut cordoned = listed_node("n3", "z2", "True");
    cordoned.set(&["spec", "unschedulable"], true);
    let template =
        json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "i"}]}});
    let selector = json!({"matchLabels": {"app": "web"}});
    let workload = |kind: &str, name: &str, replicas: i64| {
        listed(
            kind,
            "apps/v1",
            name,
            json!({"replicas": replicas, "selector": selector.clone(), "template": template.clone()}),
        )
    };
    let mut set = workload("ReplicaSet", "web-1", 2);
    // By these its Deployment selects it.
    set.set(&["metadata", "labels"], json!({"app": "web"}));
    set.set(
        &["metadata", "ownerReferences"],
        json!([
        {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "uid-web", "controller": true}]),
    );
    let mut db = workload("StatefulSet", "db", 1);
    db.set(&["spec", "serviceName"], "db");
    db.set(&["spec", "volumeClaimTemplates"], json!([{"metadata": {"name": "data"}}]));
    db.set(&["spec", "selector", "matchLabels", "app"], "db");
    db.set(&["spec", "template", "metadata", "labels", "app"], "db");
    let mut stored = listed_pod("db-0", "n2", ("StatefulSet", "db"));
    stored.set(&["metadata", "labels"], json!({"app": "db", "controller-revision-hash": "db-real"}));
    stored.set(&["spec", "volumes"], json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]));
    let mut of_rollout = listed_pod("roll-1", "n1", ("Rollout", "roll"));
    of_rollout.set(&["metadata", "labels", "app"], "roll");
    let mut web = listed_pod("web-1-a", "n1", ("ReplicaSet", "web-1"));
    web.set(
        &["spec", "tolerations"],
        json!([
        {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute",
            "tolerationSeconds": 60}]),
    );
    let mut wrong = listed_pod("wrong", "n2", ("Rollout", "roll"));
    wrong.set(&["spec", "containers"], json!([]));
    let of = |kind: &str| CARRIED_KINDS.iter().find(|own| *own.plural == *kind).unwrap().clone();
    vec![
        (
            of("nodes"),
            vec![
                listed_node("n1", "z1", "True"),
                listed_node("n2", "z2", "True"),
                cordoned,
                listed_node("n4", "z1", "Unknown"),
            ],
        ),
        (of("deployments"), vec![workload("Deployment", "web", 2)]),
        (of("statefulsets"), vec![db]),
        (of("replicasets"), vec![set, workload("ReplicaSet", "old", 0)]),
        (of("pods"), vec![web, listed_pod("web-1-b", "n2", ("ReplicaSet", "web-1")), of_rollout, stored, wrong]),
    ]
}

#[test]
fn a_cluster_that_runs_is_taken_over_and_what_is_not_is_named() {
    let release: Release = "1.34".parse().unwrap();
    let carried = Carried::of(&lists(), release);
    let named = |left: &[LeftOut], words: &str| -> Vec<String> {
        let own = left.iter().filter(|left| left.what.contains(words));
        own.flat_map(|left| left.names.iter().map(ToString::to_string)).collect()
    };
    assert_eq!(named(&carried.left_out, "of a Rollout"), ["Rollout shop/roll"]);
    assert_eq!(named(&carried.left_out, "volumes (persistentVolumeClaim)"), ["Pod shop/db-0", "StatefulSet shop/db"]);
    assert_eq!(named(&carried.left_out, "silent all the time"), ["Node n4"]);
    assert!(!carried.objects.iter().any(|object| object.at(&["metadata", "name"]).as_str() == Some("old")));
    let order: Vec<&str> = carried.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(order, ["n1", "n2", "n4", "n3"], "the first of each zone in turn");

    let workloads = Workloads::Running(carried.objects);
    let asked = Question {
        workloads,
        left_out: carried.left_out,
        ..question("1.34", carried.nodes, vec![Down::Zone(Text::of("z1"))])
    };
    let mut scene = set_scene(&asked, COPIED_FROM).unwrap();
    let pods = scene.send(Call::new(Verb::List, PODS, "", "")).unwrap();
    let mut at: Vec<(String, String)> = pods
        .get("items")
        .items()
        .iter()
        .map(|pod| {
            let text = |path: &[&str]| pod.at(path).as_str().unwrap_or("").to_owned();
            (text(&["metadata", "name"]), text(&["spec", "nodeName"]))
        })
        .collect();
    at.sort();
    let pair = |one: &str, other: &str| (one.to_owned(), other.to_owned());
    assert_eq!(at, [pair("db-0", "n2"), pair("roll-1", "n1"), pair("web-1-a", "n1"), pair("web-1-b", "n2")]);
    let node = scene.send(Call::new(Verb::Get, NODES, "", "n3")).unwrap();
    assert_eq!(node.at(&["metadata", "labels", "pool"]).as_str(), Some("blue"));
    assert_eq!(node.at(&["spec", "unschedulable"]).as_bool(), Some(true));
    assert_eq!(node.at(&["status", "nodeInfo", "kubeletVersion"]).as_str(), Some("v1.33.2"));
    let wanted = lists()[0].1[0].get("status").clone();
    for (list, name) in ["cpu", "memory", "ephemeral-storage", "pods", "example.com/gpu"]
        .iter()
        .flat_map(|name| [("capacity", *name), ("allocatable", *name)])
    {
        let amount = |status: &Json| Quantity::from_json(status.at(&[list, name])).unwrap();
        assert_eq!(amount(node.get("status")), amount(&wanted), "{list} {name}");
    }
    let lost: Vec<&str> = scene.lost.iter().map(Text::as_str).collect();
    assert_eq!(lost, ["n1"], "n4 cannot be lost, since it is silent");

    let answer = answer(&asked).unwrap();
    assert_eq!(
        named(&answer.left_out, "refused by the simulated API server: Pod \"wrong\" is invalid: "),
        ["Pod shop/wrong"]
    );
    let tainted = answer.nodes[0].tainted.unwrap();
    let mut left: Vec<i64> = answer.deletions("n1").into_iter().map(|at| (at - tainted).as_secs()).collect();
    left.sort_unstable();
    assert_eq!(left, [60, 300], "each Pod leaves when its own tolerations say");
    assert_eq!(answer.replaced.count(), 1, "nobody makes a Pod of a Rollout: {answer:#?}");
}

#[test]
fn copies_of_pods_leave_as_pods_do_that_were_started() {
    let near = |one: Option<SignedDuration>, other: Option<SignedDuration>| match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() <= SignedDuration::from_secs(15),
        (one, other) => one == other,
    };
    for (release, nodes, down, how) in [
        ("1.34", spread(12, 3), Down::Zone(Text::of("zone-a")), How::Partition),
        ("1.31", spread(9, 3), Down::Count(2), How::Shutdown),
        ("1.36", spread(8, 2), Down::Node(Text::of("b-2")), How::PowerOff),
    ] {
        let mut web = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10",
                "resources": {"requests": {"cpu": "100m"}}, "readinessProbe": {"tcpSocket": {"port": 80}}}]}}}});
        web.set(&["spec", "replicas"], 2 * i64::try_from(nodes.len()).unwrap());
        let workloads = Workloads::Given(vec![(String::new(), web)]);
        let question = Question { how, workloads, ..question(release, nodes, vec![down]) };
        let [started, copied] = [i64::MAX, 1].map(|copied_from| answer_with(&question, copied_from).unwrap());
        assert_eq!(copied.cluster, started.cluster);
        let counts =
            |answer: &Answer| [answer.affected, answer.deleted.count(), answer.gone.count(), answer.replaced.count()];
        assert_eq!(counts(&copied), counts(&started), "{copied:#?}\n{started:#?}");
        for (own, other) in copied.nodes.iter().zip(&started.nodes) {
            assert_eq!((&own.name, &own.status, own.pods), (&other.name, &other.status, other.pods), "{release}");
            assert!(near(own.not_ready, other.not_ready), "{own:?}\n{other:?}");
        }
        let stuck = |answer: &Answer| answer.stuck.iter().map(|own| (own.what.clone(), own.count)).collect::<Vec<_>>();
        assert_eq!(stuck(&copied), stuck(&started));
    }
}
