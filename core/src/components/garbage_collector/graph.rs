//! Who owns whom, by UID.
//!
//! Mirrors the graph of pkg/controller/garbagecollector/{graph,graph_builder}.go (v1.34). Inputs: objects that appear,
//! change and go. Outputs: the dependents of an owner, and owners that nobody has seen.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::objects::{Json, ObjectKey, Text};

/// An object as the graph knows it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Item {
    /// The place of its kind in the table of watched kinds.
    pub(super) kind: usize,
    /// Namespace and name.
    pub(super) key: ObjectKey,
    /// The UID.
    pub(super) uid: Text,
}

/// A reference to an owner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct OwnerReference {
    pub(super) api_version: Text,
    pub(super) kind: Text,
    pub(super) name: Text,
    pub(super) uid: Text,
}

/// Reads the references of an object.
pub(super) fn owners_of(object: &Json) -> Vec<OwnerReference> {
    let references = object.at(&["metadata", "ownerReferences"]).items();
    let text = |reference: &Json, field| reference.get(field).as_text().cloned().unwrap_or_default();
    references
        .iter()
        .map(|one| OwnerReference {
            api_version: text(one, "apiVersion"),
            kind: text(one, "kind"),
            name: text(one, "name"),
            uid: text(one, "uid"),
        })
        .collect()
}

/// The graph.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// Each object's owners.
    owners: BTreeMap<Text, Vec<Text>>,
    dependents: BTreeMap<Text, BTreeSet<Item>>,
}

impl Graph {
    /// Tells whether an object of this UID is there.
    pub(super) fn has(&self, uid: &str) -> bool {
        self.owners.contains_key(uid)
    }

    /// Takes an object with the owners that it has now.
    pub(super) fn put(&mut self, item: &Item, owners: &[OwnerReference]) {
        let owners: Vec<Text> = owners.iter().map(|owner| owner.uid.clone()).collect();
        if self.owners.get(&item.uid) == Some(&owners) {
            return;
        }
        self.forget_owners(item);
        for owner in &owners {
            self.dependents.entry(owner.clone()).or_default().insert(item.clone());
        }
        self.owners.insert(item.uid.clone(), owners);
    }

    /// Forgets an object and returns its dependents, which stay.
    pub(super) fn remove(&mut self, item: &Item) -> Vec<Item> {
        self.forget_owners(item);
        self.owners.remove(&item.uid);
        self.dependents.get(&item.uid).into_iter().flatten().cloned().collect()
    }

    fn forget_owners(&mut self, item: &Item) {
        for owner in self.owners.get(&item.uid).into_iter().flatten() {
            if let Some(dependents) = self.dependents.get_mut(owner) {
                dependents.remove(item);
                if dependents.is_empty() {
                    self.dependents.remove(owner);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Graph, Item, OwnerReference};
    use crate::objects::ObjectKey;

    #[test]
    fn dependents_outlive_their_owner_and_follow_their_references() {
        let item = |name: &str| Item { kind: 0, key: ObjectKey::cluster(name), uid: name.into() };
        let by = |uid: &str| OwnerReference {
            api_version: "v1".into(),
            kind: "Node".into(),
            name: uid.into(),
            uid: uid.into(),
        };
        let mut graph = Graph::default();
        graph.put(&item("node"), &[]);
        graph.put(&item("lease"), &[by("node")]);
        graph.put(&item("csinode"), &[by("node"), by("other")]);
        assert_eq!(graph.remove(&item("node")), [item("csinode"), item("lease")]);
        assert!(!graph.has("node"));
        graph.put(&item("lease"), &[by("other")]);
        assert_eq!(graph.remove(&item("node")), [item("csinode")]);
    }
}
