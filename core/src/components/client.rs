//! What client-go gives every component: a client with a rate limit, and the classes of errors. Informer caches and
//! work queues are the modules below.
//!
//! Mirrors k8s.io/client-go rest/request.go and util/flowcontrol (v1.34) for the client. Inputs: requests, time.
//! Outputs: requests, each when there is a token for it. Invariant: requests keep their order.

mod cache;
mod queue;
mod reflector;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;

use jiff::{SignedDuration, Timestamp};

pub use cache::{Cache, CacheIndex};
pub use queue::WorkQueue;
pub(super) use queue::{PAUSE_FIRST, PAUSE_MAX};
pub use reflector::{CacheEvent, Changes, Reflector};

use super::{Deadline, DecisionId, Outbox, Output};
use crate::network::{Answer, Ask, Call, Identity, Request, RequestId, TransportError};
use crate::objects::{Object, ObjectKey, Text};
use crate::profile::Settings;

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
    /// Makes a full bucket; a rate below zero is one of zero.
    #[must_use]
    pub const fn new(qps: f64, burst: f64, now: Timestamp) -> Self {
        let qps = if qps > 0.0 { qps } else { 0.0 };
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
        // A rounding error of a nanosecond must not delay a request until the next wake-up.
        let granted = self.tokens >= 1.0 - 1e-9;
        if granted {
            self.tokens = (self.tokens - 1.0).max(0.0);
        }
        granted
    }

    /// Returns the instant, past or future, from which there is a token; `None` if there will never be one, as with a
    /// rate of zero.
    #[must_use]
    pub fn next_token(&self) -> Option<Timestamp> {
        let missing = 1.0 - self.tokens;
        if missing <= 1e-9 { Some(self.at) } else { later(self.at, missing / self.qps) }
    }

    /// Takes a token in advance, and returns when it is available; `None` for never.
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

    /// Returns the identity of the requests.
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

    /// Sends the requests whose token is available now.
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
    /// Applies a change of the pods' cache.
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

/// The outcome of a request, in the classes that controllers distinguish.
#[derive(Clone, Debug)]
pub enum RequestOutcome {
    /// 2xx, with the object of the answer if it holds one.
    Done(Option<Object>),
    /// 404: the object is not there.
    NotFound,
    /// 409 to a write: another writer was faster.
    Conflict,
    /// Any other answer, or none.
    Failed,
}

impl RequestOutcome {
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

    use super::{Client, TokenBucket};
    use crate::components::{Outbox, Output};
    use crate::network::{Call, Identity, NODES, Verb};
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
