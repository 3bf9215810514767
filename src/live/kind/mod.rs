//! The kind backend: real kubelets on a kind cluster, whose nodes are containers.
//!
//! [`KindBackend`] is the backend. What is done to a node is data first (`fault`), so that a dry run can print it, the
//! journal has it before it is done, and others can heal it later (`live::cleanup`).

mod backend;
mod behaviour;
mod cluster;
mod docker_effects;
mod fault;
mod inspection;
mod mask;
mod programs;
mod settings;
mod sizes;
mod worker;

pub use backend::KindBackend;
pub use cluster::{KindOptions, NoCluster};
pub(crate) use cluster::{header, is_kind, run_id};
pub(crate) use mask::{projected, reason};
