//! Validation of changes of a Pod's status.
//!
//! Mirrors pkg/apis/core/validation/validation.go (v1.34), `ValidatePodStatusUpdate`. Inputs: the changed Pod and the
//! stored one. Outputs: errors.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::ip::{self, Reading};
use super::pod_update::mirror;
use super::{FieldError, Problem, invalid, meta, text};
use crate::objects::Json;
use crate::objects::names::{self, Wording};

/// Checks a change of a Pod's status.
pub(in super::super) fn validate(tree: &Json, old: &Json, wording: Wording, reading: Reading) -> Vec<FieldError> {
    let mut errors = meta::validate_core_update(tree, old, wording);
    mirror(tree, old, &mut errors);
    let status = tree.get("status");
    let stored = old.at(&["status", "qosClass"]);
    if !stored.is_null() && status.get("qosClass") != stored {
        errors.push(FieldError::invalid("status.qosClass", status.get("qosClass"), "field is immutable"));
    }
    let nominated = text(status, "nominatedNodeName");
    if nominated != text(old.get("status"), "nominatedNodeName") && !nominated.is_empty() {
        invalid(names::subdomain(nominated, wording), "status.nominatedNodeName", nominated, &mut errors);
    }
    generation(status, "status", &mut errors);
    for (at, condition) in status.get("conditions").items().iter().enumerate() {
        let name = text(condition, "type");
        generation(condition, &format!("status.conditions[{at}]"), &mut errors);
        if ["PodScheduled", "Ready", "Initialized"].contains(&name) {
            continue;
        }
        invalid(names::qualified(name, wording), format!("status.conditions[{at}].Type"), name, &mut errors);
    }
    addresses((status, old.get("status")), "podIPs", reading, &mut errors);
    let (first, one) = (status.get("hostIPs").items().first(), text(status, "hostIP"));
    if let Some(first) = first.map(|first| text(first, "ip")).filter(|first| *first != one) {
        errors.push(FieldError::invalid_text("status.hostIPs[0].ip", first, "must be equal to `hostIP`"));
    }
    addresses((status, old.get("status")), "hostIPs", reading, &mut errors);
    let policy = old.at(&["spec", "restartPolicy"]).as_str().unwrap_or("Always");
    if policy != "Always" {
        unterminated(tree, old, policy, &mut errors);
    }
    errors
}

fn addresses((status, old): (&Json, &Json), list: &str, reading: Reading, errors: &mut Vec<FieldError>) {
    let items = status.get(list).items();
    let stored: Vec<&str> = old.get(list).items().iter().map(|item| text(item, "ip")).collect();
    for (at, item) in items.iter().enumerate().filter(|(_, item)| !stored.contains(&text(item, "ip"))) {
        ip::legacy(text(item, "ip"), &format!("status.{list}[{at}]"), reading, errors);
    }
    let known: Vec<bool> = items.iter().filter_map(|item| ip::parse(text(item, "ip"))).map(ip::is_ipv4).collect();
    if items.len() > 1 && known.len() == items.len() && (items.len() > 2 || known[0] == known[1]) {
        let printed: Vec<String> = items.iter().map(|item| format!("{{\"IP\":{:?}}}", text(item, "ip"))).collect();
        let value = format!("[{}]", printed.join(","));
        let kind = if list == "podIPs" { "core.PodIP" } else { "core.HostIP" };
        let go: Vec<String> = items.iter().map(|item| format!("{kind}{{IP:{:?}}}", text(item, "ip"))).collect();
        let why = String::from("may specify no more than one IP for each IP family");
        let error = FieldError::new(format!("status.{list}"), Problem::Invalid, value, why);
        errors.push(error.in_go(format!("[]{kind}{{{}}}", go.join(", "))));
    }
}

/// A container that ended stays ended unless its policy restarts it.
fn unterminated(tree: &Json, old: &Json, policy: &str, errors: &mut Vec<FieldError>) {
    let new = tree.at(&["status", "containerStatuses"]).items();
    for before in old.at(&["status", "containerStatuses"]).items() {
        let ended = before.at(&["state", "terminated"]);
        let restarts = policy == "OnFailure" && ended.get("exitCode").as_i64() != Some(0);
        if ended.is_null() || restarts {
            continue;
        }
        if let Some(at) = new.iter().position(|status| text(status, "name") == text(before, "name"))
            && new[at].at(&["state", "terminated"]).is_null()
        {
            let path = format!("status.containerStatuses[{at}].state");
            errors.push(FieldError::forbidden(path, "may not be transitioned to non-terminated state"));
        }
    }
}

fn generation(of: &Json, path: &str, errors: &mut Vec<FieldError>) {
    let seen = of.get("observedGeneration").as_i64().unwrap_or(0);
    if seen < 0 {
        let why = "must be a non-negative integer";
        errors.push(FieldError::invalid(format!("{path}.observedGeneration"), &Json::Int(seen), why));
    }
}
