//! How many pods of each ReplicaSet count, and how.
//!
//! Upstream looks at all pods of a set in each sync, and each change of one of its pods causes a sync. Here a sync
//! looks at the pods that changed since the one before. Inputs: changes of pods, and what a pod counts as. Outputs: the
//! keys of an owner's pods, and their sums. Invariant (tested): the same as a look at all pods.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::components::client::{Cache, CacheEvent};
use crate::components::workload::pods::{controller_of, labels};
use crate::objects::lifecycle::{is_active, is_ending, is_ready, is_terminal};
use crate::objects::{Json, Object, ObjectKey, Text};

/// What a pod counts as, or how many pods count as that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::components) struct PodTally {
    /// It has not ended, is not being deleted, and is selected.
    pub(in crate::components) active: u32,
    /// It is active, and has all labels of the template.
    pub(in crate::components) labelled: u32,
    /// It is active and ready.
    pub(in crate::components) ready: u32,
    /// It would be active, but is not selected.
    pub(in crate::components) lost: u32,
    /// It is being deleted, has not ended, and is selected.
    /// Source: pkg/controller/controller_utils.go (v1.34), `FilterTerminatingPods` and `FilterClaimedPods`.
    pub(in crate::components) terminating: u32,
}

/// Tells whether a pod has all labels of a set's template.
pub(in crate::components) fn has_labels(set: &Object, pod: &Object) -> bool {
    let template = set.stable().at(&["spec", "template", "metadata", "labels"]);
    template.fields().all(|(key, value)| labels(pod).get(key) == value)
}

impl PodTally {
    /// Tells what a pod of a set counts as.
    pub(in crate::components) fn of(set: &Object, pod: &Object, is_selected: bool) -> Self {
        let is_active = is_active(pod);
        let counts = is_active && is_selected;
        Self {
            active: counts.into(),
            labelled: (counts && has_labels(set, pod)).into(),
            ready: (counts && is_ready(pod)).into(),
            lost: (is_active && !is_selected).into(),
            terminating: (is_ending(pod) && !is_terminal(pod) && is_selected).into(),
        }
    }

    fn with(self, other: Self, change: fn(u32, u32) -> u32) -> Self {
        Self {
            active: change(self.active, other.active),
            labelled: change(self.labelled, other.labelled),
            ready: change(self.ready, other.ready),
            lost: change(self.lost, other.lost),
            terminating: change(self.terminating, other.terminating),
        }
    }
}

/// The pods of one owner.
#[derive(Clone, Debug, Default)]
struct OwnPods {
    /// What the sums depend on beside the pods.
    basis: Json,
    /// Those that were counted with what they count as.
    pods: BTreeMap<ObjectKey, Option<PodTally>>,
    sums: PodTally,
    changed: Vec<ObjectKey>,
}

impl OwnPods {
    fn set(&mut self, key: &ObjectKey, counted: Option<PodTally>) {
        let before = self.pods.insert(key.clone(), counted);
        if let Some(Some(before)) = before {
            self.sums = self.sums.with(before, |sum, one| sum - one);
        }
        match counted {
            Some(counted) => self.sums = self.sums.with(counted, |sum, one| sum + one),
            None if before == Some(None) => {}
            None => self.changed.push(key.clone()),
        }
    }
}

/// Pods by the UID of the controller that they belong to, counted.
#[derive(Clone, Debug, Default)]
pub(in crate::components) struct Tallies(BTreeMap<Text, OwnPods>);

impl Tallies {
    /// Follows a change of the pods' cache, for the pods that pass the test.
    pub(in crate::components) fn update_those(&mut self, event: &CacheEvent, is_worth: fn(&Object) -> bool) {
        let uid = |object: &Option<Object>| {
            let own = object.as_ref().filter(|object| is_worth(object)).and_then(controller_of);
            own.and_then(|owner| owner.get("uid").as_text().cloned())
        };
        let (before, after) = (uid(&event.before), uid(&event.after));
        let key = event.object().key();
        if let Some(owner) = before.filter(|before| after.as_ref() != Some(before))
            && let Some(own) = self.0.get_mut(&owner)
        {
            own.set(&key, Some(PodTally::default()));
            own.pods.remove(&key);
            if own.pods.is_empty() {
                self.0.remove(&owner);
            }
        }
        if let Some(owner) = after {
            self.0.entry(owner).or_default().set(&key, None);
        }
    }

    /// Returns the keys of the pods of an owner, in order.
    pub(in crate::components) fn of(&self, uid: &str) -> impl Iterator<Item = &ObjectKey> {
        self.0.get(uid).into_iter().flat_map(|own| own.pods.keys())
    }

    /// Returns the sums of an owner's pods; `basis` is what the test depends on beside the pod.
    pub(in crate::components) fn sums(
        &mut self,
        uid: &str,
        basis: &Json,
        pods: &Cache,
        counts_as: impl Fn(&Object) -> PodTally,
    ) -> PodTally {
        let Some(own) = self.0.get_mut(uid) else { return PodTally::default() };
        if own.basis != *basis {
            own.basis = basis.clone();
            own.changed = own.pods.keys().cloned().collect();
        }
        for key in core::mem::take(&mut own.changed) {
            if own.pods.contains_key(&key) {
                let pod = pods.get(&key.namespace, &key.name);
                own.set(&key, Some(pod.map(&counts_as).unwrap_or_default()));
            }
        }
        own.sums
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::{PodTally, Tallies};
    use crate::chance::Chance;
    use crate::components::client::{Cache, CacheEvent};
    use crate::json;
    use crate::objects::lifecycle::is_terminal;
    use crate::objects::{Json, Object, ObjectKey};

    #[test]
    fn a_pod_that_is_not_selected_is_neither_active_nor_terminating() {
        let set = Object::new(json!({"spec": {"template": {}}}), 1);
        let ending = Object::new(json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}), 1);
        for (is_selected, expected) in [(true, 1), (false, 0)] {
            let tally = PodTally::of(&set, &ending, is_selected);
            assert_eq!((tally.terminating, tally.active, tally.lost), (expected, 0, 0));
        }
    }

    #[test]
    fn sums_that_followed_all_changes_are_those_of_a_look_at_all_pods() {
        let mut chance = Chance::new(7);
        let mut pick = |count: u64| usize::try_from(chance.below(count)).unwrap();
        let (mut pods, mut tallies, mut seen) = (Cache::default(), Tallies::default(), PodTally::default());
        for _ in 0..5_000 {
            let key = ObjectKey::namespaced("ns", format!("p{}", pick(12)));
            let event = if pick(4) == 0 {
                let Some((slot, before)) = pods.remove(&key) else { continue };
                CacheEvent { before: Some(before), after: None, slot }
            } else {
                let mut pod = json!({"metadata": {"namespace": "ns", "name": key.name.as_str()}});
                pod.set(&["metadata", "labels", "app"], ["a", "b"][pick(2)]);
                pod.set(&["metadata", "deletionTimestamp"], [json!(null), json!("now")][pick(2)].clone());
                let owner = json!({"controller": true, "uid": ["u", "v"][pick(2)]});
                pod.set(&["metadata", "ownerReferences"], Json::array([owner].into()));
                pod.set(&["status", "phase"], ["Running", "Failed"][usize::from(pick(5) == 0)]);
                let after = Object::new(pod, 1);
                let (slot, before) = pods.insert(after.clone());
                CacheEvent { before, after: Some(after), slot }
            };
            tallies.update_those(&event, |pod| !is_terminal(pod));
            let label = json!(["a", "b"][pick(2)]);
            let set = Object::new(json!({"spec": {"template": {"metadata": {"labels": {"app": label.clone()}}}}}), 1);
            let counts_as =
                |pod: &Object| PodTally::of(&set, pod, *pod.stable().at(&["metadata", "labels", "app"]) == label);
            for uid in ["u", "v"] {
                let own = pods.objects().filter(|pod| {
                    let owner = &pod.stable().at(&["metadata", "ownerReferences"]).items()[0];
                    !is_terminal(pod) && owner.get("uid").as_str() == Some(uid)
                });
                let all = own.map(counts_as).fold(PodTally::default(), |sum, one| sum.with(one, |sum, one| sum + one));
                assert_eq!(tallies.sums(uid, &label, &pods, counts_as), all);
                seen = seen.with(all, |sum, one| sum + one);
            }
        }
        assert!(seen.active > 0 && seen.lost > 0 && seen.terminating > 0);
    }
}
