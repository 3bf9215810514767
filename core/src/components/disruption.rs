//! Computes how many pods of each PodDisruptionBudget may be evicted now.
//!
//! Mirrors kube-controller-manager's `disruption-controller` (pkg/controller/disruption/disruption.go, v1.34). A pod is
//! healthy if it is Ready, is not being deleted, and no eviction of it is under way (`status.disruptedPods`, valid for
//! two minutes). Where the expected number comes from the owners, a pod without an owner counts as healthy but not as
//! expected. Inputs: PodDisruptionBudgets, Pods, their owners, answers, time. Outputs: statuses, Events, and
//! DisruptionTarget=False on a pod that was not deleted within two minutes. A budget whose owners have to be asked for
//! their scale is synced when they have answered.

mod scale;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use self::scale::{Expected, Scale, ScaledOwner, Scales};
use super::Because;
use super::client::CacheEvent;
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, code, failure,
};
use super::events::{EventType, InvolvedObject};
use super::workload::pods::{Rounding, Selections, number, scaled};
use super::workload::{DEPLOYMENTS, REPLICA_SETS, REPLICATION_CONTROLLERS, STATEFUL_SETS};
use crate::json;
use crate::network::{Call, PODS, Resource, Verb};
use crate::objects::lifecycle::{condition, is_ending, is_ready, is_terminal, put_condition};
use crate::objects::time::{parse, to_time};
use crate::objects::{Json, Object, ObjectKey};

/// `poddisruptionbudgets`.
const BUDGETS: Resource = Resource::of("policy", "v1", "poddisruptionbudgets");
/// How long an eviction counts as under way. Source: disruption.go (v1.34), `DeletionTimeout`.
const EVICTION_WITHIN: SignedDuration = SignedDuration::from_mins(2);
/// How long a pod may have DisruptionTarget without being deleted.
/// Source: disruption.go (v1.34), `stalePodDisruptionTimeout`.
const TARGET_WITHIN: SignedDuration = SignedDuration::from_mins(2);

const BUDGET_CACHE: usize = 0;
const PODS_CACHE: usize = 1;
const SETS: usize = 2;
const DEPLOYMENT_CACHE: usize = 3;
const STATEFUL: usize = 4;
const REPLICATION: usize = 5;

const CONFIG: ControllerConfig = ControllerConfig {
    queue: "disruption",
    workers: 1,
    retries: Retries::ENDLESS,
    watched: &[
        Watched::of(BUDGETS),
        Watched::of(PODS),
        Watched::of(REPLICA_SETS),
        Watched::of(DEPLOYMENTS),
        Watched::of(STATEFUL_SETS),
        Watched::of(REPLICATION_CONTROLLERS),
    ],
};

/// Starts the controller with empty caches.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let tells_generation = context.settings.profile().is("pod-conditions-observe-generation");
    KeyedController::new(Disruption { tells_generation, ..Disruption::default() }, &CONFIG, context, now)
}

/// What a request is for.
#[derive(Clone, Debug)]
enum DisruptionPurpose {
    /// Find the resource of an owner's kind.
    Kind(ScaledOwner),
    /// Read the scale of an owner.
    Scale(ScaledOwner),
    /// Take DisruptionTarget off a pod.
    Pod,
    /// Write the status of this budget.
    Status(Object),
    /// Write that its status could not be found out or written.
    FailSafe,
}

/// What the controller knows; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug, Default)]
struct Disruption {
    /// Whether conditions of pods have `observedGeneration`.
    tells_generation: bool,
    pods: Selections,
    /// The ready pods among them.
    ready: Selections,
    /// What owners have answered in the syncs under way, by budget.
    scales: BTreeMap<ObjectKey, Scales>,
}

/// The prefix of keys of pods in the queue, which has keys of budgets too; no namespace can contain it.
const POD_KEYS: &str = "pods/";

/// Returns the key under which the condition of a pod is synced.
fn pod_key(pod: &ObjectKey) -> ObjectKey {
    ObjectKey::namespaced(format!("{POD_KEYS}{}", pod.namespace), pod.name.clone())
}

impl Disruption {
    fn handle_pod(&mut self, event: &CacheEvent, runtime: &mut KeyedRuntime<DisruptionPurpose>, now: Timestamp) {
        self.ready.update_those(event, is_ready);
        let pod = event.object();
        let mut budgets = self.pods.update(event);
        // The labels that a pod had before the change do not matter, as upstream.
        if event.after.is_some() {
            budgets.retain(|budget| self.pods.has(budget, &pod.key()));
        }
        // Each pod counts for one budget: the first of them by name, where upstream's is arbitrary.
        if let [first, others @ ..] = budgets.as_slice() {
            if !others.is_empty() {
                let (namespace, name) = (&pod.key().namespace, pod.name());
                let message = format!(
                    "Pod {namespace:?}/{name:?} matches multiple PodDisruptionBudgets.  Chose {:?} arbitrarily.",
                    first.name
                );
                runtime.emit(
                    &InvolvedObject::pod(pod),
                    EventType::Warning,
                    "MultiplePodDisruptionBudgets",
                    &message,
                    now,
                );
            }
            runtime.add(first.clone());
        }
        if let Some(pod) = &event.after
            && let Some(since) = targeted_since(pod)
        {
            let wait = (since + TARGET_WITHIN).duration_since(now).max(SignedDuration::ZERO);
            runtime.add_after(pod_key(&pod.key()), wait, now);
        }
    }

    /// Sets DisruptionTarget to False on a pod that nobody deleted.
    fn sync_pod(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<DisruptionPurpose>, now: Timestamp) -> Flow {
        let namespace = key.namespace.strip_prefix(POD_KEYS).unwrap_or_default();
        let pod = ObjectKey::namespaced(namespace, key.name.clone());
        let Some(object) = runtime.cache(PODS_CACHE).get(&pod).cloned() else { return Flow::Done };
        let Some(since) = targeted_since(&object).filter(|since| *since + TARGET_WITHIN <= now) else {
            return Flow::Done;
        };
        let fact = format!("DisruptionTarget is True since {}, and nobody deletes it", to_time(since));
        let because =
            runtime.decide(format!("pod/{pod}"), "DisruptionTarget -> False", Vec::from([Because::Fact(fact)]));
        let mut condition = json!({"type": "DisruptionTarget", "status": "False", "lastProbeTime": null,
            "lastTransitionTime": to_time(now)});
        let generation = object.stable().at(&["metadata", "generation"]);
        if self.tells_generation && !generation.is_null() {
            condition.set(&["observedGeneration"], generation.clone());
        }
        let mut body = object.json();
        for one in body.entry(&["status", "conditions"]).make_array() {
            if one.get("type").as_str() == Some("DisruptionTarget") {
                *one = condition.clone();
            }
        }
        let call = Call::new(Verb::Update, PODS, &pod.namespace, &pod.name).subresource("status").body(body);
        runtime.send(key, DisruptionPurpose::Pod, call, Some(because), now);
        Flow::Done
    }

    /// Returns how many pods a budget's owners are meant to have; none while one of them is asked, or if that is the
    /// end of the sync.
    fn expected(
        &mut self,
        budget: &Object,
        count: i64,
        runtime: &mut KeyedRuntime<DisruptionPurpose>,
        now: Timestamp,
    ) -> Option<i64> {
        let (key, spec) = (budget.key(), budget.stable().get("spec"));
        let scales = self.scales.remove(&key).unwrap_or_default();
        let least = spec.get("minAvailable");
        let scale = if spec.get("maxUnavailable").is_null() && (least.is_null() || least.as_i64().is_some()) {
            Expected::Known(Scale { pods: if least.is_null() { 0 } else { count }, leaves_out: false })
        } else {
            self.scale(&key, &scales, runtime)
        };
        let about = InvolvedObject::object("policy/v1", "PodDisruptionBudget", budget);
        match scale {
            Expected::Asked(owner) => {
                let call = owner.kind_call();
                runtime.send(&key, DisruptionPurpose::Kind(owner), call, None, now);
                self.scales.insert(key, scales);
                None
            }
            Expected::Known(scale) => {
                if scale.leaves_out {
                    let message = unmanaged(spec.get("selector"));
                    runtime.emit(&about, EventType::Warning, "UnmanagedPods", &message, now);
                }
                Some(scale.pods)
            }
            Expected::Unknown(why) => {
                let message = format!("Failed to calculate the number of expected pods: {why}");
                runtime.emit(&about, EventType::Warning, "CalculateExpectedPodCountFailed", &message, now);
                self.fail(&key, budget, &why, runtime, now);
                None
            }
        }
    }

    fn sync_budget(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<DisruptionPurpose>, now: Timestamp) -> Flow {
        let Some(budget) = runtime.cache(BUDGET_CACHE).get(key).cloned() else {
            self.scales.remove(key);
            return Flow::Done;
        };
        let about = InvolvedObject::object("policy/v1", "PodDisruptionBudget", &budget);
        let count = i64::try_from(self.pods.count(key)).unwrap_or(i64::MAX);
        if count == 0 {
            runtime.emit(&about, EventType::Normal, "NoPods", "No matching pods found", now);
        }
        let Some(expected) = self.expected(&budget, count, runtime, now) else { return Flow::Next };
        let (least, most) =
            (budget.stable().at(&["spec", "minAvailable"]), budget.stable().at(&["spec", "maxUnavailable"]));
        let desired = if most.is_null() {
            scaled(least, "0", expected, Rounding::Up)
        } else {
            (expected - scaled(most, "0", expected, Rounding::Up)).max(0)
        };
        let disrupted = self.disrupted(&budget, runtime, key, now);
        let is_healthy = |pod: &&Object| !is_ending(pod) && disrupted.get(pod.name()).is_null();
        let ready = self.ready.of(key).filter_map(|pod| runtime.cache(PODS_CACHE).get(pod));
        let healthy = i64::try_from(ready.filter(is_healthy).count()).unwrap_or(i64::MAX);
        let allowed = if expected <= 0 { 0 } else { (healthy - desired).max(0) };
        let mut status = budget.stable().get("status").clone();
        status.set(&["observedGeneration"], number(&budget, &["metadata", "generation"], 0));
        for (field, value) in [
            ("disruptionsAllowed", allowed),
            ("currentHealthy", healthy),
            ("desiredHealthy", desired),
            ("expectedPods", expected),
        ] {
            status.set(&[field], value);
        }
        if disrupted.is_empty() {
            status.remove(&["disruptedPods"]);
        } else {
            status.set(&["disruptedPods"], disrupted);
        }
        let (truth, reason) = if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
        set_allowed(&mut status, truth, reason, "", now);
        let fact = format!("{healthy} of {expected} pods are healthy, and {desired} are needed");
        if status != *budget.stable().get("status") {
            let purpose = DisruptionPurpose::Status(budget.clone());
            Self::write(key, (&budget, purpose), status, fact, runtime, now);
        }
        Flow::Done
    }

    /// Allows no disruption while the number of pods is not known or the status cannot be written; the other counts
    /// stay. There is no retry after that: the next change of the budget or its pods causes the next sync.
    ///
    /// Source: disruption.go (v1.34), `sync`, `failSafe`.
    fn fail(
        &mut self,
        key: &ObjectKey,
        budget: &Object,
        why: &str,
        runtime: &mut KeyedRuntime<DisruptionPurpose>,
        now: Timestamp,
    ) {
        let mut status = budget.stable().get("status").clone();
        status.set(&["disruptionsAllowed"], 0_i64);
        set_allowed(&mut status, "False", "SyncFailed", why, now);
        Self::write(key, (budget, DisruptionPurpose::FailSafe), status, String::from(why), runtime, now);
    }

    fn write(
        key: &ObjectKey,
        (budget, purpose): (&Object, DisruptionPurpose),
        status: Json,
        fact: String,
        runtime: &mut KeyedRuntime<DisruptionPurpose>,
        now: Timestamp,
    ) {
        let allowed = status.get("disruptionsAllowed").as_i64().unwrap_or(0);
        let what = format!("allow {allowed} disruptions");
        let because = runtime.decide(format!("poddisruptionbudget/{key}"), what, Vec::from([Because::Fact(fact)]));
        let mut body = budget.json();
        body.set(&["status"], status);
        let call = Call::new(Verb::Update, BUDGETS, &key.namespace, &key.name).subresource("status").body(body);
        runtime.send(key, purpose, call, Some(because), now);
    }

    /// Returns the evictions that still count as under way, and queues the budget for when they no longer do.
    fn disrupted(
        &self,
        budget: &Object,
        runtime: &mut KeyedRuntime<DisruptionPurpose>,
        key: &ObjectKey,
        now: Timestamp,
    ) -> Json {
        let mut kept = Json::object();
        for (name, since) in budget.stable().at(&["status", "disruptedPods"]).fields() {
            let pod = ObjectKey::namespaced(key.namespace.clone(), name.clone());
            let is_its = self.pods.has(key, &pod);
            let pod = runtime.cache(PODS_CACHE).get(&pod).filter(|pod| is_its && !is_ending(pod)).cloned();
            let (Some(pod), Some(begin)) = (pod, since.as_str().and_then(parse)) else { continue };
            let until = begin + EVICTION_WITHIN;
            if until < now {
                // Upstream names the namespace twice.
                let namespace = &key.namespace;
                let message = format!("Pod was expected by PDB {namespace}/{namespace} to be deleted but it wasn't");
                runtime.emit(&InvolvedObject::pod(&pod), EventType::Warning, "NotDeleted", &message, now);
            } else {
                kept.set(&[name.as_str()], since.clone());
                runtime.add_after(key.clone(), until.duration_since(now) + SignedDuration::from_nanos(1), now);
            }
        }
        kept
    }
}

/// Returns since when a pod has a condition DisruptionTarget that a deletion should have followed: a pod that has ended
/// keeps it, and so does one that its kubelet ends. Without an instant it is as old as can be.
///
/// Source: disruption.go (v1.34), `nonTerminatingPodHasStaleDisruptionCondition`.
fn targeted_since(pod: &Object) -> Option<Timestamp> {
    let target = condition(pod, "DisruptionTarget");
    let is_stale = target.get("status").as_str() == Some("True")
        && target.get("reason").as_str() != Some("TerminationByKubelet")
        && !is_ending(pod)
        && !is_terminal(pod);
    let since = || target.get("lastTransitionTime").as_str().and_then(parse).unwrap_or(Timestamp::UNIX_EPOCH);
    is_stale.then(since)
}

/// Returns the message for a budget that selects pods without an owner.
fn unmanaged(selector: &Json) -> String {
    format!(
        "Pods selected by this PodDisruptionBudget (selector: {}) were found to be unmanaged. As a result, the status \
         of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods \
         please set \".spec.minAvailable\" field of the PDB to an integer value.",
        printed(selector)
    )
}

/// Prints a selector as Go does. Source: k8s.io/apimachinery pkg/apis/meta/v1/generated.pb.go (v1.34), `String`.
fn printed(selector: &Json) -> String {
    let text = |value: &Json| String::from(value.as_str().unwrap_or(""));
    let labels = selector.get("matchLabels").fields();
    let labels: String = labels.map(|(key, value)| format!("{key}: {},", text(value))).collect();
    let terms = selector.get("matchExpressions").items().iter();
    let terms: String = terms
        .map(|term| {
            let values: Vec<String> = term.get("values").items().iter().map(text).collect();
            let (key, operator) = (text(term.get("key")), text(term.get("operator")));
            format!("LabelSelectorRequirement{{Key:{key},Operator:{operator},Values:[{}],}},", values.join(" "))
        })
        .collect();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},\
         MatchExpressions:[]LabelSelectorRequirement{{{terms}}},}}"
    )
}

/// Sets the condition DisruptionAllowed, about the generation that the status is about.
fn set_allowed(status: &mut Json, truth: &str, reason: &str, message: &str, now: Timestamp) {
    let generation = status.get("observedGeneration").as_i64().unwrap_or(0);
    let mut new = json!({"type": "DisruptionAllowed", "status": truth,
        "lastTransitionTime": to_time(now), "reason": reason, "message": message});
    if generation != 0 {
        new.set(&["observedGeneration"], generation);
    }
    put_condition(status.entry(&["conditions"]).make_array(), new);
}

impl Reconciler for Disruption {
    type Purpose = DisruptionPurpose;

    fn handle_event(
        &mut self,
        source: usize,
        event: &CacheEvent,
        runtime: &mut KeyedRuntime<DisruptionPurpose>,
        now: Timestamp,
    ) {
        match source {
            BUDGET_CACHE => {
                let key = event.object().key();
                match &event.after {
                    Some(budget) => {
                        let selector = budget.stable().at(&["spec", "selector"]).clone();
                        let ready = runtime.cache(PODS_CACHE).objects().filter(|pod| is_ready(pod));
                        self.ready.put(key.clone(), selector.clone(), ready);
                        self.pods.put(key.clone(), selector, runtime.cache(PODS_CACHE).objects());
                    }
                    None => {
                        self.pods.remove(&key);
                        self.ready.remove(&key);
                    }
                }
                runtime.add(key);
            }
            PODS_CACHE => self.handle_pod(event, runtime, now),
            _ => {}
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<DisruptionPurpose>, now: Timestamp) -> Flow {
        if key.namespace.starts_with(POD_KEYS) {
            self.sync_pod(key, runtime, now)
        } else {
            self.sync_budget(key, runtime, now)
        }
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        purpose: DisruptionPurpose,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<DisruptionPurpose>,
        now: Timestamp,
    ) -> Flow {
        match (purpose, failure(reply)) {
            (DisruptionPurpose::Kind(owner), _) => {
                match owner.scale_call(reply) {
                    Ok(call) => runtime.send(key, DisruptionPurpose::Scale(owner), call, None, now),
                    Err(why) => self.note_scale(key, owner, Err(why)),
                }
                Flow::Next
            }
            (DisruptionPurpose::Scale(owner), _) => {
                let replicas = owner.replicas(reply);
                self.note_scale(key, owner, replicas);
                Flow::Next
            }
            (_, None) => Flow::Next,
            (DisruptionPurpose::Status(budget), Some(why)) if code(reply) != 409 => {
                self.fail(key, &budget, &why, runtime, now);
                Flow::Next
            }
            _ => Flow::Retry,
        }
    }

    fn proceed(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<DisruptionPurpose>, now: Timestamp) -> Flow {
        if self.scales.contains_key(key) { self.sync_budget(key, runtime, now) } else { Flow::Done }
    }
}
