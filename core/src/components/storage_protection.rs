//! Keeps claims that Pods use, and volumes that are bound, until that is over: it takes their finalizers off. From 1.37
//! on a claim says in a condition whether a Pod uses it.
//!
//! Mirrors kube-controller-manager's `persistentvolumeclaim-protection-controller` and
//! `persistentvolume-protection-controller` (pkg/controller/volume/{pvcprotection,pvprotection}, v1.34, v1.37).
//! Admission sets the finalizers of new objects; an object without one gets it here. Inputs: claims and Pods, or
//! volumes; answers.
//! Outputs: updates of finalizers and conditions. Left out on purpose: the live list of Pods before a claim counts as
//! unused.

use alloc::vec::Vec;

use jiff::Timestamp;

use super::client::{CacheEvent, node_name};
use super::controller::{
    Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler, Retries, Watched,
};
use super::volumes::{
    CLAIM_FINALIZER, CLAIMS, ClaimUsers, VOLUME_FINALIZER, VOLUMES, claim_of, claims_of, has_claims, is_finished,
};
use super::workload::pods::is_controlled_by;
use crate::json;
use crate::network::{Call, PODS, Resource, Verb};
use crate::objects::lifecycle::{condition, has_finalizer, is_ending};
use crate::objects::time::to_time;
use crate::objects::{Json, Object, ObjectKey};

/// The type of the condition that says whether a claim is used. Source: k8s.io/api core/v1/types.go (v1.37),
/// `PersistentVolumeClaimUnused`.
const UNUSED: &str = "Unused";

const OWN_CACHE: usize = 0;
const POD_CACHE: usize = 1;

const OF_CLAIMS: ControllerConfig = ControllerConfig {
    queue: "pvcprotection",
    workers: 1,
    retries: Retries::ENDLESS,
    watched: &[Watched::of(CLAIMS), Watched::of(PODS)],
};
const OF_VOLUMES: ControllerConfig =
    ControllerConfig { queue: "pvprotection", workers: 1, retries: Retries::ENDLESS, watched: &[Watched::of(VOLUMES)] };

/// Which of the two kinds is protected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ward {
    Claims,
    Volumes,
}

impl Ward {
    const fn finalizer(self) -> &'static str {
        match self {
            Self::Claims => CLAIM_FINALIZER,
            Self::Volumes => VOLUME_FINALIZER,
        }
    }

    const fn resource(self) -> Resource {
        match self {
            Self::Claims => CLAIMS,
            Self::Volumes => VOLUMES,
        }
    }
}

/// One of the two controllers; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
struct Protection {
    ward: Ward,
    /// Whether claims say in a condition whether a Pod uses them.
    tells_use: bool,
    users: ClaimUsers,
}

/// Starts the controller of claims with empty caches.
pub(super) fn start_claims(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let tells_use = context.settings.profile().is("claims-tell-whether-they-are-used");
    let own = Protection { ward: Ward::Claims, tells_use, users: ClaimUsers::default() };
    KeyedController::new(own, &OF_CLAIMS, context, now)
}

/// Starts the controller of volumes with empty caches.
pub(super) fn start_volumes(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let own = Protection { ward: Ward::Volumes, tells_use: false, users: ClaimUsers::default() };
    KeyedController::new(own, &OF_VOLUMES, context, now)
}

impl Protection {
    fn is_used(&self, object: &Object, runtime: &KeyedRuntime<()>) -> bool {
        if self.ward == Ward::Volumes {
            return object.stable().at(&["status", "phase"]).as_str() == Some("Bound");
        }
        self.users_of(object, runtime).any(|pod| uses(pod, object))
    }

    /// Returns the Pods that name a claim.
    fn users_of<'a>(&'a self, claim: &Object, runtime: &'a KeyedRuntime<()>) -> impl Iterator<Item = &'a Object> {
        self.users.of(&claim.key()).filter_map(|pod| runtime.cache(POD_CACHE).get(pod))
    }

    /// Returns the claim with the condition that says whether a Pod uses it; `None` if it says so already.
    ///
    /// Source: pvc_protection_controller.go (v1.37), `processPVC`, `updateUnusedCondition`.
    fn with_use_told(&self, claim: &Object, runtime: &KeyedRuntime<()>, now: Timestamp) -> Option<Json> {
        let is_bound = claim.stable().at(&["status", "phase"]).as_str() == Some("Bound");
        if !self.tells_use || !is_bound || is_ending(claim) {
            return None;
        }
        let is_used = self.users_of(claim, runtime).any(|pod| !is_finished(pod) && names(pod, claim, || true));
        let (status, reason, message) = if is_used {
            ("False", "PodUsingPVC", "A pod is currently referencing this PVC")
        } else {
            ("True", "NoPodsUsingPVC", "No pods are currently referencing this PVC")
        };
        let told = condition(claim, UNUSED).get("status").as_str();
        if told.is_some() && is_used != (told == Some("True")) {
            return None;
        }
        let mut body = claim.json();
        let conditions = body.entry(&["status", "conditions"]).make_array();
        let unused = json!({"type": UNUSED, "status": status, "reason": reason, "message": message,
            "lastTransitionTime": to_time(now)});
        match conditions.iter_mut().find(|own| own.get("type").as_str() == Some(UNUSED)) {
            Some(own) => *own = unused,
            None => conditions.push(unused),
        }
        Some(body)
    }
}

/// Tells whether a Pod names a claim, or needs one that was made for one of its volumes.
fn names(pod: &Object, claim: &Object, needs_own: impl Fn() -> bool) -> bool {
    let (own, key) = (pod.key(), claim.key());
    let is_for_pod = || is_controlled_by(claim, pod);
    let mut volumes = pod.stable().at(&["spec", "volumes"]).items().iter();
    volumes.any(|volume| {
        claim_of(&own, volume)
            .is_some_and(|(named, is_ephemeral)| named == key && (!is_ephemeral || is_for_pod() && needs_own()))
    })
}

/// Tells whether a Pod uses a claim: it has a node, and a claim that was made for a Pod is its own and is needed until
/// the Pod has come to its end.
///
/// Source: pvc_protection_controller.go (v1.34), `podUsesPVC` and `podIsShutDown`; k8s.io/component-helpers
/// storage/ephemeral/ephemeral.go, `VolumeIsForPod`.
fn uses(pod: &Object, claim: &Object) -> bool {
    let is_over = || is_ending(pod) && pod.stable().at(&["metadata", "deletionGracePeriodSeconds"]).as_i64() == Some(0);
    node_name(pod).is_some() && names(pod, claim, || !is_over())
}

/// Queues the claims of a Pod.
fn look_at_claims(pod: &Object, runtime: &mut KeyedRuntime<()>) {
    claims_of(pod).for_each(|claim| runtime.add(claim));
}

impl Reconciler for Protection {
    type Purpose = ();

    fn handle_event(&mut self, source: usize, event: &CacheEvent, runtime: &mut KeyedRuntime<()>, _: Timestamp) {
        if source == OWN_CACHE {
            if let Some(object) = &event.after
                && (is_ending(object) == has_finalizer(object, self.ward.finalizer())
                    || self.tells_use && condition(object, UNUSED).is_null())
            {
                runtime.add(object.key());
            }
            return;
        }
        let pod = event.object();
        self.users.update(event.before.as_ref(), event.after.as_ref());
        let is_over = event.after.is_none() || is_finished(pod) || node_name(pod).is_none();
        if (is_over || self.tells_use) && has_claims(pod) {
            look_at_claims(pod, runtime);
        }
        // A list may show a Pod of the same name in place of one whose deletion was missed.
        if let Some(before) = event.before.as_ref().filter(|before| before.uid() != pod.uid() && has_claims(before)) {
            look_at_claims(before, runtime);
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<()>, now: Timestamp) -> Flow {
        let Some(object) = runtime.cache(OWN_CACHE).get(key).cloned() else { return Flow::Done };
        if let Some(body) = self.with_use_told(&object, runtime, now) {
            let call = Call::new(Verb::Update, CLAIMS, key.namespace.clone(), key.name.clone());
            runtime.send(key, (), call.subresource("status").body(body), None, now);
            return Flow::Next;
        }
        let (leaves, has) = (is_ending(&object), has_finalizer(&object, self.ward.finalizer()));
        if leaves != has || leaves && self.is_used(&object, runtime) {
            return Flow::Done;
        }
        let finalizer = self.ward.finalizer();
        let mut list: Vec<Json> = object.stable().at(&["metadata", "finalizers"]).items().to_vec();
        if leaves {
            list.retain(|item| item.as_str() != Some(finalizer));
        } else {
            list.push(Json::from(finalizer));
        }
        let mut body = object.json();
        if list.is_empty() {
            body.remove(&["metadata", "finalizers"]);
        } else {
            body.set(&["metadata", "finalizers"], list);
        }
        let call = Call::new(Verb::Update, self.ward.resource(), key.namespace.clone(), key.name.clone()).body(body);
        runtime.send(key, (), call, None, now);
        Flow::Next
    }
}

#[cfg(test)]
mod tests {
    use super::uses;
    use crate::json;
    use crate::objects::{Json, Object};

    fn pod(uid: &str, volume: Json, node: Option<&str>) -> Object {
        let mut pod = json!({"metadata": {"name": "p", "namespace": "ns", "uid": uid}});
        pod.set(&["spec", "volumes"], Json::array([volume].into()));
        if let Some(node) = node {
            pod.set(&["spec", "nodeName"], node);
        }
        Object::new(pod, 1)
    }

    #[test]
    fn a_claim_is_used_by_a_pod_with_a_node_and_one_made_for_a_pod_by_its_own_alone() {
        let own = json!([{"kind": "Pod", "name": "p", "uid": "u", "controller": true}]);
        let claim = json!({"metadata": {"name": "p-data", "namespace": "ns", "ownerReferences": own}});
        let claim = Object::new(claim, 1);
        let named = json!({"name": "data", "persistentVolumeClaim": {"claimName": "p-data"}});
        let made = json!({"name": "data", "ephemeral": {}});
        for (uid, volume, node, expected) in [
            ("v", &named, Some("w1"), true),
            ("v", &named, None, false),
            ("u", &made, Some("w1"), true),
            ("v", &made, Some("w1"), false),
            ("u", &json!({"name": "other", "ephemeral": {}}), Some("w1"), false),
        ] {
            assert_eq!(uses(&pod(uid, volume.clone(), node), &claim), expected, "{uid} {volume} {node:?}");
        }
        let mut ends = pod("u", made, Some("w1")).json();
        ends.set(&["metadata", "deletionTimestamp"], "2026-01-01T00:00:00Z");
        for (grace, expected) in [(30, true), (0, false)] {
            ends.set(&["metadata", "deletionGracePeriodSeconds"], grace);
            assert_eq!(uses(&Object::new(ends.clone(), 1), &claim), expected, "{grace}");
        }
    }
}
