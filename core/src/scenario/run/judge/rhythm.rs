//! Judges lines about repeated writes: how regular renewals are, and how many bytes heartbeats take.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::{Judge, Scene};
use crate::objects::Object;
use crate::objects::time::{offset, seconds};
use crate::scenario::run::truth;
use crate::scenario::{Cost, ObjectRef, Predicate, Subject, Verdict};

impl Judge {
    pub(super) fn observe_renewal(&mut self, scene: Scene<'_>) {
        let (Predicate::RenewedEvery { every, tolerance }, Some(zero)) = (&self.expectation.fact.predicate, self.zero)
        else {
            return;
        };
        let (every, tolerance) = (*every, *tolerance);
        let Some(change) = scene.change.filter(|change| self.is_about(change)) else { return };
        let renewal = |object: &Option<Object>| object.as_ref().and_then(heartbeat_time);
        let new = renewal(&change.after);
        if new.is_none() || new == renewal(&change.before) || !self.is_open() {
            return;
        }
        let now = scene.now;
        let last = self.renewed.last().copied();
        let pause = now.duration_since(last.unwrap_or(zero));
        if pause > every + tolerance || (last.is_some() && pause < every - tolerance) {
            let text = format!("a pause of {} at {}", seconds(pause), offset(now, zero));
            self.fail(now, text, now);
            return;
        }
        self.renewed.push(now);
    }

    pub(super) fn judge_silence(&mut self, zero: Timestamp, longest: SignedDuration, now: Timestamp) {
        let last = self.renewed.last().copied().unwrap_or(zero);
        let ends = zero + self.expectation.bound.end();
        let silent = now.duration_since(last) >= longest && last + longest < ends;
        if silent || self.renewed.is_empty() {
            let text = match self.renewed.last() {
                Some(at) => format!("renewed last at {}", offset(*at, zero)),
                None => format!("not renewed up to {}", offset(now, zero)),
            };
            self.fail(now, text, last);
        } else if self.gap {
            self.leave_open(now);
        } else if now >= ends {
            self.pass(now);
        }
    }

    pub(super) fn judge_renewals(&mut self, scene: Scene<'_>, zero: Timestamp) {
        let now = scene.now;
        let leases: Vec<ObjectRef> = match &self.expectation.fact.subject {
            Subject::Object(of) => Vec::from([of.clone()]),
            Subject::Every(every) => {
                truth::every_node(scene.view, scene.baseline).iter().map(|node| every.of(node)).collect()
            }
            _ => Vec::new(),
        };
        let wrong = self.renewals.late(&leases, scene.view, zero, self.tolerance, now);
        if self.gap {
            self.leave_open(now);
        } else if leases.is_empty() {
            self.fail(now, String::from("there is no Node"), now);
        } else if wrong.is_empty() {
            self.pass(now);
        } else {
            self.fail(now, truth::of_nodes(wrong, leases.len()), now);
        }
    }

    pub(super) fn judge_cost(&mut self, what: Cost, (least, most): (u64, u64), now: Timestamp) {
        let lasted = self.expectation.bound.end().as_millis().unsigned_abs().max(1);
        let per_minute = u64::try_from(u128::from(self.bytes) * 60_000 / lasted).unwrap_or(u64::MAX);
        let text = format!("{per_minute} bytes a minute {what}");
        if self.gap {
            self.leave_open(now);
        } else if (least..=most).contains(&per_minute) {
            self.decide(Verdict::Passed, now, text, now, None);
        } else {
            self.fail(now, text, now);
        }
    }
}

/// Returns the time of an object's last heartbeat.
fn heartbeat_time(object: &Object) -> Option<Timestamp> {
    object.renew_time().or_else(|| object.heartbeat_time("Ready"))
}
