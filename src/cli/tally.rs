//! Counts verdicts. Output: `3 passed, 1 failed, 2 skipped`.

use std::collections::BTreeMap;
use std::fmt;

use crate::harness::Verdict;

/// Counts of verdicts.
#[derive(Debug, Default)]
pub(super) struct Tally {
    passed: usize,
    failed: usize,
    inconclusive: usize,
    skipped: BTreeMap<String, usize>,
}

impl Tally {
    /// Counts a verdict; for a skipped scenario also the reason.
    pub(super) fn add(&mut self, verdict: Verdict, why: &str) {
        match verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Failed => self.failed += 1,
            Verdict::Inconclusive => self.inconclusive += 1,
            Verdict::Skipped => *self.skipped.entry(why.to_owned()).or_default() += 1,
        }
    }

    /// Returns how many were skipped for which reason.
    pub(super) const fn skipped(&self) -> &BTreeMap<String, usize> {
        &self.skipped
    }

    /// Returns the reason for which most were skipped; empty if none was.
    pub(super) fn main_reason(&self) -> &str {
        self.skipped.iter().max_by_key(|(_, count)| **count).map_or("", |(reason, _)| reason)
    }

    /// Returns how many count as failed.
    pub(super) const fn failures(&self) -> usize {
        self.failed + self.inconclusive
    }

    /// Returns how many were run.
    pub(super) const fn run(&self) -> usize {
        self.passed + self.failures()
    }

    /// Returns how many there were in all.
    pub(super) fn total(&self) -> usize {
        self.run() + self.skipped.values().sum::<usize>()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed", self.passed)?;
        let skipped = self.skipped.values().sum();
        for (count, verdict) in
            [(self.failed, Verdict::Failed), (self.inconclusive, Verdict::Inconclusive), (skipped, Verdict::Skipped)]
        {
            if count > 0 {
                write!(f, ", {count} {}", verdict.word())?;
            }
        }
        Ok(())
    }
}
