//! The JSON form of rules: what `POST network/rules` takes and `GET network/rules` shows.
//!
//! Inputs: a JSON object. Outputs: a [`Fault`], or an error that names the field; and the way back.
//! The name of a machine is not checked: a rule may be added before the machine.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::rule::{Effect, Endpoint, Fault, InjectedReply, Match, Rule};
use super::{RuleId, Verb};
use crate::json;
use crate::objects::time::{exact_seconds, to_micro_time};
use crate::objects::{FieldError, FieldReader, Json, Text, nearest};

/// The HTTP codes that a rule can answer with.
pub const CODES: [u16; 9] = [401, 403, 404, 409, 410, 429, 500, 503, 504];
/// Why a client can have no rule before the cloud.
pub const NOT_OF_THE_CLOUD: &str = "only controllers of cloud-controller-manager call the cloud";
const VERBS: [Verb; 8] =
    [Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Update, Verb::Patch, Verb::Delete, Verb::DeleteCollection];

impl Fault {
    /// Reads a fault: `{"from", "to", "match"?, "effect", "probability"?, "for"?, "times"?}`.
    ///
    /// # Errors
    /// A field is missing, unknown or of a wrong type, or no such connection is possible.
    pub fn from_json(body: &Json) -> Result<Self, FieldError> {
        let mut reader = FieldReader::new(body, "")?;
        let from = endpoint(&reader, "from", body.get("from"))?;
        let to = endpoint(&reader, "to", body.get("to"))?;
        reader.any("from");
        reader.any("to");
        let api = Endpoint::Name(Text::of("api"));
        let cloud = Endpoint::Name(Text::of("cloud"));
        if from == cloud {
            return Err(
                reader.error("from", "a rule meets calls on their way to the cloud: \"cloud\" stands in \"to\"")
            );
        }
        if to == cloud && !calls_clouds(&from) {
            return Err(reader.error("from", NOT_OF_THE_CLOUD));
        }
        if from != api && to != api && to != cloud {
            return Err(reader.error("to", "a connection that does not lead to \"api\" is not modelled yet"));
        }
        if to != cloud && (from == api) == (to == api) {
            return Err(reader.error("to", "one end, and one only, has to be \"api\": every connection leads there"));
        }
        let matching = reader.object("match")?.map(matching).transpose()?;
        let effect = effect(&reader, body.get("effect"))?;
        reader.any("effect");
        if matching.is_some() && from == api {
            return Err(reader.error("match", "requests go to \"api\": a rule from \"api\" meets answers, all of them"));
        }
        if matches!(effect, Effect::Answer(_)) && from == api {
            return Err(reader.error("effect", "requests are answered on their way to \"api\""));
        }
        if effect == Effect::Refuse {
            if from == api {
                return Err(reader.error("effect", "connections are refused on their way to \"api\""));
            }
            if let Some(part) = ["match", "probability", "times"].into_iter().find(|part| !body.get(part).is_null()) {
                return Err(reader.error(part, "a connection is refused as a whole, until the rule ends"));
            }
        }
        let probability = reader.number("probability")?.unwrap_or(1.0);
        if !(0.0..=1.0).contains(&probability) {
            return Err(reader.error("probability", format!("a number from 0 to 1 is needed, not {probability}")));
        }
        let lasts = reader.duration("for")?;
        if lasts == Some(SignedDuration::ZERO) {
            return Err(reader.error("for", "a rule has to last longer than nothing"));
        }
        let times = reader.integer("times", 1, i64::from(u32::MAX))?.map(|times| times.try_into().unwrap_or(u32::MAX));
        reader.finish()?;
        Ok(Self { from, to, matching, effect, probability, lasts, on_and_off: None, times })
    }
}

impl Rule {
    /// Returns the JSON object of `GET network/rules`.
    #[must_use]
    pub fn json(&self) -> Json {
        let mut rule = json!({
            "id": self.id.name(),
            "from": self.fault.from.name(),
            "to": self.fault.to.name(),
            "effect": effect_json(&self.fault.effect),
            "probability": self.fault.probability,
            "hits": self.hits.total,
        });
        let by_request: Json = self
            .hits
            .by_request
            .iter()
            .map(|((verb, resource), hits)| json!({"verb": verb.as_str(), "resource": resource.as_str(), "hits": hits}))
            .collect();
        rule.set(&["byRequest"], by_request);
        if let Some(matching) = &self.fault.matching {
            rule.set(&["match"], matching_json(matching));
        }
        if let Some(times) = self.fault.times {
            rule.set(&["times"], i64::from(times));
        }
        if let (Some(lasts), Some(until)) = (self.fault.lasts, self.until) {
            rule.set(&["for"], exact_seconds(lasts));
            rule.set(&["until"], to_micro_time(until));
        }
        rule
    }
}

impl RuleId {
    /// Returns the name by which the control interface knows the rule: `r1`.
    #[must_use]
    pub fn name(self) -> String {
        format!("r{}", self.0)
    }

    /// Reads a rule's name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let number = name.strip_prefix('r')?;
        number.parse().ok().filter(|_| number.bytes().all(|digit| digit.is_ascii_digit())).map(Self)
    }
}

impl Endpoint {
    /// Returns the name as a rule spells it; `*` for any.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Any => "*",
            Self::Name(name) | Self::Program { name, .. } => name,
        }
    }
}

fn endpoint(reader: &FieldReader<'_>, field: &'static str, value: &Json) -> Result<Endpoint, FieldError> {
    let forms = "\"api\", \"machine/NAME\", \"controller/NAME\", \"user/NAME\" or \"*\"";
    let name = match value {
        Json::Null => return Err(reader.missing(field, format!("it is needed: {forms}"))),
        Json::Str(name) => name,
        other => return Err(reader.error(field, format!("a string is needed: {forms}, not {other}"))),
    };
    match name.split_once('/') {
        None if **name == *"*" => Ok(Endpoint::Any),
        None if **name == *"api" => Ok(Endpoint::Name(name.clone())),
        None if **name == *"cloud" => Ok(Endpoint::Name(name.clone())),
        Some(("machine" | "controller" | "user", rest)) if !rest.is_empty() => Ok(Endpoint::Name(name.clone())),
        parts => {
            let known = ["api", "cloud", "machine/NAME", "controller/NAME", "user/NAME", "*"];
            let mut error = FieldError::unknown(reader.path(field), "end of a connection", name, known);
            if let Some((kind, rest)) = parts.filter(|(_, rest)| !rest.is_empty()) {
                let near = nearest(kind, ["machine", "controller", "user"]);
                error.did_you_mean = near.map(|kind| format!("{kind}/{rest}"));
            }
            Err(error)
        }
    }
}

/// Tells whether the clients at an end may call the cloud.
fn calls_clouds(from: &Endpoint) -> bool {
    from.name() == "*" || from.name().starts_with("controller/")
}

fn matching(mut reader: FieldReader<'_>) -> Result<Match, FieldError> {
    let verb = match reader.text("verb")? {
        None => None,
        Some(name) => Some(Verb::from_name(name).ok_or_else(|| {
            FieldError::unknown(reader.path("verb"), "verb", name, VERBS.into_iter().map(Verb::name))
        })?),
    };
    let mut part = |name| reader.text(name).map(Option::<&Text>::cloned);
    let (resource, subresource, name) = (part("resource")?, part("subresource")?, part("name")?);
    reader.finish()?;
    Ok(Match { verb, resource, subresource, name })
}

fn effect(outer: &FieldReader<'_>, value: &Json) -> Result<Effect, FieldError> {
    let forms = "\"drop\", \"refuse\", {\"delay\": \"3s\"}, {\"answer\": 500} or {\"answers\": [500, \"ok\"]}";
    match value {
        Json::Str(word) if **word == *"drop" => return Ok(Effect::Drop),
        Json::Str(word) if **word == *"refuse" => return Ok(Effect::Refuse),
        Json::Str(word) => {
            let mut unknown = FieldError::unknown(outer.path("effect"), "effect", word, ["drop", "refuse"]);
            unknown.message = format!("unknown effect {word:?}: it is {forms}");
            return Err(unknown);
        }
        Json::Null => return Err(outer.missing("effect", format!("it is needed: {forms}"))),
        _ => {}
    }
    let mut reader = FieldReader::new(value, outer.path("effect"))?;
    let delay = reader.duration("delay")?;
    let jitter = reader.duration("jitter")?;
    let answer = reader.any("answer").map(|value| reply(reader.path("answer"), value)).transpose()?;
    let answers = reader.list("answers")?;
    let path = reader.path("answers");
    reader.finish()?;
    match (delay, answer, answers) {
        (Some(delay), None, None) => Ok(Effect::Delay { delay, jitter: jitter.unwrap_or_default() }),
        _ if jitter.is_some() => Err(FieldError::new(outer.path("effect.jitter"), "it belongs to a delay")),
        (None, Some(InjectedReply::Ok), None) => Err(FieldError::new(
            outer.path("effect.answer"),
            "a rule whose only answer is the server's own does nothing",
        )),
        (None, Some(only), None) => Ok(Effect::Answer(Vec::from([only]))),
        (None, None, Some([])) => Err(FieldError::new(path, "at least one answer is needed")),
        (None, None, Some(answers)) => {
            let mut replies = answers
                .iter()
                .enumerate()
                .map(|(at, value)| reply(format!("{path}[{at}]"), value))
                .collect::<Result<Vec<_>, _>>()?;
            if replies.len() == 1 {
                // In [`Effect::Answer`] a list of one repeats for ever; here it is used once.
                replies.push(InjectedReply::Ok);
            }
            Ok(Effect::Answer(replies))
        }
        _ => Err(outer.error("effect", format!("exactly one effect is needed: {forms}"))),
    }
}

fn reply(path: String, value: &Json) -> Result<InjectedReply, FieldError> {
    match value {
        Json::Str(word) if **word == *"timeout" => Ok(InjectedReply::Timeout),
        Json::Str(word) if **word == *"ok" => Ok(InjectedReply::Ok),
        Json::Int(code) => match u16::try_from(*code).ok().filter(|code| CODES.contains(code)) {
            Some(code) => Ok(InjectedReply::Code(code)),
            None => Err(FieldError::new(path, format!("code {code} cannot be answered: it is one of {CODES:?}"))),
        },
        other => Err(FieldError::new(path, format!("one of {CODES:?}, \"timeout\" or \"ok\" is needed, not {other}"))),
    }
}

fn reply_json(reply: InjectedReply) -> Json {
    match reply {
        InjectedReply::Code(code) => Json::Int(i64::from(code)),
        InjectedReply::Timeout => Json::from("timeout"),
        InjectedReply::Ok => Json::from("ok"),
    }
}

fn effect_json(effect: &Effect) -> Json {
    match effect {
        Effect::Drop => Json::from("drop"),
        Effect::Refuse => Json::from("refuse"),
        Effect::Delay { delay, jitter } if jitter.is_zero() => json!({"delay": exact_seconds(*delay)}),
        Effect::Delay { delay, jitter } => json!({"delay": exact_seconds(*delay), "jitter": exact_seconds(*jitter)}),
        Effect::HoldEvents => json!("hold-events"),
        Effect::Answer(replies) => match replies.as_slice() {
            [only] => json!({"answer": reply_json(*only)}),
            several => json!({"answers": several.iter().map(|reply| reply_json(*reply)).collect::<Vec<_>>()}),
        },
    }
}

fn matching_json(matching: &Match) -> Json {
    let mut shown = Json::object();
    if let Some(verb) = matching.verb {
        shown.set(&["verb"], verb.name());
    }
    for (field, value) in
        [("resource", &matching.resource), ("subresource", &matching.subresource), ("name", &matching.name)]
    {
        if let Some(value) = value {
            shown.set(&[field], value);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{Effect, Fault, InjectedReply, RuleId};
    use crate::json;
    use crate::objects::Json;

    fn rule(effect: Json) -> Json {
        json!({"from": "machine/w1", "to": "api", "effect": effect})
    }

    #[test]
    fn effects_are_read_in_all_their_forms() {
        for (effect, read) in [
            (json!("drop"), Effect::Drop),
            (json!("refuse"), Effect::Refuse),
            (json!({"answer": "timeout"}), Effect::Answer([InjectedReply::Timeout].into())),
            (json!({"answers": [500, "ok"]}), Effect::Answer([InjectedReply::Code(500), InjectedReply::Ok].into())),
            (json!({"answers": [500]}), Effect::Answer([InjectedReply::Code(500), InjectedReply::Ok].into())),
        ] {
            assert_eq!(Fault::from_json(&rule(effect.clone())).unwrap().effect, read, "{effect}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_field() {
        let base = rule(json!("drop"));
        for (field, value) in [
            ("from", json!("machin/w1")),
            ("from", json!(3)),
            ("from", json!(null)),
            ("to", json!("machine/w2")),
            ("from", json!("cloud")),
            ("effect", json!("dorp")),
            ("effect", json!({})),
            ("effect", json!({"delay": "1s", "answer": 500})),
            ("effect.delay", json!({"delay": "-1s"})),
            ("effect.delay", json!({"delay": "3"})),
            ("effect.jitter", json!({"answer": 500, "jitter": "1s"})),
            ("effect.answer", json!({"answer": 418})),
            ("effect.answers", json!({"answers": []})),
            ("effect.answers[1]", json!({"answers": [500, "never"]})),
            ("effect.delya", json!({"delya": "1s"})),
            ("match.verb", json!({"verb": "renew"})),
            ("match.kind", json!({"kind": "Lease"})),
            ("probability", json!(1.5)),
            ("for", json!("0s")),
            ("times", json!(0)),
            ("fro", json!("api")),
            ("efect", json!("drop")),
        ] {
            let mut body = base.clone();
            if field == "efect" {
                body.remove(&["effect"]);
            }
            body.set(&[field.split(['.', '[']).next().unwrap()], value.clone());
            let error = Fault::from_json(&body).unwrap_err();
            assert_eq!(error.field, field, "{value}: {error}");
        }
        for (field, value) in [
            ("match", json!({"verb": "get"})),
            ("probability", json!(0.5)),
            ("times", json!(2)),
            ("from", json!("api")),
        ] {
            let mut body = rule(json!("refuse"));
            body.set(&[field], value);
            if field == "from" {
                body.set(&["to"], "machine/w1");
            }
            let error = Fault::from_json(&body).unwrap_err();
            assert_eq!(error.field, if field == "from" { "effect" } else { field }, "{error}");
        }
        let mut body = rule(json!("drop"));
        body.set(&["to"], "cloud");
        assert_eq!(Fault::from_json(&body).unwrap_err().field, "from");
        body.set(&["from"], "controller/cloud-node-controller");
        assert!(Fault::from_json(&body).is_ok());
        assert_eq!(Fault::from_json(&rule(json!("dorp"))).unwrap_err().did_you_mean.as_deref(), Some("drop"));
        body.set(&["from"], "machin/w1");
        assert_eq!(Fault::from_json(&body).unwrap_err().did_you_mean.as_deref(), Some("machine/w1"));
    }

    #[test]
    fn names_of_rules_are_exact() {
        assert_eq!(RuleId::from_name("r12"), Some(RuleId(12)));
        for name in ["12", "r", "r+1", "r-1", "r1x", "r99999999999"] {
            assert_eq!(RuleId::from_name(name), None, "{name}");
        }
    }
}
