//! Permits for scenarios that run at the same time: a limited number, the longest scenarios first.
//!
//! Inputs: scenarios with the time that they are expected to take. Outputs: permits, each valid until it is dropped.
//! Invariants: there are never more permits than the limit; of the waiting scenarios the longest is next, and of equal
//! ones the one that has waited longest.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use jiff::SignedDuration;

/// A limited number of permits.
#[derive(Debug)]
pub struct Permits {
    queue: Mutex<Queue>,
    changed: Condvar,
    most: usize,
}

#[derive(Debug, Default)]
struct Queue {
    taken: usize,
    last: u64,
    waiting: BTreeSet<(Reverse<SignedDuration>, u64)>,
}

/// A permit, returned when this is dropped.
#[derive(Debug)]
pub struct Permit(Arc<Permits>);

impl Permits {
    /// Makes this number of permits, at least one.
    #[must_use]
    pub fn of(most: usize) -> Arc<Self> {
        Arc::new(Self { queue: Mutex::default(), changed: Condvar::new(), most: most.max(1) })
    }

    /// Waits for a permit; `length` is the expected time. Blocks.
    #[must_use]
    pub fn take(self: &Arc<Self>, length: SignedDuration) -> Permit {
        let mut queue = self.locked();
        queue.last += 1;
        let own = (Reverse(length), queue.last);
        queue.waiting.insert(own);
        let has_to_wait = |queue: &mut Queue| queue.taken >= self.most || queue.waiting.first() != Some(&own);
        let mut queue = self.changed.wait_while(queue, has_to_wait).unwrap_or_else(PoisonError::into_inner);
        queue.waiting.remove(&own);
        queue.taken += 1;
        drop(queue);
        // There may be a permit for the next one too.
        self.changed.notify_all();
        Permit(Arc::clone(self))
    }

    fn locked(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.locked().taken -= 1;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn the_longest_of_those_that_wait_is_next() {
        let permits = Permits::of(1);
        let first = permits.take(SignedDuration::ZERO);
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for length in [10, 30, 20] {
                let (permits, sender) = (Arc::clone(&permits), sender.clone());
                scope.spawn(move || {
                    let _place = permits.take(SignedDuration::from_secs(length));
                    sender.send(length).unwrap();
                });
            }
            while permits.locked().waiting.len() < 3 {
                thread::yield_now();
            }
            drop(first);
        });
        drop(sender);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [30, 20, 10]);
        assert_eq!(permits.locked().taken, 0);
    }
}
