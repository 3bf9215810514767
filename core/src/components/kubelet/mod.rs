//! The kubelet: the process on a machine that maintains one Node.
//!
//! Mirrors pkg/kubelet (v1.34). A machine owns it, hands it everything that arrives, and drops it when the process
//! ends. Registration, status, lease, pods and events are modules of their own.
//! Inputs: answers, watch events, time, changes of the machine. Outputs: requests to the API server, and decisions.
//! Invariants: a process never creates its Node again after a deletion; a status tick without changes builds no JSON.

mod admission;
mod certificates;
mod checks;
mod choices;
mod conditions;
pub mod config;
mod container_calls;
mod csi;
mod decoder;
mod environment_checks;
mod events;
mod eviction;
mod flags;
mod idle;
mod image_gc;
mod image_names;
mod lease;
mod logging;
mod measures;
mod not_modelled;
mod object_cache;
mod pods;
mod preemption;
mod registration;
mod reservation;
mod runtime_state;
mod server;
mod server_settings;
mod setters;
mod shutdown;
mod static_pods;
mod status;
mod swap;
mod sysctls;
mod thresholds;
mod timers;
mod topology;
mod upkeep;
mod validation;
mod volumes;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use self::certificates::{CertificateUse, Certificates, identity_of, valid_certificate};
pub use self::choices::{MeasuredPod, RecordedChoices, RecordedEvictions};
use self::config::KubeletConfig;
use self::csi::Csi;
use self::events::{EventType, Events};
use self::eviction::EvictionManager;
pub use self::idle::IdleLoops;
use self::idle::Pauses;
use self::image_gc::Images;
use self::lease::Lease;
use self::object_cache::ObjectCache;
use self::pods::PodManager;
use self::runtime_state::RuntimeState;
use self::shutdown::ShutdownManager;
use self::static_pods::StaticPods;
use self::status::StatusLoop;
pub use self::swap::swaps_volumes;
use self::timers::{TIMERS, Timer};
use self::upkeep::UpkeepTimers;
use self::volumes::Volumes;
use super::client::Reflector;
use super::host::Host;
use super::{Deadline, DecisionId, Outbox, Output, earliest};
use crate::chance::Chance;
use crate::network::{Answer, Ask, Call, Identity, NODES, Request, RequestId, ToClient, TransportError, Verb};
use crate::objects::{Object, ObjectKey, Text};
use crate::profile::Settings;

/// The largest jitter of a kubelet's loops, as a fraction of the period.
///
/// Source: pkg/kubelet/kubelet.go and k8s.io/component-helpers/apimachinery/lease/controller.go (v1.34), 0.04 each.
const LOOP_JITTER: f64 = 0.04;
/// How often a kubelet checks whether its cache of Nodes is filled, before it watches pods.
/// Source: pkg/kubelet/config/apiserver.go (v1.34), `WaitForAPIServerSyncPeriod`.
const NODE_SYNC_PERIOD: SignedDuration = SignedDuration::from_secs(1);

/// What an answer is for.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Purpose {
    Register(registration::RegistrationPurpose),
    Status(status::StatusPurpose),
    Lease(lease::LeasePurpose),
    Csi(csi::CsiPurpose),
    Event,
    Pod(Text, pods::PodPurpose),
    Certificate(CertificateUse),
    Mirror(static_pods::MirrorPurpose, ObjectKey),
    Volume(Text, volumes::VolumePurpose),
    Server(server::ServerPurpose),
}

/// What a kubelet may use during one call of its machine.
#[derive(Debug)]
pub struct KubeletContext<'a> {
    /// The machine.
    pub host: &'a mut Host,
    /// Where requests go.
    pub outbox: &'a mut Outbox,
    /// The present instant, by the simulation's clock.
    pub now: Timestamp,
}

impl KubeletContext<'_> {
    fn wall(&self) -> Timestamp {
        self.host.wall(self.now)
    }
}

type ApiResult = Result<Answer, TransportError>;

/// Why a kubelet's process ended by itself.
pub type Fatal = String;

/// The process; its machine keeps the contract of [`Component`](super::Component) with it. The fields that each wake-up
/// reads come first, for the processor's cache: a cluster has many kubelets.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Kubelet {
    timers: [Option<Timestamp>; TIMERS.len()],
    chance: Chance,
    pauses: Pauses,
    lease: Lease,
    config: Arc<KubeletConfig>,
    settings: Arc<Settings>,
    identity: Arc<Identity>,
    started: Timestamp,
    pending: Vec<(RequestId, Purpose)>,
    nodes: Reflector,
    runtime: RuntimeState,
    status: StatusLoop,
    csi: Csi,
    events: Events,
    pods: PodManager,
    shutdown: ShutdownManager,
    eviction: EvictionManager,
    images: Images,
    upkeep: UpkeepTimers,
    certificates: Certificates,
    server: server::ServerCalls,
    static_pods: StaticPods,
    volumes: Volumes,
    objects: ObjectCache,
    was_unschedulable: bool,
    has_said_rebooted: bool,
    /// Counts the changes of kubelet state that the status depends on.
    generation: u64,
    /// Capacity and allocatable, as last computed from the machine.
    resources: Option<setters::Resources>,
    last_log: String,
    fatal: Option<Fatal>,
    /// What a recording shows of its free choices; `None` outside of replays.
    choices: Option<Box<RecordedChoices>>,
}

impl Kubelet {
    /// Starts the process. Without a kubeconfig it runs standalone, without an API server.
    ///
    /// Source: cmd/kubelet/app/server.go (v1.34), `run`, `standaloneMode`.
    #[must_use]
    pub fn new(
        config: Arc<KubeletConfig>,
        settings: Arc<Settings>,
        chance: Chance,
        choices: Option<&RecordedChoices>,
        context: &mut KubeletContext<'_>,
    ) -> Self {
        let own = valid_certificate(context).map(identity_of);
        let is_bootstrapping = context.host.spec.bootstrap.is_some() && own.is_none();
        let own = own.unwrap_or_else(|| config.identity.clone());
        let identity = if is_bootstrapping { Identity::anonymous("kubelet") } else { own };
        let mut kubelet = Self {
            events: Events::new(chance.fork("events")),
            status: StatusLoop::default(),
            lease: Lease::default(),
            pauses: Pauses::of(&config),
            csi: Csi::new(chance.fork("csi")),
            runtime: RuntimeState::default(),
            pods: PodManager::new(chance.fork("pod-workers")),
            shutdown: ShutdownManager::default(),
            eviction: EvictionManager::new(context.now + registration::BACKOFF_FIRST, chance.fork("volume-measures")),
            images: Images::new(context.host),
            upkeep: UpkeepTimers::default(),
            certificates: Certificates::new(chance.fork("certificates")),
            server: server::ServerCalls::default(),
            static_pods: StaticPods::default(),
            volumes: Volumes::default(),
            objects: ObjectCache::new(chance.fork("objects")),
            started: context.now,
            timers: [None; TIMERS.len()],
            pending: Vec::new(),
            was_unschedulable: false,
            has_said_rebooted: false,
            generation: 0,
            resources: None,
            last_log: String::new(),
            fatal: None,
            choices: None,
            nodes: Reflector::paused(identity.clone(), NODES, chance.fork("nodes")),
            config,
            settings,
            identity,
            chance,
        };
        kubelet.note_usage(context);
        if let Some(choices) = choices {
            kubelet.prefer(choices);
        }
        if kubelet.config.is_standalone {
            kubelet.log(String::from("Standalone mode, no API client"), context);
            kubelet.poll_runtime(context);
            return kubelet;
        }
        if is_bootstrapping {
            // Source: cmd/kubelet/app/server.go (v1.34), `buildKubeletClientConfig`: without rotation it waits.
            kubelet.certificates.holds_up = !kubelet.config.rotates_certificates;
            kubelet.request_client_certificate(context);
        }
        kubelet.keep_client_certificate(context);
        match choices.and_then(|choices| choices.next_up(context.now)) {
            Some(up) => kubelet.set(Timer::Begin, up),
            None if kubelet.certificates.holds_up => {}
            None => kubelet.begin(context),
        }
        kubelet
    }

    /// Begins the work of the process, after its set-up.
    fn begin(&mut self, context: &mut KubeletContext<'_>) {
        self.started = context.now;
        let selector =
            (Text::of("fieldSelector"), Text::from(alloc::format!("metadata.name={}", self.config.node_name)));
        let chance = self.chance.fork("nodes");
        let selectors = Vec::from([selector]);
        self.nodes = Reflector::new(self.identity.clone(), NODES, "", selectors, chance, context.outbox);
        if let Some(choices) = &self.choices {
            self.nodes.lead(&choices.node_lists);
        }
        if self.mounts_with_noswap() && swap::swaps_volumes(&self.config.hardware) {
            let (reason, message) = swap::VOLUMES_ON_DISK;
            self.part_event(EventType::Warning, reason, message.into(), None, context);
        }
        self.node_event(EventType::Normal, "Starting", "Starting kubelet.".into(), None, context);
        let warning = self.settings.profile().text("cgroup-v1-warning");
        if context.host.spec.hardware.cgroup_version == 1 && !warning.is_empty() {
            self.node_event(EventType::Warning, "CgroupV1", warning.into(), None, context);
        }
        self.tell_unknown_disk(context);
        self.start_csi(context);
        self.set(Timer::PodSource, context.now + NODE_SYNC_PERIOD);
        self.poll_runtime(context);
        self.start_status(context);
        self.sync_lease(context);
        self.set(Timer::Modules, context.now + registration::BACKOFF_FIRST);
        self.start_serving(context);
        self.read_manifests(context);
    }

    /// Starts the modules that need the Node. If the cache has none, a new Node is built for each of them, and the
    /// Events about its conditions are emitted each time.
    ///
    /// Source: pkg/kubelet/kubelet.go, initializeRuntimeDependentModules, and kubelet_getters.go (v1.34),
    /// getNodeAnyWay.
    fn start_modules(&mut self, context: &mut KubeletContext<'_>) {
        const ASKING: usize = 2;
        let fails = self.config.late_failure.clone();
        self.lead_first_pass(context.now);
        let asking = if fails.is_some() || self.cached_node().is_some() { 0 } else { ASKING };
        for _ in 0..self.led_modules().unwrap_or(asking) {
            let mut said = Vec::new();
            self.initial_node(context.host, context.now, &mut said);
            self.emit_said(said, None, context);
        }
        if fails.is_some() {
            self.fatal = fails;
            return;
        }
        let enforced = String::from("Updated Node Allocatable limit across pods");
        self.part_event(EventType::Normal, "NodeAllocatableEnforced", enforced, None, context);
        self.start_shutdown_manager(context);
    }

    /// Returns the configuration.
    #[must_use]
    pub const fn config(&self) -> &Arc<KubeletConfig> {
        &self.config
    }

    /// Returns when the process started.
    #[must_use]
    pub const fn started(&self) -> Timestamp {
        self.started
    }

    /// Returns the last line of the log.
    #[must_use]
    pub fn last_log(&self) -> &str {
        &self.last_log
    }

    /// Returns when the lease was last renewed and the status last posted.
    #[must_use]
    pub fn heartbeats(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        (self.lease.renewed(), self.status.last_report)
    }

    /// Returns why the process has ended by itself, once.
    pub fn take_fatal(&mut self) -> Option<Fatal> {
        self.fatal.take()
    }

    /// Takes an answer or a watch event.
    pub fn handle_message(&mut self, message: ToClient, context: &mut KubeletContext<'_>) {
        let id = message.id();
        if self.nodes.owns(id) {
            // Only waiting pods use the changes: each status tick compares the cached tree with the one it saw last.
            let _ = self.nodes.handle_message(message, context.outbox, context.now);
            self.volumes_changed(context);
            self.note_address(context);
            return;
        }
        if self.pods.owns(id) {
            self.handle_pod_source(message, context);
            self.go_on_with_shutdown(context);
            return;
        }
        if self.certificates.owns(id) {
            self.handle_certificate_watch(message, context);
            return;
        }
        if self.objects.owns(id) {
            self.handle_referenced(message, context);
            return;
        }
        let ToClient::Response { result, .. } = message else { return };
        let Some(at) = self.pending.iter().position(|(own, _)| *own == id) else { return };
        let (_, purpose) = self.pending.swap_remove(at);
        match purpose {
            Purpose::Register(step) => self.handle_registration(step, result, context),
            Purpose::Status(step) => self.handle_status(step, result, context),
            Purpose::Lease(step) => self.handle_lease(step, result, context),
            Purpose::Csi(step) => self.handle_csi(step, result, context),
            Purpose::Event => self.handle_event_answer(&result, context),
            Purpose::Mirror(step, key) => self.handle_mirror(&step, &key, &result, context),
            Purpose::Certificate(purpose) => self.handle_signing_request(purpose, result, context),
            Purpose::Server(purpose) => self.handle_review(purpose, &result, context),
            Purpose::Volume(uid, step) => self.handle_volume(&uid, step, result, context),
            Purpose::Pod(uid, step) => self.handle_pod_answer(&uid, step, result, context),
        }
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, context: &mut KubeletContext<'_>) {
        for (timer, _) in TIMERS {
            let place = &mut self.timers[timer as usize];
            if place.is_none_or(|at| at > context.now) {
                continue;
            }
            *place = None;
            match timer {
                Timer::LeaseSync => self.sync_lease(context),
                Timer::LeaseRetry => self.ensure_lease(context),
                Timer::Modules => self.start_modules(context),
                Timer::Register => self.register(context),
                Timer::StatusTick => self.begin_tick(context),
                Timer::FastStatus => self.fast_tick(context),
                Timer::RuntimePoll => self.poll_runtime(context),
                Timer::Csi => self.continue_csi(context),
                Timer::PodSource => self.start_pod_source(context),
                Timer::Upkeep => self.run_upkeep(context),
                Timer::Begin if self.certificates.holds_up => {}
                Timer::Begin => self.begin(context),
                Timer::Certificate => self.request_client_certificate(context),
                Timer::Serving => self.request_serving_certificate(context),
                Timer::Resume => self.resume_after_runtime(context),
                Timer::ContainerGc => self.fail_to_collect(context),
                Timer::RuntimeCall => self.runtime_call_failed(context),
                Timer::Mirrors => self.reconcile_static(context),
                Timer::StaticStart => self.start_waiting(context),
                Timer::Housekeeping => self.clean_up_static(context),
                Timer::Volumes => self.retry_volumes(context),
                Timer::CertificateEnd => self.client_certificate_ended(context),
                // The next status is another one.
                Timer::Devices => self.generation += 1,
            }
        }
        self.nodes.handle_timeout(context.outbox, context.now);
        self.handle_certificate_timeout(context);
        self.objects.handle_timeout(context.outbox, context.now);
        self.mount_due(context);
        self.handle_pod_timeout(context);
        self.handle_shutdown_timeout(context);
        self.flush_events(context);
    }

    /// Returns when to call [`Self::handle_timeout`].
    #[must_use]
    pub fn next_deadline(&self) -> Option<Deadline> {
        let timers = self.timers.iter().zip(TIMERS).map(|(at, (_, reason))| at.map(|at| Deadline { at, reason }));
        earliest(timers.chain([self.next_deadline_of_parts()]))
    }

    /// Returns the next deadline of the parts that keep their own ones, beside the timers.
    fn next_deadline_of_parts(&self) -> Option<Deadline> {
        earliest([
            self.nodes.next_deadline(),
            self.pods.next_deadline(),
            self.events.next_deadline(),
            self.certificates.next_deadline(),
            self.objects.next_deadline(),
            self.volumes.next_mount(),
            self.shutdown.next_deadline(),
        ])
    }

    fn set(&mut self, timer: Timer, at: Timestamp) {
        self.timers[timer as usize] = Some(at);
    }

    fn clear(&mut self, timer: Timer) {
        self.timers[timer as usize] = None;
    }

    /// Returns the Node from the kubelet's own cache.
    fn cached_node(&self) -> Option<&Object> {
        // The watch selects by name, so there is one object at most.
        self.nodes.cache().at(0)
    }

    fn send(
        &mut self,
        ask: Ask,
        timeout: Option<SignedDuration>,
        because: Option<DecisionId>,
        purpose: Purpose,
        context: &mut KubeletContext<'_>,
    ) {
        let id = context.outbox.next_id();
        self.pending.push((id, purpose));
        let identity = self.identity.clone();
        context.outbox.push(Output::Request(Request { id, identity, ask, timeout, because }));
    }

    fn call(&mut self, call: Call, purpose: Purpose, context: &mut KubeletContext<'_>) {
        self.send(Ask::Call(Box::new(call)), None, None, purpose, context);
    }

    /// Sends through the client for heartbeats, which has the time-out of a heartbeat.
    fn heartbeat_call(
        &mut self,
        call: Call,
        because: Option<DecisionId>,
        purpose: Purpose,
        context: &mut KubeletContext<'_>,
    ) {
        let timeout = Some(self.config.heartbeat_timeout());
        self.send(Ask::Call(Box::new(call)), timeout, because, purpose, context);
    }

    fn get_node(&self) -> Call {
        Call::new(Verb::Get, NODES, "", &self.config.node_name)
    }

    fn about_node(&self) -> Text {
        Text::from(alloc::format!("node/{}", self.config.node_name))
    }

    fn log(&mut self, line: String, context: &mut KubeletContext<'_>) {
        context.outbox.push(Output::Log(line.clone()));
        self.last_log = line;
    }
}

/// Returns the error of an answer as a kubelet's log prints it; `None` for a success.
fn failure(outcome: &ApiResult) -> Option<String> {
    match outcome {
        Ok(answer) if answer.is_success() => None,
        Ok(answer) => Some(answer.message()),
        Err(error) => Some(alloc::string::ToString::to_string(error)),
    }
}
