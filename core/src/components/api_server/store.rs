//! The objects of one kind: found by name in constant time, listed in order of their keys.
//!
//! Takes the place of etcd and of the watch cache's store. Inputs: objects by their keys. Outputs: objects, and their
//! places, which stay the same until removal. Names are found in a hash table; invariant: the order of iteration comes
//! from a sorted tree, and hashes affect nothing but speed.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::objects::{Object, ObjectKey, Text, fnv};

/// A place in the slab.
pub(super) type SlabIndex = u32;

#[derive(Clone, Debug)]
struct StoredObject {
    namespace: Text,
    name: Text,
    object: Object,
}

/// The objects of a kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    slots: Vec<Option<StoredObject>>,
    free: Vec<SlabIndex>,
    order: BTreeMap<Text, BTreeMap<Text, SlabIndex>>,
    /// The objects of each node in order of their keys, for kinds that kubelets list by node.
    by_node: Option<BTreeMap<Text, BTreeMap<ObjectKey, SlabIndex>>>,
    /// Open addressing: the hash's upper half beside a place plus one; zero is empty.
    index: Vec<(u32, u32)>,
    len: usize,
}

fn hash(namespace: &str, name: &str) -> u64 {
    // With a separator that neither part can contain.
    fnv::add(fnv::START, namespace.bytes().chain(core::iter::once(b'/')).chain(name.bytes()))
}

#[expect(clippy::cast_possible_truncation, reason = "both halves of a hash are wanted")]
const fn halves(hash: u64) -> (usize, u32) {
    let mixed = hash ^ (hash >> 29);
    (mixed as u32 as usize, (hash >> 32) as u32)
}

fn node_of(object: &Object) -> Option<&Text> {
    object.stable().at(&["spec", "nodeName"]).as_text()
}

impl Store {
    /// Makes a store that finds the objects of a node: see [`Self::on_node`].
    pub(super) fn by_node() -> Self {
        Self { by_node: Some(BTreeMap::new()), ..Self::default() }
    }

    /// Returns the number of objects.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Finds an object's place.
    pub(super) fn find(&self, namespace: &str, name: &str) -> Option<SlabIndex> {
        if self.index.is_empty() {
            return None;
        }
        let mask = self.index.len() - 1;
        let (start, tag) = halves(hash(namespace, name));
        let mut at = start & mask;
        loop {
            let (found, place) = self.index[at];
            if place == 0 {
                return None;
            }
            if found == tag
                && let Some(slot) = &self.slots[place as usize - 1]
                && slot.name == *name
                && slot.namespace == *namespace
            {
                return Some(place - 1);
            }
            at = (at + 1) & mask;
        }
    }

    /// Returns an object.
    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<&Object> {
        self.find(namespace, name).map(|place| self.at(place))
    }

    /// Returns the object at a place that [`Store::find`] has named.
    pub(super) fn at(&self, place: SlabIndex) -> &Object {
        &self.slots[place as usize].as_ref().expect("a found place holds an object").object
    }

    /// Returns the object at a remembered place, if there is one.
    pub(super) fn stands_at(&self, place: SlabIndex) -> Option<&Object> {
        self.slots.get(place as usize)?.as_ref().map(|slot| &slot.object)
    }

    /// As [`Store::stands_at`], for a heartbeat.
    pub(super) fn stands_at_mut(&mut self, place: SlabIndex) -> Option<&mut Object> {
        self.slots.get_mut(place as usize)?.as_mut().map(|slot| &mut slot.object)
    }

    /// Puts a newer revision in the place of an object; returns the older one.
    pub(super) fn replace(&mut self, place: SlabIndex, object: Object) -> Object {
        let slot = self.slots[place as usize].as_mut().expect("a found place holds an object");
        let before = core::mem::replace(&mut slot.object, object);
        if self.by_node.is_some() {
            let slot = self.slots[place as usize].as_ref().expect("a found place holds an object");
            let (old, new) = (node_of(&before).cloned(), node_of(&slot.object).cloned());
            if old != new {
                let key = ObjectKey { namespace: slot.namespace.clone(), name: slot.name.clone() };
                self.leave_node(old.as_ref(), &key);
                self.join_node(new, key, place);
            }
        }
        before
    }

    fn join_node(&mut self, node: Option<Text>, key: ObjectKey, place: SlabIndex) {
        if let (Some(by_node), Some(node)) = (&mut self.by_node, node) {
            by_node.entry(node).or_default().insert(key, place);
        }
    }

    fn leave_node(&mut self, node: Option<&Text>, key: &ObjectKey) {
        if let (Some(by_node), Some(node)) = (&mut self.by_node, node)
            && let Some(own) = by_node.get_mut(node)
        {
            own.remove(key);
            if own.is_empty() {
                by_node.remove(node);
            }
        }
    }

    /// Adds an object whose key is not there yet.
    pub(super) fn insert(&mut self, namespace: Text, name: Text, object: Object) {
        if (self.len + 1) * 2 > self.index.len() {
            self.grow();
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            SlabIndex::try_from(self.slots.len() - 1).expect("fewer than 2^32 objects")
        });
        self.point(hash(&namespace, &name), place);
        self.order.entry(namespace.clone()).or_default().insert(name.clone(), place);
        if self.by_node.is_some() {
            let key = ObjectKey { namespace: namespace.clone(), name: name.clone() };
            self.join_node(node_of(&object).cloned(), key, place);
        }
        self.slots[place as usize] = Some(StoredObject { namespace, name, object });
        self.len += 1;
    }

    /// Removes an object.
    pub(super) fn remove(&mut self, namespace: &str, name: &str) -> Option<Object> {
        let place = self.find(namespace, name)?;
        let of_namespace = self.order.get_mut(namespace)?;
        of_namespace.remove(name);
        if of_namespace.is_empty() {
            self.order.remove(namespace);
        }
        self.unpoint(namespace, name, place);
        self.free.push(place);
        self.len -= 1;
        let slot = self.slots[place as usize].take()?;
        let key = ObjectKey { namespace: slot.namespace, name: slot.name };
        self.leave_node(node_of(&slot.object), &key);
        Some(slot.object)
    }

    /// Returns the objects of a node in order of their keys; `None` if this store is not indexed by node.
    pub(super) fn on_node(&self, node: &str) -> Option<impl Iterator<Item = &Object>> {
        let own = self.by_node.as_ref()?.get(node);
        Some(own.into_iter().flat_map(BTreeMap::values).map(|place| self.at(*place)))
    }

    /// Returns all objects, or those of one namespace, in order of their keys.
    pub(super) fn iter<'a>(&'a self, namespace: &str) -> impl Iterator<Item = &'a Object> + use<'a> {
        let one = (!namespace.is_empty()).then(|| self.order.get(namespace)).map(Option::into_iter);
        let all = namespace.is_empty().then(|| self.order.values());
        one.into_iter()
            .flatten()
            .chain(all.into_iter().flatten())
            .flat_map(BTreeMap::values)
            .map(|place| self.at(*place))
    }

    fn point(&mut self, hash: u64, place: SlabIndex) {
        let mask = self.index.len() - 1;
        let (start, tag) = halves(hash);
        let mut at = start & mask;
        while self.index[at].1 != 0 {
            at = (at + 1) & mask;
        }
        self.index[at] = (tag, place + 1);
    }

    fn unpoint(&mut self, namespace: &str, name: &str, place: SlabIndex) {
        let mask = self.index.len() - 1;
        let (start, _) = halves(hash(namespace, name));
        let mut hole = start & mask;
        while self.index[hole].1 != place + 1 {
            hole = (hole + 1) & mask;
        }
        // Moves later entries of the same run back, so that no search ends at the hole too early.
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let (_, other) = self.index[at];
            if other == 0 {
                break;
            }
            let slot = self.slots[other as usize - 1].as_ref().expect("an indexed place holds an object");
            let home = halves(hash(&slot.namespace, &slot.name)).0 & mask;
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.index[hole] = self.index[at];
                hole = at;
            }
        }
        self.index[hole] = (0, 0);
    }

    fn grow(&mut self) {
        let size = (self.index.len() * 2).max(16);
        self.index = alloc::vec![(0, 0); size];
        for place in 0..self.slots.len() {
            if let Some(slot) = &self.slots[place] {
                let hash = hash(&slot.namespace, &slot.name);
                self.point(hash, SlabIndex::try_from(place).expect("fewer than 2^32 objects"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::Store;
    use crate::chance::Chance;
    use crate::json;
    use crate::objects::{Object, Text};

    #[test]
    fn the_objects_of_a_node_are_those_that_name_it_now() {
        let mut chance = Chance::new(5);
        let mut store = Store::by_node();
        for version in 1..5_000 {
            let (namespace, name) = (format!("ns{}", chance.below(2)), format!("n{}", chance.below(60)));
            let node = [json!({}), json!({"spec": {"nodeName": "a"}}), json!({"spec": {"nodeName": "b"}})];
            let tree = node[usize::try_from(chance.below(3)).unwrap()].clone();
            match store.find(&namespace, &name) {
                None => store.insert(Text::from(&namespace), Text::from(&name), Object::new(tree, version)),
                Some(_) if chance.below(3) == 0 => drop(store.remove(&namespace, &name)),
                Some(place) => drop(store.replace(place, Object::new(tree, version))),
            }
            for node in ["a", "b", "c"] {
                let named = |object: &&Object| object.stable().at(&["spec", "nodeName"]).as_str() == Some(node);
                let expected: Vec<u64> = store.iter("").filter(named).map(Object::resource_version).collect();
                let found: Vec<u64> = store.on_node(node).unwrap().map(Object::resource_version).collect();
                assert_eq!(found, expected);
            }
        }
        assert!(Store::default().on_node("a").is_none());
    }

    #[test]
    fn it_agrees_with_a_sorted_map_under_random_changes() {
        let mut chance = Chance::new(3);
        let mut store = Store::default();
        let mut model: BTreeMap<(String, String), u64> = BTreeMap::new();
        for version in 1..20_000 {
            let (namespace, name) = (format!("ns{}", chance.below(3)), format!("n{}", chance.below(400)));
            match store.find(&namespace, &name) {
                None => {
                    store.insert(Text::from(&namespace), Text::from(&name), Object::new(json!({}), version));
                    model.insert((namespace, name), version);
                }
                Some(_) if chance.below(2) == 0 => {
                    let removed = store.remove(&namespace, &name).unwrap().resource_version();
                    assert_eq!(model.remove(&(namespace, name)), Some(removed));
                }
                Some(place) => {
                    store.replace(place, Object::new(json!({}), version));
                    model.insert((namespace, name), version);
                }
            }
        }
        let listed: Vec<u64> = store.iter("").map(Object::resource_version).collect();
        assert_eq!(listed, model.values().copied().collect::<Vec<_>>());
        for ((namespace, name), version) in &model {
            assert_eq!(store.get(namespace, name).unwrap().resource_version(), *version);
        }
        let of_one: Vec<u64> = store.iter("ns1").map(Object::resource_version).collect();
        let expected: Vec<u64> = model.iter().filter(|((ns, _), _)| ns == "ns1").map(|(_, v)| *v).collect();
        assert_eq!(of_one, expected);
    }
}
