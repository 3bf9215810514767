//! Pods of a node that went silent: their Ready condition becomes False.
//!
//! Mirrors `MarkPodsNotReady` (pkg/controller/util/node/controller_utils.go, v1.34): one PUT of the status after the
//! other, each followed by its Event. Only the status of Ready changes; its reason and message, ContainersReady and the
//! phase stay. A pod without the condition, or with Ready=False, is not written.
//! Inputs: the pods, answers. Outputs: requests and Events, one pod at a time.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::vec::Vec;

use super::work_items::{Io, Progress};
use crate::components::client::RequestOutcome;
use crate::components::events::{EventType, InvolvedObject};
use crate::components::{Because, DecisionId};
use crate::network::{Call, PODS, Verb};
use crate::objects::time::to_time;
use crate::objects::{Json, Object, Text};

/// Pods of one node on their way to Ready=False.
#[derive(Clone, Debug)]
pub(super) struct PodsWrite {
    node: Text,
    pods: VecDeque<Object>,
    failed: bool,
    because: Option<DecisionId>,
    decided: Option<DecisionId>,
}

impl PodsWrite {
    /// Takes the pods in the order in which they will be marked.
    #[must_use]
    pub(super) fn new(node: Text, pods: Vec<Object>, because: Option<DecisionId>) -> Self {
        Self { node, pods: pods.into(), failed: false, because, decided: None }
    }

    /// Sends the first request.
    pub(super) fn start(&mut self, io: &mut Io<'_>) -> Progress {
        while let Some(pod) = self.pods.front() {
            let key = pod.key();
            if let Some(body) = marked(pod, io) {
                let mut reasons = Vec::from([Because::Fact(format!("Node {} is not ready", self.node))]);
                reasons.extend(self.because.map(Because::Decision));
                self.decided = Some(io.runtime.decide(format!("pod/{key}"), "Ready -> False", reasons));
                let call = Call::new(Verb::Update, PODS, &key.namespace, &key.name).subresource("status").body(body);
                return io.send(call, self.decided);
            }
            self.pods.pop_front();
        }
        Progress::Done(!self.failed)
    }

    /// Continues after an answer.
    pub(super) fn handle_outcome(&mut self, outcome: &RequestOutcome, io: &mut Io<'_>) -> Progress {
        if let Some(pod) = self.pods.pop_front()
            && !matches!(outcome, RequestOutcome::NotFound)
        {
            self.failed |= !matches!(outcome, RequestOutcome::Done(_));
            let about = InvolvedObject::pod(&pod);
            let (reason, message) = ("NodeNotReady", "Node is not ready");
            io.runtime.emit(&about, EventType::Warning, reason, message, self.decided, io.now);
            io.runtime.flush(io.now);
        }
        self.start(io)
    }
}

/// Returns the pod with Ready=False; `None` if that changes nothing.
fn marked(pod: &Object, io: &Io<'_>) -> Option<Json> {
    let conditions = pod.stable().at(&["status", "conditions"]).items();
    let at = conditions.iter().position(|condition| condition.get("type").as_str() == Some("Ready"))?;
    if conditions[at].get("status").as_str() == Some("False") {
        return None;
    }
    let mut body = pod.json();
    let condition = &mut body.entry(&["status", "conditions"]).make_array()[at];
    condition.set(&["status"], "False");
    condition.set(&["lastTransitionTime"], to_time(io.now));
    Some(body)
}
