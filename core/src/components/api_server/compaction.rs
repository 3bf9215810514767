//! Which past revisions etcd has forgotten.
//!
//! Mirrors k8s.io/apiserver pkg/storage/etcd3/compact.go (v1.34): at each interval after its start the server lets etcd
//! forget what is older than the interval before. Inputs: time and the current revision. Output: the oldest revision
//! that can still be listed. Only requests change the revision, so each catches up with the intervals before it, and no
//! timer is needed. Watches are not touched: they begin in the watch history. Left out on purpose: the key that the
//! server writes at each interval, which takes a revision of its own.

use jiff::{SignedDuration, Timestamp};

/// What was noted at the last interval, and what is forgotten.
#[derive(Clone, Debug)]
pub(super) struct Compaction {
    /// Zero for never. Flag `--etcd-compaction-interval`.
    interval: SignedDuration,
    next: Timestamp,
    noted: u64,
    oldest: u64,
}

impl Compaction {
    /// Starts with nothing forgotten: the first interval only notes the revision.
    pub(super) fn new(interval: SignedDuration, now: Timestamp) -> Self {
        Self { interval, next: now + interval, noted: 0, oldest: 0 }
    }

    /// Goes through the intervals that are over; the revision has been the same since the last call.
    pub(super) fn catch_up(&mut self, revision: u64, now: Timestamp) {
        if self.interval <= SignedDuration::ZERO || self.next > now {
            return;
        }
        let nanos = self.interval.as_nanos();
        let more = now.duration_since(self.next).as_nanos() / nanos;
        self.oldest = if more == 0 { self.noted } else { revision };
        self.noted = revision;
        self.next += SignedDuration::from_nanos_i128((more + 1) * nanos);
    }

    /// Returns the oldest revision that etcd still has.
    pub(super) fn oldest(&self) -> u64 {
        self.oldest
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::Compaction;

    #[test]
    fn what_is_older_than_the_interval_before_the_last_is_forgotten() {
        let minutes = |minutes: i64| Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minutes);
        let mut compaction = Compaction::new(SignedDuration::from_mins(5), minutes(0));
        for (at, revision, oldest) in [(4, 10, 0), (5, 20, 0), (9, 30, 0), (10, 40, 20), (19, 50, 40), (20, 60, 50)] {
            compaction.catch_up(revision, minutes(at));
            assert_eq!(compaction.oldest(), oldest, "{at} min");
        }
        let mut often = Compaction::new(SignedDuration::from_nanos(1), minutes(0));
        often.catch_up(7, minutes(60_000));
        assert_eq!(often.oldest(), 7);
        let mut never = Compaction::new(SignedDuration::ZERO, minutes(0));
        never.catch_up(9, minutes(60));
        assert_eq!(never.oldest(), 0);
    }
}
