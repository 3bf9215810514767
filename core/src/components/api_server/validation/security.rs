//! Validation of what confines a container: its users, privileges, profiles, and what it shares with its machine.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34): `ValidateSecurityContext`, `validateSeccompProfileField`,
//! `ValidateAppArmorProfileField`, `validateHostUsers`, and what is said of both profiles in annotations. Inputs: a
//! Pod, its specification or one container. Outputs: errors. Left out on purpose: `--allow-privileged=false`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::container::local_path;
use super::pod_details::id;
use super::{FieldError, Problem, containers, print, text, windows};
use crate::objects::Json;
use crate::objects::names::Wording;

/// Source: k8s.io/api core/v1/annotation_key_constants.go (v1.34), `SeccompPodAnnotationKey`.
const SECCOMP_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
/// Source: as above, `SeccompContainerAnnotationKeyPrefix`.
const SECCOMP_OF_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
/// Source: as above, `DeprecatedAppArmorBetaContainerAnnotationKeyPrefix`.
const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
/// Most bytes of the name of a profile of AppArmor. Source: validation.go (v1.34), `maxLocalhostProfileLength`.
const PROFILE_BYTES: usize = 4095;
/// The three kinds of profiles, which seccomp and AppArmor share.
const PROFILES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];

/// Checks the security context of a container.
pub(super) fn of_container(container: &Json, path: &str, spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let context = container.get("securityContext");
    if context.is_null() {
        return;
    }
    let path = format!("{path}.securityContext");
    for field in ["runAsUser", "runAsGroup"] {
        id(format!("{path}.{field}"), context.get(field), errors);
    }
    if let Some(mount) = context.get("procMount").as_str() {
        let field = format!("{path}.procMount");
        if !["Default", "Unmasked"].contains(&mount) {
            errors.push(FieldError::not_supported(field.as_str(), mount, &["Default", "Unmasked"]));
        }
        if mount == "Unmasked" && spec.get("hostUsers").as_bool() != Some(false) {
            errors.push(FieldError::invalid_text(field, mount, "`hostUsers` must be false to use `Unmasked`"));
        }
    }
    seccomp(context.get("seccompProfile"), &format!("{path}.seccompProfile"), errors);
    if context.get("allowPrivilegeEscalation").as_bool() == Some(false) {
        let mut refuse = |what: &str| {
            let why = format!("cannot set `allowPrivilegeEscalation` to false and {what}");
            errors.push(FieldError::new(path.as_str(), Problem::Invalid, printed(context), why));
        };
        if context.get("privileged").as_bool() == Some(true) {
            refuse("`privileged` to true");
        }
        let added = context.at(&["capabilities", "add"]).items();
        added
            .iter()
            .filter(|own| own.as_str() == Some("CAP_SYS_ADMIN"))
            .for_each(|_| refuse("`capabilities.Add` CAP_SYS_ADMIN"));
    }
    windows::options(context.get("windowsOptions"), &format!("{path}.windowsOptions"), wording, errors);
    app_armor(context.get("appArmorProfile"), &format!("{path}.appArmorProfile"), errors);
}

/// Checks a profile of seccomp, if there is one.
pub(super) fn seccomp(profile: &Json, path: &str, errors: &mut Vec<FieldError>) {
    if profile.is_null() {
        return;
    }
    let (kind, own) = (text(profile, "type"), profile.get("localhostProfile"));
    if kind.is_empty() {
        errors.push(FieldError::required(format!("{path}.type"), "type is required when seccompProfile is set"));
    } else if !PROFILES.contains(&kind) {
        errors.push(FieldError::not_supported(format!("{path}.type"), kind, &PROFILES));
    }
    let path = format!("{path}.localhostProfile");
    match (kind, own.as_str()) {
        ("Localhost", None) => {
            errors.push(FieldError::required(path, "must be set when seccomp type is Localhost"));
        }
        ("Localhost", Some(own)) => local_path(own, path, errors),
        (_, None) => {}
        (_, Some(_)) => {
            let value = printed_fields(profile, &["type", "localhostProfile"]);
            errors.push(FieldError::new(
                path,
                Problem::Invalid,
                value,
                "can only be set when seccomp type is Localhost",
            ));
        }
    }
}

/// Checks a profile of AppArmor, if there is one.
pub(super) fn app_armor(profile: &Json, path: &str, errors: &mut Vec<FieldError>) {
    if profile.is_null() {
        return;
    }
    let (kind, own) = (text(profile, "type"), profile.get("localhostProfile").as_str());
    let field = format!("{path}.localhostProfile");
    match (kind, own) {
        ("Localhost", own) => {
            let missing = "must be set when AppArmor type is Localhost";
            match own {
                Some(own) if own.trim() != own => {
                    errors.push(FieldError::invalid_text(field.as_str(), own, "must not be padded with whitespace"));
                }
                None | Some("") => errors.push(FieldError::required(field.as_str(), missing)),
                Some(_) => {}
            }
            if own.is_some_and(|own| own.len() > PROFILE_BYTES) {
                errors.push(FieldError::too_long(field, format!("may not be more than {PROFILE_BYTES} bytes")));
            }
        }
        ("RuntimeDefault" | "Unconfined", Some(own)) => {
            errors.push(FieldError::invalid_text(field, own, "can only be set when AppArmor type is Localhost"));
        }
        ("RuntimeDefault" | "Unconfined", None) => {}
        ("", _) => {
            let why = "type is required when appArmorProfile is set";
            errors.push(FieldError::required(format!("{path}.type"), why));
        }
        (other, _) => errors.push(FieldError::not_supported(format!("{path}.type"), other, &PROFILES)),
    }
}

/// Checks that a Pod with users of its own shares nothing else with its machine.
pub(super) fn host_users(spec: &Json, errors: &mut Vec<FieldError>) {
    if spec.get("hostUsers").as_bool() != Some(false) {
        return;
    }
    let why = "when `hostUsers` is false";
    for (field, shown) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if spec.get(field).as_bool() == Some(true) {
            errors.push(FieldError::forbidden(format!("spec.{shown}"), why));
        }
    }
    for (path, _) in containers(spec).filter(|(_, own)| !own.get("volumeDevices").is_empty()) {
        errors.push(FieldError::forbidden(format!("{path}.volumeDevices"), why));
    }
}

/// Checks the profiles that annotations name. Source: validation.go (v1.34), `ValidateSeccompPodAnnotations` and
/// `ValidateAppArmorPodAnnotations`.
pub(super) fn annotations(tree: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let own = tree.at(&["metadata", "annotations"]);
    let of_pod = own.fields().filter(|(key, _)| key.as_str() == SECCOMP_OF_POD);
    let of_containers = own.fields().filter(|(key, _)| key.starts_with(SECCOMP_OF_CONTAINER));
    for (key, profile) in of_pod.chain(of_containers) {
        let (profile, path) = (profile.as_str().unwrap_or(""), format!("{path}.{key}"));
        if ["runtime/default", "docker/default", "unconfined"].contains(&profile) {
            continue;
        }
        match profile.strip_prefix("localhost/") {
            Some(local) => local_path(local, path, errors),
            None => errors.push(FieldError::invalid_text(path, profile, "must be a valid seccomp profile")),
        }
    }
    for (key, profile) in own.fields() {
        let Some(name) = key.strip_prefix(APP_ARMOR) else { continue };
        let (profile, path) = (profile.as_str().unwrap_or(""), format!("{path}[{key}]"));
        if !containers(tree.get("spec")).any(|(_, own)| text(own, "name") == name) {
            errors.push(FieldError::invalid_text(path.as_str(), name, "container not found"));
        }
        if !["", "runtime/default", "unconfined"].contains(&profile) && !profile.starts_with("localhost/") {
            let why = format!("invalid AppArmor profile name: {}", super::quote(profile));
            errors.push(FieldError::invalid_text(path, profile, why));
        }
    }
}

/// Checks that annotations and fields of a new Pod name the same profiles. Source: validation.go (v1.34),
/// `validateSeccompAnnotationsAndFields` and `validateAppArmorAnnotationsAndFieldsMatchOnCreate`.
pub(super) fn profiles_match(tree: &Json, with_app_armor: bool, errors: &mut Vec<FieldError>) {
    let (spec, own) = (tree.get("spec"), tree.at(&["metadata", "annotations"]));
    let of_pod = |field: &str| spec.at(&["securityContext", field]);
    let mut check = |profile: &Json, key: &str, path: String, what: &str, seccomp: bool| {
        if let Some(annotation) = own.get(key).as_str().filter(|_| !profile.is_null()) {
            matches(profile, annotation, &path, (what, seccomp), errors);
        }
    };
    let path = String::from("spec.securityContext.seccompProfile");
    check(of_pod("seccompProfile"), SECCOMP_OF_POD, path, "seccomp", true);
    for (path, container) in containers(spec) {
        let (profile, key) = (container.at(&["securityContext", "seccompProfile"]), text(container, "name"));
        let path = format!("{path}.securityContext.seccompProfile");
        check(profile, &format!("{SECCOMP_OF_CONTAINER}{key}"), path, "seccomp", true);
    }
    if !with_app_armor || spec.at(&["os", "name"]).as_str() == Some("windows") {
        return;
    }
    for (path, container) in containers(spec) {
        let (profile, key) = (container.at(&["securityContext", "appArmorProfile"]), text(container, "name"));
        let profile = if profile.is_null() { of_pod("appArmorProfile") } else { profile };
        let path = format!("{path}.securityContext.appArmorProfile");
        check(profile, &format!("{APP_ARMOR}{key}"), path, "apparmor", false);
    }
}

fn matches(profile: &Json, annotation: &str, path: &str, (what, seccomp): (&str, bool), errors: &mut Vec<FieldError>) {
    let local = annotation.strip_prefix("localhost/");
    let is_same_kind = match text(profile, "type") {
        "Unconfined" => annotation == "unconfined",
        "RuntimeDefault" => annotation == "runtime/default" || seccomp && annotation == "docker/default",
        "Localhost" => local.is_some(),
        _ => true,
    };
    if !is_same_kind {
        let why = format!("{what} type in annotation and field must match");
        errors.push(FieldError::forbidden(format!("{path}.type"), why));
    } else if text(profile, "type") == "Localhost" && profile.get("localhostProfile").as_str() != local {
        let why = format!("{what} profile in annotation and field must match");
        errors.push(FieldError::forbidden(format!("{path}.localhostProfile"), why));
    }
}

/// Gives containers the profiles of AppArmor that annotations name. Source: pkg/registry/core/pod/strategy.go (v1.34),
/// `applyAppArmorVersionSkew`.
pub(in super::super) fn take_app_armor(tree: &mut Json) {
    let annotations = tree.at(&["metadata", "annotations"]).clone();
    let spec = tree.get("spec");
    let has_any = annotations.fields().any(|(key, _)| key.starts_with(APP_ARMOR));
    if !has_any || spec.at(&["os", "name"]).as_str() == Some("windows") {
        return;
    }
    let of_pod = spec.at(&["securityContext", "appArmorProfile"]).clone();
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        if tree.at(&["spec", list]).is_empty() {
            continue;
        }
        for container in tree.entry(&["spec", list]).make_array() {
            let annotation = annotations.get(&format!("{APP_ARMOR}{}", text(container, "name"))).as_str();
            let profile = annotation.map_or(Json::Null, profile_of);
            let has_own = !container.at(&["securityContext", "appArmorProfile"]).is_null();
            if !has_own && !profile.is_null() && profile != of_pod {
                container.set(&["securityContext", "appArmorProfile"], profile);
            }
        }
    }
}

/// Tells whether an annotation says of a container what a field should say: the field is not there, and the Pod's own
/// profile is another. Source: pkg/api/pod/warnings.go (v1.34), `warningsForPodSpecAndMeta`.
pub(in super::super) fn needs_app_armor_field(annotation: &str, container: &Json, spec: &Json) -> bool {
    let profile = profile_of(annotation);
    let has_own = !container.at(&["securityContext", "appArmorProfile"]).is_null();
    !has_own && (profile.is_null() || profile != *spec.at(&["securityContext", "appArmorProfile"]))
}

/// Returns the profile that an annotation names; null for one that is no profile.
fn profile_of(annotation: &str) -> Json {
    let profile = match annotation {
        "unconfined" => crate::json!({"type": "Unconfined"}),
        "runtime/default" => crate::json!({"type": "RuntimeDefault"}),
        other => match other.strip_prefix("localhost/") {
            Some(local) => crate::json!({"type": "Localhost", "localhostProfile": local}),
            None => return Json::Null,
        },
    };
    let mut errors = Vec::new();
    app_armor(&profile, "", &mut errors);
    if errors.is_empty() { profile } else { Json::Null }
}

/// Prints a security context as upstream prints its own type, which has names of fields in Go's way.
/// Source: pkg/apis/core/types.go (v1.34), `SecurityContext`.
fn printed(context: &Json) -> String {
    const FIELDS: [&str; 12] = [
        "capabilities",
        "privileged",
        "seLinuxOptions",
        "windowsOptions",
        "runAsUser",
        "runAsGroup",
        "runAsNonRoot",
        "readOnlyRootFilesystem",
        "allowPrivilegeEscalation",
        "procMount",
        "seccompProfile",
        "appArmorProfile",
    ];
    let parts = FIELDS.map(|field| {
        let own = context.get(field);
        let inner: &[&str] = match field {
            "capabilities" => &["add", "drop"],
            "seLinuxOptions" => &["user", "role", "type", "level"],
            "windowsOptions" => &["gmsaCredentialSpecName", "gmsaCredentialSpec", "runAsUserName", "hostProcess"],
            _ => &["type", "localhostProfile"],
        };
        let value = if own.is_object() { printed_fields(own, inner) } else { print(own) };
        format!("\"{}\":{value}", in_go(field))
    });
    format!("{{{}}}", parts.join(","))
}

fn printed_fields(of: &Json, fields: &[&str]) -> String {
    let part = |field: &&str| {
        let is_text = matches!(*field, "user" | "role" | "type" | "level");
        let value = if is_text { super::quote(text(of, field)) } else { print(of.get(field)) };
        format!("\"{}\":{value}", in_go(field))
    };
    format!("{{{}}}", fields.iter().map(part).collect::<Vec<_>>().join(","))
}

/// Returns the name of a field in Go.
fn in_go(field: &str) -> String {
    match field {
        "seLinuxOptions" => String::from("SELinuxOptions"),
        "gmsaCredentialSpecName" => String::from("GMSACredentialSpecName"),
        "gmsaCredentialSpec" => String::from("GMSACredentialSpec"),
        field => {
            let (first, rest) = field.split_at(1);
            format!("{}{rest}", first.to_uppercase())
        }
    }
}
