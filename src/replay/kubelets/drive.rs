//! Drives the machines of a recording, and compares what their kubelets write with the recorded writes.
//!
//! Inputs: what happened to the machines, what their environment decided, the objects of other writers, each at its
//! instant. Outputs: what the kubelets wrote, and which recorded writes that matches. Invariant: a recorded write that
//! the model makes a little early is answered when the real one was, so that both go on at the same instant.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nodeproof_core::chance::Chance;
use nodeproof_core::components::Record;
use nodeproof_core::components::controller::Context;
use nodeproof_core::components::machine::{Machine, MachineAction, MachineSpec, RecordedChoices};
use nodeproof_core::event_loop::EventLoop;
use nodeproof_core::network::{
    Answer, Ask, Body, CSI_NODES, Call, ClientId, Delivery, EVENTS, Fault, LEASES, NODES, Network, Request, RequestId,
    ToClient, Verb,
};
use nodeproof_core::objects::{Json, Object, Text};
use nodeproof_core::profile::Settings;

use super::driven::Driven;
use super::environment;
use super::files::{self, KubeletRecording, MachineEntry, VerbLine};
use super::made::{KubeletRun, Made};
use super::recorded::{RecordedWrite, RecordedWrites, object_of};
use super::server::{Messages, RecordedServer};
use super::{compare, difference, subject};
use super::{outage, process};
use crate::replay::load::Micros;
use crate::replay::writers::WriteTarget;

/// How far the two sides of a write may be apart: a busy machine is late by half a second.
const WITHIN: Micros = 600_000;
/// The same for a Pod's status: a relist each second sees what the runtime did, and calls take their time.
const POD_WITHIN: Micros = 1_600_000;
/// How much earlier a recorded read may be than the one of the model.
const READ_EARLY: Micros = 30_000;
/// Two patches of one object at most this far apart may as well have been one.
const TOGETHER: Micros = 150_000;
/// The limit of steps of one run, so that it ends even if a component never rests.
const STEPS_MAX: usize = 2_000_000;

enum Input {
    Line(usize),
    Verb(usize),
    /// A machine that ran before is driven from here.
    Machine(usize),
    Answer(ClientId, RequestId, usize),
    /// A read that the recording has is answered when it was.
    Read(ClientId, RequestId, Box<Call>),
    /// The last instant at which a recorded write can still be made.
    Expiry(usize),
}

struct Drive<'a> {
    recording: &'a KubeletRecording,
    recorded: &'a RecordedWrites<'a>,
    choices: &'a BTreeMap<String, RecordedChoices>,
    server: RecordedServer<'a>,
    event_loop: EventLoop<Driven>,
    settings: Arc<Settings>,
    agenda: BTreeMap<(Micros, u64), Input>,
    sequence: u64,
    now: Micros,
    /// The Events that were written, by name: a repeated one is a patch of its count.
    events: BTreeMap<Text, Json>,
    /// The last matched write of each object: writes to one object keep their order.
    last: BTreeMap<String, usize>,
    /// The recorded reads that were made.
    reads: BTreeSet<usize>,
    run: KubeletRun,
}

/// Drives the machines of a recording. When informers work again after an outage is a free choice that no write tells
/// directly: what agrees best is taken.
pub(super) fn run(recording: &KubeletRecording, recorded: &RecordedWrites<'_>) -> KubeletRun {
    let mut choices: BTreeMap<String, RecordedChoices> = recording
        .machines
        .iter()
        .map(|entry| (entry.name.clone(), environment::choices(recording, recorded, entry)))
        .collect();
    let mut best = run_with(recording, recorded, &choices);
    for entry in &recording.machines {
        for outage in files::outages(recording, &entry.name) {
            let (nodes, pods) = outage::lists_after(recording, recorded, entry, outage);
            let mut found = choices.clone();
            for (node, pod) in nodes.iter().flat_map(|node| pods.iter().map(move |pod| (node, pod))) {
                let mut tried = choices.clone();
                if let Some(own) = tried.get_mut(&entry.name) {
                    own.node_lists.push(recording.at(*node));
                    own.pod_lists.push(recording.at(*pod));
                }
                let mut run = run_with(recording, recorded, &tried);
                if count_differences(recording, recorded, &run) < count_differences(recording, recorded, &best) {
                    *run.choices.entry("lists after an outage").or_default() += 2;
                    (best, found) = (run, tried);
                }
            }
            choices = found;
        }
    }
    best
}

fn count_differences(recording: &KubeletRecording, recorded: &RecordedWrites<'_>, run: &KubeletRun) -> usize {
    super::differences(recording, recorded, run).len() + super::events::differences(recording, recorded, run).0.len()
}

fn run_with(
    recording: &KubeletRecording,
    recorded: &RecordedWrites<'_>,
    choices: &BTreeMap<String, RecordedChoices>,
) -> KubeletRun {
    let begin = -environment::BEFORE - 1;
    let network = Network::new(Chance::new(1).fork("network"));
    let mut drive = Drive {
        recording,
        recorded,
        choices,
        server: RecordedServer::new(recorded),
        event_loop: EventLoop::new(network, Record::new(recording.at(begin), false)),
        settings: Arc::new(Settings::of(recording.release)),
        agenda: BTreeMap::new(),
        sequence: 0,
        now: begin,
        events: BTreeMap::new(),
        last: BTreeMap::new(),
        reads: BTreeSet::new(),
        run: KubeletRun::default(),
    };
    drive.plan();
    drive.run_to_end();
    drive.run
}

impl Drive<'_> {
    fn schedule(&mut self, t: Micros, input: Input) {
        self.sequence += 1;
        self.agenda.insert((t.max(self.now), self.sequence), input);
    }

    fn plan(&mut self) {
        for at in 0..self.recording.machines.len() {
            let machine = &self.recording.machines[at];
            if machine.started < 0 {
                self.schedule(environment::begin(machine), Input::Machine(at));
            }
        }
        for (at, verb) in self.recording.verbs.iter().enumerate() {
            self.schedule(environment::takes_effect(self.recording, verb), Input::Verb(at));
        }
        for (at, _) in self.recording.watch.iter().enumerate().filter(|(_, line)| !line.initial) {
            self.schedule(self.recording.watch[at].t, Input::Line(at));
        }
        for (index, write) in self.recorded.writes.iter().enumerate() {
            self.schedule(write.end + within(write), Input::Expiry(index));
        }
    }

    fn run_to_end(&mut self) {
        for _ in 0..STEPS_MAX {
            let wake = self.event_loop.next_wake().map(|(at, _)| at);
            let due = wake.into_iter().chain(self.event_loop.network.next_deadline()).min();
            let due = due.map(|at| self.recording.offset(at).max(self.now));
            let next = self.agenda.first_key_value().map(|((t, _), _)| *t);
            let Some(t) = due.into_iter().chain(next).min() else { return };
            if t > self.recording.ended {
                return;
            }
            self.now = t;
            if next == Some(t) {
                if let Some((_, input)) = self.agenda.pop_first() {
                    self.handle(input);
                }
                self.settle();
            } else {
                let now = self.recording.at(t);
                self.event_loop.network.handle_timeout(now);
                self.settle();
                let ran = self.running();
                self.event_loop.wake_next(now);
                self.settle();
                if self.running() < ran {
                    self.run.endings.push(t);
                }
            }
        }
    }

    /// Counts the kubelets that run.
    fn running(&self) -> usize {
        let machines = self.event_loop.iter().filter_map(|driven| driven.0.as_ref());
        machines.filter(|machine| machine.kubelet().is_some()).count()
    }

    fn handle(&mut self, input: Input) {
        match input {
            Input::Line(at) => {
                let messages = self.server.arrive(at);
                self.tell(messages);
            }
            Input::Machine(at) => self.add_machine(&self.recording.machines[at].clone()),
            Input::Verb(at) => self.perform(at),
            Input::Answer(client, id, write) => {
                let answer = self.server.recorded_answer(write);
                let messages = self.server.release(write, true);
                self.tell(messages);
                self.reply(client, id, answer);
            }
            Input::Expiry(write) if !self.run.matched.contains_key(&write) => {
                let messages = self.server.release(write, false);
                self.tell(messages);
            }
            Input::Expiry(_) => {}
            Input::Read(client, id, call) => {
                let answer = self.server.read(client, id, &call, self.now);
                self.reply(client, id, answer);
            }
        }
    }

    fn tell(&mut self, messages: Messages) {
        let now = self.recording.at(self.now);
        for (client, message) in messages {
            self.event_loop.network.reply(client, message, now);
        }
        self.settle();
    }

    fn reply(&mut self, client: ClientId, id: RequestId, answer: Answer) {
        let message = ToClient::Response { id, result: Ok(answer) };
        self.event_loop.network.reply(client, message, self.recording.at(self.now));
        self.settle();
    }

    fn settle(&mut self) {
        let now = self.recording.at(self.now);
        while let Some(delivery) = self.event_loop.poll_upward(now) {
            match delivery {
                Delivery::ToServer { client, request: Request { id, ask: Ask::Call(call), identity, .. } } => {
                    self.request(client, id, &call, &identity.user);
                }
                Delivery::Cancelled { client, id } => self.server.close(client, Some(id)),
                Delivery::Disconnected { client } => self.server.close(client, None),
                Delivery::ToServer { .. } | Delivery::ToClient { .. } => {}
            }
        }
    }

    fn add_machine(&mut self, entry: &MachineEntry) {
        let refuse = |why: String| {
            difference(
                entry.started,
                format!("machines/{}", entry.name),
                "start".to_owned(),
                entry.body.clone(),
                Json::text(why),
            )
        };
        let mut body = entry.body.clone();
        if let Some(images) = environment::images(self.recording, entry) {
            body.set(&["images"], images);
        }
        let spec = match MachineSpec::from_json(&body) {
            Ok(spec) => spec,
            Err(error) => return self.run.refused.push(refuse(error.to_string())),
        };
        let name = Text::from(format!("machine/{}", entry.name));
        let context = Context {
            settings: self.settings.clone(),
            chance: Chance::new(1).fork(&format!("kubelet/{}", entry.name)),
        };
        let choices = self.choices.get(&entry.name).cloned().unwrap_or_default();
        let script = environment::script(self.recording, &entry.name);
        // A machine that is made anew has no containers, unless Pods of its Node were there before.
        let is_known = self.event_loop.find(&name).is_some();
        let pods: Vec<(Text, Object)> =
            if is_known { Vec::new() } else { environment::pods(self.recording, &entry.node) };
        let now = self.recording.at(self.now);
        let manifests = if is_known { Vec::new() } else { environment::manifests(self.recording, &entry.node) };
        match Machine::recorded(spec, context, (choices, script), (&pods, manifests), now) {
            Ok(machine) => {
                let client = self.event_loop.add(name, Driven(Some(Box::new(machine))));
                self.event_loop.pump(client, now);
                self.settle();
            }
            Err(error) => self.run.refused.push(refuse(error.to_string())),
        }
    }

    /// Does what happened to a machine.
    fn perform(&mut self, at: usize) {
        let verb = &self.recording.verbs[at];
        let line = &verb.line;
        let now = self.recording.at(self.now);
        if line.get("call").as_str() == Some("POST machines") {
            let entry = self.recording.machines.iter().find(|machine| machine.name == verb.machine).cloned();
            if let Some(mut entry) = entry {
                if line.get("body").is_object() {
                    entry.body = line.get("body").clone();
                }
                self.add_machine(&entry);
            }
            return;
        }
        let object = format!("machines/{}", verb.machine);
        let refuse = |run: &mut KubeletRun, path: &str, real: &Json, why: String| {
            run.refused.push(difference(verb.t, object.clone(), path.to_owned(), real.clone(), Json::text(why)));
        };
        if !line.get("rule").is_null() {
            if let Err(why) = self.add_rule(verb, now) {
                refuse(&mut self.run, "rule", line.get("rule"), why);
            }
            return;
        }
        let Some(client) = self.event_loop.find(&format!("machine/{}", verb.machine)) else { return };
        if let Some(probe) = Some(line.at(&["outcome", "probe"])).filter(|probe| !probe.is_null()) {
            let (uid, container) = environment::subject(probe);
            let is_ready = probe.get("result").as_str() == Some("success");
            if let Driven(Some(machine)) = self.event_loop.get_mut(client) {
                machine.handle_probe(&uid, &container, is_ready, now);
            }
        } else if line.at(&["outcome", "kubelet"]).as_str() == Some("up") {
            // The service manager has started a process again that ended by itself.
            if let Driven(Some(machine)) = self.event_loop.get_mut(client)
                && machine.kubelet().is_none()
                && let Err(error) = machine.handle_action(MachineAction::KubeletStart, now)
            {
                refuse(&mut self.run, "outcome", line.get("outcome"), error.to_string());
            }
        } else if !line.get("do").is_null() {
            if process::has_gone_on(self.recording, self.recorded, at)
                && let Driven(Some(machine)) = self.event_loop.get_mut(client)
            {
                machine.forget_manager_policies();
            }
            let outcome =
                MachineAction::from_json(line.get("do")).map_err(|error| error.to_string()).and_then(|action| {
                    let Driven(Some(machine)) = self.event_loop.get_mut(client) else { return Ok(()) };
                    let plugs = action.plugs();
                    machine.handle_action(action, now).map_err(|error| error.to_string())?;
                    if let Some(plugged) = plugs {
                        self.event_loop.network.set_plugged(client, plugged, now);
                    }
                    Ok(())
                });
            if let Err(why) = outcome
                && !process::is_refused_too(self.recording, at, &why)
            {
                refuse(&mut self.run, "do", line.get("do"), why);
            }
        }
        self.event_loop.pump(client, now);
        self.settle();
    }

    /// Adds a rule to the network. It ends with the first answer, which is recorded at that very instant.
    fn add_rule(&mut self, verb: &VerbLine, now: jiff::Timestamp) -> Result<(), String> {
        let mut fault = Fault::from_json(verb.line.get("rule")).map_err(|error| error.to_string())?;
        let entry = self.recording.machines.iter().find(|machine| machine.name == verb.machine);
        let renewals = self.choices.get(&verb.machine).map_or(&[][..], |own| &own.renewals);
        fault.lasts = fault.lasts.map(|told| outage::lasts(self.recording, entry, verb, (renewals, told)));
        self.event_loop.network.add_rule(fault, now);
        self.settle();
        Ok(())
    }

    fn request(&mut self, client: ClientId, id: RequestId, call: &Call, user: &str) {
        let Some(place) = WriteTarget::of(call) else {
            return self.reply(client, id, Answer::json(404, Json::object()));
        };
        if matches!(call.verb, Verb::Get | Verb::List | Verb::Watch) {
            let is_stranger = user == "system:anonymous";
            if let Some(end) = self.recorded_read(call, &place, user).filter(|end| *end > self.now) {
                return self.schedule(end, Input::Read(client, id, Box::new(call.clone())));
            }
            let answer = if is_stranger {
                crate::replay::recorded_cluster::refusal(403, "forbidden")
            } else {
                self.server.read(client, id, call, self.now)
            };
            let missed = self.server.missed(client, id, call);
            self.reply(client, id, answer);
            return self.tell(missed);
        }
        if place.resource == EVENTS {
            let answer = self.event(call, &place);
            return self.reply(client, id, answer);
        }
        let body = match &call.body {
            Body::Json(body) => body.clone(),
            _ => Json::object(),
        };
        self.run.made.push(Made { t: self.now, verb: call.verb, place: place.clone(), body, matched: None });
        let made = self.run.made.len() - 1;
        match self.match_with(made, user) {
            Some(write) => {
                let answered = self.recorded.writes[write].end.max(self.now);
                self.schedule(answered, Input::Answer(client, id, write));
            }
            None if user == "system:anonymous" => {
                self.reply(client, id, crate::replay::recorded_cluster::refusal(403, "forbidden"));
            }
            None => {
                let (answer, messages) = self.server.perform(call, self.now);
                self.tell(messages);
                self.reply(client, id, answer);
            }
        }
    }

    /// Returns when the read was answered that the recording has for one of the model: of what the machine itself has.
    fn recorded_read(&mut self, call: &Call, place: &WriteTarget, user: &str) -> Option<Micros> {
        if call.verb != Verb::Get || ![NODES, LEASES, CSI_NODES].contains(&place.resource) {
            return None;
        }
        let requests = self.recording.requests.iter().enumerate();
        let (at, line) = requests.skip_while(|(_, line)| line.t < self.now - READ_EARLY).find(|(at, line)| {
            line.verb == Verb::Get && line.place == *place && line.user == user && !self.reads.contains(at)
        })?;
        // A connection that was tried as the server came up waits for it.
        let waits = if self.recording.follows_outage(line.t) { outage::CONNECTION_WAITS } else { WITHIN };
        let is_near = line.t <= self.now + waits;
        is_near.then(|| self.reads.insert(at));
        is_near.then_some(line.end)
    }

    /// Takes an Event, or the count of one.
    fn event(&mut self, call: &Call, place: &WriteTarget) -> Answer {
        let Body::Json(body) = &call.body else { return Answer::json(400, Json::object()) };
        let event = if call.verb == Verb::Create {
            body.clone()
        } else {
            let mut event = self.events.get(&place.name).cloned().unwrap_or_else(Json::object);
            for (name, value) in body.fields() {
                event.set(&[name], value.clone());
            }
            event
        };
        if let Some(name) = event.at(&["metadata", "name"]).as_text() {
            self.events.insert(name.clone(), event.clone());
        }
        self.run.events.push((self.now, event.clone()));
        Answer::json(if call.verb == Verb::Create { 201 } else { 200 }, event)
    }

    /// Finds the recorded write for one that was made: the earliest that can be meant, or a later one that says the
    /// same.
    fn match_with(&mut self, made: usize, user: &str) -> Option<usize> {
        let Made { t, verb, place, body, .. } = &self.run.made[made].clone();
        let after = self.last.get(&object_of(place, body)).map_or(0, |last| last + 1);
        let candidates: Vec<usize> = (after..self.recorded.writes.len())
            .filter(|index| {
                let write = &self.recorded.writes[*index];
                !self.run.matched.contains_key(index)
                    && write.verb == *verb
                    && write.place == *place
                    && write.user == user
                    && write.t <= t + within(write)
                    && *t <= write.end + within(write)
            })
            .collect();
        let differences = |index: &usize| compare::bodies(&self.recorded.writes[*index], *t, body);
        let same = candidates.iter().copied().find(|index| differences(index).is_empty());
        let first = same.or_else(|| candidates.first().copied())?;
        let found = differences(&first);
        let next = candidates.iter().copied().find(|index| *index > first);
        if let Some(next) = next.filter(|_| !found.is_empty())
            && self.recorded.writes[next].t - self.recorded.writes[first].end <= TOGETHER
        {
            let (one, other) = (&self.recorded.writes[first], &self.recorded.writes[next]);
            let both = compare::together(one, other, self.recording.release);
            if compare::bodies(&both, *t, body).is_empty() {
                self.run.matched.insert(first, made);
                drop(self.server.release(first, false));
                self.run.matched.insert(next, made);
                self.run.made[made].matched = Some(next);
                self.last.insert(object_of(place, body), next);
                *self.run.choices.entry("patches made as one").or_default() += 1;
                return Some(next);
            }
        }
        let object = subject(place);
        let at = self.recorded.writes[first].t;
        self.run.differences.extend(
            found.into_iter().map(|field| (first, difference(at, object.clone(), field.path, field.real, field.sim))),
        );
        self.run.matched.insert(first, made);
        self.last.insert(object_of(place, body), first);
        self.run.made[made].matched = Some(first);
        Some(first)
    }
}

/// Returns how far the two sides of a write may be apart.
fn within(write: &RecordedWrite) -> Micros {
    if write.place.resource == NODES || write.place.resource == LEASES { WITHIN } else { POD_WITHIN }
}
