//! Decides which clusters may be touched, and what is printed before the first write.
//!
//! Inputs: the name of a context, the names that the user has allowed, what Docker and the API server report. Outputs:
//! a permission or a refusal, and a sentence for people. Invariant: nothing is written to a context unless it is named
//! like a kind cluster or is allowed by its exact name, or its server is on this machine and the caller accepts that.
//! Pure.

use std::fmt;

/// The prefix of kind's contexts.
/// Source: sigs.k8s.io/kind pkg/cluster/internal/kubeconfig/internal/kubeconfig/helpers.go (v0.27), `KINDClusterKey`.
const KIND_PREFIX: &str = "kind-";

/// Why a context may be touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Its name is that of a kind cluster; its containers have to confirm it.
    Kind {
        /// The name of the cluster.
        cluster: String,
    },
    /// The user has allowed it by its name.
    Named,
    /// Its server is on this machine.
    Near,
}

/// Why a context must not be touched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContextRefusal {
    /// It has no name.
    #[error("no context was named: say --context NAME")]
    Unnamed,
    /// Nothing shows that it is a cluster for tests.
    #[error("context {context} is no kind cluster and was not allowed: nothing is written to it{}", near(.allowed))]
    NotAllowed {
        /// The context.
        context: String,
        /// The contexts that were allowed.
        allowed: Vec<String>,
    },
    /// It is named like a kind cluster and is none.
    #[error("context {context} is named as a kind cluster, but {why}: nothing is written to it")]
    NotKind {
        /// The context.
        context: String,
        /// What contradicts it.
        why: String,
    },
}

fn near(allowed: &[String]) -> String {
    if allowed.is_empty() {
        "; to allow it say --allow-context with exactly this name".to_owned()
    } else {
        format!("; allowed are {}", allowed.join(", "))
    }
}

/// Decides whether a context may be touched: by its name, or by its server's host if a local one is accepted.
///
/// # Errors
/// It must not be touched.
pub fn permission(context: &str, host: Option<&str>, allowed: &[String]) -> Result<Permission, ContextRefusal> {
    if context.is_empty() {
        return Err(ContextRefusal::Unnamed);
    }
    match context.strip_prefix(KIND_PREFIX) {
        Some(cluster) if !cluster.is_empty() => Ok(Permission::Kind { cluster: cluster.to_owned() }),
        _ if allowed.iter().any(|name| name == context) => Ok(Permission::Named),
        _ if host.is_some_and(is_here) => Ok(Permission::Near),
        _ => Err(ContextRefusal::NotAllowed { context: context.to_owned(), allowed: allowed.to_vec() }),
    }
}

/// Tells whether a host is this machine.
pub(crate) fn is_here(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// What Docker and the API server report about a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The names of the containers that carry the cluster's label.
    pub containers: Vec<String>,
    /// The names of the Nodes.
    pub nodes: Vec<String>,
    /// The host's ports on which API servers in these containers listen.
    pub ports: Vec<u16>,
    /// The port of the context's server.
    pub port: Option<u16>,
}

/// Checks that a cluster named like a kind cluster is the one whose containers are here.
///
/// # Errors
/// It is no kind cluster, or another one.
pub fn check_kind(context: &str, cluster: &str, evidence: &Evidence) -> Result<(), ContextRefusal> {
    let refuse = |why: String| Err(ContextRefusal::NotKind { context: context.to_owned(), why });
    if evidence.containers.is_empty() {
        return refuse(format!("no container here carries the label io.x-k8s.kind.cluster={cluster}"));
    }
    if evidence.nodes.is_empty() {
        return refuse("its API server shows no Node".to_owned());
    }
    // Another machine's kubeconfig may hold a cluster of the same name as one that runs here.
    if !evidence.port.is_some_and(|port| evidence.ports.contains(&port)) {
        return refuse(format!("its server is not the port of a container of cluster {cluster} here"));
    }
    // A Node without a container may be the user's own, or one that `clean` has yet to remove; one match is enough.
    if !evidence.nodes.iter().any(|node| evidence.containers.contains(node)) {
        return refuse(format!("none of its Nodes ({}) is one of these containers", evidence.nodes.join(", ")));
    }
    Ok(())
}

/// The cluster, as printed before the first write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterSummary {
    /// The context.
    pub context: String,
    /// The address of the API server.
    pub server: String,
    /// The release that it reports.
    pub version: String,
    /// How many Nodes it has.
    pub nodes: usize,
}

impl fmt::Display for ClusterSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.nodes == 1 { "" } else { "s" };
        write!(
            f,
            "context {} at {}: Kubernetes {}, {} node{plural}",
            self.context, self.server, self.version, self.nodes
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{ClusterSummary, Evidence, Permission, check_kind, permission};

    #[test]
    fn only_kind_and_what_was_allowed_by_its_exact_name_may_be_touched() {
        let allowed = ["staging".to_owned()];
        let kind = |cluster: &str| Ok(Permission::Kind { cluster: cluster.to_owned() });
        let text = |context: &str, allowed: &[String]| {
            permission(context, None, allowed).map_err(|refusal| refusal.to_string())
        };
        assert_eq!(text("kind-np", &[]), kind("np"));
        assert_eq!(text("kind-kind", &allowed), kind("kind"));
        assert_eq!(text("staging", &allowed), Ok(Permission::Named));
        for (context, allowed, refusal) in [
            ("", &[][..], "no context was named: say --context NAME"),
            (
                "prod",
                &[],
                "context prod is no kind cluster and was not allowed: nothing is written to it; to allow it say \
                 --allow-context with exactly this name",
            ),
            (
                "staging-2",
                &allowed,
                "context staging-2 is no kind cluster and was not allowed: nothing is written to it; allowed are \
                    staging",
            ),
            (
                "kind-",
                &[],
                "context kind- is no kind cluster and was not allowed: nothing is written to it; to allow it say \
                 --allow-context with exactly this name",
            ),
            (
                "Kind-np",
                &[],
                "context Kind-np is no kind cluster and was not allowed: nothing is written to it; to allow it say \
                 --allow-context with exactly this name",
            ),
        ] {
            assert_eq!(text(context, allowed), Err(refusal.to_owned()));
        }
    }

    #[test]
    fn a_server_on_this_machine_needs_no_permission_where_that_will_do() {
        for (context, host, permitted) in [
            ("kind-a", "10.0.0.1", true),
            ("dev", "127.0.0.1", true),
            ("dev", "[::1]", true),
            ("dev", "localhost", true),
            ("prod", "10.0.0.1", false),
            ("my-kind-a", "example.com", false),
            ("prod", "localhost.example.com", false),
            ("", "127.0.0.1", false),
        ] {
            assert_eq!(permission(context, Some(host), &[]).is_ok(), permitted, "{context} {host}");
        }
    }

    #[test]
    fn a_name_alone_makes_no_kind_cluster() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let good = Evidence {
            containers: names(&["np-control-plane", "np-worker"]),
            nodes: names(&["np-control-plane", "np-worker", "left-over"]),
            ports: vec![40_001],
            port: Some(40_001),
        };
        assert_eq!(check_kind("kind-np", "np", &good), Ok(()));
        for (evidence, why) in [
            (Evidence { containers: Vec::new(), ..good.clone() }, "no container here carries the label"),
            (Evidence { nodes: Vec::new(), ..good.clone() }, "its API server shows no Node"),
            (Evidence { port: Some(6443), ..good.clone() }, "its server is not the port of a container"),
            (Evidence { nodes: names(&["ip-10-0-0-1"]), ..good.clone() }, "none of its Nodes (ip-10-0-0-1)"),
        ] {
            let refusal = check_kind("kind-np", "np", &evidence).unwrap_err().to_string();
            assert!(refusal.starts_with("context kind-np is named as a kind cluster, but "), "{refusal}");
            assert!(refusal.contains(why), "{refusal}");
        }
    }

    #[test]
    fn the_cluster_is_named_before_the_first_write() {
        let target = ClusterSummary {
            context: "kind-np".to_owned(),
            server: "https://127.0.0.1:40001".to_owned(),
            version: "v1.34.4".to_owned(),
            nodes: 3,
        };
        assert_eq!(target.to_string(), "context kind-np at https://127.0.0.1:40001: Kubernetes v1.34.4, 3 nodes");
    }
}
