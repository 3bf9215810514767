//! Validation of the kinds around a node's life: budgets, priority classes, CSINodes, ConfigMaps, Secrets.
//!
//! Mirrors pkg/apis/{core,policy,scheduling,storage}/validation/validation.go (v1.34).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::syntax;
use super::{FieldError, amount, conditions, driver_name, invalid, meta};
use crate::objects::names::{self, Wording};
use crate::objects::{Json, base64};

/// Source: pkg/apis/scheduling/types.go (v1.34), `HighestUserDefinablePriority`.
const HIGHEST_USER_PRIORITY: i64 = 1_000_000_000;
/// Source: pkg/apis/scheduling/v1/helpers.go (v1.34), `systemPriorityClasses`.
pub(in super::super) const NODE_CRITICAL: (&str, i64) = ("system-node-critical", 2_000_001_000);
/// Source: as above.
pub(in super::super) const CLUSTER_CRITICAL: (&str, i64) = ("system-cluster-critical", 2_000_000_000);

/// Checks a PodDisruptionBudget.
pub(in super::super) fn budget(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let spec = tree.get("spec");
    if !spec.get("minAvailable").is_null() && !spec.get("maxUnavailable").is_null() {
        let why = "minAvailable and maxUnavailable cannot be both set";
        errors.push(FieldError::invalid_of("PodDisruptionBudgetSpec", "spec", spec, why));
    }
    for field in ["minAvailable", "maxUnavailable"] {
        let path = format!("spec.{field}");
        amount::amount(spec.get(field), &path, errors);
        amount::at_most_all(spec.get(field), &path, errors);
    }
    label_selector(spec.get("selector"), "spec.selector", wording, errors);
    if let Some(policy) = spec.get("unhealthyPodEvictionPolicy").as_str() {
        let policies = ["AlwaysAllow", "IfHealthyBudget"];
        if !policies.contains(&policy) {
            errors.push(FieldError::not_supported("spec.unhealthyPodEvictionPolicy", policy, &policies));
        }
    }
}

/// Checks the status of a PodDisruptionBudget.
pub(in super::super) fn budget_status(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    conditions::validate(tree.at(&["status", "conditions"]), "status.conditions", wording, errors);
    for field in ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] {
        amount::not_negative(tree.get("status"), "status", field, errors);
    }
}

/// Checks a selector of labels. Source: k8s.io/apimachinery pkg/apis/meta/v1/validation (v1.34),
/// `ValidateLabelSelector`.
pub(in super::super) fn label_selector(selector: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    meta::validate_labels(selector.get("matchLabels"), &format!("{path}.matchLabels"), wording, errors);
    for (at, term) in selector.get("matchExpressions").items().iter().enumerate() {
        let path = format!("{path}.matchExpressions[{at}]");
        let (key, operator) = (term.get("key").as_str().unwrap_or(""), term.get("operator").as_str().unwrap_or(""));
        match operator {
            "In" | "NotIn" if term.get("values").is_empty() => {
                let why = "must be specified when `operator` is 'In' or 'NotIn'";
                errors.push(FieldError::required(format!("{path}.values"), why));
            }
            "In" | "NotIn" => {}
            "Exists" | "DoesNotExist" if !term.get("values").is_empty() => {
                let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.push(FieldError::forbidden(format!("{path}.values"), why));
            }
            "Exists" | "DoesNotExist" => {}
            other => {
                errors.push(FieldError::invalid_text(
                    format!("{path}.operator"),
                    other,
                    "not a valid selector operator",
                ));
            }
        }
        invalid(names::qualified(key, wording), format!("{path}.key"), key, errors);
        label_values(term, &path, wording, errors);
    }
}

/// Checks the values that a term compares with as values of labels.
pub(super) fn label_values(term: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    for (at, value) in term.get("values").items().iter().enumerate() {
        let value = value.as_str().unwrap_or("");
        invalid(names::label_value(value, wording), format!("{path}.values[{at}]"), value, errors);
    }
}

/// Checks a PriorityClass.
pub(in super::super) fn priority_class(tree: &Json, errors: &mut Vec<FieldError>) {
    let name = tree.at(&["metadata", "name"]).as_str().unwrap_or("");
    let value = tree.get("value").as_i64().unwrap_or(0);
    if name.starts_with("system-") {
        let why = match [NODE_CRITICAL, CLUSTER_CRITICAL].iter().find(|(own, _)| *own == name) {
            None => format!("{name} is not a known system priority class"),
            Some((_, own)) if *own != value => format!("value of {name} PriorityClass must be {own}"),
            Some(_) if tree.get("globalDefault").as_bool() == Some(true) => {
                format!("globalDefault of {name} PriorityClass must be false")
            }
            Some(_) => String::new(),
        };
        if !why.is_empty() {
            let whole = "priority class names with 'system-' prefix are reserved for system use only. error: ";
            errors.push(FieldError::forbidden("metadata.name", format!("{whole}{why}")));
        }
    } else if value > HIGHEST_USER_PRIORITY {
        let why = format!("maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}");
        errors.push(FieldError::forbidden("value", why));
    }
    if let Some(policy) = tree.get("preemptionPolicy").as_str() {
        let policies = ["PreemptLowerPriority", "Never"];
        if policy.is_empty() {
            errors.push(FieldError::required("preemptionPolicy", ""));
        } else if !policies.contains(&policy) {
            errors.push(FieldError::not_supported("preemptionPolicy", policy, &policies));
        }
    }
}

/// Checks a CSINode.
pub(in super::super) fn csi_node(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let drivers = tree.at(&["spec", "drivers"]).items();
    for (at, driver) in drivers.iter().enumerate() {
        let path = format!("spec.drivers[{at}]");
        let name = driver.get("name");
        driver_name(name.as_str().unwrap_or(""), &format!("{path}.name"), wording, errors);
        if super::is_blank(driver.get("nodeID")) {
            errors.push(FieldError::required(format!("{path}.nodeID"), ""));
        }
        if driver.get("nodeID").as_str().unwrap_or("").len() > NODE_ID_MAX {
            let why = format!("must be {NODE_ID_MAX} characters or less");
            errors.push(FieldError::invalid(format!("{path}.nodeID"), driver.get("nodeID"), why));
        }
        if drivers[..at].iter().any(|other| other.get("name") == name) {
            errors.push(FieldError::duplicate(format!("{path}.name"), name));
        }
        let keys: Vec<&str> = driver.get("topologyKeys").items().iter().map(|key| key.as_str().unwrap_or("")).collect();
        for (at, key) in keys.iter().enumerate() {
            if key.is_empty() {
                errors.push(FieldError::required(path.as_str(), ""));
            }
            if keys[..at].contains(key) {
                errors.push(FieldError::duplicate(path.as_str(), &Json::from(*key)));
            }
            invalid(names::qualified(key, wording), &path, key, errors);
        }
        amount::not_negative(driver.get("allocatable"), &format!("{path}.allocatable"), "count", errors);
    }
}

/// Source: pkg/apis/storage/validation/validation.go (v1.34), `csiNodeIDLongerMaxLength`.
const NODE_ID_MAX: usize = 256;
/// Source: pkg/apis/core/types.go (v1.34), `ServiceAccountNameKey`.
const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";

/// Checks the keys of a map of data.
fn config_keys(tree: &Json, field: &str, errors: &mut Vec<FieldError>) {
    for (key, _) in tree.get(field).fields() {
        invalid(names::config_key(key), format!("{field}[{key}]"), key, errors);
    }
}

/// Checks a ConfigMap. Source: pkg/apis/core/validation/validation.go (v1.34), `ValidateConfigMap`.
pub(in super::super) fn config_map(tree: &Json, errors: &mut Vec<FieldError>) {
    config_keys(tree, "data", errors);
    for (key, _) in tree.get("data").fields().filter(|(key, _)| !tree.get("binaryData").get(key).is_null()) {
        let why = "duplicate of key present in binaryData";
        errors.push(FieldError::invalid_text(format!("data[{key}]"), key, why));
    }
    config_keys(tree, "binaryData", errors);
    let bytes: usize = tree.get("data").fields().map(|(_, value)| value.as_str().map_or(0, str::len)).sum();
    if bytes + decoded_bytes(tree.get("binaryData")) > DATA_BYTES {
        // Upstream gives it a path without a name.
        errors.push(FieldError::too_long("[]", format!("may not be more than {DATA_BYTES} bytes")));
    }
}

/// Most bytes of a Secret or a ConfigMap. Source: k8s.io/api core/v1/types.go (v1.34), `MaxSecretSize`.
const DATA_BYTES: usize = 1024 * 1024;

/// Returns how many bytes values in base64 are.
fn decoded_bytes(data: &Json) -> usize {
    let bytes = |text: &str| text.len() / 4 * 3 - text.bytes().rev().take_while(|byte| *byte == b'=').count().min(2);
    data.fields().filter_map(|(_, value)| value.as_str()).filter(|text| text.len() >= 4).map(bytes).sum()
}

/// Checks that a Secret has the keys of its type. Source: pkg/apis/core/validation/validation.go (v1.34),
/// `ValidateSecret`.
pub(in super::super) fn secret(tree: &Json, errors: &mut Vec<FieldError>) {
    config_keys(tree, "data", errors);
    if decoded_bytes(tree.get("data")) > DATA_BYTES {
        errors.push(FieldError::too_long("data", format!("may not be more than {DATA_BYTES} bytes")));
    }
    match tree.get("type").as_str() {
        Some("kubernetes.io/service-account-token")
            if super::is_blank(tree.at(&["metadata", "annotations", ACCOUNT_NAME])) =>
        {
            errors.push(FieldError::required(format!("metadata.annotations[{ACCOUNT_NAME}]"), ""));
        }
        Some("kubernetes.io/basic-auth")
            if tree.at(&["data", "username"]).is_null() && tree.at(&["data", "password"]).is_null() =>
        {
            for key in ["username", "password"] {
                errors.push(FieldError::required(format!("data[{key}]"), ""));
            }
        }
        _ => {}
    }
    let keys: &[&str] = match tree.get("type").as_str() {
        Some("kubernetes.io/tls") => &["tls.crt", "tls.key"],
        Some("kubernetes.io/ssh-auth") => &["ssh-privatekey"],
        Some("kubernetes.io/dockercfg") => &[".dockercfg"],
        Some("kubernetes.io/dockerconfigjson") => &[".dockerconfigjson"],
        _ => &[],
    };
    for key in keys.iter().filter(|key| tree.get("data").get(key).is_null()) {
        errors.push(FieldError::required(format!("data[{key}]"), ""));
    }
    for key in keys.iter().filter(|key| key.starts_with('.')) {
        let Some(bytes) = tree.get("data").get(key).as_str().and_then(base64::decode) else { continue };
        let text = String::from_utf8(bytes).unwrap_or_default();
        if Json::parse(&text).is_err() {
            let (value, why) = ("<secret contents redacted>", syntax::problem(&text));
            errors.push(FieldError::invalid_text(format!("data[{key}]"), value, why));
        }
    }
}
