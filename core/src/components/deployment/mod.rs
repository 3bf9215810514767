//! Keeps the ReplicaSets of a Deployment: a new one for each template, and pods moved from the old ones to it.
//!
//! Mirrors kube-controller-manager's `deployment-controller` (pkg/controller/deployment/{deployment_controller,sync,
//! rolling,recreate,progress}.go, v1.34). Each sync creates the new ReplicaSet, or scales one up, or scales old ones
//! down, and then writes the status. A sync that creates a ReplicaSet writes the status twice; the second write meets a
//! conflict, as upstream's does, and the sync is retried 5 ms later.
//! Inputs: Deployments, ReplicaSets, Pods, answers, time. Outputs: ReplicaSets made and scaled, statuses, Events.
//! Left out on purpose: adoption, collisions of hashes, roll-backs, pauses in the middle of a scaling of several
//! ReplicaSets (the newest gets the whole difference), and ReplicaSets beyond the history's limit.

mod recreate;
mod status;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::client::CacheEvent;
use super::client::PAUSE_FIRST;
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, failure, object,
};
use super::events::{EventType, InvolvedObject};
use super::workload::pods::{Owned, Rounding, hash, number, owner_key, reference_to, scaled};
use super::workload::{DEPLOYMENTS, REPLICA_SETS};
use super::{Because, DecisionId};
use crate::json;
use crate::network::{Call, PODS, Verb};
use crate::objects::lifecycle::is_ending;
use crate::objects::{Json, Object, ObjectKey};

/// The label that tells the pods of one template from those of another.
/// Source: k8s.io/api apps/v1/types.go (v1.34), `DefaultDeploymentUniqueLabelKey`.
const HASH_LABEL: &str = "pod-template-hash";
/// Source: pkg/controller/deployment/util/deployment_util.go (v1.34), `RevisionAnnotation`.
const REVISION: &str = "deployment.kubernetes.io/revision";
/// Source: as [`REVISION`], `DesiredReplicasAnnotation`.
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
/// Source: as [`REVISION`], `MaxReplicasAnnotation`.
const MOST: &str = "deployment.kubernetes.io/max-replicas";

const DEPLOYMENT_CACHE: usize = 0;
const SETS: usize = 1;
const PODS_CACHE: usize = 2;

const CONFIG: ControllerConfig = ControllerConfig {
    queue: "deployment",
    workers: 5,
    // Source: deployment_controller.go (v1.34), `maxRetries`.
    retries: Retries { first: PAUSE_FIRST, most: 15 },
    watched: &[Watched::of(DEPLOYMENTS), Watched::of(REPLICA_SETS), Watched::of(PODS)],
};

/// Starts the controller with empty caches.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let profile = context.settings.profile();
    let logic = Deployments {
        tells_from: profile.is("scaling-tells-from"),
        tells_terminating: context.settings.is_gate_on("DeploymentReplicaSetTerminatingReplicas"),
        sets: Owned::default(),
        pods: Owned::default(),
        work: BTreeMap::new(),
    };
    KeyedController::new(logic, &CONFIG, context, now)
}

/// What a request is for.
#[derive(Clone, Debug)]
enum DeploymentPurpose {
    /// Make the ReplicaSet of the template.
    Create,
    /// Scale a ReplicaSet, from and to so many.
    Scale {
        name: String,
        from: i64,
        to: i64,
    },
    /// Write annotations of a ReplicaSet.
    Annotate,
    /// Write the Deployment with its revision and the condition about its new ReplicaSet.
    Announce,
    Status,
}

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DeploymentStage {
    /// Find or make the ReplicaSet of the template.
    New,
    /// Write the revision.
    Announce,
    /// Scale one up or some down.
    Scale,
    Status,
    End(Flow),
}

/// A sync under way.
#[derive(Clone, Debug)]
struct DeploymentSync {
    deployment: Object,
    /// The Deployment as this sync has changed it.
    tree: Json,
    /// All ReplicaSets of the Deployment, oldest first.
    sets: Vec<Object>,
    /// The name of the ReplicaSet with the current template.
    new: Option<String>,
    made: bool,
    stage: DeploymentStage,
    because: Option<DecisionId>,
}

impl DeploymentSync {
    fn newest(&self) -> Option<&Object> {
        let new = self.new.as_deref()?;
        self.sets.iter().find(|set| set.name() == new)
    }

    fn old(&self) -> impl Iterator<Item = &Object> {
        self.sets.iter().filter(|set| self.new.as_deref() != Some(set.name()))
    }

    fn replicas(&self) -> i64 {
        number(&self.deployment, &["spec", "replicas"], 1)
    }

    fn is_rolling(&self) -> bool {
        self.deployment.stable().at(&["spec", "strategy", "type"]).as_str() != Some("Recreate")
    }

    fn surge(&self) -> i64 {
        let value = self.deployment.stable().at(&["spec", "strategy", "rollingUpdate", "maxSurge"]);
        if self.is_rolling() { scaled(value, "25%", self.replicas(), Rounding::Up) } else { 0 }
    }

    fn max_unavailable(&self) -> i64 {
        let replicas = self.replicas();
        if !self.is_rolling() || replicas == 0 {
            return 0;
        }
        let value = self.deployment.stable().at(&["spec", "strategy", "rollingUpdate", "maxUnavailable"]);
        let allowed = scaled(value, "25%", replicas, Rounding::Down).min(replicas);
        // With both at zero no pod could be replaced.
        if allowed == 0 && self.surge() == 0 { 1 } else { allowed }
    }
}

/// What the controller knows; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
struct Deployments {
    tells_from: bool,
    tells_terminating: bool,
    sets: Owned,
    /// The pods of each ReplicaSet.
    pods: Owned,
    work: BTreeMap<ObjectKey, DeploymentSync>,
}

fn size(set: &Object) -> i64 {
    number(set, &["spec", "replicas"], 1)
}

/// Returns a template without the label that a ReplicaSet adds to it.
fn bare(template: &Json) -> Json {
    let mut template = template.clone();
    template.remove(&["metadata", "labels", HASH_LABEL]);
    // Up to 1.33 Go prints an unset instant as null.
    if template.at(&["metadata", "creationTimestamp"]).is_null() {
        template.remove(&["metadata", "creationTimestamp"]);
    }
    template
}

fn revision_of(set: &Object) -> i64 {
    let text = set.stable().at(&["metadata", "annotations", REVISION]).as_str();
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

impl Deployments {
    /// Finds the ReplicaSet of the current template, or creates it.
    fn find_new(
        &self,
        key: &ObjectKey,
        work: &mut DeploymentSync,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        let deployment = work.deployment.clone();
        let template = deployment.stable().at(&["spec", "template"]);
        let wanted = bare(template);
        let found = work.sets.iter().find(|set| bare(set.stable().at(&["spec", "template"])) == wanted).cloned();
        let last = work
            .sets
            .iter()
            .filter(|set| found.as_ref().is_none_or(|found| found.name() != set.name()))
            .map(revision_of)
            .max()
            .unwrap_or(0);
        let revision = format!("{}", last + 1);
        work.stage = DeploymentStage::Announce;
        if let Some(set) = found {
            work.new = Some(String::from(set.name()));
            let is_older = revision_of(&set) < last + 1;
            let revision = if is_older { revision } else { format!("{}", revision_of(&set)) };
            work.tree.set(&["metadata", "annotations", REVISION], revision.as_str());
            if is_older {
                let mut body = set.json();
                body.set(&["metadata", "annotations", REVISION], revision);
                self.annotate(&mut body, work);
                let call = Call::new(Verb::Update, REPLICA_SETS, &key.namespace, set.name()).body(body);
                runtime.send(key, DeploymentPurpose::Annotate, call, work.because, now);
            }
            return;
        }
        if work.is_rolling() || !self.old_pods_run(work, runtime) {
            self.make(key, work, &revision, runtime, now);
        } else {
            work.stage = DeploymentStage::Scale;
        }
    }

    fn make(
        &self,
        key: &ObjectKey,
        work: &mut DeploymentSync,
        revision: &str,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        let deployment = &work.deployment;
        let template = deployment.stable().at(&["spec", "template"]);
        let hash = hash(&bare(template));
        let name = format!("{}-{hash}", deployment.name());
        let total: i64 = work.sets.iter().map(size).sum();
        let room = work.replicas() + work.surge() - total;
        let replicas = if work.is_rolling() { room.clamp(0, work.replicas()) } else { work.replicas() };
        let mut set = json!({"kind": "ReplicaSet", "apiVersion": "apps/v1",
            "metadata": {"name": name.as_str(), "namespace": key.namespace.as_str()}});
        let mut marks = template.at(&["metadata", "labels"]).clone();
        marks.set(&[HASH_LABEL], hash.as_str());
        set.set(&["metadata", "labels"], marks.clone());
        set.set(&["metadata", "annotations", REVISION], revision);
        self.annotate(&mut set, work);
        let owner = reference_to(deployment, "apps/v1", "Deployment");
        set.set(&["metadata", "ownerReferences"], Json::array(Vec::from([owner])));
        set.set(&["spec", "replicas"], replicas);
        let min_ready = number(deployment, &["spec", "minReadySeconds"], 0);
        if min_ready > 0 {
            set.set(&["spec", "minReadySeconds"], min_ready);
        }
        set.set(&["spec", "selector"], deployment.stable().at(&["spec", "selector"]).clone());
        set.set(&["spec", "selector", "matchLabels", HASH_LABEL], hash);
        set.set(&["spec", "template"], template.clone());
        set.set(&["spec", "template", "metadata", "labels"], marks);
        let fact = Vec::from([Because::Fact(String::from("no ReplicaSet has its template"))]);
        work.because = Some(runtime.decide(format!("deployment/{key}"), format!("create ReplicaSet {name}"), fact));
        work.new = Some(name);
        work.tree.set(&["metadata", "annotations", REVISION], revision);
        let call = Call::new(Verb::Create, REPLICA_SETS, &key.namespace, "").body(set);
        runtime.send(key, DeploymentPurpose::Create, call, work.because, now);
    }

    fn annotate(&self, set: &mut Json, work: &DeploymentSync) {
        let replicas = work.replicas();
        set.set(&["metadata", "annotations", DESIRED], format!("{replicas}"));
        set.set(&["metadata", "annotations", MOST], format!("{}", replicas + work.surge()));
    }

    /// Writes the revision and the condition about the new ReplicaSet into the Deployment.
    fn announce(
        &self,
        key: &ObjectKey,
        work: &mut DeploymentSync,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        work.stage = DeploymentStage::Scale;
        if work.made && status::has_deadline(&work.deployment) {
            let name = work.new.clone().unwrap_or_default();
            let condition = status::condition(
                "Progressing",
                "True",
                "NewReplicaSetCreated",
                &format!("Created new replica set \"{name}\""),
                now,
            );
            status::set(&mut work.tree, condition);
        }
        if work.tree != work.deployment.json() {
            let call = Call::new(Verb::Update, DEPLOYMENTS, &key.namespace, &key.name)
                .subresource("status")
                .body(work.tree.clone());
            runtime.send(key, DeploymentPurpose::Announce, call, work.because, now);
        }
    }

    /// Scales one ReplicaSet up, or some down, towards the wanted sizes.
    fn scale_some(
        &self,
        key: &ObjectKey,
        work: &mut DeploymentSync,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        work.stage = DeploymentStage::Status;
        let is_paused = work.deployment.stable().at(&["spec", "paused"]).as_bool() == Some(true);
        if is_paused || self.is_scaling(work) {
            let active = work.sets.iter().rfind(|set| size(set) > 0).or(work.newest()).cloned();
            if let Some(set) = active {
                self.scale(key, work, &set, work.replicas(), runtime, now);
            }
            return;
        }
        let old: Vec<Object> = work.old().filter(|set| size(set) > 0).cloned().collect();
        if !work.is_rolling() {
            self.scale_recreated(key, work, old, runtime, now);
            return;
        }
        let total: i64 = work.sets.iter().map(size).sum();
        let replicas = work.replicas();
        let Some(new) = work.newest().cloned() else { return };
        let wanted = if size(&new) > replicas {
            replicas
        } else {
            (size(&new) + (replicas + work.surge() - total).max(0)).min(replicas)
        };
        if wanted != size(&new) {
            self.scale(key, work, &new, wanted, runtime, now);
            return;
        }
        self.scale_old(key, work, &old, total, runtime, now);
    }

    /// Scales old ReplicaSets down as far as enough pods stay available: first by their pods that are not available.
    fn scale_old(
        &self,
        key: &ObjectKey,
        work: &mut DeploymentSync,
        old: &[Object],
        total: i64,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        let available = |set: &Object| number(set, &["status", "availableReplicas"], 0);
        let least = work.replicas() - work.max_unavailable();
        let missing = work.newest().map_or(0, |new| size(new) - available(new));
        let mut sizes: Vec<i64> = old.iter().map(size).collect();
        let mut surplus = total - least - missing;
        for (at, set) in old.iter().enumerate() {
            let unhealthy = (sizes[at] - available(set)).clamp(0, surplus.max(0));
            sizes[at] -= unhealthy;
            surplus -= unhealthy;
        }
        let mut spare = (work.sets.iter().map(available).sum::<i64>() - least).min(surplus).max(0);
        for size in &mut sizes {
            let fewer = (*size).min(spare);
            *size -= fewer;
            spare -= fewer;
        }
        for (set, wanted) in old.iter().zip(sizes) {
            self.scale(key, work, set, wanted, runtime, now);
        }
    }

    /// Tells whether the wanted number changed since the ReplicaSets were last scaled.
    fn is_scaling(&self, work: &DeploymentSync) -> bool {
        let wanted = format!("{}", work.replicas());
        let desired = |set: &&Object| set.stable().at(&["metadata", "annotations", DESIRED]).as_str().map(String::from);
        work.sets.iter().filter(|set| size(set) > 0).any(|set| desired(&set).is_some_and(|desired| desired != wanted))
    }

    fn scale(
        &self,
        key: &ObjectKey,
        work: &mut DeploymentSync,
        set: &Object,
        to: i64,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        let mut body = set.json();
        body.set(&["spec", "replicas"], to);
        self.annotate(&mut body, work);
        if body == set.json() {
            return;
        }
        let from = size(set);
        let fact = format!("spec.replicas of the Deployment is {}", work.replicas());
        let what = format!("scale from {from} to {to}");
        let because = runtime.decide(format!("replicaset/{}", set.key()), what, Vec::from([Because::Fact(fact)]));
        work.because = Some(because);
        let call = Call::new(Verb::Update, REPLICA_SETS, &key.namespace, set.name()).body(body);
        let name = String::from(set.name());
        runtime.send(key, DeploymentPurpose::Scale { name, from, to }, call, Some(because), now);
    }

    fn tell_scaled(
        &self,
        work: &DeploymentSync,
        name: &str,
        from: Option<i64>,
        to: i64,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        let way = if to > from.unwrap_or(0) { "up" } else { "down" };
        let message = match from {
            _ if self.tells_from => {
                format!("Scaled {way} replica set {name} from {} to {to}", from.unwrap_or(0))
            }
            None => format!("Scaled {way} replica set {name} to {to}"),
            Some(from) => format!("Scaled {way} replica set {name} to {to} from {from}"),
        };
        let about = InvolvedObject::object("apps/v1", "Deployment", &work.deployment);
        runtime.emit(&about, EventType::Normal, "ScalingReplicaSet", &message, now);
    }
}

impl Reconciler for Deployments {
    type Purpose = DeploymentPurpose;

    fn handle_event(
        &mut self,
        source: usize,
        event: &CacheEvent,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        _now: Timestamp,
    ) {
        match source {
            DEPLOYMENT_CACHE => return runtime.add(event.object().key()),
            PODS_CACHE => return self.follow_pod(event, runtime),
            _ => {}
        }
        self.sets.update(event);
        let Some((key, uid)) = owner_key(event.object(), "Deployment") else { return };
        if runtime.cache(DEPLOYMENT_CACHE).get(&key).is_some_and(|owner| owner.uid() == &*uid) {
            runtime.add(key);
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<DeploymentPurpose>, _now: Timestamp) -> Flow {
        let Some(deployment) = runtime.cache(DEPLOYMENT_CACHE).get(key).cloned() else { return Flow::Done };
        let mut sets: Vec<Object> =
            self.sets.of(deployment.uid()).filter_map(|set| runtime.cache(SETS).get(set).cloned()).collect();
        sets.sort_by_cached_key(|set| {
            let created = set.stable().at(&["metadata", "creationTimestamp"]).as_text().cloned();
            (created, revision_of(set), String::from(set.name()))
        });
        let stage = if is_ending(&deployment) { DeploymentStage::Status } else { DeploymentStage::New };
        let tree = deployment.json();
        let work = DeploymentSync { deployment, tree, sets, new: None, made: false, stage, because: None };
        self.work.insert(key.clone(), work);
        Flow::Next
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        step: DeploymentPurpose,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) -> Flow {
        let Some(mut work) = self.work.remove(key) else { return Flow::Next };
        let failed = failure(reply).is_some();
        match step {
            DeploymentPurpose::Create if !failed => {
                work.made = true;
                if let Some(set) = object(reply) {
                    if size(&set) > 0 {
                        self.tell_scaled(&work, set.name(), None, size(&set), runtime, now);
                    }
                    work.sets.push(set);
                }
            }
            DeploymentPurpose::Scale { name, from, to } if !failed => {
                if from != to {
                    self.tell_scaled(&work, &name, Some(from), to, runtime, now);
                }
                if let (Some(set), Some(at)) = (object(reply), work.sets.iter().position(|set| *set.name() == *name)) {
                    work.sets[at] = set;
                }
            }
            DeploymentPurpose::Annotate | DeploymentPurpose::Announce if !failed => {}
            DeploymentPurpose::Status if !failed => work.stage = DeploymentStage::End(Flow::Done),
            _ => work.stage = DeploymentStage::End(Flow::Retry),
        }
        self.work.insert(key.clone(), work);
        Flow::Next
    }

    fn proceed(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<DeploymentPurpose>, now: Timestamp) -> Flow {
        let Some(mut work) = self.work.remove(key) else { return Flow::Done };
        match work.stage {
            DeploymentStage::New => self.find_new(key, &mut work, runtime, now),
            DeploymentStage::Announce => self.announce(key, &mut work, runtime, now),
            DeploymentStage::Scale => self.scale_some(key, &mut work, runtime, now),
            DeploymentStage::Status => {
                work.stage = DeploymentStage::End(Flow::Done);
                let status = status::of(&work, self.tells_terminating, now);
                if status != *work.tree.get("status") {
                    work.tree.set(&["status"], status);
                    let call = Call::new(Verb::Update, DEPLOYMENTS, &key.namespace, &key.name)
                        .subresource("status")
                        .body(work.tree.clone());
                    runtime.send(key, DeploymentPurpose::Status, call, work.because, now);
                }
            }
            DeploymentStage::End(flow) => return flow,
        }
        self.work.insert(key.clone(), work);
        Flow::Next
    }
}
