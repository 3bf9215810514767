//! Copies of a Pod that runs: what a large cluster that has been at rest for long is made of.
//!
//! Inputs: a Pod that its kubelet has started, and a machine. Outputs: another Pod of the same maker on that machine,
//! which its kubelet finds as after a restart: its containers run, and its status says so. No component has asked for
//! it, so that whoever makes such Pods must be stopped meanwhile.

use alloc::format;

use super::actor::Actor;
use super::{SimError, Simulation};
use crate::network::{NODES, PODS};
use crate::objects::{Object, ObjectKey, Text};

impl Simulation {
    /// Makes a copy of a Pod that runs, on the node of a machine.
    ///
    /// # Errors
    /// There is no such machine, or the Pod was not made from a template, or it does not run.
    pub fn copy_pod(&mut self, pattern: &Object, machine: &str) -> Result<(), SimError> {
        let missing = || SimError::NoMachine(Text::from(machine));
        let no_pattern = || SimError::NoPattern(pattern.key().name);
        let client = self.event_loop.find(&format!("machine/{machine}")).ok_or_else(missing)?;
        let home = pattern.stable().at(&["spec", "nodeName"]).as_str().unwrap_or_default();
        let running = self.machine(home).and_then(|home| home.host().runtime.sandbox(pattern.uid()));
        let running = running.filter(|sandbox| sandbox.is_running()).cloned().ok_or_else(no_pattern)?;
        let Actor::Machine(own, _) = self.event_loop.get_mut(client) else { return Err(missing()) };
        let node = self.api.object(&NODES, &ObjectKey::cluster(own.node_name())).ok_or_else(missing)?;
        let mut pod = self.api.named_copy(&PODS, pattern).ok_or_else(no_pattern)?;
        pod.set(&["spec", "nodeName"], own.node_name());
        own.run_copy(&running, &mut pod, node.stable());
        self.api.put_copy(&PODS, pod, client, self.now);
        self.pump_api();
        self.settle();
        Ok(())
    }
}
