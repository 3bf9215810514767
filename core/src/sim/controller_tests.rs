//! Tests what controllers do where something is out of the ordinary: a finalizer on a Pod whose Node is gone, a
//! revision that is no number, a driver that needs no attachment any more, a write that is refused.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::kubelet_tests::{act, add, advance};
use crate::components::cloud::{CloudAction, Instance};
use crate::components::registry::CONTROLLERS;
use crate::json;
use crate::network::{Call, Effect, Fault, Identity, InjectedReply, Match, NODES, PODS, Resource, Verb};
use crate::objects::{Json, Text};
use crate::sim::{Simulation, SimulationOptions};

const ATTACHMENTS: Resource = Resource::of("storage.k8s.io", "v1", "volumeattachments");
const BUDGETS: Resource = Resource::of("policy", "v1", "poddisruptionbudgets");
const CLAIMS: Resource = Resource::of("", "v1", "persistentvolumeclaims");
const DAEMONS: Resource = Resource::of("apps", "v1", "daemonsets");
const DEPLOYMENTS: Resource = Resource::of("apps", "v1", "deployments");
const DRIVERS: Resource = Resource::of("storage.k8s.io", "v1", "csidrivers");
const SETS: Resource = Resource::of("apps", "v1", "replicasets");
const VOLUMES: Resource = Resource::of("", "v1", "persistentvolumes");
const REVISION: &str = "deployment.kubernetes.io/revision";

fn ask(sim: &mut Simulation, call: Call) -> Json {
    let answer = sim.request(Identity::admin(), call).unwrap();
    assert!(answer.is_success(), "{}", answer.message());
    answer.body()
}

fn cluster() -> Simulation {
    let controllers = CONTROLLERS.iter().copied().chain(["csi-attacher"]).collect();
    let mut sim = Simulation::new(SimulationOptions { controllers, ..SimulationOptions::default() });
    add(&mut sim, json!({"name": "w1"}));
    advance(&mut sim, 30_000);
    sim
}

fn create(sim: &mut Simulation, resource: Resource, body: Json) -> Json {
    let namespace = if [VOLUMES, DRIVERS].contains(&resource) || resource == NODES { "" } else { "default" };
    ask(sim, Call::new(Verb::Create, resource, namespace, "").body(body))
}

fn list(sim: &mut Simulation, resource: Resource) -> Vec<Json> {
    ask(sim, Call::new(Verb::List, resource, "", "")).get("items").items().to_vec()
}

fn workload(sim: &mut Simulation, resource: Resource, name: &str) {
    let mut body = json!({"metadata": {"name": name}, "spec": {"selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}},
            "spec": {"containers": [{"name": "main", "image": "pause"}]}}}});
    if resource == DAEMONS {
        body.set(&["spec", "template", "spec", "tolerations"], json!([{"operator": "Exists"}]));
    } else {
        body.set(&["spec", "replicas"], 1);
    }
    create(sim, resource, body);
}

fn annotate(sim: &mut Simulation, resource: Resource, object: &str, name: &str, value: &str) {
    let mut patch = json!({"metadata": {}});
    patch.set(&["metadata", "annotations", name], value);
    ask(sim, Call::strategic_patch(resource, "default", String::from(object), patch));
}

fn annotation(object: &Json, name: &str) -> String {
    object.at(&["metadata", "annotations", name]).as_str().unwrap_or("").to_string()
}

/// The second deletion changes nothing, and so is never seen.
#[test]
fn a_pod_that_a_finalizer_keeps_after_its_node_holds_its_daemon_set_up_for_five_minutes() {
    // The garbage collector of Pods would let it fail, and so be seen.
    let controllers = CONTROLLERS.iter().copied().filter(|name| !name.starts_with("pod-garbage")).collect();
    let mut sim = Simulation::new(SimulationOptions { controllers, ..SimulationOptions::default() });
    advance(&mut sim, 5_000);
    create(&mut sim, NODES, json!({"metadata": {"name": "bare"}}));
    create(&mut sim, NODES, json!({"metadata": {"name": "other"}}));
    workload(&mut sim, DAEMONS, "agent");
    advance(&mut sim, 1_000);
    let pods = list(&mut sim, PODS);
    assert_eq!(pods.len(), 2);
    for pod in pods {
        let name = pod.at(&["metadata", "name"]).as_str().unwrap_or("").to_string();
        let held = json!({"metadata": {"finalizers": ["example.com/held"]}});
        ask(&mut sim, Call::strategic_patch(PODS, "default", name, held));
    }
    ask(&mut sim, Call::new(Verb::Delete, NODES, "", "bare"));
    annotate(&mut sim, DAEMONS, "agent", "a", "b");
    advance(&mut sim, 5_000);
    let events = list(&mut sim, Resource::of("", "v1", "events"));
    let deleted = events.iter().filter(|event| event.get("reason").as_str() == Some("SuccessfulDelete"));
    assert_eq!(deleted.map(|event| event.get("count").as_i64().unwrap_or(1)).sum::<i64>(), 2);
    create(&mut sim, NODES, json!({"metadata": {"name": "new"}}));
    advance(&mut sim, 290_000);
    assert_eq!(list(&mut sim, PODS).len(), 2);
    advance(&mut sim, 20_000);
    annotate(&mut sim, DAEMONS, "agent", "a", "c");
    advance(&mut sim, 1_000);
    assert_eq!(list(&mut sim, PODS).len(), 3);
}

#[test]
fn a_revision_that_is_no_number_goes_to_the_deployment_and_its_set_gets_annotations_with_the_next_write() {
    let mut sim = cluster();
    workload(&mut sim, DEPLOYMENTS, "web");
    advance(&mut sim, 1_000);
    let set = list(&mut sim, SETS)[0].at(&["metadata", "name"]).as_str().unwrap_or("").to_string();
    annotate(&mut sim, SETS, &set, REVISION, "x");
    annotate(&mut sim, DEPLOYMENTS, "web", "team", "a");
    advance(&mut sim, 5_000);
    let seen = |sim: &mut Simulation| {
        let (set, web) = (list(sim, SETS)[0].clone(), list(sim, DEPLOYMENTS)[0].clone());
        [annotation(&set, "team"), annotation(&set, REVISION), annotation(&web, REVISION)]
    };
    assert_eq!(seen(&mut sim), ["", "x", "x"]);
    ask(&mut sim, Call::strategic_patch(DEPLOYMENTS, "default", "web", json!({"spec": {"replicas": 2}})));
    advance(&mut sim, 5_000);
    assert_eq!(seen(&mut sim), ["a", "x", "x"]);
}

#[test]
fn a_volume_whose_driver_needs_no_attachment_any_more_is_not_waited_for() {
    let mut sim = cluster();
    // The driver attaches nothing.
    sim.add_rule(Fault {
        matching: Some(Match { verb: Some(Verb::Patch), ..Match::default() }),
        effect: Effect::Answer(InjectedReply::Code(500)),
        ..Fault::disconnect("controller/csi-attacher")
    });
    create(
        &mut sim,
        VOLUMES,
        json!({"metadata": {"name": "v"}, "spec": {"capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"], "csi": {"driver": "d", "volumeHandle": "v"}}}),
    );
    create(
        &mut sim,
        CLAIMS,
        json!({"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": "v",
            "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}}),
    );
    create(
        &mut sim,
        PODS,
        json!({"metadata": {"name": "p"}, "spec": {"nodeName": "w1",
            "containers": [{"name": "main", "image": "pause"}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]}}),
    );
    advance(&mut sim, 20_000);
    let seen = |sim: &mut Simulation| {
        let phase = list(sim, PODS)[0].at(&["status", "phase"]).as_str().unwrap_or("").to_string();
        (list(sim, ATTACHMENTS).len(), phase)
    };
    assert_eq!(seen(&mut sim), (1, "Pending".to_string()));
    create(&mut sim, DRIVERS, json!({"metadata": {"name": "d"}, "spec": {"attachRequired": false}}));
    // The Node counts as using the volume until it says otherwise, with its next status.
    advance(&mut sim, 600_000);
    assert_eq!(seen(&mut sim), (0, "Running".to_string()));
}

#[test]
fn a_shut_down_node_that_has_its_taint_is_read_in_each_pass_and_a_ready_one_in_none() {
    let mut sim = Simulation::new(SimulationOptions::default());
    let instance = Instance::from_json(&json!({"providerID": "test:///a/w1", "shutdown": true})).unwrap();
    sim.cloud_do(CloudAction::Put(Text::of("w1"), Box::new(instance)));
    add(&mut sim, json!({"name": "w1"}));
    advance(&mut sim, 30_000);
    let reads = |sim: &Simulation, since| {
        let lines = sim.record().trace().iter().filter(|line| line.at >= since);
        let own = lines.filter(|line| {
            line.fields.get("from").as_str().is_some_and(|from| from.ends_with("cloud-node-lifecycle-controller"))
        });
        own.filter(|line| line.fields.get("request").as_str().is_some_and(|text| text.contains("nodes/w1"))).count()
    };
    let since = sim.now();
    advance(&mut sim, 50_000);
    assert_eq!(reads(&sim, since), 0);
    act(&mut sim, json!({"action": "power-off"}));
    advance(&mut sim, 120_000);
    let since = sim.now();
    advance(&mut sim, 50_000);
    assert!((9..=10).contains(&reads(&sim, since)), "{}", reads(&sim, since));
}

#[test]
fn a_budget_whose_status_is_refused_says_so_and_lets_nothing_go() {
    let mut sim = cluster();
    workload(&mut sim, DEPLOYMENTS, "web");
    let body = json!({"metadata": {"name": "web"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}}});
    sim.add_rule(Fault {
        matching: Some(Match {
            resource: Some("poddisruptionbudgets".into()),
            verb: Some(Verb::Update),
            ..Match::default()
        }),
        effect: Effect::Answer(InjectedReply::Code(500)),
        times: Some(1),
        ..Fault::disconnect("controller/disruption-controller")
    });
    sim.tap(crate::components::api_server::Tap::Changes);
    create(&mut sim, BUDGETS, body);
    advance(&mut sim, 2_000);
    let written = sim.take_commits().into_iter().filter(|one| one.resource == BUDGETS && one.subresource == "status");
    let seen: Vec<(String, String, bool)> = written
        .map(|one| {
            let condition = one.object.stable().at(&["status", "conditions"]).items()[0].clone();
            let text = |field| condition.get(field).as_str().unwrap_or("").to_string();
            (text("status"), text("reason"), text("message").is_empty())
        })
        .collect();
    let expected = [("False", "SyncFailed", false), ("False", "InsufficientPods", true)];
    assert_eq!(seen, expected.map(|(status, reason, is_silent)| (status.into(), reason.into(), is_silent)));
}

fn pod_with(sim: &mut Simulation, name: &str, requests: Json) {
    let mut body = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "default"},
        "spec": {"tolerations": [{"operator": "Exists"}], "containers": [{"name": "main", "image": "pause"}]}});
    body.entry(&["spec", "containers"]).make_array()[0].set(&["resources", "requests"], requests);
    create(sim, PODS, body);
    advance(sim, 20_000);
}

fn node_of(sim: &mut Simulation, name: &str) -> Json {
    ask(sim, Call::new(Verb::Get, PODS, "default", name)).at(&["spec", "nodeName"]).clone()
}

#[test]
fn a_bound_pod_that_is_resized_down_lets_those_in_that_want_what_it_had() {
    let controllers = ["kube-scheduler"].to_vec();
    let mut sim = Simulation::new(SimulationOptions { controllers, ..SimulationOptions::default() });
    let node = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "w1"},
        "status": {"conditions": [{"type": "Ready", "status": "True"}],
            "allocatable": {"cpu": "4", "memory": "4Gi", "pods": "10"}}});
    create(&mut sim, NODES, node);
    pod_with(&mut sim, "large", json!({"cpu": "3", "memory": "3Gi"}));
    pod_with(&mut sim, "of-cpu", json!({"cpu": "2"}));
    pod_with(&mut sim, "of-memory", json!({"memory": "2Gi"}));
    assert_eq!(node_of(&mut sim, "large").as_str(), Some("w1"));
    assert!(node_of(&mut sim, "of-cpu").is_null() && node_of(&mut sim, "of-memory").is_null());

    let patch = json!({"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}});
    let call = Call::strategic_patch(PODS, "default", "large", patch).subresource("resize");
    ask(&mut sim, call);
    advance(&mut sim, 2_000);
    assert_eq!(node_of(&mut sim, "of-cpu").as_str(), Some("w1"));
    assert!(node_of(&mut sim, "of-memory").is_null());
}
