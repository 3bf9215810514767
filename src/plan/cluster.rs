//! The cluster of a question on the simulator: machines, workloads, the loss and the return.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use nodeproof_core::chance::Chance;
use nodeproof_core::components::api_server::Tap;
use nodeproof_core::components::controller::ControllerAction;
use nodeproof_core::components::machine::{MachineAction, MachineSpec};
use nodeproof_core::json;
use nodeproof_core::network::{
    Call, Fault, Identity, NODES, PODS, Resource, RuleId, Verb, find_kind, kind_names, kind_of,
};
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::scenario::LOOP_PERIOD;
use nodeproof_core::sim::{Simulation, SimulationOptions};

use super::carried::title;
use super::question::{How, LeftOut, Node, Question, Workloads};

/// How often writes are taken from the simulator.
pub(super) const LOOK: SignedDuration = SignedDuration::from_secs(20);
/// A cluster in which nothing but heartbeats was written for this long is at rest.
pub(super) const QUIET: SignedDuration = SignedDuration::from_mins(6);
/// How long nodes have to register.
const REGISTERS: SignedDuration = SignedDuration::from_mins(1);
/// How often it is looked whether the workloads are there.
pub(super) const SETTLES: SignedDuration = SignedDuration::from_mins(1);
/// How long a cluster may need until its workloads run: kube-controller-manager makes twenty Pods a second.
const SETTLES_MAX: SignedDuration = SignedDuration::from_hours(3);
/// How far apart kubelets start at least, if not together: so many steps are fewer than nodes of a large cluster.
const START_STEP: SignedDuration = SignedDuration::from_millis(50);
/// How long a Lease lasts by default, in seconds, and which part of that is between renewals.
///
/// Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34), `NodeLeaseDurationSeconds`; pkg/kubelet/kubelet.go
/// (v1.34), `nodeLeaseRenewIntervalFraction`.
const LEASE: (i64, i64) = (40, 4);

/// Who would make or place Pods while those of a running cluster are put where they are.
const MAKERS: [&str; 7] = [
    "cronjob-controller",
    "daemonset-controller",
    "job-controller",
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "kube-scheduler",
];

/// The cluster of a question.
pub(super) struct Scene {
    pub(super) sim: Simulation,
    pub(super) lost: Vec<Text>,
    pub(super) how: How,
    /// What of a running cluster could not be made, by what it says.
    pub(super) left_out: Vec<LeftOut>,
    rules: Vec<RuleId>,
}

impl Scene {
    /// Makes the cluster, with nothing on its nodes yet.
    pub(super) fn begin(question: &Question) -> Result<Self, String> {
        let lost: Vec<Text> = question.lost()?.into_iter().map(|node| node.name.clone()).collect();
        let options = SimulationOptions {
            settings: question.settings.clone(),
            seed: question.seed,
            trace: false,
            ..SimulationOptions::default()
        };
        let mut scene =
            Self { sim: Simulation::new(options), lost, how: question.how, left_out: Vec::new(), rules: Vec::new() };
        scene.start(question)?;
        for node in &question.nodes {
            scene.dress(node)?;
        }
        Ok(scene)
    }

    /// Starts the kubelets at different moments between two renewals of a Lease, as those of a real cluster were.
    fn start(&mut self, question: &Question) -> Result<(), String> {
        let lasts = question.settings.kubelet_fields().get("nodeLeaseDurationSeconds").and_then(Json::as_i64);
        let between = SignedDuration::from_secs(lasts.unwrap_or(LEASE.0) / LEASE.1).min(REGISTERS / 2);
        let steps = u64::try_from(between.as_millis() / START_STEP.as_millis()).unwrap_or(0);
        let chance = Chance::new(question.seed).fork("plan/start");
        let step = |node: &Node| i32::try_from(chance.fork(&node.name).below(steps)).unwrap_or(0);
        let mut starts: Vec<(i32, &Node)> = question.nodes.iter().map(|node| (step(node), node)).collect();
        starts.sort_by_key(|(step, _)| *step);
        let began = self.sim.now();
        for (step, node) in starts {
            self.sim.advance_until(began + START_STEP * step);
            self.add(node)?;
        }
        self.sim.advance_until(began + REGISTERS);
        Ok(())
    }

    /// Makes objects, or puts those of a running cluster where they are.
    pub(super) fn fill(&mut self, question: &Question, objects: Vec<(String, Json)>) -> Result<(), String> {
        if let Workloads::Running(objects) = &question.workloads {
            self.put(objects)?;
        }
        for (place, object) in objects {
            let place = if place.is_empty() { place } else { format!("{place}: ") };
            if is_custom(&object) {
                self.leave_out("of a kind that is not Kubernetes' own".to_owned(), &object);
                continue;
            }
            let shown = title(&object);
            let call = self.creation(object).map_err(|why| format!("{place}{why}"))?;
            // As kubectl asks, so that a field which nobody knows is no field that was left out.
            let call = call.query("fieldValidation", "Strict");
            self.send(call).map_err(|why| format!("{place}{shown}: {why}"))?;
        }
        Ok(())
    }

    /// Lets the cluster come to rest, and waits for the moment of the loss.
    pub(super) fn rest(&mut self, question: &Question, given: &[Json]) -> Result<(), String> {
        let silent: Vec<&Node> = question.nodes.iter().filter(|node| node.is_silent).collect();
        if !silent.is_empty() {
            self.sim.advance_until(self.sim.now() + SETTLES);
            for node in &silent {
                let killed = self.sim.machine_do(&node.name, MachineAction::KubeletKill);
                killed.map_err(|error| format!("node {}: {error}", node.name))?;
            }
        }
        // Pods leave a silent node after minutes in which nothing is written.
        if !self.settle(if silent.is_empty() { SETTLES } else { QUIET }) {
            let what = format!("what went on before: the cluster did not come to rest within {SETTLES_MAX:#}");
            self.left_out.push(LeftOut { what, names: [].into() });
        }
        self.check(given)?;
        // Anywhere in the loops that look after lost nodes and their Pods.
        let moment = Chance::new(question.seed).fork("plan/loss").up_to(LOOP_PERIOD);
        self.sim.advance_until(self.sim.now() + moment);
        Ok(())
    }

    /// Puts the objects of a running cluster where they are. Their makers come when all of it is there, as after a
    /// restart: they find it, and make nothing anew. What the API server refuses is left out, with its message.
    fn put(&mut self, objects: &[Json]) -> Result<(), String> {
        for object in objects {
            if let Some(namespace) = object.at(&["metadata", "namespace"]).as_str() {
                self.ensure_namespace(namespace)?;
            }
        }
        // Until the namespaces have their accounts.
        self.sim.advance_until(self.sim.now() + REGISTERS);
        self.order(&ControllerAction::Stop)?;
        let mut uids: BTreeMap<Text, Json> = BTreeMap::new();
        for object in objects {
            let mut own = object.clone();
            let uid = own.remove(&["metadata", "uid"]);
            if let [owner] = object.at(&["metadata", "ownerReferences"]).items() {
                let mut owner = owner.clone();
                match owner.get("uid").as_text().and_then(|uid| uids.get(uid)) {
                    Some(uid) => owner.set(&["uid"], uid.clone()),
                    None => {
                        self.leave_out("its owner was refused".to_owned(), object);
                        continue;
                    }
                }
                own.set(&["metadata", "ownerReferences"], Json::array(vec![owner]));
            }
            match self.creation(own).and_then(|call| self.send(call)) {
                Ok(made) => {
                    let uid = uid.as_ref().and_then(Json::as_text).cloned().unwrap_or_default();
                    uids.insert(uid, made.at(&["metadata", "uid"]).clone());
                }
                Err(why) => self.leave_out(format!("refused by the simulated API server: {why}"), object),
            }
        }
        self.order(&ControllerAction::Start)
    }

    pub(super) fn order(&mut self, action: &ControllerAction) -> Result<(), String> {
        MAKERS.iter().try_for_each(|name| self.sim.controller_do(name, action).map_err(|error| error.to_string()))
    }

    fn leave_out(&mut self, what: String, object: &Json) {
        let name = Text::from(title(object));
        match self.left_out.iter_mut().find(|known| known.what == what) {
            Some(known) => drop(known.names.insert(name)),
            None => self.left_out.push(LeftOut { what, names: [name].into() }),
        }
    }

    /// Names the given Pods that are not where they were when the cluster has come to rest.
    fn check(&mut self, objects: &[Json]) -> Result<(), String> {
        let list = self.list(PODS)?;
        let name = |pod: &Json| {
            let text = |field: &str| pod.at(&["metadata", field]).as_text().cloned().unwrap_or_default();
            let namespace = Some(text("namespace")).filter(|namespace| !namespace.is_empty());
            (namespace.unwrap_or_else(|| Text::of("default")), text("name"))
        };
        let there: BTreeMap<(Text, Text), &Json> = list.iter().map(|pod| (name(pod), pod)).collect();
        let is_made = |object: &&Json| {
            let name = title(object);
            !self.left_out.iter().any(|left| left.names.contains(name.as_str()))
        };
        let made: Vec<&Json> =
            objects.iter().filter(|object| object.get("kind").as_str() == Some("Pod")).filter(is_made).collect();
        for object in made {
            let node = object.at(&["spec", "nodeName"]).as_str();
            let phase = |pod: &&Json| pod.at(&["status", "phase"]).as_str().unwrap_or("").to_owned();
            let what = match there.get(&name(object)) {
                None => "gone from the simulated cluster before anything was lost".to_owned(),
                Some(_) if node.is_none() => continue,
                Some(pod) if phase(pod) != "Running" => {
                    let message = pod.at(&["status", "message"]).as_str().unwrap_or("");
                    format!("{} in the simulated cluster before anything was lost: {message}", phase(pod))
                }
                Some(pod) if pod.at(&["spec", "nodeName"]).as_str() == node => continue,
                Some(_) => "on another node of the simulated cluster before anything was lost".to_owned(),
            };
            self.leave_out(what, object);
        }
        Ok(())
    }

    fn add(&mut self, node: &Node) -> Result<(), String> {
        let spec = MachineSpec {
            name: node.name.clone(),
            zone: node.zone.clone(),
            region: node.region.clone(),
            hardware: std::sync::Arc::clone(&node.hardware),
            kubelet: std::sync::Arc::clone(&node.kubelet),
            ..MachineSpec::default()
        };
        self.sim.add_machine(spec).map_err(|error| format!("node {}: {error}", node.name))?;
        self.sim.check_modelled(&node.name).map_err(|error| error.to_string())
    }

    /// Gives a Node the labels and taints that its kubelet does not.
    fn dress(&mut self, node: &Node) -> Result<(), String> {
        if node.labels.is_empty() && node.taints.is_empty() && !node.is_cordoned {
            return Ok(());
        }
        let mut patch = json!({});
        if node.is_cordoned {
            patch.set(&["spec", "unschedulable"], true);
        }
        for (key, value) in &node.labels {
            patch.set(&["metadata", "labels", key], value);
        }
        if !node.taints.is_empty() {
            patch.set(&["spec", "taints"], node.taints.iter().cloned().collect::<Json>());
        }
        self.patch((&NODES, "", &node.name), patch)
    }

    /// Changes an object by a merge patch.
    pub(super) fn patch(
        &mut self,
        (kind, namespace, name): (&Resource, &str, &str),
        patch: Json,
    ) -> Result<(), String> {
        let call = Call::new(Verb::Patch, kind.clone(), namespace, name)
            .header("content-type", "application/merge-patch+json")
            .body(patch);
        self.send(call).map(drop).map_err(|why| format!("{} {name}: {why}", kind.plural))
    }

    /// Returns the request that makes an object; its namespace is there then.
    fn creation(&mut self, object: Json) -> Result<Call, String> {
        let text = |path: &[&str]| object.at(path).as_str().unwrap_or("").to_owned();
        let (kind, api_version) = (text(&["kind"]), text(&["apiVersion"]));
        if kind.is_empty() || api_version.is_empty() {
            return Err(String::from("the object has no kind or no apiVersion"));
        }
        let found = find_kind(&kind).filter(|(resource, _)| resource.api_version() == api_version);
        let Some((resource, is_namespaced)) = found.filter(|(resource, _)| kind_of(resource) == Some(&kind)) else {
            return Err(format!("{api_version} {kind} is not modelled"));
        };
        let namespace = match (is_namespaced, object.at(&["metadata", "namespace"]).as_str()) {
            (false, _) => String::new(),
            (true, given) => given.unwrap_or("default").to_owned(),
        };
        if is_namespaced && namespace != "default" {
            self.ensure_namespace(&namespace)?;
        }
        Ok(Call::new(Verb::Create, resource, &namespace, "").body(object))
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

    /// Returns the objects of a kind.
    pub(super) fn list(&mut self, resource: Resource) -> Result<Vec<Json>, String> {
        Ok(self.send(Call::new(Verb::List, resource, "", ""))?.get("items").items().to_vec())
    }

    /// Lets time pass until nothing but heartbeats is written for some time; false if that does not come.
    pub(super) fn settle(&mut self, quiet: SignedDuration) -> bool {
        let end = self.sim.now() + SETTLES_MAX;
        self.sim.tap(Tap::Changes);
        let mut is_at_rest = false;
        while self.sim.now() < end && !is_at_rest {
            self.sim.advance_until(self.sim.now() + quiet);
            is_at_rest = self.sim.take_commits().is_empty();
        }
        self.sim.tap(Tap::Closed);
        is_at_rest
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
                How::Drain | How::Upgrade => return,
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
                How::Drain | How::Upgrade => return Ok(()),
                How::PowerOff | How::Shutdown => MachineAction::PowerOn { boot_id: None },
                How::KubeletKilled => MachineAction::KubeletStart,
                How::Freeze => MachineAction::Resume,
            };
            self.sim.machine_do(&name, action).map_err(|error| format!("{name}: {error}"))?;
        }
        Ok(())
    }
}

/// Tells whether an object is of a kind that a CustomResourceDefinition makes: their groups are domains. A group that
/// Kubernetes has itself is none of them, nor is one without a dot, as a slip of the pen has.
fn is_custom(object: &Json) -> bool {
    let (group, _) = Resource::group_and_version(object.get("apiVersion").as_str().unwrap_or(""));
    let mut own = kind_names().filter_map(find_kind);
    group.contains('.') && !own.any(|(resource, _)| resource.group == *group)
}

/// How many Pods a Deployment of the default has at most.
const REPLICAS_MAX: usize = 100;

/// Returns what runs where nothing is given.
pub(super) fn default_workloads(nodes: usize) -> Vec<(String, Json)> {
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
    let all = (0..nodes.div_ceil(REPLICAS_MAX)).map(web).chain([db, agent]);
    all.map(|object| (String::new(), object)).collect()
}
