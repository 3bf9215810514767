//! Requests of the Kubernetes API, and watches that stay open between calls.
//!
//! Inputs: method, path and query, user, headers, body. Output: the API server's answer, in the form that HTTPS would
//! give.

use std::sync::Arc;

use nodeproof_core::json;
use nodeproof_core::network::{
    Answer, Call as ApiCall, ClientId, Content as AnswerContent, Identity, RequestId, UserDetails, Verb,
};
use nodeproof_core::objects::{FieldError, FieldReader, Json, Text};

use super::calls::missing;
use super::route::Call;
use super::{Content, Control, Refusal, Reply};

/// The parts of a Kubernetes request beside method and path.
#[derive(Debug)]
pub(super) struct Extras<'a> {
    pub(super) identity: Option<&'a Json>,
    pub(super) headers: Option<&'a Json>,
    pub(super) body: Option<&'a Json>,
    /// The body as it is written, where that is known: errors about unknown fields follow the order of its fields.
    pub(super) body_text: Option<&'a str>,
    pub(super) raw: Option<&'a Text>,
}

/// What becomes of a request of the Kubernetes API.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It is answered.
    Answer(Box<Answer>),
    /// It is a watch, which is open now.
    Watch(ClientId, RequestId),
}

impl Control {
    /// Answers a request of the Kubernetes API as HTTPS would.
    pub(super) fn request(&mut self, method: &str, target: &str, extras: &Extras<'_>) -> Result<Reply, Refusal> {
        let headers = headers(extras.headers)?;
        let identity = identity(extras.identity, &headers)?;
        let body = match (extras.body, extras.body_text, extras.raw) {
            (Some(_), Some(text), _) => text.to_owned(),
            (Some(body), None, _) => body.to_string(),
            (None, _, raw) => raw.map(Text::to_string).unwrap_or_default(),
        };
        let pairs: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        match self.answer(identity, ApiCall::from_http(method, target, &pairs, &body))? {
            // What HEAD is answered with has no body on the way.
            Outcome::Answer(answer) if method == "HEAD" => {
                Ok(Reply { body: Content::Raw(String::new()), ..reply(&answer) })
            }
            Outcome::Answer(answer) => Ok(reply(&answer)),
            Outcome::Watch(client, id) => {
                self.last_watch += 1;
                self.watches.insert(self.last_watch, Some((client, id)));
                let watch = Some(format!("x{}", self.last_watch));
                Ok(Reply { code: 200, headers: None, watch, body: Content::Empty })
            }
        }
    }

    /// Answers a request of the Kubernetes API, or opens its watch.
    ///
    /// # Errors
    /// A network rule holds the request back at this instant.
    pub(super) fn answer(
        &mut self,
        identity: Arc<Identity>,
        call: Result<ApiCall, Box<Answer>>,
    ) -> Result<Outcome, Refusal> {
        let call = match call {
            Ok(call) => call,
            Err(answer) => return Ok(Outcome::Answer(answer)),
        };
        self.sim.finish_instant();
        let outcome = if call.verb == Verb::Watch {
            self.sim.watch(identity, call).map(|(client, id)| Outcome::Watch(client, id))
        } else {
            match self.sim.request(identity, call) {
                Ok(answer) => Ok(Outcome::Answer(Box::new(answer))),
                Err(error) => Err(Box::new(Answer::json(504, json!({"message": error.to_string()})))),
            }
        };
        self.sim.finish_instant();
        outcome.or_else(|answer| match answer.code {
            // The cluster itself never answers 504: a network rule holds the request back.
            504 => Err(Refusal::new(504, format!("no answer at this instant: {}", answer.message()))),
            _ => Ok(Outcome::Answer(answer)),
        })
    }

    pub(super) fn look_at_watch(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let number = self.watch_number(&call.names[0])?;
        let Some((client, id)) = self.watches[&number] else {
            return Ok(Reply::ok(json!({"events": [], "ended": "the cluster was reset"})));
        };
        let inbox = self.sim.take_watch(client, id).unwrap_or_default();
        let events: Json =
            inbox.events.iter().map(|(event, object)| json!({"type": event.name(), "object": object.json()})).collect();
        let ended =
            if inbox.ended { Json::from("the server ended the watch, or its connection broke") } else { Json::Null };
        let mut body = Json::object();
        body.set(&["events"], events);
        body.set(&["ended"], ended);
        Ok(Reply::ok(body))
    }

    pub(super) fn close_watch(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let number = self.watch_number(&call.names[0])?;
        if let Some(Some((client, id))) = self.watches.remove(&number) {
            self.sim.close_watch(client, id);
            self.sim.finish_instant();
        }
        Ok(Reply::ok(Json::object()))
    }

    fn watch_number(&self, name: &str) -> Result<u64, Refusal> {
        let number = name.strip_prefix('x').and_then(|number| number.parse().ok());
        number.filter(|number| self.watches.contains_key(number)).ok_or_else(|| {
            let names: Vec<String> = self.watches.keys().map(|number| format!("x{number}")).collect();
            missing("watch", name, &names)
        })
    }
}

fn headers(headers: Option<&Json>) -> Result<Vec<(String, String)>, FieldError> {
    let Some(headers) = headers else { return Ok(Vec::new()) };
    FieldReader::new(headers, "headers")?;
    headers
        .fields()
        .map(|(name, value)| match value {
            Json::Str(value) => Ok((name.to_string(), value.to_string())),
            other => Err(FieldError::new(format!("headers.{name}"), format!("a string is needed, not {other}"))),
        })
        .collect()
}

/// Reads the user of a request; the groups that authentication adds are added as impersonation does.
///
/// Source: k8s.io/apiserver pkg/endpoints/filters/impersonation.go (v1.34).
pub(super) fn identity(who: Option<&Json>, headers: &[(String, String)]) -> Result<Arc<Identity>, FieldError> {
    let admin = Identity::admin();
    let agent = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("user-agent"));
    let agent =
        agent.map_or_else(|| admin.agent.clone(), |(_, value)| value.split('/').next().unwrap_or_default().into());
    let Some(who) = who else {
        return Ok(Arc::new(Identity { agent, ..Identity::clone(&admin) }));
    };
    let mut reader = FieldReader::new(who, "as")?;
    let user = reader.needed_text("user")?.clone();
    let mut groups = Vec::new();
    for (at, group) in reader.list("groups")?.unwrap_or_default().iter().enumerate() {
        let group = group.as_text().filter(|group| !group.is_empty());
        groups.push(group.cloned().ok_or_else(|| reader.error(&format!("groups[{at}]"), "a string is needed"))?);
    }
    let details = details(&mut reader)?;
    reader.finish()?;
    let mut add = |group: &str| {
        if !groups.iter().any(|own| own.as_str() == group) {
            groups.push(group.into());
        }
    };
    if let Some((namespace, _)) = user.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':')) {
        add("system:serviceaccounts");
        add(&format!("system:serviceaccounts:{namespace}"));
    }
    add(if *user == *Identity::ANONYMOUS { Identity::UNAUTHENTICATED } else { "system:authenticated" });
    Ok(Arc::new(Identity { user, groups, agent, details }))
}

/// Reads what else is known of a user.
fn details(reader: &mut FieldReader<'_>) -> Result<Option<Arc<UserDetails>>, FieldError> {
    let mut details = UserDetails { uid: reader.text("uid")?.cloned().unwrap_or_default(), ..UserDetails::default() };
    for (key, values) in reader.any("extra").unwrap_or(&Json::Null).fields() {
        let texts: Option<Vec<Text>> = values.items().iter().map(|value| value.as_text().cloned()).collect();
        let texts = texts.filter(|_| values.is_array());
        let needed = || reader.error(&format!("extra.{key}"), "a list of strings is needed");
        details.extra.insert(key.clone(), texts.ok_or_else(needed)?);
    }
    Ok(Some(Arc::new(details)).filter(|details| **details != UserDetails::default()))
}

fn reply(answer: &Answer) -> Reply {
    let mut headers = Json::object();
    let mut set = |name: &str, value: &str| {
        let joined = match headers.get(name).as_str() {
            Some(before) => format!("{before}, {value}"),
            None => value.to_string(),
        };
        headers.set(&[name], joined);
    };
    let body = match &answer.content {
        AnswerContent::Text(text) => {
            if answer.code != 204 && !answer.headers.iter().any(|(name, _)| *name == "Content-Type") {
                set("Content-Type", "text/plain; charset=utf-8");
            }
            Content::Raw(text.to_string())
        }
        _ => {
            if !answer.headers.iter().any(|(name, _)| *name == "Content-Type") {
                set("Content-Type", "application/json");
            }
            Content::Json(answer.body())
        }
    };
    for (name, value) in &answer.headers {
        set(name, value);
    }
    Reply { code: answer.code, headers: Some(headers), watch: None, body }
}
