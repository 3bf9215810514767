//! What Pods, claims, volumes and attachments say of each other: which volume a Pod uses, and what it is called.
//!
//! Mirrors pkg/controller/volume/attachdetach/util/util.go, pkg/volume/csi/csi_plugin.go and pkg/volume/util (v1.34).
//! Inputs: objects, and look-ups in caches. Outputs: names, and why there is none. Left out on purpose: volumes of
//! plugins other than CSI, and those of old plugins that CSI drivers serve.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;

use crate::network::Resource;
use crate::objects::lifecycle::{is_ending, is_terminal, newest_marked};
use crate::objects::{Json, Object, ObjectKey, Text, digest};

/// `persistentvolumeclaims`.
pub const CLAIMS: Resource = Resource::of("", "v1", "persistentvolumeclaims");
/// `persistentvolumes`.
pub const VOLUMES: Resource = Resource::of("", "v1", "persistentvolumes");
/// `storageclasses`.
pub const CLASSES: Resource = Resource::of("storage.k8s.io", "v1", "storageclasses");
/// `volumeattachments`.
pub const ATTACHMENTS: Resource = Resource::of("storage.k8s.io", "v1", "volumeattachments");
/// `csinodes`.
pub const CSI_NODES: Resource = Resource::of("storage.k8s.io", "v1", "csinodes");
/// `csidrivers`.
pub const DRIVERS: Resource = Resource::of("storage.k8s.io", "v1", "csidrivers");

/// The annotation of a claim that is completely bound to its volume.
/// Source: k8s.io/component-helpers storage/volume/pv_helpers.go (v1.34), `AnnBindCompleted`.
pub const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// The annotation of a claim or volume whose binding the controller chose. Source: as [`BIND_COMPLETED`],
/// `AnnBoundByController`.
pub const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
/// The annotation of a claim with the node for which a volume is to be made. Source: as [`BIND_COMPLETED`],
/// `AnnSelectedNode`.
pub const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
/// Protects a volume that is bound. Source: pkg/volume/util/finalizer.go (v1.34), `PVProtectionFinalizer`.
pub const VOLUME_FINALIZER: &str = "kubernetes.io/pv-protection";
/// Protects a claim that a Pod uses. Source: as [`VOLUME_FINALIZER`], `PVCProtectionFinalizer`.
pub const CLAIM_FINALIZER: &str = "kubernetes.io/pvc-protection";
/// The annotation of a Node whose volumes the attach-detach controller attaches.
/// Source: pkg/volume/util/util.go (v1.34), `ControllerManagedAttachAnnotation`.
pub const CONTROLLER_ATTACHES: &str = "volumes.kubernetes.io/controller-managed-attach-detach";
/// The older annotation with the name of a class. Source: k8s.io/api core/v1 (v1.34), `BetaStorageClassAnnotation`.
pub const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// Returns the claim that a Pod's volume names, and whether it is made for the Pod.
#[must_use]
pub fn claim_of(pod: &ObjectKey, volume: &Json) -> Option<(ObjectKey, bool)> {
    let key = |name: String| ObjectKey::namespaced(pod.namespace.clone(), Text::from(name));
    if let Some(name) = volume.at(&["persistentVolumeClaim", "claimName"]).as_str() {
        return Some((key(String::from(name)), false));
    }
    let name = volume.get("name").as_str().unwrap_or("");
    (!volume.get("ephemeral").is_null()).then(|| (key(format!("{}-{name}", pod.name)), true))
}

/// Returns the claims that a Pod's volumes name.
pub fn claims_of(pod: &Object) -> impl Iterator<Item = ObjectKey> {
    let (key, volumes) = (pod.key(), pod.stable().at(&["spec", "volumes"]).items());
    volumes.iter().filter_map(move |volume| claim_of(&key, volume)).map(|(claim, _)| claim)
}

/// Tells whether a Pod uses any claim.
#[must_use]
pub fn has_claims(pod: &Object) -> bool {
    let volumes = pod.stable().at(&["spec", "volumes"]).items();
    volumes.iter().any(|volume| !volume.get("persistentVolumeClaim").is_null() || !volume.get("ephemeral").is_null())
}

/// The Pods that name each claim, so that a change of one claim or Pod is no look at all Pods.
#[derive(Clone, Debug, Default)]
pub struct ClaimUsers(BTreeMap<ObjectKey, BTreeSet<ObjectKey>>);

impl ClaimUsers {
    /// Follows a change of a Pod, of which a list may show another one of the same name.
    pub fn update(&mut self, before: Option<&Object>, after: Option<&Object>) {
        let volumes = |pod: Option<&Object>| pod.map(|pod| pod.stable().at(&["spec", "volumes"]).clone());
        if volumes(before) == volumes(after) {
            return;
        }
        if let Some(pod) = before {
            let key = pod.key();
            for claim in claims_of(pod) {
                if let Some(users) = self.0.get_mut(&claim) {
                    users.remove(&key);
                    if users.is_empty() {
                        self.0.remove(&claim);
                    }
                }
            }
        }
        if let Some(pod) = after {
            let key = pod.key();
            for claim in claims_of(pod) {
                self.0.entry(claim).or_default().insert(key.clone());
            }
        }
    }

    /// Returns the Pods that name a claim.
    pub fn of<'a>(&'a self, claim: &ObjectKey) -> impl Iterator<Item = &'a ObjectKey> + use<'a> {
        self.0.get(claim).into_iter().flatten()
    }
}

/// Returns the class of a claim or volume; empty for none.
///
/// Source: k8s.io/component-helpers storage/volume/pv_helpers.go (v1.34), `GetPersistentVolumeClaimClass`.
#[must_use]
pub fn class_of(tree: &Json) -> &str {
    let old = tree.at(&["metadata", "annotations", BETA_CLASS]).as_str();
    old.or_else(|| tree.at(&["spec", "storageClassName"]).as_str()).unwrap_or("")
}

/// Returns the default class.
///
/// Source: pkg/volume/util/storageclass.go (v1.34), `GetDefaultClass`.
pub fn default_class<'a>(classes: impl Iterator<Item = &'a Object>) -> Option<&'a Object> {
    const MARKS: [&str; 2] =
        ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
    newest_marked(classes, &MARKS)
}

/// Tells whether a class binds its claims only when a Pod uses them.
#[must_use]
pub fn is_delayed(class: Option<&Object>) -> bool {
    class.is_some_and(|class| class.stable().get("volumeBindingMode").as_str() == Some("WaitForFirstConsumer"))
}

/// A volume that a CSI driver attaches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CsiVolume {
    /// The name of the PersistentVolume.
    pub name: Text,
    /// The driver.
    pub driver: Text,
    /// What the driver calls it.
    pub handle: Text,
    /// What Nodes and controllers call it: `kubernetes.io/csi/<driver>^<handle>`.
    pub unique: Text,
    /// Whether it may be attached to several nodes.
    pub is_shared: bool,
}

/// Splits the unique name of a volume into driver and handle.
///
/// Source: pkg/volume/util/util.go (v1.34), `SplitUniqueName`; pkg/volume/csi/csi_plugin.go, `volNameSep`.
#[must_use]
pub fn split_unique(unique: &str) -> Option<(&str, &str)> {
    unique.strip_prefix("kubernetes.io/csi/")?.split_once('^')
}

/// Reads a PersistentVolume; `None` for one of another plugin.
#[must_use]
pub fn csi_volume(volume: &Object) -> Option<CsiVolume> {
    let spec = volume.stable().get("spec");
    let driver = spec.at(&["csi", "driver"]).as_text()?.clone();
    let handle = spec.at(&["csi", "volumeHandle"]).as_text()?.clone();
    let modes = spec.get("accessModes").items();
    // Source: pkg/volume/util/util.go (v1.34), `IsMultiAttachAllowed`.
    let is_shared =
        modes.is_empty() || modes.iter().any(|mode| matches!(mode.as_str(), Some("ReadWriteMany" | "ReadOnlyMany")));
    let unique = Text::from(format!("kubernetes.io/csi/{driver}^{handle}"));
    Some(CsiVolume { name: Text::from(volume.name()), driver, handle, unique, is_shared })
}

/// Returns the name of the VolumeAttachment of a volume on a node.
///
/// Source: pkg/volume/csi/csi_attacher.go (v1.34), `getAttachmentName`.
#[must_use]
pub fn attachment_name(handle: &str, driver: &str, node: &str) -> Text {
    Text::from(format!("csi-{}", digest::sha256_hex(format!("{handle}{driver}{node}").as_bytes())))
}

/// Tells whether volumes of a driver have to be attached: an unknown one is taken to say so.
///
/// Source: pkg/volume/csi/csi_plugin.go (v1.34), `skipAttach`.
#[must_use]
pub fn attaches(driver: Option<&Object>) -> bool {
    driver.is_none_or(|driver| driver.stable().at(&["spec", "attachRequired"]).as_bool() != Some(false))
}

/// Returns the volume that a claim is bound to, if both say so.
///
/// Source: pkg/controller/volume/attachdetach/util/util.go (v1.34), `getPVCFromCache`, `getPVSpecFromCache`.
pub fn bound<'a>(claim: &Object, volume: impl Fn(&ObjectKey) -> Option<&'a Object>) -> Option<&'a Object> {
    let tree = claim.stable();
    let name = tree.at(&["spec", "volumeName"]).as_text().filter(|name| !name.is_empty())?;
    if tree.at(&["status", "phase"]).as_str() != Some("Bound") {
        return None;
    }
    let volume = volume(&ObjectKey::cluster(name.clone()))?;
    (volume.stable().at(&["spec", "claimRef", "uid"]).as_str() == Some(claim.uid())).then_some(volume)
}

/// Tells whether a Pod does not use its volumes any more: it has ended, or is being deleted and runs nothing.
///
/// Source: pkg/volume/util/util.go (v1.34), `IsPodTerminated`.
#[must_use]
pub fn is_finished(pod: &Object) -> bool {
    let runs_nothing = |list: &str| {
        let statuses = pod.stable().at(&["status", list]).items().iter();
        let mut states = statuses.map(|status| status.get("state"));
        states.all(|state| !state.get("terminated").is_null() || !state.get("waiting").is_null())
    };
    let lists = ["initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"];
    is_terminal(pod) || is_ending(pod) && lists.into_iter().all(runs_nothing)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{ClaimUsers, attachment_name, csi_volume, is_finished, split_unique};
    use crate::json;
    use crate::objects::{Object, ObjectKey};

    #[test]
    fn each_claim_knows_the_pods_that_name_it() {
        let pod = |claim: &str| {
            let mut pod = json!({"metadata": {"name": "p", "namespace": "ns"}});
            let volume = json!({"name": "data", "persistentVolumeClaim": {"claimName": claim}});
            pod.set(&["spec", "volumes"], alloc::vec![volume, json!({"name": "own", "ephemeral": {}})]);
            Object::new(pod, 1)
        };
        let (one, other) = (pod("a"), pod("b"));
        let mut users = ClaimUsers::default();
        let of = |users: &ClaimUsers| {
            let count = |claim| users.of(&ObjectKey::namespaced("ns", claim)).count();
            Vec::from([count("a"), count("b"), count("p-own")])
        };
        for (before, after, expected) in [
            (None, Some(&one), [1, 0, 1]),
            (Some(&one), Some(&one), [1, 0, 1]),
            (Some(&one), Some(&other), [0, 1, 1]),
            (Some(&other), None, [0, 0, 0]),
        ] {
            users.update(before, after);
            assert_eq!(of(&users), expected);
        }
        assert!(users.0.is_empty());
    }

    #[test]
    fn an_attachment_is_named_by_volume_driver_and_node() {
        assert_eq!(
            attachment_name("vol-0", "csi.example.com", "worker-3"),
            "csi-917faa3bb9bf69b11fbe42126e4605695b332990b5de3308f150476cb6592080"
        );
    }

    #[test]
    fn a_volume_is_shared_unless_all_its_modes_are_of_one_node() {
        let volume = |modes: crate::objects::Json| {
            let mut tree = json!({"metadata": {"name": "pv"}, "spec": {"csi": {"driver": "d", "volumeHandle": "v"}}});
            tree.set(&["spec", "accessModes"], modes);
            csi_volume(&Object::new(tree, 1)).unwrap()
        };
        assert_eq!(volume(json!(["ReadWriteOnce"])).unique, "kubernetes.io/csi/d^v");
        assert_eq!(split_unique("kubernetes.io/csi/d^v"), Some(("d", "v")));
        for (modes, shared) in [
            (json!(["ReadWriteOnce"]), false),
            (json!(["ReadWriteOncePod"]), false),
            (json!(["ReadWriteOnce", "ReadOnlyMany"]), true),
            (json!(["ReadWriteMany"]), true),
            (json!([]), true),
        ] {
            assert_eq!(volume(modes.clone()).is_shared, shared, "{modes}");
        }
    }

    #[test]
    fn a_pod_that_is_being_deleted_uses_its_volumes_while_a_container_runs() {
        let pod = |state: crate::objects::Json| {
            let mut tree = json!({"metadata": {"name": "p", "deletionTimestamp": "2026-01-01T00:00:00Z"}});
            tree.set(&["status", "phase"], "Running");
            tree.set(&["status", "containerStatuses"], json!([{"name": "c"}]));
            let mut status = tree.at(&["status", "containerStatuses"]).items()[0].clone();
            status.set(&["state"], state);
            tree.set(&["status", "containerStatuses"], alloc::vec![status]);
            Object::new(tree, 1)
        };
        assert!(!is_finished(&pod(json!({"running": {}}))));
        assert!(is_finished(&pod(json!({"terminated": {"exitCode": 0}}))));
        assert!(is_finished(&pod(json!({"waiting": {"reason": "ContainerCreating"}}))));
    }
}
