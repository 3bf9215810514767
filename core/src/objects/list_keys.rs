//! The key fields of the items of known lists, and the name of an item by its keys. A table and pure functions.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Json;

/// The fields by which the items of a list are told apart, by the list's name.
///
/// Source: `patchMergeKey` and `listMapKey` of k8s.io/api core/v1/types.go and apimachinery meta/v1/types.go (v1.34).
/// Taints, tolerations, addresses and endpoints have other keys there (`key`, none, `type`, none); these identify an
/// item.
const LIST_KEYS: &[(&str, &[&str])] = &[
    ("addresses", &["type"]),
    ("conditions", &["type"]),
    ("containerStatuses", &["name"]),
    ("containers", &["name"]),
    ("endpoints", &["targetRef.name"]),
    ("env", &["name"]),
    ("ephemeralContainers", &["name"]),
    ("hostIPs", &["ip"]),
    ("imagePullSecrets", &["name"]),
    ("initContainerStatuses", &["name"]),
    ("initContainers", &["name"]),
    ("managedFields", &["manager", "operation", "subresource"]),
    ("ownerReferences", &["uid"]),
    ("podIPs", &["ip"]),
    ("ports", &["containerPort", "port", "protocol"]),
    ("readinessGates", &["conditionType"]),
    ("runtimeHandlers", &["name"]),
    ("taints", &["key", "effect"]),
    ("tolerations", &["key", "operator", "value", "effect"]),
    ("volumeMounts", &["mountPath"]),
    ("volumes", &["name"]),
    ("volumesAttached", &["name"]),
];

/// Returns the fields that tell the items of a list apart; `None` for a list that is compared as a whole.
#[must_use]
pub fn list_keys(list: &str) -> Option<&'static [&'static str]> {
    LIST_KEYS.binary_search_by(|(name, _)| (*name).cmp(list)).ok().map(|at| LIST_KEYS[at].1)
}

/// Returns what an item of a list is called: its keys with colons between, or its place.
#[must_use]
pub fn item_name(list: &str, item: &Json, at: usize) -> String {
    let Some(keys) = list_keys(list) else { return at.to_string() };
    let parts: Vec<String> = keys
        .iter()
        .map(|key| key.split('.').fold(item, |part, name| part.get(name)))
        .filter(|part| !part.is_null())
        .map(|part| part.as_str().map_or_else(|| part.to_string(), String::from))
        .collect();
    if parts.is_empty() { at.to_string() } else { parts.join(":") }
}

#[cfg(test)]
mod tests {
    use super::LIST_KEYS;

    #[test]
    fn the_lists_are_sorted_so_that_a_binary_search_finds_them() {
        assert!(LIST_KEYS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
