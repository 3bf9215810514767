//! `nodeproof run`: runs scenarios and judges them.
//!
//! Inputs: feature files, a backend, release and seeds. Outputs: verdicts on standard output, and report files or
//! snapshots if they are asked for.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use super::live::{LiveArgs, handle_signals, interrupted};
#[cfg(feature = "live")]
use super::read_only::{ReadOnlyArgs, ReadOnlyCommand};
use super::selection_args::{SelectionArgs, split_places};
use super::suite_args::SuiteArgs;
use super::tally::Tally;
use super::terminal::{Colour, Progress, counted, line, note};
use super::{MISUSE, misuse};
use crate::harness::{
    Backend, EntryPoint, Judged, Planned, PlannedRun, RunSettings, Runner, Seeds, Suite, SuiteOptions, Verdict,
    json_line, keep_panics_quiet, run_all, write_report,
};
use crate::steps::Own;

/// Options of `nodeproof run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof run                                   all features here, or else those built in
  nodeproof run features/health --tags '@core and not @slow'
  nodeproof run --only sim::health::unreachable::the_kubelet_is_killed --report out
  nodeproof run features/health/unreachable.feature:10
  nodeproof run --set node-monitor-grace-period=20s   what still holds with a flag of mine
  nodeproof run ../mine --accept                  a suite of your own; what it gives becomes its snapshots
  nodeproof run --seeds 1..1000                   each scenario under each seed, on all cores
  nodeproof run --read-only --context prod        what holds of the Nodes of a cluster as it is; nothing is written
  nodeproof run --k8s 1.31 --json | jq -r 'select(.result == \"failed\") | .name'

Prints what failed and why, with a line that runs it again; on a terminal also what passed. --json prints one
object a scenario: name, backend, k8s, seed, result (passed, failed, inconclusive, unsupported or skipped),
reason, virtualSeconds, wallSeconds. Unsupported is what needs something that is not modelled. --report writes
DIR/<area>/<topic>.../<scenario>.trace.jsonl (each message), .decisions.jsonl (what each controller decided, and
why) and .history.yaml (what changed in each object).

Exit code: 0 all passed, 1 a scenario failed, 2 misuse, a broken feature file (the other files are run), an unused
snapshot, or nothing was run, since nothing is supported or no backend is there, 130 a run in real time was
interrupted: what ran was ended and put back.")]
pub struct RunArgs {
    /// Feature files, or directories with all that is below them, or FILE:LINE for the scenario at a line; default:
    /// features/, or else those built in
    paths: Vec<PathBuf>,
    /// What the scenarios run on; default: NODEPROOF_BACKEND, or else the simulator
    #[arg(long, value_enum)]
    backend: Option<Backend>,
    #[command(flatten)]
    live: LiveArgs,
    #[command(flatten)]
    selection_args: SelectionArgs,
    /// Run everything under each of these seeds, the first and the last included; what fails is told once for each
    /// scenario, with its first seed
    #[arg(long, value_name = "A..B", value_parser = Seeds::parse, conflicts_with_all = ["seed", "report", "accept"])]
    seeds: Option<Seeds>,
    /// Write trace, decisions and histories of each scenario below this directory
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Leave the traces out of the report: the scenarios then run as fast as without one
    #[arg(long, requires = "report")]
    no_trace: bool,
    /// Store what the scenarios give as their snapshots, in place of what is stored
    #[arg(long)]
    accept: bool,
    /// Print one JSON object a line for each scenario
    #[arg(long)]
    json: bool,
    #[cfg(feature = "live")]
    #[command(flatten)]
    read_only: ReadOnlyArgs,
    #[command(flatten)]
    suite_args: SuiteArgs,
}

/// Runs scenarios and judges them.
#[must_use]
pub fn run(args: &RunArgs, own: &Own) -> ExitCode {
    let options = match options(args) {
        Ok(options) => options,
        Err(message) => return misuse(message),
    };
    SuiteOptions::misspelt_variables().iter().for_each(|remark| note(format_args!("warning: {remark}")));
    let (paths, places) = split_places(&args.paths);
    let mut suite_paths = args.suite_args.suite_paths(&paths, own);
    suite_paths.backend = options.runner.backend();
    let mut suite = Suite::load(&suite_paths);
    options.settings.iter().for_each(|settings| suite.set_flags(&settings.flags));
    #[cfg(feature = "live")]
    if args.read_only.read_only {
        return read_only(args, &options, &suite);
    }
    options.runner.announcement().iter().for_each(note);
    let problems = problems(args, &suite);
    problems.iter().for_each(|problem| note(format_args!("error: {problem}\n")));
    let chosen: Vec<&Planned> = match args.selection_args.of(&suite, &options, &places) {
        Ok(chosen) => chosen,
        Err(_) if suite.problems().next().is_some() => return ExitCode::from(MISUSE),
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
    let (threads, runner, backend) = (options.runner.threads(), options.runner.clone(), options.runner.backend());
    let jobs = jobs(&chosen, args, options);
    if args.live.dry_run {
        return dry_run(&jobs);
    }
    handle_signals(&runner);
    let progress = Progress::new(jobs.len());
    let mut broken_report = None;
    let entry_point = if args.accept { EntryPoint::Accept } else { EntryPoint::Command };
    let threads = args.selection_args.jobs.or(threads);
    run_all(&jobs, threads, &suite, entry_point, |job, judged| {
        let is_news = count.add(job, &judged);
        if let (Some(directory), Some(outcome)) = (&args.report, &judged.outcome)
            && let Err(error) = write_report(directory, job.planned, &job.options, outcome)
        {
            broken_report = Some(format!("{}: the report cannot be written: {error}", directory.display()));
        }
        progress.clear();
        if is_news || args.json {
            say(args, job, &judged);
        }
        progress.show(count.tally.total());
    });
    progress.clear();
    count.summary(args, started, problems.len(), jobs.len());
    if let Some(message) = broken_report {
        return misuse(message);
    }
    if let Some(code) = interrupted(&runner) {
        return code;
    }
    if args.accept
        && let Err(message) = remove_unused_snapshots(&suite)
    {
        return misuse(message);
    }
    count.exit_code(backend, problems.is_empty(), jobs.len())
}

/// Returns what is wrong with the files; with `--accept` unused snapshots are no problem, since they are deleted.
fn problems(args: &RunArgs, suite: &Suite) -> Vec<String> {
    let unused = if args.accept { Vec::new() } else { suite.unused_snapshots() };
    suite.problems().chain(unused.iter().map(|(_, problem)| problem)).map(ToString::to_string).collect()
}

/// Deletes stored snapshots that no scenario uses, and says so.
fn remove_unused_snapshots(suite: &Suite) -> Result<(), String> {
    for (path, problem) in suite.unused_snapshots() {
        std::fs::remove_file(&path).map_err(|error| format!("{}: it cannot be deleted: {error}", path.display()))?;
        note(format_args!("deleted: {} {}", problem.file, problem.message));
    }
    Ok(())
}

/// Judges a cluster as it is.
#[cfg(feature = "live")]
fn read_only(args: &RunArgs, options: &SuiteOptions, suite: &Suite) -> ExitCode {
    let (selection, only) = (&options.selection, args.selection_args.only.as_deref());
    let (live, read_only) = (&args.live, &args.read_only);
    ReadOnlyCommand { args: read_only, live, suite, selection, only, json: args.json }.run()
}

/// Returns the options of the suite: command line first, then environment variables, then defaults.
fn options(args: &RunArgs) -> Result<SuiteOptions, String> {
    let mut options = args.selection_args.options()?;
    options.trace = args.report.is_some() && !args.no_trace;
    options.runner = match args.backend {
        Some(backend) => Runner::set(backend, &args.live.options())?,
        None => SuiteOptions::runner_from_environment()?,
    };
    if args.accept && options.runner.backend() != Backend::Sim {
        return Err("snapshots are accepted from the simulator: leave --backend out".to_owned());
    }
    if args.accept && options.seed != SuiteOptions::default().seed {
        return Err("snapshots are accepted at the default seed: leave --seed and NODEPROOF_SEED out".to_owned());
    }
    if args.accept && options.settings.is_some() {
        return Err("snapshots are accepted with the settings of the scenarios: leave --set out".to_owned());
    }
    if options.runner.backend() == Backend::Kind && options.settings.as_ref().is_some_and(RunSettings::has_kubelets) {
        return Err("the kubelets of a kind cluster keep their settings: say them in the scenario".to_owned());
    }
    Ok(options)
}

/// Returns the scenarios with the seeds under which they run, seed by seed.
fn jobs<'a>(chosen: &[&'a Planned], args: &RunArgs, options: SuiteOptions) -> Vec<PlannedRun<'a>> {
    let seeds = args.seeds.unwrap_or(Seeds::one(options.seed));
    let skipped: Vec<Option<String>> = chosen.iter().map(|planned| planned.skipped(&options)).collect();
    let mut jobs = Vec::new();
    for seed in seeds.iter() {
        let options = Arc::new(SuiteOptions { seed, ..options.clone() });
        let job = |(planned, skipped): (&&'a Planned, &Option<String>)| PlannedRun {
            planned,
            options: Arc::clone(&options),
            skipped: skipped.clone(),
        };
        jobs.extend(chosen.iter().zip(&skipped).map(job));
    }
    jobs
}

/// Says what would be done to which node of a real cluster.
fn dry_run(jobs: &[PlannedRun<'_>]) -> ExitCode {
    // A scenario that was not selected is not listed.
    for job in jobs.iter().filter(|job| job.options.selection.meets(job.planned.tags())) {
        if let Some(why) = &job.skipped {
            line(format_args!("{}: skipped: {why}", job.planned.name));
            continue;
        }
        line(format_args!("{}", job.planned.name));
        for action in job.options.runner.dry_run(job.planned, &job.options) {
            line(format_args!("  {action}"));
        }
    }
    ExitCode::SUCCESS
}

/// Prints the verdict of one scenario: with `--json` always, otherwise only if it failed, and on a terminal always.
fn say(args: &RunArgs, job: &PlannedRun<'_>, judged: &Judged) {
    let planned = job.planned;
    if args.json {
        line(json_line(planned, &job.options, judged));
        return;
    }
    let colour = Colour::of(&std::io::stdout());
    match judged.verdict {
        Verdict::Passed | Verdict::Skipped | Verdict::Unsupported if !std::io::stdout().is_terminal() => {}
        Verdict::Passed => line(format_args!("{} {}", colour.good("      passed"), planned.name)),
        verdict @ (Verdict::Skipped | Verdict::Unsupported) => {
            let word = colour.note(&format!("{:>12}", verdict.word()));
            line(format_args!("{word} {} ({})", planned.name, judged.text));
        }
        verdict => {
            let word = colour.bad(&format!("{:>12}", verdict.word()));
            line(format_args!("{word} {}\n{}\n", planned.name, judged.text));
        }
    }
}

#[derive(Debug, Default)]
struct Count {
    tally: Tally,
    seeds: BTreeMap<u64, usize>,
    /// The seeds under which scenarios failed, by their names.
    failures: BTreeMap<String, Vec<u64>>,
}

impl Count {
    /// Counts a verdict; false if it repeats one that was printed: the scenario passed, or failed under another seed.
    fn add(&mut self, job: &PlannedRun<'_>, judged: &Judged) -> bool {
        let seed = job.options.seed;
        *self.seeds.entry(seed).or_default() += usize::from(judged.verdict.is_failure());
        let is_first_seed = self.seeds.len() == 1;
        let mut is_news = is_first_seed;
        if judged.verdict.is_failure() {
            let seeds = self.failures.entry(job.planned.name.clone()).or_default();
            is_news = seeds.is_empty();
            seeds.push(seed);
        }
        self.tally.add(judged.verdict, &judged.text);
        is_news
    }

    /// Returns the exit code of a run, and says why it is one of misuse where nothing else does.
    fn exit_code(&self, backend: Backend, files_are_fine: bool, jobs: usize) -> ExitCode {
        let is_none_supported = !self.tally.unsupported().is_empty();
        if (backend != Backend::Sim || is_none_supported) && self.tally.run() == 0 && jobs > 0 {
            return misuse(format!("nothing was run on the backend {}: {}", backend.name(), self.tally.main_reason()));
        }
        match (files_are_fine, self.tally.failures()) {
            (false, _) => ExitCode::from(MISUSE),
            (true, 0) => ExitCode::SUCCESS,
            (true, _) => ExitCode::FAILURE,
        }
    }

    fn summary(&self, args: &RunArgs, started: Instant, problems: usize, jobs: usize) {
        let mut text = self.tally.to_string();
        if self.tally.total() < jobs {
            text += &format!(", {} not begun", jobs - self.tally.total());
        }
        if problems > 0 {
            text += &format!("; {} in feature files", counted(problems, "problem"));
        }
        let seconds = started.elapsed().as_secs_f64();
        text += &format!(" in {seconds:.2}s");
        if args.seeds.is_some() {
            let seeds = u32::try_from(self.seeds.len()).unwrap_or(u32::MAX);
            let broken = self.seeds.values().filter(|failures| **failures > 0).count();
            text +=
                &format!(": {seeds} seeds, {broken} with a failure, {:.3}s a seed", seconds / f64::from(seeds.max(1)));
        }
        let skipped = self.tally.skipped().iter().map(|(reason, count)| format!("     skipped {count}: {reason}"));
        let unsupported = self.tally.unsupported().iter();
        let unsupported = unsupported.map(|(reason, count)| format!(" unsupported {count}: {reason}"));
        let several = self.failures.iter().filter(|_| args.seeds.is_some());
        let failures = several.map(|(name, seeds)| format!("      failed {name} under {}", some_of(seeds)));
        let lines: Vec<String> =
            skipped.chain(unsupported).chain(failures).chain([format!("    Finished {text}")]).collect();
        if args.json {
            lines.iter().for_each(note);
        } else {
            lines.iter().for_each(line);
        }
    }
}

/// Returns `seeds 3, 7, 9 and 12 more`.
fn some_of(seeds: &[u64]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = seeds.iter().take(SHOWN).map(ToString::to_string).collect();
    let word = if seeds.len() == 1 { "seed" } else { "seeds" };
    match seeds.len().saturating_sub(SHOWN) {
        0 => format!("{word} {}", shown.join(", ")),
        more => format!("{word} {} and {more} more", shown.join(", ")),
    }
}
