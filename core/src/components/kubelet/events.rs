//! Events of a kubelet: about its Node and the pods that it runs.
//!
//! Mirrors k8s.io/client-go tools/record/event.go (v1.34), `recorderImpl`, with the references of pkg/kubelet (v1.34).
//! Writing, counting and dropping them is done by `components::events::sink`. Inputs: Events, answers, time. Outputs:
//! requests of the kubelet.

use alloc::format;
use alloc::string::String;

use super::{ApiResult, Kubelet, KubeletContext, Purpose};
use crate::chance::Chance;
use crate::components::events::sink::{Emitted, EventSink};
use crate::components::events::suffix;
use crate::components::host::runtime::ContainerRole;
use crate::components::{Deadline, DecisionId};
use crate::json;
use crate::network::Ask;
use crate::objects::time::to_time;
use crate::objects::{Json, Object, ObjectKey, Text};

/// How serious an Event is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EventType {
    /// `Normal`.
    Normal,
    /// `Warning`.
    Warning,
}

/// The Events of a kubelet.
#[derive(Clone, Debug)]
pub(super) struct Events {
    sink: EventSink,
    last_nanos: i128,
    /// The common fields of Events about the Node, and of all Events of this kubelet, once one was made.
    about_node: Option<Json>,
    /// The UID of the Node as it was seen first. It stays the same for the life of the process.
    node_uid: Option<Text>,
    source: Option<Json>,
}

impl Events {
    /// Makes a recorder without Events.
    pub(super) const fn new(chance: Chance) -> Self {
        Self { sink: EventSink::new(chance), last_nanos: 0, about_node: None, node_uid: None, source: None }
    }

    /// Returns when an Event is tried again.
    pub(super) const fn next_deadline(&self) -> Option<Deadline> {
        self.sink.next_deadline()
    }
}

impl Kubelet {
    /// Emits an Event of the kubelet itself about the Node, by the UID of the Node if the release knows it.
    ///
    /// Source: pkg/kubelet/kubelet_node_status.go (v1.37), `nodeRefWithUID`.
    pub(super) fn node_event(
        &mut self,
        kind: EventType,
        reason: &'static str,
        message: String,
        because: Option<DecisionId>,
        context: &mut KubeletContext<'_>,
    ) {
        if self.events.node_uid.is_none() && self.settings.profile().is("node-events-have-uid") {
            self.events.node_uid = self.cached_node().map(|node| Text::from(node.uid()));
        }
        let mut about = self.about_node_in_events();
        if let Some(uid) = &self.events.node_uid {
            about.set(&["uid"], uid);
        }
        self.emit(about, (kind, reason, message), &Json::Null, because, context);
    }

    /// Emits an Event of a part of the kubelet about the Node: such parts refer to it by its name alone.
    pub(super) fn part_event(
        &mut self,
        kind: EventType,
        reason: &'static str,
        message: String,
        because: Option<DecisionId>,
        context: &mut KubeletContext<'_>,
    ) {
        let about = self.about_node_in_events();
        self.emit(about, (kind, reason, message), &Json::Null, because, context);
    }

    fn about_node_in_events(&mut self) -> Json {
        let name = &self.config.node_name;
        let about = self.events.about_node.get_or_insert_with(|| {
            if self.settings.profile().is("node-events-name-api-version") {
                json!({"kind": "Node", "apiVersion": "v1", "name": name})
            } else {
                json!({"kind": "Node", "name": name, "uid": name})
            }
        });
        about.clone()
    }

    /// Emits an Event about a pod, or one of its containers.
    pub(super) fn pod_event(
        &mut self,
        pod: &Object,
        container: Option<&str>,
        (kind, reason, message): (EventType, &str, String),
        context: &mut KubeletContext<'_>,
    ) {
        let mut about = about_pod(pod);
        if let Some(container) = container {
            let role = ContainerRole::find(pod, container).map_or(ContainerRole::Regular, |(role, _)| role);
            let list = role.list();
            about.set(&["fieldPath"], format!("spec.{list}{{{container}}}"));
        }
        self.emit(about, (kind, reason, message), &Json::Null, None, context);
    }

    /// Emits an Event about a pod, with annotations.
    pub(super) fn annotated_pod_event(
        &mut self,
        pod: &Object,
        annotations: &Json,
        said: (EventType, &str, String),
        context: &mut KubeletContext<'_>,
    ) {
        self.emit(about_pod(pod), said, annotations, None, context);
    }

    /// Emits an Event about a container that is stopped, of a pod that the API server does not know any more.
    pub(super) fn orphan_event(
        &mut self,
        key: Option<&ObjectKey>,
        uid: &Text,
        container: &str,
        context: &mut KubeletContext<'_>,
    ) {
        let Some(key) = key else { return };
        let mut about = json!({"kind": "Pod", "apiVersion": "v1", "namespace": key.namespace.as_str(),
            "name": key.name.as_str(), "uid": uid.as_str()});
        about.set(&["fieldPath"], format!("spec.containers{{{container}}}"));
        let said = (EventType::Normal, "Killing", format!("Stopping container {container}"));
        self.emit(about, said, &Json::Null, None, context);
    }

    fn emit(
        &mut self,
        about: Json,
        (kind, reason, message): (EventType, &str, String),
        annotations: &Json,
        because: Option<DecisionId>,
        context: &mut KubeletContext<'_>,
    ) {
        if self.config.is_standalone {
            return;
        }
        let wall = context.wall();
        // Names come from the clock; at one instant each must still be different.
        self.events.last_nanos = wall.as_nanosecond().max(self.events.last_nanos + 1);
        let text = |field: &str| about.get(field).as_str().unwrap_or_default();
        let namespace = if text("namespace").is_empty() { "default" } else { text("namespace") };
        let host = &self.config.node_name;
        let source = self.events.source.get_or_insert_with(|| json!({"component": "kubelet", "host": host}));
        let at = Json::from(to_time(wall));
        let mut event = json!({
            "kind": "Event", "apiVersion": "v1",
            "metadata": {"name": format!("{}.{:x}", text("name"), self.events.last_nanos), "namespace": namespace},
            "reason": reason, "message": message, "type": if kind == EventType::Normal { "Normal" } else { "Warning" },
            "source": &*source, "count": 1, "eventTime": null, "firstTimestamp": at, "lastTimestamp": at,
            "involvedObject": about, "reportingComponent": "kubelet", "reportingInstance": host,
        });
        if !annotations.is_empty() {
            event.set(&["metadata", "annotations"], annotations.clone());
        }
        self.events.sink.push(Emitted { event, suffix: suffix(self.events.last_nanos), at: wall, because });
        self.flush_events(context);
    }

    /// Sends the first Event that waits, unless one is under way.
    pub(super) fn flush_events(&mut self, context: &mut KubeletContext<'_>) {
        if let Some((call, because)) = self.events.sink.next_call(context.wall(), context.now) {
            self.send(Ask::Call(alloc::boxed::Box::new(call)), None, because, Purpose::Event, context);
        }
    }

    /// Takes the answer to an Event.
    pub(super) fn handle_event_answer(&mut self, outcome: &ApiResult, context: &mut KubeletContext<'_>) {
        self.events.sink.handle_answer(outcome, context.now);
        self.flush_events(context);
    }
}

/// Makes the reference to a pod.
fn about_pod(pod: &Object) -> Json {
    let key = pod.key();
    json!({"kind": "Pod", "apiVersion": "v1", "namespace": key.namespace.as_str(), "name": key.name.as_str(),
        "uid": pod.uid(), "resourceVersion": format!("{}", pod.resource_version())})
}

/// Names a pod in a decision.
pub(super) fn decided_about(key: &ObjectKey) -> Text {
    Text::from(format!("pod/{}/{}", key.namespace, key.name))
}
