//! How selectors of labels are printed in errors.
//!
//! Inputs: selectors. Outputs: texts, as Go prints the fields of its types, and as its `%#v` does.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::text;
use crate::objects::{Json, Text};

/// Prints a selector with its fields in the order of the Go types.
pub(super) fn printed_selector(selector: &Json) -> String {
    let in_order = |tree: &Json, fields: &[&str]| {
        let own = fields.iter().filter(|field| !tree.get(field).is_null());
        own.map(|field| format!("{field:?}:{}", tree.get(field))).collect::<Vec<_>>()
    };
    if selector.is_null() {
        return String::from("null");
    }
    let mut parts = in_order(selector, &["matchLabels"]);
    let terms = selector.get("matchExpressions").items();
    if !terms.is_empty() {
        let term = |term: &Json| format!("{{{}}}", in_order(term, &["key", "operator", "values"]).join(","));
        parts.push(format!("\"matchExpressions\":[{}]", terms.iter().map(term).collect::<Vec<_>>().join(",")));
    }
    format!("{{{}}}", parts.join(","))
}

pub(super) fn go_labels(labels: &Json) -> String {
    let text = |(key, value): (&Text, &Json)| format!("{key:?}:{:?}", value.as_str().unwrap_or_default());
    let labels: Vec<String> = labels.fields().map(text).collect();
    format!("map[string]string{{{}}}", labels.join(", "))
}

/// Prints a selector as Go's `%#v` does.
pub(super) fn go_selector(selector: &Json) -> String {
    let labels = selector.get("matchLabels");
    let labels = if labels.is_null() { String::from("map[string]string(nil)") } else { go_labels(labels) };
    let terms = selector.get("matchExpressions");
    let term = |term: &Json| {
        let values: Vec<String> = term.get("values").items().iter().map(Json::to_string).collect();
        let values = if values.is_empty() { "(nil)".to_string() } else { format!("{{{}}}", values.join(", ")) };
        let (key, operator) = (text(term, "key"), text(term, "operator"));
        format!("v1.LabelSelectorRequirement{{Key:{key:?}, Operator:{operator:?}, Values:[]string{values}}}")
    };
    let terms = if terms.is_null() {
        "(nil)".to_string()
    } else {
        format!("{{{}}}", terms.items().iter().map(term).collect::<Vec<_>>().join(", "))
    };
    format!("v1.LabelSelector{{MatchLabels:{labels}, MatchExpressions:[]v1.LabelSelectorRequirement{terms}}}")
}
