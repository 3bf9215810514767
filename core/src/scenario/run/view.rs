//! The cluster as the observations show it: the objects that exist now, and what each act began with.
//!
//! Inputs: changes, answers, machine states, looks. Outputs: objects, Events, instants of heartbeats. Invariant: it
//! contains only what was observed.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::RunOptions;
use crate::network::{EVENTS, NODES, Resource};
use crate::objects::lifecycle::condition;
use crate::objects::{Json, Object, ObjectKey, Text};
use crate::profile::{DEFAULT_RELEASE, Release};
use crate::scenario::{ActionId, AnswerSeen, ObjectChange, ObjectRef, OwnLook, OwnSeen, Position, WatchedEvent};

/// The limits that the invariants of Nodes are checked with.
#[derive(Clone, Debug)]
pub(super) struct Measures {
    pub(super) server: Release,
    /// How long a Node may be silent until Ready must be Unknown: the grace period, two health passes, the tolerance.
    pub(super) silence_max: SignedDuration,
}

impl Default for Measures {
    fn default() -> Self {
        Self { server: DEFAULT_RELEASE, silence_max: SignedDuration::from_mins(1) }
    }
}

impl Measures {
    /// Takes them from the options of a run.
    pub(super) fn of(options: &RunOptions) -> Self {
        let silence_max = options.grace_period + options.health_period * 2 + options.tolerance;
        Self { server: options.server, silence_max }
    }
}

/// What is known of an object.
#[derive(Clone, Debug, Default)]
struct KnownObject {
    /// The object now, if it exists.
    object: Option<Object>,
    /// The last state of an Event: it counts as recorded even after the API server has removed it.
    told: Option<Object>,
    /// The uid under which it was seen first in this act.
    first_uid: Option<Text>,
}

/// What a command of kubectl has done.
#[derive(Clone, Debug, Default)]
pub(super) struct CommandSeen {
    /// The lines that it has printed in this act.
    pub(super) printed: Vec<String>,
    /// Its exit code, if it has ended.
    pub(super) exit: Option<u8>,
    /// The step that started it.
    pub(super) step: Option<Position>,
}

/// What is known of the cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct ClusterView {
    /// All objects that ever existed, by kind. Lookups come by the million and there are few kinds, so a short list of
    /// kinds is searched first.
    objects: Vec<(Resource, BTreeMap<ObjectKey, KnownObject>)>,
    status_written: BTreeMap<Text, Timestamp>,
    /// When the status of a Node's Ready condition last changed.
    ready_turned: BTreeMap<Text, Timestamp>,
    machines: BTreeMap<Text, Json>,
    own: BTreeMap<OwnLook, OwnSeen>,
    answer: Option<AnswerSeen>,
    /// The watch that was opened last, and what it has shown in this act.
    watched: Option<(ActionId, Vec<WatchedEvent>)>,
    refusal: Option<String>,
    /// The command of kubectl that was started last.
    command: Option<CommandSeen>,
    measures: Measures,
    now: Timestamp,
    /// When a heartbeat of a Node was last seen: a new time in its Lease or in its Ready condition.
    heard: BTreeMap<Text, Timestamp>,
}

impl ClusterView {
    /// Begins with an empty cluster.
    pub(super) fn new(measures: Measures) -> Self {
        Self { measures, ..Self::default() }
    }

    /// Sets the current instant.
    pub(super) const fn set_now(&mut self, now: Timestamp) {
        self.now = now;
    }

    /// Returns the instant of the latest observation.
    pub(super) const fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns the limits for the invariants of Nodes.
    pub(super) const fn measures(&self) -> &Measures {
        &self.measures
    }

    /// Returns when a heartbeat of a Node was seen last.
    pub(super) fn heard(&self, node: &str) -> Option<Timestamp> {
        self.heard.get(node).copied()
    }

    /// Applies a change.
    pub(super) fn apply(&mut self, change: &ObjectChange, now: Timestamp) {
        if change.resource == NODES && change.writer.subresource == "status" {
            self.status_written.insert(change.key.name.clone(), now);
        }
        if change.resource == NODES && ready(change.before.as_ref()) != ready(change.after.as_ref()) {
            self.ready_turned.insert(change.key.name.clone(), now);
        }
        if heartbeat_time(change.after.as_ref()).is_some()
            && heartbeat_time(change.before.as_ref()) != heartbeat_time(change.after.as_ref())
        {
            self.heard.insert(change.key.name.clone(), now);
        }
        let known = self.kind_of(&change.resource).entry(change.key.clone()).or_default();
        if let Some(object) = &change.after {
            known.first_uid.get_or_insert_with(|| Text::from(object.uid()));
        }
        if change.resource == EVENTS && change.after.is_some() {
            known.told.clone_from(&change.after);
        }
        known.object.clone_from(&change.after);
    }

    /// Begins an act: from now on an object with another uid than now counts as another object.
    pub(super) fn begin_act(&mut self) {
        for known in self.objects.iter_mut().flat_map(|(_, objects)| objects.values_mut()) {
            known.first_uid = known.object.as_ref().map(|object| Text::from(object.uid()));
        }
        self.answer = None;
        self.refusal = None;
        if let Some((_, events)) = &mut self.watched {
            events.clear();
        }
        drop(self.command.take_if(|command| command.exit.is_some()));
        if let Some(command) = &mut self.command {
            command.printed.clear();
        }
    }

    /// Notes that a command of kubectl has started.
    pub(super) fn start_command(&mut self, step: Option<Position>) {
        self.command = Some(CommandSeen { step, ..CommandSeen::default() });
    }

    /// Notes a line that it prints.
    pub(super) fn add_printed(&mut self, line: String) {
        if let Some(command) = &mut self.command {
            command.printed.push(line);
        }
    }

    /// Notes that it has ended.
    pub(super) const fn end_command(&mut self, code: u8) {
        if let Some(command) = &mut self.command {
            command.exit = Some(code);
        }
    }

    /// Returns the command of kubectl that was started last, unless it ended in an earlier act.
    pub(super) const fn command(&self) -> Option<&CommandSeen> {
        self.command.as_ref()
    }

    /// Notes what a machine shows.
    pub(super) fn set_machine(&mut self, name: Text, state: Json) {
        self.machines.insert(name, state);
    }

    /// Returns what a machine shows.
    pub(super) fn machine(&self, name: &str) -> Option<&Json> {
        self.machines.get(name)
    }

    /// Notes what a look of the user's own shows.
    pub(super) fn set_own(&mut self, look: OwnLook, seen: OwnSeen) {
        self.own.insert(look, seen);
    }

    /// Returns what a look of the user's own shows.
    pub(super) fn own(&self, look: &OwnLook) -> Option<&OwnSeen> {
        self.own.get(look)
    }

    /// Notes the answer to a request.
    pub(super) fn set_answer(&mut self, answer: AnswerSeen) {
        self.answer = Some(answer);
    }

    /// Returns the answer to the act's last request.
    pub(super) const fn answer(&self) -> Option<&AnswerSeen> {
        self.answer.as_ref()
    }

    /// Notes that a watch is open.
    pub(super) fn open_watch(&mut self, id: ActionId) {
        if self.watched.as_ref().is_none_or(|(last, _)| *last < id) {
            self.watched = Some((id, Vec::new()));
        }
    }

    /// Notes an event of a watch; only those of the one that was opened last count. Events may come before the answer.
    pub(super) fn add_watched(&mut self, id: ActionId, event: WatchedEvent) {
        self.open_watch(id);
        if let Some((_, events)) = self.watched.as_mut().filter(|(own, _)| *own == id) {
            events.push(event);
        }
    }

    /// Returns what the open watch has shown in this act.
    pub(super) fn watched(&self) -> Option<&[WatchedEvent]> {
        self.watched.as_ref().map(|(_, events)| events.as_slice())
    }

    /// Notes why an action was refused.
    pub(super) fn set_refusal(&mut self, why: String) {
        self.refusal = Some(why);
    }

    /// Returns why the act's action was refused.
    pub(super) fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// Returns an object as it is now.
    pub(super) fn object(&self, of: &ObjectRef) -> Option<&Object> {
        self.known(of)?.object.as_ref()
    }

    fn known(&self, of: &ObjectRef) -> Option<&KnownObject> {
        self.known_by_key(&of.resource)?.get(&of.key)
    }

    fn known_by_key(&self, resource: &Resource) -> Option<&BTreeMap<ObjectKey, KnownObject>> {
        self.objects.iter().find(|(of, _)| of == resource).map(|(_, objects)| objects)
    }

    /// Returns the objects of a kind, to add one.
    fn kind_of(&mut self, resource: &Resource) -> &mut BTreeMap<ObjectKey, KnownObject> {
        let at = self.objects.binary_search_by(|(of, _)| of.cmp(resource)).unwrap_or_else(|at| {
            self.objects.insert(at, (resource.clone(), BTreeMap::new()));
            at
        });
        &mut self.objects[at].1
    }

    /// Tells whether an object ever existed.
    pub(super) fn is_known(&self, of: &ObjectRef) -> bool {
        self.known(of).is_some()
    }

    /// Tells whether the object that existed when the act began, or that it saw first, no longer exists.
    pub(super) fn is_gone(&self, of: &ObjectRef) -> bool {
        self.known(of).is_some_and(|known| match (&known.object, &known.first_uid) {
            (Some(object), Some(uid)) => object.uid() != uid.as_str(),
            (Some(_), None) => false,
            (None, _) => true,
        })
    }

    /// Returns all objects of a kind in order of their keys.
    pub(super) fn objects_of(&self, resource: &Resource) -> impl Iterator<Item = &Object> {
        self.known_of(resource).filter_map(|known| known.object.as_ref())
    }

    fn known_of(&self, resource: &Resource) -> impl Iterator<Item = &KnownObject> {
        self.known_by_key(resource).into_iter().flat_map(BTreeMap::values)
    }

    /// Returns every object.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Resource, &Object)> {
        self.objects.iter().flat_map(|(resource, objects)| {
            objects.values().filter_map(move |known| Some((resource, known.object.as_ref()?)))
        })
    }

    /// Returns when a Node's status was written last.
    pub(super) fn status_written(&self, node: &str) -> Option<Timestamp> {
        self.status_written.get(node).copied()
    }

    /// Returns when the status of a Node's Ready condition last changed.
    pub(super) fn ready_turned(&self, node: &str) -> Option<Timestamp> {
        self.ready_turned.get(node).copied()
    }

    /// Returns name, reason, message and count of each Event about an object, in order of the Events' keys.
    pub(super) fn events_about(&self, of: &ObjectRef) -> Vec<EventSeen> {
        self.known_of(&EVENTS)
            .filter_map(|known| known.told.as_ref().map(Object::stable))
            .filter(|event| is_event_about(event, of))
            .map(|event| EventSeen {
                name: event.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default(),
                reason: event.get("reason").as_text().cloned().unwrap_or_default(),
                message: event.get("message").as_text().cloned().unwrap_or_default(),
                count: [event.get("count"), event.at(&["series", "count"])]
                    .iter()
                    .find_map(|count| count.as_i64())
                    .and_then(|count| u32::try_from(count).ok())
                    .unwrap_or(1)
                    .max(1),
            })
            .collect()
    }
}

/// Tells whether an Event is about an object.
pub(super) fn is_event_about(event: &Json, of: &ObjectRef) -> bool {
    let about = event.get("involvedObject");
    about.get("kind").as_str() == Some(&of.kind)
        && about.get("name").as_str() == Some(&of.key.name)
        && (of.key.namespace.is_empty() || about.get("namespace").as_str() == Some(&of.key.namespace))
}

/// Returns the status of a Node's Ready condition.
fn ready(node: Option<&Object>) -> Option<&str> {
    condition(node?, "Ready").get("status").as_str()
}

/// Returns the time of an object's last heartbeat.
fn heartbeat_time(object: Option<&Object>) -> Option<Timestamp> {
    object.and_then(|object| object.renew_time().or_else(|| object.heartbeat_time("Ready")))
}

/// The relevant fields of an Event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EventSeen {
    /// The Event's own name.
    pub(super) name: Text,
    /// Its reason.
    pub(super) reason: Text,
    /// Its message.
    pub(super) message: Text,
    /// How often it was recorded.
    pub(super) count: u32,
}
