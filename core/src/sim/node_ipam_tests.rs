//! Tests the allocation of networks in a simulated cluster: what the queue remembers of a name.

use alloc::vec::Vec;

use super::kubelet_tests::advance;
use crate::json;
use crate::network::{Call, EVENTS, Identity, NODES, Verb};
use crate::profile::Settings;
use crate::sim::{Simulation, SimulationOptions};

fn create(sim: &mut Simulation, name: &str) {
    let body = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name}});
    assert_eq!(sim.request(Identity::admin(), Call::new(Verb::Create, NODES, "", "").body(body)).unwrap().code, 201);
}

fn refusals(sim: &mut Simulation) -> i64 {
    let answer = sim.request(Identity::admin(), Call::new(Verb::List, EVENTS, "default", "")).unwrap();
    let refused: Vec<i64> = answer
        .body()
        .get("items")
        .items()
        .iter()
        .filter(|event| event.get("reason").as_str() == Some("CIDRNotAvailable"))
        .filter_map(|event| event.get("count").as_i64())
        .collect();
    refused.iter().sum()
}

/// The deletion of a Node is not put into the queue, so the pauses do not begin anew with the next of its name.
#[test]
fn a_name_that_failed_keeps_its_pause_when_the_node_is_deleted() {
    let mut settings = Settings::default();
    settings.set("allocate-node-cidrs", "true").unwrap();
    settings.set("cluster-cidr", "10.244.0.0/24").unwrap();
    let mut sim = Simulation::new(SimulationOptions {
        controllers: Vec::from(["node-ipam-controller"]),
        settings,
        ..SimulationOptions::default()
    });
    create(&mut sim, "first");
    advance(&mut sim, 1_000);
    create(&mut sim, "second");
    // Tries after 0, 5, 15, 35, … 1275 ms; the next one is due after 2555 ms.
    advance(&mut sim, 2_000);
    assert_eq!(refusals(&mut sim), 9);
    sim.request(Identity::admin(), Call::new(Verb::Delete, NODES, "", "second")).unwrap();
    create(&mut sim, "second");
    advance(&mut sim, 500);
    assert_eq!(refusals(&mut sim), 10);
    advance(&mut sim, 100);
    assert_eq!(refusals(&mut sim), 11);
}
