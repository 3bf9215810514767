//! The caches, the client, the Events and the outputs of a controller.
//!
//! Mirrors what kube-controller-manager hands to each controller (cmd/kube-controller-manager/app, v1.34): a service
//! account, informers that start at once, and one client for all requests.
//! Inputs: what is watched, messages, time. Outputs: changes of caches, requests, decisions and log lines, in the order
//! in which they were caused.

use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::ControllerContext;
use crate::chance::Chance;
use crate::components::client::{Changes, Client, Reflector};
use crate::components::events::{EventRecorder, EventType, InvolvedObject};
use crate::components::{Because, Deadline, DecisionId, Outbox, Output, earliest};
use crate::network::{Answer, Ask, Call, CloudCall, Identity, Request, RequestId, Resource, ToClient, TransportError};
use crate::objects::{Object, Text};

/// An answer as it came.
pub type ApiResult = Result<Answer, TransportError>;

/// A list that a controller keeps a cache of.
#[derive(Clone, Debug)]
pub(in crate::components) struct Watched {
    resource: Resource,
    namespace: &'static str,
    /// The name of its generator of free choices; `None` for the plural name of the kind.
    stream: Option<&'static str>,
    /// A query parameter, as `fieldSelector`.
    parameter: Option<(&'static str, &'static str)>,
}

impl Watched {
    /// All objects of a kind, without their heartbeats: for controllers that read no heartbeat times.
    pub(in crate::components) const fn of(resource: Resource) -> Self {
        Self::with(resource, Some(("omitHeartbeats", "true")))
    }

    /// The objects of a kind that a query parameter selects, or all, with their heartbeats.
    pub(in crate::components) const fn with(
        resource: Resource,
        parameter: Option<(&'static str, &'static str)>,
    ) -> Self {
        Self { resource, namespace: "", stream: None, parameter }
    }

    /// Only those of a namespace.
    pub(in crate::components) const fn within(mut self, namespace: &'static str) -> Self {
        self.namespace = namespace;
        self
    }

    /// Gives the generator of its free choices a name of its own.
    pub(in crate::components) const fn with_stream(mut self, name: &'static str) -> Self {
        self.stream = Some(name);
        self
    }
}

/// The caches, the client and the outputs of a controller.
#[derive(Clone, Debug)]
pub struct ControllerRuntime {
    pub(in crate::components) outbox: Outbox,
    client: Client,
    /// `None` for a controller that writes no Events.
    events: Option<EventRecorder>,
    caches: Vec<Reflector>,
}

impl ControllerRuntime {
    /// Starts to fill the caches, as the controller's service account.
    pub(in crate::components) fn new(watched: &[Watched], context: &ControllerContext, now: Timestamp) -> Self {
        let client = Client::new(Identity::controller(context.user), &context.settings, now);
        let source = Some(context.event_source).filter(|source| !source.is_empty());
        let events = source.map(|source| EventRecorder::new(source, context.chance.fork("events")));
        Self { events, ..Self::with_client(client, watched, context) }
    }

    /// Starts to fill the caches under the identity of this client; no Events can be emitted.
    pub(in crate::components) fn with_client(client: Client, watched: &[Watched], context: &ControllerContext) -> Self {
        let mut outbox = Outbox::default();
        let mut start = |watched: &Watched| {
            let chance = context.chance.fork(watched.stream.unwrap_or(&watched.resource.plural));
            let parameters = watched.parameter.iter().map(|(name, value)| (Text::of(name), Text::of(value))).collect();
            let (identity, resource) = (client.identity().clone(), watched.resource.clone());
            Reflector::new(identity, resource, watched.namespace, parameters, chance, &mut outbox)
        };
        Self { caches: watched.iter().map(&mut start).collect(), client, events: None, outbox }
    }

    /// Starts to fill one more cache, behind the others.
    pub(in crate::components) fn watch(&mut self, watched: &Watched, chance: &Chance) {
        let chance = chance.fork(watched.stream.unwrap_or(&watched.resource.plural));
        let parameters = watched.parameter.iter().map(|(name, value)| (Text::of(name), Text::of(value))).collect();
        let (identity, resource) = (self.client.identity().clone(), watched.resource.clone());
        let cache = Reflector::new(identity, resource, watched.namespace, parameters, chance, &mut self.outbox);
        self.caches.push(cache);
    }

    /// Starts to fill the caches, as cloud-controller-manager.
    pub(in crate::components) fn of_cloud(watched: &[Watched], context: &ControllerContext, now: Timestamp) -> Self {
        let client = Client::new(Identity::cloud_controller_manager(), &context.settings, now);
        let events = EventRecorder::new(context.event_source, context.chance.fork("events"));
        Self { events: Some(events), ..Self::with_client(client, watched, context) }
    }

    /// Sends a call to the cloud. It takes no token: a provider's client has a limit of its own, or none.
    pub(in crate::components) fn call_cloud(&mut self, call: CloudCall) -> RequestId {
        let (id, identity) = (self.outbox.next_id(), self.client.identity().clone());
        let request = Request { id, identity, ask: Ask::Cloud(call), timeout: None, because: None };
        self.outbox.push(Output::Request(request));
        id
    }

    /// Gives the client so many times the rate and the burst of kube-controller-manager's flags.
    pub(in crate::components) fn with_rate(
        self,
        (qps, burst): (f64, f64),
        context: &ControllerContext,
        now: Timestamp,
    ) -> Self {
        let number = |flag| context.settings.number(flag);
        let (qps, burst) = (number("kube-api-qps") * qps, number("kube-api-burst") * burst);
        Self { client: Client::with_rate(self.client.identity().clone(), qps, burst, now), ..self }
    }

    /// Returns a cache by its place among those that are watched.
    pub(in crate::components) fn cache(&self, source: usize) -> &Reflector {
        &self.caches[source]
    }

    /// Returns a cache to change.
    pub(in crate::components) fn cache_mut(&mut self, source: usize) -> &mut Reflector {
        &mut self.caches[source]
    }

    /// Returns all caches, in the order in which they were started.
    pub(in crate::components) fn caches(&self) -> impl ExactSizeIterator<Item = &Reflector> {
        self.caches.iter()
    }

    /// Tells whether all caches have their first list.
    pub(in crate::components) fn is_synced(&self) -> bool {
        self.caches.iter().all(Reflector::synced)
    }

    /// Sends a request, at once or when the client has a token for it.
    pub(in crate::components) fn send(&mut self, call: Call, because: Option<DecisionId>, now: Timestamp) -> RequestId {
        self.client.send(call, because, &mut self.outbox, now)
    }

    /// Emits a decision: about what, what, and why.
    pub(in crate::components) fn decide(
        &mut self,
        about: impl Into<Text>,
        what: impl Into<String>,
        because: Vec<Because>,
    ) -> DecisionId {
        self.outbox.decide(about, what, because)
    }

    /// Writes a line to the log.
    pub(in crate::components) fn log(&mut self, line: String) {
        self.outbox.push(Output::Log(line));
    }

    /// Emits an Event; it is sent after the current input, or with [`Self::flush`].
    ///
    /// # Panics
    /// The controller's row in [`registry`](crate::components::registry) has no source of Events.
    pub(in crate::components) fn emit(
        &mut self,
        about: &InvolvedObject,
        kind: EventType,
        reason: &str,
        message: &str,
        because: Option<DecisionId>,
        now: Timestamp,
    ) {
        let events = self.events.as_mut().expect("the row of who emits Events has a source");
        events.emit(about, kind, reason, message, because, now);
    }

    /// Sends the first Event that waits, unless one is under way.
    pub(in crate::components) fn flush(&mut self, now: Timestamp) {
        if let Some(events) = &mut self.events {
            events.flush(&mut self.client, &mut self.outbox, now);
        }
    }

    /// Returns the first deadline of caches, client and Events.
    pub(in crate::components) fn next_deadline(&self) -> Option<Deadline> {
        let own = [self.client.next_deadline(), self.events.as_ref().and_then(EventRecorder::next_deadline)];
        earliest(self.caches.iter().map(Reflector::next_deadline).chain(own))
    }

    /// Returns names and lengths of the queues of requests and Events.
    pub(in crate::components) fn queues(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let events = self.events.as_ref().map(|events| ("events", events.len()));
        [("requests", self.client.waiting())].into_iter().chain(events)
    }

    /// Returns the cache that a watch feeds.
    pub(in crate::components) fn informer(&mut self, watch: RequestId) -> Option<&mut Reflector> {
        self.caches.iter_mut().find(|informer| informer.owns(watch))
    }

    pub(super) fn source_of(&self, id: RequestId) -> Option<usize> {
        self.caches.iter().position(|cache| cache.owns(id))
    }

    pub(super) fn handle_message(&mut self, source: usize, message: ToClient, now: Timestamp) -> Changes {
        self.caches[source].handle_message(message, &mut self.outbox, now)
    }

    /// Takes the answer to an Event; false for any other answer.
    pub(super) fn handle_event_reply(&mut self, id: RequestId, reply: &ApiResult, now: Timestamp) -> bool {
        let events = self.events.as_mut().filter(|events| events.owns(id));
        events.map(|events| events.handle_response(reply, now)).is_some()
    }

    pub(super) fn handle_timeout(&mut self, now: Timestamp) {
        for cache in &mut self.caches {
            cache.handle_timeout(&mut self.outbox, now);
        }
        self.client.handle_timeout(&mut self.outbox, now);
    }
}

/// Returns the error of an answer as client-go prints it; `None` for a success.
pub(in crate::components) fn failure(reply: &ApiResult) -> Option<String> {
    match reply {
        Ok(answer) if answer.is_success() => None,
        Ok(answer) => {
            let status = answer.body();
            Some(String::from(status.get("message").as_str().unwrap_or("the server rejected our request")))
        }
        Err(error) => Some(alloc::format!("{error}")),
    }
}

/// Returns the code of an answer; 0 for none.
pub(in crate::components) fn code(reply: &ApiResult) -> u16 {
    reply.as_ref().map_or(0, |answer| answer.code)
}

/// Tells whether an object was refused because its namespace is ending.
///
/// Source: k8s.io/api core/v1/types.go (v1.34), `NamespaceTerminatingCause`.
pub(in crate::components) fn is_namespace_ending(reply: &ApiResult) -> bool {
    let body = reply.as_ref().map(|answer| answer.body()).unwrap_or_default();
    let mut causes = body.at(&["details", "causes"]).items().iter();
    causes.any(|cause| cause.get("reason").as_str() == Some("NamespaceTerminating"))
}

/// Returns the object of an answer.
pub(in crate::components) fn object(reply: &ApiResult) -> Option<Object> {
    reply.as_ref().ok().filter(|answer| answer.is_success()).and_then(|answer| answer.as_object().cloned())
}
