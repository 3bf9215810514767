//! Refuses mistakes that the crate gherkin accepts silently.
//!
//! Source: behaviour of gherkin 0.16 (src/parser.rs): descriptions swallow steps whose keyword is misspelt, long rows
//! of tables are cut, examples without rows vanish, media types stay in doc strings.

use std::collections::BTreeSet;

use super::near::{distance, nearest};
use super::problem::Problem;
use super::slug;
use super::source::Text;
use super::syntax::{HEADINGS, STEP_KEYWORDS, cells, foreign_language};

/// Refuses a heading without a name: its trial would have none.
pub(super) fn heading(text: &Text, line: usize, keyword: &str, name: &str, problems: &mut Vec<Problem>) {
    if slug(name).is_empty() {
        let message = format!("the {} has no name", keyword.to_lowercase());
        problems.push(text.problem_at_line(line, message).help("say in a sentence what is true"));
    }
}

/// Refuses lines between a scenario's heading and its first step that look like steps: the parser reads them as the
/// description, and the step would silently not run.
pub(super) fn swallowed(text: &Text, heading: usize, description: Option<&str>, problems: &mut Vec<Problem>) {
    for words in description.into_iter().flat_map(str::lines).map(str::trim).filter(|line| !line.is_empty()) {
        let first = words.split_whitespace().next().unwrap_or_default();
        let keyword = near_keyword(first).filter(|_| !PROSE.contains(&first) || quotes_a_name(words));
        if keyword.is_none() && !words.starts_with(['*', '|']) && !words.starts_with("\"\"\"") && !quotes_a_name(words)
        {
            continue;
        }
        let line = (heading + 1..=text.lines.len()).find(|line| text.line(*line).trim() == words).unwrap_or(heading);
        let problem = text.problem_at_words(line, first, "this would be a description, and no step");
        problems.push(match keyword {
            _ if foreign_language(text).is_some() => problem.help("no keyword of the file's language begins the line"),
            Some(keyword) => problem.help(format!("did you mean {keyword:?}?")),
            None => problem.help("steps begin with Given, When, Then, And or But").help("a remark begins with #"),
        });
    }
}

/// Words of ordinary sentences that are one letter away from a keyword.
const PROSE: [&str; 2] = ["The", "Any"];

/// Steps name things in quotes; descriptions rarely do.
fn quotes_a_name(words: &str) -> bool {
    words.matches('"').count() >= 2
}

/// Returns the keyword that a word is probably a misspelling of.
fn near_keyword(word: &str) -> Option<&'static str> {
    let word = word.trim_end_matches([':', ',', ';']);
    let lower = word.to_lowercase();
    let length = lower.chars().count();
    STEP_KEYWORDS
        .into_iter()
        .filter(|keyword| length <= keyword.len() + 2)
        .map(|keyword| (distance(&lower, &keyword.to_lowercase()), keyword))
        .filter(|(distance, keyword)| *distance <= usize::from(keyword.len() > 3 && length > 2))
        .min()
        .map(|(_, keyword)| keyword)
}

/// Refuses a description's line that is nearly a heading: `Scenaro: x` would hide what follows.
pub(super) fn misspelt_heading(text: &Text, line: usize, problems: &mut Vec<Problem>) {
    let Some((word, _)) = text.line(line).trim().split_once(':') else { return };
    let Some(near) = nearest(word, HEADINGS).filter(|near| *near != "Feature" || word == *near) else { return };
    if near == word && word == "Rule" {
        let message = "the rule above has no scenario, so this one would be a part of its description";
        problems.push(text.problem_at_words(line, word, message).help("give it a scenario, or leave it out"));
        return;
    }
    let problem =
        text.problem_at_words(line, word, format!("{word:?} is no heading here, so this would be a description"));
    let help =
        if near == word { "it cannot stand in this place".to_owned() } else { format!("did you mean `{near}:`?") };
    problems.push(problem.help(help));
}

/// Returns what to write where a row has other cells than the first.
pub(super) const fn ragged_help(here: usize, first: usize) -> &'static str {
    if here < first {
        "an empty cell has its bars too, as in `| memory | |`"
    } else {
        "write `\\|` for a bar inside a cell"
    }
}

/// Refuses rows with more or fewer cells than the first.
pub(super) fn ragged(text: &Text, lines: &[(usize, String)], problems: &mut Vec<Problem>) {
    let Some((_, first)) = lines.first() else { return };
    for (line, row) in lines {
        if cells(row) != cells(first) {
            let message = format!("this row has {} cells, the first has {}", cells(row), cells(first));
            problems.push(text.problem_at_line(*line, message).help(ragged_help(cells(row), cells(first))));
        }
    }
}

/// Refuses columns without a name and two of the same name.
pub(super) fn columns(text: &Text, lines: &[(usize, String)], names: &[String], problems: &mut Vec<Problem>) {
    let line = lines.first().map_or(1, |(line, _)| *line);
    let mut seen = BTreeSet::new();
    for name in names {
        if name.is_empty() {
            problems.push(text.problem_at_line(line, "a column of the examples has no name"));
        } else if !seen.insert(name) {
            problems.push(text.problem_at_words(line, name, format!("two columns are called {name:?}")));
        }
    }
}

/// Lists names for people.
pub(super) fn list(names: &BTreeSet<&str>) -> String {
    if names.is_empty() { "none".to_owned() } else { names.iter().copied().collect::<Vec<_>>().join(", ") }
}

#[cfg(test)]
mod tests;
