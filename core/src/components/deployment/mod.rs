//! Keeps the ReplicaSets of a Deployment: a new one for each template, and pods moved from the old ones to it.
//!
//! Mirrors kube-controller-manager's `deployment-controller` (pkg/controller/deployment/{deployment_controller,sync,
//! rolling,recreate,progress,rollback}.go, v1.34). A sync adopts and releases ReplicaSets, notes whether the rollout is
//! paused, finds the ReplicaSet of the template, scales, and then writes the status of the ReplicaSets as it found
//! them. All writes of the Deployment in one sync are of the same revision: the second meets a conflict, as upstream's
//! does, and the sync is retried 5 ms later.
//! Inputs: Deployments, ReplicaSets, Pods, answers, time. Outputs: ReplicaSets made, scaled, adopted, released and
//! deleted, statuses, Events.

mod recreate;
mod rollback;
mod scaling;
mod sets;
mod status;
mod work;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use self::scaling::Scaling;
use self::work::{Course, DeploymentPurpose, DeploymentStage, DeploymentSync};
use super::Because;
use super::client::{CacheEvent, TokenBucket};
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, code, failure, object,
};
use super::events::{EventType, InvolvedObject};
use super::workload::claims::{Claims, has_selector, is_offered, may_adopt, selected};
use super::workload::pods::{Orphans, Owned, adoption, number, owner_key, reference_to, release};
use super::workload::{DEPLOYMENTS, REPLICA_SETS};
use crate::network::{Call, PODS, Verb};
use crate::objects::lifecycle::is_ending;
use crate::objects::{Json, Object, ObjectKey};

/// The label that tells the pods of one template from those of another.
/// Source: k8s.io/api apps/v1/types.go (v1.34), `DefaultDeploymentUniqueLabelKey`.
const HASH_LABEL: &str = "pod-template-hash";

const DEPLOYMENT_CACHE: usize = 0;
const SETS: usize = 1;
const PODS_CACHE: usize = 2;

const CONFIG: ControllerConfig = ControllerConfig {
    queue: "deployment",
    workers: 5,
    // Source: deployment_controller.go (v1.34), `maxRetries`.
    retries: Retries { most: 15, ..Retries::ENDLESS },
    watched: &[Watched::of(DEPLOYMENTS), Watched::of(REPLICA_SETS), Watched::of(PODS)],
};

/// Starts the controller with empty caches.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let profile = context.settings.profile();
    let logic = Deployments {
        tells_from: profile.is("scaling-tells-from"),
        follows_each_pod: profile.is("recreating-deployments-follow-each-pod"),
        tells_terminating: context.settings.is_gate_on("DeploymentReplicaSetTerminatingReplicas"),
        sets: Owned::default(),
        orphans: Orphans::default(),
        pods: Owned::default(),
        work: BTreeMap::new(),
        looks: status::limit(now),
    };
    KeyedController::new(logic, &CONFIG, context, now)
}

/// What the controller knows; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
struct Deployments {
    tells_from: bool,
    tells_terminating: bool,
    /// Whether a Deployment that recreates its pods is synced for each pod that is gone, not for the last one alone.
    follows_each_pod: bool,
    sets: Owned,
    /// ReplicaSets without owner.
    orphans: Orphans,
    /// The pods of each ReplicaSet.
    pods: Owned,
    work: BTreeMap<ObjectKey, DeploymentSync>,
    /// Limits the looks at rollouts whose deadline is over.
    looks: TokenBucket,
}

fn about(deployment: &Object) -> InvolvedObject {
    InvolvedObject::object("apps/v1", "Deployment", deployment)
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

impl Deployments {
    /// Releases ReplicaSets that are no longer selected, and asks whether it may adopt others.
    fn claim(
        &self,
        key: &ObjectKey,
        deployment: Object,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) -> DeploymentSync {
        let cache = runtime.cache(SETS);
        let own = self.sets.of(deployment.uid()).filter_map(|set| cache.get(set));
        let orphans = self.orphans.of(&key.namespace).filter_map(|set| cache.get(set));
        let claims = Claims::of(&deployment, own, orphans);
        for set in claims.lost {
            let fact = String::from("its labels are no longer those that the Deployment selects");
            let what = format!("let go by Deployment {}", key.name);
            let because = runtime.decide(format!("replicaset/{}", set.key()), what, [Because::Fact(fact)].into());
            let call = Call::strategic_patch(REPLICA_SETS, &key.namespace, set.name(), release(&deployment, &set));
            runtime.send(key, DeploymentPurpose::Release, call, Some(because), now);
        }
        if !claims.wanted.is_empty() {
            let call = Call::new(Verb::Get, DEPLOYMENTS, &key.namespace, &key.name);
            runtime.send(key, DeploymentPurpose::Confirm, call, None, now);
        }
        let mut work = DeploymentSync::of(deployment, claims.own);
        work.wanted = claims.wanted;
        work
    }

    /// Adopts the ReplicaSets found.
    fn adopt(
        key: &ObjectKey,
        work: &mut DeploymentSync,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        for set in core::mem::take(&mut work.wanted) {
            let fact = String::from("the Deployment selects it, and nobody owns it");
            let what = format!("taken by Deployment {}", key.name);
            let because = runtime.decide(format!("replicaset/{}", set.key()), what, [Because::Fact(fact)].into());
            let patch = adoption(reference_to(&work.deployment, "apps/v1", "Deployment"), &set);
            let call = Call::strategic_patch(REPLICA_SETS, &key.namespace, set.name(), patch);
            runtime.send(key, DeploymentPurpose::Adopt(set), call, Some(because), now);
        }
    }

    /// Chooses the way of a sync, and notes a pause.
    fn begin(
        key: &ObjectKey,
        work: &mut DeploymentSync,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        work.sets.sort_by_cached_key(scaling::age);
        work.stage = DeploymentStage::Find;
        if is_ending(&work.deployment) {
            work.course = Course::Count;
            return;
        }
        work.stage = DeploymentStage::Paused;
        if status::set_paused(work, now) {
            let what = if work.is_paused() { "note a pause" } else { "note the end of a pause" };
            let fact = Because::Fact(format!("spec.paused is {}", work.is_paused()));
            work.because = Some(runtime.decide(format!("deployment/{key}"), what, [fact].into()));
            Self::write_status(key, work, DeploymentPurpose::Announce, runtime, now);
        }
    }

    /// Goes on when the ReplicaSet of the template is known.
    fn follow_course(
        &self,
        key: &ObjectKey,
        work: &mut DeploymentSync,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        match work.course {
            Course::Look => {
                work.course = match (scaling::is_scaling(work), work.is_rolling()) {
                    (true, _) => Course::Resize,
                    (false, true) => Course::Rolling,
                    (false, false) => Course::Recreate,
                };
                work.stage = DeploymentStage::Find;
            }
            Course::Count => work.stage = DeploymentStage::Status,
            Course::Resize => {
                let cleans = work.is_paused() && rollback::asked(&work.deployment).is_none();
                let then = if cleans { DeploymentStage::CleanUp } else { DeploymentStage::Status };
                let sizes = scaling::all(work);
                Self::begin_scaling(work, sizes, then);
            }
            Course::Rolling => {
                let sizes = scaling::new_set(work);
                let then = if sizes.is_empty() { DeploymentStage::ScaleOld } else { DeploymentStage::Status };
                Self::begin_scaling(work, sizes, then);
            }
            Course::Recreate => self.recreate(work, runtime),
            Course::RecreateNew => {
                let sizes = work.new.iter().map(|new| Scaling::of(new, work.replicas())).collect();
                Self::begin_scaling(work, sizes, DeploymentStage::CleanUp);
            }
            Course::RollBack => self.roll_back(key, work, runtime, now),
        }
    }

    /// Writes the status, or looks again when a rollout may have come to nothing.
    fn finish(
        &mut self,
        key: &ObjectKey,
        work: &mut DeploymentSync,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        work.stage = DeploymentStage::End(Flow::Done);
        let is_rollout = !matches!(work.course, Course::Count | Course::Resize);
        let mut status = status::of(work, self.tells_terminating, now);
        if is_rollout {
            status::add_rollout(work, &mut status, now);
        }
        if status != *work.tree.get("status") {
            work.tree.set(&["status"], status);
            Self::write_status(key, work, DeploymentPurpose::Status, runtime, now);
        } else if is_rollout && let Some(pause) = status::next_look(work, &mut self.looks, now) {
            runtime.add_after(key.clone(), pause, now);
        }
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
        runtime.emit(&about(&work.deployment), EventType::Normal, "ScalingReplicaSet", &message, now);
    }
    /// Queues the Deployment that a ReplicaSet belongs to, and the one that it belonged to; for one without owner,
    /// those that might adopt it.
    fn follow_set(&mut self, event: &CacheEvent, runtime: &mut KeyedRuntime<DeploymentPurpose>) {
        self.sets.update(event);
        self.orphans.update(event);
        let owner = |set: &Option<Object>| set.as_ref().and_then(|set| owner_key(set, "Deployment"));
        let (before, after) = (owner(&event.before), owner(&event.after));
        let former = before.filter(|before| after.as_ref() != Some(before));
        for (key, uid) in former.into_iter().chain(after) {
            if runtime.cache(DEPLOYMENT_CACHE).get(&key).is_some_and(|owner| owner.uid() == &*uid) {
                runtime.add(key);
            }
        }
        if !is_offered(event.before.as_ref(), event.after.as_ref()) {
            return;
        }
        let set = event.object();
        let takes = |owner: &&Object| {
            owner.key().namespace == set.key().namespace && has_selector(owner) && selected(owner, set)
        };
        let keys: Vec<ObjectKey> = runtime.cache(DEPLOYMENT_CACHE).objects().filter(takes).map(Object::key).collect();
        for key in keys {
            runtime.add(key);
        }
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
            DEPLOYMENT_CACHE => runtime.add(event.object().key()),
            PODS_CACHE => self.follow_pod(event, runtime),
            _ => self.follow_set(event, runtime),
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<DeploymentPurpose>, now: Timestamp) -> Flow {
        let Some(deployment) = runtime.cache(DEPLOYMENT_CACHE).get(key).cloned() else { return Flow::Done };
        let work = self.claim(key, deployment, runtime, now);
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
            DeploymentPurpose::Create { name, revision } => {
                self.made(key, &mut work, (&name, revision), reply, runtime, now);
            }
            DeploymentPurpose::Confirm if may_adopt(&work.deployment, object(reply).as_ref()) => {
                Self::adopt(key, &mut work, runtime, now);
            }
            DeploymentPurpose::Adopt(set) if !failed => work.sets.push(set),
            DeploymentPurpose::Adopt(_) | DeploymentPurpose::Delete if code(reply) == 404 => {}
            DeploymentPurpose::Release if matches!(code(reply), 404 | 422) => {}
            DeploymentPurpose::Scale { name, from, to } if !failed => {
                if from != to {
                    self.tell_scaled(&work, &name, Some(from), to, runtime, now);
                }
                work.written.extend(object(reply));
                work.written.rotate_right(1);
            }
            // Upstream goes on as if no old ReplicaSet could be scaled.
            DeploymentPurpose::Scale { .. } if work.forgives => {
                work.scalings.clear();
                work.then = DeploymentStage::CleanUp;
            }
            DeploymentPurpose::Annotate if !failed => work.new = object(reply),
            DeploymentPurpose::RollBack(Some(revision)) if !failed => {
                let text = format!("Rolled back deployment \"{}\" to revision {revision}", key.name);
                runtime.emit(&about(&work.deployment), EventType::Normal, "DeploymentRollback", &text, now);
            }
            DeploymentPurpose::Excuse => {}
            _ if failed => work.fail(),
            _ => {}
        }
        self.work.insert(key.clone(), work);
        Flow::Next
    }

    fn proceed(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<DeploymentPurpose>, now: Timestamp) -> Flow {
        let Some(mut work) = self.work.remove(key) else { return Flow::Done };
        match work.stage {
            DeploymentStage::Begin => Self::begin(key, &mut work, runtime, now),
            DeploymentStage::Paused => {
                work.course = match (work.is_paused(), rollback::asked(&work.deployment)) {
                    (true, _) => Course::Resize,
                    (false, Some(_)) => Course::RollBack,
                    (false, None) => Course::Look,
                };
                work.stage = DeploymentStage::Find;
            }
            DeploymentStage::Find => self.find_new(key, &mut work, runtime, now),
            DeploymentStage::Found => self.follow_course(key, &mut work, runtime, now),
            DeploymentStage::Scaling => {
                if self.scale_next(key, &mut work, runtime, now) {
                    work.stage = work.then;
                }
            }
            DeploymentStage::ScaleOld => {
                let sizes = scaling::old_sets(&work);
                let then = if sizes.is_empty() { DeploymentStage::CleanUp } else { DeploymentStage::Status };
                Self::begin_scaling(&mut work, sizes, then);
                work.forgives = true;
            }
            DeploymentStage::CleanUp => Self::clean_up(&mut work),
            DeploymentStage::Deleting => {
                if self.delete_next(key, &mut work, runtime, now) {
                    work.stage = DeploymentStage::Status;
                }
            }
            DeploymentStage::Status => self.finish(key, &mut work, runtime, now),
            DeploymentStage::End(flow) => return flow,
        }
        self.work.insert(key.clone(), work);
        Flow::Next
    }
}
