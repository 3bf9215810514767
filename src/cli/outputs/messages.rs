//! The run as Cucumber's messages, an envelope a line: what HTML formatters and other tools of Cucumber read.
//!
//! Source: cucumber/messages, messages.schema.json (v34): its protocol, and the order in which envelopes come.
//! Ids are places and hashes of names, and instants are those of the cluster, virtual on the simulator: two runs of
//! the same write the same bytes. The cluster of each scenario begins anew, so scenarios overlap as if they ran side
//! by side.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use gherkin::Step;
use jiff::{SignedDuration, Timestamp};
use nodeproof_core::scenario::{Outcome, Position};
use nodeproof_core::sim::DEFAULT_START;
use regex::Regex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::html::picture_of;
use super::{Close, Form, JudgedScenario};
use crate::harness::{Planned, Suite, Verdict};
use crate::load::gherkin_document::{GherkinDocument, node_id, step_kind};
use crate::load::{Case, Problem};
use crate::picture::svg;
use crate::steps::{Sentence, catalogue, sentence_of};

/// The version of the schema that the envelopes keep to.
const PROTOCOL: &str = "34.2.1";
/// The id of the run.
const RUN: &str = "run";
/// How many pictures of what failed are attached.
const PICTURES_MAX: usize = 20;

/// A stream of messages that is being written.
#[derive(Debug)]
pub(super) struct Messages {
    path: PathBuf,
    file: BufWriter<File>,
    /// How many bytes it may still take; what does not fit is counted in `left_out`.
    room: usize,
    /// How much of it is kept for what fails.
    reserve: usize,
    left_out: usize,
    documents: BTreeMap<String, Arc<GherkinDocument>>,
    sentences: Vec<Sentence>,
    regexes: Vec<Option<Regex>>,
    told: BTreeSet<String>,
    names: BTreeMap<String, usize>,
    pictures: usize,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    has_failed: bool,
    broken: Option<String>,
}

/// What came of one step.
struct Done<'a> {
    status: &'static str,
    /// When it began and ended.
    from: Timestamp,
    to: Timestamp,
    message: &'a str,
    observed: String,
}

impl Messages {
    /// Makes the file, of so many bytes at most.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn create(path: &Path, room: usize) -> Result<Self, String> {
        let file = File::create(path).map_err(|error| unwritable(path, &error))?;
        let sentences = catalogue();
        let regexes = sentences.iter().map(|sentence| Regex::new(&sentence.regex).ok()).collect();
        Ok(Self {
            path: path.to_owned(),
            file: BufWriter::new(file),
            room,
            reserve: if room == usize::MAX { 0 } else { room / 2 },
            left_out: 0,
            documents: BTreeMap::new(),
            sentences,
            regexes,
            told: BTreeSet::new(),
            names: BTreeMap::new(),
            pictures: 0,
            first: None,
            last: None,
            has_failed: false,
            broken: None,
        })
    }

    /// Writes the end of the run.
    ///
    /// # Errors
    /// It cannot be written.
    fn write_end(mut self, close: &Close<'_>) -> Result<(), String> {
        if self.first.is_none() {
            self.begin(DEFAULT_START);
        }
        let mut finished = json!({
            "success": !self.has_failed && close.exit_code == 0, "testRunStartedId": RUN,
            "timestamp": timestamp(self.last.unwrap_or(DEFAULT_START)),
        });
        if self.left_out > 0 {
            finished["message"] = json!(format!("{} scenarios are left out, to keep the file small", self.left_out));
        }
        self.room = usize::MAX;
        self.write(&json!({ "testRunFinished": finished }));
        if let Err(error) = self.file.flush() {
            return Err(unwritable(&self.path, &error));
        }
        self.broken.map_or(Ok(()), Err)
    }

    /// Writes a scenario: what it is, then what came of each step.
    fn scenario<'a>(
        &mut self,
        planned: &Planned,
        name: &str,
        picture: Option<&str>,
        begin: Timestamp,
        results: impl FnOnce(&Case) -> Vec<Done<'a>>,
    ) {
        let Some(document) = self.documents.get(&planned.path).cloned() else { return };
        let Some(case) = document.cases.iter().find(|case| case.id == planned.compiled.id) else { return };
        let is_told = self.told.contains(&planned.path);
        let mut lines = Vec::new();
        if !is_told {
            lines.push(json!({"source": {
                "uri": planned.path, "data": document.text, "mediaType": "text/x.cucumber.gherkin+plain",
            }}));
            lines.push(json!({"gherkinDocument": document.document}));
        }
        let started = if self.first.is_none() { Some(begin) } else { None };
        lines.push(pickle(&document, case, planned, name));
        lines.push(self.test_case(case, name));
        let results = results(case);
        let end = results.iter().map(|result| result.to).max().unwrap_or(begin);
        lines.extend(executed(name, &results, picture, (begin, end)));
        let texts: Vec<String> = lines.iter().map(Value::to_string).collect();
        let size: usize = texts.iter().map(|text| text.len() + 1).sum();
        let is_failure = results.iter().any(|result| matches!(result.status, "FAILED" | "UNDEFINED"));
        if size > self.room.saturating_sub(if is_failure { 0 } else { self.reserve }) {
            self.left_out += 1;
            return;
        }
        if let Some(begin) = started {
            self.begin(begin);
        }
        self.told.insert(planned.path.clone());
        self.last = self.last.max(Some(end));
        texts.iter().for_each(|text| self.write_text(text));
    }

    fn begin(&mut self, at: Timestamp) {
        self.first = Some(at);
        self.write(&json!({"testRunStarted": {"id": RUN, "timestamp": timestamp(at)}}));
    }

    fn test_case(&self, case: &Case, name: &str) -> Value {
        let step = |(index, line): (usize, &crate::load::StepLine)| {
            let id = step_id(name, index);
            let found = sentence_of(&self.sentences, &line.step);
            let ids: Vec<String> = found.into_iter().map(definition).collect();
            let regex = found.and_then(|number| self.regexes[number].as_ref());
            let lists: Vec<Value> = regex.map(|regex| arguments(regex, &line.step)).into_iter().collect();
            json!({"id": id, "pickleStepId": id, "stepDefinitionIds": ids, "stepMatchArgumentsLists": lists})
        };
        let steps: Vec<Value> = case.steps.iter().enumerate().map(step).collect();
        json!({"testCase": {"id": short(name), "pickleId": short(name), "testRunStartedId": RUN, "testSteps": steps}})
    }

    fn write(&mut self, envelope: &Value) {
        self.write_text(&envelope.to_string());
    }

    fn write_text(&mut self, text: &str) {
        self.room = self.room.saturating_sub(text.len() + 1);
        if let Err(error) = writeln!(self.file, "{text}") {
            self.broken.get_or_insert(unwritable(&self.path, &error));
        }
    }
}

impl Form for Messages {
    fn load(&mut self, suite: &Suite) {
        let product = |name: &str, version: &str| json!({"name": name, "version": version});
        self.write(&json!({"meta": {
            "protocolVersion": PROTOCOL,
            "implementation": product("nodeproof", env!("CARGO_PKG_VERSION")),
            "runtime": json!({"name": "rust"}),
            "os": json!({"name": std::env::consts::OS}),
            "cpu": json!({"name": std::env::consts::ARCH}),
        }}));
        for (number, sentence) in self.sentences.clone().iter().enumerate() {
            let (uri, line) = sentence.source.rsplit_once(':').unwrap_or((&sentence.source, "1"));
            let location = json!({"line": line.parse().unwrap_or(1).max(1)});
            self.write(&json!({"stepDefinition": {
                "id": definition(number),
                "pattern": {"source": sentence.regex, "type": "REGULAR_EXPRESSION"},
                "sourceReference": {"uri": uri, "location": location},
            }}));
        }
        let documents = suite.sources.iter().filter_map(GherkinDocument::of);
        let named = |own: GherkinDocument| (own.path.clone(), Arc::new(own));
        self.documents = documents.map(named).collect();
    }

    fn problem(&mut self, problem: &Problem) {
        self.has_failed = true;
        // A mistake in a scenario is told with its step.
        if self.documents.contains_key(&problem.file) {
            return;
        }
        let mut source = json!({"uri": problem.file});
        if problem.line > 0 {
            source["location"] = json!({"line": problem.line, "column": problem.column.max(1)});
        }
        self.write(&json!({"parseError": {"source": source, "message": problem.to_string()}}));
    }

    fn broken(&mut self, planned: &Planned) {
        let flaw = planned.flaw();
        let line = planned.compiled.flaw.as_ref().map_or(0, |flaw| flaw.line);
        let begin = self.first.unwrap_or(DEFAULT_START);
        self.scenario(planned, &planned.name, None, begin, |case| {
            let at = case.steps.iter().position(|step| step.line == line).unwrap_or_default();
            let result = |index| Done {
                status: if index == at { "UNDEFINED" } else { "SKIPPED" },
                from: begin,
                to: begin,
                message: if index == at { &flaw } else { "" },
                observed: String::new(),
            };
            (0..case.steps.len()).map(result).collect()
        });
        self.has_failed = true;
    }

    fn verdict(&mut self, entry: &JudgedScenario<'_>) {
        let judged = entry.judged;
        let is_failure = judged.verdict.is_failure();
        self.has_failed |= is_failure;
        let begin = judged.outcome.as_ref().map_or_else(|| self.first.unwrap_or(DEFAULT_START), |own| own.start);
        let taken = self.names.entry(entry.name.to_owned()).or_default();
        *taken += 1;
        let name = match entry.seed.filter(|_| *taken > 1) {
            Some(seed) => format!("{} (seed {seed})", entry.name),
            None => entry.name.to_owned(),
        };
        let picture = if is_failure && self.pictures < PICTURES_MAX { picture_of(entry) } else { None };
        self.pictures += usize::from(picture.is_some());
        let drawn = picture.map(|picture| svg(&picture));
        self.scenario(entry.planned, &name, drawn.as_deref(), begin, |case| results(entry, case, begin));
    }

    fn close(self: Box<Self>, close: &Close<'_>) -> Result<(), String> {
        self.write_end(close)
    }
}

fn pickle(document: &GherkinDocument, case: &Case, planned: &Planned, name: &str) -> Value {
    let mut nodes = vec![node_id(&planned.path, case.heading)];
    if case.row.is_some() {
        nodes.push(node_id(&planned.path, case.line));
    }
    let tags = case.tags.all.iter().map(|tag| format!("@{tag}")).filter_map(|tag| {
        let id = document.tag_id(case, &tag)?;
        Some(json!({"name": tag, "astNodeId": id}))
    });
    let step = |(index, line): (usize, &crate::load::StepLine)| {
        let mut origin = vec![node_id(&planned.path, line.line)];
        if case.row.is_some() && line.line > case.heading {
            origin.push(node_id(&planned.path, case.line));
        }
        let mut step = json!({
            "id": step_id(name, index), "astNodeIds": origin, "type": step_kind(line.step.ty), "text": line.step.value,
        });
        if let Some(argument) = argument(&line.step) {
            step["argument"] = argument;
        }
        step
    };
    json!({"pickle": {
        "id": short(name), "uri": planned.path, "name": pickle_name(case, name), "language": "en",
        "location": {"line": case.line, "column": case.column}, "astNodeIds": nodes,
        "tags": tags.collect::<Vec<_>>(), "steps": case.steps.iter().enumerate().map(step).collect::<Vec<_>>(),
    }})
}

/// Returns the name of the scenario; a row whose values are not in it, and a further seed, are told apart.
fn pickle_name(case: &Case, name: &str) -> String {
    name.rsplit_once(" (seed ").map_or_else(|| case.name.clone(), |(_, seed)| format!("{} (seed {seed}", case.name))
}

fn argument(step: &Step) -> Option<Value> {
    if let Some(content) = &step.docstring {
        return Some(json!({"docString": {"content": content}}));
    }
    let table = step.table.as_ref()?;
    let row =
        |cells: &Vec<String>| json!({"cells": cells.iter().map(|value| json!({ "value": value })).collect::<Vec<_>>()});
    Some(json!({"dataTable": {"rows": table.rows.iter().map(row).collect::<Vec<_>>()}}))
}

/// Returns the parameters of a step, with their places in UTF-16 units, as the messages count.
fn arguments(regex: &Regex, step: &Step) -> Value {
    let captures = regex.captures(&step.value);
    let groups = captures.iter().flat_map(|captures| captures.iter().skip(1)).flatten();
    let group = |found: regex::Match<'_>| {
        let start = step.value[..found.start()].encode_utf16().count();
        json!({"group": {"children": [], "start": start, "value": found.as_str()}})
    };
    json!({"stepMatchArguments": groups.map(group).collect::<Vec<_>>()})
}

/// Tells what came of each step: a line without a verdict of its own held if a later line was judged.
fn results<'a>(entry: &JudgedScenario<'a>, case: &Case, begin: Timestamp) -> Vec<Done<'a>> {
    let (judged, scenario) = (entry.judged, &entry.planned.compiled.scenario);
    let text = judged.text.as_str();
    let Some(outcome) = judged.outcome.as_ref().filter(|_| judged.verdict != Verdict::Unsupported) else {
        let why = if judged.verdict.is_failure() { "FAILED" } else { "SKIPPED" };
        let first = |index| if index == 0 { (why, text) } else { ("SKIPPED", "") };
        let result = |(status, message)| Done { status, from: begin, to: begin, message, observed: String::new() };
        return (0..case.steps.len()).map(first).map(result).collect();
    };
    let act_of = |line: usize| {
        let is_here = |position: &Position| position.line as usize == line;
        scenario.acts.iter().position(|act| {
            act.when.iter().any(|when| is_here(&when.position))
                || act.expectations.iter().any(|expectation| is_here(&expectation.position))
        })
    };
    let verdict_of = |line: usize| {
        let own = outcome.steps.iter().filter(|step| step.position.line as usize == line);
        own.max_by_key(|step| (step.verdict, step.at))
    };
    let mut results: Vec<Option<Done<'a>>> = Vec::new();
    for step in &case.steps {
        let zero = act_of(step.line).and_then(|act| outcome.zeros.get(act).copied());
        results.push(verdict_of(step.line).map(|verdict| {
            let from = zero.unwrap_or(begin);
            Done {
                status: if Verdict::from(verdict.verdict).is_failure() { "FAILED" } else { "PASSED" },
                from,
                to: from + verdict.at.max(SignedDuration::ZERO),
                message: "",
                observed: if zero.is_some() { verdict.observed.clone() } else { String::new() },
            }
        }));
    }
    let last = results.iter().rposition(Option::is_some);
    let is_over = |index| judged.verdict == Verdict::Passed || last.is_some_and(|last| index < last);
    let mut results: Vec<Done<'a>> = results
        .into_iter()
        .enumerate()
        .map(|(index, result)| {
            let status = if is_over(index) { "PASSED" } else { "SKIPPED" };
            let none = Done { status, from: begin, to: begin, message: "", observed: String::new() };
            result.unwrap_or(none)
        })
        .collect();
    if judged.verdict.is_failure() {
        blame(entry, case, &mut results, outcome);
    }
    results
}

/// Gives the lines that did not hold their texts: the first the whole explanation, the others what was seen.
fn blame<'a>(entry: &JudgedScenario<'a>, case: &Case, results: &mut [Done<'a>], outcome: &Outcome) {
    let Some(failure) = &entry.judged.failure else { return };
    let index_of = |position: &Position| case.steps.iter().position(|step| step.line == position.line as usize);
    for missed in &failure.also {
        if let Some(result) = index_of(&missed.step).and_then(|index| results.get_mut(index)) {
            result.status = "FAILED";
            result.message = &missed.observed;
        }
    }
    let first = index_of(&failure.step).unwrap_or_default();
    if let Some(result) = results.get_mut(first) {
        result.status = "FAILED";
        result.message = &entry.judged.text;
        result.to = result.to.max(outcome.start);
    }
}

/// Returns the envelopes of what was done.
fn executed(
    name: &str,
    results: &[Done<'_>],
    picture: Option<&str>,
    (begin, end): (Timestamp, Timestamp),
) -> Vec<Value> {
    let own = short(name);
    let mut lines = vec![json!({"testCaseStarted": {
        "id": own, "testCaseId": own, "attempt": 0, "timestamp": timestamp(begin),
    }})];
    let mut picture = picture;
    for (index, result) in results.iter().enumerate() {
        let id = step_id(name, index);
        lines.push(json!({"testStepStarted": {
            "testCaseStartedId": own, "testStepId": id, "timestamp": timestamp(result.from),
        }}));
        let attach = |body: &str, encoding: &str, media: &str| {
            json!({"attachment": {
                "testCaseStartedId": own, "testStepId": id, "body": body, "contentEncoding": encoding,
                "mediaType": media, "timestamp": timestamp(result.to),
            }})
        };
        if !result.observed.is_empty() && result.observed != "done" && result.message.is_empty() {
            lines.push(attach(&result.observed, "IDENTITY", "text/x.cucumber.log+plain"));
        }
        if result.status == "FAILED" {
            let drawn = picture.take().map(|drawn| BASE64.encode(drawn));
            lines.extend(drawn.map(|drawn| attach(&drawn, "BASE64", "image/svg+xml")));
        }
        let taken = result.to.duration_since(result.from).max(SignedDuration::ZERO);
        let mut told = json!({
            "status": result.status, "duration": {"seconds": taken.as_secs(), "nanos": taken.subsec_nanos()},
        });
        if !result.message.is_empty() {
            told["message"] = json!(result.message);
        }
        lines.push(json!({"testStepFinished": {
            "testCaseStartedId": own, "testStepId": id, "testStepResult": told, "timestamp": timestamp(result.to),
        }}));
    }
    lines.push(json!({"testCaseFinished": {
        "testCaseStartedId": own, "timestamp": timestamp(end), "willBeRetried": false,
    }}));
    lines
}

fn step_id(name: &str, index: usize) -> String {
    format!("{}/{}", short(name), index + 1)
}

/// Returns the id of a scenario: the first digits of a hash of its name, since each of its steps repeats it.
fn short(name: &str) -> String {
    Sha256::digest(name).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

fn definition(number: usize) -> String {
    format!("sentence-{number}")
}

fn timestamp(at: Timestamp) -> Value {
    json!({"seconds": at.as_second(), "nanos": at.subsec_nanosecond().max(0)})
}

fn unwritable(path: &Path, error: &std::io::Error) -> String {
    format!("{}: the messages cannot be written: {error}", path.display())
}
