//! Validation of Nodes.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34), `ValidateNode` and `ValidateNodeUpdate`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::syntax;
use super::ip::{self, Reading};
use super::{FieldError, Problem, invalid, meta};
use crate::network::kinds::Kind;
use crate::objects::names::{self, Wording};
use crate::objects::quantity::Quantity;
use crate::objects::{Json, NULL};
use crate::profile::Settings;

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Checks a whole Node, as on creation and on a write of the object itself. Parts that are shared with the stored Node
/// are not checked again.
pub(in super::super) fn validate(
    kind: &Kind,
    tree: &Json,
    old: &Json,
    (wording, reading): (Wording, Reading),
) -> Vec<FieldError> {
    let mut errors = meta::validate_change(kind, tree, old, wording);
    avoided_pods(tree, &mut errors);
    taints(tree, wording, &mut errors);
    amounts(tree, old, &mut errors);
    let swap = tree.at(&["status", "nodeInfo", "swap", "capacity"]);
    if swap.as_i64().is_some_and(|bytes| bytes <= 0) {
        errors.push(FieldError::invalid("metadata.nodeSwapStatus.capacity", swap, "must be greater than zero"));
    }
    declared_features(tree, &mut errors);
    cidrs(tree, reading, &mut errors);
    errors
}

/// Checks a change of a Node or of its status.
pub(in super::super) fn validate_update(tree: &Json, old: &Json, wording: Wording) -> Vec<FieldError> {
    let mut errors = meta::validate_core_update(tree, old, wording);
    avoided_pods(tree, &mut errors);
    declared_features(tree, &mut errors);
    let addresses = tree.at(&["status", "addresses"]).items();
    for (at, address) in addresses.iter().enumerate() {
        if addresses[..at].contains(address) {
            let text = |field: &str| address.get(field).as_str().unwrap_or("").to_string();
            let printed = format!("{{\"Type\":{:?},\"Address\":{:?}}}", text("type"), text("address"));
            let go = format!("core.NodeAddress{{Type:{:?}, Address:{:?}}}", text("type"), text("address"));
            let error = FieldError::new(format!("status.addresses[{at}]"), Problem::Duplicate, printed, "");
            errors.push(error.in_go(go));
        }
    }
    let (new_cidrs, old_cidrs) = (tree.at(&["spec", "podCIDRs"]).items(), old.at(&["spec", "podCIDRs"]).items());
    if !old_cidrs.is_empty() {
        let detail = "node updates may not change podCIDR except from \"\" to valid";
        if new_cidrs.len() == old_cidrs.len() {
            for _ in new_cidrs.iter().zip(old_cidrs).filter(|(new, old)| new != old) {
                errors.push(FieldError::forbidden("spec.podCIDRs", detail));
            }
        } else {
            errors.push(FieldError::forbidden("spec.podCIDRs", detail));
        }
    }
    let text = |tree: &Json, field: &str| tree.at(&["spec", field]).as_str().unwrap_or("").to_string();
    let stored = text(old, "providerID");
    if !stored.is_empty() && stored != text(tree, "providerID") {
        errors.push(other_provider(&text(tree, "providerID"), wording));
    }
    amounts(tree, old, &mut errors);
    taints(tree, wording, &mut errors);
    if text(old, "externalID") != text(tree, "externalID") {
        errors.push(FieldError::forbidden("spec.externalID", "may not be updated"));
    }
    errors
}

/// Refuses another provider's name of the machine. Source: validation.go (v1.34, v1.37), `ValidateNodeUpdate`.
fn other_provider(new: &str, wording: Wording) -> FieldError {
    const PATH: &str = "spec.providerID";
    if !wording.is_declared() {
        return FieldError::forbidden(PATH, "node updates may not change providerID except from \"\" to valid");
    }
    let what = if new.is_empty() { "cleared" } else { "modified" };
    FieldError::invalid(PATH, &NULL, format!("field cannot be {what} once set"))
}

/// Checks the annotation that names Pods to keep away. Nothing has heeded it since 1.22, and it is checked
/// nevertheless.
///
/// Source: validation.go (v1.34), `ValidateAvoidPodsInNodeAnnotations`.
fn avoided_pods(tree: &Json, errors: &mut Vec<FieldError>) {
    const KEY: &str = "scheduler.alpha.kubernetes.io/preferAvoidPods";
    let Some(text) = tree.at(&["metadata", "annotations", KEY]).as_str().filter(|text| !text.is_empty()) else {
        return;
    };
    let Ok(avoided) = Json::parse(text) else {
        errors.push(FieldError::invalid_text("metadata.annotations.AvoidPods", KEY, syntax::problem(text)));
        return;
    };
    for (at, entry) in avoided.get("preferAvoidPods").items().iter().enumerate() {
        let path = format!("metadata.annotations.{KEY}[{at}].PodSignature");
        let controller = entry.at(&["podSignature", "podController"]);
        if controller.is_null() {
            errors.push(FieldError::required(path, ""));
        } else if controller.get("controller").as_bool() != Some(true) {
            let path = format!("{path}.PodController.Controller");
            errors.push(FieldError::invalid(path, &Json::Bool(false), "must point to a controller"));
        }
    }
}

/// Checks the features that a kubelet declares, which are sorted, each once.
///
/// Source: validation.go (v1.35), `validateNodeDeclaredFeatures`.
fn declared_features(tree: &Json, errors: &mut Vec<FieldError>) {
    let path = |at: usize| format!("status.declaredFeatures[{at}]");
    let features = tree.at(&["status", "declaredFeatures"]).items();
    let names: Vec<&str> = features.iter().map(|feature| feature.as_str().unwrap_or("")).collect();
    for (at, name) in names.iter().enumerate() {
        if let Some(why) = feature_problem(name) {
            errors.push(FieldError::invalid_text(path(at), name, format!("invalid feature name {name:?}: {why}")));
        }
        match names.get(at + 1) {
            Some(next) if next == name => {
                errors.push(FieldError::duplicate(path(at + 1), &features[at + 1]));
            }
            Some(next) if next < name => {
                errors.push(FieldError::invalid_text(path(at + 1), next, "list must be sorted alphabetically"));
            }
            _ => {}
        }
    }
}

/// Source: validation.go (v1.35), `validateNodeDeclaredFeatureName`.
fn feature_problem(name: &str) -> Option<&'static str> {
    let is_segment = |segment: &str| {
        segment.starts_with(|first: char| first.is_ascii_alphabetic())
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let is_name = name.starts_with(|first: char| first.is_ascii_uppercase()) && name.split('/').all(is_segment);
    if name.len() > 253 {
        Some("must be no more than 253 characters")
    } else if is_name {
        None
    } else {
        Some(
            "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or \
             MyFeature/mySubFeature), and contain only alphanumeric characters and slashes",
        )
    }
}

/// Checks taints; upstream names them `metadata.taints`.
fn taints(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let taints = tree.at(&["spec", "taints"]).items();
    for (at, taint) in taints.iter().enumerate() {
        let text = |taint: &Json, field: &str| taint.get(field).as_str().unwrap_or("").to_string();
        let path = format!("metadata.taints[{at}]");
        let (key, value, effect) = (text(taint, "key"), text(taint, "value"), text(taint, "effect"));
        invalid(names::qualified(&key, wording), format!("{path}.key"), &key, errors);
        let problems = names::label_value(&value, wording);
        if !problems.is_empty() {
            errors.push(FieldError::invalid_text(format!("{path}.value"), &value, problems.join(";")));
        }
        if effect.is_empty() {
            errors.push(FieldError::required(format!("{path}.effect"), ""));
        } else if !EFFECTS.contains(&effect.as_str()) {
            errors.push(FieldError::not_supported(format!("{path}.effect"), &effect, &EFFECTS));
        }
        let same = |other: &Json| text(other, "key") == key && text(other, "effect") == effect;
        if taints[..at].iter().any(same) {
            let added = taint.get("timeAdded").to_string();
            let printed =
                format!("{{\"Key\":{key:?},\"Value\":{value:?},\"Effect\":{effect:?},\"TimeAdded\":{added}}}");
            let time = taint.get("timeAdded").as_str().unwrap_or("<nil>");
            let go = format!("core.Taint{{Key:{key:?}, Value:{value:?}, Effect:{effect:?}, TimeAdded:{time}}}");
            let why = "taints must be unique by key and effect pair";
            errors.push(FieldError::new(path, Problem::Duplicate, printed, why).in_go(go));
        }
    }
}

/// Checks the amounts of resources; a list that is shared with the stored Node is not checked again.
fn amounts(tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    for list in ["capacity", "allocatable"] {
        let amounts = tree.at(&["status", list]);
        if amounts.is_same_allocation(old.at(&["status", list])) {
            continue;
        }
        for (name, amount) in amounts.fields() {
            let path = format!("status.{list}.{name}");
            errors.extend(amount_problems(&path, name, amount));
        }
    }
}

/// What is counted and no extended resource. Source: pkg/apis/core/helper/helpers.go (v1.34), `integerResources`.
pub(super) const INTEGERS: [&str; 9] = [
    "pods",
    "services",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

/// Checks an amount of a resource. Source: validation.go (v1.34), `ValidateResourceQuantityValue`.
pub(in super::super) fn amount_problems(path: &str, name: &str, amount: &Json) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let Some(quantity) = amount.as_str().and_then(Quantity::parse) else { return errors };
    if quantity.is_negative() {
        errors.push(FieldError::invalid(path, amount, "must be greater than or equal to 0"));
    }
    let whole = quantity.milli_value() % 1000 == 0;
    let counted = INTEGERS.contains(&name) || names::is_extended_resource(name);
    if counted && !whole {
        errors.push(FieldError::invalid_quantity(path, amount, false, "must be an integer"));
    }
    errors
}

fn cidrs(tree: &Json, reading: Reading, errors: &mut Vec<FieldError>) {
    let list = tree.at(&["spec", "podCIDRs"]);
    let texts: Vec<&str> = list.items().iter().map(|item| item.as_str().unwrap_or("")).collect();
    for (at, text) in texts.iter().enumerate() {
        ip::legacy_cidr(text, &format!("spec.podCIDRs[{at}]"), reading, errors);
    }
    if texts.len() > 1 {
        let wrong = texts.iter().position(|text| ip::read_cidr(text).is_none());
        if let Some(at) = wrong {
            let detail = format!(
                "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[{at}]: <nil> (invalid CIDR \
                 address: {})",
                texts[at]
            );
            errors.push(FieldError::new("spec.podCIDRs", Problem::Internal, String::new(), detail));
        }
        let families: Vec<bool> =
            texts.iter().filter_map(|text| ip::read_cidr(text)).map(|(address, _)| address.is_ipv4()).collect();
        let dual = wrong.is_none() && families.contains(&true) && families.contains(&false);
        if !dual || texts.len() > 2 {
            let detail = "may specify no more than one CIDR for each IP family";
            errors.push(FieldError::invalid("spec.podCIDRs", list, detail));
        }
    }
}

/// Checks that a Node has no network twice, as far as the release does.
///
/// Source: validation.go (v1.32; not in v1.33), `ValidateNode`.
pub(in super::super) fn repeated_cidrs(tree: &Json, settings: &Settings, errors: &mut Vec<FieldError>) {
    if settings.profile().is("node-networks-are-not-compared") {
        return;
    }
    let list = tree.at(&["spec", "podCIDRs"]).items();
    for (at, cidr) in list.iter().enumerate().filter(|(at, cidr)| list[..*at].contains(cidr)) {
        errors.push(FieldError::duplicate(format!("spec.podCIDRs[{at}]"), cidr));
    }
}
