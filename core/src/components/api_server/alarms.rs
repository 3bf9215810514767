//! When each watch wants its bookmark or its end.
//!
//! Inputs: instants with the number of a watch. Outputs: the earliest; equal instants go by that number. Nearly all are a
//! minute ahead when they are set, so that they come in order and need no sorting; the others go to a sorted set.
//! Invariant (tested): the order is that of one sorted set.

use alloc::collections::{BTreeSet, VecDeque};

use jiff::Timestamp;

use super::watch::WatcherId;

/// An instant and the watch that it belongs to.
type Alarm = (Timestamp, WatcherId);

/// The queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Alarms {
    /// Those that came in order, and whether they still stand: one that was taken back stays, but never at the front.
    queue: VecDeque<(Alarm, bool)>,
    others: BTreeSet<Alarm>,
}

impl Alarms {
    /// Adds an alarm.
    pub(super) fn insert(&mut self, alarm: Alarm) {
        if self.queue.back().is_none_or(|(last, _)| *last < alarm) {
            self.queue.push_back((alarm, true));
        } else {
            self.others.insert(alarm);
        }
    }

    /// Takes an alarm back, if it is still there.
    pub(super) fn remove(&mut self, alarm: Alarm) {
        if let Ok(at) = self.queue.binary_search_by_key(&alarm, |(queued, _)| *queued) {
            self.queue[at].1 = false;
            self.skip_gaps();
        }
        self.others.remove(&alarm);
    }

    /// Returns the earliest alarm.
    pub(super) fn first(&self) -> Option<Alarm> {
        let queued = self.queue.front().map(|(alarm, _)| *alarm);
        queued.into_iter().chain(self.others.first().copied()).min()
    }

    /// Takes the earliest alarm out.
    pub(super) fn pop(&mut self) {
        let first = self.first();
        if self.queue.front().is_some_and(|(alarm, _)| Some(*alarm) == first) {
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

    use super::Alarms;
    use crate::chance::Chance;

    #[test]
    fn it_agrees_with_a_sorted_set() {
        let mut chance = Chance::new(2);
        let (mut alarms, mut model) = (Alarms::default(), BTreeSet::new());
        let mut now = Timestamp::UNIX_EPOCH;
        for number in 0..20_000_u32 {
            let wait = if chance.below(4) == 0 { chance.below(90) } else { 60 };
            let alarm = (now + SignedDuration::from_secs(i64::try_from(wait).unwrap()), number % 50);
            if model.insert(alarm) {
                alarms.insert(alarm);
            }
            if chance.below(5) == 0 {
                let taken = model.iter().nth(usize::try_from(chance.below(model.len() as u64)).unwrap()).copied();
                let taken = taken.unwrap();
                alarms.remove(taken);
                model.remove(&taken);
            }
            while model.len() > 20 {
                let first = model.pop_first();
                assert_eq!(alarms.first(), first);
                alarms.pop();
                now = first.map_or(now, |(at, _)| at);
            }
            assert_eq!(alarms.first(), model.first().copied());
        }
    }
}
