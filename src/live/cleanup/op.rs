//! Operations on the containers of a kind cluster, as data that can be printed, stored and carried out later by others.
//!
//! Outputs: a command line for people (`docker pause np-worker`), and JSON for the journal. The same operations are
//! printed by a dry run, make a fault, and heal it after the run is gone; `docker` carries them out. Invariant: healing
//! operations may be done twice, and to a healthy machine.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The Docker network of kind's clusters.
/// Source: sigs.k8s.io/kind pkg/cluster/internal/providers/docker/provider.go (v0.27), `fixedNetworkName`.
pub(crate) const NETWORK: &str = "kind";

/// The administrator's kubeconfig on a control plane, with which `kubectl` is called there.
/// Source: cmd/kubeadm/app/constants/constants.go (v1.34), `AdminKubeConfigFileName`.
const ADMIN: &str = "/etc/kubernetes/admin.conf";

/// One operation on a container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub(crate) enum Op {
    /// A shell script runs in the container.
    Exec {
        /// The container.
        container: String,
        /// The script, for `sh -c`.
        script: String,
    },
    /// All processes of the container freeze.
    Pause {
        /// The container.
        container: String,
    },
    /// The processes continue.
    Unpause {
        /// The container.
        container: String,
    },
    /// All processes of the container get SIGKILL.
    Kill {
        /// The container.
        container: String,
    },
    /// The container boots.
    Start {
        /// The container.
        container: String,
    },
    /// The container loses its network interface.
    Disconnect {
        /// The container.
        container: String,
    },
    /// The container gets a network interface, with this address if one is given, otherwise with the one it first had.
    Connect {
        /// The container.
        container: String,
        /// The address.
        address: Option<String>,
    },
    /// All containers of a cluster and their volumes are removed.
    RemoveCluster {
        /// Its name.
        cluster: String,
    },
    /// Something is deleted through the API server of a cluster without containers of this run.
    Delete {
        /// The kubeconfig; `None` for the default one.
        kubeconfig: Option<PathBuf>,
        /// Its context.
        context: String,
        /// The path below the server's address, with its query.
        path: String,
    },
    /// The container and its volumes are removed.
    Remove {
        /// The container.
        container: String,
    },
}

impl Op {
    /// Makes the operation that runs a script in a container.
    pub(crate) fn exec(container: &str, script: impl Into<String>) -> Self {
        Self::Exec { container: container.to_owned(), script: script.into() }
    }

    /// Makes the operation that calls kubectl on a control plane.
    pub(crate) fn kubectl(control_plane: &str, arguments: &str) -> Self {
        Self::exec(control_plane, format!("kubectl --kubeconfig={ADMIN} {arguments}"))
    }

    /// Makes the operation that deletes a Node; a Node that is gone is no error.
    pub(crate) fn delete_node(control_plane: &str, node: &str) -> Self {
        Self::kubectl(control_plane, &format!("delete node {node} --ignore-not-found --wait=false"))
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exec { container, script } => write!(f, "docker exec {container} sh -c {}", quoted(script)),
            Self::Pause { container } => write!(f, "docker pause {container}"),
            Self::Unpause { container } => write!(f, "docker unpause {container}"),
            Self::Kill { container } => write!(f, "docker kill {container}"),
            Self::Start { container } => write!(f, "docker start {container}"),
            Self::Disconnect { container } => write!(f, "docker network disconnect {NETWORK} {container}"),
            Self::Connect { container, address: None } => write!(f, "docker network connect {NETWORK} {container}"),
            Self::Connect { container, address: Some(address) } => {
                write!(f, "docker network connect --ip {address} {NETWORK} {container}")
            }
            Self::RemoveCluster { cluster } => write!(f, "kind delete cluster --name {cluster}"),
            Self::Delete { kubeconfig, context, path } => {
                f.write_str("kubectl ")?;
                if let Some(file) = kubeconfig {
                    write!(f, "--kubeconfig {} ", file.display())?;
                }
                write!(f, "--context {context} delete --raw {}", quoted(path))
            }
            Self::Remove { container } => write!(f, "docker rm -fv {container}"),
        }
    }
}

/// Quotes a text for a shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::Op;

    #[test]
    fn an_operation_shows_as_the_command_that_does_it() {
        let container = || "np-worker".to_owned();
        for (op, command) in [
            (Op::exec("np-worker", "echo 'a b'"), r"docker exec np-worker sh -c 'echo '\''a b'\'''"),
            (Op::Pause { container: container() }, "docker pause np-worker"),
            (Op::Remove { container: container() }, "docker rm -fv np-worker"),
            (
                Op::Connect { container: container(), address: Some("172.18.0.3".to_owned()) },
                "docker network connect --ip 172.18.0.3 kind np-worker",
            ),
        ] {
            assert_eq!(op.to_string(), command);
            let text = serde_json::to_string(&op).unwrap();
            assert_eq!(serde_json::from_str::<Op>(&text).unwrap(), op);
        }
    }
}
