//! Kubernetes 1.21, as far as a kubelet of it differs in what it does with swap space. It is not offered for clusters.

use super::*;

const SINCE: Release = Release::new(21, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 21,
    gates: &[gate(SINCE, "GracefulNodeShutdown", BETA)],
    ..NOTHING
};
