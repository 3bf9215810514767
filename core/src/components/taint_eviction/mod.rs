//! Evicts pods from nodes with NoExecute taints, at once or when their toleration runs out.
//!
//! Mirrors kube-controller-manager's `taint-eviction-controller` (pkg/controller/tainteviction/taint_eviction.go,
//! v1.34).
//! Inputs: Nodes, Pods, answers, time. Outputs: DisruptionTarget conditions, deletions, Events.
//! Invariant: the time of a toleration counts from when this process first sees taint and pod together, never from
//! `timeAdded`. Another taint does not restart it; only after all taints were gone does it start anew. Two changes at
//! one instant keep the timer, since upstream never handles two at one instant.
//! Left out on purpose: the sharding over eight workers (events are handled in their order).

mod eviction;
mod timers;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use self::eviction::{Eviction, Next, event_name};
use self::timers::Timers;
use super::client::{CacheEvent, PodsByNode, RequestOutcome, node_name};
use super::controller::{
    ApiResult, Controller, ControllerContext, ControllerRuntime, Histogram, Measure, MeasuredValue, Watched,
};
use super::events::{EventType, InvolvedObject};
use super::pod_status::Generation;
use super::tolerations::{Stay, stay, tolerates};
use super::{Because, Deadline, earliest};
use crate::network::{NODES, PODS, RequestId};
use crate::objects::time::{seconds, to_micro_time};
use crate::objects::{Json, Object, ObjectKey, Text};
use crate::profile::{Race, Value};

const NODE_CACHE: usize = 0;
const POD_CACHE: usize = 1;
/// The ranges of delays between the time at which a pod had to go and its deletion.
/// Source: pkg/controller/tainteviction/metrics/metrics.go (v1.34), `PodDeletionsLatency`.
const DELAYS: &[f64] = &[0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10.0, 30.0, 60.0, 120.0, 180.0, 240.0];
/// How much later than the watch an answer comes, where the watch is first.
const JUST_AFTER: SignedDuration = SignedDuration::from_millis(1);

/// The controller; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
pub struct TaintEviction {
    runtime: ControllerRuntime,
    pods_by_node: PodsByNode,
    /// How the status of a Pod is written before its deletion; `None` where it is not.
    marks: Option<Generation>,
    leaves_tombstones: bool,
    /// The NoExecute taints of the nodes that have any.
    tainted: BTreeMap<Text, Vec<Json>>,
    timers: Timers,
    under_way: BTreeMap<RequestId, Eviction>,
    pausing: BTreeMap<(Timestamp, u64), Eviction>,
    paused: u64,
    /// How long it takes until an answer ends an eviction.
    answer_delay: SignedDuration,
    ended: VecDeque<(Timestamp, ObjectKey)>,
    delays: Histogram,
    started: bool,
}

impl TaintEviction {
    /// Starts the controller with empty caches; `None` where `--enable-taint-manager` turns it off.
    #[must_use]
    pub fn new(context: &ControllerContext, now: Timestamp) -> Option<Self> {
        if context.settings.value("enable-taint-manager") == Value::Bool(false) {
            return None;
        }
        // The controller was split off node lifecycle, and still uses its service account.
        let watched = [Watched::of(NODES), Watched::of(PODS)];
        let runtime = ControllerRuntime::new(&watched, context, now);
        let profile = context.settings.profile();
        Some(Self {
            runtime,
            pods_by_node: PodsByNode::default(),
            marks: Generation::of(profile),
            leaves_tombstones: profile.is("taint-eviction-leaves-tombstones"),
            tainted: BTreeMap::new(),
            timers: Timers::default(),
            under_way: BTreeMap::new(),
            pausing: BTreeMap::new(),
            paused: 0,
            answer_delay: if context.settings.is_lost(Race::EndBeforeAnswer) {
                JUST_AFTER
            } else {
                SignedDuration::ZERO
            },
            ended: VecDeque::new(),
            delays: Histogram::new(DELAYS),
            started: false,
        })
    }

    fn handle_node_event(&mut self, event: &CacheEvent, now: Timestamp) {
        let (before, after) = (&event.before, &event.after);
        if let (Some(before), Some(after)) = (before, after)
            && no_execute(before).eq(no_execute(after))
        {
            return;
        }
        let name = Text::from(event.object().name());
        match after {
            // The timers of its pods keep running.
            None => {
                self.tainted.remove(&name);
            }
            Some(node) if self.started => self.handle_node(name, &node.clone(), now),
            Some(_) => {}
        }
    }

    fn handle_node(&mut self, name: Text, node: &Object, now: Timestamp) {
        let taints: Vec<Json> = no_execute(node).cloned().collect();
        let pods: Vec<ObjectKey> = self.pods_by_node.of(&name).cloned().collect();
        if taints.is_empty() {
            self.tainted.remove(&name);
            for pod in pods {
                self.cancel(&pod, &format!("Node {name} has no NoExecute taint"), now);
            }
            return;
        }
        self.tainted.insert(name.clone(), taints);
        for pod in pods {
            self.handle_pod(&pod, &name, now);
        }
    }

    fn handle_pod_event(&mut self, event: &CacheEvent, now: Timestamp) {
        self.pods_by_node.update(event);
        if !self.started {
            return;
        }
        let key = event.object().key();
        let Some(pod) = &event.after else {
            // Unless the race goes the other way, the answer is there by now, even if it is delivered later.
            let is_answered =
                |eviction: &Eviction| self.answer_delay.is_zero() && eviction.pod == key && eviction.is_deleting();
            let answered: Vec<RequestId> =
                self.under_way.iter().filter(|(_, own)| is_answered(own)).map(|(id, _)| *id).collect();
            for id in answered {
                self.under_way.remove(&id);
                self.timers.finish(&key);
            }
            self.cancel(&key, "the Pod is gone", now);
            return;
        };
        let same = |before: &Object| {
            node_name(before) == node_name(pod)
                && before.stable().at(&["spec", "tolerations"]) == pod.stable().at(&["spec", "tolerations"])
        };
        if !event.before.as_ref().is_some_and(same)
            && let Some(node) = node_name(pod).cloned()
        {
            self.handle_pod(&key, &node, now);
        }
    }

    /// Starts, keeps or cancels the eviction of a pod on a node that may be tainted.
    fn handle_pod(&mut self, key: &ObjectKey, node: &Text, now: Timestamp) {
        let (Some(taints), Some(pod)) = (self.tainted.get(node), self.runtime.cache(POD_CACHE).get(key)) else {
            return;
        };
        let tolerations = pod.stable().at(&["spec", "tolerations"]).items();
        let fact = format!("Node {node} has {}", list(taints));
        match stay(tolerations, taints) {
            Stay::NotTolerated => {
                let reasons = Vec::from([Because::Fact(fact), Because::Fact(untolerated(tolerations, taints))]);
                self.cancel(key, "some taint is not tolerated", now);
                self.timers.spend(key.clone());
                self.evict(key.clone(), reasons, now);
            }
            Stay::Forever => {
                const WHY: &str = "all taints are tolerated without a limit";
                let reasons = Vec::from([Because::Fact(fact), Because::Fact(String::from(WHY))]);
                self.runtime.decide(format!("pod/{key}"), "let it stay", reasons);
                self.cancel(key, WHY, now);
            }
            Stay::For(_) if self.timers.is_known(key) => {}
            Stay::For(limit) if limit == SignedDuration::ZERO => {
                let reasons = Vec::from([Because::Fact(fact), Because::Fact(String::from("tolerated for 0s"))]);
                self.timers.spend(key.clone());
                self.evict(key.clone(), reasons, now);
            }
            Stay::For(limit) => {
                let fire = now + limit;
                let limit = format!("tolerated for {}, until {}", seconds(limit), to_micro_time(fire));
                self.runtime.decide(
                    format!("pod/{key}"),
                    "wait for eviction",
                    Vec::from([Because::Fact(fact), Because::Fact(limit)]),
                );
                self.timers.wait(key.clone(), fire);
            }
        }
    }

    fn cancel(&mut self, key: &ObjectKey, why: &str, now: Timestamp) {
        if !self.timers.cancel(key) {
            return;
        }
        let why = Vec::from([Because::Fact(String::from(why))]);
        let because = self.runtime.decide(format!("pod/{key}"), "cancel the eviction", why);
        self.event(key, &format!("Cancelling deletion of Pod {}", event_name(key)), because, now);
    }

    fn event(&mut self, key: &ObjectKey, message: &str, because: super::DecisionId, now: Timestamp) {
        let about = InvolvedObject::pod_name(&key.namespace, &key.name);
        self.runtime.emit(&about, EventType::Normal, "TaintManagerEviction", message, Some(because), now);
        self.runtime.flush(now);
    }

    fn evict(&mut self, key: ObjectKey, reasons: Vec<Because>, now: Timestamp) {
        let because = self.runtime.decide(format!("pod/{key}"), "evict", reasons);
        let mut eviction = Eviction::new(key.clone(), because, self.marks, now);
        let next = eviction.start();
        self.go_on(eviction, next, now);
        self.event(&key, &format!("Marking for deletion Pod {}", event_name(&key)), because, now);
    }

    fn go_on(&mut self, eviction: Eviction, next: Next, now: Timestamp) {
        match next {
            Next::Send(call) => {
                let id = self.runtime.send(call, Some(eviction.because), now);
                self.under_way.insert(id, eviction);
            }
            Next::Pause(until) => {
                self.paused += 1;
                self.pausing.insert((until, self.paused), eviction);
            }
            Next::Deleted => {
                self.delays.add(measured_delay(now.duration_since(eviction.due)));
                self.ended.push_back((now + self.answer_delay, eviction.pod));
                self.finish_evictions(now);
            }
            Next::GivenUp => {
                self.timers.finish(&eviction.pod);
                let why = Vec::from([
                    Because::Decision(eviction.because),
                    Because::Fact(String::from("the last of five tries failed")),
                ]);
                self.runtime.decide(format!("pod/{}", eviction.pod), "give the eviction up", why);
            }
        }
    }

    fn finish_evictions(&mut self, now: Timestamp) {
        while let Some((_, pod)) = self.ended.pop_front_if(|(at, _)| *at <= now) {
            if self.leaves_tombstones {
                self.timers.spend(pod);
            } else {
                self.timers.finish(&pod);
            }
        }
    }

    fn fire(&mut self, now: Timestamp) {
        while let Some(key) = self.timers.fire(now) {
            let reasons = Vec::from([Because::Fact(format!("its toleration ran out at {}", to_micro_time(now)))]);
            self.evict(key, reasons, now);
        }
    }
}

/// Returns a delay as it is measured: nanoseconds times those of a second, in 64 bits.
///
/// Source: taint_eviction.go (v1.34), `deletePodHandler`.
#[expect(clippy::cast_precision_loss, reason = "upstream makes a float of it, too")]
fn measured_delay(delay: SignedDuration) -> f64 {
    let nanos = i64::try_from(delay.as_nanos()).unwrap_or(i64::MAX);
    nanos.wrapping_mul(1_000_000_000) as f64
}

/// Returns the NoExecute taints of a Node.
fn no_execute(node: &Object) -> impl Iterator<Item = &Json> {
    let taints = node.stable().at(&["spec", "taints"]).items();
    taints.iter().filter(|taint| taint.get("effect").as_str() == Some("NoExecute"))
}

fn named(taint: &Json) -> String {
    let field = |name| taint.get(name).as_str().unwrap_or("");
    match field("value") {
        "" => format!("{}:{}", field("key"), field("effect")),
        value => format!("{}={value}:{}", field("key"), field("effect")),
    }
}

fn list(taints: &[Json]) -> String {
    taints.iter().map(named).collect::<Vec<_>>().join(", ")
}

fn untolerated(tolerations: &[Json], taints: &[Json]) -> String {
    let not: Vec<String> = taints
        .iter()
        .filter(|taint| !tolerations.iter().any(|toleration| tolerates(toleration, taint)))
        .map(named)
        .collect();
    format!("not tolerated: {}", not.join(", "))
}

impl Controller for TaintEviction {
    fn runtime(&self) -> &ControllerRuntime {
        &self.runtime
    }

    fn runtime_mut(&mut self) -> &mut ControllerRuntime {
        &mut self.runtime
    }

    fn handle_event(&mut self, source: usize, event: &CacheEvent, now: Timestamp) {
        if source == NODE_CACHE {
            self.handle_node_event(event, now);
        } else {
            self.handle_pod_event(event, now);
        }
    }

    fn handle_reply(&mut self, id: RequestId, reply: &ApiResult, now: Timestamp) {
        if let Some(mut eviction) = self.under_way.remove(&id) {
            let next = eviction.handle_outcome(RequestOutcome::of(reply), now);
            self.go_on(eviction, next, now);
        }
    }

    fn handle_due(&mut self, now: Timestamp) {
        self.finish_evictions(now);
        self.fire(now);
        while let Some(entry) = self.pausing.first_entry()
            && entry.key().0 <= now
        {
            let mut eviction = entry.remove();
            let next = eviction.start();
            self.go_on(eviction, next, now);
        }
    }

    /// When both caches are filled: handles what upstream's queues hold at the start, nodes first.
    fn work(&mut self, now: Timestamp) {
        if self.started || !self.runtime.is_synced() {
            return;
        }
        self.started = true;
        let nodes: Vec<Object> = self.runtime.cache(NODE_CACHE).objects().cloned().collect();
        for node in nodes {
            self.handle_node(Text::from(node.name()), &node, now);
        }
        let bound = |pod: &Object| node_name(pod).map(|node| (pod.key(), node.clone()));
        let pods: Vec<(ObjectKey, Text)> = self.runtime.cache(POD_CACHE).objects().filter_map(bound).collect();
        for (key, node) in pods {
            if !self.timers.is_timed(&key) {
                self.handle_pod(&key, &node, now);
            }
        }
    }

    fn own_deadline(&self) -> Option<Deadline> {
        let paused = self.pausing.keys().next().map(|(at, _)| Deadline { at: *at, reason: "try again" });
        let ended = self.ended.front().map(|(at, _)| Deadline { at: *at, reason: "an eviction ends" });
        earliest([self.timers.next().map(|at| Deadline { at, reason: "a toleration runs out" }), paused, ended])
    }

    fn own_queues(&self) -> Vec<(&'static str, usize)> {
        Vec::from([("pods_waiting", self.timers.len())])
    }

    /// Source: pkg/controller/tainteviction/metrics/metrics.go (v1.34).
    fn measures(&self) -> Vec<Measure> {
        let own = |value| Vec::from([(Vec::new(), value)]);
        Vec::from([
            Measure {
                name: "taint_eviction_controller_pod_deletion_duration_seconds",
                help: "Latency, in seconds, between the time when a taint effect has been activated for the Pod and \
                    its deletion via TaintEvictionController.",
                is_stable: false,
                values: own(MeasuredValue::Histogram(self.delays.clone())),
            },
            Measure {
                name: "taint_eviction_controller_pod_deletions_total",
                help: "Total number of Pods deleted by TaintEvictionController since its start.",
                is_stable: false,
                values: own(MeasuredValue::Counter(self.delays.count)),
            },
        ])
    }
}
