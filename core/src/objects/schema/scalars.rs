//! Reads single values as Go would: quantities, instants, bytes.
//!
//! Mirrors `UnmarshalJSON` of k8s.io/apimachinery pkg/api/resource/quantity.go, pkg/apis/meta/v1/{time,micro_time}.go
//! and encoding/json (v1.34). Inputs: a text. Outputs: the value as it is printed, or the error.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

use jiff::Timestamp;

use super::DecodeError;
use super::go_time::{self, TimeLayout};
use crate::objects::quantity::Quantity;
use crate::objects::{Json, Text, base64, time};

/// Reads an item of bytes that are written as a list of numbers.
pub(super) fn byte(item: &Json) -> Option<u8> {
    u8::try_from(item.as_i64()?).ok()
}

/// Tells whether a quantity is certainly printed as it is written: a few digits that no larger unit could shorten.
pub(super) fn is_canonical(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let count = match number.parse::<u32>() {
        Ok(count) if digits < 7 && !number.starts_with('0') => count,
        _ => return text == "0",
    };
    match unit {
        "" | "m" | "k" | "M" | "G" => count % 1000 != 0,
        "Ki" | "Mi" | "Gi" => count % 1024 != 0,
        _ => false,
    }
}

/// Reads bytes; they are printed in base64 without line breaks.
pub(super) fn bytes(text: &str) -> Result<Text, DecodeError> {
    match base64::problem(text) {
        Some(at) => Err(DecodeError(format!("illegal base64 data at input byte {at}"))),
        None => Ok(Text::from(base64::encode(&base64::decode(text).unwrap_or_default()))),
    }
}

pub(super) fn quantity(text: &str) -> Result<Json, DecodeError> {
    match Quantity::canonical(text.trim()) {
        Ok(printed) => Ok(Json::text(printed)),
        Err(why) => Err(DecodeError(why.to_owned())),
    }
}

/// Says what is wrong with a quantity, if anything is.
#[must_use]
pub fn quantity_error(text: &str) -> Option<String> {
    quantity(text).err().map(|error| error.0)
}

/// Says what is wrong with an instant in whole seconds, if anything is.
#[must_use]
pub fn instant_error(text: &Text) -> Option<String> {
    read_time(text).err().map(|error| error.0)
}

/// Tells whether an instant is certainly printed as it is written: whole seconds, a day that every month has, in UTC.
fn is_whole_second(text: &str) -> bool {
    const MOST: [(usize, &[u8; 2], &[u8; 2]); 5] =
        [(5, b"01", b"12"), (8, b"01", b"28"), (11, b"00", b"23"), (14, b"00", b"59"), (17, b"00", b"59")];
    let bytes = text.as_bytes();
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'Z')];
    bytes.len() == 20
        && (b"1970"..=b"2999").contains(&&[bytes[0], bytes[1], bytes[2], bytes[3]])
        && marks.iter().all(|(at, mark)| bytes[*at] == *mark)
        && bytes.iter().enumerate().all(|(at, byte)| byte.is_ascii_digit() || marks.iter().any(|(mark, _)| *mark == at))
        && MOST.iter().all(|(at, least, most)| (*least..=*most).contains(&&[bytes[*at], bytes[at + 1]]))
}

pub(super) fn read_time(text: &Text) -> Result<Json, DecodeError> {
    if is_whole_second(text) {
        return Ok(Json::Str(text.clone()));
    }
    let at = go_time::parse(text, TimeLayout::Rfc3339).map_err(DecodeError)?;
    Ok(printed(text, at, time::to_time))
}

pub(super) fn read_micro_time(text: &Text) -> Result<Json, DecodeError> {
    let at = go_time::parse(text, TimeLayout::Rfc3339Micro).map_err(DecodeError)?;
    Ok(printed(text, at, time::to_micro_time))
}

/// Returns an instant as it is printed: Go's zero as `null`.
fn printed(text: &Text, at: Timestamp, print: impl Fn(Timestamp) -> String) -> Json {
    if at.as_second() == GO_ZERO && at.subsec_nanosecond() == 0 {
        return Json::Null;
    }
    let printed = print(at);
    if printed == text.as_str() { Json::Str(text.clone()) } else { Json::text(printed) }
}

/// The first second of the year 1. Source: Go's time/time.go (1.26), `IsZero`.
const GO_ZERO: i64 = -62_135_596_800;

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    #[test]
    fn what_is_taken_for_canonical_is_printed_as_it_is_written() {
        let numbers =
            ["0", "1", "5", "999", "1000", "1001", "1023", "1024", "1025", "2048", "102400", "00", "01", "999999"];
        for number in numbers {
            for unit in ["", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "e3", "E"] {
                let text = format!("{number}{unit}");
                let printed = super::Quantity::parse(&text).map(|quantity| quantity.to_string());
                assert!(!super::is_canonical(&text) || printed.as_deref() == Some(&*text), "{text} {printed:?}");
            }
        }
        assert!(["0", "110", "4", "500m", "7910Mi"].into_iter().all(super::is_canonical));
    }

    #[test]
    fn what_is_taken_for_a_whole_second_is_printed_as_it_is_written() {
        let texts = [
            "2026-01-01T00:00:00Z",
            "1970-01-01T00:00:00Z",
            "2026-12-28T23:59:59Z",
            "2026-02-30T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-10T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:60Z",
            "2026-01-01t00:00:00z",
            "2026-01-01T00:00:0Z0",
            "1969-01-01T00:00:00Z",
            "202:-01-01T00:00:00Z",
            "2026-01-1/T00:00:00Z",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00:00:00+",
        ];
        let mut taken = 0;
        for text in texts {
            let printed = super::time::parse(text).map(super::time::to_time);
            assert!(!super::is_whole_second(text) || printed.as_deref() == Some(text), "{text} {printed:?}");
            taken += usize::from(super::is_whole_second(text));
        }
        assert_eq!(taken, 3);
    }
}
