//! Compares the outcomes of one scenario on two backends, object by object.
//!
//! Inputs: two outcomes. Output: differences; a caller looks each up in the ledger. Pure. Left out on purpose: traces
//! and decisions, which a real cluster does not show.

mod differ;
mod difference;
mod merged_writes;
mod offsets;
mod path_changes;
#[cfg(test)]
mod planted;
mod tolerances;

pub use differ::differences;
pub use difference::{Difference, DifferenceKind};
pub use tolerances::Tolerances;
