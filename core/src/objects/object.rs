//! One revision of one stored object, shared between the store, its watch history and every cache.
//!
//! Two writes make up nearly all traffic of a quiet cluster and change nothing but times: the renewal of a Lease and
//! the status heartbeat of a Node. A revision made by one of them holds the tree before it and the new time; the JSON
//! is built only when somebody reads it. Invariant (tested): the built tree equals the one that a full write stores.
//! The same holds for bookmarks, which differ by their revision alone.

use alloc::format;
use alloc::sync::Arc;
use core::fmt;

use jiff::Timestamp;

use super::{Json, Text, time};

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
#[derive(Clone)]
pub struct Object(Arc<Revision>);

struct Revision {
    base: Json,
    change: Change,
    resource_version: u64,
    /// See [`Object::place`].
    place: u32,
}

/// The place of an object that has none.
const NOWHERE: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq)]
enum Change {
    None,
    /// `spec.renewTime` of a Lease.
    Renewal(Timestamp),
    /// `lastHeartbeatTime` of the conditions that the kubelet owns.
    Heartbeat(Timestamp),
    /// Nothing but `metadata.resourceVersion`.
    Revision,
}

/// The conditions whose heartbeat a kubelet writes.
///
/// Source: pkg/kubelet/kubelet_node_status.go (v1.34), `defaultNodeStatusFuncs`.
pub const KUBELET_CONDITIONS: [&str; 4] = ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"];

impl Object {
    /// Makes a revision of a whole tree; `metadata.resourceVersion` is set to the given one.
    #[must_use]
    pub fn new(mut base: Json, resource_version: u64) -> Self {
        base.set(&["metadata", "resourceVersion"], Json::text(format!("{resource_version}")));
        Self(Arc::new(Revision { base, change: Change::None, resource_version, place: NOWHERE }))
    }

    /// Makes the object of a bookmark: a tree that is shared by all of them, and a revision.
    #[must_use]
    pub fn bookmark(base: Json, resource_version: u64) -> Self {
        Self(Arc::new(Revision { base, change: Change::Revision, resource_version, place: NOWHERE }))
    }

    /// Makes a revision of a tree as it came, with whatever resourceVersion it holds.
    #[must_use]
    pub fn as_received(base: Json) -> Self {
        let resource_version =
            base.at(&["metadata", "resourceVersion"]).as_str().and_then(|text| text.parse().ok()).unwrap_or(0);
        Self(Arc::new(Revision { base, change: Change::None, resource_version, place: NOWHERE }))
    }

    /// Returns this Lease with a new `spec.renewTime`, without building JSON.
    #[must_use]
    pub fn renewed(&self, renew_time: Timestamp, resource_version: u64) -> Self {
        self.renewed_at(renew_time, resource_version, self.0.place)
    }

    /// Returns this Lease with a new `spec.renewTime`, and with its place in the store.
    #[must_use]
    pub fn renewed_at(&self, renew_time: Timestamp, resource_version: u64, place: u32) -> Self {
        self.changed(Change::Renewal(time::whole_micros(renew_time)), resource_version, place)
    }

    /// Returns this Node with a new `lastHeartbeatTime` of the kubelet's conditions, without building JSON.
    #[must_use]
    pub fn heartbeat(&self, at: Timestamp, resource_version: u64) -> Self {
        self.changed(Change::Heartbeat(time::whole_seconds(at)), resource_version, self.0.place)
    }

    fn changed(&self, change: Change, resource_version: u64, place: u32) -> Self {
        let same_kind = matches!((self.0.change, change), (Change::None, _) | (Change::Renewal(_), Change::Renewal(_)))
            || matches!((self.0.change, change), (Change::Heartbeat(_), Change::Heartbeat(_)));
        let base = if same_kind { self.0.base.clone() } else { self.json() };
        Self(Arc::new(Revision { base, change, resource_version, place }))
    }

    /// Returns the whole tree.
    #[must_use]
    pub fn json(&self) -> Json {
        let mut tree = self.0.base.clone();
        match self.0.change {
            Change::None => return tree,
            Change::Revision => {}
            Change::Renewal(at) => tree.set(&["spec", "renewTime"], time::to_micro_time(at)),
            Change::Heartbeat(at) => {
                let text = Json::from(time::to_time(at));
                for condition in tree.entry(&["status", "conditions"]).make_array() {
                    if condition.get("type").as_str().is_some_and(|name| KUBELET_CONDITIONS.contains(&name)) {
                        condition.set(&["lastHeartbeatTime"], text.clone());
                    }
                }
            }
        }
        tree.set(&["metadata", "resourceVersion"], Json::text(format!("{}", self.0.resource_version)));
        tree
    }

    /// Returns the tree without the times and the resourceVersion of the last heartbeats.
    ///
    /// Everything but `spec.renewTime`, `lastHeartbeatTime` and `metadata.resourceVersion` is up to date; it costs
    /// nothing. Two revisions whose stable trees are the same allocation differ by heartbeats only.
    #[must_use]
    pub fn stable(&self) -> &Json {
        &self.0.base
    }

    /// Tells whether the last write changed heartbeat times alone and went through the typed path.
    #[must_use]
    pub fn is_heartbeat(&self) -> bool {
        matches!(self.0.change, Change::Renewal(_) | Change::Heartbeat(_))
    }

    /// Returns where the store keeps the object, if the last write said so.
    ///
    /// A hint that saves a look for the name: whoever follows it has to make sure that this object stands there.
    #[must_use]
    pub fn place(&self) -> Option<u32> {
        (self.0.place != NOWHERE).then_some(self.0.place)
    }

    /// Returns the revision in the store's count.
    #[must_use]
    pub fn resource_version(&self) -> u64 {
        self.0.resource_version
    }

    /// Returns namespace and name.
    #[must_use]
    pub fn key(&self) -> ObjectKey {
        let metadata = self.0.base.get("metadata");
        let text = |field| metadata.get(field).as_text().cloned().unwrap_or_default();
        ObjectKey { namespace: text("namespace"), name: text("name") }
    }

    /// Returns `metadata.name`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.base.at(&["metadata", "name"]).as_str().unwrap_or("")
    }

    /// Returns `metadata.uid`.
    #[must_use]
    pub fn uid(&self) -> &str {
        self.0.base.at(&["metadata", "uid"]).as_str().unwrap_or("")
    }

    /// Returns `spec.renewTime` of a Lease.
    #[must_use]
    pub fn renew_time(&self) -> Option<Timestamp> {
        match self.0.change {
            Change::Renewal(at) => Some(at),
            _ => self.0.base.at(&["spec", "renewTime"]).as_str().and_then(time::parse),
        }
    }

    /// Returns `lastHeartbeatTime` of one of the kubelet's conditions.
    #[must_use]
    pub fn heartbeat_time(&self, condition: &str) -> Option<Timestamp> {
        match self.0.change {
            Change::Heartbeat(at) if KUBELET_CONDITIONS.contains(&condition) => Some(at),
            _ => self
                .0
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
        Arc::ptr_eq(&self.0, &other.0) || self.json() == other.json()
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
            json!({"metadata": {"name": "w1"}, "spec": {"holderIdentity": "w1", "renewTime": "2026-01-01T00:00:10.123456Z"}}),
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
        let beaten = node.heartbeat("2026-01-01T00:05:00.9Z".parse().unwrap(), 8).json();
        let conditions = beaten.at(&["status", "conditions"]).items();
        assert_eq!(conditions[0].get("lastHeartbeatTime").as_str(), Some("2026-01-01T00:00:00Z"));
        assert_eq!(conditions[1].get("lastHeartbeatTime").as_str(), Some("2026-01-01T00:05:00Z"));
        assert_eq!(beaten.at(&["metadata", "resourceVersion"]).as_str(), Some("8"));
    }
}
