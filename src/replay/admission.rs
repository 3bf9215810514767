//! Judges admission: the recorded creations of Nodes and Pods are sent to the model's API server. If the real server
//! refused requests for lack of rights, all requests of that recording are sent too.
//!
//! Inputs: the creations of `actions.jsonl` that were accepted. Each is sent to a server that has the namespaces and
//! priority classes created before, and the pod's Node. Outputs: the number of judged requests and the differences. The
//! whole object is compared as the server created it (admission, defaults, first status), without what no model can
//! know (uid, version). Left out on purpose: creations by controllers, which are not recorded whole.

use std::sync::Arc;

use jiff::SignedDuration;
use nodeproof_core::json;
use nodeproof_core::network::{Body, Call, Identity, NODES, PODS, Verb};
use nodeproof_core::objects::Json;
use nodeproof_core::profile::Settings;

use super::load::{ActionLine, Micros, Recording, WatchLine};
use super::report::WriteDifference;
use super::server::Server;
use super::writers::{self, FieldDifference, WriteTarget, Writer};

/// The server may create an object in another second than that in which the request was sent.
const CREATED_WITHIN: SignedDuration = SignedDuration::from_secs(1);

/// Judges all creations of a recording; returns their number and the differences.
#[must_use]
pub fn judge(recording: &Recording, settings: &Arc<Settings>) -> (usize, Vec<WriteDifference>) {
    let (mut judged, mut found) = refusals(recording, settings);
    let mut before = Vec::new();
    for action in &recording.actions {
        let Some((place, body)) = creation(action) else { continue };
        if PREREQUISITES.contains(&&*place.resource.plural) {
            before.push(action);
        }
        if place.resource != NODES && place.resource != PODS {
            continue;
        }
        let Some(real) = stored(recording, action) else { continue };
        let mut server = Server::new(settings, recording.at(action.t));
        for (identity, call) in before.iter().copied().filter_map(call) {
            server.ask(identity, call);
        }
        // A mirror Pod names its Node by uid, and both sides have made a uid of their own.
        let node = node_of(recording, action.t, body);
        let uids = node.and_then(|(uid, call)| {
            let created = server.ask(Identity::admin(), call)?;
            Some((uid, created.as_object()?.uid().to_owned()))
        });
        let Some((identity, mut request)) = call(action) else { continue };
        if let (Some((real, sim)), Body::Json(body)) = (&uids, &mut request.body) {
            *body = renamed(body, real, sim);
        }
        let Some(answer) = server.ask(identity, request) else { continue };
        judged += 1;
        let mut differences = Vec::new();
        if answer.is_success() {
            let sim = answer.as_object().map_or_else(|| answer.body(), nodeproof_core::objects::Object::json);
            let sim = uids.iter().fold(sim, |sim, (real, own)| renamed(&sim, own, real));
            writers::diff("", &comparable(real), &comparable(sim), CREATED_WITHIN, &mut differences);
        } else {
            differences.push(FieldDifference { path: "create".to_owned(), real: body.clone(), sim: answer.body() });
        }
        found.extend(
            differences.into_iter().map(|field| WriteDifference::of_field(Writer::ADMISSION, action.t, &place, field)),
        );
    }
    (judged, found)
}

fn is_refusal(action: &ActionLine) -> bool {
    matches!(action.response.get("code").as_i64(), Some(401 | 403))
}

/// Judges code and message of refused requests, each on the state after all requests before it. The scheduler's
/// bindings are taken from the recording.
fn refusals(recording: &Recording, settings: &Arc<Settings>) -> (usize, Vec<WriteDifference>) {
    let (mut judged, mut found) = (0, Vec::new());
    if !recording.actions.iter().any(is_refusal) {
        return (judged, found);
    }
    let mut server = Server::new(settings, recording.at(0));
    let mut uids: Vec<(String, String)> = Vec::new();
    let mut bindings = recording.writes.iter().filter(|write| write.uri.ends_with("/binding")).peekable();
    for action in &recording.actions {
        while let Some(write) = bindings.next_if(|write| write.t <= action.t) {
            let mut body = write.body.clone();
            body.remove(&["metadata", "uid"]);
            if let Ok(call) = Call::from_http("POST", &write.uri, &[], &body.to_string()) {
                server.ask(Identity::admin(), call);
            }
        }
        let text = |field: &str| action.request.get(field).as_str().unwrap_or_default();
        let body = uids.iter().fold(action.request.get("body").clone(), |body, (real, own)| renamed(&body, real, own));
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let headers = [("content-type", text("contentType"))];
        let Ok(call) = Call::from_http(text("method"), text("path"), &headers, &body) else { continue };
        let Some(answer) = server.ask(sender(action), call) else { continue };
        if let (Some(real), Some(object)) = (action.response.get("uid").as_str(), answer.as_object()) {
            uids.push((real.to_owned(), object.uid().to_owned()));
        }
        let Some(place) = WriteTarget::parse(text("path")).filter(|_| is_refusal(action)) else { continue };
        judged += 1;
        let real = json!({"code": action.response.get("code"), "message": action.response.get("message")});
        let sim = json!({"code": answer.code, "message": answer.body().get("message")});
        let sim = uids.iter().fold(sim, |sim, (real, own)| renamed(&sim, own, real));
        if real != sim {
            let field = FieldDifference { path: "refusal".to_owned(), real, sim };
            found.push(WriteDifference::of_field(Writer::ADMISSION, action.t, &place, field));
        }
    }
    (judged, found)
}

fn sender(action: &ActionLine) -> Arc<Identity> {
    action.actor.strip_prefix("kubelet/").map_or_else(Identity::admin, Identity::kubelet)
}

/// Kinds that must be there before a Pod may be created.
const PREREQUISITES: [&str; 2] = ["namespaces", "priorityclasses"];

/// Removes fields that only the server itself can know.
fn comparable(mut object: Json) -> Json {
    for path in [
        &["kind"][..],
        &["apiVersion"],
        &["metadata", "uid"],
        &["metadata", "resourceVersion"],
        &["metadata", "managedFields"],
    ] {
        object.remove(path);
    }
    object
}

/// Returns the target and the body of an accepted creation.
pub(super) fn creation(action: &ActionLine) -> Option<(WriteTarget, &Json)> {
    let request = &action.request;
    if request.get("method").as_str() != Some("POST") || action.response.get("code").as_i64() != Some(201) {
        return None;
    }
    let mut place = WriteTarget::parse(request.get("path").as_str()?)?;
    let body = request.get("body");
    let is_it = place.name.is_empty() && body.is_object();
    place.name = body.at(&["metadata", "name"]).as_text()?.clone();
    is_it.then_some((place, body))
}

/// Returns the object that the real server stored.
fn stored(recording: &Recording, action: &ActionLine) -> Option<Json> {
    let version: u64 = action.response.get("resourceVersion").as_str()?.parse().ok()?;
    let line = recording.watch.iter().find(|line| line.object.resource_version() == version)?;
    Some(line.object.json())
}

/// Returns a creation as a request to the model's server, with its sender.
pub(super) fn call(action: &ActionLine) -> Option<(Arc<Identity>, Call)> {
    let (place, body) = creation(action)?;
    Some((sender(action), Call::new(Verb::Create, place.resource, place.namespace, "").body(body.clone())))
}

/// Returns the creation of a new Pod's Node, in its version at that time, with its uid.
fn node_of(recording: &Recording, t: Micros, pod: &Json) -> Option<(String, Call)> {
    let name = pod.at(&["spec", "nodeName"]).as_str()?;
    let is_its = |line: &&WatchLine| line.kind == "Node" && line.object.name() == name && line.t <= t;
    let found = &recording.watch.iter().rfind(is_its)?.object;
    let mut node = found.json();
    for field in ["uid", "resourceVersion", "creationTimestamp"] {
        node.remove(&["metadata", field]);
    }
    Some((found.uid().to_owned(), Call::new(Verb::Create, NODES, "", "").body(node)))
}

/// Replaces one id by another.
fn renamed(json: &Json, from: &str, to: &str) -> Json {
    Json::parse(&json.to_string().replace(from, to)).unwrap_or_else(|_| json.clone())
}
