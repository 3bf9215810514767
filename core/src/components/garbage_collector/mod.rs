//! Deletes objects all of whose owners are gone: the Lease and the CSINode of a deleted Node, its mirror pods.
//!
//! Mirrors kube-controller-manager's `garbage-collector-controller`
//! (pkg/controller/garbagecollector/{garbagecollector,graph_builder}.go, v1.34).
//! Inputs: objects of the watched kinds, answers, time. Outputs: reads, deletions with preconditions, patches that
//! remove references to absent owners. Invariants: an object without owner references is never deleted; an owner counts
//! as absent only after its removal was seen or a read confirmed it.
//! Left out on purpose: discovery: custom kinds are known by their definitions.
//! Events are neither owners nor dependents, as upstream.

mod absent;
mod cascade;
mod graph;
mod misplaced;
mod removal;
mod unmapped;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use self::absent::{AbsentOwners, OwnerIdentity};
use self::cascade::{FOREGROUND, Orphaning, is_ending_with};
use self::graph::{Graph, Item, Life, OwnerReference, owners_of};
use self::removal::Removal;
use self::unmapped::{Unmapped, is_built_in};
use super::client::{CacheEvent, RequestOutcome, WorkQueue};
use super::controller::{ApiResult, Controller, ControllerContext, ControllerRuntime, Watched};
use super::{Because, Deadline, DecisionId, earliest};
use crate::chance::Chance;
use crate::network::kinds::{KINDS, Kind, Trait, is_served};
use crate::network::{Call, DEFINITIONS, RequestId, Resource, Verb, defined_kind};
use crate::objects::lifecycle::is_established;
use crate::objects::{Object, ObjectKey, Text};
use crate::profile::Profile;

/// A kind whose objects are watched.
#[derive(Clone, Debug)]
struct MonitoredKind {
    name: Text,
    resource: Resource,
    namespaced: bool,
}

/// Returns the kinds that a release serves whose objects can be deleted, listed and watched; custom ones are watched
/// behind them once their definitions are seen.
///
/// Source: garbagecollector.go (v1.34), `GetDeletableResources`; graph_builder.go, `ignoredResources`: no Events.
fn deletable(profile: &Profile) -> Vec<MonitoredKind> {
    let is_monitored = |kind: &&Kind| !kind.is(Trait::Review) && kind.name != "Event";
    let kinds = KINDS.iter().filter(is_monitored).filter(|kind| is_served(&kind.resource, profile));
    let monitored = |kind: &'static Kind| MonitoredKind {
        name: Text::of(kind.name),
        resource: kind.resource.clone(),
        namespaced: kind.is_namespaced(),
    };
    kinds.map(monitored).collect()
}

/// How often the collector looks for kinds that are new.
/// Source: cmd/kube-controller-manager/app/core.go (v1.34), `startGarbageCollectorController`.
const SYNC_PERIOD: SignedDuration = SignedDuration::from_secs(30);

/// Objects that are processed concurrently.
/// Source: pkg/controller/garbagecollector/config/v1alpha1/defaults.go (v1.34), `ConcurrentGCSyncs`.
const WORKERS: usize = 20;

/// An owner that was never seen: kind, key and UID from its dependent's reference.
type MissingOwner = (usize, ObjectKey, Text);

/// What a request is for.
#[derive(Clone, Debug)]
enum CollectorPurpose {
    /// Read the dependent itself.
    Read(Item),
    /// Read an owner of a dependent; more of them may follow.
    Owner { item: Item, latest: Object, owner: OwnerReference, rest: VecDeque<OwnerReference>, sorted: Sorted },
    /// Read an owner that was never seen.
    MissingOwner(MissingOwner),
    /// Delete the dependent whatever its version, or patch it.
    Write(Item),
    /// Delete the dependent at its version.
    Delete(Removal),
    /// Let no owner wait for the dependent, before it is deleted.
    Unblock(Removal),
    /// Read a dependent that has changed before its deletion.
    Changed(Removal),
    /// Remove the reference to this owner from a dependent that stays.
    Orphan(Item),
    /// Read an owner to remove this finalizer.
    Finalizers { item: Item, finalizer: &'static str },
    /// Remove a finalizer.
    Finish { item: Item, finalizer: &'static str },
}

/// The owners of a dependent: present ones, ones that wait for its removal, and absent ones.
#[derive(Clone, Debug, Default)]
struct Sorted {
    solid: Vec<OwnerReference>,
    waiting: Vec<OwnerReference>,
    dangling: Vec<OwnerReference>,
}

/// The controller; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
pub struct GarbageCollector {
    runtime: ControllerRuntime,
    graph: Graph,
    absent: AbsentOwners,
    queue: WorkQueue<Item>,
    missing: WorkQueue<MissingOwner>,
    unmapped: Unmapped,
    /// Owners that are being deleted and whose dependents stay.
    orphaning: Orphaning,
    under_way: BTreeMap<RequestId, CollectorPurpose>,
    started: bool,
    checks_version: bool,
    /// The watched kinds, by the places of their caches.
    kinds: Vec<MonitoredKind>,
    /// Kinds that are watched from an instant on.
    new_kinds: VecDeque<(Timestamp, MonitoredKind)>,
    began: Timestamp,
    chance: Chance,
}

impl GarbageCollector {
    /// Starts the controller with empty caches.
    #[must_use]
    pub fn new(context: &ControllerContext, now: Timestamp) -> Self {
        let kinds = deletable(context.settings.profile());
        let watched: Vec<Watched> = kinds.iter().map(|kind| Watched::of(kind.resource.clone())).collect();
        Self {
            runtime: ControllerRuntime::new(&watched, context, now),
            graph: Graph::default(),
            absent: AbsentOwners::default(),
            queue: WorkQueue::default(),
            missing: WorkQueue::default(),
            unmapped: Unmapped::default(),
            orphaning: Orphaning::default(),
            under_way: BTreeMap::new(),
            started: false,
            checks_version: context.settings.profile().is("garbage-collection-checks-version"),
            kinds,
            new_kinds: VecDeque::new(),
            began: now,
            chance: context.chance.clone(),
        }
    }

    /// Watches a custom kind from the next look for new kinds on.
    fn note_definition(&mut self, definition: &Object, now: Timestamp) {
        let tree = definition.json();
        let Some((name, resource, namespaced)) = defined_kind(&tree).filter(|_| is_established(&tree)) else { return };
        let mut known = self.kinds.iter().chain(self.new_kinds.iter().map(|(_, kind)| kind));
        if !known.any(|kind| kind.resource == resource) {
            let passed = now.duration_since(self.began).as_secs() / SYNC_PERIOD.as_secs() + 1;
            let due = self.began + SignedDuration::from_secs(passed * SYNC_PERIOD.as_secs());
            self.new_kinds.push_back((due, MonitoredKind { name, resource, namespaced }));
        }
    }

    fn watch_new_kinds(&mut self, now: Timestamp) {
        while let Some((_, kind)) = self.new_kinds.pop_front_if(|(due, _)| *due <= now) {
            self.runtime.watch(&Watched::of(kind.resource.clone()), &self.chance);
            self.kinds.push(kind);
        }
    }

    /// Returns kind and key of an owner as its dependent names it; `None` for a kind that is not watched.
    fn place_of(&self, owner: &OwnerReference, namespace: &Text) -> Option<(usize, ObjectKey)> {
        let (group, version) = Resource::group_and_version(&owner.api_version);
        let kind = self.kinds.iter().position(|kind| {
            kind.name == *owner.kind && kind.resource.group == *group && kind.resource.version == *version
        })?;
        let key = if self.kinds[kind].namespaced {
            ObjectKey::namespaced(namespace.clone(), owner.name.clone())
        } else {
            ObjectKey::cluster(owner.name.clone())
        };
        Some((kind, key))
    }

    fn get(&self, kind: usize, key: &ObjectKey) -> Call {
        Call::new(Verb::Get, self.kinds[kind].resource.clone(), &key.namespace, &key.name)
    }

    fn remove(&mut self, item: &Item) {
        for owner in self.graph.waiting_owners(&item.uid) {
            self.queue.add(owner);
        }
        let dependents = self.graph.remove(item);
        if !dependents.is_empty() {
            self.absent.note(OwnerIdentity::new(&self.kinds[item.kind], &item.key, &item.uid));
        }
        for dependent in dependents {
            self.queue.add(dependent);
        }
    }

    /// Reads the owners that no cache has. One in a namespace that an object without one names is not looked for.
    fn look_for(&mut self, item: &Item, owners: &[OwnerReference]) {
        for owner in owners.iter().filter(|owner| !self.graph.has(&owner.uid)) {
            if self.absent.has(owner, &item.key.namespace) {
                self.queue.add(item.clone());
                continue;
            }
            match self.place_of(owner, &item.key.namespace) {
                Some((kind, key)) if self.can_own(kind, item) => self.missing.add((kind, key, owner.uid.clone())),
                None if !is_built_in(owner) => self.unmapped.add(owner, item),
                _ => {}
            }
        }
    }

    /// Tells whether an object of a kind may be the owner of a dependent: one in a namespace owns none without one.
    ///
    /// Source: garbagecollector.go (v1.34), `namespacedOwnerOfClusterScopedObjectErr`.
    fn can_own(&self, kind: usize, dependent: &Item) -> bool {
        !(self.kinds[kind].namespaced && dependent.key.namespace.is_empty())
    }

    fn begin(&mut self, now: Timestamp) {
        if self.started || !self.runtime.is_synced() {
            return;
        }
        self.started = true;
        let mut found = Vec::new();
        for (kind, cache) in self.runtime.caches().enumerate() {
            for object in cache.objects() {
                let item = Item { kind, key: object.key(), uid: Text::from(object.uid()) };
                found.push((item, owners_of(object.stable())));
            }
        }
        for (item, owners) in found {
            self.look_for(&item, &owners);
            self.check_places(&item, &owners, now);
        }
    }

    fn send(&mut self, call: Call, because: Option<DecisionId>, job: CollectorPurpose, now: Timestamp) {
        let id = self.runtime.send(call, because, now);
        self.under_way.insert(id, job);
    }

    fn finish(&mut self, item: &Item) {
        self.queue.forget(item);
        self.queue.done(item);
    }

    fn retry(&mut self, item: &Item, now: Timestamp) {
        self.queue.retry(item.clone(), now);
        self.queue.done(item);
    }

    fn handle_outcome(&mut self, job: CollectorPurpose, outcome: RequestOutcome, now: Timestamp) {
        match (job, outcome) {
            (CollectorPurpose::MissingOwner(missing), outcome) => self.handle_missing(&missing, &outcome, now),
            (CollectorPurpose::Read(item), RequestOutcome::Done(Some(latest)))
                if latest.uid() == &*item.uid && self.graph.life(&item.uid) == Life::AwaitingDependents =>
            {
                self.await_dependents(item, now);
            }
            (CollectorPurpose::Read(item), RequestOutcome::Done(Some(latest))) => {
                let is_ending = !latest.stable().at(&["metadata", "deletionTimestamp"]).is_null();
                let rest: VecDeque<OwnerReference> = owners_of(latest.stable()).into();
                if latest.uid() != &*item.uid || is_ending || rest.is_empty() {
                    self.finish(&item);
                } else {
                    self.sort(item, latest, rest, Sorted::default(), now);
                }
            }
            (CollectorPurpose::Owner { item, latest, owner, rest, mut sorted }, outcome) => {
                match outcome {
                    RequestOutcome::Done(Some(found)) if found.uid() == &*owner.uid => {
                        let waits = is_ending_with(&found, FOREGROUND);
                        if waits { &mut sorted.waiting } else { &mut sorted.solid }.push(owner);
                    }
                    RequestOutcome::Done(_) | RequestOutcome::NotFound => {
                        if let Some((kind, key)) = self.place_of(&owner, &item.key.namespace) {
                            self.absent.note(OwnerIdentity::new(&self.kinds[kind], &key, &owner.uid));
                        }
                        sorted.dangling.push(owner);
                    }
                    RequestOutcome::Conflict | RequestOutcome::Failed => {
                        self.retry(&item, now);
                        return;
                    }
                }
                self.sort(item, latest, rest, sorted, now);
            }
            (CollectorPurpose::Read(item), RequestOutcome::NotFound)
            | (CollectorPurpose::Write(item), RequestOutcome::Done(_) | RequestOutcome::NotFound) => {
                self.finish(&item);
            }
            (CollectorPurpose::Read(item) | CollectorPurpose::Write(item), _) => self.retry(&item, now),
            (CollectorPurpose::Delete(removal), outcome) => self.handle_removed(removal, &outcome, now),
            (CollectorPurpose::Unblock(removal), outcome) => self.handle_unblocked(removal, &outcome, now),
            (CollectorPurpose::Changed(removal), outcome) => self.handle_changed(removal, &outcome, now),
            (CollectorPurpose::Orphan(owner), outcome) => self.handle_orphaned(owner, &outcome, now),
            (CollectorPurpose::Finalizers { item, finalizer }, outcome) => {
                self.handle_finalizers(item, finalizer, &outcome, now);
            }
            (CollectorPurpose::Finish { item, finalizer }, outcome) => {
                self.handle_finished(item, finalizer, &outcome, now)
            }
        }
    }

    fn handle_missing(&mut self, missing: &MissingOwner, outcome: &RequestOutcome, now: Timestamp) {
        match outcome {
            RequestOutcome::Conflict | RequestOutcome::Failed => self.missing.retry(missing.clone(), now),
            RequestOutcome::Done(Some(found)) if found.uid() == &*missing.2 => self.missing.forget(missing),
            RequestOutcome::Done(_) | RequestOutcome::NotFound => {
                self.missing.forget(missing);
                let (kind, key, uid) = missing;
                let owner = OwnerIdentity::new(&self.kinds[*kind], key, uid);
                for (dependent, owners) in self.graph.dependents_with_owners(uid) {
                    if owners.iter().any(|named| owner.is_named_by(named, &dependent.key.namespace)) {
                        self.queue.add(dependent);
                    }
                }
                self.absent.note(owner);
            }
        }
        self.missing.done(missing);
    }

    /// Sorts the owners of a dependent into present, waiting and absent; reads those that are neither cached nor known
    /// to be absent.
    fn sort(
        &mut self,
        item: Item,
        latest: Object,
        mut rest: VecDeque<OwnerReference>,
        mut sorted: Sorted,
        now: Timestamp,
    ) {
        while let Some(owner) = rest.pop_front() {
            if self.absent.has(&owner, &item.key.namespace) {
                sorted.dangling.push(owner);
            } else if let Some((kind, key)) = self.place_of(&owner, &item.key.namespace) {
                if !self.can_own(kind, &item) {
                    // An owner that no read can find: the dependent stays.
                    self.finish(&item);
                    return;
                }
                let call = self.get(kind, &key);
                self.send(call, None, CollectorPurpose::Owner { item, latest, owner, rest, sorted }, now);
                return;
            } else if is_built_in(&owner) {
                sorted.solid.push(owner);
            } else {
                self.retry(&item, now);
                return;
            }
        }
        self.judge(item, &latest, &sorted, now);
    }

    fn judge(&mut self, item: Item, latest: &Object, sorted: &Sorted, now: Timestamp) {
        if sorted.dangling.is_empty() && sorted.waiting.is_empty() {
            self.finish(&item);
            return;
        }
        let kind = self.kinds[item.kind].clone();
        let shown = |owner: &OwnerReference| format!("its owner {} {} (uid {})", owner.kind, owner.name, owner.uid);
        let gone = sorted.dangling.iter().map(|owner| format!("{} is gone", shown(owner)));
        let waiting = sorted.waiting.iter().map(|owner| format!("{} is deleted in the foreground", shown(owner)));
        let reasons = gone.chain(waiting).map(Because::Fact).collect();
        let about = format!("{}/{}", kind.name.to_ascii_lowercase(), item.key);
        if sorted.solid.is_empty() {
            let because = self.runtime.decide(about, "delete", reasons);
            self.delete(item, latest, !sorted.waiting.is_empty(), because, now);
            return;
        }
        let gone: Vec<&str> = sorted.dangling.iter().chain(&sorted.waiting).map(|owner| &*owner.uid).collect();
        let call = self.drop_owners(&item, Some(latest), &gone);
        let because = self.runtime.decide(about, "remove references", reasons);
        self.send(call, Some(because), CollectorPurpose::Write(item), now);
    }
}

impl Controller for GarbageCollector {
    fn runtime(&self) -> &ControllerRuntime {
        &self.runtime
    }

    fn runtime_mut(&mut self) -> &mut ControllerRuntime {
        &mut self.runtime
    }

    fn handle_event(&mut self, kind: usize, event: &CacheEvent, now: Timestamp) {
        let object = event.object();
        if self.kinds[kind].resource == DEFINITIONS && event.after.is_some() {
            self.note_definition(object, now);
        }
        let item = Item { kind, key: object.key(), uid: Text::from(object.uid()) };
        if let Some(before) = &event.before
            && before.uid() != object.uid()
        {
            self.remove(&Item { uid: Text::from(before.uid()), ..item.clone() });
        }
        if event.after.is_none() {
            self.remove(&item);
            return;
        }
        let owners = owners_of(object.stable());
        for owner in self.graph.put(&item, &owners) {
            self.queue.add(owner);
        }
        self.note_ending(&item, event.before.as_ref(), object);
        if self.started {
            self.look_for(&item, &owners);
            let references = |object: &Object| object.stable().at(&["metadata", "ownerReferences"]).clone();
            if event.before.as_ref().is_none_or(|before| references(before) != references(object)) {
                self.check_places(&item, &owners, now);
            }
            if event.before.is_none() {
                self.check_dependents(&item, now);
            }
        }
    }

    fn handle_reply(&mut self, id: RequestId, reply: &ApiResult, now: Timestamp) {
        if let Some(job) = self.under_way.remove(&id) {
            self.handle_outcome(job, RequestOutcome::of(reply), now);
        }
    }

    fn handle_due(&mut self, now: Timestamp) {
        self.queue.handle_timeout(now);
        self.missing.handle_timeout(now);
        self.unmapped.handle_timeout(now);
        self.orphaning.queue.handle_timeout(now);
        self.watch_new_kinds(now);
    }

    fn work(&mut self, now: Timestamp) {
        self.begin(now);
        if !self.started {
            return;
        }
        self.try_unmapped(now);
        while self.missing.working() < WORKERS
            && let Some(missing) = self.missing.take()
        {
            if self.graph.has(&missing.2) {
                self.missing.forget(&missing);
                self.missing.done(&missing);
                continue;
            }
            let call = self.get(missing.0, &missing.1);
            self.send(call, None, CollectorPurpose::MissingOwner(missing), now);
        }
        while self.queue.working() < WORKERS
            && let Some(item) = self.queue.take()
        {
            if self.graph.has(&item.uid) && self.graph.life(&item.uid) != Life::Ending {
                self.send(self.get(item.kind, &item.key), None, CollectorPurpose::Read(item), now);
            } else {
                self.finish(&item);
            }
        }
        self.orphan(now);
    }

    fn own_deadline(&self) -> Option<Deadline> {
        let new_kinds = self.new_kinds.front().map(|(at, _)| Deadline { at: *at, reason: "look for new kinds" });
        let queues = [self.queue.next_deadline(), self.missing.next_deadline(), self.unmapped.next_deadline()];
        earliest(queues.into_iter().chain([self.orphaning.queue.next_deadline(), new_kinds]))
    }

    fn own_queues(&self) -> Vec<(&'static str, usize)> {
        let deletions = self.queue.len() + self.missing.len() + self.unmapped.len();
        let orphans = ("garbage_collector_attempt_to_orphan", self.orphaning.queue.len());
        Vec::from([("garbage_collector_attempt_to_delete", deletions), orphans])
    }
}
