//! Tests the contract of [`Component`] for all components at once: a cluster runs under a driver that wakes them too
//! early, twice, or too late.
//!
//! The driver is a small one of its own, without the simulator's shortcuts. The results must be the same:
//! * woken before anything is due, or twice at one instant: the same commits to the byte, at the same instants, and no
//!   output of the spurious wake-up itself;
//! * woken half a millisecond late each time, less than any pause that a component makes: per object the same writes by
//!   the same users in the same order, without instants, random names and heartbeats. More cannot be asked for: who is
//!   late still races with what is not, such as people;
//! * woken once after a long absence: a round that was missed many times is made once, so that nothing is due any more.
//!
//! Between any two inputs a component is polled until it has no output, and then once more, and its deadline is queried
//! twice.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::DEFAULT_START;
use crate::chance::Chance;
use crate::components::api_server::{ApiServer, Commit, ServerOutput, Tap};
use crate::components::cloud::{Cloud, CloudAction, Instance};
use crate::components::controller::{Context, Controller};
use crate::components::host::MachineSpec;
use crate::components::leader_election::LeaderElector;
use crate::components::machine::{Machine, MachineAction};
use crate::components::registry::{self, processes};
use crate::components::{Component, Output};
use crate::json;
use crate::network::{
    Ask, CERTIFICATE_REQUESTS, Call, ClientId, Delivery, Effect, Fault, Identity, LEASES, NAMESPACES, NODES, Network,
    PODS, Request, RequestId, Resource, ToClient, Verb,
};
use crate::objects::x509::{self, DistinguishedName};
use crate::objects::{Json, Object, Text, base64};
use crate::profile::Settings;

/// How the driver departs from waking each component exactly when it asked for that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TimerWheel {
    Exact,
    /// Whenever anything happens, and between any two instants, everything that is not due is woken.
    Early,
    /// Each wake-up comes twice.
    Double,
    /// Each wake-up comes so much later.
    Late(SignedDuration),
}

enum Actor {
    Controller(Box<dyn Controller>),
    Election(Box<LeaderElector>),
    Machine(Box<Machine>),
    Person,
}

struct Cluster {
    timers: TimerWheel,
    now: Timestamp,
    api: ApiServer,
    network: Network,
    cloud: Cloud,
    actors: Vec<(Text, Actor)>,
    commits: Vec<Commit>,
    refused: Vec<String>,
    asked: u64,
    /// The component that is not woken for now, and the messages that arrive for it meanwhile.
    absent: Option<ClientId>,
    held: Vec<ToClient>,
}

impl Cluster {
    fn new(timers: TimerWheel) -> Self {
        let mut settings = Settings::default();
        let routes = ("cloud-controller-manager.cluster-cidr", "10.244.0.0/16");
        for (flag, value) in [("allocate-node-cidrs", "true"), ("cluster-cidr", "10.244.0.0/16"), routes] {
            settings.set(flag, value).unwrap();
        }
        let (settings, chance, now) = (Arc::new(settings), Chance::new(7), DEFAULT_START);
        let context = |name: &str| Context { settings: settings.clone(), chance: chance.fork(name) };
        let mut api = ApiServer::new(context("api-server"), now);
        api.tap(Tap::Everything);
        let mut cluster = Self {
            timers,
            now,
            api,
            network: Network::new(chance.fork("network")),
            cloud: Cloud::default(),
            actors: Vec::new(),
            commits: Vec::new(),
            refused: Vec::new(),
            asked: 0,
            absent: None,
            held: Vec::new(),
        };
        // The instance of w2 is shut down, which counts once its Node is not ready.
        for (name, is_down) in [("w1", false), ("w2", true), ("w3", false)] {
            let instance = json!({"providerID": format!("test:///a/{name}"), "shutdown": is_down});
            let instance = Instance::from_json(&instance).unwrap();
            cluster.cloud.handle_action(CloudAction::Put(Text::of(name), Box::new(instance)));
        }
        cluster.add(Text::of("user/admin"), Actor::Person);
        for name in processes() {
            let path = format!("controller/{name}");
            let controller = registry::start(name, context(&path), now).unwrap();
            cluster.add(Text::from(path), Actor::Controller(controller));
        }
        let mut elects = Settings::default();
        elects.set("kube-scheduler.leader-elect", "true").unwrap();
        let election = LeaderElector::new("kube-scheduler", &elects, Chance::new(1).fork("election"), now).unwrap();
        cluster.add(Text::of("leader-election/kube-scheduler"), Actor::Election(Box::new(election)));
        for (name, zone) in [("w1", "a"), ("w2", "a"), ("w3", "b")] {
            let provider = if name == "w1" { "external" } else { "" };
            let spec = json!({"name": name, "zone": zone, "kubelet": {"flags": {"cloud-provider": provider}}});
            let spec = MachineSpec::from_json(&spec).unwrap();
            let machine = Machine::new(spec, context(&format!("kubelet/{name}")), now).unwrap();
            cluster.add(Text::from(format!("machine/{name}")), Actor::Machine(Box::new(machine)));
        }
        cluster.settle();
        cluster
    }

    fn add(&mut self, name: Text, actor: Actor) {
        let client = self.network.connect(name.clone());
        assert_eq!(client.0 as usize, self.actors.len());
        self.actors.push((name, actor));
        self.drain(client);
    }

    fn component(&mut self, client: ClientId) -> Option<&mut dyn Component> {
        match &mut self.actors[client.0 as usize].1 {
            Actor::Controller(controller) => Some(&mut **controller),
            Actor::Election(election) => Some(&mut **election),
            Actor::Machine(machine) => Some(&mut **machine),
            Actor::Person => None,
        }
    }

    fn clients(&self) -> impl Iterator<Item = ClientId> + use<> {
        (0..u32::try_from(self.actors.len()).unwrap()).map(ClientId)
    }

    /// Returns when a component asked to be woken.
    fn due(&mut self, client: ClientId) -> Option<Timestamp> {
        let component = self.component(client)?;
        let due = component.next_deadline();
        assert_eq!(due, component.next_deadline(), "asking when to wake is a pure query");
        due.map(|due| due.at)
    }

    /// Polls a component empty, and returns the number of its outputs.
    fn drain(&mut self, client: ClientId) -> usize {
        let mut count = 0;
        while let Some(output) = self.component(client).and_then(Component::poll_output) {
            count += 1;
            match output {
                Output::Request(request) => self.network.send(client, request, self.now),
                Output::Cancel(id) => self.network.cancel(client, id, self.now),
                Output::Exit => self.network.forget(client),
                Output::Decision(_) | Output::Log(_) | Output::Served(..) => {}
            }
        }
        assert!(self.component(client).and_then(Component::poll_output).is_none());
        count
    }

    /// Gives one input, with what the driver does to it beside.
    fn input(&mut self, client: ClientId, input: impl FnOnce(&mut Actor, Timestamp)) {
        let now = self.now;
        input(&mut self.actors[client.0 as usize].1, now);
        self.drain(client);
        self.wake_early();
    }

    fn wake(&mut self, client: ClientId) {
        let now = self.now;
        let times = if self.timers == TimerWheel::Double { 2 } else { 1 };
        for _ in 0..times {
            if let Some(component) = self.component(client) {
                component.handle_timeout(now);
            }
            self.drain(client);
        }
        self.wake_early();
    }

    /// Wakes everything that is not due: no output may follow.
    fn wake_early(&mut self) {
        if self.timers != TimerWheel::Early {
            return;
        }
        let now = self.now;
        for client in self.clients() {
            let due = self.due(client);
            if due.is_some_and(|at| at <= now) {
                continue;
            }
            if let Some(component) = self.component(client) {
                component.handle_timeout(now);
            }
            let name = self.actors[client.0 as usize].0.clone();
            assert_eq!(self.drain(client), 0, "{name} had nothing due at {now}, and did something");
            assert_eq!(self.due(client), due, "{name} had nothing due at {now}, and waits for another instant");
        }
        if self.api.next_deadline().is_none_or(|due| due.at > now) {
            self.api.handle_timeout(now);
            assert!(self.api.poll_output().is_none(), "the API server had nothing due at {now}");
        }
    }

    fn pump_api(&mut self) {
        while let Some(output) = self.api.poll_output() {
            match output {
                ServerOutput::ToClient { client, message } => self.network.reply(client, message, self.now),
                ServerOutput::Commit(commit) => self.commits.push(*commit),
                ServerOutput::Dial(_) => {}
            }
        }
    }

    fn settle(&mut self) {
        while let Some(delivery) = self.network.poll_delivery() {
            match delivery {
                Delivery::ToServer { client, request } => match &request.ask {
                    Ask::Cloud(call) => {
                        let (answer, takes) = self.cloud.answer(call);
                        let message = ToClient::Response { id: request.id, result: Ok(answer) };
                        self.network.reply_from_cloud(client, message, takes, self.now);
                    }
                    _ => self.api.handle_request(client, request, self.now),
                },
                Delivery::Cancelled { client, id } => self.api.handle_cancel(client, id),
                Delivery::Disconnected { client } => self.api.handle_disconnect(client),
                Delivery::ToClient { client, message } => self.take(client, message),
            }
            self.pump_api();
        }
    }

    fn take(&mut self, client: ClientId, message: ToClient) {
        if self.absent == Some(client) {
            self.held.push(message);
            return;
        }
        if let (Actor::Person, ToClient::Response { result: Ok(answer), .. }) =
            (&self.actors[client.0 as usize].1, &message)
            && !answer.is_success()
        {
            self.refused.push(answer.message());
        }
        self.input(client, |actor, now| match actor {
            Actor::Controller(controller) => controller.handle_message(message, now),
            Actor::Election(election) => election.handle_message(message, now),
            Actor::Machine(machine) => machine.handle_message(message, now),
            Actor::Person => {}
        });
    }

    /// Lets time pass; at each instant first the network, then the server, then the components in their order.
    fn advance(&mut self, until: Timestamp) {
        let late = if let TimerWheel::Late(late) = self.timers { late } else { SignedDuration::ZERO };
        loop {
            self.settle();
            let first = self.clients().filter(|client| self.absent != Some(*client));
            let first: Vec<ClientId> = first.collect();
            let first = first.into_iter().filter_map(|client| Some((self.due(client)? + late, client.0))).min();
            let api = self.api.next_deadline().map(|due| due.at + late);
            let next = [first.map(|(at, _)| at), api, self.network.next_deadline()].into_iter().flatten().min();
            let Some(next) = next.filter(|next| *next <= until) else { break };
            if self.timers == TimerWheel::Early && next > self.now {
                self.now += (next.duration_since(self.now)) / 2;
                self.wake_early();
            }
            self.now = self.now.max(next);
            self.network.handle_timeout(self.now);
            if api.is_some_and(|at| at <= self.now) {
                self.api.handle_timeout(self.now);
                self.pump_api();
            }
            self.settle();
            if let Some((_, client)) = first.filter(|(at, _)| *at <= self.now) {
                self.wake(ClientId(client));
            }
        }
        self.now = self.now.max(until);
    }

    fn ask(&mut self, call: Call) {
        self.asked += 1;
        let (id, ask) = (RequestId(self.asked), Ask::Call(Box::new(call)));
        let request = Request { id, identity: Identity::admin(), ask, timeout: None, because: None };
        self.network.send(ClientId(0), request, self.now);
        self.settle();
    }

    fn act(&mut self, machine: &str, action: &str) {
        let action = MachineAction::from_json(&json!({"action": action})).unwrap();
        let name = format!("machine/{machine}");
        let at = self.actors.iter().position(|(own, _)| **own == *name).unwrap();
        self.input(ClientId(u32::try_from(at).unwrap()), |actor, now| {
            if let Actor::Machine(machine) = actor {
                machine.handle_action(action, now).unwrap();
            }
        });
    }

    fn refuse(&mut self, client: &'static str, seconds: i64) {
        let fault = Fault { effect: Effect::Refuse, ..Fault::disconnect(client) };
        let rule = self.network.add_rule(fault, self.now);
        self.pass(seconds);
        self.network.remove_rule(rule, self.now);
    }

    fn pass(&mut self, seconds: i64) {
        self.advance(self.now + SignedDuration::from_secs(seconds));
    }
}

fn create(resource: Resource, namespace: &'static str, body: Json) -> Call {
    Call::new(Verb::Create, resource, namespace, "").body(body)
}

fn workload(kind: &'static str, replicas: Option<i64>) -> Json {
    let mut body = json!({"kind": kind, "apiVersion": "apps/v1", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": kind}},
            "template": {"metadata": {"labels": {"app": kind}},
                "spec": {"containers": [{"name": "main", "image": "pause"}]}}}});
    if let Some(replicas) = replicas {
        body.set(&["spec", "replicas"], replicas);
    }
    body
}

/// A cluster with something to do for each component.
fn started(timers: TimerWheel) -> Cluster {
    let mut cluster = Cluster::new(timers);
    cluster.pass(30);
    for (plural, kind, replicas) in [
        ("deployments", "Deployment", Some(3)),
        ("statefulsets", "StatefulSet", Some(2)),
        ("daemonsets", "DaemonSet", None),
    ] {
        cluster.ask(create(Resource::of("apps", "v1", plural), "default", workload(kind, replicas)));
    }
    let mut controller = workload("ReplicationController", Some(1));
    controller.set(&["apiVersion"], "v1");
    controller.remove(&["spec", "selector"]);
    cluster.ask(create(Resource::of("", "v1", "replicationcontrollers"), "default", controller));
    let service =
        json!({"metadata": {"name": "web"}, "spec": {"selector": {"app": "Deployment"}, "ports": [{"port": 80}]}});
    cluster.ask(create(Resource::of("", "v1", "services"), "default", service));
    let budget = json!({"kind": "PodDisruptionBudget", "apiVersion": "policy/v1", "metadata": {"name": "web"},
        "spec": {"minAvailable": "50%", "selector": {"matchLabels": {"app": "Deployment"}}}});
    cluster.ask(create(Resource::of("policy", "v1", "poddisruptionbudgets"), "default", budget));
    store(&mut cluster);
    let volume = json!({"name": "own", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}}}}}});
    let ephemeral = json!({"metadata": {"name": "ephemeral"}, "spec": {"volumes": [volume],
        "containers": [{"name": "main", "image": "pause"}]}});
    cluster.ask(create(PODS, "default", ephemeral));
    run_pods(&mut cluster);
    let subject = DistinguishedName {
        common_name: String::from("system:node:w4"),
        organizations: Vec::from([String::from("system:nodes")]),
    };
    let request = base64::encode(x509::request_pem(&subject, &[], &[]).as_bytes());
    let signing = json!({"metadata": {"name": "w4"}, "spec": {"request": request.as_str(),
        "signerName": "kubernetes.io/kube-apiserver-client-kubelet", "usages": ["digital signature", "client auth"]}});
    cluster.ask(create(CERTIFICATE_REQUESTS, "", signing));
    cluster.ask(create(NAMESPACES, "", json!({"metadata": {"name": "x"}})));
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": {"services": "9"}}});
    cluster.ask(create(Resource::of("", "v1", "resourcequotas"), "x", quota));
    let short = json!({"restartPolicy": "Never",
        "containers": [{"name": "main", "image": "busybox", "command": ["sleep", "5"]}]});
    let mut job = json!({"metadata": {"name": "work"}, "spec": {"ttlSecondsAfterFinished": 60}});
    job.set(&["spec", "template", "spec"], short);
    cluster.ask(create(Resource::of("batch", "v1", "jobs"), "default", job));
    let template = json!({"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main",
        "image": "busybox", "command": ["sleep", "5"]}]}}}});
    let cron = json!({"metadata": {"name": "tick"}, "spec": {"schedule": "*/2 * * * *",
        "concurrencyPolicy": "Replace", "successfulJobsHistoryLimit": 1, "jobTemplate": template}});
    cluster.ask(create(Resource::of("batch", "v1", "cronjobs"), "default", cron));
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "main", "image": "pause"}]}});
    cluster.ask(create(PODS, "x", pod));
    cluster.pass(30);
    cluster
}

/// Runs a cluster through changes and outages, so that requests are retried too.
fn run(timers: TimerWheel) -> Cluster {
    let mut cluster = started(timers);
    cluster.ask(Call::new(Verb::Delete, NAMESPACES, "", "x"));
    let taint = json!({"spec": {"taints": [{"key": "a", "effect": "NoExecute"}]}});
    cluster.ask(Call::strategic_patch(NODES, "", "w3", taint));
    cluster.pass(30);
    // All writers lose the server for a while, so that their requests are retried.
    for name in ["controller/replicaset-controller", "controller/kube-scheduler", "machine/w1"] {
        let untaint = json!({"spec": {"taints": [{"key": "a", "effect": "NoExecute", "$patch": "delete"}]}});
        cluster.ask(Call::strategic_patch(NODES, "", "w3", untaint));
        cluster.refuse(name, 20);
    }
    // The pod garbage collector deletes Pods that nothing else deletes.
    let alone = json!({"metadata": {"name": "alone"}, "spec": {"nodeName": "w3",
        "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": "main", "image": "pause"}]}});
    cluster.ask(create(PODS, "default", alone));
    cluster.act("w2", "kubelet-stop");
    cluster.pass(400);
    cluster.act("w3", "power-off");
    cluster.ask(Call::new(Verb::Delete, NODES, "", "w3"));
    cluster.pass(120);
    cluster.act("w2", "kubelet-start");
    // Certificate signing requests are removed an hour after they were signed, in hourly rounds.
    cluster.pass(2 * 60 * 60);
    assert!(cluster.refused.is_empty(), "{:?}", cluster.refused);
    for client in cluster.clients() {
        let name = &cluster.actors[client.0 as usize].0;
        assert!(cluster.commits.iter().any(|commit| commit.client == client), "{name} has written nothing");
    }
    cluster
}

/// Lets volumes be bound, attached and given back.
fn store(cluster: &mut Cluster) {
    const VOLUMES: Resource = Resource::of("", "v1", "persistentvolumes");
    const CLAIMS: Resource = Resource::of("", "v1", "persistentvolumeclaims");
    let driver = json!({"metadata": {"name": "d"}, "spec": {"attachRequired": true}});
    cluster.ask(create(Resource::of("storage.k8s.io", "v1", "csidrivers"), "", driver));
    for name in ["used", "spare"] {
        let mut volume = json!({"metadata": {"name": name}, "spec": {"capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"], "csi": {"driver": "d"}}});
        volume.set(&["spec", "csi", "volumeHandle"], name);
        cluster.ask(create(VOLUMES, "", volume));
        let claim = json!({"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": name,
            "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}});
        cluster.ask(create(CLAIMS, "default", claim));
    }
    let pod = json!({"metadata": {"name": "stored"}, "spec": {"nodeName": "w1",
        "containers": [{"name": "main", "image": "pause"}],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "used"}}]}});
    cluster.ask(create(PODS, "default", pod));
    cluster.pass(20);
    cluster.ask(Call::new(Verb::Delete, CLAIMS, "default", "spare"));
    cluster.pass(1);
    cluster.ask(Call::new(Verb::Delete, VOLUMES, "", "spare"));
}

/// Lets a kubelet start containers in their order, ask probes, measure volumes, wait for a hook, and start again what
/// crashes.
fn run_pods(cluster: &mut Cluster) {
    let pod = |name: &str, annotations: Json, spec: Json| {
        let mut pod = json!({"metadata": {"name": name, "annotations": annotations}, "spec": spec});
        pod.set(&["spec", "nodeName"], "w1");
        create(PODS, "default", pod)
    };
    let probed = json!({"initContainers": [
            {"name": "init", "image": "pause"},
            {"name": "side", "image": "pause", "restartPolicy": "Always",
                "startupProbe": {"exec": {"command": ["true"]}, "periodSeconds": 2}}],
        "containers": [{"name": "main", "image": "pause", "lifecycle": {"preStop": {"sleep": {"seconds": 2}}},
            "readinessProbe": {"exec": {"command": ["true"]},
                "initialDelaySeconds": 5, "periodSeconds": 4, "successThreshold": 2}}]});
    let alone = json!({"containers": [{"name": "main", "image": "pause"}]});
    // Between two ticks of its probe: whether one that is well at the very tick is found so depends on who is late.
    let behaviour = json!({"nodeproof.dev/main.ready-after": "7s", "nodeproof.dev/side.ready-after": "2500ms"});
    for (name, behaviour, spec) in [
        ("probed", behaviour, probed),
        ("slow", json!({"nodeproof.dev/main.ready-after": "3s"}), alone.clone()),
        ("crashing", json!({"nodeproof.dev/main.crashes-after": "3s"}), alone.clone()),
        (
            "full",
            json!({"nodeproof.dev/main.uses.volumes.data": "5Mi", "nodeproof.dev/main.stops-after": "never"}),
            json!({"volumes": [{"name": "data", "emptyDir": {"sizeLimit": "1Mi"}}],
                "containers": [{"name": "main", "image": "pause",
                    "volumeMounts": [{"name": "data", "mountPath": "/d"}]}]}),
        ),
    ] {
        cluster.ask(pod(name, behaviour, spec));
    }
    cluster.pass(150);
    for name in ["probed", "crashing"] {
        cluster.ask(Call::new(Verb::Delete, PODS, "default", name));
    }
    cluster.pass(40);
    let is = |name: &str, fact: &dyn Fn(&Json) -> bool| {
        let mut own = cluster.commits.iter().filter(|commit| commit.object.name() == name);
        own.any(|commit| fact(&commit.object.json()))
    };
    let ready = |pod: &Json| {
        let mut all = pod.at(&["status", "conditions"]).items().iter();
        all.any(|own| own.get("type").as_str() == Some("Ready") && own.get("status").as_str() == Some("True"))
    };
    assert!(is("probed", &ready) && is("slow", &ready));
    assert!(is("full", &|pod| pod.at(&["status", "reason"]).as_str() == Some("Evicted")));
}

/// Says all of a commit.
fn exactly(commit: &Commit) -> String {
    format!("{} {:?} {} {:?} {}", commit.at, commit.event, commit.identity.user, commit.verb, commit.object.json())
}

/// Returns the writers and verbs of each object, without heartbeats. Objects with random names are grouped by the start
/// of their name, Events by their reason.
fn roughly(cluster: &Cluster) -> BTreeMap<String, Vec<String>> {
    let mut objects: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for commit in &cluster.commits {
        let tree = commit.object.stable();
        let holder = ["spec", "holderIdentity"];
        let is_heartbeat = |before: &Object| {
            let before = before.stable();
            before.is_same_allocation(tree) || commit.resource == LEASES && before.at(&holder) == tree.at(&holder)
        };
        if commit.before.as_ref().is_some_and(is_heartbeat) {
            continue;
        }
        let text = |path: &[&str]| tree.at(path).as_str();
        let name = text(&["metadata", "generateName"]).or_else(|| text(&["reason"])).unwrap_or(commit.object.name());
        let writes = objects.entry(format!("{} {name}", commit.resource.plural)).or_default();
        writes.push(format!("{:?} {} {:?} {}", commit.event, commit.identity.user, commit.verb, commit.subresource));
    }
    objects
}

#[test]
fn a_wake_up_that_is_early_or_double_does_nothing_more_and_one_that_is_late_leads_to_the_same_writes() {
    let exact = run(TimerWheel::Exact);
    assert_same(&exact, &run(TimerWheel::Early));
    assert_same(&exact, &run(TimerWheel::Double));
    let (exact, late) = (roughly(&exact), roughly(&run(TimerWheel::Late(SignedDuration::from_micros(500)))));
    for (object, writes) in &exact {
        assert_eq!(Some(writes), late.get(object), "{object}");
    }
    assert_eq!(exact.len(), late.len());
}

fn assert_same(one: &Cluster, other: &Cluster) {
    for (one, other) in one.commits.iter().zip(&other.commits) {
        assert_eq!(exactly(one), exactly(other));
    }
    assert_eq!(one.commits.len(), other.commits.len());
    assert!(one.commits.len() > 400, "{}", one.commits.len());
}

#[test]
fn a_component_that_was_away_makes_what_it_missed_once() {
    let mut cluster = started(TimerWheel::Exact);
    for client in cluster.clients() {
        cluster.absent = Some(client);
        cluster.pass(100);
        cluster.absent = None;
        let name = cluster.actors[client.0 as usize].0.clone();
        cluster.wake(client);
        let due = cluster.due(client);
        assert!(due.is_none_or(|at| at > cluster.now), "{name} was woken and is late all the same");
        for message in core::mem::take(&mut cluster.held) {
            cluster.take(client, message);
        }
        cluster.pass(20);
    }
}
