//! The record of a driver: decisions and trace, one JSON object a line.
//!
//! Inputs: what clients decided, sent, received and logged, with instants. Outputs: numbered decisions and trace lines,
//! in order; failure texts, `GET decisions` and `GET trace` are made of them. Invariant: decisions are never dropped;
//! of a long trace the older half is.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::Timestamp;

use super::{Because, Decision, DecisionId};
use crate::json;
use crate::network::{ClientId, HttpCall, HttpId, HttpOutcome, Request, ToClient};
use crate::objects::time::to_micro_time;
use crate::objects::{Json, Text};

/// A decision with its number in the simulation.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedDecision {
    /// When.
    pub at: Timestamp,
    /// Its number in the simulation, printed as `d17`.
    pub number: u32,
    /// The component's name: `node-lifecycle-controller`, `kubelet/w1`.
    pub component: Text,
    /// The decision as the component made it.
    pub decision: Decision,
    /// The numbers of the decisions among its reasons.
    pub because: Vec<u32>,
}

impl RecordedDecision {
    /// Returns the JSON object of `GET decisions`.
    #[must_use]
    pub fn json(&self) -> Json {
        let mut numbers = self.because.iter();
        let because: Json = self
            .decision
            .because
            .iter()
            .map(|reason| match reason {
                Because::Fact(fact) => json!({"fact": fact}),
                Because::Decision(_) => json!({"id": numbers.next().map(|number| format!("d{number}"))}),
            })
            .collect();
        let mut line = json!({
            "at": to_micro_time(self.at), "id": format!("d{}", self.number), "component": self.component.as_str(),
            "about": self.decision.about.as_str(), "what": self.decision.what,
        });
        line.set(&["because"], because);
        line
    }

    /// Returns its reasons, facts and decisions, in one line for people.
    #[must_use]
    pub fn reasons(&self) -> String {
        let mut numbers = self.because.iter();
        let reasons: Vec<String> = self
            .decision
            .because
            .iter()
            .map(|reason| match reason {
                Because::Fact(fact) => fact.clone(),
                Because::Decision(_) => numbers.next().map(|number| format!("d{number}")).unwrap_or_default(),
            })
            .collect();
        reasons.join("; ")
    }
}

/// A line of the trace.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceLine {
    /// When.
    pub at: Timestamp,
    /// Its number.
    pub n: u64,
    /// The rest of the line's fields.
    pub fields: Json,
}

impl TraceLine {
    /// Returns the JSON object of `GET trace`.
    #[must_use]
    pub fn json(&self) -> Json {
        let mut line = self.fields.clone();
        line.set(&["at"], to_micro_time(self.at));
        line.set(&["n"], i64::try_from(self.n).unwrap_or(i64::MAX));
        line
    }
}

/// How many lines of the trace are kept at most; beyond it the older half is dropped, and the numbers show the gap.
const LINES_MAX: usize = 400_000;

/// Decisions and trace of one simulation.
#[derive(Clone, Debug)]
pub struct Record {
    start: Timestamp,
    trace: Option<Vec<TraceLine>>,
    decisions: Vec<RecordedDecision>,
    numbers: BTreeMap<(ClientId, DecisionId), u32>,
    /// The names of clients in decisions.
    components: Vec<Option<Text>>,
    lines: u64,
}

impl Record {
    /// Starts a record; without trace only decisions are kept.
    #[must_use]
    pub fn new(start: Timestamp, trace: bool) -> Self {
        Self {
            start,
            trace: trace.then(Vec::new),
            decisions: Vec::new(),
            numbers: BTreeMap::new(),
            components: Vec::new(),
            lines: 0,
        }
    }

    /// Returns the instant at which the simulation started: the zero of printed offsets.
    #[must_use]
    pub const fn start(&self) -> Timestamp {
        self.start
    }

    /// Returns the decisions in order.
    #[must_use]
    pub fn decisions(&self) -> &[RecordedDecision] {
        &self.decisions
    }

    /// Returns the decision that a client's own number means.
    #[must_use]
    pub fn decision_of(&self, client: ClientId, id: DecisionId) -> Option<&RecordedDecision> {
        let number = *self.numbers.get(&(client, id))?;
        self.decisions.get(number as usize - 1)
    }

    /// Tells whether messages are written down.
    pub const fn is_traced(&self) -> bool {
        self.trace.is_some()
    }

    /// Returns the trace in order, or its last part where it is very long; empty if none is kept.
    #[must_use]
    pub fn trace(&self) -> &[TraceLine] {
        self.trace.as_deref().unwrap_or_default()
    }

    /// Returns the last lines of the trace as text.
    #[must_use]
    pub fn last_lines(&self, count: usize) -> String {
        let lines = self.trace();
        let last: Vec<String> =
            lines[lines.len().saturating_sub(count)..].iter().map(|line| line.json().to_string()).collect();
        last.join("\n")
    }

    /// Numbers a decision of a client and keeps it.
    ///
    /// # Panics
    /// After 2^32 decisions.
    pub fn decision(&mut self, at: Timestamp, client: ClientId, component: &Text, decision: Decision) {
        let number = u32::try_from(self.decisions.len() + 1).expect("fewer than 2^32 decisions");
        self.numbers.insert((client, decision.id), number);
        let because = decision
            .because
            .iter()
            .filter_map(|reason| match reason {
                Because::Decision(id) => self.numbers.get(&(client, *id)).copied(),
                Because::Fact(_) => None,
            })
            .collect();
        let index = client.0 as usize;
        if self.components.len() <= index {
            self.components.resize(index + 1, None);
        }
        let component = self.components[index].get_or_insert_with(|| component_name(component)).clone();
        if self.decisions.len() == self.decisions.capacity() {
            // Decisions are most of the memory of a long run, so the capacity is not doubled.
            self.decisions.reserve_exact(64 + self.decisions.len() / 4);
        }
        self.decisions.push(RecordedDecision { at, number, component, decision, because });
    }

    /// Notes that a client sent a request.
    pub fn request(&mut self, at: Timestamp, client: ClientId, name: &Text, request: &Request) {
        if self.trace.is_none() {
            return;
        }
        let mut fields = json!({"from": component_name(name).as_str(), "to": "api", "id": request.id.0,
            "request": request.ask.to_string()});
        if let Some(number) = request.because.and_then(|id| self.numbers.get(&(client, id))) {
            fields.set(&["because"], json!([{"id": format!("d{number}")}]));
        }
        self.line(at, fields);
    }

    /// Notes that a message reached a client.
    pub fn message(&mut self, at: Timestamp, name: &Text, message: &ToClient) {
        if self.trace.is_none() {
            return;
        }
        let to = component_name(name);
        let mut fields = match message {
            ToClient::Response { result: Ok(answer), .. } => {
                json!({"from": "api", "to": to.as_str(), "response": answer.code})
            }
            ToClient::Response { result: Err(error), .. } => {
                json!({"from": "network", "to": to.as_str(), "failed": error.to_string()})
            }
            ToClient::Watch { event, object, .. } => json!({
                "from": "api", "to": to.as_str(), "watch": event.name(),
                "object": object.key().to_string(), "resourceVersion": object.resource_version(),
            }),
            ToClient::WatchEnded { .. } => json!({"from": "api", "to": to.as_str(), "watch": "ended"}),
        };
        fields.set(&["id"], i64::try_from(message.id().0).unwrap_or(i64::MAX));
        self.line(at, fields);
    }

    /// Notes that somebody calls a server beside the API server.
    pub fn call(&mut self, at: Timestamp, id: HttpId, from: &str, call: &HttpCall) {
        if self.trace.is_some() {
            let what = format!("{} {}", call.method, call.url());
            let fields = json!({"from": from, "to": call.host.as_str(), "id": format!("h{}", id.0), "call": what,
                "verifies": call.verifies});
            self.line(at, fields);
        }
    }

    /// Notes what came of such a call.
    pub fn call_end(&mut self, at: Timestamp, id: HttpId, outcome: &HttpOutcome) {
        if self.trace.is_some() {
            let mut fields = json!({"id": format!("h{}", id.0)});
            match outcome {
                Ok(answer) => fields.set(&["answered"], i64::from(answer.code)),
                Err(why) => fields.set(&["failed"], why.as_str()),
            }
            self.line(at, fields);
        }
    }

    /// Notes that a timer of a client fired.
    pub fn timer(&mut self, at: Timestamp, name: &Text, reason: &str) {
        if self.trace.is_some() {
            let name = component_name(name);
            self.line(at, json!({"to": name.as_str(), "timer": reason}));
        }
    }

    /// Notes a line of a client's log.
    pub fn log(&mut self, at: Timestamp, name: &Text, line: String) {
        if self.trace.is_some() {
            let name = component_name(name);
            self.line(at, json!({"from": name.as_str(), "log": line}));
        }
    }

    fn line(&mut self, at: Timestamp, fields: Json) {
        self.lines += 1;
        if let Some(trace) = &mut self.trace {
            if trace.len() >= LINES_MAX {
                trace.drain(..LINES_MAX / 2);
            }
            trace.push(TraceLine { at, n: self.lines, fields });
        }
    }
}

/// Shortens a client's name `controller/ttl-controller` to `ttl-controller`, and calls a machine's client its kubelet.
#[must_use]
pub fn component_name(name: &Text) -> Text {
    if let Some(controller) = name.strip_prefix("controller/") {
        Text::from(controller)
    } else if let Some(machine) = name.strip_prefix("machine/") {
        Text::from(format!("kubelet/{machine}"))
    } else {
        name.clone()
    }
}
