//! The admission plugin Priority: gives a Pod the number of its class, and allows at most one default class.
//!
//! Mirrors plugin/pkg/admission/priority/admission.go (v1.34). Inputs: a Pod or a PriorityClass, and the stored
//! classes.
//! Outputs: `spec.priority`, `spec.preemptionPolicy` and perhaps the name of the default class; or 403.

use alloc::format;
use alloc::string::String;

use super::admission_write::subject;
use super::fields::set_absent;
use super::validation::others::{CLUSTER_CRITICAL, NODE_CRITICAL};
use super::{ApiServer, status};
use crate::network::kinds::Kind;
use crate::network::{Answer, Resource};
use crate::objects::{Json, ObjectKey};

const PRIORITY_CLASSES: Resource = Resource::of("scheduling.k8s.io", "v1", "priorityclasses");

/// Source: plugin/pkg/admission/priority/admission.go (v1.34), `validatePriorityClass`.
pub(super) fn only_one_default(server: &ApiServer, kind: &Kind, tree: &Json) -> Result<(), Answer> {
    if tree.get("globalDefault").as_bool() != Some(true) {
        return Ok(());
    }
    let name = tree.at(&["metadata", "name"]).as_str().unwrap_or("");
    let classes = server.objects(&PRIORITY_CLASSES);
    let other = classes
        .iter()
        .find(|class| class.stable().get("globalDefault").as_bool() == Some(true) && class.name() != name);
    match other {
        Some(other) => {
            let why =
                format!("PriorityClass {} is already marked as default. Only one default can exist", other.name());
            Err(status::forbidden(&kind.resource, name, &why))
        }
        None => Ok(()),
    }
}

/// Refuses to delete a class of the system by its name; with its collection it goes.
/// Source: pkg/registry/scheduling/priorityclass/storage/storage.go (v1.34), `Delete`.
pub(super) fn may_delete(kind: &Kind, name: &str) -> Result<(), Answer> {
    if kind.resource == PRIORITY_CLASSES && [NODE_CRITICAL, CLUSTER_CRITICAL].iter().any(|(own, _)| *own == name) {
        let why = "this is a system priority class and cannot be deleted";
        return Err(status::forbidden(&kind.resource, name, why));
    }
    Ok(())
}

/// Gives a changed Pod that has no number the one it had, and its policy likewise. Source:
/// plugin/pkg/admission/priority/admission.go (v1.34), `admitPod`.
pub(super) fn keep(tree: &mut Json, old: &Json) {
    for field in ["priority", "preemptionPolicy"] {
        let stored = old.at(&["spec", field]);
        if !stored.is_null() {
            set_absent(tree, &["spec", field], stored.clone());
        }
    }
}

/// Source: plugin/pkg/admission/priority/admission.go (v1.34).
pub(super) fn set_priority(server: &ApiServer, kind: &Kind, tree: &mut Json) -> Result<(), Answer> {
    let name = String::from(subject(tree));
    let class = tree.at(&["spec", "priorityClassName"]).as_text().cloned().unwrap_or_default();
    let found = if class.is_empty() {
        let defaults = server.objects(&PRIORITY_CLASSES);
        let default = defaults
            .iter()
            .map(|object| object.stable().clone())
            .filter(|class| class.get("globalDefault").as_bool() == Some(true))
            .min_by_key(|class| class.get("value").as_i64());
        if let Some(default) = &default {
            tree.set(&["spec", "priorityClassName"], default.at(&["metadata", "name"]).clone());
        }
        default
    } else {
        let object = server.object(&PRIORITY_CLASSES, &ObjectKey::cluster(&class));
        let object = object.ok_or_else(|| {
            status::forbidden(&kind.resource, &name, &format!("no PriorityClass with name {class} was found"))
        })?;
        Some(object.stable().clone())
    };
    let value = found.as_ref().and_then(|class| class.get("value").as_i64()).unwrap_or(0);
    let policy = found.as_ref().and_then(|class| class.get("preemptionPolicy").as_text().cloned());
    let policy = policy.unwrap_or_else(|| "PreemptLowerPriority".into());
    let refuse = |what: &str, given: &dyn core::fmt::Display, computed: &dyn core::fmt::Display| {
        let why = format!(
            "the {what} ({given}) must not be provided in pod spec; priority admission controller computed {computed} \
             from the given PriorityClass name"
        );
        Err(status::forbidden(&kind.resource, &name, &why))
    };
    if let Some(given) = tree.at(&["spec", "priority"]).as_i64().filter(|given| *given != value) {
        return refuse("integer value of priority", &given, &value);
    }
    if let Some(given) = tree.at(&["spec", "preemptionPolicy"]).as_str().filter(|given| *given != policy.as_str()) {
        return refuse("string value of PreemptionPolicy", &given, &policy);
    }
    tree.set(&["spec", "priority"], value);
    tree.set(&["spec", "preemptionPolicy"], policy);
    Ok(())
}
