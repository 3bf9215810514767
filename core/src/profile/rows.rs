//! The table of behaviours that code asks for by name: a row each with its first values; later values are in the files
//! of the releases (`profile/releases`).

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use once_cell::race::OnceBox;

use super::Release;
use super::controller_rows::OF_CONTROLLERS;
use super::election_rows::LEADER_ELECTION;
use super::flag_rows::{
    ALLOCATE_NODE_CIDRS, BEFORE_OFFERED, CLIENTS, CLOUD, CPU_MANAGER_OPTIONS, NODE_IPAM, NODE_LIFECYCLE, OF_STORE,
    OF_VOLUMES_AND_WORDS, OTHER_CONTROLLERS, TO_KUBELETS,
};
use super::kubelet_rows::OF_KUBELETS;
use super::release::OLDEST;
use super::row::{PLAIN, Row, latest, off, on};
use super::value::{Value, secs};

/// Finds a row by its name.
#[must_use]
pub fn row(name: &str) -> Option<&'static Row> {
    index().get(name).map(|indexed| indexed.row)
}

/// Finds the value of a row at a release.
pub(super) fn value_at(name: &str, release: Release) -> Option<Value> {
    latest(&index().get(name)?.values, release)
}

/// A row with all its values, oldest first.
struct IndexedRow {
    row: &'static Row,
    values: Vec<(Release, Value)>,
}

/// Returns the rows by their names. Components ask for them all the time, and there are more with each release.
fn index() -> &'static BTreeMap<&'static str, IndexedRow> {
    static INDEX: OnceBox<BTreeMap<&'static str, IndexedRow>> = OnceBox::new();
    INDEX.get_or_init(|| Box::new(rows().map(|row| (row.name, IndexedRow { row, values: row.values() })).collect()))
}

/// Returns all behaviours.
pub fn rows() -> impl Iterator<Item = &'static Row> + Clone {
    TABLES.iter().copied().flatten()
}

static TABLES: &[&[Row]] = &[
    &NODE_LIFECYCLE,
    &CLIENTS,
    &[ALLOCATE_NODE_CIDRS],
    &BEFORE_OFFERED,
    &NODE_IPAM,
    &CLOUD,
    &OTHER_CONTROLLERS,
    &LEADER_ELECTION,
    &TO_KUBELETS,
    &[CPU_MANAGER_OPTIONS],
    &OF_VOLUMES_AND_WORDS,
    OTHERS,
    OF_CONTROLLERS,
    OF_KUBELETS,
    &OF_STORE,
];

static OTHERS: &[Row] = &[
    Row {
        name: "default-not-ready-toleration-seconds",
        says: "how many seconds a pod that says nothing else stays on a node that is not ready",
        first: &[(OLDEST, Value::Number(300.0))],
        source: "plugin/pkg/admission/defaulttolerationseconds/admission.go (v1.34)",
        flag: "kube-apiserver.default-not-ready-toleration-seconds",
    },
    Row {
        name: "default-unreachable-toleration-seconds",
        says: "how many seconds a pod that says nothing else stays on a node that is unreachable",
        first: &[(OLDEST, Value::Number(300.0))],
        source: "plugin/pkg/admission/defaulttolerationseconds/admission.go (v1.34)",
        flag: "kube-apiserver.default-unreachable-toleration-seconds",
    },
    Row {
        name: "anonymous-auth",
        says: "requests without credentials are taken as those of system:anonymous",
        first: &[(OLDEST, Value::Bool(true))],
        source: "pkg/kubeapiserver/options/authentication.go (v1.34), WithAnonymous",
        flag: "kube-apiserver.anonymous-auth",
    },
    Row {
        name: "enable-admission-plugins",
        says: "admission plugins that run beside those that run anyway, separated by commas",
        first: &[(OLDEST, Value::Text(""))],
        source: "k8s.io/apiserver pkg/server/options/admission.go (v1.34)",
        flag: "kube-apiserver.enable-admission-plugins",
    },
    Row {
        name: "disable-admission-plugins",
        says: "admission plugins that do not run, separated by commas",
        first: &[(OLDEST, Value::Text(""))],
        source: "k8s.io/apiserver pkg/server/options/admission.go (v1.34)",
        flag: "kube-apiserver.disable-admission-plugins",
    },
    Row {
        name: "cidr-allocator-type",
        says: "how Nodes get their networks; kube-controller-manager knows one way only",
        first: &[(OLDEST, Value::Text("RangeAllocator"))],
        source: "cmd/kube-controller-manager/app/options/kubecloudshared.go (v1.34)",
        flag: "kube-controller-manager.cidr-allocator-type",
    },
    off("errors-say-what-is-too-long", "`may not be more than 5 bytes`, not `must have at most 5 bytes`"),
    off("required-affinity-has-label-values", "values of a required node affinity are checked as those of labels"),
    off("lengths-in-bytes", "messages about names speak of bytes and label keys, not characters and qualified names"),
    off("ambiguous-cidrs-warn", "a CIDR whose address is not its network's first is taken with a warning"),
    off("unusual-addresses-warn", "addresses in old fields are read leniently with a warning, those in new ones not"),
    off("token-requests-keep-uids", "a TokenRequest tells the uid of its account, and may name it"),
    off("logs-have-streams", "a request for a log may name a stream, which a gate that is off refuses"),
    off("reviews-have-selectors", "the field selector of a review of access is checked"),
    off("endpoints-are-deprecated", "each answer about Endpoints carries a warning"),
    off("volume-attributes-classes-are-kept", "volumeAttributesClassName of volumes and claims is kept"),
    off("claim-resize-errors-name-their-field", "errors about resizes of a claim say `allocatedResourceStatuses`"),
    off("endpoint-hints-name-nodes", "hints of an endpoint that name nodes are kept"),
    off("csi-drivers-time-recounts", "nodeAllocatableUpdatePeriodSeconds of a CSIDriver is kept"),
    off("jobs-name-their-manager", "managedBy of a Job is kept"),
    off("job-start-times-are-immutable", "a changed start of a Job that goes on is invalid, not missing"),
    off("service-names-are-labels", "a Service may have a name that begins with a digit"),
    off("strict-cidrs", "a new object with a CIDR whose address is not its network's first is refused"),
    off("eviction-tells-sync", "a refused eviction tells why the budget allows none when its pods are healthy"),
    off("shortened-grace-ends-now", "a grace period that is made shorter than what is over ends now, not in the past"),
    off(
        "exclusive-conditions-name-their-list",
        "that a request is approved and denied is told of the list of conditions",
    ),
    off("node-networks-are-not-compared", "the networks of a Node are not looked through for one that it has twice"),
    off("git-repos-are-off", "volumes of Git repositories are warned of as off by default"),
    off("port-names-warn", "a name of ports that containers share is warned of"),
    off("overlapping-paths-warn", "files of one volume that hide each other are warned of"),
    off("variables-have-any-name", "variables of containers may have any printable name without an equals sign"),
    off("app-armor-is-a-field", "Pods have profiles of AppArmor in fields, which annotations must not contradict"),
    off("search-domains-have-underscores", "search domains of a Pod may have underscores, and be one dot"),
    off("bad-delete-options-are-bad-requests", "a DELETE whose body is no DeleteOptions gets code 400, not 500"),
    off("scale-targets-have-groups", "API versions that a HorizontalPodAutoscaler names are checked"),
    off("errors-print-json", "errors about a field print values and what differs as JSON, not in Go's syntax"),
    off("bad-list-versions-are-bad-requests", "a list with a resourceVersion that is no number gets code 400, not 500"),
    on("flow-control-v1beta3-is-served", "the API server has flowcontrol.apiserver.k8s.io/v1beta3"),
    off("version-tells-emulation", "/version tells the emulated and the least compatible version"),
    off("health-has-service-cidrs", "/healthz?verbose shows the controller of ServiceCIDRs"),
    off("health-has-storage-readiness", "/healthz?verbose shows storage, peers and the loopback client's certificate"),
    off("pods-have-resize", "pods have the subresource resize"),
    off("attachment-names-are-always-checked", "each write of a VolumeAttachment checks its attacher and volume"),
    off("runtime-class-handler-is-required", "a RuntimeClass without handler is told so, not that its name is wrong"),
    off(
        "runtime-class-tolerations-are-a-list-once",
        "errors about a RuntimeClass name scheduling.tolerations, not scheduling.tolerations.tolerations",
    ),
    off("storage-class-fields-are-immutable", "a changed field of a StorageClass is immutable, not forbidden"),
    off("external-ips-warn", "a Service with externalIPs gets a warning"),
    off(
        "cache-lists-the-past",
        "a list of one revision is served from the watch cache, so that it waits for a revision still to come",
    ),
    Row {
        name: "watch-list",
        says: "a watch can begin with the objects that there are and a bookmark after them",
        first: &[(OLDEST, Value::Bool(false))],
        source: "k8s.io/apiserver pkg/features/kube_features.go (v1.34), WatchList",
        flag: "",
    },
    off(
        "namespace-deletes-pods-first",
        "nothing else in a namespace that is being deleted goes before all of its pods are gone",
    ),
    off("pod-generation", "the API server counts changes of a pod's specification in metadata.generation"),
    off("pod-topology-labels", "a pod gets the zone and region labels of the node to which it is bound"),
    off("pod-conditions-observe-generation", "a condition that a controller sets on a pod names its generation"),
    off(
        "daemon-set-wakes-for-pods",
        "a change of a node wakes a DaemonSet if a pod is missing there, has to go, or some are misscheduled",
    ),
    Row {
        name: "garbage-collection-checks-version",
        says: "the garbage collector deletes an object only if it is still as it was read, not only if it is still \
               the same",
        first: &[(OLDEST, Value::Bool(false))],
        ..PLAIN
    },
    off("scaling-tells-from", "the Event ScalingReplicaSet tells the number before first: from 0 to 3"),
    off("replica-sets-plan-availability", "a ReplicaSet looks at a pod again just as it becomes available"),
    on(
        "taint-eviction-leaves-tombstones",
        "a pod that was evicted once is not evicted again before its eviction is cancelled",
    ),
    off(
        "no-execute-from-current-condition",
        "the NoExecute decision reads the condition that the same pass has just written, not the one before it",
    ),
    on(
        "kubelet-registers-cordoned",
        "kubelets have the flag --register-schedulable, and register a cordoned node where it is false",
    ),
    Row {
        name: "node-status-update-frequency",
        says: "how often a kubelet computes the status of its node",
        first: &[(OLDEST, secs(10))],
        source: "pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34)",
        flag: "kubelet.node-status-update-frequency",
    },
    Row {
        name: "node-status-report-frequency",
        says: "how often a kubelet posts a status that has not changed",
        first: &[(OLDEST, secs(300))],
        source: "pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34)",
        flag: "kubelet.node-status-report-frequency",
    },
    Row {
        name: "node-lease-duration-seconds",
        says: "how long a node's lease lasts; it is renewed after a quarter of that",
        first: &[(OLDEST, Value::Number(40.0))],
        source: "pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34)",
        flag: "kubelet.node-lease-duration-seconds",
    },
    Row {
        name: "max-pods",
        says: "how many pods a node takes",
        first: &[(OLDEST, Value::Number(110.0))],
        source: "pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34)",
        flag: "kubelet.max-pods",
    },
    Row {
        name: "node-status-report-delay",
        says: "a kubelet puts its next report off by a random part of half the report frequency after a change or \
               start",
        first: &[(OLDEST, Value::Bool(false))],
        ..PLAIN
    },
    off(
        "registration-goes-on-after-forbidden",
        "a kubelet whose Node may not be created looks whether there is one, as after AlreadyExists",
    ),
    Row {
        name: "kube-proxy-version-in-status",
        says: "nodeInfo.kubeProxyVersion is the kubelet's version, not empty",
        first: &[(OLDEST, Value::Bool(true))],
        source: "pkg/features/kube_features.go (v1.31.0, v1.31.1, v1.33), gate DisableNodeKubeProxyVersion",
        flag: "",
    },
    off(
        "default-thresholds-merge",
        "mergeDefaultEvictionSettings keeps the defaults of the thresholds that evictionHard does not name",
    ),
    off("compressible-reservations", "enforceNodeAllocatable has parts that are about the CPU alone"),
    off("running-init-makes-pending", "a pod whose init container runs again is Pending, whatever else has run"),
    off("kubelet-checks-reservation-policy", "a kubelet checks memoryReservationPolicy and imageMinimumGCAge"),
    off("swap-capacity-in-status", "nodeInfo.swap.capacity says how much swap space there is"),
    off("serving-names-are-the-nodes", "a kubelet's server is certified for the addresses of the Node that it watches"),
    off("strict-groups-are-checked", "a kubelet refuses pods whose strict supplementalGroupsPolicy its node lacks"),
    off("tcp-buffers-are-safe-sysctls", "any pod may set net.ipv4.tcp_rmem and net.ipv4.tcp_wmem"),
    Row {
        name: "declared-features",
        says: "status.declaredFeatures, separated by commas",
        first: &[(OLDEST, Value::Text(""))],
        ..PLAIN
    },
    off("rebooted-once-per-process", "a kubelet says Rebooted once, not at each status until the new boot is stored"),
    off(
        "node-events-name-api-version",
        "involvedObject of a kubelet's Events about its Node has apiVersion v1 and no uid, not the node's name as uid",
    ),
    off("rejections-are-counted", "a kubelet counts the pods that it refuses, by reason"),
    off("refused-log-query-is-named", "enableSystemLogQuery without its gate is refused under its own name"),
    off("fail-cgroup-v1", "a kubelet refuses a machine with cgroup v1 unless failCgroupV1 is false"),
    Row {
        name: "cgroup-v1-refusal",
        says: "the second sentence with which a kubelet refuses cgroup v1",
        first: &[(OLDEST, Value::Text("cgroup v1 support is in maintenance mode"))],
        ..PLAIN
    },
    Row {
        name: "cgroup-v1-warning",
        says: "the message of the Event CgroupV1",
        first: &[(OLDEST, Value::Text(""))],
        source: "pkg/kubelet/cm/container_manager_linux.go (v1.31, v1.32, v1.35)",
        flag: "",
    },
    off("pod-observed-generation", "observedGeneration of pods and their conditions follows metadata.generation"),
    off("sandbox-ready-is-told", "a kubelet tells that a sandbox is ready before it starts containers in it"),
    Row {
        name: "pod-ready-to-start-containers",
        says: "pods have the condition PodReadyToStartContainers",
        first: &[(OLDEST, Value::Bool(false)), (Release::new(29, 0), Value::Bool(true))],
        source: "pkg/features/kube_features.go (v1.29), gate PodReadyToStartContainersCondition",
        flag: "",
    },
    Row {
        name: "event-pulled",
        says: "the message of the Event Pulled for an image that is there; {} is the image",
        first: &[(OLDEST, Value::Text("Container image \"{}\" already present on machine"))],
        ..PLAIN
    },
    off("soft-eviction-within-pods-grace", "a pod that a soft threshold evicts gets no longer grace than its own"),
    Row {
        name: "image-collection-failed",
        says: "the message of the Event FreeDiskSpaceFailed, with names for its figures",
        first: &[(
            OLDEST,
            Value::Text(
                "Failed to garbage collect required amount of images. Attempted to free {wanted} bytes, but only found \
                 {freed} bytes eligible to free.",
            ),
        )],
        source: "pkg/kubelet/images/image_gc_manager.go (v1.34)",
        flag: "",
    },
    Row {
        name: "event-created",
        says: "the message of the Event Created of a container; {} is its name",
        first: &[(OLDEST, Value::Text("Created container {}"))],
        source: "pkg/kubelet/kuberuntime/kuberuntime_container.go (v1.31, v1.34, v1.36)",
        flag: "",
    },
    Row {
        name: "event-started",
        says: "the message of the Event Started of a container; {} is its name",
        first: &[(OLDEST, Value::Text("Started container {}"))],
        ..PLAIN
    },
    off("container-resources-in-status", "a running container's status has its resources"),
    off("dynamic-resources-are-served", "whether the group resource.k8s.io is served"),
    off("first-v1-of-1.34-is-stored", "whether what became v1 in 1.34 is stored as v1, which hashes in discovery tell"),
    off("volume-attributes-classes-are-served", "whether volumeattributesclasses are served in storage.k8s.io/v1"),
    off("quotas-follow-changed-scopes", "a Pod whose deadline is set is counted anew, and so is a claim by its status"),
    off("service-cidrs-are-served", "whether ipaddresses and servicecidrs are served in networking.k8s.io/v1"),
    off("first-v1-of-1.33-is-stored", "whether what became v1 in 1.33 is stored as v1, which hashes in discovery tell"),
    off("mutating-admission-policies-are-served", "whether mutatingadmissionpolicies and bindings are served"),
    off("impersonation-is-constrained", "whether acting as somebody can be limited to a verb, as refusals then tell"),
    off("kubelets-read-service-accounts", "whether a kubelet may read the service accounts of its Pods"),
    off("mirror-pods-name-no-api-object", "the check of what a mirror Pod refers to knows all kinds of volumes"),
    off(
        "node-tokens-for-audiences-of-pods",
        "whether a kubelet gets tokens for those audiences alone that its Pods name",
    ),
    off("nodes-authorised-with-selectors", "whether a kubelet reads its own Node and Pods alone"),
    off(
        "nodes-keep-extended-resource-claims",
        "whether a kubelet is kept from changing a Pod's claim for extended resources",
    ),
    Row {
        name: "nodes-keep-their-owner-references",
        says: "whether a kubelet is kept from changing the owners of its Node",
        first: &[(OLDEST, Value::Bool(false))],
        source: "plugin/pkg/admission/noderestriction/admission.go (v1.31.0, v1.31.14, v1.32.2, v1.32.13, v1.33.6), \
                 admitNode; CVE-2025-5187",
        flag: "",
    },
    on("prints-null-creation-timestamp", "whether an object that was never stored shows creationTimestamp as null"),
    Row {
        name: "pod-max-in-unschedulable-pods-duration",
        says: "how long a pod waits without any change of the cluster before it is tried again",
        first: &[(OLDEST, secs(300))],
        source: "pkg/scheduler/backend/queue/scheduling_queue.go (v1.34), DefaultPodMaxInUnschedulablePodsDuration",
        flag: "kube-scheduler.pod-max-in-unschedulable-pods-duration",
    },
    off("pod-level-resources", "spec.resources of a pod counts instead of what its containers ask for"),
    off(
        "toleration-comparisons-are-known",
        "the API server names the operators Lt and Gt of tolerations where it refuses one",
    ),
    Row {
        name: "tolerations-compare-numbers",
        says: "the operators Lt and Gt of tolerations are accepted and compare the taint's value with their own",
        first: &[(OLDEST, Value::Bool(false))],
        source: "pkg/features/kube_features.go (v1.36), TaintTolerationComparisonOperators",
        flag: "",
    },
    off("streams-need-create", "who opens a stream to a pod with GET needs the right to create it, not only to get it"),
    off("binding-clears-nomination", "the API server removes the nominated node of a pod that is bound"),
    off("shutdown-end-has-its-metric", "the end of a graceful shutdown is the metric of its end, not of its start"),
    Row {
        name: "swap-refusal",
        says: "what a kubelet says that fails on swap space",
        first: &[(
            OLDEST,
            Value::Text(
                "running with swap on is not supported, please disable swap! or set --fail-swap-on flag to false. \
                 /proc/swaps contained: {}",
            ),
        )],
        source: "pkg/kubelet/cm/container_manager_linux.go (v1.30, v1.31), NewContainerManager",
        flag: "",
    },
    Row {
        name: "pod-security-version",
        says: "the minor release of the newest checks of Pod security",
        first: &[(OLDEST, Value::Number(31.0))],
        source: "k8s.io/pod-security-admission policy/check_seLinuxOptions.go (v1.31)",
        flag: "",
    },
    Row {
        name: "swap-behaviour-refusal",
        says: "what a kubelet says of a swapBehavior that it does not know",
        first: &[(OLDEST, Value::Text("MemorySwap.SwapBehavior {} must be one of: LimitedSwap, UnlimitedSwap"))],
        source: "pkg/kubelet/apis/config/validation/validation.go (v1.23, v1.24, v1.30)",
        flag: "",
    },
    off("no-swap-without-gate", "a kubelet whose gate NodeSwap is off keeps containers from swapping"),
    off("limited-swap-needs-cgroups-2", "a kubelet with LimitedSwap does not start beside cgroups of version 1"),
    off("volumes-in-memory-do-not-swap", "a kubelet mounts volumes in memory with noswap, and warns where it cannot"),
    off("limited-swap-is-a-share", "LimitedSwap gives a container its share of the swap space, not none at all"),
    off("pods-do-not-swap-by-default", "NoSwap is a behaviour, and the default one; UnlimitedSwap is none"),
    off("critical-pods-do-not-swap", "critical pods get no swap space"),
    off("kubectl-counts-pod-level-resources", "a description of a node counts the resources of whole pods"),
    Row {
        name: "kubectl-counts-status-resources",
        says: "what of a described node counts what containers have by their status: nothing, `requests` of pods, or \
               requests and limits in the `lines` of pods, but not in the sums",
        first: &[(OLDEST, Value::Text(""))],
        ..PLAIN
    },
    on("kubectl-tells-kube-proxy-version", "a description of a node has a line for the version of its kube-proxy"),
    off("kubectl-tells-field-paths", "a description of a node tells the field that an event is about"),
    off("kubectl-lists-resource-slices", "a description of a node counts the slices of devices that are its own"),
    off("waiting-pull-tells-why", "a container that waits for the next pull of its image says why the last one failed"),
    off("probe-at-once-restarts-period", "a readiness probe that a sync makes at once begins its period anew"),
    off("restart-keeps-container-status", "containers stay started and ready over a restart of the kubelet"),
    off("inhibit-delay-is-awaited", "a kubelet looks several times whether logind allows its delay of shutdowns"),
    on("no-body-is-a-bad-type", "a request without a body may be refused for the media type of its body"),
    off("component-pages-are-served", "/flagz and /statusz are among the paths of the API server"),
    on("discovery-has-beta-form", "aggregated discovery is also served in version v2beta1"),
    off("errors-speak-as-declared", "errors say what is missing, immutable or one of several, and where in its list"),
    off("declarative-rules-are-beta", "some errors have the words of rules declared with the types, and come last"),
    off("stateful-set-fields-are-immutable", "a changed field of a StatefulSet is immutable, each told by itself"),
    off("autoscaler-maximum-is-required", "a HorizontalPodAutoscaler without maxReplicas is told that it is required"),
    off("refusals-name-their-authoriser", "a refusal says which authoriser gives each reason, as `node: why`"),
    off("eviction-refusals-have-causes", "an eviction that a budget's state forbids tells its cause in the details"),
    off("binding-checks-node-name", "a binding to a node whose name cannot be one is refused"),
    off("patches-are-read-first", "a patch that cannot be read is refused before the object is looked for"),
    off("job-table-tells-success-criteria", "a table of jobs shows SuccessCriteriaMet, not Running until the job ends"),
    off("default-ingress-class-is-shown", "a table marks an IngressClass that is the default one"),
    off("one-storage-class-is-default", "a table marks one StorageClass of a list as the default one, not each marked"),
    off(
        "trust-and-migration-kinds-are-served",
        "there are ClusterTrustBundles, PodCertificateRequests, DeviceTaintRules and StorageVersionMigrations",
    ),
    off("csi-nodes-have-status", "CSINodes have the subresource status"),
    off("audience-refusal-names-user-first", "a refused audience of a token is told without the Pod's volumes"),
    off("status-keeps-claim-statuses", "a Pod's status keeps the claims of devices that its writer leaves out"),
    off("restart-rules-of-init-containers-need-policy", "rules of restarts of an init container need its policy"),
    off("restart-rules-are-counted", "a list of rules of restarts that is too long is told in items"),
    off("pod-table-tells-failed-containers", "a table of pods shows a container that failed beside one that completed"),
    off("finalizers-should-have-a-path", "a warning asks for a path in a finalizer of a custom object"),
    off("node-table-tells-architecture", "a table of nodes shows the architecture behind the kernel's version"),
];

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn each_row_has_a_source_and_values_in_order() {
        for row in rows() {
            assert!(!row.sources().is_empty() && !row.says.is_empty(), "{}", row.name);
            assert!(row.values().windows(2).all(|pair| pair[0].0 < pair[1].0), "{}", row.name);
            assert_eq!(rows().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
        }
    }
}
