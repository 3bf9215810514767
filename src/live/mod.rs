//! The same scenarios on real control planes, in real time.
//!
//! A driver hands what watches show to the judge of the core and carries out its commands. Backends differ behind two
//! traits: [`LiveBackend`] (made once for a run) and [`Environment`] (what one scenario gets). Inputs: compiled
//! scenarios and options. Outputs: outcomes, as the simulator gives them. Invariants: nothing here uses the simulator;
//! names in scenarios are aliases, and a backend only sees real names.

mod aliases;
mod answers;
mod assets;
mod backend;
mod cache;
mod certificates;
pub(crate) mod cleanup;
mod client;
mod clock;
mod driver;
mod flags;
mod heartbeat_tasks;
pub mod hollow;
pub mod interrupt;
pub mod kind;
mod kubectl;
pub mod kubelets;
mod permits;
mod read_only_client;
mod read_only_run;
pub mod record;
mod request;
pub mod safety;
mod timing;
mod tolerance;
mod watches;
mod writer;

pub use aliases::Aliases;
pub use assets::Assets;
pub use backend::{
    Environment, EnvironmentFuture, FallibleFuture, IsolationReason, LiveBackend, NoEnvironment, ScenarioPlan,
    Unavailable,
};
pub use certificates::{Authority, Certified};
pub use cleanup::{guard, journal};
pub(crate) use client::told;
pub use client::{Access, Caller};
pub use clock::Clock;
pub use driver::{run_scenario, unplayable};
pub use permits::{Permit, Permits};
pub use read_only_run::{ReadOnlyRun, kinds_of, rights};
pub use tolerance::{TimeLimit, TimingTolerance, expected_length};
