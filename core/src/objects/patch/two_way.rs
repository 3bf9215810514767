//! The patch that a client sends: what differs between the object that it knows and the one that it wants.
//!
//! Mirrors k8s.io/apimachinery pkg/util/strategicpatch (v1.34), `CreateTwoWayMergePatch`, for Node and Pod status, and
//! k8s.io/component-helpers/node/util/status.go for the addresses: conditions merge by `type`, any other list is
//! replaced as a whole. Pure.

use alloc::vec::Vec;

use super::super::{Json, Text};
use crate::json;

/// Returns the fields of `new` that differ from `old`, `null` for those that are gone; an empty object for none.
#[must_use]
pub fn two_way(old: &Json, new: &Json) -> Json {
    let mut patch = Json::object();
    for (name, value) in new.fields() {
        let before = old.get(name);
        if before == value {
            continue;
        }
        if name.as_str() == "conditions" && !before.items().is_empty() {
            conditions(before, value, &mut patch);
        } else if name.as_str() == "addresses" && !before.items().is_empty() {
            let mut list = value.items().to_vec();
            list.push(json!({"$patch": "replace"}));
            patch.set(&["addresses"], list);
        } else if matches!(name.as_str(), "hostIPs" | "podIPs") && !before.items().is_empty() {
            addresses_by_ip(name, before, value, &mut patch);
        } else if before.is_object() && value.is_object() {
            let inner = two_way(before, value);
            if !inner.is_empty() {
                patch.set(&[name], inner);
            }
        } else {
            patch.set(&[name], value.clone());
        }
    }
    for (name, before) in old.fields() {
        if !before.is_null() && new.get(name).is_null() {
            patch.set(&[name], Json::Null);
        }
    }
    patch
}

/// Returns the patch of the status that leads from one version of a Node to another.
#[must_use]
pub fn status_patch(old: &Json, new: &Json) -> Json {
    json!({"status": two_way(old.get("status"), new.get("status"))})
}

/// Lists of addresses merge by `ip`.
fn addresses_by_ip(name: &Text, old: &Json, new: &Json, patch: &mut Json) {
    let has = |list: &Json, ip: &Json| list.items().iter().any(|item| item.get("ip") == ip);
    let mut changed: Vec<Json> = new.items().iter().filter(|item| !has(old, item.get("ip"))).cloned().collect();
    for gone in old.items().iter().filter(|item| !has(new, item.get("ip"))) {
        let mut delete = json!({"$patch": "delete"});
        delete.set(&["ip"], gone.get("ip").clone());
        changed.push(delete);
    }
    patch.set(&[&alloc::format!("$setElementOrder/{name}")], new.clone());
    patch.set(&[name], changed);
}

fn conditions(old: &Json, new: &Json, patch: &mut Json) {
    let mut changed: Vec<Json> = Vec::new();
    for condition in new.items() {
        let kind = condition.get("type");
        let before = old.items().iter().find(|before| before.get("type") == kind);
        let inner = before.map_or_else(|| condition.clone(), |before| two_way(before, condition));
        if !inner.is_empty() {
            let mut inner = inner;
            inner.set(&["type"], kind.clone());
            changed.push(inner);
        }
    }
    for gone in old.items().iter().filter(|gone| !has_type(new, gone.get("type"))) {
        let mut delete = json!({"$patch": "delete"});
        delete.set(&["type"], gone.get("type").clone());
        changed.push(delete);
    }
    if changed.is_empty() {
        return;
    }
    let order: Json = new
        .items()
        .iter()
        .map(|item| [(Text::of("type"), item.get("type").clone())].into_iter().collect::<Json>())
        .collect();
    patch.set(&["$setElementOrder/conditions"], order);
    patch.set(&["conditions"], changed);
}

fn has_type(list: &Json, kind: &Json) -> bool {
    list.items().iter().any(|item| item.get("type") == kind)
}

#[cfg(test)]
mod tests {
    use super::two_way;
    use crate::json;

    #[test]
    fn a_patch_holds_what_differs_and_nothing_else() {
        for (old, new, patch) in [
            (json!({"a": 1, "b": {"c": 2}}), json!({"a": 1, "b": {"c": 2}}), json!({})),
            (json!({"a": 1, "b": {"c": 2, "d": 3}}), json!({"a": 2, "b": {"c": 2}}), json!({"a": 2, "b": {"d": null}})),
            (
                json!({"conditions": [{"type": "A", "status": "x"}, {"type": "B", "status": "x", "reason": "r"}]}),
                json!({"conditions": [{"type": "A", "status": "x"}, {"type": "B", "status": "y"}]}),
                json!({"$setElementOrder/conditions": [{"type": "A"}, {"type": "B"}],
                    "conditions": [{"type": "B", "status": "y", "reason": null}]}),
            ),
            (json!({}), json!({"conditions": [{"type": "A"}]}), json!({"conditions": [{"type": "A"}]})),
            (
                json!({"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}),
                json!({"addresses": [{"type": "InternalIP", "address": "10.0.0.2"}]}),
                json!({"addresses": [{"type": "InternalIP", "address": "10.0.0.2"}, {"$patch": "replace"}]}),
            ),
        ] {
            assert_eq!(two_way(&old, &new), patch);
        }
    }
}
