//! `nodeproof run`: runs scenarios and judges them.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use nodeproof_core::profile::Release;

use super::beside::Beside;
use super::live::LiveArgs;
#[cfg(feature = "live")]
use super::look::{Look, LookArgs};
use super::terminal::{Colour, Progress, counted, line, note};
use super::{MISUSE, misuse};
use crate::harness::{
    Backend, Door, Job, Judged, Options, Planned, Seeds, Selection, Stage, Suite, Verdict, json_line,
    keep_panics_quiet, parse_release, parse_seed, run_all, write_report,
};
use crate::steps::Own;

/// Options of `nodeproof run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof run                                   all features here, or else those built in
  nodeproof run features/health --tags '@core and not @slow'
  nodeproof run --only sim::health::unreachable::the_kubelet_is_killed --report out
  nodeproof run ../mine --accept                  a suite of your own; what it gives becomes its snapshots
  nodeproof run --seeds 1..1000                   each scenario under each seed, on all cores
  nodeproof run --read-only --context prod        what holds of the Nodes of a cluster as it is; nothing is written
  nodeproof run --k8s 1.31 --json | jq -r 'select(.result == \"failed\") | .name'

Prints what failed and why, with a line that runs it again; on a terminal also what passed. --json prints one
object a scenario: name, backend, k8s, seed, result (passed, failed, inconclusive or skipped), reason,
virtualSeconds, wallSeconds. --report writes DIR/<area>/<topic>.../<scenario>.trace.jsonl (each message),
.decisions.jsonl (what each controller decided, and why) and .history.yaml (what changed in each object).

Exit code: 0 all passed, 1 a scenario failed, 2 misuse or a broken feature file (the other files are run).")]
pub struct Args {
    /// Feature files, or directories with all that is below them; default: features/, or else those built in
    paths: Vec<PathBuf>,
    /// What the scenarios run on; default: NODEPROOF_BACKEND, or else the simulator
    #[arg(long, value_enum)]
    backend: Option<Backend>,
    #[command(flatten)]
    live: LiveArgs,
    /// The release of Kubernetes: 1.31, 1.34 or 1.36; default: NODEPROOF_K8S, or else 1.34
    #[arg(long, value_name = "RELEASE", value_parser = parse_release)]
    k8s: Option<Release>,
    /// Run only scenarios whose tags fulfil this, as in '@core and not @slow'; default: NODEPROOF_TAGS
    #[arg(long, value_name = "EXPRESSION", value_parser = Selection::parse)]
    tags: Option<Selection>,
    /// The seed of all free choices; default: NODEPROOF_SEED, or else 1
    #[arg(long, value_name = "N", value_parser = parse_seed)]
    seed: Option<u64>,
    /// Run everything under each of these seeds, the first and the last included; what fails is told once for each
    /// scenario, with its first seed
    #[arg(long, value_name = "A..B", value_parser = Seeds::parse, conflicts_with_all = ["seed", "report", "accept"])]
    seeds: Option<Seeds>,
    /// How many scenarios run at a time; default: one for each core
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Run only the scenario of exactly this name
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Write trace, decisions and histories of each scenario below this directory
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Store what the scenarios give as their snapshots, in place of what is stored
    #[arg(long)]
    accept: bool,
    /// Print one JSON object a line for each scenario
    #[arg(long)]
    json: bool,
    #[cfg(feature = "live")]
    #[command(flatten)]
    look: LookArgs,
    #[command(flatten)]
    beside: Beside,
}

/// Runs scenarios and judges them.
#[must_use]
pub fn run(args: &Args, own: &Own) -> ExitCode {
    let options = match options(args) {
        Ok(options) => options,
        Err(message) => return misuse(message),
    };
    Options::misspelt_variables().iter().for_each(|remark| note(format_args!("warning: {remark}")));
    let mut places = args.beside.places(&args.paths, own);
    places.backend = options.stage.backend();
    let suite = Suite::load(&places);
    #[cfg(feature = "live")]
    if args.look.read_only {
        let (selection, only) = (&options.selection, args.only.as_deref());
        return Look { args: &args.look, live: &args.live, suite: &suite, selection, only, json: args.json }.run();
    }
    options.stage.greeting().iter().for_each(note);
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
    let threads = options.stage.threads();
    let jobs = jobs(&chosen, args, options);
    if args.live.dry_run {
        return rehearse(&jobs);
    }
    let progress = Progress::new(jobs.len());
    let mut broken_report = None;
    let door = if args.accept { Door::Accept } else { Door::Command };
    let threads = args.jobs.or(threads);
    run_all(&jobs, threads, &suite, door, |job, judged| {
        let is_news = count.add(job, &judged);
        if let (Some(directory), Some(outcome)) = (&args.report, &judged.outcome)
            && let Err(error) = write_report(directory, job.planned, outcome)
        {
            broken_report = Some(format!("{}: the report cannot be written: {error}", directory.display()));
        }
        progress.clear();
        if is_news || args.json {
            say(args, job, &judged);
        }
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

/// Returns what is asked for: options first, then variables, then defaults.
fn options(args: &Args) -> Result<Options, String> {
    let mut options = Options::from_environment()?;
    options.release = args.k8s.unwrap_or(options.release);
    options.seed = args.seed.unwrap_or(options.seed);
    options.selection = args.tags.clone().unwrap_or(options.selection);
    options.trace = args.report.is_some();
    options.stage = match args.backend {
        Some(backend) => Stage::set(backend, &args.live.options())?,
        None => Options::stage_from_environment()?,
    };
    if args.accept && options.stage.backend() != Backend::Sim {
        return Err("snapshots are accepted from the simulator: leave --backend out".to_owned());
    }
    if args.accept && options.seed != Options::default().seed {
        return Err("snapshots are accepted at the default seed: leave --seed and NODEPROOF_SEED out".to_owned());
    }
    Ok(options)
}

/// Returns the scenarios with the seeds under which they run, seed by seed.
fn jobs<'a>(chosen: &[&'a Planned], args: &Args, options: Options) -> Vec<Job<'a>> {
    let seeds = args.seeds.unwrap_or(Seeds::one(options.seed));
    let skipped: Vec<Option<String>> = chosen.iter().map(|planned| planned.skipped(&options)).collect();
    let mut jobs = Vec::new();
    for seed in seeds.iter() {
        let options = Arc::new(Options { seed, ..options.clone() });
        let job = |(planned, skipped): (&&'a Planned, &Option<String>)| Job {
            planned,
            options: Arc::clone(&options),
            skipped: skipped.clone(),
        };
        jobs.extend(chosen.iter().zip(&skipped).map(job));
    }
    jobs
}

/// Says what would be done to which node of a real cluster.
fn rehearse(jobs: &[Job<'_>]) -> ExitCode {
    for job in jobs {
        if let Some(why) = &job.skipped {
            line(format_args!("{}: skipped: {why}", job.planned.name));
            continue;
        }
        line(format_args!("{}", job.planned.name));
        for deed in job.options.stage.rehearse(job.planned, &job.options) {
            line(format_args!("  {deed}"));
        }
    }
    ExitCode::SUCCESS
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
fn say(args: &Args, job: &Job<'_>, judged: &Judged) {
    let planned = job.planned;
    if args.json {
        line(json_line(planned, &job.options, judged));
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
    skipped: BTreeMap<String, usize>,
    seeds: BTreeMap<u64, usize>,
    /// The seeds under which scenarios failed, by their names.
    failures: BTreeMap<String, Vec<u64>>,
}

impl Count {
    /// Counts a verdict; false if it is like one that was told: the scenario passed, or failed, under another seed.
    fn add(&mut self, job: &Job<'_>, judged: &Judged) -> bool {
        let seed = job.options.seed;
        *self.seeds.entry(seed).or_default() += usize::from(judged.verdict.is_failure());
        let is_first_seed = self.seeds.len() == 1;
        let mut is_news = is_first_seed;
        if judged.verdict.is_failure() {
            let seeds = self.failures.entry(job.planned.name.clone()).or_default();
            is_news = seeds.is_empty();
            seeds.push(seed);
        }
        match judged.verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Failed => self.failed += 1,
            Verdict::Inconclusive => self.inconclusive += 1,
            Verdict::Skipped => *self.skipped.entry(judged.text.clone()).or_default() += 1,
        }
        is_news
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
        let seconds = started.elapsed().as_secs_f64();
        text += &format!(" in {seconds:.2}s");
        if args.seeds.is_some() {
            let seeds = u32::try_from(self.seeds.len()).unwrap_or(u32::MAX);
            let broken = self.seeds.values().filter(|failures| **failures > 0).count();
            text +=
                &format!(": {seeds} seeds, {broken} with a failure, {:.3}s a seed", seconds / f64::from(seeds.max(1)));
        }
        let reasons = self.skipped.iter().map(|(reason, count)| format!("     skipped {count}: {reason}"));
        let several = self.failures.iter().filter(|_| args.seeds.is_some());
        let failures = several.map(|(name, seeds)| format!("      failed {name} under {}", some_of(seeds)));
        let lines: Vec<String> = reasons.chain(failures).chain([format!("    Finished {text}")]).collect();
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
