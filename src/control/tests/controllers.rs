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

#[test]
fn a_dependent_in_another_namespace_goes_and_its_owner_keeps_those_of_its_own() {
    let mut session = session();
    reset(&mut session, "1.34", json!({"controllers": "garbage-collector-controller"}));
    must(&mut session, "POST /api/v1/namespaces", json!({"metadata": {"name": "other"}}));
    let owner = json!({"metadata": {"name": "owner"}});
    let owner = must(&mut session, "POST /api/v1/namespaces/default/configmaps", owner);
    let uid = owner.at(&["metadata", "uid"]).as_str().unwrap_or_default().to_owned();
    wait(&mut session, "1s");
    let reference = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid.as_str()});
    let dependent = json!({"metadata": {"name": "dependent", "ownerReferences": [reference]}});
    for namespace in ["default", "other"] {
        must(&mut session, &format!("POST /api/v1/namespaces/{namespace}/configmaps"), dependent.clone());
    }
    wait(&mut session, "5s");
    for (namespace, code) in [("default", 200), ("other", 404)] {
        let path = format!("GET /api/v1/namespaces/{namespace}/configmaps/dependent");
        assert_eq!(call(&mut session, &path, Json::Null).get("code").as_i64(), Some(code), "{namespace}");
    }
    let events = must(&mut session, "GET /api/v1/namespaces/other/events", Json::Null);
    let message = format!(
        "ownerRef [v1/ConfigMap, namespace: other, name: owner, uid: {uid}] does not exist in namespace \"other\""
    );
    assert_eq!(events.get("items").items().first().unwrap().get("message").as_str(), Some(message.as_str()));
}
