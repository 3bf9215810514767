//! The three patch types of the API, and the patch that leads from one object to another: pure functions over JSON.

mod json_document;
mod json_patch;
mod strategic;
mod two_way;

use alloc::string::String;

pub use json_patch::{JsonPatch, JsonPatchError};
pub use strategic::{strategic_merge, strategic_merge_taking};
pub use two_way::{status_patch, two_way};

use super::{Json, NULL};

/// Why a strategic merge patch does not fit, in the API server's words.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PatchError {
    /// The patch is malformed: 400.
    #[error("{0}")]
    Malformed(String),
    /// The patch asks for something that is not supported: 422 without a message.
    #[error("{0}")]
    Unsupported(String),
    /// Anything else: 500 with the text as it is.
    #[error("{0}")]
    Other(String),
}

/// Applies a JSON merge patch (RFC 7386): null removes, objects merge, anything else replaces. Fields that are null go
/// from the items of lists too, as gopkg.in/evanphx/json-patch.v4 has it (v1.34), `pruneAryNils`.
#[must_use]
pub fn merge(original: &Json, patch: &Json) -> Json {
    if let Json::Array(items) = patch {
        return items.iter().map(|item| merge(&NULL, item)).collect();
    }
    let Json::Object(fields) = patch else { return patch.clone() };
    let mut merged = if original.is_object() { original.clone() } else { Json::object() };
    for (name, value) in fields.iter() {
        let into = merged.make_object();
        if value.is_null() {
            into.remove(name);
        } else {
            let place = into.entry(name);
            *place = merge(place, value);
        }
    }
    merged
}

/// Returns the name of the type to which Go decodes a value.
#[must_use]
pub const fn go_type(value: &Json) -> &'static str {
    match value {
        Json::Null => "<nil>",
        Json::Bool(_) => "bool",
        Json::Int(_) => "int64",
        Json::Float(_) => "float64",
        Json::Str(_) => "string",
        Json::Array(_) => "[]interface {}",
        Json::Object(_) => "map[string]interface {}",
    }
}

/// Prints a value as Go's `%v` prints what encoding/json made of it: `map[a:1 b:[x y]]`.
#[must_use]
pub fn go_value(value: &Json) -> String {
    use core::fmt::Write as _;
    fn print(value: &Json, out: &mut String) {
        match value {
            Json::Null => out.push_str("<nil>"),
            Json::Str(text) => out.push_str(text),
            Json::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(' ');
                    }
                    print(item, out);
                }
                out.push(']');
            }
            Json::Object(fields) => {
                out.push_str("map[");
                for (at, (name, item)) in fields.iter().enumerate() {
                    let _ = write!(out, "{}{name}:", if at > 0 { " " } else { "" });
                    print(item, out);
                }
                out.push(']');
            }
            other => {
                let _ = write!(out, "{other}");
            }
        }
    }
    let mut out = String::new();
    print(value, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::{go_value, merge};
    use crate::json;

    #[test]
    fn a_merge_patch_follows_rfc_7386() {
        let cases = [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ];
        for (original, patch, expected) in cases {
            assert_eq!(merge(&original, &patch), expected, "{original} with {patch}");
        }
    }

    #[test]
    fn values_print_as_go_prints_them() {
        assert_eq!(
            go_value(&json!({"spec": {"foo": 1, "a": ["x", null, true]}})),
            "map[spec:map[a:[x <nil> true] foo:1]]"
        );
    }
}
