//! The deletion of a dependent that has no owner any more, at the version at which that was found.
//!
//! Mirrors the end of `attemptToDeleteItem` (pkg/controller/garbagecollector/garbagecollector.go, v1.34) and
//! `deleteObject` of operations.go beside it. One that changed in between is read again, and deleted whatever its
//! version if its owners are the same, so that rapid updates of it do not keep it. Inputs: a dependent, answers.
//! Outputs: requests.

use alloc::format;

use jiff::Timestamp;

use super::cascade::{FOREGROUND, ORPHAN};
use super::graph::Item;
use super::{CollectorPurpose, GarbageCollector};
use crate::components::DecisionId;
use crate::components::client::RequestOutcome;
use crate::json;
use crate::network::{Call, Verb};
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
        if self.checks_version {
            let call = self.removal_of(&removal, Some(latest.resource_version()));
            self.send(call, Some(because), CollectorPurpose::Delete(removal), now);
        } else {
            let call = self.removal_of(&removal, None);
            self.send(call, Some(because), CollectorPurpose::Write(removal.item), now);
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
