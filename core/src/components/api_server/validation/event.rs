//! Validation of Events of the core group.
//!
//! Mirrors pkg/apis/core/validation/events.go (v1.34), `legacyValidateEvent`.

use alloc::format;
use alloc::vec::Vec;

use super::{FieldError, invalid};
use crate::objects::Json;
use crate::objects::names::{self, Wording};

/// Checks an Event.
pub(in super::super) fn validate(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let text = |path: &[&str]| tree.at(path).as_str().unwrap_or("");
    let own = text(&["metadata", "namespace"]);
    let involved = text(&["involvedObject", "namespace"]);
    let fits = if involved.is_empty() { own.is_empty() || own == "default" } else { own == involved };
    if !fits {
        errors.push(FieldError::invalid_text("involvedObject.namespace", involved, "does not match event.namespace"));
    }
    if tree.get("eventTime").is_null() {
        return;
    }
    let controller = text(&["reportingComponent"]);
    if controller.is_empty() {
        errors.push(FieldError::required("reportingComponent", ""));
    }
    invalid(names::qualified(controller, wording), "reportingComponent", controller, errors);
    for (field, name) in [("reportingInstance", "reportingInstance"), ("action", "action"), ("reason", "reason")] {
        let value = text(&[field]);
        if value.is_empty() {
            errors.push(FieldError::required(name, ""));
        }
        if value.len() > 128 {
            errors.push(FieldError::invalid_text(name, "", format!("can have at most {} characters", 128)));
        }
    }
    if text(&["message"]).len() > 1024 {
        errors.push(FieldError::invalid_text("message", "", "can have at most 1024 characters"));
    }
}
