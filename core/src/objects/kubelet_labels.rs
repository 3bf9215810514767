//! Which labels a kubelet may give its Node.
//!
//! Source: k8s.io/kubelet/pkg/apis/well_known_labels.go (v1.34). The kubelet checks its flags with it, the API server
//! the requests of kubelets. Pure.

/// The label with the name of a Node's host. Source: k8s.io/api core/v1/well_known_labels.go (v1.34), `LabelHostname`.
pub const HOSTNAME: &str = "kubernetes.io/hostname";
/// The label of a Node's zone. Source: as [`HOSTNAME`], `LabelTopologyZone`.
pub const ZONE: &str = "topology.kubernetes.io/zone";
/// Keys of Kubernetes that kubelets may set, sorted. Source: `kubeletLabels`.
pub const KUBELET_LABELS: [&str; 11] = [
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    HOSTNAME,
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    ZONE,
];
/// Prefixes of Kubernetes below which kubelets may set any key. Source: `kubeletLabelNamespaces`.
pub const KUBELET_PREFIXES: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];

/// Returns what stands before the slash of a key; empty for none.
#[must_use]
pub fn prefix_of(key: &str) -> &str {
    key.split_once('/').map_or("", |(prefix, _)| prefix)
}

/// Tells whether a prefix is a domain or a subdomain of it.
#[must_use]
pub fn is_domain_or_below(prefix: &str, domain: &str) -> bool {
    prefix == domain || prefix.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

/// Tells whether a key belongs to Kubernetes: below `kubernetes.io` or `k8s.io`.
#[must_use]
pub fn is_reserved_label(key: &str) -> bool {
    ["kubernetes.io", "k8s.io"].iter().any(|domain| is_domain_or_below(prefix_of(key), domain))
}

/// Tells whether a key is one of those that kubelets may set.
#[must_use]
pub fn is_kubelet_label(key: &str) -> bool {
    KUBELET_LABELS.contains(&key) || KUBELET_PREFIXES.iter().any(|domain| is_domain_or_below(prefix_of(key), domain))
}

#[cfg(test)]
mod tests {
    use super::{is_kubelet_label, is_reserved_label};

    #[test]
    fn keys_are_reserved_below_the_domains_of_kubernetes_alone() {
        for (key, reserved, kubelet) in [
            ("plain", false, false),
            ("node-role.kubernetes.io", false, false),
            ("node-role.kubernetes.io/worker", true, false),
            ("kubernetes.io/hostname", true, true),
            ("x.node.kubernetes.io/y", true, true),
            ("notkubernetes.io/x", false, false),
            ("xk8s.io/y", false, false),
            ("a.k8s.io/y", true, false),
        ] {
            assert_eq!((is_reserved_label(key), is_kubelet_label(key)), (reserved, kubelet), "{key}");
        }
    }
}
