//! Which volume fits a claim.
//!
//! Mirrors k8s.io/component-helpers storage/volume/pv_helpers.go, `FindMatchingVolume`, and
//! pkg/controller/volume/persistentvolume/{index,pv_controller}.go (v1.34). Pure. Of equally small volumes upstream
//! takes any; here it is the first by name. The binder and the scheduler share this.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::components::node_affinity::matches_volume;
use crate::components::volumes::{BOUND_BY_CONTROLLER, class_of};
use crate::json;
use crate::objects::quantity::Quantity;
use crate::objects::selector::Selector;
use crate::objects::{Json, Object};

fn size(tree: &Json, path: &[&str]) -> i128 {
    Quantity::from_json(tree.at(path)).map_or(0, |amount| i128::from(amount.value()))
}

pub(in crate::components) fn requested(claim: &Json) -> i128 {
    size(claim, &["spec", "resources", "requests", "storage"])
}

fn modes(tree: &Json) -> BTreeSet<&str> {
    tree.at(&["spec", "accessModes"]).items().iter().filter_map(Json::as_str).collect()
}

/// Tells whether a volume names a claim, or could be the one that it names.
pub(in crate::components) fn is_bound_to(volume: &Object, claim: &Object) -> bool {
    let reference = volume.stable().at(&["spec", "claimRef"]);
    let key = claim.key();
    let uid = reference.get("uid").as_str().unwrap_or("");
    reference.is_object()
        && reference.get("name").as_str() == Some(&*key.name)
        && reference.get("namespace").as_str() == Some(&*key.namespace)
        && (uid.is_empty() || uid == claim.uid())
}

/// Tells whether one is a file system and the other a block device.
pub(in crate::components) fn other_mode(claim: &Object, volume: &Object) -> bool {
    let mode = |object: &Object| object.stable().at(&["spec", "volumeMode"]).as_text().cloned();
    let plain = || crate::objects::Text::of("Filesystem");
    mode(claim).unwrap_or_else(plain) != mode(volume).unwrap_or_else(plain)
}

fn offers_modes(volume: &Object, claim: &Object) -> bool {
    modes(claim.stable()).is_subset(&modes(volume.stable()))
}

/// Says why a volume that a claim names does not do.
pub(in crate::components) fn satisfies(volume: &Object, claim: &Object) -> Result<(), alloc::string::String> {
    let (tree, wants) = (volume.stable(), claim.stable());
    if !tree.at(&["metadata", "deletionTimestamp"]).is_null() {
        return Err(alloc::format!("the volume is marked for deletion \"{}\"", volume.name()));
    }
    let why = if size(tree, &["spec", "capacity", "storage"]) < requested(wants) {
        "requested PV is too small"
    } else if class_of(tree) != class_of(wants) {
        "storageClassName does not match"
    } else if other_mode(claim, volume) {
        "incompatible volumeMode"
    } else if !offers_modes(volume, claim) {
        "incompatible accessMode"
    } else {
        return Ok(());
    };
    Err(alloc::string::String::from(why))
}

/// Finds the volume for a claim: one that names it, else the smallest free one, from the fewest modes upwards.
pub(in crate::components) fn best_match(claim: &Object, volumes: &[Object], delayed: bool) -> Option<Object> {
    let mut groups: Vec<BTreeSet<&str>> = volumes.iter().map(|volume| modes(volume.stable())).collect();
    groups.retain(|group| modes(claim.stable()).is_subset(group));
    groups.sort_by_key(|group| (group.len(), group.clone()));
    groups.dedup();
    let wants = claim.stable();
    let selector = wants.at(&["spec", "selector"]);
    let selector = (!selector.is_null()).then(|| Selector::of_object(selector));
    for group in groups {
        let fitting = volumes.iter().filter(|volume| {
            let tree = volume.stable();
            modes(tree) == group
                && (tree.at(&["spec", "claimRef"]).is_null() || is_bound_to(volume, claim))
                && size(tree, &["spec", "capacity", "storage"]) >= requested(wants)
                && !other_mode(claim, volume)
                && tree.at(&["metadata", "deletionTimestamp"]).is_null()
        });
        let fitting: Vec<&Object> = fitting.collect();
        if let Some(bound) = fitting.iter().find(|volume| is_bound_to(volume, claim)) {
            return Some((*bound).clone());
        }
        let free = fitting.iter().filter(|volume| {
            let tree = volume.stable();
            let labels = tree.at(&["metadata", "labels"]);
            let selected = match &selector {
                None => true,
                Some(selector) => selector.as_ref().is_some_and(|own| own.matches(labels)),
            };
            !delayed
                && tree.at(&["status", "phase"]).as_str() == Some("Available")
                && selected
                && class_of(tree) == class_of(wants)
        });
        let best = free.min_by_key(|volume| size(volume.stable(), &["spec", "capacity", "storage"]));
        if let Some(best) = best {
            return Some((*best).clone());
        }
    }
    None
}

/// Lets a volume name a claim; `None` if it does already.
///
/// Source: k8s.io/component-helpers storage/volume/pv_helpers.go (v1.34), `GetBindVolumeToClaim`.
pub(in crate::components) fn named_volume(volume: &Object, claim: &Object) -> Option<Json> {
    let mut body = volume.json();
    let reference = volume.stable().at(&["spec", "claimRef"]);
    let key = claim.key();
    let is_same = reference.get("name").as_str() == Some(&*key.name)
        && reference.get("namespace").as_str() == Some(&*key.namespace)
        && reference.get("uid").as_str() == Some(claim.uid());
    if !is_same {
        let version = alloc::format!("{}", claim.resource_version());
        let reference = json!({"kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": &*key.namespace,
            "name": &*key.name, "uid": claim.uid(), "resourceVersion": version});
        body.set(&["spec", "claimRef"], reference);
    }
    let marks =
        !is_bound_to(volume, claim) && volume.stable().at(&["metadata", "annotations", BOUND_BY_CONTROLLER]).is_null();
    if marks {
        body.set(&["metadata", "annotations", BOUND_BY_CONTROLLER], "yes");
    }
    (!is_same || marks).then_some(body)
}

/// Finds the volume for a claim whose first consumer would run on a node.
///
/// Source: pv_helpers.go (v1.34), `FindMatchingVolume` with a node.
pub(in crate::components) fn match_on_node<'a>(
    claim: &Object,
    node: &Json,
    volumes: impl Iterator<Item = &'a Object>,
) -> Option<&'a Object> {
    let wants = claim.stable();
    let selector = wants.at(&["spec", "selector"]);
    let selector = (!selector.is_null()).then(|| Selector::of_object(selector));
    let mut best: Option<(i128, &Object)> = None;
    for volume in volumes {
        let tree = volume.stable();
        let amount = size(tree, &["spec", "capacity", "storage"]);
        let is_named = is_bound_to(volume, claim);
        let is_out = !tree.at(&["spec", "claimRef"]).is_null() && !is_named
            || amount < requested(wants)
            || other_mode(claim, volume)
            || !tree.at(&["metadata", "deletionTimestamp"]).is_null();
        if is_out {
            continue;
        }
        let is_near = matches_volume(tree.get("spec"), node);
        if is_named {
            return is_near.then_some(volume);
        }
        let labels = tree.at(&["metadata", "labels"]);
        let fits = tree.at(&["status", "phase"]).as_str() == Some("Available")
            && selector.as_ref().is_none_or(|own| own.as_ref().is_some_and(|own| own.matches(labels)))
            && class_of(tree) == class_of(wants)
            && is_near
            && offers_modes(volume, claim);
        if fits && best.is_none_or(|(least, _)| amount < least) {
            best = Some((amount, volume));
        }
    }
    best.map(|(_, volume)| volume)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(name: &str, size: &str, modes: Json) -> Object {
        let mut tree = json!({"metadata": {"name": name}, "spec": {"storageClassName": "fast"},
            "status": {"phase": "Available"}});
        tree.set(&["spec", "capacity", "storage"], size);
        tree.set(&["spec", "accessModes"], modes);
        Object::new(tree, 1)
    }

    fn claim(size: &str) -> Object {
        let mut tree = json!({"metadata": {"name": "c", "namespace": "n", "uid": "u"},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast"}});
        tree.set(&["spec", "resources", "requests", "storage"], size);
        Object::new(tree, 1)
    }

    #[test]
    fn the_smallest_volume_with_the_fewest_modes_is_taken() {
        let all = [
            volume("large", "10Gi", json!(["ReadWriteOnce"])),
            volume("shared", "1Gi", json!(["ReadWriteOnce", "ReadWriteMany"])),
            volume("small", "2Gi", json!(["ReadWriteOnce"])),
            volume("tiny", "1Mi", json!(["ReadWriteOnce"])),
        ];
        let name =
            |size: &str| best_match(&claim(size), &all, false).map(|own| alloc::string::String::from(own.name()));
        assert_eq!(name("1Gi").as_deref(), Some("small"));
        assert_eq!(name("5Gi").as_deref(), Some("large"));
        assert_eq!(name("50Gi"), None);
        assert!(best_match(&claim("1Gi"), &all, true).is_none());
    }

    #[test]
    fn a_volume_that_names_the_claim_comes_first() {
        let mut tree = volume("kept", "10Gi", json!(["ReadWriteOnce"])).json();
        tree.set(&["spec", "claimRef"], json!({"namespace": "n", "name": "c"}));
        let all = [volume("small", "2Gi", json!(["ReadWriteOnce"])), Object::new(tree, 1)];
        assert_eq!(best_match(&claim("1Gi"), &all, false).unwrap().name(), "kept");
        assert_eq!(best_match(&claim("1Gi"), &all, true).unwrap().name(), "kept");
    }
}
