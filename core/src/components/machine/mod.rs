//! A machine: the host under a kubelet, with its power, its container runtime and its clock.
//!
//! Mirrors what a kubelet needs of a Linux host, and the systemd unit that starts it. Faults act here and on the
//! network, never on the kubelet's insides.
//! Inputs: messages for its kubelet, actions, time. Outputs: those of the kubelet, under the client `machine/NAME`.
//! Invariants: on a frozen machine nothing runs; messages for a frozen machine or kubelet wait; containers outlive the
//! kubelet's process.

mod action;
mod describe;
mod doing;
mod resources;
mod serving;
mod shutdown;
mod surroundings;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::controller::Context;
use super::host::{CniSource, Host};
pub use super::host::{Manifest, Manifests};
use super::kubelet::config::{KubeletConfig, settings_of};
use super::kubelet::{IdleLoops, Kubelet, KubeletContext};
pub use super::kubelet::{MeasuredPod, RecordedChoices, RecordedEvictions};
use super::{Component, Deadline, Outbox, Output, earliest};
use crate::network::{Identity, RequestId, ToClient};
use crate::objects::{Json, Object, ObjectKey, Text};
use crate::profile::Settings;

pub use super::host::runtime::{ContainerEnd, ContainerRole, ContainerRun, RuntimeScript};
pub use super::host::{
    BEHAVIOUR_PREFIX, ContainerBehaviour, Credentials, Free, Hardware, KUBECONFIG, KubeletSpec, MachineSpec,
    PodBehaviour, Resource, ToldHints,
};
pub use action::{MACHINE_ACTIONS, MachineAction};
pub use serving::{refused, unreachable};
use shutdown::AnnouncedShutdown;

/// Pause after which systemd restarts a kubelet that ended by itself.
/// Source: kubernetes/release cmd/krel/templates/latest/kubelet/kubelet.service (`Restart=always`, `RestartSec=10`).
const RESTART_PAUSE: SignedDuration = SignedDuration::from_secs(10);

/// Why a machine or its kubelet refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// The kubelet refuses to start, with the message that it prints.
    #[error("{0}")]
    KubeletRefuses(String),
    /// The action does not fit the machine's state.
    #[error("{0}")]
    Misuse(String),
    /// The action is one that cannot be simulated yet.
    #[error("{0} is not modelled yet")]
    NotModelled(String),
}

/// A machine and its kubelet. It keeps the contract of [`Component`]. The kubelet is the first field, since most inputs
/// are for it.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Machine {
    kubelet: Option<Kubelet>,
    outbox: Outbox,
    host: Host,
    settings: Arc<Settings>,
    context: Context,
    kubelet_spec: Arc<KubeletSpec>,
    /// The node name with which the kubelet first joined, which its certificate names.
    joined: Option<Text>,
    /// How often the kubelet was started: each process has a random generator of its own.
    starts: u32,
    restart_at: Option<Timestamp>,
    /// The shutdown that logind has announced.
    shutdown: Option<AnnouncedShutdown>,
    is_powered: bool,
    /// Whether other processes want all of its CPUs.
    is_loaded: bool,
    /// What is frozen, and the inputs that wait; `None` while everything runs.
    frozen: Option<FrozenState>,
    /// The last log line of the last kubelet that ended.
    last_log: String,
    /// What a recording shows of its kubelets' free choices.
    choices: Option<RecordedChoices>,
}

/// What is frozen, and the inputs that wait.
#[derive(Clone, Debug)]
struct FrozenState {
    /// Whether all of the machine is frozen, or the kubelet alone.
    scope: FreezeScope,
    /// The messages that arrived.
    messages: Vec<ToClient>,
    /// The pods of which containers ended.
    ended: Vec<Text>,
    /// Signals of logind: true for a shutdown, false for a cancellation.
    signals: Vec<bool>,
}

/// How much of a machine is frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FreezeScope {
    /// All of it.
    Machine,
    /// The process of the kubelet.
    Kubelet,
}

/// The pods that run on a machine when a recording begins, by UID, and the manifests in its folder of static pods.
pub type RunningPods<'a> = (&'a [(Text, Object)], Vec<(Text, Manifest)>);

impl Machine {
    /// Powers a machine on and starts its kubelet.
    ///
    /// # Errors
    /// The kubelet refuses to start.
    pub fn new(spec: MachineSpec, context: Context, now: Timestamp) -> Result<Self, MachineError> {
        let mut machine = Self::off(spec, context);
        if machine.is_powered {
            machine.start_kubelet(now)?;
        }
        Ok(machine)
    }

    /// Makes a machine of a recording: its kubelet makes the choices that the recording shows, its containers do what
    /// the recording says, and those of the given pods run already.
    ///
    /// # Errors
    /// The kubelet refuses to start.
    pub fn recorded(
        spec: MachineSpec,
        context: Context,
        (choices, script): (RecordedChoices, RuntimeScript),
        (pods, manifests): RunningPods<'_>,
        now: Timestamp,
    ) -> Result<Self, MachineError> {
        let mut machine = Self::off(spec, context);
        machine.host.runtime.follow(script);
        for (uid, pod) in pods {
            machine.host.runtime.take_over(uid, pod);
        }
        for (file, manifest) in manifests {
            machine.host.manifests.restore(file, manifest);
        }
        machine.host.manifests.recorded = choices.static_hashes.clone();
        let has_network = machine.host.runtime.sandboxes().any(|(_, sandbox)| !sandbox.ip.is_empty());
        machine.host.is_cni_installed |= has_network && machine.host.spec.cni == CniSource::WithPodCidr;
        machine.host.has_served_plugins = choices.last_post.is_some();
        machine.choices = Some(choices);
        machine.start_kubelet(now)?;
        if let Some(choices) = &mut machine.choices {
            choices.last_post = None;
        }
        Ok(machine)
    }

    /// Makes a machine whose kubelet does not run yet.
    fn off(spec: MachineSpec, context: Context) -> Self {
        let kubelet_spec = spec.kubelet.clone();
        let is_powered = spec.powered;
        Self {
            settings: settings_of(&kubelet_spec, &context.settings),
            host: Host::new(spec),
            context,
            kubelet_spec,
            kubelet: None,
            joined: None,
            starts: 0,
            restart_at: None,
            shutdown: None,
            is_powered,
            is_loaded: false,
            frozen: None,
            last_log: String::new(),
            choices: None,
            outbox: Outbox::default(),
        }
    }

    /// Returns the machine's name.
    #[must_use]
    pub fn name(&self) -> &Text {
        &self.host.spec.name
    }

    /// Returns the name of its kubelet's Node, or of the last kubelet's.
    #[must_use]
    pub fn node_name(&self) -> Text {
        match &self.kubelet {
            Some(kubelet) => kubelet.config().node_name.clone(),
            None => self.host.spec.node_name.clone().unwrap_or_else(|| self.host.spec.name.clone()),
        }
    }

    /// Checks that what the kubelet was told is modelled.
    ///
    /// # Errors
    /// It was told something that it accepts and whose effect is not modelled.
    pub fn check_modelled(&self) -> Result<(), MachineError> {
        match self.kubelet.as_ref().and_then(|kubelet| kubelet.config().all_not_modelled().next()) {
            Some(what) => Err(MachineError::NotModelled(what.clone())),
            None => Ok(()),
        }
    }

    /// Notes what a readiness probe of a container found.
    pub fn handle_probe(&mut self, uid: &Text, container: &Text, is_ready: bool, now: Timestamp) {
        self.host.runtime.note_probe(uid, container, is_ready);
        self.with_kubelet(now, |kubelet, turn| kubelet.handle_probe(uid, turn));
    }

    /// Lets the kubelet do something, unless it is frozen.
    fn with_kubelet(&mut self, now: Timestamp, call: impl FnOnce(&mut Kubelet, &mut KubeletContext<'_>)) {
        if let (Some(kubelet), None) = (&mut self.kubelet, &self.frozen) {
            call(kubelet, &mut KubeletContext { host: &mut self.host, outbox: &mut self.outbox, now });
        }
    }

    /// Returns what the kubelet finds on the machine.
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the kubelet's process.
    #[must_use]
    pub fn kubelet(&self) -> Option<&Kubelet> {
        self.kubelet.as_ref()
    }

    /// Returns the Lease on which the kubelet's next renewal is based: the fields that
    /// [`crate::network::Ask::RenewLease`] leaves out, for drivers that send it in full.
    #[must_use]
    pub fn lease(&self) -> Option<&Object> {
        self.kubelet.as_ref()?.lease_in_hand()
    }

    /// Returns the loops of the kubelet, if nothing else is under way on the machine.
    pub(crate) fn idle_loops(&self) -> Option<IdleLoops> {
        let runs = self.is_powered && self.frozen.is_none() && !self.goes_down();
        self.kubelet.as_ref().filter(|_| runs)?.idle_loops(&self.host)
    }

    /// Takes the loops back.
    pub(crate) fn take_idle_loops(&mut self, loops: &IdleLoops) {
        self.outbox.skip_ids(loops.renewals().into());
        if let Some(kubelet) = &mut self.kubelet {
            kubelet.take_idle_loops(loops);
        }
    }

    /// Takes a bookmark that changes nothing but a revision; false if it has to be taken as any other message.
    pub(crate) fn handle_bookmark(&mut self, id: RequestId, resource_version: u64) -> bool {
        self.frozen.is_none()
            && self.kubelet.as_mut().is_some_and(|kubelet| kubelet.handle_bookmark(id, resource_version))
    }

    /// Removes the files that tell the policies of CPU manager and memory manager, as somebody who changes them has to.
    pub fn forget_manager_policies(&mut self) {
        self.host.manager_policies = None;
    }

    fn start_kubelet(&mut self, now: Timestamp) -> Result<(), MachineError> {
        self.restart_at = None;
        let mut config =
            KubeletConfig::resolve(&self.host.spec, &self.kubelet_spec, &self.settings).map_err(|message| {
                self.last_log.clone_from(&message);
                MachineError::KubeletRefuses(message)
            })?;
        let before = self.host.manager_policies;
        match before.and_then(|before| config.topology.changed_policy(before)) {
            Some(message) => config.late_failure = Some(message),
            None => self.host.manager_policies = Some(config.topology.state_policies()),
        }
        if let Some(message) = config.late_failure.clone().filter(|_| self.choices.is_none()) {
            self.last_log.clone_from(&message);
            return Err(MachineError::KubeletRefuses(message));
        }
        // A kubelet under another node name keeps its old certificate: a request for a certificate of another name is
        // not approved.
        // Source: pkg/controller/certificates/approver/sarapprove.go (v1.34), `isSelfNodeClientCert`.
        let joined = self.joined.get_or_insert_with(|| config.node_name.clone());
        if *joined != config.node_name && config.identity == Identity::kubelet(&config.node_name) {
            config.identity = Identity::kubelet(joined);
        }
        self.starts += 1;
        let chance = self.context.chance.fork(&format!("start/{}", self.starts));
        let mut turn = KubeletContext { host: &mut self.host, outbox: &mut self.outbox, now };
        let choices = self.choices.as_ref();
        self.kubelet = Some(Kubelet::new(Arc::new(config), self.settings.clone(), chance, choices, &mut turn));
        Ok(())
    }

    fn stop_kubelet(&mut self, signal: &str) -> Result<(), MachineError> {
        self.restart_at = None;
        self.frozen = None;
        self.end_kubelet_calls();
        let Some(kubelet) = self.kubelet.take() else {
            return Err(MachineError::Misuse(format!("the kubelet of machine {} does not run", self.name())));
        };
        self.last_log = kubelet.last_log().to_string();
        self.outbox.push(Output::Log(format!("kubelet ended by {signal}")));
        self.outbox.push(Output::Exit);
        Ok(())
    }

    fn restart_kubelet(&mut self, spec: Option<Arc<KubeletSpec>>, now: Timestamp) -> Result<(), MachineError> {
        if self.kubelet.is_some() {
            self.stop_kubelet("SIGTERM")?;
        }
        if self.go_down_if_due(now) {
            return Ok(());
        }
        if let Some(spec) = spec {
            self.settings = settings_of(&spec, &self.context.settings);
            self.kubelet_spec = spec;
        }
        self.start_kubelet(now)
    }

    fn is_paused(&self) -> bool {
        self.frozen.as_ref().is_some_and(|frozen| frozen.scope == FreezeScope::Machine)
    }

    fn freeze(&mut self, scope: FreezeScope, now: Timestamp) {
        if let Some(kubelet) = &mut self.kubelet {
            kubelet.freeze_runtime_state(now);
        }
        self.frozen = Some(FrozenState { scope, messages: Vec::new(), ended: Vec::new(), signals: Vec::new() });
    }

    /// Timers come before what has arrived: a process that continues handles expired timers before it reads its
    /// sockets.
    fn go_on(&mut self, now: Timestamp) {
        let Some(frozen) = self.frozen.take() else { return };
        if let (Some(kubelet), false) = (&mut self.kubelet, frozen.ended.is_empty()) {
            kubelet.handle_ended(
                &frozen.ended,
                &mut KubeletContext { host: &mut self.host, outbox: &mut self.outbox, now },
            );
        }
        self.note_usage(now);
        self.read_manifests(now);
        self.handle_timeout(now);
        self.hand_over_signals(&frozen.signals, now);
        for message in frozen.messages {
            self.handle_message(message, now);
        }
    }

    fn power_off(&mut self, now: Timestamp) -> Result<(), MachineError> {
        if !self.is_powered {
            return Err(MachineError::Misuse(format!("machine {} has no power already", self.name())));
        }
        self.lose_power(now);
        Ok(())
    }

    fn lose_power(&mut self, now: Timestamp) {
        // Processes that ended before the power failed have ended by themselves.
        if !self.is_paused() {
            self.host.runtime.advance(now);
        }
        self.frozen = None;
        (self.is_powered, self.is_loaded) = (false, false);
        self.restart_at = None;
        self.shutdown = None;
        self.end_kubelet_calls();
        if let Some(kubelet) = self.kubelet.take() {
            self.last_log = kubelet.last_log().to_string();
            self.outbox.push(Output::Exit);
        }
        self.host.runtime.lose(now);
    }

    fn power_on(&mut self, boot_id: Option<Text>, now: Timestamp) -> Result<(), MachineError> {
        self.is_powered = true;
        self.host.boot(boot_id);
        self.start_kubelet(now)
    }

    /// Schedules the restart of a kubelet that ended by itself, as systemd does.
    fn handle_kubelet_exit(&mut self, now: Timestamp) {
        let Some(words) = self.kubelet.as_mut().and_then(|kubelet| kubelet.take_fatal()) else { return };
        self.kubelet = None;
        self.end_kubelet_calls();
        self.outbox.push(Output::Log(words.clone()));
        self.outbox.push(Output::Exit);
        self.last_log = words;
        // A recording says itself when a process was started again.
        self.restart_at = Some(now + RESTART_PAUSE).filter(|_| self.choices.is_none());
    }
}

impl Component for Machine {
    fn handle_message(&mut self, message: ToClient, now: Timestamp) {
        if let Some(frozen) = &mut self.frozen {
            frozen.messages.push(message);
            return;
        }
        if let Some(kubelet) = &mut self.kubelet {
            kubelet
                .handle_message(message, &mut KubeletContext { host: &mut self.host, outbox: &mut self.outbox, now });
            self.handle_kubelet_exit(now);
            self.handle_shutdown_timeout(now);
        }
    }

    fn handle_timeout(&mut self, now: Timestamp) {
        if self.is_paused() || !self.is_powered {
            return;
        }
        // A kubelet whose time ends now still does what is due now.
        if !self.host.logind.is_inhibited && self.handle_shutdown_timeout(now) {
            return;
        }
        if self.restart_at.is_some_and(|at| at <= now) && self.start_kubelet(now).is_err() {
            self.restart_at = Some(now + RESTART_PAUSE);
        }
        let ended = if self.host.runtime.next_end().is_some_and(|at| at <= now) {
            self.host.runtime.advance(now)
        } else {
            Vec::new()
        };
        if let Some(frozen) = &mut self.frozen {
            frozen.ended.extend(ended);
            self.handle_shutdown_timeout(now);
            return;
        }
        if let Some(kubelet) = &mut self.kubelet {
            let mut turn = KubeletContext { host: &mut self.host, outbox: &mut self.outbox, now };
            if !ended.is_empty() {
                kubelet.handle_ended(&ended, &mut turn);
            }
            kubelet.handle_timeout(&mut turn);
            self.handle_kubelet_exit(now);
            self.handle_shutdown_timeout(now);
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outbox.poll()
    }

    fn next_deadline(&self) -> Option<Deadline> {
        if self.is_paused() || !self.is_powered {
            return None;
        }
        let restart = self.restart_at.map(|at| Deadline { at, reason: "systemd restarts the kubelet" });
        let shutdown = self.shutdown_deadline();
        let end = self.host.runtime.next_end().map(|at| Deadline { at, reason: "a process ends" });
        let awake = self.kubelet.as_ref().filter(|_| self.frozen.is_none());
        let kubelet = awake.and_then(|kubelet| kubelet.next_deadline());
        earliest([restart, shutdown, end, kubelet])
    }
}
