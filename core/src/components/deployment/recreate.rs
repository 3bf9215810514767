//! How a Deployment with the strategy Recreate is rolled out, and what it waits for: no new pod is made before every
//! old one has ended, and one that is Terminating on a dead node has not.
//!
//! Mirrors pkg/controller/deployment/recreate.go and `deletePod` of deployment_controller.go (v1.34). Inputs: the
//! caches and changes of pods. Outputs: sizes of ReplicaSets, and the Deployment to sync when its last pod is gone.

use alloc::vec::Vec;

use super::scaling::Scaling;
use super::{
    Course, DEPLOYMENT_CACHE, DeploymentPurpose, DeploymentStage, DeploymentSync, Deployments, PODS_CACHE, SETS, size,
};
use crate::components::client::CacheEvent;
use crate::components::controller::KeyedRuntime;
use crate::components::workload::claims::selected;
use crate::components::workload::pods::{number, owner_key};
use crate::objects::lifecycle::is_terminal;
use crate::objects::{Object, ObjectKey};

impl Deployments {
    /// Tells whether a pod of an old template has not ended, be it Terminating.
    ///
    /// Source: pkg/controller/deployment/recreate.go (v1.34), `oldPodsRunning`.
    fn old_pods_run(&self, work: &DeploymentSync, runtime: &KeyedRuntime<DeploymentPurpose>) -> bool {
        let pods = runtime.cache(PODS_CACHE);
        let counts = |pod: &Object| selected(&work.deployment, pod) && !is_terminal(pod);
        let runs = |pod: &ObjectKey| pods.get(pod).is_some_and(counts);
        work.old().any(|set| number(set, &["status", "replicas"], 0) > 0 || self.pods.of(set.uid()).any(runs))
    }

    /// Scales the old ReplicaSets to zero, or lets the new one be found when no old pod runs.
    pub(super) fn recreate(&self, work: &mut DeploymentSync, runtime: &KeyedRuntime<DeploymentPurpose>) {
        let old: Vec<Scaling> = work.old().filter(|set| size(set) > 0).map(|set| Scaling::of(set, 0)).collect();
        if !old.is_empty() || self.old_pods_run(work, runtime) {
            Self::begin_scaling(work, old, DeploymentStage::Status);
        } else {
            work.course = Course::RecreateNew;
            work.stage = if work.new.is_some() { DeploymentStage::Found } else { DeploymentStage::Find };
        }
    }

    /// Follows the pods of ReplicaSets; a Deployment is synced when pods that it recreates are gone.
    pub(super) fn follow_pod(&mut self, event: &CacheEvent, runtime: &mut KeyedRuntime<DeploymentPurpose>) {
        self.pods.update(event);
        if let Some(key) = self.left_without_pods(event, runtime) {
            runtime.add(key);
        }
    }

    /// Returns the Deployment to sync after a pod is gone: one that recreates its pods, up to 1.36 when none is left.
    ///
    /// Source: pkg/controller/deployment/deployment_controller.go (v1.34, v1.37), `deletePod`.
    fn left_without_pods(&self, event: &CacheEvent, runtime: &KeyedRuntime<DeploymentPurpose>) -> Option<ObjectKey> {
        let (set, _) = owner_key(event.object(), "ReplicaSet").filter(|_| event.after.is_none())?;
        let (key, _) = owner_key(runtime.cache(SETS).get(&set)?, "Deployment")?;
        let deployment = runtime.cache(DEPLOYMENT_CACHE).get(&key)?;
        let strategy = deployment.stable().at(&["spec", "strategy", "type"]).as_str();
        let is_empty =
            |set: &ObjectKey| runtime.cache(SETS).get(set).is_none_or(|set| self.pods.of(set.uid()).next().is_none());
        let is_left =
            strategy == Some("Recreate") && (self.follows_each_pod || self.sets.of(deployment.uid()).all(is_empty));
        is_left.then_some(key)
    }
}
