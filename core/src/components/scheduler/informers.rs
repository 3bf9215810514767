//! What the scheduler watches.
//!
//! Mirrors the informers of pkg/scheduler/scheduler.go and its plugins (v1.34), as far as they are modelled.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::cluster::PodInfo;
use crate::chance::Chance;
use crate::components::client::{Changes, Reflector};
use crate::components::{Deadline, Outbox, earliest};
use crate::network::{Identity, NAMESPACES, NODES, PODS, RequestId, Resource, ToClient};
use crate::objects::selector::Selector;
use crate::objects::{Json, Object, ObjectKey, Text};

const CLAIMS: Resource = Resource::of("", "v1", "persistentvolumeclaims");
const VOLUMES: Resource = Resource::of("", "v1", "persistentvolumes");
const STORAGE_CLASSES: Resource = Resource::of("storage.k8s.io", "v1", "storageclasses");
const BUDGETS: Resource = Resource::of("policy", "v1", "poddisruptionbudgets");
const SERVICES: Resource = Resource::of("", "v1", "services");
const REPLICATION_CONTROLLERS: Resource = Resource::of("", "v1", "replicationcontrollers");
const REPLICA_SETS: Resource = Resource::of("apps", "v1", "replicasets");
const STATEFUL_SETS: Resource = Resource::of("apps", "v1", "statefulsets");

/// What a change is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum About {
    Nodes,
    Pods,
    /// Claims of volumes.
    Claims,
    Volumes,
    /// Something that is only looked up.
    Others,
}

/// The informers.
#[derive(Clone, Debug)]
pub(super) struct Informers {
    nodes: Reflector,
    pods: Reflector,
    pub(super) namespaces: Reflector,
    claims: Reflector,
    volumes: Reflector,
    storage_classes: Reflector,
    budgets: Reflector,
    services: Reflector,
    replication_controllers: Reflector,
    replica_sets: Reflector,
    stateful_sets: Reflector,
}

impl Informers {
    pub(super) fn new(identity: &Arc<Identity>, chance: &Chance, outbox: &mut Outbox) -> Self {
        let mut reflector = |resource: Resource, selectors: Vec<(&'static str, &'static str)>| {
            let chance = chance.fork(&resource.plural);
            let selectors = selectors.into_iter().map(|(name, value)| (Text::of(name), Text::of(value))).collect();
            Reflector::new(identity.clone(), resource, "", selectors, chance, outbox)
        };
        // A heartbeat changes nothing that bears on where Pods go, and Pods that have ended do not count.
        let ended = "status.phase!=Succeeded,status.phase!=Failed";
        Self {
            nodes: reflector(NODES, Vec::from([("omitHeartbeats", "true")])),
            pods: reflector(PODS, Vec::from([("fieldSelector", ended)])),
            namespaces: reflector(NAMESPACES, Vec::new()),
            claims: reflector(CLAIMS, Vec::new()),
            volumes: reflector(VOLUMES, Vec::new()),
            storage_classes: reflector(STORAGE_CLASSES, Vec::new()),
            budgets: reflector(BUDGETS, Vec::new()),
            services: reflector(SERVICES, Vec::new()),
            replication_controllers: reflector(REPLICATION_CONTROLLERS, Vec::new()),
            replica_sets: reflector(REPLICA_SETS, Vec::new()),
            stateful_sets: reflector(STATEFUL_SETS, Vec::new()),
        }
    }

    fn all(&self) -> [&Reflector; 11] {
        [
            &self.nodes,
            &self.pods,
            &self.namespaces,
            &self.claims,
            &self.volumes,
            &self.storage_classes,
            &self.budgets,
            &self.services,
            &self.replication_controllers,
            &self.replica_sets,
            &self.stateful_sets,
        ]
    }

    fn all_mut(&mut self) -> [&mut Reflector; 11] {
        [
            &mut self.nodes,
            &mut self.pods,
            &mut self.namespaces,
            &mut self.claims,
            &mut self.volumes,
            &mut self.storage_classes,
            &mut self.budgets,
            &mut self.services,
            &mut self.replication_controllers,
            &mut self.replica_sets,
            &mut self.stateful_sets,
        ]
    }

    pub(super) fn are_synced(&self) -> bool {
        self.all().into_iter().all(Reflector::synced)
    }

    /// Returns the one that a watch feeds.
    pub(super) fn of_watch(&mut self, watch: RequestId) -> Option<&mut Reflector> {
        self.all_mut().into_iter().find(|informer| informer.owns(watch))
    }

    pub(super) fn owns(&self, id: RequestId) -> bool {
        self.all().into_iter().any(|reflector| reflector.owns(id))
    }

    pub(super) fn handle_message(
        &mut self,
        message: ToClient,
        outbox: &mut Outbox,
        now: jiff::Timestamp,
    ) -> (About, Changes) {
        let id = message.id();
        let about = match id {
            _ if self.nodes.owns(id) => About::Nodes,
            _ if self.pods.owns(id) => About::Pods,
            _ if self.claims.owns(id) => About::Claims,
            _ if self.volumes.owns(id) => About::Volumes,
            _ => About::Others,
        };
        let owner = self.all_mut().into_iter().find(|reflector| reflector.owns(id));
        let changes = owner.map(|reflector| reflector.handle_message(message, outbox, now)).unwrap_or_default();
        (about, changes)
    }

    pub(super) fn handle_timeout(&mut self, outbox: &mut Outbox, now: jiff::Timestamp) {
        for reflector in self.all_mut() {
            reflector.handle_timeout(outbox, now);
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Deadline> {
        earliest(self.all().map(Reflector::next_deadline))
    }

    /// Says why a Pod's volumes let it go nowhere.
    pub(super) fn refusal_of_volumes(&self, pod: &PodInfo) -> Option<Text> {
        super::volumes::refusal(pod, |key| self.claims.get(key), |key| self.storage_classes.get(key))
    }

    pub(super) fn budgets(&self) -> Vec<&Object> {
        self.budgets.objects().collect()
    }

    /// Selects the Pods of the same Services and owner.
    ///
    /// Source: pkg/scheduler/framework/plugins/helper/spread.go (v1.34), `DefaultSelector`.
    pub(super) fn siblings(&self, pod: &PodInfo) -> Selector {
        let mut labels = Json::object();
        for service in self.services.objects().filter(|service| service.key().namespace == pod.key.namespace) {
            let selector = service.stable().at(&["spec", "selector"]);
            if !selector.is_null() && Selector::of_labels(selector).matches(pod.labels()) {
                merge(&mut labels, selector);
            }
        }
        let owners = pod.object.stable().at(&["metadata", "ownerReferences"]).items().iter();
        let mut owners = owners.filter(|owner| owner.get("controller").as_bool() == Some(true));
        let Some(owner) = owners.next() else { return Selector::of_labels(&labels) };
        let name = owner.get("name").as_text().cloned().unwrap_or_default();
        let key = ObjectKey::namespaced(pod.key.namespace.clone(), name);
        let kind = (owner.get("apiVersion").as_str().unwrap_or(""), owner.get("kind").as_str().unwrap_or(""));
        let set = match kind {
            ("v1", "ReplicationController") => {
                if let Some(found) = self.replication_controllers.get(&key) {
                    merge(&mut labels, found.stable().at(&["spec", "selector"]));
                }
                None
            }
            ("apps/v1", "ReplicaSet") => self.replica_sets.get(&key),
            ("apps/v1", "StatefulSet") => self.stateful_sets.get(&key),
            _ => None,
        };
        let selector = set.and_then(|set| Selector::of_object(set.stable().at(&["spec", "selector"])));
        Selector::of_labels(&labels).with(selector.unwrap_or_default())
    }
}

fn merge(labels: &mut Json, more: &Json) {
    for (name, value) in more.fields() {
        labels.set(&[name.as_str()], value.clone());
    }
}
