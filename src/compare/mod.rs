//! The same scenario on two backends: what came of it here and there, object by object.
//!
//! Inputs: two outcomes. Outputs: differences, each explained by an entry of the ledger or not.
//! Left out on purpose: traces and decisions, which a real cluster does not show.

mod differ;
mod merged_writes;
#[cfg(test)]
mod planted;

pub use differ::{Difference, DifferenceKind, Tolerances, differences};
