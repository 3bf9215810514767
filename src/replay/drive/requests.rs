//! Answers a component's requests: reads from the recorded cluster, writes by the recorded write that they predict.
//!
//! Inputs: a request, the present instant. Outputs: its answer on the agenda, the prediction, the differences.

use jiff::SignedDuration;
use nodeproof_core::network::{Answer, Ask, Body, Call, EVENTS, NEW_EVENTS, Request, RequestId, Verb};
use nodeproof_core::objects::{Json, Object};

use super::super::load::Micros;
use super::super::recorded_cluster::{RecordedCluster, refusal};
use super::super::report::WriteDifference;
use super::super::writers::{self, WriteChange, WriteTarget};
use super::super::{settled, subject};
use super::{Drive, Prediction, READ_TAKES, ScheduledInput, WATCHES_LAG};

impl Drive<'_> {
    pub(super) fn request(&mut self, request: Request) {
        let id = request.id;
        let Ask::Call(call) = request.ask else { return };
        let Some(place) = WriteTarget::of(&call) else { return };
        match call.verb {
            Verb::List => {
                let answer = self.world.list(&place);
                self.at(self.now, ScheduledInput::Answer { life: self.life, id, answer, write: None });
            }
            Verb::Watch => {
                let answer = self.world.watch(id, &place);
                self.at(self.now, ScheduledInput::Answer { life: self.life, id, answer, write: None });
            }
            Verb::Get => {
                let ahead = || self.world.read_ahead(&place, self.now + WATCHES_LAG);
                let may_be_old = call.parameter("resourceVersion").is_some_and(|version| *version == *"0");
                let cached = if may_be_old && self.is_behind(&place) { self.world.cached(&place) } else { None };
                let answer = cached
                    .or_else(|| self.world.read(&place))
                    .or_else(ahead)
                    .map_or_else(|| RecordedCluster::not_found(&call), |object| Answer::object(200, object));
                self.at(self.now + READ_TAKES, ScheduledInput::Answer { life: self.life, id, answer, write: None });
            }
            _ => self.write(id, &call, place),
        }
    }

    /// Tells whether the server's cache lags behind this component's writes to an object.
    fn is_behind(&self, place: &WriteTarget) -> bool {
        self.choices.late_cache.iter().any(|write| {
            let own = &self.recorded.writes[*write].place;
            own.resource == place.resource
                && own.name == place.name
                && own.namespace == place.namespace
                && self.run.matched.contains_key(write)
                && !self.world.is_released(*write)
        })
    }

    fn write(&mut self, id: RequestId, call: &Call, place: WriteTarget) {
        let mut body = match &call.body {
            Body::Json(body) => body.clone(),
            _ => Json::Null,
        };
        let mut place = place;
        let is_event = place.is_event(call.verb);
        if is_event && place.resource == NEW_EVENTS {
            place.resource = EVENTS;
            body = writers::as_core_event(&body);
        }
        if is_event {
            body = self.event(&place, body);
        }
        if place.name.is_empty() && !is_event {
            place.name = body.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
        }
        let change = WriteChange::of(call.verb, &place, &body, &self.recorded.revisions);
        let matched = self.find(call.verb, &place, &change);
        let refused = matched.is_some_and(|index| self.recorded.writes[index].code >= 300);
        let kept = if call.verb == Verb::Update && !refused { self.world.kept(&place, &body) } else { None };
        let (answer, t) = self.answer_of_write(matched, &place, &body, kept.as_ref());
        let prediction = self.run.predictions.len();
        if let Some(index) = matched
            && settled::is_judged(self.writer, call.verb, &place)
        {
            self.pass_over(index, &place);
        }
        if let Some(index) = matched {
            self.run.matched.insert(index, prediction);
            self.updates += usize::from(call.verb == Verb::Update);
            let write = &self.recorded.writes[index];
            let settles = settled::is_judged(self.writer, call.verb, &place);
            let fields = write.change.differences(&change, tolerance(write.tolerance));
            for field in fields.into_iter().filter(|_| !settles) {
                let object = subject(&write.place, &write.change);
                let difference =
                    WriteDifference { object, ..WriteDifference::of_field(self.writer, write.t, &place, field) };
                self.run.differences.push((index, difference));
            }
        }
        if (call.verb == Verb::Create || kept.is_some())
            && let Some(object) = answer.as_object().cloned()
        {
            self.at(t, ScheduledInput::Made(place.resource.clone(), object));
        }
        self.run.predictions.push(Prediction { t: self.now, verb: call.verb, place, change, matched });
        self.at(t, ScheduledInput::Answer { life: self.life, id, answer, write: matched });
    }

    /// Returns the answer to a write and its instant: as recorded, or as the recorded cluster implies.
    fn answer_of_write(
        &self,
        matched: Option<usize>,
        place: &WriteTarget,
        body: &Json,
        kept: Option<&Object>,
    ) -> (Answer, Micros) {
        let late = self.now + READ_TAKES;
        let Some(index) = matched else {
            let object = kept.cloned().or_else(|| self.world.read(place));
            return (object.map_or_else(|| bare(200, body), |object| Answer::object(200, object)), late);
        };
        let write = &self.recorded.writes[index];
        let end = if place.is_event(write.verb) { late } else { write.end };
        if write.code >= 300 {
            return (refusal(write.code, &write.message), end);
        }
        let made = || self.made(index, place, body);
        let object = self.world.outcome(index).or_else(|| kept.cloned()).or_else(made);
        let object = object.or_else(|| self.world.read(place));
        let bare = || Answer::json(write.code, body.clone());
        (object.map_or_else(bare, |object| Answer::object(write.code, object)), end)
    }

    /// Shows the recorded statuses before the predicted one: the component needed fewer syncs.
    fn pass_over(&mut self, index: usize, place: &WriteTarget) {
        let t = self.recorded.writes[index].t;
        let earlier: Vec<usize> = self
            .recorded
            .writes_of(self.writer)
            .filter(|(other, write)| {
                write.place == *place && write.t < t && !self.run.matched.contains_key(other) && *other != index
            })
            .map(|(other, _)| other)
            .collect();
        for other in earlier {
            self.world.store(other);
            self.at(self.now, ScheduledInput::Release(other));
        }
    }

    /// Returns the object that a creation made, of a kind that the recording does not watch: the body under the
    /// recorded name.
    ///
    /// The hash at its end is a choice: upstream hashes Go's print of a template.
    fn made(&self, index: usize, place: &WriteTarget, body: &Json) -> Option<Object> {
        let write = &self.recorded.writes[index];
        if write.verb != Verb::Create || place.resource == EVENTS || write.place.name.is_empty() {
            return None;
        }
        let mut object = body.clone();
        object.set(&["metadata", "name"], &write.place.name);
        for label in ["controller-revision-hash", "controller.kubernetes.io/hash"] {
            if !object.at(&["metadata", "labels", label]).is_null() {
                let hash = write.place.name.rsplit('-').next().unwrap_or_default().to_owned();
                object.set(&["metadata", "labels", label], hash);
            }
        }
        Some(Object::as_received(object))
    }

    /// Returns the whole Event after a creation or a patch of its count.
    fn event(&mut self, place: &WriteTarget, body: Json) -> Json {
        let name = body.at(&["metadata", "name"]).as_text().unwrap_or(&place.name).clone();
        let mut event = self.events.get(&name).cloned().unwrap_or_else(Json::object);
        for (field, value) in body.fields() {
            event.set(&[field], value.clone());
        }
        event.set(&["metadata", "name"], &name);
        if event.at(&["metadata", "namespace"]).is_null() {
            event.set(&["metadata", "namespace"], &place.namespace);
        }
        self.events.insert(name, event.clone());
        event
    }

    /// Finds the recorded write that a write predicts: one that is equal in all fields, otherwise one about the same
    /// thing.
    fn find(&self, verb: Verb, place: &WriteTarget, change: &WriteChange) -> Option<usize> {
        let is_event = place.is_event(verb);
        let candidates: Vec<usize> = self
            .recorded
            .writes_of(self.writer)
            .filter(|(index, write)| {
                let same_place = if is_event {
                    write.place.resource == EVENTS && write.place.namespace == place.namespace
                } else {
                    // The name of a revision or of a ReplicaSet ends with a hash, which is a choice.
                    let is_hashed = ["controllerrevisions", "replicasets"].contains(&place.resource.plural.as_str());
                    let same_name = write.place.name == place.name || (verb == Verb::Create && is_hashed);
                    same_name
                        && WriteTarget { name: place.name.clone(), ..write.place.clone() } == *place
                        && write.verb == verb
                };
                same_place && (write.t - self.now).abs() <= write.tolerance && !self.run.matched.contains_key(index)
            })
            .map(|(index, _)| index)
            .collect();
        let same = |index: &&usize| {
            let write = &self.recorded.writes[**index];
            write.change.differences(change, tolerance(write.tolerance)).is_empty()
        };
        let alike = |index: &&usize| self.recorded.writes[**index].change.alike(change);
        if settled::is_judged(self.writer, verb, place) {
            return candidates.iter().find(same).copied();
        }
        candidates.iter().find(same).or_else(|| candidates.iter().find(alike)).copied()
    }
}

/// Returns an answer with the body that was sent.
fn bare(code: u16, body: &Json) -> Answer {
    Answer::object(code, Object::as_received(body.clone()))
}

fn tolerance(micros: Micros) -> SignedDuration {
    SignedDuration::from_micros(micros)
}
