//! Validation of PersistentVolumes, and of VolumeAttachments, which may hold one.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34), `ValidatePersistentVolumeSpec`, and
//! pkg/volume/validation/pv_validation.go; pkg/apis/storage/validation/validation.go, `ValidateVolumeAttachment`.
//! Inputs: a volume or an attachment. Outputs: errors.

use alloc::format;
use alloc::vec::Vec;

use super::storage::{access_modes, attributes_class, class_name, positive, volume_mode};
use super::{FieldError, Problem, RuleWords, driver_name, invalid, is_blank, meta, placement, text, volumes};
use crate::objects::names::{self, Wording};
use crate::objects::quantity::Quantity;
use crate::objects::{Json, Text};
use crate::profile::Settings;

/// Source: pkg/apis/core/validation/validation.go (v1.34), `supportedReclaimPolicy`.
const RECLAIM_POLICIES: [&str; 3] = ["Delete", "Recycle", "Retain"];
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
/// Source: pkg/apis/core/types.go (v1.34), `MountOptionAnnotation`.
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
/// What a rule says of a long name. Source: k8s.io/apimachinery pkg/api/validate/limits.go (v0.37), `MaxLength`.
const ATTACHER_TOO_LONG: &str = "may not be more than 63 characters";
/// What a rule says of what is no name in letters of any case. Source: k8s.io/apimachinery
/// pkg/api/validate/content/dns.go (v0.37), `IsDNS1123SubdomainCaseless`.
const ATTACHER_IS_NO_NAME: &str = "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must \
    start and end with an alphanumeric character (e.g. 'Example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
/// Source: pkg/apis/storage/validation/validation.go (v1.34), `maxAttachedVolumeMetadataSize`.
const ATTACHMENT_METADATA_MAX: usize = 256 * 1024;
/// Source: as above, `maxVolumeErrorMessageSize`.
const ERROR_MESSAGE_MAX: usize = 1024;

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
    if policy == "Recycle" && spec.at(&["hostPath", "path"]).as_str().is_some_and(volumes::is_root) {
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

/// Checks a VolumeAttachment. Source: pkg/apis/storage/validation/validation.go (v1.34), `ValidateVolumeAttachment`
/// and, for what came with v1, `ValidateVolumeAttachmentV1`.
pub(in super::super) fn attachment(tree: &Json, settings: &Settings, errors: &mut Vec<FieldError>) {
    let (wording, checks_names) =
        (meta::wording(settings), settings.profile().is("attachment-names-are-always-checked"));
    let spec = tree.get("spec");
    let text = |field: &str| spec.get(field).as_str().unwrap_or("");
    let attacher = text("attacher");
    if checks_names {
        let before = errors.len();
        driver_name(attacher, "spec.attacher", wording, errors);
        for error in &mut errors[before..] {
            error.declared = Some(match error.problem {
                Problem::TooLong => RuleWords::Detail(ATTACHER_TOO_LONG),
                Problem::Invalid => RuleWords::Detail(ATTACHER_IS_NO_NAME),
                _ => RuleWords::Same,
            });
        }
    } else if attacher.is_empty() {
        errors.push(FieldError::required("spec.attacher", ""));
    }
    let source = spec.get("source");
    let (inline, volume) = (source.get("inlineVolumeSpec"), source.get("persistentVolumeName"));
    match (inline.is_null(), volume.is_null()) {
        (true, true) => {
            let why = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
            errors.push(FieldError::required("spec.source", why));
        }
        (false, false) => {
            let why = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
            errors.push(FieldError::forbidden("spec.source", why));
        }
        (true, false) if super::is_blank(volume) => {
            let why = "must specify non empty persistentVolumeName";
            errors.push(FieldError::required("spec.source.persistentVolumeName", why));
        }
        (false, true) => inline_volume(inline, "spec.source.inlineVolumeSpec", wording, errors),
        _ => {}
    }
    invalid(names::subdomain(text("nodeName"), wording), "spec.nodeName", text("nodeName"), errors);
    attachment_status(tree.get("status"), wording, errors);
    if let Some(name) = volume.as_str().filter(|_| checks_names) {
        invalid(names::subdomain(name, wording), "spec.source.persistentVolumeName", name, errors);
    }
}

/// Checks what an attacher says. Source: pkg/apis/storage/validation/validation.go (v1.34),
/// `validateVolumeAttachmentStatus`.
fn attachment_status(status: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let too_long = || format!("may not be more than {ATTACHMENT_METADATA_MAX} bytes");
    let size = |(key, value): (&Text, &Json)| key.len() + value.as_str().map_or(0, str::len);
    if status.get("attachmentMetadata").fields().map(size).sum::<usize>() > ATTACHMENT_METADATA_MAX {
        errors.push(FieldError::too_long("status.attachmentMetadata", too_long()));
    }
    for field in ["attachError", "detachError"] {
        let (error, path) = (status.get(field), format!("status.{field}"));
        if text(error, "message").len() > ERROR_MESSAGE_MAX {
            // Before 1.37 upstream names the limit of the metadata.
            let own = format!("may not be more than {ERROR_MESSAGE_MAX} bytes");
            let why = if wording.is_declared() { own } else { too_long() };
            errors.push(FieldError::too_long(format!("{path}.message"), why));
        }
        if error.get("errorCode").as_i64().is_some_and(|code| code < 0) {
            let why = "must be between 0 and 2147483647, inclusive";
            errors.push(FieldError::invalid(format!("{path}.errorCode"), error.get("errorCode"), why));
        }
    }
}

/// Checks a new VolumeAttachment, beside what every write checks, by the rules of `v1`.
pub(in super::super) fn volume_attachment(tree: &Json, settings: &Settings, errors: &mut Vec<FieldError>) {
    attachment(tree, settings, errors);
    if settings.profile().is("attachment-names-are-always-checked") {
        return;
    }
    let (spec, wording) = (tree.get("spec"), meta::wording(settings));
    driver_name(text(spec, "attacher"), "spec.attacher", wording, errors);
    if let Some(name) = spec.at(&["source", "persistentVolumeName"]).as_str() {
        invalid(names::subdomain(name, wording), "spec.source.persistentVolumeName", name, errors);
    }
}
