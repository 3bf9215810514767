//! Keeps the Endpoints of Services, which older clients read instead of EndpointSlices.
//!
//! Mirrors kube-controller-manager's `endpoints-controller` (pkg/controller/endpoint/endpoints_controller.go and
//! endpoints_tracker.go, v1.34). A Service is synced when it or one of its Pods changes, and when its Endpoints are
//! gone; the Endpoints of a Service that is gone are deleted, and at the start those without a Service.
//! Inputs: Services, Pods, Endpoints, answers, time. Outputs: Endpoints, Events.
//! Left out on purpose: `--endpoint-updates-batch-period`.

use alloc::collections::BTreeMap;
use alloc::format;

use jiff::Timestamp;

use super::endpoints::PortOrder;
use super::plan::is_headless;
use super::subsets::{is_too_large, subsets, truncate};
use super::tracker::{TriggerTimes, annotate};
use super::{HEADLESS, concerned, is_selective, selector_of};
use crate::components::Because;
use crate::components::client::CacheEvent;
use crate::components::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, code, failure, is_namespace_ending, object,
};
use crate::components::events::{EventType, InvolvedObject};
use crate::components::workload::pods::{Selections, labels};
use crate::json;
use crate::network::{Call, PODS, Resource, SERVICES, Verb};
use crate::objects::{Json, Object, ObjectKey};

const ENDPOINTS: Resource = Resource::of("", "v1", "endpoints");
/// Source: endpoints_controller.go (v1.34), `LabelManagedBy`, `ControllerName`.
const MANAGED_BY: (&str, &str) = ("endpoints.kubernetes.io/managed-by", "endpoint-controller");
/// The annotation of Endpoints that lack addresses, and its value.
/// Source: k8s.io/api core/v1/annotation_key_constants.go (v1.34), `EndpointsOverCapacity`; endpoints_controller.go,
/// `truncated`.
const OVER_CAPACITY: (&str, &str) = ("endpoints.kubernetes.io/over-capacity", "truncated");
/// Source: k8s.io/client-go tools/leaderelection/resourcelock/interface.go (v1.34),
/// `LeaderElectionRecordAnnotationKey`.
const LEADER: &str = "control-plane.alpha.kubernetes.io/leader";

const SERVICE_CACHE: usize = 0;
const POD_CACHE: usize = 1;
const ENDPOINTS_CACHE: usize = 2;

const CONFIG: ControllerConfig = ControllerConfig {
    queue: "endpoint",
    workers: 5,
    // Source: endpoints_controller.go (v1.34), `maxRetries`.
    retries: Retries { most: 15, ..Retries::ENDLESS },
    watched: &[Watched::of(SERVICES), Watched::of(PODS), Watched::of(ENDPOINTS)],
};

/// Starts the controller with empty caches.
pub(in crate::components) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let profile = context.settings.profile();
    let own = EndpointsObjects {
        order: PortOrder::of(profile),
        names_manager: profile.is("endpoints-name-their-manager"),
        ..EndpointsObjects::default()
    };
    KeyedController::new(own, &CONFIG, context, now)
}

/// What a request is for.
#[derive(Clone, Copy, Debug)]
enum EndpointsPurpose {
    Create,
    /// Endpoints of this revision are written again.
    Update(u64),
    Delete,
}

/// What the controller knows; it keeps the contract of [`Component`](crate::components::Component).
#[derive(Clone, Debug, Default)]
struct EndpointsObjects {
    order: PortOrder,
    /// Whether Endpoints have a label with who keeps them.
    names_manager: bool,
    /// Whether all caches had their first list.
    began: bool,
    pods: Selections,
    triggers: TriggerTimes,
    /// The revisions that were written over: a cache that still shows one lags behind.
    stale: BTreeMap<ObjectKey, u64>,
}

type EndpointsRuntime = KeyedRuntime<EndpointsPurpose>;

fn is_over_capacity(endpoints: &Json) -> bool {
    !endpoints.at(&["metadata", "annotations", OVER_CAPACITY.0]).is_null()
}

impl EndpointsObjects {
    /// Returns the labels of a Service's Endpoints.
    fn labels(&self, service: &Object) -> Json {
        let own = labels(service).clone();
        let mut own = if own.is_null() { Json::object() } else { own };
        own.remove(&[HEADLESS]);
        if is_headless(service) {
            own.set(&[HEADLESS], "");
        }
        if self.names_manager {
            own.set(&[MANAGED_BY.0], MANAGED_BY.1);
        }
        own
    }

    /// Tells whether labels are those of a Service; whether it is headless does not count.
    ///
    /// Source: endpoints_controller.go (v1.34), `labelsCorrectForEndpoints`; v1.31, `syncService`.
    fn has_labels(&self, endpoints: &Object, service: &Object) -> bool {
        let (own, wanted) = (labels(endpoints), labels(service));
        if self.names_manager && own.get(MANAGED_BY.0).as_str() != Some(MANAGED_BY.1) {
            return false;
        }
        let counts = |name: &str| name != HEADLESS && !(self.names_manager && name == MANAGED_BY.0);
        let mut counted = own.fields().filter(|(name, _)| counts(name.as_str()));
        counted.all(|(name, value)| wanted.get(name.as_str()) == value)
            && own.fields().filter(|(name, _)| counts(name.as_str())).count() == wanted.fields().count()
    }

    /// Writes the Endpoints of a Service, if they differ.
    fn write(&mut self, key: &ObjectKey, service: &Object, runtime: &mut EndpointsRuntime, now: Timestamp) -> Flow {
        let pods = || self.pods.of(key).filter_map(|pod| runtime.cache(POD_CACHE).get(pod));
        let mut wanted = subsets(service, pods(), self.order);
        let trigger = self.triggers.next(service, pods());
        let current = runtime.cache(ENDPOINTS_CACHE).get(key).cloned();
        if let Some(current) = &current {
            if self.stale.get(key) == Some(&current.resource_version()) {
                return Flow::Retry;
            }
            let shown = current.stable().get("subsets").items();
            if shown == wanted
                && self.has_labels(current, service)
                && !is_too_large(shown)
                && !is_over_capacity(current.stable())
            {
                return Flow::Done;
            }
        }
        let mut body = current.as_ref().map_or_else(
            || {
                json!({"kind": "Endpoints", "apiVersion": "v1",
                    "metadata": {"name": key.name.as_str(), "namespace": key.namespace.as_str()}})
            },
            Object::json,
        );
        if is_too_large(&wanted) {
            truncate(&mut wanted);
            body.set(&["metadata", "annotations", OVER_CAPACITY.0], OVER_CAPACITY.1);
        } else if is_over_capacity(&body) {
            body.remove(&["metadata", "annotations", OVER_CAPACITY.0]);
        }
        annotate(&mut body, trigger.as_ref());
        body.set(&["metadata", "labels"], self.labels(service));
        body.set(&["subsets"], wanted);
        let fact = Because::Fact(format!("the pods that Service {key} selects have changed"));
        let because = runtime.decide(format!("endpoints/{key}"), "write endpoints", [fact].into());
        let (verb, name, step) = match &current {
            None => (Verb::Create, "", EndpointsPurpose::Create),
            Some(current) => (Verb::Update, key.name.as_str(), EndpointsPurpose::Update(current.resource_version())),
        };
        let call = Call::new(verb, ENDPOINTS, &key.namespace, name).body(body);
        runtime.send(key, step, call, Some(because), now);
        Flow::Next
    }
}

/// Says that Endpoints could not be written.
fn tell(key: &ObjectKey, step: EndpointsPurpose, why: &str, runtime: &mut EndpointsRuntime, now: Timestamp) {
    let (reason, message) = match step {
        EndpointsPurpose::Create => {
            ("FailedToCreateEndpoint", format!("Failed to create endpoint for service {key}: {why}"))
        }
        EndpointsPurpose::Update(_) => ("FailedToUpdateEndpoint", format!("Failed to update endpoint {key}: {why}")),
        EndpointsPurpose::Delete => return,
    };
    // What was to be created has neither a namespace yet nor a UID.
    let fresh = || Object::new(json!({"metadata": {"name": key.name.as_str()}}), 0);
    let object = runtime.cache(ENDPOINTS_CACHE).get(key).cloned().unwrap_or_else(fresh);
    let about = InvolvedObject::object("v1", "Endpoints", &object);
    runtime.emit(&about, EventType::Warning, reason, &message, now);
}

impl Reconciler for EndpointsObjects {
    type Purpose = EndpointsPurpose;

    fn handle_event(&mut self, source: usize, event: &CacheEvent, runtime: &mut EndpointsRuntime, _: Timestamp) {
        let key = event.object().key();
        match source {
            SERVICE_CACHE => {
                match &event.after {
                    Some(service) => {
                        self.pods.put(key.clone(), selector_of(service), runtime.cache(POD_CACHE).objects());
                    }
                    None => self.pods.remove(&key),
                }
                runtime.add(key);
            }
            POD_CACHE => concerned(&mut self.pods, event).into_iter().for_each(|key| runtime.add(key)),
            _ => {
                let leads = |own: &Object| !own.stable().at(&["metadata", "annotations", LEADER]).is_null();
                if event.after.as_ref().is_none_or(|own| !self.began && !leads(own)) {
                    runtime.add(key);
                }
            }
        }
    }

    fn begin(&mut self, _: Timestamp) {
        self.began = true;
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut EndpointsRuntime, now: Timestamp) -> Flow {
        match runtime.cache(SERVICE_CACHE).get(key).cloned() {
            Some(service) if is_selective(&service) => self.write(key, &service, runtime, now),
            Some(_) => Flow::Done,
            None => {
                let call = Call::new(Verb::Delete, ENDPOINTS, &key.namespace, &key.name);
                runtime.send(key, EndpointsPurpose::Delete, call, None, now);
                Flow::Next
            }
        }
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        step: EndpointsPurpose,
        reply: &ApiResult,
        runtime: &mut EndpointsRuntime,
        now: Timestamp,
    ) -> Flow {
        match (step, failure(reply)) {
            (EndpointsPurpose::Delete, why) if why.is_none() || code(reply) == 404 => {
                self.triggers.forget(key);
                self.stale.remove(key);
            }
            (EndpointsPurpose::Create, Some(_)) if is_namespace_ending(reply) => {}
            (_, Some(why)) => {
                tell(key, step, &why, runtime, now);
                return Flow::Retry;
            }
            (EndpointsPurpose::Update(before), None) => {
                if object(reply).is_some_and(|made| made.resource_version() != before) {
                    self.stale.insert(key.clone(), before);
                }
            }
            (_, None) => {}
        }
        Flow::Done
    }
}
