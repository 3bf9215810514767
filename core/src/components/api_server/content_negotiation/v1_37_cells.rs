//! The cells of kinds that came with 1.37, whose columns are in `v1_37_columns`.
//!
//! Source: pkg/printers/internalversion/printers.go (v1.37). Inputs: an object and the context of its table. Outputs:
//! one cell for each column behind the name.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::TableContext;
use super::cell_values::{NONE, labels, since, text, text_or};
use crate::objects::Json;

/// Returns the cells of an object of a kind.
pub(super) fn of(plural: &str, object: &Json, age: Json, view: TableContext<'_>) -> Option<Vec<Json>> {
    let spec = |field: &str| text(object, &["spec", field]);
    Some(match plural {
        "clustertrustbundles" => Vec::from([text_or(object, &["spec", "signerName"], NONE)]),
        "podcertificaterequests" => Vec::from([
            spec("podName"),
            spec("serviceAccountName"),
            spec("nodeName"),
            spec("signerName"),
            Json::from(last_condition(object, &["Issued", "Denied", "Failed"], "Pending")),
            Json::from(labels(object.at(&["spec", "unverifiedUserAnnotations"]))),
        ]),
        "devicetaintrules" => {
            let taint = |field: &str| text(object, &["spec", "taint", field]);
            let added = since(object.at(&["spec", "taint", "timeAdded"]), view).unwrap_or_default();
            Vec::from([taint("key"), taint("value"), taint("effect"), Json::from(added), age])
        }
        "storageversionmigrations" => {
            let part = |field: &str| object.at(&["spec", "resource", field]).as_str().unwrap_or("");
            let (resource, group) = (part("resource"), part("group"));
            let shown = if group.is_empty() { String::from(resource) } else { format!("{resource}.{group}") };
            let status = last_condition(object, &["Running", "Failed", "Succeeded"], "Unknown");
            Vec::from([Json::from(shown), Json::from(status)])
        }
        _ => return None,
    })
}

/// Returns the last of the conditions that say how far an object is.
fn last_condition<'a>(object: &Json, known: &[&'a str], otherwise: &'a str) -> &'a str {
    let conditions = object.at(&["status", "conditions"]).items().iter().rev();
    let mut found = conditions.filter(|own| own.get("status").as_str() == Some("True"));
    let named = |own: &Json| known.iter().find(|name| own.get("type").as_str() == Some(**name)).copied();
    found.find_map(named).unwrap_or(otherwise)
}
