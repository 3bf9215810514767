//! Values that people write: amounts of resources and spans of time.

use alloc::string::ToString;
use alloc::vec::Vec;

use jiff::SignedDuration;

use crate::objects::quantity::Quantity;
use crate::objects::{FieldError, Json, Reader};

/// Reads a field that is an amount of a resource.
pub(crate) fn quantity_field(reader: &mut Reader<'_>, name: &'static str) -> Result<Option<Quantity>, FieldError> {
    let Some(value) = reader.any(name) else { return Ok(None) };
    quantity(value).map(Some).ok_or_else(|| reader.error(name, QUANTITY_NEEDED))
}

/// What is said of a value that is no quantity.
pub(crate) const QUANTITY_NEEDED: &str = "a quantity, as \"4\" or \"16Gi\", is needed";

/// Reads a quantity, which Kubernetes allows as text and as number.
pub(crate) fn quantity(value: &Json) -> Option<Quantity> {
    match value {
        Json::Str(text) => Quantity::parse(text),
        Json::Int(_) | Json::Float(_) => Quantity::parse(&value.to_string()),
        _ => None,
    }
}

/// Reads a duration as Go's `time.ParseDuration` does: `300ms`, `-1.5h`, `2m30s`; a bare number only if it is 0.
pub(crate) fn duration(text: &str) -> Option<SignedDuration> {
    const UNITS: [(&str, i64); 8] = [
        ("ns", 1),
        ("us", 1_000),
        ("\u{b5}s", 1_000),
        ("\u{3bc}s", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    let negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Some(SignedDuration::ZERO);
    }
    let mut nanos: i128 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let number_end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(number_end);
        let unit_end = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        let (_, scale) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        if digits.is_empty() || digits.len() > 24 || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let mantissa = digits.iter().fold(0_i128, |sum, digit| sum * 10 + i128::from(digit - b'0'));
        nanos += mantissa * i128::from(*scale) / 10_i128.pow(u32::try_from(fraction.len()).ok()?);
        rest = tail;
    }
    let nanos = i64::try_from(if negative { -nanos } else { nanos }).ok()?;
    Some(SignedDuration::from_nanos(nanos))
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::duration;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, millis) in
            [("40s", 40_000), ("1m30s", 90_000), ("-3s", -3_000), ("1.5h", 5_400_000), ("0", 0), ("250ms", 250)]
        {
            assert_eq!(duration(text), Some(SignedDuration::from_millis(millis)), "{text}");
        }
        for text in ["", "5", "ten", "s", "5 s", "1d", "1s2"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
