//! Tests the deletion of namespaces in a simulated cluster: what is deleted when, and what delays it.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::kubelet_tests::{add, advance};
use crate::components::registry::CONTROLLERS;
use crate::json;
use crate::network::{Call, Identity, NAMESPACES, NODES, PODS, Resource, Verb};
use crate::objects::Json;

use crate::profile::{Release, Settings};
use crate::sim::{Simulation, SimulationOptions};

const CONFIG_MAPS: Resource = Resource::of("", "v1", "configmaps");

fn ask(sim: &mut Simulation, call: Call) -> Json {
    let answer = sim.request(Identity::admin(), call).unwrap();
    assert!(answer.is_success(), "{}", answer.message());
    answer.body()
}

/// Makes a cluster of one node and a namespace in which are a Pod, with so many seconds of grace, and a ConfigMap.
fn cluster(settings: Settings, pod: Json) -> Simulation {
    let options = SimulationOptions { controllers: CONTROLLERS.to_vec(), settings, ..SimulationOptions::default() };
    let mut sim = Simulation::new(options);
    add(&mut sim, json!({"name": "w1"}));
    advance(&mut sim, 30_000);
    ask(&mut sim, Call::new(Verb::Create, NAMESPACES, "", "").body(json!({"metadata": {"name": "x"}})));
    ask(&mut sim, Call::new(Verb::Create, PODS, "x", "").body(pod));
    ask(&mut sim, Call::new(Verb::Create, CONFIG_MAPS, "x", "").body(json!({"metadata": {"name": "c"}})));
    advance(&mut sim, 15_000);
    ask(&mut sim, Call::new(Verb::Delete, NAMESPACES, "", "x"));
    sim
}

fn pod(grace: i64) -> Json {
    json!({"metadata": {"name": "p"}, "spec": {"nodeName": "w1", "terminationGracePeriodSeconds": grace,
        "containers": [{"name": "main", "image": "pause"}]}})
}

fn names(sim: &mut Simulation, resource: &Resource) -> Vec<String> {
    let list = ask(sim, Call::new(Verb::List, resource.clone(), "", ""));
    let of = |item: &Json, field| item.at(&["metadata", field]).as_str().unwrap_or("").to_string();
    list.get("items")
        .items()
        .iter()
        .filter(|item| of(item, "namespace") == "x" || of(item, "name") == "x")
        .map(|item| of(item, "name"))
        .collect()
}

fn condition(sim: &mut Simulation, kind: &str) -> (String, String) {
    let namespace = ask(sim, Call::new(Verb::Get, NAMESPACES, "", "x"));
    let conditions = namespace.at(&["status", "conditions"]).items();
    let found = conditions.iter().find(|item| item.get("type").as_str() == Some(kind)).cloned().unwrap_or_default();
    let text = |field| found.get(field).as_str().unwrap_or("").to_string();
    (text("status"), text("message"))
}

#[test]
fn pods_go_first_and_then_everything_else() {
    let mut sim = cluster(Settings::default(), pod(20));
    advance(&mut sim, 4_900);
    let phase = ask(&mut sim, Call::new(Verb::Get, NAMESPACES, "", "x")).at(&["status", "phase"]).clone();
    assert_eq!(
        (phase.as_str(), condition(&mut sim, "NamespaceContentRemaining").0.as_str()),
        (Some("Terminating"), "")
    );
    advance(&mut sim, 200);
    let pods = ask(&mut sim, Call::new(Verb::Get, PODS, "x", "p"));
    assert!(!pods.at(&["metadata", "deletionTimestamp"]).is_null());
    // While the other kinds wait for Pods, nothing is counted.
    let removed = ("False".into(), "All content successfully removed".into());
    assert_eq!(condition(&mut sim, "NamespaceContentRemaining"), removed);
    assert_eq!(condition(&mut sim, "NamespaceDeletionContentFailure").0, "False");
    assert_eq!(names(&mut sim, &CONFIG_MAPS), ["c", "kube-root-ca.crt"]);
    // The conditions are an update of the namespace, which is looked at five seconds after each; the Pod has gone.
    advance(&mut sim, 5_000);
    assert!(names(&mut sim, &PODS).is_empty() && names(&mut sim, &CONFIG_MAPS).is_empty());
    assert!(names(&mut sim, &NAMESPACES).is_empty());
}

#[test]
fn after_half_of_the_longest_grace_it_is_looked_at_again() {
    let mut stays = pod(20);
    stays.set(&["spec", "nodeName"], "nowhere");
    let mut sim = cluster(Settings::default(), stays);
    advance(&mut sim, 11_000);
    ask(&mut sim, Call::new(Verb::Delete, PODS, "x", "p").query("gracePeriodSeconds", "0"));
    // Looked at after 5 s, after 10 s for the conditions, and then after 11 s more.
    advance(&mut sim, 9_800);
    assert_eq!(names(&mut sim, &CONFIG_MAPS), ["c", "kube-root-ca.crt"]);
    advance(&mut sim, 300);
    assert!(names(&mut sim, &NAMESPACES).is_empty());
}

/// A Pod on a lost node outlives its grace, which fails each look at the namespace.
#[test]
fn after_any_number_of_failures_it_is_looked_at_once_a_minute() {
    let mut lost = pod(20);
    lost.set(&["spec", "nodeName"], "lost");
    let options = SimulationOptions { controllers: CONTROLLERS.to_vec(), ..SimulationOptions::default() };
    let mut sim = Simulation::new(options);
    ask(&mut sim, Call::new(Verb::Create, NODES, "", "").body(json!({"metadata": {"name": "lost"}})));
    ask(&mut sim, Call::new(Verb::Create, NAMESPACES, "", "").body(json!({"metadata": {"name": "x"}})));
    ask(&mut sim, Call::new(Verb::Create, PODS, "x", "").body(lost));
    ask(&mut sim, Call::new(Verb::Delete, NAMESPACES, "", "x"));
    advance(&mut sim, 420_000);
    let text = "Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: x for \
        gvr: /v1, Resource=pods";
    assert_eq!(condition(&mut sim, "NamespaceDeletionContentFailure"), ("True".into(), text.into()));
    ask(&mut sim, Call::new(Verb::Delete, PODS, "x", "p").query("gracePeriodSeconds", "0"));
    advance(&mut sim, 61_000);
    assert!(names(&mut sim, &NAMESPACES).is_empty());
}

#[test]
fn before_1_33_everything_goes_at_once() {
    let mut sim = cluster(Settings::of(Release::new(31, 0)), pod(20));
    advance(&mut sim, 5_100);
    assert!(names(&mut sim, &CONFIG_MAPS).is_empty());
    assert_eq!(names(&mut sim, &NAMESPACES), ["x"]);
    advance(&mut sim, 12_000);
    assert!(names(&mut sim, &NAMESPACES).is_empty());
}

#[test]
fn a_finalizer_holds_it_up() {
    let mut sim = cluster(Settings::default(), pod(0));
    let body = json!({"metadata": {"finalizers": ["example.com/held"]}});
    let patch = Call::strategic_patch(CONFIG_MAPS, "x", "c", body);
    ask(&mut sim, patch);
    advance(&mut sim, 3_600_000);
    let text = "Some content in the namespace has finalizers remaining: example.com/held in 1 resource instances";
    assert_eq!(condition(&mut sim, "NamespaceFinalizersRemaining"), ("True".into(), text.into()));
    let text = "Some resources are remaining: configmaps. has 1 resource instances";
    assert_eq!(condition(&mut sim, "NamespaceContentRemaining"), ("True".into(), text.into()));
    let patch = Call::strategic_patch(CONFIG_MAPS, "x", "c", json!({"metadata": {"finalizers": null}}));
    ask(&mut sim, patch);
    advance(&mut sim, 10_000);
    assert!(names(&mut sim, &NAMESPACES).is_empty());
}

#[test]
fn a_finalizer_of_a_pod_holds_everything_up_and_is_not_told() {
    let mut held = pod(0);
    held.set(&["metadata", "finalizers"], json!(["example.com/held"]));
    let mut sim = cluster(Settings::default(), held);
    advance(&mut sim, 3_600_000);
    assert_eq!(condition(&mut sim, "NamespaceFinalizersRemaining").0, "False");
    assert_eq!(names(&mut sim, &CONFIG_MAPS), ["c", "kube-root-ca.crt"]);
    let patch = Call::strategic_patch(PODS, "x", "p", json!({"metadata": {"finalizers": null}}));
    ask(&mut sim, patch);
    advance(&mut sim, 10_000);
    assert!(names(&mut sim, &NAMESPACES).is_empty());
}

#[test]
fn before_1_33_a_finalizer_of_a_pod_is_told() {
    let mut held = pod(0);
    held.set(&["metadata", "finalizers"], json!(["example.com/held"]));
    let mut sim = cluster(Settings::of(Release::new(31, 0)), held);
    advance(&mut sim, 600_000);
    let text = "Some content in the namespace has finalizers remaining: example.com/held in 1 resource instances";
    assert_eq!(condition(&mut sim, "NamespaceFinalizersRemaining"), ("True".into(), text.into()));
}

#[test]
fn a_namespace_that_ends_takes_no_bindings_and_its_workloads_tell_of_no_failure() {
    let options = SimulationOptions { controllers: CONTROLLERS.to_vec(), ..SimulationOptions::default() };
    let mut sim = Simulation::new(options);
    ask(&mut sim, Call::new(Verb::Create, NAMESPACES, "", "").body(json!({"metadata": {"name": "x"}})));
    let mut waits = pod(0);
    waits.remove(&["spec", "nodeName"]);
    waits.set(&["metadata", "finalizers"], json!(["example.com/held"]));
    ask(&mut sim, Call::new(Verb::Create, PODS, "x", "").body(waits));
    let sets = Resource::of("apps", "v1", "replicasets");
    let body = json!({"metadata": {"name": "web", "namespace": "x"}, "spec": {"replicas": 2,
        "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "image": "pause"}]}}}});
    ask(&mut sim, Call::new(Verb::Create, sets.clone(), "x", "").body(body));
    advance(&mut sim, 1_000);
    ask(&mut sim, Call::new(Verb::Delete, NAMESPACES, "", "x"));
    advance(&mut sim, 500);
    for subresource in ["binding", "eviction"] {
        let body = json!({"metadata": {"name": "p"}, "target": {"name": "w1"}});
        let call = Call::new(Verb::Create, PODS, "x", "p").subresource(subresource).body(body);
        let answer = sim.request(Identity::admin(), call).unwrap();
        let why = "pods \"p\" is forbidden: unable to create new content in namespace x because it is being terminated";
        assert_eq!((answer.code, answer.message().as_str()), (403, why), "{subresource}");
    }
    let one = names(&mut sim, &PODS).into_iter().find(|name| name != "p").unwrap();
    ask(&mut sim, Call::new(Verb::Delete, PODS, "x", one).query("gracePeriodSeconds", "0"));
    advance(&mut sim, 2_000);
    let set = ask(&mut sim, Call::new(Verb::Get, sets, "x", "web"));
    assert!(set.at(&["status", "conditions"]).is_empty(), "{set:?}");
}

#[test]
fn without_the_controller_it_stays() {
    let controllers = CONTROLLERS.iter().copied().filter(|name| *name != "namespace-controller").collect();
    let mut sim = Simulation::new(SimulationOptions { controllers, ..SimulationOptions::default() });
    ask(&mut sim, Call::new(Verb::Create, NAMESPACES, "", "").body(json!({"metadata": {"name": "x"}})));
    ask(&mut sim, Call::new(Verb::Delete, NAMESPACES, "", "x"));
    advance(&mut sim, 3_600_000);
    assert_eq!(names(&mut sim, &NAMESPACES), ["x"]);
}
