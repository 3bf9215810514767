//! What is done to what the kubelet finds on a machine: the container runtime, the network, the static Pods.
//!
//! Inputs: actions. Outputs: a changed host. Invariant: an action that does not fit changes nothing.

use super::*;
use crate::components::host::runtime::Sandbox;
use crate::json;

impl Machine {
    /// Lets the containers of a copy of a pod run as those of the pod itself do, and says so in the copy's status.
    pub fn run_copy(&mut self, pattern: &Sandbox, pod: &mut Json, node: &Json) {
        let cidr = node.at(&["spec", "podCIDR"]).as_str();
        let sandbox = self.host.runtime.run_copy(pattern, &Object::as_received(pod.clone()), cidr);
        let status = pod.entry(&["status"]);
        let is_own = |address: &&Json| address.get("type").as_str() == Some("InternalIP");
        let host_ip = node.at(&["status", "addresses"]).items().iter().find(is_own);
        let host_ip = host_ip.map_or(&Json::Null, |address| address.get("address")).clone();
        status.set(&["hostIPs"], Json::array(Vec::from([json!({"ip": host_ip.clone()})])));
        status.set(&["hostIP"], host_ip);
        status.set(&["podIP"], &sandbox.ip);
        status.set(&["podIPs"], Json::array(Vec::from([json!({"ip": sandbox.ip.as_str()})])));
        for known in status.entry(&["containerStatuses"]).make_array() {
            let name = known.get("name").as_str().unwrap_or_default();
            let scheme = known.get("containerID").as_str().and_then(|id| id.split_once("://"));
            if let (Some(container), Some((scheme, _))) = (sandbox.container(name), scheme) {
                let id = format!("{scheme}://{}", container.id);
                known.set(&["containerID"], id);
            }
        }
    }

    /// Changes what the kubelet finds on the machine.
    pub(super) fn change_surroundings(&mut self, action: MachineAction, now: Timestamp) -> Result<(), MachineError> {
        let misuse = |text: &str| Err(MachineError::Misuse(text.to_string()));
        if let Some(why) = self.is_so_already(&action) {
            return misuse(&why);
        }
        match action {
            MachineAction::RuntimeStop => self.change_host(now, |host| {
                host.is_runtime_up = false;
                host.runtime.forget_freeze();
                host.runtime.forget_stops();
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
            MachineAction::RuntimeFreeze if !self.host.is_runtime_up || self.host.runtime.is_frozen() => {
                misuse(&format!("the container runtime of machine {} does not run", self.name()))
            }
            MachineAction::RuntimeThaw if !self.host.runtime.is_frozen() => {
                misuse(&format!("the container runtime of machine {} is not frozen", self.name()))
            }
            MachineAction::RuntimeFreeze => self.change_host(now, |host| host.runtime.freeze()),
            MachineAction::RuntimeThaw => {
                self.change_host(now, |host| host.runtime.thaw(now))?;
                self.with_kubelet(now, Kubelet::runtime_goes_on);
                Ok(())
            }
            MachineAction::NetworkDisconnect => self.change_host(now, |host| host.is_connected = false),
            MachineAction::NetworkConnect(change) => {
                let changed = self.host.spec.changed(&change.unwrap_or_else(Json::object));
                let spec = changed.map_err(|error| MachineError::Misuse(error.to_string()))?;
                self.change_host(now, |host| {
                    host.respec(spec, now);
                    host.is_connected = true;
                })
            }
            MachineAction::CniRemove => self.change_host(now, |host| host.is_cni_installed = false),
            MachineAction::CniInstall => self.change_host(now, |host| host.is_cni_installed = true),
            MachineAction::Load | MachineAction::Relieve => {
                self.is_loaded = action == MachineAction::Load;
                Ok(())
            }
            MachineAction::Change(body) => self.change(&body, now),
            MachineAction::Fill(fills) => self.fill(fills, now),
            _ => Ok(()),
        }
    }

    /// Returns why an action would do nothing: a fault that does nothing would pass for one that was survived.
    fn is_so_already(&self, action: &MachineAction) -> Option<String> {
        let (host, name) = (&self.host, self.name());
        let why = match action {
            MachineAction::RuntimeStop if !host.is_runtime_up => {
                format!("the container runtime of machine {name} does not run")
            }
            MachineAction::RuntimeStart if host.is_runtime_up => {
                format!("the container runtime of machine {name} runs already")
            }
            MachineAction::CniRemove if !host.is_cni_installed => {
                format!("machine {name} has no container network already")
            }
            MachineAction::CniInstall if host.is_cni_installed => {
                format!("machine {name} has its container network already")
            }
            MachineAction::NetworkDisconnect if !host.is_connected => {
                format!("machine {name} has no network already")
            }
            MachineAction::NetworkConnect(_) if host.is_connected => {
                format!("machine {name} is in the network already")
            }
            MachineAction::Load if self.is_loaded => format!("machine {name} is under load already"),
            MachineAction::Relieve if !self.is_loaded => format!("machine {name} is under no load"),
            _ => return None,
        };
        Some(why)
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
