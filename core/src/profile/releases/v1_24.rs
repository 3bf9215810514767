//! Kubernetes 1.24, as far as a kubelet of it differs in what it does with swap space. It is not offered for clusters.

use super::*;

const SINCE: Release = Release::new(24, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 24,
    gates: &[gate(SINCE, "GracefulNodeShutdownBasedOnPodPriority", BETA)],
    ..NOTHING
};
