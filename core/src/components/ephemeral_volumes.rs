//! Makes the claims of Pods that have volumes of their own.
//!
//! Mirrors kube-controller-manager's `ephemeral-volume-controller` (pkg/controller/volume/ephemeral/controller.go,
//! v1.34). A Pod is looked at when it appears, and when a claim that it uses is gone; its claims are made one after the
//! other, and belong to it, so that the garbage collector takes them. Inputs: Pods, claims, answers, time. Outputs:
//! claims, Events. Invariant: a claim of the same name that is not the Pod's is left alone.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::Because;
use super::client::CacheEvent;
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, failure,
};
use super::events::{EventType, InvolvedObject};
use super::volumes::{CLAIMS, claim_of, claims_of};
use super::workload::pods::{is_controlled_by, reference_to};
use crate::json;
use crate::network::{Call, PODS, Verb};
use crate::objects::lifecycle::is_ending;
use crate::objects::{Json, Object, ObjectKey};

const POD_CACHE: usize = 0;
const CLAIM_CACHE: usize = 1;

const CONFIG: ControllerConfig = ControllerConfig {
    queue: "ephemeral_volume",
    workers: 5,
    retries: Retries::ENDLESS,
    watched: &[Watched::of(PODS), Watched::of(CLAIMS)],
};

/// Starts the controller with empty caches.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    KeyedController::new(EphemeralVolumes::default(), &CONFIG, context, now)
}

/// What the controller knows: how many volumes of a Pod were looked at in the sync under way. It keeps the contract of
/// [`Component`](super::Component).
#[derive(Clone, Debug, Default)]
struct EphemeralVolumes {
    seen: BTreeMap<ObjectKey, usize>,
}

fn volumes(pod: &Object) -> &[Json] {
    pod.stable().at(&["spec", "volumes"]).items()
}

/// Queues a Pod that has such volumes, unless it is being deleted.
fn queue(pod: &Object, runtime: &mut KeyedRuntime<()>) {
    if !is_ending(pod) && volumes(pod).iter().any(|volume| !volume.get("ephemeral").is_null()) {
        runtime.add(pod.key());
    }
}

/// Makes the claim of a Pod's volume.
fn claim(pod: &Object, key: &ObjectKey, volume: &Json) -> Json {
    let template = volume.at(&["ephemeral", "volumeClaimTemplate"]);
    let mut claim = json!({"kind": "PersistentVolumeClaim", "apiVersion": "v1",
        "metadata": {"name": key.name.as_str(), "namespace": key.namespace.as_str()}});
    for field in ["labels", "annotations"] {
        let value = template.at(&["metadata", field]);
        if !value.is_empty() {
            claim.set(&["metadata", field], value.clone());
        }
    }
    claim.set(&["metadata", "ownerReferences"], Json::array(Vec::from([reference_to(pod, "v1", "Pod")])));
    claim.set(&["spec"], template.get("spec").clone());
    claim
}

/// Ends a sync with an Event; the Pod is looked at again after a pause.
fn fail(pod: &Object, volume: &Json, why: &str, runtime: &mut KeyedRuntime<()>, now: Timestamp) -> Flow {
    let message = format!("ephemeral volume {}: {why}", volume.get("name").as_str().unwrap_or(""));
    let about = InvolvedObject::object("v1", "Pod", pod);
    runtime.emit(&about, EventType::Warning, "FailedBinding", &message, now);
    Flow::Retry
}

impl Reconciler for EphemeralVolumes {
    type Purpose = ();

    fn handle_event(&mut self, source: usize, event: &CacheEvent, runtime: &mut KeyedRuntime<()>, _: Timestamp) {
        match (source, &event.before, &event.after) {
            (POD_CACHE, None, Some(pod)) => queue(pod, runtime),
            (CLAIM_CACHE, Some(claim), None) => {
                let gone = claim.key();
                let uses = |pod: &&Object| claims_of(pod).any(|own| own == gone);
                let users: Vec<Object> = runtime.cache(POD_CACHE).objects().filter(uses).cloned().collect();
                users.iter().for_each(|pod| queue(pod, runtime));
            }
            _ => {}
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<()>, now: Timestamp) -> Flow {
        self.seen.remove(key);
        self.proceed(key, runtime, now)
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        (): (),
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<()>,
        now: Timestamp,
    ) -> Flow {
        let Some(why) = failure(reply) else { return Flow::Next };
        let Some(pod) = runtime.cache(POD_CACHE).get(key).cloned() else { return Flow::Retry };
        let asked = self.seen.remove(key).and_then(|seen| volumes(&pod).get(seen.checked_sub(1)?)).cloned();
        let volume = asked.unwrap_or_default();
        let name = claim_of(key, &volume).map(|(claim, _)| claim.name).unwrap_or_default();
        fail(&pod, &volume, &format!("create PVC {name}: {why}"), runtime, now)
    }

    /// Looks at the volumes in turn, up to one whose claim is to be made.
    fn proceed(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<()>, now: Timestamp) -> Flow {
        let seen = self.seen.remove(key).unwrap_or(0);
        let Some(pod) = runtime.cache(POD_CACHE).get(key).filter(|pod| !is_ending(pod)).cloned() else {
            return Flow::Done;
        };
        for (at, volume) in volumes(&pod).iter().enumerate().skip(seen) {
            let Some((name, true)) = claim_of(key, volume) else { continue };
            if let Some(own) = runtime.cache(CLAIM_CACHE).get(&name) {
                if is_controlled_by(own, &pod) {
                    continue;
                }
                // Source: k8s.io/component-helpers storage/ephemeral/ephemeral.go (v1.34), `VolumeIsForPod`.
                let why = format!("PVC {name} was not created for pod {key} (pod is not owner)");
                return fail(&pod, volume, &why, runtime, now);
            }
            let fact = Because::Fact(String::from("a volume of the Pod is to have a claim of its own"));
            let because = runtime.decide(format!("persistentvolumeclaim/{name}"), "create", [fact].into());
            let call = Call::new(Verb::Create, CLAIMS, &name.namespace, "").body(claim(&pod, &name, volume));
            self.seen.insert(key.clone(), at + 1);
            runtime.send(key, (), call, Some(because), now);
            return Flow::Next;
        }
        Flow::Done
    }
}
