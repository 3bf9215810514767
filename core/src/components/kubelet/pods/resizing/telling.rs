//! The conditions and the Events of a resize.
//!
//! Mirrors pkg/kubelet/events/resize.go (v1.35) and what pkg/kubelet/allocation (v1.34) and pkg/kubelet/status tell.
//! Inputs: what was decided and done. Outputs: conditions, Events.

use super::*;
use crate::components::kubelet::pods::status_context::StatusContext;

/// Type, reason and first words of an Event.
type EventWords = (EventType, &'static str, &'static str);

pub(super) const STARTED_EVENT: EventWords = (EventType::Normal, "ResizeStarted", "Pod resize started");
pub(super) const COMPLETED_EVENT: EventWords = (EventType::Normal, "ResizeCompleted", "Pod resize completed");
pub(super) const DEFERRED_EVENT: EventWords = (EventType::Warning, "ResizeDeferred", "Pod resize Deferred");
pub(super) const INFEASIBLE_EVENT: EventWords = (EventType::Warning, "ResizeInfeasible", "Pod resize Infeasible");
pub(super) const ERROR_EVENT: EventWords = (EventType::Warning, "ResizeError", "Pod resize error");

/// Tells whether a condition is one that kubelets write of resizes.
pub(in crate::components::kubelet::pods) fn is_of_resize(kind: &str, settings: &Settings) -> bool {
    KINDS.contains(&kind) && settings.profile().is("resize-has-conditions")
}

impl Resizing {
    /// Returns the conditions of a pod; one that has ended has none.
    pub(in crate::components::kubelet::pods) fn conditions(
        &self,
        is_over: bool,
        view: &StatusContext<'_>,
    ) -> Vec<Json> {
        let tells_generation = view.settings.profile().is("pod-observed-generation");
        let own = KINDS.into_iter().zip([&self.pending, &self.progress]).filter(|_| !is_over);
        let write = |(kind, own): (&str, &Option<ResizeCondition>)| {
            let own = own.as_ref()?;
            let mut condition = json!({"type": kind, "status": "True", "lastProbeTime": view.time(own.probed_at),
                "lastTransitionTime": view.time(own.since)});
            for (field, text) in [("reason", &own.reason), ("message", &own.message)] {
                if !text.is_empty() {
                    condition.set(&[field], text);
                }
            }
            if tells_generation && own.generation != 0 {
                condition.set(&["observedGeneration"], own.generation);
            }
            Some(condition)
        };
        own.filter_map(write).collect()
    }
}

impl Kubelet {
    /// Tells of a resize, with the resources of all containers.
    pub(super) fn resize_event(
        &mut self,
        pod: &Object,
        (kind, reason, words): EventWords,
        (generation, error): (i64, &str),
        context: &mut KubeletContext<'_>,
    ) {
        let of_list = |list: &str| {
            let write = |own: &Json| {
                let resources = own.get("resources");
                let resources = if resources.is_object() { resources.clone() } else { Json::object() };
                format!("{{\"name\":{},\"resources\":{resources}}}", own.get("name"))
            };
            let all: Vec<String> = pod.stable().at(&["spec", list]).items().iter().map(write).collect();
            (!all.is_empty()).then(|| format!("\"{list}\":[{}]", all.join(",")))
        };
        let mut parts: Vec<String> = ["initContainers", "containers"].into_iter().filter_map(of_list).collect();
        if self.settings.profile().is("resize-steps-are-told") {
            parts.push(format!("\"generation\":{generation}"));
        }
        if !error.is_empty() {
            parts.push(format!("\"error\":{}", Json::text(error)));
        }
        let message = format!("{words}: {{{}}}", parts.join(","));
        self.pod_event(pod, None, (kind, reason, message), context);
    }
}
