//! The order in which a health pass takes its nodes.
//!
//! Upstream it is free: eight workers share the nodes, and the list of a cache has no order
//! (pkg/controller/nodelifecycle/node_lifecycle_controller.go, `monitorNodeHealth`, v1.34). Here it is that of the
//! names; a replay takes over the order that was recorded, and a race reverses it.

use super::{NodeId, NodeLifecycle};
use crate::objects::Text;

impl NodeLifecycle {
    /// Puts nodes in the order in which a pass takes them.
    pub(super) fn sort_by_name(&self, ids: &mut [NodeId]) {
        let place = |name: &Text| self.preferred.iter().position(|other| other == name).unwrap_or(usize::MAX);
        let key = |id: &NodeId| (place(&self.node(*id).name), &self.node(*id).name);
        ids.sort_by(|one, other| key(one).cmp(&key(other)));
        if self.names_in_reverse {
            ids.reverse();
        }
    }
}
