//! The volumes of Pods: whether their claims are ready, where their volumes can be used, and which volume a claim gets
//! that waits for its first consumer.
//!
//! Mirrors pkg/scheduler/framework/plugins/volumebinding/{volume_binding,binder}.go (v1.34), `PreFilter` with
//! `GetPodVolumeClaims`, `FindPodVolumes` and `BindPodVolumes`.
//! Inputs: the Pod, its claims, the volumes, the classes of storage. Outputs: nothing, or the reason why no node or one
//! node cannot take the Pod; writes that bind volumes. Left out on purpose: how much room a provisioner has.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use super::cache::{NodeInfo, PodInfo};
use super::plugins::{Plugin, Rejection, Remedy};
use super::volume_rules::named_claims;
use crate::components::client::Reflector;
use crate::components::node_affinity::matches_volume;
use crate::components::volume_matching::{match_on_node, requested};
use crate::components::volumes::{BIND_COMPLETED, SELECTED_NODE, claim_of, class_of, is_delayed};
use crate::components::workload::pods::is_controlled_by;
use crate::objects::lifecycle::is_ending;
use crate::objects::{Json, Object, ObjectKey, Text};

/// The provisioner of classes whose volumes are made before. Source: k8s.io/component-helpers
/// storage/volume/pv_helpers.go (v1.34), `NotSupportedProvisioner`.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// The volumes that claims of Pods which are being bound will have: volume, and claim.
pub(super) type Promised = BTreeMap<Text, ObjectKey>;

/// What is known of storage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Storage<'a> {
    pub(super) claims: &'a Reflector,
    pub(super) volumes: &'a Reflector,
    pub(super) classes: &'a Reflector,
    /// What drivers say of nodes, where a release reads it.
    pub(super) csi_nodes: Option<&'a Reflector>,
    pub(super) attachments: Option<&'a Reflector>,
    pub(super) promised: &'a Promised,
}

/// The volumes of a Pod that needs any.
#[derive(Clone, Debug)]
pub(super) struct VolumeState<'a> {
    /// The volumes of bound claims; `None` for one that is not there.
    bound: Vec<Option<&'a Object>>,
    /// The claims that wait for their first consumer, the smallest first, with their classes if those make volumes.
    unbound: Vec<(&'a Object, Option<&'a Object>)>,
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
                    let makes = |class: &&Object| {
                        let provisioner = class.stable().get("provisioner").as_str().unwrap_or("");
                        !provisioner.is_empty() && provisioner != NO_PROVISIONER
                    };
                    unbound.push((claim, class.filter(makes)));
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
        if self.plan(node.name(), node.tree()).is_none() {
            reasons.push(Text::of("node(s) didn't find available persistent volumes to bind"));
        }
        let rejection = Rejection { plugin: Plugin::VolumeBinding, remedy: Remedy::None, reasons };
        if rejection.reasons.is_empty() { Ok(()) } else { Err(rejection) }
    }

    /// Chooses volumes for the claims that have none; `None` if there are not enough on a node.
    ///
    /// Source: binder.go (v1.34), `FindPodVolumes`, `findMatchingVolumes`, `checkVolumeProvisions`.
    pub(super) fn plan(&self, name: &str, node: &Json) -> Option<VolumePlan> {
        let mut plan = VolumePlan::default();
        let mut made = Vec::new();
        let selected =
            |claim: &Object| claim.stable().at(&["metadata", "annotations", SELECTED_NODE]).as_text().cloned();
        for own in &self.unbound {
            match selected(own.0) {
                Some(other) if *other != *name => return None,
                Some(_) => made.push(own),
                None => {}
            }
        }
        for own in self.unbound.iter().filter(|(claim, _)| selected(claim).is_none()) {
            let is_left = |volume: &&Object| plan.bindings.iter().all(|(taken, _)| taken.name() != volume.name());
            match match_on_node(own.0, node, self.free.iter().copied().filter(is_left)) {
                Some(volume) => plan.bindings.push((volume.clone(), own.0.clone())),
                None => made.push(own),
            }
        }
        for (claim, class) in made {
            if !class.is_some_and(|class| reaches(class, node)) {
                return None;
            }
            plan.provisions.push((*claim).clone());
        }
        Some(plan)
    }
}

/// Tells whether volumes of a class can be made for a node.
///
/// Source: pkg/apis/core/v1/helper/helpers.go (v1.34), `MatchTopologySelectorTerms`.
fn reaches(class: &Object, node: &Json) -> bool {
    let terms = class.stable().get("allowedTopologies").items();
    let labels = node.at(&["metadata", "labels"]);
    let meets = |wanted: &Json| {
        let own = wanted.get("key").as_str().map_or(&Json::Null, |key| labels.get(key));
        !own.is_null() && wanted.get("values").items().contains(own)
    };
    let has_met = |term: &Json| {
        let all = term.get("matchLabelExpressions").items();
        !all.is_empty() && all.iter().all(meets)
    };
    terms.is_empty() || terms.iter().any(has_met)
}

/// Returns why no node can take a Pod because of its volumes, and the plugin that says so.
///
/// Source: `PreFilter` of the plugins for volumes (v1.34), in their order.
pub(super) fn refusal(pod: &PodInfo, storage: Storage<'_>) -> Option<(Plugin, Text)> {
    let claims = storage.claims;
    if let Some(key) = named_claims(pod).find(|key| claims.get(key).is_none()) {
        let text = format!("persistentvolumeclaim \"{}\" not found", key.name);
        return Some((Plugin::VolumeRestrictions, Text::from(text)));
    }
    if let Some(text) = unready(pod, storage) {
        return Some((Plugin::VolumeBinding, text));
    }
    let named = named_claims(pod).filter_map(|key| {
        claims.get(&key)?.stable().at(&["spec", "volumeName"]).as_text().filter(|name| !name.is_empty())
    });
    let mut gone = named.filter(|name| storage.volumes.get(&ObjectKey::cluster((*name).clone())).is_none());
    gone.next().map(|name| (Plugin::VolumeZone, Text::from(format!("persistentvolume \"{name}\" not found"))))
}

/// Source: volume_binding.go (v1.34), `podHasPVCs`; binder.go, `GetPodVolumeClaims`.
fn unready(pod: &PodInfo, storage: Storage<'_>) -> Option<Text> {
    let mut is_unbound = false;
    for volume in pod.spec().get("volumes").items() {
        let Some((key, is_ephemeral)) = claim_of(&pod.key, volume) else { continue };
        let name = &key.name;
        let Some(claim) = storage.claims.get(&key) else {
            let text =
                format!("waiting for ephemeral volume controller to create the persistentvolumeclaim \"{name}\"");
            return Some(Text::from(text));
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
        if is_ephemeral && !is_controlled_by(claim, &pod.object) {
            // Source: k8s.io/component-helpers storage/ephemeral/ephemeral.go (v1.34), `VolumeIsForPod`.
            return Some(Text::from(format!("PVC {key} was not created for pod {} (pod is not owner)", pod.key)));
        }
        let is_bound = !volume.is_empty() && !tree.at(&["metadata", "annotations", BIND_COMPLETED]).is_null();
        let waits = || is_delayed(storage.classes.get(&ObjectKey::cluster(Text::from(class_of(tree)))));
        is_unbound |= !is_bound && (!volume.is_empty() || !waits());
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
