//! Kubernetes 1.6: the gate with which NoExecute taints take the place of direct eviction. It is not offered.

use super::*;

const SINCE: Release = Release::new(6, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 6,
    gates: &[
        gate(SINCE, "TaintBasedEvictions", ALPHA),
    ],
    ..NOTHING
};
