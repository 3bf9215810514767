//! The event loop of drivers: components, one network, and the wake-ups of each component.
//!
//! The simulator connects it to its own API server, the hollow nodes to a real one; the driver does what differs.
//! Inputs: components, requests and messages, rules on the network, instants. Outputs: deliveries to the server, and
//! the record of messages, timers and decisions.
//! Invariants: after each call the components are polled empty; deliveries of one instant keep the order of their
//! cause, and equal deadlines go in the order in which the components were added.

mod timer_wheel;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use jiff::Timestamp;

use crate::components::{Component, Deadline, Output, Record};
use crate::network::{ClientId, Delivery, HttpAnswer, HttpId, Network, Request, ToClient};
use crate::objects::Text;
use timer_wheel::TimerWheel;

/// A component of an event loop.
pub trait Process: Component {
    /// Completes a request before it is sent; `None` if it is not to be sent.
    fn complete(&self, request: Request) -> Option<Request> {
        Some(request)
    }
}

#[derive(Clone, Debug)]
struct Slot<P> {
    process: P,
    name: Text,
    /// Its valid entry in the timer wheel; other entries are stale.
    deadline: Option<Deadline>,
}

/// Components with their network.
#[derive(Clone, Debug)]
pub struct EventLoop<P> {
    /// The connections, and the rules on them.
    pub network: Network,
    /// What was sent, and what was decided.
    pub record: Record,
    slots: Vec<Slot<P>>,
    by_name: BTreeMap<Text, ClientId>,
    timers: TimerWheel,
    deliveries: u64,
    /// The answers of components to calls to their own servers.
    served: Vec<(HttpId, HttpAnswer)>,
}

impl<P: Process> EventLoop<P> {
    /// Makes a loop without components.
    #[must_use]
    pub fn new(network: Network, record: Record) -> Self {
        let timers = TimerWheel::new(record.start());
        Self { network, record, slots: Vec::new(), by_name: BTreeMap::new(), timers, deliveries: 0, served: Vec::new() }
    }

    /// Connects a component; the name no longer finds an older one that had it.
    pub fn add(&mut self, name: Text, process: P) -> ClientId {
        let client = self.network.connect(name.clone());
        self.by_name.insert(name.clone(), client);
        self.slots.push(Slot { process, name, deadline: None });
        client
    }

    /// Removes a component's name, connection and wake-up.
    pub fn remove(&mut self, client: ClientId) {
        let slot = &mut self.slots[client.0 as usize];
        self.by_name.remove(&slot.name);
        self.disconnect(client);
    }

    /// Removes a component's connection, with all that is under way on it, and its wake-up.
    pub fn disconnect(&mut self, client: ClientId) {
        self.slots[client.0 as usize].deadline = None;
        self.network.forget(client);
    }

    /// Finds a component by its name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<ClientId> {
        self.by_name.get(name).copied()
    }

    /// Returns a component.
    #[must_use]
    pub fn get(&self, client: ClientId) -> &P {
        &self.slots[client.0 as usize].process
    }

    /// Returns a component to change it; the caller has to call [`Self::pump`] if that may cause outputs.
    pub fn get_mut(&mut self, client: ClientId) -> &mut P {
        &mut self.slots[client.0 as usize].process
    }

    /// Returns the components in the order in which they were added, those that were removed too.
    pub fn iter(&self) -> impl Iterator<Item = &P> {
        self.slots.iter().map(|slot| &slot.process)
    }

    /// Returns a component's name; empty for an unknown one.
    #[must_use]
    pub fn name(&self, client: ClientId) -> &Text {
        const NOBODY: &Text = &Text::of("");
        self.slots.get(client.0 as usize).map_or(NOBODY, |slot| &slot.name)
    }

    /// Returns the answers of components to calls to their own servers, once.
    pub fn take_served(&mut self) -> Vec<(HttpId, HttpAnswer)> {
        core::mem::take(&mut self.served)
    }

    /// Returns the number of deliveries so far.
    #[must_use]
    pub const fn deliveries(&self) -> u64 {
        self.deliveries
    }

    /// Returns when a component wants to be woken.
    #[must_use]
    pub fn deadline(&self, client: ClientId) -> Option<Deadline> {
        self.slots[client.0 as usize].deadline
    }

    /// Returns the next wake-up: instant, component and reason.
    #[must_use]
    pub fn next_due(&self) -> Option<(Timestamp, &Text, &'static str)> {
        let first = self.timers.iter().filter(|(at, client)| self.is_scheduled(*client, *at)).min()?;
        let slot = &self.slots[first.1 as usize];
        Some((first.0, &slot.name, slot.deadline?.reason))
    }

    /// Returns the component that is to be woken first, and when.
    pub fn next_wake(&mut self) -> Option<(Timestamp, ClientId)> {
        loop {
            let (at, client) = self.timers.peek()?;
            if self.is_scheduled(client, at) {
                return Some((at, ClientId(client)));
            }
            // A stale entry.
            self.timers.pop();
        }
    }

    fn is_scheduled(&self, client: u32, at: Timestamp) -> bool {
        self.slots[client as usize].deadline.is_some_and(|scheduled| scheduled.at == at)
    }

    /// Wakes the first component that is due; false if none is.
    pub fn wake_next(&mut self, now: Timestamp) -> bool {
        let Some((_, client)) = self.next_wake().filter(|(at, _)| *at <= now) else { return false };
        self.timers.pop();
        let slot = &mut self.slots[client.0 as usize];
        if let Some(deadline) = slot.deadline.take() {
            self.record.timer(now, &slot.name, deadline.reason);
        }
        slot.process.handle_timeout(now);
        self.pump(client, now);
        true
    }

    /// Skips the wake-up that [`Self::next_wake`] returned, and schedules the component's next one.
    pub(crate) fn skip_wake(&mut self, client: ClientId) {
        self.timers.pop();
        self.slots[client.0 as usize].deadline = None;
        self.schedule(client);
    }

    /// Hands over deliveries to components, up to the next one for the server, which is returned.
    pub fn poll_upward(&mut self, now: Timestamp) -> Option<Delivery> {
        while let Some(delivery) = self.network.poll_delivery() {
            self.deliveries += 1;
            match delivery {
                Delivery::ToClient { client, message } => {
                    self.record.message(now, &self.slots[client.0 as usize].name, &message);
                    self.hand_over(client, message, now);
                }
                upward => return Some(upward),
            }
        }
        None
    }

    /// Gives a component a message.
    pub(crate) fn hand_over(&mut self, client: ClientId, message: ToClient, now: Timestamp) {
        self.slots[client.0 as usize].process.handle_message(message, now);
        self.pump(client, now);
    }

    /// Sends a request of a component.
    pub fn send(&mut self, client: ClientId, request: Request, now: Timestamp) {
        self.record.request(now, client, &self.slots[client.0 as usize].name, &request);
        self.network.send(client, request, now);
    }

    /// Polls a component empty and schedules its wake-up.
    pub fn pump(&mut self, client: ClientId, now: Timestamp) {
        let slot = &mut self.slots[client.0 as usize];
        while let Some(output) = slot.process.poll_output() {
            match output {
                Output::Request(request) => {
                    if let Some(request) = slot.process.complete(request) {
                        self.record.request(now, client, &slot.name, &request);
                        self.network.send(client, request, now);
                    }
                }
                Output::Cancel(id) => self.network.cancel(client, id, now),
                Output::Exit => self.network.forget(client),
                Output::Decision(decision) => self.record.decision(now, client, &slot.name, decision),
                Output::Log(line) => self.record.log(now, &slot.name, line),
                Output::Served(id, answer) => self.served.push((id, answer)),
            }
        }
        self.schedule(client);
    }

    /// Schedules a component's wake-up.
    pub fn schedule(&mut self, client: ClientId) {
        let slot = &mut self.slots[client.0 as usize];
        let deadline = slot.process.next_deadline();
        let is_queued = |at: Timestamp| slot.deadline.is_some_and(|queued| queued.at == at);
        if let Some(at) = deadline.map(|deadline| deadline.at).filter(|at| !is_queued(*at)) {
            self.timers.push((at, client.0));
        }
        slot.deadline = deadline;
    }
}
