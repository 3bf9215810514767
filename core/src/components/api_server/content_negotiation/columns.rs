//! The columns of tables, as data: their names, types and descriptions by kind.
//!
//! Source: pkg/printers/internalversion/printers.go (v1.31), `AddHandlers`; most descriptions are those of fields in
//! k8s.io/api, `SwaggerDoc`. The tables are those of the oldest release; what has changed stands in `profile/releases`.

use alloc::vec::Vec;

use super::column_forms::{AGE, AGE_ABOUT, NAME, column, wide};
use super::{network_columns, policy_columns, storage_columns, v1_37_columns, workload_columns};
use crate::profile::Profile;
use crate::profile::releases::{Column, ColumnChange};

static ALL: [&[(&str, &[Column])]; 6] = [
    TABLES,
    workload_columns::TABLES,
    network_columns::TABLES,
    storage_columns::TABLES,
    policy_columns::TABLES,
    v1_37_columns::TABLES,
];

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
        "clusterrolebindings",
        &[
            NAME,
            column(
                "Role",
                "RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be \
                 resolved, the Authorizer must return an error.",
            ),
            AGE,
            wide("Users", "Users in the clusterRoleBinding"),
            wide("Groups", "Groups in the clusterRoleBinding"),
            wide("ServiceAccounts", "ServiceAccounts in the clusterRoleBinding"),
        ],
    ),
    (
        "componentstatuses",
        &[
            NAME,
            column("Status", "Status of the component conditions"),
            column("Message", "Message of the component conditions"),
            column("Error", "Error of the component conditions"),
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
        "resourcequotas",
        &[
            NAME,
            AGE,
            column("Request", "Request represents a minimum amount of cpu/memory that a container may consume."),
            column(
                "Limit",
                "Limits control the maximum amount of cpu/memory that a container may use independent of contention \
                 on the node.",
            ),
        ],
    ),
    (
        "rolebindings",
        &[
            NAME,
            column(
                "Role",
                "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If \
                 the RoleRef cannot be resolved, the Authorizer must return an error.",
            ),
            AGE,
            wide("Users", "Users in the roleBinding"),
            wide("Groups", "Groups in the roleBinding"),
            wide("ServiceAccounts", "ServiceAccounts in the roleBinding"),
        ],
    ),
    ("runtimeclasses", &[NAME, column("Handler", ""), AGE]),
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
        let mut count = 0;
        for data in all() {
            let before = Profile::of(Release::new(data.minor - 1, 0));
            for change in data.columns {
                count += 1;
                let (Added(table, _) | Described(table, ..) | Gone(table, _) | Last(table, _)) = *change;
                let is_there = |name| of(table, &before).iter().any(|(_, column)| column.name == name);
                assert!(ALL.into_iter().flatten().any(|(own, _)| *own == table), "{table}");
                match *change {
                    Added(_, column) => assert!(!is_there(column.name), "{table} {}", column.name),
                    Described(_, name, _) | Gone(_, name) | Last(_, name) => assert!(is_there(name), "{table} {name}"),
                }
            }
        }
        assert!(count > 20, "{count}");
    }
}
