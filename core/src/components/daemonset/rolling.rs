//! How a DaemonSet replaces the pods of an old template: in their place, or by new ones beside them first.
//!
//! Mirrors `rollingUpdate` (pkg/controller/daemon/update.go, v1.34). Inputs: the set and its pods. Outputs: pods to
//! delete, and nodes that get a new pod beside the old one.

use alloc::vec::Vec;

use jiff::Timestamp;

use super::nodes::verdict;
use super::{DaemonSetPurpose, DaemonSetSync, DaemonSets, NODE_CACHE, PODS_CACHE};
use crate::components::controller::KeyedRuntime;
use crate::components::workload::pods::{Rounding, is_available, number, scaled};
use crate::objects::{Object, ObjectKey, Text};

/// Returns how many nodes may have a pod too many, of so many.
///
/// Source: pkg/controller/daemon/util/daemonset_util.go (v1.34), `SurgeCount`.
fn surge(set: &Object, nodes: i64) -> i64 {
    let strategy = set.stable().at(&["spec", "updateStrategy"]);
    if strategy.get("type").as_str() == Some("OnDelete") {
        return 0;
    }
    scaled(strategy.at(&["rollingUpdate", "maxSurge"]), "0", nodes, Rounding::Up)
}

/// Tells whether a new pod may run beside an old one.
///
/// Source: as [`surge`], `AllowsSurge`.
pub(super) fn allows_surge(set: &Object) -> bool {
    surge(set, 1) > 0
}

impl DaemonSets {
    /// Finds the pods of old templates to replace now.
    pub(super) fn roll(
        &mut self,
        key: &ObjectKey,
        work: &mut DaemonSetSync,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        let strategy = work.set.stable().at(&["spec", "updateStrategy"]);
        if strategy.get("type").as_str() == Some("OnDelete") || !self.expectations.are_met(key, now) {
            return;
        }
        let sums = self.census(work, runtime, now).sums();
        let surge = surge(&work.set, sums.desired);
        let (nodes, doomed) = if surge == 0 {
            let wanted = strategy.at(&["rollingUpdate", "maxUnavailable"]);
            let allowed = scaled(wanted, "1", sums.desired, Rounding::Up);
            let allowed = if sums.desired > 0 { allowed.max(1) } else { allowed };
            (Vec::new(), self.in_place(work, allowed - sums.unavailable, runtime, now))
        } else if let Some(found) = self.beside(work, surge, runtime, now) {
            found
        } else {
            work.failed = true;
            return;
        };
        if nodes.is_empty() && doomed.is_empty() {
            return;
        }
        work.doomed = doomed;
        work.why = "the template has changed";
        self.begin_changes(key, work, nodes, now);
    }

    /// Returns the old pods to delete: all that are not available, and so many that are.
    fn in_place(
        &mut self,
        work: &DaemonSetSync,
        more: i64,
        runtime: &KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) -> Vec<Object> {
        let min_ready = number(&work.set, &["spec", "minReadySeconds"], 0);
        let pods = runtime.cache(PODS_CACHE).cache();
        let census = self.census(work, runtime, now);
        let outdated = census.outdated().filter_map(|node| match census.split(node, pods) {
            (None, Some(old)) => Some(old.clone()),
            _ => None,
        });
        let (good, broken): (Vec<Object>, Vec<Object>) = outdated.partition(|pod| is_available(pod, min_ready, now));
        let more = usize::try_from(more).unwrap_or(0);
        broken.into_iter().chain(good.into_iter().take(more)).collect()
    }

    /// Returns the nodes that get a new pod beside the old one, and the old pods that are no longer needed; `None` if
    /// an old pod without a new one is on a node that is gone: upstream the rollout then waits for the end of the pod.
    fn beside(
        &mut self,
        work: &DaemonSetSync,
        most: i64,
        runtime: &KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) -> Option<(Vec<Text>, Vec<Object>)> {
        let min_ready = number(&work.set, &["spec", "minReadySeconds"], 0);
        let pods = runtime.cache(PODS_CACHE).cache();
        let census = self.census(work, runtime, now);
        let (mut nodes, mut candidates) = (Vec::new(), Vec::new());
        let (mut doomed, mut misplaced) = (Vec::new(), Vec::new());
        for name in census.outdated() {
            let (new, old) = census.split(name, pods);
            let Some(old) = old else { continue };
            let Some(new) = new else {
                let node = runtime.cache(NODE_CACHE).cache().get("", name)?;
                let (is_here, stays) = (is_available(old, min_ready, now), verdict(&work.set, node).should_run);
                match (stays, is_here) {
                    (true, false) => nodes.push(name.clone()),
                    (true, true) => candidates.push(name.clone()),
                    (false, false) => doomed.push(old.clone()),
                    (false, true) => misplaced.push(old.clone()),
                }
                continue;
            };
            if is_available(new, min_ready, now) {
                doomed.push(old.clone());
            }
        }
        let sums = census.sums();
        let (left, spare) = (most - sums.surging, sums.serving - sums.desired);
        let count = |number: i64| usize::try_from(number).unwrap_or(0);
        nodes.extend(candidates.into_iter().take(count(left)));
        doomed.extend(misplaced.into_iter().take(count(spare)));
        Some((nodes, doomed))
    }
}
