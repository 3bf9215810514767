//! Removes Events when their time to live is over.
//!
//! Mirrors k8s.io/apiserver pkg/storage/etcd3/lease_manager.go (v1.34): writes within a minute share one lease of etcd,
//! which is longer by that minute, and each write of an Event attaches it to a lease anew. Mirrors also etcd 3.6
//! server/lease/lessor.go, which looks for expired leases twice a second. Inputs: commits of Events, time. Outputs:
//! when to look, and which Events to remove. Invariant: an Event is removed with the lease of its last write. Known
//! difference: etcd removes all keys of a lease under one revision; here each removal has a revision of its own.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::{ApiServer, Origin};
use crate::network::kinds::{KindIndex, Trait};
use crate::network::{ClientId, Identity, Verb};
use crate::objects::{Object, ObjectKey, Text};

/// How much longer than asked for a lease is granted, so that it can be used again. Source: lease_manager.go (v1.34),
/// `defaultLeaseReuseDurationSeconds`.
const REUSE: SignedDuration = SignedDuration::from_secs(60);

/// A lease is longer than asked for by at most the time asked for divided by this. Source: lease_manager.go (v1.34),
/// `leaseReuseDurationPercent` (5 %).
const REUSE_SHARE: i64 = 20;

/// How many objects may belong to a lease. Source: lease_manager.go (v1.34), `defaultLeaseMaxObjectCount`.
const OBJECTS_MAX: usize = 1000;

/// How often etcd looks for leases that are over. Source: etcd server/lease/lessor.go (3.6), `runLoop`.
const LOOK_EACH_MS: i64 = 500;

/// A lease of etcd, with the revisions that belong to it.
#[derive(Clone, Debug)]
struct EtcdLease {
    ends: Timestamp,
    /// When etcd finds it expired.
    found: Timestamp,
    holds: Vec<(KindIndex, ObjectKey, u64)>,
}

/// The leases, in order of their ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Expiry(VecDeque<EtcdLease>);

impl Expiry {
    /// Attaches a revision of an object to a lease. A time to live below a second attaches nothing: the object stays.
    fn attach(&mut self, index: KindIndex, object: &Object, ttl: SignedDuration, started: Timestamp, now: Timestamp) {
        let seconds = ttl.as_secs();
        if seconds == 0 {
            return;
        }
        let reuse = REUSE.min(SignedDuration::from_secs(seconds / REUSE_SHARE));
        let until = now + SignedDuration::from_secs(seconds);
        let is_fit =
            |lease: &EtcdLease| until < lease.ends && lease.ends <= until + reuse && lease.holds.len() < OBJECTS_MAX;
        if !self.0.back().is_some_and(is_fit) {
            let ends = until + reuse;
            let late = i64::try_from(ends.duration_since(started).as_millis()).unwrap_or(0) % LOOK_EACH_MS;
            let found = ends + SignedDuration::from_millis(LOOK_EACH_MS - late);
            self.0.push_back(EtcdLease { ends, found, holds: Vec::new() });
        }
        let lease = self.0.back_mut().expect("there is one now");
        lease.holds.push((index, object.key(), object.resource_version()));
    }
}

impl ApiServer {
    /// Attaches what was written to a lease, if its kind expires.
    pub(super) fn attach_to_lease(&mut self, index: KindIndex, object: &Object, now: Timestamp) {
        if self.kinds.at(index).is(Trait::Expires) {
            self.expiry.attach(index, object, self.settings.duration("event-ttl"), self.started, now);
        }
    }

    /// Returns when etcd finds the next lease expired.
    pub(super) fn next_expiry(&self) -> Option<Timestamp> {
        self.expiry.0.front().map(|lease| lease.found)
    }

    /// Removes what belongs to expired leases.
    pub(super) fn expire(&mut self, now: Timestamp) {
        while self.next_expiry().is_some_and(|at| at <= now) {
            let Some(mut lease) = self.expiry.0.pop_front() else { return };
            // etcd removes the keys of a lease in order. Source: etcd server/lease/lessor.go (3.6), `Revoke`.
            lease.holds.sort();
            for (index, key, revision) in lease.holds {
                let found = self.tables[index].store.get(&key.namespace, &key.name);
                if found.is_some_and(|object| object.resource_version() == revision) {
                    self.commit_removal(index, &by_etcd(now), &key);
                }
            }
        }
        self.outputs.append(&mut self.events);
        self.answer_ready(now);
    }
}

impl Origin {
    /// The origin of what nobody asks for: no client.
    pub(super) fn unasked(identity: Arc<Identity>, verb: Verb, now: Timestamp) -> Self {
        Self { client: ClientId(u32::MAX), identity, verb, subresource: Text::default(), because: None, now }
    }
}

/// Returns the origin of a removal that etcd makes by itself.
fn by_etcd(now: Timestamp) -> Origin {
    Origin::unasked(Identity::unknown("etcd"), Verb::Delete, now)
}
