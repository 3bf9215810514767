//! What can happen to a machine: the words of `POST machines/NAME/do`.

use alloc::sync::Arc;

use jiff::SignedDuration;

use crate::components::host::{KubeletSpec, MachineSpec, PodBehaviour};
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
    /// The kubelet ends and is started anew, with other flags and configuration where given.
    KubeletRestart(Option<Arc<KubeletSpec>>),
    /// The kubelet's process is stopped, as by SIGSTOP: it neither runs nor ends, and all else goes on.
    KubeletFreeze,
    /// The kubelet's process goes on, as by SIGCONT; everything late happens at once.
    KubeletThaw,
    /// The whole machine freezes: nothing on it runs, and time goes on without it.
    Pause,
    /// The machine goes on; everything late happens at once.
    Resume,
    /// The machine says that it will shut down, and does so: systemd ends the kubelet and all else. A kubelet with a
    /// `shutdownGracePeriod` would hold it up, which is not modelled.
    Shutdown {
        /// How long it runs on after it has said so. Default: it goes down at once.
        delay: Option<SignedDuration>,
    },
    /// The machine says that it will not shut down after all.
    CancelShutdown,
    /// The power fails, without a warning.
    PowerOff,
    /// The power is back, and the machine boots.
    PowerOn {
        /// The new boot id. Default: made from the name and the number of the boot.
        boot_id: Option<Text>,
    },
    /// The machine goes down and boots, without a warning to the kubelet.
    Reboot {
        /// The new boot id. Default: as for [`MachineAction::PowerOn`].
        boot_id: Option<Text>,
    },
    /// The container runtime ends; containers live on without it.
    RuntimeStop,
    /// The container runtime is started.
    RuntimeStart,
    /// The configuration of the container network is taken away.
    CniRemove,
    /// The configuration of the container network is put in place.
    CniInstall,
    /// Other processes want all of the machine's CPUs. The kubelet gets its share of them and keeps its times.
    Load,
    /// They end.
    Relieve,
    /// Parts of the machine or its clock change; what is not named stays.
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
    /// Something that the interface knows and the model does not.
    NotModelled(&'static str),
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
    "cancel-shutdown",
    "runtime-stop",
    "runtime-start",
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
        match name {
            "change" => return MachineSpec::default().changed(body).map(|_| Self::Change(body.clone())),
            "kubelet-restart" | "kubelet-start" => {
                kubelet = reader.any("kubelet").map(|body| KubeletSpec::from_json(body, "kubelet")).transpose()?;
            }
            "power-on" | "reboot" => boot_id = reader.text("bootId")?.cloned(),
            "shutdown" => delay = reader.duration("delay")?,
            "fill-disk" | "fill-memory" | "use-pids" => {
                reader.any("free");
            }
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
            "cancel-shutdown" => Self::CancelShutdown,
            "power-on" => Self::PowerOn { boot_id },
            "reboot" => Self::Reboot { boot_id },
            "runtime-stop" => Self::RuntimeStop,
            "runtime-start" => Self::RuntimeStart,
            "cni-remove" => Self::CniRemove,
            "cni-install" => Self::CniInstall,
            "load" => Self::Load,
            "relieve" => Self::Relieve,
            not_modelled => Self::NotModelled(not_modelled),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{MACHINE_ACTIONS, MachineAction};
    use crate::json;

    #[test]
    fn each_name_of_the_list_is_an_action() {
        for name in MACHINE_ACTIONS {
            MachineAction::from_json(&json!({"action": name})).unwrap();
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
            (json!({"action": "kubelet-restart", "kubelet": {"flag": {}}}), "kubelet.flag", Some("flags")),
        ] {
            let error = MachineAction::from_json(&body).unwrap_err();
            assert_eq!(error.field, field);
            assert_eq!(error.did_you_mean.as_deref(), near, "{field}");
        }
    }
}
