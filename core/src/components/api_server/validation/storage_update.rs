//! Validation of changes of volumes and claims.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34), `ValidatePersistentVolumeUpdate` and
//! `ValidatePersistentVolumeClaimUpdate`. Inputs: the changed object and the stored one. Outputs: errors.

use alloc::format;
use alloc::vec::Vec;

use super::persistent_volume::SOURCES;
use super::{FieldError, IMMUTABLE, text};
use crate::components::api_server::fields::put;
use crate::objects::Json;
use crate::objects::quantity::Quantity;
use crate::profile::Settings;

/// Source: pkg/apis/core/types.go (v1.34), `BetaStorageClassAnnotation`.
const CLASS: &str = "volume.beta.kubernetes.io/storage-class";
/// Labels that have a newer name. Source: validation.go (v1.34), `betaToGALabel`.
const RENAMED: [(&str, &str); 5] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
];

/// Checks a change of a PersistentVolume: its source stays.
pub(in super::super) fn volume(tree: &Json, old: &Json, settings: &Settings, errors: &mut Vec<FieldError>) {
    let (mut spec, before) = (tree.get("spec").clone(), old.get("spec"));
    let secret = ["csi", "controllerExpandSecretRef"];
    if !before.get("csi").is_null() && before.at(&secret).is_null() {
        spec.remove(&secret);
    }
    if SOURCES.iter().any(|source| spec.get(source) != before.get(source)) {
        let (path, why) = ("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation");
        errors.push(FieldError::changed("PersistentVolumeSource", path, why, before.clone(), spec.clone()));
    }
    if spec.get("volumeMode") != before.get("volumeMode") {
        errors.push(FieldError::invalid("volumeMode", spec.get("volumeMode"), IMMUTABLE));
    }
    let (affinity, stored) = (spec.get("nodeAffinity"), before.get("nodeAffinity"));
    if !stored.is_null() && *affinity != with_new_labels(stored, affinity) {
        let why = "field is immutable, except for updating from beta label to GA";
        errors.push(FieldError::invalid_of("VolumeNodeAffinity", "nodeAffinity", affinity, why));
    }
    let class = "volumeAttributesClassName";
    if spec.get(class) != before.get(class) {
        let path = format!("spec.{class}");
        if !settings.profile().is("volume-attributes-classes-are-kept") {
            errors.push(FieldError::forbidden(path.as_str(), GATE_IS_OFF));
        }
        if spec.get(class).is_null() {
            errors.push(FieldError::forbidden(path, "update from non-nil value to nil is forbidden"));
        }
    }
}

const GATE_IS_OFF: &str = "update is forbidden when the VolumeAttributesClass feature gate is disabled";

/// Returns the stored affinity with the names of labels that the new one has where it stands for the same label.
fn with_new_labels(stored: &Json, new: &Json) -> Json {
    let mut affinity = stored.clone();
    let path = ["required", "nodeSelectorTerms"];
    let (old_terms, terms) = (stored.at(&path).items(), new.at(&path).items());
    for (at, (old_term, term)) in old_terms.iter().zip(terms).enumerate() {
        for list in ["matchExpressions", "matchFields"] {
            for (place, (old, new)) in old_term.get(list).items().iter().zip(term.get(list).items()).enumerate() {
                // Upstream looks the label up without asking whether it is there: any other may become an empty one.
                let renamed = RENAMED.iter().find(|(label, _)| *label == text(old, "key")).map_or("", |pair| pair.1);
                if renamed == text(new, "key") {
                    let term = &mut affinity.entry(&path).make_array()[at];
                    term.entry(&[list]).make_array()[place].set(&["key"], text(new, "key"));
                }
            }
        }
    }
    affinity
}

/// Checks a change of a claim: only its volume, once, and the size of a bound one may change.
pub(in super::super) fn claim(tree: &Json, old: &Json, settings: &Settings, errors: &mut Vec<FieldError>) {
    let (mut before, mut spec) = (old.get("spec").clone(), tree.get("spec").clone());
    if before.get("volumeName").is_empty() {
        put(&mut before, &["volumeName"], spec.get("volumeName"));
    }
    class(tree, old, &before, &mut spec, errors);
    let request = ["resources", "requests", "storage"];
    if tree.at(&["status", "phase"]).as_str() == Some("Bound") {
        if !spec.at(&request[..2]).is_null() {
            put(&mut spec, &request, before.at(&request));
        }
        put(&mut spec, &["volumeAttributesClassName"], before.get("volumeAttributesClassName"));
    }
    if spec != before {
        let why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for \
            bound claims";
        errors.push(FieldError::changed("PersistentVolumeClaimSpec", "spec", why, before, spec));
    }
    let amount = |tree: &Json, path: &[&str]| Quantity::from_json(tree.at(path)).map(|amount| amount.value());
    let (new, known) = (amount(tree.get("spec"), &request), amount(old.get("spec"), &request));
    if new < known && new <= amount(old.get("status"), &["capacity", "storage"]).or(Some(0)) {
        let why = "field can not be less than status.capacity";
        errors.push(FieldError::forbidden("spec.resources.requests.storage", why));
    }
    if tree.at(&["spec", "volumeMode"]) != old.at(&["spec", "volumeMode"]) {
        errors.push(FieldError::invalid("volumeMode", tree.at(&["spec", "volumeMode"]), IMMUTABLE));
    }
    attributes_class(tree, old, settings, errors);
}

/// Sets the class of a new specification to that of the stored one where it may come later. Source:
/// `validateStorageClassUpgradeFromAnnotation` and `validateStorageClassUpgradeFromNil`.
fn class(tree: &Json, old: &Json, before: &Json, spec: &mut Json, errors: &mut Vec<FieldError>) {
    let annotated = |tree: &Json| tree.at(&["metadata", "annotations", CLASS]).as_text().cloned();
    let (known, now) = (annotated(old), annotated(tree));
    let (own, new) = (before.get("storageClassName").is_null(), spec.get("storageClassName").as_text().cloned());
    if own && known.is_some() && new == known && (now.is_none() || now == known) {
        spec.remove(&["storageClassName"]);
        return;
    }
    let text = |found: &Option<_>| found.clone().unwrap_or_default();
    if text(&now) != text(&known) {
        let path = format!("metadata.annotations.{CLASS}");
        errors.push(FieldError::invalid_text(path, &text(&now), IMMUTABLE));
    }
    if own && new.is_some() && (known.is_none() || new == known) {
        spec.remove(&["storageClassName"]);
    }
}

/// Checks that a class of attributes that is in use does not go.
fn attributes_class(tree: &Json, old: &Json, settings: &Settings, errors: &mut Vec<FieldError>) {
    let path = ["spec", "volumeAttributesClassName"];
    let (new, before) = (tree.at(&path), old.at(&path));
    if new == before {
        return;
    }
    if !settings.profile().is("volume-attributes-classes-are-kept") {
        errors.push(FieldError::forbidden(path.join("."), GATE_IS_OFF));
    }
    let is_used = !old.at(&["status", "currentVolumeAttributesClassName"]).is_null();
    let told = match new.as_str() {
        None => "nil",
        Some("") => "empty string",
        Some(_) => return,
    };
    if is_used {
        let why = format!("update to {told} is forbidden when status.currentVolumeAttributesClassName is not nil");
        errors.push(FieldError::forbidden(path.join("."), why));
    }
}
