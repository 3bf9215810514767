//! Checks references to fields of a Pod and to resources of its containers, from variables and from volumes.
//!
//! Mirrors pkg/apis/core/validation/validation.go, `validateObjectFieldSelector` and
//! `validateContainerResourceFieldSelector`, and pkg/apis/core/pods/helpers.go, `ConvertDownwardAPIFieldLabel` (v1.34).
//! Inputs: a reference and the fields that its place allows. Outputs: what is wrong with it.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::{FieldError, invalid, text};
use crate::objects::Json;
use crate::objects::names::{self, Wording};
use crate::objects::quantity::Quantity;

/// The fields that a variable can show. Source: `validEnvDownwardAPIFieldPathExpressions`.
pub(super) const OF_VARIABLES: &[&str] = &[
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
/// The fields that a file can show. Source: `validVolumeDownwardAPIFieldPathExpressions`.
pub(super) const OF_FILES: &[&str] =
    &["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];
/// The fields that have a name in this version of the API. Source: `ConvertDownwardAPIFieldLabel`.
const NAMED: &[&str] = &[
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.serviceAccountName",
    "spec.schedulerName",
    "status.phase",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
/// Source: `validContainerResourceFieldPathExpressions`.
const RESOURCES: &[&str] = &[
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];
/// Source: `validContainerResourceDivisorForMemory`; those of huge pages and of storage are the same.
const OF_BYTES: &[&str] = &["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/// Checks a reference to a field of the Pod.
pub(super) fn field(of: &Json, allowed: &[&str], path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    let (version, label) = (of.get("apiVersion").as_str().unwrap_or("v1"), text(of, "fieldPath"));
    let at = format!("{path}.fieldPath");
    if version.is_empty() {
        return errors.push(FieldError::required(format!("{path}.apiVersion"), ""));
    }
    if label.is_empty() {
        return errors.push(FieldError::required(at, ""));
    }
    let no = |why| FieldError::invalid_text(at.as_str(), label, format!("error converting fieldPath: {why}"));
    if version != "v1" {
        return errors.push(no(format!("unsupported pod version: {version}")));
    }
    let subscript = label.strip_suffix("']").and_then(|label| label.split_once("['"));
    match subscript {
        Some(("metadata.annotations", key)) => {
            invalid(names::qualified(&key.to_lowercase(), wording), path, key, errors)
        }
        Some(("metadata.labels", key)) => invalid(names::qualified(key, wording), path, key, errors),
        Some(_) => errors.push(no(format!("field label does not support subscript: {label}"))),
        None => {
            let label = if label == "spec.host" { "spec.nodeName" } else { label };
            if !NAMED.contains(&label) {
                errors.push(no(format!("field label not supported: {label}")));
            } else if !allowed.contains(&label) {
                errors.push(FieldError::not_supported(at, label, allowed));
            }
        }
    }
}

/// Checks a reference to a resource of a container, which a volume has to name.
pub(super) fn resource(of: &Json, path: &str, of_volume: bool, errors: &mut Vec<FieldError>) {
    let name = text(of, "resource");
    let is_huge = ["requests.hugepages-", "limits.hugepages-"].iter().any(|prefix| name.starts_with(prefix));
    if of_volume && text(of, "containerName").is_empty() {
        errors.push(FieldError::required(format!("{path}.containerName"), ""));
    } else if name.is_empty() {
        errors.push(FieldError::required(format!("{path}.resource"), ""));
    } else if !RESOURCES.contains(&name) && !is_huge {
        errors.push(FieldError::not_supported(format!("{path}.resource"), name, RESOURCES));
    }
    let divisor = Quantity::from_json(of.get("divisor")).filter(|divisor| !divisor.is_zero());
    let Some(divisor) = divisor.map(|divisor| divisor.to_string()) else { return };
    let bytes = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";
    let (allowed, why) = match name.split_once('.').map_or("", |(_, kind)| kind) {
        "cpu" => (&["1m", "1"][..], "only divisor's values 1m and 1 are supported with the cpu resource".to_owned()),
        "memory" => (OF_BYTES, format!("only divisor's values {bytes} are supported with the memory resource")),
        "ephemeral-storage" => {
            (OF_BYTES, format!("only divisor's values {bytes} are supported with the local ephemeral storage resource"))
        }
        _ if is_huge => (OF_BYTES, format!("only divisor's values {bytes} are supported with the hugepages resource")),
        _ => return,
    };
    if !allowed.contains(&divisor.as_str()) {
        errors.push(FieldError::invalid_text(format!("{path}.divisor"), name, why));
    }
}
