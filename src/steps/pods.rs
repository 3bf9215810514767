//! Sentences about Pods that are bound to a Node by hand, and the Pods that a scenario has named.

use cucumber::given;
use nodeproof_core::json;
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::scenario::Setup;

use super::draft::{Draft, PodEntry};
use super::words;
use crate::load::near::nearest;

/// A Pod of one container that is bound to the Node when it is made; the scenario waits until it runs. Another
/// namespace than `default` stands before its name: `ns/pod`. Its container ends within a second with code 0 when it is
/// told to, so that the Pod has succeeded; one that is killed after its grace period has failed.
#[given(regex = r#"^a Pod "(?P<pod>[^"]*)" on Node "(?P<node>[^"]*)"$"#)]
fn plain_pod(draft: &mut Draft, pod: String, node: String) {
    draft.pod_on(&pod, &node, Vec::new(), &[]);
}

/// A Pod with tolerations, each for ever or for a time: `that tolerates "key:NoExecute" for 60s, "other" and "k=v"`.
#[given(regex = r#"^a Pod "(?P<pod>[^"]*)" on Node "(?P<node>[^"]*)" that tolerates (?P<tolerations>.+)$"#)]
fn pod_that_tolerates(draft: &mut Draft, pod: String, node: String, tolerations: String) {
    let read = draft.tolerations(&tolerations);
    draft.pod_on(&pod, &node, read, &[]);
}

/// A Pod whose container takes this long to stop after SIGTERM.
#[given(regex = r#"^a Pod "(?P<pod>[^"]*)" on Node "(?P<node>[^"]*)" that takes (?P<duration>\S+) to stop$"#)]
fn pod_that_stops(draft: &mut Draft, pod: String, node: String, duration: String) {
    if draft.duration(&duration).is_some() {
        draft.pod_on(&pod, &node, Vec::new(), &[("nodeproof.dev/main.stops-after", &duration)]);
    }
}

/// A Pod on each Node of a zone, named after it: `on-a-1`, `on-a-2` and so on.
#[given(regex = r#"^a Pod on each Node of zone "(?P<zone>[^"]*)"$"#)]
fn pods_of_zone(draft: &mut Draft, zone: String) {
    for node in draft.zone(&zone) {
        draft.pod_on(&format!("on-{}", node.name), &node.name, Vec::new(), &[]);
    }
}

impl Draft {
    /// Declares a Pod.
    pub(super) fn declare_pod(&mut self, name: &str, node: Option<&Text>) -> Option<PodEntry> {
        let (namespace, own) = name.split_once('/').unwrap_or(("default", name));
        let (read_namespace, read_name) = (words::object_name(namespace), words::object_name(own));
        let (namespace, own) = (self.take(name, read_namespace)?, self.take(name, read_name)?);
        if self.pods.iter().any(|pod| pod.namespace == namespace && pod.name == own) {
            self.problem(name, format!("there is a Pod {name:?} already"));
            return None;
        }
        let pod = PodEntry { namespace, name: own, node: node.cloned() };
        self.pods.push(pod.clone());
        Some(pod)
    }

    /// Returns a Pod that was declared, or notes that it was not.
    pub(super) fn pod(&mut self, name: &str) -> Option<PodEntry> {
        let (namespace, own) = name.split_once('/').unwrap_or(("default", name));
        if let Some(pod) = self.pods.iter().find(|pod| *pod.namespace == *namespace && *pod.name == *own) {
            return Some(pod.clone());
        }
        if self.doubtful.contains(name) {
            return None;
        }
        let called = |pod: &PodEntry| match pod.namespace.as_str() {
            "default" => pod.name.to_string(),
            namespace => format!("{namespace}/{}", pod.name),
        };
        let elsewhere = self.pods.iter().find(|pod| *pod.name == *own).map(called);
        let known: Vec<String> = self.pods.iter().map(called).collect();
        let near =
            nearest(name, known.iter().map(String::as_str)).or_else(|| nearest(own, known.iter().map(String::as_str)));
        let help = match elsewhere.as_deref().or(near) {
            Some(near) if !near.contains('/') && name.contains('/') => {
                vec![format!("did you mean {near:?}, which is in the namespace \"default\"?")]
            }
            Some(near) => vec![format!("did you mean {near:?}?")],
            None => vec![format!("declare it: Given a Pod {name:?} on Node \"…\"")],
        };
        self.problem_with(name, format!("no Pod {name:?} is declared"), help);
        None
    }

    fn pod_on(&mut self, pod: &str, node: &str, tolerations: Vec<Json>, annotations: &[(&str, &str)]) {
        let Some(node) = self.node(node) else {
            self.doubtful.insert(pod.to_owned());
            return;
        };
        let Some(entry) = self.declare_pod(pod, Some(&node)) else { return };
        let pod = pod_body(&entry.namespace, &entry.name, &node, tolerations, annotations);
        self.given(Setup::RunningPod { pod });
    }

    /// Reads `"key:Effect" for 60s, "other" and "k=v"`.
    fn tolerations(&mut self, words: &str) -> Vec<Json> {
        let mut read = Vec::new();
        let mut rest = words.trim();
        while !rest.is_empty() {
            let Some((key, tail)) = rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) else {
                self.problem(rest, "a taint in quotes is needed, as in \"example.com/x:NoExecute\" for 60s".to_owned());
                return read;
            };
            let mut tail = tail.trim_start();
            let mut seconds = None;
            if let Some(after) = tail.strip_prefix("for ") {
                let (duration, more) = after.split_once([' ', ',']).unwrap_or((after, ""));
                seconds = self.duration(duration);
                tail = more.trim_start();
            }
            if let Some(toleration) = self.take(key, words::toleration(key, seconds)) {
                read.push(toleration);
            }
            tail = tail.trim_start_matches(',').trim_start();
            rest = tail.strip_prefix("and ").unwrap_or(tail).trim_start();
        }
        read
    }
}

fn pod_body(namespace: &Text, name: &Text, node: &Text, tolerations: Vec<Json>, annotations: &[(&str, &str)]) -> Json {
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name.as_str(), "namespace": namespace.as_str()},
        "spec": {
            "nodeName": node.as_str(),
            "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}],
        },
    });
    if !tolerations.is_empty() {
        pod.set(&["spec", "tolerations"], Json::array(tolerations));
    }
    for (key, value) in annotations {
        pod.set(&["metadata", "annotations", key], Json::text(*value));
    }
    pod
}
