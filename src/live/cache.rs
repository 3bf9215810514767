//! The objects of a cluster as its watches have shown them: one cache for the driver, for read-only runs and for
//! recordings.
//!
//! Inputs: what watches show ([`Seen`]), each kind in its own order. Outputs: the changes, each with the object before
//! and after. Invariants: an older change never replaces a newer one, in whatever order they arrive; a list replaces
//! what was known of its kind; no change is reported twice. Pure: no clock, no connection.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use nodeproof_core::network::Resource;
use nodeproof_core::objects::{Json, Object, ObjectKey};
use nodeproof_core::scenario::{ActionId, WatchedEvent};

/// Something that a watch showed.
#[derive(Debug)]
pub(super) struct Arrival {
    /// When.
    pub(super) at: Timestamp,
    /// Of which kind.
    pub(super) resource: Resource,
    /// What.
    pub(super) seen: Seen,
}

/// What a watch shows.
#[derive(Debug)]
pub(super) enum Seen {
    /// All objects of the kind at a revision: at the beginning, and when the watch had to start over.
    Listed {
        /// The objects.
        objects: Vec<Json>,
        /// The revision.
        resource_version: u64,
    },
    /// An object was created or changed.
    Set(Json),
    /// An object was deleted; this is its last state.
    Gone(Json),
    /// Everything up to a revision was shown.
    Bookmark(u64),
    /// A watch that the scenario itself has opened shows an event; this is no news of the cluster.
    Watched(ActionId, WatchedEvent),
    /// A command of kubectl that an action has started shows something; this is no news of any kind of object.
    Command(ActionId, CommandNews),
    /// The API server does not answer; the text says why. It is asked again.
    Trouble(String),
}

/// What a command shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CommandNews {
    /// A line of its output.
    Printed(String),
    /// Its exit code.
    Exited(u8),
}

impl Seen {
    /// Returns the revision up to which this is new; 0 if it says nothing about revisions.
    fn revision(&self) -> u64 {
        match self {
            Self::Set(object) | Self::Gone(object) => revision_of(object),
            Self::Listed { resource_version, .. } => *resource_version,
            Self::Bookmark(revision) => *revision,
            Self::Watched(_, shown) => revision_of(&shown.object),
            Self::Command(..) | Self::Trouble(_) => 0,
        }
    }
}

/// Arrivals that are held until earlier changes of other kinds have arrived.
#[derive(Debug, Default)]
pub(super) struct Held(Vec<Arrival>);

impl Held {
    /// Takes an arrival.
    pub(super) fn push(&mut self, arrival: Arrival) {
        self.0.push(arrival);
    }

    /// Returns when the first held arrival came.
    pub(super) fn since(&self) -> Option<Timestamp> {
        self.0.iter().map(|arrival| arrival.at).min()
    }

    /// Removes and returns the arrivals up to an instant, in the order of their revisions. A list or bookmark comes
    /// after the changes that it covers.
    pub(super) fn ripe(&mut self, until: Timestamp) -> Vec<Arrival> {
        let (mut ripe, held): (Vec<_>, Vec<_>) = self.0.drain(..).partition(|arrival| arrival.at <= until);
        self.0 = held;
        ripe.sort_by_key(|arrival| arrival.seen.revision());
        ripe
    }
}

/// A change of an object.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CacheChange {
    /// Which object.
    pub(super) key: ObjectKey,
    /// The object before; `None` if it was not there.
    pub(super) before: Option<Json>,
    /// The object now, or as it was last.
    pub(super) object: Json,
    /// Whether it is gone.
    pub(super) is_gone: bool,
    /// The revision of the change; for an object that is missing in a list, the list's.
    pub(super) revision: u64,
}

impl CacheChange {
    /// Returns the object now; `None` if it is gone.
    pub(super) fn after(&self) -> Option<&Json> {
        (!self.is_gone).then_some(&self.object)
    }
}

/// The objects of all kinds, each at its newest revision.
#[derive(Debug, Default)]
pub(super) struct WatchCache {
    objects: BTreeMap<Resource, BTreeMap<ObjectKey, Json>>,
    /// The revision up to which each kind was shown: nothing that is not newer is a change.
    shown: BTreeMap<Resource, u64>,
}

impl WatchCache {
    /// Takes what a watch shows, and returns the changes.
    pub(super) fn take(&mut self, resource: &Resource, seen: Seen) -> Vec<CacheChange> {
        let revision = seen.revision();
        let changes = match seen {
            Seen::Listed { objects, .. } => self.list(resource, objects, revision),
            Seen::Set(_) | Seen::Gone(_) if self.shown(resource).is_some_and(|shown| revision <= shown) => {
                return vec![];
            }
            Seen::Set(object) => vec![self.set(resource, object)],
            Seen::Gone(object) => {
                let removed = self.objects.entry(resource.clone()).or_default().remove_entry(&key_of(&object));
                let gone = |(key, old)| CacheChange { key, before: Some(old), object, is_gone: true, revision };
                removed.map(gone).into_iter().collect()
            }
            Seen::Bookmark(_) => vec![],
            Seen::Trouble(_) | Seen::Watched(..) | Seen::Command(..) => return vec![],
        };
        let shown = self.shown.entry(resource.clone()).or_default();
        *shown = revision.max(*shown);
        changes
    }

    /// Returns an object.
    pub(super) fn get(&self, resource: &Resource, key: &ObjectKey) -> Option<&Json> {
        self.objects.get(resource)?.get(key)
    }

    /// Returns the revision up to which a kind was shown; `None` before its first list.
    pub(super) fn shown(&self, resource: &Resource) -> Option<u64> {
        self.shown.get(resource).copied()
    }

    /// Returns all objects.
    pub(super) fn objects(&self) -> impl Iterator<Item = (&Resource, &ObjectKey, &Json)> {
        self.objects.iter().flat_map(|(resource, of)| of.iter().map(move |(key, object)| (resource, key, object)))
    }

    /// Replaces the objects of a kind by a list, except those that are newer than the list.
    fn list(&mut self, resource: &Resource, objects: Vec<Json>, revision: u64) -> Vec<CacheChange> {
        let known = self.objects.entry(resource.clone()).or_default();
        let listed: BTreeSet<ObjectKey> = objects.iter().map(key_of).collect();
        let is_lost = |key: &ObjectKey, old: &mut Json| !listed.contains(key) && revision_of(old) <= revision;
        let lost = known.extract_if(.., is_lost);
        let gone = |(key, old): (ObjectKey, Json)| CacheChange {
            key,
            before: Some(old.clone()),
            object: old,
            is_gone: true,
            revision,
        };
        let mut changes: Vec<CacheChange> = lost.map(gone).collect();
        for object in objects {
            let known = self.get(resource, &key_of(&object));
            if known.is_none_or(|known| revision_of(known) < revision_of(&object)) {
                changes.push(self.set(resource, object));
            }
        }
        changes
    }

    fn set(&mut self, resource: &Resource, object: Json) -> CacheChange {
        let (key, revision) = (key_of(&object), revision_of(&object));
        let before = self.objects.entry(resource.clone()).or_default().insert(key.clone(), object.clone());
        CacheChange { key, before, object, is_gone: false, revision }
    }
}

/// Returns the revision of an object or a list.
pub(super) fn revision_of(object: &Json) -> u64 {
    object.at(&["metadata", "resourceVersion"]).as_str().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Returns the key of an object.
pub(super) fn key_of(object: &Json) -> ObjectKey {
    Object::as_received(object.clone()).key()
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use nodeproof_core::json;
    use nodeproof_core::network::{LEASES, NODES};

    use super::*;

    fn node(name: &str, revision: u64) -> Json {
        json!({"metadata": {"name": name, "resourceVersion": revision.to_string()}})
    }

    fn listed(objects: Vec<Json>, resource_version: u64) -> Seen {
        Seen::Listed { objects, resource_version }
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_millis(millis)
    }

    /// Hands over arrivals of Nodes that were all held together, and returns each change as `NAME@REVISION`, with a `-`
    /// if the Node is gone.
    fn check(arrivals: Vec<Seen>, wanted: &[&str]) -> WatchCache {
        let (mut held, mut cache) = (Held::default(), WatchCache::default());
        for (millis, seen) in (0..).zip(arrivals) {
            held.push(Arrival { at: at(millis), resource: NODES, seen });
        }
        let mut shown = Vec::new();
        for arrival in held.ripe(at(1000)) {
            for change in cache.take(&arrival.resource, arrival.seen) {
                let sign = if change.is_gone { "-" } else { "" };
                shown.push(format!("{sign}{}@{}", change.key.name, change.revision));
            }
        }
        assert_eq!(shown, wanted);
        cache
    }

    #[test]
    fn a_change_that_was_held_over_a_new_list_does_not_bring_the_object_back() {
        let seen = vec![listed(vec![node("a", 3)], 4), Seen::Set(node("a", 5)), listed(vec![node("a", 9)], 9)];
        let cache = check(seen, &["a@3", "a@5", "a@9"]);
        assert_eq!(cache.get(&NODES, &ObjectKey::cluster("a")), Some(&node("a", 9)));
    }

    #[test]
    fn an_older_change_never_replaces_a_newer_one() {
        let mut cache = check(vec![listed(vec![node("a", 3), node("b", 4)], 9)], &["a@3", "b@4"]);
        for old in [Seen::Set(node("a", 3)), Seen::Set(node("a", 7)), Seen::Gone(node("a", 8)), Seen::Set(node("c", 9))]
        {
            let told = format!("{old:?}");
            assert_eq!(cache.take(&NODES, old), [], "{told}");
        }
        assert_eq!(cache.take(&NODES, Seen::Set(node("a", 10))).len(), 1);
        // A list from a server that lags behind.
        assert_eq!(cache.take(&NODES, listed(vec![node("a", 3)], 6)).len(), 1, "b is gone, and a stays");
        assert_eq!(cache.get(&NODES, &ObjectKey::cluster("a")), Some(&node("a", 10)));
        assert_eq!(cache.shown(&NODES), Some(10));
    }

    #[test]
    fn a_new_list_tells_what_changed_and_what_is_gone() {
        let seen = vec![listed(vec![node("a", 1), node("b", 2)], 5), listed(vec![node("a", 1), node("c", 8)], 9)];
        check(seen, &["a@1", "b@2", "-b@9", "c@8"]);
    }

    #[test]
    fn a_deletion_and_a_new_object_of_the_same_name_are_two_changes() {
        let seen = vec![listed(vec![node("a", 1)], 1), Seen::Gone(node("a", 2)), Seen::Set(node("a", 3))];
        check(seen, &["a@1", "-a@2", "a@3"]);
    }

    #[test]
    fn a_bookmark_covers_only_what_was_shown_before_it() {
        let seen = vec![listed(vec![], 1), Seen::Set(node("a", 4)), Seen::Bookmark(6), Seen::Set(node("a", 7))];
        assert_eq!(check(seen, &["a@4", "a@7"]).shown(&NODES), Some(7));
    }

    #[test]
    fn kinds_are_put_in_order_and_what_came_late_waits() {
        let mut held = Held::default();
        for (millis, resource, revision) in [(0, LEASES, 9), (1, NODES, 8), (5, LEASES, 10)] {
            held.push(Arrival { at: at(millis), resource, seen: Seen::Set(node("a", revision)) });
        }
        let ripe: Vec<u64> = held.ripe(at(1)).iter().map(|arrival| arrival.seen.revision()).collect();
        assert_eq!((ripe, held.since()), (vec![8, 9], Some(at(5))));
    }
}
