//! Users: people and tests, which send requests to the API server from outside the cluster.
//!
//! Inputs: identities and requests. Outputs: answers, which come at the instant of the request, and watches, whose
//! events are fetched later. Invariant: no time passes; an answer that a rule delays counts as none.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Simulation;
use super::actor::Actor;
use crate::network::{Answer, Ask, Call, ClientId, Identity, Request, RequestId, ToClient, TransportError, WatchType};
use crate::objects::{Object, Text};

/// What an outside watch received.
#[derive(Clone, Debug, Default)]
pub struct WatchInbox {
    /// The events since the last look.
    pub events: Vec<(WatchType, Object)>,
    /// Whether the stream has ended.
    pub ended: bool,
}

/// What one of them has received.
#[derive(Clone, Default)]
pub(super) struct User {
    last_request: u64,
    answers: BTreeMap<RequestId, Result<Answer, TransportError>>,
    watches: BTreeMap<RequestId, WatchInbox>,
}

impl User {
    pub(super) fn receive(&mut self, message: ToClient) {
        match message {
            ToClient::Response { id, result } => {
                self.answers.insert(id, result);
            }
            ToClient::Watch { id, event, object } => {
                if let Some(inbox) = self.watches.get_mut(&id) {
                    inbox.events.push((event, object));
                }
            }
            ToClient::WatchEnded { id, .. } => {
                if let Some(inbox) = self.watches.get_mut(&id) {
                    inbox.ended = true;
                }
            }
        }
    }
}

impl Simulation {
    /// Sends a request as a person or a test does, under the name `user/NAME` for rules, and returns the answer.
    ///
    /// # Errors
    /// No answer came at this instant, since a rule holds it back.
    pub fn request(&mut self, identity: Arc<Identity>, call: Call) -> Result<Answer, TransportError> {
        let (client, id) = self.send_as_user(identity, call);
        self.finish_instant();
        self.end_wait_now(client, id);
        let answer = self.user(client).answers.remove(&id);
        answer.unwrap_or_else(|| {
            self.event_loop.network.cancel(client, id, self.now);
            self.settle();
            Err(TransportError::Timeout)
        })
    }

    /// Opens a watch as a person or a test does.
    ///
    /// # Errors
    /// The answer that refuses it, or why there is none.
    pub fn watch(&mut self, identity: Arc<Identity>, call: Call) -> Result<(ClientId, RequestId), Box<Answer>> {
        let (client, id) = self.send_as_user(identity, call);
        self.user(client).watches.insert(id, WatchInbox::default());
        self.finish_instant();
        self.end_wait_now(client, id);
        let user = self.user(client);
        match user.answers.remove(&id) {
            Some(Ok(answer)) if answer.is_success() => Ok((client, id)),
            refused => {
                user.watches.remove(&id);
                let gone = || Answer::json(504, crate::json!({"message": "no answer: a rule holds it back"}));
                Err(Box::new(refused.and_then(Result::ok).unwrap_or_else(gone)))
            }
        }
    }

    /// Returns what a watch received since the last look; `None` for an unknown one.
    pub fn take_watch(&mut self, client: ClientId, id: RequestId) -> Option<WatchInbox> {
        let Actor::User(user) = self.event_loop.get_mut(client) else { return None };
        let inbox = user.watches.get_mut(&id)?;
        let events = core::mem::take(&mut inbox.events);
        Some(WatchInbox { events, ended: inbox.ended })
    }

    /// Ends a watch.
    pub fn close_watch(&mut self, client: ClientId, id: RequestId) {
        if let Actor::User(user) = self.event_loop.get_mut(client) {
            user.watches.remove(&id);
            self.event_loop.network.cancel(client, id, self.now);
            self.settle();
        }
    }

    fn user(&mut self, client: ClientId) -> &mut User {
        let Actor::User(user) = self.event_loop.get_mut(client) else { unreachable!("a client of requests") };
        user
    }

    fn send_as_user(&mut self, identity: Arc<Identity>, call: Call) -> (ClientId, RequestId) {
        self.settle();
        let name = format!("user/{}", identity.user);
        let client = self.event_loop.find(&name);
        let client = client.unwrap_or_else(|| self.event_loop.add(Text::from(name), Actor::User(Box::default())));
        let user = self.user(client);
        user.last_request += 1;
        let id = RequestId(user.last_request);
        let ask = Ask::Call(Box::new(call));
        self.event_loop.send(client, Request { id, identity, ask, timeout: None, because: None }, self.now);
        (client, id)
    }

    /// Ends the wait of a request for a revision at this instant.
    fn end_wait_now(&mut self, client: ClientId, id: RequestId) {
        if self.api.end_wait_now(client, id, self.now) {
            self.pump_api();
            self.finish_instant();
        }
    }
}
