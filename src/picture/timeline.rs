//! The timeline of a run as data. Instants are seconds from the zero of the first act.

use jiff::Timestamp;
use nodeproof_core::components::RecordedDecision;
use nodeproof_core::objects::time::parse_duration;
use nodeproof_core::profile::Settings;
use nodeproof_core::scenario::{Bound, Expectation, Outcome, Scenario, StepVerdict, Verdict};

use super::objects::ShownObject;
use super::{faults, lanes, objects};

/// How a span looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As it should be.
    Good,
    /// Not as it should be.
    Bad,
    /// Not known.
    Unknown,
    /// Neither.
    Plain,
}

/// A state that lasted.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// From when.
    pub from: f64,
    /// To when.
    pub to: f64,
    /// What it was.
    pub text: String,
    /// How it looks.
    pub tone: Tone,
}

/// Something that happened at an instant.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// When.
    pub at: f64,
    /// What, and why if it is known.
    pub text: String,
    /// What it is.
    pub kind: MarkKind,
}

/// What a mark is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkKind {
    /// A component decided it.
    Decision,
    /// Somebody wrote it.
    Write,
    /// Another run of the scenario does not have it so.
    Difference,
}

/// A row of a lane: a condition, the taints, the phase.
#[derive(Debug, Clone, PartialEq)]
pub struct LaneRow {
    /// What it shows.
    pub name: String,
    /// The states, in order.
    pub spans: Vec<Span>,
    /// The renewals of a Lease, and the grace period in seconds; drawn as the age of the Lease.
    pub renewals: Option<(Vec<f64>, f64)>,
}

/// What happened to one object.
#[derive(Debug, Clone, PartialEq)]
pub struct Lane {
    /// The object: `Node worker-1`.
    pub name: String,
    /// Its rows.
    pub rows: Vec<LaneRow>,
    /// What was written to it and decided about it.
    pub marks: Vec<Mark>,
}

/// A line of the scenario that expects something.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The line.
    pub text: String,
    /// Its file and line.
    pub place: String,
    /// From when to when it may or must hold.
    pub bound: (f64, f64),
    /// When it was seen.
    pub seen: Option<f64>,
    /// What was seen.
    pub observed: String,
    /// The verdict.
    pub verdict: Verdict,
    /// How much later, or earlier where that is nearer, it could have been seen, of how long it might take; `None`
    /// where it had no choice.
    pub slack: Option<(f64, f64)>,
}

/// From when to when something was broken on purpose.
#[derive(Debug, Clone, PartialEq)]
pub struct FaultPeriod {
    /// From when.
    pub from: f64,
    /// To when.
    pub to: f64,
    /// Whose it is; may be empty.
    pub whose: String,
    /// What is broken.
    pub what: String,
}

/// A run as a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// The scenario.
    pub title: String,
    /// From when to when it shows.
    pub range: (f64, f64),
    /// When each act began, and what was done.
    pub acts: Vec<(f64, String)>,
    /// What was broken on purpose.
    pub faults: Vec<FaultPeriod>,
    /// The lanes: zones, Nodes, Pods, others.
    pub lanes: Vec<Lane>,
    /// What was expected.
    pub bars: Vec<Bar>,
    /// The observed objects and other Nodes over time.
    pub objects: Vec<ShownObject>,
}

impl Picture {
    /// Makes the picture of a run.
    #[must_use]
    pub fn of(title: &str, scenario: &Scenario, outcome: &Outcome, settings: &Settings) -> Self {
        let zero = outcome.zeros.first().copied().unwrap_or(outcome.start);
        let since = |at: Timestamp| at.duration_since(zero).as_secs_f64();
        let end = since(outcome.start + outcome.duration).max(1.0);
        let mut acts = Vec::new();
        let mut bars = Vec::new();
        for (act, own) in scenario.acts.iter().zip(&outcome.zeros) {
            let words: Vec<&str> = act.when.iter().map(|when| when.position.text.as_str()).collect();
            acts.push((since(*own), words.join(" · ")));
            let later = outcome.zeros.iter().find(|other| *other > own).map_or(end, |next| since(*next));
            for expectation in &act.expectations {
                let verdict = outcome.steps.iter().find(|step| step.position == expectation.position);
                bars.extend(verdict.map(|verdict| bar(expectation, verdict, since(*own), later)));
            }
        }
        let decisions: Vec<&RecordedDecision> =
            outcome.decisions.iter().filter(|decision| decision.at >= zero).collect();
        let shown = bars.iter().map(|bar| bar.bound.1).fold(end, f64::max);
        let before = (shown / 40.0).max(0.5);
        let lanes = lanes::of(outcome, &decisions, settings, (zero, end + before / 2.0));
        let zeros: Vec<f64> = outcome.zeros.iter().map(|at| since(*at)).collect();
        let faults = faults::of(scenario, &zeros, end + before / 2.0);
        let objects = objects::of(outcome, zero, -before);
        Self { title: title.to_owned(), range: (-before, shown + before), acts, faults, lanes, bars, objects }
    }

    /// Names the line that passed with the smallest part of its time left, with how much that was; none where a line
    /// did not pass.
    #[must_use]
    pub fn closest(&self) -> Option<String> {
        if self.bars.iter().any(|bar| bar.verdict != Verdict::Passed) {
            return None;
        }
        let lines = self.bars.iter().filter_map(|bar| bar.slack);
        let (left, of) = lines.min_by(|(left, of), (other, whole)| (left / of).total_cmp(&(other / whole)))?;
        Some(format!("{left:.1} s of {of:.0} s to spare"))
    }

    /// Marks an instant in the lane of an object, `Node worker-1`, as different from another run of the scenario.
    pub fn mark_difference(&mut self, lane: &str, at: f64, text: String) {
        let mark = Mark { at, text, kind: MarkKind::Difference };
        match self.lanes.iter_mut().find(|own| own.name == lane) {
            Some(own) => own.marks.push(mark),
            None => self.lanes.push(Lane { name: lane.to_owned(), rows: Vec::new(), marks: vec![mark] }),
        }
    }
}

fn bar(expectation: &Expectation, step: &StepVerdict, zero: f64, act_end: f64) -> Bar {
    let secs = jiff::SignedDuration::as_secs_f64;
    let bound = match &expectation.bound {
        Bound::AtOnce => (0.0, 0.0),
        Bound::Soon(limit) | Bound::Within(limit) | Bound::For(limit) => (0.0, secs(limit)),
        Bound::Between(from, to) => (secs(from), secs(to)),
        Bound::At { offset, after: None } => (secs(offset), secs(offset)),
        Bound::After { within: Some(limit), .. } => (0.0, secs(limit)),
        Bound::At { .. } | Bound::Apart { .. } | Bound::After { .. } | Bound::Act => (0.0, act_end - zero),
    };
    let seen = instant(&step.observed);
    let slack = seen.and_then(|at| match &expectation.bound {
        Bound::Within(limit) => Some((secs(limit) - at, secs(limit))),
        Bound::Between(from, to) => Some(((secs(to) - at).min(at - secs(from)), secs(to) - secs(from))),
        _ => None,
    });
    Bar {
        slack: slack.filter(|(left, of)| *left >= 0.0 && *of >= SHORTEST),
        text: step.position.text.to_string(),
        place: format!("{}:{}", step.position.file, step.position.line),
        bound: (zero + bound.0, zero + bound.1),
        seen: seen.map(|at| zero + at),
        observed: step.observed.clone(),
        verdict: step.verdict,
    }
}

/// How long a bound is at least whose rest is told, in seconds: what has to be at once has no rest.
const SHORTEST: f64 = 2.0;

/// Reads the instant of what was seen: `at +46.251s`, or where a change is told `True until +46.251s, then Unknown`.
fn instant(observed: &str) -> Option<f64> {
    let text = observed.strip_prefix("at ").or_else(|| Some(observed.split_once(" until ")?.1))?;
    let word = text.split([' ', ',', ':']).next()?.trim_start_matches('+');
    parse_duration(word).map(|at| at.as_secs_f64())
}
