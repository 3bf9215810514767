//! The end of a judge: its verdict, and the text about what was seen.

use alloc::format;
use alloc::string::{String, ToString};

use jiff::{SignedDuration, Timestamp};

use super::{Finding, Judge, JudgeState};
use crate::objects::time::{offset, seconds};
use crate::scenario::run::truth::{Holds, Truth};
use crate::scenario::{Bound, FieldTest, Predicate, Verdict};

impl Judge {
    pub(super) fn finish_late(&mut self, zero: Timestamp, now: Timestamp) {
        let text = format!("{} up to {}", self.sequence(zero), offset(now, zero));
        let (at, because) = self.last_change();
        self.decide(Verdict::Failed, now, text, at, because);
    }

    pub(super) fn miss(&mut self, now: Timestamp) {
        if self.gap {
            self.leave_open(now);
        } else if self.counts() {
            let zero = self.zero.unwrap_or(now);
            let text = format!("{} up to {}", self.sequence(zero), offset(now, zero));
            self.fail(now, text, now);
        } else {
            self.state = JudgeState::Late;
        }
    }

    pub(super) fn observe_late(&mut self, zero: Timestamp, truth: &Truth, now: Timestamp) {
        if truth.holds != Holds::Yes {
            return;
        }
        let limit = match &self.expectation.bound {
            Bound::At { offset: end, .. } | Bound::Apart { to: end, .. } => self.due(zero, *end).unwrap_or(zero),
            Bound::Soon(limit) => zero + *limit,
            bound => zero + bound.end(),
        };
        let text = format!("{}: {} late", self.until_then(zero), seconds(now.duration_since(limit)));
        let because = self.sightings.last().and_then(|sighting| sighting.because);
        self.decide(Verdict::Failed, now, text, now, because);
    }

    pub(super) fn fail_kept(&mut self, zero: Timestamp, limit: SignedDuration, now: Timestamp) {
        if let Predicate::Field { test: FieldTest::Unchanged, path } = &self.expectation.fact.predicate
            && self.sightings.first().is_some_and(|first| first.truth.holds != Holds::Yes)
        {
            let text = format!("{path} is absent when the act begins: that it stays so proves nothing");
            self.fail(now, text, now);
            return;
        }
        let text = if self.sightings.len() > 1 {
            let short = seconds((zero + limit).duration_since(now));
            format!("{}: {short} short of {}", self.until_then(zero), self.expectation.as_written(limit))
        } else {
            self.since(zero)
        };
        self.fail(now, text, now);
    }

    pub(super) fn pass(&mut self, now: Timestamp) {
        let zero = self.zero.unwrap_or(now);
        let (text, because) = match self.expectation.bound {
            Bound::For(_) | Bound::Act => (format!("up to {}", offset(now, zero)), None),
            _ => (format!("at {}", offset(now, zero)), self.last_change().1),
        };
        self.decide(Verdict::Passed, now, text, now, because);
    }

    pub(super) fn fail(&mut self, now: Timestamp, observed: String, subject_at: Timestamp) {
        let because = self.sightings.iter().rev().find(|seen| seen.at <= subject_at).and_then(|seen| seen.because);
        self.decide(Verdict::Failed, now, observed, subject_at, because);
    }

    pub(super) fn leave_open(&mut self, now: Timestamp) {
        let zero = self.zero.unwrap_or(now);
        let text = format!("{}; a watch had to list again, so something may have been missed", self.sequence(zero));
        self.decide(Verdict::Inconclusive, now, text, now, None);
    }

    pub(super) fn decide(
        &mut self,
        verdict: Verdict,
        at: Timestamp,
        observed: String,
        subject_at: Timestamp,
        because: Option<u32>,
    ) {
        self.state = JudgeState::Decided;
        self.finding = Some(Finding { verdict, at, observed, subject_at, because });
    }

    pub(super) fn last_change(&self) -> (Timestamp, Option<u32>) {
        match self.sightings.as_slice() {
            [_, .., last] => (last.at, last.because),
            _ => (self.zero.unwrap_or(Timestamp::UNIX_EPOCH), None),
        }
    }

    /// `Ready=True (KubeletReady) until +46.251s, then Unknown`.
    pub(super) fn until_then(&self, zero: Timestamp) -> String {
        match self.sightings.as_slice() {
            [.., before, last] if before.truth.seen != last.truth.seen => {
                format!("{} until {}, then {}", before.truth.seen, offset(last.at, zero), last.truth.brief)
            }
            _ => self.since(zero),
        }
    }

    /// `Ready=Unknown (NodeStatusUnknown) at +39s`.
    pub(super) fn since(&self, zero: Timestamp) -> String {
        let last = self.sightings.last();
        let seen = last.map_or("", |last| last.truth.seen.as_str());
        format!("{seen} at {}", offset(last.map_or(zero, |last| last.at.max(zero)), zero))
    }

    /// The latest few of the states that were seen.
    pub(super) fn sequence(&self, zero: Timestamp) -> String {
        const SHOWN: usize = 4;
        let from = self.sightings.len().saturating_sub(SHOWN);
        let mut text = String::new();
        for (at, sighting) in self.sightings[from..].iter().enumerate() {
            if at > 0 {
                text.push_str(&format!(" until {}, then ", offset(sighting.at, zero)));
            }
            text.push_str(if at == 0 { &sighting.truth.seen } else { &sighting.truth.brief });
        }
        if text.is_empty() { "nothing".to_string() } else { text }
    }
}
