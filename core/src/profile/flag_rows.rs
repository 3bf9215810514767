//! The rows of the flags of controllers, those of cloud-controller-manager among them, and those of what clusters did
//! before the releases that are offered.

use super::Release;
use super::release::OLDEST;
use super::row::{PLAIN, Row, off};
use super::value::{Value, secs};

/// Of the clients of controllers.
pub(super) const CLIENTS: [Row; 2] = [
    Row {
        name: "kube-api-qps",
        says: "requests per second that each controller's client may send; 0 for client-go's 5, less for no limit",
        first: &[(OLDEST, Value::Number(20.0))],
        source: "cmd/kube-controller-manager/app/options/options.go (v1.34), ClientConnection.QPS",
        flag: "kube-controller-manager.kube-api-qps",
    },
    Row {
        name: "kube-api-burst",
        says: "requests that each controller's client may send at once after a quiet time; 0 for client-go's 10",
        first: &[(OLDEST, Value::Number(30.0))],
        source: "cmd/kube-controller-manager/app/options/options.go (v1.34), ClientConnection.Burst",
        flag: "kube-controller-manager.kube-api-burst",
    },
];

/// Of the controller that gives Nodes networks.
pub(super) const ALLOCATE_NODE_CIDRS: Row = Row {
    name: "allocate-node-cidrs",
    says: "kube-controller-manager gives each Node networks for its pods",
    first: &[(OLDEST, Value::Bool(false))],
    source: "cmd/kube-controller-manager/app/options/kubecloudshared.go (v1.34)",
    flag: "kube-controller-manager.allocate-node-cidrs",
};

/// Of the signers of certificates, the garbage collection of Pods, and the controllers that attach volumes and keep
/// EndpointSlices.
pub(super) const OTHER_CONTROLLERS: [Row; 8] = [
    Row {
        name: "cluster-signing-duration",
        says: "how long the certificates are valid that are signed for CertificateSigningRequests",
        first: &[(OLDEST, secs(8760 * 60 * 60))],
        source: "pkg/controller/certificates/signer/config/v1alpha1/defaults.go (v1.34)",
        flag: "kube-controller-manager.cluster-signing-duration",
    },
    Row {
        name: "terminated-pod-gc-threshold",
        says: "how many ended pods are kept; 0 or less keeps all",
        first: &[(OLDEST, Value::Number(12500.0))],
        source: "pkg/controller/podgc/config/v1alpha1/defaults.go (v1.34)",
        flag: "kube-controller-manager.terminated-pod-gc-threshold",
    },
    Row {
        name: "attach-detach-reconcile-sync-period",
        says: "how often it is checked whether volumes are still attached",
        first: &[(OLDEST, secs(60))],
        source: "pkg/controller/volume/attachdetach/config/v1alpha1/defaults.go (v1.34)",
        flag: "kube-controller-manager.attach-detach-reconcile-sync-period",
    },
    Row {
        name: "disable-attach-detach-reconcile-sync",
        says: "it is never checked whether volumes are still attached",
        first: &[(OLDEST, NO)],
        source: "cmd/kube-controller-manager/app/options/attachdetachcontroller.go (v1.34)",
        flag: "kube-controller-manager.disable-attach-detach-reconcile-sync",
    },
    Row {
        name: "stateful-sets-roll-several",
        says: "a StatefulSet replaces as many pods at once as maxUnavailable of its rolling update allows",
        first: &[(OLDEST, NO)],
        source: "pkg/features/kube_features.go (v1.34), MaxUnavailableStatefulSet",
        flag: "",
    },
    Row {
        name: "max-endpoints-per-slice",
        says: "the most endpoints that an EndpointSlice gets",
        first: &[(OLDEST, Value::Number(100.0))],
        source: "pkg/controller/endpointslice/config/v1alpha1/defaults.go (v1.34)",
        flag: "kube-controller-manager.max-endpoints-per-slice",
    },
    Row {
        name: "endpointslice-updates-batch-period",
        says: "how long the endpoints of a Service wait for more changes of its pods",
        first: &[(OLDEST, secs(0))],
        source: "cmd/kube-controller-manager/app/options/endpointslicecontroller.go (v1.34)",
        flag: "kube-controller-manager.endpointslice-updates-batch-period",
    },
    Row {
        name: "disable-force-detach-on-timeout",
        says: "a node that is not ready keeps its volumes, however long it does not let them go",
        first: &[(OLDEST, Value::Bool(false))],
        source: "cmd/kube-controller-manager/app/options/attachdetachcontroller.go (v1.34)",
        flag: "kube-controller-manager.disable-force-detach-on-timeout",
    },
];

/// Of kubelets.
pub(super) const CPU_MANAGER_OPTIONS: Row = Row {
    name: "cpu-manager-options",
    says: "the options of the CPU manager, each with its stage: all but stable ones need a gate",
    first: &[(OLDEST, Value::Text(""))],
    ..PLAIN
};

/// Of how the API server reaches kubelets.
pub(super) const TO_KUBELETS: [Row; 3] = [
    Row {
        name: "kubelet-certificate-authority",
        says: "the authority by which the API server verifies the certificates of kubelets; empty for no verification",
        first: &[(OLDEST, Value::Text(""))],
        source: "cmd/kube-apiserver/app/options/options.go (v1.34)",
        flag: "kube-apiserver.kubelet-certificate-authority",
    },
    Row {
        name: "kubelet-preferred-address-types",
        says: "the types of a Node's addresses in the order in which the API server tries them; empty for the default",
        first: &[(OLDEST, Value::Text(""))],
        source: "cmd/kube-apiserver/app/options/options.go (v1.34)",
        flag: "kube-apiserver.kubelet-preferred-address-types",
    },
    Row {
        name: "egress-selector-config-file",
        says: "by which way the API server reaches nodes: the content of an EgressSelectorConfiguration as JSON",
        first: &[(OLDEST, Value::Text(""))],
        source: "k8s.io/apiserver pkg/server/options/egress_selector.go (v1.34)",
        flag: "kube-apiserver.egress-selector-config-file",
    },
];

/// Of cloud-controller-manager, in the order of [`super::rows`].
pub(super) const CLOUD: [Row; 8] = [
    Row {
        name: "cloud-node-monitor-period",
        says: "how long cloud-controller-manager waits between two looks at the Nodes that are not ready",
        first: &[(OLDEST, secs(5))],
        source: "k8s.io/cloud-provider config/v1alpha1/defaults.go (v0.37)",
        flag: "cloud-controller-manager.node-monitor-period",
    },
    Row {
        name: "cloud-node-status-update-frequency",
        says: "how often cloud-controller-manager looks up the addresses of Nodes",
        first: &[(OLDEST, secs(300))],
        source: "k8s.io/cloud-provider config/v1alpha1/defaults.go (v0.37)",
        flag: "cloud-controller-manager.node-status-update-frequency",
    },
    Row {
        name: "cloud-cluster-cidr",
        says: "the networks of Pods to which the cloud has routes; none without it",
        first: &[(OLDEST, Value::Text(""))],
        source: "k8s.io/cloud-provider options/kubecloudshared.go (v0.37)",
        flag: "cloud-controller-manager.cluster-cidr",
    },
    Row {
        name: "configure-cloud-routes",
        says: "cloud-controller-manager makes routes to the Pods of each Node",
        first: &[(OLDEST, Value::Bool(true))],
        source: "k8s.io/cloud-provider options/kubecloudshared.go (v0.37)",
        flag: "cloud-controller-manager.configure-cloud-routes",
    },
    Row {
        name: "route-reconciliation-period",
        says: "how often the routes of the cloud are compared with the Nodes",
        first: &[(OLDEST, secs(10))],
        source: "k8s.io/cloud-provider config/v1alpha1/defaults.go (v0.37)",
        flag: "cloud-controller-manager.route-reconciliation-period",
    },
    off(
        "cloud-events-name-api-version",
        "Events of cloud-controller-manager about a node name the API version, and the uid, not the name instead",
    ),
    off(
        "routes-claim-their-condition",
        "NetworkUnavailable that somebody else wrote is written again with the routes' reason",
    ),
    off(
        "cloud-labels-match-whole-names",
        "of a cloud's labels only those of kubernetes.io, k8s.io and names below them are left out",
    ),
];

/// Of the node IPAM controller, in the order of [`super::rows`].
pub(super) const NODE_IPAM: [Row; 5] = [
    Row {
        name: "cluster-cidr",
        says: "the networks of which Nodes get their parts: one, or one of IPv4 and one of IPv6, separated by a comma",
        first: &[(OLDEST, Value::Text(""))],
        source: "cmd/kube-controller-manager/app/options/kubecloudshared.go (v1.34)",
        flag: "kube-controller-manager.cluster-cidr",
    },
    Row {
        name: "node-cidr-mask-size",
        says: "bits of the mask of a Node's network in a cluster of one family; 0 for 24 (IPv4) and 64 (IPv6)",
        first: &[(OLDEST, Value::Number(0.0))],
        source: "cmd/kube-controller-manager/app/options/nodeipamcontroller.go (v1.34)",
        flag: "kube-controller-manager.node-cidr-mask-size",
    },
    Row {
        name: "node-cidr-mask-size-ipv4",
        says: "bits of the mask of a Node's IPv4 network; 0 for 24",
        first: &[(OLDEST, Value::Number(0.0))],
        source: "cmd/kube-controller-manager/app/options/nodeipamcontroller.go (v1.34)",
        flag: "kube-controller-manager.node-cidr-mask-size-ipv4",
    },
    Row {
        name: "node-cidr-mask-size-ipv6",
        says: "bits of the mask of a Node's IPv6 network; 0 for 64",
        first: &[(OLDEST, Value::Number(0.0))],
        source: "cmd/kube-controller-manager/app/options/nodeipamcontroller.go (v1.34)",
        flag: "kube-controller-manager.node-cidr-mask-size-ipv6",
    },
    Row {
        name: "service-cluster-ip-range",
        says: "the networks of Services, of which no Node gets a part: one, or one of each family, with a comma",
        first: &[(OLDEST, Value::Text(""))],
        source: "cmd/kube-controller-manager/app/options/nodeipamcontroller.go (v1.34)",
        flag: "kube-controller-manager.service-cluster-ip-range",
    },
];

const NO: Value = Value::Bool(false);
const YES: Value = Value::Bool(true);

/// What clusters did before the releases that are offered: how Pods left silent nodes, and what went with it.
pub(super) const BEFORE_OFFERED: [Row; 17] = [
    Row {
        name: "pod-eviction-timeout",
        says: "how long a node is silent or not ready before its Pods are deleted, where no NoExecute taint does it",
        first: &[(OLDEST, secs(300)), (Release::new(27, 0), Value::Gone)],
        source: "cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go (v1.15, v1.26)",
        flag: "kube-controller-manager.pod-eviction-timeout",
    },
    Row {
        name: "enable-taint-manager",
        says: "Pods are evicted by NoExecute taints",
        first: &[(OLDEST, YES), (Release::new(27, 0), Value::Gone)],
        source: "cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go (v1.15, v1.26)",
        flag: "kube-controller-manager.enable-taint-manager",
    },
    Row {
        name: "silent-nodes-get-no-execute-taints",
        says: "a node that is silent or not ready gets a NoExecute taint; without, its Pods are deleted",
        first: &[(OLDEST, NO), (Release::new(13, 0), YES)],
        source: "pkg/features/kube_features.go (v1.12, v1.13), TaintBasedEvictions",
        flag: "",
    },
    Row {
        name: "conditions-make-no-schedule-taints",
        says: "the conditions of a node and a cordon become NoSchedule taints",
        first: &[(OLDEST, NO), (Release::new(12, 0), YES)],
        source: "pkg/features/kube_features.go (v1.11, v1.12), TaintNodesByCondition",
        flag: "",
    },
    Row {
        name: "disruptions-are-told",
        says: "a pod gets a condition that says why it is evicted, and has failed before it is deleted without a node",
        first: &[(OLDEST, NO), (Release::new(26, 0), YES)],
        source: "pkg/features/kube_features.go (v1.25, v1.26, v1.31), PodDisruptionConditions",
        flag: "",
    },
    Row {
        name: "pod-affinity-takes-label-keys",
        says: "labels of a new pod that its terms of affinity name by key become part of their selectors",
        first: &[(OLDEST, NO), (Release::new(31, 0), YES)],
        source: "pkg/features/kube_features.go (v1.31, v1.34), MatchLabelKeysInPodAffinity",
        flag: "",
    },
    Row {
        name: "spread-selectors-take-label-keys",
        says: "labels of a new pod that its spread constraints name by key become part of their selectors",
        first: &[(OLDEST, NO), (Release::new(34, 0), YES)],
        source: "pkg/features/kube_features.go (v1.34), MatchLabelKeysInPodTopologySpreadSelectorMerge",
        flag: "",
    },
    Row {
        name: "scheduler-limits-volumes",
        says: "the scheduler gives a node no more volumes of a driver than its CSINode allows",
        first: &[(OLDEST, NO), (Release::new(17, 0), YES)],
        source: "pkg/features/kube_features.go (v1.17), AttachVolumeLimit, CSINodeInfo",
        flag: "",
    },
    Row {
        name: "scheduler-counts-attachments",
        says: "volumes that are attached to a node count against that limit though no pod on it uses them",
        first: &[(OLDEST, NO), (Release::new(32, 0), YES)],
        source: "pkg/scheduler/framework/plugins/nodevolumelimits/csi.go (v1.31, v1.32), getNodeVolumeAttachmentInfo",
        flag: "",
    },
    Row {
        name: "scheduler-consults-conditions",
        says: "the scheduler looks at the conditions of nodes",
        first: &[(OLDEST, YES), (Release::new(12, 0), NO)],
        source: "pkg/scheduler/algorithmprovider/defaults/defaults.go (v1.12), ApplyFeatureGates",
        flag: "",
    },
    Row {
        name: "pods-that-come-to-silent-nodes-are-handled",
        says: "a Pod that comes to a node that is not ready is marked, or deleted if the others there were",
        first: &[(OLDEST, NO), (Release::new(17, 0), YES)],
        source: "pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.15, v1.18), processPod",
        flag: "",
    },
    Row {
        name: "conditions-of-silent-nodes",
        says: "the conditions beside Ready that become Unknown on a silent node",
        first: &[
            (OLDEST, Value::Text("OutOfDisk,MemoryPressure,DiskPressure")),
            (Release::new(13, 0), Value::Text("MemoryPressure,DiskPressure,PIDPressure")),
        ],
        source: "pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.12, v1.15), tryUpdateNodeHealth",
        flag: "",
    },
    Row {
        name: "pods-of-silent-nodes-are-said-to-be-lost",
        says: "a Pod that is deleted on a silent node gets the reason NodeLost",
        first: &[(OLDEST, NO), (Release::new(5, 0), YES)],
        source: "pkg/controller/node/controller_utils.go (v1.4, v1.5), setPodTerminationReason",
        flag: "",
    },
    Row {
        name: "pods-of-silent-nodes-are-deleted-by-force",
        says: "Pods of a silent node that are still there after their grace period are deleted by force",
        first: &[(OLDEST, YES), (Release::new(5, 0), NO)],
        source: "pkg/controller/node/nodecontroller.go, controller_utils.go (v1.4), terminatePods",
        flag: "",
    },
    Row {
        name: "leases-are-signs-of-life",
        says: "a renewed Lease shows that its node lives, as a new status does",
        first: &[(OLDEST, NO), (Release::new(14, 0), YES)],
        source: "pkg/features/kube_features.go (v1.12, v1.14), NodeLease",
        flag: "",
    },
    Row {
        name: "scheduler-says-what-preemption-found",
        says: "the message about a Pod that fits on no node ends with why preemption does not help",
        first: &[(OLDEST, NO), (Release::new(24, 0), YES)],
        source: "pkg/scheduler/framework/types.go (v1.24, v1.31), FitError",
        flag: "",
    },
    Row {
        name: "taint-eviction-is-separate",
        says: "the evictions for NoExecute taints are a controller of their own, no part of the node life cycle's",
        first: &[(OLDEST, NO), (Release::new(29, 0), YES)],
        source: "pkg/features/kube_features.go (v1.31), SeparateTaintEvictionController",
        flag: "",
    },
];

/// Of the node lifecycle controller, in the order of [`super::rows`].
pub(super) const NODE_LIFECYCLE: [Row; 7] = [
    Row {
        name: "node-monitor-period",
        says: "how often the node lifecycle controller checks every node",
        first: &[(OLDEST, secs(5))],
        source: "pkg/controller/nodelifecycle/config/v1alpha1/defaults.go (v1.34)",
        flag: "kube-controller-manager.node-monitor-period",
    },
    Row {
        name: "node-monitor-grace-period",
        says: "how long a node may be silent before its conditions become Unknown",
        first: &[(OLDEST, secs(40))],
        source: "",
        flag: "kube-controller-manager.node-monitor-grace-period",
    },
    Row {
        name: "node-startup-grace-period",
        says: "how long a node without a Ready condition may be silent before its conditions become Unknown",
        first: &[(OLDEST, secs(60))],
        source: "pkg/controller/nodelifecycle/config/v1alpha1/defaults.go (v1.34)",
        flag: "kube-controller-manager.node-startup-grace-period",
    },
    Row {
        name: "node-eviction-rate",
        says: "nodes per second and zone that get a NoExecute taint in a healthy zone",
        first: &[(OLDEST, Value::Number(0.1))],
        source: "cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go (v1.34)",
        flag: "kube-controller-manager.node-eviction-rate",
    },
    Row {
        name: "secondary-node-eviction-rate",
        says: "nodes per second that get a NoExecute taint in a large zone that is partly disrupted",
        first: &[(OLDEST, Value::Number(0.01))],
        source: "cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go (v1.34)",
        flag: "kube-controller-manager.secondary-node-eviction-rate",
    },
    Row {
        name: "large-cluster-size-threshold",
        says: "a zone of more nodes than this is large",
        first: &[(OLDEST, Value::Number(50.0))],
        source: "cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go (v1.34)",
        flag: "kube-controller-manager.large-cluster-size-threshold",
    },
    Row {
        name: "unhealthy-zone-threshold",
        says: "the share of unready nodes from which a zone is partly disrupted",
        first: &[(OLDEST, Value::Number(0.55))],
        source: "cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go (v1.34)",
        flag: "kube-controller-manager.unhealthy-zone-threshold",
    },
];

/// Of how long the store keeps what is over.
pub(super) const OF_STORE: [Row; 2] = [
    Row {
        name: "event-ttl",
        says: "how long an Event stays after its last write",
        first: &[(OLDEST, secs(3600))],
        source: "pkg/controlplane/apiserver/options/options.go (v1.34), EventTTL",
        flag: "kube-apiserver.event-ttl",
    },
    Row {
        name: "etcd-compaction-interval",
        says: "how often past revisions are forgotten that are older than this; 0 for never",
        first: &[(OLDEST, secs(300))],
        source: "k8s.io/apiserver pkg/storage/storagebackend/config.go (v1.34), DefaultCompactInterval",
        flag: "kube-apiserver.etcd-compaction-interval",
    },
];

/// When volumes are bound and given up, and how messages and checks of the server differ.
pub(super) const OF_VOLUMES_AND_WORDS: [Row; 5] = [
    Row {
        name: "pvclaimbinder-sync-period",
        says: "how often volumes and claims that could not be bound are looked at again",
        first: &[(OLDEST, secs(15))],
        source: "pkg/controller/volume/persistentvolume/config/v1alpha1/defaults.go (v1.34)",
        flag: "kube-controller-manager.pvclaimbinder-sync-period",
    },
    Row {
        name: "out-of-service-nodes-give-up-volumes",
        says: "a node that is not ready and out of service loses its pods, and its volumes at once",
        first: &[(OLDEST, Value::Bool(false))],
        source: "pkg/features/kube_features.go (v1.26, v1.31), NodeOutOfServiceVolumeDetach; KEP-2268",
        flag: "",
    },
    Row {
        name: "ready-nodes-keep-volumes",
        says: "a ready node keeps a volume that it uses, however long it does not let it go",
        first: &[(OLDEST, Value::Bool(false))],
        source: "pkg/controller/volume/attachdetach/reconciler/reconciler.go (v1.25; PR 110721)",
        flag: "",
    },
    Row {
        name: "scheme-name",
        says: "what messages about unknown kinds call the scheme: the place where it is made",
        first: &[(OLDEST, Value::Text("pkg/runtime/scheme.go:100"))],
        source: "k8s.io/apimachinery pkg/runtime/scheme.go (v1.34), NewScheme",
        flag: "",
    },
    Row {
        name: "kinds-checked-once",
        says: "of which kinds the strategy checks a changed object once, not twice",
        first: &[(OLDEST, Value::Text(""))],
        ..PLAIN
    },
];
