//! What the server sets in the kinds of storage: defaults, the first phase, and the instant of the last change of
//! phase.
//!
//! Mirrors pkg/apis/core/v1/defaults.go, pkg/apis/storage/v1/defaults.go and
//! pkg/registry/core/persistentvolume/strategy.go (v1.34). Pure: trees in, trees out.

use jiff::Timestamp;

use super::fields::set_absent;
use super::pods;
use crate::components::volumes::{CLAIM_FINALIZER, VOLUME_FINALIZER};
use crate::json;
use crate::objects::time::to_time;
use crate::objects::{Json, NULL};
use crate::profile::Settings;

/// Sets the defaults of a volume, a claim, a class or a driver.
pub(super) fn default(kind: &str, tree: &mut Json) {
    match kind {
        "PersistentVolume" => {
            if tree.get("spec").is_object() {
                pods::default_sources(tree.entry(&["spec"]));
            }
            set_absent(tree, &["spec", "persistentVolumeReclaimPolicy"], "Retain");
            set_absent(tree, &["spec", "volumeMode"], "Filesystem");
            set_absent(tree, &["status", "phase"], "Pending");
        }
        "PersistentVolumeClaim" => {
            set_absent(tree, &["spec", "volumeMode"], "Filesystem");
            set_absent(tree, &["status", "phase"], "Pending");
        }
        "StorageClass" => {
            set_absent(tree, &["reclaimPolicy"], "Delete");
            set_absent(tree, &["volumeBindingMode"], "Immediate");
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
                set_absent(tree, &["spec", field], value);
            }
            if tree.at(&["spec", "volumeLifecycleModes"]).is_empty() {
                tree.set(&["spec", "volumeLifecycleModes"], json!(["Persistent"]));
            }
        }
        _ => {}
    }
}

/// Sets the default of a driver that a gate decides about. Source: pkg/apis/storage/v1/defaults.go (v1.37).
pub(super) fn default_of_gate(kind: &str, tree: &mut Json, settings: &Settings) {
    if kind == "CSIDriver" && settings.is_gate_on("VolumeLimitScaling") {
        set_absent(tree, &["spec", "preventPodSchedulingIfMissing"], false);
    }
}

/// Prepares a new volume, claim or driver.
pub(super) fn prepare_create(kind: &str, tree: &mut Json, settings: &Settings, now: Timestamp) {
    if kind == "CSIDriver" {
        if !settings.profile().is("csi-drivers-time-recounts") {
            tree.remove(&["spec", "nodeAllocatableUpdatePeriodSeconds"]);
        }
        if !settings.is_gate_on("VolumeLimitScaling") {
            tree.remove(&["spec", "preventPodSchedulingIfMissing"]);
        }
        return;
    }
    tree.set(&["status"], json!({"phase": "Pending"}));
    if !settings.profile().is("volume-attributes-classes-are-kept") {
        tree.remove(&["spec", "volumeAttributesClassName"]);
    }
    if kind == "PersistentVolume" {
        tree.set(&["status", "lastPhaseTransitionTime"], to_time(now));
    } else {
        data_sources(tree, &NULL);
    }
}

/// Gives a claim one source of data in both fields. Source: pkg/api/persistentvolumeclaim/util.go (v1.34),
/// `DropDisabledFields`, `EnforceDataSourceBackwardsCompatibility`, `NormalizeDataSources`.
pub(super) fn data_sources(tree: &mut Json, stored: &Json) {
    let is_blank = |value: &Json| value.as_str().is_none_or(str::is_empty);
    let (had_old, had_new) = (stored.at(&["spec", "dataSource"]), stored.at(&["spec", "dataSourceRef"]));
    if !is_blank(tree.at(&["spec", "dataSourceRef", "namespace"])) && had_new.is_null() {
        tree.remove(&["spec", "dataSourceRef"]);
    }
    let (old, new) = (tree.at(&["spec", "dataSource"]).clone(), tree.at(&["spec", "dataSourceRef"]).clone());
    if new.is_null() {
        let (group, kind) = (old.get("apiGroup").as_str().unwrap_or(""), old.get("kind").as_str());
        let is_known = matches!(
            (group, kind),
            ("", Some("PersistentVolumeClaim")) | ("snapshot.storage.k8s.io", Some("VolumeSnapshot"))
        );
        let is_used = !had_old.is_null() || !had_new.is_null();
        if is_known || is_used && !old.is_null() {
            tree.set(&["spec", "dataSourceRef"], old);
        } else {
            tree.remove(&["spec", "dataSource"]);
        }
    } else if old.is_null() {
        let mut source = new;
        source.remove(&["namespace"]);
        tree.set(&["spec", "dataSource"], source);
    }
}

/// Notes when a volume's phase changed, unless the writer says when; while it does not change, the time stays.
/// Source: pkg/registry/core/persistentvolume/strategy.go (v1.34), `PrepareForUpdate` of the status.
pub(super) fn time_phase(tree: &mut Json, old: &Json, now: Timestamp) {
    const WHEN: [&str; 2] = ["status", "lastPhaseTransitionTime"];
    let changed = tree.at(&["status", "phase"]) != old.at(&["status", "phase"]);
    if !changed && tree.at(&WHEN).is_null() && !old.at(&WHEN).is_null() {
        tree.set(&WHEN, old.at(&WHEN).clone());
    }
    if changed && (tree.at(&WHEN).is_null() || tree.at(&WHEN) == old.at(&WHEN)) {
        tree.set(&WHEN, to_time(now));
    }
}

/// Drops the fields of the status of a claim whose feature is off and that the claim does not use.
/// Source: pkg/api/persistentvolumeclaim/util.go (v1.34), `DropDisabledFieldsFromStatus`.
pub(super) fn drop_disabled_status(status: &mut Json, old: &Json, settings: &Settings) {
    let has_classes = settings.profile().is("volume-attributes-classes-are-kept");
    let recovers = settings.is_gate_on("RecoverVolumeExpansionFailure");
    let fields = [
        ("currentVolumeAttributesClassName", has_classes),
        ("modifyVolumeStatus", has_classes),
        ("allocatedResources", recovers),
        ("allocatedResourceStatuses", recovers),
        ("healthStatus", status.get("healthStatus").is_null() || settings.is_gate_on("CSIVolumeHealth")),
    ];
    for (field, is_on) in fields {
        if !is_on && old.at(&["status", field]).is_null() {
            status.remove(&[field]);
        }
    }
}

/// Source: pkg/volume/util/finalizer.go (v1.34), `VACProtectionFinalizer`.
const ATTRIBUTES_FINALIZER: &str = "kubernetes.io/vac-protection";

/// Adds the finalizer that protects a volume, a claim or a class of attributes in use.
///
/// Source: plugin/pkg/admission/storage/storageobjectinuseprotection/admission.go (v1.34).
pub(super) fn protect(kind: &str, tree: &mut Json) {
    let finalizer = match kind {
        "PersistentVolume" => VOLUME_FINALIZER,
        "PersistentVolumeClaim" => CLAIM_FINALIZER,
        "VolumeAttributesClass" => ATTRIBUTES_FINALIZER,
        _ => return,
    };
    let has = tree.at(&["metadata", "finalizers"]).items().iter().any(|own| own.as_str() == Some(finalizer));
    if !has {
        tree.entry(&["metadata", "finalizers"]).make_array().push(Json::from(finalizer));
    }
}
