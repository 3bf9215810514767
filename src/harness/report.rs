//! The output of a run for programs: a JSON line for each scenario, and report files. Two processes write the same
//! files.

use std::fs;
use std::io;
use std::path::Path;

use nodeproof_core::scenario::Outcome;
use serde_json::{Map, Value, json};

use super::options::{SuiteOptions, release_name};
use super::planned::Planned;
use super::scenario::{Judged, Verdict};

use super::yaml;

/// A part of the figure that steps report which measure bytes.
const FIGURE: &str = " bytes a minute ";

/// Returns the JSON line of a scenario.
#[must_use]
pub fn json_line(planned: &Planned, options: &SuiteOptions, judged: &Judged) -> String {
    let mut line = Map::new();
    line.insert("name".into(), json!(planned.name));
    line.insert("backend".into(), json!(options.runner.backend().name()));
    line.insert("k8s".into(), json!(release_name(planned.release(options))));
    line.insert("seed".into(), json!(options.seed));
    line.insert("result".into(), json!(judged.verdict.word()));
    if judged.verdict != Verdict::Passed {
        line.insert("reason".into(), json!(judged.text));
    }
    let figures =
        judged.outcome.iter().flat_map(|outcome| &outcome.steps).filter(|step| step.observed.contains(FIGURE));
    let figures: Vec<Value> =
        figures.map(|step| json!({"line": step.position.line, "observed": step.observed})).collect();
    if !figures.is_empty() {
        line.insert("figures".into(), Value::Array(figures));
    }
    let tolerance = judged.outcome.as_ref().map(|outcome| outcome.tolerance.as_str()).filter(|text| !text.is_empty());
    if let Some(tolerance) = tolerance {
        line.insert("tolerance".into(), json!(tolerance));
    }
    line.insert("virtualSeconds".into(), json!(judged.virtual_time.as_secs_f64()));
    line.insert("wallSeconds".into(), json!(judged.wall_time.as_secs_f64()));
    Value::Object(line).to_string()
}

/// Writes trace (if it was kept), decisions and histories of a scenario: `DIR/area/topic/scenario.trace.jsonl` and so
/// on. Nothing in them depends on the wall clock.
///
/// # Errors
/// The directory cannot be written.
pub fn write_report(directory: &Path, planned: &Planned, options: &SuiteOptions, outcome: &Outcome) -> io::Result<()> {
    let mut parts: Vec<&str> = planned.name.split("::").skip(1).collect();
    let last = parts.split_off(2.min(parts.len())).join(".");
    let directory = parts.iter().fold(directory.to_owned(), |path, part| path.join(part));
    fs::create_dir_all(&directory)?;
    let write = |what: &str, text: String| fs::write(directory.join(format!("{last}.{what}")), text);
    let lines = |lines: Vec<String>| lines.into_iter().map(|line| line + "\n").collect::<String>();
    if options.trace {
        write("trace.jsonl", lines(outcome.trace.iter().map(|line| line.json().to_string()).collect()))?;
    }
    write("decisions.jsonl", lines(outcome.decisions.iter().map(|line| line.json().to_string()).collect()))?;
    let histories: Vec<String> = outcome
        .histories
        .to_vec()
        .iter()
        .map(|history| format!("# {} {}\n{}", history.object.kind, history.object.key, yaml::print(&history.json())))
        .collect();
    write("history.yaml", histories.join(""))
}
