//! `nodeproof compare`: the same scenarios on the simulator and on a real cluster, and where the two differ.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use nodeproof_core::scenario::Outcome;
use serde_json::json;

use super::beside::Beside;
use super::choice::Choice;
use super::live::{LiveArgs, heed_signals, interrupted};
use super::misuse;
use super::terminal::{Colour, Progress, line, note};
use crate::compare::{Difference, Tolerances, differences};
use crate::harness::{
    Backend, Door, Job, Judged, LiveOptions, Options, Planned, Stage, Suite, Verdict, keep_panics_quiet, run, run_all,
};
use crate::replay::Ledger;
use crate::steps::Own;

/// Options of `nodeproof compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof compare --with hollow features/health
  nodeproof compare --with hollow --k8s 1.31 --json | jq 'select(.unexplained > 0)'
  nodeproof compare --with hollow --update-recordings=recordings features/health && nodeproof replay recordings/1.34.4/*

Runs each scenario on the simulator and on a real cluster, and compares what became of the objects that it names:
which fields changed, to what, by whom, in which order, and when, as far as the phases of two runs let instants be the
same. Lists are compared by their keys. A difference is unexplained unless the ledger has an entry for it, whose
`recording` is compare/BACKEND/AREA/TOPIC/SCENARIO, or what another kind of machine has of its own excuses it. --json
prints one object a scenario: name, k8s, sim, real, differences, unexplained, wallSeconds.

Exit code: 0 nothing unexplained, 1 something is or is inconclusive, 2 misuse, 130 interrupted.")]
pub struct Args {
    /// Feature files, or directories with all that is below them; default: features/, or else those built in
    paths: Vec<PathBuf>,
    /// What the simulator is compared with
    #[arg(long, value_enum)]
    with: Backend,
    #[command(flatten)]
    live: LiveArgs,
    #[command(flatten)]
    choice: Choice,
    /// A ledger of known differences in place of the one that belongs to this version
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Record each real run into RELEASE/SCENARIO below a directory, for `nodeproof replay`, with the API server's audit
    /// log; each scenario gets a control plane of its own. With hollow only [default: recordings]
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = "recordings")]
    update_recordings: Option<PathBuf>,
    /// Print one JSON object a line for each scenario
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    beside: Beside,
}

/// Compares: exit code 0 if nothing is unexplained, 1 if something is, 2 for misuse.
#[must_use]
pub fn run_with(args: &Args, own: &Own) -> ExitCode {
    match prepare(args, own) {
        Ok(comparison) => comparison.run(),
        Err(message) => misuse(message),
    }
}

fn prepare<'a>(args: &'a Args, own: &Own) -> Result<Comparison<'a>, String> {
    if args.with == Backend::Sim {
        return Err("the simulator is compared with another backend: --with hollow or --with kind".to_owned());
    }
    if args.update_recordings.is_some() && args.with != Backend::Hollow {
        return Err("recordings are made of hollow control planes, whose audit log is ours: --with hollow".to_owned());
    }
    let ledger =
        args.ledger.as_deref().map_or_else(Ledger::built_in, Ledger::load).map_err(|error| error.to_string())?;
    let mut sim = args.choice.options()?;
    sim.trace = false;
    sim.stage = Stage::default();
    let live = LiveOptions { recordings: args.update_recordings.clone(), ..args.live.options() };
    let real = Options { stage: Stage::set(args.with, &live)?, ..sim.clone() };
    let mut places = args.beside.places(&args.paths, own);
    places.backend = args.with;
    let suite = Suite::load(&places);
    if let Some(problem) = suite.problems().next() {
        return Err(format!("{problem}"));
    }
    Ok(Comparison { args, ledger, sim, real: Arc::new(real), suite, counts: Counts::default() })
}

struct Comparison<'a> {
    args: &'a Args,
    ledger: Ledger,
    sim: Options,
    real: Arc<Options>,
    suite: Suite,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    same: usize,
    explained: usize,
    differing: usize,
    inconclusive: usize,
    skipped: BTreeMap<String, usize>,
}

impl Comparison<'_> {
    fn run(mut self) -> ExitCode {
        let suite = std::mem::take(&mut self.suite);
        let chosen = match self.args.choice.of(&suite, &self.real) {
            Ok(chosen) => chosen,
            Err(message) => return misuse(message),
        };
        self.real.stage.greeting().iter().for_each(note);
        keep_panics_quiet();
        heed_signals(&self.real.stage);
        let real = Arc::clone(&self.real);
        let jobs: Vec<Job<'_>> = chosen
            .into_iter()
            .map(|planned| {
                let skipped = planned.skipped(&real).or_else(|| planned.tags().live_only.clone());
                Job { planned, options: Arc::clone(&real), skipped }
            })
            .collect();
        let progress = Progress::new(jobs.len());
        let threads = self.args.choice.jobs.or(real.stage.threads());
        let mut done = 0;
        run_all(&jobs, threads, &suite, Door::Command, |job, judged| {
            progress.clear();
            self.compare(job.planned, &judged, &suite);
            done += 1;
            progress.show(done);
        });
        progress.clear();
        self.finish()
    }

    fn compare(&mut self, planned: &Planned, real: &Judged, suite: &Suite) {
        if real.verdict == Verdict::Skipped {
            *self.counts.skipped.entry(real.text.clone()).or_default() += 1;
            return;
        }
        if real.verdict == Verdict::Inconclusive && self.real.stage.is_interrupted() {
            *self.counts.skipped.entry("the comparison was interrupted".to_owned()).or_default() += 1;
            return;
        }
        if real.verdict == Verdict::Inconclusive {
            self.counts.inconclusive += 1;
            return self.say_inconclusive(planned, &real.text);
        }
        let sim = run(planned, &self.sim, suite, Door::Command);
        let (Some(own), Some(other)) = (&sim.outcome, &real.outcome) else {
            self.counts.differing += 1;
            let broken = if sim.outcome.is_none() { &sim.text } else { &real.text };
            line(format_args!("{} {}\n{broken}\n", self.colour().bad("      broken"), planned.compiled.id));
            return;
        };
        let found = differences(own, other, &Tolerances::default());
        let recording = format!("compare/{}/{}", self.args.with.name(), planned.compiled.id.replace("::", "/"));
        let reason = |it: &Difference| {
            let entry = self.ledger.find(&recording, &it.writer, &it.object, &it.path);
            entry.map(|entry| entry.why.trim()).or_else(|| self.real.stage.excuse(&it.path)).map(str::to_owned)
        };
        let told: Vec<(Option<String>, Difference)> = found.into_iter().map(|it| (reason(&it), it)).collect();
        let unexplained = told.iter().filter(|(why, _)| why.is_none()).count();
        match (told.is_empty(), unexplained) {
            (true, _) => self.counts.same += 1,
            (_, 0) => self.counts.explained += 1,
            _ => self.counts.differing += 1,
        }
        self.say(planned, (own, real), &told, unexplained);
    }

    fn say(
        &self,
        planned: &Planned,
        (sim, real): (&Outcome, &Judged),
        told: &[(Option<String>, Difference)],
        unexplained: usize,
    ) {
        let id = &planned.compiled.id;
        if self.args.json {
            let shown: Vec<_> = told
                .iter()
                .map(|(why, it)| {
                    let mut shown = json!({
                        "object": it.object, "path": it.path, "kind": it.kind.word(), "sim": it.sim, "real": it.real,
                    });
                    if let Some(why) = why {
                        shown["ledger"] = json!(why);
                    }
                    shown
                })
                .collect();
            let word = |verdict: &dyn Debug| format!("{verdict:?}").to_lowercase();
            return line(json!({
                "name": id, "with": self.args.with.name(), "k8s": planned.release(&self.sim).to_string(),
                "sim": word(&sim.verdict), "real": word(&real.verdict), "differences": shown, "unexplained": unexplained,
                "wallSeconds": real.wall_time.as_secs_f64(),
            }));
        }
        let colour = self.colour();
        match (told.is_empty(), unexplained) {
            (true, _) => line(format_args!("{} {id}", colour.good("    the same"))),
            (_, 0) => line(format_args!("{} {id} ({} explained)", colour.note("    the same"), told.len())),
            _ => {
                let all: Vec<String> = told
                    .iter()
                    .map(|(why, it)| why.as_ref().map_or(format!("  {it}"), |why| format!("  {it}\n    why   {why}")))
                    .collect();
                line(format_args!("{} {id}\n{}\n", colour.bad("     differs"), all.join("\n")));
            }
        }
    }

    /// Nothing can be said of what was not seen.
    fn say_inconclusive(&self, planned: &Planned, why: &str) {
        let id = &planned.compiled.id;
        if self.args.json {
            return line(json!({
                "name": id, "with": self.args.with.name(), "k8s": planned.release(&self.sim).to_string(),
                "real": "inconclusive", "reason": why, "differences": [], "unexplained": 0,
            }));
        }
        line(format_args!("{} {id}\n{why}\n", self.colour().note("inconclusive")));
    }

    fn colour(&self) -> Colour {
        Colour::of(&std::io::stdout())
    }

    fn finish(self) -> ExitCode {
        let counts = &self.counts;
        let mut lines: Vec<String> =
            counts.skipped.iter().map(|(reason, count)| format!("     skipped {count}: {reason}")).collect();
        let skipped: usize = counts.skipped.values().sum();
        lines.push(format!(
            "    Finished {} the same, {} with explained differences, {} with unexplained ones, {} inconclusive, {skipped} skipped",
            counts.same, counts.explained, counts.differing, counts.inconclusive
        ));
        if self.args.json {
            lines.iter().for_each(note)
        } else {
            lines.iter().for_each(line)
        }
        let code = if counts.differing + counts.inconclusive == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        interrupted(&self.real.stage).unwrap_or(code)
    }
}
