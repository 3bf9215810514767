//! What is done to what the kubelet finds on a machine: the container runtime, the network, the static Pods.
//!
//! Inputs: actions. Outputs: a changed host. Invariant: an action that does not fit changes nothing.

use super::*;

impl Machine {
    /// Changes what the kubelet finds on the machine.
    pub(super) fn change_surroundings(&mut self, action: MachineAction, now: Timestamp) -> Result<(), MachineError> {
        let misuse = |text: &str| Err(MachineError::Misuse(text.to_string()));
        match action {
            MachineAction::RuntimeStop => self.change_host(now, |host| {
                (host.is_runtime_up, host.is_runtime_frozen) = (false, false);
            }),
            MachineAction::RuntimeStart => self.change_host(now, |host| host.is_runtime_up = true),
            MachineAction::ManifestWrite { name, object } => {
                if !self.host.manifests.write(&name, object) {
                    return misuse(&format!("there was no file {name:?} to put back: an object is needed"));
                }
                self.read_manifests(now);
                Ok(())
            }
            MachineAction::ManifestRemove { name } => {
                if !self.host.manifests.remove(&name) {
                    return misuse(&format!("there is no file {name:?} in the folder of static Pods"));
                }
                self.read_manifests(now);
                Ok(())
            }
            MachineAction::RuntimeFreeze if !self.host.is_runtime_up || self.host.is_runtime_frozen => {
                misuse(&format!("the container runtime of machine {} does not run", self.name()))
            }
            MachineAction::RuntimeThaw if !self.host.is_runtime_frozen => {
                misuse(&format!("the container runtime of machine {} is not frozen", self.name()))
            }
            MachineAction::RuntimeFreeze => self.change_host(now, |host| host.is_runtime_frozen = true),
            MachineAction::RuntimeThaw => self.change_host(now, |host| host.is_runtime_frozen = false),
            MachineAction::NetworkDisconnect if !self.host.is_connected => {
                misuse(&format!("machine {} has no network already", self.name()))
            }
            MachineAction::NetworkConnect(_) if self.host.is_connected => {
                misuse(&format!("machine {} is in the network already", self.name()))
            }
            MachineAction::NetworkDisconnect => self.change_host(now, |host| host.is_connected = false),
            MachineAction::NetworkConnect(change) => {
                let changed = self.host.spec.changed(&change.unwrap_or_else(Json::object));
                let spec = changed.map_err(|error| MachineError::Misuse(error.to_string()))?;
                self.change_host(now, |host| (host.spec, host.is_connected) = (spec, true))
            }
            MachineAction::CniRemove => self.change_host(now, |host| host.is_cni_installed = false),
            MachineAction::CniInstall => self.change_host(now, |host| host.is_cni_installed = true),
            MachineAction::Change(body) => self.change(&body, now),
            MachineAction::Fill(fills) => self.fill(fills, now),
            _ => Ok(()),
        }
    }

    /// Lets the kubelet read the folder of static Pods; a frozen one reads it when it continues.
    pub(super) fn read_manifests(&mut self, now: Timestamp) {
        self.with_kubelet(now, Kubelet::read_manifests);
    }

    pub(super) fn change_host(&mut self, now: Timestamp, change: impl FnOnce(&mut Host)) -> Result<(), MachineError> {
        change(&mut self.host);
        self.host.generation += 1;
        // A frozen kubelet polls again when it continues: its polls are due by then.
        self.with_kubelet(now, Kubelet::note_host_change);
        Ok(())
    }
}
