//! Tells kubelets how long they may cache Secrets and ConfigMaps: the annotation `node.alpha.kubernetes.io/ttl`.
//!
//! Mirrors kube-controller-manager's `ttl-controller` (pkg/controller/ttl/ttl_controller.go, v1.34). The seconds follow
//! the number of Nodes, with hysteresis. Inputs: Node events, answers, time. Outputs: patches of the annotation.
//! Left out on purpose: the limit of five workers, since the client's rate limit is narrower.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::client::{CacheEvent, Client, Heartbeat, Outcome, Reflector, WorkQueue};
use super::controller::{Context, Controller};
use super::{Because, Component, Deadline, Outbox, Output, earliest};
use crate::json;
use crate::network::{Call, Identity, NODES, RequestId, ToClient};
use crate::objects::{Object, Text};

/// The annotation. Source: k8s.io/api core/v1/annotation_key_constants.go (v1.34), `ObjectTTLAnnotationKey`.
const ANNOTATION: &str = "node.alpha.kubernetes.io/ttl";

/// Smallest and largest number of Nodes of a step, and its seconds.
///
/// Source: pkg/controller/ttl/ttl_controller.go (v1.34), `ttlBoundaries`.
const STEPS: [(usize, usize, i64); 5] =
    [(0, 100, 0), (90, 500, 15), (450, 1000, 30), (900, 2000, 60), (1800, usize::MAX, 300)];

/// The controller.
#[derive(Clone, Debug)]
pub struct Ttl {
    outbox: Outbox,
    nodes: Reflector,
    client: Client,
    queue: WorkQueue<Text>,
    under_way: BTreeMap<RequestId, Text>,
    count: usize,
    step: usize,
}

impl Ttl {
    /// Starts the controller with an empty cache.
    #[must_use]
    pub fn new(context: &Context, now: Timestamp) -> Self {
        let mut outbox = Outbox::default();
        let identity = Identity::controller("ttl-controller");
        let nodes = Reflector::new(identity.clone(), NODES, "", Vec::new(), context.chance.fork("nodes"), &mut outbox);
        Self {
            outbox,
            nodes,
            client: Client::new(identity, &context.settings, now),
            queue: WorkQueue::default(),
            under_way: BTreeMap::new(),
            count: 0,
            step: 0,
        }
    }

    fn handle_event(&mut self, event: &CacheEvent) {
        match (&event.before, &event.after) {
            (None, Some(_)) => {
                self.count += 1;
                if self.count > STEPS[self.step].1 {
                    self.step += 1;
                }
            }
            (Some(_), None) => {
                self.count -= 1;
                if self.count < STEPS[self.step].0 {
                    self.step -= 1;
                }
            }
            _ => {}
        }
        if let Some(node) = &event.after
            && self.is_due(node)
        {
            self.queue.add(Text::from(node.name()));
        }
    }

    const fn seconds(&self) -> i64 {
        STEPS[self.step].2
    }

    fn is_due(&self, node: &Object) -> bool {
        annotated(node) != Some(self.seconds())
    }

    fn work(&mut self, now: Timestamp) {
        while let Some(name) = self.queue.take() {
            let seconds = self.seconds();
            let Some(node) = self.nodes.cache().get("", &name).filter(|node| self.is_due(node)) else {
                self.queue.forget(&name);
                self.queue.done(&name);
                continue;
            };
            let before = annotated(node).map_or_else(|| String::from("none"), |seconds| format!("{seconds}"));
            let because = self.outbox.decide(
                format!("node/{name}"),
                format!("annotation {ANNOTATION}: {before} -> {seconds}"),
                Vec::from([Because::Fact(format!("the cluster has {} nodes", self.count))]),
            );
            let patch = json!({"metadata": {"annotations": {ANNOTATION: format!("{seconds}")}}});
            let call = Call::strategic_patch(NODES, "", &name, patch);
            let id = self.client.send(call, Some(because), &mut self.outbox, now);
            self.under_way.insert(id, name);
        }
    }
}

/// Returns the annotation's value; `None` for an absent one or one that is no number.
fn annotated(node: &Object) -> Option<i64> {
    node.stable().at(&["metadata", "annotations", ANNOTATION]).as_str()?.parse().ok()
}

impl Component for Ttl {
    fn handle_message(&mut self, message: ToClient, now: Timestamp) {
        if self.nodes.owns(message.id()) {
            for event in self.nodes.handle_message(message, &mut self.outbox, now) {
                self.handle_event(&event);
            }
        } else if let ToClient::Response { id, result } = message
            && let Some(name) = self.under_way.remove(&id)
        {
            match Outcome::of(&result) {
                Outcome::Done(_) => self.queue.forget(&name),
                _ => self.queue.retry(name.clone(), now),
            }
            self.queue.done(&name);
        }
        self.work(now);
    }

    fn handle_timeout(&mut self, now: Timestamp) {
        self.nodes.handle_timeout(&mut self.outbox, now);
        self.client.handle_timeout(&mut self.outbox, now);
        self.queue.handle_timeout(now);
        self.work(now);
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outbox.poll()
    }

    fn next_deadline(&self) -> Option<Deadline> {
        earliest([self.nodes.next_deadline(), self.client.next_deadline(), self.queue.next_deadline()])
    }
}

impl Controller for Ttl {
    fn informer(&mut self, watch: RequestId) -> Option<&mut Reflector> {
        Some(&mut self.nodes).filter(|informer| informer.owns(watch))
    }

    fn handle_heartbeat(&mut self, heartbeat: &Heartbeat<'_>) -> bool {
        if self.is_due(heartbeat.node) {
            return false;
        }
        let slot = self.nodes.before_heartbeat(heartbeat);
        if let Some(slot) = slot {
            self.nodes.take_heartbeat(slot, heartbeat);
        }
        slot.is_some()
    }

    fn queues(&self) -> Vec<(&'static str, usize)> {
        Vec::from([("ttl_controller", self.queue.len()), ("requests", self.client.waiting())])
    }
}
