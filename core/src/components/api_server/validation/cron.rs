//! Validation of the schedule of a CronJob.
//!
//! Mirrors pkg/apis/batch/validation/validation.go (v1.34), `validateScheduleFormat` and `validateTimeZone`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::FieldError;
use crate::objects::Json;
use crate::objects::cron::{CronSchedule, find_zone};

/// Checks a schedule, which names no time zone unless the stored one does.
pub(super) fn schedule(text: &str, allows_zone: bool, has_zone: bool, errors: &mut Vec<FieldError>) {
    let mut tell = |why: String| errors.push(FieldError::invalid_text("spec.schedule", text, why));
    if let Err(why) = CronSchedule::parse(text) {
        tell(why);
    }
    match (allows_zone, text.contains("TZ")) {
        (true, true) if has_zone => {
            tell("cannot use both timeZone field and TZ or CRON_TZ in schedule".to_string());
        }
        (false, true) => tell("cannot use TZ or CRON_TZ in schedule, use timeZone field instead".to_string()),
        _ => {}
    }
}

/// Checks the name of a time zone.
pub(super) fn time_zone(zone: &Json, errors: &mut Vec<FieldError>) {
    let Some(name) = zone.as_str() else { return };
    if name.is_empty() {
        errors.push(FieldError::invalid("spec.timeZone", zone, "timeZone must be nil or non-empty string"));
        return;
    }
    let is_part = |part: &str| {
        (1..=14).contains(&part.len())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_+".contains(&byte))
            && part != "."
            && part != ".."
            && !part.starts_with('-')
    };
    if !name.split('/').all(is_part) {
        errors.push(FieldError::invalid("spec.timeZone", zone, format!("unknown time zone {name}")));
        return;
    }
    if name.eq_ignore_ascii_case("local") {
        let why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        errors.push(FieldError::invalid("spec.timeZone", zone, why));
    }
    if let Err(why) = find_zone(name) {
        errors.push(FieldError::invalid("spec.timeZone", zone, why));
    }
}
