//! The columns of tables, as data: their names, types and descriptions by kind.
//!
//! Source: pkg/printers/internalversion/printers.go (v1.31), `AddHandlers`; most descriptions are those of fields in
//! k8s.io/api, `SwaggerDoc`. The tables are those of the oldest release; what has changed stands in `profile/releases`.

use alloc::vec::Vec;

use super::column_forms::{AGE, AGE_ABOUT, CONTAINERS, IMAGES, JOB_SELECTOR, NAME, boolean, column, integer, wide};
use super::{more_columns, newer_columns, policy_columns, storage_columns};
use crate::profile::Profile;
use crate::profile::releases::{Column, ColumnChange};

static ALL: [&[(&str, &[Column])]; 5] =
    [TABLES, more_columns::TABLES, storage_columns::TABLES, policy_columns::TABLES, newer_columns::TABLES];

/// Returns the columns of a kind by its plural, each with the place of its cell: the place among all columns that the
/// kind has had.
pub(super) fn of(plural: &str, profile: &Profile) -> Vec<(usize, Column)> {
    let own = ALL.into_iter().flatten().find(|(own, _)| *own == plural);
    let own = own.map_or(DEFAULT, |(_, columns)| columns).iter().copied();
    let mut columns: Vec<(usize, Column)> = own.enumerate().collect();
    let mut free = columns.len();
    for change in profile.column_changes() {
        match *change {
            ColumnChange::Added(table, column) if table == plural => {
                columns.push((free, column));
                free += 1;
            }
            ColumnChange::Described(table, name, about) if table == plural => {
                columns.iter_mut().filter(|(_, own)| own.name == name).for_each(|(_, own)| own.about = about);
            }
            ColumnChange::Gone(table, name) if table == plural => columns.retain(|(_, own)| own.name != name),
            ColumnChange::Last(table, name) if table == plural => columns.sort_by_key(|(_, own)| own.name == name),
            _ => {}
        }
    }
    columns
}

/// Source: k8s.io/apiserver pkg/registry/rest/table.go (v1.34).
static DEFAULT: &[Column] = &[NAME, Column { kind: "date", ..column("Created At", AGE_ABOUT) }];

static TABLES: &[(&str, &[Column])] = &[
    (
        "certificatesigningrequests",
        &[
            NAME,
            AGE,
            column(
                "SignerName",
                "Requested signer for the request. It is a qualified name in the form: `scope-hostname.io/name`. If \
                 empty, it will be defaulted:\n 1. If it's a kubelet client certificate, it is assigned\n    \
                 \"kubernetes.io/kube-apiserver-client-kubelet\".\n 2. If it's a kubelet serving certificate, it is \
                 assigned\n    \"kubernetes.io/kubelet-serving\".\n 3. Otherwise, it is assigned \
                 \"kubernetes.io/legacy-unknown\".\nDistribution of trust for signers happens out of band. You can \
                 select on this field using `spec.signerName`.",
            ),
            column("Requestor", "Base64-encoded PKCS#10 CSR data"),
            column(
                "RequestedDuration",
                "expirationSeconds is the requested duration of validity of the issued certificate. The certificate \
                 signer may issue a certificate with a different validity duration so a client must check the delta \
                 between the notBefore and and notAfter fields in the issued certificate to determine the actual \
                 duration.\n\nThe v1.22+ in-tree implementations of the well-known Kubernetes signers will honor \
                 this field as long as the requested duration is not greater than the maximum duration they will \
                 honor per the --cluster-signing-duration CLI flag to the Kubernetes controller \
                 manager.\n\nCertificate signers may not honor this field for various reasons:\n\n  1. Old signer \
                 that is unaware of the field (such as the in-tree\n     implementations prior to v1.22)\n  2. \
                 Signer whose configured maximum is shorter than the requested duration\n  3. Signer whose \
                 configured minimum is longer than the requested duration\n\nThe minimum valid value for \
                 expirationSeconds is 600, i.e. 10 minutes.",
            ),
            column("Condition", "Conditions applied to the request, such as approval or denial."),
        ],
    ),
    (
        "configmaps",
        &[
            NAME,
            column(
                "Data",
                "Data contains the configuration data. Each key must consist of alphanumeric characters, '-', '_' or \
                 '.'. Values with non-UTF-8 byte sequences must use the BinaryData field. The keys stored in Data \
                 must not overlap with the keys in the BinaryData field, this is enforced during validation process.",
            ),
            AGE,
        ],
    ),
    (
        "csinodes",
        &[NAME, integer("Drivers", "Drivers indicates the number of CSI drivers registered on the node"), AGE],
    ),
    (
        "daemonsets",
        &[
            NAME,
            integer(
                "Desired",
                "The total number of nodes that should be running the daemon pod (including nodes correctly running \
                 the daemon pod). More info: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/",
            ),
            integer(
                "Current",
                "The number of nodes that are running at least 1 daemon pod and are supposed to run the daemon pod. \
                 More info: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/",
            ),
            integer(
                "Ready",
                "The number of nodes that should be running the daemon pod and have one or more of the daemon pod \
                 running and ready.",
            ),
            integer("Up-to-date", "The total number of nodes that are running updated daemon pod"),
            integer(
                "Available",
                "The number of nodes that should be running the daemon pod and have one or more of the daemon pod \
                 running and available (ready for at least spec.minReadySeconds)",
            ),
            column(
                "Node Selector",
                "NodeSelector is a selector which must be true for the pod to fit on a node. Selector which must \
                 match a node's labels for the pod to be scheduled on that node. More info: \
                 https://kubernetes.io/docs/concepts/configuration/assign-pod-node/",
            ),
            AGE,
            CONTAINERS,
            IMAGES,
            wide(
                "Selector",
                "A label query over pods that are managed by the daemon set. Must match in order to be controlled. \
                 If empty, defaulted to labels on Pod template. More info: \
                 https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
            ),
        ],
    ),
    (
        "deployments",
        &[
            NAME,
            column("Ready", "Number of the pod with ready state"),
            column(
                "Up-to-date",
                "Total number of non-terminated pods targeted by this deployment that have the desired template spec.",
            ),
            column(
                "Available",
                "Total number of available pods (ready for at least minReadySeconds) targeted by this deployment.",
            ),
            AGE,
            CONTAINERS,
            IMAGES,
            wide(
                "Selector",
                "Label selector for pods. Existing ReplicaSets whose pods are selected by this will be the ones \
                 affected by this deployment.",
            ),
        ],
    ),
    (
        "events",
        &[
            column("Last Seen", "The time at which the most recent occurrence of this event was recorded."),
            column("Type", "Type of this event (Normal, Warning), new types could be added in the future"),
            column(
                "Reason",
                "This should be a short, machine understandable string that gives the reason for the transition into \
                 the object's current status.",
            ),
            column("Object", "The object that this event is about."),
            wide(
                "Subobject",
                "If referring to a piece of an object instead of an entire object, this string should contain a \
                 valid JSON/Go field access statement, such as desiredState.manifest.containers[2]. For example, if \
                 the object reference is to a container within a pod, this would take on a value like: \
                 \"spec.containers{name}\" (where \"name\" refers to the name of the container that triggered the \
                 event) or if no container name is specified \"spec.containers[2]\" (container with index 2 in this \
                 pod). This syntax is chosen only to have some well-defined way of referencing a part of an object.",
            ),
            wide("Source", "The component reporting this event. Should be a short machine understandable string."),
            column("Message", "A human-readable description of the status of this operation."),
            wide(
                "First Seen",
                "The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)",
            ),
            wide("Count", "The number of times this event has occurred."),
            Column { priority: 1, ..NAME },
        ],
    ),
    (
        "jobs",
        &[
            NAME,
            column("Status", "Status of the job."),
            column(
                "Completions",
                "The number of pods which reached phase Succeeded. The value increases monotonically for a given \
                 spec. However, it may decrease in reaction to scale down of elastic indexed jobs.",
            ),
            column("Duration", "Time required to complete the job."),
            AGE,
            CONTAINERS,
            IMAGES,
            JOB_SELECTOR,
        ],
    ),
    (
        "leases",
        &[
            NAME,
            column(
                "Holder",
                "holderIdentity contains the identity of the holder of a current lease. If Coordinated Leader \
                 Election is used, the holder identity must be equal to the elected LeaseCandidate.metadata.name \
                 field.",
            ),
            AGE,
        ],
    ),
    ("namespaces", &[NAME, column("Status", "The status of the namespace"), AGE]),
    (
        "nodes",
        &[
            NAME,
            column("Status", "The status of the node"),
            column("Roles", "The roles of the node"),
            AGE,
            column("Version", "Kubelet Version reported by the node."),
            wide(
                "Internal-IP",
                "List of addresses reachable to the node. Queried from cloud provider, if available. More info: \
                 https://kubernetes.io/docs/concepts/nodes/node/#addresses Note: This field is declared as \
                 mergeable, but the merge key is not sufficiently unique, which can cause data corruption when it is \
                 merged. Callers should instead use a full-replacement patch. See https://pr.k8s.io/79391 for an \
                 example. Consumers should assume that addresses can change during the lifetime of a Node. However, \
                 there are some exceptions where this may not be possible, such as Pods that inherit a Node's \
                 address in its own status or consumers of the downward API (status.hostIP).",
            ),
            wide(
                "External-IP",
                "List of addresses reachable to the node. Queried from cloud provider, if available. More info: \
                 https://kubernetes.io/docs/concepts/nodes/node/#addresses Note: This field is declared as \
                 mergeable, but the merge key is not sufficiently unique, which can cause data corruption when it is \
                 merged. Callers should instead use a full-replacement patch. See https://pr.k8s.io/79391 for an \
                 example. Consumers should assume that addresses can change during the lifetime of a Node. However, \
                 there are some exceptions where this may not be possible, such as Pods that inherit a Node's \
                 address in its own status or consumers of the downward API (status.hostIP).",
            ),
            wide("OS-Image", "OS Image reported by the node from /etc/os-release (e.g. Debian GNU/Linux 7 (wheezy))."),
            wide("Kernel-Version", "Kernel Version reported by the node from 'uname -r' (e.g. 3.16.0-0.bpo.4-amd64)."),
            wide(
                "Container-Runtime",
                "ContainerRuntime Version reported by the node through runtime remote API (e.g. containerd://1.4.2).",
            ),
        ],
    ),
    (
        "poddisruptionbudgets",
        &[
            NAME,
            column("Min Available", "The minimum number of pods that must be available."),
            column("Max Unavailable", "The maximum number of pods that may be unavailable."),
            integer("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time."),
            AGE,
        ],
    ),
    (
        "pods",
        &[
            NAME,
            column("Ready", "The aggregate readiness state of this pod for accepting traffic."),
            column("Status", "The aggregate status of the containers in this pod."),
            column(
                "Restarts",
                "The number of times the containers in this pod have been restarted and when the last container in \
                 this pod has restarted.",
            ),
            AGE,
            wide(
                "IP",
                "podIP address allocated to the pod. Routable at least within the cluster. Empty if not yet allocated.",
            ),
            wide(
                "Node",
                "NodeName indicates in which node this pod is scheduled. If empty, this pod is a candidate for \
                 scheduling by the scheduler defined in schedulerName. Once this field is set, the kubelet for this \
                 node becomes responsible for the lifecycle of this pod. This field should not be used to express a \
                 desire for the pod to be scheduled on a specific node. \
                 https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename",
            ),
            wide(
                "Nominated Node",
                "nominatedNodeName is set only when this pod preempts other pods on the node, but it cannot be \
                 scheduled right away as preemption victims receive their graceful termination periods. This field \
                 does not guarantee that the pod will be scheduled on this node. Scheduler may decide to place the \
                 pod elsewhere if other nodes become available sooner. Scheduler may also decide to give the \
                 resources on this node to a higher priority pod that is created after preemption. As a result, this \
                 field may be different than PodSpec.nodeName when the pod is scheduled.",
            ),
            wide(
                "Readiness Gates",
                "If specified, all readiness gates will be evaluated for pod readiness. A pod is ready when all its \
                 containers are ready AND all conditions specified in the readiness gates have status equal to \
                 \"True\" More info: https://git.k8s.io/enhancements/keps/sig-network/580-pod-readiness-gates",
            ),
        ],
    ),
    (
        "priorityclasses",
        &[
            NAME,
            integer(
                "Value",
                "value represents the integer value of this priority class. This is the actual priority that pods \
                 receive when they have the name of this class in their pod spec.",
            ),
            boolean(
                "Global-Default",
                "globalDefault specifies whether this PriorityClass should be considered as the default priority for \
                 pods that do not have any priority class. Only one PriorityClass can be marked as `globalDefault`. \
                 However, if more than one PriorityClasses exists with their `globalDefault` field set to true, the \
                 smallest value of such global default PriorityClasses will be used as the default priority.",
            ),
            AGE,
        ],
    ),
    (
        "replicasets",
        &[
            NAME,
            integer(
                "Desired",
                "Replicas is the number of desired replicas. This is a pointer to distinguish between explicit zero \
                 and unspecified. Defaults to 1. More info: https://kubernetes.io/docs/concepts/workloads/controllers/\
                 replicationcontroller/#what-is-a-replicationcontroller",
            ),
            integer(
                "Current",
                "Replicas is the most recently observed number of replicas. More info: https://kubernetes.io/docs/\
                 concepts/workloads/controllers/replicationcontroller/#what-is-a-replicationcontroller",
            ),
            integer("Ready", "The number of ready replicas for this replica set."),
            AGE,
            CONTAINERS,
            IMAGES,
            wide(
                "Selector",
                "Selector is a label query over pods that should match the replica count. If the selector is empty, \
                 it is defaulted to the labels present on the pod template. Label keys and values that must match in \
                 order to be controlled by this replica set. More info: \
                 https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
            ),
        ],
    ),
    (
        "secrets",
        &[
            NAME,
            column(
                "Type",
                "Used to facilitate programmatic handling of secret data. More info: \
                 https://kubernetes.io/docs/concepts/configuration/secret/#secret-types",
            ),
            column(
                "Data",
                "Data contains the secret data. Each key must consist of alphanumeric characters, '-', '_' or '.'. \
                 The serialized form of the secret data is a base64 encoded string, representing the arbitrary \
                 (possibly non-string) data value here. Described in https://tools.ietf.org/html/rfc4648#section-4",
            ),
            AGE,
        ],
    ),
    (
        "serviceaccounts",
        &[
            NAME,
            column(
                "Secrets",
                "Secrets is a list of the secrets in the same namespace that pods running using this ServiceAccount \
                 are allowed to use. Pods are only limited to this list if this service account has a \
                 \"kubernetes.io/enforce-mountable-secrets\" annotation set to \"true\". This field should not be \
                 used to find auto-generated service account token secrets for use outside of pods. Instead, tokens \
                 can be requested directly using the TokenRequest API, or service account token secrets can be \
                 manually created. More info: https://kubernetes.io/docs/concepts/configuration/secret",
            ),
            AGE,
        ],
    ),
    (
        "services",
        &[
            NAME,
            column(
                "Type",
                "type determines how the Service is exposed. Defaults to ClusterIP. Valid options are ExternalName, \
                 ClusterIP, NodePort, and LoadBalancer. \"ClusterIP\" allocates a cluster-internal IP address for \
                 load-balancing to endpoints. Endpoints are determined by the selector or if that is not specified, \
                 by manual construction of an Endpoints object or EndpointSlice objects. If clusterIP is \"None\", \
                 no virtual IP is allocated and the endpoints are published as a set of endpoints rather than a \
                 virtual IP. \"NodePort\" builds on ClusterIP and allocates a port on every node which routes to the \
                 same endpoints as the clusterIP. \"LoadBalancer\" builds on NodePort and creates an external \
                 load-balancer (if supported in the current cloud) which routes to the same endpoints as the \
                 clusterIP. \"ExternalName\" aliases this service to the specified externalName. Several other \
                 fields do not apply to ExternalName services. More info: \
                 https://kubernetes.io/docs/concepts/services-networking/service/#publishing-services-service-types",
            ),
            column(
                "Cluster-IP",
                "clusterIP is the IP address of the service and is usually assigned randomly. If an address is \
                 specified manually, is in-range (as per system configuration), and is not in use, it will be \
                 allocated to the service; otherwise creation of the service will fail. This field may not be \
                 changed through updates unless the type field is also being changed to ExternalName (which requires \
                 this field to be blank) or the type field is being changed from ExternalName (in which case this \
                 field may optionally be specified, as describe above).  Valid values are \"None\", empty string \
                 (\"\"), or a valid IP address. Setting this to \"None\" makes a \"headless service\" (no virtual \
                 IP), which is useful when direct endpoint connections are preferred and proxying is not required.  \
                 Only applies to types ClusterIP, NodePort, and LoadBalancer. If this field is specified when \
                 creating a Service of type ExternalName, creation will fail. This field will be wiped when updating \
                 a Service to type ExternalName. More info: \
                 https://kubernetes.io/docs/concepts/services-networking/service/#virtual-ips-and-service-proxies",
            ),
            column(
                "External-IP",
                "externalIPs is a list of IP addresses for which nodes in the cluster will also accept traffic for \
                 this service.  These IPs are not managed by Kubernetes.  The user is responsible for ensuring that \
                 traffic arrives at a node with this IP.  A common example is external load-balancers that are not \
                 part of the Kubernetes system.",
            ),
            column(
                "Port(s)",
                "The list of ports that are exposed by this service. More info: \
                 https://kubernetes.io/docs/concepts/services-networking/service/#virtual-ips-and-service-proxies",
            ),
            AGE,
            wide(
                "Selector",
                "Route service traffic to pods with label keys and values matching this selector. If empty or not \
                 present, the service is assumed to have an external process managing its endpoints, which \
                 Kubernetes will not modify. Only applies to types ClusterIP, NodePort, and LoadBalancer. Ignored if \
                 type is ExternalName. More info: https://kubernetes.io/docs/concepts/services-networking/service/",
            ),
        ],
    ),
    ("statefulsets", &[NAME, column("Ready", "Number of the pod with ready state"), AGE, CONTAINERS, IMAGES]),
];

#[cfg(test)]
mod tests {
    use super::{ALL, of};
    use crate::profile::releases::ColumnChange::{Added, Described, Gone, Last};
    use crate::profile::releases::all;
    use crate::profile::{Profile, Release};

    #[test]
    fn a_quota_tells_its_age_last_since_1_33() {
        let names = |minor| {
            let columns = of("resourcequotas", &Profile::of(Release::new(minor, 0)));
            columns.iter().map(|(place, column)| (*place, column.name)).collect::<alloc::vec::Vec<_>>()
        };
        assert_eq!(names(32), [(0, "Name"), (1, "Age"), (2, "Request"), (3, "Limit")]);
        assert_eq!(names(33), [(0, "Name"), (2, "Request"), (3, "Limit"), (1, "Age")]);
    }

    #[test]
    fn each_change_is_about_a_column_that_is_there() {
        for data in all() {
            let before = Profile::of(Release::new(data.minor - 1, 0));
            for change in data.columns {
                let (Added(table, _) | Described(table, ..) | Gone(table, _) | Last(table, _)) = *change;
                let is_there = |name| of(table, &before).iter().any(|(_, column)| column.name == name);
                assert!(ALL.into_iter().flatten().any(|(own, _)| *own == table), "{table}");
                match *change {
                    Added(_, column) => assert!(!is_there(column.name), "{table} {}", column.name),
                    Described(_, name, _) | Gone(_, name) | Last(_, name) => assert!(is_there(name), "{table} {name}"),
                }
            }
        }
    }
}
