//! What the API server puts out: messages, commits, calls. Data.

use alloc::boxed::Box;
use alloc::sync::Arc;

use jiff::Timestamp;

use crate::network::{ClientId, DecisionId, HttpCall, Identity, Resource, ToClient, Verb, WatchType};
use crate::objects::{Object, Text};

/// A committed write, as an observer beside the network sees it.
#[derive(Clone, Debug)]
pub struct Commit {
    /// The instant.
    pub at: Timestamp,
    /// The revision that it made.
    pub resource_version: u64,
    /// `Added`, `Modified` or `Deleted`.
    pub event: WatchType,
    /// The kind.
    pub resource: Resource,
    /// The object after the write; for `Deleted` as it was last.
    pub object: Object,
    /// The object before the write.
    pub before: Option<Object>,
    /// The client that wrote.
    pub client: ClientId,
    /// Who wrote; the manager is its agent.
    pub identity: Arc<Identity>,
    /// The verb.
    pub verb: Verb,
    /// Through which subresource; empty for the object itself.
    pub subresource: Text,
    /// The writer's decision.
    pub because: Option<DecisionId>,
}

/// Which commits the server puts out beside its answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tap {
    /// None.
    #[default]
    Closed,
    /// All but the renewals of Leases and status heartbeats that went the typed way.
    Changes,
    /// All but the renewals of Leases that went the typed way.
    AllButRenewals,
    /// All.
    Everything,
}

/// What the server puts out.
#[derive(Clone, Debug)]
pub enum ServerOutput {
    /// A message to a client.
    ToClient {
        /// Which client.
        client: ClientId,
        /// The message.
        message: ToClient,
    },
    /// A committed write, before any client is told of it.
    Commit(Box<Commit>),
    /// A call to a kubelet, a Pod or a Service.
    Dial(Box<HttpCall>),
}
