//! What runs change beyond themselves, and how it is undone: by the run, by its guard, or by `nodeproof clean` later.
//!
//! A change is written to the `journal` before it is made, with the operations (`op`) that undo it; `docker` and
//! `deletion` carry them out. What a node suffers from is an `node_fault`, by whose marks it is found without a journal
//! too.
//! Invariant:
//! nothing here knows a backend; what cannot be shown to be ours is never touched.

pub(crate) mod clean;
pub(crate) mod deletion;
pub(crate) mod docker;
pub mod guard;
pub mod journal;
pub(crate) mod node_fault;
pub(crate) mod op;
