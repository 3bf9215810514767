//! Kubernetes 1.33: what is first true in it.

use super::*;

const SINCE: Release = Release::new(33, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 33,
    rows: &[
        row(SINCE, "ambiguous-cidrs-warn", YES, ""),
        row(
            SINCE,
            "shortened-grace-ends-now",
            YES,
            "k8s.io/apiserver pkg/registry/rest/delete.go (v0.33.0; not in v0.32.0), BeforeDelete",
        ),
        row(SINCE, "version-tells-emulation", YES, "k8s.io/apimachinery pkg/version/types.go (v1.34)"),
        row(
            SINCE,
            "health-has-service-cidrs",
            YES,
            "pkg/controlplane/instance.go (v1.34), with MultiCIDRServiceAllocator",
        ),
        row(SINCE, "watch-list", NO, ""),
        row(
            SINCE,
            "namespace-deletes-pods-first",
            YES,
            "pkg/features/kube_features.go (v1.33), OrderedNamespaceDeletion; KEP 5080",
        ),
        row(SINCE, "pod-generation", YES, "pkg/registry/core/pod/strategy.go (v1.33); KEP 5067"),
        row(
            SINCE,
            "daemon-set-wakes-for-pods",
            YES,
            "pkg/controller/daemon/daemon_controller.go (v1.31 updateNode, v1.34 syncNodeUpdate)",
        ),
        row(
            SINCE,
            "taint-eviction-leaves-tombstones",
            NO,
            "pkg/controller/tainteviction/timed_workers.go (v1.32, v1.33), getWrappedWorkerFunc",
        ),
        row(SINCE, "kube-proxy-version-in-status", NO, ""),
        row(SINCE, "swap-capacity-in-status", YES, "pkg/kubelet/nodestatus/setters.go (v1.33), MachineInfo"),
        row(
            SINCE,
            "container-resources-in-status",
            YES,
            "pkg/features/kube_features.go (v1.33), gate InPlacePodVerticalScaling",
        ),
        row(
            SINCE,
            "node-tokens-for-audiences-of-pods",
            YES,
            "pkg/features/kube_features.go (v1.34), ServiceAccountNodeAudienceRestriction",
        ),
        row(
            SINCE,
            "scheduler-pops-from-backoff",
            YES,
            "pkg/features/kube_features.go (v1.34), SchedulerPopFromBackoffQ",
        ),
        row(
            SINCE,
            "scheduler-preempts-beside-attempts",
            YES,
            "pkg/features/kube_features.go (v1.34), SchedulerAsyncPreemption",
        ),
    ],
    gates: &[
        gate(SINCE, "CPUManagerPolicyOptions", STABLE),
        gate(SINCE, "DeploymentReplicaSetTerminatingReplicas", ALPHA),
        gate(SINCE, "DisableNodeKubeProxyVersion", Stage::Deprecated(true)),
        gate(SINCE, "InPlacePodVerticalScaling", BETA),
        gate(SINCE, "KubeletFineGrainedAuthz", BETA),
        gate(SINCE, "PodObservedGenerationTracking", ALPHA),
        gate(SINCE, "RecursiveReadOnlyMounts", LOCKED),
        gate(SINCE, "SchedulerAsyncPreemption", BETA),
        gate(SINCE, "SchedulerPopFromBackoffQ", BETA),
        gate(SINCE, "SupplementalGroupsPolicy", BETA),
        gate(SINCE, "UserNamespacesSupport", BETA),
    ],
    fields: "\
ContainerStatus + stopSignal:str*\n\
PodCondition + observedGeneration:int\n\
PodStatus + observedGeneration:int\n\
",
    columns: &[
        Described(
            "replicasets",
            "Desired",
            "Replicas is the number of desired pods. This is a pointer to distinguish between explicit zero and \
             unspecified. Defaults to 1. More info: \
             https://kubernetes.io/docs/concepts/workloads/controllers/replicaset",
        ),
        Described(
            "replicasets",
            "Current",
            "Replicas is the most recently observed number of non-terminating pods. More info: \
             https://kubernetes.io/docs/concepts/workloads/controllers/replicaset",
        ),
        Described(
            "replicasets",
            "Ready",
            "The number of non-terminating pods targeted by this ReplicaSet with a Ready Condition.",
        ),
    ],
    ..NOTHING
};
