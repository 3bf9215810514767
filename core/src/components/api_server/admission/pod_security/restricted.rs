//! The checks that the level restricted adds to those of baseline.
//!
//! Mirrors k8s.io/pod-security-admission policy/check_*.go (v1.37), a function each. Inputs: a Pod. Outputs: what is
//! forbidden.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use super::baseline::{proc_mount, seccomp};
use super::checks::{
    PodParts, SecurityCheck, Violation, context, has_own_users, is_safe_profile, named, plural, quoted, quoted_set,
    setters, those,
};
use crate::objects::Json;

/// The checks, sorted by their names.
pub(super) const CHECKS: &[SecurityCheck] = &[
    SecurityCheck {
        id: "allowPrivilegeEscalation",
        forms: &[(8, escalation), (25, |pod| but_windows(pod, escalation))],
        replaces: "",
    },
    SecurityCheck {
        id: "capabilities_restricted",
        forms: &[(22, capabilities), (25, |pod| but_windows(pod, capabilities))],
        replaces: "capabilities_baseline",
    },
    SecurityCheck { id: "procMount_restricted", forms: &[(35, proc_mount)], replaces: "procMount" },
    SecurityCheck { id: "restrictedVolumes", forms: &[(0, volumes)], replaces: "hostPathVolumes" },
    SecurityCheck {
        id: "runAsNonRoot",
        forms: &[(0, non_root), (35, |pod| but_own_users(pod, non_root))],
        replaces: "",
    },
    SecurityCheck { id: "runAsUser", forms: &[(23, user), (35, |pod| but_own_users(pod, user))], replaces: "" },
    SecurityCheck {
        id: "seccompProfile_restricted",
        forms: &[(19, seccomp_everywhere), (25, |pod| but_windows(pod, seccomp_everywhere))],
        replaces: "seccompProfile_baseline",
    },
];

/// The sources of volumes that are allowed. Source: check_restrictedVolumes.go.
const ALLOWED: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];
/// The others, in the order in which the first one that is there is told. Source: check_restrictedVolumes.go.
const OTHERS: [&str; 21] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
];

/// Pods of Windows cannot have what is checked.
fn but_windows(pod: &PodParts<'_>, check: fn(&PodParts<'_>) -> Option<Violation>) -> Option<Violation> {
    if pod.spec.at(&["os", "name"]).as_str() == Some("windows") { None } else { check(pod) }
}

/// Root is nobody on the machine for a Pod with users of its own.
fn but_own_users(pod: &PodParts<'_>, check: fn(&PodParts<'_>) -> Option<Violation>) -> Option<Violation> {
    if has_own_users(pod) { None } else { check(pod) }
}

fn escalation(pod: &PodParts<'_>) -> Option<Violation> {
    let names = those(pod, |container| context(container, "allowPrivilegeEscalation").as_bool() != Some(false));
    (!names.is_empty()).then(|| {
        let detail = format!("{} must set securityContext.allowPrivilegeEscalation=false", named(&names));
        Violation::new("allowPrivilegeEscalation != false", detail)
    })
}

fn capabilities(pod: &PodParts<'_>) -> Option<Violation> {
    let is = |own: &Json, name: &str| own.as_str() == Some(name);
    let keeping = those(pod, |container| {
        !context(container, "capabilities").get("drop").items().iter().any(|own| is(own, "ALL"))
    });
    let mut added: BTreeSet<&str> = BTreeSet::new();
    let adding = those(pod, |container| {
        let own = context(container, "capabilities").get("add").items().iter();
        let bad: Vec<&str> = own.filter(|own| !is(own, "NET_BIND_SERVICE")).filter_map(Json::as_str).collect();
        added.extend(&bad);
        !bad.is_empty()
    });
    let mut details = Vec::new();
    if !keeping.is_empty() {
        details.push(format!("{} must set securityContext.capabilities.drop=[\"ALL\"]", named(&keeping)));
    }
    if !adding.is_empty() {
        let added = quoted_set(&added);
        details.push(format!("{} must not include {added} in securityContext.capabilities.add", named(&adding)));
    }
    (!details.is_empty()).then(|| Violation::new("unrestricted capabilities", details.join("; ")))
}

fn volumes(pod: &PodParts<'_>) -> Option<Violation> {
    let has = |volume: &Json, source: &&&str| !volume.get(source).is_null();
    let (mut names, mut types) = (Vec::new(), BTreeSet::new());
    for volume in pod.spec.get("volumes").items() {
        if !ALLOWED.iter().any(|source| has(volume, &source)) {
            names.push(volume.get("name").as_str().unwrap_or(""));
            types.insert(OTHERS.iter().find(|source| has(volume, source)).map_or("unknown", |source| *source));
        }
    }
    (!names.is_empty()).then(|| {
        let detail = format!(
            "{} {} {} {} {}",
            plural("volume", names.len()),
            quoted(&names),
            if names.len() == 1 { "uses" } else { "use" },
            plural("restricted volume type", types.len()),
            quoted_set(&types)
        );
        Violation::new("restricted volume types", detail)
    })
}

fn non_root(pod: &PodParts<'_>) -> Option<Violation> {
    const REASON: &str = "runAsNonRoot != true";
    let own = |holder: &Json| context(holder, "runAsNonRoot").as_bool();
    let who = setters(pod, |holder| own(holder) == Some(false));
    if !who.is_empty() {
        let detail = format!("{} must not set securityContext.runAsNonRoot=false", who.join(" and "));
        return Some(Violation::new(REASON, detail));
    }
    let names = those(pod, |container| own(container).is_none() && own(pod.spec) != Some(true));
    (!names.is_empty())
        .then(|| Violation::new(REASON, format!("pod or {} must set securityContext.runAsNonRoot=true", named(&names))))
}

fn user(pod: &PodParts<'_>) -> Option<Violation> {
    let who = setters(pod, |holder| context(holder, "runAsUser").as_i64() == Some(0));
    (!who.is_empty()).then(|| Violation::new("runAsUser=0", format!("{} must not set runAsUser=0", who.join(" and "))))
}

fn seccomp_everywhere(pod: &PodParts<'_>) -> Option<Violation> {
    if let Some(violation) = seccomp(pod) {
        return Some(violation);
    }
    let has_own = is_safe_profile(context(pod.spec, "seccompProfile"));
    let names = those(pod, |container| context(container, "seccompProfile").is_null() && !has_own);
    (!names.is_empty()).then(|| {
        let wanted = "securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\"";
        Violation::new("seccompProfile", format!("pod or {} must set {wanted}", named(&names)))
    })
}
