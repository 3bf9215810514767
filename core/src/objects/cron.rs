//! Schedules of CronJobs: five fields, or a descriptor such as `@daily`.
//!
//! Mirrors github.com/robfig/cron/v3 {parser,spec,constantdelay}.go (v3.0.1), `ParseStandard`. Pure. Inputs: a text, an
//! instant. Outputs: a schedule or the parser's error, and the next instant of a schedule. A `TZ=` in front of the
//! fields is read and not followed: all schedules are in UTC.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::civil::{DateTime, Time};
use jiff::tz::Offset;
use jiff::{SignedDuration, Span, Timestamp};

use super::{Json, time};

/// A field of a schedule: its least and its greatest number, and the names of numbers.
type Bounds = (u64, u64, &'static [&'static str]);

/// Minute, hour, day of the month, month and day of the week. Source: spec.go (v3.0.1).
const FIELDS: [Bounds; 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (1, 12, &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]),
    (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];
/// What descriptors stand for. Source: parser.go (v3.0.1), `parseDescriptor`.
const DESCRIPTORS: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];
/// Names of the time zone that schedules are in.
const UTC: [&str; 4] = ["UTC", "Etc/UTC", "GMT", "Etc/GMT"];
/// How many years ahead the next instant is looked for. Source: spec.go (v3.0.1), `Next`.
const YEARS_MAX: i16 = 5;

/// The numbers of a field, and whether it has a star: then it does not choose days.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CronField {
    numbers: u64,
    has_star: bool,
}

impl CronField {
    fn has(self, number: i8) -> bool {
        u32::try_from(number).is_ok_and(|number| self.numbers >> number & 1 == 1)
    }
}

/// When the Jobs of a CronJob are made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum CronSchedule {
    /// At each minute whose parts are all among these: minute, hour, day of the month, month, day of the week.
    Fields([CronField; 5]),
    /// So long after each other, at whole seconds.
    Every(SignedDuration),
}

impl CronSchedule {
    /// Reads a schedule.
    ///
    /// # Errors
    /// The parser's own words.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let named = text.strip_prefix("TZ=").or_else(|| text.strip_prefix("CRON_TZ="));
        let text = named.and_then(|rest| rest.split_once(' ')).map_or(text, |(_, rest)| rest.trim());
        if let Some(span) = text.strip_prefix("@every ") {
            let span = time::parse_duration(span)
                .ok_or_else(|| format!("failed to parse duration {text}: {}", time::go_duration_error(span)))?;
            return Ok(Self::Every(SignedDuration::from_secs(span.as_secs().max(1))));
        }
        let fields = DESCRIPTORS.iter().find(|(name, _)| *name == text).map(|(_, fields)| *fields);
        if fields.is_none() && text.starts_with('@') {
            return Err(format!("unrecognized descriptor: {text}"));
        }
        let fields: Vec<&str> = fields.unwrap_or(text).split_whitespace().collect();
        if fields.len() != FIELDS.len() {
            return Err(format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" ")));
        }
        let mut read = [CronField { numbers: 0, has_star: false }; 5];
        for (read, (field, bounds)) in read.iter_mut().zip(fields.into_iter().zip(FIELDS)) {
            for range in field.split(',').filter(|range| !range.is_empty()) {
                let part = read_range(range, bounds)?;
                read.numbers |= part.numbers;
                read.has_star |= part.has_star;
            }
        }
        Ok(Self::Fields(read))
    }

    /// Returns the first instant of the schedule after another; `None` if there is none within five years.
    pub(crate) fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let second = time::whole_seconds(after);
        match self {
            Self::Every(span) => second.checked_add(*span).ok(),
            Self::Fields(fields) => {
                let start = Offset::UTC.to_datetime(second.checked_add(SignedDuration::from_secs(1)).ok()?);
                let minute = start.with().second(0).build().ok()?;
                let from = if minute == start { minute } else { minute.checked_add(Span::new().minutes(1)).ok()? };
                Offset::UTC.to_timestamp(next_in(fields, from)?).ok()
            }
        }
    }
}

/// Tells whether the schedule of a CronJob's specification is in UTC.
pub(crate) fn is_utc(spec: &Json) -> bool {
    let text = spec.get("schedule").as_str().unwrap_or_default();
    let in_front = text.split_once("TZ=").and_then(|(_, rest)| rest.split_whitespace().next());
    spec.get("timeZone").as_str().or(in_front).is_none_or(|zone| UTC.contains(&zone))
}

/// Returns the first minute, from one on, that the fields have.
fn next_in([minute, hour, day, month, weekday]: &[CronField; 5], from: DateTime) -> Option<DateTime> {
    let last_year = from.year().checked_add(YEARS_MAX)?;
    let mut at = from;
    while at.year() <= last_year {
        let of_month = day.has(at.day());
        let of_week = weekday.has(at.weekday().to_sunday_zero_offset());
        let is_day = if day.has_star || weekday.has_star { of_month && of_week } else { of_month || of_week };
        at = if !month.has(at.month()) {
            at.date().first_of_month().checked_add(Span::new().months(1)).ok()?.to_datetime(Time::midnight())
        } else if !is_day {
            at.date().tomorrow().ok()?.to_datetime(Time::midnight())
        } else if !hour.has(at.hour()) {
            at.with().minute(0).build().ok()?.checked_add(Span::new().hours(1)).ok()?
        } else if !minute.has(at.minute()) {
            at.checked_add(Span::new().minutes(1)).ok()?
        } else {
            return Some(at);
        };
    }
    None
}

/// Reads `*`, `N`, `N-M`, each with `/STEP`.
fn read_range(range: &str, (least, greatest, names): Bounds) -> Result<CronField, String> {
    let parts: Vec<&str> = range.split('/').collect();
    let ends: Vec<&str> = parts[0].split('-').collect();
    let named = |text: &str| {
        let place = names.iter().position(|name| name.eq_ignore_ascii_case(text));
        place.map_or_else(|| number(text), |place| Ok(u64::try_from(place).unwrap_or(0) + least))
    };
    let is_star = matches!(ends.as_slice(), ["*" | "?", ..] | []);
    let (start, mut end) = match ends.as_slice() {
        _ if is_star => (least, greatest),
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
        let step = usize::try_from(step).unwrap_or(usize::MAX);
        let numbers = (start..=end).step_by(step).fold(0, |numbers, number| numbers | 1 << number);
        Ok(CronField { numbers, has_star: is_star && step == 1 })
    }
}

fn number(text: &str) -> Result<u64, String> {
    match text.parse::<i64>() {
        Ok(number) => u64::try_from(number).map_err(|_| format!("negative number ({number}) not allowed: {text}")),
        Err(_) => Err(format!("failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax")),
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::CronSchedule;

    #[test]
    fn a_schedule_has_five_parts_within_their_bounds() {
        for text in ["* * * * *", "*/5 0-3 1,15 jan-mar MON", "@daily", "@every 1h", "? * * * ?", "TZ=UTC 1 * * * *"] {
            assert!(CronSchedule::parse(text).is_ok(), "{text}");
        }
        for (text, why) in [
            ("a", "expected exactly 5 fields, found 1: [a]"),
            ("@never", "unrecognized descriptor: @never"),
            ("@every x", "failed to parse duration @every x: time: invalid duration \"x\""),
            ("60 * * * *", "end of range (60) above maximum (59): 60"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("* 5-3 * * *", "beginning of range (5) beyond end of range (3): 5-3"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"),
        ] {
            assert_eq!(CronSchedule::parse(text).unwrap_err(), why);
        }
    }

    #[test]
    fn the_next_instant_is_the_first_that_the_fields_have() {
        let next = |text: &str, after: &str| -> String {
            let next = CronSchedule::parse(text).unwrap().next(after.parse().unwrap());
            next.map_or_else(|| String::from("never"), |next| format!("{next}"))
        };
        for (text, after, expected) in [
            ("* * * * *", "2025-01-01T00:00:00Z", "2025-01-01T00:01:00Z"),
            ("* * * * *", "2025-01-01T00:00:59.999Z", "2025-01-01T00:01:00Z"),
            ("*/15 * * * *", "2025-01-01T00:44:10Z", "2025-01-01T00:45:00Z"),
            ("5/20 * * * *", "2025-01-01T00:45:00Z", "2025-01-01T01:05:00Z"),
            ("30 6-16/4 * * 1-5", "2025-01-03T14:30:00Z", "2025-01-06T06:30:00Z"),
            // Both choose days, so that either is enough; a star leaves the choice to the other.
            ("0 0 13 * fri", "2025-01-01T00:00:00Z", "2025-01-03T00:00:00Z"),
            ("0 0 13 * *", "2025-01-01T00:00:00Z", "2025-01-13T00:00:00Z"),
            ("0 0 */2 * fri", "2025-01-01T00:00:00Z", "2025-01-03T00:00:00Z"),
            ("0 0 29 2 *", "2025-03-01T00:00:00Z", "2028-02-29T00:00:00Z"),
            ("59 23 31 2 *", "2025-01-01T00:00:00Z", "never"),
            ("@hourly", "2025-12-31T23:00:00Z", "2026-01-01T00:00:00Z"),
            ("@weekly", "2025-01-01T00:00:00Z", "2025-01-05T00:00:00Z"),
            ("@yearly", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
            ("@every 90s", "2025-01-01T00:00:00.250Z", "2025-01-01T00:01:30Z"),
            ("@every 10ms", "2025-01-01T00:00:00Z", "2025-01-01T00:00:01Z"),
        ] {
            assert_eq!(next(text, after), expected, "{text} after {after}");
        }
    }
}
