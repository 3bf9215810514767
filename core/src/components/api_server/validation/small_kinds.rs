//! Validation of kinds with few rules: Endpoints, RuntimeClasses, ControllerRevisions, CSIStorageCapacities,
//! PodTemplates. Leads on to the rules of kinds that nothing else here uses.
//!
//! Mirrors pkg/apis/{core,node,apps,storage}/validation/validation.go (v1.34). Inputs: a new object, or a changed one
//! and the stored one. Outputs: errors. Left out on purpose: how a ControllerRevision whose data changed is printed.

use alloc::format;
use alloc::vec::Vec;

use super::amount::check_port;
use super::endpoint_slice::PROTOCOLS;
use super::ip::{self, Reading};
use super::pod::{tolerations, validate_template};
use super::pod_rules::Rules;
use super::{
    FieldError, IMMUTABLE, Problem, RuleWords, autoscaler, invalid, meta, networking, node, one_of, others,
    pod_resources, quote, service_addresses, storage, text,
};
use crate::objects::names::{self, Wording};
use crate::objects::{Json, NULL};
use crate::profile::Settings;

/// Checks a new object.
pub(in super::super) fn create(kind: &str, tree: &Json, settings: &Settings, errors: &mut Vec<FieldError>) {
    let (wording, reading, rules) = how(settings);
    match kind {
        "Endpoints" => subsets(tree, &NULL, (wording, reading), errors),
        "RuntimeClass" => runtime_class(tree, settings, errors),
        "ControllerRevision" => {
            revision(tree, errors);
            let data = tree.get("data");
            if !data.is_object() {
                let why = if data.is_null() { "data is mandatory" } else { "data must be a valid JSON object" };
                errors.push(FieldError::required("data", why));
            }
        }
        "CSIStorageCapacity" => storage_capacity(tree, wording, errors),
        "PodTemplate" => template(tree, wording, rules, errors),
        "NetworkPolicy" => networking::policy((tree, &NULL), settings, errors),
        "Ingress" => networking::ingress(tree, true, settings, errors),
        "IngressClass" => networking::class(tree, &NULL, wording, errors),
        "IPAddress" => service_addresses::parent(tree, wording, errors),
        "ServiceCIDR" => service_addresses::networks(tree, errors),
        "HorizontalPodAutoscaler" => autoscaler::validate((tree, &NULL), settings, wording, errors),
        "VolumeAttributesClass" => storage::attributes(tree, wording, errors),
        _ => {}
    }
}

/// Checks a change.
pub(in super::super) fn update(
    kind: &str,
    (tree, old): (&Json, &Json),
    settings: &Settings,
    errors: &mut Vec<FieldError>,
) {
    let (wording, reading, rules) = how(settings);
    let same = |field: &str, errors: &mut Vec<FieldError>| {
        if tree.get(field) != old.get(field) {
            errors.push(FieldError::invalid(field, tree.get(field), IMMUTABLE));
        }
    };
    match kind {
        "Endpoints" => subsets(tree, old, (wording, reading), errors),
        "RuntimeClass" => {
            runtime_class(tree, settings, errors);
            if tree.get("handler") != old.get("handler") {
                let error = FieldError::invalid("handler", tree.get("handler"), IMMUTABLE);
                errors.push(error.declared(RuleWords::NoValue));
            }
        }
        "ControllerRevision" => {
            revision(tree, errors);
            same("data", errors);
        }
        "CSIStorageCapacity" => {
            if tree.get("nodeTopology") != old.get("nodeTopology") {
                let topology = tree.get("nodeTopology");
                errors.push(FieldError::invalid_of("LabelSelector", "nodeTopology", topology, IMMUTABLE));
            }
            same("storageClassName", errors);
        }
        "PodTemplate" => template(tree, wording, rules, errors),
        // Its strategy checks the object, and then its change, which is the object again.
        "NetworkPolicy" => (0..2).for_each(|_| networking::policy((tree, old), settings, errors)),
        "Ingress" => networking::ingress(tree, false, settings, errors),
        "IngressClass" => networking::class(tree, old, wording, errors),
        "IPAddress" => service_addresses::same_parent(tree, old, errors),
        "ServiceCIDR" => service_addresses::grown_networks(tree, old, errors),
        "HorizontalPodAutoscaler" => autoscaler::validate((tree, old), settings, wording, errors),
        "VolumeAttributesClass" => {
            storage::attributes(tree, wording, errors);
            for field in ["driverName", "parameters"].into_iter().filter(|field| tree.get(field) != old.get(field)) {
                errors.push(FieldError::forbidden(field, format!("updates to {field} are forbidden.")));
            }
            storage::attributes(tree, wording, errors);
        }
        _ => {}
    }
}

/// Returns what the release checks.
fn how(settings: &Settings) -> (Wording, Reading, Rules) {
    (meta::wording(settings), Reading::of(settings), Rules::of(settings))
}

fn revision(tree: &Json, errors: &mut Vec<FieldError>) {
    let own = tree.get("revision");
    if own.as_i64().is_some_and(|own| own < 0) {
        errors.push(FieldError::invalid("revision", own, "must be greater than or equal to 0"));
    }
}

/// Checks the endpoints of a Service; those that are as they were are not checked again. Source: core,
/// `validateEndpointSubsets`.
fn subsets(tree: &Json, old: &Json, how: (Wording, Reading), errors: &mut Vec<FieldError>) {
    if !old.is_null() && tree.get("subsets") == old.get("subsets") {
        return;
    }
    for (at, subset) in tree.get("subsets").items().iter().enumerate() {
        let path = format!("subsets[{at}]");
        let lists = ["addresses", "notReadyAddresses"];
        if lists.iter().all(|list| subset.get(list).is_empty()) {
            let why = "must specify `addresses` or `notReadyAddresses`";
            errors.push(FieldError::required(path.as_str(), why));
        }
        for list in lists {
            for (at, address) in subset.get(list).items().iter().enumerate() {
                check_address(address, &format!("{path}.{list}[{at}]"), how, errors);
            }
        }
        let ports = subset.get("ports").items();
        for (at, port) in ports.iter().enumerate() {
            check_endpoint_port(port, ports.len() > 1, &format!("{path}.ports[{at}]"), how.0, errors);
        }
    }
}

fn check_address(address: &Json, path: &str, (wording, reading): (Wording, Reading), errors: &mut Vec<FieldError>) {
    let (own, field) = (text(address, "ip"), format!("{path}.ip"));
    ip::legacy(own, &field, reading, errors);
    let host = text(address, "hostname");
    if !host.is_empty() {
        invalid(names::label(host, wording), format!("{path}.hostname"), host, errors);
    }
    if let Some(node) = address.get("nodeName").as_str() {
        invalid(names::subdomain(node, wording), format!("{path}.nodeName"), node, errors);
    }
    match ip::parse(own) {
        Some(read) => ip::endpoint(own, read, &field, errors),
        None => errors.push(FieldError::invalid_text(field, own, "must be a valid IP address")),
    }
}

fn check_endpoint_port(port: &Json, needs_name: bool, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    let name = text(port, "name");
    if !name.is_empty() {
        invalid(names::label(name, wording), format!("{path}.name"), name, errors);
    } else if needs_name {
        errors.push(FieldError::required(format!("{path}.name"), ""));
    }
    check_port(&format!("{path}.port"), port.get("port").as_i64().unwrap_or(0), errors);
    one_of(&format!("{path}.protocol"), text(port, "protocol"), &PROTOCOLS, errors);
    if let Some(protocol) = port.get("appProtocol").as_str() {
        invalid(names::qualified(protocol, wording), format!("{path}.appProtocol"), protocol, errors);
    }
}

/// Source: node, `ValidateRuntimeClass`.
fn runtime_class(tree: &Json, settings: &Settings, errors: &mut Vec<FieldError>) {
    let (wording, rules, profile) = (meta::wording(settings), Rules::of(settings), settings.profile());
    let handler = text(tree, "handler");
    if handler.is_empty() && profile.is("runtime-class-handler-is-required") {
        errors.push(FieldError::required("handler", "").declared(RuleWords::Same));
    } else {
        let problems = names::label(handler, wording).into_iter();
        let error = |why| FieldError::invalid_text("handler", handler, why).declared(RuleWords::Same);
        errors.extend(problems.map(error));
    }
    let list = match profile.is("runtime-class-tolerations-are-a-list-once") {
        true => "scheduling.tolerations",
        false => "scheduling.tolerations.tolerations",
    };
    let overhead = tree.at(&["overhead", "podFixed"]);
    if !overhead.is_null() {
        pod_resources::resources(&crate::json!({"limits": overhead.clone()}), "overhead", wording, errors);
    }
    let scheduling = tree.get("scheduling");
    meta::validate_labels(scheduling.get("nodeSelector"), "scheduling.nodeSelector", wording, errors);
    let mut own = Vec::new();
    tolerations(scheduling, wording, rules, &mut own);
    errors.extend(own.into_iter().map(|mut error| {
        error.field = error.field.replacen("spec.tolerations", list, 1);
        error
    }));
    let all = scheduling.get("tolerations").items();
    let key = |of: &Json| ["key", "operator", "value", "effect"].map(|field| of.get(field).clone());
    for (at, toleration) in all.iter().enumerate().filter(|(at, own)| all[..*at].iter().any(|it| key(it) == key(own))) {
        let part = |field: &str| quote(text(toleration, field));
        let value = format!(
            "{{\"Key\":{},\"Operator\":{},\"Value\":{},\"Effect\":{},\"TolerationSeconds\":{}}}",
            part("key"),
            part("operator"),
            part("value"),
            part("effect"),
            toleration.get("tolerationSeconds")
        );
        errors.push(FieldError::new(format!("scheduling.tolerations[{at}]"), Problem::Duplicate, value, ""));
    }
}

/// Source: storage, `ValidateCSIStorageCapacity`.
fn storage_capacity(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    others::label_selector(tree.get("nodeTopology"), "nodeTopology", wording, errors);
    let class = text(tree, "storageClassName");
    invalid(names::subdomain(class, wording), "storageClassName", class, errors);
    errors.extend(node::amount_problems("capacity", "", tree.get("capacity")));
}

fn template(tree: &Json, wording: Wording, rules: Rules, errors: &mut Vec<FieldError>) {
    let mut own = Vec::new();
    validate_template(tree.get("template"), wording, rules, &mut own);
    errors.extend(own.into_iter().map(|mut error| {
        error.field = error.field.replacen("spec.template.", "template.", 1);
        error
    }));
}
