//! nodeproof: write down what a Kubernetes node must do, and prove it.
//!
//! The shell around `nodeproof-core`: files, terminals, test harness and command. What is pure lives in the core.

#[cfg(feature = "cli")]
pub mod cli;
pub mod control;
pub mod harness;
pub mod load;
pub mod replay;
pub mod steps;
#[cfg(test)]
mod tidy;
