//! Kubernetes 1.30, as far as a kubelet of it differs in what it does with swap space. It is not offered for clusters.

use super::*;

const SINCE: Release = Release::new(30, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 30,
    rows: &[
        row(
            SINCE,
            "app-armor-is-a-field",
            YES,
            "pkg/features/kube_features.go (v1.30), AppArmorFields",
        ),
        row(
            SINCE,
            "swap-behaviour-refusal",
            Value::Text("memorySwap.swapBehavior \"{}\" must be one of: \"\", \"LimitedSwap\" or \"NoSwap\""),
            "",
        ),
        row(SINCE, "limited-swap-needs-cgroups-2", YES, "cmd/kubelet/app/server.go (v1.29, v1.30), run"),
        row(
            SINCE,
            "pods-do-not-swap-by-default",
            YES,
            "pkg/kubelet/kuberuntime/kuberuntime_container_linux.go (v1.29, v1.30), configureContainerSwapResources",
        ),
    ],
    gates: &[gate(SINCE, "NodeSwap", BETA)],
    ..NOTHING
};
