//! What a recording of kubelets shows: their writes, with the watch lines that each caused, and their Events.
//!
//! Inputs: the lines of the files. Outputs: writes in order, and for each line whether it is a kubelet's doing.
//! Invariant: a line belongs to one write at most; the field manager of a line is not believed alone, since it names
//! the newest writer of a whole second.

use std::collections::{BTreeMap, BTreeSet};

use nodeproof_core::network::{EVENTS, Resource, Verb, WatchType, find_kind};
use nodeproof_core::objects::patch::strategic_merge;
use nodeproof_core::objects::schema::Schema;
use nodeproof_core::objects::{Json, ObjectKey};
use nodeproof_core::profile::Profile;

use super::KUBELET;
use super::files::{KubeletRecording, RequestLine};
use crate::replay::load::Micros;
use crate::replay::writers::WriteTarget;

/// How long after its answer the effect of a write reaches the observer.
const ECHO_WITHIN: Micros = 400_000;

/// The same for a patch whose effect cannot be told from its body.
const NEXT_WITHIN: Micros = 60_000;

/// A write of a judged kubelet.
#[derive(Clone, Debug)]
pub(super) struct RecordedWrite {
    pub(super) t: Micros,
    pub(super) end: Micros,
    pub(super) user: String,
    pub(super) verb: Verb,
    pub(super) place: WriteTarget,
    pub(super) code: u16,
    pub(super) message: String,
    pub(super) body: Json,
    /// The watch lines that it caused.
    pub(super) echo: Vec<usize>,
    /// The conditions before it.
    pub(super) conditions: Json,
}

/// An Event of a judged kubelet, as the observer saw it.
#[derive(Clone, Debug)]
pub(super) struct RecordedEvent {
    pub(super) t: Micros,
    pub(super) event: Json,
    /// How many times it was emitted since the last line.
    pub(super) times: i64,
}

/// The recording, put together.
#[derive(Debug)]
pub(super) struct RecordedWrites<'a> {
    pub(super) recording: &'a KubeletRecording,
    pub(super) writes: Vec<RecordedWrite>,
    pub(super) events: Vec<RecordedEvent>,
    /// For each watch line the resource of its object.
    pub(super) resources: Vec<Option<Resource>>,
    /// For each watch line the write that caused it.
    pub(super) causes: Vec<Option<usize>>,
    /// Between a signal to a kubelet and its end it may or may not write.
    ending: Vec<(Micros, Micros)>,
}

impl<'a> RecordedWrites<'a> {
    pub(super) fn of(recording: &'a KubeletRecording) -> Self {
        let writes: Vec<RecordedWrite> = recording.requests.iter().filter_map(write).collect();
        let resources: Vec<Option<Resource>> =
            recording.watch.iter().map(|line| find_kind(&line.kind).map(|(resource, _)| resource)).collect();
        let mut recorded = Self {
            recording,
            writes,
            events: events(recording),
            causes: vec![None; recording.watch.len()],
            resources,
            ending: endings(recording),
        };
        recorded.attribute();
        recorded
    }

    /// Tells whether an instant lies between a signal and the end of a process.
    pub(super) fn is_ending(&self, t: Micros) -> bool {
        self.ending.iter().any(|(from, until)| (*from..=*until).contains(&t))
    }

    /// Finds the lines that each write caused.
    fn attribute(&mut self) {
        let schema = Profile::of(self.recording.release).schema();
        let mut by_object: BTreeMap<(Resource, ObjectKey), Vec<usize>> = BTreeMap::new();
        for (at, line) in self.recording.watch.iter().enumerate() {
            if let Some(resource) = self.resources[at].clone().filter(|resource| *resource != EVENTS) {
                by_object.entry((resource, line.object.key())).or_default().push(at);
            }
        }
        for index in 0..self.writes.len() {
            let write = &self.writes[index];
            if write.code >= 300 {
                continue;
            }
            let lines: Vec<usize> = match self.name_of(write) {
                Some(key) => by_object.get(&(write.place.resource.clone(), key)).cloned().unwrap_or_default(),
                // A generated name: the object that was added then.
                None => (0..self.recording.watch.len())
                    .filter(|at| self.resources[*at].as_ref() == Some(&write.place.resource))
                    .collect(),
            };
            let echo = self.echo_of(write, &lines, &schema);
            for at in &echo {
                self.causes[*at] = Some(index);
            }
            let first = echo.first().and_then(|first| lines.iter().position(|at| at == first));
            let before = first.and_then(|place| place.checked_sub(1)).map(|before| lines[before]);
            if let Some(before) = before.or_else(|| self.last_before(write.t, &lines)) {
                let object = &self.recording.watch[before].object;
                self.writes[index].conditions = object.stable().at(&["status", "conditions"]).clone();
            }
            self.writes[index].echo = echo;
        }
    }

    /// Finds the last line before an instant.
    fn last_before(&self, t: Micros, lines: &[usize]) -> Option<usize> {
        lines.iter().copied().rfind(|at| self.recording.watch[*at].t <= t)
    }

    fn name_of(&self, write: &RecordedWrite) -> Option<ObjectKey> {
        let name = if write.verb == Verb::Create {
            write.body.at(&["metadata", "name"]).as_text().cloned()
        } else {
            Some(write.place.name.clone())
        };
        name.filter(|name| !name.is_empty()).map(|name| ObjectKey::namespaced(write.place.namespace.clone(), name))
    }

    fn echo_of(&self, write: &RecordedWrite, lines: &[usize], schema: &Schema) -> Vec<usize> {
        let watch = &self.recording.watch;
        let near: Vec<(usize, usize)> = lines
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, at)| {
                let line = &watch[*at];
                !line.initial && self.causes[*at].is_none() && line.t >= write.t && line.t <= write.end + ECHO_WITHIN
            })
            .collect();
        let is_kubelet = |at: &usize| watch[*at].manager == KUBELET || watch[*at].manager.is_empty();
        match write.verb {
            Verb::Create => {
                near.iter().map(|(_, at)| *at).find(|at| watch[*at].event == WatchType::Added).into_iter().collect()
            }
            Verb::Delete => {
                let gone = near.iter().position(|(_, at)| watch[*at].event == WatchType::Deleted);
                let marked = |at: &usize| !watch[*at].object.stable().at(&["metadata", "deletionTimestamp"]).is_null();
                let last = gone.unwrap_or(near.len().saturating_sub(1));
                near.iter().take(last + 1).map(|(_, at)| *at).filter(marked).collect()
            }
            Verb::Update => near
                .iter()
                .map(|(_, at)| *at)
                .find(|at| {
                    let real = watch[*at].object.json();
                    real.at(&["spec", "renewTime"]) == write.body.at(&["spec", "renewTime"])
                })
                .into_iter()
                .collect(),
            _ => {
                let fits = |(place, at): &(usize, usize)| {
                    let before = place.checked_sub(1).map(|before| watch[lines[before]].object.json());
                    before.is_some_and(|before| has_effect(schema, write, &before, &watch[*at].object.json()))
                };
                let found = near.iter().find(|candidate| fits(candidate)).map(|(_, at)| *at);
                // A patch that changed nothing is seen by nobody.
                let next =
                    near.iter().map(|(_, at)| *at).find(|at| is_kubelet(at) && watch[*at].t <= write.end + NEXT_WITHIN);
                found.or(next.filter(|_| !write.body.is_empty())).into_iter().collect()
            }
        }
    }
}

/// Tells whether a patch leads from one state of an object to another, as far as its status goes.
fn has_effect(schema: &Schema, write: &RecordedWrite, before: &Json, after: &Json) -> bool {
    let kind = after.get("kind").as_str().unwrap_or_default();
    let Ok(patched) = strategic_merge(schema, kind, before, &write.body) else { return false };
    let bare = |status: &Json| {
        let mut status = without_nulls(status);
        status.remove(&["images"]);
        status
    };
    let again = strategic_merge(schema, kind, after, &write.body).unwrap_or_default();
    let is_in = |one: &Json, other: &Json| {
        bare(one.get("status")) == bare(other.get("status"))
            && one.at(&["metadata", "labels"]) == other.at(&["metadata", "labels"])
    };
    // The patch leads from the one to the other; or it changes the state before, and nothing of the state after.
    !is_in(&patched, before) && (is_in(&patched, after) || is_in(&again, after))
}

fn without_nulls(value: &Json) -> Json {
    match value {
        Json::Object(_) => {
            let fields = value.fields().filter(|(_, value)| !value.is_null());
            fields.map(|(name, value)| (name.clone(), without_nulls(value))).collect()
        }
        Json::Array(_) => value.items().iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

fn write(line: &RequestLine) -> Option<RecordedWrite> {
    let is_write = matches!(line.verb, Verb::Create | Verb::Update | Verb::Patch | Verb::Delete);
    // Reviews of access and of tokens change nothing, and are asked for by the kubelet's own server.
    let is_review = line.place.resource.plural.ends_with("reviews") || *line.place.subresource == *"token";
    (is_write && !is_review && line.place.resource != EVENTS).then(|| RecordedWrite {
        t: line.t,
        end: line.end,
        user: line.user.clone(),
        verb: line.verb,
        place: line.place.clone(),
        code: line.code,
        message: line.message.clone(),
        body: line.body.clone(),
        echo: Vec::new(),
        conditions: Json::Null,
    })
}

/// Names the object of a write, also of one that is created.
pub(super) fn object_of(place: &WriteTarget, body: &Json) -> String {
    let named = body.at(&["metadata", "name"]).as_text().filter(|_| place.name.is_empty());
    named.map_or_else(|| place.object(), |name| format!("{}/{name}", place.object()))
}

fn events(recording: &KubeletRecording) -> Vec<RecordedEvent> {
    let hosts: BTreeSet<&str> = recording.machines.iter().map(|machine| machine.node.as_str()).collect();
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    let mut found = Vec::new();
    for line in recording.watch.iter().filter(|line| line.kind == "Event") {
        let event = line.object.json();
        let source = event.get("source");
        let is_own = source.get("component").as_str() == Some(KUBELET)
            && source.get("host").as_str().is_some_and(|host| hosts.contains(host));
        // What a probe found is for the environment to say, and so are its words.
        let is_probe = event.get("reason").as_str() == Some("Unhealthy");
        if !is_own || is_probe || line.event == WatchType::Deleted {
            continue;
        }
        let count = event.get("count").as_i64().unwrap_or(1);
        let name = event.at(&["metadata", "name"]).as_str().unwrap_or_default().to_owned();
        let known = counts.insert(name, count);
        let before = known.unwrap_or(if line.event == WatchType::Added { 0 } else { count - 1 });
        if !line.initial && count > before {
            found.push(RecordedEvent { t: line.t, event, times: count - before });
        }
    }
    found
}

/// Finds the spans in which a kubelet was told to end and had not ended yet.
fn endings(recording: &KubeletRecording) -> Vec<(Micros, Micros)> {
    let ends = |line: &Json| {
        matches!(
            line.at(&["do", "action"]).as_str(),
            Some("kubelet-stop" | "kubelet-kill" | "kubelet-restart" | "shutdown" | "power-off" | "reboot")
        )
    };
    let mut found = Vec::new();
    for (at, verb) in recording.verbs.iter().enumerate().filter(|(_, verb)| ends(&verb.line)) {
        let ended = recording.verbs[at..].iter().find(|later| {
            later.machine == verb.machine && later.line.at(&["outcome", "kubelet"]).as_str() == Some("ended")
        });
        if let Some(ended) = ended.filter(|ended| ended.t - verb.t < 3_000_000) {
            found.push((verb.t, ended.t));
        }
    }
    found
}
