//! Kubernetes 1.35: what is first true in it.

use super::*;

const SINCE: Release = Release::new(35, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 35,
    patch: Some(4),
    node_image: "kindest/node:v1.35.0",
    rows: &[
        row(
            SINCE,
            "endpoint-ports-sorted-by-fnv",
            YES,
            "pkg/api/v1/endpoints/util.go, k8s.io/endpointslice util/controller_utils.go (v1.34, v1.35)",
        ),
        row(
            SINCE,
            "static-pods-are-checked-by-gates",
            YES,
            "pkg/kubelet/config/common.go (v1.34, v1.35), tryDecodeSinglePod",
        ),
        row(SINCE, "crash-back-off-is-waited-out", YES, "pkg/kubelet/pod_workers.go (v1.34, v1.35), completeWork"),
        row(
            SINCE,
            "resize-steps-are-told",
            YES,
            "pkg/kubelet/allocation/allocation_manager.go (v1.34, v1.35), handlePodResourcesResize",
        ),
        row(
            SINCE,
            "unissued-requests-are-removed",
            YES,
            "pkg/controller/certificates/cleaner/cleaner.go (v1.34, v1.35), isApprovedUnissuedPastDeadline",
        ),
        row(
            SINCE,
            "stateful-sets-plan-availability",
            YES,
            "pkg/controller/statefulset/stateful_set.go (v1.34, v1.35), updatePod and syncStatefulSet",
        ),
        row(
            SINCE,
            "pod-security-version",
            Value::Number(35.0),
            "k8s.io/pod-security-admission policy/check_procMount_baseline.go (v1.35)",
        ),
        row(
            SINCE,
            "kubelet-has-infra-image-flag",
            NO,
            "cmd/kubelet/app/options/options.go (v1.34, v1.36); PR 133779",
        ),
        row(
            SINCE,
            "cpu-manager-options",
            Value::Text(
                "align-by-socket=Alpha,distribute-cpus-across-cores=Alpha,distribute-cpus-across-numa=Beta,\
                 full-pcpus-only=Stable,prefer-align-cpus-by-uncorecache=Beta,strict-cpu-reservation=Stable",
            ),
            "pkg/kubelet/cm/cpumanager/policy_options.go (v1.35)",
        ),
        row(
            SINCE,
            "kinds-checked-once",
            Value::Text("ClusterRole,ClusterRoleBinding,PersistentVolumeClaim,Role,RoleBinding,VolumeAttachment"),
            "pkg/registry/core/persistentvolumeclaim/strategy.go, pkg/registry/rbac/*/strategy.go, \
             pkg/registry/storage/volumeattachment/strategy.go (v1.34, v1.35), ValidateUpdate",
        ),
        row(
            SINCE,
            "runtime-class-tolerations-are-a-list-once",
            YES,
            "pkg/apis/node/validation/validation.go (v1.34, v1.35), validateTolerations",
        ),
        row(
            SINCE,
            "cloud-events-name-api-version",
            YES,
            "k8s.io/cloud-provider controllers/route/route_controller.go (v0.34, v0.35)",
        ),
        row(
            SINCE,
            "csi-drivers-time-recounts",
            YES,
            "pkg/features/kube_features.go (v1.35), MutableCSINodeAllocatableCount",
        ),
        row(
            SINCE,
            "drain-reads-refused-pods-again",
            YES,
            "kubectl pkg/drain/drain.go (v1.34, v1.35), evictPods",
        ),
        row(SINCE, "kubectl-tells-field-paths", YES, "kubectl pkg/describe/describe.go (v1.34, v1.35), DescribeEvents"),
        row(
            SINCE,
            "restart-keeps-container-status",
            YES,
            "pkg/kubelet/prober/prober_manager.go (v1.34, v1.35), UpdatePodStatus; KEP-4781",
        ),
        row(
            SINCE,
            "inhibit-delay-is-awaited",
            YES,
            "pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go (v1.34, v1.35), start",
        ),
        row(
            SINCE,
            "first-v1-of-1.34-is-stored",
            YES,
            "k8s.io/apiserver pkg/server/storage/resource_encoding_config.go (v1.34)",
        ),
        row(
            SINCE,
            "streams-need-create",
            YES,
            "pkg/registry/core/pod/rest/authorize.go (v1.35), ensureAuthorizedForVerb",
        ),
        row(SINCE, "eviction-tells-sync", YES, "pkg/registry/core/pod/storage/eviction.go (v1.35)"),
        row(SINCE, "pod-topology-labels", YES, "plugin/pkg/admission/podtopologylabels/admission.go (v1.35); KEP 4742"),
        row(SINCE, "node-events-name-api-version", YES, "pkg/kubelet/kubelet.go (v1.35), nodeRef"),
        row(
            SINCE,
            "image-collection-failed",
            Value::Text(
                "Insufficient free disk space on the node's image filesystem ({used}% of {capacity} used). Failed to \
                 free sufficient space by deleting unused images (freed {freed} bytes). Investigate disk usage, as it \
                 could be used by active images, logs, volumes, or other data.",
            ),
            "pkg/kubelet/images/image_gc_manager.go (v1.34, v1.35)",
        ),
        row(
            SINCE,
            "restart-rules-of-init-containers-need-policy",
            YES,
            "pkg/apis/core/validation/validation.go (v1.34, v1.35), validateInitContainerRestartPolicy",
        ),
        row(SINCE, "fail-cgroup-v1", YES, "pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34, v1.35)"),
        row(
            SINCE,
            "refused-log-query-is-named",
            YES,
            "pkg/kubelet/apis/config/validation/validation.go (v1.34, v1.35), ValidateKubeletConfiguration",
        ),
        row(
            SINCE,
            "cgroup-v1-refusal",
            Value::Text("cgroup v1 support is unsupported and will be removed in a future release"),
            "pkg/kubelet/apis/config/validation/validation_linux.go (v1.34, v1.35)",
        ),
        row(
            SINCE,
            "cgroup-v1-warning",
            Value::Text(
                "cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please \
                 migrate to cgroup v2. More information at \
                 https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1",
            ),
            "",
        ),
        row(
            SINCE,
            "event-pulled",
            Value::Text("Container image \"{}\" already present on machine and can be accessed by the pod"),
            "pkg/kubelet/images/image_manager.go (v1.34, v1.36)",
        ),
        row(SINCE, "event-created", Value::Text("Container created"), ""),
        row(
            SINCE,
            "event-started",
            Value::Text("Container started"),
            "pkg/kubelet/kuberuntime/kuberuntime_container.go (v1.34, v1.36)",
        ),
        row(
            SINCE,
            "scheduler-leaves-ending-victims",
            YES,
            "pkg/scheduler/framework/preemption/preemption.go (v1.34, v1.35), prepareCandidate, NewEvaluator",
        ),
        row(
            SINCE,
            "scheduler-failure-always-clears-nomination",
            YES,
            "pkg/scheduler/schedule_one.go (v1.34, v1.35), clearNominatedNode",
        ),
        row(
            SINCE,
            "toleration-comparisons-are-known",
            YES,
            "pkg/apis/core/validation/validation.go (v1.36), ValidateTolerations",
        ),
        row(
            SINCE,
            "binding-clears-nomination",
            YES,
            "pkg/features/kube_features.go (v1.36), ClearingNominatedNodeNameAfterBinding",
        ),
        row(SINCE, "scheme-name", Value::Text("pkg/runtime/scheme.go:111"), ""),
        row(
            SINCE,
            "stateful-set-events-capitalised",
            YES,
            "pkg/controller/statefulset/stateful_pod_control.go (v1.34, v1.35), recordPodEvent",
        ),
        row(
            SINCE,
            "lengths-in-bytes",
            YES,
            "k8s.io/apimachinery pkg/util/validation/validation.go and pkg/api/validate/content (v1.34, v1.35)",
        ),
        row(
            SINCE,
            "bad-delete-options-are-bad-requests",
            YES,
            "k8s.io/apiserver pkg/endpoints/handlers/delete.go (v1.34, v1.35)",
        ),
        row(SINCE, "scheduler-bound-nominee-frees-others", NO, ""),
        row(
            SINCE,
            "pod-table-tells-failed-containers",
            YES,
            "pkg/printers/internalversion/printers.go (v1.34, v1.35), printPod",
        ),
    ],
    gates: &[
        gate(SINCE, "AllowOverwriteTerminationGracePeriodSeconds", GateStage::Retired(false)),
        gate(SINCE, "AuthorizePodWebsocketUpgradeCreatePermission", BETA),
        gate(SINCE, "ChangeContainerStatusOnKubeletRestart", GateStage::Deprecated(false)),
        gate(SINCE, "ClearingNominatedNodeNameAfterBinding", BETA),
        gate(SINCE, "ContainerRestartRules", BETA),
        gate(SINCE, "DeploymentReplicaSetTerminatingReplicas", BETA),
        gate(SINCE, "DynamicResourceAllocation", LOCKED),
        gate(SINCE, "EnvFiles", BETA),
        gate(SINCE, "HostnameOverride", BETA),
        gate(SINCE, "ImageVolume", BETA),
        gate(SINCE, "InPlacePodVerticalScaling", LOCKED),
        gate(SINCE, "MaxUnavailableStatefulSet", BETA_OFF),
        gate(SINCE, "NodeDeclaredFeatures", ALPHA),
        gate(SINCE, "NominatedNodeNameForExpectation", BETA),
        gate(SINCE, "PodCertificateRequest", BETA_OFF),
        gate(SINCE, "PodObservedGenerationTracking", LOCKED),
        gate(SINCE, "SupplementalGroupsPolicy", LOCKED),
        gate(SINCE, "SystemdWatchdog", LOCKED),
        gate(SINCE, "TaintTolerationComparisonOperators", ALPHA),
    ],
    fields: "\
CSIDriverSpec + serviceAccountTokenInSecrets:bool*\n\
NodeStatus + declaredFeatures:[str]\n\
PodSpec + workloadRef:any\n\
PodStatus + allocatedResources:{quantity} resources:ResourceRequirements*\n\
",
    roles: "\
kube-system/system::leader-locking-kube-controller-manager: watch configmaps | get,update configmaps \
    #kube-controller-manager =>\n\
kube-system/system::leader-locking-kube-scheduler: watch configmaps | get,update configmaps #kube-scheduler =>\n\
system:aggregate-to-edit: create,delete,deletecollection,patch,update configmaps,events,persistentvolumeclaims,\
    replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy => create,\
    delete,deletecollection,patch,update configmaps,persistentvolumeclaims,replicationcontrollers,\
    replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy\n\
system:aggregate-to-edit: create serviceaccounts/token => create serviceaccounts/token | create,delete,\
    deletecollection,patch,update events @core,events.k8s.io\n\
system:aggregate-to-view: get,list,watch bindings,events,limitranges,namespaces/status,pods/log,pods/status,\
    replicationcontrollers/status,resourcequotas,resourcequotas/status => get,list,watch bindings,limitranges,\
    namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status\n\
system:aggregate-to-view: get,list,watch namespaces => get,list,watch namespaces | get,list,watch events @core,\
    events.k8s.io\n\
system:node: create,patch,update events => create,patch,update events @core,events.k8s.io\n\
",
    columns: &[
        Gone("serviceaccounts", "Secrets"),
        Described(
            "validatingadmissionpolicybindings",
            "ParamRef",
            "ParamRef indicates the param resource which sets the configuration param",
        ),
        Described(
            "resourceslices",
            "Driver",
            "Driver identifies the DRA driver providing the capacity information. A field selector can be used to list \
             only ResourceSlice objects with a certain driver name.\n\nMust be a DNS subdomain and should end with a \
             DNS domain owned by the vendor of the driver. It should use only lower case characters. This field is \
             immutable.",
        ),
    ],
};
