//! Kubernetes 1.25, which is not offered for clusters: what a kubelet of it does with swap space, and ready nodes that
//! keep their volumes.

use super::*;

const SINCE: Release = Release::new(25, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 25,
    rows: &[
        row(SINCE, "ready-nodes-keep-volumes", YES, ""),
        row(
            SINCE,
            "swap-behaviour-refusal",
            Value::Text("memorySwap.swapBehavior \"{}\" must be one of: \"\", \"LimitedSwap\", or \"UnlimitedSwap\""),
            "",
        ),
    ],
    gates: &[gate(SINCE, "PodDisruptionConditions", ALPHA)],
    ..NOTHING
};
