//! Compares the outcomes of one scenario on two backends, object by object.
//!
//! Inputs: two outcomes. Output: differences; a caller looks each up in the ledger. Pure. Left out on purpose: traces
//! and decisions, which a real cluster does not show.

mod differ;
mod merged_writes;
#[cfg(test)]
mod planted;

pub use differ::{Difference, DifferenceKind, Tolerances, differences};
