//! Kubernetes objects: shared JSON trees, instants, and the views that components read them through.
//!
//! The stored form is JSON, so that unknown fields are kept and nothing depends on the types of one release.

mod aggregate;
pub mod base64;
pub mod canonical;
pub mod cpu_set;
pub(crate) mod cron;
pub mod diff;
pub(crate) mod digest;
pub(crate) mod fnv;
pub(crate) mod go_duration;
pub(crate) mod go_quote;
pub(crate) mod integer;
mod json;
mod json_macro;
pub mod jsonpath;
pub mod kubelet_labels;
pub mod lifecycle;
pub mod likeness;
pub mod line_diff;
pub mod list_keys;
pub mod names;
mod near;
mod node_address;
mod object;
pub mod ownership;
pub mod patch;
mod path;
pub mod protobuf;
pub mod quantity;
mod reading;
mod redact;
pub mod schema;
pub mod selector;
mod share;
pub mod subset;
mod text;
pub mod time;
pub mod x509;
pub mod yaml;

pub use aggregate::aggregate;
pub use json::{Fields, Json, NULL, WrittenJson, without_depths};
pub use json_macro::ToJson;
#[doc(hidden)]
pub use json_macro::{Literal, listed};
pub use near::{distance, nearest};
pub use node_address::{ADDRESS_TYPES, NodeAddress};
pub use object::{HeartbeatStamp, KUBELET_CONDITIONS, Object, ObjectKey};
pub use path::{Path, PathError, Segment};
pub(crate) use reading::QUANTITY_NEEDED;
pub use reading::{FieldError, FieldReader, NOT_MODELLED, is_not_modelled};
pub use text::Text;
pub(crate) use text::{is_same, order};
