//! `nodeproof run`: runs scenarios and judges them.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use nodeproof_core::profile::Release;

use super::{MISUSE, misuse};
use crate::harness::{
    self, Door, Judged, Options, Planned, Selection, Suite, Verdict, json_line, keep_panics_quiet, parse_release,
    parse_seed, write_report,
};

/// Options of `nodeproof run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof run                                   all features here, or else those that the program carries
  nodeproof run features/health --tags '@core and not @slow'
  nodeproof run --k8s 1.31 --json | jq -r 'select(.result == \"failed\") | .name'

Exit code: 0 all passed, 1 a scenario failed, 2 misuse or a broken feature file (the other files are run).")]
pub struct Args {
    /// Feature files, or directories with all that is below them; default: features/, or else those built in
    paths: Vec<PathBuf>,
    /// What the scenarios run on
    #[arg(long, value_enum, default_value_t = Backend::Sim)]
    backend: Backend,
    /// The release of Kubernetes: 1.31, 1.34 or 1.36
    #[arg(long, value_name = "RELEASE", default_value = "1.34", value_parser = parse_release)]
    k8s: Release,
    /// Run only scenarios whose tags fulfil this, as in '@core and not @slow'
    #[arg(long, value_name = "EXPRESSION", value_parser = Selection::parse)]
    tags: Option<Selection>,
    /// The seed of all free choices
    #[arg(long, default_value = "1", value_parser = parse_seed)]
    seed: u64,
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
    let options = Options { release: args.k8s, seed: args.seed, selection: args.tags.clone().unwrap_or_default() };
    let suite = Suite::load(&args.paths);
    let problems: Vec<String> = suite.problems().map(ToString::to_string).collect();
    problems.iter().for_each(|problem| eprintln!("error: {problem}\n"));
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
    run_all(&chosen, &options, &suite, |planned, judged| {
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
        return Err(format!("--tags {:?} selects no scenario", options.selection.text().unwrap_or_default()));
    }
    Ok(chosen)
}

/// Runs scenarios on all cores and hands them over in their order.
fn run_all(chosen: &[&Planned], options: &Options, suite: &Suite, mut done: impl FnMut(&Planned, Judged)) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(chosen.len());
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some(planned) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let judged = match planned.skipped(options) {
                        Some(why) => Judged::skipped(why),
                        None => harness::run(planned, options, &suite.store, Door::Command),
                    };
                    if sender.send((planned.name.as_str(), judged)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = std::collections::BTreeMap::new();
        let mut order = chosen.iter().peekable();
        for (name, judged) in receiver {
            waiting.insert(name, judged);
            while let Some(judged) = order.peek().and_then(|planned| waiting.remove(planned.name.as_str())) {
                if let Some(planned) = order.next() {
                    done(planned, judged);
                }
            }
        }
    });
}

/// Reports one scenario: with `--json` each, otherwise those that failed, and all on a terminal.
fn say(args: &Args, planned: &Planned, options: &Options, judged: &Judged) {
    if args.json {
        println!("{}", json_line(planned, options, judged));
        return;
    }
    let colour = Colour::of(&std::io::stdout());
    match judged.verdict {
        Verdict::Passed | Verdict::Skipped if !std::io::stdout().is_terminal() => {}
        Verdict::Passed => println!("{} {}", colour.good("      passed"), planned.name),
        Verdict::Skipped => println!("{} {} ({})", colour.note("     skipped"), planned.name, judged.text),
        verdict => {
            println!("{} {}\n{}\n", colour.bad(&format!("{:>12}", verdict.word())), planned.name, judged.text);
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
            text += &format!("; {problems} problems in feature files");
        }
        text += &format!(" in {:.2}s", started.elapsed().as_secs_f64());
        let reasons = self.skipped.iter().map(|(reason, count)| format!("     skipped {count}: {reason}"));
        let lines: Vec<String> = reasons.chain([format!("    Finished {text}")]).collect();
        if args.json {
            lines.iter().for_each(|line| eprintln!("{line}"));
        } else {
            lines.iter().for_each(|line| println!("{line}"));
        }
    }
}

/// A line on the terminal that tells how far the run is; nothing where nobody looks.
struct Progress {
    total: usize,
    is_shown: bool,
}

impl Progress {
    fn new(total: usize) -> Self {
        Self { total, is_shown: std::io::stderr().is_terminal() }
    }

    fn show(&self, done: usize) {
        if self.is_shown {
            let colour = Colour::of(&std::io::stderr());
            eprint!("\r{} {done}/{}", colour.note("     Running"), self.total);
            drop(std::io::stderr().flush());
        }
    }

    fn clear(&self) {
        if self.is_shown {
            eprint!("\r\x1b[K");
            drop(std::io::stderr().flush());
        }
    }
}

/// Colours as cargo uses them: on a terminal, unless `NO_COLOR` is set.
struct Colour(bool);

impl Colour {
    fn of(stream: &impl std::io::IsTerminal) -> Self {
        let setting = std::env::var("CARGO_TERM_COLOR").unwrap_or_default();
        let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) || setting == "never";
        Self(!forbidden && (stream.is_terminal() || setting == "always"))
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[1;{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn good(&self, text: &str) -> String {
        self.paint("32", text)
    }

    fn bad(&self, text: &str) -> String {
        self.paint("31", text)
    }

    fn note(&self, text: &str) -> String {
        self.paint("36", text)
    }
}
