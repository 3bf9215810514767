//! Validation of what only Pods for Windows have, and of what they cannot have.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34): `validateWindowsSecurityContextOptions`,
//! `validateWindowsHostProcessPod`, `validateWindows` and `validateLinux`. Inputs: the specification of a Pod. Outputs:
//! errors. Left out on purpose: `--allow-privileged=false`.

use alloc::format;
use alloc::vec::Vec;

use super::{FieldError, containers, invalid};
use crate::objects::Json;
use crate::objects::names::{self, Wording};

/// Most bytes of a credential specification. Source: validation.go (v1.34), `maxGMSACredentialSpecLength`.
const CREDENTIAL_BYTES: usize = 64 * 1024;
/// Source: as above, `maxRunAsUserNameDomainLength`, which is too long already.
const DOMAIN_BYTES: usize = 256;
/// Source: as above, `maxRunAsUserNameUserLength`.
const USER_BYTES: usize = 104;
const NOT_IN_DOMAINS: &str = "\\/:*?\"<>|";
const NOT_IN_USERS: &str = "\"/\\:;|=,+*?<>@[]";

/// Checks the options of a container or a Pod.
pub(super) fn options(options: &Json, path: &str, wording: Wording, errors: &mut Vec<FieldError>) {
    if let Some(name) = options.get("gmsaCredentialSpecName").as_str() {
        invalid(names::subdomain(name, wording), format!("{path}.gmsaCredentialSpecName"), name, errors);
    }
    if let Some(own) = options.get("gmsaCredentialSpec").as_str() {
        let why = match own.len() {
            0 => Some("gmsaCredentialSpec cannot be an empty string"),
            length if length > CREDENTIAL_BYTES => Some("gmsaCredentialSpec size must be under 64 KiB"),
            _ => None,
        };
        errors.extend(why.map(|why| FieldError::invalid_text(format!("{path}.gmsaCredentialSpec"), own, why)));
    }
    if let Some(name) = options.get("runAsUserName").as_str() {
        let path = format!("{path}.runAsUserName");
        for why in wrong_with_user(name) {
            errors.push(FieldError::invalid_text(path.as_str(), name, why));
        }
    }
}

/// Says what is wrong with the name of a user: `DOMAIN\USER`, or a user alone.
fn wrong_with_user(name: &str) -> Vec<&'static str> {
    if name.is_empty() {
        return Vec::from(["runAsUserName cannot be an empty string"]);
    }
    if name.chars().any(|letter| letter.is_ascii_control()) {
        return Vec::from(["runAsUserName cannot contain control characters"]);
    }
    let parts: Vec<&str> = name.split('\\').collect();
    let (domain, user) = match parts.as_slice() {
        [user] => (None, *user),
        [domain, user] => (Some(*domain), *user),
        _ => return Vec::from(["runAsUserName cannot contain more than one backslash"]),
    };
    let is_domain = |domain: &str| is_net_bios(domain) || is_dns(domain);
    let checks = [
        (
            domain.is_some_and(|own| own.len() >= DOMAIN_BYTES),
            "runAsUserName's Domain length must be under 256 characters",
        ),
        (
            domain.is_some_and(|own| !is_domain(own)),
            "runAsUserName's Domain doesn't match the NetBios nor the DNS format",
        ),
        (user.is_empty(), "runAsUserName's User cannot be empty"),
        (user.len() > USER_BYTES, "runAsUserName's User length must not be longer than 104 characters"),
        (
            !user.is_empty() && user.chars().all(|letter| matches!(letter, '.' | ' ')),
            "runAsUserName's User cannot contain only periods or spaces",
        ),
        (
            user.chars().any(|letter| NOT_IN_USERS.contains(letter)),
            "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]",
        ),
    ];
    checks.into_iter().filter(|(is_wrong, _)| *is_wrong).map(|(_, why)| why).collect()
}

/// Source: validation.go (v1.34), `validWindowsUserDomainDNSRegex`.
fn is_dns(domain: &str) -> bool {
    domain.split('.').all(|label| {
        let is_inner = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        (1..=63).contains(&label.len())
            && label.chars().all(is_inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    })
}

/// Source: validation.go (v1.34), `validNetBiosRegex`.
fn is_net_bios(domain: &str) -> bool {
    !domain.starts_with('.')
        && (1..=15).contains(&domain.chars().count())
        && !domain.chars().any(|letter| NOT_IN_DOMAINS.contains(letter))
}

/// Checks that either all containers are processes of the machine or none.
pub(super) fn host_processes(spec: &Json, errors: &mut Vec<FieldError>) {
    let of = |tree: &Json| tree.at(&["securityContext", "windowsOptions", "hostProcess"]).as_bool();
    let of_pod = of(spec);
    let (mut count, mut of_machine) = (0, 0);
    for (path, container) in containers(spec) {
        let own = of(container);
        if let (Some(pod), Some(own)) = (of_pod, own)
            && pod != own
        {
            let field = format!("{path}.securityContext.windowsOptions.hostProcess");
            let why = format!("pod hostProcess value must be identical if both are specified, was {pod}");
            errors.push(FieldError::invalid(field, &Json::from(own), why));
        }
        count += 1;
        of_machine += usize::from(own.or(of_pod) == Some(true));
    }
    if of_machine == 0 {
        return;
    }
    if of_machine != count {
        let why = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        errors.push(FieldError::invalid_text("spec", "", why));
    }
    if spec.get("hostNetwork").as_bool() != Some(true) {
        let why = "hostNetwork must be true if pod contains any hostProcess containers";
        errors.push(FieldError::invalid("spec.hostNetwork", &Json::from(false), why));
    }
}

/// Checks that a Pod for one operating system has nothing that only the other has.
pub(super) fn of_system(spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let context = spec.get("securityContext");
    match spec.at(&["os", "name"]).as_str() {
        Some("linux") => {
            let why = "windows options cannot be set for a linux pod";
            if !context.get("windowsOptions").is_null() {
                errors.push(FieldError::forbidden("spec.securityContext.windowsOptions", why));
            }
            let has = |own: &Json| !own.at(&["securityContext", "windowsOptions"]).is_null();
            for (path, _) in containers(spec).filter(|(_, own)| has(own)) {
                errors.push(FieldError::forbidden(format!("{path}.securityContext.windowsOptions"), why));
            }
        }
        Some("windows") => without_linux(spec, wording, errors),
        _ => {}
    }
}

fn without_linux(spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let mut refuse = |path: alloc::string::String| {
        errors.push(FieldError::forbidden(path, "cannot be set for a windows pod"));
    };
    let context = spec.get("securityContext");
    let mut fields = [
        "appArmorProfile",
        "seLinuxOptions",
        "hostUsers",
        "hostPID",
        "hostIPC",
        "seccompProfile",
        "fsGroup",
        "fsGroupChangePolicy",
        "sysctls",
        "shareProcessNamespace",
        "runAsUser",
        "runAsGroup",
        "supplementalGroups",
        "supplementalGroupsPolicy",
        "seLinuxChangePolicy",
    ];
    if wording.is_declared() {
        // Source: validation.go (v1.37), `validateWindows`: what is not of the security context comes last.
        fields.sort_by_key(|field| matches!(*field, "hostUsers" | "hostPID" | "hostIPC" | "shareProcessNamespace"));
    }
    for field in fields {
        let (is_set, path) = match field {
            "hostUsers" | "shareProcessNamespace" => (!spec.get(field).is_null(), format!("spec.{field}")),
            "hostPID" | "hostIPC" => (spec.get(field).as_bool() == Some(true), format!("spec.{field}")),
            "sysctls" => (!context.get(field).is_empty(), format!("spec.securityContext.{field}")),
            _ => (!context.get(field).is_null(), format!("spec.securityContext.{field}")),
        };
        if is_set {
            refuse(path);
        }
    }
    for (path, container) in containers(spec) {
        for field in [
            "appArmorProfile",
            "seLinuxOptions",
            "seccompProfile",
            "capabilities",
            "readOnlyRootFilesystem",
            "privileged",
            "allowPrivilegeEscalation",
            "procMount",
            "runAsUser",
            "runAsGroup",
        ] {
            if !container.at(&["securityContext", field]).is_null() {
                refuse(format!("{path}.securityContext.{field}"));
            }
        }
    }
}
