//! The pods that wait for their eviction, and those whose eviction is under way.
//!
//! Mirrors pkg/controller/tainteviction/timed_workers.go (v1.34). Inputs: pods with the instants of their evictions,
//! cancellations, time. Outputs: the pods that are due. Invariant: a pod has one timer at most, and only a pod that
//! waits can be cancelled with an Event.

use alloc::collections::BTreeMap;

use jiff::Timestamp;

use crate::objects::ObjectKey;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TimerEntry {
    /// Waits for an instant.
    Waits { fire: Timestamp, number: u64 },
    /// Its eviction is under way. Up to 1.32 also: it was evicted once, and gets no new timer before it is cancelled.
    Spent,
}

/// The timers.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    entries: BTreeMap<ObjectKey, TimerEntry>,
    order: BTreeMap<(Timestamp, u64), ObjectKey>,
    added: u64,
}

impl Timers {
    /// Returns when the pod is due, if it waits.
    pub(super) fn waits_until(&self, pod: &ObjectKey) -> Option<Timestamp> {
        match self.entries.get(pod) {
            Some(TimerEntry::Waits { fire, .. }) => Some(*fire),
            _ => None,
        }
    }

    /// Tells whether the pod waits, is being evicted, or was.
    pub(super) fn is_known(&self, pod: &ObjectKey) -> bool {
        self.entries.contains_key(pod)
    }

    /// Starts the timer of a pod.
    pub(super) fn wait(&mut self, pod: ObjectKey, fire: Timestamp) {
        self.added += 1;
        self.order.insert((fire, self.added), pod.clone());
        self.entries.insert(pod, TimerEntry::Waits { fire, number: self.added });
    }

    /// Notes that a pod's eviction is under way.
    pub(super) fn spend(&mut self, pod: ObjectKey) {
        self.entries.insert(pod, TimerEntry::Spent);
    }

    /// Forgets a pod; true if it waited.
    pub(super) fn cancel(&mut self, pod: &ObjectKey) -> bool {
        match self.entries.remove(pod) {
            Some(TimerEntry::Waits { fire, number }) => {
                self.order.remove(&(fire, number));
                true
            }
            Some(TimerEntry::Spent) | None => false,
        }
    }

    /// Ends an eviction: the pod may get a new timer, unless it leaves a tombstone.
    pub(super) fn finish(&mut self, pod: &ObjectKey) {
        if self.entries.get(pod) == Some(&TimerEntry::Spent) {
            self.entries.remove(pod);
        }
    }

    /// Takes the next pod that is due; its eviction is under way from now on.
    pub(super) fn fire(&mut self, now: Timestamp) -> Option<ObjectKey> {
        let entry = self.order.first_entry().filter(|entry| entry.key().0 <= now)?;
        let pod = entry.remove();
        self.spend(pod.clone());
        Some(pod)
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
