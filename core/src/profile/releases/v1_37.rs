//! Kubernetes 1.37: what is first true in it.

use super::*;

const SINCE: Release = Release::new(37, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 37,
    patch: Some(2),
    rows: &[
        row(
            SINCE,
            "silent-nodes-leases-are-read",
            YES,
            "pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.36, v1.37), tryUpdateNodeHealth; KEP-5647",
        ),
        row(
            SINCE,
            "scheduler-tells-victims",
            YES,
            "pkg/scheduler/framework/preemption/preemption.go (v1.36, v1.37), Preempt",
        ),
        row(SINCE, "scheduler-wakes-for-any-taint", NO, "pkg/scheduler/scheduler.go (v1.37), buildQueueingHintMap"),
        row(
            SINCE,
            "scheduler-anti-affinity-hint-heeds-any-term",
            YES,
            "pkg/scheduler/framework/plugins/interpodaffinity/plugin.go (v1.36, v1.37)",
        ),
        row(
            SINCE,
            "scheduler-turns-unstarted-victims-round",
            NO,
            "pkg/scheduler/framework/preemption/types.go (v1.36, v1.37), NewVictim",
        ),
        row(
            SINCE,
            "stateful-sets-replace-unavailable-first",
            YES,
            "pkg/controller/statefulset/stateful_set_control.go (v1.36, v1.37)",
        ),
        row(
            SINCE,
            "stateful-set-status-is-carried-on",
            YES,
            "pkg/controller/statefulset/stateful_set_utils.go (v1.36, v1.37), completeUpdate",
        ),
        row(
            SINCE,
            "taken-volume-event",
            Value::Text("Waiting for detach"),
            "pkg/controller/volume/attachdetach/reconciler/reconciler.go (v1.36, v1.37), reportMultiAttachError",
        ),
        row(
            SINCE,
            "taken-volume-nobody-uses",
            Value::Text(", waiting on detach before it can be attached to another node"),
            "",
        ),
        row(
            SINCE,
            "recreating-deployments-follow-each-pod",
            YES,
            "pkg/controller/deployment/deployment_controller.go (v1.36, v1.37), deletePod",
        ),
        row(SINCE, "drain-does-not-wait-for-tries", YES, "kubectl pkg/drain/drain.go (v0.36, v0.37), deletePods"),
        row(
            SINCE,
            "scheduler-tells-of-no-claims",
            NO,
            "pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go (v1.36, v1.37), PostFilter",
        ),
        row(SINCE, "scheduler-retries-bindings", YES, "pkg/scheduler/util/utils.go (v1.36, v1.37), BindPod"),
        row(
            SINCE,
            "claims-tell-whether-they-are-used",
            YES,
            "pkg/controller/volume/pvcprotection/pvc_protection_controller.go (v1.36, v1.37), updateUnusedCondition",
        ),
        row(
            SINCE,
            "stateful-sets-roll-several",
            YES,
            "pkg/features/kube_features.go (v1.36, v1.37), MaxUnavailableStatefulSet",
        ),
        row(SINCE, "user-namespace-in-status", YES, "pkg/kubelet/nodestatus/setters.go (v1.36, v1.37), MachineInfo"),
        row(SINCE, "unready-sandbox-is-explained", YES, "pkg/kubelet/status/generate.go (v1.36, v1.37)"),
        row(
            SINCE,
            "node-events-have-uid",
            YES,
            "pkg/kubelet/kubelet_node_status.go (v1.36, v1.37), nodeRefWithUID",
        ),
        row(
            SINCE,
            "pod-level-requests-are-as-written",
            YES,
            "pkg/kubelet/kubelet_pods.go (v1.36, v1.37), convertToAPIPodLevelResourcesStatus",
        ),
        row(SINCE, "pods-wait-for-their-node", YES, "pkg/kubelet/kubelet.go (v1.36, v1.37), newNodeHasSyncedFunc"),
        row(
            SINCE,
            "sidecars-have-storage-limits",
            YES,
            "pkg/kubelet/eviction/eviction_manager.go (v1.36, v1.37), containerEphemeralStorageLimitEviction",
        ),
        row(
            SINCE,
            "users-have-sysctls",
            YES,
            "pkg/kubelet/sysctl/{safe_sysctls.go,allowlist.go}, k8s.io/component-helpers node/util/sysctl/namespace.go \
             (v1.36, v1.37)",
        ),
        row(
            SINCE,
            "throttling-factor-needs-its-gate",
            YES,
            "pkg/kubelet/apis/config/validation/validation.go (v1.36, v1.37)",
        ),
        row(
            SINCE,
            "default-sysctls-are-checked",
            YES,
            "pkg/kubelet/apis/config/validation/validation.go (v1.36, v1.37)",
        ),
        row(SINCE, "reserved-cpu-in-thousandths", YES, "cmd/kubelet/app/server.go (v1.36, v1.37), parseResourceList"),
        row(
            SINCE,
            "kubelet-has-flags-of-cadvisor",
            NO,
            "cmd/kubelet/app/options/globalflags_linux.go (v1.36, v1.37), addCadvisorFlags",
        ),
        row(
            SINCE,
            "exited-containers-count-as-initialized",
            YES,
            "pkg/kubelet/kuberuntime/kuberuntime_container.go (v1.36, v1.37), computeInitContainerActions",
        ),
    ],
    gates: &[
        gate(SINCE, "ClusterTrustBundleProjection", STABLE),
        gate(SINCE, "DRAExtendedResource", LOCKED),
        gate(SINCE, "HostnameOverride", LOCKED),
        gate(SINCE, "JobPodReplacementPolicy", GateStage::Gone),
        gate(SINCE, "KubeletInUserNamespace", BETA),
        gate(SINCE, "MaxUnavailableStatefulSet", BETA),
        gate(SINCE, "MemoryQoS", BETA),
        gate(SINCE, "NodeControllerLeaseCircuitBreaker", BETA),
        gate(SINCE, "NodeDeclaredFeatures", LOCKED),
        gate(SINCE, "PersistentVolumeClaimUnusedSinceTime", BETA),
        gate(SINCE, "PodCertificateRequest", STABLE),
        gate(SINCE, "PodReadyToStartContainersCondition", LOCKED),
        gate(SINCE, "PreventStaticPodAPIReferences", GateStage::Gone),
        gate(SINCE, "SchedulerQueueingHints", GateStage::Gone),
    ],
    fields: "\
CSINode + status:any!\n\
ClusterTrustBundleProjection + user:int*\n\
ConfigMapVolumeSource + defaultUser:int*\n\
DownwardAPIVolumeFile + user:int*\n\
DownwardAPIVolumeSource + defaultUser:int*\n\
EmptyDirVolumeSource + mode:int32*\n\
GRPCAction + mode:str*\n\
HTTPGetAction + protocol:str*\n\
JobSpec + scheduling:any\n\
KeyToPath + user:int*\n\
NodePodPreemptionPolicy = disableResizePreemption:[str]\n\
NodeSpec + podPreemptionPolicy:NodePodPreemptionPolicy*\n\
NodeSystemInfo + runningInUserNamespace:bool*\n\
PersistentVolumeClaimStatus + healthStatus:any\n\
EvictionResponder = name:str! priority:int32*!\n\
PodSpec + evictionResponders:[EvictionResponder]@name\n\
PodStatus + volumeHealth:any\n\
ProjectedVolumeSource + defaultUser:int*\n\
SecretVolumeSource + defaultUser:int*\n\
ServiceAccountTokenProjection + user:int*\n\
TokenRequestSpec + attestations:{any}\n\
VolumeMount + bindMountOptions:[str]\n\
",
    roles: "\
system:controller:node-controller: => get,list,watch leases @coordination.k8s.io\n\
",
    ..NOTHING
};
