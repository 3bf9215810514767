//! Applies the rules to connections and messages: stall, refuse, delay, swallow, answer.
//!
//! Inputs: rules as they are added, removed and end; messages. Outputs: what becomes of a message. Invariant: the rules
//! of a connection are applied in the order in which they were added.

use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::link::{ConnectionState, DueEvent, Upward};
use super::{DIAL_TIMEOUT, Network, PING_TIMEOUT, READ_IDLE, REQUEST_TIMEOUT};
use crate::json;
use crate::network::rule::election_of;
use crate::network::{
    Answer, Ask, ClientId, Delivery, Effect, Endpoint, Fault, Hits, InjectedReply, Request, Rule, RuleId, ToClient,
    TransportError, Verb, find_kind,
};
use crate::objects::{Object, Text};

/// What a rule did to a request.
pub(super) enum RuleOutcome {
    Nothing,
    Swallowed,
    Delayed { delay: SignedDuration, whole_connection: bool },
    Answered(u16),
}

impl Network {
    /// Adds a rule to the network.
    pub fn add_rule(&mut self, fault: Fault, now: Timestamp) -> RuleId {
        self.last_rule += 1;
        let id = RuleId(self.last_rule);
        let until = fault.lasts.map(|lasts| now + lasts);
        if let Some(until) = until {
            self.hold(until, DueEvent::RuleEnds(id));
        }
        if let Some(turn) = fault.on_and_off {
            self.hold(now + turn, DueEvent::RuleTurns(id));
        }
        let rule = Rule { id, fault, is_on: true, until, hits: Hits::default(), answered: 0 };
        let clients = self.clients_of(&rule);
        self.rules.insert(id, rule);
        self.lay_rule(id, clients, now);
        id
    }

    fn lay_rule(&mut self, id: RuleId, clients: Vec<ClientId>, now: Timestamp) {
        for client in clients {
            self.link_mut(client).faults().rules.push(id);
            self.restall(client, now);
        }
    }

    fn lift_rule(&mut self, id: RuleId, clients: Vec<ClientId>, now: Timestamp) {
        for client in clients {
            self.link_mut(client).faults().rules.retain(|other| *other != id);
            self.release_events(client, id, now);
            self.restall(client, now);
            self.link_mut(client).drop_idle_faults();
        }
    }

    /// Lifts a rule that comes and goes, or lays it again, behind all others.
    pub(super) fn turn_rule(&mut self, id: RuleId, now: Timestamp) {
        let Some(rule) = self.rules.get(&id) else { return };
        let (turn, until) = (rule.fault.on_and_off.unwrap_or_default(), rule.until);
        let clients = self.clients_of(rule);
        let Some(rule) = self.rules.get_mut(&id) else { return };
        rule.is_on = !rule.is_on;
        if rule.is_on {
            self.lay_rule(id, clients, now);
        } else {
            self.lift_rule(id, clients, now);
        }
        if until.is_none_or(|until| now + turn < until) {
            self.hold(now + turn, DueEvent::RuleTurns(id));
        }
    }

    /// Removes a rule; what it held back is delivered. Returns the rule, or `None` for an unknown number. Works for a
    /// rule that ended by itself too.
    pub fn remove_rule(&mut self, id: RuleId, now: Timestamp) -> Option<Rule> {
        if let Some(at) = self.ended.iter().position(|rule| rule.id == id) {
            return Some(self.ended.remove(at));
        }
        let rule = self.rules.remove(&id)?;
        if rule.until.is_some() || rule.fault.on_and_off.is_some() {
            let is_of_it =
                |due: &DueEvent| matches!(due, DueEvent::RuleEnds(of) | DueEvent::RuleTurns(of) if *of == id);
            self.due.retain(|_, due| !is_of_it(due));
        }
        let clients = self.clients_of(&rule);
        self.lift_rule(id, clients, now);
        Some(rule)
    }

    /// Takes the interface of a client's machine away, or gives it back.
    ///
    /// What is under way stalls, as nobody answers; once the connection is given up, each new attempt fails at once,
    /// since there is no route. Source: seen with kubelet 1.34.4.
    pub fn set_plugged(&mut self, client: ClientId, plugged: bool, now: Timestamp) {
        let is_open = self.link(client).state() == ConnectionState::Open;
        self.link_mut(client).faults().unplugged = !plugged;
        if plugged {
            self.restall(client, now);
            self.link_mut(client).drop_idle_faults();
        } else if is_open {
            self.stall(client, now);
        }
    }

    fn stall(&mut self, client: ClientId, now: Timestamp) {
        let ping = (self.link(client).last_received.unwrap_or(now) + READ_IDLE).max(now);
        self.link_mut(client).faults().state = ConnectionState::Stalled { dialing: false };
        self.hold(ping + PING_TIMEOUT, DueEvent::Broken(client));
    }

    /// Returns the rules in force, in the order in which they are applied.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = &Rule> {
        self.rules.values()
    }

    /// Counts a message beside the connections to the API server that a rule was applied to.
    pub(crate) fn count(&mut self, id: RuleId, verb: &str, resource: &str) {
        if let Some(rule) = self.rules.get_mut(&id) {
            rule.count(verb, resource);
        }
    }

    /// Tells whether a rule meets a call beside the connections to the API server, and counts it then.
    pub(crate) fn meets_call(&mut self, id: RuleId, verb: &str) -> bool {
        let is_met = self.rules.contains_key(&id) && self.matches(id, None);
        if is_met {
            self.count(id, verb, "calls");
        }
        is_met
    }

    /// Returns the rules that ended by themselves, with their hits, until they are removed.
    pub fn ended_rules(&self) -> impl ExactSizeIterator<Item = &Rule> {
        self.ended.iter()
    }

    /// Returns the clients whose connections a rule is on.
    fn clients_of(&self, rule: &Rule) -> Vec<ClientId> {
        match (&rule.fault.from, &rule.fault.to) {
            (Endpoint::Name(name), Endpoint::Name(other)) => [Some(name.clone()), Some(other.clone())]
                .into_iter()
                .chain([election_of(name), election_of(other)])
                .flatten()
                .filter(|end| rule.lies_on(end))
                .filter_map(|end| self.by_name.get(&end).copied())
                .collect(),
            _ => (0_u32..)
                .map(ClientId)
                .zip(&self.links)
                .filter(|(_, link)| rule.lies_on(&link.name))
                .map(|(client, _)| client)
                .collect(),
        }
    }

    pub(super) fn send_through_rules(&mut self, client: ClientId, request: Request, now: Timestamp) {
        let is_watch = matches!(&request.ask, Ask::Call(call) if call.verb == Verb::Watch);
        let patience = request.timeout.or(if is_watch { None } else { Some(REQUEST_TIMEOUT) });
        let id = request.id;
        let mut in_order = SignedDuration::ZERO;
        let mut of_its_own = SignedDuration::ZERO;
        for rule in self.link(client).rules().to_vec() {
            match self.apply_rules(rule, &request.ask) {
                RuleOutcome::Nothing => {}
                RuleOutcome::Delayed { delay, whole_connection: true } => in_order += delay,
                RuleOutcome::Delayed { delay, whole_connection: false } => of_its_own += delay,
                RuleOutcome::Swallowed => return self.wait_for(client, id, patience, TransportError::Timeout, now),
                RuleOutcome::Answered(code) => {
                    let answer = DueEvent::Answer(client, id, canned(code, &request.ask));
                    self.wait_for(client, id, None, TransportError::Timeout, now);
                    return self.hold(now, answer);
                }
            }
        }
        let link = self.link_mut(client).faults();
        match link.state {
            ConnectionState::Open => {}
            ConnectionState::Stalled { dialing } => {
                let (patience, error) = match (dialing, patience) {
                    (true, Some(patience)) if patience < DIAL_TIMEOUT => (Some(patience), TransportError::Timeout),
                    (true, _) => (Some(DIAL_TIMEOUT), TransportError::Unreachable),
                    (false, patience) => (patience, TransportError::Timeout),
                };
                link.upward.push_back(Upward::Request(request));
                return self.wait_for(client, id, patience, error, now);
            }
            ConnectionState::Refused => {
                let error = if link.unplugged { TransportError::Unreachable } else { TransportError::Refused };
                self.link_mut(client).watches.retain(|watch| *watch != id);
                return self.answer_with(client, id, error);
            }
        }
        let busy = link.upward_busy.filter(|busy| *busy > now).unwrap_or(now);
        let arrives = (now + in_order).max(busy);
        link.upward_busy = Some(arrives).filter(|arrives| *arrives > now);
        let at = arrives + of_its_own;
        self.wait_for(client, id, patience, TransportError::Timeout, now);
        if at > now {
            self.hold(at, DueEvent::Upward(client, Upward::Request(request)));
        } else {
            self.deliveries.push_back(Delivery::ToServer { client, request });
        }
    }

    /// Applies a rule to a request, and counts it.
    pub(super) fn apply_rules(&mut self, rule: RuleId, ask: &Ask) -> RuleOutcome {
        if !self.rules[&rule].meets_requests() || !self.matches(rule, Some(ask)) {
            return RuleOutcome::Nothing;
        }
        let rule = self.rules.get_mut(&rule).expect("a link names only rules in force");
        let (verb, resource, ..) = ask.subject();
        rule.count(verb.name(), resource);
        match &rule.fault.effect {
            Effect::Drop if rule.stalls() => RuleOutcome::Nothing,
            Effect::Refuse | Effect::HoldEvents => RuleOutcome::Nothing,
            Effect::Drop => RuleOutcome::Swallowed,
            Effect::Delay { delay, jitter } => RuleOutcome::Delayed {
                delay: *delay + self.chance.up_to(*jitter),
                whole_connection: rule.fault.matching.is_none(),
            },
            Effect::Answer(_) | Effect::Answers(_) => match rule.next_reply() {
                InjectedReply::Ok => RuleOutcome::Nothing,
                InjectedReply::Timeout => RuleOutcome::Swallowed,
                InjectedReply::Code(code) => RuleOutcome::Answered(code),
            },
        }
    }

    /// Returns the state of a client that has no connection yet.
    pub(super) fn state_without_connection(&self, rules: &[RuleId]) -> ConnectionState {
        if rules.iter().any(|rule| self.rules[rule].stalls()) {
            ConnectionState::Stalled { dialing: true }
        } else if rules.iter().any(|rule| self.rules[rule].refuses()) {
            ConnectionState::Refused
        } else {
            ConnectionState::Open
        }
    }

    /// Starts or ends the stall or the refusal of a link, as its rules now say.
    pub(super) fn restall(&mut self, client: ClientId, now: Timestamp) {
        let link = self.link(client);
        if link.faults.as_ref().is_some_and(|faults| faults.unplugged) {
            return;
        }
        match (link.state(), self.state_without_connection(link.rules())) {
            (ConnectionState::Stalled { .. }, ConnectionState::Stalled { .. })
            | (ConnectionState::Refused, ConnectionState::Refused)
            | (ConnectionState::Open, ConnectionState::Open) => {}
            (ConnectionState::Open, ConnectionState::Stalled { .. }) => {
                self.stall(client, now);
            }
            (_, ConnectionState::Refused) => self.reset(client),
            (ConnectionState::Refused, state) => {
                let faults = self.link_mut(client).faults();
                faults.state = state;
                // Requests of the connection before have been answered, or never will be.
                faults.abandoned.clear();
            }
            (ConnectionState::Stalled { .. }, ConnectionState::Open) => self.resume_flow(client, now),
        }
    }

    /// Ends a connection whose server end is gone: everything on it fails, and each new attempt is refused.
    fn reset(&mut self, client: ClientId) {
        let failed = self.give_up(client, false);
        let faults = self.link_mut(client).faults();
        faults.state = ConnectionState::Refused;
        faults.abandoned.extend(failed);
    }

    fn resume_flow(&mut self, client: ClientId, now: Timestamp) {
        let faults = self.link_mut(client).faults();
        faults.state = ConnectionState::Open;
        let upward = core::mem::take(&mut faults.upward);
        let downward = core::mem::take(&mut faults.downward);
        self.drop_due(client, |due| matches!(due, DueEvent::Broken(_)));
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

    /// Holds an event of a watch back until the rule ends that keeps the client's view stale; whether there is one.
    pub(super) fn hold_event(&mut self, client: ClientId, message: &ToClient) -> bool {
        let ToClient::Watch { object, .. } = message else { return false };
        let resource = resource_of(object);
        let holds = |id: &RuleId| resource.as_ref().is_some_and(|resource| self.rules[id].holds_events_of(resource));
        let Some(id) = self.link(client).rules().iter().copied().find(holds) else { return false };
        let rule = self.rules.get_mut(&id).expect("a link names only rules in force");
        rule.count("watch event", resource.as_deref().unwrap_or_default());
        self.link_mut(client).faults().stale.push((id, message.clone()));
        true
    }

    /// Delivers the events that a rule has held back.
    fn release_events(&mut self, client: ClientId, id: RuleId, now: Timestamp) {
        let held = core::mem::take(&mut self.link_mut(client).faults().stale);
        for (rule, message) in held {
            if rule == id {
                self.arrive(client, message, now);
            } else {
                self.link_mut(client).faults().stale.push((rule, message));
            }
        }
    }

    /// Counts a message of the server for the rules that meet it, and returns how much longer it takes; `None` if it is
    /// lost.
    pub(super) fn apply_all(&mut self, client: ClientId, message: &ToClient) -> Option<SignedDuration> {
        let mut delay = SignedDuration::ZERO;
        let what = if matches!(message, ToClient::Response { .. }) { "response" } else { "watch event" };
        for id in self.link(client).rules().to_vec() {
            let rule = &self.rules[&id];
            let loses = rule.fault.effect == Effect::Drop && !rule.stalls();
            // The end of a stream is the end of what carries it, and no message that could be lost alone.
            let is_met = rule.meets_answers() && !(loses && matches!(message, ToClient::WatchEnded { .. }));
            if !is_met || !self.matches(id, None) {
                continue;
            }
            let rule = self.rules.get_mut(&id).expect("a link names only rules in force");
            rule.count(what, "");
            match rule.fault.effect {
                Effect::Drop if loses => return None,
                Effect::Delay { delay: least, jitter } => delay += least + self.chance.up_to(jitter),
                _ => {}
            }
        }
        Some(delay)
    }

    /// Loses a message of the server. Who waits for an answer meets its own time-out; a watch misses an event.
    pub(super) fn lose(&mut self, client: ClientId, message: &ToClient, now: Timestamp) {
        let ToClient::Response { id, .. } = message else { return };
        let faults = self.link_mut(client).faults();
        if !faults.abandoned.remove(id) && faults.waiting.get(id).is_none_or(Option::is_none) {
            self.wait_for(client, *id, Some(REQUEST_TIMEOUT), TransportError::Timeout, now);
        }
    }

    fn matches(&mut self, rule: RuleId, ask: Option<&Ask>) -> bool {
        let rule = &self.rules[&rule];
        let fault = &rule.fault;
        let room = rule.has_room();
        let wanted = fault.matching.as_ref().is_none_or(|wanted| ask.is_some_and(|ask| wanted.matches(ask)));
        room && wanted && (fault.probability >= 1.0 || self.chance.unit() < fault.probability)
    }
}

/// Returns the plural name of the resource of an object; `None` for a kind that is not known.
fn resource_of(object: &Object) -> Option<Text> {
    let kind = object.stable().get("kind").as_str()?;
    find_kind(kind).map(|(resource, _)| resource.plural)
}

/// Makes the Status that a rule answers in place of the server.
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
                "Operation cannot be fulfilled on {resource} \"{name}\": the object has been modified; please apply \
                your changes to the latest version and try again"
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
    let mut answer = Answer::json(
        code,
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
            "reason": reason, "code": code}),
    );
    if code == 429 {
        // Source: k8s.io/apiserver pkg/server/filters/maxinflight.go (v0.34), `retryAfter`.
        answer.headers.push((Text::of("Retry-After"), Text::of("1")));
    }
    answer
}
