//! The size of heartbeats, in bytes of JSON.
//!
//! Counts the writes that a kubelet makes to its existing Node's status and Lease: what it sends (the whole Lease in a
//! PUT, the strategic merge patch of a status) and what the store keeps (each version whole). Left out on purpose:
//! headers; `managedFields`, which the simulator's objects do not have; and protobuf, which a real kubelet uses for
//! Leases and the store for everything, and which takes about half as much.

use alloc::string::ToString;

use crate::network::LEASES;
use crate::objects::Object;
use crate::objects::patch::status_patch;
use crate::scenario::{Cost, ObjectChange};

/// The field manager whose writes are heartbeats.
const KUBELET: &str = "kubelet";

/// Returns the bytes of a change, 0 if it is no heartbeat.
pub(super) fn of(what: Cost, change: &ObjectChange) -> u64 {
    let (Some(before), Some(after)) = (&change.before, &change.after) else { return 0 };
    if change.writer.manager != *KUBELET {
        return 0;
    }
    let length = |object: &Object| {
        let mut json = object.json();
        json.remove(&["metadata", "managedFields"]);
        json.to_string().len()
    };
    let bytes = match what {
        Cost::Sent if change.resource != LEASES => status_patch(&before.json(), &after.json()).to_string().len(),
        Cost::Sent | Cost::Stored => length(after),
    };
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
