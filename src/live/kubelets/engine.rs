//! The machines of a process and the network before them: what is due, what arrived, what has to be sent.
//!
//! The counterpart of the simulator's driver without an API server: the same components and the same rules on their
//! connections, so that a partition or a delay is what it is there. It reads no clock and does no input or output.
//! Inputs: machines, actions, rules, what arrived from the server, time. Outputs: [`TransportCommand`]s for the
//! transport.
//! Invariant: after each input all machines are polled empty, and `next_deadline` is true until the next one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use nodeproof_core::chance::Chance;
use nodeproof_core::components::controller::Context;
use nodeproof_core::components::machine::{Machine, MachineAction, MachineError, MachineSpec};
use nodeproof_core::components::{Component as _, Output, Record};
use nodeproof_core::json;
use nodeproof_core::network::{
    Ask, Call, ClientId, Delivery, Fault, Identity, Network, Request, RequestId, Rule, RuleId, ToClient,
};
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::profile::Settings;

/// What the transport has to do.
#[derive(Clone, Debug)]
pub(super) enum TransportCommand {
    /// Send a request, and bring back its answer.
    Send {
        /// Whose.
        client: ClientId,
        /// Its number.
        id: RequestId,
        /// As whom.
        identity: Arc<Identity>,
        /// What.
        call: Box<Call>,
        /// How long the client waits; `None` for the usual patience.
        patience: Option<jiff::SignedDuration>,
    },
    /// Give up a request or a watch.
    Cancel(ClientId, RequestId),
    /// Close a client's connection; nobody waits for what is under way on it.
    Forget(ClientId),
}

/// Why something cannot be done to a machine.
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
    /// The node got no credentials.
    #[error("no credentials for {user}: {why}")]
    NoCredentials {
        /// As whom it wanted to come.
        user: Text,
        /// What went wrong.
        why: String,
    },
}

#[derive(Debug)]
struct MachineSlot {
    /// `None` once it was removed.
    machine: Option<Box<Machine>>,
    name: Text,
    /// The deadline that stands in the queue; older entries are stale.
    deadline: Option<Timestamp>,
}

/// The machines, and the network before them.
#[derive(Debug)]
pub(super) struct Engine {
    settings: Arc<Settings>,
    chance: Chance,
    network: Network,
    slots: Vec<MachineSlot>,
    by_name: BTreeMap<Text, ClientId>,
    timers: BinaryHeap<Reverse<(Timestamp, u32)>>,
    record: Record,
    orders: VecDeque<TransportCommand>,
}

impl Engine {
    /// Makes an engine without machines.
    pub(super) fn new(settings: Settings, seed: u64, now: Timestamp) -> Self {
        let chance = Chance::new(seed);
        Self {
            settings: Arc::new(settings),
            network: Network::new(chance.fork("network")),
            chance,
            slots: Vec::new(),
            by_name: BTreeMap::new(),
            timers: BinaryHeap::new(),
            record: Record::new(now, false),
            orders: VecDeque::new(),
        }
    }

    /// Returns the decisions so far.
    pub(super) const fn record(&self) -> &Record {
        &self.record
    }

    /// Adds a machine and lets it do what it does at once.
    pub(super) fn add(&mut self, spec: MachineSpec, now: Timestamp) -> Result<(), HollowError> {
        if self.by_name.contains_key(&spec.name) {
            return Err(HollowError::MachineExists(spec.name));
        }
        let name = spec.name.clone();
        let context = Context { settings: self.settings.clone(), chance: self.chance.fork(&format!("kubelet/{name}")) };
        let machine = Machine::new(spec, context, now)?;
        let path = Text::from(format!("machine/{name}"));
        let client = self.network.connect(path.clone());
        self.by_name.insert(name, client);
        self.slots.push(MachineSlot { machine: Some(Box::new(machine)), name: path, deadline: None });
        self.pump(client, now);
        self.settle(now);
        Ok(())
    }

    /// Takes a machine away, as if it had lost its power, with all that was known of it.
    pub(super) fn remove(&mut self, name: &str, now: Timestamp) -> Result<(), HollowError> {
        let client = self.client(name)?;
        self.by_name.remove(name);
        let slot = &mut self.slots[client.0 as usize];
        (slot.machine, slot.deadline) = (None, None);
        self.network.forget(client);
        self.settle(now);
        Ok(())
    }

    /// Lets something happen to a machine.
    pub(super) fn perform(&mut self, name: &str, action: MachineAction, now: Timestamp) -> Result<(), HollowError> {
        let client = self.client(name)?;
        self.handle_timeout(now);
        let machine = self.slots[client.0 as usize].machine.as_mut();
        let outcome = machine.ok_or_else(|| HollowError::NoMachine(Text::from(name)))?.handle_action(action, now);
        self.pump(client, now);
        self.settle(now);
        Ok(outcome?)
    }

    /// Lays a rule on the network.
    pub(super) fn add_rule(&mut self, fault: Fault, now: Timestamp) -> RuleId {
        let id = self.network.add_rule(fault, now);
        self.settle(now);
        id
    }

    /// Takes a rule away.
    pub(super) fn remove_rule(&mut self, id: RuleId, now: Timestamp) -> Result<Rule, HollowError> {
        let rule = self.network.remove_rule(id, now).ok_or(HollowError::NoRule(id.0))?;
        self.settle(now);
        Ok(rule)
    }

    /// Returns the rules, each with whether it is in force or has ended by itself.
    pub(super) fn rules(&self) -> impl Iterator<Item = (&Rule, bool)> {
        let ended = self.network.ended_rules().map(|rule| (rule, false));
        self.network.rules().map(|rule| (rule, true)).chain(ended)
    }

    /// Returns the machines in the order in which they were added.
    pub(super) fn machines(&self) -> impl Iterator<Item = &Machine> {
        self.slots.iter().filter_map(|slot| slot.machine.as_deref())
    }

    /// Returns a machine.
    pub(super) fn machine(&self, name: &str) -> Option<&Machine> {
        self.slots[self.by_name.get(name)?.0 as usize].machine.as_deref()
    }

    /// Returns the client of a machine.
    pub(super) fn client(&self, name: &str) -> Result<ClientId, HollowError> {
        self.by_name.get(name).copied().ok_or_else(|| HollowError::NoMachine(Text::from(name)))
    }

    /// Shows a machine as the control interface does, with its links.
    pub(super) fn describe(&self, name: &str, now: Timestamp) -> Option<Json> {
        let machine = self.machine(name)?;
        let client = format!("machine/{name}");
        let lies = |rule: &&Rule| rule.lies_on(&client);
        let state = if self.network.rules().filter(lies).any(Rule::stalls) { "stalled" } else { "up" };
        let rules: Json = self.network.rules().filter(lies).map(|rule| Json::from(rule.id.name())).collect();
        let mut link = json!({"to": "api", "state": state});
        link.set(&["rules"], rules);
        let mut shown = machine.describe(now);
        shown.set(&["links"], json!([link]));
        Some(shown)
    }

    /// Takes what arrived from the server for a client.
    pub(super) fn handle_message(&mut self, client: ClientId, message: ToClient, now: Timestamp) {
        self.network.reply(client, message, now);
        self.settle(now);
    }

    /// Does what is due.
    pub(super) fn handle_timeout(&mut self, now: Timestamp) {
        self.network.handle_timeout(now);
        self.settle(now);
        while let Some((at, client)) = self.next_wake()
            && at <= now
        {
            self.timers.pop();
            let slot = &mut self.slots[client as usize];
            slot.deadline = None;
            if let Some(machine) = &mut slot.machine {
                machine.handle_timeout(now);
            }
            self.pump(ClientId(client), now);
            self.settle(now);
        }
    }

    /// Returns when something is due.
    pub(super) fn next_deadline(&mut self) -> Option<Timestamp> {
        let wake = self.next_wake().map(|(at, _)| at);
        wake.into_iter().chain(self.network.next_deadline()).min()
    }

    /// Returns what the transport has to do next.
    pub(super) fn poll_command(&mut self) -> Option<TransportCommand> {
        self.orders.pop_front()
    }

    /// Finds the next machine to wake; stale entries fall out of the queue on the way.
    fn next_wake(&mut self) -> Option<(Timestamp, u32)> {
        loop {
            let Reverse((at, client)) = *self.timers.peek()?;
            if self.slots[client as usize].deadline == Some(at) {
                return Some((at, client));
            }
            self.timers.pop();
        }
    }

    /// Polls a machine empty and notes when it wants to be woken.
    fn pump(&mut self, client: ClientId, now: Timestamp) {
        let slot = &mut self.slots[client.0 as usize];
        let Some(machine) = &mut slot.machine else { return };
        while let Some(output) = machine.poll_output() {
            match output {
                Output::Request(mut request) => {
                    // What a renewal leaves unsaid is known now; a rule may hold the request for longer.
                    let Some(call) = request.ask.written_out(machine.lease()) else { continue };
                    request.ask = Ask::Call(call);
                    self.network.send(client, request, now);
                }
                Output::Cancel(id) => self.network.cancel(client, id, now),
                Output::Exit => self.network.forget(client),
                Output::Decision(decision) => self.record.decision(now, client, &slot.name, decision),
                Output::Log(line) => self.record.log(now, &slot.name, line),
            }
        }
        let deadline = machine.next_deadline().map(|deadline| deadline.at);
        if let Some(at) = deadline.filter(|at| slot.deadline != Some(*at)) {
            self.timers.push(Reverse((at, client.0)));
        }
        slot.deadline = deadline;
    }

    /// Hands over everything that has arrived, until nothing is left for this instant.
    fn settle(&mut self, now: Timestamp) {
        while let Some(delivery) = self.network.poll_delivery() {
            match delivery {
                Delivery::ToClient { client, message } => {
                    if let Some(machine) = &mut self.slots[client.0 as usize].machine {
                        machine.handle_message(message, now);
                    }
                    self.pump(client, now);
                }
                upward => self.command(upward),
            }
        }
    }

    fn command(&mut self, delivery: Delivery) {
        self.orders.extend(match delivery {
            Delivery::ToServer { client, request: Request { id, identity, ask: Ask::Call(call), timeout, .. } } => {
                Some(TransportCommand::Send { client, id, identity, call, patience: timeout })
            }
            Delivery::Cancelled { client, id } => Some(TransportCommand::Cancel(client, id)),
            Delivery::Disconnected { client } => Some(TransportCommand::Forget(client)),
            Delivery::ToServer { .. } | Delivery::ToClient { .. } => None,
        });
    }
}

#[cfg(test)]
mod tests;
