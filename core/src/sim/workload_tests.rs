//! Tests workloads in a simulated cluster: which pods are created, deleted and replaced, and what the budgets allow.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::kubelet_tests::{add, advance};
use crate::components::registry::CONTROLLERS;
use crate::json;
use crate::network::{Answer, Call, Identity, NODES, PODS, Resource, Verb};
use crate::objects::Json;
use crate::sim::{Simulation, SimulationOptions};

const BUDGETS: Resource = Resource::of("policy", "v1", "poddisruptionbudgets");
const APPS: [(&str, &str); 3] =
    [("Deployment", "deployments"), ("StatefulSet", "statefulsets"), ("DaemonSet", "daemonsets")];

fn ask(sim: &mut Simulation, call: Call) -> Answer {
    sim.request(Identity::admin(), call).unwrap()
}

fn list(sim: &mut Simulation, resource: &Resource) -> Vec<Json> {
    ask(sim, Call::new(Verb::List, resource.clone(), "", "")).body().get("items").items().to_vec()
}

fn name(object: &Json) -> String {
    object.at(&["metadata", "name"]).as_str().unwrap_or("").to_string()
}

fn apps(plural: &'static str) -> Resource {
    Resource::of("apps", "v1", plural)
}

fn workload(sim: &mut Simulation, kind: &str, called: &str, replicas: i64) {
    let plural = APPS.iter().find(|(own, _)| *own == kind).unwrap().1;
    let mut body = json!({"kind": kind, "apiVersion": "apps/v1", "metadata": {"name": called, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": called}},
            "template": {"metadata": {"labels": {"app": called}},
                "spec": {"containers": [{"name": "main", "image": "pause"}]}}}});
    if kind != "DaemonSet" {
        body.set(&["spec", "replicas"], replicas);
    }
    assert_eq!(ask(sim, Call::new(Verb::Create, apps(plural), "default", "").body(body)).code, 201);
}

/// Binds all pods that have no node, to the node that they ask for or to this one.
fn bind(sim: &mut Simulation, node: &str) {
    for pod in list(sim, &PODS) {
        if pod.at(&["spec", "nodeName"]).is_null() {
            let path = ["spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
            let terms = pod.at(&path).get("nodeSelectorTerms").items();
            let meant = terms.first().map(|term| term.get("matchFields").items()[0].get("values").items()[0].clone());
            let target = meant.map_or_else(|| node.to_string(), |name| name.as_str().unwrap().to_string());
            let body = json!({"kind": "Binding", "apiVersion": "v1", "metadata": {"name": name(&pod)},
                "target": {"kind": "Node", "name": target}});
            let call = Call::new(Verb::Create, PODS, "default", name(&pod)).subresource("binding").body(body);
            assert_eq!(ask(sim, call).code, 201);
        }
    }
    advance(sim, 15_000);
}

fn running(sim: &mut Simulation) -> Vec<(String, String)> {
    let pods = list(sim, &PODS);
    let runs = pods.iter().filter(|pod| pod.at(&["status", "phase"]).as_str() == Some("Running"));
    runs.map(|pod| (name(pod), pod.at(&["spec", "nodeName"]).as_str().unwrap_or("").to_string())).collect()
}

fn status(sim: &mut Simulation, resource: Resource, called: &str) -> Json {
    ask(sim, Call::new(Verb::Get, resource, "default", called)).body().get("status").clone()
}

fn cluster() -> Simulation {
    // These tests say themselves where each pod goes.
    let mut sim =
        Simulation::new(SimulationOptions { controllers: CONTROLLERS.to_vec(), ..SimulationOptions::default() });
    for node in ["w1", "w2"] {
        add(&mut sim, json!({"name": node}));
    }
    advance(&mut sim, 30_000);
    sim
}

fn delete(sim: &mut Simulation, resource: Resource, namespace: &'static str, called: &str) {
    assert!(ask(sim, Call::new(Verb::Delete, resource, namespace, called)).is_success());
}

#[test]
fn a_deployment_has_its_pods_and_replaces_one_when_its_deletion_begins() {
    let mut sim = cluster();
    workload(&mut sim, "Deployment", "web", 3);
    bind(&mut sim, "w1");
    assert_eq!(running(&mut sim).len(), 3);
    let told = status(&mut sim, apps("deployments"), "web");
    assert_eq!((told.get("readyReplicas").as_i64(), told.get("unavailableReplicas").as_i64()), (Some(3), None));
    let reasons: Vec<_> = told.get("conditions").items().iter().filter_map(|one| one.get("reason").as_str()).collect();
    assert_eq!(reasons, ["MinimumReplicasAvailable", "NewReplicaSetAvailable"]);
    let first = running(&mut sim)[0].0.clone();
    delete(&mut sim, PODS, "default", &first);
    assert_eq!(list(&mut sim, &PODS).len(), 4);
    bind(&mut sim, "w2");
    assert_eq!(running(&mut sim).iter().filter(|(_, node)| node == "w2").count(), 1);
}

#[test]
fn a_replica_set_takes_pods_that_nobody_owns_and_lets_those_go_that_it_no_longer_selects() {
    let mut sim = cluster();
    let owners = |pod: &Json| {
        let owners = pod.at(&["metadata", "ownerReferences"]).items();
        owners.iter().map(|owner| owner.get("name").as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    pod(&mut sim, json!({"name": "alone", "labels": {"app": "web"}}));
    let body = json!({"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": "web",
        "namespace": "default"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "pause"}]}}}});
    assert_eq!(ask(&mut sim, Call::new(Verb::Create, apps("replicasets"), "default", "").body(body)).code, 201);
    bind(&mut sim, "w2");
    let pods = list(&mut sim, &PODS);
    assert_eq!((pods.len(), name(&pods[0]).as_str(), owners(&pods[0])), (2, "alone", Vec::from([String::from("web")])));
    assert_eq!(pods[0].at(&["metadata", "ownerReferences"]).items()[0].get("controller").as_bool(), Some(true));
    assert_eq!(status(&mut sim, apps("replicasets"), "web").get("readyReplicas").as_i64(), Some(2));
    // One pod more than asked for: of the two on one node it is not the one that is ready for longer.
    pod(&mut sim, json!({"name": "more", "labels": {"app": "web"}}));
    advance(&mut sim, 1);
    let more = list(&mut sim, &PODS).into_iter().find(|pod| name(pod) == "more").unwrap();
    assert_eq!(owners(&more), ["web"]);
    assert!(!more.at(&["metadata", "deletionTimestamp"]).is_null());
    let call = Call::strategic_patch(PODS, "default", "alone", json!({"metadata": {"labels": {"app": "other"}}}));
    assert_eq!(ask(&mut sim, call).code, 200);
    bind(&mut sim, "w2");
    let pods = list(&mut sim, &PODS);
    let alone = pods.iter().find(|pod| name(pod) == "alone").unwrap();
    assert!(owners(alone).is_empty());
    assert_eq!(pods.iter().filter(|pod| owners(pod) == ["web"]).count(), 2);
}

#[test]
fn a_deployment_rolls_to_a_new_template_and_scales() {
    let mut sim = cluster();
    workload(&mut sim, "Deployment", "web", 3);
    bind(&mut sim, "w1");
    let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "pause:2"}]}}}});
    let call = Call::strategic_patch(apps("deployments"), "default", "web", patch);
    assert_eq!(ask(&mut sim, call).code, 200);
    for _ in 0..6 {
        bind(&mut sim, "w2");
    }
    advance(&mut sim, 40_000);
    let pods = running(&mut sim);
    assert_eq!((pods.len(), pods.iter().filter(|(_, node)| node == "w2").count()), (3, 3), "{pods:?}");
    let call = Call::strategic_patch(apps("deployments"), "default", "web", json!({"spec": {"replicas": 1}}));
    assert_eq!(ask(&mut sim, call).code, 200);
    advance(&mut sim, 40_000);
    assert_eq!(running(&mut sim).len(), 1);
}

#[test]
fn a_stateful_set_makes_its_pods_in_order_and_again_when_the_object_is_gone() {
    let mut sim = cluster();
    workload(&mut sim, "StatefulSet", "db", 2);
    let names = |sim: &mut Simulation| list(sim, &PODS).iter().map(name).collect::<Vec<_>>();
    assert_eq!(names(&mut sim), ["db-0"]);
    bind(&mut sim, "w1");
    assert_eq!(names(&mut sim), ["db-0", "db-1"]);
    bind(&mut sim, "w1");
    let told = status(&mut sim, apps("statefulsets"), "db");
    assert_eq!(told.get("readyReplicas").as_i64(), Some(2));
    let uid = |sim: &mut Simulation| list(sim, &PODS)[0].at(&["metadata", "uid"]).clone();
    let before = uid(&mut sim);
    delete(&mut sim, PODS, "default", "db-0");
    assert_eq!(uid(&mut sim), before);
    advance(&mut sim, 35_000);
    assert_ne!(uid(&mut sim), before);
}

#[test]
fn a_template_that_a_stateful_set_had_before_gets_its_revision_back_with_the_next_number() {
    let mut sim = cluster();
    workload(&mut sim, "StatefulSet", "db", 1);
    advance(&mut sim, 2_000);
    let revisions = |sim: &mut Simulation| -> Vec<(String, Option<i64>)> {
        let mut all: Vec<_> = list(sim, &apps("controllerrevisions"))
            .iter()
            .map(|revision| (name(revision), revision.get("revision").as_i64()))
            .collect();
        all.sort_by_key(|(_, number)| *number);
        all
    };
    let first = revisions(&mut sim);
    for annotations in [json!({"a": "b"}), Json::Null] {
        let patch = json!({"spec": {"template": {"metadata": {"annotations": annotations}}}});
        assert_eq!(ask(&mut sim, Call::strategic_patch(apps("statefulsets"), "default", "db", patch)).code, 200);
        advance(&mut sim, 2_000);
    }
    let last = revisions(&mut sim);
    assert_eq!(first.iter().map(|(_, number)| *number).collect::<Vec<_>>(), [Some(1)]);
    assert_eq!(last.iter().map(|(_, number)| *number).collect::<Vec<_>>(), [Some(2), Some(3)]);
    assert_eq!(last[1].0, first[0].0);
}

#[test]
fn a_deleted_node_frees_the_name_of_a_pod_within_a_minute() {
    let mut sim = cluster();
    workload(&mut sim, "StatefulSet", "db", 1);
    bind(&mut sim, "w1");
    sim.machine_do(
        "w1",
        crate::components::machine::MachineAction::from_json(&json!({"action": "power-off"})).unwrap(),
    )
    .unwrap();
    delete(&mut sim, NODES, "", "w1");
    advance(&mut sim, 39_900);
    assert_eq!(running(&mut sim), [("db-0".to_string(), "w1".to_string())]);
    advance(&mut sim, 20_200);
    let pods = list(&mut sim, &PODS);
    assert_eq!((pods.len(), pods[0].at(&["spec", "nodeName"]).is_null()), (1, true));
    bind(&mut sim, "w2");
    assert_eq!(running(&mut sim), [("db-0".to_string(), "w2".to_string())]);
}

#[test]
fn a_daemon_pod_runs_on_each_node_even_a_cordoned_one() {
    let mut sim = cluster();
    let call = Call::strategic_patch(NODES, "", "w2", json!({"spec": {"unschedulable": true}}));
    assert_eq!(ask(&mut sim, call).code, 200);
    workload(&mut sim, "DaemonSet", "agent", 0);
    bind(&mut sim, "nowhere");
    let nodes: Vec<String> = running(&mut sim).into_iter().map(|(_, node)| node).collect();
    assert_eq!(nodes.len(), 2, "{nodes:?}");
    let told = status(&mut sim, apps("daemonsets"), "agent");
    assert_eq!((told.get("desiredNumberScheduled").as_i64(), told.get("numberAvailable").as_i64()), (Some(2), Some(2)));
}

/// A surplus Pod that is not running goes if it is the first that is not available; one that is Ready is available.
#[test]
fn a_surplus_pod_that_has_ended_while_it_was_ready_stays() {
    let controllers = ["statefulset-controller"].to_vec();
    let mut sim = Simulation::new(SimulationOptions { controllers, ..SimulationOptions::default() });
    pod(&mut sim, json!({"name": "db-7", "namespace": "default", "labels": {"app": "db"}}));
    let say = |sim: &mut Simulation, ready: &str| {
        let status = json!({"status": {"phase": "Failed", "conditions": [{"type": "Ready", "status": ready}]}});
        let call = Call::strategic_patch(PODS, "default", "db-7", status).subresource("status");
        assert_eq!(ask(sim, call).code, 200);
    };
    say(&mut sim, "True");
    workload(&mut sim, "StatefulSet", "db", 0);
    advance(&mut sim, 5_000);
    assert_eq!(list(&mut sim, &PODS).len(), 1);
    say(&mut sim, "False");
    advance(&mut sim, 5_000);
    assert_eq!(list(&mut sim, &PODS).len(), 0);
}

/// A Node wakes the sets that have no pod on it, and tells them by name: the pod may be of a set before this one.
#[test]
fn a_node_wakes_no_set_while_a_pod_of_a_set_of_that_name_is_on_it() {
    let controllers = ["daemonset-controller"].to_vec();
    let mut sim = Simulation::new(SimulationOptions { controllers, ..SimulationOptions::default() });
    let owner = json!({"kind": "DaemonSet", "apiVersion": "apps/v1", "name": "agent", "uid": "1", "controller": true});
    pod(&mut sim, json!({"name": "old", "namespace": "default", "ownerReferences": [owner]}));
    workload(&mut sim, "DaemonSet", "agent", 0);
    advance(&mut sim, 5_000);
    let node = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "w1"}});
    assert_eq!(ask(&mut sim, Call::new(Verb::Create, NODES, "", "").body(node)).code, 201);
    let free = Call::strategic_patch(NODES, "", "w1", json!({"spec": {"taints": null}}));
    assert_eq!(ask(&mut sim, free).code, 200);
    advance(&mut sim, 5_000);
    assert_eq!(list(&mut sim, &PODS).len(), 1);
    let change = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(ask(&mut sim, Call::strategic_patch(apps("daemonsets"), "default", "agent", change)).code, 200);
    advance(&mut sim, 5_000);
    assert_eq!(list(&mut sim, &PODS).len(), 2);
}

#[test]
fn a_budget_follows_its_pods_and_refuses_the_eviction_that_would_break_it() {
    let mut sim = cluster();
    budget(&mut sim, "web", json!({"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}}));
    workload(&mut sim, "Deployment", "web", 3);
    bind(&mut sim, "w1");
    let told = status(&mut sim, BUDGETS, "web");
    let numbers = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"];
    assert_eq!(numbers.map(|field| told.get(field).as_i64()), [Some(1), Some(3), Some(2), Some(3)]);
    let pods = running(&mut sim);
    let codes: Vec<u16> = pods[..2]
        .iter()
        .map(|(pod, _)| {
            let body = json!({"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": pod.as_str()}});
            ask(&mut sim, Call::new(Verb::Create, PODS, "default", pod.as_str()).subresource("eviction").body(body))
                .code
        })
        .collect();
    assert_eq!(codes, [201, 429]);
    assert_eq!(status(&mut sim, BUDGETS, "web").get("disruptionsAllowed").as_i64(), Some(0));
}

fn budget(sim: &mut Simulation, called: &str, spec: Json) {
    let mut body = json!({"kind": "PodDisruptionBudget", "apiVersion": "policy/v1",
        "metadata": {"name": called, "namespace": "default"}});
    body.set(&["spec"], spec);
    assert_eq!(ask(sim, Call::new(Verb::Create, BUDGETS, "default", "").body(body)).code, 201);
}

fn pod(sim: &mut Simulation, metadata: Json) {
    let mut body = json!({"kind": "Pod", "apiVersion": "v1",
        "spec": {"containers": [{"name": "main", "image": "pause"}], "nodeName": "w1"}});
    body.set(&["metadata"], metadata);
    assert_eq!(ask(sim, Call::new(Verb::Create, PODS, "default", "").body(body)).code, 201);
}

/// Returns what is said about an object: reason and message.
fn said(sim: &mut Simulation, about: &str) -> Vec<(String, String)> {
    let events = list(sim, &Resource::of("", "v1", "events"));
    let own = events.iter().filter(|event| event.at(&["involvedObject", "name"]).as_str() == Some(about));
    let text = |event: &Json, field: &str| event.get(field).as_str().unwrap_or("").to_string();
    own.map(|event| (text(event, "reason"), text(event, "message"))).collect()
}

#[test]
fn a_pod_without_an_owner_is_healthy_and_not_expected_and_one_of_another_kind_stops_the_budget() {
    let mut sim = cluster();
    workload(&mut sim, "StatefulSet", "db", 1);
    pod(&mut sim, json!({"name": "alone", "labels": {"app": "db"}}));
    workload(&mut sim, "DaemonSet", "agent", 0);
    bind(&mut sim, "w1");
    budget(&mut sim, "of-db", json!({"minAvailable": "100%", "selector": {"matchLabels": {"app": "db"}}}));
    budget(&mut sim, "of-agent", json!({"maxUnavailable": 1, "selector": {"matchLabels": {"app": "agent"}}}));
    advance(&mut sim, 10_000);
    let told = status(&mut sim, BUDGETS, "of-db");
    let numbers = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"];
    assert_eq!(numbers.map(|field| told.get(field).as_i64()), [Some(1), Some(2), Some(1), Some(1)]);
    let (reason, message) = said(&mut sim, "of-db").remove(0);
    assert_eq!(reason, "UnmanagedPods");
    let selector =
        "&LabelSelector{MatchLabels:map[string]string{app: db,},MatchExpressions:[]LabelSelectorRequirement{},}";
    assert!(
        message.starts_with(&format!("Pods selected by this PodDisruptionBudget (selector: {selector}) were found"))
    );
    let why = "daemonsets.apps does not implement the scale subresource";
    let told = status(&mut sim, BUDGETS, "of-agent").get("conditions").items()[0].clone();
    assert_eq!((told.get("reason").as_str(), told.get("message").as_str()), (Some("SyncFailed"), Some(why)));
    assert!(told.get("observedGeneration").is_null());
    let failed = "CalculateExpectedPodCountFailed";
    assert_eq!(
        said(&mut sim, "of-agent"),
        [(failed.into(), format!("Failed to calculate the number of expected pods: {why}"))]
    );
}

#[test]
fn a_pod_that_has_ended_keeps_its_disruption_target_and_one_that_lives_loses_it_after_two_minutes() {
    let mut sim = Simulation::new(SimulationOptions::default());
    let target = json!({"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"});
    for (called, phase) in [("lives", "Running"), ("ended", "Failed")] {
        pod(&mut sim, json!({"name": called}));
        let mut patch = json!({"status": {"phase": phase}});
        let mut condition = target.clone();
        condition.set(&["lastTransitionTime"], crate::objects::time::to_time(sim.now()));
        patch.set(&["status", "conditions"], Json::array([condition].into()));
        let call = Call::strategic_patch(PODS, "default", called, patch).subresource("status");
        assert_eq!(ask(&mut sim, call).code, 200);
    }
    for (after, lives) in [(119_000, "True"), (2_000, "False")] {
        // Without its node the Pod would be collected before long.
        if lives == "True" {
            let body = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "w1"}});
            assert_eq!(ask(&mut sim, Call::new(Verb::Create, NODES, "", "").body(body)).code, 201);
        }
        advance(&mut sim, after);
        for (called, expected) in [("lives", lives), ("ended", "True")] {
            let conditions = status(&mut sim, PODS, called).get("conditions").items().to_vec();
            let found = conditions.iter().find(|one| one.get("type").as_str() == Some("DisruptionTarget")).unwrap();
            assert_eq!(found.get("status").as_str(), Some(expected), "{called}");
        }
    }
}

#[test]
fn an_endpoint_names_the_node_of_its_pod_and_that_nodes_zone() {
    let mut sim = Simulation::new(SimulationOptions::default());
    add(&mut sim, json!({"name": "w1", "zone": "a"}));
    advance(&mut sim, 30_000);
    let body = json!({"kind": "Service", "apiVersion": "v1", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}});
    let services = Resource::of("", "v1", "services");
    assert_eq!(ask(&mut sim, Call::new(Verb::Create, services, "default", "").body(body)).code, 201);
    let slices = Resource::of("discovery.k8s.io", "v1", "endpointslices");
    assert!(list(&mut sim, &slices)[1].get("endpoints").is_null());
    workload(&mut sim, "Deployment", "web", 1);
    bind(&mut sim, "w1");
    let endpoint = |sim: &mut Simulation| list(sim, &slices)[1].get("endpoints").items()[0].clone();
    let seen = endpoint(&mut sim);
    assert_eq!((seen.get("nodeName").as_str(), seen.get("zone").as_str()), (Some("w1"), Some("a")));
    assert_eq!(*seen.get("conditions"), json!({"ready": true, "serving": true, "terminating": false}));
    let pod = running(&mut sim)[0].0.clone();
    delete(&mut sim, PODS, "default", &pod);
    let conditions = endpoint(&mut sim).get("conditions").clone();
    assert_eq!(conditions, json!({"ready": false, "serving": true, "terminating": true}));
}

/// A pod that has none of the ports and no Node makes no slice without ports, and the empty slice is not kept for it.
#[test]
fn an_empty_slice_becomes_the_first_with_endpoints_whatever_other_pods_lack() {
    let mut sim = Simulation::new(SimulationOptions::default());
    add(&mut sim, json!({"name": "w1"}));
    advance(&mut sim, 30_000);
    let body = json!({"kind": "Service", "apiVersion": "v1", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}]}});
    let services = Resource::of("", "v1", "services");
    assert_eq!(ask(&mut sim, Call::new(Verb::Create, services, "default", "").body(body)).code, 201);
    for (called, node, ports) in
        [("lost", "gone", json!([])), ("found", "w1", json!([{"name": "http", "containerPort": 8080}]))]
    {
        let body = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": called, "namespace": "default",
                "labels": {"app": "web"}},
            "spec": {"nodeName": node, "containers": [{"name": "main", "image": "pause", "ports": ports}]}});
        assert_eq!(ask(&mut sim, Call::new(Verb::Create, PODS, "default", "").body(body)).code, 201);
        let patch = json!({"status": {"podIP": "10.0.0.9", "podIPs": [{"ip": "10.0.0.9"}]}});
        ask(&mut sim, Call::strategic_patch(PODS, "default", called, patch).subresource("status"));
        advance(&mut sim, 10_000);
    }
    let slices = list(&mut sim, &Resource::of("discovery.k8s.io", "v1", "endpointslices"));
    let ports: Vec<Option<i64>> =
        slices[1..].iter().map(|slice| slice.get("ports").items().first()?.get("port").as_i64()).collect();
    assert_eq!(ports, [Some(8080)]);
}

/// Upstream's handler looks at readiness, addresses and the deletion of a pod only.
#[test]
fn a_pod_that_ends_while_it_is_ready_stays_an_endpoint_until_it_is_not_ready() {
    let mut sim = Simulation::new(SimulationOptions::default());
    let body = json!({"kind": "Service", "apiVersion": "v1", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}});
    let services = Resource::of("", "v1", "services");
    assert_eq!(ask(&mut sim, Call::new(Verb::Create, services, "default", "").body(body)).code, 201);
    let body = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "w1"}});
    assert_eq!(ask(&mut sim, Call::new(Verb::Create, NODES, "", "").body(body)).code, 201);
    let body = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "one", "namespace": "default",
        "labels": {"app": "web"}}, "spec": {"nodeName": "w1", "containers": [{"name": "main", "image": "pause"}]}});
    assert_eq!(ask(&mut sim, Call::new(Verb::Create, PODS, "default", "").body(body)).code, 201);
    for (phase, ready, endpoints) in
        [("Running", "True", 1), ("Succeeded", "True", 1), ("Succeeded", "False", 0), ("Running", "False", 0)]
    {
        let patch = json!({"status": {"phase": phase, "podIP": "10.0.0.9", "podIPs": [{"ip": "10.0.0.9"}],
            "conditions": [{"type": "Ready", "status": ready}]}});
        let call = Call::strategic_patch(PODS, "default", "one", patch).subresource("status");
        assert_eq!(ask(&mut sim, call).code, 200);
        advance(&mut sim, 2_000);
        let slices = list(&mut sim, &Resource::of("discovery.k8s.io", "v1", "endpointslices"));
        assert_eq!(slices[1].get("endpoints").items().len(), endpoints, "{phase}, Ready={ready}");
    }
}

#[test]
fn ended_pods_beyond_the_threshold_go_the_oldest_first() {
    let mut options = SimulationOptions::default();
    options.settings.set("terminated-pod-gc-threshold", "2").unwrap();
    let mut sim = Simulation::new(options);
    for at in 0..4 {
        let called = format!("p{at}");
        let body = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": called.as_str(),
            "namespace": "default"},
            "spec": {"containers": [{"name": "main", "image": "pause"}], "nodeName": "w1"}});
        assert_eq!(ask(&mut sim, Call::new(Verb::Create, PODS, "default", "").body(body)).code, 201);
        let patch = json!({"status": {"phase": "Succeeded"}});
        let call = Call::strategic_patch(PODS, "default", called.as_str(), patch).subresource("status");
        assert_eq!(ask(&mut sim, call).code, 200);
        advance(&mut sim, 1_000);
    }
    advance(&mut sim, 17_000);
    let names: Vec<String> = list(&mut sim, &PODS).iter().map(name).collect();
    assert_eq!(names, ["p2", "p3"]);
}

#[test]
fn a_set_whose_pods_are_refused_goes_on_at_the_pace_of_its_client() {
    let mut sim = cluster();
    workload(&mut sim, "Deployment", "web", 1);
    let mut body = list(&mut sim, &apps("deployments")).remove(0);
    body.set(&["spec", "template", "spec", "nodeName"], "w1");
    body.set(
        &["spec", "template", "spec", "containers"],
        json!([{"name": "main", "image": "pause",
        "resources": {"requests": {"cpu": "1000"}}}]),
    );
    assert_eq!(ask(&mut sim, Call::new(Verb::Update, apps("deployments"), "default", "web").body(body)).code, 200);
    let refused = |sim: &mut Simulation| {
        let pods = list(sim, &PODS);
        pods.iter().filter(|pod| pod.at(&["status", "reason"]).as_str() == Some("OutOfcpu")).count()
    };
    advance(&mut sim, 30_000);
    let first = refused(&mut sim);
    advance(&mut sim, 30_000);
    let second = refused(&mut sim) - first;
    // One creation, one Event and one status for each pod, of 20 requests a second.
    assert!([first, second].iter().all(|made| (150..=600).contains(made)), "{first} {second}");
}
