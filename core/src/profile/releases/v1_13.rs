//! Kubernetes 1.13: NoExecute taints take the place of direct eviction. It is not offered.

use super::*;

const SINCE: Release = Release::new(13, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 13,
    gates: &[
        gate(SINCE, "TaintBasedEvictions", BETA),
    ],
    ..NOTHING
};
