//! Infers objects of kinds that a recording does not watch, as Deployments, Services and volumes, from its requests.
//!
//! Inputs: creations in `actions.jsonl`, and the binder's writes to volumes. Outputs: the objects as the server created
//! them (defaults from the model's server, uid and version from the recorded answer), and whether these are all; for
//! volumes also what the binder made of them, as the watched claims tell. Invariant: a writer is judged only if
//! everything that it reads is known; later writes to such an object are the writer's own.

use std::collections::BTreeSet;
use std::sync::Arc;

use nodeproof_core::components::volumes::{BOUND_BY_CONTROLLER, CLASSES, DRIVERS, VOLUMES};
use nodeproof_core::json;
use nodeproof_core::network::{Call, Identity, NAMESPACES, Resource, Verb, WatchType};
use nodeproof_core::objects::{Json, Object, ObjectKey, Text};
use nodeproof_core::profile::Settings;

use super::admission::{call, creation};
use super::load::{ActionLine, Micros, Recording, WatchLine, WriteLine};
use super::server::Server;
use super::writers::{WriteTarget, Writer};

/// `deployments`.
pub const DEPLOYMENTS: Resource = Resource::of("apps", "v1", "deployments");
/// The kinds of which only creations are inferred, beside volumes.
pub const CREATED: [Resource; 4] = [DEPLOYMENTS, SERVICES, CLASSES, DRIVERS];
/// `services`.
pub const SERVICES: Resource = Resource::of("", "v1", "services");

/// Returns the objects of a kind that the script created, each with the earliest instant at which it can have been
/// seen: when the request was sent.
#[must_use]
pub fn made(recording: &Recording, resource: &Resource) -> Vec<(Micros, Object)> {
    let settings = Arc::new(Settings::of(recording.about.release));
    recording.actions.iter().filter_map(|action| made_by(action, recording, resource, &settings)).collect()
}

/// A revision of a volume that no watch shows.
#[derive(Clone, Debug)]
pub struct InferredVolume {
    /// When it can have been seen first.
    pub t: Micros,
    /// The volume.
    pub object: Object,
    /// When the write of the binder that made it was received; `None` for a creation.
    pub written: Option<Micros>,
}

/// Returns the revisions of the volumes that the script created: the binder's writes, whose bodies are not recorded,
/// are told from the claims.
#[must_use]
pub fn volumes(recording: &Recording) -> Vec<InferredVolume> {
    let created = made(recording, &VOLUMES);
    let mut found: Vec<InferredVolume> =
        created.into_iter().map(|(t, object)| InferredVolume { t, object, written: None }).collect();
    let mut lines: Vec<(&WriteLine, WriteTarget)> = recording
        .writes
        .iter()
        .filter(|line| line.user.ends_with(Writer::BINDER.user()) && line.verb == "update" && line.code < 300)
        .filter_map(|line| Some((line, WriteTarget::parse(&line.uri)?)))
        .filter(|(_, place)| place.resource == VOLUMES)
        .collect();
    lines.sort_by_key(|(line, _)| line.t);
    for (at, (line, place)) in lines.iter().enumerate() {
        let Some(before) = found.iter().rfind(|own| *own.object.name() == *place.name).map(|own| own.object.json())
        else {
            continue;
        };
        let later = lines[at + 1..].iter().find(|(_, other)| other.name == place.name);
        let told = later.and_then(|(next, _)| next.body.at(&["metadata", "resourceVersion"]).as_str());
        let version = told.and_then(|text| text.parse().ok()).unwrap_or(line.resource_version);
        let mut object = changed(recording, line, place, before);
        object.set(&["metadata", "resourceVersion"], version.to_string());
        let committed = line.t + (line.end - line.t) / 2;
        found.push(InferredVolume { t: committed, object: Object::as_received(object), written: Some(line.t) });
    }
    found.sort_by_key(|own| own.t);
    found
}

/// Returns a volume after a write of the binder.
fn changed(recording: &Recording, line: &WriteLine, place: &WriteTarget, mut volume: Json) -> Json {
    let claims = || recording.watch.iter().filter(|own| own.kind == "PersistentVolumeClaim");
    let reference = volume.at(&["spec", "claimRef"]).clone();
    let uid = reference.get("uid").as_str().unwrap_or_default().to_owned();
    if *place.subresource == *"status" {
        let is_there = claims()
            .rfind(|own| own.t <= line.end && own.object.uid() == uid)
            .is_some_and(|own| own.event != WatchType::Deleted);
        let phase = match (uid.is_empty(), is_there) {
            (true, _) => "Available",
            (false, true) => "Bound",
            (false, false) => "Released",
        };
        volume.set(&["status", "phase"], phase);
        return volume;
    }
    if !uid.is_empty() {
        volume.remove(&["spec", "claimRef", "uid"]);
        if volume.remove(&["metadata", "annotations", BOUND_BY_CONTROLLER]).is_some() {
            volume.remove(&["spec", "claimRef"]);
        }
        return volume;
    }
    let names = |own: &&WatchLine| {
        let key = own.object.key();
        reference.get("name").as_str() == Some(&*key.name)
            && reference.get("namespace").as_str() == Some(&*key.namespace)
    };
    let takes = |own: &&WatchLine| {
        own.t >= line.t && own.object.stable().at(&["spec", "volumeName"]).as_text() == Some(&place.name)
    };
    let claim =
        if reference.is_null() { claims().find(takes) } else { claims().rfind(|own| names(own) && own.t <= line.end) };
    let Some(claim) = claim.or_else(|| claims().find(names)) else { return volume };
    let key = claim.object.key();
    let named = json!({"kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": &*key.namespace,
        "name": &*key.name, "uid": claim.object.uid(), "resourceVersion": claim.object.resource_version().to_string()});
    volume.set(&["spec", "claimRef"], named);
    if reference.is_null() {
        volume.set(&["metadata", "annotations", BOUND_BY_CONTROLLER], "yes");
    }
    volume
}

/// Returns the volumes that a recording names.
fn named_volumes(recording: &Recording) -> BTreeSet<ObjectKey> {
    let written = recording.writes.iter().filter_map(|line| WriteTarget::parse(&line.uri));
    let written = written.filter(|place| place.resource == VOLUMES && !place.name.is_empty()).map(|place| place.name);
    let claims = recording.watch.iter().filter(|line| line.kind == "PersistentVolumeClaim");
    let claimed = claims.filter_map(|line| line.object.stable().at(&["spec", "volumeName"]).as_text().cloned());
    written.chain(claimed.filter(|name| !name.is_empty())).map(ObjectKey::cluster).collect()
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
        Writer::BINDER | Writer::ATTACH_DETACH => {
            if recording.watch.iter().any(|line| line.kind == "PersistentVolume") {
                return true;
            }
            (VOLUMES, named_volumes(recording))
        }
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
