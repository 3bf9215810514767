//! What the server sets in the kinds of storage: defaults, the first phase, and the instant of the last change of
//! phase.
//!
//! Mirrors pkg/apis/core/v1/defaults.go, pkg/apis/storage/v1/defaults.go and
//! pkg/registry/core/persistentvolume/strategy.go (v1.34). Pure: trees in, trees out.

use jiff::Timestamp;

use crate::components::volumes::{CLAIM_FINALIZER, VOLUME_FINALIZER};
use crate::json;
use crate::objects::Json;
use crate::objects::time::to_time;

/// Sets the defaults of a volume, a claim, a class or a driver.
pub(super) fn default(kind: &str, tree: &mut Json) {
    let mut set_absent = |path: &[&str], value: Json| {
        if tree.at(path).is_null() {
            tree.set(path, value);
        }
    };
    match kind {
        "PersistentVolume" => {
            set_absent(&["spec", "persistentVolumeReclaimPolicy"], Json::from("Retain"));
            set_absent(&["spec", "volumeMode"], Json::from("Filesystem"));
            set_absent(&["status", "phase"], Json::from("Pending"));
        }
        "PersistentVolumeClaim" => {
            set_absent(&["spec", "volumeMode"], Json::from("Filesystem"));
            set_absent(&["status", "phase"], Json::from("Pending"));
        }
        "StorageClass" => {
            set_absent(&["reclaimPolicy"], Json::from("Delete"));
            set_absent(&["volumeBindingMode"], Json::from("Immediate"));
        }
        "CSIDriver" => {
            for (field, value) in [
                ("attachRequired", Json::from(true)),
                ("podInfoOnMount", Json::from(false)),
                ("storageCapacity", Json::from(false)),
                ("fsGroupPolicy", Json::from("ReadWriteOnceWithFSType")),
                ("requiresRepublish", Json::from(false)),
                ("seLinuxMount", Json::from(false)),
            ] {
                set_absent(&["spec", field], value);
            }
            if tree.at(&["spec", "volumeLifecycleModes"]).is_empty() {
                tree.set(&["spec", "volumeLifecycleModes"], json!(["Persistent"]));
            }
        }
        _ => {}
    }
}

/// Sets the status of a new volume.
pub(super) fn new_volume(tree: &mut Json, now: Timestamp) {
    tree.set(&["status"], json!({"phase": "Pending"}));
    tree.set(&["status", "lastPhaseTransitionTime"], to_time(now));
}

/// Notes when a volume's phase changed, unless the writer says when.
pub(super) fn time_phase(tree: &mut Json, old: &Json, now: Timestamp) {
    const WHEN: [&str; 2] = ["status", "lastPhaseTransitionTime"];
    let changed = tree.at(&["status", "phase"]) != old.at(&["status", "phase"]);
    if changed && (tree.at(&WHEN).is_null() || tree.at(&WHEN) == old.at(&WHEN)) {
        tree.set(&WHEN, to_time(now));
    }
}

/// Adds the finalizer that protects a volume or a claim in use.
///
/// Source: plugin/pkg/admission/storage/storageobjectinuseprotection/admission.go (v1.34).
pub(super) fn protect(kind: &str, tree: &mut Json) {
    let finalizer = match kind {
        "PersistentVolume" => VOLUME_FINALIZER,
        "PersistentVolumeClaim" => CLAIM_FINALIZER,
        _ => return,
    };
    let has = tree.at(&["metadata", "finalizers"]).items().iter().any(|own| own.as_str() == Some(finalizer));
    if !has {
        tree.entry(&["metadata", "finalizers"]).make_array().push(Json::from(finalizer));
    }
}
