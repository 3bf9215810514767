//! The requests of a drain: what each is for, the limits of client-go, and repetitions that the server asks for.
//!
//! Sources: k8s.io/client-go rest/with_retry.go (v1.34), `IsNextRetry`; kubernetes/clientset.go,
//! `NewForConfigAndClient`: without a rate of its own each group of the API has a client with the default one.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::failure::Failure;
use crate::components::client::Client;
use crate::components::{Deadline, DecisionId, Outbox, earliest};
use crate::network::{Answer, Call, Identity, RequestId, TransportError};

/// How often a request is repeated. Source: k8s.io/client-go rest/request.go (v1.34), `maxRetries`.
const REPEATED_MAX: u32 = 10;

/// What a request is for; a number is that of a Pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskedFor {
    Node,
    Cordon,
    Pods,
    DaemonSet,
    Discovery,
    Eviction(usize),
    /// The Pod again, after a pause.
    Refreshed(usize),
    /// Whether the Pod is gone.
    Evicted(usize),
    Deletion,
    /// Whether a deleted Pod is gone.
    Deleted,
}

#[derive(Clone, Debug)]
struct Sent {
    wanted: AskedFor,
    call: Call,
    because: Option<DecisionId>,
    repeated: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Requests {
    core: Client,
    apps: Client,
    policy: Client,
    /// Clients of other parts of the command, which ask too little for a limit to matter.
    other: Client,
    sent: BTreeMap<RequestId, Sent>,
    /// What is to be repeated, and when.
    pausing: Vec<(Timestamp, Sent)>,
}

impl Requests {
    pub(super) fn new(identity: Arc<Identity>, now: Timestamp) -> Self {
        let client = |qps| Client::with_rate(identity.clone(), qps, 0.0, now);
        Self {
            core: client(0.0),
            apps: client(0.0),
            policy: client(0.0),
            other: client(-1.0),
            sent: BTreeMap::new(),
            pausing: Vec::new(),
        }
    }

    pub(super) fn send(
        &mut self,
        wanted: AskedFor,
        call: Call,
        because: Option<DecisionId>,
        outbox: &mut Outbox,
        now: Timestamp,
    ) {
        self.send_again(Sent { wanted, call, because, repeated: 0 }, outbox, now);
    }

    fn send_again(&mut self, sent: Sent, outbox: &mut Outbox, now: Timestamp) {
        let client = match sent.wanted {
            AskedFor::Node | AskedFor::Discovery => &mut self.other,
            AskedFor::DaemonSet => &mut self.apps,
            AskedFor::Eviction(_) => &mut self.policy,
            _ => &mut self.core,
        };
        let id = client.send(sent.call.clone(), sent.because, outbox, now);
        self.sent.insert(id, sent);
    }

    /// Returns what an answer is to; `None` if the request is repeated, or not known.
    pub(super) fn handle_response(
        &mut self,
        id: RequestId,
        result: Result<Answer, TransportError>,
        now: Timestamp,
    ) -> Option<(AskedFor, Result<Answer, Failure>)> {
        let mut sent = self.sent.remove(&id)?;
        if let Some(pause) = result.as_ref().ok().and_then(retry_after).filter(|_| sent.repeated < REPEATED_MAX) {
            sent.repeated += 1;
            self.pausing.push((now + pause, sent));
            return None;
        }
        Some((sent.wanted, Failure::of(result)))
    }

    pub(super) fn handle_timeout(&mut self, outbox: &mut Outbox, now: Timestamp) {
        for client in [&mut self.core, &mut self.apps, &mut self.policy, &mut self.other] {
            client.handle_timeout(outbox, now);
        }
        let pausing = core::mem::take(&mut self.pausing).into_iter();
        let (due, later): (Vec<_>, Vec<_>) = pausing.partition(|(at, _)| *at <= now);
        self.pausing = later;
        for (_, sent) in due {
            self.send_again(sent, outbox, now);
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Deadline> {
        let pause = self.pausing.iter().map(|(at, _)| *at).min();
        earliest([
            self.core.next_deadline(),
            self.apps.next_deadline(),
            self.policy.next_deadline(),
            self.other.next_deadline(),
            pause.map(|at| Deadline { at, reason: "a request is repeated" }),
        ])
    }
}

/// Returns how long the server wants a client to wait before it repeats a request.
fn retry_after(answer: &Answer) -> Option<SignedDuration> {
    let header = answer.headers.iter().find(|(name, _)| *name == *"Retry-After");
    let seconds = header.filter(|_| answer.code == 429 || answer.code >= 500)?.1.parse().ok()?;
    Some(SignedDuration::from_secs(seconds))
}
