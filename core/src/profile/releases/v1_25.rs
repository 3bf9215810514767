//! Kubernetes 1.25, which is not offered for clusters: ready nodes that keep their volumes.

use super::*;

const SINCE: Release = Release::new(25, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 25,
    rows: &[row(SINCE, "ready-nodes-keep-volumes", YES, "")],
    gates: &[gate(SINCE, "PodDisruptionConditions", ALPHA)],
    ..NOTHING
};
