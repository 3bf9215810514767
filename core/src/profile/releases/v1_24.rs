//! Kubernetes 1.24, which is not offered for clusters: what a kubelet of it does, and nodes that are out of service,
//! behind a gate.

use super::*;

const SINCE: Release = Release::new(24, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 24,
    rows: &[row(
        SINCE,
        "swap-behaviour-refusal",
        Value::Text("memorySwap.swapBehavior \"{}\" must be one of: \"\", \"LimitedSwap\", or \"UnlimitedSwap\""),
        "",
    )],
    gates: &[
        gate(SINCE, "GracefulNodeShutdownBasedOnPodPriority", BETA),
        gate(SINCE, "NodeOutOfServiceVolumeDetach", ALPHA),
    ],
    ..NOTHING
};
