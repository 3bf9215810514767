//! The admission plugin PodSecurity: what the level of a Namespace forbids to Pods, and warns of.
//!
//! Mirrors k8s.io/pod-security-admission admission/admission.go (v1.37). Inputs: a write of a Namespace, a Pod or what
//! has a template of Pods, and the stored Namespace. Outputs: warnings, or 403; 422 for labels of a Namespace that are
//! wrong. Left out on purpose: exemptions and defaults of a configuration, annotations of audits.

mod baseline;
mod checks;
mod policy;
mod restricted;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use self::checks::{PodParts, Violation};
use self::policy::{Level, Policy, Standard};
use super::super::admission_write::{Operation, Write};
use super::super::validation::FieldError;
use super::super::{ApiServer, status};
use crate::network::{Answer, NAMESPACES, PODS};
use crate::objects::lifecycle::controller_of;
use crate::objects::{Json, ObjectKey};

/// Most Pods that a new level is checked against. Source: admission.go (v1.37), `defaultNamespaceMaxPodsToCheck`.
const PODS_MAX: usize = 3000;

/// Subresources of Pods that cannot change what is checked. Source: admission.go (v1.37), `ignoredPodSubresources`.
const IGNORED: [&str; 8] = ["exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"];

/// Checks a write, and returns warnings.
pub(super) fn admit(server: &ApiServer, write: &Write<'_>) -> Result<Vec<String>, Answer> {
    if !server.plugins.runs("PodSecurity") {
        return Ok(Vec::new());
    }
    match write.kind.rules() {
        "Namespace" if write.subresource.is_empty() => namespace(server, write),
        "Pod" if !IGNORED.contains(&write.subresource) => pod(server, write),
        "PodTemplate" => template(server, write, &["template"]),
        "CronJob" => template(server, write, &["spec", "jobTemplate", "spec", "template"]),
        "ReplicationController" | "ReplicaSet" | "Deployment" | "StatefulSet" | "DaemonSet" | "Job" => {
            template(server, write, &["spec", "template"])
        }
        _ => Ok(Vec::new()),
    }
}

/// Refuses labels that are new and wrong, and warns of Pods that a stricter level would forbid.
fn namespace(server: &ApiServer, write: &Write<'_>) -> Result<Vec<String>, Answer> {
    let (errors, old) = (policy::errors(write.tree), write.old);
    let texts = |errors: &[FieldError]| errors.iter().map(FieldError::text).collect::<Vec<_>>();
    if !errors.is_empty() && old.is_none_or(|old| texts(&errors) != texts(&policy::errors(old))) {
        return Err(status::invalid(write.kind, write.name, &errors));
    }
    let Some(old) = old else { return Ok(Vec::new()) };
    let (old, new) = (Policy::of(old).enforce, Policy::of(write.tree).enforce);
    let is_stricter = new.version != old.version || new.level > old.level;
    if new == old || new.level == Level::Privileged || !is_stricter {
        return Ok(Vec::new());
    }
    Ok(of_pods(server, write.name, new))
}

/// Warns of the Pods of a namespace that a level forbids. Source: admission.go (v1.37), `EvaluatePodsInNamespace`.
fn of_pods(server: &ApiServer, namespace: &str, standard: Standard) -> Vec<String> {
    let (mut first, mut copies, mut controllers) = (Vec::new(), Vec::new(), Vec::new());
    for pod in server.objects_in(&PODS, namespace) {
        let uid = controller_of(pod.stable()).map(|owner| owner.get("uid").clone());
        let list = if uid.as_ref().is_some_and(|uid| controllers.contains(uid)) { &mut copies } else { &mut first };
        list.push(pod);
        controllers.extend(uid);
    }
    first.append(&mut copies);
    let total = first.len();
    // Each reason with the first of the names, and how many Pods have it.
    let mut found: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for pod in first.iter().take(PODS_MAX) {
        let violations = violations(server, standard, pod.stable());
        if violations.is_empty() {
            continue;
        }
        let reasons: Vec<&str> = violations.iter().map(|own| own.reason.as_str()).collect();
        let (name, count) = found.entry(reasons.join(", ")).or_default();
        if *count == 0 || pod.name() < name.as_str() {
            *name = String::from(pod.name());
        }
        *count += 1;
    }
    let mut told: Vec<String> = found
        .into_iter()
        .map(|(reasons, (name, count))| match count {
            1 => format!("{name}: {reasons}"),
            2 => format!("{name} (and 1 other pod): {reasons}"),
            count => format!("{name} (and {} other pods): {reasons}", count - 1),
        })
        .collect();
    told.sort();
    let mut warnings = Vec::new();
    if total > PODS_MAX {
        let of = format!("the first {PODS_MAX} of {total} existing pods");
        warnings.push(format!("new PodSecurity enforce level only checked against {of}"));
    }
    if !told.is_empty() {
        let level = format!("violate the new PodSecurity enforce level \"{standard}\"");
        warnings.push(format!("existing pods in namespace {namespace:?} {level}"));
    }
    warnings.append(&mut told);
    warnings
}

fn pod(server: &ApiServer, write: &Write<'_>) -> Result<Vec<String>, Answer> {
    let policy = policy_of(server, write.namespace);
    let is_other = write.old.is_none_or(|old| is_significant(write.tree.get("spec"), old.get("spec")));
    if !is_other || write.operation == Operation::Delete {
        return Ok(Vec::new());
    }
    let violations = violations(server, policy.enforce, write.tree);
    if !violations.is_empty() {
        return Err(write.refusal(&format!("violates PodSecurity \"{}\": {}", policy.enforce, details(&violations))));
    }
    Ok(warning(server, policy.warn, write.tree))
}

/// Warns of a template whose Pods would be forbidden.
fn template(server: &ApiServer, write: &Write<'_>, path: &[&str]) -> Result<Vec<String>, Answer> {
    let template = write.tree.at(path);
    if !write.subresource.is_empty() || template.is_null() {
        return Ok(Vec::new());
    }
    Ok(warning(server, policy_of(server, write.namespace).warn, template))
}

fn policy_of(server: &ApiServer, namespace: &str) -> Policy {
    let found = server.object(&NAMESPACES, &ObjectKey::cluster(namespace));
    found.map_or_else(Policy::default, |namespace| Policy::of(namespace.stable()))
}

fn warning(server: &ApiServer, standard: Standard, pod: &Json) -> Vec<String> {
    let violations = violations(server, standard, pod);
    if violations.is_empty() {
        return Vec::new();
    }
    Vec::from([format!("would violate PodSecurity \"{standard}\": {}", details(&violations))])
}

/// Says what a Pod, or a template, has that a level forbids.
fn violations(server: &ApiServer, standard: Standard, pod: &Json) -> Vec<Violation> {
    if standard.level == Level::Privileged {
        return Vec::new();
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the number of a minor release")]
    let newest = server.settings.number("pod-security-version") as u64;
    let pod = PodParts { annotations: pod.at(&["metadata", "annotations"]), spec: pod.get("spec") };
    checks::violations(standard.level, standard.version.map_or(newest, |version| version.min(newest)), &pod)
}

fn details(violations: &[Violation]) -> String {
    let shown = violations.iter().map(|own| match own.detail.as_str() {
        "" => own.reason.clone(),
        detail => format!("{} ({detail})", own.reason),
    });
    shown.collect::<Vec<String>>().join(", ")
}

/// Tells whether a change of a Pod is one of what is checked: another image, or another container.
/// Source: admission.go (v1.37), `isSignificantPodUpdate`.
fn is_significant(spec: &Json, old: &Json) -> bool {
    let image = |container: &Json| container.get("image").clone();
    let differ = |list: &str| {
        let (new, old) = (spec.get(list).items(), old.get(list).items());
        new.len() != old.len() || new.iter().zip(old).any(|(new, old)| image(new) != image(old))
    };
    let old = old.get("ephemeralContainers").items();
    let is_new = |own: &Json| {
        let same = old.iter().find(|other| other.get("name") == own.get("name"));
        same.is_none_or(|other| image(other) != image(own))
    };
    differ("containers") || differ("initContainers") || spec.get("ephemeralContainers").items().iter().any(is_new)
}
