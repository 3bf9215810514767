//! `nodeproof hollow`: keeps hollow nodes alive on a real control plane until it is told to end.
//!
//! Inputs: a kubeconfig and a context, a description of the machines, control calls as JSON lines on standard input.
//! Outputs: answers on standard output; on standard error the cluster before the first write, and figures. Invariants:
//! nothing is written unless the context was named on the command line and may be touched; Nodes that were there before
//! are never taken over; Nodes that were made are removed at the end unless `--keep` is given.

use std::io::BufRead as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt as _};
use jiff::SignedDuration;
use nodeproof_core::components::machine::MachineSpec;
use nodeproof_core::network::{Call, LEASES, NODE_LEASES, NODES, Verb};
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::profile::{Release, Settings};

use super::terminal::{counted, line, note};
use super::{duration, misuse};
use crate::control::HollowSession;
use crate::harness::parse_seed;
use crate::live::interrupt::signalled;
use crate::live::kubelets::{Administrator, HollowNodes, Server, Signer};
use crate::live::safety::{ContextRefusal, permission};
use crate::live::{Access, Clock};

/// How many requests of the administrator are sent at a time when Nodes are removed.
const REMOVALS_AT_ONCE: usize = 20;
/// How many nodes wait for their credentials at a time.
const STARTS_AT_ONCE: usize = 20;
/// The label of each Node that is made.
const LABEL: &str = "nodeproof.dev/hollow=true";
/// How long the nodes may take to become ready before the figures begin without them.
const PATIENCE: Duration = Duration::from_secs(120);

/// Options of `nodeproof hollow`.
#[derive(Debug, clap::Args)]
#[command(after_help = "The nodes live until Ctrl-C. Faults come as control calls, one a line, on standard input:

  $ nodeproof hollow --nodes 2000 --context NAME --kubeconfig FILE
  {\"id\": 1, \"call\": \"POST machines/hollow-7/do\", \"body\": {\"action\": \"kubelet-kill\"}}
  {\"id\": 2, \"call\": \"POST network/rules\", \"body\": \
  {\"from\": \"machine/hollow-8\", \"to\": \"api\", \"effect\": \"drop\"}}")]
pub struct HollowArgs {
    /// Number of nodes
    #[arg(long, value_name = "N", default_value_t = 1)]
    nodes: u32,
    /// Kubeconfig of an administrator [default: as kubectl, KUBECONFIG or ~/.kube/config]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig; nothing is written to one that was not named
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// Context that may be touched though it is neither on this machine nor a kind cluster; can be repeated
    #[arg(long, value_name = "NAME")]
    allow_context: Vec<String>,
    /// What the names of the nodes begin with
    #[arg(long, value_name = "TEXT", default_value = "hollow-")]
    name_prefix: String,
    /// Release of the kubelets, as 1.34 or 1.34.4 [default: the API server's, where it is known]
    #[arg(long, value_name = "RELEASE")]
    k8s: Option<Release>,
    /// How a node proves who it is
    #[arg(long, value_enum, default_value_t = Identity::Certificate)]
    identity: Identity,
    /// File with what each machine is made of, YAML or JSON: the body of POST machines without its name
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// Zones that the nodes are spread over in turn
    #[arg(long, value_name = "ZONE,…", value_delimiter = ',')]
    zones: Vec<String>,
    /// Seed of the kubelets' phases
    #[arg(long, value_name = "N", value_parser = parse_seed, default_value_t = 1)]
    seed: u64,
    /// Nodes started in a second at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    /// End after this long, as 10m [default: at Ctrl-C]
    #[arg(long = "for", value_name = "DURATION", value_parser = duration, allow_hyphen_values = true)]
    lasts: Option<SignedDuration>,
    /// Leave Nodes and Leases in the cluster at the end
    #[arg(long)]
    keep: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Identity {
    /// A client certificate each, signed by the cluster
    Certificate,
    /// The administrator impersonates the nodes: fewer connections
    Impersonation,
}

/// Keeps the nodes alive.
#[must_use]
pub fn run(args: &HollowArgs) -> ExitCode {
    // One thread serves thousands of nodes and need not wake others.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(keep_alive(args)),
        Err(error) => Err(error.to_string()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => misuse(message),
    }
}

async fn keep_alive(args: &HollowArgs) -> Result<(), String> {
    let cluster = TargetCluster::of(args).await?;
    note(cluster.sentence());
    let specs = specs(args)?;
    cluster.refuse_taken(&specs).await?;
    let nodes = cluster.hollow(args)?;
    let count = specs.len();
    let outcome = tokio::select! {
        outcome = start(&nodes, specs, args.rate) => match outcome {
            Ok(()) => attend(&nodes, count, args.lasts.map(SignedDuration::unsigned_abs)).await,
            Err(message) => Err(message),
        },
        () = signalled() => Ok(()),
    };
    // Also after an error the Nodes that were made are removed.
    let names = nodes.node_names();
    nodes.stop();
    if args.keep {
        note(format_args!("left in the cluster: {}", counted(names.len(), "Node")));
    } else {
        cluster.remove(&names).await;
    }
    outcome
}

/// Reads what the machines are made of.
fn specs(args: &HollowArgs) -> Result<Vec<MachineSpec>, String> {
    let mut template = Json::object();
    if let Some(path) = &args.machine {
        let shown = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
        let value: serde_json::Value = serde_yaml::from_str(&text).map_err(|error| format!("{shown}: {error}"))?;
        template = Json::from(value);
    }
    // The template is parsed once; all machines share its texts.
    template.set(&["name"], format!("{}1", args.name_prefix));
    let labels = template.at(&["kubelet", "flags", "node-labels"]).as_str().unwrap_or_default().to_string();
    let labels = [labels.as_str(), LABEL].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",");
    template.set(&["kubelet", "flags", "node-labels"], labels);
    let spec = MachineSpec::from_json(&template).map_err(|error| error.to_string())?;
    let zone = |at: usize| (!args.zones.is_empty()).then(|| Text::from(args.zones[at % args.zones.len()].as_str()));
    let made = (0..args.nodes as usize).map(|at| MachineSpec {
        name: Text::from(format!("{}{}", args.name_prefix, at + 1)),
        zone: zone(at).or_else(|| spec.zone.clone()),
        ..spec.clone()
    });
    Ok(made.collect())
}

/// Starts the machines at the given rate.
async fn start(nodes: &HollowNodes, specs: Vec<MachineSpec>, rate: u32) -> Result<(), String> {
    let pause = Duration::from_secs(1) / rate;
    let paced = stream::iter(specs).then(async |spec| {
        tokio::time::sleep(pause).await;
        spec
    });
    let starts = paced.map(|spec| async { nodes.start(spec).await.map_err(|error| error.to_string()) });
    let mut starts = std::pin::pin!(starts.buffer_unordered(STARTS_AT_ONCE));
    while let Some(outcome) = starts.next().await {
        outcome?;
    }
    Ok(())
}

/// Answers calls and prints the figures until the end.
async fn attend(nodes: &HollowNodes, count: usize, lasts: Option<Duration>) -> Result<(), String> {
    let session = HollowSession::new(nodes.clone());
    let mut input = input();
    let began = Instant::now();
    let mut usage: Option<Usage> = None;
    let mut read_only = tokio::time::interval(Duration::from_millis(250));
    let mut interrupted = std::pin::pin!(signalled());
    loop {
        tokio::select! {
            () = &mut interrupted => break,
            Some(text) = input.recv() => line(session.answer(text.trim_ascii_end()).await),
            _ = read_only.tick() => {
                let heartbeating = if usage.is_none() { nodes.heartbeating() } else { count };
                if usage.is_none() && (heartbeating == count || began.elapsed() > PATIENCE) {
                    note(format_args!("{heartbeating} of {} renewed and posted; Ctrl-C ends it", counted(count,
                        "node")));
                    usage = Usage::now();
                }
                if lasts.is_some_and(|lasts| usage.as_ref().is_some_and(|usage| usage.at.elapsed() >= lasts)) {
                    break;
                }
            }
        }
    }
    if let (Some(before), Some(after)) = (usage, Usage::now()) {
        note(before.until(&after, count));
    }
    Ok(())
}

/// Reads standard input in a thread of its own, since reading it blocks.
fn input() -> tokio::sync::mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = tokio::sync::mpsc::channel(16);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut text = Vec::new();
        while input.read_until(b'\n', &mut text).is_ok_and(|read| read > 0) {
            if sender.blocking_send(std::mem::take(&mut text)).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Resources that the process has used.
struct Usage {
    at: Instant,
    cpu: Duration,
    /// Resident memory now, in bytes.
    resident: u64,
}

impl Usage {
    /// Looks at the process's own figures; `None` where the system has none (proc(5)).
    fn now() -> Option<Self> {
        /// Source: proc_pid_stat(5): times are in `sysconf(_SC_CLK_TCK)`, 100 a second on all architectures of today.
        const TICK: Duration = Duration::from_millis(10);
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        // The name stands in parentheses and may hold blanks; user and system time are fields 14 and 15.
        let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(11);
        let user: u32 = fields.next()?.parse().ok()?;
        let system: u32 = fields.next()?.parse().ok()?;
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kilobytes: u64 = resident.trim().trim_end_matches(" kB").parse().ok()?;
        Some(Self { at: Instant::now(), cpu: TICK * (user + system), resident: kilobytes << 10 })
    }

    fn until(&self, after: &Self, nodes: usize) -> String {
        let (passed, used) = (after.at - self.at, after.cpu.saturating_sub(self.cpu));
        let node_minutes = nodes as f64 * passed.as_secs_f64() / 60.0;
        format!(
            "{} for {:.0} s: {:.2} s of CPU, {:.2} CPU-ms per node and minute, {:.1} MiB resident",
            counted(nodes, "node"),
            passed.as_secs_f64(),
            used.as_secs_f64(),
            used.as_secs_f64() * 1000.0 / node_minutes.max(f64::MIN_POSITIVE),
            after.resident as f64 / f64::from(1 << 20),
        )
    }
}

/// The cluster, as its administrator sees it.
struct TargetCluster {
    context: String,
    config: kube::Config,
    client: kube::Client,
    version: String,
    nodes: Vec<Text>,
}

impl TargetCluster {
    /// Finds the cluster of the context and checks that it may be touched; nothing is written.
    async fn of(args: &HollowArgs) -> Result<Self, String> {
        let context =
            args.context.clone().filter(|name| !name.is_empty()).ok_or_else(|| ContextRefusal::Unnamed.to_string())?;
        let access = Access::of_context(args.kubeconfig.as_deref(), &context)?;
        let config = access.config().await.map_err(|why| format!("context {context:?}: {why}"))?;
        let host = config.cluster_url.host().unwrap_or_default();
        permission(&context, Some(host), &args.allow_context).map_err(|refusal| refusal.to_string())?;
        let client = kube::Client::try_from(config.clone()).map_err(|error| error.to_string())?;
        let mut cluster = Self { context, config, client, version: String::new(), nodes: Vec::new() };
        let version = cluster.ask("GET", "/version").await?;
        cluster.version = version.get("gitVersion").as_str().unwrap_or_default().to_string();
        let listed = cluster.ask("GET", "/api/v1/nodes").await?;
        let names = listed.get("items").items().iter().filter_map(|node| node.at(&["metadata", "name"]).as_text());
        cluster.nodes = names.cloned().collect();
        Ok(cluster)
    }

    /// Says which cluster this is, before the first write.
    fn sentence(&self) -> String {
        let Self { context, config, version, nodes, .. } = self;
        let url = config.cluster_url.to_string();
        let nodes = counted(nodes.len(), "node");
        format!("context {context} at {}: Kubernetes {version}, {nodes}", url.trim_end_matches('/'))
    }

    /// Refuses names of Nodes that are there already: their own kubelets would fight with ours for them.
    async fn refuse_taken(&self, specs: &[MachineSpec]) -> Result<(), String> {
        let taken = specs.iter().find(|spec| self.nodes.contains(&spec.name));
        taken.map_or(Ok(()), |spec| {
            Err(format!("there is a Node {} already: choose other names with --name-prefix", spec.name))
        })
    }

    fn hollow(&self, args: &HollowArgs) -> Result<HollowNodes, String> {
        let reported = self.version.trim_start_matches('v').parse::<Release>().ok();
        let settings = args.k8s.or(reported).map_or_else(Settings::default, Settings::of);
        let authorities = self.config.root_cert.clone().unwrap_or_default();
        let url = self.config.cluster_url.to_string();
        let server = Server::new(&url, &authorities, self.config.tls_server_name.as_deref());
        let signer = match args.identity {
            Identity::Certificate => Signer::Requests(self.client.clone()),
            Identity::Impersonation => Signer::Impersonation(Administrator::of(&self.config.auth_info)?),
        };
        Ok(HollowNodes::new(server.map_err(|error| error.to_string())?, signer, settings, args.seed, Clock::new()))
    }

    async fn ask(&self, method: &str, path: &str) -> Result<Json, String> {
        let request = http::Request::builder().method(method).uri(path).body(Vec::new());
        let request = request.map_err(|error| error.to_string())?;
        let told = |error| match error {
            kube::Error::Api(status) => format!("{method} {path}: {} {}", status.code, status.message),
            other => format!("{method} {path}: {other}"),
        };
        let text = self.client.request_text(request).await.map_err(told)?;
        Json::parse(&text).map_err(|error| format!("{method} {path}: {error}"))
    }

    /// Removes the Nodes and their Leases, and says what could not be removed.
    async fn remove(&self, names: &[Text]) {
        let failed = stream::iter(names)
            .map(|name| async move {
                let lease = Call::new(Verb::Delete, LEASES, NODE_LEASES, name.clone());
                let node = Call::new(Verb::Delete, NODES, "", name.clone());
                let node = self.ask("DELETE", &node.path_and_query()).await;
                // The Lease is owned by the Node and may be gone with it.
                drop(self.ask("DELETE", &lease.path_and_query()).await);
                // A kubelet that ended before it registered has no Node.
                node.err().filter(|message| !message.contains(": 404 "))
            })
            .buffer_unordered(REMOVALS_AT_ONCE)
            .filter_map(async |failed| failed);
        let failed: Vec<String> = failed.collect().await;
        note(format_args!("removed {}", counted(names.len() - failed.len(), "Node")));
        for message in failed {
            note(format_args!("not removed: {message}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::{HollowArgs, TargetCluster, Usage};

    #[derive(Debug, clap::Parser)]
    struct Command {
        #[command(flatten)]
        args: HollowArgs,
    }

    #[tokio::test]
    async fn a_context_that_was_not_named_is_not_touched() {
        let file = std::env::temp_dir().join(format!("nodeproof-test-{}-kubeconfig", std::process::id()));
        let config = "{apiVersion: v1, kind: Config, current-context: kind-a, \
            clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}], users: [{name: a, user: {}}], \
            contexts: [{name: kind-a, context: {cluster: a, user: a}}]}";
        std::fs::write(&file, config).unwrap();
        let path = file.display().to_string();
        let refusal = async |more: &[&str]| {
            let words = ["hollow", "--kubeconfig", &path];
            let command = Command::try_parse_from(words.iter().chain(more)).unwrap();
            TargetCluster::of(&command.args).await.err().unwrap_or_default()
        };
        let unnamed = "no context was named: say --context NAME";
        assert_eq!(refusal(&[]).await, unnamed);
        assert_eq!(refusal(&["--context", ""]).await, unnamed);
        let named = refusal(&["--context", "kind-a"]).await;
        assert!(named.starts_with("GET /version: "), "{named}");
        std::fs::remove_file(file).unwrap();
    }

    #[test]
    fn figures_are_per_node_and_minute() {
        let before = Usage { at: std::time::Instant::now(), cpu: std::time::Duration::ZERO, resident: 0 };
        let after = Usage {
            at: before.at + std::time::Duration::from_secs(120),
            cpu: before.cpu + std::time::Duration::from_secs(4),
            resident: 50 << 20,
        };
        assert_eq!(
            before.until(&after, 1000),
            "1000 nodes for 120 s: 4.00 s of CPU, 2.00 CPU-ms per node and minute, 50.0 MiB resident"
        );
    }
}
