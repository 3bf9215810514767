//! `nodeproof diff`: what a change does to the life of Nodes and Pods, told from the snapshots that it changes.
//!
//! Inputs: two revisions of a git repository, or one and the working tree. Output: prose, equal changes of several
//! scenarios together. Snapshots are read with `git`, which runs as the user would run it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Command, ExitCode};

use super::diff_words::changes;
use super::misuse;
use super::terminal::{counted, text};

/// How many scenarios of a group are named.
const NAMED: usize = 8;

/// Options of `nodeproof diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof diff                       what is not committed yet
  nodeproof diff main..HEAD            what a branch changes
  nodeproof diff main..HEAD --markdown >> \"$GITHUB_STEP_SUMMARY\"

It reads the directory of the snapshots and changes nothing. Exit code: 0 it could be told, changed or not; 2 misuse.")]
pub struct DiffArgs {
    /// Two revisions, as main..HEAD, or one, which the working tree is compared with
    #[arg(value_name = "BASE..HEAD", default_value = "HEAD", value_parser = revisions)]
    between: (String, Option<String>),
    /// The directory of the snapshots
    #[arg(long, value_name = "DIR", default_value = "snapshots")]
    snapshots: String,
    /// Print Markdown, for the summary of a job
    #[arg(long)]
    markdown: bool,
}

/// Tells what changed.
#[must_use]
pub fn run(args: &DiffArgs) -> ExitCode {
    match told(args) {
        Ok(told) => {
            text(&told);
            ExitCode::SUCCESS
        }
        Err(message) => misuse(message),
    }
}

/// Reads `BASE..HEAD` or `BASE`.
fn revisions(text: &str) -> Result<(String, Option<String>), String> {
    let (base, head) = match text.split_once("..") {
        Some((base, head)) => (base, Some(head.trim_start_matches('.'))),
        None => (text, None),
    };
    let is_fine = |revision: &str| !revision.is_empty() && !revision.starts_with('-');
    if !is_fine(base) || head.is_some_and(|head| !is_fine(head)) {
        return Err("revisions are needed, as main..HEAD, or one, as HEAD".to_owned());
    }
    Ok((base.to_owned(), head.map(str::to_owned)))
}

fn told(args: &DiffArgs) -> Result<String, String> {
    // `git diff` names files from the top of the repository, wherever it is run.
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let (base, head) = &args.between;
    let mut words = vec!["diff", "--name-status", "--no-renames", "-z", base];
    words.extend(head.as_deref());
    words.extend(["--", &args.snapshots]);
    let mut files: Vec<(char, String)> = Vec::new();
    let listed = git(&words)?;
    let mut parts = listed.split('\0').filter(|part| !part.is_empty());
    while let (Some(status), Some(path)) = (parts.next(), parts.next()) {
        files.push((status.chars().next().unwrap_or('M'), path.to_owned()));
    }
    if head.is_none() {
        let others = git(&["ls-files", "--others", "--exclude-standard", "-z", "--", &args.snapshots])?;
        files.extend(others.split('\0').filter(|path| !path.is_empty()).map(|path| ('A', path.to_owned())));
    }
    files.retain(|(_, path)| path.ends_with(".snap"));
    let mut groups: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for (status, path) in &files {
        match status {
            'A' => added.push(scenario(path)),
            'D' => removed.push(scenario(path)),
            _ => {
                let before = git(&["show", &format!("{base}:{path}")])?;
                let after = match head {
                    Some(head) => git(&["show", &format!("{head}:{path}")])?,
                    None => {
                        let file = std::path::Path::new(top.trim_end()).join(path);
                        std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?
                    }
                };
                let found = changes(&before, &after);
                if !found.is_empty() {
                    groups.entry(found).or_default().push(scenario(path));
                }
            }
        }
    }
    Ok(printed(&groups, &added, &removed, args.markdown))
}

/// Runs git.
fn git(words: &[&str]) -> Result<String, String> {
    let output = Command::new("git").args(words).output().map_err(|error| format!("git cannot be run: {error}"))?;
    if output.status.success() {
        return String::from_utf8(output.stdout).map_err(|_| format!("git {}: the output is no text", words[0]));
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().lines().next().unwrap_or_default().to_owned();
    Err(format!("git {}: {message}", words[0]))
}

/// Names the scenario of a snapshot's file, with the release or object that it is of.
fn scenario(path: &str) -> String {
    path.split_once("snapshots/").map_or(path, |(_, rest)| rest).trim_end_matches(".snap").to_owned()
}

fn printed(
    groups: &BTreeMap<Vec<String>, Vec<String>>,
    added: &[String],
    removed: &[String],
    markdown: bool,
) -> String {
    let changed: usize = groups.values().map(Vec::len).sum();
    let (head, item, end) = if markdown { ("### ", "- ", "\n") } else { ("", "  ", "") };
    let mut text = format!(
        "{head}{} changed, {} added, {} removed\n{end}",
        counted(changed, "snapshot"),
        added.len(),
        removed.len()
    );
    let names = |all: &[String]| {
        let shown: Vec<String> =
            all.iter().take(NAMED).map(|name| if markdown { format!("`{name}`") } else { name.clone() }).collect();
        let more = all.len().saturating_sub(NAMED);
        shown.join(", ") + &if more == 0 { String::new() } else { format!(" and {more} more") }
    };
    let mut ordered: Vec<_> = groups.iter().collect();
    ordered.sort_by_key(|(_, scenarios)| std::cmp::Reverse(scenarios.len()));
    for (what, scenarios) in ordered {
        let _ = writeln!(text, "{item}{}", what.join("; "));
        let _ = writeln!(text, "{}in {}: {}", " ".repeat(4), counted(scenarios.len(), "scenario"), names(scenarios));
    }
    for (word, all) in [("added", added), ("removed", removed)] {
        if !all.is_empty() {
            let _ = writeln!(text, "{item}{word}: {}", names(all));
        }
    }
    if changed + added.len() + removed.len() == 0 {
        text += "No snapshot changes: what Nodes and Pods go through is the same.\n";
    }
    text
}
