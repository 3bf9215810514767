//! Rules: which messages a fault applies to, and what it does to them. Data, with the counters of each rule.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::{Ask, Verb};
use crate::objects::Text;

/// Numbers the rules of a network, counting up from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RuleId(pub u32);

/// One end of a connection, by the name of the client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Endpoint {
    /// Every client.
    Any,
    /// The client of exactly this name: `machine/w1`, `controller/ttl-controller`, `user/alice`, `api`.
    Name(Text),
    /// The clients of a program that runs several controllers: `controller/kube-controller-manager`.
    Program {
        /// The name that stands for all of them.
        name: Text,
        /// Their own names.
        clients: Vec<Text>,
    },
}

/// Returns the client of the election of a leader, if an end is a program.
pub(super) fn election_of(end: &str) -> Option<Text> {
    end.strip_prefix("controller/").map(|program| Text::from(format!("leader-election/{program}")))
}

impl Endpoint {
    /// Tells whether a client's name matches; the election of a program's leader has the program's.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Name(own) => own == name || election_of(own).is_some_and(|election| election == *name),
            Self::Program { name: program, clients } => {
                clients.iter().any(|own| own == name) || election_of(program).is_some_and(|election| election == *name)
            }
        }
    }
}

/// Which requests a rule applies to; an absent field matches all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Match {
    /// The verb.
    pub verb: Option<Verb>,
    /// The plural name of the resource, as `leases`.
    pub resource: Option<Text>,
    /// The subresource, as `status`; an empty one means the object itself.
    pub subresource: Option<Text>,
    /// The object's name.
    pub name: Option<Text>,
}

impl Match {
    /// Tells whether a request matches.
    #[must_use]
    pub fn matches(&self, ask: &Ask) -> bool {
        let (verb, resource, subresource, name) = ask.subject();
        self.verb.is_none_or(|own| own == verb)
            && self.resource.as_ref().is_none_or(|own| own == resource)
            && self.subresource.as_ref().is_none_or(|own| own == subresource)
            && self.name.as_ref().is_none_or(|own| own == name)
    }
}

/// What a rule answers in place of the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InjectedReply {
    /// A Status of this HTTP code, one of [`CODES`](super::CODES).
    Code(u16),
    /// No answer: the client waits until its own time-out.
    Timeout,
    /// The server's own answer.
    Ok,
}

/// What a rule does to a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Without `match` the connection stalls; with it the requests are swallowed.
    Drop,
    /// The message is delayed.
    Delay {
        /// At least this long.
        delay: SignedDuration,
        /// Up to this much more, evenly spread.
        jitter: SignedDuration,
    },
    /// Nothing listens at the server's address: the connection breaks, and each new attempt fails at once.
    Refuse,
    /// The matching requests all get this answer.
    Answer(InjectedReply),
    /// The matching requests get these answers in turn; after the last one the rule is used up.
    Answers(Vec<InjectedReply>),
    /// Events of the client's watches wait until the rule ends, those of the resource that `match` names; answers and
    /// pings pass, so that nobody notices: the client's view is stale.
    HoldEvents,
}

/// A fault as it is requested.
#[derive(Clone, PartialEq, Debug)]
pub struct Fault {
    /// The client whose connection it applies to.
    pub from: Endpoint,
    /// The other end; `api` for the API server, `cloud` for the cloud.
    pub to: Endpoint,
    /// Which requests; `None` for the connection as a whole.
    pub matching: Option<Match>,
    /// What happens to them.
    pub effect: Effect,
    /// The share of messages that it applies to, 0 to 1. Default 1.
    pub probability: f64,
    /// How long the rule lasts; `None` until it is removed.
    pub lasts: Option<SignedDuration>,
    /// The rule lies for this long, does not for as long, and so on; `None` for all the time.
    pub on_and_off: Option<SignedDuration>,
    /// How many messages it applies to at most; `None` for no limit.
    pub times: Option<u32>,
}

impl Fault {
    /// Makes a fault that loses everything between a client and the API server.
    pub fn disconnect(client: impl Into<Text>) -> Self {
        Self {
            from: Endpoint::Name(client.into()),
            to: Endpoint::Name(Text::of("api")),
            matching: None,
            effect: Effect::Drop,
            probability: 1.0,
            lasts: None,
            on_and_off: None,
            times: None,
        }
    }
}

/// How many messages a rule was applied to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hits {
    /// In all.
    pub total: u64,
    /// By verb and resource; a message of the server to a client counts as `response` or `watch event`.
    pub by_request: BTreeMap<(Text, Text), u64>,
}

/// A rule in force.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its number.
    pub id: RuleId,
    /// What it does.
    pub fault: Fault,
    /// Whether it lies on connections; one that comes and goes does not in every second turn.
    pub is_on: bool,
    /// When it ends by itself.
    pub until: Option<Timestamp>,
    /// The messages that it was applied to so far.
    pub hits: Hits,
    /// The number of answers given, for `Effect::Answers`.
    pub(super) answered: usize,
}

impl Rule {
    /// Tells whether the rule lies on the connection between a client and the API server. One by which nobody listens
    /// for the API server does not: the client is who dials.
    #[must_use]
    pub fn lies_on(&self, client: &str) -> bool {
        let api = |end: &Endpoint| end.matches("api");
        (self.fault.from.matches(client) && api(&self.fault.to))
            || (!self.refuses() && api(&self.fault.from) && self.fault.to.matches(client))
    }

    /// Tells whether the rule meets the calls of a client to the cloud. One with any other end does not: it speaks of
    /// the network of machines.
    #[must_use]
    pub fn lies_before_cloud(&self, client: &str) -> bool {
        self.fault.from.matches(client) && self.fault.to == Endpoint::Name(Text::of("cloud"))
    }

    /// Tells whether the rule stalls a whole connection: it drops everything, until it ends. One that drops a share or
    /// a number of messages meets each of them alone.
    #[must_use]
    pub fn stalls(&self) -> bool {
        let fault = &self.fault;
        let is_for_all = fault.matching.is_none() && fault.times.is_none() && fault.probability >= 1.0;
        is_for_all && fault.effect == Effect::Drop
    }

    /// Tells whether the rule meets what clients send: all but one from the server, which meets what the server sends.
    /// A connection that is stalled or refused is so in both directions.
    #[must_use]
    pub fn meets_requests(&self) -> bool {
        self.stalls() || !(self.comes_from_api() || self.fault.effect == Effect::HoldEvents)
    }

    /// Tells whether the rule meets what the server sends: answers, and events of watches.
    #[must_use]
    pub fn meets_answers(&self) -> bool {
        self.stalls() || self.refuses() || self.comes_from_api()
    }

    fn comes_from_api(&self) -> bool {
        self.fault.from == Endpoint::Name(Text::of("api")) || !self.fault.to.matches("api")
    }

    /// Tells whether the rule may meet a further message.
    #[must_use]
    pub fn has_room(&self) -> bool {
        let is_answered = matches!(&self.fault.effect, Effect::Answers(replies) if self.answered >= replies.len());
        !is_answered && self.fault.times.is_none_or(|times| self.hits.total < u64::from(times))
    }

    /// Tells whether the rule holds back the events of a resource.
    #[must_use]
    pub(super) fn holds_events_of(&self, resource: &str) -> bool {
        let wanted = self.fault.matching.as_ref().and_then(|matching| matching.resource.as_ref());
        self.fault.effect == Effect::HoldEvents && wanted.is_none_or(|wanted| wanted == resource)
    }

    /// Tells whether the rule refuses a whole connection.
    #[must_use]
    pub fn refuses(&self) -> bool {
        self.fault.effect == Effect::Refuse
    }

    /// Counts a message that the rule was applied to.
    pub(super) fn count(&mut self, verb: &str, resource: &str) {
        self.hits.total += 1;
        *self.hits.by_request.entry((Text::from(verb), Text::from(resource))).or_default() += 1;
    }

    /// Returns the answer that is due, and moves on to the next.
    pub(super) fn next_reply(&mut self) -> InjectedReply {
        let reply = match &self.fault.effect {
            Effect::Answer(reply) => *reply,
            Effect::Answers(replies) => replies.get(self.answered).copied().unwrap_or(InjectedReply::Ok),
            _ => InjectedReply::Ok,
        };
        self.answered += 1;
        reply
    }
}
