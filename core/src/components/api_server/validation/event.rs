//! Validation of Events of the core group and of `events.k8s.io`.
//!
//! Mirrors pkg/apis/core/validation/events.go (v1.34), `legacyValidateEvent`, `ValidateEventCreate` and
//! `ValidateEventUpdate`. Errors name the fields of the internal type, which are those of the core group.

use alloc::format;
use alloc::vec::Vec;

use super::{FieldError, IMMUTABLE, invalid, meta};
use crate::network::kinds::Kind;
use crate::objects::Json;
use crate::objects::names::{self, Wording};

/// Checks an Event.
pub(in super::super) fn validate(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let text = |path: &[&str]| tree.at(path).as_str().unwrap_or("");
    let has_time = !tree.get("eventTime").is_null();
    same_namespace(text(&["metadata", "namespace"]), text(&["involvedObject", "namespace"]), has_time, errors);
    if !has_time {
        return;
    }
    reporter(tree, ("reportingComponent", "reportingComponent"), wording, errors);
    told(tree, "message", errors);
}

/// Checks that an Event stands in the namespace of what it is about, which one with an `eventTime` need not.
fn same_namespace(own: &str, involved: &str, has_time: bool, errors: &mut Vec<FieldError>) {
    let fits = match (involved.is_empty(), has_time) {
        (true, true) => ["default", "kube-system"].contains(&own),
        (true, false) => own.is_empty() || own == "default",
        (false, false) => own == involved,
        (false, true) => true,
    };
    if !fits {
        errors.push(FieldError::invalid_text("involvedObject.namespace", involved, "does not match event.namespace"));
    }
}

/// Checks who reports an Event that has an `eventTime`, and what was done; the field of the reporter has a name of its
/// own in each API version.
fn reporter(tree: &Json, (field, told): (&str, &str), wording: Wording, errors: &mut Vec<FieldError>) {
    let text = |field: &str| tree.get(field).as_str().unwrap_or("");
    let controller = text(field);
    if controller.is_empty() {
        errors.push(FieldError::required(told, ""));
    }
    invalid(names::qualified(controller, wording), told, controller, errors);
    for field in ["reportingInstance", "action", "reason"] {
        if text(field).is_empty() {
            errors.push(FieldError::required(field, ""));
        }
        if text(field).len() > 128 {
            errors.push(FieldError::invalid_text(field, "", "can have at most 128 characters"));
        }
    }
}

fn told(tree: &Json, field: &str, errors: &mut Vec<FieldError>) {
    if tree.get(field).as_str().unwrap_or("").len() > 1024 {
        errors.push(FieldError::invalid_text("message", "", "can have at most 1024 characters"));
    }
}

/// Checks what holds of an Event in either group, for one of `events.k8s.io`.
fn common(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let text = |path: &[&str]| tree.at(path).as_str().unwrap_or("");
    let has_time = !tree.get("eventTime").is_null();
    same_namespace(text(&["metadata", "namespace"]), text(&["regarding", "namespace"]), has_time, errors);
    if has_time {
        reporter(tree, ("reportingController", "reportingController"), wording, errors);
        told(tree, "note", errors);
    }
}

fn series(tree: &Json, errors: &mut Vec<FieldError>) {
    let series = tree.get("series");
    if series.is_null() {
        return;
    }
    if series.get("count").as_i64().unwrap_or(0) < 2 {
        errors.push(FieldError::invalid_text("series.count", "", "should be at least 2"));
    }
    if series.get("lastObservedTime").is_null() {
        errors.push(FieldError::required("series.lastObservedTime", ""));
    }
}

/// Checks a new Event of `events.k8s.io`.
pub(in super::super) fn validate_new(kind: &Kind, tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    common(tree, wording, errors);
    errors.extend(meta::validate(kind, tree, wording));
    series(tree, errors);
    if tree.get("eventTime").is_null() {
        errors.push(FieldError::required("eventTime", ""));
    }
    let own = tree.get("type").as_str().unwrap_or("");
    if !["Normal", "Warning"].contains(&own) {
        errors.push(FieldError::invalid_text("type", "", format!("has invalid value: {own}")));
    }
    for (field, name) in [
        ("deprecatedFirstTimestamp", "firstTimestamp"),
        ("deprecatedLastTimestamp", "lastTimestamp"),
        ("deprecatedCount", "count"),
        ("deprecatedSource", "source"),
    ] {
        if !is_none(tree.get(field)) {
            errors.push(FieldError::invalid_text(name, "", "needs to be unset"));
        }
    }
}

/// Checks a change of an Event through `events.k8s.io`: only its series changes.
pub(in super::super) fn validate_new_update(tree: &Json, old: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    common(tree, wording, errors);
    errors.extend(meta::validate_core_update(tree, old, wording));
    if tree.get("series") != old.get("series") {
        series(tree, errors);
    }
    for (field, name) in KEPT.iter().filter(|(field, _)| !is_same(tree.get(field), old.get(field))) {
        let value = tree.get(field);
        errors.push(match *field {
            "regarding" | "related" => FieldError::invalid_of("ObjectReference", *name, value, IMMUTABLE),
            "deprecatedSource" => FieldError::invalid_of("EventSource", *name, value, IMMUTABLE),
            "deprecatedCount" => FieldError::invalid(*name, &Json::Int(value.as_i64().unwrap_or(0)), IMMUTABLE),
            "deprecatedFirstTimestamp" | "deprecatedLastTimestamp" | "eventTime" => {
                FieldError::invalid(*name, value, IMMUTABLE)
            }
            _ => FieldError::invalid_text(*name, value.as_str().unwrap_or(""), IMMUTABLE),
        });
    }
}

/// What may not change, in the order of the checks, with the names in errors; the reason is checked twice.
const KEPT: [(&str, &str); 14] = [
    ("regarding", "involvedObject"),
    ("reason", "reason"),
    ("note", "message"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
    ("reason", "reason"),
    ("type", "type"),
    ("eventTime", "eventTime"),
    ("action", "action"),
    ("related", "related"),
    ("reportingController", "reportingController"),
    ("reportingInstance", "reportingInstance"),
];

/// Compares values of which an empty one means none.
fn is_same(new: &Json, old: &Json) -> bool {
    new == old || is_none(new) && is_none(old)
}

fn is_none(value: &Json) -> bool {
    value.is_empty() || value.as_i64() == Some(0)
}
