//! Work items that single events cause: NoSchedule taints and beta labels of a node, and pods bound to a node that is
//! not ready.
//!
//! Mirrors `doNodeProcessingPassWorker`, `reconcileNodeLabels` and `doPodProcessingWorker`
//! (node_lifecycle_controller.go, v1.34). Inputs: changed nodes and pods, answers. Outputs: requests, decisions. A
//! failed item of a node is not retried before the node's next event.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::health::Status;
use super::pods::PodsWrite;
use super::taints::{LabelWrite, Taint, TaintWrite, label_difference, no_schedule_difference};
use super::work_items::{End, WorkItem};
use super::{NodeId, NodeLifecycle, Owner, POD_CACHE};
use crate::components::Because;
use crate::components::client::node_name;
use crate::objects::{Json, ObjectKey};

/// Nodes that are processed concurrently. Source: `scheduler.UpdateWorkerSize` (v1.34).
const NODE_WORKERS: usize = 8;
/// Pods that are processed concurrently. Source: `podUpdateWorkerSize` (v1.34).
const POD_WORKERS: usize = 4;

impl NodeLifecycle {
    pub(super) fn advance_items(&mut self, now: Timestamp) {
        while self.node_queue.working() < NODE_WORKERS
            && let Some(id) = self.node_queue.take()
        {
            self.begin_taints(id, now);
        }
        self.advance_pods(now);
    }

    pub(super) fn advance_pods(&mut self, now: Timestamp) {
        while self.pod_queue.working() < POD_WORKERS
            && let Some(key) = self.pod_queue.take()
        {
            self.begin_pod(key, now);
        }
    }

    fn begin_taints(&mut self, id: NodeId, now: Timestamp) {
        let Some(node) = self.cached(id).cloned() else {
            self.failed.remove(&id);
            self.node_queue.done(&id);
            return;
        };
        let (add, remove) = no_schedule_difference(node.stable());
        if !self.no_schedule_taints || add.is_empty() && remove.is_empty() {
            self.failed.remove(&id);
            self.begin_labels(id, now);
            return;
        }
        let signed = |sign: char, taints: &[Taint]| -> Vec<String> {
            taints.iter().map(|taint| format!("{sign}{taint}")).collect()
        };
        let what = [signed('+', &add), signed('-', &remove)].concat().join(" ");
        let because = self.runtime.decide(
            format!("node/{}", self.node(id).name),
            what,
            Vec::from([Because::Fact(conditions(node.stable()))]),
        );
        let write = TaintWrite::swap(&node, add, remove, Some(because), now);
        self.start_item(Owner::Taints(id), WorkItem::Taints(write), now);
    }

    pub(super) fn handle_taints_done(&mut self, id: NodeId, end: &End, now: Timestamp) {
        if end.is_well() {
            self.failed.remove(&id);
        } else {
            self.failed.insert(id);
        }
        self.begin_labels(id, now);
    }

    fn begin_labels(&mut self, id: NodeId, now: Timestamp) {
        let labels = self.cached(id).map(|node| label_difference(node.stable())).unwrap_or_default();
        if labels.is_empty() {
            self.node_queue.done(&id);
            return;
        }
        let name = self.node(id).name.clone();
        let what: Vec<String> = labels.iter().map(|(label, value)| format!("{label}={value}")).collect();
        let because = self.runtime.decide(
            format!("node/{name}"),
            format!("labels {}", what.join(", ")),
            Vec::from([Because::Fact(String::from("the beta labels follow the stable ones"))]),
        );
        self.start_item(Owner::Labels(id), WorkItem::Labels(LabelWrite::new(name, labels, Some(because))), now);
    }

    pub(super) fn handle_labels_done(&mut self, id: NodeId, end: &End) {
        if !end.is_well() {
            self.failed.insert(id);
        }
        self.node_queue.done(&id);
    }

    /// Begins with the deletion of a Pod where the controller deletes Pods itself.
    fn begin_pod(&mut self, key: ObjectKey, now: Timestamp) {
        let pod = self.runtime.cache(POD_CACHE).get(&key).cloned();
        let id = pod.as_ref().and_then(node_name).and_then(|name| self.ids.get(name)).copied();
        let node = id.and_then(|id| self.cached(id)).filter(|_| self.direct.is_some()).cloned();
        let item = match (id, node, pod) {
            (Some(id), Some(node), Some(pod)) => {
                let saved = self.node(id).signs.health.and_then(|health| health.ready);
                saved
                    .and_then(|ready| self.check_eviction((id, &node), |_| Vec::from([pod]), (ready.status, None), now))
            }
            _ => None,
        };
        match item {
            Some(item) => self.start_item(Owner::PodEviction(key), item, now),
            None => self.mark_pod(key, now),
        }
    }

    pub(super) fn handle_pod_evicted(&mut self, key: ObjectKey, end: &End, now: Timestamp) {
        if end.is_well() {
            self.mark_pod(key, now);
        } else {
            self.handle_pod_done(key, end, now);
        }
    }

    /// Marks a Pod of a node that is not ready, as far as the last health pass knows; a Pod whose node was known and is
    /// gone is looked at again.
    fn mark_pod(&mut self, key: ObjectKey, now: Timestamp) {
        let pod = self.runtime.cache(POD_CACHE).get(&key).cloned();
        let name = pod.as_ref().and_then(node_name).cloned();
        let node = name.as_ref().and_then(|name| self.ids.get(name)).map(|id| self.node(*id));
        let health = node.and_then(|node| node.signs.health);
        let is_gone = node.is_some_and(|node| node.slot.is_none());
        match (pod, name, health) {
            (Some(_), _, Some(_)) if is_gone => self.handle_pod_done(key, &End::Over(false), now),
            (Some(pod), Some(name), Some(health)) if health.ready.is_some_and(|ready| ready.status != Status::True) => {
                let write = PodsWrite::new(name, Vec::from([pod]), None);
                self.start_item(Owner::Pod(key), WorkItem::Pods(write), now);
            }
            _ => self.pod_queue.done(&key),
        }
    }

    /// Upstream never forgets how often a Pod failed.
    pub(super) fn handle_pod_done(&mut self, key: ObjectKey, end: &End, now: Timestamp) {
        if !end.is_well() {
            self.pod_queue.retry(key.clone(), now);
        }
        self.pod_queue.done(&key);
    }
}

/// Prints what a node's NoSchedule taints depend on: its conditions and whether it is cordoned.
fn conditions(node: &Json) -> String {
    let mut words: Vec<String> = node
        .at(&["status", "conditions"])
        .items()
        .iter()
        .map(|condition| {
            let field = |name| condition.get(name).as_str().unwrap_or("");
            format!("{}={}", field("type"), field("status"))
        })
        .collect();
    if node.at(&["spec", "unschedulable"]).as_bool() == Some(true) {
        words.push(String::from("unschedulable"));
    }
    if words.is_empty() { String::from("no condition") } else { words.join(", ") }
}
