//! Kubernetes 1.22, as far as a kubelet of it differs in what it does with swap space. It is not offered for clusters.

use super::*;

const SINCE: Release = Release::new(22, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 22,
    gates: &[gate(SINCE, "NodeSwap", ALPHA)],
    ..NOTHING
};
