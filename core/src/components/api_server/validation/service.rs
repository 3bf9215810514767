//! Validation of Services.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34), `ValidateServiceCreate`, `ValidateServiceUpdate`. Left out
//! on purpose: source ranges in an annotation, changes of families.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::amount::check_port;
use super::endpoint_slice::PROTOCOLS;
use super::ip::{self, Reading};
use super::{FieldError, IMMUTABLE, Problem, invalid, meta, text};
use crate::objects::Json;
use crate::objects::names::{self, Wording};
use crate::profile::Settings;

const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];
const POLICIES: [&str; 3] = ["PreferDualStack", "RequireDualStack", "SingleStack"];
const TRAFFIC: [&str; 2] = ["Cluster", "Local"];
const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
/// The longest session affinity, in seconds. Source: pkg/apis/core/types.go (v1.34),
/// `MaxClientIPServiceAffinitySeconds`.
const AFFINITY_SECONDS_MAX: i64 = 86_400;
const FOR_BALANCERS: &str = "may only be used when `type` is 'LoadBalancer'";
const ONCE_SET: &str = "may not change once set";

/// Tells whether a Service has no address.
pub(in super::super) fn is_headless(spec: &Json) -> bool {
    let first = spec.get("clusterIPs").items().first().unwrap_or_else(|| spec.get("clusterIP"));
    first.as_str() == Some("None")
}

/// Tells whether a Service can be reached from outside. Source: pkg/api/service/util.go (v1.34),
/// `ExternallyAccessible`.
pub(in super::super) fn is_open_outside(spec: &Json) -> bool {
    match text(spec, "type") {
        "LoadBalancer" | "NodePort" => true,
        "ClusterIP" => !spec.get("externalIPs").is_empty(),
        _ => false,
    }
}

/// Tells whether a load balancer asks nodes about their Pods.
pub(in super::super) fn needs_health_check(spec: &Json) -> bool {
    text(spec, "type") == "LoadBalancer" && text(spec, "externalTrafficPolicy") == "Local"
}

/// Checks a new Service.
pub(in super::super) fn create(tree: &Json, settings: &Settings, errors: &mut Vec<FieldError>) {
    let is_relaxed = settings.profile().is("service-names-are-labels");
    let wording = meta::wording(settings);
    let check = |name: &str| if is_relaxed { names::label(name, wording) } else { names::label_1035(name) };
    let metadata = tree.get("metadata");
    let base = text(metadata, "generateName");
    let masked = match base.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => format!("{rest}a"),
        _ => String::from(base),
    };
    let mut own = Vec::new();
    if !base.is_empty() {
        invalid(check(&masked), "metadata.generateName", base, &mut own);
    }
    let name = text(metadata, "name");
    if !name.is_empty() {
        invalid(check(name), "metadata.name", name, &mut own);
    }
    errors.splice(0..0, own);
    specification(tree, &Json::Null, settings, errors);
}

/// Checks a change.
pub(in super::super) fn update(tree: &Json, old: &Json, settings: &Settings, errors: &mut Vec<FieldError>) {
    let (spec, stored) = (tree.get("spec"), old.get("spec"));
    let is_external = |spec: &Json| text(spec, "type") == "ExternalName";
    if !(is_external(spec) || is_external(stored) || is_headless(spec) && is_headless(stored)) {
        addresses_are_kept(spec, stored, errors);
    }
    let is_balanced = |spec: &Json| text(spec, "type") == "LoadBalancer";
    let class = spec.get("loadBalancerClass");
    if is_balanced(spec) && is_balanced(stored) && class != stored.get("loadBalancerClass") {
        errors.push(FieldError::invalid("spec.loadBalancerClass", class, ONCE_SET));
    }
    // It is checked with the object once more.
    balancer_class(spec, meta::wording(settings), errors);
    let port = |spec: &Json| spec.get("healthCheckNodePort").as_i64().unwrap_or(0);
    if needs_health_check(spec) && needs_health_check(stored) && port(spec) != port(stored) {
        errors.push(FieldError::forbidden("spec.healthCheckNodePort", IMMUTABLE));
    }
    specification(tree, old, settings, errors);
}

/// Source: validation.go (v1.34), `validateUpgradeDowngradeClusterIPs`.
fn addresses_are_kept(spec: &Json, stored: &Json, errors: &mut Vec<FieldError>) {
    let list = spec.get("clusterIPs");
    let (new, old) = (list.items(), stored.get("clusterIPs").items());
    if new.len() < old.len() && new.is_empty() {
        errors.push(FieldError::invalid("spec.clusterIPs[0]", list, "primary clusterIP can not be unset"));
    }
    let compared = if new.len() == old.len() { new.len() } else { 1 };
    for (at, (new, old)) in new.iter().zip(old).take(compared).enumerate() {
        if new != old {
            errors.push(FieldError::invalid(format!("spec.clusterIPs[{at}]"), list, ONCE_SET));
        }
    }
    if new.len() == 1 && old.len() > 1 && text(spec, "ipFamilyPolicy") != "SingleStack" {
        let why = "must be set to 'SingleStack' when releasing the secondary clusterIP";
        errors.push(FieldError::invalid("spec.ipFamilyPolicy", spec.get("ipFamilyPolicy"), why));
    }
}

fn one_of(spec: &Json, field: &str, known: &[&str], errors: &mut Vec<FieldError>) {
    let path = format!("spec.{field}");
    match text(spec, field) {
        "" => errors.push(FieldError::required(path, "")),
        word if known.contains(&word) => {}
        word => errors.push(FieldError::not_supported(path, word, known)),
    }
}

fn specification(tree: &Json, old: &Json, settings: &Settings, errors: &mut Vec<FieldError>) {
    let spec = tree.get("spec");
    let (wording, reading) = (meta::wording(settings), Reading::of(settings));
    let kind = text(spec, "type");
    let ports = spec.get("ports").items();
    topology_annotations(tree, errors);
    let has_no_address = is_headless(spec) && kind == "ClusterIP";
    if ports.is_empty() && !is_headless(spec) && kind != "ExternalName" {
        errors.push(FieldError::required("spec.ports", ""));
    }
    match kind {
        "LoadBalancer" | "NodePort" if is_headless(spec) && !has_no_address => {
            let why = format!("may not be set to 'None' for {kind} services");
            errors.push(FieldError::invalid_text("spec.clusterIPs[0]", "None", why));
        }
        "ExternalName" => external_name(spec, settings, errors),
        _ => {}
    }
    check_ports(ports, settings, errors);
    meta::validate_labels(spec.get("selector"), "spec.selector", wording, errors);
    affinity(spec, errors);
    cluster_ips(tree, old, reading, errors);
    let stored = old.at(&["spec", "externalIPs"]).items();
    for (at, address) in spec.get("externalIPs").items().iter().enumerate() {
        let (path, text) = (format!("spec.externalIPs[{at}]"), address.as_str().unwrap_or(""));
        let known = stored.contains(address);
        let read = if known { ip::parse(text) } else { ip::legacy(text, &path, reading, errors) };
        if let Some(read) = read {
            ip::endpoint(text, read, &path, errors);
        }
    }
    one_of(spec, "type", &TYPES, errors);
    node_ports(kind, ports, errors);
    balancer((tree, old), kind, (wording, ip::Reading::of(settings)), errors);
    traffic(spec, kind, settings, errors);
}

fn external_name(spec: &Json, settings: &Settings, errors: &mut Vec<FieldError>) {
    for (field, is_set) in [
        ("clusterIPs", !spec.get("clusterIPs").is_empty()),
        ("ipFamilies", !spec.get("ipFamilies").is_empty()),
        ("ipFamilyPolicy", !spec.get("ipFamilyPolicy").is_null()),
    ] {
        if is_set {
            errors.push(FieldError::forbidden(format!("spec.{field}"), "may not be set for ExternalName services"));
        }
    }
    let name = text(spec, "externalName");
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.is_empty() {
        errors.push(FieldError::required("spec.externalName", ""));
    } else {
        invalid(names::subdomain(name, meta::wording(settings)), "spec.externalName", name, errors);
    }
}

fn check_ports(ports: &[Json], settings: &Settings, errors: &mut Vec<FieldError>) {
    let wording = meta::wording(settings);
    for (at, port) in ports.iter().enumerate() {
        let path = format!("spec.ports[{at}]");
        let name = text(port, "name");
        if name.is_empty() && ports.len() > 1 {
            errors.push(FieldError::required(format!("{path}.name"), ""));
        }
        if !name.is_empty() {
            invalid(names::label(name, wording), format!("{path}.name"), name, errors);
            if ports[..at].iter().any(|other| text(other, "name") == name) {
                errors.push(FieldError::duplicate(format!("{path}.name"), port.get("name")));
            }
        }
        check_port(&format!("{path}.port"), port.get("port").as_i64().unwrap_or(0), errors);
        let protocol = text(port, "protocol");
        if !PROTOCOLS.contains(&protocol) {
            errors.push(FieldError::not_supported(format!("{path}.protocol"), protocol, &PROTOCOLS));
        }
        let target = format!("{path}.targetPort");
        match port.get("targetPort").as_str() {
            Some(name) => invalid(names::port_name(name), &target, name, errors),
            None => check_port(&target, port.get("targetPort").as_i64().unwrap_or(0), errors),
        }
        if let Some(name) = port.get("appProtocol").as_str() {
            invalid(names::qualified(name, wording), format!("{path}.appProtocol"), name, errors);
        }
    }
}

fn affinity(spec: &Json, errors: &mut Vec<FieldError>) {
    one_of(spec, "sessionAffinity", &["ClientIP", "None"], errors);
    let seconds = spec.at(&["sessionAffinityConfig", "clientIP", "timeoutSeconds"]);
    let is_allowed = |seconds: i64| (1..=AFFINITY_SECONDS_MAX).contains(&seconds);
    if text(spec, "sessionAffinity") == "ClientIP" && !seconds.as_i64().is_some_and(is_allowed) {
        let why = format!("must be greater than 0 and less than {AFFINITY_SECONDS_MAX}");
        errors.push(FieldError::invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, why));
    }
}

/// Checks addresses, families and policy. Source: validation.go (v1.34), `ValidateServiceClusterIPsRelatedFields`.
pub(in super::super) fn cluster_ips(tree: &Json, old: &Json, reading: Reading, errors: &mut Vec<FieldError>) {
    let spec = tree.get("spec");
    if text(spec, "type") == "ExternalName" {
        return;
    }
    let (first, list) = (text(spec, "clusterIP"), spec.get("clusterIPs"));
    let all: Vec<&str> = list.items().iter().map(|item| item.as_str().unwrap_or("")).collect();
    let invalid_list = |why: &str| FieldError::invalid("spec.clusterIPs", list, why);
    match (first.is_empty(), all.first()) {
        (false, None) => errors.push(FieldError::required("spec.clusterIPs", "")),
        (false, Some(own)) if *own != first => errors.push(invalid_list("first value must match `clusterIP`")),
        (true, Some(_)) => errors.push(invalid_list("must be empty when `clusterIP` is not specified")),
        _ => {}
    }
    let families = spec.get("ipFamilies").items();
    for (at, family) in families.iter().enumerate() {
        let name = family.as_str().unwrap_or("");
        if !FAMILIES.contains(&name) {
            errors.push(FieldError::not_supported(format!("spec.ipFamilies[{at}]"), name, &FAMILIES));
        }
        if families[..at].contains(family) {
            errors.push(FieldError::duplicate(format!("spec.ipFamilies[{at}]"), family));
        }
    }
    if let Some(policy) = spec.get("ipFamilyPolicy").as_str()
        && !POLICIES.contains(&policy)
    {
        errors.push(FieldError::not_supported("spec.ipFamilyPolicy", policy, &POLICIES));
    }
    let before = errors.len();
    let stored = old.at(&["spec", "clusterIPs"]).items();
    for (at, address) in all.iter().enumerate() {
        if at == 0 && *address == "None" {
            if all.len() > 1 {
                errors.push(invalid_list("'None' must be the first and only value"));
            }
        } else if !stored.contains(&list.items()[at]) {
            ip::legacy(address, &format!("spec.clusterIPs[{at}]"), reading, errors);
        }
    }
    let has_invalid = errors.len() > before;
    if all.len() > 2 {
        errors.push(invalid_list("may only hold up to 2 values"));
    }
    if has_invalid {
        return;
    }
    let is_ipv4: Vec<bool> = all.iter().filter_map(|address| ip::parse(address)).map(ip::is_ipv4).collect();
    if all.len() > 1 && !(is_ipv4.contains(&true) && is_ipv4.contains(&false)) {
        errors.push(invalid_list("may specify no more than one IP for each IP family"));
    }
    if is_headless(spec) {
        return;
    }
    for (at, (family, is_ipv4)) in families.iter().zip(&is_ipv4).enumerate() {
        let family = family.as_str().unwrap_or("");
        if FAMILIES.contains(&family) && (family == "IPv4") != *is_ipv4 {
            let why = format!("expected an {family} value as indicated by `ipFamilies[{at}]`");
            errors.push(FieldError::invalid_text(format!("spec.clusterIPs[{at}]"), all[at], why));
        }
    }
}

/// Checks that node ports have a use, and that ports and node ports come once.
fn node_ports(kind: &str, ports: &[Json], errors: &mut Vec<FieldError>) {
    let number = |port: &Json, field: &str| port.get(field).as_i64().unwrap_or(0);
    let key = |port: &Json, field: &str| (text(port, "protocol").to_string(), number(port, field));
    for (at, port) in ports.iter().enumerate() {
        if kind == "ClusterIP" && number(port, "nodePort") != 0 {
            let path = format!("spec.ports[{at}].nodePort");
            errors.push(FieldError::forbidden(path, "may not be used when `type` is 'ClusterIP'"));
        }
    }
    for (at, port) in ports.iter().enumerate() {
        let is_same = |other: &Json| key(other, "nodePort") == key(port, "nodePort");
        if number(port, "nodePort") != 0 && ports[..at].iter().any(is_same) {
            errors.push(FieldError::duplicate(format!("spec.ports[{at}].nodePort"), port.get("nodePort")));
        }
    }
    for (at, port) in ports.iter().enumerate() {
        if ports[..at].iter().any(|other| key(other, "port") == key(port, "port")) {
            let value = format!(
                "{{\"Name\":\"\",\"Protocol\":{:?},\"AppProtocol\":null,\"Port\":{},\"TargetPort\":0,\"NodePort\":0}}",
                text(port, "protocol"),
                number(port, "port")
            );
            errors.push(FieldError::new(format!("spec.ports[{at}]"), Problem::Duplicate, value, ""));
        }
    }
}

/// Checks the fields of load balancers.
fn balancer(
    (tree, old): (&Json, &Json),
    kind: &str,
    (wording, reading): (Wording, ip::Reading),
    errors: &mut Vec<FieldError>,
) {
    let spec = tree.get("spec");
    let is_balancer = kind == "LoadBalancer";
    let ranges = spec.get("loadBalancerSourceRanges").items();
    if !ranges.is_empty() && !is_balancer {
        errors.push(FieldError::forbidden("spec.LoadBalancerSourceRanges", FOR_BALANCERS));
    }
    let trimmed = |range: &Json| String::from(range.as_str().unwrap_or("").trim());
    let known = old.at(&["spec", "loadBalancerSourceRanges"]).items();
    for (at, range) in ranges.iter().map(trimmed).enumerate() {
        // Spaces around a range are allowed.
        if !known.iter().any(|known| trimmed(known) == range) {
            ip::legacy_cidr(&range, &format!("spec.LoadBalancerSourceRanges[{at}]"), reading, errors);
        }
    }
    let noted = tree.at(&["metadata", "annotations", SOURCE_RANGES]).as_str();
    if let Some(noted) = noted.filter(|_| ranges.is_empty()) {
        let path = format!("metadata.annotations[{SOURCE_RANGES}]");
        if !is_balancer {
            errors.push(FieldError::forbidden(path.as_str(), FOR_BALANCERS));
        }
        if !noted.trim().is_empty() && !noted_before(old, noted) {
            for range in noted.trim().split(',') {
                ip::legacy_cidr(range.trim(), &path, reading, errors);
            }
        }
    }
    if !spec.get("allocateLoadBalancerNodePorts").is_null() && !is_balancer {
        errors.push(FieldError::forbidden("spec.allocateLoadBalancerNodePorts", FOR_BALANCERS));
    }
    balancer_class(spec, wording, errors);
}

/// Source: k8s.io/api core/v1/annotation_key_constants.go (v1.34), `AnnotationLoadBalancerSourceRangesKey`.
const SOURCE_RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";

fn noted_before(old: &Json, noted: &str) -> bool {
    !old.is_null() && old.at(&["metadata", "annotations", SOURCE_RANGES]).as_str().unwrap_or("") == noted
}

/// Source: validation.go (v1.34), `validateLoadBalancerClassField`.
fn balancer_class(spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let Some(class) = spec.get("loadBalancerClass").as_str() else { return };
    if text(spec, "type") == "LoadBalancer" {
        invalid(names::qualified(class, wording), "spec.loadBalancerClass", class, errors);
    } else {
        errors.push(FieldError::forbidden("spec.loadBalancerClass", FOR_BALANCERS));
    }
}

/// Checks that two annotations about the same say the same. Source: validation.go (v1.34), `ValidateService`.
fn topology_annotations(tree: &Json, errors: &mut Vec<FieldError>) {
    const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    const MODE: &str = "service.kubernetes.io/topology-mode";
    let noted = |name: &str| tree.at(&["metadata", "annotations", name]).as_str();
    if let (Some(hints), Some(mode)) = (noted(HINTS), noted(MODE))
        && hints != mode
    {
        let why = format!("must match annotations[{HINTS}] when both are specified");
        errors.push(FieldError::invalid_text(format!("metadata.annotations[{MODE}]"), mode, why));
    }
}

/// Checks the policies of traffic.
fn traffic(spec: &Json, kind: &str, settings: &Settings, errors: &mut Vec<FieldError>) {
    let outside = text(spec, "externalTrafficPolicy");
    if is_open_outside(spec) {
        one_of(spec, "externalTrafficPolicy", &TRAFFIC, errors);
    } else if !outside.is_empty() {
        let why = "may only be set for externally-accessible services";
        errors.push(FieldError::invalid_text("spec.externalTrafficPolicy", outside, why));
    }
    let port = spec.get("healthCheckNodePort").as_i64().unwrap_or(0);
    if needs_health_check(spec) {
        check_port("spec.healthCheckNodePort", port, errors);
    } else if port != 0 {
        let why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        errors.push(FieldError::invalid("spec.healthCheckNodePort", &Json::Int(port), why));
    }
    match spec.get("internalTrafficPolicy").as_str() {
        Some(policy) if !TRAFFIC.contains(&policy) => {
            errors.push(FieldError::not_supported("spec.internalTrafficPolicy", policy, &TRAFFIC));
        }
        None if ["NodePort", "LoadBalancer", "ClusterIP"].contains(&kind) => {
            errors.push(FieldError::required("spec.internalTrafficPolicy", ""));
        }
        _ => {}
    }
    let known = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    let known = if settings.profile().is("endpoint-hints-name-nodes") { &known[..] } else { &known[..1] };
    if let Some(word) = spec.get("trafficDistribution").as_str().filter(|word| !known.contains(word)) {
        errors.push(FieldError::not_supported("spec.trafficDistribution", word, known));
    }
}
