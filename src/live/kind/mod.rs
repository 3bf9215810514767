//! The backend of real kubelets: a kind cluster, whose nodes are containers.
//!
//! [`KindBackend`] is the backend of scenarios. What happens to a node is data first (`fault`): so it can be shown by a
//! dry run, written to the journal before it is done, and healed by whoever comes later (`live::cleanup`).

mod backend;
mod cluster;
mod docker_effects;
mod fault;
mod inspection;
mod mask;
mod programs;
mod settings;
mod worker;

pub use backend::KindBackend;
pub use cluster::{KindOptions, NoCluster};
pub(crate) use cluster::{header, is_kind, run_id};
pub(crate) use mask::{projected, reason};
