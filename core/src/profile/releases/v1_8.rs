//! Kubernetes 1.8: the gate with which conditions become NoSchedule taints. It is not offered.

use super::*;

const SINCE: Release = Release::new(8, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 8,
    gates: &[
        gate(SINCE, "TaintNodesByCondition", ALPHA),
    ],
    ..NOTHING
};
