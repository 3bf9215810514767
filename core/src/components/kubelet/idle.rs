//! The two loops of an idle kubelet, for a driver that runs them in the kubelet's place.
//!
//! A kubelet without other inputs renews its Lease and finds its status unchanged, for hours.
//! Inputs: the state of the loops ([`Kubelet::idle_loops`]), then instants, and the revisions of the Lease that
//! renewals made. Outputs: when the next renewal is due, and the loops, which the kubelet takes back before its next
//! input.
//! Invariant (tested in `sim`): a cluster does the same at the same instants, whether the kubelet or the driver runs
//! the loops.

use alloc::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::config::KubeletConfig;
use super::lease::RENEW_FRACTION;
use super::status::FAST_PERIOD;
use super::{Kubelet, LOOP_JITTER, TIMERS, Timer};
use crate::chance::{Chance, Jitter};
use crate::components::host::Host;
use crate::network::{Identity, RequestId};
use crate::objects::HeartbeatStamp;
use crate::objects::time::whole_micros;

/// The pauses of a kubelet's two loops; its configuration fixes them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pauses {
    /// Between two renewals.
    pub(super) lease: Jitter,
    /// Between two status ticks.
    pub(super) tick: Jitter,
}

impl Pauses {
    pub(super) fn of(config: &KubeletConfig) -> Self {
        let interval = SignedDuration::from_secs(config.lease_duration_seconds).mul_f64(RENEW_FRACTION);
        // Upstream accepts a negative period, which means no pause; the simulation needs a pause for time to advance.
        let tick = config.status_update.max(FAST_PERIOD);
        Self { lease: Jitter::of(interval, LOOP_JITTER), tick: Jitter::of(tick, LOOP_JITTER) }
    }
}

/// The loops of an idle kubelet: everything that its next renewals depend on.
#[derive(Clone, Debug)]
pub struct IdleLoops {
    lease_at: Timestamp,
    tick_at: Timestamp,
    /// When anything else is due, or a status report.
    until: Timestamp,
    pauses: Pauses,
    /// How far the node's clock is ahead.
    skew: SignedDuration,
    chance: Chance,
    /// The last revision of the Lease.
    lease: HeartbeatStamp,
    renewals: u32,
    renewed_at: Option<Timestamp>,
}

impl IdleLoops {
    /// Returns the last revision of the Lease.
    pub(crate) const fn lease(&self) -> HeartbeatStamp {
        self.lease
    }

    /// Returns how many renewals were made since the loops were taken.
    pub(crate) const fn renewals(&self) -> u32 {
        self.renewals
    }

    /// Returns when something is due that others may see; a status tick without changes is not.
    pub(crate) fn next_deadline(&self) -> Timestamp {
        self.lease_at.min(self.until)
    }

    /// Does the status ticks that are due before an instant.
    pub(crate) fn tick_until(&mut self, end: Timestamp) {
        while self.tick_at < end {
            self.tick_at += self.chance.pause(self.pauses.tick);
        }
    }

    /// Returns the new time of the Lease, if its renewal is due now and nothing else.
    pub(crate) fn due_renewal(&mut self, now: Timestamp) -> Option<Timestamp> {
        self.tick_until(now);
        let is_alone = self.lease_at <= now && self.tick_at > now && self.until > now;
        is_alone.then(|| whole_micros(now + self.skew))
    }

    /// Notes the revision of the Lease that a renewal made.
    pub(crate) fn handle_renewed(&mut self, lease: HeartbeatStamp, now: Timestamp) {
        self.lease = lease;
        self.lease_at = now + self.chance.pause(self.pauses.lease);
        self.renewals += 1;
        self.renewed_at = Some(now);
    }
}

impl Kubelet {
    /// Returns the loops, if nothing else is under way on a running machine.
    pub(crate) fn idle_loops(&self, host: &Host) -> Option<IdleLoops> {
        let at = |timer: Timer| self.timers[timer as usize];
        let (lease_at, tick_at) = (at(Timer::LeaseSync)?, at(Timer::StatusTick)?);
        let lease = self.lease.plain_latest()?.stamp();
        let loops = [Timer::LeaseSync, Timer::StatusTick];
        let timers = TIMERS.iter().filter(|(timer, _)| !loops.contains(timer)).filter_map(|(timer, _)| at(*timer));
        let others = self.next_deadline_of_parts().map(|deadline| deadline.at).into_iter();
        let others = others.chain(host.runtime.next_end());
        let until = others.chain(timers).fold(self.next_report(host)?, Timestamp::min);
        (tick_at < until).then(|| IdleLoops {
            lease_at,
            tick_at,
            until,
            pauses: self.pauses,
            skew: host.spec.clock_skew,
            chance: self.chance.clone(),
            lease,
            renewals: 0,
            renewed_at: None,
        })
    }

    /// Takes the loops back.
    pub(crate) fn take_idle_loops(&mut self, loops: &IdleLoops) {
        self.chance = loops.chance.clone();
        self.set(Timer::LeaseSync, loops.lease_at);
        self.set(Timer::StatusTick, loops.tick_at);
        if let Some(at) = loops.renewed_at {
            self.lease.note_renewal(loops.lease, at);
        }
    }

    /// Takes a bookmark of a watch, if it changes nothing but the revision that the watch resumes from.
    pub(crate) fn handle_bookmark(&mut self, id: RequestId, resource_version: u64) -> bool {
        if self.nodes.owns(id) {
            return self.nodes.handle_bookmark(resource_version);
        }
        self.objects.handle_bookmark(id, resource_version) || self.pods.handle_bookmark(id, resource_version)
    }

    /// Returns the identity of the kubelet's requests.
    pub(crate) const fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }
}
