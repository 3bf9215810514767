//! Calls the crate gherkin without panics, and gives its errors a useful position.
//!
//! Input: the text of a file. Output: the parser's tree, or a problem. The parser reports where it gave up, which may
//! be lines below the mistake. Therefore the position is searched: the mistake is on the line after the longest prefix
//! of the file that parses.

use std::panic::{AssertUnwindSafe, catch_unwind};

use gherkin::{Feature, GherkinEnv};

use super::Problem;
use super::near::nearest;
use super::source::Text;

/// English keywords: those with a colon after them, and those of steps.
pub(super) const HEADINGS: [&str; 10] = [
    "Feature",
    "Rule",
    "Background",
    "Scenario",
    "Scenario Outline",
    "Scenario Template",
    "Example",
    "Examples",
    "Scenarios",
    "Scenario Templates",
];
pub(super) const STEP_KEYWORDS: [&str; 5] = ["Given", "When", "Then", "And", "But"];

/// How many prefixes of the file are tried.
const TRIES_MAX: usize = 300;

/// Parses a feature file.
pub(super) fn parse(text: &Text) -> Result<Feature, Box<Problem>> {
    let whole = language(text)?;
    gherkin(&whole).ok_or_else(|| Box::new(explain(text)))
}

/// Parses, and treats a panic of the parser as an error.
fn gherkin(text: &str) -> Option<Feature> {
    let parse = || Feature::parse(text, GherkinEnv::default()).ok();
    catch_unwind(AssertUnwindSafe(parse)).ok().flatten()
}

/// Returns the language of a file, if it is not English.
pub(super) fn foreign_language(text: &Text) -> Option<&str> {
    let first = text.lines.iter().map(|line| line.trim()).find(|line| !line.is_empty())?;
    let language = first.strip_prefix('#')?.trim().strip_prefix("language")?.trim().strip_prefix(':')?.trim();
    (language != "en").then_some(language)
}

/// Checks `# language:`, which must be the first line; the parser wants it without spaces at its end.
fn language(text: &Text) -> Result<String, Box<Problem>> {
    let first = text.lines.iter().position(|line| !line.trim().is_empty()).unwrap_or_default();
    for (index, line) in text.lines.iter().enumerate() {
        let Some(comment) = line.trim().strip_prefix('#') else {
            if line.trim().is_empty() {
                continue;
            }
            break;
        };
        let Some(language) = comment.trim().strip_prefix("language").and_then(|rest| rest.trim().strip_prefix(':'))
        else {
            continue;
        };
        let language = language.trim();
        if !gherkin::is_language_supported(language) {
            let message = format!("there is no language {language:?}");
            let problem = text.problem_at_words(index + 1, language, message);
            let base = language.split(['-', '_']).next().unwrap_or_default().to_lowercase();
            let near = if gherkin::is_language_supported(&base) { base } else { "en".to_owned() };
            return Err(Box::new(problem.help(format!("`# language: {near}` is one"))));
        }
        if index != first {
            let problem =
                text.problem_at_line(index + 1, "`# language:` is not the first line, so it would be ignored");
            return Err(Box::new(problem.help("move it to the top")));
        }
        return Ok(text.whole.replacen(line.as_str(), &format!("# language: {language}"), 1));
    }
    Ok(text.whole.clone())
}

/// Finds the line where a file stops parsing, and explains the mistake there.
fn explain(text: &Text) -> Problem {
    let Some(good) = longest_beginning(text) else { return no_feature(text) };
    let culprit = (good + 1..=text.lines.len()).find(|line| {
        let line = text.line(*line).trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let Some(line) = culprit else {
        return text.problem_at_line(text.lines.len(), "the file ends too early");
    };
    explain_line(text, line)
}

/// Returns the number of lines of the longest prefix that parses.
fn longest_beginning(text: &Text) -> Option<usize> {
    let head: Vec<String> = text.lines.clone();
    let furthest = furthest(text).min(head.len());
    let parses = |count: usize| {
        let mut part = head[..count].join("\n");
        part.push('\n');
        gherkin(&part).is_some()
    };
    (1..furthest).rev().take(TRIES_MAX).find(|count| parses(*count))
}

/// Returns a line that the parser cannot have passed.
fn furthest(text: &Text) -> usize {
    let parse = || Feature::parse(&text.whole, GherkinEnv::default()).err().map(|error| error.to_string());
    let error = catch_unwind(AssertUnwindSafe(parse)).ok().flatten().unwrap_or_default();
    let line = error.strip_prefix("Error at ").and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
    line.map_or(text.lines.len(), |line| line + 2)
}

fn no_feature(text: &Text) -> Problem {
    let is_content = |line: &&String| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#') && !line.starts_with('@')
    };
    let Some(line) = text.lines.iter().position(|line| is_content(&line)).map(|index| index + 1) else {
        return text.problem_at_line(text.lines.len(), "the file holds no feature").help(FEATURE);
    };
    if text.line(line).trim().starts_with("Feature:") && foreign_language(text).is_none() {
        return explain_line(text, (line + 1).min(text.lines.len()));
    }
    let problem = text.problem_at_line(line, "a feature file begins with `Feature:`");
    if let Some(language) = foreign_language(text) {
        return problem.help(in_language(language));
    }
    with_heading(problem, text.line(line)).help(FEATURE)
}

const FEATURE: &str = "`Feature: A node that stops reporting becomes unreachable`";

/// Explains the line at which a file stops parsing.
fn explain_line(text: &Text, line: usize) -> Problem {
    let words = text.line(line).trim();
    let first = words.split_whitespace().next().unwrap_or_default();
    if words.starts_with('|') {
        return explain_table(text, line);
    }
    if words.starts_with("\"\"\"") || words.starts_with("```") {
        let problem = text.problem_at_line(line, "this doc string does not end, or stands where none can");
        return problem.help("a doc string follows its step and ends with a line of the same three marks");
    }
    if words.starts_with('@') {
        let message = "tags stand before `Feature:`, `Rule:`, `Scenario:` or `Examples:`, and here none follows";
        return text.problem_at_line(line, message);
    }
    if words.starts_with("Feature:") {
        return text.problem_at_line(line, "a file holds one feature").help("move it to a file of its own");
    }
    if words.starts_with("Background:") {
        let problem = text.problem_at_line(line, "a background stands once, before the first scenario");
        return problem.help("move it up, or begin a `Rule:` with a background of its own");
    }
    if words.starts_with("Examples:") || words.starts_with("Scenarios:") {
        return text.problem_at_line(line, "these examples belong to no scenario outline");
    }
    if STEP_KEYWORDS.contains(&first) || first == "*" {
        let problem = text.problem_at_words(line, first, "a step cannot stand here");
        return problem.help("steps follow a `Scenario:` or `Background:`, before its `Examples:`");
    }
    if text.line(line).chars().take_while(|c| c.is_whitespace()).any(|c| c != ' ' && c != '\t') {
        return text.problem(line, 1, 1, "the line is indented with something other than spaces and tabs");
    }
    if let Some(language) = foreign_language(text) {
        return text.problem_at_line(line, "neither a step nor a heading").help(in_language(language));
    }
    if let Some(keyword) = nearest(first, STEP_KEYWORDS) {
        let problem = text.problem_at_words(line, first, format!("there is no keyword {first:?}"));
        return problem.help(format!("did you mean {keyword:?}?"));
    }
    let problem = text.problem_at_line(line, "neither a step nor a heading");
    with_heading(problem, words).help("steps begin with Given, When, Then, And or But; comments with #")
}

fn in_language(language: &str) -> String {
    format!("with `# language: {language}` all keywords are those of that language; sentences stay English")
}

fn with_heading(problem: Problem, words: &str) -> Problem {
    let heading = words.trim().split(':').next().unwrap_or_default();
    match nearest(heading, HEADINGS) {
        Some(near) if near == heading && near != "Feature" => problem.help("a file begins with `Feature: ` and a name"),
        Some(near) => problem.help(format!("did you mean `{near}:`?")),
        None => problem,
    }
}

fn explain_table(text: &Text, line: usize) -> Problem {
    let above = text.line(line - 1);
    if above.trim().starts_with('|') {
        let (here, first) = (cells(text.line(line)), cells(above));
        if here != first {
            let message = format!("this row has {here} cells, the one above has {first}");
            return text.problem_at_line(line, message).help(super::pitfalls::ragged_help(here, first));
        }
    }
    if !text.line(line).trim().ends_with('|') {
        return text.problem_at_line(line, "a row of a table ends with `|`");
    }
    text.problem_at_line(line, "a table follows its step or `Examples:`")
}

/// Counts the cells of a row; `\|` does not separate cells.
pub(super) fn cells(row: &str) -> usize {
    let mut bars = 0;
    let mut escaped = false;
    for c in row.trim().chars() {
        if c == '|' && !escaped {
            bars += 1;
        }
        escaped = c == '\\' && !escaped;
    }
    usize::saturating_sub(bars, 1)
}
