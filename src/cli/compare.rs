//! `nodeproof compare`: runs the same scenarios on the simulator and on a real cluster, and prints where the two
//! differ.
//!
//! Inputs: feature files, a live backend, the ledger of known differences. Outputs: a finding for each scenario on
//! standard output, and recordings of the real runs if they are asked for.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use nodeproof_core::profile::Race;
use nodeproof_core::scenario::Outcome;
use serde_json::json;

use self::finding::{Compared, ExplainedDifferences, Finding, Steadiness, without_reason};
use self::html::{ComparedPage, sides};
use super::live::{LiveArgs, handle_signals, interrupted};
use super::progress::Progress;
use super::selection_args::{Place, SelectionArgs, split_places};
use super::suite_args::SuiteArgs;
use super::terminal::{Colour, line, note};
use super::{misuse, output_file};
use crate::compare::{Difference, Tolerances, differences};
use crate::harness::{
    Backend, EntryPoint, Judged, LiveOptions, Planned, PlannedRun, Runner, Suite, SuiteOptions, Verdict,
    keep_panics_quiet, run, run_all,
};
use crate::replay::Ledger;
use crate::steps::Own;

mod finding;
mod html;

/// Options of `nodeproof compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof compare --with hollow features/health
  nodeproof compare --with hollow --k8s 1.31 --json | jq 'select(.unexplained > 0)'
  nodeproof compare --with hollow --html compared.html features/health
  nodeproof compare --with hollow --update-recordings=recordings features/health && nodeproof replay recordings/1.34.4/*

Runs each scenario on the simulator and on a real cluster, and compares what became of the objects that it \
names: which fields changed, to what, by whom, in which order, and when, as far as the phases of two runs let \
instants be the same. Lists are compared by their keys. A difference is unexplained unless the ledger has an \
entry for it, whose `recording` is compare/BACKEND/AREA/TOPIC/SCENARIO, or what another kind of machine has of \
its own excuses it. A scenario with an unexplained difference, or an inconclusive one, is played again at the \
end: if then nothing is unexplained, it is unsteady, since real controllers race and the first difference was \
chance. --json prints one object a scenario: name, k8s, sim, real, differences, unexplained, unsteady (how many \
differences did not come again), wallSeconds; reason where a run saw too little or broke down.

Exit code: 0 nothing unexplained, 1 something is or is inconclusive, 2 misuse, or nothing was compared, since no \
backend is there, 130 interrupted.")]
pub struct CompareArgs {
    /// Feature files, or directories with all that is below them; default: features/, or else those built in
    paths: Vec<PathBuf>,
    /// What the simulator is compared with
    #[arg(long, value_parser = real_backends())]
    with: Backend,
    #[command(flatten)]
    live: LiveArgs,
    #[command(flatten)]
    selection_args: SelectionArgs,
    /// A ledger of known differences in place of the one that belongs to this version
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Record each real run into RELEASE/SCENARIO below a directory, for `nodeproof replay`, with the API server's
    /// audit log; each scenario gets a control plane of its own. With hollow only [default: recordings]
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = "recordings")]
    update_recordings: Option<PathBuf>,
    /// Print one JSON object a line for each scenario
    #[arg(long)]
    json: bool,
    /// Write one HTML file as well: both sides of each scenario above each other, with what differs marked
    #[arg(long, value_name = "FILE", value_parser = output_file())]
    html: Option<PathBuf>,
    #[command(flatten)]
    suite_args: SuiteArgs,
}

/// Reads what the simulator can be compared with: any backend but itself.
fn real_backends() -> impl TypedValueParser<Value = Backend> {
    let real = Backend::value_variants().iter().filter(|backend| **backend != Backend::Sim);
    PossibleValuesParser::new(real.filter_map(Backend::to_possible_value))
        .try_map(|name| <Backend as ValueEnum>::from_str(&name, false))
}

/// Compares: exit code 0 if nothing is unexplained, 1 if something is, 2 for misuse or if nothing was compared.
#[must_use]
pub fn run_with(args: &CompareArgs, own: &Own) -> ExitCode {
    match prepare(args, own) {
        Ok(comparison) => comparison.run(),
        Err(message) => misuse(message),
    }
}

fn prepare<'a>(args: &'a CompareArgs, own: &Own) -> Result<CompareRun<'a>, String> {
    if args.update_recordings.is_some() && args.with != Backend::Hollow {
        return Err("recordings are made of hollow control planes, whose audit log is ours: --with hollow".to_owned());
    }
    let ledger =
        args.ledger.as_deref().map_or_else(Ledger::built_in, Ledger::load).map_err(|error| error.to_string())?;
    let mut sim = args.selection_args.options()?;
    sim.trace = false;
    sim.renewals = args.html.is_some();
    sim.runner = Runner::default();
    let live = LiveOptions { recordings: args.update_recordings.clone(), ..args.live.options() };
    let real = SuiteOptions { runner: Runner::set(args.with, &live)?, ..sim.clone() };
    let (paths, places) = split_places(&args.paths);
    let mut suite_paths = args.suite_args.suite_paths(&paths, own);
    suite_paths.backend = args.with;
    let mut suite = Suite::load(&suite_paths);
    if let Some(settings) = &sim.settings {
        suite.set_flags(&settings.flags);
    }
    if let Some(problem) = suite.problems().next() {
        return Err(format!("{problem}"));
    }
    let page = args.html.as_deref().map(ComparedPage::new);
    Ok(CompareRun { args, ledger, sim, real: Arc::new(real), suite, places, counts: Counts::default(), page })
}

struct CompareRun<'a> {
    args: &'a CompareArgs,
    ledger: Ledger,
    sim: SuiteOptions,
    real: Arc<SuiteOptions>,
    suite: Suite,
    places: Vec<Place>,
    counts: Counts,
    page: Option<ComparedPage>,
}

#[derive(Default)]
struct Counts {
    same: usize,
    explained: usize,
    unsteady: usize,
    differing: usize,
    inconclusive: usize,
    skipped: BTreeMap<String, usize>,
}

impl Counts {
    /// Returns why most were skipped, if all were.
    fn nothing_compared(&self) -> Option<&str> {
        let compared = self.same + self.explained + self.unsteady + self.differing + self.inconclusive;
        let most = self.skipped.iter().max_by_key(|(_, count)| **count).filter(|_| compared == 0)?;
        Some(most.0)
    }
}

impl CompareRun<'_> {
    fn run(mut self) -> ExitCode {
        let suite = std::mem::take(&mut self.suite);
        let chosen = match self.args.selection_args.of(&suite, &self.real, &self.places) {
            Ok(chosen) => chosen,
            Err(message) => return misuse(message),
        };
        self.real.runner.announcement().iter().for_each(note);
        keep_panics_quiet();
        handle_signals(&self.real.runner);
        let mut open = Vec::new();
        self.play(chosen, &suite, |this, planned, finding| {
            if finding.is_open() { open.push((planned, finding)) } else { this.tell(planned, &finding) }
        });
        // A recording must show the run that was compared, so with recordings no scenario is played twice.
        if self.args.update_recordings.is_none() && !open.is_empty() && !self.real.runner.is_interrupted() {
            note(format_args!("{} of them differ or are inconclusive: these are played again", open.len()));
            let again = open.iter().map(|(planned, _)| *planned).collect();
            self.play(again, &suite, |this, planned, second| {
                let Some(at) = open.iter().position(|(it, _)| it.compiled.id == planned.compiled.id) else { return };
                let (_, first) = open.swap_remove(at);
                this.tell(planned, &first.then(second));
            });
        }
        for (planned, finding) in open {
            self.tell(planned, &finding);
        }
        self.finish()
    }

    /// Plays scenarios on both sides; on the real side several run at a time.
    fn play<'p>(
        &mut self,
        chosen: Vec<&'p Planned>,
        suite: &'p Suite,
        mut found: impl FnMut(&mut Self, &'p Planned, Finding),
    ) {
        let real = Arc::clone(&self.real);
        let jobs: Vec<PlannedRun<'p>> = chosen
            .into_iter()
            .map(|planned| {
                let skipped = planned.skipped(&real).or_else(|| planned.tags().live_only.clone());
                PlannedRun { planned, options: Arc::clone(&real), skipped }
            })
            .collect();
        let progress = Progress::new(jobs.len());
        let threads = real.runner.threads(self.args.selection_args.jobs);
        let began = |job: &PlannedRun<'_>| progress.begin(&job.planned.name);
        run_all(&jobs, threads, suite, EntryPoint::Command, began, |job, judged| {
            let finding = self.compare(job.planned, &judged, suite);
            progress.done(&job.planned.name, judged.verdict.is_failure());
            progress.aside(|| found(self, job.planned, finding));
            ControlFlow::Continue(())
        });
        drop(progress);
    }

    fn compare(&self, planned: &Planned, real: &Judged, suite: &Suite) -> Finding {
        match real.verdict {
            Verdict::Skipped | Verdict::Unsupported => return Finding::Skipped(real.text.clone()),
            Verdict::Inconclusive if self.real.runner.is_interrupted() => {
                return Finding::Skipped("the comparison was interrupted".to_owned());
            }
            Verdict::Inconclusive => {
                return Finding::Inconclusive { why: real.text.clone(), wall_time: real.wall_time };
            }
            _ => {}
        }
        let sim = run(planned, &self.sim, suite, EntryPoint::Command);
        let (Some(own), Some(other)) = (&sim.outcome, &real.outcome) else {
            return Finding::Broken(if sim.outcome.is_none() { sim.text } else { real.text.clone() });
        };
        let recording = format!("compare/{}/{}", self.args.with.name(), planned.compiled.id.replace("::", "/"));
        let reason = |it: &Difference| {
            let entry = self.ledger.find(&recording, &it.writer, &it.object, &it.path);
            entry
                .map(|entry| entry.why.trim())
                .or_else(|| self.real.runner.known_difference(&it.path))
                .map(str::to_owned)
        };
        let explained = |own: &Outcome| -> ExplainedDifferences {
            let found = differences(own, other, &Tolerances::default());
            found.into_iter().map(|it| (reason(&it), it)).collect()
        };
        let mut told = explained(own);
        if without_reason(&told) > 0 {
            let same = |race: &Race| {
                let options = SuiteOptions { race: Some(*race), ..self.sim.clone() };
                let sim = run(planned, &options, suite, EntryPoint::Command).outcome;
                sim.is_some_and(|own| without_reason(&explained(&own)) == 0)
            };
            if let Some(race) = Race::ALL.iter().find(|race| same(race)) {
                let why = || format!("a race of real controllers: {}", race.sentence());
                for (reason, _) in &mut told {
                    reason.get_or_insert_with(why);
                }
            }
        }
        let pictures = match self.page {
            Some(_) => sides(planned, (own, other), (self.args.with.name(), planned.release(&self.sim)), &told),
            None => Vec::new(),
        };
        Finding::Compared(Compared {
            sim: sim.verdict,
            real: real.verdict,
            wall_time: real.wall_time,
            told,
            steadiness: Steadiness::AsSeen,
            pictures,
        })
    }

    /// Counts a finding and prints it.
    fn tell(&mut self, planned: &Planned, finding: &Finding) {
        match finding {
            Finding::Skipped(why) => *self.counts.skipped.entry(why.clone()).or_default() += 1,
            Finding::Inconclusive { .. } => self.counts.inconclusive += 1,
            Finding::Broken(_) => self.counts.differing += 1,
            Finding::Compared(it) => match (it.told.is_empty(), it.unexplained(), it.unsteady()) {
                (true, ..) => self.counts.same += 1,
                (_, 0, 0) => self.counts.explained += 1,
                (_, 0, _) => self.counts.unsteady += 1,
                _ => self.counts.differing += 1,
            },
        }
        let name = &planned.compiled.id;
        if let Some(page) = &mut self.page {
            page.add(name, finding);
        }
        if self.args.json {
            if let Some(mut shown) = finding.json() {
                shown["name"] = json!(name);
                shown["with"] = json!(self.args.with.name());
                shown["k8s"] = json!(planned.release(&self.sim).to_string());
                line(shown);
            }
        } else {
            finding.words(name, &Colour::of(&std::io::stdout())).into_iter().for_each(line);
        }
    }

    fn finish(self) -> ExitCode {
        let counts = &self.counts;
        let mut lines: Vec<String> =
            counts.skipped.iter().map(|(reason, count)| format!("     skipped {count}: {reason}")).collect();
        let skipped: usize = counts.skipped.values().sum();
        lines.push(format!(
            "    Finished {} the same, {} with explained differences, {} unsteady, {} with unexplained ones, \
             {} inconclusive, {skipped} skipped",
            counts.same, counts.explained, counts.unsteady, counts.differing, counts.inconclusive
        ));
        if self.args.json {
            lines.iter().for_each(note)
        } else {
            lines.iter().for_each(line)
        }
        if let Some(page) = self.page
            && let Err(message) =
                page.write(format!("sim and {}: {}", self.args.with.name(), lines.last().map_or("", |own| own.trim())))
        {
            return misuse(message);
        }
        if let Some(code) = interrupted(&self.real.runner) {
            return code;
        }
        if let Some(why) = counts.nothing_compared() {
            return misuse(format_args!("nothing was run on the backend {}: {why}", self.args.with.name()));
        }
        if counts.differing + counts.inconclusive == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
