//! Tests what controllers do with objects that stand when they start.

use alloc::format;

use super::kubelet_tests::advance;
use crate::components::controller::ControllerAction;
use crate::json;
use crate::network::{Call, Identity, NODES, Verb};
use crate::objects::Json;
use crate::sim::{Simulation, SimulationOptions};

const TTL: &str = "node.alpha.kubernetes.io/ttl";

/// The first list counts up from no Node: those that came before the hundredth are looked at again after it.
#[test]
fn a_controller_that_starts_in_a_large_cluster_gives_all_nodes_the_same_seconds() {
    let mut sim =
        Simulation::new(SimulationOptions { controllers: ["ttl-controller"].to_vec(), ..SimulationOptions::default() });
    sim.controller_do("ttl-controller", &ControllerAction::Stop).unwrap();
    for number in 0..101 {
        let mut body = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": format!("w{number}")}});
        body.set(&["metadata", "annotations", TTL], "0");
        sim.request(Identity::admin(), Call::new(Verb::Create, NODES, "", "").body(body)).unwrap();
    }
    sim.controller_do("ttl-controller", &ControllerAction::Start).unwrap();
    advance(&mut sim, 60_000);
    let nodes = sim.request(Identity::admin(), Call::new(Verb::List, NODES, "", "")).unwrap().body();
    let seconds = |node: &Json| node.at(&["metadata", "annotations", TTL]).as_str() == Some("15");
    assert_eq!(nodes.get("items").items().iter().filter(|node| seconds(node)).count(), 101);
}
