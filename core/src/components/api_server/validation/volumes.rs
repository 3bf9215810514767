//! Checks the sources of volumes, of Pods and of PersistentVolumes.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34), `validateVolumeSource` with the function of each source.
//! Inputs: a source, its name and its path. Outputs: what is wrong with it. Left out on purpose: bundles of
//! trust and certificates of Pods.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{FieldError, claim_volumes, driver_name, field_refs, invalid, is_blank, text};
use crate::objects::Json;
use crate::objects::names::{self, Wording};

/// The fields that a source needs, for those that need nothing but fields.
const NEEDED: &[(&str, &[&str])] = &[
    ("gitRepo", &["repository"]),
    ("gcePersistentDisk", &["pdName"]),
    ("awsElasticBlockStore", &["volumeID"]),
    ("secret", &["secretName"]),
    ("nfs", &["server", "path"]),
    ("glusterfs", &["endpoints", "path"]),
    ("persistentVolumeClaim", &["claimName"]),
    ("rbd", &["monitors", "image"]),
    ("cinder", &["volumeID"]),
    ("cephfs", &["monitors"]),
    ("flexVolume", &["driver"]),
    ("configMap", &["name"]),
    ("azureFile", &["secretName", "shareName"]),
    ("vsphereVolume", &["volumePath"]),
    ("photonPersistentDisk", &["pdID"]),
    ("portworxVolume", &["volumeID"]),
    ("azureDisk", &["diskName", "diskURI"]),
    ("storageos", &["volumeName"]),
    ("scaleIO", &["gateway", "system", "volumeName"]),
    ("ephemeral", &["volumeClaimTemplate"]),
];
/// Source: validation.go (v1.34), `supportedHostPathTypes`.
const HOST_PATH_TYPES: [&str; 8] =
    ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
const MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";
const MODE_MAX: i64 = 0o777;

/// Whose source it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Owner {
    Pod,
    PersistentVolume,
}

/// Tells whether a path is the root of the file system. Source: Go's `path.Clean`.
pub(super) fn is_root(path: &str) -> bool {
    let mut depth = 0_usize;
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        depth = if part == ".." { depth.saturating_sub(1) } else { depth + 1 };
    }
    path.starts_with('/') && depth == 0
}

/// Checks a source. `path` is that of the source, with a name of its own for one kind.
pub(super) fn source(
    owner: Owner,
    (kind, of): (&str, &Json),
    path: &str,
    wording: Wording,
    errors: &mut Vec<FieldError>,
) {
    let own =
        if kind == "gcePersistentDisk" { path.replace("gcePersistentDisk", "persistentDisk") } else { path.into() };
    let path = own.as_str();
    let needed = NEEDED.iter().find(|(own, _)| *own == kind).map_or(&[][..], |(_, fields)| *fields);
    let is_empty =
        |value: &Json| if value.is_array() { value.items().is_empty() } else { !value.is_object() && is_blank(value) };
    for field in needed.iter().filter(|field| is_empty(of.get(field))) {
        errors.push(FieldError::required(format!("{path}.{field}"), ""));
    }
    match kind {
        "hostPath" => host_path(of, path, errors),
        "gitRepo" => descending(text(of, "directory"), &format!("{path}.directory"), errors),
        "secret" | "configMap" => {
            mode(of, "defaultMode", path, errors);
            items(of, path, errors);
        }
        "downwardAPI" => {
            mode(of, "defaultMode", path, errors);
            of.get("items").items().iter().for_each(|file| downward(file, path, wording, errors));
        }
        "projected" => projected(of, path, wording, errors),
        "iscsi" => iscsi(owner, of, path, errors),
        "fc" => fibre_channel(of, path, errors),
        "flocker" => flocker(of, path, errors),
        "quobyte" => quobyte(of, path, errors),
        "flexVolume" => reserved_options(of, path, errors),
        "azureDisk" => azure_disk(of, path, errors),
        "csi" => csi(of, path, wording, errors),
        "ephemeral" if of.get("volumeClaimTemplate").is_object() => {
            claim_volumes::template(
                of.get("volumeClaimTemplate"),
                &format!("{path}.volumeClaimTemplate"),
                wording,
                errors,
            );
        }
        _ => values(kind, of, path, wording, errors),
    }
    references(owner, (kind, of), path, wording, errors);
}

/// Checks the values of the sources that have little to check.
fn values(kind: &str, of: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    match kind {
        "emptyDir" if text(of, "sizeLimit").starts_with('-') => {
            errors.push(FieldError::forbidden(
                format!("{path}.sizeLimit"),
                "SizeLimit field must be a valid resource quantity",
            ));
        }
        "gcePersistentDisk" | "awsElasticBlockStore" => {
            let part = of.get("partition");
            if part.as_i64().is_some_and(|part| !(0..=255).contains(&part)) {
                errors.push(FieldError::invalid(
                    format!("{path}.partition"),
                    part,
                    "must be between 1 and 255, inclusive",
                ));
            }
        }
        "nfs" if !text(of, "path").starts_with('/') => {
            let at = format!("{path}.path");
            errors.push(FieldError::invalid_text(at, text(of, "path"), "must be an absolute path"));
        }
        "storageos" => {
            for field in ["volumeName", "volumeNamespace"].into_iter().filter(|field| !text(of, field).is_empty()) {
                invalid(names::label(text(of, field), wording), format!("{path}.{field}"), text(of, field), errors);
            }
        }
        "image" => {
            // Source: validation.go (v1.37), where templates need it too. Of Pods of older releases it is not checked.
            if wording.is_declared() && text(of, "reference").is_empty() {
                errors.push(FieldError::required(format!("{path}.reference"), ""));
            }
            let policies = ["", "Always", "IfNotPresent", "Never"];
            if !policies.contains(&text(of, "pullPolicy")) {
                errors.push(FieldError::not_supported(
                    format!("{path}.pullPolicy"),
                    text(of, "pullPolicy"),
                    &policies[1..],
                ));
            }
        }
        _ => {}
    }
}

/// Checks the Secrets and namespaces that a source names.
fn references(owner: Owner, (kind, of): (&str, &Json), path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    let persistent = owner == Owner::PersistentVolume;
    let secret = of.get("secretRef");
    let parts: &[&str] = match kind {
        "cinder" | "storageos" if persistent => &["name", "namespace"],
        "cinder" | "storageos" => &["name"],
        _ => &[],
    };
    for part in parts.iter().filter(|part| secret.is_object() && text(secret, part).is_empty()) {
        errors.push(FieldError::required(format!("{path}.secretRef.{part}"), ""));
    }
    if kind == "azureFile" && persistent && of.get("secretNamespace").as_str() == Some("") {
        errors.push(FieldError::required(format!("{path}.secretNamespace"), ""));
    }
    if let Some(namespace) = of.get("endpointsNamespace").as_str().filter(|_| kind == "glusterfs" && persistent) {
        let at = format!("{path}.endpointsNamespace");
        if namespace.is_empty() {
            let why = "if the endpointnamespace is set, it must be a valid namespace name";
            errors.push(FieldError::invalid_text(at, namespace, why));
        } else {
            invalid(names::label(namespace, wording), at, namespace, errors);
        }
    }
}

fn csi(of: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    driver_name(text(of, "driver"), &format!("{path}.driver"), wording, errors);
    let secret = of.get("nodePublishSecretRef");
    if secret.is_object() && text(secret, "name").is_empty() {
        errors.push(FieldError::required(format!("{path}.nodePublishSecretRef.name"), ""));
    } else if secret.is_object() {
        invalid(names::subdomain(text(secret, "name"), wording), format!("{path}.name"), text(secret, "name"), errors);
    }
}

fn host_path(of: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let own = text(of, "path");
    if own.is_empty() {
        return errors.push(FieldError::required(format!("{path}.path"), ""));
    }
    no_backsteps(own, &format!("{path}.path"), errors);
    let kind = text(of, "type");
    if !HOST_PATH_TYPES.contains(&kind) {
        errors.push(FieldError::not_supported(format!("{path}.type"), kind, &HOST_PATH_TYPES));
    }
}

/// Source: validation.go (v1.34), `validatePathNoBacksteps`.
pub(super) fn no_backsteps(own: &str, path: &str, errors: &mut Vec<FieldError>) {
    if own.split('/').any(|part| part == "..") {
        errors.push(FieldError::invalid_text(path, own, "must not contain '..'"));
    }
}

/// Source: validation.go (v1.34), `validateLocalDescendingPath`.
pub(super) fn descending(own: &str, path: &str, errors: &mut Vec<FieldError>) {
    if own.starts_with('/') {
        errors.push(FieldError::invalid_text(path, own, "must be a relative path"));
    }
    no_backsteps(own, path, errors);
}

/// Source: validation.go (v1.34), `ValidateLocalNonReservedPath`.
fn not_reserved(own: &str, path: &str, errors: &mut Vec<FieldError>) {
    descending(own, path, errors);
    if own.starts_with("..") && !own.starts_with("../") {
        errors.push(FieldError::invalid_text(path, own, "must not start with '..'"));
    }
}

fn mode(of: &Json, field: &str, path: &str, errors: &mut Vec<FieldError>) {
    if of.get(field).as_i64().is_some_and(|mode| !(0..=MODE_MAX).contains(&mode)) {
        errors.push(FieldError::invalid(format!("{path}.{field}"), of.get(field), MODE));
    }
}

/// Source: validation.go (v1.34), `validateKeyToPath`.
fn items(of: &Json, path: &str, errors: &mut Vec<FieldError>) {
    for (at, item) in of.get("items").items().iter().enumerate() {
        key_to_path(item, &format!("{path}.items[{at}]"), errors);
    }
}

fn key_to_path(item: &Json, path: &str, errors: &mut Vec<FieldError>) {
    for field in ["key", "path"].into_iter().filter(|field| text(item, field).is_empty()) {
        errors.push(FieldError::required(format!("{path}.{field}"), ""));
    }
    not_reserved(text(item, "path"), &format!("{path}.path"), errors);
    mode(item, "mode", path, errors);
}

/// Source: validation.go (v1.34), `validateDownwardAPIVolumeFile`; the path is that of the volume.
fn downward(file: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    if text(file, "path").is_empty() {
        errors.push(FieldError::required(format!("{path}.path"), ""));
    }
    not_reserved(text(file, "path"), &format!("{path}.path"), errors);
    let (field, resource) = (file.get("fieldRef"), file.get("resourceFieldRef"));
    if field.is_object() {
        field_refs::field(field, field_refs::OF_FILES, &format!("{path}.fieldRef"), wording, errors);
        if resource.is_object() {
            let why = "fieldRef and resourceFieldRef can not be specified simultaneously";
            errors.push(FieldError::invalid_text(path, "resource", why));
        }
    } else if resource.is_object() {
        field_refs::resource(resource, &format!("{path}.resourceFieldRef"), true, errors);
    } else {
        errors.push(FieldError::required(path, "one of fieldRef and resourceFieldRef is required"));
    }
    mode(file, "mode", path, errors);
}

/// Source: validation.go (v1.34), `validateProjectionSources`.
fn projected(of: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    const TOKEN_SECONDS_MIN: i64 = 10 * 60;
    const TOKEN_SECONDS_MAX: i64 = 1 << 32;
    mode(of, "defaultMode", path, errors);
    let mut paths: Vec<String> = Vec::new();
    let mut note = |own: &str, shown: &str, errors: &mut Vec<FieldError>| {
        if paths.iter().any(|seen| seen == own) {
            errors.push(FieldError::invalid_text(path, shown, "conflicting duplicate paths"));
        } else if !own.is_empty() {
            paths.push(String::from(own));
        }
    };
    for (at, source) in of.get("sources").items().iter().enumerate() {
        let own = format!("{path}.sources[{at}]");
        for kind in ["secret", "configMap"] {
            let (from, at) = (source.get(kind), format!("{own}.{kind}"));
            if !from.is_object() {
                continue;
            }
            if text(from, "name").is_empty() {
                errors.push(FieldError::required(format!("{at}.name"), ""));
            }
            for (index, item) in from.get("items").items().iter().enumerate() {
                key_to_path(item, &format!("{at}.items[{index}]"), errors);
                note(text(item, "path"), text(from, "name"), errors);
            }
        }
        for file in source.at(&["downwardAPI", "items"]).items() {
            downward(file, &format!("{own}.downwardAPI"), wording, errors);
            note(text(file, "path"), text(file, "path"), errors);
        }
        let token = source.get("serviceAccountToken");
        if token.is_object() {
            let (seconds, at) =
                (token.get("expirationSeconds"), format!("{own}.serviceAccountToken.expirationSeconds"));
            let lasts = seconds.as_i64().unwrap_or(TOKEN_SECONDS_MIN);
            if lasts < TOKEN_SECONDS_MIN {
                errors.push(FieldError::invalid(at, seconds, "may not specify a duration less than 10 minutes"));
            } else if lasts > TOKEN_SECONDS_MAX {
                errors.push(FieldError::invalid(at, seconds, "may not specify a duration larger than 2^32 seconds"));
            }
            if text(token, "path").is_empty() {
                errors.push(FieldError::required(format!("{path}.path"), ""));
            } else {
                not_reserved(text(token, "path"), &format!("{path}.path"), errors);
            }
        }
        if source.fields().filter(|(_, value)| !value.is_null()).count() > 1 {
            errors.push(FieldError::forbidden(own, "may not specify more than 1 volume type per source"));
        }
    }
}

fn iscsi(owner: Owner, of: &Json, path: &str, errors: &mut Vec<FieldError>) {
    if text(of, "targetPortal").is_empty() {
        errors.push(FieldError::required(format!("{path}.targetPortal"), ""));
    }
    let name = text(of, "iqn");
    if name.is_empty() {
        errors.push(FieldError::required(format!("{path}.iqn"), ""));
    } else {
        qualified_target(owner, name, &format!("{path}.iqn"), errors);
    }
    let lun = of.get("lun");
    if lun.as_i64().is_some_and(|lun| !(0..=255).contains(&lun)) {
        errors.push(FieldError::invalid(format!("{path}.lun"), lun, "must be between 0 and 255, inclusive"));
    }
    let authenticates = ["chapAuthDiscovery", "chapAuthSession"].iter().any(|own| of.get(own).as_bool() == Some(true));
    if authenticates && of.get("secretRef").is_null() {
        errors.push(FieldError::required(format!("{path}.secretRef"), ""));
    }
    let secret = of.get("secretRef");
    if owner == Owner::PersistentVolume && secret.is_object() && text(secret, "name").is_empty() {
        errors.push(FieldError::required(format!("{path}.secretRef.name"), ""));
    }
    if let Some(initiator) = of.get("initiatorName").as_str() {
        qualified_target(owner, initiator, &format!("{path}.initiatorname"), errors);
    }
}

/// Checks a name of an iSCSI target or initiator. Source: validation.go (v1.34), `iscsiInitiatorIqnRegex` and others.
fn qualified_target(owner: Owner, name: &str, path: &str, errors: &mut Vec<FieldError>) {
    let is_long = |length: usize| name.len() == length && name[4..].bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_right = match name.get(..3) {
        Some("iqn") => is_iqn(name),
        Some("eui") => name.is_ascii() && is_long(20),
        Some("naa") => name.is_ascii() && is_long(36),
        _ if owner == Owner::PersistentVolume => false,
        _ => {
            let why = "must be valid format starting with iqn, eui, or naa";
            return errors.push(FieldError::invalid_text(path, name, why));
        }
    };
    if !is_right {
        errors.push(FieldError::invalid_text(path, name, "must be valid format"));
    }
}

/// `iqn.2001-04.com.example:storage`: a month, a domain, and a name behind a colon.
fn is_iqn(name: &str) -> bool {
    let Some((head, tail)) = name.split_once(':') else { return false };
    let is_tail =
        !tail.is_empty() && !tail.contains([',', ';', '*', '&', '$', '|']) && !tail.contains(char::is_whitespace);
    let Some(date) = head.strip_prefix("iqn.") else { return false };
    let digits = |text: &str, length: usize| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((month, domain)) = date.split_once('.') else { return false };
    let is_month = month.split_once('-').is_some_and(|(year, month)| digits(year, 4) && digits(month, 2));
    let is_domain =
        !domain.is_empty() && domain.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
    is_tail && is_month && is_domain
}

fn fibre_channel(of: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let (targets, ids, lun) = (of.get("targetWWNs").items(), of.get("wwids").items(), of.get("lun"));
    let at = format!("{path}.targetWWNs");
    match (targets.is_empty(), ids.is_empty()) {
        (true, true) => errors.push(FieldError::required(at, "must specify either targetWWNs or wwids, but not both")),
        (false, false) => {
            let why = "targetWWNs and wwids can not be specified simultaneously";
            errors.push(FieldError::invalid(at, of.get("targetWWNs"), why));
        }
        _ => {}
    }
    if targets.is_empty() {
        return;
    }
    match lun.as_i64() {
        None => errors.push(FieldError::required(format!("{path}.lun"), "lun is required if targetWWNs is specified")),
        Some(0..=255) => {}
        Some(_) => errors.push(FieldError::invalid(format!("{path}.lun"), lun, "must be between 0 and 255, inclusive")),
    }
}

fn flocker(of: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let (name, uuid) = (text(of, "datasetName"), text(of, "datasetUUID"));
    if name.is_empty() && uuid.is_empty() {
        errors.push(FieldError::required(path, "one of datasetName and datasetUUID is required"));
    }
    if !name.is_empty() && !uuid.is_empty() {
        let why = "datasetName and datasetUUID can not be specified simultaneously";
        errors.push(FieldError::invalid_text(path, "resource", why));
    }
    if name.contains('/') {
        errors.push(FieldError::invalid_text(format!("{path}.datasetName"), name, "must not contain '/'"));
    }
}

fn quobyte(of: &Json, path: &str, errors: &mut Vec<FieldError>) {
    const PAIRS: &str = "must be a host:port pair or multiple pairs separated by commas";
    const TENANT_MAX: usize = 64;
    let registry = text(of, "registry");
    if registry.is_empty() {
        errors.push(FieldError::required(format!("{path}.registry"), PAIRS));
    } else if text(of, "tenant").len() > TENANT_MAX {
        let why = "must be a UUID and may not exceed a length of 64 characters";
        errors.push(FieldError::required(format!("{path}.tenant"), why));
    } else {
        for _ in registry.split(',').filter(|pair| pair.matches(':').count() != 1) {
            errors.push(FieldError::invalid_text(format!("{path}.registry"), registry, PAIRS));
        }
    }
    if text(of, "volume").is_empty() {
        errors.push(FieldError::required(format!("{path}.volume"), ""));
    }
}

fn reserved_options(of: &Json, path: &str, errors: &mut Vec<FieldError>) {
    for (key, _) in of.get("options").fields() {
        let domain = format!(".{}", key.split_once('/').map_or(key.as_str(), |(domain, _)| domain).to_lowercase());
        if domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io") {
            let why = "kubernetes.io and k8s.io namespaces are reserved";
            errors.push(FieldError::invalid_text(format!("{path}.options[{key}]"), key, why));
        }
    }
}

fn azure_disk(of: &Json, path: &str, errors: &mut Vec<FieldError>) {
    const CACHING: [&str; 3] = ["None", "ReadOnly", "ReadWrite"];
    const KINDS: [&str; 3] = ["Dedicated", "Managed", "Shared"];
    let mut known = |field: &str, supported: &[&str]| {
        if let Some(own) = of.get(field).as_str().filter(|own| !supported.contains(own)) {
            errors.push(FieldError::not_supported(format!("{path}.{field}"), own, supported));
        }
    };
    known("cachingMode", &CACHING);
    known("kind", &KINDS);
    let Some(kind) = of.get("kind").as_str() else { return };
    let (begins, form) = if kind == "Managed" {
        let disks = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
        ("/subscriptions/", disks)
    } else {
        ("https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd")
    };
    if !text(of, "diskURI").starts_with(begins) {
        errors.push(FieldError::not_supported(format!("{path}.diskURI"), text(of, "diskURI"), &[form]));
    }
}
