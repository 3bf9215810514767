//! Answers and watches of the API server as HTTP: bodies of one piece, and bodies that grow.
//!
//! Inputs: answers and open watches of a simulation that others share. Outputs: HTTP responses. Invariant: a watch
//! whose body is dropped is closed.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures::stream::{self, StreamExt as _};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use nodeproof_core::json;
use nodeproof_core::network::{Answer, ClientId, Content, PROTOBUF, RequestId};
use nodeproof_core::objects::Json;
use nodeproof_core::sim::WatchInbox;

/// A response of the API server.
pub(super) type Response = http::Response<UnsyncBoxBody<Bytes, Infallible>>;

/// A cluster whose watches can be waited for.
pub(super) trait WatchSource: Send + Unpin + 'static {
    /// Returns what a watch received since the last look, `None` if it is gone; without news the task is woken later.
    fn look(&self, client: ClientId, id: RequestId, waker: &Waker) -> Option<WatchInbox>;

    /// Ends a watch.
    fn close(&self, client: ClientId, id: RequestId);
}

/// Returns the response whose body is the events of a watch, a line of JSON each.
pub(super) fn watch_response(source: impl WatchSource, client: ClientId, id: RequestId) -> Response {
    let events = Events { source, client, id, ready: VecDeque::new(), ended: false };
    let frames = stream::unfold(events, Events::next).map(|line| Ok(Frame::data(line)));
    let mut response = http::Response::new(StreamBody::new(frames).boxed_unsync());
    response.headers_mut().insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    response
}

/// Returns an answer as a response.
pub(super) fn response(answer: &Answer) -> Response {
    let (kind, text) = match &answer.content {
        Content::Text(text) => ("text/plain", Bytes::from(text.to_string())),
        Content::Bytes(bytes) => (PROTOBUF, Bytes::from(bytes.clone())),
        _ => ("application/json", Bytes::from(line(&answer.body()))),
    };
    let mut response = http::Response::new(Full::new(text).boxed_unsync());
    *response.status_mut() = http::StatusCode::from_u16(answer.code).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    let headers = answer.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    // What has no body has no type; for what has not changed it would stand in the client's cache for that of the body.
    let says_kind = matches!(answer.code, 204 | 304) || headers.clone().any(|(name, _)| name == "Content-Type");
    for (name, value) in (!says_kind).then_some(("content-type", kind)).into_iter().chain(headers) {
        if let (Ok(name), Ok(value)) = (http::HeaderName::try_from(name), http::HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}

/// Prints a body; objects end with a line feed, as what has no kind does not.
///
/// Source: k8s.io/apimachinery pkg/runtime/serializer/json/json.go (v1.34), `doEncode`.
fn line(body: &Json) -> String {
    if body.get("kind").is_null() { body.to_string() } else { format!("{body}\n") }
}

/// The events of one watch, as lines of JSON.
struct Events<S: WatchSource> {
    source: S,
    client: ClientId,
    id: RequestId,
    ready: VecDeque<Bytes>,
    ended: bool,
}

impl<S: WatchSource> Events<S> {
    async fn next(mut self) -> Option<(Bytes, Self)> {
        let line = std::future::poll_fn(|context| self.poll(context)).await?;
        Some((line, self))
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<Option<Bytes>> {
        if self.ready.is_empty() && !self.ended {
            let inbox = self.source.look(self.client, self.id, context.waker());
            self.ended = inbox.as_ref().is_none_or(|inbox| inbox.ended);
            for (event, object) in inbox.into_iter().flat_map(|inbox| inbox.events) {
                let line = json!({"type": event.name(), "object": object.json()});
                self.ready.push_back(Bytes::from(format!("{line}\n")));
            }
            if self.ready.is_empty() && !self.ended {
                return Poll::Pending;
            }
        }
        Poll::Ready(self.ready.pop_front())
    }
}

impl<S: WatchSource> Drop for Events<S> {
    fn drop(&mut self) {
        self.source.close(self.client, self.id);
    }
}

#[cfg(test)]
mod tests {
    use nodeproof_core::json;
    use nodeproof_core::network::{Answer, Content};
    use nodeproof_core::objects::Text;

    use super::{line, response};

    #[test]
    fn objects_end_with_a_line_feed_and_other_documents_do_not() {
        assert_eq!(line(&json!({"kind": "Node"})), "{\"kind\":\"Node\"}\n");
        assert_eq!(line(&json!({"major": "1"})), "{\"major\":\"1\"}");
    }

    #[test]
    fn an_answer_without_a_body_has_no_type() {
        let answer = |code| Answer { code, headers: Vec::new(), content: Content::Text(Text::of("")) };
        assert!(response(&answer(304)).headers().get("content-type").is_none());
        assert_eq!(response(&answer(200)).headers()["content-type"], "text/plain");
    }
}
