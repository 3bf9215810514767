//! Kubernetes 1.20, as far as a kubelet of it differs in what it does with swap space. It is not offered for clusters.

use super::*;

const SINCE: Release = Release::new(20, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 20,
    gates: &[gate(SINCE, "GracefulNodeShutdown", ALPHA)],
    ..NOTHING
};
