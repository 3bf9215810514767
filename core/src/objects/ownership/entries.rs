//! The entries of `metadata.managedFields` as they are stored: their order, and what a heartbeat changes of them.
//!
//! Source: k8s.io/apimachinery pkg/util/managedfields/internal/managedfields.go (v1.34), `sortEncodedManagedFields`.
//! Inputs: entries. Outputs: entries in order.

use core::cmp::Ordering;

use jiff::Timestamp;

use super::super::{Json, time};

/// The name that a kubelet's requests give its entries, from its user agent.
const KUBELET: &str = "kubelet";

/// Returns the order of two entries.
#[must_use]
pub fn order(own: &Json, other: &Json) -> Ordering {
    let by = |field: &str| own.get(field).as_str().unwrap_or("").cmp(other.get(field).as_str().unwrap_or(""));
    let fields = ["operation", "time", "manager", "apiVersion", "subresource"];
    fields.into_iter().map(by).fold(Ordering::Equal, Ordering::then)
}

/// Moves the time of the kubelet's entry, as a write of nothing but heartbeat times does.
pub fn note_heartbeat(tree: &mut Json, subresource: &str, now: Timestamp) {
    let is_kubelet = |entry: &Json| {
        entry.get("manager").as_str() == Some(KUBELET)
            && entry.get("operation").as_str() == Some("Update")
            && entry.get("subresource").as_str().unwrap_or("") == subresource
    };
    if !tree.at(&["metadata", "managedFields"]).items().iter().any(is_kubelet) {
        return;
    }
    let entries = tree.entry(&["metadata", "managedFields"]).make_array();
    if let Some(entry) = entries.iter_mut().find(|entry| is_kubelet(entry)) {
        entry.set(&["time"], time::to_time(now));
    }
    entries.sort_by(order);
}
