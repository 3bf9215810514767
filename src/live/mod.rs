//! The same scenarios on real control planes, in real time.
//!
//! A driver feeds what watches show to the judge of the core and performs what it asks for; what differs between
//! backends is behind [`LiveBackend`] (where scenarios run) and [`Environment`] (where one scenario runs). Nothing here
//! knows the simulator. Invariant: names in scenarios are aliases; whoever is handed a name here is handed the real
//! one.

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
pub use client::{Access, Caller};
pub use clock::Clock;
pub use driver::{run_scenario, unplayable};
pub use permits::{Permit, Permits};
pub use read_only_run::{ReadOnlyRun, kinds_of, rights};
pub use tolerance::{TimeLimit, TimingTolerance, expected_length};
