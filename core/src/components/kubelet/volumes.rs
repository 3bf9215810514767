//! The volumes of a node's pods: which it uses, and when a pod may start with them.
//!
//! Mirrors pkg/kubelet/volumemanager and the verification in pkg/volume/util/operationexecutor (v1.34). A pod's claims
//! and volumes are looked up; a volume that has to be attached is listed in `volumesInUse`, and the pod waits until the
//! Node lists it there and in `volumesAttached` and its VolumeAttachment says so. A pod that has ended gives its
//! volumes back. Inputs: pods, answers, the cached Node, status reports. Outputs: reads, Events, the list for the
//! status. Invariant: a pod without claims costs nothing here. Left out on purpose: that mounting fails, and how
//! drivers are installed: every machine has them all.

mod sources;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use self::sources::SourceMounts;
use super::events::EventType;
use super::{ApiResult, Kubelet, KubeletContext, Purpose, failure};
use crate::components::Because;
use crate::components::volumes::{
    ATTACHMENTS, CLAIMS, CsiVolume, DRIVERS, VOLUMES, attaches, attachment_name, claim_of, csi_volume, has_claims,
};
use crate::network::{Call, Verb};
use crate::objects::{Json, Object, ObjectKey, Text};

/// How often a pod that waits looks at its volumes. Source: volume_manager.go (v1.34),
/// `podAttachAndMountRetryInterval`.
const LOOK_PERIOD: SignedDuration = SignedDuration::from_millis(300);
/// How long a sync of a pod waits for its volumes. Source: volume_manager.go (v1.34), `podAttachAndMountTimeout`.
const WAIT_MAX: SignedDuration = SignedDuration::from_secs(123);
/// From an attached volume to a mounted one: a round that verifies it and one that mounts it.
/// Source: volume_manager.go (v1.34), `reconcilerLoopSleepPeriod`.
const MOUNT_TAKES: SignedDuration = SignedDuration::from_millis(200);
/// The pause after a mount that failed. Source: pkg/util/goroutinemap/exponentialbackoff (v1.34),
/// `initialDurationBeforeRetry`, doubled each time.
const MOUNT_PAUSE: SignedDuration = SignedDuration::from_millis(500);
/// The longest such pause. Source: as [`MOUNT_PAUSE`], `maxDurationBeforeRetry`.
const MOUNT_PAUSE_MAX: SignedDuration = SignedDuration::from_secs(122);

/// What an answer about a pod's volumes is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum VolumePurpose {
    Claim,
    Volume,
    Driver,
    /// Whether volumes that are waited for have to be attached still.
    Reconsider,
    Attachment,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum VolumeStage {
    /// Claims and volumes are looked up.
    LookUp,
    /// Node and controller have to agree.
    Wait,
    /// The attachments are read.
    Verify,
    /// All are mounted.
    Mounted,
}

/// The volumes of one pod.
#[derive(Clone, Debug)]
struct PodVolumes {
    key: ObjectKey,
    stage: VolumeStage,
    /// What is still to be looked up: name in the pod, and claim.
    left: Vec<(Text, ObjectKey)>,
    /// The uid of the claim that is looked up.
    claim: Text,
    /// The volumes that have to be attached.
    attachable: Vec<CsiVolume>,
    /// The one whose driver is looked up.
    candidate: Option<CsiVolume>,
    /// How many attachments were verified.
    verified: usize,
    /// When the sync that waits began.
    since: Timestamp,
    /// When the pod may go on; `None` while it waits.
    ready_at: Option<Timestamp>,
    /// Until when nothing is tried after a mount that failed, and the next pause.
    pause: SignedDuration,
    paused_until: Option<Timestamp>,
}

/// The volumes of all pods.
#[derive(Clone, Debug, Default)]
pub(super) struct Volumes {
    pods: BTreeMap<Text, PodVolumes>,
    sources: BTreeMap<Text, SourceMounts>,
    /// What the Node was told last to be in use.
    reported: BTreeSet<Text>,
    /// Whether what the pods use is known since the start of the process.
    is_synced: bool,
}

impl Volumes {
    /// Returns when a paused pod is tried again.
    fn next_retry(&self) -> Option<Timestamp> {
        self.pods.values().filter_map(|own| own.paused_until).min()
    }

    fn is_waiting(&self) -> bool {
        self.pods.values().any(|own| own.stage == VolumeStage::Wait)
    }
}

impl Kubelet {
    /// Tells whether a pod's volumes are mounted; starts what is missing for that.
    pub(super) fn has_volumes(&mut self, uid: &Text, context: &mut KubeletContext<'_>) -> bool {
        let Some(pod) = self.pods.object(uid).filter(|pod| has_claims(pod)).cloned() else { return true };
        let now = context.now;
        match self.volumes.pods.get_mut(uid) {
            None => {
                let key = pod.key();
                let volumes = pod.stable().at(&["spec", "volumes"]).items();
                let left = volumes.iter().filter_map(|volume| {
                    let name = volume.get("name").as_text().cloned().unwrap_or_default();
                    claim_of(&key, volume).map(|(claim, _)| (name, claim))
                });
                let own = PodVolumes {
                    left: left.collect(),
                    key,
                    stage: VolumeStage::LookUp,
                    claim: Text::of(""),
                    attachable: Vec::new(),
                    candidate: None,
                    verified: 0,
                    since: now,
                    ready_at: None,
                    pause: MOUNT_PAUSE,
                    paused_until: None,
                };
                self.volumes.pods.insert(uid.clone(), own);
                self.look_up(uid, context);
                false
            }
            Some(own) if own.ready_at.is_some_and(|at| at <= now) => true,
            Some(own) => {
                // The pod's worker comes here again after the pause of a sync that failed.
                if now.duration_since(own.since) >= WAIT_MAX {
                    own.since = now;
                    if own.stage == VolumeStage::Mounted {
                        return true;
                    }
                    // Upstream's cache of drivers tells at once that a volume need not be attached any more.
                    let drivers: BTreeSet<Text> = own.attachable.iter().map(|volume| volume.driver.clone()).collect();
                    for driver in drivers {
                        let call = Call::new(Verb::Get, DRIVERS, "", driver);
                        self.call(call, Purpose::Volume(uid.clone(), VolumePurpose::Reconsider), context);
                    }
                }
                self.wait_for_volumes(uid, now);
                false
            }
        }
    }

    /// Lets a pod's worker come back when the sync has waited long enough.
    fn wait_for_volumes(&mut self, uid: &Text, now: Timestamp) {
        let Some(own) = self.volumes.pods.get(uid) else { return };
        let at = own.ready_at.unwrap_or(own.since + WAIT_MAX);
        if at > now {
            self.pods.wake_at(uid, at);
        }
    }

    /// Tells whether the sync of a pod has waited for its volumes long enough and pauses now.
    pub(super) fn gives_up_on_volumes(&self, uid: &Text, now: Timestamp) -> bool {
        let claims = self.volumes.pods.get(uid).is_some_and(|own| {
            own.ready_at.is_none() && own.stage != VolumeStage::LookUp && now == own.since + WAIT_MAX
        });
        claims || self.volumes.sources.get(uid).is_some_and(|own| own.is_given_up(now))
    }

    /// Looks up the next claim of a pod.
    fn look_up(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(own) = self.volumes.pods.get_mut(uid) else { return };
        if let Some((_, claim)) = own.left.last().cloned() {
            let call = Call::new(Verb::Get, CLAIMS, claim.namespace, claim.name);
            self.call(call, Purpose::Volume(uid.clone(), VolumePurpose::Claim), context);
            return;
        }
        own.stage = VolumeStage::Wait;
        if !own.attachable.is_empty() {
            self.generation += 1;
        }
        self.wait_for_volumes(uid, context.now);
        self.settle_pods(context);
        self.volumes_changed(context);
    }

    /// Takes an answer.
    pub(super) fn handle_volume(
        &mut self,
        uid: &Text,
        step: VolumePurpose,
        outcome: ApiResult,
        context: &mut KubeletContext<'_>,
    ) {
        let Some(own) = self.volumes.pods.get_mut(uid) else { return };
        let error = failure(&outcome);
        let code = outcome.as_ref().map_or(0, |answer| answer.code);
        let found = outcome.ok().and_then(|answer| answer.as_object().cloned()).filter(|_| error.is_none());
        let error = error.unwrap_or_default();
        match (step, found) {
            (VolumePurpose::Claim, Some(claim)) => match usable(&claim) {
                Ok(volume) => {
                    own.claim = Text::from(claim.uid());
                    let call = Call::new(Verb::Get, VOLUMES, "", volume);
                    self.call(call, Purpose::Volume(uid.clone(), VolumePurpose::Volume), context);
                }
                Err(why) => self.fail_to_look_up(uid, why, context),
            },
            (VolumePurpose::Claim, None) => {
                self.fail_to_look_up(uid, &format!("failed to fetch PVC from API server: {error}"), context);
            }
            (VolumePurpose::Volume, Some(volume)) => self.take_volume(uid, &volume, context),
            (VolumePurpose::Volume, None) => {
                self.fail_to_look_up(uid, &format!("failed to fetch PV from API server: {error}"), context);
            }
            (VolumePurpose::Driver, found) if found.is_some() || code == 404 => {
                if attaches(found.as_ref()) {
                    own.attachable.extend(own.candidate.take());
                }
                own.left.pop();
                self.look_up(uid, context);
            }
            (VolumePurpose::Driver, _) => self.fail_to_look_up(uid, &error, context),
            (VolumePurpose::Reconsider, found) => self.reconsider(uid, found.as_ref(), context),
            (VolumePurpose::Attachment, found) => self.verified(uid, found.as_ref(), &error, context),
        }
    }

    /// Lets a pod that waits go on without the volumes that need not be attached any more.
    ///
    /// Source: populator/desired_state_of_world_populator.go (v1.34), `findAndRemoveDeletedPods`.
    fn reconsider(&mut self, uid: &Text, driver: Option<&Object>, context: &mut KubeletContext<'_>) {
        let own = self.volumes.pods.get_mut(uid).filter(|own| own.stage == VolumeStage::Wait);
        if let (Some(own), Some(driver)) = (own, driver.filter(|driver| !attaches(Some(driver)))) {
            own.attachable.retain(|volume| volume.driver != driver.name());
            self.generation += 1;
            self.volumes_changed(context);
        }
    }

    fn take_volume(&mut self, uid: &Text, volume: &Object, context: &mut KubeletContext<'_>) {
        let Some(own) = self.volumes.pods.get_mut(uid) else { return };
        let reference = volume.stable().at(&["spec", "claimRef"]);
        let named = reference.get("uid").as_str().unwrap_or("");
        let name = volume.name();
        if reference.is_null() {
            let why = format!(
                "found PV object {name} but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim"
            );
            return self.fail_to_look_up(uid, &why, context);
        }
        if named != own.claim.as_str() {
            let claim = &own.claim;
            let why = format!(
                "found PV object {name} but its pv.Spec.ClaimRef.UID {named} does not point to claim.UID {claim}"
            );
            return self.fail_to_look_up(uid, &why, context);
        }
        match csi_volume(volume) {
            Some(csi) => {
                let call = Call::new(Verb::Get, DRIVERS, "", csi.driver.clone());
                own.candidate = Some(csi);
                self.call(call, Purpose::Volume(uid.clone(), VolumePurpose::Driver), context);
            }
            None => {
                own.left.pop();
                self.look_up(uid, context);
            }
        }
    }

    /// Ends the sync of a pod whose volumes cannot be found out.
    fn fail_to_look_up(&mut self, uid: &Text, why: &str, context: &mut KubeletContext<'_>) {
        let Some(own) = self.volumes.pods.remove(uid) else { return };
        let (name, claim) = own.left.last().cloned().unwrap_or_default();
        let message = format!(
            "Unable to attach or mount volumes: unmounted volumes=[{name}], unattached volumes=[], failed to process \
             volumes=[{name}]: error processing PVC {}/{}: {why}",
            claim.namespace, claim.name
        );
        if let Some(pod) = self.pods.object(uid).cloned() {
            self.pod_event(&pod, None, (EventType::Warning, "FailedMount", message), context);
        }
        self.retry_pod_later(uid, context.now);
    }

    /// Looks whether pods that wait may go on, after the Node or a report has changed.
    pub(super) fn volumes_changed(&mut self, context: &mut KubeletContext<'_>) {
        if !self.volumes.is_waiting() {
            return;
        }
        let attached: BTreeSet<Text> = self.cached_node().map(|node| listed(node.stable())).unwrap_or_default();
        let reported = &self.volumes.reported;
        let is_here = |volume: &CsiVolume| attached.contains(&volume.unique) && reported.contains(&volume.unique);
        let may_go_on = |own: &PodVolumes| {
            own.stage == VolumeStage::Wait
                && own.paused_until.is_none_or(|until| until <= context.now)
                && own.attachable.iter().all(is_here)
        };
        let ready: Vec<Text> =
            self.volumes.pods.iter().filter(|(_, own)| may_go_on(own)).map(|(uid, _)| uid.clone()).collect();
        for uid in ready {
            if let Some(own) = self.volumes.pods.get_mut(&uid) {
                own.stage = VolumeStage::Verify;
                (own.verified, own.paused_until) = (0, None);
            }
            self.verify_next(&uid, context);
        }
    }

    /// Reads the next attachment of a pod, or lets the pod go on.
    fn verify_next(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let node = self.config.node_name.clone();
        let Some(own) = self.volumes.pods.get_mut(uid) else { return };
        if let Some(volume) = own.attachable.get(own.verified) {
            let name = attachment_name(&volume.handle, &volume.driver, &node);
            let call = Call::new(Verb::Get, ATTACHMENTS, "", name);
            self.call(call, Purpose::Volume(uid.clone(), VolumePurpose::Attachment), context);
            return;
        }
        own.stage = VolumeStage::Mounted;
        let takes = if own.attachable.is_empty() { SignedDuration::ZERO } else { MOUNT_TAKES };
        let at = look_after(own.since, context.now + takes);
        let pauses = context.now.duration_since(own.since) >= WAIT_MAX;
        own.ready_at = Some(if pauses { context.now } else { at });
        let names: Vec<&str> = own.attachable.iter().map(|volume| volume.name.as_str()).collect();
        if !names.is_empty() {
            let what = format!("volumes mounted: {}", names.join(", "));
            let fact = String::from("the Node lists them in status.volumesInUse and status.volumesAttached");
            let about = Text::from(format!("pod/{}", own.key));
            context.outbox.decide(about, what, Vec::from([Because::Fact(fact)]));
        }
        // The next sync finds the volumes mounted, if the last one has failed.
        if !pauses {
            self.pods.wake_at(uid, at);
        }
        self.settle_pods(context);
    }

    fn verified(&mut self, uid: &Text, found: Option<&Object>, error: &str, context: &mut KubeletContext<'_>) {
        let node = self.config.node_name.clone();
        let Some(own) = self.volumes.pods.get_mut(uid) else { return };
        let Some(volume) = own.attachable.get(own.verified).cloned() else { return };
        let name = attachment_name(&volume.handle, &volume.driver, &node);
        let handle = &volume.handle;
        let why = match found.map(Object::stable) {
            None => Some(format!("volume {handle} has GET error for volume attachment {name}: {error}")),
            Some(own) if !own.at(&["metadata", "deletionTimestamp"]).is_null() => {
                Some(String::from("volume attachment is being deleted"))
            }
            Some(own) if own.at(&["status", "attached"]).as_bool() == Some(true) => None,
            Some(own) => match own.at(&["status", "attachError", "message"]).as_str() {
                Some(error) => Some(String::from(error)),
                None => Some(format!("volume {handle} is not attached for volume attachment {name}")),
            },
        };
        let Some(why) = why else {
            own.verified += 1;
            self.verify_next(uid, context);
            return;
        };
        own.stage = VolumeStage::Wait;
        own.paused_until = Some(context.now + own.pause);
        own.pause = (own.pause * 2).min(MOUNT_PAUSE_MAX);
        let message = format!("MountVolume.WaitForAttach failed for volume \"{}\" : {why}", volume.name);
        if let Some(pod) = self.pods.object(uid).cloned() {
            self.pod_event(&pod, None, (EventType::Warning, "FailedMount", message), context);
        }
        self.plan_volumes();
    }

    /// Sets the timer for pods whose mount failed.
    fn plan_volumes(&mut self) {
        match self.volumes.next_retry() {
            Some(at) => self.set(super::Timer::Volumes, at),
            None => self.clear(super::Timer::Volumes),
        }
    }

    /// Tries the pods again whose pause is over.
    pub(super) fn retry_volumes(&mut self, context: &mut KubeletContext<'_>) {
        self.volumes_changed(context);
        for own in self.volumes.pods.values_mut().filter(|own| own.paused_until.is_some_and(|at| at <= context.now)) {
            own.paused_until = None;
        }
        self.plan_volumes();
    }

    /// Takes a pod's volumes back: it runs nothing any more.
    pub(super) fn release_volumes(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        self.volumes.sources.remove(uid);
        self.objects.release(uid, context.outbox);
        if self.volumes.pods.remove(uid).is_some_and(|own| !own.attachable.is_empty()) {
            self.generation += 1;
        }
    }

    /// Sets the volumes in use; what the Node says stays until the pods are known.
    ///
    /// Source: pkg/kubelet/nodestatus/setters.go (v1.34), `VolumesInUse`.
    pub(super) fn set_volumes_in_use(&mut self, node: &mut Json) {
        let looks_up = self.volumes.pods.values().any(|own| own.stage == VolumeStage::LookUp);
        self.volumes.is_synced |= self.pods.is_known() && !looks_up;
        if !self.volumes.is_synced {
            return;
        }
        let used = self.volumes.pods.values().flat_map(|own| &own.attachable).map(|volume| volume.unique.clone());
        let used: BTreeSet<Text> = used.collect();
        if used.is_empty() {
            node.remove(&["status", "volumesInUse"]);
        } else {
            node.set(&["status", "volumesInUse"], used.iter().map(Json::from).collect::<Json>());
        }
    }

    /// Notes what the Node says to be in use, after a status tick.
    pub(super) fn note_volumes_in_use(&mut self, node: &Json, context: &mut KubeletContext<'_>) {
        let list = node.at(&["status", "volumesInUse"]).items();
        if list.is_empty() && self.volumes.reported.is_empty() {
            return;
        }
        self.volumes.reported = list.iter().filter_map(|name| name.as_text().cloned()).collect();
        self.volumes_changed(context);
    }
}

/// Returns `volumesAttached` of a Node.
fn listed(node: &Json) -> BTreeSet<Text> {
    let list = node.at(&["status", "volumesAttached"]).items().iter();
    list.filter_map(|volume| volume.get("name").as_text().cloned()).collect()
}

/// Returns the volume of a claim that can be used.
///
/// Source: populator/desired_state_of_world_populator.go (v1.34), `getPVCExtractPV`.
fn usable(claim: &Object) -> Result<Text, &'static str> {
    let tree = claim.stable();
    if tree.at(&["status", "phase"]).as_str() != Some("Bound") {
        return Err("PVC is not bound");
    }
    let volume = tree.at(&["spec", "volumeName"]).as_text().filter(|name| !name.is_empty());
    volume.cloned().ok_or("PVC has empty pvc.Spec.VolumeName")
}

/// Returns the first look of a waiting sync at or after an instant.
fn look_after(since: Timestamp, instant: Timestamp) -> Timestamp {
    let period = LOOK_PERIOD.as_nanos();
    let nanos = instant.duration_since(since).as_nanos().max(0);
    let looks = nanos.div_euclid(period) + i128::from(nanos.rem_euclid(period) > 0);
    since + SignedDuration::from_nanos(i64::try_from(looks * period).unwrap_or(0))
}
