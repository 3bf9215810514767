//! The recorded cluster as one component sees it: watches and reads are answered from the recording.
//!
//! Inputs: recorded events when their instants come, and which of the component's own writes have been predicted.
//! Outputs: watch events in the order of the server. Invariant: the effect of a component's own write is not shown
//! before the component has made that write (or can no longer make it), so a late prediction is not disturbed by its
//! own effect; later events of the same object wait for it.

use std::collections::{BTreeMap, VecDeque};

use nodeproof_core::network::{Answer, Call, Content, List, RequestId, Resource, ToClient, WatchType};
use nodeproof_core::objects::{Json, Object, ObjectKey, Text};

use super::load::Micros;
use super::recorded::Recorded;
use super::writers::{WriteTarget, Writer};

/// One resource.
#[derive(Debug, Default)]
struct ResourceState {
    /// The objects as the watches have shown them.
    shown: BTreeMap<ObjectKey, Object>,
    /// The objects as single reads show them: they include the component's own latest writes.
    stored: BTreeMap<ObjectKey, Object>,
    delivered: Vec<bool>,
    waiting: BTreeMap<ObjectKey, VecDeque<usize>>,
    watches: Vec<(RequestId, Text)>,
}

/// The recorded cluster.
#[derive(Debug)]
pub struct RecordedCluster<'a> {
    recorded: &'a Recorded<'a>,
    writer: Writer,
    states: Vec<ResourceState>,
    /// For each judged write, whether its effects may be shown.
    released: Vec<bool>,
    version: u64,
    /// Watches of kinds that the recording does not watch.
    blind: Vec<(RequestId, Resource)>,
}

impl<'a> RecordedCluster<'a> {
    /// Begins with the objects that were there before the recording.
    #[must_use]
    pub fn new(recorded: &'a Recorded<'a>, writer: Writer) -> Self {
        let mut world = Self {
            recorded,
            writer,
            states: recorded.streams.iter().map(|_| ResourceState::default()).collect(),
            released: vec![false; recorded.writes.len()],
            version: 1,
            blind: Vec::new(),
        };
        for (stream, list) in recorded.streams.iter().enumerate() {
            world.states[stream].delivered = vec![false; list.events.len()];
            for (at, _) in list.events.iter().enumerate().filter(|(_, event)| event.listed) {
                world.deliver(stream, at);
            }
        }
        world
    }

    /// Takes an event at its instant; returns the messages for the component.
    pub fn arrive(&mut self, stream: usize, at: usize) -> Vec<ToClient> {
        if self.states[stream].delivered[at] {
            return Vec::new();
        }
        let event = &self.recorded.streams[stream].events[at];
        let key = event.object.key();
        let own =
            event.cause.is_some_and(|cause| self.recorded.writes[cause].writer == self.writer && !self.released[cause]);
        let state = &mut self.states[stream];
        if own || state.waiting.get(&key).is_some_and(|waiting| !waiting.is_empty()) {
            state.waiting.entry(key).or_default().push_back(at);
            return Vec::new();
        }
        self.deliver(stream, at)
    }

    /// Allows the effects of a write to be shown: with [`Show::Now`] at once, before their recorded instant.
    pub fn release(&mut self, write: usize, show: Show) -> Vec<ToClient> {
        self.released[write] = true;
        let mut messages = Vec::new();
        let Some((stream, echo)) = self.recorded.writes[write].echo else { return messages };
        let list = &self.recorded.streams[stream].events;
        let key = list[echo].object.key();
        if show == Show::Now {
            // The server commits in order, so earlier commits are shown first.
            for (at, before) in list.iter().enumerate().take(echo + 1) {
                if !self.states[stream].delivered[at] && before.object.key() == key && !self.blocked(before.cause) {
                    messages.extend(self.deliver(stream, at));
                }
            }
        }
        while let Some(at) = self.states[stream].waiting.get(&key).and_then(|waiting| waiting.front().copied()) {
            if !self.states[stream].delivered[at] {
                if self.blocked(list[at].cause) {
                    break;
                }
                messages.extend(self.deliver(stream, at));
            }
            if let Some(waiting) = self.states[stream].waiting.get_mut(&key) {
                waiting.pop_front();
            }
        }
        messages
    }

    /// Tells whether the effects of a write may be shown.
    #[must_use]
    pub fn is_released(&self, write: usize) -> bool {
        self.released[write]
    }

    /// Lets single reads show a write of the component.
    pub fn store(&mut self, write: usize) {
        if let Some((stream, echo)) = self.recorded.writes[write].echo {
            let event = &self.recorded.streams[stream].events[echo];
            self.states[stream].store(event.event, &event.object);
        }
    }

    fn blocked(&self, cause: Option<usize>) -> bool {
        cause.is_some_and(|cause| self.recorded.writes[cause].writer == self.writer && !self.released[cause])
    }

    fn deliver(&mut self, stream: usize, at: usize) -> Vec<ToClient> {
        let event = &self.recorded.streams[stream].events[at];
        self.version = self.version.max(event.object.resource_version());
        self.states[stream].delivered[at] = true;
        self.states[stream].show(event.event, &event.object)
    }

    fn stream_of(&self, resource: &Resource) -> Option<usize> {
        self.recorded.streams.iter().position(|stream| stream.resource == *resource)
    }

    /// Answers a list.
    #[must_use]
    pub fn list(&self, place: &WriteTarget) -> Answer {
        let items = match self.stream_of(&place.resource) {
            Some(stream) => {
                let shown = self.states[stream].shown.iter();
                let here = shown.filter(|(key, _)| place.namespace.is_empty() || key.namespace == place.namespace);
                here.map(|(_, object)| object.clone()).collect()
            }
            None => Vec::new(),
        };
        let content = Content::List(Box::new(List {
            kind: Text::from(format!("{}List", place.resource.plural)),
            says_types: false,
            api_version: place.resource.version.clone(),
            resource_version: self.version,
            items,
            next: Text::of(""),
            remaining: None,
        }));
        Answer { code: 200, headers: Vec::new(), content }
    }

    /// Opens a watch.
    pub fn watch(&mut self, id: RequestId, place: &WriteTarget) -> Answer {
        match self.stream_of(&place.resource) {
            Some(stream) => self.states[stream].watches.push((id, place.namespace.clone())),
            None => self.blind.push((id, place.resource.clone())),
        }
        Answer { code: 200, headers: Vec::new(), content: Content::Watching }
    }

    /// Closes a watch.
    pub fn cancel(&mut self, id: RequestId) {
        for state in &mut self.states {
            state.watches.retain(|(watch, _)| *watch != id);
        }
    }

    /// Returns the object after an update of the component, for a kind that it alone changes.
    #[must_use]
    pub fn kept(&mut self, place: &WriteTarget, body: &Json) -> Option<Object> {
        let stream = self.stream_of(&place.resource)?;
        if !self.recorded.streams[stream].inferred {
            return None;
        }
        self.version += 1;
        let mut object = body.clone();
        object.set(&["metadata", "resourceVersion"], self.version.to_string());
        Some(Object::as_received(object))
    }

    /// Shows an object that the component created, of a kind that the recording does not watch.
    #[must_use]
    pub fn show_made(&mut self, resource: &Resource, object: &Object) -> Vec<ToClient> {
        if let Some(stream) = self.stream_of(resource).filter(|stream| self.recorded.streams[*stream].inferred) {
            return self.states[stream].show(WatchType::Modified, object);
        }
        let own = self.blind.iter().filter(|(_, of)| of == resource);
        own.map(|(id, _)| ToClient::Watch { id: *id, event: WatchType::Added, object: object.clone() }).collect()
    }

    /// Closes all watches, since the process has ended.
    pub fn disconnect(&mut self) {
        self.blind.clear();
        for state in &mut self.states {
            state.watches.clear();
        }
    }

    /// Returns an object as a single read shows it.
    #[must_use]
    pub fn read(&self, place: &WriteTarget) -> Option<Object> {
        let Some(stream) = self.stream_of(&place.resource) else { return self.implied(place) };
        let key = ObjectKey::namespaced(place.namespace.clone(), place.name.clone());
        self.states[stream].stored.get(&key).cloned()
    }

    /// Returns an object for a read that the server may answer from its cache: no newer than its watches.
    ///
    /// Source: k8s.io/apiserver pkg/storage/cacher/delegator.go (v1.34), `Get` with `resourceVersion=0`.
    #[must_use]
    pub fn cached(&self, place: &WriteTarget) -> Option<Object> {
        let stream = self.stream_of(&place.resource)?;
        let key = ObjectKey::namespaced(place.namespace.clone(), place.name.clone());
        self.states[stream].shown.get(&key).cloned()
    }

    /// Returns an object that the watches show until an instant: the server has it earlier.
    #[must_use]
    pub fn read_ahead(&self, place: &WriteTarget, until: Micros) -> Option<Object> {
        let (stream, at) = *self.on_its_way(place, until).first()?;
        let event = &self.recorded.streams[stream].events[at];
        (event.event == WatchType::Added).then(|| event.object.clone())
    }

    /// Returns the events of an object that come until an instant, in order.
    #[must_use]
    pub fn on_its_way(&self, place: &WriteTarget, until: Micros) -> Vec<(usize, usize)> {
        let Some(stream) = self.stream_of(&place.resource) else { return Vec::new() };
        let key = ObjectKey::namespaced(place.namespace.clone(), place.name.clone());
        let events = self.recorded.streams[stream].events.iter().enumerate();
        let coming = events
            .filter(|(at, event)| !self.states[stream].delivered[*at] && event.t <= until && event.object.key() == key);
        coming.map(|(at, _)| (stream, at)).collect()
    }

    /// Returns an object of a kind that was not watched, as far as references show it: its name and uid.
    fn implied(&self, place: &WriteTarget) -> Option<Object> {
        let objects = self.states.iter().flat_map(|state| state.stored.values());
        let owners = objects.flat_map(|object| object.stable().at(&["metadata", "ownerReferences"]).items());
        let plural = |kind: &str| format!("{}s", kind.to_lowercase());
        let mut named = owners.filter(|owner| {
            owner.get("name").as_str() == Some(&place.name)
                && owner.get("kind").as_str().is_some_and(|kind| plural(kind) == *place.resource.plural)
        });
        let owner = named.next()?;
        let mut object = nodeproof_core::json!({"metadata": {"name": place.name.as_str()}});
        object.set(&["metadata", "uid"], owner.get("uid").clone());
        Some(Object::as_received(object))
    }

    /// Returns the object after a recorded write.
    #[must_use]
    pub fn outcome(&self, write: usize) -> Option<Object> {
        let (stream, echo) = self.recorded.writes[write].echo?;
        Some(self.recorded.streams[stream].events[echo].object.clone())
    }

    /// Returns the answer to a request for an object that does not exist.
    #[must_use]
    pub fn not_found(call: &Call) -> Answer {
        let place = WriteTarget::of(call);
        let (plural, name) =
            place.map_or_else(Default::default, |place| (place.resource.qualified(), place.name.to_string()));
        refusal(404, &format!("{plural} \"{name}\" not found"))
    }
}

/// When the effect of a write is shown to its writer's own watches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Show {
    /// At once, before the answer: the usual order.
    Now,
    /// At its recorded instant, if that has not passed.
    InTime,
}

impl ResourceState {
    /// Takes a change of an object; returns the watch events for it.
    fn show(&mut self, event: WatchType, object: &Object) -> Vec<ToClient> {
        let key = object.key();
        self.store(event, object);
        let known = self.shown.contains_key(&key);
        match event {
            WatchType::Deleted => self.shown.remove(&key),
            _ => self.shown.insert(key.clone(), object.clone()),
        };
        // A watch that began after an object was created has it from its list.
        let shown = match event {
            WatchType::Added if known => WatchType::Modified,
            WatchType::Modified if !known => WatchType::Added,
            other => other,
        };
        self.watches
            .iter()
            .filter(|(_, namespace)| namespace.is_empty() || *namespace == key.namespace)
            .map(|(id, _)| ToClient::Watch { id: *id, event: shown, object: object.clone() })
            .collect()
    }

    fn store(&mut self, event: WatchType, object: &Object) {
        let key = object.key();
        let newer = self.stored.get(&key).is_none_or(|stored| {
            stored.uid() != object.uid() || stored.resource_version() <= object.resource_version()
        });
        match event {
            WatchType::Deleted => {
                self.stored.remove(&key);
            }
            _ if newer => {
                self.stored.insert(key, object.clone());
            }
            _ => {}
        }
    }
}

/// Makes a Status with a refusal.
#[must_use]
pub fn refusal(code: u16, message: &str) -> Answer {
    let reason = match code {
        404 => "NotFound",
        409 => "Conflict",
        422 => "Invalid",
        _ => "",
    };
    let status = nodeproof_core::json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message,
    });
    Answer::json(code, status)
}
