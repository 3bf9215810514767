//! What client-go gives every component: informer caches fed by watches, a rate limit, back-off.
//!
//! Mirrors k8s.io/client-go tools/cache/reflector.go (v1.34): list, then watch from the list's revision; a stream that
//! ends is opened again from the last revision seen; `410 Gone` and a failed list begin anew after a back-off.
//! Inputs: answers and watch events of this cache's own requests, time. Outputs: requests, and what changed.
//! Left out on purpose: resync (controllers here set none), and streaming lists.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::{Deadline, Outbox, Output};
use crate::chance::Chance;
use crate::network::{
    Ask, Call, Content, Identity, Request, RequestId, Resource, ToClient, TransportError, Verb, WatchType,
};
use crate::objects::{Object, ObjectKey, Text};

/// First pause after a failed list or watch, doubled up to [`BACKOFF_MAX`], each with a jitter of up to its own length.
/// Source: k8s.io/client-go tools/cache/reflector.go (v1.34), `wait.Backoff{Duration: 800ms, Cap: 30s, Factor: 2, Jitter: 1}`.
const BACKOFF_FIRST: SignedDuration = SignedDuration::from_millis(800);
/// Longest pause after a failed list or watch. Source: as [`BACKOFF_FIRST`].
const BACKOFF_MAX: SignedDuration = SignedDuration::from_secs(30);
/// A quiet time after which the back-off begins anew. Source: as [`BACKOFF_FIRST`], `NewBackoffManager(.., 2*time.Minute, ..)`.
const BACKOFF_RESET: SignedDuration = SignedDuration::from_secs(120);

/// A change of a cache.
#[derive(Clone, Debug)]
pub struct CacheEvent {
    /// The object as it was in the cache.
    pub before: Option<Object>,
    /// The object as it is now; `None` once it is deleted.
    pub after: Option<Object>,
}

impl CacheEvent {
    /// Returns the newer of both sides.
    ///
    /// # Panics
    /// Never: one side is always there.
    #[must_use]
    pub fn object(&self) -> &Object {
        self.after.as_ref().or(self.before.as_ref()).expect("an event without an object is never made")
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Listing(RequestId),
    Watching(RequestId),
    Waiting(Timestamp),
}

/// An informer cache: the objects of one list, kept current by a watch.
#[derive(Debug)]
pub struct Reflector {
    identity: Arc<Identity>,
    list: Call,
    state: State,
    synced: bool,
    resource_version: u64,
    objects: BTreeMap<ObjectKey, Object>,
    backoff: SignedDuration,
    last_failure: Option<Timestamp>,
    chance: Chance,
    changes: Vec<CacheEvent>,
}

impl Reflector {
    /// Starts a cache with its first list.
    ///
    /// `selectors` are query parameters, as `fieldSelector`.
    #[must_use]
    pub fn new(
        identity: Arc<Identity>,
        resource: Resource,
        namespace: impl Into<Text>,
        selectors: Vec<(Text, Text)>,
        chance: Chance,
        outbox: &mut Outbox,
    ) -> Self {
        let mut list = Call::new(Verb::List, resource, namespace, "");
        list.query = selectors;
        let mut reflector = Self {
            identity,
            list,
            state: State::Waiting(Timestamp::MIN),
            synced: false,
            resource_version: 0,
            objects: BTreeMap::new(),
            backoff: BACKOFF_FIRST,
            last_failure: None,
            chance,
            changes: Vec::new(),
        };
        reflector.send_list(outbox);
        reflector
    }

    /// Tells whether the first list has arrived.
    #[must_use]
    pub const fn synced(&self) -> bool {
        self.synced
    }

    /// Returns an object of the cache.
    #[must_use]
    pub fn get(&self, key: &ObjectKey) -> Option<&Object> {
        self.objects.get(key)
    }

    /// Returns all objects of the cache in order of their keys.
    pub fn objects(&self) -> impl ExactSizeIterator<Item = &Object> {
        self.objects.values()
    }

    /// Returns the revision up to which the cache is current.
    #[must_use]
    pub const fn resource_version(&self) -> u64 {
        self.resource_version
    }

    /// Tells whether a message belongs to this cache.
    #[must_use]
    pub fn owns(&self, id: RequestId) -> bool {
        matches!(self.state, State::Listing(own) | State::Watching(own) if own == id)
    }

    /// Takes a message for which [`Self::owns`] holds, and returns what changed, in order.
    pub fn handle_message(&mut self, message: ToClient, outbox: &mut Outbox, now: Timestamp) -> Vec<CacheEvent> {
        match message {
            ToClient::Response { result, .. } => self.handle_response(result, outbox, now),
            ToClient::Watch { event, object, .. } => self.handle_event(event, object, outbox, now),
            // A stream that ends in good order is opened again at once, from where it stopped.
            ToClient::WatchEnded { .. } => self.send_watch(outbox),
        }
        core::mem::take(&mut self.changes)
    }

    /// Opens a list or watch again whose pause is over.
    pub fn handle_timeout(&mut self, outbox: &mut Outbox, now: Timestamp) {
        if let State::Waiting(until) = self.state
            && until <= now
        {
            self.send_list(outbox);
        }
    }

    /// Returns when a pause is over.
    #[must_use]
    pub const fn next_deadline(&self) -> Option<Deadline> {
        match self.state {
            State::Waiting(at) => Some(Deadline { at, reason: "list again" }),
            State::Listing(_) | State::Watching(_) => None,
        }
    }

    fn handle_response(
        &mut self,
        result: Result<crate::network::Answer, TransportError>,
        outbox: &mut Outbox,
        now: Timestamp,
    ) {
        match (self.state, result) {
            (State::Listing(_), Ok(answer)) if answer.is_success() => {
                if let Content::List { resource_version, items, .. } = answer.content {
                    self.replace(items);
                    self.synced = true;
                    self.resource_version = resource_version;
                    self.send_watch(outbox);
                }
            }
            (State::Watching(_), Ok(answer)) if answer.is_success() => {}
            (State::Watching(_), Ok(answer)) if answer.code == 410 => self.send_list(outbox),
            _ => self.wait(now),
        }
    }

    fn handle_event(&mut self, event: WatchType, object: Object, outbox: &mut Outbox, now: Timestamp) {
        match event {
            WatchType::Bookmark => self.resource_version = object.resource_version(),
            WatchType::Error => {
                if let State::Watching(id) = self.state {
                    outbox.push(Output::Cancel(id));
                }
                if object.stable().get("code").as_i64() == Some(410) {
                    self.send_list(outbox);
                } else {
                    self.wait(now);
                }
            }
            WatchType::Added | WatchType::Modified => {
                self.resource_version = object.resource_version();
                let before = self.objects.insert(object.key(), object.clone());
                self.changes.push(CacheEvent { before, after: Some(object) });
            }
            WatchType::Deleted => {
                self.resource_version = object.resource_version();
                self.objects.remove(&object.key());
                self.changes.push(CacheEvent { before: Some(object), after: None });
            }
        }
    }

    /// Takes a new list, and finds out what changed since the old one.
    fn replace(&mut self, items: Vec<Object>) {
        let mut old = core::mem::take(&mut self.objects);
        for object in items {
            let key = object.key();
            let before = old.remove(&key);
            let same = before.as_ref().is_some_and(|before| before.resource_version() == object.resource_version());
            if !same {
                self.changes.push(CacheEvent { before, after: Some(object.clone()) });
            }
            self.objects.insert(key, object);
        }
        self.changes.extend(old.into_values().map(|gone| CacheEvent { before: Some(gone), after: None }));
    }

    fn send_list(&mut self, outbox: &mut Outbox) {
        let id = self.send(self.list.clone(), outbox);
        self.state = State::Listing(id);
    }

    fn send_watch(&mut self, outbox: &mut Outbox) {
        let mut watch = self.list.clone();
        watch.verb = Verb::Watch;
        let watch = watch
            .query("watch", "true")
            .query("allowWatchBookmarks", "true")
            .query("resourceVersion", format!("{}", self.resource_version));
        let id = self.send(watch, outbox);
        self.state = State::Watching(id);
    }

    fn send(&self, call: Call, outbox: &mut Outbox) -> RequestId {
        let id = outbox.next_id();
        let ask = Ask::Call(Box::new(call));
        outbox.push(Output::Request(Request {
            id,
            identity: self.identity.clone(),
            ask,
            timeout: None,
            because: None,
        }));
        id
    }

    fn wait(&mut self, now: Timestamp) {
        if self.last_failure.is_none_or(|last| now.duration_since(last) > BACKOFF_RESET) {
            self.backoff = BACKOFF_FIRST;
        }
        self.last_failure = Some(now);
        self.state = State::Waiting(now + self.chance.jitter(self.backoff, 1.0));
        self.backoff = (self.backoff * 2).min(BACKOFF_MAX);
    }
}

/// A token bucket, as k8s.io/client-go util/flowcontrol.
///
/// `qps` tokens per second, up to `burst` of them; it starts full.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    qps: f64,
    burst: f64,
    tokens: f64,
    at: Timestamp,
}

impl TokenBucket {
    /// Makes a full bucket.
    #[must_use]
    pub const fn new(qps: f64, burst: f64, now: Timestamp) -> Self {
        Self { qps, burst, tokens: burst, at: now }
    }

    fn refill(&mut self, now: Timestamp) {
        let passed = now.duration_since(self.at).as_secs_f64();
        self.tokens = (self.tokens + passed * self.qps).min(self.burst);
        self.at = now;
    }

    /// Takes a token if there is one.
    pub fn try_take(&mut self, now: Timestamp) -> bool {
        self.refill(now);
        // A nanosecond's worth of rounding must not cost a whole tick.
        let granted = self.tokens >= 1.0 - 1e-9;
        if granted {
            self.tokens = (self.tokens - 1.0).max(0.0);
        }
        granted
    }

    /// Takes a token that may lie in the future, and returns when it is there: what a client's rate limit does.
    pub fn reserve(&mut self, now: Timestamp) -> Timestamp {
        self.refill(now);
        self.tokens -= 1.0;
        if self.tokens >= -1e-9 { now } else { now + SignedDuration::from_secs_f64(-self.tokens / self.qps) }
    }
}
