//! Keeps the EndpointSlices of Services.
//!
//! Mirrors kube-controller-manager's `endpointslice-controller`
//! (pkg/controller/endpointslice/endpointslice_controller.go and k8s.io/endpointslice reconciler.go, v1.34). A Service
//! is synced when it or one of its Pods changes, and a second after somebody else changed one of its slices; a change
//! of a Node alone starts no sync, unless endpoints are shared out over zones. Requests go one after the other; a sync
//! that left a Pod out, or failed, is made again after a growing pause.
//! Inputs: Services, Pods, Nodes, EndpointSlices, answers, time. Outputs: EndpointSlices, Events.
//! Invariant: a Service is not synced while the cache of slices lacks what was written for it.
//! Left out on purpose: Services without selector, mirroring of Endpoints.

mod endpoints;
mod endpoints_objects;
mod hints;
mod plan;
mod subsets;
mod topology;
mod tracker;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use self::endpoints::{Family, PortOrder};
pub(super) use self::endpoints_objects::start as start_endpoints;
use self::plan::SlicePlan;
use self::topology::Topology;
use self::tracker::{Generations, TriggerTimes};
use super::client::CacheEvent;
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, failure, is_namespace_ending, object,
};
use super::events::{EventType, InvolvedObject};
use super::workload::pods::{Selections, labels};
use super::{Because, DecisionId};
use crate::network::{Call, ENDPOINT_SLICES as SLICES, NODES, PODS, SERVICE_NAME, SERVICES, Verb};
use crate::objects::lifecycle::{is_ending, is_ready, is_terminal};
use crate::objects::{Json, Object, ObjectKey, Text, aggregate};
use crate::profile::Race;

/// Source: k8s.io/api discovery/v1/well_known_labels.go (v1.34), `LabelManagedBy`.
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
/// Source: endpointslice_controller.go (v1.34), `ControllerName`.
const MANAGER: &str = "endpointslice-controller.k8s.io";
/// Source: k8s.io/api core/v1/well_known_labels.go (v1.34), `IsHeadlessService`.
const HEADLESS: &str = "service.kubernetes.io/headless";
/// Pause before a Service is synced whose slice somebody else changed.
/// Source: endpointslice_controller.go (v1.34), `endpointSliceChangeMinSyncDelay`.
const SLICE_PAUSE: SignedDuration = SignedDuration::from_secs(1);
/// How long after the answer to a write the watch tells of it, if nothing holds it up: no constant of upstream, but
/// less than anything that upstream measures.
const WATCH_LAG: SignedDuration = SignedDuration::from_millis(1);

const SERVICE_CACHE: usize = 0;
const PODS_CACHE: usize = 1;
const NODE_CACHE: usize = 2;
const SLICE_CACHE: usize = 3;

const CONFIG: ControllerConfig = ControllerConfig {
    queue: "endpoint_slice",
    workers: 5,
    // Source: endpointslice_controller.go (v1.34), `defaultSyncBackOff` and `maxRetries`.
    retries: Retries { first: SignedDuration::from_secs(1), most: 15, ..Retries::ENDLESS },
    watched: &[Watched::of(SERVICES), Watched::of(PODS), Watched::of(NODES), Watched::of(SLICES)],
};

/// Starts the controller with empty caches.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let own = EndpointSlices {
        knows_nodes: context.settings.profile().is("endpoint-hints-name-nodes"),
        answers_late: context.settings.is_lost(Race::SliceBeforeAnswer),
        looks_early: context.settings.is_lost(Race::SyncBeforeSlice),
        most: most(context.settings.number("max-endpoints-per-slice")),
        order: PortOrder::of(context.settings.profile()),
        batch: context.settings.duration("endpointslice-updates-batch-period"),
        ..EndpointSlices::default()
    };
    KeyedController::new(own, &CONFIG, context, now)
}

/// Reads how many endpoints a slice may have.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 1000, as the flag says")]
const fn most(number: f64) -> usize {
    number as usize
}

/// What the controller knows; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug, Default)]
struct EndpointSlices {
    /// The most endpoints of a slice.
    most: usize,
    order: PortOrder,
    /// How long a Service waits for more changes of its pods.
    batch: SignedDuration,
    /// Whether a Service may wish that traffic stays on its node.
    knows_nodes: bool,
    /// Whether the watch tells of what is written here before the answer comes.
    answers_late: bool,
    /// Whether a second sync comes before the watch tells of what the first one wrote.
    looks_early: bool,
    pods: Selections,
    /// The pods that have not ended, among those selected: only they can be endpoints.
    alive: Selections,
    /// The slices of each Service, by their names.
    slices: BTreeMap<ObjectKey, BTreeSet<ObjectKey>>,
    written: Generations,
    triggers: TriggerTimes,
    topology: Topology,
    syncs: BTreeMap<ObjectKey, SliceSync>,
    /// When the last write for each Service was answered.
    answered: BTreeMap<ObjectKey, Timestamp>,
}

/// A sync under way.
#[derive(Clone, Debug)]
struct SliceSync {
    service: Object,
    left: VecDeque<SliceWrite>,
    /// The request that is not answered.
    current: Option<SliceWrite>,
    errors: Vec<String>,
}

/// A write of a slice.
#[derive(Clone, Debug)]
struct SliceWrite {
    /// The family of the plan that it belongs to; after an error the rest of the plan is dropped.
    family: Option<Family>,
    /// What is made or written.
    body: Json,
    /// What is deleted.
    gone: Option<Object>,
}

impl SliceWrite {
    fn name(&self) -> &str {
        self.gone.as_ref().map_or_else(|| self.body.at(&["metadata", "name"]).as_str().unwrap_or(""), Object::name)
    }

    fn verb(&self) -> Verb {
        match (&self.gone, self.name()) {
            (Some(_), _) => Verb::Delete,
            (None, "") => Verb::Create,
            (None, _) => Verb::Update,
        }
    }
}

fn is_managed(slice: &Object) -> bool {
    labels(slice).get(MANAGED_BY).as_str() == Some(MANAGER)
}

/// Returns the key of the Service that a slice names.
fn service_of(slice: &Object) -> Option<ObjectKey> {
    let name = labels(slice).get(SERVICE_NAME).as_text().filter(|name| !name.is_empty())?;
    Some(ObjectKey::namespaced(slice.key().namespace, name.clone()))
}

impl EndpointSlices {
    /// Follows a change of a slice, and has its Service synced if it was not made here.
    ///
    /// Source: endpointslice_controller.go (v1.34), `onEndpointSliceAdd`, `onEndpointSliceUpdate`,
    /// `onEndpointSliceDelete`.
    fn handle_slice(&mut self, event: &CacheEvent, runtime: &mut KeyedRuntime<()>, now: Timestamp) {
        let key = event.object().key();
        let own = |slice: &&Object| is_managed(slice);
        if let Some(service) = event.before.as_ref().filter(own).and_then(service_of)
            && let Some(slices) = self.slices.get_mut(&service)
        {
            slices.remove(&key);
            if slices.is_empty() {
                self.slices.remove(&service);
            }
        }
        if let Some(service) = event.after.as_ref().filter(own).and_then(service_of) {
            self.slices.entry(service).or_default().insert(key);
        }
        let service = |slice: &Option<Object>| slice.as_ref().and_then(service_of);
        let (before, after) = (service(&event.before), service(&event.after));
        let affected = match (&event.before, &event.after) {
            (Some(_), Some(_)) if before != after => [after, before],
            (Some(old), Some(new)) if is_managed(old) != is_managed(new) => [after, None],
            (_, Some(new)) => [after.filter(|key| is_managed(new) && self.written.is_news(key, new)), None],
            (Some(old), None) => [before.filter(|key| is_managed(old) && self.was_taken(key, old)), None],
            (None, None) => [None, None],
        };
        for key in affected.into_iter().flatten() {
            runtime.add_after(key, SLICE_PAUSE.max(self.batch), now);
        }
    }

    /// Tells whether a slice that is gone was written here and not deleted here.
    fn was_taken(&mut self, service: &ObjectKey, slice: &Object) -> bool {
        self.written.has(service, slice) && !self.written.gone(service, slice)
    }

    fn handle_service(&mut self, event: &CacheEvent, runtime: &mut KeyedRuntime<()>) {
        let key = event.object().key();
        if let Some(service) = &event.after {
            let by_labels = selector_of(service);
            let alive = runtime.cache(PODS_CACHE).objects().filter(|pod| !is_terminal(pod));
            self.alive.put(key.clone(), by_labels.clone(), alive);
            self.pods.put(key.clone(), by_labels, runtime.cache(PODS_CACHE).objects());
        } else {
            self.pods.remove(&key);
            self.alive.remove(&key);
        }
        runtime.add(key);
    }

    /// Plans what is written for a Service.
    ///
    /// Source: k8s.io/endpointslice reconciler.go (v1.34), `Reconcile`.
    fn plan(&mut self, service: Object, slices: Vec<Object>, runtime: &mut KeyedRuntime<()>, now: Timestamp) {
        let key = service.key();
        let selected = self.pods.of(&key).filter_map(|pod| runtime.cache(PODS_CACHE).get(pod));
        let trigger = self.triggers.next(&service, selected);
        let families = Family::of(&service);
        let family_of = |slice: &Object| {
            let kind = slice.stable().get("addressType").as_str();
            families.iter().copied().find(|family| kind == Some(family.name()))
        };
        let mut sync = SliceSync { service, left: VecDeque::new(), current: None, errors: Vec::new() };
        for family in families.iter().copied() {
            let own = slices.iter().filter(|slice| family_of(slice) == Some(family)).cloned().collect();
            let mut plan = self.plan_family(&mut sync, family, own, runtime, now);
            plan.finish(&sync.service);
            for mut body in plan.create.into_iter().chain(plan.update) {
                tracker::annotate(&mut body, trigger.as_ref());
                sync.left.push_back(SliceWrite { family: Some(family), body, gone: None });
            }
            let deletion = |slice| SliceWrite { family: Some(family), body: Json::Null, gone: Some(slice) };
            sync.left.extend(plan.delete.into_iter().map(deletion));
        }
        for slice in slices.iter().filter(|slice| family_of(slice).is_none()) {
            for family in [Family::Ipv4, Family::Ipv6] {
                if slice.stable().get("addressType").as_str() == Some(family.name()) {
                    self.topology.forget(&key, family);
                }
            }
            sync.left.push_back(SliceWrite { family: None, body: Json::Null, gone: Some(slice.clone()) });
        }
        self.syncs.insert(key, sync);
    }

    /// Plans what is written for the addresses of one family.
    ///
    /// Source: k8s.io/endpointslice reconciler.go (v1.34), `reconcileByAddressType`.
    fn plan_family(
        &mut self,
        sync: &mut SliceSync,
        family: Family,
        slices: Vec<Object>,
        runtime: &mut KeyedRuntime<()>,
        now: Timestamp,
    ) -> SlicePlan {
        let service = &sync.service;
        let key = service.key();
        let alive = self.alive.of(&key).filter_map(|pod| runtime.cache(PODS_CACHE).get(pod));
        let node = |name: &Text| runtime.cache(NODE_CACHE).cache().get("", name);
        let (groups, skipped) = endpoints::groups(service, (family, self.order), alive, node);
        sync.errors.extend(skipped);
        let mut plan = SlicePlan::new(service, family, slices, groups, self.most);
        let distribution = service.stable().at(&["spec", "trafficDistribution"]).as_str();
        let word = if topology::is_wanted(service) {
            self.topology.add(&key, family, &mut plan, runtime.cache(NODE_CACHE).objects())
        } else {
            match distribution.filter(|wish| hints::is_known(wish, self.knows_nodes)) {
                Some(wish) => hints::follow(wish, &mut plan),
                None => hints::remove(&mut plan),
            }
            self.topology.disable(&key, family)
        };
        if let Some(word) = word {
            let about = InvolvedObject::object("v1", "Service", service);
            runtime.emit(&about, word.kind, word.reason, &word.message, now);
        }
        plan
    }

    /// Sends the next request of a sync; false if there is none.
    fn send_next(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<()>, now: Timestamp) -> bool {
        let Some(sync) = self.syncs.get_mut(key) else { return false };
        let Some(write) = sync.left.pop_front() else { return false };
        let call = Call::new(write.verb(), SLICES, &key.namespace, write.name());
        let call = if write.gone.is_some() { call } else { call.body(write.body.clone()) };
        let because = decide(key, write.name(), runtime);
        sync.current = Some(write);
        runtime.send(key, (), call, Some(because), now);
        true
    }

    /// Ends a sync; it is made again if anything failed.
    fn end(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<()>, now: Timestamp) -> Flow {
        let Some(SliceSync { service, errors, .. }) = self.syncs.remove(key) else { return Flow::Done };
        let Some(why) = aggregate(errors) else { return Flow::Done };
        let message = format!("Error updating Endpoint Slices for Service {}/{}: {why}", key.namespace, key.name);
        let about = InvolvedObject::object("v1", "Service", &service);
        runtime.emit(&about, EventType::Warning, "FailedToUpdateEndpointSlices", &message, now);
        Flow::Retry
    }
}

fn decide(key: &ObjectKey, slice: &str, runtime: &mut KeyedRuntime<()>) -> DecisionId {
    let fact = Vec::from([Because::Fact(format!("the pods that Service {key} selects have changed"))]);
    let shown = if slice.is_empty() { format!("{}-", key.name) } else { String::from(slice) };
    runtime.decide(format!("endpointslice/{}/{shown}", key.namespace), "write endpoints", fact)
}

/// Says that a write failed; `None` if it is given up, as its namespace is ending.
///
/// Source: k8s.io/endpointslice reconciler.go (v1.34), `finalize` and the end of `Reconcile`.
fn failed(write: &SliceWrite, service: &ObjectKey, error: &str, reply: &ApiResult) -> Option<String> {
    let (slice, service) = (write.name(), format!("{}/{}", service.namespace, service.name));
    match write.verb() {
        Verb::Create if is_namespace_ending(reply) => None,
        Verb::Create => Some(format!("failed to create EndpointSlice for Service {service}: {error}")),
        Verb::Delete if write.family.is_none() => {
            Some(format!("error deleting {slice} EndpointSlice for Service {service}: {error}"))
        }
        Verb::Delete => Some(format!("failed to delete {slice} EndpointSlice for Service {service}: {error}")),
        _ => Some(format!("failed to update {slice} EndpointSlice for Service {service}: {error}")),
    }
}

/// Returns the labels that a Service selects, as a selector; nothing for a Service without.
fn selector_of(service: &Object) -> Json {
    let selector = service.stable().at(&["spec", "selector"]);
    let mut by_labels = Json::Null;
    if !selector.is_empty() {
        by_labels.set(&["matchLabels"], selector.clone());
    }
    by_labels
}

/// Tells whether a Service gets endpoints from its selector.
fn is_selective(service: &Object) -> bool {
    let spec = service.stable().get("spec");
    !spec.get("selector").is_empty() && spec.get("type").as_str() != Some("ExternalName")
}

/// Applies a change of a pod; returns the Services whose endpoints it may change.
///
/// Source: k8s.io/endpointslice util/controller_utils.go (v1.34), `GetServicesToUpdateOnPodChange`.
fn concerned(pods: &mut Selections, event: &CacheEvent) -> Vec<ObjectKey> {
    let pod = event.object().key();
    let mut keys = pods.update(event);
    keys.retain(|key| {
        let had = event.before.as_ref().is_some_and(|before| pods.would_have(key, before));
        had != pods.has(key, &pod) || moves_endpoints(event)
    });
    keys
}

/// Tells whether a change of a pod may change endpoints: readiness, addresses, anything once it is being deleted; its
/// phase does not count. Source: k8s.io/endpointslice util/controller_utils.go (v1.34), `podEndpointsChanged`.
fn moves_endpoints(event: &CacheEvent) -> bool {
    let (Some(before), Some(after)) = (&event.before, &event.after) else { return true };
    let addresses = |pod: &Object| pod.stable().at(&["status", "podIPs"]).clone();
    is_ending(after) || is_ready(before) != is_ready(after) || addresses(before) != addresses(after)
}

impl Reconciler for EndpointSlices {
    type Purpose = ();

    fn handle_event(&mut self, source: usize, event: &CacheEvent, runtime: &mut KeyedRuntime<()>, now: Timestamp) {
        match source {
            SERVICE_CACHE => self.handle_service(event, runtime),
            PODS_CACHE => {
                self.alive.update_those(event, |pod| !is_terminal(pod));
                for key in concerned(&mut self.pods, event) {
                    if self.batch > SignedDuration::ZERO {
                        runtime.add_after(key, self.batch, now);
                    } else {
                        runtime.add(key);
                    }
                }
            }
            NODE_CACHE => {
                for key in self.topology.handle_node(event, runtime.cache(NODE_CACHE).objects()) {
                    runtime.add(key);
                }
            }
            _ => self.handle_slice(event, runtime, now),
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<()>, now: Timestamp) -> Flow {
        let Some(service) = runtime.cache(SERVICE_CACHE).get(key).cloned() else {
            self.triggers.forget(key);
            self.written.forget(key);
            self.answered.remove(key);
            return Flow::Done;
        };
        if !is_selective(&service) {
            return Flow::Done;
        }
        let own = self.slices.get(key).into_iter().flatten();
        let slices = own.filter_map(|slice| runtime.cache(SLICE_CACHE).get(slice).cloned());
        let slices: Vec<Object> = slices.filter(|slice| !is_ending(slice)).collect();
        if self.written.is_ahead_of(key, &slices) {
            if self.looks_early || self.answered.get(key).is_none_or(|at| now - WATCH_LAG >= *at) {
                return Flow::Retry;
            }
            runtime.add_after(key.clone(), WATCH_LAG, now);
            return Flow::Later;
        }
        self.plan(service, slices, runtime, now);
        Flow::Next
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        (): (),
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<()>,
        now: Timestamp,
    ) -> Flow {
        let Some(sync) = self.syncs.get_mut(key) else { return Flow::Done };
        let Some(write) = sync.current.take() else { return Flow::Next };
        self.answered.insert(key.clone(), now);
        if self.answers_late && failure(reply).is_none() {
            runtime.add_after(key.clone(), SLICE_PAUSE, now);
        }
        match (failure(reply), &write.gone, object(reply)) {
            (Some(error), _, _) => {
                sync.errors.extend(failed(&write, key, &error, reply));
                if write.family.is_some() {
                    sync.left.retain(|other| other.family != write.family);
                }
            }
            (None, Some(gone), _) => self.written.deleted(key.clone(), gone),
            (None, None, Some(slice)) => self.written.wrote(key.clone(), &slice),
            (None, None, None) => {}
        }
        Flow::Next
    }

    fn proceed(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<()>, now: Timestamp) -> Flow {
        if self.send_next(key, runtime, now) { Flow::Next } else { self.end(key, runtime, now) }
    }
}
