//! What is not ready before anything is lost: without a word about it an answer would look as if nothing were at stake.
//!
//! Inputs: the cluster at rest. Outputs: Nodes, Pods, and workloads without all of their Pods, each with the reason
//! that its objects show.

use std::collections::{BTreeMap, BTreeSet};

use nodeproof_core::network::{NODES, Resource};
use nodeproof_core::objects::lifecycle::{condition_of, is_condition_true};
use nodeproof_core::objects::{Json, Text};

use super::cluster::Scene;
use super::question::Question;

/// The workloads whose number of Pods their objects tell.
const COUNTED: [(&str, Resource); 2] = [
    ("Deployment", Resource::of("apps", "v1", "deployments")),
    ("StatefulSet", Resource::of("apps", "v1", "statefulsets")),
];

/// How many names are kept of many.
pub(super) const NAMES: usize = 5;

/// Objects that are stuck, or not ready, for the same reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Stuck {
    /// Their kind.
    pub subject: &'static str,
    /// How many.
    pub count: usize,
    /// The names, the first ones.
    pub names: Vec<Text>,
    /// In which way.
    pub what: String,
    /// Why; empty if nothing says so.
    pub why: String,
}

impl Stuck {
    pub(super) fn of(subject: &'static str, what: String, why: String, mut names: Vec<Text>) -> Self {
        let count = names.len();
        names.sort();
        names.truncate(NAMES);
        Self { subject, count, names, what, why }
    }
}

/// Finds what is not ready; of the Nodes those that could be.
pub(super) fn unready(scene: &mut Scene, question: &Question, pods: &[Json]) -> Result<Vec<Stuck>, String> {
    let mut found: BTreeMap<(&'static str, String, String), Vec<Text>> = BTreeMap::new();
    let mut note = |subject, what: &str, why: String, name: Text| {
        found.entry((subject, what.to_owned(), why)).or_default().push(name);
    };
    let nodes = scene.list(NODES)?;
    let nodes: BTreeMap<Text, &Json> = nodes.iter().map(|node| (name(node), node)).collect();
    let is_ready = |object: &Json| is_condition_true(object, "Ready");
    let silent: BTreeSet<&Text> = question.nodes.iter().filter(|node| node.is_silent).map(|node| &node.name).collect();
    for (name, node) in nodes.iter().filter(|(name, node)| !silent.contains(name) && !is_ready(node)) {
        let message =
            condition_of(node, "Ready").get("message").as_str().unwrap_or("its kubelet has not said anything");
        note("Node", "not ready", message.to_owned(), name.clone());
    }
    for node in question.nodes.iter().filter(|node| !nodes.contains_key(&node.name)) {
        note("Node", "not there", String::from("its kubelet did not register it"), node.name.clone());
    }
    let has_ended = |pod: &Json| matches!(pod.at(&["status", "phase"]).as_str(), Some("Succeeded" | "Failed"));
    for pod in pods.iter().filter(|pod| !is_ready(pod) && !has_ended(pod)) {
        let node = pod.at(&["spec", "nodeName"]).as_text().filter(|node| !node.is_empty());
        let why = match node.map(|node| (node, nodes.get(node))) {
            None => unschedulable(pod).unwrap_or_else(|| String::from("no scheduler has looked at them yet")),
            Some((_, Some(node))) if is_ready(node) => waits(pod),
            Some((node, _)) => format!("their node {node} is not ready"),
        };
        note("Pod", "not ready", why, name(pod));
    }
    for (kind, resource) in COUNTED {
        for object in scene.list(resource)? {
            let count = |path: &[&str]| object.at(path).as_i64();
            let (wanted, made) =
                (count(&["spec", "replicas"]).unwrap_or(1), count(&["status", "replicas"]).unwrap_or(0));
            if made < wanted {
                let why = condition_of(&object, "ReplicaFailure").get("message").as_str().unwrap_or("").to_owned();
                note(kind, &format!("with {made} of {wanted} Pods"), why, name(&object));
            }
        }
    }
    Ok(found.into_iter().map(|((subject, what, why), names)| Stuck::of(subject, what, why, names)).collect())
}

/// Says what a Pod waits for that is on a node that is ready.
fn waits(pod: &Json) -> String {
    let of = |list: &str| pod.at(&["status", list]).items().to_vec();
    let containers = [of("initContainerStatuses"), of("containerStatuses")].concat();
    let reason = containers.iter().find_map(|container| container.at(&["state", "waiting", "reason"]).as_str());
    let phase = || pod.at(&["status", "phase"]).as_str().unwrap_or("").to_owned();
    let message = condition_of(pod, "Ready").get("message").as_str().filter(|message| !message.is_empty());
    match (reason, message) {
        (Some(reason), _) => format!("a container waits: {reason}"),
        (None, Some(message)) => message.to_owned(),
        (None, None) => format!("{}, and their kubelet gives no reason", phase()),
    }
}

/// Says why no node takes a Pod, as the scheduler does.
pub(super) fn unschedulable(pod: &Json) -> Option<String> {
    let scheduled = condition_of(pod, "PodScheduled");
    let is_refused = scheduled.get("status").as_str() == Some("False");
    is_refused.then(|| scheduled.get("message").as_str().unwrap_or("").to_owned())
}

/// Returns the name of an object.
pub(super) fn name(object: &Json) -> Text {
    object.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default()
}
