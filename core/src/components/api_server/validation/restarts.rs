//! Validation of what a container says of its own restarts.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34 to v1.37), `validateContainerRestartPolicy` and
//! `validateInitContainerRestartPolicy`. Inputs: a container, and what the release checks. Outputs: errors.

use alloc::format;
use alloc::vec::Vec;

use super::pod_rules::Rules;
use super::{FieldError, text};
use crate::objects::Json;

const POLICIES: [&str; 3] = ["Always", "Never", "OnFailure"];
const ACTIONS: [&str; 2] = ["Restart", "RestartAllContainers"];
const NEEDS_POLICY: &str = "must specify restartPolicy when restart rules are used";
/// Most rules of a container, and most exit codes of a rule. Source: validation.go (v1.34),
/// `validateContainerRestartPolicy`.
const RULES_MAX: usize = 20;
const CODES_MAX: usize = 255;

/// What the release checks of restarts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Restarts {
    /// Whether each container may have a policy, and rules.
    pub(super) of_containers: bool,
    /// Whether a rule may restart all containers of the Pod.
    pub(super) of_all: bool,
    /// Whether lists that are too long are counted in items, and rules of an init container need a policy.
    pub(super) counts_items: bool,
    pub(super) rules_need_policy: bool,
}

impl Restarts {
    /// Allows what the stored Pod has. Source: pkg/api/pod/util.go (v1.37), `containerRestartRulesInUse` and
    /// `restartAllContainersActionInUse`.
    pub(super) fn beside(self, stored: &Json) -> Self {
        let (own, of_init) = (stored.get("containers").items(), stored.get("initContainers").items());
        let rules = |container: &Json| !container.get("restartPolicyRules").is_empty();
        let has_policy = |container: &Json| !container.get("restartPolicy").is_null();
        let is_sidecar = |container: &Json| text(container, "restartPolicy") == "Always";
        let has_any =
            own.iter().any(has_policy) || of_init.iter().any(|own| rules(own) || has_policy(own) && !is_sidecar(own));
        let has_all = restarts_all(stored) || of_init.iter().any(|own| is_sidecar(own) && rules(own));
        Self { of_containers: self.of_containers || has_any, of_all: self.of_all || has_all, ..self }
    }
}

/// Tells whether a rule of any container starts all of them again.
/// Source: pkg/api/v1/pod/util.go (v1.36), `AllContainersCouldRestart`.
pub(super) fn restarts_all(spec: &Json) -> bool {
    let containers = ["containers", "initContainers"].into_iter().flat_map(|list| spec.get(list).items());
    let mut rules = containers.flat_map(|own| own.get("restartPolicyRules").items());
    rules.any(|rule| text(rule, "action") == ACTIONS[1])
}

/// Checks a container that is none of the start.
pub(super) fn of_container(container: &Json, path: &str, rules: Rules, errors: &mut Vec<FieldError>) {
    if rules.restarts.of_containers {
        policy_and_rules(container, path, rules.restarts, errors);
    } else if !container.get("restartPolicy").is_null() {
        errors.push(FieldError::forbidden(format!("{path}.restartPolicy"), "may not be set for non-init containers"));
    }
}

/// Checks an init container.
pub(super) fn of_init_container(container: &Json, path: &str, rules: Rules, errors: &mut Vec<FieldError>) {
    let restarts = rules.restarts;
    let has_rules = !container.get("restartPolicyRules").is_empty();
    match container.get("restartPolicy").as_str() {
        None if has_rules && restarts.rules_need_policy => {
            errors.push(FieldError::required(format!("{path}.restartPolicy"), NEEDS_POLICY));
        }
        None => {}
        Some("Always") if !restarts.of_containers => {}
        Some(policy) if !restarts.of_containers => {
            errors.push(FieldError::not_supported(format!("{path}.restartPolicy"), policy, &["Always"]));
        }
        Some("Always") if !restarts.of_all && has_rules => {
            let why = "restartPolicyRules are not allowed for init containers with restart policy Always";
            errors.push(FieldError::forbidden(format!("{path}.restartPolicyRules"), why));
        }
        Some("Always") if !restarts.of_all => {}
        Some(_) => policy_and_rules(container, path, restarts, errors),
    }
}

fn policy_and_rules(container: &Json, path: &str, restarts: Restarts, errors: &mut Vec<FieldError>) {
    let rules = container.get("restartPolicyRules").items();
    match container.get("restartPolicy").as_str() {
        None if rules.is_empty() => return,
        None => errors.push(FieldError::required(format!("{path}.restartPolicy"), NEEDS_POLICY)),
        Some(policy) if !POLICIES.contains(&policy) => {
            errors.push(FieldError::not_supported(format!("{path}.restartPolicy"), policy, &POLICIES));
        }
        Some(_) => {}
    }
    let path = format!("{path}.restartPolicyRules");
    at_most(rules.len(), RULES_MAX, &path, restarts, errors);
    let actions = if restarts.of_all { &ACTIONS[..] } else { &ACTIONS[..1] };
    for (at, rule) in rules.iter().enumerate() {
        let path = format!("{path}[{at}]");
        let action = text(rule, "action");
        if !actions.contains(&action) {
            errors.push(FieldError::not_supported(format!("{path}.action"), action, actions));
        }
        let codes = rule.get("exitCodes");
        if codes.is_null() {
            errors.push(FieldError::required(format!("{path}.exitCodes"), "must be specified"));
            continue;
        }
        let operator = text(codes, "operator");
        if !["In", "NotIn"].contains(&operator) {
            errors.push(FieldError::not_supported(format!("{path}.exitCodes.operator"), operator, &["In", "NotIn"]));
        }
        at_most(codes.get("values").items().len(), CODES_MAX, &format!("{path}.exitCodes.values"), restarts, errors);
    }
}

fn at_most(found: usize, most: usize, path: &str, restarts: Restarts, errors: &mut Vec<FieldError>) {
    if found > most {
        errors.push(if restarts.counts_items {
            FieldError::too_many(path, found, most)
        } else {
            FieldError::too_long(path, format!("may not be more than {most} bytes"))
        });
    }
}
