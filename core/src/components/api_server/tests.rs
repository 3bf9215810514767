//! The server as its clients see it.

use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::{ApiServer, ServerOutput, Tap};
use crate::chance::Chance;
use crate::components::controllers::Context;
use crate::json;
use crate::network::{
    Answer, Ask, Call, ClientId, Content, Identity, LEASES, NODE_LEASES, NODES, Request, RequestId, ToClient, Verb,
    WatchType,
};
use crate::objects::{Json, Object, ObjectKey, Text};
use crate::profile::Settings;

struct Fixture {
    server: ApiServer,
    now: Timestamp,
    last: u64,
}

impl Fixture {
    fn new() -> Self {
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let context = Context { settings: Arc::new(Settings::default()), chance: Chance::new(1) };
        Self { server: ApiServer::new(context, now), now, last: 0 }
    }

    fn ask(&mut self, ask: Ask) -> (Answer, Vec<ServerOutput>) {
        self.last += 1;
        let request =
            Request { id: RequestId(self.last), identity: Identity::admin(), ask, timeout: None, because: None };
        self.server.handle_request(ClientId(1), request, self.now);
        let mut outputs: Vec<ServerOutput> = core::iter::from_fn(|| self.server.poll_output()).collect();
        let at = outputs
            .iter()
            .position(|output| matches!(output, ServerOutput::ToClient { message: ToClient::Response { .. }, .. }))
            .expect("an answer");
        let ServerOutput::ToClient { message: ToClient::Response { result, .. }, .. } = outputs.remove(at) else {
            unreachable!("found above")
        };
        (result.unwrap(), outputs)
    }

    fn call(&mut self, call: Call) -> Answer {
        self.ask(Ask::Call(call.into())).0
    }

    fn create_node(&mut self, name: &str) -> Object {
        let body = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name}, "status": {"conditions": [
            {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}});
        self.call(Call::new(Verb::Create, NODES, "", "").body(body)).as_object().unwrap().clone()
    }

    fn create_lease(&mut self, name: &str) -> Object {
        let body = json!({"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"name": name},
            "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": "2026-01-01T00:00:00.000000Z"}});
        self.call(Call::new(Verb::Create, LEASES, NODE_LEASES, "").body(body)).as_object().unwrap().clone()
    }
}

fn events(outputs: &[ServerOutput]) -> Vec<(WatchType, Object)> {
    outputs
        .iter()
        .filter_map(|output| match output {
            ServerOutput::ToClient { message: ToClient::Watch { event, object, .. }, .. } => {
                Some((*event, object.clone()))
            }
            _ => None,
        })
        .collect()
}

fn without_version(object: &Object) -> Json {
    let mut tree = object.json();
    tree.remove(&["metadata", "resourceVersion"]);
    tree
}

#[test]
fn a_typed_renewal_stores_what_a_full_put_stores() {
    let mut typed = Fixture::new();
    let mut full = Fixture::new();
    let at: Timestamp = "2026-01-01T00:00:10.123456789Z".parse().unwrap();
    let (lease, same) = (typed.create_lease("w1"), full.create_lease("w1"));
    assert_eq!(lease, same);
    let renew = Ask::RenewLease {
        name: Text::from("w1"),
        renew_time: at,
        resource_version: lease.resource_version(),
        place: None,
    };
    let (answer, _) = typed.ask(renew);
    let mut body = same.json();
    body.set(&["spec", "renewTime"], "2026-01-01T00:00:10.123456Z");
    let put = full.call(Call::new(Verb::Update, LEASES, NODE_LEASES, "w1").body(body));
    assert_eq!(answer.body(), put.body());
    let key = ObjectKey::namespaced(NODE_LEASES, "w1");
    assert_eq!(typed.server.object(&LEASES, &key), full.server.object(&LEASES, &key));
    assert_eq!(typed.server.resource_version(), full.server.resource_version());
}

#[test]
fn a_typed_heartbeat_stores_what_a_strategic_patch_stores() {
    let mut typed = Fixture::new();
    let mut full = Fixture::new();
    typed.create_node("w1");
    full.create_node("w1");
    let (answer, _) =
        typed.ask(Ask::Heartbeat { name: Text::from("w1"), at: "2026-01-01T00:05:00.9Z".parse().unwrap() });
    let patch = json!({"status": {"$setElementOrder/conditions": [{"type": "Ready"}],
        "conditions": [{"type": "Ready", "lastHeartbeatTime": "2026-01-01T00:05:00Z"}]}});
    let patched = full.call(Call::strategic_patch(NODES, "", "w1", patch).subresource("status"));
    assert_eq!(answer.body(), patched.body());
    assert_eq!(typed.server.resource_version(), full.server.resource_version());
}

#[test]
fn a_renewal_of_an_older_version_conflicts_and_the_same_time_is_no_write() {
    let mut fixture = Fixture::new();
    let lease = fixture.create_lease("w1");
    let renew = |at: &str, resource_version| Ask::RenewLease {
        name: Text::from("w1"),
        renew_time: at.parse().unwrap(),
        resource_version,
        place: None,
    };
    let (first, _) = fixture.ask(renew("2026-01-01T00:00:10Z", lease.resource_version()));
    let version = first.as_object().unwrap().resource_version();
    assert_eq!(version, lease.resource_version() + 1);
    assert_eq!(fixture.ask(renew("2026-01-01T00:00:10Z", version)).0.as_object().unwrap().resource_version(), version);
    let (late, _) = fixture.ask(renew("2026-01-01T00:00:20Z", lease.resource_version()));
    assert_eq!(
        late.message(),
        "Operation cannot be fulfilled on leases.coordination.k8s.io \"w1\": the object has been modified; please \
         apply your changes to the latest version and try again"
    );
}

#[test]
fn a_commit_is_put_out_before_its_answer_and_its_events() {
    let mut fixture = Fixture::new();
    fixture.server.tap(Tap::Everything);
    fixture.call(Call::new(Verb::Watch, NODES, "", ""));
    let request = Request {
        id: RequestId(99),
        identity: Identity::admin(),
        ask: Ask::Call(Call::new(Verb::Create, NODES, "", "").body(json!({"metadata": {"name": "w1"}})).into()),
        timeout: None,
        because: None,
    };
    fixture.server.handle_request(ClientId(2), request, fixture.now);
    let outputs: Vec<ServerOutput> = core::iter::from_fn(|| fixture.server.poll_output()).collect();
    assert!(matches!(
        outputs.as_slice(),
        [
            ServerOutput::Commit(_),
            ServerOutput::ToClient { client: ClientId(2), message: ToClient::Response { .. } },
            ServerOutput::ToClient { client: ClientId(1), message: ToClient::Watch { event: WatchType::Added, .. } },
        ]
    ));
}

#[test]
fn a_watch_by_label_sees_an_object_come_and_go() {
    let mut fixture = Fixture::new();
    fixture.create_node("w1");
    let (answer, seen) =
        fixture.ask(Ask::Call(Call::new(Verb::Watch, NODES, "", "").query("labelSelector", "zone=a").into()));
    assert_eq!((answer.content, events(&seen).len()), (Content::Watching, 0));
    let label = |value: Json| {
        Call::strategic_patch(
            NODES,
            "",
            "w1",
            json!({"metadata": {"labels": {"zone": serde_json::Value::from(&value)}}}),
        )
    };
    let (_, seen) = fixture.ask(Ask::Call(label(Json::from("a")).into()));
    assert_eq!(events(&seen)[0].0, WatchType::Added);
    let with_label = without_version(&events(&seen)[0].1);
    let (answer, seen) = fixture.ask(Ask::Call(label(Json::Null).into()));
    let (event, object) = events(&seen)[0].clone();
    assert_eq!(event, WatchType::Deleted);
    assert_eq!(without_version(&object), with_label);
    assert_eq!(object.resource_version(), answer.as_object().unwrap().resource_version());
}

#[test]
fn a_write_that_changes_nothing_is_none() {
    let mut fixture = Fixture::new();
    let node = fixture.create_node("w1");
    fixture.call(Call::new(Verb::Watch, NODES, "", ""));
    let patch = Call::strategic_patch(NODES, "", "w1", json!({"metadata": {"labels": null}}));
    let (answer, seen) = fixture.ask(Ask::Call(patch.into()));
    assert_eq!(answer.as_object(), Some(&node));
    assert!(seen.is_empty());
    let put = fixture.call(Call::new(Verb::Update, NODES, "", "w1").body(node.json()));
    assert_eq!(put.as_object(), Some(&node));
}
