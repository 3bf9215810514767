//! The writes of the binder: each only if it changes something.
//!
//! Mirrors pkg/controller/volume/persistentvolume/pv_controller.go (v1.34): `bind`, `unbindVolume`,
//! `updateVolumePhase`, `updateClaimStatus`. Inputs: objects as they are known. Outputs: updates.

use alloc::string::String;

use jiff::Timestamp;

use super::plugins::{Deleter, deleter_of};
use super::{BinderPurpose, BinderRuntime, BinderStage, BinderSync, VolumeBinder, has_annotation};
use crate::components::Because;
use crate::components::controller::Flow;
use crate::components::volume_matching::named_volume;
use crate::components::volumes::{BIND_COMPLETED, BOUND_BY_CONTROLLER, CLAIMS, VOLUMES};
use crate::network::{Call, Resource, Verb};
use crate::objects::lifecycle::{is_ending, phase};
use crate::objects::{Json, Object, ObjectKey};

/// The kinds of volumes that are made usable again.
/// Source: pkg/volume/{hostpath/host_path.go,nfs/nfs.go} (v1.34), `RecyclableVolumePlugin`.
const RECYCLED: [&str; 2] = ["hostPath", "nfs"];
/// Source: pv_controller.go (v1.34), `recycleVolumeOperation`.
const NO_RECYCLER: &str = "No recycler plugin found for the volume!";

/// What a write is for, and the request.
type BinderWrite = (BinderPurpose, Call);

fn update(resource: Resource, body: Json) -> Call {
    let text = |field: &str| body.at(&["metadata", field]).as_text().cloned().unwrap_or_default();
    Call::new(Verb::Update, resource, text("namespace"), text("name")).body(body)
}

fn of_volume(body: Json) -> BinderWrite {
    (BinderPurpose::Volume, update(VOLUMES, body))
}

/// Returns the update of a claim.
pub(super) fn of_claim(body: Json) -> BinderWrite {
    (BinderPurpose::Claim, update(CLAIMS, body))
}

/// Returns the update of a volume's phase, with a message or none.
pub(super) fn of_phase(volume: &Object, wanted: &str, message: &str) -> BinderWrite {
    let mut body = volume.json();
    body.set(&["status", "phase"], wanted);
    if message.is_empty() {
        body.remove(&["status", "message"]);
    } else {
        body.set(&["status", "message"], message);
    }
    of_status(of_volume(body))
}

fn of_status((purpose, call): BinderWrite) -> BinderWrite {
    (purpose, call.subresource("status"))
}

impl VolumeBinder {
    /// Does what the policy of a released volume asks for; a driver's volume is deleted by its provisioner.
    ///
    /// Source: pv_controller.go (v1.34), `reclaimVolume`, `recycleVolumeOperation`, `deleteVolumeOperation`.
    pub(super) fn reclaim(
        &mut self,
        key: &ObjectKey,
        volume: &Object,
        runtime: &mut BinderRuntime,
        now: Timestamp,
    ) -> Flow {
        let spec = volume.stable().get("spec");
        let (reason, why) = match spec.get("persistentVolumeReclaimPolicy").as_str() {
            Some("Recycle") if RECYCLED.iter().all(|kind| spec.get(kind).is_null()) => {
                ("VolumeFailedRecycle", String::from(NO_RECYCLER))
            }
            Some("Delete") => match deleter_of(volume) {
                Ok(Deleter::External) => return Flow::Done,
                Ok(Deleter::Own) => return self.delete(key, volume, runtime, now),
                Err(why) => ("VolumeFailedDelete", why),
            },
            _ => return Flow::Done,
        };
        if phase(volume) == "Failed" {
            return Flow::Done;
        }
        let stage = BinderStage::NotReclaimed(reason, why.clone());
        let work = BinderSync { volume: Some(volume.clone()), claim: None, stage };
        self.write(key, work, of_phase(volume, "Failed", &why), runtime, now)
    }

    /// Deletes a volume whose data are gone, unless it is on its way out.
    fn delete(&mut self, key: &ObjectKey, volume: &Object, runtime: &mut BinderRuntime, now: Timestamp) -> Flow {
        if is_ending(volume) {
            return Flow::Done;
        }
        let fact = Because::Fact(String::from("its claim is gone, and its policy is Delete"));
        runtime.decide(alloc::format!("persistentvolume/{}", volume.name()), "delete", [fact].into());
        let call = Call::new(Verb::Delete, VOLUMES, "", volume.name());
        let work = BinderSync { volume: None, claim: None, stage: BinderStage::End };
        self.write(key, work, (BinderPurpose::Gone, call), runtime, now)
    }

    /// Sends a write, and goes on with the work once it is answered.
    pub(super) fn write(
        &mut self,
        key: &ObjectKey,
        work: BinderSync,
        (purpose, call): BinderWrite,
        runtime: &mut BinderRuntime,
        now: Timestamp,
    ) -> Flow {
        self.work.insert(key.clone(), work);
        runtime.send(key, purpose, call, None, now);
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
        let work = BinderSync { volume: Some(volume.clone()), claim: None, stage: BinderStage::End };
        self.write(key, work, of_phase(volume, wanted, ""), runtime, now)
    }

    /// Lets a claim wait for a volume.
    pub(super) fn set_pending(
        &mut self,
        key: &ObjectKey,
        claim: &Object,
        runtime: &mut BinderRuntime,
        now: Timestamp,
    ) -> Flow {
        let work = BinderSync { volume: None, claim: Some(claim.clone()), stage: BinderStage::End };
        self.update_claim_status(key, work, "Pending", runtime, now)
    }

    /// Sets phase, modes and capacity of a claim, if they are others; without a volume it has neither of the last two.
    fn update_claim_status(
        &mut self,
        key: &ObjectKey,
        work: BinderSync,
        wanted: &str,
        runtime: &mut BinderRuntime,
        now: Timestamp,
    ) -> Flow {
        let Some(claim) = work.claim.clone() else { return Flow::Done };
        let mut body = claim.json();
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
        self.write(key, work, of_status(of_claim(body)), runtime, now)
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
        let mut body = volume.json();
        if has_annotation(volume, BOUND_BY_CONTROLLER) {
            body.remove(&["spec", "claimRef"]);
            body.remove(&["metadata", "annotations", BOUND_BY_CONTROLLER]);
        } else {
            body.remove(&["spec", "claimRef", "uid"]);
        }
        let work = BinderSync { volume: Some(volume.clone()), claim: None, stage: BinderStage::Freed };
        self.write(key, work, of_volume(body), runtime, now)
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
                return self.write(key, work, of_volume(body), runtime, now);
            }
        }
        if work.stage == BinderStage::BoundPhase {
            work.stage = BinderStage::BindClaim;
            if phase(&volume) != "Bound" {
                return self.write(key, work, of_phase(&volume, "Bound", ""), runtime, now);
            }
        }
        if work.stage == BinderStage::BindClaim {
            work.stage = BinderStage::ClaimStatus;
            let mut body = claim.json();
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
                return self.write(key, work, of_claim(body), runtime, now);
            }
        }
        work.stage = BinderStage::End;
        self.update_claim_status(key, work, "Bound", runtime, now)
    }
}
