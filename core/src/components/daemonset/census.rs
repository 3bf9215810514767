//! What the nodes and the pods of one DaemonSet add up to.
//!
//! Upstream looks at all nodes in each sync. A set of 5,000 nodes is synced for each change of one of its pods, so here
//! a sync looks at the nodes that changed since the one before. Inputs: the set, changes of its pods and of nodes.
//! Outputs: sums, and the nodes on which something may be to do. Invariant (tested): the same as a look at all nodes.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::nodes::{target, verdict};
use super::{REVISION_LABEL, age};
use crate::components::client::{Cache, CacheEvent};
use crate::components::workload::pods::{Owned, controller_of, is_available, labels, number};
use crate::objects::lifecycle::{is_ending, is_ready, is_terminal, phase};
use crate::objects::{Json, Object, ObjectKey, Text};

/// What a node adds, or all of them together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct PodSums {
    pub(super) desired: i64,
    pub(super) current: i64,
    /// Nodes that have a pod and should not.
    pub(super) stray: i64,
    pub(super) ready: i64,
    pub(super) available: i64,
    pub(super) updated: i64,
    /// Nodes without an available pod that stays, as an update counts them.
    pub(super) unavailable: i64,
}

impl PodSums {
    fn add(&mut self, other: Self, sign: i64) {
        self.desired += sign * other.desired;
        self.current += sign * other.current;
        self.stray += sign * other.stray;
        self.ready += sign * other.ready;
        self.available += sign * other.available;
        self.updated += sign * other.updated;
        self.unavailable += sign * other.unavailable;
    }
}

/// What is known of a node, or of a name that pods are meant for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct NodePods {
    /// The pods that run on it or are meant for it, in order.
    pods: Vec<ObjectKey>,
    counts: PodSums,
}

/// The pods of all sets.
#[derive(Clone, Debug, Default)]
pub(super) struct Censuses {
    pods: Owned,
    /// By the UID of the set, from its first sync on.
    by_set: BTreeMap<Text, Census>,
}

impl Censuses {
    /// Follows a change of a pod.
    pub(super) fn update(&mut self, event: &CacheEvent) {
        self.pods.update(event);
        let uid = |pod: &Option<Object>| controller_of(pod.as_ref()?)?.get("uid").as_text().cloned();
        let (before, after) = (uid(&event.before), uid(&event.after));
        let stays = before == after;
        if let Some(census) = before.and_then(|uid| self.by_set.get_mut(&uid)) {
            census.note_pod(event.before.as_ref(), event.after.as_ref().filter(|_| stays));
        }
        if let Some(census) = after.filter(|_| !stays).and_then(|uid| self.by_set.get_mut(&uid)) {
            census.note_pod(None, event.after.as_ref());
        }
    }

    /// Follows a change of a set.
    pub(super) fn follow_set(&mut self, event: &CacheEvent) {
        let uid = |set: &Option<Object>| set.as_ref().map(|set| Text::from(set.uid()));
        let (before, after) = (uid(&event.before), uid(&event.after));
        if let Some(gone) = before.filter(|before| after.as_ref() != Some(before)) {
            self.by_set.remove(&gone);
        }
    }

    /// Notes that a Node appeared, went, or has other labels or taints.
    pub(super) fn note_node(&mut self, name: &str) {
        for census in self.by_set.values_mut() {
            census.changed.insert(Text::from(name));
        }
    }

    /// Tells whether a set has a pod on a node, without those that have ended and are being deleted.
    pub(super) fn is_on(&self, set: &Object, node: &str, pods: &Cache) -> bool {
        match self.by_set.get(set.uid()) {
            Some(census) => census.pods_on(node, pods).next().is_some(),
            None => self.begun(set, pods).pods_on(node, pods).next().is_some(),
        }
    }

    /// Returns the census of a set, up to date.
    pub(super) fn of(&mut self, set: &Object, hash: &str, (pods, nodes): (&Cache, &Cache), now: Timestamp) -> &Census {
        let mut census = self.by_set.remove(set.uid()).unwrap_or_else(|| self.begun(set, pods));
        census.count(set, hash, (pods, nodes), now);
        self.by_set.entry(Text::from(set.uid())).or_insert(census)
    }

    fn begun(&self, set: &Object, pods: &Cache) -> Census {
        let mut census = Census::default();
        for pod in self.pods.of(set.uid()) {
            census.note_pod(None, pods.get(&pod.namespace, &pod.name));
        }
        census
    }
}

/// The pods of one DaemonSet by node, and their sums.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Census {
    /// What the sums depend on beside nodes and pods: the spec of the template, `minReadySeconds`, the revision.
    basis: Option<(Json, i64, String)>,
    nodes: BTreeMap<Text, NodePods>,
    sums: PodSums,
    changed: BTreeSet<Text>,
    /// Nodes, and names without a Node, on which a pod may be to make or to delete.
    due: BTreeSet<Text>,
    /// Nodes whose pod is of another revision.
    outdated: BTreeSet<Text>,
    /// Nodes whose pod is ready and not yet available: it becomes so without a change.
    maturing: BTreeSet<Text>,
}

impl Census {
    /// Adds or removes a pod.
    fn note_pod(&mut self, before: Option<&Object>, after: Option<&Object>) {
        let (old, new) = (before.and_then(target), after.and_then(target));
        let Some(key) = after.or(before).map(Object::key) else { return };
        if old != new
            && let Some(entry) = old.as_ref().and_then(|node| self.nodes.get_mut(node))
            && let Ok(at) = entry.pods.binary_search(&key)
        {
            entry.pods.remove(at);
        }
        if let Some(node) = &new {
            let pods = &mut self.nodes.entry(node.clone()).or_default().pods;
            if let Err(at) = pods.binary_search(&key) {
                pods.insert(at, key);
            }
        }
        self.changed.extend(old.into_iter().chain(new));
    }

    /// Returns the pods of a node, without those that have ended and are being deleted.
    pub(super) fn pods_on<'a>(&'a self, node: &str, pods: &'a Cache) -> impl Iterator<Item = &'a Object> {
        let own = self.nodes.get(node).map_or(&[][..], |entry| &entry.pods);
        let own = own.iter().filter_map(|pod| pods.get(&pod.namespace, &pod.name));
        own.filter(|pod| !(is_terminal(pod) && is_ending(pod)))
    }

    /// Brings the sums up to date.
    fn count(&mut self, set: &Object, hash: &str, (pods, nodes): (&Cache, &Cache), now: Timestamp) {
        let spec = set.stable().at(&["spec", "template", "spec"]);
        let min_ready = number(set, &["spec", "minReadySeconds"], 0);
        let is_same = |basis: &(Json, i64, String)| basis.0 == *spec && basis.1 == min_ready && basis.2 == hash;
        if !self.basis.as_ref().is_some_and(is_same) {
            self.basis = Some((spec.clone(), min_ready, String::from(hash)));
            self.changed.extend(self.nodes.keys().cloned());
            self.changed.extend(nodes.keys().map(|key| key.name.clone()));
        }
        self.changed.append(&mut self.maturing);
        for name in core::mem::take(&mut self.changed) {
            self.count_node(name, set, (pods, nodes), now);
        }
    }

    fn count_node(&mut self, name: Text, set: &Object, (pods, nodes): (&Cache, &Cache), now: Timestamp) {
        let before = self.nodes.get(&name).map(|entry| entry.counts).unwrap_or_default();
        let (_, min_ready, hash) = self.basis.as_ref().expect("it is set before nodes are counted");
        let own: Vec<&Object> = self.pods_on(&name, pods).collect();
        let mut counts = PodSums::default();
        let is_new = |pod: &Object| labels(pod).get(REVISION_LABEL).as_str() == Some(hash.as_str());
        let is_here = |pod: &Object| is_available(pod, *min_ready, now);
        let (mut is_due, mut is_outdated) = (!own.is_empty(), false);
        let is_maturing = own.iter().any(|pod| is_ready(pod) && !is_here(pod));
        if let Some(node) = nodes.get("", &name) {
            let verdict = verdict(set, node);
            let staying = || own.iter().filter(|pod| !is_ending(pod));
            is_due = match own.is_empty() {
                true => verdict.should_run,
                false if verdict.should_stay => {
                    staying().count() > 1 || staying().any(|pod| matches!(phase(pod), "Failed" | "Succeeded"))
                }
                false => staying().next().is_some(),
            };
            let oldest = own.iter().min_by_key(|pod| age(pod));
            if verdict.should_run {
                let first = staying().next();
                is_outdated = first.is_some_and(|pod| !is_new(pod));
                counts.desired = 1;
                counts.unavailable = i64::from(!first.is_some_and(|pod| is_here(pod)));
                counts.current = i64::from(oldest.is_some());
                counts.ready = i64::from(oldest.is_some_and(|pod| is_ready(pod)));
                counts.available = i64::from(oldest.is_some_and(|pod| is_here(pod)));
                counts.updated = i64::from(oldest.is_some_and(|pod| is_new(pod)));
            } else {
                counts.stray = i64::from(oldest.is_some());
            }
        }
        self.sums.add(before, -1);
        self.sums.add(counts, 1);
        let marks = [(&mut self.due, is_due), (&mut self.outdated, is_outdated), (&mut self.maturing, is_maturing)];
        for (names, belongs) in marks {
            if belongs {
                names.insert(name.clone());
            } else {
                names.remove(&name);
            }
        }
        let is_known = self.nodes.get(&name).is_some_and(|entry| !entry.pods.is_empty());
        if is_known || counts != PodSums::default() {
            self.nodes.entry(name).or_default().counts = counts;
        } else {
            self.nodes.remove(&name);
        }
    }

    /// Returns the sums as of the last [`Self::count`].
    pub(super) const fn sums(&self) -> PodSums {
        self.sums
    }

    /// Returns the nodes, and the names without a Node, on which a pod may be to make or to delete, in order.
    pub(super) fn due(&self) -> Vec<Text> {
        self.due.iter().cloned().collect()
    }

    /// Returns the pods of other revisions that an update replaces, in order of their nodes.
    pub(super) fn outdated<'a>(&'a self, pods: &'a Cache) -> impl Iterator<Item = &'a Object> {
        self.outdated.iter().filter_map(|node| self.pods_on(node, pods).find(|pod| !is_ending(pod)))
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use jiff::{SignedDuration, Timestamp};

    use super::Census;
    use crate::chance::Chance;
    use crate::components::client::Cache;
    use crate::json;
    use crate::objects::time::to_time;
    use crate::objects::{Json, Object, ObjectKey, Text};

    fn set(chance: &mut Chance) -> Object {
        let min_ready = [0_i64, 30][usize::try_from(chance.below(2)).unwrap()];
        let selector = [json!({}), json!({"disk": "ssd"})][usize::try_from(chance.below(2)).unwrap()].clone();
        Object::new(
            json!({"metadata": {"name": "agent", "namespace": "ns", "uid": "u"},
                "spec": {"minReadySeconds": min_ready, "template": {"spec": {"nodeSelector": selector}}}}),
            1,
        )
    }

    fn pod(name: &str, chance: &mut Chance, now: Timestamp) -> Object {
        let mut any = |of: &[Json]| of[usize::try_from(chance.below(of.len() as u64)).unwrap()].clone();
        let mut pod = json!({"metadata": {"name": name, "namespace": "ns"}});
        pod.set(&["metadata", "labels", super::REVISION_LABEL], any(&[json!("old"), json!("new")]));
        pod.set(&["metadata", "deletionTimestamp"], any(&[Json::Null, Json::Null, json!("2026-01-01T00:00:00Z")]));
        pod.set(&["metadata", "creationTimestamp"], to_time(now));
        pod.set(&["spec", "nodeName"], any(&[Json::Null, json!("n0"), json!("n1"), json!("n2"), json!("gone")]));
        pod.set(&["status", "phase"], any(&[json!("Running"), json!("Running"), json!("Failed")]));
        let ready = any(&[json!("True"), json!("False")]);
        let at = to_time(now);
        pod.set(&["status", "conditions"], json!([{"type": "Ready", "status": ready, "lastTransitionTime": at}]));
        Object::new(pod, 1)
    }

    fn node(name: &str, chance: &mut Chance) -> Object {
        let mut node = json!({"metadata": {"name": name, "labels": {"disk": "ssd"}}});
        if chance.below(2) == 0 {
            node.set(&["metadata", "labels", "disk"], "hdd");
        }
        let effect = ["NoSchedule", "NoExecute", "PreferNoSchedule"][usize::try_from(chance.below(3)).unwrap()];
        node.set(&["spec", "taints"], json!([{"key": "example.com/x", "effect": effect}]));
        Object::new(node, 1)
    }

    #[test]
    fn what_was_counted_change_by_change_is_what_a_look_at_all_nodes_counts() {
        let mut chance = Chance::new(11);
        let (mut pods, mut nodes, mut census) = (Cache::default(), Cache::default(), Census::default());
        let (mut own, mut now, mut found) = (set(&mut chance), Timestamp::UNIX_EPOCH, 0);
        for _ in 0..4_000 {
            now += SignedDuration::from_secs(i64::try_from(chance.below(12)).unwrap());
            match chance.below(8) {
                0 => own = set(&mut chance),
                1 => {
                    let name = format!("n{}", chance.below(4));
                    if chance.below(3) == 0 {
                        let _ = nodes.remove(&ObjectKey::cluster(name.as_str()));
                    } else {
                        let _ = nodes.insert(node(&name, &mut chance));
                    }
                    census.changed.insert(Text::from(&name));
                }
                2 => {
                    let key = ObjectKey::namespaced("ns", format!("p{}", chance.below(8)));
                    let before = pods.remove(&key).map(|(_, before)| before);
                    census.note_pod(before.as_ref(), None);
                }
                _ => {
                    let after = pod(&format!("p{}", chance.below(8)), &mut chance, now);
                    let (_, before) = pods.insert(after.clone());
                    census.note_pod(before.as_ref(), Some(&after));
                }
            }
            if chance.below(3) > 0 {
                continue;
            }
            let hash = String::from(["old", "new"][usize::try_from(chance.below(2)).unwrap()]);
            census.count(&own, &hash, (&pods, &nodes), now);
            let mut anew = Census::default();
            pods.objects().for_each(|pod| anew.note_pod(None, Some(pod)));
            anew.count(&own, &hash, (&pods, &nodes), now);
            assert_eq!((census.sums(), &census.due, &census.outdated), (anew.sums(), &anew.due, &anew.outdated));
            assert_eq!(census.nodes, anew.nodes);
            found += census.sums().available * census.sums().stray;
        }
        assert!(found > 0);
    }
}
