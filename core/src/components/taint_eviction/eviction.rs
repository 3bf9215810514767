//! One eviction: read the pod, write the condition DisruptionTarget, delete it; before 1.26 only the last.
//!
//! Mirrors `deletePodHandler` and `addConditionAndDeletePod` (pkg/controller/tainteviction/taint_eviction.go, v1.34):
//! five tries, 10 ms apart; any error is a failed try, even that the pod is gone. Inputs: answers, time. Outputs: the
//! next request, a pause, or the end. It uses no precondition, and disruption budgets do not apply.

use alloc::format;

use jiff::{SignedDuration, Timestamp};

use crate::components::DecisionId;
use crate::components::client::RequestOutcome;
use crate::components::pod_status::{DisruptionTarget, Generation, target_patch};
use crate::json;
use crate::network::{Call, PODS, Verb};
use crate::objects::ObjectKey;

/// Tries of one eviction. Source: taint_eviction.go (v1.34), `retries`.
const TRIES_MAX: u32 = 5;
/// Pause after a failed try. Source: taint_eviction.go (v1.34), `deletePodHandler`.
const PAUSE: SignedDuration = SignedDuration::from_millis(10);
/// The condition of an evicted pod. Source: taint_eviction.go (v1.34), `addConditionAndDeletePod`.
const TARGET: DisruptionTarget =
    DisruptionTarget { reason: "DeletionByTaintManager", message: "Taint manager: deleting due to NoExecute taint" };

/// What an eviction does next.
#[derive(Clone, Debug)]
pub(super) enum Next {
    /// Send a request.
    Send(Call),
    /// Pause, then call [`Eviction::start`].
    Pause(Timestamp),
    /// The pod is being deleted.
    Deleted,
    /// The eviction is given up.
    GivenUp,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EvictionStage {
    Reading,
    Patching,
    Deleting,
}

/// An eviction under way.
#[derive(Clone, Debug)]
pub(super) struct Eviction {
    pub(super) pod: ObjectKey,
    pub(super) because: DecisionId,
    /// How the pod's status is written first; `None` where it is not.
    marks: Option<Generation>,
    /// When it was due.
    pub(super) due: Timestamp,
    stage: EvictionStage,
    tries: u32,
}

impl Eviction {
    pub(super) const fn new(pod: ObjectKey, because: DecisionId, marks: Option<Generation>, due: Timestamp) -> Self {
        Self { pod, because, marks, due, stage: EvictionStage::Reading, tries: 0 }
    }

    /// Tells whether the deletion was asked for.
    pub(super) fn is_deleting(&self) -> bool {
        self.stage == EvictionStage::Deleting
    }

    fn call(&self, verb: Verb) -> Call {
        Call::new(verb, PODS, &self.pod.namespace, &self.pod.name)
    }

    /// Begins a try, or gives up after the last.
    pub(super) fn start(&mut self) -> Next {
        if self.tries == TRIES_MAX {
            return Next::GivenUp;
        }
        self.tries += 1;
        if self.marks.is_none() {
            return self.delete();
        }
        self.stage = EvictionStage::Reading;
        Next::Send(self.call(Verb::Get))
    }

    /// Continues after an answer.
    pub(super) fn handle_outcome(&mut self, outcome: RequestOutcome, now: Timestamp) -> Next {
        match (self.stage, outcome) {
            (EvictionStage::Reading, RequestOutcome::Done(Some(pod))) => {
                match self.marks.and_then(|generation| target_patch(&pod, TARGET, generation, now)) {
                    Some(patch) => {
                        self.stage = EvictionStage::Patching;
                        let (namespace, name) = (&self.pod.namespace, &self.pod.name);
                        Next::Send(Call::strategic_patch(PODS, namespace, name, patch).subresource("status"))
                    }
                    None => self.delete(),
                }
            }
            (EvictionStage::Patching, RequestOutcome::Done(_)) => self.delete(),
            (EvictionStage::Deleting, RequestOutcome::Done(_)) => Next::Deleted,
            _ => Next::Pause(now + PAUSE),
        }
    }

    fn delete(&mut self) -> Next {
        self.stage = EvictionStage::Deleting;
        Next::Send(self.call(Verb::Delete).body(json!({"kind": "DeleteOptions", "apiVersion": "v1"})))
    }
}

/// Names a pod as its Events do.
pub(super) fn event_name(pod: &ObjectKey) -> alloc::string::String {
    format!("{}/{}", pod.namespace, pod.name)
}
