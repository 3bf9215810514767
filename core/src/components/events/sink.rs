//! Writes Events to the API server: one at a time in the order in which they were emitted, with retries.
//!
//! Mirrors k8s.io/client-go tools/record/event.go (v1.34): a refused Event is dropped. One without answer is tried
//! twelve times, ten seconds apart, with a random first pause, and all others wait meanwhile. A repeated Event is a
//! PATCH; if the Event to patch is gone, it is created again with the same name, count and first instant.
//! Inputs: Events, answers, time. Outputs: calls. Invariant: at most one call is under way.

use alloc::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

use super::correlator::Correlator;
use crate::chance::Chance;
use crate::components::{Deadline, DecisionId};
use crate::json;
use crate::network::{Answer, Call, EVENTS, TransportError, Verb};
use crate::objects::{Json, Text};

/// Events that wait; further ones are lost. Source: tools/record/event.go (v1.34), `maxQueuedEvents`.
const QUEUE_MAX: usize = 1000;
/// Pause between two tries when no answer came. Source: as [`QUEUE_MAX`], `defaultSleepDuration`.
const RETRY_PAUSE: SignedDuration = SignedDuration::from_secs(10);
/// Tries in all. Source: as [`QUEUE_MAX`], `maxTriesPerEvent`.
const TRIES_MAX: u32 = 12;

/// An Event as a component emitted it.
#[derive(Clone, Debug)]
pub(in crate::components) struct Emitted {
    /// The Event, complete, named and counted once.
    pub event: Json,
    /// The suffix of its name.
    pub suffix: i64,
    /// What the writer's clock showed.
    pub at: Timestamp,
    /// The decision that it reports.
    pub because: Option<DecisionId>,
}

#[derive(Clone, Debug)]
struct Writing {
    event: Json,
    /// Whether the Event that it would patch is gone.
    is_gone: bool,
    tries: u32,
    because: Option<DecisionId>,
}

impl Writing {
    fn is_new(&self) -> bool {
        self.is_gone || self.event.get("count").as_i64() == Some(1)
    }
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Idle,
    Sending,
    Waiting(Timestamp),
}

/// The Events of one writer.
#[derive(Clone, Debug)]
pub(in crate::components) struct EventSink {
    chance: Chance,
    correlator: Correlator,
    queue: VecDeque<Emitted>,
    writing: Option<alloc::boxed::Box<Writing>>,
    phase: Phase,
}

impl EventSink {
    /// Makes an empty one.
    pub(in crate::components) const fn new(chance: Chance) -> Self {
        Self { chance, correlator: Correlator::new(), queue: VecDeque::new(), writing: None, phase: Phase::Idle }
    }

    /// Takes an Event; [`Self::next_call`] writes it.
    pub(in crate::components) fn push(&mut self, emitted: Emitted) {
        if self.queue.len() < QUEUE_MAX {
            self.queue.push_back(emitted);
        }
    }

    /// Returns the number of Events that are not yet written.
    pub(in crate::components) fn len(&self) -> usize {
        self.queue.len() + usize::from(self.writing.is_some())
    }

    /// Returns the next call, if one may be sent now. `wall` is the writer's own clock.
    pub(in crate::components) fn next_call(
        &mut self,
        wall: Timestamp,
        now: Timestamp,
    ) -> Option<(Call, Option<DecisionId>)> {
        match self.phase {
            Phase::Sending => return None,
            Phase::Waiting(until) if now < until => return None,
            Phase::Idle | Phase::Waiting(_) => self.phase = Phase::Idle,
        }
        while self.writing.is_none() {
            let Emitted { event, suffix, at, because } = self.queue.pop_front()?;
            let event = self.correlator.correlate(event, (suffix, at, wall), now);
            self.writing = event.map(|event| Writing { event, is_gone: false, tries: 0, because }.into());
        }
        if self.queue.is_empty() {
            // A kubelet emits most Events at its start; this frees the capacity that they needed.
            self.queue = VecDeque::new();
        }
        let writing = self.writing.as_ref()?;
        self.phase = Phase::Sending;
        Some((call(writing), writing.because))
    }

    /// Takes the answer to the Event under way.
    pub(in crate::components) fn handle_answer(&mut self, result: &Result<Answer, TransportError>, now: Timestamp) {
        self.phase = Phase::Idle;
        let Some(writing) = &mut self.writing else { return };
        match result {
            Ok(answer) if answer.code == 404 && !writing.is_new() => writing.is_gone = true,
            Ok(_) => self.writing = None,
            Err(_) => {
                writing.tries += 1;
                writing.is_gone = false;
                // The first pause is random, so that many clients do not come back at once.
                let pause = if writing.tries == 1 { self.chance.up_to(RETRY_PAUSE) } else { RETRY_PAUSE };
                if writing.tries >= TRIES_MAX {
                    self.writing = None;
                } else {
                    self.phase = Phase::Waiting(now + pause);
                }
            }
        }
    }

    /// Returns when an Event without answer is tried again.
    pub(in crate::components) const fn next_deadline(&self) -> Option<Deadline> {
        match self.phase {
            Phase::Waiting(at) => Some(Deadline { at, reason: "write an event again" }),
            Phase::Idle | Phase::Sending => None,
        }
    }
}

fn call(writing: &Writing) -> Call {
    let event = &writing.event;
    let text = |path: &[&str]| event.at(path).as_text().cloned().unwrap_or_default();
    let namespace: Text = text(&["metadata", "namespace"]);
    if writing.is_new() {
        return Call::new(Verb::Create, EVENTS, namespace, "").body(event.clone());
    }
    let patch = json!({"count": event.get("count").clone(), "lastTimestamp": event.get("lastTimestamp").clone(),
        "message": event.get("message").clone()});
    Call::strategic_patch(EVENTS, namespace, text(&["metadata", "name"]), patch)
}
