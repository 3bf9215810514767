//! What the controllers of workloads share: caches, a queue of keys, requests under way, Events, and one way through.
//!
//! Mirrors the common shape of pkg/controller/{replicaset,deployment,statefulset,daemon,disruption,endpointslice}
//! (v1.34): informers fill caches and put keys into a rate-limited queue; workers sync one key each, and a sync is a
//! sequence of steps, each one a set of requests side by side.
//! A controller is a [`Logic`]; [`Workload`] makes a component of it. Invariant: a key is synced by one worker at a time,
//! and its next step begins when all requests of the step before are answered.

mod expectations;
pub(super) mod pod_control;
pub(super) mod pods;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use jiff::{SignedDuration, Timestamp};

pub(super) use self::expectations::Expectations;
pub(super) use super::client::PAUSE_FIRST;
use super::client::{CacheEvent, Client, Reflector, WorkQueue};
use super::controller::{Context, Controller};
use super::events::{About, EventRecorder, EventType};
use super::{Component, Deadline, DecisionId, Outbox, Output, earliest};
use crate::network::{Answer, Call, Identity, RequestId, Resource, ToClient, TransportError};
use crate::objects::{Object, ObjectKey, Text};

/// `replicasets`.
pub(super) const REPLICA_SETS: Resource = Resource::of("apps", "v1", "replicasets");
/// `deployments`.
pub(super) const DEPLOYMENTS: Resource = Resource::of("apps", "v1", "deployments");
/// `statefulsets`.
pub(super) const STATEFUL_SETS: Resource = Resource::of("apps", "v1", "statefulsets");
/// `daemonsets`.
pub(super) const DAEMON_SETS: Resource = Resource::of("apps", "v1", "daemonsets");
/// `controllerrevisions`.
pub(super) const REVISIONS: Resource = Resource::of("apps", "v1", "controllerrevisions");

/// An answer as it came.
pub(super) type Reply = Result<Answer, TransportError>;

/// How the sync of a key goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flow {
    /// Requests are under way, or the next step can begin at once.
    Next,
    /// All is done.
    Done,
    /// Something failed: the key is synced again after a pause.
    Retry,
}

/// What a controller does of its own.
pub(super) trait Logic: Clone + Debug + Send + 'static {
    /// What a request is for.
    type Step: Clone + Debug + Send + 'static;

    /// Takes a change of a cache, and puts the keys that it concerns into the queue.
    fn handle_event(&mut self, source: usize, event: &CacheEvent, shop: &mut Shop<Self::Step>, now: Timestamp);

    /// Begins to work on a key.
    fn sync(&mut self, key: &ObjectKey, shop: &mut Shop<Self::Step>, now: Timestamp) -> Flow;

    /// Takes the answer to a request of a key.
    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        step: Self::Step,
        reply: &Reply,
        shop: &mut Shop<Self::Step>,
        now: Timestamp,
    );

    /// Goes on with a key none of whose requests is under way.
    fn proceed(&mut self, key: &ObjectKey, shop: &mut Shop<Self::Step>, now: Timestamp) -> Flow;
}

/// The tools of a controller.
#[derive(Clone, Debug)]
pub(super) struct Shop<S> {
    outbox: Outbox,
    client: Client,
    events: EventRecorder,
    caches: Vec<Reflector>,
    queue: WorkQueue<ObjectKey>,
    under_way: BTreeMap<RequestId, (ObjectKey, S)>,
    /// How many requests of a key are under way.
    open: BTreeMap<ObjectKey, usize>,
}

impl<S> Shop<S> {
    /// Returns a cache by its place in [`Plan::caches`].
    pub(super) fn cache(&self, source: usize) -> &Reflector {
        &self.caches[source]
    }

    /// Sends a request for a key.
    pub(super) fn send(&mut self, key: &ObjectKey, step: S, call: Call, because: Option<DecisionId>, now: Timestamp) {
        let id = self.client.send(call, because, &mut self.outbox, now);
        self.under_way.insert(id, (key.clone(), step));
        *self.open.entry(key.clone()).or_default() += 1;
    }

    /// Says what was decided.
    pub(super) fn decide(
        &mut self,
        about: impl Into<Text>,
        what: impl Into<String>,
        because: Vec<super::Because>,
    ) -> DecisionId {
        self.outbox.decide(about, what, because)
    }

    /// Emits an Event.
    pub(super) fn emit(&mut self, about: &About, kind: EventType, reason: &str, message: &str, now: Timestamp) {
        self.events.emit(about, kind, reason, message, None, now);
        self.events.flush(&mut self.client, &mut self.outbox, now);
    }

    /// Puts a key into the queue.
    pub(super) fn add(&mut self, key: ObjectKey) {
        self.queue.add(key);
    }

    /// Puts a key into the queue later.
    pub(super) fn add_after(&mut self, key: ObjectKey, pause: SignedDuration, now: Timestamp) {
        self.queue.add_at(key, now + pause);
    }
}

/// What a controller is made of.
pub(super) struct Plan {
    /// The service account.
    pub(super) account: &'static str,
    /// The component that its Events name.
    pub(super) component: &'static str,
    /// The name of its queue.
    pub(super) queue: &'static str,
    /// How many keys are worked on side by side.
    pub(super) workers: usize,
    /// How often a key that failed is tried again.
    pub(super) retries: Retries,
    /// What it watches.
    pub(super) caches: &'static [Resource],
}

/// How a key that failed is tried again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retries {
    /// The first pause, doubled with each further failure.
    pub(super) first: SignedDuration,
    /// After so many the key waits for the next change.
    pub(super) most: u32,
}

impl Retries {
    /// As the work queue has it by default, without end.
    pub(super) const ENDLESS: Self = Self { first: PAUSE_FIRST, most: u32::MAX };
}

/// A controller as a component.
#[derive(Clone, Debug)]
pub(super) struct Workload<L: Logic> {
    logic: L,
    shop: Shop<L::Step>,
    queue_name: &'static str,
    retries: Retries,
    workers: usize,
    started: bool,
}

impl<L: Logic> Workload<L> {
    /// Starts a controller with empty caches.
    pub(super) fn new(logic: L, plan: &Plan, context: &Context, now: Timestamp) -> Self {
        let mut outbox = Outbox::default();
        let identity = Identity::controller(plan.account);
        let caches = plan
            .caches
            .iter()
            .map(|resource| {
                let chance = context.chance.fork(&resource.plural);
                Reflector::without_heartbeats(&identity, resource.clone(), chance, &mut outbox)
            })
            .collect();
        let shop = Shop {
            client: Client::new(identity, &context.settings, now),
            events: EventRecorder::new(plan.component, context.chance.fork("events")),
            caches,
            queue: WorkQueue::with_first_pause(plan.retries.first),
            under_way: BTreeMap::new(),
            open: BTreeMap::new(),
            outbox,
        };
        Self { logic, shop, queue_name: plan.queue, retries: plan.retries, workers: plan.workers, started: false }
    }

    fn work(&mut self, now: Timestamp) {
        if !self.started {
            if !self.shop.caches.iter().all(Reflector::synced) {
                return;
            }
            self.started = true;
        }
        while self.shop.queue.working() < self.workers
            && let Some(key) = self.shop.queue.take()
        {
            let flow = self.logic.sync(&key, &mut self.shop, now);
            self.follow(&key, flow, now);
        }
    }

    fn follow(&mut self, key: &ObjectKey, mut flow: Flow, now: Timestamp) {
        while flow == Flow::Next {
            if self.shop.open.contains_key(key) {
                return;
            }
            flow = self.logic.proceed(key, &mut self.shop, now);
        }
        match flow {
            Flow::Retry if self.shop.queue.failures(key) < self.retries.most => self.shop.queue.retry(key.clone(), now),
            _ => self.shop.queue.forget(key),
        }
        self.shop.queue.done(key);
    }

    fn handle_response(&mut self, id: RequestId, reply: &Reply, now: Timestamp) {
        let shop = &mut self.shop;
        if shop.events.owns(id) {
            shop.events.handle_response(reply, now);
            shop.events.flush(&mut shop.client, &mut shop.outbox, now);
            return;
        }
        let Some((key, step)) = shop.under_way.remove(&id) else { return };
        if let Some(open) = shop.open.get_mut(&key) {
            *open -= 1;
            if *open == 0 {
                shop.open.remove(&key);
            }
        }
        self.logic.handle_reply(&key, step, reply, shop, now);
        if !self.shop.open.contains_key(&key) {
            self.follow(&key, Flow::Next, now);
        }
    }
}

impl<L: Logic> Component for Workload<L> {
    fn handle_message(&mut self, message: ToClient, now: Timestamp) {
        let id = message.id();
        if let Some(source) = self.shop.caches.iter().position(|cache| cache.owns(id)) {
            for event in self.shop.caches[source].handle_message(message, &mut self.shop.outbox, now) {
                self.logic.handle_event(source, &event, &mut self.shop, now);
            }
        } else if let ToClient::Response { result, .. } = &message {
            self.handle_response(id, result, now);
        }
        self.work(now);
    }

    fn handle_timeout(&mut self, now: Timestamp) {
        let shop = &mut self.shop;
        for cache in &mut shop.caches {
            cache.handle_timeout(&mut shop.outbox, now);
        }
        shop.client.handle_timeout(&mut shop.outbox, now);
        shop.events.flush(&mut shop.client, &mut shop.outbox, now);
        shop.queue.handle_timeout(now);
        self.work(now);
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.shop.outbox.poll()
    }

    fn next_deadline(&self) -> Option<Deadline> {
        let shop = &self.shop;
        let own = [shop.client.next_deadline(), shop.events.next_deadline(), shop.queue.next_deadline()];
        earliest(shop.caches.iter().map(Reflector::next_deadline).chain(own))
    }
}

impl<L: Logic> Controller for Workload<L> {
    fn informer(&mut self, watch: RequestId) -> Option<&mut Reflector> {
        self.shop.caches.iter_mut().find(|informer| informer.owns(watch))
    }

    fn queues(&self) -> Vec<(&'static str, usize)> {
        Vec::from([
            (self.queue_name, self.shop.queue.len()),
            ("requests", self.shop.client.waiting()),
            ("events", self.shop.events.len()),
        ])
    }
}

/// Returns the error of an answer as client-go prints it; `None` for a success.
pub(super) fn failure(reply: &Reply) -> Option<String> {
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
pub(super) fn code(reply: &Reply) -> u16 {
    reply.as_ref().map_or(0, |answer| answer.code)
}

/// Returns the object of an answer.
pub(super) fn object(reply: &Reply) -> Option<Object> {
    reply.as_ref().ok().filter(|answer| answer.is_success()).and_then(|answer| answer.as_object().cloned())
}
