//! What the API server answers: codes, headers, and bodies in the forms that clients ask for.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::objects::{Json, Object, Text, protobuf};

/// A list of objects, not yet put together.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// The kind of the list, as `NodeList`.
    pub kind: Text,
    /// Whether each item says its kind, and the end of the list that it is one: those without a type in Go do.
    pub says_types: bool,
    /// Its group and version, as `v1`.
    pub api_version: Text,
    /// The revision of the store that it shows.
    pub resource_version: u64,
    /// The items, in order of their keys.
    pub items: Vec<Object>,
    /// `metadata.continue`; empty at the end.
    pub next: Text,
    /// `metadata.remainingItemCount`, where it is known.
    pub remaining: Option<u64>,
}

/// The body of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// JSON: a Status, a Table, discovery.
    Json(Json),
    /// One object.
    Object(Object),
    /// A list of objects.
    List(Box<List>),
    /// Plain text, as of `/healthz`.
    Text(Text),
    /// An object, a list or a Status as protobuf.
    Bytes(Vec<u8>),
    /// The watch is open: events follow.
    Watching,
}

/// What the server answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The HTTP status code.
    pub code: u16,
    /// Headers beside `Content-Type`, as `Retry-After` and `Warning`.
    pub headers: Vec<(Text, Text)>,
    /// The body.
    pub content: Content,
}

impl Answer {
    /// Makes an answer that holds an object.
    #[must_use]
    pub const fn object(code: u16, object: Object) -> Self {
        Self { code, headers: Vec::new(), content: Content::Object(object) }
    }

    /// Makes an answer that holds JSON.
    #[must_use]
    pub const fn json(code: u16, body: Json) -> Self {
        Self { code, headers: Vec::new(), content: Content::Json(body) }
    }

    /// Tells whether the code is 2xx.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        self.code >= 200 && self.code < 300
    }

    /// Returns the object of the answer.
    #[must_use]
    pub const fn as_object(&self) -> Option<&Object> {
        match &self.content {
            Content::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Returns the body as JSON, as a client would read it.
    #[must_use]
    pub fn body(&self) -> Json {
        match &self.content {
            Content::Json(body) => body.clone(),
            Content::Object(object) => object.json(),
            Content::Text(text) => Json::Str(text.clone()),
            Content::Bytes(bytes) => protobuf::decode(bytes, None).unwrap_or_default(),
            Content::Watching => Json::Null,
            Content::List(list) => {
                let List { kind, says_types, api_version, resource_version, items, next, remaining } = &**list;
                let mut list = Json::object();
                list.set(&["kind"], kind);
                list.set(&["apiVersion"], api_version);
                list.set(&["metadata"], Json::object());
                // What is not stored has no revision.
                if *resource_version > 0 {
                    list.set(&["metadata", "resourceVersion"], format!("{resource_version}"));
                }
                if !next.is_empty() || *says_types {
                    list.set(&["metadata", "continue"], next);
                }
                if let Some(remaining) = remaining {
                    list.set(&["metadata", "remainingItemCount"], i64::try_from(*remaining).unwrap_or(i64::MAX));
                }
                // Items of a typed list carry neither kind nor apiVersion: the list's say it.
                let shown = |item: &Object| if *says_types { item.json() } else { without_type(item.json()) };
                list.set(&["items"], items.iter().map(shown).collect::<Json>());
                list
            }
        }
    }

    /// Returns `message` of a Status, the text of a plain answer, or nothing.
    #[must_use]
    pub fn message(&self) -> String {
        if let Content::Text(text) = &self.content {
            return String::from(text.as_str());
        }
        self.body().get("message").as_str().map(String::from).unwrap_or_default()
    }
}

fn without_type(mut object: Json) -> Json {
    object.remove(&["kind"]);
    object.remove(&["apiVersion"]);
    object
}
