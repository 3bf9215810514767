//! The objects of an informer cache: found by hash, listed by key.
//!
//! Inputs: objects. Outputs: their places, and the order of their keys. Invariant: an object keeps its [`CacheIndex`]
//! until it is removed, so that a controller can hold its own state of each object in a plain `Vec`.
//! The hash depends on the key alone and never decides an order.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::objects::{HeartbeatStamp, Object, ObjectKey, Text, fnv};

/// The place of an object in its cache.
pub type CacheIndex = u32;

const EMPTY: u32 = u32::MAX;
const REMOVED: u32 = u32::MAX - 1;

/// The objects of one list.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    objects: Vec<Option<Object>>,
    names: Vec<ObjectKey>,
    free: Vec<CacheIndex>,
    ordered: BTreeMap<ObjectKey, CacheIndex>,
    /// Open addressing with linear probing; its length is a power of two.
    table: Vec<u32>,
    /// Entries of the table that are not `EMPTY`.
    used: usize,
    /// The slots of the objects that came with a hint, by their places in the server's store; possibly outdated.
    hinted: Vec<CacheIndex>,
}

impl Cache {
    /// Returns an object.
    #[must_use]
    pub fn get(&self, namespace: &str, name: &str) -> Option<&Object> {
        self.find(namespace, name).and_then(|slot| self.at(slot))
    }

    /// Returns the object at a place.
    #[must_use]
    pub fn at(&self, slot: CacheIndex) -> Option<&Object> {
        self.objects.get(slot as usize)?.as_ref()
    }

    /// Returns the place of an object.
    #[must_use]
    pub fn find(&self, namespace: &str, name: &str) -> Option<CacheIndex> {
        if self.table.is_empty() {
            return None;
        }
        let mask = self.table.len() - 1;
        let mut at = hash(namespace, name) & mask;
        loop {
            match self.table[at] {
                EMPTY => return None,
                REMOVED => {}
                slot => {
                    let key = &self.names[slot as usize];
                    if key.name == *name && key.namespace == *namespace {
                        return Some(slot);
                    }
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// Puts an object in and returns its place and what stood there.
    pub fn insert(&mut self, object: Object) -> (CacheIndex, Option<Object>) {
        if let Some(slot) = self.follow_hint(&object) {
            return (slot, self.objects[slot as usize].replace(object));
        }
        let place = object.place();
        let (slot, before) = self.insert_by_name(object);
        if let Some(place) = place {
            if self.hinted.len() <= place as usize {
                self.hinted.resize(place as usize + 1, EMPTY);
            }
            self.hinted[place as usize] = slot;
        }
        (slot, before)
    }

    /// Gives an object its next stamp in place; `None` if its hint does not lead to the revision before.
    pub fn renew(&mut self, before: HeartbeatStamp, stamp: HeartbeatStamp) -> Option<CacheIndex> {
        let slot = *self.hinted.get(stamp.place()? as usize)?;
        // No two objects ever have one revision, so this is the same object.
        let object = self.objects.get_mut(slot as usize)?.as_mut().filter(|object| object.stamp() == before)?;
        object.take(stamp);
        Some(slot)
    }

    /// Finds by its hint the slot of an object that differs from the cached one by a heartbeat only.
    fn follow_hint(&self, object: &Object) -> Option<CacheIndex> {
        let slot = *self.hinted.get(object.place()? as usize)?;
        let before = self.at(slot)?;
        before.stable().is_same_allocation(object.stable()).then_some(slot)
    }

    fn insert_by_name(&mut self, object: Object) -> (CacheIndex, Option<Object>) {
        let namespace = object.stable().at(&["metadata", "namespace"]).as_str().unwrap_or("");
        if let Some(slot) = self.find(namespace, object.name()) {
            return (slot, self.objects[slot as usize].replace(object));
        }
        let key = object.key();
        if (self.used + 1) * 4 > self.table.len() * 3 {
            self.grow();
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.objects.push(None);
            self.names.push(ObjectKey::default());
            u32::try_from(self.objects.len() - 1).expect("fewer than 2^32 objects")
        });
        self.enter(&key.namespace, &key.name, slot);
        self.objects[slot as usize] = Some(object);
        self.names[slot as usize] = key.clone();
        self.ordered.insert(key, slot);
        (slot, None)
    }

    /// Takes an object out and returns its place and itself.
    pub fn remove(&mut self, key: &ObjectKey) -> Option<(CacheIndex, Object)> {
        let slot = self.ordered.remove(key)?;
        let mask = self.table.len() - 1;
        let mut at = hash(&key.namespace, &key.name) & mask;
        while self.table[at] != slot {
            at = (at + 1) & mask;
        }
        self.table[at] = REMOVED;
        self.names[slot as usize] = ObjectKey::default();
        self.free.push(slot);
        self.objects[slot as usize].take().map(|object| (slot, object))
    }

    /// Returns the objects in order of their keys.
    pub fn objects(&self) -> impl ExactSizeIterator<Item = &Object> {
        self.ordered.values().map(|slot| self.objects[*slot as usize].as_ref().expect("a listed slot is taken"))
    }

    /// Returns the keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &ObjectKey> {
        self.ordered.keys()
    }

    /// Returns the keys with the objects' places, in order.
    pub fn slots(&self) -> impl ExactSizeIterator<Item = (&Text, CacheIndex)> {
        self.ordered.iter().map(|(key, slot)| (&key.name, *slot))
    }

    /// Returns the number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ordered.len()
    }

    /// Tells whether there is no object.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ordered.is_empty()
    }

    fn enter(&mut self, namespace: &str, name: &str, slot: CacheIndex) {
        let mask = self.table.len() - 1;
        let mut at = hash(namespace, name) & mask;
        while self.table[at] != EMPTY {
            at = (at + 1) & mask;
        }
        self.table[at] = slot;
        self.used += 1;
    }

    fn grow(&mut self) {
        let wanted = (self.ordered.len() + 1) * 2;
        self.table = alloc::vec![EMPTY; wanted.next_power_of_two().max(16)];
        self.used = 0;
        let ordered = core::mem::take(&mut self.ordered);
        for (key, slot) in &ordered {
            self.enter(&key.namespace, &key.name, *slot);
        }
        self.ordered = ordered;
    }
}

/// A hash whose low bits depend on all characters.
fn hash(namespace: &str, name: &str) -> usize {
    let hash = fnv::add(fnv::START, name.bytes());
    let hash = fnv::add(hash.wrapping_mul(31), namespace.bytes());
    usize::try_from((hash ^ (hash >> 32)) & 0xffff_ffff).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::format;
    use alloc::vec::Vec;

    use super::Cache;
    use crate::chance::Chance;
    use crate::json;
    use crate::objects::{Object, ObjectKey};

    #[test]
    fn the_cache_holds_what_a_map_holds_and_slots_stay() {
        let mut cache = Cache::default();
        let mut map: BTreeMap<ObjectKey, (u32, u64)> = BTreeMap::new();
        let mut chance = Chance::new(3);
        for version in 1..5_000_u64 {
            let name = format!("w{}", chance.below(200));
            let key = ObjectKey::namespaced("ns", name.as_str());
            if chance.below(3) == 0 {
                let removed = cache.remove(&key).map(|(slot, object)| (slot, object.resource_version()));
                assert_eq!(removed, map.remove(&key));
            } else {
                let object = Object::new(json!({"metadata": {"namespace": "ns", "name": name}}), version);
                let (slot, before) = cache.insert(object);
                let old = map.insert(key, (slot, version));
                assert_eq!(before.map(|object| object.resource_version()), old.map(|(_, version)| version));
                assert!(old.is_none_or(|(place, _)| place == slot));
            }
            assert_eq!(cache.len(), map.len());
        }
        let listed: Vec<u64> = cache.objects().map(Object::resource_version).collect();
        assert_eq!(listed, map.values().map(|(_, version)| *version).collect::<Vec<_>>());
        assert!(cache.get("ns", "absent").is_none());
    }
}
