//! client-go's work queue of keys, with retries after a growing pause.
//!
//! Mirrors k8s.io/client-go util/workqueue/{queue,delaying_queue,default_rate_limiters}.go (v1.34).
//! Inputs: keys, failures, time. Outputs: the next key. Invariants: a key is in the queue once at most, and a key that
//! is processed is not handed out again before [`WorkQueue::done`].
//! Left out on purpose: the overall bucket of 10 per second of the default rate limiter, which limits retries only.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

use jiff::{SignedDuration, Timestamp};

use crate::components::Deadline;

/// First pause after a failure, doubled with each further one.
/// Source: k8s.io/client-go util/workqueue/default_rate_limiters.go (v1.34), `DefaultTypedControllerRateLimiter`.
pub(in crate::components) const PAUSE_FIRST: SignedDuration = SignedDuration::from_millis(5);
/// Longest pause. Source: as [`PAUSE_FIRST`].
pub(in crate::components) const PAUSE_MAX: SignedDuration = SignedDuration::from_secs(1000);

/// A queue of keys.
#[derive(Clone, Debug)]
pub struct WorkQueue<K> {
    ready: VecDeque<K>,
    dirty: BTreeSet<K>,
    processing: BTreeSet<K>,
    delayed: BTreeMap<(Timestamp, u64), K>,
    /// Where a key stands in `delayed` for its pause: once at most.
    due: BTreeMap<K, (Timestamp, u64)>,
    failures: BTreeMap<K, u32>,
    pause_first: SignedDuration,
    pause_max: SignedDuration,
    added: u64,
}

impl<K> Default for WorkQueue<K> {
    fn default() -> Self {
        Self::with_pauses(PAUSE_FIRST, PAUSE_MAX)
    }
}

impl<K> WorkQueue<K> {
    /// Makes a queue with another pause after the first failure, or another longest pause.
    #[must_use]
    pub const fn with_pauses(pause_first: SignedDuration, pause_max: SignedDuration) -> Self {
        Self {
            pause_first,
            pause_max,
            ready: VecDeque::new(),
            dirty: BTreeSet::new(),
            processing: BTreeSet::new(),
            delayed: BTreeMap::new(),
            due: BTreeMap::new(),
            failures: BTreeMap::new(),
            added: 0,
        }
    }
}

impl<K: Ord + Clone> WorkQueue<K> {
    /// Adds a key; one that is being processed waits until [`Self::done`].
    pub fn add(&mut self, key: K) {
        if self.dirty.insert(key.clone()) && !self.processing.contains(&key) {
            self.ready.push_back(key);
        }
    }

    /// Adds a key again after its pause.
    pub fn retry(&mut self, key: K, now: Timestamp) {
        let failures = self.failures.entry(key.clone()).or_default();
        let pause = self.pause_first.saturating_mul(1 << (*failures).min(20)).min(self.pause_max);
        *failures += 1;
        self.add_at(key, now + pause);
    }

    /// Adds a key at an instant; one that is due earlier already stays where it is.
    pub fn add_at(&mut self, key: K, at: Timestamp) {
        match self.due.get(&key) {
            Some((due, _)) if *due <= at => return,
            Some(later) => self.delayed.remove(later),
            None => None,
        };
        self.added += 1;
        self.due.insert(key.clone(), (at, self.added));
        self.delayed.insert((at, self.added), key);
    }

    /// Adds a key at an instant whatever its pause: for what is only on its way.
    pub fn add_at_also(&mut self, key: K, at: Timestamp) {
        self.added += 1;
        self.delayed.insert((at, self.added), key);
    }

    /// Returns how often a key failed since it was last forgotten.
    #[must_use]
    pub fn failures(&self, key: &K) -> u32 {
        self.failures.get(key).copied().unwrap_or(0)
    }

    /// Forgets how often a key failed.
    pub fn forget(&mut self, key: &K) {
        self.failures.remove(key);
    }

    /// Takes the next key to process; [`Self::done`] has to follow.
    pub fn take(&mut self) -> Option<K> {
        let key = self.ready.pop_front()?;
        self.dirty.remove(&key);
        self.processing.insert(key.clone());
        Some(key)
    }

    /// Ends the processing of a key.
    pub fn done(&mut self, key: &K) {
        if self.processing.remove(key) && self.dirty.contains(key) {
            self.ready.push_back(key.clone());
        }
    }

    /// Returns the number of waiting keys, those in a pause included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.dirty.len() + self.delayed.len()
    }

    /// Tells whether no key waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of keys that are being processed.
    #[must_use]
    pub fn working(&self) -> usize {
        self.processing.len()
    }

    /// Adds the keys whose pause is over.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        while let Some(entry) = self.delayed.first_entry()
            && entry.key().0 <= now
        {
            let (place, key) = entry.remove_entry();
            if self.due.get(&key) == Some(&place) {
                self.due.remove(&key);
            }
            self.add(key);
        }
    }

    /// Returns when the next pause is over.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Deadline> {
        self.delayed.keys().next().map(|(at, _)| Deadline { at: *at, reason: "try again" })
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::{PAUSE_MAX, WorkQueue};

    #[test]
    fn a_key_that_is_worked_on_waits_until_that_is_done() {
        let mut queue = WorkQueue::default();
        queue.add("w1");
        queue.add("w1");
        assert_eq!(queue.take(), Some("w1"));
        assert_eq!(queue.take(), None);
        queue.add("w1");
        assert_eq!(queue.take(), None);
        queue.done(&"w1");
        assert_eq!(queue.take(), Some("w1"));
    }

    #[test]
    fn a_key_stays_in_its_shorter_pause_though_it_fails_again() {
        let mut queue = WorkQueue::default();
        let now = Timestamp::UNIX_EPOCH;
        queue.retry("w1", now);
        queue.retry("w1", now);
        queue.retry("w1", now);
        assert_eq!(
            (queue.len(), queue.next_deadline().map(|due| due.at)),
            (1, Some(now + SignedDuration::from_millis(5)))
        );
        queue.handle_timeout(now + SignedDuration::from_millis(5));
        queue.retry("w1", now);
        assert_eq!(queue.next_deadline().map(|due| due.at), Some(now + SignedDuration::from_millis(40)));
    }

    #[test]
    fn a_key_that_is_added_also_keeps_its_pause() {
        let mut queue = WorkQueue::default();
        let at = |second| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second);
        queue.add_at("web", at(16));
        queue.add_at_also("web", at(1));
        queue.handle_timeout(at(1));
        assert_eq!(queue.take(), Some("web"));
        queue.done(&"web");
        queue.add_at("web", at(20));
        assert_eq!(queue.next_deadline().map(|due| due.at), Some(at(16)));
    }

    #[test]
    fn the_first_pause_is_the_queues_own_and_failures_are_counted_until_forgotten() {
        let mut queue = WorkQueue::with_pauses(SignedDuration::from_secs(1), PAUSE_MAX);
        let now = Timestamp::UNIX_EPOCH;
        queue.retry("web", now);
        assert_eq!(queue.next_deadline().map(|due| due.at), Some(now + SignedDuration::from_secs(1)));
        assert_eq!(queue.failures(&"web"), 1);
        queue.forget(&"web");
        assert_eq!(queue.failures(&"web"), 0);
    }

    #[test]
    fn the_pause_doubles_with_each_failure() {
        let mut queue = WorkQueue::default();
        let mut now = Timestamp::UNIX_EPOCH;
        for pause in [5, 10, 20, 40] {
            queue.retry("w1", now);
            let due = queue.next_deadline().map(|deadline| deadline.at);
            now += SignedDuration::from_millis(pause);
            assert_eq!(due, Some(now));
            queue.handle_timeout(now);
            assert_eq!(queue.take(), Some("w1"));
            queue.done(&"w1");
        }
    }
}
