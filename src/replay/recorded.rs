//! Turns a recording into a [`Recorded`]: the writes by writer with their changes, and the streams of the watches.
//!
//! Each judged write is linked with its echo, the watch event that it caused: by the revision that it made or was based
//! on, otherwise by content and instant.

use std::collections::{BTreeMap, BTreeSet};

use nodeproof_core::components::volumes::VOLUMES;
use nodeproof_core::network::{NODES, PODS, Verb, WatchType};
use nodeproof_core::objects::{Json, Text};

use super::load::{Micros, Recording};
use super::report::{BEFORE, NOT_MODELLED, NOT_WATCHED, Unjudged};
use super::streams::{self, Stream};
use super::watched;
use super::writers::{self, Author, Revisions, WriteChange, WriteTarget, Writer};

/// How long after the server a watch event may come, when it is looked up by instant.
const ECHO_LAG_MAX: Micros = 2_000_000;
/// How far a predicted write may be from the recorded instant.
const TOLERANCE: Micros = 1_000_000;
/// The same if the rate limit of its client delays the writer.
const TOLERANCE_PACED: Micros = 2_000_000;
/// The rate limit of a controller's client: requests per second, and requests at once.
/// Source: cmd/kube-controller-manager `--kube-api-qps`, `--kube-api-burst` (v1.34).
const CLIENT_RATE: f64 = 20.0;
const CLIENT_BURST: f64 = 30.0;
/// Creations of one controller with shorter pauses between them are sent side by side.
const BATCH_PAUSE: Micros = 30_000;
/// With fewer tokens than this, a client's requests may have waited: some of its requests are not recorded.
const PACED_BELOW: f64 = 5.0;

/// A recorded write of a judged writer.
#[derive(Clone, Debug)]
pub struct RecordedWrite {
    /// The writer.
    pub writer: Writer,
    /// When the server received it; for Events, when the watch delivered it.
    pub t: Micros,
    /// When it was answered.
    pub end: Micros,
    /// The verb.
    pub verb: Verb,
    /// The target.
    pub place: WriteTarget,
    /// The code of the answer.
    pub code: u16,
    /// The message of a refusal.
    pub message: String,
    /// What it changed.
    pub change: WriteChange,
    /// The prefix of a name that the server generates; empty for a name that the writer chose.
    pub generate_name: Text,
    /// How far a prediction may be from the instant.
    pub tolerance: Micros,
    /// The watch event that it caused: stream and position.
    pub echo: Option<(usize, usize)>,
    /// The revision that it made, and the one that it was based on; 0 if it is not recorded.
    made: u64,
    sent: u64,
}

/// A time without the controller manager.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// When it ended.
    pub from: Micros,
    /// When it was started again.
    pub until: Micros,
}

/// A prepared recording.
#[derive(Debug)]
pub struct Recorded<'a> {
    /// The files.
    pub recording: &'a Recording,
    /// The writes of judged writers by instant.
    pub writes: Vec<RecordedWrite>,
    /// All writes and Events of controllers and the scheduler.
    pub total: usize,
    /// Writes that are inputs only, by writer and reason.
    pub unjudged: BTreeMap<Unjudged, usize>,
    /// Single reads of Nodes by the node controllers: instant and name.
    pub node_reads: Vec<(Micros, Text)>,
    /// The times without controller manager.
    pub outages: Vec<Outage>,
    /// The revisions that patches started from.
    pub revisions: Revisions,
    /// The streams of the watches: nodes, pods, leases, then the other kinds.
    pub streams: Vec<Stream>,
}

impl<'a> Recorded<'a> {
    /// Prepares a recording.
    #[must_use]
    pub fn of(recording: &'a Recording) -> Self {
        let mut recorded = Self {
            recording,
            writes: Vec::new(),
            total: 0,
            unjudged: BTreeMap::new(),
            node_reads: Vec::new(),
            outages: outages(recording),
            revisions: Revisions::of(&recording.watch),
            streams: streams::streams(recording),
        };
        recorded.collect_writes();
        recorded.collect_events();
        recorded.writes.sort_by_key(|write| write.t);
        recorded.widen_tolerances();
        recorded.link_echoes();
        recorded.link_volumes();
        recorded.order_batches();
        recorded
    }

    /// Returns the writes of one writer with their positions.
    pub fn writes_of(&self, writer: Writer) -> impl Iterator<Item = (usize, &RecordedWrite)> {
        self.writes.iter().enumerate().filter(move |(_, write)| write.writer == writer)
    }

    /// Tells whether a change is the Event that a Node was registered, for a Node that was there before the recording
    /// began: it is not known when the controller first saw it.
    #[must_use]
    pub fn was_registered_before(&self, change: &WriteChange) -> bool {
        let WriteChange::Event(event) = change else { return false };
        let name = event.at(&["involvedObject", "name"]).as_str().unwrap_or_default();
        event.get("reason").as_str() == Some("RegisteredNode")
            && self.streams[0].events.iter().any(|event| event.listed && event.object.name() == name)
    }

    fn is_watched(&self, place: &WriteTarget) -> bool {
        self.streams.iter().any(|stream| stream.resource == place.resource)
    }

    /// Returns which Pods, by uid, the scheduler bound to which Nodes: its free choices among equal ones.
    pub fn bindings(&self) -> impl Iterator<Item = (Text, Text)> {
        self.writes_of(Writer::SCHEDULER).filter_map(|(_, write)| match &write.change {
            WriteChange::Binding(binding) => {
                let text = |path: &[&str]| binding.at(path).as_text().cloned();
                text(&["metadata", "uid"]).zip(text(&["target", "name"]))
            }
            _ => None,
        })
    }

    fn collect_writes(&mut self) {
        let slices = watched::slices(&self.recording.watch);
        for line in self.recording.writes.iter().chain(&slices) {
            let place = WriteTarget::parse(&line.uri);
            if line.verb == "get" {
                let by_node_controller = line.user.ends_with(":node-controller");
                if let Some(place) = place.filter(|place| place.resource == NODES && by_node_controller) {
                    self.node_reads.push((line.t, place.name));
                }
                continue;
            }
            self.total += 1;
            let author = writers::author_of_write(line, place.as_ref());
            match (author, place, Verb::from_name(&line.verb)) {
                // Objects of a kind that was not watched were collected for reasons that the recording does not show.
                (Author::Judged(writer @ Writer::GARBAGE_COLLECTOR), Some(place), _) if !self.is_watched(&place) => {
                    *self.unjudged.entry(Unjudged::new(writer.name(), NOT_WATCHED)).or_default() += 1;
                }
                (Author::Judged(writer), Some(mut place), Some(verb)) => {
                    if place.name.is_empty() {
                        place.name = line.body.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
                    }
                    let change = WriteChange::of(verb, &place, &line.body, &self.revisions);
                    let place_name_is_open = place.name.is_empty();
                    self.writes.push(RecordedWrite {
                        writer,
                        t: line.t,
                        end: line.end.max(line.t),
                        verb,
                        place,
                        code: line.code,
                        message: line.message.clone(),
                        change,
                        generate_name: line
                            .body
                            .at(&["metadata", "generateName"])
                            .as_text()
                            .filter(|_| place_name_is_open)
                            .cloned()
                            .unwrap_or_default(),
                        tolerance: TOLERANCE,
                        echo: None,
                        made: line.resource_version,
                        sent: version(&line.body),
                    });
                }
                (Author::Other(name), ..) => {
                    *self.unjudged.entry(Unjudged::new(name, NOT_MODELLED)).or_default() += 1;
                }
                (Author::Judged(writer), ..) => {
                    *self.unjudged.entry(Unjudged::new(writer.name(), NOT_WATCHED)).or_default() += 1;
                }
            }
        }
        self.node_reads.sort();
    }

    fn collect_events(&mut self) {
        for line in self.recording.watch.iter().filter(|line| line.kind == "Event" && !line.listed) {
            let event = line.object.json();
            let verb = match line.event {
                WatchType::Added => Verb::Create,
                WatchType::Modified => Verb::Patch,
                _ => continue,
            };
            let Some(author) = writers::author_of_event(&event) else { continue };
            self.total += 1;
            let place = event_place(&event);
            let change = WriteChange::of(verb, &place, &event, &self.revisions);
            let writer = match author {
                Author::Judged(writer) if self.was_registered_before(&change) => {
                    *self.unjudged.entry(Unjudged::new(writer.name(), BEFORE)).or_default() += 1;
                    continue;
                }
                Author::Judged(writer) => writer,
                Author::Other(name) => {
                    *self.unjudged.entry(Unjudged::new(name, NOT_MODELLED)).or_default() += 1;
                    continue;
                }
            };
            self.writes.push(RecordedWrite {
                writer,
                t: line.t,
                end: line.t,
                verb,
                place,
                code: if verb == Verb::Create { 201 } else { 200 },
                message: String::new(),
                change,
                generate_name: Text::of(""),
                tolerance: TOLERANCE,
                echo: None,
                made: 0,
                sent: 0,
            });
        }
    }

    /// Increases the tolerance where the rate limit of a client delays its writes.
    fn widen_tolerances(&mut self) {
        for writer in Writer::controllers() {
            let mut instants: Vec<Micros> = self.writes_of(writer).map(|(_, write)| write.t).collect();
            if writer == Writer::NODE_LIFECYCLE {
                instants.extend(self.node_reads.iter().map(|(t, _)| *t));
            }
            if writer == Writer::TAINT_EVICTION {
                // Each eviction reads its pod before it patches it.
                let patches = self
                    .writes_of(writer)
                    .filter(|(_, write)| write.verb == Verb::Patch && write.place.resource == PODS);
                instants.extend(patches.map(|(_, write)| write.t).collect::<Vec<_>>());
            }
            instants.sort_unstable();
            let paced = paced(&instants);
            for write in self.writes.iter_mut().filter(|write| write.writer == writer) {
                if paced.binary_search(&write.t).is_ok() {
                    write.tolerance = TOLERANCE_PACED;
                }
            }
        }
    }

    /// Finds the watch event of each write that succeeded.
    fn link_echoes(&mut self) {
        let mut by_revision: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
        let mut by_object: BTreeMap<(usize, Text, Text), Vec<usize>> = BTreeMap::new();
        for (stream, list) in self.streams.iter().enumerate() {
            for (at, event) in list.events.iter().enumerate().filter(|(_, event)| event.line.is_some()) {
                by_revision.entry(event.object.resource_version()).or_insert((stream, at));
                let key = event.object.key();
                by_object.entry((stream, key.namespace, key.name)).or_default().push(at);
            }
        }
        let mut taken = BTreeSet::new();
        for index in 0..self.writes.len() {
            let write = &self.writes[index];
            if write.code >= 300 || write.change.is_empty() || write.place.resource == nodeproof_core::network::EVENTS {
                continue;
            }
            let Some(stream) = self.streams.iter().position(|stream| stream.resource == write.place.resource) else {
                continue;
            };
            let echo = if !write.generate_name.is_empty() {
                self.find_made(write, stream, &taken).map(|at| (stream, at))
            } else if write.made != 0 {
                // A patch that changes nothing is answered with the existing revision.
                by_revision.get(&write.made).copied().filter(|_| write.made != write.sent)
            } else {
                let key = (stream, write.place.namespace.clone(), write.place.name.clone());
                let events = by_object.get(&key).map_or(&[][..], Vec::as_slice);
                self.find_echo(write, stream, events, &taken).map(|at| (stream, at))
            };
            if let Some((stream, at)) = echo.filter(|echo| !taken.contains(echo)) {
                taken.insert((stream, at));
                self.streams[stream].events[at].cause = Some(index);
                self.writes[index].echo = Some((stream, at));
                let write = &mut self.writes[index];
                if write.change == WriteChange::Unknown {
                    let object = self.streams[stream].events[at].object.json();
                    if writers::is_compared_whole(write.verb, &write.place) {
                        write.change = WriteChange::Whole(writers::whole(&object));
                    } else if write.verb == Verb::Update {
                        write.change = WriteChange::Status(object.get("status").clone());
                    }
                }
            }
        }
    }

    /// Links the binder's writes with the revisions of volumes that are told from them.
    fn link_volumes(&mut self) {
        let Some(stream) = self.streams.iter().position(|stream| stream.resource == VOLUMES) else { return };
        for at in 0..self.streams[stream].events.len() {
            let event = &self.streams[stream].events[at];
            let (Some(written), None) = (event.written, event.cause) else { continue };
            let name = event.object.name().to_owned();
            let write = self
                .writes
                .iter()
                .position(|write| write.writer == Writer::BINDER && write.t == written && *write.place.name == *name);
            if let Some(write) = write {
                self.streams[stream].events[at].cause = Some(write);
                self.writes[write].echo = Some((stream, at));
            }
        }
    }

    /// Finds which request of a batch created which object, by their Events: the requests are sent side by side, and an
    /// Event is emitted when one is answered.
    fn order_batches(&mut self) {
        let told: Vec<&str> = self
            .recording
            .watch
            .iter()
            .filter(|line| {
                line.kind == "Event" && line.object.stable().get("reason").as_str() == Some("SuccessfulCreate")
            })
            .filter_map(|line| line.object.stable().get("message").as_str()?.rsplit(' ').next())
            .collect();
        let mut batches: Vec<(Micros, Vec<usize>)> = Vec::new();
        for (index, write) in self.writes.iter().enumerate().filter(|(_, write)| !write.generate_name.is_empty()) {
            let open = batches.iter_mut().find(|(end, batch)| {
                let first = &self.writes[batch[0]];
                first.writer == write.writer
                    && first.generate_name == write.generate_name
                    && write.t < *end + BATCH_PAUSE
            });
            match open {
                Some((end, batch)) => {
                    *end = write.end.max(*end);
                    batch.push(index);
                }
                None => batches.push((write.end, Vec::from([index]))),
            }
        }
        for (_, mut batch) in batches {
            batch.sort_by_key(|index| self.writes[*index].end);
            let mut echoes: Vec<(usize, usize)> = batch.iter().filter_map(|index| self.writes[*index].echo).collect();
            if echoes.len() != batch.len() {
                continue;
            }
            echoes.sort_by_key(|(stream, at)| {
                let name = self.streams[*stream].events[*at].object.name();
                told.iter().position(|told| *told == name).unwrap_or(usize::MAX)
            });
            for (index, (stream, at)) in batch.into_iter().zip(echoes) {
                self.writes[index].echo = Some((stream, at));
                self.streams[stream].events[at].cause = Some(index);
            }
        }
    }

    /// Finds the object of a creation whose name the server generated.
    fn find_made(&self, write: &RecordedWrite, stream: usize, taken: &BTreeSet<(usize, usize)>) -> Option<usize> {
        let events = &self.streams[stream].events;
        (0..events.len()).find(|at| {
            let event = &events[*at];
            let base = event.object.stable().at(&["metadata", "generateName"]).as_str().unwrap_or("");
            let by = event.line.map(|line| &self.recording.watch[line].actor);
            event.event == WatchType::Added
                && *base == *write.generate_name
                && !taken.contains(&(stream, *at))
                && event.t >= write.t - 1_000
                && event.t <= write.end + ECHO_LAG_MAX
                && by.is_none_or(|by| by.is_empty() || by == write.writer.user())
        })
    }

    fn find_echo(
        &self,
        write: &RecordedWrite,
        stream_number: usize,
        events: &[usize],
        taken: &BTreeSet<(usize, usize)>,
    ) -> Option<usize> {
        let user = write.writer.user();
        let stream = &self.streams[stream_number].events;
        let may_be = |at: usize| {
            let event = &stream[at];
            !taken.contains(&(stream_number, at))
                && write.change.is_in(event.event, &event.object)
                && event.t >= write.t - 1_000
                && event.t <= write.end + ECHO_LAG_MAX
                && event.object.resource_version() > write.sent
        };
        let by_whom = |at: usize| {
            stream[at].line.map(|line| &self.recording.watch[line]).is_some_and(|line| {
                line.actor.is_empty()
                    || (line.actor == user
                        && line.verb == write.verb.name()
                        && line.subresource == *write.place.subresource)
            })
        };
        // A write that changed nothing was answered with the revision of another write, and may be named as its writer.
        let is_new = |place: usize| {
            let before = place.checked_sub(1).map(|before| &stream[events[before]]);
            matches!(write.change, WriteChange::Patch(_) | WriteChange::Taints { .. })
                && before.is_some_and(|before| !write.change.is_in(before.event, &before.object))
        };
        let named = events.iter().copied().find(|at| may_be(*at) && by_whom(*at));
        named.or_else(|| (0..events.len()).find(|place| may_be(events[*place]) && is_new(*place)).map(|at| events[at]))
    }
}

/// Finds when the operator stopped and started the controller manager.
fn outages(recording: &Recording) -> Vec<Outage> {
    let mut found: Vec<Outage> = Vec::new();
    let mut down = None;
    for action in recording.actions.iter().filter(|action| action.actor == "operator") {
        let words = format!("{} {}", action.action, action.note).to_lowercase();
        if !["controller-manager", "controller manager", "kcm"].iter().any(|name| words.contains(name)) {
            continue;
        }
        if words.contains("start") {
            found.push(Outage { from: down.take().unwrap_or(action.t), until: action.t });
        } else {
            down = down.or(Some(action.t));
        }
    }
    found.extend(down.map(|from| Outage { from, until: Micros::MAX }));
    found
}

/// Returns the instants of requests at which a client's token bucket was nearly empty.
#[expect(clippy::cast_precision_loss, reason = "a recording lasts hours, and microseconds are exact in 53 bits")]
fn paced(instants: &[Micros]) -> Vec<Micros> {
    let mut tokens = CLIENT_BURST;
    let mut last = 0;
    let mut found = Vec::new();
    for t in instants {
        tokens = (tokens + (t - last) as f64 / 1e6 * CLIENT_RATE).min(CLIENT_BURST) - 1.0;
        last = *t;
        if tokens < PACED_BELOW {
            found.push(*t);
        }
        tokens = tokens.max(0.0);
    }
    found
}

fn event_place(event: &Json) -> WriteTarget {
    let text = |field: &str| event.at(&["metadata", field]).as_text().cloned().unwrap_or_default();
    let resource = nodeproof_core::network::EVENTS;
    WriteTarget { resource, namespace: text("namespace"), name: text("name"), subresource: Text::of("") }
}

fn version(body: &Json) -> u64 {
    body.at(&["metadata", "resourceVersion"]).as_str().and_then(|text| text.parse().ok()).unwrap_or(0)
}
