//! Validation of what confines the processes of a Pod: profiles of seccomp and AppArmor.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34), `validateSeccompProfileField` and
//! `ValidateAppArmorProfileField`. Inputs: the specification of a Pod. Outputs: errors. Left out on purpose: the rest
//! of a container's security context.

use alloc::format;
use alloc::vec::Vec;

use super::{FieldError, text, volumes};
use crate::objects::Json;

const KINDS: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];
/// Most bytes of the name of a profile. Source: validation.go (v1.34), `maxLocalhostProfileLength`.
const PROFILE_BYTES_MAX: usize = 4095;

/// Checks the profiles of a Pod and of its containers.
pub(super) fn validate(spec: &Json, errors: &mut Vec<FieldError>) {
    of_context(spec.get("securityContext"), "spec.securityContext", errors);
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        for (at, container) in spec.get(list).items().iter().enumerate() {
            of_context(container.get("securityContext"), &format!("spec.{list}[{at}].securityContext"), errors);
        }
    }
}

fn of_context(context: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let seccomp = context.get("seccompProfile");
    if seccomp.is_object() {
        self::seccomp(seccomp, &format!("{path}.seccompProfile"), errors);
    }
    let app_armor = context.get("appArmorProfile");
    if app_armor.is_object() {
        self::app_armor(app_armor, &format!("{path}.appArmorProfile"), errors);
    }
}

fn check_kind(profile: &Json, path: &str, field: &str, errors: &mut Vec<FieldError>) {
    match text(profile, "type") {
        "" => {
            errors.push(FieldError::required(format!("{path}.type"), format!("type is required when {field} is set")));
        }
        kind if !KINDS.contains(&kind) => {
            errors.push(FieldError::not_supported(format!("{path}.type"), kind, &KINDS));
        }
        _ => {}
    }
}

fn seccomp(profile: &Json, path: &str, errors: &mut Vec<FieldError>) {
    check_kind(profile, path, "seccompProfile", errors);
    let place = format!("{path}.localhostProfile");
    match (text(profile, "type") == "Localhost", profile.get("localhostProfile").as_str()) {
        (true, None) => errors.push(FieldError::required(place, "must be set when seccomp type is Localhost")),
        (true, Some(own)) => volumes::descending(own, &place, errors),
        (false, Some(_)) => {
            let why = "can only be set when seccomp type is Localhost";
            errors.push(FieldError::invalid_of("SeccompProfile", place, profile, why));
        }
        (false, None) => {}
    }
}

fn app_armor(profile: &Json, path: &str, errors: &mut Vec<FieldError>) {
    check_kind(profile, path, "appArmorProfile", errors);
    let place = format!("{path}.localhostProfile");
    let needed = "must be set when AppArmor type is Localhost";
    match (text(profile, "type"), profile.get("localhostProfile").as_str()) {
        ("Localhost", None) => errors.push(FieldError::required(place, needed)),
        ("Localhost", Some(own)) => {
            if own.trim() != own {
                let why = "must not be padded with whitespace";
                errors.push(FieldError::invalid_text(place.as_str(), own, why));
            } else if own.is_empty() {
                errors.push(FieldError::required(place.as_str(), needed));
            }
            if own.len() > PROFILE_BYTES_MAX {
                errors.push(FieldError::too_long(place, format!("may not be more than {PROFILE_BYTES_MAX} bytes")));
            }
        }
        ("RuntimeDefault" | "Unconfined", Some(own)) => {
            let why = "can only be set when AppArmor type is Localhost";
            errors.push(FieldError::invalid_text(place, own, why));
        }
        _ => {}
    }
}
