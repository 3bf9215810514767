//! Keeps claims that Pods use, and volumes that are bound, until that is over: it takes their finalizers off.
//!
//! Mirrors kube-controller-manager's `persistentvolumeclaim-protection-controller` and
//! `persistentvolume-protection-controller` (pkg/controller/volume/{pvcprotection,pvprotection}, v1.34). Admission sets
//! the finalizers of new objects; an object without one gets it here. Inputs: claims and Pods, or volumes; answers.
//! Outputs: updates of finalizers. Left out on purpose: the live list of Pods before a claim is let go.

use alloc::vec::Vec;

use jiff::Timestamp;

use super::client::{CacheEvent, node_name};
use super::controller::{
    Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler, Retries, Watched,
};
use super::volumes::{CLAIM_FINALIZER, CLAIMS, VOLUME_FINALIZER, VOLUMES, claim_of, has_claims, is_finished};
use crate::network::{Call, PODS, Resource, Verb};
use crate::objects::lifecycle::{has_finalizer, is_ending};
use crate::objects::{Json, Object, ObjectKey};

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
struct Protection(Ward);

/// Starts the controller of claims with empty caches.
pub(super) fn start_claims(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    KeyedController::new(Protection(Ward::Claims), &OF_CLAIMS, context, now)
}

/// Starts the controller of volumes with empty caches.
pub(super) fn start_volumes(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    KeyedController::new(Protection(Ward::Volumes), &OF_VOLUMES, context, now)
}

impl Protection {
    fn is_used(&self, object: &Object, runtime: &KeyedRuntime<()>) -> bool {
        if self.0 == Ward::Volumes {
            return object.stable().at(&["status", "phase"]).as_str() == Some("Bound");
        }
        let key = object.key();
        runtime.cache(POD_CACHE).objects().any(|pod| {
            let own = pod.key();
            let volumes = pod.stable().at(&["spec", "volumes"]).items();
            node_name(pod).is_some()
                && volumes.iter().any(|volume| claim_of(&own, volume).is_some_and(|(claim, _)| claim == key))
        })
    }
}

impl Reconciler for Protection {
    type Purpose = ();

    fn handle_event(&mut self, source: usize, event: &CacheEvent, runtime: &mut KeyedRuntime<()>, _: Timestamp) {
        if source == OWN_CACHE {
            if let Some(object) = &event.after
                && is_ending(object) == has_finalizer(object, self.0.finalizer())
            {
                runtime.add(object.key());
            }
            return;
        }
        let pod = event.object();
        let is_over = event.after.is_none() || is_finished(pod) || node_name(pod).is_none();
        if is_over && has_claims(pod) {
            let key = pod.key();
            let volumes = pod.stable().at(&["spec", "volumes"]).items();
            volumes.iter().filter_map(|volume| claim_of(&key, volume)).for_each(|(claim, _)| runtime.add(claim));
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<()>, now: Timestamp) -> Flow {
        let Some(object) = runtime.cache(OWN_CACHE).get(key).cloned() else { return Flow::Done };
        let (leaves, has) = (is_ending(&object), has_finalizer(&object, self.0.finalizer()));
        if leaves != has || leaves && self.is_used(&object, runtime) {
            return Flow::Done;
        }
        let finalizer = self.0.finalizer();
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
        let call = Call::new(Verb::Update, self.0.resource(), key.namespace.clone(), key.name.clone()).body(body);
        runtime.send(key, (), call, None, now);
        Flow::Next
    }
}
