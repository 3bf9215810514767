//! How the volumes of a Pod are bound before the Pod is, and what is done when they are not in time.
//!
//! Mirrors pkg/scheduler/framework/plugins/volumebinding/binder.go (v1.34), `BindPodVolumes`. Inputs: the plan for the
//! chosen node, answers, time. Outputs: writes of volumes and claims, and the binding or the end of the attempt.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::Scheduler;
use super::cache::PodInfo;
use super::informers::{CLAIM_CACHE, NODE_CACHE, POD_CACHE, VOLUME_CACHE};
use super::queue::Queued;
use super::volumes::VolumePlan;
use super::writes::Write;
use crate::components::DecisionId;
use crate::components::node_affinity::matches_volume;
use crate::components::volume_matching::named_volume;
use crate::components::volumes::{BIND_COMPLETED, CLAIMS, SELECTED_NODE, VOLUMES};
use crate::network::{Call, Verb};
use crate::objects::{Object, ObjectKey, Text};

/// How often a Pod that is being bound looks whether its claims are. Source: binder.go (v1.34), `BindPodVolumes`.
const LOOK_PERIOD: SignedDuration = SignedDuration::from_secs(1);
/// How long that is waited for. Source: pkg/scheduler/apis/config/v1/defaults.go (v1.34), `VolumeBindingArgs`.
const BIND_MAX: SignedDuration = SignedDuration::from_secs(600);

/// A Pod that has a node and waits for its claims.
#[derive(Clone, Debug)]
pub(super) struct VolumeWait {
    queued: Queued,
    node: Text,
    because: DecisionId,
    /// What is still to be written.
    writes: Vec<Call>,
    /// Volumes with the claims that they are for.
    bindings: Vec<(Text, ObjectKey)>,
    /// Claims for which a volume is made.
    provisions: Vec<ObjectKey>,
    since: Timestamp,
    /// When the claims are looked at next; `None` while something is written.
    pub(super) look_at: Option<Timestamp>,
}

impl Scheduler {
    /// Writes what binds a Pod's claims, and then waits for that.
    pub(super) fn bind_volumes(
        &mut self,
        (queued, node, because): (Queued, Text, DecisionId),
        plan: &VolumePlan,
        now: Timestamp,
    ) {
        let mut writes = Vec::new();
        for (volume, claim) in &plan.bindings {
            self.promised.insert(Text::from(volume.name()), claim.key());
            if let Some(body) = named_volume(volume, claim) {
                writes.push(Call::new(Verb::Update, VOLUMES, "", Text::from(volume.name())).body(body));
            }
        }
        for claim in &plan.provisions {
            let key = claim.key();
            let mut body = claim.json();
            body.set(&["metadata", "annotations", SELECTED_NODE], &*node);
            writes.push(Call::new(Verb::Update, CLAIMS, key.namespace, key.name).body(body));
        }
        let bindings = plan.bindings.iter().map(|(volume, claim)| (Text::from(volume.name()), claim.key())).collect();
        let provisions = plan.provisions.iter().map(Object::key).collect();
        writes.reverse();
        let wait = VolumeWait { queued, node, because, writes, bindings, provisions, since: now, look_at: None };
        self.go_on_with_volumes(wait, now);
    }

    /// Sends the next write of a Pod that is being bound, or waits.
    fn go_on_with_volumes(&mut self, mut wait: VolumeWait, now: Timestamp) {
        match wait.writes.pop() {
            Some(call) => {
                let id = self.runtime.send(call, Some(wait.because), now);
                self.under_way.insert(id, Write::Volumes(wait));
            }
            None => {
                (wait.since, wait.look_at) = (now, Some(now + LOOK_PERIOD));
                self.waiting_for_volumes.push(wait);
            }
        }
    }

    /// Takes the answer to a write.
    pub(super) fn wrote_volumes(&mut self, wait: VolumeWait, refusal: Option<String>, now: Timestamp) {
        match refusal {
            None => self.go_on_with_volumes(wait, now),
            Some(why) => self.give_up_volumes(wait, &why, now),
        }
    }

    /// Takes back that a Pod's volumes are being bound, if they are.
    pub(super) fn take_volumes(&mut self, pod: &PodInfo) -> Option<VolumeWait> {
        let is_its = |wait: &VolumeWait| wait.queued.pod.object.uid() == pod.object.uid();
        if let Some(at) = self.waiting_for_volumes.iter().position(is_its) {
            return Some(self.waiting_for_volumes.remove(at));
        }
        let id = self.under_way.iter().find(|(_, write)| matches!(write, Write::Volumes(wait) if is_its(wait)));
        match self.under_way.remove(&id.map(|(id, _)| *id)?) {
            Some(Write::Volumes(wait)) => Some(wait),
            _ => None,
        }
    }

    pub(super) fn give_up_volumes(&mut self, wait: VolumeWait, why: &str, now: Timestamp) {
        self.forget_promises(&wait);
        let pod = wait.queued.pod.clone();
        self.forget_assumed(&pod, now);
        self.fail_binding(wait.queued, format!("running PreBind plugin \"VolumeBinding\": {why}"), now);
    }

    fn forget_promises(&mut self, wait: &VolumeWait) {
        self.promised.retain(|_, claim| wait.bindings.iter().all(|(_, own)| own != claim));
    }

    /// Tells whether a Pod or its volumes are being bound.
    pub(super) fn is_being_bound(&self, pod: &ObjectKey) -> bool {
        let written = self.under_way.values().filter_map(|write| match write {
            Write::Volumes(wait) => Some(&wait.queued),
            Write::Binding(binding) => Some(&binding.queued),
            _ => None,
        });
        let waiting = self.waiting_for_volumes.iter().map(|wait| &wait.queued);
        let failed = self.failed_bindings.iter().map(|binding| &binding.queued);
        written.chain(waiting).chain(failed).any(|queued| queued.pod.key == *pod)
    }

    /// Looks at the claims of Pods that are being bound.
    pub(super) fn look_at_volumes(&mut self, now: Timestamp) {
        let is_due = |wait: &VolumeWait| wait.look_at.is_some_and(|at| at <= now);
        let (due, others) = core::mem::take(&mut self.waiting_for_volumes).into_iter().partition(is_due);
        self.waiting_for_volumes = others;
        let due: Vec<VolumeWait> = due;
        for mut wait in due {
            match self.are_bound(&wait) {
                Err(why) => self.give_up_volumes(wait, &format!("binding volumes: {why}"), now),
                Ok(true) => {
                    self.forget_promises(&wait);
                    self.bind(wait.queued, wait.node, wait.because, now);
                }
                Ok(false) if now.duration_since(wait.since) >= BIND_MAX => {
                    self.give_up_volumes(wait, "binding volumes: context deadline exceeded", now);
                }
                Ok(false) => {
                    wait.look_at = Some(now + LOOK_PERIOD);
                    self.waiting_for_volumes.push(wait);
                }
            }
        }
    }

    /// Tells whether all claims of a Pod are bound, or why they will not be.
    ///
    /// Source: binder.go (v1.34), `checkBindings`; errors of pkg/scheduler/util/assumecache (v1.34).
    fn are_bound(&self, wait: &VolumeWait) -> Result<bool, String> {
        let (name, pod) = (&wait.node, &wait.queued.pod.key);
        let Some(node) = self.runtime.cache(NODE_CACHE).get(&ObjectKey::cluster(name.clone())) else {
            return Err(format!("failed to get node \"{name}\": node \"{name}\" not found"));
        };
        if self.runtime.cache(POD_CACHE).get(pod).is_none() {
            return Err(format!("pod does not exist any more: pod \"{}\" not found", pod.name));
        }
        let volume = |volume: &Text| self.runtime.cache(VOLUME_CACHE).get(&ObjectKey::cluster(volume.clone()));
        let claim = |key: &ObjectKey| {
            let found = self.runtime.cache(CLAIM_CACHE).get(key);
            found.ok_or_else(|| format!("could not find v1.PersistentVolumeClaim \"{key}\""))
        };
        let reaches = |volume: &Object| {
            let matches = matches_volume(volume.stable().get("spec"), node.stable());
            let why = || {
                let volume = volume.name();
                format!("pv \"{volume}\" node affinity doesn't match node \"{name}\": no matching NodeSelectorTerms")
            };
            matches.then_some(()).ok_or_else(why)
        };
        for (own, key) in &wait.bindings {
            let missing = || format!("failed to check binding: could not find v1.PersistentVolume \"{own}\"");
            let own = volume(own).ok_or_else(missing)?;
            let claim = claim(key).map_err(|why| format!("failed to check binding: {why}"))?;
            reaches(own)?;
            if own.stable().at(&["spec", "claimRef", "uid"]).as_str().unwrap_or("").is_empty() {
                return Err(format!("ClaimRef got reset for pv \"{}\"", own.name()));
            }
            if !is_bound(claim) {
                return Ok(false);
            }
        }
        for key in &wait.provisions {
            let claim = claim(key).map_err(|why| format!("failed to check provisioning pvc: {why}"))?;
            let annotations = claim.stable().at(&["metadata", "annotations"]);
            if annotations.is_empty() {
                return Err(format!("selectedNode annotation reset for PVC \"{}\"", key.name));
            }
            if annotations.get(SELECTED_NODE).as_text() != Some(name) {
                return Err(format!("provisioning failed for PVC \"{}\"", key.name));
            }
            if let Some(own) = claim.stable().at(&["spec", "volumeName"]).as_text().filter(|own| !own.is_empty()) {
                let Some(own) = volume(own) else { return Ok(false) };
                reaches(own)?;
            }
            if !is_bound(claim) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Source: binder.go (v1.34), `isPVCFullyBound`.
fn is_bound(claim: &Object) -> bool {
    let tree = claim.stable();
    !tree.at(&["spec", "volumeName"]).as_str().unwrap_or("").is_empty()
        && !tree.at(&["metadata", "annotations", BIND_COMPLETED]).is_null()
}
