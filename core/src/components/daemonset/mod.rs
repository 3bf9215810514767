//! Keeps one pod of a DaemonSet on each node that fits it.
//!
//! Mirrors kube-controller-manager's `daemonset-controller` (pkg/controller/daemon/daemon_controller.go, v1.34). Pods
//! name their node in their affinity, and the scheduler binds them. A node that may get no new pod keeps the one it
//! has, unless it has a NoExecute taint that the pod does not tolerate. A failed pod is deleted after a growing pause;
//! a pod that is being deleted blocks its replacement until it is gone.
//! Inputs: DaemonSets, Pods, Nodes, ControllerRevisions, answers, time. Outputs: pods made, deleted, adopted and
//! released, revisions, statuses, Events. A change of a node matters only if its labels or taints changed.

mod census;
mod manage;
mod nodes;
mod ownership;
mod revisions;
mod rolling;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use self::census::{Census, Censuses, PodSums};
use self::manage::Backoff;
use self::nodes::{pod_for, verdict};
use self::revisions::hash_of;
use super::client::CacheEvent;
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, code, failure, object,
};
use super::events::InvolvedObject;
use super::workload::claims::may_adopt;
use super::workload::pods::{Orphans, Owned, number, set_unless_zero};
use super::workload::{DAEMON_SETS, Expectations, REVISIONS, pod_control};
use super::{Because, DecisionId};
use crate::json;
use crate::network::{Call, NODES, PODS, Resource, Verb};
use crate::objects::lifecycle::is_ending;
use crate::objects::{Json, Object, ObjectKey, Text};

/// The label that names a pod's revision. Source: k8s.io/api apps/v1/types.go (v1.34),
/// `DefaultDaemonSetUniqueLabelKey`.
const REVISION_LABEL: &str = "controller-revision-hash";
/// Pods made or deleted in one sync at most. Source: daemon_controller.go (v1.34), `BurstReplicas`.
const BURST: usize = 250;
/// Tries to write a status. Source: daemon_controller.go (v1.34), `StatusUpdateRetries` and one.
const STATUS_TRIES: u32 = 2;
/// Until a sync sees the status that the sync before wrote. On a real control plane that is long enough for the other
/// writes that one cause makes at once: with a node that falls silent its pods become unready and its taint comes, and
/// the second sync counts it. Between the two status writes were 29 ms (v1.34.4).
const OWN_STATUS_RETURNS: SignedDuration = SignedDuration::from_millis(10);

const SETS: usize = 0;
const PODS_CACHE: usize = 1;
const NODE_CACHE: usize = 2;
const REVISION_CACHE: usize = 3;

const CONFIG: ControllerConfig = ControllerConfig {
    queue: "daemonset",
    workers: 2,
    retries: Retries::ENDLESS,
    watched: &[Watched::of(DAEMON_SETS), Watched::of(PODS), Watched::of(NODES), Watched::of(REVISIONS)],
};

/// Starts the controller with empty caches.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let looks_for_pods = context.settings.profile().is("daemon-set-wakes-for-pods");
    KeyedController::new(DaemonSets { looks_for_pods, ..DaemonSets::default() }, &CONFIG, context, now)
}

/// What a request is for.
#[derive(Clone, Debug)]
enum DaemonSetPurpose {
    /// Check that the set still exists, before it adopts a pod or a revision.
    Confirm,
    Adopt(Object),
    Release,
    /// Make the revision of the template.
    Revision,
    /// Read the revision that has its name.
    Taken,
    /// Count one more name that was taken.
    Collision,
    /// Give the revision of the template the next number, and leave it alone.
    Renumber,
    /// Delete an old revision.
    DeleteRevision,
    Create,
    Delete(Object),
    Status,
    Read,
}

/// What comes next.
#[derive(Clone, PartialEq, Eq, Debug)]
enum DaemonSetStage {
    /// Adopt and release revisions.
    Begin,
    Revise,
    /// Adopt and release pods.
    Claim,
    Manage,
    /// Make pods for these nodes, in batches of this size.
    Create {
        nodes: Vec<Text>,
        batch: usize,
    },
    /// Delete surplus pods.
    Delete,
    /// Replace pods of old revisions.
    Roll,
    /// Find old revisions that are too many.
    CleanUp,
    /// Delete them, one after the other.
    DeleteRevisions,
    Status,
    /// The status is as it should be.
    Written,
    End(Flow),
}

/// A sync under way.
#[derive(Clone, Debug)]
struct DaemonSetSync {
    set: Object,
    hash: String,
    stage: DaemonSetStage,
    because: Option<DecisionId>,
    /// What it may adopt.
    wanted: Option<(Resource, Vec<Object>)>,
    /// The revisions of the set, until that of the template is found.
    own: Vec<Object>,
    /// The revisions of other templates.
    old: Vec<Object>,
    /// Old revisions to delete.
    surplus: VecDeque<Object>,
    doomed: Vec<Object>,
    /// Why they are to be deleted.
    why: &'static str,
    /// Whether pods of old revisions were looked for.
    rolled: bool,
    /// Whether the status sets `observedGeneration` to this generation.
    observes: bool,
    failed: bool,
    tries: u32,
}

impl DaemonSetSync {
    fn of(set: Object) -> Self {
        Self {
            set,
            hash: String::new(),
            stage: DaemonSetStage::Begin,
            because: None,
            wanted: None,
            own: Vec::new(),
            old: Vec::new(),
            surplus: VecDeque::new(),
            doomed: Vec::new(),
            why: "",
            rolled: false,
            observes: false,
            failed: false,
            tries: 0,
        }
    }

    fn fail(&mut self) {
        self.stage = DaemonSetStage::End(Flow::Retry);
    }
}

/// What the controller knows; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug, Default)]
struct DaemonSets {
    /// Whether a changed node queues the sets that have to create or delete a pod on it.
    looks_for_pods: bool,
    pods: Censuses,
    /// Pods without owner, those that have ended included.
    orphans: Orphans,
    revisions: Owned,
    orphan_revisions: Orphans,
    expectations: Expectations,
    /// The pauses, by set, its observed generation, and node.
    failing: BTreeMap<(Text, i64, Text), Backoff>,
    work: BTreeMap<ObjectKey, DaemonSetSync>,
}

fn about(set: &Object) -> InvolvedObject {
    InvolvedObject::object("apps/v1", "DaemonSet", set)
}

impl DaemonSets {
    fn handle_node(&mut self, event: &CacheEvent, runtime: &mut KeyedRuntime<DaemonSetPurpose>) {
        if let (Some(before), Some(after)) = (&event.before, &event.after) {
            let same = |path: &[&str]| before.stable().at(path) == after.stable().at(path);
            if same(&["metadata", "labels"]) && same(&["spec", "taints"]) {
                return;
            }
        }
        self.pods.note_node(event.object().name());
        let Some(after) = &event.after else { return };
        let concerned: Vec<ObjectKey> = runtime
            .cache(SETS)
            .objects()
            .filter(|set| match &event.before {
                _ if self.looks_for_pods => {
                    let verdict = verdict(set, after);
                    let strays = set.stable().at(&["status", "numberMisscheduled"]).as_i64().unwrap_or(0) > 0;
                    if self.pods.is_on(set, after.name()) { !verdict.should_stay || strays } else { verdict.should_run }
                }
                None => verdict(set, after).should_run,
                Some(before) => verdict(set, before) != verdict(set, after),
            })
            .map(Object::key)
            .collect();
        for key in concerned {
            runtime.add(key);
        }
    }

    /// Returns the census of the set of a sync, up to date.
    fn census(&mut self, work: &DaemonSetSync, runtime: &KeyedRuntime<DaemonSetPurpose>, now: Timestamp) -> &Census {
        let caches = (runtime.cache(PODS_CACHE).cache(), runtime.cache(NODE_CACHE).cache());
        self.pods.of(&work.set, &work.hash, caches, now)
    }

    /// Begins to make pods for these nodes and to delete the doomed ones, as many of them as one sync may.
    fn begin_changes(&mut self, key: &ObjectKey, work: &mut DaemonSetSync, mut nodes: Vec<Text>, now: Timestamp) {
        nodes.truncate(BURST);
        work.doomed.truncate(BURST);
        self.expectations.expect(key, nodes.len(), work.doomed.iter().map(|pod| Text::from(pod.uid())), now);
        work.stage = DaemonSetStage::Create { nodes, batch: 1 };
    }

    fn delete(key: &ObjectKey, work: &mut DaemonSetSync, runtime: &mut KeyedRuntime<DaemonSetPurpose>, now: Timestamp) {
        for pod in core::mem::take(&mut work.doomed) {
            let facts = Vec::from([Because::Fact(String::from(work.why))]);
            let because = runtime.decide(format!("pod/{}", pod.key()), "delete", facts);
            let options = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
            let call = Call::new(Verb::Delete, PODS, &key.namespace, pod.name()).body(options);
            runtime.send(key, DaemonSetPurpose::Delete(pod), call, Some(because), now);
        }
    }

    /// Queues the set again for pods that are ready and become available without a change.
    fn look_again(
        &mut self,
        key: &ObjectKey,
        work: &DaemonSetSync,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        let min_ready = number(&work.set, &["spec", "minReadySeconds"], 0);
        let sums = self.census(work, runtime, now).sums();
        if min_ready > 0 && sums.ready != sums.available {
            runtime.add_after(key.clone(), SignedDuration::from_secs(min_ready), now);
        }
    }

    fn status(&mut self, work: &DaemonSetSync, runtime: &KeyedRuntime<DaemonSetPurpose>, now: Timestamp) -> Json {
        let set = &work.set;
        let PodSums { desired, current, stray, ready, available, updated, .. } = self.census(work, runtime, now).sums();
        let observed = if work.observes {
            number(set, &["metadata", "generation"], 0)
        } else {
            number(set, &["status", "observedGeneration"], 0)
        };
        let mut status = json!({"currentNumberScheduled": current, "numberMisscheduled": stray,
            "desiredNumberScheduled": desired, "numberReady": ready});
        set_unless_zero(&mut status, &["observedGeneration"], observed);
        set_unless_zero(&mut status, &["updatedNumberScheduled"], updated);
        set_unless_zero(&mut status, &["numberAvailable"], available);
        set_unless_zero(&mut status, &["numberUnavailable"], desired - available);
        for kept in ["collisionCount", "conditions"] {
            let value = set.stable().at(&["status", kept]);
            if !value.is_null() {
                status.set(&[kept], value.clone());
            }
        }
        status
    }
}

/// Sort key by age: bound pods first, then the creation time, then the name.
///
/// Source: daemon_controller.go (v1.34), `podByCreationTimestampAndPhase`.
fn age(pod: &Object) -> (bool, Option<Text>, Text) {
    let is_bound = super::client::node_name(pod).is_some();
    (!is_bound, pod.stable().at(&["metadata", "creationTimestamp"]).as_text().cloned(), Text::from(pod.name()))
}

impl Reconciler for DaemonSets {
    type Purpose = DaemonSetPurpose;

    fn handle_event(
        &mut self,
        source: usize,
        event: &CacheEvent,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        match source {
            SETS => {
                self.pods.follow_set(event);
                self.expectations.follow_owner(event);
                let same = |field| {
                    Some(event.before.as_ref()?.stable().get(field) == event.after.as_ref()?.stable().get(field))
                };
                if same("spec") == Some(true) && same("status") == Some(false) {
                    runtime.add_late(event.object().key(), OWN_STATUS_RETURNS, now);
                } else {
                    runtime.add(event.object().key());
                }
            }
            PODS_CACHE => self.handle_pod(event, runtime, now),
            NODE_CACHE => self.handle_node(event, runtime),
            _ => self.handle_revision(event, runtime),
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<DaemonSetPurpose>, _now: Timestamp) -> Flow {
        let Some(set) = runtime.cache(SETS).get(key).filter(|set| !is_ending(set)) else { return Flow::Done };
        let work = DaemonSetSync::of(set.clone());
        self.work.insert(key.clone(), work);
        Flow::Next
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        step: DaemonSetPurpose,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) -> Flow {
        let Some(mut work) = self.work.remove(key) else { return Flow::Next };
        let failed = failure(reply).is_some();
        match step {
            DaemonSetPurpose::Confirm if may_adopt(&work.set, object(reply).as_ref()) => {
                Self::adopt(key, &mut work, runtime, now);
            }
            DaemonSetPurpose::Adopt(found) if !failed => self.adopted(&mut work, found, object(reply)),
            DaemonSetPurpose::Adopt(_) if code(reply) == 404 => {}
            DaemonSetPurpose::Release if matches!(code(reply), 404 | 422) => {}
            DaemonSetPurpose::Revision if failed => Self::not_revised(key, &mut work, reply, runtime, now),
            DaemonSetPurpose::Revision => {
                work.hash = object(reply).map_or_else(|| work.hash.clone(), |made| String::from(hash_of(&made)));
            }
            DaemonSetPurpose::Taken => Self::take_or_rename(key, &mut work, reply, runtime, now),
            DaemonSetPurpose::Collision => {}
            DaemonSetPurpose::Create => {
                let tools = (&mut self.expectations, runtime);
                work.failed |= pod_control::created(key, &about(&work.set), reply, tools, now).is_some();
            }
            DaemonSetPurpose::Delete(pod) => {
                let tools = (&mut self.expectations, runtime);
                work.failed |= pod_control::deleted(key, (&about(&work.set), &pod), reply, tools, now).is_some();
            }
            DaemonSetPurpose::DeleteRevision if failed => {
                work.failed = true;
                work.surplus.clear();
            }
            DaemonSetPurpose::Status if !failed => work.stage = DaemonSetStage::Written,
            DaemonSetPurpose::Status if work.tries < STATUS_TRIES => {
                let call = Call::new(Verb::Get, DAEMON_SETS, &key.namespace, &key.name);
                runtime.send(key, DaemonSetPurpose::Read, call, work.because, now);
            }
            DaemonSetPurpose::Read if !failed => work.set = object(reply).unwrap_or_else(|| work.set.clone()),
            _ if failed => work.fail(),
            DaemonSetPurpose::Confirm => work.fail(),
            _ => {}
        }
        self.work.insert(key.clone(), work);
        Flow::Next
    }

    fn proceed(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<DaemonSetPurpose>, now: Timestamp) -> Flow {
        let Some(mut work) = self.work.remove(key) else { return Flow::Done };
        match work.stage.clone() {
            DaemonSetStage::Begin => self.claim_revisions(key, &mut work, runtime, now),
            DaemonSetStage::Revise => self.revise(key, &mut work, runtime, now),
            DaemonSetStage::Claim if !self.expectations.are_met(key, now) => work.stage = DaemonSetStage::Status,
            DaemonSetStage::Claim => {
                work.observes = true;
                self.claim_pods(key, &mut work, runtime, now);
            }
            DaemonSetStage::Manage => self.manage(key, &mut work, runtime, now),
            DaemonSetStage::Create { nodes, .. } if nodes.is_empty() || work.failed => {
                for _ in nodes {
                    self.expectations.created(key);
                }
                work.stage = DaemonSetStage::Delete;
            }
            DaemonSetStage::Create { mut nodes, batch } => {
                let rest = nodes.split_off(batch.min(nodes.len()));
                for node in nodes {
                    let pod = pod_for(&work.set, &node, &work.hash);
                    let call = Call::new(Verb::Create, PODS, &key.namespace, "").body(pod);
                    runtime.send(key, DaemonSetPurpose::Create, call, work.because, now);
                }
                work.stage = DaemonSetStage::Create { nodes: rest, batch: batch * 2 };
            }
            DaemonSetStage::Delete => {
                let next = if work.rolled { DaemonSetStage::CleanUp } else { DaemonSetStage::Roll };
                work.stage = next;
                Self::delete(key, &mut work, runtime, now);
            }
            DaemonSetStage::Roll | DaemonSetStage::CleanUp if work.failed => work.stage = DaemonSetStage::Status,
            DaemonSetStage::Roll => {
                work.rolled = true;
                work.stage = DaemonSetStage::CleanUp;
                self.roll(key, &mut work, runtime, now);
            }
            DaemonSetStage::CleanUp => {
                work.surplus = self.surplus_revisions(&work, runtime);
                work.stage = DaemonSetStage::DeleteRevisions;
            }
            DaemonSetStage::DeleteRevisions => {
                if Self::delete_revision(key, &mut work, runtime, now) {
                    work.stage = DaemonSetStage::Status;
                }
            }
            DaemonSetStage::Status => {
                let status = self.status(&work, runtime, now);
                if status == *work.set.stable().get("status") {
                    work.stage = DaemonSetStage::Written;
                } else {
                    let mut body = work.set.json();
                    body.set(&["status"], status);
                    let call = Call::new(Verb::Update, DAEMON_SETS, &key.namespace, &key.name)
                        .subresource("status")
                        .body(body);
                    work.tries += 1;
                    runtime.send(key, DaemonSetPurpose::Status, call, work.because, now);
                }
            }
            DaemonSetStage::Written => {
                self.look_again(key, &work, runtime, now);
                return if work.failed { Flow::Retry } else { Flow::Done };
            }
            DaemonSetStage::End(flow) => return flow,
        }
        self.work.insert(key.clone(), work);
        Flow::Next
    }
}
