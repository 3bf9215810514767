//! Events of a kubelet: one request at a time, beside everything else; a repeated one counts up.
//!
//! Mirrors k8s.io/client-go tools/record (v1.34): a refused Event is dropped; one without answer is tried twelve times,
//! ten seconds apart, the first pause being a random part of that.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;

use jiff::{SignedDuration, Timestamp};

use super::{Kubelet, Outcome, Purpose, Turn};
use crate::chance::Chance;
use crate::components::{Deadline, DecisionId};
use crate::json;
use crate::network::{Ask, Call, EVENTS, Verb};
use crate::objects::time::to_time;
use crate::objects::{Json, Object, Text};

/// Pause between two tries. Source: tools/record/event.go (v1.34), `defaultSleepDuration`.
const RETRY_PAUSE: SignedDuration = SignedDuration::from_secs(10);
/// Events about one object that go out at once. Source: tools/record/events_cache.go (v1.34), `defaultSpamBurst`.
const SPAM_BURST: f64 = 25.0;
/// The time in which one more may follow. Source: as above, `defaultSpamQPS`.
const SPAM_REFILL: SignedDuration = SignedDuration::from_secs(300);
/// Tries in all. Source: as [`RETRY_PAUSE`], `maxTriesPerEvent`.
const TRIES_MAX: u32 = 12;
/// How many repeated Events are known. Source: tools/record/events_cache.go (v1.34), `maxLruCacheEntries`.
const KNOWN_MAX: usize = 4096;
/// With fewer allowances than this it is not worth forgetting any.
const CROWD_MIN: usize = 32;

/// How serious an Event is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// `Normal`.
    Normal,
    /// `Warning`.
    Warning,
}

/// An Event that was written, and where it is counted up.
#[derive(Debug)]
struct Known {
    namespace: Text,
    name: Text,
    count: i64,
    /// Which writing of an Event it was last.
    touched: usize,
}

/// How many more Events about an object may go out.
#[derive(Debug)]
struct Allowance {
    left: f64,
    at: Timestamp,
}

#[derive(Debug)]
struct Waiting {
    hash: u64,
    namespace: Text,
    body: Json,
    because: Option<DecisionId>,
    tries: u32,
}

/// The queue of Events.
#[derive(Debug)]
pub(super) struct EventSink {
    chance: Chance,
    /// By the hash of what they say.
    known: BTreeMap<u64, Known>,
    /// By the hash of what they are about.
    allowances: BTreeMap<u64, Allowance>,
    /// With so many allowances it is time to forget those that are whole.
    crowd: usize,
    /// How many Events were written.
    written: usize,
    queue: VecDeque<Waiting>,
    is_sending: bool,
    again: Option<Timestamp>,
    last_nanos: i128,
    /// What all Events about the Node have in common, and all Events of this kubelet.
    about_node: Option<Json>,
    source: Option<Json>,
}

impl EventSink {
    /// Makes an empty queue.
    pub(super) const fn new(chance: Chance) -> Self {
        Self {
            chance,
            known: BTreeMap::new(),
            allowances: BTreeMap::new(),
            crowd: CROWD_MIN,
            written: 0,
            queue: VecDeque::new(),
            is_sending: false,
            again: None,
            last_nanos: 0,
            about_node: None,
            source: None,
        }
    }

    /// Takes one of the Events that an object has left, if it has one.
    fn take_allowance(&mut self, about: u64, now: Timestamp) -> bool {
        let refilled = |own: &Allowance| {
            let more = now.duration_since(own.at).as_secs_f64() / SPAM_REFILL.as_secs_f64();
            (own.left + more).min(SPAM_BURST)
        };
        // An object with all of them left is one of which nothing need be known.
        if self.allowances.len() >= self.crowd {
            self.allowances.retain(|_, own| refilled(own) < SPAM_BURST);
            self.crowd = (self.allowances.len() * 2).max(CROWD_MIN);
        }
        let own = self.allowances.entry(about).or_insert(Allowance { left: SPAM_BURST, at: now });
        (own.left, own.at) = (refilled(own), now);
        let is_left = own.left >= 1.0;
        if is_left {
            own.left -= 1.0;
        }
        is_left
    }

    fn forget_oldest(&mut self) {
        if self.known.len() > KNOWN_MAX {
            let half = self.written.saturating_sub(KNOWN_MAX / 2);
            self.known.retain(|_, known| known.touched > half);
        }
    }

    /// Returns when an Event is tried again.
    pub(super) fn next_deadline(&self) -> Option<Deadline> {
        self.again.map(|at| Deadline { at, reason: "write an event again" })
    }
}

impl Kubelet {
    /// Emits an Event about the Node.
    pub(super) fn node_event(
        &mut self,
        kind: Kind,
        reason: &'static str,
        message: String,
        because: Option<DecisionId>,
        turn: &mut Turn<'_>,
    ) {
        let name = &self.config.node_name;
        let about = self.events.about_node.get_or_insert_with(|| {
            if self.settings.profile().is("node-events-name-api-version") {
                json!({"kind": "Node", "apiVersion": "v1", "name": name})
            } else {
                json!({"kind": "Node", "name": name, "uid": name})
            }
        });
        let about = about.clone();
        self.emit(about, kind, reason, message, because, turn);
    }

    /// Emits an Event about a pod, or one of its containers.
    pub(super) fn pod_event(
        &mut self,
        pod: &Object,
        container: Option<&str>,
        (kind, reason, message): (Kind, &str, String),
        turn: &mut Turn<'_>,
    ) {
        let key = pod.key();
        let mut about = json!({"kind": "Pod", "apiVersion": "v1", "namespace": key.namespace.as_str(),
            "name": key.name.as_str(), "uid": pod.uid(), "resourceVersion": format!("{}", pod.resource_version())});
        if let Some(container) = container {
            about.set(&["fieldPath"], format!("spec.containers{{{container}}}"));
        }
        self.emit(about, kind, reason, message, None, turn);
    }

    fn emit(
        &mut self,
        about: Json,
        kind: Kind,
        reason: &str,
        message: String,
        because: Option<DecisionId>,
        turn: &mut Turn<'_>,
    ) {
        let wall = turn.wall();
        // Names come from the clock; at a standing clock each must still be another one.
        self.events.last_nanos = wall.as_nanosecond().max(self.events.last_nanos + 1);
        let text = |field: &str| about.get(field).as_str().unwrap_or_default();
        let namespace = if text("namespace").is_empty() { Text::of("default") } else { Text::from(text("namespace")) };
        let said = [text("uid"), text("name"), text("fieldPath"), reason, &message].join("\n");
        let hash = hash(&said);
        if !self.events.take_allowance(self::hash(&[text("kind"), text("uid"), text("name")].join("\n")), turn.now) {
            // What is held back counts all the same.
            if let Some(known) = self.events.known.get_mut(&hash) {
                known.count += 1;
            }
            return;
        }
        let host = &self.config.node_name;
        let source = self.events.source.get_or_insert_with(|| json!({"component": "kubelet", "host": host}));
        let at = Json::from(to_time(wall));
        let body = json!({
            "kind": "Event", "apiVersion": "v1",
            "metadata": {"name": format!("{}.{:x}", text("name"), self.events.last_nanos), "namespace": namespace},
            "reason": reason, "message": message, "type": if kind == Kind::Normal { "Normal" } else { "Warning" },
            "source": &*source, "count": 1, "eventTime": null, "firstTimestamp": at, "lastTimestamp": at,
            "involvedObject": about, "reportingComponent": "kubelet", "reportingInstance": host,
        });
        self.events.queue.push_back(Waiting { hash, namespace, body, because, tries: 0 });
        self.flush_events(turn);
    }

    fn flush_events(&mut self, turn: &mut Turn<'_>) {
        if self.events.is_sending || self.events.again.is_some() {
            return;
        }
        let Some(event) = self.events.queue.front() else { return };
        let call = match self.events.known.get(&event.hash) {
            Some(known) => {
                let patch =
                    json!({"count": known.count + 1, "lastTimestamp": event.body.get("lastTimestamp").as_str()});
                Call::strategic_patch(EVENTS, &known.namespace, &known.name, patch)
            }
            None => Call::new(Verb::Create, EVENTS, &event.namespace, "").body(event.body.clone()),
        };
        let because = event.because;
        self.events.is_sending = true;
        self.send(Ask::Call(alloc::boxed::Box::new(call)), None, because, Purpose::Event, turn);
    }

    /// Takes the answer to an Event.
    pub(super) fn handle_event_answer(&mut self, outcome: &Outcome, turn: &mut Turn<'_>) {
        let sink = &mut self.events;
        sink.is_sending = false;
        let Some(mut event) = sink.queue.pop_front() else { return };
        let known = sink.known.get_mut(&event.hash);
        match (outcome, known) {
            (Ok(answer), Some(known)) if answer.is_success() => {
                sink.written += 1;
                (known.count, known.touched) = (known.count + 1, sink.written);
            }
            (Ok(answer), None) if answer.is_success() => {
                let name = event.body.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
                sink.written += 1;
                let known = Known { namespace: event.namespace, name, count: 1, touched: sink.written };
                sink.known.insert(event.hash, known);
                sink.forget_oldest();
            }
            // The Event that was to be counted up is gone: begin a new one.
            (Ok(answer), Some(_)) if answer.code == 404 => {
                sink.known.remove(&event.hash);
                sink.queue.push_front(event);
            }
            (Ok(_), _) => {}
            (Err(_), _) => {
                event.tries += 1;
                if event.tries < TRIES_MAX {
                    let pause = if event.tries == 1 { sink.chance.up_to(RETRY_PAUSE) } else { RETRY_PAUSE };
                    sink.again = Some(turn.now + pause);
                    sink.queue.push_front(event);
                }
            }
        }
        if sink.queue.is_empty() {
            // A kubelet says most when it starts; the room for that would be kept for good.
            sink.queue = VecDeque::new();
        }
        self.flush_events(turn);
    }

    /// Tries again what had no answer.
    pub(super) fn handle_event_timeout(&mut self, turn: &mut Turn<'_>) {
        if self.events.again.is_some_and(|at| at <= turn.now) {
            self.events.again = None;
            self.flush_events(turn);
        }
    }
}

/// FNV-1a, 64 bits: it tells a handful of texts apart.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
