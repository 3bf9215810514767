//! Infers objects of kinds that a recording does not watch, Deployments and Services, from the requests of its script.
//!
//! Inputs: creations in `actions.jsonl`. Outputs: the objects as the server created them (defaults from the model's
//! server, uid and version from the recorded answer), and whether these are all. Invariant: a writer is judged only if
//! everything that it reads is known; later writes to such an object are the writer's own.

use std::collections::BTreeSet;
use std::sync::Arc;

use nodeproof_core::json;
use nodeproof_core::network::{Call, Identity, NAMESPACES, Resource, Verb};
use nodeproof_core::objects::{Json, Object, ObjectKey, Text};
use nodeproof_core::profile::Settings;

use super::admission::{call, creation};
use super::load::{ActionLine, Micros, Recording, WatchLine};
use super::server::Server;
use super::writers::{WriteTarget, Writer};

/// `deployments`.
pub const DEPLOYMENTS: Resource = Resource::of("apps", "v1", "deployments");
/// `services`.
pub const SERVICES: Resource = Resource::of("", "v1", "services");

/// Returns the objects of a kind that the script created, each with the earliest instant at which it can have been
/// seen: when the request was sent.
#[must_use]
pub fn made(recording: &Recording, resource: &Resource) -> Vec<(Micros, Object)> {
    let settings = Arc::new(Settings::of(recording.about.release));
    recording.actions.iter().filter_map(|action| made_by(action, recording, resource, &settings)).collect()
}

fn made_by(
    action: &ActionLine,
    recording: &Recording,
    resource: &Resource,
    settings: &Arc<Settings>,
) -> Option<(Micros, Object)> {
    let (place, _) = creation(action).filter(|(place, _)| place.resource == *resource)?;
    let mut server = Server::new(settings, recording.at(action.answered()));
    let namespace = json!({"metadata": {"name": place.namespace.as_str()}});
    server.ask(Identity::admin(), Call::new(Verb::Create, NAMESPACES, "", "").body(namespace));
    let (identity, request) = call(action)?;
    let answer = server.ask(identity, request).filter(nodeproof_core::network::Answer::is_success)?;
    let mut object = answer.as_object().map_or_else(|| answer.body(), Object::json);
    for field in ["uid", "resourceVersion"] {
        object.set(&["metadata", field], action.response.get(field).clone());
    }
    Some((action.t, Object::as_received(object)))
}

/// Tells whether a recording shows everything that a writer reads. For a kind that is not watched, the script must have
/// created every object that is named anywhere, and nobody but the writer may have changed it afterwards.
#[must_use]
pub fn is_known(recording: &Recording, writer: Writer) -> bool {
    let (resource, named) = match writer {
        Writer::DEPLOYMENT => (DEPLOYMENTS, named_deployments(recording)),
        Writer::ENDPOINT_SLICE => (SERVICES, named_services(recording)),
        // Namespaces are watched, or nothing is known about them.
        Writer::NAMESPACE => return recording.watch.iter().any(|line| line.kind == "Namespace"),
        _ => return true,
    };
    let is_its = |action: &&ActionLine| {
        let path = action.request.get("path").as_str().and_then(WriteTarget::parse);
        path.is_some_and(|place| place.resource == resource)
    };
    let is_change = |action: &ActionLine| {
        let done = action.response.get("code").as_i64().is_some_and(|code| (200..300).contains(&code));
        done && action.request.get("method").as_str() != Some("GET") && creation(action).is_none()
    };
    let made: BTreeSet<ObjectKey> = made(recording, &resource).iter().map(|(_, object)| object.key()).collect();
    named.is_subset(&made) && !recording.actions.iter().filter(is_its).any(is_change)
}

fn named_deployments(recording: &Recording) -> BTreeSet<ObjectKey> {
    let written = recording.writes.iter().filter_map(|line| WriteTarget::parse(&line.uri));
    let written = written.filter(|place| place.resource == DEPLOYMENTS && !place.name.is_empty());
    let written = written.map(|place| ObjectKey::namespaced(place.namespace, place.name));
    let owners = recording.watch.iter().filter(|line| line.kind == "ReplicaSet").flat_map(|line| {
        let owners = line.object.stable().at(&["metadata", "ownerReferences"]).items().iter();
        let deployments = owners.filter(|owner| owner.get("kind").as_str() == Some("Deployment"));
        deployments.filter_map(|owner| key_beside(line, owner.get("name")))
    });
    written.chain(owners).collect()
}

fn named_services(recording: &Recording) -> BTreeSet<ObjectKey> {
    const SERVICE_NAME: [&str; 3] = ["metadata", "labels", "kubernetes.io/service-name"];
    let slices = recording.watch.iter().filter(|line| line.kind == "EndpointSlice");
    slices.filter_map(|line| key_beside(line, line.object.stable().at(&SERVICE_NAME))).collect()
}

/// Returns the key of a name in the namespace of another object.
fn key_beside(line: &WatchLine, name: &Json) -> Option<ObjectKey> {
    let name: &Text = name.as_text()?;
    Some(ObjectKey::namespaced(line.object.key().namespace, name.clone()))
}
