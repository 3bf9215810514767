//! What facts refer to, and which changes may affect them. Pure.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;

use super::view::is_event_about;
use crate::network::{ENDPOINT_SLICES, EVENTS, LEASES, NODES, PODS, Resource, SERVICE_NAME, Verb};
use crate::objects::canonical::PASSING;
use crate::objects::diff::diff;
use crate::objects::{Json, ObjectKey, Path};
use crate::scenario::words::change_text;
use crate::scenario::{
    Action, Fact, ObjectChange, ObjectRef, Predicate, Scenario, ScenarioAction, Subject, Task, Unmodelled,
};

/// Names an EndpointSlice after its Service; `None` for any other object. Of several slices of a Service, which it has
/// beyond 100 endpoints or with addresses of two families, the one that changed last counts.
pub(super) fn named_after_service(change: &ObjectChange) -> Option<ObjectChange> {
    let slice = change.after.as_ref().or(change.before.as_ref()).filter(|_| change.resource == ENDPOINT_SLICES)?;
    let service = slice.stable().at(&["metadata", "labels", SERVICE_NAME]).as_text()?;
    let key = ObjectKey::namespaced(change.key.namespace.clone(), service.clone());
    Some(ObjectChange { key, ..change.clone() })
}

/// Returns the predicate under a `not`.
pub(super) fn bare(predicate: &Predicate) -> &Predicate {
    match predicate {
        Predicate::Not(inner) => bare(inner),
        other => other,
    }
}

/// Returns the objects whose history is kept.
pub(super) fn observed(scenario: &Scenario) -> BTreeSet<ObjectRef> {
    scenario
        .expectations()
        .filter_map(|line| match &line.fact.subject {
            Subject::Object(of) => Some(of.clone()),
            _ => None,
        })
        .collect()
}

/// Tells whether a fact could be judged wrongly if changes of a kind were missed.
pub(super) fn concerns(fact: &Fact, resource: &Resource) -> bool {
    match (&fact.subject, bare(&fact.predicate)) {
        (Subject::Object(_), Predicate::Event { .. }) => *resource == EVENTS,
        (Subject::Object(of), _) => of.resource == *resource,
        (Subject::PodsOf { .. }, _) => *resource == PODS,
        (Subject::Several { of, .. }, _) => of.iter().any(|of| of.resource == *resource),
        (Subject::Every(_), _) => *resource == NODES || *resource == LEASES,
        (Subject::Table(of), _) => of == resource,
        (Subject::Answer | Subject::Watch | Subject::Command | Subject::Machine(_) | Subject::Own(_), _) => false,
    }
}

/// Tells whether a change can make a fact true or false.
pub(super) fn touches(fact: &Fact, change: &ObjectChange) -> bool {
    let is_it = |of: &ObjectRef| of.resource == change.resource && of.key == change.key;
    let has_event = |of: &ObjectRef| {
        let event = change.after.as_ref().or(change.before.as_ref());
        change.resource == EVENTS
            && tells_of_events(&fact.predicate)
            && event.is_none_or(|event| is_event_about(event.stable(), of))
    };
    match &fact.subject {
        // An invariant of a Node may depend on its Lease.
        Subject::Object(of) if matches!(bare(&fact.predicate), Predicate::Sound(_)) => {
            of.key.name == change.key.name && (change.resource == NODES || change.resource == LEASES)
        }
        Subject::Object(of) => is_it(of) || has_event(of),
        Subject::Every(_) => change.resource == NODES || change.resource == LEASES,
        Subject::Several { of, .. } => of.iter().any(|of| is_it(of) || has_event(of)),
        Subject::PodsOf { .. } => change.resource == PODS || tells_of_events(&fact.predicate),
        Subject::Table(of) => *of == change.resource,
        Subject::Answer => true,
        Subject::Watch | Subject::Command | Subject::Machine(_) | Subject::Own(_) => false,
    }
}

/// Tells whether lines of the scenario may depend on an effect that is not modelled.
pub(super) fn is_judged(unmodelled: &Unmodelled, scenario: &Scenario) -> bool {
    let Some(kind) = &unmodelled.only_for_others_than else { return true };
    scenario.expectations().any(|line| match &line.fact.subject {
        Subject::Answer | Subject::Watch => false,
        Subject::Object(of) => *of.kind != **kind,
        _ => true,
    })
}

/// Tells whether a predicate is about Events.
fn tells_of_events(predicate: &Predicate) -> bool {
    match predicate {
        Predicate::Event { .. } => true,
        Predicate::Not(inner) | Predicate::Count { of: inner, .. } => tells_of_events(inner),
        Predicate::All(parts) => parts.iter().any(tells_of_events),
        _ => false,
    }
}

/// Returns the first changed field that no path covers, as text; heartbeats and the like apart.
pub(super) fn elsewhere(before: &Json, after: &Json, named: &[Path]) -> Option<String> {
    let whole = |old: &Json, new: &Json| old.is_null() || new.is_null();
    if whole(before, after) {
        let gone = named.contains(&Path::of(&["metadata", "deletionTimestamp"]));
        let what = if after.is_null() { "the object is deleted" } else { "the object is created" };
        return (!gone || before.is_null()).then(|| String::from(what));
    }
    diff(before, after)
        .into_iter()
        .find(|change| {
            let passing = change.path.segments().iter().any(|part| PASSING.contains(&part.name().as_str()));
            !passing && !named.iter().any(|path| path.covers(&change.path))
        })
        .map(|change| change_text(&change, None))
        .map(|(path, text)| format!("{path}: {text}"))
}

/// Tells whether a task opens a watch.
pub(super) fn is_watch(task: &Task) -> bool {
    match task {
        Task::Action(ScenarioAction::Action(action)) => {
            matches!(&**action, Action::Api { call, .. } if call.verb == Verb::Watch)
        }
        Task::Action(_) | Task::Feed(_) => false,
    }
}

/// Tells whether a task is a fault, which must have an effect by the end of its act.
pub(super) fn is_fault(task: &Task) -> bool {
    match task {
        Task::Action(ScenarioAction::Action(action)) => matches!(**action, Action::AddRule(_) | Action::Machine { .. }),
        Task::Action(_) | Task::Feed(_) => false,
    }
}
