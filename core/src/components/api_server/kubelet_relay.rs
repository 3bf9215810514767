//! What the API server passes on to kubelets, Pods and Services: logs, streams, proxies.
//!
//! Mirrors pkg/registry/core/{pod,node,service} (strategy.go and rest/), k8s.io/apiserver
//! pkg/registry/generic/rest/{streamer,response_checker,proxy}.go and pkg/kubelet/client/kubelet_client.go (v1.34). The
//! server dials with its own client certificate; the certificate of a kubelet is verified only with
//! `--kubelet-certificate-authority`, that of a Pod never.
//! Inputs: authorised requests, and what came of the calls. Outputs: calls, answers. Invariant: each request is
//! answered once. Left out on purpose: contents of streams, and WebSockets, which are answered as SPDY is.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::attributes::Attributes;
use super::call::RequestInfo;
use super::{ApiServer, Origin, ServerOutput, log_options, status};
use crate::json;
use crate::network::http::WHOLE_PATH;
use crate::network::{
    Answer, Call, ClientId, Content, ENDPOINT_SLICES, HttpCall, HttpCredentials, HttpId, HttpOutcome, Identity, NODES,
    RequestId, Resource, SERVICE_NAME, ToClient, Verb,
};
use crate::objects::{Json, Object, ObjectKey, Text};

/// The kinds of addresses in the order in which they are tried.
/// Source: pkg/kubelet/client/kubelet_client.go and cmd/kube-apiserver/app/options/options.go (v1.34),
/// `--kubelet-preferred-address-types`.
const ADDRESS_KINDS: [&str; 5] = ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"];

/// What is done with the outcome of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RelayKind {
    /// The answer is read, and an error made of it.
    Log,
    /// The connection is handed over, once it stands.
    Stream,
    /// The answer goes back as it is.
    Proxy,
}

/// A request that waits for a call.
#[derive(Clone, Debug)]
pub(super) struct Relay {
    client: ClientId,
    request: RequestId,
    kind: RelayKind,
    /// Kind with subresource, and name, for messages: `pods/log`, `web`.
    about: (Text, Text),
}

/// Where a request is passed on to.
struct RelayPlace {
    is_tls: bool,
    host: Text,
    port: Option<u16>,
    path: String,
    /// Whether it is a kubelet's server, to which the API server shows its certificate.
    is_kubelet: bool,
}

/// The API server as kubelets see it: the client of kubeadm.
/// Source: cmd/kubeadm/app/phases/certs/certlist.go (v1.34), `KubeadmCertKubeletClient`.
pub(super) fn own_identity() -> Arc<Identity> {
    let groups = ["kubeadm:cluster-admins", "system:authenticated"].map(Text::of);
    Arc::new(Identity {
        user: Text::of("kube-apiserver-kubelet-client"),
        groups: Vec::from(groups),
        agent: Text::of("kube-apiserver"),
        details: None,
    })
}

impl ApiServer {
    /// Passes a request on; false if it is none of those.
    ///
    /// # Errors
    /// The answer that is given without a call.
    pub(super) fn relay(
        &mut self,
        info: &RequestInfo,
        origin: &Origin,
        id: RequestId,
        call: &Call,
    ) -> Result<bool, Answer> {
        let resource = &info.kind.resource;
        let place = match (resource.plural.as_str(), info.subresource.as_str()) {
            ("pods", "log") => self.log_place(info, call)?,
            ("pods", "exec" | "attach" | "portforward") => {
                self.check_stream(info, origin, call)?;
                self.stream_place(info, call)?
            }
            ("nodes", "proxy") => self.node_place(info)?,
            ("pods", "proxy") => self.pod_place(info)?,
            ("services", "proxy") => self.service_place(info)?,
            _ => return Ok(false),
        };
        let (kind, path) = match info.subresource.as_str() {
            "log" => (RelayKind::Log, place.path),
            "proxy" => (RelayKind::Proxy, tail(call)),
            _ => (RelayKind::Stream, place.path),
        };
        let upgrades = call.header_value("upgrade").is_some();
        if kind == RelayKind::Stream && !upgrades {
            return Err(status::bad_request("Upgrade request required"));
        }
        let about = (Text::from(format!("{}/{}", resource.plural, info.subresource)), info.name.clone());
        self.last_call += 1;
        let number = HttpId(self.last_call);
        self.relays.insert(number, Relay { client: origin.client, request: id, kind, about });
        let authority = self.settings.text("kubelet-certificate-authority");
        let out = HttpCall {
            id: number,
            is_tls: place.is_tls,
            verifies: place.is_kubelet && !authority.is_empty(),
            host: place.host,
            resolved: None,
            port: place.port,
            method: if kind == RelayKind::Log { Text::of("GET") } else { Text::of(call.verb.method()) },
            path: Text::from(path),
            upgrades,
            credentials: if place.is_kubelet {
                HttpCredentials::Certificate(own_identity())
            } else {
                HttpCredentials::None
            },
        };
        self.outputs.push_back(ServerOutput::Dial(alloc::boxed::Box::new(out)));
        Ok(true)
    }

    /// Takes what came of a call, and answers the request that waits for it.
    pub fn handle_http_outcome(&mut self, call: &HttpCall, outcome: HttpOutcome) {
        let Some(relay) = self.relays.remove(&call.id) else { return };
        let answer = match relay.kind {
            RelayKind::Log => log_answer(call, &relay.about, outcome),
            RelayKind::Stream => stream_answer(outcome),
            RelayKind::Proxy => proxy_answer(outcome),
        };
        let message = ToClient::Response { id: relay.request, result: Ok(answer) };
        self.outputs.push_back(ServerOutput::ToClient { client: relay.client, message });
    }

    fn found(&self, info: &RequestInfo, name: &Text) -> Result<Object, Answer> {
        let resource = &info.kind.resource;
        let key = ObjectKey { namespace: info.namespace.clone(), name: name.clone() };
        self.object(resource, &key).ok_or_else(|| status::not_found(resource, name))
    }

    /// Finds the server of the kubelet of a Node. A Node that is not there is told as the resource of the request.
    /// Source: kubelet_client.go (v1.34), `GetConnectionInfo`; k8s.io/apiserver pkg/registry/generic/registry/store.go
    /// (v1.34), `qualifiedResourceFromContext`.
    fn kubelet_of(&self, asked: &Resource, node: &str) -> Result<(Text, u16), Answer> {
        let found = self.object(&NODES, &ObjectKey::cluster(node)).ok_or_else(|| status::not_found(asked, node))?;
        let status = found.json().get("status").clone();
        let addresses = status.get("addresses").items();
        let preferred = self.settings.text("kubelet-preferred-address-types");
        let kinds: Vec<&str> =
            if preferred.is_empty() { ADDRESS_KINDS.to_vec() } else { preferred.split(',').collect() };
        let of_kind = |kind: &&str| addresses.iter().find(|address| address.get("type").as_str() == Some(*kind));
        let Some(address) = kinds.iter().find_map(of_kind).and_then(|address| address.get("address").as_text()) else {
            // Source: pkg/util/node/node.go (v1.34), `NoMatchError`.
            let known = addresses.iter().map(|address| {
                let text = |field: &str| address.get(field).as_str().unwrap_or("");
                format!("{{{} {}}}", text("type"), text("address"))
            });
            let known = known.collect::<Vec<_>>().join(" ");
            return Err(status::untyped(&format!("no preferred addresses found; known addresses: [{known}]")));
        };
        let port = status.at(&["daemonEndpoints", "kubeletEndpoint", "Port"]).as_i64();
        let port = port.and_then(|port| u16::try_from(port).ok()).filter(|port| *port != 0);
        Ok((address.clone(), port.unwrap_or(10250)))
    }

    /// Source: pkg/registry/core/pod/strategy.go (v1.34), `LogLocation`.
    fn log_place(&self, info: &RequestInfo, call: &Call) -> Result<RelayPlace, Answer> {
        const PARAMETERS: [&str; 7] =
            ["follow", "limitBytes", "previous", "sinceSeconds", "sinceTime", "tailLines", "timestamps"];
        log_options::check(call, &info.name, &self.settings)?;
        let pod = self.found(info, &info.name)?;
        let container = container_of(&pod, call.parameter("container").map(Text::as_str))?;
        let node = node_of(&pod);
        if node.is_empty() {
            // There is nothing to show yet.
            return Err(Answer { code: 204, headers: Vec::new(), content: Content::Text(Text::of("")) });
        }
        let given = PARAMETERS.iter().filter_map(|name| Some((*name, call.parameter(name)?.as_str())));
        let given = given.filter(|(_, value)| !["", "false"].contains(value));
        let path = format!("/containerLogs/{}/{}/{container}", info.namespace, info.name);
        self.kubelet_place(info, &node, with_query(path, given))
    }

    /// Refuses a stream that is opened with GET, as WebSockets are, to who may only read the subresource.
    /// Source: pkg/registry/core/pod/rest/authorize.go (v1.35), `ensureAuthorizedForVerb`.
    fn check_stream(&mut self, info: &RequestInfo, origin: &Origin, call: &Call) -> Result<(), Answer> {
        let own = Attributes::of(call);
        let asked = Attributes { verb: "create", ..own.get() };
        if call.verb == Verb::Create || !self.settings.profile().is("streams-need-create") {
            return Ok(());
        }
        let refused = self.authorise(&origin.identity, &asked);
        refused.map_err(|why| status::forbidden(&info.kind.resource, &info.name, &why))
    }

    /// Source: pkg/registry/core/pod/strategy.go (v1.34), `streamLocation`, `PortForwardLocation`.
    fn stream_place(&self, info: &RequestInfo, call: &Call) -> Result<RelayPlace, Answer> {
        let pod = self.found(info, &info.name)?;
        let path = if info.subresource == *"portforward" {
            format!("/portForward/{}/{}", info.namespace, info.name)
        } else {
            let container = container_of(&pod, call.parameter("container").map(Text::as_str))?;
            format!("/{}/{}/{}/{container}", info.subresource, info.namespace, info.name)
        };
        let node = node_of(&pod);
        if node.is_empty() {
            return Err(status::bad_request(&format!("pod {} does not have a host assigned", info.name)));
        }
        let commands =
            call.query.iter().filter(|(name, _)| *name == *"command").map(|(_, value)| ("command", value.as_str()));
        let streams = [("stderr", "error"), ("stdin", "input"), ("stdout", "output"), ("tty", "tty")];
        let asked = streams.iter().filter_map(|(name, own)| {
            call.parameter(name).filter(|value| **value == *"true" || **value == *"1").map(|_| (*own, "1"))
        });
        self.kubelet_place(info, &node, with_query(path, commands.chain(asked)))
    }

    fn kubelet_place(&self, info: &RequestInfo, node: &str, path: String) -> Result<RelayPlace, Answer> {
        let (host, port) = self.kubelet_of(&info.kind.resource, node)?;
        Ok(RelayPlace { is_tls: true, host, port: Some(port), path, is_kubelet: true })
    }

    /// Source: pkg/registry/core/node/strategy.go (v1.34), `ResourceLocation`.
    fn node_place(&self, info: &RequestInfo) -> Result<RelayPlace, Answer> {
        let (scheme, name, port) = parts_of(&info.name);
        let (host, own) = self.kubelet_of(&info.kind.resource, name)?;
        if port.is_empty() || port == format!("{own}") {
            return Ok(RelayPlace { is_tls: true, host, port: Some(own), path: String::new(), is_kubelet: true });
        }
        plain_place(scheme, host, port)
    }

    /// Source: pkg/registry/core/pod/strategy.go (v1.34), `ResourceLocation`.
    fn pod_place(&self, info: &RequestInfo) -> Result<RelayPlace, Answer> {
        let (scheme, name, port) = parts_of(&info.name);
        let pod = self.found(info, &Text::from(name))?;
        let tree = pod.json();
        let ip = tree.at(&["status", "podIP"]).as_text().cloned().unwrap_or_default();
        if ip.is_empty() {
            return Err(status::bad_request("address not allowed"));
        }
        let containers = tree.at(&["spec", "containers"]).items();
        let first = containers.iter().flat_map(|container| container.get("ports").items()).next();
        let first = first.and_then(|port| port.get("containerPort").as_i64()).map(|port| format!("{port}"));
        let port = if port.is_empty() { first.unwrap_or_default() } else { String::from(port) };
        plain_place(scheme, ip, &port)
    }

    /// Source: pkg/registry/core/service/storage/storage.go (v1.34), `ResourceLocation`.
    fn service_place(&self, info: &RequestInfo) -> Result<RelayPlace, Answer> {
        let (scheme, name, port) = parts_of(&info.name);
        let service = self.found(info, &Text::from(name))?;
        let ports = service.stable().at(&["spec", "ports"]).items();
        let unavailable = |message: String| status::failure(503, "ServiceUnavailable", &message, None);
        let wanted = match port.parse::<i64>() {
            Ok(number) => {
                let named = ports.iter().find(|own| own.get("port").as_i64() == Some(number));
                let none = || unavailable(format!("no service port {number} found for service {name:?}"));
                String::from(named.ok_or_else(none)?.get("name").as_str().unwrap_or(""))
            }
            Err(_) => String::from(port),
        };
        let slices = self.objects(&ENDPOINT_SLICES).into_iter().filter(|slice| {
            let labels = slice.stable().at(&["metadata", "labels"]);
            slice.key().namespace == info.namespace && labels.get(SERVICE_NAME).as_str() == Some(name)
        });
        let slices: Vec<Json> = slices.map(|slice| slice.json()).collect();
        if slices.iter().all(|slice| slice.get("endpoints").is_empty()) {
            return Err(unavailable(format!("no endpoints available for service {name:?}")));
        }
        let found = slices.iter().find_map(|slice| {
            let port =
                slice.get("ports").items().iter().find(|own| own.get("name").as_str().unwrap_or("") == wanted)?;
            let ready = |own: &&Json| own.at(&["conditions", "ready"]).as_bool() != Some(false);
            let endpoint = slice.get("endpoints").items().iter().find(ready)?;
            Some((endpoint.get("addresses").items().first()?.as_text()?.clone(), port.get("port").as_i64()?))
        });
        let (host, port) =
            found.ok_or_else(|| unavailable(format!("no endpoints available for service {:?}", info.name.as_str())))?;
        plain_place(scheme, host, &format!("{port}"))
    }
}

/// A place that is reached without credentials; over TLS only if the name asks for it. What is no number is no port of
/// a URL: then Go takes it for a part of the host's name.
///
/// # Errors
/// The answer for a port that no address has. Source: Go's net/dial.go, `parsePort`, and net/url, `splitHostPort`.
fn plain_place(scheme: &str, host: Text, port: &str) -> Result<RelayPlace, Answer> {
    let number = port.parse().ok();
    let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let host = match number {
        None if is_number => return Err(proxy_answer(Err(format!("dial tcp: address {port}: invalid port")))),
        None if !port.is_empty() => Text::from(format!("{host}:{port}")),
        _ => host,
    };
    Ok(RelayPlace { is_tls: scheme == "https", host, port: number, path: String::new(), is_kubelet: false })
}

/// Splits `[scheme:]name[:port]`. Source: k8s.io/apimachinery pkg/util/net/port_split.go (v1.34).
fn parts_of(id: &str) -> (&str, &str, &str) {
    let parts: Vec<&str> = id.split(':').collect();
    match parts.as_slice() {
        [name] => ("", name, ""),
        [name, port] => ("", name, port),
        [scheme, name, port] => (scheme, name, port),
        _ => ("", id, ""),
    }
}

/// Returns what follows `/proxy` in a request.
fn tail(call: &Call) -> String {
    let whole = call.header_value(WHOLE_PATH).map_or("", |path| path.as_str());
    let rest = whole.split_once("/proxy").map_or("", |(_, rest)| rest);
    if rest.starts_with('/') { String::from(rest) } else { format!("/{rest}") }
}

fn node_of(pod: &Object) -> Text {
    pod.stable().at(&["spec", "nodeName"]).as_text().cloned().unwrap_or_default()
}

/// Source: pkg/registry/core/pod/strategy.go (v1.34), `validateContainer`.
fn container_of(pod: &Object, named: Option<&str>) -> Result<Text, Answer> {
    let spec = pod.stable().get("spec");
    let names = |list: &str| -> Vec<&Text> {
        spec.get(list).items().iter().filter_map(|own| own.get("name").as_text()).collect()
    };
    let joined = |list: &[&Text]| list.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" ");
    let (own, first, debug) = (names("containers"), names("initContainers"), names("ephemeralContainers"));
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        let mut all = own.iter().chain(&first).chain(&debug);
        let none = || status::bad_request(&format!("container {named} is not valid for pod {}", pod.name()));
        return all.find(|name| ***name == *named).map(|name| (*name).clone()).ok_or_else(none);
    }
    match own.as_slice() {
        [only] => Ok((*only).clone()),
        [] => Err(status::bad_request(&format!("a container name must be specified for pod {}", pod.name()))),
        _ => {
            let all: Vec<&Text> = first.into_iter().chain(own).chain(debug).collect();
            let why =
                format!("a container name must be specified for pod {}, choose one of: [{}]", pod.name(), joined(&all));
            Err(status::bad_request(&why))
        }
    }
}

fn with_query<'a>(path: String, parameters: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut path = path;
    for (at, (name, value)) in parameters.enumerate() {
        path = format!("{path}{}{name}={value}", if at == 0 { '?' } else { '&' });
    }
    path
}

/// Source: k8s.io/apiserver pkg/registry/generic/rest/response_checker.go (v1.34), `Check`, and
/// k8s.io/apimachinery pkg/api/errors/errors.go (v1.34), `NewGenericServerResponse`.
fn log_answer(call: &HttpCall, (resource, name): &(Text, Text), outcome: HttpOutcome) -> Answer {
    let answer = match outcome {
        Err(why) => return status::untyped(&format!("Get \"{}\": {why}", call.url())),
        Ok(answer) => answer,
    };
    let body = answer.body.as_str();
    let (reason, message) = match answer.code {
        200..=206 => return Answer { code: answer.code, headers: Vec::new(), content: Content::Text(answer.body) },
        400 => return status::bad_request(body),
        500 => return status::failure(500, "InternalError", &format!("Internal error occurred: {body}"), None),
        401 => ("Unauthorized", "the server has asked for the client to provide credentials"),
        403 => ("Forbidden", body),
        404 => ("NotFound", "the server could not find the requested resource"),
        405 => ("MethodNotAllowed", body),
        _ => ("", "unknown"),
    };
    let details = json!({"name": name.as_str(), "kind": resource.as_str()});
    status::failure(answer.code, reason, &format!("{message} ( {resource} {name})"), Some(details))
}

/// Source: k8s.io/apimachinery pkg/util/proxy/{dial,upgradeaware}.go (v1.34), `tryUpgrade`.
fn stream_answer(outcome: HttpOutcome) -> Answer {
    match outcome {
        Err(why) => status::untyped(&format!("error dialing backend: {why}")),
        Ok(answer) => Answer { code: answer.code, headers: Vec::new(), content: Content::Text(answer.body) },
    }
}

/// Source: k8s.io/apimachinery pkg/util/proxy/transport.go (v1.34), `RoundTrip`.
fn proxy_answer(outcome: HttpOutcome) -> Answer {
    match outcome {
        Err(why) => {
            let text = format!("error trying to reach service: {why}");
            Answer { code: 503, headers: Vec::new(), content: Content::Text(Text::from(text)) }
        }
        Ok(answer) => {
            let content = match Json::parse(&answer.body) {
                Ok(body) if *answer.media_type == *"application/json" => Content::Json(body),
                _ => Content::Text(answer.body),
            };
            Answer { code: answer.code, headers: Vec::new(), content }
        }
    }
}
