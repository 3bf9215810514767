//! Deletes pods that nothing else deletes: surplus ended pods, pods of nodes that are gone, terminating pods without a
//! node.
//!
//! Mirrors kube-controller-manager's `pod-garbage-collector-controller` (pkg/controller/podgc/gc_controller.go, v1.34).
//! Every 20 s, in this order: ended pods beyond the threshold, terminating pods of out-of-service nodes, pods of nodes
//! that have been absent for 40 s (a read confirms it), terminating pods without a node. A pod that has not ended is
//! first made Failed, but for releases that do not tell of disruptions; then each is deleted without grace.
//! Inputs: Pods, Nodes, answers, time. Outputs: reads of Nodes, patches of statuses, deletions. It writes no Events.
//! Invariant: the cost of a pass grows with the pods that it may delete and the nodes that have pods, not with all
//! pods.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::client::{Cache, CacheEvent, PodsByNode, RequestOutcome, node_name};
use super::controller::{
    ApiResult, Controller, ControllerContext, ControllerRuntime, FreeChoice, LoopInfo, Measure, MeasuredValue, Watched,
};
use super::pod_status::{DisruptionTarget, Generation, failed_patch};
use super::{Because, Deadline, DecisionId};
use crate::json;
use crate::network::{Call, NODES, PODS, RequestId, Verb};
use crate::objects::lifecycle::{OUT_OF_SERVICE, is_ending, is_out_of_service, is_ready, is_terminal};
use crate::objects::time::{seconds, to_micro_time};
use crate::objects::{Object, ObjectKey, Text};
use crate::profile::Race;

/// Pause between two passes. Source: gc_controller.go (v1.34), `gcCheckPeriod`.
const PERIOD: SignedDuration = SignedDuration::from_secs(20);
/// How long a node must be absent before its pods are deleted. Source: gc_controller.go (v1.34), `quarantineTime`.
const QUARANTINE: SignedDuration = SignedDuration::from_secs(40);
/// By how much a quarantine is extended if a pass comes just before its end. Any time below a period will do.
const JUST_AFTER: SignedDuration = SignedDuration::from_secs(1);
/// The shortest duration of a pass: real passes take time, which matters since the quarantine is two periods long.
const PASS_COST: SignedDuration = SignedDuration::from_millis(1);
/// The condition of pods whose node is gone. Source: gc_controller.go (v1.34), `gcOrphaned`.
const ORPHANED: DisruptionTarget =
    DisruptionTarget { reason: "DeletionByPodGC", message: "PodGC: node no longer exists" };

const NODE_CACHE: usize = 0;
const POD_CACHE: usize = 1;

/// A pod to delete.
#[derive(Clone, Debug)]
struct Doomed {
    pod: Object,
    /// Why, in the word of the metrics. Source: pkg/controller/podgc/metrics/metrics.go (v1.34).
    cause: &'static str,
    target: Option<DisruptionTarget>,
    reasons: Vec<Because>,
}

/// The steps of a pass, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PassStage {
    Terminated,
    OutOfService,
    Orphaned,
    Unscheduled,
}

/// A pass under way.
#[derive(Clone, Debug)]
struct Pass {
    began: Timestamp,
    stage: PassStage,
    /// Names of nodes that have been absent long enough, to be confirmed.
    unconfirmed: VecDeque<Text>,
    /// Pods of confirmed nodes, deleted one after the other.
    orphans: VecDeque<Doomed>,
    /// The pods of the absent nodes at the beginning of the pass.
    absent: BTreeMap<Text, Vec<Object>>,
}

/// What a request is for.
#[derive(Clone, Debug)]
enum PodGcPurpose {
    Confirm(Text),
    Patch(ObjectKey, DecisionId, &'static str),
    Delete(Deletion),
}

/// The namespace of a pod that is deleted, and the cause.
type Deletion = (Text, &'static str);

/// The controller; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
pub struct PodGc {
    runtime: ControllerRuntime,
    pods_by_node: PodsByNode,
    /// Pods that have ended, and pods that are being deleted.
    terminated: BTreeSet<ObjectKey>,
    ending: BTreeSet<ObjectKey>,
    threshold: usize,
    /// Whether pods of nodes out of service are deleted.
    collects_out_of_service: bool,
    /// How the status of a Pod is written before its deletion; `None` where it is not.
    marks: Option<Generation>,
    /// Names of absent nodes and when their quarantine is over.
    quarantine: BTreeMap<Text, Timestamp>,
    quarantine_time: SignedDuration,
    under_way: BTreeMap<RequestId, PodGcPurpose>,
    /// How many deletions were begun, and how many have failed.
    deletions: BTreeMap<Deletion, u64>,
    failures: BTreeMap<Deletion, u64>,
    pass: Option<Pass>,
    next_pass: Option<Timestamp>,
    started: bool,
    held: bool,
    /// Names of pods that are handled first, in this order: upstream's lister has no order.
    preferred: Vec<Text>,
}

impl PodGc {
    /// Starts the controller with empty caches.
    #[must_use]
    pub fn new(context: &ControllerContext, now: Timestamp) -> Self {
        let watched = [Watched::of(NODES), Watched::of(PODS)];
        let is_late = context.settings.is_lost(Race::PassBeforeQuarantineEnds);
        Self {
            runtime: ControllerRuntime::new(&watched, context, now),
            pods_by_node: PodsByNode::default(),
            terminated: BTreeSet::new(),
            ending: BTreeSet::new(),
            threshold: threshold(context.settings.number("terminated-pod-gc-threshold")),
            collects_out_of_service: context.settings.profile().is("out-of-service-nodes-give-up-volumes"),
            marks: Generation::of(context.settings.profile()),
            quarantine: BTreeMap::new(),
            quarantine_time: if is_late { QUARANTINE + JUST_AFTER } else { QUARANTINE },
            under_way: BTreeMap::new(),
            deletions: BTreeMap::new(),
            failures: BTreeMap::new(),
            pass: None,
            next_pass: None,
            started: false,
            held: false,
            preferred: Vec::new(),
        }
    }

    fn nodes(&self) -> &Cache {
        self.runtime.cache(NODE_CACHE).cache()
    }

    fn handle_pod_event(&mut self, event: &CacheEvent) {
        self.pods_by_node.update(event);
        let key = event.object().key();
        let after = event.after.as_ref();
        let mut keep = |set: fn(&mut Self) -> &mut BTreeSet<ObjectKey>, is_in: bool| {
            if is_in {
                set(self).insert(key.clone());
            } else {
                set(self).remove(&key);
            }
        };
        keep(|own| &mut own.terminated, after.is_some_and(is_terminal));
        keep(|own| &mut own.ending, after.is_some_and(is_ending));
    }

    fn begin(&mut self, now: Timestamp) {
        let absent: Vec<Text> =
            self.pods_by_node.nodes().filter(|name| self.nodes().get("", name).is_none()).cloned().collect();
        // Due names leave the quarantine before absent names enter it again, as in upstream's queue.
        let due: Vec<Text> =
            self.quarantine.iter().filter(|(_, until)| **until <= now).map(|(name, _)| name.clone()).collect();
        self.quarantine.retain(|_, until| *until > now);
        let mut pods = BTreeMap::new();
        for name in absent {
            if !self.quarantine.contains_key(&name) {
                let until = now + self.quarantine_time;
                if !due.contains(&name) {
                    let why = Vec::from([
                        Because::Fact(format!("pods are bound to {name}, and there is no such Node")),
                        Because::Fact(format!("quarantine of {} until {}", seconds(QUARANTINE), to_micro_time(until))),
                    ]);
                    self.runtime.decide(format!("node/{name}"), "wait for it to come back", why);
                }
                self.quarantine.insert(name.clone(), until);
            }
            let bound =
                self.pods_by_node.of(&name).filter_map(|key| self.runtime.cache(POD_CACHE).get(key).cloned()).collect();
            pods.insert(name, bound);
        }
        let here = |name: &Text| self.nodes().get("", name).is_some();
        self.pass = Some(Pass {
            began: now,
            stage: PassStage::Terminated,
            unconfirmed: due.into_iter().filter(|name| !here(name)).collect(),
            orphans: VecDeque::new(),
            absent: pods,
        });
        for doomed in self.excess() {
            self.delete(doomed, now);
        }
    }

    /// Returns the ended pods beyond the threshold: evicted ones first, then by age and name.
    fn excess(&self) -> Vec<Doomed> {
        if self.threshold == 0 || self.terminated.len() <= self.threshold {
            return Vec::new();
        }
        let count = self.terminated.len() - self.threshold;
        let fact = format!("{} pods have ended, and {} are kept", self.terminated.len(), self.threshold);
        let pods = in_order(
            self.terminated.iter().filter_map(|key| self.runtime.cache(POD_CACHE).get(key)).cloned().collect(),
        );
        let reasons = || Vec::from([Because::Fact(fact.clone())]);
        pods.into_iter().take(count).map(|pod| doomed(pod, "terminated", reasons())).collect()
    }

    /// Returns the terminating pods of nodes that are not ready and out of service.
    fn out_of_service(&self) -> Vec<Doomed> {
        if !self.collects_out_of_service {
            return Vec::new();
        }
        let ending = self.ending.iter().filter_map(|key| self.runtime.cache(POD_CACHE).get(key));
        let on_dead_node = |pod: &&Object| {
            let node = node_name(pod).and_then(|name| self.nodes().get("", name));
            node.is_some_and(|node| !is_ready(node) && is_out_of_service(node))
        };
        let pods = in_order(ending.filter(on_dead_node).cloned().collect());
        let doom = |pod: Object| {
            let node = node_name(&pod).cloned().unwrap_or_default();
            let fact = format!("it is being deleted, and Node {node} is not ready and has taint {OUT_OF_SERVICE}");
            doomed(pod, "out-of-service", Vec::from([Because::Fact(fact)]))
        };
        pods.into_iter().map(doom).collect()
    }

    fn unscheduled(&self) -> Vec<Doomed> {
        let ending = self.ending.iter().filter_map(|key| self.runtime.cache(POD_CACHE).get(key));
        let doom = |pod: &Object| {
            let fact = String::from("it is being deleted and has no node");
            doomed(pod.clone(), "unscheduled", Vec::from([Because::Fact(fact)]))
        };
        ending.filter(|pod| node_name(pod).is_none()).map(doom).collect()
    }

    /// Continues the pass until a request is under way.
    fn advance(&mut self, now: Timestamp) {
        while self.under_way.is_empty()
            && let Some(pass) = &mut self.pass
        {
            match pass.stage {
                PassStage::Terminated => {
                    pass.stage = PassStage::OutOfService;
                    for doomed in self.out_of_service() {
                        self.delete(doomed, now);
                    }
                }
                PassStage::OutOfService => pass.stage = PassStage::Orphaned,
                PassStage::Orphaned => {
                    if let Some(name) = pass.unconfirmed.pop_front() {
                        let call = Call::new(Verb::Get, NODES, "", &name);
                        let id = self.runtime.send(call, None, now);
                        self.under_way.insert(id, PodGcPurpose::Confirm(name));
                    } else if let Some(doomed) = pass.orphans.pop_front() {
                        self.delete(doomed, now);
                    } else {
                        pass.stage = PassStage::Unscheduled;
                        for doomed in self.unscheduled() {
                            self.delete(doomed, now);
                        }
                    }
                }
                PassStage::Unscheduled => {
                    let end = now.max(pass.began + PASS_COST);
                    self.next_pass = (!self.held).then_some(end + PERIOD);
                    self.pass = None;
                }
            }
        }
    }

    /// Makes a pod Failed, unless it has ended, and deletes it.
    fn delete(&mut self, doomed: Doomed, now: Timestamp) {
        let key = doomed.pod.key();
        let because = self.runtime.decide(format!("pod/{key}"), "force delete", doomed.reasons);
        *self.deletions.entry((key.namespace.clone(), doomed.cause)).or_default() += 1;
        let Some(generation) = self.marks.filter(|_| !is_terminal(&doomed.pod)) else {
            self.send_delete(&key, because, doomed.cause, now);
            return;
        };
        let patch = failed_patch(&doomed.pod, doomed.target, generation, now);
        let call = Call::strategic_patch(PODS, &key.namespace, &key.name, patch).subresource("status");
        let id = self.runtime.send(call, Some(because), now);
        self.under_way.insert(id, PodGcPurpose::Patch(key, because, doomed.cause));
    }

    fn send_delete(&mut self, key: &ObjectKey, because: DecisionId, cause: &'static str, now: Timestamp) {
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0});
        let call = Call::new(Verb::Delete, PODS, &key.namespace, &key.name).body(options);
        let id = self.runtime.send(call, Some(because), now);
        self.under_way.insert(id, PodGcPurpose::Delete((key.namespace.clone(), cause)));
    }

    fn handle_outcome(&mut self, job: PodGcPurpose, outcome: &RequestOutcome, now: Timestamp) {
        match job {
            PodGcPurpose::Confirm(name) => {
                let Some(pass) = &mut self.pass else { return };
                // After any other failure the next pass that finds the node absent handles it.
                if matches!(outcome, RequestOutcome::NotFound) {
                    let fact = format!("Node {name} was not there for {} and is not there now", seconds(QUARANTINE));
                    let doom = |pod| {
                        let reasons = Vec::from([Because::Fact(fact.clone())]);
                        Doomed { target: Some(ORPHANED), ..doomed(pod, "orphaned", reasons) }
                    };
                    let mut pods = pass.absent.remove(&name).unwrap_or_default();
                    let rank = |pod: &Object| self.preferred.iter().position(|name| **name == *pod.name());
                    pods.sort_by_key(|pod| rank(pod).unwrap_or(usize::MAX));
                    pass.orphans.extend(pods.into_iter().map(doom));
                }
            }
            PodGcPurpose::Patch(key, because, cause) if matches!(outcome, RequestOutcome::Done(_)) => {
                self.send_delete(&key, because, cause, now)
            }
            PodGcPurpose::Delete(_) if matches!(outcome, RequestOutcome::Done(_)) => {}
            // A pod that cannot be marked or deleted is left to the next pass.
            PodGcPurpose::Patch(ObjectKey { namespace, .. }, _, cause) | PodGcPurpose::Delete((namespace, cause)) => {
                *self.failures.entry((namespace, cause)).or_default() += 1;
            }
        }
    }
}

fn doomed(pod: Object, cause: &'static str, reasons: Vec<Because>) -> Doomed {
    Doomed { pod, cause, target: None, reasons }
}

fn counted(deletions: &BTreeMap<Deletion, u64>) -> Vec<(Vec<(&'static str, Text)>, MeasuredValue)> {
    let one = |((namespace, cause), count): (&Deletion, &u64)| {
        let labels = Vec::from([("namespace", namespace.clone()), ("reason", Text::of(cause))]);
        (labels, MeasuredValue::Counter(*count))
    };
    deletions.iter().map(one).collect()
}

/// Reads the threshold: none or a negative one turns the collection of ended pods off.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a flag's count, cut to what is possible")]
fn threshold(number: f64) -> usize {
    if number > 0.0 { number as usize } else { 0 }
}

/// Sorts pods for deletion: evicted ones first, then by age and name.
/// Source: gc_controller.go (v1.34), `byEvictionAndCreationTimestamp`; pkg/kubelet/eviction/helpers.go, `PodIsEvicted`.
fn in_order(mut pods: Vec<Object>) -> Vec<Object> {
    pods.sort_by_cached_key(|pod| {
        let tree = pod.stable();
        let status = |field: &str| tree.at(&["status", field]).as_str();
        let is_evicted = status("phase") == Some("Failed") && status("reason") == Some("Evicted");
        let created = tree.at(&["metadata", "creationTimestamp"]).as_text().cloned();
        (!is_evicted, created, Text::from(pod.name()))
    });
    pods
}

impl Controller for PodGc {
    fn runtime(&self) -> &ControllerRuntime {
        &self.runtime
    }

    fn runtime_mut(&mut self) -> &mut ControllerRuntime {
        &mut self.runtime
    }

    fn handle_event(&mut self, source: usize, event: &CacheEvent, _: Timestamp) {
        if source == POD_CACHE {
            self.handle_pod_event(event);
        }
    }

    fn handle_reply(&mut self, id: RequestId, reply: &ApiResult, now: Timestamp) {
        if let Some(job) = self.under_way.remove(&id) {
            self.handle_outcome(job, &RequestOutcome::of(reply), now);
        }
    }

    fn work(&mut self, now: Timestamp) {
        if !self.started && self.runtime.is_synced() {
            self.started = true;
            self.next_pass = (!self.held).then_some(now);
        }
        if self.pass.is_none() && self.next_pass.is_some_and(|at| at <= now) {
            self.next_pass = None;
            self.begin(now);
        }
        self.advance(now);
    }

    fn own_deadline(&self) -> Option<Deadline> {
        self.next_pass.map(|at| Deadline { at, reason: "garbage collection of pods" })
    }

    fn loops(&self) -> Vec<LoopInfo> {
        Vec::from([LoopInfo { name: "gc-pass", period: PERIOD, next: self.next_pass }])
    }

    fn own_queues(&self) -> Vec<(&'static str, usize)> {
        Vec::from([("orphaned_pods_nodes", self.quarantine.len())])
    }

    /// Source: pkg/controller/podgc/metrics/metrics.go (v1.34).
    fn measures(&self) -> Vec<Measure> {
        Vec::from([
            Measure {
                name: "pod_gc_collector_force_delete_pod_errors_total",
                help: "Number of errors encountered when forcefully deleting the pods since the Pod GC Controller \
                    started.",
                is_stable: false,
                values: counted(&self.failures),
            },
            Measure {
                name: "pod_gc_collector_force_delete_pods_total",
                help: "Number of pods that are being forcefully deleted since the Pod GC Controller started.",
                is_stable: false,
                values: counted(&self.deletions),
            },
        ])
    }

    fn hold_loops(&mut self) {
        self.held = true;
        self.next_pass = None;
    }

    fn run_once(&mut self, name: &str, now: Timestamp) -> bool {
        if name != "gc-pass" || !self.started || self.pass.is_some() {
            return false;
        }
        self.next_pass = None;
        self.begin(now);
        self.advance(now);
        true
    }

    fn prefer(&mut self, choice: FreeChoice<'_>) {
        if let FreeChoice::PodOrder(order) = choice {
            self.preferred = order.to_vec();
        }
    }
}
