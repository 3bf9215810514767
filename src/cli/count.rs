//! What a run counts over all its seeds, and how it ends: the summary for people, and the exit code.

use std::collections::BTreeMap;

use super::MISUSE;
use super::tally::Tally;
use super::terminal::counted;
use crate::harness::{Backend, Judged, PlannedRun, Suite};

/// The verdicts of a run.
#[derive(Debug, Default)]
pub(super) struct Count {
    /// The verdicts.
    pub(super) tally: Tally,
    seeds: BTreeMap<u64, usize>,
    /// The seeds under which scenarios failed, by their names.
    failures: BTreeMap<String, Vec<u64>>,
}

impl Count {
    /// Counts a verdict; false if it repeats one that was printed: the scenario passed, or failed under another seed.
    pub(super) fn add(&mut self, job: &PlannedRun<'_>, judged: &Judged) -> bool {
        let seed = job.options.seed;
        *self.seeds.entry(seed).or_default() += usize::from(judged.verdict.is_failure());
        let is_first_seed = self.seeds.len() == 1;
        let mut is_news = is_first_seed;
        if judged.verdict.is_failure() {
            let seeds = self.failures.entry(job.planned.name.clone()).or_default();
            is_news = seeds.is_empty();
            seeds.push(seed);
        }
        self.tally.add(judged.verdict, &judged.text);
        is_news
    }

    /// Returns the exit code of a run, and why it is one of misuse where nothing else says so.
    pub(super) fn exit_code(&self, backend: Backend, files_are_fine: bool, jobs: usize) -> (u8, Option<String>) {
        if self.tally.run() == 0 && jobs > 0 {
            let why = self.tally.main_reason();
            return (MISUSE, Some(format!("nothing was run on the backend {}: {why}", backend.name())));
        }
        match (files_are_fine, self.tally.failures()) {
            (false, _) => (MISUSE, None),
            (true, 0) => (0, None),
            (true, _) => (1, None),
        }
    }

    /// Returns the lines for people that end a run.
    pub(super) fn summary(&self, ended: &Ended, with_seeds: bool) -> Vec<String> {
        let mut text = self.tally.to_string();
        for (count, what) in [(ended.broken, "not run"), (ended.not_begun, "not begun")] {
            if count > 0 {
                text += &format!(", {count} {what}");
            }
        }
        if ended.problems > 0 {
            text += &format!("; {} in feature files", counted(ended.problems, "problem"));
        }
        if ended.unread > 0 {
            text += &format!(", {} not read", counted(ended.unread, "file"));
        }
        text += &format!(" in {:.2}s", ended.seconds);
        if with_seeds {
            let seeds = u32::try_from(self.seeds.len()).unwrap_or(u32::MAX);
            let broken = self.seeds.values().filter(|failures| **failures > 0).count();
            let each = ended.seconds / f64::from(seeds.max(1));
            text += &format!(": {seeds} seeds, {broken} with a failure, {each:.3}s a seed");
        }
        let skipped = self.tally.skipped().iter().map(|(reason, count)| format!("     skipped {count}: {reason}"));
        let unsupported = self.tally.unsupported().iter();
        let unsupported = unsupported.map(|(reason, count)| format!(" unsupported {count}: {reason}"));
        let several = self.failures.iter().filter(|_| with_seeds);
        let failures = several.map(|(name, seeds)| format!("      failed {name} under {}", some_of(seeds)));
        skipped.chain(unsupported).chain(failures).chain([format!("    Finished {text}")]).collect()
    }
}

/// What a run did not come to, and how long it took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    /// How many scenarios could not be run, since there is a problem in their text.
    pub(super) broken: usize,
    /// How many files could not be read, so that nothing is known of their scenarios.
    pub(super) unread: usize,
    /// How many problems there are.
    pub(super) problems: usize,
    /// How many scenarios were not begun, since the run ended before.
    pub(super) not_begun: usize,
    /// How long the run took.
    pub(super) seconds: f64,
}

impl Ended {
    /// Begins with what the files of a suite cannot give.
    pub(super) fn of(suite: &Suite, problems: usize) -> Self {
        let broken = suite.disabled().count();
        let unread = suite.broken.iter().filter(|file| file.is_unread).count();
        Self { broken, unread, problems, not_begun: 0, seconds: 0.0 }
    }
}

/// Returns `seeds 3, 7, 9 and 12 more`.
fn some_of(seeds: &[u64]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = seeds.iter().take(SHOWN).map(ToString::to_string).collect();
    let word = if seeds.len() == 1 { "seed" } else { "seeds" };
    match seeds.len().saturating_sub(SHOWN) {
        0 => format!("{word} {}", shown.join(", ")),
        more => format!("{word} {} and {more} more", shown.join(", ")),
    }
}
