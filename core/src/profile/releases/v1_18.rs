//! Kubernetes 1.18: NoExecute taints take the place of direct eviction, for good. It is not offered.

use super::*;

const SINCE: Release = Release::new(18, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 18,
    gates: &[
        gate(SINCE, "TaintBasedEvictions", LOCKED),
    ],
    ..NOTHING
};
