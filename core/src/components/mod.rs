//! The parts of a cluster as sans-IO state machines: inputs, outputs, deadlines; no clock and no transport.
//!
//! Each is named as Kubernetes names it. Inputs: messages, time. Outputs: requests, decisions, log lines. A component
//! owns no transport: it reaches the API server, and the servers of machines and of the cloud, by messages over the
//! network alone. A machine alone owns its kubelet.

pub mod api_server;
mod attach_detach;
mod certificates;
pub mod client;
pub mod cloud;
mod cloud_calls;
mod cloud_node;
mod cloud_node_lifecycle;
pub mod controller;
mod cron_job;
mod csi_attacher;
mod daemonset;
mod deployment;
pub mod describe;
mod disruption;
pub mod drain;
mod endpointslice;
mod ephemeral_volumes;
pub mod events;
pub mod garbage_collector;
pub mod host;
mod job;
pub mod kubelet;
pub mod leader_election;
pub mod machine;
mod namespace;
pub mod node_affinity;
pub mod node_ipam;
pub mod node_lifecycle;
mod node_route;
pub mod pod_gc;
mod pod_references;
pub mod pod_resources;
mod pod_status;
mod quota_usage;
mod record;
pub mod registry;
mod replicaset;
mod resource_quota;
pub mod scheduler;
mod service_accounts;
mod statefulset;
mod storage_protection;
pub mod taint_eviction;
pub mod tolerations;
mod ttl;
mod ttl_after_finished;
mod volume_binder;
mod volume_matching;
pub mod volumes;
mod workload;

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

pub use record::{Record, RecordedDecision, TraceLine, component_name};

pub use crate::network::DecisionId;
use crate::network::{HttpAnswer, HttpId, Request, RequestId, ToClient};
use crate::objects::Text;

/// The annotation of mirror Pods, which a kubelet creates for its static Pods.
///
/// Source: pkg/apis/core/annotation_key_constants.go (v1.34), `MirrorPodAnnotationKey`.
const MIRROR: &str = "kubernetes.io/config.mirror";
/// The ConfigMap of the cluster's root certificate, which a controller keeps in each namespace.
///
/// Source: pkg/controller/certificates/rootcacertpublisher/publisher.go (v1.34), `RootCACertConfigMapName`.
const ROOT_CERTIFICATE: &str = "kube-root-ca.crt";

/// When a component wants to be woken, and what for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deadline {
    /// The instant.
    pub at: Timestamp,
    /// The timer's name, as the trace and `GET clock` show it.
    pub reason: &'static str,
}

/// Returns the earliest of some deadlines; of equal ones the first in the list.
pub fn earliest(deadlines: impl IntoIterator<Item = Option<Deadline>>) -> Option<Deadline> {
    let mut first: Option<Deadline> = None;
    for deadline in deadlines {
        if let Some(next) = deadline
            && first.is_none_or(|first| next.at < first.at)
        {
            first = Some(next);
        }
    }
    first
}

/// Returns the next instant of a loop after now; its start, if that is still to come.
pub(crate) fn next_of(start: Timestamp, period: SignedDuration, now: Timestamp) -> Timestamp {
    let age = now.duration_since(start).as_nanos();
    if age < 0 {
        return start;
    }
    let rest = period.as_nanos() - age.rem_euclid(period.as_nanos());
    now + SignedDuration::from_nanos(i64::try_from(rest).unwrap_or_default())
}

/// What a component wants done.
#[derive(Clone, Debug)]
pub enum Output {
    /// Send a request to the API server.
    Request(Request),
    /// Give up a request or close a watch.
    Cancel(RequestId),
    /// The process ended: its connections are gone with all that was under way.
    Exit,
    /// Record a decision and its reasons.
    Decision(Decision),
    /// Write a line to the component's log.
    Log(String),
    /// Answer a call to the component's own server.
    Served(HttpId, HttpAnswer),
}

/// A component of the cluster.
///
/// The contract, which `sim/contract_tests.rs` holds all components to:
/// 1. One input, then `poll_output` until `None`, then `next_deadline`, then the next input.
/// 2. `now` never decreases. Nothing reads a clock and nothing stores how long ago something was.
/// 3. `handle_timeout` early or twice is harmless; late is normal: it catches up and does not replay missed ticks.
/// 4. `next_deadline` is a pure query; `None` means that only an input can wake the component.
/// 5. A component that owns others hands them their inputs and polls them empty inside its own `handle_*`.
pub trait Component {
    /// Takes an answer or a watch event.
    fn handle_message(&mut self, message: ToClient, now: Timestamp);

    /// Does what is due.
    fn handle_timeout(&mut self, now: Timestamp);

    /// Returns the next output, in the order in which they were caused.
    fn poll_output(&mut self) -> Option<Output>;

    /// Returns when to call `handle_timeout`.
    fn next_deadline(&self) -> Option<Deadline>;
}

/// What a component decided, about what, and why.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    /// Unique among the component's decisions, counting up from 1.
    pub id: DecisionId,
    /// The object: `node/worker-1`, `pod/default/web-1`.
    pub about: Text,
    /// What happens to it: `Ready -> Unknown`.
    pub what: String,
    /// The reasons, most important first.
    pub because: Vec<Because>,
}

/// A reason of a decision.
#[derive(Clone, PartialEq, Debug)]
pub enum Because {
    /// An earlier decision of the same component.
    Decision(DecisionId),
    /// A fact in words, with instants and limits.
    Fact(String),
}

/// The outputs of a component, with the numbering of its requests and decisions.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    queue: VecDeque<Output>,
    last_request: u64,
    last_decision: u32,
}

impl Outbox {
    /// Returns the id of the next request.
    pub fn next_id(&mut self) -> RequestId {
        self.last_request += 1;
        RequestId(self.last_request)
    }

    /// Skips the ids of requests that were performed without being sent.
    pub(crate) fn skip_ids(&mut self, count: u64) {
        self.last_request += count;
    }

    /// Queues an output.
    pub fn push(&mut self, output: Output) {
        self.queue.push_back(output);
    }

    /// Queues a decision and returns its id, for the requests and decisions that follow from it.
    pub fn decide(&mut self, about: impl Into<Text>, what: impl Into<String>, because: Vec<Because>) -> DecisionId {
        self.last_decision += 1;
        let id = DecisionId(self.last_decision);
        self.push(Output::Decision(Decision { id, about: about.into(), what: what.into(), because }));
        id
    }

    /// Returns the next output.
    pub fn poll(&mut self) -> Option<Output> {
        self.queue.pop_front()
    }
}
