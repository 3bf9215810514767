//! The two loops of a kubelet to which nothing happens: what a wake needs to know, on a few cache lines.
//!
//! A calm kubelet renews its Lease and finds its status unchanged, for hours. This file tells these wakes from all others
//! and does what the loops do in them, beside the general way through `handle_timeout` and `handle_message`.
//! Inputs: what the kubelet knows, after each other input ([`Kubelet::brace`]). Outputs: the work of a wake.
//! Invariant (tested in `sim`): with and without it a cluster does the same at the same instants.

use alloc::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::config::KubeletConfig;
use super::lease::RENEW_FRACTION;
use super::status::FAST_PERIOD;
use super::{Kubelet, LOOP_JITTER, TIMERS, Timer};
use crate::chance::{Chance, Jitter};
use crate::components::client::Heartbeat;
use crate::components::host::Host;
use crate::components::{Deadline, earliest};
use crate::network::{Ask, Identity, Report, Request, RequestId};
use crate::objects::Beat;
use crate::objects::time::{whole_micros, whole_seconds};

/// A renewal of a Lease: see [`Ask::RenewLease`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Renewal {
    /// The new `spec.renewTime`, by the node's clock.
    pub renew_time: Timestamp,
    /// The revision that the kubelet saw last.
    pub resource_version: u64,
    /// Where the store keeps the Lease.
    pub place: Option<u32>,
}

/// The two loops of a calm kubelet, by themselves: who holds many keeps them close together.
#[derive(Clone, Debug)]
pub struct Pace {
    tick_at: Timestamp,
    lease_at: Timestamp,
    /// When something else is due, or a status report.
    until: Timestamp,
    tick: Jitter,
    chance: Chance,
}

impl Pace {
    /// Does a status tick that finds nothing; false if there is more to do now than that.
    pub(crate) fn tick(&mut self, now: Timestamp) -> bool {
        let is_alone = self.tick_at <= now && self.lease_at > now && self.until > now;
        if is_alone {
            self.tick_at = now + self.chance.pause(self.tick);
        }
        is_alone
    }

    /// Returns when the kubelet wants to be woken; `None` if it is better asked in full.
    pub(crate) fn next_deadline(&self) -> Option<Deadline> {
        let deadline = first_of_loops(self.lease_at, self.tick_at);
        (deadline.at < self.until).then_some(deadline)
    }
}

/// Returns which of the two loops is due first.
pub(crate) fn first_of_loops(lease_at: Timestamp, tick_at: Timestamp) -> Deadline {
    let (at, timer) = if lease_at <= tick_at { (lease_at, Timer::LeaseSync) } else { (tick_at, Timer::StatusTick) };
    Deadline { at, reason: TIMERS[timer as usize].1 }
}

/// All that a calm kubelet's next heartbeats depend on, for whoever does them until the kubelet takes them back.
#[derive(Clone, Debug)]
pub struct Beats {
    /// When the status is looked at next.
    pub(crate) tick_at: Timestamp,
    /// When the Lease is renewed next.
    pub(crate) lease_at: Timestamp,
    /// When something else is due, or a status report.
    pub(crate) until: Timestamp,
    /// The pauses between two looks at the status.
    pub(crate) tick: Jitter,
    /// The pauses between two renewals.
    pub(crate) lease: Jitter,
    /// How far the node's clock is ahead.
    pub(crate) skew: SignedDuration,
    /// Where the pauses come from.
    pub(crate) chance: Chance,
    /// The revision of the Lease that the kubelet saw last.
    pub(crate) latest: Beat,
}

/// What heartbeats have changed that were done for a kubelet.
#[derive(Clone, Debug)]
pub struct Beaten {
    /// As [`Beats::tick_at`].
    pub(crate) tick_at: Timestamp,
    /// As [`Beats::lease_at`].
    pub(crate) lease_at: Timestamp,
    /// As [`Beats::chance`].
    pub(crate) chance: Chance,
    /// How many renewals there were, the instant of the last one, and its revision; `None` if there was none.
    pub(crate) renewals: Option<(u64, Timestamp, Beat)>,
}

/// What was reckoned after the last input that was more than a heartbeat.
#[derive(Clone, Debug)]
pub(super) struct Calm {
    /// When something else is due than the loops of lease and status; it is past while the kubelet is not calm.
    until: Timestamp,
    /// When a status tick does more than to wait for the next one.
    report_due: Timestamp,
    skew: SignedDuration,
}

impl Default for Calm {
    fn default() -> Self {
        Self { until: Timestamp::MIN, report_due: Timestamp::MIN, skew: SignedDuration::ZERO }
    }
}

/// The pauses of a kubelet's two loops, which its configuration decides for good.
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
        // A period below zero is accepted upstream and means no pause; the simulation needs one to get on.
        let tick = config.status_update.max(FAST_PERIOD);
        Self { lease: Jitter::of(interval, LOOP_JITTER), tick: Jitter::of(tick, LOOP_JITTER) }
    }
}

impl Kubelet {
    /// Reckons what the next wakes are, after any input; `None` on a machine on which nothing runs.
    pub(crate) fn brace(&mut self, host: Option<&Host>) {
        let Some(host) = host else {
            self.calm.until = Timestamp::MIN;
            return;
        };
        let loops = [Timer::LeaseSync, Timer::StatusTick];
        let timers = TIMERS.iter().filter(|(timer, _)| !loops.contains(timer));
        let timers = timers.filter_map(|(timer, _)| self.timers[*timer as usize]).min();
        let others = [self.nodes.next_deadline(), self.pods.next_deadline(), self.events.next_deadline()];
        let rest = earliest(others).map(|deadline| deadline.at);
        let rest = rest.into_iter().chain(timers).chain(host.runtime.next_end()).min();
        self.calm = Calm {
            until: rest.unwrap_or(Timestamp::MAX),
            report_due: self.next_report(host),
            skew: host.spec.clock_skew,
        };
    }

    /// Returns the loops of lease and status, unless a status tick is more than to wait for the next one.
    pub(crate) fn pace(&self) -> Option<Pace> {
        let until = self.calm.until.min(self.calm.report_due);
        let at = |timer: Timer| self.timers[timer as usize];
        let tick_at = at(Timer::StatusTick).filter(|at| *at < until)?;
        let lease_at = at(Timer::LeaseSync).unwrap_or(Timestamp::MAX);
        Some(Pace { tick_at, lease_at, until, tick: self.pauses.tick, chance: self.chance.clone() })
    }

    /// Takes the loops back.
    pub(crate) fn take_pace(&mut self, pace: &Pace) {
        self.chance = pace.chance.clone();
        self.set(Timer::StatusTick, pace.tick_at);
    }

    /// Returns what the next heartbeats depend on, unless they may be more than renewals and looks at the status.
    pub(crate) fn beats(&self) -> Option<Beats> {
        let pace = self.pace()?;
        let lease_at = self.timers[Timer::LeaseSync as usize]?;
        let latest = self.lease.plain_latest()?.beat();
        let Pace { tick_at, until, tick, chance, .. } = pace;
        Some(Beats { tick_at, lease_at, until, tick, lease: self.pauses.lease, skew: self.calm.skew, chance, latest })
    }

    /// Takes what heartbeats have changed since [`Self::beats`].
    pub(crate) fn take_beats(&mut self, beaten: &Beaten) {
        self.chance = beaten.chance.clone();
        self.set(Timer::StatusTick, beaten.tick_at);
        self.set(Timer::LeaseSync, beaten.lease_at);
        if let Some((_, at, beat)) = beaten.renewals {
            self.lease.note_renewal(beat, at);
        }
    }

    /// Returns the renewal that is due, if nothing else is.
    pub(crate) fn due_renewal(&self, now: Timestamp) -> Option<Renewal> {
        let is_due = |timer: Timer| self.timers[timer as usize].is_some_and(|at| at <= now);
        if self.calm.until <= now || !is_due(Timer::LeaseSync) || is_due(Timer::StatusTick) {
            return None;
        }
        let latest = self.lease.plain_latest()?;
        Some(Renewal {
            renew_time: whole_micros(now + self.calm.skew),
            resource_version: latest.resource_version(),
            place: latest.place(),
        })
    }

    /// Makes the request of a renewal, for whoever wants to see it.
    pub(crate) fn renewal_request(&self, id: RequestId, renewal: &Renewal) -> Request {
        Request {
            id,
            identity: self.identity.clone(),
            ask: Ask::RenewLease {
                name: self.config.node_name.clone(),
                renew_time: renewal.renew_time,
                resource_version: renewal.resource_version,
                place: renewal.place,
            },
            timeout: Some(self.config.heartbeat_timeout()),
            because: None,
        }
    }

    /// Returns the status report that is due, if it changes times alone and nothing else is due.
    pub(crate) fn due_report(&self, host: &Host, now: Timestamp) -> Option<Report> {
        let is_due = |timer: Timer| self.timers[timer as usize].is_some_and(|at| at <= now);
        let is_report = self.calm.report_due != Timestamp::MIN && self.calm.report_due <= now;
        if self.calm.until <= now || !is_due(Timer::StatusTick) || is_due(Timer::LeaseSync) || !is_report {
            return None;
        }
        let node = self.cached_node().filter(|node| self.beats_alone(node, host.wall(now)))?;
        Some(Report { at: whole_seconds(host.wall(now)), seen: node.beat() })
    }

    /// Makes the request of a status report, for whoever wants to see it.
    pub(crate) fn report_request(&self, id: RequestId, report: &Report) -> Request {
        Request {
            id,
            identity: self.identity.clone(),
            ask: Ask::Heartbeat { name: self.config.node_name.clone(), at: report.at },
            timeout: Some(self.config.heartbeat_timeout()),
            because: None,
        }
    }

    /// Notes that the status was reported.
    pub(crate) fn handle_reported(&mut self, now: Timestamp) {
        self.status.note_report(now);
        let pause = self.chance.pause(self.pauses.tick);
        self.set(Timer::StatusTick, now + pause);
    }

    /// Takes an event of the watch of the own Node that changes times alone; false if it has to come as a message.
    pub(crate) fn handle_heartbeat(&mut self, heartbeat: &Heartbeat<'_>) -> bool {
        self.nodes.handle_only_heartbeat(heartbeat)
    }

    /// Notes that the Lease was renewed.
    pub(crate) fn handle_renewed(&mut self, beat: Beat, now: Timestamp) {
        self.lease.note_renewal(beat, now);
        let pause = self.chance.pause(self.pauses.lease);
        self.set(Timer::LeaseSync, now + pause);
    }

    /// Takes a bookmark of a watch, if it changes nothing but the revision that the watch goes on from.
    pub(crate) fn handle_bookmark(&mut self, id: RequestId, resource_version: u64) -> bool {
        if self.nodes.owns(id) {
            return self.nodes.handle_bookmark(resource_version);
        }
        self.pods.handle_bookmark(id, resource_version)
    }

    /// Returns as whom the kubelet speaks.
    pub(crate) const fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }
}
