//! What the nodes and the pods of one DaemonSet add up to.
//!
//! Upstream looks at all nodes in each sync. A set of 5,000 nodes is synced for each change of one of its pods, so here
//! a sync looks at the nodes that changed since the one before. Inputs: the set, changes of its pods and of nodes.
//! Outputs: sums, and the nodes on which something may be to do. Invariant (tested): the same as a look at all nodes.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::age;
use super::nodes::{GENERATION_LABEL, generation, target, verdict};
use super::revisions::hash_of;
use super::rolling::allows_surge;
use crate::components::client::{Cache, CacheEvent, node_name};
use crate::components::workload::pods::{Owned, controller_of, is_available, labels, number, owner_key};
use crate::objects::lifecycle::{is_ending, is_ready, is_terminal, phase};
use crate::objects::selector::selects;
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
    /// Nodes and names without an available pod that stays, as an update counts them.
    pub(super) unavailable: i64,
    /// Nodes with an old pod beside a new one that is not available, or with more pods than these, as an update that
    /// surges counts them.
    pub(super) surging: i64,
    /// Nodes with an available pod, the old one if there is one, as an update that surges counts them.
    pub(super) serving: i64,
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
        self.surging += sign * other.surging;
        self.serving += sign * other.serving;
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
    /// How many pods are bound to a node, by the name of their set and the node's.
    bound: BTreeMap<(ObjectKey, Text), usize>,
}

impl Censuses {
    /// Follows a change of a pod.
    pub(super) fn update(&mut self, event: &CacheEvent) {
        self.pods.update(event);
        let place = |pod: &Option<Object>| {
            let pod = pod.as_ref()?;
            Some((owner_key(pod, "DaemonSet")?.0, node_name(pod)?.clone()))
        };
        if let Some(left) = place(&event.before)
            && let Some(count) = self.bound.get_mut(&left)
        {
            *count -= 1;
            if *count == 0 {
                self.bound.remove(&left);
            }
        }
        if let Some(taken) = place(&event.after) {
            *self.bound.entry(taken).or_default() += 1;
        }
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

    /// Tells whether any pod is bound to a node whose owner has the name of a set, be it this set or one before it.
    ///
    /// Source: daemon_controller.go (v1.34), `syncNodeUpdate`.
    pub(super) fn is_on(&self, set: &Object, node: &str) -> bool {
        self.bound.contains_key(&(set.key(), Text::from(node)))
    }

    /// Returns the census of a set, up to date.
    pub(super) fn of(&mut self, set: &Object, hash: &str, (pods, nodes): (&Cache, &Cache), now: Timestamp) -> &Census {
        let mut census = self.by_set.remove(set.uid()).unwrap_or_else(|| self.begun(set, pods));
        census.count(set, hash, (pods, nodes), now);
        self.by_set.entry(Text::from(set.uid())).or_insert(census)
    }

    /// Returns the keys of the pods that a set owns, be they selected or not.
    pub(super) fn owned_by(&self, set: &Object) -> impl Iterator<Item = &ObjectKey> {
        self.pods.of(set.uid())
    }

    fn begun(&self, set: &Object, pods: &Cache) -> Census {
        let mut census = Census::default();
        for pod in self.pods.of(set.uid()) {
            census.note_pod(None, pods.get(&pod.namespace, &pod.name));
        }
        census
    }
}

/// What the sums depend on beside nodes and pods.
#[derive(Clone, PartialEq, Debug)]
struct Basis {
    spec: Json,
    selector: Json,
    min_ready: i64,
    hash: String,
    /// The generation of the template, as pods are labelled with it.
    generation: Option<Text>,
    surges: bool,
}

impl Basis {
    fn of(set: &Object, hash: &str) -> Self {
        Self {
            spec: set.stable().at(&["spec", "template", "spec"]).clone(),
            selector: set.stable().at(&["spec", "selector"]).clone(),
            min_ready: number(set, &["spec", "minReadySeconds"], 0),
            hash: String::from(hash),
            generation: generation(set).as_text().cloned(),
            surges: allows_surge(set),
        }
    }

    /// Tells whether a pod is of the current template.
    ///
    /// Source: pkg/controller/daemon/util/daemonset_util.go (v1.34), `IsPodUpdated`.
    fn is_updated(&self, pod: &Object) -> bool {
        let of_generation = labels(pod).get(GENERATION_LABEL).as_text();
        (!self.hash.is_empty() && hash_of(pod) == self.hash)
            || self.generation.as_ref().is_some_and(|generation| of_generation == Some(generation))
    }
}

/// The pods of one DaemonSet by node, and their sums.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Census {
    basis: Option<Basis>,
    nodes: BTreeMap<Text, NodePods>,
    sums: PodSums,
    changed: BTreeSet<Text>,
    /// Nodes, and names without a Node, on which a pod may be to make or to delete.
    due: BTreeSet<Text>,
    /// Nodes, and names without a Node, that have a pod of another revision.
    outdated: BTreeSet<Text>,
    /// Nodes, and names without a Node, that have a pod that is not selected.
    lost: BTreeSet<Text>,
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

    fn is_selected(&self, pod: &Object) -> bool {
        self.basis.as_ref().is_none_or(|basis| selects(&basis.selector, labels(pod)))
    }

    fn noted_on<'a>(&'a self, node: &str, pods: &'a Cache) -> impl Iterator<Item = &'a Object> {
        let own = self.nodes.get(node).map_or(&[][..], |entry| &entry.pods);
        own.iter().filter_map(|pod| pods.get(&pod.namespace, &pod.name))
    }

    /// Returns the pods of a node, without those that are not selected or have ended and are being deleted.
    pub(super) fn pods_on<'a>(&'a self, node: &str, pods: &'a Cache) -> impl Iterator<Item = &'a Object> {
        self.noted_on(node, pods).filter(|pod| self.is_selected(pod) && !(is_terminal(pod) && is_ending(pod)))
    }

    /// Brings the sums up to date.
    fn count(&mut self, set: &Object, hash: &str, (pods, nodes): (&Cache, &Cache), now: Timestamp) {
        let basis = Basis::of(set, hash);
        if self.basis.as_ref() != Some(&basis) {
            self.basis = Some(basis);
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
        let basis = self.basis.as_ref().expect("it is set before nodes are counted");
        let own: Vec<&Object> = self.pods_on(&name, pods).collect();
        let is_here = |pod: &Object| is_available(pod, basis.min_ready, now);
        let verdict = nodes.get("", &name).map(|node| verdict(set, node));
        let should_run = verdict.is_some_and(|verdict| verdict.should_run);
        let staying: Vec<&Object> = own.iter().filter(|pod| !is_ending(pod)).copied().collect();
        let has_ended = || staying.iter().any(|pod| matches!(phase(pod), "Failed" | "Succeeded"));
        let is_due = match verdict {
            None => !own.is_empty(),
            Some(verdict) if own.is_empty() => verdict.should_run,
            Some(verdict) if verdict.should_stay => {
                staying.len() > 1 || (basis.surges && staying.is_empty()) || has_ended()
            }
            Some(_) => !staying.is_empty(),
        };
        let mut counts = PodSums::default();
        let oldest = own.iter().min_by_key(|pod| age(pod));
        if should_run {
            counts.desired = 1;
            counts.current = i64::from(oldest.is_some());
            counts.ready = i64::from(oldest.is_some_and(|pod| is_ready(pod)));
            counts.available = i64::from(oldest.is_some_and(|pod| is_here(pod)));
            counts.updated = i64::from(oldest.is_some_and(|pod| basis.is_updated(pod)));
        } else if verdict.is_some() {
            counts.stray = i64::from(oldest.is_some());
        }
        let mut is_outdated = false;
        if should_run || !own.is_empty() {
            let (new, old): (Vec<&Object>, Vec<&Object>) = staying.iter().partition(|pod| basis.is_updated(pod));
            let is_crowded = new.len() > 1 || old.len() > 1;
            is_outdated = !is_crowded && !old.is_empty();
            let only = if new.len() + old.len() == 1 { new.first().or(old.first()) } else { None };
            counts.unavailable = i64::from(!only.is_some_and(|pod| is_here(pod)));
            let both_here = || new.iter().all(|pod| is_here(pod));
            counts.surging = i64::from(is_crowded || (is_outdated && !new.is_empty() && !both_here()));
            let serves = old.first().or(new.first()).is_some_and(|pod| is_here(pod));
            counts.serving = i64::from(!is_crowded && serves);
        }
        let is_maturing = own.iter().any(|pod| is_ready(pod) && !is_here(pod));
        let is_lost = self.noted_on(&name, pods).any(|pod| !self.is_selected(pod));
        self.put(name, (before, counts), [is_due, is_outdated, is_maturing, is_lost]);
    }

    /// Notes what a node adds, and whether it is due, outdated, maturing, and has lost a pod.
    fn put(&mut self, name: Text, (before, counts): (PodSums, PodSums), belongs: [bool; 4]) {
        self.sums.add(before, -1);
        self.sums.add(counts, 1);
        let sets = [&mut self.due, &mut self.outdated, &mut self.maturing, &mut self.lost];
        for (names, belongs) in sets.into_iter().zip(belongs) {
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

    /// Returns the nodes that have a pod of another revision, in order.
    pub(super) fn outdated(&self) -> impl Iterator<Item = &Text> {
        self.outdated.iter()
    }

    /// Returns the pod of the current revision on a node, and the one of another; both stay.
    ///
    /// Source: pkg/controller/daemon/update.go (v1.34), `findUpdatedPodsOnNode`.
    pub(super) fn split<'a>(&'a self, node: &str, pods: &'a Cache) -> (Option<&'a Object>, Option<&'a Object>) {
        let is_updated = |pod: &Object| self.basis.as_ref().is_some_and(|basis| basis.is_updated(pod));
        let mut own = self.pods_on(node, pods).filter(|pod| !is_ending(pod));
        let first = own.next();
        let second = own.next();
        let one = |wanted: bool| [first, second].into_iter().flatten().find(|pod| is_updated(pod) == wanted);
        (one(true), one(false))
    }

    /// Returns the pods that are not selected, in order of their nodes.
    pub(super) fn lost<'a>(&'a self, pods: &'a Cache) -> impl Iterator<Item = &'a Object> {
        self.lost.iter().flat_map(|node| self.noted_on(node, pods)).filter(|pod| !self.is_selected(pod))
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use jiff::{SignedDuration, Timestamp};

    use super::super::REVISION_LABEL;
    use super::Census;
    use crate::chance::Chance;
    use crate::components::client::Cache;
    use crate::json;
    use crate::objects::time::to_time;
    use crate::objects::{Json, Object, ObjectKey, Text};

    fn set(chance: &mut Chance) -> Object {
        let min_ready = [0_i64, 30][usize::try_from(chance.below(2)).unwrap()];
        let selector = [json!({}), json!({"disk": "ssd"})][usize::try_from(chance.below(2)).unwrap()].clone();
        let mut set = json!({"metadata": {"name": "agent", "namespace": "ns", "uid": "u"},
            "spec": {"minReadySeconds": min_ready, "template": {"spec": {"nodeSelector": selector}}}});
        set.set(&["spec", "selector"], json!({"matchLabels": {"app": "agent"}}));
        if chance.below(2) == 0 {
            set.set(&["spec", "updateStrategy", "rollingUpdate", "maxSurge"], 1);
        }
        Object::new(set, 1)
    }

    fn pod(name: &str, chance: &mut Chance, now: Timestamp) -> Object {
        let mut any = |of: &[Json]| of[usize::try_from(chance.below(of.len() as u64)).unwrap()].clone();
        let mut pod = json!({"metadata": {"name": name, "namespace": "ns"}});
        pod.set(&["metadata", "labels", REVISION_LABEL], any(&[json!("old"), json!("new")]));
        pod.set(&["metadata", "labels", "app"], any(&[json!("agent"), json!("agent"), json!("other")]));
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
            let marks = |census: &Census| (census.due.clone(), census.outdated.clone(), census.lost.clone());
            assert_eq!((census.sums(), marks(&census)), (anew.sums(), marks(&anew)));
            assert_eq!(census.nodes, anew.nodes);
            found += census.sums().available * census.sums().stray * census.sums().surging;
        }
        assert!(found > 0);
    }
}
