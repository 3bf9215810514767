//! Who owns whom, by UID.
//!
//! Mirrors the graph of pkg/controller/garbagecollector/{graph,graph_builder}.go (v1.34). Inputs: objects that are
//! added, changed and removed. Outputs: the dependents of an owner, whether an owner was seen, and the state of each
//! object's deletion. Invariant: that state never goes back.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::objects::{Json, ObjectKey, Text};

/// An object as the graph knows it.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Item {
    /// The place of its kind in the table of watched kinds.
    pub(super) kind: usize,
    /// Namespace and name.
    pub(super) key: ObjectKey,
    /// The UID.
    pub(super) uid: Text,
}

/// A reference to an owner.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct OwnerReference {
    pub(super) api_version: Text,
    pub(super) kind: Text,
    pub(super) name: Text,
    pub(super) uid: Text,
    /// Whether an owner that is deleted in the foreground waits for the dependent.
    pub(super) blocks: bool,
}

/// The state of an object's deletion.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Life {
    /// It is not being deleted.
    Staying,
    /// It is being deleted.
    Ending,
    /// It is being deleted and waits for its dependents.
    AwaitingDependents,
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
            blocks: one.get("blockOwnerDeletion").as_bool() == Some(true),
        })
        .collect()
}

/// An object of the graph.
#[derive(Clone, Debug)]
struct Vertex {
    item: Item,
    owners: Vec<OwnerReference>,
    life: Life,
}

/// The graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    vertices: BTreeMap<Text, Vertex>,
    /// Pairs of an owner's UID and a dependent; most owners have one dependent, so a set for each would waste memory.
    dependents: BTreeSet<(Text, Item)>,
}

impl Graph {
    /// Tells whether an object of this UID was seen.
    pub(super) fn has(&self, uid: &str) -> bool {
        self.vertices.contains_key(uid)
    }

    /// Returns the object of a UID, if it was seen.
    pub(super) fn item(&self, uid: &str) -> Option<&Item> {
        self.vertices.get(uid).map(|vertex| &vertex.item)
    }

    /// Returns the dependents of an object, each with its owners.
    pub(super) fn dependents_with_owners(&self, uid: &str) -> Vec<(Item, Vec<OwnerReference>)> {
        let owners = |item: &Item| self.vertices.get(&item.uid).map(|vertex| vertex.owners.clone()).unwrap_or_default();
        self.dependents(uid).map(|item| (item.clone(), owners(item))).collect()
    }

    /// Returns the state of an object's deletion; `Staying` for an unknown one.
    pub(super) fn life(&self, uid: &str) -> Life {
        self.vertices.get(uid).map_or(Life::Staying, |vertex| vertex.life)
    }

    /// Notes the state of an object's deletion, which never goes back.
    pub(super) fn note_life(&mut self, uid: &str, life: Life) {
        if let Some(vertex) = self.vertices.get_mut(uid) {
            vertex.life = vertex.life.max(life);
        }
    }

    /// Returns the dependents of an object.
    pub(super) fn dependents<'a>(&'a self, uid: &'a str) -> impl Iterator<Item = &'a Item> {
        let first = (Text::from(uid), Item::default());
        self.dependents.range(first..).take_while(move |(owner, _)| *owner == *uid).map(|(_, item)| item)
    }

    /// Returns the dependents that an owner which is deleted in the foreground waits for.
    pub(super) fn blocking_dependents(&self, uid: &str) -> Vec<Item> {
        let blocks = |item: &&Item| {
            let vertex = self.vertices.get(&item.uid);
            vertex.is_some_and(|vertex| vertex.owners.iter().any(|owner| *owner.uid == *uid && owner.blocks))
        };
        self.dependents(uid).filter(blocks).cloned().collect()
    }

    /// Returns the owners of an object that wait for their dependents.
    pub(super) fn waiting_owners(&self, uid: &str) -> Vec<Item> {
        let owners = self.vertices.get(uid).into_iter().flat_map(|vertex| &vertex.owners);
        let waiting = owners.filter_map(|owner| self.vertices.get(&owner.uid));
        waiting.filter(|owner| owner.life == Life::AwaitingDependents).map(|owner| owner.item.clone()).collect()
    }

    /// Takes an object with its current owners; returns the owners that no longer wait for it.
    pub(super) fn put(&mut self, item: &Item, owners: &[OwnerReference]) -> Vec<Item> {
        let before = self.vertices.get(&item.uid);
        if before.is_some_and(|vertex| vertex.owners == owners) {
            return Vec::new();
        }
        let life = before.map_or(Life::Staying, |vertex| vertex.life);
        let blocked = before.into_iter().flat_map(|vertex| &vertex.owners).filter(|owner| owner.blocks);
        let freed = blocked.filter(|before| !owners.iter().any(|owner| owner.uid == before.uid && owner.blocks));
        let freed = freed.filter_map(|owner| Some(self.vertices.get(&owner.uid)?.item.clone())).collect();
        self.forget_owners(item);
        for owner in owners {
            self.dependents.insert((owner.uid.clone(), item.clone()));
        }
        self.vertices.insert(item.uid.clone(), Vertex { item: item.clone(), owners: owners.to_vec(), life });
        freed
    }

    /// Forgets an object and returns its dependents, which stay.
    pub(super) fn remove(&mut self, item: &Item) -> Vec<Item> {
        self.forget_owners(item);
        self.vertices.remove(&item.uid);
        self.dependents(&item.uid).cloned().collect()
    }

    fn forget_owners(&mut self, item: &Item) {
        for owner in self.vertices.get(&item.uid).into_iter().flat_map(|vertex| &vertex.owners) {
            self.dependents.remove(&(owner.uid.clone(), item.clone()));
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
            blocks: uid == "other",
        };
        let mut graph = Graph::default();
        graph.put(&item("node"), &[]);
        graph.put(&item("lease"), &[by("node")]);
        graph.put(&item("csinode"), &[by("node"), by("other")]);
        assert_eq!(graph.remove(&item("node")), [item("csinode"), item("lease")]);
        assert!(!graph.has("node"));
        graph.put(&item("lease"), &[by("other")]);
        assert_eq!(graph.remove(&item("node")), [item("csinode")]);
        assert!(graph.blocking_dependents("node").is_empty());
        assert_eq!(graph.blocking_dependents("other"), [item("csinode"), item("lease")]);
    }
}
