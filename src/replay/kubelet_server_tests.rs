//! Tests of the certificate of a kubelet's own server.

use jiff::SignedDuration;
use nodeproof_core::components::machine::MachineSpec;
use nodeproof_core::json;
use nodeproof_core::network::{Call, Identity, PODS, Resource, Verb};
use nodeproof_core::objects::Json;
use nodeproof_core::sim::{Simulation, SimulationOptions};

const REQUESTS: Resource = Resource::of("certificates.k8s.io", "v1", "certificatesigningrequests");

/// A cluster with a ready machine and a Pod on it.
fn cluster(flags: &[(&str, &str)], machine: Json) -> Simulation {
    let mut options = SimulationOptions::default();
    for (flag, value) in flags {
        options.settings.set(flag, value).unwrap();
    }
    let mut sim = Simulation::new(options);
    sim.add_machine(MachineSpec::from_json(&machine).unwrap()).unwrap();
    pass(&mut sim, 30);
    let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "srv-1-quick"},
        "spec": {"nodeName": "srv-1", "containers": [{"name": "main", "image": "i"}]}});
    ask(&mut sim, Call::new(Verb::Create, PODS, "default", "").body(pod));
    pass(&mut sim, 30);
    sim
}

fn pass(sim: &mut Simulation, seconds: i64) {
    sim.advance_until(sim.now() + SignedDuration::from_secs(seconds));
}

fn ask(sim: &mut Simulation, call: Call) -> Json {
    let answer = sim.request(Identity::admin(), call).unwrap();
    assert!(answer.is_success(), "{}", answer.message());
    answer.body()
}

#[test]
fn an_approved_certificate_is_trusted_under_its_own_address_alone() {
    let machine = json!({"name": "srv-1", "addresses": [{"type": "InternalIP", "address": "10.9.8.7"}],
        "kubelet": {"config": {"serverTLSBootstrap": true}}});
    let flags = [("kubelet-certificate-authority", "/ca.crt"), ("kubelet-preferred-address-types", "InternalIP")];
    let mut sim = cluster(&flags, machine);
    let log = || Call::new(Verb::Get, PODS, "default", "srv-1-quick").subresource("log");
    let refused = sim.request(Identity::admin(), log()).unwrap();
    assert!(refused.message().ends_with("remote error: tls: internal error"), "{}", refused.message());

    let list = ask(&mut sim, Call::new(Verb::List, REQUESTS, "", ""));
    let name = list.get("items").items()[0].at(&["metadata", "name"]).as_text().unwrap().clone();
    let approval = json!({"status": {"conditions": [{"type": "Approved", "status": "True", "reason": "ByHand"}]}});
    let approve = Call::strategic_patch(REQUESTS, "", name, approval).subresource("approval");
    ask(&mut sim, approve);
    pass(&mut sim, 1);
    assert_eq!(sim.request(Identity::admin(), log()).unwrap().code, 200);

    // The Node's address is that of somebody else, whose certificate is for another.
    let impostor = json!({"name": "other", "addresses": [{"type": "InternalIP", "address": "10.6.5.4"}]});
    sim.add_machine(MachineSpec::from_json(&impostor).unwrap()).unwrap();
    let addresses = json!({"status": {"addresses": [{"type": "InternalIP", "address": "10.6.5.4"}]}});
    let moved = Call::strategic_patch(nodeproof_core::network::NODES, "", "srv-1", addresses).subresource("status");
    ask(&mut sim, moved);
    let refused = sim.request(Identity::admin(), log()).unwrap().message();
    assert!(refused.ends_with("x509: certificate signed by unknown authority"), "{refused}");
}
