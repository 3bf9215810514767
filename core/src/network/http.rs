//! Reads HTTP requests of the Kubernetes API: method, path and query, headers, body.
//!
//! Mirrors k8s.io/apiserver pkg/endpoints/request/requestinfo.go (v1.34) and what installer.go routes. Pure: text in, a
//! [`Call`] or the server's refusal out. Bodies may be JSON, YAML or protobuf.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::kinds::{self, KINDS};
use super::{Answer, Body, Call, Content, PROTOBUF, Resource, Target, Verb};
use crate::json;
use crate::objects::{Json, Text, protobuf, without_depths, yaml};

/// Largest body in bytes. Source: k8s.io/apiserver pkg/server/config.go (v1.34), `MaxRequestBodyBytes`.
pub const MAX_BODY: usize = 3 * 1024 * 1024;

/// How much of a body a message quotes. Source: k8s.io/apiserver pkg/endpoints/handlers/create.go (v1.34).
const QUOTED: usize = 30;

/// The header that holds path and query of a request that is to be proxied, as in HTTP/2 (RFC 9113, 8.3.1).
pub const WHOLE_PATH: &str = ":path";

impl Call {
    /// Reads a request.
    ///
    /// Header names are taken in any case. A body that is not JSON becomes [`Body::Raw`], and the server reports what
    /// is wrong with it.
    ///
    /// # Errors
    /// Path or method cannot be served: the server's answer.
    pub fn from_http(
        method: &str,
        path_and_query: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Self, Box<Answer>> {
        let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
        let query: Vec<(Text, Text)> = parse_query(query);
        let is_too_long = body.len() > MAX_BODY;
        let text = (!body.is_empty() && !is_too_long).then(|| Text::from(body));
        let headers: Vec<(Text, Text)> =
            headers.iter().map(|(name, value)| (Text::from(name.to_lowercase()), Text::from(*value))).collect();
        let media = headers.iter().find(|(name, _)| *name == *"content-type");
        let body = if body.is_empty() {
            Body::Empty
        } else if is_too_long {
            Body::TooLong
        } else if media.is_some_and(|(_, value)| value.contains("yaml")) {
            read_yaml(body)
        } else {
            let read = Json::parse(body).ok().or_else(|| Json::parse(&without_depths(body)?).ok());
            read.map_or_else(|| Body::Raw(body.to_string()), Body::Json)
        };
        // An encoded slash separates parts too: the path is decoded before it is taken apart.
        let decoded = decode(path, false);
        let mut parts: Vec<&str> = decoded.split('/').skip(1).collect();
        // The old form of a watch has it in the path: /api/v1/watch/nodes.
        let at = if parts.first() == Some(&"api") { 2 } else { 3 };
        let watches = method == "GET" && parts.get(at) == Some(&"watch") && parts.len() > at + 1;
        if watches {
            parts.remove(at);
        }
        let target = target(path, &parts).ok_or_else(|| {
            let message = "the server could not find the requested resource";
            refusal(404, "NotFound", message, Some(Json::object()))
        })?;
        let verb = verb(method, &target, &query).ok_or_else(|| {
            let message = "the server does not allow this method on the requested resource";
            refusal(405, "MethodNotAllowed", message, Some(Json::object()))
        })?;
        let verb = if watches { Verb::Watch } else { verb };
        let mut headers = headers;
        // What is proxied needs the whole path, which a target does not hold.
        if matches!(&target, Target::Resource { subresource, .. } if *subresource == *"proxy") {
            headers.push((Text::of(WHOLE_PATH), Text::from(path_and_query)));
        }
        Ok(Self { verb, target, query, headers, body, text })
    }
}

/// Reads a body in YAML; one that is JSON may have what YAML does not know, as pairs of surrogates.
fn read_yaml(body: &str) -> Body {
    match (yaml::read(body), Json::parse(body)) {
        (Ok(document), _) => Body::Json(document.value),
        (Err(_), Ok(tree)) => Body::Json(tree),
        (Err(error), Err(_)) => Body::Unread { why: error.to_string(), quoted: quoted(body) },
    }
}

impl Call {
    /// Reads a request whose body may be protobuf, as its media type says.
    ///
    /// # Errors
    /// As those of [`Self::from_http`].
    pub fn from_http_bytes(
        method: &str,
        path_and_query: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Self, Box<Answer>> {
        let media = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let media = media.map_or("", |(_, value)| value.split(';').next().unwrap_or("").trim());
        if body.is_empty() || body.len() > MAX_BODY || !media.eq_ignore_ascii_case(PROTOBUF) {
            return Self::from_http(method, path_and_query, headers, &String::from_utf8_lossy(body));
        }
        let mut call = Self::from_http(method, path_and_query, headers, "")?;
        let expected = match &call.target {
            Target::Resource { resource, .. } if call.verb != Verb::Delete => {
                kinds::find(resource).map(|kind| KINDS[kind].name)
            }
            _ => Some("DeleteOptions"),
        };
        call.body = match protobuf::decode(body, expected) {
            Ok(object) => Body::Json(object),
            Err(error) => Body::Unread { why: error.0, quoted: quoted_bytes(body) },
        };
        Ok(call)
    }
}

/// Returns the beginning of a text as messages show it: as it is if it looks like JSON, else in hexadecimal digits.
/// Source: k8s.io/apiserver pkg/endpoints/handlers/rest.go (v1.34), `summarizeData`.
#[must_use]
pub fn quoted(body: &str) -> String {
    if body.is_empty() {
        return "<empty>".to_string();
    }
    if !body.starts_with('{') {
        return quoted_bytes(body.as_bytes());
    }
    let shown = &body.as_bytes()[..body.len().min(QUOTED)];
    let dots = if body.len() > QUOTED { " ..." } else { "" };
    String::from_utf8_lossy(shown).into_owned() + dots
}

fn quoted_bytes(body: &[u8]) -> String {
    let shown = &body[..body.len().min(QUOTED)];
    let dots = if body.len() > QUOTED { " ..." } else { "" };
    shown.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + dots
}

fn refusal(code: u16, reason: &str, message: &str, details: Option<Json>) -> Box<Answer> {
    let mut status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code});
    if let Some(details) = details {
        status.set(&["details"], details);
    }
    Box::new(Answer { code, headers: Vec::new(), content: Content::Json(status) })
}

fn parse_query(query: &str) -> Vec<(Text, Text)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (Text::from(decode(name, true)), Text::from(decode(value, true)))
        })
        .collect()
}

/// Decodes `%2F` and, in a query, `+`; anything that is not an escape stays as it is.
fn decode(text: &str, in_query: bool) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digit = |offset: usize| bytes.get(at + offset).and_then(|byte| char::from(*byte).to_digit(16));
        match (bytes[at], digit(1), digit(2)) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                at += 2;
            }
            (b'+', ..) if in_query => out.push(b' '),
            (byte, ..) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Finds out what a path means; `None` for a path below a group that cannot be a resource.
fn target(path: &str, parts: &[&str]) -> Option<Target> {
    let (group, version, rest) = match parts {
        ["api", version, rest @ ..] if !rest.is_empty() => ("", *version, rest),
        ["apis", group, version, rest @ ..] if !rest.is_empty() => (*group, *version, rest),
        _ => return Some(Target::Path(Text::from(path))),
    };
    let rest = match rest {
        [rest @ .., ""] => rest,
        rest => rest,
    };
    let resource =
        |plural: &str| Resource { group: Text::from(group), version: Text::from(version), plural: Text::from(plural) };
    let found = |plural: &str, namespace: &str, name: &str, subresource: &str| {
        Some(Target::Resource {
            resource: resource(plural),
            namespace: Text::from(namespace),
            name: Text::from(name),
            subresource: Text::from(subresource),
        })
    };
    match rest {
        [] => Some(Target::Path(Text::from(path))),
        ["namespaces"] => found("namespaces", "", "", ""),
        ["namespaces", name] => found("namespaces", "", name, ""),
        ["namespaces", name, subresource @ ("status" | "finalize")] => found("namespaces", "", name, subresource),
        ["namespaces", namespace, plural] => found(plural, namespace, "", ""),
        ["namespaces", namespace, plural, name] => found(plural, namespace, name, ""),
        ["namespaces", namespace, plural, name, subresource] => found(plural, namespace, name, subresource),
        ["namespaces", namespace, plural, name, "proxy", ..] => found(plural, namespace, name, "proxy"),
        [plural] => found(plural, "", "", ""),
        [plural, name] => found(plural, "", name, ""),
        [plural, name, subresource] => found(plural, "", name, subresource),
        [plural, name, "proxy", ..] => found(plural, "", name, "proxy"),
        _ => None,
    }
}

/// Tells whether a path belongs to a web service upstream, which takes GET alone; most handlers of other paths ignore
/// the method.
fn is_web_service(path: &str) -> bool {
    matches!(path.trim_end_matches('/'), "/api" | "/version" | "/.well-known/openid-configuration" | "/openid/v1/jwks")
        || path.starts_with("/api/")
        || path.starts_with("/apis/") && path.len() > "/apis/".len()
}

fn verb(method: &str, target: &Target, query: &[(Text, Text)]) -> Option<Verb> {
    let on_collection = matches!(target, Target::Resource { name, .. } if name.is_empty());
    // Source: k8s.io/apimachinery pkg/runtime/conversion.go (v1.34): anything but "false" and "0" is true.
    let watch = query.iter().any(|(name, value)| *name == "watch" && !matches!(value.as_str(), "false" | "0"));
    match method {
        "GET" if on_collection && watch => Some(Verb::Watch),
        "GET" if on_collection => Some(Verb::List),
        "GET" => Some(Verb::Get),
        "HEAD" if matches!(target, Target::Path(path) if !is_web_service(path)) => Some(Verb::Get),
        "HEAD" => None,
        "POST" => Some(Verb::Create),
        "PUT" => Some(Verb::Update),
        "PATCH" => Some(Verb::Patch),
        "DELETE" if on_collection => Some(Verb::DeleteCollection),
        "DELETE" => Some(Verb::Delete),
        // Most handlers of paths without resource ignore the method.
        _ if matches!(target, Target::Path(_)) => Some(Verb::Create),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use crate::json;
    use crate::network::{Body, Call, Target, Verb};

    fn read(method: &str, path: &str) -> Call {
        Call::from_http(method, path, &[], "").unwrap()
    }

    #[test]
    fn paths_mean_resources() {
        let cases = [
            ("GET", "/api/v1/nodes", "LIST nodes"),
            ("GET", "/api/v1/nodes?watch=1&resourceVersion=7", "WATCH nodes?watch=1&resourceVersion=7"),
            ("GET", "/api/v1/nodes?watch=false", "LIST nodes?watch=false"),
            ("GET", "/api/v1/nodes/n1?watch=true", "GET nodes/n1?watch=true"),
            ("PATCH", "/api/v1/nodes/n1/status", "PATCH nodes/n1/status"),
            ("POST", "/api/v1/namespaces/ns/pods/p/binding", "POST pods/ns/p/binding"),
            ("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", "LIST pods?fieldSelector=spec.nodeName=n1"),
            ("DELETE", "/api/v1/namespaces/ns/pods", "DELETE pods/ns"),
            ("GET", "/api/v1/namespaces/ns", "GET namespaces/ns"),
            ("PUT", "/api/v1/namespaces/ns/finalize", "PUT namespaces/ns/finalize"),
            ("GET", "/apis/coordination.k8s.io/v1/namespaces/a/leases/l", "GET leases/a/l"),
            ("GET", "/version?timeout=5s", "GET /version?timeout=5s"),
            ("GET", "/api/v1", "GET /api/v1"),
            ("GET", "/api/v1/", "GET /api/v1/"),
        ];
        for (method, path, sentence) in cases {
            assert_eq!(read(method, path).to_string(), sentence, "{method} {path}");
        }
    }

    #[test]
    fn what_is_no_json_stays_for_the_server_to_refuse() {
        let call = Call::from_http("POST", "/api/v1/nodes", &[("Content-Type", "application/json")], "{").unwrap();
        assert_eq!(call.body, Body::Raw("{".to_string()));
        assert_eq!(call.header_value("content-type").map(|value| value.as_str()), Some("application/json"));
        let call = Call::from_http("POST", "/api/v1/nodes", &[], "{\"a\": 1}").unwrap();
        assert_eq!((call.verb, call.body), (Verb::Create, Body::Json(json!({"a": 1}))));
        assert!(matches!(call.target, Target::Resource { .. }));
    }

    #[test]
    fn a_body_in_protobuf_becomes_the_object_that_it_holds() {
        let read = |body: &[u8]| {
            let headers = [("Content-Type", "application/vnd.kubernetes.protobuf")];
            Call::from_http_bytes("POST", "/api/v1/nodes", &headers, body).unwrap().body
        };
        let node = b"k8s\0\x0a\x0a\x0a\x02v1\x12\x04Node\x12\x06\x0a\x04\x0a\x02n1\x1a\0\x22\0";
        assert_eq!(read(node), Body::Json(json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}})));
        let unread = Body::Unread { why: "unexpected EOF".into(), quoted: "6b387300ffffff".into() };
        assert_eq!(read(b"k8s\0\xff\xff\xff"), unread);
    }

    #[test]
    fn a_body_that_is_too_long_is_not_kept() {
        let call = Call::from_http("POST", "/api/v1/nodes", &[], &"x".repeat(super::MAX_BODY + 1)).unwrap();
        assert_eq!((call.body, call.text), (Body::TooLong, None));
    }

    #[test]
    fn unknown_methods_and_too_deep_paths_are_refused() {
        for path in ["/api/v1/nodes", "/version", "/api", "/apis/apps"] {
            assert_eq!(Call::from_http("HEAD", path, &[], "").unwrap_err().code, 405, "{path}");
        }
        assert_eq!(Call::from_http("HEAD", "/healthz", &[], "").unwrap().verb, Verb::Get);
        assert_eq!(Call::from_http("GET", "/api/v1/nodes/n1/status/x", &[], "").unwrap_err().code, 404);
    }
}
