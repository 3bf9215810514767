//! The vocabulary: the sentences of scenarios, one file for each area, and what each of them means.
//!
//! Inputs: checked cases. Outputs: scenarios and problems. The function of a sentence reads its parameters and writes
//! actions or expectations into the [`Draft`]; it contains no logic and does nothing to a cluster. Captures are lenient
//! (anything between quotes) and are read as typed values afterwards, so that a wrong word is a problem at its position
//! and not an unknown sentence. `nodeproof steps` prints the comment above a function.

mod bound;
mod catalogue;
mod cloud;
mod cluster;
mod condition_reasons;
mod custom;
mod draft;
mod expect;
mod fields;
mod functions;
mod known_names;
mod machines;
mod manifest;
mod names;
mod network;
mod nodes;
mod objects;
mod observe;
pub mod own;
mod own_names;
mod parameters;
mod patterns;
mod pods;
mod predicates;
mod registry;
mod sentence;
mod similar;
mod snippet;
mod sources;
mod syntax;
mod taint_forms;
mod users;
mod words;
mod workload_names;
mod workloads;

pub use catalogue::{Sentence, catalogue, sentence_of, with_examples};
pub use draft::Draft;
#[cfg(feature = "cli")]
pub(crate) use manifest::documents;
pub(crate) use manifest::{manifests as read_objects, request as read_request};
pub use own::{CompileContext, Fixtures, Own};
pub use parameters::Parameter;
pub use registry::{Compiled, compile, compile_in};
