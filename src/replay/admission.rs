//! Judges admission: the recorded creations of Nodes and Pods go through the API server of the model.
//!
//! Compared is what admission owns: `spec.taints` of a Node, `spec.tolerations` of a Pod. Inputs: the creations of
//! `actions.jsonl` that were accepted. Outputs: differences. Creations by controllers are not recorded whole and cannot
//! be judged; everything else that the server fills in is left to other proofs.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::chance::Chance;
use nodeproof_core::components::api_server::{ApiServer, ServerOutput};
use nodeproof_core::components::controllers::Context;
use nodeproof_core::network::{Answer, Ask, Call, ClientId, Identity, NODES, PODS, Request, RequestId, ToClient, Verb};
use nodeproof_core::objects::Json;
use nodeproof_core::profile::Settings;

use super::load::{ActionLine, Recording};
use super::report::Difference;
use super::writers::{self, FieldDifference, Place, Writer};

/// Judges all creations of a recording; returns how many there were and what differs.
#[must_use]
pub fn judge(recording: &Recording, settings: &Arc<Settings>) -> (usize, Vec<Difference>) {
    let mut judged = 0;
    let mut found = Vec::new();
    for action in &recording.actions {
        let Some((place, body)) = creation(action) else { continue };
        let Some(real) = stored(recording, action) else { continue };
        let Some(answer) = create(action, &place, body, settings, recording.at(action.t)) else { continue };
        judged += 1;
        let field = if place.resource == NODES { ["spec", "taints"] } else { ["spec", "tolerations"] };
        let mut differences = Vec::new();
        if answer.is_success() {
            let sim = answer.as_object().map_or_else(|| answer.body(), nodeproof_core::objects::Object::json);
            let path = field.join(".");
            writers::diff(&path, real.at(&field), sim.at(&field), SignedDuration::ZERO, &mut differences);
        } else {
            differences.push(FieldDifference { path: "create".to_owned(), real: body.clone(), sim: answer.body() });
        }
        found.extend(
            differences.into_iter().map(|field| Difference::of_field(Writer::Admission, action.t, &place, field)),
        );
    }
    (judged, found)
}

/// Returns what an accepted creation of a Node or Pod was aimed at, and its body.
fn creation(action: &ActionLine) -> Option<(Place, &Json)> {
    let request = &action.request;
    if request.get("method").as_str() != Some("POST") || action.response.get("code").as_i64() != Some(201) {
        return None;
    }
    let mut place = Place::parse(request.get("path").as_str()?)?;
    let body = request.get("body");
    let is_it = (place.resource == NODES || place.resource == PODS) && place.name.is_empty() && body.is_object();
    place.name = body.at(&["metadata", "name"]).as_text()?.clone();
    is_it.then_some((place, body))
}

/// Returns what the real server stored.
fn stored(recording: &Recording, action: &ActionLine) -> Option<Json> {
    let version: u64 = action.response.get("resourceVersion").as_str()?.parse().ok()?;
    let line = recording.watch.iter().find(|line| line.object.resource_version() == version)?;
    Some(line.object.json())
}

fn create(action: &ActionLine, place: &Place, body: &Json, settings: &Arc<Settings>, now: Timestamp) -> Option<Answer> {
    let context = Context { settings: settings.clone(), chance: Chance::new(1) };
    let mut server = ApiServer::new(context, now);
    let identity = match action.actor.strip_prefix("kubelet/") {
        Some(node) => Identity::kubelet(node),
        None => Identity::admin(),
    };
    let call = Call::new(Verb::Create, place.resource.clone(), place.namespace.clone(), "").body(body.clone());
    let request = Request { id: RequestId(1), identity, ask: Ask::Call(Box::new(call)), timeout: None, because: None };
    server.handle_request(ClientId(1), request, now);
    while let Some(output) = server.poll_output() {
        if let ServerOutput::ToClient { message: ToClient::Response { result: Ok(answer), .. }, .. } = output {
            return Some(answer);
        }
    }
    None
}
