//! Maps the names of a scenario (aliases) to real names in a cluster, and back.
//!
//! Inputs: the names of a scenario, a suffix, requests and objects. Outputs: the same with the other names. Where
//! scenarios share a control plane, each has a short suffix that is appended to the names of its Nodes, zones and
//! namespaces. On the way out a name is replaced where it stands as a whole word; on the way in the suffix is removed
//! wherever it stands. Invariant: mapping out and back in gives the original text, messages included. Without a suffix
//! no name is mapped: the scenario has the control plane for itself. A machine of the cluster that stands in for one of
//! the scenario's keeps its own name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nodeproof_core::components::machine::{Credentials, KubeletSpec, MachineAction, MachineSpec};
use nodeproof_core::network::{
    Body, Call, DEFINITIONS, Endpoint, Fault, Identity, Match, NAMESPACES, NODES, Resource, Target, is_namespaced,
};
use nodeproof_core::objects::{Json, Object, ObjectKey, Text};
use nodeproof_core::scenario::{Action, HandFedNode, Scenario, ScenarioAction, Setup, Subject, Task, bystanders};

/// The label of a Node's zone.
const ZONE: &str = "topology.kubernetes.io/zone";
/// The label of a Node's region.
const REGION: &str = "topology.kubernetes.io/region";

/// The mapping of the names of a scenario.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aliases {
    /// What is appended to each name, with its hyphen; empty if names are not mapped.
    suffix: String,
    /// Names of Nodes, machines, zones and regions.
    names: BTreeSet<String>,
    /// The real names of machines that stand in, by the names that the scenario has for them.
    stand_ins: BTreeMap<String, String>,
    /// Whether no other scenario has Nodes in the cluster at the same time.
    is_alone: bool,
}

impl Aliases {
    /// Maps no name.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Maps the names of a scenario by a suffix, without its hyphen.
    #[must_use]
    pub fn of(scenario: &Scenario, suffix: &str) -> Self {
        let mut names = BTreeSet::new();
        for given in bystanders(scenario).iter().chain(&scenario.given) {
            match &given.setup {
                Setup::ReadyNodes(specs) => specs.iter().for_each(|spec| names.extend(names_of_machine(spec))),
                Setup::HandFedNodes(nodes) => names.extend(nodes.iter().flat_map(names_of_fed)),
                Setup::Objects(objects) => {
                    let nodes = objects.iter().filter(|(resource, _)| *resource == NODES);
                    nodes.for_each(|(_, node)| names.extend(names_of_node(node)));
                }
                Setup::Do(_) | Setup::RunningPod { .. } | Setup::Until(_) => {}
            }
        }
        scenario.actions().for_each(|action| names.extend(names_of_action(action)));
        names.extend(names_of_made(scenario));
        for line in scenario.expectations() {
            if let Subject::Object(of) = &line.fact.subject
                && of.resource == NODES
            {
                names.insert(of.key.name.to_string());
            }
        }
        Self { suffix: format!("-{suffix}"), names, stand_ins: BTreeMap::new(), is_alone: false }
    }

    /// Lets machines of the cluster stand in for some of the scenario's.
    #[must_use]
    pub fn standing_in(self, stand_ins: BTreeMap<String, String>) -> Self {
        if self.is_none() { self } else { Self { stand_ins, ..self } }
    }

    /// Gives no zone to Nodes that name none. No other scenario has Nodes, so they need not be kept apart, and the
    /// scheduler spreads Pods by zones.
    #[must_use]
    pub fn without_others(self) -> Self {
        Self { is_alone: true, ..self }
    }

    /// Returns what is appended to each name, with its hyphen; empty if names are not mapped.
    #[must_use]
    pub fn suffix(&self) -> &str {
        &self.suffix
    }

    /// Tells whether names are not mapped.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.suffix.is_empty()
    }

    /// Returns the real name of a Node, machine or zone.
    #[must_use]
    pub fn real(&self, alias: &str) -> Text {
        Text::from(self.words(alias))
    }

    /// Returns the real name of a namespace; namespaces of the system are shared and not mapped.
    #[must_use]
    pub fn namespace(&self, alias: &str) -> Text {
        let is_system = alias.is_empty() || alias.starts_with("kube-");
        if is_system || self.is_none() { Text::from(alias) } else { Text::from(format!("{alias}{}", self.suffix)) }
    }

    /// Returns the zone for Nodes that name none: without it scenarios would share the empty zone.
    #[must_use]
    pub fn private_zone(&self) -> Option<Text> {
        (!self.is_none() && !self.is_alone).then(|| Text::from(format!("zone{}", self.suffix)))
    }

    /// Maps a text from the cluster to the names of the scenario.
    #[must_use]
    pub fn home_text(&self, text: &str) -> String {
        if self.is_none() {
            return text.to_owned();
        }
        let text = text.replace(&self.suffix, "");
        self.stand_ins.iter().fold(text, |text, (alias, real)| replace_name(&text, real, alias))
    }

    /// Maps a tree from the cluster to the names of the scenario.
    #[must_use]
    pub fn home(&self, tree: &Json) -> Json {
        if self.is_none() {
            return tree.clone();
        }
        let mut tree = tree.clone();
        self.drop_private_zone(&mut tree);
        self.each_text(&tree, &|_, text| self.home_text(text))
    }

    fn drop_private_zone(&self, tree: &mut Json) {
        let Some(zone) = self.private_zone() else { return };
        if tree.at(&["metadata", "labels", ZONE]).as_str() == Some(&zone) {
            tree.remove(&["metadata", "labels", ZONE]);
        }
    }

    /// Tells whether an object belongs to the scenario: its name or namespace has the suffix, or it belongs to a
    /// machine that stands in.
    #[must_use]
    pub fn owns(&self, key: &ObjectKey) -> bool {
        let is_of = |real: &String| key.name.split('.').next() == Some(real.as_str());
        self.has_made(key) || self.stand_ins.values().any(is_of)
    }

    /// Tells whether an object was made for the scenario and is removed with it.
    #[must_use]
    pub fn has_made(&self, key: &ObjectKey) -> bool {
        self.is_none() || key.name.contains(&self.suffix) || key.namespace.contains(&self.suffix)
    }

    /// Maps an object from the cluster to the names of the scenario.
    #[must_use]
    pub fn home_object(&self, object: &Json) -> Object {
        Object::as_received(self.home(object))
    }

    /// Maps a tree to real names.
    #[must_use]
    pub fn outward(&self, tree: &Json) -> Json {
        if self.is_none() {
            return tree.clone();
        }
        self.each_text(tree, &|field, text| match field {
            "namespace" | "kubernetes.io/metadata.name" => self.namespace(text).to_string(),
            _ => self.words(text),
        })
    }

    /// Maps a request to real names.
    #[must_use]
    pub fn call(&self, mut call: Call) -> Call {
        if self.is_none() {
            return call;
        }
        let mut is_namespace = false;
        match &mut call.target {
            Target::Resource { resource, namespace, name, subresource } => {
                is_namespace = *resource == NAMESPACES;
                *namespace = self.namespace(namespace);
                *name = match subresource.as_str() {
                    _ if is_namespace => self.namespace(name),
                    // A scheme and a port can stand around the name.
                    "proxy" => Text::from(self.words(name)),
                    _ => self.real(name),
                };
            }
            Target::Path(path) => *path = Text::from(self.words(path)),
        }
        for (_, value) in &mut call.query {
            *value = self.real(value);
        }
        if let Body::Json(body) = &mut call.body {
            *body = self.outward(body);
            if is_namespace {
                let name = self.namespace(body.at(&["metadata", "name"]).as_str().unwrap_or(""));
                body.set(&["metadata", "name"], name);
            }
        }
        call
    }

    /// Maps a user to real names: a kubelet is that of a real Node, a service account lives in a real namespace.
    #[must_use]
    pub fn identity(&self, identity: &Identity) -> Identity {
        let user = match identity.user.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':')) {
            Some((namespace, name)) => {
                Text::from(format!("system:serviceaccount:{}:{name}", self.namespace(namespace)))
            }
            None => self.real(&identity.user),
        };
        Identity { user, ..identity.clone() }
    }

    /// Maps a machine to real names.
    #[must_use]
    pub fn machine(&self, mut spec: MachineSpec) -> MachineSpec {
        if self.is_none() {
            return spec;
        }
        let is_there = self.stand_ins.contains_key(spec.name.as_str());
        spec.name = self.real(&spec.name);
        spec.node_name = spec.node_name.map(|name| self.real(&name));
        spec.zone = spec.zone.map(|zone| self.real(&zone)).or_else(|| self.private_zone().filter(|_| !is_there));
        spec.region = spec.region.map(|region| self.real(&region));
        spec.kubelet = Arc::new(self.kubelet(&spec.kubelet));
        for (_, credentials) in &mut Arc::make_mut(&mut spec.hardware).kubeconfigs {
            if let Credentials::User(identity) = credentials {
                *identity = self.identity(identity).into();
            }
        }
        spec
    }

    fn kubelet(&self, kubelet: &KubeletSpec) -> KubeletSpec {
        let flags = kubelet.flags.iter().map(|(flag, value)| (flag.clone(), self.real(value))).collect();
        KubeletSpec { flags, config: self.outward(&kubelet.config), ..kubelet.clone() }
    }

    /// Maps an action on a machine to real names.
    fn machine_action(&self, action: MachineAction) -> MachineAction {
        match action {
            MachineAction::KubeletRestart(Some(kubelet)) => {
                MachineAction::KubeletRestart(Some(Arc::new(self.kubelet(&kubelet))))
            }
            MachineAction::Change(change) => MachineAction::Change(self.outward(&change)),
            MachineAction::Behave { namespace, pod, behaviour } => {
                MachineAction::Behave { namespace: self.namespace(&namespace), pod, behaviour }
            }
            MachineAction::TellHints(mut told) => {
                told.pod.0 = self.namespace(&told.pod.0);
                MachineAction::TellHints(told)
            }
            other => other,
        }
    }

    /// Tells whether every name can have a suffix. One that is no valid name of a Node, or that is nearly too long,
    /// would mean something else with it.
    #[must_use]
    pub fn can_be_mapped(&self) -> bool {
        self.names.iter().all(|name| is_free(name))
    }

    /// Maps a hand-fed Node to real names.
    #[must_use]
    pub fn fed(&self, mut node: HandFedNode) -> HandFedNode {
        if self.is_none() {
            return node;
        }
        node.name = self.real(&node.name);
        for (_, value) in &mut node.labels {
            *value = self.real(value);
        }
        if !node.labels.iter().any(|(key, _)| *key == ZONE) {
            node.labels.extend(self.private_zone().map(|zone| (Text::of(ZONE), zone)));
        }
        node
    }

    /// Maps an endpoint of a connection to real names: `machine/w1`.
    #[must_use]
    pub fn endpoint(&self, endpoint: &Endpoint) -> Endpoint {
        match endpoint {
            Endpoint::Any | Endpoint::Program { .. } => endpoint.clone(),
            Endpoint::Name(name) => Endpoint::Name(self.real(name)),
        }
    }

    /// Maps a fault to real names.
    #[must_use]
    pub fn fault(&self, fault: Fault) -> Fault {
        let (from, to) = (self.endpoint(&fault.from), self.endpoint(&fault.to));
        let matching = fault
            .matching
            .map(|matching| Match { name: matching.name.as_ref().map(|name| self.real(name)), ..matching });
        Fault { from, to, matching, ..fault }
    }

    /// Replaces the names that stand in a text as whole words.
    fn words(&self, text: &str) -> String {
        if self.is_none() {
            return text.to_owned();
        }
        let is_inner = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '.';
        let mut out = String::with_capacity(text.len() + self.suffix.len());
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(|letter| !is_inner(letter)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            match self.stand_ins.get(word) {
                Some(real) => out.push_str(real),
                None => out.push_str(word),
            }
            if self.names.contains(word) && !self.stand_ins.contains_key(word) {
                out.push_str(&self.suffix);
            }
            let next = behind.find(is_inner).unwrap_or(behind.len());
            out.push_str(&behind[..next]);
            rest = &behind[next..];
        }
        out
    }

    /// Applies a function to each text of a tree, names of fields included. The function also gets the field that holds
    /// it.
    fn each_text(&self, tree: &Json, change: &dyn Fn(&str, &str) -> String) -> Json {
        fn walk(field: &str, tree: &Json, change: &dyn Fn(&str, &str) -> String) -> Json {
            match tree {
                Json::Str(text) => Json::from(change(field, text)),
                Json::Array(items) => items.iter().map(|item| walk(field, item, change)).collect(),
                Json::Object(_) => tree
                    .fields()
                    .map(|(name, value)| (Text::from(change("", name)), walk(name, value, change)))
                    .collect(),
                other => other.clone(),
            }
        }
        walk("", tree, change)
    }
}

/// Tells whether a name can have a suffix.
fn is_free(name: &str) -> bool {
    const LONGEST: usize = 200;
    let is_end = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_alphanumeric());
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-' || letter == '.';
    name.len() <= LONGEST && name.chars().all(fits) && is_end(name.chars().next()) && is_end(name.chars().last())
}

/// Replaces a name where it stands alone, or where the name of something else begins with it, as that of an Event.
fn replace_name(text: &str, name: &str, by: &str) -> String {
    let is_inner = |letter: char| letter.is_alphanumeric() || letter == '-';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, found) = rest.split_at(at);
        let behind = &found[name.len()..];
        let is_whole = !before.ends_with(|letter| is_inner(letter) || letter == '.') && !behind.starts_with(is_inner);
        out.push_str(before);
        out.push_str(if is_whole { by } else { name });
        rest = behind;
    }
    out + rest
}

fn names_of_machine(spec: &MachineSpec) -> impl Iterator<Item = String> {
    let override_flag = spec.kubelet.flags.iter().find(|(flag, _)| *flag == *"hostname-override");
    let host = override_flag.map(|(_, value)| value);
    let parts = [Some(&spec.name), spec.node_name.as_ref(), spec.zone.as_ref(), spec.region.as_ref(), host];
    parts.into_iter().flatten().map(ToString::to_string).collect::<Vec<_>>().into_iter()
}

fn names_of_fed(node: &HandFedNode) -> Vec<String> {
    let permits = node.labels.iter().filter(|(key, _)| *key == ZONE || *key == REGION);
    permits.map(|(_, value)| value.to_string()).chain([node.name.to_string()]).collect()
}

fn names_of_node(node: &Json) -> Vec<String> {
    let labels = node.at(&["metadata", "labels"]);
    let parts = [node.at(&["metadata", "name"]), labels.get(ZONE), labels.get(REGION)];
    parts.into_iter().filter_map(Json::as_str).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Returns the names of what a scenario makes for the whole cluster, but for names with a meaning: those of definitions
/// and of what the system has.
fn names_of_made(scenario: &Scenario) -> impl Iterator<Item = String> {
    let is_own = |(resource, _): &(&Resource, &Json)| {
        !is_namespaced(resource) && ![NODES, NAMESPACES, DEFINITIONS].contains(resource)
    };
    let name = |(_, object): (&Resource, &Json)| object.at(&["metadata", "name"]).as_str().map(str::to_owned);
    scenario.objects_made().filter(is_own).filter_map(name).filter(|name| is_free(name) && !name.starts_with("system"))
}

fn names_of_action(action: &ScenarioAction) -> Vec<String> {
    match action {
        ScenarioAction::Action(action) => match &**action {
            Action::AddMachine(spec) => names_of_machine(spec).collect(),
            Action::Api { call, .. } => match (&call.target, &call.body) {
                (Target::Resource { resource, name, .. }, body) if *resource == NODES => {
                    let of_body = if let Body::Json(body) = body { names_of_node(body) } else { Vec::new() };
                    let is_name = |name: &String| !name.is_empty() && !name.contains(':');
                    of_body.into_iter().chain([name.to_string()]).filter(is_name).collect()
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        },
        ScenarioAction::Taint { node, .. } | ScenarioAction::Feed { node, .. } => vec![node.to_string()],
        ScenarioAction::Heal(_) | ScenarioAction::Pass(_) | ScenarioAction::Until(_) => Vec::new(),
    }
}

impl Aliases {
    /// Maps a task of a run to real names.
    #[must_use]
    pub fn task(&self, task: Task) -> Task {
        match task {
            Task::Feed(node) => Task::Feed(self.fed(node)),
            Task::Action(action) => Task::Action(self.action(action)),
        }
    }

    fn action(&self, action: ScenarioAction) -> ScenarioAction {
        match action {
            ScenarioAction::Action(action) => ScenarioAction::from(match *action {
                Action::Api { identity, call } => {
                    Action::Api { identity: self.identity(&identity).into(), call: self.call(call) }
                }
                Action::AddMachine(spec) => Action::AddMachine(self.machine(spec)),
                Action::Machine { name, action } => {
                    Action::Machine { name: self.real(&name), action: self.machine_action(action) }
                }
                Action::AddRule(fault) => Action::AddRule(self.fault(fault)),
                other => other,
            }),
            ScenarioAction::Heal(endpoint) => ScenarioAction::Heal(self.endpoint(&endpoint)),
            ScenarioAction::Taint { node, add, remove } => {
                ScenarioAction::Taint { node: self.real(&node), add, remove }
            }
            ScenarioAction::Feed { node, feed } => ScenarioAction::Feed { node: self.real(&node), feed },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use nodeproof_core::json;
    use nodeproof_core::network::{PODS, Verb};
    use nodeproof_core::scenario::{Bystanders, Given, Position};

    use super::*;

    fn aliases() -> Aliases {
        let mut scenario = Scenario::default();
        let setup = Setup::HandFedNodes(vec![HandFedNode::new("w1")]);
        scenario.given.push(Given { setup, position: Position::default() });
        Aliases::of(&scenario, "x7")
    }

    #[test]
    fn names_are_mapped_as_whole_words_and_come_back() {
        let aliases = aliases();
        for (text, real) in [
            ("w1", "w1-x7"),
            ("system:node:w1", "system:node:w1-x7"),
            ("Node w1 is down, w1.", "Node w1-x7 is down, w1."),
            ("w10 and w1-a", "w10 and w1-a"),
            ("default", "default"),
        ] {
            assert_eq!(aliases.words(text), real, "{text}");
            assert_eq!(aliases.home_text(real), text);
        }
    }

    #[test]
    fn a_node_without_a_zone_gets_one_only_beside_others() {
        let zone =
            |aliases: &Aliases| aliases.machine(MachineSpec { name: "w1".into(), ..MachineSpec::default() }).zone;
        assert_eq!(zone(&aliases()).as_deref(), Some("zone-x7"));
        let alone = aliases().without_others();
        assert_eq!((zone(&alone), alone.words("w1")), (None, "w1-x7".to_owned()));
        assert!(alone.fed(HandFedNode::new("w1")).labels.is_empty());
    }

    #[test]
    fn the_company_of_a_scenario_is_mapped_as_its_own_nodes_are() {
        for (bystanders, text, real) in [
            (Bystanders::Bystander, "bystander", "bystander-x7"),
            (Bystanders::AsItIs, "node-1", "node-1-x7"),
            (Bystanders::Nobody, "node-1", "node-1"),
        ] {
            let mut scenario = Scenario::default();
            scenario.cluster.bystanders = bystanders;
            assert_eq!(Aliases::of(&scenario, "x7").words(text), real);
        }
    }

    #[test]
    fn a_machine_that_was_there_before_keeps_its_name() {
        let aliases = aliases().standing_in([("w1".to_owned(), "np-worker".to_owned())].into());
        for (text, real) in [
            ("w1", "np-worker"),
            ("machine/w1", "machine/np-worker"),
            ("system:node:w1", "system:node:np-worker"),
            ("Node w1 status is now: NodeNotReady", "Node np-worker status is now: NodeNotReady"),
        ] {
            assert_eq!(aliases.words(text), real, "{text}");
            assert_eq!(aliases.home_text(real), text);
        }
        for other in ["np-worker2", "my-np-worker", "a.np-worker"] {
            assert_eq!(aliases.home_text(other), other);
        }
        assert_eq!(aliases.home_text("np-worker.187a"), "w1.187a");
        assert_eq!(aliases.machine(MachineSpec { name: "w1".into(), ..MachineSpec::default() }).zone, None);
        let own = ObjectKey::cluster("np-worker");
        assert!(aliases.owns(&own) && !aliases.has_made(&own) && !aliases.owns(&ObjectKey::cluster("np-worker2")));
    }

    #[test]
    fn a_request_goes_to_the_namespace_of_the_scenario() {
        let aliases = aliases();
        let pod = json!({"metadata": {"name": "p", "namespace": "default"},
            "spec": {"nodeName": "w1", "serviceAccountName": "default"}});
        let call = aliases.call(Call::new(Verb::Create, PODS, "default", "").body(pod.clone()));
        let Body::Json(body) = &call.body else { panic!("a body") };
        assert_eq!(call.path_and_query(), "/api/v1/namespaces/default-x7/pods");
        assert_eq!(body.at(&["spec", "nodeName"]).as_str(), Some("w1-x7"));
        assert_eq!(body.at(&["spec", "serviceAccountName"]).as_str(), Some("default"));
        assert_eq!(aliases.home(body), pod);
        for (id, real) in [("w1", "w1-x7"), ("https:w1:10250", "https:w1-x7:10250"), ("w1:9100", "w1-x7:9100")] {
            let call = Call::from_http("GET", &format!("/api/v1/nodes/{id}/proxy/healthz"), &[], "").unwrap();
            assert_eq!(aliases.call(call).path_and_query(), format!("/api/v1/nodes/{real}/proxy"));
        }
        assert!(aliases.owns(&ObjectKey::namespaced("default-x7", "p")));
        assert!(!aliases.owns(&ObjectKey::namespaced("default", "w2-x8.17")));
    }

    #[test]
    fn nodes_without_a_zone_get_one_that_nobody_sees() {
        let aliases = aliases();
        let node = aliases.fed(HandFedNode::new("w1"));
        let shown = json!({"metadata": {"name": node.name, "labels": {"topology.kubernetes.io/zone": node.labels[0].1,
            "a": "b"}}});
        assert_eq!(aliases.home(&shown), json!({"metadata": {"name": "w1", "labels": {"a": "b"}}}));
    }
}
