//! Kubernetes 1.34: what is first true in it.

use super::*;

const SINCE: Release = Release::new(34, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 34,
    patch: Some(4),
    node_image: "kindest/node:v1.34.0",
    rows: &[
        row(
            SINCE,
            "resizes-are-queued",
            YES,
            "pkg/kubelet/allocation/allocation_manager.go (v1.34), retryPendingResizes",
        ),
        row(
            SINCE,
            "resize-refusals-name-policies",
            YES,
            "pkg/kubelet/kubelet.go (v1.33) and allocation/allocation_manager.go (v1.34), canResizePod",
        ),
        row(
            SINCE,
            "resize-checks-container-memory",
            YES,
            "pkg/kubelet/kuberuntime/kuberuntime_manager.go (v1.33, v1.34), validateMemoryResizeAction",
        ),
        row(
            SINCE,
            "resize-completion-is-told",
            YES,
            "pkg/kubelet/allocation/allocation_manager.go (v1.34), CheckPodResizeInProgress",
        ),
        row(
            SINCE,
            "memory-limits-stay-or-grow",
            NO,
            "pkg/apis/core/validation/validation.go (v1.33, v1.34), validateContainerResize",
        ),
        row(
            SINCE,
            "pod-security-version",
            Value::Number(34.0),
            "k8s.io/pod-security-admission policy/check_hostProbesAndhostLifecycle.go (v1.34)",
        ),
        row(
            SINCE,
            "cpu-manager-options",
            Value::Text(
                "align-by-socket=Alpha,distribute-cpus-across-cores=Alpha,distribute-cpus-across-numa=Beta,\
                 full-pcpus-only=Stable,prefer-align-cpus-by-uncorecache=Beta,strict-cpu-reservation=Beta",
            ),
            "pkg/kubelet/cm/cpumanager/policy_options.go (v1.34)",
        ),
        row(
            SINCE,
            "serving-names-are-the-nodes",
            YES,
            "pkg/kubelet/kubelet_node_status.go (v1.33) and kubelet_getters.go (v1.34), getLastObservedNodeAddresses",
        ),
        row(
            SINCE,
            "exclusive-conditions-name-their-list",
            YES,
            "pkg/apis/certificates/validation/validation.go (v1.33, v1.34), validateConditions",
        ),
        row(
            SINCE,
            "token-requests-keep-uids",
            YES,
            "pkg/registry/core/serviceaccount/storage/token.go (v1.33, v1.34), PreserveRequestObjectMetaSystemFields\
             OnSubresourceCreate",
        ),
        row(
            SINCE,
            "stateful-sets-wait-for-available",
            YES,
            "pkg/controller/statefulset/stateful_set_utils.go (v1.33, v1.34), isHealthy and isUnavailable",
        ),
        row(
            SINCE,
            "scale-targets-have-groups",
            YES,
            "CHANGELOG/CHANGELOG-1.34.md, #132537; pkg/apis/autoscaling/validation/validation.go (v1.34), \
             ValidateAPIVersion",
        ),
        row(
            SINCE,
            "volume-attributes-classes-are-kept",
            YES,
            "pkg/features/kube_features.go (v1.34), VolumeAttributesClass",
        ),
        row(
            SINCE,
            "claim-resize-errors-name-their-field",
            YES,
            "pkg/apis/core/validation/validation.go (v1.33, v1.34), ValidatePersistentVolumeClaimStatusUpdate",
        ),
        row(
            SINCE,
            "endpoint-hints-name-nodes",
            YES,
            "pkg/features/kube_features.go (v1.34), PreferSameTrafficDistribution",
        ),
        row(
            SINCE,
            "first-v1-of-1.33-is-stored",
            YES,
            "k8s.io/apiserver pkg/server/storage/resource_encoding_config.go (v1.34)",
        ),
        row(
            SINCE,
            "replica-sets-plan-availability",
            YES,
            "pkg/controller/replicaset/replica_set.go (v1.33, v1.34), syncReplicaSet",
        ),
        row(
            SINCE,
            "drain-knows-daemon-sets-by-group",
            YES,
            "kubectl pkg/drain/filters.go (v1.33, v1.34), isControllerRefDaemonSet",
        ),
        row(
            SINCE,
            "stateful-set-templates-are-checked",
            YES,
            "pkg/apis/apps/validation/validation.go (v1.34; not in v1.33), StatefulSetValidationOptions",
        ),
        row(
            SINCE,
            "errors-print-json",
            YES,
            "k8s.io/apimachinery pkg/util/validation/field/errors.go (v1.34), ErrorBody; pkg/util/diff/diff.go, Diff",
        ),
        row(
            SINCE,
            "bad-list-versions-are-bad-requests",
            YES,
            "k8s.io/apiserver pkg/storage/cacher/delegator.go (v1.34)",
        ),
        row(
            SINCE,
            "cache-lists-the-past",
            YES,
            "k8s.io/apiserver pkg/features/kube_features.go (v1.34), ListFromCacheSnapshot",
        ),
        row(SINCE, "watch-list", YES, ""),
        row(
            SINCE,
            "pod-conditions-observe-generation",
            YES,
            "pkg/features/kube_features.go (v1.34), PodObservedGenerationTracking",
        ),
        row(
            SINCE,
            "no-execute-from-current-condition",
            YES,
            "pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34; PR 120816)",
        ),
        row(
            SINCE,
            "kubelet-registers-cordoned",
            NO,
            "cmd/kubelet/app/options/options.go, pkg/kubelet/kubelet_node_status.go (v1.33, v1.34)",
        ),
        row(
            SINCE,
            "node-status-report-delay",
            YES,
            "pkg/kubelet/kubelet_node_status.go (v1.33, v1.34), calculateDelay",
        ),
        row(
            SINCE,
            "pod-observed-generation",
            YES,
            "pkg/features/kube_features.go (v1.34), gate PodObservedGenerationTracking",
        ),
        row(
            SINCE,
            "dynamic-resources-are-served",
            YES,
            "pkg/controlplane/instance.go (v1.34), resource.k8s.io/v1 with DynamicResourceAllocation",
        ),
        row(
            SINCE,
            "volume-attributes-classes-are-served",
            YES,
            "pkg/registry/storage/rest/storage_storage.go (v1.34)",
        ),
        row(
            SINCE,
            "kubelets-read-service-accounts",
            YES,
            "pkg/features/kube_features.go (v1.34), KubeletServiceAccountTokenForCredentialProviders",
        ),
        row(
            SINCE,
            "mirror-pods-name-no-api-object",
            YES,
            "plugin/pkg/admission/noderestriction/admission.go (v1.31, v1.34), admitPodCreate",
        ),
        row(
            SINCE,
            "nodes-keep-extended-resource-claims",
            YES,
            "plugin/pkg/admission/noderestriction/admission.go (v1.31, v1.34), admitPodStatus",
        ),
        row(
            SINCE,
            "prints-null-creation-timestamp",
            NO,
            "k8s.io/apimachinery pkg/apis/meta/v1/types.go (v1.31, v1.34), omitzero of creationTimestamp",
        ),
        row(
            SINCE,
            "no-body-is-a-bad-type",
            NO,
            "github.com/emicklei/go-restful/v3 jsr311.go (v3.11.0, v3.12.2), detectRoute",
        ),
        row(SINCE, "pod-level-resources", YES, "pkg/features/kube_features.go (v1.34), PodLevelResources"),
        row(
            Release::new(34, 2),
            "scheduler-names-untolerated-taint",
            NO,
            "pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go (v1.31, v1.34; PR 135023)",
        ),
        row(
            SINCE,
            "scheduler-request-above-allocatable-is-unresolvable",
            YES,
            "pkg/scheduler/framework/plugins/noderesources/fit.go (v1.31, v1.34)",
        ),
        row(
            SINCE,
            "scheduler-looks-for-resource-claims",
            YES,
            "pkg/features/kube_features.go (v1.34), DynamicResourceAllocation",
        ),
        row(
            SINCE,
            "garbage-collection-checks-version",
            YES,
            "pkg/controller/garbagecollector/operations.go (v1.33, v1.34), deleteObject",
        ),
        row(
            SINCE,
            "job-table-tells-success-criteria",
            YES,
            "pkg/printers/internalversion/printers.go (v1.33, v1.34), printJob",
        ),
    ],
    gates: &[
        gate(SINCE, "ClearingNominatedNodeNameAfterBinding", ALPHA),
        gate(SINCE, "ContainerRestartRules", ALPHA),
        gate(SINCE, "DRAExtendedResource", ALPHA),
        gate(SINCE, "DynamicResourceAllocation", STABLE),
        gate(SINCE, "EnvFiles", ALPHA),
        gate(SINCE, "HostnameOverride", ALPHA),
        gate(SINCE, "JobPodReplacementPolicy", LOCKED),
        gate(SINCE, "KubeletCgroupDriverFromCRI", LOCKED),
        gate(SINCE, "NodeSwap", LOCKED),
        gate(SINCE, "NominatedNodeNameForExpectation", ALPHA),
        gate(SINCE, "PodCertificateRequest", ALPHA),
        gate(SINCE, "PodDisruptionConditions", GateStage::Gone),
        gate(SINCE, "PodLevelResources", BETA),
        gate(SINCE, "PodObservedGenerationTracking", BETA),
        gate(SINCE, "PreventStaticPodAPIReferences", BETA),
        gate(SINCE, "RecoverVolumeExpansionFailure", LOCKED),
        gate(SINCE, "SchedulerQueueingHints", LOCKED),
        gate(SINCE, "SeparateTaintEvictionController", LOCKED),
        gate(SINCE, "WindowsGracefulNodeShutdown", BETA),
    ],
    fields: "\
Container + restartPolicyRules:[ContainerRestartRule]\n\
EphemeralContainer + restartPolicyRules:[ContainerRestartRule]\n\
ObjectMeta + creationTimestamp:time*\n\
ContainerRestartRule = action:str exitCodes:ContainerRestartRuleOnExitCodes*\n\
ContainerRestartRuleOnExitCodes = operator:str values:[int32]\n\
EnvVarSource + fileKeyRef:FileKeySelector*\n\
FileKeySelector = volumeName:str! path:str! key:str! optional:bool*\n\
VolumeProjection + podCertificate:PodCertificateProjection*\n\
PodCertificateProjection = signerName:str keyType:str maxExpirationSeconds:int32* credentialBundlePath:str \
    keyPath:str certificateChainPath:str\n\
PodSpec + hostnameOverride:str*\n\
PodStatus + extendedResourceClaimStatus:PodExtendedResourceClaimStatus*\n\
",
    roles: "\
system:aggregate-to-edit: => create,delete,deletecollection,patch,update resourceclaims,resourceclaimtemplates \
    @resource.k8s.io\n\
system:aggregate-to-view: => get,list,watch resourceclaims,resourceclaims/status,resourceclaimtemplates \
    @resource.k8s.io\n\
system:controller:resource-claim-controller = get,list,watch pods | update pods/finalizers | create,delete,get,list,\
    watch resourceclaims @resource.k8s.io | patch,update resourceclaims,resourceclaims/status @resource.k8s.io | \
    patch,update pods/status | create,patch,update events @core,events.k8s.io\n\
system:controller:volumeattributesclass-protection-controller = get,list,watch persistentvolumeclaims | get,list,\
    watch persistentvolumes | get,list,update,watch volumeattributesclasses @storage.k8s.io | create,patch,update \
    events @core,events.k8s.io\n\
system:kube-scheduler: => get,list,watch deviceclasses @resource.k8s.io | get,list,patch,update,watch resourceclaims \
    @resource.k8s.io | get,list,patch,update,watch resourceclaims/status @resource.k8s.io | update pods/finalizers | \
    get,list,watch resourceslices @resource.k8s.io\n\
system:monitoring: => get nodes/metrics\n\
system:node: => get resourceclaims @resource.k8s.io | deletecollection resourceslices @resource.k8s.io | get \
    serviceaccounts\n\
",
    ..NOTHING
};
