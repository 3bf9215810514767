//! What the cells of many kinds have in common. Pure.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::TableContext;
use crate::objects::selector::selector_text;
use crate::objects::time::human_duration;
use crate::objects::{Json, time};

pub(super) const NONE: &str = "<none>";
pub(super) const UNSET: &str = "<unset>";
pub(super) const UNKNOWN: &str = "<unknown>";
/// How many parts of a list are shown.
const SHOWN: usize = 3;

/// Returns the text at a path; an empty one if there is none.
pub(super) fn text(object: &Json, path: &[&str]) -> Json {
    Json::from(object.at(path).as_str().unwrap_or(""))
}

pub(super) fn text_or(object: &Json, path: &[&str], otherwise: &str) -> Json {
    Json::from(object.at(path).as_str().filter(|text| !text.is_empty()).unwrap_or(otherwise))
}

pub(super) fn number(object: &Json, path: &[&str]) -> i64 {
    object.at(path).as_i64().unwrap_or(0)
}

pub(super) fn count(object: &Json, path: &[&str]) -> Json {
    Json::Int(number(object, path))
}

pub(super) fn length(list: &Json) -> i64 {
    let count = list.items().len() + list.fields().count();
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Returns how long ago an instant was.
pub(super) fn since(at: &Json, view: TableContext<'_>) -> Option<String> {
    let at = at.as_str().and_then(time::parse)?;
    Some(human_duration(view.now.duration_since(at)))
}

pub(super) fn age(at: &Json, view: TableContext<'_>) -> Json {
    Json::from(since(at, view).unwrap_or_else(|| String::from(UNKNOWN)))
}

/// Returns the cells `Containers` and `Images` of what has a template.
pub(super) fn containers(object: &Json) -> [Json; 2] {
    containers_of(object.at(&["spec", "template", "spec", "containers"]))
}

pub(super) fn containers_of(list: &Json) -> [Json; 2] {
    ["name", "image"].map(|field| {
        let parts: Vec<&str> =
            list.items().iter().map(|container| container.get(field).as_str().unwrap_or("")).collect();
        Json::from(parts.join(","))
    })
}

/// Prints labels as `a=b,c=d`.
pub(super) fn labels(labels: &Json) -> String {
    let parts: Vec<String> =
        labels.fields().map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or(""))).collect();
    if parts.is_empty() { String::from(NONE) } else { parts.join(",") }
}

/// Prints a label selector as kubectl takes it.
pub(super) fn selector(selector: &Json) -> Json {
    let printed = selector_text(selector);
    Json::from(if printed.is_empty() { String::from(NONE) } else { printed })
}

/// Returns the cells of what keeps a number of Pods.
pub(super) fn replicas(object: &Json, age: Json, selector: Json) -> Vec<Json> {
    let mut cells = Vec::from([
        count(object, &["spec", "replicas"]),
        count(object, &["status", "replicas"]),
        count(object, &["status", "readyReplicas"]),
        age,
    ]);
    cells.extend(containers(object));
    cells.push(selector);
    cells
}

/// Joins texts, or a field of each, with commas.
pub(super) fn joined(list: &Json, field: Option<&str>) -> String {
    let own = |item: &Json| field.map_or(item.as_str(), |field| item.get(field).as_str()).map(String::from);
    list.items().iter().map(|item| own(item).unwrap_or_default()).collect::<Vec<String>>().join(",")
}

/// Shows the first parts of a list, and how many there are beside them.
pub(super) fn with_more(parts: &[String]) -> String {
    let shown = parts.iter().take(SHOWN).cloned().collect::<Vec<String>>().join(",");
    match parts.len() {
        0 => String::from(UNSET),
        all if all > SHOWN => format!("{shown} + {} more...", all - SHOWN),
        _ => shown,
    }
}
