//! Judges admission: the recorded creations of Nodes and Pods go through the API server of the model.
//!
//! Compared is the whole object as the server made it: admission, defaults, first status; without what no model can know
//! (uid, version). Inputs: the creations of `actions.jsonl` that were accepted, each on a server that holds the
//! namespaces and priority classes made before, and the pod's Node. Outputs: differences. Creations by controllers are not recorded whole
//! and cannot be judged.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::chance::Chance;
use nodeproof_core::components::api_server::{ApiServer, ServerOutput};
use nodeproof_core::components::controllers::Context;
use nodeproof_core::network::{Answer, Ask, Call, ClientId, Identity, NODES, PODS, Request, RequestId, ToClient, Verb};
use nodeproof_core::objects::Json;
use nodeproof_core::profile::Settings;

use super::load::{ActionLine, Micros, Recording, WatchLine};
use super::report::Difference;
use super::writers::{self, FieldDifference, Place, Writer};

/// A new object may have got its time in another second than that in which it was sent.
const CREATED_WITHIN: SignedDuration = SignedDuration::from_secs(1);

/// Judges all creations of a recording; returns how many there were and what differs.
#[must_use]
pub fn judge(recording: &Recording, settings: &Arc<Settings>) -> (usize, Vec<Difference>) {
    let mut judged = 0;
    let mut found = Vec::new();
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
        let mut calls: Vec<(Arc<Identity>, Call)> = before.iter().copied().filter_map(call).collect();
        calls.extend(node_of(recording, action.t, body));
        calls.extend(call(action));
        let Some(answer) = create(calls, settings, recording.at(action.t)) else { continue };
        judged += 1;
        let mut differences = Vec::new();
        if answer.is_success() {
            let sim = answer.as_object().map_or_else(|| answer.body(), nodeproof_core::objects::Object::json);
            writers::diff("", &comparable(real), &comparable(sim), CREATED_WITHIN, &mut differences);
        } else {
            differences.push(FieldDifference { path: "create".to_owned(), real: body.clone(), sim: answer.body() });
        }
        found.extend(
            differences.into_iter().map(|field| Difference::of_field(Writer::Admission, action.t, &place, field)),
        );
    }
    (judged, found)
}

/// Kinds that must be there before a Pod may be created.
const PREREQUISITES: [&str; 2] = ["namespaces", "priorityclasses"];

/// Takes away what only the server itself can know.
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

/// Returns what an accepted creation was aimed at, and its body.
fn creation(action: &ActionLine) -> Option<(Place, &Json)> {
    let request = &action.request;
    if request.get("method").as_str() != Some("POST") || action.response.get("code").as_i64() != Some(201) {
        return None;
    }
    let mut place = Place::parse(request.get("path").as_str()?)?;
    let body = request.get("body");
    let is_it = place.name.is_empty() && body.is_object();
    place.name = body.at(&["metadata", "name"]).as_text()?.clone();
    is_it.then_some((place, body))
}

/// Returns what the real server stored.
fn stored(recording: &Recording, action: &ActionLine) -> Option<Json> {
    let version: u64 = action.response.get("resourceVersion").as_str()?.parse().ok()?;
    let line = recording.watch.iter().find(|line| line.object.resource_version() == version)?;
    Some(line.object.json())
}

/// Returns a creation as the model's server receives it.
fn call(action: &ActionLine) -> Option<(Arc<Identity>, Call)> {
    let (place, body) = creation(action)?;
    let identity = match action.actor.strip_prefix("kubelet/") {
        Some(node) => Identity::kubelet(node),
        None => Identity::admin(),
    };
    Some((identity, Call::new(Verb::Create, place.resource, place.namespace, "").body(body.clone())))
}

/// Returns the creation of the Node on which a new Pod is, as the Node was then.
fn node_of(recording: &Recording, t: Micros, pod: &Json) -> Option<(Arc<Identity>, Call)> {
    let name = pod.at(&["spec", "nodeName"]).as_str()?;
    let is_its = |line: &&WatchLine| line.kind == "Node" && line.object.name() == name && line.t <= t;
    let mut node = recording.watch.iter().rfind(is_its)?.object.json();
    for field in ["uid", "resourceVersion", "creationTimestamp"] {
        node.remove(&["metadata", field]);
    }
    Some((Identity::admin(), Call::new(Verb::Create, NODES, "", "").body(node)))
}

/// Makes calls on a new server; returns the last answer.
fn create(calls: Vec<(Arc<Identity>, Call)>, settings: &Arc<Settings>, now: Timestamp) -> Option<Answer> {
    let context = Context { settings: settings.clone(), chance: Chance::new(1) };
    let mut server = ApiServer::new(context, now);
    let mut answer = None;
    for (number, (identity, call)) in (1..).zip(calls) {
        let ask = Ask::Call(Box::new(call));
        let request = Request { id: RequestId(number), identity, ask, timeout: None, because: None };
        server.handle_request(ClientId(1), request, now);
        while let Some(output) = server.poll_output() {
            if let ServerOutput::ToClient { message: ToClient::Response { result: Ok(said), .. }, .. } = output {
                answer = Some(said);
            }
        }
    }
    answer
}
