//! Validation of volumes, claims, storage classes and CSI drivers.
//!
//! Mirrors pkg/apis/core/validation/validation.go and pkg/apis/storage/validation/validation.go (v1.34). Left out on
//! purpose: the fields of sources other than CSI, host path and local ones, data sources, allowed topologies.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{FieldError, Problem, driver_name, invalid, is_blank, others, placement, text, volumes};
use crate::objects::Json;
use crate::objects::names::{self, Wording};
use crate::objects::quantity::Quantity;
use crate::profile::Settings;

/// Source: pkg/apis/core/validation/validation.go (v1.34), `supportedAccessModes`, in the order of its listing.
const ACCESS_MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
/// Source: as [`ACCESS_MODES`], `supportedReclaimPolicy`.
const RECLAIM_POLICIES: [&str; 3] = ["Delete", "Recycle", "Retain"];
/// Source: as [`ACCESS_MODES`], `supportedVolumeModes`.
const VOLUME_MODES: [&str; 2] = ["Block", "Filesystem"];
/// The types of volumes. Source: k8s.io/api core/v1 types.go (v1.34), `PersistentVolumeSource`.
pub(super) const SOURCES: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
];
/// The shortest pause between counts of what a node may attach, in seconds. Source:
/// pkg/apis/storage/validation/validation.go (v1.34), `validateNodeAllocatableUpdatePeriodSeconds`.
const RECOUNT_SECONDS_MIN: i64 = 10;
const POSITIVE: &str = "must be greater than zero";
const IMMUTABLE: &str = "field is immutable";
/// Source: pkg/apis/core/annotation_key_constants.go (v1.34), `MountOptionAnnotation`.
const MOUNT_OPTIONS: &str = "volume.beta.kubernetes.io/mount-options";
/// The types of volumes that may be mounted with options. Source: pkg/volume/validation/pv_validation.go (v1.34).
const MOUNTED_WITH_OPTIONS: [&str; 13] = [
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "nfs",
    "rbd",
    "quobyte",
    "iscsi",
    "cinder",
    "cephfs",
    "azureFile",
    "vsphereVolume",
    "azureDisk",
    "photonPersistentDisk",
];

/// Checks access modes. Source: validation.go (v1.34), `ValidatePersistentVolumeSpec`.
fn access_modes(spec: &Json, errors: &mut Vec<FieldError>) {
    let modes = spec.get("accessModes").items();
    if modes.is_empty() {
        errors.push(FieldError::required("spec.accessModes", ""));
    }
    let mut other = false;
    let mut alone = false;
    for mode in modes.iter().map(|mode| mode.as_str().unwrap_or("")) {
        match mode {
            "ReadWriteOncePod" => alone = true,
            known if ACCESS_MODES.contains(&known) => other = true,
            unknown => errors.push(FieldError::not_supported("spec.accessModes", unknown, &ACCESS_MODES)),
        }
    }
    if alone && other {
        let why = "may not use ReadWriteOncePod with other access modes";
        errors.push(FieldError::forbidden("spec.accessModes", why));
    }
}

fn positive(value: &Json, path: String, errors: &mut Vec<FieldError>) {
    let amount = Quantity::from_json(value);
    if amount.is_some_and(|amount| amount.is_negative() || amount.is_zero()) {
        errors.push(FieldError::invalid(path, value, POSITIVE));
    }
}

fn class_name(spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let class = text(spec, "storageClassName");
    if !class.is_empty() {
        invalid(names::subdomain(class, wording), "spec.storageClassName", class, errors);
    }
}

fn volume_mode(spec: &Json, errors: &mut Vec<FieldError>) {
    if let Some(mode) = spec.get("volumeMode").as_str()
        && !VOLUME_MODES.contains(&mode)
    {
        errors.push(FieldError::not_supported("spec.volumeMode", mode, &VOLUME_MODES));
    }
}

/// Checks a PersistentVolume. Source: validation.go (v1.34), `ValidatePersistentVolumeSpec`, and
/// pkg/volume/validation/pv_validation.go, `checkMountOption`.
pub(in super::super) fn volume(tree: &Json, wording: Wording, settings: &Settings, errors: &mut Vec<FieldError>) {
    let spec = tree.get("spec");
    access_modes(spec, errors);
    let capacity = spec.get("capacity");
    if capacity.is_empty() {
        errors.push(FieldError::required("spec.capacity", ""));
    }
    if capacity.get("storage").is_null() || capacity.fields().count() > 1 {
        let mut error =
            FieldError::invalid_of("{quantity}", "spec.capacity", capacity, "supported values: \"storage\"");
        error.problem = Problem::NotSupported;
        errors.push(error);
    }
    for (name, amount) in capacity.fields() {
        let path = format!("spec.capacity[{name}]");
        if let Some(negative) = Quantity::from_json(amount).map(|own| own.value()).filter(|own| *own < 0) {
            let why = "must be a valid resource quantity";
            errors.push(FieldError::invalid(path.as_str(), &Json::Int(negative), why));
        }
        positive(amount, path, errors);
    }
    let policy = text(spec, "persistentVolumeReclaimPolicy");
    if !policy.is_empty() && !RECLAIM_POLICIES.contains(&policy) {
        errors.push(FieldError::not_supported("spec.persistentVolumeReclaimPolicy", policy, &RECLAIM_POLICIES));
    }
    let affinity = spec.get("nodeAffinity");
    if affinity.is_object() {
        let checks_values = settings.profile().is("required-affinity-has-label-values");
        placement::volume_affinity(affinity, wording, checks_values, errors);
    }
    sources(spec, wording, errors);
    if policy == "Recycle" && is_root(spec.at(&["hostPath", "path"]).as_str()) {
        let why = "may not be 'recycle' for a hostPath mount of '/'";
        errors.push(FieldError::forbidden("spec.persistentVolumeReclaimPolicy", why));
    }
    class_name(spec, wording, errors);
    volume_mode(spec, errors);
    if let Some(class) = spec.get("volumeAttributesClassName").as_str() {
        if class.is_empty() {
            let why = "an empty string is disallowed";
            errors.push(FieldError::required("spec.volumeAttributesClassName", why));
        }
        attributes_class(class, wording, errors);
        if spec.get("csi").is_null() {
            let why = "has to be specified when using volumeAttributesClassName";
            errors.push(FieldError::required("spec.csi", why));
        }
    }
    let has_options = !tree.at(&["metadata", "annotations", MOUNT_OPTIONS]).is_null();
    if has_options && MOUNTED_WITH_OPTIONS.iter().all(|source| spec.get(source).is_null()) {
        let why = "may not specify mount options for this volume type";
        errors.push(FieldError::forbidden(format!("metadata.annotations.{MOUNT_OPTIONS}"), why));
    }
}

/// Tells whether a path is the root, however it is written.
fn is_root(path: Option<&str>) -> bool {
    path.is_some_and(|path| path.starts_with('/') && path.split('/').all(|part| matches!(part, "" | "." | "..")))
}

/// Checks a volume that stands within an attachment. Source: validation.go (v1.34), `ValidatePersistentVolumeSpec` for
/// inline volumes.
pub(in super::super) fn inline_volume(spec: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    const CONTEXT: &str = "in the context of inline volumes";
    let mut own = Vec::new();
    let not_here = format!("may not be specified {CONTEXT}");
    if !spec.get("claimRef").is_null() {
        own.push(FieldError::forbidden("spec.claimRef", not_here.as_str()));
    }
    if !spec.get("capacity").is_empty() {
        own.push(FieldError::forbidden("spec.capacity", not_here.as_str()));
    }
    if spec.get("csi").is_null() {
        own.push(FieldError::required("spec.csi", format!("has to be specified {CONTEXT}")));
    }
    access_modes(spec, &mut own);
    if !matches!(text(spec, "persistentVolumeReclaimPolicy"), "" | "Retain") {
        let why = format!("may only be Retain {CONTEXT}");
        own.push(FieldError::forbidden("spec.persistentVolumeReclaimPolicy", why));
    }
    if spec.get("nodeAffinity").is_object() {
        own.push(FieldError::forbidden("spec.nodeAffinity", not_here.as_str()));
    }
    sources(spec, wording, &mut own);
    if !text(spec, "storageClassName").is_empty() {
        own.push(FieldError::forbidden("spec.storageClassName", not_here.as_str()));
    }
    if spec.get("volumeMode").as_str().is_some_and(|mode| mode != "Filesystem") {
        let why = format!("may not specify volumeMode other than Filesystem {CONTEXT}");
        own.push(FieldError::forbidden("spec.volumeMode", why));
    }
    errors.extend(own.into_iter().map(|mut error| {
        error.field = error.field.replacen("spec", path, 1);
        error
    }));
}

/// Checks that a volume has one source, and the source.
fn sources(spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let mut found = 0;
    for source in SOURCES.iter().filter(|source| !spec.get(source).is_null()) {
        found += 1;
        // Upstream does not count this one.
        if found > 1 && *source != "flexVolume" {
            let field = if *source == "cephfs" { "cephFS" } else { source };
            errors.push(FieldError::forbidden(format!("spec.{field}"), "may not specify more than 1 volume type"));
            continue;
        }
        match *source {
            "csi" => {
                driver_name(text(spec.get("csi"), "driver"), "spec.csi.driver", wording, errors);
                if is_blank(spec.at(&["csi", "volumeHandle"])) {
                    errors.push(FieldError::required("spec.csi.volumeHandle", ""));
                }
                secret_references(spec.get("csi"), wording, errors);
            }
            "local" => {
                match text(spec.get("local"), "path") {
                    "" => errors.push(FieldError::required("spec.local.path", "")),
                    own => volumes::no_backsteps(own, "spec.local.path", errors),
                }
                if spec.at(&["nodeAffinity", "required"]).is_null() {
                    let why = "Local volume requires node affinity";
                    errors.push(FieldError::required("spec.nodeAffinity", why));
                }
            }
            other => {
                let own = (other, spec.get(other));
                volumes::source(volumes::Owner::PersistentVolume, own, &format!("spec.{other}"), wording, errors);
            }
        }
    }
    if found == 0 {
        errors.push(FieldError::required("spec", "must specify a volume type"));
    }
}

fn attributes_class(class: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    if !class.is_empty() {
        invalid(names::subdomain(class, wording), "spec.volumeAttributesClassName", class, errors);
    }
}

/// Checks the sources of a claim's data. Source: validation.go (v1.34), `validateDataSource`,
/// `validateDataSourceRef`.
fn data_sources(spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let (old, new) = (spec.get("dataSource"), spec.get("dataSourceRef"));
    for (source, field) in [(old, "dataSource"), (new, "dataSourceRef")] {
        if source.is_null() {
            continue;
        }
        let path = format!("spec.{field}");
        for part in ["name", "kind"] {
            if is_blank(source.get(part)) {
                errors.push(FieldError::required(format!("{path}.{part}"), ""));
            }
        }
        let (group, kind) = (text(source, "apiGroup"), text(source, "kind"));
        if group.is_empty() && kind != "PersistentVolumeClaim" {
            let why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
            errors.push(FieldError::invalid_text(path.as_str(), kind, why));
        }
        if !group.is_empty() {
            invalid(names::subdomain(group, wording), format!("{path}.apiGroup"), group, errors);
        }
    }
    let is_same = ["apiGroup", "kind", "name"].iter().all(|part| old.get(part) == new.get(part));
    if !old.is_null() && !new.is_null() && !is_same {
        // The server prints a path of its own there, which has no fields.
        errors.push(FieldError::new("spec", Problem::Invalid, String::from("{}"), "must match dataSourceRef"));
    }
}

/// Checks that the secrets of a CSI volume have a name and a namespace. Source: validation.go (v1.34),
/// `validatePVSecretReference`.
fn secret_references(csi: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    for field in
        ["controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"]
    {
        let reference = csi.get(field);
        if !reference.is_object() {
            continue;
        }
        for part in ["name", "namespace"] {
            let (own, path) = (text(reference, part), format!("spec.csi.{field}.{part}"));
            let problems = if part == "name" { names::subdomain(own, wording) } else { names::label(own, wording) };
            if own.is_empty() {
                errors.push(FieldError::required(path, ""));
            } else {
                invalid(problems, path, own, errors);
            }
        }
    }
}

/// Checks a PersistentVolumeClaim. Source: validation.go (v1.34), `ValidatePersistentVolumeClaimSpec`.
pub(in super::super) fn claim(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let spec = tree.get("spec");
    if spec.get("accessModes").is_empty() {
        errors.push(FieldError::required("spec.accessModes", "at least 1 access mode is required"));
    }
    if spec.get("selector").is_object() {
        others::label_selector(spec.get("selector"), "spec.selector", wording, errors);
    }
    if !spec.get("accessModes").is_empty() {
        access_modes(spec, errors);
    }
    let request = spec.at(&["resources", "requests", "storage"]);
    if request.is_null() {
        errors.push(FieldError::required("spec.resources[storage]", ""));
    } else {
        positive(request, String::from("spec.resources[storage]"), errors);
    }
    class_name(spec, wording, errors);
    volume_mode(spec, errors);
    data_sources(spec, wording, errors);
    attributes_class(text(spec, "volumeAttributesClassName"), wording, errors);
}

/// Checks a StorageClass. Source: pkg/apis/storage/validation/validation.go (v1.34), `ValidateStorageClass`.
pub(in super::super) fn class(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let provisioner = text(tree, "provisioner").to_lowercase();
    if provisioner.is_empty() {
        errors.push(FieldError::required("provisioner", ""));
    } else {
        invalid(names::qualified(&provisioner, wording), "provisioner", &provisioner, errors);
    }
    if tree.get("parameters").fields().any(|(name, _)| name.is_empty()) {
        errors.push(FieldError::invalid_text("parameters", "", "field can not be empty."));
    }
    topologies(tree.get("allowedTopologies").items(), wording, errors);
    let policies = ["Delete", "Retain"];
    let policy = text(tree, "reclaimPolicy");
    if !policy.is_empty() && !policies.contains(&policy) {
        errors.push(FieldError::not_supported("reclaimPolicy", policy, &policies));
    }
    let modes = ["Immediate", "WaitForFirstConsumer"];
    let mode = text(tree, "volumeBindingMode");
    if !modes.contains(&mode) {
        errors.push(FieldError::not_supported("volumeBindingMode", mode, &modes));
    }
}

/// Checks a change of a StorageClass. Source: as [`class`], `ValidateStorageClassUpdate`.
pub(in super::super) fn class_update(tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    for field in ["parameters", "provisioner", "reclaimPolicy"] {
        let (new, known) = (tree.get(field), old.get(field));
        // What is empty is stored as absent.
        let is_same = if known.is_empty() { new.is_null() } else { new == known };
        if !is_same {
            errors.push(FieldError::forbidden(field, format!("updates to {field} are forbidden.")));
        }
    }
    if tree.get("volumeBindingMode") != old.get("volumeBindingMode") {
        errors.push(FieldError::invalid("volumeBindingMode", tree.get("volumeBindingMode"), IMMUTABLE));
    }
}

/// Checks a CSIDriver. Source: as [`class`], `ValidateCSIDriver`.
pub(in super::super) fn driver(tree: &Json, errors: &mut Vec<FieldError>) {
    let spec = tree.get("spec");
    let policies = ["File", "None", "ReadWriteOnceWithFSType"];
    if let Some(policy) = spec.get("fsGroupPolicy").as_str().filter(|policy| !policies.contains(policy)) {
        errors.push(FieldError::not_supported("spec.fsGroupPolicy", policy, &policies));
    }
    token_requests(spec.get("tokenRequests").items(), errors);
    let period = spec.get("nodeAllocatableUpdatePeriodSeconds");
    if period.as_i64().is_some_and(|seconds| seconds < RECOUNT_SECONDS_MIN) {
        let why = "must be greater than or equal to 10 seconds";
        errors.push(FieldError::invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, why));
    }
    let modes = ["Persistent", "Ephemeral"];
    for mode in spec.get("volumeLifecycleModes").items().iter().map(|mode| mode.as_str().unwrap_or("")) {
        if !modes.contains(&mode) {
            errors.push(FieldError::not_supported("spec.volumeLifecycleModes", mode, &modes));
        }
    }
}

/// Source: as [`class`], `validateTokenRequests`.
fn token_requests(requests: &[Json], errors: &mut Vec<FieldError>) {
    for (at, request) in requests.iter().enumerate() {
        let path = format!("spec.tokenRequests[{at}]");
        let audience = text(request, "audience");
        if requests[..at].iter().any(|other| text(other, "audience") == audience) {
            errors.push(FieldError::duplicate(format!("{path}.audience"), &Json::from(audience)));
            continue;
        }
        let seconds = request.get("expirationSeconds");
        let why = match seconds.as_i64() {
            Some(few) if few < 600 => "may not specify a duration less than 10 minutes",
            Some(many) if many > 1 << 32 => "may not specify a duration larger than 2^32 seconds",
            _ => continue,
        };
        errors.push(FieldError::invalid(format!("{path}.expirationSeconds"), seconds, why));
    }
}

/// Checks the topologies to which a class is bound. Source: as [`class`], `validateAllowedTopologies`, and
/// validation.go of the core group (v1.34), `ValidateTopologySelectorTerm`.
fn topologies(terms: &[Json], wording: Wording, errors: &mut Vec<FieldError>) {
    let mut known: Vec<Json> = Vec::new();
    for (at, term) in terms.iter().enumerate() {
        let path = format!("allowedTopologies[{at}].matchLabelExpressions");
        let all = term.get("matchLabelExpressions").items();
        let mut read = Json::object();
        for (at, requirement) in all.iter().enumerate() {
            let (path, key) = (format!("{path}[{at}]"), text(requirement, "key"));
            let values = requirement.get("values").items();
            if values.is_empty() {
                errors.push(FieldError::required(format!("{path}.values"), ""));
            }
            for (at, value) in values.iter().enumerate().filter(|(at, value)| values[..*at].contains(value)) {
                errors.push(FieldError::duplicate(format!("{path}.values[{at}]"), value));
            }
            invalid(names::qualified(key, wording), format!("{path}.key"), key, errors);
            if all[..at].iter().any(|other| text(other, "key") == key) {
                errors.push(FieldError::duplicate(format!("{path}.key"), &Json::from(key)));
            }
            let mut values = values.to_vec();
            values.sort_by_key(|value| value.as_text().cloned());
            values.dedup();
            read.set(&[key], Json::array(values));
        }
        // The server compares with an empty term for each term too.
        let same = known.iter().filter(|known| **known == read).count() + if all.is_empty() { terms.len() } else { 0 };
        for _ in 0..same {
            errors.push(FieldError::duplicate(path.as_str(), &Json::from("")));
        }
        known.push(read);
    }
}
