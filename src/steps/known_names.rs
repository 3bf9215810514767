//! The names that Kubernetes gives, of all releases: conditions, taints, labels, annotations, phases, and all reasons.

use super::workload_names::{DEPLOYMENT_REASONS, JOB_CONDITIONS, JOB_REASONS};

/// Conditions of Nodes. Source: k8s.io/api core/v1/types.go (v1.34), `NodeConditionType`.
const NODE_CONDITIONS: &[&str] =
    &["Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable", "OutOfDisk"];

/// Conditions of Pods. Source: k8s.io/api core/v1/types.go (v1.36), `PodConditionType`.
const POD_CONDITIONS: &[&str] = &[
    "ContainersReady",
    "Initialized",
    "Ready",
    "PodScheduled",
    "DisruptionTarget",
    "PodReadyToStartContainers",
    "PodResizePending",
    "PodResizeInProgress",
    "AllContainersRestarting",
];

/// Keys of taints. Source: k8s.io/api core/v1/well_known_taints.go, k8s.io/cloud-provider api/well_known_taints.go and
/// kubeadm's `ControlPlaneTaint` (v1.34).
pub(super) const TAINTS: &[&str] = &[
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/unschedulable",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/network-unavailable",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/out-of-service",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "node.cloudprovider.kubernetes.io/shutdown",
    "node-role.kubernetes.io/control-plane",
];

/// Labels of Kubernetes that kubelets do not set. Source: k8s.io/api core/v1/well_known_labels.go, apps/v1, batch/v1,
/// discovery/v1, kubeadm's constants and pkg/controlplane/controller/kubernetesservice (v1.34).
pub(super) const LABELS: &[&str] = &[
    "kubernetes.io/metadata.name",
    "kubernetes.io/service-name",
    "service.kubernetes.io/headless",
    "service.kubernetes.io/service-proxy-name",
    "node.kubernetes.io/exclude-from-external-load-balancers",
    "node.kubernetes.io/windows-build",
    "node-role.kubernetes.io/control-plane",
    "endpoints.kubernetes.io/managed-by",
    "endpointslice.kubernetes.io/managed-by",
    "statefulset.kubernetes.io/pod-name",
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/job-name",
    "batch.kubernetes.io/controller-uid",
    "pod-template-hash",
    "pod-template-generation",
    "controller-revision-hash",
    "job-name",
    "controller-uid",
    "component",
    "provider",
    "tier",
    "k8s-app",
    "app",
];

/// Annotations below the domains of Kubernetes. Source (v1.34): k8s.io/api core/v1/annotation_key_constants.go,
/// k8s.io/component-helpers storage/volume/pv_helpers.go, k8s.io/cloud-provider api/well_known_annotations.go, and
/// pkg/controller/deployment/util, pkg/kubelet/types, pkg/volume/util, pkg/volume/csi/nodeinfomanager.
pub(super) const ANNOTATIONS: &[&str] = &[
    "alpha.kubernetes.io/provided-node-ip",
    "controller.kubernetes.io/pod-deletion-cost",
    "csi.volume.kubernetes.io/nodeid",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deployment.kubernetes.io/revision",
    "deployment.kubernetes.io/revision-history",
    "endpoints.kubernetes.io/last-change-trigger-time",
    "endpoints.kubernetes.io/over-capacity",
    "kubeadm.alpha.kubernetes.io/cri-socket",
    "kubectl.kubernetes.io/default-container",
    "kubectl.kubernetes.io/last-applied-configuration",
    "kubectl.kubernetes.io/restartedAt",
    "kubernetes.io/config.hash",
    "kubernetes.io/config.mirror",
    "kubernetes.io/config.seen",
    "kubernetes.io/config.source",
    "kubernetes.io/description",
    "kubernetes.io/limit-ranger",
    "node.alpha.kubernetes.io/ttl",
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "pv.kubernetes.io/migrated-to",
    "pv.kubernetes.io/provisioned-by",
    "scheduler.alpha.kubernetes.io/preferAvoidPods",
    "storage.alpha.kubernetes.io/migrated-plugins",
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/selected-node",
    "volume.kubernetes.io/storage-provisioner",
    "volumes.kubernetes.io/controller-managed-attach-detach",
];

/// Resources of Nodes and containers, huge pages and extended ones apart. Source: k8s.io/api core/v1/types.go (v1.34),
/// `ResourceName`.
pub(super) const RESOURCES: &[&str] = &["cpu", "memory", "storage", "ephemeral-storage", "pods"];

/// What `GET machines/NAME` of the control interface shows.
pub(super) const MACHINE_FIELDS: &[&str] = &[
    "name",
    "nodeName",
    "state",
    "powered",
    "bootId",
    "boots",
    "machineId",
    "systemUuid",
    "clock",
    "clockSkew",
    "capacity",
    "osImage",
    "kernelVersion",
    "processes",
    "cni",
    "swap",
    "cgroups",
    "network",
    "zone",
    "region",
    "logind",
    "numa",
    "assignments",
    "containers",
    "links",
];

/// What it shows of a container.
pub(super) const CONTAINER_FIELDS: &[&str] =
    &["namespace", "pod", "container", "state", "startedAt", "finishedAt", "exitCode", "signals", "limits", "uses"];

/// The files of a container's cgroup, of version 2 and of version 1.
pub(super) const CONTAINER_LIMITS: &[&str] = &[
    "cpu.weight",
    "cpu.max",
    "memory.max",
    "memory.swap.max",
    "cpu.shares",
    "cpu.cfs_period_us",
    "cpu.cfs_quota_us",
    "memory.limit_in_bytes",
    "memory.memsw.limit_in_bytes",
];

/// What `status.reason` of a Pod may be besides the reasons of admission. Source (v1.34): pkg/kubelet (eviction,
/// nodeshutdown, preemption, kubelet.go) and pkg/util/node/node.go.
pub(super) const POD_REASONS: &[&str] =
    &["Evicted", "NodeLost", "Terminated", "Shutdown", "DeadlineExceeded", "Preempting"];

/// With what a kubelet refuses a Pod, as `status.reason` and as the reason of an Event. Source (v1.34): pkg/kubelet
/// (lifecycle, nodeshutdown, sysctl) and pkg/scheduler/framework/plugins.
pub(super) const ADMISSION_REASONS: &[&str] = &[
    "NodeAffinity",
    "NodeName",
    "NodePorts",
    "TaintToleration",
    "NodeUnschedulable",
    "OutOfcpu",
    "OutOfmemory",
    "OutOfpods",
    "OutOfephemeral-storage",
    "UnexpectedAdmissionError",
    "TopologyAffinityError",
    "PodFeatureUnsupported",
    "PodLevelResourcesNotSupported",
    "PodOSSelectorNodeLabelDoesNotMatch",
    "PodOSNotSupported",
    "InvalidNodeInfo",
    "AppArmor",
    "SysctlForbidden",
    "NodeShutdown",
    "InitContainerRestartPolicyForbidden",
    "SupplementalGroupsPolicyNotSupported",
    "UnexpectedPredicateFailureType",
    "UnknownReason",
    "VolumeAttachmentLimitExceeded",
];

/// Why a container waits. Source (v1.34): pkg/kubelet/kubelet_pods.go, images/types.go, container/sync_result.go,
/// kuberuntime/kuberuntime_container.go.
pub(super) const WAITING_REASONS: &[&str] = &[
    "ContainerCreating",
    "PodInitializing",
    "CrashLoopBackOff",
    "ImagePullBackOff",
    "ImageInspectError",
    "ErrImagePull",
    "ErrImageNeverPull",
    "InvalidImageName",
    "RunContainerError",
    "KillContainerError",
    "CreatePodSandboxError",
    "ConfigPodSandboxError",
    "KillPodSandboxError",
    "CreateContainerConfigError",
    "CreateContainerError",
    "PreCreateHookError",
    "PreStartHookError",
    "PostStartHookError",
    "RegistryUnavailable",
    "SignatureValidationFailed",
];

/// How a container has ended. Source: pkg/kubelet/kuberuntime, kubelet_pods.go (v1.34) and containerd 2.1.
pub(super) const TERMINATED_REASONS: &[&str] =
    &["Completed", "Error", "OOMKilled", "ContainerCannotRun", "StartError", "ContainerStatusUnknown", "Unknown"];

/// Reasons of Events that are recorded about Pods, and about no Node.
///
/// Source: pkg/scheduler/schedule_one.go, pkg/controller/tainteviction/taint_eviction.go, pkg/kubelet/kuberuntime and
/// pkg/kubelet/eviction (v1.34).
pub(super) const POD_EVENTS: &[&str] = &[
    "BackOff",
    "Created",
    "Evicted",
    "FailedAttachVolume",
    "FailedPostStartHook",
    "FailedPreStopHook",
    "FailedScheduling",
    "Killing",
    "Preempted",
    "Preempting",
    "Pulled",
    "Pulling",
    "Scheduled",
    "Started",
    "SuccessfulAttachVolume",
    "TaintManagerEviction",
    "Unhealthy",
];

/// Reasons of Events that are recorded about Nodes, and about no Pod.
///
/// Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go, pkg/controller/nodeipam, pkg/kubelet/kubelet.go,
/// kubelet_node_status.go and pkg/kubelet/eviction (v1.34); k8s.io/cloud-provider (v0.37).
pub(super) const NODE_EVENTS: &[&str] = &[
    "CIDRAssignmentFailed",
    "CIDRNotAvailable",
    "DeletingNode",
    "EvictionThresholdMet",
    "FailedToCreateRoute",
    "FreeDiskSpaceFailed",
    "ImageGCFailed",
    "InvalidDiskCapacity",
    "NodeAllocatableEnforced",
    "NodeHasDiskPressure",
    "NodeHasInsufficientMemory",
    "NodeHasInsufficientPID",
    "NodeHasNoDiskPressure",
    "NodeHasSufficientMemory",
    "NodeHasSufficientPID",
    "NodeNotSchedulable",
    "NodeReady",
    "NodeSchedulable",
    "Rebooted",
    "RegisteredNode",
    "RemovingNode",
];

/// Reasons of Events about Nodes, Pods and workloads. Sources (v1.34): pkg/kubelet/events/event.go and the admission
/// and eviction of pkg/kubelet, pkg/controller (nodelifecycle, tainteviction, nodeipam, daemon, deployment, replicaset,
/// statefulset, disruption, endpointslice, job), pkg/scheduler, k8s.io/client-go tools/leaderelection/resourcelock.
pub(super) const EVENT_REASONS: &[&str] = &[
    // Containers and images.
    "Created",
    "Started",
    "Failed",
    "Killing",
    "Preempting",
    "BackOff",
    "ExceededGracePeriod",
    "Pulling",
    "Pulled",
    "InspectFailed",
    "ErrImageNeverPull",
    "Unhealthy",
    "ProbeWarning",
    "FailedPostStartHook",
    "FailedPreStopHook",
    // Pods on a kubelet.
    "FailedToRetrieveImagePullSecret",
    "FailedKillPod",
    "FailedCreatePodContainer",
    "DeadlineExceeded",
    "NetworkNotReady",
    "SandboxChanged",
    "FailedCreatePodSandBox",
    "FailedPodSandBoxStatus",
    "FailedSync",
    "FailedValidation",
    "ResizeDeferred",
    "ResizeInfeasible",
    "ResizeStarted",
    "ResizeCompleted",
    "ResizeError",
    "Evicted",
    // Volumes.
    "FailedAttachVolume",
    "FailedDetachVolume",
    "FailedMount",
    "FailedMapVolume",
    "VolumeResizeFailed",
    "VolumeResizeSuccessful",
    "FileSystemResizeFailed",
    "FileSystemResizeSuccessful",
    "AlreadyMountedVolume",
    "SuccessfulAttachVolume",
    "SuccessfulMountVolume",
    "FailedMountOnFilesystemMismatch",
    // The kubelet and its Node.
    "NodeReady",
    "NodeNotReady",
    "NodeSchedulable",
    "NodeNotSchedulable",
    "Starting",
    "KubeletSetupFailed",
    "Rebooted",
    "Shutdown",
    "ContainerGCFailed",
    "ImageGCFailed",
    "FailedNodeAllocatableEnforcement",
    "NodeAllocatableEnforced",
    "UnsupportedMountOption",
    "InvalidDiskCapacity",
    "FreeDiskSpaceFailed",
    "CgroupV1",
    "EvictionThresholdMet",
    "NodeHasSufficientMemory",
    "NodeHasInsufficientMemory",
    "NodeHasNoDiskPressure",
    "NodeHasDiskPressure",
    "NodeHasSufficientPID",
    "NodeHasInsufficientPID",
    "PossibleMemoryBackedVolumesOnDisk",
    // Controllers of nodes.
    "RegisteredNode",
    "RemovingNode",
    "DeletingNode",
    "DeletingNodeFailed",
    "FailedToCreateRoute",
    "Synced",
    "NodeControllerEviction",
    "DeletingAllPods",
    "TerminatingEvictedPod",
    "TerminatedAllPods",
    "TaintManagerEviction",
    "CIDRNotAvailable",
    "CIDRAssignmentFailed",
    // Programs that elect a leader.
    "LeaderElection",
    // The scheduler.
    "Scheduled",
    "FailedScheduling",
    "Preempted",
    "WaitingForGates",
    // Controllers of workloads.
    "SuccessfulCreate",
    "SuccessfulDelete",
    "SuccessfulUpdate",
    "FailedCreate",
    "FailedDelete",
    "FailedUpdate",
    "FailedDaemonPod",
    "SucceededDaemonPod",
    "FailedPlacement",
    "SelectingAll",
    "ScalingReplicaSet",
    "ReplicaSetCreateError",
    "DeploymentRollback",
    "SelectorOverlap",
    "RecreatingTerminatedPod",
    "RecreatingFailedPod",
    "NoPods",
    "UnmanagedPods",
    "MultiplePodDisruptionBudgets",
    "NotDeleted",
    "CalculateExpectedPodCountFailed",
    "FailedToUpdateEndpointSlices",
    "FailedToCreateEndpoint",
    "FailedToUpdateEndpoint",
    "TopologyAwareHintsEnabled",
    "TopologyAwareHintsDisabled",
];

/// Returns the conditions that Kubernetes sets on objects of a kind; most kinds have none.
///
/// Source: k8s.io/api types.go (v1.34) of core/v1, apps/v1, batch/v1, policy/v1 and certificates/v1.
pub(super) fn conditions_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "Node" => NODE_CONDITIONS,
        "Pod" => POD_CONDITIONS,
        "CertificateSigningRequest" => &["Approved", "Denied", "Failed"],
        "Deployment" => &["Available", "Progressing", "ReplicaFailure"],
        "Job" => JOB_CONDITIONS,
        "Namespace" => &[
            "NamespaceDeletionDiscoveryFailure",
            "NamespaceDeletionContentFailure",
            "NamespaceDeletionGroupVersionParsingFailure",
            "NamespaceContentRemaining",
            "NamespaceFinalizersRemaining",
        ],
        "PersistentVolumeClaim" => &["Resizing", "FileSystemResizePending", "Unused"],
        "PodDisruptionBudget" => &["DisruptionAllowed"],
        "ReplicaSet" | "ReplicationController" => &["ReplicaFailure"],
        _ => &[],
    }
}

/// Returns the reasons that Kubernetes gives for the conditions of a kind; most kinds have none.
///
/// Source (v1.34 unless said otherwise): pkg/kubelet/nodestatus/setters.go (`KubeletOutOfDisk` to v1.12),
/// pkg/controller (nodelifecycle, replicaset, tainteviction, podgc, namespace, certificates, volume), pkg/scheduler,
/// k8s.io/cloud-provider, pkg/kubelet/status/generate.go, pkg/registry/core/pod, k8s.io/api policy/v1.
pub(super) fn reasons_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "Node" => &[
            "KubeletReady",
            "KubeletNotReady",
            "KubeletHasSufficientMemory",
            "KubeletHasInsufficientMemory",
            "KubeletHasNoDiskPressure",
            "KubeletHasDiskPressure",
            "KubeletHasSufficientPID",
            "KubeletHasInsufficientPID",
            "KubeletHasSufficientDisk",
            "KubeletOutOfDisk",
            "NodeStatusUnknown",
            "NodeStatusNeverUpdated",
            "RouteCreated",
            "NoRouteCreated",
        ],
        "Pod" => &[
            "Unschedulable",
            "SchedulingGated",
            "SchedulerError",
            "ContainersNotReady",
            "ContainersNotInitialized",
            "ReadinessGatesNotReady",
            "UnknownContainerStatuses",
            "PodCompleted",
            "PodSandboxNotReady",
            "PodFailed",
            "DeletionByTaintManager",
            "DeletionByDeviceTaintManager",
            "DeletionByPodGC",
            "EvictionByEvictionAPI",
            "PreemptionByScheduler",
            "PreemptionByKubeScheduler",
            "TerminationByKubelet",
            "Deferred",
            "Infeasible",
            "Error",
        ],
        "CertificateSigningRequest" => &["AutoApproved", "KubectlApprove", "KubectlDeny", "SignerValidationFailure"],
        "Deployment" => DEPLOYMENT_REASONS,
        "Job" => JOB_REASONS,
        "Namespace" => &[
            "DiscoveryFailed",
            "ResourcesDiscovered",
            "GroupVersionParsingFailed",
            "ParsedGroupVersions",
            "ContentDeletionFailed",
            "ContentDeleted",
            "SomeResourcesRemain",
            "ContentRemoved",
            "SomeFinalizersRemain",
            "ContentHasNoFinalizers",
        ],
        "PersistentVolumeClaim" => &["PodUsingPVC", "NoPodsUsingPVC"],
        "PodDisruptionBudget" => &["SufficientPods", "InsufficientPods", "SyncFailed"],
        "ReplicaSet" | "ReplicationController" => &["FailedCreate", "FailedDelete"],
        _ => &[],
    }
}

/// Returns the phases of a kind; most kinds have none. Source: k8s.io/api core/v1/types.go (v1.34).
pub(super) fn phases_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "Namespace" => &["Active", "Terminating"],
        "Node" => &["Pending", "Running", "Terminated"],
        "PersistentVolume" => &["Pending", "Available", "Bound", "Released", "Failed"],
        "PersistentVolumeClaim" => &["Pending", "Bound", "Lost"],
        "Pod" => &["Pending", "Running", "Succeeded", "Failed", "Unknown"],
        _ => &[],
    }
}
