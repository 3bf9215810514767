//! Validation of changes of small kinds: what is checked again, and what may not change.
//!
//! Mirrors the functions `Validate*Update` of pkg/apis/{core,scheduling,storage}/validation (v1.34). Inputs: the
//! changed object and the stored one. Outputs: errors.

use alloc::format;
use alloc::vec::Vec;

use super::ip::{self, Reading};
use super::{FieldError, IMMUTABLE, RuleWords, invalid, meta, text};
use crate::objects::Json;
use crate::objects::names::{self, Wording};

const SEALED: &str = "field is immutable when `immutable` is set";

/// Checks that a Secret or ConfigMap which is sealed stays so, with its data. Source: core, `ValidateSecretUpdate` and
/// `ValidateConfigMapUpdate`.
pub(in super::super) fn sealed(tree: &Json, old: &Json, fields: &[&str], errors: &mut Vec<FieldError>) {
    if old.get("immutable").as_bool() != Some(true) {
        return;
    }
    if tree.get("immutable").as_bool() != Some(true) {
        errors.push(FieldError::forbidden("immutable", SEALED));
    }
    for field in fields.iter().filter(|field| tree.get(field) != old.get(field)) {
        errors.push(FieldError::forbidden(*field, SEALED));
    }
}

/// Checks that a field stays as it is.
pub(in super::super) fn same(tree: &Json, old: &Json, field: &str, errors: &mut Vec<FieldError>) {
    if tree.get(field) != old.get(field) {
        errors.push(FieldError::invalid(field, tree.get(field), IMMUTABLE));
    }
}

/// Checks that a PriorityClass means what it meant. Source: scheduling, `ValidatePriorityClassUpdate`.
pub(in super::super) fn priority_class(tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    let value = |of: &Json| of.get("value").as_i64().unwrap_or(0);
    if value(tree) != value(old) {
        errors.push(FieldError::forbidden("value", "may not be changed in an update."));
    }
    same(tree, old, "preemptionPolicy", errors);
}

/// Checks that the drivers of a CSINode stay as they are. Source: storage, `ValidateCSINodeUpdate`.
pub(in super::super) fn csi_node(tree: &Json, old: &Json, counts_may_change: bool, errors: &mut Vec<FieldError>) {
    let compared = |driver: &Json| {
        let mut driver = driver.clone();
        if counts_may_change {
            driver.remove(&["allocatable"]);
        }
        driver
    };
    let list = ["spec", "drivers"];
    for before in old.at(&list).items() {
        let named = tree.at(&list).items().iter().filter(|driver| driver.get("name") == before.get("name"));
        for driver in named.map(compared).filter(|driver| *driver != compared(before)) {
            errors.push(FieldError::invalid_of("CSINodeDriver", "spec.drivers", &driver, IMMUTABLE));
        }
    }
}

/// Checks that a VolumeAttachment stays as it is. Source: storage, `ValidateVolumeAttachmentUpdate`.
pub(in super::super) fn attachment(tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    let spec = tree.get("spec");
    if spec != old.get("spec") {
        let error = FieldError::invalid_of("VolumeAttachmentSpec", "spec", spec, IMMUTABLE);
        errors.push(error.declared(RuleWords::NoValue));
    }
}

/// Checks that a CSIDriver works as it did. Source: storage, `ValidateCSIDriverUpdate`.
pub(in super::super) fn driver(tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    for (field, told) in [("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "volumeLifecycleModes")] {
        let (new, known) = (tree.at(&["spec", field]), old.at(&["spec", field]));
        if new != known {
            errors.push(FieldError::invalid(format!("spec.{told}"), new, IMMUTABLE));
        }
    }
}

/// Checks the addresses of a Service's load balancer. Source: core, `ValidateLoadBalancerStatus`.
pub(in super::super) fn service_status(
    tree: &Json,
    old: &Json,
    wording: Wording,
    reading: Reading,
    errors: &mut Vec<FieldError>,
) {
    let list = ["status", "loadBalancer", "ingress"];
    let (items, path) = (tree.at(&list).items(), list.join("."));
    if tree.at(&["spec", "type"]).as_str() != Some("LoadBalancer") {
        if !items.is_empty() {
            errors.push(FieldError::forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'"));
        }
        return;
    }
    let stored: Vec<&str> = old.at(&list).items().iter().map(|item| text(item, "ip")).collect();
    for (at, item) in items.iter().enumerate() {
        let (path, address, mode) = (format!("{path}[{at}]"), text(item, "ip"), item.get("ipMode").as_str());
        if !address.is_empty() && !stored.contains(&address) {
            ip::legacy(address, &format!("{path}.ip"), reading, errors);
        }
        match mode {
            None if !address.is_empty() => {
                errors.push(FieldError::required(format!("{path}.ipMode"), "must be specified when `ip` is set"));
            }
            Some(_) if address.is_empty() => {
                let why = "may not be specified when `ip` is not set";
                errors.push(FieldError::forbidden(format!("{path}.ipMode"), why));
            }
            Some(mode) if !["Proxy", "VIP"].contains(&mode) => {
                errors.push(FieldError::not_supported(format!("{path}.ipMode"), mode, &["Proxy", "VIP"]));
            }
            _ => {}
        }
        let host = text(item, "hostname");
        if !host.is_empty() {
            invalid(names::subdomain(host, wording), format!("{path}.hostname"), host, errors);
            if ip::parse(host).is_some() {
                let why = "must be a DNS name, not an IP address";
                errors.push(FieldError::invalid_text(format!("{path}.hostname"), host, why));
            }
        }
    }
}

/// Checks what waits for the end of a Namespace. Source: core, `ValidateNamespaceFinalizeUpdate`.
pub(in super::super) fn namespace_finalizers(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    for (at, finalizer) in tree.at(&["spec", "finalizers"]).items().iter().enumerate() {
        let (name, path) = (finalizer.as_str().unwrap_or(""), format!("spec.finalizers[{at}]"));
        invalid(names::qualified(name, wording), path.as_str(), name, errors);
        meta::standard_finalizer(name, &path, errors);
    }
}

/// Checks the phase of a Namespace. Source: core, `ValidateNamespaceStatusUpdate`.
pub(in super::super) fn namespace_status(tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    let phase = tree.at(&["status", "phase"]);
    let live = old.at(&["metadata", "deletionTimestamp"]).is_null();
    let (wanted, why) = if live {
        ("Active", "may only be 'Active' if `deletionTimestamp` is empty")
    } else {
        ("Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty")
    };
    if phase.as_str() != Some(wanted) {
        errors.push(FieldError::invalid("status.Phase", phase, why));
    }
}
