//! The backend of real kubelets: a kind cluster, whose nodes are containers.
//!
//! [`Kind`] is the ground on which scenarios stand. What befalls a node is data first (`fault`): so it can be shown by a dry
//! run, written to the journal before it is done, and healed by whoever comes later ([`crate::live::cleanup`]).

mod cluster;
mod fault;
mod ground;
mod hands;
mod look;
mod mask;
mod programs;
mod settings;
mod worker;

pub use cluster::{NoCluster, Options};
pub(crate) use cluster::{header, is_kind, run_id};
pub use ground::Kind;
pub(crate) use mask::{projected, reason};
