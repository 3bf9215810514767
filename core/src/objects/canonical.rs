//! The canonical form of an object, for snapshots: random and clock-dependent values are replaced, and lists are
//! sorted.
//!
//! Inputs: a tree, the zero of offsets, the names of objects by uid. Output: a tree without resourceVersion and
//! managedFields; conditions by type, taints by key and effect and the like; instants as offsets; uids, addresses and a
//! machine's identities as placeholders.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::list_keys::{item_name, list_keys};
use super::redact::placeholder;
use super::{Fields, Json, time};

/// Fields that every heartbeat or every write changes; they do not count as differences.
pub const PASSING: [&str; 4] = ["lastHeartbeatTime", "managedFields", "renewTime", "resourceVersion"];

/// Brings an object into its canonical form.
#[must_use]
pub fn canonical(object: &Json, zero: Timestamp, names: &BTreeMap<String, String>) -> Json {
    let mut object = object.clone();
    object.remove(&["metadata", "resourceVersion"]);
    object.remove(&["metadata", "managedFields"]);
    walk("", &object, zero, names)
}

/// Walks the tree. No recursive call may pass an argument in the place of another: LLVM 21 and 22 compile such a call
/// as if it passed the arguments of the first (llvm/llvm-project#219503), and with `lto = "fat"` addresses were then
/// not replaced.
fn walk(field: &str, value: &Json, zero: Timestamp, names: &BTreeMap<String, String>) -> Json {
    match value {
        Json::Object(fields) => {
            let mut sorted = Fields::default();
            for (name, value) in fields.iter() {
                let text = placeholder(name, value, &|uid| names.get(uid).cloned());
                let text = text.or_else(|| offset_of(name, value, zero));
                let mut value = text.map_or_else(|| walk(name, value, zero, names), Json::from);
                if field == "status" && name == "addresses" {
                    value = without_chance_addresses(value);
                }
                sorted.insert(name.clone(), value);
            }
            Json::Object(Arc::new(sorted))
        }
        Json::Array(items) => {
            let mut items: Vec<(String, Json)> = items
                .iter()
                .enumerate()
                .map(|(at, item)| (item_name(field, item, at), walk(field, item, zero, names)))
                .collect();
            if list_keys(field).is_some() {
                items.sort_by(|one, other| one.0.cmp(&other.0));
            }
            Json::array(items.into_iter().map(|(_, item)| item).collect())
        }
        other => other.clone(),
    }
}

/// Replaces the addresses of a Node except its host name: the type beside an address decides whether it is random.
fn without_chance_addresses(mut value: Json) -> Json {
    match &value {
        Json::Array(items) => Json::array(items.iter().cloned().map(without_chance_addresses).collect()),
        Json::Object(fields) if fields.get("type").and_then(Json::as_str) != Some("Hostname") => {
            value.set(&["address"], "[address]");
            value
        }
        _ => value,
    }
}

/// Prints a field as snapshots have it: an instant as an offset, a random value as a placeholder; `None` for a field
/// that is printed as it is.
#[must_use]
pub fn masked(field: &str, value: &Json, zero: Timestamp) -> Option<String> {
    placeholder(field, value, &|_| None).or_else(|| offset_of(field, value, zero))
}

/// Prints an instant of the API as an offset; `None` for a field that holds none.
///
/// The API cuts most instants to whole seconds, and the zero is not cut: a write at +54.215s may print as +54.1s. The
/// offset is exact, so it is never later than the write, and differences stay those of the instants.
#[must_use]
fn offset_of(field: &str, value: &Json, zero: Timestamp) -> Option<String> {
    let is_time = ["Time", "Timestamp", "timeAdded", "At", "trigger-time"].iter().any(|ending| field.ends_with(ending));
    let text = value.as_str().filter(|_| is_time)?;
    let at = time::parse(text)?;
    Some(time::offset(at, zero))
}

/// Returns the name behind each uid of some objects: `worker-1`, `default/web`.
#[must_use]
pub fn names_by_uid<'a>(objects: impl Iterator<Item = &'a super::Object>) -> BTreeMap<String, String> {
    objects.map(|object| (String::from(object.uid()), format!("{}", object.key().name))).collect()
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::string::String;

    use super::canonical;
    use crate::json;

    #[test]
    fn what_chance_decides_is_replaced_and_lists_are_sorted() {
        let node = json!({
            "metadata": {"name": "w1", "uid": "u-1", "resourceVersion": "7", "managedFields": [{"manager": "kubelet"}],
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "ownerReferences": [{"kind": "X", "name": "x", "uid": "u-2"}]},
            "spec": {"taints": [{"key": "b", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:01:46Z"},
                {"key": "a", "effect": "NoExecute"}]},
            "status": {
                "addresses": [{"type": "InternalIP", "address": "10.0.0.4"}, {"type": "Hostname", "address": "w1"}],
                "conditions": [{"type": "Ready", "status": "True"}, {"type": "DiskPressure", "status": "False"}],
                "nodeInfo": {"bootID": "3f", "machineID": "9a", "kubeletVersion": "v1.34.4"}},
        });
        let names = BTreeMap::from([(String::from("u-1"), String::from("w1"))]);
        let zero = "2026-01-01T00:01:00.114Z".parse().unwrap();
        assert_eq!(
            canonical(&node, zero, &names),
            json!({
                "metadata": {"name": "w1", "uid": "[uid:w1]", "creationTimestamp": "-60.114s",
                    "ownerReferences": [{"kind": "X", "name": "x", "uid": "[uid]"}]},
                "spec": {"taints": [{"key": "a", "effect": "NoExecute"},
                    {"key": "b", "effect": "NoSchedule", "timeAdded": "+45.886s"}]},
                "status": {
                    "addresses": [{"type": "Hostname", "address": "w1"}, {"type": "InternalIP",
                        "address": "[address]"}],
                    "conditions": [{"type": "DiskPressure", "status": "False"}, {"type": "Ready", "status": "True"}],
                    "nodeInfo": {"bootID": "[bootID]", "machineID": "[machineID]", "kubeletVersion": "[release]"}},
            })
        );
    }
}
