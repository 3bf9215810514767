//! Expands scenario outlines: fills placeholders in row by row, and refuses placeholders without a column. Pure.

use std::collections::BTreeSet;

use gherkin::Examples;

use super::document::{Case, Row};
use super::near::nearest;
use super::source::Text;
use super::{Problem, pitfalls};

/// Returns a case with placeholders replaced by the values of a row.
pub(super) fn fill(template: &Case, names: &[String], values: &[String]) -> Case {
    let mut case = template.clone();
    let row = Row { values: names.iter().cloned().zip(values.iter().cloned()).collect() };
    case.name = replace(&case.name, &row);
    for line in &mut case.steps {
        line.step.value = replace(&line.step.value, &row);
        line.step.docstring = line.step.docstring.as_deref().map(|text| replace(text, &row));
        for cell in line.step.table.iter_mut().flat_map(|table| table.rows.iter_mut().flatten()) {
            *cell = replace(cell, &row);
        }
    }
    case.row = Some(row);
    case
}

/// Replaces each `<name>` once: a value that looks like a placeholder is not replaced again.
fn replace(text: &str, row: &Row) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        filled.push_str(&rest[..open]);
        let found = row
            .values
            .iter()
            .find(|(name, _)| rest[open + 1..].strip_prefix(name.as_str()).is_some_and(|after| after.starts_with('>')));
        match found {
            Some((name, value)) => {
                filled.push_str(value);
                rest = &rest[open + name.len() + 2..];
            }
            None => {
                filled.push('<');
                rest = &rest[open + 1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// Refuses a scenario with placeholders and without examples.
pub(super) fn refuse_placeholders(text: &Text, case: &Case, keyword: &str, problems: &mut Vec<Problem>) {
    if matches!(keyword, "Scenario Outline" | "Scenario Template") {
        let problem = text.problem_at_line(case.line, "the outline has no `Examples:`, so it would run as it stands");
        problems.push(problem.help("add `Examples:` with a table below its steps, or write `Scenario:`"));
        return;
    }
    for (line, name) in placeholders(case) {
        let message = format!("<{name}> is a placeholder, but the scenario has no `Examples:`");
        problems.push(text.problem_at_words(line, &format!("<{name}>"), message));
    }
}

/// Refuses placeholders without a column.
pub(super) fn refuse_unknown(text: &Text, case: &Case, examples: &[Examples], problems: &mut Vec<Problem>) {
    for table in examples.iter().filter_map(|examples| examples.table.as_ref()) {
        let names: BTreeSet<&str> = table.rows.first().into_iter().flatten().map(String::as_str).collect();
        for (line, name) in placeholders(case) {
            if names.contains(name.as_str()) {
                continue;
            }
            let message = format!("no column of the examples is called {name:?}");
            let mut problem = text.problem_at_words(line, &format!("<{name}>"), message);
            problem.help = match nearest(&name, names.iter().copied()) {
                Some(near) => vec![format!("did you mean <{near}>?")],
                None => vec![format!("the columns are {}", pitfalls::list(&names))],
            };
            problems.push(problem);
        }
    }
}

/// Returns the placeholders of a case's own words with their lines.
fn placeholders(case: &Case) -> Vec<(usize, String)> {
    let mut found = find(&case.name, case.line);
    for line in &case.steps {
        found.extend(find(&line.step.value, line.line));
        for (index, row) in line.step.table.iter().flat_map(|table| &table.rows).enumerate() {
            let at = line.table_lines.get(index).map_or(line.line, |(line, _)| *line);
            found.extend(row.iter().flat_map(|cell| find(cell, at)));
        }
        for (index, words) in line.step.docstring.iter().flat_map(|text| text.lines()).enumerate() {
            let at = line.docstring_lines.get(index).map_or(line.line, |(line, _)| *line);
            found.extend(find(words, at));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Finds `<name>`: words without space at their ends.
fn find(text: &str, line: usize) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        rest = &rest[open + 1..];
        let Some(close) = rest.find(['>', '<']) else { break };
        let name = &rest[..close];
        if rest[close..].starts_with('>') && !name.is_empty() && name.trim() == name && !name.contains('"') {
            found.push((line, name.to_owned()));
        }
        rest = &rest[close..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_placeholder_is_replaced_once() {
        let row = Row { values: vec![("a".into(), "<b>".into()), ("b".into(), "2".into())] };
        assert_eq!(replace("<a> and <b>, 1 < 2 > <c>", &row), "<b> and 2, 1 < 2 > <c>");
    }

    #[test]
    fn only_names_between_brackets_are_placeholders() {
        let names: Vec<String> = find("<a> < b > <c d> << e>> 3 < 4", 1).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["a", "c d"]);
    }
}
