//! Texts in quotes, as Go prints them.
//!
//! Mirrors Go's strconv/quote.go (1.24), `Quote`. Pure. Left out on purpose: letters without a glyph that are no
//! control characters.

use alloc::format;
use alloc::string::String;

/// Quotes as Go's `%q` does.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            letter if letter.is_ascii_control() => out.push_str(&format!("\\x{:02x}", u32::from(letter))),
            letter if letter.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}
