//! Events of the group `events.k8s.io`: single Events, and series for repeated ones.
//!
//! Mirrors k8s.io/client-go tools/events/{event_recorder,event_broadcaster}.go (v1.34). An Event that repeats about the
//! same revision of an object becomes a series: the second one is a PATCH; further ones are counted in memory and
//! written after six minutes without a repetition, and every thirty minutes.
//! Inputs: Events, answers, time. Outputs: requests of a client of its own; they are sent at once and concurrently, as
//! upstream.
//! Left out on purpose: retries when no answer comes.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use crate::components::client::Client;
use crate::components::events::own_nanos;
use crate::components::{Deadline, DecisionId, Outbox, earliest};
use crate::json;
use crate::network::{Answer, Call, NEW_EVENTS, RequestId, TransportError, Verb};
use crate::objects::time::to_micro_time;
use crate::objects::{Json, Object, Text};

/// How long after its last repetition a series ends. Source: event_broadcaster.go (v1.34), `finishTime`.
const FINISH: SignedDuration = SignedDuration::from_mins(6);
/// How often an active series is written. Source: as [`FINISH`], `refreshTime`.
const REFRESH: SignedDuration = SignedDuration::from_mins(30);

#[derive(Clone, Debug)]
struct EventSeries {
    event: Json,
    at: Timestamp,
    /// How often it repeated, and when last.
    series: Option<(i64, Timestamp)>,
}

/// The content of an Event.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventText<'a> {
    pub(super) kind: &'static str,
    pub(super) reason: &'static str,
    pub(super) action: &'static str,
    pub(super) note: &'a str,
    /// The related object.
    pub(super) related: Option<&'a Object>,
}

/// Writes the scheduler's Events.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    controller: &'static str,
    known: BTreeMap<String, EventSeries>,
    last_nanos: i128,
    finished: Timestamp,
    refreshed: Timestamp,
    under_way: BTreeMap<RequestId, (String, Json)>,
}

impl Recorder {
    pub(super) const fn new(controller: &'static str, now: Timestamp) -> Self {
        Self {
            controller,
            known: BTreeMap::new(),
            last_nanos: 0,
            finished: now,
            refreshed: now,
            under_way: BTreeMap::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.under_way.len()
    }

    pub(super) fn emit(
        &mut self,
        pod: &Object,
        text_of_event: EventText<'_>,
        because: Option<DecisionId>,
        out: (&mut Client, &mut Outbox),
        now: Timestamp,
    ) {
        // Names come from the clock; at one instant each must still be different.
        self.last_nanos = (now.as_nanosecond() + own_nanos(self.controller)).max(self.last_nanos + 1);
        let key = pod.key();
        let name = format!("{}.{:x}", key.name, self.last_nanos);
        let mut event = json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"name": name, "namespace": &*key.namespace},
            "eventTime": to_micro_time(now),
            "reportingController": self.controller, "reportingInstance": format!("{}-control-plane", self.controller),
            "action": text_of_event.action, "reason": text_of_event.reason, "note": text_of_event.note,
                "type": text_of_event.kind,
        });
        event.set(&["regarding"], reference(pod));
        if let Some(related) = text_of_event.related {
            event.set(&["related"], reference(related));
        }
        let same = [
            text_of_event.action,
            text_of_event.reason,
            text_of_event.kind,
            pod.uid(),
            &format!("{}", pod.resource_version()),
            text_of_event.related.map_or("", Object::uid),
        ]
        .join("/");
        match self.known.get_mut(&same) {
            None => {
                self.known.insert(same.clone(), EventSeries { event: event.clone(), at: now, series: None });
                self.create(same, event, because, out, now);
            }
            Some(EventSeries { series: Some((count, last)), .. }) => (*count, *last) = (*count + 1, now),
            Some(known) => {
                known.series = Some((2, now));
                let known = known.clone();
                self.patch(same, &known, because, out, now);
            }
        }
    }

    fn create(
        &mut self,
        key: String,
        event: Json,
        because: Option<DecisionId>,
        (client, outbox): (&mut Client, &mut Outbox),
        now: Timestamp,
    ) {
        let namespace = event.at(&["metadata", "namespace"]).as_text().cloned().unwrap_or_default();
        let call = Call::new(Verb::Create, NEW_EVENTS, namespace, "").body(event.clone());
        let id = client.send(call, because, outbox, now);
        self.under_way.insert(id, (key, event));
    }

    fn patch(
        &mut self,
        key: String,
        known: &EventSeries,
        because: Option<DecisionId>,
        (client, outbox): (&mut Client, &mut Outbox),
        now: Timestamp,
    ) {
        let part = |field| known.event.at(&["metadata", field]).as_text().cloned().unwrap_or_default();
        let Some((count, last)) = known.series else { return };
        let series = json!({"series": {"count": count, "lastObservedTime": to_micro_time(last)}});
        let mut whole = known.event.clone();
        whole.set(&["series"], series.get("series").clone());
        let call = Call::strategic_patch(NEW_EVENTS, part("namespace"), part("name"), series);
        let id = client.send(call, because, outbox, now);
        self.under_way.insert(id, (key, whole));
    }

    pub(super) fn owns(&self, id: RequestId) -> bool {
        self.under_way.contains_key(&id)
    }

    /// Takes an answer; a series whose Event is gone is created again.
    pub(super) fn handle_response(
        &mut self,
        id: RequestId,
        result: &Result<Answer, TransportError>,
        out: (&mut Client, &mut Outbox),
        now: Timestamp,
    ) {
        let Some((key, event)) = self.under_way.remove(&id) else { return };
        if result.as_ref().is_ok_and(|answer| answer.code == 404) && !event.get("series").is_null() {
            self.create(key, event, None, out, now);
        }
    }

    /// Ends the series without further repetitions, and writes the active ones.
    pub(super) fn handle_timeout(&mut self, (client, outbox): (&mut Client, &mut Outbox), now: Timestamp) {
        if self.finished + FINISH <= now {
            self.finished = now;
            let rested = |known: &EventSeries| known.series.map_or(known.at, |(_, last)| last) < now - FINISH;
            let over: Vec<(String, EventSeries)> =
                self.known.iter().filter(|(_, known)| rested(known)).map(|(k, v)| (k.clone(), v.clone())).collect();
            for (key, known) in over {
                self.known.remove(&key);
                self.patch(key, &known, None, (client, outbox), now);
            }
        }
        if self.refreshed + REFRESH <= now {
            self.refreshed = now;
            let all: Vec<(String, EventSeries)> = self.known.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
            for (key, known) in all {
                self.patch(key, &known, None, (client, outbox), now);
            }
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Deadline> {
        if self.known.is_empty() {
            return None;
        }
        earliest([
            Some(Deadline { at: self.finished + FINISH, reason: "finish event series" }),
            Some(Deadline { at: self.refreshed + REFRESH, reason: "refresh event series" }),
        ])
    }
}

fn reference(pod: &Object) -> Json {
    let key = pod.key();
    json!({"kind": "Pod", "namespace": &*key.namespace, "name": &*key.name, "uid": pod.uid(), "apiVersion": "v1",
        "resourceVersion": Text::from(format!("{}", pod.resource_version())).as_str()})
}
