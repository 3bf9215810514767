//! Reads instants as Go's `time.Parse` does by the layouts of RFC 3339, with its errors.
//!
//! Mirrors Go's time/format.go (1.26), `parse`. Input: a text. Output: the instant, or the error. Invariant: what is
//! refused is refused at the place and in the words of Go.

use alloc::format;
use alloc::string::String;

use jiff::civil::{Date, Time};
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

/// A layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TimeLayout {
    /// `time.RFC3339`: a fraction of any length, or none.
    Rfc3339,
    /// `metav1.RFC3339Micro`: six digits behind the seconds.
    Rfc3339Micro,
}

impl TimeLayout {
    const fn text(self) -> &'static str {
        match self {
            Self::Rfc3339 => "2006-01-02T15:04:05Z07:00",
            Self::Rfc3339Micro => "2006-01-02T15:04:05.000000Z07:00",
        }
    }
}

/// Why a part of a text does not fit.
enum Misfit {
    /// It is not what the layout has there.
    Form,
    /// It is a number out of its range.
    Range(&'static str),
}

/// What is left of a text that is read from its front.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn mark(&mut self, mark: &str) -> Result<(), Misfit> {
        self.0 = self.0.strip_prefix(mark).ok_or(Misfit::Form)?;
        Ok(())
    }

    /// Takes so many bytes.
    fn take(&mut self, count: usize) -> Result<&'a str, Misfit> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Misfit::Form)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Takes a number of so many digits.
    fn number(&mut self, digits: usize) -> Result<i16, Misfit> {
        digits_of(self.take(digits)?).and_then(|value| i16::try_from(value).ok()).ok_or(Misfit::Form)
    }

    /// Takes an hour, which may have one digit.
    fn hour(&mut self) -> Result<i16, Misfit> {
        let second = self.0.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        self.number(if second { 2 } else { 1 })
    }

    /// Takes the digits behind the seconds; returns nanoseconds, of which Go reads nine digits.
    fn fraction(&mut self, layout: TimeLayout) -> Result<i32, Misfit> {
        let behind = self.0.strip_prefix(['.', ',']).unwrap_or("");
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        let taken = match layout {
            TimeLayout::Rfc3339 => digits,
            TimeLayout::Rfc3339Micro if digits >= 6 => 6,
            TimeLayout::Rfc3339Micro => return Err(Misfit::Form),
        };
        if taken == 0 {
            return Ok(0);
        }
        self.take(1 + taken)?;
        let read = taken.min(9);
        let number = digits_of(&behind[..read]).unwrap_or_default();
        Ok(number * 10_i32.pow(9 - read as u32))
    }

    /// Takes a zone; returns how far it is ahead.
    fn zone(&mut self) -> Result<SignedDuration, Misfit> {
        if self.mark("Z").is_ok() {
            return Ok(SignedDuration::ZERO);
        }
        let zone = self.take(6)?;
        let part = |from: usize| zone.get(from..from + 2).and_then(digits_of).ok_or(Misfit::Form);
        if zone.get(3..4) != Some(":") {
            return Err(Misfit::Form);
        }
        let (hours, minutes) = (part(1)?, part(4)?);
        let sign = match zone.as_bytes()[0] {
            b'+' => 1,
            b'-' => -1,
            _ => return Err(Misfit::Form),
        };
        match (hours, minutes) {
            (25.., _) => Err(Misfit::Range("time zone offset hour")),
            (_, 61..) => Err(Misfit::Range("time zone offset minute")),
            _ => Ok(SignedDuration::from_mins(i64::from(sign * (hours * 60 + minutes)))),
        }
    }
}

fn digits_of(text: &str) -> Option<i32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Refuses a number that is out of its range.
fn within(number: i16, least: i16, most: i16, name: &'static str) -> Result<i8, Misfit> {
    i8::try_from(number).ok().filter(|_| (least..=most).contains(&number)).ok_or(Misfit::Range(name))
}

/// Reads an instant.
///
/// # Errors
/// The text is none by the layout, in Go's words.
pub(super) fn parse(text: &str, layout: TimeLayout) -> Result<Timestamp, String> {
    let mut rest = Rest(text);
    let mut part = |name: &str, take: &mut dyn FnMut(&mut Rest<'_>) -> Result<(), Misfit>| {
        let hold = rest.0;
        take(&mut rest).map_err(|misfit| match misfit {
            Misfit::Form => format!("parsing time {text:?} as {:?}: cannot parse {hold:?} as {name:?}", layout.text()),
            Misfit::Range(what) => format!("parsing time {text:?}: {what} out of range"),
        })
    };
    let (mut year, mut month, mut day, mut hour, mut minute, mut second, mut nanos) = (0, 0, 0, 0, 0, 0, 0);
    let mut ahead = SignedDuration::ZERO;
    part("2006", &mut |rest| rest.number(4).map(|it| year = it))?;
    part("-", &mut |rest| rest.mark("-"))?;
    part("01", &mut |rest| within(rest.number(2)?, 1, 12, "month").map(|it| month = it))?;
    part("-", &mut |rest| rest.mark("-"))?;
    part("02", &mut |rest| within(rest.number(2)?, 0, 99, "day").map(|it| day = it))?;
    part("T", &mut |rest| rest.mark("T"))?;
    part("15", &mut |rest| within(rest.hour()?, 0, 23, "hour").map(|it| hour = it))?;
    part(":", &mut |rest| rest.mark(":"))?;
    part("04", &mut |rest| within(rest.number(2)?, 0, 59, "minute").map(|it| minute = it))?;
    part(":", &mut |rest| rest.mark(":"))?;
    part("05", &mut |rest| within(rest.number(2)?, 0, 59, "second").map(|it| second = it))?;
    part(".000000", &mut |rest| rest.fraction(layout).map(|it| nanos = it))?;
    part("Z07:00", &mut |rest| rest.zone().map(|it| ahead = it))?;
    if !rest.0.is_empty() {
        return Err(format!("parsing time {text:?}: extra text: {:?}", rest.0));
    }
    let date = Date::new(year, month, day).map_err(|_| format!("parsing time {text:?}: day out of range"))?;
    let time = Time::new(hour, minute, second, nanos).map_err(|why| format!("parsing time {text:?}: {why}"))?;
    let at = Offset::UTC.to_timestamp(date.to_datetime(time)).and_then(|at| at.checked_sub(ahead));
    at.map_err(|why| format!("parsing time {text:?}: {why}"))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::{TimeLayout, parse};

    #[test]
    fn micro_times_have_six_digits_and_are_refused_in_the_words_of_go() {
        let micro = |text: &str| match parse(text, TimeLayout::Rfc3339Micro) {
            Ok(at) => at.to_string(),
            Err(why) => {
                let as_layout = " as \"2006-01-02T15:04:05.000000Z07:00\"";
                why.replacen(&alloc::format!("parsing time {text:?}"), "", 1).replacen(as_layout, "", 1)
            }
        };
        for (text, expected) in [
            ("2026-01-01T00:00:00.123456Z", "2026-01-01T00:00:00.123456Z"),
            ("2026-01-01T00:00:00,123456Z", "2026-01-01T00:00:00.123456Z"),
            ("2026-01-01T02:00:00.123456+02:00", "2026-01-01T00:00:00.123456Z"),
            ("2026-01-01T5:00:00.123456Z", "2026-01-01T05:00:00.123456Z"),
            ("0001-01-01T00:00:00.000000Z", "0001-01-01T00:00:00Z"),
            ("2026-01-01 00:00:00.123456Z", ": cannot parse \" 00:00:00.123456Z\" as \"T\""),
            ("2026-01-01T00:00:60.123456Z", ": second out of range"),
            ("2026-01-01T00:60:00.123456Z", ": minute out of range"),
            ("2026-01-01T24:00:00.123456Z", ": hour out of range"),
            ("2026-13-01T00:00:00.123456Z", ": month out of range"),
            ("2026-02-30T00:00:00.123456Z", ": day out of range"),
            ("2026-01-00T00:00:00.123456Z", ": day out of range"),
            ("2026-01-01T00:00:00.123456z", ": cannot parse \"z\" as \"Z07:00\""),
            ("2026-01-01T00:00:00.123456", ": cannot parse \"\" as \"Z07:00\""),
            ("2026-01-01T00:00:00.1234567Z", ": cannot parse \"7Z\" as \"Z07:00\""),
            ("2026-01-01T00:00:00.12345Z", ": cannot parse \".12345Z\" as \".000000\""),
            ("2026-01-01T00:00:00Z", ": cannot parse \"Z\" as \".000000\""),
            ("2026-01-01T00:00:00.123456Zx", ": extra text: \"x\""),
            ("2026-01-01T00:00:00.123456+25:00", ": time zone offset hour out of range"),
            ("26-01-01", ": cannot parse \"26-01-01\" as \"2006\""),
            ("", ": cannot parse \"\" as \"2006\""),
        ] {
            assert_eq!(micro(text), expected, "{text}");
        }
    }

    #[test]
    fn other_times_have_any_fraction() {
        let read = |text: &str| parse(text, TimeLayout::Rfc3339).map(|at| at.to_string());
        assert_eq!(read("2026-01-01T00:00:00Z").as_deref(), Ok("2026-01-01T00:00:00Z"));
        assert_eq!(read("2026-01-01T00:00:00,5Z").as_deref(), Ok("2026-01-01T00:00:00.5Z"));
        assert_eq!(read("2026-01-01T00:00:00.12345678901Z").as_deref(), Ok("2026-01-01T00:00:00.123456789Z"));
        let why = "parsing time \"2026-01-01T00:00:00z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"z\" as \
             \"Z07:00\"";
        assert_eq!(read("2026-01-01T00:00:00z").unwrap_err(), why);
    }
}
