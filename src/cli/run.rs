//! `nodeproof run`: runs scenarios and judges them.
//!
//! Inputs: feature files, a backend, release and seeds. Outputs: verdicts on standard output, and report files or
//! snapshots if they are asked for.

mod releases;
mod watch;

use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use nodeproof_core::profile::Release;
use nodeproof_core::scenario::StepVerdict;

use super::count::{Count, Ended};
use super::last_run::LastRun;
use super::live::{LiveArgs, handle_signals, interrupted};
use super::outputs::{Closing, JudgedScenario, OutputArgs, Outputs, listed};
use super::progress::Progress;
#[cfg(feature = "live")]
use super::read_only::{ReadOnlyArgs, ReadOnlyCommand};
use super::selection_args::{Place, SelectionArgs, split_places};
use super::suite_args::SuiteArgs;
use super::terminal::{Colour, line, note};
use super::{MISUSE, misuse};
use crate::harness::{
    Backend, EntryPoint, Judged, Planned, PlannedRun, RunSettings, Runner, Seeds, Suite, SuiteOptions, Threads,
    Verdict, keep_panics_quiet, release_name, run_all,
};
use crate::load::Problem;
use crate::steps::Own;

/// Options of `nodeproof run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof run                                   all features here, or else those built in
  nodeproof run features/health --tags '@core and not @slow'
  nodeproof run --only sim::health::unreachable::the_kubelet_is_killed --report out
  nodeproof run features/health/unreachable.feature:10
  nodeproof run --failed -v                       what failed last, with each step
  nodeproof run --watch features/health/new.feature   again whenever it is saved
  nodeproof run --set node-monitor-grace-period=20s   what still holds with a flag of mine
  nodeproof run ../mine --accept                  a suite of your own; what it gives becomes its snapshots
  nodeproof run --seeds 1..1000                   each scenario under each seed, on all cores
  nodeproof run --k8s 1.33,1.34                   what changes with an upgrade; --k8s all for each release
  nodeproof run --read-only --context prod        what holds of the Nodes of a cluster as it is; nothing is written
  nodeproof run --k8s 1.31 --json | jq -r 'select(.result == \"failed\") | .name'

Prints what failed and why, with a line that runs it again; on a terminal also what passed. Unsupported is what \
needs something that is not modelled. --report writes all forms of docs/ci.md at once, an index.html that leads to \
them, and DIR/scenarios/<area>/<topic>.../<scenario>.trace.jsonl (each message), .decisions.jsonl (what each \
controller decided, and why) and .history.yaml (what changed in each object), as far as there is room. docs/ci.md \
says where --failed remembers what failed.

Exit code: 0 all passed, 1 a scenario failed, 2 misuse, a scenario with a mistake in its text (the others are run), an \
unused snapshot, or nothing was run, since all is skipped or unsupported, 130 a run in real time \
was interrupted: what ran was ended and put back.")]
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
    /// Leave the traces out of the report: the scenarios then run as fast as without one
    #[arg(long, requires = "report")]
    no_trace: bool,
    /// Store what the scenarios give as their snapshots, in place of what is stored
    #[arg(long)]
    accept: bool,
    /// Print each scenario with its steps, also where the output is no terminal
    #[arg(short, long)]
    verbose: bool,
    /// Name the scenarios that would be run, each with its place, and run none
    #[arg(long, conflicts_with_all = ["accept", "report", "junit", "messages", "seeds"])]
    list: bool,
    /// Begin no other scenario once one has failed
    #[arg(long)]
    fail_fast: bool,
    /// Only scenarios that failed when they ran last with the same backend, release and settings
    #[arg(long, conflicts_with_all = ["only", "read_only"])]
    failed: bool,
    /// Run again whenever a file was saved, until Ctrl-C
    #[arg(long, conflicts_with_all = ["accept", "json", "list", "report"])]
    watch: bool,
    #[command(flatten)]
    output_args: OutputArgs,
    #[cfg(feature = "live")]
    #[command(flatten)]
    read_only: ReadOnlyArgs,
    #[command(flatten)]
    suite_args: SuiteArgs,
}

/// Runs scenarios and judges them.
#[must_use]
pub fn run(args: &RunArgs, own: &Own) -> ExitCode {
    if args.watch { watch::run(args, own) } else { run_once(args, own) }
}

fn run_once(args: &RunArgs, own: &Own) -> ExitCode {
    let done = match args.selection_args.releases() {
        several @ [_, _, ..] => releases::run(args, own, several),
        _ => run_or_refuse(args, own),
    };
    match done {
        Ok(code) => code,
        Err(message) => misuse(message),
    }
}

fn run_or_refuse(args: &RunArgs, own: &Own) -> Result<ExitCode, String> {
    let options = options(args, args.selection_args.releases().first().copied())?;
    SuiteOptions::misspelt_variables().iter().for_each(|remark| note(format_args!("warning: {remark}")));
    let (paths, places) = split_places(&args.paths);
    let mut suite_paths = args.suite_args.suite_paths(&paths, own);
    suite_paths.backend = options.runner.backend();
    let mut suite = Suite::load(&suite_paths);
    options.settings.iter().for_each(|settings| suite.set_flags(&settings.flags));
    let mut outputs = Outputs::open(&args.output_args, args.seeds.is_some())?;
    #[cfg(feature = "live")]
    if args.read_only.read_only {
        return Ok(read_only(args, &options, &suite, outputs));
    }
    options.runner.announcement().iter().for_each(note);
    let problems = problems(args, &suite);
    outputs.load(&problems, &suite);
    let mut ended = Ended::of(&suite, problems.len());
    let last_run = LastRun::read(args.live.state_dir(), &paths, &options);
    let chosen = chosen(args, &suite, &options, &places, &last_run);
    let (k8s, backend) = (release_name(options.release), options.runner.backend());
    let closing = Closing { backend: backend.name(), k8s, told: told(args, &options) };
    let chosen: Vec<&Planned> = match chosen {
        Ok(chosen) => chosen,
        // What is wrong was said already.
        Err(_) if !problems.is_empty() => {
            let count = Count::default();
            if !args.list {
                count.summary(&ended, false).iter().for_each(note);
            }
            outputs.close(&closing, &count.tally, &ended, MISUSE)?;
            return Ok(ExitCode::from(MISUSE));
        }
        Err(message) => return Err(message),
    };
    keep_panics_quiet();
    let started = Instant::now();
    let runner = options.runner.clone();
    let jobs = jobs(&chosen, args, options);
    if args.live.dry_run || args.list {
        return Ok(if args.list { list(&jobs, args, problems.is_empty()) } else { dry_run(&jobs) });
    }
    let runs = jobs.iter().filter(|job| job.skipped.is_none()).count();
    args.output_args.refuse_several(runs, args.seeds.is_some())?;
    handle_signals(&runner);
    outputs.begin(jobs.len());
    let mut playing = Playing { args, outputs, count: Count::default(), last_run: last_run.ok() };
    playing.play(&jobs, &suite, runner.threads(args.selection_args.jobs));
    let Playing { outputs, count, last_run, .. } = playing;
    ended.seconds = started.elapsed().as_secs_f64();
    ended.not_begun = jobs.len() - count.tally.total();
    let lines = count.summary(&ended, args.seeds.is_some());
    lines.iter().for_each(|text| if args.output_args.json { note(text) } else { line(text) });
    let (code, why) = count.exit_code(backend, problems.is_empty(), jobs.len());
    let closed = outputs.close(&closing, &count.tally, &ended, code);
    if let Some(Err(why)) = last_run.map(LastRun::write) {
        note(format_args!("warning: what failed is not remembered for --failed: {why}"));
    }
    closed?;
    if let Some(code) = interrupted(&runner) {
        return Ok(code);
    }
    if args.accept {
        remove_unused_snapshots(&suite)?;
    }
    why.map_or(Ok(ExitCode::from(code)), Err)
}

/// Returns what the run was told, for its conformance report.
fn told(args: &RunArgs, options: &SuiteOptions) -> serde_json::Value {
    let given = options.settings.iter().flat_map(|settings| &settings.given);
    let set: Vec<String> = given.map(|(flag, value)| format!("{flag}={value}")).collect();
    serde_json::json!({"paths": args.paths, "tags": options.selection.text(), "set": set})
}

/// Returns the scenarios that are selected; with `--failed` those of them that failed when they ran last.
fn chosen<'a>(
    args: &RunArgs,
    suite: &'a Suite,
    options: &SuiteOptions,
    places: &[Place],
    last_run: &Result<LastRun, String>,
) -> Result<Vec<&'a Planned>, String> {
    let selected = args.selection_args.of(suite, options, places)?;
    if args.failed { last_run.as_ref().map_err(Clone::clone)?.of(selected) } else { Ok(selected) }
}

/// The scenarios being run.
struct Playing<'a> {
    args: &'a RunArgs,
    outputs: Outputs,
    count: Count,
    last_run: Option<LastRun>,
}

impl Playing<'_> {
    fn play(&mut self, jobs: &[PlannedRun<'_>], suite: &Suite, threads: Threads) {
        let progress = Progress::new(jobs.len());
        let entry_point = if self.args.accept { EntryPoint::Accept } else { EntryPoint::Command };
        let began = |job: &PlannedRun<'_>| progress.begin(&job.planned.name);
        run_all(jobs, threads, suite, entry_point, began, |job, judged| {
            let has_failed = judged.verdict.is_failure();
            progress.done(&job.planned.name, has_failed);
            progress.aside(|| self.judged(job, &judged));
            if has_failed && self.args.fail_fast { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }

    fn judged(&mut self, job: &PlannedRun<'_>, judged: &Judged) {
        let is_news = self.count.add(job, judged);
        if let Some(last_run) = &mut self.last_run {
            last_run.note(job.planned, judged.verdict);
        }
        if is_news && !self.args.output_args.json {
            say(self.args, job.planned, judged);
        }
        let (planned, options) = (job.planned, &job.options);
        self.outputs.verdict(&JudgedScenario {
            planned,
            name: &planned.name,
            backend: options.runner.backend().name(),
            context: None,
            k8s: release_name(planned.release(options)),
            seed: Some(options.seed),
            judged,
            is_news,
        });
    }
}

/// Returns what is wrong with the files; with `--accept` unused snapshots are no problem, since they are deleted.
fn problems(args: &RunArgs, suite: &Suite) -> Vec<Problem> {
    let unused = if args.accept { Vec::new() } else { suite.unused_snapshots() };
    let no_snapshots = args.suite_args.no_snapshots().filter(|_| !args.accept);
    suite.problems().cloned().chain(unused.into_iter().map(|(_, problem)| problem)).chain(no_snapshots).collect()
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
fn read_only(args: &RunArgs, options: &SuiteOptions, suite: &Suite, outputs: Outputs) -> ExitCode {
    let (selection, only) = (&options.selection, args.selection_args.only.as_deref());
    let (live, read_only) = (&args.live, &args.read_only);
    ReadOnlyCommand { args: read_only, live, suite, selection, only, json: args.output_args.json }.run(outputs)
}

fn is_read_only(args: &RunArgs) -> bool {
    #[cfg(feature = "live")]
    return args.read_only.read_only;
    #[cfg(not(feature = "live"))]
    false
}

/// Returns the options of the suite: command line first, then environment variables, then defaults.
fn options(args: &RunArgs, release: Option<Release>) -> Result<SuiteOptions, String> {
    let mut options = args.selection_args.options_at(release)?;
    options.trace = args.output_args.report.is_some() && !args.no_trace;
    options.renewals = args.output_args.draws();
    options.runner = match args.backend {
        Some(backend) => Runner::set(backend, &args.live.options())?,
        None => SuiteOptions::runner_from_environment()?,
    };
    if options.runner.backend() == Backend::Sim && !is_read_only(args) {
        args.live.refuse_for_simulator()?;
    }
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

/// Names the scenarios that would be run: exit code 2 if a file has a problem.
fn list(jobs: &[PlannedRun<'_>], args: &RunArgs, files_are_fine: bool) -> ExitCode {
    for PlannedRun { planned, options, skipped } in jobs {
        if !options.selection.meets(planned.tags()) {
            continue;
        }
        if args.output_args.json {
            line(listed(planned, skipped.as_deref()));
            continue;
        }
        let why = skipped.as_ref().map_or_else(String::new, |why| format!(" (skipped: {why})"));
        let place = &planned.compiled.scenario.position;
        line(format_args!("{} {}:{}{why}", planned.name, place.file, place.line));
    }
    if files_are_fine { ExitCode::SUCCESS } else { ExitCode::from(MISUSE) }
}

/// Prints the verdict of one scenario for people: if it failed, and on a terminal or if asked for always.
fn say(args: &RunArgs, planned: &Planned, judged: &Judged) {
    let colour = Colour::of(&std::io::stdout());
    let is_quiet = !args.verbose && !std::io::stdout().is_terminal();
    match judged.verdict {
        Verdict::Passed | Verdict::Skipped | Verdict::Unsupported if is_quiet => {}
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
    if args.verbose {
        judged.outcome.iter().flat_map(|outcome| &outcome.steps).for_each(say_step);
    }
}

/// Prints the verdict of a step, with what was seen.
fn say_step(step: &StepVerdict) {
    let word = Verdict::from(step.verdict).word();
    let first = step.observed.lines().next().unwrap_or_default();
    line(format_args!(
        "             {word} {}:{}: {}: {first}",
        step.position.file, step.position.line, step.position.text
    ));
}
