//! From checked cases to scenarios: each step is compiled by its sentence into the draft; a step without a sentence is
//! a problem.
//!
//! Input: a feature file. Output: its scenarios, and problems with the most similar sentences.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use gherkin::{Step, StepType};
use nodeproof_core::scenario::Scenario;

use super::catalogue::{self, Sentence, catalogue};
use super::draft::Draft;
use super::objects::other_object;
use super::own::CompileContext;
use super::patterns;
use super::sentence::apply;
use super::sources::is_of_vocabulary;
use crate::load::{Case, FeatureFile, Problem, StepLine, Tags, step_problem};
use nodeproof_core::objects::likeness::{Word, likeness, likeness_at_most, likeness_by_length};

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
    /// What is wrong with it, so that it cannot be run: the first problem of its steps, or of the file as a whole.
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
    let mut problems = file.problems.clone();
    problems.extend(lost_steps(file));
    let of_file = problems.iter().min().cloned();
    let mut compiled = Vec::new();
    for case in &file.cases {
        let (scenario, found) = compile_case(file, case, &compile_context);
        let flaw = of_file.clone().or_else(|| found.iter().min().cloned());
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
    let mut draft = Draft::new(&file.path, case, area, topic, Arc::clone(compile_context));
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
    const SHOWN: usize = 3;
    let near: Vec<&Sentence> =
        nearest(&line.step.value, Some(line.step.ty)).into_iter().take(SHOWN).map(|(_, sentence)| sentence).collect();
    let mut help: Vec<String> = near.iter().map(|sentence| sentence.pattern.clone()).collect();
    if let (Some(first), Some(sentence)) = (help.first_mut(), near.first()) {
        let takes = sentence.parameters.iter().filter(|parameter| !parameter.takes.is_empty());
        let takes: String = takes.map(|own| format!("\n    {{{}}}: {}", own.name, own.takes)).collect();
        *first = format!("did you mean\n  {first}{takes}");
    }
    let mut help = vec![help.join("\n  ")];
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

/// Returns the sentences of a keyword with their similarity, the most similar first.
fn nearest(words: &str, keyword: Option<StepType>) -> Vec<(f64, &'static Sentence)> {
    let own = words_of(words);
    let is_of = |sentence: &Sentence| {
        keyword.is_none_or(|keyword| sentence.keywords.contains(&catalogue::keyword_name(keyword)))
    };
    let mut near: Vec<(f64, &Sentence)> = READINGS
        .iter()
        .filter(|(sentence, _)| is_of(sentence))
        .map(|(sentence, readings)| (nearness(&own, readings), sentence))
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near
}

/// The sentences of the vocabulary, each with all its readings: `{object}` as each kind of object, with and without
/// optional parts. Prepared once, since a broken file needs them for each of its lines.
static READINGS: LazyLock<Vec<(Sentence, Vec<Vec<Word>>)>> =
    LazyLock::new(|| catalogue().into_iter().map(|sentence| (sentence.clone(), readings(&sentence.pattern))).collect());

/// The words of all readings: the texts between the special characters of the patterns. Made without the readings,
/// which few files need.
static VOCABULARY: LazyLock<Vec<Word>> = LazyLock::new(|| {
    let patterns = patterns::all();
    let is_sign = |b: &u8| b" ^$()[]{}?*+|\\\"<>".contains(b);
    let between = |pattern| str::as_bytes(pattern).split(is_sign);
    let words: BTreeSet<&[u8]> = patterns.iter().map(AsRef::as_ref).chain(OBJECTS).flat_map(between).collect();
    let words = words.into_iter().filter_map(|word| str::from_utf8(word).ok());
    // Behind `(?:` a colon is left over; a colon may also be part of the text.
    let bare = words.map(|word| word.strip_prefix(':').filter(|bare| !bare.is_empty()).unwrap_or(word));
    bare.chain(["{condition}"]).map(Word::new).collect()
});

fn readings(sentence: &str) -> Vec<Vec<Word>> {
    forms(sentence).iter().map(|form| words_of(form)).collect()
}

/// What `{object}` stands for in a sentence.
const OBJECTS: [&str; 5] = [
    "Node {node}",
    "Pod {pod}",
    "the Lease of Node {node}",
    "Deployment {name}",
    "the EndpointSlice of Service {name}",
];

/// Returns the readings of a sentence with its required parts and with all parts, for each kind of object.
fn forms(sentence: &str) -> Vec<String> {
    let mut needed = String::new();
    let mut depth = 0_usize;
    for c in sentence.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => needed.push(c),
            _ => {}
        }
    }
    let needed = needed.replace(" {bound}", "").replace(" {for}", "");
    let fullest = sentence.replace(['[', ']'], " ");
    let mut forms: Vec<String> = Vec::new();
    for object in OBJECTS {
        for form in [&needed, &fullest] {
            let form = form.replacen("{object}", object, 1);
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
}

/// Returns the similarity of words to the nearest reading of a sentence.
fn nearness(words: &[Word], readings: &[Vec<Word>]) -> f64 {
    readings.iter().map(|reading| likeness(words, reading)).fold(0.0, f64::max)
}

fn words_of(text: &str) -> Vec<Word> {
    split(text).into_iter().map(Word::new).collect()
}

/// Splits into words; a text in quotes or braces is one word.
fn split(words: &str) -> Vec<&str> {
    const WORDS_MAX: usize = 60;
    let mut parts = Vec::new();
    let mut rest = words.trim();
    while !rest.is_empty() && parts.len() < WORDS_MAX {
        let close = match rest.chars().next() {
            Some('"') => rest[1..].find('"').map(|at| at + 2),
            Some('{') => rest.find('}').map(|at| at + 1),
            _ => None,
        };
        let end = close.unwrap_or(0);
        let end = rest[end..].find(' ').map_or(rest.len(), |at| at + end);
        parts.push(rest[..end].trim_end_matches(','));
        rest = rest[end..].trim_start();
    }
    parts
}

/// Finds lines of descriptions that are sentences without a keyword: steps that were lost.
fn lost_steps(file: &FeatureFile) -> Vec<Problem> {
    const NEAR: f64 = 0.8;
    let mut problems = Vec::new();
    for prose in &file.prose {
        if file.problems.iter().any(|problem| problem.line == prose.line) {
            continue;
        }
        let words = words_of(&prose.text);
        let Some((_, rest)) = words.split_first().filter(|(_, rest)| rest.len() > 2) else { continue };
        if likeness_at_most(rest, &VOCABULARY) < NEAR {
            continue;
        }
        let mut readings = READINGS.iter().flat_map(|(_, readings)| readings);
        // Most descriptions are longer than any sentence; the length is checked first because it is cheaper.
        if readings.any(|reading| likeness_by_length(rest, reading) >= NEAR && likeness(rest, reading) >= NEAR) {
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
            problems.push(problem.help("steps begin with Given, When, Then, And or But, below a `Scenario:`"));
        }
    }
    problems
}

#[cfg(test)]
mod tests;
