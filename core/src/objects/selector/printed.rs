//! Selectors of labels as kubectl takes them. Pure.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::objects::{Json, Text};

/// Prints a selector of labels, or a map of them, as kubectl takes it; empty for one that selects all.
/// Source: k8s.io/apimachinery pkg/apis/meta/v1/helpers.go (v1.34), `FormatLabelSelector`.
#[must_use]
pub fn selector_text(selector: &Json) -> String {
    let is_map = selector.get("matchLabels").is_null() && selector.get("matchExpressions").is_null();
    let labels = if is_map { selector } else { selector.get("matchLabels") };
    let printed = |key: &Text, value: &Json| format!("{key}={}", value.as_str().unwrap_or_default());
    let labels = labels.fields().map(|(key, value)| (key.as_str(), printed(key, value)));
    let terms = selector.get("matchExpressions").items().iter().map(|term| {
        let key = term.get("key").as_str().unwrap_or_default();
        let mut values: Vec<&str> = term.get("values").items().iter().filter_map(Json::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        let printed = match term.get("operator").as_str() {
            Some("In") => format!("{key} in ({values})"),
            Some("NotIn") => format!("{key} notin ({values})"),
            Some("DoesNotExist") => format!("!{key}"),
            _ => String::from(key),
        };
        (key, printed)
    });
    let mut parts: Vec<(&str, String)> = labels.chain(terms).collect();
    parts.sort_by_key(|(key, _)| *key);
    parts.into_iter().map(|(_, part)| part).collect::<Vec<_>>().join(",")
}
