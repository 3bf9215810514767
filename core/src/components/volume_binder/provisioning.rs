//! What a claim waits for that no volume fits: a provisioner, or a Pod.
//!
//! Mirrors pkg/controller/volume/persistentvolume/pv_controller.go (v1.34): `provisionClaim`,
//! `emitEventForUnboundDelayBindingClaim`. Inputs: a claim, its class, Pods. Outputs: annotations, Events.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::plugins::{Provisioner, no_folder, provisioner_of};
use super::writes::of_claim;
use super::{BinderRuntime, BinderStage, BinderSync, POD_CACHE, VolumeBinder, about};
use crate::components::client::node_name;
use crate::components::controller::Flow;
use crate::components::events::EventType;
use crate::components::volumes::{claims_of, is_finished};
use crate::objects::{Object, ObjectKey, Text};

/// The annotations of a claim with the provisioner that is to make its volume. Source:
/// k8s.io/component-helpers storage/volume/pv_helpers.go (v1.34), `AnnStorageProvisioner`, `AnnBetaStorageProvisioner`.
const PROVISIONER: [&str; 2] =
    ["volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-provisioner"];

/// The type and the reason of an Event about provisioning.
pub(super) type ProvisioningEvent = (EventType, &'static str);
const WAITS: ProvisioningEvent = (EventType::Normal, "ExternalProvisioning");
const FAILS: ProvisioningEvent = (EventType::Warning, "ProvisioningFailed");

fn waiting(provisioner: &str) -> String {
    format!(
        "Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the \
         system administrator. If volume creation is delayed, please verify that the provisioner is running and \
         correctly registered."
    )
}

impl VolumeBinder {
    /// Lets an external provisioner make a volume; the controller itself makes none.
    ///
    /// Source: pv_controller.go (v1.34), `provisionClaim`, `provisionClaimOperationExternal`,
    /// `provisionClaimOperation`.
    pub(super) fn ask_provisioner(
        &mut self,
        key: &ObjectKey,
        claim: &Object,
        (name, class): (&str, Option<Object>),
        runtime: &mut BinderRuntime,
        now: Timestamp,
    ) -> Flow {
        let fail = |message: String, runtime: &mut BinderRuntime| {
            runtime.emit(&about(claim), FAILS.0, FAILS.1, &message, now);
            Flow::Done
        };
        let Some(class) = class else {
            return fail(format!("storageclass.storage.k8s.io \"{name}\" not found"), runtime);
        };
        let provisioner = class.stable().get("provisioner").as_text().cloned().unwrap_or_default();
        let (provisioner, event, message) = match provisioner_of(&provisioner) {
            Ok(Provisioner::External(driver)) => (Text::from(driver), WAITS, waiting(driver)),
            Ok(Provisioner::Folders) if !claim.stable().at(&["spec", "dataSource"]).is_null() => {
                let why = "Only CSI plugin can provision a claim with a datasource";
                return fail(format!("plugin {:?} is not a CSI plugin. {why}", provisioner.as_str()), runtime);
            }
            Ok(Provisioner::Folders) => (provisioner.clone(), FAILS, no_folder(&class)),
            Err(why) => return fail(why, runtime),
        };
        let known = claim.stable().at(&["metadata", "annotations", PROVISIONER[1]]).as_text();
        if known == Some(&provisioner) {
            runtime.emit(&about(claim), event.0, event.1, &message, now);
            return Flow::Done;
        }
        let mut body = claim.json();
        for annotation in PROVISIONER {
            body.set(&["metadata", "annotations", annotation], &provisioner);
        }
        let work = BinderSync { volume: None, claim: None, stage: BinderStage::Asked(event, message) };
        self.write(key, work, of_claim(body), runtime, now)
    }
}

/// Says what a claim whose class waits for a consumer waits for.
///
/// Source: pv_controller.go (v1.34), `emitEventForUnboundDelayBindingClaim`.
pub(super) fn waiting_for(claim: &Object, runtime: &BinderRuntime) -> (&'static str, String) {
    let key = claim.key();
    let uses = |pod: &&Object| claims_of(pod).any(|own| own == key);
    let waits = |pod: &&Object| node_name(pod).is_none() && !is_finished(pod);
    let pods: Vec<Text> =
        runtime.cache(POD_CACHE).objects().filter(waits).filter(uses).map(|pod| Text::from(pod.name())).collect();
    match pods.as_slice() {
        [] => ("WaitForFirstConsumer", String::from("waiting for first consumer to be created before binding")),
        [one] => ("WaitForPodScheduled", format!("waiting for pod {one} to be scheduled")),
        many => {
            let names: Vec<&str> = many.iter().map(Text::as_str).collect();
            ("WaitForPodScheduled", format!("waiting for pods {} to be scheduled", names.join(",")))
        }
    }
}
