//! Kubernetes 1.31, the oldest release that is offered: what came with it, and the feature gates as it has them.
//!
//! What is older is in the tables that the releases change: first values in `profile/rows.rs`, types in
//! `objects/schema/types.rs`, roles in `api_server/rbac_policy.rs`, columns in
//! `api_server/content_negotiation/columns.rs`.

use super::*;

const SINCE: Release = Release::new(31, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 31,
    patch: Some(0),
    node_image: "kindest/node:v1.31.0",
    rows: &[
        row(
            SINCE,
            "cpu-manager-options",
            Value::Text(
                "align-by-socket=Alpha,distribute-cpus-across-cores=Alpha,\
                 distribute-cpus-across-numa=Alpha,full-pcpus-only=Beta",
            ),
            "pkg/kubelet/cm/cpumanager/policy_options.go (v1.31)",
        ),
        row(SINCE, "kube-proxy-version-in-status", NO, ""),
        row(Release::new(31, 1), "kube-proxy-version-in-status", YES, ""),
        row(
            SINCE,
            "cgroup-v1-warning",
            Value::Text("Cgroup v1 support is in maintenance mode, please migrate to Cgroup v2."),
            "",
        ),
        row(
            SINCE,
            "swap-refusal",
            Value::Text(
                "running with swap on is not supported, please disable swap or set --fail-swap-on flag to false",
            ),
            "",
        ),
        row(
            SINCE,
            "volumes-in-memory-do-not-swap",
            YES,
            "pkg/kubelet/cm/container_manager_linux.go (v1.30, v1.31), NewContainerManager",
        ),
        row(
            SINCE,
            "critical-pods-do-not-swap",
            YES,
            "pkg/kubelet/kuberuntime/kuberuntime_container_linux.go (v1.30, v1.31), GetContainerSwapBehavior",
        ),
        row(
            SINCE,
            "scheduler-victim-gets-preemptors-status",
            YES,
            "pkg/scheduler/framework/preemption/preemption.go (v1.31.0, v1.34), prepareCandidate",
        ),
        row(Release::new(31, 12), "nodes-keep-their-owner-references", YES, ""),
    ],
    gates: &[
        gate(SINCE, "CPUManager", LOCKED),
        gate(SINCE, "CPUManagerPolicyOptions", BETA),
        gate(SINCE, "CloudDualStackNodeIPs", LOCKED),
        gate(SINCE, "ClusterTrustBundleProjection", ALPHA),
        gate(SINCE, "DisableCloudProviders", LOCKED),
        gate(SINCE, "DisableKubeletCloudCredentialProviders", LOCKED),
        gate(SINCE, "DisableNodeKubeProxyVersion", BETA),
        gate(Release::new(31, 1), "DisableNodeKubeProxyVersion", GateStage::Deprecated(false)),
        gate(SINCE, "DynamicResourceAllocation", ALPHA),
        gate(SINCE, "ImageVolume", ALPHA),
        gate(SINCE, "InPlacePodVerticalScaling", ALPHA),
        gate(SINCE, "JobPodReplacementPolicy", BETA),
        gate(SINCE, "KubeletCgroupDriverFromCRI", BETA),
        gate(SINCE, "KubeletInUserNamespace", ALPHA),
        gate(SINCE, "KubeletSeparateDiskGC", BETA),
        gate(SINCE, "MaxUnavailableStatefulSet", ALPHA),
        gate(SINCE, "MemoryManager", BETA),
        gate(SINCE, "MemoryQoS", ALPHA),
        gate(SINCE, "PDBUnhealthyPodEvictionPolicy", LOCKED),
        gate(SINCE, "PodDisruptionConditions", LOCKED),
        gate(SINCE, "PodReadyToStartContainersCondition", BETA),
        gate(SINCE, "ProcMountType", BETA_OFF),
        gate(SINCE, "RecoverVolumeExpansionFailure", ALPHA),
        gate(SINCE, "RecursiveReadOnlyMounts", BETA),
        gate(SINCE, "ResourceHealthStatus", ALPHA),
        gate(SINCE, "SchedulerQueueingHints", BETA_OFF),
        gate(SINCE, "SeparateTaintEvictionController", BETA),
        gate(SINCE, "StableLoadBalancerNodeSet", LOCKED),
        gate(SINCE, "SupplementalGroupsPolicy", ALPHA),
        gate(SINCE, "TopologyManagerPolicyAlphaOptions", ALPHA),
        gate(SINCE, "TopologyManagerPolicyBetaOptions", BETA),
        gate(SINCE, "TopologyManagerPolicyOptions", BETA),
        gate(SINCE, "UserNamespacesSupport", BETA_OFF),
    ],
    fields: "ObjectMeta + creationTimestamp:time\n",
    ..NOTHING
};
