//! Pods whose resources change while they run: what each asks for, what it was given, what its containers have.
//!
//! Mirrors pkg/kubelet/allocation, and what pkg/kubelet/kuberuntime and pkg/kubelet/status do of resizes (v1.33, v1.34,
//! v1.37). The worker's object has the resources that the pod was given, so that they count everywhere; what it asks
//! for stands beside while that is something else. Over a restart of the kubelet the machine keeps what was given.
//! Inputs: pods of the watch, syncs, time. Outputs: other limits and restarts of containers, conditions, Events.
//! Left out on purpose: resources of a pod as a whole; a critical pod that is resized preempts nobody.

mod deciding;
mod doing;
mod queue;
mod shown;
mod telling;

pub(super) use self::queue::Resizes;
pub(super) use self::telling::is_of_resize;
use super::*;
use crate::components::pod_resources::{PodLevel, quantities, requests, spec_in_effect};
use crate::objects::lifecycle::is_terminal;
use crate::profile::Settings;

/// The conditions, in the order in which they are written.
const KINDS: [&str; 2] = ["PodResizePending", "PodResizeInProgress"];
/// The lists of containers whose resources count.
const LISTS: [&str; 2] = ["containers", "initContainers"];

/// How far a pod is with other resources.
#[derive(Clone, Debug, Default)]
pub(in crate::components::kubelet) struct Resizing {
    /// What it asks for, as a specification; `Null` if it was given just that.
    wanted: Json,
    /// Whether it asks for something else than before, which nothing followed from yet.
    is_asked: bool,
    /// Whether its next sync has to look.
    is_open: bool,
    /// Why it does not get what it asks for.
    pending: Option<ResizeCondition>,
    /// That its containers do not have yet what it was given.
    progress: Option<ResizeCondition>,
    /// What went wrong in the sync before, and when.
    failure: Option<(Timestamp, Text)>,
    /// When the kubelet sees what it has changed.
    unseen_until: Option<Timestamp>,
    /// What the statuses of changed containers say until it has seen that.
    shown: Vec<(Text, Json)>,
}

/// A condition of a resize, which is there while it is true.
#[derive(Clone, PartialEq, Eq, Debug)]
struct ResizeCondition {
    reason: Text,
    message: Text,
    generation: i64,
    since: Timestamp,
    probed_at: Timestamp,
}

impl ResizeCondition {
    /// Returns a condition that takes the place of another.
    ///
    /// Source: pkg/kubelet/status/status_manager.go (v1.34), `updatedPodResizeCondition`.
    fn after(before: Option<&Self>, (reason, message): (&str, &str), generation: i64, now: Timestamp) -> Self {
        let since = before.filter(|before| *before.reason == *reason).map_or(now, |before| before.since);
        Self { reason: Text::from(reason), message: Text::from(message), generation, since, probed_at: now }
    }
}

/// Tells whether kubelets change the resources of pods that run.
fn resizes(settings: &Settings) -> bool {
    let profile = settings.profile();
    profile.is("container-resources-in-status") && profile.is("resize-has-conditions")
}

/// Tells whether two lists of requests and limits are the same.
fn are_same(one: &Json, other: &Json) -> bool {
    one == other || ["requests", "limits"].iter().all(|kind| quantities(one.get(kind)) == quantities(other.get(kind)))
}

/// Tells whether the containers of two specifications have the same resources.
fn has_same(one: &Json, other: &Json) -> bool {
    LISTS.iter().all(|list| {
        let pairs = one.get(list).items().iter().zip(other.get(list).items());
        one.get(list) == other.get(list)
            || pairs.into_iter().all(|(a, b)| are_same(a.get("resources"), b.get("resources")))
    })
}

/// Returns a pod whose containers have the resources of those of a specification.
fn with_resources_of(pod: &Object, given: &Json) -> Object {
    let mut tree = pod.json();
    for list in LISTS {
        for (at, container) in given.get(list).items().iter().enumerate() {
            let Some(own) = tree.entry(&["spec", list]).make_array().get_mut(at) else { continue };
            match container.get("resources") {
                Json::Null => drop(own.remove(&["resources"])),
                resources => own.set(&["resources"], resources.clone()),
            }
        }
    }
    Object::new(tree, pod.resource_version())
}

fn generation_of(pod: &Object) -> i64 {
    pod.stable().at(&["metadata", "generation"]).as_i64().unwrap_or_default()
}

impl Resizing {
    /// Tells whether what the kubelet has changed last is something that it has not seen yet.
    pub(super) const fn is_unseen(&self) -> bool {
        !self.shown.is_empty()
    }
}

impl Kubelet {
    /// Returns a pod that is seen again with the resources that it was given, and notes what it asks for.
    ///
    /// Source: pkg/kubelet/allocation/allocation_manager.go (v1.34), `UpdatePodFromAllocation`.
    pub(super) fn as_given(&mut self, uid: &Text, pod: Object) -> Object {
        let Some(worker) = self.pods.workers.get_mut(uid).filter(|_| resizes(&self.settings)) else { return pod };
        let (spec, given) = (pod.stable().get("spec"), worker.object.stable().get("spec"));
        let own = &mut worker.resizing;
        let before = if own.wanted.is_null() { given } else { &own.wanted };
        own.is_asked |= !has_same(spec, before);
        if has_same(spec, given) {
            own.wanted = Json::Null;
            return pod;
        }
        own.wanted = spec.clone();
        with_resources_of(&pod, given)
    }

    /// Returns a pod that is seen for the first time with the resources that an earlier process gave it, and what it
    /// asks for.
    pub(super) fn given_before(&self, uid: &Text, pod: Object, host: &Host) -> (Object, Json) {
        let given = host.runtime.sandbox(uid).map(|sandbox| &sandbox.given).filter(|given| !given.is_null());
        match given.filter(|given| resizes(&self.settings) && !has_same(pod.stable().get("spec"), given)) {
            Some(given) => (with_resources_of(&pod, given), pod.stable().get("spec").clone()),
            None => (pod, Json::Null),
        }
    }

    /// Goes on with the resize of a pod that an earlier process had begun.
    ///
    /// Source: pkg/kubelet/kubelet.go (v1.34), `HandlePodAdditions`: the queue is worked on once all pods are known.
    pub(super) fn resume_resize(&mut self, uid: &Text, wanted: Json, context: &KubeletContext<'_>) {
        let was_started = context.host.runtime.sandbox(uid).is_some();
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        if !resizes(&self.settings) || !was_started || worker.is_over() {
            return;
        }
        worker.resizing.is_open = true;
        let is_waiting = !wanted.is_null();
        worker.resizing.wanted = wanted;
        if self.settings.profile().is("resizes-are-queued") {
            worker.take_resize_conditions(context.now);
            if is_waiting {
                self.queue_resize(uid);
                self.pods.resizes.retry_first(context.now);
            }
        }
    }

    /// Does what follows from the resources that a pod asks for now, or from those that others have given back.
    ///
    /// Source: pkg/kubelet/kubelet.go (v1.34), `HandlePodUpdates` and `HandlePodReconcile`.
    pub(super) fn note_resize(&mut self, uid: &Text, before: &Object, context: &mut KubeletContext<'_>) {
        if !resizes(&self.settings) {
            return;
        }
        let is_queued = self.settings.profile().is("resizes-are-queued");
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        let is_asked = core::mem::take(&mut worker.resizing.is_asked);
        if is_asked && matches!(worker.stage, WorkerStage::Active | WorkerStage::Blocked) && !worker.is_deleted() {
            worker.resizing.is_open = true;
            worker.is_dirty = true;
            if worker.resizing.wanted.is_null() {
                worker.resizing.pending = None;
            } else if is_queued {
                self.queue_resize(uid);
                self.retry_resizes(context);
            }
        } else if is_queued && self.pods.resizes.are_waiting() && self.frees(uid, before) {
            self.retry_resizes(context);
        }
    }

    /// Tells whether a pod counts with less than before.
    fn frees(&self, uid: &Text, before: &Object) -> bool {
        let Some(pod) = self.pods.object(uid) else { return false };
        let level = PodLevel::of(self.settings.profile());
        let counted = |pod: &Object| {
            let resized = spec_in_effect(pod.stable());
            requests(resized.as_ref().unwrap_or(pod.stable().get("spec")), level)
        };
        let (old, new) = (counted(before), counted(pod));
        let has_ended = is_terminal(pod) && !is_terminal(before);
        has_ended && self.settings.profile().is("ended-pods-free-resizes")
            || ["cpu", "memory"].iter().any(|name| new.get(name) < old.get(name))
    }
}

impl Worker {
    /// Takes the conditions of a resize over from the API.
    ///
    /// Source: pkg/kubelet/status/status_manager.go (v1.34), `BackfillPodResizeConditions`.
    fn take_resize_conditions(&mut self, now: Timestamp) {
        let conditions = self.object.stable().at(&["status", "conditions"]);
        let find = |kind: &str| {
            let found = conditions.items().iter().find(|item| item.get("type").as_str() == Some(kind))?;
            let text = |field: &str| found.get(field).as_str().unwrap_or_default();
            let generation = found.get("observedGeneration").as_i64().unwrap_or_default();
            Some(ResizeCondition::after(None, (text("reason"), text("message")), generation, now))
        };
        let [pending, progress] = KINDS.map(find);
        (self.resizing.pending, self.resizing.progress) = (pending, progress);
    }
}
