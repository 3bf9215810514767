//! Kubernetes 1.28, which is not offered for clusters: what a kubelet of it does with swap space, and the locked gate
//! of nodes out of service.

use super::*;

const SINCE: Release = Release::new(28, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 28,
    rows: &[
        row(
            SINCE,
            "limited-swap-is-a-share",
            YES,
            "pkg/kubelet/kuberuntime/kuberuntime_container_linux.go (v1.27, v1.28), ConfigureLimitedSwap",
        ),
        row(
            SINCE,
            "no-swap-without-gate",
            YES,
            "pkg/kubelet/kuberuntime/kuberuntime_container_linux.go (v1.26, v1.28), configureContainerSwapResources",
        ),
    ],
    gates: &[gate(SINCE, "NodeOutOfServiceVolumeDetach", LOCKED), gate(SINCE, "NodeSwap", BETA_OFF)],
    ..NOTHING
};
