//! Validation of changes of small kinds: what is checked again, and what may not change.
//!
//! Mirrors the functions `Validate*Update` of pkg/apis/{core,scheduling,storage,batch}/validation (v1.34). Inputs: the
//! changed object and the stored one. Outputs: errors. Left out on purpose: the conditions of Jobs.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::amount::not_negative;
use super::ip::{self, Reading};
use super::{FieldError, IMMUTABLE, RuleWords, invalid, meta, text};
use crate::objects::Json;
use crate::objects::lifecycle::is_condition_true;
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

/// Tells what is wrong with a list of indexes, as `1,3-5,7`. Source: batch, `validateIndexesFormat`.
fn wrong_indexes(list: &str, count: i64) -> Option<String> {
    let mut last = None;
    for interval in list.split(',').filter(|_| !list.is_empty()) {
        let limits: Vec<&str> = interval.split('-').collect();
        if limits.len() > 2 {
            let rule = "violates the requirement that an index interval can have at most two parts separated by '-'";
            return Some(format!("the fragment {interval:?} {rule}"));
        }
        let mut numbers = Vec::new();
        for limit in limits {
            match limit.parse::<i64>() {
                Err(_) => return Some(format!("cannot convert string to integer for index: {limit:?}")),
                Ok(number) if number >= count => return Some(format!("too large index: {limit:?}")),
                Ok(number) => numbers.push(number),
            }
        }
        let (first, end) = (numbers[0], numbers[numbers.len() - 1]);
        let before = last.filter(|last| *last >= first);
        if let Some(previous) = before.or((numbers.len() > 1 && first >= end).then_some(first)) {
            let current = if before.is_some() { first } else { end };
            return Some(format!("non-increasing order, previous: {previous}, current: {current}"));
        }
        last = Some(end);
    }
    None
}

/// Checks the numbers of Pods of a Job's status, and with a manager of its own whether the change is a possible one.
/// Source: batch, `validateJobStatus` and `ValidateJobStatusUpdate`; pkg/registry/batch/job/strategy.go (v1.34),
/// `getStatusValidationOptions`.
pub(in super::super) fn job_status(tree: &Json, old: &Json, has_manager: bool, errors: &mut Vec<FieldError>) {
    let status = tree.get("status");
    for field in ["active", "succeeded", "failed", "ready", "terminating"] {
        not_negative(status, "status", field, errors);
    }
    let mut seen: Vec<&str> = Vec::new();
    for list in ["succeeded", "failed"] {
        for (at, uid) in status.at(&["uncountedTerminatedPods", list]).items().iter().enumerate() {
            let (name, path) = (uid.as_str().unwrap_or(""), format!("status.uncountedTerminatedPods.{list}[{at}]"));
            if name.is_empty() {
                errors.push(FieldError::invalid_text(path, name, "must not be empty"));
            } else if seen.contains(&name) {
                errors.push(FieldError::duplicate(path, uid));
            } else {
                seen.push(name);
            }
        }
    }
    if has_manager {
        job_progress(tree, old, errors);
    }
}

fn job_progress(tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    let (status, stored) = (tree.get("status"), old.get("status"));
    let number = |of: &Json, field: &str| of.get(field).as_i64().unwrap_or(0);
    let changed = |field: &str| status.get(field) != stored.get(field);
    let is_active_changed = number(status, "active") != number(stored, "active");
    let is_more = status.get("ready").as_i64().is_some_and(|ready| ready > number(status, "active"));
    if is_more && (changed("ready") || is_active_changed) {
        let why = "cannot set more ready pods than active";
        errors.push(FieldError::invalid("status.ready", status.get("ready"), why));
    }
    let time = status.get("completionTime");
    let is_complete = is_condition_true(tree, "Complete");
    if !time.is_null() && !is_complete && (changed("completionTime") || is_condition_true(old, "Complete")) {
        let why = "cannot set completionTime when there is no Complete=True condition";
        errors.push(FieldError::invalid("status.completionTime", time, why));
    }
    let (done, failed) = (status.get("completedIndexes"), status.get("failedIndexes"));
    let is_indexed = tree.at(&["spec", "completionMode"]).as_str() == Some("Indexed");
    let count = tree.at(&["spec", "completions"]).as_i64();
    let has_limit = !tree.at(&["spec", "backoffLimitPerIndex"]).is_null();
    for (field, list, is_asked) in [("completedIndexes", done, true), ("failedIndexes", failed, has_limit)] {
        let wrong = count.and_then(|count| wrong_indexes(list.as_str().unwrap_or(""), count));
        if let Some(why) = wrong.filter(|_| is_asked && changed(field)) {
            let why = format!("error parsing {field}: {why}");
            errors.push(FieldError::invalid(format!("status.{field}"), list, why));
        }
    }
    if !done.is_empty() && !is_indexed && changed("completedIndexes") {
        let why = "cannot set non-empty completedIndexes when non-indexed completion mode";
        errors.push(FieldError::invalid("status.completedIndexes", done, why));
    }
    if !failed.is_null() && tree.at(&["spec", "backoffLimitPerIndex"]).is_null() && changed("failedIndexes") {
        let why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
        errors.push(FieldError::invalid("status.failedIndexes", failed, why));
    }
    for field in ["failed", "succeeded"] {
        if number(status, field) < number(stored, field) {
            let why = format!("cannot decrease the {field} counter");
            errors.push(FieldError::invalid(format!("status.{field}"), &Json::Int(number(status, field)), why));
        }
    }
}
