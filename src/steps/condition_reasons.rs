//! Which status of which condition each reason comes with.
//!
//! A reason of Kubernetes says more than one word: `KubeletReady` stands with `Ready=True` alone. A line that asks for
//! another pair can never be true, and never fails where it says that something does not happen.

use super::own_names::OwnNames;

/// A reason, the conditions that it comes with (empty for all), and their status.
type Pair = (&'static str, &'static [&'static str], &'static str);

/// Source (v1.34 unless said otherwise): pkg/kubelet/nodestatus/setters.go (`OutOfDisk` to v1.12),
/// pkg/controller/nodelifecycle/node_lifecycle_controller.go, k8s.io/cloud-provider controllers/route.
const OF_NODES: &[Pair] = &[
    ("KubeletReady", &["Ready"], "True"),
    ("KubeletNotReady", &["Ready"], "False"),
    ("KubeletHasSufficientMemory", &["MemoryPressure"], "False"),
    ("KubeletHasInsufficientMemory", &["MemoryPressure"], "True"),
    ("KubeletHasNoDiskPressure", &["DiskPressure"], "False"),
    ("KubeletHasDiskPressure", &["DiskPressure"], "True"),
    ("KubeletHasSufficientPID", &["PIDPressure"], "False"),
    ("KubeletHasInsufficientPID", &["PIDPressure"], "True"),
    ("KubeletHasSufficientDisk", &["OutOfDisk"], "False"),
    ("KubeletOutOfDisk", &["OutOfDisk"], "True"),
    ("NodeStatusUnknown", &[], "Unknown"),
    ("NodeStatusNeverUpdated", &[], "Unknown"),
    ("RouteCreated", &["NetworkUnavailable"], "False"),
    ("NoRouteCreated", &["NetworkUnavailable"], "True"),
];

/// Source (v1.34): pkg/scheduler/schedule_one.go, pkg/registry/core/pod/strategy.go, pkg/kubelet/status/generate.go,
/// pkg/controller (tainteviction, podgc), pkg/registry/core/pod/storage/eviction.go.
const OF_PODS: &[Pair] = &[
    ("Unschedulable", &["PodScheduled"], "False"),
    ("SchedulingGated", &["PodScheduled"], "False"),
    ("SchedulerError", &["PodScheduled"], "False"),
    ("ContainersNotReady", &["Ready", "ContainersReady"], "False"),
    ("ContainersNotInitialized", &["Initialized"], "False"),
    ("PodSandboxNotReady", &["PodReadyToStartContainers"], "False"),
    ("ReadinessGatesNotReady", &["Ready"], "False"),
    ("DeletionByTaintManager", &["DisruptionTarget"], "True"),
    ("DeletionByPodGC", &["DisruptionTarget"], "True"),
    ("EvictionByEvictionAPI", &["DisruptionTarget"], "True"),
    ("PreemptionByScheduler", &["DisruptionTarget"], "True"),
    ("TerminationByKubelet", &["DisruptionTarget"], "True"),
];

/// Refuses a condition with a reason that never comes with it, unless the scenario itself says the reason: returns the
/// reason, what is wrong, and what would be right.
pub(super) fn never_together(
    kind: &str,
    [condition, status, reason]: [&str; 3],
    own: &OwnNames,
) -> Option<[String; 3]> {
    let rows = match kind {
        "Node" => OF_NODES,
        "Pod" => OF_PODS,
        _ => return None,
    };
    let (_, conditions, right) = rows.iter().find(|(known, ..)| *known == reason)?;
    let fits = *right == status && (conditions.is_empty() || conditions.contains(&condition));
    if fits || own.sets(reason) {
        return None;
    }
    let whole: Vec<String> = match conditions {
        [] => vec![format!("{condition}={right}")],
        some => some.iter().map(|name| format!("{name}={right}")).collect(),
    };
    let whole = whole.join(" or ");
    Some([
        reason.to_owned(),
        format!("the reason {reason} comes with {whole}, and never with {condition}={status}"),
        format!("condition {whole}, reason {reason:?}"),
    ])
}

#[cfg(test)]
mod tests {
    use super::super::known_names::{conditions_of, reasons_of};
    use super::*;

    #[test]
    fn a_reason_of_another_status_or_condition_is_refused() {
        let of = |kind: &str, condition: &str, status: &str, reason: &str| {
            never_together(kind, [condition, status, reason], &OwnNames::default()).map(|[_, message, _]| message)
        };
        let refused = "the reason KubeletReady comes with Ready=True, and never with Ready=False";
        assert_eq!(of("Node", "Ready", "False", "KubeletReady").as_deref(), Some(refused));
        assert_eq!(of("Node", "Ready", "True", "KubeletReady"), None);
        assert_eq!(of("Node", "DiskPressure", "Unknown", "NodeStatusUnknown"), None);
        assert!(of("Node", "DiskPressure", "True", "NodeStatusUnknown").is_some());
        let either = "the reason ContainersNotReady comes with Ready=False or ContainersReady=False, and never with \
                      Ready=True";
        assert_eq!(of("Pod", "Ready", "True", "ContainersNotReady").as_deref(), Some(either));
        assert_eq!(never_together("Node", ["Ready", "False", "KubeletReady"], &OwnNames::with("KubeletReady")), None);
    }

    #[test]
    fn what_is_told_here_are_names_of_kubernetes() {
        for (kind, rows) in [("Node", OF_NODES), ("Pod", OF_PODS)] {
            for (reason, conditions, _) in rows {
                assert!(reasons_of(kind).contains(reason), "{reason}");
                assert!(conditions.iter().all(|name| conditions_of(kind).contains(name)), "{conditions:?}");
            }
        }
    }
}
