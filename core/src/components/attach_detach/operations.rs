//! The operations under way, one for each volume, and the pauses after those that failed.
//!
//! Mirrors pkg/volume/util/nestedpendingoperations and pkg/util/goroutinemap/exponentialbackoff (v1.34). Inputs: begins
//! and ends, time. Outputs: whether another one may begin. Invariant: a volume that only one node may have has one
//! operation under way in the whole cluster.

use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use crate::objects::Text;

/// Source: exponential_backoff.go (v1.34), `initialDurationBeforeRetry`.
const PAUSE_FIRST: SignedDuration = SignedDuration::from_millis(500);
/// Source: exponential_backoff.go (v1.34), `maxDurationBeforeRetry`.
const PAUSE_MAX: SignedDuration = SignedDuration::from_secs(122);

/// The kind of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OperationKind {
    Attach,
    Detach,
}

/// What an operation is about: a volume, and the node if several may have the volume.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct OperationKey {
    pub(super) volume: Text,
    pub(super) node: Option<Text>,
}

impl OperationKey {
    fn meets(&self, other: &Self) -> bool {
        self.volume == other.volume && (self.node.is_none() || other.node.is_none() || self.node == other.node)
    }
}

#[derive(Clone, Debug)]
struct VolumeOperation {
    key: OperationKey,
    kind: OperationKind,
    is_pending: bool,
    failed_at: Option<Timestamp>,
    pause: SignedDuration,
}

impl VolumeOperation {
    fn is_pausing(&self, now: Timestamp) -> bool {
        self.failed_at.is_some_and(|at| now.duration_since(at) <= self.pause)
    }
}

/// The operations.
#[derive(Clone, Debug, Default)]
pub(super) struct Operations(Vec<VolumeOperation>);

impl Operations {
    /// Finds the operation that counts for a key: a pending one, else the one of exactly this key, else the first.
    fn find(&self, key: &OperationKey) -> Option<usize> {
        let met = || self.0.iter().enumerate().filter(|(_, own)| own.key.meets(key));
        let pending = met().find(|(_, own)| own.is_pending);
        pending.or_else(|| met().rfind(|(_, own)| own.key == *key)).or_else(|| met().next()).map(|(at, _)| at)
    }

    pub(super) fn is_pending(&self, key: &OperationKey) -> bool {
        self.find(key).is_some_and(|at| self.0[at].is_pending)
    }

    /// Tells whether an operation may begin: none is under way, and none of its kind failed just now.
    pub(super) fn may_begin(&self, key: &OperationKey, kind: OperationKind, now: Timestamp) -> bool {
        let Some(own) = self.find(key).map(|at| &self.0[at]) else { return true };
        !(own.is_pending || own.kind == kind && own.is_pausing(now))
    }

    /// Begins an operation; false if it may not begin.
    pub(super) fn begin(&mut self, key: OperationKey, kind: OperationKind, now: Timestamp) -> bool {
        if !self.may_begin(&key, kind, now) {
            return false;
        }
        match self.find(&key) {
            Some(at) => {
                let own = &mut self.0[at];
                if own.is_pausing(now) {
                    (own.failed_at, own.pause) = (None, SignedDuration::ZERO);
                }
                own.kind = kind;
                own.is_pending = true;
                own.key = key;
            }
            None => {
                let pause = SignedDuration::ZERO;
                self.0.push(VolumeOperation { key, kind, is_pending: true, failed_at: None, pause });
            }
        }
        true
    }

    /// Ends an operation.
    pub(super) fn end(&mut self, key: &OperationKey, is_done: bool, now: Timestamp) {
        let Some(at) = self.0.iter().position(|own| own.key == *key) else { return };
        if is_done {
            self.0.remove(at);
            return;
        }
        let own = &mut self.0[at];
        own.is_pending = false;
        own.pause = if own.pause.is_zero() { PAUSE_FIRST } else { (own.pause * 2).min(PAUSE_MAX) };
        own.failed_at = Some(now);
    }

    /// Returns the ends of the pauses after operations that failed and were not begun again.
    pub(super) fn pauses(&self) -> impl Iterator<Item = Timestamp> {
        let failed = self.0.iter().filter(|own| !own.is_pending);
        failed.filter_map(|own| own.failed_at.map(|at| at + own.pause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(node: Option<&'static str>) -> OperationKey {
        OperationKey { volume: Text::of("v"), node: node.map(Text::of) }
    }

    #[test]
    fn a_volume_of_one_node_has_one_operation_and_a_shared_one_has_one_for_each_node() {
        let (mut operations, now) = (Operations::default(), Timestamp::UNIX_EPOCH);
        assert!(operations.begin(key(None), OperationKind::Attach, now));
        assert!(!operations.begin(key(Some("w1")), OperationKind::Attach, now));
        operations.end(&key(None), true, now);
        assert!(operations.begin(key(Some("w1")), OperationKind::Attach, now));
        assert!(operations.begin(key(Some("w2")), OperationKind::Attach, now));
        assert!(operations.is_pending(&key(Some("w1"))) && operations.is_pending(&key(None)));
    }

    #[test]
    fn the_pause_doubles_and_holds_for_one_kind_of_operation() {
        let (mut operations, start) = (Operations::default(), Timestamp::UNIX_EPOCH);
        let mut now = start;
        for pause in [500, 1_000, 2_000] {
            assert!(operations.begin(key(None), OperationKind::Attach, now));
            operations.end(&key(None), false, now);
            now += SignedDuration::from_millis(pause);
            assert!(!operations.may_begin(&key(None), OperationKind::Attach, now));
            assert!(operations.may_begin(&key(None), OperationKind::Detach, now));
            let end = now;
            assert_eq!(operations.pauses().next(), Some(end));
            now += SignedDuration::from_millis(1);
            // The round that tries again comes up to 100 ms later, and other inputs may come before it.
            assert_eq!(operations.pauses().next(), Some(end));
        }
        assert!(operations.begin(key(None), OperationKind::Attach, now));
    }
}
