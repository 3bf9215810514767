//! Health passes from which nothing follows.
//!
//! Inputs: what the last pass found, and what has come since. Output: the instant of the next pass, and nothing else.
//! Invariant (tested): a pass that rests leaves all as a pass does that looks at every node.

use jiff::{SignedDuration, Timestamp};

use super::zones::ZoneKey;
use super::{NodeLifecycle, ROUND_COST, Reach};

impl NodeLifecycle {
    /// Makes a pass that finds the same as the last one, from which nothing followed: nothing is new, and no grace is over.
    /// False, and nothing done, if a look is worth while.
    pub(super) fn rest(&mut self, now: Timestamp) -> bool {
        let is_due = self.next_round.is_some_and(|at| at <= now) && self.next_tick.is_none();
        let is_alone = self.next_of_others().is_none_or(|deadline| deadline.at > now);
        if !(self.calm && is_due && is_alone && self.changed.is_empty()) {
            return false;
        }
        let pass = self.next_pass();
        if let Some(id) = self.overdue(pass, now) {
            // The look that this pass needs finds it again.
            let at = now - SignedDuration::from_nanos(1);
            self.table[id as usize].armed = Some(at);
            self.due.push(at, id);
            return false;
        }
        self.passes.push(now);
        self.round_end = now + ROUND_COST;
        self.next_round = Some(self.round_end + self.period);
        true
    }

    /// Tells whether the next pass would find what the last one found, if nothing from outside came between.
    pub(super) fn is_calm(&self) -> bool {
        let in_use = |(key, _): (&ZoneKey, _)| self.zones.is_known(key);
        self.reach == Reach::Changed
            && self.changed.is_empty()
            && self.lingering.is_empty()
            && self.retry.is_empty()
            && self.tick.is_none()
            && self.known_zones.iter().all(in_use)
            && self.zones.iter().all(|(_, zone)| zone.queue.next_grant().is_none())
    }
}
