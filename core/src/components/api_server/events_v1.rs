//! Events have two API versions: `v1` and `events.k8s.io/v1` show the same objects.
//!
//! Mirrors pkg/apis/events/v1/conversion.go (v1.34). Each API version has a store and a history of its own here; a
//! write to one is a write to the other under the same revision, so watches of both see it. The tap is told once, of
//! the object in `v1`. The store of `events.k8s.io/v1` is kept from the first request for it on; what was written
//! before is converted from the store and the history of `v1` then.
//! Inputs: writes to either API version. Outputs: the same write to the other. Invariant (tested): clients cannot see
//! since when the store is kept.

use alloc::vec::Vec;

use super::{ApiServer, Origin, Tap, WriteEffect};
use crate::network::kinds::{self, Kind, KindIndex};
use crate::network::{EVENTS, NEW_EVENTS, WatchType};
use crate::objects::{Json, Object, ObjectKey, Text};

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

/// The objects within an Event that have the same type in both API versions, by their names in either.
const ALIKE: [&str; 6] = ["metadata", "involvedObject", "regarding", "source", "deprecatedSource", "related"];

/// Returns the other API version of a kind.
fn counterpart(index: KindIndex) -> Option<KindIndex> {
    match index.kind_of_table().map(|kind| &kind.resource) {
        Some(resource) if *resource == EVENTS => kinds::find(&NEW_EVENTS),
        Some(resource) if *resource == NEW_EVENTS => kinds::find(&EVENTS),
        _ => None,
    }
}

/// Tells whether a kind is the API version of which the tap is not told.
fn is_untapped(index: KindIndex) -> bool {
    index.kind_of_table().is_some_and(|kind| kind.resource == NEW_EVENTS)
}

/// Returns the name of a field in the other API version.
fn renamed(field: &Text, to_new: bool) -> Text {
    let pair = NAMES.iter().find(|(old, new)| if to_new { *field == **old } else { *field == **new });
    pair.map_or_else(|| field.clone(), |(old, new)| Text::of(if to_new { new } else { old }))
}

/// Converts an Event to the other API version by renaming its fields. Returns with it the parts that need not be
/// decoded again, since both API versions have the same types for them.
fn converted(tree: &Json, to: &Kind) -> (Json, Json) {
    let to_new = to.resource == NEW_EVENTS;
    let own = tree.fields().filter(|(field, _)| !matches!(field.as_str(), "kind" | "apiVersion"));
    let own = own.map(|(field, value)| (renamed(field, to_new), value.clone()));
    // The new form leaves an empty controller out, and an empty instance.
    let is_reporter = |name: &Text| *name == "reportingController" || to_new && *name == "reportingInstance";
    let is_left_out = |name: &Text, value: &Json| is_reporter(name) && value.as_str() == Some("");
    let mut own: Vec<(Text, Json)> = own.filter(|(name, value)| !is_left_out(name, value)).collect();
    if !to_new && tree.get("reportingController").is_null() {
        own.push((Text::of("reportingComponent"), Json::from("")));
    }
    let is_known = |name: &Text| ALIKE.contains(&name.as_str());
    let known: Json = own.iter().filter(|(name, value)| is_known(name) && value.is_object()).cloned().collect();
    let kind = [("kind", Json::from("Event")), ("apiVersion", Json::from(to.resource.api_version()))];
    let kind = kind.into_iter().map(|(name, value)| (Text::of(name), value));
    (own.into_iter().chain(kind).collect(), known)
}

impl ApiServer {
    /// Keeps a store of `events.k8s.io/v1` from now on.
    pub(super) fn keep_new_events(&mut self) {
        let (Some(own), false) = (kinds::find(&EVENTS), self.keeps_new_events) else { return };
        let Some(other) = counterpart(own) else { return };
        self.keeps_new_events = true;
        let events_v1: Vec<Object> =
            self.tables[own].store.iter("").map(|object| self.counterpart_of(object, other)).collect();
        let history = self.tables[own].history.shown_as(|object| self.counterpart_of(object, other));
        let table = &mut self.tables[other];
        table.history = history;
        for counterpart in events_v1 {
            let key = counterpart.key();
            table.store.insert(key.namespace, key.name, counterpart);
        }
    }

    /// Returns the kind in whose store a kind's objects stand, if that is not its own.
    pub(super) fn stand_in(&self, index: KindIndex) -> Option<KindIndex> {
        if is_untapped(index) && !self.keeps_new_events { counterpart(index) } else { None }
    }

    /// Shows an Event as the other API version, of the given kind, does.
    pub(super) fn counterpart_of(&self, object: &Object, other: KindIndex) -> Object {
        let other = self.kinds.at(other);
        let (tree, known) = converted(&object.json(), other);
        let decoded = self.schema.decode_change(other.type_name(), &tree, &known);
        Object::new(decoded.map_or(tree, |decoded| decoded.object), object.resource_version())
    }

    /// Writes the other API version of an Event that was written or, with `Deleted`, removed.
    pub(super) fn write_counterpart(&mut self, index: KindIndex, origin: &Origin, event: WatchType, object: &Object) {
        let Some(other) = counterpart(index).filter(|_| self.keeps_new_events) else { return };
        let counterpart = self.counterpart_of(object, other);
        self.tables[other].last = counterpart.stable().clone();
        let key: ObjectKey = counterpart.key();
        let store = &mut self.tables[other].store;
        let before = match (event, store.find(&key.namespace, &key.name)) {
            (WatchType::Deleted, _) => store.remove(&key.namespace, &key.name),
            (_, Some(place)) => Some(store.replace(place, counterpart.clone())),
            (_, None) => {
                store.insert(key.namespace.clone(), key.name.clone(), counterpart.clone());
                None
            }
        };
        self.publish(other, origin, WriteEffect { namespace: &key.namespace, event, before }, counterpart);
    }
}

/// Tells whether the tap is told of a write.
pub(super) fn is_tapped(tap: Tap, index: KindIndex, event: WatchType, object: &Object) -> bool {
    let wanted = match tap {
        Tap::Everything => true,
        Tap::AllButRenewals => event != WatchType::Modified || !object.is_renewal(),
        Tap::Changes => event != WatchType::Modified || !object.is_heartbeat(),
        Tap::Closed => false,
    };
    wanted && !is_untapped(index)
}
