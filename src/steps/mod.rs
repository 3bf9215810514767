//! The vocabulary: the sentences of scenarios, one file for each area, and what each of them means.
//!
//! A sentence's function parses words and writes Actions or Expectations into the [`Draft`]; it holds no logic and does
//! nothing to a cluster. Captures are lenient (anything between quotes) and are read as typed values afterwards, so
//! that a wrong word is a problem with its place, not an unknown sentence. The comment above a function is what
//! `nodeproof steps` prints.

mod bound;
mod catalogue;
mod cluster;
mod draft;
mod expect;
mod functions;
mod machines;
mod manifest;
mod network;
mod nodes;
mod observe;
pub mod own;
mod parameters;
mod patterns;
mod pods;
mod predicates;
mod registry;
mod sentence;
mod sources;
mod syntax;
mod users;
mod words;
mod workloads;

pub use catalogue::{Sentence, catalogue, with_examples};
pub use draft::Draft;
pub(crate) use manifest::{manifests as read_objects, request as read_request};
pub use own::{CompileContext, Own};
pub use parameters::Parameter;
pub use registry::{Compiled, compile, compile_in};
