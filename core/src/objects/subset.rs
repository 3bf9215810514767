//! Whether a tree has all that a part of one says, and where it does not. Pure.
//!
//! Of a map, the fields that the part names; of a list whose items have keys, as conditions by `type`, the item with
//! the same keys; any other list and any other value as a whole. `null` stands for a field that is absent.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::list_keys::{item_name, list_keys};
use super::{Json, NULL, Path};

/// Returns the first place at which a tree is not as the part says, and what is there; nothing if it has it all.
#[must_use]
pub fn first_difference<'a>(part: &Json, whole: &'a Json) -> Option<(Path, &'a Json)> {
    at(&Path::default(), "", part, whole)
}

fn at<'a>(path: &Path, list: &str, part: &Json, whole: &'a Json) -> Option<(Path, &'a Json)> {
    match part {
        Json::Object(fields) if !fields.is_empty() && whole.is_object() => {
            fields.iter().find_map(|(name, own)| at(&path.field(name.clone()), name, own, whole.get(name)))
        }
        Json::Array(items) if keys_of(list, items).is_some() && whole.is_array() => {
            items.iter().enumerate().find_map(|(place, own)| {
                let path = path.item(item_name(list, own, place));
                let found = whole.items().iter().find(|item| has_keys(list, own, item));
                found.map_or(Some((path.clone(), &NULL)), |item| at(&path, "", own, item))
            })
        }
        Json::Array(items) if whole.items().len() == items.len() && whole.is_array() => {
            let mut pairs = items.iter().zip(whole.items()).enumerate();
            pairs.find_map(|(place, (own, item))| at(&path.item(format!("{place}")), "", own, item))
        }
        part => (!is_like(part, whole)).then(|| (path.clone(), whole)),
    }
}

/// Returns the keys of a list's items if each of them has one.
fn keys_of(list: &str, items: &[Json]) -> Option<&'static [&'static str]> {
    let keys = list_keys(list)?;
    let has_key = |item: &Json| keys.iter().any(|key| !value_of(item, key).is_null());
    (!items.is_empty() && items.iter().all(has_key)).then_some(keys)
}

/// Tells whether an item has the keys that a part of one names.
fn has_keys(list: &str, part: &Json, item: &Json) -> bool {
    let mut keys = list_keys(list).unwrap_or_default().iter().map(|key| (value_of(part, key), value_of(item, key)));
    keys.all(|(own, other)| own.is_null() || is_like(own, other))
}

/// Tells whether two values are the same, a text and a number alike: `1` and `"1"`.
#[must_use]
pub fn is_like(one: &Json, other: &Json) -> bool {
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), String::from);
    one == other || (!one.is_null() && !other.is_null() && text(one) == text(other))
}

fn value_of<'a>(item: &'a Json, key: &str) -> &'a Json {
    key.split('.').fold(item, |part, name| part.get(name))
}

/// Returns the places about which a part says something, each with what it says.
#[must_use]
pub fn leaves(part: &Json) -> Vec<(Path, &Json)> {
    let mut found = Vec::new();
    collect(&Path::default(), "", part, &mut found);
    found
}

fn collect<'a>(path: &Path, list: &str, part: &'a Json, found: &mut Vec<(Path, &'a Json)>) {
    match part {
        Json::Object(fields) if !fields.is_empty() => {
            fields.iter().for_each(|(name, own)| collect(&path.field(name.clone()), name, own, found));
        }
        Json::Array(items) if keys_of(list, items).is_some() => {
            let named = items.iter().enumerate().map(|(place, own)| (path.item(item_name(list, own, place)), own));
            named.for_each(|(path, own)| collect(&path, "", own, found));
        }
        other => found.push((path.clone(), other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn node() -> Json {
        json!({"metadata": {"labels": {"a.b/c": "1", "zone": "a"}},
            "spec": {"taints": [{"key": "x", "effect": "NoSchedule"}, {"key": "x", "effect": "NoExecute"}],
                "podCIDRs": ["10.0.0.0/24", "fd00::/64"]},
            "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "PIDPressure", "status": "False"}],
                "ports": [{"containerPort": 80, "protocol": "TCP"}]}})
    }

    fn difference(part: &Json) -> String {
        let node = node();
        let found = first_difference(part, &node);
        found.map_or_else(|| String::from("none"), |(path, found)| format!("{path} {found}"))
    }

    #[test]
    fn maps_and_keyed_lists_are_compared_by_what_is_named() {
        for part in [
            json!({"metadata": {"labels": {"a.b/c": 1}}, "spec": {"x": null}}),
            json!({"status": {"conditions": [{"type": "PIDPressure", "status": "False"}, {"type": "Ready"}]}}),
            json!({"spec": {"taints": [{"key": "x", "effect": "NoExecute"}], "unschedulable": null}}),
            json!({"spec": {"podCIDRs": ["10.0.0.0/24", "fd00::/64"]}}),
            json!({"status": {"ports": [{"containerPort": 80}]}}),
        ] {
            assert_eq!(difference(&part), "none", "{part}");
        }
    }

    #[test]
    fn the_first_difference_has_its_path_and_what_is_there() {
        for (part, expected) in [
            (json!({"metadata": {"labels": {"a.b/c": "2"}}}), "metadata.labels[\"a.b/c\"] \"1\""),
            (
                json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}),
                "status.conditions[Ready].status \"True\"",
            ),
            (json!({"status": {"conditions": [{"type": "DiskPressure"}]}}), "status.conditions[DiskPressure] null"),
            (
                json!({"spec": {"taints": [{"key": "x", "effect": "NoExecute", "value": "v"}]}}),
                "spec.taints[x:NoExecute].value null",
            ),
            (json!({"spec": {"podCIDRs": ["10.0.0.0/24"]}}), "spec.podCIDRs [\"10.0.0.0/24\",\"fd00::/64\"]"),
            (json!({"spec": {"podCIDRs": ["10.0.0.0/24", "x"]}}), "spec.podCIDRs[1] \"fd00::/64\""),
            (json!({"spec": {"unschedulable": true}}), "spec.unschedulable null"),
            (json!({"metadata": {"labels": {"zone": null}}}), "metadata.labels.zone \"a\""),
            (json!({"spec": {"providerID": {"a": 1}}}), "spec.providerID null"),
        ] {
            assert_eq!(difference(&part), expected, "{part}");
        }
    }

    #[test]
    fn what_is_said_is_a_list_of_paths() {
        let part = json!({"spec": {"podCIDRs": ["a"], "x": null}, "status": {"conditions": [{"type": "Ready"}]}});
        let paths: Vec<String> = leaves(&part).iter().map(|(path, _)| path.to_string()).collect();
        assert_eq!(paths, ["spec.podCIDRs", "spec.x", "status.conditions[Ready].type"]);
    }
}
