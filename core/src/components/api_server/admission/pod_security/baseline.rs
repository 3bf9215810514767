//! The checks of the level baseline.
//!
//! Mirrors k8s.io/pod-security-admission policy/check_*.go (v1.37), a function each. Inputs: a Pod. Outputs: what is
//! forbidden.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::super::validation::quote;
use super::checks::{
    PodParts, SecurityCheck, Violation, containers, context, has_own_users, is_safe_profile, named, plural, quoted,
    quoted_set, setters, those,
};
use crate::objects::Json;
use crate::objects::names::SAFE_SYSCTLS;

/// The checks, sorted by their names.
pub(super) const CHECKS: &[SecurityCheck] = &[
    SecurityCheck { id: "appArmorProfile", forms: &[(0, app_armor)], replaces: "" },
    SecurityCheck { id: "capabilities_baseline", forms: &[(0, capabilities)], replaces: "" },
    SecurityCheck { id: "hostNamespaces", forms: &[(0, host_namespaces)], replaces: "" },
    SecurityCheck { id: "hostPathVolumes", forms: &[(0, host_paths)], replaces: "" },
    SecurityCheck { id: "hostPorts", forms: &[(0, host_ports)], replaces: "" },
    SecurityCheck { id: "hostProbesAndHostLifecycle", forms: &[(34, hosts_of_probes)], replaces: "" },
    SecurityCheck { id: "privileged", forms: &[(0, privileged)], replaces: "" },
    SecurityCheck { id: "procMount", forms: &[(0, proc_mount), (35, proc_mount_of_own_users)], replaces: "" },
    SecurityCheck {
        id: "seLinuxOptions",
        forms: &[(0, |pod| se_linux(pod, &TYPES[..4])), (31, |pod| se_linux(pod, &TYPES))],
        replaces: "",
    },
    SecurityCheck { id: "seccompProfile_baseline", forms: &[(0, seccomp_annotations), (19, seccomp)], replaces: "" },
    SecurityCheck {
        id: "sysctls",
        forms: &[
            (0, |pod| sysctls(pod, 5)),
            (27, |pod| sysctls(pod, 6)),
            (29, |pod| sysctls(pod, 10)),
            (32, |pod| sysctls(pod, 12)),
            (37, |pod| sysctls(pod, 14)),
        ],
        replaces: "",
    },
    SecurityCheck { id: "windowsHostProcess", forms: &[(0, host_process)], replaces: "" },
];

/// Source: check_capabilities_baseline.go, `capabilities_allowed_1_0`.
const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];
/// The types of SELinux, of which the last came with 1.31. Source: check_seLinuxOptions.go.
const TYPES: [&str; 5] = ["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"];

fn app_armor(pod: &PodParts<'_>) -> Option<Violation> {
    const PREFIX: &str = "container.apparmor.security.beta.kubernetes.io/";
    let mut types: BTreeSet<&str> = BTreeSet::new();
    let mut who = setters(pod, |holder| {
        let profile = context(holder, "appArmorProfile");
        let is_bad = !profile.is_null() && !is_safe_profile(profile);
        types.extend(is_bad.then(|| profile.get("type").as_str().unwrap_or("")));
        is_bad
    });
    let mut values: Vec<String> = types.into_iter().map(String::from).collect();
    let is_allowed = |value: &str| matches!(value, "" | "runtime/default") || value.starts_with("localhost/");
    let mut notes: Vec<String> = pod
        .annotations
        .fields()
        .map(|(key, value)| (key.as_str(), value.as_str().unwrap_or("")))
        .filter(|(key, value)| key.starts_with(PREFIX) && !is_allowed(value))
        .map(|(key, value)| format!("{key}={}", quote(value)))
        .collect();
    notes.sort();
    if !notes.is_empty() {
        who.push(plural("annotation", notes.len()));
    }
    values.append(&mut notes);
    (!who.is_empty()).then(|| {
        let detail = format!("{} must not set AppArmor profile type to {}", who.join(" and "), quoted(&values));
        Violation::new(&plural("forbidden AppArmor profile", values.len()), detail)
    })
}

fn capabilities(pod: &PodParts<'_>) -> Option<Violation> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    let names = those(pod, |container| {
        let added = context(container, "capabilities").get("add").items().iter().filter_map(Json::as_str);
        let bad: Vec<&str> = added.filter(|own| !CAPABILITIES.contains(own)).collect();
        found.extend(&bad);
        !bad.is_empty()
    });
    (!names.is_empty()).then(|| {
        let found = quoted_set(&found);
        let detail = format!("{} must not include {found} in securityContext.capabilities.add", named(&names));
        Violation::new("non-default capabilities", detail)
    })
}

fn host_namespaces(pod: &PodParts<'_>) -> Option<Violation> {
    let is_set = |field: &&str| pod.spec.get(field).as_bool() == Some(true);
    let shared: Vec<String> = ["hostNetwork", "hostPID", "hostIPC"]
        .iter()
        .filter(|field| is_set(field))
        .map(|own| format!("{own}=true"))
        .collect();
    (!shared.is_empty()).then(|| Violation::new("host namespaces", shared.join(", ")))
}

fn host_paths(pod: &PodParts<'_>) -> Option<Violation> {
    let volumes = pod.spec.get("volumes").items().iter().filter(|volume| !volume.get("hostPath").is_null());
    let names: Vec<&str> = volumes.map(|volume| volume.get("name").as_str().unwrap_or("")).collect();
    (!names.is_empty())
        .then(|| Violation::new("hostPath volumes", format!("{} {}", plural("volume", names.len()), quoted(&names))))
}

fn host_ports(pod: &PodParts<'_>) -> Option<Violation> {
    let mut ports: BTreeSet<String> = BTreeSet::new();
    let names = those(pod, |container| {
        let own = container.get("ports").items().iter().filter_map(|port| port.get("hostPort").as_i64());
        let own: Vec<i64> = own.filter(|port| *port != 0).collect();
        ports.extend(own.iter().map(ToString::to_string));
        !own.is_empty()
    });
    (!names.is_empty()).then(|| {
        let (use_word, word) = (if names.len() == 1 { "uses" } else { "use" }, plural("hostPort", ports.len()));
        let ports: Vec<String> = ports.into_iter().collect();
        Violation::new("hostPort", format!("{} {use_word} {word} {}", named(&names), ports.join(", ")))
    })
}

fn hosts_of_probes(pod: &PodParts<'_>) -> Option<Violation> {
    const HANDLERS: [&[&str]; 5] = [
        &["livenessProbe"],
        &["readinessProbe"],
        &["startupProbe"],
        &["lifecycle", "postStart"],
        &["lifecycle", "preStop"],
    ];
    let (mut hosts, mut names): (BTreeSet<&str>, BTreeSet<&str>) = (BTreeSet::new(), BTreeSet::new());
    for container in containers(pod) {
        for handler in HANDLERS.iter().map(|path| container.at(path)) {
            for kind in ["httpGet", "tcpSocket"] {
                if let Some(host) = handler.at(&[kind, "host"]).as_str().filter(|host| !host.is_empty()) {
                    hosts.insert(host);
                    names.insert(container.get("name").as_str().unwrap_or(""));
                }
            }
        }
    }
    (!names.is_empty()).then(|| {
        let use_word = if names.len() == 1 { "uses" } else { "use" };
        let word = plural("probe or lifecycle host", hosts.len());
        let names: Vec<&str> = names.into_iter().collect();
        let detail = format!("{} {use_word} {word} {}", named(&names), quoted_set(&hosts));
        Violation::new("probe or lifecycle host", detail)
    })
}

fn privileged(pod: &PodParts<'_>) -> Option<Violation> {
    let names = those(pod, |container| context(container, "privileged").as_bool() == Some(true));
    (!names.is_empty()).then(|| {
        Violation::new("privileged", format!("{} must not set securityContext.privileged=true", named(&names)))
    })
}

/// Forbids mounts of `/proc` that hide nothing.
pub(super) fn proc_mount(pod: &PodParts<'_>) -> Option<Violation> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    let names = those(pod, |container| {
        let mount = context(container, "procMount").as_str().filter(|mount| *mount != "Default");
        found.extend(mount);
        mount.is_some()
    });
    (!names.is_empty()).then(|| {
        let detail = format!("{} must not set securityContext.procMount to {}", named(&names), quoted_set(&found));
        Violation::new("procMount", detail)
    })
}

fn proc_mount_of_own_users(pod: &PodParts<'_>) -> Option<Violation> {
    if has_own_users(pod) { None } else { proc_mount(pod) }
}

fn se_linux(pod: &PodParts<'_>, allowed: &[&str]) -> Option<Violation> {
    let (mut types, mut has_user, mut has_role) = (BTreeSet::new(), false, false);
    let who = setters(pod, |holder| {
        let options = context(holder, "seLinuxOptions");
        let text = |field: &str| options.get(field).as_str().unwrap_or("");
        let is_type = allowed.contains(&text("type"));
        types.extend((!is_type).then(|| text("type")));
        has_user |= !text("user").is_empty();
        has_role |= !text("role").is_empty();
        !is_type || !text("user").is_empty() || !text("role").is_empty()
    });
    if who.is_empty() {
        return None;
    }
    let mut what = Vec::new();
    if !types.is_empty() {
        what.push(format!("{} {}", plural("type", types.len()), quoted_set(&types)));
    }
    for (is_set, field) in [(has_user, "user"), (has_role, "role")] {
        what.extend(is_set.then(|| format!("{field} may not be set")));
    }
    let (who, what) = (who.join(" and "), what.join("; "));
    Some(Violation::new("seLinuxOptions", format!("{who} set forbidden securityContext.seLinuxOptions: {what}")))
}

fn seccomp_annotations(pod: &PodParts<'_>) -> Option<Violation> {
    let is_safe =
        |value: &str| matches!(value, "runtime/default" | "docker/default") || value.starts_with("localhost/");
    let of_containers = containers(pod).map(|container| {
        format!("container.seccomp.security.alpha.kubernetes.io/{}", container.get("name").as_str().unwrap_or(""))
    });
    let keys = [String::from("seccomp.security.alpha.kubernetes.io/pod")].into_iter().chain(of_containers);
    let found: BTreeSet<String> = keys
        .filter_map(|key| {
            let value = pod.annotations.get(&key).as_str().filter(|value| !is_safe(value))?;
            Some(format!("{key}={}", quote(value)))
        })
        .collect();
    let found: Vec<String> = found.into_iter().collect();
    (!found.is_empty()).then(|| {
        let detail = format!("forbidden {} {}", plural("annotation", found.len()), found.join(", "));
        Violation::new("seccompProfile", detail)
    })
}

/// Forbids profiles of seccomp that are set and not safe.
pub(super) fn seccomp(pod: &PodParts<'_>) -> Option<Violation> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    let who = setters(pod, |holder| {
        let profile = context(holder, "seccompProfile");
        let is_bad = !profile.is_null() && !is_safe_profile(profile);
        found.extend(is_bad.then(|| profile.get("type").as_str().unwrap_or("")));
        is_bad
    });
    (!who.is_empty()).then(|| {
        let (who, found) = (who.join(" and "), quoted_set(&found));
        Violation::new("seccompProfile", format!("{who} must not set securityContext.seccompProfile.type to {found}"))
    })
}

/// Forbids sysctls that are not among the first so many.
fn sysctls(pod: &PodParts<'_>, allowed: usize) -> Option<Violation> {
    let names = context(pod.spec, "sysctls").items().iter().map(|own| own.get("name").as_str().unwrap_or(""));
    let found: Vec<&str> = names.filter(|name| !SAFE_SYSCTLS[..allowed].contains(name)).collect();
    (!found.is_empty()).then(|| Violation::new("forbidden sysctls", found.join(", ")))
}

fn host_process(pod: &PodParts<'_>) -> Option<Violation> {
    let who = setters(pod, |holder| context(holder, "windowsOptions").get("hostProcess").as_bool() == Some(true));
    (!who.is_empty()).then(|| {
        let detail = format!("{} must not set securityContext.windowsOptions.hostProcess=true", who.join(" and "));
        Violation::new("hostProcess", detail)
    })
}
