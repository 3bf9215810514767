//! `nodeproof record`: records what a cluster does, for `nodeproof replay`; nothing is written to the cluster.
//!
//! Inputs: a context, a duration. Outputs: a directory with the recording; on standard error the cluster, the rights
//! that are used, and the fields that are left out. Without the API server's audit log a recording shows no users and
//! no refused requests.

use std::path::PathBuf;
use std::process::ExitCode;

use jiff::SignedDuration;
use nodeproof_core::objects::time::seconds;

use super::misuse;
use super::progress::Progress;
use super::read_only::{say_cluster, say_rights};
use super::terminal::{counted, line, note};
use crate::live::record::{OPTIONAL_KINDS, Privacy, REQUIRED_KINDS, Title};
use crate::live::{Access, ReadOnlyRun};

/// Options of `nodeproof record`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof record --context prod --for 10m
  nodeproof replay recordings/1.34.4/prod

Only get, list and watch are asked for. What a Pod runs with, addresses and ids of machines, images, and \
annotations and messages that are not Kubernetes' own do not reach a file; names and labels do: about.yaml lists \
what is left out.

Without an audit log nobody tells who wrote: a replay judges what can be told from the changes of Nodes, which \
is node lifecycle, the ttl annotation and, where the recording began without Nodes, the blocks of Pod addresses. \
Ctrl-C ends a recording early, and keeps it.

Exit code: 0 recorded, 2 misuse, or a cluster that cannot be watched.")]
pub struct RecordArgs {
    /// The context of the cluster
    #[arg(long, value_name = "NAME")]
    context: String,
    /// The kubeconfig that has the context; default: KUBECONFIG, or else ~/.kube/config
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// How long
    #[arg(long = "for", value_name = "DURATION", default_value = "10m")]
    length: SignedDuration,
    /// The directory of the recording; default: recordings/RELEASE/CONTEXT
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// A flag of the cluster's that is not the default, as kube-controller-manager.node-monitor-period=2s; can be
    /// repeated
    #[arg(long, value_name = "COMPONENT.FLAG=VALUE", value_parser = flag)]
    flag: Vec<(String, String)>,
}

/// Reads a flag: the component, and the flag as it is given to the program.
fn flag(text: &str) -> Result<(String, String), String> {
    let known = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];
    let parts = text.split_once('.').filter(|(component, flag)| known.contains(component) && flag.contains('='));
    let (component, flag) =
        parts.ok_or("say COMPONENT.FLAG=VALUE, as kube-controller-manager.node-monitor-period=2s")?;
    Ok((component.to_owned(), format!("--{}", flag.trim_start_matches("--"))))
}

/// Records: exit code 0 if it was recorded, 2 if not.
#[must_use]
pub fn run(args: &RecordArgs) -> ExitCode {
    match record(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => misuse(message),
    }
}

fn record(args: &RecordArgs) -> Result<(), String> {
    let access = Access::of_context(args.kubeconfig.as_deref(), &args.context)?;
    let run = ReadOnlyRun::open(&access)?;
    say_cluster(&args.context, &access, &run);
    say_rights(&REQUIRED_KINDS.iter().chain(OPTIONAL_KINDS.iter()).cloned().collect());
    for rule in Privacy::Redacted.rules() {
        note(format_args!("left out  {rule}"));
    }
    note(format_args!("records   for {}, or until Ctrl-C", seconds(args.length)));
    let progress = Progress::new(1);
    progress.begin("the watches");
    let recorded = run.record(args.length);
    drop(progress);
    let (recorded, closed) = recorded?;
    for kind in &closed {
        note(format_args!("warning: {} may not be watched: they are not in the recording", kind.qualified()));
    }
    let kubernetes = run.release.to_string();
    let title = title(args, &kubernetes);
    let directory = args.out.clone().unwrap_or_else(|| PathBuf::from("recordings").join(&kubernetes).join(&title.name));
    recorded.save(&directory, &title)?;
    line(format_args!("    Recorded {} in {}", counted(recorded.lines().0, "change"), directory.display()));
    Ok(())
}

fn title(args: &RecordArgs, kubernetes: &str) -> Title {
    let mut flags: Vec<(String, Vec<String>)> = Vec::new();
    for (component, flag) in &args.flag {
        match flags.iter_mut().find(|(known, _)| known == component) {
            Some((_, list)) => list.push(flag.clone()),
            None => flags.push((component.clone(), vec![flag.clone()])),
        }
    }
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let name: String = args.context.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).collect();
    let name = name.trim_matches('.').to_owned();
    let shows = format!("What the watches of context {} showed for {}", args.context, seconds(args.length));
    Title { name, shows, kubernetes: kubernetes.to_owned(), flags }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_with_their_component() {
        let pair = |one: &str, other: &str| Ok((one.to_owned(), other.to_owned()));
        let manager = "kube-controller-manager";
        assert_eq!(flag("kube-controller-manager.a=1"), pair(manager, "--a=1"));
        assert_eq!(flag("kube-controller-manager.--a=1"), pair(manager, "--a=1"));
        for wrong in ["a=1", "kubelet.a=1", "kube-scheduler.a"] {
            assert!(flag(wrong).is_err(), "{wrong}");
        }
    }
}
