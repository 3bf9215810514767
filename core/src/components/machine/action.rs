//! What can happen to a machine, as `POST machines/NAME/do` names it. Inputs: a JSON body. Outputs: a
//! [`MachineAction`], or an error that names the field.

use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::SignedDuration;

use crate::components::host::{Free, KubeletSpec, MachineSpec, PodBehaviour, Resource, ToldHints};
use crate::objects::{FieldError, FieldReader, Json, Text};

/// What can happen to a machine.
#[derive(Clone, Debug, PartialEq)]
pub enum MachineAction {
    /// The kubelet gets SIGTERM and ends.
    KubeletStop,
    /// The kubelet gets SIGKILL.
    KubeletKill,
    /// The kubelet is started.
    KubeletStart,
    /// The kubelet ends and is started again, with other flags and configuration if given.
    KubeletRestart(Option<Arc<KubeletSpec>>),
    /// The kubelet's process is stopped, as by SIGSTOP: it neither runs nor ends, and everything else runs on.
    KubeletFreeze,
    /// The kubelet's process continues, as by SIGCONT; everything overdue happens at once.
    KubeletThaw,
    /// The whole machine freezes: nothing on it runs, while the cluster's time goes on.
    Pause,
    /// The machine continues; everything overdue happens at once.
    Resume,
    /// The machine announces its shutdown and then shuts down: systemd stops the kubelet and everything else, once the
    /// kubelet has released its lock.
    Shutdown {
        /// The time from the announcement to the shutdown. Default: none.
        delay: Option<SignedDuration>,
    },
    /// The machine announces a shutdown and stays up: logind's signal alone.
    AnnounceShutdown,
    /// An announced shutdown is cancelled.
    CancelShutdown,
    /// The power fails, without a warning.
    PowerOff,
    /// The power is back, and the machine boots.
    PowerOn {
        /// The new boot id. Default: made from the name and the number of the boot.
        boot_id: Option<Text>,
    },
    /// The machine reboots, without a warning to the kubelet.
    Reboot {
        /// The new boot id. Default: as for [`MachineAction::PowerOn`].
        boot_id: Option<Text>,
    },
    /// The container runtime stops; containers run on without it.
    RuntimeStop,
    /// The container runtime is started.
    RuntimeStart,
    /// The container runtime is stopped, as by SIGSTOP: calls of it hang.
    RuntimeFreeze,
    /// The container runtime continues.
    RuntimeThaw,
    /// The machine loses its network interface and its default route.
    NetworkDisconnect,
    /// The machine has a network interface again, with other addresses if given.
    NetworkConnect(Option<Json>),
    /// The configuration of the container network is removed.
    CniRemove,
    /// The configuration of the container network is put in place.
    CniInstall,
    /// A file is written into the folder of static Pods; without an object, the one that was removed is put back.
    ManifestWrite {
        /// The name of the file.
        name: Text,
        /// The Pod.
        object: Option<Json>,
    },
    /// A file is removed from the folder of static Pods.
    ManifestRemove {
        /// The name of the file.
        name: Text,
    },
    /// Other processes use all of the machine's CPUs. The kubelet still gets its share and is not delayed.
    Load,
    /// These processes end.
    Relieve,
    /// Processes other than containers use memory, disk or process ids until only so much of it is left; or they free
    /// it until so much is left, as far as containers and images leave it.
    Fill(Vec<(Resource, Free)>),
    /// Hardware or clock of the machine change; fields that are not named stay.
    Change(Json),
    /// The containers of a pod behave in this way from now on.
    Behave {
        /// The pod's namespace.
        namespace: Text,
        /// The pod's name.
        pod: Text,
        /// How they behave.
        behaviour: PodBehaviour,
    },
    /// A provider answers the topology manager in this way from now on.
    TellHints(ToldHints),
}

/// The names of the actions.
pub const MACHINE_ACTIONS: &[&str] = &[
    "kubelet-stop",
    "kubelet-kill",
    "kubelet-start",
    "kubelet-restart",
    "kubelet-freeze",
    "kubelet-thaw",
    "pause",
    "resume",
    "power-off",
    "power-on",
    "reboot",
    "shutdown",
    "announce-shutdown",
    "cancel-shutdown",
    "runtime-stop",
    "runtime-start",
    "runtime-freeze",
    "runtime-thaw",
    "manifest-write",
    "manifest-remove",
    "network-disconnect",
    "network-connect",
    "fill-disk",
    "fill-memory",
    "use-pids",
    "cni-remove",
    "cni-install",
    "load",
    "relieve",
    "change",
];

impl MachineAction {
    /// Reads the body of `POST machines/NAME/do`.
    ///
    /// # Errors
    /// The action or one of its fields is unknown, or has a value that cannot be.
    pub fn from_json(body: &Json) -> Result<Self, FieldError> {
        let mut reader = FieldReader::new(body, "")?;
        reader.needed_text("action")?;
        let name = reader.word("action", "action", MACHINE_ACTIONS)?.unwrap_or_default();
        let mut boot_id = None;
        let mut kubelet = None;
        let mut delay = None;
        let mut fills = Vec::new();
        match name {
            "change" => return MachineSpec::default().changed(body).map(|_| Self::Change(body.clone())),
            "kubelet-restart" | "kubelet-start" => {
                kubelet = reader.any("kubelet").map(|body| KubeletSpec::from_json(body, "kubelet")).transpose()?;
            }
            "manifest-write" | "manifest-remove" => return Self::manifest(reader, name),
            "network-connect" => {
                let addresses = reader.any("addresses").cloned();
                let change = addresses.map(|addresses| crate::json!({"addresses": addresses}));
                if let Some(change) = &change {
                    MachineSpec::default().changed(change)?;
                }
                reader.finish()?;
                return Ok(Self::NetworkConnect(change));
            }
            "power-on" | "reboot" => boot_id = reader.text("bootId")?.cloned(),
            "shutdown" => delay = reader.duration("delay")?,
            "fill-disk" | "fill-memory" | "use-pids" => fills = read_fills(name, &mut reader)?,
            _ => {}
        }
        reader.finish()?;
        Ok(match name {
            "kubelet-stop" => Self::KubeletStop,
            "kubelet-kill" => Self::KubeletKill,
            "kubelet-start" if kubelet.is_none() => Self::KubeletStart,
            "kubelet-start" | "kubelet-restart" => Self::KubeletRestart(kubelet.map(Arc::new)),
            "kubelet-freeze" => Self::KubeletFreeze,
            "kubelet-thaw" => Self::KubeletThaw,
            "pause" => Self::Pause,
            "resume" => Self::Resume,
            "power-off" => Self::PowerOff,
            "shutdown" => Self::Shutdown { delay },
            "announce-shutdown" => Self::AnnounceShutdown,
            "cancel-shutdown" => Self::CancelShutdown,
            "power-on" => Self::PowerOn { boot_id },
            "reboot" => Self::Reboot { boot_id },
            "runtime-stop" => Self::RuntimeStop,
            "runtime-start" => Self::RuntimeStart,
            "runtime-freeze" => Self::RuntimeFreeze,
            "runtime-thaw" => Self::RuntimeThaw,
            "network-disconnect" => Self::NetworkDisconnect,
            "cni-remove" => Self::CniRemove,
            "cni-install" => Self::CniInstall,
            "fill-disk" | "fill-memory" | "use-pids" => Self::Fill(fills),
            "load" => Self::Load,
            "relieve" => Self::Relieve,
            _ => return Err(FieldError::new("action", "it has no effect")),
        })
    }
}

/// Reads how much is left; without a word about it, nothing is.
fn read_fills(action: &str, reader: &mut FieldReader<'_>) -> Result<Vec<(Resource, Free)>, FieldError> {
    let free = Free::read(reader, "free")?;
    let of = |resource| Vec::from([(resource, free.unwrap_or(Free::Amount(0)))]);
    Ok(match action {
        "fill-memory" => of(Resource::Memory),
        "use-pids" => of(Resource::Pids),
        _ => match Free::read(reader, "freeInodes")? {
            Some(inodes) => {
                let bytes = free.map(|free| (Resource::Disk, free));
                bytes.into_iter().chain([(Resource::Inodes, inodes)]).collect()
            }
            None => of(Resource::Disk),
        },
    })
}

impl MachineAction {
    fn manifest(mut reader: FieldReader<'_>, action: &str) -> Result<Self, FieldError> {
        let name = reader.needed_text("name")?.clone();
        if name.is_empty() || name.contains('/') {
            return Err(reader.error("name", "the name of a file is needed, as \"web.yaml\""));
        }
        if action == "manifest-remove" {
            reader.finish()?;
            return Ok(Self::ManifestRemove { name });
        }
        let object = reader.any("object").cloned();
        if object.as_ref().is_some_and(|object| !object.is_object()) {
            return Err(reader.error("object", "an object is needed: the Pod"));
        }
        reader.finish()?;
        Ok(Self::ManifestWrite { name, object })
    }

    /// Tells whether the machine's connection is there after the action; `None` if the action does not change that.
    #[must_use]
    pub const fn plugs(&self) -> Option<bool> {
        match self {
            Self::NetworkDisconnect => Some(false),
            Self::NetworkConnect(_) => Some(true),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MACHINE_ACTIONS, MachineAction};
    use crate::json;

    /// The names with which an action is asked for; none for those that have a sentence or a call of their own.
    const fn names(action: &MachineAction) -> &'static [&'static str] {
        match action {
            MachineAction::KubeletStop => &["kubelet-stop"],
            MachineAction::KubeletKill => &["kubelet-kill"],
            MachineAction::KubeletStart => &["kubelet-start"],
            MachineAction::KubeletRestart(_) => &["kubelet-restart"],
            MachineAction::KubeletFreeze => &["kubelet-freeze"],
            MachineAction::KubeletThaw => &["kubelet-thaw"],
            MachineAction::Pause => &["pause"],
            MachineAction::Resume => &["resume"],
            MachineAction::Shutdown { .. } => &["shutdown"],
            MachineAction::AnnounceShutdown => &["announce-shutdown"],
            MachineAction::CancelShutdown => &["cancel-shutdown"],
            MachineAction::PowerOff => &["power-off"],
            MachineAction::PowerOn { .. } => &["power-on"],
            MachineAction::Reboot { .. } => &["reboot"],
            MachineAction::RuntimeStop => &["runtime-stop"],
            MachineAction::RuntimeStart => &["runtime-start"],
            MachineAction::RuntimeFreeze => &["runtime-freeze"],
            MachineAction::RuntimeThaw => &["runtime-thaw"],
            MachineAction::NetworkDisconnect => &["network-disconnect"],
            MachineAction::NetworkConnect(_) => &["network-connect"],
            MachineAction::CniRemove => &["cni-remove"],
            MachineAction::CniInstall => &["cni-install"],
            MachineAction::ManifestWrite { .. } => &["manifest-write"],
            MachineAction::ManifestRemove { .. } => &["manifest-remove"],
            MachineAction::Load => &["load"],
            MachineAction::Relieve => &["relieve"],
            MachineAction::Fill(_) => &["fill-disk", "fill-memory", "use-pids"],
            MachineAction::Change(_) => &["change"],
            MachineAction::Behave { .. } | MachineAction::TellHints(_) => &[],
        }
    }

    #[test]
    fn each_name_of_the_list_is_the_action_of_that_name() {
        for name in MACHINE_ACTIONS {
            let mut body = json!({"action": name});
            if name.starts_with("manifest-") {
                body.set(&["name"], "web.yaml");
            }
            let action = MachineAction::from_json(&body).unwrap();
            assert!(names(&action).contains(name), "{name}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (body, field, near) in [
            (json!({}), "action", None),
            (json!({"action": "kubelet-stopp"}), "action", Some("kubelet-stop")),
            (json!({"action": "kubelet-stop", "bootId": "x"}), "bootId", None),
            (json!({"action": "reboot", "bootid": "x"}), "bootid", Some("bootId")),
            (json!({"action": "change", "capacity": {"cpu": "many"}}), "capacity.cpu", None),
            (json!({"action": "fill-memory", "free": "much"}), "free", None),
            (json!({"action": "fill-disk", "free": "101%"}), "free", None),
            (json!({"action": "fill-memory", "freeInodes": 5}), "freeInodes", None),
            (json!({"action": "kubelet-restart", "kubelet": {"flag": {}}}), "kubelet.flag", Some("flags")),
        ] {
            let error = MachineAction::from_json(&body).unwrap_err();
            assert_eq!(error.field, field);
            assert_eq!(error.did_you_mean.as_deref(), near, "{field}");
        }
    }
}
