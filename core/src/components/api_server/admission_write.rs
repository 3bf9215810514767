//! A write as admission plugins see it, and how they refuse it.
//!
//! Mirrors k8s.io/apiserver pkg/admission/{attributes,errors}.go (v1.34).

use super::call::RequestInfo;
use super::{Origin, status};
use crate::network::Answer;
use crate::network::kinds::Kind;
use crate::objects::Json;

/// What a write does, as plugins see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operation {
    Create,
    Update,
    Delete,
}

/// A write, as plugins see it.
pub(super) struct Write<'a> {
    pub(super) kind: &'static Kind,
    pub(super) subresource: &'a str,
    pub(super) operation: Operation,
    pub(super) namespace: &'a str,
    /// The name in the URL, else the object's; empty while the server has not generated it.
    pub(super) name: &'a str,
    /// The object after the write; for a deletion, the object that is deleted.
    pub(super) tree: &'a Json,
    /// The stored object before the write; `None` for a new one.
    pub(super) old: Option<&'a Json>,
    pub(super) origin: &'a Origin,
}

impl<'a> Write<'a> {
    /// Describes what a request does to its object.
    pub(super) fn of(
        info: &'a RequestInfo,
        origin: &'a Origin,
        operation: Operation,
        tree: &'a Json,
        old: Option<&'a Json>,
    ) -> Self {
        Self {
            kind: info.kind,
            subresource: &info.subresource,
            operation,
            namespace: &info.namespace,
            name: &info.name,
            tree,
            old,
            origin,
        }
    }

    /// Makes a refusal.
    pub(super) fn refusal(&self, why: &str) -> Answer {
        let name = if self.name.is_empty() { subject(self.tree) } else { self.name };
        status::forbidden(&self.kind.resource, name, why)
    }

    /// Refuses.
    pub(super) fn refuse(&self, why: &str) -> Result<(), Answer> {
        Err(self.refusal(why))
    }
}

/// Returns the name by which plugins refer to a new object.
/// Source: k8s.io/apiserver pkg/admission/errors.go (v1.34), `extractResourceName`.
pub(super) fn subject(tree: &Json) -> &str {
    let text = |field: &str| tree.at(&["metadata", field]).as_str().filter(|text| !text.is_empty());
    text("name").or_else(|| text("generateName")).unwrap_or("Unknown")
}
