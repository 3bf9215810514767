//! Sysctls of pods: those that any pod may set, those that a configuration allows, and in which namespace each is.
//!
//! Mirrors pkg/kubelet/sysctl and k8s.io/component-helpers node/util/sysctl/namespace.go (v1.34, v1.37). Pure. Inputs:
//! names and patterns, the specification of a pod. Outputs: the kubelet's messages.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::objects::names::{SAFE_SYSCTLS, is_ipc_sysctl, sysctl_with_dots};
use crate::objects::{Json, Text};
use crate::profile::Profile;

/// Source: pkg/apis/core/validation/validation.go (v1.34), `SysctlMaxLength` and `SysctlContainSlashFmt`.
const SYSCTL_LENGTH_MAX: usize = 253;
const SYSCTL_PATTERN: &str = "([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]";

/// Returns the name of the namespace that a sysctl or the beginning of a pattern belongs to, if it is known.
///
/// Source: k8s.io/component-helpers node/util/sysctl/namespace.go (v1.34, v1.37), `namespaceOf`.
fn namespace(name: &str, profile: &Profile) -> Option<&'static str> {
    let with_users = profile.is("users-have-sysctls");
    match name {
        "kernel.domainname" if with_users => Some("UTS"),
        _ if is_ipc_sysctl(name) => Some("IPC"),
        _ if name.starts_with("net.") => Some("Net"),
        _ if with_users && name.starts_with("user.") => Some("User"),
        _ => None,
    }
}

/// Returns a pattern as it is compared, without its star.
fn beginning(pattern: &str) -> String {
    let name = sysctl_with_dots(pattern);
    String::from(name.split('*').next().unwrap_or_default())
}

/// Returns why a pattern of a configuration is refused.
///
/// Source: pkg/kubelet/sysctl/allowlist.go (v1.34), `NewAllowlist`.
pub(super) fn wrong_pattern(pattern: &str, profile: &Profile) -> Option<String> {
    if !is_pattern(pattern) {
        return Some(format!(
            "sysctl {pattern:?} must have at most {SYSCTL_LENGTH_MAX} characters and match regex {SYSCTL_PATTERN}"
        ));
    }
    let name = beginning(pattern);
    let is_known = namespace(&name, profile).is_some();
    (!is_known).then(|| format!("the sysctls {name:?} are not known to be namespaced"))
}

/// Tells whether a pod has a sysctl for itself.
pub(super) fn is_namespaced(name: &str, profile: &Profile) -> bool {
    namespace(&sysctl_with_dots(name), profile).is_some()
}

/// Tells whether a text has the form of a sysctl's name.
pub(super) fn is_name(text: &str) -> bool {
    is_pattern(text) && !text.contains('*')
}

fn is_pattern(pattern: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    let is_outer = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let parts: Vec<&[u8]> = pattern.split(['.', '/']).map(str::as_bytes).collect();
    let Some((last, before)) = parts.split_last() else { return false };
    let is_whole = |part: &&[u8]| match part {
        [] => false,
        [first, .., end] => is_outer(*first) && is_outer(*end) && part.iter().all(|byte| is_inner(*byte)),
        [one] => is_outer(*one),
    };
    let ends_well = match last {
        [] => false,
        [one] => is_outer(*one) || *one == b'*',
        [first, middle @ .., end] => {
            is_outer(*first) && middle.iter().all(|byte| is_inner(*byte)) && (is_outer(*end) || *end == b'*')
        }
    };
    pattern.len() <= SYSCTL_LENGTH_MAX && before.iter().all(is_whole) && ends_well
}

/// Finds a sysctl that a pod may not set.
///
/// Source: pkg/kubelet/sysctl/allowlist.go (v1.34, v1.37), `validateSysctl`.
pub(super) fn forbidden(spec: &Json, allowed: &[Text], profile: &Profile) -> Option<String> {
    let is = |path: &str| spec.get(path).as_bool() == Some(true);
    let mut wanted = spec.at(&["securityContext", "sysctls"]).items().iter();
    wanted.find_map(|sysctl| {
        let name = sysctl_with_dots(sysctl.get("name").as_str().unwrap_or_default());
        let of_pattern = || {
            let patterns = allowed.iter().filter(|pattern| pattern.contains('*'));
            let found = patterns.map(|pattern| beginning(pattern)).find(|own| name.starts_with(own.as_str()));
            found.and_then(|own| namespace(&own, profile))
        };
        let is_listed = is_safe(&name, profile) || allowed.iter().any(|own| sysctl_with_dots(own) == name);
        let found = if is_listed { namespace(&name, profile) } else { of_pattern() };
        let Some(namespace) = found else { return Some(format!("forbidden sysctl: {name:?} not allowlisted")) };
        let is_shared = match namespace {
            "IPC" => is("hostIPC"),
            "Net" => is("hostNetwork"),
            "User" => spec.get("hostUsers").as_bool() != Some(false),
            _ => false,
        };
        let text = || format!("forbidden sysctl: {name:?} not allowed with host {namespace} enabled");
        is_shared.then(text)
    })
}

/// Source: pkg/kubelet/sysctl/safe_sysctls.go (v1.34), for kernels since 4.15; of newer releases v1.32 and v1.37.
fn is_safe(name: &str, profile: &Profile) -> bool {
    let known = match profile {
        profile if profile.is("users-have-sysctls") => 14,
        profile if profile.is("tcp-buffers-are-safe-sysctls") => 12,
        _ => 10,
    };
    SAFE_SYSCTLS[..known].contains(&name)
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::{forbidden, wrong_pattern};
    use crate::json;
    use crate::objects::Text;
    use crate::profile::{Profile, Release};

    fn at(minor: u16) -> Profile {
        Profile::default().at_release(Release::new(minor, 0))
    }

    #[test]
    fn a_pattern_names_sysctls_that_a_pod_has_for_itself() {
        for (pattern, minor, begins) in [
            ("net.core.somaxconn", 34, ""),
            ("kernel.msg*", 34, ""),
            ("net/ipv4/*", 34, ""),
            ("kernel.shmm*", 34, "kernel.shmm"),
            ("vm.swappiness", 34, "vm.swappiness"),
            ("vm.*", 37, "vm."),
            ("kernel.domainname", 36, "kernel.domainname"),
            ("kernel.domainname", 37, ""),
            ("user.*", 36, "user."),
            ("user.*", 37, ""),
            ("kernel.*.x", 37, "a regex"),
            ("Net.x", 37, "a regex"),
        ] {
            let said = wrong_pattern(pattern, &at(minor)).unwrap_or_default();
            let text = format!("the sysctls {begins:?} are not known to be namespaced");
            match begins {
                "a regex" => assert!(said.contains("must have at most 253 characters"), "{said}"),
                _ => assert_eq!(said, if begins.is_empty() { "" } else { text.as_str() }, "{pattern} {minor}"),
            }
        }
    }

    #[test]
    fn a_pod_that_shares_a_namespace_with_its_host_may_not_change_it() {
        let allowed = ["user.*", "kernel.msgmax", "net/core/*"].map(Text::from);
        let of = |name: &str, sharing: &str| {
            let mut spec = json!({"securityContext": {"sysctls": [{"name": name, "value": "1"}]}});
            if !sharing.is_empty() {
                spec.set(&[sharing], sharing != "hostUsers");
            }
            spec
        };
        for (name, sharing, minor, why) in [
            ("net.ipv4.tcp_rmem", "", 31, "not allowlisted"),
            ("net.ipv4.tcp_rmem", "hostIPC", 32, ""),
            ("net.ipv4.tcp_rmem", "hostNetwork", 32, "not allowed with host Net enabled"),
            ("net.ipv4.tcp_notsent_lowat", "", 36, "not allowlisted"),
            ("net.ipv4.tcp_notsent_lowat", "", 37, ""),
            ("kernel.msgmax", "hostIPC", 34, "not allowed with host IPC enabled"),
            ("kernel.msgmax", "hostNetwork", 34, ""),
            ("net.core.somaxconn", "hostNetwork", 34, "not allowed with host Net enabled"),
            ("net.core.somaxconn", "", 34, ""),
            ("user.max_user_namespaces", "", 37, "not allowed with host User enabled"),
            ("user.max_user_namespaces", "hostUsers", 37, ""),
            ("vm.swappiness", "", 37, "not allowlisted"),
        ] {
            let said = forbidden(&of(name, sharing), &allowed, &at(minor)).unwrap_or_default();
            let text = format!("forbidden sysctl: {name:?} {why}");
            assert_eq!(said, if why.is_empty() { "" } else { text.as_str() }, "{name} {sharing} {minor}");
        }
    }
}
