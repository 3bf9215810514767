//! The clock of a live scenario: the system's time when it was set, and a monotonic clock since, so that it never goes
//! backwards.

use std::time::{Duration, Instant};

use jiff::Timestamp;

/// A clock that was set once.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    set: Timestamp,
    since: Instant,
}

impl Clock {
    /// Sets the clock by the system's.
    #[must_use]
    pub fn new() -> Self {
        Self { set: Timestamp::now(), since: Instant::now() }
    }

    /// Returns when it was set.
    #[must_use]
    pub const fn set_at(&self) -> Timestamp {
        self.set
    }

    /// Returns the time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.set + self.since.elapsed()
    }

    /// Returns how long it is until an instant; zero if it is past.
    #[must_use]
    pub fn until(&self, at: Timestamp) -> Duration {
        Duration::try_from(at.duration_since(self.now())).unwrap_or_default()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}
