//! Reads HTTP requests of the Kubernetes API: method, path and query, headers, body.
//!
//! Mirrors k8s.io/apiserver pkg/endpoints/request/requestinfo.go (v1.34) and what installer.go routes. Pure: text in, a
//! [`Call`] or the server's refusal out. Left out on purpose: protobuf bodies, and YAML bodies, which the caller
//! converts to JSON.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Answer, Body, Call, Content, Resource, Target, Verb};
use crate::json;
use crate::objects::{Json, Text};

/// Largest body in bytes. Source: k8s.io/apiserver pkg/server/config.go (v1.34), `MaxRequestBodyBytes`.
pub const MAX_BODY: usize = 3 * 1024 * 1024;

/// The header that holds path and query of a request that is to be proxied, as in HTTP/2 (RFC 9113, 8.3.1).
pub const WHOLE_PATH: &str = ":path";

impl Call {
    /// Reads a request.
    ///
    /// Header names are taken in any case. A body that is not JSON becomes [`Body::Raw`], and the server reports what
    /// is wrong with it.
    ///
    /// # Errors
    /// The body is too large, or path or method cannot be served: the server's answer.
    pub fn from_http(
        method: &str,
        path_and_query: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Self, Box<Answer>> {
        let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
        let query: Vec<(Text, Text)> = parse_query(query);
        if body.len() > MAX_BODY {
            let message = "Request entity too large: limit is 3145728";
            return Err(refusal(413, "RequestEntityTooLarge", message, None));
        }
        let headers =
            headers.iter().map(|(name, value)| (Text::from(name.to_lowercase()), Text::from(*value))).collect();
        let body = if body.is_empty() {
            Body::Empty
        } else {
            Json::parse(body).map_or_else(|_| Body::Raw(body.to_string()), Body::Json)
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
        let mut headers: Vec<(Text, Text)> = headers;
        // What is proxied needs the whole path, which a target does not hold.
        if matches!(&target, Target::Resource { subresource, .. } if *subresource == *"proxy") {
            headers.push((Text::of(WHOLE_PATH), Text::from(path_and_query)));
        }
        Ok(Self { verb, target, query, headers, body })
    }
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

fn verb(method: &str, target: &Target, query: &[(Text, Text)]) -> Option<Verb> {
    let on_collection = matches!(target, Target::Resource { name, .. } if name.is_empty());
    // Source: k8s.io/apimachinery pkg/runtime/conversion.go (v1.34): anything but "false" and "0" is true.
    let watch = query.iter().any(|(name, value)| *name == "watch" && !matches!(value.as_str(), "false" | "0"));
    match method {
        "GET" if on_collection && watch => Some(Verb::Watch),
        "GET" if on_collection => Some(Verb::List),
        "GET" => Some(Verb::Get),
        "HEAD" if matches!(target, Target::Path(_)) => Some(Verb::Get),
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
    fn unknown_methods_and_too_deep_paths_are_refused() {
        assert_eq!(Call::from_http("HEAD", "/api/v1/nodes", &[], "").unwrap_err().code, 405);
        assert_eq!(Call::from_http("GET", "/api/v1/nodes/n1/status/x", &[], "").unwrap_err().code, 404);
    }
}
