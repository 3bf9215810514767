//! The sync of a Deployment: what it has found, what it has done, what comes next.
//!
//! Mirrors `syncDeployment` (pkg/controller/deployment/deployment_controller.go, v1.34). Inputs: the Deployment and its
//! ReplicaSets. Outputs: the numbers that its strategy allows.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use super::scaling::{Scaling, age};
use crate::components::DecisionId;
use crate::components::controller::Flow;
use crate::components::workload::pods::{Rounding, number, scaled};
use crate::objects::{Json, Object};

/// What a request is for.
#[derive(Clone, Debug)]
pub(super) enum DeploymentPurpose {
    /// Check that the Deployment still exists, before it adopts a ReplicaSet.
    Confirm,
    Adopt(Object),
    Release,
    /// Make the ReplicaSet of the template, with this name and revision.
    Create {
        name: String,
        revision: i64,
    },
    /// Scale a ReplicaSet, from and to so many.
    Scale {
        name: String,
        from: i64,
        to: i64,
    },
    /// Write revision and annotations of the ReplicaSet of the template.
    Annotate,
    /// Delete an old ReplicaSet.
    Delete,
    /// Write the Deployment with its revision or a condition, in the middle of a sync.
    Announce,
    /// Write why no ReplicaSet was made; the sync has failed whatever comes of it.
    Excuse,
    /// Write the Deployment with the template of this revision, if there is such a one.
    RollBack(Option<i64>),
    Status,
}

/// Which way a sync goes once the ReplicaSet of the template is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Course {
    /// Find out whether the wanted number changed.
    Look,
    /// It is being deleted: nothing but counts.
    Count,
    /// It is paused, or the wanted number changed.
    Resize,
    Rolling,
    Recreate,
    /// No old pod runs any longer.
    RecreateNew,
    RollBack,
}

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DeploymentStage {
    /// Find out what there is to do.
    Begin,
    /// The condition about a pause is written.
    Paused,
    /// Find or make the ReplicaSet of the template.
    Find,
    Found,
    /// Write sizes, one after the other.
    Scaling,
    /// Size the old ReplicaSets of a rollout.
    ScaleOld,
    /// Find old ReplicaSets that are too many.
    CleanUp,
    /// Delete them, one after the other.
    Deleting,
    Status,
    End(Flow),
}

/// A sync under way.
#[derive(Clone, Debug)]
pub(super) struct DeploymentSync {
    pub(super) deployment: Object,
    /// The Deployment as this sync has changed it.
    pub(super) tree: Json,
    /// All ReplicaSets of the Deployment as the sync found them, oldest first.
    pub(super) sets: Vec<Object>,
    /// ReplicaSets that it may adopt.
    pub(super) wanted: Vec<Object>,
    /// The ReplicaSet with the current template.
    pub(super) new: Option<Object>,
    /// The ReplicaSets that were scaled, as they are now, the last first.
    pub(super) written: VecDeque<Object>,
    pub(super) scalings: VecDeque<Scaling>,
    /// Old ReplicaSets to delete.
    pub(super) surplus: VecDeque<Object>,
    pub(super) course: Course,
    pub(super) stage: DeploymentStage,
    /// What comes after the sizes.
    pub(super) then: DeploymentStage,
    /// Whether a size that cannot be written does not fail the sync.
    pub(super) forgives: bool,
    pub(super) because: Option<DecisionId>,
}

impl DeploymentSync {
    pub(super) fn of(deployment: Object, mut sets: Vec<Object>) -> Self {
        sets.sort_by_cached_key(age);
        Self {
            tree: deployment.json(),
            deployment,
            sets,
            wanted: Vec::new(),
            new: None,
            written: VecDeque::new(),
            scalings: VecDeque::new(),
            surplus: VecDeque::new(),
            course: Course::Look,
            stage: DeploymentStage::Begin,
            then: DeploymentStage::Status,
            forgives: false,
            because: None,
        }
    }

    pub(super) fn old(&self) -> impl Iterator<Item = &Object> {
        let new = self.new.as_ref().map(Object::name);
        self.sets.iter().filter(move |set| new != Some(set.name()))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Object> {
        self.old().chain(&self.new)
    }

    pub(super) fn fail(&mut self) {
        self.stage = DeploymentStage::End(Flow::Retry);
    }

    pub(super) fn replicas(&self) -> i64 {
        number(&self.deployment, &["spec", "replicas"], 1)
    }

    pub(super) fn is_paused(&self) -> bool {
        self.deployment.stable().at(&["spec", "paused"]).as_bool() == Some(true)
    }

    pub(super) fn is_rolling(&self) -> bool {
        self.deployment.stable().at(&["spec", "strategy", "type"]).as_str() != Some("Recreate")
    }

    pub(super) fn surge(&self) -> i64 {
        let value = self.deployment.stable().at(&["spec", "strategy", "rollingUpdate", "maxSurge"]);
        if self.is_rolling() { scaled(value, "25%", self.replicas(), Rounding::Up) } else { 0 }
    }

    pub(super) fn max_unavailable(&self) -> i64 {
        let replicas = self.replicas();
        if !self.is_rolling() || replicas == 0 {
            return 0;
        }
        let value = self.deployment.stable().at(&["spec", "strategy", "rollingUpdate", "maxUnavailable"]);
        let allowed = scaled(value, "25%", replicas, Rounding::Down).min(replicas);
        // With both at zero no pod could be replaced.
        if allowed == 0 && self.surge() == 0 { 1 } else { allowed }
    }
}
