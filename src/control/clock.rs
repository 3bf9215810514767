//! The clock calls of the control interface: reading the time and letting it pass.

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::components::api_server::Commit;
use nodeproof_core::json;
use nodeproof_core::network::{Resource, WatchType};
use nodeproof_core::objects::jsonpath::JsonPath;
use nodeproof_core::objects::time::{exact_seconds, to_micro_time};
use nodeproof_core::objects::{FieldError, FieldReader, Json, NULL, ObjectKey};
use nodeproof_core::sim::component_name;

use super::route::Call;
use super::{Control, Rate, Refusal, Reply};

/// A condition on an object that stops the clock before its target.
struct StopWhen {
    resource: Resource,
    key: ObjectKey,
    path: JsonPath,
    wanted: Wanted,
}

enum Wanted {
    /// The path has a value that is not empty.
    There,
    /// The path has no value, or the object is gone.
    Absent,
    /// The text that kubectl would print.
    Text(String),
    /// A JSON value other than a text.
    Value(Json),
}

impl StopWhen {
    /// Tells whether a commit fulfils the condition. An object that is gone has no values.
    fn is_met_by(&self, commit: &Commit) -> bool {
        if commit.resource != self.resource || commit.object.key() != self.key {
            return false;
        }
        match commit.event {
            WatchType::Deleted => matches!(self.wanted, Wanted::Absent),
            _ => self.holds(&commit.object.json()),
        }
    }

    fn holds(&self, object: &Json) -> bool {
        match &self.wanted {
            Wanted::There => !self.path.print(object).is_empty(),
            Wanted::Absent => self.path.find(object).is_empty(),
            Wanted::Text(text) => !self.path.find(object).is_empty() && self.path.print(object) == *text,
            Wanted::Value(value) => match self.path.find(object).as_slice() {
                [only] => *only == value || only.as_str() == Some(value.to_string().as_str()),
                _ => false,
            },
        }
    }
}

impl Control {
    pub(super) fn clock(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        Ok(Reply::ok(self.clock_json()))
    }

    fn clock_json(&self) -> Json {
        let mut clock = Json::object();
        clock.set(&["rate"], self.rate.unwrap_or_default().json());
        clock.set(&["now"], to_micro_time(self.sim.now()));
        clock.set(&["sinceStart"], exact_seconds(self.sim.since_start()));
        let next = self.sim.next_due().map_or(Json::Null, |(at, name, reason)| {
            json!({"at": to_micro_time(at), "component": &*component_name(&name), "reason": reason})
        });
        clock.set(&["next"], next);
        clock
    }

    pub(super) fn rate(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let mut reader = FieldReader::new(call.body, "")?;
        let rate = match reader.any("rate") {
            Some(rate) => Rate::of_json(rate)?,
            None => return Err(reader.missing("rate", Rate::of_json(&NULL).unwrap_err().message).into()),
        };
        reader.finish()?;
        match &mut self.rate {
            Some(own) => *own = rate,
            None if rate == Rate::Paused => {}
            None => {
                let message = "this clock is always paused and POST clock/advance moves it: nodeproof serve has one \
                               that runs";
                return Err(Refusal { code: 501, error: FieldError::new("rate", message) });
            }
        }
        Ok(Reply::ok(self.clock_json()))
    }

    pub(super) fn advance(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let mut reader = FieldReader::new(call.body, "")?;
        let by = reader.duration("by")?;
        let until = reader.instant("until")?;
        let to_next = reader.boolean("toNext")?;
        let stop_when = reader.object("stopWhen")?.map(|reader| self.stop_when(reader)).transpose()?;
        reader.finish()?;
        let now = self.sim.now();
        let target = match (by, until, to_next) {
            (Some(by), None, None) => {
                now.checked_add(by).map_err(|_| FieldError::new("by", "the clock does not reach that far"))?
            }
            (None, Some(until), None) if until < now => {
                let message = format!("the clock does not go back: it is {} already", to_micro_time(now));
                return Err(FieldError::new("until", message).into());
            }
            (None, Some(until), None) => until,
            (None, None, Some(true)) => self.sim.next_due().map_or(now, |(at, ..)| at),
            (None, None, Some(false)) => {
                return Err(FieldError::new("toNext", "true is needed, or another field").into());
            }
            _ => return Err(FieldError::new("body", "exactly one of by, until and toNext is needed").into()),
        };
        if target > super::setup::LATEST {
            let field = if by.is_some() { "by" } else { "until" };
            let message = format!("the clock does not reach that far: it ends at {}", super::setup::LATEST);
            return Err(FieldError::new(field, message).into());
        }
        let (stopped, writes) = self.advance_to(target, stop_when.as_ref());
        let advanced: SignedDuration = self.sim.now().duration_since(now);
        Ok(Reply::ok(json!({
            "now": to_micro_time(self.sim.now()), "advanced": exact_seconds(advanced),
            "stopped": if stopped { "condition" } else { "time" }, "writes": writes,
        })))
    }

    /// Runs to the target or the condition. Returns whether the condition came first, and the number of commits.
    fn advance_to(&mut self, target: Timestamp, stop_when: Option<&StopWhen>) -> (bool, usize) {
        self.sim.take_commits();
        if let Some(condition) = stop_when {
            let object = self.sim.api().object(&condition.resource, &condition.key);
            let object = object.map_or(Json::Null, |object| object.json());
            if condition.holds(&object) {
                return (true, 0);
            }
        }
        let mut writes = 0;
        while self.sim.step(target) {
            let commits = self.sim.take_commits();
            writes += commits.len();
            let met = stop_when.is_some_and(|condition| commits.iter().any(|commit| condition.is_met_by(commit)));
            if met {
                return (true, writes);
            }
        }
        self.sim.advance_until(target);
        (false, writes)
    }

    fn stop_when(&self, mut reader: FieldReader<'_>) -> Result<StopWhen, FieldError> {
        let kind = reader.needed_text("kind")?;
        let (resource, namespaced) = self.find_kind(reader.path("kind"), kind)?;
        let name = reader.needed_text("name")?.clone();
        let namespace = reader.text("namespace")?;
        let namespace = match (namespaced, namespace) {
            (true, namespace) => namespace.cloned().unwrap_or_else(|| "default".into()),
            (false, Some(namespace)) if !namespace.is_empty() => {
                return Err(reader.error("namespace", format!("{kind} is not namespaced")));
            }
            (false, _) => "".into(),
        };
        let expression = reader.needed_text("jsonPath")?;
        let path = expression.parse::<JsonPath>().map_err(|error| reader.error("jsonPath", error.to_string()))?;
        let equals = reader.any_or_null("equals");
        reader.finish()?;
        let wanted = match equals {
            None => Wanted::There,
            Some(Json::Null) => Wanted::Absent,
            Some(Json::Str(text)) => Wanted::Text(text.to_string()),
            Some(value) => Wanted::Value(value.clone()),
        };
        Ok(StopWhen { resource, key: ObjectKey { namespace, name }, path, wanted })
    }
}
