//! The bindings that kubeadm makes: for kubelets that join by TLS bootstrap, and for its own clients.
//!
//! Source: cmd/kubeadm/app/phases/bootstraptoken/node/tlsbootstrap.go and cmd/kubeadm/app/constants/constants.go
//! (v1.34). Inputs: none. Outputs: bindings.

use alloc::vec::Vec;

use super::rbac_policy::{Binding, Subject};
use crate::objects::Text;

/// Who has made the cluster, and left its own bindings there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Maker {
    /// The programs were started one by one.
    #[default]
    Nobody,
    Kubeadm,
}

/// What the names of these bindings begin with.
pub(super) const PREFIX: &str = "kubeadm:";

/// The group of kubeadm's bootstrap tokens. Source: constants.go (v1.34), `NodeBootstrapTokenAuthGroup`.
const TOKENS: &str = "system:bootstrappers:kubeadm:default-node-token";

/// Binding, ClusterRole, group. Source of the first: cmd/kubeadm/app/phases/kubeconfig/kubeconfig.go (v1.34),
/// `EnsureAdminClusterRoleBinding`.
const BINDINGS: [(&str, &str, &str); 4] = [
    ("kubeadm:cluster-admins", "cluster-admin", "kubeadm:cluster-admins"),
    ("kubeadm:kubelet-bootstrap", "system:node-bootstrapper", TOKENS),
    ("kubeadm:node-autoapprove-bootstrap", "system:certificates.k8s.io:certificatesigningrequests:nodeclient", TOKENS),
    (
        "kubeadm:node-autoapprove-certificate-rotation",
        "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
        "system:nodes",
    ),
];

/// Returns the bindings.
pub(super) fn bindings() -> Vec<Binding> {
    let binding = |(name, role, group)| Binding {
        namespace: "",
        name: Text::of(name),
        role: Text::of(role),
        subjects: Vec::from([Subject::Group(Text::of(group))]),
    };
    BINDINGS.into_iter().map(binding).collect()
}
