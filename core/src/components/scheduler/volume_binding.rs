//! How the volumes of a Pod are bound before the Pod is, and what is done when they are not in time.
//!
//! Mirrors pkg/scheduler/framework/plugins/volumebinding/binder.go (v1.34), `BindPodVolumes`. Inputs: the plan for the
//! chosen node, answers, time. Outputs: writes of volumes and claims, and the binding or the end of the attempt.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::informers::CLAIM_CACHE;
use super::queue::Queued;
use super::volumes::VolumePlan;
use super::writes::Write;
use super::{Reason, Scheduler};
use crate::components::DecisionId;
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
    claims: Vec<ObjectKey>,
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
        let claims = plan.bindings.iter().map(|(_, claim)| claim).chain(&plan.provisions).map(Object::key).collect();
        writes.reverse();
        let wait = VolumeWait { queued, node, because, writes, claims, since: now, look_at: None };
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

    fn give_up_volumes(&mut self, wait: VolumeWait, why: &str, now: Timestamp) {
        self.promised.retain(|_, claim| !wait.claims.contains(claim));
        let pod = wait.queued.pod.clone();
        if self.assumed.remove(&pod.key).is_none() {
            return;
        }
        self.cluster.remove_pod(&pod.key);
        self.retry(Reason::PodGone(&pod), None, now);
        self.fail_binding(wait.queued, format!("running PreBind plugin \"VolumeBinding\": {why}"), now);
    }

    /// Looks at the claims of Pods that are being bound.
    ///
    /// Source: binder.go (v1.34), `checkBindings`.
    pub(super) fn look_at_volumes(&mut self, now: Timestamp) {
        let is_due = |wait: &VolumeWait| wait.look_at.is_some_and(|at| at <= now);
        let (due, others) = core::mem::take(&mut self.waiting_for_volumes).into_iter().partition(is_due);
        self.waiting_for_volumes = others;
        let due: Vec<VolumeWait> = due;
        for mut wait in due {
            let claims = self.runtime.cache(CLAIM_CACHE);
            let gone = wait.claims.iter().find(|key| claims.get(key).is_none());
            let is_bound = |key: &ObjectKey| {
                claims.get(key).is_some_and(|claim| {
                    let tree = claim.stable();
                    !tree.at(&["spec", "volumeName"]).as_str().unwrap_or("").is_empty()
                        && !tree.at(&["metadata", "annotations", BIND_COMPLETED]).is_null()
                })
            };
            if let Some(key) = gone {
                let why = format!(
                    "binding volumes: failed to check binding: could not find v1.PersistentVolumeClaim \"{key}\""
                );
                self.give_up_volumes(wait, &why, now);
            } else if !self.assumed.contains_key(&wait.queued.pod.key) {
                self.promised.retain(|_, claim| !wait.claims.contains(claim));
            } else if wait.claims.iter().all(is_bound) {
                self.promised.retain(|_, claim| !wait.claims.contains(claim));
                self.bind(wait.queued, wait.node, wait.because, now);
            } else if now.duration_since(wait.since) >= BIND_MAX {
                self.give_up_volumes(wait, "binding volumes: context deadline exceeded", now);
            } else {
                wait.look_at = Some(now + LOOK_PERIOD);
                self.waiting_for_volumes.push(wait);
            }
        }
    }
}
