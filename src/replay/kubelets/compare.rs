//! Compares the body of a write with the recorded one.
//!
//! Inputs: two bodies and their instants. Output: the fields that differ. Free, and left out: identities that a runtime
//! or the server made, heartbeats, keys. An instant may differ by as much as the two writes do, and a whole second.

use jiff::Timestamp;
use nodeproof_core::network::NODES;
use nodeproof_core::objects::patch::strategic_merge;
use nodeproof_core::objects::{Json, Text, time};
use nodeproof_core::profile::{Profile, Release};

use super::recorded::RecordedWrite;
use crate::replay::load::Micros;

/// A field that differs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) path: String,
    pub(super) real: Json,
    pub(super) sim: Json,
}

/// Fields that a runtime, a signer or the server fills.
const FREE: [&str; 7] =
    ["containerID", "imageID", "lastHeartbeatTime", "images", "resourceVersion", "uid", "kubernetes.io/config.seen"];
/// How far two instants may differ beyond the writes that hold them: the API has whole seconds, and a process may have
/// computed its status before it sent it.
const SECONDS: Micros = 1_500_000;

/// Returns how the bodies of two writes differ.
pub(super) fn bodies(real: &RecordedWrite, t: Micros, sim: &Json) -> Vec<Field> {
    let mut found = Vec::new();
    let (mut left, mut right) = (real.body.clone(), sim.clone());
    match &*real.place.resource.plural {
        // The recording has the specification of a renewed Lease alone.
        "leases" if left.get("metadata").is_null() => {
            right = keep(&right, &["spec"]);
            left = keep(&left, &["spec"]);
        }
        "certificatesigningrequests" => {
            for side in [&mut left, &mut right] {
                side.remove(&["spec", "request"]);
                side.remove(&["status"]);
            }
        }
        _ => {}
    }
    if real.place.resource.plural.as_str() == "pods" && left.get("gracePeriodSeconds").as_i64().is_some() {
        left = keep(&left, &["gracePeriodSeconds"]);
        right = keep(&right, &["gracePeriodSeconds"]);
    }
    let slack = SECONDS + (real.t - t).abs();
    for side in [&mut left, &mut right] {
        leave_known_times(side, &real.conditions, slack);
    }
    differ("", &normal(&left), &normal(&right), slack, &mut found);
    found
}

/// Leaves out the transition times that say what was known before: of conditions that stay as they were, and whose
/// times differ by no more than the writes do.
fn leave_known_times(body: &mut Json, before: &Json, slack: Micros) {
    if !body.at(&["status", "conditions"]).is_array() {
        return;
    }
    for item in body.entry(&["status", "conditions"]).make_array() {
        let known = before.items().iter().find(|own| own.get("type") == item.get("type"));
        let is_known = known
            .is_some_and(|own| instants_agree(own.get("lastTransitionTime"), item.get("lastTransitionTime"), slack));
        if is_known && !is_transition(item) {
            item.remove(&["lastTransitionTime"]);
        }
    }
}

fn keep(body: &Json, fields: &[&str]) -> Json {
    fields.iter().map(|field| (Text::from(*field), body.get(field).clone())).collect()
}

/// Returns a body without what is free.
pub(super) fn normal(body: &Json) -> Json {
    match body {
        Json::Object(_) => {
            let fields = body.fields().filter(|(name, _)| !FREE.contains(&name.as_str()));
            let mut kept: Vec<(Text, Json)> = fields.map(|(name, value)| (name.clone(), normal(value))).collect();
            // A list of conditions of which only heartbeats changed says nothing.
            let is_bare =
                |value: &Json| value.items().iter().all(|item| item.fields().all(|(name, _)| *name == *"type"));
            let bare = kept.iter().any(|(name, value)| *name == *"conditions" && value.is_array() && is_bare(value));
            if bare {
                kept.retain(|(name, _)| !matches!(name.as_str(), "conditions" | "$setElementOrder/conditions"));
            }
            for (name, value) in &mut kept {
                if *name == *"conditions" && value.is_array() {
                    let items = value.items().iter().filter(|item| item.fields().any(|(name, _)| *name != *"type"));
                    *value = items.cloned().collect();
                }
            }
            kept.retain(|(name, value)| *name != *"status" || !value.is_empty());
            Json::of_fields(kept)
        }
        Json::Array(_) => body.items().iter().map(normal).collect(),
        other => other.clone(),
    }
}

fn differ(path: &str, real: &Json, sim: &Json, slack: Micros, found: &mut Vec<Field>) {
    if real == sim || instants_agree(real, sim, slack) {
        return;
    }
    match (real, sim) {
        (Json::Object(_), Json::Object(_)) => {
            let mut names: Vec<&Text> = real.fields().chain(sim.fields()).map(|(name, _)| name).collect();
            names.sort();
            names.dedup();
            for name in names {
                let inner = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
                // A field that is null, and one that is not there, differ in a patch.
                let at = |side: &Json| side.fields().find(|(own, _)| *own == name).map(|(_, value)| value.clone());
                match (at(real), at(sim)) {
                    (Some(real), Some(sim)) => differ(&inner, &real, &sim, slack, found),
                    // Whole seconds: a transition in the second of the one before leaves its time as it was.
                    (one, other) if name == "lastTransitionTime" && is_transition(real) && is_transition(sim) => {
                        drop((one, other));
                    }
                    (real, sim) => found.push(Field {
                        path: inner,
                        real: real.unwrap_or(Json::Null),
                        sim: sim.unwrap_or(Json::Null),
                    }),
                }
            }
        }
        (Json::Array(_), Json::Array(_)) if is_keyed(real) && is_keyed(sim) => {
            let mut keys: Vec<&str> = real.items().iter().chain(sim.items()).filter_map(key).collect();
            keys.dedup();
            let mut seen = Vec::new();
            for name in keys {
                if seen.contains(&name) {
                    continue;
                }
                seen.push(name);
                let at =
                    |side: &Json| side.items().iter().find(|item| key(item) == Some(name)).cloned().unwrap_or_default();
                differ(&format!("{path}[{name}]"), &at(real), &at(sim), slack, found);
            }
            if found.is_empty() {
                let order = |side: &Json| side.items().iter().filter_map(key).map(str::to_owned).collect::<Vec<_>>();
                if order(real) != order(sim) {
                    found.push(Field { path: format!("{path} (order)"), real: real.clone(), sim: sim.clone() });
                }
            }
        }
        (Json::Array(_), Json::Array(_)) if real.items().len() == sim.items().len() => {
            for (at, (real, sim)) in real.items().iter().zip(sim.items()).enumerate() {
                differ(&format!("{path}[{at}]"), real, sim, slack, found);
            }
        }
        _ => found.push(Field { path: path.to_owned(), real: real.clone(), sim: sim.clone() }),
    }
}

/// Tells whether a patch of a condition changes its status.
fn is_transition(condition: &Json) -> bool {
    !condition.get("status").is_null()
}

fn key(item: &Json) -> Option<&str> {
    item.get("type").as_str().or_else(|| item.get("name").as_str())
}

fn is_keyed(list: &Json) -> bool {
    !list.is_empty() && list.items().iter().all(|item| key(item).is_some())
}

fn instants_agree(real: &Json, sim: &Json, slack: Micros) -> bool {
    let instant = |side: &Json| side.as_str().filter(|text| text.len() >= 20).and_then(time::parse);
    let apart = |one: Timestamp, other: Timestamp| one.duration_since(other).abs().as_micros();
    match (instant(real), instant(sim)) {
        (Some(real), Some(sim)) => apart(real, sim) <= i128::from(slack),
        _ => false,
    }
}

/// Returns two patches as one.
pub(super) fn together(first: &RecordedWrite, next: &RecordedWrite, release: Release) -> RecordedWrite {
    let mut both = next.clone();
    let schema = Profile::of(release).schema();
    let kind = if next.place.resource == NODES { "Node" } else { "Pod" };
    both.body = strategic_merge(&schema, kind, &first.body, &next.body).unwrap_or_else(|_| next.body.clone());
    both
}
