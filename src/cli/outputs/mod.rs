//! What `run` writes beside its text: JSON records, annotations of a pull request, and files of several forms.
//!
//! Inputs: problems, verdicts in their order, and the end of the run. Outputs: lines on standard output, and files.
//! Each [`Form`] is a module of its own that knows nothing of the others; `--report` is all of them. Invariants: a file
//! that cannot be written is told before anything is run; every form tells of what does not load as well.

mod annotations;
mod conformance;
mod html;
mod junit;
mod markdown;
mod messages;
mod records;
mod report;

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use self::conformance::ConformanceReport;
pub(super) use self::conformance::SCHEMA;
use self::html::{HtmlReport, SvgFile};
use self::junit::JunitReport;
use self::markdown::JobSummary;
use self::messages::Messages;
pub(super) use self::records::listed;
use self::report::{Limit, ReportDir};
use super::count::Ended;
use super::output_file;
use super::tally::Tally;
use super::terminal::{line, note};
use crate::harness::{Judged, Planned, Suite};
use crate::load::Problem;

/// Says that a file cannot be written.
fn unwritable(path: &Path, error: &std::io::Error) -> String {
    format!("{}: it cannot be written: {error}", path.display())
}

/// The service whose annotations are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Annotations {
    /// Workflow commands of GitHub Actions.
    Github,
    /// None, also on GitHub.
    None,
}

/// Options for output that programs read.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Output for programs (docs/ci.md)")]
pub(super) struct OutputArgs {
    /// Print one JSON object a line: for each problem of a file, for each scenario, and at the end for the run
    #[arg(long)]
    pub(super) json: bool,
    /// Write a JUnit report
    #[arg(long, value_name = "FILE", value_parser = output_file())]
    junit: Option<PathBuf>,
    /// Write what holds of each requirement; `nodeproof verify FILE` runs it again and compares
    #[arg(long, value_name = "FILE", value_parser = output_file(), conflicts_with = "seeds")]
    conformance: Option<PathBuf>,
    /// Write the run as one HTML file: what failed first, with pictures of what happened when
    #[arg(long, value_name = "FILE", value_parser = output_file())]
    html: Option<PathBuf>,
    /// Draw the one scenario that is run: what happened when, and what was expected
    #[arg(long, value_name = "FILE", value_parser = output_file())]
    svg: Option<PathBuf>,
    /// Write Cucumber's messages, an envelope a line: its formatters read them
    #[arg(long, value_name = "FILE", value_parser = output_file())]
    messages: Option<PathBuf>,
    /// Print annotations for the lines that did not hold; default: github where GITHUB_ACTIONS is true
    #[arg(long, value_name = "SERVICE", value_enum)]
    annotations: Option<Annotations>,
    /// Write a summary of the run in Markdown; default: GITHUB_STEP_SUMMARY, to which it is added
    #[arg(long, value_name = "FILE", value_parser = output_file())]
    summary: Option<PathBuf>,
    /// Write all forms, and of each scenario trace, decisions and histories, below this directory; its index.html leads
    /// to them
    #[arg(long, value_name = "DIR", value_parser = output_file())]
    pub(super) report: Option<PathBuf>,
    /// How large the report may become, in MB; none is without limit
    #[arg(long, value_name = "MB", default_value = "20", requires = "report")]
    report_limit: Limit,
}

impl OutputArgs {
    /// Tells whether pictures of the scenarios are asked for.
    pub(super) const fn draws(&self) -> bool {
        self.html.is_some() || self.svg.is_some() || self.report.is_some()
    }

    /// Returns the options that ask for a file.
    pub(super) fn files(&self) -> Vec<&'static str> {
        let files = [
            ("--junit", &self.junit),
            ("--conformance", &self.conformance),
            ("--html", &self.html),
            ("--svg", &self.svg),
            ("--messages", &self.messages),
            ("--summary", &self.summary),
            ("--report", &self.report),
        ];
        files.into_iter().filter(|(_, file)| file.is_some()).map(|(option, _)| option).collect()
    }

    /// Refuses to draw several runs into one file, and leaves none.
    ///
    /// # Errors
    /// A picture is asked for, and there are several scenarios to be run, or several seeds.
    pub(super) fn refuse_several(&self, runs: usize, has_seeds: bool) -> Result<(), String> {
        let Some(path) = self.svg.as_ref().filter(|_| runs > 1) else { return Ok(()) };
        if path.is_file() {
            std::fs::remove_file(path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        let remedy = if has_seeds { "name one, with one --seed" } else { "name it with --only or FILE:LINE" };
        Err(format!("--svg draws one run of one scenario, and this would be {runs}: {remedy}"))
    }
}

/// A scenario with its verdict, and what it ran on.
#[derive(Debug)]
pub(super) struct JudgedScenario<'a> {
    /// The scenario.
    pub(super) planned: &'a Planned,
    /// The name of its trial.
    pub(super) name: &'a str,
    /// What it ran on.
    pub(super) backend: &'a str,
    /// The context of the cluster, if it was named.
    pub(super) context: Option<&'a str>,
    /// The release.
    pub(super) k8s: String,
    /// The seed, where there is one.
    pub(super) seed: Option<u64>,
    /// The verdict.
    pub(super) judged: &'a Judged,
    /// Whether it is told to people: false under further seeds.
    pub(super) is_news: bool,
}

/// What a run was on.
#[derive(Debug)]
pub(super) struct Closing<'a> {
    /// What it ran on.
    pub(super) backend: &'a str,
    /// The release.
    pub(super) k8s: String,
    /// What it was told: `paths`, `set` and `tags`.
    pub(super) told: serde_json::Value,
}

/// How a run ended.
#[derive(Debug)]
struct Close<'a> {
    on: &'a Closing<'a>,
    tally: &'a Tally,
    ended: &'a Ended,
    exit_code: u8,
}

/// A form in which a run is told: a file that is made while scenarios are judged.
trait Form: std::fmt::Debug {
    /// Takes what is to be run.
    fn load(&mut self, _suite: &Suite) {}

    /// Takes a problem of a file.
    fn problem(&mut self, _problem: &Problem) {}

    /// Takes a scenario that cannot be run.
    fn broken(&mut self, _planned: &Planned) {}

    /// Takes a verdict.
    fn verdict(&mut self, entry: &JudgedScenario<'_>);

    /// Writes what is left to write.
    ///
    /// # Errors
    /// It cannot be written.
    fn close(self: Box<Self>, close: &Close<'_>) -> Result<(), String>;
}

/// The outputs of a run.
#[derive(Debug)]
pub(super) struct Outputs {
    json: bool,
    annotations: Annotations,
    forms: Vec<Box<dyn Form>>,
    report: Option<ReportDir>,
}

impl Outputs {
    /// Opens what is asked for.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn open(args: &OutputArgs, has_seeds: bool) -> Result<Self, String> {
        let is_github = std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true");
        let default = if is_github { Annotations::Github } else { Annotations::None };
        let mut forms: Vec<Box<dyn Form>> = Vec::new();
        if let Some(path) = &args.junit {
            forms.push(Box::new(JunitReport::create(path)?));
        }
        if let Some(path) = &args.html {
            forms.push(Box::new(HtmlReport::create(path)?));
        }
        if let Some(path) = &args.svg {
            forms.push(Box::new(SvgFile::create(path)?));
        }
        if let Some(path) = &args.messages {
            forms.push(Box::new(Messages::create(path, usize::MAX)?));
        }
        if let Some(path) = &args.conformance {
            forms.push(Box::new(ConformanceReport::create(path)?));
        }
        if let Some(summary) = JobSummary::open(args.summary.as_deref())? {
            forms.push(Box::new(summary));
        }
        let report = args.report.as_deref().map(|path| ReportDir::create(path, args.report_limit)).transpose()?;
        if let Some(report) = &report {
            forms.extend(report.forms(has_seeds)?);
        }
        Ok(Self { json: args.json, annotations: args.annotations.unwrap_or(default), forms, report })
    }

    /// Takes what is wrong with the files: the problems, which people are told as well, and the scenarios that cannot
    /// be run.
    pub(super) fn load(&mut self, problems: &[Problem], suite: &Suite) {
        self.forms.iter_mut().for_each(|form| form.load(suite));
        for problem in problems {
            note(format_args!("error: {problem}\n"));
            self.problem(problem);
        }
        suite.disabled().for_each(|planned| self.broken(planned));
    }

    /// Takes how many scenarios are to be judged.
    pub(super) fn begin(&mut self, jobs: usize) {
        if let Some(report) = &mut self.report {
            report.begin(jobs);
        }
    }

    fn problem(&mut self, problem: &Problem) {
        if self.json {
            line(records::problem(problem));
        }
        if self.annotations == Annotations::Github {
            self.annotate(&annotations::of_problem(problem));
        }
        self.forms.iter_mut().for_each(|form| form.problem(problem));
    }

    fn broken(&mut self, planned: &Planned) {
        if self.json {
            line(records::broken(planned));
        }
        self.forms.iter_mut().for_each(|form| form.broken(planned));
    }

    /// Takes a verdict.
    pub(super) fn verdict(&mut self, entry: &JudgedScenario<'_>) {
        if self.json {
            line(records::scenario(entry));
        }
        if self.annotations == Annotations::Github && entry.is_news {
            annotations::of_verdict(entry).iter().for_each(|text| self.annotate(text));
        }
        self.forms.iter_mut().for_each(|form| form.verdict(entry));
        if let Some(report) = &mut self.report {
            report.verdict(entry);
        }
    }

    /// Ends all outputs.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn close(self, on: &Closing<'_>, tally: &Tally, ended: &Ended, exit_code: u8) -> Result<(), String> {
        let close = Close { on, tally, ended, exit_code };
        if self.json {
            line(records::summary(&close));
        }
        self.forms.into_iter().try_for_each(|form| form.close(&close))?;
        self.report.map_or(Ok(()), |report| report.close(&close))
    }

    /// Prints an annotation where it does not come between JSON records.
    fn annotate(&self, text: &str) {
        if self.json { note(text) } else { line(text) }
    }
}
