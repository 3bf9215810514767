//! Kubernetes 1.33: what is first true in it.

use super::*;

const SINCE: Release = Release::new(33, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 33,
    patch: Some(13),
    node_image: "kindest/node:v1.33.0",
    rows: &[
        row(
            SINCE,
            "scheduler-heeds-gone-nominations",
            YES,
            "pkg/scheduler/eventhandlers.go (v1.32, v1.33), deletePodFromSchedulingQueue",
        ),
        row(
            SINCE,
            "endpoints-name-their-manager",
            YES,
            "pkg/controller/endpoint/endpoints_controller.go (v1.32, v1.33), LabelManagedBy",
        ),
        row(
            SINCE,
            "resize-has-conditions",
            YES,
            "pkg/kubelet/kubelet.go (v1.32, v1.33), handlePodResourcesResize",
        ),
        row(
            SINCE,
            "resize-beyond-node-is-infeasible",
            YES,
            "pkg/kubelet/kubelet.go (v1.33), canResizePod",
        ),
        row(
            SINCE,
            "memory-limits-stay-or-grow",
            YES,
            "pkg/apis/core/validation/validation.go (v1.33), validateContainerResize",
        ),
        row(
            SINCE,
            "cpu-manager-options",
            Value::Text(
                "align-by-socket=Alpha,distribute-cpus-across-cores=Alpha,distribute-cpus-across-numa=Beta,\
                 full-pcpus-only=Stable,prefer-align-cpus-by-uncorecache=Alpha,strict-cpu-reservation=Beta",
            ),
            "pkg/kubelet/cm/cpumanager/policy_options.go (v1.33)",
        ),
        row(SINCE, "strict-groups-are-checked", YES, "pkg/kubelet/lifecycle/predicate.go (v1.32, v1.33), Admit"),
        row(SINCE, "running-init-makes-pending", YES, "pkg/kubelet/kubelet_pods.go (v1.32, v1.33), getPhase"),
        row(
            SINCE,
            "git-repos-are-off",
            YES,
            "pkg/features/kube_features.go (v1.33), GitRepoVolumeDriver",
        ),
        row(
            SINCE,
            "port-names-warn",
            YES,
            "pkg/api/pod/warnings.go (v1.32, v1.33), warningsForPodSpecAndMeta",
        ),
        row(
            SINCE,
            "search-domains-have-underscores",
            YES,
            "pkg/features/kube_features.go (v1.34), RelaxedDNSSearchValidation",
        ),
        row(
            SINCE,
            "quotas-follow-changed-scopes",
            YES,
            "pkg/quota/v1/evaluator/core/{pods,persistent_volume_claims}.go (v1.32, v1.33), Handles",
        ),
        row(
            SINCE,
            "service-cidrs-are-served",
            YES,
            "pkg/registry/networking/rest/storage_settings.go (v1.33), gate MultiCIDRServiceAllocator",
        ),
        row(
            SINCE,
            "ambiguous-cidrs-warn",
            YES,
            "k8s.io/apimachinery pkg/util/validation/ip.go (v1.34), GetWarningsForCIDR",
        ),
        row(
            SINCE,
            "unusual-addresses-warn",
            YES,
            "pkg/apis/discovery/validation/validation.go (v1.32, v1.33), validateEndpoints",
        ),
        row(
            SINCE,
            "discovery-has-beta-form",
            NO,
            "k8s.io/apiserver pkg/features/kube_features.go (v1.33), AggregatedDiscoveryRemoveBetaType",
        ),
        row(
            SINCE,
            "stateful-set-history-limit-may-change",
            YES,
            "pkg/apis/apps/validation/validation.go (v1.32, v1.33), ValidateStatefulSetUpdate",
        ),
        row(
            SINCE,
            "required-affinity-has-label-values",
            YES,
            "pkg/apis/core/validation/validation.go (v1.32, v1.33), validateNodeAffinity",
        ),
        row(
            SINCE,
            "shortened-grace-ends-now",
            YES,
            "k8s.io/apiserver pkg/registry/rest/delete.go (v0.33.0; not in v0.32.0), BeforeDelete",
        ),
        row(
            SINCE,
            "node-networks-are-not-compared",
            YES,
            "pkg/apis/core/validation/validation.go (v1.33; not in v1.32), ValidateNode",
        ),
        row(
            SINCE,
            "stateful-set-service-is-a-label",
            YES,
            "pkg/apis/apps/validation/validation.go (v1.33; not in v1.32), ValidateStatefulSetSpec",
        ),
        row(SINCE, "endpoints-are-deprecated", YES, "k8s.io/api core/v1 lifecycle.go (v1.33; not in v1.32)"),
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
            "pkg/controller/daemon/daemon_controller.go (v1.31 updateNode, v1.34.4 syncNodeUpdate); PR 133992",
        ),
        row(
            SINCE,
            "taint-eviction-leaves-tombstones",
            NO,
            "pkg/controller/tainteviction/timed_workers.go (v1.32, v1.33), getWrappedWorkerFunc",
        ),
        row(SINCE, "kube-proxy-version-in-status", NO, ""),
        row(SINCE, "default-thresholds-merge", YES, "pkg/kubelet/apis/config (v1.33), MergeDefaultEvictionSettings"),
        row(
            SINCE,
            "scheduler-names-volume-affinity",
            YES,
            "pkg/scheduler/framework/plugins/volumebinding/binder.go (v1.32, v1.33), ErrReasonNodeConflict",
        ),
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
        row(SINCE, "rebooted-once-per-process", YES, "pkg/kubelet/nodestatus/setters.go (v1.32, v1.33), MachineInfo"),
        row(
            SINCE,
            "pods-have-resize",
            YES,
            "pkg/registry/core/rest/storage_core.go (v1.32, v1.33), gate InPlacePodVerticalScaling",
        ),
        row(SINCE, "scheduler-balance-score", Value::Text("with-requests"), ""),
        row(SINCE, "scheduler-bound-nominee-frees-others", YES, ""),
        row(SINCE, "static-pods-have-no-claims", NO, ""),
        row(Release::new(33, 2), "static-pods-have-no-claims", YES, ""),
        row(SINCE, "nodes-keep-their-owner-references", NO, ""),
        row(Release::new(33, 4), "nodes-keep-their-owner-references", YES, ""),
        row(SINCE, "scheme-name", Value::Text("pkg/runtime/scheme.go:110"), ""),
        row(
            SINCE,
            "kubectl-counts-status-resources",
            Value::Text("requests"),
            "kubectl pkg/util/resource/resource.go (v1.33, v1.34), podRequests",
        ),
    ],
    gates: &[
        gate(SINCE, "CPUManager", GateStage::Gone),
        gate(SINCE, "CPUManagerPolicyOptions", LOCKED),
        gate(SINCE, "ClusterTrustBundleProjection", BETA_OFF),
        gate(SINCE, "ContainerStopSignals", ALPHA),
        gate(SINCE, "DeploymentReplicaSetTerminatingReplicas", ALPHA),
        gate(SINCE, "DisableCloudProviders", GateStage::Gone),
        gate(SINCE, "DisableKubeletCloudCredentialProviders", GateStage::Gone),
        gate(SINCE, "DisableNodeKubeProxyVersion", GateStage::Deprecated(true)),
        gate(SINCE, "ImageVolume", BETA_OFF),
        gate(SINCE, "InPlacePodVerticalScaling", BETA),
        gate(SINCE, "KubeletFineGrainedAuthz", BETA),
        gate(SINCE, "PDBUnhealthyPodEvictionPolicy", GateStage::Gone),
        gate(SINCE, "PodObservedGenerationTracking", ALPHA),
        gate(SINCE, "ProcMountType", BETA),
        gate(SINCE, "RecursiveReadOnlyMounts", LOCKED),
        gate(SINCE, "SchedulerAsyncPreemption", BETA),
        gate(SINCE, "SchedulerPopFromBackoffQ", BETA),
        gate(SINCE, "SupplementalGroupsPolicy", BETA),
        gate(SINCE, "UserNamespacesSupport", BETA),
    ],
    fields: "\
ContainerStatus + stopSignal:str*\n\
Lifecycle + stopSignal:str*\n\
PodCondition + observedGeneration:int\n\
PodStatus + observedGeneration:int\n\
NodeSystemInfo + swap:NodeSwapStatus*\n\
DeploymentStatus + terminatingReplicas:int32*\n\
CSIDriverSpec + nodeAllocatableUpdatePeriodSeconds:int*\n\
VolumeError + errorCode:int32*\n\
EndpointHints + forNodes:[ForNode]\n\
ForNode = name:str!\n\
ReplicaSetStatus + terminatingReplicas:int32*\n\
",
    roles: "\
system:controller:selinux-warning-controller = create,patch,update events @core,events.k8s.io | get,list,watch \
    persistentvolumes | get,list,watch persistentvolumeclaims | get,list,watch pods | get,list,watch csidrivers \
    @storage.k8s.io\n\
system:controller:service-cidrs-controller = get,list,patch,update,watch servicecidrs @networking.k8s.io | patch,\
    update servicecidrs/finalizers @networking.k8s.io | patch,update servicecidrs/status @networking.k8s.io | get,\
    list,watch ipaddresses @networking.k8s.io | create,patch,update events @core,events.k8s.io\n\
system:kubelet-api-admin: => * nodes/configz,nodes/healthz,nodes/pods\n\
system:node-proxier: create,patch,update events @core,events.k8s.io => create,patch,update events @core,\
    events.k8s.io | list,watch servicecidrs @networking.k8s.io\n\
",
    columns: &[
        Last("resourcequotas", "Age"),
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
        Described(
            "deployments",
            "Up-to-date",
            "Total number of non-terminating pods targeted by this deployment that have the desired template spec.",
        ),
        Described(
            "deployments",
            "Available",
            "Total number of available non-terminating pods (ready for at least minReadySeconds) targeted by this \
             deployment.",
        ),
    ],
};
