//! Whether an applied configuration has the form of its type.
//!
//! Mirrors sigs.k8s.io/structured-merge-diff typed/validate.go (v6). Inputs: a tree and the schema. Output: what is
//! wrong, in the words of the real server, which prints its own representation of values.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::Json;
use super::super::schema::{FieldType, Schema};
use super::shape::{Items, Shape, Type, Typed, TypedPlace, step_of};
use crate::objects::patch::go_value;

/// Returns what is wrong with a configuration; nothing if it fits its type.
#[must_use]
pub fn problem(typed: Typed<'_>, tree: &Json) -> Option<String> {
    let mut found = Vec::new();
    check(typed.schema, typed.root, tree, "", &mut found);
    match found.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        all => Some(format!("errors:\n  {}", all.join("\n  "))),
    }
}

/// Says which item of a list has nothing that names it, so that nothing can be said of owners.
#[must_use]
pub fn unnamed(typed: Typed<'_>, tree: &Json) -> Option<String> {
    unnamed_in(typed.schema, typed.root, tree, "")
}

fn unnamed_in(schema: &Schema, place: TypedPlace<'_>, value: &Json, path: &str) -> Option<String> {
    match place.shape(schema, value) {
        Shape::Scalar(_) => None,
        Shape::List(item, items) => value.items().iter().enumerate().find_map(|(at, value)| {
            let shown = match items {
                Items::Atomic => format!("[{at}]"),
                _ => match step_of(schema, item, items, value) {
                    Ok(step) => step.shown(),
                    Err(why) => return Some(format!("{path}: element {at}: {why}")),
                },
            };
            unnamed_in(schema, TypedPlace::of(item), value, &format!("{path}{shown}"))
        }),
        shape => value
            .fields()
            .find_map(|(name, value)| unnamed_in(schema, shape.field(name)?.0, value, &format!("{path}.{name}"))),
    }
}

fn check(schema: &Schema, place: TypedPlace<'_>, value: &Json, path: &str, found: &mut Vec<String>) {
    if value.is_null() {
        return;
    }
    let mut say = |what: String| found.push(if path.is_empty() { what } else { format!("{path}: {what}") });
    match place.shape(schema, value) {
        Shape::Scalar(kind) => {
            if let Some(why) = scalar_problem(kind, value) {
                say(why);
            }
        }
        Shape::List(item, items) => {
            let Json::Array(list) = value else { return say(format!("expected list, got &{{{}}}", go_value(value))) };
            check_items(schema, (item, items), list, path, found);
        }
        shape => {
            if !value.is_object() {
                return say(format!("expected map, got &{{{}}}", go_value(value)));
            }
            for (name, value) in value.fields() {
                let path = format!("{path}.{name}");
                match shape.field(name) {
                    Some((place, _)) => check(schema, place, value, &path, found),
                    None => return found.push(format!("{path}: field not declared in schema")),
                }
            }
        }
    }
}

fn check_items(
    schema: &Schema,
    (item, items): (Type<'_>, Items<'_>),
    list: &[Json],
    path: &str,
    found: &mut Vec<String>,
) {
    let mut seen = Vec::new();
    for (at, value) in list.iter().enumerate() {
        let mut say = |what: String| found.push(if path.is_empty() { what } else { format!("{path}: {what}") });
        let shown = if items == Items::Atomic {
            format!("[{at}]")
        } else {
            let step = match step_of(schema, item, items, value) {
                Ok(step) => step,
                Err(why) => return say(format!("element {at}: {why}")),
            };
            let shown = step.shown();
            if seen.contains(&step) {
                say(format!("duplicate entries for key {shown}"));
            }
            seen.push(step);
            shown
        };
        check(schema, TypedPlace::of(item), value, &format!("{path}{shown}"), found);
    }
}

/// Returns a value as Go's verb `%#v` prints it.
fn go_syntax(value: &Json) -> String {
    match value {
        Json::Null => String::from("interface {}(nil)"),
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(go_syntax).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Json::Object(_) => {
            let fields = value.fields().map(|(name, value)| format!("{:?}:{}", name.as_str(), go_syntax(value)));
            format!("map[string]interface {{}}{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        plain => plain.to_string(),
    }
}

fn scalar_problem(kind: &FieldType, value: &Json) -> Option<String> {
    match (kind, value) {
        (FieldType::Str, Json::Str(_))
        | (FieldType::Bool, Json::Bool(_))
        | (FieldType::Int | FieldType::Int32 | FieldType::Float, Json::Int(_) | Json::Float(_)) => None,
        (FieldType::Str, value) => {
            let shown = go_syntax(value);
            Some(format!("expected string, got &value.valueUnstructured{{Value:{shown}}}"))
        }
        (FieldType::Bool, value) => Some(format!("expected boolean, got &{{{}}}", go_value(value))),
        (FieldType::Int | FieldType::Int32 | FieldType::Float, value) => {
            let shown = match value {
                Json::Array(_) => "[]interface {}",
                Json::Object(_) => "map[string]interface {}",
                Json::Bool(_) => "bool",
                _ => "string",
            };
            Some(format!("expected numeric (int or float), got {shown}"))
        }
        (_, Json::Array(_) | Json::Object(_)) => Some(format!("expected any scalar, got &{{{}}}", go_value(value))),
        _ => None,
    }
}
