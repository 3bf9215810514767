//! The Events of a controller: queued beside its work, counted when they repeat, dropped when there are too many.
//!
//! Mirrors k8s.io/client-go tools/record/event.go (v1.34), `recorderImpl`. Writing and retries are in `sink`,
//! repetition and spam in `correlator`; a kubelet has a recorder of its own and shares both.
//! Inputs: Events, answers, time. Outputs: requests through the controller's own client.

mod correlator;
pub(super) mod sink;

use alloc::format;

use jiff::Timestamp;

use self::sink::{Emitted, EventSink};
use super::client::Client;
use super::{Deadline, DecisionId, Outbox};
use crate::chance::Chance;
use crate::json;
use crate::network::{Answer, RequestId, TransportError};
use crate::objects::time::to_time;
use crate::objects::{Json, Object, ObjectKey};

/// The object that an Event is about.
#[derive(Clone, PartialEq, Debug)]
pub struct InvolvedObject {
    reference: Json,
}

impl InvolvedObject {
    /// Refers to a Node by name and UID.
    #[must_use]
    pub fn node(name: &str, uid: &str) -> Self {
        Self { reference: json!({"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}) }
    }

    /// Refers to a Node as it was read, its revision included.
    #[must_use]
    pub fn read_node(node: &Object) -> Self {
        let mut own = Self::node(node.name(), node.uid());
        own.reference.set(&["resourceVersion"], format!("{}", node.resource_version()));
        own
    }

    /// Leaves the API version out, as some writers do.
    #[must_use]
    pub fn without_api_version(mut self) -> Self {
        self.reference.remove(&["apiVersion"]);
        self
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

    /// Refers to an object of any kind by name and UID.
    #[must_use]
    pub fn named(api_version: &str, kind: &str, key: &ObjectKey, uid: &str) -> Self {
        let mut reference = json!({"apiVersion": api_version, "kind": kind, "name": &*key.name, "uid": uid});
        if !key.namespace.is_empty() {
            reference.set(&["namespace"], &key.namespace);
        }
        Self { reference }
    }

    /// Refers to a Pod by name alone.
    #[must_use]
    pub fn pod_name(namespace: &str, name: &str) -> Self {
        Self { reference: json!({"apiVersion": "v1", "kind": "Pod", "namespace": namespace, "name": name}) }
    }

    fn part(&self, field: &str) -> &str {
        self.reference.get(field).as_str().unwrap_or("")
    }
}

/// How serious an Event is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the types of Events, by their names")]
pub enum EventType {
    Normal,
    Warning,
}

/// Writes the Events of one controller.
#[derive(Clone, Debug)]
pub struct EventRecorder {
    component: &'static str,
    source: Option<Json>,
    last_nanos: i128,
    sink: EventSink,
    sending: Option<RequestId>,
}

impl EventRecorder {
    /// Makes a recorder whose Events name this component.
    #[must_use]
    pub const fn new(component: &'static str, chance: Chance) -> Self {
        Self { component, source: None, last_nanos: 0, sink: EventSink::new(chance), sending: None }
    }

    /// Returns the component that its Events name.
    #[must_use]
    pub const fn component(&self) -> &'static str {
        self.component
    }

    /// Emits an Event; [`Self::flush`] sends it.
    pub fn emit(
        &mut self,
        about: &InvolvedObject,
        kind: EventType,
        reason: &str,
        message: &str,
        because: Option<DecisionId>,
        now: Timestamp,
    ) {
        // Names come from the clock; at one instant each must still differ, also from those of other components.
        self.last_nanos = (now.as_nanosecond() + own_nanos(self.component)).max(self.last_nanos + 1);
        let kind = match kind {
            EventType::Normal => "Normal",
            EventType::Warning => "Warning",
        };
        let namespace = if about.part("namespace").is_empty() { "default" } else { about.part("namespace") };
        let source = self.source.get_or_insert_with(|| json!({"component": self.component}));
        let at = Json::from(to_time(now));
        let event = json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": {"name": format!("{}.{:x}", about.part("name"), self.last_nanos), "namespace": namespace},
            "reason": reason, "message": message, "type": kind,
            "source": &*source, "involvedObject": about.reference,
            "reportingComponent": self.component, "reportingInstance": "",
            "firstTimestamp": at, "lastTimestamp": at, "count": 1, "eventTime": null,
        });
        self.sink.push(Emitted { event, suffix: suffix(self.last_nanos), at: now, because });
    }

    /// Returns the number of Events that are not yet written.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sink.len()
    }

    /// Tells whether all Events are written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sink.len() == 0
    }

    /// Tells whether an answer is the recorder's.
    #[must_use]
    pub fn owns(&self, id: RequestId) -> bool {
        self.sending.is_some_and(|own| own.0 == id.0)
    }

    /// Sends the first Event in the queue, unless one is under way.
    pub fn flush(&mut self, client: &mut Client, outbox: &mut Outbox, now: Timestamp) {
        if let Some((call, because)) = self.sink.next_call(now, now) {
            self.sending = Some(client.send(call, because, outbox, now));
        }
    }

    /// Takes the answer to the Event under way.
    pub fn handle_response(&mut self, result: &Result<Answer, TransportError>, now: Timestamp) {
        self.sending = None;
        self.sink.handle_answer(result, now);
    }

    /// Returns when an Event without answer is tried again.
    #[must_use]
    pub const fn next_deadline(&self) -> Option<Deadline> {
        self.sink.next_deadline()
    }
}

/// Returns the suffix of an Event's name from an instant in nanoseconds; until 2262 all of them fit.
pub(super) fn suffix(nanos: i128) -> i64 {
    i64::try_from(nanos).unwrap_or(i64::MAX)
}

/// Returns the nanoseconds that a component adds to an instant in names, so that no two components give Events about
/// one object the same name. A kubelet adds none.
pub(super) fn own_nanos(component: &str) -> i128 {
    component.bytes().fold(1, |sum, byte| (sum * 31 + i128::from(byte)) % 999_983)
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    use jiff::Timestamp;

    use super::{EventRecorder, EventType, InvolvedObject};
    use crate::chance::Chance;
    use crate::components::client::Client;
    use crate::components::{Outbox, Output};
    use crate::json;
    use crate::network::{Answer, Ask, Body, Identity, Request, TransportError};
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
            let about = InvolvedObject::node("w1", "u1");
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
    fn a_repeated_event_is_counted_up_and_made_again_when_it_is_gone() {
        let mut rig = Rig::new();
        rig.emit("a");
        rig.emit("a");
        rig.emit("b");
        assert_eq!(rig.answered(201), ["POST events/default", "PATCH events/default/w1.f25a7", "POST events/default"]);
        rig.emit("a");
        rig.recorder.flush(&mut rig.client, &mut rig.outbox, Timestamp::UNIX_EPOCH);
        let _ = rig.outbox.poll();
        rig.recorder.handle_response(&Ok(Answer::json(404, json!({}))), Timestamp::UNIX_EPOCH);
        rig.recorder.flush(&mut rig.client, &mut rig.outbox, Timestamp::UNIX_EPOCH);
        let Some(Output::Request(Request { ask: Ask::Call(again), .. })) = rig.outbox.poll() else {
            panic!("nothing was sent");
        };
        let Body::Json(body) = &again.body else { panic!("no object was sent") };
        assert_eq!(body.at(&["metadata", "name"]).as_str(), Some("w1.f25a7"));
        assert_eq!(body.get("count").as_i64(), Some(3));
        rig.recorder.handle_response(&Ok(Answer::json(201, json!({}))), Timestamp::UNIX_EPOCH);
        assert!(rig.recorder.is_empty());
    }

    #[test]
    fn an_event_without_answer_holds_up_the_others_and_is_given_up_after_twelve_tries() {
        let mut rig = Rig::new();
        rig.emit("a");
        rig.emit("b");
        let mut now = Timestamp::UNIX_EPOCH;
        let mut tries = 0;
        while rig.recorder.len() == 2 {
            rig.recorder.flush(&mut rig.client, &mut rig.outbox, now);
            tries += usize::from(rig.outbox.poll().is_some());
            rig.recorder.handle_response(&Err(TransportError::Timeout), now);
            now = rig.recorder.next_deadline().map_or(now, |next| next.at);
        }
        assert_eq!(tries, 12);
        rig.recorder.flush(&mut rig.client, &mut rig.outbox, now);
        assert!(rig.outbox.poll().is_some());
        rig.recorder.handle_response(&Ok(Answer::json(403, json!({}))), now);
        assert!(rig.recorder.is_empty());
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
}
