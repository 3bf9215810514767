//! One HTTP request to the served cluster.
//!
//! Inputs: a request and who sent it. Outputs: the answer of the API server, or of a control call. Invariant: each
//! request is answered, whatever is in it.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use nodeproof_core::json;
use nodeproof_core::network::{Answer, Call, Identity};
use nodeproof_core::objects::{FieldError, Json, Text};

use super::shared::{ServedCluster, ServedWatch};
use crate::control::api::Outcome;
use crate::control::route;
use crate::control::streams::{Response, response, watch_response};
use crate::control::{Content, Refusal, Reply, lines};

/// Below this path are the control calls.
const CONTROL: &str = "/nodeproof/v1/";
/// The most bytes of a body that are read. The API server refuses bodies beyond 3 MiB; a description of a cluster may
/// be larger.
const MOST: usize = 64 << 20;
/// Source: k8s.io/apiserver pkg/authentication/user/user.go (v1.34), as the one below.
const AUTHENTICATED: &str = "system:authenticated";
const MASTERS: &str = "system:masters";

/// Who sends the requests of a connection.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    /// The user and the groups of the client's certificate.
    pub(super) user: Option<(Text, Vec<Text>)>,
    /// Whether the server is reached from this machine alone.
    pub(super) is_local: bool,
}

/// Answers a request.
pub(super) async fn answer(
    shared: ServedCluster,
    caller: Caller,
    request: http::Request<Incoming>,
) -> Result<Response, Infallible> {
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, MOST).collect().await else {
        let answer = status(413, "RequestEntityTooLarge", "the body did not arrive, or is larger than 64 MiB");
        return Ok(response(&answer));
    };
    let body = body.to_bytes();
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
    if let Some(call) = target.strip_prefix(CONTROL) {
        return Ok(written(caller.control(&shared, head.method.as_str(), call, &body)));
    }
    Ok(caller.request(&shared, &head, target, &body))
}

impl Caller {
    /// Answers a control call.
    fn control(&self, shared: &ServedCluster, method: &str, target: &str, body: &Bytes) -> Reply {
        let is_admin = self.user.as_ref().is_some_and(|(_, groups)| groups.iter().any(|group| **group == *MASTERS));
        if !self.is_local && !is_admin {
            let message = "control calls from another machine need a certificate of the group system:masters, as in \
                           the kubeconfig that nodeproof serve wrote";
            return Refusal::new(401, message).into();
        }
        let body = match std::str::from_utf8(body).map_err(|error| error.to_string()) {
            Ok(text) if text.trim().is_empty() => Ok(Json::Null),
            Ok(text) => Json::parse(text).map_err(|error| error.to_string()),
            Err(error) => Err(error),
        };
        let done = body.map_err(|error| FieldError::new("body", format!("the body is no JSON: {error}")).into());
        let resets = (method, target) == ("POST", "reset");
        let done = done.and_then(|body| shared.with(resets, |control| route::answer(control, method, target, &body)));
        done.unwrap_or_else(Reply::from)
    }

    /// Answers a request of the Kubernetes API.
    fn request(&self, shared: &ServedCluster, head: &http::request::Parts, target: &str, body: &Bytes) -> Response {
        let headers = &head.headers;
        let pairs: Vec<(&str, &str)> =
            headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect();
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !self.is_local && self.user.is_none() && header(http::header::AUTHORIZATION).is_empty() {
            return response(&status(401, "Unauthorized", "Unauthorized"));
        }
        let agent = header(http::header::USER_AGENT).split('/').next().unwrap_or_default();
        let identity = self.identity(agent);
        let call = Call::from_http_bytes(head.method.as_str(), target, &pairs, body);
        let outcome = shared.with(false, |control| {
            let outcome = control.answer(identity, call)?;
            Ok((outcome, control.resets))
        });
        match outcome {
            // A stream that is let through would have contents, which are not modelled.
            Ok((Outcome::Answer(answer), _)) if answer.code == 101 => response(&status(501, "NotImplemented", STREAMS)),
            Ok((Outcome::Answer(answer), _)) => response(&answer),
            Ok((Outcome::Watch(client, id), resets)) => {
                watch_response(ServedWatch { shared: shared.clone(), resets }, client, id)
            }
            Err(refusal) if refusal.code == 504 => response(&status(504, "Timeout", &refusal.error.message)),
            Err(refusal) => response(&status(500, "InternalError", &refusal.error.message)),
        }
    }

    fn identity(&self, agent: &str) -> Arc<Identity> {
        let agent = Text::from(agent);
        match &self.user {
            Some((user, groups)) => {
                let mut groups = groups.clone();
                if !groups.iter().any(|group| **group == *AUTHENTICATED) {
                    groups.push(Text::of(AUTHENTICATED));
                }
                Arc::new(Identity { user: user.clone(), groups, agent, details: None })
            }
            None => Identity::anonymous(agent),
        }
    }
}

const STREAMS: &str = "the kubelet lets this stream through; what it would carry is not modelled yet";

fn status(code: u16, reason: &str, message: &str) -> Answer {
    let body = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code});
    Answer::json(code, body)
}

/// Returns the answer of a control call as a response.
fn written(reply: Reply) -> Response {
    let answer = match reply.body {
        Content::Json(body) => Answer::json(reply.code, body),
        Content::Empty => Answer::json(reply.code, Json::object()),
        Content::Lines(objects) => {
            let content = nodeproof_core::network::Content::Text(lines(&objects).into());
            let media = (Text::of("Content-Type"), Text::of("application/x-ndjson"));
            Answer { code: reply.code, headers: vec![media], content }
        }
        Content::Raw(text) => {
            let content = nodeproof_core::network::Content::Text(text.into());
            Answer { code: reply.code, headers: Vec::new(), content }
        }
    };
    response(&answer)
}
