//! Instants as Kubernetes' API prints them.
//!
//! Source: k8s.io/apimachinery pkg/apis/meta/v1/{time,micro_time}.go (v1.34): `Time` has whole seconds, `MicroTime`
//! exactly six digits. Sub-second state is lost through `Time`, as in the real API.

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

/// Prints a duration for people: `46.251s`, trailing zeros left out.
#[must_use]
pub fn seconds(duration: SignedDuration) -> String {
    String::from(offset(Timestamp::UNIX_EPOCH + duration, Timestamp::UNIX_EPOCH).trim_start_matches('+'))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{offset, to_micro_time, to_time};

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
