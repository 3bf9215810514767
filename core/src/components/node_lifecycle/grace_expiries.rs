//! A queue of nodes by the end of their grace period, unordered within a second, for health passes.
//!
//! In a quiet cluster each node is inserted and removed about twice a minute: when its entry is due, a later sign of
//! life has come, and it gets a new entry. Inputs: instants with nodes. Outputs: those before an instant.
//! Invariant (tested): they are the ones that a sorted queue would give, and each comes once.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::NodeId;

/// The nodes by the second in which their grace ends.
#[derive(Clone, Debug, Default)]
pub(super) struct GraceExpiries {
    seconds: BTreeMap<i64, Vec<(Timestamp, NodeId)>>,
    /// Entries that were found to be before an instant, and not yet taken.
    found: Vec<(Timestamp, NodeId)>,
}

impl GraceExpiries {
    /// Puts a node in.
    pub(super) fn push(&mut self, at: Timestamp, id: NodeId) {
        self.seconds.entry(at.as_second()).or_default().push((at, id));
    }

    /// Takes out a node whose instant is before the given one.
    pub(super) fn pop_before(&mut self, now: Timestamp) -> Option<(Timestamp, NodeId)> {
        while self.found.is_empty() {
            let entry = self.seconds.first_entry().filter(|entry| *entry.key() <= now.as_second())?;
            let (second, nodes) = entry.remove_entry();
            let (before, later): (Vec<_>, Vec<_>) = nodes.into_iter().partition(|(at, _)| *at < now);
            self.found = before;
            if !later.is_empty() {
                self.seconds.insert(second, later);
                break;
            }
        }
        self.found.pop()
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use jiff::{SignedDuration, Timestamp};

    use super::GraceExpiries;
    use crate::chance::Chance;

    #[test]
    fn it_gives_what_a_sorted_queue_gives() {
        let mut chance = Chance::new(4);
        let (mut due, mut model) = (GraceExpiries::default(), BTreeSet::new());
        let mut now = Timestamp::UNIX_EPOCH;
        for id in 0..5_000 {
            let at = now + chance.up_to(SignedDuration::from_secs(50)) - SignedDuration::from_secs(1);
            due.push(at, id);
            model.insert((at, id));
            if chance.below(40) == 0 {
                now += chance.up_to(SignedDuration::from_secs(5));
                let mut found = BTreeSet::new();
                while let Some(node) = due.pop_before(now) {
                    assert!(found.insert(node));
                }
                let later = model.split_off(&(now, 0));
                assert_eq!(found, model);
                model = later;
            }
        }
    }
}
