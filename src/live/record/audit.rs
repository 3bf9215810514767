//! Reads the audit log of an API server that this run has started, as lines of `writes.jsonl` and `actions.jsonl`.
//!
//! Input: the log's text, one JSON event a line. Outputs: a write for each request of a controller or the scheduler; an
//! action for each write of anybody else (kubelet, cloud, user). Events are left out, since the watches show them, and
//! so are renewals of Leases.
//!
//! Source: k8s.io/apiserver pkg/apis/audit/v1/types.go (v1.34).

use jiff::Timestamp;
use nodeproof_core::json;
use nodeproof_core::objects::{Json, Text};

use super::times::offset;

/// The audit policy of the API server.
pub(in crate::live) const POLICY: &str = concat!(
    r#"apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  verbs: [list, watch]
- level: None
  resources: [{group: "", resources: [events]}, {group: events.k8s.io}]
- level: None
  verbs: [update, patch]
  resources: [{group: coordination.k8s.io, resources: [leases]}]
- level: Metadata
  verbs: [get]
  resources: [{group: "", resources: [nodes, pods]}]
- level: RequestResponse
  verbs: [create, update, patch, delete, deletecollection]
  resources:
  - {group: "", resources: [namespaces, nodes, nodes/status, persistentvolumeclaims, persistentvolumes,"#,
    r#" pods, pods/binding, pods/eviction, pods/status, services]}
  - {group: apps}
  - {group: batch}
  - {group: coordination.k8s.io}
  - {group: policy}
  - {group: scheduling.k8s.io}
  - {group: storage.k8s.io}
- level: None
"#
);

/// Users that are components of the control plane, beside the service accounts of `kube-system`.
const COMPONENTS: [&str; 2] = ["system:kube-controller-manager", "system:kube-scheduler"];
/// The prefix of the users of controllers.
const ACCOUNTS: &str = "system:serviceaccount:kube-system:";
/// The API server's own user: the effects of its requests are seen without them.
const SELF: &str = "system:apiserver";

/// A line, and what it says about the revision that the request made.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AuditEntry {
    /// When the request came, in seconds since the start.
    pub(super) t: f64,
    /// The user: `ttl-controller`, `kubelet/worker-1`.
    pub(super) actor: String,
    /// The verb.
    pub(super) verb: String,
    /// The subresource; empty for the object itself.
    pub(super) subresource: String,
    /// The revision that it made; empty if it made none.
    pub(super) revision: String,
    /// The line.
    pub(super) line: AuditLine,
}

/// A line of one of the two files.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AuditLine {
    /// Of `writes.jsonl`.
    Write(Json),
    /// Of `actions.jsonl`.
    Action(Json),
}

/// Reads a log, in the order of instants. Events before the start are left out; an incomplete line is skipped.
pub(super) fn read(text: &str, started: Timestamp) -> Vec<AuditEntry> {
    let mut entries: Vec<AuditEntry> = text
        .lines()
        .filter_map(|line| entry(&Json::parse(line).ok()?, started))
        .filter(|entry| entry.t >= 0.0)
        .collect();
    entries.sort_by(|one, other| one.t.total_cmp(&other.t));
    entries
}

fn entry(event: &Json, started: Timestamp) -> Option<AuditEntry> {
    let text = |path: &[&str]| event.at(path).as_str().unwrap_or_default();
    let at = |field: &str| text(&[field]).parse::<Timestamp>().ok().map(|at| offset(started, at));
    if text(&["stage"]) != "ResponseComplete" {
        return None;
    }
    let (t, end) = (at("requestReceivedTimestamp")?, at("stageTimestamp")?);
    let verb = text(&["verb"]).to_owned();
    let acted_as = event.at(&["impersonatedUser", "username"]).as_str();
    let user = acted_as.unwrap_or_else(|| text(&["user", "username"]));
    let is_component = acted_as.is_none() && (user.starts_with(ACCOUNTS) || COMPONENTS.contains(&user));
    if user == SELF || (verb == "get" && !is_component) {
        return None;
    }
    let code = event.at(&["responseStatus", "code"]).as_i64().unwrap_or(0);
    let made = event.at(&["responseObject", "metadata", "resourceVersion"]).as_str().unwrap_or_default();
    let revision = if (200..300).contains(&code) && verb != "get" { made.to_owned() } else { String::new() };
    let subresource = text(&["objectRef", "subresource"]).to_owned();
    let (actor, line) = if is_component {
        let actor = user.rsplit(':').next().unwrap_or_default().to_owned();
        (actor, AuditLine::Write(write(event, user, (t, end, code), &revision)))
    } else {
        let actor = actor(user, acted_as.is_some());
        let line = AuditLine::Action(action(event, &actor, (t, end, code)));
        (actor, line)
    };
    Some(AuditEntry { t, actor, verb, subresource, revision, line })
}

/// Names a user that is no component. A hollow cloud controller is a user that the run impersonates.
fn actor(user: &str, is_acted_as: bool) -> String {
    match user.strip_prefix("system:node:") {
        Some(node) => format!("kubelet/{node}"),
        None if is_acted_as && user.starts_with(ACCOUNTS) => "cloud".to_owned(),
        None => "user".to_owned(),
    }
}

fn write(event: &Json, user: &str, (t, end, code): (f64, f64, i64), revision: &str) -> Json {
    let text = |path: &[&str]| event.at(path).as_str().unwrap_or_default();
    let verb = text(&["verb"]);
    let mut line = json!({
        "t": t, "end": end, "user": user, "verb": verb, "uri": text(&["requestURI"]), "code": code,
    });
    if !revision.is_empty() {
        line.set(&["resourceVersion"], revision);
    }
    let body = event.get("requestObject");
    if !body.is_null() {
        let is_whole = matches!(verb, "create" | "update") && text(&["objectRef", "subresource"]) != "binding";
        line.set(&["body"], if is_whole { outline(body) } else { body.clone() });
    }
    if code >= 300 {
        line.set(&["message"], text(&["responseStatus", "message"]));
    }
    line
}

/// Returns the part of a whole object that the watches do not show.
fn outline(body: &Json) -> Json {
    let mut outline = json!({"metadata": {}});
    for field in ["name", "generateName", "resourceVersion"] {
        let value = body.at(&["metadata", field]);
        if !value.is_null() {
            outline.set(&["metadata", field], value.clone());
        }
    }
    outline.set(&["_"], "whole object");
    outline
}

fn action(event: &Json, actor: &str, (t, end, code): (f64, f64, i64)) -> Json {
    let text = |path: &[&str]| event.at(path).as_str().unwrap_or_default();
    let verb = text(&["verb"]);
    let method = match verb {
        "create" => "POST",
        "update" => "PUT",
        "patch" => "PATCH",
        _ => "DELETE",
    };
    let (resource, subresource) = (text(&["objectRef", "resource"]), text(&["objectRef", "subresource"]));
    let mut what =
        format!("{verb}-{}", if subresource.is_empty() { resource.trim_end_matches('s') } else { subresource });
    if verb == "patch" && subresource == "status" {
        "patch-status".clone_into(&mut what);
    }
    let mut line = json!({"t": t, "actor": actor, "do": what, "request": {
        "method": method, "path": text(&["requestURI"]), "body": event.get("requestObject"),
    }, "response": {"code": code, "t": end}});
    if verb == "patch" {
        // The log does not have the content type. Kubelets and kubectl send this one; a list is a JSON patch.
        let is_list = event.get("requestObject").is_array();
        let kind = if is_list { "application/json-patch+json" } else { "application/strategic-merge-patch+json" };
        line.set(&["request", "contentType"], kind);
    } else if !event.get("requestObject").is_null() {
        line.set(&["request", "contentType"], "application/json");
    }
    for field in ["resourceVersion", "uid", "name"] {
        let value = event.at(&["responseObject", "metadata", field]);
        if code < 300 && !value.is_null() {
            line.set(&["response", field], value.clone());
        }
    }
    for field in ["message", "reason"] {
        let value = event.at(&["responseStatus", field]);
        if code >= 300 && !value.is_null() {
            line.set(&["response", field], value.clone());
        }
    }
    strip(&mut line);
    line
}

/// Removes fields that only field managers need.
fn strip(line: &mut Json) {
    let path = ["request", "body", "metadata", "managedFields"];
    if !line.at(&path).is_null() {
        line.remove(&path);
    }
    // The server has filled in a field that the client left out.
    let created = ["request", "body", "metadata", "creationTimestamp"];
    if line.at(&created) == &Json::from(Text::of("")) || line.at(&created).is_null() {
        line.remove(&created);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "2026-01-01T00:00:00Z";

    fn event(user: &str, verb: &str, uri: &str, code: i64, more: &[(&str, Json)]) -> Json {
        let mut event = json!({
            "stage": "ResponseComplete", "verb": verb, "requestURI": uri, "user": {"username": user},
            "responseStatus": {"code": code}, "requestReceivedTimestamp": "2026-01-01T00:00:01.500000Z",
            "stageTimestamp": "2026-01-01T00:00:01.504000Z",
        });
        for (field, value) in more {
            event.set(&[*field], value.clone());
        }
        event
    }

    fn lines(events: &[Json]) -> Vec<String> {
        let text: String = events.iter().map(|event| format!("{event}\n")).collect();
        let entries = read(&text, START.parse().unwrap());
        entries
            .iter()
            .map(|entry| match &entry.line {
                AuditLine::Write(line) => format!("write {line}"),
                AuditLine::Action(line) => format!("action {line}"),
            })
            .collect()
    }

    #[test]
    fn a_patch_is_kept_whole_and_of_an_object_the_revision() {
        let user = "system:serviceaccount:kube-system:node-controller";
        let patch = json!({"metadata": {"resourceVersion": "7"}, "spec": {"taints": null}});
        let put = json!({"metadata": {"name": "w1", "resourceVersion": "8", "uid": "u"}, "status": {}});
        let made = json!({"metadata": {"resourceVersion": "9"}});
        assert_eq!(
            lines(&[
                event(user, "patch", "/api/v1/nodes/w1", 200, &[("requestObject", patch), ("responseObject", made)]),
                event(
                    user,
                    "update",
                    "/api/v1/nodes/w1/status",
                    409,
                    &[
                        ("requestObject", put),
                        ("responseStatus", json!({"code": 409, "message": "the object has been modified"})),
                    ]
                ),
                event(user, "get", "/api/v1/nodes/w1?resourceVersion=0", 200, &[]),
            ]),
            [
                concat!(
                    r#"write {"body":{"metadata":{"resourceVersion":"7"},"spec":{"taints":null}},"#,
                    r#""code":200,"end":1.504,"resourceVersion":"9","t":1.5,"#,
                    r#""uri":"/api/v1/nodes/w1","#,
                    r#""user":"system:serviceaccount:kube-system:node-controller","verb":"patch"}"#
                ),
                concat!(
                    r#"write {"body":{"_":"whole object","metadata":{"name":"w1","resourceVersion":"8"}},"#,
                    r#""code":409,"end":1.504,"message":"the object has been modified","#,
                    r#""t":1.5,"uri":"/api/v1/nodes/w1/status","#,
                    r#""user":"system:serviceaccount:kube-system:node-controller","verb":"update"}"#
                ),
                concat!(
                    r#"write {"code":200,"end":1.504,"t":1.5,"#,
                    r#""uri":"/api/v1/nodes/w1?resourceVersion=0","#,
                    r#""user":"system:serviceaccount:kube-system:node-controller","verb":"get"}"#
                ),
            ]
        );
    }

    #[test]
    fn others_than_components_act_each_as_himself() {
        let acted = ("impersonatedUser", json!({"username": "system:serviceaccount:kube-system:route-controller"}));
        let node = ("objectRef", json!({"resource": "nodes", "subresource": "status"}));
        let found = lines(&[
            event("system:node:w1", "patch", "/api/v1/nodes/w1/status", 200, std::slice::from_ref(&node)),
            event("nodeproof", "patch", "/api/v1/nodes/w1/status", 200, &[node, acted]),
            event("nodeproof", "delete", "/api/v1/nodes/w1", 200, &[("objectRef", json!({"resource": "nodes"}))]),
            event("system:apiserver", "create", "/api/v1/namespaces", 201, &[]),
            event("system:node:w1", "get", "/api/v1/nodes/w1", 200, &[]),
        ]);
        let said: Vec<(String, String)> = found
            .iter()
            .map(|line| {
                let line = Json::parse(line.strip_prefix("action ").unwrap()).unwrap();
                let word = |field: &str| line.get(field).as_str().unwrap().to_owned();
                (word("actor"), word("do"))
            })
            .collect();
        let pair = |one: &str, other: &str| (one.to_owned(), other.to_owned());
        assert_eq!(
            said,
            [pair("kubelet/w1", "patch-status"), pair("cloud", "patch-status"), pair("user", "delete-node")]
        );
    }

    #[test]
    fn what_came_before_the_start_and_what_was_torn_off_is_left_out() {
        let early = event("nodeproof", "delete", "/api/v1/nodes/w1", 200, &[]);
        let mut early = early;
        early.set(&["requestReceivedTimestamp"], "2025-12-31T23:59:59.000000Z");
        assert!(read(&format!("{early}\n{{\"stage\":\"Resp"), START.parse().unwrap()).is_empty());
    }
}
