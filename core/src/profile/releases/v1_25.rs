//! Kubernetes 1.25, as far as a kubelet of it differs in what it does with swap space. It is not offered for clusters.

use super::*;

const SINCE: Release = Release::new(25, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 25,
    rows: &[row(
        SINCE,
        "swap-behaviour-refusal",
        Value::Text("memorySwap.swapBehavior \"{}\" must be one of: \"\", \"LimitedSwap\", or \"UnlimitedSwap\""),
        "",
    )],
    ..NOTHING
};
