//! The ledger of known differences: `fixtures/recorded/divergences.yaml`.
//!
//! Input: the text of the file. Output: its entries, or the one that explains a difference. Each entry names recording,
//! writer, object and path (a `*` matches any text), what differs, by how much, and why. One with `after` explains only
//! what stands behind that text, before which both sides are the same. Invariant: every entry has a reason.

use std::path::{Path, PathBuf};

use nodeproof_core::objects::Json;
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
    /// The text behind which the two sides may differ; none if they may anywhere.
    #[serde(default)]
    pub after: Option<String>,
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
        let mut found = self.fitting(recording, difference.writer, &difference.object, &difference.path);
        found.find(|entry| entry.after.as_deref().is_none_or(|text| is_same_before(text, difference)))
    }

    /// Finds the entry for a recording, or for a comparison as `compare/hollow/health/unreachable/…`.
    #[must_use]
    pub fn find(&self, recording: &str, writer: &str, object: &str, path: &str) -> Option<&LedgerEntry> {
        self.fitting(recording, writer, object, path).find(|entry| entry.after.is_none())
    }

    fn fitting(&self, recording: &str, writer: &str, object: &str, path: &str) -> impl Iterator<Item = &LedgerEntry> {
        self.entries.iter().filter(move |entry| {
            fits(&entry.recording, recording)
                && fits(&entry.writer, writer)
                && fits(&entry.object, object)
                && fits(&entry.path, path)
        })
    }
}

/// Tells whether both sides have a text, and the same before it.
fn is_same_before(text: &str, difference: &WriteDifference) -> bool {
    let before = |side: &Json| Some(side.as_str()?.split_once(text)?.0.to_owned());
    before(&difference.real).is_some_and(|start| before(&difference.sim) == Some(start))
}

fn fits(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(start) else { return false };
    text.char_indices().map(|(at, _)| at).chain([text.len()]).any(|at| fits(rest, &text[at..]))
}

#[cfg(test)]
mod tests {
    use nodeproof_core::objects::Json;

    use super::{Ledger, WriteDifference, fits};

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

    #[test]
    fn an_entry_about_the_end_of_a_text_explains_nothing_else() {
        let entry =
            "- {recording: r, writer: '*', object: '*', path: '*message', after: \"\\n\", what: w, amount: a, why: y}";
        let ledger = Ledger::parse(entry).unwrap();
        let explained = |real: &str, sim: &str| {
            let (real, sim) = (Json::from(real), Json::from(sim));
            let (writer, object, path) = ("kube-apiserver", "pods/put".to_owned(), "message".to_owned());
            let difference = WriteDifference { t: 0, writer, object, path, real, sim, ledger: None };
            ledger.explain("r", &difference).is_some()
        };
        assert!(explained("a\nb", "a\n") && !explained("a\nb", "c\nb") && !explained("a\nb", "a"));
        assert!(ledger.find("r", "kube-apiserver", "pods/put", "message").is_none());
    }
}
