//! Several answers side by side: a column for each release, with what holds under all of its seeds.
//!
//! Inputs: answers to one question, those of a release together. Outputs: text, a row for each thing that can differ.

use std::collections::BTreeSet;
use std::fmt::{Display, Write as _};

use jiff::SignedDuration;
use nodeproof_core::objects::Text;

use super::answer::{Answer, NodeLine, Sum, WorkloadLine};
use super::text::{LINES, left_out, range, workload};

/// The answers of one release.
type Column<'a> = &'a [Answer];

/// Prints several answers side by side.
#[must_use]
pub fn compared(answers: &[Answer]) -> String {
    let columns: Vec<Column<'_>> = answers.chunk_by(|one, other| one.k8s == other.k8s).collect();
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    let mut row = |name: &str, cell: &dyn Fn(Column<'_>) -> String| {
        rows.push((name.to_owned(), columns.iter().map(|column| cell(column)).collect()));
    };
    row("Kubernetes", &|column| column[0].k8s.clone());
    if columns.iter().any(|column| column.len() > 1) {
        row("Seeds", &|column| between(column.iter().map(|answer| answer.seed)));
    }
    if answers.iter().any(|answer| answer.how.is_maintenance()) {
        row("Nodes drained", &|column| nodes(column, |line| line.drained));
    }
    row("Nodes not ready", &|column| nodes(column, |line| line.not_ready));
    row("Nodes with a NoExecute taint", &|column| nodes(column, |line| line.tainted));
    row("Pods deleted", &|column| pods(column, |answer| &answer.deleted));
    row("Pods gone", &|column| pods(column, |answer| &answer.gone));
    row("Pods ready in their place", &|column| pods(column, |answer| &answer.replaced));
    row("Nodes ready again", &|column| nodes(column, |line| line.ready));
    let kinds: BTreeSet<&str> = answers.iter().flat_map(|answer| &answer.stuck).map(|stuck| &*stuck.what).collect();
    for kind in kinds {
        let count = |answer: &Answer| {
            answer.stuck.iter().filter(|stuck| stuck.what == kind).map(|stuck| stuck.count).sum::<usize>()
        };
        row(&format!("Pods {kind}"), &|column| between(column.iter().map(count)));
    }
    let fell: BTreeSet<&(Text, Text, Text)> = lines(answers).filter(|line| line.least.is_some()).map(key).collect();
    for own in fell.into_iter().take(LINES) {
        let is_own = |line: &&WorkloadLine| key(line) == own;
        let Some(line) = lines(answers).find(is_own) else { continue };
        let name = format!("Least ready of {} of {}", line.before, workload(line));
        let least = |line: &WorkloadLine| line.least.map_or(line.before, |(least, _)| least);
        row(&name, &|column| between(lines(column).filter(is_own).map(least)));
    }
    print(&rows) + &left_out(answers.iter().flat_map(|answer| &answer.left_out))
}

fn lines<'a>(answers: Column<'a>) -> impl Iterator<Item = &'a WorkloadLine> + Clone {
    answers.iter().flat_map(|answer| &answer.workloads)
}

fn key(line: &WorkloadLine) -> &(Text, Text, Text) {
    &line.workload
}

fn print(rows: &[(String, Vec<String>)]) -> String {
    let length = |text: &String| text.chars().count();
    let name = rows.iter().map(|(name, _)| length(name)).max().unwrap_or(0);
    let cell = rows.iter().flat_map(|(_, cells)| cells).map(length).max().unwrap_or(0) + 3;
    let mut text = String::new();
    for (row, cells) in rows {
        let cells: String = cells.iter().map(|text| format!("{text:>cell$}")).collect();
        let _ = writeln!(text, "  {row:<name$}{cells}");
    }
    text
}

/// Returns the least and the most of several numbers: `4`, `4 to 6`.
fn between<T: Ord + Copy + Display>(all: impl Iterator<Item = T> + Clone) -> String {
    match all.clone().min().zip(all.max()) {
        Some((least, most)) if least < most => format!("{least} to {most}"),
        Some((least, _)) => least.to_string(),
        None => String::new(),
    }
}

fn nodes(column: Column<'_>, of: fn(&NodeLine) -> Option<SignedDuration>) -> String {
    span(column.iter().flat_map(|answer| &answer.nodes).filter_map(of)).unwrap_or_else(|| String::from("never"))
}

fn pods(column: Column<'_>, of: fn(&Answer) -> &Sum) -> String {
    let span = span(column.iter().flat_map(|answer| &of(answer).instants).copied());
    let count = between(column.iter().map(|answer| of(answer).count()));
    span.map_or_else(|| String::from("none"), |span| format!("{count}, {span}"))
}

fn span(instants: impl Iterator<Item = SignedDuration>) -> Option<String> {
    let all: Vec<SignedDuration> = instants.collect();
    all.iter().min().zip(all.iter().max()).map(|(first, last)| range(*first, *last))
}
