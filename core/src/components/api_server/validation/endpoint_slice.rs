//! Validation of EndpointSlices.
//!
//! Mirrors pkg/apis/discovery/validation/validation.go (v1.34; v1.32 for the older words about addresses).

use alloc::format;
use alloc::vec::Vec;
use core::net::IpAddr;

use super::ip::{self, Reading};
use super::{FieldError, IMMUTABLE, RuleWords, invalid, text};
use crate::objects::Json;
use crate::objects::names::{self, Wording};

/// Source: validation.go (v1.34), `supportedAddressTypes`.
const ADDRESS_TYPES: [&str; 3] = ["FQDN", "IPv4", "IPv6"];
/// Source: validation.go (v1.34), `supportedPortProtocols`.
pub(super) const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
/// The most endpoints, addresses of one, ports, hints and labels of a topology. Source: validation.go (v1.34).
const ENDPOINTS_MAX: usize = 1000;
const ADDRESSES_MAX: usize = 100;
const PORTS_MAX: usize = 20_000;
const HINTS_MAX: usize = 8;

/// Checks an EndpointSlice; endpoints that are as they were are not checked again.
pub(in super::super) fn validate(
    tree: &Json,
    old: &Json,
    wording: Wording,
    reading: Reading,
    errors: &mut Vec<FieldError>,
) {
    let kind = text(tree, "addressType");
    match kind {
        "" => errors.push(FieldError::required("addressType", "").declared(RuleWords::Same)),
        known if ADDRESS_TYPES.contains(&known) => {}
        unknown => {
            let error = FieldError::not_supported("addressType", unknown, &ADDRESS_TYPES);
            errors.push(error.declared(RuleWords::Same));
        }
    }
    ports(tree.get("ports").items(), wording, errors);
    let all = tree.get("endpoints").items();
    if all.len() > ENDPOINTS_MAX {
        errors.push(FieldError::too_many("endpoints", all.len(), ENDPOINTS_MAX));
    } else if old.is_null() || tree.get("endpoints") != old.get("endpoints") {
        for (at, endpoint) in all.iter().enumerate() {
            check_endpoint(endpoint, &format!("endpoints[{at}]"), (kind, reading), wording, errors);
        }
    }
    if !old.is_null() && tree.get("addressType") != old.get("addressType") {
        let error = FieldError::invalid("addressType", tree.get("addressType"), IMMUTABLE);
        errors.push(error.declared(RuleWords::NoValue));
    }
}

fn ports(ports: &[Json], wording: Wording, errors: &mut Vec<FieldError>) {
    if ports.len() > PORTS_MAX {
        errors.push(FieldError::too_many("ports", ports.len(), PORTS_MAX));
        return;
    }
    for (at, port) in ports.iter().enumerate() {
        let path = format!("ports[{at}]");
        let name = text(port, "name");
        if !name.is_empty() {
            invalid(names::label(name, wording), format!("{path}.name"), name, errors);
        }
        if ports[..at].iter().any(|other| text(other, "name") == name) {
            errors.push(FieldError::duplicate(format!("{path}.name"), port.get("name")));
        }
        let protocol = text(port, "protocol");
        if !PROTOCOLS.contains(&protocol) {
            errors.push(FieldError::not_supported(format!("{path}.protocol"), protocol, &PROTOCOLS));
        }
        if let Some(name) = port.get("appProtocol").as_str() {
            invalid(names::qualified(name, wording), format!("{path}.appProtocol"), name, errors);
        }
    }
}

fn check_endpoint(
    endpoint: &Json,
    path: &str,
    (kind, reading): (&str, Reading),
    wording: Wording,
    errors: &mut Vec<FieldError>,
) {
    let addresses = endpoint.get("addresses").items();
    let list = format!("{path}.addresses");
    match addresses.len() {
        0 => {
            let error = FieldError::required(list.as_str(), "must contain at least 1 address");
            errors.push(error.declared(RuleWords::Detail("")));
        }
        many if many > ADDRESSES_MAX => {
            let error = FieldError::too_many(list.as_str(), many, ADDRESSES_MAX);
            errors.push(error.declared(RuleWords::Same));
        }
        _ => {}
    }
    for (at, address) in addresses.iter().map(|address| address.as_str().unwrap_or("")).enumerate() {
        let place = format!("{list}[{at}]");
        match kind {
            "IPv4" | "IPv6" if reading == Reading::Old => old_address(address, kind, &place, errors),
            "IPv4" => of_family(address, ip::legacy(address, &place, reading, errors), kind, (&list, &place), errors),
            "IPv6" => of_family(address, ip::canonical(address, &place, errors), kind, (&list, &place), errors),
            "FQDN" => domain_name(address, &place, wording, errors),
            _ => {}
        }
    }
    if let Some(name) = endpoint.get("nodeName").as_str() {
        invalid(names::subdomain(name, wording), format!("{path}.nodeName"), name, errors);
    }
    if let Some(name) = endpoint.get("hostname").as_str() {
        invalid(names::label(name, wording), format!("{path}.hostname"), name, errors);
    }
    hints(endpoint.get("hints"), path, wording, errors);
}

fn of_family(
    address: &str,
    ip: Option<IpAddr>,
    family: &str,
    (list, place): (&str, &str),
    errors: &mut Vec<FieldError>,
) {
    let Some(ip) = ip else { return };
    if ip::is_ipv4(ip) != (family == "IPv4") {
        errors.push(FieldError::invalid_text(list, address, format!("must be an {family} address")));
    }
    ip::endpoint(address, ip, place, errors);
}

/// Source: k8s.io/apimachinery pkg/util/validation/ip.go (v1.32), `IsValidIPv4Address`, `IsValidIPv6Address`.
fn old_address(address: &str, family: &str, place: &str, errors: &mut Vec<FieldError>) {
    let read = ip::parse(address);
    if read.is_none_or(|ip| ip::is_ipv4(ip) != (family == "IPv4")) {
        errors.push(FieldError::invalid_text(place, address, format!("must be a valid {family} address")));
    }
    match read {
        Some(ip) => ip::endpoint(address, ip, place, errors),
        None => errors.push(FieldError::invalid_text(place, address, "must be a valid IP address")),
    }
}

/// Source: k8s.io/apimachinery pkg/util/validation/validation.go (v1.34), `IsFullyQualifiedDomainName`.
fn domain_name(name: &str, place: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    if name.is_empty() {
        errors.push(FieldError::required(place, ""));
        return;
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let problems = names::subdomain(name, wording);
    if !problems.is_empty() {
        errors.push(FieldError::invalid_text(place, name, problems.join(",")));
    } else if !name.contains('.') {
        let why = "should be a domain with at least two segments separated by dots";
        errors.push(FieldError::invalid_text(place, name, why));
    } else if let Some((label, problems)) =
        name.split('.').map(|label| (label, names::label(label, wording))).find(|(_, problems)| !problems.is_empty())
    {
        errors.push(FieldError::invalid_text(place, label, problems.join(",")));
    }
}

fn hints(hints: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    for field in ["forZones", "forNodes"] {
        let list = hints.get(field).items();
        let path = format!("{path}.hints.{field}");
        if list.len() > HINTS_MAX {
            errors.push(FieldError::too_many(path.as_str(), list.len(), HINTS_MAX));
            return;
        }
        for (at, hint) in list.iter().enumerate() {
            let (name, path) = (text(hint, "name"), format!("{path}[{at}].name"));
            if list[..at].iter().any(|other| text(other, "name") == name) {
                errors.push(FieldError::duplicate(path.as_str(), hint.get("name")));
            }
            let problems =
                if field == "forZones" { names::label_value(name, wording) } else { names::subdomain(name, wording) };
            invalid(problems, &path, name, errors);
        }
    }
}
