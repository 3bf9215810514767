//! What Go's strict decoder says of an object, in the order in which the object is written.
//!
//! Mirrors sigs.k8s.io/json internal/golang/encoding/json/{decode,kubernetes_patch}.go over the types of the table: a
//! wrong type is told when all has been read, the first of them alone; a value that a type reads itself, as a quantity,
//! ends the reading; fields that come twice or are unknown are collected, each once. Inputs: a type's name, a value as
//! it is written. Outputs: the complaints, or the error.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::decode::{DecodeError, wanted_type};
use super::scalars::{bytes, quantity, read_micro_time, read_time};
use super::{FieldType, Schema, Struct};
use crate::objects::{Text, WrittenJson};

/// The most complaints that are told. Source: sigs.k8s.io/json internal/golang/encoding/json/kubernetes_patch.go,
/// `saveStrictError`.
const TOLD_MAX: usize = 100;

impl Schema {
    /// Says what is unusual about a value of a type of the table, or a list of such values; for a type that the table
    /// does not have, which fields come twice.
    ///
    /// # Errors
    /// A field has the wrong type.
    pub fn complaints(&self, type_name: &str, value: &WrittenJson) -> Result<Vec<String>, DecodeError> {
        let mut reader = StrictReader { schema: self, told: Vec::new(), path: Vec::new(), wrong: None };
        match (self.named(type_name), value) {
            (Some(of), WrittenJson::Fields(fields)) => reader.fields(of, fields)?,
            (Some(of), WrittenJson::List(items)) => {
                for (at, item) in items.iter().enumerate() {
                    let WrittenJson::Fields(fields) = item else { continue };
                    reader.path.push(PathPart::Item(at));
                    reader.fields(of, fields)?;
                    reader.path.pop();
                }
            }
            _ => reader.anything(value),
        }
        reader.wrong.map_or(Ok(reader.told), Err)
    }
}

/// A part of the path to the current value, as messages show it.
#[derive(Clone)]
enum PathPart {
    /// The field of a type.
    Field(String),
    /// The key of a map, which the messages about wrong types leave out.
    Key(String),
    Item(usize),
}

struct StrictReader<'a> {
    schema: &'a Schema,
    told: Vec<String>,
    path: Vec<PathPart>,
    /// The first wrong type.
    wrong: Option<DecodeError>,
}

impl StrictReader<'_> {
    fn fields(&mut self, of: &Struct, fields: &[(String, WrittenJson)]) -> Result<(), DecodeError> {
        for (at, (name, item)) in fields.iter().enumerate() {
            let Some(field) = of.field(name) else {
                self.tell("unknown", name);
                continue;
            };
            self.tell_repeated(fields, at);
            self.path.push(PathPart::Field(name.clone()));
            self.value(of, field.kind(), item)?;
            self.path.pop();
        }
        Ok(())
    }

    fn value(&mut self, of: &Struct, kind: &FieldType, value: &WrittenJson) -> Result<(), DecodeError> {
        match (kind, value) {
            (_, WrittenJson::Null)
            | (FieldType::Str | FieldType::IntOrString, WrittenJson::Str(_))
            | (FieldType::Bool, WrittenJson::Bool(_))
            | (FieldType::Float, WrittenJson::Number(_)) => {}
            (FieldType::Bytes, WrittenJson::Str(text)) => {
                if let Err(error) = bytes(text) {
                    self.wrong.get_or_insert(error);
                }
            }
            (FieldType::Any, _) => self.anything(value),
            (FieldType::Int, WrittenJson::Number(digits)) if digits.parse::<i64>().is_ok() => {}
            (FieldType::Int32, WrittenJson::Number(digits)) if digits.parse::<i32>().is_ok() => {}
            (FieldType::IntOrString, WrittenJson::Number(digits)) if digits.parse::<i32>().is_ok() => {}
            (FieldType::IntOrString, _) => return Err(self.wrong_type(of, &FieldType::Int32, value)),
            (FieldType::Quantity, WrittenJson::Str(text) | WrittenJson::Number(text)) => _ = quantity(text)?,
            (FieldType::Quantity, WrittenJson::Bool(_)) => _ = quantity("true")?,
            (FieldType::Quantity, _) => _ = quantity("{}")?,
            (FieldType::Time, WrittenJson::Str(text)) => _ = read_time(&Text::from(text.as_str()))?,
            (FieldType::MicroTime, WrittenJson::Str(text)) => _ = read_micro_time(&Text::from(text.as_str()))?,
            (FieldType::Time | FieldType::MicroTime, _) => return Err(self.wrong_type(of, kind, value)),
            (FieldType::Object(place), WrittenJson::Fields(fields)) => {
                let schema = self.schema;
                self.fields(schema.at(*place), fields)?;
            }
            (FieldType::List(item), WrittenJson::List(items)) => {
                for (at, value) in items.iter().enumerate() {
                    self.path.push(PathPart::Item(at));
                    self.value(of, item, value)?;
                    self.path.pop();
                }
            }
            (FieldType::Map(item), WrittenJson::Fields(fields)) => {
                for (at, (name, value)) in fields.iter().enumerate() {
                    self.tell_repeated(fields, at);
                    self.path.push(PathPart::Key(name.clone()));
                    self.value(of, item, value)?;
                    self.path.pop();
                }
            }
            _ => {
                let wrong = self.wrong_type(of, kind, value);
                self.wrong.get_or_insert(wrong);
            }
        }
        Ok(())
    }

    /// Looks for fields that come twice in a value of any form.
    fn anything(&mut self, value: &WrittenJson) {
        match value {
            WrittenJson::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.path.push(PathPart::Item(at));
                    self.anything(item);
                    self.path.pop();
                }
            }
            WrittenJson::Fields(fields) => {
                for (at, (name, item)) in fields.iter().enumerate() {
                    self.tell_repeated(fields, at);
                    self.path.push(PathPart::Key(name.clone()));
                    self.anything(item);
                    self.path.pop();
                }
            }
            _ => {}
        }
    }

    fn tell_repeated(&mut self, fields: &[(String, WrittenJson)], at: usize) {
        let name = &fields[at].0;
        if fields[..at].iter().any(|(earlier, _)| earlier == name) {
            self.tell("duplicate", name);
        }
    }

    fn tell(&mut self, what: &str, name: &str) {
        let mut path = String::new();
        for step in self.path.iter().chain([&PathPart::Field(name.to_string())]) {
            match step {
                PathPart::Field(name) | PathPart::Key(name) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(name);
                }
                PathPart::Item(at) => path.push_str(&format!("[{at}]")),
            }
        }
        let complaint = format!("{what} field {path:?}");
        if self.told.len() < TOLD_MAX && !self.told.contains(&complaint) {
            self.told.push(complaint);
        }
    }

    fn wrong_type(&self, of: &Struct, kind: &FieldType, value: &WrittenJson) -> DecodeError {
        let found = match value {
            WrittenJson::Null => "null".to_string(),
            WrittenJson::Bool(_) => "bool".to_string(),
            WrittenJson::Number(digits) if matches!(kind, FieldType::Int | FieldType::Int32) => {
                format!("number {digits}")
            }
            WrittenJson::Number(_) => "number".to_string(),
            WrittenJson::Str(_) => "string".to_string(),
            WrittenJson::List(_) => "array".to_string(),
            WrittenJson::Fields(_) => "object".to_string(),
        };
        let names: Vec<&str> = self
            .path
            .iter()
            .filter_map(|step| if let PathPart::Field(name) = step { Some(name.as_str()) } else { None })
            .collect();
        let of_item = matches!(self.path.last(), Some(PathPart::Item(_)));
        let of_key = matches!(self.path.last(), Some(PathPart::Key(_)));
        let own = names.last().copied().filter(|_| !of_key);
        DecodeError(format!(
            "json: cannot unmarshal {found} into Go struct field {}.{} of type {}",
            of.name(),
            names.join("."),
            wanted_type(self.schema, (of, own, of_item), kind)
        ))
    }
}

impl WrittenJson {
    /// Says which fields of a value come twice, wherever they stand.
    #[must_use]
    pub fn repeated(&self) -> Vec<String> {
        let schema = Schema::new([]);
        let mut reader = StrictReader { schema: &schema, told: Vec::new(), path: Vec::new(), wrong: None };
        reader.anything(self);
        reader.told
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    use crate::objects::WrittenJson;
    use crate::objects::schema::Schema;

    fn told(kind: &str, text: &str) -> Result<Vec<String>, String> {
        let written = WrittenJson::parse(text).unwrap();
        Schema::new([]).complaints(kind, &written).map_err(|error| error.to_string())
    }

    #[test]
    fn unknown_and_repeated_fields_come_in_the_order_of_the_text_each_once() {
        let text = r#"{"x":1,"x":2,"metadata":{"name":"a","name":"b","labels":{"k":"1","k":"2","k":"3"}},
            "spec":{"taints":[{"key":"a","key":"b","z":1}],"foo":{}},"metadata":{}}"#;
        let expected = [
            "unknown field \"x\"",
            "duplicate field \"metadata.name\"",
            "duplicate field \"metadata.labels.k\"",
            "duplicate field \"spec.taints[0].key\"",
            "unknown field \"spec.taints[0].z\"",
            "unknown field \"spec.foo\"",
            "duplicate field \"metadata\"",
        ];
        assert_eq!(told("Node", text).unwrap(), expected);
        let many: Vec<String> = (0..200).map(|at| alloc::format!("\"f{at}\":1")).collect();
        assert_eq!(told("Node", &alloc::format!("{{{}}}", many.join(","))).unwrap().len(), 100);
        assert_eq!(WrittenJson::parse(r#"{"a":[{"b":1,"b":1}]}"#).unwrap().repeated(), ["duplicate field \"a[0].b\""]);
    }

    #[test]
    fn a_wrong_type_waits_for_the_end_and_a_wrong_quantity_does_not() {
        let wrong = "json: cannot unmarshal number into Go struct field NodeSpec.spec.podCIDR of type string";
        let cases = [
            (r#"{"spec":{"podCIDR":5,"unschedulable":"x"}}"#, wrong),
            (r#"{"spec":{"podCIDR":5},"status":{"capacity":{"cpu":"1e"}}}"#, "unable to parse quantity's suffix"),
            (
                r#"{"metadata":{"generation":1e0}}"#,
                "json: cannot unmarshal number 1e0 into Go struct field ObjectMeta.metadata.generation of type int64",
            ),
            (
                r#"{"metadata":{"labels":{"a":true}}}"#,
                "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(told("Node", text).unwrap_err(), expected, "{text}");
        }
        assert_eq!(told("Node", r#"{"spec":{"podCIDR":null}}"#), Ok(Vec::new()));
        assert_eq!(
            told("Lease", r#"{"spec":{"renewTime":5,"acquireTime":6}}"#).unwrap_err(),
            "json: cannot unmarshal number into Go struct field LeaseSpec.spec.renewTime of type string"
        );
    }
}
