//! Reads HTTP requests of the Kubernetes API: method, path and query, headers, body.
//!
//! Mirrors k8s.io/apiserver pkg/endpoints/request/requestinfo.go (v1.34) and what installer.go routes. Pure: text in, a
//! [`Call`] or the server's refusal out. Bodies may be JSON, YAML or protobuf.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::kinds;
use super::{Answer, Body, Call, Content, PROTOBUF, Resource, Target, Verb};
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
    /// The path cannot be read: the server's answer. One that cannot be served is refused later, by a server that knows
    /// who asks.
    pub fn from_http(
        method: &str,
        path_and_query: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Self, Box<Answer>> {
        if headers.iter().any(|(name, _)| !is_header_name(name)) {
            return Err(bad_path());
        }
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
            let read = Json::parse(body).ok().or_else(|| Json::parse(&without_depths(body).ok()?).ok());
            read.map_or_else(|| Body::Raw(body.to_string()), Body::Json)
        };
        // An encoded slash separates parts too: the path is decoded before it is taken apart.
        let decoded = decode(path, false).ok_or_else(bad_path)?;
        let mut parts: Vec<&str> = decoded.split('/').skip(1).collect();
        // The old form of a watch has it in the path: /api/v1/watch/nodes.
        let at = if parts.first() == Some(&"api") { 2 } else { 3 };
        let is_below_watch = ["api", "apis"].contains(parts.first().unwrap_or(&"")) && parts.get(at) == Some(&"watch");
        if is_below_watch && parts[at + 1..].iter().all(|part| part.is_empty()) {
            return Err(no_kind_in(path));
        }
        let watches = method == "GET" && is_below_watch;
        if watches {
            parts.remove(at);
        }
        let target = target(path, &parts);
        let verb = verb(method, &target, &query);
        let method = Text::from(if METHODS.contains(&method) { "" } else { method });
        let verb = if watches { Verb::Watch } else { verb };
        let mut headers = headers;
        // What is proxied needs the whole path, which a target does not hold.
        if matches!(&target, Target::Resource { subresource, .. } if *subresource == *"proxy") {
            headers.push((Text::of(WHOLE_PATH), Text::from(path_and_query)));
        }
        Ok(Self { verb, method, target, query, headers, body, text })
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
            Target::Resource { resource, .. } if call.verb != Verb::Delete => kinds::kind_of(resource),
            _ => Some("DeleteOptions"),
        };
        call.body = match protobuf::decode(body, expected) {
            Ok(object) => Body::Json(object),
            Err(error) => Body::Unread { why: error.0, quoted: quoted_sent(body) },
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

fn quoted_sent(body: &[u8]) -> String {
    if body.first() == Some(&b'{') { quoted(&String::from_utf8_lossy(body)) } else { quoted_bytes(body) }
}

fn quoted_bytes(body: &[u8]) -> String {
    let shown = &body[..body.len().min(QUOTED)];
    let dots = if body.len() > QUOTED { " ..." } else { "" };
    shown.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + dots
}

fn in_text(code: u16, text: String, nosniff: bool) -> Box<Answer> {
    let mut headers = Vec::from([(Text::of("Content-Type"), Text::of("text/plain; charset=utf-8"))]);
    if nosniff {
        headers.push((Text::of("X-Content-Type-Options"), Text::of("nosniff")));
    }
    Box::new(Answer { code, headers, content: Content::Text(Text::from(text)) })
}

/// Refuses a path with a wrong escape. Source: Go's net/http server.go (1.24), `badRequestError`.
fn bad_path() -> Box<Answer> {
    in_text(400, "400 Bad Request".to_string(), false)
}

/// Source: k8s.io/apiserver pkg/endpoints/{filters/requestinfo.go,request/requestinfo.go} (v1.34).
fn no_kind_in(path: &str) -> Box<Answer> {
    let why = format!("failed to create RequestInfo: unable to determine kind and namespace from url, {path}");
    in_text(500, format!("Internal Server Error: {path:?}: {why}\n"), true)
}

/// Tells whether a header can have this name. Source: Go's net/textproto reader.go (1.24), `validHeaderFieldByte`.
fn is_header_name(name: &str) -> bool {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    // What HTTP/2 has in place of the request line begins with a colon.
    !name.is_empty() && name.strip_prefix(':').unwrap_or(name).bytes().all(is_good)
}

/// Reads a query. A pair with a semicolon or a wrong escape is left out: Go's net/url (1.24), `parseQuery`.
fn parse_query(query: &str) -> Vec<(Text, Text)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.contains(';'))
        .filter_map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((Text::from(decode(name, true)?), Text::from(decode(value, true)?)))
        })
        .collect()
}

/// Decodes `%2F` and, in a query, `+`; nothing if an escape is wrong.
#[must_use]
pub fn decode(text: &str, in_query: bool) -> Option<String> {
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
            (b'%', ..) => return None,
            (b'+', ..) if in_query => out.push(b' '),
            (byte, ..) => out.push(byte),
        }
        at += 1;
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

/// Finds out what a path means. A path that goes on behind a subresource has all of that as its subresource.
fn target(path: &str, parts: &[&str]) -> Target {
    let (group, version, rest) = match parts {
        ["api", version, rest @ ..] if !rest.is_empty() => ("", *version, rest),
        ["apis", group, version, rest @ ..] if !rest.is_empty() => (*group, *version, rest),
        _ => return Target::Path(Text::from(path)),
    };
    let rest = match rest {
        [rest @ .., ""] => rest,
        rest => rest,
    };
    let resource =
        |plural: &str| Resource { group: Text::from(group), version: Text::from(version), plural: Text::from(plural) };
    let found = |plural: &str, namespace: &str, name: &str, subresource: &str| Target::Resource {
        resource: resource(plural),
        namespace: Text::from(namespace),
        name: Text::from(name),
        subresource: Text::from(subresource),
    };
    match rest {
        [] => Target::Path(Text::from(path)),
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
        ["namespaces", namespace, plural, name, rest @ ..] => found(plural, namespace, name, &rest.join("/")),
        [plural, name, rest @ ..] => found(plural, "", name, &rest.join("/")),
    }
}

/// The methods that verbs have.
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

fn verb(method: &str, target: &Target, query: &[(Text, Text)]) -> Verb {
    let on_collection = matches!(target, Target::Resource { name, .. } if name.is_empty());
    // Source: k8s.io/apimachinery pkg/runtime/conversion.go (v1.34): anything but "false" and "0" is true.
    let watch = query.iter().any(|(name, value)| *name == "watch" && !matches!(value.as_str(), "false" | "0"));
    match method {
        "GET" | "HEAD" if on_collection && watch => Verb::Watch,
        "GET" | "HEAD" if on_collection => Verb::List,
        "GET" | "HEAD" => Verb::Get,
        "PUT" => Verb::Update,
        "PATCH" => Verb::Patch,
        "DELETE" if on_collection => Verb::DeleteCollection,
        "DELETE" => Verb::Delete,
        _ => Verb::Create,
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
    fn what_has_no_verb_keeps_its_method() {
        for (method, path, kept, verb) in [
            ("HEAD", "/api/v1/nodes", "HEAD", Verb::List),
            ("HEAD", "/healthz", "HEAD", Verb::Get),
            ("OPTIONS", "/api/v1/nodes/n1", "OPTIONS", Verb::Create),
            ("DELETE", "/api/v1/nodes/n1", "", Verb::Delete),
        ] {
            let call = read(method, path);
            assert_eq!((call.method.as_str(), call.verb), (kept, verb), "{method} {path}");
        }
        assert_eq!(read("GET", "/api/v1/nodes/n1/status/x/y").to_string(), "GET nodes/n1/status/x/y");
    }

    #[test]
    fn what_cannot_be_read_is_refused_at_once() {
        for (path, code) in [("/api/v1/nodes/%zz", 400), ("/api/v1/nodes/%", 400), ("/apis/apps/v1/watch/", 500)] {
            assert_eq!(Call::from_http("GET", path, &[], "").unwrap_err().code, code, "{path}");
        }
        assert_eq!(read("GET", "/api/v1/nodes?a;b=1&c=%zz&d=%20").query, [("d".into(), " ".into())]);
    }
}
