//! Kubernetes 1.12: conditions become NoSchedule taints. It is not offered.

use super::*;

const SINCE: Release = Release::new(12, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 12,
    gates: &[
        gate(SINCE, "CustomCPUCFSQuotaPeriod", ALPHA),
        gate(SINCE, "NodeLease", ALPHA),
        gate(SINCE, "RotateKubeletServerCertificate", BETA),
        gate(SINCE, "TaintNodesByCondition", BETA),
    ],
    ..NOTHING
};
