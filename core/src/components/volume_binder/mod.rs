//! Binds claims to volumes that were made before, and keeps the phases of both.
//!
//! Mirrors kube-controller-manager's `persistentvolume-binder-controller`
//! (pkg/controller/volume/persistentvolume/pv_controller.go and index.go, v1.34). A claim gets the smallest volume that
//! fits; a claim whose class waits for a consumer is bound by the scheduler's choice. Both sides are written one after
//! the other: the volume, its phase, the claim, its status. What could not be bound is looked at again every 15 s,
//! and since 1.36 what could not be written after a pause that grows.
//! Inputs: volumes, claims, classes, Pods, answers, time. Outputs: updates of volumes and claims, Events.
//! Left out on purpose: recycling, volume attributes classes, and the annotation `pv.kubernetes.io/migrated-to` of what
//! was made before CSI drivers served the old plugins.

mod plugins;
mod provisioning;
mod writes;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use self::plugins::PROVISIONED_BY;
use self::provisioning::{ProvisioningEvent, waiting_for};
use self::writes::{of_claim, of_phase};
use super::client::CacheEvent;
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, code, object,
};
use super::events::{EventType, InvolvedObject};
use super::volumes::{
    BIND_COMPLETED, BOUND_BY_CONTROLLER, CLAIMS, CLASSES, SELECTED_NODE, VOLUMES, class_of, default_class, is_delayed,
};
use crate::components::next_of;
use crate::components::volume_matching::{best_match, is_bound_to, other_mode, satisfies};
use crate::network::{Call, PODS, Verb};
use crate::objects::lifecycle::phase;
use crate::objects::{Object, ObjectKey};

const VOLUME_CACHE: usize = 0;
const CLAIM_CACHE: usize = 1;
const CLASS_CACHE: usize = 2;
const POD_CACHE: usize = 3;

const CONFIG: ControllerConfig = ControllerConfig {
    queue: "claims",
    // Upstream has one worker for claims and one for volumes; here they take turns.
    workers: 1,
    retries: Retries::ENDLESS,
    watched: &[Watched::of(VOLUMES), Watched::of(CLAIMS), Watched::of(CLASSES), Watched::of(PODS)],
};

/// Starts the controller with empty caches.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let logic = VolumeBinder {
        own: BTreeMap::new(),
        work: BTreeMap::new(),
        started: now,
        resync: context.settings.duration("pvclaimbinder-sync-period"),
        retries: context.settings.profile().is("volume-binder-retries"),
    };
    KeyedController::new(logic, &CONFIG, context, now)
}

/// What a request is for.
#[derive(Clone, Copy, Debug)]
enum BinderPurpose {
    /// A volume or its phase was written.
    Volume,
    /// A claim or its status was written.
    Claim,
    /// The claim of a volume was read.
    Look,
    /// A volume was deleted.
    Gone,
}

/// What comes next.
#[derive(Clone, PartialEq, Eq, Debug)]
enum BinderStage {
    /// Let the volume name its claim.
    BindVolume,
    /// Note that the volume is bound.
    BoundPhase,
    /// Let the claim name its volume.
    BindClaim,
    /// Note that the claim is bound.
    ClaimStatus,
    /// Decide about a volume whose claim was read.
    Judge,
    /// Note that the volume is free again.
    Freed,
    /// Do what the volume's policy asks for.
    Reclaim,
    /// Say why the volume is neither deleted nor made usable again.
    NotReclaimed(&'static str, String),
    /// Say that the provisioner is waited for, or why the controller makes no volume itself.
    Asked(ProvisioningEvent, String),
    /// Say what was written about the claim.
    Told(&'static str, &'static str),
    /// Nothing.
    End,
}

/// A sync under way.
#[derive(Clone, Debug)]
struct BinderSync {
    volume: Option<Object>,
    claim: Option<Object>,
    stage: BinderStage,
}

/// What the controller knows; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
struct VolumeBinder {
    /// What it wrote itself and its caches may not show yet.
    own: BTreeMap<ObjectKey, Object>,
    work: BTreeMap<ObjectKey, BinderSync>,
    started: Timestamp,
    resync: SignedDuration,
    /// Whether a sync that failed is tried again after a short pause.
    retries: bool,
}

type BinderRuntime = KeyedRuntime<BinderPurpose>;

fn about(claim: &Object) -> InvolvedObject {
    InvolvedObject::object("v1", "PersistentVolumeClaim", claim)
}

fn is_volume(key: &ObjectKey) -> bool {
    key.namespace.is_empty()
}

/// Returns the key of the claim that a volume names.
fn claim_key(volume: &Object) -> Option<ObjectKey> {
    let claim = volume.stable().at(&["spec", "claimRef"]);
    let text = |field: &str| claim.get(field).as_text().cloned().unwrap_or_default();
    claim.is_object().then(|| ObjectKey::namespaced(text("namespace"), text("name")))
}

fn has_annotation(object: &Object, name: &str) -> bool {
    !object.stable().at(&["metadata", "annotations", name]).is_null()
}

impl VolumeBinder {
    /// Returns a volume or a claim as it was seen or written last.
    fn current(&self, key: &ObjectKey, runtime: &BinderRuntime) -> Option<Object> {
        let cached = runtime.cache(if is_volume(key) { VOLUME_CACHE } else { CLAIM_CACHE }).get(key)?;
        let own = self
            .own
            .get(key)
            .filter(|own| own.uid() == cached.uid() && own.resource_version() > cached.resource_version());
        Some(own.unwrap_or(cached).clone())
    }

    fn volumes(&self, runtime: &BinderRuntime) -> Vec<Object> {
        let keys = runtime.cache(VOLUME_CACHE).objects().map(Object::key);
        keys.filter_map(|key| self.current(&key, runtime)).collect()
    }

    fn again_later(&self, key: &ObjectKey, runtime: &mut BinderRuntime, now: Timestamp) {
        let period = self.resync.max(SignedDuration::from_nanos(1));
        runtime.add_after(key.clone(), next_of(self.started, period, now).duration_since(now), now);
    }

    /// Source: pv_controller.go (v1.34), `syncVolume`, up to the look at the claim.
    fn sync_volume(&mut self, key: &ObjectKey, volume: Object, runtime: &mut BinderRuntime, now: Timestamp) -> Flow {
        let reference = volume.stable().at(&["spec", "claimRef"]);
        if reference.is_null() || reference.get("uid").is_empty() {
            return self.set_phase(key, &volume, "Available", runtime, now);
        }
        let uid = reference.get("uid").as_str().unwrap_or("");
        let Some(claim_key) = claim_key(&volume) else { return Flow::Done };
        let claim = self.current(&claim_key, runtime);
        let is_released = matches!(phase(&volume), "Released" | "Failed");
        let asks = match &claim {
            None => !is_released,
            Some(claim) => claim.uid() != uid,
        };
        let work = BinderSync { volume: Some(volume), claim, stage: BinderStage::Judge };
        self.work.insert(key.clone(), work);
        if asks {
            let call = Call::new(Verb::Get, CLAIMS, claim_key.namespace, claim_key.name);
            runtime.send(key, BinderPurpose::Look, call, None, now);
        }
        Flow::Next
    }

    /// Source: pv_controller.go (v1.34), `syncVolume`, from the look at the claim.
    fn judge_volume(
        &mut self,
        key: &ObjectKey,
        work: &BinderSync,
        runtime: &mut BinderRuntime,
        now: Timestamp,
    ) -> Flow {
        let Some(volume) = work.volume.clone() else { return Flow::Done };
        let uid = volume.stable().at(&["spec", "claimRef", "uid"]).as_str().unwrap_or("");
        let is_released = matches!(phase(&volume), "Released" | "Failed");
        let Some(claim) = work.claim.as_ref().filter(|claim| claim.uid() == uid) else {
            if is_released {
                return self.reclaim(key, &volume, runtime, now);
            }
            let work = BinderSync { volume: Some(volume.clone()), claim: None, stage: BinderStage::Reclaim };
            return self.write(key, work, of_phase(&volume, "Released", ""), runtime, now);
        };
        let wanted = claim.stable().at(&["spec", "volumeName"]).as_str().unwrap_or("");
        if wanted.is_empty() {
            if other_mode(claim, &volume) {
                let message = format!(
                    "Cannot bind PersistentVolume to requested PersistentVolumeClaim \"{}\" due to incompatible \
                     volumeMode.",
                    claim.name()
                );
                let of_volume = InvolvedObject::object("v1", "PersistentVolume", &volume);
                runtime.emit(&of_volume, EventType::Warning, "VolumeMismatch", &message, now);
                let message = format!(
                    "Cannot bind PersistentVolume \"{}\" to requested PersistentVolumeClaim due to incompatible \
                     volumeMode.",
                    volume.name()
                );
                runtime.emit(&about(claim), EventType::Warning, "VolumeMismatch", &message, now);
                return Flow::Done;
            }
            runtime.add(claim.key());
            return Flow::Done;
        }
        if wanted == volume.name() {
            return self.set_phase(key, &volume, "Bound", runtime, now);
        }
        let policy = volume.stable().at(&["spec", "persistentVolumeReclaimPolicy"]).as_str();
        if has_annotation(&volume, PROVISIONED_BY) && policy == Some("Delete") {
            return if is_released { Flow::Done } else { self.set_phase(key, &volume, "Released", runtime, now) };
        }
        self.unbind(key, &volume, runtime, now)
    }

    /// Source: pv_controller.go (v1.34), `syncUnboundClaim`, `syncBoundClaim`.
    fn sync_claim(&mut self, key: &ObjectKey, claim: Object, runtime: &mut BinderRuntime, now: Timestamp) -> Flow {
        let name = claim.stable().at(&["spec", "volumeName"]).as_text().cloned().unwrap_or_default();
        let volume = self.current(&ObjectKey::cluster(name.clone()), runtime);
        if has_annotation(&claim, BIND_COMPLETED) {
            let reference = |volume: &Object| volume.stable().at(&["spec", "claimRef"]).clone();
            return match volume.filter(|_| !name.is_empty()) {
                None if name.is_empty() => {
                    let message = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!";
                    self.lose(key, &claim, ("ClaimLost", message), runtime, now)
                }
                None => {
                    let message = "Bound claim has lost its PersistentVolume. Data on the volume is lost!";
                    self.lose(key, &claim, ("ClaimLost", message), runtime, now)
                }
                Some(volume) if reference(&volume).is_null() => self.bind(key, volume, claim),
                Some(volume) if reference(&volume).get("uid").as_str() == Some(claim.uid()) => {
                    self.bind(key, volume, claim)
                }
                Some(_) => {
                    let message = "Two claims are bound to the same volume, this one is bound incorrectly";
                    self.lose(key, &claim, ("ClaimMisbound", message), runtime, now)
                }
            };
        }
        if name.is_empty() {
            return self.find_volume(key, claim, runtime, now);
        }
        let Some(volume) = volume else {
            self.again_later(key, runtime, now);
            return self.set_pending(key, &claim, runtime, now);
        };
        let is_free = volume.stable().at(&["spec", "claimRef"]).is_null();
        if is_free && let Err(why) = satisfies(&volume, &claim) {
            let message = format!("Cannot bind to requested volume \"{name}\": {why}");
            runtime.emit(&about(&claim), EventType::Warning, "VolumeMismatch", &message, now);
        } else if is_free || is_bound_to(&volume, &claim) {
            return self.bind(key, volume, claim);
        } else {
            let message = format!("volume \"{name}\" already bound to a different claim.");
            runtime.emit(&about(&claim), EventType::Warning, "FailedBinding", &message, now);
        }
        self.again_later(key, runtime, now);
        if !is_free && has_annotation(&claim, BOUND_BY_CONTROLLER) {
            return Flow::Done;
        }
        self.set_pending(key, &claim, runtime, now)
    }

    /// Finds a volume for a claim that names none, or says what it waits for.
    fn find_volume(&mut self, key: &ObjectKey, claim: Object, runtime: &mut BinderRuntime, now: Timestamp) -> Flow {
        let class_name = String::from(class_of(claim.stable()));
        let class = runtime.cache(CLASS_CACHE).cache().get("", &class_name).cloned();
        let delayed = is_delayed(class.as_ref());
        if let Some(volume) = best_match(&claim, &self.volumes(runtime), delayed) {
            return self.bind(key, volume, claim);
        }
        self.again_later(key, runtime, now);
        if claim.stable().at(&["spec", "storageClassName"]).is_null()
            && class_name.is_empty()
            && let Some(default) = default_class(runtime.cache(CLASS_CACHE).objects())
        {
            let mut body = claim.json();
            body.set(&["spec", "storageClassName"], default.name());
            let work = BinderSync { volume: None, claim: None, stage: BinderStage::End };
            return self.write(key, work, of_claim(body), runtime, now);
        }
        if delayed && !has_annotation(&claim, SELECTED_NODE) {
            let (reason, message) = waiting_for(&claim, runtime);
            runtime.emit(&about(&claim), EventType::Normal, reason, &message, now);
        } else if !class_name.is_empty() {
            return self.ask_provisioner(key, &claim, (&class_name, class), runtime, now);
        } else {
            let message = "no persistent volumes available for this claim and no storage class is set";
            runtime.emit(&about(&claim), EventType::Normal, "FailedBinding", message, now);
        }
        self.set_pending(key, &claim, runtime, now)
    }

    /// Begins to bind a volume and a claim to each other.
    fn bind(&mut self, key: &ObjectKey, volume: Object, claim: Object) -> Flow {
        let work = BinderSync { volume: Some(volume), claim: Some(claim), stage: BinderStage::BindVolume };
        self.work.insert(key.clone(), work);
        Flow::Next
    }
}

impl Reconciler for VolumeBinder {
    type Purpose = BinderPurpose;

    fn handle_event(&mut self, source: usize, event: &CacheEvent, runtime: &mut BinderRuntime, _: Timestamp) {
        let object = event.object();
        match (source, event.after.is_some()) {
            (VOLUME_CACHE | CLAIM_CACHE, true) => runtime.add(object.key()),
            (VOLUME_CACHE, false) => {
                self.own.remove(&object.key());
                if let Some(claim) = claim_key(object) {
                    runtime.add(claim);
                }
            }
            (CLAIM_CACHE, false) => {
                self.own.remove(&object.key());
                let volume = object.stable().at(&["spec", "volumeName"]).as_text().cloned().unwrap_or_default();
                if !volume.is_empty() {
                    runtime.add(ObjectKey::cluster(volume));
                }
            }
            _ => {}
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut BinderRuntime, now: Timestamp) -> Flow {
        let cached = runtime.cache(if is_volume(key) { VOLUME_CACHE } else { CLAIM_CACHE }).get(key).cloned();
        let Some(cached) = cached else { return Flow::Done };
        let current = self.current(key, runtime).unwrap_or_else(|| cached.clone());
        // The event of its own last write is still to come.
        if current.resource_version() > cached.resource_version() {
            return Flow::Done;
        }
        self.own.remove(key);
        if is_volume(key) {
            self.sync_volume(key, cached, runtime, now)
        } else {
            self.sync_claim(key, cached, runtime, now)
        }
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        step: BinderPurpose,
        reply: &ApiResult,
        runtime: &mut BinderRuntime,
        now: Timestamp,
    ) -> Flow {
        let Some(work) = self.work.get_mut(key) else { return Flow::Done };
        match (step, object(reply)) {
            (BinderPurpose::Look, found) if found.is_some() || code(reply) == 404 => {
                work.claim = found;
                Flow::Next
            }
            (BinderPurpose::Gone, _) => {
                self.work.remove(key);
                self.again_later(key, runtime, now);
                Flow::Done
            }
            (BinderPurpose::Volume | BinderPurpose::Claim, Some(made)) => {
                match step {
                    BinderPurpose::Volume => work.volume = Some(made.clone()),
                    _ => work.claim = Some(made.clone()),
                }
                self.own.insert(made.key(), made);
                Flow::Next
            }
            // Its own change or the next look at everything brings it back.
            _ => {
                // What an external provisioner is asked for is no part of the sync.
                let is_asked = matches!(work.stage, BinderStage::Asked(..));
                self.work.remove(key);
                self.again_later(key, runtime, now);
                if self.retries && !is_asked { Flow::Retry } else { Flow::Done }
            }
        }
    }

    fn proceed(&mut self, key: &ObjectKey, runtime: &mut BinderRuntime, now: Timestamp) -> Flow {
        let Some(work) = self.work.remove(key) else { return Flow::Done };
        match work.stage.clone() {
            BinderStage::Judge => self.judge_volume(key, &work, runtime, now),
            BinderStage::Asked((kind, reason), message) => {
                if let Some(claim) = &work.claim {
                    runtime.emit(&about(claim), kind, reason, &message, now);
                }
                Flow::Done
            }
            BinderStage::Told(reason, message) => {
                if let Some(claim) = &work.claim {
                    runtime.emit(&about(claim), EventType::Warning, reason, message, now);
                }
                Flow::Done
            }
            BinderStage::Reclaim => match work.volume {
                Some(volume) => self.reclaim(key, &volume, runtime, now),
                None => Flow::Done,
            },
            BinderStage::NotReclaimed(reason, message) => {
                if let Some(volume) = &work.volume {
                    let about = InvolvedObject::object("v1", "PersistentVolume", volume);
                    runtime.emit(&about, EventType::Warning, reason, &message, now);
                }
                Flow::Done
            }
            BinderStage::Freed => match work.volume {
                Some(volume) => self.set_phase(key, &volume, "Available", runtime, now),
                None => Flow::Done,
            },
            BinderStage::End => Flow::Done,
            _ => self.bind_step(key, work, runtime, now),
        }
    }
}
