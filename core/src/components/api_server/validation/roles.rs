//! Rules for roles and their bindings.
//!
//! Mirrors pkg/apis/rbac/validation/validation.go and pkg/apis/rbac/v1/defaults.go (v1.34). Inputs: the tree of an
//! object. Outputs: its defaults; errors by field.

use alloc::format;
use alloc::vec::Vec;

use super::declared::RuleWords;
use super::others::label_selector;
use super::{FieldError, IMMUTABLE, is_blank};
use crate::objects::names::{self, Wording};
use crate::objects::{Json, NULL};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Sets what the API's defaults set in a binding.
pub(in super::super) fn default_binding(tree: &mut Json) {
    if is_blank(tree.at(&["roleRef", "apiGroup"])) && tree.get("roleRef").is_object() {
        tree.set(&["roleRef", "apiGroup"], GROUP);
    }
    let lacks = |subject: &Json| {
        matches!(subject.get("kind").as_str(), Some("User" | "Group")) && is_blank(subject.get("apiGroup"))
    };
    if tree.get("subjects").items().iter().any(lacks) {
        for subject in tree.entry(&["subjects"]).make_array().iter_mut().filter(|subject| lacks(subject)) {
            subject.set(&["apiGroup"], GROUP);
        }
    }
}

/// Checks a Role or a ClusterRole.
pub(in super::super) fn role(kind: &str, tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    for (at, rule) in tree.get("rules").items().iter().enumerate() {
        let path = |field: &str| format!("rules[{at}].{field}");
        let is_empty = |field: &str| rule.get(field).items().is_empty();
        if is_empty("verbs") {
            let error = FieldError::required(path("verbs"), "verbs must contain at least one value");
            errors.push(error.declared(RuleWords::Detail("")));
        }
        if !is_empty("nonResourceURLs") {
            let urls = rule.get("nonResourceURLs");
            let mut refuse = |why: &str| errors.push(FieldError::invalid(path("nonResourceURLs"), urls, why));
            if kind == "Role" {
                refuse("namespaced rules cannot apply to non-resource URLs");
            }
            if !is_empty("apiGroups") || !is_empty("resources") || !is_empty("resourceNames") {
                refuse("rules cannot apply to both regular resources and non-resource URLs");
            }
            continue;
        }
        if is_empty("apiGroups") {
            let why = "resource rules must supply at least one api group";
            errors.push(FieldError::required(path("apiGroups"), why));
        }
        if is_empty("resources") {
            let why = "resource rules must supply at least one resource";
            errors.push(FieldError::required(path("resources"), why));
        }
    }
    let gathered = tree.get("aggregationRule");
    if kind == "Role" || gathered.is_null() {
        return;
    }
    let path = "aggregationRule.clusterRoleSelectors";
    let selectors = gathered.get("clusterRoleSelectors").items();
    if selectors.is_empty() {
        let why = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        errors.push(FieldError::required(path, why));
    }
    for (at, selector) in selectors.iter().enumerate() {
        label_selector(selector, &format!("{path}[{at}]"), wording, errors);
    }
}

/// Checks a RoleBinding or a ClusterRoleBinding.
pub(in super::super) fn binding(kind: &str, tree: &Json, old: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let role = |field: &str| tree.at(&["roleRef", field]).as_str().unwrap_or("");
    if role("apiGroup") != GROUP {
        errors.push(FieldError::not_supported("roleRef.apiGroup", role("apiGroup"), &[GROUP]));
    }
    let kinds: &[&str] = if kind == "RoleBinding" { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    if !kinds.contains(&role("kind")) {
        errors.push(FieldError::not_supported("roleRef.kind", role("kind"), kinds));
    }
    if role("name").is_empty() {
        // No rule looks into what may not change.
        let is_fixed = *old != NULL && old.get("roleRef") != tree.get("roleRef");
        let error = FieldError::required("roleRef.name", "");
        errors.push(if is_fixed { error } else { error.declared(RuleWords::Same) });
    }
    let problems = names::path_segment(role("name")).into_iter();
    errors.extend(problems.map(|why| FieldError::invalid_text("roleRef.name", role("name"), why)));
    for (at, subject) in tree.get("subjects").items().iter().enumerate() {
        self::subject(kind, subject, &format!("subjects[{at}]"), wording, errors);
    }
    if *old != NULL && old.get("roleRef") != tree.get("roleRef") {
        // Source: validation.go (v1.34, v1.37), `ValidateRoleBindingUpdate`.
        let why = if wording.is_declared() { IMMUTABLE } else { "cannot change roleRef" };
        errors.push(FieldError::invalid_of("RoleRef", "roleRef", tree.get("roleRef"), why));
    }
}

fn subject(kind: &str, subject: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    let text = |field: &str| subject.get(field).as_str().unwrap_or("");
    if text("name").is_empty() {
        errors.push(FieldError::required(format!("{path}.name"), "").declared(RuleWords::Same));
    }
    match text("kind") {
        "ServiceAccount" => {
            if !text("name").is_empty() {
                let problems = names::subdomain(text("name"), wording).into_iter();
                errors.extend(problems.map(|why| FieldError::invalid_text(format!("{path}.name"), text("name"), why)));
            }
            if !text("apiGroup").is_empty() {
                errors.push(FieldError::not_supported(format!("{path}.apiGroup"), text("apiGroup"), &[""]));
            }
            if kind == "ClusterRoleBinding" && text("namespace").is_empty() {
                errors.push(FieldError::required(format!("{path}.namespace"), ""));
            }
        }
        "User" | "Group" if text("apiGroup") == GROUP => {}
        "User" | "Group" => {
            errors.push(FieldError::not_supported(format!("{path}.apiGroup"), text("apiGroup"), &[GROUP]));
        }
        other => {
            let kinds = ["ServiceAccount", "User", "Group"];
            errors.push(FieldError::not_supported(format!("{path}.kind"), other, &kinds));
        }
    }
}
