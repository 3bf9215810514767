//! One client's connection, and what rules leave behind on it.

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
}

/// The place of something that is due: when, and in which order.
pub(super) type DueKey = (Timestamp, u64);

#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    pub(super) name: Text,
    pub(super) watches: Vec<RequestId>,
    pub(super) last_received: Option<Timestamp>,
    /// What rules and stalls leave behind: nothing, on nearly all links.
    pub(super) faults: Option<Box<ConnectionFaults>>,
}

/// What the rules leave of a link's connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum ConnectionState {
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
pub(super) struct ConnectionFaults {
    pub(super) state: ConnectionState,
    pub(super) upward: VecDeque<Upward>,
    pub(super) downward: VecDeque<ToClient>,
    /// The places in `due` that belong to this link, so that one link's trouble costs the others nothing.
    pub(super) held: Vec<DueKey>,
    /// The rules that lie on the link, in the order in which they are asked.
    pub(super) rules: Vec<RuleId>,
    /// Requests under way whose answer could come late, because a rule lay on the link when they were sent, with the
    /// place of their time-out in `due`.
    pub(super) waiting: BTreeMap<RequestId, Option<DueKey>>,
    /// Requests that timed out here while the server may still answer them.
    pub(super) abandoned: BTreeSet<RequestId>,
    /// The latest instant for which something is on its way, by direction: what follows may not overtake it.
    pub(super) upward_busy: Option<Timestamp>,
    pub(super) downward_busy: Option<Timestamp>,
}

impl ConnectionFaults {
    /// Tells whether what comes from the server arrives at once.
    pub(super) fn is_clear_downward(&self) -> bool {
        self.rules.is_empty()
            && self.state == ConnectionState::Open
            && self.waiting.is_empty()
            && self.abandoned.is_empty()
            && self.downward_busy.is_none()
    }

    /// Tells whether requests arrive at once, and their answers too.
    pub(super) fn is_clear(&self) -> bool {
        self.is_clear_downward() && self.upward_busy.is_none()
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_clear() && self.upward.is_empty() && self.downward.is_empty() && self.held.is_empty()
    }
}

impl Link {
    /// Tells whether nothing but the present rules' absence needs to be known: the way of nearly all messages.
    pub(super) fn is_clear(&self) -> bool {
        self.faults.as_ref().is_none_or(|faults| faults.is_clear())
    }

    pub(super) fn is_clear_downward(&self) -> bool {
        self.faults.as_ref().is_none_or(|faults| faults.is_clear_downward())
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

    /// Forgets trouble that has left nothing behind.
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
            Self::RuleEnds(_) => None,
        }
    }

    pub(super) fn request(&self) -> Option<(ClientId, RequestId)> {
        match self {
            Self::Upward(client, Upward::Request(request)) => Some((*client, request.id)),
            Self::Downward(client, message) => Some((*client, message.id())),
            Self::Timeout(client, id, _) | Self::Answer(client, id, _) => Some((*client, *id)),
            Self::Upward(_, Upward::Cancel(_)) | Self::Broken(_) | Self::RuleEnds(_) => None,
        }
    }
}
