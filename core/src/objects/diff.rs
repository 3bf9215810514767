//! Which fields differ between two objects; items of lists are matched by their merge keys, not by their place.
//!
//! Inputs: two trees. Output: the changed fields in order of their paths. A list of objects with a known key is
//! compared item by item, a list of plain values as a whole.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::list_keys::{item_name, list_keys};
use super::{Json, NULL, Path, Text};

/// A field that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    /// Where.
    pub path: Path,
    /// What stood there; `Null` if it is new.
    pub old: Json,
    /// What stands there now; `Null` if it is gone.
    pub new: Json,
}

/// Returns the fields that differ, in order of their paths.
#[must_use]
pub fn diff(old: &Json, new: &Json) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    compare(&Path::default(), "", old, new, &mut changes);
    changes
}

fn compare(path: &Path, list: &str, old: &Json, new: &Json, changes: &mut Vec<FieldChange>) {
    if same(old, new) {
        return;
    }
    match (old, new) {
        (Json::Object(_) | Json::Null, Json::Object(_) | Json::Null) => {
            let names: BTreeSet<&Text> = old.fields().chain(new.fields()).map(|(name, _)| name).collect();
            if names.is_empty() || (path.segments().is_empty() && (old.is_null() || new.is_null())) {
                changes.push(FieldChange { path: path.clone(), old: old.clone(), new: new.clone() });
                return;
            }
            for name in names {
                let place = if name.contains(['.', '/']) { path.item(name) } else { path.field(name) };
                compare(&place, name, old.get(name), new.get(name), changes);
            }
        }
        (Json::Array(_) | Json::Null, Json::Array(_) | Json::Null) if list_keys(list).is_some() => {
            compare_items(path, list, old, new, changes);
        }
        _ => changes.push(FieldChange { path: path.clone(), old: old.clone(), new: new.clone() }),
    }
}

fn compare_items(path: &Path, list: &str, old: &Json, new: &Json, changes: &mut Vec<FieldChange>) {
    let named = |value: &Json| -> BTreeMap<String, Json> {
        let mut items = BTreeMap::new();
        for (at, item) in value.items().iter().enumerate() {
            let name = item_name(list, item, at);
            let name = if items.contains_key(&name) { format!("{name}#{at}") } else { name };
            items.insert(name, item.clone());
        }
        items
    };
    let (before, after) = (named(old), named(new));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        let (before, after) = (before.get(name).unwrap_or(&NULL), after.get(name).unwrap_or(&NULL));
        let place = path.item(name);
        if before.is_null() || after.is_null() {
            changes.push(FieldChange { path: place, old: before.clone(), new: after.clone() });
        } else {
            compare(&place, "", before, after, changes);
        }
    }
}

/// Tells whether two values are the same; an empty list or object equals an absent one.
fn same(old: &Json, new: &Json) -> bool {
    old == new || (old.is_empty() && new.is_empty())
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::diff;
    use crate::json;
    use crate::objects::Json;

    fn check(old: Json, new: Json, expected: &[&str]) {
        let found: Vec<String> = diff(&old, &new)
            .iter()
            .map(|change| format!("{}: {} -> {}", change.path, change.old, change.new))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn conditions_are_matched_by_type_whatever_their_order() {
        check(
            json!({"status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "A", "status": "True"}]}}),
            json!({"status": {"conditions": [{"type": "A", "status": "True"}, {"type": "Ready", "status": "False"}]}}),
            &["status.conditions[Ready].status: \"True\" -> \"False\""],
        );
    }

    #[test]
    fn an_item_that_comes_or_goes_is_one_change() {
        check(
            json!({"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}),
            json!({"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}}),
            &[
                "spec.taints[k:NoExecute]: null -> {\"effect\":\"NoExecute\",\"key\":\"k\"}",
                "spec.taints[k:NoSchedule]: {\"effect\":\"NoSchedule\",\"key\":\"k\"} -> null",
            ],
        );
    }

    #[test]
    fn empty_is_as_good_as_absent_and_plain_lists_are_one_value() {
        check(json!({"spec": {"taints": []}}), json!({}), &[]);
        check(
            json!({"metadata": {"finalizers": ["a"], "labels": {"a.b/c": "1"}}}),
            json!({"metadata": {"finalizers": ["a", "b"], "labels": {"a.b/c": "2"}}}),
            &["metadata.finalizers: [\"a\"] -> [\"a\",\"b\"]", "metadata.labels[a.b/c]: \"1\" -> \"2\""],
        );
    }
}
