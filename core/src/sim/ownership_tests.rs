//! Tests which dependents go with an owner that is gone: an owner is what a reference names, and not its UID alone.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::kubelet_tests::advance;
use crate::components::registry::CONTROLLERS;
use crate::json;
use crate::network::{Call, DEFINITIONS, Effect, Fault, Identity, MERGE_PATCH, Match, NODES, PODS, Resource, Verb};
use crate::objects::Json;
use crate::profile::{Release, Settings};
use crate::sim::{Simulation, SimulationOptions};

const MAPS: Resource = Resource::of("", "v1", "configmaps");

fn ask(sim: &mut Simulation, call: Call) -> Json {
    let answer = sim.request(Identity::admin(), call).unwrap();
    assert!(answer.is_success(), "{}", answer.message());
    answer.body()
}

fn cluster() -> Simulation {
    let mut sim =
        Simulation::new(SimulationOptions { controllers: CONTROLLERS.to_vec(), ..SimulationOptions::default() });
    advance(&mut sim, 5_000);
    sim
}

/// Makes an object that names an owner.
fn make(sim: &mut Simulation, resource: &Resource, name: &str, owner: &Json) -> Json {
    let mut body = json!({"metadata": {"name": name}});
    body.set(&["metadata", "ownerReferences"], Json::array([owner.clone()].into()));
    if *resource == PODS {
        body.set(&["spec"], json!({"schedulerName": "nobody", "containers": [{"name": "main", "image": "pause"}]}));
    }
    let namespace = if *resource == NODES { "" } else { "default" };
    ask(sim, Call::new(Verb::Create, resource.clone(), namespace, "").body(body))
}

fn names(sim: &mut Simulation, resource: &Resource) -> Vec<String> {
    let list = ask(sim, Call::new(Verb::List, resource.clone(), "", ""));
    let name = |item: &Json| item.at(&["metadata", "name"]).as_str().unwrap_or("").to_string();
    list.get("items").items().iter().map(name).filter(|name| name != "kube-root-ca.crt").collect()
}

/// Returns the definition of a custom kind.
fn definition() -> Json {
    json!({"metadata": {"name": "widgets.example.com"}, "spec": {
        "group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": {"type": "object"}}}}}]}})
}

#[test]
fn a_node_that_names_an_owner_in_a_namespace_stays_and_a_pod_that_does_goes() {
    let owner =
        json!({"apiVersion": "v1", "kind": "Pod", "name": "gone", "uid": "11111111-2222-3333-4444-555555555555"});
    for order in [[NODES, PODS], [PODS, NODES]] {
        let mut sim = cluster();
        for resource in &order {
            make(&mut sim, resource, "child", &owner);
        }
        advance(&mut sim, 120_000);
        assert_eq!((names(&mut sim, &NODES), names(&mut sim, &PODS)), (["child".into()].into(), Vec::new()));
    }
}

#[test]
fn a_dependent_that_names_a_version_that_is_not_served_outlives_its_owner() {
    let mut sim = cluster();
    let map = ask(&mut sim, Call::new(Verb::Create, MAPS, "default", "").body(json!({"metadata": {"name": "owner"}})));
    let uid = map.at(&["metadata", "uid"]).clone();
    for (name, version) in [("served", "v1"), ("other", "v0")] {
        let mut owner = json!({"apiVersion": version, "kind": "ConfigMap", "name": "owner"});
        owner.set(&["uid"], uid.clone());
        make(&mut sim, &PODS, name, &owner);
    }
    advance(&mut sim, 5_000);
    ask(&mut sim, Call::new(Verb::Delete, MAPS, "default", "owner"));
    advance(&mut sim, 60_000);
    assert_eq!(names(&mut sim, &PODS), ["other"]);
}

#[test]
fn a_dependent_that_names_its_owner_otherwise_goes_and_takes_no_other_along() {
    let mut sim = cluster();
    let map = ask(&mut sim, Call::new(Verb::Create, MAPS, "default", "").body(json!({"metadata": {"name": "owner"}})));
    let uid = map.at(&["metadata", "uid"]).clone();
    for (name, kind, owner) in [("bad", "Secret", "secret"), ("good", "ConfigMap", "owner"), ("bad-too", "Pod", "p")] {
        let mut owner = json!({"apiVersion": "v1", "kind": kind, "name": owner});
        owner.set(&["uid"], uid.clone());
        make(&mut sim, &PODS, name, &owner);
    }
    advance(&mut sim, 60_000);
    assert_eq!((names(&mut sim, &PODS), names(&mut sim, &MAPS)), (["good".into()].into(), ["owner".into()].into()));
}

/// Makes three objects that own each other in a circle, and deletes the first in the foreground.
fn delete_circle(sim: &mut Simulation, resource: &Resource, kind: &Json) {
    let known = ["a", "b", "c"].map(|name| {
        let mut body = kind.clone();
        body.set(&["metadata", "name"], name);
        let made = ask(sim, Call::new(Verb::Create, resource.clone(), "default", "").body(body));
        (name, made.at(&["metadata", "uid"]).clone())
    });
    for (at, (name, _)) in known.iter().enumerate() {
        let (owner, uid) = &known[(at + 2) % 3];
        let mut reference = json!({"name": *owner, "blockOwnerDeletion": true});
        reference.set(&["uid"], uid.clone());
        for field in ["apiVersion", "kind"] {
            reference.set(&[field], kind.get(field).clone());
        }
        let mut patch = json!({});
        patch.set(&["metadata", "ownerReferences"], Json::array([reference].into()));
        let call = Call::new(Verb::Patch, resource.clone(), "default", *name);
        ask(sim, call.header("content-type", MERGE_PATCH).body(patch));
    }
    advance(sim, 1_000);
    assert_eq!(names(sim, resource), ["a", "b", "c"]);
    let options = json!({"propagationPolicy": "Foreground"});
    ask(sim, Call::new(Verb::Delete, resource.clone(), "default", "a").body(options));
}

#[test]
fn owners_in_a_circle_do_not_wait_for_each_other() {
    let widgets = Resource::of("example.com", "v1", "widgets");
    for minor in [31, 34] {
        let settings = Settings::of(Release::new(minor, 0));
        let controllers = CONTROLLERS.to_vec();
        let mut sim = Simulation::new(SimulationOptions { settings, controllers, ..SimulationOptions::default() });
        ask(&mut sim, Call::new(Verb::Create, DEFINITIONS, "", "").body(definition()));
        advance(&mut sim, 31_000);
        for (resource, kind) in [
            (MAPS, json!({"apiVersion": "v1", "kind": "ConfigMap"})),
            (widgets.clone(), json!({"apiVersion": "example.com/v1", "kind": "Widget", "spec": {}})),
        ] {
            delete_circle(&mut sim, &resource, &kind);
            advance(&mut sim, 5_000);
            assert_eq!(names(&mut sim, &resource), [""; 0], "1.{minor}");
        }
    }
}

/// Each deletion takes a second, and the pod changes more often than that.
#[test]
fn a_dependent_that_changes_all_the_time_is_deleted_whatever_its_version() {
    let mut sim = cluster();
    let delay = Effect::Delay { delay: SignedDuration::from_secs(1), jitter: SignedDuration::ZERO };
    sim.add_rule(Fault {
        matching: Some(Match { verb: Some(Verb::Delete), resource: Some("pods".into()), ..Match::default() }),
        effect: delay,
        ..Fault::disconnect("controller/garbage-collector-controller")
    });
    let owner =
        json!({"apiVersion": "v1", "kind": "Pod", "name": "gone", "uid": "11111111-2222-3333-4444-555555555555"});
    make(&mut sim, &PODS, "child", &owner);
    let mut changes = 0;
    while !names(&mut sim, &PODS).is_empty() && changes < 100 {
        let patch = json!({"metadata": {"annotations": {"n": format!("{changes}")}}});
        ask(&mut sim, Call::strategic_patch(PODS, "default", "child", patch));
        changes += 1;
        advance(&mut sim, 300);
    }
    assert!((6..12).contains(&changes), "{changes}");
}

/// Whether a kind comes later cannot be known: nothing happens to the dependents until it does.
#[test]
fn a_dependent_of_an_unknown_kind_stays_as_it_is_until_the_kind_is_known() {
    let mut sim = cluster();
    let gone =
        json!({"apiVersion": "v1", "kind": "Pod", "name": "gone", "uid": "11111111-2222-3333-4444-555555555555"});
    let unknown = json!({"apiVersion": "example.com/v1", "kind": "Widget", "name": "w",
        "uid": "11111111-2222-3333-4444-666666666666"});
    make(&mut sim, &PODS, "one", &unknown);
    let mut both = json!({"metadata": {"name": "both"},
        "spec": {"schedulerName": "nobody", "containers": [{"name": "main", "image": "pause"}]}});
    both.set(&["metadata", "ownerReferences"], Json::array([gone, unknown].into()));
    ask(&mut sim, Call::new(Verb::Create, PODS, "default", "").body(both));
    advance(&mut sim, 60_000);
    assert_eq!(names(&mut sim, &PODS), ["both", "one"]);
    let both = ask(&mut sim, Call::new(Verb::Get, PODS, "default", "both"));
    assert_eq!(both.at(&["metadata", "ownerReferences"]).items().len(), 2);
    ask(&mut sim, Call::new(Verb::Create, DEFINITIONS, "", "").body(definition()));
    advance(&mut sim, 25_000);
    assert_eq!(names(&mut sim, &PODS), ["both", "one"]);
    advance(&mut sim, 300_000);
    assert!(names(&mut sim, &PODS).is_empty());
}
