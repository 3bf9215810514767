//! What client-go gives every component: informer caches fed by watches, a rate limit, back-off.
//!
//! Mirrors k8s.io/client-go tools/cache/reflector.go (v1.34): list, then watch from the list's revision; a stream that
//! ends is opened again from the last revision seen, after a back-off where the server refuses connections or has too much
//! to do; `410 Gone` and all that fails otherwise begin anew with a list after a back-off.
//! Inputs: answers and watch events of this cache's own requests, time. Outputs: requests, and what changed.
//! A watch event costs one look-up in a hash table, since 100,000 renewed Leases are the traffic of a quiet cluster.
//! Left out on purpose: resync (controllers here set none), and streaming lists.

mod cache;
mod queue;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

pub use cache::{Cache, Slot};
pub(super) use queue::PAUSE_FIRST;
pub use queue::WorkQueue;

use super::{Deadline, DecisionId, Outbox, Output};
use crate::chance::Chance;
use crate::network::{
    Answer, Ask, Call, Content, Identity, Request, RequestId, Resource, ToClient, TransportError, Verb, WatchType,
};
use crate::objects::{Beat, Object, ObjectKey, Text};
use crate::profile::Settings;

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
    /// Its place in the cache: the same from its first event to its last, then free for another object.
    pub slot: Slot,
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

/// What one message changed in a cache, in order.
#[derive(Clone, Debug, Default)]
pub enum Changes {
    /// Nothing.
    #[default]
    None,
    /// What a watch event did.
    One(CacheEvent),
    /// What a new list did.
    Many(Vec<CacheEvent>),
}

impl IntoIterator for Changes {
    type Item = CacheEvent;
    type IntoIter = core::iter::Chain<core::option::IntoIter<CacheEvent>, alloc::vec::IntoIter<CacheEvent>>;

    fn into_iter(self) -> Self::IntoIter {
        let (one, many) = match self {
            Self::None => (None, Vec::new()),
            Self::One(event) => (Some(event), Vec::new()),
            Self::Many(events) => (None, events),
        };
        one.into_iter().chain(many)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Listing(RequestId),
    Watching(RequestId),
    Waiting(Timestamp, Again),
}

/// What a cache opens when its pause is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Again {
    List,
    Watch,
}

impl Again {
    /// Says what follows on a watch that was answered with a code. Source: as [`BACKOFF_FIRST`], `isWatchErrorRetriable`
    /// and `watch`: a list comes after the back-off too, since `wait.BackoffUntil` ends each round with it.
    const fn after(code: i64) -> Self {
        if code == 429 { Self::Watch } else { Self::List }
    }
}

/// A watch event that changes nothing but the times of a Node's conditions.
#[derive(Clone, Debug)]
pub struct Heartbeat<'a> {
    /// The watch.
    pub watch: RequestId,
    /// Where the store keeps the Node: no other object of this kind is there at this time.
    pub place: u32,
    /// The beat of the revision before.
    pub before: Beat,
    /// The Node as it is now.
    pub node: &'a Object,
}

/// An informer cache: the objects of one list, kept current by a watch.
#[derive(Clone, Debug)]
pub struct Reflector {
    identity: Arc<Identity>,
    list: Call,
    state: State,
    synced: bool,
    resource_version: u64,
    cache: Cache,
    backoff: SignedDuration,
    last_failure: Option<Timestamp>,
    chance: Chance,
    changes: Changes,
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
        let identity = identity.of_informers();
        let mut list = Call::new(Verb::List, resource, namespace, "");
        list.query = selectors;
        Self {
            state: State::Listing(ask(&identity, list.clone(), outbox)),
            identity,
            list,
            synced: false,
            resource_version: 0,
            cache: Cache::default(),
            backoff: BACKOFF_FIRST,
            last_failure: None,
            chance,
            changes: Changes::None,
        }
    }

    /// Tells whether the first list has arrived.
    #[must_use]
    pub const fn synced(&self) -> bool {
        self.synced
    }

    /// Returns an object of the cache.
    #[must_use]
    pub fn get(&self, key: &ObjectKey) -> Option<&Object> {
        self.cache.get(&key.namespace, &key.name)
    }

    /// Returns all objects of the cache in order of their keys.
    pub fn objects(&self) -> impl ExactSizeIterator<Item = &Object> {
        self.cache.objects()
    }

    /// Returns the cache itself.
    #[must_use]
    pub const fn cache(&self) -> &Cache {
        &self.cache
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
    pub fn handle_message(&mut self, message: ToClient, outbox: &mut Outbox, now: Timestamp) -> Changes {
        match message {
            ToClient::Response { result, .. } => self.handle_response(result, outbox, now),
            ToClient::Watch { event, object, .. } => self.handle_event(event, object, outbox, now),
            // Source: k8s.io/apimachinery pkg/watch/streamwatcher.go (v1.34), `receive`: a connection that is lost is an
            // error event, and its code, 500, is none that the reflector tries the watch again after.
            ToClient::WatchEnded { lost: true, .. } => self.wait(Again::List, now),
            // A stream that ends in good order is opened again at once, from where it stopped.
            ToClient::WatchEnded { lost: false, .. } => self.send_watch(outbox),
        }
        core::mem::take(&mut self.changes)
    }

    /// Takes a bookmark of the open watch: the revision that it goes on from; false if there is no open watch.
    pub(crate) fn handle_bookmark(&mut self, resource_version: u64) -> bool {
        let is_open = matches!(self.state, State::Watching(_));
        if is_open {
            self.resource_version = resource_version;
        }
        is_open
    }

    /// Takes the renewal of a Lease that differs from the cached one by its beat alone; `None` if it is not cached so.
    pub(crate) fn handle_renewal(&mut self, before: Beat, beat: Beat) -> Option<Slot> {
        let slot = self.cache.renew(before, beat)?;
        self.resource_version = beat.resource_version();
        Some(slot)
    }

    /// Finds a cached Node of which a heartbeat replaced the revision before; `None` if it is not cached so.
    pub(crate) fn before_heartbeat(&mut self, heartbeat: &Heartbeat<'_>) -> Option<Slot> {
        let is_open = matches!(self.state, State::Watching(own) if own == heartbeat.watch);
        if !is_open {
            return None;
        }
        self.cache.slot_before(heartbeat.place, heartbeat.before, heartbeat.node)
    }

    /// Takes a heartbeat of the Node that [`Self::before_heartbeat`] found.
    pub(crate) fn take_heartbeat(&mut self, slot: Slot, heartbeat: &Heartbeat<'_>) {
        self.cache.take_beat(slot, heartbeat.node.beat());
        self.resource_version = heartbeat.node.resource_version();
    }

    /// Takes a heartbeat of the only object that the watch selects; false if it is not cached as it was before.
    pub(crate) fn handle_only_heartbeat(&mut self, heartbeat: &Heartbeat<'_>) -> bool {
        let is_open = matches!(self.state, State::Watching(own) if own == heartbeat.watch);
        let is_before = |cached: &Object| {
            cached.beat() == heartbeat.before && cached.stable().is_same_allocation(heartbeat.node.stable())
        };
        let is_current = is_open && self.cache.at(0).is_some_and(is_before);
        if is_current {
            self.take_heartbeat(0, heartbeat);
        }
        is_current
    }

    /// Opens a list or watch again whose pause is over.
    pub fn handle_timeout(&mut self, outbox: &mut Outbox, now: Timestamp) {
        match self.state {
            State::Waiting(until, Again::List) if until <= now => self.send_list(outbox),
            State::Waiting(until, Again::Watch) if until <= now => self.send_watch(outbox),
            _ => {}
        }
    }

    /// Returns when a pause is over.
    #[must_use]
    pub const fn next_deadline(&self) -> Option<Deadline> {
        match self.state {
            State::Waiting(at, Again::List) => Some(Deadline { at, reason: "list again" }),
            State::Waiting(at, Again::Watch) => Some(Deadline { at, reason: "watch again" }),
            State::Listing(_) | State::Watching(_) => None,
        }
    }

    fn handle_response(&mut self, result: Result<Answer, TransportError>, outbox: &mut Outbox, now: Timestamp) {
        match (self.state, result) {
            (State::Listing(_), Ok(answer)) if answer.is_success() => {
                if let Content::List(list) = answer.content {
                    self.replace(list.items);
                    self.synced = true;
                    self.resource_version = list.resource_version;
                    self.send_watch(outbox);
                }
            }
            (State::Watching(_), Ok(answer)) if answer.is_success() => {}
            (State::Watching(_), Ok(answer)) => self.wait(Again::after(answer.code.into()), now),
            (State::Watching(_), Err(TransportError::Refused)) => self.wait(Again::Watch, now),
            _ => self.wait(Again::List, now),
        }
    }

    fn handle_event(&mut self, event: WatchType, object: Object, outbox: &mut Outbox, now: Timestamp) {
        match event {
            WatchType::Bookmark => self.resource_version = object.resource_version(),
            WatchType::Error => {
                if let State::Watching(id) = self.state {
                    outbox.push(Output::Cancel(id));
                }
                let code = object.stable().get("code").as_i64();
                self.wait(Again::after(code.unwrap_or_default()), now);
            }
            WatchType::Added | WatchType::Modified => {
                self.resource_version = object.resource_version();
                let (slot, before) = self.cache.insert(object.clone());
                self.changes = Changes::One(CacheEvent { before, after: Some(object), slot });
            }
            WatchType::Deleted => {
                self.resource_version = object.resource_version();
                if let Some((slot, _)) = self.cache.remove(&object.key()) {
                    self.changes = Changes::One(CacheEvent { before: Some(object), after: None, slot });
                }
            }
        }
    }

    /// Takes a new list, and finds out what changed since the old one.
    fn replace(&mut self, items: Vec<Object>) {
        let mut changes = Vec::new();
        let mut gone: BTreeSet<ObjectKey> = self.cache.keys().cloned().collect();
        for object in items {
            gone.remove(&object.key());
            let (slot, before) = self.cache.insert(object.clone());
            let same = before.as_ref().is_some_and(|before| before.resource_version() == object.resource_version());
            if !same {
                changes.push(CacheEvent { before, after: Some(object), slot });
            }
        }
        for key in gone {
            if let Some((slot, before)) = self.cache.remove(&key) {
                changes.push(CacheEvent { before: Some(before), after: None, slot });
            }
        }
        self.changes = Changes::Many(changes);
    }

    fn send_list(&mut self, outbox: &mut Outbox) {
        self.state = State::Listing(ask(&self.identity, self.list.clone(), outbox));
    }

    fn send_watch(&mut self, outbox: &mut Outbox) {
        let mut watch = self.list.clone();
        watch.verb = Verb::Watch;
        let watch = watch
            .query("watch", "true")
            .query("allowWatchBookmarks", "true")
            .query("resourceVersion", format!("{}", self.resource_version));
        self.state = State::Watching(ask(&self.identity, watch, outbox));
    }

    fn wait(&mut self, again: Again, now: Timestamp) {
        if self.last_failure.is_none_or(|last| now.duration_since(last) > BACKOFF_RESET) {
            self.backoff = BACKOFF_FIRST;
        }
        self.last_failure = Some(now);
        self.state = State::Waiting(now + self.chance.jitter(self.backoff, 1.0), again);
        self.backoff = (self.backoff * 2).min(BACKOFF_MAX);
    }
}

/// Sends a list or watch, which nothing limits.
fn ask(identity: &Arc<Identity>, call: Call, outbox: &mut Outbox) -> RequestId {
    let (id, ask) = (outbox.next_id(), Ask::Call(Box::new(call)));
    outbox.push(Output::Request(Request { id, identity: identity.clone(), ask, timeout: None, because: None }));
    id
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

    /// Returns since when or from when on there is a token; `None` if none comes any more, as with a rate of zero.
    #[must_use]
    pub fn next_token(&self) -> Option<Timestamp> {
        let missing = 1.0 - self.tokens;
        if missing <= 1e-9 { Some(self.at) } else { later(self.at, missing / self.qps) }
    }

    /// Takes a token that may lie in the future, and returns when it is there, `None` for never: what a client's rate limit
    /// does.
    pub fn reserve(&mut self, now: Timestamp) -> Option<Timestamp> {
        self.refill(now);
        self.tokens -= 1.0;
        if self.tokens >= -1e-9 { Some(now) } else { later(now, -self.tokens / self.qps) }
    }
}

/// Returns the instant so many seconds later, unless time ends before.
fn later(at: Timestamp, seconds: f64) -> Option<Timestamp> {
    let wait = SignedDuration::try_from_secs_f64(seconds).ok()?;
    at.checked_add(wait).ok()
}

/// The client of one controller, with its rate limit: what client-go's `rest.Config` with QPS and Burst does.
///
/// All requests of one controller, its Events included, take their tokens from one bucket; a request without a token
/// waits for its turn, first come, first served. The watches of the informers go through another client and are free.
/// Source: k8s.io/client-go rest/request.go (v1.34), `tryThrottle`; recordings show the Events in the same bucket.
#[derive(Clone, Debug)]
pub struct Client {
    identity: Arc<Identity>,
    /// `None` for a client without a limit.
    bucket: Option<TokenBucket>,
    /// Requests with the instants of their tokens; `None` for one whose token never comes.
    waiting: VecDeque<(Option<Timestamp>, Request)>,
}

/// The rate of a client whose configuration says 0. Source: k8s.io/client-go rest/config.go (v1.34), `DefaultQPS`.
const DEFAULT_QPS: f64 = 5.0;
/// The burst of a client whose configuration says 0. Source: as above, `DefaultBurst`.
const DEFAULT_BURST: f64 = 10.0;

impl Client {
    /// Makes a client with a full bucket and the rate of kube-controller-manager's flags.
    #[must_use]
    pub fn new(identity: Arc<Identity>, settings: &Settings, now: Timestamp) -> Self {
        Self::with_rate(identity, settings.number("kube-api-qps"), settings.number("kube-api-burst"), now)
    }

    /// Makes a client with a full bucket of `burst` requests, refilled by `qps` a second; 0 stands for client-go's own
    /// default, a rate below it for no limit.
    ///
    /// Source: k8s.io/client-go rest/config.go (v1.34), `RESTClientForConfigAndClient`.
    #[must_use]
    pub fn with_rate(identity: Arc<Identity>, qps: f64, burst: f64, now: Timestamp) -> Self {
        let or_default = |value: f64, default| if value == 0.0 { default } else { value };
        let (qps, burst) = (or_default(qps, DEFAULT_QPS), or_default(burst, DEFAULT_BURST));
        let bucket = (qps > 0.0).then(|| TokenBucket::new(qps, burst, now));
        Self { identity, bucket, waiting: VecDeque::new() }
    }

    /// Returns who asks.
    #[must_use]
    pub const fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    /// Returns the number of requests that wait for a token.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Sends a request, at once or when there is a token for it.
    pub fn send(&mut self, call: Call, because: Option<DecisionId>, outbox: &mut Outbox, now: Timestamp) -> RequestId {
        let id = outbox.next_id();
        let ask = Ask::Call(Box::new(call));
        let request = Request { id, identity: self.identity.clone(), ask, timeout: None, because };
        let at = self.bucket.as_mut().map_or(Some(now), |bucket| bucket.reserve(now));
        if at.is_some_and(|at| at <= now) && self.waiting.is_empty() {
            outbox.push(Output::Request(request));
        } else {
            self.waiting.push_back((at, request));
        }
        id
    }

    /// Sends what has its token now.
    pub fn handle_timeout(&mut self, outbox: &mut Outbox, now: Timestamp) {
        while self.waiting.front().is_some_and(|(at, _)| at.is_some_and(|at| at <= now))
            && let Some((_, request)) = self.waiting.pop_front()
        {
            outbox.push(Output::Request(request));
        }
    }

    /// Returns when the next waiting request gets its token.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Deadline> {
        let (at, _) = self.waiting.front()?;
        at.map(|at| Deadline { at, reason: "client rate limit" })
    }
}

/// The pods of each node: client-go's indexer by `spec.nodeName`.
#[derive(Clone, Debug, Default)]
pub struct PodsByNode(BTreeMap<Text, BTreeSet<ObjectKey>>);

impl PodsByNode {
    /// Follows a change of the pods' cache.
    pub fn update(&mut self, event: &CacheEvent) {
        let node_of = |pod: &Option<Object>| pod.as_ref().and_then(node_name).cloned();
        let (before, after) = (node_of(&event.before), node_of(&event.after));
        if before == after && event.before.is_some() {
            return;
        }
        let key = event.object().key();
        if let Some(node) = before
            && let Some(pods) = self.0.get_mut(&node)
        {
            pods.remove(&key);
            if pods.is_empty() {
                self.0.remove(&node);
            }
        }
        if let Some(node) = after {
            self.0.entry(node).or_default().insert(key);
        }
    }

    /// Returns the names of the nodes that have pods.
    pub fn nodes(&self) -> impl Iterator<Item = &Text> {
        self.0.keys()
    }

    /// Returns the pods of a node in order of their keys.
    pub fn of(&self, node: &str) -> impl Iterator<Item = &ObjectKey> {
        self.0.get(node).into_iter().flatten()
    }
}

/// Returns `spec.nodeName` of a pod that is bound.
#[must_use]
pub fn node_name(pod: &Object) -> Option<&Text> {
    pod.stable().at(&["spec", "nodeName"]).as_text().filter(|name| !name.is_empty())
}

/// How a request went, as a controller's code tells its errors apart.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// 2xx, with the object of the answer if it holds one.
    Done(Option<Object>),
    /// 404: the object is not there.
    NotFound,
    /// 409 to a write: another writer was faster.
    Conflict,
    /// Any other answer, or none.
    Failed,
}

impl Outcome {
    /// Reads a response.
    #[must_use]
    pub fn of(result: &Result<Answer, TransportError>) -> Self {
        match result {
            Ok(answer) if answer.is_success() => Self::Done(answer.as_object().cloned()),
            Ok(answer) => match answer.code {
                404 => Self::NotFound,
                409 => Self::Conflict,
                _ => Self::Failed,
            },
            Err(_) => Self::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use jiff::{SignedDuration, Timestamp};

    use super::{Client, Reflector, TokenBucket};
    use crate::chance::Chance;
    use crate::components::{Outbox, Output};
    use crate::network::{Answer, Ask, Call, Content, Identity, List, NODES, RequestId, ToClient, Verb};
    use crate::objects::Text;
    use crate::profile::Settings;

    fn sent(outbox: &mut Outbox) -> usize {
        core::iter::from_fn(|| outbox.poll()).filter(|output| matches!(output, Output::Request(_))).count()
    }

    #[test]
    fn a_client_sends_a_burst_and_then_twenty_requests_a_second() {
        let start = Timestamp::UNIX_EPOCH;
        let mut outbox = Outbox::default();
        let mut client = Client::new(Identity::controller("node-controller"), &Settings::default(), start);
        for _ in 0..33 {
            client.send(Call::new(Verb::Get, NODES, "", "w1"), None, &mut outbox, start);
        }
        assert_eq!(sent(&mut outbox), 30);
        let mut later = Vec::new();
        while let Some(deadline) = client.next_deadline() {
            client.handle_timeout(&mut outbox, deadline.at);
            assert_eq!(sent(&mut outbox), 1);
            later.push(deadline.at.duration_since(start).as_millis());
        }
        assert_eq!(later, [50, 100, 150]);
    }

    fn asked(outbox: &mut Outbox) -> Option<(RequestId, Verb)> {
        core::iter::from_fn(|| outbox.poll()).find_map(|output| match output {
            Output::Request(request) => match request.ask {
                Ask::Call(call) => Some((request.id, call.verb)),
                _ => None,
            },
            _ => None,
        })
    }

    #[test]
    fn a_cache_watches_again_what_ended_and_lists_again_what_was_lost() {
        let start = Timestamp::UNIX_EPOCH;
        let mut outbox = Outbox::default();
        let identity = Identity::controller("node-controller");
        let mut cache = Reflector::new(identity, NODES, "", Vec::new(), Chance::new(1), &mut outbox);
        let (id, verb) = asked(&mut outbox).unwrap();
        assert_eq!(verb, Verb::List);
        let content = Content::List(alloc::boxed::Box::new(List {
            kind: Text::of("NodeList"),
            api_version: Text::of("v1"),
            resource_version: 7,
            items: Vec::new(),
            next: Text::of(""),
            remaining: None,
        }));
        let result = Ok(Answer { code: 200, headers: Vec::new(), content });
        drop(cache.handle_message(ToClient::Response { id, result }, &mut outbox, start));
        let (id, verb) = asked(&mut outbox).unwrap();
        assert_eq!(verb, Verb::Watch);
        drop(cache.handle_message(ToClient::WatchEnded { id, lost: false }, &mut outbox, start));
        let (id, verb) = asked(&mut outbox).unwrap();
        assert_eq!(verb, Verb::Watch);
        drop(cache.handle_message(ToClient::WatchEnded { id, lost: true }, &mut outbox, start));
        assert_eq!(asked(&mut outbox), None);
        let again = cache.next_deadline().unwrap().at;
        assert!((800..1600).contains(&again.duration_since(start).as_millis()));
        cache.handle_timeout(&mut outbox, again);
        assert_eq!(asked(&mut outbox).unwrap().1, Verb::List);
    }

    #[test]
    fn a_request_whose_token_never_comes_waits_without_an_instant() {
        let start = Timestamp::UNIX_EPOCH;
        let mut outbox = Outbox::default();
        let mut client = Client::with_rate(Identity::controller("node-controller"), 1e-300, 1.0, start);
        for _ in 0..2 {
            client.send(Call::new(Verb::Get, NODES, "", "w1"), None, &mut outbox, start);
        }
        assert_eq!((sent(&mut outbox), client.waiting(), client.next_deadline()), (1, 1, None));
        client.handle_timeout(&mut outbox, start + SignedDuration::from_hours(24));
        assert_eq!(sent(&mut outbox), 0);
    }

    #[test]
    fn a_bucket_of_one_token_grants_one_each_ten_seconds_at_a_rate_of_a_tenth() {
        let start = Timestamp::UNIX_EPOCH;
        let mut bucket = TokenBucket::new(0.1, 1.0, start);
        assert!(bucket.try_take(start));
        assert!(!bucket.try_take(start + SignedDuration::from_millis(9_999)));
        assert!(bucket.try_take(start + SignedDuration::from_secs(10)));
    }
}
