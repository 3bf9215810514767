//! What the workload controllers share beside their runtime: pods and their owners, and expectations.
//!
//! Mirrors pkg/controller/controller_utils.go and its neighbours (v1.34).

pub(super) mod claims;
mod expectations;
pub(super) mod pod_control;
pub(super) mod pods;
pub(super) mod revisions;
pub(super) mod scale_down;
mod tally;

pub(super) use self::expectations::Expectations;
pub(super) use self::tally::{PodTally, Tallies, has_labels};
use crate::network::Resource;

/// `replicasets`.
pub(super) const REPLICA_SETS: Resource = Resource::of("apps", "v1", "replicasets");
/// `replicationcontrollers`.
pub(super) const REPLICATION_CONTROLLERS: Resource = Resource::of("", "v1", "replicationcontrollers");
/// `deployments`.
pub(super) const DEPLOYMENTS: Resource = Resource::of("apps", "v1", "deployments");
/// `statefulsets`.
pub(super) const STATEFUL_SETS: Resource = Resource::of("apps", "v1", "statefulsets");
/// `daemonsets`.
pub(in crate::components) const DAEMON_SETS: Resource = Resource::of("apps", "v1", "daemonsets");
/// `jobs`.
pub(super) const JOBS: Resource = Resource::of("batch", "v1", "jobs");
/// `controllerrevisions`.
pub(super) const REVISIONS: Resource = Resource::of("apps", "v1", "controllerrevisions");
