//! How long the API server takes to answer: before a scenario, which says how far bounds may be missed, and while it lasts,
//! which says whether that was enough.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::network::{Call, NODES, Verb};
use nodeproof_core::scenario::AnswerSeen;
use tokio::task::JoinHandle;

use super::client::{Access, Caller};
use super::clock::Clock;

/// How often an answer is measured while a scenario lasts: a few hundred of them a minute for all that run side by side.
const PERIOD: Duration = Duration::from_secs(3);

/// What was measured, each with the instant.
pub(super) type Measured = Vec<(Timestamp, SignedDuration)>;

/// Returns the longest time that was measured from an instant on.
pub(super) fn worst(measured: &Measured, since: Timestamp) -> SignedDuration {
    measured.iter().filter(|(at, _)| *at >= since).map(|(_, long)| *long).max().unwrap_or_default()
}

/// Measures how long an answer takes: the middle one of a few.
pub(super) async fn latency(access: &Access) -> Result<SignedDuration, String> {
    const TIMES: usize = 7;
    let caller = access.caller().await?;
    let mut taken = Vec::new();
    for _ in 0..TIMES {
        taken.push(answer(&caller).await);
    }
    taken.sort();
    Ok(taken[TIMES / 2])
}

/// Asks for little.
pub(super) async fn asked(caller: &Caller) -> AnswerSeen {
    caller.ask(&Call::new(Verb::List, NODES, "", "").query("limit", "1")).await
}

async fn answer(caller: &Caller) -> SignedDuration {
    let asked_at = Instant::now();
    asked(caller).await;
    SignedDuration::try_from(asked_at.elapsed()).unwrap_or_default()
}

/// Measures answers until it is dropped.
#[derive(Debug)]
pub(super) struct Probe {
    taken: Arc<Mutex<Measured>>,
    task: JoinHandle<()>,
}

impl Probe {
    /// Begins to measure, on the current runtime.
    pub(super) fn begin(caller: Caller, clock: Clock) -> Self {
        let taken = Arc::new(Mutex::new(Measured::new()));
        let seen = Arc::clone(&taken);
        let task = tokio::spawn(async move {
            loop {
                let long = answer(&caller).await;
                seen.lock().unwrap_or_else(PoisonError::into_inner).push((clock.now(), long));
                tokio::time::sleep(PERIOD).await;
            }
        });
        Self { taken, task }
    }

    /// Returns how long an answer took at the longest from an instant on.
    pub(super) fn slowest_since(&self, at: Timestamp) -> SignedDuration {
        worst(&self.taken.lock().unwrap_or_else(PoisonError::into_inner), at)
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_slow_long_before_does_not_count() {
        let at = |secs| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(secs);
        let measured = Vec::from([1, 5, 9].map(|secs| (at(secs), SignedDuration::from_secs(10 - secs))));
        assert_eq!(worst(&measured, at(0)), SignedDuration::from_secs(9));
        assert_eq!(worst(&measured, at(2)), SignedDuration::from_secs(5));
        assert_eq!(worst(&measured, at(10)), SignedDuration::ZERO);
    }
}
