//! Gives each Node its networks for pods: `spec.podCIDR` and `spec.podCIDRs`.
//!
//! Mirrors kube-controller-manager's `node-ipam-controller` with its range allocator
//! (pkg/controller/nodeipam/ipam/range_allocator.go, v1.34). Inputs: Node events, answers, time. Outputs: patches of
//! Nodes, Events of `cidrAllocator`. It runs with `--allocate-node-cidrs` only.
//! Invariants: blocks are allocated in order, each to one Node. A released block wakes no waiting Node; the next one
//! that asks may get it. When one of two networks has no block left, the block of the other stays taken, as upstream.
//! Left out on purpose: if a Node's network lies outside the cluster's at the start, the whole kube-controller-manager
//! restarts endlessly; here this controller alone stops, and logs why.

mod cidr;
mod config;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::Timestamp;

pub use cidr::{Cidr, CidrSet};
pub use config::{FlagError, sets};

use super::client::{CacheEvent, WorkQueue};
use super::controller::{
    ApiResult, Controller, ControllerContext, ControllerRuntime, Measure, MeasuredValue, Watched, gauge_of,
};
use super::events::{EventType, InvolvedObject};
use super::{Because, Deadline, DecisionId, earliest};
use crate::json;
use crate::network::{Call, NODES, RequestId};
use crate::objects::{Json, Object, Text};

/// Nodes that are processed concurrently.
/// Source: pkg/controller/nodeipam/ipam/cidr_allocator.go (v1.34), `cidrUpdateWorkers`.
const WORKERS: usize = 30;
/// How often a patch is tried before the blocks are given back.
/// Source: as [`WORKERS`], `cidrUpdateRetries`.
const TRIES: u32 = 3;

/// A Node that is to get its blocks.
#[derive(Clone, Debug)]
struct PendingAllocation {
    name: Text,
    uid: Text,
    blocks: Vec<Cidr>,
    /// The number of patches sent so far.
    tries: u32,
    because: DecisionId,
}

/// The controller; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
pub struct NodeIpam {
    runtime: ControllerRuntime,
    queue: WorkQueue<Text>,
    under_way: BTreeMap<RequestId, PendingAllocation>,
    /// Nodes whose patch was answered at this instant. Their worker is free only a little later: by then the patch
    /// usually has reached the cache, and a Node that changed meanwhile gets no second block.
    settling: Vec<(Timestamp, Text)>,
    sets: Vec<CidrSet>,
    /// Whether the blocks of the Nodes in the first list are marked.
    started: bool,
    /// Whether a Node's network lies outside: the controller has stopped.
    crashed: bool,
}

impl NodeIpam {
    /// Starts the controller with an empty cache; `None` if the flags say that nodes get no networks.
    #[must_use]
    pub fn new(context: &ControllerContext, now: Timestamp) -> Option<Self> {
        let sets = sets(&context.settings).ok().flatten()?;
        let watched = [Watched::with(NODES, None)];
        let runtime = ControllerRuntime::new(&watched, context, now);
        Some(Self {
            runtime,
            queue: WorkQueue::default(),
            under_way: BTreeMap::new(),
            settling: Vec::new(),
            sets,
            started: false,
            crashed: false,
        })
    }

    /// Marks the blocks of the Nodes in the first list, before any Node is processed.
    fn begin(&mut self) {
        if self.started || !self.runtime.is_synced() {
            return;
        }
        self.started = true;
        let there: Vec<(Text, Vec<Text>)> =
            self.runtime.cache(0).objects().map(|node| (Text::from(node.name()), cidrs(node))).collect();
        for (name, cidrs) in there {
            if let Err(why) = self.mark(&name, &cidrs, CidrSet::occupy) {
                self.crashed = true;
                let why = format!("failed to mark cidr as occupied for node: {name}: {why}");
                self.runtime.log(format!("error starting node-ipam-controller: {why}"));
                self.runtime.decide(format!("node/{name}"), "stops allocating", Vec::from([Because::Fact(why)]));
                return;
            }
        }
    }

    fn release(&mut self, node: &Object, why: &str) {
        let blocks = cidrs(node);
        if blocks.is_empty() {
            return;
        }
        let name = Text::from(node.name());
        let what = format!("releases {}", blocks.join(", "));
        let facts = match self.mark(&name, &blocks, CidrSet::release) {
            Ok(()) => Vec::from([Because::Fact(String::from(why))]),
            Err(error) => Vec::from([Because::Fact(String::from(why)), Because::Fact(error)]),
        };
        self.runtime.decide(format!("node/{name}"), what, facts);
    }

    /// Occupies or releases the networks of a Node, up to the first that fails.
    fn mark(
        &mut self,
        name: &str,
        cidrs: &[Text],
        mark: fn(&mut CidrSet, &Cidr) -> Result<(), String>,
    ) -> Result<(), String> {
        for (at, text) in cidrs.iter().enumerate() {
            let cidr = Cidr::parse(text).ok_or_else(|| format!("failed to parse node {name}, CIDR {text}"))?;
            let set = self.sets.get_mut(at).ok_or_else(|| {
                format!(
                    "node:{name} has an allocated cidr: {cidr} at index:{at} that does not exist in cluster cidrs \
                        configuration"
                )
            })?;
            mark(set, &cidr)?;
        }
        Ok(())
    }

    fn sync(&mut self, name: Text, now: Timestamp) {
        let Some(node) = self.runtime.cache(0).cache().get("", &name).cloned() else {
            self.finish(&name, true, now);
            return;
        };
        let blocks = cidrs(&node);
        if !node.stable().at(&["metadata", "deletionTimestamp"]).is_null() {
            self.finish(&name, true, now);
        } else if !blocks.is_empty() {
            let marked = self.mark(&name, &blocks, CidrSet::occupy);
            self.finish(&name, marked.is_ok(), now);
        } else {
            self.allocate(&node, name, now);
        }
    }

    fn allocate(&mut self, node: &Object, name: Text, now: Timestamp) {
        let uid = Text::from(node.uid());
        let mut blocks = Vec::new();
        let mut facts = Vec::new();
        for at in 0..self.sets.len() {
            let (count, taken) = self.sets[at].counts();
            let cluster = *self.sets[at].cluster();
            let Some(block) = self.sets[at].allocate_next() else {
                facts.push(Because::Fact(format!("all {count} blocks of {cluster} are taken")));
                let because = self.runtime.decide(format!("node/{name}"), "CIDRNotAvailable", facts);
                self.say(&name, &uid, "CIDRNotAvailable", because, now);
                self.finish(&name, false, now);
                return;
            };
            facts.push(Because::Fact(format!(
                "{block} is the next free block of {cluster}: {taken} of {count} were taken"
            )));
            blocks.push(block);
        }
        let because =
            self.runtime.decide(format!("node/{name}"), format!("podCIDRs: none -> {}", joined(&blocks)), facts);
        self.patch(PendingAllocation { name, uid, blocks, tries: 0, because }, now);
    }

    fn patch(&mut self, mut job: PendingAllocation, now: Timestamp) {
        job.tries += 1;
        let all: Vec<Json> = job.blocks.iter().map(|block| Json::from(block.to_string())).collect();
        let mut patch = json!({});
        patch.set(&["spec", "podCIDR"], all.first().cloned().unwrap_or_default());
        patch.set(&["spec", "podCIDRs"], all);
        let call = Call::strategic_patch(NODES, "", &job.name, patch);
        let id = self.runtime.send(call, Some(job.because), now);
        self.under_way.insert(id, job);
    }

    fn handle_answer(&mut self, job: PendingAllocation, result: &ApiResult, now: Timestamp) {
        let is_done = matches!(result, Ok(answer) if answer.is_success());
        if is_done {
            self.settling.push((now, job.name));
        } else if job.tries < TRIES {
            self.patch(job, now);
        } else {
            self.give_up(&job, result, now);
        }
    }

    fn give_up(&mut self, job: &PendingAllocation, result: &ApiResult, now: Timestamp) {
        let why = match result {
            Ok(answer) => {
                format!("{TRIES} patches were refused, the last with code {}: {}", answer.code, answer.message())
            }
            Err(error) => format!("{TRIES} patches failed, the last with {error:?}"),
        };
        let facts = Vec::from([Because::Decision(job.because), Because::Fact(why)]);
        let because = self.runtime.decide(format!("node/{}", job.name), "CIDRAssignmentFailed", facts);
        self.say(&job.name, &job.uid, "CIDRAssignmentFailed", because, now);
        // After a server time-out the write may have happened: a leaked block is safer than one that two Nodes have.
        let may_be_done = matches!(result, Ok(answer) if answer.body().get("reason").as_str() == Some("ServerTimeout"));
        if !may_be_done {
            for (set, block) in self.sets.iter_mut().zip(&job.blocks) {
                // A block that the set itself allocated lies within it, so this cannot fail.
                let _ = set.release(block);
            }
        }
        self.finish(&job.name, false, now);
    }

    fn say(&mut self, name: &str, uid: &str, status: &str, because: DecisionId, now: Timestamp) {
        let message = format!("Node {name} status is now: {status}");
        self.runtime.emit(&InvolvedObject::node(name, uid), EventType::Normal, status, &message, Some(because), now);
    }

    fn finish(&mut self, name: &Text, is_done: bool, now: Timestamp) {
        if is_done {
            self.queue.forget(name);
        } else {
            self.queue.retry(name.clone(), now);
        }
        self.queue.done(name);
    }
}

fn cidrs(node: &Object) -> Vec<Text> {
    node.stable().at(&["spec", "podCIDRs"]).items().iter().filter_map(Json::as_text).cloned().collect()
}

fn joined(blocks: &[Cidr]) -> String {
    blocks.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns which part of the blocks is taken; `None` before the first is.
#[expect(clippy::cast_precision_loss, reason = "at most 2^32 blocks")]
fn part_taken(set: &CidrSet) -> Option<MeasuredValue> {
    let (blocks, taken) = set.counts();
    set.tally().is_touched.then_some(MeasuredValue::Gauge(taken as f64 / blocks as f64))
}

/// Source: pkg/controller/nodeipam/ipam/cidrset/metrics.go (v1.34). A value is there from the first time on at which it
/// is set.
fn measures(sets: &[CidrSet]) -> Vec<Measure> {
    let each = |name, help, value: &dyn Fn(&CidrSet) -> Option<MeasuredValue>| {
        let labels = |set: &CidrSet| Vec::from([("clusterCIDR", Text::from(set.cluster().to_string()))]);
        let values = sets.iter().filter_map(|set| Some((labels(set), value(set)?))).collect();
        Measure { name, help, is_stable: false, values }
    };
    let count = |number: u64| (number > 0).then_some(MeasuredValue::Counter(number));
    let tries = |set: &CidrSet| {
        let tries = &set.tally().tries;
        (tries.count > 0).then(|| MeasuredValue::Histogram(tries.clone()))
    };
    let most = |set: &CidrSet| Some(gauge_of(usize::try_from(set.counts().0).unwrap_or(usize::MAX)));
    Vec::from([
        each(
            "node_ipam_controller_cidrset_allocation_tries_per_request",
            "Number of endpoints added on each Service sync",
            &tries,
        ),
        each(
            "node_ipam_controller_cidrset_cidrs_allocations_total",
            "Counter measuring total number of CIDR allocations.",
            &|set| count(set.tally().allocations),
        ),
        each(
            "node_ipam_controller_cidrset_cidrs_releases_total",
            "Counter measuring total number of CIDR releases.",
            &|set| count(set.tally().releases),
        ),
        each("node_ipam_controller_cidrset_usage_cidrs", "Gauge measuring percentage of allocated CIDRs.", &part_taken),
        each("node_ipam_controller_cirdset_max_cidrs", "Maximum number of CIDRs that can be allocated.", &most),
    ])
}

impl Controller for NodeIpam {
    fn runtime(&self) -> &ControllerRuntime {
        &self.runtime
    }

    fn runtime_mut(&mut self) -> &mut ControllerRuntime {
        &mut self.runtime
    }

    fn handle_event(&mut self, _: usize, event: &CacheEvent, _: Timestamp) {
        if event.after.is_none() {
            // A deletion is not put into the queue: what a name failed counts for the next Node of that name.
            self.release(event.object(), "the Node was deleted");
        } else {
            self.queue.add(Text::from(event.object().name()));
        }
    }

    fn handle_reply(&mut self, id: RequestId, reply: &ApiResult, now: Timestamp) {
        if let Some(job) = self.under_way.remove(&id) {
            self.handle_answer(job, reply, now);
        }
    }

    fn handle_due(&mut self, now: Timestamp) {
        for (_, name) in core::mem::take(&mut self.settling) {
            self.finish(&name, true, now);
        }
        if !self.crashed {
            self.queue.handle_timeout(now);
        }
    }

    fn work(&mut self, now: Timestamp) {
        self.begin();
        while self.started && !self.crashed && self.under_way.len() < WORKERS {
            let Some(name) = self.queue.take() else { break };
            self.sync(name, now);
        }
    }

    fn own_deadline(&self) -> Option<Deadline> {
        let queue = self.queue.next_deadline().filter(|_| !self.crashed);
        let settled = self.settling.first().map(|(at, _)| Deadline { at: *at, reason: "a worker is free" });
        earliest([queue, settled])
    }

    fn own_queues(&self) -> Vec<(&'static str, usize)> {
        Vec::from([("cidrallocator_node", self.queue.len())])
    }

    fn measures(&self) -> Vec<Measure> {
        measures(&self.sets)
    }

    fn details(&self, _now: Timestamp) -> Vec<(&'static str, Json)> {
        let shown = |set: &CidrSet| {
            let (blocks, taken) = set.counts();
            let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
            json!({"cidr": set.cluster().to_string(), "blocks": count(blocks), "taken": count(taken)})
        };
        Vec::from([("clusterCIDRs", self.sets.iter().map(shown).collect())])
    }
}
