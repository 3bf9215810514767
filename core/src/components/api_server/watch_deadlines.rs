//! When each watch is due for a bookmark or its end.
//!
//! Inputs: instants with the number of a watch. Outputs: the earliest; equal instants go by that number. Nearly all are
//! set a minute ahead, so they arrive in order and go to a plain queue; the others go to a sorted set. Invariant
//! (tested): the order is that of one sorted set.

use alloc::collections::{BTreeSet, VecDeque};

use jiff::Timestamp;

use super::watch::WatcherId;

/// An instant and the watch that it belongs to.
type WatchDeadline = (Timestamp, WatcherId);

/// The deadlines.
#[derive(Clone, Debug, Default)]
pub(super) struct WatchDeadlines {
    /// Those that came in order, and whether each is still valid. One that was removed stays as invalid, but never at
    /// the front.
    queue: VecDeque<(WatchDeadline, bool)>,
    others: BTreeSet<WatchDeadline>,
}

impl WatchDeadlines {
    /// Adds a deadline.
    pub(super) fn insert(&mut self, deadline: WatchDeadline) {
        if self.queue.back().is_none_or(|(last, _)| *last < deadline) {
            self.queue.push_back((deadline, true));
        } else {
            self.others.insert(deadline);
        }
    }

    /// Takes a deadline back, if it is still there.
    pub(super) fn remove(&mut self, deadline: WatchDeadline) {
        if let Ok(at) = self.queue.binary_search_by_key(&deadline, |(queued, _)| *queued) {
            self.queue[at].1 = false;
            self.skip_gaps();
        }
        self.others.remove(&deadline);
    }

    /// Returns the earliest deadline.
    pub(super) fn first(&self) -> Option<WatchDeadline> {
        let queued = self.queue.front().map(|(deadline, _)| *deadline);
        queued.into_iter().chain(self.others.first().copied()).min()
    }

    /// Takes the earliest deadline out.
    pub(super) fn pop(&mut self) {
        let first = self.first();
        if self.queue.front().is_some_and(|(deadline, _)| Some(*deadline) == first) {
            self.queue.pop_front();
            self.skip_gaps();
        } else {
            self.others.pop_first();
        }
    }

    fn skip_gaps(&mut self) {
        while self.queue.front().is_some_and(|(_, stands)| !stands) {
            self.queue.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use jiff::{SignedDuration, Timestamp};

    use super::WatchDeadlines;
    use crate::chance::Chance;

    #[test]
    fn it_agrees_with_a_sorted_set() {
        let mut chance = Chance::new(2);
        let (mut watch_deadlines, mut model) = (WatchDeadlines::default(), BTreeSet::new());
        let mut now = Timestamp::UNIX_EPOCH;
        for number in 0..20_000_u32 {
            let wait = if chance.below(4) == 0 { chance.below(90) } else { 60 };
            let deadline = (now + SignedDuration::from_secs(i64::try_from(wait).unwrap()), number % 50);
            if model.insert(deadline) {
                watch_deadlines.insert(deadline);
            }
            if chance.below(5) == 0 {
                let taken = model.iter().nth(usize::try_from(chance.below(model.len() as u64)).unwrap()).copied();
                let taken = taken.unwrap();
                watch_deadlines.remove(taken);
                model.remove(&taken);
            }
            while model.len() > 20 {
                let first = model.pop_first();
                assert_eq!(watch_deadlines.first(), first);
                watch_deadlines.pop();
                now = first.map_or(now, |(at, _)| at);
            }
            assert_eq!(watch_deadlines.first(), model.first().copied());
        }
    }
}
