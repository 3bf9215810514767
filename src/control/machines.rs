//! The calls about machines and their pods.

use nodeproof_core::components::machine::{
    ContainerRole, Hardware, Machine, MachineAction, MachineSpec, PodBehaviour, ToldHints,
};
use nodeproof_core::json;
use nodeproof_core::network::{HttpCall, HttpCredentials, PODS, Rule};
use nodeproof_core::objects::{FieldError, FieldReader, Json, NodeAddress, Object, ObjectKey};

use super::api::identity;
use super::calls::{missing, refused};
use super::route::Call;
use super::{Control, Refusal, Reply};

impl Control {
    pub(super) fn add_machine(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let name = self.power_on(call.body)?;
        self.shown(&name).map(|body| Reply::json(201, body))
    }

    pub(super) fn machines(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        Ok(Reply::ok(self.sim.machines().map(|machine| self.described(machine)).collect()))
    }

    pub(super) fn machine(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        self.shown(&call.names[0]).map(Reply::ok)
    }

    pub(super) fn containers(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        self.shown(&call.names[0]).map(|machine| Reply::ok(machine.get("containers").clone()))
    }

    pub(super) fn machine_do(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let name = call.names[0].as_str();
        self.shown(name)?;
        let action = MachineAction::from_json(call.body)?;
        if let (MachineAction::KubeletRestart(Some(kubelet)), Some(machine)) = (&action, self.sim.machine(name)) {
            self.setup.check_kubelet(&machine.host().spec, kubelet)?;
        }
        self.act(name, action)?;
        self.shown(name).map(Reply::ok)
    }

    pub(super) fn behave(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let (namespace, pod) = (call.names[0].as_str(), call.names[1].as_str());
        let behaviour = PodBehaviour::from_json(call.body)?;
        let object = self.sim.api().object(&PODS, &ObjectKey::namespaced(namespace, pod));
        let object = object.ok_or_else(|| Refusal::new(404, format!("there is no pod {namespace}/{pod}")))?;
        check_parts(&behaviour, &object)?;
        let node = object.stable().at(&["spec", "nodeName"]).as_str().unwrap_or_default();
        let action = MachineAction::Behave { namespace: namespace.into(), pod: pod.into(), behaviour };
        match self.machine_of(node) {
            Some(machine) => self.act(&machine, action)?,
            // Wherever it will run, it is known there how.
            None => {
                let machines: Vec<String> = self.sim.machines().map(|machine| machine.name().to_string()).collect();
                for machine in machines {
                    self.act(&machine, action.clone())?;
                }
                self.for_later_machines.push(action);
            }
        }
        Ok(Reply::ok(Json::object()))
    }

    /// Sends a request to the server of a machine's kubelet.
    pub(super) fn request_machine(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let name = call.names[0].as_str();
        self.shown(name)?;
        let mut reader = FieldReader::new(call.body, "")?;
        let path = reader.needed_text("path")?.clone();
        if !path.starts_with('/') {
            return Err(reader.error("path", "a path is needed, as /pods").into());
        }
        let method =
            reader.word("method", "method", const { &["GET", "POST", "PUT", "PATCH", "DELETE"] })?.unwrap_or("GET");
        let scheme = reader.word("scheme", "scheme", const { &["https", "http"] })?.unwrap_or("https");
        let port = reader.integer("port", 1, 65535)?.and_then(|port| u16::try_from(port).ok()).unwrap_or(10250);
        let upgrades = reader.boolean("upgrade")?.unwrap_or(false);
        let token = reader.text("token")?.cloned();
        let sender = reader.any("as").map(|sender| identity(Some(sender), &[])).transpose()?;
        let from = reader.text("from")?.cloned();
        reader.finish()?;
        let from = from.map(|from| self.caller(&from)).transpose()?;
        let credentials = match (token, sender) {
            (Some(_), Some(_)) => {
                let message = "a client certificate is meant, or a token, not both".to_owned();
                return Err(FieldError::new("token", message).into());
            }
            (Some(token), None) => HttpCredentials::Token(token),
            (None, Some(identity)) => HttpCredentials::Certificate(identity),
            (None, None) => HttpCredentials::None,
        };
        let host = self.sim.machine(name).map(|machine| machine.host().default_ip(false)).unwrap_or_default();
        let call = HttpCall::new((scheme, host, Some(port)), method, path);
        let call = HttpCall { upgrades, credentials, ..call };
        let outcome = match from {
            Some(from) => self.sim.call_http_from(&from, call),
            None => self.sim.call_http(call),
        };
        Ok(Reply::ok(match outcome {
            Ok(answer) => {
                let mut shown = json!({"code": i64::from(answer.code), "contentType": answer.media_type.as_str()});
                shown.set(&["body"], answer.body.as_str());
                shown
            }
            Err(why) => json!({"error": why.as_str()}),
        }))
    }

    /// Finds the machine that a request is sent from.
    fn caller(&self, from: &str) -> Result<String, Refusal> {
        let names: Vec<String> = self.sim.machines().map(|machine| format!("machine/{}", machine.name())).collect();
        let name = from.strip_prefix("machine/").unwrap_or_default();
        let Some(machine) = self.sim.machine(name) else {
            return Err(FieldError::unknown("from", "machine", from, names.iter().map(String::as_str)).into());
        };
        if machine.is_dead() {
            let message = format!("nothing is sent from {name}: it is off, stands still or has no network");
            return Err(Refusal { code: 409, error: FieldError::new("from", message) });
        }
        Ok(String::from(from))
    }

    /// Sets what a provider would answer to the topology manager about a container.
    pub(super) fn tell_hints(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let name = call.names[0].as_str();
        self.shown(name)?;
        let nodes = self.sim.machine(name).map(|machine| machine.host().spec.hardware.numa_nodes());
        let told = ToldHints::from_json(call.body, &nodes.unwrap_or_default())?;
        self.act(name, MachineAction::TellHints(told))?;
        Ok(Reply::ok(Json::object()))
    }

    fn act(&mut self, machine: &str, action: MachineAction) -> Result<(), Refusal> {
        let outcome = self.sim.machine_do(machine, action);
        self.sim.finish_instant();
        outcome.map_err(refused)
    }

    /// Finds the machine whose kubelet runs a Node.
    fn machine_of(&self, node: &str) -> Option<String> {
        let now = self.sim.now();
        let by_node =
            || self.sim.machines().find(|machine| machine.describe(now).get("nodeName").as_str() == Some(node));
        self.sim.machine(node).or_else(by_node).map(|machine| machine.name().to_string())
    }

    /// Adds a machine as its JSON describes it, and returns its name.
    pub(super) fn power_on(&mut self, body: &Json) -> Result<String, Refusal> {
        let spec = MachineSpec::from_json(body)?;
        self.setup.check_kubelet(&spec, &spec.kubelet)?;
        let name = spec.name.to_string();
        self.sim.add_machine(spec).map_err(refused)?;
        for action in self.for_later_machines.clone() {
            self.act(&name, action)?;
        }
        self.sim.finish_instant();
        Ok(name)
    }

    fn shown(&self, name: &str) -> Result<Json, Refusal> {
        let names: Vec<String> = self.sim.machines().map(|machine| machine.name().to_string()).collect();
        let machine = self.sim.machine(name).ok_or_else(|| missing("machine", name, &names))?;
        Ok(self.described(machine))
    }

    /// Returns the ends to which a machine has a connection, with the rules on each: the API server, and the machines
    /// that a rule keeps from it.
    fn linked(&self, name: &str) -> Vec<(&str, Vec<&Rule>)> {
        let mut links = vec![("api", self.sim.rules().filter(|rule| rule.lies_on(name)).collect::<Vec<_>>())];
        for rule in self.sim.rules() {
            let ends = [rule.fault.from.name(), rule.fault.to.name()];
            let [Some(_), Some(_)] = ends.map(|end| end.strip_prefix("machine/")) else { continue };
            let Some(other) = ends.into_iter().find(|end| *end != name).filter(|_| ends.contains(&name)) else {
                continue;
            };
            match links.iter_mut().find(|(to, _)| *to == other) {
                Some((_, rules)) => rules.push(rule),
                None => links.push((other, vec![rule])),
            }
        }
        links
    }

    /// Returns a machine as JSON, with its links: what the network rules do to them.
    fn described(&self, machine: &Machine) -> Json {
        let name = format!("machine/{}", machine.name());
        let links = self.linked(&name).into_iter().map(|(to, rules)| {
            let state = match rules.as_slice() {
                rules if rules.iter().any(|rule| rule.stalls()) => "stalled",
                rules if rules.iter().any(|rule| rule.refuses()) => "refused",
                _ => "up",
            };
            let rules: Json = rules.iter().map(|rule| Json::from(rule.id.name())).collect();
            let mut link = json!({"to": to, "state": state});
            link.set(&["rules"], rules);
            link
        });
        let mut shown = machine.describe(self.sim.now());
        shown.set(&["links"], links.collect::<Json>());
        if let Some(kubelet) = machine.kubelet() {
            let (pods, containers) = machine.host().runtime.running();
            let mut metric = |path: &[&str], value: usize| {
                let value = Json::from(i64::try_from(value).unwrap_or(i64::MAX));
                shown.set(&[&["processes", "kubelet", "metrics"], path].concat(), value);
            };
            metric(&["kubelet_running_pods"], pods);
            metric(&["kubelet_running_containers"], containers);
            kubelet.evictions().iter().for_each(|(signal, count)| metric(&["kubelet_evictions", signal], *count));
        }
        describe_hardware(&machine.host().spec.hardware, &mut shown);
        shown
    }
}

/// Refuses a behaviour of a container, or of a volume, that a pod does not have.
fn check_parts(behaviour: &PodBehaviour, pod: &Object) -> Result<(), FieldError> {
    let names = |own: &Json| own.get("name").as_str().map(String::from);
    let containers: Vec<String> = ContainerRole::containers(pod).filter_map(|(_, own)| names(own)).collect();
    if let Some(container) = behaviour.container.as_ref().filter(|own| !containers.iter().any(|name| ***own == *name)) {
        return Err(FieldError::unknown("container", "container", container, containers.iter().map(String::as_str)));
    }
    let volumes: Vec<String> = pod.stable().at(&["spec", "volumes"]).items().iter().filter_map(names).collect();
    let mut told = behaviour.process.uses.get("volumes").fields().map(|(name, _)| name);
    match told.find(|name| !volumes.iter().any(|own| *own == ***name)) {
        None => Ok(()),
        Some(name) => {
            let field = format!("uses.volumes.{name}");
            Err(FieldError::unknown(field, "volume", name, volumes.iter().map(String::as_str)))
        }
    }
}

/// Shows what a machine was given beside what the simulator shows of it, under the same names.
fn describe_hardware(hardware: &Hardware, shown: &mut Json) {
    shown.set(&["cgroupVersion"], hardware.cgroup_version);
    shown.set(&["swapController"], hardware.swap_controller);
    shown.set(&["inodes"], hardware.inodes());
    shown.set(&["pids"], hardware.pids);
    if let Some(pods) = hardware.pods {
        shown.set(&["capacity", "pods"], pods.to_string());
    }
    if let Some(addresses) = &hardware.addresses {
        shown.set(&["addresses"], addresses.iter().map(NodeAddress::json).collect::<Json>());
    }
    for (driver, most) in &hardware.attach_limits {
        shown.set(&["attachLimits", driver], *most);
    }
    shown.set(&["failing"], hardware.failing.iter().map(Json::from).collect::<Json>());
    shown.set(&["images"], hardware.images.clone());
}
