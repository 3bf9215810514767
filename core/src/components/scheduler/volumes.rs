//! Whether the claims of a Pod's volumes are ready, which is checked before any node.
//!
//! Mirrors pkg/scheduler/framework/plugins/volumebinding (v1.34), `PreFilter` with `podHasPVCs` and
//! `GetPodVolumeClaims`.
//! Inputs: the Pod, its claims, the classes of storage. Outputs: nothing, or the reason why no node can take the Pod.
//! Left out on purpose: the topology of volumes, and the choice of a volume for a claim that waits for its first
//! consumer; such a claim blocks no Pod here.

use alloc::format;
use alloc::string::String;

use super::cache::PodInfo;
use crate::objects::{Json, Object, ObjectKey, Text};

/// The annotation of a claim that is completely bound to its volume.
/// Source: k8s.io/component-helpers/storage/volume/helpers.go (v1.34), `AnnBindCompleted`.
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";

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
        let Some((key, is_ephemeral)) = claim_of(pod, volume) else { continue };
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
        if !tree.at(&["metadata", "deletionTimestamp"]).is_null() {
            return Some(Text::from(format!("persistentvolumeclaim \"{name}\" is being deleted")));
        }
        let is_bound = !volume.is_empty() && !tree.at(&["metadata", "annotations", BIND_COMPLETED]).is_null();
        is_unbound |= !is_bound && !waits_for_consumer(tree, &class);
    }
    is_unbound.then(|| Text::of("pod has unbound immediate PersistentVolumeClaims"))
}

/// Tells whether a claim is one of a Pod's.
pub(super) fn uses(pod: &PodInfo, claim: &ObjectKey) -> bool {
    pod.spec().get("volumes").items().iter().any(|volume| claim_of(pod, volume).is_some_and(|(key, _)| key == *claim))
}

/// Returns the claim that a volume names, and whether it is made for the Pod.
fn claim_of(pod: &PodInfo, volume: &Json) -> Option<(ObjectKey, bool)> {
    let key = |name: String| ObjectKey::namespaced(pod.key.namespace.clone(), Text::from(name));
    if let Some(name) = volume.at(&["persistentVolumeClaim", "claimName"]).as_str() {
        return Some((key(String::from(name)), false));
    }
    let name = volume.get("name").as_str().unwrap_or("");
    (!volume.get("ephemeral").is_null()).then(|| (key(format!("{}-{name}", pod.key.name)), true))
}

/// Source: pkg/volume/util/storageclass.go and k8s.io/component-helpers/storage/volume/helpers.go (v1.34),
/// `IsDelayBindingMode`: a class that is not there binds at once.
fn waits_for_consumer<'a>(claim: &Json, class: &impl Fn(&ObjectKey) -> Option<&'a Object>) -> bool {
    let Some(name) = claim.at(&["spec", "storageClassName"]).as_text() else { return false };
    class(&ObjectKey::cluster(name.clone()))
        .is_some_and(|class| class.stable().get("volumeBindingMode").as_str() == Some("WaitForFirstConsumer"))
}
