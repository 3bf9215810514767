//! Builds the HTTP request of a call of the core: address, headers and body.
//!
//! Mirrors k8s.io/client-go rest/request.go (v1.34) as far as the core's calls need it, with JSON in place of protobuf.
//! Input: a call. Output: a request without the user, which the sender adds. Pure.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::request::Builder;
use nodeproof_core::network::http::WHOLE_PATH;
use nodeproof_core::network::{Body, Call, Target, Verb};

/// Begins a request: method, address and headers of the call. `origin` is the server's address; empty for a client that
/// adds its own.
pub(super) fn begun(origin: &str, call: &Call) -> Builder {
    let mut request = Builder::new().method(call.verb.method()).uri(address(origin, call));
    for (name, value) in call.headers.iter().filter(|(name, _)| *name != *WHOLE_PATH) {
        request = request.header(name.as_str(), value.as_str());
    }
    if call.header_value("accept").is_none() {
        request = request.header(ACCEPT, "application/json");
    }
    let is_empty = matches!(&call.body, Body::Empty) || matches!(&call.body, Body::Raw(text) if text.is_empty());
    if !is_empty && call.header_value("content-type").is_none() {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    request
}

/// Returns the body's bytes.
pub(super) fn body(call: &Call) -> Bytes {
    match &call.body {
        Body::Empty | Body::TooLong | Body::Unread { .. } => Bytes::new(),
        Body::Json(json) => Bytes::from(json.to_string()),
        Body::Raw(text) => Bytes::from(text.clone()),
    }
}

fn address(origin: &str, call: &Call) -> String {
    let mut address = String::from(origin);
    match &call.target {
        Target::Path(path) => escape(path, "/", &mut address),
        Target::Resource { resource, namespace, name, subresource } => {
            escape(&resource.path(namespace), "/", &mut address);
            for part in [name, subresource].into_iter().filter(|part| !part.is_empty()) {
                address.push('/');
                escape(part, "", &mut address);
            }
            // What is asked of the server behind a proxy stands as it was written; the query is the call's own.
            let whole = call.header_value(WHOLE_PATH).and_then(|path| path.split('?').next()?.split_once("/proxy"));
            address.push_str(whole.map_or("", |(_, rest)| rest));
        }
    }
    let is_implied = call.verb == Verb::Watch && call.parameter("watch").is_none();
    let query = call.query.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (at, (name, value)) in query.chain(is_implied.then_some(("watch", "true"))).enumerate() {
        address.push(if at == 0 { '?' } else { '&' });
        escape(name, "", &mut address);
        address.push('=');
        escape(value, "", &mut address);
    }
    address
}

/// Escapes everything but the unreserved characters of RFC 3986, the colon of a user's name, and those in `also`.
fn escape(text: &str, also: &str, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        let letter = char::from(byte);
        if letter.is_ascii_alphanumeric() || "-._~:".contains(letter) || also.contains(letter) {
            out.push(letter);
        } else {
            out.push('%');
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use nodeproof_core::json;
    use nodeproof_core::network::{Call, LEASES, NODE_LEASES, NODES, PODS, Verb};

    use super::begun;

    #[test]
    fn calls_become_requests() {
        let patch = Call::strategic_patch(NODES, "", "w1", json!({"a": 1})).subresource("status");
        let pods = Call::new(Verb::Watch, PODS, "", "").query("fieldSelector", "spec.nodeName=w 1");
        let cases = [
            (patch, "PATCH https://h:1/api/v1/nodes/w1/status", Some("application/strategic-merge-patch+json")),
            (pods, "GET https://h:1/api/v1/pods?fieldSelector=spec.nodeName%3Dw%201&watch=true", None),
            (
                Call::new(Verb::Update, LEASES, NODE_LEASES, "w1").body(json!({})),
                "PUT https://h:1/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/w1",
                Some("application/json"),
            ),
            (Call::new(Verb::Get, NODES, "", "a/b?"), "GET https://h:1/api/v1/nodes/a%2Fb%3F", None),
            (
                Call::from_http("GET", "/api/v1/nodes/w1/proxy/logs/a%2Fb?x=1", &[], "").unwrap(),
                "GET https://h:1/api/v1/nodes/w1/proxy/logs/a%2Fb?x=1",
                None,
            ),
        ];
        for (call, line, kind) in cases {
            let request = begun("https://h:1", &call).body(()).unwrap();
            assert_eq!(format!("{} {}", request.method(), request.uri()), line);
            assert_eq!(request.headers().get("content-type").map(|value| value.to_str().unwrap()), kind, "{line}");
        }
    }
}
