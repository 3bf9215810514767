//! The JUnit report of a run: a suite for each feature file, a test case for each scenario.
//!
//! A line that did not hold is a failure; what does not load and a scenario about which nothing can be said are errors;
//! what was not run is skipped, with the reason. Release, seed and tags are properties of the test case.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Seek as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Close, Form, JudgedScenario};
use crate::harness::{Planned, Verdict};
use crate::load::Problem;

/// A report that is being made.
#[derive(Debug)]
pub(super) struct JunitReport {
    path: PathBuf,
    file: File,
    /// Feature files with their test cases.
    suites: BTreeMap<String, TestSuite>,
    /// How often a name was taken, for runs under several seeds.
    names: BTreeMap<String, usize>,
}

impl JunitReport {
    /// Makes the file. Until the report is written it says that the run has not ended.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn create(path: &Path) -> Result<Self, String> {
        let file = File::create(path).map_err(|error| unwritable(path, &error))?;
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("unfinished").set_message("the run has not come to its end");
        let mut report = Self { path: path.to_owned(), file, suites: BTreeMap::new(), names: BTreeMap::new() };
        report.add("nodeproof run", TestCase::new("nodeproof run", status));
        report.store(0.0)?;
        report.suites.clear();
        Ok(report)
    }

    /// Writes the report.
    ///
    /// # Errors
    /// It cannot be written.
    fn write(mut self, seconds: f64) -> Result<(), String> {
        let emptied = self.file.set_len(0).and_then(|()| self.file.rewind());
        emptied.map_err(|error| unwritable(&self.path, &error))?;
        self.store(seconds)
    }

    fn store(&self, seconds: f64) -> Result<(), String> {
        let mut report = Report::new("nodeproof");
        report.set_time(Duration::from_secs_f64(seconds));
        report.add_test_suites(self.suites.values().cloned());
        report.serialize(&self.file).map_err(|error| unwritable(&self.path, &error))
    }

    fn add(&mut self, file: &str, mut case: TestCase) {
        case.set_classname(file);
        let suite = self.suites.entry(file.to_owned()).or_insert_with(|| TestSuite::new(file));
        let time = suite.time.unwrap_or_default() + case.time.unwrap_or_default();
        suite.set_time(time);
        suite.add_test_case(case);
    }
}

impl Form for JunitReport {
    fn problem(&mut self, problem: &Problem) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("problem").set_message(problem.message.as_str()).set_description(problem.to_string());
        let mut case = TestCase::new(problem.place(), status);
        place(&mut case, &problem.file, problem.line);
        self.add(&problem.file, case);
    }

    fn broken(&mut self, planned: &Planned) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("broken").set_message(planned.flaw());
        let mut case = TestCase::new(planned.name.as_str(), status);
        place(&mut case, &planned.path, planned.compiled.scenario.position.line as usize);
        self.add(&planned.path, case);
    }

    fn verdict(&mut self, entry: &JudgedScenario<'_>) {
        let planned = entry.planned;
        let taken = self.names.entry(entry.name.to_owned()).or_default();
        *taken += 1;
        let name = match entry.seed.filter(|_| *taken > 1) {
            Some(seed) => format!("{} (seed {seed})", entry.name),
            None => entry.name.to_owned(),
        };
        let mut case = TestCase::new(name, status(entry));
        case.set_time(entry.judged.wall_time);
        place(&mut case, &planned.path, planned.compiled.scenario.position.line as usize);
        case.add_property(("backend", entry.backend));
        case.add_property(("k8s", entry.k8s.as_str()));
        if let Some(seed) = entry.seed {
            case.add_property(("seed", seed.to_string().as_str()));
        }
        let requirements = planned.tags().requirements.iter();
        case.add_properties(requirements.map(|id| Property::new("requirement", id.as_str())));
        self.add(&planned.path, case);
    }

    fn close(self: Box<Self>, close: &Close<'_>) -> Result<(), String> {
        self.write(close.ended.seconds)
    }
}

fn status(entry: &JudgedScenario<'_>) -> TestCaseStatus {
    let judged = entry.judged;
    let kind = match judged.verdict {
        Verdict::Passed => return TestCaseStatus::success(),
        Verdict::Skipped | Verdict::Unsupported => {
            let mut status = TestCaseStatus::skipped();
            let why = if judged.verdict == Verdict::Skipped { "" } else { "unsupported: " };
            status.set_message(format!("{why}{}", judged.text));
            return status;
        }
        Verdict::Failed => NonSuccessKind::Failure,
        Verdict::Inconclusive => NonSuccessKind::Error,
    };
    let mut status = TestCaseStatus::non_success(kind);
    let first = judged.text.lines().next().unwrap_or_default();
    let message = judged.failure.as_ref().map(|failure| {
        let place = format!("{}:{}: {}", failure.step.file, failure.step.line, failure.step.text);
        format!("{place}: {}", failure.observed.lines().next().unwrap_or_default())
    });
    status.set_type(judged.verdict.word()).set_message(message.unwrap_or_else(|| first.to_owned()));
    status.set_description(judged.text.as_str());
    status
}

/// Says where a test case stands, by the attributes that readers of such reports know.
fn place(case: &mut TestCase, file: &str, line: usize) {
    case.extra.insert("file".into(), file.into());
    if line > 0 {
        case.extra.insert("line".into(), line.to_string().into());
    }
}

fn unwritable(path: &Path, error: &impl std::fmt::Display) -> String {
    format!("{}: the JUnit report cannot be written: {error}", path.display())
}
