//! The API server of a replay: it shows the recorded objects, and answers what the kubelets ask.
//!
//! Inputs: the lines of the recording when their instants come, requests. Outputs: answers and watch events.
//! Invariant: the effect of a kubelet's own write is not shown before the model has made that write, or can no longer
//! make it; later lines of the same object wait for it.

use std::collections::{BTreeMap, VecDeque};

use jiff::SignedDuration;
use nodeproof_core::network::{
    Answer, Body, Call, ClientId, Content, EVENTS, LEASES, List, NODES, PODS, RequestId, Resource, ToClient, Verb,
    WatchType,
};
use nodeproof_core::objects::patch::strategic_merge;
use nodeproof_core::objects::schema::Schema;
use nodeproof_core::objects::{Json, Object, ObjectKey, Text, time};
use nodeproof_core::profile::Profile;

use super::files::RequestLine;
use super::recorded::RecordedWrites;
use crate::replay::load::Micros;
use crate::replay::recorded_cluster::refusal;
use crate::replay::writers::WriteTarget;

/// How long after it was sent a request is read at most.
const REQUEST_TAKES: Micros = 30_000;

/// How much later a recorded read may be than the one of the model.
const READ_WITHIN: Micros = 300_000;

/// Messages with their receivers.
pub(super) type Messages = Vec<(ClientId, ToClient)>;

struct Watch {
    client: ClientId,
    id: RequestId,
    resource: Resource,
    selector: Option<(String, String)>,
}

impl Watch {
    fn wants(&self, resource: &Resource, object: &Object) -> bool {
        self.resource == *resource && fits(object, self.selector.as_ref())
    }
}

/// The API server.
pub(super) struct RecordedServer<'a> {
    recorded: &'a RecordedWrites<'a>,
    schema: Schema,
    stored: BTreeMap<(Resource, ObjectKey), Object>,
    watches: Vec<Watch>,
    waiting: BTreeMap<(Resource, ObjectKey), VecDeque<usize>>,
    shown: Vec<bool>,
    /// For each recorded write, whether its effect may be shown.
    released: Vec<bool>,
    /// What was shown, in order: a watch that is opened again goes on behind the revision that it names.
    log: Vec<(Resource, WatchType, Object)>,
    version: u64,
}

impl<'a> RecordedServer<'a> {
    /// Begins with the state before the recording.
    pub(super) fn new(recorded: &'a RecordedWrites<'a>) -> Self {
        let mut server = Self {
            recorded,
            schema: Profile::of(recorded.recording.release).schema(),
            stored: BTreeMap::new(),
            watches: Vec::new(),
            waiting: BTreeMap::new(),
            shown: vec![false; recorded.recording.watch.len()],
            released: vec![false; recorded.writes.len()],
            log: Vec::new(),
            version: 1,
        };
        for (at, _) in recorded.recording.watch.iter().enumerate().filter(|(_, line)| line.initial) {
            drop(server.show_line(at));
        }
        server
    }

    /// Takes a line at its instant.
    pub(super) fn arrive(&mut self, at: usize) -> Messages {
        let Some(resource) = self.recorded.resources[at].clone() else { return Vec::new() };
        if self.shown[at] || resource == EVENTS {
            return Vec::new();
        }
        let key = (resource, self.recorded.recording.watch[at].object.key());
        if self.is_held(at) || self.waiting.get(&key).is_some_and(|waiting| !waiting.is_empty()) {
            self.waiting.entry(key).or_default().push_back(at);
            return Vec::new();
        }
        self.show_line(at)
    }

    fn is_held(&self, at: usize) -> bool {
        self.recorded.causes[at].is_some_and(|write| !self.released[write])
    }

    /// Allows the effect of a write to be shown; at once, if it was made.
    pub(super) fn release(&mut self, write: usize, is_made: bool) -> Messages {
        self.released[write] = true;
        let mut messages = Vec::new();
        let echo = self.recorded.writes[write].echo.clone();
        let Some(last) = echo.last().copied() else { return messages };
        let line = &self.recorded.recording.watch[last];
        let key = (self.recorded.writes[write].place.resource.clone(), line.object.key());
        if is_made {
            // The server commits in order: what was written to the object before is shown before.
            for at in 0..=last {
                let is_same = self.recorded.resources[at].as_ref() == Some(&key.0)
                    && self.recorded.recording.watch[at].object.key() == key.1;
                if is_same && !self.shown[at] && !self.is_held(at) {
                    messages.extend(self.show_line(at));
                }
            }
        }
        while let Some(at) = self.waiting.get(&key).and_then(|waiting| waiting.front().copied()) {
            if !self.shown[at] {
                if self.is_held(at) {
                    break;
                }
                messages.extend(self.show_line(at));
            }
            if let Some(waiting) = self.waiting.get_mut(&key) {
                waiting.pop_front();
            }
        }
        messages
    }

    fn show_line(&mut self, at: usize) -> Messages {
        self.shown[at] = true;
        let Some(resource) = self.recorded.resources[at].clone() else { return Vec::new() };
        let line = &self.recorded.recording.watch[at];
        let known = self.stored.get(&(resource.clone(), line.object.key()));
        // What was seen late is not shown after what came later.
        if known.is_some_and(|known| {
            known.uid() == line.object.uid() && known.resource_version() > line.object.resource_version()
        }) {
            return Vec::new();
        }
        self.show(&resource, line.event, &line.object)
    }

    fn show(&mut self, resource: &Resource, event: WatchType, object: &Object) -> Messages {
        self.version = self.version.max(object.resource_version());
        self.log.push((resource.clone(), event, object.clone()));
        let key = (resource.clone(), object.key());
        if event == WatchType::Deleted {
            self.stored.remove(&key);
        } else {
            self.stored.insert(key, object.clone());
        }
        let interested = self.watches.iter().filter(|watch| watch.wants(resource, object));
        interested
            .map(|watch| (watch.client, ToClient::Watch { id: watch.id, event, object: object.clone() }))
            .collect()
    }

    /// Closes the watches of a client, or one of them.
    pub(super) fn close(&mut self, client: ClientId, id: Option<RequestId>) {
        self.watches.retain(|watch| watch.client != client || id.is_some_and(|id| watch.id != id));
    }

    /// Returns what a watch that was just opened has missed.
    pub(super) fn missed(&self, client: ClientId, id: RequestId, call: &Call) -> Messages {
        let Some(watch) = self.watches.iter().find(|watch| watch.client == client && watch.id == id) else {
            return Vec::new();
        };
        let since = call.parameter("resourceVersion").and_then(|text| text.parse().ok()).unwrap_or(u64::MAX);
        let later = self
            .log
            .iter()
            .filter(|(resource, _, object)| object.resource_version() > since && watch.wants(resource, object));
        later
            .map(|(_, event, object)| (client, ToClient::Watch { id, event: *event, object: object.clone() }))
            .collect()
    }

    /// Answers a read; a watch is opened.
    pub(super) fn read(&mut self, client: ClientId, id: RequestId, call: &Call, t: Micros) -> Answer {
        let Some(place) = WriteTarget::of(call) else { return refusal(404, "not found") };
        let selector = call
            .parameter("fieldSelector")
            .and_then(|text| text.split_once('=').map(|(field, value)| (field.to_owned(), value.to_owned())));
        match call.verb {
            Verb::Watch => {
                self.watches.push(Watch { client, id, resource: place.resource, selector });
                Answer { code: 200, headers: Vec::new(), content: Content::Watching }
            }
            Verb::List => {
                let here = self.stored.iter().filter(|((resource, _), _)| *resource == place.resource);
                let items = here.map(|(_, object)| object).filter(|object| fits(object, selector.as_ref()));
                let content = Content::List(Box::new(List {
                    kind: Text::from(format!("{}List", place.resource.plural)),
                    says_types: false,
                    api_version: Text::from(place.resource.api_version()),
                    resource_version: self.version,
                    items: items.cloned().collect(),
                    next: Text::default(),
                    remaining: None,
                }));
                Answer { code: 200, headers: Vec::new(), content }
            }
            _ if self.is_gone(&place, t) => not_found(&place, &place.name),
            _ if self.is_refused(&place, t) => refusal(403, "forbidden"),
            _ => match self.get(&place).filter(|object| self.is_there(&place, object, t)) {
                Some(object) => Answer::object(200, object),
                None => not_found(&place, &place.name),
            },
        }
    }

    /// Tells whether the read of a Pod finds it gone: as the recorded read did, or else as the watch says.
    fn is_gone(&self, place: &WriteTarget, t: Micros) -> bool {
        let is_ending = |object: &Object| !object.stable().at(&["metadata", "deletionTimestamp"]).is_null();
        if place.resource != PODS || !self.get(place).is_some_and(|object| is_ending(&object)) {
            return false;
        }
        let near = self.recorded.recording.requests.iter().find(|line| {
            line.verb == Verb::Get && line.place == *place && line.t >= t - REQUEST_TAKES && line.t <= t + READ_WITHIN
        });
        near.map_or_else(|| self.is_going(place, t), |line| matches!(line.code, 403 | 404))
    }

    /// Tells whether the recorded read of a Pod was refused, as the server does that does not know yet that a new Pod
    /// is the node's.
    fn is_refused(&self, place: &WriteTarget, t: Micros) -> bool {
        let requests = &self.recorded.recording.requests;
        let is_it = |line: &&RequestLine| line.verb == Verb::Get && line.place == *place;
        let mut near = requests.iter().filter(is_it).filter(|line| line.t >= t - REQUEST_TAKES);
        place.resource == PODS && near.next().is_some_and(|line| line.code == 403 && line.t <= t + READ_WITHIN)
    }

    /// Tells whether the server has deleted an object when a request arrives that was sent now: it takes some time, and
    /// the watch of the observer lags too.
    fn is_going(&self, place: &WriteTarget, t: Micros) -> bool {
        let watch = &self.recorded.recording.watch;
        let is_it = |at: &usize| {
            let line = &watch[*at];
            line.event == WatchType::Deleted
                && !self.shown[*at]
                && self.recorded.causes[*at].is_none()
                && line.t >= t
                && line.t <= t + REQUEST_TAKES
                && self.recorded.resources[*at].as_ref() == Some(&place.resource)
                && line.object.key() == ObjectKey::namespaced(place.namespace.clone(), place.name.clone())
        };
        (0..watch.len()).any(|at| is_it(&at))
    }

    /// Tells whether an object was there before the recording began: its Node registered after the process started.
    fn is_there(&self, place: &WriteTarget, object: &Object, t: Micros) -> bool {
        let created = object.stable().at(&["metadata", "creationTimestamp"]).as_str().and_then(time::parse);
        let now = self.recorded.recording.at(t);
        t >= 0 || place.resource != NODES || created.is_none_or(|at| at + SignedDuration::from_secs(1) <= now)
    }

    fn get(&self, place: &WriteTarget) -> Option<Object> {
        let key = ObjectKey::namespaced(place.namespace.clone(), place.name.clone());
        self.stored.get(&(place.resource.clone(), key)).cloned()
    }

    /// Answers a write that the recording has.
    pub(super) fn recorded_answer(&self, index: usize) -> Answer {
        let write = &self.recorded.writes[index];
        if write.code >= 300 {
            return refusal(write.code, &write.message);
        }
        let object = match write.echo.last() {
            Some(at) => Some(self.recorded.recording.watch[*at].object.clone()),
            None => self.get(&write.place),
        };
        match object {
            Some(object) => Answer::object(write.code, object),
            None => Answer::json(write.code, write.body.clone()),
        }
    }

    /// Performs a write that the recording does not have, as if it had succeeded. Before the beginning of the recording
    /// nothing is changed: its state is that after all such writes.
    pub(super) fn perform(&mut self, call: &Call, t: Micros) -> (Answer, Messages) {
        let Some(mut place) = WriteTarget::of(call) else { return (refusal(404, "not found"), Vec::new()) };
        let body = match &call.body {
            Body::Json(body) => body.clone(),
            _ => Json::object(),
        };
        if call.verb == Verb::Create {
            place.name = body.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
        }
        let known = self.get(&place);
        if t < 0 && (known.is_some() || place.resource != LEASES) {
            let object = known.unwrap_or_else(|| Object::as_received(body));
            let code = if call.verb == Verb::Create { 201 } else { 200 };
            return (Answer::object(code, object), Vec::new());
        }
        let made = match (call.verb, known) {
            (Verb::Create, Some(_)) => {
                let what = format!("{} \"{}\" already exists", place.resource.qualified(), place.name);
                return (refusal(409, &what), Vec::new());
            }
            (Verb::Create | Verb::Update, _) => body,
            (_, None) => return (not_found(&place, &place.name), Vec::new()),
            (Verb::Delete, Some(known)) => {
                let messages = self.show(&place.resource, WatchType::Deleted, &known);
                return (Answer::object(200, known), messages);
            }
            (_, Some(known)) => {
                let tree = known.json();
                let kind = tree.get("kind").as_str().unwrap_or_default().to_owned();
                strategic_merge(&self.schema, &kind, &tree, &body).unwrap_or(tree)
            }
        };
        let mut made = made;
        made.set(&["metadata", "resourceVersion"], self.version.to_string());
        if made.at(&["metadata", "name"]).is_null() {
            let prefix = made.at(&["metadata", "generateName"]).as_str().unwrap_or_default().to_owned();
            made.set(&["metadata", "name"], format!("{prefix}made"));
        }
        let object = Object::as_received(made);
        let code = if call.verb == Verb::Create { 201 } else { 200 };
        let event = if call.verb == Verb::Create { WatchType::Added } else { WatchType::Modified };
        let messages = self.show(&place.resource, event, &object);
        (Answer::object(code, object), messages)
    }
}

fn fits(object: &Object, selector: Option<&(String, String)>) -> bool {
    selector.is_none_or(|(field, value)| {
        let path: Vec<&str> = field.split('.').collect();
        object.stable().at(&path).as_str().unwrap_or_default() == value
    })
}

fn not_found(place: &WriteTarget, name: &str) -> Answer {
    refusal(404, &format!("{} \"{name}\" not found", place.resource.qualified()))
}
