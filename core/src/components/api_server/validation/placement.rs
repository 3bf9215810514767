//! Validation of where a Pod may run and of the claims that its containers use.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34): `ValidateNodeSelector`, `validateTopologySpreadConstraints`,
//! `validatePodAffinityTerm`. Left out on purpose: `matchLabelKeys` of terms, and whether such keys are in
//! the selector too.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::{FieldError, Problem, invalid, others};
use crate::objects::Json;
use crate::objects::names::{self, Wording};

/// Checks the affinity of a Pod, to Nodes and to other Pods.
pub(in super::super) fn affinity(spec: &Json, wording: Wording, checks_values: bool, errors: &mut Vec<FieldError>) {
    let affinity = spec.at(&["affinity", "nodeAffinity"]);
    let path = "spec.affinity.nodeAffinity";
    let required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution");
    if !required.is_null() {
        let path = format!("{path}.requiredDuringSchedulingIgnoredDuringExecution");
        node_selector(required, &path, wording, checks_values, errors);
    }
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
    } else {
        node_selector(required, path, wording, checks_values, errors);
    }
}

fn node_selector(selector: &Json, path: &str, wording: Wording, checks_values: bool, errors: &mut Vec<FieldError>) {
    let (path, terms) = (format!("{path}.nodeSelectorTerms"), selector.get("nodeSelectorTerms").items());
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
    let key = term.get("topologyKey").as_str().unwrap_or("");
    if key.is_empty() {
        errors.push(FieldError::required(format!("{path}.topologyKey"), "can not be empty"));
    }
    invalid(names::qualified(key, wording), format!("{path}.topologyKey"), key, errors);
}

/// Checks how the Pods of a selector are spread.
pub(in super::super) fn spreading(spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
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
        let selector = constraint.get("labelSelector");
        let keys = constraint.get("matchLabelKeys").items();
        if selector.is_null() && !keys.is_empty() {
            let why = "must not be specified when labelSelector is not set";
            errors.push(FieldError::forbidden(format!("{path}.matchLabelKeys"), why));
        }
        for (place, key) in keys.iter().enumerate().filter(|_| !selector.is_null()) {
            let name = key.as_str().unwrap_or("");
            invalid(names::qualified(name, wording), format!("{path}.matchLabelKeys[{place}]"), name, errors);
        }
        others::label_selector(selector, &format!("{path}.labelSelector"), wording, errors);
    }
}

/// Checks that a container's claims are the Pod's.
pub(in super::super) fn claims(spec: &Json, container: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let known = spec.get("resourceClaims").items();
    let mut seen: Vec<&Json> = Vec::new();
    for (at, claim) in container.at(&["resources", "claims"]).items().iter().enumerate() {
        let path = format!("{path}.resources.claims[{at}]");
        let name = claim.get("name");
        let shown = super::quote(name.as_str().unwrap_or(""));
        if super::is_blank(name) {
            errors.push(FieldError::required(format!("{path}.name"), ""));
        } else if seen.contains(&name) {
            errors.push(FieldError::duplicate(path, name));
        } else if known.is_empty() {
            let why = "must be one of the names in pod.spec.resourceClaims which is empty";
            errors.push(FieldError::new(path, Problem::NotFound, shown, why));
        } else if !known.iter().any(|own| own.get("name") == name) {
            let names: Vec<&str> = known.iter().filter_map(|own| own.get("name").as_str()).collect();
            let why = format!("must be one of the names in pod.spec.resourceClaims: {}", names.join(", "));
            errors.push(FieldError::new(path, Problem::NotFound, shown, why));
        }
        seen.push(name);
    }
}
