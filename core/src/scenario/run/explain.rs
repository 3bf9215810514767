//! Explains a failed line: the decisions behind what was seen, the changes before it, and the snapshots of an act.
//!
//! Inputs: decisions, the history, the view. Outputs: lines of text.

use alloc::string::ToString;

use super::chosen_pods::{ChosenPods, is_owned_by};
use super::judge::Finding;
use super::*;
use crate::components::api_server::content_negotiation::kubectl_lines;
use crate::objects::canonical::{canonical, names_by_uid};
use crate::profile::Profile;
use crate::scenario::history::story;
use crate::scenario::{Expectation, PodsBy, SnapshotKind};

/// How many decisions and events a failure names at most.
const SHOWN_MAX: usize = 4;

impl Run {
    pub(super) fn explain(&self, line: &Expectation, finding: &Finding, _now: Timestamp) -> Mismatch {
        let of = object_of(&line.fact.subject);
        Mismatch {
            step: line.position.clone(),
            expected: line.to_string(),
            observed: self.with_offsets(&finding.observed),
            why: self.decisions_behind(&line.fact, finding.because, finding.subject_at),
            last: self.events_before(of.as_ref(), finding.subject_at),
            also: Vec::new(),
            replay: String::new(),
        }
    }

    /// Returns a line that did not hold beside the one that is explained.
    pub(super) fn missed(&self, line: &Expectation, finding: &Finding) -> Missed {
        let (expected, observed) = (line.to_string(), self.with_offsets(&finding.observed));
        Missed { step: line.position.clone(), expected, observed }
    }

    /// Explains a failed step that is no `Then`: the last decisions about what it waited for, and what was done last.
    pub(super) fn explain_step(&self, awaited: Option<&Fact>, now: Timestamp) -> (Vec<String>, Vec<String>) {
        let of = awaited.and_then(|fact| object_of(&fact.subject));
        let why = awaited.map_or_else(Vec::new, |fact| self.decisions_behind(fact, None, now));
        (why, self.events_before(of.as_ref(), now))
    }

    /// Returns the decision behind what was seen with those that caused it, or else the latest relevant ones.
    fn decisions_behind(&self, fact: &Fact, because: Option<u32>, at: Timestamp) -> Vec<String> {
        let mut chosen = match because.and_then(|number| self.decisions.get(&number)) {
            Some(decision) => self.chain(decision),
            None => Vec::new(),
        };
        let of = object_of(&fact.subject);
        let abouts = match (&of, &fact.subject) {
            (Some(of), _) => self.abouts(of),
            (None, Subject::PodsOf { namespace, by, place }) => {
                let nodes = place.iter().flat_map(|place| &place.nodes).map(|node| format!("node/{node}"));
                let pods = match by {
                    PodsBy::Owner(owner) => self.abouts_of_workload(namespace, owner),
                    PodsBy::Labels(..) | PodsBy::Namespace => {
                        let pods = ChosenPods { namespace, by, place: place.as_ref() }.list(&self.view);
                        pods.iter().map(|pod| format!("pod/{}", pod.key())).collect()
                    }
                };
                pods.into_iter().chain(nodes).collect()
            }
            _ => Vec::new(),
        };
        if chosen.is_empty() {
            chosen = self.latest(&abouts, &words_of(&fact.predicate), at);
        }
        let mut seen = BTreeSet::new();
        chosen.retain(|decision| seen.insert(decision.number));
        chosen.iter().take(SHOWN_MAX).map(|decision| self.decision_text(decision)).collect()
    }

    /// Returns a decision, and those that it names as its reasons.
    fn chain<'a>(&'a self, decision: &'a RecordedDecision) -> Vec<&'a RecordedDecision> {
        let mut chain = Vec::from([decision]);
        let mut next = 0;
        while next < chain.len() && chain.len() < SHOWN_MAX {
            let reasons = chain[next].because.iter().filter_map(|number| self.decisions.get(number));
            chain.extend(reasons.collect::<Vec<_>>());
            next += 1;
        }
        chain
    }

    /// Returns the latest decisions up to an instant about the first of some objects that has any; those with words of
    /// the fact come first.
    fn latest(&self, abouts: &[String], words: &[String], at: Timestamp) -> Vec<&RecordedDecision> {
        const LATEST: usize = 2;
        for about in abouts {
            let known: Vec<&RecordedDecision> =
                self.decisions.values().rev().filter(|decision| *decision.decision.about == **about).collect();
            let before = || known.iter().copied().filter(|decision| decision.at <= at);
            let to_the_point = before().filter(|decision| {
                let text = format!("{} {}", decision.decision.what, decision.reasons());
                words.iter().any(|word| text.contains(word.as_str()))
            });
            let found: Vec<_> = to_the_point.take(LATEST).collect();
            if !found.is_empty() {
                return found;
            }
            let found: Vec<_> = before().take(LATEST).collect();
            if !found.is_empty() {
                return found;
            }
            if !known.is_empty() {
                return known.into_iter().take(1).collect();
            }
        }
        Vec::new()
    }

    /// Returns the names of an object in decisions, followed by that of the Node that it depends on.
    fn abouts(&self, of: &ObjectRef) -> Vec<String> {
        let mut abouts = Vec::from([format!("{}/{}", of.kind.to_lowercase(), of.key)]);
        if of.resource == PODS {
            let node =
                self.view.object(of).and_then(|pod| pod.json().at(&["spec", "nodeName"]).as_str().map(String::from));
            abouts.extend(node.map(|node| format!("node/{node}")));
        } else if of.resource == LEASES {
            abouts.push(format!("node/{}", of.key.name));
        }
        abouts
    }

    /// Returns the names in decisions of an owner's Pods, of the owner and of the objects between them, latest decision
    /// first.
    fn abouts_of_workload(&self, namespace: &str, owner: &str) -> Vec<String> {
        let others: BTreeSet<String> = self.pods_of_others(namespace, owner);
        let is_of_owner = |about: &str| {
            let Some((kind, name)) = about.split_once('/') else { return false };
            let name = name.strip_prefix(namespace).and_then(|name| name.strip_prefix('/'));
            let Some(rest) = name.and_then(|name| name.strip_prefix(owner)) else { return false };
            match kind {
                "pod" => is_generated(rest, 2) && !others.contains(about),
                "replicaset" => rest.is_empty() || is_generated(rest, 1),
                _ => rest.is_empty(),
            }
        };
        let about = self.decisions.values().rev().map(|decision| decision.decision.about.as_str());
        let mut seen = BTreeSet::new();
        about.filter(|about| is_of_owner(about) && seen.insert(*about)).map(String::from).collect()
    }

    /// Returns the names in decisions of the Pods that are there and belong to other owners.
    fn pods_of_others(&self, namespace: &str, owner: &str) -> BTreeSet<String> {
        let resource = PODS;
        let pods = self.view.objects_of(&resource).filter(|pod| pod.key().namespace.as_str() == namespace);
        let of_others = pods.filter(|pod| !is_owned_by(pod, owner));
        of_others.map(|pod| format!("pod/{}", pod.key())).collect()
    }

    fn decision_text(&self, decision: &RecordedDecision) -> String {
        let reasons = self.with_offsets(&decision.reasons());
        let at = offset(decision.at, self.zero);
        let what = self.with_offsets(&decision.decision.what);
        let why = if reasons.is_empty() { what } else { format!("{what}: {reasons}") };
        format!("d{} {} at {at}: {why}", decision.number, decision.component)
    }

    /// Shows the instants in a text as offsets from the act's zero.
    pub(super) fn with_offsets(&self, text: &str) -> String {
        const SHORTEST: usize = "2026-01-01T00:00:00Z".len();
        let mut shown = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let end =
                rest.find('Z').filter(|end| first.is_ascii_digit() && (SHORTEST - 1..SHORTEST + 10).contains(end));
            let instant = end.and_then(|end| Some((rest[..=end].parse::<Timestamp>().ok()?, end)));
            match instant {
                Some((at, end)) => {
                    shown.push_str(&offset(at, self.zero));
                    rest = &rest[end + 1..];
                }
                None => {
                    shown.push(first);
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        shown
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
    pub(super) fn take_snapshots(&mut self, act: usize, now: Timestamp) {
        let scenario = self.scenario.clone();
        let names = names_by_uid(self.view.all().map(|(_, object)| object));
        for line in &scenario.acts[act].expectations {
            let Predicate::MatchesSnapshot(kind) = line.fact.predicate else { continue };
            let (name, value) = match (&line.fact.subject, kind) {
                (Subject::Object(of), SnapshotKind::Object | SnapshotKind::Table | SnapshotKind::Output) => {
                    let tree = self.view.object(of).map_or(Json::Null, Object::json);
                    (of.key.name.clone(), canonical(&tree, self.zero, &names))
                }
                (Subject::Object(of), SnapshotKind::History) => {
                    (of.key.name.clone(), story(&scenario.acts, &self.log.acts(of)))
                }
                (Subject::Table(resource), _) => {
                    // In this form the versions of releases are the same word.
                    let objects = self.view.objects_of(resource).map(|it| canonical(&it.json(), self.zero, &names));
                    let objects: Vec<Json> = objects.collect();
                    let profile = Profile::of(self.options.server);
                    let lines = kubectl_lines(resource, &objects, &profile, now);
                    (resource.plural.clone(), lines.into_iter().map(Json::from).collect())
                }
                (Subject::Answer, _) => {
                    let body = self.view.answer().map_or(Json::Null, |answer| answer.body.clone());
                    (Text::of("answer"), canonical(&body, self.zero, &names))
                }
                (Subject::Command, _) => {
                    let printed = self.view.command().map(|command| command.printed.iter());
                    let lines = printed.into_iter().flatten().map(|line| Json::from(line.as_str())).collect();
                    (Text::of("kubectl"), lines)
                }
                (Subject::Watch, _) => (Text::of("watch"), Json::Null),
                (Subject::Machine(name), _) => (name.clone(), self.view.machine(name).cloned().unwrap_or_default()),
                (Subject::Own(look), _) => (look.name.clone(), Json::Null),
                (Subject::Every(_), _) => (Text::of("every"), Json::Null),
                (Subject::PodsOf { .. }, _) => (Text::of("pods"), Json::Null),
                (Subject::Several { called, .. }, _) => (called.clone(), Json::Null),
            };
            self.snapshots.push(Snapshot { step: line.position.clone(), kind, name, value });
        }
    }
}

/// Tells whether the end of a name is one that a controller made: at most so many parts, each an ordinal of a stateful
/// set, or of the letters of `rand.String` and `SafeEncodeString`, none of which is a vowel.
///
/// Source: staging/src/k8s.io/apimachinery/pkg/util/rand/rand.go (v1.34).
fn is_generated(rest: &str, parts_max: usize) -> bool {
    let is_letter = |c: char| "bcdfghjklmnpqrstvwxz2456789".contains(c);
    let is_part = |part: &str| {
        let is_ordinal = !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
        is_ordinal || ((5..=10).contains(&part.len()) && part.chars().all(is_letter))
    };
    let Some(parts) = rest.strip_prefix('-') else { return false };
    parts.split('-').count() <= parts_max && parts.split('-').all(is_part)
}

fn object_of(subject: &Subject) -> Option<ObjectRef> {
    match subject {
        Subject::Object(of) => Some(of.clone()),
        _ => None,
    }
}

/// Returns the words by which decisions refer to what a predicate is about.
fn words_of(predicate: &Predicate) -> Vec<String> {
    let words: Vec<&str> = match predicate {
        Predicate::Condition { kind, .. } => Vec::from([&**kind]),
        Predicate::Taint(taint) => Vec::from([&*taint.key]),
        Predicate::Label { key, .. } => Vec::from([&**key]),
        Predicate::Event { reason, .. } => Vec::from([&**reason]),
        Predicate::Deleted | Predicate::Gone | Predicate::Terminating => Vec::from(["delet", "evict", "toleration"]),
        Predicate::RenewedEvery { .. } | Predicate::RenewedOnTime | Predicate::Costs { .. } => {
            Vec::from(["Lease", "renew"])
        }
        Predicate::Not(inner) => return words_of(inner),
        _ => Vec::new(),
    };
    words.into_iter().map(String::from).collect()
}

/// Returns a step without its keyword and quotation marks.
fn sentence_of(text: &str) -> String {
    let sentence = text.split_once(' ').map_or(text, |(_, rest)| rest);
    sentence.chars().filter(|letter| *letter != '"').collect()
}
