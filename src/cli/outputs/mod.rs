//! What `run` writes beside its text: JSON records, a JUnit report, annotations of a pull request, a job summary.
//!
//! Inputs: problems, verdicts in their order, and the end of the run. Outputs: lines on standard output, and files.
//! Each form is a module of its own that knows nothing of the others. Invariants: a file that cannot be written is told
//! before anything is run; every form tells of what does not load as well.

mod annotations;
mod conformance;
mod html;
mod junit;
mod markdown;
mod records;

use std::path::PathBuf;

use clap::ValueEnum;

use self::conformance::ConformanceReport;
pub(super) use self::conformance::SCHEMA;
use self::html::{HtmlReport, SvgFile};
use self::junit::JunitReport;
use self::markdown::JobSummary;
pub(super) use self::records::listed;
use super::count::Ended;
use super::tally::Tally;
use super::terminal::{line, note};
use crate::harness::{Judged, Planned, Suite};
use crate::load::Problem;

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
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write what holds of each requirement; `nodeproof verify FILE` runs it again and compares
    #[arg(long, value_name = "FILE", conflicts_with = "seeds")]
    conformance: Option<PathBuf>,
    /// Write the run as one HTML file: what failed first, with pictures of what happened when
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Draw the one scenario that is run: what happened when, and what was expected
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print annotations for the lines that did not hold; default: github where GITHUB_ACTIONS is true
    #[arg(long, value_name = "SERVICE", value_enum)]
    annotations: Option<Annotations>,
    /// Write a summary of the run in Markdown; default: GITHUB_STEP_SUMMARY, to which it is added
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
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

/// The outputs of a run.
#[derive(Debug)]
pub(super) struct Outputs {
    json: bool,
    annotations: Annotations,
    junit: Option<JunitReport>,
    html: Option<HtmlReport>,
    svg: Option<SvgFile>,
    conformance: Option<ConformanceReport>,
    summary: Option<JobSummary>,
}

impl Outputs {
    /// Opens what is asked for.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn open(args: &OutputArgs) -> Result<Self, String> {
        let is_github = std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true");
        let default = if is_github { Annotations::Github } else { Annotations::None };
        Ok(Self {
            json: args.json,
            annotations: args.annotations.unwrap_or(default),
            junit: args.junit.as_deref().map(JunitReport::create).transpose()?,
            html: args.html.as_deref().map(HtmlReport::create).transpose()?,
            svg: args.svg.as_deref().map(SvgFile::create).transpose()?,
            conformance: args.conformance.as_deref().map(ConformanceReport::create).transpose()?,
            summary: JobSummary::open(args.summary.as_deref())?,
        })
    }

    /// Takes what is wrong with the files: the problems, which people are told as well, and the scenarios that cannot
    /// be run.
    pub(super) fn load(&mut self, problems: &[Problem], suite: &Suite) {
        for problem in problems {
            note(format_args!("error: {problem}\n"));
            self.problem(problem);
        }
        if let Some(conformance) = &mut self.conformance {
            conformance.load(suite);
        }
        suite.disabled().for_each(|planned| self.broken(planned));
    }

    fn problem(&mut self, problem: &Problem) {
        if self.json {
            line(records::problem(problem));
        }
        if self.annotations == Annotations::Github {
            self.annotate(&annotations::of_problem(problem));
        }
        if let Some(junit) = &mut self.junit {
            junit.problem(problem);
        }
        if let Some(html) = &mut self.html {
            html.problem(problem);
        }
        if let Some(summary) = &mut self.summary {
            summary.problem(problem);
        }
    }

    fn broken(&mut self, planned: &Planned) {
        if self.json {
            line(records::broken(planned));
        }
        if let Some(junit) = &mut self.junit {
            junit.broken(planned);
        }
        if let Some(html) = &mut self.html {
            html.broken(planned);
        }
        if let Some(conformance) = &mut self.conformance {
            conformance.broken(planned);
        }
        if let Some(summary) = &mut self.summary {
            summary.broken(planned);
        }
    }

    /// Takes a verdict.
    pub(super) fn verdict(&mut self, entry: &JudgedScenario<'_>) {
        if self.json {
            line(records::scenario(entry));
        }
        if self.annotations == Annotations::Github && entry.is_news {
            annotations::of_verdict(entry).iter().for_each(|text| self.annotate(text));
        }
        if let Some(junit) = &mut self.junit {
            junit.verdict(entry);
        }
        if let Some(html) = &mut self.html {
            html.verdict(entry);
        }
        if let Some(svg) = &mut self.svg {
            svg.verdict(entry);
        }
        if let Some(conformance) = &mut self.conformance {
            conformance.verdict(entry);
        }
        if let Some(summary) = &mut self.summary {
            summary.verdict(entry);
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
        self.junit.map_or(Ok(()), |junit| junit.write(ended.seconds))?;
        self.html.map_or(Ok(()), |html| html.write(&close))?;
        self.svg.map_or(Ok(()), SvgFile::write)?;
        self.conformance.map_or(Ok(()), |report| report.write(&close, &on.told))?;
        self.summary.map_or(Ok(()), |summary| summary.write(&close))
    }

    /// Prints an annotation where it does not come between JSON records.
    fn annotate(&self, text: &str) {
        if self.json { note(text) } else { line(text) }
    }
}

/// Returns why a scenario cannot be run.
fn flaw_of(planned: &Planned) -> String {
    let flaw = planned.compiled.flaw.as_ref();
    flaw.map_or_else(String::new, |flaw| format!("{}: {}", flaw.place(), flaw.message))
}
