//! The rows of the election of leaders.

use super::Release;
use super::release::OLDEST;
use super::row::Row;
use super::value::{Value, secs};

/// Of the election of leaders. A real program elects one unless told otherwise; here one process of each runs, and does
/// not unless the flag says so.
pub(super) const LEADER_ELECTION: [Row; 8] = [
    Row {
        name: "leader-elect",
        says: "kube-controller-manager works while it holds its Lease, and ends where it cannot renew it",
        first: OFF,
        source: "k8s.io/component-base config/v1alpha1/defaults.go (v1.34), where it is true",
        flag: "kube-controller-manager.leader-elect",
    },
    election_time("leader-elect-lease-duration", LEASE_DURATION, "kube-controller-manager.leader-elect-lease-duration"),
    election_time("leader-elect-renew-deadline", RENEW_DEADLINE, "kube-controller-manager.leader-elect-renew-deadline"),
    election_time("leader-elect-retry-period", RETRY_PERIOD, "kube-controller-manager.leader-elect-retry-period"),
    Row {
        name: "scheduler-leader-elect",
        says: "kube-scheduler works while it holds its Lease, and ends where it cannot renew it",
        first: OFF,
        source: "k8s.io/component-base config/v1alpha1/defaults.go (v1.34), where it is true",
        flag: "kube-scheduler.leader-elect",
    },
    election_time(
        "scheduler-leader-elect-lease-duration",
        LEASE_DURATION,
        "kube-scheduler.leader-elect-lease-duration",
    ),
    election_time(
        "scheduler-leader-elect-renew-deadline",
        RENEW_DEADLINE,
        "kube-scheduler.leader-elect-renew-deadline",
    ),
    election_time("scheduler-leader-elect-retry-period", RETRY_PERIOD, "kube-scheduler.leader-elect-retry-period"),
];

const OFF: Since = &[(OLDEST, Value::Bool(false))];
type Since = &'static [(Release, Value)];
const LEASE_DURATION: Since = &[(OLDEST, secs(15))];
const RENEW_DEADLINE: Since = &[(OLDEST, secs(10))];
const RETRY_PERIOD: Since = &[(OLDEST, secs(2))];

const fn election_time(name: &'static str, first: Since, flag: &'static str) -> Row {
    let says = "a time of the election of a leader: how long others take its Lease for held, how long it tries to \
        renew it before it ends, the pause between two tries";
    let source =
        "k8s.io/component-base config/v1alpha1/defaults.go (v1.34), RecommendedDefaultLeaderElectionConfiguration";
    Row { name, says, first, source, flag }
}
