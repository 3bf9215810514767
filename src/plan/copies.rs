//! What makes a large cluster: of each Deployment one Pod is started, and the others are copies of it.
//!
//! To start tens of thousands of Pods one by one takes most of the time of an answer, and all of them come to the same
//! rest. Inputs: the objects of a question. Outputs: the same objects with one Pod for each Deployment, then the
//! copies, on nodes as the scheduler spreads Pods that ask for resources alone. Left as they are: small clusters, and
//! Deployments whose Pods ask for more; with rules between Pods, or quotas, nothing is copied.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use nodeproof_core::components::controller::ControllerAction;
use nodeproof_core::components::pod_resources::{Amounts, PodLevel, requests, requests_for_scoring};
use nodeproof_core::network::{NODES, PODS, Resource};
use nodeproof_core::objects::{Json, Object, ObjectKey, Text};

use super::carried::is_ready;
use super::cluster::Scene;
use super::question::Question;

/// How many Pods of Deployments a question must have for most of them to be copies.
pub(super) const COPIED_FROM: i64 = 2000;
const DEPLOYMENTS: Resource = Resource::of("apps", "v1", "deployments");
const REPLICA_SETS: Resource = Resource::of("apps", "v1", "replicasets");
/// The fields of a Pod's specification that do not change which nodes take it, beside its containers.
const PLAIN: [&str; 14] = [
    "automountServiceAccountToken",
    "containers",
    "dnsConfig",
    "dnsPolicy",
    "enableServiceLinks",
    "imagePullSecrets",
    "priorityClassName",
    "restartPolicy",
    "schedulerName",
    "securityContext",
    "serviceAccount",
    "serviceAccountName",
    "terminationGracePeriodSeconds",
    "tolerations",
];
/// How far a load is resolved.
const LOAD: i64 = 1_000_000;

/// A Deployment, and how many Pods it is to have.
#[derive(Debug, PartialEq)]
pub(super) struct CopiedDeployment {
    namespace: Text,
    name: Text,
    replicas: i64,
}

/// Leaves one Pod to each Deployment whose others can be copies of it.
pub(super) fn reduce(objects: &mut [(String, Json)], copied_from: i64) -> Vec<CopiedDeployment> {
    let kind = |object: &Json| object.get("kind").as_str().unwrap_or("").to_owned();
    let replicas = |object: &Json| object.at(&["spec", "replicas"]).as_i64().unwrap_or(1);
    let own = |object: &Json| kind(object) == "Deployment" && replicas(object) > 1 && is_plain(object);
    let sum: i64 = objects.iter().map(|(_, object)| object).filter(|object| own(object)).map(replicas).sum();
    let is_bound = |object: &Json| kind(object) == "ResourceQuota" || has_rules_between_pods(object);
    if sum < copied_from || objects.iter().any(|(_, object)| is_bound(object)) {
        return Vec::new();
    }
    let mut wanted = Vec::new();
    for (_, object) in objects.iter_mut().filter(|(_, object)| own(object)) {
        let text = |field: &str| object.at(&["metadata", field]).as_text().cloned();
        let namespace = text("namespace").unwrap_or_else(|| Text::of("default"));
        wanted.push(CopiedDeployment { namespace, name: text("name").unwrap_or_default(), replicas: replicas(object) });
        object.set(&["spec", "replicas"], 1);
    }
    wanted
}

/// Tells whether the nodes that take a Deployment's Pods are those with room, and no others.
fn is_plain(deployment: &Json) -> bool {
    let spec = deployment.at(&["spec", "template", "spec"]);
    let has_ports = |container: &Json| {
        container.get("ports").items().iter().any(|port| port.get("hostPort").as_i64().is_some_and(|port| port != 0))
    };
    spec.fields().all(|(field, value)| PLAIN.contains(&field.as_str()) || value.is_empty())
        && !spec.get("containers").items().iter().any(has_ports)
}

fn has_rules_between_pods(object: &Json) -> bool {
    [&["spec"][..], &["spec", "template", "spec"]].iter().any(|path| {
        let affinity = object.at(path).get("affinity");
        !affinity.get("podAffinity").is_empty() || !affinity.get("podAntiAffinity").is_empty()
    })
}

/// Puts the copies where the scheduler would put such Pods. A Deployment whose Pod does not run, or for whose Pods
/// there is no more room, makes those that it lacks itself.
pub(super) fn put(scene: &mut Scene, question: &Question, wanted: &[CopiedDeployment]) -> Result<(), String> {
    let level = PodLevel::of(question.settings.profile());
    let sets = scene.list(REPLICA_SETS)?;
    let pods = scene.list(PODS)?;
    let mut room = Room::of(question, &scene.list(NODES)?, &pods, level);
    scene.order(&ControllerAction::Stop)?;
    for own in wanted {
        let CopiedDeployment { namespace, name, replicas } = own;
        let set = owned(&sets, namespace, name).unwrap_or(&Json::Null);
        let set_name = set.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
        if let Some(pod) = owned(&pods, namespace, &set_name).filter(|pod| is_ready(pod)) {
            let name = pod.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
            let pattern = scene.sim.api().object(&PODS, &ObjectKey { namespace: namespace.clone(), name });
            copy(scene, pattern.as_ref(), *replicas, (&mut room, level))?;
            let mut size = nodeproof_core::json!({});
            size.set(&["spec", "replicas"], *replicas);
            size.set(&["metadata", "annotations", "deployment.kubernetes.io/desired-replicas"], replicas.to_string());
            scene.patch((&REPLICA_SETS, namespace, &set_name), size)?;
        }
        let mut size = nodeproof_core::json!({});
        size.set(&["spec", "replicas"], *replicas);
        scene.patch((&DEPLOYMENTS, namespace, name), size)?;
    }
    scene.order(&ControllerAction::Start)
}

fn copy(
    scene: &mut Scene,
    pattern: Option<&Object>,
    replicas: i64,
    (room, level): (&mut Room, PodLevel),
) -> Result<(), String> {
    let Some(pattern) = pattern else { return Ok(()) };
    let need = Need::of(pattern.stable(), level);
    let mut others = Vec::new();
    for _ in 1..replicas {
        let Some(node) = room.take(&need, &mut others) else { break };
        scene.sim.copy_pod(pattern, &node).map_err(|error| error.to_string())?;
    }
    room.free.extend(others);
    Ok(())
}

/// Returns the one object that an owner has.
fn owned<'a>(all: &'a [Json], namespace: &Text, owner: &Text) -> Option<&'a Json> {
    let is_own = |object: &&Json| {
        object.at(&["metadata", "namespace"]).as_text() == Some(namespace)
            && object.at(&["metadata", "ownerReferences"]).items().iter().any(|own| own.get("name") == &owner.into())
    };
    let mut found = all.iter().filter(is_own);
    found.next().filter(|_| found.next().is_none())
}

/// What a Pod takes of a node.
#[derive(Debug, Default)]
struct Need {
    requests: Amounts,
    for_scoring: Amounts,
}

impl Need {
    fn of(pod: &Json, level: PodLevel) -> Self {
        let spec = pod.get("spec");
        Self { requests: requests(spec, level), for_scoring: requests_for_scoring(spec, level) }
    }

    fn add(&mut self, other: &Self) {
        self.requests.add(&other.requests);
        self.for_scoring.add(&other.for_scoring);
    }
}

#[derive(Debug)]
struct NodeRoom {
    name: Text,
    all: Amounts,
    pods: i64,
    taken: Need,
}

impl NodeRoom {
    fn fits(&self, need: &Need) -> bool {
        let has = |(name, amount): (&Text, i64)| self.taken.requests.get(name) + amount <= self.all.get(name);
        self.pods < self.all.get("pods") && need.requests.iter().all(has)
    }

    /// Returns how full it is, as the score `LeastAllocated` counts.
    fn load(&self) -> i64 {
        let share = |name: &str| self.taken.for_scoring.get(name).saturating_mul(LOAD) / self.all.get(name).max(1);
        share("cpu") + share("memory")
    }
}

/// The nodes by how full they are, and among equals by whose turn it is.
#[derive(Debug)]
struct Room {
    nodes: Vec<NodeRoom>,
    free: BinaryHeap<Reverse<(i64, usize, usize)>>,
    turn: usize,
}

impl Room {
    fn of(question: &Question, nodes: &[Json], pods: &[Json], level: PodLevel) -> Self {
        let name = |node: &Json| node.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
        let known: std::collections::BTreeMap<Text, &Json> = nodes.iter().map(|node| (name(node), node)).collect();
        let mut rooms = Vec::new();
        let mut places = std::collections::BTreeMap::new();
        for node in &question.nodes {
            let Some(object) = known.get(&node.name) else { continue };
            places.insert(node.name.clone(), rooms.len());
            let all = Amounts::of(object.at(&["status", "allocatable"]));
            rooms.push(NodeRoom { name: node.name.clone(), all, pods: 0, taken: Need::default() });
        }
        for pod in pods {
            let place = pod.at(&["spec", "nodeName"]).as_text().and_then(|node| places.get(node));
            if let Some(room) = place.map(|at| &mut rooms[*at]) {
                room.taken.add(&Need::of(pod, level));
                room.pods += 1;
            }
        }
        let free = rooms.iter().enumerate().map(|(at, room)| Reverse((room.load(), at, at))).collect();
        Self { turn: rooms.len(), free, nodes: rooms }
    }

    /// Takes room on the emptiest node that has none of the others, or else on any.
    fn take(&mut self, need: &Need, others: &mut Vec<Reverse<(i64, usize, usize)>>) -> Option<Text> {
        for is_last in [false, true] {
            while let Some(Reverse((load, turn, at))) = self.free.pop() {
                let node = &mut self.nodes[at];
                if !node.fits(need) {
                    others.push(Reverse((load, turn, at)));
                    continue;
                }
                node.taken.add(need);
                node.pods += 1;
                others.push(Reverse((node.load(), self.turn, at)));
                self.turn += 1;
                return Some(node.name.clone());
            }
            if !is_last {
                self.free.extend(others.drain(..));
            }
        }
        None
    }
}
