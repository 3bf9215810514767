//! Events of a controller: written beside its work, counted when they repeat, held back when they flood.
//!
//! Mirrors k8s.io/client-go tools/record/{event,events_cache}.go (v1.34): one Event at a time in the order in which they
//! were emitted; a repeated one is a PATCH that counts up; at most 25 about one object, then one per five minutes. The
//! tenth different text of one reason about one object, and those after it, are counted as one Event.
//! Inputs: what to say, answers, time. Outputs: requests of the controller's own client.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;

use jiff::{SignedDuration, Timestamp};

use super::client::{Client, TokenBucket};
use super::{Deadline, DecisionId, Outbox};
use crate::chance::Chance;
use crate::json;
use crate::network::{Answer, Call, EVENTS, RequestId, TransportError, Verb};
use crate::objects::time::to_time;
use crate::objects::{Json, Object};

/// How many repeated Events are known. Source: tools/record/events_cache.go (v1.34), `maxLruCacheEntries`.
const CACHE_MAX: usize = 4096;
/// Events about one object before they are held back. Source: as [`CACHE_MAX`], `defaultSpamBurst`.
const SPAM_BURST: f64 = 25.0;
/// Events per second about one object after that. Source: as [`CACHE_MAX`], `defaultSpamQPS`.
const SPAM_QPS: f64 = 1.0 / 300.0;
/// Different texts of one reason about one object from which on they are one Event. Source: as [`CACHE_MAX`],
/// `defaultAggregateMaxEvents`.
const SIMILAR_MAX: usize = 10;
/// A quiet time after which similar Events are counted anew. Source: as [`CACHE_MAX`],
/// `defaultAggregateIntervalInSeconds`.
const SIMILAR_WITHIN: SignedDuration = SignedDuration::from_secs(600);
/// Pause between two tries when no answer came. Source: tools/record/event.go (v1.34), `defaultSleepDuration`.
const RETRY_PAUSE: SignedDuration = SignedDuration::from_secs(10);
/// Tries in all. Source: tools/record/event.go (v1.34), `maxTriesPerEvent`.
const TRIES_MAX: u32 = 12;

/// The object that an Event is about.
#[derive(Clone, PartialEq, Debug)]
pub struct About {
    reference: Json,
}

impl About {
    /// Refers to a Node by name and UID.
    #[must_use]
    pub fn node(name: &str, uid: &str) -> Self {
        Self { reference: json!({"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}) }
    }

    /// Refers to a Pod as it was read, its revision included.
    #[must_use]
    pub fn pod(pod: &Object) -> Self {
        let key = pod.key();
        let version = format!("{}", pod.resource_version());
        Self {
            reference: json!({"apiVersion": "v1", "kind": "Pod", "namespace": &*key.namespace, "name": &*key.name,
                "uid": pod.uid(), "resourceVersion": version}),
        }
    }

    /// Refers to an object of any kind as it was read, its revision included.
    #[must_use]
    pub fn object(api_version: &str, kind: &str, object: &Object) -> Self {
        let key = object.key();
        let version = format!("{}", object.resource_version());
        Self {
            reference: json!({"apiVersion": api_version, "kind": kind, "namespace": &*key.namespace,
                "name": &*key.name, "uid": object.uid(), "resourceVersion": version}),
        }
    }

    /// Refers to a Pod by name alone.
    #[must_use]
    pub fn pod_name(namespace: &str, name: &str) -> Self {
        Self { reference: json!({"apiVersion": "v1", "kind": "Pod", "namespace": namespace, "name": name}) }
    }

    fn part(&self, field: &str) -> &str {
        self.reference.get(field).as_str().unwrap_or("")
    }

    /// What tells two objects apart: all but the revision.
    fn key(&self) -> String {
        ["kind", "namespace", "name", "uid"].map(|field| self.part(field)).join("/")
    }
}

/// How serious an Event is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the types of Events, by their names")]
pub enum EventType {
    Normal,
    Warning,
}

#[derive(Clone, Debug)]
struct Known {
    name: String,
    count: i64,
    touched: u64,
}

/// The different texts of Events that are alike but for them.
#[derive(Debug)]
struct Similar {
    texts: BTreeSet<String>,
    last: Timestamp,
}

#[derive(Debug)]
struct Pending {
    key: String,
    event: Json,
    tries: u32,
    because: Option<DecisionId>,
}

#[derive(Clone, Copy, Debug)]
enum Sink {
    Idle,
    Sending(RequestId),
    Waiting(Timestamp),
}

/// Writes the Events of one controller.
#[derive(Debug)]
pub struct EventRecorder {
    component: &'static str,
    source: Option<Json>,
    chance: Chance,
    known: BTreeMap<String, Known>,
    similar: BTreeMap<String, Similar>,
    buckets: BTreeMap<String, TokenBucket>,
    touched: u64,
    last_nanos: i128,
    queue: VecDeque<Pending>,
    sink: Sink,
}

impl EventRecorder {
    /// Makes a recorder whose Events name this component.
    #[must_use]
    pub const fn new(component: &'static str, chance: Chance) -> Self {
        Self {
            component,
            source: None,
            chance,
            known: BTreeMap::new(),
            similar: BTreeMap::new(),
            buckets: BTreeMap::new(),
            touched: 0,
            last_nanos: 0,
            queue: VecDeque::new(),
            sink: Sink::Idle,
        }
    }

    /// Emits an Event; [`Self::flush`] sends it.
    pub fn emit(
        &mut self,
        about: &About,
        kind: EventType,
        reason: &str,
        message: &str,
        because: Option<DecisionId>,
        now: Timestamp,
    ) {
        // Names come from the clock; at a standing clock each must still be another one, that of another component too.
        self.last_nanos = (now.as_nanosecond() + own_nanos(self.component)).max(self.last_nanos + 1);
        let kind = match kind {
            EventType::Normal => "Normal",
            EventType::Warning => "Warning",
        };
        let namespace = if about.part("namespace").is_empty() { "default" } else { about.part("namespace") };
        let source = self.source.get_or_insert_with(|| json!({"component": self.component}));
        let at = Json::from(to_time(now));
        let mut event = json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": {"name": format!("{}.{:x}", about.part("name"), self.last_nanos), "namespace": namespace},
            "reason": reason, "message": message, "type": kind,
            "source": &*source, "involvedObject": about.reference,
            "reportingComponent": self.component, "reportingInstance": "",
            "firstTimestamp": at, "lastTimestamp": at, "count": 1, "eventTime": null,
        });
        let object = about.key();
        if self.buckets.len() > CACHE_MAX {
            self.buckets.clear();
        }
        let bucket = self.buckets.entry(object.clone()).or_insert_with(|| TokenBucket::new(SPAM_QPS, SPAM_BURST, now));
        if !bucket.try_take(now) {
            return;
        }
        let alike = format!("{object}/{kind}/{reason}");
        let key = if self.are_too_many(&alike, message, now) {
            event.set(&["message"], format!("(combined from similar events): {message}"));
            event.set(&["reportingComponent"], "");
            alike
        } else {
            format!("{alike}/{message}")
        };
        self.queue.push_back(Pending { key, event, tries: 0, because });
    }

    /// Notes a text, and tells whether there were so many like it that it is no Event of its own.
    fn are_too_many(&mut self, alike: &str, message: &str, now: Timestamp) -> bool {
        if self.similar.len() > CACHE_MAX {
            self.similar.clear();
        }
        let similar =
            self.similar.entry(String::from(alike)).or_insert_with(|| Similar { texts: BTreeSet::new(), last: now });
        if now.duration_since(similar.last) > SIMILAR_WITHIN {
            similar.texts.clear();
        }
        similar.last = now;
        similar.texts.insert(String::from(message));
        if similar.texts.len() < SIMILAR_MAX {
            return false;
        }
        similar.texts.pop_first();
        true
    }

    /// Returns the number of Events that are not yet written.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Tells whether all Events are written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Tells whether an answer is the recorder's.
    #[must_use]
    pub const fn owns(&self, id: RequestId) -> bool {
        matches!(self.sink, Sink::Sending(own) if own.0 == id.0)
    }

    /// Sends the first Event in the queue, unless one is under way.
    pub fn flush(&mut self, client: &mut Client, outbox: &mut Outbox, now: Timestamp) {
        match self.sink {
            Sink::Sending(_) => return,
            Sink::Waiting(until) if now < until => return,
            Sink::Idle | Sink::Waiting(_) => {}
        }
        let Some(pending) = self.queue.front() else {
            self.sink = Sink::Idle;
            return;
        };
        let event = &pending.event;
        let namespace = event.at(&["metadata", "namespace"]).as_text().cloned().unwrap_or_default();
        let call = match self.known.get(&pending.key) {
            None => Call::new(Verb::Create, EVENTS, namespace, "").body(event.clone()),
            Some(known) => {
                let patch = json!({"count": known.count + 1, "lastTimestamp": event.get("lastTimestamp").as_str(),
                    "message": event.get("message").as_str()});
                Call::strategic_patch(EVENTS, namespace, known.name.as_str(), patch)
            }
        };
        self.sink = Sink::Sending(client.send(call, pending.because, outbox, now));
    }

    /// Takes the answer to the Event under way.
    pub fn handle_response(&mut self, result: &Result<Answer, TransportError>, now: Timestamp) {
        self.sink = Sink::Idle;
        let Some(pending) = self.queue.front_mut() else { return };
        match result {
            Ok(answer) if answer.is_success() => {
                let count = self.known.get(&pending.key).map_or(1, |known| known.count + 1);
                let name = self.known.get(&pending.key).map(|known| known.name.clone());
                let name = name.unwrap_or_else(|| {
                    String::from(pending.event.at(&["metadata", "name"]).as_str().unwrap_or_default())
                });
                self.touched += 1;
                let known = Known { name, count, touched: self.touched };
                self.known.insert(pending.key.clone(), known);
                self.queue.pop_front();
                self.forget_oldest();
            }
            // The Event that was to be counted up is gone: begin a new one.
            Ok(answer) if answer.code == 404 && self.known.remove(&pending.key).is_some() => {}
            Ok(_) => {
                self.queue.pop_front();
            }
            Err(_) => {
                pending.tries += 1;
                // The first pause is random, so that many clients do not come back at once.
                let pause = if pending.tries == 1 { self.chance.up_to(RETRY_PAUSE) } else { RETRY_PAUSE };
                if pending.tries >= TRIES_MAX {
                    self.queue.pop_front();
                } else {
                    self.sink = Sink::Waiting(now + pause);
                }
            }
        }
    }

    /// Returns when an Event without answer is tried again.
    #[must_use]
    pub const fn next_deadline(&self) -> Option<Deadline> {
        match self.sink {
            Sink::Waiting(at) => Some(Deadline { at, reason: "write an event again" }),
            Sink::Idle | Sink::Sending(_) => None,
        }
    }

    fn forget_oldest(&mut self) {
        if self.known.len() <= CACHE_MAX {
            return;
        }
        let half = self.touched.saturating_sub(CACHE_MAX as u64 / 2);
        self.known.retain(|_, known| known.touched > half);
    }
}

/// Returns how many nanoseconds a component is past the instant that it shares with others, so that two of them do not
/// give one name to Events about one object. A kubelet is not past it.
pub(super) fn own_nanos(component: &str) -> i128 {
    component.bytes().fold(1, |sum, byte| (sum * 31 + i128::from(byte)) % 999_983)
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    use jiff::Timestamp;

    use super::{About, EventRecorder, EventType};
    use crate::chance::Chance;
    use crate::components::client::Client;
    use crate::components::{Outbox, Output};
    use crate::json;
    use crate::network::{Answer, Identity, Request};
    use crate::profile::Settings;

    struct Rig {
        recorder: EventRecorder,
        client: Client,
        outbox: Outbox,
    }

    impl Rig {
        fn new() -> Self {
            Self {
                recorder: EventRecorder::new("node-controller", Chance::new(1)),
                client: Client::new(
                    Identity::controller("node-controller"),
                    &Settings::default(),
                    Timestamp::UNIX_EPOCH,
                ),
                outbox: Outbox::default(),
            }
        }

        fn emit(&mut self, message: &str) {
            let about = About::node("w1", "u1");
            let now = Timestamp::UNIX_EPOCH;
            self.recorder.emit(&about, EventType::Normal, "NodeNotReady", message, None, now);
        }

        /// Answers all requests with a code and returns their sentences.
        fn answered(&mut self, code: u16) -> Vec<String> {
            let mut sentences = Vec::new();
            loop {
                self.recorder.flush(&mut self.client, &mut self.outbox, Timestamp::UNIX_EPOCH);
                let Some(Output::Request(Request { id, ask, .. })) = self.outbox.poll() else { return sentences };
                assert!(self.recorder.owns(id));
                sentences.push(ask.to_string());
                self.recorder.handle_response(&Ok(Answer::json(code, json!({}))), Timestamp::UNIX_EPOCH);
            }
        }
    }

    #[test]
    fn a_repeated_event_is_counted_up_and_begins_anew_when_it_is_gone() {
        let mut rig = Rig::new();
        rig.emit("a");
        rig.emit("a");
        rig.emit("b");
        assert_eq!(rig.answered(201), ["POST events/default", "PATCH events/default/w1.f25a7", "POST events/default"]);
        rig.emit("a");
        rig.recorder.flush(&mut rig.client, &mut rig.outbox, Timestamp::UNIX_EPOCH);
        let _ = rig.outbox.poll();
        rig.recorder.handle_response(&Ok(Answer::json(404, json!({}))), Timestamp::UNIX_EPOCH);
        assert_eq!(rig.answered(201), ["POST events/default"]);
    }

    #[test]
    fn the_tenth_different_text_and_those_after_it_are_counted_as_one_event() {
        let mut rig = Rig::new();
        for at in 0..12 {
            rig.emit(&alloc::format!("{at}"));
        }
        let sentences = rig.answered(201);
        assert_eq!(sentences.iter().filter(|sentence| sentence.starts_with("POST")).count(), 10);
        assert_eq!(sentences.iter().filter(|sentence| sentence.starts_with("PATCH")).count(), 2);
    }

    #[test]
    fn a_flood_about_one_object_stops_after_twenty_five() {
        let mut rig = Rig::new();
        for at in 0..40 {
            rig.emit(&alloc::format!("{at}"));
        }
        assert_eq!(rig.answered(201).len(), 25);
    }
}
