//! Faults that a run makes on a node of a kind cluster, and what heals each.
//!
//! Inputs: a node fault and the node's container. Outputs: operations and scripts that heal it, from outside or by a
//! timer on the node; the marks by which it is found later. Nothing is carried out here. Invariant: healing operations
//! also work after a restart of the container, and may be done twice.

use std::time::Duration;

use super::op::{Op, quoted};

/// The iptables chain of a run's rules.
pub(crate) const CHAIN: &str = "NODEPROOF";
/// The drop-in that keeps systemd from starting a killed kubelet again.
pub(crate) const DROP_IN: &str = "/run/systemd/system/kubelet.service.d/90-nodeproof.conf";
/// Where the network configuration is kept while it is removed.
pub(crate) const CNI_ASIDE: &str = "/var/lib/nodeproof/cni";
/// Where the template is kept from which containerd would write a network configuration again.
pub(crate) const CNI_TEMPLATE_ASIDE: &str = "/var/lib/nodeproof/cni-template";
/// Prints the files from which containerd writes a network configuration when a kubelet tells it the node's range.
pub(crate) const CNI_TEMPLATES: &str =
    "$(sed -n 's/^ *conf_template *= *\"\\(..*\\)\"$/\\1/p' /etc/containerd/config.toml)";
/// Where the kubelet's own configuration is kept while it is replaced.
pub(crate) const KUBELET_ASIDE: &str = "/var/lib/nodeproof/kubelet";
/// The marks of node faults: an empty file for each.
const MARKS: &str = "/var/lib/nodeproof/ills";
/// The unit that carries out an announced shutdown.
pub(crate) const SHUTDOWN: &str = "nodeproof-shutdown";
/// The unit whose processes use the CPUs.
pub(crate) const LOAD: &str = "nodeproof-load";

/// A fault on a node; of each kind at most one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NodeFault {
    /// The kubelet's process is gone.
    KubeletDown,
    /// The kubelet's process is stopped by SIGSTOP.
    KubeletFrozen,
    /// The kubelet runs with other flags or another configuration than its own.
    KubeletChanged,
    /// All processes are frozen.
    Frozen,
    /// The container does not run.
    PoweredOff,
    /// Packets from and to the API server are lost.
    Cut,
    /// The container has no network interface.
    Detached,
    /// The container runtime is gone.
    RuntimeDown,
    /// There is no network configuration for pods.
    CniGone,
    /// The machine has announced that it will shut down.
    ShutdownAnnounced,
    /// Processes use the machine's CPUs.
    Loaded,
}

impl NodeFault {
    /// All node faults.
    pub(crate) const ALL: [Self; 11] = [
        Self::KubeletDown,
        Self::KubeletFrozen,
        Self::KubeletChanged,
        Self::Frozen,
        Self::PoweredOff,
        Self::Cut,
        Self::Detached,
        Self::RuntimeDown,
        Self::CniGone,
        Self::ShutdownAnnounced,
        Self::Loaded,
    ];

    /// Returns the name, as in the names of systemd units.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::KubeletDown => "kubelet-down",
            Self::KubeletFrozen => "kubelet-frozen",
            Self::KubeletChanged => "kubelet-changed",
            Self::Frozen => "frozen",
            Self::PoweredOff => "powered-off",
            Self::Cut => "cut",
            Self::Detached => "detached",
            Self::RuntimeDown => "runtime-down",
            Self::CniGone => "cni-gone",
            Self::ShutdownAnnounced => "shutdown-announced",
            Self::Loaded => "loaded",
        }
    }

    /// Returns a description for people.
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::KubeletDown => "its kubelet does not run",
            Self::KubeletFrozen => "its kubelet is frozen",
            Self::KubeletChanged => "its kubelet runs with other settings",
            Self::Frozen => "it is paused",
            Self::PoweredOff => "it does not run",
            Self::Cut => "packets from and to the API server are dropped",
            Self::Detached => "it has no network",
            Self::RuntimeDown => "its container runtime does not run",
            Self::CniGone => "its network configuration was moved aside",
            Self::ShutdownAnnounced => "it has announced a shutdown",
            Self::Loaded => "it is under load",
        }
    }

    /// Returns the script that heals it inside of the container; `None` where only Docker can.
    fn healing_script(self) -> Option<String> {
        let script = self.mending_script()?;
        Some(format!("{{ {script}; }} && rm -f {MARKS}/{}", self.name()))
    }

    fn mending_script(self) -> Option<String> {
        let start = "systemctl start --no-block kubelet";
        Some(match self {
            Self::KubeletDown => format!("rm -f {DROP_IN}; systemctl daemon-reload; {start}"),
            Self::KubeletFrozen => "systemctl kill -s CONT kubelet".to_owned(),
            Self::KubeletChanged => format!(
                "if [ -d {KUBELET_ASIDE} ]; then cp -a {KUBELET_ASIDE}/. /var/lib/kubelet/ && rm -rf {KUBELET_ASIDE} \
                 && systemctl restart --no-block kubelet; fi"
            ),
            Self::Cut => for_both_families(&format!(
                "while $i -w -D OUTPUT -j {CHAIN}; do :; done; while $i -w -D INPUT -j {CHAIN}; do :; done; \
                 $i -w -F {CHAIN}; $i -w -X {CHAIN}"
            )),
            Self::RuntimeDown => "systemctl start --no-block containerd".to_owned(),
            // containerd notices a file that is written, but not one that is moved into the directory.
            Self::CniGone => {
                format!(
                    "for t in {CNI_TEMPLATES}; do if [ -f {CNI_TEMPLATE_ASIDE} ]; then cat {CNI_TEMPLATE_ASIDE} > $t \
                     && rm {CNI_TEMPLATE_ASIDE}; fi; done; \
                     if [ -d {CNI_ASIDE} ]; then cp {CNI_ASIDE}/* /etc/cni/net.d/ && rm -rf {CNI_ASIDE}; fi; true"
                )
            }
            Self::ShutdownAnnounced => {
                format!("systemctl stop {SHUTDOWN}.timer 2>/dev/null; {}", announce(false))
            }
            Self::Loaded => format!("systemctl stop {LOAD}.service; true"),
            Self::Frozen | Self::PoweredOff | Self::Detached => return None,
        })
    }

    /// Returns the operations that heal it from outside.
    pub(crate) fn healing(self, container: &str) -> Vec<Op> {
        let container_of = || container.to_owned();
        match self {
            Self::Frozen => vec![Op::Unpause { container: container_of() }],
            Self::PoweredOff => vec![Op::Start { container: container_of() }],
            Self::Detached => vec![Op::Connect { container: container_of(), address: None }],
            // The machine may have gone down meanwhile.
            Self::ShutdownAnnounced => vec![Op::Start { container: container_of() }, self.healing_inside(container)],
            _ => vec![self.healing_inside(container)],
        }
    }

    fn healing_inside(self, container: &str) -> Op {
        let script = self.healing_script().unwrap_or_default();
        Op::exec(container, format!("{}; {script}", self.disarming_script()))
    }

    /// Returns the script that marks the node and starts a timer of its systemd, which heals the fault if nothing else
    /// does; `None` where only Docker can heal.
    pub(crate) fn arming_script(self, after: Duration) -> Option<String> {
        let script = self.healing_script()?;
        let (unit, seconds) = (self.unit(), after.as_secs().max(1));
        Some(format!(
            "{}; mkdir -p {MARKS} && touch {MARKS}/{} && \
             systemd-run --quiet --collect --unit={unit} --on-active={seconds}s --timer-property=AccuracySec=1s sh -c \
             {}",
            self.disarming_script(),
            self.name(),
            quoted(&script)
        ))
    }

    fn disarming_script(self) -> String {
        format!("systemctl stop {0}.timer 2>/dev/null; systemctl reset-failed {0}.service 2>/dev/null", self.unit())
    }

    fn unit(self) -> String {
        format!("nodeproof-heal-{}", self.name())
    }
}

/// Returns the script that announces on D-Bus that the machine will shut down, or that it will not.
/// Source: org.freedesktop.login1(5), `PrepareForShutdown`.
pub(crate) fn announce(starts: bool) -> String {
    format!(
        "busctl emit /org/freedesktop/login1 org.freedesktop.login1.Manager PrepareForShutdown b {}",
        if starts { "true" } else { "false" }
    )
}

fn for_both_families(commands: &str) -> String {
    // The network of kind has IPv6, and a kubelet prefers it.
    format!("for i in iptables ip6tables; do {{ {commands}; }} 2>/dev/null; done; true")
}

/// The script that prints the names of the faults that a running container has because of us.
pub(crate) fn look_script() -> String {
    format!("ls {MARKS} 2>/dev/null; true")
}

/// Reads what [`look_script`] prints.
pub(crate) fn read_look(output: &str) -> Vec<NodeFault> {
    let mut found: Vec<NodeFault> = output
        .lines()
        .filter_map(|line| NodeFault::ALL.into_iter().find(|node_fault| node_fault.name() == line.trim()))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{NodeFault, read_look};

    #[test]
    fn what_a_node_can_heal_itself_is_armed_before() {
        for node_fault in NodeFault::ALL {
            let armed = node_fault.arming_script(Duration::from_secs(60));
            let by_docker = matches!(node_fault, NodeFault::Frozen | NodeFault::PoweredOff | NodeFault::Detached);
            assert_eq!(armed.is_none(), by_docker, "{node_fault:?}");
            let Some(armed) = armed else { continue };
            let unit =
                format!("--unit=nodeproof-heal-{} --on-active=60s --timer-property=AccuracySec=1s", node_fault.name());
            assert!(armed.contains(&unit), "{armed}");
            let healing = node_fault.healing("w").last().unwrap().to_string();
            assert!(healing.contains(&format!("rm -f /var/lib/nodeproof/ills/{}", node_fault.name())), "{healing}");
        }
    }

    #[test]
    fn marks_are_read() {
        assert_eq!(read_look("cut\ncut\nkubelet-down\nwhat\n"), [NodeFault::KubeletDown, NodeFault::Cut]);
        assert_eq!(read_look(""), []);
    }
}
