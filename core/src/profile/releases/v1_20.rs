//! Kubernetes 1.20, as far as is known what a kubelet of it does. It is not offered for clusters.

use super::*;

const SINCE: Release = Release::new(20, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 20,
    gates: &[gate(SINCE, "GracefulNodeShutdown", ALPHA)],
    ..NOTHING
};
