//! Dependents whose references do not fit the owner of the UID that they name: they are looked at again, and one whose
//! owner is in another namespace gets an Event.
//!
//! Mirrors `addDependentToOwners` and `reportInvalidNamespaceOwnerRef` of
//! pkg/controller/garbagecollector/graph_builder.go (v1.34). Inputs: objects with their references. Outputs: work,
//! Events.

use alloc::format;

use jiff::Timestamp;

use super::graph::{Item, OwnerReference};
use super::{GarbageCollector, MonitoredKind};
use crate::components::events::{EventType, InvolvedObject};

/// Returns the API version of a kind, as references name it.
pub(super) fn version_of(kind: &MonitoredKind) -> alloc::string::String {
    match (kind.resource.group.as_str(), kind.resource.version.as_str()) {
        ("", version) => version.into(),
        (group, version) => format!("{group}/{version}"),
    }
}

impl GarbageCollector {
    /// Looks again at a dependent with a reference that does not fit.
    pub(super) fn check_places(&mut self, item: &Item, owners: &[OwnerReference], now: Timestamp) {
        for owner in owners {
            let Some(known) = self.graph.item(&owner.uid) else { continue };
            let kind = &self.kinds[known.kind];
            let is_elsewhere = !known.key.namespace.is_empty() && known.key.namespace != item.key.namespace;
            let fits =
                kind.name == owner.kind && version_of(kind) == *owner.api_version && known.key.name == owner.name;
            if is_elsewhere {
                self.say_elsewhere(item, owner, now);
            }
            if is_elsewhere || !fits {
                self.queue.add(item.clone());
                return;
            }
        }
    }

    /// Looks at those that named an owner before it was seen.
    pub(super) fn check_dependents(&mut self, owner: &Item, now: Timestamp) {
        for (item, owners) in self.graph.dependents_with_owners(&owner.uid) {
            self.check_places(&item, &owners, now);
        }
    }

    fn say_elsewhere(&mut self, item: &Item, owner: &OwnerReference, now: Timestamp) {
        let kind = &self.kinds[item.kind];
        let about = InvolvedObject::named(&version_of(kind), &kind.name, &item.key, &item.uid);
        let namespace = &item.key.namespace;
        let OwnerReference { api_version, kind, name, uid, .. } = owner;
        let message = format!(
            "ownerRef [{api_version}/{kind}, namespace: {namespace}, name: {name}, uid: {uid}] does not exist in \
             namespace {namespace:?}",
            namespace = namespace.as_str()
        );
        self.runtime.emit(&about, EventType::Warning, "OwnerRefInvalidNamespace", &message, None, now);
    }
}
