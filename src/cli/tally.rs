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
    unsupported: BTreeMap<String, usize>,
}

impl Tally {
    /// Counts a verdict; for a scenario that is skipped or unsupported also the reason.
    pub(super) fn add(&mut self, verdict: Verdict, why: &str) {
        match verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Failed => self.failed += 1,
            Verdict::Inconclusive => self.inconclusive += 1,
            Verdict::Unsupported => *self.unsupported.entry(why.to_owned()).or_default() += 1,
            Verdict::Skipped => *self.skipped.entry(why.to_owned()).or_default() += 1,
        }
    }

    /// Returns how many have which verdict.
    pub(super) fn counts(&self) -> [(&'static str, usize); 5] {
        [
            (Verdict::Passed, self.passed),
            (Verdict::Failed, self.failed),
            (Verdict::Inconclusive, self.inconclusive),
            (Verdict::Unsupported, self.unsupported.values().sum()),
            (Verdict::Skipped, self.skipped.values().sum()),
        ]
        .map(|(verdict, count)| (verdict.word(), count))
    }

    /// Returns how many were skipped for which reason.
    pub(super) const fn skipped(&self) -> &BTreeMap<String, usize> {
        &self.skipped
    }

    /// Returns how many are unsupported for which reason.
    pub(super) const fn unsupported(&self) -> &BTreeMap<String, usize> {
        &self.unsupported
    }

    /// Returns the reason for which most were not run; empty if all were.
    pub(super) fn main_reason(&self) -> &str {
        self.skipped.iter().chain(&self.unsupported).max_by_key(|(_, count)| **count).map_or("", |(reason, _)| reason)
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
        self.run() + self.skipped.values().chain(self.unsupported.values()).sum::<usize>()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [(word, passed), others @ ..] = self.counts();
        write!(f, "{passed} {word}")?;
        others.iter().filter(|(_, count)| *count > 0).try_for_each(|(word, count)| write!(f, ", {count} {word}"))
    }
}
