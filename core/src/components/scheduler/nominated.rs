//! Nominations: which Pods are nominated for which node, whose resources Pods of lower priority must leave to them.
//!
//! Mirrors pkg/scheduler/backend/queue/nominator.go and pkg/scheduler/framework/runtime/framework.go,
//! `RunFilterPluginsWithNominatedPods` (v1.34). Inputs: nominations as they are made, cleared and seen. Outputs: nodes
//! with their nominated Pods, and whether a Pod fits with and without those.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::cache::{NodeInfo, PodInfo};
use super::filters::{Candidate, Rules};
use super::plugins::Rejection;
use super::preemption::fits;
use super::snapshot::ClusterSnapshot;
use crate::objects::{Object, ObjectKey, Text};

/// The nominations.
#[derive(Clone, Debug, Default)]
pub(super) struct Nominations(BTreeMap<ObjectKey, (Text, Arc<PodInfo>)>);

impl Nominations {
    /// Nominates a Pod for a node; an empty name clears the nomination.
    pub(super) fn set(&mut self, pod: Arc<PodInfo>, node: &Text) {
        if node.is_empty() {
            self.0.remove(&pod.key);
        } else {
            self.0.insert(pod.key.clone(), (node.clone(), pod));
        }
    }

    /// Applies the nomination in the status of a waiting Pod; one that was not written yet stays.
    pub(super) fn follow(&mut self, before: Option<&Object>, pod: Arc<PodInfo>) {
        let said = |object: &Object| {
            object.stable().at(&["status", "nominatedNodeName"]).as_text().cloned().unwrap_or_default()
        };
        let now = said(&pod.object);
        let was = before.map(said).unwrap_or_default();
        if now.is_empty()
            && was.is_empty()
            && let Some((_, known)) = self.0.get_mut(&pod.key)
        {
            *known = pod;
        } else {
            self.set(pod, &now);
        }
    }

    pub(super) fn remove(&mut self, key: &ObjectKey) {
        self.0.remove(key);
    }

    /// Returns the Pods of lower priority that are nominated for a node.
    pub(super) fn below(&self, priority: i64, node: &Text) -> Vec<Arc<PodInfo>> {
        let here = self.0.values().filter(|(other, pod)| other == node && pod.priority < priority);
        here.map(|(_, pod)| pod.clone()).collect()
    }

    /// Returns the node with the Pods that are nominated for it and have at least the same priority; `None` if there
    /// are none.
    pub(super) fn with_nominated(&self, pod: &PodInfo, node: &NodeInfo) -> Option<NodeInfo> {
        let counts = |(other, nominated): &&(Text, Arc<PodInfo>)| {
            other == node.name() && nominated.priority >= pod.priority && nominated.key != pod.key
        };
        let mut crowded: Option<NodeInfo> = None;
        for (_, nominated) in self.0.values().filter(counts) {
            crowded.get_or_insert_with(|| node.clone()).add(nominated.clone());
        }
        crowded
    }

    /// Runs the filters for a node in a given state, with the nominated Pods and without.
    pub(super) fn check(
        &self,
        pod: &PodInfo,
        node: &NodeInfo,
        view: &ClusterSnapshot<'_>,
        rules: Rules,
    ) -> Result<(), Rejection> {
        if let Some(crowded) = self.with_nominated(pod, node) {
            fits(pod, &crowded, view, rules)?;
        }
        fits(pod, node, view, rules)
    }

    /// As [`Self::check`], for a candidate that was already made.
    pub(super) fn check_candidate(
        &self,
        candidate: &Candidate<'_>,
        node: &NodeInfo,
        view: &ClusterSnapshot<'_>,
    ) -> Result<(), Rejection> {
        if let Some(crowded) = self.with_nominated(candidate.pod, node) {
            fits(candidate.pod, &crowded, view, candidate.rules)?;
        }
        candidate.check(node)
    }
}
