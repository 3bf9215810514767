//! The transport: carries messages over the connections, and delays what rules and stalls hold back.
//!
//! Mirrors client-go's HTTP/2 transport (k8s.io/apimachinery pkg/util/net/http.go, v1.34): a ping after 30 s without a
//! frame, 15 s for its answer, then the connection is given up and everything on it fails; a dial fails after 30 s.
//! Inputs: messages, rules, time. Outputs: deliveries. Invariants: each direction of a connection is FIFO; without
//! rules a message is delivered at the instant at which it was sent.

mod cloud;
mod link;
mod rules;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use self::link::{ConnectionFaults, ConnectionState, DueEvent, DueKey, Link, Upward};
use super::rule::{Rule, RuleId};
use super::{Ask, ClientId, Request, RequestId, ToClient, TransportError, Verb};
use crate::chance::Chance;
use crate::objects::Text;

/// Silence after which a client sends a ping. Source: `HTTP2_READ_IDLE_TIMEOUT_SECONDS`, default 30.
const READ_IDLE: SignedDuration = SignedDuration::from_secs(30);
/// How long a client waits for the answer to its ping. Source: `HTTP2_PING_TIMEOUT_SECONDS`, default 15.
const PING_TIMEOUT: SignedDuration = SignedDuration::from_secs(15);
/// How long a client tries to connect. Source: k8s.io/client-go/transport/cache.go, `net.Dialer{Timeout: 30s}`.
const DIAL_TIMEOUT: SignedDuration = SignedDuration::from_secs(30);
/// Time-out of a request without one of its own. Source: kube-apiserver `--request-timeout`, default 1m0s.
const REQUEST_TIMEOUT: SignedDuration = SignedDuration::from_secs(60);

/// A delivery of the network.
#[derive(Clone, Debug)]
pub enum Delivery {
    /// A request reaches the server, or a call the cloud.
    ToServer {
        /// Who sent it.
        client: ClientId,
        /// The request.
        request: Request,
    },
    /// A client gave up a request or a watch.
    Cancelled {
        /// Whose it was.
        client: ClientId,
        /// Which one.
        id: RequestId,
    },
    /// A client's connection is gone, with all of its watches.
    Disconnected {
        /// Whose it was.
        client: ClientId,
    },
    /// A message reaches a client.
    ToClient {
        /// Which client.
        client: ClientId,
        /// The message.
        message: ToClient,
    },
}

/// All connections to the API server, and the rules on them.
#[derive(Clone, Debug)]
pub struct Network {
    links: Vec<Link>,
    by_name: BTreeMap<Text, ClientId>,
    rules: BTreeMap<RuleId, Rule>,
    ended: Vec<Rule>,
    last_rule: u32,
    due: BTreeMap<DueKey, DueEvent>,
    last_due: u64,
    deliveries: VecDeque<Delivery>,
    chance: Chance,
    /// Whether the cloud was ever called.
    has_cloud: bool,
}

impl Network {
    /// Makes a network without clients and rules.
    #[must_use]
    pub fn new(chance: Chance) -> Self {
        Self {
            links: Vec::new(),
            by_name: BTreeMap::new(),
            rules: BTreeMap::new(),
            ended: Vec::new(),
            last_rule: 0,
            due: BTreeMap::new(),
            last_due: 0,
            deliveries: VecDeque::new(),
            chance,
            has_cloud: false,
        }
    }

    /// Connects a client under the name that rules use.
    pub fn connect(&mut self, name: impl Into<Text>) -> ClientId {
        let client = ClientId(u32::try_from(self.links.len()).expect("fewer than 2^32 clients"));
        let name = name.into();
        let rules: Vec<RuleId> =
            self.rules.values().filter(|rule| rule.is_on && rule.lies_on(&name)).map(|rule| rule.id).collect();
        self.by_name.insert(name.clone(), client);
        let mut link = Link { name, ..Link::default() };
        link.faults().state = self.state_without_connection(&rules);
        link.faults().rules = rules;
        link.drop_idle_faults();
        self.links.push(link);
        client
    }

    /// Drops everything under way of a client that has ended: a process that exited, a machine without power.
    pub fn forget(&mut self, client: ClientId) {
        self.drop_due(client, |_| true);
        self.forget_cloud_calls(client);
        let link = self.link_mut(client);
        link.watches.clear();
        link.last_received = None;
        let ConnectionFaults { rules, unplugged, .. } = core::mem::take(link.faults());
        let state = if unplugged { ConnectionState::Refused } else { self.state_without_connection(&rules) };
        let link = self.link_mut(client);
        *link.faults() = ConnectionFaults { state, rules, unplugged, ..ConnectionFaults::default() };
        link.drop_idle_faults();
        self.deliveries.retain(|delivery| delivery.client() != client);
        self.deliveries.push_back(Delivery::Disconnected { client });
    }

    /// Tells whether nothing waits to be handed over.
    pub(crate) fn is_idle(&self) -> bool {
        self.deliveries.is_empty()
    }

    /// Tells whether a client's messages arrive at once in both directions.
    #[must_use]
    pub fn is_clear(&self, client: ClientId) -> bool {
        self.link(client).is_clear()
    }

    /// Notes that a client with a clear connection received something.
    pub(crate) fn touch(&mut self, client: ClientId, at: Timestamp) {
        let last = &mut self.link_mut(client).last_received;
        *last = (*last).max(Some(at));
    }

    /// Takes a request of a client.
    pub fn send(&mut self, client: ClientId, request: Request, now: Timestamp) {
        if matches!(request.ask, Ask::Cloud(_)) {
            return self.send_to_cloud(client, request, now);
        }
        if let Ask::Call(call) = &request.ask
            && call.verb == Verb::Watch
        {
            self.link_mut(client).watches.push(request.id);
        }
        if self.link(client).is_clear() {
            self.deliveries.push_back(Delivery::ToServer { client, request });
            return;
        }
        self.send_through_rules(client, request, now);
    }

    /// Cancels a request or a watch of a client.
    pub fn cancel(&mut self, client: ClientId, id: RequestId, now: Timestamp) {
        let link = self.link_mut(client);
        link.watches.retain(|watch| *watch != id);
        let Some(faults) = &mut link.faults else {
            self.deliveries.push_back(Delivery::Cancelled { client, id });
            return;
        };
        let before = faults.upward.len();
        faults.upward.retain(|upward| !matches!(upward, Upward::Request(request) if request.id == id));
        let was_held = faults.upward.len() != before;
        faults.downward.retain(|message| message.id() != id);
        faults.waiting.remove(&id);
        self.drop_due(client, |due| due.request() == Some((client, id)));
        if was_held {
            return;
        }
        let faults = self.link_mut(client).faults();
        if matches!(faults.state, ConnectionState::Stalled { .. }) {
            faults.upward.push_back(Upward::Cancel(id));
        } else if let Some(busy) = faults.upward_busy.filter(|busy| *busy > now) {
            self.hold(busy, DueEvent::Upward(client, Upward::Cancel(id)));
        } else {
            self.deliveries.push_back(Delivery::Cancelled { client, id });
        }
    }

    /// Takes a message of the server to a client.
    pub fn reply(&mut self, client: ClientId, message: ToClient, now: Timestamp) {
        let link = self.link_mut(client);
        if link.is_clear_downward() {
            link.drop_idle_faults();
            link.note_arrival(&message, now);
            self.deliveries.push_back(Delivery::ToClient { client, message });
            return;
        }
        if self.hold_event(client, &message) {
            return;
        }
        let Some(delay) = self.apply_all(client, &message) else { return self.lose(client, &message, now) };
        let link = self.link_mut(client).faults();
        match link.state {
            ConnectionState::Open => {}
            ConnectionState::Stalled { .. } => return link.downward.push_back(message),
            ConnectionState::Refused => {
                // The message belongs to a connection that is gone.
                if let ToClient::Response { id, .. } = message
                    && !link.abandoned.remove(&id)
                {
                    self.answer_with(client, id, TransportError::ConnectionLost);
                }
                return;
            }
        }
        link.downward_busy = link.downward_busy.filter(|busy| *busy > now);
        let at = (now + delay).max(link.downward_busy.unwrap_or(now));
        if at > now {
            link.downward_busy = Some(at);
            self.hold(at, DueEvent::Downward(client, message));
        } else {
            self.arrive(client, message, now);
        }
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        while let Some(place) = self.due.first_key_value().map(|(place, _)| *place)
            && place.0 <= now
            && let Some(due) = self.take_due(place)
        {
            match due {
                DueEvent::Upward(client, Upward::Request(request)) => {
                    self.deliveries.push_back(Delivery::ToServer { client, request });
                }
                DueEvent::Upward(client, Upward::Cancel(id)) => {
                    self.deliveries.push_back(Delivery::Cancelled { client, id });
                }
                DueEvent::Downward(client, message) => self.arrive(client, message, now),
                DueEvent::Timeout(client, id, error) => self.fail(client, id, error),
                DueEvent::Answer(client, id, answer) => {
                    self.arrive(client, ToClient::Response { id, result: Ok(answer) }, now);
                }
                DueEvent::Broken(client) => {
                    let faults = self.link_mut(client).faults();
                    let dials = ConnectionState::Stalled { dialing: true };
                    faults.state = if faults.unplugged { ConnectionState::Refused } else { dials };
                    self.give_up(client, true);
                }
                DueEvent::ToCloud(client, request) => {
                    self.deliveries.push_back(Delivery::ToServer { client, request });
                }
                DueEvent::FromCloud(client, message) => {
                    self.deliveries.push_back(Delivery::ToClient { client, message });
                }
                DueEvent::RuleTurns(id) => self.turn_rule(id, now),
                DueEvent::RuleEnds(id) => {
                    let ended = self.remove_rule(id, now);
                    self.ended.extend(ended);
                }
            }
        }
    }

    /// Returns the next message that arrives now.
    pub fn poll_delivery(&mut self) -> Option<Delivery> {
        self.deliveries.pop_front()
    }

    /// Returns when something is due.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.due.first_key_value().map(|((at, _), _)| *at)
    }

    fn link(&self, client: ClientId) -> &Link {
        &self.links[client.0 as usize]
    }

    fn link_mut(&mut self, client: ClientId) -> &mut Link {
        &mut self.links[client.0 as usize]
    }

    fn hold(&mut self, at: Timestamp, due: DueEvent) {
        self.last_due += 1;
        let place = (at, self.last_due);
        if let Some(client) = due.client() {
            self.link_mut(client).faults().held.push(place);
        }
        self.due.insert(place, due);
    }

    fn take_due(&mut self, place: DueKey) -> Option<DueEvent> {
        let due = self.due.remove(&place)?;
        if let Some(client) = due.client() {
            self.link_mut(client).faults().held.retain(|held| *held != place);
        }
        Some(due)
    }

    /// Drops the unwanted part of what is due for a client.
    fn drop_due(&mut self, client: ClientId, unwanted: impl Fn(&DueEvent) -> bool) {
        let Some(faults) = &mut self.link_mut(client).faults else { return };
        let mut held = core::mem::take(&mut faults.held);
        held.retain(|place| {
            let stays = self.due.get(place).is_some_and(|due| !unwanted(due));
            if !stays {
                self.due.remove(place);
            }
            stays
        });
        self.link_mut(client).faults().held = held;
    }

    /// Notes that a client waits for an answer, and for how long.
    fn wait_for(
        &mut self,
        client: ClientId,
        id: RequestId,
        patience: Option<SignedDuration>,
        error: TransportError,
        now: Timestamp,
    ) {
        let place = patience.map(|patience| {
            self.hold(now + patience, DueEvent::Timeout(client, id, error));
            (now + patience, self.last_due)
        });
        self.link_mut(client).faults().waiting.insert(id, place);
    }

    /// Hands a message over, unless the client stopped waiting for it.
    fn arrive(&mut self, client: ClientId, message: ToClient, now: Timestamp) {
        let link = self.link_mut(client);
        let is_lost_watch = matches!(message, ToClient::Watch { id, .. } | ToClient::WatchEnded { id, .. }
            if !link.watches.contains(&id));
        link.note_arrival(&message, now);
        if let ToClient::Response { id, .. } = message
            && let Some(place) = link.faults().waiting.remove(&id)
        {
            if let Some(place) = place {
                self.take_due(place);
            }
        } else if let ToClient::Response { id, .. } = message
            && link.faults().abandoned.remove(&id)
        {
            return;
        } else if is_lost_watch {
            return;
        }
        self.deliveries.push_back(Delivery::ToClient { client, message });
    }

    fn fail(&mut self, client: ClientId, id: RequestId, error: TransportError) {
        let link = self.link_mut(client);
        if link.faults().waiting.remove(&id).is_none() {
            return;
        }
        link.watches.retain(|watch| *watch != id);
        let faults = link.faults();
        let held = faults.upward.len() + faults.downward.len();
        faults.upward.retain(|upward| !matches!(upward, Upward::Request(request) if request.id == id));
        faults.downward.retain(|message| message.id() != id);
        // The id of a request that a rule swallowed stays here for ever, since it is never answered: a few bytes.
        if faults.upward.len() + faults.downward.len() == held {
            faults.abandoned.insert(id);
        }
        self.drop_due(client, |due| matches!(due, DueEvent::Downward(_, message) if message.id() == id));
        self.answer_with(client, id, error);
    }

    /// Answers a client's request with a transport error.
    fn answer_with(&mut self, client: ClientId, id: RequestId, error: TransportError) {
        let message = ToClient::Response { id, result: Err(error) };
        self.deliveries.push_back(Delivery::ToClient { client, message });
    }

    /// Ends a connection: everything on it fails, and the client dials anew. Returns the requests that failed.
    fn give_up(&mut self, client: ClientId, lost: bool) -> BTreeSet<RequestId> {
        let link = self.link_mut(client);
        let watches = core::mem::take(&mut link.watches);
        let faults = link.faults();
        let upward = core::mem::take(&mut faults.upward);
        let downward = core::mem::take(&mut faults.downward);
        let waiting = core::mem::take(&mut faults.waiting);
        self.drop_due(client, |_| true);
        // The answer to a request that was sent before the stall may be held on its way down, and is not in `waiting`.
        let mut failed: BTreeSet<RequestId> = waiting.into_keys().collect();
        failed.extend(upward.iter().filter_map(|upward| match upward {
            Upward::Request(request) => Some(request.id),
            Upward::Cancel(_) => None,
        }));
        failed.extend(downward.iter().filter_map(|message| match message {
            ToClient::Response { id, .. } => Some(*id),
            _ => None,
        }));
        self.deliveries.push_back(Delivery::Disconnected { client });
        for id in &failed {
            self.answer_with(client, *id, TransportError::ConnectionLost);
        }
        for id in watches.into_iter().filter(|id| !failed.contains(id)) {
            self.deliveries.push_back(Delivery::ToClient { client, message: ToClient::WatchEnded { id, lost } });
        }
        failed
    }
}

impl Delivery {
    const fn client(&self) -> ClientId {
        match self {
            Self::ToServer { client, .. }
            | Self::Cancelled { client, .. }
            | Self::Disconnected { client }
            | Self::ToClient { client, .. } => *client,
        }
    }
}

#[cfg(test)]
mod tests;
