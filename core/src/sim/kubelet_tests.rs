//! Tests a kubelet in a simulated cluster: which requests reach the API server, and when.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::SignedDuration;

use crate::components::machine::{MachineAction, MachineSpec};
use crate::json;
use crate::network::{
    CSI_NODES, Call, Effect, Fault, Identity, InjectedReply, LEASES, Match, NODE_LEASES, NODES, Resource, Verb,
};
use crate::objects::{Json, ObjectKey};
use crate::sim::{Simulation, SimulationOptions};

pub(super) fn cluster() -> Simulation {
    Simulation::new(SimulationOptions { controllers: Vec::new(), ..SimulationOptions::default() })
}

pub(super) fn advance(sim: &mut Simulation, millis: i64) {
    let until = sim.now() + SignedDuration::from_millis(millis);
    sim.advance_until(until);
}

pub(super) fn get(sim: &Simulation, resource: &Resource, namespace: &str, name: &str) -> Json {
    sim.api().object(resource, &ObjectKey::namespaced(namespace, name)).map(|object| object.json()).unwrap_or_default()
}

fn condition(node: &Json, kind: &str) -> Json {
    let list = node.at(&["status", "conditions"]);
    list.items().iter().find(|item| item.get("type").as_str() == Some(kind)).cloned().unwrap_or_default()
}

/// Returns the requests of the only machine since an instant: offset in milliseconds, and the sentence.
fn requests(sim: &Simulation, since: jiff::Timestamp, resource: &str) -> Vec<(i128, String)> {
    let is_own = |from: Option<&str>| from == Some("kubelet/w1");
    let lines = sim.record().trace().iter().filter(|line| line.at >= since && is_own(line.fields.get("from").as_str()));
    lines
        .filter_map(|line| {
            let text = line.fields.get("request").as_str()?;
            let is_meant = text.split(' ').nth(1).is_some_and(|path| path.split(['/', '?']).next() == Some(resource));
            is_meant.then(|| (line.at.duration_since(since).as_millis(), text.to_string()))
        })
        .collect()
}

pub(super) fn add(sim: &mut Simulation, body: Json) {
    sim.add_machine(MachineSpec::from_json(&body).unwrap()).unwrap();
}

pub(super) fn act(sim: &mut Simulation, body: Json) {
    sim.machine_do("w1", MachineAction::from_json(&body).unwrap()).unwrap();
}

#[test]
fn what_would_do_nothing_is_refused() {
    for (action, back) in [
        ("kubelet-stop", "kubelet-start"),
        ("kubelet-freeze", "kubelet-thaw"),
        ("pause", "resume"),
        ("power-off", "power-on"),
        ("runtime-stop", "runtime-start"),
        ("runtime-freeze", "runtime-thaw"),
        ("network-disconnect", "network-connect"),
        ("cni-remove", "cni-install"),
        ("load", "relieve"),
        ("announce-shutdown", "cancel-shutdown"),
    ] {
        let mut sim = cluster();
        add(&mut sim, json!({"name": "w1"}));
        advance(&mut sim, 5_000);
        let mut does = |action: &str| {
            let action = MachineAction::from_json(&json!({"action": action})).unwrap();
            sim.machine_do("w1", action).is_ok()
        };
        let done = [back, action, action, back, back].map(&mut does);
        assert_eq!(done, [false, true, false, true, false], "{action}, {back}");
    }
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

#[test]
fn a_deleted_node_is_not_created_again_by_the_same_process_and_has_no_lease() {
    let mut sim = Simulation::new(SimulationOptions::default());
    add(&mut sim, json!({"name": "w1"}));
    advance(&mut sim, 30_000);
    sim.request(Identity::admin(), Call::new(Verb::Delete, NODES, "", "w1")).unwrap();
    let since = sim.now();
    advance(&mut sim, 60_000);
    assert!(get(&sim, &NODES, "", "w1").is_null());
    assert!(get(&sim, &LEASES, NODE_LEASES, "w1").is_null());
    let leases: Vec<String> = requests(&sim, since, "leases").into_iter().map(|(_, text)| text).collect();
    // One update finds the Lease gone; from then on there is nothing to update, and without its owner nothing to
    // create.
    assert_eq!(leases[0], "PUT leases/kube-node-lease/w1");
    assert!(leases[1..].iter().all(|text| text == "GET leases/kube-node-lease/w1"), "{leases:?}");
    assert!(!requests(&sim, since, "nodes").iter().any(|(_, text)| text.starts_with("POST")));
    act(&mut sim, json!({"action": "kubelet-restart"}));
    advance(&mut sim, 11_000);
    assert_eq!(condition(&get(&sim, &NODES, "", "w1"), "Ready").get("status").as_str(), Some("True"));
    assert!(!get(&sim, &LEASES, NODE_LEASES, "w1").is_null());
}

#[test]
fn a_restarted_kubelet_takes_over_its_node_and_puts_only_well_known_fields_right() {
    let mut sim = cluster();
    add(&mut sim, json!({"name": "w1", "zone": "a", "kubelet": {"flags": {"node-labels": "disk=ssd"}}}));
    advance(&mut sim, 30_000);
    let before = get(&sim, &NODES, "", "w1");
    act(
        &mut sim,
        json!({"action": "kubelet-restart", "kubelet": {
            "flags": {"node-labels": "disk=hdd,new=x,topology.kubernetes.io/zone=b",
                "register-with-taints": "k=v:NoSchedule"},
            "config": {"maxPods": 20}}}),
    );
    advance(&mut sim, 5_000);
    let after = get(&sim, &NODES, "", "w1");
    let label = |node: &Json, key: &str| node.at(&["metadata", "labels", key]).as_text().cloned();
    assert_eq!(label(&after, "disk"), label(&before, "disk"));
    assert_eq!(label(&after, "new"), None);
    assert_eq!(label(&after, "topology.kubernetes.io/zone").as_deref(), Some("b"));
    assert_eq!(after.at(&["spec", "taints"]), before.at(&["spec", "taints"]));
    assert_eq!(after.at(&["status", "capacity", "pods"]).as_str(), Some("20"));
    assert_eq!(after.at(&["metadata", "uid"]), before.at(&["metadata", "uid"]));
    let times = |node: &Json| condition(node, "Ready").get("lastTransitionTime").clone();
    assert_eq!(times(&after), times(&before));
}

#[test]
fn registration_is_tried_again_after_a_pause_that_doubles_up_to_seven_seconds() {
    let mut sim = cluster();
    let fault = Fault {
        matching: Some(Match { resource: Some("nodes".into()), ..Match::default() }),
        effect: Effect::Answer(InjectedReply::Code(500)),
        ..Fault::disconnect("machine/w1")
    };
    sim.add_rule(fault);
    let start = sim.now();
    add(&mut sim, json!({"name": "w1"}));
    advance(&mut sim, 30_000);
    let posts: Vec<i128> = requests(&sim, start, "nodes")
        .into_iter()
        .filter(|(_, text)| text.starts_with("POST"))
        .map(|(at, _)| at)
        .collect();
    assert_eq!(posts, [100, 300, 700, 1_500, 3_100, 6_300, 12_700, 19_700, 26_700]);
}

#[test]
fn a_status_that_others_wrote_is_put_right_at_the_next_tick_but_a_right_condition_keeps_its_reason() {
    let mut sim = cluster();
    add(&mut sim, json!({"name": "w1"}));
    advance(&mut sim, 30_000);
    let patch = json!({"status": {"capacity": {"cpu": "77"}, "allocatable": {"example.com/foo": "3"}, "conditions": [
        {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "m"},
        {"type": "DiskPressure", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "m"},
        {"type": "PIDPressure", "status": "False", "reason": "Other", "message": "o"},
        {"type": "example.com/Foreign", "status": "True", "reason": "R", "message": "m"}]}});
    sim.request(Identity::admin(), Call::strategic_patch(NODES, "", "w1", patch).subresource("status")).unwrap();
    advance(&mut sim, 10_401);
    let node = get(&sim, &NODES, "", "w1");
    let reason = |kind: &str| condition(&node, kind).get("reason").as_text().cloned().unwrap_or_default();
    assert_eq!(reason("Ready"), "KubeletReady");
    assert_eq!(reason("DiskPressure"), "KubeletHasNoDiskPressure");
    assert_eq!(reason("PIDPressure"), "Other");
    assert_eq!(reason("example.com/Foreign"), "R");
    assert_eq!(node.at(&["status", "capacity", "cpu"]).as_str(), Some("4"));
    assert!(node.at(&["status", "allocatable", "example.com/foo"]).is_null());
}

#[test]
fn a_clock_that_steps_moves_what_the_kubelet_writes_and_not_when_it_writes() {
    let mut sim = cluster();
    add(&mut sim, json!({"name": "w1"}));
    advance(&mut sim, 30_000);
    let since = sim.now();
    act(&mut sim, json!({"action": "change", "clockSkew": "-1h"}));
    advance(&mut sim, 10_401);
    let renewals = requests(&sim, since, "leases");
    assert_eq!(renewals.len(), 1);
    let written =
        get(&sim, &LEASES, NODE_LEASES, "w1").at(&["spec", "renewTime"]).as_text().cloned().unwrap_or_default();
    assert!(written.starts_with("2025-12-31T23:00:3"), "{written}");
}

#[test]
fn a_kubelet_without_a_kubeconfig_asks_for_nothing_until_it_is_given_one() {
    let mut sim = cluster();
    let start = sim.now();
    add(
        &mut sim,
        json!({"name": "w1", "kubelet": {"flags": {"kubeconfig": "",
        "authentication-token-webhook": "false", "authorization-mode": "AlwaysAllow"}}}),
    );
    advance(&mut sim, 60_000);
    act(&mut sim, json!({"action": "runtime-stop"}));
    advance(&mut sim, 600_000);
    for resource in ["nodes", "leases", "csinodes", "events", "pods"] {
        assert_eq!(requests(&sim, start, resource), [], "{resource}");
    }
    act(&mut sim, json!({"action": "kubelet-restart", "kubelet": {}}));
    advance(&mut sim, 1_000);
    assert!(!get(&sim, &NODES, "", "w1").is_null());
}

#[test]
fn a_shutdown_is_announced_called_off_and_carried_out() {
    let refusal = |sim: &mut Simulation, body: Json| {
        sim.machine_do("w1", MachineAction::from_json(&body).unwrap()).unwrap_err().to_string()
    };
    let mut sim = cluster();
    add(&mut sim, json!({"name": "w1"}));
    advance(&mut sim, 60_000);
    assert_eq!(refusal(&mut sim, json!({"action": "cancel-shutdown"})), "machine w1 has announced no shutdown");
    act(&mut sim, json!({"action": "shutdown", "delay": "30s"}));
    advance(&mut sim, 20_000);
    act(&mut sim, json!({"action": "cancel-shutdown"}));
    let start = sim.now();
    advance(&mut sim, 60_000);
    assert!(requests(&sim, start, "leases").len() >= 5);
    act(&mut sim, json!({"action": "shutdown", "delay": "30s"}));
    let start = sim.now();
    advance(&mut sim, 120_000);
    let renewals = requests(&sim, start, "leases");
    assert!((2..=3).contains(&renewals.len()), "{renewals:?}");
    assert!(renewals.iter().all(|(at, _)| *at < 30_000), "{renewals:?}");
    assert_eq!(refusal(&mut sim, json!({"action": "shutdown"})), "machine w1 has no power");
    act(&mut sim, json!({"action": "power-on"}));
    let start = sim.now();
    advance(&mut sim, 120_000);
    assert!(requests(&sim, start, "leases").len() >= 10);
}

/// How the requests of the kubelet's informers for its Pods begin, from an instant on: offset in milliseconds, and
/// verb.
fn informer_requests(sim: &Simulation, since: jiff::Timestamp) -> Vec<(i128, &'static str)> {
    let own = requests(sim, since, "pods").into_iter();
    own.map(|(at, text)| (at, if text.contains("watch=true") { "watch" } else { "list" })).collect()
}

#[test]
fn an_informer_that_is_refused_goes_on_with_its_watch_and_after_other_errors_with_a_list() {
    for (code, verb) in [(429, "watch"), (410, "list"), (500, "list")] {
        let mut sim = cluster();
        add(&mut sim, json!({"name": "w1"}));
        advance(&mut sim, 60_000);
        let start = sim.now();
        let refused = sim.add_rule(Fault { effect: Effect::Refuse, ..Fault::disconnect("machine/w1") });
        advance(&mut sim, 500);
        sim.remove_rule(refused).unwrap();
        sim.add_rule(Fault {
            matching: Some(Match { resource: Some("pods".into()), ..Match::default() }),
            effect: Effect::Answer(InjectedReply::Code(code)),
            times: Some(1),
            ..Fault::disconnect("machine/w1")
        });
        advance(&mut sim, 60_000);
        let sent = informer_requests(&sim, start);
        let [(0, "watch"), (second, "watch"), (third, again), ..] = sent[..] else { panic!("{code}: {sent:?}") };
        assert_eq!(again, verb, "{code}: {sent:?}");
        // The pauses of the back-off are 0.8 s and 1.6 s, with a jitter of up to as much again.
        assert!((800..1_600).contains(&second) && (1_600..3_200).contains(&(third - second)), "{code}: {sent:?}");
    }
}
