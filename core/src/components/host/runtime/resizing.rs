//! What a pod was given, and what its containers have of it: both outlive the kubelet, as its checkpoints do.
//!
//! Mirrors pkg/kubelet/allocation/state (v1.34). Inputs: what the kubelet decides. Outputs: none.

use jiff::Timestamp;

use super::Runtime;
use crate::components::host::ContainerLimits;
use crate::objects::Json;

impl Runtime {
    /// Notes the resources that a pod is given, as a specification.
    pub fn give(&mut self, uid: &str, spec: &Json) {
        if let Some(sandbox) = self.sandboxes.get_mut(uid) {
            sandbox.given = spec.clone();
        }
    }

    /// Changes the resources of a container, and what its cgroup limits.
    pub fn resize(&mut self, uid: &str, container: &str, own: (&Json, ContainerLimits), now: Timestamp) {
        let (resources, limits) = own;
        let containers = self.sandboxes.get_mut(uid).into_iter().flat_map(|sandbox| &mut sandbox.containers);
        for own in containers.filter(|own| *own.name == *container) {
            own.resources = resources.clone();
        }
        self.limit(uid, container, limits, now);
    }
}
