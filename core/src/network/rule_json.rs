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
        check_ends(&reader, &from, &to)?;
        let matching = reader.object("match")?.map(matching).transpose()?;
        let effect = effect(&reader, body.get("effect"))?;
        reader.any("effect");
        let is_answer = matches!(effect, Effect::Answer(_) | Effect::Answers(_));
        if ![api, cloud].contains(&to) {
            check_way(&reader, (&from, &to), (is_answer, matching.is_some()), &effect)?;
        }
        let partial = ["match", "probability", "times"].into_iter().find(|part| !body.get(part).is_null());
        if let Some(part) = partial.filter(|_| effect == Effect::Refuse) {
            let message = "a connection is refused as a whole, until the rule ends: {\"answer\": 503} and \"drop\" can \
                meet single messages";
            return Err(reader.error(part, message));
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

/// Refuses ends between which nothing passes.
fn check_ends(reader: &FieldReader<'_>, from: &Endpoint, to: &Endpoint) -> Result<(), FieldError> {
    let (of, towards) = (from.name(), to.name());
    let is_machine = |name: &str| name.starts_with("machine/");
    match (of, towards) {
        (_, "cloud") => Ok(()),
        ("api", "api") => Err(reader.error("to", "\"api\" is one end only")),
        ("*", "*") => Err(reader.error("to", "one end has to be named, as \"api\"")),
        (_, "api") | ("api", _) => Ok(()),
        (of, towards) if of == towards => Err(reader.error("to", "a machine reaches itself without the network")),
        (of, towards) if (is_machine(of) || of == "*") && (is_machine(towards) || towards == "*") => Ok(()),
        (of, _) if is_machine(of) || of == "*" => Err(reader.error("to", format!("nobody calls {towards:?}"))),
        (of, _) => Err(reader.error("to", format!("{of:?} calls \"api\" alone"))),
    }
}

/// Refuses what no rule can do on the way to anything but the API server and the cloud.
fn check_way(
    reader: &FieldReader<'_>,
    (from, to): (&Endpoint, &Endpoint),
    (is_answer, has_match): (bool, bool),
    effect: &Effect,
) -> Result<(), FieldError> {
    let is_api = from.name() == "api";
    if has_match {
        let why = if is_api { "a rule from \"api\" meets answers, all of them" } else { "it is about those alone" };
        return Err(reader.error("match", format!("requests go to \"api\": {why}")));
    }
    if is_answer {
        return Err(reader.error("effect", "requests are answered on their way to \"api\""));
    }
    if *effect == Effect::Refuse && !to.name().starts_with("machine/") {
        return Err(reader.error("effect", "a connection is refused on its way to \"api\" or to a machine"));
    }
    if matches!(effect, Effect::Delay { .. }) && !is_api {
        return Err(reader.error("effect", "a delay between machines is not modelled yet"));
    }
    Ok(())
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
        (None, Some(only), None) => Ok(Effect::Answer(only)),
        (None, None, Some([])) => Err(FieldError::new(path, "at least one answer is needed")),
        (None, None, Some(answers)) => {
            let replies = answers.iter().enumerate().map(|(at, value)| reply(format!("{path}[{at}]"), value));
            Ok(Effect::Answers(replies.collect::<Result<_, _>>()?))
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
        Effect::Answer(reply) => json!({"answer": reply_json(*reply)}),
        Effect::Answers(replies) => {
            json!({"answers": replies.iter().map(|reply| reply_json(*reply)).collect::<Vec<_>>()})
        }
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
            (json!({"answer": "timeout"}), Effect::Answer(InjectedReply::Timeout)),
            (json!({"answers": [500, "ok"]}), Effect::Answers([InjectedReply::Code(500), InjectedReply::Ok].into())),
            (json!({"answers": [500]}), Effect::Answers([InjectedReply::Code(500)].into())),
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
            ("to", json!("machine/w1")),
            ("to", json!("controller/ttl-controller")),
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
        for (field, value) in [("match", json!({"verb": "get"})), ("probability", json!(0.5)), ("times", json!(2))] {
            let mut body = rule(json!("refuse"));
            body.set(&[field], value);
            assert_eq!(Fault::from_json(&body).unwrap_err().field, field);
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
    fn a_rule_between_machines_cuts_or_loses_and_does_no_more() {
        let read = |from: &str, to: &str, effect: Json, more: Json| {
            let mut body = more;
            body.set(&["from"], from);
            body.set(&["to"], to);
            body.set(&["effect"], effect);
            Fault::from_json(&body).map_err(|error| error.field)
        };
        let none = Json::object;
        for (from, to) in [("machine/a", "machine/b"), ("*", "machine/b"), ("machine/a", "*"), ("api", "machine/b")] {
            assert!(read(from, to, json!("drop"), none()).is_ok(), "{from} {to}");
        }
        assert!(read("machine/a", "machine/b", json!("drop"), json!({"times": 2, "probability": 0.5})).is_ok());
        assert!(read("machine/a", "machine/b", json!("refuse"), json!({"for": "3s"})).is_ok());
        assert!(read("api", "machine/b", json!("refuse"), none()).is_ok());
        for (from, to, effect, more, field) in [
            ("machine/a", "machine/b", json!("drop"), json!({"match": {"verb": "get"}}), "match"),
            ("machine/a", "machine/b", json!({"answer": 500}), none(), "effect"),
            ("machine/a", "machine/b", json!({"delay": "1s"}), none(), "effect"),
            ("machine/a", "*", json!("refuse"), none(), "effect"),
            ("api", "*", json!("refuse"), none(), "effect"),
            ("api", "api", json!("drop"), none(), "to"),
            ("*", "*", json!("drop"), none(), "to"),
            ("user/alice", "machine/b", json!("drop"), none(), "to"),
            ("controller/ttl-controller", "*", json!("drop"), none(), "to"),
            ("machine/a", "user/alice", json!("drop"), none(), "to"),
        ] {
            assert_eq!(read(from, to, effect, more), Err(field.into()), "{from} {to}");
        }
    }

    #[test]
    fn names_of_rules_are_exact() {
        assert_eq!(RuleId::from_name("r12"), Some(RuleId(12)));
        for name in ["12", "r", "r+1", "r-1", "r1x", "r99999999999"] {
            assert_eq!(RuleId::from_name(name), None, "{name}");
        }
    }
}
