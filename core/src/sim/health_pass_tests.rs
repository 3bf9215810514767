//! Compares the health pass over changed nodes with the literal one over all nodes: the same faults must give the same
//! bytes.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::kubelet_tests::add;
use super::{Actor, Simulation, SimulationOptions};
use crate::chance::Chance;
use crate::components::controller::FreeChoice;
use crate::components::machine::MachineAction;
use crate::json;
use crate::network::{Call, Fault, Identity, LEASES, NODE_LEASES, NODES, Verb};
use crate::objects::{Json, Text};

const NODES_OF_A_CLUSTER: u64 = 9;
const FAULTS: u32 = 60;

fn cluster(seed: u64) -> Simulation {
    let mut sim = Simulation::new(SimulationOptions { seed, ..SimulationOptions::default() });
    for at in 0..NODES_OF_A_CLUSTER {
        add(&mut sim, json!({"name": format!("w{at}"), "zone": format!("z{}", at % 3)}));
    }
    sim
}

/// What goes wrong next; an action that cannot be done in the present state is one that does nothing.
fn disturb(sim: &mut Simulation, chance: &mut Chance) {
    let name = format!("w{}", chance.below(NODES_OF_A_CLUSTER));
    let patch = |resource, namespace, body: Json| Call::strategic_patch(resource, namespace, name.as_str(), body);
    let ready = |status: &str| {
        json!({"status": {"conditions": [{"type": "Ready", "status": status, "reason": "Test",
        "message": "posted"}]}})
    };
    let mut machine = |action: &str| {
        let action = MachineAction::from_json(&json!({"action": action})).unwrap();
        let _ = sim.machine_do(&name, action);
    };
    let call = match chance.below(15) {
        0..=2 => return machine("kubelet-kill"),
        3..=4 => return machine("kubelet-start"),
        5 => return machine("cni-remove"),
        6 => return machine("cni-install"),
        7 => return machine("reboot"),
        8 => {
            let rule = sim.add_rule(Fault::disconnect(format!("machine/{name}")));
            sim.advance_until(sim.now() + chance.up_to(SignedDuration::from_secs(90)));
            sim.remove_rule(rule).unwrap();
            return;
        }
        9 => Call::new(Verb::Delete, NODES, "", name.as_str()),
        10 => patch(
            NODES,
            "",
            json!({"metadata": {"labels": {"topology.kubernetes.io/zone": format!("z{}", chance.below(4))}}}),
        ),
        11 => patch(NODES, "", json!({"spec": {"unschedulable": chance.below(2) == 0}})),
        12 => patch(NODES, "", ready(["True", "False", "Unknown"][chance.below(3) as usize])).subresource("status"),
        13 => Call::new(Verb::Delete, LEASES, NODE_LEASES, name.as_str()),
        _ => Call::new(Verb::Create, NODES, "", "")
            .body(json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": format!("h{}", chance.below(3))}})),
    };
    sim.request(Identity::admin(), call).unwrap();
}

fn look_at_all(sim: &mut Simulation) {
    let named = sim.event_loop.find("controller/node-lifecycle-controller").unwrap();
    let Actor::Controller(_, Some(controller)) = sim.event_loop.get_mut(named) else { panic!("it runs") };
    controller.prefer(FreeChoice::LookAtAll);
}

/// Decisions, writes and the state that was left.
fn story(seed: u64, literal: bool) -> Vec<Text> {
    let mut sim = cluster(seed);
    if literal {
        look_at_all(&mut sim);
    }
    let mut chance = Chance::new(seed).fork("faults");
    let mut lines = Vec::new();
    for _ in 0..FAULTS {
        disturb(&mut sim, &mut chance);
        sim.advance_until(sim.now() + chance.up_to(SignedDuration::from_secs(80)));
    }
    lines.extend(sim.record().decisions().iter().map(|decision| Text::from(format!("{decision:?}"))));
    let left = sim.request(Identity::admin(), Call::new(Verb::List, NODES, "", "")).unwrap();
    lines.push(Text::from(left.body().to_string()));
    lines
}

#[test]
fn a_pass_over_what_changed_decides_as_one_over_all_nodes() {
    let mut evictions = 0;
    for seed in 1..=5 {
        let (one, other) = (story(seed, false), story(seed, true));
        for (one, other) in one.iter().zip(&other) {
            assert_eq!(one, other, "seed {seed}");
        }
        assert_eq!(one.len(), other.len(), "seed {seed}");
        evictions += one.iter().filter(|line| line.contains("unreachable:NoExecute")).count();
    }
    assert!(evictions > 20, "{evictions} decisions about an unreachable node are too few to prove anything");
}
