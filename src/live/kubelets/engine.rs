//! The machines of a process and their network: what is due, what arrived, what has to be sent.
//!
//! The core's event loop with machines, and what a cluster needs beside Kubernetes' own programs: the same components
//! and the same rules on their connections as in the simulator, so that a partition or a delay has the same effect.
//! Inputs: machines, actions, rules, messages of the server, time. Outputs: [`TransportCommand`]s for the transport.
//! Invariants: it reads no clock and does no input or output; after each input all machines are polled empty, and
//! `next_deadline` is valid until the next input.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use nodeproof_core::chance::Chance;
use nodeproof_core::components::controller::{Context, Controller};
use nodeproof_core::components::machine::{Machine, MachineAction, MachineError, MachineSpec};
use nodeproof_core::components::{Component, Deadline, Output, Record, registry};
use nodeproof_core::event_loop::{EventLoop, Process};
use nodeproof_core::json;
use nodeproof_core::network::{
    Ask, Call, ClientId, Delivery, Fault, Identity, Network, Request, RequestId, Rule, RuleId, ToClient,
};
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::profile::Settings;

/// A command for the transport.
#[derive(Clone, Debug)]
pub(super) enum TransportCommand {
    /// Send a request, and deliver its answer.
    Send {
        /// The client that sends it.
        client: ClientId,
        /// Its number.
        id: RequestId,
        /// The user.
        identity: Arc<Identity>,
        /// The request.
        call: Box<Call>,
        /// How long the client waits; `None` for the default time limit.
        patience: Option<jiff::SignedDuration>,
    },
    /// Give up a request or a watch.
    Cancel(ClientId, RequestId),
    /// Close a client's connection; answers to its requests are not needed.
    Forget(ClientId),
}

/// Why an operation on a machine fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HollowError {
    /// There is no machine of that name.
    #[error("there is no machine {0:?}")]
    NoMachine(Text),
    /// There is one already.
    #[error("there is a machine {0:?} already")]
    MachineExists(Text),
    /// There is no rule of that number.
    #[error("there is no rule r{0}")]
    NoRule(u32),
    /// The machine refuses.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The node has no credentials.
    #[error("no credentials for {user}: {why}")]
    NoCredentials {
        /// The user that it should have.
        user: Text,
        /// What went wrong.
        why: String,
    },
}

/// What takes part in the event loop.
enum Member {
    /// A machine.
    Machine(Box<Machine>),
    /// A controller that clusters have beside those of Kubernetes, as the attacher of a CSI driver.
    Controller(Box<dyn Controller>),
    /// What was removed.
    Removed,
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine(machine) => machine.fmt(f),
            Self::Controller(_) => f.write_str("Controller(..)"),
            Self::Removed => f.write_str("Removed"),
        }
    }
}

impl Member {
    fn component(&self) -> Option<&dyn Component> {
        match self {
            Self::Machine(machine) => Some(&**machine),
            Self::Controller(controller) => Some(&**controller),
            Self::Removed => None,
        }
    }

    fn component_mut(&mut self) -> Option<&mut dyn Component> {
        match self {
            Self::Machine(machine) => Some(&mut **machine),
            Self::Controller(controller) => Some(&mut **controller),
            Self::Removed => None,
        }
    }

    fn machine(&self) -> Option<&Machine> {
        if let Self::Machine(machine) = self { Some(machine) } else { None }
    }
}

impl Component for Member {
    fn handle_message(&mut self, message: ToClient, now: Timestamp) {
        if let Some(component) = self.component_mut() {
            component.handle_message(message, now);
        }
    }

    fn handle_timeout(&mut self, now: Timestamp) {
        if let Some(component) = self.component_mut() {
            component.handle_timeout(now);
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.component_mut()?.poll_output()
    }

    fn next_deadline(&self) -> Option<Deadline> {
        self.component()?.next_deadline()
    }
}

impl Process for Member {
    /// Writes out the whole request of a renewal now, since a rule may hold the request back.
    fn complete(&self, mut request: Request) -> Option<Request> {
        if let Self::Machine(machine) = self {
            request.ask = Ask::Call(request.ask.written_out(machine.lease())?);
        }
        Some(request)
    }
}

/// The machines and their network.
#[derive(Debug)]
pub(super) struct Engine {
    settings: Arc<Settings>,
    chance: Chance,
    event_loop: EventLoop<Member>,
    commands: VecDeque<TransportCommand>,
}

impl Engine {
    /// Makes an engine without machines.
    pub(super) fn new(settings: Settings, seed: u64, now: Timestamp) -> Self {
        let chance = Chance::new(seed);
        let network = Network::new(chance.fork("network"));
        Self {
            settings: Arc::new(settings),
            event_loop: EventLoop::new(network, Record::new(now, false)),
            chance,
            commands: VecDeque::new(),
        }
    }

    /// Returns the decisions so far.
    pub(super) const fn record(&self) -> &Record {
        &self.event_loop.record
    }

    /// Adds a machine and does what is due for it at once.
    pub(super) fn add(&mut self, spec: MachineSpec, now: Timestamp) -> Result<(), HollowError> {
        let path = Text::from(path_of(&spec.name));
        if self.event_loop.find(&path).is_some() {
            return Err(HollowError::MachineExists(spec.name));
        }
        let name = format!("kubelet/{}", spec.name);
        let context = Context { settings: self.settings.clone(), chance: self.chance.fork(&name) };
        let machine = Machine::new(spec, context, now)?;
        let client = self.event_loop.add(path, Member::Machine(Box::new(machine)));
        self.event_loop.pump(client, now);
        self.settle(now);
        Ok(())
    }

    /// Starts a controller beside the machines; nothing happens if it runs already.
    pub(super) fn start_controller(&mut self, name: &'static str, now: Timestamp) {
        let path = Text::from(format!("controller/{name}"));
        if self.event_loop.find(&path).is_some() {
            return;
        }
        let context = Context { settings: self.settings.clone(), chance: self.chance.fork(&path) };
        if let Some(controller) = registry::start(name, context, now) {
            let client = self.event_loop.add(path, Member::Controller(controller));
            self.event_loop.pump(client, now);
            self.settle(now);
        }
    }

    /// Ends a controller.
    pub(super) fn stop_controller(&mut self, name: &str, now: Timestamp) {
        if let Some(client) = self.event_loop.find(&format!("controller/{name}")) {
            *self.event_loop.get_mut(client) = Member::Removed;
            self.event_loop.remove(client);
            self.settle(now);
        }
    }

    /// Removes a machine as if it had lost its power, with everything that was known of it.
    pub(super) fn remove(&mut self, name: &str, now: Timestamp) -> Result<(), HollowError> {
        let client = self.client(name)?;
        *self.event_loop.get_mut(client) = Member::Removed;
        self.event_loop.remove(client);
        self.settle(now);
        Ok(())
    }

    /// Does an action on a machine.
    pub(super) fn perform(&mut self, name: &str, action: MachineAction, now: Timestamp) -> Result<(), HollowError> {
        let client = self.client(name)?;
        self.handle_timeout(now);
        let plugs = action.plugs();
        let Member::Machine(machine) = self.event_loop.get_mut(client) else {
            return Err(HollowError::NoMachine(Text::from(name)));
        };
        let outcome = machine.handle_action(action, now);
        self.event_loop.pump(client, now);
        if let Some(plugged) = plugs.filter(|_| outcome.is_ok()) {
            self.event_loop.network.set_plugged(client, plugged, now);
        }
        self.settle(now);
        Ok(outcome?)
    }

    /// Adds a network rule.
    pub(super) fn add_rule(&mut self, fault: Fault, now: Timestamp) -> RuleId {
        let id = self.event_loop.network.add_rule(fault, now);
        self.settle(now);
        id
    }

    /// Removes a network rule.
    pub(super) fn remove_rule(&mut self, id: RuleId, now: Timestamp) -> Result<Rule, HollowError> {
        let rule = self.event_loop.network.remove_rule(id, now).ok_or(HollowError::NoRule(id.0))?;
        self.settle(now);
        Ok(rule)
    }

    /// Returns the rules, each with whether it is in force or has ended by itself.
    pub(super) fn rules(&self) -> impl Iterator<Item = (&Rule, bool)> {
        let ended = self.event_loop.network.ended_rules().map(|rule| (rule, false));
        self.event_loop.network.rules().map(|rule| (rule, true)).chain(ended)
    }

    /// Returns the machines in the order in which they were added.
    pub(super) fn machines(&self) -> impl Iterator<Item = &Machine> {
        self.event_loop.iter().filter_map(Member::machine)
    }

    /// Returns a machine.
    pub(super) fn machine(&self, name: &str) -> Option<&Machine> {
        self.event_loop.get(self.client(name).ok()?).machine()
    }

    /// Returns the client of a machine.
    pub(super) fn client(&self, name: &str) -> Result<ClientId, HollowError> {
        self.event_loop.find(&path_of(name)).ok_or_else(|| HollowError::NoMachine(Text::from(name)))
    }

    /// Returns a machine with its links, as the control interface prints it.
    pub(super) fn describe(&self, name: &str, now: Timestamp) -> Option<Json> {
        let machine = self.machine(name)?;
        let client = path_of(name);
        let lies = |rule: &&Rule| rule.lies_on(&client);
        let state = if self.event_loop.network.rules().filter(lies).any(Rule::stalls) { "stalled" } else { "up" };
        let rules: Json = self.event_loop.network.rules().filter(lies).map(|rule| Json::from(rule.id.name())).collect();
        let mut link = json!({"to": "api", "state": state});
        link.set(&["rules"], rules);
        let mut shown = machine.describe(now);
        shown.set(&["links"], json!([link]));
        Some(shown)
    }

    /// Takes a message of the server for a client.
    pub(super) fn handle_message(&mut self, client: ClientId, message: ToClient, now: Timestamp) {
        self.event_loop.network.reply(client, message, now);
        self.settle(now);
    }

    /// Does what is due.
    pub(super) fn handle_timeout(&mut self, now: Timestamp) {
        self.event_loop.network.handle_timeout(now);
        self.settle(now);
        while self.event_loop.wake_next(now) {
            self.settle(now);
        }
    }

    /// Returns when something is due.
    pub(super) fn next_deadline(&mut self) -> Option<Timestamp> {
        let wake = self.event_loop.next_wake().map(|(at, _)| at);
        wake.into_iter().chain(self.event_loop.network.next_deadline()).min()
    }

    /// Returns the next command for the transport.
    pub(super) fn poll_command(&mut self) -> Option<TransportCommand> {
        self.commands.pop_front()
    }

    /// Delivers everything that has arrived, until nothing is left for this instant.
    fn settle(&mut self, now: Timestamp) {
        while let Some(delivery) = self.event_loop.poll_upward(now) {
            self.command(delivery);
        }
    }

    fn command(&mut self, delivery: Delivery) {
        self.commands.extend(match delivery {
            Delivery::ToServer { client, request: Request { id, identity, ask: Ask::Call(call), timeout, .. } } => {
                Some(TransportCommand::Send { client, id, identity, call, patience: timeout })
            }
            Delivery::Cancelled { client, id } => Some(TransportCommand::Cancel(client, id)),
            Delivery::Disconnected { client } => Some(TransportCommand::Forget(client)),
            Delivery::ToServer { .. } | Delivery::ToClient { .. } => None,
        });
    }
}

/// Returns the name of a machine in the network.
fn path_of(name: &str) -> String {
    format!("machine/{name}")
}

#[cfg(test)]
mod tests;
