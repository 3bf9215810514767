//! Validation of NetworkPolicies, Ingresses and IngressClasses.
//!
//! Mirrors pkg/apis/networking/validation/validation.go (v1.34). Inputs: an object, and the stored one. Outputs:
//! errors. Left out on purpose: what is invalid in a stored Ingress and may stay.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;

use super::amount::check_port;
use super::ip::{self, Reading};
use super::others::label_selector;
use super::{FieldError, IMMUTABLE, RuleWords, invalid, meta, path_segment, prefixed_path, text};
use crate::objects::Json;
use crate::objects::names::{self, Wording};
use crate::profile::Settings;

/// Source: validation.go (v1.34), `annotationIngressClass`.
pub(in super::super) const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";
/// Source: validation.go (v1.34), `maxLenIngressClassController`.
const CONTROLLER_BYTES: usize = 250;
/// Source: k8s.io/apimachinery pkg/util/validation/validation.go (v1.34), `wildcardDNS1123SubdomainErrMsg`.
const WILDCARD: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which \
    must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. \
    '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?\
    (\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
/// Checks a NetworkPolicy.
pub(in super::super) fn policy((tree, old): (&Json, &Json), settings: &Settings, errors: &mut Vec<FieldError>) {
    let (spec, wording) = (tree.get("spec"), meta::wording(settings));
    let blocks = Blocks { reading: Reading::of(settings), known: networks(old) };
    label_selector(spec.get("podSelector"), "spec.podSelector", wording, errors);
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for (at, rule) in spec.get(direction).items().iter().enumerate() {
            let path = format!("spec.{direction}[{at}]");
            for (at, port) in rule.get("ports").items().iter().enumerate() {
                policy_port(port, &format!("{path}.ports[{at}]"), wording, errors);
            }
            for (at, peer) in rule.get(peers).items().iter().enumerate() {
                policy_peer(peer, &format!("{path}.{peers}[{at}]"), (wording, &blocks), errors);
            }
        }
    }
    let types = spec.get("policyTypes");
    if types.items().len() > 2 {
        let why = "may not specify more than two policyTypes";
        errors.push(FieldError::invalid("spec.policyTypes", types, why));
        return;
    }
    let known = ["Ingress", "Egress"];
    for (at, own) in types.items().iter().enumerate() {
        let own = own.as_str().unwrap_or("");
        if !known.contains(&own) {
            errors.push(FieldError::not_supported(format!("spec.policyTypes[{at}]"), own, &known));
        }
    }
}

/// Source: validation.go (v1.34), `ValidateNetworkPolicyPort`.
fn policy_port(own: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    let protocols = ["TCP", "UDP", "SCTP"];
    if let Some(protocol) = own.get("protocol").as_str().filter(|own| !protocols.contains(own)) {
        errors.push(FieldError::not_supported(format!("{path}.protocol"), protocol, &protocols));
    }
    let (port, end) = (own.get("port"), own.get("endPort"));
    let (field, last) = (format!("{path}.port"), format!("{path}.endPort"));
    match port {
        Json::Null if !end.is_null() => {
            errors.push(FieldError::invalid(last, end, "may not be specified when `port` is not specified"));
        }
        Json::Int(number) => {
            check_port(&field, *number, errors);
            let Some(end) = end.as_i64() else { return };
            if end < *number {
                // Source: validation.go (v1.37), which prints the end and not the beginning.
                let shown = if wording.is_declared() { own.get("endPort") } else { port };
                errors.push(FieldError::invalid(last.as_str(), shown, "must be greater than or equal to `port`"));
            }
            check_port(&last, end, errors);
        }
        Json::Str(name) => {
            if !end.is_null() {
                errors.push(FieldError::invalid(last, end, "may not be specified when `port` is non-numeric"));
            }
            invalid(names::port_name(name), field, name, errors);
        }
        _ => {}
    }
}

/// Source: validation.go (v1.34), `ValidateNetworkPolicyPeer`.
fn policy_peer(peer: &Json, path: &str, (wording, blocks): (Wording, &Blocks<'_>), errors: &mut Vec<FieldError>) {
    let fields = ["podSelector", "namespaceSelector", "ipBlock"];
    for field in &fields[..2] {
        label_selector(peer.get(field), &format!("{path}.{field}"), wording, errors);
    }
    let block = peer.get("ipBlock");
    if !block.is_null() {
        ip_block(block, &format!("{path}.ipBlock"), blocks, errors);
    }
    match fields.iter().filter(|field| !peer.get(field).is_null()).count() {
        0 => errors.push(FieldError::required(path, "must specify a peer")),
        1 => {}
        _ if !block.is_null() => {
            errors.push(FieldError::forbidden(path, "may not specify both ipBlock and another peer"));
        }
        _ => {}
    }
}

/// How networks are read: those of the stored policy are taken as they are.
struct Blocks<'a> {
    reading: Reading,
    known: Vec<&'a str>,
}

impl Blocks<'_> {
    fn read(&self, text: &str, path: &str, errors: &mut Vec<FieldError>) -> Option<(IpAddr, u32)> {
        if self.known.contains(&text) {
            return ip::read_cidr(text);
        }
        ip::legacy_cidr(text, path, self.reading, errors)
    }
}

/// Returns all networks that a policy names.
fn networks(policy: &Json) -> Vec<&str> {
    let rules = |direction: &str, peers: &'static str| {
        let all = policy.at(&["spec", direction]).items().iter();
        all.flat_map(move |rule| rule.get(peers).items()).map(|peer| peer.get("ipBlock")).collect::<Vec<_>>()
    };
    let blocks = [rules("ingress", "from"), rules("egress", "to")].concat();
    blocks
        .into_iter()
        .flat_map(|block| block.get("except").items().iter().chain([block.get("cidr")]))
        .filter_map(Json::as_str)
        .collect()
}

/// Source: validation.go (v1.34), `ValidateIPBlock`.
fn ip_block(block: &Json, path: &str, blocks: &Blocks<'_>, errors: &mut Vec<FieldError>) {
    let cidr = text(block, "cidr");
    if cidr.is_empty() {
        errors.push(FieldError::required(format!("{path}.cidr"), "").declared(RuleWords::Same));
        return;
    }
    let Some(whole) = blocks.read(cidr, &format!("{path}.cidr"), errors) else { return };
    for (at, except) in block.get("except").items().iter().enumerate() {
        let (path, except) = (format!("{path}.except[{at}]"), except.as_str().unwrap_or(""));
        let part = blocks.read(except, &path, errors);
        if part.is_some_and(|part| !ip::is_strictly_within(part, whole)) {
            errors.push(FieldError::invalid_text(path, except, "must be a strict subset of `cidr`"));
        }
    }
}

/// Checks an Ingress.
pub(in super::super) fn ingress(tree: &Json, is_new: bool, settings: &Settings, errors: &mut Vec<FieldError>) {
    let spec = tree.get("spec");
    let how = (meta::wording(settings), settings.profile().is("service-names-are-labels"));
    let (default, rules) = (spec.get("defaultBackend"), spec.get("rules"));
    if rules.is_empty() && default.is_null() {
        errors.push(FieldError::invalid("spec", rules, "either `defaultBackend` or `rules` must be specified"));
    }
    if !default.is_null() {
        backend(default, "spec.defaultBackend", how, errors);
    }
    for (at, rule) in rules.items().iter().enumerate() {
        ingress_rule(rule, &format!("spec.rules[{at}]"), how, errors);
    }
    for (at, tls) in spec.get("tls").items().iter().enumerate() {
        let path = format!("spec.tls[{at}]");
        for (at, host) in tls.get("hosts").items().iter().enumerate() {
            host_name(host.as_str().unwrap_or(""), &format!("{path}.hosts[{at}]"), how.0, errors);
        }
        let secret = text(tls, "secretName");
        if !secret.is_empty() {
            invalid(names::subdomain(secret, how.0), format!("{path}.secretName"), secret, errors);
        }
    }
    let class = spec.get("ingressClassName").as_str();
    if let Some(class) = class {
        invalid(names::subdomain(class, how.0), "spec.ingressClassName", class, errors);
    }
    let noted = tree.at(&["metadata", "annotations", CLASS_ANNOTATION]).as_str();
    if let (true, Some(noted), Some(class)) = (is_new, noted, class)
        && noted != class
    {
        let why = "must match `ingressClassName` when both are specified";
        errors.push(FieldError::invalid_text(format!("annotations.{CLASS_ANNOTATION}"), noted, why));
    }
}

fn host_name(host: &str, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    if !host.contains('*') {
        invalid(names::subdomain(host, wording), path, host, errors);
        return;
    }
    let rest = host.strip_prefix("*.").filter(|rest| names::subdomain(rest, wording).is_empty());
    if rest.is_none() {
        errors.push(FieldError::invalid_text(path, host, WILDCARD));
    }
}

/// Source: validation.go (v1.34), `validateIngressRules`, `validateHTTPIngressPath`.
fn ingress_rule(rule: &Json, path: &str, how: (Wording, bool), errors: &mut Vec<FieldError>) {
    let host = text(rule, "host");
    if !host.is_empty() {
        let field = format!("{path}.host");
        if ip::parse(host).is_some() {
            errors.push(FieldError::invalid_text(field.as_str(), host, "must be a DNS name, not an IP address"));
        }
        host_name(host, &field, how.0, errors);
    }
    let http = rule.get("http");
    if http.is_null() {
        return;
    }
    let paths = http.get("paths").items();
    if paths.is_empty() {
        errors.push(FieldError::required(format!("{path}.http.paths"), ""));
    }
    for (at, own) in paths.iter().enumerate() {
        ingress_path(own, &format!("{path}.http.paths[{at}]"), how, errors);
    }
}

fn ingress_path(own: &Json, path: &str, how: (Wording, bool), errors: &mut Vec<FieldError>) {
    let Some(kind) = own.get("pathType").as_str() else {
        errors.push(FieldError::required(format!("{path}.pathType"), "pathType must be specified"));
        return;
    };
    let (name, field) = (text(own, "path"), format!("{path}.path"));
    let is_known = ["Exact", "Prefix"].contains(&kind);
    let mut refuse = |why: String| errors.push(FieldError::invalid_text(field.as_str(), name, why));
    if (is_known || kind == "ImplementationSpecific" && !name.is_empty()) && !name.starts_with('/') {
        refuse(String::from("must be an absolute path"));
    }
    if is_known {
        for part in ["//", "/./", "/../", "%2f", "%2F"].into_iter().filter(|part| name.contains(part)) {
            refuse(format!("must not contain '{part}'"));
        }
        for end in ["/..", "/."].into_iter().filter(|end| name.ends_with(end)) {
            refuse(format!("cannot end with '{end}'"));
        }
    } else if kind != "ImplementationSpecific" {
        let kinds = ["Exact", "ImplementationSpecific", "Prefix"];
        errors.push(FieldError::not_supported(format!("{path}.pathType"), kind, &kinds));
    }
    backend(own.get("backend"), &format!("{path}.backend"), how, errors);
}

/// Source: validation.go (v1.34), `validateIngressBackend`.
fn backend(own: &Json, path: &str, (wording, is_relaxed): (Wording, bool), errors: &mut Vec<FieldError>) {
    let (resource, service) = (own.get("resource"), own.get("service"));
    match (resource.is_null(), service.is_null()) {
        (false, false) => {
            let why = "cannot set both resource and service backends";
            errors.push(FieldError::invalid_text(path, "", why));
            return;
        }
        (false, true) => return reference(resource, &format!("{path}.resource"), wording, errors),
        (true, true) => {
            errors.push(FieldError::invalid_text(path, "", "resource or service backend is required"));
            return;
        }
        (true, false) => {}
    }
    let (name, field) = (text(service, "name"), format!("{path}.service.name"));
    let problems = if is_relaxed { names::label(name, wording) } else { names::label_1035(name) };
    match name {
        "" => errors.push(FieldError::required(field, "")),
        name => invalid(problems, field, name, errors),
    }
    let (port, number) = (text(service.get("port"), "name"), service.at(&["port", "number"]).as_i64().unwrap_or(0));
    match (port.is_empty(), number == 0) {
        (false, false) => {
            errors.push(FieldError::invalid_text(path, "", "cannot set both port name & port number"));
        }
        (false, true) => invalid(names::port_name(port), format!("{path}.service.port.name"), port, errors),
        (true, false) => check_port(&format!("{path}.service.port.number"), number, errors),
        (true, true) => errors.push(FieldError::required(path, "port name or number is required")),
    }
}

/// Source: validation.go (v1.34), `validateIngressTypedLocalObjectReference`.
fn reference(of: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    if let Some(group) = of.get("apiGroup").as_str() {
        invalid(names::subdomain(group, wording), format!("{path}.apiGroup"), group, errors);
    }
    for field in ["kind", "name"] {
        path_segment(text(of, field), format!("{path}.{field}"), "", errors);
    }
}

/// Checks the addresses of an Ingress. Source: validation.go (v1.34), `ValidateIngressLoadBalancerStatus`.
pub(in super::super) fn ingress_status(tree: &Json, settings: &Settings, errors: &mut Vec<FieldError>) {
    for (at, own) in tree.at(&["status", "loadBalancer", "ingress"]).items().iter().enumerate() {
        let path = format!("status.loadBalancer.ingress[{at}]");
        let (address, host) = (text(own, "ip"), text(own, "hostname"));
        if !address.is_empty() {
            ip::legacy(address, &format!("{path}.ip"), Reading::of(settings), errors);
        }
        if !host.is_empty() {
            let field = format!("{path}.hostname");
            invalid(names::subdomain(host, meta::wording(settings)), &field, host, errors);
            if ip::parse(host).is_some() {
                errors.push(FieldError::invalid_text(field, host, "must be a DNS name, not an IP address"));
            }
        }
    }
}

/// Checks an IngressClass: new, or in place of an old one.
pub(in super::super) fn class(tree: &Json, old: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let spec = tree.get("spec");
    let controller = text(spec, "controller");
    if !old.is_null() && controller != text(old.get("spec"), "controller") {
        errors.push(FieldError::invalid_text("spec.controller", controller, IMMUTABLE));
    }
    if controller.len() > CONTROLLER_BYTES {
        let why = format!("may not be more than {CONTROLLER_BYTES} bytes");
        errors.push(FieldError::too_long("spec.controller", why));
    }
    prefixed_path(controller, "spec.controller", wording, errors);
    let own = spec.get("parameters");
    if own.is_null() {
        return;
    }
    reference(own, "spec.parameters", wording, errors);
    let Some(scope) = own.get("scope").as_str() else {
        errors.push(FieldError::required("spec.parameters.scope", ""));
        return;
    };
    match (scope, own.get("namespace").as_str()) {
        ("Namespace", None) => {
            let why = "`parameters.scope` is set to 'Namespace'";
            errors.push(FieldError::required("spec.parameters.namespace", why));
        }
        ("Namespace", Some(namespace)) => {
            invalid(names::label(namespace, wording), "spec.parameters.namespace", namespace, errors);
        }
        ("Cluster", Some(_)) => {
            let why = "`parameters.scope` is set to 'Cluster'";
            errors.push(FieldError::forbidden("spec.parameters.namespace", why));
        }
        ("Cluster", None) => {}
        _ => errors.push(FieldError::not_supported("spec.parameters.scope", scope, &["Cluster", "Namespace"])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn told(check: impl FnOnce(&mut Vec<FieldError>)) -> Vec<String> {
        let mut errors = Vec::new();
        check(&mut errors);
        errors.iter().map(FieldError::text).collect()
    }

    fn blocks(reading: Reading) -> Blocks<'static> {
        Blocks { reading, known: Vec::from(["10.1.2.3/8"]) }
    }

    #[test]
    fn a_network_is_written_as_such_unless_it_was_there() {
        let block = json!({"cidr": "10.1.2.3/8", "except": ["10.1.2.3/16", "10.2.0.0/016"]});
        assert_eq!(told(|errors| ip_block(&block, "b", &blocks(Reading::Legacy), errors)), Vec::<String>::new());
        assert_eq!(
            told(|errors| ip_block(&block, "b", &blocks(Reading::Strict), errors)),
            [
                "b.except[0]: Invalid value: \"10.1.2.3/16\": must not have bits set beyond the prefix length",
                "b.except[1]: Invalid value: \"10.2.0.0/016\": must not have leading 0s in IP or prefix length",
            ]
        );
    }

    #[test]
    fn a_block_leaves_out_parts_of_itself() {
        let block = json!({"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16", "11.0.0.0/16", "10.0.0.0/8", "x"]});
        assert_eq!(
            told(|errors| ip_block(&block, "b", &blocks(Reading::Legacy), errors)),
            [
                "b.except[1]: Invalid value: \"11.0.0.0/16\": must be a strict subset of `cidr`",
                "b.except[2]: Invalid value: \"10.0.0.0/8\": must be a strict subset of `cidr`",
                &format!("b.except[3]: Invalid value: \"x\": {}", ip::NO_CIDR),
            ]
        );
        assert!(ip::is_strictly_within(ip::read_cidr("fd00:1::/32").unwrap(), ip::read_cidr("fd00::/8").unwrap()));
        assert!(ip::is_strictly_within(ip::read_cidr("1.2.3.0/24").unwrap(), ip::read_cidr("0.0.0.0/0").unwrap()));
    }

    #[test]
    fn a_port_ends_at_or_behind_its_beginning() {
        for (port, why) in [
            (json!({"port": 8, "endPort": 7}), "p.endPort: Invalid value: 8: must be greater than or equal to `port`"),
            (json!({"endPort": 7}), "p.endPort: Invalid value: 7: may not be specified when `port` is not specified"),
            (
                json!({"port": "a", "endPort": 7}),
                "p.endPort: Invalid value: 7: may not be specified when `port` is non-numeric",
            ),
        ] {
            assert_eq!(told(|errors| policy_port(&port, "p", Wording::Bytes, errors)), [why]);
        }
    }

    #[test]
    fn a_backend_is_a_service_with_a_port_or_a_resource() {
        let of = |own: Json| told(|errors| backend(&own, "b", (Wording::Bytes, false), errors));
        assert_eq!(of(json!({})), ["b: Invalid value: \"\": resource or service backend is required"]);
        assert_eq!(
            of(json!({"service": {"port": {}}})),
            ["b.service.name: Required value", "b: Required value: port name or number is required"]
        );
        assert_eq!(of(json!({"service": {"name": "a", "port": {"number": 1}}})), Vec::<String>::new());
        assert_eq!(
            of(json!({"resource": {"kind": "a/b"}})),
            ["b.resource.kind: Invalid value: \"a/b\": may not contain '/'", "b.resource.name: Required value"]
        );
    }

    #[test]
    fn a_controller_is_a_path_below_a_domain() {
        let of = |own: &str| told(|errors| prefixed_path(own, "c", Wording::Bytes, errors));
        assert_eq!(of("acme.io/foo"), Vec::<String>::new());
        assert_eq!(of("foo"), ["c: Invalid value: \"foo\": must be a domain-prefixed path (such as \"acme.io/foo\")"]);
        let pattern = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
        let told = format!("c: Invalid value: \"f?\": Invalid path (regex used for validation is '{pattern}')");
        assert_eq!(of("acme.io/f?"), [told]);
    }
}
