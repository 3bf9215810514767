//! Sends the core's requests over HTTPS and reads the answers.
//!
//! Inputs: a kubeconfig, requests with the user who sends them. Outputs: answers; without one, code 0 and the reason.
//! Users are impersonated, so that authorisation and admission judge a request as theirs; the field manager follows
//! from the `User-Agent`, as with the clients of Kubernetes. Invariant: no request is repeated; a refusal is an answer.

use std::path::Path;

use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body as HttpBody;
use kube::config::{KubeConfigOptions, Kubeconfig};
use nodeproof_core::network::{Call, Identity};
use nodeproof_core::objects::Json;
use nodeproof_core::scenario::AnswerSeen;

use super::read_only_client::ReadOnly;
use super::request::{begun, body};
use super::timing::ANSWER_TIMEOUT;

/// Access to an API server as a user who may do everything and impersonate everybody.
#[derive(Debug, Clone)]
pub struct Access {
    /// The kubeconfig, of which the current context is used.
    pub kubeconfig: Kubeconfig,
}

impl Access {
    /// Reads a kubeconfig, YAML or JSON.
    ///
    /// # Errors
    /// It is none.
    pub fn from_kubeconfig(text: &str) -> Result<Self, String> {
        let kubeconfig = Kubeconfig::from_yaml(text).map_err(|error| format!("no kubeconfig: {error}"))?;
        Ok(Self { kubeconfig })
    }

    /// Reads a context by its name, from the kubeconfig in a file, or from the one that kubectl would use.
    ///
    /// # Errors
    /// There is no kubeconfig, or no such context in it; the text names the contexts that it has.
    pub fn of_context(file: Option<&Path>, context: &str) -> Result<Self, String> {
        let read = file.map_or_else(Kubeconfig::read, Kubeconfig::read_from);
        let mut kubeconfig = read.map_err(|error| format!("no kubeconfig: {}", told(&error)))?;
        let known: Vec<&str> = kubeconfig.contexts.iter().map(|known| known.name.as_str()).collect();
        if !known.contains(&context) {
            let known =
                if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
            return Err(format!("there is no context {context} in the kubeconfig: {known}"));
        }
        kubeconfig.current_context = Some(context.to_owned());
        Ok(Self { kubeconfig })
    }

    /// Returns the name of the context; empty if there is none.
    #[must_use]
    pub fn context(&self) -> &str {
        self.kubeconfig.current_context.as_deref().unwrap_or_default()
    }

    /// Returns the address of the API server, as the kubeconfig has it.
    #[must_use]
    pub fn server(&self) -> String {
        let context = self.kubeconfig.contexts.iter().find(|known| known.name == self.context());
        let cluster = context.and_then(|known| known.context.as_ref()).map(|context| context.cluster.as_str());
        let cluster = self.kubeconfig.clusters.iter().find(|known| Some(known.name.as_str()) == cluster);
        cluster.and_then(|known| known.cluster.as_ref()?.server.clone()).unwrap_or_default()
    }

    /// Connects with a client that cannot write, whatever the credentials allow.
    ///
    /// # Errors
    /// The kubeconfig cannot be used.
    pub async fn reader(&self) -> Result<Caller, String> {
        let builder = kube::client::ClientBuilder::try_from(self.config().await?);
        let builder = builder.map_err(|error| format!("no client can be made: {}", told(&error)))?;
        let client = builder.with_layer(&ReadOnly).build();
        Ok(Caller { client: client.clone(), stranger: client })
    }

    /// Returns the settings of a client, which do not depend on a runtime.
    ///
    /// # Errors
    /// A certificate or an address in the kubeconfig cannot be used.
    pub async fn config(&self) -> Result<kube::Config, String> {
        let config = kube::Config::from_custom_kubeconfig(self.kubeconfig.clone(), &KubeConfigOptions::default()).await;
        let mut config = config.map_err(|error| format!("the kubeconfig cannot be used: {error}"))?;
        config.default_retry = false;
        Ok(config)
    }

    /// Connects; the connections live on the current runtime.
    ///
    /// # Errors
    /// The kubeconfig cannot be used.
    pub async fn caller(&self) -> Result<Caller, String> {
        let config = self.config().await?;
        let mut stranger = config.clone();
        stranger.auth_info = kube::config::AuthInfo::default();
        let client = |config| Client::try_from(config).map_err(|error| format!("no client can be made: {error}"));
        Ok(Caller { client: client(config)?, stranger: client(stranger)? })
    }
}

/// A client that speaks the core's requests.
#[derive(Clone)]
pub struct Caller {
    client: Client,
    /// The client without credentials, for unknown users.
    stranger: Client,
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Caller")
    }
}

impl Caller {
    /// Returns the client below.
    #[must_use]
    pub const fn client(&self) -> &Client {
        &self.client
    }

    /// Sends a request as a user; without an answer the code is 0 and the message says why.
    pub async fn send(&self, identity: &Identity, call: &Call) -> AnswerSeen {
        let sent = tokio::time::timeout(ANSWER_TIMEOUT, self.exchange(Some(identity), call)).await;
        match sent {
            Ok(Ok(answer)) => answer,
            Ok(Err(why)) => no_answer(why),
            Err(_) => no_answer("no answer within 60s".to_owned()),
        }
    }

    /// Sends a request with the credentials of the kubeconfig; without an answer the code is 0.
    pub async fn ask(&self, call: &Call) -> AnswerSeen {
        let sent = tokio::time::timeout(ANSWER_TIMEOUT, self.exchange(None, call)).await;
        sent.unwrap_or_else(|_| Err("no answer within 60s".to_owned())).unwrap_or_else(no_answer)
    }

    async fn exchange(&self, identity: Option<&Identity>, call: &Call) -> Result<AnswerSeen, String> {
        answer_of(self.begin(identity, call).await?).await
    }

    /// Sends a request as a user whose answer is a stream, and waits for its head.
    pub(super) async fn open(&self, identity: &Identity, call: &Call) -> Result<http::Response<HttpBody>, String> {
        let sent = tokio::time::timeout(ANSWER_TIMEOUT, self.begin(Some(identity), call)).await;
        sent.unwrap_or_else(|_| Err("no answer within 60s".to_owned()))
    }

    async fn begin(&self, identity: Option<&Identity>, call: &Call) -> Result<http::Response<HttpBody>, String> {
        let request = request(identity, call)?;
        let is_stranger = identity.is_some_and(|identity| !identity.is_known() || identity.is_anonymous());
        let client = if is_stranger { &self.stranger } else { &self.client };
        client.send(request).await.map_err(|error| told(&error))
    }
}

/// Reads an answer to its end.
pub(super) async fn answer_of(response: http::Response<HttpBody>) -> Result<AnswerSeen, String> {
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.map_err(|error| told(&error))?.to_bytes();
    Ok(seen(code, &String::from_utf8_lossy(&bytes)))
}

/// Returns an answer as a scenario sees it: its message is that of a Status, or all of a text.
fn seen(code: u16, text: &str) -> AnswerSeen {
    let Ok(body) = Json::parse(text) else {
        return AnswerSeen { code, message: text.to_owned(), body: Json::from(text), unmodelled: None };
    };
    let is_status = body.get("kind").as_str() == Some("Status");
    let message = if is_status { body.get("message").as_str().unwrap_or("") } else { "" };
    AnswerSeen { code, message: message.to_owned(), body, unmodelled: None }
}

/// Returns what stands for an answer where there is none.
pub(super) const fn no_answer(message: String) -> AnswerSeen {
    AnswerSeen { code: 0, message, body: Json::Null, unmodelled: None }
}

/// Makes the HTTP request of a call.
pub(super) fn request(identity: Option<&Identity>, call: &Call) -> Result<http::Request<HttpBody>, String> {
    let mut request = begun("", call);
    if let Some(identity) = identity {
        request = request.header("user-agent", format!("{}/nodeproof", identity.agent));
        if identity.is_anonymous() {
            // It has no credentials.
        } else if identity.is_known() {
            request = request.header("impersonate-user", identity.user.as_str());
            for group in &identity.groups {
                request = request.header("impersonate-group", group.as_str());
            }
        } else {
            request = request.header("authorization", "Bearer unknown");
        }
    }
    request.body(HttpBody::from(body(call))).map_err(|error| format!("the request cannot be sent: {error}"))
}

/// Tells whether a request succeeded.
pub(super) fn is_success(answer: &AnswerSeen) -> bool {
    (200..300).contains(&answer.code)
}

/// Returns the text of an error with its causes, each once.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use nodeproof_core::network::{NODES, PODS, Verb};

    use super::*;

    #[test]
    fn a_request_carries_who_asks_and_escapes() {
        let call = Call::new(Verb::List, PODS, "a", "").query("fieldSelector", "spec.nodeName=w 1");
        let request = request(Some(&Identity::kubelet("w1")), &call).unwrap();
        assert_eq!(request.uri(), "/api/v1/namespaces/a/pods?fieldSelector=spec.nodeName%3Dw%201");
        assert_eq!(request.headers()["impersonate-user"], "system:node:w1");
        assert_eq!(request.headers()["user-agent"], "kubelet/nodeproof");
        assert_eq!(request.headers().get_all("impersonate-group").iter().count(), 2);
    }

    #[test]
    fn an_answer_without_an_object_is_its_own_message() {
        assert_eq!(seen(404, "404 page not found\n").message, "404 page not found\n");
        assert_eq!(seen(403, r#"{"kind": "Status", "message": "no"}"#).message, "no");
        assert_eq!(seen(200, r#"{"kind": "Event", "message": "no"}"#).message, "");
    }

    #[test]
    fn a_stranger_brings_a_token_that_nobody_knows() {
        let request = request(Some(&Identity::unknown("x")), &Call::new(Verb::Get, NODES, "", "w1")).unwrap();
        assert!(request.headers().get("impersonate-user").is_none());
        assert_eq!(request.headers()["authorization"], "Bearer unknown");
    }
}
