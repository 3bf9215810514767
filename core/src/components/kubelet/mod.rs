//! The kubelet: the process on a machine that answers for one Node.
//!
//! Mirrors pkg/kubelet (v1.34). It is the child of a machine, which hands it everything that arrives.

pub mod config;
mod reservation;
mod validation;
