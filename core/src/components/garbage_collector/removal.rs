//! The deletion of a dependent that has no owner any more, at the version at which that was found.
//!
//! Mirrors the end of `attemptToDeleteItem` (pkg/controller/garbagecollector/garbagecollector.go, v1.34) and
//! `deleteObject` of operations.go beside it. One that changed in between is read again, and deleted whatever its
//! version if its owners are the same, so that rapid updates of it do not keep it. Owners that may wait for each other
//! in a circle are let go before. Inputs: a dependent, answers.
//! Outputs: requests.

use alloc::format;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::cascade::{FOREGROUND, ORPHAN};
use super::graph::{Item, Life};
use super::{CollectorPurpose, GarbageCollector};
use crate::components::client::RequestOutcome;
use crate::components::{Because, DecisionId};
use crate::json;
use crate::network::{Call, Verb, is_known};
use crate::objects::lifecycle::has_finalizer;
use crate::objects::{Json, Object};

/// A deletion that was asked for.
#[derive(Clone, Debug)]
pub(super) struct Removal {
    pub(super) item: Item,
    /// The dependent as it was then.
    latest: Object,
    policy: &'static str,
    because: DecisionId,
}

fn owners(object: &Object) -> &Json {
    object.stable().at(&["metadata", "ownerReferences"])
}

impl GarbageCollector {
    /// Deletes a dependent; `waits` tells whether an owner waits for it.
    pub(super) fn delete(&mut self, item: Item, latest: &Object, waits: bool, because: DecisionId, now: Timestamp) {
        let in_foreground = waits && self.graph.dependents(&item.uid).next().is_some();
        let policy = match () {
            () if in_foreground => "Foreground",
            () if has_finalizer(latest, ORPHAN) => "Orphan",
            () if has_finalizer(latest, FOREGROUND) => "Foreground",
            () => "Background",
        };
        let removal = Removal { item, latest: latest.clone(), policy, because };
        match self.unblocking(&removal, in_foreground) {
            Some((call, because)) => self.send(call, Some(because), CollectorPurpose::Unblock(removal), now),
            None => self.send_removal(removal, now),
        }
    }

    fn send_removal(&mut self, removal: Removal, now: Timestamp) {
        let because = removal.because;
        if self.checks_version {
            let call = self.removal_of(&removal, Some(removal.latest.resource_version()));
            self.send(call, Some(because), CollectorPurpose::Delete(removal), now);
        } else {
            let call = self.removal_of(&removal, None);
            self.send(call, Some(because), CollectorPurpose::Write(removal.item), now);
        }
    }

    /// Makes the patch after which no owner waits for a dependent, if the owners may wait for each other: a dependent
    /// of it waits for its own.
    ///
    /// Source: garbagecollector.go (v1.34), `attemptToDeleteItem`; patch.go beside it,
    /// `unblockOwnerReferencesStrategicMergePatch`.
    fn unblocking(&mut self, removal: &Removal, in_foreground: bool) -> Option<(Call, DecisionId)> {
        let item = &removal.item;
        let waits = |dependent: &&Item| self.graph.life(&dependent.uid) == Life::AwaitingDependents;
        let waiting = self.graph.dependents(&item.uid).find(waits).filter(|_| in_foreground)?.clone();
        let is_blocking = |owner: &&Json| owner.get("blockOwnerDeletion").as_bool() == Some(true);
        if !owners(&removal.latest).items().iter().any(|owner| is_blocking(&owner)) {
            return None;
        }
        let unblocked = |owner: &Json| {
            let mut owner = owner.clone();
            owner.set(&["blockOwnerDeletion"], false);
            owner
        };
        let own = owners(&removal.latest).items().iter();
        let call = if is_known(&self.kinds[item.kind].resource) {
            let mut patch = json!({"metadata": {"uid": &*item.uid}});
            patch.set(&["metadata", "ownerReferences"], own.filter(is_blocking).map(unblocked).collect::<Json>());
            Call::strategic_patch(self.kinds[item.kind].resource.clone(), &item.key.namespace, &item.key.name, patch)
        } else {
            let mut patch = json!({"metadata": {"resourceVersion": format!("{}", removal.latest.resource_version())}});
            patch.set(&["metadata", "ownerReferences"], own.map(unblocked).collect::<Json>());
            self.merge_patch(item, patch)
        };
        let name = |item: &Item| format!("{}/{}", self.kinds[item.kind].name.to_ascii_lowercase(), item.key);
        let fact = format!("its dependent {} is deleted in the foreground too", name(&waiting));
        let why = Vec::from([Because::Decision(removal.because), Because::Fact(fact)]);
        let about = name(item);
        Some((call, self.runtime.decide(about, "let no owner wait for it", why)))
    }

    /// Takes the answer to the patch after which no owner waits for a dependent.
    pub(super) fn handle_unblocked(&mut self, removal: Removal, outcome: &RequestOutcome, now: Timestamp) {
        match outcome {
            RequestOutcome::Done(_) => self.send_removal(removal, now),
            RequestOutcome::NotFound => self.finish(&removal.item),
            RequestOutcome::Conflict | RequestOutcome::Failed => self.retry(&removal.item, now),
        }
    }

    fn removal_of(&self, removal: &Removal, version: Option<u64>) -> Call {
        let Item { kind, key, uid } = &removal.item;
        let mut body = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": removal.policy,
            "preconditions": {"uid": &**uid}});
        if let Some(version) = version {
            body.set(&["preconditions", "resourceVersion"], format!("{version}"));
        }
        Call::new(Verb::Delete, self.kinds[*kind].resource.clone(), &key.namespace, &key.name).body(body)
    }

    /// Takes the answer to a deletion: one that changed in between is read again.
    pub(super) fn handle_removed(&mut self, removal: Removal, outcome: &RequestOutcome, now: Timestamp) {
        match outcome {
            RequestOutcome::Done(_) | RequestOutcome::NotFound => self.finish(&removal.item),
            RequestOutcome::Failed => self.retry(&removal.item, now),
            RequestOutcome::Conflict => {
                let call = self.get(removal.item.kind, &removal.item.key);
                self.send(call, Some(removal.because), CollectorPurpose::Changed(removal), now);
            }
        }
    }

    /// Deletes a dependent that has changed, but not in its owners.
    pub(super) fn handle_changed(&mut self, removal: Removal, outcome: &RequestOutcome, now: Timestamp) {
        match outcome {
            RequestOutcome::NotFound => self.finish(&removal.item),
            RequestOutcome::Done(Some(live))
                if live.uid() == &*removal.item.uid
                    && live.resource_version() != removal.latest.resource_version()
                    && owners(live) == owners(&removal.latest) =>
            {
                let call = self.removal_of(&removal, None);
                self.send(call, Some(removal.because), CollectorPurpose::Write(removal.item), now);
            }
            RequestOutcome::Done(_) | RequestOutcome::Conflict | RequestOutcome::Failed => {
                self.retry(&removal.item, now);
            }
        }
    }
}
