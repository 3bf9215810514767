//! Creations and deletions that a controller has requested and not yet seen in its cache.
//!
//! Mirrors `UIDTrackingControllerExpectations` (pkg/controller/controller_utils.go, v1.34): after creations and
//! deletions a key is not acted on again until all of them were seen, or five minutes have passed. Inputs: requests and
//! changes of the cache by key, time. Outputs: whether a key may be acted on.

use alloc::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::components::client::CacheEvent;
use crate::objects::lifecycle::is_ending;
use crate::objects::{Object, ObjectKey, Text};

/// Source: pkg/controller/controller_utils.go (v1.34), `ExpectationsTimeout`.
const TIMEOUT: SignedDuration = SignedDuration::from_secs(300);

#[derive(Clone, Debug, Default)]
struct Expected {
    creations: usize,
    /// UIDs of pods whose deletion is expected.
    deletions: BTreeSet<Text>,
    since: Timestamp,
}

/// What is expected, by key.
#[derive(Clone, Debug, Default)]
pub(in crate::components) struct Expectations(BTreeMap<ObjectKey, Expected>);

impl Expectations {
    /// Tells whether a key may be acted on.
    pub(in crate::components) fn are_met(&self, key: &ObjectKey, now: Timestamp) -> bool {
        self.0.get(key).is_none_or(|expected| {
            (expected.creations == 0 && expected.deletions.is_empty()) || now.duration_since(expected.since) > TIMEOUT
        })
    }

    /// Replaces the expectations of a key.
    pub(in crate::components) fn expect(
        &mut self,
        key: &ObjectKey,
        creations: usize,
        deletions: impl IntoIterator<Item = Text>,
        now: Timestamp,
    ) {
        let deletions = deletions.into_iter().collect();
        self.0.insert(key.clone(), Expected { creations, deletions, since: now });
    }

    /// A creation was seen, or will not come.
    pub(in crate::components) fn created(&mut self, key: &ObjectKey) {
        if let Some(expected) = self.0.get_mut(key) {
            expected.creations = expected.creations.saturating_sub(1);
        }
    }

    /// A deletion was seen, or will not come.
    pub(in crate::components) fn deleted(&mut self, key: &ObjectKey, uid: &str) {
        if let Some(expected) = self.0.get_mut(key) {
            expected.deletions.remove(uid);
        }
    }

    /// Applies a change of a key's pod in the cache. The beginning of a deletion counts as the deletion.
    pub(in crate::components) fn follow(&mut self, key: &ObjectKey, event: &CacheEvent) {
        match &event.after {
            Some(pod) if !is_ending(pod) => {
                if event.before.is_none() {
                    self.created(key);
                }
            }
            _ => self.deleted(key, event.object().uid()),
        }
    }

    /// Forgets a key.
    pub(in crate::components) fn forget(&mut self, key: &ObjectKey) {
        self.0.remove(key);
    }

    /// Forgets the key of an owner that is gone, or in whose place a list shows another one of its name.
    ///
    /// Source: pkg/controller/replicaset/replica_set.go (v1.34), `updateRS` and `deleteRS`.
    pub(in crate::components) fn follow_owner(&mut self, event: &CacheEvent) {
        let uid = |owner: &Option<Object>| owner.as_ref().map(|owner| Text::from(owner.uid()));
        if event.before.is_some() && uid(&event.before) != uid(&event.after) {
            self.0.remove(&event.object().key());
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::Expectations;
    use crate::components::client::CacheEvent;
    use crate::json;
    use crate::objects::Object;

    #[test]
    fn an_owner_of_the_same_name_has_no_share_in_what_was_expected_of_the_one_before() {
        let set = |uid: &str| Some(Object::new(json!({"metadata": {"name": "web", "uid": uid}}), 1));
        for (before, after, is_kept) in
            [(set("a"), set("a"), true), (set("a"), set("b"), false), (set("a"), None, false), (None, set("a"), true)]
        {
            let event = CacheEvent { before, after, slot: 0 };
            let (key, now) = (event.object().key(), Timestamp::UNIX_EPOCH);
            let mut expectations = Expectations::default();
            expectations.expect(&key, 1, [], now);
            expectations.follow_owner(&event);
            assert_eq!(!expectations.are_met(&key, now), is_kept, "{event:?}");
        }
    }
}
