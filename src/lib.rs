//! nodeproof: write down what a Kubernetes node must do, and prove it.
//!
//! The shell around `nodeproof-core`: files, terminals, test harness, command and live backends. The core is pure and
//! does no input or output.
//!
//! A crate that has scenarios of its own needs a test target with `harness = false` and these lines:
//!
//! ```text
//! fn main() -> std::process::ExitCode {
//!     nodeproof::Tests::of(env!("CARGO_MANIFEST_DIR")).main()
//! }
//! ```
//!
//! Its scenarios are in `features/`, its snapshots in `snapshots/`, and `cargo test` runs them. Sentences of its own
//! are functions on a [`own::Draft`]; their actions and looks are registered with [`Tests::own`]. [`Tests`] and [`own`]
//! are the whole interface for such a crate. It turns the feature `cli` off and so does not build the command's
//! dependencies.

#[cfg(feature = "cli")]
pub mod behaviour;
mod cargo_test;
#[cfg(feature = "cli")]
pub mod cli;
pub mod compare;
pub mod control;
pub mod harness;
#[cfg(feature = "live")]
pub mod live;
pub mod load;
pub mod mutation;
#[cfg(feature = "cli")]
pub mod picture;
#[cfg(feature = "cli")]
pub mod plan;
pub mod replay;
#[cfg(feature = "cli")]
pub mod state_dir;
pub mod steps;
#[cfg(test)]
mod tidy;
pub mod untrusted;

pub use cargo_test::Tests;
pub use steps::own;
