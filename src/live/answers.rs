//! Measures how long the API server takes to answer. The time before a scenario determines the tolerance of its bounds;
//! the times during the scenario show whether that tolerance was sufficient.
//!
//! Inputs: a client and a clock. Outputs: times with the instants of measurement, and after a failure the trouble that
//! the cluster has by then. Every request only reads.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::network::{Call, NODES, Verb};
use nodeproof_core::scenario::AnswerSeen;
use tokio::task::JoinHandle;

use super::client::{Access, Caller};
use super::clock::Clock;
use super::timing::{LATE_TROUBLE, PROBE_PERIOD};

/// Measured times, each with the instant of its measurement.
pub(super) type Measured = Vec<(Timestamp, SignedDuration)>;

/// Returns the longest time that was measured from an instant on.
pub(super) fn worst(measured: &Measured, since: Timestamp) -> SignedDuration {
    measured.iter().filter(|(at, _)| *at >= since).map(|(_, long)| *long).max().unwrap_or_default()
}

/// Measures how long an answer takes: the median of a few.
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

/// Sends a cheap request.
async fn asked(caller: &Caller) -> AnswerSeen {
    caller.ask(&Call::new(Verb::List, NODES, "", "").query("limit", "1")).await
}

async fn answer(caller: &Caller) -> SignedDuration {
    let asked_at = Instant::now();
    asked(caller).await;
    SignedDuration::try_from(asked_at.elapsed()).unwrap_or_default()
}

/// Returns what is wrong with a cluster after a scenario has failed. It waits first, since trouble may show late: the
/// connections of a program end before the program does, and a full store refuses writes before its health shows it.
pub(super) async fn late_trouble(
    wait: Duration,
    trouble: impl Fn() -> Option<String>,
    caller: &Caller,
) -> Option<String> {
    tokio::time::sleep(wait).await;
    if let Some(why) = trouble() {
        return Some(why);
    }
    let Ok(answer) = tokio::time::timeout(LATE_TROUBLE, asked(caller)).await else {
        return Some(format!("the API server does not answer within {}s", LATE_TROUBLE.as_secs()));
    };
    let is_ill = answer.code == 0 || answer.code >= 500;
    is_ill.then(|| format!("the API server does not answer: {} {}", answer.code, answer.message))
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
                tokio::time::sleep(PROBE_PERIOD).await;
            }
        });
        Self { taken, task }
    }

    /// Returns the measurements so far.
    pub(super) fn taken(&self) -> Measured {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).clone()
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

    #[tokio::test]
    async fn a_cluster_that_is_gone_when_a_scenario_has_failed_is_its_reason() {
        let kubeconfig = "{apiVersion: v1, kind: Config, current-context: x, \
            clusters: [{name: x, cluster: {server: 'http://127.0.0.1:1'}}], users: [{name: x, user: {}}], \
            contexts: [{name: x, context: {cluster: x, user: x}}]}";
        let caller = Access::from_kubeconfig(kubeconfig).unwrap().caller().await.unwrap();
        let known = late_trouble(Duration::ZERO, || Some("etcd was killed".to_owned()), &caller).await;
        assert_eq!(known.as_deref(), Some("etcd was killed"));
        let why = late_trouble(Duration::ZERO, || None, &caller).await.unwrap();
        assert!(why.starts_with("the API server does not answer: 0 "), "{why}");
    }

    #[test]
    fn what_was_slow_long_before_does_not_count() {
        let at = |secs| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(secs);
        let measured = Vec::from([1, 5, 9].map(|secs| (at(secs), SignedDuration::from_secs(10 - secs))));
        assert_eq!(worst(&measured, at(0)), SignedDuration::from_secs(9));
        assert_eq!(worst(&measured, at(2)), SignedDuration::from_secs(5));
        assert_eq!(worst(&measured, at(10)), SignedDuration::ZERO);
    }
}
