//! Keeps as many pods as a ReplicaSet, or a ReplicationController, asks for.
//!
//! Mirrors kube-controller-manager's `replicaset-controller` (pkg/controller/replicaset/{replica_set,
//! replica_set_utils}.go, v1.34), and `replicationcontroller-controller`, which is the same code over another kind
//! (pkg/controller/replication/{replication_controller,conversion}.go, v1.34): its selector has labels alone. A pod
//! that has ended or is being deleted does not count, so its replacement is created when its deletion begins. Before
//! the pods are counted, the set adopts pods without owner that its selector matches, and releases own pods that it
//! no longer matches. Creations go in batches of 1, 2, 4 …, at most 500 in one sync. The status describes the pods
//! before the sync created or deleted any.
//! Inputs: ReplicaSets, Pods, answers, time. Outputs: pods created, deleted, adopted and released, statuses, Events.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::client::CacheEvent;
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, code, failure, object,
};
use super::events::InvolvedObject;
use super::workload::claims::{is_offered, may_adopt};
use super::workload::pods::{
    Orphans, adoption, at_latest, became_ready, controller_of, from_template, is_available, labels, next_look, number,
    owner_key, reference_to, release, set_unless_zero, with_failure,
};
use super::workload::scale_down::{crowds, least_missed};
use super::workload::{
    Expectations, PodTally, REPLICA_SETS, REPLICATION_CONTROLLERS, Tallies, has_labels, pod_control,
};
use super::{Because, DecisionId};
use crate::json;
use crate::network::{Call, PODS, Resource, Verb};
use crate::objects::lifecycle::{is_active, is_ending, is_ready, is_terminal};
use crate::objects::selector::selects;
use crate::objects::{Json, Object, ObjectKey, Text};

/// Pods made or deleted in one sync at most. Source: replica_set.go (v1.34), `BurstReplicas`.
const BURST: usize = 500;
/// Tries to write a status. Source: replica_set.go (v1.34), `statusUpdateRetries` and one.
const STATUS_TRIES: u32 = 2;

const SETS: usize = 0;
const PODS_CACHE: usize = 1;

/// A kind of objects that keep pods in this way.
#[derive(Debug)]
struct Family {
    kind: &'static str,
    api_version: &'static str,
    resource: Resource,
    /// Whether the selector has labels alone, without terms.
    is_of_labels: bool,
    config: ControllerConfig,
}

static REPLICA_SET: Family = Family {
    kind: "ReplicaSet",
    api_version: "apps/v1",
    resource: REPLICA_SETS,
    is_of_labels: false,
    config: ControllerConfig {
        queue: "replicaset",
        workers: 5,
        retries: Retries::ENDLESS,
        watched: &[Watched::of(REPLICA_SETS), Watched::of(PODS)],
    },
};

static REPLICATION_CONTROLLER: Family = Family {
    kind: "ReplicationController",
    api_version: "v1",
    resource: REPLICATION_CONTROLLERS,
    is_of_labels: true,
    config: ControllerConfig {
        queue: "replicationmanager",
        workers: 5,
        retries: Retries::ENDLESS,
        watched: &[Watched::of(REPLICATION_CONTROLLERS), Watched::of(PODS)],
    },
};

impl Family {
    /// Tells whether a set selects a pod.
    fn selects(&self, set: &Object, pod: &Object) -> bool {
        let selector = set.stable().at(&["spec", "selector"]);
        if self.is_of_labels {
            !selector.is_empty() && selector.fields().all(|(key, value)| labels(pod).get(key) == value)
        } else {
            selects(selector, labels(pod))
        }
    }

    fn about(&self, set: &Object) -> InvolvedObject {
        InvolvedObject::object(self.api_version, self.kind, set)
    }
}

/// Starts the controller of ReplicaSets with empty caches.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    start_for(&REPLICA_SET, context.settings.is_gate_on("DeploymentReplicaSetTerminatingReplicas"), context, now)
}

/// Starts the controller of ReplicationControllers with empty caches.
pub(super) fn start_replication(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    start_for(&REPLICATION_CONTROLLER, false, context, now)
}

fn start_for(
    family: &'static Family,
    tells_terminating: bool,
    context: &ControllerContext,
    now: Timestamp,
) -> impl Controller + use<> {
    let logic = ReplicaSets {
        family,
        tells_terminating,
        plans_availability: context.settings.profile().is("replica-sets-plan-availability"),
        heeds_cost: context.settings.is_gate_on("PodDeletionCost"),
        pods: Tallies::default(),
        orphans: Orphans::default(),
        expectations: Expectations::default(),
        work: BTreeMap::new(),
    };
    KeyedController::new(logic, &family.config, context, now)
}

/// What a request is for.
#[derive(Clone, Debug)]
enum ReplicaSetPurpose {
    /// Check that the set still exists, before it adopts a pod.
    Confirm,
    Adopt(Object),
    Release,
    Create,
    Delete(Object),
    Status,
    Read,
}

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReplicaSetStage {
    /// Adopt and release pods.
    Claim,
    /// Compute how many pods are missing or surplus.
    Manage,
    /// Create `left` more pods, in batches of this size.
    Create { left: usize, batch: usize },
    /// Write the status of the pods.
    Status,
    /// The status was written.
    Written,
    /// Nothing more can be done now.
    Failed,
}

/// A sync under way.
#[derive(Clone, Debug)]
struct ReplicaSetSync {
    set: Object,
    stage: ReplicaSetStage,
    because: Option<DecisionId>,
    /// Pods that the set may adopt.
    wanted: Vec<Object>,
    /// The pods that counted at the beginning of the sync; `None` if nothing but their numbers matters.
    active: Option<Vec<Object>>,
    tally: PodTally,
    /// Which of creation and deletion failed, and how.
    error: Option<(&'static str, String)>,
    tries: u32,
}

/// What the controller knows; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
struct ReplicaSets {
    family: &'static Family,
    tells_terminating: bool,
    plans_availability: bool,
    heeds_cost: bool,
    pods: Tallies,
    orphans: Orphans,
    expectations: Expectations,
    work: BTreeMap<ObjectKey, ReplicaSetSync>,
}

impl ReplicaSets {
    fn handle_pod(&mut self, event: &CacheEvent, runtime: &mut KeyedRuntime<ReplicaSetPurpose>, now: Timestamp) {
        // Ended pods do not count, and there may be any number of them.
        self.pods.update_those(event, |pod| !is_terminal(pod));
        self.orphans.update(event);
        let pod = event.object();
        if let (Some(before), Some(after)) = (&event.before, &event.after)
            && let Some(owner) = owner_key(before, self.family.kind)
            && owner_key(after, self.family.kind).as_ref() != Some(&owner)
        {
            runtime.add(owner.0);
        }
        if controller_of(pod).is_none() {
            self.offer(event, runtime);
            return;
        }
        let Some((key, uid)) = owner_key(pod, self.family.kind) else { return };
        let Some(set) = runtime.cache(SETS).get(&key).filter(|set| set.uid() == &*uid) else { return };
        let min_ready = number(set, &["spec", "minReadySeconds"], 0);
        self.expectations.follow(&key, event);
        if min_ready > 0 && event.before.is_some() && became_ready(event) {
            let later = i64::from(!self.plans_availability);
            runtime.add_after(key.clone(), SignedDuration::from_secs(min_ready + later), now);
        }
        runtime.add(key);
    }

    /// Queues the sets that select a pod without owner, when it appears or when its labels or owners change.
    fn offer(&self, event: &CacheEvent, runtime: &mut KeyedRuntime<ReplicaSetPurpose>) {
        let Some(pod) = event.after.as_ref().filter(|pod| is_offered(event.before.as_ref(), Some(pod))) else { return };
        let namespace = pod.key().namespace;
        let takes = |set: &&Object| set.key().namespace == namespace && self.family.selects(set, pod);
        let keys: Vec<ObjectKey> = runtime.cache(SETS).objects().filter(takes).map(Object::key).collect();
        for key in keys {
            runtime.add(key);
        }
    }

    /// Releases pods that are no longer selected, and finds pods to adopt.
    fn claim(
        &self,
        key: &ObjectKey,
        work: &mut ReplicaSetSync,
        runtime: &mut KeyedRuntime<ReplicaSetPurpose>,
        now: Timestamp,
    ) {
        let (family, set) = (self.family, work.set.clone());
        let selected = |pod: &Object| family.selects(&set, pod);
        let Some(active) = &mut work.active else { return };
        let lost: Vec<Object> = active.extract_if(.., |pod| !selected(pod)).collect();
        if is_ending(&work.set) {
            return;
        }
        for pod in lost {
            let fact = String::from("its labels are no longer those that the set selects");
            let about = format!("pod/{}", pod.key());
            let because =
                runtime.decide(about, format!("let go by {} {}", family.kind, key.name), [Because::Fact(fact)].into());
            let call = Call::strategic_patch(PODS, &key.namespace, pod.name(), release(&work.set, &pod));
            runtime.send(key, ReplicaSetPurpose::Release, call, Some(because), now);
        }
        let pods = runtime.cache(PODS_CACHE);
        work.wanted = self
            .orphans
            .of(&key.namespace)
            .filter_map(|pod| pods.get(pod))
            .filter(|pod| selected(pod))
            .cloned()
            .collect();
        if !work.wanted.is_empty() {
            let call = Call::new(Verb::Get, self.family.resource.clone(), &key.namespace, &key.name);
            runtime.send(key, ReplicaSetPurpose::Confirm, call, None, now);
        }
    }

    /// Adopts the pods found.
    fn adopt(
        family: &Family,
        key: &ObjectKey,
        work: &mut ReplicaSetSync,
        runtime: &mut KeyedRuntime<ReplicaSetPurpose>,
        now: Timestamp,
    ) {
        for pod in core::mem::take(&mut work.wanted) {
            let fact = String::from("the set selects it, and nobody owns it");
            let about = format!("pod/{}", pod.key());
            let because =
                runtime.decide(about, format!("taken by {} {}", family.kind, key.name), [Because::Fact(fact)].into());
            let patch = adoption(reference_to(&work.set, family.api_version, family.kind), &pod);
            let call = Call::strategic_patch(PODS, &key.namespace, pod.name(), patch);
            runtime.send(key, ReplicaSetPurpose::Adopt(pod), call, Some(because), now);
        }
    }

    /// Creates missing pods or deletes surplus ones.
    fn manage(
        &mut self,
        key: &ObjectKey,
        work: &mut ReplicaSetSync,
        runtime: &mut KeyedRuntime<ReplicaSetPurpose>,
        now: Timestamp,
    ) {
        let wanted = usize::try_from(number(&work.set, &["spec", "replicas"], 1)).unwrap_or(0);
        let have = work.active.as_ref().map_or(work.tally.active as usize, Vec::len);
        let decide = |runtime: &mut KeyedRuntime<ReplicaSetPurpose>, what: String| {
            let fact = format!("{have} pods count, and spec.replicas is {wanted}");
            runtime.decide(format!("{}/{key}", self.family.kind.to_lowercase()), what, Vec::from([Because::Fact(fact)]))
        };
        if have < wanted {
            let missing = (wanted - have).min(BURST);
            work.because = Some(decide(runtime, format!("create {missing} pods")));
            self.expectations.expect(key, missing, [], now);
            work.stage = ReplicaSetStage::Create { left: missing, batch: 1 };
        } else if have > wanted {
            let active = work.active.clone().unwrap_or_default();
            let crowds = crowds(&work.set, runtime.cache(SETS), (&self.pods, runtime.cache(PODS_CACHE)));
            let doomed = least_missed(active, (have - wanted).min(BURST), &crowds, self.heeds_cost, now);
            work.because = Some(decide(runtime, format!("delete {} pods", doomed.len())));
            self.expectations.expect(key, 0, doomed.iter().map(|pod| Text::from(pod.uid())), now);
            for pod in doomed {
                let name = pod.key();
                let options = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
                let call = Call::new(Verb::Delete, PODS, name.namespace, name.name).body(options);
                runtime.send(key, ReplicaSetPurpose::Delete(pod), call, work.because, now);
            }
        }
    }

    /// Tells whether a sync needs the pods themselves and not only their numbers: to release, adopt or delete some, or
    /// to see how long they have been ready.
    fn wants_pods(&self, set: &Object, tally: PodTally) -> bool {
        let wanted = usize::try_from(number(set, &["spec", "replicas"], 1)).unwrap_or(0);
        tally.lost > 0
            || tally.active as usize > wanted
            || number(set, &["spec", "minReadySeconds"], 0) != 0
            || self.orphans.of(&set.key().namespace).next().is_some()
    }

    fn status(&self, work: &ReplicaSetSync, now: Timestamp) -> Json {
        let set = &work.set;
        let min_ready = number(set, &["spec", "minReadySeconds"], 0);
        let count = |test: &dyn Fn(&Object) -> bool, known: u32| match &work.active {
            None => i64::from(known),
            Some(active) => i64::try_from(active.iter().filter(|pod| test(pod)).count()).unwrap_or(i64::MAX),
        };
        let tally = work.tally;
        let mut status = json!({"replicas": count(&|_| true, tally.active)});
        let labelled = count(&|pod| has_labels(set, pod), tally.labelled);
        set_unless_zero(&mut status, &["fullyLabeledReplicas"], labelled);
        set_unless_zero(&mut status, &["readyReplicas"], count(&is_ready, tally.ready));
        // Without `minReadySeconds` what is ready is available.
        let now_or_just_after = at_latest(now, self.plans_availability);
        let available = count(&|pod| is_available(pod, min_ready, now_or_just_after), tally.ready);
        set_unless_zero(&mut status, &["availableReplicas"], available);
        if self.tells_terminating {
            status.set(&["terminatingReplicas"], i64::from(tally.terminating));
        }
        set_unless_zero(&mut status, &["observedGeneration"], number(set, &["metadata", "generation"], 0));
        let conditions = with_failure(set, work.error.as_ref(), now);
        if !conditions.is_empty() {
            status.set(&["conditions"], conditions);
        }
        status
    }
}

impl Reconciler for ReplicaSets {
    type Purpose = ReplicaSetPurpose;

    fn handle_event(
        &mut self,
        source: usize,
        event: &CacheEvent,
        runtime: &mut KeyedRuntime<ReplicaSetPurpose>,
        now: Timestamp,
    ) {
        if source == PODS_CACHE {
            self.handle_pod(event, runtime, now);
            return;
        }
        self.expectations.follow_owner(event);
        runtime.add(event.object().key());
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<ReplicaSetPurpose>, now: Timestamp) -> Flow {
        let Some(set) = runtime.cache(SETS).get(key).cloned() else { return Flow::Done };
        let pods = runtime.cache(PODS_CACHE);
        let basis = set.stable().get("spec");
        let tally = self
            .pods
            .sums(set.uid(), basis, pods.cache(), |pod| PodTally::of(&set, pod, self.family.selects(&set, pod)));
        let active = self.wants_pods(&set, tally).then(|| {
            self.pods.of(set.uid()).filter_map(|pod| pods.get(pod)).filter(|pod| is_active(pod)).cloned().collect()
        });
        let (stage, wanted) = (ReplicaSetStage::Claim, Vec::new());
        let mut work = ReplicaSetSync { set, stage, because: None, wanted, active, tally, error: None, tries: 0 };
        self.claim(key, &mut work, runtime, now);
        self.work.insert(key.clone(), work);
        Flow::Next
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        step: ReplicaSetPurpose,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<ReplicaSetPurpose>,
        now: Timestamp,
    ) -> Flow {
        let Some(work) = self.work.get_mut(key) else { return Flow::Next };
        let error = failure(reply);
        match (step, error) {
            (ReplicaSetPurpose::Confirm, error) => match error {
                None if may_adopt(&work.set, object(reply).as_ref()) => {
                    Self::adopt(self.family, key, work, runtime, now)
                }
                _ => work.stage = ReplicaSetStage::Failed,
            },
            (ReplicaSetPurpose::Adopt(pod), error) => match error {
                None => work.active.get_or_insert_default().push(object(reply).unwrap_or(pod)),
                Some(_) if code(reply) == 404 => {}
                Some(_) => work.stage = ReplicaSetStage::Failed,
            },
            (ReplicaSetPurpose::Release, Some(_)) if !matches!(code(reply), 404 | 422) => {
                work.stage = ReplicaSetStage::Failed
            }
            (ReplicaSetPurpose::Release, _) => {}
            (ReplicaSetPurpose::Create, _) => {
                let tools = (&mut self.expectations, runtime);
                work.error =
                    pod_control::created(key, &self.family.about(&work.set), reply, tools, now).or(work.error.take());
            }
            (ReplicaSetPurpose::Delete(pod), _) => {
                let tools = (&mut self.expectations, runtime);
                work.error = pod_control::deleted(key, (&self.family.about(&work.set), &pod), reply, tools, now)
                    .or(work.error.take());
            }
            (ReplicaSetPurpose::Status, None) => work.stage = ReplicaSetStage::Written,
            (ReplicaSetPurpose::Status, Some(_)) if work.tries < STATUS_TRIES => {
                let call = Call::new(Verb::Get, self.family.resource.clone(), &key.namespace, &key.name);
                runtime.send(key, ReplicaSetPurpose::Read, call, work.because, now);
            }
            (ReplicaSetPurpose::Read, None) => {
                work.set = object(reply).unwrap_or_else(|| work.set.clone());
            }
            (ReplicaSetPurpose::Status | ReplicaSetPurpose::Read, Some(_)) => work.stage = ReplicaSetStage::Failed,
        }
        Flow::Next
    }

    fn proceed(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<ReplicaSetPurpose>, now: Timestamp) -> Flow {
        let Some(mut work) = self.work.remove(key) else { return Flow::Done };
        match work.stage {
            ReplicaSetStage::Claim => work.stage = ReplicaSetStage::Manage,
            ReplicaSetStage::Manage => {
                work.stage = ReplicaSetStage::Status;
                if !is_ending(&work.set) && self.expectations.are_met(key, now) {
                    self.manage(key, &mut work, runtime, now);
                }
            }
            ReplicaSetStage::Create { left, .. } if work.error.is_some() => {
                for _ in 0..left {
                    self.expectations.created(key);
                }
                work.stage = ReplicaSetStage::Status;
            }
            ReplicaSetStage::Create { left: 0, .. } => work.stage = ReplicaSetStage::Status,
            ReplicaSetStage::Create { left, batch } => {
                let size = batch.min(left);
                for _ in 0..size {
                    let pod = from_template(&work.set, self.family.api_version, self.family.kind);
                    let call = Call::new(Verb::Create, PODS, &key.namespace, "").body(pod);
                    runtime.send(key, ReplicaSetPurpose::Create, call, work.because, now);
                }
                work.stage = ReplicaSetStage::Create { left: left - size, batch: size * 2 };
            }
            ReplicaSetStage::Status => {
                let status = self.status(&work, now);
                if status == *work.set.stable().get("status") {
                    work.stage = ReplicaSetStage::Written;
                } else {
                    let mut body = work.set.json();
                    body.set(&["status"], status);
                    let call = Call::new(Verb::Update, self.family.resource.clone(), &key.namespace, &key.name)
                        .subresource("status")
                        .body(body);
                    work.tries += 1;
                    runtime.send(key, ReplicaSetPurpose::Status, call, work.because, now);
                }
            }
            ReplicaSetStage::Written | ReplicaSetStage::Failed => {
                if work.stage == ReplicaSetStage::Failed || work.error.is_some() {
                    return Flow::Retry;
                }
                if let Some(active) = &work.active
                    && let Some(pause) =
                        next_look(&self.status(&work, now), (&work.set, active), self.plans_availability, now)
                {
                    runtime.add_after(key.clone(), pause, now);
                }
                return Flow::Done;
            }
        }
        self.work.insert(key.clone(), work);
        Flow::Next
    }
}
