//! Infers the writes of a recording without an audit log from its watches.
//!
//! Inputs: the lines of the watches, with the field managers. Outputs: lines as in `writes.jsonl`. Only changes that
//! one controller alone makes are inferred: conditions, taints, labels and blocks of Nodes, the ttl annotation,
//! readiness of Pods. Left out on purpose: deletions, writes that several controllers make, refused requests.

use std::collections::BTreeMap;

use nodeproof_core::json;
use nodeproof_core::network::WatchType;
use nodeproof_core::objects::{Json, Text};

use super::load::{Micros, WatchLine, WriteLine};
use super::writers::Writer;

/// How long before a watch shows it a write is received, about.
const BEFORE: Micros = 2_000;
/// How long after it was received a write is answered, about.
const TAKES: Micros = 1_500;
/// The manager of everything that kube-controller-manager writes.
const CONTROLLERS: &str = "kube-controller-manager";
/// The annotation of the ttl controller.
/// Source: k8s.io/api core/v1/annotation_key_constants.go (v1.34), `ObjectTTLAnnotationKey`.
const TTL: &str = "node.alpha.kubernetes.io/ttl";

/// The label that names the manager of a slice. Source: k8s.io/api discovery/v1/well_known_labels.go (v1.34),
/// `LabelManagedBy`.
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
/// Source: pkg/controller/endpointslice/endpointslice_controller.go (v1.34), `ControllerName`.
const SLICES_MANAGER: &str = "endpointslice-controller.k8s.io";

/// The writers whose writes can all be inferred; others cannot be judged without an audit log.
pub const TOLD: [Writer; 3] = [Writer::NODE_LIFECYCLE, Writer::NODE_IPAM, Writer::TTL];

/// Returns the writes that the watches show, in the order of their instants.
#[must_use]
pub fn writes(watch: &[WatchLine]) -> Vec<WriteLine> {
    let mut known: BTreeMap<(&str, Text, Text), &WatchLine> = BTreeMap::new();
    let mut found = Vec::new();
    for line in watch {
        let key = line.object.key();
        let place = (line.kind.as_str(), key.namespace, key.name);
        if line.event == WatchType::Deleted {
            known.remove(&place);
        } else if let Some(before) = known.insert(place, line)
            && line.manager.0 == CONTROLLERS
        {
            found.extend(write(before, line));
        }
    }
    found.sort_by_key(|write| write.t);
    found
}

/// Returns the writes of endpoint slices: no recording has them in an audit log, and only one controller makes them.
#[must_use]
pub fn slices(watch: &[WatchLine]) -> Vec<WriteLine> {
    let mut known: BTreeMap<(Text, Text), u64> = BTreeMap::new();
    let mut found = Vec::new();
    for line in watch.iter().filter(|line| line.kind == "EndpointSlice") {
        let key = line.object.key();
        let revision = line.object.resource_version();
        if line.event == WatchType::Deleted {
            known.remove(&(key.namespace, key.name));
            continue;
        }
        let before = known.insert((key.namespace.clone(), key.name.clone()), revision);
        let marks = line.object.stable().at(&["metadata", "labels"]);
        if line.listed || marks.get(MANAGED_BY).as_str() != Some(SLICES_MANAGER) {
            continue;
        }
        let mut body = line.object.json();
        let mut uri = format!("/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices", key.namespace);
        let verb = if let Some(before) = before {
            uri = format!("{uri}/{}", key.name);
            body.set(&["metadata", "resourceVersion"], before.to_string());
            "update"
        } else {
            body.remove(&["metadata", "name"]);
            "create"
        };
        found.push(WriteLine {
            t: line.t - BEFORE,
            end: line.t - BEFORE + TAKES,
            user: format!("system:serviceaccount:kube-system:{}", Writer::ENDPOINT_SLICE.user()),
            verb: verb.to_owned(),
            uri,
            code: if verb == "create" { 201 } else { 200 },
            resource_version: revision,
            body,
            message: String::new(),
        });
    }
    found
}

fn write(before: &WatchLine, line: &WatchLine) -> Option<WriteLine> {
    let (old, new) = (before.object.json(), line.object.json());
    let key = line.object.key();
    let changed = |path: &[&str]| old.at(path) != new.at(path);
    let is_status = line.manager.1 == "status";
    let version = before.object.resource_version().to_string();
    let whole =
        json!({"metadata": {"name": key.name.as_str(), "resourceVersion": version.as_str()}, "_": "whole object"});
    let node = format!("/api/v1/nodes/{}", key.name);
    let (user, verb, uri, body) = match line.kind.as_str() {
        "Node" if is_status && changed(&["status", "conditions"]) => {
            (Writer::NODE_LIFECYCLE, "update", format!("{node}/status"), whole)
        }
        "Pod" if is_status && was_made_unready(&old, &new) => {
            let uri = format!("/api/v1/namespaces/{}/pods/{}/status", key.namespace, key.name);
            (Writer::NODE_LIFECYCLE, "update", uri, whole)
        }
        "Node" if is_status => return None,
        "Node" if changed(&["spec", "taints"]) => {
            let mut body = json!({"metadata": {"resourceVersion": version.as_str()}});
            body.set(&["spec", "taints"], new.at(&["spec", "taints"]).clone());
            (Writer::NODE_LIFECYCLE, "patch", node, body)
        }
        "Node" if changed(&["spec", "podCIDR"]) => {
            let mut body = Json::object();
            for field in ["podCIDR", "podCIDRs"] {
                body.set(&["spec", field], new.at(&["spec", field]).clone());
            }
            (Writer::NODE_IPAM, "patch", node, body)
        }
        "Node" if changed(&["metadata", "annotations", TTL]) => {
            let mut body = Json::object();
            body.set(&["metadata", "annotations", TTL], new.at(&["metadata", "annotations", TTL]).clone());
            (Writer::TTL, "patch", node, body)
        }
        "Node" if changed(&["metadata", "labels"]) => {
            let mut body = Json::object();
            for (label, value) in new.at(&["metadata", "labels"]).fields() {
                if old.at(&["metadata", "labels", label]) != value {
                    body.set(&["metadata", "labels", label], value.clone());
                }
            }
            (Writer::NODE_LIFECYCLE, "patch", node, body)
        }
        _ => return None,
    };
    Some(WriteLine {
        t: line.t - BEFORE,
        end: line.t - BEFORE + TAKES,
        user: format!("system:serviceaccount:kube-system:{}", user.user()),
        verb: verb.to_owned(),
        uri,
        code: 200,
        resource_version: line.object.resource_version(),
        body,
        message: String::new(),
    })
}

/// Tells whether a Pod lost only its readiness, as the node lifecycle controller does when a Node is not ready.
fn was_made_unready(old: &Json, new: &Json) -> bool {
    let ready = |pod: &Json| {
        let conditions = pod.at(&["status", "conditions"]).items().iter();
        let ready = conditions.filter(|condition| condition.get("type").as_str() == Some("Ready"));
        ready.filter_map(|condition| condition.get("status").as_str()).next().map(str::to_owned)
    };
    ready(old).as_deref() == Some("True")
        && ready(new).as_deref() == Some("False")
        && old.at(&["status", "phase"]) == new.at(&["status", "phase"])
}

#[cfg(test)]
mod tests {
    use nodeproof_core::objects::Object;

    use super::*;

    fn line(t: Micros, manager: (&str, &str), node: Json) -> WatchLine {
        WatchLine {
            t,
            listed: false,
            event: WatchType::Modified,
            kind: "Node".to_owned(),
            object: Object::as_received(node),
            actor: String::new(),
            verb: String::new(),
            subresource: String::new(),
            manager: (manager.0.to_owned(), manager.1.to_owned()),
        }
    }

    fn node(revision: &str, ready: &str, taints: Json) -> Json {
        json!({"kind": "Node", "metadata": {"name": "w1", "resourceVersion": revision}, "spec": {"taints": taints},
            "status": {"conditions": [{"type": "Ready", "status": ready}]}})
    }

    #[test]
    fn what_one_controller_alone_changes_tells_it() {
        let manager = (CONTROLLERS, "");
        let taints = json!([{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]);
        let lines = [
            line(1_000_000, ("kubelet", "status"), node("1", "True", Json::Null)),
            line(2_000_000, (CONTROLLERS, "status"), node("2", "Unknown", Json::Null)),
            line(3_000_000, manager, node("3", "Unknown", taints.clone())),
            line(4_000_000, ("kubectl-taint", ""), node("4", "Unknown", Json::Null)),
            line(5_000_000, manager, node("5", "Unknown", Json::Null)),
        ];
        let told: Vec<String> = writes(&lines)
            .iter()
            .map(|write| format!("{} {} {} {} {}", write.t, write.verb, write.uri, write.resource_version, write.body))
            .collect();
        assert_eq!(
            told,
            [
                concat!(
                    r#"1998000 update /api/v1/nodes/w1/status 2 "#,
                    r#"{"_":"whole object","metadata":{"name":"w1","resourceVersion":"1"}}"#
                ),
                concat!(
                    r#"2998000 patch /api/v1/nodes/w1 3 {"metadata":{"resourceVersion":"2"},"#,
                    r#""spec":{"taints":[{"effect":"NoSchedule","key":"node.kubernetes.io/unreachable"}]}}"#
                ),
            ]
        );
    }
}
