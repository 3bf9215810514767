//! Converts the core's calls to HTTP requests, and HTTP answers and lines of a watch to the core's messages.
//!
//! Inputs: calls, bytes. Outputs: requests, answers, events. Pure.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, header};
use http_body_util::Full;
use nodeproof_core::network::{Answer, Call, Content, List, WatchType};
use nodeproof_core::objects::{Json, Object, Text};

use crate::live::request::{begun, body};

/// The origin and the common headers of a client's requests.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// `https://127.0.0.1:6443`.
    pub(super) origin: String,
    /// `User-Agent`; the field manager is what stands before its first slash.
    pub(super) agent: HeaderValue,
    /// `Authorization` and impersonation, if the connection does not carry the identity.
    pub(super) identity: HeaderMap,
}

/// Writes a call as an HTTP request.
///
/// # Errors
/// The call cannot be written as a request: control characters in a path or header.
pub(super) fn request(call: &Call, head: &Head) -> Result<Request<Full<Bytes>>, http::Error> {
    let mut request = begun(&head.origin, call).header(header::USER_AGENT, &head.agent);
    for (name, value) in &head.identity {
        request = request.header(name, value);
    }
    request.body(Full::new(body(call)))
}

/// Reads an answer.
pub(super) fn answer(code: u16, headers: &HeaderMap, body: &[u8]) -> Answer {
    const KEPT: [header::HeaderName; 2] = [header::RETRY_AFTER, header::WARNING];
    let kept = headers.iter().filter(|(name, _)| KEPT.contains(name));
    let headers = kept.filter_map(|(name, value)| Some((Text::from(name.as_str()), Text::from(value.to_str().ok()?))));
    Answer { code, headers: headers.collect(), content: content(body) }
}

fn content(body: &[u8]) -> Content {
    let text = String::from_utf8_lossy(body);
    let Ok(json) = Json::parse(&text) else { return Content::Text(Text::from(&*text)) };
    let kind = json.get("kind").as_str().unwrap_or_default();
    if kind == "Status" || kind.is_empty() {
        return Content::Json(json);
    }
    match kind.strip_suffix("List") {
        Some(item) if json.get("items").is_array() || json.get("items").is_null() => {
            Content::List(Box::new(list(&json, item)))
        }
        _ => Content::Object(Object::as_received(json)),
    }
}

/// Reads a list. Its items carry neither kind nor apiVersion; they get those of the list.
fn list(json: &Json, kind: &str) -> List {
    let text = |path: &[&str]| json.at(path).as_text().cloned().unwrap_or_default();
    let items = json.get("items").items().iter().map(|item| {
        let mut item = item.clone();
        item.set(&["kind"], kind);
        item.set(&["apiVersion"], text(&["apiVersion"]));
        Object::as_received(item)
    });
    List {
        kind: text(&["kind"]),
        says_types: false,
        api_version: text(&["apiVersion"]),
        resource_version: text(&["metadata", "resourceVersion"]).parse().unwrap_or_default(),
        items: items.collect(),
        next: text(&["metadata", "continue"]),
        remaining: json.at(&["metadata", "remainingItemCount"]).as_i64().and_then(|count| count.try_into().ok()),
    }
}

/// Reads one line of a watch; `None` if it is no event.
pub(super) fn event(line: &[u8]) -> Option<(WatchType, Object)> {
    const TYPES: [WatchType; 5] =
        [WatchType::Added, WatchType::Modified, WatchType::Deleted, WatchType::Bookmark, WatchType::Error];
    let json = Json::parse(std::str::from_utf8(line).ok()?).ok()?;
    let name = json.get("type").as_str()?;
    let event = TYPES.into_iter().find(|event| event.name() == name)?;
    Some((event, Object::as_received(json.get("object").clone())))
}

/// Takes the complete lines out of the bytes of a stream that have arrived.
pub(super) fn lines(buffer: &mut Vec<u8>, chunk: &[u8], mut each: impl FnMut(&[u8])) {
    let mut rest = chunk;
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        if buffer.is_empty() {
            each(&rest[..end]);
        } else {
            buffer.extend_from_slice(&rest[..end]);
            each(buffer);
            // A stream is quiet for minutes, so the memory that one long line needed is freed.
            *buffer = Vec::new();
        }
        rest = &rest[end + 1..];
    }
    buffer.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use nodeproof_core::network::{Content, WatchType};

    use super::{answer, event, lines};

    #[test]
    fn a_list_gives_its_items_their_kind() {
        let body = concat!(
            r#"{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"#,
            r#""items":[{"metadata":{"name":"w1","resourceVersion":"5"}}]}"#
        )
        .as_bytes();
        let Content::List(list) = answer(200, &HeaderMap::new(), body).content else { panic!("no list") };
        assert_eq!((list.resource_version, list.items[0].resource_version()), (7, 5));
        assert_eq!(list.items[0].stable().get("kind").as_str(), Some("Node"));
        let refused = answer(404, &HeaderMap::new(), br#"{"kind":"Status","message":"nodes \"w1\" not found"}"#);
        assert_eq!(refused.message(), "nodes \"w1\" not found");
    }

    #[test]
    fn a_stream_is_cut_at_its_line_ends_wherever_the_chunks_end() {
        let text = b"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}\n\
            {\"type\":\"ERROR\",\"object\":{\"code\":410}}\n";
        for cut in 0..text.len() {
            let (mut buffer, mut seen) = (Vec::new(), Vec::new());
            for chunk in [&text[..cut], &text[cut..]] {
                lines(&mut buffer, chunk, |line| seen.extend(event(line)));
            }
            let seen: Vec<_> = seen.iter().map(|(event, object)| (*event, object.resource_version())).collect();
            assert_eq!(seen, [(WatchType::Bookmark, 9), (WatchType::Error, 0)], "cut at {cut}");
        }
    }
}
