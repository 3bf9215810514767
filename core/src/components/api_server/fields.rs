//! Changes of fields that the strategies of several kinds have in common. Pure: a tree is changed in place.

use alloc::string::ToString;

use jiff::{SignedDuration, Timestamp};

use crate::objects::quantity::Quantity;
use crate::objects::{Json, time};

/// The longest grace that an instant can show: 292 years, as long as Go's durations.
const GRACE_MAX: i64 = i64::MAX / 1_000_000_000;

/// Sets the deletion timestamp and the grace period of an object.
pub(super) fn mark(tree: &mut Json, now: Timestamp, grace: i64) {
    tree.set(&["metadata", "deletionTimestamp"], time::to_time(now + SignedDuration::from_secs(grace.min(GRACE_MAX))));
    tree.set(&["metadata", "deletionGracePeriodSeconds"], grace);
    if let Some(generation) = tree.at(&["metadata", "generation"]).as_i64()
        && generation > 0
    {
        tree.set(&["metadata", "generation"], generation + 1);
    }
}

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
