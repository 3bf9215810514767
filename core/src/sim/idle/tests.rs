//! Compares a cluster with heartbeats as messages and one with direct heartbeats: everything visible must be the same.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::Heartbeats;
use crate::chance::Chance;
use crate::components::api_server::Tap;
use crate::components::controller::ControllerAction;
use crate::components::machine::{MachineAction, MachineSpec};
use crate::components::registry::CONTROLLERS;
use crate::json;
use crate::network::{
    Call, ClientId, Effect, Endpoint, Fault, Identity, InjectedReply, LEASES, MERGE_PATCH, Match, NODE_LEASES, NODES,
    PODS, RequestId, Resource, RuleId, Verb, find_kind, kind_names,
};
use crate::objects::time::to_micro_time;
use crate::objects::{Json, Text};
use crate::profile::{RELEASES, Settings};
use crate::sim::{Simulation, SimulationOptions};

const NODES_IN_CLUSTER: u64 = 7;

/// Describes a machine; from the fifth seed on some of them are unlike the others.
fn machine(at: u64, seed: u64) -> Json {
    let skew = ["0s", "-3s", "90s"][usize::try_from(at % 3).unwrap()];
    let mut body = json!({"name": format!("w{at}"), "zone": format!("z{}", at % 2), "clockSkew": skew});
    match (at, seed) {
        (2, 5..) => {
            let config = json!({"nodeLeaseDurationSeconds": 4, "nodeStatusUpdateFrequency": "1s",
                "nodeStatusReportFrequency": "20s"});
            body.set(&["kubelet", "config"], config);
        }
        (3, 5..) => body.set(&["kubelet", "config"], json!({"nodeStatusReportFrequency": "1m"})),
        // Two kubelets of one Node (w4 is named w0), and one with the rights of an administrator.
        (4, 6) => body.set(&["nodeName"], "w0"),
        (5, 7..) => {
            let root = json!({"user": "root", "groups": ["system:masters"]});
            body.set(&["kubeconfigs", "/etc/kubernetes/kubelet.conf"], root);
        }
        _ => {}
    }
    body
}

/// A cluster with one way of heartbeats, and everything that was seen of it.
struct Rig {
    sim: Simulation,
    watches: Vec<(ClientId, RequestId)>,
    rules: Vec<RuleId>,
    seen: Vec<String>,
}

impl Rig {
    fn new(seed: u64, heartbeats: Heartbeats, tap: Tap) -> Self {
        let settings = Settings::of(RELEASES[usize::try_from(seed).unwrap() % RELEASES.len()]);
        let mut sim = Simulation::new(SimulationOptions {
            seed,
            heartbeats,
            trace: false,
            settings,
            ..SimulationOptions::default()
        });
        sim.tap(tap);
        for at in 0..NODES_IN_CLUSTER {
            sim.add_machine(MachineSpec::from_json(&machine(at, seed)).unwrap()).unwrap();
        }
        Self { sim, watches: Vec::new(), rules: Vec::new(), seen: Vec::new() }
    }

    fn pass(&mut self, span: SignedDuration) {
        self.sim.advance_until(self.sim.now() + span);
        self.look();
    }

    fn watch(&mut self, resource: Resource, namespace: &'static str, field: Option<&str>) {
        let mut call = Call::new(Verb::Watch, resource, namespace, "").query("watch", "true");
        if let Some(field) = field {
            call = call.query("fieldSelector", field);
        }
        self.watches.push(self.sim.watch(Identity::admin(), call).unwrap());
    }

    fn ask(&mut self, call: Call) {
        let answer = self.sim.request(Identity::admin(), call).map(|answer| (answer.code, answer.body().to_string()));
        self.seen.push(format!("{answer:?}"));
    }

    /// Renews the Lease of a node in its name, three times.
    fn renew(&mut self, node: &str) {
        for _ in 0..3 {
            let patch = json!({"spec": {"renewTime": to_micro_time(self.sim.now())}});
            let call = Call::new(Verb::Patch, LEASES, NODE_LEASES, node);
            let call = call.header("content-type", Text::of(MERGE_PATCH)).body(patch);
            let _ = self.sim.request(Identity::kubelet(node), call);
            self.pass(SignedDuration::from_secs(10));
        }
    }

    fn rule(&mut self, fault: Fault) {
        self.rules.push(self.sim.add_rule(fault));
    }

    /// Writes down everything that can be seen from outside.
    fn look(&mut self) {
        let sim = &mut self.sim;
        for commit in sim.take_commits() {
            self.seen.push(format!("{commit:?}"));
        }
        for (client, id) in &self.watches {
            self.seen.push(format!("{:?}", sim.take_watch(*client, *id)));
        }
        for name in kind_names() {
            let (resource, _) = find_kind(name).unwrap();
            let objects: Vec<_> = sim.api().objects(&resource).iter().map(|object| object.json().to_string()).collect();
            self.seen.push(format!("{name} {objects:?}"));
        }
        let now = sim.now();
        for machine in sim.machines() {
            self.seen.push(format!("{} {:?}", machine.describe(now), machine.kubelet().map(|own| own.heartbeats())));
        }
        for (name, controller) in sim.controllers() {
            let shown = controller.map(|own| (own.loops(), own.queues(), own.details(now)));
            self.seen.push(format!("{name} {shown:?}"));
        }
        self.seen.push(format!("{:?} {:?} {}", sim.next_due(), sim.api().resource_version(), sim.events()));
        self.seen.push(format!("{:?}", sim.rules().map(|rule| (rule.id, rule.hits.clone())).collect::<Vec<_>>()));
    }

    fn all(mut self) -> Vec<String> {
        self.seen.extend(self.sim.record().decisions().iter().map(|decision| format!("{decision:?}")));
        self.seen
    }
}

fn fault(chance: &mut Chance, client: String) -> Fault {
    let mut fault = Fault::disconnect(client);
    let leases = || Some(Match { resource: Some(Text::of("leases")), ..Match::default() });
    match chance.below(6) {
        0 => {}
        1 => fault.lasts = Some(SignedDuration::from_secs(20)),
        2 => {
            let (delay, jitter) = (SignedDuration::from_millis(700), SignedDuration::from_secs(9));
            fault.effect = Effect::Delay { delay, jitter };
        }
        3 => {
            fault.matching = leases();
            fault.effect = Effect::Answers(Vec::from([
                InjectedReply::Code(500),
                InjectedReply::Code(409),
                InjectedReply::Timeout,
                InjectedReply::Ok,
            ]));
        }
        4 => {
            fault.matching = leases();
            fault.probability = 0.5;
        }
        _ => {
            fault.matching = leases();
            fault.effect =
                Effect::Delay { delay: SignedDuration::from_secs(3), jitter: SignedDuration::from_millis(1) };
            fault.times = Some(3);
        }
    }
    fault
}

/// Disturbs the cluster; the same `chance` gives the same disturbance.
fn disturb(rig: &mut Rig, chance: &mut Chance) {
    let node = format!("w{}", chance.below(NODES_IN_CLUSTER));
    let machine = |action: Json| MachineAction::from_json(&action).unwrap();
    let controller = CONTROLLERS[usize::try_from(chance.below(CONTROLLERS.len() as u64)).unwrap()];
    let choice = chance.below(18);
    match choice {
        0..=2 => rig.rule(fault(chance, format!("machine/{node}"))),
        3 => rig.rule(fault(chance, format!("controller/{controller}"))),
        4 => {
            let mut everybody = fault(chance, String::new());
            everybody.from = Endpoint::Any;
            everybody.lasts = Some(SignedDuration::from_secs(5));
            rig.rule(everybody);
        }
        5 | 6 => {
            if let Some(rule) = rig.rules.pop() {
                let _ = rig.sim.remove_rule(rule);
            }
        }
        7 => {
            let actions = ["pause", "resume", "kubelet-kill", "kubelet-start", "power-off", "power-on", "runtime-stop"];
            let action = actions[usize::try_from(chance.below(actions.len() as u64)).unwrap()];
            let outcome = rig.sim.machine_do(&node, machine(json!({"action": action})));
            rig.seen.push(format!("{action} {outcome:?}"));
        }
        8 => {
            let _ = rig.sim.controller_do(controller, &ControllerAction::Restart);
        }
        9 => rig.ask(Call::new(Verb::Delete, NODES, "", node.as_str())),
        10 => rig.ask(Call::new(Verb::Delete, LEASES, NODE_LEASES, node.as_str())),
        11 => rig.ask(Call::new(Verb::List, LEASES, NODE_LEASES, "").query("limit", "2")),
        12 => rig.watch(LEASES, "", None),
        13 => rig.watch(LEASES, NODE_LEASES, Some(&format!("metadata.name={node}"))),
        14 => rig.ask(Call::new(Verb::Create, PODS, "default", "").body(json!({
            "metadata": {"generateName": "pod-"},
            "spec": {"nodeName": node, "containers": [{"name": "main", "image": "pause"}]},
        }))),
        15 | 16 => rig.renew(&node),
        _ => rig.ask(
            Call::new(Verb::Patch, LEASES, NODE_LEASES, node.as_str())
                .header("content-type", Text::of(MERGE_PATCH))
                .body(json!({"metadata": {"labels": {"touched": "yes"}}})),
        ),
    }
}

#[track_caller]
fn both_ways_are_the_same(seed: u64, tap: Tap, disturbances: u32) {
    let run = |heartbeats| {
        let mut rig = Rig::new(seed, heartbeats, tap);
        let mut chance = Chance::new(seed).fork("disturbances");
        rig.pass(SignedDuration::from_secs(45));
        for _ in 0..disturbances {
            disturb(&mut rig, &mut chance);
            let span = chance.up_to(SignedDuration::from_secs(40));
            rig.pass(span);
        }
        rig.pass(SignedDuration::from_mins(12));
        rig.all()
    };
    let (sent, direct) = (run(Heartbeats::Sent), run(Heartbeats::Direct));
    let differs = sent.iter().zip(&direct).position(|(one, other)| one != other);
    if let Some(at) = differs {
        panic!("seed {seed}, item {at}:\n  sent   {}\n  direct {}", sent[at], direct[at]);
    }
    assert_eq!(sent.len(), direct.len(), "seed {seed}");
}

#[test]
fn direct_heartbeats_leave_the_same_commits_objects_and_watch_events() {
    for seed in 1..=8 {
        let taps = [Tap::Changes, Tap::Closed, Tap::AllButRenewals, Tap::Everything];
        let tap = taps[usize::try_from(seed % 4).unwrap()];
        both_ways_are_the_same(seed, tap, 12);
    }
}

#[test]
fn an_idle_kubelet_sends_next_to_no_heartbeat() {
    let mut rig = Rig::new(1, Heartbeats::Direct, Tap::Closed);
    rig.pass(SignedDuration::from_mins(2));
    let (before, revision) = (rig.sim.direct_renewals(), rig.sim.api().resource_version());
    rig.pass(SignedDuration::from_mins(2));
    let renewals = rig.sim.direct_renewals() - before;
    assert!(renewals >= 11 * NODES_IN_CLUSTER, "{renewals}");
    // What else is written are the first reports of the status, at a random instant of the first minutes.
    let writes = rig.sim.api().resource_version() - revision;
    assert!((renewals..=renewals + NODES_IN_CLUSTER).contains(&writes), "{writes} writes, {renewals} renewals");
}
