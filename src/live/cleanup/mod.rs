//! Undoes what runs have changed outside of their own processes: by the run, by its guard, or by `nodeproof clean`
//! later.
//!
//! A change is written to the `journal` before it is made, with the operations (`op`) that undo it; `docker` and
//! `deletion` carry them out. A fault on a node is a `node_fault`, whose marks on the node show it even without a
//! journal. Invariants: this module depends on no backend; nothing is touched unless a journal, a label or a mark shows
//! that a run made it.

pub(crate) mod clean;
pub(crate) mod deletion;
pub(crate) mod docker;
pub mod guard;
pub mod journal;
pub(crate) mod node_fault;
pub(crate) mod op;
