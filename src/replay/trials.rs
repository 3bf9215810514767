//! The recordings of `fixtures/recorded` as trials of the test harness: `replay::1.34.4::zones-all-down`.
//!
//! Inputs: the directories `VERSION/RECORDING` that hold an `about.yaml`, and `api-VERSION` with exchanges, of which
//! each topic is a trial. Outputs: one trial each, in order of their names; a trial fails with the text that
//! `nodeproof replay` prints. Invariant: listing the trials reads no recording.

use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

use super::{Ledger, exchanges, kubelets, replay};

/// Returns the directory of this crate's recordings.
#[must_use]
pub fn recorded_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recorded")
}

/// Returns a trial for each recording of this crate.
#[must_use]
pub fn trials() -> Vec<Trial> {
    let root = recorded_dir();
    let controllers =
        recordings(&root).into_iter().map(|(name, dir)| Trial::test(format!("replay::{name}"), move || agrees(&dir)));
    let answers = directories(&root).into_iter().filter(|dir| exchanges::is_here(dir)).flat_map(|dir| {
        let name = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        exchanges::topics(&dir).into_iter().map(move |topic| {
            let dir = dir.clone();
            Trial::test(format!("replay::{name}::{topic}"), move || answers_agree(&dir, &topic))
        })
    });
    controllers.chain(answers).collect()
}

fn answers_agree(dir: &Path, topic: &str) -> Result<(), Failed> {
    let ledger = Ledger::built_in()?;
    let report = exchanges::replay(dir, None, Some(topic), &ledger)?;
    if report.passed() { Ok(()) } else { Err(Failed::from(report.text())) }
}

fn agrees(dir: &Path) -> Result<(), Failed> {
    let ledger = Ledger::built_in()?;
    let report =
        if kubelets::is_here(dir) { kubelets::replay(dir, None, &ledger)? } else { replay(dir, None, &ledger)? };
    if report.passed() { Ok(()) } else { Err(Failed::from(report.text())) }
}

/// Finds the recordings below a directory, with their names.
fn recordings(root: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for version in directories(root) {
        for dir in directories(&version) {
            let part =
                |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if dir.join("about.yaml").is_file() {
                found.push((format!("{}::{}", part(&version), part(&dir)), dir));
            }
        }
    }
    found
}

fn directories(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::{recorded_dir, recordings};

    #[test]
    fn each_recording_is_found_by_release_and_name() {
        let found = recordings(&recorded_dir());
        assert!(found.iter().any(|(name, _)| name == "1.34.4::node-silent-evict-return"), "{found:?}");
    }
}
