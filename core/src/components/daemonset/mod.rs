//! Keeps one pod of a DaemonSet on each node that fits it.
//!
//! Mirrors kube-controller-manager's `daemonset-controller` (pkg/controller/daemon/daemon_controller.go, v1.34). Pods
//! name their node in their affinity, and the scheduler binds them. A node that may get no new pod keeps the one it
//! has, unless it has a NoExecute taint that the pod does not tolerate. A failed pod is deleted after a growing pause;
//! a pod that is being deleted blocks its replacement until it is gone.
//! Inputs: DaemonSets, Pods, Nodes, ControllerRevisions, answers, time. Outputs: pods made and deleted, revisions,
//! statuses, Events. A change of a node matters only if its labels or taints changed.
//! Left out on purpose: adoption, surges of an update, old revisions beyond the limit.

mod census;
mod nodes;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use self::census::{Census, Censuses, PodSums};
use self::nodes::{pod_for, verdict};
use super::client::CacheEvent;
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, failure, object,
};
use super::events::{EventType, InvolvedObject};
use super::workload::pods::{
    Owned, Rounding, became_ready, hash, is_available, labels, number, owner_key, reference_to, scaled, set_unless_zero,
};
use super::workload::{DAEMON_SETS, Expectations, REVISIONS, pod_control};
use super::{Because, DecisionId};
use crate::json;
use crate::network::{Call, NODES, PODS, Verb};
use crate::objects::lifecycle::{is_ending, phase};
use crate::objects::{Json, Object, ObjectKey, Text};

/// The label that names a pod's revision. Source: k8s.io/api apps/v1/types.go (v1.34),
/// `DefaultDaemonSetUniqueLabelKey`.
const REVISION_LABEL: &str = "controller-revision-hash";
/// Pods made or deleted in one sync at most. Source: daemon_controller.go (v1.34), `BurstReplicas`.
const BURST: usize = 250;
/// Tries to write a status. Source: daemon_controller.go (v1.34), `StatusUpdateRetries` and one.
const STATUS_TRIES: u32 = 2;
/// First pause before a failed pod is deleted, doubled with each one up to [`BACKOFF_MAX`].
/// Source: cmd/kube-controller-manager/app/apps.go (v1.34), `flowcontrol.NewBackOff(1*time.Second, 15*time.Minute)`.
const BACKOFF_FIRST: SignedDuration = SignedDuration::from_secs(1);
/// Longest pause before a failed pod is deleted. Source: as [`BACKOFF_FIRST`].
const BACKOFF_MAX: SignedDuration = SignedDuration::from_mins(15);

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
    Revision,
    Create,
    Delete(Object),
    Status,
    Read,
}

/// What comes next.
#[derive(Clone, PartialEq, Eq, Debug)]
enum DaemonSetStage {
    Revise,
    Manage,
    /// Make pods for these nodes, in batches of this size.
    Create {
        nodes: Vec<Text>,
        batch: usize,
    },
    /// Delete surplus pods.
    Delete,
    /// Delete pods of old revisions.
    Roll,
    Status,
    End(Flow),
}

/// A sync under way.
#[derive(Clone, Debug)]
struct DaemonSetSync {
    set: Object,
    hash: String,
    stage: DaemonSetStage,
    because: Option<DecisionId>,
    doomed: Vec<Object>,
    /// Whether the status sets `observedGeneration` to this generation.
    observes: bool,
    failed: bool,
    tries: u32,
}

/// The back-off for failed pods of a node.
#[derive(Clone, Debug)]
struct Backoff {
    pause: SignedDuration,
    last: Timestamp,
}

/// What the controller knows; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug, Default)]
struct DaemonSets {
    /// Whether a changed node queues the sets that have to create or delete a pod on it.
    looks_for_pods: bool,
    pods: Censuses,
    revisions: Owned,
    expectations: Expectations,
    /// The pauses, by set and node.
    failing: BTreeMap<(Text, Text), Backoff>,
    work: BTreeMap<ObjectKey, DaemonSetSync>,
}

fn about(set: &Object) -> InvolvedObject {
    InvolvedObject::object("apps/v1", "DaemonSet", set)
}

impl DaemonSets {
    fn handle_pod(&mut self, event: &CacheEvent, runtime: &mut KeyedRuntime<DaemonSetPurpose>, now: Timestamp) {
        self.pods.update(event);
        let pod = event.object();
        let Some((key, uid)) = owner_key(pod, "DaemonSet") else { return };
        let Some(set) = runtime.cache(SETS).get(&key).filter(|set| set.uid() == &*uid) else { return };
        let min_ready = number(set, &["spec", "minReadySeconds"], 0);
        self.expectations.follow(&key, event);
        if min_ready > 0 && became_ready(event) {
            runtime.add_after(key.clone(), SignedDuration::from_secs(min_ready + 1), now);
        }
        runtime.add(key);
    }

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
                    let pods = runtime.cache(PODS_CACHE).cache();
                    verdict.should_run || (!verdict.should_stay && self.pods.is_on(set, after.name(), pods))
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

    /// Makes the request for a revision of the set's template, unless there is one of it.
    fn revise(
        &self,
        key: &ObjectKey,
        work: &mut DaemonSetSync,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        let template = work.set.stable().at(&["spec", "template"]);
        let mut data = Json::object();
        data.set(&["spec", "template"], template.clone());
        data.set(&["spec", "template", "$patch"], "replace");
        let own: Vec<&Object> =
            self.revisions.of(work.set.uid()).filter_map(|one| runtime.cache(REVISION_CACHE).get(one)).collect();
        let known = own.iter().find(|revision| *revision.stable().get("data") == data);
        work.stage = DaemonSetStage::Manage;
        if let Some(revision) = known {
            work.hash = String::from(labels(revision).get(REVISION_LABEL).as_str().unwrap_or(""));
            return;
        }
        work.hash = hash(&data);
        let last = own.iter().filter_map(|one| one.stable().get("revision").as_i64()).max().unwrap_or(0);
        let name = format!("{}-{}", work.set.name(), work.hash);
        let mut revision = json!({"kind": "ControllerRevision", "apiVersion": "apps/v1",
            "metadata": {"name": name, "namespace": key.namespace.as_str()}, "revision": last + 1});
        let mut marks = template.at(&["metadata", "labels"]).clone();
        marks.set(&[REVISION_LABEL], work.hash.as_str());
        revision.set(&["metadata", "labels"], marks);
        let owner = reference_to(&work.set, "apps/v1", "DaemonSet");
        revision.set(&["metadata", "ownerReferences"], Json::array(Vec::from([owner])));
        revision.set(&["data"], data);
        let call = Call::new(Verb::Create, REVISIONS, &key.namespace, "").body(revision);
        runtime.send(key, DaemonSetPurpose::Revision, call, None, now);
    }

    /// Returns the census of the set of a sync, up to date.
    fn census(&mut self, work: &DaemonSetSync, runtime: &KeyedRuntime<DaemonSetPurpose>, now: Timestamp) -> &Census {
        let caches = (runtime.cache(PODS_CACHE).cache(), runtime.cache(NODE_CACHE).cache());
        self.pods.of(&work.set, &work.hash, caches, now)
    }

    /// Finds the nodes that lack a pod, and the surplus pods.
    fn manage(
        &mut self,
        key: &ObjectKey,
        work: &mut DaemonSetSync,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        work.stage = DaemonSetStage::Status;
        if is_ending(&work.set) {
            return;
        }
        if !self.expectations.are_met(key, now) {
            work.observes = false;
            return;
        }
        work.observes = true;
        let census = self.census(work, runtime, now);
        let due: Vec<(Text, Vec<Object>)> = census
            .due()
            .into_iter()
            .map(|name| {
                let pods = census.pods_on(&name, runtime.cache(PODS_CACHE).cache()).cloned().collect();
                (name, pods)
            })
            .collect();
        let (mut missing, mut gone) = (Vec::new(), Vec::new());
        for (name, pods) in due {
            let Some(node) = runtime.cache(NODE_CACHE).cache().get("", &name) else {
                gone.extend(pods);
                continue;
            };
            let verdict = verdict(&work.set, node);
            if pods.is_empty() {
                missing.push(name);
            } else if verdict.should_stay {
                let surplus = self.surplus(key, work, &name, &pods, runtime, now);
                work.doomed.extend(surplus);
            } else {
                work.doomed.extend(pods.into_iter().filter(|pod| !is_ending(pod)));
            }
        }
        // Unbound pods for a node that is gone.
        let unbound = |pod: &Object| super::client::node_name(pod).is_none() && !is_ending(pod);
        work.doomed.extend(gone.into_iter().filter(unbound));
        missing.truncate(BURST);
        work.doomed.truncate(BURST);
        self.expectations.expect(key, missing.len(), work.doomed.iter().map(|pod| Text::from(pod.uid())), now);
        if !missing.is_empty() {
            let fact = format!("{} nodes lack a pod: {}", missing.len(), missing.join(", "));
            let what = format!("create {} pods", missing.len());
            work.because = Some(runtime.decide(format!("daemonset/{key}"), what, Vec::from([Because::Fact(fact)])));
        }
        work.stage = DaemonSetStage::Create { nodes: missing, batch: 1 };
    }

    /// Returns the pods to delete on a node that keeps its pod: those that have ended, and all but the oldest.
    fn surplus(
        &mut self,
        key: &ObjectKey,
        work: &DaemonSetSync,
        node: &Text,
        pods: &[Object],
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) -> Vec<Object> {
        let mut doomed = Vec::new();
        let mut running: Vec<&Object> = Vec::new();
        for pod in pods.iter().filter(|pod| !is_ending(pod)) {
            let named = format!("{} on node {node}, will try to", pod.key());
            match phase(pod) {
                "Failed" => {
                    if let Some(wait) = self.backs_off(work.set.uid(), node, now) {
                        runtime.add_after(key.clone(), wait, now);
                        continue;
                    }
                    let message = format!("Found failed daemon pod {named} kill it");
                    runtime.emit(&about(&work.set), EventType::Warning, "FailedDaemonPod", &message, now);
                    doomed.push(pod.clone());
                }
                "Succeeded" => {
                    let message = format!("Found succeeded daemon pod {named} delete it");
                    runtime.emit(&about(&work.set), EventType::Normal, "SucceededDaemonPod", &message, now);
                    doomed.push(pod.clone());
                }
                _ => running.push(pod),
            }
        }
        running.sort_by_cached_key(|pod| age(pod));
        doomed.extend(running.into_iter().skip(1).cloned());
        doomed
    }

    /// Returns how long a failed pod has to stay; `None` if it may be deleted now. Then the next pause is longer.
    fn backs_off(&mut self, uid: &str, node: &Text, now: Timestamp) -> Option<SignedDuration> {
        let key = (Text::from(uid), node.clone());
        if let Some(backoff) = self.failing.get_mut(&key) {
            let since = now.duration_since(backoff.last);
            if since < backoff.pause {
                return Some(backoff.pause - since);
            }
            // After a long time without failures the first pause applies again.
            let is_quiet = since > BACKOFF_MAX * 2;
            backoff.pause = if is_quiet { BACKOFF_FIRST } else { (backoff.pause * 2).min(BACKOFF_MAX) };
            backoff.last = now;
        } else {
            self.failing.insert(key, Backoff { pause: BACKOFF_FIRST, last: now });
        }
        None
    }

    /// Deletes pods of old revisions, as many as may be missing at a time.
    fn roll(
        &mut self,
        key: &ObjectKey,
        work: &mut DaemonSetSync,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        let strategy = work.set.stable().at(&["spec", "updateStrategy"]);
        if strategy.get("type").as_str() == Some("OnDelete") || !self.expectations.are_met(key, now) {
            return;
        }
        let min_ready = number(&work.set, &["spec", "minReadySeconds"], 0);
        let census = self.census(work, runtime, now);
        let (desired, unavailable) = (census.sums().desired, census.sums().unavailable);
        let limit = scaled(strategy.at(&["rollingUpdate", "maxUnavailable"]), "1", desired, Rounding::Up).max(1);
        let outdated = census.outdated(runtime.cache(PODS_CACHE).cache()).cloned();
        let (old, broken): (Vec<Object>, Vec<Object>) = outdated.partition(|pod| is_available(pod, min_ready, now));
        let more = usize::try_from(limit - unavailable).unwrap_or(0);
        let doomed: Vec<Object> = broken.into_iter().chain(old.into_iter().take(more)).collect();
        if doomed.is_empty() {
            return;
        }
        self.expectations.expect(key, 0, doomed.iter().map(|pod| Text::from(pod.uid())), now);
        work.doomed = doomed;
        Self::delete(key, work, "the template has changed", runtime, now);
    }

    fn delete(
        key: &ObjectKey,
        work: &mut DaemonSetSync,
        why: &str,
        runtime: &mut KeyedRuntime<DaemonSetPurpose>,
        now: Timestamp,
    ) {
        for pod in core::mem::take(&mut work.doomed) {
            let facts = Vec::from([Because::Fact(String::from(why))]);
            let because = runtime.decide(format!("pod/{}", pod.key()), "delete", facts);
            let options = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
            let call = Call::new(Verb::Delete, PODS, &key.namespace, pod.name()).body(options);
            runtime.send(key, DaemonSetPurpose::Delete(pod), call, Some(because), now);
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

/// Sort key by age: the creation time, then the name.
fn age(pod: &Object) -> (Option<Text>, Text) {
    (pod.stable().at(&["metadata", "creationTimestamp"]).as_text().cloned(), Text::from(pod.name()))
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
                if event.after.is_none() {
                    self.expectations.forget(&event.object().key());
                }
                runtime.add(event.object().key());
            }
            PODS_CACHE => self.handle_pod(event, runtime, now),
            NODE_CACHE => self.handle_node(event, runtime),
            _ => self.revisions.update(event),
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<DaemonSetPurpose>, _now: Timestamp) -> Flow {
        let Some(set) = runtime.cache(SETS).get(key).cloned() else { return Flow::Done };
        let work = DaemonSetSync {
            set,
            hash: String::new(),
            stage: DaemonSetStage::Revise,
            because: None,
            doomed: Vec::new(),
            observes: false,
            failed: false,
            tries: 0,
        };
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
        let Some(work) = self.work.get_mut(key) else { return Flow::Next };
        let error = failure(reply);
        match (step, error) {
            (DaemonSetPurpose::Revision, None) => {
                let made = object(reply);
                let hash = made.as_ref().and_then(|made| labels(made).get(REVISION_LABEL).as_str());
                work.hash = hash.map_or_else(|| work.hash.clone(), String::from);
            }
            (DaemonSetPurpose::Create, _) => {
                let tools = (&mut self.expectations, runtime);
                work.failed |= pod_control::created(key, &about(&work.set), reply, tools, now).is_some();
            }
            (DaemonSetPurpose::Delete(pod), _) => {
                let tools = (&mut self.expectations, runtime);
                work.failed |= pod_control::deleted(key, (&about(&work.set), &pod), reply, tools, now).is_some();
            }
            (DaemonSetPurpose::Status, None) => {
                work.stage = DaemonSetStage::End(if work.failed { Flow::Retry } else { Flow::Done })
            }
            (DaemonSetPurpose::Status, Some(_)) if work.tries < STATUS_TRIES => {
                let call = Call::new(Verb::Get, DAEMON_SETS, &key.namespace, &key.name);
                runtime.send(key, DaemonSetPurpose::Read, call, work.because, now);
            }
            (DaemonSetPurpose::Read, None) => work.set = object(reply).unwrap_or_else(|| work.set.clone()),
            (DaemonSetPurpose::Status | DaemonSetPurpose::Read | DaemonSetPurpose::Revision, Some(_)) => {
                work.stage = DaemonSetStage::End(Flow::Retry)
            }
        }
        Flow::Next
    }

    fn proceed(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<DaemonSetPurpose>, now: Timestamp) -> Flow {
        let Some(mut work) = self.work.remove(key) else { return Flow::Done };
        match work.stage.clone() {
            DaemonSetStage::Revise => self.revise(key, &mut work, runtime, now),
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
                work.stage = DaemonSetStage::Roll;
                Self::delete(key, &mut work, "its node does not fit, or it is one too many or has ended", runtime, now);
            }
            DaemonSetStage::Roll => {
                work.stage = DaemonSetStage::Status;
                self.roll(key, &mut work, runtime, now);
            }
            DaemonSetStage::Status => {
                let status = self.status(&work, runtime, now);
                if status == *work.set.stable().get("status") {
                    work.stage = DaemonSetStage::End(if work.failed { Flow::Retry } else { Flow::Done });
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
            DaemonSetStage::End(flow) => return flow,
        }
        self.work.insert(key.clone(), work);
        Flow::Next
    }
}
