//! The pages as Markdown.

use std::fmt::Write as _;

use nodeproof_core::profile::{DEFAULT_RELEASE, Release};
use nodeproof_core::scenario::Position;
use serde::Deserialize as _;

use super::measured::{Cell, Measured, MeasuredAct, MeasuredRow, differ, measure};
use super::pages::{BehaviourPage, Part};
use super::words::{line, list, range};
use crate::harness::{Planned, Suite};
use crate::load::{Case, Requirements, StepLine, check_one};

/// What stands above each page.
const HEAD: &str = "<!-- written by `nodeproof behaviour --write docs/behaviour`, held by a test -->\n";

/// Returns the page that leads to the others, whose scenarios were run so many times.
#[must_use]
pub fn index(pages: &[BehaviourPage], runs: u64) -> String {
    let mut text = format!(
        "{HEAD}\n# What Kubernetes does when something happens to a node\n\n\
         Each page answers one question, release by release. Every instant in them is measured: the scenario that a \
         part names runs on the simulator {runs} times, each time with other random delays and at another moment of \
         the loops of kubelets and controllers. A release runs it less often if it first did the same as the one \
         before, instant by instant. A test holds these pages against new runs. The simulator is held against \
         recordings of real clusters; [limits.md](../limits.md) tells what it does not have, and where it is known to \
         differ.\n\n\
         | question | parts |\n|---|---|\n"
    );
    for page in pages {
        let anchor = |part: &Part| format!("[{}]({}.md#{})", part.title, page.name, anchor(&part.title));
        let parts: Vec<String> = page.parts.iter().map(anchor).collect();
        let _ = writeln!(text, "| **[{}]({}.md)** | {} |", page.title, page.name, parts.join(" · "));
    }
    text += "\n## Reading a table\n\n\
             Zero is the instant at which the line above the table was done. *41 to 55 s* is the earliest and the \
             latest of all runs, and the ends may lie a second or two further out: how long it takes depends on when \
             the last heartbeat was, and on when the controllers look. Releases share a column if nothing differs on \
             the average by 2 s or more, and by more than chance. Taints without a prefix are of \
             `node.kubernetes.io/`. *By* is who wrote it to the API server.\n\n\
             Other flags, other numbers: `nodeproof run FILE:LINE --set node-monitor-grace-period=20s` runs the \
             scenario of a part with yours, and [`nodeproof plan`](../plan.md) answers for a cluster of your size.\n";
    text
}

/// Returns a page, whose scenarios are run so many times.
///
/// # Errors
/// A scenario is not there or does not hold, or a sentence asks for an instant that there is not.
pub fn page(suite: &Suite, page: &BehaviourPage, runs: u64) -> Result<String, String> {
    let mut text = format!("{HEAD}\n# {}\n\n{}\n\n", page.title, page.about.trim());
    for part in &page.parts {
        let _ = writeln!(text, "- [{}](#{})", part.title, anchor(&part.title));
    }
    for part in &page.parts {
        let measured = measure(suite, part, runs)?;
        let _ = write!(text, "\n## {}\n\n{}\n", part.title, says(part, &measured)?);
        let case = case_of(suite, &measured).ok_or_else(|| format!("{}: its file is gone", part.title))?;
        let _ = write!(text, "\n{}", setup(&case, &measured));
        measured.acts.iter().for_each(|act| text += &table(&case, act));
        text += &origin(suite, &measured);
    }
    text +=
        "\n---\n\n[All questions](README.md) · how to read the tables: [below the list](README.md#reading-a-table)\n";
    Ok(text)
}

/// Fills the instants into what people say of a part.
fn says(part: &Part, measured: &Measured<'_>) -> Result<String, String> {
    let mut told = String::new();
    let mut rest = part.says.trim();
    while let Some((before, after)) = rest.split_once("{{") {
        let (asked, after) = after.split_once("}}").ok_or_else(|| format!("{}: {{{{ is not closed", part.title))?;
        let words: Vec<&str> = asked.split(" & ").map(str::trim).collect();
        let is_meant = |row: &&MeasuredRow| words.iter().all(|word| row.text.contains(word));
        let of_act = |act: &MeasuredAct| {
            let row = act.rows.iter().find(is_meant)?;
            Some(instants(row, act))
        };
        let instants = measured.acts.iter().find_map(of_act);
        told += before;
        told += &instants.ok_or_else(|| format!("{}: nothing in its tables has the words {asked:?}", part.title))?;
        rest = after;
    }
    Ok(told + rest)
}

/// Prints when a row came to pass on the default release, and on others where that differs.
fn instants(row: &MeasuredRow, act: &MeasuredAct) -> String {
    let own = act.columns.iter().position(|column| column.contains(&DEFAULT_RELEASE)).unwrap_or(act.columns.len() - 1);
    let told = |column: usize| row.cells[column].map(|cell| range(cell.from, cell.to));
    let main = told(own).unwrap_or_else(|| "never".to_owned());
    let differs = |column: &usize| differ(row.cells[own], row.cells[*column]);
    let others: Vec<String> = (0..act.columns.len())
        .filter(|column| *column != own && differs(column))
        .map(|column| {
            format!("{} on {}", told(column).unwrap_or_else(|| "never".to_owned()), releases(&act.columns[column]))
        })
        .collect();
    if others.is_empty() { format!("**{main}**") } else { format!("**{main}** ({})", others.join(", ")) }
}

/// Says what is there before.
fn setup(case: &Case, measured: &Measured<'_>) -> String {
    let first = measured.acts.first().and_then(|act| act.when.first()).map_or(u32::MAX, |when| when.line);
    let mut given: Vec<String> = Vec::new();
    for step in case.steps.iter().take_while(|step| step.line < first as usize || step.line < case.heading) {
        let words = whole(step);
        match given.last_mut().filter(|_| words.starts_with("whose ")) {
            Some(last) => *last += &format!(" {words}"),
            None => given.push(words),
        }
    }
    if given.is_empty() { String::new() } else { format!("*At first:* {}.\n", given.join("; ")) }
}

/// Returns a line in words, with its table or the objects below it.
fn whole(step: &StepLine) -> String {
    let words = line(&step.sentence(), true);
    if let Some(table) = &step.step.table {
        let rows: Vec<String> = table.rows.iter().map(|row| format!("`{}`", row.join(": "))).collect();
        return format!("{words} {}", rows.join(", "));
    }
    let Some(text) = &step.step.docstring else { return words };
    let objects = serde_yaml::Deserializer::from_str(text).filter_map(|document| {
        let object = serde_json::Value::deserialize(document).ok()?;
        let (kind, name) = (object["kind"].as_str()?.to_owned(), object["metadata"]["name"].as_str()?.to_owned());
        Some(format!("{kind} `{name}`"))
    });
    let objects: Vec<String> = objects.collect();
    match objects.len() {
        0 => words,
        _ => format!("{words} {}", list(&objects.iter().map(String::as_str).collect::<Vec<_>>())),
    }
}

fn table(case: &Case, act: &MeasuredAct) -> String {
    let words = |position: &Position| {
        let step = case.steps.iter().find(|step| step.line == position.line as usize);
        step.map_or_else(|| line(&position.text, true), whole)
    };
    let when: Vec<String> = act.when.iter().map(words).collect();
    let mut text = format!("\n*Then:* {}.\n", when.join("; "));
    if !act.rows.is_empty() {
        let heads: Vec<String> = act.columns.iter().map(|column| releases(column)).collect();
        let _ =
            write!(text, "\n| what happens | {} | by |\n|---|{}---|\n", heads.join(" | "), "---|".repeat(heads.len()));
        for row in &act.rows {
            let cell = |cell: &Option<Cell>| match cell {
                None => "–".to_owned(),
                Some(Cell { from, to, share, .. }) if *share < 1.0 => {
                    format!("{} (in {:.0} % of the runs)", range(*from, *to), (share * 100.0).clamp(1.0, 99.0))
                }
                Some(cell) => range(cell.from, cell.to),
            };
            let cells: Vec<String> = row.cells.iter().map(cell).collect();
            let _ = writeln!(text, "| {} | {} | {} |", row.text.replace('|', "\\|"), cells.join(" | "), row.by);
        }
    }
    for (head, lines) in [("And:", &act.apart), ("Meanwhile:", &act.meanwhile)] {
        if !lines.is_empty() {
            let _ = write!(text, "\n{head}\n\n");
            lines.iter().for_each(|what| text += &format!("- {}\n", capital(what)));
        }
    }
    text
}

/// Names scenarios, requirements and sources.
fn origin(suite: &Suite, measured: &Measured<'_>) -> String {
    let mut requirements: Vec<&str> = Vec::new();
    let mut sources: Vec<String> = Vec::new();
    let mut links = Vec::new();
    for (planned, own) in &measured.scenarios {
        let scenario = &planned.compiled.scenario;
        let of = if measured.scenarios.len() > 1 { format!(" ({})", releases(own)) } else { String::new() };
        let name = scenario.name.as_str();
        links.push(format!("[{name}](../../{}#L{}){of}", planned.path, scenario.position.line));
        for id in &planned.tags().requirements {
            if !requirements.contains(&id.as_str()) {
                requirements.push(id);
            }
        }
        let source = suite.sources.iter().find(|source| source.path == planned.path);
        let prose = source.map(|source| check_one(source, &Requirements::default()).prose).unwrap_or_default();
        for line in prose.iter().filter_map(|line| line.text.strip_prefix("Source: ")) {
            if !sources.iter().any(|own| own == line) {
                sources.push(line.to_owned());
            }
        }
    }
    let shows = if requirements.is_empty() { String::new() } else { format!(" · shows {}", list(&requirements)) };
    let sources = if sources.is_empty() { String::new() } else { format!("<br>Source: {}", sources.join("; ")) };
    format!("\n<sub>Scenario: {}{shows}{sources}</sub>\n", links.join(", "))
}

fn main<'a, 'b>(measured: &'b Measured<'a>) -> Option<&'b (&'a Planned, Vec<Release>)> {
    let is_default = |(_, own): &&(&Planned, Vec<Release>)| own.contains(&DEFAULT_RELEASE);
    measured.scenarios.iter().find(is_default).or_else(|| measured.scenarios.last())
}

/// Returns the case of the scenario that is told.
fn case_of(suite: &Suite, measured: &Measured<'_>) -> Option<Case> {
    let planned = main(measured)?.0;
    let source = suite.sources.iter().find(|source| source.path == planned.path)?;
    let cases = check_one(source, &Requirements::default()).cases;
    cases.into_iter().find(|case| case.id == planned.compiled.id)
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Prints neighbouring releases: `1.31`, `1.32 and 1.33`, `1.34 to 1.36`.
fn releases(own: &[Release]) -> String {
    let names: Vec<String> = own.iter().map(|release| release.minor_name()).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [first, .., last] => format!("{first} to {last}"),
    }
}

/// Returns the anchor of a heading, as GitHub makes it.
fn anchor(title: &str) -> String {
    let kept = title.to_lowercase();
    kept.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}
