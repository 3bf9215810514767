//! Kubernetes 1.32: what is first true in it.

use super::*;

const SINCE: Release = Release::new(32, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 32,
    patch: Some(13),
    node_image: "kindest/node:v1.32.0",
    rows: &[
        row(
            SINCE,
            "pod-security-version",
            Value::Number(32.0),
            "k8s.io/pod-security-admission policy/check_sysctls.go (v1.32)",
        ),
        row(
            SINCE,
            "cpu-manager-options",
            Value::Text(
                "align-by-socket=Alpha,distribute-cpus-across-cores=Alpha,\
                 distribute-cpus-across-numa=Alpha,full-pcpus-only=Beta,\
                 prefer-align-cpus-by-uncorecache=Alpha,strict-cpu-reservation=Alpha",
            ),
            "pkg/kubelet/cm/cpumanager/policy_options.go (v1.32)",
        ),
        row(
            SINCE,
            "finalizers-should-have-a-path",
            YES,
            "k8s.io/apiextensions-apiserver pkg/registry/customresource/validator.go (v0.31, v0.32)",
        ),
        row(
            SINCE,
            "overlapping-paths-warn",
            YES,
            "pkg/api/pod/warnings.go (v1.31, v1.32), warningsForOverlappingVirtualPaths",
        ),
        row(
            SINCE,
            "variables-have-any-name",
            YES,
            "pkg/features/kube_features.go (v1.32), RelaxedEnvironmentVariableValidation",
        ),
        row(
            SINCE,
            "cloud-labels-match-whole-names",
            YES,
            "k8s.io/cloud-provider controllers/node/node_controller.go (v0.31, v0.32)",
        ),
        row(
            SINCE,
            "jobs-name-their-manager",
            YES,
            "pkg/features/kube_features.go, pkg/registry/batch/job/strategy.go (v1.32), JobManagedBy",
        ),
        row(
            SINCE,
            "waiting-pull-tells-why",
            YES,
            "pkg/kubelet/images/image_manager.go (v1.31, v1.32), pullImage",
        ),
        row(
            SINCE,
            "probe-at-once-restarts-period",
            YES,
            "pkg/kubelet/prober/worker.go (v1.31, v1.32), run",
        ),
        row(
            SINCE,
            "drain-ends-at-its-timeout",
            YES,
            "kubectl pkg/drain/drain.go (v1.31, v1.32), waitForDelete",
        ),
        row(
            SINCE,
            "node-monitor-grace-period",
            secs(50),
            "pkg/controller/nodelifecycle/config/v1alpha1/defaults.go (v1.31, v1.32; PR 126287)",
        ),
        row(
            SINCE,
            "flow-control-v1beta3-is-served",
            NO,
            "pkg/registry/flowcontrol/rest/storage_flowcontrol.go (v1.31, v1.32)",
        ),
        row(SINCE, "watch-list", YES, ""),
        row(
            SINCE,
            "reviews-have-selectors",
            YES,
            "k8s.io/apiserver pkg/features/kube_features.go (v1.31, v1.32), AuthorizeWithSelectors",
        ),
        row(SINCE, "logs-have-streams", YES, "pkg/features/kube_features.go (v1.31, v1.32), PodLogsQuerySplitStreams"),
        row(
            SINCE,
            "shutdown-end-has-its-metric",
            YES,
            "pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go (v1.31, v1.32; PR 128189), processShutdownEvent",
        ),
        row(
            SINCE,
            "errors-say-what-is-too-long",
            YES,
            "k8s.io/apimachinery pkg/util/validation/field/errors.go (v1.31, v1.32), TooLong",
        ),
        row(SINCE, "scaling-tells-from", YES, "pkg/controller/deployment/sync.go (v1.31, v1.34), scaleReplicaSet"),
        row(
            SINCE,
            "registration-goes-on-after-forbidden",
            YES,
            "pkg/kubelet/kubelet_node_status.go (v1.32), gate KubeletRegistrationGetOnExistsOnly",
        ),
        row(
            SINCE,
            "compressible-reservations",
            YES,
            "pkg/kubelet/apis/config/validation/validation.go (v1.31, v1.32), ValidateKubeletConfiguration",
        ),
        row(
            SINCE,
            "rejections-are-counted",
            YES,
            "pkg/kubelet/metrics/metrics.go (v1.31, v1.32), AdmissionRejectionsTotal",
        ),
        row(
            SINCE,
            "soft-eviction-within-pods-grace",
            YES,
            "pkg/kubelet/eviction/eviction_manager.go (v1.31, v1.32), gate AllowOverwriteTerminationGracePeriodSeconds",
        ),
        row(SINCE, "tcp-buffers-are-safe-sysctls", YES, "pkg/kubelet/sysctl/safe_sysctls.go (v1.32)"),
        row(
            SINCE,
            "cgroup-v1-warning",
            Value::Text("cgroup v1 support is in maintenance mode, please migrate to cgroup v2"),
            "",
        ),
        row(SINCE, "event-created", Value::Text("Created container: {}"), ""),
        row(
            SINCE,
            "nodes-authorised-with-selectors",
            YES,
            "pkg/features/kube_features.go (v1.34), AuthorizeNodeWithSelectors; KEP-4601",
        ),
        row(SINCE, "scheduler-queueing-hints", YES, "pkg/features/kube_features.go (v1.34), SchedulerQueueingHints"),
        row(
            SINCE,
            "scheduler-counts-unnamed-nodes",
            YES,
            "pkg/scheduler/schedule_one.go (v1.31, v1.34), findNodesThatFitPod",
        ),
        row(SINCE, "scheduler-victim-gets-preemptors-status", NO, ""),
        row(SINCE, "nodes-keep-their-owner-references", NO, ""),
        row(Release::new(32, 6), "static-pods-have-no-claims", YES, ""),
        row(Release::new(32, 8), "nodes-keep-their-owner-references", YES, ""),
    ],
    gates: &[
        gate(SINCE, "AllowOverwriteTerminationGracePeriodSeconds", GateStage::Deprecated(false)),
        gate(SINCE, "CloudDualStackNodeIPs", GateStage::Gone),
        gate(SINCE, "DynamicResourceAllocation", BETA_OFF),
        gate(SINCE, "KubeletFineGrainedAuthz", ALPHA),
        gate(SINCE, "KubeletRegistrationGetOnExistsOnly", GateStage::Deprecated(false)),
        gate(SINCE, "MemoryManager", LOCKED),
        gate(SINCE, "NodeOutOfServiceVolumeDetach", GateStage::Gone),
        gate(SINCE, "PodLevelResources", ALPHA),
        gate(SINCE, "RecoverVolumeExpansionFailure", BETA),
        gate(SINCE, "SchedulerAsyncPreemption", ALPHA),
        gate(SINCE, "SchedulerQueueingHints", BETA),
        gate(SINCE, "StableLoadBalancerNodeSet", GateStage::Gone),
        gate(SINCE, "SystemdWatchdog", BETA),
        gate(SINCE, "TopologyManagerPolicyOptions", STABLE),
        gate(SINCE, "WindowsGracefulNodeShutdown", ALPHA),
    ],
    fields: "\
DeleteOptions + ignoreStoreReadErrorWithClusterBreakingPotential:bool*\n\
PodSpec + resources:ResourceRequirements*\n\
PodSecurityContext + seLinuxChangePolicy:str*\n\
",
    roles: "\
system:controller:cronjob-controller: delete,list pods => delete,list,watch pods\n\
system:controller:endpoint-controller: create,delete,get,list,update endpoints => create,delete,get,list,update,\
    watch endpoints\n\
system:controller:endpointslice-controller: create,delete,get,list,update endpointslices @discovery.k8s.io => \
    create,delete,get,list,update,watch endpointslices @discovery.k8s.io\n\
system:controller:endpointslicemirroring-controller: create,delete,get,list,update endpointslices @discovery.k8s.io \
    => create,delete,get,list,update,watch endpointslices @discovery.k8s.io\n\
system:controller:expand-controller: get,list,watch storageclasses @storage.k8s.io | get endpoints,services | get \
    secrets =>\n\
system:controller:expand-controller: => get services\n\
system:controller:horizontal-pod-autoscaler: list pods | list pods @metrics.k8s.io | get,list * \
    @custom.metrics.k8s.io | get,list * @external.metrics.k8s.io => list,watch pods | list,watch pods \
    @metrics.k8s.io | get,list,watch * @custom.metrics.k8s.io | get,list,watch * @external.metrics.k8s.io\n\
system:controller:namespace-controller: delete,deletecollection,get,list * @* => delete,deletecollection,get,list,\
    watch * @*\n\
system:controller:node-controller: delete,get,list,patch,update nodes => delete,get,list,patch,update,watch nodes\n\
system:controller:node-controller: delete,get,list pods => delete,get,list,watch pods\n\
system:controller:persistent-volume-binder: create,delete,get,update endpoints | create,delete,get services | get \
    secrets | get,list nodes => list,watch nodes\n\
system:controller:persistent-volume-binder: => get services\n\
system:controller:pod-garbage-collector: get,list nodes => get,list,watch nodes\n\
system:controller:statefulset-controller: create,get persistentvolumeclaims => create,get,list,watch \
    persistentvolumeclaims\n\
system:controller:statefulset-controller: => update pods/finalizers\n\
system:kube-scheduler: get,list,watch csinodes @storage.k8s.io => get,list,watch csinodes @storage.k8s.io | get,\
    list,watch volumeattachments @storage.k8s.io\n\
",
    columns: &[
        Described(
            "nodes",
            "Internal-IP",
            "List of addresses reachable to the node. Queried from cloud provider, if available. More info: \
             https://kubernetes.io/docs/reference/node/node-status/#addresses Note: This field is declared as \
             mergeable, but the merge key is not sufficiently unique, which can cause data corruption when it is \
             merged. Callers should instead use a full-replacement patch. See https://pr.k8s.io/79391 for an \
             example. Consumers should assume that addresses can change during the lifetime of a Node. However, \
             there are some exceptions where this may not be possible, such as Pods that inherit a Node's address in \
             its own status or consumers of the downward API (status.hostIP).",
        ),
        Described(
            "nodes",
            "External-IP",
            "List of addresses reachable to the node. Queried from cloud provider, if available. More info: \
             https://kubernetes.io/docs/reference/node/node-status/#addresses Note: This field is declared as \
             mergeable, but the merge key is not sufficiently unique, which can cause data corruption when it is \
             merged. Callers should instead use a full-replacement patch. See https://pr.k8s.io/79391 for an \
             example. Consumers should assume that addresses can change during the lifetime of a Node. However, \
             there are some exceptions where this may not be possible, such as Pods that inherit a Node's address in \
             its own status or consumers of the downward API (status.hostIP).",
        ),
        Added(
            "priorityclasses",
            Column {
                name: "PreemptionPolicy",
                kind: "string",
                format: "",
                priority: 0,
                about: "preemptionPolicy is the Policy for preempting pods with lower priority. One of Never, \
                        PreemptLowerPriority. Defaults to PreemptLowerPriority if unset.",
            },
        ),
        Described(
            "serviceaccounts",
            "Secrets",
            "Secrets is a list of the secrets in the same namespace that pods running using this ServiceAccount are \
             allowed to use. Pods are only limited to this list if this service account has a \
             \"kubernetes.io/enforce-mountable-secrets\" annotation set to \"true\". The \
             \"kubernetes.io/enforce-mountable-secrets\" annotation is deprecated since v1.32. Prefer separate \
             namespaces to isolate access to mounted secrets. This field should not be used to find auto-generated \
             service account token secrets for use outside of pods. Instead, tokens can be requested directly using \
             the TokenRequest API, or service account token secrets can be manually created. More info: \
             https://kubernetes.io/docs/concepts/configuration/secret",
        ),
    ],
};
