//! `nodeproof record`: records what a cluster does, for `nodeproof replay`; nothing is written to the cluster.
//!
//! Inputs: a context and a duration, or a recording that is there. Outputs: a directory with the recording, and a
//! feature of it with its snapshot; on standard error the cluster, the rights that are used, and the fields that are
//! left out. Without the API server's audit log a recording shows no users and no refused requests.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jiff::SignedDuration;
use nodeproof_core::objects::time::seconds;

use super::progress::Progress;
use super::read_only::{say_cluster, say_rights};
use super::terminal::{counted, line, note};
use super::{duration, misuse};
use crate::harness::{EntryPoint, Suite, SuiteOptions, SuitePaths, Verdict, run as judge};
use crate::live::record::{OPTIONAL_KINDS, Privacy, REQUIRED_KINDS, Title};
use crate::live::{Access, ReadOnlyRun};
use crate::replay::Recording;
use crate::replay::feature::feature;

/// Options of `nodeproof record`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof record --context prod --for 10m
  nodeproof replay recordings/1.34.4/prod
  nodeproof record --context prod --for 30m --feature features/prod/outage.feature
  nodeproof record --from recordings/1.34.4/prod --feature features/prod/outage.feature

Only get, list and watch are asked for. What a Pod runs with, addresses and ids of machines, images, and \
annotations and messages that are not Kubernetes' own do not reach a file; names and labels do: about.yaml lists \
what is left out.

Without an audit log nobody tells who wrote: a replay judges what can be told from the changes of Nodes, which \
is node lifecycle, the ttl annotation and, where the recording began without Nodes, the blocks of Pod addresses. \
Ctrl-C ends a recording early, and keeps it.

A feature is a beginning, to be read and corrected: When lines are what users did, and silence and reboots as far \
as Leases and boot ids show them; Then lines what controllers did, with bounds. What it does not tell stands in its \
comments. It is run on the simulator once, which makes its snapshot.

Exit code: 0 recorded, 1 the simulator does not pass the feature that was written, 2 misuse, a cluster that \
cannot be watched, or a recording of which there is nothing to tell: no feature is written then, and the recording \
is kept.")]
pub struct RecordArgs {
    /// The context of the cluster
    #[arg(long, value_name = "NAME", required_unless_present = "from")]
    context: Option<String>,
    /// The kubeconfig that has the context; default: KUBECONFIG, or else ~/.kube/config
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// How long
    #[arg(
        long = "for", value_name = "DURATION", default_value = "10m", value_parser = duration,
        allow_hyphen_values = true
    )]
    length: SignedDuration,
    /// The directory of the recording; default: recordings/RELEASE/CONTEXT
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// A flag of the cluster's that is not the default, as kube-controller-manager.node-monitor-period=2s; can be
    /// repeated
    #[arg(long, value_name = "COMPONENT.FLAG=VALUE", value_parser = flag)]
    flag: Vec<(String, String)>,
    /// Write a first feature of what was recorded, with its snapshot
    #[arg(long, value_name = "FILE")]
    feature: Option<PathBuf>,
    /// Write the feature of a recording that is there, and record nothing
    #[arg(long, value_name = "DIR", requires = "feature")]
    #[arg(conflicts_with_all = ["context", "kubeconfig", "out", "flag"])]
    from: Option<PathBuf>,
}

/// Reads a flag: the component, and the flag as it is given to the program.
fn flag(text: &str) -> Result<(String, String), String> {
    let known = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];
    let parts = text.split_once('.').filter(|(component, flag)| known.contains(component) && flag.contains('='));
    let (component, flag) =
        parts.ok_or("say COMPONENT.FLAG=VALUE, as kube-controller-manager.node-monitor-period=2s")?;
    Ok((component.to_owned(), format!("--{}", flag.trim_start_matches("--"))))
}

/// Records: exit code 0 if it was recorded, 1 if the simulator does not pass its feature, 2 if it was not.
#[must_use]
pub fn run(args: &RecordArgs) -> ExitCode {
    match record_or_tell(args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => misuse(message),
    }
}

fn record_or_tell(args: &RecordArgs) -> Result<bool, String> {
    if args.length.is_zero() {
        return Err("--for must be more than nothing".to_owned());
    }
    if let Some(file) = &args.feature {
        check_free(file)?;
    }
    let directory = match &args.from {
        Some(directory) => directory.clone(),
        None => record(args, args.context.as_deref().unwrap_or_default())?,
    };
    args.feature.as_ref().map_or(Ok(true), |file| tell(&directory, file))
}

fn check_free(file: &Path) -> Result<(), String> {
    let shown = file.display();
    match file.extension().is_some_and(|own| own == "feature") {
        _ if file.exists() => Err(format!("{shown} is there already: name a new file, or remove it")),
        false => Err(format!("{shown}: the name of a feature ends in .feature")),
        true => Ok(()),
    }
}

/// Writes the feature of a recording, and plays it once, which makes its snapshot; false if it does not pass.
fn tell(directory: &Path, file: &Path) -> Result<bool, String> {
    let recording = Recording::load(directory, None).map_err(|error| error.to_string())?;
    let text = feature(&recording).map_err(|why| format!("{}: {why}", directory.display()))?;
    let unwritable = |error| format!("{}: it cannot be written: {error}", file.display());
    file.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(unwritable)?;
    std::fs::write(file, text).map_err(unwritable)?;
    let suite = Suite::load(&SuitePaths { features: vec![file.to_owned()], ..SuitePaths::default() });
    if let Some(problem) = suite.problems().next() {
        return Err(format!("{problem}"));
    }
    let mut passes = true;
    for planned in &suite.planned {
        let judged = judge(planned, &SuiteOptions::default(), &suite, EntryPoint::Accept);
        passes &= judged.verdict == Verdict::Passed;
        if judged.verdict != Verdict::Passed {
            note(format_args!("{} on the simulator:\n{}", judged.verdict.word(), judged.text));
        }
    }
    let verdict = if passes { "the simulator passes it" } else { "the simulator does not pass it" };
    line(format_args!("       Wrote {}: {verdict}", file.display()));
    Ok(passes)
}

/// Records, and returns the directory.
fn record(args: &RecordArgs, context: &str) -> Result<PathBuf, String> {
    let access = Access::of_context(args.kubeconfig.as_deref(), context)?;
    let run = ReadOnlyRun::open(&access)?;
    say_cluster(context, &access, &run);
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
    let title = title(args, context, &kubernetes);
    let directory = args.out.clone().unwrap_or_else(|| PathBuf::from("recordings").join(&kubernetes).join(&title.name));
    recorded.save(&directory, &title)?;
    line(format_args!("    Recorded {} in {}", counted(recorded.lines().0, "change"), directory.display()));
    Ok(directory)
}

fn title(args: &RecordArgs, context: &str, kubernetes: &str) -> Title {
    let mut flags: Vec<(String, Vec<String>)> = Vec::new();
    for (component, flag) in &args.flag {
        match flags.iter_mut().find(|(known, _)| known == component) {
            Some((_, list)) => list.push(flag.clone()),
            None => flags.push((component.clone(), vec![flag.clone()])),
        }
    }
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let name: String = context.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).collect();
    let name = name.trim_matches('.').to_owned();
    let shows = format!("What the watches of context {context} showed for {}", seconds(args.length));
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
