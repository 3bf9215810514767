//! The model's API server for one case, with one client that sends requests and one that watches.
//!
//! Inputs: recorded requests with their users, instants. Outputs: answers and watch events in the form of the
//! recordings. Time passes only as requests and watches need it.

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::chance::Chance;
use nodeproof_core::components::api_server::{ApiServer, ServerOutput};
use nodeproof_core::components::controller::Context;
use nodeproof_core::json;
use nodeproof_core::network::{
    Answer, Ask, Call, ClientId, Content, Identity, Request, RequestId, ToClient, Verb, find_kind,
};
use nodeproof_core::objects::{Json, Text, base64};
use nodeproof_core::profile::{Release, Settings};

const ASKING: ClientId = ClientId(1);
const WATCHING: ClientId = ClientId(2);
/// How much longer than the real server the model may take to end a watch.
const PATIENCE: SignedDuration = SignedDuration::from_secs(5);

/// A server and the messages that its clients have received.
pub(super) struct ModelServer {
    server: ApiServer,
    now: Timestamp,
    last: u64,
    events: VecDeque<Json>,
    over: bool,
}

impl ModelServer {
    pub(super) fn new(release: Release, given: &[Json]) -> Self {
        let now = "2026-11-21T10:00:00Z".parse().expect("a fixed date");
        let context = Context { settings: Arc::new(Settings::of(release)), chance: Chance::new(1) };
        let mut server = ApiServer::new(context, now);
        server.require_service_accounts();
        server.track_managers();
        // Each of the recorder's users had a token in a file.
        server.accept_token("admin-token", identity("admin", ""));
        let mut world = Self { server, now, last: 0, events: VecDeque::new(), over: false };
        for object in given {
            world.create(object);
        }
        world
    }

    fn create(&mut self, object: &Json) {
        let Some((resource, namespaced)) = object.get("kind").as_str().and_then(find_kind) else { return };
        let mut object = object.clone();
        object.remove(&["metadata", "resourceVersion"]);
        object.remove(&["metadata", "managedFields"]);
        let namespace = object.at(&["metadata", "namespace"]).as_text().cloned().unwrap_or_default();
        let namespace = if namespaced { namespace } else { Text::of("") };
        let call = Call::new(Verb::Create, resource, namespace, "").body(object);
        self.send(ASKING, identity("admin", ""), call);
    }

    /// Sends a recorded request; returns the answer in the form of the recordings.
    pub(super) fn ask(&mut self, user: &str, request: &Json) -> Json {
        let answer = match call_of(request) {
            Ok(call) => self.send(ASKING, identity(user, agent(request)), call),
            Err(answer) => answer,
        };
        let mut form = recorded_form(&answer);
        if request.get("method").as_str() == Some("HEAD") {
            for field in ["body", "bodyText", "bodyBase64"] {
                form.remove(&[field]);
            }
        }
        form
    }

    /// Tells whether a request opens a watch.
    pub(super) fn would_watch(&self, request: &Json) -> bool {
        call_of(request).is_ok_and(|call| call.verb == Verb::Watch)
    }

    pub(super) fn open_watch(&mut self, user: &str, request: &Json) -> Json {
        let answer = match call_of(request) {
            Ok(call) => self.send(WATCHING, identity(user, agent(request)), call),
            Err(answer) => answer,
        };
        recorded_form(&answer)
    }

    /// Returns the instant a number of seconds from now, plus a reserve.
    pub(super) fn after(&self, seconds: &Json) -> Timestamp {
        let seconds = match seconds {
            Json::Int(seconds) => SignedDuration::from_secs(*seconds),
            Json::Float(seconds) => SignedDuration::try_from_secs_f64(*seconds).unwrap_or_default(),
            _ => SignedDuration::ZERO,
        };
        self.now + seconds + PATIENCE
    }

    /// Returns the next event of the watch, if one comes before an instant.
    pub(super) fn next_event(&mut self, until: Timestamp) -> Option<Json> {
        while self.events.is_empty() && !self.over {
            let at = self.server.next_deadline().map(|deadline| deadline.at).filter(|at| *at <= until)?;
            self.now = self.now.max(at);
            self.server.handle_timeout(self.now);
            self.collect(None);
        }
        self.events.pop_front()
    }

    pub(super) fn put_back(&mut self, event: Json) {
        self.events.push_front(event);
    }

    /// Tells whether the server has ended the watch.
    pub(super) const fn is_over(&self) -> bool {
        self.over
    }

    fn send(&mut self, client: ClientId, identity: Arc<Identity>, call: Call) -> Answer {
        self.now += SignedDuration::from_millis(1);
        self.last += 1;
        let id = RequestId(self.last);
        let request = Request { id, identity, ask: Ask::Call(call.into()), timeout: None, because: None };
        self.server.handle_request(client, request, self.now);
        loop {
            if let Some(answer) = self.collect(Some(id)) {
                return answer;
            }
            let deadline = self.server.next_deadline().expect("each request is answered, if late");
            self.now = self.now.max(deadline.at);
            self.server.handle_timeout(self.now);
        }
    }

    fn collect(&mut self, wanted: Option<RequestId>) -> Option<Answer> {
        let mut found = None;
        while let Some(output) = self.server.poll_output() {
            let message = match output {
                ServerOutput::ToClient { message, .. } => message,
                // Nothing listens where the recorder's Nodes say that their kubelets are.
                ServerOutput::Dial(call) => {
                    let outcome = Err(format!("dial tcp {}: connect: connection refused", call.address()));
                    self.server.handle_http_outcome(&call, outcome);
                    continue;
                }
                ServerOutput::Commit(_) => continue,
            };
            match message {
                ToClient::Response { id, result } if Some(id) == wanted => found = result.ok(),
                ToClient::Response { .. } => {}
                ToClient::Watch { event, object, .. } => {
                    self.events.push_back(json!({"type": event.name(), "object": object.json()}));
                }
                ToClient::WatchEnded { .. } => self.over = true,
            }
        }
        found
    }
}

/// Returns one of the recorder's users: an administrator, a node, a part of the control plane, or a user without rights
/// or valid credentials.
fn identity(user: &str, agent: &str) -> Arc<Identity> {
    let agent = Text::from(if agent.is_empty() { "nodeproof-recorder" } else { agent });
    let (user, groups): (&str, &[&'static str]) = match user {
        "badtoken" => ("", &[]),
        "admin" => (user, &["system:masters", "system:authenticated"]),
        "anonymous" => ("system:anonymous", &["system:unauthenticated"]),
        "sched" => ("system:kube-scheduler", &["system:authenticated"]),
        "kcm" => ("system:kube-controller-manager", &["system:authenticated"]),
        user if user.starts_with("system:node:") => (user, &["system:nodes", "system:authenticated"]),
        user => (user, &["system:authenticated"]),
    };
    Arc::new(Identity {
        user: Text::from(user),
        groups: groups.iter().map(|group| Text::of(group)).collect(),
        agent,
        details: None,
    })
}

fn header<'a>(request: &'a Json, name: &str) -> &'a str {
    let found = request.get("headers").fields().find(|(own, _)| own.eq_ignore_ascii_case(name));
    found.and_then(|(_, value)| value.as_str()).unwrap_or_default()
}

fn agent(request: &Json) -> &str {
    header(request, "user-agent").split('/').next().unwrap_or_default()
}

fn call_of(request: &Json) -> Result<Call, Answer> {
    let text = |field: &str| request.get(field).as_str().unwrap_or_default();
    let body = match (request.get("body"), request.get("bodySent").as_str()) {
        (_, Some(sent)) => sent.as_bytes().to_vec(),
        (Json::Null, None) if request.get("bodyBase64").is_null() => text("bodyText").as_bytes().to_vec(),
        (Json::Null, None) => base64::decode(text("bodyBase64")).unwrap_or_default(),
        (body, None) => body.to_string().into_bytes(),
    };
    let headers: Vec<(&str, &str)> = request
        .get("headers")
        .fields()
        .map(|(name, value)| (name.as_str(), value.as_str().unwrap_or_default()))
        .collect();
    Call::from_http_bytes(text("method"), text("path"), &headers, &body).map_err(|answer| *answer)
}

fn recorded_form(answer: &Answer) -> Json {
    let mut form = json!({"code": i64::from(answer.code)});
    let mut warnings = Vec::new();
    for (name, value) in &answer.headers {
        if *name == "Warning" {
            warnings.push(Json::from(value));
        } else {
            form.set(&["headers", name], value);
        }
    }
    form.set(&["headers", "Warning"], warnings);
    match &answer.content {
        Content::Text(text) if text.is_empty() => {}
        Content::Text(text) => form.set(&["bodyText"], text),
        Content::Bytes(bytes) => form.set(&["bodyBase64"], base64::encode(bytes)),
        Content::Watching => {}
        _ => form.set(&["body"], answer.body()),
    }
    form
}
