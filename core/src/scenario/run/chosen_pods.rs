//! The Pods that a line is about without their names, and whether a predicate holds of them. Pure.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::truth::{Holds, Truth, is_terminating, negated, object_truth};
use super::view::ClusterView;
use crate::network::PODS;
use crate::objects::{Object, Text};
use crate::scenario::{ObjectRef, PodPlace, PodsBy, Predicate};

/// The Pods of [`Subject::PodsOf`](crate::scenario::Subject::PodsOf).
pub(super) struct ChosenPods<'a> {
    pub(super) namespace: &'a Text,
    pub(super) by: &'a PodsBy,
    pub(super) place: Option<&'a PodPlace>,
}

impl ChosenPods<'_> {
    pub(super) fn list(&self, view: &ClusterView) -> Vec<Object> {
        view.objects_of(&PODS).filter(|pod| self.has(pod)).cloned().collect()
    }

    fn has(&self, pod: &Object) -> bool {
        let tree = pod.stable();
        let node = tree.at(&["spec", "nodeName"]).as_str();
        let on_node = self.place.is_none_or(|place| place.nodes.iter().any(|own| node == Some(own.as_str())));
        let is_chosen = || match self.by {
            PodsBy::Owner(owner) => is_owned_by(pod, owner),
            PodsBy::Labels(_, selector) => selector.matches(tree.at(&["metadata", "labels"])),
            PodsBy::Namespace => true,
        };
        on_node && pod.key().namespace == *self.namespace && is_chosen()
    }

    pub(super) fn truth(&self, predicate: &Predicate, now: &ClusterView, baseline: &ClusterView) -> Truth {
        let pods = self.list(now);
        let refs = |pods: &[Object]| -> Vec<ObjectRef> {
            pods.iter().map(|pod| ObjectRef::pod(pod.key().namespace, pod.key().name)).collect()
        };
        let left = |pods: &[ObjectRef], part: &Predicate| {
            pods.iter().filter(|of| object_truth(of, part, now, baseline).holds == Holds::Yes).count()
        };
        match predicate {
            Predicate::Not(inner) => {
                let truth = self.truth(inner, now, baseline);
                if truth.holds == Holds::Absent { truth } else { negated(truth) }
            }
            Predicate::Count { count, of } => {
                let fulfils = |pod: &&Object| {
                    let of_pod = ObjectRef::pod(pod.key().namespace, pod.key().name);
                    object_truth(&of_pod, of, now, baseline).holds == Holds::Yes
                };
                let (found, others): (Vec<&Object>, Vec<&Object>) = pods.iter().partition(fulfils);
                let truth = counted(&found);
                // What is waited for says more than that there is none of it.
                let seen = match (found.as_slice(), others.first()) {
                    ([], Some(other)) => format!("{}, and {} other, as {}", truth.seen, others.len(), state_of(other)),
                    _ => truth.seen.clone(),
                };
                Truth { holds: (found.len() == *count).into(), seen, ..truth }
            }
            Predicate::Exists => {
                let found: Vec<&Object> = pods.iter().collect();
                Truth { holds: (!pods.is_empty()).into(), ..counted(&found) }
            }
            Predicate::Gone | Predicate::Deleted => {
                let first = refs(&self.list(baseline));
                let done = left(&first, predicate);
                let holds = if first.is_empty() { Holds::Absent } else { Holds::from(done == first.len()) };
                Truth::new(holds, format!("{done} of {} Pods", first.len()))
            }
            other => match refs(&pods).as_slice() {
                [] => Truth::new(Holds::Absent, format!("no Pod{}", self.by)),
                some => {
                    let truths: Vec<Truth> = some.iter().map(|of| object_truth(of, other, now, baseline)).collect();
                    let best = truths.iter().find(|truth| truth.holds == Holds::Yes).or(truths.first());
                    best.cloned().unwrap_or_else(|| Truth::new(false, ""))
                }
            },
        }
    }
}

/// Tells whether an owner has a Pod; a ReplicaSet of a Deployment has its name with a hash.
pub(super) fn is_owned_by(pod: &Object, owner: &str) -> bool {
    let tree = pod.stable();
    tree.at(&["metadata", "ownerReferences"]).items().iter().any(|reference| {
        let name = reference.get("name").as_str().unwrap_or("");
        let of_deployment = reference.get("kind").as_str() == Some("ReplicaSet")
            && name.rsplit_once('-').is_some_and(|(deployment, _)| deployment == owner);
        name == owner || of_deployment
    })
}

/// Says how a Pod is and where: `web-x, Pending, without a Node`.
fn state_of(pod: &Object) -> String {
    let phase = pod.stable().at(&["status", "phase"]).as_str().unwrap_or("");
    let phase = if is_terminating(pod) { "Terminating" } else { phase };
    format!("{}, {phase}, {}", pod.key().name, place_of(pod))
}

fn place_of(pod: &Object) -> String {
    match pod.stable().at(&["spec", "nodeName"]).as_str() {
        None | Some("") => String::from("without a Node"),
        Some(node) => format!("on {node}"),
    }
}

/// Says how many Pods there are and where: `2 Pods (web-x on a, web-y without a Node)`.
fn counted(pods: &[&Object]) -> Truth {
    const NAMES_MAX: usize = 6;
    let word = if pods.len() == 1 { "Pod" } else { "Pods" };
    let place = |pod: &&Object| format!("{} {}", pod.key().name, place_of(pod));
    let mut places: Vec<String> = pods.iter().take(NAMES_MAX).map(place).collect();
    if pods.len() > NAMES_MAX {
        places.push(format!("{} more", pods.len() - NAMES_MAX));
    }
    let seen = if places.is_empty() { String::new() } else { format!(" ({})", places.join(", ")) };
    Truth::new(true, format!("{} {word}{seen}", pods.len()))
}
