//! Keeps the pods of a StatefulSet: one for each ordinal, in order, each name used by one pod at a time.
//!
//! Mirrors kube-controller-manager's `statefulset-controller` (pkg/controller/statefulset/{stateful_set,
//! stateful_set_control,stateful_set_utils,stateful_pod_control}.go, v1.34). First the set adopts revisions and pods
//! without owner that its selector matches, and releases own pods that it no longer matches. A pod is created again
//! only when the object of the same name is gone. With `OrderedReady` one pod is changed at a time, and a pod that is
//! being deleted or is not ready blocks all after it. A pod that has ended is deleted. The status describes the pods
//! before the change. Inputs: StatefulSets, Pods, ControllerRevisions, claims, answers, time. Outputs: pods, claims and
//! revisions created, adopted and released, pods and old revisions deleted, owners of claims, statuses, Events.
//! Left out on purpose: pods whose volumes are not those of the claim templates, which upstream tries to change and
//! cannot.

mod claims;
mod ownership;
mod replicas;
mod revisions;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use self::claims::AfterClaims;
use self::revisions::Revision;
use super::DecisionId;
use super::client::CacheEvent;
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, code, failure,
};
use super::events::InvolvedObject;
use super::volumes::CLAIMS;
use super::workload::pods::{
    Orphans, Owned, became_ready, controller_of, is_available, labels, number, owner_key, set_unless_zero,
};
use super::workload::{REVISIONS, STATEFUL_SETS};
use crate::json;
use crate::network::{Call, PODS, Verb};
use crate::objects::lifecycle::{is_ending, is_ready, phase};
use crate::objects::{Json, Object, ObjectKey};

/// The label that names a pod's revision. Source: k8s.io/api apps/v1/types.go (v1.34),
/// `ControllerRevisionHashLabelKey`.
const REVISION_LABEL: &str = "controller-revision-hash";
/// Tries to write a status while others write it too. Source: k8s.io/client-go util/retry (v1.34), `DefaultBackoff`.
const STATUS_TRIES: u32 = 4;

const SETS: usize = 0;
const PODS_CACHE: usize = 1;
const REVISION_CACHE: usize = 2;
const CLAIM_CACHE: usize = 3;

const CONFIG: ControllerConfig = ControllerConfig {
    queue: "statefulset",
    workers: 5,
    retries: Retries::ENDLESS,
    watched: &[Watched::of(STATEFUL_SETS), Watched::of(PODS), Watched::of(REVISIONS), Watched::of(CLAIMS)],
};

/// Starts the controller with empty caches.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let logic = StatefulSets {
        capitalises: context.settings.profile().is("stateful-set-events-capitalised"),
        waits_for_available: context.settings.profile().is("stateful-sets-wait-for-available"),
        plans_availability: context.settings.profile().is("stateful-sets-plan-availability"),
        rolls_several: context.settings.profile().is("stateful-sets-roll-several"),
        replaces_unavailable_first: context.settings.profile().is("stateful-sets-replace-unavailable-first"),
        takes_gone_for_deleted: context.settings.profile().is("stateful-sets-take-gone-pods-for-deleted"),
        carries_status_on: context.settings.profile().is("stateful-set-status-is-carried-on"),
        pods: Owned::default(),
        orphans: Orphans::default(),
        revisions: Owned::default(),
        orphan_revisions: Orphans::default(),
        work: BTreeMap::new(),
    };
    KeyedController::new(logic, &CONFIG, context, now)
}

/// What a request is for.
#[derive(Clone, Debug)]
enum StatefulSetPurpose {
    /// Check that the set still exists, before it adopts revisions or pods.
    Confirm,
    AdoptRevision,
    /// Adopt a pod without owner.
    Adopt(Object),
    Release,
    /// Create this revision.
    Revision(Json),
    /// Read the revision that has its name already.
    ReadRevision(Json),
    /// Give a revision the next number.
    Renumber,
    /// Make a claim of a name for a pod.
    Claim(String, String),
    /// Change the owners of a claim of this pod.
    Own(String, Object, AfterClaims),
    Create(Object),
    Update(String),
    Delete(String),
    Status,
    /// Delete an old revision.
    Truncate,
}

/// What comes next.
#[derive(Clone, PartialEq, Eq, Debug)]
enum StatefulSetStage {
    /// Adopt revisions.
    AdoptRevisions,
    /// Adopt and release pods.
    Claim,
    /// Find out the revision of the template.
    Revise,
    /// Make or delete pods.
    Pods,
    /// Write the status.
    Status,
    /// Delete old revisions.
    Truncate,
    /// The sync is over.
    End,
}

/// A sync under way.
#[derive(Clone, Debug)]
struct StatefulSetSync {
    set: Object,
    /// The pods that the set has, sorted into the next two when the claiming is over.
    pods: Vec<Object>,
    /// The pod of each ordinal; `None` where there is none.
    replicas: Vec<(i64, Option<Object>)>,
    /// Pods of surplus ordinals, by ordinal.
    condemned: Vec<(i64, Object)>,
    /// What the set may adopt.
    wanted: Vec<Object>,
    /// The set's revisions, the oldest first.
    revisions: Vec<Object>,
    update: Revision,
    current: Revision,
    collisions: i64,
    /// The claims that this sync asked for, with the error.
    claims: BTreeMap<String, Option<String>>,
    /// The claims whose owners this sync has looked at.
    kept: BTreeSet<String>,
    /// The ordinals that need nothing more in this sync.
    settled: BTreeSet<i64>,
    /// How many of them may be looked at so far, if the set keeps no order.
    reach: usize,
    /// How many pods were deleted to be made anew. Upstream takes each of them off `currentReplicas`, be it of the
    /// current revision or not. Source: stateful_set_control.go (v1.34), `updateStatefulSet`.
    rolled: i64,
    stage: StatefulSetStage,
    because: Option<DecisionId>,
    failed: bool,
    tries: u32,
}

/// What the controller knows; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
struct StatefulSets {
    capitalises: bool,
    /// Whether a pod has to be available, and not only ready, before the next one is changed.
    waits_for_available: bool,
    /// Whether a set looks at a pod again just as it becomes available.
    plans_availability: bool,
    /// Whether a rolling update may replace several pods at once.
    rolls_several: bool,
    /// Whether a rolling update of pods without order replaces those that are not available first, all at once.
    replaces_unavailable_first: bool,
    /// Whether a pod that was gone already counts as deleted.
    takes_gone_for_deleted: bool,
    /// Whether conditions of others are kept, and a set whose pods its user deletes gets a new current revision.
    carries_status_on: bool,
    pods: Owned,
    orphans: Orphans,
    revisions: Owned,
    orphan_revisions: Orphans,
    work: BTreeMap<ObjectKey, StatefulSetSync>,
}

fn about(set: &Object) -> InvolvedObject {
    InvolvedObject::object("apps/v1", "StatefulSet", set)
}

/// Returns the ordinal at the end of a pod's name.
fn ordinal(set: &Object, pod: &Object) -> Option<i64> {
    let rest = pod.name().strip_prefix(set.name())?.strip_prefix('-')?;
    rest.parse().ok().filter(|number| format!("{number}") == rest)
}

fn revision_of(pod: &Object) -> &str {
    labels(pod).get(REVISION_LABEL).as_str().unwrap_or("")
}

fn is_running_and_ready(pod: &Object) -> bool {
    phase(pod) == "Running" && is_ready(pod)
}

fn min_ready(set: &Object) -> i64 {
    number(set, &["spec", "minReadySeconds"], 0)
}

/// Tells whether a set makes and deletes its pods one after the other.
fn is_ordered(set: &Object) -> bool {
    set.stable().at(&["spec", "podManagementPolicy"]).as_str() != Some("Parallel")
}

/// Tells whether a set replaces pods of old revisions itself.
fn is_rolling(set: &Object) -> bool {
    set.stable().at(&["spec", "updateStrategy", "type"]).as_str() != Some("OnDelete")
}

impl StatefulSets {
    fn status(&self, work: &StatefulSetSync, now: Timestamp) -> Json {
        let (set, pods) = (&work.set, work.all_pods());
        let count =
            |is: &dyn Fn(&Object) -> bool| i64::try_from(pods.iter().filter(|pod| is(pod)).count()).unwrap_or(i64::MAX);
        let replicas = count(&|_| true);
        let ready = count(&is_running_and_ready);
        let available = count(&|pod| is_running_and_ready(pod) && is_available(pod, min_ready(set), now));
        let of = |revision: &Revision| count(&|pod| !is_ending(pod) && revision_of(pod) == revision.name);
        let mut current = of(&work.current) - work.rolled;
        let updated = of(&work.update);
        let mut current_revision = &work.current.name;
        let wanted = number(set, &["spec", "replicas"], 1);
        if (is_rolling(set) || self.carries_status_on) && [updated, ready, replicas] == [wanted; 3] {
            current = updated;
            current_revision = &work.update.name;
        }
        let mut status =
            json!({"observedGeneration": number(set, &["metadata", "generation"], 0), "replicas": replicas});
        set_unless_zero(&mut status, &["readyReplicas"], ready);
        set_unless_zero(&mut status, &["currentReplicas"], current);
        set_unless_zero(&mut status, &["updatedReplicas"], updated);
        status.set(&["currentRevision"], current_revision.as_str());
        status.set(&["updateRevision"], work.update.name.as_str());
        status.set(&["collisionCount"], work.collisions);
        status.set(&["availableReplicas"], available);
        let conditions = set.stable().at(&["status", "conditions"]);
        if self.carries_status_on && !conditions.is_empty() {
            status.set(&["conditions"], conditions.clone());
        }
        status
    }

    /// Writes the status, if it is another one.
    fn write_status(
        &self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        let status = self.status(work, now);
        let set = &work.set;
        if !work.failed
            && let Some(pause) = self.next_look(work, &status, now)
        {
            runtime.add_after(key.clone(), pause, now);
        }
        if same_status(&status, set.stable().get("status")) {
            work.stage = StatefulSetStage::Truncate;
            return;
        }
        let mut body = set.json();
        body.set(&["status"], status);
        let call = Call::new(Verb::Update, STATEFUL_SETS, &key.namespace, &key.name).subresource("status").body(body);
        work.tries += 1;
        runtime.send(key, StatefulSetPurpose::Status, call, work.because, now);
    }

    fn handle_pod(&mut self, event: &CacheEvent, runtime: &mut KeyedRuntime<StatefulSetPurpose>, now: Timestamp) {
        self.pods.update(event);
        self.orphans.update_those(event, |pod| !is_ending(pod));
        let pod = event.object();
        if let (Some(before), Some(after)) = (&event.before, &event.after)
            && let Some(owner) = owner_key(before, "StatefulSet")
            && owner_key(after, "StatefulSet").as_ref() != Some(&owner)
        {
            runtime.add(owner.0);
        }
        if controller_of(pod).is_none() {
            self.offer(event, runtime);
            return;
        }
        let Some((key, uid)) = owner_key(pod, "StatefulSet") else { return };
        let Some(set) = runtime.cache(SETS).get(&key).filter(|set| set.uid() == &*uid) else { return };
        let min_ready = min_ready(set);
        if min_ready > 0 && event.before.is_some() && became_ready(event) {
            let later = i64::from(!self.plans_availability);
            runtime.add_after(key.clone(), SignedDuration::from_secs(min_ready + later), now);
        }
        runtime.add(key);
    }

    /// Takes the answer to what was done to a pod or a claim.
    fn handle_pod_reply(
        &mut self,
        key: &ObjectKey,
        work: &mut StatefulSetSync,
        step: StatefulSetPurpose,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        let is_gone = self.takes_gone_for_deleted && code(reply) == 404;
        let error = failure(reply).filter(|_| !(is_gone && matches!(step, StatefulSetPurpose::Delete(_))));
        let error = error.as_deref();
        // A claim that cannot be made fails the sync with its pod.
        work.failed |= error.is_some() && !matches!(step, StatefulSetPurpose::Claim(..));
        match step {
            StatefulSetPurpose::Own(claim, pod, then) => {
                self.handle_owned(key, work, (claim, pod, then), error, runtime, now);
            }
            StatefulSetPurpose::Claim(claim, pod) => {
                // Another one made it in the meantime.
                if code(reply) != 409 {
                    let object = if error.is_some() { "for Pod" } else { "Pod" };
                    self.tell(work, "create", &format!("Claim {claim} {object} {pod}"), error, runtime, now);
                }
                work.claims.insert(claim, error.map(String::from));
            }
            // The pod exists already; the cache has not seen it yet.
            StatefulSetPurpose::Create(_) if code(reply) == 409 => {}
            StatefulSetPurpose::Create(pod) => {
                self.keep_claims(key, work, (pod, AfterClaims::Created(error.map(String::from))), runtime, now);
            }
            StatefulSetPurpose::Update(pod) => self.tell(work, "update", &format!("Pod {pod}"), error, runtime, now),
            StatefulSetPurpose::Delete(pod) => self.tell(work, "delete", &format!("Pod {pod}"), error, runtime, now),
            _ => {}
        }
    }
}

impl Reconciler for StatefulSets {
    type Purpose = StatefulSetPurpose;

    fn handle_event(
        &mut self,
        source: usize,
        event: &CacheEvent,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) {
        match source {
            SETS => runtime.add(event.object().key()),
            PODS_CACHE => self.handle_pod(event, runtime, now),
            REVISION_CACHE => {
                self.revisions.update(event);
                self.orphan_revisions.update_those(event, |_| true);
            }
            _ => {}
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<StatefulSetPurpose>, _now: Timestamp) -> Flow {
        let Some(set) = runtime.cache(SETS).get(key).cloned() else { return Flow::Done };
        let collisions = number(&set, &["status", "collisionCount"], 0);
        let work = StatefulSetSync {
            set,
            pods: Vec::new(),
            replicas: Vec::new(),
            condemned: Vec::new(),
            wanted: Vec::new(),
            revisions: Vec::new(),
            update: Revision::default(),
            current: Revision::default(),
            collisions,
            claims: BTreeMap::new(),
            kept: BTreeSet::new(),
            settled: BTreeSet::new(),
            reach: 0,
            rolled: 0,
            stage: StatefulSetStage::AdoptRevisions,
            because: None,
            failed: false,
            tries: 0,
        };
        self.work.insert(key.clone(), work);
        Flow::Next
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        step: StatefulSetPurpose,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<StatefulSetPurpose>,
        now: Timestamp,
    ) -> Flow {
        let Some(mut work) = self.work.remove(key) else { return Flow::Next };
        let failed = failure(reply).is_some();
        match step {
            StatefulSetPurpose::Confirm
            | StatefulSetPurpose::AdoptRevision
            | StatefulSetPurpose::Adopt(_)
            | StatefulSetPurpose::Release => Self::handle_claimed(key, &mut work, step, reply, runtime, now),
            StatefulSetPurpose::Revision(_) | StatefulSetPurpose::ReadRevision(_) | StatefulSetPurpose::Renumber => {
                Self::handle_revision(key, &mut work, step, reply, runtime, now);
            }
            StatefulSetPurpose::Truncate => {
                // What is gone already needs no change.
                work.failed |= failed && code(reply) != 404;
            }
            StatefulSetPurpose::Status if !failed => work.stage = StatefulSetStage::Truncate,
            // After a conflict the write is retried with the cached object.
            StatefulSetPurpose::Status if code(reply) == 409 && work.tries < STATUS_TRIES => {
                if let Some(set) = runtime.cache(SETS).get(key) {
                    work.set = set.clone();
                }
            }
            StatefulSetPurpose::Status => {
                work.failed = true;
                work.stage = StatefulSetStage::Truncate;
            }
            _ => self.handle_pod_reply(key, &mut work, step, reply, runtime, now),
        }
        self.work.insert(key.clone(), work);
        Flow::Next
    }

    fn proceed(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<StatefulSetPurpose>, now: Timestamp) -> Flow {
        let Some(mut work) = self.work.remove(key) else { return Flow::Done };
        match work.stage.clone() {
            StatefulSetStage::AdoptRevisions => self.adopt_revisions(key, &mut work, runtime, now),
            StatefulSetStage::Claim => self.claim(key, &mut work, runtime, now),
            StatefulSetStage::Revise => self.revise(key, &mut work, runtime, now),
            StatefulSetStage::Pods => self.manage(key, &mut work, runtime, now),
            StatefulSetStage::Status => self.write_status(key, &mut work, runtime, now),
            StatefulSetStage::Truncate => Self::truncate(key, &mut work, runtime, now),
            StatefulSetStage::End => return if work.failed { Flow::Retry } else { Flow::Done },
        }
        self.work.insert(key.clone(), work);
        Flow::Next
    }
}

/// Tells whether two statuses are the same. Source: stateful_set_utils.go (v1.34), `inconsistentStatus`.
fn same_status(new: &Json, old: &Json) -> bool {
    let number = |status: &Json, field: &str| status.get(field).as_i64().unwrap_or(0);
    let counts = ["replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
    number(new, "observedGeneration") <= number(old, "observedGeneration")
        && counts.iter().all(|field| number(new, field) == number(old, field))
        && ["currentRevision", "updateRevision"].iter().all(|field| new.get(field) == old.get(field))
}

#[cfg(test)]
mod tests {
    use super::{ordinal, same_status};
    use crate::json;
    use crate::objects::Object;

    #[test]
    fn an_ordinal_is_a_number_in_its_shortest_form() {
        let named = |name: &str| Object::new(json!({"metadata": {"name": name}}), 1);
        let cases = [("db-0", Some(0)), ("db-12", Some(12)), ("db-01", None), ("db-x", None), ("web-1", None)];
        for (name, expected) in cases {
            assert_eq!(ordinal(&named("db"), &named(name)), expected, "{name}");
        }
    }

    #[test]
    fn a_status_is_the_same_when_its_counts_and_revisions_are() {
        let old = json!({"observedGeneration": 1, "replicas": 3, "currentRevision": "a"});
        assert!(same_status(
            &json!({"observedGeneration": 1, "replicas": 3, "readyReplicas": 0, "currentRevision": "a"}),
            &old
        ));
        assert!(!same_status(&json!({"observedGeneration": 2, "replicas": 3, "currentRevision": "a"}), &old));
    }
}
