//! Validation of claims, storage classes and CSI drivers.
//!
//! Mirrors pkg/apis/core/validation/validation.go and pkg/apis/storage/validation/validation.go (v1.34). Left out on
//! purpose: the fields of sources other than CSI, host path and local ones, data sources, allowed topologies.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{FieldError, IMMUTABLE, Problem, RuleWords, invalid, is_blank, others, text};
use crate::objects::Json;
use crate::objects::names::{self, Wording};
use crate::objects::quantity::Quantity;
use crate::profile::Settings;

/// Source: pkg/apis/core/validation/validation.go (v1.34), `supportedAccessModes`, in the order of its listing.
const ACCESS_MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
/// Source: as [`ACCESS_MODES`], `supportedVolumeModes`.
const VOLUME_MODES: [&str; 2] = ["Block", "Filesystem"];
/// The shortest pause between counts of what a node may attach, in seconds. Source:
/// pkg/apis/storage/validation/validation.go (v1.34), `validateNodeAllocatableUpdatePeriodSeconds`.
const RECOUNT_SECONDS_MIN: i64 = 10;
const POSITIVE: &str = "must be greater than zero";
/// Checks access modes. Source: validation.go (v1.34), `ValidatePersistentVolumeSpec`.
pub(super) fn access_modes(spec: &Json, errors: &mut Vec<FieldError>) {
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

pub(super) fn positive(value: &Json, path: String, errors: &mut Vec<FieldError>) {
    let amount = Quantity::from_json(value);
    if amount.is_some_and(|amount| amount.is_negative() || amount.is_zero()) {
        errors.push(FieldError::invalid(path, value, POSITIVE));
    }
}

pub(super) fn class_name(spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let class = text(spec, "storageClassName");
    if !class.is_empty() {
        invalid(names::subdomain(class, wording), "spec.storageClassName", class, errors);
    }
}

pub(super) fn volume_mode(spec: &Json, errors: &mut Vec<FieldError>) {
    if let Some(mode) = spec.get("volumeMode").as_str()
        && !VOLUME_MODES.contains(&mode)
    {
        errors.push(FieldError::not_supported("spec.volumeMode", mode, &VOLUME_MODES));
    }
}

pub(super) fn attributes_class(class: &str, wording: Wording, errors: &mut Vec<FieldError>) {
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
        errors.push(FieldError::required("provisioner", "").declared(RuleWords::Same));
    } else {
        invalid(names::qualified(&provisioner, wording), "provisioner", &provisioner, errors);
    }
    parameters(tree.get("parameters"), errors);
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

/// Checks a VolumeAttributesClass. Source: pkg/apis/storage/validation/validation.go (v1.34),
/// `ValidateVolumeAttributesClass`.
pub(super) fn attributes(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let driver = text(tree, "driverName").to_lowercase();
    match driver.as_str() {
        "" => errors.push(FieldError::required("driverName", "")),
        driver => invalid(names::qualified(driver, wording), "driverName", driver, errors),
    }
    let own = tree.get("parameters");
    parameters(own, errors);
    if own.is_empty() {
        errors.push(FieldError::required("parameters", "must contain at least one key/value pair"));
    }
}

/// Checks the parameters of a class. Source: as [`class`], `validateParameters`.
fn parameters(parameters: &Json, errors: &mut Vec<FieldError>) {
    if parameters.fields().len() > PARAMETERS_MAX {
        let why = format!("may not be more than {PARAMETERS_MAX} bytes");
        errors.push(FieldError::too_long("parameters", why));
        return;
    }
    if parameters.fields().any(|(name, _)| name.is_empty()) {
        errors.push(FieldError::invalid_text("parameters", "", "field can not be empty."));
    }
    let bytes: usize = parameters.fields().map(|(name, own)| name.len() + own.as_str().map_or(0, str::len)).sum();
    if bytes > PARAMETER_BYTES {
        errors.push(FieldError::too_long("parameters", format!("may not be more than {PARAMETER_BYTES} bytes")));
    }
}

/// Source: pkg/apis/storage/validation/validation.go (v1.34), `maxProvisionerParameterLen`.
const PARAMETERS_MAX: usize = 512;
/// Source: as above, `maxProvisionerParameterSize`.
const PARAMETER_BYTES: usize = 256 * 1024;

/// Checks a change of a StorageClass. Source: as [`class`], `ValidateStorageClassUpdate`.
pub(in super::super) fn class_update(tree: &Json, old: &Json, settings: &Settings, errors: &mut Vec<FieldError>) {
    let immutable = settings.profile().is("storage-class-fields-are-immutable");
    for field in ["parameters", "provisioner", "reclaimPolicy"] {
        let (new, known) = (tree.get(field), old.get(field));
        // What is empty is stored as absent.
        let is_same = if known.is_empty() { new.is_null() || immutable && new.is_empty() } else { new == known };
        if immutable && !is_same {
            errors.push(FieldError::invalid(field, new, IMMUTABLE).declared(RuleWords::NoValue));
        } else if !is_same {
            errors.push(FieldError::forbidden(field, format!("updates to {field} are forbidden.")));
        }
    }
    if tree.get("volumeBindingMode") != old.get("volumeBindingMode") {
        let error = FieldError::invalid("volumeBindingMode", tree.get("volumeBindingMode"), IMMUTABLE);
        errors.push(error.declared(RuleWords::NoValue));
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
