//! The same scenarios on real control planes, in real time.
//!
//! A driver feeds what watches show to the judge of the core and performs what it asks for; what differs between
//! backends is behind [`Ground`] (what scenarios stand on) and [`Site`] (one scenario's place there). Nothing here knows
//! the simulator. Invariant: names in scenarios are aliases; whoever is handed a name here is handed the real one.

mod aliases;
mod answers;
mod assets;
mod cache;
mod certificates;
pub(crate) mod cleanup;
mod client;
mod clock;
mod driver;
mod feeding;
mod flags;
mod ground;
pub mod hollow;
pub mod interrupt;
pub mod kind;
pub mod kubelets;
mod lookout;
mod pace;
mod places;
mod read_only;
pub mod record;
mod request;
pub mod safety;
mod timing;
mod watches;
mod writer;

pub use aliases::Aliases;
pub use assets::Assets;
pub use certificates::{Authority, Certified};
pub use cleanup::{guard, journal};
pub use client::{Access, Caller};
pub use clock::Clock;
pub use driver::{run_scenario, unplayable};
pub use ground::{Alone, Doing, Ground, NoSite, Nowhere, Plan, Site, Siting};
pub use lookout::{Lookout, kinds_of, rights};
pub use pace::{Pace, Patience, expected_length};
pub use places::{Place, Places};
