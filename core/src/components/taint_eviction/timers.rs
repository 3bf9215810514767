//! The pods that wait for their eviction, and those whose eviction is under way.
//!
//! Mirrors pkg/controller/tainteviction/timed_workers.go (v1.34). Inputs: pods with the instants of their evictions,
//! cancellations, time. Outputs: the pods that are due. Invariant: a pod has one entry at most. A timer that ran out
//! keeps its entry until its eviction ends, so a cancellation in between is told and stops nothing; an entry without a
//! timer is of an eviction that began at once, and goes silently.

use alloc::collections::BTreeMap;

use jiff::Timestamp;

use crate::objects::ObjectKey;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TimerEntry {
    /// Its timer waits for an instant, or ran out and its eviction is under way.
    Timed { fire: Timestamp, number: u64 },
    /// Its eviction began at once. Up to 1.32 also: it was evicted once, and gets no new timer before it is cancelled.
    Untimed,
}

/// The timers.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    entries: BTreeMap<ObjectKey, TimerEntry>,
    order: BTreeMap<(Timestamp, u64), ObjectKey>,
    added: u64,
}

impl Timers {
    /// Tells whether the pod has a timer.
    pub(super) fn is_timed(&self, pod: &ObjectKey) -> bool {
        matches!(self.entries.get(pod), Some(TimerEntry::Timed { .. }))
    }

    /// Tells whether the pod waits, is being evicted, or was.
    pub(super) fn is_known(&self, pod: &ObjectKey) -> bool {
        self.entries.contains_key(pod)
    }

    /// Starts the timer of a pod.
    pub(super) fn wait(&mut self, pod: ObjectKey, fire: Timestamp) {
        self.added += 1;
        self.order.insert((fire, self.added), pod.clone());
        self.entries.insert(pod, TimerEntry::Timed { fire, number: self.added });
    }

    /// Notes that a pod is evicted, or was, without a timer.
    pub(super) fn spend(&mut self, pod: ObjectKey) {
        self.entries.insert(pod, TimerEntry::Untimed);
    }

    /// Forgets a pod; true if it had a timer.
    pub(super) fn cancel(&mut self, pod: &ObjectKey) -> bool {
        match self.entries.remove(pod) {
            Some(TimerEntry::Timed { fire, number }) => {
                self.order.remove(&(fire, number));
                true
            }
            Some(TimerEntry::Untimed) | None => false,
        }
    }

    /// Forgets a pod whose eviction ended. A timer that was set meanwhile still runs, but can no longer be cancelled.
    pub(super) fn finish(&mut self, pod: &ObjectKey) {
        self.entries.remove(pod);
    }

    /// Takes the next pod that is due.
    pub(super) fn fire(&mut self, now: Timestamp) -> Option<ObjectKey> {
        let entry = self.order.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(entry.remove())
    }

    /// Returns when the next pod is due.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.order.keys().next().map(|(at, _)| *at)
    }

    /// Returns the number of pods that wait.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }
}
