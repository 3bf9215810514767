//! Events have two faces: `v1` and `events.k8s.io/v1` show the same objects.
//!
//! Mirrors pkg/apis/events/v1/conversion.go (v1.34). Each face has a store and a history of its own here; a write to one
//! is a write to the other under the same revision, so both watches tell of it. Whoever taps the store is told once, of
//! the face in `v1`.

use alloc::vec::Vec;

use super::resources::{self, KINDS};
use super::{ApiServer, Change, Origin, Tap};
use crate::components::scheduler::NEW_EVENTS;
use crate::network::{EVENTS, WatchType};
use crate::objects::{Json, Object, ObjectKey};

/// The fields that are named differently: in `v1`, in `events.k8s.io/v1`.
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

/// Returns the other face of a kind.
fn twin(kind: usize) -> Option<usize> {
    let resource = &KINDS[kind].resource;
    if *resource == EVENTS {
        resources::find(&NEW_EVENTS)
    } else if *resource == NEW_EVENTS {
        resources::find(&EVENTS)
    } else {
        None
    }
}

/// Tells whether a kind is the face of which the tap is not told.
fn is_untapped(kind: usize) -> bool {
    KINDS[kind].resource == NEW_EVENTS
}

/// Shows an Event as the other face does.
fn converted(tree: &Json, to: usize) -> Json {
    let to_new = KINDS[to].resource == NEW_EVENTS;
    let rename = |field: &str| {
        let (from, into): (Vec<&str>, Vec<&'static str>) =
            NAMES.iter().map(|(old, new)| if to_new { (*old, *new) } else { (*new, *old) }).unzip();
        from.iter().position(|name| *name == field).map(|at| into[at])
    };
    let mut other = Json::object();
    other.set(&["kind"], "Event");
    other.set(&["apiVersion"], KINDS[to].api_version());
    for (field, value) in tree.fields().filter(|(field, _)| !matches!(field.as_str(), "kind" | "apiVersion")) {
        match rename(field) {
            // The new form leaves an empty controller out.
            Some("reportingController") if value.as_str() == Some("") => {}
            Some(name) => other.set(&[name], value.clone()),
            None => other.set(&[field.as_str()], value.clone()),
        }
    }
    if !to_new && other.get("reportingComponent").is_null() {
        other.set(&["reportingComponent"], "");
    }
    other
}

impl ApiServer {
    /// Writes the other face of an Event that was written or, with `Deleted`, removed.
    pub(super) fn write_twin(&mut self, kind: usize, origin: &Origin, event: WatchType, object: &Object) {
        let Some(other) = twin(kind) else { return };
        let tree = converted(&object.json(), other);
        let mut tree = self.schema.decode(KINDS[other].type_name(), &tree).map_or(tree, |decoded| decoded.object);
        self.tables[other].share(&mut tree);
        for (old, new) in NAMES.iter().chain([&("metadata", "metadata")]) {
            let (own, name) = if KINDS[kind].resource == NEW_EVENTS { (new, old) } else { (old, new) };
            let part = object.stable().get(own);
            if part.is_object() && tree.get(name).is_object() {
                tree.entry(&[name]).share(part);
            }
        }
        let twin = Object::new(tree, object.resource_version());
        self.tables[other].last = twin.stable().clone();
        let key: ObjectKey = twin.key();
        let store = &mut self.tables[other].store;
        let before = match (event, store.find(&key.namespace, &key.name)) {
            (WatchType::Deleted, _) => store.remove(&key.namespace, &key.name),
            (_, Some(place)) => Some(store.replace(place, twin.clone())),
            (_, None) => {
                store.insert(key.namespace.clone(), key.name.clone(), twin.clone());
                None
            }
        };
        self.publish(other, origin, Change { namespace: &key.namespace, event, before }, twin);
    }
}

/// Tells whether the tap hears of a write.
pub(super) fn is_tapped(tap: Tap, kind: usize, event: WatchType, object: &Object) -> bool {
    let wanted = match tap {
        Tap::Everything => true,
        Tap::Changes => event != WatchType::Modified || !object.is_heartbeat(),
        Tap::Closed => false,
    };
    wanted && !is_untapped(kind)
}
