//! Validation of where a Pod may run and of the claims that its containers use.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34): `ValidateNodeSelector`, `validateTopologySpreadConstraints`,
//! `validatePodAffinityTerm`.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::{FieldError, Problem, invalid, others, text};
use crate::objects::Json;
use crate::objects::names::{self, Wording};

/// Checks the affinity of a Pod, to Nodes and to other Pods.
pub(in super::super) fn affinity(spec: &Json, wording: Wording, checks_values: bool, errors: &mut Vec<FieldError>) {
    let affinity = spec.at(&["affinity", "nodeAffinity"]);
    let path = "spec.affinity.nodeAffinity";
    let required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution");
    let own = format!("{path}.requiredDuringSchedulingIgnoredDuringExecution");
    node_selector(required, &own, wording, checks_values, errors);
    let preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution").items();
    for (at, term) in preferred.iter().enumerate() {
        let path = format!("{path}.preferredDuringSchedulingIgnoredDuringExecution[{at}]");
        weight(term, &path, errors);
        node_term(term.get("preference"), &format!("{path}.preference"), wording, false, errors);
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let affinity = spec.at(&["affinity", kind]);
        let list = |when: &str| affinity.get(when).items().iter().enumerate();
        let path = |when: &str, at: usize| format!("spec.affinity.{kind}.{when}[{at}]");
        let (required, preferred) =
            ("requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution");
        for (at, term) in list(required) {
            pod_term(term, &path(required, at), wording, errors);
        }
        for (at, term) in list(preferred) {
            let path = path(preferred, at);
            weight(term, &path, errors);
            pod_term(term.get("podAffinityTerm"), &format!("{path}.podAffinityTerm"), wording, errors);
        }
    }
}

/// Checks the Nodes that can use a volume. Source: validation.go (v1.34), `validateVolumeNodeAffinity`.
pub(super) fn volume_affinity(affinity: &Json, wording: Wording, checks_values: bool, errors: &mut Vec<FieldError>) {
    let (required, path) = (affinity.get("required"), "spec.nodeAffinity.required");
    if required.is_null() {
        errors.push(FieldError::required(path, "must specify required node constraints"));
    }
    node_selector(required, path, wording, checks_values, errors);
}

/// Checks a selector of Nodes, if there is one. Source: validation.go (v1.34), `ValidateNodeSelector`.
fn node_selector(selector: &Json, path: &str, wording: Wording, checks_values: bool, errors: &mut Vec<FieldError>) {
    if selector.is_null() {
        return;
    }
    let path = format!("{path}.nodeSelectorTerms");
    let terms = selector.get("nodeSelectorTerms").items();
    if terms.is_empty() {
        errors.push(FieldError::required(path.as_str(), "must have at least one node selector term"));
    }
    for (at, term) in terms.iter().enumerate() {
        node_term(term, &format!("{path}[{at}]"), wording, checks_values, errors);
    }
}

fn weight(term: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let weight = term.get("weight");
    if !weight.as_i64().is_some_and(|weight| (1..=100).contains(&weight)) {
        errors.push(FieldError::invalid(format!("{path}.weight"), weight, "must be in the range 1-100"));
    }
}

/// Checks a term about Nodes. The values of one that is only preferred may be anything.
fn node_term(term: &Json, path: &str, wording: Wording, checks_values: bool, errors: &mut Vec<FieldError>) {
    for (at, requirement) in term.get("matchExpressions").items().iter().enumerate() {
        let path = format!("{path}.matchExpressions[{at}]");
        let text = |field: &str| requirement.get(field).as_str().unwrap_or("");
        let count = requirement.get("values").items().len();
        match text("operator") {
            "In" | "NotIn" if count == 0 => {
                let why = "must be specified when `operator` is 'In' or 'NotIn'";
                errors.push(FieldError::required(format!("{path}.values"), why));
            }
            "Exists" | "DoesNotExist" if count > 0 => {
                let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.push(FieldError::forbidden(format!("{path}.values"), why));
            }
            "Gt" | "Lt" if count != 1 => {
                let why = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                errors.push(FieldError::required(format!("{path}.values"), why));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            other => errors.push(FieldError::invalid_text(format!("{path}.operator"), other, NO_OPERATOR)),
        }
        let key = text("key");
        invalid(names::qualified(key, wording), format!("{path}.key"), key, errors);
        if checks_values {
            others::label_values(requirement, &path, wording, errors);
        }
    }
    for (at, requirement) in term.get("matchFields").items().iter().enumerate() {
        field_requirement(requirement, &format!("{path}.matchFields[{at}]"), wording, errors);
    }
}

const NO_OPERATOR: &str = "not a valid selector operator";

/// Checks a requirement about a field of Nodes, of which there is one.
///
/// Source: validation.go (v1.34), `ValidateNodeFieldSelectorRequirement`.
fn field_requirement(requirement: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    let text = |field: &str| requirement.get(field).as_str().unwrap_or("");
    let values = requirement.get("values").items();
    match text("operator") {
        "In" | "NotIn" if values.len() != 1 => {
            let why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
            errors.push(FieldError::required(format!("{path}.values"), why));
        }
        "In" | "NotIn" => {}
        other => errors.push(FieldError::invalid_text(format!("{path}.operator"), other, NO_OPERATOR)),
    }
    if text("key") != "metadata.name" {
        let why = "not a valid field selector key";
        errors.push(FieldError::invalid_text(format!("{path}.key"), text("key"), why));
        return;
    }
    for (at, value) in values.iter().enumerate() {
        let value = value.as_str().unwrap_or("");
        invalid(names::subdomain(value, wording), format!("{path}.values[{at}]"), value, errors);
    }
}

/// Checks a term about other Pods. Source: validation.go (v1.34), `validatePodAffinityTerm`.
fn pod_term(term: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    for selector in ["labelSelector", "namespaceSelector"] {
        others::label_selector(term.get(selector), &format!("{path}.{selector}"), wording, errors);
    }
    for namespace in term.get("namespaces").items() {
        let namespace = namespace.as_str().unwrap_or("");
        invalid(names::label(namespace, wording), format!("{path}.namespace"), namespace, errors);
    }
    label_keys(term, path, wording, errors);
    let key = term.get("topologyKey").as_str().unwrap_or("");
    if key.is_empty() {
        errors.push(FieldError::required(format!("{path}.topologyKey"), "can not be empty"));
    }
    invalid(names::qualified(key, wording), format!("{path}.topologyKey"), key, errors);
}

/// Checks keys of labels that a server has merged into the selector. Source: validation.go (v1.34),
/// `ValidateMatchLabelKeysAndMismatchLabelKeys`.
fn label_keys(of: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    let selector = of.get("labelSelector");
    for field in ["matchLabelKeys", "mismatchLabelKeys"] {
        let keys = of.get(field).items();
        if !keys.is_empty() && selector.is_null() {
            let why = "must not be specified when labelSelector is not set";
            errors.push(FieldError::forbidden(format!("{path}.{field}"), why));
            continue;
        }
        for (at, key) in keys.iter().enumerate() {
            let key = key.as_str().unwrap_or("");
            invalid(names::qualified(key, wording), format!("{path}.{field}[{at}]"), key, errors);
        }
    }
    let (keys, others) = (of.get("matchLabelKeys").items(), of.get("mismatchLabelKeys").items());
    let mut seen: Vec<&str> = selector.get("matchLabels").fields().map(|(key, _)| key.as_str()).collect();
    for requirement in selector.get("matchExpressions").items() {
        let key = requirement.get("key").as_str().unwrap_or("");
        // The key that was merged is there once; a second time it is the client's.
        if let Some(at) = keys.iter().rposition(|own| own.as_str() == Some(key)).filter(|_| seen.contains(&key)) {
            errors.push(FieldError::invalid_text(format!("{path}[{at}]"), key, IN_SELECTOR));
        }
        seen.push(key);
    }
    for (at, key) in keys.iter().enumerate().filter(|(_, key)| others.contains(key)) {
        let why = "exists in both matchLabelKeys and mismatchLabelKeys";
        errors.push(FieldError::invalid(format!("{path}.matchLabelKeys[{at}]"), key, why));
    }
}

const IN_SELECTOR: &str = "exists in both matchLabelKeys and labelSelector";

/// Checks keys of labels that the scheduler looks at beside the selector. Source: validation.go (v1.34),
/// `ValidateMatchLabelKeysInTopologySpread`.
fn keys_beside_selector(of: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    let (keys, selector) = (of.get("matchLabelKeys").items(), of.get("labelSelector"));
    let path = format!("{path}.matchLabelKeys");
    if !keys.is_empty() && selector.is_null() {
        errors.push(FieldError::forbidden(path, "must not be specified when labelSelector is not set"));
        return;
    }
    for (at, key) in keys.iter().enumerate() {
        let key = key.as_str().unwrap_or("");
        invalid(names::qualified(key, wording), format!("{path}[{at}]"), key, errors);
        let mut required = selector.get("matchExpressions").items().iter().map(|own| own.get("key").as_str());
        if !selector.at(&["matchLabels", key]).is_null() || required.any(|own| own == Some(key)) {
            errors.push(FieldError::invalid_text(format!("{path}[{at}]"), key, IN_SELECTOR));
        }
    }
}

/// Checks how the Pods of a selector are spread.
pub(in super::super) fn spreading(spec: &Json, wording: Wording, merges_keys: bool, errors: &mut Vec<FieldError>) {
    let constraints = spec.get("topologySpreadConstraints").items();
    for (at, constraint) in constraints.iter().enumerate() {
        let path = format!("spec.topologySpreadConstraints[{at}]");
        let text = |constraint: &Json, field: &str| constraint.get(field).as_str().unwrap_or("").to_string();
        let skew = constraint.get("maxSkew");
        if skew.as_i64().unwrap_or(0) <= 0 {
            errors.push(FieldError::invalid(format!("{path}.maxSkew"), skew, "must be greater than zero"));
        }
        let key = text(constraint, "topologyKey");
        if key.is_empty() {
            errors.push(FieldError::required(format!("{path}.topologyKey"), "can not be empty"));
        }
        let action = text(constraint, "whenUnsatisfiable");
        let actions = ["DoNotSchedule", "ScheduleAnyway"];
        if !actions.contains(&action.as_str()) {
            errors.push(FieldError::not_supported(format!("{path}.whenUnsatisfiable"), &action, &actions));
        }
        let same = |other: &Json| text(other, "topologyKey") == key && text(other, "whenUnsatisfiable") == action;
        if constraints[at + 1..].iter().any(same) {
            let pair = format!("{{{key}, {action}}}");
            let path = format!("{path}.{{topologyKey, whenUnsatisfiable}}");
            errors.push(FieldError::duplicate(path, &Json::from(pair.as_str())));
        }
        let domains = constraint.get("minDomains");
        if let Some(number) = domains.as_i64() {
            let path = format!("{path}.minDomains");
            if number <= 0 {
                errors.push(FieldError::invalid(path.as_str(), domains, "must be greater than zero"));
            }
            if action != "DoNotSchedule" {
                let why = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
                errors.push(FieldError::invalid(path, domains, why));
            }
        }
        for field in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            let policies = ["Honor", "Ignore"];
            let policy = text(constraint, field);
            if !policy.is_empty() && !policies.contains(&policy.as_str()) {
                errors.push(FieldError::not_supported(format!("{path}.{field}"), &policy, &policies));
            }
        }
        if merges_keys {
            label_keys(constraint, &path, wording, errors);
        } else {
            keys_beside_selector(constraint, &path, wording, errors);
        }
        let selector = constraint.get("labelSelector");
        others::label_selector(selector, &format!("{path}.labelSelector"), wording, errors);
    }
}

/// Checks that a container's claims are the Pod's, and none is there twice: a whole claim holds all its requests.
///
/// Source: validation.go (v1.34), `validateResourceClaimNames`.
pub(in super::super) fn claims(
    spec: &Json,
    container: &Json,
    path: &str,
    wording: Wording,
    errors: &mut Vec<FieldError>,
) {
    let known = spec.get("resourceClaims").items();
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for (at, claim) in container.at(&["resources", "claims"]).items().iter().enumerate() {
        let path = format!("{path}.resources.claims[{at}]");
        let (name, request) = (text(claim, "name"), text(claim, "request"));
        if name.is_empty() {
            errors.push(FieldError::required(path, ""));
            continue;
        }
        if seen.contains(&(name, "")) {
            errors.push(FieldError::duplicate(path.as_str(), &Json::from(name)));
        } else {
            if !request.is_empty() {
                invalid(names::label(request, wording), format!("{path}.request"), request, errors);
            }
            if seen.contains(&(name, request)) {
                errors.push(FieldError::duplicate(path.as_str(), &Json::from(format!("{name}/{request}").as_str())));
            } else if request.is_empty() {
                let parts = seen.iter().filter(|(own, _)| *own == name);
                errors.extend(parts.map(|_| FieldError::duplicate(path.as_str(), &Json::from(name))));
            }
            seen.push((name, request));
        }
        let all: Vec<&str> = known.iter().filter_map(|own| own.get("name").as_str()).collect();
        if !all.contains(&name) {
            let why = match all.len() {
                0 => "must be one of the names in pod.spec.resourceClaims which is empty".to_string(),
                _ => format!("must be one of the names in pod.spec.resourceClaims: {}", all.join(", ")),
            };
            errors.push(FieldError::new(path, Problem::NotFound, super::quote(name), why));
        }
    }
}
