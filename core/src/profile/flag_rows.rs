//! The rows of the flags of the node IPAM controller and of cloud-controller-manager.

use super::rows::{OLDEST, Row};
use super::value::{Value, secs};

/// Of cloud-controller-manager, in the order of [`super::ROWS`].
pub(super) const CLOUD: [Row; 5] = [
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
];

/// Of the node IPAM controller, in the order of [`super::ROWS`].
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
        says: "the network of Services, of which no Node gets a part",
        first: &[(OLDEST, Value::Text(""))],
        source: "cmd/kube-controller-manager/app/options/nodeipamcontroller.go (v1.34)",
        flag: "kube-controller-manager.service-cluster-ip-range",
    },
];
