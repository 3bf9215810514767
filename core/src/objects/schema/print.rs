//! An object as Go's encoding/json prints it: the fields in the order of the Go struct.
//!
//! Messages about patches quote the patched document. What the patch has not looked into is still the text that the
//! server printed; everything else has become a map, whose keys are sorted (gopkg.in/evanphx/json-patch.v4 as of
//! Kubernetes v1.34, `partialDoc`). Inputs: a type's name, a value, what a patch has touched. Outputs: the text.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{FieldType, Schema};
use crate::objects::{Json, Text, WrittenJson};

impl Schema {
    /// Prints a value. `touched` has an object for each container that a patch has looked into, and anything else for
    /// a value that the patch has set.
    #[must_use]
    pub fn go_json(&self, type_name: &str, value: &Json, touched: Option<&Json>) -> String {
        self.written(type_name, value, touched).go_text()
    }

    /// Returns a value as [`Self::go_json`] prints it.
    #[must_use]
    pub fn written(&self, type_name: &str, value: &Json, touched: Option<&Json>) -> WrittenJson {
        let kind = self.place(type_name).map(FieldType::Object);
        self.ordered(kind.as_ref(), value, touched)
    }

    fn ordered(&self, kind: Option<&FieldType>, value: &Json, touched: Option<&Json>) -> WrittenJson {
        match value {
            Json::Object(_) => {
                let of_kind = |name: &Text| match kind {
                    Some(FieldType::Object(place)) => self.at(*place).field(name).map(super::Field::kind),
                    Some(FieldType::Map(item)) => Some(&**item),
                    _ => None,
                };
                let field = |(name, item): (&Text, &Json)| {
                    let touched = touched.and_then(|touched| below(touched, name));
                    (name.to_string(), self.ordered(of_kind(name), item, touched))
                };
                WrittenJson::Fields(self.in_order(kind, value, touched).into_iter().map(field).collect())
            }
            Json::Array(items) => {
                let kind = if let Some(FieldType::List(item)) = kind { Some(&**item) } else { None };
                let item = |(at, item): (usize, &Json)| {
                    self.ordered(kind, item, touched.and_then(|touched| below(touched, &at.to_string())))
                };
                WrittenJson::List(items.iter().enumerate().map(item).collect())
            }
            plain => WrittenJson::from(plain),
        }
    }

    /// Returns the fields of an object in the order in which they are printed.
    fn in_order<'a>(
        &self,
        kind: Option<&FieldType>,
        value: &'a Json,
        touched: Option<&Json>,
    ) -> Vec<(&'a Text, &'a Json)> {
        let mut fields: Vec<(&Text, &Json)> = value.fields().collect();
        if let (Some(FieldType::Object(place)), None) = (kind, touched) {
            let of = self.at(*place);
            fields.sort_by_key(|(name, _)| of.field(name).map_or(usize::MAX, |field| field.place));
        }
        fields
    }
}

/// Returns what a patch has touched of a field or an item.
fn below<'a>(touched: &'a Json, name: &str) -> Option<&'a Json> {
    match touched {
        Json::Object(fields) => fields.get(name),
        set => Some(set),
    }
}

/// Prints a value of no type: with its keys sorted.
#[must_use]
pub fn sorted_go_json(value: &Json) -> String {
    let empty = Schema { types: Vec::new(), names: super::Names::new(), changes: Vec::new() };
    empty.go_json("", value, None)
}

impl WrittenJson {
    /// Prints a value on one line.
    #[must_use]
    pub fn go_text(&self) -> String {
        escaped(&self.to_string())
    }

    /// Prints a value on lines, a level further in by one space. Mirrors `MarshalIndent`.
    #[must_use]
    pub fn go_lines(&self) -> String {
        let mut out = String::new();
        self.print_lines(&mut out, 0);
        escaped(&out)
    }

    fn print_lines(&self, out: &mut String, depth: usize) {
        let begin = |out: &mut String, at: usize, depth: usize| {
            out.push_str(if at > 0 { ",\n" } else { "\n" });
            out.push_str(&format!("{:depth$}", ""));
        };
        match self {
            Self::List(items) if !items.is_empty() => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    begin(out, at, depth + 1);
                    item.print_lines(out, depth + 1);
                }
                begin(out, 0, depth);
                out.push(']');
            }
            Self::Fields(fields) if !fields.is_empty() => {
                out.push('{');
                for (at, (name, item)) in fields.iter().enumerate() {
                    begin(out, at, depth + 1);
                    out.push_str(&format!("{}: ", Json::text(name.as_str())));
                    item.print_lines(out, depth + 1);
                }
                begin(out, 0, depth);
                out.push('}');
            }
            other => out.push_str(&other.to_string()),
        }
    }
}

/// Escapes what HTML would take for markup, as Go does. In JSON it stands in strings alone.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::json;
    use crate::objects::schema::Schema;

    #[test]
    fn untouched_parts_keep_the_order_of_the_go_struct() {
        let schema = Schema::new([]);
        let node = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"uid": "u", "labels": {"b": "<", "a": "1"},
            "name": "n"}, "spec": {"taints": [{"effect": "E", "key": "k"}], "podCIDR": "c"}});
        assert_eq!(
            schema.go_json("Node", &node, Some(&json!({}))),
            "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\",\"uid\":\"u\",\"labels\":\
             {\"a\":\"1\",\"b\":\"\\u003c\"}},\"spec\":{\"podCIDR\":\"c\",\"taints\":[{\"key\":\"k\",\
             \"effect\":\"E\"}]}}"
        );
        let touched = json!({"metadata": {"uid": true}, "spec": {"taints": {"0": {}}}});
        assert_eq!(
            schema.go_json("Node", &node, Some(&touched)),
            "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"labels\":{\"a\":\"1\",\"b\":\"\\u003c\"},\
             \"name\":\"n\",\"uid\":\"u\"},\"spec\":{\"podCIDR\":\"c\",\"taints\":[{\"effect\":\"E\",\
             \"key\":\"k\"}]}}"
        );
    }
}
