//! Kubernetes 1.17: conditions become NoSchedule taints and Leases are signs of life, for good. It is not offered.

use super::*;

const SINCE: Release = Release::new(17, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 17,
    gates: &[
        gate(SINCE, "NodeLease", LOCKED),
        gate(SINCE, "TaintNodesByCondition", LOCKED),
    ],
    ..NOTHING
};
