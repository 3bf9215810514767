//! The two heartbeats in their typed form: the renewal of a Lease, and a Node's status that changes times alone.
//!
//! Inputs: a Lease or a Node by name, and the new time. Outputs: the commit and the answer. Invariant (tested): each
//! does exactly what the PUT or PATCH does that it stands for. A renewal can also be made without messages:
//! [`ApiServer::renewal_readers`] says who sees it, [`ApiServer::renew`] commits it, and the caller tells the readers,
//! in their order.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::call::RequestInfo;
use super::content_negotiation::Representation;
use super::node_authoriser::node_of;
use super::options::RequestOptions;
use super::{ApiServer, Origin, Tap, WriteEffect, status, write};
use crate::network::kinds::KindIndex;
use crate::network::{Answer, ClientId, Identity, LEASES, NODE_LEASES, NODES, RequestId, WatchType};
use crate::objects::{HeartbeatStamp, Json, KUBELET_CONDITIONS, Object, Text, time};

/// An open watch that sees a write: whose, and the request that opened it.
pub(crate) type WatcherRef = (ClientId, RequestId);

impl ApiServer {
    /// Finds the watches that see each renewal of a node's Lease, in the order in which they are told; `None` if that
    /// differs between Leases, or if the tap, a waiting read or a watch in another form has to be told too.
    pub(crate) fn renewal_readers(&self) -> Option<Vec<WatcherRef>> {
        let watches = self.tables[self.leases].watches.general_only()?;
        if self.tap == Tap::Everything || !self.delayed_reads.is_empty() {
            return None;
        }
        let mut readers = Vec::new();
        for id in watches {
            let watcher = self.watchers[*id as usize].as_ref().expect("an indexed watch is open");
            if watcher.omits_heartbeats {
                continue;
            }
            let namespace = &watcher.selection.namespace;
            if watcher.representation != Representation::Plain
                || watcher.after > self.revision
                || !watcher.selection.is_everything()
            {
                return None;
            }
            if namespace.is_empty() || *namespace == NODE_LEASES {
                readers.push((watcher.client, watcher.id));
            }
        }
        Some(readers)
    }

    /// Tells whether this revision was a renewal of the holder's own Lease, which needs no look at the roles.
    pub(crate) fn is_own_renewal(&self, lease: HeartbeatStamp, holder: &Identity) -> bool {
        let place = lease.place().filter(|_| lease.renewed_micros().is_some());
        let current = place.and_then(|place| self.tables[self.leases].store.stands_at(place));
        current.is_some_and(|current| current.stamp() == lease && node_of(holder) == Some(current.name()))
    }

    /// Renews a Lease for its holder, which knows this revision as the last one. `None` if it is not the last one, or
    /// if nothing changes.
    ///
    /// The caller has to tell [`Self::renewal_readers`].
    pub(crate) fn renew(
        &mut self,
        lease: HeartbeatStamp,
        renew_time: Timestamp,
        now: Timestamp,
    ) -> Option<HeartbeatStamp> {
        let table = &mut self.tables[self.leases];
        let current = table.store.stands_at_mut(lease.place()?).filter(|current| current.stamp() == lease)?;
        if lease.time() == Some(renew_time) || !HeartbeatStamp::holds(renew_time, now) {
            return None;
        }
        self.revision += 1;
        current.renew(renew_time, self.revision, lease.place()?, now);
        let renewed = current.stamp();
        table.history.push_renewal(now, lease, renewed);
        Some(renewed)
    }

    /// Returns a Lease as it was with a stamp that it had since it was written in full.
    pub(crate) fn lease_at(&self, stamp: HeartbeatStamp) -> Object {
        let place = stamp.place().expect("a renewed Lease has a place");
        self.tables[self.leases].store.at(place).at_stamp(stamp)
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
        if self.tracks_managers && !(current.is_renewal() && HeartbeatStamp::holds(renew_time, origin.now)) {
            let mut tree = current.json();
            tree.set(&["spec", "renewTime"], time::to_micro_time(renew_time));
            return self.beat_in_full(self.leases, origin, tree);
        }
        self.revision += 1;
        let mut object = current.clone();
        object.renew(renew_time, self.revision, place, origin.now);
        let before = self.tables[self.leases].store.replace(place, object.clone());
        let change = WriteEffect { namespace: NODE_LEASES, event: WatchType::Modified, before: Some(before) };
        self.publish(self.leases, origin, change, object.clone());
        Answer::object(200, object)
    }

    /// Stores a heartbeat as a whole tree, after which its writer owns the times. So the next ones change no more of
    /// the managers than a time.
    fn beat_in_full(&mut self, kind_index: KindIndex, origin: &Origin, mut tree: Json) -> Answer {
        let text = |field| tree.at(&["metadata", field]).as_text().cloned().unwrap_or_default();
        let (namespace, name) = (text("namespace"), text("name"));
        let info = RequestInfo {
            kind_index,
            kind: self.kinds.at(kind_index),
            subresource: origin.subresource.clone(),
            namespace,
            name,
        };
        let before = self.tables[kind_index].store.get(&info.namespace, &info.name).map(Object::json);
        self.note_manager(&info, &RequestOptions::default(), origin, before.as_ref(), &mut tree);
        Answer::object(200, self.commit(kind_index, origin, tree))
    }

    /// Does what a patch of a node's own Lease with a new `spec.renewTime` does; `None` if the patch changes anything
    /// else.
    pub(super) fn renew_by_patch(&mut self, origin: &Origin, name: &str, patch: &Json) -> Option<Answer> {
        let store = &self.tables[self.leases].store;
        let place = self.own_lease(&origin.identity).filter(|place| store.at(*place).name() == name)?;
        if self.tracks_managers {
            return None;
        }
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
        let last = table.history.newest_first(&table.store).find(|write| write.object.name() == name);
        let uid = last.map_or_else(String::new, |write| String::from(write.object.uid()));
        let key = format!("leases/{NODE_LEASES}/{name}");
        status::conflict(&LEASES, name, &write::uid_precondition(&RequestOptions::default(), &key, &uid, ""))
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
        if self.tracks_managers && !(current.is_node_heartbeat() && HeartbeatStamp::holds(at, origin.now)) {
            let tree = current.heartbeat(at, 0, at).json();
            return Ok(self.beat_in_full(self.nodes, origin, tree));
        }
        self.revision += 1;
        let object = current.heartbeat(at, self.revision, origin.now);
        let before = self.tables[self.nodes].store.replace(place, object.clone());
        let change = WriteEffect { namespace: "", event: WatchType::Modified, before: Some(before) };
        self.publish(self.nodes, origin, change, object.clone());
        Ok(Answer::object(200, object))
    }
}
