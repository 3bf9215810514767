//! Kubernetes 1.26, which is not offered for clusters: the gates of nodes out of service and of
//! disruptions that Pods tell are on.

use super::*;

const SINCE: Release = Release::new(26, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 26,
    rows: &[row(SINCE, "out-of-service-nodes-give-up-volumes", YES, "")],
    gates: &[gate(SINCE, "NodeOutOfServiceVolumeDetach", BETA), gate(SINCE, "PodDisruptionConditions", BETA)],
    ..NOTHING
};
