//! Removes private values from objects before they reach a file.
//!
//! Input: an object. Output: the object as it may be stored. Names, labels and selectors stay, since a replay needs
//! them. What a program runs with, and what describes a machine beyond its size, is removed. Invariant: the structure
//! of an object stays, so that it can still be read.

use nodeproof_core::components::registry::ROWS;
use nodeproof_core::objects::{Json, Text};

/// Replaces a removed value.
const REDACTED: &str = "redacted";

/// How much of objects is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privacy {
    /// Objects that this run has made: everything but the field managers.
    Ours,
    /// Objects of others.
    Redacted,
}

impl Privacy {
    /// Returns what is removed, as sentences for people.
    #[must_use]
    pub const fn rules(self) -> &'static [&'static str] {
        match self {
            Self::Ours => &[],
            Self::Redacted => &[
                "managedFields of all objects; annotations whose keys are not of Kubernetes, and \
                    last-applied-configuration",
                "of containers: commands, arguments, environment, images, handlers of probes and of the lifecycle",
                "of Nodes: addresses, provider id, machine, system and boot ids, images",
                "messages of Events that no controller of Kubernetes wrote",
            ],
        }
    }

    /// Returns an object as it may be stored.
    #[must_use]
    pub fn of(self, kind: &str, object: &Json) -> Json {
        let mut object = object.clone();
        object.remove(&["metadata", "managedFields"]);
        if self == Self::Ours {
            return object;
        }
        annotations(&mut object, &["metadata", "annotations"]);
        match kind {
            "Pod" => {
                pod(&mut object, &["spec"]);
                images(&mut object);
            }
            "Node" => node(&mut object),
            "Event" => event(&mut object),
            _ => {
                annotations(&mut object, &["spec", "template", "metadata", "annotations"]);
                pod(&mut object, &["spec", "template", "spec"]);
                pod(&mut object, &["spec", "jobTemplate", "spec", "template", "spec"]);
            }
        }
        object
    }
}

/// Replaces a value, if there is one.
fn hide(object: &mut Json, path: &[&str]) {
    if !object.at(path).is_null() {
        object.set(path, REDACTED);
    }
}

fn annotations(object: &mut Json, path: &[&str]) {
    let is_known = |key: &str| {
        let domain = key.split_once('/').map_or("", |(domain, _)| domain);
        let of_kubernetes = |own: &str| domain == own || domain.ends_with(&format!(".{own}"));
        let is_theirs = of_kubernetes("kubernetes.io") || of_kubernetes("k8s.io");
        is_theirs && key != "kubectl.kubernetes.io/last-applied-configuration"
    };
    let names: Vec<Text> = object.at(path).fields().map(|(name, _)| name.clone()).collect();
    for name in names.iter().filter(|name| !is_known(name)) {
        let whole: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
        hide(object, &whole);
    }
}

/// Removes what the containers of a Pod's specification run with.
fn pod(object: &mut Json, path: &[&str]) {
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        let whole: Vec<&str> = path.iter().copied().chain([list]).collect();
        if object.at(&whole).items().is_empty() {
            continue;
        }
        let containers: Vec<Json> = object.at(&whole).items().iter().map(container).collect();
        object.set(&whole, containers);
    }
}

fn container(container: &Json) -> Json {
    let mut container = container.clone();
    hide(&mut container, &["image"]);
    for list in ["command", "args"] {
        if !container.get(list).is_null() {
            container.set(&[list], Vec::from([Json::from(REDACTED)]));
        }
    }
    container.remove(&["envFrom"]);
    let env: Vec<Json> = container
        .get("env")
        .items()
        .iter()
        .map(|own| {
            let mut own = own.clone();
            hide(&mut own, &["value"]);
            own.remove(&["valueFrom"]);
            own
        })
        .collect();
    if !env.is_empty() {
        container.set(&["env"], env);
    }
    for handler in [
        &["livenessProbe"][..],
        &["readinessProbe"],
        &["startupProbe"],
        &["lifecycle", "postStart"],
        &["lifecycle", "preStop"],
    ] {
        for kind in ["exec", "httpGet"] {
            let whole: Vec<&str> = handler.iter().copied().chain([kind]).collect();
            hide(&mut container, &whole);
        }
    }
    container
}

/// Removes the images in the status of a Pod's containers.
fn images(object: &mut Json) {
    for list in ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] {
        let statuses: Vec<Json> = object
            .at(&["status", list])
            .items()
            .iter()
            .map(|status| {
                let mut status = status.clone();
                for field in ["image", "imageID", "containerID"] {
                    hide(&mut status, &[field]);
                }
                for state in ["state", "lastState"] {
                    for field in ["message", "containerID"] {
                        hide(&mut status, &[state, "terminated", field]);
                    }
                    hide(&mut status, &[state, "waiting", "message"]);
                }
                status
            })
            .collect();
        if !statuses.is_empty() {
            object.set(&["status", list], statuses);
        }
    }
}

fn node(object: &mut Json) {
    object.remove(&["status", "images"]);
    hide(object, &["spec", "providerID"]);
    for id in ["machineID", "systemUUID", "bootID"] {
        hide(object, &["status", "nodeInfo", id]);
    }
    let addresses: Vec<Json> = object
        .at(&["status", "addresses"])
        .items()
        .iter()
        .map(|address| {
            let mut address = address.clone();
            hide(&mut address, &["address"]);
            address
        })
        .collect();
    if !addresses.is_empty() {
        object.set(&["status", "addresses"], addresses);
    }
}

/// Keeps an Event's message if a controller of Kubernetes wrote it, which names only objects; others may quote
/// anything.
fn event(object: &mut Json) {
    let component = object.at(&["source", "component"]).as_str().or_else(|| object.get("reportingComponent").as_str());
    let is_known = |component: &str| !component.is_empty() && ROWS.iter().any(|row| row.event_source == component);
    if !component.is_some_and(is_known) {
        hide(object, &["message"]);
    }
}

#[cfg(test)]
mod tests {
    use nodeproof_core::json;

    use super::*;

    #[test]
    fn what_a_program_runs_with_does_not_reach_a_file() {
        let container = json!({"name": "a", "image": "registry.example/secret", "command": ["run"],
            "args": ["--token=secret"],
            "env": [{"name": "TOKEN", "value": "secret"}, {"name": "B",
                "valueFrom": {"secretKeyRef": {"name": "secret"}}}],
            "livenessProbe": {"periodSeconds": 5, "httpGet": {"path": "/?key=secret"}},
                "resources": {"requests": {"cpu": "1"}}});
        let annotations = json!({"example.com/key": "secret", "node.alpha.kubernetes.io/ttl": "0",
            "kubectl.kubernetes.io/last-applied-configuration": "secret"});
        let pod = json!({"metadata": {"name": "p", "annotations": annotations, "managedFields": ["secret"]},
            "spec": {"nodeName": "w1", "containers": [container]},
            "status": {"containerStatuses": [{"image": "secret", "imageID": "secret", "ready": true,
                "lastState": {"terminated": {"message": "secret", "exitCode": 1}}}]}});
        let set = json!({"spec": {"template": {"metadata": {"annotations": {"a": "secret"}},
            "spec": {"containers": [container]}}}});
        let node = json!({"metadata": {"name": "w1"}, "spec": {"providerID": "aws:///secret"}, "status": {
            "addresses": [{"type": "InternalIP", "address": "secret"}], "images": [{"names": ["secret"]}],
            "nodeInfo": {"machineID": "secret", "kubeletVersion": "v1.34.4"}}});
        let event = json!({"message": "secret", "source": {"component": "kubelet"}});
        for (kind, object, kept) in [
            ("Pod", pod, "w1"),
            ("ReplicaSet", set, "template"),
            ("Node", node, "v1.34.4"),
            ("Event", event, "kubelet"),
        ] {
            let shown = Privacy::Redacted.of(kind, &object).to_string();
            assert!(!shown.contains("secret") && shown.contains(kept), "{shown}");
        }
    }

    #[test]
    fn what_controllers_say_and_what_is_ours_stays() {
        let event =
            json!({"message": "Node w1 status is now: NodeNotReady", "source": {"component": "node-controller"}});
        assert_eq!(Privacy::Redacted.of("Event", &event), event);
        let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "b"}]}});
        assert_eq!(Privacy::Ours.of("Pod", &pod), pod);
    }
}
