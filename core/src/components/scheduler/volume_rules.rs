//! What volumes ask of a node beside their binding: that no other Pod uses them, that the node is in their zone, and
//! that it can take so many.
//!
//! Mirrors pkg/scheduler/framework/plugins/{volumerestrictions/volume_restrictions.go,nodevolumelimits/csi.go,
//! volumezone/volume_zone.go} (v1.34), `PreFilter` and `Filter`.
//! Inputs: the Pod, the nodes with their Pods, what is known of storage. Outputs: nothing, or why a node cannot take
//! the Pod. Left out on purpose: old plugins whose volumes CSI drivers serve.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::cache::{NodeInfo, PodInfo};
use super::plugins::{Plugin, Rejection, Remedy};
use super::snapshot::ClusterSnapshot;
use super::volumes::Storage;
use crate::components::client::Reflector;
use crate::components::volumes::{claim_of, class_of, has_claims};
use crate::objects::kubelet_labels::ZONE;
use crate::objects::{Json, Object, ObjectKey, Text};

const OLD_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
const OLD_REGION: &str = "failure-domain.beta.kubernetes.io/region";
const REGION: &str = "topology.kubernetes.io/region";
/// The labels that say where a volume can be used. Source: volume_zone.go (v1.34), `topologyLabels`.
const ZONE_LABELS: [&str; 4] = [OLD_ZONE, OLD_REGION, ZONE, REGION];

/// A volume as a driver knows it: driver and handle.
type Handle = (Text, Text);

/// What a Pod with volumes asks of a node.
#[derive(Clone, Debug)]
pub(super) struct VolumeRules<'a> {
    storage: Storage<'a>,
    /// Its volumes that may not be shared.
    disks: Vec<&'a Json>,
    /// Whether another Pod uses one of its claims that only one Pod may use.
    is_taken: bool,
    /// Its volumes that count.
    handles: BTreeSet<Handle>,
    zones: Vec<(&'static str, BTreeSet<String>)>,
}

impl<'a> VolumeRules<'a> {
    /// Looks up the volumes of a Pod; `None` if none of them asks for anything.
    pub(super) fn of(pod: &'a PodInfo, view: &ClusterSnapshot<'a>) -> Option<Self> {
        let storage = view.storage;
        let disks: Vec<&Json> = disks_of(pod).collect();
        if disks.is_empty() && !has_claims(&pod.object) {
            return None;
        }
        let alone: Vec<ObjectKey> = named_claims(pod).filter(|key| is_for_one_pod(storage.claims.get(key))).collect();
        let uses = |other: &PodInfo| named_claims(other).any(|key| alone.contains(&key));
        let is_taken = !alone.is_empty() && view.nodes().any(|node| node.pods.values().any(|other| uses(other)));
        let volumes = named_claims(pod).filter_map(|key| volume_of(storage.claims.get(&key)?, storage));
        let zones = volumes.flat_map(zones_of).collect();
        Some(Self { storage, disks, is_taken, handles: handles(pod, storage), zones })
    }

    /// Tells whether other Pods keep the Pod's volumes from a node.
    pub(super) fn restrictions(&self, node: &NodeInfo) -> Result<(), Rejection> {
        let reject = |reason| Err(Rejection::new(Plugin::VolumeRestrictions, Remedy::Preemption, Text::of(reason)));
        if !self.disks.is_empty() && node.pods.values().any(|other| share_a_disk(&self.disks, other)) {
            return reject("node(s) had no available disk");
        }
        if self.is_taken {
            return reject(
                "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by \
                 another pod",
            );
        }
        Ok(())
    }

    /// Tells whether a node can take as many volumes of each driver.
    pub(super) fn limits(&self, node: &NodeInfo) -> Result<(), Rejection> {
        if self.handles.is_empty() {
            return Ok(());
        }
        let limits = limits(self.storage.csi_nodes.and_then(|own| own.get(&ObjectKey::cluster(node.name().clone()))));
        if limits.is_empty() {
            return Ok(());
        }
        let used: BTreeSet<Handle> = node.pods.values().flat_map(|other| handles(other, self.storage)).collect();
        let mut counts: BTreeMap<&Text, usize> = BTreeMap::new();
        let attached = attached(node.name(), self.storage);
        for (driver, _) in used.iter().chain(attached.difference(&used)) {
            *counts.entry(driver).or_default() += 1;
        }
        let mut wanted: BTreeMap<&Text, usize> = BTreeMap::new();
        for (driver, _) in self.handles.difference(&used) {
            *wanted.entry(driver).or_default() += 1;
        }
        let exceeds = |(driver, count): (&&Text, &usize)| {
            let sum = i64::try_from(counts.get(*driver).copied().unwrap_or(0) + count).unwrap_or(i64::MAX);
            limits.get(*driver).is_some_and(|most| sum > *most)
        };
        if wanted.iter().any(exceeds) {
            let reason = Text::of("node(s) exceed max volume count");
            return Err(Rejection::new(Plugin::NodeVolumeLimits, Remedy::Preemption, reason));
        }
        Ok(())
    }

    /// Tells whether a node is in the zones of the Pod's bound volumes; one without such labels is in all.
    pub(super) fn zones(&self, node: &NodeInfo) -> Result<(), Rejection> {
        if !ZONE_LABELS.iter().any(|label| node.label(label).is_some()) {
            return Ok(());
        }
        let is_in = |(label, values): &(&'static str, BTreeSet<String>)| {
            let own = node.label(label).or_else(|| node.label(newer(label)));
            own.is_some_and(|value| values.contains(value.as_str()))
        };
        if self.zones.iter().all(is_in) {
            return Ok(());
        }
        let reason = Text::of("node(s) had no available volume zone");
        Err(Rejection::new(Plugin::VolumeZone, Remedy::None, reason))
    }
}

/// Returns the claims that a Pod names; those that are made for it are not among them.
pub(super) fn named_claims(pod: &PodInfo) -> impl Iterator<Item = ObjectKey> {
    let volumes = pod.spec().get("volumes").items().iter();
    volumes
        .filter_map(|volume| claim_of(&pod.key, volume))
        .filter(|(_, is_ephemeral)| !is_ephemeral)
        .map(|(key, _)| key)
}

fn is_for_one_pod(claim: Option<&Object>) -> bool {
    let modes = |claim: &Object| claim.stable().at(&["spec", "accessModes"]).items().to_vec();
    claim.is_some_and(|claim| modes(claim).iter().any(|mode| mode.as_str() == Some("ReadWriteOncePod")))
}

fn volume_of<'a>(claim: &Object, storage: Storage<'a>) -> Option<&'a Object> {
    let name = claim.stable().at(&["spec", "volumeName"]).as_text().filter(|name| !name.is_empty())?;
    storage.volumes.get(&ObjectKey::cluster(name.clone()))
}

/// The kinds of disks that two Pods may not both use. Source: volume_restrictions.go (v1.34), `needsRestrictionsCheck`.
const DISKS: [&str; 4] = ["gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd"];

/// Returns the volumes of a Pod that may not be shared.
pub(super) fn disks_of(pod: &PodInfo) -> impl Iterator<Item = &Json> {
    let volumes = pod.spec().get("volumes").items().iter();
    volumes.filter(|volume| DISKS.iter().any(|kind| !volume.get(kind).is_null()))
}

/// Tells whether a Pod uses one of these disks, too, and not both only read it.
///
/// Source: volume_restrictions.go (v1.34), `isVolumeConflict`.
pub(super) fn share_a_disk(disks: &[&Json], other: &PodInfo) -> bool {
    disks_of(other).any(|volume| disks.iter().any(|own| is_same_disk(own, volume)))
}

fn is_same_disk(one: &Json, other: &Json) -> bool {
    let both = |kind: &str| {
        let (one, other) = (one.get(kind), other.get(kind));
        (!one.is_null() && !other.is_null()).then_some((one, other))
    };
    let same = |(one, other): (&Json, &Json), field: &str| {
        one.get(field).as_str().unwrap_or("") == other.get(field).as_str().unwrap_or("")
    };
    let only_read = |(one, other): (&Json, &Json)| {
        one.get("readOnly").as_bool() == Some(true) && other.get("readOnly").as_bool() == Some(true)
    };
    let shares_monitor = |(one, other): (&Json, &Json)| {
        one.get("monitors").items().iter().any(|monitor| other.get("monitors").items().contains(monitor))
    };
    both("gcePersistentDisk").is_some_and(|pair| same(pair, "pdName") && !only_read(pair))
        || both("awsElasticBlockStore").is_some_and(|pair| same(pair, "volumeID"))
        || both("iscsi").is_some_and(|pair| same(pair, "iqn") && !only_read(pair))
        || both("rbd")
            .is_some_and(|pair| shares_monitor(pair) && same(pair, "pool") && same(pair, "image") && !only_read(pair))
}

/// Returns the volumes of a Pod that count against the limits of drivers.
///
/// Source: csi.go (v1.34), `filterAttachableVolumes`, `getCSIDriverInfo`.
fn handles(pod: &PodInfo, storage: Storage<'_>) -> BTreeSet<Handle> {
    let volumes = pod.spec().get("volumes").items().iter();
    let keys = volumes.filter_map(|volume| claim_of(&pod.key, volume)).map(|(key, _)| key);
    keys.filter_map(|key| handle(&key, storage)).collect()
}

fn handle(key: &ObjectKey, storage: Storage<'_>) -> Option<Handle> {
    let claim = storage.claims.get(key)?;
    if let Some(volume) = volume_of(claim, storage) {
        return csi_handle(volume);
    }
    let class = storage.classes.get(&ObjectKey::cluster(Text::from(class_of(claim.stable()))))?;
    let driver = class.stable().get("provisioner").as_text().filter(|name| !name.is_empty())?.clone();
    // A claim without a volume counts as one of its own, which no real handle is.
    Some((driver, Text::from(alloc::format!("\u{0}{key}"))))
}

fn csi_handle(volume: &Object) -> Option<Handle> {
    let csi = volume.stable().at(&["spec", "csi"]);
    Some((csi.get("driver").as_text()?.clone(), csi.get("volumeHandle").as_text()?.clone()))
}

/// Returns how many volumes of each driver a node can take. Source: csi.go (v1.34), `getVolumeLimits`.
pub(super) fn limits(csi_node: Option<&Object>) -> BTreeMap<Text, i64> {
    let drivers = csi_node.map_or(&[][..], |own| own.stable().at(&["spec", "drivers"]).items());
    let limit =
        |driver: &Json| Some((driver.get("name").as_text()?.clone(), driver.at(&["allocatable", "count"]).as_i64()?));
    drivers.iter().filter_map(limit).collect()
}

/// Returns the volumes that are attached to a node. Source: csi.go (v1.34), `getNodeVolumeAttachmentInfo`.
fn attached(node: &Text, storage: Storage<'_>) -> BTreeSet<Handle> {
    let all = storage.attachments.into_iter().flat_map(Reflector::objects);
    let here = all.map(|attachment| attachment.stable().get("spec"));
    let here = here.filter(|spec| spec.get("nodeName").as_text() == Some(node));
    here.filter_map(|spec| {
        let attacher = spec.get("attacher").as_text().filter(|name| !name.is_empty())?.clone();
        let volume = spec.at(&["source", "persistentVolumeName"]).as_text()?.clone();
        let (_, handle) = csi_handle(storage.volumes.get(&ObjectKey::cluster(volume))?)?;
        Some((attacher, handle))
    })
    .collect()
}

/// Returns the labels that say where a volume can be used, with the values that they allow.
///
/// Source: volume_zone.go (v1.34), `getPVTopologies`; k8s.io/component-helpers storage/volume/helpers (v1.34),
/// `LabelZonesToSet`.
pub(super) fn zones_of(volume: &Object) -> Vec<(&'static str, BTreeSet<String>)> {
    let labels = volume.stable().at(&["metadata", "labels"]);
    let read = |label: &'static str| {
        let values: BTreeSet<String> =
            labels.get(label).as_str()?.split("__").map(|zone| String::from(zone.trim())).collect();
        (!values.contains("")).then_some((label, values))
    };
    ZONE_LABELS.into_iter().filter_map(read).collect()
}

fn newer(label: &str) -> &str {
    match label {
        OLD_ZONE => ZONE,
        OLD_REGION => REGION,
        other => other,
    }
}
