//! Validation of LimitRanges and ResourceQuotas.
//!
//! Mirrors pkg/apis/core/validation/validation.go and pkg/apis/core/helper/helpers.go (v1.34). Left out on purpose: the
//! ratio of limits to requests as far as it depends on both bounds.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::node::{INTEGERS, amount_problems};
use super::{FieldError, IMMUTABLE, invalid, pod_resources, quote, text};
use crate::objects::Json;
use crate::objects::names::{self, Wording};
use crate::objects::quantity::Quantity;

/// What a quota measures. Source: helpers.go (v1.34), `standardQuotaResources`.
const MEASURED: [&str; 10] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "requests.storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
];
/// Source: helpers.go (v1.34), `podComputeQuotaResources`.
const COMPUTE: [&str; 6] = ["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
const EXISTS_ONLY: &str = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
    ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or \
    ResourceQuotaScopeCrossNamespacePodAffinity";

fn is_quota_resource(name: &str) -> bool {
    INTEGERS.contains(&name)
        || MEASURED.contains(&name)
        || name.starts_with("hugepages-")
        || name.starts_with("requests.hugepages-")
}

/// Checks the name of a resource; tells whether it is a name at all.
fn resource_name(name: &str, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    let before = errors.len();
    let wrong = names::qualified(name, wording).into_iter();
    errors.extend(wrong.map(|why| FieldError::invalid_resource(path, name, why)));
    if errors.len() == before && !name.contains('/') && !is_quota_resource(name) && name != "storage" {
        errors.push(FieldError::invalid_resource(path, name, "must be a standard resource type or fully qualified"));
    }
}

/// Checks the name of a resource that a range limits.
fn limited_name(kind: &str, name: &str, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    resource_name(name, path, wording, errors);
    if kind != "Pod" && kind != "Container" {
        return;
    }
    if !name.contains('/') && !names::is_container_resource(name) {
        errors.push(FieldError::invalid_resource(path, name, "must be a standard resource for containers"));
    } else if !names::is_native_resource(name) && !names::is_extended_resource(name) {
        errors.push(FieldError::invalid_resource(path, name, "doesn't follow extended resource name standard"));
    }
}

/// Checks a LimitRange.
pub(in super::super) fn limit_range(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let limits = tree.at(&["spec", "limits"]).items();
    for (at, limit) in limits.iter().enumerate() {
        let path = format!("spec.limits[{at}]");
        let kind = text(limit, "type");
        let place = format!("{path}.type");
        let before = errors.len();
        invalid(names::qualified(kind, wording), &place, kind, errors);
        let is_known = kind.contains('/') || ["Pod", "Container", "PersistentVolumeClaim"].contains(&kind);
        if errors.len() == before && !is_known {
            let why = "must be a standard limit type or fully qualified";
            errors.push(FieldError::invalid_text(place.as_str(), kind, why));
        }
        if limits[..at].iter().any(|other| text(other, "type") == kind) {
            errors.push(FieldError::duplicate(place, &Json::from(kind)));
        }
        for field in ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] {
            let is_default = field.starts_with("default");
            if kind == "Pod" && is_default {
                if !limit.get(field).is_empty() {
                    let why = "may not be specified when `type` is 'Pod'";
                    errors.push(FieldError::forbidden(format!("{path}.{field}"), why));
                }
                continue;
            }
            for (name, _) in limit.get(field).fields() {
                limited_name(kind, name, &format!("{path}.{field}[{name}]"), wording, errors);
            }
        }
        if kind == "PersistentVolumeClaim"
            && [limit.get("min"), limit.get("max")].iter().all(|bound| bound.get("storage").is_null())
        {
            let why = "either minimum or maximum storage value is required, but neither was provided";
            errors.push(FieldError::required(format!("{path}.limits"), why));
        }
        amounts(limit, kind, &path, errors);
    }
}

/// Checks that the amounts of a limit are in order.
fn amounts(limit: &Json, kind: &str, path: &str, errors: &mut Vec<FieldError>) {
    let lists = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"];
    let mut names: Vec<&str> =
        lists.iter().flat_map(|list| limit.get(list).fields()).map(|(name, _)| &**name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let of = |field: &str| {
            let hidden = kind == "Pod" && field.starts_with("default");
            let value = limit.get(field).get(name);
            (!hidden).then(|| Quantity::from_json(value).map(|amount| (amount, value))).flatten()
        };
        // The smaller, the greater, the field that is told with the value of one of both, and their names.
        for (low, high, told, value, [low_name, high_name]) in [
            ("min", "max", "min", "min", ["min", "max"]),
            ("min", "defaultRequest", "defaultRequest", "defaultRequest", ["min", "default request"]),
            ("defaultRequest", "max", "defaultRequest", "defaultRequest", ["default request", "max"]),
            ("defaultRequest", "default", "defaultRequest", "defaultRequest", ["default request", "default limit"]),
            ("min", "default", "default", "min", ["min", "default"]),
            ("default", "max", "default", "max", ["default", "max"]),
        ] {
            let (Some((least, low)), Some((most, high))) = (of(low), of(high)) else { continue };
            if least > most {
                let (low, high) = (low.as_str().unwrap_or(""), high.as_str().unwrap_or(""));
                let why = format!("{low_name} value {low} is greater than {high_name} value {high}");
                let shown = limit.get(value).get(name);
                errors.push(FieldError::invalid_quantity(format!("{path}.{told}[{name}]"), shown, true, &why));
            }
        }
        if let Some((_, value)) = of("maxLimitRequestRatio").filter(|(ratio, _)| *ratio < Quantity::milli(1000)) {
            let why = format!("ratio {} is less than 1", value.as_str().unwrap_or(""));
            errors.push(FieldError::invalid_quantity(
                format!("{path}.maxLimitRequestRatio[{name}]"),
                value,
                true,
                &why,
            ));
        }
        if let (Some((ratio, value)), Some((least, _)), Some((most, _))) =
            (of("maxLimitRequestRatio"), of("min"), of("max"))
        {
            ratio_fits((ratio, value), (least, most), &format!("{path}.maxLimitRequestRatio[{name}]"), errors);
        }
        let (own, request) = (of("default"), of("defaultRequest"));
        if let (Some((own, shown)), Some((request, value))) = (own, request)
            && !pod_resources::may_overcommit(name)
            && own != request
        {
            let (own, other) = (shown.as_str().unwrap_or(""), value.as_str().unwrap_or(""));
            let why = format!("default value {own} must equal to defaultRequest value {other} in {name}");
            errors.push(FieldError::invalid_quantity(format!("{path}.defaultRequest[{name}]"), value, true, &why));
        }
    }
}

/// Checks that no limit that the ratio allows is out of bounds: thousandths are compared where they are small enough.
fn ratio_fits(
    (ratio, value): (Quantity, &Json),
    (least, most): (Quantity, Quantity),
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    const SMALL: i64 = i64::MAX / 1000;
    let is_small = [ratio, least, most].iter().all(|amount| amount.value() < SMALL);
    #[expect(clippy::cast_precision_loss, reason = "upstream compares these as floating-point numbers too")]
    let (ratio, allowed) = match is_small {
        true => (ratio.milli_value() as f64 / 1000.0, most.milli_value() as f64 / least.milli_value() as f64),
        false => (ratio.value() as f64, most.value() as f64 / least.value() as f64),
    };
    if ratio > allowed {
        let why = format!("ratio {} is greater than max/min = {allowed:.6}", value.as_str().unwrap_or(""));
        errors.push(FieldError::invalid_quantity(path, value, true, &why));
    }
}

/// Checks a ResourceQuota.
pub(in super::super) fn quota(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let spec = tree.get("spec");
    amounts_of(spec.get("hard"), "spec.hard", wording, errors);
    scopes(spec, errors);
    selector(spec, errors);
}

/// Checks that a ResourceQuota counts what it counted. Source: validation.go (v1.34), `ValidateResourceQuotaUpdate`.
pub(in super::super) fn same_scopes(tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    let sorted = |of: &Json| {
        let mut scopes: Vec<Json> = of.at(&["spec", "scopes"]).items().to_vec();
        scopes.sort_by_key(|scope| scope.as_text().cloned());
        scopes.dedup();
        scopes
    };
    if sorted(tree) != sorted(old) {
        errors.push(FieldError::invalid("spec.scopes", tree.at(&["spec", "scopes"]), IMMUTABLE));
    }
}

/// Checks what a ResourceQuota says is used. Source: validation.go (v1.34), `ValidateResourceQuotaStatusUpdate`.
pub(in super::super) fn status(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    for field in ["hard", "used"] {
        amounts_of(tree.at(&["status", field]), &format!("status.{field}"), wording, errors);
    }
}

fn amounts_of(amounts: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    for (name, value) in amounts.fields() {
        let path = format!("{path}[{name}]");
        resource_name(name, &path, wording, errors);
        if !name.contains('/') && !is_quota_resource(name) {
            errors.push(FieldError::invalid_resource(path.as_str(), name, "must be a standard resource for quota"));
        }
        errors.extend(amount_problems(&path, name, value));
    }
}

fn is_scope(scope: &str) -> bool {
    const SCOPES: [&str; 7] = [
        "Terminating",
        "NotTerminating",
        "BestEffort",
        "NotBestEffort",
        "PriorityClass",
        "VolumeAttributesClass",
        "CrossNamespacePodAffinity",
    ];
    SCOPES.contains(&scope)
}

fn applies(scope: &str, name: &str) -> bool {
    match scope {
        "Terminating" | "NotTerminating" | "NotBestEffort" | "PriorityClass" | "CrossNamespacePodAffinity" => {
            name == "pods" || COMPUTE.contains(&name)
        }
        "BestEffort" => name == "pods",
        "VolumeAttributesClass" => matches!(name, "persistentvolumeclaims" | "requests.storage"),
        _ => true,
    }
}

fn are_at_odds(scopes: &[&str]) -> usize {
    let pairs = [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]];
    pairs.iter().filter(|pair| pair.iter().all(|scope| scopes.contains(scope))).count()
}

fn scopes(spec: &Json, errors: &mut Vec<FieldError>) {
    let list = spec.get("scopes");
    let all: Vec<&str> = list.items().iter().map(|scope| scope.as_str().unwrap_or("")).collect();
    let shown: Vec<String> = all.iter().map(|scope| quote(scope)).collect();
    let go = format!("[]core.ResourceQuotaScope{{{}}}", shown.join(", "));
    let mut tell = |why: &str| errors.push(FieldError::invalid("spec.scopes", list, why).in_go(go.as_str()));
    for scope in &all {
        if !is_scope(scope) {
            tell("unsupported scope");
        }
        for (name, _) in spec.get("hard").fields().filter(|(name, _)| is_quota_resource(name)) {
            if !applies(scope, name) {
                tell("unsupported scope applied to resource");
            }
        }
    }
    (0..are_at_odds(&all)).for_each(|_| tell("conflicting scopes"));
}

fn selector(spec: &Json, errors: &mut Vec<FieldError>) {
    let path = "spec.scopeSelector.matchExpressions";
    let terms = spec.at(&["scopeSelector", "matchExpressions"]).items();
    for term in terms {
        let (scope, operator) = (text(term, "scopeName"), text(term, "operator"));
        if !is_scope(scope) {
            errors.push(FieldError::invalid_text(format!("{path}.scopeName"), scope, "unsupported scope"));
        }
        for (name, _) in spec.get("hard").fields().filter(|(name, _)| is_quota_resource(name)) {
            if !applies(scope, name) {
                let why = "unsupported scope applied to resource";
                errors.push(FieldError::new(path, super::Problem::Invalid, go_selector(terms), why));
            }
        }
        let is_bare = !matches!(scope, "PriorityClass" | "VolumeAttributesClass") && is_scope(scope);
        if is_bare && operator != "Exists" {
            errors.push(FieldError::invalid_text(format!("{path}.operator"), operator, EXISTS_ONLY));
        }
        let values = term.get("values");
        match operator {
            "In" | "NotIn" if values.is_empty() => {
                let why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
                errors.push(FieldError::required(format!("{path}.values"), why));
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
                errors.push(FieldError::invalid(format!("{path}.values"), values, why));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => {
                let why = "not a valid selector operator";
                errors.push(FieldError::invalid_text(format!("{path}.operator"), operator, why));
            }
        }
    }
    let named: Vec<&str> = terms.iter().map(|term| text(term, "scopeName")).collect();
    for _ in 0..are_at_odds(&named) {
        errors.push(FieldError::invalid("spec.scopes", spec.get("scopes"), "conflicting scopes"));
    }
}

/// Prints a selector of scopes as the server's own type is printed.
fn go_selector(terms: &[Json]) -> alloc::string::String {
    let term = |term: &Json| {
        let (scope, operator) = (text(term, "scopeName"), text(term, "operator"));
        let values = term.get("values").to_string();
        format!("{{\"ScopeName\":{scope:?},\"Operator\":{operator:?},\"Values\":{values}}}")
    };
    let terms: Vec<_> = terms.iter().map(term).collect();
    format!("{{\"MatchExpressions\":[{}]}}", terms.join(","))
}
