//! The two heartbeats in their typed form: the renewal of a Lease, and a Node's status that changes times alone.
//!
//! Each does what the PUT or PATCH does that it stands for (a test holds them equal). A renewal can also be made without
//! messages, in three steps: who would see it ([`ApiServer::readers_of`]), the commit ([`ApiServer::renew`]), and the
//! look at its result. Whoever does so brings the news to the readers himself, in their order.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::forms::Form;
use super::history::Event;
use super::node_authoriser::node_of;
use super::{ApiServer, Change, Commit, Origin, ServerOutput, Tap, status, write};
use crate::network::resources::KINDS;
use crate::network::{Answer, ClientId, Identity, LEASES, NODE_LEASES, NODES, Report, RequestId, Verb, WatchType};
use crate::objects::{Beat, Json, KUBELET_CONDITIONS, Object, Text, time};

/// An open watch that sees a write: whose, and the request that opened it.
pub(crate) type Reader = (ClientId, RequestId);

/// A renewal that was done for its holder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Renewed {
    /// When.
    pub(crate) at: Timestamp,
    /// The beat of the revision before.
    pub(crate) before: Beat,
    /// The beat of the revision that it made.
    pub(crate) after: Beat,
}

/// A Lease that can be renewed without messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Renewable {
    place: u32,
    renew_time: Timestamp,
}

/// A Node whose status can be beaten without messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beating {
    /// Where the store keeps it.
    pub(crate) place: u32,
    at: Timestamp,
}

impl ApiServer {
    /// Finds the watches that would see a renewal, in the order in which they hear of it; `None` if the renewal has to be
    /// sent as a request: another revision, no change, a holder whom roles could hinder, or a watch that is not looked up by its kind alone or wants tables.
    pub(crate) fn readers_of(
        &self,
        (place, resource_version): (u32, u64),
        (holder, renew_time): (&Identity, Timestamp),
        readers: &mut Vec<Reader>,
    ) -> Option<Renewable> {
        if !self.waiting.is_empty() {
            return None;
        }
        let current = self.tables[self.leases].store.stands_at(place);
        let current = current.filter(|object| object.resource_version() == resource_version)?;
        if current.beat().time()? == renew_time || node_of(holder) != Some(current.name()) {
            return None;
        }
        self.readers_at(place, renew_time, readers)
    }

    /// Finds the watches that would see a patch of nothing but `spec.renewTime`, which a node asks of its own Lease, as
    /// [`Self::readers_of`] does.
    pub(crate) fn readers_of_patch(
        &self,
        (holder, renew_time): (&Identity, Timestamp),
        readers: &mut Vec<Reader>,
    ) -> Option<Renewable> {
        let place = self.own_lease(holder)?;
        let current = self.tables[self.leases].store.at(place);
        if !self.waiting.is_empty() || current.renew_time() == Some(time::whole_micros(renew_time)) {
            return None;
        }
        self.readers_at(place, renew_time, readers)
    }

    fn readers_at(&self, place: u32, renew_time: Timestamp, readers: &mut Vec<Reader>) -> Option<Renewable> {
        let table = &self.tables[self.leases];
        let current = table.store.at(place);
        for id in table.watches.general_alone(current)? {
            let watcher = self.watchers[*id as usize].as_ref().expect("an indexed watch is open");
            if watcher.form != Form::Plain {
                return None;
            }
            let plural = &KINDS[self.leases].resource.plural;
            // What a renewal changes is nothing that a watch could select by.
            if !watcher.omits_heartbeats
                && watcher.after <= self.revision
                && watcher.sees_unchanged(plural, NODE_LEASES, current)
            {
                readers.push((watcher.client, watcher.id));
            }
        }
        Some(Renewable { place, renew_time })
    }

    /// Finds the watches that would see the renewal of any Lease of a node, in the order in which they hear of it; false if
    /// it depends on the Lease, or if somebody else has to be told.
    pub(crate) fn readers_of_all(&self, readers: &mut Vec<Reader>) -> bool {
        let watches = self.tables[self.leases].watches.general_only().filter(|_| !self.tells_renewals());
        let watches = watches.filter(|_| self.waiting.is_empty());
        let Some(watches) = watches else { return false };
        for id in watches {
            let watcher = self.watchers[*id as usize].as_ref().expect("an indexed watch is open");
            if watcher.omits_heartbeats {
                continue;
            }
            let namespace = &watcher.selection.namespace;
            if watcher.form != Form::Plain || watcher.after > self.revision || !watcher.selection.is_everything() {
                return false;
            }
            if namespace.is_empty() || *namespace == NODE_LEASES {
                readers.push((watcher.client, watcher.id));
            }
        }
        true
    }

    /// Lends a Lease to whoever renews it from now on through [`Self::take_renewals`]; false if it is lent already, if
    /// this is not its last revision, if that was written in full, or if some role decides whether it may be renewed.
    pub(crate) fn lend(&mut self, beat: Beat, holder: &Identity) -> bool {
        let Some(place) = beat.place().filter(|_| beat.renewed_micros().is_some()) else { return false };
        let current = self.tables[self.leases].store.stands_at(place).filter(|lease| lease.beat() == beat);
        current.is_some_and(|lease| node_of(holder) == Some(lease.name())) && self.lent.lend(place)
    }

    /// Takes a Lease back that was lent.
    pub(crate) fn unlend(&mut self, place: u32) {
        self.lent.unlend(place);
    }

    /// Returns a place of a lent Lease that somebody else wrote, once.
    pub(crate) fn recalled(&mut self) -> Option<u32> {
        self.lent.recalled.pop()
    }

    /// Commits renewals of lent Leases, in the order of their revisions.
    pub(crate) fn take_renewals(&mut self, renewals: &[Renewed]) {
        let table = &mut self.tables[self.leases];
        for renewed in renewals {
            let place = renewed.after.place().expect("a lent Lease has a place");
            let object = table.store.at_mut(place);
            debug_assert_eq!(object.beat(), renewed.before);
            object.take(renewed.after);
            table.history.push_renewal(renewed.at, renewed.before, renewed.after);
        }
        self.revision = renewals.last().map_or(self.revision, |renewed| renewed.after.resource_version());
    }

    /// Returns a Lease as it was with a beat that it had since it was written in full.
    pub(crate) fn lease_at(&self, beat: Beat) -> Object {
        let place = beat.place().expect("a lent Lease has a place");
        self.tables[self.leases].store.at(place).at_beat(beat)
    }

    /// Finds the watches that would see a heartbeat of a kubelet's own Node, in the order in which they hear of it; `None`
    /// if the heartbeat has to be sent as a request: another revision, another writer, or an unusual watch.
    pub(crate) fn readers_of_heartbeat(
        &self,
        (holder, report): (&Identity, &Report),
        readers: &mut Vec<Reader>,
    ) -> Option<Beating> {
        if !self.waiting.is_empty() {
            return None;
        }
        let table = &self.tables[self.nodes];
        let place = table.store.find("", node_of(holder)?)?;
        let current = Some(table.store.at(place)).filter(|node| node.beat() == report.seen)?;
        for id in table.watches.of_name(current)? {
            let watcher = self.watchers[*id as usize].as_ref().expect("an indexed watch is open");
            if watcher.form != Form::Plain {
                return None;
            }
            // What a heartbeat changes is nothing that a watch could select by.
            let plural = &KINDS[self.nodes].resource.plural;
            let hears = !watcher.omits_heartbeats && watcher.after <= self.revision;
            if hears && watcher.sees_unchanged(plural, "", current) {
                readers.push((watcher.client, watcher.id));
            }
        }
        Some(Beating { place, at: report.at })
    }

    /// Commits a heartbeat of a Node's status; returns its beat before. The writer is needed where
    /// [`Self::tells_heartbeats`].
    pub(crate) fn beat(
        &mut self,
        Beating { place, at }: Beating,
        writer: Option<(ClientId, Arc<Identity>)>,
        now: Timestamp,
    ) -> Beat {
        self.revision += 1;
        let table = &mut self.tables[self.nodes];
        let object = table.store.at(place).heartbeat(at, self.revision);
        let before = table.store.replace(place, object.clone()).beat();
        if let Some((client, identity)) = writer {
            self.outputs.push_back(ServerOutput::Commit(Box::new(Commit {
                at: now,
                resource_version: self.revision,
                event: WatchType::Modified,
                resource: NODES,
                object: object.clone(),
                before: Some(object.at_beat(before)),
                client,
                identity,
                verb: Verb::Patch,
                subresource: Text::of("status"),
                because: None,
            })));
        }
        let replaced = Some(object.at_beat(before));
        table.history.push(Event { at: now, event: WatchType::Modified, object, before: replaced });
        before
    }

    /// Returns the Node whose heartbeat was committed.
    pub(crate) fn beaten(&self, Beating { place, .. }: Beating) -> &Object {
        self.tables[self.nodes].store.at(place)
    }

    /// Tells whether somebody beside the network wants to know who renewed a Lease.
    pub(crate) fn tells_renewals(&self) -> bool {
        self.tap == Tap::Everything
    }

    /// Tells whether somebody beside the network wants to know who wrote a heartbeat of a Node.
    pub(crate) fn tells_heartbeats(&self) -> bool {
        matches!(self.tap, Tap::AllButRenewals | Tap::Everything)
    }

    /// Renews a Lease for its holder; returns its beat before and after. The writer is needed where [`Self::tells_renewals`].
    pub(crate) fn renew(
        &mut self,
        Renewable { place, renew_time }: Renewable,
        writer: Option<(ClientId, Arc<Identity>, Verb)>,
        now: Timestamp,
    ) -> (Beat, Beat) {
        self.revision += 1;
        self.lent.recall(place);
        let table = &mut self.tables[self.leases];
        let object = table.store.at_mut(place);
        let before = object.beat();
        object.renew(renew_time, self.revision, place);
        if let Some((client, identity, verb)) = writer {
            self.outputs.push_back(ServerOutput::Commit(Box::new(Commit {
                at: now,
                resource_version: self.revision,
                event: WatchType::Modified,
                resource: LEASES,
                object: object.clone(),
                before: Some(object.at_beat(before)),
                client,
                identity,
                verb,
                subresource: Text::of(""),
                because: None,
            })));
        }
        let (object, replaced) = (object.clone(), Some(object.at_beat(before)));
        let after = object.beat();
        table.history.push(Event { at: now, event: WatchType::Modified, object, before: replaced });
        (before, after)
    }

    /// Returns the Lease that was renewed.
    pub(crate) fn renewed(&self, Renewable { place, .. }: Renewable) -> &Object {
        self.tables[self.leases].store.at(place)
    }

    /// Does what a PUT of a Lease with a new `spec.renewTime` does.
    pub(super) fn renew_lease(
        &mut self,
        origin: &Origin,
        name: &Text,
        renew_time: Timestamp,
        (resource_version, hint): (u64, Option<u32>),
    ) -> Result<Answer, Answer> {
        let store = &self.tables[self.leases].store;
        // No two objects ever have one revision: if it stands at the hinted place, it is this Lease.
        let hinted = hint
            .filter(|place| store.stands_at(*place).is_some_and(|found| found.resource_version() == resource_version));
        let Some(place) = hinted.or_else(|| store.find(NODE_LEASES, name)) else {
            return Err(self.deleted_under_writer(name));
        };
        let current = store.at(place);
        if current.resource_version() != resource_version {
            return Err(status::conflict(&LEASES, name, status::MODIFIED));
        }
        Ok(self.renew_at(place, origin, renew_time))
    }

    fn renew_at(&mut self, place: u32, origin: &Origin, renew_time: Timestamp) -> Answer {
        let current = self.tables[self.leases].store.at(place);
        if current.renew_time() == Some(time::whole_micros(renew_time)) {
            return Answer::object(200, current.clone());
        }
        self.revision += 1;
        self.lent.recall(place);
        let mut object = current.clone();
        object.renew(renew_time, self.revision, place);
        let before = self.tables[self.leases].store.replace(place, object.clone());
        let change = Change { namespace: NODE_LEASES, event: WatchType::Modified, before: Some(before) };
        self.publish(self.leases, origin, change, object.clone());
        Answer::object(200, object)
    }

    /// Does what a patch does by which a node gives its own Lease a new `spec.renewTime`; `None` if that is not all.
    pub(super) fn renew_by_patch(&mut self, origin: &Origin, name: &str, patch: &Json) -> Option<Answer> {
        let store = &self.tables[self.leases].store;
        let place = self.own_lease(&origin.identity).filter(|place| store.at(*place).name() == name)?;
        let (spec, text) = (patch.get("spec"), patch.at(&["spec", "renewTime"]).as_str()?);
        let renew_time = time::parse(text)?;
        let is_all = patch.fields().len() == 1 && spec.fields().len() == 1;
        let is_canonical = is_all && text == time::to_micro_time(renew_time);
        is_canonical.then(|| self.renew_at(place, origin, renew_time))
    }

    /// Finds the Lease of a node that writes as itself, if it has been renewed before and is to stay.
    fn own_lease(&self, holder: &Identity) -> Option<u32> {
        let store = &self.tables[self.leases].store;
        let place = store.find(NODE_LEASES, node_of(holder)?)?;
        let current = store.at(place);
        let is_ending = !current.stable().at(&["metadata", "deletionTimestamp"]).is_null();
        (current.renew_time().is_some() && !is_ending).then_some(place)
    }

    /// A PUT with the uid of a Lease that is gone: the create that it would become finds no such uid.
    fn deleted_under_writer(&self, name: &str) -> Answer {
        let table = &self.tables[self.leases];
        let last = table.history.newest_first(&table.store).find(|event| event.object.name() == name);
        let uid = last.map_or_else(String::new, |event| String::from(event.object.uid()));
        status::conflict(&LEASES, name, &write::uid_precondition(&format!("leases/{NODE_LEASES}/{name}"), &uid, ""))
    }

    /// Does what a PATCH of a Node's status with new heartbeat times does.
    pub(super) fn heartbeat(&mut self, origin: &Origin, name: &Text, at: Timestamp) -> Result<Answer, Answer> {
        let Some(place) = self.tables[self.nodes].store.find("", name) else {
            return Err(status::not_found(&NODES, name));
        };
        let current = self.tables[self.nodes].store.at(place);
        let same =
            |condition: &&str| current.heartbeat_time(condition).is_none_or(|then| then == time::whole_seconds(at));
        if KUBELET_CONDITIONS.iter().all(same) {
            return Ok(Answer::object(200, current.clone()));
        }
        self.revision += 1;
        let object = current.heartbeat(at, self.revision);
        let before = self.tables[self.nodes].store.replace(place, object.clone());
        let change = Change { namespace: "", event: WatchType::Modified, before: Some(before) };
        self.publish(self.nodes, origin, change, object.clone());
        Ok(Answer::object(200, object))
    }
}

/// The Leases that are renewed by somebody else than the server, by their places.
#[derive(Clone, Debug, Default)]
pub(super) struct Lent {
    places: Vec<bool>,
    /// Those that were written meanwhile.
    recalled: Vec<u32>,
}

impl Lent {
    fn lend(&mut self, place: u32) -> bool {
        let place = place as usize;
        if self.places.len() <= place {
            self.places.resize(place + 1, false);
        }
        !core::mem::replace(&mut self.places[place], true)
    }

    fn unlend(&mut self, place: u32) {
        if let Some(lent) = self.places.get_mut(place as usize) {
            *lent = false;
        }
    }

    /// Notes that a Lease was written by a request.
    pub(super) fn recall(&mut self, place: u32) {
        if self.places.get(place as usize).copied().unwrap_or(false) {
            self.unlend(place);
            self.recalled.push(place);
        }
    }
}
