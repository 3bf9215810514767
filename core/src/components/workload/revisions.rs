//! ControllerRevisions: what they keep of a template, and how they are numbered.
//!
//! Mirrors pkg/controller/history/controller_history.go and pkg/controller/daemon/update.go (v1.34). Inputs: an owner
//! and its revisions. Outputs: the data of a revision, its number.

use crate::objects::{Json, Object};

/// Returns what a revision keeps of its owner: the template, to be put in place of another.
///
/// Source: pkg/controller/daemon/update.go and pkg/controller/statefulset/stateful_set_utils.go (v1.34), `getPatch`.
pub(in crate::components) fn data_of(owner: &Object) -> Json {
    let mut data = Json::object();
    data.set(&["spec", "template"], owner.stable().at(&["spec", "template"]).clone());
    data.set(&["spec", "template", "$patch"], "replace");
    data
}

/// Returns the number of a revision.
pub(in crate::components) fn number_of(revision: &Object) -> i64 {
    revision.stable().get("revision").as_i64().unwrap_or(0)
}

/// Returns the number after the largest of these revisions.
pub(in crate::components) fn next_number<'a>(revisions: impl IntoIterator<Item = &'a Object>) -> i64 {
    revisions.into_iter().map(number_of).max().unwrap_or(0).max(0) + 1
}
