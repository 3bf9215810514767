//! The simulated cluster: virtual time, an API server, and components in an event loop.
//!
//! A driver without policy: hand over what has arrived, find the next deadline, give one input, repeat. Time jumps from
//! deadline to deadline. Inputs: actions and requests from outside, and how far time may advance. Outputs: commits,
//! decisions, the trace. Deliveries of one instant keep the order of cause; equal deadlines go in the order in which
//! their components were added. Invariant: the same seed and the same actions give the same trace, byte for byte.

mod actor;
#[cfg(test)]
mod contract_tests;
#[cfg(test)]
mod controller_tests;
mod controllers;
mod copies;
#[cfg(test)]
mod custom_tests;
mod describing;
mod drains;
#[cfg(test)]
mod endpoint_tests;
mod error;
#[cfg(test)]
mod health_pass_tests;
mod http_calls;
mod idle;
#[cfg(test)]
mod kubelet_pod_tests;
#[cfg(test)]
mod kubelet_tests;
#[cfg(test)]
mod namespace_tests;
#[cfg(test)]
mod node_ipam_tests;
mod own;
#[cfg(test)]
mod ownership_tests;
mod pod_requests;
mod queries;
#[cfg(test)]
mod race_tests;
mod setup_cache;
#[cfg(test)]
mod start_tests;
#[cfg(test)]
mod stateful_set_tests;
mod unmodelled;
mod user;
mod watches;
#[cfg(test)]
mod workload_tests;
mod world;

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::Timestamp;

pub use idle::Heartbeats;
pub use own::{Own, OwnAction, OwnLookFunction};
pub use setup_cache::SetupCache;
pub use user::WatchInbox;
pub use world::{run_scenario, run_scenario_with};

pub use crate::components::{Record, RecordedDecision, TraceLine, component_name};

use crate::chance::Chance;
use crate::components::api_server::{ApiServer, Commit, ServerOutput, Tap};
use crate::components::cloud::{Cloud, CloudAction};
use crate::components::controller::Context;
use crate::components::machine::{Machine, MachineAction, MachineSpec};
use crate::components::registry::{self, processes, processes_without_cloud};
use crate::event_loop::EventLoop;
use crate::network::{Ask, ClientId, Delivery, Fault, Network, Request, Rule, RuleId, ToClient};
use crate::objects::Text;
use crate::profile::Settings;
use actor::Actor;
pub use error::SimError;
use http_calls::HttpCalls;
use pod_requests::PodTokens;

/// How many deliveries one instant may hold before it counts as a live-lock: a few for each of 100,000 nodes.
const DELIVERIES_PER_INSTANT_MAX: u64 = 50_000_000;

/// How a simulation begins.
#[derive(Clone, PartialEq, Debug)]
pub struct SimulationOptions {
    /// The release with its flags.
    pub settings: Settings,
    /// The seed of all free choices. Default 1, under which a scenario starts all machines of a `Given` at once.
    pub seed: u64,
    /// The instant at which the control plane starts. Default 2026-01-01T00:00:00Z.
    pub start: Timestamp,
    /// Whether each message is written to the trace. Default true; a bench turns it off.
    pub trace: bool,
    /// Whether a scenario is told of each renewal of a Lease, as a picture needs it. Default false: only where its
    /// lines or a failure depend on them.
    pub renewals: bool,
    /// How heartbeats are delivered. Default: directly; no output shows a difference.
    pub heartbeats: Heartbeats,
    /// Whether objects name the managers of their fields. Default false; of who runs scenarios nobody looks at them.
    pub tracks_managers: bool,
    /// The controllers that start with the control plane. Default all but those of a cloud, which start with it.
    pub controllers: Vec<&'static str>,
}

/// The instant at which a simulation starts unless told otherwise: 2026-01-01T00:00:00Z.
pub const DEFAULT_START: Timestamp = Timestamp::constant(1_767_225_600, 0);

impl Default for SimulationOptions {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            seed: 1,
            start: DEFAULT_START,
            trace: true,
            renewals: false,
            heartbeats: Heartbeats::default(),
            tracks_managers: false,
            controllers: processes_without_cloud().collect(),
        }
    }
}

/// A simulated cluster. A clone is independent, and behaves the same to the byte under the same inputs.
#[derive(Clone)]
pub struct Simulation {
    options: SimulationOptions,
    /// The settings of `options`, shared by all components.
    settings: Arc<Settings>,
    now: Timestamp,
    chance: Chance,
    api: ApiServer,
    event_loop: EventLoop<Actor>,
    cloud: Cloud,
    /// The calls to kubelets and Pods.
    calls: HttpCalls,
    pod_tokens: PodTokens,
    /// The machines whose kubelets' loops the driver runs, perhaps with some that have them back.
    idle: Vec<ClientId>,
    /// The runs of `kubectl drain`.
    drains: Vec<ClientId>,
    /// The elections of leaders, each with the program and whether its controllers run.
    elections: Vec<(&'static str, ClientId, bool)>,
    /// The controllers that were stopped: another leader does not start them.
    stopped: BTreeSet<Text>,
    commits: Vec<Commit>,
    /// The number of messages that were replaced by direct heartbeats.
    direct_messages: u64,
    direct_renewals: u64,
}

impl Simulation {
    /// Starts a control plane and lets it settle at its first instant.
    #[must_use]
    pub fn new(mut options: SimulationOptions) -> Self {
        registry::join_parts(&mut options.controllers, &options.settings);
        let chance = Chance::new(options.seed);
        let now = options.start;
        let settings = Arc::new(options.settings.clone());
        let context = Context { settings: settings.clone(), chance: chance.fork("api-server") };
        let mut simulation = Self {
            api: ApiServer::new(context, now).of_kubeadm(now),
            event_loop: EventLoop::new(Network::new(chance.fork("network")), Record::new(now, options.trace)),
            now,
            chance,
            cloud: Cloud::default(),
            calls: HttpCalls::default(),
            pod_tokens: PodTokens::default(),
            idle: Vec::new(),
            drains: Vec::new(),
            elections: Vec::new(),
            stopped: BTreeSet::new(),
            commits: Vec::new(),
            direct_messages: 0,
            direct_renewals: 0,
            settings,
            options,
        };
        if simulation.options.tracks_managers {
            simulation.api.track_managers();
        }
        for name in &simulation.options.controllers {
            simulation.api.runs_beside(name);
        }
        for name in processes() {
            simulation.event_loop.add(Text::from(format!("controller/{name}")), Actor::Controller(name, None));
        }
        simulation.begin_elections();
        for name in processes() {
            if simulation.options.controllers.contains(&name) {
                simulation.start_controller(name);
            }
        }
        simulation.settle();
        simulation
    }

    /// Returns the present instant.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns how the simulation began.
    #[must_use]
    pub const fn options(&self) -> &SimulationOptions {
        &self.options
    }

    /// Returns the API server, to look at its store beside the network.
    #[must_use]
    pub const fn api(&self) -> &ApiServer {
        &self.api
    }

    /// Chooses which commits [`Self::take_commits`] returns.
    pub fn tap(&mut self, tap: Tap) {
        self.api.tap(tap);
    }

    /// Returns the commits since the last call, in order of their revisions.
    pub fn take_commits(&mut self) -> Vec<Commit> {
        core::mem::take(&mut self.commits)
    }

    /// Returns decisions and trace so far.
    #[must_use]
    pub const fn record(&self) -> &Record {
        &self.event_loop.record
    }

    /// Lets time pass until all that is due up to and at an instant is done.
    pub fn advance_until(&mut self, until: Timestamp) {
        self.settle();
        loop {
            self.run_idle(until);
            if !self.step(until) {
                break;
            }
        }
        self.now = self.now.max(until);
        self.return_all_loops();
    }

    /// Does everything that is due at the present instant, so that the next request sees its effects.
    pub fn finish_instant(&mut self) {
        self.advance_until(self.now);
    }

    /// Goes to the next instant, not after `until`, at which something is due, and does all of that instant; false if
    /// there is none (the clock stays then).
    pub fn step(&mut self, until: Timestamp) -> bool {
        let next = self.next_instant().filter(|at| *at <= until);
        next.map(|at| self.do_instant(at)).is_some()
    }

    /// Steps as [`Self::step`] does, up to an instant with a commit or a decision; false if there is none.
    pub(crate) fn step_to_news(&mut self, until: Timestamp) -> bool {
        let decided = self.record().decisions().len();
        loop {
            self.run_idle(until);
            if !self.step(until) {
                break;
            }
            if !self.commits.is_empty() || self.record().decisions().len() > decided {
                self.return_all_loops();
                return true;
            }
        }
        self.return_all_loops();
        false
    }

    /// Does all that is due at an instant; returns the next at which something is.
    fn do_instant(&mut self, at: Timestamp) -> Option<Timestamp> {
        self.now = self.now.max(at);
        let (before, mut wakes) = (self.event_loop.deliveries(), 0);
        loop {
            self.event_loop.network.handle_timeout(self.now);
            if self.api.next_deadline().is_some_and(|deadline| deadline.at <= self.now) {
                self.api.handle_timeout(self.now);
                self.pump_api();
            }
            self.settle();
            if self.event_loop.wake_next(self.now) {
                self.settle();
            }
            self.follow_elections();
            let next = self.next_instant();
            if next.is_none_or(|next| next > self.now) {
                return next;
            }
            wakes += 1;
            assert!(
                self.event_loop.deliveries() - before + wakes < DELIVERIES_PER_INSTANT_MAX,
                "live-lock at {}: the last messages were\n{}",
                self.now,
                self.record().last_lines(20)
            );
        }
    }

    /// Adds a machine and handles its first outputs.
    ///
    /// # Errors
    /// The name is taken, the specification is wrong, or the kubelet refuses to start.
    pub fn add_machine(&mut self, spec: MachineSpec) -> Result<(), SimError> {
        let name = spec.name.clone();
        let path = Text::from(format!("machine/{name}"));
        if self.event_loop.find(&path).is_some() {
            return Err(SimError::MachineExists(name));
        }
        self.settle();
        let context = self.context(&format!("kubelet/{name}"));
        let machine = Machine::new(spec, context, self.now)?;
        let client = self.event_loop.add(path, Actor::Machine(Box::new(machine), None));
        self.event_loop.pump(client, self.now);
        self.settle();
        Ok(())
    }

    /// Returns a machine.
    #[must_use]
    pub fn machine(&self, name: &str) -> Option<&Machine> {
        self.event_loop.get(self.event_loop.find(&format!("machine/{name}"))?).machine()
    }

    /// Returns all machines, in the order in which they were added.
    pub fn machines(&self) -> impl Iterator<Item = &Machine> {
        self.event_loop.iter().filter_map(Actor::machine)
    }

    /// Performs an action on a machine.
    ///
    /// # Errors
    /// There is no such machine, or it refuses.
    pub fn machine_do(&mut self, name: &str, action: MachineAction) -> Result<(), SimError> {
        let missing = || SimError::NoMachine(Text::from(name));
        let client = self.event_loop.find(&format!("machine/{name}")).ok_or_else(missing)?;
        self.settle();
        let Actor::Machine(machine, _) = self.event_loop.get_mut(client) else { return Err(missing()) };
        let plugs = action.plugs();
        let outcome = machine.handle_action(action, self.now);
        self.event_loop.pump(client, self.now);
        if let Some(plugged) = plugs.filter(|_| outcome.is_ok()) {
            self.event_loop.network.set_plugged(client, plugged, self.now);
        }
        self.settle();
        Ok(outcome?)
    }

    /// Checks that what the kubelet of a machine was told is modelled.
    ///
    /// # Errors
    /// It was told something that it accepts and whose effect is not modelled.
    pub fn check_modelled(&self, name: &str) -> Result<(), SimError> {
        Ok(self.machine(name).map_or(Ok(()), Machine::check_modelled)?)
    }

    /// Adds a rule to the network.
    pub fn add_rule(&mut self, fault: Fault) -> RuleId {
        self.settle();
        let id = self.event_loop.network.add_rule(fault, self.now);
        self.settle();
        id
    }

    /// Removes a rule and returns it with its hits.
    ///
    /// # Errors
    /// There is no such rule.
    pub fn remove_rule(&mut self, id: RuleId) -> Result<Rule, SimError> {
        let rule = self.event_loop.network.remove_rule(id, self.now).ok_or(SimError::NoRule(id.0))?;
        self.settle();
        Ok(rule)
    }

    /// Returns the rules that ended by themselves, until they are removed.
    pub fn ended_rules(&self) -> impl ExactSizeIterator<Item = &Rule> {
        self.event_loop.network.ended_rules()
    }

    /// Returns the rules in force.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = &Rule> {
        self.event_loop.network.rules()
    }

    /// Returns the cloud.
    #[must_use]
    pub const fn cloud(&self) -> &Cloud {
        &self.cloud
    }

    /// Changes the cloud. With the first change it is there, and its controllers start.
    pub fn cloud_do(&mut self, action: CloudAction) {
        self.settle();
        let is_new = !self.cloud.is_there();
        self.cloud.handle_action(action);
        for name in registry::cloud().filter(|_| is_new) {
            self.start_controller(name);
        }
        self.settle();
    }

    /// Finds the next instant at which something is due.
    fn next_instant(&mut self) -> Option<Timestamp> {
        let mut next = self.event_loop.next_wake().map(|(at, _)| at);
        for other in [self.event_loop.network.next_deadline(), self.api.next_deadline().map(|deadline| deadline.at)] {
            if other.is_some_and(|at| next.is_none_or(|next| at < next)) {
                next = other;
            }
        }
        next
    }

    /// Hands over everything that has arrived, until nothing is left for this instant.
    fn settle(&mut self) {
        loop {
            let Some(delivery) = self.event_loop.poll_upward(self.now) else {
                if self.hand_over_served() {
                    self.pump_api();
                    continue;
                }
                break;
            };
            match delivery {
                Delivery::ToServer { client, request } => self.serve(client, request),
                Delivery::Cancelled { client, id } => self.api.handle_cancel(client, id),
                Delivery::Disconnected { client } => self.api.handle_disconnect(client),
                Delivery::ToClient { .. } => {}
            }
            self.pump_api();
        }
    }

    fn serve(&mut self, client: ClientId, request: Request) {
        let Ask::Cloud(call) = &request.ask else { return self.api.handle_request(client, request, self.now) };
        let (answer, takes) = self.cloud.answer(call);
        let message = ToClient::Response { id: request.id, result: Ok(answer) };
        self.event_loop.network.reply_from_cloud(client, message, takes, self.now);
    }

    fn pump_api(&mut self) {
        while let Some(output) = self.api.poll_output() {
            match output {
                ServerOutput::ToClient { client, message } => self.event_loop.network.reply(client, message, self.now),
                ServerOutput::Commit(commit) => self.commits.push(*commit),
                ServerOutput::Dial(call) => self.dial_for_api(*call),
            }
        }
    }
}

impl core::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Simulation").field("now", &self.now).finish_non_exhaustive()
    }
}
