//! The outcome of a scenario: a verdict for each step, and what explains it. Data.

use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::{Histories, Position, Scenario, SnapshotKind};
use crate::components::{RecordedDecision, TraceLine};
use crate::objects::{Json, Text};

/// The final verdict about a step or a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It held.
    Passed,
    /// Nothing was decided, since the model lacks what the scenario uses; neither good nor bad.
    Unsupported,
    /// Not decidable, since an observation may have been missed; never counted as passed.
    Inconclusive,
    /// It did not hold.
    Failed,
}

/// The verdict of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepVerdict {
    /// The step.
    pub position: Position,
    /// The verdict.
    pub verdict: Verdict,
    /// When it was decided, from the act's zero.
    pub at: SignedDuration,
    /// What was seen, in a line: `at +46.251s`.
    pub observed: String,
    /// The number of the decision behind what was seen last.
    pub because: Option<u32>,
}

/// Why a step failed or is inconclusive.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// The step.
    pub step: Position,
    /// What it asked for: predicate and bound.
    pub expected: String,
    /// What was seen, and if it happened late, when and how late.
    pub observed: String,
    /// The decisions behind what was seen; the latest about the object if nothing happened.
    pub why: Vec<String>,
    /// What went before, latest first.
    pub last: Vec<String>,
    /// The other lines of the act that did not hold.
    pub also: Vec<Missed>,
    /// The command that repeats it; the entry point fills it in, else it is empty.
    pub replay: String,
}

/// A line that did not hold beside the one that a [`Mismatch`] explains.
#[derive(Clone, Debug, PartialEq)]
pub struct Missed {
    /// The step.
    pub step: Position,
    /// What it asked for.
    pub expected: String,
    /// What was seen.
    pub observed: String,
}

/// A value to compare with a stored snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The step that asks for it.
    pub step: Position,
    /// Which kind.
    pub kind: SnapshotKind,
    /// The object's name, as part of the file's name: `worker-1`; empty if the scenario names only one such.
    pub name: Text,
    /// What to print as YAML.
    pub value: Json,
}

/// The outcome of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The worst of the steps' verdicts.
    pub verdict: Verdict,
    /// Each step's verdict in order.
    pub steps: Vec<StepVerdict>,
    /// The first step that failed, or else the first that is inconclusive.
    pub mismatch: Option<Mismatch>,
    /// What was written to the observed objects.
    pub histories: Histories,
    /// The values to compare with snapshots; empty unless all steps passed.
    pub snapshots: Vec<Snapshot>,
    /// All decisions.
    pub decisions: Vec<RecordedDecision>,
    /// The trace; empty if none was kept.
    pub trace: Vec<TraceLine>,
    /// The instant at which the scenario started.
    pub start: Timestamp,
    /// Each act's zero, in order, as far as the scenario came.
    pub zeros: Vec<Timestamp>,
    /// How much time passed in the cluster.
    pub duration: SignedDuration,
    /// How far bounds may have been missed, and why, for people; empty where they are exact.
    pub tolerance: String,
    /// Whether the cluster or this machine was too slow for that, so that what came late, or came merged with what
    /// followed, proves nothing.
    pub is_too_slow: bool,
}

impl Outcome {
    /// Makes the outcome of a scenario that uses what is not modelled, so that nothing of it is run.
    #[must_use]
    pub fn unsupported(scenario: &Scenario, why: String, start: Timestamp) -> Self {
        let outcome = Self::never_began(scenario, "what the model has", why, start);
        Self { verdict: Verdict::Unsupported, ..outcome }
    }

    /// Makes the outcome of a scenario that failed before it began, because there is no environment to run it in.
    #[must_use]
    pub fn never_began(scenario: &Scenario, expected: &str, why: String, start: Timestamp) -> Self {
        let position = scenario.position.clone();
        let (verdict, at) = (Verdict::Failed, SignedDuration::ZERO);
        Self {
            verdict,
            steps: Vec::from([StepVerdict {
                position: position.clone(),
                verdict,
                at,
                observed: why.clone(),
                because: None,
            }]),
            mismatch: Some(Mismatch {
                step: position,
                expected: String::from(expected),
                observed: why,
                why: Vec::new(),
                last: Vec::new(),
                also: Vec::new(),
                replay: String::new(),
            }),
            histories: Vec::new().into(),
            snapshots: Vec::new(),
            decisions: Vec::new(),
            trace: Vec::new(),
            start,
            zeros: Vec::new(),
            duration: SignedDuration::ZERO,
            tolerance: String::new(),
            is_too_slow: false,
        }
    }
}
