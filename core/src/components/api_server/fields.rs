//! Changes of fields that the strategies of several kinds have in common. Pure: a tree is changed in place.

use alloc::string::ToString;

use crate::objects::Json;
use crate::objects::quantity::Quantity;

/// Sets a field that is not there.
pub(super) fn set_absent(tree: &mut Json, path: &[&str], value: impl Into<Json>) {
    if tree.at(path).is_null() {
        tree.set(path, value);
    }
}

/// Puts a stored value back; one that was absent becomes absent.
pub(super) fn put(tree: &mut Json, path: &[&str], value: &Json) {
    if value.is_null() {
        tree.remove(path);
    } else {
        tree.set(path, value.clone());
    }
}

/// Rounds amounts up to thousandths. Source: pkg/apis/core/v1/defaults.go (v1.34), `SetDefaults_ResourceList`.
pub(super) fn round_up(tree: &mut Json, path: &[&str]) {
    let list = tree.at(path).clone();
    for (name, amount) in list.fields() {
        let Some(quantity) = amount.as_str().and_then(Quantity::parse) else { continue };
        let whole = quantity.in_whole_thousandths();
        if whole != quantity {
            tree.entry(path).set(&[name.as_str()], whole.to_string());
        }
    }
}
