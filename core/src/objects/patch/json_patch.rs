//! JSON patch, with the leniencies of the library that the API server uses.
//!
//! Mirrors gopkg.in/evanphx/json-patch.v4 as of Kubernetes v1.34: RFC 6902, but `replace` and `remove` of an object's
//! missing key differ, negative indices count from the end, and `test` for null holds for an absent value. Pure: object
//! and patch in, the patched object or the error out.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::json_document;
use crate::objects::{Json, WrittenJson};

/// Why a JSON patch does not fit, in the library's words.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct JsonPatchError(pub String);

#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) op: String,
    pub(super) path: Option<String>,
    pub(super) from: Option<String>,
    value: Option<Json>,
}

/// A patch that was understood.
#[derive(Clone, Debug)]
pub struct JsonPatch(Vec<Operation>);

impl JsonPatch {
    /// Reads a patch.
    ///
    /// # Errors
    /// It is no list of operations.
    pub fn parse(patch: &Json) -> Result<Self, JsonPatchError> {
        let wrong = |found: &str, wanted: &str| {
            JsonPatchError(format!("json: cannot unmarshal {found} into Go value of type {wanted}"))
        };
        let Json::Array(items) = patch else {
            return Err(wrong(type_name(patch), "[]handlers.jsonPatchOp"));
        };
        let mut operations = Vec::new();
        for item in items.iter() {
            if !item.is_object() {
                return Err(wrong(type_name(item), "handlers.jsonPatchOp"));
            }
            let text = |name: &str| item.get(name).as_str().map(ToString::to_string);
            let value = item.fields().find(|(name, _)| name.as_str() == "value").map(|(_, value)| value.clone());
            let op = text("op").unwrap_or_default();
            operations.push(Operation { op, path: text("path"), from: text("from"), value });
        }
        Ok(Self(operations))
    }

    /// Returns the number of operations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether there is no operation.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Prints the document that the operations make of another, with the fields of values as the client wrote them.
    #[must_use]
    pub fn text_of(&self, document: WrittenJson, written: &WrittenJson) -> String {
        json_document::patched_text(document, &self.0, written)
    }

    #[cfg(test)]
    pub(super) fn operations(&self) -> &[Operation] {
        &self.0
    }

    /// Applies all operations in order.
    ///
    /// # Errors
    /// One of them does not fit.
    pub fn apply(&self, original: &Json) -> Result<Json, JsonPatchError> {
        let mut tree = original.clone();
        for operation in &self.0 {
            apply(&mut tree, operation)?;
        }
        Ok(tree)
    }
}

fn type_name(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "bool",
        Json::Int(_) | Json::Float(_) => "number",
        Json::Str(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

pub(super) fn parts(path: &str) -> Vec<String> {
    path.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).collect()
}

fn missing(operation: &str, path: &str) -> JsonPatchError {
    JsonPatchError(format!("{operation} operation does not apply: doc is missing path: {path:?}: missing value"))
}

/// Finds the container that holds the last part of a path.
fn container<'a>(tree: &'a mut Json, parts: &[String]) -> Option<&'a mut Json> {
    let mut place = tree;
    for part in parts {
        place = match place {
            Json::Object(_) => {
                if place.get(part).is_null() {
                    return None;
                }
                place.make_object().entry(part)
            }
            Json::Array(_) => {
                let at = index(part, place.items().len())?;
                place.make_array().get_mut(at)?
            }
            _ => return None,
        };
    }
    (place.is_object() || place.is_array()).then_some(place)
}

/// Reads an index; a negative one counts from the end.
pub(super) fn index(part: &str, length: usize) -> Option<usize> {
    let number: i64 = part.parse().ok()?;
    let length = i64::try_from(length).ok()?;
    let at = if number < 0 { number + length } else { number };
    usize::try_from(at).ok()
}

/// Returns what is at a path: null for a field that its container lacks, nothing where there is no container.
fn lookup(tree: &mut Json, path: &str) -> Option<Json> {
    let parts = parts(path);
    let (last, parents) = parts.split_last()?;
    match container(tree, parents)? {
        Json::Array(items) => items.get(index(last, items.len())?).cloned(),
        place => Some(place.get(last).clone()),
    }
}

const OPERATIONS: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

fn apply(tree: &mut Json, operation: &Operation) -> Result<(), JsonPatchError> {
    if operation.path.is_none() && OPERATIONS.contains(&operation.op.as_str()) {
        return Err(JsonPatchError(format!("{} operation missing path field: missing value", operation.op)));
    }
    let path = operation.path.as_deref().unwrap_or("");
    let value = || operation.value.clone().unwrap_or(Json::Null);
    // The whole document is no place, but it can be replaced and tested.
    let is_whole = path.is_empty() && ["replace", "test"].contains(&operation.op.as_str());
    if parts(path).is_empty() && OPERATIONS.contains(&operation.op.as_str()) && !is_whole {
        return Err(missing(&operation.op, path));
    }
    match operation.op.as_str() {
        // What is neither an object nor a list replaces nothing.
        "replace" if is_whole => {
            let value = value();
            if value.is_object() || value.is_array() {
                *tree = value;
            }
            Ok(())
        }
        "add" => add(tree, path, value(), "add"),
        "remove" => remove(tree, path, "remove").map(|_| ()),
        "replace" => replace(tree, path, value()),
        "move" => {
            let from = operation.from.as_deref().unwrap_or("");
            let moved = remove(tree, from, "move")?;
            add(tree, path, moved, "move")
        }
        "copy" => {
            let from = operation.from.as_deref().unwrap_or("");
            let copied = lookup(tree, from).ok_or_else(|| missing("copy", from))?;
            add(tree, path, copied, "copy")
        }
        "test" => {
            let found = if is_whole { Some(tree.clone()) } else { lookup(tree, path) };
            if found.ok_or_else(|| missing("test", path))? == value() {
                Ok(())
            } else {
                Err(JsonPatchError(format!("testing value {path} failed: test failed")))
            }
        }
        other => Err(JsonPatchError(format!("Unexpected kind: {other}"))),
    }
}

fn add(tree: &mut Json, path: &str, value: Json, name: &str) -> Result<(), JsonPatchError> {
    let parts = parts(path);
    let Some((last, parents)) = parts.split_last() else { return Err(missing(name, path)) };
    let Some(place) = container(tree, parents) else { return Err(missing(name, path)) };
    if place.is_object() {
        place.make_object().insert(last.as_str(), value);
        return Ok(());
    }
    let items = place.make_array();
    let at =
        if last == "-" { Some(items.len()) } else { index(last, items.len() + usize::from(last.starts_with('-'))) };
    match at {
        Some(at) if at <= items.len() => {
            items.insert(at, value);
            Ok(())
        }
        _ => Err(JsonPatchError(format!(
            "error in {name} for path: '{path}': Unable to access invalid index: {last}: invalid index referenced"
        ))),
    }
}

fn remove(tree: &mut Json, path: &str, name: &str) -> Result<Json, JsonPatchError> {
    let parts = parts(path);
    let Some((last, parents)) = parts.split_last() else { return Err(missing(name, path)) };
    let Some(place) = container(tree, parents) else { return Err(missing(name, path)) };
    if place.is_object() {
        return place.make_object().remove(last).ok_or_else(|| missing(name, path));
    }
    let items = place.make_array();
    match index(last, items.len()) {
        Some(at) if at < items.len() => Ok(items.remove(at)),
        _ => Err(missing(name, path)),
    }
}

fn replace(tree: &mut Json, path: &str, value: Json) -> Result<(), JsonPatchError> {
    let parts = parts(path);
    let Some((last, parents)) = parts.split_last() else { return Err(missing("replace", path)) };
    let Some(place) = container(tree, parents) else { return Err(missing("replace", path)) };
    if place.is_object() {
        place.make_object().insert(last.as_str(), value);
        return Ok(());
    }
    let items = place.make_array();
    match index(last, items.len()) {
        Some(at) if at < items.len() => {
            items[at] = value;
            Ok(())
        }
        _ => Err(missing("replace", path)),
    }
}

#[cfg(test)]
mod tests {
    use super::JsonPatch;
    use crate::json;

    #[test]
    fn operations_apply_in_order() {
        let original = json!({"metadata": {"labels": {"a": "1"}}, "spec": {"taints": [{"key": "x"}, {"key": "y"}]}});
        let cases = [
            (json!([{"op": "add", "path": "/metadata/labels/b~1c", "value": "2"}]), json!({"a": "1", "b/c": "2"})),
            (json!([{"op": "replace", "path": "/metadata/labels/z", "value": "2"}]), json!({"a": "1", "z": "2"})),
            (json!([{"op": "remove", "path": "/metadata/labels/a"}]), json!({})),
            (json!([{"op": "test", "path": "/metadata/labels/q", "value": null}]), json!({"a": "1"})),
            (json!([{"op": "move", "from": "/metadata/labels/a", "path": "/metadata/labels/b"}]), json!({"b": "1"})),
        ];
        for (patch, labels) in cases {
            let patched = JsonPatch::parse(&patch).unwrap().apply(&original).unwrap();
            assert_eq!(patched.at(&["metadata", "labels"]), &labels, "{patch}");
        }
        let appended = json!([{"op": "add", "path": "/spec/taints/-", "value": {"key": "z"}}, {"op": "remove",
            "path": "/spec/taints/0"}]);
        let patched = JsonPatch::parse(&appended).unwrap().apply(&original).unwrap();
        assert_eq!(patched.at(&["spec", "taints"]), &json!([{"key": "y"}, {"key": "z"}]));
        let whole = json!([{"op": "test", "path": "", "value": original}, {"op": "replace", "path": "", "value": {}},
            {"op": "replace", "path": "", "value": 1}]);
        assert_eq!(JsonPatch::parse(&whole).unwrap().apply(&original).unwrap(), json!({}));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let original = json!({"spec": {"taints": []}});
        for patch in [
            json!([{"op": "test", "path": "/spec/x", "value": "1"}]),
            json!([{"op": "add", "path": "/a/b/c", "value": 1}]),
            json!([{"op": "remove", "path": "/nope"}]),
            json!([{"op": "add", "path": "", "value": {}}]),
            json!([{"op": "replace", "path": "spec", "value": {}}]),
            json!([{"op": "test", "path": "", "value": {"spec": {"taints": [1]}}}]),
            json!([{"op": "test", "path": "/spec/x/y", "value": null}]),
            json!([{"op": "copy", "path": "/spec/x", "from": "/a/b"}]),
            json!([{"op": "add", "path": "/spec/taints/5", "value": 1}]),
        ] {
            assert!(JsonPatch::parse(&patch).unwrap().apply(&original).is_err(), "{patch}");
        }
        assert!(JsonPatch::parse(&json!({})).is_err());
    }
}
