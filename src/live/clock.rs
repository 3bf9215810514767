//! The wall clock, which goes only forwards for a scenario: steps of the system's clock are not seen by it.

use std::time::{Duration, Instant};

use jiff::Timestamp;

/// A clock that was set once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    set: Timestamp,
    since: Instant,
}

impl Clock {
    /// Sets the clock by the system's.
    pub(super) fn new() -> Self {
        Self { set: Timestamp::now(), since: Instant::now() }
    }

    /// Returns the time.
    pub(super) fn now(&self) -> Timestamp {
        self.set + self.since.elapsed()
    }

    /// Returns how long it is until an instant; zero if it is past.
    pub(super) fn until(&self, at: Timestamp) -> Duration {
        Duration::try_from(at.duration_since(self.now())).unwrap_or_default()
    }
}
