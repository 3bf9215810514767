//! The cluster of a question on the simulator: machines, workloads, the loss and the return.

use jiff::SignedDuration;
use nodeproof_core::components::api_server::Tap;
use nodeproof_core::components::machine::{MachineAction, MachineSpec};
use nodeproof_core::json;
use nodeproof_core::network::{Call, Fault, Identity, NODES, RuleId, Verb, find_kind, kind_of};
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::sim::{Simulation, SimulationOptions};

use super::question::{How, Node, Question, Workloads};

/// How often writes are taken from the simulator.
pub(super) const LOOK: SignedDuration = SignedDuration::from_secs(20);
/// A cluster in which nothing but heartbeats was written for this long is at rest.
pub(super) const QUIET: SignedDuration = SignedDuration::from_mins(6);
/// How long nodes have to register.
const REGISTERS: SignedDuration = SignedDuration::from_mins(1);
/// How often it is looked whether the workloads are there.
const SETTLES: SignedDuration = SignedDuration::from_mins(1);
/// How long a cluster may need until its workloads run: kube-controller-manager makes twenty Pods a second.
const SETTLES_MAX: SignedDuration = SignedDuration::from_hours(3);

/// The cluster of a question.
pub(super) struct Scene {
    pub(super) sim: Simulation,
    pub(super) lost: Vec<Text>,
    pub(super) how: How,
    rules: Vec<RuleId>,
}

impl Scene {
    /// Makes the cluster, and lets it come to rest.
    pub(super) fn set(question: &Question) -> Result<Self, String> {
        let lost: Vec<Text> = question.lost()?.into_iter().map(|node| node.name.clone()).collect();
        let options = SimulationOptions {
            settings: question.settings.clone(),
            seed: question.seed,
            trace: false,
            ..SimulationOptions::default()
        };
        let mut scene = Self { sim: Simulation::new(options), lost, how: question.how, rules: Vec::new() };
        for node in &question.nodes {
            scene.add(node)?;
        }
        scene.sim.advance_until(scene.sim.now() + REGISTERS);
        for node in &question.nodes {
            scene.dress(node)?;
        }
        match &question.workloads {
            Workloads::Default => {
                for object in default_workloads(question.nodes.len()) {
                    scene.create("", object)?;
                }
            }
            Workloads::Given(objects) => {
                for (place, object) in objects {
                    scene.create(place, object.clone())?;
                }
            }
        }
        scene.settle();
        Ok(scene)
    }

    fn add(&mut self, node: &Node) -> Result<(), String> {
        let spec = MachineSpec {
            name: node.name.clone(),
            zone: node.zone.clone(),
            region: node.region.clone(),
            hardware: std::sync::Arc::clone(&node.hardware),
            ..MachineSpec::default()
        };
        self.sim.add_machine(spec).map_err(|error| format!("node {}: {error}", node.name))?;
        self.sim.check_modelled(&node.name).map_err(|error| error.to_string())
    }

    /// Gives a Node the labels and taints that its kubelet does not.
    fn dress(&mut self, node: &Node) -> Result<(), String> {
        if node.labels.is_empty() && node.taints.is_empty() {
            return Ok(());
        }
        let mut patch = json!({});
        for (key, value) in &node.labels {
            patch.set(&["metadata", "labels", key], value);
        }
        if !node.taints.is_empty() {
            patch.set(&["spec", "taints"], node.taints.iter().cloned().collect::<Json>());
        }
        let call = Call::new(Verb::Patch, NODES, "", &node.name)
            .header("Content-Type", "application/merge-patch+json")
            .body(patch);
        self.send(call).map(drop).map_err(|why| format!("node {}: {why}", node.name))
    }

    /// Makes an object; the error names the place where it was read.
    fn create(&mut self, place: &str, object: Json) -> Result<(), String> {
        let text = |path: &[&str]| object.at(path).as_str().unwrap_or("").to_owned();
        let (kind, name) = (text(&["kind"]), text(&["metadata", "name"]));
        let api_version = text(&["apiVersion"]);
        let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
        if kind.is_empty() || api_version.is_empty() {
            return Err(format!("{place}the object has no kind or no apiVersion"));
        }
        let found = find_kind(&kind).filter(|(resource, _)| resource.api_version() == api_version);
        let Some((resource, is_namespaced)) = found.filter(|(resource, _)| kind_of(resource) == Some(&kind)) else {
            return Err(format!("{place}{api_version} {kind} is not modelled"));
        };
        let namespace = match (is_namespaced, object.at(&["metadata", "namespace"]).as_str()) {
            (false, _) => String::new(),
            (true, given) => given.unwrap_or("default").to_owned(),
        };
        if is_namespaced && namespace != "default" {
            self.ensure_namespace(&namespace)?;
        }
        let call = Call::new(Verb::Create, resource, &namespace, "").body(object);
        self.send(call).map(drop).map_err(|why| format!("{place}{kind} {name}: {why}"))
    }

    fn ensure_namespace(&mut self, name: &str) -> Result<(), String> {
        let Some((namespaces, _)) = find_kind("Namespace") else { return Ok(()) };
        let get = Call::new(Verb::Get, namespaces.clone(), "", name);
        if self.send(get).is_ok() {
            return Ok(());
        }
        let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        self.send(Call::new(Verb::Create, namespaces, "", "").body(body)).map(drop)
    }

    /// Makes a request as the cluster's administrator.
    pub(super) fn send(&mut self, call: Call) -> Result<Json, String> {
        let answer = self.sim.request(Identity::admin(), call).map_err(|error| error.to_string())?;
        if answer.is_success() { Ok(answer.body()) } else { Err(answer.message()) }
    }

    /// Lets time pass until nothing but heartbeats is written.
    fn settle(&mut self) {
        let end = self.sim.now() + SETTLES_MAX;
        self.sim.tap(Tap::Changes);
        while self.sim.now() < end {
            self.sim.advance_until(self.sim.now() + SETTLES);
            if self.sim.take_commits().is_empty() {
                break;
            }
        }
        self.sim.tap(Tap::Closed);
    }

    /// Takes the nodes away.
    pub(super) fn fail(&mut self) {
        for name in self.lost.clone() {
            let action = match self.how {
                How::Partition => {
                    self.rules.push(self.sim.add_rule(Fault::disconnect(format!("machine/{name}"))));
                    continue;
                }
                How::PowerOff => MachineAction::PowerOff,
                How::Shutdown => MachineAction::Shutdown { delay: None },
                How::KubeletKilled => MachineAction::KubeletKill,
                How::Freeze => MachineAction::Pause,
            };
            self.sim.machine_do(&name, action).expect("a machine that runs can be stopped");
        }
    }

    /// Gives the nodes back.
    pub(super) fn heal(&mut self) -> Result<(), String> {
        for rule in std::mem::take(&mut self.rules) {
            self.sim.remove_rule(rule).map_err(|error| error.to_string())?;
        }
        for name in self.lost.clone() {
            let action = match self.how {
                How::Partition => continue,
                How::PowerOff | How::Shutdown => MachineAction::PowerOn { boot_id: None },
                How::KubeletKilled => MachineAction::KubeletStart,
                How::Freeze => MachineAction::Resume,
            };
            self.sim.machine_do(&name, action).map_err(|error| format!("{name}: {error}"))?;
        }
        Ok(())
    }
}

/// How many Pods a Deployment of the default has at most.
const REPLICAS_MAX: usize = 100;

/// Returns what runs where nothing is given.
fn default_workloads(nodes: usize) -> Vec<Json> {
    let template = |app: &str| {
        json!({
            "metadata": {"labels": {"app": app}},
            "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10",
                "resources": {"requests": {"cpu": "100m"}}}]},
        })
    };
    let web = |at: usize| {
        let name = if at == 0 { String::from("web") } else { format!("web-{}", at + 1) };
        let mut web = json!({"apiVersion": "apps/v1", "kind": "Deployment"});
        web.set(&["metadata", "name"], name.as_str());
        web.set(&["spec", "selector", "matchLabels", "app"], name.as_str());
        let left = (nodes - at * REPLICAS_MAX).min(REPLICAS_MAX);
        web.set(&["spec", "replicas"], i64::try_from(left).unwrap_or(i64::MAX));
        web.set(&["spec", "template"], template(&name));
        web
    };
    let mut db = json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"},
        "spec": {"replicas": 3, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}},
    });
    db.set(&["spec", "template"], template("db"));
    let mut agent = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"},
        "spec": {"selector": {"matchLabels": {"app": "agent"}}},
    });
    agent.set(&["spec", "template"], template("agent"));
    (0..nodes.div_ceil(REPLICAS_MAX)).map(web).chain([db, agent]).collect()
}
