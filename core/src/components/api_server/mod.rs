//! The API server: one store, one growing resourceVersion, watches.
//!
//! Mirrors kube-apiserver (v1.31 to v1.36) as clients see it: k8s.io/apiserver pkg/endpoints/handlers and
//! pkg/registry/generic/registry, the strategies of pkg/registry, and the watch cache. Inputs: requests, cancellations,
//! time. Outputs: commits, then the answer to their writer, then the events of watches.
//! Invariants: a commit is put out before any client is told of it; every commit has a revision of its own; one watch
//! sees revisions in order. Left out on purpose: webhooks.

mod admission;
mod admission_write;
mod apply;
mod attributes;
mod authentication;
mod authorisation;
mod binding;
mod body_kinds;
mod call;
mod certificates;
mod changes;
mod compaction;
mod component_status;
pub(crate) mod content_negotiation;
mod core_defaults;
mod custom;
mod delayed_reads;
mod delete;
mod egress;
mod endpoint_slices;
mod events_v1;
mod eviction;
mod expiry;
mod fields;
mod health;
mod history;
mod initial;
mod jobs;
mod kubelet_relay;
mod limit_ranger;
mod log_options;
mod lookups;
mod managers;
mod naming;
mod node_authoriser;
mod node_restriction;
mod nodes;
mod options;
mod outputs;
mod own_service;
mod paging;
mod patch;
mod paths;
pub mod plugins;
pub(super) mod pods;
mod priority;
mod rbac;
mod rbac_escalation;
mod rbac_kubeadm;
mod rbac_policy;
mod read;
mod renewal;
mod reset_fields;
mod reviews;
mod scale;
mod service_accounts;
mod services;
mod status;
mod storage_kinds;
mod store;
mod strategy;
mod syntax;
mod tables;
mod tokens;
mod validation;
mod warnings;
mod watch;
mod watch_deadlines;
mod workloads;
mod write;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::Deadline;
use super::controller::Context;
use crate::chance::Chance;
use crate::network::kinds::{self, KindIndex, Kinds};
use crate::network::{
    Ask, ClientId, DEFINITIONS, DecisionId, HttpId, Identity, LEASES, NODES, Request, RequestId, Resource, ToClient,
    Verb, WatchType,
};
use crate::objects::schema::Schema;
use crate::objects::{Json, Object, ObjectKey, Text};
use crate::profile::Settings;
use call::WaitBudget;
use content_negotiation::{Representation, TableContext};
use delayed_reads::DelayedReads;
pub use egress::Egress;
use expiry::Expiry;
use history::{History, PastWrite};
pub use outputs::{Commit, ServerOutput, Tap};
pub use own_service::{ADDRESS, PORT};
pub(crate) use renewal::WatcherRef;
use tables::Tables;
use watch::{Watcher, WatcherId};
use watch_deadlines::WatchDeadlines;

/// Who writes, and how.
#[derive(Clone, Debug)]
struct Origin {
    client: ClientId,
    identity: Arc<Identity>,
    verb: Verb,
    subresource: Text,
    because: Option<DecisionId>,
    now: Timestamp,
}

/// What a write did beside its result.
struct WriteEffect<'a> {
    namespace: &'a str,
    event: WatchType,
    before: Option<Object>,
}

/// The API server. It keeps the contract of [`Component`](super::Component) with inputs and outputs of its own:
/// requests of many clients, and answers and commits.
#[derive(Clone, Debug)]
pub struct ApiServer {
    outputs: VecDeque<ServerOutput>,
    /// Events of watches that the current request caused: they follow its answer.
    events: VecDeque<ServerOutput>,
    tap: Tap,
    settings: Arc<Settings>,
    plugins: plugins::Plugins,
    schema: Arc<Schema>,
    chance: Chance,
    revision: u64,
    /// The revision of what was there from the start.
    first_revision: u64,
    started: Timestamp,
    tokens: BTreeMap<Text, tokens::Credential>,
    /// Whether all service accounts are in the store, so that a missing one is an error.
    has_all_accounts: bool,
    rbac: rbac::Rbac,
    tables: Tables,
    kinds: Kinds,
    /// The custom kinds that are served, by their places.
    custom: BTreeMap<KindIndex, Arc<custom::CustomKind>>,
    definitions: KindIndex,
    leases: KindIndex,
    nodes: KindIndex,
    watchers: Vec<Option<Watcher>>,
    free_watchers: Vec<WatcherId>,
    watcher_ids: BTreeMap<(ClientId, RequestId), WatcherId>,
    timers: WatchDeadlines,
    candidates: Vec<WatcherId>,
    delayed_reads: DelayedReads,
    expiry: Expiry,
    /// When system namespaces that were deleted are made again.
    namespaces_due: Option<Timestamp>,
    compaction: compaction::Compaction,
    relays: BTreeMap<HttpId, kubelet_relay::Relay>,
    last_call: u64,
    /// Whether the Events' API version in `events.k8s.io/v1` has a store of its own.
    keeps_new_events: bool,
    /// The uids of objects that are stored without the defaults with which they are read: their next write changes
    /// them, also one that says nothing new.
    undefaulted: BTreeSet<Text>,
    /// Whether new objects name the managers of their fields.
    tracks_managers: bool,
    /// The other parts of the control plane that run.
    parts: BTreeSet<&'static str>,
}

impl ApiServer {
    /// Starts a server with an empty store, but for what every cluster has from the start: four namespaces and two
    /// PriorityClasses.
    #[must_use]
    pub fn new(context: Context, now: Timestamp) -> Self {
        let place = |resource: &Resource| kinds::find(resource).expect("a kind of the table");
        let mut server = Self {
            outputs: VecDeque::new(),
            events: VecDeque::new(),
            tap: Tap::Closed,
            schema: Arc::new(context.settings.profile().schema()),
            plugins: plugins::Plugins::of(&context.settings).unwrap_or_default(),
            compaction: compaction::Compaction::new(context.settings.duration("etcd-compaction-interval"), now),
            settings: context.settings,
            chance: context.chance,
            revision: 1,
            first_revision: 1,
            started: now,
            tokens: BTreeMap::new(),
            has_all_accounts: false,
            rbac: rbac::Rbac::new(),
            tables: Tables::new(),
            kinds: Kinds::default(),
            custom: BTreeMap::new(),
            definitions: place(&DEFINITIONS),
            leases: place(&LEASES),
            nodes: place(&NODES),
            watchers: Vec::new(),
            free_watchers: Vec::new(),
            watcher_ids: BTreeMap::new(),
            timers: WatchDeadlines::default(),
            candidates: Vec::new(),
            delayed_reads: DelayedReads::default(),
            expiry: Expiry::default(),
            namespaces_due: None,
            relays: BTreeMap::new(),
            last_call: 0,
            keeps_new_events: false,
            undefaulted: BTreeSet::new(),
            tracks_managers: false,
            parts: BTreeSet::new(),
        };
        for (kind, object) in strategy::initial_objects() {
            server.put_initial(place(&kind), object, now);
        }
        server.first_revision = server.revision;
        for table in server.tables.iter_mut() {
            table.history = History::new(server.revision);
        }
        server
    }

    /// Chooses which commits are put out.
    pub fn tap(&mut self, tap: Tap) {
        self.tap = tap;
    }

    /// Takes a request.
    pub fn handle_request(&mut self, client: ClientId, request: Request, now: Timestamp) {
        self.compaction.catch_up(self.revision, now);
        let Request { id, identity, ask, because, .. } = request;
        let mut origin = Origin { client, identity, verb: Verb::Update, subresource: Text::of(""), because, now };
        let outcome = match ask {
            Ask::RenewLease { name, renew_time, resource_version, place } => {
                let admitted = self.check_renewal(&origin.identity, &name);
                let renewed = |()| self.renew_lease(&origin, &name, renew_time, (resource_version, place));
                admitted.and_then(renewed).map(Some)
            }
            Ask::Heartbeat { name, at } => {
                origin.verb = Verb::Patch;
                origin.subresource = Text::of("status");
                let admitted = self.check_heartbeat(&origin.identity, &name);
                admitted.and_then(|()| self.heartbeat(&origin, &name, at)).map(Some)
            }
            Ask::Call(call) => {
                origin.verb = call.verb;
                self.call(origin, id, *call, WaitBudget::Fresh)
            }
            // No client sends it here.
            Ask::Cloud(_) => Ok(None),
        };
        if let Some(answer) = outcome.unwrap_or_else(Some) {
            let message = ToClient::Response { id, result: Ok(answer) };
            self.outputs.push_back(ServerOutput::ToClient { client, message });
            self.outputs.append(&mut self.events);
        }
        self.answer_ready(now);
    }

    /// Ends a watch, or a read that waits for a revision, that its client has cancelled.
    pub fn handle_cancel(&mut self, client: ClientId, id: RequestId) {
        if let Some(watcher) = self.watcher_ids.get(&(client, id)).copied() {
            self.close_watch(watcher);
        }
        self.delayed_reads.forget(client, Some(id));
    }

    /// Ends all watches and waiting reads of a client whose connection is gone.
    pub fn handle_disconnect(&mut self, client: ClientId) {
        let range = (client, RequestId(0))..=(client, RequestId(u64::MAX));
        let watchers: Vec<WatcherId> = self.watcher_ids.range(range).map(|(_, watcher)| *watcher).collect();
        for watcher in watchers {
            self.close_watch(watcher);
        }
        self.delayed_reads.forget(client, None);
    }

    /// Sends bookmarks, ends watches and waiting reads whose time is over, compacts, removes expired objects.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        self.compaction.catch_up(self.revision, now);
        self.answer_overdue(now);
        self.expire(now);
        self.restore_namespaces(now);
        while let Some((at, id)) = self.timers.first() {
            if at > now {
                break;
            }
            self.timers.pop();
            let Some(watcher) = self.watchers[id as usize].as_mut() else { continue };
            let (client, request) = (watcher.client, watcher.id);
            // What only lists can be shown as is no bookmark.
            if watcher.ends <= now || watcher.bookmarks && watcher.representation.is_of_lists() {
                let message = ToClient::WatchEnded { id: request, lost: false };
                self.outputs.push_back(ServerOutput::ToClient { client, message });
                self.close_watch(id);
                continue;
            }
            watcher.timers =
                if watcher.bookmarks { watcher.next_bookmark(now).min(watcher.ends) } else { watcher.ends };
            let (timers, kind, bookmarks) = (watcher.timers, watcher.kind_index, watcher.bookmarks);
            self.timers.insert((timers, id));
            if bookmarks {
                let mut object = self.bookmark(kind);
                let view = TableContext { profile: self.settings.profile(), now, printed: None };
                if let Some(watcher) = self.watchers[id as usize].as_mut() {
                    object = watcher.shaped(WatchType::Bookmark, object, view);
                }
                let message = ToClient::Watch { id: request, event: WatchType::Bookmark, object };
                self.outputs.push_back(ServerOutput::ToClient { client, message });
            }
        }
    }

    /// Returns the watch whose deadline is the next one, if that is a bookmark and nothing more.
    pub(crate) fn next_bookmark(&self) -> Option<WatcherRef> {
        let (at, id) = self.timers.first().filter(|_| self.delayed_reads.is_empty())?;
        let watcher = self.watchers[id as usize].as_ref()?;
        let is_first = self.next_expiry().into_iter().chain(self.namespaces_due).all(|other| other > at);
        let is_plain =
            is_first && watcher.bookmarks && watcher.ends > at && watcher.representation == Representation::Plain;
        is_plain.then_some((watcher.client, watcher.id))
    }

    /// Notes that the client of [`Self::next_bookmark`] knows the revision.
    pub(crate) fn skip_bookmark(&mut self, now: Timestamp) {
        if let Some((_, id)) = self.timers.first()
            && let Some(watcher) = self.watchers[id as usize].as_mut()
        {
            self.timers.pop();
            watcher.timers = watcher.next_bookmark(now).min(watcher.ends);
            self.timers.insert((watcher.timers, id));
        }
    }

    /// Returns the next output.
    pub fn poll_output(&mut self) -> Option<ServerOutput> {
        self.outputs.pop_front()
    }

    /// Returns when to call `handle_timeout`.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Deadline> {
        let watch = self.timers.first().map(|(at, _)| Deadline { at, reason: "watch bookmark or timeout" });
        let wait = self.delayed_reads.next_end().map(|at| Deadline { at, reason: "wait for a revision" });
        let expiry = self.next_expiry().map(|at| Deadline { at, reason: "end of what does not stay" });
        let namespaces = self.namespaces_due.map(|at| Deadline { at, reason: "system namespaces" });
        watch.into_iter().chain(wait).chain(expiry).chain(namespaces).min_by_key(|deadline| deadline.at)
    }

    /// Gives a tree the next revision and puts it in the store.
    fn commit(&mut self, kind_index: KindIndex, origin: &Origin, mut tree: Json) -> Object {
        self.revision += 1;
        self.tables[kind_index].share(&mut tree);
        let object = Object::new(tree, self.revision);
        self.tables[kind_index].last = object.stable().clone();
        let key = object.key();
        let store = &mut self.tables[kind_index].store;
        let before = match store.find(&key.namespace, &key.name) {
            Some(place) => Some(store.replace(place, object.clone())),
            None => {
                store.insert(key.namespace.clone(), key.name, object.clone());
                None
            }
        };
        let event = if before.is_some() { WatchType::Modified } else { WatchType::Added };
        self.publish(kind_index, origin, WriteEffect { namespace: &key.namespace, event, before }, object.clone());
        self.write_counterpart(kind_index, origin, event, &object);
        self.attach_to_lease(kind_index, &object, origin.now);
        self.follow_definitions(kind_index, origin, event, &object);
        object
    }

    /// Removes an object; returns its last state under the revision of its end.
    fn commit_removal(&mut self, kind_index: KindIndex, origin: &Origin, key: &ObjectKey) -> Option<Object> {
        let before = self.tables[kind_index].store.remove(&key.namespace, &key.name)?;
        self.undefaulted.remove(before.uid());
        self.revision += 1;
        let object = before.at_revision(self.revision);
        let change = WriteEffect { namespace: &key.namespace, event: WatchType::Deleted, before: Some(before) };
        self.publish(kind_index, origin, change, object.clone());
        self.write_counterpart(kind_index, origin, WatchType::Deleted, &object);
        self.follow_definitions(kind_index, origin, WatchType::Deleted, &object);
        self.note_removal(kind_index, key, origin.now);
        Some(object)
    }

    /// Hands a write to the tap and to the watches.
    fn publish(&mut self, kind_index: KindIndex, origin: &Origin, change: WriteEffect<'_>, object: Object) {
        let WriteEffect { namespace, event, before } = change;
        self.rbac.forget_if_policy(kind_index);
        let table = &mut self.tables[kind_index];
        let mut candidates = core::mem::take(&mut self.candidates);
        let mut unshown = Vec::new();
        table.watches.candidates(&object, before.as_ref(), &mut candidates);
        for id in candidates.drain(..) {
            let watcher = self.watchers[id as usize].as_mut().expect("an indexed watch is open");
            let plural = &self.kinds.at(kind_index).resource.plural;
            let Some(seen) = watcher.sees(plural, namespace, event, &object, before.as_ref()) else { continue };
            if watcher.representation.is_of_lists() {
                let message = ToClient::WatchEnded { id: watcher.id, lost: false };
                self.events.push_back(ServerOutput::ToClient { client: watcher.client, message });
                unshown.push(id);
                continue;
            }
            let shown = match (seen, &before) {
                (WatchType::Deleted, Some(before)) if event != WatchType::Deleted => {
                    Object::new(before.json(), object.resource_version())
                }
                _ => object.clone(),
            };
            let shown = match watcher.representation {
                Representation::Plain => shown,
                _ => {
                    let view = TableContext { profile: self.settings.profile(), now: origin.now, printed: None };
                    watcher.shaped(seen, shown, view)
                }
            };
            let message = ToClient::Watch { id: watcher.id, event: seen, object: shown };
            self.events.push_back(ServerOutput::ToClient { client: watcher.client, message });
        }
        self.candidates = candidates;
        if events_v1::is_tapped(self.tap, kind_index, event, &object) {
            self.outputs.push_back(ServerOutput::Commit(Box::new(Commit {
                at: origin.now,
                resource_version: object.resource_version(),
                event,
                resource: self.kinds.at(kind_index).resource.clone(),
                object: object.clone(),
                before: before.clone(),
                client: origin.client,
                identity: origin.identity.clone(),
                verb: origin.verb,
                subresource: origin.subresource.clone(),
                because: origin.because,
            })));
        }
        table.history.push(PastWrite { at: origin.now, watch_type: event, object, before });
        unshown.into_iter().for_each(|id| self.close_watch(id));
    }

    fn close_watch(&mut self, id: WatcherId) {
        let Some(watcher) = self.watchers[id as usize].take() else { return };
        self.tables[watcher.kind_index].watches.remove(&watcher.selection, id);
        self.watcher_ids.remove(&(watcher.client, watcher.id));
        self.timers.remove((watcher.timers, id));
        self.free_watchers.push(id);
    }
}

#[cfg(test)]
mod tests;
