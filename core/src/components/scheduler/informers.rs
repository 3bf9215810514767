//! The lists that the scheduler watches, and lookups in their caches.
//!
//! Mirrors the informers of pkg/scheduler/scheduler.go and its plugins (v1.34), as far as they are modelled. Inputs:
//! the caches. Outputs: budgets, what is known of storage, and the selector of a Pod's siblings.

use alloc::vec::Vec;

use super::cache::PodInfo;
use super::filters::Rules;
use super::volumes::{Promised, Storage};
use crate::components::controller::{ControllerRuntime, Watched};
use crate::components::volumes::{ATTACHMENTS, CLAIMS, CLASSES, CSI_NODES, VOLUMES};
use crate::network::{NAMESPACES, NODES, PODS, Resource, SERVICES};
use crate::objects::lifecycle::controller_of;
use crate::objects::selector::Selector;
use crate::objects::{Json, Object, ObjectKey};

const BUDGETS: Resource = Resource::of("policy", "v1", "poddisruptionbudgets");
const REPLICATION_CONTROLLERS: Resource = Resource::of("", "v1", "replicationcontrollers");
const REPLICA_SETS: Resource = Resource::of("apps", "v1", "replicasets");
const STATEFUL_SETS: Resource = Resource::of("apps", "v1", "statefulsets");

/// Pods that have ended do not count.
const NOT_ENDED: (&str, &str) = ("fieldSelector", "status.phase!=Succeeded,status.phase!=Failed");

pub(super) const NODE_CACHE: usize = 0;
pub(super) const POD_CACHE: usize = 1;
pub(super) const NAMESPACE_CACHE: usize = 2;
pub(super) const CLAIM_CACHE: usize = 3;
pub(super) const VOLUME_CACHE: usize = 4;
pub(super) const CLASS_CACHE: usize = 5;
const BUDGET_CACHE: usize = 6;
const SERVICE_CACHE: usize = 7;
const REPLICATION_CONTROLLER_CACHE: usize = 8;
const REPLICA_SET_CACHE: usize = 9;
const STATEFUL_SET_CACHE: usize = 10;
pub(super) const CSI_NODE_CACHE: usize = 11;
pub(super) const ATTACHMENT_CACHE: usize = 12;

/// In the order of the caches; the last two only where they are read.
static WATCHED: [Watched; 13] = [
    Watched::of(NODES),
    Watched::with(PODS, Some(NOT_ENDED)),
    Watched::with(NAMESPACES, None),
    Watched::with(CLAIMS, None),
    Watched::with(VOLUMES, None),
    Watched::with(CLASSES, None),
    Watched::with(BUDGETS, None),
    Watched::with(SERVICES, None),
    Watched::with(REPLICATION_CONTROLLERS, None),
    Watched::with(REPLICA_SETS, None),
    Watched::with(STATEFUL_SETS, None),
    Watched::with(CSI_NODES, None),
    Watched::with(ATTACHMENTS, None),
];

/// Returns the watched lists, without heartbeats, which do not affect scheduling.
pub(super) fn watched(rules: Rules) -> &'static [Watched] {
    match (rules.counts_attachments, rules.limits_volumes) {
        (true, _) => &WATCHED,
        (false, true) => &WATCHED[..ATTACHMENT_CACHE],
        (false, false) => &WATCHED[..CSI_NODE_CACHE],
    }
}

/// Lookups in the caches.
#[derive(Clone, Copy)]
pub(super) struct Listers<'a>(pub(super) &'a ControllerRuntime);

impl<'a> Listers<'a> {
    /// Returns what is known of storage, with the volumes that Pods which are being bound will have.
    pub(super) fn storage(self, promised: &'a Promised) -> Storage<'a> {
        Storage {
            claims: self.0.cache(CLAIM_CACHE),
            volumes: self.0.cache(VOLUME_CACHE),
            classes: self.0.cache(CLASS_CACHE),
            csi_nodes: self.0.caches().nth(CSI_NODE_CACHE),
            attachments: self.0.caches().nth(ATTACHMENT_CACHE),
            promised,
        }
    }

    pub(super) fn budgets(self) -> Vec<&'a Object> {
        self.0.cache(BUDGET_CACHE).objects().collect()
    }

    /// Selects the Pods of the same Services and owner.
    ///
    /// Source: pkg/scheduler/framework/plugins/helper/spread.go (v1.34), `DefaultSelector`.
    pub(super) fn siblings(self, pod: &PodInfo) -> Selector {
        let mut labels = Json::object();
        for service in
            self.0.cache(SERVICE_CACHE).objects().filter(|service| service.key().namespace == pod.key.namespace)
        {
            let selector = service.stable().at(&["spec", "selector"]);
            if !selector.is_null() && Selector::of_labels(selector).matches(pod.labels()) {
                merge(&mut labels, selector);
            }
        }
        let Some(owner) = controller_of(pod.object.stable()) else { return Selector::of_labels(&labels) };
        let name = owner.get("name").as_text().cloned().unwrap_or_default();
        let key = ObjectKey::namespaced(pod.key.namespace.clone(), name);
        let kind = (owner.get("apiVersion").as_str().unwrap_or(""), owner.get("kind").as_str().unwrap_or(""));
        let set = match kind {
            ("v1", "ReplicationController") => {
                if let Some(found) = self.0.cache(REPLICATION_CONTROLLER_CACHE).get(&key) {
                    merge(&mut labels, found.stable().at(&["spec", "selector"]));
                }
                None
            }
            ("apps/v1", "ReplicaSet") => self.0.cache(REPLICA_SET_CACHE).get(&key),
            ("apps/v1", "StatefulSet") => self.0.cache(STATEFUL_SET_CACHE).get(&key),
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
