//! The heartbeats of idle kubelets, performed by the driver without messages.
//!
//! In a quiet cluster nearly all traffic is the renewal of Leases. If no rule is on the connections, no trace is kept
//! and the tap is not told of each renewal, the driver runs the loops of idle kubelets itself: it renews the Lease in
//! the store and tells the watching controllers. Bookmarks go directly to their informers. In all other cases the
//! heartbeat is a message: after another input of the kubelet, with a rule, an unusual watch, or a Lease that another
//! writer changed. Inputs: the queue of wake-ups. Outputs: the effects of the messages, in the same order.
//! Invariants: all kubelets have their loops while the simulation does not run, and each has them before its next input
//! (tested:
//! [`Heartbeats::Sent`] gives the same commits, objects and watch events, byte for byte).

#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::{Actor, Simulation};
use crate::components::api_server::WatcherRef;
use crate::network::{ClientId, ToClient, WatchType};
use crate::objects::HeartbeatStamp;

/// How the heartbeats of idle kubelets are delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Heartbeats {
    /// As messages, like all other requests.
    Sent,
    /// Without messages if nothing can happen to them on the way; the outcome is the same.
    #[default]
    Direct,
}

impl Simulation {
    /// Lets time pass until an instant, or until anything other than heartbeats and bookmarks is due.
    pub(super) fn run_idle(&mut self, until: Timestamp) {
        if self.options.heartbeats == Heartbeats::Sent || self.record().is_traced() {
            return;
        }
        let readers = self.renewal_readers();
        // Messages that wait in the network are held by rules, and no heartbeat affects them.
        let limit = self.event_loop.network.next_deadline();
        while self.event_loop.network.is_idle() {
            let wake = self.event_loop.next_wake();
            let timer = self.api.next_deadline().map(|deadline| deadline.at);
            let Some(at) = wake.map(|(at, _)| at).into_iter().chain(timer).min() else { return };
            if at > until || limit.is_some_and(|limit| at >= limit) {
                return;
            }
            let is_done = match (wake, &readers) {
                _ if timer == Some(at) => self.give_bookmark(at),
                (Some((_, client)), Some(readers)) => self.run_loops(client, at, readers),
                _ => false,
            };
            if !is_done {
                return;
            }
        }
    }

    /// Finds the watches that see renewals; `None` if renewals have to be sent as messages.
    fn renewal_readers(&self) -> Option<Vec<WatcherRef>> {
        let is_short = |(client, watch): &WatcherRef| match self.event_loop.get(*client) {
            Actor::Controller(_, Some(controller)) => {
                controller.takes_renewals(*watch) && self.event_loop.network.is_clear(*client)
            }
            _ => false,
        };
        self.api.renewal_readers().filter(|readers| readers.iter().all(is_short))
    }

    /// Performs the renewal of an idle kubelet; false, with nothing changed, if something else is due.
    fn run_loops(&mut self, client: ClientId, now: Timestamp, readers: &[WatcherRef]) -> bool {
        if matches!(self.event_loop.get(client), Actor::Machine(_, None)) {
            self.take_loops(client);
        }
        let Actor::Machine(_, Some(loops)) = self.event_loop.get_mut(client) else { return false };
        if loops.next_deadline() <= now {
            let lease = loops.lease();
            let Some(renew_time) = loops.due_renewal(now) else { return false };
            let Some(renewed) = self.api.renew(lease, renew_time, now) else { return false };
            loops.handle_renewed(renewed, now);
            self.now = now;
            self.event_loop.network.touch(client, now);
            self.tell_renewal(lease, renewed, readers);
        }
        self.event_loop.skip_wake(client);
        true
    }

    /// Takes the loops of a kubelet, if it is idle and nothing can happen to its heartbeats.
    fn take_loops(&mut self, client: ClientId) {
        let is_clear = self.event_loop.network.is_clear(client);
        let Actor::Machine(machine, own) = self.event_loop.get_mut(client) else { return };
        let Some(loops) = machine.idle_loops().filter(|_| is_clear) else { return };
        if machine.kubelet().is_some_and(|kubelet| self.api.is_own_renewal(loops.lease(), kubelet.identity())) {
            *own = Some(Box::new(loops));
            self.idle.push(client);
        }
    }

    /// Gives all kubelets their loops back, so that callers see the kubelets complete.
    pub(super) fn return_all_loops(&mut self) {
        let after_now = self.now + SignedDuration::from_nanos(1);
        for client in core::mem::take(&mut self.idle) {
            self.event_loop.get_mut(client).return_loops(after_now);
            self.event_loop.schedule(client);
        }
    }

    fn tell_renewal(&mut self, before: HeartbeatStamp, after: HeartbeatStamp, readers: &[WatcherRef]) {
        for (reader, id) in readers {
            self.event_loop.network.touch(*reader, self.now);
            let is_taken = match self.event_loop.get_mut(*reader) {
                Actor::Controller(_, Some(controller)) => controller.handle_renewal(*id, before, after),
                _ => false,
            };
            if !is_taken {
                let (id, event, object) = (*id, WatchType::Modified, self.api.lease_at(after));
                self.event_loop.hand_over(*reader, ToClient::Watch { id, event, object }, self.now);
            }
        }
        // The request, its answer, and an event for each reader.
        self.direct_messages += 2 + readers.len() as u64;
        self.direct_renewals += 1;
    }

    /// Gives a due bookmark directly to its informer; false if it has to come as a message.
    fn give_bookmark(&mut self, now: Timestamp) -> bool {
        let Some((client, watch)) = self.api.next_bookmark() else { return false };
        let revision = self.api.resource_version();
        let is_free = self.event_loop.deadline(client).is_none_or(|deadline| deadline.at > now);
        let is_noted = self.event_loop.network.is_clear(client)
            && match self.event_loop.get_mut(client) {
                Actor::Machine(machine, _) => machine.handle_bookmark(watch, revision),
                Actor::Controller(_, Some(controller)) if is_free => {
                    controller.informer(watch).is_some_and(|informer| informer.handle_bookmark(revision))
                }
                _ => false,
            };
        if is_noted {
            self.now = now;
            self.api.skip_bookmark(now);
            self.event_loop.network.touch(client, now);
            self.direct_messages += 1;
        }
        is_noted
    }
}
