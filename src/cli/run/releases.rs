//! `nodeproof run --k8s 1.33,1.34`: the same scenarios on several releases, and what changes from one to the next.
//!
//! Inputs: the options of `run`, releases. Outputs: what failed, a line of counts for each release, and for each pair
//! of neighbours the scenarios with another verdict or another snapshot; with `--json` an object for each of these.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::process::ExitCode;

use nodeproof_core::objects::Json;
use nodeproof_core::profile::Release;

use super::{RunArgs, jobs, options, problems, say};
use crate::cli::MISUSE;
use crate::cli::selection_args::split_places;
use crate::cli::tally::Tally;
use crate::cli::terminal::{line, note};
use crate::harness::{EntryPoint, Judged, Suite, Verdict, keep_panics_quiet, run_all};
use crate::steps::Own;

/// What a scenario gave on one release.
struct Given {
    verdict: Verdict,
    /// Why it was not run, or failed.
    why: String,
    /// Its snapshots: the lines of the steps, what they are of, and what they hold.
    snapshots: Vec<(u32, String, Json)>,
}

impl Given {
    fn of(judged: &Judged) -> Self {
        let snapshots = judged.outcome.iter().flat_map(|outcome| &outcome.snapshots);
        let snapshots =
            snapshots.map(|own| (own.step.line, format!("{} {}", own.step.text, own.name), own.value.clone()));
        Self {
            verdict: judged.verdict,
            why: judged.text.lines().next().unwrap_or_default().to_owned(),
            snapshots: snapshots.collect(),
        }
    }

    fn said(&self) -> String {
        let is_told = matches!(self.verdict, Verdict::Skipped | Verdict::Unsupported);
        if is_told { format!("{} ({})", self.verdict.word(), self.why) } else { self.verdict.word().to_owned() }
    }
}

/// Runs the selected scenarios on each of the releases.
pub(super) fn run(args: &RunArgs, own: &Own, releases: &[Release]) -> Result<ExitCode, String> {
    if args.accept || args.seeds.is_some() || args.failed || args.list || args.live.dry_run {
        let options = "--accept, --seeds, --failed, --list and --dry-run";
        return Err(format!("several releases go without {options}: run one release at a time"));
    }
    if let Some(option) = args.output_args.files().first() {
        return Err(format!("several releases write no file, and so take no {option}: run one release at a time"));
    }
    let (paths, places) = split_places(&args.paths);
    let mut suite_paths = args.suite_args.suite_paths(&paths, own);
    suite_paths.backend = options(args, releases.first().copied())?.runner.backend();
    let suite = Suite::load(&suite_paths);
    let broken = problems(args, &suite);
    broken.iter().for_each(note);
    keep_panics_quiet();
    let mut all = Vec::new();
    let mut failures = 0;
    for release in releases {
        let options = options(args, Some(*release))?;
        let chosen = args.selection_args.of(&suite, &options, &places)?;
        let threads = options.runner.threads(args.selection_args.jobs);
        let jobs = jobs(&chosen, args, options);
        let (mut given, mut tally) = (BTreeMap::new(), Tally::default());
        run_all(
            &jobs,
            threads,
            &suite,
            EntryPoint::Command,
            |_| {},
            |job, judged| {
                tally.add(judged.verdict, &judged.text);
                if judged.verdict.is_failure() && !args.output_args.json {
                    say(args, job.planned, &judged);
                }
                given.insert(job.planned.name.clone(), Given::of(&judged));
                ControlFlow::Continue(())
            },
        );
        failures += tally.failures();
        let counts = tally.counts().into_iter().filter(|(_, count)| *count > 0);
        let counts: Vec<String> = counts.map(|(word, count)| format!("{count} {word}")).collect();
        let text = format!("Kubernetes {}: {}", release.minor_name(), counts.join(", "));
        if args.output_args.json {
            note(text)
        } else {
            line(text)
        }
        all.push((release.minor_name(), given));
    }
    for pair in all.windows(2) {
        tell_changes(args, (&pair[0].0, &pair[0].1), (&pair[1].0, &pair[1].1));
    }
    Ok(match failures {
        _ if !broken.is_empty() => ExitCode::from(MISUSE),
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

type OnRelease<'a> = (&'a str, &'a BTreeMap<String, Given>);

/// Tells which scenarios give something else on the next release.
fn tell_changes(args: &RunArgs, (from, before): OnRelease<'_>, (to, after): OnRelease<'_>) {
    let mut told = Vec::new();
    for (name, old) in before {
        let Some(new) = after.get(name) else { continue };
        let differs = |(at, what, value): &&(u32, String, Json)| {
            new.snapshots.iter().any(|(line, own, other)| (line, own) == (at, what) && other != value)
        };
        let snapshots: Vec<&str> = old.snapshots.iter().filter(differs).map(|(_, what, _)| what.trim()).collect();
        if old.verdict == new.verdict && snapshots.is_empty() {
            continue;
        }
        if args.output_args.json {
            line(serde_json::json!({"name": name, "from": from, "to": to, "verdict": [old.verdict.word(),
                new.verdict.word()], "snapshots": snapshots}));
            continue;
        }
        let verdict = (old.verdict != new.verdict).then(|| format!("{} -> {}", old.said(), new.said()));
        let snapshots = snapshots.iter().map(|what| format!("another snapshot: {what}"));
        let what: Vec<String> = verdict.into_iter().chain(snapshots).collect();
        told.push(format!("  {name}\n      {}", what.join("\n      ")));
    }
    if !args.output_args.json {
        line(format_args!("From {from} to {to}: {} scenarios change", told.len()));
        told.iter().for_each(line);
    }
}
