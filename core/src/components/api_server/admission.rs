//! What the built-in admission plugins change and refuse.
//!
//! Mirrors plugin/pkg/admission/{nodetaint,priority,defaulttolerationseconds,runtimeclass,podtopologylabels} (v1.36), in
//! the order of pkg/kubeapiserver/options/plugins.go. Left out on purpose: plugins that act only on objects which are
//! not modelled.

use alloc::format;

use super::resources::Kind;
use super::{ApiServer, service_accounts, status};
use crate::json;
use crate::network::{Answer, NODES, Resource};
use crate::objects::{Json, ObjectKey};

const RUNTIME_CLASSES: Resource = Resource::of("node.k8s.io", "v1", "runtimeclasses");
const PRIORITY_CLASSES: Resource = Resource::of("scheduling.k8s.io", "v1", "priorityclasses");

/// Runs the plugins for a new object.
pub(super) fn create(server: &mut ApiServer, kind: &Kind, tree: &mut Json) -> Result<(), Answer> {
    match kind.name {
        "Node" => taint_new_node(tree),
        "Pod" => {
            service_accounts::admit(server, kind, tree)?;
            set_priority(server, kind, tree)?;
            add_default_tolerations(server, tree);
            add_overhead(server, kind, tree)?;
            let node = tree.at(&["spec", "nodeName"]).as_text().cloned().unwrap_or_default();
            add_topology_labels(server, &node, tree);
        }
        "PriorityClass" => only_one_default(server, kind, tree)?,
        _ => {}
    }
    Ok(())
}

/// Runs the plugins for a change.
pub(super) fn update(server: &ApiServer, kind: &Kind, subresource: &str, tree: &mut Json) -> Result<(), Answer> {
    if kind.name == "Pod" && subresource.is_empty() {
        add_default_tolerations(server, tree);
    }
    Ok(())
}

/// Gives a pod the zone and region of the node to which it is bound.
/// Source: plugin/pkg/admission/podtopologylabels/admission.go (v1.35).
pub(super) fn add_topology_labels(server: &ApiServer, node: &str, tree: &mut Json) {
    if node.is_empty() || !server.settings.profile().is("pod-topology-labels") {
        return;
    }
    let Some(node) = server.object(&NODES, &ObjectKey::cluster(node)) else { return };
    for label in ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"] {
        let value = node.stable().at(&["metadata", "labels", label]);
        if !value.is_null() {
            tree.set(&["metadata", "labels", label], value.clone());
        }
    }
}

/// Source: plugin/pkg/admission/nodetaint/admission.go (v1.34), TaintNodesByCondition.
fn taint_new_node(tree: &mut Json) {
    const NOT_READY: &str = "node.kubernetes.io/not-ready";
    let has = tree.at(&["spec", "taints"]).items().iter().any(|taint| {
        taint.get("key").as_str() == Some(NOT_READY) && taint.get("effect").as_str() == Some("NoSchedule")
    });
    if !has {
        let taint = json!({"key": NOT_READY, "effect": "NoSchedule"});
        tree.entry(&["spec", "taints"]).make_array().push(taint);
    }
}

/// Source: plugin/pkg/admission/defaulttolerationseconds/admission.go (v1.34).
fn add_default_tolerations(server: &ApiServer, tree: &mut Json) {
    let rows = [
        ("node.kubernetes.io/not-ready", "default-not-ready-toleration-seconds"),
        ("node.kubernetes.io/unreachable", "default-unreachable-toleration-seconds"),
    ];
    for (key, row) in rows {
        let has = tree.at(&["spec", "tolerations"]).items().iter().any(|toleration| {
            matches!(toleration.get("key").as_str(), Some(found) if found == key || found.is_empty())
                && matches!(toleration.get("effect").as_str(), None | Some("" | "NoExecute"))
                || toleration.get("key").is_null()
                    && matches!(toleration.get("effect").as_str(), None | Some("" | "NoExecute"))
        });
        if !has {
            #[expect(clippy::cast_possible_truncation, reason = "a count of seconds, given as a whole number")]
            let seconds = server.settings.number(row) as i64;
            let toleration =
                json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds});
            tree.entry(&["spec", "tolerations"]).make_array().push(toleration);
        }
    }
}

/// Source: plugin/pkg/admission/runtimeclass/admission.go (v1.34).
fn add_overhead(server: &ApiServer, kind: &Kind, tree: &mut Json) -> Result<(), Answer> {
    let name = tree.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
    let refuse = |why: &str| Err(status::forbidden(&kind.resource, &name, &format!("pod rejected: {why}")));
    let sent = tree.at(&["spec", "overhead"]).clone();
    let class = tree.at(&["spec", "runtimeClassName"]).as_text().cloned().unwrap_or_default();
    if class.is_empty() {
        return if sent.is_empty() {
            Ok(())
        } else {
            refuse("Pod Overhead set without corresponding RuntimeClass defined Overhead")
        };
    }
    let Some(class) = server.object(&RUNTIME_CLASSES, &ObjectKey::cluster(&class)) else {
        return refuse(&format!("RuntimeClass {:?} not found", class.as_str()));
    };
    let overhead = class.stable().at(&["overhead", "podFixed"]);
    if !sent.is_empty() && sent != *overhead {
        return refuse("Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    }
    if !overhead.is_empty() {
        tree.set(&["spec", "overhead"], overhead.clone());
    }
    Ok(())
}

/// Source: plugin/pkg/admission/priority/admission.go (v1.34), `validatePriorityClass`.
fn only_one_default(server: &ApiServer, kind: &Kind, tree: &Json) -> Result<(), Answer> {
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

/// Source: plugin/pkg/admission/priority/admission.go (v1.34).
fn set_priority(server: &ApiServer, kind: &Kind, tree: &mut Json) -> Result<(), Answer> {
    let name = tree.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
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
    if let Some(given) = tree.at(&["spec", "priority"]).as_i64()
        && given != value
    {
        return Err(status::forbidden(
            &kind.resource,
            &name,
            &format!(
                "the integer value of priority ({given}) must not be provided in pod spec; priority admission \
                 controller computed {value} from the given PriorityClass name"
            ),
        ));
    }
    if let Some(given) = tree.at(&["spec", "preemptionPolicy"]).as_str()
        && given != policy.as_str()
    {
        return Err(status::forbidden(
            &kind.resource,
            &name,
            &format!(
                "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission \
                 controller computed {policy} from the given PriorityClass name"
            ),
        ));
    }
    tree.set(&["spec", "priority"], value);
    tree.set(&["spec", "preemptionPolicy"], policy);
    Ok(())
}
