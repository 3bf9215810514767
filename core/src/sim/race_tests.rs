//! Tests the races of controllers: the usual outcome, and the other one where it is asked for.

use alloc::vec::Vec;

use super::kubelet_tests::advance;
use crate::components::controller::ControllerAction;
use crate::json;
use crate::network::{Answer, Call, EVENTS, Identity, NODES, PODS, Resource, Verb};
use crate::objects::Json;
use crate::profile::{Race, Settings};
use crate::sim::{Simulation, SimulationOptions};

/// A cluster with these controllers alone, and with a race that has the other outcome.
fn cluster(controllers: &[&'static str], race: Option<Race>) -> Simulation {
    let settings = Settings::default().with_race(race);
    Simulation::new(SimulationOptions { controllers: controllers.to_vec(), settings, ..SimulationOptions::default() })
}

fn ask(sim: &mut Simulation, call: Call) -> Answer {
    sim.request(Identity::admin(), call).unwrap()
}

fn list(sim: &mut Simulation, resource: &Resource) -> Vec<Json> {
    ask(sim, Call::new(Verb::List, resource.clone(), "", "")).body().get("items").items().to_vec()
}

fn node(sim: &mut Simulation, ready: &str, taints: Json) {
    named_node(sim, "w1", ready, taints);
}

fn named_node(sim: &mut Simulation, name: &str, ready: &str, taints: Json) {
    let body = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name}, "spec": {"taints": taints},
        "status": {"conditions": [{"type": "Ready", "status": ready}]}});
    assert_eq!(ask(sim, Call::new(Verb::Create, NODES, "", "").body(body)).code, 201);
}

fn pod(sim: &mut Simulation, node: &str, tolerations: Json) {
    let body = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"nodeName": node, "terminationGracePeriodSeconds": 0, "tolerations": tolerations,
            "containers": [{"name": "main", "image": "pause"}]}});
    assert_eq!(ask(sim, Call::new(Verb::Create, PODS, "default", "").body(body)).code, 201);
}

#[test]
fn a_pass_that_comes_before_the_end_of_a_quarantine_leaves_the_pods_to_the_next_one() {
    let gone_after = |race: Option<Race>| {
        let mut sim = cluster(&["pod-garbage-collector-controller"], race);
        pod(&mut sim, "nowhere", json!([]));
        let mut seconds = 0;
        while !list(&mut sim, &PODS).is_empty() {
            advance(&mut sim, 1_000);
            seconds += 1;
        }
        seconds
    };
    let usual = gone_after(None);
    assert!((40..=61).contains(&usual), "{usual} s");
    assert_eq!(gone_after(Some(Race::PassBeforeQuarantineEnds)), usual + 20);
}

#[test]
fn a_taint_pass_before_the_first_checks_taints_no_node_of_zones_that_are_down() {
    let taints_after = |race: Option<Race>| {
        let name = "node-lifecycle-controller";
        let mut sim = cluster(&[name], race);
        sim.controller_do(name, &ControllerAction::Stop).unwrap();
        node(&mut sim, "False", json!([]));
        sim.controller_do(name, &ControllerAction::Start).unwrap();
        advance(&mut sim, 3_600_000);
        let taints = list(&mut sim, &NODES)[0].at(&["spec", "taints"]).items().to_vec();
        taints.iter().filter(|taint| taint.get("effect").as_str() == Some("NoExecute")).count()
    };
    assert_eq!(taints_after(None), 1);
    assert_eq!(taints_after(Some(Race::TaintPassBeforeChecks)), 0);
}

#[test]
fn the_end_of_a_pod_that_is_told_before_the_answer_cancels_its_eviction() {
    let cancelled = |race: Option<Race>| {
        let mut sim = cluster(&["taint-eviction-controller"], race);
        node(&mut sim, "True", json!([{"key": "k", "effect": "NoExecute"}]));
        pod(&mut sim, "w1", json!([{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3}]));
        advance(&mut sim, 10_000);
        assert!(list(&mut sim, &PODS).is_empty());
        let told = list(&mut sim, &EVENTS);
        let message = |event: &Json| event.get("message").as_str().unwrap_or("").starts_with("Cancelling");
        told.iter().filter(|event| message(event)).count()
    };
    assert_eq!(cancelled(None), 0);
    assert_eq!(cancelled(Some(Race::EndBeforeAnswer)), 1);
}

#[test]
fn the_nodes_of_one_pass_are_checked_in_either_order() {
    let first_tainted = |race: Option<Race>| {
        let mut sim = cluster(&["node-lifecycle-controller"], race);
        ["w1", "w2", "w3", "w4", "w5"].iter().for_each(|name| named_node(&mut sim, name, "True", json!([])));
        advance(&mut sim, 10_000);
        for name in ["w1", "w2"] {
            let body = json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}});
            let call = Call::new(Verb::Patch, NODES, "", name)
                .subresource("status")
                .header("content-type", "application/strategic-merge-patch+json");
            assert!(ask(&mut sim, call.body(body)).is_success());
        }
        let is_tainted = |node: &Json| {
            node.at(&["spec", "taints"]).items().iter().any(|taint| taint.get("effect").as_str() == Some("NoExecute"))
        };
        let mut first = Vec::new();
        while first.is_empty() {
            advance(&mut sim, 1_000);
            first = list(&mut sim, &NODES).into_iter().filter(is_tainted).collect();
        }
        assert_eq!(first.len(), 1, "one node each ten seconds");
        first[0].at(&["metadata", "name"]).as_text().cloned().unwrap_or_default()
    };
    assert_eq!(first_tainted(None), "w1");
    assert_eq!(first_tainted(Some(Race::NodesInReverse)), "w2");
}
