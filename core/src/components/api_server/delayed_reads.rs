//! Reads of a revision that the store has not reached yet: they wait for it.
//!
//! Mirrors k8s.io/apiserver pkg/storage/cacher/watch_cache.go (v1.34), `waitUntilFreshAndBlock`, and which requests the
//! cache serves (pkg/storage/cacher/delegator.go). Inputs: requests that have been admitted, commits, time. Outputs:
//! the answer as soon as the store has the revision, or a refusal after three seconds. What etcd itself serves does not
//! wait. Invariant: the requests are kept in the order in which their waits end.

use alloc::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

use super::call::{RequestInfo, WaitBudget};
use super::options::RequestOptions;
use super::{ApiServer, Origin, ServerOutput, paging, read};
use crate::network::{Call, ClientId, RequestId, ToClient, Verb};

/// How long a read waits for a revision. Source: watch_cache.go (v1.34), `blockTimeout`.
const WAIT_MAX: SignedDuration = SignedDuration::from_secs(3);

/// A request that waits.
#[derive(Clone, Debug)]
struct DelayedRead {
    until: Timestamp,
    asked: u64,
    id: RequestId,
    origin: Origin,
    call: Call,
}

/// The requests that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct DelayedReads(VecDeque<DelayedRead>);

impl DelayedReads {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns when the first wait is over.
    pub(super) fn next_end(&self) -> Option<Timestamp> {
        self.0.front().map(|read| read.until)
    }

    pub(super) fn forget(&mut self, client: ClientId, id: Option<RequestId>) {
        self.0.retain(|read| read.origin.client != client || id.is_some_and(|id| read.id != id));
    }

    fn take(&mut self, wanted: impl Fn(&DelayedRead) -> bool) -> Option<DelayedRead> {
        self.0.iter().position(wanted).and_then(|at| self.0.remove(at))
    }
}

impl ApiServer {
    /// Keeps a request until its revision comes.
    pub(super) fn delay(&mut self, asked: u64, origin: Origin, id: RequestId, call: Call) {
        self.delayed_reads.0.push_back(DelayedRead { until: origin.now + WAIT_MAX, asked, id, origin, call });
    }

    /// Returns the revision that a request has to wait for.
    pub(super) fn awaited(&self, verb: Verb, info: &RequestInfo, options: &RequestOptions) -> Option<u64> {
        let asked = match verb {
            Verb::Get => options.version().ok().flatten(),
            Verb::List => self.version_to_list(options),
            Verb::Watch if options.send_initial_events == Some(true) => options.version().ok().flatten(),
            _ => None,
        };
        let asked = asked.filter(|asked| *asked > self.revision)?;
        // A request that no revision could make valid is refused at once.
        let is_sound = match verb {
            Verb::List => paging::check_list(options).is_ok() && read::selection(info, options, self.wording()).is_ok(),
            Verb::Watch => {
                paging::check_watch(options, self.watch_list()).is_ok()
                    && read::selection(info, options, self.wording()).is_ok()
            }
            _ => true,
        };
        is_sound.then_some(asked)
    }

    /// Answers all whose revision has come.
    pub(super) fn answer_ready(&mut self, now: Timestamp) {
        while let Some(read) = self.delayed_reads.take(|read| read.asked <= self.revision) {
            self.answer_late(read, now);
        }
    }

    /// Answers all whose wait is over.
    pub(super) fn answer_overdue(&mut self, now: Timestamp) {
        while let Some(read) = self.delayed_reads.take(|read| read.until <= now) {
            self.answer_late(read, now);
        }
    }

    /// Answers a waiting request at once, as if nothing were written until its wait is over: for a client that cannot
    /// let time pass. Returns false if the request does not wait.
    pub fn end_wait_now(&mut self, client: ClientId, id: RequestId, now: Timestamp) -> bool {
        let read = self.delayed_reads.take(|read| read.origin.client == client && read.id == id);
        let waits = read.is_some();
        if let Some(read) = read {
            self.answer_late(read, now);
        }
        waits
    }

    fn answer_late(&mut self, DelayedRead { id, origin, call, .. }: DelayedRead, now: Timestamp) {
        let client = origin.client;
        let outcome = self.call(Origin { now, ..origin }, id, call, WaitBudget::Spent);
        let result = Ok(outcome.unwrap_or_else(Some).expect("only a fresh request waits"));
        let message = ToClient::Response { id, result };
        self.outputs.push_back(ServerOutput::ToClient { client, message });
        self.outputs.append(&mut self.events);
    }
}
