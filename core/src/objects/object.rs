//! One revision of one stored object, shared between the store, its watch history and every cache.
//!
//! Two kinds of writes are nearly all traffic of a quiet cluster and change only times: the renewal of a Lease and the
//! status heartbeat of a Node. A revision made by one of them holds the tree before it and the new time; the JSON is
//! built only when it is read; where an object names the managers of its fields, the time of the kubelet's entry is the
//! server's at the heartbeat. Invariant (tested): the built tree equals the one that a full write stores. The same
//! holds for bookmarks, which differ by their revision alone.

use alloc::format;
use core::fmt;

use jiff::Timestamp;

use super::{Json, Text, ownership, time};

/// Namespace and name of an object within its resource; the namespace of a cluster-scoped object is empty.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Default)]
pub struct ObjectKey {
    /// The namespace; empty for cluster-scoped kinds.
    pub namespace: Text,
    /// The name.
    pub name: Text,
}

impl ObjectKey {
    /// Makes the key of a cluster-scoped object.
    pub fn cluster(name: impl Into<Text>) -> Self {
        Self { namespace: Text::of(""), name: name.into() }
    }

    /// Makes the key of a namespaced object.
    pub fn namespaced(namespace: impl Into<Text>, name: impl Into<Text>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() { f.write_str(&self.name) } else { write!(f, "{}/{}", self.namespace, self.name) }
    }
}

/// One revision of one object. Cloning costs a reference count.
///
/// It is a value of a few machine words, so that a holder can apply a heartbeat in place, without an allocation.
#[derive(Clone)]
pub struct Object {
    base: Json,
    stamp: HeartbeatStamp,
}

/// What distinguishes a revision from others with the same stable tree: its number, and the time of a heartbeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeartbeatStamp {
    resource_version: u64,
    /// The time of the change in microseconds since the epoch; 0 without one.
    micros: i64,
    /// See [`Object::place`].
    place: u32,
    /// How many whole seconds later than the heartbeat's own the server's clock was.
    lag: i16,
    change: TypedChange,
}

/// The place of an object that has none.
const NOT_STORED: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TypedChange {
    None,
    /// `spec.renewTime` of a Lease.
    Renewal,
    /// `lastHeartbeatTime` of the conditions that the kubelet owns.
    Heartbeat,
    /// Nothing but `metadata.resourceVersion`.
    Revision,
}

impl HeartbeatStamp {
    const fn of(change: TypedChange, resource_version: u64) -> Self {
        Self { resource_version, micros: 0, place: NOT_STORED, lag: 0, change }
    }

    /// Makes the stamp of a renewal, its time in microseconds since the epoch, that the server took at an instant.
    #[must_use]
    pub(crate) fn renewal(resource_version: u64, micros: i64, place: u32, taken: Timestamp) -> Self {
        let lag = seconds_between(micros, taken).unwrap_or_default();
        Self { resource_version, micros, place, lag, change: TypedChange::Renewal }
    }

    /// Tells whether a stamp can hold how far the clock that wrote a time is from the server's.
    #[must_use]
    pub(crate) fn holds(written: Timestamp, taken: Timestamp) -> bool {
        seconds_between(time::whole_micros(written).as_microsecond(), taken).is_some()
    }

    /// Returns the time of a renewal in microseconds since the epoch; `None` if this is none.
    #[must_use]
    pub(crate) fn renewed_micros(self) -> Option<i64> {
        (self.change == TypedChange::Renewal).then_some(self.micros)
    }

    /// Returns the revision in the store's count.
    #[must_use]
    pub const fn resource_version(self) -> u64 {
        self.resource_version
    }

    /// Returns where the store keeps the object: see [`Object::place`].
    #[must_use]
    pub fn place(self) -> Option<u32> {
        (self.place != NOT_STORED).then_some(self.place)
    }

    /// Returns the time of the last heartbeat, if there was one.
    #[must_use]
    pub fn time(self) -> Option<Timestamp> {
        matches!(self.change, TypedChange::Renewal | TypedChange::Heartbeat).then(|| self.at())
    }

    fn at(self) -> Timestamp {
        Timestamp::from_microsecond(self.micros).expect("it was taken from an instant")
    }

    /// Returns the server's time at the heartbeat in whole seconds.
    fn taken(self) -> Timestamp {
        let seconds = self.micros.div_euclid(MICROS) + i64::from(self.lag);
        Timestamp::from_second(seconds).unwrap_or_else(|_| self.at())
    }
}

const MICROS: i64 = 1_000_000;

fn seconds_between(micros: i64, taken: Timestamp) -> Option<i16> {
    i16::try_from(taken.as_microsecond().div_euclid(MICROS) - micros.div_euclid(MICROS)).ok()
}

/// The conditions whose heartbeat a kubelet writes.
///
/// Source: pkg/kubelet/kubelet_node_status.go (v1.34), `defaultNodeStatusFuncs`.
pub const KUBELET_CONDITIONS: [&str; 4] = ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"];

impl Object {
    /// Makes a revision of a whole tree; `metadata.resourceVersion` is set to the given one.
    #[must_use]
    pub fn new(mut base: Json, resource_version: u64) -> Self {
        let text = format!("{resource_version}");
        // A tree that has it already is not changed, so that its metadata stays shared.
        if base.at(&["metadata", "resourceVersion"]).as_str() != Some(text.as_str()) {
            base.set(&["metadata", "resourceVersion"], Json::text(text));
        }
        Self::whole(base, resource_version)
    }

    const fn whole(base: Json, resource_version: u64) -> Self {
        Self { base, stamp: HeartbeatStamp::of(TypedChange::None, resource_version) }
    }

    /// Makes the object of a bookmark: a tree that is shared by all of them, and a revision.
    #[must_use]
    pub const fn bookmark(base: Json, resource_version: u64) -> Self {
        Self { base, stamp: HeartbeatStamp::of(TypedChange::Revision, resource_version) }
    }

    /// Returns this object under another revision, without building JSON where its times are those of its tree.
    #[must_use]
    pub fn at_revision(&self, resource_version: u64) -> Self {
        let base = if self.is_heartbeat() { self.json() } else { self.base.clone() };
        Self { base, stamp: HeartbeatStamp::of(TypedChange::Revision, resource_version) }
    }

    /// Makes a revision of a tree as it came, with whatever resourceVersion it holds.
    #[must_use]
    pub fn as_received(base: Json) -> Self {
        let resource_version =
            base.at(&["metadata", "resourceVersion"]).as_str().and_then(|text| text.parse().ok()).unwrap_or(0);
        Self::whole(base, resource_version)
    }

    /// Returns this Lease with a new `spec.renewTime`, without building JSON.
    #[must_use]
    pub fn renewed(&self, renew_time: Timestamp, resource_version: u64) -> Self {
        let mut renewed = self.clone();
        renewed.renew(renew_time, resource_version, self.stamp.place, renew_time);
        renewed
    }

    /// Gives this Lease a new `spec.renewTime`, and its place in the store, without building JSON; the server took
    /// it at an instant.
    pub fn renew(&mut self, renew_time: Timestamp, resource_version: u64, place: u32, taken: Timestamp) {
        let micros = time::whole_micros(renew_time).as_microsecond();
        self.take(HeartbeatStamp::renewal(resource_version, micros, place, taken));
    }

    /// Returns this Node with a new `lastHeartbeatTime` of the kubelet's conditions, without building JSON; the server
    /// took it at an instant.
    #[must_use]
    pub fn heartbeat(&self, at: Timestamp, resource_version: u64, taken: Timestamp) -> Self {
        let micros = time::whole_seconds(at).as_microsecond();
        let stamp = HeartbeatStamp::renewal(resource_version, micros, self.stamp.place, taken);
        let mut beaten = self.clone();
        beaten.take(HeartbeatStamp { change: TypedChange::Heartbeat, ..stamp });
        beaten
    }

    /// Makes this a later revision that differs by a heartbeat of the same kind alone.
    pub fn take(&mut self, stamp: HeartbeatStamp) {
        if self.stamp.change != stamp.change && self.stamp.change != TypedChange::None {
            self.base = self.json();
        }
        self.stamp = stamp;
    }

    /// Returns what distinguishes this revision from others with the same stable tree.
    #[must_use]
    pub const fn stamp(&self) -> HeartbeatStamp {
        self.stamp
    }

    /// Returns the revision with the same stable tree that had this stamp.
    #[must_use]
    pub fn at_stamp(&self, stamp: HeartbeatStamp) -> Self {
        Self { base: self.base.clone(), stamp }
    }

    /// Returns the whole tree.
    #[must_use]
    pub fn json(&self) -> Json {
        let mut tree = self.base.clone();
        match self.stamp.change {
            TypedChange::None => return tree,
            TypedChange::Revision => {}
            TypedChange::Renewal => {
                tree.set(&["spec", "renewTime"], time::to_micro_time(self.stamp.at()));
                ownership::note_heartbeat(&mut tree, "", self.stamp.taken());
            }
            TypedChange::Heartbeat => {
                let text = Json::from(time::to_time(self.stamp.at()));
                for condition in tree.entry(&["status", "conditions"]).make_array() {
                    if condition.get("type").as_str().is_some_and(|name| KUBELET_CONDITIONS.contains(&name)) {
                        condition.set(&["lastHeartbeatTime"], text.clone());
                    }
                }
                ownership::note_heartbeat(&mut tree, "status", self.stamp.taken());
            }
        }
        tree.set(&["metadata", "resourceVersion"], Json::text(format!("{}", self.stamp.resource_version)));
        tree
    }

    /// Returns the tree without the times and the resourceVersion of the last heartbeats.
    ///
    /// Everything but `spec.renewTime`, `lastHeartbeatTime` and `metadata.resourceVersion` is up to date; it costs
    /// nothing. Two revisions whose stable trees are the same allocation differ by heartbeats only.
    #[must_use]
    pub fn stable(&self) -> &Json {
        &self.base
    }

    /// Tells whether the last write changed heartbeat times alone and went through the typed path.
    #[must_use]
    pub fn is_heartbeat(&self) -> bool {
        matches!(self.stamp.change, TypedChange::Renewal | TypedChange::Heartbeat)
    }

    /// Tells whether the last write renewed a Lease and went through the typed path.
    #[must_use]
    pub fn is_renewal(&self) -> bool {
        self.stamp.change == TypedChange::Renewal
    }

    /// Tells whether the last write was a Node's heartbeat and went through the typed path.
    #[must_use]
    pub fn is_node_heartbeat(&self) -> bool {
        self.stamp.change == TypedChange::Heartbeat
    }

    /// Returns where the store keeps the object, if the last write said so.
    ///
    /// A hint that saves a search by name: the user has to check that this object is there.
    #[must_use]
    pub fn place(&self) -> Option<u32> {
        self.stamp.place()
    }

    /// Returns the revision in the store's count.
    #[must_use]
    pub const fn resource_version(&self) -> u64 {
        self.stamp.resource_version
    }

    /// Returns namespace and name.
    #[must_use]
    pub fn key(&self) -> ObjectKey {
        let metadata = self.base.get("metadata");
        let text = |field| metadata.get(field).as_text().cloned().unwrap_or_default();
        ObjectKey { namespace: text("namespace"), name: text("name") }
    }

    /// Returns `metadata.name`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.base.at(&["metadata", "name"]).as_str().unwrap_or("")
    }

    /// Returns `metadata.uid`.
    #[must_use]
    pub fn uid(&self) -> &str {
        self.base.at(&["metadata", "uid"]).as_str().unwrap_or("")
    }

    /// Returns `spec.renewTime` of a Lease.
    #[must_use]
    pub fn renew_time(&self) -> Option<Timestamp> {
        match self.stamp.change {
            TypedChange::Renewal => Some(self.stamp.at()),
            _ => self.base.at(&["spec", "renewTime"]).as_str().and_then(time::parse),
        }
    }

    /// Returns `lastHeartbeatTime` of one of the kubelet's conditions.
    #[must_use]
    pub fn heartbeat_time(&self, condition: &str) -> Option<Timestamp> {
        match self.stamp.change {
            TypedChange::Heartbeat if KUBELET_CONDITIONS.contains(&condition) => Some(self.stamp.at()),
            _ => self
                .base
                .at(&["status", "conditions"])
                .items()
                .iter()
                .find(|item| item.get("type").as_str() == Some(condition))
                .and_then(|item| item.get("lastHeartbeatTime").as_str())
                .and_then(time::parse),
        }
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.base.is_same_allocation(&other.base) && self.stamp == other.stamp || self.json() == other.json()
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.json(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::Object;
    use crate::json;

    #[test]
    fn a_renewal_reads_like_a_full_write() {
        let lease = Object::new(json!({"metadata": {"name": "w1"}, "spec": {"holderIdentity": "w1"}}), 7);
        let at = "2026-01-01T00:00:10.123456789Z".parse().unwrap();
        let renewed = lease.renewed(at, 8).renewed(at, 9);
        let written = Object::new(
            json!({"metadata": {"name": "w1"}, "spec": {"holderIdentity": "w1",
                "renewTime": "2026-01-01T00:00:10.123456Z"}}),
            9,
        );
        assert_eq!(renewed.json(), written.json());
        assert_eq!(renewed.renew_time(), written.renew_time());
    }

    #[test]
    fn a_heartbeat_touches_the_conditions_of_the_kubelet_alone() {
        let node = Object::new(
            json!({"metadata": {"name": "w1"}, "status": {"conditions": [
                {"type": "NetworkUnavailable", "lastHeartbeatTime": "2026-01-01T00:00:00Z"},
                {"type": "Ready", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}]}}),
            7,
        );
        let at = "2026-01-01T00:05:00.9Z".parse().unwrap();
        let beaten = node.heartbeat(at, 8, at).json();
        let conditions = beaten.at(&["status", "conditions"]).items();
        assert_eq!(conditions[0].get("lastHeartbeatTime").as_str(), Some("2026-01-01T00:00:00Z"));
        assert_eq!(conditions[1].get("lastHeartbeatTime").as_str(), Some("2026-01-01T00:05:00Z"));
        assert_eq!(beaten.at(&["metadata", "resourceVersion"]).as_str(), Some("8"));
    }
}
