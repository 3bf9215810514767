//! The error message for a body that is not JSON.
//!
//! Mirrors the scanner of Go's encoding/json (1.24). Inputs: the text of a body. Outputs: the message's end.

use alloc::format;
use alloc::string::{String, ToString};

use crate::objects::{Json, WrittenJson, without_depths};

const CUT_OFF: &str = "unexpected end of JSON input";
/// Says where a text departs from JSON; for a text that is JSON, the message for one that ends too early.
pub(super) fn problem(text: &str) -> String {
    without_depths(text).map_or_else(ToString::to_string, |text| problem_of_bytes(text.as_bytes()))
}

/// Says the same of bytes that may be no text, and are few.
pub(super) fn problem_of_bytes(bytes: &[u8]) -> String {
    let mut scanner = Scanner { bytes, at: 0 };
    let found = scanner.value().and_then(|()| {
        scanner.skip();
        scanner.peek().map_or(Ok(()), |byte| Err(wrong(byte, "after top-level value")))
    });
    found.err().unwrap_or_else(|| CUT_OFF.to_string())
}

/// Names what a value is, as Go's encoding/json does.
pub(super) fn kind_of(value: &Json) -> &'static str {
    match value {
        Json::Array(_) => "array",
        Json::Str(_) => "string",
        Json::Bool(_) => "bool",
        Json::Object(_) => "object",
        _ => "number",
    }
}

/// Names what a value is that cannot be read as a structure; nothing if it can.
pub(super) fn no_struct(value: &Json) -> Option<&'static str> {
    (!value.is_object() && !value.is_null()).then(|| kind_of(value))
}

/// Says that a value, which is JSON, is no object.
pub(super) fn no_object(value: &Json) -> String {
    let found = kind_of(value);
    format!(
        "json: cannot unmarshal {found} into Go value of type struct {{ APIVersion string \
         \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}"
    )
}

/// Names what a value is that should be a text; nothing if it is one, or none at all.
pub(super) fn no_text(value: &WrittenJson) -> Option<&'static str> {
    match value {
        WrittenJson::Str(_) | WrittenJson::Null => None,
        WrittenJson::List(_) => Some("array"),
        WrittenJson::Fields(_) => Some("object"),
        WrittenJson::Bool(_) => Some("bool"),
        WrittenJson::Number(_) => Some("number"),
    }
}

fn wrong(byte: u8, place: &str) -> String {
    let shown = match byte {
        b'\'' => "'\\''".to_string(),
        b'"' => "'\"'".to_string(),
        byte => {
            let quoted = format!("{:?}", char::from(byte).to_string());
            format!("'{}'", quoted.trim_matches('"'))
        }
    };
    format!("invalid character {shown} {place}")
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn next(&mut self) -> Result<u8, String> {
        let byte = self.peek().ok_or_else(|| CUT_OFF.to_string())?;
        self.at += 1;
        Ok(byte)
    }

    fn value(&mut self) -> Result<(), String> {
        self.skip();
        match self.next()? {
            b'{' => self.members(),
            b'[' => self.items(),
            b'"' => self.string(),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            b'-' => match self.next()? {
                byte if byte.is_ascii_digit() => self.number(),
                byte => Err(wrong(byte, "in numeric literal")),
            },
            byte if byte.is_ascii_digit() => self.number(),
            byte => Err(wrong(byte, "looking for beginning of value")),
        }
    }

    fn members(&mut self) -> Result<(), String> {
        self.skip();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.skip();
            match self.next()? {
                b'"' => self.string()?,
                byte => return Err(wrong(byte, "looking for beginning of object key string")),
            }
            self.skip();
            match self.next()? {
                b':' => self.value()?,
                byte => return Err(wrong(byte, "after object key")),
            }
            self.skip();
            match self.next()? {
                b',' => {}
                b'}' => return Ok(()),
                byte => return Err(wrong(byte, "after object key:value pair")),
            }
        }
    }

    fn items(&mut self) -> Result<(), String> {
        self.skip();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.value()?;
            self.skip();
            match self.next()? {
                b',' => {}
                b']' => return Ok(()),
                byte => return Err(wrong(byte, "after array element")),
            }
        }
    }

    fn string(&mut self) -> Result<(), String> {
        loop {
            match self.next()? {
                b'"' => return Ok(()),
                b'\\' => match self.next()? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                    b'u' => {
                        for _ in 0..4 {
                            let byte = self.next()?;
                            if !byte.is_ascii_hexdigit() {
                                return Err(wrong(byte, "in \\u hexadecimal character escape"));
                            }
                        }
                    }
                    byte => return Err(wrong(byte, "in string escape code")),
                },
                byte if byte < 0x20 => return Err(wrong(byte, "in string literal")),
                _ => {}
            }
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), String> {
        for expected in word.bytes().skip(1) {
            let byte = self.next()?;
            if byte != expected {
                return Err(wrong(byte, &format!("in literal {word} (expecting '{}')", char::from(expected))));
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), String> {
        let digits = |scanner: &mut Self| {
            while scanner.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                scanner.at += 1;
            }
        };
        if self.bytes[self.at - 1] != b'0' {
            digits(self);
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            match self.next()? {
                byte if byte.is_ascii_digit() => digits(self),
                byte => return Err(wrong(byte, "after decimal point in numeric literal")),
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            match self.next()? {
                byte if byte.is_ascii_digit() => digits(self),
                byte => return Err(wrong(byte, "in exponent of numeric literal")),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn a_text_that_is_no_json_is_told_in_gos_words() {
        let cases = [
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            ("spec", "invalid character 's' looking for beginning of value"),
            ("{a", "invalid character 'a' looking for beginning of object key string"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 2}", "invalid character '2' after object key:value pair"),
            ("[1 2]", "invalid character '2' after array element"),
            ("{} x", "invalid character 'x' after top-level value"),
            ("tru", "unexpected end of JSON input"),
            ("trux", "invalid character 'x' in literal true (expecting 'e')"),
            ("-x", "invalid character 'x' in numeric literal"),
            (&"[".repeat(1_000_000), "invalid character '[' exceeded max depth"),
            (&"[".repeat(1000), "unexpected end of JSON input"),
        ];
        for (text, expected) in cases {
            assert_eq!(problem(text), expected, "{text}");
        }
    }
}
