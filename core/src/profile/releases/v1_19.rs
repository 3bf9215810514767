//! Kubernetes 1.19: a gate is gone. It is not offered.

use super::*;

const SINCE: Release = Release::new(19, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 19,
    gates: &[
        gate(SINCE, "TaintNodesByCondition", GateStage::Gone),
    ],
    ..NOTHING
};
