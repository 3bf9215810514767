//! Validation of numbers: those that are not negative, ports, numbers of Pods and percentages of them.
//!
//! Mirrors pkg/apis/apps/validation/validation.go and k8s.io/apimachinery pkg/api/validation/generic.go,
//! pkg/util/validation/validation.go (v1.34).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{FieldError, quote};
use crate::objects::Json;

/// Checks that a number, if it is there, is not negative.
pub(super) fn not_negative(tree: &Json, path: &str, field: &str, errors: &mut Vec<FieldError>) {
    let value = tree.get(field);
    if value.as_i64().is_some_and(|number| number < 0) {
        errors.push(FieldError::invalid(format!("{path}.{field}"), value, "must be greater than or equal to 0"));
    }
}

/// Checks that a number can be that of a port.
pub(super) fn check_port(path: &str, number: i64, errors: &mut Vec<FieldError>) {
    if !(1..=65535).contains(&number) {
        errors.push(FieldError::invalid(path, &Json::Int(number), "must be between 1 and 65535, inclusive"));
    }
}

/// Checks a number or a percentage. Source: validation.go (v1.34), `ValidatePositiveIntOrPercent`.
pub(super) fn amount(value: &Json, path: &str, errors: &mut Vec<FieldError>) {
    match value {
        Json::Int(number) if *number < 0 => {
            errors.push(FieldError::invalid(path, value, "must be greater than or equal to 0"));
        }
        Json::Str(text) if percentage(text).is_none() => {
            let why = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or \
                       '93%', regex used for validation is '[0-9]+%')";
            errors.push(invalid_amount(path, value, why));
        }
        _ => {}
    }
}

/// Checks that a percentage is not more than all. Source: validation.go (v1.34), `IsNotMoreThan100Percent`.
pub(super) fn at_most_all(value: &Json, path: &str, errors: &mut Vec<FieldError>) {
    if value.as_str().and_then(percentage).is_some_and(|percent| percent > 100) {
        errors.push(invalid_amount(path, value, "must not be greater than 100%"));
    }
}

/// An invalid number or percentage. Source: k8s.io/apimachinery pkg/util/intstr/intstr.go (v1.31).
pub(super) fn invalid_amount(path: impl Into<String>, value: &Json, why: &str) -> FieldError {
    let (kind, number, text) = match value {
        Json::Str(text) => (1, 0, text.as_str()),
        value => (0, value.as_i64().unwrap_or(0), ""),
    };
    let go = format!("intstr.IntOrString{{Type:{kind}, IntVal:{number}, StrVal:{}}}", quote(text));
    FieldError::invalid(path, value, why).in_go(go)
}

pub(super) fn is_zero(value: &Json) -> bool {
    value.as_i64().or_else(|| value.as_str().and_then(percentage)).unwrap_or(0) == 0
}

fn percentage(text: &str) -> Option<i64> {
    let digits = text.strip_suffix('%').filter(|digits| !digits.is_empty())?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().unwrap_or(i64::MAX))
}
