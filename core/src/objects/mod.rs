//! Kubernetes objects: shared JSON trees, instants, and the views that components read them through.
//!
//! The stored form is JSON, so that unknown fields live on and no release is baked in.

mod json;
mod object;
mod text;
pub mod time;

pub use json::{Fields, Json, NULL};
pub use object::{KUBELET_CONDITIONS, Object, ObjectKey};
pub use text::Text;
