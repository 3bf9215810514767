//! Validation of HorizontalPodAutoscalers.
//!
//! Mirrors pkg/apis/autoscaling/validation/validation.go (v1.34), `validateHorizontalPodAutoscalerSpec`, and the
//! options of pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go. Inputs: an autoscaler, and the stored one.
//! Outputs: errors.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::amount::not_negative;
use super::declared::RuleWords;
use super::pod_resources::resource_name;
use super::{FieldError, invalid, path_segment, text};
use crate::objects::Json;
use crate::objects::names::{self, Wording};
use crate::objects::quantity::Quantity;
use crate::profile::Settings;

/// Source: validation.go (v1.34), `MaxPeriodSeconds`.
const PERIOD_SECONDS_MAX: i64 = 1800;
/// Source: validation.go (v1.34), `MaxStabilizationWindowSeconds`.
const WINDOW_SECONDS_MAX: i64 = 3600;
/// The types of metrics, with the field of each, in the order in which the fields are read.
const SOURCES: [(&str, &str); 5] = [
    ("Object", "object"),
    ("External", "external"),
    ("Pods", "pods"),
    ("Resource", "resource"),
    ("ContainerResource", "containerResource"),
];

/// Checks an autoscaler: new, or in place of an old one. One may scale to zero if a gate is on or the stored one does.
pub(in super::super) fn validate(
    (tree, old): (&Json, &Json),
    settings: &Settings,
    wording: Wording,
    errors: &mut Vec<FieldError>,
) {
    let may_be_zero = settings.is_gate_on("HPAScaleToZero");
    let checks_groups = settings.profile().is("scale-targets-have-groups");
    let (spec, stored) = (tree.get("spec"), old.get("spec"));
    let had_zero = stored.get("minReplicas").as_i64() == Some(0);
    let least = i64::from(!may_be_zero && !had_zero);
    let (min, max) = (spec.get("minReplicas").as_i64(), spec.get("maxReplicas").as_i64().unwrap_or(0));
    if let Some(min) = min.filter(|min| *min < least) {
        let why = format!("must be greater than or equal to {least}");
        errors.push(FieldError::invalid("spec.minReplicas", &Json::Int(min), why).declared(RuleWords::Same));
    }
    if max < 1 {
        errors.push(too_few(max, settings.profile().is("autoscaler-maximum-is-required")));
    }
    if min.is_some_and(|min| max < min) {
        let why = "must be greater than or equal to `minReplicas`";
        errors.push(FieldError::invalid("spec.maxReplicas", &Json::Int(max), why));
    }
    let target = spec.get("scaleTargetRef");
    let of_old = stored.get("scaleTargetRef");
    let is_kept =
        !old.is_null() && ["apiVersion", "kind"].iter().all(|field| text(target, field) == text(of_old, field));
    let checked = match () {
        () if is_kept || !checks_groups => Group::Any,
        () if text(target, "kind") == "ReplicationController" => Group::MayBeEmpty,
        () => Group::Needed,
    };
    reference(target, "spec.scaleTargetRef", checked, errors);
    metrics(spec, stored, (checks_groups, wording), errors);
    for direction in ["scaleUp", "scaleDown"] {
        rules(spec.at(&["behavior", direction]), &format!("spec.behavior.{direction}"), errors);
    }
}

/// Refuses a maximum. Source: validation.go (v1.34, v1.36), `validateHorizontalPodAutoscalerSpec`.
fn too_few(max: i64, is_required: bool) -> FieldError {
    const PATH: &str = "spec.maxReplicas";
    match max {
        _ if !is_required => FieldError::invalid(PATH, &Json::Int(max), "must be greater than 0"),
        0 => FieldError::required(PATH, "must be set and greater than 0").declared(RuleWords::Detail("")),
        _ => FieldError::invalid(PATH, &Json::Int(max), "must be greater than or equal to 1").declared(RuleWords::Same),
    }
}

/// Checks a status. Source: validation.go (v1.34), `ValidateHorizontalPodAutoscalerStatusUpdate`.
pub(in super::super) fn status(tree: &Json, errors: &mut Vec<FieldError>) {
    for field in ["currentReplicas", "desiredReplicas"] {
        not_negative(tree.get("status"), "status", field, errors);
    }
}

/// What is asked of the API version of a reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Group {
    Any,
    MayBeEmpty,
    Needed,
}

/// Source: validation.go (v1.34), `ValidateCrossVersionObjectReference`.
fn reference(of: &Json, path: &str, group: Group, errors: &mut Vec<FieldError>) {
    for field in ["kind", "name"] {
        path_segment(text(of, field), format!("{path}.{field}"), "", errors);
    }
    if let Some(why) = why_no_version(text(of, "apiVersion"), group) {
        errors.push(FieldError::invalid_text(format!("{path}.apiVersion"), text(of, "apiVersion"), why));
    }
}

/// Source: validation.go (v1.34), `ValidateAPIVersion`, and k8s.io/apimachinery pkg/runtime/schema/group_version.go
/// (v1.34), `ParseGroupVersion`.
fn why_no_version(version: &str, group: Group) -> Option<String> {
    let parts = version.split('/').count();
    match group {
        Group::Any => None,
        _ if parts > 2 => Some(format!("unexpected GroupVersion string: {version}")),
        Group::Needed if parts == 1 || version.starts_with('/') => {
            Some("apiVersion must specify API group".to_string())
        }
        _ => None,
    }
}

fn metrics(spec: &Json, stored: &Json, (checks_groups, wording): (bool, Wording), errors: &mut Vec<FieldError>) {
    let is_object = |metric: &&Json| text(metric, "type") == "Object" && !metric.get("object").is_null();
    let mut before = stored.get("metrics").items().iter().filter(is_object);
    let was_invalid = before.any(|metric| {
        why_no_version(text(metric.at(&["object", "describedObject"]), "apiVersion"), Group::MayBeEmpty).is_some()
    });
    let group = if was_invalid || !checks_groups { Group::Any } else { Group::MayBeEmpty };
    let metrics = spec.get("metrics").items();
    for (at, metric) in metrics.iter().enumerate() {
        check_metric(metric, &format!("spec.metrics[{at}]"), (group, wording), errors);
    }
    let outside = |metric: &Json| ["Object", "External"].contains(&text(metric, "type"));
    if spec.get("minReplicas").as_i64() == Some(0) && !metrics.iter().any(outside) {
        let why = "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.push(FieldError::forbidden("spec.metrics", why));
    }
}

/// Source: validation.go (v1.34), `validateMetricSpec`.
fn check_metric(metric: &Json, path: &str, (group, wording): (Group, Wording), errors: &mut Vec<FieldError>) {
    let types = ["ContainerResource", "External", "Object", "Pods", "Resource"];
    let own = text(metric, "type");
    let field = format!("{path}.type");
    if own.is_empty() {
        errors.push(FieldError::required(field.as_str(), "must specify a metric source type"));
    }
    if !types.contains(&own) {
        errors.push(FieldError::not_supported(field.as_str(), own, &types));
    }
    let present: Vec<&str> =
        SOURCES.iter().map(|(_, source)| *source).filter(|source| !metric.get(source).is_null()).collect();
    if let Some(first) = present.first() {
        source(first, metric.get(first), &format!("{path}.{first}"), (group, wording), errors);
    }
    let expected = SOURCES.iter().find(|(name, _)| *name == own).map(|(_, source)| *source);
    match expected {
        Some(expected) if !present.contains(&expected) => {
            let why = "must populate information for the given metric source";
            errors.push(FieldError::required(format!("{path}.{expected}"), why));
        }
        Some(_) => {}
        None => errors.push(FieldError::not_supported(field, own, &types)),
    }
    if present.len() != 1 {
        for other in present.iter().filter(|other| Some(**other) != expected) {
            errors.push(FieldError::forbidden(format!("{path}.{other}"), "must populate the given metric source only"));
        }
    }
}

fn source(kind: &str, own: &Json, path: &str, (group, wording): (Group, Wording), errors: &mut Vec<FieldError>) {
    if kind == "object" {
        reference(own.get("describedObject"), &format!("{path}.describedObject"), group, errors);
    }
    match kind {
        "resource" | "containerResource" => {
            let name = text(own, "name");
            if name.is_empty() {
                errors.push(FieldError::required(format!("{path}.name"), "must specify a resource name"));
            } else if kind == "containerResource" {
                resource_name(&format!("{path}.name"), name, wording, errors);
            }
        }
        _ => path_segment(
            text(own.get("metric"), "name"),
            format!("{path}.metric.name"),
            "must specify a metric name",
            errors,
        ),
    }
    if kind == "containerResource" {
        match text(own, "container") {
            "" => errors.push(FieldError::required(format!("{path}.container"), "must specify a container")),
            container => invalid(names::label(container, wording), format!("{path}.container"), container, errors),
        }
    }
    let (target, path) = (own.get("target"), format!("{path}.target"));
    check_target(target, &path, errors);
    let has = |field: &str| !target.get(field).is_null();
    let missing = match kind {
        "object" if !has("value") && !has("averageValue") => {
            Some(("averageValue", "must set either a target value or averageValue"))
        }
        "external" if !has("value") && !has("averageValue") => {
            Some(("averageValue", "must set either a target value for metric or a per-pod target"))
        }
        "pods" if !has("averageValue") => Some(("averageValue", "must specify a positive target averageValue")),
        "resource" | "containerResource" if !has("averageUtilization") && !has("averageValue") => {
            Some(("averageUtilization", "must set either a target raw value or a target utilization"))
        }
        _ => None,
    };
    errors.extend(missing.map(|(field, why)| FieldError::required(format!("{path}.{field}"), why)));
    let both = match kind {
        "external" if has("value") && has("averageValue") => {
            Some(("value", "may not set both a target value for metric and a per-pod target"))
        }
        "resource" | "containerResource" if has("averageUtilization") && has("averageValue") => {
            Some(("averageValue", "may not set both a target raw value and a target utilization"))
        }
        _ => None,
    };
    errors.extend(both.map(|(field, why)| FieldError::forbidden(format!("{path}.{field}"), why)));
}

/// Source: validation.go (v1.34), `validateMetricTarget`.
fn check_target(target: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let own = text(target, "type");
    if own.is_empty() {
        errors.push(FieldError::required(format!("{path}.type"), "must specify a metric target type"));
    }
    if !["Utilization", "Value", "AverageValue"].contains(&own) {
        let why = "must be either Utilization, Value, or AverageValue";
        errors.push(FieldError::invalid_text(format!("{path}.type"), own, why));
    }
    for field in ["value", "averageValue"] {
        let value = target.get(field);
        if Quantity::from_json(value).is_some_and(|amount| amount.milli_value() <= 0) {
            errors.push(FieldError::invalid(format!("{path}.{field}"), value, "must be positive"));
        }
    }
    let share = target.get("averageUtilization");
    if share.as_i64().is_some_and(|share| share < 1) {
        errors.push(FieldError::invalid(format!("{path}.averageUtilization"), share, "must be greater than 0"));
    }
}

/// Source: validation.go (v1.34), `validateScalingRules`, `validateScalingPolicy`.
fn rules(rules: &Json, path: &str, errors: &mut Vec<FieldError>) {
    if rules.is_null() {
        return;
    }
    let window = rules.get("stabilizationWindowSeconds");
    let seconds = window.as_i64().unwrap_or(0);
    let field = format!("{path}.stabilizationWindowSeconds");
    if seconds < 0 {
        errors.push(FieldError::invalid(field, window, "must be greater than or equal to zero"));
    } else if seconds > WINDOW_SECONDS_MAX {
        errors.push(FieldError::invalid(field, window, format!("must be less than or equal to {WINDOW_SECONDS_MAX}")));
    }
    let selections = ["Disabled", "Max", "Min"];
    if let Some(selected) = rules.get("selectPolicy").as_str().filter(|own| !selections.contains(own)) {
        errors.push(FieldError::not_supported(format!("{path}.selectPolicy"), selected, &selections));
    }
    let policies = rules.get("policies").items();
    if policies.is_empty() {
        errors.push(FieldError::required(format!("{path}.policies"), "must specify at least one Policy"));
    }
    for (at, policy) in policies.iter().enumerate() {
        let path = format!("{path}.policies[{at}]");
        let types = ["Percent", "Pods"];
        if !types.contains(&text(policy, "type")) {
            errors.push(FieldError::not_supported(format!("{path}.type"), text(policy, "type"), &types));
        }
        for field in ["value", "periodSeconds"] {
            let number = policy.get(field).as_i64().unwrap_or(0);
            let why = match field {
                _ if number <= 0 => "must be greater than zero".to_string(),
                "periodSeconds" if number > PERIOD_SECONDS_MAX => {
                    format!("must be less than or equal to {PERIOD_SECONDS_MAX}")
                }
                _ => continue,
            };
            errors.push(FieldError::invalid(format!("{path}.{field}"), &Json::Int(number), why));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn told(tree: &Json, old: &Json) -> Vec<String> {
        let mut errors = Vec::new();
        validate((tree, old), &Settings::default(), Wording::Bytes, &mut errors);
        errors.iter().map(FieldError::text).collect()
    }

    #[test]
    fn a_target_needs_a_group_unless_it_was_stored_without() {
        let of = |version: &str| {
            json!({"spec": {"maxReplicas": 2, "scaleTargetRef": {"apiVersion": version, "kind": "Deployment",
                "name": "a"}}})
        };
        assert_eq!(told(&of("apps/v1"), &Json::Null), Vec::<String>::new());
        let path = "spec.scaleTargetRef.apiVersion: Invalid value:";
        assert_eq!(told(&of(""), &Json::Null), [format!("{path} \"\": apiVersion must specify API group")]);
        assert_eq!(
            told(&of("a/b/c"), &Json::Null),
            [format!("{path} \"a/b/c\": unexpected GroupVersion string: a/b/c")]
        );
        assert_eq!(told(&of(""), &of("")), Vec::<String>::new());
    }

    #[test]
    fn a_metric_has_the_source_of_its_type_and_no_other() {
        let target = json!({"type": "Utilization", "averageUtilization": 0});
        let metric = json!({"type": "Pods", "resource": {"name": "cpu", "target": target.clone()}});
        let tree = json!({"spec": {"minReplicas": 0, "maxReplicas": 1, "metrics": [metric.clone()],
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}}});
        assert_eq!(
            told(&tree, &Json::Null),
            [
                "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
                "spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0",
                "spec.metrics[0].pods: Required value: must populate information for the given metric source",
                "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to \
                 zero replicas"
            ]
        );
    }

    #[test]
    fn a_rule_has_policies_within_bounds() {
        let mut errors = Vec::new();
        let own = json!({"stabilizationWindowSeconds": 3601, "selectPolicy": "x",
            "policies": [{"type": "Pods", "value": 0, "periodSeconds": 1801}]});
        rules(&own, "r", &mut errors);
        let told: Vec<String> = errors.iter().map(FieldError::text).collect();
        assert_eq!(
            told,
            [
                "r.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600",
                "r.selectPolicy: Unsupported value: \"x\": supported values: \"Disabled\", \"Max\", \"Min\"",
                "r.policies[0].value: Invalid value: 0: must be greater than zero",
                "r.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800"
            ]
        );
    }
}
