//! Kubernetes 1.23, as far as is known what a kubelet of it does. It is not offered for clusters.

use super::*;

const SINCE: Release = Release::new(23, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 23,
    gates: &[gate(SINCE, "GracefulNodeShutdownBasedOnPodPriority", ALPHA)],
    ..NOTHING
};
