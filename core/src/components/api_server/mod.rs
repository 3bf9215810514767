//! The API server: one store, one growing resourceVersion, watches.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::Deadline;
use super::controllers::Context;
use crate::network::{ClientId, DecisionId, Identity, Request, RequestId, Resource, ToClient, Verb, WatchType};
use crate::objects::{Object, ObjectKey, Text};

/// A committed write, as an observer beside the network sees it.
#[derive(Clone, Debug)]
pub struct Commit {
    /// When.
    pub at: Timestamp,
    /// The revision that it made.
    pub resource_version: u64,
    /// `Added`, `Modified` or `Deleted`.
    pub event: WatchType,
    /// Which kind.
    pub resource: Resource,
    /// The object after the write; for `Deleted` as it was last.
    pub object: Object,
    /// The object before the write.
    pub before: Option<Object>,
    /// The client that wrote.
    pub client: ClientId,
    /// Who wrote; the manager is its agent.
    pub identity: Arc<Identity>,
    /// How.
    pub verb: Verb,
    /// Through which subresource; empty for the object itself.
    pub subresource: Text,
    /// The writer's decision.
    pub because: Option<DecisionId>,
}

/// Which commits the server puts out beside its answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tap {
    /// None: nobody looks.
    #[default]
    Closed,
    /// All but the renewals of Leases and status heartbeats that went the typed way.
    Changes,
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
    /// A committed write, before any client hears of it.
    Commit(Commit),
}

/// The API server.
#[derive(Debug)]
pub struct ApiServer {
    outputs: VecDeque<ServerOutput>,
    tap: Tap,
}

impl ApiServer {
    /// Starts a server with an empty store, but for the namespaces that every cluster has.
    #[must_use]
    pub fn new(_context: Context, _now: Timestamp) -> Self {
        Self { outputs: VecDeque::new(), tap: Tap::Closed }
    }

    /// Chooses which commits are put out.
    pub fn tap(&mut self, tap: Tap) {
        self.tap = tap;
    }

    /// Takes a request.
    pub fn handle_request(&mut self, _client: ClientId, _request: Request, _now: Timestamp) {}

    /// Takes a client's word that it no longer waits: ends a watch.
    pub fn handle_cancel(&mut self, _client: ClientId, _id: RequestId) {}

    /// Ends all watches of a client whose connection is gone.
    pub fn handle_disconnect(&mut self, _client: ClientId) {}

    /// Sends bookmarks, ends watches whose time is over, compacts.
    pub fn handle_timeout(&mut self, _now: Timestamp) {}

    /// Returns the next output.
    pub fn poll_output(&mut self) -> Option<ServerOutput> {
        self.outputs.pop_front()
    }

    /// Returns when to call `handle_timeout`.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Deadline> {
        None
    }

    /// Looks an object up, beside the network.
    #[must_use]
    pub fn object(&self, _resource: &Resource, _key: &ObjectKey) -> Option<Object> {
        None
    }

    /// Returns all objects of a kind in order of their keys, beside the network.
    #[must_use]
    pub fn objects(&self, _resource: &Resource) -> Vec<Object> {
        Vec::new()
    }

    /// Returns the revision of the last write.
    #[must_use]
    pub fn resource_version(&self) -> u64 {
        0
    }
}
