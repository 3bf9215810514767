//! Kubernetes 1.37: what is first true in it.

use super::*;

const SINCE: Release = Release::new(37, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 37,
    patch: Some(2),
    rows: &[
        row(
            SINCE,
            "pod-security-version",
            Value::Number(37.0),
            "k8s.io/pod-security-admission policy/check_sysctls.go (v1.37)",
        ),
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
            "cron-jobs-know-jobs-by-uid",
            YES,
            "pkg/controller/cronjob/cronjob_controllerv2.go (v1.36, v1.37), getCronJobJobsByIndexer",
        ),
        row(
            SINCE,
            "cron-jobs-find-job-of-name",
            YES,
            "pkg/controller/cronjob/cronjob_controllerv2.go (v1.36, v1.37), syncCronJob",
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
        row(
            SINCE,
            "errors-speak-as-declared",
            YES,
            "k8s.io/apimachinery pkg/api/validation/objectmeta.go (v1.36, v1.37); pkg/apis/*/validation (v1.36, v1.37)",
        ),
        row(
            SINCE,
            "declarative-rules-are-beta",
            YES,
            "k8s.io/apiserver pkg/registry/rest/validate.go (v0.37); pkg/apis/*/*/zz_generated.validations.go (v1.36, \
             v1.37)",
        ),
        row(
            SINCE,
            "stateful-set-fields-are-immutable",
            YES,
            "pkg/apis/apps/validation/validation.go (v1.36, v1.37), ValidateStatefulSetUpdate",
        ),
        row(
            SINCE,
            "eviction-refusals-have-causes",
            YES,
            "pkg/registry/core/pod/storage/eviction.go (v1.36, v1.37), checkAndDecrement",
        ),
        row(
            SINCE,
            "binding-checks-node-name",
            YES,
            "pkg/apis/core/validation/validation.go (v1.36, v1.37), ValidatePodBinding",
        ),
        row(
            SINCE,
            "patches-are-read-first",
            YES,
            "k8s.io/apiserver pkg/endpoints/handlers/patch.go (v0.36, v0.37), validateAndTranscodePatch",
        ),
        row(
            SINCE,
            "one-storage-class-is-default",
            YES,
            "pkg/printers/internalversion/printers.go (v1.36, v1.37), printStorageClassList",
        ),
        row(
            SINCE,
            "trust-and-migration-kinds-are-served",
            YES,
            "pkg/registry/{certificates,resource,storagemigration}/rest (v1.37)",
        ),
        row(
            SINCE,
            "refusals-name-their-authoriser",
            YES,
            "k8s.io/apiserver pkg/authorization/union/union.go (v0.36, v0.37), Authorize",
        ),
        row(SINCE, "csi-nodes-have-status", YES, "pkg/registry/storage/rest/storage_storage.go (v1.37)"),
        row(
            SINCE,
            "audience-refusal-names-user-first",
            YES,
            "plugin/pkg/admission/noderestriction/admission.go (v1.37), validateNodeServiceAccountAudience",
        ),
        row(
            SINCE,
            "status-keeps-claim-statuses",
            YES,
            "pkg/registry/core/pod/strategy.go (v1.36, v1.37), PrepareForUpdate of the status",
        ),
        row(
            SINCE,
            "kinds-checked-once",
            Value::Text(
                "CSINode,ClusterRole,ClusterRoleBinding,Job,PersistentVolumeClaim,Role,RoleBinding,VolumeAttachment",
            ),
            "pkg/registry/batch/job/strategy.go (v1.36, v1.37), ValidateUpdate",
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
CSIDriverSpec + preventPodSchedulingIfMissing:bool*\n\
CSINode + status:CSINodeStatus\n\
CSINodeStatus = storageHealth:[any]\n\
ClusterTrustBundle = kind:str apiVersion:str metadata:ObjectMeta spec:ClusterTrustBundleSpec!\n\
ClusterTrustBundleSpec = signerName:str trustBundle:str!\n\
ClusterTrustBundleProjection + user:int*\n\
ConfigMapVolumeSource + defaultUser:int*\n\
DeviceTaint = key:str! value:str effect:str! timeAdded:time*\n\
DeviceTaintRule = kind:str apiVersion:str metadata:ObjectMeta spec:DeviceTaintRuleSpec! \
    status:DeviceTaintRuleStatus\n\
DeviceTaintRuleSpec = deviceSelector:DeviceTaintSelector* taint:DeviceTaint\n\
DeviceTaintRuleStatus = conditions:[Condition]@type\n\
DeviceTaintSelector = driver:str* pool:str* device:str*\n\
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
PodCertificateRequest = kind:str apiVersion:str metadata:ObjectMeta spec:PodCertificateRequestSpec! \
    status:PodCertificateRequestStatus\n\
PodCertificateRequestSpec = signerName:str! podName:str! podUID:str! serviceAccountName:str! serviceAccountUID:str! \
    nodeName:str! nodeUID:str! maxExpirationSeconds:int32* stubPKCS10Request:bytes! \
    unverifiedUserAnnotations:{str}\n\
PodCertificateRequestStatus = conditions:[Condition]@type certificateChain:str notBefore:time* beginRefreshAt:time* \
    notAfter:time*\n\
ProjectedVolumeSource + defaultUser:int*\n\
SecretVolumeSource + defaultUser:int*\n\
ServiceAccountTokenProjection + user:int*\n\
StorageVersionMigration = kind:str apiVersion:str metadata:ObjectMeta spec:StorageVersionMigrationSpec \
    status:StorageVersionMigrationStatus\n\
StorageVersionMigrationSpec = resource:GroupResource!\n\
StorageVersionMigrationStatus = conditions:[Condition]@type resourceVersion:str\n\
GroupResource = group:str! resource:str!\n\
TokenRequestSpec + attestations:{any}\n\
VolumeMount + bindMountOptions:[str]\n\
",
    roles: "\
system:cluster-trust-bundle-discovery = get,list,watch clustertrustbundles @certificates.k8s.io\n\
system:controller:device-taint-eviction-controller: => patch,update devicetaintrules/status @resource.k8s.io | get,\
    list,watch devicetaintrules @resource.k8s.io\n\
system:controller:kube-apiserver-serving-clustertrustbundle-publisher = attest signers @certificates.k8s.io \
    #kubernetes.io/kube-apiserver-serving | create,delete,list,update,watch clustertrustbundles \
    @certificates.k8s.io | create,patch,update events @core,events.k8s.io\n\
system:controller:node-controller: create,patch,update events @core,events.k8s.io => get,list,watch leases \
    @coordination.k8s.io | create,patch,update events @core,events.k8s.io\n\
system:controller:podcertificaterequestcleaner = delete,get,list,watch podcertificaterequests \
    @certificates.k8s.io\n\
system:controller:storage-version-migrator-controller = list,patch * @* | get customresourcedefinitions \
    @apiextensions.k8s.io | patch customresourcedefinitions/status @apiextensions.k8s.io | update \
    storageversionmigrations/status @storagemigration.k8s.io\n\
system:kube-scheduler: patch,update resourceclaims/binding @resource.k8s.io => get,list,watch devicetaintrules \
    @resource.k8s.io | patch,update resourceclaims/binding @resource.k8s.io\n\
system:node: get serviceaccounts => get,list,watch clustertrustbundles @certificates.k8s.io | get serviceaccounts | \
    create,get,list,watch podcertificaterequests @certificates.k8s.io\n\
",
    columns: &[
        Described(
            "servicecidrs",
            "CIDRs",
            "cidrs defines the IP blocks in CIDR notation (e.g. \"192.168.0.0/24\" or \"2001:db8::/64\") from \
             which to assign service cluster IPs. Max of two CIDRs is allowed, one of each IP family. This field \
             is immutable.",
        ),
        Described(
            "clusterrolebindings",
            "Role",
            "roleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, \
             the Authorizer must return an error.",
        ),
        Described(
            "rolebindings",
            "Role",
            "roleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If \
             the RoleRef cannot be resolved, the Authorizer must return an error.",
        ),
        Described(
            "volumeattributesclasses",
            "DriverName",
            "driverName is the name of the CSI driver This field is immutable.",
        ),
        Described(
            "ipaddresses",
            "ParentRef",
            "parentRef references the resource that an IPAddress is attached to. An IPAddress must reference a parent \
             object.",
        ),
        Described(
            "resourceslices",
            "Pool",
            "Name is used to identify the pool. For node-local devices, this is often the node name, but this is not \
             required. A field selector can be used to list only ResourceSlice objects belonging to a certain \
             pool.\n\nIt must not be longer than 253 characters and must consist of one or more DNS sub-domains \
             separated by slashes. This field is immutable.",
        ),
    ],
    ..NOTHING
};
