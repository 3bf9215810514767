//! Validation of a container's own policy of restarts, and of its rules.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34, v1.36): `validateContainerRestartPolicy`,
//! `validateInitContainerRestartPolicy`. Inputs: a container, what the release allows. Outputs: errors. Left out on
//! purpose: that 1.34 and 1.35 call a list of too many rules too long.

use alloc::format;
use alloc::vec::Vec;

use super::pod_rules::Rules;
use super::{FieldError, text};
use crate::objects::Json;

const POLICIES: [&str; 3] = ["Always", "Never", "OnFailure"];
const OPERATORS: [&str; 2] = ["In", "NotIn"];
const ACTIONS: [&str; 2] = ["Restart", "RestartAllContainers"];
const RULES_MAX: usize = 20;
const CODES_MAX: usize = 255;
const NOT_WITHOUT_POLICY: &str = "must specify restartPolicy when restart rules are used";
const NOT_FOR_SIDECARS: &str = "restartPolicyRules are not allowed for init containers with restart policy Always";

/// Checks those of a container that the Pod is there for.
pub(super) fn of_regular(container: &Json, path: &str, rules: Rules, errors: &mut Vec<FieldError>) {
    if rules.container_policies {
        check(container, path, rules, errors);
    } else if !container.get("restartPolicy").is_null() {
        errors.push(FieldError::forbidden(format!("{path}.restartPolicy"), "may not be set for non-init containers"));
    }
}

/// Checks those of an init container.
pub(super) fn of_init(container: &Json, path: &str, rules: Rules, errors: &mut Vec<FieldError>) {
    let policy = container.get("restartPolicy").as_str();
    match policy {
        Some("Always") if rules.container_policies && !rules.restarts_all => {
            if !container.get("restartPolicyRules").is_empty() {
                errors.push(FieldError::forbidden(format!("{path}.restartPolicyRules"), NOT_FOR_SIDECARS));
            }
        }
        _ if rules.container_policies => check(container, path, rules, errors),
        Some(policy) if policy != "Always" => {
            errors.push(FieldError::not_supported(format!("{path}.restartPolicy"), policy, &["Always"]));
        }
        _ => {}
    }
}

/// Tells whether a rule of any container starts all of them again.
/// Source: pkg/api/v1/pod/util.go (v1.36), `AllContainersCouldRestart`.
pub(super) fn restarts_all(spec: &Json) -> bool {
    let containers = ["containers", "initContainers"].into_iter().flat_map(|list| spec.get(list).items());
    let mut rules = containers.flat_map(|own| own.get("restartPolicyRules").items());
    rules.any(|rule| text(rule, "action") == "RestartAllContainers")
}

fn check(container: &Json, path: &str, rules: Rules, errors: &mut Vec<FieldError>) {
    let (policy, field) = (container.get("restartPolicy").as_str(), format!("{path}.restartPolicy"));
    let list = container.get("restartPolicyRules").items();
    match policy {
        None if list.is_empty() => {}
        None => errors.push(FieldError::required(field, NOT_WITHOUT_POLICY)),
        Some(policy) if !POLICIES.contains(&policy) => {
            errors.push(FieldError::not_supported(field, policy, &POLICIES));
        }
        Some(_) => {}
    }
    if list.len() > RULES_MAX {
        errors.push(FieldError::too_many(format!("{path}.restartPolicyRules"), list.len(), RULES_MAX));
    }
    let actions = if rules.restarts_all { &ACTIONS[..] } else { &ACTIONS[..1] };
    for (at, rule) in list.iter().enumerate() {
        let path = format!("{path}.restartPolicyRules[{at}]");
        let (action, codes) = (text(rule, "action"), rule.get("exitCodes"));
        if !actions.contains(&action) {
            errors.push(FieldError::not_supported(format!("{path}.action"), action, actions));
        }
        if codes.is_null() {
            errors.push(FieldError::required(format!("{path}.exitCodes"), "must be specified"));
            continue;
        }
        let (operator, values) = (text(codes, "operator"), codes.get("values").items().len());
        if !OPERATORS.contains(&operator) {
            errors.push(FieldError::not_supported(format!("{path}.exitCodes.operator"), operator, &OPERATORS));
        }
        if values > CODES_MAX {
            errors.push(FieldError::too_many(format!("{path}.exitCodes.values"), values, CODES_MAX));
        }
    }
}
