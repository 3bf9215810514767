//! `nodeproof run`: runs scenarios and judges them.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use nodeproof_core::profile::Release;

use super::terminal::{Colour, Progress, counted, line, note};
use super::{MISUSE, misuse};
use crate::harness::{
    Door, Job, Judged, Options, Planned, Selection, Suite, Verdict, json_line, keep_panics_quiet, parse_release,
    parse_seed, run_all, write_report,
};

/// Options of `nodeproof run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof run                                   all features here, or else those built in
  nodeproof run features/health --tags '@core and not @slow'
  nodeproof run --only sim::health::unreachable::the_kubelet_is_killed --report out
  nodeproof run --k8s 1.31 --json | jq -r 'select(.result == \"failed\") | .name'

Prints what failed and why, with a line that runs it again; on a terminal also what passed. --json prints one
object a scenario: name, backend, k8s, seed, result (passed, failed, inconclusive or skipped), reason,
virtualSeconds, wallSeconds. --report writes DIR/<area>/<topic>.../<scenario>.trace.jsonl (each message),
.decisions.jsonl (what each controller decided, and why) and .history.yaml (what changed in each object).

Exit code: 0 all passed, 1 a scenario failed, 2 misuse or a broken feature file (the other files are run).")]
pub struct Args {
    /// Feature files, or directories with all that is below them; default: features/, or else those built in
    paths: Vec<PathBuf>,
    /// What the scenarios run on
    #[arg(long, value_enum, default_value_t = Backend::Sim)]
    backend: Backend,
    /// The release of Kubernetes: 1.31, 1.34 or 1.36; default: NODEPROOF_K8S, or else 1.34
    #[arg(long, value_name = "RELEASE", value_parser = parse_release)]
    k8s: Option<Release>,
    /// Run only scenarios whose tags fulfil this, as in '@core and not @slow'; default: NODEPROOF_TAGS
    #[arg(long, value_name = "EXPRESSION", value_parser = Selection::parse)]
    tags: Option<Selection>,
    /// The seed of all free choices; default: NODEPROOF_SEED, or else 1
    #[arg(long, value_name = "N", value_parser = parse_seed)]
    seed: Option<u64>,
    /// Run only the scenario of exactly this name
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Write trace, decisions and histories of each scenario below this directory
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Print one JSON object a line for each scenario
    #[arg(long)]
    json: bool,
}

/// What scenarios run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Backend {
    /// The simulator
    Sim,
}

/// Runs scenarios and judges them.
#[must_use]
pub fn run(args: Args) -> ExitCode {
    let args = &args;
    let Backend::Sim = args.backend;
    let mut options = match Options::from_environment() {
        Ok(options) => options,
        Err(message) => return misuse(message),
    };
    Options::misspelt_variables().iter().for_each(|remark| note(format_args!("warning: {remark}")));
    options.release = args.k8s.unwrap_or(options.release);
    options.seed = args.seed.unwrap_or(options.seed);
    options.selection = args.tags.clone().unwrap_or(options.selection);
    let suite = Suite::load(&args.paths);
    let problems: Vec<String> = suite.problems().map(ToString::to_string).collect();
    problems.iter().for_each(|problem| note(format_args!("error: {problem}\n")));
    let chosen: Vec<&Planned> = match chosen(&suite, args, &options) {
        Ok(chosen) => chosen,
        Err(_) if !problems.is_empty() => return ExitCode::from(MISUSE),
        Err(message) => return misuse(message),
    };
    if let Some(directory) = &args.report
        && let Err(error) = std::fs::create_dir_all(directory)
    {
        return misuse(format!("{}: the report cannot be written: {error}", directory.display()));
    }
    keep_panics_quiet();
    let started = Instant::now();
    let mut count = Count::default();
    let progress = Progress::new(chosen.len());
    let mut broken_report = None;
    let job = |planned| Job { planned, options: options.clone(), skipped: Planned::skipped(planned, &options) };
    let jobs: Vec<Job<'_>> = chosen.into_iter().map(job).collect();
    run_all(&jobs, &suite.store, Door::Command, |job, judged| {
        let planned = job.planned;
        count.add(&judged);
        if let (Some(directory), Some(outcome)) = (&args.report, &judged.outcome)
            && let Err(error) = write_report(directory, planned, outcome)
        {
            broken_report = Some(format!("{}: the report cannot be written: {error}", directory.display()));
        }
        progress.clear();
        say(args, planned, &options, &judged);
        progress.show(count.total());
    });
    progress.clear();
    count.summary(args, started, problems.len());
    if let Some(message) = broken_report {
        return misuse(message);
    }
    match (problems.is_empty(), count.failed + count.inconclusive) {
        (false, _) => ExitCode::from(MISUSE),
        (true, 0) => ExitCode::SUCCESS,
        (true, _) => ExitCode::FAILURE,
    }
}

/// Returns the scenarios that are meant.
fn chosen<'a>(suite: &'a Suite, args: &Args, options: &Options) -> Result<Vec<&'a Planned>, String> {
    let mut chosen: Vec<&Planned> = suite.planned.iter().collect();
    if let Some(name) = &args.only {
        chosen.retain(|planned| planned.name == *name);
        if chosen.is_empty() {
            let names = suite.planned.iter().map(|planned| planned.name.as_str());
            let near = crate::load::near::nearest(name, names);
            let help = near.map_or_else(String::new, |near| format!(": did you mean {near}?"));
            return Err(format!("there is no scenario {name}{help}"));
        }
    }
    if chosen.is_empty() {
        return Err("there is no scenario to run".to_owned());
    }
    if !chosen.iter().any(|planned| options.selection.meets(planned.tags())) {
        return Err(format!("{} selects no scenario", options.selection.text().unwrap_or_default()));
    }
    Ok(chosen)
}

/// Reports one scenario: with `--json` each, otherwise those that failed, and all on a terminal.
fn say(args: &Args, planned: &Planned, options: &Options, judged: &Judged) {
    if args.json {
        line(json_line(planned, options, judged));
        return;
    }
    let colour = Colour::of(&std::io::stdout());
    match judged.verdict {
        Verdict::Passed | Verdict::Skipped if !std::io::stdout().is_terminal() => {}
        Verdict::Passed => line(format_args!("{} {}", colour.good("      passed"), planned.name)),
        Verdict::Skipped => {
            line(format_args!("{} {} ({})", colour.note("     skipped"), planned.name, judged.text));
        }
        verdict => {
            let word = colour.bad(&format!("{:>12}", verdict.word()));
            line(format_args!("{word} {}\n{}\n", planned.name, judged.text));
        }
    }
}

#[derive(Debug, Default)]
struct Count {
    passed: usize,
    failed: usize,
    inconclusive: usize,
    skipped: std::collections::BTreeMap<String, usize>,
}

impl Count {
    fn add(&mut self, judged: &Judged) {
        match judged.verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Failed => self.failed += 1,
            Verdict::Inconclusive => self.inconclusive += 1,
            Verdict::Skipped => *self.skipped.entry(judged.text.clone()).or_default() += 1,
        }
    }

    fn skipped(&self) -> usize {
        self.skipped.values().sum()
    }

    fn total(&self) -> usize {
        self.passed + self.failed + self.inconclusive + self.skipped()
    }

    fn summary(&self, args: &Args, started: Instant, problems: usize) {
        let mut text = format!("{} passed", self.passed);
        for (count, word) in [(self.failed, "failed"), (self.inconclusive, "inconclusive"), (self.skipped(), "skipped")]
        {
            if count > 0 {
                text += &format!(", {count} {word}");
            }
        }
        if problems > 0 {
            text += &format!("; {} in feature files", counted(problems, "problem"));
        }
        text += &format!(" in {:.2}s", started.elapsed().as_secs_f64());
        let reasons = self.skipped.iter().map(|(reason, count)| format!("     skipped {count}: {reason}"));
        let lines: Vec<String> = reasons.chain([format!("    Finished {text}")]).collect();
        if args.json {
            lines.iter().for_each(note);
        } else {
            lines.iter().for_each(line);
        }
    }
}
