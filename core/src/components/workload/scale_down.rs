//! Which pods of a set go when it has too many: those whose loss matters least.
//!
//! Mirrors `ActivePodsWithRanks` of pkg/controller/controller_utils.go and `getPodsToDelete` of
//! pkg/controller/replicaset/replica_set.go (v1.34), and `ActivePods` for Jobs. Inputs: the pods of a set, how many
//! pods of its neighbours are on each node, the time. Output: the pods to delete.
//! Left out on purpose: pods that a neighbour selects and does not own.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use jiff::Timestamp;

use super::Tallies;
use super::pods::controller_of;
use crate::components::client::{Reflector, node_name};
use crate::objects::lifecycle::{condition, is_active, is_ready, phase};
use crate::objects::{Json, Object, Text, time};

/// How many active pods are on each node.
pub(in crate::components) type Crowds = BTreeMap<Text, usize>;

/// Counts the pods of all sets with the controller of this one; none if it has no controller.
pub(in crate::components) fn crowds(set: &Object, sets: &Reflector, pods: (&Tallies, &Reflector)) -> Crowds {
    let controller = |set: &Object| controller_of(set).and_then(|owner| owner.get("uid").as_text().cloned());
    let mut crowds = Crowds::new();
    let Some(own) = controller(set) else { return crowds };
    let (tallies, cache) = pods;
    for neighbour in sets.objects().filter(|set| controller(set).as_ref() == Some(&own)) {
        let pods = tallies.of(neighbour.uid()).filter_map(|key| cache.get(key));
        for pod in pods.filter(|pod| is_active(pod)) {
            *crowds.entry(node_name(pod).cloned().unwrap_or_default()).or_default() += 1;
        }
    }
    crowds
}

/// Returns so many pods whose loss matters least; `heeds_cost` is gate `PodDeletionCost`.
pub(in crate::components) fn least_missed(
    pods: Vec<Object>,
    count: usize,
    crowds: &Crowds,
    heeds_cost: bool,
    now: Timestamp,
) -> Vec<Object> {
    let mut sorted = sorted(pods, crowds, heeds_cost, Some(now));
    sorted.truncate(count);
    sorted
}

/// Returns pods in the order in which a Job lets them go: neither their cost nor their neighbours matter, and ages are
/// compared to the instant. Source: pkg/controller/controller_utils.go (v1.34), `ActivePods`.
pub(in crate::components) fn in_order_of_loss(pods: Vec<Object>) -> Vec<Object> {
    sorted(pods, &Crowds::new(), false, None)
}

/// Sorts pods; `now` for ages that count by their magnitude.
fn sorted(pods: Vec<Object>, crowds: &Crowds, heeds_cost: bool, now: Option<Timestamp>) -> Vec<Object> {
    // Upstream's order is no total one, which the sort of the library does not accept.
    let mut sorted: Vec<SurplusPod> = Vec::with_capacity(pods.len());
    for pod in pods {
        let candidate = SurplusPod::new(pod, crowds, heeds_cost);
        let place = sorted.partition_point(|other| !candidate.goes_before(other, now));
        sorted.insert(place, candidate);
    }
    sorted.into_iter().map(|candidate| candidate.pod).collect()
}

/// A pod with what is compared of it.
struct SurplusPod {
    /// Whether it has a node, how far it is, whether it is ready, its cost, and how many are on its node.
    first: (bool, u8, bool, i64, Reverse<usize>),
    ready_since: Option<Timestamp>,
    restarts: Reverse<(i64, i64)>,
    created: Option<Timestamp>,
    pod: Object,
}

impl SurplusPod {
    fn new(pod: Object, crowds: &Crowds, heeds_cost: bool) -> Self {
        let tree = pod.stable();
        let phase = match phase(&pod) {
            "Running" => 2,
            "Unknown" => 1,
            _ => 0,
        };
        let cost = tree.at(&["metadata", "annotations", "controller.kubernetes.io/pod-deletion-cost"]);
        let cost: i64 = cost.as_str().filter(|_| heeds_cost).and_then(|text| text.parse().ok()).unwrap_or(0);
        let crowd = crowds.get(node_name(&pod).map_or("", |name| name)).copied().unwrap_or(0);
        let at = |json: &Json| json.as_str().and_then(time::parse);
        Self {
            first: (node_name(&pod).is_some(), phase, is_ready(&pod), cost, Reverse(crowd)),
            ready_since: at(condition(&pod, "Ready").get("lastTransitionTime")),
            restarts: Reverse(restarts(tree)),
            created: at(tree.at(&["metadata", "creationTimestamp"])),
            pod,
        }
    }

    fn goes_before(&self, other: &Self, now: Option<Timestamp>) -> bool {
        if self.first != other.first {
            return self.first < other.first;
        }
        let (.., is_ready, _, _) = self.first;
        if is_ready && self.ready_since != other.ready_since {
            return self.is_younger(other, |pod| pod.ready_since, now);
        }
        if self.restarts != other.restarts {
            return self.restarts < other.restarts;
        }
        self.created != other.created && self.is_younger(other, |pod| pod.created, now)
    }

    /// Compares ages by their magnitude; the UID decides between those of one magnitude.
    fn is_younger(&self, other: &Self, since: fn(&Self) -> Option<Timestamp>, now: Option<Timestamp>) -> bool {
        let (Some(own), Some(others)) = (since(self), since(other)) else { return since(self).is_none() };
        let Some(now) = now else { return own > others };
        let (own, others) = (magnitude(own, now), magnitude(others, now));
        if own == others { self.pod.uid() < other.pod.uid() } else { own < others }
    }
}

/// The most restarts of a container, and of a sidecar.
fn restarts(pod: &Json) -> (i64, i64) {
    let count = |status: &Json| status.get("restartCount").as_i64().unwrap_or(0);
    let inits = pod.at(&["spec", "initContainers"]).items();
    let is_sidecar = |status: &&Json| {
        let of = |init: &&Json| init.get("name") == status.get("name");
        inits.iter().any(|init| of(&init) && init.get("restartPolicy").as_str() == Some("Always"))
    };
    let most = |counts: &mut dyn Iterator<Item = i64>| counts.max().unwrap_or(0).max(0);
    (
        most(&mut pod.at(&["status", "containerStatuses"]).items().iter().map(count)),
        most(&mut pod.at(&["status", "initContainerStatuses"]).items().iter().filter(is_sidecar).map(count)),
    )
}

/// The whole part of the binary logarithm of an age in nanoseconds; -1 for none.
fn magnitude(since: Timestamp, now: Timestamp) -> i32 {
    let nanos = now.duration_since(since).as_nanos();
    u128::try_from(nanos).ok().and_then(u128::checked_ilog2).map_or(-1, |log| i32::try_from(log).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use jiff::Timestamp;

    use super::{Crowds, in_order_of_loss, least_missed};
    use crate::json;
    use crate::objects::{Json, Object, Text};

    /// A ready pod on node `a` that was made at this time.
    fn pod(name: &str, created: &str, changes: &[(&[&str], Json)]) -> Object {
        let ready = json!({"type": "Ready", "status": "True", "lastTransitionTime": "2025-06-01T00:00:00Z"});
        let mut tree = json!({"kind": "Pod", "apiVersion": "v1",
            "metadata": {"name": name, "namespace": "default", "uid": name, "creationTimestamp": created},
            "spec": {"nodeName": "a"}, "status": {"phase": "Running", "conditions": [ready]}});
        for (path, value) in changes {
            tree.set(path, value.clone());
        }
        Object::new(tree, 0)
    }

    fn first(pods: &[Object], crowds: &[(&str, usize)]) -> String {
        let crowds: Crowds = crowds.iter().map(|(node, count)| (Text::from(*node), *count)).collect();
        let now: Timestamp = "2025-06-02T00:00:00Z".parse().expect("a time");
        let gone: Vec<Object> = least_missed(pods.to_vec(), 1, &crowds, true, now);
        String::from(gone[0].name())
    }

    const OLD: &str = "2025-05-01T00:00:00Z";

    #[test]
    fn of_pods_alike_the_one_on_the_fuller_node_goes() {
        let there = [(&["spec", "nodeName"][..], json!("b"))];
        let pods = [pod("x", OLD, &[]), pod("y", OLD, &there)];
        assert_eq!(first(&pods, &[("a", 1), ("b", 2)]), "y");
        assert_eq!(first(&pods, &[("a", 2), ("b", 1)]), "x");
    }

    #[test]
    fn ages_count_by_their_magnitude_and_then_the_uid_decides() {
        // A day and an hour or two less than that; half a day is another magnitude.
        let ready = |since: &str| {
            let ready = json!({"type": "Ready", "status": "True", "lastTransitionTime": since});
            [(&["status", "conditions"][..], json!([ready]))]
        };
        let pods = [pod("y", OLD, &ready("2025-06-01T02:00:00Z")), pod("x", OLD, &ready("2025-06-01T01:00:00Z"))];
        assert_eq!(first(&pods, &[]), "x");
        let pods = [pods[1].clone(), pod("z", OLD, &ready("2025-06-01T23:00:00Z"))];
        assert_eq!(first(&pods, &[]), "z");
    }

    #[test]
    fn of_pods_of_a_job_the_newer_goes_first_whatever_it_costs_and_whoever_is_beside_it() {
        let costly = [(&["metadata", "annotations"][..], json!({"controller.kubernetes.io/pod-deletion-cost": "9"}))];
        let ready = |since: &str| json!([{"type": "Ready", "status": "True", "lastTransitionTime": since}]);
        let later = [(&["status", "conditions"][..], ready("2025-06-01T00:00:01Z"))];
        let pods = [pod("a", OLD, &[]), pod("b", "2025-05-01T00:00:01Z", &costly), pod("c", OLD, &later)];
        let order: Vec<Object> = in_order_of_loss(pods.to_vec());
        assert_eq!(order.iter().map(Object::name).collect::<Vec<_>>(), ["c", "b", "a"]);
    }

    #[test]
    fn since_when_a_pod_is_not_ready_says_nothing_and_sidecars_restarts_do() {
        let unready = |since: &str| json!([{"type": "Ready", "status": "False", "lastTransitionTime": since}]);
        let sidecar = json!([{"name": "side", "restartPolicy": "Always"}]);
        let restarted = json!([{"name": "side", "restartCount": 1}]);
        let young = pod("x", OLD, &[(&["status", "conditions"], unready("2025-06-01T23:00:00Z"))]);
        let old = pod(
            "y",
            OLD,
            &[
                (&["status", "conditions"], unready(OLD)),
                (&["spec", "initContainers"], sidecar),
                (&["status", "initContainerStatuses"], restarted),
            ],
        );
        assert_eq!(first(&[young, old], &[]), "y");
    }
}
