//! Kubernetes 1.36: what is first true in it.

use super::*;

const SINCE: Release = Release::new(36, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 36,
    patch: Some(3),
    rows: &[
        row(
            SINCE,
            "job-start-times-are-immutable",
            YES,
            "pkg/apis/batch/validation/validation.go (v1.35, v1.36), ValidateJobStatusUpdate",
        ),
        row(
            SINCE,
            "init-containers-are-resized",
            YES,
            "pkg/features/kube_features.go (v1.36), InPlacePodVerticalScalingInitContainers",
        ),
        row(
            SINCE,
            "resize-beyond-node-is-infeasible",
            NO,
            "pkg/kubelet/allocation/allocation_manager.go (v1.35), canResizePod; allocation/handlers.go (v1.36)",
        ),
        row(
            SINCE,
            "ended-pods-free-resizes",
            YES,
            "pkg/kubelet/kubelet.go (v1.35, v1.36), HandlePodReconcile",
        ),
        row(
            SINCE,
            "cpu-manager-options",
            Value::Text(
                "align-by-socket=Alpha,distribute-cpus-across-cores=Alpha,distribute-cpus-across-numa=Beta,\
                 full-pcpus-only=Stable,prefer-align-cpus-by-uncorecache=Stable,\
                 strict-cpu-reservation=Stable",
            ),
            "pkg/kubelet/cm/cpumanager/policy_options.go (v1.36)",
        ),
        row(
            SINCE,
            "kinds-checked-once",
            Value::Text(
                "CSINode,ClusterRole,ClusterRoleBinding,PersistentVolumeClaim,Role,RoleBinding,VolumeAttachment",
            ),
            "pkg/registry/storage/csinode/strategy.go (v1.35, v1.36), ValidateUpdate",
        ),
        row(
            SINCE,
            "runtime-class-handler-is-required",
            YES,
            "pkg/apis/node/validation/validation.go (v1.35, v1.36), ValidateRuntimeClass",
        ),
        row(
            SINCE,
            "storage-class-fields-are-immutable",
            YES,
            "pkg/apis/storage/validation/validation.go (v1.35, v1.36), ValidateStorageClassUpdate",
        ),
        row(
            SINCE,
            "autoscaler-maximum-is-required",
            YES,
            "pkg/apis/autoscaling/validation/validation.go (v1.34, v1.36), validateHorizontalPodAutoscalerSpec",
        ),
        row(SINCE, "external-ips-warn", YES, "pkg/api/service/warnings.go (v1.35, v1.36), GetWarningsForService"),
        row(
            SINCE,
            "routes-claim-their-condition",
            YES,
            "k8s.io/cloud-provider controllers/route/route_controller.go (v0.35, v0.36)",
        ),
        row(
            SINCE,
            "service-names-are-labels",
            YES,
            "pkg/features/kube_features.go (v1.36), RelaxedServiceNameValidation",
        ),
        row(
            SINCE,
            "mutating-admission-policies-are-served",
            YES,
            "pkg/registry/admissionregistration/rest/storage_apiserver.go (v1.36)",
        ),
        row(
            SINCE,
            "drain-says-cannot-delete-once",
            YES,
            "kubectl pkg/drain/filters.go (v1.35, v1.36), unmanagedFatal",
        ),
        row(
            SINCE,
            "kubectl-counts-pod-level-resources",
            YES,
            "kubectl pkg/describe/describe.go (v1.34, v1.36), describeNodeResource; kubernetes/kubernetes#137394",
        ),
        row(SINCE, "ambiguous-cidrs-warn", NO, ""),
        row(SINCE, "strict-cidrs", YES, "pkg/features/kube_features.go (v1.36), StrictIPCIDRValidation"),
        row(
            SINCE,
            "kubelet-checks-reservation-policy",
            YES,
            "pkg/kubelet/apis/config/validation/validation.go (v1.35, v1.36), ValidateKubeletConfiguration",
        ),
        row(
            SINCE,
            "component-pages-are-served",
            YES,
            "pkg/features/kube_features.go (v1.36), ComponentFlagz, ComponentStatusz",
        ),
        row(
            SINCE,
            "restart-rules-are-counted",
            YES,
            "pkg/apis/core/validation/validation.go (v1.35, v1.36), validateContainerRestartPolicy",
        ),
        row(SINCE, "health-has-storage-readiness", YES, "k8s.io/apiserver pkg/server/config.go (v1.36)"),
        row(SINCE, "attachment-names-are-always-checked", YES, "pkg/apis/storage/validation/validation.go (v1.36)"),
        row(
            SINCE,
            "declared-features",
            Value::Text(
                "ExtendWebSocketsToKubelet,InPlacePodLevelResourcesVerticalScaling,\
                 InPlacePodVerticalScalingInitContainers,RestartAllContainersOnContainerExits",
            ),
            "k8s.io/component-helpers/nodedeclaredfeatures/features/registry.go (v1.36), gate NodeDeclaredFeatures",
        ),
        row(
            SINCE,
            "impersonation-is-constrained",
            YES,
            "k8s.io/apiserver pkg/features/kube_features.go (v1.36), ConstrainedImpersonation; KEP-5284",
        ),
        row(
            SINCE,
            "scheduler-preempts-in-memory",
            YES,
            "pkg/scheduler/framework/preemption/executor.go (v1.36), NewExecutor",
        ),
        row(
            SINCE,
            "scheduler-ignores-failures-of-replaced-pods",
            YES,
            "pkg/scheduler/schedule_one.go (v1.35, v1.36), handleSchedulingFailure",
        ),
        row(
            SINCE,
            "scheduler-affinity-hint-heeds-both-sides",
            YES,
            "pkg/scheduler/framework/plugins/interpodaffinity/plugin.go (v1.35, v1.36), isSchedulableAfterPodChange",
        ),
        row(
            SINCE,
            "scheduler-hints-count-nominated-pods",
            YES,
            "pkg/scheduler/framework/plugins/podtopologyspread/plugin.go (v1.35, v1.36), involvedInTopologySpreading",
        ),
        row(
            SINCE,
            "scheduler-preempted-event-relates-preemptor",
            NO,
            "pkg/scheduler/framework/preemption/executor.go (v1.34, v1.36)",
        ),
        row(
            SINCE,
            "stateful-sets-take-gone-pods-for-deleted",
            YES,
            "pkg/controller/statefulset/stateful_pod_control.go (v1.35, v1.36), DeleteStatefulPod",
        ),
        row(
            SINCE,
            "volume-binder-retries",
            YES,
            "pkg/controller/volume/persistentvolume/pv_controller_base.go (v1.35, v1.36), AddRateLimited",
        ),
        row(
            SINCE,
            "jobs-count-pods-in-pauses",
            YES,
            "pkg/controller/job/job_controller.go (v1.35, v1.36), manageJob",
        ),
        row(
            SINCE,
            "default-ingress-class-is-shown",
            YES,
            "pkg/printers/internalversion/printers.go (v1.35, v1.36), printIngressClass",
        ),
        row(SINCE, "node-table-tells-architecture", YES, "pkg/printers/internalversion/printers.go (v1.36), printNode"),
        row(SINCE, "sandbox-ready-is-told", YES, "pkg/kubelet/kubelet.go (v1.35, v1.36), OnPodSandboxReady"),
        row(SINCE, "scheduler-balance-score", Value::Text("improvement"), ""),
        row(
            SINCE,
            "kubectl-counts-status-resources",
            Value::Text("lines"),
            "kubectl pkg/describe/describe.go (v1.36), describeNodeResource and getPodsTotalRequestsAndLimits",
        ),
        row(
            SINCE,
            "kubectl-tells-kube-proxy-version",
            NO,
            "kubectl pkg/describe/describe.go (v1.35, v1.36), describeNode",
        ),
        row(
            SINCE,
            "kubectl-lists-resource-slices",
            YES,
            "kubectl pkg/describe/describe.go (v1.35, v1.36), describeNodeResourceSlices",
        ),
    ],
    gates: &[
        gate(SINCE, "CustomCPUCFSQuotaPeriod", STABLE),
        gate(SINCE, "DRAExtendedResource", BETA),
        gate(SINCE, "DisableNodeKubeProxyVersion", GateStage::Retired(true)),
        gate(SINCE, "ExtendWebSocketsToKubelet", BETA),
        gate(SINCE, "ImageVolume", LOCKED),
        gate(SINCE, "KubeletFineGrainedAuthz", LOCKED),
        gate(SINCE, "MemoryManager", GateStage::Gone),
        gate(SINCE, "NodeDeclaredFeatures", BETA),
        gate(SINCE, "PersistentVolumeClaimUnusedSinceTime", ALPHA),
        gate(SINCE, "ProcMountType", LOCKED),
        gate(SINCE, "ResourceHealthStatus", BETA),
        gate(SINCE, "StaleControllerConsistencyDaemonSet", BETA),
        gate(SINCE, "StaleControllerConsistencyJob", BETA),
        gate(SINCE, "StaleControllerConsistencyReplicaSet", BETA),
        gate(SINCE, "StaleControllerConsistencyStatefulSet", BETA),
        gate(SINCE, "TopologyManagerPolicyOptions", LOCKED),
        gate(SINCE, "UserNamespacesSupport", LOCKED),
    ],
    fields: "\
PodSpec - workloadRef\n\
PodSpec + schedulingGroup:any\n\
PodStatus + nodeAllocatableResourceClaimStatuses:[any]\n\
VolumeMountStatus + volumeStatus:any\n\
",
    roles: "\
system:controller:device-taint-eviction-controller = delete,get,list,watch pods | patch,update pods/status | get,\
    list,watch resourceclaims @resource.k8s.io | get,list,watch resourceslices @resource.k8s.io | get,list,watch \
    deviceclasses @resource.k8s.io | create,patch,update events @core,events.k8s.io\n\
system:controller:expand-controller: get services =>\n\
system:controller:persistent-volume-binder: get services =>\n\
system:controller:pvc-protection-controller: get,list,update,watch persistentvolumeclaims => get,list,update,watch \
    persistentvolumeclaims | update persistentvolumeclaims/status\n\
system:controller:resource-claim-controller: => patch,update resourceclaims/binding @resource.k8s.io\n\
system:kube-scheduler: => create,delete resourceclaims @resource.k8s.io | patch,update resourceclaims/binding \
    @resource.k8s.io\n\
system:monitoring: get /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/* => get /flagz,\
    /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*,/statusz\n\
",
    columns: &[
        Described(
            "controllerrevisions",
            "Revision",
            "Revision indicates the revision of the state represented by Data.",
        ),
        Described(
            "horizontalpodautoscalers",
            "Targets",
            "metrics contains the specifications for which to use to calculate the desired replica count (the \
             maximum replica count across all metrics will be used).  The desired replica count is calculated \
             multiplying the ratio between the target value and the current value by the current number of pods.  \
             Ergo, metrics used must decrease as the pod count is increased, and vice-versa.  See the individual \
             metric source types for more information about how each type of metric must respond. If not set, the \
             default metric will be set to 80% average CPU utilization.",
        ),
        Described(
            "networkpolicies",
            "Pod-Selector",
            "podSelector selects the pods to which this NetworkPolicy object applies. The array of rules is \
             applied to any pods selected by this field. An empty selector matches all pods in the policy's \
             namespace. Multiple network policies can select the same set of pods. In this case, the ingress rules \
             for each are combined additively. This field is optional. If it is not specified, it defaults to an \
             empty selector.",
        ),
        Described(
            "endpointslices",
            "AddressType",
            "addressType specifies the type of address carried by this EndpointSlice. All addresses in this slice \
             must be the same type. This field is immutable after creation. The following address types are \
             currently supported: * IPv4: Represents an IPv4 Address. * IPv6: Represents an IPv6 Address. * FQDN: \
             Represents a Fully Qualified Domain Name. (Deprecated) The EndpointSlice controller only generates, \
             and kube-proxy only processes, slices of addressType \"IPv4\" and \"IPv6\". No semantics are defined \
             for the \"FQDN\" type.",
        ),
        Described(
            "endpointslices",
            "Ports",
            "ports specifies the list of network ports exposed by each endpoint in this slice. Each port must have \
             a unique name. Each slice may include a maximum of 100 ports. Services always have at least 1 port, \
             so EndpointSlices generated by the EndpointSlice controller will likewise always have at least 1 \
             port. EndpointSlices used for other purposes may have an empty ports list.",
        ),
        Described(
            "daemonsets",
            "Ready",
            "numberReady is the number of nodes that should be running the daemon pod and have one or more of the \
             daemon pod running with a Ready Condition.",
        ),
        Described(
            "daemonsets",
            "Selector",
            "A label query over pods that are managed by the daemon set. Must match in order to be controlled. It \
             must match the pod template's labels. More info: \
             https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
        ),
        Described(
            "replicasets",
            "Selector",
            "Selector is a label query over pods that should match the replica count. Label keys and values that \
             must match in order to be controlled by this replica set. It must match the pod template's labels. More \
             info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
        ),
        Described(
            "deployments",
            "Selector",
            "Label selector for pods. Existing ReplicaSets whose pods are selected by this will be the ones affected \
             by this deployment. It must match the pod template's labels.",
        ),
    ],
    ..NOTHING
};
