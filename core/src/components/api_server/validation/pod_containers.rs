//! Validation of what the subresources `ephemeralcontainers` and `resize` change of a Pod.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34), `ValidatePodEphemeralContainersUpdate` and
//! `ValidatePodResize`. Inputs: the changed Pod and the stored one. Outputs: errors.

use alloc::format;
use alloc::vec::Vec;

use super::pod::{MIRROR, Rules, annotations, tokens, validate_spec};
use super::pod_update::mirror;
use super::{FieldError, meta, text};
use crate::components::pod_resources::qos_class;
use crate::network::kinds::Kind;
use crate::objects::Json;
use crate::objects::names::Wording;
use crate::objects::quantity::Quantity;
use crate::profile::Settings;

/// The resources that can change while a container runs.
const RESIZABLE: [&str; 2] = ["cpu", "memory"];
/// How upstream prints the path of a field without a name.
const WHOLE: &str = "[]";
const LISTS: [&str; 2] = ["containers", "initContainers"];

/// Checks the containers that debug: those that are there stay as they are.
pub(in super::super) fn ephemeral(
    kind: &Kind,
    (tree, old): (&Json, &Json),
    wording: Wording,
    rules: Rules,
) -> Vec<FieldError> {
    let mut errors = whole(kind, (tree, old), wording, rules);
    mirror(tree, old, &mut errors);
    if is_mirror(old) {
        return Vec::from([FieldError::forbidden(WHOLE, "static pods do not support ephemeral containers")]);
    }
    let list = ["spec", "ephemeralContainers"];
    for before in old.at(&list).items() {
        let name = text(before, "name");
        let path = "spec.ephemeralContainers";
        match tree.at(&list).items().iter().rev().find(|now| text(now, "name") == name) {
            None => {
                let why = format!("existing ephemeral containers {name:?} may not be removed\n");
                errors.push(FieldError::forbidden(path, why));
            }
            Some(now) if now != before => {
                let why = format!("existing ephemeral containers {name:?} may not be changed");
                let (old, new) = (before.clone(), now.clone());
                errors.push(FieldError::changed("EphemeralContainer", path, &why, old, new));
            }
            Some(_) => {}
        }
    }
    errors
}

/// Checks the resources of containers that run: processor and memory may change, but not come or go.
pub(in super::super) fn resize(
    kind: &Kind,
    (tree, old): (&Json, &Json),
    wording: Wording,
    settings: &Settings,
) -> Vec<FieldError> {
    let mut errors = whole(kind, (tree, old), wording, Rules::of(settings));
    let refused = |why: &str| Vec::from([FieldError::forbidden(WHOLE, why)]);
    let has_own = |pod: &Json| {
        let own = pod.at(&["spec", "resources"]);
        !own.get("requests").is_empty() || !own.get("limits").is_empty()
    };
    if has_own(tree) || has_own(old) {
        return refused("pods with pod-level resources cannot be resized");
    }
    if is_mirror(old) {
        return refused("static pods cannot be resized");
    }
    if old.at(&["spec", "os", "name"]).as_str() == Some("windows") {
        return refused("windows pods cannot be resized");
    }
    let stored = old.at(&["status", "qosClass"]).as_str();
    if stored.unwrap_or_else(|| qos_class(old, settings)) != qos_class(tree, settings) {
        let why = "Pod QOS Class may not change as a result of resizing";
        errors.push(FieldError::invalid("spec", tree.at(&["status", "qosClass"]), why));
    }
    let mut running = old.at(&["status", "containerStatuses"]).items().iter();
    let running = running.find(|status| !status.at(&["state", "running"]).is_null());
    if running.is_some_and(|status| status.get("resources").is_null()) {
        errors.push(FieldError::forbidden("spec", "Pod running on node without support for resize"));
    }
    let before = errors.len();
    order(tree, old, &mut errors);
    if errors.len() == before {
        amounts(tree, old, settings, &mut errors);
    }
    errors
}

fn is_mirror(pod: &Json) -> bool {
    !pod.at(&["metadata", "annotations", MIRROR]).is_null()
}

/// Checks metadata and specification as those of a new Pod.
fn whole(kind: &Kind, (tree, old): (&Json, &Json), wording: Wording, rules: Rules) -> Vec<FieldError> {
    let mut errors = meta::validate_core_update(tree, old, wording);
    errors.extend(meta::validate_change(kind, tree, old, wording));
    annotations(tree, "metadata.annotations", &mut errors);
    let (spec, stored) = (tree.get("spec"), old.get("spec"));
    validate_spec(spec, wording, rules.beside(stored), &mut errors);
    tokens(spec, &mut errors);
    errors
}

/// Checks that the containers are the same. Source: validation.go (v1.34), `validatePodResizeContainerOrdering`.
fn order(tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
    for list in LISTS {
        let (new, old) = (tree.at(&["spec", list]).items(), old.at(&["spec", list]).items());
        if new.len() != old.len() {
            let why = format!("{list} may not be added or removed on resize");
            errors.push(FieldError::forbidden(format!("spec.{list}"), why));
            continue;
        }
        for (at, _) in new.iter().zip(old).enumerate().filter(|(_, (new, old))| new.get("name") != old.get("name")) {
            let why = format!("{list} may not be renamed or reordered on resize");
            errors.push(FieldError::forbidden(format!("spec.{list}[{at}].name"), why));
        }
    }
}

/// Checks what changes of each container.
fn amounts(tree: &Json, old: &Json, settings: &Settings, errors: &mut Vec<FieldError>) {
    let pairs = |list: &'static str| tree.at(&["spec", list]).items().iter().zip(old.at(&["spec", list]).items());
    let resizes_inits = settings.profile().is("init-containers-are-resized");
    for list in ["initContainers", "containers"] {
        let counts = |old: &Json| list == "containers" || restarts(old) || resizes_inits;
        for (at, (new, old)) in pairs(list).enumerate().filter(|(_, (_, old))| counts(old)) {
            lists(new, old, &format!("spec.{list}[{at}].resources"), settings, errors);
        }
    }
    for list in LISTS {
        for (at, (new, old)) in pairs(list).enumerate() {
            if list == "containers" {
                if with_amounts_of(new, old) != *old {
                    errors.push(FieldError::forbidden("spec", "only cpu and memory resources are mutable"));
                }
            } else if resizes_inits {
                init(new, old, &format!("spec.{list}[{at}]"), errors);
            } else {
                let why = match restarts(new) {
                    true => "only cpu and memory resources for sidecar containers are mutable",
                    false => "resources for non-sidecar init containers are immutable",
                };
                let is_other = if restarts(new) { with_amounts_of(new, old) != *old } else { new != old };
                errors.extend(is_other.then(|| FieldError::forbidden("spec", why)));
            }
        }
    }
}

fn restarts(container: &Json) -> bool {
    text(container, "restartPolicy") == "Always"
}

/// Checks that nothing is taken away. Source: validation.go (v1.33, v1.34), `validateContainerResize`.
fn lists(new: &Json, old: &Json, path: &str, settings: &Settings, errors: &mut Vec<FieldError>) {
    for (kind, why) in
        [("requests", "resource requests cannot be removed"), ("limits", "resource limits cannot be removed")]
    {
        let (new, old) = (new.at(&["resources", kind]), old.at(&["resources", kind]));
        if old.fields().any(|(name, _)| new.get(name).is_null()) {
            errors.push(FieldError::forbidden(format!("{path}.{kind}"), why));
        }
    }
    if !settings.profile().is("memory-limits-stay-or-grow") || restarts_for_memory(new) {
        return;
    }
    let [wanted, has] = [new, old].map(|own| Quantity::from_json(own.at(&["resources", "limits", "memory"])));
    let what = match (wanted, has) {
        (Some(wanted), Some(has)) if wanted < has => "decreased",
        (Some(_), None) => "added",
        _ => return,
    };
    let why = format!("memory limits cannot be {what} unless resizePolicy is RestartContainer");
    errors.push(FieldError::forbidden(format!("{path}.limits[memory]"), why));
}

/// Checks what changes of an init container where any can be resized. Source: validation.go (v1.36, v1.37),
/// `ValidatePodResize`.
fn init(new: &Json, old: &Json, path: &str, errors: &mut Vec<FieldError>) {
    if with_amounts_of(new, old) != *old {
        let why = "only cpu and memory resources for init or sidecar containers are mutable";
        errors.push(FieldError::forbidden(path, why));
    }
    if new != old && !restarts(new) {
        let why = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
        let policies = new.get("resizePolicy").items().iter();
        let anew = policies.filter(|own| text(own, "restartPolicy") == "RestartContainer");
        errors.extend(anew.map(|_| FieldError::forbidden(path, why)));
    }
}

/// Tells whether a container starts anew with other memory. Source: validation.go (v1.33), `validateContainerResize`.
fn restarts_for_memory(container: &Json) -> bool {
    let own = container.get("resizePolicy").items().iter().find(|own| text(own, "resourceName") == "memory");
    own.is_some_and(|own| text(own, "restartPolicy") == "RestartContainer")
}

/// Returns a container with the processor and memory of the stored one. Source: validation.go (v1.34),
/// `dropCPUMemoryResourcesFromContainer`.
fn with_amounts_of(new: &Json, old: &Json) -> Json {
    let mut container = new.clone();
    for kind in ["requests", "limits"] {
        let stored = old.at(&["resources", kind]);
        if stored.is_null() {
            container.remove(&["resources", kind]);
            continue;
        }
        for name in RESIZABLE {
            match stored.get(name) {
                Json::Null => _ = container.remove(&["resources", kind, name]),
                amount => container.set(&["resources", kind, name], amount.clone()),
            }
        }
    }
    container
}
