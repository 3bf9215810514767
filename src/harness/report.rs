//! The report files of a run. Two processes write the same files.

use std::fs;
use std::io;
use std::path::Path;

use nodeproof_core::scenario::Outcome;

use super::options::SuiteOptions;
use super::planned::Planned;
use super::yaml;

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
