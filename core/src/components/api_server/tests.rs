//! Tests the server as its clients see it.

use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::{ApiServer, ServerOutput, Tap};
use crate::chance::Chance;
use crate::components::controller::Context;
use crate::json;
use crate::network::{
    Answer, Ask, Call, ClientId, Content, EVENTS, Identity, JSON_PATCH, LEASES, MERGE_PATCH, NODE_LEASES, NODES, PODS,
    Request, RequestId, Resource, STRATEGIC_MERGE_PATCH, ToClient, Verb, WatchType,
};
use crate::objects::{Json, Object, ObjectKey, Text};
use crate::profile::{Release, Settings};

mod answers;
mod custom;
mod eviction;
mod http;
mod kinds;
mod nodes;
mod plugins;
mod releases;
mod rules;
mod since_1_37;
mod tables;
mod updates;

struct Fixture {
    server: ApiServer,
    now: Timestamp,
    last: u64,
}

impl Fixture {
    fn new() -> Self {
        Self::with(Settings::default())
    }

    fn of(release: Release) -> Self {
        Self::with(Settings::of(release))
    }

    fn with(settings: Settings) -> Self {
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let context = Context { settings: Arc::new(settings), chance: Chance::new(1) };
        Self { server: ApiServer::new(context, now), now, last: 0 }
    }

    fn ask(&mut self, ask: Ask) -> (Answer, Vec<ServerOutput>) {
        self.ask_as(Identity::admin(), ask)
    }

    fn ask_as(&mut self, identity: Arc<Identity>, ask: Ask) -> (Answer, Vec<ServerOutput>) {
        self.last += 1;
        let request = Request { id: RequestId(self.last), identity, ask, timeout: None, because: None };
        self.server.handle_request(ClientId(1), request, self.now);
        self.server.end_wait_now(ClientId(1), RequestId(self.last), self.now);
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

    fn post(&mut self, resource: &Resource, namespace: &str, body: Json) -> Answer {
        self.call(Call::new(Verb::Create, resource.clone(), namespace, "").body(body))
    }

    fn create_node(&mut self, name: &str) -> Object {
        let body = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name}, "status": {"conditions": [
            {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:00:00Z",
                "lastTransitionTime": "2026-01-01T00:00:00Z"}]}});
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
fn a_node_that_patches_its_own_lease_stores_what_anybodys_patch_stores() {
    let mut own = Fixture::new();
    let mut other = Fixture::new();
    let lease = own.create_lease("w1");
    other.create_lease("w1");
    let renewal = |at: &str| json!({"spec": {"renewTime": at}});
    let later = "2026-01-01T00:00:10.123456Z";
    let with_duration = json!({"spec": {"renewTime": later, "leaseDurationSeconds": 60}});
    let cases = [
        (MERGE_PATCH, renewal(later), 200, 1),
        (STRATEGIC_MERGE_PATCH, renewal("2026-01-01T00:00:20.000000Z"), 200, 2),
        (MERGE_PATCH, renewal("2026-01-01T00:00:20.000000Z"), 200, 2),
        // Not in the form with microseconds.
        (MERGE_PATCH, renewal("2026-01-01T00:00:30.0Z"), 422, 2),
        (MERGE_PATCH, renewal("2026-01-01T02:00:30.000000+02:00"), 200, 3),
        (MERGE_PATCH, with_duration, 200, 4),
        (JSON_PATCH, renewal("2026-01-01T00:00:40.000000Z"), 400, 4),
    ];
    for (content_type, patch, code, writes) in cases {
        let call = || {
            let call = Call::new(Verb::Patch, LEASES, NODE_LEASES, "w1").header("content-type", content_type);
            Ask::Call(call.body(patch.clone()).into())
        };
        let (answer, _) = own.ask_as(Identity::kubelet("w1"), call());
        let (same, _) = other.ask(call());
        assert_eq!(answer.code, code, "{content_type} {patch}");
        assert_eq!(answer.body(), same.body(), "{content_type} {patch}");
        assert_eq!(own.server.resource_version(), lease.resource_version() + writes, "{content_type} {patch}");
        assert_eq!(own.server.resource_version(), other.server.resource_version());
    }
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

fn names(answer: &Answer) -> Vec<Text> {
    answer
        .body()
        .get("items")
        .items()
        .iter()
        .filter_map(|item| item.at(&["metadata", "name"]).as_text().cloned())
        .collect()
}

#[test]
fn pages_show_the_state_of_the_first_one() {
    let mut fixture = Fixture::new();
    for name in ["w1", "w2", "w3"] {
        fixture.create_node(name);
    }
    let first = fixture.call(Call::new(Verb::List, NODES, "", "").query("limit", "2"));
    assert_eq!(names(&first), ["w1", "w2"]);
    assert_eq!(first.body().at(&["metadata", "remainingItemCount"]).as_i64(), Some(1));
    let next = first.body().at(&["metadata", "continue"]).as_text().unwrap().clone();
    fixture.create_node("w4");
    fixture.call(Call::new(Verb::Delete, NODES, "", "w3"));
    let second = fixture.call(Call::new(Verb::List, NODES, "", "").query("limit", "2").query("continue", next));
    assert_eq!(names(&second), ["w3"]);
    assert_eq!(second.body().at(&["metadata", "resourceVersion"]), first.body().at(&["metadata", "resourceVersion"]));
    assert!(second.body().at(&["metadata", "continue"]).is_null());
}

#[test]
fn a_list_of_the_past_is_exact_and_one_of_the_future_is_refused() {
    let mut fixture = Fixture::new();
    let node = fixture.create_node("w1");
    fixture.create_node("w2");
    let at = |version: u64, wanted: &'static str| {
        let version = Text::from(alloc::format!("{version}"));
        Call::new(Verb::List, NODES, "", "").query("resourceVersion", version).query("resourceVersionMatch", wanted)
    };
    assert_eq!(names(&fixture.call(at(node.resource_version(), "Exact"))), ["w1"]);
    assert_eq!(names(&fixture.call(at(node.resource_version(), "NotOlderThan"))), ["w1", "w2"]);
    let refused = fixture.call(at(1_000_000, "NotOlderThan"));
    assert_eq!(refused.code, 504);
    assert!(refused.message().starts_with("Timeout: Too large resource version: 1000000, current: "));
    assert_eq!(fixture.call(at(1, "Exact")).message(), "The resourceVersion for the provided list is too old.");
}

fn late(fixture: &mut Fixture, path: &str, headers: &[(&str, &str)]) -> RequestId {
    let call = Call::from_http("GET", path, headers, "").unwrap();
    fixture.last += 1;
    let (id, identity) = (RequestId(fixture.last), Identity::admin());
    let request = Request { id, identity, ask: Ask::Call(call.into()), timeout: None, because: None };
    fixture.server.handle_request(ClientId(7), request, fixture.now);
    id
}

fn answers(fixture: &mut Fixture) -> Vec<(RequestId, Answer)> {
    let outputs = core::iter::from_fn(|| fixture.server.poll_output());
    let answers = outputs.filter_map(|output| match output {
        ServerOutput::ToClient { message: ToClient::Response { id, result }, .. } => Some((id, result.unwrap())),
        _ => None,
    });
    answers.collect()
}

#[test]
fn a_read_of_a_revision_to_come_waits_for_it_and_no_longer_than_three_seconds() {
    let mut fixture = Fixture::new();
    fixture.create_node("n1");
    let current = fixture.server.resource_version();
    let soon = current + 1;
    let get = late(&mut fixture, &format!("/api/v1/nodes/n1?resourceVersion={soon}"), &[]);
    let list = late(&mut fixture, &format!("/api/v1/nodes?resourceVersion={soon}&resourceVersionMatch=Exact"), &[]);
    let never = late(&mut fixture, "/api/v1/nodes?resourceVersion=900", &[]);
    assert!(answers(&mut fixture).is_empty());
    assert_eq!(fixture.server.next_deadline().unwrap().at, fixture.now + SignedDuration::from_secs(3));
    let body = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n2"}});
    let call = Call::new(Verb::Create, NODES, "", "").body(body);
    let request = Request {
        id: RequestId(99),
        identity: Identity::admin(),
        ask: Ask::Call(call.into()),
        timeout: None,
        because: None,
    };
    fixture.server.handle_request(ClientId(1), request, fixture.now);
    let found = answers(&mut fixture);
    let codes: Vec<(RequestId, u16)> = found.iter().map(|(id, answer)| (*id, answer.code)).collect();
    assert_eq!(codes, [(RequestId(99), 201), (get, 200), (list, 200)]);
    assert_eq!(names(&found[2].1), ["n1", "n2"]);
    fixture.now += SignedDuration::from_secs(3);
    fixture.server.handle_timeout(fixture.now);
    let found = answers(&mut fixture);
    assert_eq!((found[0].0, found[0].1.code), (never, 504));
    assert_eq!(found[0].1.message(), format!("Timeout: Too large resource version: 900, current: {soon}"));
    assert_eq!(found[0].1.body().at(&["details", "retryAfterSeconds"]).as_i64(), Some(1));
}

#[test]
fn what_is_refused_whatever_the_revision_is_refused_at_once() {
    let mut fixture = Fixture::new();
    for (path, code) in [
        ("/api/v1/nodes?resourceVersion=900&resourceVersionMatch=Bogus", 422),
        ("/api/v1/nodes?resourceVersion=900&labelSelector=a%20b", 400),
        ("/api/v1/nodes?resourceVersion=-1", 400),
        ("/api/v1/nodes?watch=true&resourceVersion=900&resourceVersionMatch=NotOlderThan", 422),
        ("/api/v1/nodes/n1?resourceVersion=x", 500),
    ] {
        late(&mut fixture, path, &[]);
        assert_eq!(answers(&mut fixture)[0].1.code, code, "{path}");
    }
}

#[test]
fn a_watch_can_begin_with_a_list_and_tells_where_it_ends() {
    let mut fixture = Fixture::new();
    fixture.create_node("w1");
    let watch = Call::new(Verb::Watch, NODES, "", "")
        .query("sendInitialEvents", "true")
        .query("resourceVersionMatch", "NotOlderThan")
        .query("allowWatchBookmarks", "true");
    let (_, seen) = fixture.ask(Ask::Call(watch.into()));
    let seen = events(&seen);
    assert_eq!(seen.iter().map(|(event, _)| *event).collect::<Vec<_>>(), [WatchType::Added, WatchType::Bookmark]);
    let mark = seen[1].1.json();
    assert_eq!(mark.at(&["metadata", "annotations", "k8s.io/initial-events-end"]).as_str(), Some("true"));
    let (refused, _) =
        fixture.ask(Ask::Call(Call::new(Verb::Watch, NODES, "", "").query("sendInitialEvents", "true").into()));
    assert_eq!(refused.code, 422);
}

#[test]
fn the_last_finalizer_takes_the_object_with_it_and_watches_see_its_stored_state() {
    let mut fixture = Fixture::new();
    let body = json!({"metadata": {"name": "w1", "finalizers": ["example.com/x"]}});
    fixture.call(Call::new(Verb::Create, NODES, "", "").body(body));
    fixture.call(Call::new(Verb::Delete, NODES, "", "w1"));
    let patch = Call::strategic_patch(NODES, "", "w1", json!({"metadata": {"finalizers": null}}));
    fixture.call(Call::new(Verb::Watch, NODES, "", ""));
    let (answer, seen) = fixture.ask(Ask::Call(patch.into()));
    assert!(answer.as_object().unwrap().stable().at(&["metadata", "finalizers"]).is_null());
    let seen = events(&seen);
    assert_eq!((seen.len(), seen[0].0), (1, WatchType::Deleted));
    assert!(!seen[0].1.stable().at(&["metadata", "finalizers"]).is_empty());
}

#[test]
fn a_pod_gets_the_token_of_a_stored_account_and_only_then() {
    let create = |fixture: &mut Fixture, name: &str| {
        let mut body = json!({"metadata": {}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}});
        body.set(&["metadata", "name"], name);
        fixture.call(Call::new(Verb::Create, PODS, "default", "").body(body)).body()
    };
    let mut fixture = Fixture::new();
    assert!(create(&mut fixture, "without").at(&["spec", "volumes"]).is_null());
    let account = Resource::of("", "v1", "serviceaccounts");
    let body = json!({"metadata": {"name": "default"}});
    fixture.call(Call::new(Verb::Create, account, "default", "").body(body));
    let pod = create(&mut fixture, "with");
    let volume = pod.at(&["spec", "volumes"]).items()[0].get("name").clone();
    assert!(volume.as_str().unwrap().starts_with("kube-api-access-"));
    assert_eq!(pod.at(&["spec", "containers"]).items()[0].get("volumeMounts").items()[0].get("name"), &volume);
}

#[test]
fn the_newer_face_of_events_is_the_same_whenever_somebody_looks_first() {
    const NEWER: Resource = Resource::of("events.k8s.io", "v1", "events");
    let list = || Call::new(Verb::List, NEWER, "default", "");
    let seen = |early: bool| {
        let mut fixture = Fixture::new();
        if early {
            fixture.call(list());
        }
        let event = |name: &str| {
            let about = json!({"kind": "Node", "name": "n"});
            json!({"metadata": {"name": name}, "involvedObject": about, "reason": "r", "message": "m", "type": "Normal",
                "count": 1, "source": {"component": "kubelet"}, "firstTimestamp": "2026-01-01T00:00:00Z"})
        };
        for name in ["a", "b", "c"] {
            let call = Call::new(Verb::Create, EVENTS, "default", "").body(event(name));
            assert!(fixture.call(call).is_success());
        }
        let patch = Call::strategic_patch(EVENTS, "default", "a", json!({"count": 2}));
        assert!(fixture.call(patch).is_success());
        assert!(fixture.call(Call::new(Verb::Delete, EVENTS, "default", "b")).is_success());
        let beside: Vec<Json> = fixture.server.objects(&NEWER).iter().map(Object::json).collect();
        let from = alloc::format!("{}", fixture.server.resource_version() - 5);
        let watch = Call::new(Verb::Watch, NEWER, "default", "").query("resourceVersion", from.as_str());
        let (_, outputs) = fixture.ask(Ask::Call(watch.into()));
        let told: Vec<_> = events(&outputs).into_iter().map(|(seen, object)| (seen, object.json())).collect();
        let listed = fixture.call(list()).body();
        (beside, told, listed)
    };
    let (beside, told, listed) = seen(false);
    assert_eq!((beside.len(), told.len(), listed.get("items").items().len()), (2, 5, 2));
    assert_eq!(beside[0].at(&["regarding", "name"]).as_str(), Some("n"));
    assert_eq!((beside, told, listed), seen(true));
}

#[test]
fn events_go_with_the_lease_of_their_last_write() {
    let seconds = SignedDuration::from_secs;
    let mut fixture = Fixture::new();
    let start = fixture.now;
    let event = |name: &str| {
        let about = json!({"kind": "Node", "name": "n"});
        let body = json!({"metadata": {"name": name}, "involvedObject": about, "count": 1});
        Call::new(Verb::Create, EVENTS, "default", "").body(body)
    };
    let count = |count: i64| Call::strategic_patch(EVENTS, "default", "counted", json!({"count": count}));
    assert!(fixture.call(event("first")).is_success());
    assert!(fixture.call(event("counted")).is_success());
    let watch = Call::new(Verb::Watch, EVENTS, "default", "").query("timeoutSeconds", "86400");
    fixture.ask(Ask::Call(watch.into()));
    for (at, call) in [
        (30, event("shares")),
        (59, count(2)),
        // A minute after its grant a lease lives no longer than asked for: the next one is granted.
        (60, event("next")),
        (70, count(2)),
    ] {
        fixture.now = start + seconds(at);
        assert!(fixture.call(call).is_success());
    }
    let mut gone = Vec::new();
    while let Some(deadline) = fixture.server.next_deadline().filter(|next| next.at < start + seconds(7200)) {
        fixture.server.handle_timeout(deadline.at);
        let outputs: Vec<ServerOutput> = core::iter::from_fn(|| fixture.server.poll_output()).collect();
        for (event, object) in events(&outputs) {
            assert_eq!(event, WatchType::Deleted);
            gone.push((deadline.at.duration_since(start).as_millis(), Text::from(object.name())));
        }
    }
    let names = |at: i128, names: &[&str]| names.iter().map(|name| (at, Text::from(*name))).collect::<Vec<_>>();
    assert_eq!(gone, [names(3_660_500, &["counted", "first", "shares"]), names(3_720_500, &["next"])].concat());
    assert!(fixture.server.objects(&EVENTS).is_empty());
}

#[test]
fn events_stay_as_long_as_the_flag_says() {
    for (ttl, longest) in [("10m", 630), ("30s", 31), ("900ms", 7200)] {
        let mut fixture = Fixture::new();
        let mut settings = Settings::default();
        settings.set("event-ttl", ttl).unwrap();
        let context = Context { settings: Arc::new(settings), chance: Chance::new(1) };
        fixture.server = ApiServer::new(context, fixture.now);
        let body = json!({"metadata": {"name": "e"}, "involvedObject": {"kind": "Node", "name": "n"}});
        assert!(fixture.call(Call::new(Verb::Create, EVENTS, "default", "").body(body)).is_success());
        fixture.server.handle_timeout(fixture.now + SignedDuration::from_secs(longest));
        assert_eq!(fixture.server.objects(&EVENTS).len(), 1, "{ttl}");
        if ttl != "900ms" {
            fixture.server.handle_timeout(fixture.now + SignedDuration::from_secs(longest + 1));
            assert!(fixture.server.objects(&EVENTS).is_empty(), "{ttl}");
        }
    }
}

#[test]
fn what_belongs_to_a_gate_that_is_off_is_dropped_until_a_kubelet_posts_it() {
    for (release, gates, kept) in [
        (Release::new(31, 0), "", [false, true]),
        (Release::new(31, 0), "SupplementalGroupsPolicy=true,RecursiveReadOnlyMounts=false", [true, false]),
        (Release::new(34, 0), "", [true, true]),
    ] {
        let mut fixture = Fixture::new();
        let mut settings = Settings::of(release);
        settings.set("feature-gates", gates).unwrap();
        fixture.server = ApiServer::new(Context { settings: Arc::new(settings), chance: Chance::new(1) }, fixture.now);
        let status = json!({"features": {"supplementalGroupsPolicy": true}, "runtimeHandlers": [{"name": "runc"}]});
        let shown = |answer: &Answer| {
            let node = answer.as_object().unwrap().json();
            ["features", "runtimeHandlers"].map(|field| !node.at(&["status", field]).is_null())
        };
        let body = json!({"kind": "Node", "metadata": {"name": "w1"}, "status": status.clone()});
        assert_eq!(shown(&fixture.call(Call::new(Verb::Create, NODES, "", "").body(body))), kept, "{release} {gates}");
        let posted = Call::strategic_patch(NODES, "", "w1", json!({"status": status})).subresource("status");
        assert_eq!(shown(&fixture.call(posted)), [true, true]);
        let labelled = Call::strategic_patch(NODES, "", "w1", json!({"metadata": {"labels": {"a": "b"}}}));
        assert_eq!(shown(&fixture.call(labelled)), [true, kept[1]]);
    }
}
