//! What the controller's caches tell it: Leases, Nodes and Pods that change.
//!
//! Mirrors the event handlers of `NewNodeLifecycleController` (node_lifecycle_controller.go, v1.34). Inputs: changes of
//! the caches. Outputs: nodes for the next health pass, entries of the work queues.

use super::health::Renewal;
use super::taints::is_tainted;
use super::{LEASE_CACHE, NodeId, NodeLifecycle};
use crate::components::client::{self, CacheEvent};
use crate::components::controller::Controller;
use crate::network::RequestId;
use crate::objects::{HeartbeatStamp, Json, Object};

impl NodeLifecycle {
    pub(super) fn handle_lease(&mut self, event: &CacheEvent) {
        let id = self.id_at(event, |own| &mut own.lease_ids);
        self.see_lease(id, event.after.as_ref().map_or(Renewal::NONE, Renewal::of));
    }

    fn see_lease(&mut self, id: NodeId, renewal: Renewal) {
        if !self.sees_leases {
            return;
        }
        let next = self.next_pass();
        let node = &mut self.table[id as usize];
        node.signs.handle_lease(renewal, next, &self.passes);
        if node.slot.is_none() {
            node.signs.stop(next, &self.passes);
        }
    }

    /// Takes a renewal as two stamps; false if the Lease is not cached with the first of them.
    pub(super) fn take_renewal(&mut self, watch: RequestId, before: HeartbeatStamp, after: HeartbeatStamp) -> bool {
        if !Controller::takes_renewals(self, watch) {
            return false;
        }
        let Some(slot) = self.runtime.cache_mut(LEASE_CACHE).handle_renewal(before, after) else { return false };
        self.see_lease(self.lease_ids[slot as usize], Renewal::of_stamp(after));
        true
    }

    pub(super) fn handle_node(&mut self, event: &CacheEvent) {
        let id = self.id_at(event, |own| &mut own.node_ids);
        let next = self.next_pass();
        let node = &mut self.table[id as usize];
        if !node.changed {
            node.changed = true;
            self.changed.push(id);
        }
        let Some(after) = &event.after else {
            node.slot = None;
            node.signs.stop(next, &self.passes);
            for set in [&mut self.not_ready, &mut self.lingering, &mut self.tainted] {
                set.remove(&id);
            }
            return;
        };
        node.slot = Some(event.slot);
        let is_beat = event.before.as_ref().is_some_and(|before| same_tree(before.stable(), after.stable()));
        if !is_beat {
            if is_tainted(after) {
                self.tainted.insert(id);
            } else {
                self.tainted.remove(&id);
            }
        }
        // A heartbeat needs no NoSchedule pass, unless the last one failed.
        if !is_beat || self.failed.contains(&id) {
            self.node_queue.add(id);
        }
    }

    pub(super) fn handle_pod(&mut self, event: &CacheEvent) {
        self.pods_by_node.update(event);
        let node_of = |pod: &Object| client::node_name(pod).cloned();
        let after = event.after.as_ref().and_then(node_of);
        if self.handles_bound_pods && after.is_some() && after != event.before.as_ref().and_then(node_of) {
            self.pod_queue.add(event.object().key());
        }
    }
}

/// Tells whether two trees are one allocation, so that the objects differ by heartbeats only.
pub(super) fn same_tree(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Object(one), Json::Object(other)) => alloc::sync::Arc::ptr_eq(one, other),
        _ => false,
    }
}
