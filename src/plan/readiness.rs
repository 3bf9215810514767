//! How many Pods of each workload are ready while nodes are lost: what its Service has left.
//!
//! Inputs: the Pods at the beginning, then each write of one. Outputs: for each workload the number at the beginning,
//! the least one, and when it was whole again. A Pod that is being deleted counts as not ready, as in EndpointSlices.

use std::collections::BTreeMap;

use jiff::Timestamp;
use nodeproof_core::network::Resource;
use nodeproof_core::objects::lifecycle::{controller_of, is_condition_true};
use nodeproof_core::objects::{Json, Text};

use super::cluster::Scene;
use super::observation::uid;

const REPLICA_SETS: Resource = Resource::of("apps", "v1", "replicasets");

/// Kind, namespace and name.
pub(super) type Workload = (Text, Text, Text);

/// How many Pods of a workload were ready.
#[derive(Debug, Clone, Default)]
pub(super) struct ReadyPods {
    /// At the beginning.
    pub(super) before: usize,
    now: usize,
    /// The least number, and since when.
    pub(super) least: Option<(usize, Timestamp)>,
    /// Since when there are as many as at the beginning, after there were fewer.
    pub(super) whole: Option<Timestamp>,
}

/// How many Pods of each workload were ready.
#[derive(Debug, Default)]
pub(super) struct Readiness {
    pub(super) workloads: BTreeMap<Workload, ReadyPods>,
    /// The workload of each ReplicaSet that has one, by uid.
    replica_sets: BTreeMap<Text, Workload>,
    /// The ready Pods, by uid, with their workload.
    ready: BTreeMap<Text, Workload>,
}

impl Readiness {
    /// Reads what is there at the beginning.
    pub(super) fn begin(scene: &mut Scene, pods: &[Json]) -> Result<Self, String> {
        let mut own = Self::default();
        for set in scene.list(REPLICA_SETS)? {
            if let Some(owner) = controller_of(&set) {
                own.replica_sets.insert(uid(&set), workload(&set, owner));
            }
        }
        for pod in pods {
            own.take(pod, false, Timestamp::UNIX_EPOCH);
        }
        for ready in own.workloads.values_mut() {
            *ready = ReadyPods { before: ready.now, now: ready.now, ..ReadyPods::default() };
        }
        Ok(own)
    }

    /// Takes a Pod as it is now.
    pub(super) fn take(&mut self, pod: &Json, is_gone: bool, at: Timestamp) {
        let is_ending = is_gone || !pod.at(&["metadata", "deletionTimestamp"]).is_null();
        let is_ready = !is_ending && is_condition_true(pod, "Ready");
        let uid = uid(pod);
        match (self.ready.contains_key(&uid), is_ready) {
            (false, true) => {
                let Some(workload) = self.workload_of(pod) else { return };
                let ready = self.workloads.entry(workload.clone()).or_default();
                ready.now += 1;
                if ready.now >= ready.before && ready.least.is_some() {
                    ready.whole = ready.whole.or(Some(at));
                }
                self.ready.insert(uid, workload);
            }
            (true, false) => {
                let Some(workload) = self.ready.remove(&uid) else { return };
                let ready = self.workloads.entry(workload).or_default();
                ready.now -= 1;
                if ready.now < ready.before {
                    ready.whole = None;
                    ready.least = ready.least.filter(|(least, _)| *least <= ready.now).or(Some((ready.now, at)));
                }
            }
            (true, true) | (false, false) => {}
        }
    }

    fn workload_of(&self, pod: &Json) -> Option<Workload> {
        let owner = controller_of(pod)?;
        let set = owner.get("uid").as_text().and_then(|uid| self.replica_sets.get(uid));
        Some(set.cloned().unwrap_or_else(|| workload(pod, owner)))
    }
}

/// Names the owner of an object.
fn workload(object: &Json, owner: &Json) -> Workload {
    let kind = owner.get("kind").as_text().cloned().unwrap_or_default();
    let namespace = object.at(&["metadata", "namespace"]).as_text().cloned().unwrap_or_default();
    (kind, namespace, owner.get("name").as_text().cloned().unwrap_or_default())
}
