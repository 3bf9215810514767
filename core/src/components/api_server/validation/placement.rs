//! Validation of where a Pod may run and of how its containers stop.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34): `ValidateNodeSelector`, `validateTopologySpreadConstraints`,
//! `validateLifecycle`. Left out on purpose: affinity between Pods, the details of handlers.

use alloc::format;
use alloc::vec::Vec;

use super::{FieldError, Problem};
use crate::objects::Json;
use crate::objects::names::{self, Wording};

/// Checks the node affinity and the spreading of a Pod.
pub(in super::super) fn validate(spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let affinity = spec.at(&["affinity", "nodeAffinity"]);
    let path = "spec.affinity.nodeAffinity";
    let required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution");
    if !required.is_null() {
        let path = format!("{path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
        let terms = required.get("nodeSelectorTerms").items();
        if terms.is_empty() {
            errors.push(FieldError::required(path.as_str(), "must have at least one node selector term"));
        }
        for (at, term) in terms.iter().enumerate() {
            node_term(term, &format!("{path}[{at}]"), wording, errors);
        }
    }
    let preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution").items();
    for (at, term) in preferred.iter().enumerate() {
        let path = format!("{path}.preferredDuringSchedulingIgnoredDuringExecution[{at}]");
        let weight = term.get("weight");
        if !weight.as_i64().is_some_and(|weight| (1..=100).contains(&weight)) {
            errors.push(FieldError::invalid(format!("{path}.weight"), weight, "must be in the range 1-100"));
        }
        node_term(term.get("preference"), &format!("{path}.preference"), wording, errors);
    }
    spreading(spec, errors);
}

fn node_term(term: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
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
            other => {
                errors.push(FieldError::invalid_text(
                    format!("{path}.operator"),
                    other,
                    "not a valid selector operator",
                ));
            }
        }
        let key = text("key");
        for problem in names::qualified(key, wording) {
            errors.push(FieldError::invalid_text(format!("{path}.key"), key, problem));
        }
    }
}

fn spreading(spec: &Json, errors: &mut Vec<FieldError>) {
    for (at, constraint) in spec.get("topologySpreadConstraints").items().iter().enumerate() {
        let path = format!("spec.topologySpreadConstraints[{at}]");
        let skew = constraint.get("maxSkew");
        if skew.as_i64().unwrap_or(0) <= 0 {
            errors.push(FieldError::invalid(format!("{path}.maxSkew"), skew, "must be greater than zero"));
        }
        if super::is_blank(constraint.get("topologyKey")) {
            errors.push(FieldError::required(format!("{path}.topologyKey"), "can not be empty"));
        }
        let action = constraint.get("whenUnsatisfiable").as_str().unwrap_or("");
        let actions = ["DoNotSchedule", "ScheduleAnyway"];
        if !actions.contains(&action) {
            errors.push(FieldError::not_supported(format!("{path}.whenUnsatisfiable"), action, &actions));
        }
    }
}

/// Checks what a container does when it starts and stops.
pub(in super::super) fn lifecycle(container: &Json, path: &str, grace: i64, errors: &mut Vec<FieldError>) {
    for hook in ["postStart", "preStop"] {
        let handler = container.at(&["lifecycle", hook]);
        if handler.is_null() {
            continue;
        }
        let path = format!("{path}.lifecycle.{hook}");
        let mut handlers = 0;
        for kind in ["exec", "httpGet", "tcpSocket", "sleep"].into_iter().filter(|kind| !handler.get(kind).is_null()) {
            if handlers > 0 {
                errors
                    .push(FieldError::forbidden(format!("{path}.{kind}"), "may not specify more than 1 handler type"));
            } else if kind == "sleep" {
                let seconds = handler.at(&["sleep", "seconds"]);
                if !seconds.as_i64().is_some_and(|seconds| (0..=grace).contains(&seconds)) {
                    let why = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
                    errors.push(FieldError::invalid(format!("{path}.sleep"), seconds, why));
                }
            }
            handlers += 1;
        }
        if handlers == 0 {
            errors.push(FieldError::required(path, "must specify a handler type"));
        }
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
