//! Integers as Go writes them in any base. Pure.
//!
//! Source: Go's strconv.ParseInt with base 0, which flags and YAML use.

use alloc::borrow::ToOwned;
use alloc::string::String;

/// Splits an integer into its sign, its digits in lower case, and the base that its beginning names: `0x`, `0b`, `0o`
/// or a leading zero. The digits are not checked.
pub(crate) fn parts(text: &str) -> (i128, String, u32) {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let (digits, base) = match lower.get(..2) {
        Some("0x") => (&lower[2..], 16),
        Some("0b") => (&lower[2..], 2),
        Some("0o") => (&lower[2..], 8),
        Some(start) if start.starts_with('0') => (&lower[1..], 8),
        _ => (lower.as_str(), 10),
    };
    (sign, digits.to_owned(), base)
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn the_beginning_names_the_base() {
        let cases = [
            ("12", (1, "12", 10)),
            ("-0x1F", (-1, "1f", 16)),
            ("+0b1", (1, "1", 2)),
            ("0o7", (1, "7", 8)),
            ("017", (1, "17", 8)),
            ("0", (1, "0", 10)),
            ("", (1, "", 10)),
        ];
        for (text, (sign, digits, base)) in cases {
            assert_eq!(parts(text), (sign, digits.into(), base), "{text:?}");
        }
    }
}
