//! Formats instants for recordings, to the microsecond: the first as text, the others as seconds after it.

use jiff::Timestamp;

/// Formats an instant with microseconds.
pub(super) fn instant(at: Timestamp) -> String {
    format!("{at:.6}")
}

/// Returns how many seconds an instant is after the start, to the microsecond.
pub(super) fn offset(started: Timestamp, at: Timestamp) -> f64 {
    (at.duration_since(started).as_secs_f64() * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_printed_with_microseconds() {
        let at: Timestamp = "2026-01-01T00:00:00.5Z".parse().unwrap();
        assert_eq!(instant(at), "2026-01-01T00:00:00.500000Z");
        assert!(
            (offset(Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_nanos(1_500_400))
                - 0.0015)
                .abs()
                < 1e-9
        );
    }
}
