//! The behaviour reference: pages that tell what happens when a node dies, is drained, loses its network and so on.
//!
//! Inputs: `pages.yaml`, which says in what order which scenarios are told, and the features. Output: Markdown. Each
//! instant is measured: a scenario runs on each release at many moments, and what was written to its Nodes and Pods is
//! put into words. What cannot be measured, since it must *not* happen, is a line of the scenario that held. Invariant:
//! the same features give the same pages.

mod measured;
mod pages;
mod text;
mod words;

pub use self::measured::RUNS;
pub use self::pages::{BehaviourPage, pages};
pub use self::text::{index, page};
