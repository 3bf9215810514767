//! Whether a fact is true of the cluster as it is now, and the text for what was seen instead. Pure: views in, a truth
//! out.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::answers::{answer_truth, command_truth, watch_truth};
use super::chosen_pods::ChosenPods;
use super::node_invariants;
use super::view::{ClusterView, EventSeen};
use crate::network::NODES;
use crate::objects::canonical::PASSING;
use crate::objects::lifecycle::condition_in;
use crate::objects::subset::{first_difference, is_like};
use crate::objects::{Json, Object, Path, Text};
use crate::scenario::words::{plain, taint_text};
use crate::scenario::{Every, Fact, FieldTest, ObjectRef, OwnLook, Predicate, Subject, Taint};

/// Whether a fact holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// Its subject does not exist: neither the fact nor its opposite holds.
    Absent,
}

impl From<bool> for Holds {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// A judgement with the text about what was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Truth {
    /// Whether the fact holds.
    pub(super) holds: Holds,
    /// What was seen: `Ready=True (KubeletReady)`.
    pub(super) seen: String,
    /// The short form, after a first mention: `Unknown`.
    pub(super) brief: String,
}

impl Truth {
    pub(super) fn new(holds: impl Into<Holds>, seen: impl Into<String>) -> Self {
        let seen = seen.into();
        Self { holds: holds.into(), brief: seen.clone(), seen }
    }

    fn absent(of: &ObjectRef) -> Self {
        Self::new(Holds::Absent, format!("there is no {} {:?}", of.kind, of.key.to_string()))
    }
}

/// Judges a fact by the cluster as it is now and as it was when the act began.
pub(super) fn judge(fact: &Fact, now: &ClusterView, baseline: &ClusterView) -> Truth {
    match &fact.subject {
        Subject::Object(of) => object_truth(of, &fact.predicate, now, baseline),
        Subject::PodsOf { namespace, by, place } => {
            ChosenPods { namespace, by, place: place.as_ref() }.truth(&fact.predicate, now, baseline)
        }
        Subject::Several { of, .. } => several_truth(of, &fact.predicate, now, baseline),
        Subject::Every(every) => every_truth(*every, &fact.predicate, now, baseline),
        Subject::Answer => answer_truth(&fact.predicate, now),
        Subject::Watch => watch_truth(&fact.predicate, now),
        Subject::Command => command_truth(&fact.predicate, now),
        Subject::Machine(name) => match now.machine(name) {
            Some(state) => json_truth(&fact.predicate, state, baseline.machine(name)),
            None => Truth::new(Holds::Absent, format!("there is no machine {:?}", name.as_str())),
        },
        Subject::Table(_) => Truth::new(Holds::Yes, ""),
        Subject::Own(look) => own_truth(look, &fact.predicate, now),
    }
}

/// Judges what a look of the user's own shows.
fn own_truth(look: &OwnLook, predicate: &Predicate, now: &ClusterView) -> Truth {
    match (predicate, now.own(look)) {
        (Predicate::Not(inner), _) => negated(own_truth(look, inner, now)),
        (_, Some(seen)) => Truth::new(seen.holds, seen.seen.as_str()),
        (_, None) => Truth::new(Holds::Absent, format!("nothing was seen by {:?}", look.name.as_str())),
    }
}

pub(super) fn object_truth(of: &ObjectRef, predicate: &Predicate, now: &ClusterView, baseline: &ClusterView) -> Truth {
    let object = now.object(of);
    let terminating = object.is_some_and(is_terminating);
    let state = || match object {
        None if !now.is_known(of) => format!("there has never been a {} {:?}", of.kind, of.key.to_string()),
        None => String::from("gone"),
        Some(_) if now.is_gone(of) => String::from("another of the same name"),
        Some(_) if terminating => String::from("Terminating"),
        Some(_) => String::from("there"),
    };
    match predicate {
        Predicate::Not(inner) => negated(object_truth(of, inner, now, baseline)),
        Predicate::All(parts) => whole(parts.iter().map(|part| object_truth(of, part, now, baseline))),
        Predicate::Exists => Truth::new(object.is_some(), state()),
        Predicate::Gone => Truth::new(now.is_gone(of), state()),
        Predicate::Deleted => Truth::new(now.is_gone(of) || terminating, state()),
        Predicate::Terminating => match object {
            Some(_) => Truth::new(terminating, state()),
            None => Truth::new(Holds::Absent, state()),
        },
        Predicate::Event { reason, message, times } => {
            let events = new_events(of, now, baseline);
            event_truth(&events, reason, message.as_ref(), *times)
        }
        Predicate::Sound(aspect) => match object {
            Some(object) => match node_invariants::judge(*aspect, &object.json(), now) {
                Ok(()) => Truth::new(true, aspect.to_string()),
                Err(seen) => Truth::new(false, seen),
            },
            None => Truth::absent(of),
        },
        _ => match object {
            Some(object) => json_truth(predicate, &object.json(), baseline.object(of).map(Object::json).as_ref()),
            None => Truth::absent(of),
        },
    }
}

/// Judges how many of several objects fulfil a predicate; names those that do.
fn several_truth(of: &[ObjectRef], predicate: &Predicate, now: &ClusterView, baseline: &ClusterView) -> Truth {
    match predicate {
        Predicate::Not(inner) => negated(several_truth(of, inner, now, baseline)),
        Predicate::Count { count, of: part } => {
            let fulfils = |of: &&ObjectRef| object_truth(of, part, now, baseline).holds == Holds::Yes;
            let names: Vec<&str> = of.iter().filter(fulfils).map(|of| of.key.name.as_str()).collect();
            let shown = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
            Truth::new(names.len() == *count, format!("{} of {}{shown}", names.len(), of.len()))
        }
        Predicate::Costs { .. } => Truth::new(true, ""),
        other => all(of.iter().map(|of| object_truth(of, other, now, baseline))),
    }
}

/// Returns the Nodes that existed when the act began and still exist; before the first act, all Nodes.
pub(super) fn every_node(now: &ClusterView, baseline: &ClusterView) -> Vec<Text> {
    let uid = |view: &ClusterView, name: &str| view.object(&ObjectRef::node(name)).map(|node| String::from(node.uid()));
    let names = |view: &ClusterView| -> Vec<Text> { view.objects_of(&NODES).map(|node| node.key().name).collect() };
    let before = names(baseline);
    let is_same = |name: &Text| before.is_empty() || uid(now, name) == uid(baseline, name);
    names(now).into_iter().filter(is_same).collect()
}

/// Judges each Node by itself; names those for which it does not hold.
fn every_truth(every: Every, predicate: &Predicate, now: &ClusterView, baseline: &ClusterView) -> Truth {
    let nodes = every_node(now, baseline);
    if nodes.is_empty() {
        return Truth::new(Holds::Absent, "there is no Node");
    }
    let mut wrong: Vec<(String, Text)> = Vec::new();
    for node in &nodes {
        let truth = object_truth(&every.of(node), predicate, now, baseline);
        if truth.holds != Holds::Yes {
            wrong.push((truth.seen, node.clone()));
        }
    }
    Truth::new(wrong.is_empty(), of_nodes(wrong, nodes.len()))
}

/// Says what is wrong with which Nodes: `2 of 3 Nodes: a, b: no label x`; equal texts are grouped.
pub(super) fn of_nodes(wrong: Vec<(String, Text)>, all: usize) -> String {
    const NAMES_MAX: usize = 20;
    if wrong.is_empty() {
        return format!("it holds of all {all} Nodes");
    }
    let count = wrong.len();
    let mut alike: Vec<(String, Vec<Text>)> = Vec::new();
    for (seen, node) in wrong {
        match alike.iter_mut().find(|(other, _)| *other == seen) {
            Some((_, nodes)) => nodes.push(node),
            None => alike.push((seen, Vec::from([node]))),
        }
    }
    let mut room = NAMES_MAX;
    let mut parts = Vec::new();
    for (seen, nodes) in alike {
        let shown: Vec<&str> = nodes.iter().take(room).map(Text::as_str).collect();
        if !shown.is_empty() {
            room -= shown.len();
            parts.push(format!("{}: {seen}", shown.join(", ")));
        }
    }
    let more = count.saturating_sub(NAMES_MAX);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{count} of {all} Nodes: {}{more}", parts.join("; "))
}

pub(super) fn is_terminating(object: &Object) -> bool {
    !object.stable().at(&["metadata", "deletionTimestamp"]).is_null()
}

pub(super) fn negated(truth: Truth) -> Truth {
    let holds = match truth.holds {
        Holds::Yes => Holds::No,
        Holds::No => Holds::Yes,
        Holds::Absent => Holds::Absent,
    };
    Truth { holds, ..truth }
}

fn all(parts: impl Iterator<Item = Truth>) -> Truth {
    let parts: Vec<Truth> = parts.collect();
    let holds = if parts.iter().any(|part| part.holds == Holds::Absent) {
        Holds::Absent
    } else {
        Holds::from(parts.iter().all(|part| part.holds == Holds::Yes))
    };
    let seen: Vec<&str> = parts.iter().map(|part| part.seen.as_str()).collect();
    Truth::new(holds, seen.join(", "))
}

/// Joins what is seen of one object; if it does not hold, the first part that does not is enough.
fn whole(parts: impl Iterator<Item = Truth>) -> Truth {
    let parts: Vec<Truth> = parts.collect();
    let wrong = |holds| parts.iter().find(|part| part.holds == holds).cloned();
    let first = wrong(Holds::Absent).or_else(|| wrong(Holds::No));
    // The next observation may name another part, so the short form is the whole one.
    first.map_or_else(|| all(parts.iter().cloned()), |part| Truth::new(part.holds, part.seen))
}

/// Judges what a predicate says about the fields of a tree.
pub(super) fn json_truth(predicate: &Predicate, object: &Json, before: Option<&Json>) -> Truth {
    match predicate {
        Predicate::Condition { kind, status, reason, message } => {
            condition_truth(object, kind, status, reason.as_ref(), message.as_ref())
        }
        Predicate::Taint(taint) => taint_truth(object, taint),
        Predicate::Label { key, value } => {
            let found = object.at(&["metadata", "labels"]).get(key).as_text();
            let seen = found.map_or_else(|| format!("no label {key}"), |found| format!("label {key}={found}"));
            Truth::new(found.is_some_and(|found| value.as_ref().is_none_or(|value| value == found)), seen)
        }
        Predicate::Field { path, test } => field_truth(object, before, path, test),
        Predicate::Phase(phase) => phase_truth(object.at(&["status", "phase"]), phase),
        Predicate::ContainerRuns { namespace, pod, container } => {
            container_truth(object, before, [("namespace", namespace), ("pod", pod), ("container", container)])
        }
        Predicate::Not(inner) => negated(json_truth(inner, object, before)),
        Predicate::All(parts) => whole(parts.iter().map(|part| json_truth(part, object, before))),
        Predicate::Exists => Truth::new(true, "there"),
        Predicate::Deleted | Predicate::Terminating => {
            let terminating = !object.at(&["metadata", "deletionTimestamp"]).is_null();
            Truth::new(terminating, if terminating { "Terminating" } else { "there" })
        }
        // These are judged elsewhere; steps that apply them to a tree are refused when they are compiled.
        Predicate::Gone
        | Predicate::RenewedEvery { .. }
        | Predicate::RenewedOnTime
        | Predicate::Sound(_)
        | Predicate::Costs { .. }
        | Predicate::Event { .. }
        | Predicate::Count { .. }
        | Predicate::Answered { .. }
        | Predicate::Lists(_)
        | Predicate::Shows { .. }
        | Predicate::Prints(_)
        | Predicate::Ended { .. }
        | Predicate::Refused { .. }
        | Predicate::NothingElseChanges
        | Predicate::Holds
        | Predicate::MatchesSnapshot(_) => Truth::new(true, ""),
    }
}

/// Judges what a machine's container runtime shows. A container that is not there does not run, if it ran there when
/// the act began; of one that did not, nothing holds.
fn container_truth(machine: &Json, before: Option<&Json>, wanted: [(&str, &Text); 3]) -> Truth {
    let is_meant = |shown: &&Json| wanted.iter().all(|(field, name)| shown.get(field).as_str() == Some(name.as_str()));
    let state_on = |machine: &Json| {
        let meant = machine.get("containers").items().iter().rfind(is_meant);
        meant.and_then(|shown| shown.get("state").as_str()).map(String::from)
    };
    let state = state_on(machine);
    let ran = || before.and_then(state_on).is_some_and(|state| state == "running");
    let holds = match state.as_deref() {
        None if !ran() => Holds::Absent,
        state => Holds::from(state == Some("running")),
    };
    let [(_, namespace), (_, pod), (_, container)] = wanted;
    let seen = state.as_deref().unwrap_or("not there");
    Truth::new(holds, format!("container {container} of Pod {namespace}/{pod} {seen}"))
}

fn phase_truth(found: &Json, expected: &Text) -> Truth {
    let seen = found.as_str().map_or_else(|| String::from("no phase"), |found| format!("phase {found}"));
    Truth::new(found.as_str() == Some(expected), seen)
}

fn condition_truth(object: &Json, kind: &Text, status: &Text, reason: Option<&Text>, message: Option<&Text>) -> Truth {
    let conditions = object.at(&["status", "conditions"]).items();
    let Some(found) = condition_in(conditions, kind) else {
        return Truth::new(false, format!("no condition {kind}"));
    };
    let word = |field| found.get(field).as_str().unwrap_or("");
    let holds = word("status") == status.as_str()
        && reason.is_none_or(|reason| word("reason") == reason.as_str())
        && message.is_none_or(|message| word("message") == message.as_str());
    let details = match (word("reason"), message) {
        (reason, Some(_)) => format!(" ({reason}: {})", word("message")),
        ("", None) => String::new(),
        (reason, None) => format!(" ({reason})"),
    };
    let brief = if reason.is_some() || message.is_some() {
        format!("{}{details}", word("status"))
    } else {
        String::from(word("status"))
    };
    Truth { holds: holds.into(), seen: format!("{kind}={}{details}", word("status")), brief }
}

fn taint_truth(object: &Json, taint: &Taint) -> Truth {
    let taints = object.at(&["spec", "taints"]).items();
    let holds = taints.iter().any(|found| {
        found.get("key").as_str() == Some(&taint.key)
            && found.get("effect").as_str() == Some(&taint.effect)
            && taint.value.as_ref().is_none_or(|value| found.get("value").as_str().unwrap_or("") == value.as_str())
    });
    let mut texts: Vec<String> = taints.iter().map(taint_text).collect();
    texts.sort();
    Truth::new(holds, if texts.is_empty() { String::from("no taint") } else { format!("taints {}", texts.join(", ")) })
}

pub(super) fn field_truth(object: &Json, before: Option<&Json>, path: &Path, test: &FieldTest) -> Truth {
    let found = path.look_up(object);
    let is = |value: &Json| is_like(found, value);
    if let FieldTest::Has(part) = test {
        return part_truth(found, path, part);
    }
    let holds = match test {
        FieldTest::Is(value) => is(value),
        FieldTest::OneOf(values) => values.iter().any(is),
        FieldTest::IsNot(value) => !found.is_null() && !is(value),
        FieldTest::Has(_) | FieldTest::Present => !found.is_null(),
        FieldTest::Absent => found.is_null(),
        FieldTest::Unchanged => {
            let old = before.map(|before| path.look_up(before)).cloned().unwrap_or_default();
            !old.is_null() && steady(found, path) == steady(&old, path)
        }
    };
    if matches!(test, FieldTest::Unchanged) && found.is_object() {
        let shown = steady(found, path);
        return Truth::new(holds, format!("{path} {shown}"));
    }
    Truth { holds: holds.into(), seen: format!("{path} {}", plain(found)), brief: plain(found) }
}

/// Judges whether what is at a path has all that a part of it says; names the first difference.
fn part_truth(found: &Json, path: &Path, part: &Json) -> Truth {
    match first_difference(part, found) {
        None => Truth::new(true, "all of it"),
        Some((below, other)) => Truth::new(false, format!("{} {}", path.followed_by(&below), plain(other))),
    }
}

/// Removes the fields that every heartbeat and every write changes, unless the path names one.
pub(super) fn steady(value: &Json, path: &Path) -> Json {
    fn strip(value: &Json) -> Json {
        match value {
            Json::Object(_) => value
                .fields()
                .filter(|(name, _)| !PASSING.contains(&name.as_str()))
                .map(|(name, value)| (name.clone(), strip(value)))
                .collect(),
            Json::Array(items) => items.iter().map(strip).collect(),
            other => other.clone(),
        }
    }
    let named = path.segments().iter().any(|segment| PASSING.contains(&segment.name().as_str()));
    if named { value.clone() } else { strip(value) }
}

/// Returns the Events about an object that were recorded since the act began, with how often.
fn new_events(of: &ObjectRef, now: &ClusterView, baseline: &ClusterView) -> Vec<EventSeen> {
    let old = baseline.events_about(of);
    now.events_about(of)
        .into_iter()
        .filter_map(|mut event| {
            let before = old.iter().find(|old| old.name == event.name).map_or(0, |old| old.count);
            event.count = event.count.saturating_sub(before);
            (event.count > 0).then_some(event)
        })
        .collect()
}

fn event_truth(events: &[EventSeen], reason: &Text, message: Option<&Text>, times: Option<u32>) -> Truth {
    let count: u32 = events
        .iter()
        .filter(|event| event.reason == *reason && message.is_none_or(|message| event.message == *message))
        .map(|event| event.count)
        .sum();
    let seen = if count > 0 && (times.is_some() || message.is_none()) {
        format!("Event {reason} {count} times")
    } else {
        let others: Vec<String> = events
            .iter()
            .map(|event| match message {
                Some(_) => format!("{} ({})", event.reason, event.message),
                None => event.reason.to_string(),
            })
            .collect();
        if others.is_empty() { String::from("no Event") } else { format!("Events {}", others.join(", ")) }
    };
    Truth::new(times.map_or(count > 0, |times| count == times), seen)
}
