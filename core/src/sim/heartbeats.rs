//! Heartbeats of calm kubelets, done where they are due and not sent.
//!
//! In a quiet cluster nearly all that happens is that kubelets renew their Leases and find their status unchanged. Where
//! no rule lies on the connections and nothing else is under way, what such a wake does is known: the renewal is
//! committed, the kubelet hears that it went well, each watch of the Leases hears of it, in this order and at this
//! instant. So it is done here, without a request and an answer that would only wait in a queue for each other.
//! A bookmark, which changes nothing but the revision that a watch goes on from, is noted by the informer alone.
//! Inputs: a component that is due. Outputs: what the messages would have done, trace and commits included.
//! Invariant (tested): [`Heartbeats::Sent`] gives the same trace, commits, objects and watch events, byte for byte.

#[cfg(test)]
mod tests;

use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::{Actor, Simulation};
use crate::components::Component;
use crate::components::api_server::{Beating, Reader, Renewable};
use crate::components::client::Heartbeat;
use crate::components::kubelet::{Kubelet, Pace, Renewal};
use crate::network::{Answer, ClientId, Identity, Report, Request, RequestId, ToClient, Verb, WatchType};
use crate::objects::Beat;

/// How the heartbeats of a calm kubelet travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Heartbeats {
    /// As messages, like everything else.
    Sent,
    /// Not at all where nothing can befall them: the outcome is the same.
    #[default]
    Direct,
}

impl Simulation {
    /// Does the work of a component that is due, if it is the heartbeat of a calm kubelet; false if it is not.
    pub(super) fn beat(&mut self, client: ClientId) -> bool {
        let now = self.now;
        if self.options.heartbeats == Heartbeats::Sent {
            return false;
        }
        self.fold_row(client);
        if self.tick(client) {
            return true;
        }
        self.fold(client);
        let Actor::Machine(machine) = &self.slots[client.0 as usize].actor else { return false };
        let Some(renewal) = machine.due_renewal(now) else { return self.report(client) };
        let mut readers = core::mem::take(&mut self.readers);
        readers.clear();
        let found = self.find_readers(client, &renewal, &mut readers);
        if let Some(renewable) = found {
            self.renew(client, &renewal, renewable, &readers);
        }
        self.readers = readers;
        found.is_some()
    }

    /// Does a status tick that finds nothing to do; false if something else is due.
    fn tick(&mut self, client: ClientId) -> bool {
        let (now, index) = (self.now, client.0 as usize);
        let Some(pace) = &mut self.paces[index] else { return false };
        if !pace.tick(now) {
            return false;
        }
        if self.record.is_traced()
            && let Some(deadline) = self.deadlines[index]
        {
            self.record.timer(now, &self.slots[index].name, deadline.reason);
        }
        self.wait(client);
        true
    }

    /// Notes when a kubelet wants to be woken after a heartbeat.
    fn wait(&mut self, client: ClientId) {
        let index = client.0 as usize;
        let mut deadline = self.paces[index].as_ref().and_then(Pace::next_deadline);
        if deadline.is_none() {
            self.fold(client);
            let Actor::Machine(machine) = &self.slots[index].actor else { return };
            deadline = machine.next_deadline();
        }
        if let Some(deadline) = deadline {
            self.wakes.push((deadline.at, client.0));
        }
        self.deadlines[index] = deadline;
    }

    /// Gives a kubelet its loops back before anything else happens to it.
    pub(super) fn fold(&mut self, client: ClientId) {
        let index = client.0 as usize;
        self.fold_row(client);
        if let Some(pace) = self.paces[index].take()
            && let Actor::Machine(machine) = &mut self.slots[index].actor
        {
            machine.take_pace(&pace);
        }
    }

    /// Finds who hears of a renewal; `None` if it has to be sent.
    fn find_readers(&self, client: ClientId, renewal: &Renewal, readers: &mut Vec<Reader>) -> Option<Renewable> {
        let version = (renewal.place?, renewal.resource_version);
        let Actor::Machine(machine) = &self.slots[client.0 as usize].actor else { return None };
        let holder = machine.kubelet()?.identity();
        self.undisturbed(client, readers, |readers| self.api.readers_of(version, (holder, renewal.renew_time), readers))
    }

    /// Finds who hears of what a client writes, if nothing can befall the request and the news of it on their way.
    fn undisturbed(
        &self,
        client: ClientId,
        readers: &mut Vec<Reader>,
        find: impl FnOnce(&mut Vec<Reader>) -> Option<Renewable>,
    ) -> Option<Renewable> {
        if !self.network.is_idle() || !self.network.is_clear(client) {
            return None;
        }
        let renewable = find(readers)?;
        readers.iter().all(|(reader, _)| self.network.is_clear(*reader)).then_some(renewable)
    }

    /// Begins what is done in place of a request: takes the request's number, and traces why it is due and what it is.
    fn begin(&mut self, client: ClientId, request: impl FnOnce(&Kubelet, RequestId) -> Request) -> RequestId {
        let index = client.0 as usize;
        let slot = &mut self.slots[index];
        let Actor::Machine(machine) = &mut slot.actor else { unreachable!("a machine's slot") };
        let id = machine.next_request();
        if self.record.is_traced() {
            if let Some(deadline) = self.deadlines[index] {
                self.record.timer(self.now, &slot.name, deadline.reason);
            }
            if let Some(kubelet) = machine.kubelet() {
                self.record.request(self.now, client, &slot.name, &request(kubelet, id));
            }
        }
        id
    }

    fn renew(&mut self, client: ClientId, renewal: &Renewal, renewable: Renewable, readers: &[Reader]) {
        let (now, index, traced) = (self.now, client.0 as usize, self.record.is_traced());
        let id = self.begin(client, |kubelet, id| kubelet.renewal_request(id, renewal));
        let Actor::Machine(machine) = &self.slots[index].actor else { unreachable!("a machine's slot") };
        let (before, after) = match machine.kubelet().filter(|_| self.api.tells_renewals()) {
            None => self.api.renew(renewable, None, now),
            Some(kubelet) => {
                let writer = (client, kubelet.identity().clone(), Verb::Update);
                let changed = self.api.renew(renewable, Some(writer), now);
                self.pump_api();
                changed
            }
        };
        let slot = &mut self.slots[index];
        if traced {
            let answer = Answer::object(200, self.api.renewed(renewable).clone());
            self.record.message(now, &slot.name, &ToClient::Response { id, result: Ok(answer) });
        }
        if let Actor::Machine(machine) = &mut slot.actor {
            machine.handle_renewed(after, now);
            self.paces[index] = machine.pace();
        }
        self.wait(client);
        self.network.touch(client, now);
        self.tell_readers(renewable, (before, after), readers);
    }

    /// Patches the `spec.renewTime` of a node's Lease as somebody does who writes in the node's name, where nothing can
    /// befall the request; false if it has to be sent.
    pub(crate) fn renew_at_once(&mut self, identity: &Arc<Identity>, renew_time: Timestamp) -> bool {
        if self.options.heartbeats == Heartbeats::Sent || self.record.is_traced() {
            return false;
        }
        self.settle();
        let Some(client) = self.user(&identity.user) else { return false };
        let mut readers = core::mem::take(&mut self.readers);
        readers.clear();
        let found = self
            .undisturbed(client, &mut readers, |readers| self.api.readers_of_patch((identity, renew_time), readers));
        if let Some(renewable) = found {
            let writer = self.api.tells_renewals().then(|| (client, identity.clone(), Verb::Patch));
            let changed = self.api.renew(renewable, writer, self.now);
            self.pump_api();
            if let Actor::User(user) = &mut self.slots[client.0 as usize].actor {
                user.last_request += 1;
            }
            self.network.touch(client, self.now);
            self.tell_readers(renewable, changed, &readers);
        }
        self.readers = readers;
        if found.is_some() {
            self.finish_instant();
        }
        found.is_some()
    }

    fn tell_readers(&mut self, renewable: Renewable, (before, after): (Beat, Beat), readers: &[Reader]) {
        let now = self.now;
        for (reader, id) in readers {
            self.network.touch(*reader, now);
            let (id, event) = (*id, WatchType::Modified);
            if self.record.is_traced() {
                let object = self.api.renewed(renewable).clone();
                let name = &self.slots[reader.0 as usize].name;
                self.record.message(now, name, &ToClient::Watch { id, event, object });
            }
            if !self.tell_renewal(*reader, id, before, after) {
                let object = self.api.renewed(renewable).clone();
                self.take_message(*reader, ToClient::Watch { id, event, object });
            }
        }
        // The request, its answer, and an event for each reader.
        self.deliveries += 2 + readers.len() as u64;
        self.direct_renewals += 1;
    }

    /// Does a status report that changes times alone; false if something else is due.
    fn report(&mut self, client: ClientId) -> bool {
        let (now, index) = (self.now, client.0 as usize);
        let Actor::Machine(machine) = &self.slots[index].actor else { return false };
        let Some(report) = machine.due_report(now).filter(|_| self.network.is_idle() && self.network.is_clear(client))
        else {
            return false;
        };
        let mut readers = core::mem::take(&mut self.readers);
        readers.clear();
        let holder = machine.kubelet().map(Kubelet::identity);
        let found = holder.and_then(|holder| self.api.readers_of_heartbeat((holder, &report), &mut readers));
        let found = found.filter(|_| readers.iter().all(|(reader, _)| self.can_hear(*reader)));
        if let Some(beating) = found {
            self.post(client, &report, beating, &readers);
        }
        self.readers = readers;
        found.is_some()
    }

    /// Tells whether what a client is told reaches it at once, and is all that it has to do now.
    fn can_hear(&self, reader: ClientId) -> bool {
        let is_free = || self.deadlines[reader.0 as usize].is_none_or(|deadline| deadline.at > self.now);
        let is_machine = matches!(self.slots[reader.0 as usize].actor, Actor::Machine(_));
        self.network.is_clear(reader) && (is_machine || is_free())
    }

    fn post(&mut self, client: ClientId, report: &Report, beating: Beating, readers: &[Reader]) {
        let (now, index, traced) = (self.now, client.0 as usize, self.record.is_traced());
        let id = self.begin(client, |kubelet, id| kubelet.report_request(id, report));
        let Actor::Machine(machine) = &self.slots[index].actor else { unreachable!("a machine's slot") };
        let writer = machine.kubelet().filter(|_| self.api.tells_heartbeats());
        let writer = writer.map(|kubelet| (client, kubelet.identity().clone()));
        let before = self.api.beat(beating, writer, now);
        self.pump_api();
        let node = self.api.beaten(beating).clone();
        if traced {
            let result = Ok(Answer::object(200, node.clone()));
            self.record.message(now, &self.slots[index].name, &ToClient::Response { id, result });
        }
        if let Actor::Machine(machine) = &mut self.slots[index].actor {
            machine.handle_reported(now);
        }
        self.deadlines[index] = None;
        self.schedule(client);
        self.network.touch(client, now);
        for (reader, watch) in readers {
            self.tell_heartbeat(*reader, &Heartbeat { watch: *watch, place: beating.place, before, node: &node });
        }
        // The request, its answer, and an event for each reader.
        self.deliveries += 2 + readers.len() as u64;
    }

    /// Tells a client of a heartbeat: in the short form, or as a message.
    fn tell_heartbeat(&mut self, reader: ClientId, heartbeat: &Heartbeat<'_>) {
        self.network.touch(reader, self.now);
        let message = || {
            let (id, event, object) = (heartbeat.watch, WatchType::Modified, heartbeat.node.clone());
            ToClient::Watch { id, event, object }
        };
        if self.record.is_traced() {
            self.record.message(self.now, &self.slots[reader.0 as usize].name, &message());
        }
        let is_taken = match &mut self.slots[reader.0 as usize].actor {
            Actor::Controller(_, Some(controller)) => controller.handle_heartbeat(heartbeat),
            Actor::Machine(machine) => machine.handle_heartbeat(heartbeat),
            _ => false,
        };
        if !is_taken {
            self.take_message(reader, message());
        }
    }

    /// Gives the bookmarks that are due to those who only note them; the first that has to come as a message ends it.
    pub(super) fn give_bookmarks(&mut self) {
        if self.options.heartbeats == Heartbeats::Sent || self.record.is_traced() || !self.network.is_idle() {
            return;
        }
        let (now, revision) = (self.now, self.api.resource_version());
        while self.api.next_deadline().is_some_and(|deadline| deadline.at <= now)
            && let Some(watch) = self.api.next_bookmark()
            && self.give_bookmark(watch, revision, now)
        {}
    }

    /// Gives the bookmark that is due to one who only notes it; false if it has to come as a message.
    pub(super) fn give_bookmark(
        &mut self,
        (client, watch): (ClientId, RequestId),
        revision: u64,
        now: Timestamp,
    ) -> bool {
        let is_noted = self.network.is_clear(client) && self.note_bookmark(client, watch, revision);
        if is_noted {
            self.api.skip_bookmark(now);
            self.network.touch(client, now);
            self.deliveries += 1;
        }
        is_noted
    }

    /// Notes a bookmark for a component that has nothing else to do now; false if it has to come as a message.
    pub(super) fn note_bookmark(&mut self, client: ClientId, watch: RequestId, revision: u64) -> bool {
        if self.options.heartbeats == Heartbeats::Sent {
            return false;
        }
        let is_free = self.deadlines[client.0 as usize].is_none_or(|deadline| deadline.at > self.now);
        match &mut self.slots[client.0 as usize].actor {
            Actor::Machine(machine) => machine.handle_bookmark(watch, revision),
            Actor::Controller(_, Some(controller)) if is_free => {
                controller.informer(watch).is_some_and(|informer| informer.handle_bookmark(revision))
            }
            _ => false,
        }
    }

    /// Tells a controller of a renewal in the short form; false if it wants the event.
    pub(super) fn tell_renewal(&mut self, reader: ClientId, id: RequestId, before: Beat, after: Beat) -> bool {
        match &mut self.slots[reader.0 as usize].actor {
            Actor::Controller(_, Some(controller)) => controller.handle_renewal(id, before, after),
            _ => false,
        }
    }
}
