//! The container runtime: sandboxes of pods, their containers, and when their processes end.
//!
//! Inputs: starts, stops and behaviours of containers, time. Outputs: the state of containers, when the next process
//! ends, and the pods whose processes have ended. Invariant: containers belong to the machine and not to the kubelet:
//! they run on while the kubelet is down, and end when the power fails.

mod behaviours;
mod commands;
mod hooks;
mod resizing;
mod role;
mod script;
mod stopping;
mod uses;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::behaviour::PodBehaviour;
use super::{ContainerLimits, uuid};
use crate::objects::{Json, Object, ObjectKey, Text};
pub use commands::CommandEnd;
pub use hooks::{Hook, port_error};
pub use role::ContainerRole;
use script::reason_of;
pub use script::{ContainerEnd, ContainerRun, RuntimeScript};
use stopping::Stop;
use uses::tells_uses;

/// Exit code of a process that SIGKILL ended: 128 + 9.
const KILLED: i64 = 137;
/// Exit code of containers that a reboot ended. Source: recordings of kubelet 1.34.4, reason `Unknown`.
const LOST: i64 = 255;
/// How long the containers of a removed sandbox are still listed: until the garbage collection, once a minute.
/// Source: pkg/kubelet/kubelet.go (v1.34), `ContainerGCPeriod`.
const KNOWN_AFTER_END: SignedDuration = SignedDuration::from_secs(60);
/// A signal that a process got.
pub type Signal = (Timestamp, &'static str);

/// What a container's process does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContainerState {
    /// It runs.
    Running,
    /// It ended.
    Exited {
        /// The instant.
        finished_at: Timestamp,
        /// The exit code.
        exit_code: i64,
        /// `Completed`, `Error`, `OOMKilled` or `Unknown`.
        reason: &'static str,
    },
}

/// A container.
#[derive(Clone, Debug)]
pub struct Container {
    /// Its name in the pod.
    pub name: Text,
    /// The runtime's id.
    pub id: Text,
    /// How often it was started before.
    pub restarts: u32,
    /// When its process started.
    pub started_at: Timestamp,
    /// What its process does.
    pub state: ContainerState,
    /// The signals that it got.
    pub signals: Vec<Signal>,
    /// What its cgroup limits.
    pub limits: Option<ContainerLimits>,
    /// The resources that it has, as its pod wrote them; `Null` if it ran before everything.
    pub resources: Json,
    /// The image, as the pod names it.
    pub image: Text,
    /// Whether its writable layer is on the disk: until somebody removes the ended container.
    pub(super) has_layer: bool,
    /// The run before, if there was one.
    pub before: Option<Box<Container>>,
    /// Whether its sandbox is gone and another one has taken its place.
    pub outlived_sandbox: bool,
    /// Whether the hook `preStop` has failed, or was still under way when it ended, which nobody was told yet.
    has_failed_hook: bool,
    /// Whether the hook `preStop` fails that is under way.
    hook_fails: bool,
    /// When the hook `preStop` ends that is under way.
    hook_ends: Option<Timestamp>,
    /// Whether that hook fails if the container ends before it.
    hook_is_command: bool,
    /// What is left to do until it gets SIGTERM, if it was told to end.
    stop: Option<Box<Stop>>,
    /// When it gets SIGKILL.
    kill_at: Option<Timestamp>,
    pub(super) ends: Option<(Timestamp, i64)>,
    /// Whether it ends because it uses more memory than it may.
    is_out_of_memory: bool,
    /// How a recording says that it ends.
    pub(super) scripted: Option<ContainerEnd>,
}

impl Container {
    /// Makes a container whose process has just started.
    pub(super) fn running(name: Text, id: Text, restarts: u32, started_at: Timestamp) -> Self {
        Self {
            name,
            id,
            restarts,
            started_at,
            state: ContainerState::Running,
            signals: Vec::new(),
            limits: None,
            resources: Json::Null,
            image: Text::default(),
            has_layer: true,
            before: None,
            outlived_sandbox: false,
            has_failed_hook: false,
            hook_fails: false,
            hook_ends: None,
            hook_is_command: false,
            stop: None,
            kill_at: None,
            ends: None,
            is_out_of_memory: false,
            scripted: None,
        }
    }

    /// Lets it end as a recording says.
    pub(super) fn end_as(&mut self, end: Option<ContainerEnd>) {
        self.ends = end.as_ref().map(|end| (end.at, end.exit_code));
        self.scripted = end;
    }

    /// Tells whether the process runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.state == ContainerState::Running
    }

    /// Returns the exit code of an ended process.
    #[must_use]
    pub const fn exit_code(&self) -> Option<i64> {
        match self.state {
            ContainerState::Running => None,
            ContainerState::Exited { exit_code, .. } => Some(exit_code),
        }
    }

    fn end(&mut self, at: Timestamp, exit_code: i64, reason: &'static str) {
        self.has_failed_hook |= self.hook_is_command && self.hook_ends.is_some_and(|ends| ends > at);
        self.forget_stop();
        self.ends = None;
        let (finished_at, reason) = match self.scripted.take() {
            Some(end) => (end.finished_at, reason_of(&end.reason)),
            None => (at, reason),
        };
        self.state = ContainerState::Exited { finished_at, exit_code, reason };
    }
}

/// The sandbox of a pod with its containers.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// Namespace and name of the pod.
    pub key: ObjectKey,
    /// Whether the sandbox itself runs; one that a power failure ended gets another address with its next container.
    pub is_ready: bool,
    /// The address; empty for a pod in the host's network.
    pub ip: Text,
    /// The containers, the latest of each name.
    pub containers: Vec<Container>,
    /// The specification of the pod with the resources that the kubelet gave it.
    pub given: Json,
    /// The annotations of the pod, which may say what its containers use.
    annotations: Json,
    /// The volumes of the pod that have something in them; none once the pod has ended and was cleaned up.
    volumes: Json,
}

impl Sandbox {
    /// Returns the container of a name.
    #[must_use]
    pub fn container(&self, name: &str) -> Option<&Container> {
        self.containers.iter().find(|container| *container.name == *name)
    }

    /// Tells whether any process runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.containers.iter().any(Container::is_running)
    }
}

/// What runs on a machine.
#[derive(Clone, Debug, Default)]
pub struct Runtime {
    sandboxes: BTreeMap<Text, Sandbox>,
    /// Removed sandboxes, and when they were removed; their containers are listed until the garbage collection.
    removed: Vec<(Timestamp, Text, Sandbox)>,
    behaviours: Vec<(ObjectKey, PodBehaviour)>,
    last_address: u32,
    /// Whether it is stopped, as by SIGSTOP, so that calls of it hang.
    is_frozen: bool,
    /// Whether some container was ever told to use something.
    is_told_uses: bool,
    /// What a recording decided for the containers.
    pub(super) script: Option<Box<RuntimeScript>>,
    /// What probes found, by UID of the pod and name of the container.
    pub(super) readiness: BTreeMap<(Text, Text), bool>,
}

impl Runtime {
    /// Returns the sandboxes by the UID of their pod.
    pub fn sandboxes(&self) -> impl Iterator<Item = (&Text, &Sandbox)> {
        self.sandboxes.iter()
    }

    /// Returns the sandbox of a pod.
    #[must_use]
    pub fn sandbox(&self, uid: &str) -> Option<&Sandbox> {
        self.sandboxes.get(uid)
    }

    /// Returns a container of a pod, the latest of its name.
    #[must_use]
    pub fn container(&self, uid: &str, name: &str) -> Option<&Container> {
        self.sandbox(uid)?.container(name)
    }

    /// Makes the sandbox of a pod unless it has one that is ready; returns the pod's UID.
    pub fn make_sandbox(&mut self, pod: &Object, pod_cidr: Option<&str>) -> Text {
        let uid = Text::from(pod.uid());
        if self.sandbox(&uid).is_none_or(|sandbox| !sandbox.is_ready) {
            let mut sandbox = self.new_sandbox(pod, pod_cidr);
            if let Some(dead) = self.sandboxes.remove(&uid) {
                sandbox.containers = dead.containers;
                sandbox.containers.iter_mut().for_each(|container| container.outlived_sandbox = true);
            }
            self.sandboxes.insert(uid.clone(), sandbox);
        }
        uid
    }

    /// Starts a container; for the first one of a pod, the sandbox too.
    pub fn start(&mut self, pod: &Object, container: &str, restarts: u32, pod_cidr: Option<&str>, now: Timestamp) {
        let behaviour = self.behaviour(pod, container);
        let uid = self.make_sandbox(pod, pod_cidr);
        let key = (uid, Text::from(container));
        let run = self.script.as_mut().and_then(|script| script.runs.get_mut(&key)?.pop_front());
        let id = self.recorded_id(&key.0, &key.1, restarts);
        let id = id.unwrap_or_else(|| container_id(&key.0, container, restarts));
        let Some(sandbox) = self.sandboxes.get_mut(&key.0) else { return };
        let found = ContainerRole::find(pod, container);
        let image = found.and_then(|(_, own)| own.get("image").as_text()).cloned().unwrap_or_default();
        let is_init = found.is_some_and(|(role, _)| role == ContainerRole::Init);
        let at = sandbox.containers.iter().position(|own| *own.name == *container);
        let before = at.map(|at| sandbox.containers.remove(at));
        let mut started = Container::running(key.1.clone(), id, restarts, now);
        started.image = image;
        started.resources = found.map(|(_, own)| own.get("resources").clone()).unwrap_or_default();
        let end = |after| now.checked_add(after).unwrap_or(Timestamp::MAX);
        started.ends = behaviour.own_end(is_init).map(|(after, exit_code)| (end(after), exit_code));
        // The runtime keeps one dead container beside the present one.
        started.before = before.map(|own| Container { before: None, ..own }.into());
        if let Some(run) = run {
            started.started_at = run.started_at;
            started.end_as(run.end);
        }
        sandbox.containers.push(started);
        if self.script.is_some() {
            self.readiness.remove(&key);
            if has_readiness_probe(pod, container) {
                self.readiness.insert(key, false);
            }
        }
    }

    /// Sets what the cgroup of a container limits; a process that uses more memory ends.
    pub fn limit(&mut self, uid: &str, container: &str, limits: ContainerLimits, now: Timestamp) {
        let sandbox = self.sandboxes.get_mut(uid);
        if let Some(own) = sandbox.and_then(|own| own.containers.iter_mut().find(|own| *own.name == *container)) {
            own.limits = Some(limits);
            self.end_over_limit(uid, now);
        }
    }

    /// Notes what a readiness probe found.
    pub fn note_probe(&mut self, uid: &Text, container: &Text, is_ready: bool) {
        self.readiness.insert((uid.clone(), container.clone()), is_ready);
    }

    /// Returns what the probe of a container found; `None` if none did.
    #[must_use]
    pub fn probed(&self, uid: &Text, container: &Text) -> Option<bool> {
        if self.readiness.is_empty() {
            return None;
        }
        self.readiness.get(&(uid.clone(), container.clone())).copied()
    }

    /// Lets the containers of a copy of a pod run as those of the pod itself do.
    pub fn run_copy(&mut self, pattern: &Sandbox, pod: &Object, pod_cidr: Option<&str>) -> &Sandbox {
        let mut sandbox = self.new_sandbox(pod, pod_cidr);
        sandbox.containers.clone_from(&pattern.containers);
        for container in &mut sandbox.containers {
            container.id = container_id(pod.uid(), &container.name, container.restarts);
        }
        self.sandboxes.entry(Text::from(pod.uid())).insert_entry(sandbox).into_mut()
    }

    pub(super) fn insert(&mut self, uid: Text, sandbox: Sandbox) {
        self.sandboxes.insert(uid, sandbox);
    }

    pub(super) fn new_sandbox(&mut self, pod: &Object, pod_cidr: Option<&str>) -> Sandbox {
        let annotations = pod.stable().at(&["metadata", "annotations"]).clone();
        self.is_told_uses |= tells_uses(&annotations);
        let spec = pod.stable().get("spec");
        let is_host_network = spec.get("hostNetwork").as_bool() == Some(true);
        let recorded = self.script.as_ref().and_then(|script| script.addresses.get(pod.uid()));
        let ip = if is_host_network {
            Text::default()
        } else if let Some(address) = recorded {
            address.clone()
        } else {
            self.last_address += 1;
            // The first addresses of the range are the network's own and the bridge's.
            let network = pod_cidr.and_then(|cidr| cidr.rsplit_once('.')).map_or("10.88.0", |(network, _)| network);
            Text::from(format!("{network}.{}", 1 + self.last_address % 250))
        };
        let volumes = spec.get("volumes").clone();
        let key = pod.key();
        let given = spec.clone();
        Sandbox { key, is_ready: true, ip, containers: Vec::new(), given, annotations, volumes }
    }

    /// Forgets which processes are to get SIGKILL: the process that waited for that is gone.
    ///
    /// Source: github.com/containerd/containerd internal/cri/server/container_stop.go (v2.1), `stopContainer`: without
    /// its caller it returns before the signal.
    pub fn forget_stops(&mut self) {
        let containers = self.sandboxes.values_mut().flat_map(|sandbox| &mut sandbox.containers);
        containers.for_each(Container::forget_stop);
    }

    /// Removes a sandbox with its processes.
    pub fn remove(&mut self, uid: &str, now: Timestamp) {
        let Some(mut sandbox) = self.sandboxes.remove(uid) else { return };
        for container in sandbox.containers.iter_mut().filter(|container| container.is_running()) {
            container.end(now, KILLED, "Error");
        }
        self.removed.retain(|(at, ..)| is_known(*at, now));
        self.removed.push((now, Text::from(uid), sandbox));
    }

    /// Stops a sandbox whose processes have ended: what runs next needs another one.
    pub fn stop_sandbox(&mut self, uid: &str) {
        if let Some(sandbox) = self.sandboxes.get_mut(uid) {
            sandbox.is_ready = false;
        }
    }

    /// Ends all processes: the power is gone.
    pub fn lose(&mut self, now: Timestamp) {
        for sandbox in self.sandboxes.values_mut() {
            sandbox.is_ready = false;
            for container in sandbox.containers.iter_mut().filter(|container| container.is_running()) {
                container.end(now, LOST, "Unknown");
            }
        }
    }

    /// Ends the processes whose time has come, and returns the pods that they belong to.
    pub fn advance(&mut self, now: Timestamp) -> Vec<Text> {
        let mut changed = Vec::new();
        let conduct = self.conduct();
        for (uid, sandbox) in &mut self.sandboxes {
            if sandbox.advance(conduct, now) {
                changed.push(uid.clone());
            }
        }
        changed
    }

    /// Returns the containers of a pod whose hook `preStop` has failed since this was asked last.
    pub fn take_failed_hooks(&mut self, uid: &str) -> Vec<Text> {
        let containers = self.sandboxes.get_mut(uid).into_iter().flat_map(|sandbox| &mut sandbox.containers);
        let taken = containers.filter_map(|own| core::mem::take(&mut own.has_failed_hook).then(|| own.name.clone()));
        taken.collect()
    }

    /// Returns when the next process ends, or gets a signal.
    #[must_use]
    pub fn next_end(&self) -> Option<Timestamp> {
        if self.sandboxes.is_empty() {
            return None;
        }
        let containers = self.sandboxes.values().flat_map(|sandbox| &sandbox.containers);
        let conduct = self.conduct();
        containers.filter(|own| own.is_running()).filter_map(|own| own.next_step(conduct)).min()
    }

    /// Returns how many pods have a container that runs, and how many such containers there are.
    #[must_use]
    pub fn running(&self) -> (usize, usize) {
        let running = |sandbox: &Sandbox| sandbox.containers.iter().filter(|own| own.is_running()).count();
        let counts = || self.sandboxes.values().map(running).filter(|count| *count > 0);
        (counts().count(), counts().sum())
    }

    /// Shows the containers as `GET machines/NAME` does, by their pods; those of a pod's removed sandboxes come first,
    /// with the instant of the removal.
    #[must_use]
    pub fn describe(&self, now: Timestamp, wall: impl Fn(Timestamp) -> Timestamp) -> Json {
        use crate::objects::time::to_micro_time;
        let mut list = Vec::new();
        let removed = self.removed.iter().filter(|(at, ..)| is_known(*at, now));
        let removed = removed.map(|(at, _, sandbox)| (Some(*at), sandbox));
        let mut all: Vec<_> = removed.chain(self.sandboxes.values().map(|sandbox| (None, sandbox))).collect();
        all.sort_by(|(_, own), (_, other)| own.key.cmp(&other.key));
        for (removed_at, sandbox) in all {
            for container in &sandbox.containers {
                let mut shown = crate::json!({
                    "namespace": sandbox.key.namespace.as_str(), "pod": sandbox.key.name.as_str(),
                    "container": container.name.as_str(), "restarts": container.restarts,
                    "startedAt": to_micro_time(wall(container.started_at)),
                });
                match container.state {
                    ContainerState::Running => {
                        shown.set(&["state"], "running");
                        shown.set(&["finishedAt"], Json::Null);
                        shown.set(&["exitCode"], Json::Null);
                    }
                    ContainerState::Exited { finished_at, exit_code, .. } => {
                        shown.set(&["state"], "exited");
                        shown.set(&["finishedAt"], to_micro_time(wall(finished_at)));
                        shown.set(&["exitCode"], exit_code);
                    }
                }
                let signals: Json = container
                    .signals
                    .iter()
                    .map(|(at, signal)| crate::json!({"at": to_micro_time(wall(*at)), "signal": signal}))
                    .collect();
                shown.set(&["signals"], signals);
                shown.set(&["limits"], container.limits.map_or_else(Json::object, |limits| limits.json()));
                let told = self.behaviour_of(&sandbox.key, &sandbox.annotations, &container.name).uses;
                shown.set(&["uses"], if told.is_null() { Json::object() } else { told });
                if let Some(at) = removed_at {
                    shown.set(&["removedAt"], to_micro_time(wall(at)));
                }
                list.push(shown);
            }
        }
        Json::array(list)
    }
}

impl Runtime {
    /// Returns the id of a pod's sandbox: 64 hexadecimal digits.
    #[must_use]
    pub fn sandbox_id(&self, uid: &str) -> Text {
        container_id(uid, "", 0)
    }
}

fn has_readiness_probe(pod: &Object, container: &str) -> bool {
    ContainerRole::find(pod, container).is_some_and(|(_, item)| !item.get("readinessProbe").is_null())
}

/// Tells whether containers that were removed at an instant are still listed.
fn is_known(removed_at: Timestamp, now: Timestamp) -> bool {
    now.duration_since(removed_at) < KNOWN_AFTER_END
}

/// Makes the 64 hexadecimal digits of a container's id.
fn container_id(uid: &str, container: &str, restarts: u32) -> Text {
    let half = |salt: &str| uuid(&format!("{salt}/{uid}/{container}/{restarts}")).replace('-', "");
    Text::from(format!("{}{}", half("a"), half("b")))
}
