//! What can be asked of a simulation about itself: counts, deadlines, names.

use jiff::{SignedDuration, Timestamp};

use super::Simulation;
use crate::objects::Text;

impl Simulation {
    /// Returns the number of messages handled so far: what a bench divides by.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.event_loop.deliveries() + self.direct_messages
    }

    /// Returns how many of them were not sent as messages: see [`Heartbeats::Direct`](super::Heartbeats::Direct).
    #[must_use]
    pub const fn direct_renewals(&self) -> u64 {
        self.direct_renewals
    }

    /// Returns the next deadline: instant, client, reason.
    #[must_use]
    pub fn next_due(&self) -> Option<(Timestamp, Text, &'static str)> {
        let wake = self.event_loop.next_due().map(|(at, name, reason)| (at, name.clone(), reason));
        let network =
            self.event_loop.network.next_deadline().map(|at| (at, Text::of("network"), "a message held back"));
        let api = self.api.next_deadline().map(|deadline| (deadline.at, Text::of("api"), deadline.reason));
        [network, api, wake].into_iter().flatten().min_by_key(|(at, ..)| *at)
    }

    /// Returns how long ago the simulation started.
    #[must_use]
    pub fn since_start(&self) -> SignedDuration {
        self.now.duration_since(self.options.start)
    }
}
