//! The run as one HTML file, and one scenario as an SVG file.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use nodeproof_core::profile::{DEFAULT_RELEASE, Release, Settings};
use nodeproof_core::scenario::Outcome;

use super::{Close, Form, JudgedScenario, flaw_of};
use crate::cli::terminal::counted;
use crate::harness::Planned;
use crate::load::Problem;
use crate::picture::{Page, Picture, Shown, page, svg};

/// How many scenarios that passed get a picture.
const PASSED_MAX: usize = 100;

/// A page that is being made.
#[derive(Debug)]
pub(super) struct HtmlReport {
    path: PathBuf,
    file: File,
    page: Page,
    passed: usize,
}

impl HtmlReport {
    /// Makes the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn create(path: &Path) -> Result<Self, String> {
        let file = File::create(path).map_err(|error| unwritable(path, &error))?;
        Ok(Self { path: path.to_owned(), file, page: Page::default(), passed: 0 })
    }

    /// Writes the page.
    ///
    /// # Errors
    /// It cannot be written.
    fn write(mut self, close: &Close<'_>) -> Result<(), String> {
        let count = |word: &str| self.page.scenarios.iter().filter(|shown| shown.verdict == word).count();
        self.page.about = format!(
            "Kubernetes {} on {}: {} passed, {} failed; {} in {:.1} s",
            close.on.k8s,
            close.on.backend,
            count("passed"),
            self.page.scenarios.iter().filter(|shown| shown.is_failure).count(),
            counted(self.page.scenarios.len(), "scenario"),
            close.ended.seconds,
        );
        self.file.write_all(page(&self.page).as_bytes()).map_err(|error| unwritable(&self.path, &error))
    }
}

impl Form for HtmlReport {
    fn problem(&mut self, problem: &Problem) {
        self.page.problems.push(problem.to_string());
    }

    fn broken(&mut self, planned: &Planned) {
        let (name, text) = (planned.name.clone(), flaw_of(planned));
        self.page.scenarios.push(Shown { name, verdict: "broken", is_failure: true, text, pictures: Vec::new() });
    }

    fn verdict(&mut self, entry: &JudgedScenario<'_>) {
        let judged = entry.judged;
        let is_failure = judged.verdict.is_failure();
        let is_drawn = is_failure || self.passed < PASSED_MAX;
        let picture = if is_drawn { picture_of(entry) } else { None };
        self.passed += usize::from(!is_failure && picture.is_some());
        let seed = entry.seed.map_or_else(String::new, |seed| format!(" (seed {seed})"));
        let name = if entry.is_news { entry.name.to_owned() } else { format!("{}{seed}", entry.name) };
        let (verdict, text) = (judged.verdict.word(), judged.text.clone());
        self.page.scenarios.push(Shown {
            name,
            verdict,
            is_failure,
            text,
            pictures: picture.map(|own| (String::new(), own)).into_iter().collect(),
        });
    }

    fn close(self: Box<Self>, close: &Close<'_>) -> Result<(), String> {
        self.write(close)
    }
}

/// The picture of the only scenario of a run.
#[derive(Debug)]
pub(super) struct SvgFile {
    path: PathBuf,
    file: File,
    drawn: Option<String>,
    scenarios: usize,
}

impl SvgFile {
    /// Makes the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn create(path: &Path) -> Result<Self, String> {
        let file = File::create(path).map_err(|error| unwritable(path, &error))?;
        Ok(Self { path: path.to_owned(), file, drawn: None, scenarios: 0 })
    }

    /// Writes the picture.
    ///
    /// # Errors
    /// It cannot be written, or the run was not of one scenario.
    fn write(mut self) -> Result<(), String> {
        let drawn = match (self.drawn, self.scenarios) {
            (Some(drawn), 1) => drawn,
            (_, 0) => return Err("--svg draws a scenario that was run, and none was".to_owned()),
            (_, count) => {
                return Err(format!(
                    "--svg draws one scenario, and {count} were run: name it with --only or FILE:LINE"
                ));
            }
        };
        self.file.write_all((drawn + "\n").as_bytes()).map_err(|error| unwritable(&self.path, &error))
    }
}

impl Form for SvgFile {
    fn verdict(&mut self, entry: &JudgedScenario<'_>) {
        if let Some(picture) = picture_of(entry) {
            self.scenarios += 1;
            if self.scenarios == 1 {
                self.drawn = Some(svg(&picture));
            }
        }
    }

    fn close(self: Box<Self>, _close: &Close<'_>) -> Result<(), String> {
        self.write()
    }
}

/// Makes the picture of a scenario that was run.
pub(super) fn picture_of(entry: &JudgedScenario<'_>) -> Option<Picture> {
    let release = entry.k8s.parse().unwrap_or(DEFAULT_RELEASE);
    drawn(entry.name, entry.planned, entry.judged.outcome.as_ref()?, release)
}

/// Makes the picture of a run of a scenario.
pub(in crate::cli) fn drawn(name: &str, planned: &Planned, outcome: &Outcome, release: Release) -> Option<Picture> {
    let scenario = &planned.compiled.scenario;
    let settings = scenario.cluster.settings(&Settings::of(scenario.cluster.release.unwrap_or(release))).ok()?;
    (!outcome.zeros.is_empty()).then(|| Picture::of(name, scenario, outcome, &settings))
}

fn unwritable(path: &Path, error: &std::io::Error) -> String {
    format!("{}: it cannot be written: {error}", path.display())
}
