//! The simulated cluster: virtual time, one queue, and the components in it.
//!
//! A driver without policy: hand over what has arrived, find the earliest thing due, give one input, repeat. Time jumps
//! from event to event. Deliveries of one instant keep the order of cause; equal deadlines go in the order in which
//! their components were made. Invariant: the same seed and the same actions give the same trace, byte for byte.

#[cfg(test)]
mod contract_tests;
#[cfg(test)]
mod health_pass_tests;
mod idle;
#[cfg(test)]
mod kubelet_pod_tests;
#[cfg(test)]
mod kubelet_tests;
#[cfg(test)]
mod namespace_tests;
mod own;
mod setup_cache;
mod timer_wheel;
#[cfg(test)]
mod workload_tests;
mod world;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

pub use idle::Heartbeats;
pub use own::{Own, OwnAction, OwnLookFunction};
pub use setup_cache::SetupCache;
pub use world::{run_scenario, run_scenario_with};

pub use crate::components::{Record, RecordedDecision, TraceLine, component_name};

use crate::chance::Chance;
use crate::components::api_server::{ApiServer, Commit, ServerOutput, Tap};
use crate::components::controller::{Context, Controller, ControllerAction};
use crate::components::kubelet::IdleLoops;
use crate::components::machine::{Machine, MachineAction, MachineError, MachineSpec};
use crate::components::registry::{self, processes};
use crate::components::{Component, Deadline, Output};
use crate::network::{
    Answer, Ask, Call, ClientId, Delivery, Fault, Identity, Network, Request, RequestId, Rule, RuleId, ToClient,
    TransportError, WatchType,
};
use crate::objects::{Object, Text};
use crate::profile::Settings;
use timer_wheel::TimerWheel;

/// How many deliveries one instant may hold before it counts as a live-lock: a few for each of 100,000 nodes.
const DELIVERIES_PER_INSTANT_MAX: u64 = 50_000_000;

/// How a simulation begins.
#[derive(Clone, PartialEq, Debug)]
pub struct SimulationOptions {
    /// The release with its flags.
    pub settings: Settings,
    /// The seed of all free choices. Default 1.
    pub seed: u64,
    /// The instant at which the control plane starts. Default 2026-01-01T00:00:00Z.
    pub start: Timestamp,
    /// Whether each message is written to the trace. Default true; a bench turns it off.
    pub trace: bool,
    /// How heartbeats travel. Default: directly; it makes no difference that anybody could see.
    pub heartbeats: Heartbeats,
    /// The controllers that start with the control plane. Default all.
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
            heartbeats: Heartbeats::default(),
            controllers: processes().collect(),
        }
    }
}

/// Why something cannot be done to the simulated cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// There is no machine of that name.
    #[error("there is no machine {0:?}")]
    NoMachine(Text),
    /// There is one already.
    #[error("there is a machine {0:?} already")]
    MachineExists(Text),
    /// There is no controller of that name.
    #[error("there is no controller {0:?}: there are {list}", list = processes().collect::<Vec<_>>().join(", "))]
    NoController(Text),
    /// The controller has no such loop, or does not run.
    #[error("controller {0:?} has no loop {1:?} that could run now")]
    NoLoop(Text, Text),
    /// There is no rule of that number.
    #[error("there is no rule {0}")]
    NoRule(u32),
    /// The machine refuses.
    #[error(transparent)]
    Machine(#[from] MachineError),
}

/// Numbers the watches that are held from outside.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct WatchId(pub u64);

/// What an outside watch received.
#[derive(Clone, Debug, Default)]
pub struct WatchInbox {
    /// The events since the last look.
    pub events: Vec<(WatchType, Object)>,
    /// Whether the stream has ended.
    pub ended: bool,
}

#[derive(Clone)]
enum Actor {
    Controller(&'static str, Option<Box<dyn Controller>>),
    Machine(Box<Machine>),
    /// A person or a test: its answers wait to be fetched.
    User(Box<User>),
}

#[derive(Clone, Default)]
struct User {
    last_request: u64,
    answers: BTreeMap<RequestId, Result<Answer, TransportError>>,
    watches: BTreeMap<RequestId, WatchInbox>,
}

#[derive(Clone)]
struct ActorSlot {
    actor: Actor,
    name: Text,
}

/// A simulated cluster. A copy goes on by itself from the same state, and does the same to the byte if the same is done
/// to it.
#[derive(Clone)]
pub struct Simulation {
    options: SimulationOptions,
    /// The settings of `options`, shared by all components.
    settings: Arc<Settings>,
    now: Timestamp,
    chance: Chance,
    api: ApiServer,
    network: Network,
    slots: Vec<ActorSlot>,
    by_name: BTreeMap<Text, ClientId>,
    timers: TimerWheel,
    /// The deadline of each slot that stands in the queue; older entries are stale.
    deadlines: Vec<Option<Deadline>>,
    /// The loops of each slot's kubelet that are run in its place, and whose they are.
    idle: Vec<Option<Box<IdleLoops>>>,
    idlers: Vec<ClientId>,
    record: Record,
    commits: Vec<Commit>,
    deliveries: u64,
    direct_renewals: u64,
}

impl Simulation {
    /// Starts a control plane and lets it settle at its first instant.
    #[must_use]
    pub fn new(options: SimulationOptions) -> Self {
        let chance = Chance::new(options.seed);
        let now = options.start;
        let settings = Arc::new(options.settings.clone());
        let context = Context { settings: settings.clone(), chance: chance.fork("api-server") };
        let mut simulation = Self {
            api: ApiServer::new(context, now),
            network: Network::new(chance.fork("network")),
            record: Record::new(options.start, options.trace),
            now,
            chance,
            slots: Vec::new(),
            by_name: BTreeMap::new(),
            timers: TimerWheel::new(now),
            deadlines: Vec::new(),
            idle: Vec::new(),
            idlers: Vec::new(),
            commits: Vec::new(),
            deliveries: 0,
            direct_renewals: 0,
            settings,
            options,
        };
        for name in processes() {
            let client = simulation.add_slot(format!("controller/{name}"), Actor::Controller(name, None));
            if simulation.options.controllers.contains(&name) {
                simulation.start_controller(client);
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
        &self.record
    }

    /// Returns the number of messages handled so far: what a bench divides by.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.deliveries
    }

    /// Returns the number of renewals among them that were done and not sent: see [`Heartbeats::Direct`].
    #[must_use]
    pub const fn direct_renewals(&self) -> u64 {
        self.direct_renewals
    }

    /// Returns what is due next: when, whose, what for.
    #[must_use]
    pub fn next_due(&self) -> Option<(Timestamp, Text, &'static str)> {
        let timers = self.timers.iter().filter(|(at, client)| self.is_scheduled(*client, *at)).copied();
        let wake = timers.min().and_then(|(at, client)| {
            Some((at, self.slots[client as usize].name.clone(), self.deadlines[client as usize]?.reason))
        });
        let network = self.network.next_deadline().map(|at| (at, Text::of("network"), "a message held back"));
        let api = self.api.next_deadline().map(|deadline| (deadline.at, Text::of("api"), deadline.reason));
        [network, api, wake].into_iter().flatten().min_by_key(|(at, ..)| *at)
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

    /// Does everything that is due at the present instant, so that what is asked next sees it done.
    pub fn finish_instant(&mut self) {
        self.advance_until(self.now);
    }

    /// Goes to the next instant, not after `until`, at which something is due, and does all of that instant; false if
    /// there is none (the clock stays then).
    pub fn step(&mut self, until: Timestamp) -> bool {
        let next = self.next_instant().filter(|at| *at <= until);
        next.map(|at| self.do_instant(at)).is_some()
    }

    /// Goes on as [`Self::step`] does, up to an instant that brings a commit or a decision; false if none does.
    pub(crate) fn step_to_news(&mut self, until: Timestamp) -> bool {
        let decided = self.record.decisions().len();
        loop {
            self.run_idle(until);
            if !self.step(until) {
                break;
            }
            if !self.commits.is_empty() || self.record.decisions().len() > decided {
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
        let (before, mut timers) = (self.deliveries, 0);
        loop {
            self.network.handle_timeout(self.now);
            if self.api.next_deadline().is_some_and(|deadline| deadline.at <= self.now) {
                self.api.handle_timeout(self.now);
                self.pump_api();
            }
            self.settle();
            if let Some(client) = self.pop_wake() {
                self.wake(client);
                self.settle();
            }
            let next = self.next_instant();
            if next.is_none_or(|next| next > self.now) {
                return next;
            }
            timers += 1;
            assert!(
                self.deliveries - before + timers < DELIVERIES_PER_INSTANT_MAX,
                "live-lock at {}: the last messages were\n{}",
                self.now,
                self.record.last_lines(20)
            );
        }
    }

    /// Sends a request as a person or a test does, under the name `user/NAME` for rules, and returns the answer.
    ///
    /// # Errors
    /// No answer came at this instant, since a rule holds it back.
    pub fn request(&mut self, identity: Arc<Identity>, call: Call) -> Result<Answer, TransportError> {
        let (client, id) = self.send_as_user(identity, call);
        self.finish_instant();
        self.end_wait_now(client, id);
        let Actor::User(user) = &mut self.slots[client.0 as usize].actor else { unreachable!("a user's slot") };
        let answer = user.answers.remove(&id);
        answer.unwrap_or_else(|| {
            self.network.cancel(client, id, self.now);
            self.settle();
            Err(TransportError::Timeout)
        })
    }

    /// Has a request answered at this instant that waits for a revision.
    fn end_wait_now(&mut self, client: ClientId, id: RequestId) {
        if self.api.end_wait_now(client, id, self.now) {
            self.pump_api();
            self.finish_instant();
        }
    }

    /// Opens a watch as a person or a test does.
    ///
    /// # Errors
    /// The answer that refuses it, or why there is none.
    pub fn watch(&mut self, identity: Arc<Identity>, call: Call) -> Result<(ClientId, RequestId), Box<Answer>> {
        let (client, id) = self.send_as_user(identity, call);
        let Actor::User(user) = &mut self.slots[client.0 as usize].actor else { unreachable!("a user's slot") };
        user.watches.insert(id, WatchInbox::default());
        self.finish_instant();
        self.end_wait_now(client, id);
        let Actor::User(user) = &mut self.slots[client.0 as usize].actor else { unreachable!("a user's slot") };
        match user.answers.remove(&id) {
            Some(Ok(answer)) if answer.is_success() => Ok((client, id)),
            refused => {
                user.watches.remove(&id);
                let gone = || Answer::json(504, crate::json!({"message": "no answer: a rule holds it back"}));
                Err(Box::new(refused.and_then(Result::ok).unwrap_or_else(gone)))
            }
        }
    }

    /// Returns what a watch received since the last look; `None` for an unknown one.
    pub fn take_watch(&mut self, client: ClientId, id: RequestId) -> Option<WatchInbox> {
        let Some(ActorSlot { actor: Actor::User(user), .. }) = self.slots.get_mut(client.0 as usize) else {
            return None;
        };
        let inbox = user.watches.get_mut(&id)?;
        let events = core::mem::take(&mut inbox.events);
        Some(WatchInbox { events, ended: inbox.ended })
    }

    /// Ends a watch.
    pub fn close_watch(&mut self, client: ClientId, id: RequestId) {
        if let Some(ActorSlot { actor: Actor::User(user), .. }) = self.slots.get_mut(client.0 as usize) {
            user.watches.remove(&id);
            self.network.cancel(client, id, self.now);
            self.settle();
        }
    }

    /// Adds a machine and lets it do what it does at once.
    ///
    /// # Errors
    /// The name is taken, the specification is wrong, or the kubelet refuses to start.
    pub fn add_machine(&mut self, spec: MachineSpec) -> Result<(), SimError> {
        let name = spec.name.clone();
        let path = Text::from(format!("machine/{name}"));
        if self.by_name.contains_key(&path) {
            return Err(SimError::MachineExists(name));
        }
        self.settle();
        let context = self.context(&format!("kubelet/{name}"));
        let machine = Machine::new(spec, context, self.now)?;
        let client = self.add_slot(path, Actor::Machine(Box::new(machine)));
        self.pump(client);
        self.settle();
        Ok(())
    }

    /// Returns a machine.
    #[must_use]
    pub fn machine(&self, name: &str) -> Option<&Machine> {
        match &self.slots[self.by_name.get(format!("machine/{name}").as_str())?.0 as usize].actor {
            Actor::Machine(machine) => Some(machine),
            _ => None,
        }
    }

    /// Returns all machines, in the order in which they were added.
    pub fn machines(&self) -> impl Iterator<Item = &Machine> {
        self.slots.iter().filter_map(|slot| match &slot.actor {
            Actor::Machine(machine) => Some(&**machine),
            _ => None,
        })
    }

    /// Lets something happen to a machine.
    ///
    /// # Errors
    /// There is no such machine, or it refuses.
    pub fn machine_do(&mut self, name: &str, action: MachineAction) -> Result<(), SimError> {
        let missing = || SimError::NoMachine(Text::from(name));
        let client = *self.by_name.get(format!("machine/{name}").as_str()).ok_or_else(missing)?;
        self.settle();
        let now = self.now;
        self.return_loops(client);
        let Actor::Machine(machine) = &mut self.slots[client.0 as usize].actor else { return Err(missing()) };
        let outcome = machine.handle_action(action, now);
        self.pump(client);
        self.settle();
        Ok(outcome?)
    }

    /// Lays a rule on the network.
    pub fn add_rule(&mut self, fault: Fault) -> RuleId {
        self.settle();
        let id = self.network.add_rule(fault, self.now);
        for client in self.network.clients_under(id) {
            self.return_loops(client);
        }
        self.settle();
        id
    }

    /// Takes a rule away and returns it with what it met.
    ///
    /// # Errors
    /// There is no such rule.
    pub fn remove_rule(&mut self, id: RuleId) -> Result<Rule, SimError> {
        let rule = self.network.remove_rule(id, self.now).ok_or(SimError::NoRule(id.0))?;
        self.settle();
        Ok(rule)
    }

    /// Returns the rules that ended by themselves, until they are removed.
    pub fn ended_rules(&self) -> impl ExactSizeIterator<Item = &Rule> {
        self.network.ended_rules()
    }

    /// Returns the rules in force.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = &Rule> {
        self.network.rules()
    }

    /// Returns the controllers: name, and the controller itself if it runs.
    pub fn controllers(&self) -> impl Iterator<Item = (&'static str, Option<&dyn Controller>)> {
        self.slots.iter().filter_map(|slot| match &slot.actor {
            Actor::Controller(name, controller) => Some((*name, controller.as_deref())),
            _ => None,
        })
    }

    /// Lets something happen to a controller.
    ///
    /// # Errors
    /// There is no such controller, or it has no such loop.
    pub fn controller_do(&mut self, name: &str, action: &ControllerAction) -> Result<(), SimError> {
        let missing = || SimError::NoController(Text::from(name));
        let client = *self.by_name.get(format!("controller/{name}").as_str()).ok_or_else(missing)?;
        self.settle();
        if matches!(action, ControllerAction::Stop | ControllerAction::Restart) {
            self.stop_controller(client);
        }
        match action {
            ControllerAction::Start | ControllerAction::Restart => self.start_controller(client),
            ControllerAction::Stop => {}
            ControllerAction::RunOnce(which) => {
                let now = self.now;
                let ran = match &mut self.slots[client.0 as usize].actor {
                    Actor::Controller(_, Some(controller)) => controller.run_once(which, now),
                    _ => false,
                };
                if !ran {
                    return Err(SimError::NoLoop(Text::from(name), which.clone()));
                }
                self.pump(client);
            }
        }
        self.settle();
        Ok(())
    }

    fn context(&self, name: &str) -> Context {
        Context { settings: self.settings.clone(), chance: self.chance.fork(name) }
    }

    fn add_slot(&mut self, name: impl Into<Text>, actor: Actor) -> ClientId {
        let name = name.into();
        let client = self.network.connect(name.clone());
        self.by_name.insert(name.clone(), client);
        self.slots.push(ActorSlot { actor, name });
        self.deadlines.push(None);
        self.idle.push(None);
        client
    }

    fn start_controller(&mut self, client: ClientId) {
        let name = match &self.slots[client.0 as usize].actor {
            Actor::Controller(name, None) => *name,
            _ => return,
        };
        let controller = registry::start(name, self.context(name), self.now);
        self.slots[client.0 as usize].actor = Actor::Controller(name, controller);
        self.pump(client);
    }

    fn stop_controller(&mut self, client: ClientId) {
        if let Actor::Controller(_, controller) = &mut self.slots[client.0 as usize].actor {
            *controller = None;
            self.deadlines[client.0 as usize] = None;
            self.network.forget(client);
        }
    }

    /// Returns the client that stands for a person or a test, if it has asked for something before.
    fn user(&self, name: &str) -> Option<ClientId> {
        self.by_name.get(user_path(name).as_str()).copied()
    }

    fn send_as_user(&mut self, identity: Arc<Identity>, call: Call) -> (ClientId, RequestId) {
        self.settle();
        let client = match self.user(&identity.user) {
            Some(client) => client,
            None => self.add_slot(user_path(&identity.user), Actor::User(Box::default())),
        };
        let Actor::User(user) = &mut self.slots[client.0 as usize].actor else { unreachable!("a user's slot") };
        user.last_request += 1;
        let id = RequestId(user.last_request);
        let ask = Ask::Call(Box::new(call));
        self.send(client, Request { id, identity, ask, timeout: None, because: None });
        (client, id)
    }

    fn send(&mut self, client: ClientId, request: Request) {
        self.record.request(self.now, client, &self.slots[client.0 as usize].name, &request);
        self.network.send(client, request, self.now);
    }

    /// Tells whether a component waits for an instant; what else stands in the queue is stale.
    fn is_scheduled(&self, client: u32, at: Timestamp) -> bool {
        self.deadlines[client as usize].is_some_and(|scheduled| scheduled.at == at)
    }

    /// Finds the next component to wake; stale entries fall out of the queue on the way.
    fn next_wake(&mut self) -> Option<(Timestamp, u32)> {
        loop {
            let (at, client) = self.timers.peek()?;
            if self.is_scheduled(client, at) {
                return Some((at, client));
            }
            self.timers.pop();
        }
    }

    /// Finds the next instant at which something is due.
    fn next_instant(&mut self) -> Option<Timestamp> {
        let mut next = self.next_wake().map(|(at, _)| at);
        for other in [self.network.next_deadline(), self.api.next_deadline().map(|deadline| deadline.at)] {
            if other.is_some_and(|at| next.is_none_or(|next| at < next)) {
                next = other;
            }
        }
        next
    }

    /// Takes the first component that is due now out of the queue.
    fn pop_wake(&mut self) -> Option<ClientId> {
        let (_, client) = self.next_wake().filter(|(at, _)| *at <= self.now)?;
        self.timers.pop();
        Some(ClientId(client))
    }

    fn wake(&mut self, client: ClientId) {
        let now = self.now;
        self.return_loops(client);
        let slot = &mut self.slots[client.0 as usize];
        if let Some(deadline) = self.deadlines[client.0 as usize].take() {
            self.record.timer(now, &slot.name, deadline.reason);
        }
        match &mut slot.actor {
            Actor::Controller(_, Some(controller)) => controller.handle_timeout(now),
            Actor::Machine(machine) => machine.handle_timeout(now),
            Actor::Controller(_, None) | Actor::User(_) => {}
        }
        self.pump(client);
    }

    /// Hands over everything that has arrived, until nothing is left for this instant.
    fn settle(&mut self) {
        while let Some(delivery) = self.network.poll_delivery() {
            self.deliveries += 1;
            match delivery {
                Delivery::ToServer { client, request } => {
                    self.api.handle_request(client, request, self.now);
                    self.pump_api();
                }
                Delivery::Cancelled { client, id } => {
                    self.api.handle_cancel(client, id);
                    self.pump_api();
                }
                Delivery::Disconnected { client } => {
                    self.api.handle_disconnect(client);
                    self.pump_api();
                }
                Delivery::ToClient { client, message } => self.hand_over(client, message),
            }
        }
    }

    fn hand_over(&mut self, client: ClientId, message: ToClient) {
        self.record.message(self.now, &self.slots[client.0 as usize].name, &message);
        self.take_message(client, message);
    }

    fn take_message(&mut self, client: ClientId, message: ToClient) {
        let now = self.now;
        self.return_loops(client);
        match &mut self.slots[client.0 as usize].actor {
            Actor::Controller(_, Some(controller)) => controller.handle_message(message, now),
            Actor::Machine(machine) => machine.handle_message(message, now),
            Actor::User(user) => user.receive(message),
            Actor::Controller(_, None) => {}
        }
        self.pump(client);
    }

    /// Polls a component empty and notes when it wants to be woken.
    fn pump(&mut self, client: ClientId) {
        loop {
            let output = match &mut self.slots[client.0 as usize].actor {
                Actor::Controller(_, Some(controller)) => controller.poll_output(),
                Actor::Machine(machine) => machine.poll_output(),
                Actor::Controller(_, None) | Actor::User(_) => None,
            };
            match output {
                None => break,
                Some(Output::Request(request)) => self.send(client, request),
                Some(Output::Cancel(id)) => self.network.cancel(client, id, self.now),
                Some(Output::Exit) => self.network.forget(client),
                Some(Output::Decision(decision)) => {
                    let name = &self.slots[client.0 as usize].name;
                    self.record.decision(self.now, client, name, decision);
                }
                Some(Output::Log(line)) => {
                    let name = &self.slots[client.0 as usize].name;
                    self.record.log(self.now, name, line);
                }
            }
        }
        self.schedule(client);
    }

    fn schedule(&mut self, client: ClientId) {
        let deadline = match &mut self.slots[client.0 as usize].actor {
            Actor::Controller(_, Some(controller)) => controller.next_deadline(),
            Actor::Machine(machine) => machine.next_deadline(),
            Actor::Controller(_, None) | Actor::User(_) => None,
        };
        let scheduled = &mut self.deadlines[client.0 as usize];
        if scheduled.map(|scheduled| scheduled.at) != deadline.map(|deadline| deadline.at)
            && let Some(deadline) = deadline
        {
            self.timers.push((deadline.at, client.0));
        }
        *scheduled = deadline;
    }

    fn pump_api(&mut self) {
        while let Some(output) = self.api.poll_output() {
            match output {
                ServerOutput::ToClient { client, message } => self.network.reply(client, message, self.now),
                ServerOutput::Commit(commit) => self.commits.push(*commit),
            }
        }
    }

    /// Returns how long ago the simulation started.
    #[must_use]
    pub fn since_start(&self) -> SignedDuration {
        self.now.duration_since(self.options.start)
    }

    /// Returns a client's name, as rules and the trace know it.
    #[must_use]
    pub fn client_name(&self, client: ClientId) -> &str {
        self.slots.get(client.0 as usize).map_or("", |slot| &slot.name)
    }
}

fn user_path(name: &str) -> String {
    format!("user/{name}")
}

impl User {
    fn receive(&mut self, message: ToClient) {
        match message {
            ToClient::Response { id, result } => {
                self.answers.insert(id, result);
            }
            ToClient::Watch { id, event, object } => {
                if let Some(inbox) = self.watches.get_mut(&id) {
                    inbox.events.push((event, object));
                }
            }
            ToClient::WatchEnded { id, .. } => {
                if let Some(inbox) = self.watches.get_mut(&id) {
                    inbox.ended = true;
                }
            }
        }
    }
}

impl core::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let names: Vec<String> = self.slots.iter().map(|slot| String::from(&*slot.name)).collect();
        f.debug_struct("Simulation").field("now", &self.now).field("actors", &names).finish_non_exhaustive()
    }
}
