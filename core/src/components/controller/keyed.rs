//! Controllers that sync one object at a time: a queue of keys with back-off, and the requests under way for each.
//!
//! Mirrors the workers of pkg/controller (v1.34): informers put keys into a rate-limited queue; workers sync one key
//! each, and a sync is a sequence of stages, each one a set of concurrent requests.
//! A controller is a [`Reconciler`]; [`KeyedController`] makes a component of it. Inputs: changes of caches, answers,
//! time. Outputs: requests, Events, decisions. Invariant: a key is synced by one worker at a time, and its next stage
//! begins when all requests of the stage before are answered.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use jiff::{SignedDuration, Timestamp};

use super::runtime::{ApiResult, ControllerRuntime, Watched, failure};
use super::{Controller, ControllerContext, LoopInfo};
use crate::chance::Chance;
use crate::components::client::{CacheEvent, Client, PAUSE_FIRST, PAUSE_MAX, Reflector, WorkQueue};
use crate::components::events::{EventType, InvolvedObject};
use crate::components::{Because, Deadline, DecisionId, earliest};
use crate::network::{Call, CloudCall, RequestId};
use crate::objects::{ObjectKey, Text};

/// How the sync of a key continues when none of its requests is under way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::components) enum Flow {
    /// [`Reconciler::proceed`] is called.
    Next,
    /// The sync is done.
    Done,
    /// The key is queued for another sync, which counts as this one: neither a success nor a failure.
    Later,
    /// Something failed: the key is synced again after a pause.
    Retry,
}

/// The part of such a controller that differs from the others.
pub(in crate::components) trait Reconciler: Clone + Debug + Send + 'static {
    /// What a request is for.
    type Purpose: Clone + Debug + Send + 'static;

    /// Takes a change of a cache, and queues the keys that it affects.
    fn handle_event(
        &mut self,
        source: usize,
        event: &CacheEvent,
        runtime: &mut KeyedRuntime<Self::Purpose>,
        now: Timestamp,
    );

    /// Begins the sync of a key.
    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<Self::Purpose>, now: Timestamp) -> Flow;

    /// Takes the answer to a request of a key. If several are under way, the worst of the returned values counts, that
    /// of [`Self::sync`] included.
    fn handle_reply(
        &mut self,
        _key: &ObjectKey,
        _step: Self::Purpose,
        reply: &ApiResult,
        _runtime: &mut KeyedRuntime<Self::Purpose>,
        _now: Timestamp,
    ) -> Flow {
        if failure(reply).is_some() { Flow::Retry } else { Flow::Next }
    }

    /// Begins the next stage of a key, when none of its requests is under way.
    fn proceed(&mut self, _key: &ObjectKey, _runtime: &mut KeyedRuntime<Self::Purpose>, _now: Timestamp) -> Flow {
        Flow::Done
    }

    /// Returns its periodic loops.
    fn loops(&self) -> Vec<LoopInfo> {
        Vec::new()
    }

    /// Starts its loops, when all caches have their first list.
    fn begin(&mut self, _now: Timestamp) {}

    /// Begins the rounds that are due.
    fn handle_due(&mut self, _runtime: &mut KeyedRuntime<Self::Purpose>, _now: Timestamp) {}

    /// Hands the clock of its loops to the driver.
    fn hold_loops(&mut self) {}

    /// Begins a round of a loop; false if there is no such loop.
    fn run_once(&mut self, _name: &str, _runtime: &mut KeyedRuntime<Self::Purpose>, _now: Timestamp) -> bool {
        false
    }
}

/// A sync under way.
#[derive(Clone, Copy, Debug)]
struct Open {
    requests: usize,
    flow: Flow,
}

/// A [`ControllerRuntime`] with a queue of keys.
#[derive(Clone, Debug)]
pub(in crate::components) struct KeyedRuntime<S> {
    base: ControllerRuntime,
    queue: WorkQueue<ObjectKey>,
    under_way: BTreeMap<RequestId, (ObjectKey, S)>,
    /// The keys that have requests under way.
    open: BTreeMap<ObjectKey, Open>,
}

impl<S> KeyedRuntime<S> {
    /// Returns a cache by its place in [`ControllerConfig::watched`].
    pub(in crate::components) fn cache(&self, source: usize) -> &Reflector {
        self.base.cache(source)
    }

    /// Starts to fill one more cache, behind the others.
    pub(in crate::components) fn watch(&mut self, watched: &Watched, chance: &Chance) {
        self.base.watch(watched, chance);
    }

    /// Sends a request for a key.
    pub(in crate::components) fn send(
        &mut self,
        key: &ObjectKey,
        step: S,
        call: Call,
        because: Option<DecisionId>,
        now: Timestamp,
    ) {
        let id = self.base.send(call, because, now);
        self.note(key, step, id);
    }

    /// Sends a call to the cloud for a key.
    pub(in crate::components) fn call_cloud(&mut self, key: &ObjectKey, step: S, call: CloudCall) {
        let id = self.base.call_cloud(call);
        self.note(key, step, id);
    }

    fn note(&mut self, key: &ObjectKey, step: S, id: RequestId) {
        self.under_way.insert(id, (key.clone(), step));
        self.open.entry(key.clone()).or_insert(Open { requests: 0, flow: Flow::Next }).requests += 1;
    }

    /// Emits a decision.
    pub(in crate::components) fn decide(
        &mut self,
        about: impl Into<Text>,
        what: impl Into<String>,
        because: Vec<Because>,
    ) -> DecisionId {
        self.base.decide(about, what, because)
    }

    /// Emits an Event.
    pub(in crate::components) fn emit(
        &mut self,
        about: &InvolvedObject,
        kind: EventType,
        reason: &str,
        message: &str,
        now: Timestamp,
    ) {
        self.base.emit(about, kind, reason, message, None, now);
        self.base.flush(now);
    }

    /// Puts a key into the queue.
    pub(in crate::components) fn add(&mut self, key: ObjectKey) {
        self.queue.add(key);
    }

    /// Puts a key into the queue after a pause.
    pub(in crate::components) fn add_after(&mut self, key: ObjectKey, pause: SignedDuration, now: Timestamp) {
        self.queue.add_at(key, now + pause);
    }

    /// Queues a key after a pause that is none of its own, as that of a change on its way: another pause stays.
    pub(in crate::components) fn add_late(&mut self, key: ObjectKey, pause: SignedDuration, now: Timestamp) {
        self.queue.add_at_also(key, now + pause);
    }

    /// Ends a request: returns its key and its purpose.
    fn close(&mut self, id: RequestId) -> Option<(ObjectKey, S)> {
        let (key, step) = self.under_way.remove(&id)?;
        if let Some(open) = self.open.get_mut(&key) {
            open.requests -= 1;
        }
        Some((key, step))
    }

    /// Notes how the sync of a key continues; `None` while requests of it are under way.
    fn settle(&mut self, key: &ObjectKey, flow: Flow) -> Option<Flow> {
        let Some(open) = self.open.get_mut(key) else { return Some(flow) };
        open.flow = open.flow.max(flow);
        if open.requests > 0 {
            return None;
        }
        self.open.remove(key).map(|open| open.flow)
    }
}

/// The constants of a controller.
#[derive(Debug)]
pub(in crate::components) struct ControllerConfig {
    /// The name of its queue.
    pub(in crate::components) queue: &'static str,
    /// How many keys are synced concurrently.
    pub(in crate::components) workers: usize,
    /// How often a key that failed is tried again.
    pub(in crate::components) retries: Retries,
    /// What it watches.
    pub(in crate::components) watched: &'static [Watched],
}

/// How a key that failed is tried again.
#[derive(Clone, Copy, Debug)]
pub(in crate::components) struct Retries {
    /// The first pause, doubled with each further failure.
    pub(in crate::components) first: SignedDuration,
    /// The longest pause.
    pub(in crate::components) longest: SignedDuration,
    /// How many retries there are; after them the key waits for the next change.
    pub(in crate::components) most: u32,
}

impl Retries {
    /// The default of the work queue, without a limit.
    pub(in crate::components) const ENDLESS: Self = Self { first: PAUSE_FIRST, longest: PAUSE_MAX, most: u32::MAX };
}

/// A controller that is a [`Reconciler`]; it keeps the contract of [`Component`](crate::components::Component).
#[derive(Clone, Debug)]
pub(in crate::components) struct KeyedController<R: Reconciler> {
    own: R,
    runtime: KeyedRuntime<R::Purpose>,
    config: &'static ControllerConfig,
}

impl<R: Reconciler> KeyedController<R> {
    /// Starts a controller with empty caches.
    pub(in crate::components) fn new(
        own: R,
        config: &'static ControllerConfig,
        context: &ControllerContext,
        now: Timestamp,
    ) -> Self {
        Self::over(own, config, ControllerRuntime::new(config.watched, context, now))
    }

    /// Starts a controller with empty caches under the identity of a client; it writes no Events.
    pub(in crate::components) fn with_client(
        own: R,
        config: &'static ControllerConfig,
        client: Client,
        context: &ControllerContext,
    ) -> Self {
        Self::over(own, config, ControllerRuntime::with_client(client, config.watched, context))
    }

    /// Starts a controller of cloud-controller-manager with empty caches.
    pub(in crate::components) fn of_cloud(
        own: R,
        config: &'static ControllerConfig,
        context: &ControllerContext,
        now: Timestamp,
    ) -> Self {
        Self::over(own, config, ControllerRuntime::of_cloud(config.watched, context, now))
    }

    fn over(own: R, config: &'static ControllerConfig, base: ControllerRuntime) -> Self {
        let queue = WorkQueue::with_pauses(config.retries.first, config.retries.longest);
        let runtime = KeyedRuntime { base, queue, under_way: BTreeMap::new(), open: BTreeMap::new() };
        Self { own, runtime, config }
    }

    /// Gives its client another rate; see [`ControllerRuntime::with_rate`].
    pub(in crate::components) fn with_rate(
        mut self,
        times: (f64, f64),
        context: &ControllerContext,
        now: Timestamp,
    ) -> Self {
        self.runtime.base = self.runtime.base.with_rate(times, context, now);
        self
    }

    /// Runs the stages of a key until requests of it are under way, or it is done.
    fn follow(&mut self, key: &ObjectKey, mut flow: Flow, now: Timestamp) {
        loop {
            match self.runtime.settle(key, flow) {
                None => return,
                Some(Flow::Next) => flow = self.own.proceed(key, &mut self.runtime, now),
                Some(end) => return self.end(key, end, now),
            }
        }
    }

    fn end(&mut self, key: &ObjectKey, flow: Flow, now: Timestamp) {
        let queue = &mut self.runtime.queue;
        match flow {
            Flow::Retry if queue.failures(key) < self.config.retries.most => queue.retry(key.clone(), now),
            Flow::Later => {}
            _ => queue.forget(key),
        }
        queue.done(key);
    }
}

impl<R: Reconciler> Controller for KeyedController<R> {
    fn runtime(&self) -> &ControllerRuntime {
        &self.runtime.base
    }

    fn runtime_mut(&mut self) -> &mut ControllerRuntime {
        &mut self.runtime.base
    }

    fn handle_event(&mut self, source: usize, event: &CacheEvent, now: Timestamp) {
        self.own.handle_event(source, event, &mut self.runtime, now);
    }

    fn handle_reply(&mut self, id: RequestId, reply: &ApiResult, now: Timestamp) {
        let Some((key, step)) = self.runtime.close(id) else { return };
        let flow = self.own.handle_reply(&key, step, reply, &mut self.runtime, now);
        self.follow(&key, flow, now);
    }

    fn handle_due(&mut self, now: Timestamp) {
        self.runtime.queue.handle_timeout(now);
        self.own.handle_due(&mut self.runtime, now);
    }

    fn work(&mut self, now: Timestamp) {
        if !self.runtime.base.is_synced() {
            return;
        }
        self.own.begin(now);
        while self.runtime.queue.working() < self.config.workers
            && let Some(key) = self.runtime.queue.take()
        {
            let flow = self.own.sync(&key, &mut self.runtime, now);
            self.follow(&key, flow, now);
        }
    }

    fn own_deadline(&self) -> Option<Deadline> {
        let next = |info: LoopInfo| info.next.map(|at| Deadline { at, reason: info.name });
        earliest(self.own.loops().into_iter().map(next).chain([self.runtime.queue.next_deadline()]))
    }

    fn loops(&self) -> Vec<LoopInfo> {
        self.own.loops()
    }

    fn hold_loops(&mut self) {
        self.own.hold_loops();
    }

    fn run_once(&mut self, name: &str, now: Timestamp) -> bool {
        let ran = self.own.run_once(name, &mut self.runtime, now);
        self.work(now);
        ran
    }

    fn own_queues(&self) -> Vec<(&'static str, usize)> {
        Vec::from([(self.config.queue, self.runtime.queue.len())])
    }
}
