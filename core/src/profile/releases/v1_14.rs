//! Kubernetes 1.14: Leases are signs of life. It is not offered.

use super::*;

const SINCE: Release = Release::new(14, 0);

pub(super) const DATA: ReleaseData =
    ReleaseData { minor: 14, gates: &[gate(SINCE, "NodeLease", BETA)], ..NOTHING };
