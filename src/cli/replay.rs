//! `nodeproof replay`: compares the model with recordings of real control planes.
//!
//! Inputs: directories of recordings, the ledger of known differences. Outputs: a report for each on standard output.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nodeproof_core::profile::Release;

use super::misuse;
use super::progress::Progress;
use super::terminal::{line, text};
use crate::replay::{self, Ledger, exchanges, kubelets};

/// Options of `nodeproof replay`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof replay fixtures/recorded/1.34.4/zones-all-down
  nodeproof replay recordings/api-1.34.4 --topic nodes-crud
  nodeproof replay fixtures/recorded/kubelet-1.34.4/network-cut
  nodeproof replay fixtures/recorded/*/* --json | jq -r '\"\\(.recording) \\(.unexplained)\"'

Each modelled controller is given what it really saw, and its next writes are compared with the recorded ones: \
object, field, writer and time. A recording of kubelets (with machine.yaml) drives the machine with what \
happened to it and compares what its kubelet writes. A difference is unexplained unless the ledger has an entry \
with a reason.

Exit code: 0 nothing unexplained, 1 something is, 2 misuse or no recording.")]
pub struct ReplayArgs {
    /// The directories of the recordings, each with about.yaml, watch.jsonl, writes.jsonl and actions.jsonl (or .gz);
    /// or with exchanges of an API server, one TOPIC.jsonl a topic; or of kubelets, with machine.yaml, verbs.jsonl and
    /// requests.jsonl
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,

    /// Print one JSON object a recording
    #[arg(long)]
    json: bool,

    /// Replay under another release than the recording's own
    #[arg(long, value_name = "RELEASE")]
    k8s: Option<Release>,

    /// Replay the exchanges of one topic alone, as nodes-crud
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,

    /// A ledger of known differences in place of the one that belongs to this version
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
}

/// Holds the model against recordings: exit code 0 if nothing is unexplained, 1 otherwise, 2 for misuse.
#[must_use]
pub fn run(args: ReplayArgs) -> ExitCode {
    let ledger = match args.ledger.as_deref().map_or_else(Ledger::built_in, Ledger::load) {
        Ok(ledger) => ledger,
        Err(error) => return misuse(error),
    };
    let mut passed = true;
    let mut misused = None;
    let progress = Progress::new(args.dirs.len());
    for dir in &args.dirs {
        let shown = dir.display().to_string();
        progress.begin(&shown);
        let outcome = if exchanges::is_here(dir) {
            exchanges::replay(dir, args.k8s, args.topic.as_deref(), &ledger)
                .map(|report| (report.json().to_string(), report.text(), report.passed()))
                .map_err(|error| error.to_string())
        } else if let Some(topic) = &args.topic {
            Err(format!("{shown}: only exchanges of an API server have topics, so there is no {topic:?}"))
        } else if kubelets::is_here(dir) {
            kubelets::replay(dir, args.k8s, &ledger)
                .map(|report| (report.json().to_string(), report.text(), report.passed()))
                .map_err(|error| error.to_string())
        } else {
            replay::replay(dir, args.k8s, &ledger)
                .inspect(|report| warn_of_flags(dir, report, args.json))
                .map(|report| (report.json().to_string(), report.text(), report.passed()))
                .map_err(|error| error.to_string())
        };
        progress.done(&shown, !matches!(outcome, Ok((.., true))));
        progress.aside(|| match outcome {
            Ok((json, shown, agrees)) => {
                if args.json {
                    line(json);
                } else {
                    text(&shown);
                }
                passed &= agrees;
            }
            Err(error) => misused = Some(misuse(error)),
        });
    }
    drop(progress);
    misused.unwrap_or(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints the flags that the model does not know to standard error, unless the text for people names them already.
fn warn_of_flags(dir: &Path, report: &replay::ReplayReport, json: bool) {
    for flag in report.flags_unknown.iter().filter(|_| json) {
        eprintln!("warning: {}: the model does not know the flag {flag}", dir.display());
    }
}
