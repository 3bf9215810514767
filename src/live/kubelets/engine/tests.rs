//! Tests of the engine with the core's own API server: its commands and their effects, in simulated time.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::chance::Chance;
use nodeproof_core::components::api_server::{ApiServer, ServerOutput};
use nodeproof_core::components::controller::Context;
use nodeproof_core::components::machine::{MachineAction, MachineSpec};
use nodeproof_core::components::registry::ATTACHER;
use nodeproof_core::components::volumes::ATTACHMENTS;
use nodeproof_core::json;
use nodeproof_core::network::{
    Ask, Body, Call, ClientId, Fault, Identity, LEASES, NODE_LEASES, NODES, Request, RequestId, ToClient,
    TransportError, Verb,
};
use nodeproof_core::objects::{Json, ObjectKey};
use nodeproof_core::profile::Settings;

use super::{Engine, HollowError, TransportCommand};

/// A client of the server that is none of the engine's.
const SOMEBODY: ClientId = ClientId(99);

/// An engine and a server that answers at once; time jumps from one deadline to the next.
struct Bench {
    engine: Engine,
    server: ApiServer,
    now: Timestamp,
    start: Timestamp,
    /// Commands, each with the seconds since the start.
    orders: Vec<(i64, String)>,
    is_server_gone: bool,
}

impl Bench {
    fn new() -> Self {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let settings = Settings::default();
        let context = Context { settings: Arc::new(settings.clone()), chance: Chance::new(7) };
        Self {
            engine: Engine::new(settings, 1, start),
            server: ApiServer::new(context, start),
            now: start,
            start,
            orders: Vec::new(),
            is_server_gone: false,
        }
    }

    fn with_node() -> Self {
        let mut bench = Self::new();
        bench.engine.add(spec("w1"), bench.now).unwrap();
        bench.carry();
        bench
    }

    fn advance(&mut self, seconds: i64) {
        let until = self.now + SignedDuration::from_secs(seconds);
        loop {
            self.carry();
            let Some(at) = self.engine.next_deadline().filter(|at| *at <= until) else { break };
            self.now = self.now.max(at);
            self.engine.handle_timeout(self.now);
        }
        self.now = until;
    }

    fn carry(&mut self) {
        self.deliver();
        while let Some(command) = self.engine.poll_command() {
            let second = self.now.duration_since(self.start).as_secs();
            let text = match &command {
                TransportCommand::Send { call, .. } => call.to_string(),
                TransportCommand::Cancel(..) => String::from("cancel"),
                TransportCommand::Forget(_) => String::from("forget"),
            };
            self.orders.push((second, text));
            match command {
                TransportCommand::Send { client, id, .. } if self.is_server_gone => {
                    let result = Err(TransportError::Refused);
                    self.engine.handle_message(client, ToClient::Response { id, result }, self.now);
                }
                TransportCommand::Send { client, id, identity, call, patience } => {
                    let request = Request { id, identity, ask: Ask::Call(call), timeout: patience, because: None };
                    self.server.handle_request(client, request, self.now);
                }
                TransportCommand::Cancel(client, id) => self.server.handle_cancel(client, id),
                TransportCommand::Forget(client) => self.server.handle_disconnect(client),
            }
            self.deliver();
        }
    }

    /// Delivers what the server has for clients.
    fn deliver(&mut self) {
        while let Some(output) = self.server.poll_output() {
            if let ServerOutput::ToClient { client, message } = output
                && client != SOMEBODY
            {
                self.engine.handle_message(client, message, self.now);
            }
        }
    }

    fn perform(&mut self, action: &str) {
        let action = MachineAction::from_json(&json!({"action": action})).unwrap();
        self.engine.perform("w1", action, self.now).unwrap();
        self.carry();
    }

    fn object(&self, resource: &nodeproof_core::network::Resource, namespace: &str) -> Json {
        let found = self.server.object(resource, &ObjectKey::namespaced(namespace, "w1"));
        found.map(|object| object.json()).unwrap_or_default()
    }

    /// Returns when commands were given whose text contains this, in seconds since the start.
    fn times(&self, text: &str) -> Vec<i64> {
        self.orders.iter().filter(|(_, command)| command.contains(text)).map(|(second, _)| *second).collect()
    }
}

fn spec(name: &str) -> MachineSpec {
    MachineSpec::from_json(&json!({"name": name})).unwrap()
}

#[test]
fn a_node_registers_becomes_ready_and_renews_its_lease_each_ten_seconds() {
    let mut bench = Bench::with_node();
    bench.advance(120);
    let conditions = bench.object(&NODES, "").at(&["status", "conditions"]).clone();
    let ready = conditions.items().iter().find(|item| item.get("type").as_str() == Some("Ready")).unwrap();
    assert_eq!(ready.get("status").as_str(), Some("True"));
    let lease = bench.object(&LEASES, NODE_LEASES);
    assert_eq!(lease.at(&["spec", "holderIdentity"]).as_str(), Some("w1"));
    let renewals = bench.times("PUT leases/kube-node-lease/w1");
    assert!(renewals.len() >= 9, "{renewals:?}");
    let pauses: Vec<i64> = renewals.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(pauses.iter().all(|pause| (10..=11).contains(pause)), "{pauses:?}");
}

#[test]
fn renewals_are_written_out_with_the_lease_as_it_was_seen_last() {
    let mut bench = Bench::with_node();
    bench.advance(35);
    bench.is_server_gone = true;
    let seen = bench.object(&LEASES, NODE_LEASES);
    let until = bench.now + SignedDuration::from_secs(12);
    let body = loop {
        bench.now = bench.engine.next_deadline().filter(|at| *at <= until).expect("a renewal is due");
        bench.engine.handle_timeout(bench.now);
        let command = std::iter::from_fn(|| bench.engine.poll_command()).find_map(|command| match command {
            TransportCommand::Send { call, .. } if call.verb == Verb::Update => Some(call),
            _ => None,
        });
        if let Some(Call { body: Body::Json(body), .. }) = command.map(|call| *call) {
            break body;
        }
    };
    let mut expected = seen.clone();
    expected.set(&["spec", "renewTime"], body.at(&["spec", "renewTime"]).clone());
    assert_eq!(body, expected);
    assert_ne!(body.at(&["spec", "renewTime"]), seen.at(&["spec", "renewTime"]));
}

#[test]
fn a_partition_holds_everything_back_and_a_healed_one_lets_it_through() {
    let mut bench = Bench::with_node();
    bench.advance(60);
    let rule = bench.engine.add_rule(Fault::disconnect("machine/w1"), bench.now);
    let before = bench.orders.len();
    bench.advance(100);
    let during: Vec<&str> = bench.orders[before..].iter().map(|(_, command)| command.as_str()).collect();
    assert_eq!(during, ["forget"], "the client notices after its ping, and nothing else leaves the machine");
    bench.engine.remove_rule(rule, bench.now).unwrap();
    bench.advance(60);
    assert!(bench.times("PUT leases/kube-node-lease/w1").iter().any(|second| *second >= 160));
    assert!(bench.times("WATCH nodes?fieldSelector=metadata.name=w1").iter().any(|second| *second >= 160));
}

#[test]
fn a_killed_kubelet_falls_silent_and_its_connection_is_closed() {
    let mut bench = Bench::with_node();
    bench.advance(60);
    bench.perform("kubelet-kill");
    bench.advance(60);
    assert_eq!(bench.orders.last(), Some(&(60, String::from("forget"))));
    bench.perform("kubelet-start");
    bench.advance(30);
    assert!(bench.times("GET leases/kube-node-lease/w1").iter().any(|second| *second >= 120));
}

#[test]
fn a_server_that_is_gone_is_asked_again_with_pauses() {
    let mut bench = Bench::new();
    bench.is_server_gone = true;
    bench.engine.add(spec("w1"), bench.now).unwrap();
    bench.advance(60);
    let lists = bench.times("LIST nodes").len();
    assert!((3..60).contains(&lists), "{lists} lists in a minute");
    bench.is_server_gone = false;
    bench.advance(60);
    assert!(!bench.object(&NODES, "").is_null());
}

#[test]
fn what_arrives_for_a_machine_that_is_gone_is_dropped() {
    let mut bench = Bench::with_node();
    bench.advance(30);
    let client = bench.engine.client("w1").unwrap();
    bench.engine.remove("w1", bench.now).unwrap();
    bench.engine.handle_message(client, ToClient::WatchEnded { id: RequestId(3), lost: false }, bench.now);
    bench.advance(60);
    assert_eq!(bench.engine.next_deadline(), None);
    assert!(matches!(bench.engine.perform("w1", MachineAction::Pause, bench.now), Err(HollowError::NoMachine(_))));
    bench.engine.add(spec("w1"), bench.now).unwrap();
    assert!(matches!(bench.engine.add(spec("w1"), bench.now), Err(HollowError::MachineExists(_))));
}

#[test]
fn each_kubelet_speaks_for_its_own_node() {
    let mut bench = Bench::new();
    let named = MachineSpec::from_json(&json!({"name": "m1", "nodeName": "node-a"})).unwrap();
    bench.engine.add(named, bench.now).unwrap();
    while let Some(command) = bench.engine.poll_command() {
        let TransportCommand::Send { identity, .. } = command else { continue };
        assert_eq!(*identity, *Identity::kubelet("node-a"));
    }
}

#[test]
fn the_attacher_attaches_what_an_attachment_asks_for_until_it_ends() {
    let mut bench = Bench::new();
    bench.engine.start_controller(ATTACHER, bench.now);
    bench.carry();
    let attachment = |name: &str| {
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": name},
            "spec": {"attacher": "csi.example.com", "nodeName": "w1", "source": {"persistentVolumeName": "pv"}}})
    };
    let create = |bench: &mut Bench, name: &str| {
        let call = Call::new(Verb::Create, ATTACHMENTS, "", "").body(attachment(name));
        let ask = Ask::Call(Box::new(call));
        let request = Request { id: RequestId(1), identity: Identity::admin(), ask, timeout: None, because: None };
        bench.server.handle_request(SOMEBODY, request, bench.now);
        bench.advance(1);
        let found = bench.server.object(&ATTACHMENTS, &ObjectKey::cluster(name));
        found.map(|object| object.json().at(&["status", "attached"]).as_bool())
    };
    assert_eq!(create(&mut bench, "first"), Some(Some(true)));
    bench.engine.stop_controller(ATTACHER, bench.now);
    assert_eq!(create(&mut bench, "second"), Some(Some(false)));
}
