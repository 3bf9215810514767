//! Sentences about machines, their kubelets and their containers' runtime.

use std::sync::Arc;

use cucumber::{given, when};
use gherkin::Step;
use nodeproof_core::components::kubelet::config::node_name;
use nodeproof_core::components::machine::{KUBECONFIG, KubeletSpec, MachineAction, MachineSpec};
use nodeproof_core::json;
use nodeproof_core::network::Identity;
use nodeproof_core::objects::{FieldError, Json, Text, is_not_modelled};
use nodeproof_core::scenario::{Action, ScenarioAction, Setup};

use super::draft::{Draft, LastMachine, NodeEntry, NodeKind};
use super::nodes::machine_body;
use super::words;

/// A machine whose kubelet starts now; the scenario does not wait for its Node.
#[given(regex = r#"^a machine "(?P<node>[^"]*)"$"#)]
#[when(regex = r#"^a kubelet named "(?P<node>[^"]*)" (?:registers|starts)$"#)]
fn machine(draft: &mut Draft, node: String) {
    if let Some(name) = draft.declare_node(&node, NodeKind::Machine, None) {
        draft.add_machine(machine_body(&name, None));
    }
}

/// A machine with its parts, a row each: `cpu`, `memory`, `ephemeral-storage`, `pods` and other resources, `zone`,
/// `region`, `nodeName`, `addresses`, `machineId`, `systemUuid`, `bootId`, `osImage`, `kernelVersion`,
/// `containerRuntime`, `swap`, `swapController`, `cgroupVersion`, `inodes`, `pids`, `numa`, `devicePlugins`,
/// `attachLimits`, `images`, `clockSkew` (how far its clock is ahead, `-3s` for behind), `inhibitMaxDelay`, `cni`,
/// `credentials`, `failing`, `powered`, as the body of `POST machines` has them.
#[given(regex = r#"^a machine "(?P<node>[^"]*)" with:$"#)]
fn machine_with(draft: &mut Draft, node: String, step: &Step) {
    let Some(name) = draft.declare_node(&node, NodeKind::Machine, None) else { return };
    let mut body = machine_body(&name, None);
    for (row, field, value) in draft.flag_rows(step) {
        if RESOURCES.contains(&field.as_str()) || field.contains('/') || field.starts_with("hugepages-") {
            if let Err(message) = words::quantity(&value) {
                draft.problem_in_row(row, Some(1), message, Vec::new());
                continue;
            }
            body.set(&["capacity", &field], Json::text(value.as_str()));
        } else {
            body.set(&[&field], words::value(&value));
        }
        if field == "nodeName" {
            draft.also_named(&value);
        }
    }
    if let Some(zone) = body.get("zone").as_str().map(str::to_owned)
        && let Some(entry) = draft.nodes.last_mut()
    {
        entry.zone = Some(zone);
    }
    if let Err(error) = MachineSpec::from_json(&body)
        && let Some((_, known)) =
            error.message.strip_prefix("unknown field ").and_then(|rest| rest.split_once(": known are "))
        && !error.field.contains('.')
    {
        let known: Vec<&str> = RESOURCES.into_iter().chain(known.split(", ")).collect();
        draft.field::<()>(Err(FieldError::unknown(error.field.clone(), "field", &error.field, known)));
        return;
    }
    draft.add_machine(body);
}

/// The resources of machines that rows name as Kubernetes does; the control interface has them below `capacity`.
const RESOURCES: [&str; 4] = ["cpu", "memory", "ephemeral-storage", "pods"];

/// Flags of the kubelet of the machine or ready Node in the step before, or fields of its KubeletConfiguration, a row
/// each. The row `version` is the kubelet's release, if it is not the cluster's.
#[given(regex = r"^whose kubelet runs with:$")]
fn kubelet_with(draft: &mut Draft, step: &Step) {
    let Some((mut bodies, last)) = draft.last_machine.take() else {
        draft.problem("", "this follows a machine or a ready Node".to_owned());
        return;
    };
    let kubelet = draft.kubelet(step);
    for body in &mut bodies {
        body.set(&["kubelet"], kubelet.clone());
    }
    draft.scenario.given.pop();
    match last {
        LastMachine::Ready => draft.ready_nodes(bodies),
        LastMachine::Added => bodies.into_iter().for_each(|body| draft.add_machine(body)),
    }
}

/// A machine whose kubelet starts now with these flags or fields of its KubeletConfiguration, a row each.
#[when(regex = r#"^a kubelet named "(?P<node>[^"]*)" (?:registers|starts) with:$"#)]
fn kubelet_starts_with(draft: &mut Draft, node: String, step: &Step) {
    if let Some(name) = draft.declare_node(&node, NodeKind::Machine, None) {
        let mut body = machine_body(&name, None);
        body.set(&["kubelet"], draft.kubelet(step));
        draft.add_machine(body);
    }
}

/// The kubelet gets SIGTERM (stops), SIGKILL (is killed), SIGSTOP (freezes) or SIGCONT (thaws), or is started;
/// containers go on without it.
#[given(regex = r#"^the kubelet on "(?P<node>[^"]*)" (?P<what>stops|is killed|starts|restarts|freezes|thaws)$"#)]
#[when(regex = r#"^the kubelet on "(?P<node>[^"]*)" (?P<what>stops|is killed|starts|restarts|freezes|thaws)$"#)]
fn kubelet_does(draft: &mut Draft, node: String, what: String) {
    let action = match what.as_str() {
        "stops" => "kubelet-stop",
        "is killed" => "kubelet-kill",
        "starts" => "kubelet-start",
        "freezes" => "kubelet-freeze",
        "thaws" => "kubelet-thaw",
        _ => "kubelet-restart",
    };
    draft.machine_does(&node, &json!({"action": action}));
}

/// The kubelet ends and starts anew with other flags or fields of its KubeletConfiguration, a row each.
#[given(regex = r#"^the kubelet on "(?P<node>[^"]*)" restarts with:$"#)]
#[when(regex = r#"^the kubelet on "(?P<node>[^"]*)" restarts with:$"#)]
fn kubelet_restarts_with(draft: &mut Draft, node: String, step: &Step) {
    let mut body = json!({"action": "kubelet-restart"});
    body.set(&["kubelet"], draft.kubelet(step));
    draft.machine_does(&node, &body);
}

/// The whole machine, or all of a zone at once: without a warning to the kubelet. Frozen, nothing on it runs while time
/// goes on; under load, other processes want all of its CPUs until it is relieved. A shutdown is one by systemd, which
/// can be announced before, or only announced: the kubelet hears of it, and the machine stays up. A reboot takes no
/// time: one that takes a minute loses power, `1m` passes, and gets power.
#[given(
    regex = r#"^(?P<of>machine|zone) "(?P<name>[^"]*)" (?P<what>loses power|gets power|reboots|freezes|thaws|is under load|is relieved|shuts down|announces a shutdown|calls its shutdown off)(?: in (?P<delay>\S+))?$"#
)]
#[when(
    regex = r#"^(?P<of>machine|zone) "(?P<name>[^"]*)" (?P<what>loses power|gets power|reboots|freezes|thaws|is under load|is relieved|shuts down|announces a shutdown|calls its shutdown off)(?: in (?P<delay>\S+))?$"#
)]
fn machine_does(draft: &mut Draft, of: String, name: String, what: String, delay: String) {
    let action = match what.as_str() {
        "loses power" => "power-off",
        "gets power" => "power-on",
        "reboots" => "reboot",
        "freezes" => "pause",
        "is under load" => "load",
        "is relieved" => "relieve",
        "shuts down" => "shutdown",
        "announces a shutdown" => "announce-shutdown",
        "calls its shutdown off" => "cancel-shutdown",
        _ => "resume",
    };
    let mut body = json!({"action": action});
    if !delay.is_empty() {
        if action != "shutdown" {
            return draft.problem(&delay, "only a shutdown can be announced".to_owned());
        }
        body.set(&["delay"], delay);
    }
    let nodes = if of == "zone" { draft.zone(&name) } else { draft.node_entry(&name).into_iter().collect() };
    draft.machines_do(nodes, &body);
}

/// Anything that can happen to a machine, as `POST machines/NAME/do` of the control interface names it, with its fields
/// as rows: `does fill-memory with:`, and a row `| free | 50Mi |`, as `use-pids` and `fill-disk` take it, which takes
/// `freeInodes` too; `does change with:` what a machine has, as `| clockSkew | 5m |` for its clock; `power-on` and
/// `reboot` take `bootId`, `manifest-write` takes `name` and `object`, `network-connect` takes `addresses`.
#[given(regex = r#"^machine "(?P<node>[^"]*)" does (?P<what>[a-z-]+)(?P<with> with:)?$"#)]
#[when(regex = r#"^machine "(?P<node>[^"]*)" does (?P<what>[a-z-]+)(?P<with> with:)?$"#)]
fn machine_does_what(draft: &mut Draft, node: String, what: String, with: String, step: &Step) {
    let mut body = json!({"action": what});
    let rows = if with.is_empty() { Vec::new() } else { draft.flag_rows(step) };
    for (_, name, value) in rows {
        body.set(&[&name], words::value(&value));
    }
    draft.machine_does(&node, &body);
}

/// The container runtime, without which the kubelet is not ready.
#[given(regex = r#"^the container runtime on "(?P<node>[^"]*)" (?P<what>stops|starts)$"#)]
#[when(regex = r#"^the container runtime on "(?P<node>[^"]*)" (?P<what>stops|starts)$"#)]
fn runtime_does(draft: &mut Draft, node: String, what: String) {
    let action = if what == "stops" { "runtime-stop" } else { "runtime-start" };
    draft.machine_does(&node, &json!({"action": action}));
}

/// The configuration of the container network, without which the kubelet is not ready.
#[given(regex = r#"^the container network on "(?P<node>[^"]*)" is (?P<what>removed|installed)$"#)]
#[when(regex = r#"^the container network on "(?P<node>[^"]*)" is (?P<what>removed|installed)$"#)]
fn cni_does(draft: &mut Draft, node: String, what: String) {
    let action = if what == "removed" { "cni-remove" } else { "cni-install" };
    draft.machine_does(&node, &json!({"action": action}));
}

impl Draft {
    /// Reads a machine, or notes what is wrong with it.
    pub(super) fn machine(&mut self, body: &Json) -> Option<MachineSpec> {
        let read = MachineSpec::from_json(body);
        self.field(read)
    }

    /// Reads a table of flags and fields of the KubeletConfiguration: flags have dashes or small letters alone. A row
    /// `version` is the kubelet's own release.
    fn kubelet(&mut self, step: &Step) -> Json {
        let mut kubelet = json!({});
        for (_, name, value) in self.flag_rows(step) {
            let is_field = name.chars().any(|c| c.is_ascii_uppercase() || c == '.');
            if name == "version" {
                kubelet.set(&["version"], Json::text(value.as_str()));
            } else if is_field {
                let path: Vec<&str> = std::iter::once("config").chain(name.split('.')).collect();
                kubelet.set(&path, words::value(&value));
            } else {
                kubelet.set(&["flags", &name], Json::text(value.as_str()));
            }
            if name == "hostname-override" {
                self.also_named(&value);
            }
        }
        kubelet
    }

    /// Declares the Node of a machine whose Node has another name; an invalid name declares none.
    fn also_named(&mut self, name: &str) {
        let name = name.trim().to_lowercase();
        if words::object_name(&name).is_ok() {
            self.declare_node(&name, NodeKind::Object, None);
        }
    }

    /// Returns the credentials with which the kubelet on a machine sends its requests: those in the file that its
    /// `--kubeconfig` names at this step. A Node without a machine has those of its name.
    pub(super) fn kubelet_identity(&mut self, machine: &Text) -> Option<Arc<Identity>> {
        let Some((spec, kubelet)) = self.machine_so_far(machine) else { return Some(Identity::kubelet(machine)) };
        let flag = |kubelet: &KubeletSpec, name: &str| {
            kubelet.flags.iter().find(|(own, _)| *own == *name).map(|(_, value)| value.clone())
        };
        let path = flag(&kubelet, "kubeconfig").unwrap_or(Text::of(KUBECONFIG));
        let found = spec.hardware.kubeconfigs.iter().find(|(own, _)| *own == path);
        // The certificate names the Node as which the machine joined.
        let joined = node_name(flag(&spec.kubelet, "hostname-override").as_ref(), &spec);
        let identity = found.and_then(|(_, credentials)| Some(credentials.identity(&joined.ok()?)));
        if identity.is_none() {
            self.problem(machine, format!("its kubelet has no credentials: there is no file {path:?}"));
        }
        identity
    }

    /// Returns a machine as the steps so far made it, and what its kubelet runs with by now.
    fn machine_so_far(&self, machine: &Text) -> Option<(MachineSpec, Arc<KubeletSpec>)> {
        let mut found: Option<(MachineSpec, Arc<KubeletSpec>)> = None;
        let mut take = |spec: &MachineSpec| {
            if spec.name == *machine {
                found = Some((spec.clone(), spec.kubelet.clone()));
            }
        };
        for given in &self.scenario.given {
            if let Setup::ReadyNodes(specs) = &given.setup {
                specs.iter().for_each(&mut take);
            }
        }
        let mut restarted = None;
        for action in self.scenario.actions() {
            let ScenarioAction::Action(action) = action else { continue };
            match &**action {
                Action::AddMachine(spec) => take(spec),
                Action::Machine { name, action: MachineAction::KubeletRestart(Some(kubelet)) } if name == machine => {
                    restarted = Some(kubelet.clone());
                }
                _ => {}
            }
        }
        found.map(|(spec, kubelet)| (spec, restarted.unwrap_or(kubelet)))
    }

    fn add_machine(&mut self, body: Json) {
        if let Some(spec) = self.machine(&body) {
            if self.is_given() {
                self.given(Setup::Do(Action::AddMachine(spec).into()));
            } else {
                self.action(Action::AddMachine(spec));
            }
            self.last_machine = Some((vec![body], LastMachine::Added));
        }
    }

    fn machine_does(&mut self, node: &str, body: &Json) {
        let nodes = self.node_entry(node).into_iter().collect();
        self.machines_do(nodes, body);
    }

    /// Does the same to the machines of some Nodes, at once.
    fn machines_do(&mut self, nodes: Vec<NodeEntry>, body: &Json) {
        if let Some(node) = nodes.iter().find(|node| node.kind != NodeKind::Machine) {
            let help = vec![format!("declare it: Given a ready Node {:?}", node.name)];
            self.problem_with(&node.name, format!("behind Node {:?} is no machine", node.name), help);
            return;
        }
        let read = MachineAction::from_json(body);
        if let Some(action) = self.field(read).filter(|_| !nodes.is_empty()) {
            let of = |node: NodeEntry| Action::Machine { name: node.name, action: action.clone() }.into();
            self.actions(nodes.into_iter().map(of).collect());
        }
    }

    /// Notes that the scenario uses what is not modelled, if a message says so, or else a problem.
    pub(super) fn problem_unless_not_modelled(&mut self, message: &str, problem: impl FnOnce(&mut Self)) {
        if is_not_modelled(message) {
            self.scenario.not_modelled.get_or_insert_with(|| Text::from(message));
        } else {
            problem(self);
        }
    }

    /// Returns a value that the core has read, or notes which field is wrong.
    pub(super) fn field<T>(&mut self, read: Result<T, FieldError>) -> Option<T> {
        read.map_err(|error| {
            let name = error.field.rsplit('.').next().unwrap_or_default().to_owned();
            let cell = usize::from(!error.message.contains("unknown "));
            self.problem_unless_not_modelled(&error.message, |draft| {
                draft.problem_about(&name, cell, error.to_string());
            });
        })
        .ok()
    }
}
