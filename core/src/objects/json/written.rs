//! JSON as it is written: the order of fields, fields that come twice, numbers digit by digit.
//!
//! Messages of Go's decoder depend on these, and a [`Json`] does not keep them. Inputs: a text that is JSON. Outputs:
//! its tree. Pure.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::Json;
use crate::objects::Text;

/// A value as it is written.
#[derive(Clone, PartialEq, Debug)]
pub enum WrittenJson {
    /// `null`.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number, digit by digit.
    Number(String),
    /// A string.
    Str(String),
    /// A list.
    List(Vec<WrittenJson>),
    /// An object's fields in order, with those that come twice.
    Fields(Vec<(String, WrittenJson)>),
}

impl WrittenJson {
    /// Returns a field; of several the last one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Self::Fields(fields) = self else { return None };
        fields.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// Returns the items of a list; nothing for any other value.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        if let Self::List(items) = self { items } else { &[] }
    }

    /// Reads a text; `None` if it is no JSON.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Json::parse(text).ok()?;
        WrittenReader { text, at: 0 }.value()
    }

    /// Returns the tree. A number that a tree cannot hold digit by digit becomes its text, as quantities need it.
    #[must_use]
    pub fn tree(&self) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(*value),
            Self::Number(digits) => match Json::parse(digits) {
                Ok(number) if number.to_string() == *digits => number,
                _ => Json::text(digits.as_str()),
            },
            Self::Str(text) => Json::text(text.as_str()),
            Self::List(items) => items.iter().map(Self::tree).collect(),
            Self::Fields(fields) => {
                fields.iter().map(|(name, item)| (Text::from(name.as_str()), item.tree())).collect()
            }
        }
    }

    /// Tells whether a field comes twice in a text that was read as a tree: then it holds more names than the tree.
    #[must_use]
    pub fn repeats(text: &str, tree: &Json) -> bool {
        let (mut names, mut in_string, mut escaped) = (0, false, false);
        for byte in text.bytes() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = in_string,
                b'"' => in_string = !in_string,
                b':' if !in_string => names += 1,
                _ => {}
            }
        }
        names != names_in(tree)
    }
}

impl fmt::Display for WrittenJson {
    /// Prints the text without the spaces between its parts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |text: &str| serde_json::to_string(text).map_err(|_| fmt::Error);
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(digits) => f.write_str(digits),
            Self::Str(own) => f.write_str(&text(own)?),
            Self::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at == 0 { "[" } else { "," })?;
                }
                f.write_str(if items.is_empty() { "[]" } else { "]" })
            }
            Self::Fields(fields) => {
                for (at, (name, item)) in fields.iter().enumerate() {
                    write!(f, "{}{}:{item}", if at == 0 { "{" } else { "," }, text(name)?)?;
                }
                f.write_str(if fields.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

impl From<&Json> for WrittenJson {
    fn from(value: &Json) -> Self {
        match value {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Int(_) | Json::Float(_) => Self::Number(value.to_string()),
            Json::Str(text) => Self::Str(text.to_string()),
            Json::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Json::Object(_) => {
                Self::Fields(value.fields().map(|(name, item)| (name.to_string(), Self::from(item))).collect())
            }
        }
    }
}

fn names_in(tree: &Json) -> usize {
    let below = |items: &mut dyn Iterator<Item = &Json>| items.map(names_in).sum::<usize>();
    match tree {
        Json::Array(items) => below(&mut items.iter()),
        Json::Object(fields) => fields.len() + below(&mut fields.iter().map(|(_, item)| item)),
        _ => 0,
    }
}

/// Reads a text that is known to be JSON.
struct WrittenReader<'a> {
    text: &'a str,
    at: usize,
}

impl WrittenReader<'_> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns the next byte that is neither space nor a mark between values.
    fn next_mark(&mut self) -> Option<u8> {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\r' | b'\n' | b',' | b':')) {
            self.at += 1;
        }
        self.byte()
    }

    fn value(&mut self) -> Option<WrittenJson> {
        match self.next_mark()? {
            b'{' => {
                self.at += 1;
                let mut fields = Vec::new();
                while self.next_mark()? != b'}' {
                    let name = self.string()?;
                    fields.push((name, self.value()?));
                }
                self.at += 1;
                Some(WrittenJson::Fields(fields))
            }
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                while self.next_mark()? != b']' {
                    items.push(self.value()?);
                }
                self.at += 1;
                Some(WrittenJson::List(items))
            }
            b'"' => self.string().map(WrittenJson::Str),
            _ => {
                let start = self.at;
                let ends = |byte: u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
                while self.byte().is_some_and(|byte| !ends(byte)) {
                    self.at += 1;
                }
                Some(match &self.text[start..self.at] {
                    "null" => WrittenJson::Null,
                    "true" => WrittenJson::Bool(true),
                    "false" => WrittenJson::Bool(false),
                    number => WrittenJson::Number(number.to_string()),
                })
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.at += 1;
        while self.byte()? != b'"' {
            self.at += if self.byte()? == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        serde_json::from_str(&self.text[start..self.at]).ok()
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec;

    use super::WrittenJson;
    use crate::json;

    #[test]
    fn order_repetition_and_digits_are_kept() {
        let read = WrittenJson::parse("{\"b\": [1e0, -2.50, true, null], \"a\": \"x\\\"y\", \"b\" : {}}").unwrap();
        let number = |digits: &str| WrittenJson::Number(digits.into());
        let list = WrittenJson::List(vec![number("1e0"), number("-2.50"), WrittenJson::Bool(true), WrittenJson::Null]);
        let expected = [("b", list), ("a", WrittenJson::Str("x\"y".into())), ("b", WrittenJson::Fields(vec![]))];
        assert_eq!(read, WrittenJson::Fields(expected.into_iter().map(|(name, item)| (name.into(), item)).collect()));
        assert_eq!(read.to_string(), "{\"b\":[1e0,-2.50,true,null],\"a\":\"x\\\"y\",\"b\":{}}");
        assert_eq!(WrittenJson::parse("{\"a\": 1} x"), None);
        assert_eq!(WrittenJson::parse("\u{feff}{}"), None);
    }

    #[test]
    fn a_number_that_a_tree_cannot_hold_keeps_its_digits() {
        let tree =
            WrittenJson::parse("{\"a\": 1e30, \"b\": 1.5, \"c\": 100000000000000000000000, \"d\": 7}").unwrap().tree();
        assert_eq!(tree, json!({"a": "1e30", "b": 1.5, "c": "100000000000000000000000", "d": 7}));
    }

    #[test]
    fn a_field_that_comes_twice_is_seen_wherever_it_stands() {
        let cases = [
            (r#"{"a": {"b": ":\":", "c": [{"d": 1}]}}"#, false),
            (r#"{"a": {"b": 1, "c": [{"d": 1, "d": 2}]}}"#, true),
            (r#"{"a": {"b": 1, "b": 1}}"#, true),
            ("[]", false),
        ];
        for (text, expected) in cases {
            assert_eq!(WrittenJson::repeats(text, &crate::objects::Json::parse(text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn a_tree_is_written_by_names() {
        let written = WrittenJson::from(&json!({"b": 1, "a": [true, "x"]}));
        assert_eq!(WrittenJson::parse("{\"a\": [true, \"x\"], \"b\": 1}"), Some(written));
    }
}
