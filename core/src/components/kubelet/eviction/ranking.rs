//! Which pod is evicted first.
//!
//! Mirrors `rankMemoryPressure`, `rankDiskPressureFunc` and `rankPIDPressure` of pkg/kubelet/eviction/helpers.go
//! (v1.34). Pure. Inputs: figures of pods. Output: their order.
//! Invariant: the order of pods that are equal by all keys stays.

use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

use super::signals::SignalKind;
use crate::objects::{Object, Text};

/// What was measured of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct PodFigures {
    /// Its working set, in bytes.
    pub(super) memory: i64,
    /// Writable layers, logs and volumes, in bytes.
    pub(super) disk: i64,
    /// The inodes of the same.
    pub(super) inodes: i64,
    /// Its processes.
    pub(super) pids: i64,
    /// Its containers: name, memory, and bytes of its writable layer and logs.
    pub(super) containers: Vec<(Text, i64, i64)>,
    /// The bytes in its volumes, as they were measured last.
    pub(super) volumes: Vec<(Text, i64)>,
}

/// A pod that may be evicted.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) pod: Object,
    pub(super) priority: i64,
    /// What it requests of memory and of the disk, in bytes.
    pub(super) memory_request: i64,
    pub(super) disk_request: i64,
    /// `None` if nothing was measured yet.
    pub(super) figures: Option<PodFigures>,
}

impl Candidate {
    /// Returns what the pod uses of a resource, and its request that this is compared with. For inodes there is no
    /// request, and upstream takes away that of the disk, in bytes.
    fn use_and_requests(&self, kind: SignalKind) -> Option<(i64, i64, i64)> {
        let figures = self.figures.as_ref()?;
        Some(match kind {
            SignalKind::Memory => (figures.memory, self.memory_request, self.memory_request),
            SignalKind::Disk => (figures.disk, self.disk_request, self.disk_request),
            SignalKind::Inodes => (figures.inodes, 0, self.disk_request),
            SignalKind::Pids => (figures.pids, 0, 0),
        })
    }

    fn exceeds(&self, kind: SignalKind) -> Option<bool> {
        self.use_and_requests(kind).map(|(used, request, _)| used > request)
    }

    fn excess(&self, kind: SignalKind) -> Option<i64> {
        self.use_and_requests(kind).map(|(used, _, request)| used.saturating_sub(request))
    }
}

/// Compares two keys so that the larger comes first, and a pod of which nothing is known before all.
fn larger_first<T: Ord>(one: Option<T>, other: Option<T>) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) => Reverse(one).cmp(&Reverse(other)),
        (one, other) => one.is_some().cmp(&other.is_some()),
    }
}

/// Puts the pods in the order in which they are evicted.
pub(super) fn rank(candidates: &mut [Candidate], kind: SignalKind) {
    candidates.sort_by(|one, other| {
        let exceeds = match kind {
            SignalKind::Pids => Ordering::Equal,
            _ => larger_first(one.exceeds(kind), other.exceeds(kind)),
        };
        exceeds
            .then_with(|| one.priority.cmp(&other.priority))
            .then_with(|| larger_first(one.excess(kind), other.excess(kind)))
    });
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    use super::{Candidate, PodFigures, rank};
    use crate::components::kubelet::eviction::signals::SignalKind;
    use crate::json;
    use crate::objects::Object;

    fn candidate(name: &str, priority: i64, request: i64, used: Option<i64>) -> Candidate {
        let figures = |used| PodFigures { memory: used, disk: used, inodes: used, pids: used, ..PodFigures::default() };
        Candidate {
            pod: Object::new(json!({"metadata": {"name": name}}), 1),
            priority,
            memory_request: request,
            disk_request: request,
            figures: used.map(figures),
        }
    }

    fn order(kind: SignalKind, mut candidates: Vec<Candidate>) -> Vec<String> {
        rank(&mut candidates, kind);
        candidates.iter().map(|own| own.pod.name().to_string()).collect()
    }

    #[test]
    fn who_uses_more_than_it_asked_for_goes_first_then_the_least_important_then_the_greediest() {
        let pods = || {
            Vec::from([
                candidate("modest", -5, 100, Some(90)),
                candidate("equal", 0, 100, Some(100)),
                candidate("over", 0, 100, Some(110)),
                candidate("far-over", 0, 100, Some(200)),
                candidate("important", 10, 0, Some(900)),
                candidate("unknown", 10, 0, None),
            ])
        };
        let expected = ["unknown", "far-over", "over", "important", "modest", "equal"];
        assert_eq!(order(SignalKind::Memory, pods()), expected);
        assert_eq!(order(SignalKind::Disk, pods()), expected);
        // No request for inodes: any use is too much; bytes are taken from a count of inodes.
        let expected = ["unknown", "modest", "far-over", "over", "equal", "important"];
        assert_eq!(order(SignalKind::Inodes, pods()), expected);
        let expected = ["modest", "far-over", "over", "equal", "unknown", "important"];
        assert_eq!(order(SignalKind::Pids, pods()), expected);
    }
}
