//! An informer cache: the objects of one list, kept current by a watch.
//!
//! Mirrors k8s.io/client-go tools/cache/reflector.go (v1.34): list, then watch from the list's revision; a stream that
//! ends is opened again from the last revision seen, after a back-off if the server refuses connections or is
//! overloaded. After `410 Gone` and any other failure a new list follows, after a back-off.
//! Inputs: answers and watch events of this cache's own requests, time. Outputs: requests, and what changed.
//! Invariant: one request, a list or a watch, is open at a time. A watch event costs one look-up in a hash table, since
//! 100,000 renewed Leases are the traffic of a quiet cluster. Left out on purpose: resync (controllers here set none),
//! and streaming lists.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::cache::{Cache, CacheIndex};
use crate::chance::Chance;
use crate::components::{Deadline, Outbox, Output};
use crate::network::{
    Answer, Ask, Call, Content, Identity, Request, RequestId, Resource, ToClient, TransportError, Verb, WatchType,
};
use crate::objects::{HeartbeatStamp, Object, ObjectKey, Text};

/// First pause after a failed list or watch, doubled up to [`BACKOFF_MAX`], each with a jitter of up to its own length.
/// Source: k8s.io/client-go tools/cache/reflector.go (v1.34), `wait.Backoff{Duration: 800ms, Cap: 30s, Factor: 2,
/// Jitter: 1}`.
const BACKOFF_FIRST: SignedDuration = SignedDuration::from_millis(800);
/// Longest pause after a failed list or watch. Source: as [`BACKOFF_FIRST`].
const BACKOFF_MAX: SignedDuration = SignedDuration::from_secs(30);
/// Time without a failure after which the back-off is reset. Source: as [`BACKOFF_FIRST`], `NewBackoffManager(..,
/// 2*time.Minute, ..)`.
const BACKOFF_RESET: SignedDuration = SignedDuration::from_secs(120);

/// A change of a cache.
#[derive(Clone, Debug)]
pub struct CacheEvent {
    /// The object as it was in the cache.
    pub before: Option<Object>,
    /// The object as it is now; `None` once it is deleted.
    pub after: Option<Object>,
    /// Its place in the cache: the same from its first event to its last, then reused for another object.
    pub slot: CacheIndex,
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
enum ReflectorState {
    /// It was not started yet.
    Paused,
    Listing(RequestId),
    Watching(RequestId),
    Waiting(Timestamp, ResumeWith),
}

/// Which request follows a pause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ResumeWith {
    List,
    Watch,
}

impl ResumeWith {
    /// Returns the request that follows a watch that was answered with a code. Source: as [`BACKOFF_FIRST`],
    /// `isWatchErrorRetriable` and `watch`: a list comes after the back-off too, since `wait.BackoffUntil` ends each
    /// round with it.
    const fn after(code: i64) -> Self {
        if code == 429 { Self::Watch } else { Self::List }
    }
}

/// An informer cache: the objects of one list, kept current by a watch.
#[derive(Clone, Debug)]
pub struct Reflector {
    identity: Arc<Identity>,
    list: Call,
    state: ReflectorState,
    synced: bool,
    resource_version: u64,
    cache: Cache,
    backoff: SignedDuration,
    last_failure: Option<Timestamp>,
    chance: Chance,
    /// When a recording shows that lists succeeded; empty outside of replays.
    wanted: Vec<Timestamp>,
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
            state: ReflectorState::Listing(ask(&identity, list.clone(), outbox)),
            identity,
            list,
            synced: false,
            resource_version: 0,
            cache: Cache::default(),
            backoff: BACKOFF_FIRST,
            last_failure: None,
            chance,
            wanted: Vec::new(),
            changes: Changes::None,
        }
    }

    /// Makes a cache that lists nothing until it is replaced: its process has not started yet.
    #[must_use]
    pub fn paused(identity: Arc<Identity>, resource: Resource, chance: Chance) -> Self {
        let mut nowhere = Outbox::default();
        let paused = Self::new(identity, resource, "", Vec::new(), chance, &mut nowhere);
        Self { state: ReflectorState::Paused, ..paused }
    }

    /// Lets pauses lead to the instants at which a recording shows that lists succeeded.
    pub fn lead(&mut self, wanted: &[Timestamp]) {
        self.wanted = wanted.to_vec();
    }

    /// Returns the pause that leads to the next wanted instant, if there is one: that instant itself, or a pause after
    /// which a later one can still lead there.
    fn led_pause(&self, now: Timestamp) -> Option<SignedDuration> {
        let (least, most) = (self.backoff, self.backoff * 2);
        let left = self.wanted.iter().map(|at| at.duration_since(now)).find(|left| left.is_positive())?;
        if left <= most {
            return Some(left.max(least));
        }
        Some((left - most.min(BACKOFF_MAX)).clamp(least, most))
    }

    /// Sends further requests as somebody else.
    pub fn act_as(&mut self, identity: &Arc<Identity>) {
        self.identity = identity.of_informers();
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

    /// Drops an object that its reader knows to be gone.
    pub(crate) fn forget(&mut self, key: &ObjectKey) {
        let _ = self.cache.remove(key);
    }

    /// Tells whether a message belongs to this cache.
    #[must_use]
    pub fn owns(&self, id: RequestId) -> bool {
        matches!(self.state, ReflectorState::Listing(own) | ReflectorState::Watching(own) if own == id)
    }

    /// Takes a message for which [`Self::owns`] holds, and returns what changed, in order.
    pub fn handle_message(&mut self, message: ToClient, outbox: &mut Outbox, now: Timestamp) -> Changes {
        match message {
            ToClient::Response { result, .. } => self.handle_response(result, outbox, now),
            ToClient::Watch { event, object, .. } => self.handle_event(event, object, outbox, now),
            // Source: k8s.io/apimachinery pkg/watch/streamwatcher.go (v1.34), `receive`: a connection that is lost is
            // an error event with code 500, after which the reflector lists again.
            ToClient::WatchEnded { lost: true, .. } => self.wait(ResumeWith::List, now),
            // A stream that the server closed is opened again at once, from the last revision.
            ToClient::WatchEnded { lost: false, .. } => self.send_watch(outbox),
        }
        core::mem::take(&mut self.changes)
    }

    /// Takes a bookmark of the open watch, and with it the revision to resume from; false if there is no open watch.
    pub(crate) fn handle_bookmark(&mut self, resource_version: u64) -> bool {
        let is_open = matches!(self.state, ReflectorState::Watching(_));
        if is_open {
            self.resource_version = resource_version;
        }
        is_open
    }

    /// Takes the renewal of a Lease that differs from the cached one by its stamp alone; `None` if the cached revision
    /// is another one.
    pub(crate) fn handle_renewal(&mut self, before: HeartbeatStamp, stamp: HeartbeatStamp) -> Option<CacheIndex> {
        let slot = self.cache.renew(before, stamp)?;
        self.resource_version = stamp.resource_version();
        Some(slot)
    }

    /// Ends what is under way: nobody reads this cache any more.
    pub(crate) fn stop(self, outbox: &mut Outbox) {
        if let ReflectorState::Listing(id) | ReflectorState::Watching(id) = self.state {
            outbox.push(Output::Cancel(id));
        }
    }

    /// Sends the list or watch whose pause is over.
    pub fn handle_timeout(&mut self, outbox: &mut Outbox, now: Timestamp) {
        match self.state {
            ReflectorState::Waiting(until, ResumeWith::List) if until <= now => self.send_list(outbox),
            ReflectorState::Waiting(until, ResumeWith::Watch) if until <= now => self.send_watch(outbox),
            _ => {}
        }
    }

    /// Returns when a pause is over.
    #[must_use]
    pub const fn next_deadline(&self) -> Option<Deadline> {
        match self.state {
            ReflectorState::Waiting(at, ResumeWith::List) => Some(Deadline { at, reason: "list again" }),
            ReflectorState::Waiting(at, ResumeWith::Watch) => Some(Deadline { at, reason: "watch again" }),
            ReflectorState::Paused | ReflectorState::Listing(_) | ReflectorState::Watching(_) => None,
        }
    }

    fn handle_response(&mut self, result: Result<Answer, TransportError>, outbox: &mut Outbox, now: Timestamp) {
        match (self.state, result) {
            (ReflectorState::Listing(_), Ok(answer)) if answer.is_success() => {
                if let Content::List(list) = answer.content {
                    self.replace(list.items);
                    self.synced = true;
                    self.resource_version = list.resource_version;
                    self.send_watch(outbox);
                }
            }
            (ReflectorState::Watching(_), Ok(answer)) if answer.is_success() => {}
            (ReflectorState::Watching(_), Ok(answer)) => self.wait(ResumeWith::after(answer.code.into()), now),
            (ReflectorState::Watching(_), Err(TransportError::Refused)) => self.wait(ResumeWith::Watch, now),
            _ => self.wait(ResumeWith::List, now),
        }
    }

    fn handle_event(&mut self, event: WatchType, object: Object, outbox: &mut Outbox, now: Timestamp) {
        match event {
            WatchType::Bookmark => self.resource_version = object.resource_version(),
            WatchType::Error => {
                if let ReflectorState::Watching(id) = self.state {
                    outbox.push(Output::Cancel(id));
                }
                let code = object.stable().get("code").as_i64();
                self.wait(ResumeWith::after(code.unwrap_or_default()), now);
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
        self.state = ReflectorState::Listing(ask(&self.identity, self.list.clone(), outbox));
    }

    fn send_watch(&mut self, outbox: &mut Outbox) {
        let mut watch = self.list.clone();
        watch.verb = Verb::Watch;
        let watch = watch
            .query("watch", "true")
            .query("allowWatchBookmarks", "true")
            .query("resourceVersion", format!("{}", self.resource_version));
        self.state = ReflectorState::Watching(ask(&self.identity, watch, outbox));
    }

    fn wait(&mut self, again: ResumeWith, now: Timestamp) {
        if self.last_failure.is_none_or(|last| now.duration_since(last) > BACKOFF_RESET) {
            self.backoff = BACKOFF_FIRST;
        }
        self.last_failure = Some(now);
        let random = self.chance.jitter(self.backoff, 1.0);
        self.state = ReflectorState::Waiting(now + self.led_pause(now).unwrap_or(random), again);
        self.backoff = (self.backoff * 2).min(BACKOFF_MAX);
    }
}

/// Sends a list or watch; no rate limit applies.
fn ask(identity: &Arc<Identity>, call: Call, outbox: &mut Outbox) -> RequestId {
    let (id, ask) = (outbox.next_id(), Ask::Call(Box::new(call)));
    outbox.push(Output::Request(Request { id, identity: identity.clone(), ask, timeout: None, because: None }));
    id
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use jiff::Timestamp;

    use super::Reflector;
    use crate::chance::Chance;
    use crate::components::{Outbox, Output};
    use crate::network::{Answer, Ask, Content, Identity, List, NODES, RequestId, ToClient, Verb};
    use crate::objects::Text;

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
            says_types: false,
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
}
