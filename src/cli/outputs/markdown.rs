//! The summary of a run in Markdown, for the page of a CI job.
//!
//! GitHub takes at most 1 MiB a step ("Workflow commands for GitHub Actions", job summaries); more failures than fit
//! are counted.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::{Close, Form, JudgedScenario};
use crate::harness::{Planned, Verdict};
use crate::load::Problem;

/// How many bytes of failure texts are shown; well below what GitHub takes.
const BYTES_MAX: usize = 512 << 10;

/// A summary that is being made.
#[derive(Debug)]
pub(super) struct JobSummary {
    path: PathBuf,
    file: File,
    failures: String,
    left_out: usize,
    problems: Vec<String>,
    broken: Vec<String>,
}

impl JobSummary {
    /// Makes the file that was named, or opens the one that GitHub gives, to which is added.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn open(named: Option<&Path>) -> Result<Option<Self>, String> {
        let given = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from);
        let (path, opened) = match (named, given) {
            (Some(path), _) => (path.to_owned(), File::create(path)),
            (None, Some(path)) => {
                let opened = OpenOptions::new().append(true).create(true).open(&path);
                (path, opened)
            }
            (None, None) => return Ok(None),
        };
        let file = opened.map_err(|error| unwritable(&path, &error))?;
        let (failures, problems, broken) = (String::new(), Vec::new(), Vec::new());
        Ok(Some(Self { path, file, failures, left_out: 0, problems, broken }))
    }

    /// Writes the summary.
    ///
    /// # Errors
    /// It cannot be written.
    fn write(mut self, close: &Close<'_>) -> Result<(), String> {
        let text = self.text(close);
        self.file.write_all(text.as_bytes()).map_err(|error| unwritable(&self.path, &error))
    }

    fn text(&self, close: &Close<'_>) -> String {
        let mut counts = close.tally.to_string();
        for (count, what) in [(close.ended.broken, "not run"), (close.ended.not_begun, "not begun")] {
            if count > 0 {
                counts += &format!(", {count} {what}");
            }
        }
        let mark = if close.exit_code == 0 { "✅" } else { "❌" };
        let mut text = format!("## {mark} nodeproof: {counts}\n\n");
        text += &format!("Kubernetes {}, backend {}, {:.2} s\n\n", close.on.k8s, close.on.backend, close.ended.seconds);
        if !self.failures.is_empty() || self.left_out > 0 {
            text += &format!("### Failed\n\n{}", self.failures);
        }
        if self.left_out > 0 {
            text += &format!("and {} more, which the log of the job has\n\n", self.left_out);
        }
        for (title, columns, rows) in
            [("Problems", "| place | problem |", &self.problems), ("Not run", "| scenario | problem |", &self.broken)]
        {
            if !rows.is_empty() {
                text += &format!("### {title}\n\n{columns}\n|---|---|\n{}\n\n", rows.join("\n"));
            }
        }
        for (title, reasons) in [("Unsupported", close.tally.unsupported()), ("Skipped", close.tally.skipped())] {
            if !reasons.is_empty() {
                let rows: Vec<String> =
                    reasons.iter().map(|(why, count)| format!("| {count} | {} |", cell(why))).collect();
                text += &format!("### {title}\n\n| scenarios | why |\n|---|---|\n{}\n\n", rows.join("\n"));
            }
        }
        text
    }
}

impl Form for JobSummary {
    fn problem(&mut self, problem: &Problem) {
        self.problems.push(format!("| `{}` | {} |", problem.place(), cell(&problem.message)));
    }

    fn broken(&mut self, planned: &Planned) {
        self.broken.push(format!("| `{}` | {} |", planned.name, cell(&planned.flaw())));
    }

    fn verdict(&mut self, entry: &JudgedScenario<'_>) {
        let judged = entry.judged;
        if !judged.verdict.is_failure() || !entry.is_news {
            return;
        }
        if self.failures.len() + judged.text.len() > BYTES_MAX {
            self.left_out += 1;
            return;
        }
        let fence = fence_around(&judged.text);
        let word = if judged.verdict == Verdict::Failed { "" } else { " (inconclusive)" };
        self.failures += &format!(
            "<details><summary><code>{}</code>{word}</summary>\n\n{fence}text\n{}\n{fence}\n\n</details>\n\n",
            html(entry.name),
            judged.text
        );
    }

    fn close(self: Box<Self>, close: &Close<'_>) -> Result<(), String> {
        self.write(close)
    }
}

/// Returns a fence that is longer than any inside a text.
fn fence_around(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(longest.max(2) + 1)
}

fn cell(text: &str) -> String {
    html(text).replace('|', "\\|").replace('\n', " ")
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn unwritable(path: &Path, error: &std::io::Error) -> String {
    format!("{}: the summary cannot be written: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_does_not_end_its_fence_or_cell() {
        assert_eq!(fence_around("a ```` b"), "`````");
        assert_eq!(fence_around("none"), "```");
        assert_eq!(cell("a | <b>\nc"), "a \\| &lt;b&gt; c");
    }
}
