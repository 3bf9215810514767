//! Kubernetes 1.21, as far as is known what a kubelet of it does. It is not offered for clusters.

use super::*;

const SINCE: Release = Release::new(21, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 21,
    gates: &[gate(SINCE, "GracefulNodeShutdown", BETA), gate(SINCE, "TaintBasedEvictions", GateStage::Gone)],
    ..NOTHING
};
