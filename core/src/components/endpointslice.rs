//! Keeps the EndpointSlices of Services, as far as they depend on nodes.
//!
//! Mirrors kube-controller-manager's `endpointslice-controller`
//! (pkg/controller/endpointslice/endpointslice_controller.go and k8s.io/endpointslice {reconciler,utils}.go, v1.34). An
//! endpoint is ready while its pod is Ready and not being deleted; it names the pod's node and that node's zone. A pod
//! whose Node is gone is left out, and the sync is retried; a change of a Node alone starts no sync.
//! Inputs: Services, Pods, Nodes, EndpointSlices, answers, time. Outputs: EndpointSlices, Events.
//! Left out on purpose: topology hints, IPv6 and dual stack, ports by name, Services without selector, mirroring of
//! Endpoints, and the packing of slices beyond filling the first that has room.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::Because;
use super::client::{CacheEvent, node_name};
use super::controller::{
    Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler, Retries, Watched,
};
use super::events::{EventType, InvolvedObject};
use super::workload::pods::{Selections, labels, reference_to};
use crate::json;
use crate::network::{Call, ENDPOINT_SLICES as SLICES, NODES, PODS, SERVICE_NAME, SERVICES, Verb};
use crate::objects::lifecycle::{condition, is_ending, is_ready, is_terminal};
use crate::objects::{Json, Object, ObjectKey, Text};

/// Source: k8s.io/api discovery/v1/well_known_labels.go (v1.34), `LabelManagedBy`.
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
/// Source: endpointslice_controller.go (v1.34), `ControllerName`.
const MANAGER: &str = "endpointslice-controller.k8s.io";
/// Source: k8s.io/api core/v1/annotation_key_constants.go (v1.34), `EndpointsLastChangeTriggerTime`.
const TRIGGER_TIME: &str = "endpoints.kubernetes.io/last-change-trigger-time";
/// Source: k8s.io/api core/v1/well_known_labels.go (v1.34), `LabelTopologyZone`.
const ZONE: &str = "topology.kubernetes.io/zone";
/// Endpoints of one slice. Source: pkg/controller/endpointslice/config/v1alpha1/defaults.go (v1.34).
const SLICE_MOST: usize = 100;

const SERVICE_CACHE: usize = 0;
const PODS_CACHE: usize = 1;
const NODE_CACHE: usize = 2;
const SLICE_CACHE: usize = 3;

const CONFIG: ControllerConfig = ControllerConfig {
    queue: "endpoint_slice",
    workers: 5,
    // Source: endpointslice_controller.go (v1.34), `defaultSyncBackOff` and `maxRetries`.
    retries: Retries { first: SignedDuration::from_secs(1), most: 15 },
    watched: &[Watched::of(SERVICES), Watched::of(PODS), Watched::of(NODES), Watched::of(SLICES)],
};

/// Starts the controller with empty caches.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    KeyedController::new(EndpointSlices::default(), &CONFIG, context, now)
}

/// What the controller knows; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug, Default)]
struct EndpointSlices {
    pods: Selections,
    /// The pods that have not ended, among those selected: only they can be endpoints.
    alive: Selections,
    /// The pods of each Service that have changed since its last sync.
    changed: BTreeMap<ObjectKey, BTreeSet<ObjectKey>>,
    /// The slices of each Service, by their names.
    slices: BTreeMap<ObjectKey, Vec<ObjectKey>>,
    /// When the Ready condition of each endpoint's pod last changed, as far as the slices already show it.
    triggers: BTreeMap<ObjectKey, BTreeMap<Text, Text>>,
}

/// Returns the key of the Service that a slice belongs to, if it is one of this controller's.
fn service_of(slice: &Object) -> Option<ObjectKey> {
    let marks = labels(slice);
    let own = marks.get(MANAGED_BY).as_str() == Some(MANAGER);
    let name = marks.get(SERVICE_NAME).as_text().filter(|_| own)?;
    Some(ObjectKey::namespaced(slice.key().namespace, name.clone()))
}

fn address(pod: &Object) -> Option<&Text> {
    let status = pod.stable().get("status");
    let first = status.get("podIPs").items().first().map(|one| one.get("ip"));
    first.unwrap_or_else(|| status.get("podIP")).as_text().filter(|ip| !ip.is_empty())
}

impl EndpointSlices {
    fn handle_slice(&mut self, event: &CacheEvent, runtime: &mut KeyedRuntime<()>) {
        let Some(service) = service_of(event.object()) else { return };
        let key = event.object().key();
        let own = self.slices.entry(service.clone()).or_default();
        own.retain(|other| *other != key);
        if event.after.is_some() {
            own.push(key);
            own.sort();
        } else {
            if own.is_empty() {
                self.slices.remove(&service);
            }
            runtime.add(service);
        }
    }

    /// Returns the endpoints of a Service by their pods, and the pods that were left out.
    fn endpoints(&self, service: &Object, runtime: &KeyedRuntime<()>) -> (Vec<(Text, Json)>, Vec<String>) {
        let key = service.key();
        let publishes = service.stable().at(&["spec", "publishNotReadyAddresses"]).as_bool() == Some(true);
        let (mut found, mut skipped) = (Vec::new(), Vec::new());
        for pod in self.alive.of(&key).filter_map(|pod| runtime.cache(PODS_CACHE).get(pod)) {
            let Some(ip) = address(pod) else { continue };
            let node = node_name(pod).and_then(|name| runtime.cache(NODE_CACHE).get(&ObjectKey::cluster(name.clone())));
            if node.is_none()
                && let Some(name) = node_name(pod).filter(|_| !publishes)
            {
                let service = format!("{}/{}", key.namespace, key.name);
                skipped.push(format!("skipping Pod {} for Service {service}: Node {name} Not Found", pod.name()));
                continue;
            }
            let serving = is_ready(pod);
            let ready = publishes || (serving && !is_ending(pod));
            let mut endpoint = json!({"addresses": [ip.as_str()],
                "conditions": {"ready": ready, "serving": serving, "terminating": is_ending(pod)}});
            let spec = pod.stable().get("spec");
            if !spec.get("hostname").is_empty() && spec.get("subdomain").as_str() == Some(service.name()) {
                endpoint.set(&["hostname"], spec.get("hostname").clone());
            }
            endpoint.set(
                &["targetRef"],
                json!({"kind": "Pod", "namespace": key.namespace.as_str(), "name": pod.name(), "uid": pod.uid()}),
            );
            if let Some(name) = node_name(pod) {
                endpoint.set(&["nodeName"], name);
            }
            if let Some(zone) = node.map(|node| labels(node).get(ZONE)).filter(|zone| !zone.is_empty()) {
                endpoint.set(&["zone"], zone.clone());
            }
            found.push((Text::from(pod.uid()), endpoint));
        }
        (found, skipped)
    }

    /// Returns the trigger time: the first change of a pod that no slice shows yet.
    fn trigger(&mut self, service: &Object, runtime: &KeyedRuntime<()>) -> Option<Text> {
        let key = service.key();
        let is_new = !self.triggers.contains_key(&key);
        let changed = self.changed.remove(&key).unwrap_or_default();
        let known = self.triggers.entry(key.clone()).or_default();
        let mut first: Option<Text> = None;
        let mut note = |at: &Text| {
            if first.as_ref().is_none_or(|first| **at < **first) {
                first = Some(at.clone());
            }
        };
        let created = service.stable().at(&["metadata", "creationTimestamp"]).as_text();
        if let Some(at) = created.filter(|_| is_new) {
            note(at);
        }
        for pod in changed {
            let object = runtime.cache(PODS_CACHE).get(&pod).filter(|_| self.pods.has(&key, &pod));
            let since = object.map(|object| condition(object, "Ready").get("lastTransitionTime"));
            let Some(at) = since.and_then(Json::as_text) else {
                known.remove(&pod.name);
                continue;
            };
            if known.get(&pod.name).is_none_or(|before| **before < **at) {
                note(at);
            }
            known.insert(pod.name, at.clone());
        }
        first
    }

    /// Distributes the endpoints over the existing slices and new ones.
    fn reconcile(
        &self,
        service: &Object,
        mut wanted: Vec<(Text, Json)>,
        trigger: Option<&Text>,
        runtime: &mut KeyedRuntime<()>,
        now: Timestamp,
    ) {
        let key = service.key();
        let ports: Json = service
            .stable()
            .at(&["spec", "ports"])
            .items()
            .iter()
            .map(|port| {
                let target = port.get("targetPort").as_i64().or_else(|| port.get("port").as_i64()).unwrap_or(0);
                json!({"name": port.get("name").as_str().unwrap_or(""),
                    "protocol": port.get("protocol").as_str().unwrap_or("TCP"), "port": target})
            })
            .collect();
        let slices: Vec<Object> = self
            .slices
            .get(&key)
            .into_iter()
            .flatten()
            .filter_map(|slice| runtime.cache(SLICE_CACHE).get(slice).cloned())
            .collect();
        // Endpoints that stay keep their place; new ones follow.
        let mut kept: Vec<Vec<Json>> = Vec::new();
        for slice in &slices {
            let mut own = Vec::new();
            for old in slice.stable().get("endpoints").items() {
                let uid = old.at(&["targetRef", "uid"]).as_str().unwrap_or("");
                if let Some(at) = wanted.iter().position(|(own, _)| **own == *uid) {
                    own.push(wanted.remove(at).1);
                }
            }
            kept.push(own);
        }
        let mut rest: Vec<Json> = wanted.into_iter().map(|(_, endpoint)| endpoint).collect();
        for (slice, mut endpoints) in slices.iter().zip(kept) {
            let room = SLICE_MOST.saturating_sub(endpoints.len()).min(rest.len());
            endpoints.extend(rest.drain(..room));
            let tree = slice.stable();
            if *tree.get("endpoints").items() == *endpoints && (endpoints.is_empty() || *tree.get("ports") == ports) {
                continue;
            }
            let mut body = slice.json();
            body.set(&["endpoints"], endpoints);
            body.set(&["ports"], ports.clone());
            match trigger {
                Some(at) => body.set(&["metadata", "annotations", TRIGGER_TIME], at),
                None => drop(body.remove(&["metadata", "annotations", TRIGGER_TIME])),
            }
            let because = Self::decide(&key, slice.name(), runtime);
            let call = Call::new(Verb::Update, SLICES, &key.namespace, slice.name()).body(body);
            runtime.send(&key, (), call, Some(because), now);
        }
        let mut new: Vec<Vec<Json>> = rest.chunks(SLICE_MOST).map(<[Json]>::to_vec).collect();
        if slices.is_empty() && new.is_empty() {
            // A Service without endpoints has one slice without endpoints.
            new.push(Vec::new());
        }
        for own in new {
            let body = Self::new_slice(service, own, &ports, trigger);
            let because = Self::decide(&key, &format!("{}-", key.name), runtime);
            let call = Call::new(Verb::Create, SLICES, &key.namespace, "").body(body);
            runtime.send(&key, (), call, Some(because), now);
        }
    }

    fn decide(key: &ObjectKey, slice: &str, runtime: &mut KeyedRuntime<()>) -> super::DecisionId {
        let fact = Vec::from([Because::Fact(format!("the pods that Service {key} selects have changed"))]);
        runtime.decide(format!("endpointslice/{}/{slice}", key.namespace), "write endpoints", fact)
    }

    fn new_slice(service: &Object, endpoints: Vec<Json>, ports: &Json, trigger: Option<&Text>) -> Json {
        let mut slice = json!({"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1",
            "metadata": {"generateName": format!("{}-", service.name()),
                "namespace": service.key().namespace.as_str()},
            "addressType": "IPv4", "endpoints": null, "ports": null});
        let marks = labels(service).clone();
        if !marks.is_empty() {
            slice.set(&["metadata", "labels"], marks);
        }
        slice.set(&["metadata", "labels", MANAGED_BY], MANAGER);
        slice.set(&["metadata", "labels", SERVICE_NAME], service.name());
        if let Some(at) = trigger {
            slice.set(&["metadata", "annotations", TRIGGER_TIME], at);
        }
        let owner = reference_to(service, "v1", "Service");
        slice.set(&["metadata", "ownerReferences"], Json::array(Vec::from([owner])));
        if !endpoints.is_empty() {
            slice.set(&["endpoints"], endpoints);
            slice.set(&["ports"], ports.clone());
        }
        slice
    }
}

impl Reconciler for EndpointSlices {
    type Purpose = ();

    fn handle_event(&mut self, source: usize, event: &CacheEvent, runtime: &mut KeyedRuntime<()>, _now: Timestamp) {
        match source {
            SERVICE_CACHE => {
                let key = event.object().key();
                match &event.after {
                    Some(service) => {
                        let selector = service.stable().at(&["spec", "selector"]);
                        let mut by_labels = Json::Null;
                        if !selector.is_empty() {
                            by_labels.set(&["matchLabels"], selector.clone());
                        }
                        let alive = runtime.cache(PODS_CACHE).objects().filter(|pod| !is_terminal(pod));
                        self.alive.put(key.clone(), by_labels.clone(), alive);
                        let before: Vec<ObjectKey> = self.pods.of(&key).cloned().collect();
                        self.pods.put(key.clone(), by_labels, runtime.cache(PODS_CACHE).objects());
                        let both = before.into_iter().chain(self.pods.of(&key).cloned());
                        self.changed.entry(key.clone()).or_default().extend(both);
                    }
                    None => {
                        self.pods.remove(&key);
                        self.alive.remove(&key);
                        self.changed.remove(&key);
                        self.triggers.remove(&key);
                    }
                }
                runtime.add(key);
            }
            PODS_CACHE => {
                self.alive.update_those(event, |pod| !is_terminal(pod));
                for key in self.pods.update(event) {
                    self.changed.entry(key.clone()).or_default().insert(event.object().key());
                    runtime.add(key);
                }
            }
            // Only Services with topology hints, which are left out, are synced for changes of Nodes.
            NODE_CACHE => {}
            _ => self.handle_slice(event, runtime),
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<()>, now: Timestamp) -> Flow {
        let Some(service) = runtime.cache(SERVICE_CACHE).get(key).cloned() else { return Flow::Done };
        let spec = service.stable().get("spec");
        if spec.get("selector").is_empty() || spec.get("type").as_str() == Some("ExternalName") {
            return Flow::Done;
        }
        let (endpoints, skipped) = self.endpoints(&service, runtime);
        let trigger = self.trigger(&service, runtime);
        self.reconcile(&service, endpoints, trigger.as_ref(), runtime, now);
        if skipped.is_empty() {
            return Flow::Done;
        }
        let why = match skipped.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let message = format!("Error updating Endpoint Slices for Service {}/{}: {why}", key.namespace, key.name);
        let about = InvolvedObject::object("v1", "Service", &service);
        runtime.emit(&about, EventType::Warning, "FailedToUpdateEndpointSlices", &message, now);
        Flow::Retry
    }
}
