//! Which changes of storage, and of what uses it, may help a Pod that was rejected because of its volumes.
//!
//! Mirrors `EventsToRegister` and the hints of pkg/scheduler/framework/plugins/{volumerestrictions,nodevolumelimits,
//! volumebinding,volumezone} (v1.34; v1.31 without hints). Inputs: the change, the Pod, the plugin that rejected it.
//! Outputs: whether to try again. Left out on purpose: old plugins whose volumes CSI drivers serve, and how much room a
//! provisioner has.

use alloc::vec::Vec;

use super::cache::PodInfo;
use super::hints::{ClusterEvent, NodeChange};
use super::plugins::Plugin;
use super::volume_rules::{disks_of, limits, named_claims, share_a_disk, zones_of};
use super::volumes::uses;
use crate::components::volumes::{has_claims, is_delayed};
use crate::objects::{Json, Object};

/// The annotation of a CSINode with the old plugins whose volumes CSI drivers serve.
/// Source: k8s.io/api core/v1/annotation_key_constants.go (v1.34), `MigratedPluginsAnnotationKey`.
const MIGRATED: &str = "storage.alpha.kubernetes.io/migrated-plugins";

/// A change of something that the plugins for volumes watch; before it is `None` for a new object.
#[derive(Clone, Copy, Debug)]
pub(super) enum StorageChange<'a> {
    Claim { before: Option<&'a Object>, after: &'a Object },
    Volume { before: Option<&'a Object>, after: &'a Object },
    Class { before: Option<&'a Object>, after: &'a Object },
    CsiNode { before: Option<&'a Object>, after: &'a Object },
    AttachmentGone(&'a Object),
}

impl core::fmt::Display for StorageChange<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Claim { after, .. } => write!(f, "PersistentVolumeClaim {} changed", after.key()),
            Self::Volume { after, .. } => write!(f, "PersistentVolume {} changed", after.key()),
            Self::Class { after, .. } => write!(f, "StorageClass {} changed", after.name()),
            Self::CsiNode { after, .. } => write!(f, "CSINode {} changed", after.name()),
            Self::AttachmentGone(attachment) => write!(f, "VolumeAttachment {} is gone", attachment.name()),
        }
    }
}

/// Tells whether a plugin of 1.31 names a change of this kind.
pub(super) const fn is_named(plugin: Plugin, change: StorageChange<'_>) -> bool {
    match (plugin, change) {
        (Plugin::VolumeRestrictions | Plugin::NodeVolumeLimits, StorageChange::Claim { before, .. })
        | (Plugin::VolumeZone, StorageChange::Class { before, .. }) => before.is_none(),
        (Plugin::NodeVolumeLimits, StorageChange::CsiNode { .. })
        | (Plugin::VolumeZone, StorageChange::Claim { .. } | StorageChange::Volume { .. }) => true,
        (Plugin::VolumeBinding, change) => !matches!(change, StorageChange::AttachmentGone(_)),
        _ => false,
    }
}

/// Calls the hint of one of these plugins.
pub(super) fn hint(plugin: Plugin, change: ClusterEvent<'_>, pod: &PodInfo) -> bool {
    use NodeChange::Labels;
    match (plugin, change) {
        (Plugin::VolumeRestrictions | Plugin::VolumeBinding | Plugin::VolumeZone, ClusterEvent::NodeAdded(_))
        | (Plugin::VolumeBinding | Plugin::VolumeZone, ClusterEvent::NodeChanged { what: Labels, .. }) => true,
        (Plugin::VolumeRestrictions, ClusterEvent::PodGone(gone) | ClusterEvent::NominationGone(gone)) => {
            gone.key.namespace == pod.key.namespace
                && (share_a_disk(&disks_of(pod).collect::<Vec<_>>(), gone)
                    || named_claims(gone).any(|key| named_claims(pod).any(|own| own == key)))
        }
        (Plugin::NodeVolumeLimits, ClusterEvent::PodGone(gone) | ClusterEvent::NominationGone(gone)) => {
            has_claims(&gone.object)
        }
        (_, ClusterEvent::Storage(change)) => storage_hint(plugin, change, pod),
        _ => false,
    }
}

fn storage_hint(plugin: Plugin, change: StorageChange<'_>, pod: &PodInfo) -> bool {
    let names = |claim: &Object| named_claims(pod).any(|key| key == claim.key());
    match (plugin, change) {
        (Plugin::VolumeRestrictions, StorageChange::Claim { before: None, after })
        | (Plugin::VolumeZone, StorageChange::Claim { after, .. }) => names(after),
        (Plugin::NodeVolumeLimits, StorageChange::Claim { before: None, after })
        | (Plugin::VolumeBinding, StorageChange::Claim { after, .. }) => uses(pod, &after.key()),
        (Plugin::NodeVolumeLimits, StorageChange::CsiNode { before, after }) => before.is_none_or(|before| {
            let old = limits(Some(before));
            limits(Some(after)).iter().any(|(driver, most)| *most > old.get(driver).copied().unwrap_or(0))
        }),
        (Plugin::NodeVolumeLimits, StorageChange::AttachmentGone(_)) => named_claims(pod).next().is_some(),
        (Plugin::VolumeBinding, StorageChange::Volume { .. }) => true,
        (Plugin::VolumeBinding, StorageChange::Class { before, after }) => before.is_none_or(|before| {
            let places = |class: &Object| class.stable().get("allowedTopologies").items().to_vec();
            places(before) != places(after)
        }),
        (Plugin::VolumeBinding, StorageChange::CsiNode { before, after }) => before.is_none_or(|before| {
            let migrated = |own: &Object| -> Json { own.stable().at(&["metadata", "annotations", MIGRATED]).clone() };
            migrated(before) != migrated(after)
        }),
        (Plugin::VolumeZone, StorageChange::Class { before: None, after }) => is_delayed(Some(after)),
        (Plugin::VolumeZone, StorageChange::Volume { before, after }) => {
            before.is_none_or(|before| zones_of(before) != zones_of(after))
        }
        _ => false,
    }
}
