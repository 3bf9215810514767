//! `nodeproof control`: the control interface as JSON lines on standard input and output. One line in, one line out.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use jiff::Timestamp;
use nodeproof_core::objects::Json;
use nodeproof_core::profile::{DEFAULT_RELEASE, Release};
use nodeproof_core::sim::DEFAULT_START;

use super::misuse;
use super::terminal::text;
use crate::control::{Session, Setup, reference};
use crate::harness::parse_seed;

/// Options of `nodeproof control`.
#[derive(Debug, clap::Args)]
#[command(after_help = "One request a line, one answer a line; it ends at end of input:

  $ echo '{\"id\": 1, \"call\": \"POST clock/advance\", \"body\": {\"by\": \"40s\"}}' | nodeproof control
  $ echo '{\"id\": 1, \"call\": \"GET /api/v1/nodes\"}' | nodeproof control --k8s 1.31")]
pub struct ControlArgs {
    /// Print the calls, with what they take and answer, and end
    #[arg(value_parser = ["help"])]
    help_with_calls: Option<String>,
    #[command(flatten)]
    cluster: ClusterArgs,
}

/// The options of the simulated cluster that `nodeproof control` and `nodeproof serve` drive.
#[derive(Debug, clap::Args)]
pub struct ClusterArgs {
    /// Kubernetes release, as 1.34 or 1.34.4; of 1.4 to 1.30 it is known how Pods leave lost nodes
    #[arg(long, value_name = "RELEASE", default_value_t = DEFAULT_RELEASE, value_parser = Release::of_cluster)]
    k8s: Release,
    /// Instant at which the cluster starts, RFC 3339
    #[arg(long, value_name = "INSTANT", default_value_t = DEFAULT_START, value_parser = instant)]
    start: Timestamp,
    /// Seed of all free choices
    #[arg(long, value_name = "N", value_parser = parse_seed, default_value_t = 1)]
    seed: u64,
    /// Flag of a component, as kube-controller-manager.node-monitor-grace-period=40s; can be repeated
    #[arg(long, value_name = "[COMPONENT.]FLAG=VALUE", value_parser = setting)]
    set: Vec<(String, String)>,
    /// File with what is in the cluster from the start, YAML or JSON: machines: [...], objects: [...]
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
}

/// Answers requests until the input ends.
#[must_use]
pub fn run(args: ControlArgs) -> ExitCode {
    if args.help_with_calls.is_some() {
        text(&reference());
        return ExitCode::SUCCESS;
    }
    let session = args.cluster.setup();
    let session = session.and_then(|setup| Session::new(setup).map_err(|refusal| refusal.error.to_string()));
    let mut session = match session {
        Ok(session) => session,
        Err(message) => return misuse(message),
    };
    match session.run(io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => misuse(format_args!("the conversation broke: {error}")),
    }
}

impl ClusterArgs {
    /// Reads what the options say.
    pub(super) fn setup(self) -> Result<Setup, String> {
        let cluster = cluster(self.cluster)?;
        Setup::new(self.k8s, self.seed, self.start, self.set, cluster).map_err(|error| error.to_string())
    }
}

fn cluster(path: Option<PathBuf>) -> Result<Json, String> {
    let Some(path) = path else { return Ok(Json::object()) };
    let shown = path.display();
    let text = std::fs::read_to_string(&path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let value: serde_json::Value = serde_yaml::from_str(&text).map_err(|error| format!("{shown}: {error}"))?;
    Ok(Json::from(value))
}

fn instant(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| "an instant of RFC 3339 is needed, as 2026-01-01T00:00:00Z".to_owned())
}

/// Splits `FLAG=VALUE`.
pub(super) fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((flag, value)) if !flag.is_empty() && !flag.starts_with('.') && !flag.ends_with('.') => {
            Ok((flag.into(), value.into()))
        }
        _ => Err("FLAG=VALUE is needed, as node-monitor-grace-period=40s".into()),
    }
}
