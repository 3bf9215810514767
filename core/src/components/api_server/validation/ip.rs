//! IP addresses in fields of objects.
//!
//! Mirrors k8s.io/apimachinery pkg/util/validation/ip.go and pkg/apis/core/validation/validation.go (v1.34; v1.32 for
//! the older words). Inputs: texts. Outputs: addresses, errors and warnings. Left out on purpose: leading zeros in the
//! IPv4 part of an IPv6 address.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::FieldError;
use crate::profile::Settings;

pub(super) const NO_ADDRESS: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/// How the release reads addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Reading {
    /// Leniently everywhere, without warnings (to 1.32).
    Old,
    /// Leniently in old fields, with warnings (from 1.33).
    Legacy,
    /// As the standards say in new objects (from 1.36).
    Strict,
}

impl Reading {
    pub(in super::super) fn of(settings: &Settings) -> Self {
        match settings.profile() {
            profile if profile.is("strict-cidrs") => Self::Strict,
            profile if profile.is("unusual-addresses-warn") => Self::Legacy,
            _ => Self::Old,
        }
    }
}

/// Reads an address; leading zeros of the parts of an IPv4 address are skipped.
///
/// Source: k8s.io/utils net/parse.go, `ParseIPSloppy`.
pub(in super::super) fn parse(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    }
    let parts: Vec<&str> = text.split('.').collect();
    let read = |part: &&str| {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| part.parse::<u8>().ok()).flatten()
    };
    let parts: Vec<u8> = parts.iter().filter(|_| parts.len() == 4).map_while(read).collect();
    <[u8; 4]>::try_from(parts).ok().map(|parts| IpAddr::V4(Ipv4Addr::from(parts)))
}

/// Tells whether Go counts an address as one of IPv4: mapped ones are.
pub(in super::super) fn is_ipv4(ip: IpAddr) -> bool {
    matches!(ip.to_canonical(), IpAddr::V4(_))
}

/// Checks an address in a field that was always read leniently.
pub(super) fn legacy(text: &str, path: &str, reading: Reading, errors: &mut Vec<FieldError>) -> Option<IpAddr> {
    let Some(ip) = parse(text) else {
        errors.push(FieldError::invalid_text(path, text, NO_ADDRESS));
        return None;
    };
    if reading == Reading::Strict && strict(text, ip, path, errors) { None } else { Some(ip) }
}

fn strict(text: &str, ip: IpAddr, path: &str, errors: &mut Vec<FieldError>) -> bool {
    let before = errors.len();
    if text.parse::<IpAddr>().is_err() {
        errors.push(FieldError::invalid_text(path, text, "must not have leading 0s"));
    }
    if ip != ip.to_canonical() {
        errors.push(FieldError::invalid_text(path, text, "must not be an IPv4-mapped IPv6 address"));
    }
    errors.len() > before
}

/// Checks an address in a field that takes the canonical form alone.
pub(super) fn canonical(text: &str, path: &str, errors: &mut Vec<FieldError>) -> Option<IpAddr> {
    let ip = legacy(text, path, Reading::Strict, errors)?;
    let wanted = format!("{}", ip.to_canonical());
    if text != wanted {
        errors.push(FieldError::invalid_text(path, text, format!("must be in canonical form ({wanted:?})")));
        return None;
    }
    Some(ip)
}

/// Says what is wrong with a name that is an address. Source: pkg/apis/networking/validation/validation.go (v1.34),
/// `ValidateIPAddressName`.
pub(super) fn name(name: &str) -> Vec<String> {
    let mut errors = Vec::new();
    canonical(name, "", &mut errors);
    errors.into_iter().map(|error| error.detail).collect()
}

/// Checks a network in a field that takes the canonical form alone.
///
/// Source: k8s.io/apimachinery pkg/util/validation/ip.go (v1.34), `IsValidCIDR`.
pub(super) fn canonical_cidr(text: &str, path: &str, errors: &mut Vec<FieldError>) -> Option<IpAddr> {
    let before = errors.len();
    let (address, bits) = legacy_cidr(text, path, Reading::Strict, errors)?;
    let wanted = format!("{address}/{bits}");
    if errors.len() == before && text != wanted {
        errors.push(FieldError::invalid_text(path, text, format!("must be in canonical form ({wanted:?})")));
    }
    Some(address)
}

/// Checks that an address may be that of an endpoint. Source: validation.go (v1.34), `ValidateEndpointIP`.
pub(super) fn endpoint(text: &str, ip: IpAddr, path: &str, errors: &mut Vec<FieldError>) {
    let ip = ip.to_canonical();
    let (is_link_local, is_local_multicast) = match ip {
        IpAddr::V4(ip) => (ip.is_link_local(), ip.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(ip) => (ip.is_unicast_link_local(), ip.segments()[0] & 0xff0f == 0xff02),
    };
    let whys = [
        (ip.is_unspecified(), format!("may not be unspecified ({text})")),
        (ip.is_loopback(), String::from("may not be in the loopback range (127.0.0.0/8, ::1/128)")),
        (is_link_local, String::from("may not be in the link-local range (169.254.0.0/16, fe80::/10)")),
        (is_local_multicast, String::from("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")),
    ];
    for (_, why) in whys.into_iter().filter(|(holds, _)| *holds) {
        errors.push(FieldError::invalid_text(path, text, why));
    }
}

/// Says that an address is not written as it should be.
pub(in super::super) fn warning(text: &str, path: &str) -> Option<String> {
    let ip = parse(text)?;
    if text.parse::<IpAddr>().is_err() || ip != ip.to_canonical() {
        return Some(format!(
            "{path}: non-standard IP address {text:?} will be considered invalid in a future Kubernetes release: use \
             \"{}\"",
            ip.to_canonical()
        ));
    }
    (format!("{ip}") != text)
        .then(|| format!("{path}: IPv6 address {text:?} should be in RFC 5952 canonical format (\"{ip}\")"))
}

/// Says that a text is no network. Source: pkg/apis/core/validation (v1.34), `IsValidCIDR`.
pub(super) const NO_CIDR: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// Reads a CIDR leniently. Source: k8s.io/utils net/parse.go, `ParseCIDRSloppy`.
pub(super) fn read_cidr(text: &str) -> Option<(IpAddr, u32)> {
    let (address, bits) = text.split_once('/')?;
    let address = parse(address)?;
    let is_number = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
    let bits: u32 = bits.parse().ok().filter(|_| is_number)?;
    (bits <= if address.is_ipv4() { 32 } else { 128 }).then_some((address, bits))
}

/// Checks a network in a field that was always read leniently.
///
/// Source: k8s.io/apimachinery pkg/util/validation/ip.go (v1.34), `IsValidCIDRForLegacyField`.
pub(super) fn legacy_cidr(
    text: &str,
    path: &str,
    reading: Reading,
    errors: &mut Vec<FieldError>,
) -> Option<(IpAddr, u32)> {
    let Some((address, bits)) = read_cidr(text) else {
        errors.push(FieldError::invalid_text(path, text, NO_CIDR));
        return None;
    };
    if reading == Reading::Strict {
        let (written, length) = text.split_once('/').unwrap_or_default();
        let why = if written.parse::<IpAddr>().is_err() || length.len() > 1 && length.starts_with('0') {
            Some("must not have leading 0s in IP or prefix length")
        } else if address != address.to_canonical() {
            Some("must not have an IPv4-mapped IPv6 address")
        } else {
            (network(address, bits) != Some(address)).then_some("must not have bits set beyond the prefix length")
        };
        errors.extend(why.map(|why| FieldError::invalid_text(path, text, why)));
    }
    Some((address, bits))
}

/// Tells whether a network is a part of another, and not all of it.
pub(super) fn is_strictly_within((address, bits): (IpAddr, u32), (whole, most): (IpAddr, u32)) -> bool {
    let is_part = address.is_ipv4() == whole.is_ipv4() && network(address, most) == network(whole, most);
    is_part && most < bits
}

/// Returns the first address of the network of an address with so many bits.
fn network(address: IpAddr, bits: u32) -> Option<IpAddr> {
    Some(match address {
        IpAddr::V4(ip) => {
            let mask = u32::MAX.checked_shl(32_u32.checked_sub(bits)?).unwrap_or(0);
            IpAddr::from((u32::from(ip) & mask).to_be_bytes())
        }
        IpAddr::V6(ip) => {
            let mask = u128::MAX.checked_shl(128_u32.checked_sub(bits)?).unwrap_or(0);
            IpAddr::from((u128::from(ip) & mask).to_be_bytes())
        }
    })
}

/// Returns the network of an address with so many bits, as it is written.
pub(in super::super) fn network_of(address: IpAddr, bits: &str) -> Option<String> {
    let bits: u32 = bits.parse().ok()?;
    Some(format!("{}/{bits}", network(address, bits)?))
}

/// Says that a CIDR's address is not the first of its network.
pub(in super::super) fn ambiguous_cidr(text: &str) -> Option<String> {
    let (address, bits) = text.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let network = network_of(address, bits)?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    (!network.starts_with(&format!("{address}/"))).then(|| {
        format!("CIDR value {text:?} is ambiguous in this context (should be {network:?} or \"{address}/{most}\"?)")
    })
}

#[cfg(test)]
mod tests {
    use super::{ambiguous_cidr, canonical, endpoint, legacy, parse, warning};
    use crate::components::api_server::validation::ip::Reading;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    #[test]
    fn addresses_are_read_leniently_and_strictly() {
        assert_eq!(parse("010.002.003.004").unwrap().to_string(), "10.2.3.4");
        for text in ["", "1.2.3", "1.2.3.256", "a", "1..2.3", "1.2.3.4.5", "+1.2.3.4"] {
            assert_eq!(parse(text), None, "{text}");
        }
        let told = |text: &str| {
            let mut errors = Vec::new();
            legacy(text, "p", Reading::Strict, &mut errors);
            canonical(text, "q", &mut errors);
            errors.iter().map(|error| error.text()).collect::<Vec<String>>()
        };
        assert_eq!(told("2001:db8::1"), Vec::<String>::new());
        assert_eq!(
            told("010.0.0.1"),
            [
                "p: Invalid value: \"010.0.0.1\": must not have leading 0s",
                "q: Invalid value: \"010.0.0.1\": must not have leading 0s"
            ]
        );
        assert_eq!(
            told("2001:DB8::1"),
            ["q: Invalid value: \"2001:DB8::1\": must be in canonical form (\"2001:db8::1\")"]
        );
    }

    #[test]
    fn endpoints_have_no_special_addresses() {
        for (text, why) in [
            ("0.0.0.0", "may not be unspecified (0.0.0.0)"),
            ("127.0.0.1", "may not be in the loopback range (127.0.0.0/8, ::1/128)"),
            ("fe80::1", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"),
            ("224.0.0.1", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"),
        ] {
            let mut errors = Vec::new();
            endpoint(text, parse(text).unwrap(), "p", &mut errors);
            assert_eq!(errors.iter().map(|error| error.detail.as_str()).collect::<Vec<_>>(), [why]);
        }
    }

    #[test]
    fn unusual_forms_are_warned_of() {
        assert_eq!(warning("10.0.0.1", "p"), None);
        assert_eq!(
            warning("::ffff:1.2.3.4", "p").unwrap(),
            "p: non-standard IP address \"::ffff:1.2.3.4\" will be considered invalid in a future Kubernetes release: \
             use \"1.2.3.4\""
        );
        assert_eq!(
            warning("FD00::1", "p").unwrap(),
            "p: IPv6 address \"FD00::1\" should be in RFC 5952 canonical format (\"fd00::1\")"
        );
    }

    #[test]
    fn a_network_whose_address_is_not_its_first_is_ambiguous() {
        assert_eq!(ambiguous_cidr("10.0.0.0/24"), None);
        assert_eq!(ambiguous_cidr("fd00::/64"), None);
        assert_eq!(
            ambiguous_cidr("10.0.0.1/24").unwrap(),
            "CIDR value \"10.0.0.1/24\" is ambiguous in this context (should be \"10.0.0.0/24\" or \"10.0.0.1/32\"?)"
        );
    }
}
