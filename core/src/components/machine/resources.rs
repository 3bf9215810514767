//! What changes of a machine's hardware, and of what its processes use of it.
//!
//! Inputs: actions. Outputs: the changed host, and a kubelet that measures again.

use alloc::string::ToString;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::{Kubelet, Machine, MachineError};
use crate::components::host::{Free, Resource, ToldHints};
use crate::objects::Json;

impl Machine {
    /// Changes hardware or clock.
    pub(super) fn change(&mut self, body: &Json, now: Timestamp) -> Result<(), MachineError> {
        let changed = self.host.spec.changed(body);
        let spec = changed.map_err(|error| MachineError::Misuse(error.to_string()))?;
        let has_images = !body.get("images").is_null();
        self.change_host(now, |host| {
            host.respec(spec, now);
            if has_images {
                host.images.clone_from(&host.spec.hardware.images);
            }
        })
    }

    /// Fills what the machine has, or frees it: all that is asked for, or nothing.
    pub(super) fn fill(&mut self, fills: Vec<(Resource, Free)>, now: Timestamp) -> Result<(), MachineError> {
        let mut filled = self.host.clone();
        for (resource, free) in fills {
            filled.fill(resource, free).map_err(MachineError::Misuse)?;
        }
        self.host = filled;
        self.note_usage(now);
        Ok(())
    }

    /// Sets what a provider would answer to the topology manager; a later word about the same replaces it.
    pub(super) fn tell_hints(&mut self, told: ToldHints) {
        let is_same =
            |own: &ToldHints| own.pod == told.pod && own.container == told.container && own.resource == told.resource;
        self.host.told_hints.retain(|own| !is_same(own));
        self.host.told_hints.push(told);
    }

    /// Notes that something uses more or less than before: the kubelet sees it when it measures next.
    pub(super) fn note_usage(&mut self, now: Timestamp) {
        self.with_kubelet(now, Kubelet::note_usage);
    }
}
