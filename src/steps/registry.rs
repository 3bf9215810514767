//! From checked cases to scenarios: each step is compiled by its sentence into the draft; a step without a sentence is
//! a problem.
//!
//! Input: a feature file. Output: its scenarios, and problems with the most similar sentences.

use std::sync::Arc;

use gherkin::Step;
use nodeproof_core::scenario::Scenario;

use super::draft::Draft;
use super::objects::other_object;
use super::own::CompileContext;
use super::own_names::OwnNames;
use super::patterns::{self, captures};
use super::sentence::apply;
use super::similar;
use super::sources::is_of_vocabulary;
use crate::load::{Case, FeatureFile, Problem, StepLine, Tags, step_problem};

/// A compiled scenario.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The name of its trial below the backend.
    pub id: String,
    /// The tags in force.
    pub tags: Tags,
    /// The line of its heading; of an outline's row, the outline's.
    pub heading: usize,
    /// What to run.
    pub scenario: Scenario,
    /// What is wrong with it, so that it cannot be run: the first problem of its text, or of the file as a whole.
    pub flaw: Option<Problem>,
}

/// Compiles all cases of a file. Returns the problems that the file had before as well.
#[must_use]
pub fn compile(file: &FeatureFile) -> (Vec<Compiled>, Vec<Problem>) {
    compile_in(file, &CompileContext::default())
}

/// Compiles as [`compile`] does, with the user's own actions, looks and fixtures.
#[must_use]
pub fn compile_in(file: &FeatureFile, compile_context: &CompileContext) -> (Vec<Compiled>, Vec<Problem>) {
    let compile_context = Arc::new(compile_context.clone());
    let lost = lost_steps(file);
    let is_of_case = |heading: usize| file.cases.iter().any(|case| case.heading == heading);
    let lost_outside = lost.iter().filter(|(heading, _)| !is_of_case(*heading)).map(|(_, problem)| problem);
    let of_file = file.flaw.iter().chain(lost_outside).min();
    let mut problems = file.problems.clone();
    problems.extend(lost.iter().map(|(_, problem)| problem.clone()));
    let mut compiled = Vec::new();
    for case in &file.cases {
        let (scenario, found) = compile_case(file, case, &compile_context);
        let lost_in_it = lost.iter().filter(|(heading, _)| *heading == case.heading).map(|(_, problem)| problem);
        let flaw = of_file.or_else(|| case.flaw.iter().chain(lost_in_it).chain(&found).min()).cloned();
        for problem in found {
            let same = |other: &Problem| {
                (other.line, other.column, &other.message) == (problem.line, problem.column, &problem.message)
            };
            if !problems.iter().any(same) {
                problems.push(problem);
            }
        }
        let (id, tags) = (case.id.clone(), case.tags.clone());
        compiled.push(Compiled { id, tags, heading: case.heading, scenario, flaw });
    }
    problems.sort();
    (compiled, problems)
}

/// Compiles one case.
fn compile_case(file: &FeatureFile, case: &Case, compile_context: &Arc<CompileContext>) -> (Scenario, Vec<Problem>) {
    let (area, topic) = file.id.rsplit_once("::").unwrap_or(("", &file.id));
    let mut draft =
        Draft::new(&file.path, case, (area, topic), OwnNames::of(case, captures), Arc::clone(compile_context));
    let is_lost = |line: usize| file.problems.iter().any(|problem| problem.line == line);
    file.prose.iter().filter(|prose| is_lost(prose.line)).for_each(|prose| draft.doubt(&prose.text));
    for line in &case.steps {
        draft.begin(line);
        refuse_unread(&mut draft, line);
        if !apply(&mut draft, &line.step) {
            let mut problem = step_problem(&file.path, line, case.row.as_ref(), &line.step.value, String::new());
            problem.message = format!("there is no sentence \"{}\"", line.sentence());
            problem.help = unknown(line);
            if let Some(object) = other_object(&line.step) {
                problem.message = object.message;
                problem.help.splice(0..1, object.help);
            }
            draft.problems.push(problem);
            draft.doubt(&line.step.value);
        }
    }
    draft.finish()
}

/// Refuses a table or doc string below a sentence of this crate that reads none: each that reads one ends with a colon.
fn refuse_unread(draft: &mut Draft, line: &StepLine) {
    let what = match (&line.step.table, &line.step.docstring) {
        (Some(_), _) => "table",
        (_, Some(_)) => "doc string",
        _ => return,
    };
    if !line.step.value.ends_with(':') && patterns::place_of(&line.step).is_some_and(|(path, _)| is_of_vocabulary(path))
    {
        let with = Step { value: format!("{} with:", line.step.value), ..line.step.clone() };
        let help = if matches!(patterns::find(&with), Ok(Some(_))) {
            format!("`{}` reads one", with.value)
        } else {
            "leave it out: nothing of it would be read".to_owned()
        };
        draft.problem_with("", format!("this sentence takes no {what}"), vec![help]);
    }
}

/// Returns help for a step without a sentence: the most similar sentences, and how to define it.
fn unknown(line: &StepLine) -> Vec<String> {
    let mut help = vec![similar::help(&line.step.value, line.step.ty)];
    if let Some(field) = field_of(&line.step.value) {
        help.insert(0, format!("write `{field}`"));
    }
    if line.step.value.contains(" # ") {
        help.push("a remark stands on a line of its own".to_owned());
    }
    help.push(format!(
        "or add the sentence, in src/steps/ or among the steps of your own crate\n{}",
        super::snippet::snippet(&line.step)
    ));
    help
}

/// Returns the sentence for a field of the status that people call by its name alone, as `Pod "web" has phase Running`.
fn field_of(words: &str) -> Option<String> {
    let (object, rest) = words.split_once(" has ")?;
    let (field, rest) = rest.split_once(' ').filter(|(field, _)| ["phase", "reason", "message"].contains(field))?;
    let (value, bound) = match rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
        Some(parts) => parts,
        None => rest.split_at(rest.find([' ', ',']).unwrap_or(rest.len())),
    };
    Some(format!("{object} field status.{field} is \"{value}\"{bound}"))
}

/// Finds lines of descriptions that are sentences without a keyword: steps that were lost, each with the line of the
/// heading above it.
fn lost_steps(file: &FeatureFile) -> Vec<(usize, Problem)> {
    let mut problems = Vec::new();
    for prose in &file.prose {
        if file.problems.iter().any(|problem| problem.line == prose.line) {
            continue;
        }
        if similar::is_sentence(&prose.text) {
            let message = "this would be a description, and no step".to_owned();
            let problem = Problem {
                file: file.path.clone(),
                line: prose.line,
                column: prose.excerpt.chars().take_while(|c| c.is_whitespace()).count() + 1,
                width: prose.text.chars().count(),
                message,
                excerpt: prose.excerpt.clone(),
                ..Problem::default()
            };
            let problem = problem.help("steps begin with Given, When, Then, And or But, below a `Scenario:`");
            problems.push((prose.heading, problem));
        }
    }
    problems
}

#[cfg(test)]
mod tests;
