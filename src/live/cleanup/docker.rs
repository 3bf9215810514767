//! Docker, as far as nodes of kind clusters need it: lists containers and carries operations out.
//!
//! Inputs: [`Op`]s. Outputs: their effect, or the error of Docker or of the script. Each call has a time limit, so that
//! a daemon that hangs ends a scenario and not the run. Invariant: only containers with the label of a kind cluster are
//! listed.

use std::time::Duration;

use futures::StreamExt as _;
use testcontainers::bollard::Docker as Bollard;
use testcontainers::bollard::container::LogOutput;
use testcontainers::bollard::errors::Error;
use testcontainers::bollard::exec::StartExecResults;
use testcontainers::bollard::models::{
    ContainerSummary, EndpointIpamConfig, EndpointSettings, ExecConfig, NetworkConnectRequest, NetworkDisconnectRequest,
};
use testcontainers::bollard::query_parameters::{
    InspectContainerOptions, KillContainerOptions, ListContainersOptionsBuilder, RemoveContainerOptionsBuilder,
    StartContainerOptions,
};

use super::op::{NETWORK, Op};
use crate::live::timing::{DOCKER_TIMEOUT, SCRIPT_PAUSE, SCRIPT_TIMEOUT};

/// The label of kind's containers that names their cluster.
/// Source: sigs.k8s.io/kind pkg/cluster/internal/providers/docker/constants.go (v0.27), `clusterLabelKey`.
pub(crate) const CLUSTER_LABEL: &str = "io.x-k8s.kind.cluster";
/// The label that holds the role of a container in its cluster.
/// Source: as above, `nodeRoleLabelKey`.
pub(crate) const ROLE_LABEL: &str = "io.x-k8s.kind.role";
/// The label of everything that a run makes; its value is the run's id.
pub(crate) const RUN_LABEL: &str = "nodeproof.dev/run";

/// Why something could not be done to a container.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DockerError {
    /// There is no daemon that answers.
    #[error("docker does not answer: {0}")]
    Gone(String),
    /// The daemon refuses.
    #[error("docker refuses `{command}`: {why}")]
    Refused {
        /// What was asked for.
        command: String,
        /// What Docker answered.
        why: String,
        /// The HTTP code.
        code: u16,
    },
    /// An API server does not answer, or refuses.
    #[error("`{command}` failed: {why}")]
    Request {
        /// What was asked for.
        command: String,
        /// What the API server answered.
        why: String,
    },
    /// A script failed.
    #[error("`{command}` ended with {code}: {said}")]
    Script {
        /// What was run.
        command: String,
        /// Its exit code.
        code: i64,
        /// The last of its output.
        said: String,
    },
}

impl DockerError {
    /// Makes the error of a daemon that does not answer.
    pub(crate) fn gone(text: &str) -> Self {
        Self::Gone(text.trim_start_matches("docker does not answer: ").to_owned())
    }

    /// Tells whether the daemon itself does not answer, so that nothing else will succeed either.
    pub(crate) const fn is_gone(&self) -> bool {
        matches!(self, Self::Gone(_))
    }

    /// Tells whether the container of the operation does not exist.
    pub(crate) fn has_no_container(&self) -> bool {
        matches!(self, Self::Refused { code: 404, why, .. } if why.contains("No such container"))
    }

    const fn has_code(&self, wanted: u16) -> bool {
        matches!(self, Self::Refused { code, .. } if *code == wanted)
    }
}

/// A container with the label of a kind cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Container {
    /// Its name, which is also the name of its Node.
    pub(crate) name: String,
    /// Its cluster.
    pub(crate) cluster: String,
    /// `control-plane` or `worker`.
    pub(crate) role: String,
    /// The run that made it; `None` if kind did.
    pub(crate) run: Option<String>,
    /// `running`, `paused`, `exited` and so on.
    pub(crate) state: String,
    /// Its image's id.
    pub(crate) image: String,
    /// Whether it has a network.
    pub(crate) is_connected: bool,
    /// The host's port at which its API server listens.
    pub(crate) api_port: Option<u16>,
}

impl Container {
    fn of(summary: &ContainerSummary) -> Option<Self> {
        let label = |name: &str| summary.labels.as_ref()?.get(name).cloned();
        let ports = summary.ports.iter().flatten();
        let api = ports.filter(|port| port.private_port == 6443).find_map(|port| port.public_port);
        let networks = summary.network_settings.as_ref().and_then(|settings| settings.networks.as_ref());
        Some(Self {
            name: summary.names.as_ref()?.first()?.trim_start_matches('/').to_owned(),
            cluster: label(CLUSTER_LABEL)?,
            role: label(ROLE_LABEL).unwrap_or_default(),
            run: label(RUN_LABEL),
            state: summary.state.as_ref().map(ToString::to_string).unwrap_or_default(),
            image: summary.image_id.clone().unwrap_or_default(),
            is_connected: networks.is_some_and(|networks| networks.contains_key(NETWORK)),
            api_port: api,
        })
    }

    /// Tells whether it is the cluster's control plane.
    pub(crate) fn is_control_plane(&self) -> bool {
        self.role == "control-plane"
    }
}

/// A connection to the daemon.
#[derive(Clone, Debug)]
pub(crate) struct Docker {
    client: Bollard,
}

impl Docker {
    /// Connects to the daemon of `DOCKER_HOST`, or else the usual one.
    ///
    /// # Errors
    /// There is none.
    pub(crate) async fn connect() -> Result<Self, DockerError> {
        let client = Bollard::connect_with_defaults().map_err(|error| DockerError::Gone(error.to_string()))?;
        let negotiated = limited(DOCKER_TIMEOUT, client.negotiate_version()).await;
        negotiated.map(|client| Self { client }).map_err(|error| described(error, "docker version"))
    }

    /// Tells at once whether nothing listens at the daemon's socket; a daemon behind a network is not checked.
    pub(crate) fn trouble() -> Option<String> {
        const USUAL: &str = "unix:///var/run/docker.sock";
        let host = std::env::var("DOCKER_HOST").unwrap_or_else(|_| USUAL.to_owned());
        let path = host.strip_prefix("unix://")?;
        let error = std::os::unix::net::UnixStream::connect(path).err()?;
        Some(DockerError::Gone(format!("{path}: {error}")).to_string())
    }

    /// Returns the containers of kind clusters, all or of one.
    pub(crate) async fn containers(&self, cluster: Option<&str>) -> Result<Vec<Container>, DockerError> {
        let label = cluster.map_or_else(|| CLUSTER_LABEL.to_owned(), |name| format!("{CLUSTER_LABEL}={name}"));
        let filters = [("label".to_owned(), vec![label])].into_iter().collect();
        let options = ListContainersOptionsBuilder::new().all(true).filters(&filters).build();
        let list = limited(DOCKER_TIMEOUT, self.client.list_containers(Some(options))).await;
        let list = list.map_err(|error| described(error, "docker ps"))?;
        let mut containers: Vec<Container> = list.iter().filter_map(Container::of).collect();
        containers.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(containers)
    }

    /// Returns the state of a container: `running`, `paused`, `exited` and so on.
    pub(crate) async fn state(&self, container: &str) -> Result<String, DockerError> {
        let call = self.client.inspect_container(container, None::<InspectContainerOptions>);
        let found = limited(DOCKER_TIMEOUT, call).await.map_err(|error| described(error, "docker inspect"))?;
        Ok(found.state.and_then(|state| state.status).map(|status| status.to_string()).unwrap_or_default())
    }

    /// Runs a script in a container and returns what it printed.
    pub(crate) async fn run(&self, container: &str, script: &str) -> Result<String, DockerError> {
        self.run_within(container, script, SCRIPT_TIMEOUT).await
    }

    /// Runs a script that may take this long.
    pub(crate) async fn run_within(
        &self,
        container: &str,
        script: &str,
        limit: Duration,
    ) -> Result<String, DockerError> {
        let shown = Op::exec(container, script).to_string();
        let config = ExecConfig {
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            cmd: Some(vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()]),
            ..ExecConfig::default()
        };
        let work = async {
            let id = self.client.create_exec(container, config).await?.id;
            let (mut printed, mut said) = (String::new(), String::new());
            if let StartExecResults::Attached { mut output, .. } = self.client.start_exec(&id, None).await? {
                while let Some(part) = output.next().await {
                    match part? {
                        LogOutput::StdOut { message } => printed += &String::from_utf8_lossy(&message),
                        other => said += &String::from_utf8_lossy(&other.into_bytes()),
                    }
                }
            }
            let code = self.client.inspect_exec(&id).await?.exit_code.unwrap_or_default();
            Ok((code, printed, said))
        };
        let (code, printed, said) = limited(limit, work).await.map_err(|error| described(error, &shown))?;
        if code == 0 {
            return Ok(printed);
        }
        let said = if said.trim().is_empty() { printed } else { said };
        Err(DockerError::Script { command: shown, code, said })
    }

    /// Carries an operation out. If its effect is there already, that is no error.
    pub(crate) async fn perform(&self, op: &Op) -> Result<(), DockerError> {
        let shown = op.to_string();
        let described = |error| described(error, &shown);
        if let Op::Connect { container, address: None } = op
            && let Some(address) = self.own_address(container).await
        {
            let again = Op::Connect { container: container.clone(), address: Some(address) };
            // Another container may have taken the address meanwhile.
            if Box::pin(self.perform(&again)).await.is_ok() {
                return Ok(());
            }
        }
        let client = &self.client;
        let done = match op {
            Op::Exec { container, script } => return self.run(container, script).await.map(drop),
            Op::RemoveCluster { cluster } => return self.remove_cluster(cluster).await,
            Op::Delete { .. } => return deleted(op).await,
            Op::Pause { container } => limited(DOCKER_TIMEOUT, client.pause_container(container)).await,
            Op::Unpause { container } => limited(DOCKER_TIMEOUT, client.unpause_container(container)).await,
            Op::Kill { container } => {
                limited(DOCKER_TIMEOUT, client.kill_container(container, None::<KillContainerOptions>)).await
            }
            Op::Start { container } => {
                limited(DOCKER_TIMEOUT, client.start_container(container, None::<StartContainerOptions>)).await
            }
            Op::Disconnect { container } => {
                let request = NetworkDisconnectRequest { container: container.clone(), force: Some(true) };
                limited(DOCKER_TIMEOUT, client.disconnect_network(NETWORK, request)).await
            }
            Op::Connect { container, address } => {
                let ipam = |address: &String| EndpointIpamConfig {
                    ipv4_address: Some(address.clone()),
                    ..EndpointIpamConfig::default()
                };
                let endpoint =
                    EndpointSettings { ipam_config: address.as_ref().map(ipam), ..EndpointSettings::default() };
                let request = NetworkConnectRequest { container: container.clone(), endpoint_config: Some(endpoint) };
                limited(DOCKER_TIMEOUT, client.connect_network(NETWORK, request)).await
            }
            Op::Remove { container } => {
                let options = RemoveContainerOptionsBuilder::new().force(true).v(true).build();
                limited(DOCKER_TIMEOUT, client.remove_container(container, Some(options))).await
            }
        };
        match done.map_err(described) {
            Err(error) if is_so_already(op, &error) => Ok(()),
            done => done,
        }
    }

    async fn remove_cluster(&self, cluster: &str) -> Result<(), DockerError> {
        for container in self.containers(Some(cluster)).await? {
            Box::pin(self.perform(&Op::Remove { container: container.name })).await?;
        }
        Ok(())
    }

    /// Returns the address that the node first had, as its kubelet's flags say.
    async fn own_address(&self, container: &str) -> Option<String> {
        const SCRIPT: &str = "sed -n 's/.*--node-ip=\\([0-9.]*\\).*/\\1/p' /var/lib/kubelet/kubeadm-flags.env";
        let told = self.run(container, SCRIPT).await.ok()?;
        Some(told.trim().to_owned()).filter(|address| !address.is_empty())
    }

    /// Carries out an operation that prints something, and returns its output.
    pub(crate) async fn ask(&self, op: &Op) -> Result<String, DockerError> {
        match op {
            Op::Exec { container, script } => self.run(container, script).await,
            other => self.perform(other).await.map(|()| String::new()),
        }
    }

    /// Waits until the systemd of a container answers after its start.
    pub(crate) async fn wait_until_up(&self, container: &str, limit: Duration) -> Result<(), DockerError> {
        let script = "systemctl is-active -q containerd && test -S /run/containerd/containerd.sock";
        self.wait_for(container, script, limit).await
    }

    /// Repeats a script until it succeeds.
    pub(crate) async fn wait_for(&self, container: &str, script: &str, limit: Duration) -> Result<(), DockerError> {
        let started = tokio::time::Instant::now();
        loop {
            match self.run(container, script).await {
                Ok(_) => return Ok(()),
                Err(error) if error.is_gone() || started.elapsed() > limit => return Err(error),
                Err(_) => tokio::time::sleep(SCRIPT_PAUSE).await,
            }
        }
    }
}

/// Deletes through an API server, which needs no Docker.
///
/// # Errors
/// It does not answer, or refuses.
pub(crate) async fn deleted(op: &Op) -> Result<(), DockerError> {
    let Op::Delete { kubeconfig, context, path } = op else { return Ok(()) };
    let done = super::deletion::delete(kubeconfig.as_deref(), context, path).await;
    done.map_err(|why| DockerError::Request { command: op.to_string(), why })
}

/// Tells whether an error means that the effect of an operation is there already.
fn is_so_already(op: &Op, error: &DockerError) -> bool {
    let text = error.to_string();
    match op {
        Op::Unpause { .. } => text.contains("is not paused"),
        Op::Pause { .. } => text.contains("is already paused"),
        Op::Start { .. } => error.has_code(304),
        Op::Kill { .. } => error.has_code(409) && text.contains("is not running"),
        Op::Remove { .. } => error.has_code(404),
        Op::Connect { .. } => text.contains("already exists in network"),
        Op::Disconnect { .. } => text.contains("is not connected to"),
        Op::Exec { .. } | Op::RemoveCluster { .. } | Op::Delete { .. } => false,
    }
}

async fn limited<T>(limit: Duration, call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::time::timeout(limit, call).await.unwrap_or(Err(Error::RequestTimeoutError))
}

fn described(error: Error, command: &str) -> DockerError {
    match error {
        Error::DockerResponseServerError { status_code, message } => {
            DockerError::Refused { command: command.to_owned(), why: message, code: status_code }
        }
        other => DockerError::Gone(other.to_string()),
    }
}
