//! Validation of ServiceCIDRs and IPAddresses: where the addresses of Services come from, and whose they are.
//!
//! Mirrors pkg/apis/networking/validation/validation.go (v1.34). Inputs: an object, and the stored one. Outputs: what
//! is wrong with it.

use alloc::format;
use alloc::vec::Vec;

use super::{FieldError, IMMUTABLE, RuleWords, invalid, ip, path_segment, text};
use crate::objects::Json;
use crate::objects::names::{self, Wording};

const CIDRS: &str = "spec.cidrs";

/// Source: validation.go, `validateIPAddressParentReference`.
pub(super) fn parent(tree: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let parent = tree.at(&["spec", "parentRef"]);
    if parent.is_null() {
        errors.push(FieldError::required("spec.parentRef", "").declared(RuleWords::Same));
        return;
    }
    let group = text(parent, "group");
    if !group.is_empty() {
        invalid(names::subdomain(group, wording), "spec.parentRef.group", group, errors);
    }
    for field in ["resource", "name"] {
        let (own, path) = (text(parent, field), format!("spec.parentRef.{field}"));
        if own.is_empty() {
            errors.push(FieldError::required(path, "").declared(RuleWords::Same));
        } else {
            path_segment(own, path, "", errors);
        }
    }
    let namespace = text(parent, "namespace");
    invalid(names::path_segment(namespace), "spec.parentRef.namespace", namespace, errors);
}

/// Source: validation.go, `ValidateIPAddressUpdate`.
pub(super) fn same_parent(tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    const PARENT: [&str; 2] = ["spec", "parentRef"];
    if tree.at(&PARENT) != old.at(&PARENT) {
        let error = FieldError::invalid("spec.parentRef", tree.at(&PARENT), IMMUTABLE);
        errors.push(error.declared(RuleWords::NoValue));
    }
}

/// Source: validation.go, `validateServiceCIDRSpec`.
pub(super) fn networks(tree: &Json, errors: &mut Vec<FieldError>) {
    let own = tree.at(&["spec", "cidrs"]);
    if own.is_empty() {
        errors.push(FieldError::required(CIDRS, "at least one CIDR required"));
        return;
    }
    if own.items().len() > 2 {
        // Upstream prints the specification.
        errors.push(FieldError::invalid(CIDRS, &crate::json!({"CIDRs": own.clone()}), "may only hold up to 2 values"));
        return;
    }
    let mut check = |(at, network): (usize, &Json)| {
        let read = ip::canonical_cidr(network.as_str().unwrap_or(""), &format!("{CIDRS}[{at}]"), errors);
        read.map(ip::is_ipv4)
    };
    let families: Vec<Option<bool>> = own.items().iter().enumerate().map(&mut check).collect();
    if let [Some(one), Some(other)] = families[..]
        && one == other
    {
        let why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
        errors.push(FieldError::invalid(CIDRS, own, why));
    }
}

/// Checks a change: a network of the other family may come to the one that is there.
///
/// Source: validation.go, `ValidateServiceCIDRUpdate`.
pub(super) fn grown_networks(tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    let (own, known) = (tree.at(&["spec", "cidrs"]), old.at(&["spec", "cidrs"]));
    let counts = (known.items().len(), own.items().len());
    if counts.0 != counts.1 && counts != (1, 2) {
        errors.push(FieldError::invalid(CIDRS, own, IMMUTABLE));
        return;
    }
    for (at, (new, _)) in own.items().iter().zip(known.items()).enumerate().filter(|(_, (new, known))| new != known) {
        errors.push(FieldError::invalid(format!("{CIDRS}[{at}]"), new, IMMUTABLE));
    }
    if counts == (1, 2) {
        networks(tree, errors);
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::{grown_networks, networks, parent};
    use crate::json;
    use crate::objects::Json;
    use crate::objects::names::Wording;

    fn told(check: impl FnOnce(&mut Vec<super::FieldError>)) -> Vec<String> {
        let mut errors = Vec::new();
        check(&mut errors);
        errors.iter().map(|error| error.text()).collect()
    }

    #[test]
    fn services_have_one_network_of_each_family() {
        let of = |cidrs: Json| json!({"spec": {"cidrs": cidrs}});
        for (cidrs, why) in [
            (json!([]), "spec.cidrs: Required value: at least one CIDR required"),
            (
                json!(["10.0.0.0/8", "fd00::/64", "fd01::/64"]),
                "spec.cidrs: Invalid value: {\"CIDRs\":[\"10.0.0.0/8\",\"fd00::/64\",\"fd01::/64\"]}: may only hold up \
                    to 2 values",
            ),
            (
                json!(["no"]),
                "spec.cidrs[0]: Invalid value: \"no\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or \
                    2001:db8::/64)",
            ),
            (
                json!(["FD00::/64"]),
                "spec.cidrs[0]: Invalid value: \"FD00::/64\": must be in canonical form (\"fd00::/64\")",
            ),
            (
                json!(["10.0.0.0/8", "11.0.0.0/8"]),
                "spec.cidrs: Invalid value: [\"10.0.0.0/8\",\"11.0.0.0/8\"]: may specify no more than one IP for each \
                 IP family, i.e 192.168.0.0/24 and 2001:db8::/64",
            ),
        ] {
            assert_eq!(told(|errors| networks(&of(cidrs), errors)), [why]);
        }
        let old = of(json!(["10.0.0.0/8"]));
        assert_eq!(told(|errors| grown_networks(&of(json!(["10.0.0.0/8", "fd00::/64"])), &old, errors)), [""; 0]);
        for (cidrs, why) in [
            (json!(["11.0.0.0/8"]), "spec.cidrs[0]: Invalid value: \"11.0.0.0/8\": field is immutable"),
            (json!([]), "spec.cidrs: Invalid value: []: field is immutable"),
        ] {
            assert_eq!(told(|errors| grown_networks(&of(cidrs), &old, errors)), [why]);
        }
    }

    #[test]
    fn an_address_is_somebodys() {
        let of = |reference: Json| json!({"spec": {"parentRef": reference}});
        let check = |tree: Json| told(|errors| parent(&tree, Wording::Characters, errors));
        assert_eq!(check(json!({})), ["spec.parentRef: Required value"]);
        assert_eq!(check(of(json!({"resource": "services", "name": "a", "namespace": "b"}))), [""; 0]);
        assert_eq!(
            check(of(json!({"resource": "a/b", "namespace": "."}))),
            [
                "spec.parentRef.resource: Invalid value: \"a/b\": may not contain '/'",
                "spec.parentRef.name: Required value",
                "spec.parentRef.namespace: Invalid value: \".\": may not be '.'",
            ]
        );
    }
}
