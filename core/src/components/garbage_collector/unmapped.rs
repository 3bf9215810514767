//! Owners of kinds that are not known: they are tried again with growing pauses, and their dependents stay.
//!
//! Mirrors `attemptToDeleteWorker` and `apiResource` of
//! pkg/controller/garbagecollector/{garbagecollector,operations}.go (v1.34). Upstream cannot
//! tell a kind whose definition comes later from one that never was. No attempt is a request.
//! Inputs: owners as dependents name them, kinds that become known, time. Outputs: owners to look for.

use jiff::Timestamp;

use super::graph::{Item, OwnerReference};
use super::{GarbageCollector, WORKERS};
use crate::components::Deadline;
use crate::components::client::WorkQueue;
use crate::network::kinds::built_in;
use crate::objects::Text;

/// Owners that were never seen, each with the namespace of the dependent that named it first.
#[derive(Clone, Debug, Default)]
pub(super) struct Unmapped(WorkQueue<(OwnerReference, Text)>);

impl Unmapped {
    pub(super) fn add(&mut self, owner: &OwnerReference, dependent: &Item) {
        self.0.add((OwnerReference { blocks: false, ..owner.clone() }, dependent.key.namespace.clone()));
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn next_deadline(&self) -> Option<Deadline> {
        self.0.next_deadline()
    }

    pub(super) fn handle_timeout(&mut self, now: Timestamp) {
        self.0.handle_timeout(now);
    }
}

/// Tells whether a kind is built in; custom ones are known by their definitions.
pub(super) fn is_built_in(owner: &OwnerReference) -> bool {
    built_in(&owner.api_version, &owner.kind).is_some()
}

impl GarbageCollector {
    /// Looks for the owners whose kinds are known by now.
    pub(super) fn try_unmapped(&mut self, now: Timestamp) {
        while self.unmapped.0.working() < WORKERS
            && let Some(owner) = self.unmapped.0.take()
        {
            let place = self.place_of(&owner.0, &owner.1);
            if place.is_none() && !self.graph.has(&owner.0.uid) {
                self.unmapped.0.retry(owner.clone(), now);
            } else {
                self.unmapped.0.forget(&owner);
                let may_own = |kind: usize| !(self.kinds[kind].namespaced && owner.1.is_empty());
                if let Some((kind, key)) = place.filter(|(kind, _)| may_own(*kind)) {
                    self.missing.add((kind, key, owner.0.uid.clone()));
                }
            }
            self.unmapped.0.done(&owner);
        }
    }
}
