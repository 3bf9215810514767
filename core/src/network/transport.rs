//! Carries messages over the connections, and holds back what rules and stalls hold back.
//!
//! Mirrors client-go's HTTP/2 transport (k8s.io/apimachinery pkg/util/net/http.go, v1.34): a ping after 30 s without a
//! frame, 15 s for its answer, then the connection is given up and everything on it fails; a dial fails after 30 s.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::rule::{Effect, Endpoint, Fault, Reply, Rule, RuleId};
use super::{Answer, Ask, ClientId, Request, RequestId, ToClient, TransportError, Verb};
use crate::chance::Chance;
use crate::json;
use crate::objects::Text;

/// Silence after which a client sends a ping. Source: `HTTP2_READ_IDLE_TIMEOUT_SECONDS`, default 30.
const READ_IDLE: SignedDuration = SignedDuration::from_secs(30);
/// How long a client waits for the answer to its ping. Source: `HTTP2_PING_TIMEOUT_SECONDS`, default 15.
const PING_TIMEOUT: SignedDuration = SignedDuration::from_secs(15);
/// How long a client tries to connect. Source: k8s.io/client-go/transport/cache.go, `net.Dialer{Timeout: 30s}`.
const DIAL_TIMEOUT: SignedDuration = SignedDuration::from_secs(30);
/// What ends a request that nobody answers and that has no time-out of its own. Source: kube-apiserver
/// `--request-timeout`, default 1m0s.
const REQUEST_TIMEOUT: SignedDuration = SignedDuration::from_secs(60);

/// What the network hands over.
#[derive(Clone, Debug)]
pub enum Delivery {
    /// A request reaches the server.
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

#[derive(Clone, Debug)]
enum Upward {
    Request(Request),
    Cancel(RequestId),
}

#[derive(Clone, Debug)]
enum Due {
    Upward(ClientId, Upward),
    Downward(ClientId, ToClient),
    Timeout(ClientId, RequestId, TransportError),
    Answer(ClientId, RequestId, Answer),
    Broken(ClientId),
    RuleEnds(RuleId),
}

/// The place of something that is due: when, and in which order.
type Place = (Timestamp, u64);

#[derive(Clone, Debug, Default)]
struct Link {
    name: Text,
    watches: Vec<RequestId>,
    last_received: Option<Timestamp>,
    /// What rules and stalls leave behind: nothing, on nearly all links.
    trouble: Option<Box<Trouble>>,
}

/// What the rules leave of a link's connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Way {
    /// Messages pass.
    #[default]
    Open,
    /// Messages wait, whatever would become of them otherwise.
    Stalled {
        /// There is no connection, or none any more: requests wait for one.
        dialing: bool,
    },
    /// There is no connection, and each attempt fails at once.
    Refused,
}

/// What is known of a link that a rule lies on, or lay on a short while ago.
#[derive(Clone, Debug, Default)]
struct Trouble {
    way: Way,
    upward: VecDeque<Upward>,
    downward: VecDeque<ToClient>,
    /// The places in `due` that belong to this link, so that one link's trouble costs the others nothing.
    held: Vec<Place>,
    /// The rules that lie on the link, in the order in which they are asked.
    rules: Vec<RuleId>,
    /// Requests under way whose answer could come late, because a rule lay on the link when they were sent, with the
    /// place of their time-out in `due`.
    waiting: BTreeMap<RequestId, Option<Place>>,
    /// Requests that timed out here while the server may still answer them.
    abandoned: BTreeSet<RequestId>,
    /// The latest instant for which something is on its way, by direction: what follows may not overtake it.
    upward_busy: Option<Timestamp>,
    downward_busy: Option<Timestamp>,
}

impl Trouble {
    /// Tells whether what comes from the server arrives at once.
    fn is_clear_downward(&self) -> bool {
        self.rules.is_empty()
            && self.way == Way::Open
            && self.waiting.is_empty()
            && self.abandoned.is_empty()
            && self.downward_busy.is_none()
    }

    /// Tells whether requests arrive at once, and their answers too.
    fn is_clear(&self) -> bool {
        self.is_clear_downward() && self.upward_busy.is_none()
    }

    fn is_over(&self) -> bool {
        self.is_clear() && self.upward.is_empty() && self.downward.is_empty() && self.held.is_empty()
    }
}

impl Link {
    /// Tells whether nothing but the present rules' absence needs to be known: the way of nearly all messages.
    fn is_clear(&self) -> bool {
        self.trouble.as_ref().is_none_or(|trouble| trouble.is_clear())
    }

    fn is_clear_downward(&self) -> bool {
        self.trouble.as_ref().is_none_or(|trouble| trouble.is_clear_downward())
    }

    fn way(&self) -> Way {
        self.trouble.as_ref().map_or(Way::Open, |trouble| trouble.way)
    }

    fn rules(&self) -> &[RuleId] {
        self.trouble.as_ref().map_or(&[], |trouble| &trouble.rules)
    }

    fn trouble(&mut self) -> &mut Trouble {
        self.trouble.get_or_insert_default()
    }

    /// Forgets trouble that has left nothing behind.
    fn calm_down(&mut self) {
        if self.trouble.as_ref().is_some_and(|trouble| trouble.is_over()) {
            self.trouble = None;
        }
    }
}

/// All connections to the API server, and the rules on them.
#[derive(Clone, Debug)]
pub struct Network {
    links: Vec<Link>,
    by_name: BTreeMap<Text, ClientId>,
    rules: BTreeMap<RuleId, Rule>,
    ended: Vec<Rule>,
    last_rule: u32,
    due: BTreeMap<Place, Due>,
    last_due: u64,
    deliveries: VecDeque<Delivery>,
    chance: Chance,
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
        }
    }

    /// Connects a client under the name that rules know it by.
    pub fn connect(&mut self, name: impl Into<Text>) -> ClientId {
        let client = ClientId(u32::try_from(self.links.len()).expect("fewer than 2^32 clients"));
        let name = name.into();
        let rules: Vec<RuleId> = self.rules.values().filter(|rule| rule.lies_on(&name)).map(|rule| rule.id).collect();
        self.by_name.insert(name.clone(), client);
        let mut link = Link { name, ..Link::default() };
        link.trouble().way = self.way_without_connection(&rules);
        link.trouble().rules = rules;
        link.calm_down();
        self.links.push(link);
        client
    }

    /// Forgets all that is under way for a client that is no more: a process that ended, a machine without power.
    pub fn forget(&mut self, client: ClientId) {
        self.drop_due(client, |_| true);
        let link = self.link_mut(client);
        link.watches.clear();
        link.last_received = None;
        let rules = core::mem::take(link.trouble()).rules;
        let way = self.way_without_connection(&rules);
        let link = self.link_mut(client);
        *link.trouble() = Trouble { way, rules, ..Trouble::default() };
        link.calm_down();
        self.deliveries.retain(|delivery| delivery.client() != client);
        self.deliveries.push_back(Delivery::Disconnected { client });
    }

    /// Lays a rule on the network.
    pub fn add_rule(&mut self, fault: Fault, now: Timestamp) -> RuleId {
        self.last_rule += 1;
        let id = RuleId(self.last_rule);
        let until = fault.lasts.map(|lasts| now + lasts);
        if let Some(until) = until {
            self.hold(until, Due::RuleEnds(id));
        }
        let rule = Rule { id, fault, until, hits: super::Hits::default(), answered: 0 };
        let clients = self.clients_of(&rule);
        self.rules.insert(id, rule);
        for client in clients {
            self.link_mut(client).trouble().rules.push(id);
            self.restall(client, now);
        }
        id
    }

    /// Takes a rule away; what it held back goes on. Returns the rule, or `None` for an unknown number. A rule that
    /// ended by itself is forgotten.
    pub fn remove_rule(&mut self, id: RuleId, now: Timestamp) -> Option<Rule> {
        if let Some(at) = self.ended.iter().position(|rule| rule.id == id) {
            return Some(self.ended.remove(at));
        }
        let rule = self.rules.remove(&id)?;
        if rule.until.is_some() {
            self.due.retain(|_, due| !matches!(due, Due::RuleEnds(other) if *other == id));
        }
        for client in self.clients_of(&rule) {
            self.link_mut(client).trouble().rules.retain(|other| *other != id);
            self.restall(client, now);
            self.link_mut(client).calm_down();
        }
        Some(rule)
    }

    /// Returns the rules in force, in the order in which they are asked.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = &Rule> {
        self.rules.values()
    }

    /// Returns the rules that ended by themselves, with what they met, until they are removed.
    pub fn ended_rules(&self) -> impl ExactSizeIterator<Item = &Rule> {
        self.ended.iter()
    }

    /// Returns the clients on whose connections a rule lies, if there is such a rule.
    pub(crate) fn clients_under(&self, id: RuleId) -> Vec<ClientId> {
        self.rules.get(&id).map(|rule| self.clients_of(rule)).unwrap_or_default()
    }

    /// Returns the clients on whose connections a rule lies.
    fn clients_of(&self, rule: &Rule) -> Vec<ClientId> {
        match (&rule.fault.from, &rule.fault.to) {
            (Endpoint::Name(name), Endpoint::Name(other)) => [name, other]
                .into_iter()
                .filter(|end| rule.lies_on(end))
                .filter_map(|end| self.by_name.get(end).copied())
                .collect(),
            _ => (0_u32..)
                .map(ClientId)
                .zip(&self.links)
                .filter(|(_, link)| rule.lies_on(&link.name))
                .map(|(client, _)| client)
                .collect(),
        }
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

    /// Takes a client's word that it no longer waits for a request or a watch.
    pub fn cancel(&mut self, client: ClientId, id: RequestId, now: Timestamp) {
        let link = self.link_mut(client);
        link.watches.retain(|watch| *watch != id);
        let Some(trouble) = &mut link.trouble else {
            self.deliveries.push_back(Delivery::Cancelled { client, id });
            return;
        };
        let before = trouble.upward.len();
        trouble.upward.retain(|upward| !matches!(upward, Upward::Request(request) if request.id == id));
        let was_held = trouble.upward.len() != before;
        trouble.downward.retain(|message| message.id() != id);
        trouble.waiting.remove(&id);
        self.drop_due(client, |due| due.request() == Some((client, id)));
        if was_held {
            return;
        }
        let trouble = self.link_mut(client).trouble();
        if matches!(trouble.way, Way::Stalled { .. }) {
            trouble.upward.push_back(Upward::Cancel(id));
        } else if let Some(busy) = trouble.upward_busy.filter(|busy| *busy > now) {
            self.hold(busy, Due::Upward(client, Upward::Cancel(id)));
        } else {
            self.deliveries.push_back(Delivery::Cancelled { client, id });
        }
    }

    /// Takes a message of the server to a client.
    pub fn reply(&mut self, client: ClientId, message: ToClient, now: Timestamp) {
        if let ToClient::WatchEnded { id, .. } = message {
            self.link_mut(client).watches.retain(|watch| *watch != id);
        }
        let link = self.link_mut(client);
        if link.is_clear_downward() {
            link.calm_down();
            link.last_received = Some(now);
            self.deliveries.push_back(Delivery::ToClient { client, message });
            return;
        }
        let what = match message {
            ToClient::Response { .. } => "response",
            _ => "watch event",
        };
        let delay = self.meet_all(client, what);
        let link = self.link_mut(client).trouble();
        match link.way {
            Way::Open => {}
            Way::Stalled { .. } => return link.downward.push_back(message),
            Way::Refused => {
                // What the server says goes to a connection that is no more.
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
            self.hold(at, Due::Downward(client, message));
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
                Due::Upward(client, Upward::Request(request)) => {
                    self.deliveries.push_back(Delivery::ToServer { client, request });
                }
                Due::Upward(client, Upward::Cancel(id)) => {
                    self.deliveries.push_back(Delivery::Cancelled { client, id });
                }
                Due::Downward(client, message) => self.arrive(client, message, now),
                Due::Timeout(client, id, error) => self.fail(client, id, error),
                Due::Answer(client, id, answer) => {
                    self.arrive(client, ToClient::Response { id, result: Ok(answer) }, now);
                }
                Due::Broken(client) => {
                    self.link_mut(client).trouble().way = Way::Stalled { dialing: true };
                    self.give_up(client, true);
                }
                Due::RuleEnds(id) => {
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

    fn hold(&mut self, at: Timestamp, due: Due) {
        self.last_due += 1;
        let place = (at, self.last_due);
        if let Some(client) = due.client() {
            self.link_mut(client).trouble().held.push(place);
        }
        self.due.insert(place, due);
    }

    fn take_due(&mut self, place: Place) -> Option<Due> {
        let due = self.due.remove(&place)?;
        if let Some(client) = due.client() {
            self.link_mut(client).trouble().held.retain(|held| *held != place);
        }
        Some(due)
    }

    /// Forgets what is due of a client, as far as it is unwanted.
    fn drop_due(&mut self, client: ClientId, unwanted: impl Fn(&Due) -> bool) {
        let Some(trouble) = &mut self.link_mut(client).trouble else { return };
        let mut held = core::mem::take(&mut trouble.held);
        held.retain(|place| {
            let stays = self.due.get(place).is_some_and(|due| !unwanted(due));
            if !stays {
                self.due.remove(place);
            }
            stays
        });
        self.link_mut(client).trouble().held = held;
    }

    fn send_through_rules(&mut self, client: ClientId, request: Request, now: Timestamp) {
        let is_watch = matches!(&request.ask, Ask::Call(call) if call.verb == Verb::Watch);
        let patience = request.timeout.or(if is_watch { None } else { Some(REQUEST_TIMEOUT) });
        let id = request.id;
        let mut in_order = SignedDuration::ZERO;
        let mut of_its_own = SignedDuration::ZERO;
        for rule in self.link(client).rules().to_vec() {
            match self.meet(rule, &request.ask) {
                Met::Nothing => {}
                Met::Delayed { delay, whole_connection: true } => in_order += delay,
                Met::Delayed { delay, whole_connection: false } => of_its_own += delay,
                Met::Swallowed => return self.wait_for(client, id, patience, TransportError::Timeout, now),
                Met::Answered(code) => {
                    let answer = Due::Answer(client, id, canned(code, &request.ask));
                    self.wait_for(client, id, None, TransportError::Timeout, now);
                    return self.hold(now, answer);
                }
            }
        }
        let link = self.link_mut(client).trouble();
        match link.way {
            Way::Open => {}
            Way::Stalled { dialing } => {
                let (patience, error) = match (dialing, patience) {
                    (true, Some(patience)) if patience < DIAL_TIMEOUT => (Some(patience), TransportError::Timeout),
                    (true, _) => (Some(DIAL_TIMEOUT), TransportError::Unreachable),
                    (false, patience) => (patience, TransportError::Timeout),
                };
                link.upward.push_back(Upward::Request(request));
                return self.wait_for(client, id, patience, error, now);
            }
            Way::Refused => {
                self.link_mut(client).watches.retain(|watch| *watch != id);
                return self.answer_with(client, id, TransportError::Refused);
            }
        }
        let busy = link.upward_busy.filter(|busy| *busy > now).unwrap_or(now);
        let arrives = (now + in_order).max(busy);
        link.upward_busy = Some(arrives).filter(|arrives| *arrives > now);
        let at = arrives + of_its_own;
        self.wait_for(client, id, patience, TransportError::Timeout, now);
        if at > now {
            self.hold(at, Due::Upward(client, Upward::Request(request)));
        } else {
            self.deliveries.push_back(Delivery::ToServer { client, request });
        }
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
            self.hold(now + patience, Due::Timeout(client, id, error));
            (now + patience, self.last_due)
        });
        self.link_mut(client).trouble().waiting.insert(id, place);
    }

    /// Lets a rule meet a request, and counts it.
    fn meet(&mut self, rule: RuleId, ask: &Ask) -> Met {
        if !self.meets(rule, Some(ask)) {
            return Met::Nothing;
        }
        let rule = self.rules.get_mut(&rule).expect("a link names only rules in force");
        let (verb, resource, ..) = ask.subject();
        rule.count(verb.name(), resource);
        match &rule.fault.effect {
            Effect::Drop if rule.stalls() => Met::Nothing,
            Effect::Refuse => Met::Nothing,
            Effect::Drop => Met::Swallowed,
            Effect::Delay { delay, jitter } => Met::Delayed {
                delay: *delay + self.chance.up_to(*jitter),
                whole_connection: rule.fault.matching.is_none(),
            },
            Effect::Answer(_) => match rule.next_reply() {
                Reply::Ok => Met::Nothing,
                Reply::Timeout => Met::Swallowed,
                Reply::Code(code) => Met::Answered(code),
            },
        }
    }

    /// Hands a message over, unless the client stopped waiting for it.
    fn arrive(&mut self, client: ClientId, message: ToClient, now: Timestamp) {
        let link = self.link_mut(client);
        link.last_received = Some(now);
        if let ToClient::Response { id, .. } = message
            && let Some(place) = link.trouble().waiting.remove(&id)
        {
            if let Some(place) = place {
                self.take_due(place);
            }
        } else if let ToClient::Response { id, .. } = message
            && link.trouble().abandoned.remove(&id)
        {
            return;
        } else if let ToClient::Watch { id, .. } = message
            && !link.watches.contains(&id)
        {
            return;
        }
        self.deliveries.push_back(Delivery::ToClient { client, message });
    }

    fn fail(&mut self, client: ClientId, id: RequestId, error: TransportError) {
        let link = self.link_mut(client);
        if link.trouble().waiting.remove(&id).is_none() {
            return;
        }
        link.watches.retain(|watch| *watch != id);
        let trouble = link.trouble();
        let held = trouble.upward.len() + trouble.downward.len();
        trouble.upward.retain(|upward| !matches!(upward, Upward::Request(request) if request.id == id));
        trouble.downward.retain(|message| message.id() != id);
        // A request that a rule swallowed is never answered, so that its number stays here for ever: a few bytes.
        if trouble.upward.len() + trouble.downward.len() == held {
            trouble.abandoned.insert(id);
        }
        self.drop_due(client, |due| matches!(due, Due::Downward(_, message) if message.id() == id));
        self.answer_with(client, id, error);
    }

    /// Tells a client that a request gets no answer.
    fn answer_with(&mut self, client: ClientId, id: RequestId, error: TransportError) {
        let message = ToClient::Response { id, result: Err(error) };
        self.deliveries.push_back(Delivery::ToClient { client, message });
    }

    /// Ends a connection, lost or closed: whatever was on it fails, and the client dials anew. Returns the requests that
    /// failed.
    fn give_up(&mut self, client: ClientId, lost: bool) -> BTreeSet<RequestId> {
        let link = self.link_mut(client);
        let watches = core::mem::take(&mut link.watches);
        let trouble = link.trouble();
        let upward = core::mem::take(&mut trouble.upward);
        let downward = core::mem::take(&mut trouble.downward);
        let waiting = core::mem::take(&mut trouble.waiting);
        self.drop_due(client, |_| true);
        // The answer of a request sent before the stall waits on the way down without standing in `waiting`.
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

    /// What rules leave to a client that has no connection yet.
    fn way_without_connection(&self, rules: &[RuleId]) -> Way {
        if rules.iter().any(|rule| self.rules[rule].stalls()) {
            Way::Stalled { dialing: true }
        } else if rules.iter().any(|rule| self.rules[rule].refuses()) {
            Way::Refused
        } else {
            Way::Open
        }
    }

    /// Finds out whether the rules stall or refuse a link, and starts or ends that.
    fn restall(&mut self, client: ClientId, now: Timestamp) {
        let link = self.link(client);
        match (link.way(), self.way_without_connection(link.rules())) {
            (Way::Stalled { .. }, Way::Stalled { .. }) | (Way::Refused, Way::Refused) | (Way::Open, Way::Open) => {}
            (Way::Open, Way::Stalled { .. }) => {
                let last = link.last_received.unwrap_or(now);
                let ping = (last + READ_IDLE).max(now);
                self.link_mut(client).trouble().way = Way::Stalled { dialing: false };
                self.hold(ping + PING_TIMEOUT, Due::Broken(client));
            }
            (_, Way::Refused) => self.reset(client),
            (Way::Refused, way) => {
                let trouble = self.link_mut(client).trouble();
                trouble.way = way;
                // What was asked over the connection before has been answered, or never is.
                trouble.abandoned.clear();
            }
            (Way::Stalled { .. }, Way::Open) => self.flow_again(client, now),
        }
    }

    /// Ends a connection whose other end is no more: whatever was on it fails, and each new attempt is refused.
    fn reset(&mut self, client: ClientId) {
        let failed = self.give_up(client, false);
        let trouble = self.link_mut(client).trouble();
        trouble.way = Way::Refused;
        trouble.abandoned.extend(failed);
    }

    fn flow_again(&mut self, client: ClientId, now: Timestamp) {
        let trouble = self.link_mut(client).trouble();
        trouble.way = Way::Open;
        let upward = core::mem::take(&mut trouble.upward);
        let downward = core::mem::take(&mut trouble.downward);
        self.drop_due(client, |due| matches!(due, Due::Broken(_)));
        for message in downward {
            self.arrive(client, message, now);
        }
        for waiting in upward {
            self.deliveries.push_back(match waiting {
                Upward::Request(request) => Delivery::ToServer { client, request },
                Upward::Cancel(id) => Delivery::Cancelled { client, id },
            });
        }
    }

    /// Counts a message of the server for the rules without `match`, and returns how much longer it takes.
    fn meet_all(&mut self, client: ClientId, what: &str) -> SignedDuration {
        let mut delay = SignedDuration::ZERO;
        for id in self.link(client).rules().to_vec() {
            if self.rules[&id].fault.matching.is_some() || !self.meets(id, None) {
                continue;
            }
            let rule = self.rules.get_mut(&id).expect("a link names only rules in force");
            rule.count(what, "");
            if let Effect::Delay { delay: least, jitter } = rule.fault.effect {
                delay += least + self.chance.up_to(jitter);
            }
        }
        delay
    }

    fn meets(&mut self, rule: RuleId, ask: Option<&Ask>) -> bool {
        let rule = &self.rules[&rule];
        let fault = &rule.fault;
        let room = fault.times.is_none_or(|times| rule.hits.total < u64::from(times));
        let wanted = fault.matching.as_ref().is_none_or(|wanted| ask.is_some_and(|ask| wanted.meets(ask)));
        room && wanted && (fault.probability >= 1.0 || self.chance.unit() < fault.probability)
    }
}

/// What a rule did to a request.
enum Met {
    Nothing,
    Swallowed,
    Delayed { delay: SignedDuration, whole_connection: bool },
    Answered(u16),
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

impl Due {
    fn client(&self) -> Option<ClientId> {
        match self {
            Self::Upward(client, _)
            | Self::Downward(client, _)
            | Self::Timeout(client, ..)
            | Self::Answer(client, ..)
            | Self::Broken(client) => Some(*client),
            Self::RuleEnds(_) => None,
        }
    }

    fn request(&self) -> Option<(ClientId, RequestId)> {
        match self {
            Self::Upward(client, Upward::Request(request)) => Some((*client, request.id)),
            Self::Downward(client, message) => Some((*client, message.id())),
            Self::Timeout(client, id, _) | Self::Answer(client, id, _) => Some((*client, *id)),
            Self::Upward(_, Upward::Cancel(_)) | Self::Broken(_) | Self::RuleEnds(_) => None,
        }
    }
}

/// Makes the Status that a rule gives in place of the server's answer.
fn canned(code: u16, ask: &Ask) -> Answer {
    let (_, resource, _, name) = ask.subject();
    let (reason, message) = match code {
        401 => ("Unauthorized", alloc::string::String::from("Unauthorized")),
        403 => ("Forbidden", alloc::format!("{resource} \"{name}\" is forbidden: refused by a rule of the network")),
        410 => ("Expired", alloc::string::String::from("The resourceVersion for the provided list is too old.")),
        504 => {
            ("Timeout", alloc::string::String::from("Timeout: request did not complete within the allotted timeout"))
        }
        404 => ("NotFound", alloc::format!("{resource} \"{name}\" not found")),
        409 => (
            "Conflict",
            alloc::format!(
                "Operation cannot be fulfilled on {resource} \"{name}\": the object has been modified; please apply your changes to the latest version and try again"
            ),
        ),
        429 => ("TooManyRequests", alloc::string::String::from("Too many requests, please try again later.")),
        503 => {
            ("ServiceUnavailable", alloc::string::String::from("the server is currently unable to handle the request"))
        }
        _ => {
            ("InternalError", alloc::string::String::from("Internal error occurred: injected by a rule of the network"))
        }
    };
    Answer::json(
        code,
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "reason": reason, "code": code}),
    )
}

#[cfg(test)]
mod tests;
