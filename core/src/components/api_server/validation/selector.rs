//! How selectors of labels are printed in errors.
//!
//! Inputs: selectors. Outputs: texts as Go's `%#v` prints them.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::text;
use crate::objects::{Json, Text};

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
