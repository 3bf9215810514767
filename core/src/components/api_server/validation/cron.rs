//! Validation of the schedule of a CronJob.
//!
//! Mirrors pkg/apis/batch/validation/validation.go (v1.34), `validateScheduleFormat` and `validateTimeZone`, and the
//! words of github.com/robfig/cron/v3 parser.go (v3.0.1). Left out on purpose: whether a time zone exists, the span of
//! `@every`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::FieldError;
use crate::objects::Json;

/// A part of a schedule: its least and its greatest number, and the names of numbers.
type Bounds = (u64, u64, &'static [&'static str]);

/// Minute, hour, day of the month, month and day of the week. Source: spec.go (v3.0.1).
const PARTS: [Bounds; 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (1, 12, &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]),
    (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];
const DESCRIPTORS: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// Checks a schedule, which names no time zone unless the stored one does.
pub(super) fn schedule(text: &str, allows_zone: bool, has_zone: bool, errors: &mut Vec<FieldError>) {
    let mut tell = |why: String| errors.push(FieldError::invalid_text("spec.schedule", text, why));
    if let Err(why) = read(text) {
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

fn read(text: &str) -> Result<(), String> {
    let named = text.strip_prefix("TZ=").or_else(|| text.strip_prefix("CRON_TZ="));
    let text = named.and_then(|rest| rest.split_once(' ')).map_or(text, |(_, rest)| rest.trim());
    if text.starts_with('@') {
        let is_known = DESCRIPTORS.contains(&text) || text.starts_with("@every ");
        return if is_known { Ok(()) } else { Err(format!("unrecognized descriptor: {text}")) };
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() != PARTS.len() {
        return Err(format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" ")));
    }
    for (field, bounds) in fields.into_iter().zip(PARTS) {
        for range in field.split(',').filter(|range| !range.is_empty()) {
            read_range(range, bounds)?;
        }
    }
    Ok(())
}

/// Reads `*`, `N`, `N-M`, each with `/STEP`.
fn read_range(range: &str, (least, greatest, names): Bounds) -> Result<(), String> {
    let parts: Vec<&str> = range.split('/').collect();
    let ends: Vec<&str> = parts[0].split('-').collect();
    let named = |text: &str| {
        let place = names.iter().position(|name| name.eq_ignore_ascii_case(text));
        place.map_or_else(|| number(text), |place| Ok(u64::try_from(place).unwrap_or(0) + least))
    };
    let (start, mut end) = match ends.as_slice() {
        ["*" | "?", ..] => (least, greatest),
        [one] => (named(one)?, named(one)?),
        [from, to] => (named(from)?, named(to)?),
        [from, ..] => {
            named(from)?;
            return Err(format!("too many hyphens: {range}"));
        }
        [] => (least, greatest),
    };
    let step = match parts.as_slice() {
        [_] => 1,
        [_, step] => number(step)?,
        _ => return Err(format!("too many slashes: {range}")),
    };
    if parts.len() == 2 && ends.len() == 1 {
        end = greatest;
    }
    if start < least {
        Err(format!("beginning of range ({start}) below minimum ({least}): {range}"))
    } else if end > greatest {
        Err(format!("end of range ({end}) above maximum ({greatest}): {range}"))
    } else if start > end {
        Err(format!("beginning of range ({start}) beyond end of range ({end}): {range}"))
    } else if step == 0 {
        Err(format!("step of range should be a positive number: {range}"))
    } else {
        Ok(())
    }
}

fn number(text: &str) -> Result<u64, String> {
    match text.parse::<i64>() {
        Ok(number) => u64::try_from(number).map_err(|_| format!("negative number ({number}) not allowed: {text}")),
        Err(_) => Err(format!("failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax")),
    }
}

/// Checks the form of the name of a time zone.
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
    } else if name.eq_ignore_ascii_case("local") {
        let why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        errors.push(FieldError::invalid("spec.timeZone", zone, why));
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_schedule_has_five_parts_within_their_bounds() {
        for text in ["* * * * *", "*/5 0-3 1,15 jan-mar MON", "@daily", "@every 1h", "? * * * ?", "TZ=UTC 1 * * * *"] {
            assert_eq!(read(text), Ok(()), "{text}");
        }
        for (text, why) in [
            ("a", "expected exactly 5 fields, found 1: [a]"),
            ("@never", "unrecognized descriptor: @never"),
            ("60 * * * *", "end of range (60) above maximum (59): 60"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("* 5-3 * * *", "beginning of range (5) beyond end of range (3): 5-3"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"),
        ] {
            assert_eq!(read(text).unwrap_err(), why);
        }
    }
}
