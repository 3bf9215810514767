//! What the containers of a machine use, as they were told, and what of it stays on the disk when they have ended.
//!
//! Inputs: behaviours, annotations of pods, ends of processes. Outputs: sums for each pod. Invariant: memory and
//! processes are used while a container runs, its writable layer until it is removed, volumes until the pod is cleaned
//! up.

use alloc::vec::Vec;

use jiff::Timestamp;

use super::super::behaviour::BEHAVIOUR_PREFIX;
use super::super::usage::{UsedAmounts, Uses};
use super::{Container, ContainerLimits, KILLED, Runtime, Sandbox};
use crate::objects::{Json, Object, Text};

impl Sandbox {
    fn volume(&self, name: &str) -> Option<&Json> {
        self.volumes.items().iter().find(|volume| volume.get("name").as_str() == Some(name))
    }

    fn is_in_memory(&self, volume: &str) -> bool {
        self.volume(volume).is_some_and(|volume| volume.at(&["emptyDir", "medium"]).as_str() == Some("Memory"))
    }

    fn remove_layers(&mut self) {
        for container in self.containers.iter_mut().filter(|container| !container.is_running()) {
            container.has_layer = false;
        }
    }
}

impl Runtime {
    /// Tells whether some container was told to use something; else none uses anything.
    #[must_use]
    pub const fn is_told_uses(&self) -> bool {
        self.is_told_uses
    }

    /// Notes the annotations of a pod, which may have changed what its containers use; tells whether they have.
    pub fn note_annotations(&mut self, pod: &Object, now: Timestamp) -> bool {
        let annotations = pod.stable().at(&["metadata", "annotations"]);
        let is_told = tells_uses(annotations);
        let Some(sandbox) = self.sandboxes.get_mut(pod.uid()) else { return false };
        if !is_told && !tells_uses(&sandbox.annotations) || sandbox.annotations == *annotations {
            return false;
        }
        self.is_told_uses |= is_told;
        sandbox.annotations = annotations.clone();
        self.end_over_limit(pod.uid(), now);
        true
    }

    /// Ends the processes of a pod that use more memory than they may, as the kernel does.
    pub(super) fn end_over_limit(&mut self, uid: &str, now: Timestamp) {
        let Some(sandbox) = self.sandboxes.get(uid).filter(|_| self.is_told_uses && self.script.is_none()) else {
            return;
        };
        let uses_too_much = |own: &&Container| {
            let most = own.limits.as_ref().and_then(ContainerLimits::most_memory);
            most.is_some_and(|most| self.uses(sandbox, &own.name).memory > most)
        };
        let running = sandbox.containers.iter().filter(|own| own.is_running());
        let over: Vec<Text> = running.filter(uses_too_much).map(|own| own.name.clone()).collect();
        let containers = self.sandboxes.get_mut(uid).into_iter().flat_map(|sandbox| &mut sandbox.containers);
        for container in containers.filter(|own| over.contains(&own.name)) {
            (container.ends, container.is_out_of_memory) = (Some((now, KILLED)), true);
        }
    }

    /// Returns what a container of a sandbox was told to use.
    #[must_use]
    pub fn uses(&self, sandbox: &Sandbox, container: &str) -> Uses {
        let mut uses = Uses::of(&self.behaviour_of(&sandbox.key, &sandbox.annotations, container).uses);
        uses.volumes.retain(|(name, _)| sandbox.volume(name).is_some());
        let in_memory = uses.volumes.iter().filter(|(name, _)| sandbox.is_in_memory(name));
        uses.memory = uses.memory.saturating_add(in_memory.map(|(_, bytes)| *bytes).sum());
        uses
    }

    /// Returns what the containers of a pod use: memory and processes while they run, the disk until they are removed.
    #[must_use]
    pub fn used_by(&self, uid: &str) -> UsedAmounts {
        let mut sum = UsedAmounts::default();
        let Some(sandbox) = self.sandboxes.get(uid).filter(|_| self.is_told_uses) else { return sum };
        for container in &sandbox.containers {
            let uses = self.uses(sandbox, &container.name);
            if container.is_running() {
                sum.memory = sum.memory.saturating_add(uses.memory);
                sum.pids = sum.pids.saturating_add(uses.pids);
            }
            if container.has_layer {
                sum.disk = sum.disk.saturating_add(uses.disk);
                sum.inodes = sum.inodes.saturating_add(uses.inodes);
            }
            let on_disk = uses.volumes.iter().filter(|(name, _)| !sandbox.is_in_memory(name));
            sum.disk = sum.disk.saturating_add(on_disk.map(|(_, bytes)| *bytes).sum());
        }
        sum
    }

    /// Returns the bytes in each volume of a pod that is not in memory, as its containers fill it.
    #[must_use]
    pub fn volume_use(&self, uid: &str) -> Vec<(Text, i64)> {
        let mut found: Vec<(Text, i64)> = Vec::new();
        let Some(sandbox) = self.sandboxes.get(uid).filter(|_| self.is_told_uses) else { return found };
        for container in &sandbox.containers {
            for (name, bytes) in self.uses(sandbox, &container.name).volumes {
                match found.iter_mut().find(|(own, _)| *own == name) {
                    Some((_, sum)) => *sum = sum.saturating_add(bytes),
                    None => found.push((name, bytes)),
                }
            }
        }
        found.retain(|(name, _)| !sandbox.is_in_memory(name));
        found
    }

    /// Empties the volumes of a pod that has ended; `with_layers` removes its ended containers from the disk as well.
    pub fn clean_up(&mut self, uid: &str, with_layers: bool) {
        let Some(sandbox) = self.sandboxes.get_mut(uid) else { return };
        sandbox.volumes = Json::Null;
        if with_layers {
            sandbox.remove_layers();
        }
    }

    /// Removes all ended containers from the disk.
    pub fn remove_ended(&mut self) {
        self.sandboxes.values_mut().for_each(Sandbox::remove_layers);
    }

    /// Returns the images of all containers that are there, running or ended.
    pub fn images(&self) -> impl Iterator<Item = &Text> {
        let containers = self.sandboxes.values().flat_map(|sandbox| &sandbox.containers);
        containers.filter(|container| container.has_layer).map(|container| &container.image)
    }
}

/// Tells whether annotations say what some container uses.
pub(super) fn tells_uses(annotations: &Json) -> bool {
    annotations.fields().any(|(name, _)| {
        let rest = name.strip_prefix(BEHAVIOUR_PREFIX);
        rest.is_some_and(|rest| rest.ends_with(".uses") || rest.contains(".uses."))
    })
}
