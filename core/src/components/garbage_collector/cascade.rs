//! Deletion with propagation: foreground (the owner is removed after its dependents) and orphan (the dependents stay).
//!
//! Mirrors `processDeletingDependentsItem` and `attemptToOrphanWorker` of
//! pkg/controller/garbagecollector/garbagecollector.go, and operations.go beside it (v1.34).
//! Inputs: owners whose deletion begins with one of these finalizers, answers. Outputs: patches that remove owner
//! references, and the removal of the finalizer once no dependent blocks it.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::graph::{Item, Life};
use super::{CollectorPurpose, GarbageCollector};
use crate::components::Because;
use crate::components::client::{RequestOutcome, WorkQueue};
use crate::json;
use crate::network::{Call, MERGE_PATCH, Verb, is_known};
use crate::objects::lifecycle::{has_finalizer, is_ending};
use crate::objects::{Json, Object, Text};

/// The finalizer of an owner that is removed after its dependents.
pub(super) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an owner whose dependents stay.
pub(super) const ORPHAN: &str = "orphan";

/// Owners that are being deleted and whose dependents stay.
#[derive(Clone, Debug, Default)]
pub(super) struct Orphaning {
    pub(super) queue: WorkQueue<Item>,
    /// By UID of the owner: the number of unanswered patches of its dependents, and whether one of them failed.
    under_way: BTreeMap<Text, (usize, bool)>,
}

/// Tells whether an object is being deleted and has a finalizer.
pub(super) fn is_ending_with(object: &Object, finalizer: &str) -> bool {
    is_ending(object) && has_finalizer(object, finalizer)
}

/// Makes the patch that removes owner references from a dependent.
pub(super) fn without_owners<'a>(dependent: &Text, owners: impl Iterator<Item = &'a str>) -> Json {
    let gone: Json = owners.map(|uid| json!({"$patch": "delete", "uid": uid})).collect();
    let mut patch = json!({"metadata": {"uid": &**dependent}});
    patch.set(&["metadata", "ownerReferences"], gone);
    patch
}

impl GarbageCollector {
    /// Notes that the deletion of an object begins, and with which propagation. Source: graph_builder.go (v1.34),
    /// `processTransitions`.
    pub(super) fn note_ending(&mut self, item: &Item, before: Option<&Object>, after: &Object) {
        let begins = |finalizer| {
            is_ending_with(after, finalizer) && !before.is_some_and(|before| is_ending_with(before, finalizer))
        };
        if is_ending(after) {
            self.graph.note_life(&item.uid, Life::Ending);
        }
        if begins(ORPHAN) {
            self.orphaning.queue.add(item.clone());
        } else if begins(FOREGROUND) {
            self.graph.note_life(&item.uid, Life::AwaitingDependents);
            for dependent in self.graph.dependents(&item.uid) {
                self.queue.add(dependent.clone());
            }
            self.queue.add(item.clone());
        }
    }

    /// Removes the finalizer of an owner that has no blocking dependents left.
    pub(super) fn await_dependents(&mut self, item: Item, now: Timestamp) {
        let blocking = self.graph.blocking_dependents(&item.uid);
        if blocking.is_empty() {
            self.drop_finalizer(item, FOREGROUND, now);
            return;
        }
        for dependent in blocking {
            if self.graph.life(&dependent.uid) != Life::AwaitingDependents {
                self.queue.add(dependent);
            }
        }
        self.finish(&item);
    }

    /// Removes the references to orphaning owners from their dependents.
    pub(super) fn orphan(&mut self, now: Timestamp) {
        while let Some(owner) = self.orphaning.queue.take() {
            let dependents: Vec<Item> = self.graph.dependents(&owner.uid).cloned().collect();
            if dependents.is_empty() {
                self.drop_finalizer(owner, ORPHAN, now);
                continue;
            }
            self.orphaning.under_way.insert(owner.uid.clone(), (dependents.len(), false));
            for dependent in dependents {
                let call = self.drop_owners(&dependent, None, &[&owner.uid]);
                self.send(call, None, CollectorPurpose::Orphan(owner.clone()), now);
            }
        }
    }

    pub(super) fn handle_orphaned(&mut self, owner: Item, outcome: &RequestOutcome, now: Timestamp) {
        let Some((open, failed)) = self.orphaning.under_way.get_mut(&owner.uid) else { return };
        *open -= 1;
        *failed |= matches!(outcome, RequestOutcome::Conflict | RequestOutcome::Failed);
        if *open > 0 {
            return;
        }
        let failed = *failed;
        self.orphaning.under_way.remove(&owner.uid);
        if failed {
            self.again(owner, ORPHAN, now);
        } else {
            self.drop_finalizer(owner, ORPHAN, now);
        }
    }

    /// Makes the request that removes owner references from a dependent. A custom kind takes no strategic merge patch:
    /// its references are written as they should be, on the state that is known.
    pub(super) fn drop_owners(&self, dependent: &Item, latest: Option<&Object>, gone: &[&str]) -> Call {
        let (kind, key) = (&self.kinds[dependent.kind], &dependent.key);
        if is_known(&kind.resource) {
            let patch = without_owners(&dependent.uid, gone.iter().copied());
            return Call::strategic_patch(kind.resource.clone(), &key.namespace, &key.name, patch);
        }
        let mut patch = json!({"metadata": {"uid": &*dependent.uid}});
        if let Some(object) = latest.or_else(|| self.runtime.cache(dependent.kind).get(key)) {
            let own = object.stable().at(&["metadata", "ownerReferences"]).items().iter();
            let stays = |one: &&Json| !one.get("uid").as_str().is_some_and(|uid| gone.contains(&uid));
            patch.set(&["metadata", "ownerReferences"], own.filter(stays).cloned().collect::<Json>());
            patch.set(&["metadata", "resourceVersion"], format!("{}", object.resource_version()));
        }
        self.merge_patch(dependent, patch)
    }

    pub(super) fn merge_patch(&self, item: &Item, patch: Json) -> Call {
        Call::new(Verb::Patch, self.kinds[item.kind].resource.clone(), &item.key.namespace, &item.key.name)
            .header("content-type", Text::of(MERGE_PATCH))
            .body(patch)
    }

    /// Reads an owner anew to remove a finalizer from it.
    fn drop_finalizer(&mut self, item: Item, finalizer: &'static str, now: Timestamp) {
        self.send(self.get(item.kind, &item.key), None, CollectorPurpose::Finalizers { item, finalizer }, now);
    }

    pub(super) fn handle_finalizers(
        &mut self,
        item: Item,
        finalizer: &'static str,
        outcome: &RequestOutcome,
        now: Timestamp,
    ) {
        match outcome {
            RequestOutcome::Done(Some(owner)) if has_finalizer(owner, finalizer) => {
                let own = owner.stable().at(&["metadata", "finalizers"]).items().iter();
                let rest: Vec<Json> = own.filter(|one| one.as_str() != Some(finalizer)).cloned().collect();
                let mut patch = json!({"metadata": {"finalizers": null}});
                if !rest.is_empty() {
                    patch.set(&["metadata", "finalizers"], rest);
                }
                patch.set(&["metadata", "resourceVersion"], format!("{}", owner.resource_version()));
                let call = self.merge_patch(&item, patch);
                let kind = self.kinds[item.kind].name.to_ascii_lowercase();
                let fact =
                    if finalizer == ORPHAN { "its dependents do not refer to it" } else { "no dependent blocks it" };
                let why = Vec::from([Because::Fact(fact.into())]);
                let because = self.runtime.decide(format!("{kind}/{}", item.key), format!("remove {finalizer}"), why);
                self.send(call, Some(because), CollectorPurpose::Finish { item, finalizer }, now);
            }
            RequestOutcome::Done(_) | RequestOutcome::NotFound => self.ended(&item, finalizer),
            RequestOutcome::Conflict | RequestOutcome::Failed => self.again(item, finalizer, now),
        }
    }

    pub(super) fn handle_finished(
        &mut self,
        item: Item,
        finalizer: &'static str,
        outcome: &RequestOutcome,
        now: Timestamp,
    ) {
        match outcome {
            RequestOutcome::Done(_) | RequestOutcome::NotFound => self.ended(&item, finalizer),
            RequestOutcome::Conflict => self.drop_finalizer(item, finalizer, now),
            RequestOutcome::Failed => self.again(item, finalizer, now),
        }
    }

    fn ended(&mut self, item: &Item, finalizer: &str) {
        if finalizer == ORPHAN {
            self.orphaning.queue.forget(item);
            self.orphaning.queue.done(item);
        } else {
            self.finish(item);
        }
    }

    fn again(&mut self, item: Item, finalizer: &str, now: Timestamp) {
        if finalizer == ORPHAN {
            self.orphaning.queue.retry(item.clone(), now);
            self.orphaning.queue.done(&item);
        } else {
            self.retry(&item, now);
        }
    }
}
