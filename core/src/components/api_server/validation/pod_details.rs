//! Validation of a Pod's claims, names, addresses and security context.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34), `ValidatePodSpec` and what it calls. Inputs: the
//! specification of a Pod. Outputs: errors.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::ip::{self, Reading};
use super::{FieldError, invalid, one_of, pod_resources, security, text, windows};
use crate::json;
use crate::objects::Json;
use crate::objects::names::{self, Wording};

/// Most bytes of the name of a sysctl. Source: validation.go (v1.34), `SysctlMaxLength`.
const SYSCTL_BYTES: usize = 253;

/// Most bytes of all search domains. Source: validation.go (v1.34), `MaxDNSSearchListChars`.
const SEARCH_CHARACTERS: usize = 2048;

/// Checks what of dynamic resources the Pod claims. Source: validation.go (v1.34), `validatePodResourceClaim`.
pub(super) fn claims(spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let mut seen: Vec<&str> = Vec::new();
    for (at, claim) in spec.get("resourceClaims").items().iter().enumerate() {
        let path = format!("spec.resourceClaims[{at}]");
        let name = text(claim, "name");
        if name.is_empty() {
            errors.push(FieldError::required(format!("{path}.name"), ""));
        } else if seen.contains(&name) {
            errors.push(FieldError::duplicate(format!("{path}.name"), &Json::from(name)));
        } else {
            invalid(names::label(name, wording), format!("{path}.name"), name, errors);
            seen.push(name);
        }
        let (own, template) = (claim.get("resourceClaimName"), claim.get("resourceClaimTemplateName"));
        let why = match (own.is_null(), template.is_null()) {
            (false, false) => {
                Some("at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")
            }
            (true, true) => Some("must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"),
            _ => None,
        };
        if let Some(why) = why {
            errors.push(FieldError::invalid_of("PodResourceClaim", path.as_str(), claim, why));
        }
        for (value, field) in [(own, "resourceClaimName"), (template, "resourceClaimTemplateName")] {
            let Some(value) = value.as_str() else { continue };
            invalid(names::subdomain(value, wording), format!("{path}.{field}"), value, errors);
        }
    }
}

/// Checks the number of a user or group, if there is one.
/// Source: apimachinery pkg/util/validation/validation.go (v1.34), `IsValidUserID`.
pub(super) fn id(path: String, id: &Json, errors: &mut Vec<FieldError>) {
    id_below(path, id, i64::from(i32::MAX), errors);
}

/// Checks a user or a group, of which the greatest is given.
pub(super) fn id_below(path: String, id: &Json, most: i64, errors: &mut Vec<FieldError>) {
    if id.as_i64().is_some_and(|id| !(0..=most).contains(&id)) {
        errors.push(FieldError::invalid(path, id, format!("must be between 0 and {most}, inclusive")));
    }
}

/// Checks that containers do not share processes with each other and with the machine. Source: validation.go (v1.34),
/// `validatePodSpecSecurityContext`; `validateShareProcessNamespace` in v1.37.
fn shared_processes(spec: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let shares = spec.get("shareProcessNamespace");
    if shares.as_bool() == Some(true) && spec.get("hostPID").as_bool() == Some(true) {
        errors.push(FieldError::invalid(path, shares, "ShareProcessNamespace and HostPID cannot both be enabled"));
    }
}

/// Checks users, groups and sysctls. Source: validation.go (v1.34), `validatePodSpecSecurityContext`.
pub(super) fn security(spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let context = spec.get("securityContext");
    for field in ["fsGroup", "runAsUser", "runAsGroup"] {
        id(format!("spec.securityContext.{field}"), context.get(field), errors);
    }
    for (at, group) in context.get("supplementalGroups").items().iter().enumerate() {
        id(format!("spec.securityContext.supplementalGroups[{at}]"), group, errors);
    }
    if !wording.is_declared() {
        shared_processes(spec, "spec.securityContext.shareProcessNamespace", errors);
    }
    let mut seen: Vec<&str> = Vec::new();
    for (at, sysctl) in context.get("sysctls").items().iter().enumerate() {
        let path = format!("spec.securityContext.sysctls[{at}].name");
        let name = text(sysctl, "name");
        if name.is_empty() {
            errors.push(FieldError::required(path, ""));
        } else if !is_sysctl(name) {
            let why = format!(
                "must have at most {SYSCTL_BYTES} characters and match regex \
                 ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
            );
            errors.push(FieldError::invalid_text(path, name, why));
        } else if seen.contains(&name) {
            errors.push(FieldError::duplicate(path, &Json::from(name)));
        }
        let path = format!("spec.securityContext.sysctls[{at}].name");
        if let Some(why) = shared_with_machine(spec, name) {
            errors.push(FieldError::invalid_text(path, name, why));
        }
        seen.push(name);
    }
    let policy = |field: &str, policies: &[&str], errors: &mut Vec<FieldError>| {
        if let Some(policy) = context.get(field).as_str().filter(|policy| !policies.contains(policy)) {
            errors.push(FieldError::not_supported(format!("spec.securityContext.{field}"), policy, policies));
        }
    };
    policy("fsGroupChangePolicy", &["Always", "OnRootMismatch"], errors);
    let of = |field: &str| (context.get(field), format!("spec.securityContext.{field}"));
    let (profile, path) = of("seccompProfile");
    security::seccomp(profile, &path, errors);
    let (options, path) = of("windowsOptions");
    windows::options(options, &path, wording, errors);
    let (profile, path) = of("appArmorProfile");
    security::app_armor(profile, &path, errors);
    policy("supplementalGroupsPolicy", &["Merge", "Strict"], errors);
    // The other policy has a gate of its own, SELinuxMount, which no release has on by default.
    if let Some(policy) = context.get("seLinuxChangePolicy").as_str().filter(|policy| *policy != "Recursive") {
        errors.push(FieldError::not_supported("spec.securityContext.seLinuxChangePolicy", policy, &["Recursive"]));
    }
    if wording.is_declared() {
        shared_processes(spec, "spec.shareProcessNamespace", errors);
    }
}

/// Says why a Pod that shares a namespace with its machine cannot have a sysctl of it. Source: validation.go (v1.34),
/// `ValidateHostSysctl`; `GetNamespace`.
fn shared_with_machine(spec: &Json, name: &str) -> Option<&'static str> {
    let name = names::sysctl_with_dots(name);
    let shares = |field: &str| spec.get(field).as_bool() == Some(true);
    let is_of_net = name.starts_with("net.");
    let is_of_ipc = names::is_ipc_sysctl(&name);
    match () {
        () if is_of_net && shares("hostNetwork") => Some("may not be specified when 'hostNetwork' is true"),
        () if is_of_ipc && shares("hostIPC") => Some("may not be specified when 'hostIPC' is true"),
        () => None,
    }
}

fn is_sysctl(name: &str) -> bool {
    let is_part = |part: &str| {
        let inner = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
        let outer = |byte: Option<&u8>| byte.is_some_and(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'));
        let bytes = part.as_bytes();
        outer(bytes.first()) && outer(bytes.last()) && bytes.iter().all(|byte| inner(*byte))
    };
    name.len() <= SYSCTL_BYTES && name.split(['.', '/']).all(is_part)
}

/// Checks name servers and search domains. Source: validation.go (v1.34), `validatePodDNSConfig`.
pub(super) fn dns(
    spec: &Json,
    wording: Wording,
    (underscores, reading): (bool, Reading),
    errors: &mut Vec<FieldError>,
) {
    let config = spec.get("dnsConfig");
    let servers = config.get("nameservers");
    if text(spec, "dnsPolicy") == "None" && (config.is_null() || servers.is_empty()) {
        let (path, why) = match config.is_null() {
            true => ("spec.dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None"),
            false => {
                ("spec.dnsConfig.nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None")
            }
        };
        errors.push(FieldError::required(path, why));
        return;
    }
    if servers.items().len() > 3 {
        errors.push(FieldError::invalid(
            "spec.dnsConfig.nameservers",
            servers,
            "must not have more than 3 nameservers",
        ));
    }
    for (at, server) in servers.items().iter().enumerate() {
        ip::legacy(server.as_str().unwrap_or(""), &format!("spec.dnsConfig.nameservers[{at}]"), reading, errors);
    }
    let searches = config.get("searches");
    if searches.items().len() > 32 {
        errors.push(FieldError::invalid(
            "spec.dnsConfig.searches",
            searches,
            "must not have more than 32 search paths",
        ));
    }
    let characters = searches.items().iter().filter_map(Json::as_str).collect::<Vec<_>>().join(" ").len();
    if characters > SEARCH_CHARACTERS {
        let why =
            format!("must not have more than {SEARCH_CHARACTERS} characters (including spaces) in the search list");
        errors.push(FieldError::invalid("spec.dnsConfig.searches", searches, why));
    }
    for (at, search) in searches.items().iter().enumerate() {
        let search = search.as_str().unwrap_or("");
        if underscores && search == "." {
            continue;
        }
        let search = search.strip_suffix('.').unwrap_or(search);
        let problems = match underscores {
            true => names::subdomain_with_underscores(search),
            false => names::subdomain(search, wording),
        };
        invalid(problems, format!("spec.dnsConfig.searches[{at}]"), search, errors);
    }
    for (at, option) in config.get("options").items().iter().enumerate() {
        if text(option, "name").is_empty() {
            errors.push(FieldError::required(format!("spec.dnsConfig.options[{at}]"), "must not be empty"));
        }
    }
}

/// Source: validation.go (v1.34), `ValidateHostAliases`.
pub(super) fn host_aliases(spec: &Json, wording: Wording, reading: Reading, errors: &mut Vec<FieldError>) {
    for (at, alias) in spec.get("hostAliases").items().iter().enumerate() {
        ip::legacy(text(alias, "ip"), &format!("spec.hostAliases[{at}].ip"), reading, errors);
        for (number, name) in alias.get("hostnames").items().iter().enumerate() {
            let name = name.as_str().unwrap_or("");
            for problem in names::subdomain(name, wording) {
                let path = format!("spec.hostAliases[{at}].hostnames[{number}]");
                errors.push(FieldError::invalid_text(path, name, problem));
            }
        }
    }
}

/// Checks the names of other objects, the policy of preemption, the overhead and the operating system.
pub(super) fn names_and_policies(spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    for field in ["priorityClassName", "runtimeClassName"] {
        let name = text(spec, field);
        if !name.is_empty() || field == "runtimeClassName" && !spec.get(field).is_null() {
            invalid(names::subdomain(name, wording), format!("spec.{field}"), name, errors);
        }
    }
    let policy = spec.get("preemptionPolicy");
    if !policy.is_null() {
        let policies = ["PreemptLowerPriority", "Never"];
        one_of("spec.preemptionPolicy", policy.as_str().unwrap_or(""), &policies, errors);
    }
    let overhead = spec.get("overhead");
    if !overhead.is_null() {
        pod_resources::resources(&json!({"limits": overhead.clone()}), "spec.overhead", wording, errors);
    }
    let os = spec.get("os");
    let name = text(os, "name");
    if !os.is_null() && name.is_empty() {
        errors.push(FieldError::required("spec.os.name", ""));
    } else if !os.is_null() && !["linux", "windows"].contains(&name) {
        errors.push(FieldError::not_supported("spec.os", name, &["linux", "windows"]));
    }
    windows::of_system(spec, wording, errors);
}
