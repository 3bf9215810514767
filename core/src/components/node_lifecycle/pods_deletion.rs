//! The Pods of a node that is silent or not ready are deleted, or deleted by force.
//!
//! Mirrors `DeletePods` and `SetPodTerminationReason` (pkg/controller/util/node/controller_utils.go, v1.26), and
//! `terminatePods` (pkg/controller/node/controller_utils.go, v1.4). Inputs: the Pods, answers. Outputs: requests and
//! Events, one Pod at a time. A Pod of a DaemonSet, one that is being deleted, and one whose status is in conflict
//! stay; the first deletion that fails ends the work.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::vec::Vec;

use super::work_items::{Io, Progress};
use crate::components::DecisionId;
use crate::components::client::RequestOutcome;
use crate::components::events::{EventType, InvolvedObject};
use crate::json;
use crate::network::{Call, PODS, Verb};
use crate::objects::{Json, Object};

/// Why a Pod is deleted, in its status. Source: pkg/util/node/node.go (v1.15), `NodeUnreachablePodReason`.
const LOST: &str = "NodeLost";

/// A Pod, and whether a DaemonSet selects it.
#[derive(Clone, Debug)]
pub(super) struct Doomed {
    pub(super) pod: Object,
    pub(super) is_daemon: bool,
}

/// How the Pods are deleted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Manner {
    /// With their grace period; whether their status says first that the node is lost.
    Graceful { says_lost: bool },
    /// At once: they are terminating for longer than their grace period.
    Forced,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DeletionStage {
    Reason,
    Delete,
}

/// Pods of one node on their way out.
#[derive(Clone, Debug)]
pub(super) struct PodsDeletion {
    node: InvolvedObject,
    name: crate::objects::Text,
    pods: VecDeque<Doomed>,
    manner: Manner,
    stage: DeletionStage,
    failed: bool,
    because: Option<DecisionId>,
}

impl PodsDeletion {
    /// Takes the Pods in the order in which they will be deleted.
    #[must_use]
    pub(super) fn new(
        (name, uid): (&crate::objects::Text, &str),
        pods: Vec<Doomed>,
        manner: Manner,
        because: Option<DecisionId>,
    ) -> Self {
        let node = InvolvedObject::node(name, uid);
        Self {
            node,
            name: name.clone(),
            pods: pods.into(),
            manner,
            stage: DeletionStage::Reason,
            failed: false,
            because,
        }
    }

    /// Sends the first request.
    pub(super) fn start(&mut self, io: &mut Io<'_>) -> Progress {
        if self.manner != Manner::Forced && !self.pods.is_empty() {
            let message = format!("Node {0} event: Deleting all Pods from Node {0}.", self.name);
            io.runtime.emit(&self.node, EventType::Normal, "DeletingAllPods", &message, self.because, io.now);
        }
        self.proceed(io)
    }

    fn proceed(&mut self, io: &mut Io<'_>) -> Progress {
        while let Some(doomed) = self.pods.front() {
            let pod = &doomed.pod;
            let key = pod.key();
            let tells = self.manner == Manner::Graceful { says_lost: true };
            if self.stage == DeletionStage::Reason
                && tells
                && pod.stable().at(&["status", "reason"]).as_str() != Some(LOST)
            {
                let call = Call::new(Verb::Update, PODS, &key.namespace, &key.name);
                return io.send(call.subresource("status").body(lost(pod, &self.name)), self.because);
            }
            let is_graceful = self.manner != Manner::Forced;
            let is_terminating = !pod.stable().at(&["metadata", "deletionGracePeriodSeconds"]).is_null();
            if is_graceful && (is_terminating || doomed.is_daemon) {
                self.next();
                continue;
            }
            let (about, reason, message) = if is_graceful {
                let message = format!("Marking for deletion Pod {} from Node {}", key.name, self.name);
                (InvolvedObject::pod(pod), "NodeControllerEviction", message)
            } else {
                let message = format!(
                    "Node {0} event: Pod {1} has exceeded the grace period for deletion after being evicted from Node \
                     {0:?} and is being force killed",
                    &*self.name, key.name
                );
                (self.node.clone(), "TerminatingEvictedPod", message)
            };
            io.runtime.emit(&about, EventType::Normal, reason, &message, self.because, io.now);
            io.runtime.flush(io.now);
            self.stage = DeletionStage::Delete;
            let call = Call::new(Verb::Delete, PODS, &key.namespace, &key.name);
            let body = if is_graceful { json!({}) } else { json!({"gracePeriodSeconds": 0}) };
            return io.send(call.body(body), self.because);
        }
        Progress::Done(!self.failed)
    }

    fn next(&mut self) {
        self.stage = DeletionStage::Reason;
        self.pods.pop_front();
    }

    /// Continues after an answer.
    pub(super) fn handle_outcome(&mut self, outcome: &RequestOutcome, io: &mut Io<'_>) -> Progress {
        match (self.stage, outcome) {
            (DeletionStage::Reason, RequestOutcome::Conflict) => {
                self.failed = true;
                self.next();
            }
            (DeletionStage::Reason, _) => self.stage = DeletionStage::Delete,
            (DeletionStage::Delete, RequestOutcome::Done(_) | RequestOutcome::NotFound) => self.next(),
            (DeletionStage::Delete, _) if self.manner == Manner::Forced => {
                self.failed = true;
                self.next();
            }
            (DeletionStage::Delete, _) => return Progress::Done(false),
        }
        self.proceed(io)
    }
}

/// Returns the Pod with the reason for which it is deleted.
fn lost(pod: &Object, node: &str) -> Json {
    let mut body = pod.json();
    body.set(&["status", "reason"], LOST);
    let message = format!("Node {node} which was running pod {} is unresponsive", pod.name());
    body.set(&["status", "message"], message);
    body
}
