//! The columns of custom kinds: those that their definitions say, and the age for those that say none.
//!
//! Mirrors k8s.io/apiextensions-apiserver pkg/registry/customresource/tableconvertor/tableconvertor.go (v1.34). Inputs:
//! a version of a definition, objects. Outputs: columns and cells.

use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::TableContext;
use super::cell_values::age;
use crate::json;
use crate::objects::jsonpath::JsonPath;
use crate::objects::{Json, Text};

/// A column as a definition says it.
#[derive(Clone, Debug)]
pub(in super::super) struct PrinterColumn {
    shown: Json,
    kind: Text,
    path: JsonPath,
}

/// The columns of a kind behind that of the name.
pub(in super::super) type PrinterColumns = Arc<[PrinterColumn]>;

/// Reads the columns of a version; a path that is none shows nothing.
pub(in super::super) fn read(version: &Json) -> PrinterColumns {
    let age = json!([{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
        "description": AGE_ABOUT}]);
    let own = version.get("additionalPrinterColumns");
    let columns = if own.is_empty() { &age } else { own };
    let text = |column: &Json, field| column.get(field).as_text().cloned().unwrap_or_default();
    let read = |column: &Json| {
        let mut shown = json!({"name": text(column, "name"), "type": text(column, "type")});
        shown.set(&["format"], text(column, "format"));
        let about = text(column, "description");
        let about = if about.is_empty() { Text::from(format!("{ABOUT}{}", text(column, "jsonPath"))) } else { about };
        shown.set(&["description"], about);
        shown.set(&["priority"], column.get("priority").as_i64().unwrap_or(0));
        Some(PrinterColumn { shown, kind: text(column, "type"), path: text(column, "jsonPath").parse().ok()? })
    };
    columns.items().iter().filter_map(read).collect::<Vec<_>>().into()
}

/// What is said of the age. Source: tableconvertor.go (v1.34), `metav1.ObjectMeta{}.SwaggerDoc()`.
const AGE_ABOUT: &str = super::column_forms::AGE.about;
/// What is said of a column without a description. Source: tableconvertor.go (v1.34), `New`.
const ABOUT: &str = "Custom resource definition column (in JSONPath format): ";

impl PrinterColumn {
    /// Returns the definition of the column.
    pub(super) fn definition(&self) -> Json {
        self.shown.clone()
    }

    /// Returns the cell of an object.
    pub(super) fn cell(&self, object: &Json, view: TableContext<'_>) -> Json {
        let found = self.path.find(object);
        match (self.kind.as_str(), found.as_slice()) {
            (_, []) => Json::Null,
            ("date", [at, ..]) => age(at, view),
            ("integer" | "number" | "boolean", [value, ..]) => (*value).clone(),
            _ => Json::from(self.path.print(object)),
        }
    }
}
