//! Validation of changes of a Pod's status.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34), `ValidatePodStatusUpdate`. Inputs: the changed Pod and the
//! stored one. Outputs: errors.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::ip::{self, Reading};
use super::pod_rules::Rules;
use super::pod_update::mirror;
use super::{FieldError, IMMUTABLE, Problem, invalid, meta, pod_details, restarts, text};
use crate::objects::lifecycle::{is_sidecar, should_restart};
use crate::objects::names::{self, Wording};
use crate::objects::quantity::Quantity;
use crate::objects::{Json, NULL};
use crate::profile::Settings;

/// The lists of containers' states, each with that of the containers.
const LISTS: [(&str, &str); 3] = [
    ("containerStatuses", "containers"),
    ("initContainerStatuses", "initContainers"),
    ("ephemeralContainerStatuses", "ephemeralContainers"),
];

/// What is said of a device of no claim. Source: validation.go (v1.34, v1.37),
/// `validateContainerStatusAllocatedResourcesStatus`.
const OLD_CLAIMS: &str = "must match one of the container's resource claims in a format \
    'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
const CLAIMS: &str = "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' when \
    container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty";

/// Checks a change of a Pod's status.
pub(in super::super) fn validate(tree: &Json, old: &Json, wording: Wording, settings: &Settings) -> Vec<FieldError> {
    let reading = Reading::of(settings);
    let mut errors = meta::validate_core_update(tree, old, wording);
    mirror(tree, old, &mut errors);
    let status = tree.get("status");
    for (at, condition) in status.get("conditions").items().iter().enumerate() {
        let name = text(condition, "type");
        generation(condition, &format!("status.conditions[{at}]"), &mut errors);
        if ["PodScheduled", "Ready", "Initialized"].contains(&name) {
            continue;
        }
        invalid(names::qualified(name, wording), format!("status.conditions[{at}].Type"), name, &mut errors);
    }
    let nominated = text(status, "nominatedNodeName");
    if nominated != text(old.get("status"), "nominatedNodeName") && !nominated.is_empty() {
        let path = "status.nominatedNodeName";
        invalid(names::subdomain(nominated, wording), path, nominated, &mut errors);
        let is_bound = !text(old.get("spec"), "nodeName").is_empty();
        if is_bound && settings.profile().is("binding-clears-nomination") {
            errors.push(FieldError::forbidden(path, "may not be set on pods that are already bound to a node"));
        }
    }
    generation(status, "status", &mut errors);
    let stored = old.at(&["status", "qosClass"]);
    if !stored.is_null() && status.get("qosClass") != stored {
        errors.push(FieldError::invalid("status.qosClass", status.get("qosClass"), IMMUTABLE));
    }
    stay_ended((tree, old), settings, &mut errors);
    claims(status, tree.get("spec"), wording, &mut errors);
    addresses((status, old.get("status")), "podIPs", reading, &mut errors);
    let (first, one) = (status.get("hostIPs").items().first(), text(status, "hostIP"));
    if let Some(first) = first.map(|first| text(first, "ip")).filter(|first| *first != one) {
        errors.push(FieldError::invalid_text("status.hostIPs[0].ip", first, "must be equal to `hostIP`"));
    }
    addresses((status, old.get("status")), "hostIPs", reading, &mut errors);
    for list in LISTS {
        containers((status, tree.get("spec")), list, wording, &mut errors);
    }
    errors
}

fn addresses((status, old): (&Json, &Json), list: &str, reading: Reading, errors: &mut Vec<FieldError>) {
    let items = status.get(list).items();
    let stored: Vec<&str> = old.get(list).items().iter().map(|item| text(item, "ip")).collect();
    for (at, item) in items.iter().enumerate().filter(|(_, item)| !stored.contains(&text(item, "ip"))) {
        ip::legacy(text(item, "ip"), &format!("status.{list}[{at}]"), reading, errors);
    }
    let path = format!("status.{list}");
    let wrong = items.iter().enumerate().find(|(_, item)| ip::parse(text(item, "ip")).is_none());
    if let Some((at, item)) = wrong.filter(|_| items.len() > 1) {
        let why = format!("failed to check for dual stack with error:invalid IP[{at}]: {}", text(item, "ip"));
        errors.push(FieldError::new(path.as_str(), Problem::Internal, String::new(), why));
    }
    let known: Vec<bool> = items.iter().filter_map(|item| ip::parse(text(item, "ip"))).map(ip::is_ipv4).collect();
    if items.len() > 1 && (wrong.is_some() || items.len() > 2 || known[0] == known[1]) {
        let kind = if list == "podIPs" { "core.PodIP" } else { "core.HostIP" };
        let go: Vec<String> = items.iter().map(|item| format!("{kind}{{IP:{:?}}}", text(item, "ip"))).collect();
        let why = String::from("may specify no more than one IP for each IP family");
        let shown = if list == "podIPs" { "[PodIP]" } else { "[HostIP]" };
        let error = FieldError::invalid_of(shown, path, status.get(list), why);
        errors.push(error.in_go(format!("[]{kind}{{{}}}", go.join(", "))));
    }
}

/// Checks that containers that have ended stay so, unless they are to run again.
///
/// Source: validation.go (v1.34, v1.36), `ValidateContainerStateTransition`, `ValidateInitContainerStateTransition`.
fn stay_ended((tree, old): (&Json, &Json), settings: &Settings, errors: &mut Vec<FieldError>) {
    let spec = old.get("spec");
    let policy = spec.get("restartPolicy").as_str().unwrap_or("Always");
    let counts_own = Rules::of(settings).beside(spec).restarts.of_containers;
    let restarts_all = counts_own && restarts::restarts_all(spec);
    for (list, of) in LISTS {
        let may_restart = |name: &str, exit_code: i64| {
            let own = spec.get(of).items().iter().find(|own| text(own, "name") == name);
            match of {
                "ephemeralContainers" => false,
                _ if restarts_all => true,
                _ if counts_own => own.is_some_and(|own| should_restart(own, policy, exit_code)),
                "initContainers" if own.is_some_and(is_sidecar) => true,
                _ => should_restart(&NULL, policy, exit_code),
            }
        };
        unterminated((tree, old), list, may_restart, errors);
    }
}

fn unterminated(
    (tree, old): (&Json, &Json),
    list: &str,
    may_restart: impl Fn(&str, i64) -> bool,
    errors: &mut Vec<FieldError>,
) {
    let new = tree.at(&["status", list]).items();
    for (at, before) in old.at(&["status", list]).items().iter().enumerate() {
        let (name, ended) = (text(before, "name"), before.at(&["state", "terminated"]));
        let exit_code = ended.get("exitCode").as_i64().unwrap_or(0);
        let runs = |status: &&Json| text(status, "name") == name && status.at(&["state", "terminated"]).is_null();
        if !ended.is_null() && new.iter().any(|status| runs(&status)) && !may_restart(name, exit_code) {
            let path = format!("status.{list}[{at}].state");
            errors.push(FieldError::forbidden(path, "may not be transitioned to non-terminated state"));
        }
    }
}

/// Checks what a status says of the claims of a Pod. Source: validation.go (v1.34), `validatePodResourceClaimStatuses`.
fn claims(status: &Json, spec: &Json, wording: Wording, errors: &mut Vec<FieldError>) {
    let known: Vec<&str> = spec.get("resourceClaims").items().iter().map(|claim| text(claim, "name")).collect();
    let mut seen = Vec::new();
    for (at, own) in status.get("resourceClaimStatuses").items().iter().enumerate() {
        let (path, name) = (format!("status.resourceClaimStatuses[{at}].name"), text(own, "name"));
        if !known.contains(&name) {
            let why = "must match the name of an entry in `spec.resourceClaims`";
            errors.push(FieldError::invalid_text(&path, name, why));
        }
        if seen.contains(&name) {
            errors.push(FieldError::duplicate(&path, own.get("name")));
        }
        seen.push(name);
        if let Some(claim) = own.get("resourceClaimName").as_str() {
            invalid(names::subdomain(claim, wording), &path, claim, errors);
        }
    }
}

/// Checks the users and the health of the devices of a list of containers.
/// Source: validation.go (v1.34), `validateContainerStatusUsers`, `validateContainerStatusAllocatedResourcesStatus`.
fn containers(
    (status, spec): (&Json, &Json),
    (list, of): (&str, &str),
    wording: Wording,
    errors: &mut Vec<FieldError>,
) {
    let extended = status.get("extendedResourceClaimStatus");
    let is_windows = text(spec.get("os"), "name") == "windows";
    for (at, own) in status.get(list).items().iter().enumerate() {
        let (user, path) = (own.at(&["user", "linux"]), format!("status.{list}[{at}].user.linux"));
        if is_windows && !user.is_null() {
            errors.push(FieldError::forbidden(&path, "cannot be set for a windows pod"));
        } else if !user.is_null() {
            let groups = user.get("supplementalGroups").items().iter().enumerate();
            let groups = groups.map(|(at, group)| (format!("{path}.supplementalGroups[{at}]"), group));
            let own = ["uid", "gid"].map(|field| (format!("{path}.{field}"), user.get(field)));
            for (path, id) in own.into_iter().chain(groups) {
                // Source: validation.go (v1.37), which takes any user of Linux.
                let is_wide = wording.is_declared() && path.ends_with(".uid");
                let most = if is_wide { i64::from(u32::MAX) } else { i64::from(i32::MAX) };
                pod_details::id_below(path, id, most, errors);
            }
        }
        let devices = own.get("allocatedResourcesStatus").items();
        let path = format!("status.{list}[{at}].allocatedResourcesStatus");
        if list.starts_with("ephemeral") && !devices.is_empty() {
            errors.push(FieldError::forbidden(&path, "must not be specified in container status"));
            continue;
        }
        let container = spec.get(of).items().iter().find(|one| text(one, "name") == text(own, "name"));
        for (at, device) in devices.iter().enumerate() {
            health((device, container), &format!("{path}[{at}]"), (wording, extended), errors);
        }
    }
}

fn health(
    (device, container): (&Json, Option<&Json>),
    path: &str,
    (wording, extended): (Wording, &Json),
    errors: &mut Vec<FieldError>,
) {
    let name = text(device, "name");
    let resources = container.map(|own| own.get("resources"));
    let (is_there, why) = if name.starts_with("claim:") {
        let named = |claim: &Json| match text(claim, "request") {
            "" => format!("claim:{}", text(claim, "name")),
            request => format!("claim:{}/{request}", text(claim, "name")),
        };
        let is_there = resources.is_none_or(|own| own.get("claims").items().iter().any(|claim| named(claim) == name));
        let is_mapped = || wording.is_declared() && container.is_some_and(|own| is_mapped(name, own, extended));
        (is_there || is_mapped(), String::from(if wording.is_declared() { CLAIMS } else { OLD_CLAIMS }))
    } else {
        let is_there = resources.is_none_or(|own| !own.at(&["requests", name]).is_null());
        (is_there, String::from("must match one of the container's resource requests"))
    };
    if !is_there {
        errors.push(FieldError::invalid_text(format!("{path}.name"), name, why));
    }
    let mut seen = Vec::new();
    for (at, one) in device.get("resources").items().iter().enumerate() {
        let (health, id) = (text(one, "health"), text(one, "resourceID"));
        let known = ["Healthy", "Unhealthy", "Unknown"];
        if !known.contains(&health) {
            errors.push(FieldError::not_supported(format!("{path}.resources[{at}].health"), health, &known));
        }
        if seen.contains(&id) {
            errors.push(FieldError::duplicate(format!("{path}.resources[{at}].resourceID"), one.get("resourceID")));
        }
        seen.push(id);
    }
}

/// Tells whether a name is that of a request of the claim that the scheduler made for a container's extended resources.
/// Source: validation.go (v1.37), `validateContainerStatusAllocatedResourcesStatus`.
fn is_mapped(name: &str, container: &Json, extended: &Json) -> bool {
    let claim = text(extended, "resourceClaimName");
    let Some(request) = name.strip_prefix("claim:").and_then(|own| own.strip_prefix(claim)?.strip_prefix('/')) else {
        return false;
    };
    let asks = |resource: &str| {
        let amount = container.at(&["resources", "requests", resource]);
        Quantity::from_json(amount).is_some_and(|amount| !amount.is_zero())
    };
    extended.get("requestMappings").items().iter().any(|own| {
        text(own, "containerName") == text(container, "name")
            && text(own, "requestName") == request
            && asks(text(own, "resourceName"))
    })
}

fn generation(of: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let seen = of.get("observedGeneration").as_i64().unwrap_or(0);
    if seen < 0 {
        let why = "must be a non-negative integer";
        errors.push(FieldError::invalid(format!("{path}.observedGeneration"), &Json::Int(seen), why));
    }
}
