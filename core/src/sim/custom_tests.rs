//! Tests custom kinds in a simulated cluster: their dependents, and what the collector of garbage does with them.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::kubelet_tests::{add, advance};
use crate::json;
use crate::network::{Call, DEFINITIONS, Identity, PODS, Resource, Verb};
use crate::objects::Json;
use crate::sim::{Simulation, SimulationOptions};

const WIDGETS: Resource = Resource::of("example.com", "v1", "widgets");

fn ask(sim: &mut Simulation, call: Call) -> Json {
    let answer = sim.request(Identity::admin(), call).unwrap();
    assert!(answer.is_success(), "{}", answer.message());
    answer.body()
}

fn widget(name: &str, owners: &Json) -> Call {
    let mut body = json!({"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": name}, "spec": {}});
    body.set(&["metadata", "ownerReferences"], owners.clone());
    Call::new(Verb::Create, WIDGETS, "default", "").body(body)
}

/// Makes a cluster with a widget that owns another one and a Pod, known to the collector.
fn cluster() -> Simulation {
    let mut sim = Simulation::new(SimulationOptions::default());
    add(&mut sim, json!({"name": "w1"}));
    let definition = json!({"metadata": {"name": "widgets.example.com"}, "spec": {
        "group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": {"type": "object"}}}}}]}});
    ask(&mut sim, Call::new(Verb::Create, DEFINITIONS, "", "").body(definition));
    let owner = ask(&mut sim, widget("owner", &Json::Null));
    let owners = json!([{"apiVersion": "example.com/v1", "kind": "Widget", "name": "owner",
        "uid": owner.at(&["metadata", "uid"]), "blockOwnerDeletion": true}]);
    ask(&mut sim, widget("child", &owners));
    let pod = json!({"metadata": {"name": "pod", "ownerReferences": owners},
        "spec": {"nodeName": "w1", "containers": [{"name": "c", "image": "i"}]}});
    ask(&mut sim, Call::new(Verb::Create, PODS, "default", "").body(pod));
    advance(&mut sim, 31_000);
    sim
}

fn names(sim: &mut Simulation, resource: &Resource) -> Vec<String> {
    let list = ask(sim, Call::new(Verb::List, resource.clone(), "default", ""));
    let name = |item: &Json| item.at(&["metadata", "name"]).as_str().unwrap_or("").to_string();
    list.get("items").items().iter().map(name).collect()
}

fn delete(sim: &mut Simulation, policy: &str) {
    let options = json!({"propagationPolicy": policy});
    ask(sim, Call::new(Verb::Delete, WIDGETS, "default", "owner").body(options));
}

#[test]
fn dependents_go_with_a_custom_owner() {
    for policy in ["Background", "Foreground"] {
        let mut sim = cluster();
        delete(&mut sim, policy);
        assert_eq!(names(&mut sim, &WIDGETS).contains(&"owner".to_string()), policy == "Foreground");
        advance(&mut sim, 60_000);
        assert_eq!((names(&mut sim, &WIDGETS), names(&mut sim, &PODS)), (Vec::new(), Vec::new()), "{policy}");
    }
}

#[test]
fn dependents_of_a_custom_owner_that_orphans_them_stay_without_it() {
    let mut sim = cluster();
    delete(&mut sim, "Orphan");
    advance(&mut sim, 60_000);
    assert_eq!((names(&mut sim, &WIDGETS), names(&mut sim, &PODS)), (["child".into()].into(), ["pod".into()].into()));
    for (resource, name) in [(WIDGETS, "child"), (PODS, "pod")] {
        let left = ask(&mut sim, Call::new(Verb::Get, resource, "default", name));
        assert!(left.at(&["metadata", "ownerReferences"]).is_empty(), "{left}");
    }
}

/// Makes a budget that lets two of a widget's Pods go, five of which there should be, and returns its status.
fn budget(subresources: &Json, uid: Option<&str>, version: &str) -> Json {
    let mut sim = Simulation::new(SimulationOptions::default());
    add(&mut sim, json!({"name": "w1"}));
    let mut definition = json!({"metadata": {"name": "widgets.example.com"}, "spec": {
        "group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": {"type": "object", "properties": {
                "replicas": {"type": "integer"}}}}}}}]}});
    definition.entry(&["spec", "versions"]).make_array()[0].set(&["subresources"], subresources.clone());
    ask(&mut sim, Call::new(Verb::Create, DEFINITIONS, "", "").body(definition));
    let body = json!({"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": "owner"},
        "spec": {"replicas": 5}});
    let owner = ask(&mut sim, Call::new(Verb::Create, WIDGETS, "default", "").body(body));
    let uid = uid.or(owner.at(&["metadata", "uid"]).as_str()).unwrap_or("").to_string();
    let owners = json!([{"apiVersion": version, "kind": "Widget", "name": "owner", "uid": &*uid, "controller": true}]);
    for name in ["a", "b", "c", "d"] {
        let pod = json!({"metadata": {"name": name, "labels": {"app": "x"}, "ownerReferences": owners.clone()},
            "spec": {"nodeName": "w1", "containers": [{"name": "c", "image": "i"}]}});
        ask(&mut sim, Call::new(Verb::Create, PODS, "default", "").body(pod));
    }
    let budgets = Resource::of("policy", "v1", "poddisruptionbudgets");
    let body = json!({"metadata": {"name": "b"}, "spec": {"maxUnavailable": "40%",
        "selector": {"matchLabels": {"app": "x"}}}});
    ask(&mut sim, Call::new(Verb::Create, budgets.clone(), "default", "").body(body));
    advance(&mut sim, 10_000);
    ask(&mut sim, Call::new(Verb::Get, budgets, "default", "b")).get("status").clone()
}

#[test]
fn a_budget_counts_the_pods_that_a_custom_kind_is_scaled_to() {
    let scale = json!({"scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}});
    let status = budget(&scale, None, "example.com/v1");
    let number = |field| status.get(field).as_i64();
    assert_eq!((number("expectedPods"), number("desiredHealthy")), (Some(5), Some(3)), "{status}");
    assert_eq!((number("currentHealthy"), number("disruptionsAllowed")), (Some(4), Some(1)), "{status}");
    for (subresources, uid, version, why) in [
        (&scale, Some("11111111-2222-3333-4444-555555555555"), "example.com/v1", "found no controllers for pod \"a\""),
        (&json!({}), None, "example.com/v1", "widgets.example.com does not implement the scale subresource"),
        (&scale, None, "example.com/v2", "no matches for kind \"Widget\" in version \"example.com/v2\""),
    ] {
        let status = budget(subresources, uid, version);
        let condition = &status.get("conditions").items()[0];
        assert_eq!(condition.get("message").as_str(), Some(why), "{status}");
        assert_eq!(condition.get("reason").as_str(), Some("SyncFailed"), "{status}");
    }
}
