//! A run of scenarios as a page: what `run --html` and `NODEPROOF_HTML` write.

use nodeproof_core::profile::{Release, Settings};
use nodeproof_core::scenario::Outcome;

use super::page::{Page, Shown, page};
use super::timeline::Picture;
use crate::harness::{Planned, Verdict};

/// How many scenarios that passed get a picture.
const PASSED_MAX: usize = 100;

/// The word for a scenario that cannot be run.
const BROKEN: &str = "broken";

/// A page that is being made.
#[derive(Debug, Default)]
pub struct RunPage {
    page: Page,
    passed: usize,
}

impl RunPage {
    /// Adds what is wrong with a file.
    pub fn problem(&mut self, problem: String) {
        self.page.problems.push(problem);
    }

    /// Adds a scenario that cannot be run.
    pub fn broken(&mut self, planned: &Planned) {
        let (name, text) = (planned.name.clone(), planned.flaw());
        self.page.scenarios.push(Shown { name, verdict: BROKEN, is_failure: true, text, ..titled(planned) });
    }

    /// Adds a scenario with its verdict, why it is not another, and its picture; of those that passed the first ones
    /// have one.
    pub fn add(
        &mut self,
        planned: &Planned,
        name: String,
        (verdict, text): (Verdict, String),
        picture: impl FnOnce() -> Option<Picture>,
    ) {
        let is_failure = verdict.is_failure();
        let picture = if is_failure || self.passed < PASSED_MAX { picture() } else { None };
        self.passed += usize::from(!is_failure && picture.is_some());
        let pictures = picture.map(|own| (String::new(), own)).into_iter().collect();
        let verdict = verdict.word();
        self.page.scenarios.push(Shown { name, verdict, is_failure, text, pictures, ..titled(planned) });
    }

    /// Makes the page of a run on a backend that took so many seconds.
    #[must_use]
    pub fn html(mut self, k8s: &str, backend: &str, seconds: f64) -> String {
        let all = &self.page.scenarios;
        let of = |word: &str| all.iter().filter(|shown| shown.verdict == word).count();
        let (passed, failed) = (of(Verdict::Passed.word()), of(Verdict::Failed.word()));
        let others = [Verdict::Inconclusive, Verdict::Unsupported, Verdict::Skipped].map(Verdict::word);
        let others = others.into_iter().chain([BROKEN]).map(|word| (of(word), word)).filter(|(count, _)| *count > 0);
        let others: String = others.map(|(count, word)| format!(", {count} {word}")).collect();
        let count = if all.len() == 1 { "1 scenario".to_owned() } else { format!("{} scenarios", all.len()) };
        self.page.about = format!(
            "Kubernetes {k8s} on {backend}: {passed} passed, {failed} failed{others}; {count} in {seconds:.1} s"
        );
        page(&self.page)
    }
}

/// Returns the titles of a scenario: its feature's as heading, and its own.
fn titled(planned: &Planned) -> Shown {
    let scenario = &planned.compiled.scenario;
    Shown { heading: scenario.feature.to_string(), title: scenario.name.to_string(), ..Shown::default() }
}

/// Makes the picture of a run of a scenario on a release; none if it did not come to its first act.
#[must_use]
pub fn picture_of(name: &str, planned: &Planned, outcome: &Outcome, release: Release) -> Option<Picture> {
    let scenario = &planned.compiled.scenario;
    let settings = scenario.cluster.settings(&Settings::of(scenario.cluster.release.unwrap_or(release))).ok()?;
    (!outcome.zeros.is_empty()).then(|| Picture::of(name, scenario, outcome, &settings))
}
