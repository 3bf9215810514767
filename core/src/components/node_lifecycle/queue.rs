//! The nodes of one zone that wait for a NoExecute taint, and the rate limiter of these taints.
//!
//! Mirrors pkg/controller/nodelifecycle/scheduler/rate_limited_queue.go (v1.34): a queue ordered by time, and a set of
//! known names. Inputs: nodes, time. Outputs: the next node that may be tainted. Invariant: a node that left the queue
//! stays known, and is not queued again until it is forgotten.

use alloc::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::NodeId;
use crate::components::client::TokenBucket;

/// Tokens that a limiter holds at most. Source: rate_limited_queue.go (v1.34), `EvictionRateLimiterBurst`.
const BURST: f64 = 1.0;
/// How long a node waits whose taint could not be decided.
/// Source: node_lifecycle_controller.go (v1.34), `doNoExecuteTaintingPass`.
pub(super) const UNDECIDED_PAUSE: SignedDuration = SignedDuration::from_millis(50);

#[derive(Clone, Debug)]
enum Limiter {
    Bucket(TokenBucket, f64),
    /// Never grants anything. It calls its own rate 1, so a wanted rate of 1 never replaces it.
    /// Source: k8s.io/client-go util/flowcontrol/throttle.go (v1.34), `fakeNeverRateLimiter`.
    Never,
}

impl Limiter {
    const fn called_rate(&self) -> f64 {
        match self {
            Self::Bucket(_, rate) => *rate,
            Self::Never => 1.0,
        }
    }

    fn try_take(&mut self, now: Timestamp) -> bool {
        match self {
            Self::Bucket(bucket, _) => bucket.try_take(now),
            Self::Never => false,
        }
    }
}

/// A zone's queue.
#[derive(Clone, Debug)]
pub(super) struct TaintQueue {
    order: BTreeMap<(Timestamp, u64), NodeId>,
    places: BTreeMap<NodeId, (Timestamp, u64)>,
    known: BTreeSet<NodeId>,
    limiter: Limiter,
    added: u64,
    /// The node that was taken last.
    last: Option<NodeId>,
}

impl TaintQueue {
    /// Makes an empty queue with a full limiter.
    #[must_use]
    pub(super) const fn new(rate: f64, now: Timestamp) -> Self {
        Self {
            order: BTreeMap::new(),
            places: BTreeMap::new(),
            known: BTreeSet::new(),
            limiter: Limiter::Bucket(TokenBucket::new(rate, BURST, now), rate),
            added: 0,
            last: None,
        }
    }

    /// Makes the queue that follows this one: it knows only which node was taken last.
    #[must_use]
    pub(super) fn renewed(&self, rate: f64, now: Timestamp) -> Self {
        Self { last: self.last, ..Self::new(rate, now) }
    }

    /// Adds a node to the end of the queue; false if its name is known.
    pub(super) fn add(&mut self, node: NodeId, now: Timestamp) -> bool {
        let new = self.known.insert(node);
        if new {
            self.put(node, now);
        }
        new
    }

    /// Forgets a node, whether it waits or was handled; false if its name is not known.
    pub(super) fn forget(&mut self, node: NodeId) -> bool {
        self.finish(node);
        self.known.remove(&node)
    }

    /// Removes a node from the queue; its name stays known.
    pub(super) fn finish(&mut self, node: NodeId) {
        if let Some(place) = self.places.remove(&node) {
            self.order.remove(&place);
        }
    }

    /// Puts a node back into the queue for a later instant.
    pub(super) fn put_back(&mut self, node: NodeId, at: Timestamp) {
        if self.places.contains_key(&node) {
            self.finish(node);
            self.put(node, at);
        }
    }

    /// Tells whether no node is known.
    #[must_use]
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty() && self.places.is_empty()
    }

    /// Tells whether the node is known: it waits, or was handled.
    #[must_use]
    pub(super) fn is_known(&self, node: NodeId) -> bool {
        self.known.contains(&node)
    }

    /// Returns the nodes in the order in which they wait.
    pub(super) fn waiting(&self) -> impl ExactSizeIterator<Item = NodeId> {
        self.order.values().copied()
    }

    /// Takes the first node that waits, if the limiter grants a token; the token is spent even if the node is not due
    /// yet.
    pub(super) fn try_next(&mut self, now: Timestamp) -> Option<NodeId> {
        let ((due, _), node) = self.order.first_key_value().map(|(place, node)| (*place, *node))?;
        let taken = (self.limiter.try_take(now) && due <= now).then_some(node);
        self.last = taken.or(self.last);
        taken
    }

    /// Moves to the front, of the nodes that were added since an instant, the next one after the one that was taken
    /// last, round and round.
    pub(super) fn take_turns(&mut self, since: Timestamp) {
        let Some(last) = self.last else { return };
        if let Some(next) = self.waiting().min_by_key(|id| id.wrapping_sub(last).wrapping_sub(1)) {
            self.bring_forward(next, since);
        }
    }

    /// Moves a node to the front of those that were added since an instant, if no other waits longer.
    pub(super) fn bring_forward(&mut self, node: NodeId, since: Timestamp) {
        let Some(((due, number), first)) = self.order.first_key_value().map(|(place, first)| (*place, *first)) else {
            return;
        };
        let Some(place) = self.places.get(&node).copied().filter(|_| first != node && due >= since) else { return };
        self.order.remove(&place);
        self.order.remove(&(due, number));
        self.order.insert((due, number), node);
        self.order.insert(place, first);
        self.places.insert(node, (due, number));
        self.places.insert(first, place);
    }

    /// Returns the instant, past or future, from which a node may be taken; `None` if none waits or the limiter never
    /// grants.
    #[must_use]
    pub(super) fn next_grant(&self) -> Option<Timestamp> {
        let ((due, _), _) = self.order.first_key_value()?;
        match &self.limiter {
            Limiter::Bucket(bucket, _) => bucket.next_token().map(|at| at.max(*due)),
            Limiter::Never => None,
        }
    }

    /// Returns when a look at the queue takes the next token, whether the first node is due or not; `None` if none
    /// waits.
    #[must_use]
    pub(super) fn next_token(&self) -> Option<Timestamp> {
        match &self.limiter {
            Limiter::Bucket(bucket, _) if !self.order.is_empty() => bucket.next_token(),
            _ => None,
        }
    }

    /// Returns the nodes per second that the limiter grants.
    #[must_use]
    pub(super) const fn rate(&self) -> f64 {
        match &self.limiter {
            Limiter::Bucket(_, rate) => *rate,
            Limiter::Never => 0.0,
        }
    }

    /// Replaces the limiter, unless it reports this rate as its own. The new one is empty if the old one was.
    pub(super) fn swap_limiter(&mut self, rate: f64, now: Timestamp) {
        if (self.limiter.called_rate() - rate).abs() < f64::EPSILON {
            return;
        }
        self.limiter = if rate <= 0.0 {
            Limiter::Never
        } else {
            let mut bucket = TokenBucket::new(rate, BURST, now);
            if !self.limiter.try_take(now) {
                bucket.try_take(now);
            }
            Limiter::Bucket(bucket, rate)
        };
    }

    fn put(&mut self, node: NodeId, at: Timestamp) {
        self.added += 1;
        let place = (at, self.added);
        self.order.insert(place, node);
        self.places.insert(node, place);
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::TaintQueue;

    const START: Timestamp = Timestamp::UNIX_EPOCH;

    fn at(seconds: i64) -> Timestamp {
        START + SignedDuration::from_secs(seconds)
    }

    #[test]
    fn a_handled_node_stays_known_until_it_is_forgotten() {
        let mut queue = TaintQueue::new(0.1, START);
        assert!(queue.add(1, START));
        assert_eq!(queue.try_next(START), Some(1));
        queue.finish(1);
        assert!(!queue.add(1, at(5)));
        assert!(queue.forget(1));
        assert!(queue.add(1, at(5)));
        assert!(!queue.forget(2));
    }

    #[test]
    fn a_node_comes_forward_only_among_those_that_were_added_since() {
        let mut queue = TaintQueue::new(0.1, START);
        queue.add(1, at(5));
        queue.add(2, at(6));
        queue.bring_forward(2, at(6));
        assert_eq!(queue.waiting().collect::<alloc::vec::Vec<_>>(), [1, 2]);
        queue.bring_forward(2, at(5));
        assert_eq!(queue.waiting().collect::<alloc::vec::Vec<_>>(), [2, 1]);
        assert_eq!(queue.try_next(at(6)), Some(2));
    }

    #[test]
    fn in_queues_that_follow_one_another_the_nodes_take_turns() {
        let mut queue = TaintQueue::new(0.1, START);
        let mut gone = alloc::vec::Vec::new();
        for pass in 0..5 {
            queue = queue.renewed(0.1, at(5 * pass));
            // The second node to be seen is the first by name.
            for node in [1, 0, 2] {
                queue.add(node, at(5 * pass));
            }
            queue.take_turns(at(5 * pass));
            gone.extend(queue.try_next(at(5 * pass)));
            assert_eq!(queue.try_next(at(5 * pass)), None);
        }
        assert_eq!(gone, [1, 2, 0, 1, 2]);
    }

    #[test]
    fn one_node_goes_at_once_and_then_one_each_ten_seconds() {
        let mut queue = TaintQueue::new(0.1, START);
        for node in 1..4 {
            queue.add(node, START);
        }
        let mut gone = alloc::vec::Vec::new();
        for tenth in 0..250 {
            let now = START + SignedDuration::from_millis(tenth * 100);
            while let Some(node) = queue.try_next(now) {
                queue.finish(node);
                gone.push((node, tenth));
            }
        }
        assert_eq!(gone, [(1, 0), (2, 100), (3, 200)]);
    }

    #[test]
    fn a_rate_of_zero_lets_one_node_go_and_no_other() {
        let mut queue = TaintQueue::new(0.0, START);
        queue.add(1, START);
        queue.add(2, START);
        queue.swap_limiter(0.0, START);
        assert_eq!(queue.next_grant(), Some(START));
        assert_eq!(queue.try_next(START), Some(1));
        queue.finish(1);
        assert_eq!(queue.next_grant(), None);
        assert_eq!(queue.try_next(at(1_000_000)), None);
    }

    #[test]
    fn a_new_limiter_is_empty_if_the_old_one_was_and_rate_one_never_replaces_a_stopped_one() {
        let mut queue = TaintQueue::new(0.1, START);
        queue.add(1, START);
        queue.swap_limiter(0.0, START);
        assert_eq!(queue.next_grant(), None);
        queue.swap_limiter(1.0, START);
        assert_eq!(queue.next_grant(), None);
        queue.swap_limiter(0.1, START);
        assert_eq!(queue.next_grant(), Some(at(10)));
        let mut full = TaintQueue::new(0.1, START);
        full.add(1, START);
        full.swap_limiter(0.01, START);
        assert_eq!(full.next_grant(), Some(START));
    }
}
