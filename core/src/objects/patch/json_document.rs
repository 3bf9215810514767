//! A document as a JSON patch leaves it, with the order of its fields.
//!
//! Mirrors gopkg.in/evanphx/json-patch.v4 as of Kubernetes v1.34: what no operation has looked into is still the text
//! that the server or the client wrote; everything else has become a map, whose keys are sorted. Inputs: the document
//! and the operations, which are known to fit. Outputs: the text.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::json_patch::{Operation, index, parts};
use crate::objects::WrittenJson;

/// A value of the document.
enum DocumentValue {
    /// As it was written.
    Written(WrittenJson),
    Map(BTreeMap<String, DocumentValue>),
    List(Vec<DocumentValue>),
}

/// Applies operations, with their values as they were written, and prints the outcome.
pub(super) fn patched_text(document: WrittenJson, operations: &[Operation], written: &WrittenJson) -> String {
    let mut root = DocumentValue::Written(document);
    root.open();
    for (operation, text) in operations.iter().zip(written.items()) {
        let value = text.get("value").cloned().unwrap_or(WrittenJson::Null);
        root.apply(operation, DocumentValue::Written(value));
    }
    root.into_written().go_text()
}

impl DocumentValue {
    /// Makes a container of a text.
    fn open(&mut self) {
        let Self::Written(written) = self else { return };
        match core::mem::replace(written, WrittenJson::Null) {
            WrittenJson::Fields(fields) => {
                *self = Self::Map(fields.into_iter().map(|(name, value)| (name, Self::Written(value))).collect());
            }
            WrittenJson::List(items) => *self = Self::List(items.into_iter().map(Self::Written).collect()),
            plain => *written = plain,
        }
    }

    fn open_all(&mut self) {
        self.open();
        match self {
            Self::Map(fields) => fields.values_mut().for_each(Self::open_all),
            Self::List(items) => items.iter_mut().for_each(Self::open_all),
            Self::Written(_) => {}
        }
    }

    fn child(&mut self, part: &str) -> Option<&mut Self> {
        match self {
            Self::Map(fields) => fields.get_mut(part),
            Self::List(items) => {
                let at = index(part, items.len())?;
                items.get_mut(at)
            }
            Self::Written(_) => None,
        }
    }

    /// Opens the containers on the way to the last part of a path.
    fn container(&mut self, parents: &[String]) -> Option<&mut Self> {
        let mut place = self;
        for part in parents {
            place = place.child(part)?;
            place.open();
        }
        Some(place)
    }

    fn apply(&mut self, operation: &Operation, value: Self) -> Option<()> {
        let (path, from) = (operation.path.as_deref()?, operation.from.as_deref().unwrap_or(""));
        match operation.op.as_str() {
            "add" => self.add(path, value),
            "replace" if path.is_empty() => {
                *self = value;
                self.open();
                Some(())
            }
            "replace" => self.replace(path, value),
            "remove" => self.remove(path).map(drop),
            "move" => {
                let moved = self.remove(from)?;
                self.add(path, moved)
            }
            "copy" => {
                let copied = self.at(from)?.written();
                self.add(path, Self::Written(copied))
            }
            "test" if path.is_empty() => {
                self.open_all();
                Some(())
            }
            "test" => self.at(path).map(Self::open_all),
            _ => None,
        }
    }

    fn at(&mut self, path: &str) -> Option<&mut Self> {
        let parts = parts(path);
        let (last, parents) = parts.split_last()?;
        self.container(parents)?.child(last)
    }

    fn add(&mut self, path: &str, value: Self) -> Option<()> {
        let parts = parts(path);
        let (last, parents) = parts.split_last()?;
        match self.container(parents)? {
            Self::Map(fields) => _ = fields.insert(last.clone(), value),
            Self::List(items) if last == "-" => items.push(value),
            Self::List(items) => {
                let at = index(last, items.len() + usize::from(last.starts_with('-')))?;
                items.insert(at.min(items.len()), value);
            }
            Self::Written(_) => return None,
        }
        Some(())
    }

    fn replace(&mut self, path: &str, value: Self) -> Option<()> {
        let parts = parts(path);
        let (last, parents) = parts.split_last()?;
        match self.container(parents)? {
            Self::Map(fields) => _ = fields.insert(last.clone(), value),
            place => *place.child(last)? = value,
        }
        Some(())
    }

    fn remove(&mut self, path: &str) -> Option<Self> {
        let parts = parts(path);
        let (last, parents) = parts.split_last()?;
        match self.container(parents)? {
            Self::Map(fields) => fields.remove(last),
            Self::List(items) => {
                let at = index(last, items.len()).filter(|at| *at < items.len())?;
                Some(items.remove(at))
            }
            Self::Written(_) => None,
        }
    }

    fn written(&self) -> WrittenJson {
        match self {
            Self::Written(written) => written.clone(),
            Self::Map(fields) => {
                WrittenJson::Fields(fields.iter().map(|(name, value)| (name.clone(), value.written())).collect())
            }
            Self::List(items) => WrittenJson::List(items.iter().map(Self::written).collect()),
        }
    }

    fn into_written(self) -> WrittenJson {
        match self {
            Self::Written(written) => written,
            other => other.written(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::objects::WrittenJson;
    use crate::objects::patch::JsonPatch;
    use crate::objects::{Json, patch::json_document::patched_text};

    fn check(patch: &str, expected: &str) {
        let document = WrittenJson::parse(r#"{"b":{"z":1,"y":{"q":[],"p":"<"}},"a":{"d":2,"c":3}}"#).unwrap();
        let operations = JsonPatch::parse(&Json::parse(patch).unwrap()).unwrap();
        assert_eq!(patched_text(document, operations.operations(), &WrittenJson::parse(patch).unwrap()), expected);
    }

    #[test]
    fn what_was_not_looked_into_keeps_its_order() {
        check("[]", r#"{"a":{"d":2,"c":3},"b":{"z":1,"y":{"q":[],"p":"\u003c"}}}"#);
        check(
            r#"[{"op":"add","path":"/a/e","value":{"n":1,"m":2}}]"#,
            r#"{"a":{"c":3,"d":2,"e":{"n":1,"m":2}},"b":{"z":1,"y":{"q":[],"p":"\u003c"}}}"#,
        );
        check(
            r#"[{"op":"move","from":"/b/y","path":"/a/c"}]"#,
            r#"{"a":{"c":{"q":[],"p":"\u003c"},"d":2},"b":{"z":1}}"#,
        );
        check(
            r#"[{"op":"test","path":"/b/y","value":{"p":"<","q":[]}},{"op":"copy","from":"/b/y","path":"/b/q"}]"#,
            r#"{"a":{"d":2,"c":3},"b":{"q":{"p":"\u003c","q":[]},"y":{"p":"\u003c","q":[]},"z":1}}"#,
        );
    }
}
