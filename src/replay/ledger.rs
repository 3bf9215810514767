//! The ledger of known differences: `fixtures/recorded/divergences.yaml`.
//!
//! Input: the text of the file. Output: its entries, or the one that explains a difference. Each entry names recording,
//! writer, object and path (a `*` at the end matches any rest), what differs, by how much, and why. Invariant: every
//! entry has a reason.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::report::WriteDifference;

/// An entry of the ledger.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerEntry {
    /// The recording, as `1.34.4/zones-all-down`.
    pub recording: String,
    /// The writer, as `node-lifecycle-controller`.
    pub writer: String,
    /// The object, as `nodes/a1`.
    pub object: String,
    /// The path within the object or the request.
    pub path: String,
    /// What differs.
    pub what: String,
    /// By how much.
    pub amount: String,
    /// Why, and why the model may stay as it is.
    pub why: String,
}

/// The ledger.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The entries in order.
    pub entries: Vec<LedgerEntry>,
}

/// Why a ledger cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The file cannot be read.
    #[error("{}: {why}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        why: std::io::Error,
    },
    /// The contents of the file are wrong.
    #[error("{}: {why}", file.display())]
    Bad {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// The ledger for this version of the model.
const BUILT_IN: &str = include_str!("../../fixtures/recorded/divergences.yaml");

impl Ledger {
    /// Returns the ledger for this version of the model.
    ///
    /// # Errors
    /// The ledger in the source tree is not valid.
    pub fn built_in() -> Result<Self, LedgerError> {
        let bad = |why| LedgerError::Bad { file: PathBuf::from("fixtures/recorded/divergences.yaml"), why };
        Self::parse(BUILT_IN).map_err(bad)
    }

    /// Reads a ledger.
    ///
    /// # Errors
    /// The file cannot be read or is not valid, or an entry has no reason.
    pub fn load(file: &Path) -> Result<Self, LedgerError> {
        let unreadable = |why| LedgerError::Unreadable { file: file.to_owned(), why };
        let text = std::fs::read_to_string(file).map_err(unreadable)?;
        Self::parse(&text).map_err(|why| LedgerError::Bad { file: file.to_owned(), why })
    }

    /// Reads the text of a ledger.
    ///
    /// # Errors
    /// It is not valid, or an entry has no reason; the text says which.
    pub fn parse(text: &str) -> Result<Self, String> {
        let entries: Option<Vec<LedgerEntry>> = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
        let entries = entries.unwrap_or_default();
        for (at, entry) in entries.iter().enumerate() {
            let number = at + 1;
            if [&entry.what, &entry.amount, &entry.why].iter().any(|text| text.trim().is_empty()) {
                return Err(format!("entry {number}: what, amount and why must say something"));
            }
            if [&entry.writer, &entry.object, &entry.path].iter().all(|pattern| *pattern == "*") {
                return Err(format!("entry {number}: it would explain everything; name a writer, an object or a path"));
            }
        }
        Ok(Self { entries })
    }

    /// Finds the entry that explains a difference.
    #[must_use]
    pub fn explain(&self, recording: &str, difference: &WriteDifference) -> Option<&LedgerEntry> {
        self.find(recording, difference.writer, &difference.object, &difference.path)
    }

    /// Finds the entry for a recording, or for a comparison as `compare/hollow/health/unreachable/…`.
    #[must_use]
    pub fn find(&self, recording: &str, writer: &str, object: &str, path: &str) -> Option<&LedgerEntry> {
        self.entries.iter().find(|entry| {
            fits(&entry.recording, recording)
                && fits(&entry.writer, writer)
                && fits(&entry.object, object)
                && fits(&entry.path, path)
        })
    }
}

fn fits(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(start) else { return false };
    text.char_indices().map(|(at, _)| at).chain([text.len()]).any(|at| fits(rest, &text[at..]))
}

#[cfg(test)]
mod tests {
    use super::{Ledger, fits};

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(fits("nodes/*", "nodes/a1") && fits("nodes/a1", "nodes/a1") && fits("*", ""));
        assert!(!fits("nodes/a", "nodes/a1") && !fits("pods/*", "nodes/a1"));
        assert!(fits("compare/*/health/*", "compare/kind/health/ä/b") && fits("a*b", "abb"));
        assert!(!fits("compare/*/health", "compare/kind/health/x") && !fits("a*b", "bab"));
    }

    #[test]
    fn an_entry_needs_a_reason_and_must_not_hide_everything() {
        let entry = |writer: &str, why: &str| {
            format!(
                "- {{recording: r, writer: '{writer}', object: '*', path: '*', what: w, amount: 1 s, why: '{why}'}}\n"
            )
        };
        assert!(Ledger::parse(&entry("ttl-controller", "since")).is_ok());
        assert!(Ledger::parse(&entry("ttl-controller", " ")).unwrap_err().contains("must say something"));
        assert!(Ledger::parse(&entry("*", "since")).unwrap_err().contains("explain everything"));
        assert!(Ledger::parse("").unwrap().entries.is_empty());
    }
}
