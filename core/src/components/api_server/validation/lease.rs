//! Validation of Leases.
//!
//! Mirrors pkg/apis/coordination/validation/validation.go (v1.34), `ValidateLeaseSpec`.

use alloc::vec::Vec;

use super::FieldError;
use super::amount::not_negative;
use crate::objects::Json;

/// Checks the specification of a Lease.
pub(in super::super) fn validate_spec(tree: &Json, errors: &mut Vec<FieldError>) {
    let spec = tree.get("spec");
    let below = |field: &str, least: i64| spec.get(field).as_i64().is_some_and(|number| number < least);
    if below("leaseDurationSeconds", 1) {
        let value = spec.get("leaseDurationSeconds");
        errors.push(FieldError::invalid("spec.leaseDurationSeconds", value, "must be greater than 0"));
    }
    not_negative(spec, "spec", "leaseTransitions", errors);
}
