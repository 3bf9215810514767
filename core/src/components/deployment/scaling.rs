//! How large the ReplicaSets of a Deployment are to be, and which old ones go.
//!
//! Mirrors `scale` and `cleanupDeployment` (pkg/controller/deployment/sync.go, v1.34), rolling.go and
//! `GetReplicaSetProportion` (pkg/controller/deployment/util/deployment_util.go). Inputs: the ReplicaSets of a sync.
//! Outputs: sizes, written one after the other, and the old ReplicaSets to delete.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use jiff::Timestamp;

use super::sets::{annotate, desired_of, most_of, readable_revision, revision_of};
use super::{Course, DeploymentPurpose, DeploymentStage, DeploymentSync, Deployments, size, status};
use crate::components::Because;
use crate::components::controller::KeyedRuntime;
use crate::components::workload::REPLICA_SETS;
use crate::components::workload::pods::number;
use crate::network::{Call, Verb};
use crate::objects::lifecycle::is_ending;
use crate::objects::{Object, ObjectKey};

/// Source: pkg/controller/deployment/util/deployment_util.go (v1.34), `HasRevisionHistoryLimit`: as many are no limit.
const NO_LIMIT: i64 = 2_147_483_647;

/// A ReplicaSet to scale.
#[derive(Clone, Debug)]
pub(super) struct Scaling {
    name: String,
    to: i64,
    /// Whether its annotations are written even if its size is right.
    marks: bool,
}

impl Scaling {
    pub(super) fn of(set: &Object, to: i64) -> Self {
        Self { name: String::from(set.name()), to, marks: false }
    }
}

fn available(set: &Object) -> i64 {
    number(set, &["status", "availableReplicas"], 0)
}

fn active<'a>(sets: impl Iterator<Item = &'a Object>) -> Vec<&'a Object> {
    sets.filter(|set| size(set) > 0).collect()
}

/// Sort key by age; names of one second are no order of time, revisions are.
pub(super) fn age(set: &Object) -> impl Ord + use<> {
    let created = set.stable().at(&["metadata", "creationTimestamp"]).as_text().cloned();
    (created, revision_of(set), String::from(set.name()))
}

/// Tells whether the wanted number changed since the ReplicaSets were last scaled.
///
/// Source: pkg/controller/deployment/sync.go (v1.34), `isScalingEvent`.
pub(super) fn is_scaling(work: &DeploymentSync) -> bool {
    work.all().filter(|set| size(set) > 0).filter_map(desired_of).any(|desired| desired != work.replicas())
}

/// Returns the new sizes after the wanted number changed, or while the rollout is paused.
pub(super) fn all(work: &DeploymentSync) -> Vec<Scaling> {
    let wanted = work.replicas();
    let running = active(work.all());
    match running[..] {
        [] => {
            let last = work.new.as_ref().or_else(|| work.old().max_by_key(|set| age(set)));
            return last.map(|set| Scaling::of(set, wanted)).into_iter().collect();
        }
        [one] => return Vec::from([Scaling::of(one, wanted)]),
        _ => {}
    }
    let is_full = |set: &Object| size(set) == wanted && desired_of(set) == Some(wanted) && available(set) == wanted;
    if work.new.as_ref().is_some_and(is_full) {
        return work.old().filter(|set| size(set) > 0).map(|set| Scaling::of(set, 0)).collect();
    }
    if work.is_rolling() { in_proportion(work, running) } else { Vec::new() }
}

/// Shares a change among the ReplicaSets by their sizes; the largest takes what is left over.
fn in_proportion(work: &DeploymentSync, mut sets: Vec<&Object>) -> Vec<Scaling> {
    let allowed = if work.replicas() > 0 { work.replicas() + work.surge() } else { 0 };
    let more = allowed - sets.iter().map(|set| size(set)).sum::<i64>();
    sets.sort_by_cached_key(|set| age(set));
    if more > 0 {
        sets.reverse();
    }
    // The sort is stable: of equal sizes the newest comes first when pods are added, and the oldest otherwise.
    sets.sort_by_key(|set| Reverse(size(set)));
    let mut added = 0;
    let mut sizes: Vec<i64> = Vec::new();
    for set in &sets {
        let left = more - added;
        let part = if more > 0 { share(work, set).min(left) } else { share(work, set).max(left) };
        let part = if left == 0 { 0 } else { part };
        added += part;
        sizes.push(size(set) + part);
    }
    if let Some(first) = sizes.first_mut() {
        *first = (*first + more - added).max(0);
    }
    let scaling = |(set, to): (&&Object, i64)| Scaling { marks: true, ..Scaling::of(set, to) };
    sets.iter().zip(sizes).map(scaling).collect()
}

/// Returns by how much a ReplicaSet changes when it keeps its share of all pods.
///
/// Source: pkg/controller/deployment/util/deployment_util.go (v1.34), `getReplicaSetFraction`.
fn share(work: &DeploymentSync, set: &Object) -> i64 {
    let size = size(set);
    if work.replicas() == 0 {
        return -size;
    }
    let before = most_of(set).filter(|most| *most != 0);
    let before = before.unwrap_or_else(|| work.tree.at(&["status", "replicas"]).as_i64().unwrap_or(0));
    if before == 0 {
        return 0;
    }
    let after = size * (work.replicas() + work.surge());
    (2 * after + before) / (2 * before) - size
}

/// Returns the new size of the ReplicaSet of the template in a rollout, if it changes.
///
/// Source: pkg/controller/deployment/rolling.go (v1.34), `reconcileNewReplicaSet`.
pub(super) fn new_set(work: &DeploymentSync) -> Vec<Scaling> {
    let Some(set) = &work.new else { return Vec::new() };
    let (now, wanted) = (size(set), work.replicas());
    let room = (wanted + work.surge() - work.all().map(size).sum::<i64>()).max(0);
    let to = if now > wanted { wanted } else { (now + room).min(wanted) };
    if to == now { Vec::new() } else { Vec::from([Scaling::of(set, to)]) }
}

/// Returns the new sizes of old ReplicaSets, as far as enough pods stay available: first without the pods that are not
/// available, then with fewer that are.
///
/// Source: pkg/controller/deployment/rolling.go (v1.34), `reconcileOldReplicaSets`.
pub(super) fn old_sets(work: &DeploymentSync) -> Vec<Scaling> {
    let old = active(work.old());
    let least = work.replicas() - work.max_unavailable();
    let missing = work.new.as_ref().map_or(0, |new| size(new) - available(new));
    let most = work.all().map(size).sum::<i64>() - least - missing;
    let mut found = Vec::new();
    if old.is_empty() || most <= 0 {
        return found;
    }
    let mut sizes: Vec<i64> = old.iter().map(|set| size(set)).collect();
    let mut gone = 0;
    for (set, size) in old.iter().zip(&mut sizes) {
        if gone >= most || *size == available(set) {
            continue;
        }
        let fewer = (most - gone).min(*size - available(set));
        // Pods beyond the size may be available still; upstream does not scale up for them.
        if fewer < 0 {
            return found;
        }
        gone += fewer;
        *size -= fewer;
        found.push(Scaling::of(set, *size));
    }
    let mut spare = old.iter().copied().chain(&work.new).map(available).sum::<i64>() - least;
    for (set, size) in old.iter().zip(&mut sizes) {
        let fewer = (*size).min(spare);
        if fewer > 0 {
            spare -= fewer;
            *size -= fewer;
            found.push(Scaling::of(set, *size));
        }
    }
    found
}

/// Returns the old ReplicaSets beyond the limit of the history that are in use no longer, the oldest revision first.
///
/// Source: pkg/controller/deployment/sync.go (v1.34), `cleanupDeployment`.
pub(super) fn surplus(work: &DeploymentSync) -> VecDeque<Object> {
    let limit = number(&work.deployment, &["spec", "revisionHistoryLimit"], NO_LIMIT);
    if limit == NO_LIMIT {
        return VecDeque::new();
    }
    let mut old: Vec<&Object> = work.old().filter(|set| !is_ending(set)).collect();
    sort_by_revision(&mut old);
    let count = old.len().saturating_sub(usize::try_from(limit).unwrap_or(0));
    let is_unused = |set: &&&Object| {
        number(set, &["status", "replicas"], 0) == 0
            && size(set) == 0
            && number(set, &["metadata", "generation"], 0) <= number(set, &["status", "observedGeneration"], 0)
    };
    old[..count].iter().filter(is_unused).map(|set| (*set).clone()).collect()
}

/// Sorts by revision, and by age where one is no number: that is no total order, so that the way of sorting matters.
/// It is that of Go for up to twelve.
///
/// Source: pkg/controller/deployment/util/deployment_util.go (v1.34), `ReplicaSetsByRevision`.
fn sort_by_revision(sets: &mut [&Object]) {
    let is_before = |one: &Object, other: &Object| match (readable_revision(one), readable_revision(other)) {
        (Some(first), Some(second)) if first != second => first < second,
        _ => age(one) < age(other),
    };
    for end in 1..sets.len() {
        for at in (1..=end).rev().take_while(|at| is_before(sets[*at], sets[*at - 1])).collect::<Vec<_>>() {
            sets.swap(at, at - 1);
        }
    }
}

impl Deployments {
    /// Writes the next of the sizes; true if none is left.
    pub(super) fn scale_next(
        &self,
        key: &ObjectKey,
        work: &mut DeploymentSync,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) -> bool {
        while let Some(Scaling { name, to, marks }) = work.scalings.pop_front() {
            let known = work.written.iter().chain(work.all()).find(|set| *set.name() == *name);
            let Some(set) = known.cloned() else { continue };
            let from = size(&set);
            let mut body = set.json();
            body.set(&["spec", "replicas"], to);
            annotate(&mut body, work);
            if (from == to && !marks) || body == set.json() {
                continue;
            }
            let fact = format!("spec.replicas of the Deployment is {}", work.replicas());
            let what = format!("scale from {from} to {to}");
            let about = format!("replicaset/{}", set.key());
            work.because = Some(runtime.decide(about, what, Vec::from([Because::Fact(fact)])));
            let call = Call::new(Verb::Update, REPLICA_SETS, &key.namespace, set.name()).body(body);
            runtime.send(key, DeploymentPurpose::Scale { name, from, to }, call, work.because, now);
            return false;
        }
        true
    }

    /// Deletes the next of the old ReplicaSets that are too many; true if none is left.
    pub(super) fn delete_next(
        &self,
        key: &ObjectKey,
        work: &mut DeploymentSync,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) -> bool {
        let Some(set) = work.surplus.pop_front() else { return true };
        let limit = number(&work.deployment, &["spec", "revisionHistoryLimit"], NO_LIMIT);
        let fact = format!("it has no pod, and spec.revisionHistoryLimit of the Deployment is {limit}");
        let because = runtime.decide(format!("replicaset/{}", set.key()), "delete", Vec::from([Because::Fact(fact)]));
        let options = crate::json!({"kind": "DeleteOptions", "apiVersion": "v1"});
        let call = Call::new(Verb::Delete, REPLICA_SETS, &key.namespace, set.name()).body(options);
        runtime.send(key, DeploymentPurpose::Delete, call, Some(because), now);
        false
    }

    /// Begins to scale: the sizes, and what comes after them.
    pub(super) fn begin_scaling(work: &mut DeploymentSync, scalings: Vec<Scaling>, then: DeploymentStage) {
        work.scalings = scalings.into();
        work.stage = DeploymentStage::Scaling;
        work.then = then;
    }

    /// Finds the old ReplicaSets that are too many, once the rollout is complete or while it is paused.
    pub(super) fn clean_up(work: &mut DeploymentSync) {
        // A paused Deployment does not wait for the rollout.
        if work.course == Course::Resize || status::is_complete(work, work.tree.get("status")) {
            work.surplus = surplus(work);
        }
        work.stage = DeploymentStage::Deleting;
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::super::DeploymentSync;
    use super::{all, old_sets, surplus};
    use crate::json;
    use crate::objects::{Json, Object};

    /// Makes a ReplicaSet: its size, how many of its pods are available, and the most pods when it was last scaled.
    fn set(at: usize, (size, available, most): (i64, i64, i64)) -> Object {
        let created = format!("2026-01-01T00:00:0{at}Z");
        let mut set = json!({"metadata": {"name": format!("s{at}"), "creationTimestamp": created}});
        set.set(&["metadata", "annotations", "deployment.kubernetes.io/max-replicas"], format!("{most}"));
        set.set(&["metadata", "annotations", "deployment.kubernetes.io/revision"], format!("{}", at + 1));
        set.set(&["spec", "replicas"], size);
        set.set(&["status", "availableReplicas"], available);
        Object::new(set, 1)
    }

    /// Makes a sync over ReplicaSets, the newest of them last.
    fn work(replicas: i64, surge: Json, unavailable: Json, sets: &[(i64, i64, i64)]) -> DeploymentSync {
        let mut tree = json!({"metadata": {"name": "web"}});
        tree.set(&["spec", "replicas"], replicas);
        tree.set(&["spec", "strategy", "rollingUpdate"], json!({"maxSurge": surge, "maxUnavailable": unavailable}));
        let sets: Vec<Object> = sets.iter().enumerate().map(|(at, numbers)| set(at, *numbers)).collect();
        let mut work = DeploymentSync::of(Object::new(tree, 1), sets.clone());
        work.new = sets.last().cloned();
        work
    }

    fn told(scalings: Vec<super::Scaling>) -> Vec<(String, i64)> {
        scalings.into_iter().map(|one| (one.name, one.to)).collect()
    }

    #[test]
    fn a_change_in_a_rollout_is_shared_by_size() {
        // The numbers follow from the shares: 5 of 10 pods is half of 20.
        let cases = [
            (20, [(5, 5, 10), (5, 5, 10)], [("s1", 10), ("s0", 10)]),
            (5, [(8, 8, 10), (2, 2, 10)], [("s0", 4), ("s1", 1)]),
            (12, [(5, 5, 10), (5, 5, 10)], [("s1", 6), ("s0", 6)]),
            (11, [(5, 5, 10), (5, 5, 10)], [("s1", 6), ("s0", 5)]),
        ];
        for (replicas, sets, expected) in cases {
            let found = told(all(&work(replicas, json!(0), json!(1), &sets)));
            let expected: Vec<(String, i64)> = expected.iter().map(|(name, to)| (String::from(*name), *to)).collect();
            assert_eq!(found, expected, "{replicas} {sets:?}");
        }
    }

    #[test]
    fn old_pods_go_first_that_are_not_available_and_then_one_by_one() {
        let found = told(old_sets(&work(4, json!(1), json!(1), &[(4, 3, 5), (1, 1, 5)])));
        assert_eq!(found, [(String::from("s0"), 3), (String::from("s0"), 2)]);
    }

    #[test]
    fn old_sets_beyond_the_limit_go_unless_the_controller_of_sets_has_not_seen_their_last_change() {
        let mut work = work(1, json!(1), json!(0), &[(0, 0, 1), (0, 0, 1), (0, 0, 1), (1, 1, 1)]);
        let mut tree = work.deployment.json();
        tree.set(&["spec", "revisionHistoryLimit"], 1);
        work.deployment = Object::new(tree, 1);
        assert_eq!(surplus(&work).iter().map(Object::name).collect::<Vec<_>>(), ["s0", "s1"]);
        let mut seen = work.sets[0].json();
        seen.set(&["metadata", "generation"], 2);
        work.sets[0] = Object::new(seen, 1);
        assert_eq!(surplus(&work).iter().map(Object::name).collect::<Vec<_>>(), ["s1"]);
    }
}
