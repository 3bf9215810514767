//! `--report DIR`: all forms of a run in one directory, with the traces, decisions and histories of its scenarios, and
//! a page that leads to them.
//!
//! The directory has a limit. Of that, two fifths are for the forms; of the rest half is kept for what fails. A file
//! about a scenario that passed is written if it is no larger than an equal share of the room that is left, so that it
//! is the same files each time. What was left out is said on the page.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::conformance::ConformanceReport;
use super::html::HtmlReport;
use super::junit::JunitReport;
use super::markdown::JobSummary;
use super::messages::Messages;
use super::records::RecordFile;
use super::{Close, Form, JudgedScenario};
use crate::cli::terminal::counted;
use crate::harness::{Planned, decisions_text, histories_text, trace_text};
use crate::picture::PAGE_STYLE;

/// The forms: file, and what it is.
const FORMS: [(&str, &str); 6] = [
    ("run.html", "pictures of what happened when, for people"),
    ("summary.md", "a summary in Markdown, for the page of a job"),
    ("junit.xml", "JUnit, for CI servers"),
    ("messages.ndjson", "Cucumber's messages, for its formatters"),
    ("conformance.json", "what holds of each requirement; nodeproof verify runs it again"),
    ("run.jsonl", "a JSON record for each scenario, for programs"),
];
/// By which a directory is known to be a report, whose older files may go.
const MARK: &str = "<meta name=\"generator\" content=\"nodeproof\">";
/// How many bytes of failure texts the page shows.
const TEXTS_MAX: usize = 200_000;
/// How many of what passed the page names.
const PASSED_MAX: usize = 3_000;

/// How large a report may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limit(Option<usize>);

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(None));
        }
        let megabytes = text.parse::<usize>().ok().filter(|own| (1..=1_000_000).contains(own));
        megabytes.map(|own| Self(Some(own * 1_000_000))).ok_or_else(|| "a number of MB from 1 on, or none".to_owned())
    }
}

/// A scenario of the page.
#[derive(Debug)]
struct ReportEntry {
    name: String,
    verdict: &'static str,
    is_failure: bool,
    text: String,
    files: Vec<(String, usize)>,
    left_out: Vec<&'static str>,
}

/// A report that is being made.
#[derive(Debug)]
pub(super) struct ReportDir {
    directory: PathBuf,
    limit: Limit,
    room_passed: usize,
    room_failed: usize,
    jobs: usize,
    entries: Vec<ReportEntry>,
    broken: Option<String>,
}

impl ReportDir {
    /// Makes the directory.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn create(directory: &Path, limit: Limit) -> Result<Self, String> {
        fs::create_dir_all(directory).map_err(|error| unwritable(directory, &error))?;
        let older = directory.join("scenarios");
        if fs::read_to_string(directory.join("index.html")).is_ok_and(|text| text.contains(MARK)) && older.is_dir() {
            fs::remove_dir_all(&older).map_err(|error| unwritable(&older, &error))?;
        }
        let room = limit.0.map_or(usize::MAX / 4, |bytes| bytes / 5 * 3);
        let (entries, broken) = (Vec::new(), None);
        let directory = directory.to_owned();
        Ok(Self { directory, limit, room_passed: room / 2, room_failed: room / 2, jobs: 0, entries, broken })
    }

    /// Opens the forms; what holds of requirements is not told of several seeds.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn forms(&self, has_seeds: bool) -> Result<Vec<Box<dyn Form>>, String> {
        let path = |name: &str| self.directory.join(name);
        let messages = self.limit.0.map_or(usize::MAX, |bytes| bytes / 5);
        let summary = path("summary.md");
        let mut forms: Vec<Box<dyn Form>> = vec![
            Box::new(HtmlReport::create(&path("run.html"))?),
            Box::new(JunitReport::create(&path("junit.xml"))?),
            Box::new(Messages::create(&path("messages.ndjson"), messages)?),
            Box::new(RecordFile::create(&path("run.jsonl"))?),
        ];
        if let Some(summary) = JobSummary::open(Some(&summary))? {
            forms.push(Box::new(summary));
        }
        if !has_seeds {
            forms.push(Box::new(ConformanceReport::create(&path("conformance.json"))?));
        }
        Ok(forms)
    }

    /// Takes how many scenarios are to be judged.
    pub(super) const fn begin(&mut self, jobs: usize) {
        self.jobs = jobs;
    }

    /// Takes a verdict: writes what there is room for.
    pub(super) fn verdict(&mut self, entry: &JudgedScenario<'_>) {
        let judged = entry.judged;
        let is_failure = judged.verdict.is_failure();
        let mut shown = ReportEntry {
            name: entry.name.to_owned(),
            verdict: judged.verdict.word(),
            is_failure,
            text: if is_failure { judged.text.clone() } else { String::new() },
            files: Vec::new(),
            left_out: Vec::new(),
        };
        if let Some(outcome) = &judged.outcome {
            let stem = stem(entry.planned);
            let histories = Some(histories_text(outcome));
            let decisions = Some(decisions_text(outcome));
            self.file(&mut shown, &stem, "history.yaml", "histories", |_| histories);
            self.file(&mut shown, &stem, "decisions.jsonl", "decisions", |_| decisions);
            if !outcome.trace.is_empty() {
                self.file(&mut shown, &stem, "trace.jsonl", "trace", |room| trace_text(outcome, room));
            }
        }
        self.jobs = self.jobs.saturating_sub(1);
        self.entries.push(shown);
    }

    fn file(
        &mut self,
        entry: &mut ReportEntry,
        stem: &str,
        end: &str,
        what: &'static str,
        text: impl FnOnce(usize) -> Option<String>,
    ) {
        let share = if entry.is_failure { self.room_failed / 2 } else { self.room_passed / self.jobs.max(1) };
        let Some(text) = text(share).filter(|text| text.len() <= share) else {
            entry.left_out.push(what);
            return;
        };
        let name = format!("{stem}.{end}");
        let path = self.directory.join(&name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        if let Err(error) = made.and_then(|()| fs::write(&path, &text)) {
            self.broken.get_or_insert(unwritable(&path, &error));
            return;
        }
        let room = if entry.is_failure { &mut self.room_failed } else { &mut self.room_passed };
        *room -= text.len();
        entry.files.push((name, text.len()));
    }

    /// Writes the page, and takes files of what passed away while the whole is larger than its limit.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn close(mut self, close: &Close<'_>) -> Result<(), String> {
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        let size = |name: &str| fs::metadata(self.directory.join(name)).map_or(0, |found| found.len() as usize);
        let forms: Vec<(&str, &str, usize)> = FORMS.iter().map(|(name, what)| (*name, *what, size(name))).collect();
        self.fit(forms.iter().map(|(_, _, size)| size).sum());
        let text = self.page(close, &forms);
        let path = self.directory.join("index.html");
        fs::write(&path, text).map_err(|error| unwritable(&path, &error))
    }

    /// Deletes the files of scenarios, of those that passed first, until the whole keeps its limit.
    fn fit(&mut self, forms: usize) {
        let Limit(Some(limit)) = self.limit else { return };
        let pages = TEXTS_MAX + 300 * self.entries.len().min(PASSED_MAX);
        let files = self.entries.iter().flat_map(|entry| &entry.files).map(|(_, size)| size).sum::<usize>();
        let mut total = forms + pages + files;
        for is_failure in [false, true] {
            for entry in self.entries.iter_mut().rev().filter(|entry| entry.is_failure == is_failure) {
                while total > limit
                    && let Some((name, size)) = entry.files.pop()
                    && fs::remove_file(self.directory.join(&name)).is_ok()
                {
                    total -= size;
                    entry.left_out.push("what did not fit");
                }
            }
        }
    }

    fn page(&self, close: &Close<'_>, forms: &[(&str, &str, usize)]) -> String {
        let mut order: Vec<&ReportEntry> = self.entries.iter().collect();
        order.sort_by_key(|entry| !entry.is_failure);
        let mut room = TEXTS_MAX;
        let shown = |entry: &&ReportEntry| {
            let text = if entry.text.len() <= room { entry.text.as_str() } else { "" };
            room -= text.len();
            let files: Vec<_> = entry
                .files
                .iter()
                .map(|(name, size)| {
                    let what = name.rsplit('.').nth(1).unwrap_or_default();
                    minijinja::context! { name => name, what => what, size => size_of(*size) }
                })
                .collect();
            minijinja::context! {
                name => &entry.name, verdict => entry.verdict, text => text, files => files,
                cut => entry.is_failure && text.is_empty(),
            }
        };
        let failures = order.iter().filter(|entry| entry.is_failure).count();
        let entries: Vec<_> = order.iter().take(failures + PASSED_MAX).map(shown).collect();
        let (failed, others) = entries.split_at(failures);
        let forms: Vec<_> = forms
            .iter()
            .filter(|(_, _, size)| *size > 0)
            .map(|(name, what, size)| minijinja::context! { name => *name, what => *what, size => size_of(*size) })
            .collect();
        let about = format!(
            "Kubernetes {} on {}: {}, in {:.1} s",
            close.on.k8s, close.on.backend, close.tally, close.ended.seconds
        );
        let problems = match close.ended.problems {
            0 => String::new(),
            count => format!("{} in feature files", counted(count, "problem")),
        };
        let mut environment = minijinja::Environment::new();
        environment.add_template("report.html", TEMPLATE).expect("the template is well-formed");
        let template = environment.get_template("report.html").expect("it was added");
        let context = minijinja::context! {
            style => PAGE_STYLE, mark => MARK, about => about, forms => forms, failed => failed, others => others,
            left_out => self.left_out(), more => order.len() - entries.len(), problems => problems,
        };
        template.render(context).expect("the template asks for what it gets")
    }

    /// Says what is not in the directory, since it would have become too large.
    fn left_out(&self) -> Option<String> {
        let count = |what: &str| self.entries.iter().filter(|entry| entry.left_out.contains(&what)).count();
        let kinds = [("trace", "the trace"), ("decisions", "the decisions"), ("histories", "the histories")];
        let told = kinds.into_iter().chain([("what did not fit", "further files")]).filter_map(|(what, words)| {
            let count = count(what);
            (count > 0).then(|| format!("{words} of {}", counted(count, "scenario")))
        });
        let told: Vec<String> = told.collect();
        let Limit(Some(limit)) = self.limit else { return None };
        (!told.is_empty()).then(|| format!("To stay below {} MB: {}.", limit / 1_000_000, told.join(", ")))
    }
}

/// Returns where the files about a scenario stand: `scenarios/area/topic/scenario`.
fn stem(planned: &Planned) -> String {
    let parts: Vec<&str> = planned.name.split("::").skip(1).collect();
    let (area, rest) = parts.split_at(2.min(parts.len()));
    format!("scenarios/{}/{}", area.join("/"), rest.join("."))
}

fn size_of(bytes: usize) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..1_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> String {
    format!("{}: the report cannot be written: {error}", path.display())
}

const TEMPLATE: &str = include_str!("report.html");
