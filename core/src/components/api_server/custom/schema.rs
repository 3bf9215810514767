//! The structural schema of a custom kind: which fields there are, their defaults, and what values may be.
//!
//! Mirrors k8s.io/apiextensions-apiserver pkg/apiserver/schema (pruning, defaulting; v1.34). Inputs: a schema that
//! Kubernetes takes, objects. Outputs: objects without unknown fields and with defaults; errors are told by [`values`].
//! Left out on purpose, and refused by name when a definition has them: rules in CEL, `oneOf`, `anyOf`, `allOf`,
//! `not`, embedded resources and most formats.

mod values;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use regex::Regex;

use super::rules::UNSUPPORTED;
use crate::json;
use crate::objects::{Json, Text};

/// What a value of a place may be.
#[derive(Clone, Debug, Default)]
pub(super) struct Structural {
    /// `object`, `array`, `string`, `integer`, `number` or `boolean`; `None` for anything.
    kind: Option<&'static str>,
    is_int_or_string: bool,
    /// Whether `anyOf` says once more that it is a number or a text.
    says_any_of: bool,
    properties: BTreeMap<Text, Structural>,
    /// The schema of all other fields.
    additional: Option<Box<Structural>>,
    /// Whether unknown fields stay.
    keeps_unknown: bool,
    items: Option<Box<Structural>>,
    required: Vec<Text>,
    is_nullable: bool,
    default: Option<Json>,
    allowed: Option<Vec<Json>>,
    range: Range,
    lengths: Lengths,
    pattern: Option<Regex>,
    has_date_time: bool,
    keys: ListKeys,
}

/// How far a number may go, and whether the ends are excluded.
#[derive(Clone, Copy, Debug, Default)]
struct Range {
    least: Option<(f64, bool)>,
    most: Option<(f64, bool)>,
}

/// The least and the most number of letters, items and fields.
#[derive(Clone, Copy, Debug, Default)]
struct Lengths {
    letters: (Option<usize>, Option<usize>),
    items: (Option<usize>, Option<usize>),
    fields: (Option<usize>, Option<usize>),
}

/// What tells the items of a list apart.
#[derive(Clone, Debug, Default)]
enum ListKeys {
    #[default]
    None,
    Set,
    Map(Vec<Text>),
}

const TYPES: [&str; 6] = ["object", "array", "string", "integer", "number", "boolean"];
/// Formats that say nothing about the text or the number, or that are checked.
const FORMATS: [&str; 7] = ["", "date-time", "int32", "int64", "float", "double", "password"];
/// What a schema may say beside what is read here: it is for people, or for server-side apply.
const SILENT: [&str; 6] = ["description", "title", "example", "externalDocs", "uniqueItems", "x-kubernetes-map-type"];

impl Structural {
    /// Reads the schema at a path of a definition.
    ///
    /// # Errors
    /// The name of a word that Kubernetes knows and the model does not.
    pub(super) fn read(schema: &Json, path: &str) -> Result<Self, String> {
        let mut own = Self::default();
        for (word, value) in schema.fields() {
            own.take(word, value, path, schema)?;
        }
        Ok(own)
    }

    fn take(&mut self, word: &Text, value: &Json, path: &str, whole: &Json) -> Result<(), String> {
        let at = || format!("{path}.{word}");
        let count = || value.as_i64().and_then(|count| usize::try_from(count).ok());
        #[expect(clippy::cast_precision_loss, reason = "bounds are small")]
        let number = || match value {
            Json::Int(number) => Some(*number as f64),
            Json::Float(number) => Some(*number),
            _ => None,
        };
        let excluded = |word: &str| whole.get(word).as_bool().unwrap_or(false);
        match word.as_str() {
            "type" => self.kind = TYPES.into_iter().find(|kind| value.as_str() == Some(*kind)),
            "properties" => {
                for (name, schema) in value.fields() {
                    let schema = Self::read(schema, &format!("{path}.properties[{name}]"))?;
                    self.properties.insert(name.clone(), schema);
                }
            }
            "additionalProperties" if value.as_bool() == Some(true) => self.keeps_unknown = true,
            "additionalProperties" if value.is_object() => {
                self.additional = Some(Box::new(Self::read(value, &at())?));
            }
            "additionalProperties" => {}
            "items" => self.items = Some(Box::new(Self::read(value, &at())?)),
            "required" => self.required = texts(value),
            "nullable" => self.is_nullable = value.as_bool() == Some(true),
            "default" => self.default = Some(value.clone()).filter(|value| !value.is_null()),
            "enum" => self.allowed = Some(value.items().to_vec()),
            "minimum" => self.range.least = number().map(|least| (least, excluded("exclusiveMinimum"))),
            "maximum" => self.range.most = number().map(|most| (most, excluded("exclusiveMaximum"))),
            "exclusiveMinimum" | "exclusiveMaximum" if value.as_bool().is_some() => {}
            "minLength" => self.lengths.letters.0 = count(),
            "maxLength" => self.lengths.letters.1 = count(),
            "minItems" => self.lengths.items.0 = count(),
            "maxItems" => self.lengths.items.1 = count(),
            "minProperties" => self.lengths.fields.0 = count(),
            "maxProperties" => self.lengths.fields.1 = count(),
            "pattern" => self.pattern = value.as_str().and_then(|pattern| Regex::new(pattern).ok()),
            "format" if value.as_str().is_some_and(|format| FORMATS.contains(&format)) => {
                self.has_date_time = value.as_str() == Some("date-time");
            }
            "x-kubernetes-preserve-unknown-fields" => self.keeps_unknown |= value.as_bool() == Some(true),
            "x-kubernetes-int-or-string" => self.is_int_or_string = value.as_bool() == Some(true),
            "anyOf" if *value == json!([{"type": "integer"}, {"type": "string"}]) => {
                self.says_any_of = true;
            }
            "x-kubernetes-list-type" => {
                self.keys = match value.as_str() {
                    Some("set") => ListKeys::Set,
                    Some("map") => ListKeys::Map(texts(whole.get("x-kubernetes-list-map-keys"))),
                    _ => ListKeys::None,
                }
            }
            "x-kubernetes-list-map-keys" => {}
            word if SILENT.contains(&word) || UNSUPPORTED.contains(&word) => {}
            _ => return Err(at()),
        }
        Ok(())
    }

    /// Removes the fields that the schema does not have, and names them.
    ///
    /// Source: pkg/apiserver/schema/pruning/algorithm.go.
    pub(super) fn prune(&self, value: &Json, path: &str, unknown: &mut Vec<String>) -> Json {
        match value {
            Json::Object(fields) => {
                let mut kept = Vec::with_capacity(fields.len());
                for (name, field) in fields.iter() {
                    let below = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
                    let is_own = path.is_empty() && ["apiVersion", "kind", "metadata"].contains(&name.as_str());
                    match self.properties.get(name).or(self.additional.as_deref()) {
                        _ if is_own => kept.push((name.clone(), field.clone())),
                        Some(schema) => kept.push((name.clone(), schema.prune(field, &below, unknown))),
                        None if self.keeps_unknown => kept.push((name.clone(), field.clone())),
                        None => unknown.push(below),
                    }
                }
                Json::of_fields(kept)
            }
            Json::Array(items) => match &self.items {
                Some(schema) => {
                    let item = |(at, item)| schema.prune(item, &format!("{path}[{at}]"), unknown);
                    items.iter().enumerate().map(item).collect()
                }
                None => value.clone(),
            },
            _ => value.clone(),
        }
    }

    /// Fills in what is absent and has a default, as which a null counts that may not be one; `drops_nulls` says
    /// whether it goes where it has no default. In a list it stays.
    ///
    /// Source: pkg/apiserver/schema/defaulting/{algorithm,prunenulls}.go.
    pub(super) fn fill(&self, value: &mut Json, drops_nulls: bool) {
        match value {
            Json::Object(_) => {
                for (name, schema) in &self.properties {
                    if let Some(default) = &schema.default
                        && value.fields().all(|(own, _)| own != name)
                    {
                        value.set(&[name], default.clone());
                    }
                }
                value.make_object().retain(|name, field| {
                    let Some(schema) = self.properties.get(name).or(self.additional.as_deref()) else { return true };
                    schema.fill_place(field, drops_nulls);
                    !(drops_nulls && schema.refuses(field))
                });
            }
            Json::Array(_) => {
                if let Some(schema) = &self.items {
                    value.make_array().iter_mut().for_each(|item| schema.fill_place(item, drops_nulls));
                }
            }
            _ => {}
        }
    }

    fn fill_place(&self, value: &mut Json, drops_nulls: bool) {
        if let Some(default) = self.default.as_ref().filter(|_| self.refuses(value)) {
            *value = default.clone();
        }
        self.fill(value, drops_nulls);
    }

    /// Tells whether a value is a null that may not be one.
    fn refuses(&self, value: &Json) -> bool {
        value.is_null() && !self.is_nullable
    }
}

fn texts(list: &Json) -> Vec<Text> {
    list.items().iter().filter_map(Json::as_text).cloned().collect()
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::Structural;
    use crate::json;
    use crate::objects::Json;

    fn schema() -> Structural {
        let spec = json!({"type": "object", "required": ["size"], "properties": {
            "size": {"type": "integer", "minimum": 1, "maximum": 5},
            "mode": {"type": "string", "enum": ["fast", "slow"], "default": "fast"},
            "name": {"type": "string", "pattern": "^[a-z]+$", "minLength": 2, "maxLength": 4},
            "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
            "at": {"type": "string", "format": "date-time", "nullable": true},
            "tags": {"type": "array", "maxItems": 2, "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        }});
        let root = json!({"type": "object", "properties": {"spec": spec}});
        Structural::read(&root, "openAPIV3Schema").unwrap()
    }

    fn problems(spec: Json) -> Vec<String> {
        let mut errors = Vec::new();
        let tree = json!({"kind": "W", "metadata": {"x": 1}, "spec": spec});
        schema().check(&tree, None, &mut errors);
        schema().repeated(&tree, "", &mut errors);
        errors.iter().map(|error| error.text()).collect()
    }

    #[test]
    fn what_a_value_may_not_be_is_told_in_the_words_of_the_server() {
        for (spec, text) in [
            (json!({}), "spec.size: Required value"),
            (
                json!({"size": "3"}),
                "spec.size: Invalid value: \"string\": spec.size in body must be of type integer: \"string\"",
            ),
            (json!({"size": 0}), "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"),
            (json!({"size": 9}), "spec.size: Invalid value: 9: spec.size in body should be less than or equal to 5"),
            (
                json!({"size": 1, "mode": "x"}),
                "spec.mode: Unsupported value: \"x\": supported values: \"fast\", \"slow\"",
            ),
            (
                json!({"size": 1, "name": "A1"}),
                "spec.name: Invalid value: \"A1\": spec.name in body should match '^[a-z]+$'",
            ),
            (
                json!({"size": 1, "name": "a"}),
                "spec.name: Invalid value: \"a\": spec.name in body should be at least 2 chars long",
            ),
            (json!({"size": 1, "name": "abcde"}), "spec.name: Too long: may not be more than 4 bytes"),
            (json!({"size": 1, "tags": ["a", "b", "c"]}), "spec.tags: Too many: 3: must have at most 2 items"),
            (json!({"size": 1, "tags": ["a", "a"]}), "spec.tags[1]: Duplicate value: \"a\""),
            (
                json!({"size": 1, "labels": {"a": 5}}),
                "spec.labels.a: Invalid value: \"integer\": spec.labels.a in body must be of type string: \"integer\"",
            ),
            (
                json!({"size": 1, "at": "soon"}),
                "spec.at: Invalid value: \"soon\": spec.at in body must be of type date-time: \"soon\"",
            ),
        ] {
            assert_eq!(problems(spec.clone()), [text], "{spec}");
        }
        let wrong = json!({"size": 1, "port": true, "mode": 3});
        assert_eq!(
            problems(wrong),
            [
                "spec.mode: Invalid value: \"integer\": spec.mode in body must be of type string: \"integer\"",
                "spec.mode: Unsupported value: 3: supported values: \"fast\", \"slow\"",
                "spec.port: Invalid value: \"boolean\": spec.port in body must be of type integer,string: \"boolean\"",
                "<nil>: Invalid value: \"\": \"spec.port\" must validate at least one schema (anyOf)",
                "spec.port: Invalid value: \"boolean\": spec.port in body must be of type integer: \"boolean\"",
            ]
        );
        let fitting = json!({"size": 5, "mode": "slow", "port": "http", "at": null, "tags": ["a"], "free": {"x": [1]},
            "labels": {"a": "b"}});
        assert_eq!(problems(fitting), Vec::<String>::new());
    }

    #[test]
    fn unknown_fields_go_and_defaults_come() {
        let sent = json!({"kind": "W", "other": 1, "metadata": {"name": "w"},
            "spec": {"size": 1, "free": {"x": 1}, "labels": {"a": "b"}, "extra": {"y": 2}}});
        let mut unknown = Vec::new();
        let mut kept = schema().prune(&sent, "", &mut unknown);
        unknown.sort();
        assert_eq!(unknown, ["other", "spec.extra"]);
        schema().fill(&mut kept, true);
        assert_eq!(
            kept,
            json!({"kind": "W", "metadata": {"name": "w"},
                "spec": {"size": 1, "free": {"x": 1}, "labels": {"a": "b"}, "mode": "fast"}})
        );
    }

    #[test]
    fn what_is_not_modelled_is_named() {
        for (schema, name) in [
            (json!({"type": "object", "x-kubernetes-validations": []}), "s.x-kubernetes-validations"),
            (
                json!({"type": "object", "properties": {"a": {"type": "string", "format": "ipv4"}}}),
                "s.properties[a].format",
            ),
            (json!({"type": "array", "items": {"type": "string", "oneOf": []}}), "s.items.oneOf"),
        ] {
            assert_eq!(Structural::read(&schema, "s").unwrap_err(), name);
        }
    }

    #[test]
    fn nulls_count_as_absent_and_stay_in_lists() {
        let text = json!({"type": "string"});
        let schema = Structural::read(
            &json!({"type": "object", "properties": {
                "a": text.clone(), "n": {"type": "string", "nullable": true}, "d": {"type": "string", "default": "x"},
                "l": {"type": "array", "items": text.clone()},
                "ld": {"type": "array", "items": {"type": "string", "default": "y"}},
                "m": {"type": "object", "additionalProperties": {"type": "string", "default": "z"}},
                "o": {"type": "object", "additionalProperties": text},
            }}),
            "s",
        );
        let mut value = json!({"a": null, "n": null, "d": null, "l": [null], "ld": [null], "m": {"k": null},
            "o": {"k": null}});
        schema.unwrap().fill(&mut value, true);
        let kept = json!({"n": null, "d": "x", "l": [null], "ld": ["y"], "m": {"k": "z"}, "o": {}});
        assert_eq!(value, kept);
    }
}
