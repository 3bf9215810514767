//! What the writes of the API server show while nodes are lost: of each Node its conditions and taints, of each Pod
//! when it was deleted, was gone, and what took its place.
//!
//! Inputs: the objects at the beginning, then each write. Outputs: facts with their instants, read and never computed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use jiff::Timestamp;
use nodeproof_core::components::api_server::Commit;
use nodeproof_core::network::{NODES, PODS, WatchType};
use nodeproof_core::objects::lifecycle::{condition_of, controller_of};
use nodeproof_core::objects::{Json, Text};

use super::cluster::Scene;
use super::question::Question;
use super::readiness::Readiness;
use super::unready::{Stuck, unready, unschedulable};

/// Something that happened to a Node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NodeFact {
    /// The Ready condition has this status now.
    Ready(Text),
    /// It has this taint now, `key:effect`.
    Tainted(Text),
    /// It no longer has this taint.
    Untainted(Text),
    /// No new Pods come to it now, or they do again.
    Cordoned(bool),
    /// `kubectl drain` is done with it.
    Drained,
    /// It was deleted.
    Gone,
}

/// The life of a Pod as far as it was seen.
#[derive(Debug, Clone, Default)]
pub(super) struct PodLife {
    pub(super) name: Text,
    /// Kind and uid of its controller; empty without one.
    pub(super) owner: (Text, Text),
    pub(super) node: Text,
    /// When it came to its node.
    pub(super) bound: Option<Timestamp>,
    /// When it was made; `None` if it was there at the beginning.
    pub(super) created: Option<Timestamp>,
    pub(super) ready: Option<Timestamp>,
    /// When it was no longer ready, and what that was.
    pub(super) unready: Option<(Timestamp, &'static str)>,
    /// When it was ready again after that, for good.
    pub(super) ready_again: Option<Timestamp>,
    pub(super) deleted: Option<Timestamp>,
    pub(super) gone: Option<Timestamp>,
    /// Whether it ended, `Succeeded` or `Failed`.
    pub(super) ended: Option<(Timestamp, Text)>,
    /// Why no node took it when the nodes came back, as the scheduler says.
    pub(super) unschedulable: Option<String>,
    tolerations: Json,
}

/// All that was seen.
#[derive(Debug, Default)]
pub(super) struct Sightings {
    pub(super) zero: Timestamp,
    /// When the nodes come back.
    pub(super) back: Timestamp,
    pub(super) nodes: Vec<(Timestamp, Text, NodeFact)>,
    pub(super) pods: BTreeMap<Text, PodLife>,
    /// How many Pods were ready at the beginning.
    pub(super) running: usize,
    /// What was not ready then.
    pub(super) unready: Vec<Stuck>,
    /// How many Pods of each workload were ready.
    pub(super) readiness: Readiness,
    /// Pods that a budget held on their node when their eviction was tried first.
    pub(super) held: Vec<(Timestamp, Text, Text)>,
    /// What a drain left on the nodes.
    pub(super) not_drained: Vec<Stuck>,
}

impl Sightings {
    /// Reads what is there at the beginning.
    pub(super) fn begin(scene: &mut Scene, question: &Question) -> Result<Self, String> {
        let zero = scene.sim.now();
        let mut own = Self { zero, back: zero + question.lasts, ..Self::default() };
        let pods = scene.list(PODS)?;
        own.readiness = Readiness::begin(scene, &pods)?;
        for pod in &pods {
            let mut life = PodLife::default();
            life.read(pod, zero, (true, false));
            own.running += usize::from(life.ready.is_some());
            own.pods.insert(uid(pod), life);
        }
        own.unready = unready(scene, question, &pods)?;
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
        self.readiness.take(pod, commit.event == WatchType::Deleted, commit.at);
        let life = self.pods.entry(uid(pod)).or_default();
        if commit.event == WatchType::Added {
            life.created = Some(commit.at);
        }
        if commit.event == WatchType::Deleted {
            life.gone = Some(commit.at);
            life.deleted = life.deleted.or(Some(commit.at));
        } else {
            let is_by_kubelet = commit.identity.agent == "kubelet";
            life.read(pod, commit.at, (commit.at < self.back, is_by_kubelet));
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
        let is_cordoned = |node: &Json| node.at(&["spec", "unschedulable"]).as_bool().unwrap_or(false);
        if before.is_some_and(|before| is_cordoned(before) != is_cordoned(after)) {
            self.nodes.push((commit.at, name.clone(), NodeFact::Cordoned(is_cordoned(after))));
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
    /// Reads a Pod as it is at an instant: whether that is before the nodes come back, and whether a kubelet says so.
    fn read(&mut self, pod: &Json, at: Timestamp, (is_before, is_by_kubelet): (bool, bool)) {
        let text = |path: &[&str]| pod.at(path).as_text().cloned().unwrap_or_default();
        self.name = text(&["metadata", "name"]);
        self.node = text(&["spec", "nodeName"]);
        if let Some(owner) = controller_of(pod) {
            let field = |name: &str| owner.get(name).as_text().cloned().unwrap_or_default();
            self.owner = (field("kind"), field("uid"));
        }
        if !self.node.is_empty() {
            self.bound = self.bound.or(Some(at));
        }
        if !pod.at(&["metadata", "deletionTimestamp"]).is_null() {
            self.deleted = self.deleted.or(Some(at));
        }
        match status(pod, "Ready").as_deref() {
            Some("True") => {
                self.ready = self.ready.or(Some(at));
                if self.unready.is_some() && self.deleted.is_none() {
                    self.ready_again = self.ready_again.or(Some(at));
                }
            }
            Some("False") if self.ready.is_some() && self.deleted.is_none() => {
                let what = if is_by_kubelet { "Ready=False" } else { "Ready=False, since their node is not ready" };
                self.unready = self.unready.or(Some((at, what)));
                self.ready_again = None;
            }
            _ => {}
        }
        self.tolerations = pod.at(&["spec", "tolerations"]).clone();
        let phase = text(&["status", "phase"]);
        if matches!(phase.as_str(), "Succeeded" | "Failed") && self.ended.is_none() {
            self.ended = Some((at, phase));
        }
        if is_before {
            self.unschedulable = unschedulable(pod);
        }
    }

    /// Tells when it was deleted, or failed: its controller makes another in its place.
    pub(super) fn lost(&self) -> Option<Timestamp> {
        let failed = self.ended.as_ref().filter(|(_, phase)| phase == "Failed").map(|(at, _)| *at);
        self.deleted.into_iter().chain(failed).min()
    }

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

/// What is known of each Node, in the order in which it was seen.
pub(super) type ByNode<'a, T> = BTreeMap<&'a Text, Vec<T>>;
pub(super) type Facts<'a> = ByNode<'a, (Timestamp, &'a NodeFact)>;

pub(super) fn by_node<'a, T>(all: impl Iterator<Item = (&'a Text, T)>) -> ByNode<'a, T> {
    let mut found = ByNode::new();
    all.for_each(|(name, one)| found.entry(name).or_default().push(one));
    found
}

/// Finds the Pods that were made in place of others: for each one that its controller lost, the next one.
pub(super) fn replacements(pods: &BTreeMap<Text, PodLife>) -> BTreeSet<&Text> {
    let mut lost: BTreeMap<&Text, BinaryHeap<Reverse<Timestamp>>> = BTreeMap::new();
    for life in pods.values().filter(|life| !life.owner.1.is_empty()) {
        lost.entry(&life.owner.1).or_default().extend(life.lost().map(Reverse));
    }
    let mut made: Vec<(Timestamp, &Text, &PodLife)> =
        pods.iter().filter_map(|(uid, life)| Some((life.created?, uid, life))).collect();
    made.sort_by_key(|(at, uid, _)| (*at, *uid));
    let takes_a_place = |(at, uid, life): (Timestamp, _, &PodLife)| {
        let places = lost.get_mut(&life.owner.1)?;
        places.peek().is_some_and(|Reverse(since)| *since <= at).then(|| places.pop())?;
        Some(uid)
    };
    made.into_iter().filter_map(takes_a_place).collect()
}

pub(super) fn uid(object: &Json) -> Text {
    object.at(&["metadata", "uid"]).as_text().cloned().unwrap_or_default()
}

fn status(object: &Json, kind: &str) -> Option<Text> {
    condition_of(object, kind).get("status").as_text().cloned()
}

fn taints(node: &Json) -> Vec<Text> {
    let taints = node.at(&["spec", "taints"]).items().iter();
    let part = |taint: &Json, name: &str| taint.get(name).as_str().unwrap_or("").to_owned();
    taints.map(|taint| Text::from(format!("{}:{}", part(taint, "key"), part(taint, "effect")))).collect()
}
