//! The writes of the binder: each only if it changes something.
//!
//! Mirrors pkg/controller/volume/persistentvolume/pv_controller.go (v1.34): `bind`, `unbindVolume`,
//! `updateVolumePhase`, `updateClaimStatus`. Inputs: objects as they are known. Outputs: updates.

use jiff::Timestamp;

use super::{BinderPurpose, BinderRuntime, BinderStage, BinderSync, VolumeBinder, has_annotation, phase, tree};
use crate::components::Because;
use crate::components::controller::Flow;
use crate::components::volume_matching::named_volume;
use crate::components::volumes::{BIND_COMPLETED, BOUND_BY_CONTROLLER, CLAIMS, VOLUMES};
use crate::network::{Call, Verb};
use crate::objects::{Json, Object, ObjectKey};

impl VolumeBinder {
    fn write_volume(
        &mut self,
        key: &ObjectKey,
        work: BinderSync,
        body: Json,
        is_status: bool,
        runtime: &mut BinderRuntime,
        now: Timestamp,
    ) -> Flow {
        let name = body.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
        let call = Call::new(Verb::Update, VOLUMES, "", name);
        let call = if is_status { call.subresource("status") } else { call };
        self.work.insert(key.clone(), work);
        runtime.send(key, BinderPurpose::Volume, call.body(body), None, now);
        Flow::Next
    }

    /// Writes a claim.
    pub(super) fn write_claim(
        &mut self,
        key: &ObjectKey,
        work: BinderSync,
        body: Json,
        runtime: &mut BinderRuntime,
        now: Timestamp,
    ) -> Flow {
        let text = |field: &str| body.at(&["metadata", field]).as_text().cloned().unwrap_or_default();
        let call = Call::new(Verb::Update, CLAIMS, text("namespace"), text("name"));
        self.work.insert(key.clone(), work);
        runtime.send(key, BinderPurpose::Claim, call.body(body), None, now);
        Flow::Next
    }

    fn write_claim_status(
        &mut self,
        key: &ObjectKey,
        work: BinderSync,
        body: Json,
        runtime: &mut BinderRuntime,
        now: Timestamp,
    ) -> Flow {
        let text = |field: &str| body.at(&["metadata", field]).as_text().cloned().unwrap_or_default();
        let call = Call::new(Verb::Update, CLAIMS, text("namespace"), text("name")).subresource("status");
        self.work.insert(key.clone(), work);
        runtime.send(key, BinderPurpose::Claim, call.body(body), None, now);
        Flow::Next
    }

    /// Sets the phase of a volume, if it is another one.
    pub(super) fn set_phase(
        &mut self,
        key: &ObjectKey,
        volume: &Object,
        wanted: &str,
        runtime: &mut BinderRuntime,
        now: Timestamp,
    ) -> Flow {
        if phase(volume) == wanted {
            return Flow::Done;
        }
        let mut body = tree(volume);
        body.set(&["status", "phase"], wanted);
        body.remove(&["status", "message"]);
        let work = BinderSync { volume: Some(volume.clone()), claim: None, stage: BinderStage::End };
        self.write_volume(key, work, body, true, runtime, now)
    }

    /// Sets phase, modes and capacity of a claim, if they are others; without a volume it has neither of the last two.
    pub(super) fn set_claim_status(
        &mut self,
        key: &ObjectKey,
        claim: &Object,
        wanted: &str,
        volume: Option<&Object>,
        runtime: &mut BinderRuntime,
        now: Timestamp,
    ) -> Flow {
        let work = BinderSync { volume: volume.cloned(), claim: Some(claim.clone()), stage: BinderStage::End };
        self.update_claim_status(key, work, wanted, runtime, now)
    }

    fn update_claim_status(
        &mut self,
        key: &ObjectKey,
        work: BinderSync,
        wanted: &str,
        runtime: &mut BinderRuntime,
        now: Timestamp,
    ) -> Flow {
        let Some(claim) = work.claim.clone() else { return Flow::Done };
        let mut body = tree(&claim);
        let before = body.get("status").clone();
        body.set(&["status", "phase"], wanted);
        match &work.volume {
            None => {
                body.remove(&["status", "accessModes"]);
                body.remove(&["status", "capacity"]);
            }
            Some(volume) => {
                let spec = volume.stable().get("spec");
                body.set(&["status", "accessModes"], spec.get("accessModes").clone());
                if before.get("phase").as_str() != Some(wanted) {
                    body.set(&["status", "capacity"], spec.get("capacity").clone());
                }
            }
        }
        if *body.get("status") == before {
            return Flow::Done;
        }
        self.write_claim_status(key, work, body, runtime, now)
    }

    /// Lets a claim be lost, and says so.
    pub(super) fn lose(
        &mut self,
        key: &ObjectKey,
        claim: &Object,
        (reason, message): (&'static str, &'static str),
        runtime: &mut BinderRuntime,
        now: Timestamp,
    ) -> Flow {
        if phase(claim) == "Lost" {
            return Flow::Done;
        }
        let stage = BinderStage::Told(reason, message);
        let work = BinderSync { volume: None, claim: Some(claim.clone()), stage };
        self.update_claim_status(key, work, "Lost", runtime, now)
    }

    /// Takes a binding back: one that the controller chose altogether, one of the user up to the uid.
    pub(super) fn unbind(
        &mut self,
        key: &ObjectKey,
        volume: &Object,
        runtime: &mut BinderRuntime,
        now: Timestamp,
    ) -> Flow {
        let mut body = tree(volume);
        if has_annotation(volume, BOUND_BY_CONTROLLER) {
            body.remove(&["spec", "claimRef"]);
            body.remove(&["metadata", "annotations", BOUND_BY_CONTROLLER]);
        } else {
            body.remove(&["spec", "claimRef", "uid"]);
        }
        let work = BinderSync { volume: Some(volume.clone()), claim: None, stage: BinderStage::Freed };
        self.write_volume(key, work, body, false, runtime, now)
    }

    /// Makes the next step of a binding that changes something.
    pub(super) fn bind_step(
        &mut self,
        key: &ObjectKey,
        mut work: BinderSync,
        runtime: &mut BinderRuntime,
        now: Timestamp,
    ) -> Flow {
        let (Some(volume), Some(claim)) = (work.volume.clone(), work.claim.clone()) else { return Flow::Done };
        if work.stage == BinderStage::BindVolume {
            work.stage = BinderStage::BoundPhase;
            if let Some(body) = named_volume(&volume, &claim) {
                let fact = Because::Fact(alloc::format!("it fits PersistentVolumeClaim {}", claim.key()));
                let about = alloc::format!("persistentvolume/{}", volume.name());
                let what = alloc::format!("bind to PersistentVolumeClaim {}", claim.key());
                runtime.decide(about, what, [fact].into());
                return self.write_volume(key, work, body, false, runtime, now);
            }
        }
        if work.stage == BinderStage::BoundPhase {
            work.stage = BinderStage::BindClaim;
            if phase(&volume) != "Bound" {
                let mut body = tree(&volume);
                body.set(&["status", "phase"], "Bound");
                body.remove(&["status", "message"]);
                return self.write_volume(key, work, body, true, runtime, now);
            }
        }
        if work.stage == BinderStage::BindClaim {
            work.stage = BinderStage::ClaimStatus;
            let mut body = tree(&claim);
            let mut is_changed = false;
            if claim.stable().at(&["spec", "volumeName"]).as_str() != Some(volume.name()) {
                body.set(&["spec", "volumeName"], volume.name());
                body.set(&["metadata", "annotations", BOUND_BY_CONTROLLER], "yes");
                is_changed = true;
            }
            if !has_annotation(&claim, BIND_COMPLETED) {
                body.set(&["metadata", "annotations", BIND_COMPLETED], "yes");
                is_changed = true;
            }
            if is_changed {
                return self.write_claim(key, work, body, runtime, now);
            }
        }
        work.stage = BinderStage::End;
        self.update_claim_status(key, work, "Bound", runtime, now)
    }
}
