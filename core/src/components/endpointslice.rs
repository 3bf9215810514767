//! Keeps the EndpointSlices of Services, as far as they depend on nodes.
//!
//! Mirrors kube-controller-manager's `endpointslice-controller`
//! (pkg/controller/endpointslice/endpointslice_controller.go and k8s.io/endpointslice {reconciler,utils}.go, v1.34). An
//! endpoint is ready while its pod is Ready and not being deleted; it names the pod's node and that node's zone. A pod
//! whose Node is gone is left out, and the sync is retried; a change of a Node alone starts no sync. Pods whose ports
//! have other numbers stand in slices of their own. A Service without endpoints keeps one empty slice.
//! Inputs: Services, Pods, Nodes, EndpointSlices, answers, time. Outputs: EndpointSlices, Events.
//! Left out on purpose: topology hints, IPv6 and dual stack, Services without selector, mirroring of Endpoints.

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
use crate::objects::kubelet_labels::ZONE;
use crate::objects::lifecycle::{condition, is_ending, is_ready, is_terminal};
use crate::objects::{Json, Object, ObjectKey, Text};

/// Source: k8s.io/api discovery/v1/well_known_labels.go (v1.34), `LabelManagedBy`.
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
/// Source: endpointslice_controller.go (v1.34), `ControllerName`.
const MANAGER: &str = "endpointslice-controller.k8s.io";
/// Source: k8s.io/api core/v1/annotation_key_constants.go (v1.34), `EndpointsLastChangeTriggerTime`.
const TRIGGER_TIME: &str = "endpoints.kubernetes.io/last-change-trigger-time";
/// Source: k8s.io/api core/v1/well_known_labels.go (v1.34), `IsHeadlessService`.
const HEADLESS: &str = "service.kubernetes.io/headless";
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

    /// Returns the endpoints of a Service by their ports, and the pods that were left out.
    fn endpoints(&self, service: &Object, runtime: &KeyedRuntime<()>) -> (Vec<PortGroup>, Vec<String>) {
        let key = service.key();
        let publishes = service.stable().at(&["spec", "publishNotReadyAddresses"]).as_bool() == Some(true);
        let (mut groups, mut skipped): (Vec<PortGroup>, Vec<String>) = (Vec::new(), Vec::new());
        for pod in self.alive.of(&key).filter_map(|pod| runtime.cache(PODS_CACHE).get(pod)) {
            let Some(ip) = address(pod) else { continue };
            let ports = ports_of(service, pod);
            let at = groups.iter().position(|group| group.ports == ports).unwrap_or_else(|| {
                groups.push(PortGroup { ports, endpoints: Vec::new() });
                groups.len() - 1
            });
            let node = node_name(pod).and_then(|name| runtime.cache(NODE_CACHE).get(&ObjectKey::cluster(name.clone())));
            if node.is_none() && !publishes {
                let service = format!("{}/{}", key.namespace, key.name);
                let name = node_name(pod).cloned().unwrap_or_default();
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
            groups[at].endpoints.push(endpoint);
        }
        (groups, skipped)
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
    ///
    /// Source: k8s.io/endpointslice reconciler.go (v1.34), `reconcileByAddressType` and `finalize`.
    fn reconcile(
        &self,
        service: &Object,
        groups: Vec<PortGroup>,
        trigger: Option<&Text>,
        runtime: &mut KeyedRuntime<()>,
        now: Timestamp,
    ) {
        let key = service.key();
        let own = self.slices.get(&key).into_iter().flatten();
        let slices: Vec<Object> = own
            .filter_map(|slice| runtime.cache(SLICE_CACHE).get(slice).cloned())
            .filter(|slice| !is_ending(slice))
            .collect();
        let marks = slice_labels(service);
        let mut plan = SlicePlan::default();
        // A slice without ports is of no group: upstream's hash of no list is not that of a pod's empty list.
        let of_group = |group: &PortGroup, slice: &Object| {
            let ports = slice.stable().get("ports").items();
            is_owned(slice, service) && !ports.is_empty() && *ports == *group.ports.items()
        };
        for slice in &slices {
            if !groups.iter().any(|group| of_group(group, slice)) {
                plan.delete.push(slice.clone());
            }
        }
        for group in groups {
            let existing = slices.iter().filter(|slice| of_group(&group, slice));
            plan.fill(existing, &group, &marks);
        }
        plan.finish(slices.len(), service, &marks);
        for (verb, mut body) in plan.writes {
            match trigger {
                Some(at) => body.set(&["metadata", "annotations", TRIGGER_TIME], at),
                None => drop(body.remove(&["metadata", "annotations", TRIGGER_TIME])),
            }
            let name = String::from(body.at(&["metadata", "name"]).as_str().unwrap_or(""));
            let shown = if name.is_empty() { format!("{}-", key.name) } else { name.clone() };
            let because = Self::decide(&key, &shown, runtime);
            let call = Call::new(verb, SLICES, &key.namespace, &name).body(body);
            runtime.send(&key, (), call, Some(because), now);
        }
        for slice in plan.delete {
            let because = Self::decide(&key, slice.name(), runtime);
            let call = Call::new(Verb::Delete, SLICES, &key.namespace, slice.name());
            runtime.send(&key, (), call, Some(because), now);
        }
    }

    fn decide(key: &ObjectKey, slice: &str, runtime: &mut KeyedRuntime<()>) -> super::DecisionId {
        let fact = Vec::from([Because::Fact(format!("the pods that Service {key} selects have changed"))]);
        runtime.decide(format!("endpointslice/{}/{slice}", key.namespace), "write endpoints", fact)
    }

    fn new_slice(service: &Object, marks: &Json, endpoints: Vec<Json>, ports: &Json) -> Json {
        let mut slice = json!({"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1",
            "metadata": {"generateName": format!("{}-", service.name()),
                "namespace": service.key().namespace.as_str()},
            "addressType": "IPv4", "endpoints": null, "ports": null});
        slice.set(&["metadata", "labels"], marks.clone());
        let owner = reference_to(service, "v1", "Service");
        slice.set(&["metadata", "ownerReferences"], Json::array(Vec::from([owner])));
        if !endpoints.is_empty() {
            slice.set(&["endpoints"], endpoints);
            slice.set(&["ports"], ports.clone());
        }
        slice
    }
}

/// Endpoints with the same ports.
struct PortGroup {
    ports: Json,
    endpoints: Vec<Json>,
}

/// What is to be done to the slices of a Service.
#[derive(Default)]
struct SlicePlan {
    /// Endpoints and ports of each new slice.
    create: Vec<(Vec<Json>, Json)>,
    update: Vec<Json>,
    delete: Vec<Object>,
    /// What is created and updated, in this order, once the plan is finished.
    writes: Vec<(Verb, Json)>,
}

impl SlicePlan {
    /// Distributes the endpoints of a group: those that stay keep their place; new ones fill the slices that change
    /// anyway, then the one that they fill best, then new ones.
    ///
    /// Source: k8s.io/endpointslice reconciler.go (v1.34), `reconcileByPortMapping`.
    fn fill<'a>(&mut self, existing: impl Iterator<Item = &'a Object>, group: &PortGroup, marks: &Json) {
        let mut wanted = group.endpoints.clone();
        let (mut changed, mut unchanged) = (Vec::new(), Vec::new());
        for slice in existing {
            let old = slice.stable().get("endpoints").items();
            let mut kept = Vec::new();
            for endpoint in old {
                if let Some(at) = wanted.iter().position(|new| is_same_endpoint(new, endpoint)) {
                    kept.push(wanted.remove(at));
                }
            }
            let has_own_labels = without_own(labels(slice)) == without_own(marks);
            if *old != *kept && kept.is_empty() {
                self.delete.push(slice.clone());
            } else if *old == *kept && has_own_labels {
                unchanged.push((slice, kept));
            } else {
                let mut body = slice.json();
                body.set(&["metadata", "labels"], marks.clone());
                changed.push((body, kept));
            }
        }
        changed.sort_by_key(|(_, endpoints)| core::cmp::Reverse(endpoints.len()));
        for (_, endpoints) in &mut changed {
            let room = SLICE_MOST.saturating_sub(endpoints.len()).min(wanted.len());
            endpoints.extend(wanted.drain(..room));
        }
        if !wanted.is_empty() && wanted.len() < SLICE_MOST {
            let fits = |endpoints: &[Json]| endpoints.len() + wanted.len() <= SLICE_MOST;
            let best =
                (0..unchanged.len()).filter(|at| fits(&unchanged[*at].1)).max_by_key(|at| unchanged[*at].1.len());
            if let Some(at) = best {
                let (slice, mut endpoints) = unchanged.swap_remove(at);
                endpoints.append(&mut wanted);
                changed.push((slice.json(), endpoints));
            }
        }
        for (mut body, endpoints) in changed {
            body.set(&["endpoints"], endpoints);
            self.update.push(body);
        }
        self.create.extend(wanted.chunks(SLICE_MOST).map(|some| (some.to_vec(), group.ports.clone())));
    }

    /// Lets what would be deleted take the place of what would be created, and keeps one slice in any case.
    fn finish(&mut self, slices: usize, service: &Object, marks: &Json) {
        if slices == self.delete.len() && self.create.is_empty() {
            match self.delete.as_slice() {
                [one] if is_placeholder(one, service, marks) => self.delete.clear(),
                _ => self.create.push((Vec::new(), Json::Null)),
            }
        }
        for slice in core::mem::take(&mut self.delete) {
            match self.create.pop() {
                Some((endpoints, ports)) if is_owned(&slice, service) => {
                    let mut body = EndpointSlices::new_slice(service, marks, endpoints, &ports);
                    body.set(&["metadata", "name"], slice.name());
                    self.update.push(body);
                }
                new => {
                    self.create.extend(new);
                    self.delete.push(slice);
                }
            }
        }
        // The collector is about to delete the slices of a Service that is being deleted.
        for (endpoints, ports) in core::mem::take(&mut self.create).into_iter().filter(|_| !is_ending(service)) {
            self.writes.push((Verb::Create, EndpointSlices::new_slice(service, marks, endpoints, &ports)));
        }
        self.writes.extend(self.update.drain(..).map(|body| (Verb::Update, body)));
    }
}

/// Tells whether two endpoints are of one pod at one address.
/// Source: k8s.io/endpointslice util/endpointset.go (v1.34), `hashEndpoint`.
fn is_same_endpoint(own: &Json, other: &Json) -> bool {
    let same = |path: &[&str]| own.at(path) == other.at(path);
    same(&["addresses"]) && same(&["hostname"]) && same(&["targetRef", "name"]) && same(&["targetRef", "namespace"])
}

/// Returns the ports of a pod that a Service leads to.
/// Source: k8s.io/endpointslice utils.go (v1.34), `getEndpointPorts` and `FindPort`.
fn ports_of(service: &Object, pod: &Object) -> Json {
    let of_service = service.stable().at(&["spec", "ports"]).items().iter();
    let found = of_service.filter_map(|port| {
        let protocol = port.get("protocol").as_str().unwrap_or("TCP");
        let target = match port.get("targetPort") {
            Json::Str(name) => named_port(pod, name, protocol)?,
            Json::Null => port.get("port").as_i64()?,
            number => number.as_i64()?,
        };
        let mut own = json!({"name": port.get("name").as_str().unwrap_or(""), "protocol": protocol, "port": target});
        if let Some(application) = port.get("appProtocol").as_str() {
            own.set(&["appProtocol"], application);
        }
        Some(own)
    });
    let mut found: Vec<Json> = found.collect();
    found.sort_by_cached_key(|port| (port.get("name").as_text().cloned(), port.get("port").as_i64()));
    if found.is_empty() { Json::Null } else { Json::array(found) }
}

fn named_port(pod: &Object, name: &str, protocol: &str) -> Option<i64> {
    let spec = pod.stable().get("spec");
    let restarts = |container: &&Json| container.get("restartPolicy").as_str() == Some("Always");
    let containers = spec.get("containers").items().iter();
    let containers = containers.chain(spec.get("initContainers").items().iter().filter(restarts));
    let fits = |port: &&Json| {
        port.get("name").as_str() == Some(name) && port.get("protocol").as_str().unwrap_or("TCP") == protocol
    };
    containers.flat_map(|container| container.get("ports").items()).find(fits)?.get("containerPort").as_i64()
}

/// Returns the labels of a Service's slices. Source: k8s.io/endpointslice utils.go (v1.34), `setEndpointSliceLabels`.
fn slice_labels(service: &Object) -> Json {
    let mut marks = without_own(labels(service));
    let ip = service.stable().at(&["spec", "clusterIP"]).as_str().unwrap_or("");
    if ip.is_empty() || ip == "None" {
        marks.set(&[HEADLESS], "");
    }
    marks.set(&[MANAGED_BY], MANAGER);
    marks.set(&[SERVICE_NAME], service.name());
    marks
}

/// Returns labels without those that the controller keeps for itself.
fn without_own(labels: &Json) -> Json {
    let own = |name: &str| [HEADLESS, MANAGED_BY, SERVICE_NAME].contains(&name);
    let mut rest = Json::object();
    for (name, value) in labels.fields().filter(|(name, _)| !own(name)) {
        rest.set(&[name.as_str()], value.clone());
    }
    rest
}

fn is_owned(slice: &Object, service: &Object) -> bool {
    let owners = slice.stable().at(&["metadata", "ownerReferences"]).items();
    owners.iter().any(|owner| owner.get("uid").as_str() == Some(service.uid()))
}

/// Tells whether a slice is the empty one that a Service without endpoints has.
fn is_placeholder(slice: &Object, service: &Object, marks: &Json) -> bool {
    is_owned(slice, service)
        && slice.stable().get("endpoints").is_empty()
        && slice.stable().get("ports").is_empty()
        && labels(slice) == marks
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
                let pod = event.object().key();
                for key in self.pods.update(event) {
                    self.changed.entry(key.clone()).or_default().insert(pod.clone());
                    let had = event.before.as_ref().is_some_and(|before| self.pods.would_have(&key, before));
                    if had != self.pods.has(&key, &pod) || moves_endpoints(event) {
                        runtime.add(key);
                    }
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
