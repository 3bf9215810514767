//! What the writes of the API server show while nodes are lost: of each Node its conditions and taints, of each Pod
//! when it was deleted, was gone, and what took its place.
//!
//! Inputs: the objects at the beginning, then each write. Outputs: facts with their instants, read and never computed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use nodeproof_core::components::api_server::Commit;
use nodeproof_core::network::{Call, NODES, PODS, Verb, WatchType};
use nodeproof_core::objects::{Json, Text};

use super::cluster::Scene;

/// Something that happened to a Node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NodeFact {
    /// The Ready condition has this status now.
    Ready(Text),
    /// It has this taint now, `key:effect`.
    Tainted(Text),
    /// It no longer has this taint.
    Untainted(Text),
    /// It was deleted.
    Gone,
}

/// The life of a Pod as far as it was seen.
#[derive(Debug, Clone, Default)]
pub(super) struct PodLife {
    pub(super) name: Text,
    /// Kind and name of its controller; empty without one.
    pub(super) owner: (Text, Text),
    pub(super) node: Text,
    /// When it was made; `None` if it was there at the beginning.
    pub(super) created: Option<Timestamp>,
    pub(super) ready: Option<Timestamp>,
    /// When it was marked as not ready, since its node is.
    pub(super) marked: Option<Timestamp>,
    pub(super) deleted: Option<Timestamp>,
    pub(super) gone: Option<Timestamp>,
    /// Whether it ended, `Succeeded` or `Failed`.
    pub(super) ended: Option<(Timestamp, Text)>,
    /// Why no node takes it, as the scheduler says.
    pub(super) unschedulable: Option<String>,
    tolerations: Json,
}

/// All that was seen.
#[derive(Debug, Default)]
pub(super) struct Sightings {
    pub(super) zero: Timestamp,
    pub(super) nodes: Vec<(Timestamp, Text, NodeFact)>,
    pub(super) pods: BTreeMap<Text, PodLife>,
    /// How many Pods ran at the beginning.
    pub(super) running: usize,
}

impl Sightings {
    /// Reads what is there at the beginning.
    pub(super) fn begin(scene: &mut Scene, zero: Timestamp) -> Result<Self, String> {
        let mut own = Self { zero, ..Self::default() };
        let pods = scene.send(Call::new(Verb::List, PODS, "", ""))?;
        for pod in pods.get("items").items() {
            let mut life = PodLife::default();
            life.read(pod, zero);
            own.running += usize::from(life.ready.is_some());
            own.pods.insert(uid(pod), life);
        }
        Ok(own)
    }

    /// Takes a write; false if it is of no Node and no Pod.
    pub(super) fn take(&mut self, commit: &Commit) -> bool {
        if commit.resource == NODES {
            self.take_node(commit);
            return true;
        }
        if commit.resource != PODS {
            return false;
        }
        let pod = commit.object.stable();
        let life = self.pods.entry(uid(pod)).or_default();
        if commit.event == WatchType::Added {
            life.created = Some(commit.at);
        }
        if commit.event == WatchType::Deleted {
            life.gone = Some(commit.at);
            life.deleted = life.deleted.or(Some(commit.at));
        } else {
            life.read(pod, commit.at);
        }
        true
    }

    fn take_node(&mut self, commit: &Commit) {
        let name = Text::from(commit.object.name());
        if commit.event == WatchType::Deleted {
            self.nodes.push((commit.at, name, NodeFact::Gone));
            return;
        }
        let after = commit.object.stable();
        let before = commit.before.as_ref().map(|before| before.stable());
        let ready = status(after, "Ready");
        if before.is_none_or(|before| status(before, "Ready") != ready) {
            let fact = NodeFact::Ready(ready.unwrap_or_default());
            self.nodes.push((commit.at, name.clone(), fact));
        }
        let (old, new) = (before.map(taints).unwrap_or_default(), taints(after));
        for taint in new.iter().filter(|taint| !old.contains(taint)) {
            self.nodes.push((commit.at, name.clone(), NodeFact::Tainted(taint.clone())));
        }
        for taint in old.iter().filter(|taint| !new.contains(taint)) {
            self.nodes.push((commit.at, name.clone(), NodeFact::Untainted(taint.clone())));
        }
    }
}

impl PodLife {
    /// Reads a Pod as it is at an instant.
    fn read(&mut self, pod: &Json, at: Timestamp) {
        let text = |path: &[&str]| pod.at(path).as_text().cloned().unwrap_or_default();
        self.name = text(&["metadata", "name"]);
        self.node = text(&["spec", "nodeName"]);
        let owners = pod.at(&["metadata", "ownerReferences"]).items();
        if let Some(owner) = owners.iter().find(|owner| owner.get("controller").as_bool() == Some(true)) {
            let field = |name: &str| owner.get(name).as_text().cloned().unwrap_or_default();
            self.owner = (field("kind"), field("name"));
        }
        if !pod.at(&["metadata", "deletionTimestamp"]).is_null() {
            self.deleted = self.deleted.or(Some(at));
        }
        match status(pod, "Ready").as_deref() {
            Some("True") => self.ready = self.ready.or(Some(at)),
            Some("False") if self.ready.is_some() && self.deleted.is_none() => self.marked = self.marked.or(Some(at)),
            _ => {}
        }
        self.tolerations = pod.at(&["spec", "tolerations"]).clone();
        let phase = text(&["status", "phase"]);
        if matches!(phase.as_str(), "Succeeded" | "Failed") && self.ended.is_none() {
            self.ended = Some((at, phase));
        }
        let conditions = pod.at(&["status", "conditions"]).items();
        let refused = conditions.iter().find(|condition| {
            condition.get("type").as_str() == Some("PodScheduled") && condition.get("status").as_str() == Some("False")
        });
        self.unschedulable = refused.map(|condition| condition.get("message").as_str().unwrap_or("").to_owned());
    }
}

impl PodLife {
    /// Says how long the Pod tolerates a taint, `key:effect`.
    pub(super) fn tolerance(&self, taint: &str) -> String {
        let key = taint.split(':').next().unwrap_or(taint);
        let fits = |toleration: &&Json| {
            let text = |field: &str| toleration.get(field).as_str().unwrap_or("");
            (text("key") == key || text("key").is_empty()) && matches!(text("effect"), "" | "NoExecute")
        };
        let own: Vec<&Json> = self.tolerations.items().iter().filter(fits).collect();
        let seconds = own.iter().map(|toleration| toleration.get("tolerationSeconds").as_i64());
        match seconds.max_by_key(|seconds| seconds.unwrap_or(i64::MAX)) {
            None => format!("they do not tolerate {key}, and it is not their turn yet"),
            Some(None) => format!("they tolerate {key} for ever"),
            Some(Some(seconds)) => format!("they tolerate {key} for {seconds} s"),
        }
    }
}

fn uid(object: &Json) -> Text {
    object.at(&["metadata", "uid"]).as_text().cloned().unwrap_or_default()
}

fn status(object: &Json, kind: &str) -> Option<Text> {
    let conditions = object.at(&["status", "conditions"]).items();
    let own = conditions.iter().find(|condition| condition.get("type").as_str() == Some(kind))?;
    own.get("status").as_text().cloned()
}

fn taints(node: &Json) -> Vec<Text> {
    let taints = node.at(&["spec", "taints"]).items().iter();
    let part = |taint: &Json, name: &str| taint.get(name).as_str().unwrap_or("").to_owned();
    taints.map(|taint| Text::from(format!("{}:{}", part(taint, "key"), part(taint, "effect")))).collect()
}
