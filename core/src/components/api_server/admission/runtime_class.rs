//! The admission plugin RuntimeClass: what the class of a Pod costs, and where its Pods may run.
//!
//! Mirrors plugin/pkg/admission/runtimeclass/admission.go and pkg/util/tolerations/tolerations.go (v1.37). Inputs: a
//! new Pod, and the stored classes. Outputs: its overhead, node selector and tolerations; or 403.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::admission_write::subject;
use super::super::{ApiServer, status};
use crate::network::kinds::Kind;
use crate::network::{Answer, Resource};
use crate::objects::{Json, ObjectKey, names};

const RUNTIME_CLASSES: Resource = Resource::of("node.k8s.io", "v1", "runtimeclasses");

/// Gives a new Pod what its class says.
pub(super) fn admit(server: &ApiServer, kind: &Kind, tree: &mut Json) -> Result<(), Answer> {
    if !server.plugins.runs("RuntimeClass") {
        return Ok(());
    }
    let name = String::from(subject(tree));
    let refuse = |why: &str| Err(status::forbidden(&kind.resource, &name, why));
    let class = tree.at(&["spec", "runtimeClassName"]).as_text().cloned().unwrap_or_default();
    if class.is_empty() {
        return Ok(());
    }
    let Some(class) = server.object(&RUNTIME_CLASSES, &ObjectKey::cluster(&class)) else {
        let problems = names::path_segment(&class);
        if !problems.is_empty() {
            // Source: k8s.io/client-go rest/request.go (v1.34), `Name`: it is then asked for, and no path can name it.
            let why = format!("invalid resource name {:?}: [{}]", class.as_str(), problems.join(", "));
            return Err(status::untyped(&why));
        }
        return refuse(&format!("pod rejected: RuntimeClass {:?} not found", class.as_str()));
    };
    let overhead = class.stable().at(&["overhead", "podFixed"]);
    if !overhead.is_empty() {
        let sent = tree.at(&["spec", "overhead"]);
        if !sent.is_empty() && sent != overhead {
            return refuse("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
        }
        tree.set(&["spec", "overhead"], overhead.clone());
    }
    let scheduling = class.stable().get("scheduling");
    if scheduling.is_null() {
        return Ok(());
    }
    for (key, wanted) in scheduling.get("nodeSelector").fields() {
        let own = tree.at(&["spec", "nodeSelector", key]);
        if !own.is_null() && own != wanted {
            let text = |value: &Json| String::from(value.as_str().unwrap_or_default());
            return refuse(&format!(
                "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {}; pod.spec.nodeSelector[{key}] = {}",
                text(wanted),
                text(own)
            ));
        }
        tree.set(&["spec", "nodeSelector", key], wanted.clone());
    }
    let merged = merged(tree.at(&["spec", "tolerations"]).items(), scheduling.get("tolerations").items());
    if !merged.is_empty() {
        tree.set(&["spec", "tolerations"], merged);
    }
    Ok(())
}

/// Puts tolerations together, without those that another one includes. Source: `MergeTolerations`.
fn merged(own: &[Json], more: &[Json]) -> Vec<Json> {
    let all = [own, more].concat();
    let mut kept: Vec<Json> = Vec::new();
    for (at, toleration) in all.iter().enumerate() {
        let is_included = kept.iter().any(|other| includes(other, toleration))
            || all[at + 1..].iter().any(|other| other != toleration && includes(other, toleration));
        if !is_included {
            kept.push(toleration.clone());
        }
    }
    kept
}

/// Tells whether a toleration tolerates all that another one does. Source: `isSuperset`.
fn includes(whole: &Json, part: &Json) -> bool {
    let text = |of: &Json, field: &str| String::from(of.get(field).as_str().unwrap_or_default());
    let same = |field: &str| text(whole, field) == text(part, field);
    let operator = text(whole, "operator");
    if whole == part {
        return true;
    }
    let has_key = same("key") || text(whole, "key").is_empty() && operator == "Exists";
    if !has_key || !same("effect") && !text(whole, "effect").is_empty() {
        return false;
    }
    let seconds = |of: &Json| of.get("tolerationSeconds").as_i64();
    if text(whole, "effect") == "NoExecute"
        && seconds(whole).is_some_and(|most| seconds(part).is_none_or(|own| own > most))
    {
        return false;
    }
    match operator.as_str() {
        "" | "Equal" => text(part, "operator") == "Equal" && same("value"),
        other => other == "Exists",
    }
}

/// Refuses a valid Pod with an overhead that no RuntimeClass gives it. Source: `validateOverhead`.
pub(super) fn check_overhead(server: &ApiServer, kind: &Kind, tree: &Json) -> Result<(), Answer> {
    if kind.rules() != "Pod" || !server.plugins.runs("RuntimeClass") || tree.at(&["spec", "overhead"]).is_null() {
        return Ok(());
    }
    let class = tree.at(&["spec", "runtimeClassName"]).as_text().cloned().unwrap_or_default();
    let class = server.object(&RUNTIME_CLASSES, &ObjectKey::cluster(&class));
    if class.is_some_and(|class| !class.stable().at(&["overhead", "podFixed"]).is_empty()) {
        return Ok(());
    }
    let why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
    Err(status::forbidden(&kind.resource, subject(tree), why))
}

#[cfg(test)]
mod tests {
    use core::slice::from_ref;

    use super::merged;
    use crate::json;

    #[test]
    fn a_toleration_that_another_one_includes_is_left_out() {
        let all = json!({"operator": "Exists"});
        let one = json!({"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"});
        let short = json!({"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5});
        let long = json!({"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 9});
        assert_eq!(merged(&[one.clone(), short.clone()], from_ref(&long)), [one.clone(), long.clone()]);
        assert_eq!(merged(&[one.clone(), long], from_ref(&all)), [all]);
        assert_eq!(merged(from_ref(&one), from_ref(&one)), [one]);
    }
}
