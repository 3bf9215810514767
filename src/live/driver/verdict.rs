//! Decides the verdict of a run on a live cluster: from the judge's outcome, and from how the cluster and this machine
//! performed.
//!
//! Inputs: the judge's outcome, what was wrong with the cluster, how long answers took. Output: the outcome that is
//! reported. Invariants: a line that may have been missed, or that was late on a machine that is too slow, is
//! inconclusive and not failed; a failure never becomes a pass. Pure.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::objects::time::seconds;
use nodeproof_core::scenario::{Outcome, Scenario, StepVerdict, Subject, Verdict};

use crate::live::answers::{Measured, worst};
use crate::live::interrupt;
use crate::live::timing::CONCERNED;
use crate::live::tolerance::TimingTolerance;

/// Why a scenario could not go on, or why its outcome means nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The run was interrupted.
    Interrupted,
    /// The cluster is not in order, for this reason.
    Cluster(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Interrupted => interrupt::SAID,
            Self::Cluster(why) => why,
        })
    }
}

/// How the cluster and this machine performed during a scenario.
#[derive(Debug)]
pub(super) struct Circumstances {
    /// By how much bounds could be missed.
    pub(super) timing_tolerance: TimingTolerance,
    /// How long answers of the API server took.
    pub(super) answers: Measured,
    /// By how much this program itself was woken too late.
    pub(super) lags: Measured,
    /// The longest time for which the API server did not answer.
    pub(super) silence: SignedDuration,
    /// Whether it still does not answer.
    pub(super) is_blind: bool,
    /// What ended the scenario, or what was wrong with the cluster after it had failed.
    pub(super) trouble: Option<Trouble>,
    /// What could not be removed.
    pub(super) left: Option<String>,
}

/// Decides the final outcome of a scenario.
pub(super) fn conclude(mut outcome: Outcome, scenario: &Scenario, seen: Circumstances) -> Outcome {
    let Circumstances { timing_tolerance, answers, lags, silence, is_blind, trouble, left } = seen;
    let has_failed = outcome.verdict == Verdict::Failed;
    outcome.tolerance = format!(
        "{timing_tolerance}; an answer took up to {}, and this program itself was late by up to {}",
        seconds(worst(&answers, outcome.start)),
        seconds(worst(&lags, outcome.start))
    );
    let concerned = outcome.zeros.last().map_or(outcome.start, |zero| *zero - CONCERNED);
    outcome.is_too_slow = timing_tolerance.is_overrun_by(worst(&answers, concerned).max(worst(&lags, concerned)));
    if let Some(trouble) = trouble {
        outcome = cut_short(outcome, scenario, trouble);
    } else if has_failed && (is_blind || silence > timing_tolerance.tolerance) {
        outcome.verdict = Verdict::Inconclusive;
        outcome.tolerance += &format!("; the API server did not answer for {}", seconds(silence));
    } else if has_failed && outcome.is_too_slow && depends_on_time(&outcome, scenario) {
        outcome.verdict = Verdict::Inconclusive;
        outcome.tolerance += ": too slow for these bounds, so that nothing can be said";
    }
    if let Some(why) = left {
        let position = outcome.mismatch.as_ref().map(|mismatch| mismatch.step.clone()).unwrap_or_default();
        let at = SignedDuration::ZERO;
        outcome.steps.push(StepVerdict { position, verdict: Verdict::Passed, at, observed: why, because: None });
    }
    outcome
}

/// Returns the outcome of a scenario that could not be played: it has failed.
pub(super) fn broken(scenario: &Scenario, why: String, start: Timestamp) -> Outcome {
    Outcome::never_began(scenario, "a cluster on which the scenario can be played", why, start)
}

/// Returns the outcome of a scenario that was not begun: it is inconclusive.
pub(super) fn undecided(scenario: &Scenario, why: String, start: Timestamp) -> Outcome {
    Outcome { verdict: Verdict::Inconclusive, ..broken(scenario, why, start) }
}

/// Returns the outcome of a scenario that could not go on. A line that had failed before an interruption has failed; on
/// a cluster that broke down it may have failed for that reason, so the scenario is inconclusive.
fn cut_short(mut outcome: Outcome, scenario: &Scenario, trouble: Trouble) -> Outcome {
    match &trouble {
        Trouble::Interrupted => outcome.verdict = Verdict::Inconclusive.max(outcome.verdict),
        Trouble::Cluster(why) => {
            outcome.verdict = Verdict::Inconclusive;
            outcome.tolerance += &format!("; the cluster is not in order: {why}");
        }
    }
    let end = broken(scenario, trouble.to_string(), outcome.start);
    outcome.mismatch = outcome.mismatch.or(end.mismatch);
    outcome.snapshots.clear();
    outcome
}

/// Tells whether a line was missed that could have held on a faster machine. The content of an answer does not depend
/// on time.
fn depends_on_time(outcome: &Outcome, scenario: &Scenario) -> bool {
    let Some(mismatch) = &outcome.mismatch else { return false };
    !scenario.expectations().any(|line| line.fact.subject == Subject::Answer && line.position == mismatch.step)
}

#[cfg(test)]
mod tests {
    use nodeproof_core::profile::Settings;
    use nodeproof_core::scenario::{Act, Bound, Expectation, Fact, GraceLimits, ObjectRef, Position, Predicate};

    use super::*;

    fn position(text: &str) -> Position {
        Position { text: text.into(), ..Position::default() }
    }

    /// Concludes a scenario of two lines, one about an answer and one about a Node, of which one or none has failed.
    fn check(failed: Option<&str>, change: impl FnOnce(&mut Circumstances)) -> Outcome {
        let line = |subject, step: &str| Expectation {
            fact: Fact { subject, predicate: Predicate::Gone },
            bound: Bound::AtOnce,
            in_grace: GraceLimits::default(),
            position: position(step),
        };
        let expectations =
            Vec::from([line(Subject::Answer, "answer"), line(Subject::Object(ObjectRef::node("w1")), "node")]);
        let scenario = Scenario { acts: Vec::from([Act { expectations, ..Act::default() }]), ..Scenario::default() };
        let start = Timestamp::UNIX_EPOCH;
        let mut outcome = broken(&scenario, "late".to_owned(), start);
        outcome.zeros = Vec::from([start + SignedDuration::from_secs(100)]);
        match failed {
            Some(step) => outcome.mismatch.as_mut().unwrap().step = position(step),
            None => outcome = Outcome { verdict: Verdict::Passed, mismatch: None, ..outcome },
        }
        let mut seen = Circumstances {
            timing_tolerance: TimingTolerance::of(SignedDuration::from_millis(20), &Settings::default()),
            answers: Measured::new(),
            lags: Measured::new(),
            silence: SignedDuration::ZERO,
            is_blind: false,
            trouble: None,
            left: None,
        };
        change(&mut seen);
        conclude(outcome, &scenario, seen)
    }

    fn measured(second: i64, millis: i64) -> Measured {
        let at = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second);
        Vec::from([(at, SignedDuration::from_millis(millis))])
    }

    #[test]
    fn a_failure_stays_one_where_nothing_speaks_for_the_cluster() {
        let outcome = check(Some("node"), |_| {});
        assert_eq!(outcome.verdict, Verdict::Failed);
        assert!(outcome.tolerance.ends_with("late by up to 0s"), "{}", outcome.tolerance);
    }

    #[test]
    fn a_machine_that_is_too_slow_makes_what_was_late_inconclusive() {
        // Four answers of 501 ms use up two seconds. The act began at 100 s, and the 60 s before it count.
        let slow = |second, millis| move |seen: &mut Circumstances| seen.answers = measured(second, millis);
        assert_eq!(check(Some("node"), slow(41, 501)).verdict, Verdict::Inconclusive);
        assert_eq!(check(Some("node"), slow(41, 500)).verdict, Verdict::Failed);
        assert_eq!(check(Some("node"), slow(39, 501)).verdict, Verdict::Failed, "long before");
        assert_eq!(check(Some("answer"), slow(41, 501)).verdict, Verdict::Failed, "no matter of time");
        assert_eq!(check(Some("a Given"), slow(41, 501)).verdict, Verdict::Inconclusive);
        assert_eq!(check(None, slow(41, 501)).verdict, Verdict::Passed);
        let late = check(Some("node"), |seen| seen.lags = measured(99, 501));
        assert_eq!(late.verdict, Verdict::Inconclusive);
        assert!(late.tolerance.contains("was late by up to 0.501s: too slow"), "{}", late.tolerance);
    }

    #[test]
    fn what_may_have_been_missed_is_inconclusive() {
        let silent = |millis| move |seen: &mut Circumstances| seen.silence = SignedDuration::from_millis(millis);
        assert_eq!(check(Some("answer"), silent(2001)).verdict, Verdict::Inconclusive);
        assert_eq!(check(Some("answer"), silent(2000)).verdict, Verdict::Failed);
        assert_eq!(check(Some("answer"), |seen| seen.is_blind = true).verdict, Verdict::Inconclusive);
        assert_eq!(check(None, |seen| seen.is_blind = true).verdict, Verdict::Passed);
    }

    #[test]
    fn a_cluster_that_breaks_down_fails_no_scenario() {
        let broke = |seen: &mut Circumstances| seen.trouble = Some(Trouble::Cluster("etcd was killed".to_owned()));
        let outcome = check(None, broke);
        assert_eq!(outcome.verdict, Verdict::Inconclusive);
        assert_eq!(outcome.mismatch.unwrap().observed, "etcd was killed");
        let outcome = check(Some("node"), broke);
        assert_eq!((outcome.verdict, outcome.mismatch.unwrap().observed.as_str()), (Verdict::Inconclusive, "late"));
        assert!(outcome.tolerance.ends_with("; the cluster is not in order: etcd was killed"), "{}", outcome.tolerance);
    }

    #[test]
    fn what_had_failed_before_an_interruption_has_failed() {
        let interrupted = |seen: &mut Circumstances| seen.trouble = Some(Trouble::Interrupted);
        assert_eq!(check(Some("node"), interrupted).verdict, Verdict::Failed);
        let outcome = check(None, interrupted);
        assert_eq!(outcome.verdict, Verdict::Inconclusive);
        assert_eq!(outcome.mismatch.unwrap().observed, "the run was interrupted");
    }

    #[test]
    fn what_could_not_be_removed_is_told_and_changes_nothing() {
        let outcome = check(None, |seen| seen.left = Some("Node a: not removed".to_owned()));
        assert_eq!(outcome.verdict, Verdict::Passed);
        assert_eq!(outcome.steps.last().unwrap().observed, "Node a: not removed");
    }
}
