//! The records of `run --json`, an object a line: `problem`, `scenario` and at the end `summary`.
//!
//! docs/run.schema.json says the same for programs, and a test holds the two together. Invariant: within a version of
//! the schema fields are added and none changes or goes.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use nodeproof_core::scenario::{Mismatch, Position};
use serde_json::{Map, Value, json};

use super::{Close, Form, JudgedScenario};
use crate::harness::{Planned, Verdict};
use crate::load::Problem;

/// The name and the version of the schema, which each record has.
const SCHEMA: &str = "nodeproof.run/v1";
/// The result of a scenario with a problem in its text.
const BROKEN: &str = "broken";
/// A part of the figure that steps report which measure bytes.
const FIGURE: &str = " bytes a minute ";

/// The records in a file.
#[derive(Debug)]
pub(super) struct RecordFile {
    path: PathBuf,
    file: BufWriter<File>,
    /// What went wrong first.
    broken: Option<String>,
}

impl RecordFile {
    /// Makes the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn create(path: &Path) -> Result<Self, String> {
        let file = File::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file), broken: None })
    }

    fn write(&mut self, record: &Value) {
        if let Err(error) = writeln!(self.file, "{record}") {
            self.broken.get_or_insert(format!("{}: it cannot be written: {error}", self.path.display()));
        }
    }
}

impl Form for RecordFile {
    fn problem(&mut self, own: &Problem) {
        self.write(&problem(own));
    }

    fn broken(&mut self, planned: &Planned) {
        self.write(&broken(planned));
    }

    fn verdict(&mut self, entry: &JudgedScenario<'_>) {
        self.write(&scenario(entry));
    }

    fn close(mut self: Box<Self>, close: &Close<'_>) -> Result<(), String> {
        self.write(&summary(close));
        let flushed = self.file.flush().map_err(|error| format!("{}: {error}", self.path.display()));
        self.broken.map_or(flushed, Err)
    }
}

/// Returns the record of a problem of a file.
pub(super) fn problem(problem: &Problem) -> Value {
    let mut record = begin("problem");
    record.insert("file".into(), json!(problem.file));
    if problem.line > 0 {
        record.insert("line".into(), json!(problem.line));
        record.insert("column".into(), json!(problem.column));
    }
    record.insert("message".into(), json!(problem.message));
    if let Some(row) = &problem.row {
        record.insert("row".into(), json!(row));
    }
    record.insert("help".into(), json!(problem.help));
    Value::Object(record)
}

/// Returns the record of a scenario that cannot be run, since there is a problem in its text.
pub(super) fn broken(planned: &Planned) -> Value {
    let mut record = of_scenario(planned, &planned.name);
    record.insert("result".into(), json!(BROKEN));
    record.insert("reason".into(), json!(planned.flaw()));
    Value::Object(record)
}

/// Returns the record of a scenario that would be run.
pub(in crate::cli) fn listed(planned: &Planned, skipped: Option<&str>) -> Value {
    let mut record = of_scenario(planned, &planned.name);
    record.insert("record".into(), json!("listed"));
    if let Some(why) = skipped {
        record.insert("reason".into(), json!(why));
    }
    Value::Object(record)
}

/// Returns the record of a scenario with its verdict.
pub(super) fn scenario(entry: &JudgedScenario<'_>) -> Value {
    let (judged, outcome) = (entry.judged, entry.judged.outcome.as_ref());
    let mut record = of_scenario(entry.planned, entry.name);
    record.insert("backend".into(), json!(entry.backend));
    if let Some(context) = entry.context {
        record.insert("context".into(), json!(context));
    }
    record.insert("k8s".into(), json!(entry.k8s));
    if let Some(seed) = entry.seed {
        record.insert("seed".into(), json!(seed));
    }
    record.insert("result".into(), json!(judged.verdict.word()));
    if judged.verdict != Verdict::Passed {
        record.insert("reason".into(), json!(judged.text));
    }
    if let Some(failure) = &judged.failure {
        record.insert("failure".into(), in_parts(failure));
    }
    let steps = outcome.into_iter().flat_map(|outcome| &outcome.steps);
    let figures: Vec<Value> = steps
        .filter(|step| step.observed.contains(FIGURE))
        .map(|step| json!({"line": step.position.line, "observed": step.observed}))
        .collect();
    if !figures.is_empty() {
        record.insert("figures".into(), Value::Array(figures));
    }
    let tolerance = outcome.map(|outcome| outcome.tolerance.as_str()).filter(|text| !text.is_empty());
    if let Some(tolerance) = tolerance {
        record.insert("tolerance".into(), json!(tolerance));
    }
    record.insert("virtualSeconds".into(), json!(judged.virtual_time.as_secs_f64()));
    record.insert("wallSeconds".into(), json!(judged.wall_time.as_secs_f64()));
    Value::Object(record)
}

/// Returns the record of the whole run.
pub(super) fn summary(close: &Close<'_>) -> Value {
    let mut record = begin("summary");
    record.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
    record.insert("backend".into(), json!(close.on.backend));
    record.insert("k8s".into(), json!(close.on.k8s));
    for (word, count) in close.tally.counts() {
        record.insert(word.into(), json!(count));
    }
    record.insert(BROKEN.into(), json!(close.ended.broken));
    record.insert("notBegun".into(), json!(close.ended.not_begun));
    record.insert("problems".into(), json!(close.ended.problems));
    record.insert("wallSeconds".into(), json!(close.ended.seconds));
    record.insert("exitCode".into(), json!(close.exit_code));
    Value::Object(record)
}

fn begin(kind: &str) -> Map<String, Value> {
    let mut record = Map::new();
    record.insert("schema".into(), json!(SCHEMA));
    record.insert("record".into(), json!(kind));
    record
}

fn of_scenario(planned: &Planned, name: &str) -> Map<String, Value> {
    let mut record = begin("scenario");
    let scenario = &planned.compiled.scenario;
    record.insert("name".into(), json!(name));
    record.insert("feature".into(), json!(scenario.feature.as_str()));
    if let Some(rule) = &scenario.rule {
        record.insert("rule".into(), json!(rule.as_str()));
    }
    record.insert("scenario".into(), json!(scenario.name.as_str()));
    record.insert("file".into(), json!(planned.path));
    record.insert("line".into(), json!(scenario.position.line));
    let tags: Vec<String> = planned.tags().all.iter().map(|tag| format!("@{tag}")).collect();
    record.insert("tags".into(), json!(tags));
    record.insert("requirements".into(), json!(planned.tags().requirements));
    record
}

fn in_parts(failure: &Mismatch) -> Value {
    let mut told = missed(&failure.step, &failure.expected, &failure.observed);
    let also = failure.also.iter().map(|other| Value::Object(missed(&other.step, &other.expected, &other.observed)));
    told.insert("why".into(), json!(failure.why));
    told.insert("last".into(), json!(failure.last));
    told.insert("also".into(), also.collect());
    told.insert("replay".into(), json!(failure.replay));
    Value::Object(told)
}

fn missed(step: &Position, expected: &str, observed: &str) -> Map<String, Value> {
    let mut told = Map::new();
    told.insert("file".into(), json!(step.file.as_str()));
    told.insert("line".into(), json!(step.line));
    told.insert("column".into(), json!(step.column));
    told.insert("step".into(), json!(step.text.as_str()));
    told.insert("expected".into(), json!(expected));
    told.insert("observed".into(), json!(observed));
    told
}
