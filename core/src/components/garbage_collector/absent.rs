//! The owners that are known to be gone, each as it was named: the same UID under another name, kind or version, or in
//! another namespace, says nothing.
//!
//! Mirrors pkg/controller/garbagecollector/uid_cache.go and `isDangling` beside it (v1.34). Inputs: owners that a read
//! did not find, or whose removal was seen. Outputs: whether the owner that a dependent names is one of them.

use alloc::collections::VecDeque;

use super::MonitoredKind;
use super::graph::OwnerReference;
use super::misplaced::version_of;
use crate::objects::{ObjectKey, Text};

/// Absent owners that are remembered.
/// Source: pkg/controller/garbagecollector/garbagecollector.go (v1.34), `NewReferenceCache(500)`.
const ABSENT_MAX: usize = 500;

/// An owner as it is named; the namespace is empty for one that has none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct OwnerIdentity {
    uid: Text,
    api_version: Text,
    kind: Text,
    key: ObjectKey,
}

impl OwnerIdentity {
    /// Names an object of a kind.
    pub(super) fn new(kind: &MonitoredKind, key: &ObjectKey, uid: &Text) -> Self {
        let api_version = Text::from(version_of(kind));
        Self { uid: uid.clone(), api_version, kind: kind.name.clone(), key: key.clone() }
    }

    /// Tells whether a dependent in a namespace names this owner.
    pub(super) fn is_named_by(&self, owner: &OwnerReference, namespace: &str) -> bool {
        self.uid == owner.uid
            && self.api_version == owner.api_version
            && self.kind == owner.kind
            && self.key.name == owner.name
            && (self.key.namespace.is_empty() || self.key.namespace == *namespace)
    }
}

/// The owners that are gone, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct AbsentOwners(VecDeque<OwnerIdentity>);

impl AbsentOwners {
    pub(super) fn note(&mut self, owner: OwnerIdentity) {
        if !self.0.contains(&owner) {
            self.0.push_back(owner);
        }
        if self.0.len() > ABSENT_MAX {
            self.0.pop_front();
        }
    }

    /// Tells whether the owner that a dependent in a namespace names is known to be gone.
    pub(super) fn has(&self, owner: &OwnerReference, namespace: &str) -> bool {
        self.0.iter().any(|absent| absent.is_named_by(owner, namespace))
    }
}
