//! `nodeproof lint`: checks feature files without running them.
//!
//! Inputs: feature files. Outputs: their problems on standard output. Invariant: nothing is run and no file is written.

use std::path::PathBuf;
use std::process::ExitCode;

use nodeproof_core::scenario::{Act, Expectation, Position};
use serde_json::json;

use super::MISUSE;
use super::suite_args::SuiteArgs;
use super::terminal::{counted, line};
use crate::harness::Suite;
use crate::load::Problem;
use crate::steps::Own;

/// Options of `nodeproof lint`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof lint                       all features here, or else those built in
  nodeproof lint features/health/unreachable.feature
  nodeproof lint --json | jq -r '.problems[] | \"\\(.file):\\(.line): \\(.message)\"'

Prints each problem as file:line:column with the line, and what to do about it. Of a file that is no Gherkin the \
first problem alone is known. Stored snapshots that no scenario uses are problems too. Nothing is run. A \
scenario that uses what is not modelled is named: no problem, and `run` can say nothing about it. A note says where \
zero lies in an act in which time passes between its When lines, and which line is there twice.

Exit code: 0 nothing is wrong, 2 something is.")]
pub struct LintArgs {
    /// Feature files, or directories with all that is below them; default: features/, or else those built in
    paths: Vec<PathBuf>,
    /// Print one JSON object with the problems
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    suite_args: SuiteArgs,
}

/// How many notes are printed; a suite that uses long acts on purpose should not drown its problems.
const NOTES_MOST: usize = 10;

/// Something to know about a scenario that is right.
#[derive(Debug, serde::Serialize)]
struct Note {
    file: String,
    line: u32,
    message: String,
}

impl Note {
    fn at(position: &Position, message: String) -> Self {
        Self { file: position.file.to_string(), line: position.line, message }
    }
}

/// Says where zero lies in each act in which time passes between its When lines, and which lines are there twice.
fn notes(suite: &Suite) -> Vec<Note> {
    let acts = suite.planned.iter().flat_map(|planned| &planned.compiled.scenario.acts);
    let mut notes: Vec<Note> = acts.flat_map(|act| where_zero_is(act).into_iter().chain(said_twice(act))).collect();
    // The rows of an outline share their lines.
    notes.dedup_by(|one, other| (&one.file, one.line) == (&other.file, other.line));
    notes
}

/// Names the line that is zero, if time passes before it.
fn where_zero_is(act: &Act) -> Option<Note> {
    let (early, last) = (act.before_zero()?, act.when.last()?);
    let message = format!(
        "zero is when this line has taken effect, later than line {}; a Then line that is timed from there wants an \
        act of its own: When, Then, When, Then",
        early.position.line
    );
    Some(Note::at(&last.position, message))
}

/// Names each line that expects what a line above expects already.
fn said_twice(act: &Act) -> impl Iterator<Item = Note> {
    act.expectations.iter().enumerate().filter_map(|(at, own)| {
        let is_same = |other: &&Expectation| other.fact == own.fact && other.bound == own.bound;
        let first = act.expectations[..at].iter().find(is_same)?;
        // A sentence about several objects has one line.
        let is_other_line = first.position.line != own.position.line;
        is_other_line.then(|| Note::at(&own.position, format!("line {} says the same", first.position.line)))
    })
}

/// Checks feature files without running them: exit code 2 if anything is wrong.
#[must_use]
pub fn run(args: &LintArgs, own: &Own) -> ExitCode {
    let suite = Suite::load(&args.suite_args.suite_paths(&args.paths, own));
    let unused = suite.unused_snapshots().into_iter().map(|(_, problem)| problem);
    let problems: Vec<Problem> = suite.problems().cloned().chain(unused).collect();
    let scenarios = suite.planned.len();
    let planned = suite.planned.iter();
    let unsupported: Vec<_> = planned.filter_map(|planned| Some((planned, planned.not_modelled()?))).collect();
    let is_empty = problems.is_empty() && scenarios == 0;
    let notes = notes(&suite);
    if args.json {
        let unsupported: Vec<_> =
            unsupported.iter().map(|(planned, what)| json!({"name": planned.name, "reason": what})).collect();
        line(json!({"scenarios": scenarios, "problems": problems, "unsupported": unsupported, "notes": notes}));
    } else {
        problems.iter().for_each(|problem| line(format_args!("{problem}\n")));
        for note in notes.iter().take(NOTES_MOST) {
            line(format_args!("{}:{}: note: {}", note.file, note.line, note.message));
        }
        if let Some(more @ 1..) = notes.len().checked_sub(NOTES_MOST) {
            line(format_args!("and {more} more notes; --json has them all"));
        }
        for (planned, what) in &unsupported {
            line(format_args!("unsupported: {}: {what}", planned.name));
        }
        let files = if suite.broken.is_empty() {
            String::new()
        } else {
            format!(" in {}", counted(suite.broken.len(), "file"))
        };
        let fine = counted(scenarios, "scenario");
        let broken = match suite.disabled().count() {
            0 => ",".to_owned(),
            count => format!(", {count} not;"),
        };
        line(format_args!("{fine} compiled{broken} {}{files}", counted(problems.len(), "problem")));
    }
    if is_empty {
        return super::misuse("there is no scenario to check");
    }
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(MISUSE) }
}
