//! Which levels and versions of Pod security a Namespace may name.
//!
//! Mirrors k8s.io/pod-security-admission api/helpers.go and admission/admission.go (v1.34),
//! `PolicyToEvaluate` and `ValidateNamespace`. Inputs: a Namespace, and what it was. Outputs: the refusal. Left out on
//! purpose: what a level forbids to Pods; a level other than privileged is not modelled.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::admission_write::Write;
use super::super::status;
use super::super::validation::FieldError;
use crate::network::Answer;
use crate::objects::Json;

/// The labels that name levels; each has another one for a version.
const MODES: [&str; 3] =
    ["pod-security.kubernetes.io/enforce", "pod-security.kubernetes.io/audit", "pod-security.kubernetes.io/warn"];
const LEVELS: [&str; 3] = ["privileged", "baseline", "restricted"];

/// Refuses labels that are new and wrong.
pub(super) fn check_namespace(write: &Write<'_>) -> Result<(), Answer> {
    let errors = errors(write.tree);
    let is_as_before = write.old.is_some_and(|old| texts(&errors) == texts(&self::errors(old)));
    if errors.is_empty() || is_as_before || !write.subresource.is_empty() {
        return Ok(());
    }
    Err(status::invalid(write.kind, write.name, &errors))
}

fn texts(errors: &[FieldError]) -> Vec<String> {
    errors.iter().map(FieldError::text).collect()
}

fn errors(namespace: &Json) -> Vec<FieldError> {
    let labels = namespace.at(&["metadata", "labels"]);
    let wrong = |label: &str, is_right: fn(&str) -> bool, why: &str| {
        let value = labels.get(label).as_str().filter(|value| !is_right(value))?;
        Some(FieldError::invalid_text(format!("metadata.labels[{label}]"), value, why))
    };
    let of_mode = |mode: &str| {
        let level = wrong(mode, |level| LEVELS.contains(&level), "must be one of privileged, baseline, restricted");
        let version = wrong(&format!("{mode}-version"), is_version, "must be \"latest\" or \"v1.x\"");
        [level, version].into_iter().flatten()
    };
    MODES.into_iter().flat_map(of_mode).collect()
}

/// Tells whether this is `latest`, or `v1.` and a number without zeros at its beginning.
fn is_version(text: &str) -> bool {
    let is_number = |minor: &str| {
        let is_short = minor == "0" || !minor.starts_with('0');
        is_short && !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit()) && minor.parse::<i64>().is_ok()
    };
    text == "latest" || text.strip_prefix("v1.").is_some_and(is_number)
}
