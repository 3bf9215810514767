//! Validation of Pods.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34), `ValidatePodCreate` and `ValidatePodUpdate`.

use alloc::vec::Vec;

use super::FieldError;
use crate::objects::Json;
use crate::profile::Settings;

/// Checks a new Pod.
pub(in super::super) fn validate(_tree: &Json, _settings: &Settings, _errors: &mut Vec<FieldError>) {}

/// Checks a change of a Pod.
pub(in super::super) fn validate_update(
    _tree: &Json,
    _old: &Json,
    _settings: &Settings,
    _errors: &mut Vec<FieldError>,
) {
}

/// Checks a change of a Pod's status.
pub(in super::super) fn validate_status_update(_tree: &Json, _old: &Json, _errors: &mut Vec<FieldError>) {}
