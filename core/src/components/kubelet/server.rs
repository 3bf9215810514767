//! The kubelet's own API: who is let in, and what is there.
//!
//! Mirrors pkg/kubelet/server/{server,auth}.go and cmd/kubelet/app/auth.go (v1.34). A path that is not served is
//! answered before anybody is asked who he is. Tokens and rights are reviewed by the API server.
//! Inputs: calls, answers of the API server. Outputs: TokenReviews, SubjectAccessReviews, answers. Invariant: a call is
//! answered once. Left out on purpose: the caches of reviews, measurements.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::runtime_state::runtime_error;
use super::{ApiResult, Kubelet, KubeletContext, Purpose};
use crate::components::Output;
use crate::components::host::Host;
use crate::json;
use crate::network::{Answer, Call, HttpAnswer, HttpCall, HttpCredentials, Identity, Resource, Verb};
use crate::objects::{Json, Object, Text};

const TOKEN_REVIEWS: Resource = Resource::of("authentication.k8s.io", "v1", "tokenreviews");
const ACCESS_REVIEWS: Resource = Resource::of("authorization.k8s.io", "v1", "subjectaccessreviews");

/// A call that waits for the API server.
#[derive(Clone, Debug)]
pub(super) struct OpenCall {
    call: HttpCall,
    caller: Option<Arc<Identity>>,
    /// The subresources of `nodes` that are still to be tried, the next one first.
    untried: Vec<&'static str>,
}

impl OpenCall {
    /// Returns who asks for what, as messages have it.
    fn asked(&self) -> String {
        let user = self.caller.as_ref().map_or("", |caller| caller.user.as_str());
        format!("user={user}, verb={}, resource=nodes", verb(&self.call.method))
    }
}

/// What an answer of the API server is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ServerPurpose {
    /// Whose token it is.
    Token(u64),
    /// Whether he may.
    Access(u64),
}

/// The first parts of the paths that are served, each with the subresource of `nodes` that guards it.
///
/// Source: server.go (v1.34), `InstallAuthNotRequiredHandlers` and the functions after it; auth.go (v1.34),
/// `GetRequestAttributes`.
const PATHS: [(&str, &str); 16] = [
    ("/healthz", "healthz"),
    ("/pods", "pods"),
    ("/runningpods/", "pods"),
    ("/configz", "configz"),
    ("/metrics", "metrics"),
    ("/stats/summary", "stats"),
    ("/logs/", "log"),
    ("/checkpoint/", "checkpoint"),
    ("/containerLogs/", "proxy"),
    ("/exec/", "proxy"),
    ("/attach/", "proxy"),
    ("/portForward/", "proxy"),
    ("/run/", "proxy"),
    ("/cri/", "proxy"),
    ("/debug/pprof/", "proxy"),
    ("/debug/flags/v", "proxy"),
];

/// The paths below a first part that are served alone.
const EXACT: [(&str, &[&str]); 5] = [
    ("/healthz", &["/healthz", "/healthz/ping", "/healthz/log", "/healthz/syncloop"]),
    ("/pods", &["/pods", "/pods/"]),
    ("/configz", &["/configz"]),
    ("/metrics", &["/metrics", "/metrics/cadvisor", "/metrics/resource", "/metrics/probes", "/metrics/slis"]),
    ("/debug/flags/v", &["/debug/flags/v"]),
];

/// Returns what guards a path; `None` if it is not served.
fn guard(path: &str) -> Option<&'static str> {
    let (first, guard) = PATHS.iter().find(|(first, _)| path.starts_with(first))?;
    let exact = EXACT.iter().find(|(own, _)| own == first);
    exact.is_none_or(|(_, all)| all.contains(&path)).then_some(*guard)
}

/// The verb of a method. Source: auth.go (v1.34), `GetRequestAttributes`.
fn verb(method: &str) -> &'static str {
    match method {
        "POST" => "create",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" => "delete",
        _ => "get",
    }
}

impl Kubelet {
    /// Takes a call to its server.
    pub fn handle_call(&mut self, call: HttpCall, context: &mut KubeletContext<'_>) {
        let path = call.path.split('?').next().unwrap_or_default();
        let Some(guard) = guard(path) else {
            return serve(&call, HttpAnswer::text(404, "404 page not found\n"), context);
        };
        let fine = self.settings.is_gate_on("KubeletFineGrainedAuthz");
        let untried = match guard {
            "healthz" | "pods" | "configz" if fine => Vec::from([guard, "proxy"]),
            "healthz" | "pods" | "configz" => Vec::from(["proxy"]),
            guard => Vec::from([guard]),
        };
        let caller = match &call.credentials {
            HttpCredentials::Certificate(identity) => Some(identity.clone()),
            HttpCredentials::None if self.config.server.anonymous => Some(Identity::anonymous("kubelet")),
            HttpCredentials::Token(token) if !self.config.server.without_tokens => {
                let body = json!({"kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1", "metadata": {},
                    "spec": {"token": token.as_str()}});
                let request = Call::new(Verb::Create, TOKEN_REVIEWS, "", "").body(body);
                let number = self.server.open(OpenCall { call, caller: None, untried });
                return self.call(request, Purpose::Server(ServerPurpose::Token(number)), context);
            }
            _ => return serve(&call, unauthorized(), context),
        };
        let number = self.server.open(OpenCall { call, caller, untried });
        self.go_on_with_call(number, context);
    }

    /// Takes the API server's answer to a review.
    pub(super) fn handle_review(
        &mut self,
        purpose: ServerPurpose,
        reply: &ApiResult,
        context: &mut KubeletContext<'_>,
    ) {
        let status = reply.as_ref().ok().filter(|answer| answer.is_success()).map(Answer::body);
        let status = status.map(|body| body.get("status").clone());
        match purpose {
            ServerPurpose::Token(number) => {
                let Some(mut open) = self.server.close(number) else { return };
                let user = status.filter(|status| status.get("authenticated").as_bool() == Some(true));
                let Some(user) = user.map(|status| status.get("user").clone()) else {
                    return serve(&open.call, unauthorized(), context);
                };
                let groups = user.get("groups").items().iter().filter_map(Json::as_text).cloned().collect();
                let name = user.get("username").as_text().cloned().unwrap_or_default();
                open.caller = Some(Arc::new(Identity { user: name, groups, agent: Text::of(""), details: None }));
                let number = self.server.open(open);
                self.go_on_with_call(number, context);
            }
            ServerPurpose::Access(number) => {
                let Some(mut open) = self.server.close(number) else { return };
                let Some(status) = status else {
                    let subresource = open.untried.first().copied().unwrap_or_default();
                    let text = format!("Authorization error ({}, subresource={subresource})", open.asked());
                    return serve(&open.call, HttpAnswer::text(500, text), context);
                };
                if status.get("allowed").as_bool() == Some(true) {
                    return self.serve_content(&open.call, context);
                }
                open.untried.remove(0);
                let number = self.server.open(open);
                self.go_on_with_call(number, context);
            }
        }
    }

    /// Asks whether the caller may use the next subresource; refuses the call if none is left.
    fn go_on_with_call(&mut self, number: u64, context: &mut KubeletContext<'_>) {
        let Some(open) = self.server.close(number) else { return };
        if self.config.server.always_allow {
            return self.serve_content(&open.call, context);
        }
        let (Some(caller), Some(subresource)) = (&open.caller, open.untried.first()) else {
            let answer = self.forbid_call(&open);
            return serve(&open.call, answer, context);
        };
        let mut body = json!({"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {},
            "spec": {"resourceAttributes": {"version": "v1", "resource": "nodes", "verb": verb(&open.call.method),
                "subresource": *subresource}}});
        body.set(&["spec", "resourceAttributes", "name"], &self.config.node_name);
        body.set(&["spec", "user"], &caller.user);
        body.set(&["spec", "groups"], caller.groups.iter().map(Json::from).collect::<Json>());
        let request = Call::new(Verb::Create, ACCESS_REVIEWS, "", "").body(body);
        let number = self.server.open(open);
        self.call(request, Purpose::Server(ServerPurpose::Access(number)), context);
    }

    /// Refuses a call whose caller may not. Source: server.go (v1.31, v1.34), `InstallAuthFilter`.
    fn forbid_call(&self, open: &OpenCall) -> HttpAnswer {
        let path = open.call.path.split('?').next().unwrap_or_default();
        let guard = guard(path).unwrap_or("proxy");
        let names = match guard {
            "healthz" | "pods" | "configz" if self.settings.is_gate_on("KubeletFineGrainedAuthz") => {
                format!("{guard} proxy")
            }
            "healthz" | "pods" | "configz" => String::from("proxy"),
            guard => String::from(guard),
        };
        HttpAnswer::text(
            403,
            if self.settings.knows_gate("KubeletFineGrainedAuthz") {
                format!("Forbidden ({}, subresource(s)=[{names}])\n", open.asked())
            } else {
                format!("Forbidden ({}, subresource={names})", open.asked())
            },
        )
    }

    fn serve_content(&self, call: &HttpCall, context: &mut KubeletContext<'_>) {
        let answer = self.content(call, context);
        serve(call, answer, context);
    }

    /// Source: server.go (v1.34), the handlers.
    fn content(&self, call: &HttpCall, context: &KubeletContext<'_>) -> HttpAnswer {
        let path = call.path.split('?').next().unwrap_or_default();
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        match parts.as_slice() {
            ["healthz", ..] => HttpAnswer::text(200, "ok"),
            ["pods"] => HttpAnswer::json(format!("{}", pod_list(self.pods.unfinished().map(Object::json)))),
            ["runningpods"] => running_pods(context.host),
            ["configz"] => HttpAnswer::json(format!("{}", self.shown_config())),
            ["stats", ..] => {
                let name = self.config.node_name.as_str();
                HttpAnswer::json(format!("{}", json!({"node": {"nodeName": name}, "pods": []})))
            }
            ["metrics", ..] => {
                HttpAnswer::text(200, self.measures(context.host).iter().map(ToString::to_string).collect::<String>())
            }
            ["containerLogs" | "run" | "exec" | "attach" | "portForward", ..] => {
                self.about_container(call, &parts, context)
            }
            ["checkpoint", ..] if call.method != *"POST" => HttpAnswer::text(405, "405: Method Not Allowed"),
            ["debug", "flags", ..] => HttpAnswer::text(406, "unsupported http method\n"),
            ["logs"] => HttpAnswer::text(200, ""),
            _ => HttpAnswer::text(404, "404: Page Not Found"),
        }
    }

    fn shown_config(&self) -> Json {
        let config = &self.config;
        let mut shown = json!({});
        shown.set(&["authentication", "anonymous", "enabled"], config.server.anonymous);
        shown.set(&["authentication", "webhook", "enabled"], !config.server.without_tokens);
        let mode = if config.server.always_allow { "AlwaysAllow" } else { "Webhook" };
        shown.set(&["authorization", "mode"], mode);
        shown.set(&["port"], config.port);
        shown.set(&["maxPods"], config.max_pods);
        shown.set(&["nodeLeaseDurationSeconds"], config.lease_duration_seconds);
        shown.set(&["rotateCertificates"], config.rotates_certificates);
        shown.set(&["serverTLSBootstrap"], config.serves_with_signed_certificate);
        let mut all = Json::object();
        all.set(&["kubeletconfig"], shown);
        all
    }
}

fn pod_list(pods: impl Iterator<Item = Json>) -> Json {
    let mut list = json!({"kind": "PodList", "apiVersion": "v1", "metadata": {}});
    let without_type = |mut pod: Json| {
        pod.remove(&["kind"]);
        pod.remove(&["apiVersion"]);
        pod
    };
    list.set(&["items"], pods.map(without_type).collect::<Json>());
    list
}

/// Source: server.go (v1.34), `getRunningPods`.
fn running_pods(host: &Host) -> HttpAnswer {
    if let Some(error) = runtime_error(host) {
        return HttpAnswer::text(500, error);
    }
    let running = host.runtime.sandboxes().filter(|(_, sandbox)| sandbox.is_running());
    let pods = running.map(|(uid, sandbox)| {
        let mut pod = json!({"spec": {"containers": []}, "status": {}});
        pod.set(&["metadata", "name"], &sandbox.key.name);
        pod.set(&["metadata", "namespace"], &sandbox.key.namespace);
        pod.set(&["metadata", "uid"], uid);
        let names = sandbox.containers.iter().filter(|container| container.is_running());
        let names = names.map(|container| json!({"name": container.name.as_str(), "resources": {}}));
        pod.set(&["spec", "containers"], names.collect::<Json>());
        pod
    });
    HttpAnswer::json(format!("{}", pod_list(pods)))
}

fn unauthorized() -> HttpAnswer {
    HttpAnswer::text(401, "Unauthorized")
}

fn serve(call: &HttpCall, answer: HttpAnswer, context: &mut KubeletContext<'_>) {
    context.outbox.push(Output::Served(call.id, answer));
}

/// The calls that wait for the API server.
#[derive(Clone, Debug, Default)]
pub(super) struct ServerCalls {
    last: u64,
    open: Vec<(u64, OpenCall)>,
}

impl ServerCalls {
    fn open(&mut self, call: OpenCall) -> u64 {
        self.last += 1;
        self.open.push((self.last, call));
        self.last
    }

    fn close(&mut self, number: u64) -> Option<OpenCall> {
        let at = self.open.iter().position(|(own, _)| *own == number)?;
        Some(self.open.swap_remove(at).1)
    }
}
