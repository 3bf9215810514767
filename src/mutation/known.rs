//! The mutants that are known to survive, each with the reason why that is right.
//!
//! Input: a YAML file. Outputs: whether a survivor is known, and the entries that no survivor needs any more. An entry
//! names a scenario (with all rows of an outline), the kind of the mutant, and where there is one the text of the line.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

use super::mutants::Mutation;
use crate::harness::Planned;

/// A survivor that is known.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// `area::topic::scenario`, without backend; the rows of an outline are meant as well.
    pub scenario: String,
    /// The kind, as [`Mutation::kind`] returns it.
    pub mutant: String,
    /// The text of the line, if it is about one.
    #[serde(default)]
    pub line: Option<String>,
    /// Why it may survive.
    pub reason: String,
}

/// The list, with the entries that were needed so far.
#[derive(Debug, Default)]
pub struct Known {
    entries: Vec<Entry>,
    needed: BTreeSet<usize>,
}

impl Known {
    /// Reads the list.
    ///
    /// # Errors
    /// The file cannot be read or is no such list, or a reason is empty.
    pub fn read(path: &Path) -> Result<Self, String> {
        let named = |why: String| format!("{}: {why}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| named(format!("cannot be read: {error}")))?;
        let entries: Vec<Entry> = serde_yaml::from_str(&text).map_err(|error| named(error.to_string()))?;
        match entries.iter().find(|entry| entry.reason.trim().is_empty()) {
            Some(entry) => Err(named(format!("{} ({}) has no reason", entry.scenario, entry.mutant))),
            None => Ok(Self { entries, needed: BTreeSet::new() }),
        }
    }

    /// Returns how many entries there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Tells whether a survivor is in the list.
    pub fn contains(&mut self, planned: &Planned, mutation: &Mutation) -> bool {
        let is_it = |entry: &Entry| entry.is_about(planned, mutation);
        let found: Vec<usize> = (0..self.entries.len()).filter(|at| is_it(&self.entries[*at])).collect();
        self.needed.extend(&found);
        !found.is_empty()
    }

    /// Returns the entries that no survivor needed, of the scenarios that were run.
    pub fn unneeded<'a>(&'a self, run: &'a [&Planned]) -> impl Iterator<Item = &'a Entry> {
        let unneeded = self.entries.iter().enumerate().filter(|(at, _)| !self.needed.contains(at));
        unneeded.map(|(_, entry)| entry).filter(|entry| run.iter().any(|planned| entry.is_of(planned)))
    }
}

impl Entry {
    fn is_of(&self, planned: &Planned) -> bool {
        let rest = planned.compiled.id.strip_prefix(&self.scenario);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    }

    fn is_about(&self, planned: &Planned, mutation: &Mutation) -> bool {
        let line = mutation.line().map(|line| line.text.as_str());
        self.is_of(planned) && self.mutant == mutation.kind() && (self.line.is_none() || self.line.as_deref() == line)
    }
}
