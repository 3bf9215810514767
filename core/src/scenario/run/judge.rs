//! The judge of one `Then` line.
//!
//! Inputs: each observation of the act, and its time-outs. Output: a verdict with what was seen. A judge keeps what it
//! saw, so that a failure can say what was seen instead, and when and how late the expected came. Invariant: a time-out
//! of an instant comes after all observations of that instant, so limits are inclusive.

mod ending;
mod rhythm;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::cost;
use super::facts::{concerns, elsewhere, touches};
use super::renewals::Renewals;
use super::truth::{self, Holds, Truth};
use super::view::ClusterView;
use crate::network::{LEASES, NODES, Resource};
use crate::objects::time::{offset, seconds};
use crate::objects::{Json, Object, Path};
use crate::scenario::{Aspect, Bound, Every, Expectation, Fact, ObjectChange, ObjectRef, Predicate, Subject, Verdict};

/// What a judge sees at an instant.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    /// The cluster as it is.
    pub(super) view: &'a ClusterView,
    /// The cluster as it was before the act's last action.
    pub(super) baseline: &'a ClusterView,
    /// The change that is being observed, if any.
    pub(super) change: Option<&'a ObjectChange>,
    /// The revision of the latest change.
    pub(super) revision: u64,
    /// Whether the scenario's own action made the change.
    pub(super) own: ChangeOrigin,
    /// The instant.
    pub(super) now: Timestamp,
}

/// The origin of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeOrigin {
    /// The scenario's action under way.
    Action,
    /// The cluster's.
    Cluster,
}

/// Something that was seen from an instant until the next such entry.
#[derive(Clone, Debug)]
pub(super) struct Sighting {
    /// Since when.
    pub(super) at: Timestamp,
    /// What.
    pub(super) truth: Truth,
    /// The number of the decision behind the change.
    pub(super) because: Option<u32>,
}

/// The instant and the revision at which a fact became true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moment {
    at: Timestamp,
    revision: u64,
}

/// A fact that a bound depends on.
#[derive(Clone, Debug)]
struct Anchor {
    fact: Fact,
    held_before: bool,
    moment: Option<Moment>,
}

/// The state of a judge.
#[derive(Clone, Debug, PartialEq, Eq)]
enum JudgeState {
    Open,
    /// Missed; it is still observed to tell how late it comes.
    Late,
    Decided,
}

/// The result of a judge.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    /// The verdict.
    pub(super) verdict: Verdict,
    /// When it was decided.
    pub(super) at: Timestamp,
    /// What was seen.
    pub(super) observed: String,
    /// The instant to explain.
    pub(super) subject_at: Timestamp,
    /// The decision behind it.
    pub(super) because: Option<u32>,
}

/// One `Then` line on its way to a verdict.
#[derive(Debug)]
pub(super) struct Judge {
    expectation: Expectation,
    /// Paths that the sibling lines name.
    named: Vec<Path>,
    zero: Option<Timestamp>,
    state: JudgeState,
    held_before: bool,
    sightings: Vec<Sighting>,
    first_true: Option<Moment>,
    anchor: Option<Anchor>,
    gap: bool,
    renewed: Vec<Timestamp>,
    renewals: Renewals,
    /// The bytes of the heartbeats so far.
    bytes: u64,
    tolerance: SignedDuration,
    finding: Option<Finding>,
}

impl Judge {
    /// Makes a judge with what holds before the act's last action.
    pub(super) fn new(
        expectation: &Expectation,
        named: Vec<Path>,
        tolerance: SignedDuration,
        scene: Scene<'_>,
    ) -> Self {
        let before = truth::judge(&expectation.fact, scene.view, scene.baseline);
        let anchor = expectation.bound.anchor().map(|fact| Anchor {
            held_before: truth::judge(fact, scene.view, scene.baseline).holds == Holds::Yes,
            fact: fact.clone(),
            moment: None,
        });
        Self {
            named,
            zero: None,
            state: JudgeState::Open,
            held_before: before.holds == Holds::Yes,
            sightings: Vec::from([Sighting { at: scene.now, truth: before, because: None }]),
            first_true: None,
            anchor,
            gap: false,
            renewed: Vec::new(),
            renewals: Renewals::default(),
            bytes: 0,
            tolerance,
            finding: None,
            expectation: expectation.clone(),
        }
    }

    /// Returns the line.
    pub(super) const fn expectation(&self) -> &Expectation {
        &self.expectation
    }

    /// Returns the result, if there is one.
    pub(super) const fn finding(&self) -> Option<&Finding> {
        self.finding.as_ref()
    }

    /// Tells whether there is no verdict yet.
    pub(super) fn is_open(&self) -> bool {
        self.state == JudgeState::Open
    }

    /// Tells whether it was missed, and only how late it comes is not known yet.
    pub(super) fn is_late(&self) -> bool {
        self.state == JudgeState::Late
    }

    /// Tells whether the end of its bound depends on a fact that has not become true yet.
    pub(super) fn is_end_unknown(&self) -> bool {
        let without_limit = matches!(self.expectation.bound, Bound::After { within: None, .. });
        let unanchored = self.anchor.as_ref().is_some_and(|anchor| anchor.moment.is_none());
        self.is_open()
            && (without_limit
                || (unanchored && matches!(self.expectation.bound, Bound::At { .. } | Bound::Apart { .. })))
    }

    /// Returns the end of the bound, as far as it is known.
    pub(super) fn end(&self) -> Option<Timestamp> {
        let zero = self.zero?;
        match &self.expectation.bound {
            Bound::At { offset: end, .. } | Bound::Apart { to: end, .. } => self.due(zero, *end),
            Bound::After { within: None, .. } => {
                let other = self.anchor.as_ref().and_then(|anchor| anchor.moment);
                [self.first_true, other].into_iter().flatten().map(|moment| moment.at).max()
            }
            bound => Some(zero + bound.end()),
        }
    }

    /// Takes the zero: the instant at which the act's last action took effect.
    pub(super) fn begin(&mut self, zero: Timestamp, scene: Scene<'_>) {
        self.zero = Some(zero);
        self.observe(scene);
        if self.is_open() && self.anchor.as_ref().is_some_and(|anchor| anchor.held_before) {
            let text = String::from("what it is measured from was true before the When already");
            self.fail(scene.now, text, zero);
        } else if self.is_open() && self.expectation.bound == Bound::AtOnce {
            if self.expectation.fact.subject == Subject::Answer {
                self.fail(scene.now, self.since(zero), zero);
            } else {
                self.miss(scene.now);
            }
        }
    }

    /// Notes that changes of a kind may have been missed.
    pub(super) fn handle_gap(&mut self, resource: &Resource) {
        let anchored = self.anchor.as_ref().is_some_and(|anchor| concerns(&anchor.fact, resource));
        self.gap |= self.is_open() && (anchored || concerns(&self.expectation.fact, resource));
    }

    /// Judges the cluster after a change.
    pub(super) fn observe(&mut self, scene: Scene<'_>) {
        if self.state == JudgeState::Decided || scene.change.is_some_and(|change| self.is_untouched(change)) {
            return;
        }
        let moment = Moment { at: scene.now, revision: scene.revision };
        if let Some(anchor) = self.anchor.as_mut().filter(|anchor| anchor.moment.is_none()) {
            let holds = truth::judge(&anchor.fact, scene.view, scene.baseline).holds == Holds::Yes;
            anchor.held_before &= holds;
            if holds && !anchor.held_before {
                anchor.moment = Some(moment);
            }
        }
        if self.is_idle_change(scene) {
            return;
        }
        let truth = truth::judge(&self.expectation.fact, scene.view, scene.baseline);
        self.held_before &= truth.holds == Holds::Yes;
        if truth.holds == Holds::Yes && self.first_true.is_none() && !self.held_before {
            self.first_true = Some(moment);
        }
        if self.sightings.last().is_none_or(|last| last.truth != truth) {
            let because = scene.change.and_then(|change| change.because);
            self.sightings.push(Sighting { at: scene.now, truth: truth.clone(), because });
        }
        let Some(zero) = self.zero else {
            self.look_for_other_changes(scene);
            return;
        };
        match (&self.expectation.fact.predicate, self.state.clone()) {
            (Predicate::RenewedEvery { .. }, _) => self.observe_renewal(scene),
            (Predicate::RenewedOnTime, _) => {}
            (Predicate::Costs { what, .. }, _) => {
                let counted = scene.change.filter(|change| self.is_about(change));
                self.bytes += counted.map_or(0, |change| cost::of(*what, change));
            }
            (Predicate::NothingElseChanges, _) => self.look_for_other_changes(scene),
            (Predicate::MatchesSnapshot(_), _) => {}
            (_, JudgeState::Late) => self.observe_late(zero, &truth, scene.now),
            (_, _) => self.apply(zero, &truth, scene.now),
        }
    }

    /// Tells whether a change cannot affect an open line; false for a late one, which every change may affect.
    fn is_untouched(&self, change: &ObjectChange) -> bool {
        let anchored = self.anchor.as_ref().is_some_and(|anchor| touches(&anchor.fact, change));
        self.is_open() && !anchored && !touches(&self.expectation.fact, change)
    }

    /// Handles changes that need no look at all Nodes: renewals, and changes that cannot affect a predicate about every
    /// Node. A cluster of thousands of Nodes has hundreds of them a second.
    fn is_idle_change(&mut self, scene: Scene<'_>) -> bool {
        let Some(change) = scene.change else { return false };
        match (&self.expectation.fact.predicate, &self.expectation.fact.subject) {
            (Predicate::RenewedOnTime, _) => {
                if let Some(zero) = self.zero.filter(|_| self.is_about(change)) {
                    self.renewals.observe(change, zero, self.tolerance, scene.now);
                }
                true
            }
            (Predicate::Sound(Aspect::Lease), Subject::Every(_)) if change.resource == LEASES => {
                let fixed = |lease: &Option<Object>| {
                    let lease = lease.as_ref()?.stable();
                    let owners = lease.at(&["metadata", "ownerReferences"]).clone();
                    Some((lease.at(&["spec", "holderIdentity"]).clone(), owners))
                };
                change.after.is_some() && fixed(&change.before) == fixed(&change.after)
            }
            (_, Subject::Every(Every::Node)) => change.resource != NODES,
            _ => false,
        }
    }

    fn apply(&mut self, zero: Timestamp, truth: &Truth, now: Timestamp) {
        let holds = truth.holds == Holds::Yes;
        let passed = now.duration_since(zero);
        match self.expectation.bound.clone() {
            Bound::AtOnce if holds => self.pass(now),
            Bound::Soon(limit) | Bound::Within(limit) => {
                if holds && passed <= limit && !self.counts() {
                    self.pass(now);
                }
            }
            Bound::Between(first, _) if holds => self.apply_interval(zero, zero + first, now),
            Bound::For(limit) => {
                if passed <= limit && !self.is_kept(truth.holds, now) {
                    self.fail_kept(zero, limit, now);
                }
            }
            Bound::At { offset: after, .. } | Bound::Apart { from: after, .. } if holds => {
                match self.due(zero, after) {
                    Some(due) => self.apply_interval(zero, due - self.tolerance, now),
                    None => self.fail(now, format!("{} before what it is measured from", self.since(zero)), now),
                }
            }
            Bound::After { within, .. } => {
                if within.is_none_or(|within| passed <= within) {
                    self.apply_order(zero, now);
                }
            }
            Bound::AtOnce | Bound::Between(..) | Bound::At { .. } | Bound::Apart { .. } | Bound::Act => {}
        }
    }

    /// Tells whether what has to be kept was kept up to now.
    ///
    /// What comes later is judged from its first version on; that it comes is judged at the limit. Its fact may be
    /// written by another component, as the status of a Pod is: that may take as long as the tolerance.
    fn is_kept(&self, holds: Holds, now: Timestamp) -> bool {
        let never = matches!(self.expectation.fact.predicate, Predicate::Not(_));
        let mut seen = self.sightings.iter().skip_while(|seen| seen.truth.holds == Holds::Absent);
        let came_at = seen.next().filter(|first| first.truth.holds == Holds::No).map(|first| first.at);
        let is_first = seen.all(|seen| seen.truth.holds == Holds::No || seen.at == now);
        let is_new = self.sightings.first().is_some_and(|first| first.truth.holds == Holds::Absent);
        let starts = is_new && is_first && !never;
        match (holds, came_at.filter(|_| starts)) {
            (Holds::Yes | Holds::No, Some(at)) => now.duration_since(at) <= self.tolerance,
            (Holds::Yes, None) => true,
            (Holds::No, None) => false,
            (Holds::Absent, _) => never || self.sightings.iter().all(|seen| seen.truth.holds == Holds::Absent),
        }
    }

    /// Exact numbers of Events are counted at the limit: one more may follow.
    fn counts(&self) -> bool {
        matches!(self.expectation.fact.predicate, Predicate::Event { times: Some(_), .. })
    }

    /// Decides a line that became true: it must not be before the interval begins.
    fn apply_interval(&mut self, zero: Timestamp, begins: Timestamp, now: Timestamp) {
        if self.held_before {
            let seen = self.sightings[0].truth.seen.clone();
            self.fail(now, format!("{seen} before the When already; what comes back wants an act of its own"), now);
        } else if now < begins {
            let early = seconds(begins.duration_since(now));
            self.fail(now, format!("{}: {early} too early", self.since(zero)), now);
        } else if self.gap {
            self.leave_open(now);
        } else {
            self.pass(now);
        }
    }

    fn apply_order(&mut self, zero: Timestamp, now: Timestamp) {
        let Some(anchor) = &self.anchor else { return };
        if self.held_before {
            let seen = self.sightings[0].truth.seen.clone();
            self.fail(now, format!("{seen} before the When already"), now);
        } else if let (Some(other), Some(own)) = (anchor.moment, self.first_true) {
            if own.revision > other.revision {
                self.pass(now);
            } else {
                let text = format!("{}, not after {}", self.since(zero), offset(other.at, zero));
                self.fail(now, text, own.at);
            }
        }
    }

    /// Returns the instant at which `at` must become true; `None` while what it depends on has not happened.
    fn due(&self, zero: Timestamp, after: SignedDuration) -> Option<Timestamp> {
        match &self.anchor {
            None => Some(zero + after),
            Some(anchor) => anchor.moment.map(|moment| moment.at + after),
        }
    }

    /// Returns when the verdict is due unless something happens before.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        let zero = self.zero.filter(|_| self.is_open())?;
        if let Predicate::RenewedEvery { every, tolerance } = self.expectation.fact.predicate {
            let next = self.renewed.last().copied().unwrap_or(zero) + every + tolerance;
            return Some(next.min(zero + self.expectation.bound.end()));
        }
        match &self.expectation.bound {
            Bound::AtOnce | Bound::Act => None,
            Bound::Soon(limit) | Bound::Within(limit) | Bound::Between(_, limit) | Bound::For(limit) => {
                Some(zero + *limit)
            }
            Bound::At { offset: end, .. } | Bound::Apart { to: end, .. } => {
                self.due(zero, *end).map(|due| due + self.tolerance)
            }
            Bound::After { within, .. } => within.map(|within| zero + within),
        }
    }

    /// Decides what is due.
    pub(super) fn handle_timeout(&mut self, scene: Scene<'_>) {
        let now = scene.now;
        let Some(zero) = self.zero else { return };
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return;
        }
        if let Predicate::RenewedEvery { every, tolerance } = self.expectation.fact.predicate {
            self.judge_silence(zero, every + tolerance, now);
            return;
        }
        if self.expectation.fact.predicate == Predicate::RenewedOnTime {
            self.judge_renewals(scene, zero);
            return;
        }
        if let Predicate::Costs { what, bytes } = self.expectation.fact.predicate {
            self.judge_cost(what, bytes, now);
            return;
        }
        let truth = truth::judge(&self.expectation.fact, scene.view, scene.baseline);
        match self.expectation.bound.clone() {
            Bound::For(limit) => {
                let never_there = self.sightings.iter().all(|sighting| sighting.truth.holds == Holds::Absent);
                if never_there {
                    self.fail(now, format!("{} up to {}", truth.seen, offset(zero + limit, zero)), now);
                } else if truth.holds == Holds::No {
                    // The line became false by the passing of time alone, without a change.
                    self.fail(now, format!("{} at {}", truth.seen, offset(now, zero)), now);
                } else if self.gap {
                    self.leave_open(now);
                } else {
                    self.pass(now);
                }
            }
            Bound::Within(_) if self.counts() && truth.holds == Holds::Yes && !self.gap => self.pass(now),
            _ => self.miss(now),
        }
    }

    /// Ends the act: a line whose bound depends on a fact that did not become true has failed.
    pub(super) fn end_act(&mut self, now: Timestamp) {
        let Some(zero) = self.zero.filter(|_| self.is_open()) else { return };
        match (&self.expectation.bound, &self.anchor) {
            (Bound::Act, _) if self.gap => self.leave_open(now),
            (Bound::Act, _) => self.pass(now),
            (_, Some(anchor)) if anchor.moment.is_none() => {
                let text = format!("what it is measured from did not happen up to {}", offset(now, zero));
                self.fail(now, text, now);
            }
            _ => self.miss(now),
        }
    }

    /// Ends the wait for a late line.
    pub(super) fn end_wait(&mut self, now: Timestamp) {
        if let (JudgeState::Late, Some(zero)) = (&self.state, self.zero) {
            self.finish_late(zero, now);
        }
    }

    fn is_about(&self, change: &ObjectChange) -> bool {
        let is_it = |of: &ObjectRef| of.resource == change.resource && of.key == change.key;
        match &self.expectation.fact.subject {
            Subject::Object(of) => is_it(of),
            Subject::Several { of, .. } => of.iter().any(is_it),
            Subject::Every(Every::Lease) => change.resource == LEASES,
            Subject::Every(Every::Node) => change.resource == NODES,
            _ => false,
        }
    }

    fn look_for_other_changes(&mut self, scene: Scene<'_>) {
        if self.expectation.fact.predicate != Predicate::NothingElseChanges || !self.is_open() {
            return;
        }
        let Some(change) = scene.change.filter(|change| scene.own == ChangeOrigin::Cluster && self.is_about(change))
        else {
            return;
        };
        let tree = |object: &Option<Object>| object.as_ref().map_or(Json::Null, |object| object.json());
        let zero = self.zero.unwrap_or(scene.now);
        if let Some(other) = elsewhere(&tree(&change.before), &tree(&change.after), &self.named) {
            let text = format!("{other} at {}, by {}", offset(scene.now, zero), change.writer.manager);
            self.decide(Verdict::Failed, scene.now, text, scene.now, change.because);
        }
    }
}
