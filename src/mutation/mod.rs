//! Mutation testing of scenarios: each is changed so that it must fail, and a mutant that still passes is reported.
//!
//! A scenario that passes whatever the cluster does proves nothing. Inputs: a suite. Outputs: for each scenario its
//! mutants with what became of them, and the lines that failed: those prove what the scenario claims. Everything runs
//! on the simulator. Invariant: a mutant differs from its scenario in one thing.

mod audit;
mod known;
mod mutants;

pub use audit::{Audit, JudgedMutant, audit};
pub use known::{Entry, Known};
pub use mutants::{Mutant, Mutation, Part};
