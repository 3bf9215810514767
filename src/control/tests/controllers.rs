//! Tests of what controllers do and measure, by release and gate, as a session shows it.

use nodeproof_core::json;
use nodeproof_core::objects::Json;

use super::{Session, ask, call, session};

const NODES: &str = "/api/v1/nodes";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// Does what has to succeed.
fn must(session: &mut Session, name: &str, body: Json) -> Json {
    let answer = call(session, name, body);
    assert!(answer.get("code").as_i64().is_some_and(|code| (200..300).contains(&code)), "{name}: {answer}");
    answer.get("body").clone()
}

fn patch(session: &mut Session, path: &str, body: Json) -> Json {
    let headers = json!({"Content-Type": "application/merge-patch+json"});
    let answer = ask(session, &json!({"id": 1, "call": format!("PATCH {path}"), "body": body, "headers": headers}));
    assert_eq!(answer.get("code").as_i64(), Some(200), "{path}: {answer}");
    answer.get("body").clone()
}

fn wait(session: &mut Session, by: &str) {
    must(session, "POST clock/advance", json!({"by": by}));
}

fn reset(session: &mut Session, k8s: &str, settings: Json) {
    must(session, "POST reset", json!({"k8s": k8s, "settings": settings}));
}

fn node(session: &mut Session, name: &str, spec: Json, ready: &str) {
    let status = json!({"conditions": [{"type": "Ready", "status": ready, "reason": "r", "message": "m"}]});
    let body = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": spec, "status": status});
    must(session, &format!("POST {NODES}"), body);
}

fn pod(session: &mut Session, name: &str, node: &str) {
    let spec = json!({"nodeName": node, "containers": [{"name": "main", "image": "pause"}]});
    let body = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec});
    must(session, &format!("POST {PODS}"), body);
}

/// Tells whether the metrics of a component have a line.
fn shows(session: &mut Session, component: &str, line: &str) {
    let answer = call(session, &format!("GET metrics/{component}"), Json::Null);
    let text = answer.get("raw").as_str().unwrap_or_default().to_owned();
    assert!(text.lines().any(|own| own == line), "{line} is missing in {text}");
}

/// Returns the objects that Events of a reason are about.
fn about(session: &mut Session, reason: &str) -> Vec<Json> {
    let events = must(session, "GET /api/v1/events", Json::Null);
    let of_reason = events.get("items").items().iter().filter(|event| event.get("reason").as_str() == Some(reason));
    of_reason.map(|event| event.get("involvedObject").clone()).collect()
}

/// Starts a cluster in a cloud with routes and one instance, and a Node with a network.
fn routed(session: &mut Session, k8s: &str, instance: Json, condition: Json) {
    let flags = json!({"cloud-controller-manager.cluster-cidr": "10.0.0.0/16"});
    reset(session, k8s, flags);
    must(session, "PUT cloud/instances/w1", instance);
    let status = json!({"conditions": [condition]});
    let body = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "w1"},
        "spec": {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"]}, "status": status});
    must(session, &format!("POST {NODES}"), body);
    wait(session, "25s");
}

#[test]
fn a_missing_route_is_told_of_a_node_by_its_name_or_by_its_uid() {
    let mut session = session();
    for (k8s, is_whole) in [("1.34", false), ("1.35", true)] {
        let ready = json!({"type": "Ready", "status": "True"});
        routed(&mut session, k8s, json!({"errors": {"createRoute": "quota"}}), ready);
        let uid = must(&mut session, &format!("GET {NODES}/w1"), Json::Null).at(&["metadata", "uid"]).clone();
        let objects = about(&mut session, "FailedToCreateRoute");
        let object = objects.first().unwrap();
        let expected = if is_whole { uid } else { Json::from("w1") };
        assert_eq!(object.get("uid"), &expected, "{k8s}");
        assert_eq!(object.get("apiVersion").as_str().is_some(), is_whole, "{k8s}");
    }
}

#[test]
fn a_condition_of_somebody_else_may_be_taken_for_the_routes_own() {
    let mut session = session();
    for (k8s, reason) in [("1.35", "CalicoIsUp"), ("1.36", "RouteCreated")] {
        let condition = json!({"type": "NetworkUnavailable", "status": "False", "reason": "CalicoIsUp"});
        routed(&mut session, k8s, Json::object(), condition);
        let own = must(&mut session, &format!("GET {NODES}/w1"), Json::Null);
        let conditions = own.at(&["status", "conditions"]).items().iter();
        let mut found = conditions.filter(|item| item.get("type").as_str() == Some("NetworkUnavailable"));
        assert_eq!(found.next().and_then(|item| item.get("reason").as_str()), Some(reason), "{k8s}");
    }
}

#[test]
fn a_node_is_synced_as_it_was_read_and_deleted_without_its_version() {
    let mut session = session();
    reset(&mut session, "1.34", Json::object());
    must(&mut session, "PUT cloud/instances/w1", json!({"providerID": "x://1"}));
    let taint = json!({"key": "node.cloudprovider.kubernetes.io/uninitialized", "effect": "NoSchedule"});
    node(&mut session, "w1", json!({"taints": [taint]}), "False");
    wait(&mut session, "1s");
    let synced = about(&mut session, "Synced");
    assert!(synced.first().unwrap().get("resourceVersion").as_str().is_some(), "{synced:?}");
    must(&mut session, "DELETE cloud/instances/w1", Json::Null);
    wait(&mut session, "10s");
    let deleted = about(&mut session, "DeletingNode");
    assert!(deleted.first().unwrap().get("apiVersion").is_null(), "{deleted:?}");
}
