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
