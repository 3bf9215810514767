//! The workers of a kubelet's pods, with the active ones apart from those at rest.
//!
//! Mirrors `podSyncStatuses` (pkg/kubelet/pod_workers.go, v1.34), which keeps ended pods until they are deleted.
//! Inputs: workers and time. Outputs: the workers, and when the next one is due. Invariant: a worker at rest has ended
//! and waits for nothing, so that a round over the active pods does not cost more with each ended pod; a mutable borrow
//! of a worker makes it active.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use jiff::Timestamp;

use super::Worker;
use crate::objects::{ObjectKey, Text};

/// Workers by the UIDs of their pods.
#[derive(Clone, Debug, Default)]
pub(super) struct Workers {
    all: BTreeMap<Text, Worker>,
    active: BTreeSet<Text>,
}

impl Workers {
    pub(super) fn contains_key(&self, uid: &Text) -> bool {
        self.all.contains_key(uid)
    }

    pub(super) fn get(&self, uid: &Text) -> Option<&Worker> {
        self.all.get(uid)
    }

    /// Returns a worker to change, and makes it active.
    pub(super) fn get_mut(&mut self, uid: &Text) -> Option<&mut Worker> {
        let worker = self.all.get_mut(uid)?;
        if !self.active.contains(uid) {
            self.active.insert(uid.clone());
        }
        Some(worker)
    }

    pub(super) fn insert(&mut self, uid: Text, worker: Worker) {
        self.active.insert(uid.clone());
        self.all.insert(uid, worker);
    }

    pub(super) fn remove(&mut self, uid: &Text) {
        self.active.remove(uid);
        self.all.remove(uid);
    }

    /// Returns the UID of a static pod of a name.
    pub(super) fn named(&self, key: &ObjectKey) -> Option<Text> {
        let own = self.all.iter().filter(|(_, worker)| super::is_static(&worker.object));
        own.filter(|(_, worker)| worker.object.key() == *key).map(|(uid, _)| uid.clone()).next()
    }

    /// Returns the UIDs of all pods.
    pub(super) fn uids(&self) -> Vec<Text> {
        self.all.keys().cloned().collect()
    }

    /// Returns the UIDs of the active pods.
    pub(super) fn active_uids(&self) -> Vec<Text> {
        self.active.iter().cloned().collect()
    }

    /// Returns the active workers.
    pub(super) fn active(&self) -> impl Iterator<Item = &Worker> {
        self.active.iter().filter_map(|uid| self.all.get(uid))
    }

    /// Puts workers that have nothing to do to rest; returns when the next of the others is due.
    pub(super) fn settle(&mut self, now: Timestamp) -> Option<Timestamp> {
        let mut due: Option<Timestamp> = None;
        let all = &self.all;
        self.active.retain(|uid| {
            let Some(worker) = all.get(uid) else { return false };
            let next = worker.next(now);
            due = due.into_iter().chain(next).min();
            next.is_some() || !worker.is_idle()
        });
        due
    }
}
