//! Validation of workloads: what a Deployment, ReplicaSet, StatefulSet, DaemonSet or ReplicationController selects, and
//! the template of its Pods.
//!
//! Mirrors pkg/apis/apps/validation/validation.go and, for ReplicationControllers, that of pkg/apis/core (v1.34). Left
//! out on purpose: volume claim templates, the ordinals and retention policies of StatefulSets.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::others::label_selector;
use super::pod::{Rules, text, validate_template};
use super::{FieldError, Problem};
use crate::objects::names::Wording;
use crate::objects::selector::selects;
use crate::objects::{Json, Text};

/// Checks a workload.
pub(in super::super) fn validate(
    kind: &str,
    tree: &Json,
    wording: Wording,
    rules: Rules,
    errors: &mut Vec<FieldError>,
) {
    let spec = tree.get("spec");
    if kind != "DaemonSet" {
        not_negative(spec, "replicas", errors);
    }
    not_negative(spec, "minReadySeconds", errors);
    if selector(kind, spec, wording, errors) {
        template(kind, spec, wording, rules, errors);
    }
    match kind {
        "Deployment" => deployment(spec, errors),
        "DaemonSet" => {
            let strategy = spec.get("updateStrategy");
            if text(strategy, "type") == "RollingUpdate" {
                daemons_at_once(strategy.get("rollingUpdate"), errors);
            }
        }
        _ => {}
    }
    not_negative(spec, "revisionHistoryLimit", errors);
}

fn not_negative(spec: &Json, field: &str, errors: &mut Vec<FieldError>) {
    let value = spec.get(field);
    if value.as_i64().is_some_and(|number| number < 0) {
        errors.push(FieldError::invalid(format!("spec.{field}"), value, "must be greater than or equal to 0"));
    }
}

/// Checks the template of the Pods.
fn template(kind: &str, spec: &Json, wording: Wording, rules: Rules, errors: &mut Vec<FieldError>) {
    let template = spec.get("template");
    validate_template(template, wording, rules, errors);
    let policy = text(template.get("spec"), "restartPolicy");
    if policy != "Always" {
        errors.push(FieldError::not_supported("spec.template.spec.restartPolicy", policy, &["Always"]));
    }
    let deadline = template.at(&["spec", "activeDeadlineSeconds"]);
    if !deadline.is_null() {
        let of = if kind == "Deployment" { "ReplicaSet" } else { kind };
        let why = format!("activeDeadlineSeconds in {of} is not Supported");
        errors.push(FieldError::forbidden("spec.template.spec.activeDeadlineSeconds", why));
    }
}

/// Checks what the workload selects, and that it selects the Pods of its template. Tells whether the template is to be
/// checked too.
fn selector(kind: &str, spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) -> bool {
    let selector = spec.get("selector");
    let labels = spec.at(&["template", "metadata", "labels"]);
    if kind == "ReplicationController" {
        // It has labels and no terms, and one without them selects nothing in particular.
        if selector.is_empty() {
            errors.push(FieldError::required("spec.selector", ""));
        } else if selector.fields().any(|(key, value)| labels.get(key) != value) {
            errors.push(mismatch(spec));
        }
        return true;
    }
    let is_daemon_set = kind == "DaemonSet";
    if selector.is_null() && !is_daemon_set {
        errors.push(FieldError::required("spec.selector", ""));
    }
    let before = errors.len();
    label_selector(selector, "spec.selector", wording, errors);
    let is_valid = errors.len() == before;
    let invalid = |why: String| {
        FieldError::new("spec.selector", Problem::Invalid, selector.to_string(), why).in_go(go_selector(selector))
    };
    let is_empty =
        selector.is_object() && selector.get("matchLabels").is_empty() && selector.get("matchExpressions").is_empty();
    let of = if kind == "ReplicaSet" { "deployment".to_string() } else { kind.to_lowercase() };
    let empty = || invalid(format!("empty selector is invalid for {of}"));
    if is_empty && !is_daemon_set {
        errors.push(empty());
    }
    match kind {
        _ if is_valid && !selects(selector, labels) => errors.push(mismatch(spec)),
        "Deployment" | "ReplicaSet" if !is_valid => errors.push(invalid("invalid label selector".to_string())),
        "StatefulSet" if !is_valid => errors.push(invalid(String::new())),
        _ => {}
    }
    if is_empty && is_daemon_set {
        errors.push(empty());
    }
    is_valid || is_daemon_set
}

fn mismatch(spec: &Json) -> FieldError {
    let labels = spec.at(&["template", "metadata", "labels"]);
    let go = if labels.is_null() { String::from("map[string]string(nil)") } else { go_labels(labels) };
    let why = "`selector` does not match template `labels`";
    FieldError::invalid("spec.template.metadata.labels", labels, why).in_go(go)
}

fn go_labels(labels: &Json) -> String {
    let text = |(key, value): (&Text, &Json)| format!("{key:?}:{:?}", value.as_str().unwrap_or_default());
    let labels: Vec<String> = labels.fields().map(text).collect();
    format!("map[string]string{{{}}}", labels.join(", "))
}

/// Prints a selector as Go's `%#v` does.
fn go_selector(selector: &Json) -> String {
    let labels = selector.get("matchLabels");
    let labels = if labels.is_null() { String::from("map[string]string(nil)") } else { go_labels(labels) };
    let terms = selector.get("matchExpressions");
    let term = |term: &Json| {
        let values: Vec<String> = term.get("values").items().iter().map(Json::to_string).collect();
        let values = if values.is_empty() { "(nil)".to_string() } else { format!("{{{}}}", values.join(", ")) };
        let (key, operator) = (text(term, "key"), text(term, "operator"));
        format!("v1.LabelSelectorRequirement{{Key:{key:?}, Operator:{operator:?}, Values:[]string{values}}}")
    };
    let terms = if terms.is_null() {
        "(nil)".to_string()
    } else {
        format!("{{{}}}", terms.items().iter().map(term).collect::<Vec<_>>().join(", "))
    };
    format!("v1.LabelSelector{{MatchLabels:{labels}, MatchExpressions:[]v1.LabelSelectorRequirement{terms}}}")
}

/// Source: validation.go (v1.34), `ValidateDeploymentStrategy` and the end of `ValidateDeploymentSpec`.
fn deployment(spec: &Json, errors: &mut Vec<FieldError>) {
    let strategy = spec.get("strategy");
    let rolling = strategy.get("rollingUpdate");
    match text(strategy, "type") {
        "Recreate" if !rolling.is_null() => {
            let why = "may not be specified when strategy `type` is 'Recreate'";
            errors.push(FieldError::forbidden("spec.strategy.rollingUpdate", why));
        }
        "RollingUpdate" => {
            let path = "spec.strategy.rollingUpdate";
            for field in ["maxUnavailable", "maxSurge"] {
                amount(rolling.get(field), &format!("{path}.{field}"), errors);
            }
            if is_zero(rolling.get("maxUnavailable")) && is_zero(rolling.get("maxSurge")) {
                let why = "may not be 0 when `maxSurge` is 0";
                errors.push(FieldError::invalid(format!("{path}.maxUnavailable"), rolling.get("maxUnavailable"), why));
            }
            at_most_all(rolling.get("maxUnavailable"), &format!("{path}.maxUnavailable"), errors);
        }
        _ => {}
    }
    not_negative(spec, "progressDeadlineSeconds", errors);
    let ready = spec.get("minReadySeconds").as_i64().unwrap_or(0);
    let deadline = spec.get("progressDeadlineSeconds");
    if deadline.as_i64().is_some_and(|seconds| seconds <= ready) {
        let why = "must be greater than minReadySeconds";
        errors.push(FieldError::invalid("spec.progressDeadlineSeconds", deadline, why));
    }
}

/// Source: validation.go (v1.34), `ValidateRollingUpdateDaemonSet`.
fn daemons_at_once(rolling: &Json, errors: &mut Vec<FieldError>) {
    let path = |field: &str| format!("spec.updateStrategy.rollingUpdate.{field}");
    let (unavailable, surge) = (rolling.get("maxUnavailable"), rolling.get("maxSurge"));
    for (value, field) in [(unavailable, "maxUnavailable"), (surge, "maxSurge")] {
        amount(value, &path(field), errors);
    }
    for (value, field) in [(unavailable, "maxUnavailable"), (surge, "maxSurge")] {
        at_most_all(value, &path(field), errors);
    }
    match (is_zero(unavailable), is_zero(surge)) {
        (false, false) => {
            let why = "may not be set when maxUnavailable is non-zero";
            errors.push(FieldError::invalid(path("maxSurge"), surge, why));
        }
        (true, true) => errors.push(FieldError::required(path("maxUnavailable"), "cannot be 0 when maxSurge is 0")),
        _ => {}
    }
}

/// Checks a number or a percentage. Source: validation.go (v1.34), `ValidatePositiveIntOrPercent`.
pub(super) fn amount(value: &Json, path: &str, errors: &mut Vec<FieldError>) {
    match value {
        Json::Int(number) if *number < 0 => {
            errors.push(FieldError::invalid(path, value, "must be greater than or equal to 0"));
        }
        Json::Str(text) if percentage(text).is_none() => {
            let why = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or \
                       '93%', regex used for validation is '[0-9]+%')";
            errors.push(FieldError::invalid(path, value, why));
        }
        _ => {}
    }
}

/// Checks that a percentage is not more than all. Source: validation.go (v1.34), `IsNotMoreThan100Percent`.
pub(super) fn at_most_all(value: &Json, path: &str, errors: &mut Vec<FieldError>) {
    if value.as_str().and_then(percentage).is_some_and(|percent| percent > 100) {
        errors.push(FieldError::invalid(path, value, "must not be greater than 100%"));
    }
}

fn is_zero(value: &Json) -> bool {
    value.as_i64().or_else(|| value.as_str().and_then(percentage)).unwrap_or(0) == 0
}

fn percentage(text: &str) -> Option<i64> {
    let digits = text.strip_suffix('%').filter(|digits| !digits.is_empty())?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().unwrap_or(i64::MAX))
}

/// Checks that a workload still selects the same Pods.
///
/// Source: validation.go (v1.34), `ValidateDaemonSetSpecUpdate`, and the strategies in pkg/registry/apps (v1.34).
pub(in super::super) fn selector_is_kept(kind: &str, tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    let (new, stored) = (tree.at(&["spec", "selector"]), old.at(&["spec", "selector"]));
    if matches!(kind, "DaemonSet" | "Deployment" | "ReplicaSet") && new != stored {
        let error = FieldError::invalid("spec.selector", new, "field is immutable");
        errors.push(error.in_go(go_selector(new)));
    }
}

/// Checks that of a StatefulSet changes only what may. Source: validation.go (v1.34), `ValidateStatefulSetUpdate`.
pub(in super::super) fn only_changeable(tree: &Json, old: &Json, limit: bool, errors: &mut Vec<FieldError>) {
    let frozen = |tree: &Json| {
        let mut spec = tree.get("spec").clone();
        let fields = [
            "replicas",
            "template",
            "updateStrategy",
            "minReadySeconds",
            "ordinals",
            "persistentVolumeClaimRetentionPolicy",
        ];
        fields.into_iter().chain(limit.then_some("revisionHistoryLimit")).for_each(|field| drop(spec.remove(&[field])));
        spec
    };
    if frozen(tree) != frozen(old) {
        let limit = if limit { "'revisionHistoryLimit', " } else { "" };
        let why = format!(
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', \
             {limit}'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
        );
        errors.push(FieldError::forbidden("spec", why));
    }
}
