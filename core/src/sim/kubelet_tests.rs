//! A kubelet in a simulated cluster: what reaches the API server, and when.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::SignedDuration;

use crate::components::machine::MachineSpec;
use crate::json;
use crate::network::{CSI_NODES, LEASES, NODE_LEASES, NODES, Resource};
use crate::objects::{Json, ObjectKey};
use crate::sim::{Options, Simulation};

fn cluster() -> Simulation {
    Simulation::new(Options { controllers: Vec::new(), ..Options::default() })
}

fn advance(sim: &mut Simulation, millis: i64) {
    let until = sim.now() + SignedDuration::from_millis(millis);
    sim.advance_until(until);
}

fn get(sim: &Simulation, resource: &Resource, namespace: &str, name: &str) -> Json {
    sim.api().object(resource, &ObjectKey::namespaced(namespace, name)).map(|object| object.json()).unwrap_or_default()
}

fn condition(node: &Json, kind: &str) -> Json {
    let list = node.at(&["status", "conditions"]);
    list.items().iter().find(|item| item.get("type").as_str() == Some(kind)).cloned().unwrap_or_default()
}

/// Returns the requests of the only machine since an instant: offset in milliseconds, and the sentence.
fn requests(sim: &Simulation, since: jiff::Timestamp, resource: &str) -> Vec<(i128, String)> {
    let lines = sim.record().trace().iter().filter(|line| line.at >= since);
    lines
        .filter_map(|line| {
            let text = line.fields.get("request").as_str()?;
            let is_meant = text.split(' ').nth(1).is_some_and(|path| path.split(['/', '?']).next() == Some(resource));
            is_meant.then(|| (line.at.duration_since(since).as_millis(), text.to_string()))
        })
        .collect()
}

fn add(sim: &mut Simulation, body: Json) {
    sim.add_machine(MachineSpec::from_json(&body).unwrap()).unwrap();
}

#[test]
fn a_fresh_kubelet_registers_becomes_ready_and_gets_its_lease_at_the_next_renewal() {
    let mut sim = cluster();
    let start = sim.now();
    add(
        &mut sim,
        json!({"name": "w1", "zone": "a", "kubelet": {"flags": {"register-with-taints": "mine=x:NoExecute"}}}),
    );
    advance(&mut sim, 99);
    assert!(get(&sim, &NODES, "", "w1").is_null());
    advance(&mut sim, 1);
    let node = get(&sim, &NODES, "", "w1");
    assert_eq!(condition(&node, "Ready").get("message").as_str(), Some("CSINode is not yet initialized"));
    assert_eq!(node.at(&["metadata", "labels", "topology.kubernetes.io/zone"]).as_str(), Some("a"));
    let taints: Vec<_> =
        node.at(&["spec", "taints"]).items().iter().map(|taint| taint.get("key").as_str().unwrap()).collect();
    assert_eq!(taints, ["mine", "node.kubernetes.io/not-ready"]);
    advance(&mut sim, 300);
    let node = get(&sim, &NODES, "", "w1");
    assert_eq!(condition(&node, "Ready").get("reason").as_str(), Some("KubeletReady"));
    assert_eq!(
        get(&sim, &CSI_NODES, "", "w1").at(&["metadata", "ownerReferences"]).items()[0].get("uid"),
        node.at(&["metadata", "uid"])
    );
    advance(&mut sim, 9_599);
    assert!(get(&sim, &LEASES, NODE_LEASES, "w1").is_null());
    advance(&mut sim, 402);
    let lease = get(&sim, &LEASES, NODE_LEASES, "w1");
    assert_eq!(lease.at(&["spec", "holderIdentity"]).as_str(), Some("w1"));
    assert_eq!(lease.at(&["metadata", "ownerReferences"]).items()[0].get("uid"), node.at(&["metadata", "uid"]));
    advance(&mut sim, 600_000);
    let posts: Vec<i128> = requests(&sim, start, "nodes")
        .into_iter()
        .filter(|(_, text)| text.starts_with("PATCH"))
        .map(|(at, _)| at)
        .collect();
    assert_eq!(posts[..2], [100, 400]);
    // The first report after a change comes 2.5 to 7.5 minutes later, the next each five minutes.
    assert!((150_000..=460_000).contains(&(posts[2] - posts[1])), "{posts:?}");
    assert_eq!(
        condition(&get(&sim, &NODES, "", "w1"), "Ready").get("lastTransitionTime").as_str(),
        Some("2026-01-01T00:00:00Z")
    );
}
