//! Writes the heartbeats of a Node without a kubelet: its status and its Lease.
//!
//! A sans-IO component: time and actions in, requests out. It writes as a kubelet would, under a kubelet's identity.
//! Invariant: a silenced Lease or status is not written before it is resumed or a condition is set.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::{Feed, HandFedNode};
use crate::json;
use crate::network::{Call, Identity, LEASES, MERGE_PATCH, NODE_LEASES, NODES, Verb};
use crate::objects::time::{to_micro_time, to_time};
use crate::objects::{Json, Text};

/// How long a kubelet's Lease lasts. Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34),
/// `NodeLeaseDurationSeconds`.
const LEASE_SECONDS: i64 = 40;

#[derive(Clone, Debug)]
struct Condition {
    kind: Text,
    status: Text,
    reason: Text,
    message: Text,
    /// Since when; unknown after another writer has changed the status, until it is written again.
    since: Option<Timestamp>,
}

/// The heartbeats of one Node.
#[derive(Clone, Debug)]
pub struct HeartbeatWriter {
    node: HandFedNode,
    identity: Arc<Identity>,
    uid: Text,
    conditions: Vec<Condition>,
    renew_at: Option<Timestamp>,
    post_at: Option<Timestamp>,
    calls: VecDeque<Call>,
}

impl HeartbeatWriter {
    /// Starts with a healthy Node whose writes are due at once.
    #[must_use]
    pub fn new(node: HandFedNode, now: Timestamp) -> Self {
        let condition = |kind, status, reason, message| Condition {
            kind: Text::of(kind),
            status: Text::of(status),
            reason: Text::of(reason),
            message: Text::of(message),
            since: Some(now),
        };
        let conditions = Vec::from([
            condition(
                "MemoryPressure",
                "False",
                "KubeletHasSufficientMemory",
                "kubelet has sufficient memory available",
            ),
            condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
            condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
        ]);
        Self {
            renew_at: Some(now + node.lease_every),
            post_at: Some(now),
            identity: Identity::kubelet(&node.name),
            node,
            uid: Text::default(),
            conditions,
            calls: VecDeque::new(),
        }
    }

    /// Returns the Node's name.
    #[must_use]
    pub fn name(&self) -> &Text {
        &self.node.name
    }

    /// Returns the identity of the writes.
    #[must_use]
    pub fn identity(&self) -> Arc<Identity> {
        self.identity.clone()
    }

    /// Returns the requests that create Node and Lease.
    #[must_use]
    pub fn creation(&self, now: Timestamp) -> [Call; 2] {
        let name = self.node.name.as_str();
        let mut labels = json!({"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"});
        for (key, value) in &self.node.labels {
            labels.make_object().insert(key.clone(), value);
        }
        let mut node = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name}, "spec": {}});
        node.set(&["metadata", "labels"], labels);
        if !self.node.taints.is_empty() {
            node.set(&["spec", "taints"], Json::array(self.node.taints.clone()));
        }
        let lease = json!({
            "kind": "Lease", "apiVersion": "coordination.k8s.io/v1",
            "metadata": {"name": name, "namespace": NODE_LEASES},
            "spec": {"holderIdentity": name, "leaseDurationSeconds": LEASE_SECONDS, "renewTime": to_micro_time(now)},
        });
        [
            Call::new(Verb::Create, NODES, "", "").body(node),
            Call::new(Verb::Create, LEASES, NODE_LEASES, "").body(lease),
        ]
    }

    /// Takes the Node or Lease that was made: the Lease belongs to the Node.
    pub fn handle_answer(&mut self, object: &Json) {
        let uid = object.at(&["metadata", "uid"]).as_text().cloned().unwrap_or_default();
        if object.at(&["metadata", "namespace"]).is_null() {
            self.uid = uid;
            return;
        }
        let owner = json!([{"apiVersion": "v1", "kind": "Node", "name": self.node.name.as_str(), "uid": self.uid}]);
        self.patch_lease(json!({"metadata": {"ownerReferences": owner}}));
    }

    /// Takes a revision of the Node by any writer. As a kubelet, it sets a new transition time when it changes a
    /// foreign status back.
    pub fn handle_node(&mut self, node: &Json) {
        for found in node.at(&["status", "conditions"]).items() {
            let own = self.conditions.iter_mut().find(|own| found.get("type").as_str() == Some(&own.kind));
            if let Some(own) = own.filter(|own| found.get("status").as_str() != Some(&own.status)) {
                own.since = None;
            }
        }
    }

    /// Applies a change of the heartbeats.
    pub fn handle_feed(&mut self, feed: Feed, now: Timestamp) {
        match feed {
            Feed::Silence => {
                self.renew_at = None;
                self.post_at = None;
            }
            Feed::SilenceLease => self.renew_at = None,
            Feed::SilenceStatus => self.post_at = None,
            Feed::Resume => {
                self.renew_at = Some(now);
                self.post_at = Some(now);
            }
            Feed::Condition { kind, status, reason, message } => {
                let old = self.conditions.iter().position(|condition| condition.kind == kind);
                let since = old.map(|at| &self.conditions[at]).filter(|old| old.status == status);
                let since = since.map_or(Some(now), |old| old.since);
                let condition = Condition { kind, status, reason, message, since };
                match old {
                    Some(at) => self.conditions[at] = condition,
                    None => self.conditions.push(condition),
                }
                self.post(now);
            }
        }
    }

    /// Queues what is due.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        if self.renew_at.is_some_and(|at| at <= now) {
            self.renew_at = Some(now + self.node.lease_every);
            self.patch_lease(json!({"spec": {"renewTime": to_micro_time(now)}}));
        }
        if self.post_at.is_some_and(|at| at <= now) {
            self.post_at = Some(now + self.node.status_every);
            self.post(now);
        }
    }

    /// Returns the next request.
    pub fn poll_call(&mut self) -> Option<Call> {
        self.calls.pop_front()
    }

    /// Returns when the next write is due.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.renew_at.into_iter().chain(self.post_at).min()
    }

    fn patch_lease(&mut self, patch: Json) {
        let call = Call::new(Verb::Patch, LEASES, NODE_LEASES, self.node.name.clone());
        self.calls.push_back(call.header("content-type", Text::of(MERGE_PATCH)).body(patch));
    }

    fn post(&mut self, now: Timestamp) {
        let conditions: Json = self
            .conditions
            .iter_mut()
            .map(|condition| {
                let since = *condition.since.get_or_insert(now);
                json!({
                    "type": condition.kind, "status": condition.status, "reason": condition.reason,
                    "message": condition.message, "lastHeartbeatTime": to_time(now),
                    "lastTransitionTime": to_time(since),
                })
            })
            .collect();
        let room = json!({"cpu": "4", "memory": "8Gi", "pods": "110", "ephemeral-storage": "100Gi"});
        let mut status = Json::object();
        status.set(&["status", "conditions"], conditions);
        status.set(&["status", "capacity"], room.clone());
        status.set(&["status", "allocatable"], room);
        status.set(&["status", "addresses"], json!([{"type": "Hostname", "address": self.node.name}]));
        if let Some(version) = &self.node.version {
            status.set(&["status", "nodeInfo", "kubeletVersion"], version.clone());
        }
        let call = Call::strategic_patch(NODES, "", self.node.name.clone(), status);
        self.calls.push_back(call.subresource("status"));
    }
}
