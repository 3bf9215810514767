//! Instants as Kubernetes' API prints them.
//!
//! Source: k8s.io/apimachinery pkg/apis/meta/v1/{time,micro_time}.go (v1.34): `Time` has whole seconds, `MicroTime`
//! exactly six digits. `Time` loses fractions of a second, as in the real API. Pure.

use alloc::format;
use alloc::string::String;

use jiff::{SignedDuration, Timestamp};

/// Prints an instant as `metav1.Time`: RFC 3339, UTC, whole seconds, cut and not rounded.
#[must_use]
pub fn to_time(at: Timestamp) -> String {
    format!("{:.0}", whole_seconds(at))
}

/// Prints an instant as `metav1.MicroTime`: RFC 3339, UTC, six fractional digits.
#[must_use]
pub fn to_micro_time(at: Timestamp) -> String {
    format!("{at:.6}")
}

/// Cuts an instant to whole seconds, as a round trip through `metav1.Time` does.
#[must_use]
pub fn whole_seconds(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second() - i64::from(at.subsec_nanosecond() < 0)).unwrap_or(at)
}

/// Cuts an instant to microseconds, as a round trip through `metav1.MicroTime` does.
#[must_use]
pub fn whole_micros(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}

/// Reads an instant of the API; `None` for anything that is not RFC 3339.
#[must_use]
pub fn parse(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// Prints an offset for people: `+46.251s`, `-12s`; milliseconds, trailing zeros left out.
#[must_use]
pub fn offset(at: Timestamp, zero: Timestamp) -> String {
    let millis = at.duration_since(zero).as_millis();
    let sign = if millis < 0 { '-' } else { '+' };
    let (seconds, rest) = (millis.abs() / 1000, millis.abs() % 1000);
    let text = if rest == 0 { format!("{seconds}") } else { format!("{seconds}.{rest:03}") };
    format!("{sign}{}s", if rest == 0 { text.as_str() } else { text.trim_end_matches('0') })
}

/// Reads an offset, as `+46.251s` or `-12s`.
#[must_use]
pub fn parse_offset(text: &str) -> Option<SignedDuration> {
    parse_duration(text.strip_prefix('+').unwrap_or(text))
}

/// Prints a duration for people: `46.251s`, trailing zeros left out.
#[must_use]
pub fn seconds(duration: SignedDuration) -> String {
    String::from(offset(Timestamp::UNIX_EPOCH + duration, Timestamp::UNIX_EPOCH).trim_start_matches('+'))
}

/// Prints a duration exactly, in seconds: `40s`, `0.000001s`, trailing zeros left out.
#[must_use]
pub fn exact_seconds(duration: SignedDuration) -> String {
    let sign = if duration.is_negative() { "-" } else { "" };
    let (seconds, nanos) = (duration.as_secs().unsigned_abs(), duration.subsec_nanos().unsigned_abs());
    let text = format!("{seconds}.{nanos:09}");
    format!("{sign}{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Reads a duration as Go's `time.ParseDuration` does: `40s`, `5m`, `1h30m`, `1.5s`, `-3s`, `200ms`, `0`.
///
/// `None` for anything else; a number without a unit is refused, but for zero.
#[must_use]
pub fn parse_duration(text: &str) -> Option<SignedDuration> {
    i64::try_from(parse_nanos(text)?).ok().map(SignedDuration::from_nanos)
}

/// Tells whether a text is a duration but for its length: Go's end at 2562047h47m16.854775807s.
#[must_use]
pub fn is_too_long(text: &str) -> bool {
    parse_nanos(text).is_some_and(|nanos| i64::try_from(nanos).is_err())
}

fn parse_nanos(text: &str) -> Option<i128> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut nanos: i128 = 0;
    let mut first = true;
    while first || !rest.is_empty() {
        first = false;
        let number_end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, tail) = rest.split_at(number_end);
        let unit_end = tail.find(|letter: char| letter.is_ascii_digit() || letter == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        nanos = nanos.checked_add(scaled(number, nanos_of(unit)?)?)?;
        rest = tail;
    }
    Some(if negative { -nanos } else { nanos })
}

/// Returns Go's error for a text that is no duration. Source: Go's time.ParseDuration.
#[must_use]
pub fn go_duration_error(text: &str) -> String {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut rest = text.trim_start_matches(['+', '-']);
    while rest.starts_with(|c: char| c.is_ascii_digit()) {
        let tail = rest.trim_start_matches(is_number);
        let unit = &tail[..tail.find(is_number).unwrap_or(tail.len())];
        match unit {
            "" => return format!("time: missing unit in duration \"{text}\""),
            "ns" | "us" | "\u{b5}s" | "\u{3bc}s" | "ms" | "s" | "m" | "h" => rest = &tail[unit.len()..],
            _ => return format!("time: unknown unit \"{unit}\" in duration \"{text}\""),
        }
    }
    format!("time: invalid duration \"{text}\"")
}

fn nanos_of(unit: &str) -> Option<i128> {
    Some(match unit {
        "ns" => 1,
        // The micro sign and the Greek letter, as in Go.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// Multiplies a decimal number with a unit, cutting what is below a nanosecond.
fn scaled(number: &str, unit: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') || whole.len() > 18 || fraction.len() > 18 {
        return None;
    }
    let digits = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<i128>().ok() };
    let parts = digits(fraction)?.checked_mul(unit)? / 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    digits(whole)?.checked_mul(unit)?.checked_add(parts)
}

/// Prints how long something has been, for people: `5m30s`, `3h`, `12d`.
///
/// Source: k8s.io/apimachinery pkg/util/duration/duration.go (v1.34), `HumanDuration`.
#[must_use]
pub fn human_duration(duration: SignedDuration) -> String {
    let seconds = duration.as_secs();
    if seconds < -1 {
        return String::from("<invalid>");
    }
    if seconds < 0 {
        return String::from("0s");
    }
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let two = |whole: i64, unit: char, rest: i64, small: char| {
        if rest == 0 { format!("{whole}{unit}") } else { format!("{whole}{unit}{rest}{small}") }
    };
    match seconds {
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, 'm', seconds % 60, 's'),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, 'h', minutes % 60, 'm'),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(hours / 24, 'd', hours % 24, 'h'),
        691_200..63_072_000 => format!("{}d", hours / 24),
        63_072_000..252_288_000 => two(hours / 8760, 'y', (hours / 24) % 365, 'd'),
        _ => format!("{}y", hours / 8760),
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::{exact_seconds, human_duration, offset, parse_duration, to_micro_time, to_time};

    #[test]
    fn a_duration_is_printed_with_as_many_units_as_people_need() {
        for (seconds, text) in [
            (-5, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (599, "9m59s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (11_460, "3h11m"),
            (28_800, "8h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (176_400, "2d1h"),
            (691_200, "8d"),
            (323 * 86_400, "323d"),
            (730 * 86_400, "2y"),
            (731 * 86_400, "2y1d"),
            (9 * 365 * 86_400, "9y"),
        ] {
            assert_eq!(human_duration(SignedDuration::from_secs(seconds)), text, "{seconds}");
        }
    }

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, millis) in [
            ("40s", 40_000),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("1.5s", 1_500),
            ("-3s", -3_000),
            ("200ms", 200),
            (".5s", 500),
            ("0", 0),
            ("+2s", 2_000),
        ] {
            assert_eq!(parse_duration(text), Some(SignedDuration::from_millis(millis)), "{text}");
        }
        for text in
            ["", "40", "s", "1.2.3s", ".s", "4 s", "5 minutes", "1d", "-", "--1s", "99999999999999999999s", "1e3s"]
        {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }

    #[test]
    fn durations_are_printed_without_loss() {
        for text in ["40s", "0.000001s", "-3.5s", "0s", "10s"] {
            assert_eq!(exact_seconds(parse_duration(text).unwrap()), text);
        }
    }

    #[test]
    fn instants_have_the_precision_of_their_type() {
        let at: Timestamp = "2026-01-01T00:00:59.999999900Z".parse().unwrap();
        assert_eq!(to_time(at), "2026-01-01T00:00:59Z");
        assert_eq!(to_micro_time(at), "2026-01-01T00:00:59.999999Z");
    }

    #[test]
    fn offsets_drop_what_says_nothing() {
        let zero: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(offset(zero, zero), "+0s");
        assert_eq!(offset("2026-01-01T00:00:46.250Z".parse().unwrap(), zero), "+46.25s");
        assert_eq!(offset("2025-12-31T23:59:48Z".parse().unwrap(), zero), "-12s");
    }
}
