//! Kubernetes 1.35: what is first true in it.

use super::*;

const SINCE: Release = Release::new(35, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 35,
    rows: &[
        row(SINCE, "eviction-tells-sync", YES, "pkg/registry/core/pod/storage/eviction.go (v1.35)"),
        row(SINCE, "pod-topology-labels", YES, "plugin/pkg/admission/podtopologylabels/admission.go (v1.35); KEP 4742"),
        row(SINCE, "node-events-name-api-version", YES, "pkg/kubelet/kubelet.go (v1.35), nodeRef"),
        row(SINCE, "fail-cgroup-v1", YES, "pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34, v1.35)"),
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
            "scheduler-failure-clears-nomination",
            NO,
            "pkg/features/kube_features.go (v1.36), NominatedNodeNameForExpectation",
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
        row(SINCE, "scheduler-balance-score", Value::Text("improvement"), ""),
    ],
    gates: &[
        gate(SINCE, "AllowOverwriteTerminationGracePeriodSeconds", LOCKED),
        gate(SINCE, "ClearingNominatedNodeNameAfterBinding", BETA),
        gate(SINCE, "DeploymentReplicaSetTerminatingReplicas", BETA),
        gate(SINCE, "DynamicResourceAllocation", LOCKED),
        gate(SINCE, "InPlacePodVerticalScaling", LOCKED),
        gate(SINCE, "MaxUnavailableStatefulSet", BETA_OFF),
        gate(SINCE, "NodeDeclaredFeatures", ALPHA),
        gate(SINCE, "NominatedNodeNameForExpectation", BETA),
        gate(SINCE, "PodObservedGenerationTracking", LOCKED),
        gate(SINCE, "SupplementalGroupsPolicy", LOCKED),
        gate(SINCE, "SystemdWatchdog", LOCKED),
        gate(SINCE, "TaintTolerationComparisonOperators", ALPHA),
    ],
    fields: "\
NodeStatus + declaredFeatures:[str]\n\
PodSpec + workloadRef:any\n\
PodStatus + allocatedResources:{quantity} resources:ResourceRequirements*\n\
",
    columns: &[
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
        Gone("serviceaccounts", "Secrets"),
    ],
    ..NOTHING
};
