//! Drives one component with what its real counterpart saw, and compares its writes with the recorded ones.
//!
//! Inputs: a recording in order, the component's name, the choices of this run. Outputs: which recorded writes were
//! predicted, and the differences. A predicted write gets the recorded answer at the recorded time, so that one
//! difference does not cause others; a write that was never recorded is answered as if it had succeeded. Invariant:
//! each recorded write is predicted at most once, the earliest first.

mod requests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nodeproof_core::chance::Chance;
use nodeproof_core::components::controller::{Context, Controller, FreeChoice};
use nodeproof_core::components::registry;
use nodeproof_core::components::{Decision, Output};
use nodeproof_core::network::{Answer, NODES, RequestId, Resource, ToClient, Verb};
use nodeproof_core::objects::{Json, Object, Text};
use nodeproof_core::profile::Settings;

use super::load::Micros;
use super::phases::{self, Passes, Tainting};
use super::recorded::Recorded;
use super::recorded_cluster::{RecordedCluster, Show};
use super::report::WriteDifference;
use super::writers::{WriteChange, WriteTarget, Writer};

/// How long before the first pass a controller is started.
const START_BEFORE: Micros = 1_000_000;
/// How long before its first health pass a process becomes the leader, about.
const LEADS_BEFORE_PASS: Micros = 50_000;
/// How long a read takes.
const READ_TAKES: Micros = 300;
/// By how much the watches may lag behind the server when it answers a read of an object that was just created.
const WATCHES_LAG: Micros = 100_000;
/// How long after the answer an effect is shown that was seen late in the recording.
const LATE: Micros = 1_000;
/// The start of a taint pass is known from its first request, to some milliseconds: these distances are tried.
const TICK_AROUND: [Micros; 6] = [-20_000, 0, 2_000, 5_000, 10_000, 20_000];
/// If the component decided for the node at most this long before, the taint pass has already been made.
const TAINT_WITHIN: Micros = 60_000;
/// How far ahead the order of nodes in a pass looks for the next taint: the time of one token and a pass.
const ORDER_LOOKS_AHEAD: Micros = 15_000_000;
/// The limit of steps of one run, so that it ends even if a component never rests.
const STEPS_MAX: usize = 2_000_000;

/// The choices of a run that are not about order; the search finds them by comparing earlier runs with the recording.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Choices {
    /// Writes whose effect reached the writer's own watch after the answer.
    pub late_echo: BTreeSet<usize>,
    /// Of these, writes whose effect had not reached the server's own cache either, from which it answers some reads.
    pub late_cache: BTreeSet<usize>,
    /// Status writes after which a taint pass came before their effect was seen.
    pub early_tick: BTreeSet<usize>,
    /// Health passes with a taint pass between the last node and the judgement of the zones.
    pub tick_in_pass: BTreeSet<usize>,
    /// Instants of health passes that only a taint shows.
    pub passes: BTreeSet<Micros>,
    /// Events (stream and position) that reached the cache at another instant than the recorder.
    pub moved: BTreeMap<(usize, usize), Micros>,
}

/// A write that the component made.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The instant.
    pub t: Micros,
    /// The verb.
    pub verb: Verb,
    /// The target.
    pub place: WriteTarget,
    /// What it changes.
    pub change: WriteChange,
    /// The recorded write that it predicts, if it does.
    pub matched: Option<usize>,
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Run {
    /// What the component wrote.
    pub predictions: Vec<Prediction>,
    /// The prediction of each recorded write that was predicted.
    pub matched: BTreeMap<usize, usize>,
    /// Fields in which a predicted write differs from the recorded one.
    pub differences: Vec<(usize, WriteDifference)>,
    /// The health passes that were driven.
    pub passes: usize,
    /// How many orders of nodes or pods were set.
    pub orders: usize,
}

#[derive(Debug)]
enum ScheduledInput {
    Event(usize, usize),
    Answer {
        life: usize,
        id: RequestId,
        answer: Answer,
        write: Option<usize>,
    },
    /// The last instant at which a recorded write can still be predicted.
    Expiry(usize),
    Release(usize),
    Pass(usize),
    /// A pass of the pod garbage collector.
    Collection(usize),
    /// The writer sees its own object of a kind that the recording does not watch.
    Made(Resource, Object),
    Tick,
    /// A taint pass that set a recorded taint, unless it was already made.
    Taint(usize),
    /// The process ends.
    Stop,
    /// The process starts again.
    Start,
}

struct Drive<'a> {
    recorded: &'a Recorded<'a>,
    writer: Writer,
    choices: &'a Choices,
    settings: &'a Arc<Settings>,
    component: Box<dyn Controller>,
    /// How often the component was started; answers to an earlier instance are dropped.
    life: usize,
    /// Whether the process is stopped.
    down: bool,
    world: RecordedCluster<'a>,
    passes: &'a Passes,
    /// The passes of the pod garbage collector.
    collections: Vec<Micros>,
    taintings: Vec<Tainting>,
    agenda: BTreeMap<(Micros, u64), ScheduledInput>,
    sequence: u64,
    now: Micros,
    /// Updates that wait for their answer: those of a health pass.
    updates: usize,
    /// The Events that the component created, by name: a repeated one is a patch of its count.
    events: BTreeMap<Text, Json>,
    /// The nodes that the component decided to taint, in order.
    tainted_at: Vec<(Micros, String)>,
    run: Run,
}

/// Runs one component against a recording; `None` if the flags of the recording keep it from running.
#[must_use]
pub fn run(
    recorded: &Recorded<'_>,
    writer: Writer,
    settings: &Arc<Settings>,
    passes: &Passes,
    choices: &Choices,
) -> Option<Run> {
    let begin = passes.starts.first().copied().unwrap_or(0).min(0) - START_BEFORE;
    let component = start(recorded, writer, settings, begin)?;
    let mut drive = Drive {
        recorded,
        writer,
        choices,
        settings,
        component,
        life: 0,
        down: false,
        world: RecordedCluster::new(recorded, writer),
        passes,
        collections: phases::collections(recorded),
        taintings: phases::taintings(recorded),
        agenda: BTreeMap::new(),
        sequence: 0,
        now: begin,
        updates: 0,
        events: BTreeMap::new(),
        tainted_at: Vec::new(),
        run: Run::default(),
    };
    drive.plan();
    drive.pump();
    drive.go();
    Some(drive.run)
}

fn start(recorded: &Recorded<'_>, writer: Writer, settings: &Arc<Settings>, t: Micros) -> Option<Box<dyn Controller>> {
    let context = Context { settings: settings.clone(), chance: Chance::new(1).fork(writer.name()) };
    let mut component = registry::start(writer.name(), context, recorded.recording.at(t))?;
    component.hold_loops();
    if writer == Writer::SCHEDULER {
        for (uid, node) in recorded.bindings() {
            component.prefer(FreeChoice::NodeOfPod { uid: &uid, node: &node });
        }
    }
    Some(component)
}

impl Drive<'_> {
    fn at(&mut self, t: Micros, due: ScheduledInput) {
        self.sequence += 1;
        self.agenda.insert((t.max(self.now), self.sequence), due);
    }

    /// Puts every input whose instant the recording determines on the agenda.
    fn plan(&mut self) {
        let recorded = self.recorded;
        for (stream, list) in recorded.streams.iter().enumerate() {
            for (at, event) in list.events.iter().enumerate().filter(|(_, event)| !event.listed) {
                let t = self.choices.moved.get(&(stream, at)).copied().unwrap_or(event.t);
                self.at(t, ScheduledInput::Event(stream, at));
            }
        }
        for (index, write) in recorded.writes_of(self.writer) {
            self.at(write.t.max(write.end) + write.tolerance, ScheduledInput::Expiry(index));
        }
        // The scheduler keeps running without the controller manager.
        let outages = if self.writer == Writer::SCHEDULER { &[][..] } else { &recorded.outages[..] };
        for outage in outages {
            self.at(outage.from, ScheduledInput::Stop);
            let first_pass = self.passes.starts.iter().find(|start| **start >= outage.until);
            // A started process leads only after the old lease has expired, which its first pass shows.
            self.at(
                first_pass.map_or(outage.until, |start| (start - LEADS_BEFORE_PASS).max(outage.until)),
                ScheduledInput::Start,
            );
        }
        if self.writer == Writer::POD_GC {
            for index in 0..self.collections.len() {
                self.at(self.collections[index], ScheduledInput::Collection(index));
            }
        }
        if self.writer == Writer::NODE_LIFECYCLE {
            for (index, start) in self.passes.starts.iter().enumerate() {
                self.at(*start, ScheduledInput::Pass(index));
            }
            for tainting in 0..self.taintings.len() {
                for around in TICK_AROUND {
                    self.at(self.taintings[tainting].t + around, ScheduledInput::Taint(tainting));
                }
            }
            let first = phases::next_tick(&self.taintings, self.passes.starts.first().copied().unwrap_or(0));
            self.at(first, ScheduledInput::Tick);
        }
    }

    fn go(&mut self) {
        let end = self.recorded.recording.about.ended.max(self.last_instant());
        for _ in 0..STEPS_MAX {
            let deadline = self.component.next_deadline().filter(|_| !self.down);
            let wake = deadline.map(|deadline| self.recorded.recording.offset_after(deadline.at).max(self.now));
            let next = self.agenda.first_key_value().map(|((t, _), _)| *t);
            let Some(t) = wake.into_iter().chain(next).min() else { return };
            if t > end {
                return;
            }
            self.now = t;
            if next == Some(t) {
                if let Some((_, due)) = self.agenda.pop_first() {
                    self.handle(due);
                }
            } else {
                let now = self.recorded.recording.at(t);
                self.component.handle_timeout(now);
                self.pump();
            }
        }
    }

    fn last_instant(&self) -> Micros {
        self.recorded.writes.iter().map(|write| write.end).max().unwrap_or(0)
    }

    fn handle(&mut self, due: ScheduledInput) {
        match due {
            ScheduledInput::Event(stream, at) => {
                let messages = self.world.arrive(stream, at);
                self.tell(messages);
            }
            ScheduledInput::Answer { life, id, answer, write } => {
                if life == self.life && !self.down {
                    self.answer(id, answer, write);
                } else if let Some(write) = write {
                    self.at(self.now, ScheduledInput::Release(write));
                }
            }
            ScheduledInput::Stop => {
                self.down = true;
                self.updates = 0;
                self.world.disconnect();
            }
            ScheduledInput::Start => {
                let component = start(self.recorded, self.writer, self.settings, self.now);
                if let Some(component) = component {
                    self.component = component;
                }
                self.down = false;
                self.life += 1;
                self.events.clear();
                self.pump();
            }
            ScheduledInput::Expiry(write) if !self.run.matched.contains_key(&write) => {
                self.world.store(write);
                let messages = self.world.release(write, Show::InTime);
                self.tell(messages);
            }
            ScheduledInput::Expiry(_) => {}
            ScheduledInput::Release(write) => {
                let messages = self.world.release(write, Show::Now);
                self.tell(messages);
            }
            ScheduledInput::Pass(index) => self.pass(index),
            ScheduledInput::Collection(index) => self.collection(index),
            ScheduledInput::Made(resource, object) => {
                let messages = self.world.show_made(&resource, &object);
                self.tell(messages);
            }
            ScheduledInput::Taint(tainting) => {
                if !self.tainted(tainting) {
                    self.round("taint-pass");
                }
            }
            ScheduledInput::Tick => {
                self.tick();
                let next = phases::next_tick(&self.taintings, self.now);
                self.at(next, ScheduledInput::Tick);
            }
        }
    }

    fn tell(&mut self, messages: Vec<ToClient>) {
        let now = self.recorded.recording.at(self.now);
        for message in messages {
            self.component.handle_message(message, now);
            self.pump();
        }
    }

    fn answer(&mut self, id: RequestId, answer: Answer, write: Option<usize>) {
        let late = write.is_some_and(|write| self.choices.late_echo.contains(&write));
        let early_tick = write.is_some_and(|write| self.choices.early_tick.contains(&write));
        if let Some(write) = write {
            self.updates -= usize::from(self.recorded.writes[write].verb == Verb::Update);
            self.world.store(write);
            if late || early_tick {
                self.at(self.now + LATE, ScheduledInput::Release(write));
            } else {
                let messages = self.world.release(write, Show::Now);
                self.tell(messages);
            }
        }
        if let Some(write) = write.map(|write| &self.recorded.writes[write])
            && (write.verb, write.code) == (Verb::Delete, 404)
        {
            // An object that the server has deleted is still on its way to the watches.
            for (stream, at) in self.world.on_its_way(&write.place, self.now + WATCHES_LAG) {
                let messages = self.world.arrive(stream, at);
                self.tell(messages);
            }
        }
        self.tell(Vec::from([ToClient::Response { id, result: Ok(answer) }]));
        if early_tick {
            self.round("taint-pass");
        }
    }

    fn pass(&mut self, index: usize) {
        if self.choices.tick_in_pass.contains(&index) {
            self.component.prefer(FreeChoice::TaintPassBeforeJudgement);
        }
        let order = self.node_order(index);
        if !order.is_empty() {
            self.run.orders += 1;
            self.component.prefer(FreeChoice::NodeOrder(&order));
        }
        self.run.passes += 1;
        self.round("health-pass");
    }

    /// Makes a pass of the pod garbage collector, with the order of pods that the recording shows.
    fn collection(&mut self, index: usize) {
        let passes = &self.collections;
        let (start, end) = (passes[index], passes.get(index + 1).copied().unwrap_or(Micros::MAX));
        let mut order: Vec<Text> = Vec::new();
        for (_, write) in self.recorded.writes_of(Writer::POD_GC) {
            if write.t >= start && write.t < end && !order.contains(&write.place.name) {
                order.push(write.place.name.clone());
            }
        }
        if !order.is_empty() {
            self.run.orders += 1;
            self.component.prefer(FreeChoice::PodOrder(&order));
        }
        self.round("gc-pass");
    }

    fn round(&mut self, name: &str) {
        if self.down {
            return;
        }
        let now = self.recorded.recording.at(self.now);
        self.component.run_once(name, now);
        self.pump();
    }

    /// Makes a taint pass, unless a health pass is under way: only a taint shows whether a taint pass came within it.
    fn tick(&mut self) {
        let in_pass =
            self.updates > 0 && self.component.loops().iter().any(|of| of.name == "health-pass" && of.next.is_none());
        if !in_pass {
            self.round("taint-pass");
        }
    }

    /// Tells whether the component has already decided a recorded taint.
    fn tainted(&self, tainting: usize) -> bool {
        let Tainting { t, node } = &self.taintings[tainting];
        self.tainted_at.iter().rev().take_while(|(at, _)| t - at < TAINT_WITHIN).any(|(_, name)| name == node)
    }

    /// Reads the order of nodes in a pass from the recording: first the nodes that are tainted next, then those that
    /// are written first.
    fn node_order(&self, index: usize) -> Vec<Text> {
        let start = self.passes.starts[index];
        let end = self.passes.starts.get(index + 1).copied().unwrap_or(Micros::MAX);
        let mut order: Vec<Text> = Vec::new();
        let mut push = |name: &str| {
            if !order.iter().any(|other| *other == *name) {
                order.push(Text::from(name));
            }
        };
        for tainting in
            self.taintings.iter().filter(|tainting| tainting.t >= start && tainting.t < start + ORDER_LOOKS_AHEAD)
        {
            push(&tainting.node);
        }
        for (_, write) in self.recorded.writes_of(Writer::NODE_LIFECYCLE) {
            if write.t >= start && write.t < end && write.place.resource == NODES {
                push(&write.place.name);
            }
        }
        order
    }

    fn pump(&mut self) {
        while let Some(output) = self.component.poll_output() {
            match output {
                Output::Request(request) => self.request(request),
                Output::Cancel(id) => self.world.cancel(id),
                Output::Decision(decision) => self.note(&decision),
                Output::Exit | Output::Log(_) | Output::Served(..) => {}
            }
        }
    }

    /// Notes the nodes that were chosen for an eviction taint.
    fn note(&mut self, decision: &Decision) {
        if let Some(node) = decision.about.strip_prefix("node/")
            && decision.what.split(' ').any(|change| change.starts_with('+') && change.ends_with(":NoExecute"))
        {
            self.tainted_at.push((self.now, node.to_owned()));
        }
    }
}
