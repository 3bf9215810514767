//! The control interface as JSON lines: one request a line, one answer a line, in order.
//!
//! Inputs: `{"id"?, "call": "METHOD path", "as"?, "headers"?, "body"? or "raw"?}`. Outputs: `{"id", "code", "body"}`
//! with `headers`, `raw` and `watch` where they apply, fields in order of their names.
//! Invariant: each line gets one answer, whatever is in it; what is no request gets code 400.

use std::io::{self, BufRead, Write};

use nodeproof_core::json;
use nodeproof_core::objects::{FieldError, FieldReader, Json, NULL};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::api::Extras;
use super::{Content, Control, PanicGuard, Refusal, Reply, Setup, lines};

/// A session on one cluster.
#[derive(Debug)]
pub struct Session {
    control: Control,
    guard: PanicGuard,
}

impl Session {
    /// Starts a cluster and a session on it.
    ///
    /// # Errors
    /// A machine or an object of the set-up is refused.
    pub fn new(setup: Setup) -> Result<Self, Refusal> {
        Ok(Self { control: Control::new(setup)?, guard: PanicGuard::default() })
    }

    /// Returns the cluster.
    #[must_use]
    pub const fn control(&self) -> &Control {
        &self.control
    }

    /// Answers every line until the input ends.
    ///
    /// # Errors
    /// Reading or writing fails.
    pub fn run(&mut self, mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
        let mut line = Vec::new();
        while input.read_until(b'\n', &mut line)? > 0 {
            let answer = self.answer(line.trim_ascii_end());
            output.write_all(answer.as_bytes())?;
            output.write_all(b"\n")?;
            output.flush()?;
            line.clear();
        }
        Ok(())
    }

    /// Answers one line.
    pub fn answer(&mut self, line: &[u8]) -> String {
        let (id, outcome) = match read(line) {
            Ok(request) => {
                let resets = request.get("call").as_str() == Some("POST reset");
                let outcome = self.guard.run(resets, || call(&mut self.control, &request, line));
                (request.get("id").clone(), outcome)
            }
            Err(refusal) => (Json::Null, Err(refusal)),
        };
        written(id, outcome.unwrap_or_else(Reply::from))
    }
}

/// Writes an answer as a line.
pub(super) fn written(id: Json, reply: Reply) -> String {
    let mut answer = json!({"code": reply.code});
    answer.set(&["id"], id);
    match reply.body {
        Content::Empty => {}
        Content::Json(body) => answer.set(&["body"], body),
        Content::Raw(text) => answer.set(&["raw"], text),
        Content::Lines(objects) => {
            answer.set(&["raw"], lines(&objects));
            answer.set(&["body"], objects);
        }
    }
    if let Some(headers) = reply.headers {
        answer.set(&["headers"], headers);
    }
    if let Some(watch) = reply.watch {
        answer.set(&["watch"], watch);
    }
    answer.to_string()
}

/// Reads a line.
pub(super) fn read(line: &[u8]) -> Result<Json, Refusal> {
    let refused = |message: String| Refusal { code: 400, error: FieldError::new("line", message) };
    let text = std::str::from_utf8(line).map_err(|error| refused(format!("the line is no UTF-8: {error}")))?;
    Json::parse(text).map_err(|error| refused(format!("the line is no JSON: {error}")))
}

/// The parts of a request.
#[derive(Debug)]
pub(super) struct Request<'a> {
    /// The method.
    pub(super) method: &'a str,
    /// Path and query.
    pub(super) target: &'a str,
    /// What belongs to requests of the Kubernetes API.
    pub(super) extras: Extras<'a>,
}

impl<'a> Request<'a> {
    /// Takes a request apart.
    pub(super) fn of(request: &'a Json) -> Result<Self, Refusal> {
        let mut reader = FieldReader::new(request, "")?;
        reader.any("id");
        let line = reader.needed_text("call")?;
        let identity = reader.any("as");
        let headers = reader.any("headers");
        let body = reader.any("body");
        let raw = reader.text("raw")?;
        reader.finish()?;
        if body.is_some() && raw.is_some() {
            return Err(FieldError::new("raw", "a request has a body or a raw body, not both").into());
        }
        let Some((method, target)) = line.split_once(' ') else {
            return Err(
                FieldError::new("call", format!("METHOD and path are needed, as \"GET clock\", not {line:?}")).into()
            );
        };
        Ok(Self { method, target: target.trim(), extras: Extras { identity, headers, body, body_text: None, raw } })
    }

    /// Returns the body of a control call, which has nothing else.
    pub(super) fn control_body(&self) -> Result<&'a Json, Refusal> {
        let Extras { identity, headers, body, raw, .. } = &self.extras;
        for (field, value) in [("as", identity.is_some()), ("headers", headers.is_some()), ("raw", raw.is_some())] {
            if value {
                return Err(FieldError::new(
                    field,
                    "it belongs to requests of the Kubernetes API, whose path begins with /",
                )
                .into());
            }
        }
        Ok(body.unwrap_or(&NULL))
    }
}

/// Returns the body of a line as it is written.
fn body_text(line: &[u8]) -> Option<&str> {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(borrow)]
        body: Option<&'a RawValue>,
    }
    serde_json::from_slice::<Line<'_>>(line).ok()?.body.map(RawValue::get)
}

fn call(control: &mut Control, request: &Json, line: &[u8]) -> Result<Reply, Refusal> {
    let request = Request::of(request)?;
    if request.target.starts_with('/') {
        let extras = Extras { body_text: body_text(line), ..request.extras };
        return control.request(request.method, request.target, &extras);
    }
    super::route::answer(control, request.method, request.target, request.control_body()?)
}
