//! The messages between clients and the API server: requests, answers, watch events.
//!
//! Mirrors HTTP requests of the Kubernetes API; the two heartbeats have a typed form beside the general one.
//! Simulated clients, `kube::Client` in process, the control interface and recordings use the same messages.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use jiff::{SignedDuration, Timestamp};

use super::{Answer, CloudCall, Identity, LEASES, NODE_LEASES, NODES, Resource, Verb};
use crate::json;
use crate::objects::time::to_time;
use crate::objects::{HeartbeatStamp, Json, KUBELET_CONDITIONS, Object, Text};

/// Identifies a request among those of one client; a watch keeps the id of the request that opened it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Default)]
pub struct RequestId(pub u64);

/// What a request is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// A collection, an object or a subresource of one.
    Resource {
        /// The kind.
        resource: Resource,
        /// The namespace; empty for cluster-scoped kinds and for all namespaces.
        namespace: Text,
        /// The name; empty for a collection.
        name: Text,
        /// The subresource, as `status`; empty for the object itself.
        subresource: Text,
    },
    /// Any other path, as `/version`.
    Path(Text),
}

/// The body of a request.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Body {
    /// None.
    #[default]
    Empty,
    /// JSON, or what was YAML.
    Json(Json),
    /// A text that is not JSON, as a client sent it.
    Raw(String),
    /// A body that is longer than the server reads.
    TooLong,
    /// A body in another form than JSON that cannot be read.
    Unread {
        /// Why.
        why: String,
        /// Its beginning, as messages quote it.
        quoted: String,
    },
}

/// A request in the general form.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// The verb.
    pub verb: Verb,
    /// The method of a request in HTTP, if it is none that a verb has; empty otherwise.
    pub method: Text,
    /// What it is about.
    pub target: Target,
    /// The query's parameters in order.
    pub query: Vec<(Text, Text)>,
    /// The headers that matter, names in lower case: `content-type`, `accept`.
    pub headers: Vec<(Text, Text)>,
    /// The body.
    pub body: Body,
    /// The body's text as a client sent it, JSON or YAML; `None` for a request that was never a text. The server's
    /// messages follow it: its order, its spaces, fields that come twice.
    pub text: Option<Text>,
}

/// `application/strategic-merge-patch+json`, the patch type of kubelets and controllers.
pub const STRATEGIC_MERGE_PATCH: &str = "application/strategic-merge-patch+json";
/// `application/merge-patch+json`, RFC 7386.
pub const MERGE_PATCH: &str = "application/merge-patch+json";
/// The media type of configurations that are applied by the server.
pub const APPLY_PATCH: &str = "application/apply-patch+yaml";
/// The media type of objects as protobuf.
pub const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
/// `application/json-patch+json`, RFC 6902.
pub const JSON_PATCH: &str = "application/json-patch+json";

impl Call {
    /// Makes a request for an object or, with an empty name, a collection.
    #[must_use]
    pub fn new(verb: Verb, resource: Resource, namespace: impl Into<Text>, name: impl Into<Text>) -> Self {
        let subresource = Text::of("");
        let target = Target::Resource { resource, namespace: namespace.into(), name: name.into(), subresource };
        Self { verb, target, ..Self::of_path("") }
    }

    /// Makes a request that reads a path which is no resource.
    #[must_use]
    pub fn of_path(path: &'static str) -> Self {
        Self {
            verb: Verb::Get,
            method: Text::of(""),
            target: Target::Path(Text::of(path)),
            query: Vec::new(),
            headers: Vec::new(),
            body: Body::Empty,
            text: None,
        }
    }

    /// Sets the subresource.
    #[must_use]
    pub fn subresource(mut self, subresource: &'static str) -> Self {
        if let Target::Resource { subresource: place, .. } = &mut self.target {
            *place = Text::of(subresource);
        }
        self
    }

    /// Adds a parameter to the query.
    #[must_use]
    pub fn query(mut self, name: impl Into<Text>, value: impl Into<Text>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: Json) -> Self {
        self.body = Body::Json(body);
        self
    }

    /// Tells how the body was written before it became JSON.
    #[must_use]
    pub fn written(mut self, text: &str) -> Self {
        self.text = (!text.is_empty()).then(|| Text::from(text));
        self
    }

    /// Sets a header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<Text>) -> Self {
        self.headers.push((Text::of(name), value.into()));
        self
    }

    /// Makes a strategic merge patch.
    #[must_use]
    pub fn strategic_patch(resource: Resource, namespace: impl Into<Text>, name: impl Into<Text>, patch: Json) -> Self {
        Self::new(Verb::Patch, resource, namespace, name)
            .header("content-type", Text::of(STRATEGIC_MERGE_PATCH))
            .body(patch)
    }

    /// Returns path and query as they stand in a request line, but for escapes.
    #[must_use]
    pub fn path_and_query(&self) -> String {
        let mut path = match &self.target {
            Target::Path(path) => String::from(path.as_str()),
            Target::Resource { resource, namespace, name, subresource } => {
                let parts = [name, subresource].into_iter().filter(|part| !part.is_empty());
                parts.fold(resource.path(namespace), |path, part| format!("{path}/{part}"))
            }
        };
        for (at, (name, value)) in self.query.iter().enumerate() {
            path = format!("{path}{}{name}={value}", if at == 0 { '?' } else { '&' });
        }
        path
    }

    /// Returns the first value of a parameter.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&Text> {
        self.query.iter().find(|(key, _)| *key == *name).map(|(_, value)| value)
    }

    /// Returns a header by its lower-case name.
    #[must_use]
    pub fn header_value(&self, name: &str) -> Option<&Text> {
        self.headers.iter().find(|(key, _)| *key == *name).map(|(_, value)| value)
    }
}

impl fmt::Display for Call {
    /// Prints the request as a line of the trace: `PUT nodes/worker-1/status`, `LIST pods?fieldSelector=…`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let method = match self.verb {
            Verb::List => "LIST",
            Verb::Watch => "WATCH",
            verb => verb.method(),
        };
        match &self.target {
            Target::Path(path) => write!(f, "{method} {path}")?,
            Target::Resource { resource, namespace, name, subresource } => {
                write!(f, "{method} {}", resource.plural)?;
                for part in [namespace, name, subresource] {
                    if !part.is_empty() {
                        write!(f, "/{part}")?;
                    }
                }
            }
        }
        for (at, (name, value)) in self.query.iter().enumerate() {
            write!(f, "{}{name}={value}", if at == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}

/// What a request asks for: the general form, or one of the two heartbeats.
#[derive(Clone, PartialEq, Debug)]
pub enum Ask {
    /// Any request, in the general form.
    Call(Box<Call>),
    /// `PUT` of the Lease in `kube-node-lease` whose only change is `spec.renewTime`.
    RenewLease {
        /// The Lease's name, which is the node's.
        name: Text,
        /// The new `spec.renewTime`, by the node's clock.
        renew_time: Timestamp,
        /// The version that the kubelet saw last; another one in the store is a conflict.
        resource_version: u64,
        /// Where the store keeps the Lease, as the answer to the last renewal said: [`Object::place`].
        place: Option<u32>,
    },
    /// `PATCH` of a Node's status whose only change is `lastHeartbeatTime` of the kubelet's conditions.
    Heartbeat {
        /// The node's name.
        name: Text,
        /// The new `lastHeartbeatTime`, by the node's clock.
        at: Timestamp,
    },
    /// A call to the cloud, which does not go to the API server.
    Cloud(CloudCall),
}

/// A status report that changes nothing but times: see [`Ask::Heartbeat`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// The new `lastHeartbeatTime`, by the node's clock.
    pub(crate) at: Timestamp,
    /// The stamp of the Node that the kubelet saw last.
    pub(crate) seen: HeartbeatStamp,
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(call) => call.fmt(f),
            Self::RenewLease { name, .. } => write!(f, "PUT leases/{NODE_LEASES}/{name}"),
            Self::Heartbeat { name, .. } => write!(f, "PATCH nodes/{name}/status"),
            Self::Cloud(call) => call.fmt(f),
        }
    }
}

impl Ask {
    /// Converts a heartbeat to the request in the general form that it stands for, with the Lease that its writer saw
    /// last; `None` for a renewal of another revision, and for a call to the cloud.
    #[must_use]
    pub fn written_out(self, lease: Option<&Object>) -> Option<Box<Call>> {
        match self {
            Self::Call(call) => Some(call),
            Self::Cloud(_) => None,
            Self::RenewLease { name, renew_time, resource_version, .. } => {
                let lease = lease.filter(|lease| lease.resource_version() == resource_version)?;
                let body = lease.renewed(renew_time, resource_version).json();
                Some(Box::new(Call::new(Verb::Update, LEASES, NODE_LEASES, name).body(body)))
            }
            Self::Heartbeat { name, at } => {
                let time = Json::from(to_time(at));
                let kinds = KUBELET_CONDITIONS.iter();
                let order: Json = kinds.clone().map(|kind| json!({"type": *kind})).collect();
                let beats: Json = kinds
                    .map(|kind| {
                        let mut beat = json!({"type": *kind});
                        beat.set(&["lastHeartbeatTime"], time.clone());
                        beat
                    })
                    .collect();
                let mut patch = Json::object();
                patch.set(&["status", "$setElementOrder/conditions"], order);
                patch.set(&["status", "conditions"], beats);
                Some(Box::new(Call::strategic_patch(NODES, "", name, patch).subresource("status")))
            }
        }
    }

    /// Returns verb, resource (plural), subresource and name, as rules and metrics count them.
    #[must_use]
    pub fn subject(&self) -> (Verb, &str, &str, &str) {
        match self {
            Self::RenewLease { name, .. } => (Verb::Update, "leases", "", name),
            Self::Heartbeat { name, .. } => (Verb::Patch, "nodes", "status", name),
            Self::Cloud(call) => call.subject(),
            Self::Call(call) => match &call.target {
                Target::Resource { resource, name, subresource, .. } => {
                    (call.verb, &resource.plural, subresource, name)
                }
                Target::Path(path) => (call.verb, path, "", ""),
            },
        }
    }
}

/// A request of one client.
#[derive(Clone, Debug)]
pub struct Request {
    /// Unique among the client's requests.
    pub id: RequestId,
    /// The sender.
    pub identity: Arc<Identity>,
    /// The request itself.
    pub ask: Ask,
    /// How long the client waits for the answer; `None` waits as long as the server does (60 s for all but watches:
    /// kube-apiserver `--request-timeout`).
    pub timeout: Option<SignedDuration>,
    /// The client's decision that caused it.
    pub because: Option<super::DecisionId>,
}

/// Why a request got no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TransportError {
    /// The client's time-out ran out.
    #[error("context deadline exceeded (Client.Timeout exceeded while awaiting headers)")]
    Timeout,
    /// The connection broke under the request.
    #[error("http2: client connection lost")]
    ConnectionLost,
    /// No connection could be made.
    #[error("dial tcp: i/o timeout")]
    Unreachable,
    /// Nothing listens at the server's address.
    #[error("dial tcp: connect: connection refused")]
    Refused,
}

/// How an object of a watch changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "the types of watch events, by their names")]
pub enum WatchType {
    Added,
    Modified,
    Deleted,
    Bookmark,
    Error,
}

impl WatchType {
    /// Returns the name as the API prints it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
            Self::Bookmark => "BOOKMARK",
            Self::Error => "ERROR",
        }
    }
}

/// A message to a client.
#[derive(Clone, Debug)]
pub enum ToClient {
    /// The answer to a request, or why there is none.
    Response {
        /// The request.
        id: RequestId,
        /// Its outcome.
        result: Result<Answer, TransportError>,
    },
    /// An event of an open watch.
    Watch {
        /// The request that opened the watch.
        id: RequestId,
        /// How the object changed.
        event: WatchType,
        /// The object as it is now (for `Deleted`: as it was, with the revision of its end; for `Error`: a Status).
        object: Object,
    },
    /// The stream of a watch ended: the server closed it, or its connection.
    WatchEnded {
        /// The request that opened the watch.
        id: RequestId,
        /// Whether the client gave the connection up because its ping stayed unanswered.
        lost: bool,
    },
}

impl ToClient {
    /// Returns the request that this belongs to.
    #[must_use]
    pub const fn id(&self) -> RequestId {
        match self {
            Self::Response { id, .. } | Self::Watch { id, .. } | Self::WatchEnded { id, .. } => *id,
        }
    }
}
