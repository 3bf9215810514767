//! Kubernetes 1.28, as far as a kubelet of it differs in what it does with swap space. It is not offered for clusters.

use super::*;

const SINCE: Release = Release::new(28, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 28,
    rows: &[row(
        SINCE,
        "limited-swap-is-a-share",
        YES,
        "pkg/kubelet/kuberuntime/kuberuntime_container_linux.go (v1.27, v1.28), ConfigureLimitedSwap",
    )],
    gates: &[gate(SINCE, "NodeSwap", BETA_OFF)],
    ..NOTHING
};
