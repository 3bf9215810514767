//! Why a line failed: the decisions behind what was seen, and what went before.

use alloc::string::ToString;

use super::judge::Finding;
use super::*;
use crate::objects::canonical::{canonical, names_by_uid};
use crate::scenario::{Expectation, History, SnapshotKind};

/// How many decisions and events a failure names at most.
const SHOWN_MAX: usize = 4;

impl Run {
    pub(super) fn explain(&self, line: &Expectation, finding: &Finding, _now: Timestamp) -> Mismatch {
        let of = object_of(&line.fact.subject);
        Mismatch {
            step: line.position.clone(),
            expected: line.to_string(),
            observed: finding.observed.clone(),
            why: self.decisions_behind(of.as_ref(), finding.because, finding.subject_at),
            last: self.events_before(of.as_ref(), finding.subject_at),
            replay: String::new(),
        }
    }

    /// The same for a step that is no `Then`: what was decided last, and what was done.
    pub(super) fn explain_step(&self, now: Timestamp) -> (Vec<String>, Vec<String>) {
        (Vec::new(), self.events_before(None, now))
    }

    fn decisions_behind(&self, of: Option<&ObjectRef>, because: Option<u32>, at: Timestamp) -> Vec<String> {
        if let Some(decision) = because.and_then(|number| self.decisions.get(&number)) {
            return Vec::from([self.decision_text(decision)]);
        }
        let Some(of) = of else { return Vec::new() };
        let about = format!("{}/{}", of.kind.to_lowercase(), of.key);
        let latest = self.decisions.values().rev().filter(|decision| decision.decision.about == *about);
        let before: Vec<String> =
            latest.clone().filter(|decision| decision.at <= at).take(2).map(|it| self.decision_text(it)).collect();
        if before.is_empty() { latest.take(1).map(|it| self.decision_text(it)).collect() } else { before }
    }

    fn decision_text(&self, decision: &RecordedDecision) -> String {
        let reasons = decision.reasons();
        let at = offset(decision.at, self.zero);
        let what = &decision.decision.what;
        let why = if reasons.is_empty() { what.clone() } else { reasons };
        format!("d{} {} at {at}: {why}", decision.number, decision.component)
    }

    fn events_before(&self, of: Option<&ObjectRef>, at: Timestamp) -> Vec<String> {
        let mut events: Vec<(Timestamp, String)> = Vec::new();
        for (when, step) in &self.story {
            events.push((*when, format!("{} (line {})", sentence_of(&step.text), step.line)));
        }
        if let Some(of) = of {
            if of.resource == NODES
                && let Some(renewed) = self.log.last_renewal(&of.key.name, at)
            {
                events.push((renewed, format!("Lease {} renewed", of.key.name)));
            }
            for (when, by, fields) in self.log.last_changes(of, at, self.zero).take(2) {
                let (first, more) = (fields.first().cloned().unwrap_or_default(), fields.len().saturating_sub(1));
                let more = if more == 0 { String::new() } else { format!(" and {more} more") };
                events.push((when, format!("{} {}: {by} wrote {first}{more}", of.kind, of.key)));
            }
        }
        events.sort_by_key(|(when, _)| core::cmp::Reverse(*when));
        events.truncate(SHOWN_MAX);
        events.into_iter().map(|(when, text)| format!("{} {text}", offset(when, self.zero))).collect()
    }

    /// Takes the snapshots that the lines of an act ask for.
    pub(super) fn take_snapshots(&mut self, act: usize, _now: Timestamp) {
        let scenario = self.scenario.clone();
        let names = names_by_uid(self.view.all().map(|(_, object)| object));
        for line in &scenario.acts[act].expectations {
            let Predicate::MatchesSnapshot(kind) = line.fact.predicate else { continue };
            let (name, value) = match (&line.fact.subject, kind) {
                (Subject::Object(of), SnapshotKind::Object | SnapshotKind::Table) => {
                    let tree = self.view.object(of).map_or(Json::Null, Object::json);
                    (of.key.name.clone(), canonical(&tree, self.zero, &names))
                }
                (Subject::Object(of), SnapshotKind::History) => {
                    (of.key.name.clone(), History { object: of.clone(), entries: self.log.history(of) }.json())
                }
                (Subject::Table(resource), _) => {
                    let objects = self.view.objects_of(resource).map(|it| canonical(&it.json(), self.zero, &names));
                    (resource.plural.clone(), objects.collect())
                }
                (Subject::Answer, _) => {
                    let body = self.view.answer().map_or(Json::Null, |answer| answer.body.clone());
                    (Text::of("answer"), canonical(&body, self.zero, &names))
                }
                (Subject::Machine(name), _) => (name.clone(), self.view.machine(name).cloned().unwrap_or_default()),
                (Subject::PodsOf { owner: name, .. } | Subject::Several { called: name, .. }, _) => {
                    (name.clone(), Json::Null)
                }
            };
            self.snapshots.push(Snapshot { step: line.position.clone(), kind, name, value });
        }
    }
}

fn object_of(subject: &Subject) -> Option<ObjectRef> {
    match subject {
        Subject::Object(of) => Some(of.clone()),
        _ => None,
    }
}

/// Returns a step without its keyword and quotation marks.
fn sentence_of(text: &str) -> String {
    let sentence = text.split_once(' ').map_or(text, |(_, rest)| rest);
    sentence.chars().filter(|letter| *letter != '"').collect()
}
