//! One client's connection, and the state that rules and stalls leave on it. Data of `transport`; a link without rules
//! has no such state.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use jiff::Timestamp;

use crate::network::{Answer, ClientId, Request, RequestId, RuleId, ToClient, TransportError};
use crate::objects::Text;

#[derive(Clone, Debug)]
pub(super) enum Upward {
    Request(Request),
    Cancel(RequestId),
}

#[derive(Clone, Debug)]
pub(super) enum DueEvent {
    Upward(ClientId, Upward),
    Downward(ClientId, ToClient),
    Timeout(ClientId, RequestId, TransportError),
    Answer(ClientId, RequestId, Answer),
    Broken(ClientId),
    RuleEnds(RuleId),
    /// A rule that comes and goes does the one or the other.
    RuleTurns(RuleId),
    /// A call to the cloud that a rule delays.
    ToCloud(ClientId, Request),
    /// An answer of the cloud, or of a rule in its place.
    FromCloud(ClientId, ToClient),
}

/// The key of an entry in `due`: the instant, then the order of entry.
pub(super) type DueKey = (Timestamp, u64);

#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    pub(super) name: Text,
    /// The watches whose end the client has not seen, whatever the server has sent.
    pub(super) watches: Vec<RequestId>,
    pub(super) last_received: Option<Timestamp>,
    /// The state that rules and stalls leave; `None` on nearly all links.
    pub(super) faults: Option<Box<ConnectionFaults>>,
}

/// The state of a link's connection under the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum ConnectionState {
    /// Messages pass.
    #[default]
    Open,
    /// Messages wait, whatever other rules there are.
    Stalled {
        /// Whether there is no connection and requests wait for one.
        dialing: bool,
    },
    /// There is no connection, and each attempt fails at once.
    Refused,
}

/// The state of a link with a rule, or with a rule until recently.
#[derive(Clone, Debug, Default)]
pub(super) struct ConnectionFaults {
    pub(super) state: ConnectionState,
    pub(super) upward: VecDeque<Upward>,
    pub(super) downward: VecDeque<ToClient>,
    /// Events of watches that a rule holds back, in their order.
    pub(super) stale: Vec<(RuleId, ToClient)>,
    /// The keys in `due` that belong to this link, so that a stall need not search the entries of other links.
    pub(super) held: Vec<DueKey>,
    /// The rules on the link, in the order in which they are applied.
    pub(super) rules: Vec<RuleId>,
    /// Requests under way whose answer may be late, since a rule was on the link when they were sent, with the key of
    /// their time-out in `due`.
    pub(super) waiting: BTreeMap<RequestId, Option<DueKey>>,
    /// Requests that timed out here while the server may still answer them.
    pub(super) abandoned: BTreeSet<RequestId>,
    /// The latest instant for which something is on its way, by direction: what follows may not overtake it.
    pub(super) upward_busy: Option<Timestamp>,
    pub(super) downward_busy: Option<Timestamp>,
    /// Whether the machine has no interface: what is under way stalls, and once the connection is given up each new
    /// attempt fails at once.
    pub(super) unplugged: bool,
}

impl ConnectionFaults {
    /// Tells whether messages of the server arrive at once.
    pub(super) fn is_clear_downward(&self) -> bool {
        self.rules.is_empty()
            && self.state == ConnectionState::Open
            && self.waiting.is_empty()
            && self.abandoned.is_empty()
            && self.downward_busy.is_none()
            && !self.unplugged
    }

    /// Tells whether requests arrive at once, and their answers too.
    pub(super) fn is_clear(&self) -> bool {
        self.is_clear_downward() && self.upward_busy.is_none()
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_clear()
            && self.upward.is_empty()
            && self.downward.is_empty()
            && self.stale.is_empty()
            && self.held.is_empty()
    }
}

impl Link {
    /// Tells whether messages pass without any further check, as nearly all do.
    pub(super) fn is_clear(&self) -> bool {
        self.faults.as_ref().is_none_or(|faults| faults.is_clear())
    }

    pub(super) fn is_clear_downward(&self) -> bool {
        self.faults.as_ref().is_none_or(|faults| faults.is_clear_downward())
    }

    /// Notes that a message of the server reaches the client.
    pub(super) fn note_arrival(&mut self, message: &ToClient, now: Timestamp) {
        self.last_received = Some(now);
        if let ToClient::WatchEnded { id, .. } = message {
            self.watches.retain(|watch| watch != id);
        }
    }

    pub(super) fn state(&self) -> ConnectionState {
        self.faults.as_ref().map_or(ConnectionState::Open, |faults| faults.state)
    }

    pub(super) fn rules(&self) -> &[RuleId] {
        self.faults.as_ref().map_or(&[], |faults| &faults.rules)
    }

    pub(super) fn faults(&mut self) -> &mut ConnectionFaults {
        self.faults.get_or_insert_default()
    }

    /// Drops the state of faults once it is empty.
    pub(super) fn drop_idle_faults(&mut self) {
        if self.faults.as_ref().is_some_and(|faults| faults.is_over()) {
            self.faults = None;
        }
    }
}

impl DueEvent {
    pub(super) fn client(&self) -> Option<ClientId> {
        match self {
            Self::Upward(client, _)
            | Self::Downward(client, _)
            | Self::Timeout(client, ..)
            | Self::Answer(client, ..)
            | Self::Broken(client) => Some(*client),
            // Calls to the cloud are not on the link to the API server.
            Self::RuleEnds(_) | Self::RuleTurns(_) | Self::ToCloud(..) | Self::FromCloud(..) => None,
        }
    }

    /// Returns whose call to the cloud it is.
    pub(super) const fn caller(&self) -> Option<ClientId> {
        match self {
            Self::ToCloud(client, _) | Self::FromCloud(client, _) => Some(*client),
            _ => None,
        }
    }

    pub(super) fn request(&self) -> Option<(ClientId, RequestId)> {
        match self {
            Self::Upward(client, Upward::Request(request)) => Some((*client, request.id)),
            Self::Downward(client, message) => Some((*client, message.id())),
            Self::Timeout(client, id, _) | Self::Answer(client, id, _) => Some((*client, *id)),
            Self::Upward(_, Upward::Cancel(_))
            | Self::Broken(_)
            | Self::RuleEnds(_)
            | Self::RuleTurns(_)
            | Self::ToCloud(..)
            | Self::FromCloud(..) => None,
        }
    }
}
