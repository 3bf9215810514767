//! Tests the scheduler in a cluster with no other controller and no kubelet.

use super::kubelet_tests::advance;
use crate::json;
use crate::network::{Answer, Call, Identity, NODES, PODS, Verb};
use crate::objects::Json;
use crate::sim::{Simulation, SimulationOptions};

fn ask(sim: &mut Simulation, call: Call) -> Answer {
    sim.request(Identity::admin(), call).unwrap()
}

fn pod(sim: &mut Simulation, name: &str, requests: Json) {
    let mut body = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "main", "image": "pause"}]}});
    body.entry(&["spec", "containers"]).make_array()[0].set(&["resources", "requests"], requests);
    assert_eq!(ask(sim, Call::new(Verb::Create, PODS, "default", "").body(body)).code, 201);
    advance(sim, 20_000);
}

fn node_of(sim: &mut Simulation, name: &str) -> Json {
    ask(sim, Call::new(Verb::Get, PODS, "default", name)).body().at(&["spec", "nodeName"]).clone()
}

#[test]
fn a_bound_pod_that_is_resized_down_lets_those_in_that_want_what_it_had() {
    let controllers = ["kube-scheduler"].to_vec();
    let mut sim = Simulation::new(SimulationOptions { controllers, ..SimulationOptions::default() });
    let node = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "w1"},
        "status": {"conditions": [{"type": "Ready", "status": "True"}],
            "allocatable": {"cpu": "4", "memory": "4Gi", "pods": "10"}}});
    assert_eq!(ask(&mut sim, Call::new(Verb::Create, NODES, "", "").body(node)).code, 201);
    pod(&mut sim, "large", json!({"cpu": "3", "memory": "3Gi"}));
    pod(&mut sim, "of-cpu", json!({"cpu": "2"}));
    pod(&mut sim, "of-memory", json!({"memory": "2Gi"}));
    assert_eq!(node_of(&mut sim, "large").as_str(), Some("w1"));
    assert!(node_of(&mut sim, "of-cpu").is_null() && node_of(&mut sim, "of-memory").is_null());

    let patch = json!({"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}});
    let call = Call::strategic_patch(PODS, "default", "large", patch).subresource("resize");
    assert_eq!(ask(&mut sim, call).code, 200);
    advance(&mut sim, 2_000);
    assert_eq!(node_of(&mut sim, "of-cpu").as_str(), Some("w1"));
    assert!(node_of(&mut sim, "of-memory").is_null());
}
