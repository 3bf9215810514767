//! The kind cluster of a run: attached to and checked, or created; with its journal and its guard.
//!
//! Inputs: options of the command line. Outputs: what all scenarios on the cluster share. Invariants: nothing is
//! written to a cluster before its context is permitted and its containers and Nodes show that it is the local kind
//! cluster of that name; a cluster that a run has created is removed by that run, and no other is.

use std::fs::DirBuilder;
use std::num::NonZeroUsize;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use futures::future::try_join_all;
use jiff::Timestamp;
use nodeproof_core::objects::Text;
use serde_json::Value;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};
use tokio::time::Instant;

use super::programs::Programs;
use super::settings::KubeletSettings;
use super::worker::Common;
use crate::live::cleanup::docker::{Container, Docker, DockerError};
use crate::live::cleanup::guard::Guard;
use crate::live::cleanup::journal::{Header, Journal, UndoableChange, process_start};
use crate::live::cleanup::op::Op;
use crate::live::safety::{ClusterSummary, ContextRefusal, Evidence, Permission, check_kind, permission};
use crate::live::timing::{CREATE_WAIT, TOKEN_LIFE};
use crate::live::{Access, NoEnvironment};
use crate::state_dir::state_dir;

/// The options of kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindOptions {
    /// The context of an existing cluster.
    pub context: Option<String>,
    /// Whether a cluster is created, and removed at the end. Default false.
    pub create: bool,
    /// The kubeconfig. Default: `KUBECONFIG`, or else `~/.kube/config`.
    pub kubeconfig: Option<PathBuf>,
    /// Contexts that may be touched though their names are not those of kind.
    pub allowed: Vec<String>,
    /// The node image of a cluster that is created. Default: that of the installed kind.
    pub image: Option<String>,
    /// The configuration of a cluster that is created. Default: `ci/cluster.yaml`, as this program was built with it.
    pub config: Option<PathBuf>,
    /// Where journals are. Default: the user's state directory.
    pub state_dir: Option<PathBuf>,
    /// Whether the cluster's own workers stand in for a scenario's machines where they can. Default false: other
    /// workloads may run on them.
    pub own_workers: bool,
    /// How many clusters are created. Default one.
    pub clusters: Option<NonZeroUsize>,
}

/// Why a run has no kind cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCluster {
    /// The options are wrong, the cluster must not be touched, or it could not be created.
    #[error("{0}")]
    Refused(String),
    /// A program or the cluster is not available.
    #[error("{0}")]
    Absent(String),
}

impl NoCluster {
    /// Runs the opening of a cluster to its end, on a runtime of its own.
    pub(crate) fn unless<T>(opening: impl Future<Output = Result<T, Self>>) -> Result<T, Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| Self::Absent(error.to_string()))?.block_on(opening)
    }
}

impl From<DockerError> for NoCluster {
    fn from(error: DockerError) -> Self {
        Self::Absent(error.to_string())
    }
}

/// A cluster that a run works on.
#[derive(Debug)]
pub(crate) struct KindCluster {
    /// What all its workers have in common.
    pub(crate) common: Common,
    /// What is printed about it.
    pub(crate) target: ClusterSummary,
    /// How to reach its API server.
    pub(crate) access: Access,
    /// Its own workers that stand in for machines of scenarios.
    pub(crate) stand_ins: Vec<String>,
    journal: Mutex<Option<Journal>>,
    token: tokio::sync::Mutex<Option<(String, Instant)>>,
    /// Read-locked by scenarios side by side, write-locked by a scenario that has the cluster for itself.
    shares: Arc<RwLock<()>>,
    /// The flags of its control plane; changed by a scenario that has the cluster for itself, restored by the next one.
    programs: tokio::sync::Mutex<Programs>,
    /// Whether its own Nodes are removed.
    is_emptied: bool,
    created: Option<Created>,
    /// Ends after the journal does: it undoes what the journal then still holds.
    guard: Option<Guard>,
}

/// A scenario's share of a cluster.
#[derive(Debug)]
pub(crate) enum Share {
    /// The whole cluster.
    Whole(#[expect(dead_code, reason = "held, and never looked at")] OwnedRwLockWriteGuard<()>),
    /// Shared with other scenarios.
    Beside(#[expect(dead_code, reason = "held, and never looked at")] OwnedRwLockReadGuard<()>),
}

#[derive(Debug)]
struct Created {
    change: u32,
    kubeconfig: PathBuf,
}

impl KindCluster {
    /// Attaches to a cluster or creates as many as are asked for.
    ///
    /// # Errors
    /// There is none, or it must not be touched; the text says why, and what would help.
    pub(crate) async fn open(options: &KindOptions) -> Result<Vec<Self>, NoCluster> {
        let state = state_dir(options.state_dir.as_deref()).map_err(NoCluster::Refused)?;
        let run = run_id();
        match &options.context {
            _ if options.create => {
                let runs: Vec<String> = (1..=options.clusters.map_or(1, NonZeroUsize::get))
                    .map(|number| if number == 1 { run.clone() } else { format!("{run}-{number}") })
                    .collect();
                try_join_all(runs.iter().map(|run| Self::create(options, &state, run))).await
            }
            Some(context) => Self::attach(options, context, &state, &run).await.map(|own| vec![own]),
            None => Err(match Docker::trouble() {
                Some(why) => NoCluster::Absent(why),
                None => NoCluster::Refused(
                    "which kind cluster? say --context kind-NAME, or --create to make one".to_owned(),
                ),
            }),
        }
    }

    async fn attach(options: &KindOptions, context: &str, state: &Path, run: &str) -> Result<Self, NoCluster> {
        let refused = |refusal: ContextRefusal| NoCluster::Refused(refusal.to_string());
        let cluster = match permission(context, None, &options.allowed).map_err(refused)? {
            Permission::Kind { cluster } => cluster,
            // The containers of a kind cluster have its name even if the context has another one.
            Permission::Named | Permission::Near => context.to_owned(),
        };
        let access = Access::of_context(options.kubeconfig.as_deref(), context).map_err(NoCluster::Refused)?;
        let docker = Docker::connect().await?;
        let containers = docker.containers(Some(&cluster)).await?;
        let found = examine(&docker, &containers, &cluster, &access).await?;
        let header = header(run, context, options.kubeconfig.clone(), &cluster);
        let journal = Journal::begin(state, &header).map_err(|error| NoCluster::Refused(unwritten(error)))?;
        let mut own = Self::take(&docker, &containers, found, access, journal, None, run).await;
        if let (true, Ok(own)) = (options.own_workers, &mut own) {
            own.lend_workers(&containers);
        }
        own.map_err(NoCluster::Absent)
    }

    async fn create(options: &KindOptions, state: &Path, run: &str) -> Result<Self, NoCluster> {
        let docker = Docker::connect().await?;
        if let Err(error) = tokio::process::Command::new("kind").arg("version").output().await {
            let help = "install it, or say --context kind-NAME";
            return Err(NoCluster::Absent(format!("kind cannot be called: {error}; {help}")));
        }
        Self::create_with(&docker, options, state, run).await.map_err(NoCluster::Refused)
    }

    /// Docker and kind are available, so an error means that the options or the machine are wrong.
    async fn create_with(docker: &Docker, options: &KindOptions, state: &Path, run: &str) -> Result<Self, String> {
        let cluster = format!("nodeproof-{run}");
        let context = format!("kind-{cluster}");
        let directory = state.join("clusters");
        let wrong = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        // The directory holds the kubeconfig of the cluster.
        DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(|error| wrong(&directory, error))?;
        let path = directory.join(format!("{cluster}.kubeconfig"));
        let config = match &options.config {
            Some(config) => config.clone(),
            None => {
                let config = directory.join(format!("{cluster}.yaml"));
                let content = if options.own_workers { CLUSTER } else { &CLUSTER.replace(WORKER_LINE, "") };
                std::fs::write(&config, content).map_err(|error| wrong(&config, error))?;
                config
            }
        };
        let mut journal =
            Journal::begin(state, &header(run, &context, Some(path.clone()), &cluster)).map_err(unwritten)?;
        let guard = Guard::start(journal.path()).map_err(|error| format!("the guard cannot be started: {error}"))?;
        let undo = vec![Op::RemoveCluster { cluster: cluster.clone() }];
        let what = format!("cluster {cluster} was created");
        let change = journal
            .record_change(UndoableChange { what, container: None, node_fault: None, undo, until: None })
            .map_err(unwritten)?;
        let created = Created { change, kubeconfig: path.clone() };
        let made = kind_create(&cluster, options.image.as_deref(), &config, &path).await;
        if options.config.is_none() {
            drop(std::fs::remove_file(&config));
        }
        let open = async {
            made?;
            let access = Access::of_context(Some(&path), &context)?;
            let containers = docker.containers(Some(&cluster)).await.map_err(|error| error.to_string())?;
            let found = examine(docker, &containers, &cluster, &access).await;
            let found = found.map_err(|error| error.to_string())?;
            Ok::<_, String>((access, containers, found))
        };
        match open.await {
            Ok((access, containers, found)) => {
                let mut own = Self::take(docker, &containers, found, access, journal, Some(guard), run).await?;
                own.created = Some(created);
                if options.own_workers {
                    own.lend_workers(&containers);
                } else {
                    own.put_away(docker, &containers).await.map_err(|error| error.to_string())?;
                }
                Ok(own)
            }
            Err(why) => {
                drop(docker.perform(&Op::RemoveCluster { cluster }).await.map(|()| journal.undone(change)));
                drop(std::fs::remove_file(path));
                drop(journal.end());
                Err(why)
            }
        }
    }

    async fn take(
        docker: &Docker,
        containers: &[Container],
        target: ClusterSummary,
        access: Access,
        journal: Journal,
        guard: Option<Guard>,
        run: &str,
    ) -> Result<Self, String> {
        let text = |error: DockerError| error.to_string();
        let control_plane =
            containers.iter().find(|own| own.is_control_plane()).ok_or("the cluster has no control plane here")?;
        let model = own_workers(containers).next().unwrap_or(control_plane);
        let config = docker.run(&model.name, "cat /var/lib/kubelet/config.yaml").await.map_err(text)?;
        let authority = docker.run(&control_plane.name, "cat /etc/kubernetes/pki/ca.crt").await.map_err(text)?;
        let version = docker.run(&model.name, "kubelet --version").await.map_err(text)?;
        let common = Common {
            cluster: control_plane.cluster.clone(),
            run: run.to_owned(),
            image: model.image.clone(),
            control_plane: control_plane.name.clone(),
            authority,
            version: version.split_whitespace().last().unwrap_or_default().to_owned(),
            settings: KubeletSettings::of_cluster(&config)?,
        };
        let guard = match guard {
            Some(guard) => guard,
            None => Guard::start(journal.path()).map_err(|error| format!("the guard cannot be started: {error}"))?,
        };
        Ok(Self {
            common,
            target,
            access,
            stand_ins: Vec::new(),
            journal: Mutex::new(Some(journal)),
            token: tokio::sync::Mutex::new(None),
            shares: Arc::default(),
            programs: tokio::sync::Mutex::default(),
            is_emptied: false,
            created: None,
            guard: Some(guard),
        })
    }

    /// Lets the cluster's own workers stand in for machines of scenarios.
    fn lend_workers(&mut self, containers: &[Container]) {
        self.stand_ins = own_workers(containers).map(|own| own.name.clone()).collect();
    }

    /// Removes the cluster's own Nodes, so that scenarios about all Nodes can have the cluster, which is removed with
    /// this run. The kubelet of the control plane runs on without a Node and restarts its programs.
    async fn put_away(&mut self, docker: &Docker, containers: &[Container]) -> Result<(), DockerError> {
        for container in containers {
            let script = if container.is_control_plane() { NO_NODE_SCRIPT } else { "systemctl stop kubelet" };
            docker.run(&container.name, script).await?;
            docker.perform(&Op::delete_node(&self.common.control_plane, &container.name)).await?;
        }
        self.is_emptied = true;
        Ok(())
    }

    /// Tells whether there are no Nodes but those of scenarios.
    pub(crate) const fn is_emptied(&self) -> bool {
        self.is_emptied
    }

    /// Returns the whole cluster if nobody uses it.
    pub(crate) fn share_at_once(&self) -> Option<Share> {
        Arc::clone(&self.shares).try_write_owned().ok().map(Share::Whole)
    }

    /// Waits until the cluster is available: whole, or shared with others.
    pub(crate) async fn share(&self, whole: bool) -> Share {
        let shares = Arc::clone(&self.shares);
        if whole { Share::Whole(shares.write_owned().await) } else { Share::Beside(shares.read_owned().await) }
    }

    /// Runs the control plane with the flags of a scenario, or as kubeadm has started it. A caller with flags has the
    /// cluster for itself; callers without flags all want the same.
    pub(crate) async fn run_with(&self, docker: &Docker, flags: &[(Text, Text)]) -> Result<(), NoEnvironment> {
        self.programs.lock().await.run_with(docker, &self.common.control_plane, flags).await
    }

    /// Records a change that is about to be made.
    pub(crate) fn record_change(&self, change: UndoableChange) -> Result<u32, String> {
        self.with_journal(|journal| journal.record_change(change).map_err(unwritten))
    }

    /// Records that a change was undone.
    pub(crate) fn undone(&self, id: u32) -> Result<(), String> {
        self.with_journal(|journal| journal.undone(id).map_err(unwritten))
    }

    /// Returns the changes that are not undone and meet a condition.
    pub(crate) fn changes(&self, meets: impl Fn(&UndoableChange) -> bool) -> Vec<(u32, UndoableChange)> {
        self.with_journal(|journal| Ok(journal.open(meets))).unwrap_or_default()
    }

    fn with_journal<T>(&self, work: impl FnOnce(&mut Journal) -> Result<T, String>) -> Result<T, String> {
        // A scenario that panicked while it wrote has left at most an incomplete line.
        let mut journal = self.journal.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        journal.as_mut().map_or_else(|| Err("the run is over".to_owned()), work)
    }

    /// Returns a token with which a kubelet requests its certificate.
    pub(crate) async fn token(&self, docker: &Docker) -> Result<String, DockerError> {
        let mut own = self.token.lock().await;
        if let Some((token, made)) = &*own
            && made.elapsed() < TOKEN_LIFE
        {
            return Ok(token.clone());
        }
        let minutes = TOKEN_LIFE.as_secs() / 60 * 2;
        let script = format!(
            "kubeadm token create --kubeconfig=/etc/kubernetes/admin.conf --ttl {minutes}m \
             --description 'nodeproof {}' 2>/dev/null",
            self.common.run
        );
        let token = docker.run(&self.common.control_plane, &script).await?.trim().to_owned();
        *own = Some((token.clone(), Instant::now()));
        Ok(token)
    }
}

impl Drop for KindCluster {
    fn drop(&mut self) {
        if let Some(created) = &self.created {
            drop(std::fs::remove_file(&created.kubeconfig));
            // The guard removes the cluster, since it has time and survives Ctrl-C.
            debug_assert!(self.changes(|_| true).iter().any(|(id, _)| *id == created.change));
        }
        let journal = self.journal.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        drop(journal.map(Journal::end));
        drop(self.guard.take());
    }
}

/// Returns the running workers that the cluster was created with.
fn own_workers(containers: &[Container]) -> impl Iterator<Item = &Container> {
    containers.iter().filter(|own| !own.is_control_plane() && own.run.is_none() && own.state == "running")
}

/// Lets a kubelet run without a Node, and waits until it knows its static Pods: one whose manifest changes before that
/// is not started again, since the kubelet does not end the container of a Pod that it has never known.
const NO_NODE_SCRIPT: &str = "sed -i '/^registerNode:/d' /var/lib/kubelet/config.yaml && \
    echo 'registerNode: false' >> /var/lib/kubelet/config.yaml && systemctl restart kubelet; \
    pki=/etc/kubernetes/pki/apiserver-kubelet-client; for i in $(seq 100); do \
    running=$(curl -skm1 --cert $pki.crt --key $pki.key https://127.0.0.1:10250/pods | \
    grep -o '\"phase\":\"Running\"' | wc -l); [ $running -ge 3 ] && exit 0; sleep 0.2; done; \
    echo 'the kubelet does not know its static Pods' >&2; exit 1";

/// The configuration of clusters that are created unless the user has one: a control plane and two workers.
const CLUSTER: &str = include_str!("../../../ci/cluster.yaml");
/// The line of a worker there. Where none of them stands in for a machine they would only take time and memory.
const WORKER_LINE: &str = "- role: worker\n";

/// Checks that the server of a context is that of the kind cluster of this name here.
///
/// # Errors
/// It is not, or Docker does not answer.
pub(crate) async fn is_kind(cluster: &str, access: &Access) -> Result<(), NoCluster> {
    let docker = Docker::connect().await?;
    let containers = docker.containers(Some(cluster)).await?;
    examine(&docker, &containers, cluster, access).await.map(drop)
}

/// Checks that a cluster is the one that its name says, and returns what is printed about it.
async fn examine(
    docker: &Docker,
    containers: &[Container],
    cluster: &str,
    access: &Access,
) -> Result<ClusterSummary, NoCluster> {
    let (context, server) = (access.context(), access.server());
    let mut evidence = Evidence {
        containers: containers.iter().map(|own| own.name.clone()).collect(),
        ports: containers.iter().filter_map(|own| own.api_port).collect(),
        port: server.rsplit(':').next().and_then(|port| port.trim_end_matches('/').parse().ok()),
        nodes: Vec::new(),
    };
    let mut version = String::new();
    if let Some(control_plane) = containers.iter().find(|own| own.is_control_plane() && own.state == "running") {
        let ask = |path: &str| Op::kubectl(&control_plane.name, &format!("get --raw {path}"));
        let nodes = docker.ask(&ask("/api/v1/nodes")).await?;
        evidence.nodes = node_names(&nodes);
        let text = docker.ask(&ask("/version")).await?;
        let json: Value = serde_json::from_str(&text).unwrap_or_default();
        json["gitVersion"].as_str().unwrap_or_default().clone_into(&mut version);
    }
    check_kind(context, cluster, &evidence).map_err(|refusal| NoCluster::Refused(refusal.to_string()))?;
    Ok(ClusterSummary { context: context.to_owned(), server, version, nodes: evidence.nodes.len() })
}

fn node_names(list: &str) -> Vec<String> {
    let list: Value = serde_json::from_str(list).unwrap_or_default();
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|node| node["metadata"]["name"].as_str()).map(str::to_owned).collect()
}

async fn kind_create(cluster: &str, image: Option<&str>, config: &Path, kubeconfig: &Path) -> Result<(), String> {
    let mut command = tokio::process::Command::new("kind");
    command.args(create_arguments(cluster, image, config, kubeconfig)).stdin(Stdio::null()).kill_on_drop(true);
    let output = match tokio::time::timeout(CREATE_WAIT, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(format!("kind cannot be called: {error}")),
        Err(_) => return Err(format!("kind create cluster took longer than {} s", CREATE_WAIT.as_secs())),
    };
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> =
        said.lines().filter(|line| line.contains("ERROR")).chain(said.lines().last()).take(2).collect();
    Err(format!("kind create cluster failed: {}", last.join(" / ")))
}

fn create_arguments(cluster: &str, image: Option<&str>, config: &Path, kubeconfig: &Path) -> Vec<String> {
    let mut arguments = ["create", "cluster", "--name", cluster, "--wait", "120s"].map(str::to_owned).to_vec();
    if let Some(image) = image {
        arguments.extend(["--image".to_owned(), image.to_owned()]);
    }
    arguments.extend(["--config".to_owned(), config.display().to_string()]);
    arguments.extend(["--kubeconfig".to_owned(), kubeconfig.display().to_string()]);
    arguments
}

pub(crate) fn header(run: &str, context: &str, kubeconfig: Option<PathBuf>, cluster: &str) -> Header {
    let pid = std::process::id();
    Header {
        run: run.to_owned(),
        pid,
        started: process_start(pid),
        at: now(),
        context: context.to_owned(),
        kubeconfig,
        cluster: cluster.to_owned(),
    }
}

/// Returns the present instant.
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// Makes the id of a run: short enough for names, and different for runs that start at once.
pub(crate) fn run_id() -> String {
    format!("{:x}{:x}", now().as_second() & 0xff_ffff, std::process::id() & 0xffff)
}

pub(crate) fn unwritten(error: std::io::Error) -> String {
    format!("the journal cannot be written: {error}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{create_arguments, node_names};

    #[test]
    fn a_cluster_is_created_with_a_kubeconfig_of_its_own() {
        let arguments = create_arguments("np", Some("node:v1"), Path::new("c.yaml"), Path::new("k"));
        assert_eq!(
            arguments.join(" "),
            "create cluster --name np --wait 120s --image node:v1 --config c.yaml --kubeconfig k"
        );
        let arguments = create_arguments("np", None, Path::new("c.yaml"), Path::new("k"));
        assert!(!arguments.contains(&"--image".to_owned()));
    }

    #[test]
    fn nodes_are_read_from_a_list() {
        assert_eq!(node_names(r#"{"items": [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]}"#), ["a", "b"]);
        assert_eq!(node_names("nonsense"), [""; 0]);
    }
}
