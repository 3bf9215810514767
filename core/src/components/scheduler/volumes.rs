//! The volumes of Pods: whether their claims are ready, where their volumes can be used, and which volume a claim gets
//! that waits for its first consumer.
//!
//! Mirrors pkg/scheduler/framework/plugins/volumebinding/{volume_binding,binder}.go (v1.34), `PreFilter` with
//! `GetPodVolumeClaims`, `FindPodVolumes` and `BindPodVolumes`.
//! Inputs: the Pod, its claims, the volumes, the classes of storage. Outputs: nothing, or the reason why no node or one
//! node cannot take the Pod; writes that bind volumes. Left out on purpose: how much room a provisioner has, the
//! topology of classes, and plugins other than this one that look at volumes.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use super::cache::{NodeInfo, PodInfo};
use super::plugins::{Plugin, Rejection, Remedy};
use crate::components::client::Reflector;
use crate::components::node_affinity::matches_volume;
use crate::components::volume_matching::{match_on_node, requested};
use crate::components::volumes::{BIND_COMPLETED, SELECTED_NODE, claim_of, class_of, is_delayed};
use crate::objects::lifecycle::is_ending;
use crate::objects::{Json, Object, ObjectKey, Text};

/// The provisioner of classes whose volumes are made before. Source: k8s.io/component-helpers
/// storage/volume/helpers.go (v1.34), `NotSupportedProvisioner`.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// The volumes that claims of Pods which are being bound will have: volume, and claim.
pub(super) type Promised = BTreeMap<Text, ObjectKey>;

/// What is known of storage.
#[derive(Clone, Copy)]
pub(super) struct Storage<'a> {
    pub(super) claims: &'a Reflector,
    pub(super) volumes: &'a Reflector,
    pub(super) classes: &'a Reflector,
    pub(super) promised: &'a Promised,
}

/// The volumes of a Pod that needs any.
#[derive(Clone, Debug)]
pub(super) struct VolumeState<'a> {
    /// The volumes of bound claims; `None` for one that is not there.
    bound: Vec<Option<&'a Object>>,
    /// The claims that wait for their first consumer, the smallest first, and whether a volume can be made for them.
    unbound: Vec<(&'a Object, bool)>,
    /// The volumes that are not promised to other claims.
    free: Vec<&'a Object>,
}

/// What a Pod's claims get on a node.
#[derive(Clone, Default, Debug)]
pub(super) struct VolumePlan {
    /// Volumes with their claims.
    pub(super) bindings: Vec<(Object, Object)>,
    /// Claims for which a volume is to be made.
    pub(super) provisions: Vec<Object>,
}

impl VolumePlan {
    pub(super) fn is_empty(&self) -> bool {
        self.bindings.is_empty() && self.provisions.is_empty()
    }
}

impl<'a> VolumeState<'a> {
    /// Looks up the volumes of a Pod; `None` if it has no claims.
    pub(super) fn of(pod: &PodInfo, storage: Storage<'a>) -> Option<Self> {
        let keys = pod.spec().get("volumes").items().iter().filter_map(|volume| claim_of(&pod.key, volume));
        let claims: Vec<&Object> = keys.filter_map(|(key, _)| storage.claims.get(&key)).collect();
        if claims.is_empty() {
            return None;
        }
        let (mut bound, mut unbound) = (Vec::new(), Vec::new());
        for claim in claims {
            let tree = claim.stable();
            match tree.at(&["spec", "volumeName"]).as_text().filter(|name| !name.is_empty()) {
                Some(name) => bound.push(storage.volumes.get(&ObjectKey::cluster(name.clone()))),
                None => {
                    let class = storage.classes.get(&ObjectKey::cluster(Text::from(class_of(tree))));
                    let provisioner = class.and_then(|class| class.stable().get("provisioner").as_str()).unwrap_or("");
                    unbound.push((claim, !provisioner.is_empty() && provisioner != NO_PROVISIONER));
                }
            }
        }
        unbound.sort_by_key(|(claim, _)| requested(claim.stable()));
        let is_free = |volume: &&Object| {
            let taken = storage.promised.get(volume.name());
            taken.is_none_or(|claim| unbound.iter().any(|(own, _)| own.key() == *claim))
        };
        let free = if unbound.is_empty() { Vec::new() } else { storage.volumes.objects().filter(is_free).collect() };
        Some(Self { bound, unbound, free })
    }

    /// Tells whether a node can use the volumes.
    pub(super) fn check(&self, node: &NodeInfo, names_affinity: bool) -> Result<(), Rejection> {
        let mut reasons = Vec::new();
        if self.bound.iter().any(Option::is_none) {
            reasons.push(Text::of("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"));
        } else if !self.bound.iter().flatten().all(|volume| matches_volume(volume.stable().get("spec"), node.tree())) {
            reasons.push(Text::of(if names_affinity {
                "node(s) didn't match PersistentVolume's node affinity"
            } else {
                "node(s) had volume node affinity conflict"
            }));
        }
        if self.plan(node.tree()).is_none() {
            reasons.push(Text::of("node(s) didn't find available persistent volumes to bind"));
        }
        let rejection = Rejection { plugin: Plugin::VolumeBinding, remedy: Remedy::None, reasons };
        if rejection.reasons.is_empty() { Ok(()) } else { Err(rejection) }
    }

    /// Chooses volumes for the claims that have none; `None` if there are not enough on a node.
    ///
    /// Source: binder.go (v1.34), `findMatchingVolumes`, `checkVolumeProvisions`.
    pub(super) fn plan(&self, node: &Json) -> Option<VolumePlan> {
        let mut plan = VolumePlan::default();
        for (claim, is_provisioned) in &self.unbound {
            if !claim.stable().at(&["metadata", "annotations", SELECTED_NODE]).is_null() && *is_provisioned {
                plan.provisions.push((*claim).clone());
                continue;
            }
            let is_left = |volume: &&Object| plan.bindings.iter().all(|(own, _)| own.name() != volume.name());
            match match_on_node(claim, node, self.free.iter().copied().filter(is_left)) {
                Some(volume) => plan.bindings.push((volume.clone(), (*claim).clone())),
                None if *is_provisioned => plan.provisions.push((*claim).clone()),
                None => return None,
            }
        }
        Some(plan)
    }
}

/// Returns why no node can take a Pod because of its volumes.
///
/// `claim` and `class` look up cached objects.
pub(super) fn refusal<'a>(
    pod: &PodInfo,
    claim: impl Fn(&ObjectKey) -> Option<&'a Object>,
    class: impl Fn(&ObjectKey) -> Option<&'a Object>,
) -> Option<Text> {
    let mut is_unbound = false;
    for volume in pod.spec().get("volumes").items() {
        let Some((key, is_ephemeral)) = claim_of(&pod.key, volume) else { continue };
        let name = &key.name;
        let Some(claim) = claim(&key) else {
            return Some(Text::from(if is_ephemeral {
                format!("waiting for ephemeral volume controller to create the persistentvolumeclaim \"{name}\"")
            } else {
                format!("persistentvolumeclaim \"{name}\" not found")
            }));
        };
        let tree = claim.stable();
        let volume = tree.at(&["spec", "volumeName"]).as_str().unwrap_or("");
        if tree.at(&["status", "phase"]).as_str() == Some("Lost") {
            let text = format!("persistentvolumeclaim \"{name}\" bound to non-existent persistentvolume \"{volume}\"");
            return Some(Text::from(text));
        }
        if is_ending(claim) {
            return Some(Text::from(format!("persistentvolumeclaim \"{name}\" is being deleted")));
        }
        let is_bound = !volume.is_empty() && !tree.at(&["metadata", "annotations", BIND_COMPLETED]).is_null();
        is_unbound |= !is_bound && !is_delayed(class(&ObjectKey::cluster(Text::from(class_of(tree)))));
    }
    is_unbound.then(|| Text::of("pod has unbound immediate PersistentVolumeClaims"))
}

/// Tells whether a claim is one of a Pod's.
pub(super) fn uses(pod: &PodInfo, claim: &ObjectKey) -> bool {
    pod.spec()
        .get("volumes")
        .items()
        .iter()
        .any(|volume| claim_of(&pod.key, volume).is_some_and(|(key, _)| key == *claim))
}
