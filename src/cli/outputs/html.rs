//! The run as one HTML file, and one scenario as an SVG file.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use nodeproof_core::profile::DEFAULT_RELEASE;

use super::{Close, Form, JudgedScenario, unwritable};
use crate::harness::Planned;
use crate::load::Problem;
use crate::picture::{self, Picture, RunPage, svg};

/// A page that is being made.
#[derive(Debug)]
pub(super) struct HtmlReport {
    path: PathBuf,
    file: File,
    page: RunPage,
}

impl HtmlReport {
    /// Makes the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn create(path: &Path) -> Result<Self, String> {
        let file = File::create(path).map_err(|error| unwritable(path, &error))?;
        Ok(Self { path: path.to_owned(), file, page: RunPage::default() })
    }
}

impl Form for HtmlReport {
    fn problem(&mut self, problem: &Problem) {
        self.page.problem(problem.to_string());
    }

    fn broken(&mut self, planned: &Planned) {
        self.page.broken(planned);
    }

    fn verdict(&mut self, entry: &JudgedScenario<'_>) {
        let seed = entry.seed.map_or_else(String::new, |seed| format!(" (seed {seed})"));
        let name = if entry.is_news { entry.name.to_owned() } else { format!("{}{seed}", entry.name) };
        let found = (entry.judged.verdict, entry.judged.text.clone());
        self.page.add(entry.planned, name, found, || picture_of(entry));
    }

    fn close(mut self: Box<Self>, close: &Close<'_>) -> Result<(), String> {
        let html = self.page.html(&close.on.k8s, close.on.backend, close.ended.seconds);
        self.file.write_all(html.as_bytes()).map_err(|error| unwritable(&self.path, &error))
    }
}

/// The picture of the only scenario of a run.
#[derive(Debug)]
pub(super) struct SvgFile {
    path: PathBuf,
    file: File,
    drawn: Option<String>,
}

impl SvgFile {
    /// Makes the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn create(path: &Path) -> Result<Self, String> {
        let file = File::create(path).map_err(|error| unwritable(path, &error))?;
        Ok(Self { path: path.to_owned(), file, drawn: None })
    }

    /// Writes the picture.
    ///
    /// # Errors
    /// It cannot be written, or nothing was run; no empty file is left then.
    fn write(mut self) -> Result<(), String> {
        let drawn = self.drawn.take().ok_or("--svg draws a scenario that was run, and none was");
        if drawn.is_err() && self.path.is_file() {
            std::fs::remove_file(&self.path).map_err(|error| unwritable(&self.path, &error))?;
        }
        let drawn = drawn?;
        self.file.write_all((drawn + "\n").as_bytes()).map_err(|error| unwritable(&self.path, &error))
    }
}

impl Form for SvgFile {
    fn verdict(&mut self, entry: &JudgedScenario<'_>) {
        self.drawn = picture_of(entry).map(|picture| svg(&picture)).or(self.drawn.take());
    }

    fn close(self: Box<Self>, _close: &Close<'_>) -> Result<(), String> {
        self.write()
    }
}

/// Makes the picture of a scenario that was run.
pub(super) fn picture_of(entry: &JudgedScenario<'_>) -> Option<Picture> {
    let release = entry.k8s.parse().unwrap_or(DEFAULT_RELEASE);
    picture::picture_of(entry.name, entry.planned, entry.judged.outcome.as_ref()?, release)
}
