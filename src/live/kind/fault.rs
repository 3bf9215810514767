//! The operations that make a fault on a kind node, and those that heal it.
//!
//! Mirrors what happens to real machines by the means of a container: systemd inside, Docker outside, iptables between.
//! Inputs: a `MachineAction` or a network fault of the core, and the node's container. Outputs: [`FaultPlan`]s, or the
//! reason why a container cannot show this. Nothing is carried out here. Invariant: whatever a plan breaks is a
//! [`NodeFault`], whose healing operations repair it. Left out on purpose: what a container shares with its host
//! (clock, CPUs, memory size, firmware), and faults on single requests, which are encrypted.

use jiff::SignedDuration;
use nodeproof_core::components::machine::MachineAction;
use nodeproof_core::network::{Effect, Endpoint, Fault};

use super::settings::KubeletSettings;
use crate::live::cleanup::node_fault::{
    CHAIN, CNI_ASIDE, CNI_TEMPLATE_ASIDE, CNI_TEMPLATES, DROP_IN, LOAD, NodeFault, SHUTDOWN, announce,
};
use crate::live::cleanup::op::{Op, quoted};

/// Why a scenario cannot set how containers behave.
pub(super) const BEHAVIOUR: &str = "how containers behave is said by their image on kind";
/// The port of the API server inside a kind cluster.
/// Source: sigs.k8s.io/kind pkg/cluster/internal/providers/common/constants.go (v0.27), `APIServerInternalPort`.
const API_PORT: u16 = 6443;
/// The file with the boot id that a node shows instead of its host's.
pub(super) const BOOT_ID: &str = "/etc/nodeproof-boot-id";
/// The file with the boot id that the next boot takes instead of a random one.
pub(super) const NEXT_BOOT_ID: &str = "/etc/nodeproof-next-boot-id";

/// The operations that make or heal a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FaultPlan {
    /// The node fault that it makes; it is recorded, and the timer that heals it started, before anything is done.
    pub(crate) makes: Option<NodeFault>,
    /// The node faults that it ends.
    pub(crate) ends: Vec<NodeFault>,
    /// The operations.
    pub(crate) ops: Vec<Op>,
}

impl FaultPlan {
    fn make(node_fault: NodeFault, ops: Vec<Op>) -> Self {
        Self { makes: Some(node_fault), ends: Vec::new(), ops }
    }

    /// The plan that heals a fault.
    pub(crate) fn heal(node_fault: NodeFault, container: &str) -> Self {
        Self { makes: None, ends: vec![node_fault], ops: node_fault.healing(container) }
    }
}

/// Plans an action on a machine.
///
/// # Errors
/// A container cannot show this; the text says why.
pub(crate) fn of_machine(action: &MachineAction, container: &str, base: &KubeletSettings) -> Result<FaultPlan, String> {
    let container_of = || container.to_owned();
    let exec = |script: &str| vec![Op::exec(container, script)];
    let heal = |node_fault: NodeFault| Ok(FaultPlan::heal(node_fault, container));
    match action {
        MachineAction::KubeletStop => Ok(FaultPlan::make(NodeFault::KubeletDown, exec("systemctl stop kubelet"))),
        MachineAction::KubeletKill => Ok(FaultPlan::make(NodeFault::KubeletDown, exec(&kill_kubelet()))),
        MachineAction::KubeletStart => heal(NodeFault::KubeletDown),
        MachineAction::KubeletRestart(None) => Ok(FaultPlan {
            makes: None,
            ends: vec![NodeFault::KubeletDown],
            ops: exec(&format!("rm -f {DROP_IN}; systemctl daemon-reload; systemctl restart kubelet")),
        }),
        MachineAction::KubeletRestart(Some(spec)) => Ok(super::settings::restart(&base.with(spec)?, container)),
        MachineAction::KubeletFreeze => {
            Ok(FaultPlan::make(NodeFault::KubeletFrozen, exec("systemctl kill -s STOP --kill-whom=main kubelet")))
        }
        MachineAction::KubeletThaw => heal(NodeFault::KubeletFrozen),
        MachineAction::Pause => Ok(FaultPlan::make(NodeFault::Frozen, vec![Op::Pause { container: container_of() }])),
        MachineAction::Resume => heal(NodeFault::Frozen),
        MachineAction::PowerOff => {
            Ok(FaultPlan::make(NodeFault::PoweredOff, vec![Op::Kill { container: container_of() }]))
        }
        MachineAction::PowerOn { boot_id } => Ok(boot(container, boot_id.as_ref().map(|id| id.as_str()), Vec::new())),
        MachineAction::Reboot { boot_id } => {
            let down = vec![Op::Kill { container: container_of() }];
            Ok(boot(container, boot_id.as_ref().map(|id| id.as_str()), down))
        }
        MachineAction::RuntimeStop => Ok(FaultPlan::make(NodeFault::RuntimeDown, exec("systemctl stop containerd"))),
        MachineAction::RuntimeStart => heal(NodeFault::RuntimeDown),
        MachineAction::CniRemove => Ok(FaultPlan::make(NodeFault::CniGone, exec(&remove_cni()))),
        MachineAction::CniInstall => heal(NodeFault::CniGone),
        MachineAction::Load => Ok(FaultPlan::make(NodeFault::Loaded, exec(&load()))),
        MachineAction::Relieve => heal(NodeFault::Loaded),
        MachineAction::Shutdown { delay: None } => {
            Ok(FaultPlan::make(NodeFault::PoweredOff, exec("systemctl poweroff --no-block")))
        }
        MachineAction::Shutdown { delay: Some(delay) } => {
            Ok(FaultPlan::make(NodeFault::ShutdownAnnounced, exec(&announce_shutdown(*delay))))
        }
        MachineAction::AnnounceShutdown => Ok(FaultPlan::make(NodeFault::ShutdownAnnounced, exec(&announce(true)))),
        MachineAction::CancelShutdown => heal(NodeFault::ShutdownAnnounced),
        // The files are the worker's own, and go with it.
        MachineAction::Fill(fills) => {
            Ok(FaultPlan { makes: None, ends: Vec::new(), ops: exec(&super::sizes::filling(fills)) })
        }
        MachineAction::ManifestWrite { .. } | MachineAction::ManifestRemove { .. } => {
            Err("what a scenario leaves in the folder of static Pods cannot be healed for certain".to_owned())
        }
        MachineAction::RuntimeFreeze | MachineAction::RuntimeThaw => {
            Err("what hangs in a container cannot be healed for certain".to_owned())
        }
        MachineAction::NetworkDisconnect | MachineAction::NetworkConnect(_) => {
            Err("a container without its network cannot be reached to heal it".to_owned())
        }
        MachineAction::Change(_) => Err("a container has the parts and the clock of its host".to_owned()),
        MachineAction::Behave { .. } | MachineAction::TellHints(_) => Err(BEHAVIOUR.to_owned()),
    }
}

/// Boots a machine; its kubelet finds another boot id, so that it sees a reboot and not its own restart.
fn boot(container: &str, boot_id: Option<&str>, before: Vec<Op>) -> FaultPlan {
    let is_up = !before.is_empty();
    let mut ops = before;
    if let Some(id) = boot_id.filter(|_| is_up) {
        ops.insert(0, Op::exec(container, format!("echo {} > {NEXT_BOOT_ID}", quoted(id))));
    }
    ops.push(Op::Start { container: container.to_owned() });
    if let Some(id) = boot_id.filter(|_| !is_up) {
        ops.push(Op::exec(container, format!("echo {} > {BOOT_ID}; systemctl restart --no-block kubelet", quoted(id))));
    }
    FaultPlan { makes: is_up.then_some(NodeFault::PoweredOff), ends: vec![NodeFault::PoweredOff], ops }
}

/// Kills the kubelet; it stays away, as one whose unit has given up.
fn kill_kubelet() -> String {
    format!(
        "mkdir -p {} && printf '[Service]\\nRestart=no\\n' > {DROP_IN} && systemctl daemon-reload && \
         systemctl kill -s KILL kubelet",
        DROP_IN.rsplit_once('/').unwrap_or_default().0
    )
}

/// Removes the network configuration. The template is emptied and not moved: without the file a kubelet that starts
/// again would report an error with each status.
/// Source: containerd pkg/cri/server/update_runtime_config.go (v1.6), `UpdateRuntimeConfig`;
/// pkg/kubelet/kubelet_network.go (v1.34), `updatePodCIDR`.
fn remove_cni() -> String {
    format!(
        "mkdir -p {CNI_ASIDE} && mv /etc/cni/net.d/*.conf* {CNI_ASIDE}/ && \
         for t in {CNI_TEMPLATES}; do if [ -s $t ]; then cp -a $t {CNI_TEMPLATE_ASIDE} && : > $t; fi; done"
    )
}

/// Returns the script that announces a shutdown, and carries it out after a delay.
fn announce_shutdown(delay: SignedDuration) -> String {
    let seconds = delay.as_secs().max(1);
    format!(
        "{} && systemd-run --quiet --collect --unit={SHUTDOWN} --on-active={seconds}s \
         --timer-property=AccuracySec=1s systemctl poweroff",
        announce(true)
    )
}

/// Returns the script that runs a process on each CPU, again and again.
fn load() -> String {
    format!(
        "systemd-run --quiet --collect --unit={LOAD} sh -c \
         'for i in $(seq $(nproc)); do while :; do :; done & done; wait'"
    )
}

/// The direction in which packets are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Both,
    ToServer,
    FromServer,
}

/// Returns the name of the machine whose connection a fault is about.
pub(crate) fn machine_of(fault: &Fault) -> Option<&str> {
    [&fault.from, &fault.to].into_iter().find_map(|end| match end {
        Endpoint::Name(name) => name.as_str().strip_prefix("machine/"),
        Endpoint::Any | Endpoint::Program { .. } => None,
    })
}

/// Plans a fault on the connection between a machine and the API server.
///
/// # Errors
/// A container cannot show this; the text says why.
pub(crate) fn of_network(fault: &Fault, container: &str) -> Result<FaultPlan, String> {
    if fault.matching.is_some() {
        return Err("requests on the wire are encrypted: a fault meets whole connections".to_owned());
    }
    if fault.on_and_off.is_some() {
        return Err("what is laid on a container's packets lies until it is healed: it does not come and go".to_owned());
    }
    if fault.times.is_some() {
        return Err("packets are not messages: they cannot be counted off".to_owned());
    }
    let is_whole = fault.to == Endpoint::Any && matches!(fault.effect, Effect::Drop) && fault.probability >= 1.0;
    if is_whole && fault.lasts.is_none() && fault.from != Endpoint::Any {
        return Ok(FaultPlan::make(NodeFault::Detached, vec![Op::Disconnect { container: container.to_owned() }]));
    }
    let is_api = |end: &Endpoint| matches!(end, Endpoint::Name(name) if name.as_str() == "api");
    let direction = match (is_api(&fault.from), is_api(&fault.to)) {
        (true, _) => Direction::FromServer,
        // Packets that still come from the server are answered with a reset.
        (false, true) if fault.effect == Effect::Refuse => Direction::ToServer,
        (false, true) if fault.lasts.is_none() && fault.probability >= 1.0 => Direction::Both,
        (false, true) => Direction::ToServer,
        (false, false) => return Err("only connections to the API server can be met".to_owned()),
    };
    let what = match &fault.effect {
        Effect::Drop if fault.probability >= 1.0 => "-j DROP".to_owned(),
        Effect::Drop => format!("-m statistic --mode random --probability {} -j DROP", fault.probability),
        Effect::Refuse => "-j REJECT --reject-with tcp-reset".to_owned(),
        Effect::Delay { .. } => return Err("a delay needs a queueing discipline that kind's hosts lack".to_owned()),
        Effect::HoldEvents => return Err("requests on the wire are encrypted: no event can be held back".to_owned()),
        Effect::Answer(_) | Effect::Answers(_) => {
            return Err("requests on the wire are encrypted: none can be answered".to_owned());
        }
    };
    Ok(FaultPlan::make(NodeFault::Cut, vec![Op::exec(container, cut(direction, &what))]))
}

fn cut(direction: Direction, what: &str) -> String {
    let (out, back) = (format!("-p tcp --dport {API_PORT} {what}"), format!("-p tcp --sport {API_PORT} {what}"));
    let mut commands = vec![format!("{{ $i -w -N {CHAIN} 2>/dev/null || true; }}")];
    let mut lay = |hook: &str, rule: &str| {
        commands.push(format!("$i -w -A {CHAIN} {rule}"));
        commands.push(format!("{{ $i -w -C {hook} -j {CHAIN} 2>/dev/null || $i -w -I {hook} -j {CHAIN}; }}"));
    };
    if direction != Direction::FromServer {
        lay("OUTPUT", &out);
    }
    if direction != Direction::ToServer {
        lay("INPUT", &back);
    }
    let commands = commands.join(" && ");
    format!("set -e; for i in iptables ip6tables; do {commands}; done")
}

/// Returns the script that prints how many packets our rules have met.
pub(crate) fn count_script() -> String {
    format!(
        "for i in iptables ip6tables; do $i -w -nvxL {CHAIN} 2>/dev/null; done | awk '$3 == \"DROP\" || $3 \
            == \"REJECT\" {{n += $1}} END {{print n + 0}}'"
    )
}

#[cfg(test)]
mod tests {
    use nodeproof_core::components::machine::MachineAction;
    use nodeproof_core::json;
    use nodeproof_core::network::{Effect, Endpoint, Fault, Match};
    use nodeproof_core::objects::Text;

    use super::{FaultPlan, NodeFault, machine_of, of_machine, of_network};
    use crate::live::kind::settings::KubeletSettings;

    fn plan(body: &nodeproof_core::objects::Json) -> Result<FaultPlan, String> {
        of_machine(&MachineAction::from_json(body).unwrap(), "w", &KubeletSettings::default())
    }

    fn commands(plan: &FaultPlan) -> Vec<String> {
        plan.ops.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_verb_is_a_command() {
        for (body, makes, ends, commands_wanted) in [
            (
                json!({"action": "kubelet-stop"}),
                Some(NodeFault::KubeletDown),
                vec![],
                vec!["docker exec w sh -c 'systemctl stop kubelet'"],
            ),
            (json!({"action": "pause"}), Some(NodeFault::Frozen), vec![], vec!["docker pause w"]),
            (json!({"action": "resume"}), None, vec![NodeFault::Frozen], vec!["docker unpause w"]),
            (json!({"action": "power-off"}), Some(NodeFault::PoweredOff), vec![], vec!["docker kill w"]),
            (json!({"action": "power-on"}), None, vec![NodeFault::PoweredOff], vec!["docker start w"]),
            (
                json!({"action": "reboot", "bootId": "b"}),
                Some(NodeFault::PoweredOff),
                vec![NodeFault::PoweredOff],
                vec![
                    "docker exec w sh -c 'echo '\\''b'\\'' > /etc/nodeproof-next-boot-id'",
                    "docker kill w",
                    "docker start w",
                ],
            ),
            (
                json!({"action": "shutdown"}),
                Some(NodeFault::PoweredOff),
                vec![],
                vec!["docker exec w sh -c 'systemctl poweroff --no-block'"],
            ),
            (
                json!({"action": "shutdown", "delay": "30s"}),
                Some(NodeFault::ShutdownAnnounced),
                vec![],
                vec![
                    "docker exec w sh -c 'busctl emit /org/freedesktop/login1 org.freedesktop.login1.Manager \
                     PrepareForShutdown b true && systemd-run --quiet --collect --unit=nodeproof-shutdown \
                     --on-active=30s --timer-property=AccuracySec=1s systemctl poweroff'",
                ],
            ),
            (
                json!({"action": "runtime-stop"}),
                Some(NodeFault::RuntimeDown),
                vec![],
                vec!["docker exec w sh -c 'systemctl stop containerd'"],
            ),
            (
                json!({"action": "load"}),
                Some(NodeFault::Loaded),
                vec![],
                vec![
                    "docker exec w sh -c 'systemd-run --quiet --collect --unit=nodeproof-load sh -c \
                     '\\''for i in $(seq $(nproc)); do while :; do :; done & done; wait'\\'''",
                ],
            ),
        ] {
            let plan = plan(&body).unwrap();
            assert_eq!(
                (plan.makes, &plan.ends, commands(&plan)),
                (makes, &ends, commands_wanted.into_iter().map(String::from).collect()),
                "{body}"
            );
        }
        assert_eq!(
            plan(&json!({"action": "change", "clockSkew": "3s"})).unwrap_err(),
            "a container has the parts and the clock of its host"
        );
        let filled = plan(&json!({"action": "use-pids"})).unwrap();
        assert_eq!(
            (filled.makes, commands(&filled)),
            (None, vec!["docker exec w sh -c 'sh /etc/nodeproof-fill.sh pids 0'".to_owned()])
        );
    }

    #[test]
    fn a_cut_meets_both_families_and_both_directions() {
        let plan = of_network(&Fault::disconnect("machine/w1"), "w").unwrap();
        let script = commands(&plan).concat();
        for part in [
            "for i in iptables ip6tables",
            "-A NODEPROOF -p tcp --dport 6443 -j DROP",
            "-A NODEPROOF -p tcp --sport 6443 -j DROP",
            "-I OUTPUT -j NODEPROOF",
            "-I INPUT -j NODEPROOF",
        ] {
            assert!(script.contains(part), "{part} is not in {script}");
        }
        assert_eq!(machine_of(&Fault::disconnect("machine/w1")), Some("w1"));
        let back = Fault {
            from: Endpoint::Name(Text::of("api")),
            to: Endpoint::Name(Text::of("machine/w1")),
            ..Fault::disconnect("x")
        };
        let script = commands(&of_network(&back, "w").unwrap()).concat();
        assert!(script.contains("--sport 6443") && !script.contains("--dport 6443"), "{script}");
        assert_eq!(machine_of(&back), Some("w1"));
    }

    #[test]
    fn connections_are_refused_by_resets() {
        let refuse = Fault { effect: Effect::Refuse, ..Fault::disconnect("machine/w1") };
        let script = commands(&of_network(&refuse, "w").unwrap()).concat();
        assert!(script.contains("-A NODEPROOF -p tcp --dport 6443 -j REJECT --reject-with tcp-reset"), "{script}");
        assert!(!script.contains("--sport") && !script.contains("INPUT"), "{script}");
    }

    #[test]
    fn a_machine_that_is_cut_off_from_all_has_no_network() {
        let plan = of_network(&Fault { to: Endpoint::Any, ..Fault::disconnect("machine/w1") }, "w").unwrap();
        assert_eq!(commands(&plan), ["docker network disconnect kind w"]);
        assert_eq!(plan.makes, Some(NodeFault::Detached));
    }

    #[test]
    fn what_the_wire_cannot_show_is_named() {
        let fault = Fault::disconnect("machine/w1");
        for (fault, why) in [
            (
                Fault { matching: Some(Match::default()), ..fault.clone() },
                "requests on the wire are encrypted: a fault meets whole connections",
            ),
            (Fault { times: Some(3), ..fault.clone() }, "packets are not messages: they cannot be counted off"),
            (
                Fault { effect: Effect::Answers(Vec::new()), ..fault.clone() },
                "requests on the wire are encrypted: none can be answered",
            ),
            (
                Fault { from: Endpoint::Any, to: Endpoint::Any, ..fault },
                "only connections to the API server can be met",
            ),
        ] {
            assert_eq!(of_network(&fault, "w").unwrap_err(), why);
        }
    }

    #[test]
    fn a_network_that_is_away_is_not_written_again_from_its_template() {
        let removal = commands(&plan(&json!({"action": "cni-remove"})).unwrap()).concat();
        assert!(removal.contains("cp -a $t /var/lib/nodeproof/cni-template && : > $t"), "{removal}");
        let healing = NodeFault::CniGone.healing("w").last().unwrap().to_string();
        let (template, network) = (healing.find("> $t").unwrap(), healing.find("/etc/cni/net.d/").unwrap());
        assert!(template < network, "{healing}");
    }
}
