//! Which scenarios failed when they ran last, for `run --failed`.
//!
//! A file for each suite, `failed/SUITE.json` in the state directory: the names of its scenarios that failed, for each
//! set of options under which they ran. A run changes the entries of the scenarios that it judged and no others; it
//! writes nothing where nothing changes. A file that cannot be read is an error of `--failed` alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::harness::{Planned, SuiteOptions, Verdict, release_name};
use crate::state_dir::state_dir;

/// The version of the file.
const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Stored {
    version: u32,
    /// The directory or files of the suite, for people.
    suite: String,
    /// Options with the scenarios that failed under them.
    failed: BTreeMap<String, BTreeSet<String>>,
}

/// What is remembered of a suite.
#[derive(Debug)]
pub(super) struct LastRun {
    file: PathBuf,
    stored: Stored,
    /// The options of this run.
    on: String,
    /// Whether the scenarios that were judged have failed.
    judged: BTreeMap<String, bool>,
}

impl LastRun {
    /// Reads what is remembered of a suite; of one that has not failed yet, nothing.
    ///
    /// # Errors
    /// There is no state directory, or the file is none of this program's.
    pub(super) fn read(state: Option<&Path>, paths: &[PathBuf], options: &SuiteOptions) -> Result<Self, String> {
        let suite = suite_of(paths);
        let file = state_dir(state)?.join("failed").join(format!("{:016x}.json", fingerprint(&suite)));
        let stored = match fs::read_to_string(&file) {
            Ok(text) => read(&file, &text)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Stored { version: VERSION, suite, failed: BTreeMap::new() }
            }
            Err(error) => return Err(format!("{}: it cannot be read: {error}", file.display())),
        };
        Ok(Self { file, stored, on: described(options), judged: BTreeMap::new() })
    }

    /// Returns those of some scenarios that failed last under the same options.
    ///
    /// # Errors
    /// There is none; the message says under which other options there are some.
    pub(super) fn of<'a>(&self, chosen: Vec<&'a Planned>) -> Result<Vec<&'a Planned>, String> {
        let empty = BTreeSet::new();
        let names = self.stored.failed.get(&self.on).unwrap_or(&empty);
        let found: Vec<&Planned> = chosen.into_iter().filter(|planned| names.contains(&planned.name)).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let mut why = format!("no scenario here is remembered as failed with {}", self.on);
        if !names.is_empty() {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            why += &format!("; not here any more, or not selected: {}", names.join(", "));
        }
        for (on, names) in self.stored.failed.iter().filter(|(on, _)| **on != self.on) {
            why += &format!("; with {on}: {}", names.len());
        }
        Err(why)
    }

    /// Notes a verdict; under several seeds a scenario has failed if it did under one of them.
    pub(super) fn note(&mut self, planned: &Planned, verdict: Verdict) {
        if matches!(verdict, Verdict::Passed | Verdict::Failed | Verdict::Inconclusive) {
            *self.judged.entry(planned.name.clone()).or_default() |= verdict.is_failure();
        }
    }

    /// Writes what is remembered, if that has changed.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write(mut self) -> Result<(), String> {
        let before = self.stored.failed.clone();
        let names = self.stored.failed.entry(self.on).or_default();
        for (name, has_failed) in self.judged {
            if has_failed {
                names.insert(name)
            } else {
                names.remove(&name)
            };
        }
        self.stored.failed.retain(|_, names| !names.is_empty());
        let unwritable = |error: std::io::Error| format!("{}: it cannot be written: {error}", self.file.display());
        if self.stored.failed == before {
            return Ok(());
        }
        if self.stored.failed.is_empty() {
            let gone = fs::remove_file(&self.file);
            return gone.or_else(|error| match error.kind() {
                ErrorKind::NotFound => Ok(()),
                _ => Err(unwritable(error)),
            });
        }
        let text = serde_json::to_string_pretty(&self.stored).unwrap_or_default();
        let directory = self.file.parent().unwrap_or(Path::new(""));
        let beside = self.file.with_extension(format!("{}.tmp", std::process::id()));
        fs::create_dir_all(directory)
            .and_then(|()| fs::write(&beside, text + "\n"))
            .and_then(|()| fs::rename(&beside, &self.file))
            .map_err(unwritable)
    }
}

fn read(file: &Path, text: &str) -> Result<Stored, String> {
    let unknown = |why: String| format!("{}: {why}; delete it, and run without --failed", file.display());
    let stored: Stored = serde_json::from_str(text).map_err(|error| unknown(error.to_string()))?;
    if stored.version != VERSION {
        return Err(unknown(format!("version {}, and this program writes {VERSION}", stored.version)));
    }
    Ok(stored)
}

/// Returns what names a suite: the directory above its features, whichever of them are given.
fn suite_of(paths: &[PathBuf]) -> String {
    let first = paths.first().cloned().unwrap_or_else(|| PathBuf::from("features"));
    let absolute = std::path::absolute(&first).unwrap_or(first);
    let features = absolute.ancestors().find(|up| up.file_name().is_some_and(|name| name == "features"));
    let root = features.and_then(Path::parent).map(Path::to_owned);
    let root = root.unwrap_or(if absolute.is_file() { absolute.with_file_name("") } else { absolute });
    root.to_string_lossy().into_owned()
}

/// Returns the options on which a verdict depends.
fn described(options: &SuiteOptions) -> String {
    let backend = options.runner.backend().name();
    let given = options.settings.iter().flat_map(|settings| &settings.given);
    let set: String = given.map(|(flag, value)| format!(" --set {flag}={value}")).collect();
    format!("--backend {backend} --k8s {}{set}", release_name(options.release))
}

/// FNV-1a: a short name for a path, the same in each build.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
