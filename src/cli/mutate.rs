//! `nodeproof mutate`: changes scenarios so that they must fail, and tells which still pass.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use super::progress::Progress;
use super::suite_args::SuiteArgs;
use super::terminal::{counted, line, note};
use super::{MISUSE, misuse};
use crate::harness::{Planned, Suite, SuiteOptions, each_in_order, keep_panics_quiet};
use crate::mutation::{Audit, JudgedMutant, Known, Mutation, audit};
use crate::steps::Own;

/// Options of `nodeproof mutate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof mutate                                  all features here, or else those built in
  nodeproof mutate features/health/unreachable.feature
  nodeproof mutate --known features/survivors.yaml  what may survive, each with a reason
  nodeproof mutate --json | jq 'select(.survivors != [])'

For each scenario that passes:
  true before   each line `within N` must become true: it is not true before the When
  without act   nothing of an act is done; where it has several When lines, each of them is left out in turn
  without NAME  a controller, the scheduler or a kubelet is stopped before the first When, if what a line saw goes
                back to a decision of it
  negated       each line says the opposite, or its bound begins after its end
A mutant that still passes is printed with its line: the scenario does not prove what it seems to.

Exit code: 0 all are noticed or known, 1 one survives, a known one is noticed, or a scenario fails by itself, 2 \
misuse.")]
pub struct MutateArgs {
    /// Feature files, or directories with all that is below them; default: features/, or else those built in
    paths: Vec<PathBuf>,
    /// A YAML list of survivors that are right: scenario, mutant, line (if it is about one) and reason
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// How many entries that list may have
    #[arg(long, value_name = "N", requires = "known")]
    at_most: Option<usize>,
    /// Print one JSON object a line for each scenario
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    suite_args: SuiteArgs,
}

/// Counts for a requirement.
#[derive(Debug, Default, Clone, Copy)]
struct RequirementCount {
    scenarios: usize,
    mutants: usize,
    noticed: usize,
}

/// Runs the mutants of all scenarios.
#[must_use]
pub fn run(args: &MutateArgs, own: &Own) -> ExitCode {
    let started = Instant::now();
    let known = match args.known.as_deref().map_or_else(|| Ok(Known::default()), Known::read) {
        Ok(known) => known,
        Err(message) => return misuse(message),
    };
    let suite = Suite::load(&args.suite_args.suite_paths(&args.paths, own));
    suite.problems().for_each(|problem| note(format_args!("error: {problem}\n")));
    if suite.problems().next().is_some() {
        return ExitCode::from(MISUSE);
    }
    let jobs: Vec<(&Planned, Arc<SuiteOptions>)> = suite
        .planned
        .iter()
        .map(|planned| {
            let options = SuiteOptions { release: planned.fitting_release(), ..SuiteOptions::default() };
            (planned, Arc::new(options))
        })
        .filter(|(planned, options)| planned.obstacle(options).is_none())
        .collect();
    keep_panics_quiet();
    let progress = Progress::new(jobs.len());
    let mut report = Report { known, json: args.json, ..Report::default() };
    each_in_order(
        &jobs,
        None,
        |(planned, options)| {
            progress.begin(&planned.name);
            Some(audit(planned, options, &suite))
        },
        |(planned, _), audit| {
            progress.done(&planned.name, audit.failure.is_some() || audit.survivors().next().is_some());
            progress.aside(|| report.add(planned, &audit));
        },
    );
    drop(progress);
    let run: Vec<&Planned> = jobs.iter().map(|(planned, _)| *planned).collect();
    report.finish(&run, args, started)
}

/// What is counted and printed.
#[derive(Debug, Default)]
struct Report {
    known: Known,
    json: bool,
    scenarios: usize,
    failed: usize,
    mutants: usize,
    survivors: usize,
    known_survivors: usize,
    requirements: BTreeMap<String, RequirementCount>,
}

impl Report {
    fn add(&mut self, planned: &Planned, audit: &Audit) {
        if audit.is_unsupported {
            return;
        }
        self.scenarios += 1;
        self.mutants += audit.mutants.len();
        let noticed = audit.mutants.iter().filter(|mutant| mutant.is_noticed).count();
        for id in &planned.tags().requirements {
            let count = self.requirements.entry(id.clone()).or_default();
            count.scenarios += 1;
            count.mutants += audit.mutants.len();
            count.noticed += noticed;
        }
        if let Some(failure) = &audit.failure {
            self.failed += 1;
            note(format_args!("{} fails by itself:\n{failure}\n", planned.name));
        }
        let (known, new): (Vec<_>, Vec<_>) =
            audit.survivors().partition(|mutant| self.known.contains(planned, &mutant.mutation));
        self.known_survivors += known.len();
        self.survivors += new.len();
        if self.json {
            line(json!({
                "name": planned.name, "requirements": planned.tags().requirements, "mutants": audit.mutants.len(),
                "noticed": noticed, "survivors": texts(planned, &new), "known": texts(planned, &known),
            }));
        } else {
            texts(planned, &new).iter().for_each(line);
        }
    }

    /// Prints the counts; the exit code tells whether anything has to be done.
    fn finish(&self, run: &[&Planned], args: &MutateArgs, started: Instant) -> ExitCode {
        let say = |text: String| if self.json { note(text) } else { line(text) };
        for (id, count) in &self.requirements {
            let RequirementCount { scenarios, mutants, noticed } = count;
            let scenarios = counted(*scenarios, "scenario");
            say(format!("{id:>10}  {scenarios}, {noticed} of {mutants} mutants noticed"));
        }
        let mut complaints = Vec::new();
        for entry in self.known.unneeded(run) {
            let (scenario, mutant) = (&entry.scenario, &entry.mutant);
            complaints.push(format!("known, but noticed by now: {scenario} ({mutant}): take it out of the list"));
        }
        if args.at_most.is_some_and(|most| self.known.len() > most) {
            complaints.push(format!("the list of known survivors has {} entries: it may not grow", self.known.len()));
        }
        complaints.iter().for_each(|complaint| note(format_args!("error: {complaint}")));
        say(format!(
            "    Finished {} of {}: {} survive, {} known, {} failed by themselves in {:.2}s",
            counted(self.mutants, "mutant"),
            counted(self.scenarios, "scenario"),
            self.survivors,
            self.known_survivors,
            self.failed,
            started.elapsed().as_secs_f64()
        ));
        let is_fine = self.survivors == 0 && self.failed == 0 && complaints.is_empty();
        if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Returns a line for each mutant: where it is, what was changed, and what stands there.
fn texts(planned: &Planned, mutants: &[&JudgedMutant]) -> Vec<String> {
    let scenario = &planned.compiled.scenario;
    let text = |mutant: &&JudgedMutant| {
        let of_act = match &mutant.mutation {
            Mutation::WithoutAct(number) => scenario.acts[number - 1].when.first().map(|when| &when.position),
            _ => None,
        };
        let place = mutant.mutation.line().or(of_act).unwrap_or(&scenario.position);
        let (file, number, kind) = (&place.file, place.line, mutant.mutation.kind());
        format!("{file}:{number}: {kind}: {} ({})", place.text, planned.name)
    };
    mutants.iter().map(text).collect()
}
