//! Rules for conditions of the general form.
//!
//! Mirrors k8s.io/apimachinery pkg/apis/meta/v1/validation/validation.go (v1.34), `ValidateConditions`. Inputs: a list
//! of conditions. Outputs: errors by field.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use super::{FieldError, invalid};
use crate::objects::Json;
use crate::objects::names::{self, Wording};

/// Source: as above, `maxReasonLen`, `maxMessageLen`.
const REASON_MAX: usize = 1024;
const MESSAGE_MAX: usize = 32 * 1024;
/// Source: as above, `conditionReasonErrMsg`, `conditionReasonFmt`.
const REASON: &str = "a condition reason must start with alphabetic character, optionally followed by a string of \
    alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or \
    'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is \
    '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

/// Checks a list of conditions.
pub(super) fn validate(list: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    let mut seen = BTreeSet::new();
    for (at, condition) in list.items().iter().enumerate() {
        let (whole, path) = (format!("{path}[{at}]"), |field: &str| format!("{path}[{at}].{field}"));
        let text = |field: &str| condition.get(field).as_str().unwrap_or("");
        // Source: as above (v1.37), where what is missing is required, and the whole condition is a duplicate.
        let declared = wording.is_declared();
        if !seen.insert(text("type")) {
            let field = if declared { whole } else { path("type") };
            errors.push(FieldError::duplicate(field, &Json::from(text("type"))));
        }
        if declared && text("type").is_empty() {
            errors.push(FieldError::required(path("type"), "is required"));
        } else {
            invalid(names::qualified(text("type"), wording), path("type"), text("type"), errors);
        }
        if declared && text("status").is_empty() {
            errors.push(FieldError::required(path("status"), ""));
        } else if !["False", "True", "Unknown"].contains(&text("status")) {
            errors.push(FieldError::not_supported(path("status"), text("status"), &["False", "True", "Unknown"]));
        }
        let generation = condition.get("observedGeneration").as_i64().unwrap_or(0);
        if generation < 0 {
            let why = "must be greater than or equal to zero";
            errors.push(FieldError::invalid(path("observedGeneration"), &Json::Int(generation), why));
        }
        if condition.get("lastTransitionTime").is_null() {
            errors.push(FieldError::required(path("lastTransitionTime"), ""));
        }
        let reason = text("reason");
        if reason.is_empty() {
            errors.push(FieldError::required(path("reason"), ""));
        } else if !is_reason(reason) {
            errors.push(FieldError::invalid_text(path("reason"), reason, REASON));
        }
        for (field, most) in [("reason", REASON_MAX), ("message", MESSAGE_MAX)] {
            if text(field).len() > most {
                errors.push(FieldError::too_long(path(field), format!("may not be more than {most} bytes")));
            }
        }
    }
}

fn is_reason(reason: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = reason.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(|byte| is_word(*byte))
        && bytes.iter().all(|byte| is_word(*byte) || b",:".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::is_reason;

    #[test]
    fn a_reason_is_one_word_with_a_few_signs() {
        for (reason, is_one) in [("A", true), ("A_b:C", true), ("1A", false), ("A:", false), ("A b", false)] {
            assert_eq!(is_reason(reason), is_one, "{reason}");
        }
    }
}
