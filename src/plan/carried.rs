//! What is carried over of a cluster that runs: its Nodes, and the objects that make and hold Pods.
//!
//! Inputs: the lists of [`CARRIED_KINDS`]. Outputs: nodes and objects for a [`super::Question`], and by name what they
//! lose on the way. Pure. Left out on purpose: what volumes do, and whoever makes Pods beside the four workload kinds.
//! Invariant: nothing of an object is printed but its kind, its names, and the names of fields.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nodeproof_core::components::machine::{Hardware, KubeletSpec};
use nodeproof_core::json;
use nodeproof_core::network::{NODES, PODS, Resource};
use nodeproof_core::objects::lifecycle::{controller_of, is_condition_true};
use nodeproof_core::objects::quantity::Quantity;
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::profile::Release;

use super::question::{LeftOut, Node};

/// The kinds that are read; without Nodes and Pods there is no answer. Owners stand before what they own.
pub const CARRIED_KINDS: [Resource; 8] = [
    NODES,
    Resource::of("scheduling.k8s.io", "v1", "priorityclasses"),
    Resource::of("apps", "v1", "daemonsets"),
    Resource::of("apps", "v1", "deployments"),
    Resource::of("apps", "v1", "statefulsets"),
    Resource::of("apps", "v1", "replicasets"),
    Resource::of("policy", "v1", "poddisruptionbudgets"),
    PODS,
];

/// The workload kinds that are carried over.
const OWNERS: [&str; 4] = ["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"];
/// The volumes that are there on any node at once, so that they change no instant.
const PLAIN_VOLUMES: [&str; 6] = ["configMap", "downwardAPI", "emptyDir", "hostPath", "projected", "secret"];
/// The prefix of the taints that controllers set for what they see; they set them on the simulated Nodes too.
const TAINTS_OF_STATE: &str = "node.kubernetes.io/";
const ZONE: [&str; 2] = ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"];
const REGION: [&str; 2] = ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"];

/// What was carried over.
#[derive(Debug, Clone, PartialEq)]
pub struct Carried {
    /// The nodes, the first of each zone in turn.
    pub nodes: Vec<Node>,
    /// The objects, owners before what they own, with their uids.
    pub objects: Vec<Json>,
    /// What was not.
    pub left_out: Vec<LeftOut>,
}

/// A list of what is left out while it is being made.
#[derive(Debug, Default)]
struct Notes(BTreeMap<String, BTreeSet<Text>>);

impl Notes {
    fn add(&mut self, what: impl Into<String>, name: &str) {
        let names = self.0.entry(what.into()).or_default();
        if !name.is_empty() {
            names.insert(Text::from(name));
        }
    }
}

impl Carried {
    /// Takes over what the lists of a cluster of some release show; each object has its kind.
    #[must_use]
    pub fn of(lists: &[(Resource, Vec<Json>)], server: Release) -> Self {
        let mut notes = Notes::default();
        let of = |kind: &Resource| lists.iter().find(|(own, _)| own == kind).map_or(&[][..], |(_, items)| items);
        let nodes = in_turn(of(&NODES).iter().map(|node| carry_node(node, server, &mut notes)).collect());
        let known: BTreeSet<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        let classes: BTreeSet<&str> = of(&CARRIED_KINDS[1]).iter().map(name_of).collect();
        let mut objects = Vec::new();
        let mut uids = BTreeSet::new();
        for (resource, items) in CARRIED_KINDS[1..].iter().map(|kind| (kind, of(kind))) {
            for item in items.iter().filter(|item| !is_of_no_effect(item)) {
                if let Some(why) = not_taken(item, &known) {
                    notes.add(why, &title(item));
                    continue;
                }
                let mut object = bare(item, &uids, &mut notes);
                let spec: &[&str] = if *resource == PODS { &["spec"] } else { &["spec", "template", "spec"] };
                if !object.at(spec).is_null() {
                    carry_pod(object.entry(spec), &title(item), &classes, &mut notes);
                }
                carry_set(&mut object, &title(item), &mut notes);
                uids.extend(item.at(&["metadata", "uid"]).as_str().map(str::to_owned));
                objects.push(object);
            }
        }
        let left_out = notes.0.into_iter().map(|(what, names)| LeftOut { what, names }).collect();
        Self { nodes, objects, left_out }
    }
}

fn name_of(object: &Json) -> &str {
    object.at(&["metadata", "name"]).as_str().unwrap_or("")
}

/// Names an object as `Pod default/web`.
pub(super) fn title(object: &Json) -> String {
    let kind = object.get("kind").as_str().unwrap_or("");
    match object.at(&["metadata", "namespace"]).as_str() {
        Some(namespace) => format!("{kind} {namespace}/{}", name_of(object)),
        None => format!("{kind} {}", name_of(object)),
    }
}

/// Tells whether an object is there in every cluster, or is a ReplicaSet of the past, without Pods.
fn is_of_no_effect(item: &Json) -> bool {
    match item.get("kind").as_str() {
        Some("PriorityClass") => name_of(item).starts_with("system-"),
        Some("ReplicaSet") => item.at(&["spec", "replicas"]).as_i64() == Some(0),
        _ => false,
    }
}

/// Tells why a Pod is not taken over at all.
fn not_taken(item: &Json, nodes: &BTreeSet<&str>) -> Option<&'static str> {
    if item.get("kind").as_str() != Some("Pod") {
        return None;
    }
    if !item.at(&["metadata", "deletionTimestamp"]).is_null() {
        return Some("being deleted: taken as gone");
    }
    if matches!(item.at(&["status", "phase"]).as_str(), Some("Succeeded" | "Failed")) {
        return Some("ended: taken as gone");
    }
    let node = item.at(&["spec", "nodeName"]).as_str();
    node.filter(|node| !nodes.contains(node)).map(|_| "on a Node that is not there: taken as gone")
}

/// Returns an object without status, and with those marks and owners that count.
fn bare(item: &Json, uids: &BTreeSet<String>, notes: &mut Notes) -> Json {
    let is_pod = item.get("kind").as_str() == Some("Pod");
    let mut object = json!({"metadata": {}});
    for field in ["apiVersion", "kind", "spec", "value", "globalDefault", "preemptionPolicy"] {
        if !item.get(field).is_null() {
            object.set(&[field], item.get(field).clone());
        }
    }
    for field in ["name", "namespace", "labels", "uid"] {
        if !item.at(&["metadata", field]).is_null() {
            object.set(&["metadata", field], item.at(&["metadata", field]).clone());
        }
    }
    for (key, value) in item.at(&["metadata", "annotations"]).fields() {
        if key.starts_with("deployment.kubernetes.io/") {
            object.set(&["metadata", "annotations", key], value.clone());
        }
    }
    if !item.at(&["metadata", "finalizers"]).is_empty() {
        notes.add("finalizers are not taken over: objects go at once", &title(item));
    }
    if is_pod && !is_ready(item) {
        notes.add("not ready in the cluster, and taken as if it could be", &title(item));
    }
    if let Some(owner) = controller_of(item) {
        let text = |field: &str| owner.get(field).as_str().unwrap_or("");
        let kind = text("kind");
        match () {
            () if uids.contains(text("uid")) => {
                object.set(&["metadata", "ownerReferences"], Json::array(vec![owner.clone()]));
            }
            () if kind == "Node" => notes.add("static Pods are taken as Pods without an owner", &title(item)),
            () if OWNERS.contains(&kind) => {
                notes.add(format!("its {kind} was not seen: nobody makes another in its place"), &title(item));
            }
            () if is_pod => {
                notes.add(format!("of a {kind}, which is not taken over: nobody makes another in its place"), &{
                    let namespace = item.at(&["metadata", "namespace"]).as_str().unwrap_or("");
                    format!("{kind} {namespace}/{}", text("name"))
                });
            }
            () => notes.add(format!("kept by a {kind}, which is not taken over, and taken without it"), &title(item)),
        }
    }
    object
}

/// Tells whether a Pod is ready.
pub(super) fn is_ready(pod: &Json) -> bool {
    is_condition_true(pod, "Ready")
}

/// Takes out of a Pod's specification what the simulation would wait for in vain, and names it.
fn carry_pod(spec: &mut Json, owner: &str, classes: &BTreeSet<&str>, notes: &mut Notes) {
    // Admission computes what follows from the class, and gives the account of the namespace.
    for field in ["priority", "preemptionPolicy", "serviceAccountName", "serviceAccount"] {
        spec.remove(&[field]);
    }
    let mut lose = |spec: &mut Json, field: &str, why: &str| {
        if spec.remove(&[field]).is_some_and(|value| !value.is_empty()) {
            notes.add(format!("{field}: {why}"), owner);
        }
    };
    lose(spec, "runtimeClassName", "runtime classes and their overhead are not taken over");
    lose(spec, "resourceClaims", "devices of claims are not taken over");
    lose(spec, "ephemeralContainers", "they are not taken over");
    spec.remove(&["overhead"]);
    if spec.get("schedulerName").as_str().is_some_and(|name| name != "default-scheduler") {
        lose(spec, "schedulerName", "the default scheduler takes its place");
    }
    let is_known = |class: &str| class.starts_with("system-") || classes.contains(class);
    if spec.get("priorityClassName").as_str().is_some_and(|class| !is_known(class)) {
        lose(spec, "priorityClassName", "the class was not seen: the priority is that of no class");
    }
    for list in ["containers", "initContainers"] {
        if !spec.get(list).is_empty() {
            for container in spec.entry(&[list]).make_array() {
                container.remove(&["resources", "claims"]);
            }
        }
    }
    if spec.get("volumes").is_empty() {
        return;
    }
    for volume in spec.entry(&["volumes"]).make_array() {
        let source = volume.fields().map(|(field, _)| field.clone()).find(|field| *field != "name");
        let Some(source) = source.filter(|source| !PLAIN_VOLUMES.contains(&source.as_str())) else { continue };
        *volume = json!({"name": volume.get("name").clone(), "emptyDir": {}});
        notes.add(volumes(&source), owner);
    }
}

fn volumes(kind: &str) -> String {
    format!("volumes ({kind}): the zone of a volume, attaching and detaching are not in the answer")
}

/// Lets a set keep the Pods that it has: their revision is not the one that the simulated controller would name.
fn carry_set(object: &mut Json, owner: &str, notes: &mut Notes) {
    if !matches!(object.get("kind").as_str(), Some("DaemonSet" | "StatefulSet")) {
        return;
    }
    object.set(&["spec", "updateStrategy"], json!({"type": "OnDelete"}));
    object.remove(&["spec", "persistentVolumeClaimRetentionPolicy"]);
    let Some(claims) = object.remove(&["spec", "volumeClaimTemplates"]).filter(|claims| !claims.is_empty()) else {
        return;
    };
    for claim in claims.items() {
        let volume = json!({"name": name_of(claim), "emptyDir": {}});
        object.entry(&["spec", "template", "spec", "volumes"]).make_array().push(volume);
    }
    notes.add(volumes("persistentVolumeClaim"), owner);
}

fn carry_node(node: &Json, server: Release, notes: &mut Notes) -> Node {
    let title = title(node);
    let labels = node.at(&["metadata", "labels"]);
    let label = |keys: [&str; 2]| keys.iter().find_map(|key| labels.get(key).as_text().cloned());
    let is_own = |key: &Text| !ZONE.contains(&key.as_str()) && !REGION.contains(&key.as_str());
    let version = node.at(&["status", "nodeInfo", "kubeletVersion"]).as_str().unwrap_or("");
    // Providers add to the version: `v1.33.1-eks-1`, `v1.33.1+k3s1`.
    let kubelet = version.split(['-', '+']).next().unwrap_or("").parse::<Release>();
    if kubelet.is_err() {
        notes.add(format!("its kubelet is {version}, which is not modelled: taken as the control plane's"), &title);
    }
    for (key, simulated) in [("kubernetes.io/arch", "amd64"), ("kubernetes.io/os", "linux")] {
        if labels.get(key).as_str().is_some_and(|value| value != simulated) {
            notes.add(format!("a simulated machine says {key}={simulated} when its kubelet starts again"), &title);
        }
    }
    if node.at(&["spec", "providerID"]).as_str().is_some_and(|id| !id.is_empty()) {
        notes.add("a cloud that deletes the Nodes of machines that are gone is not in the answer", "");
    }
    for condition in node.at(&["status", "conditions"]).items() {
        let kind = condition.get("type").as_str().unwrap_or("");
        if kind != "Ready" && condition.get("status").as_str() == Some("True") {
            notes.add(format!("condition {kind}=True is not taken over"), &title);
        }
    }
    if !is_ready(node) {
        notes.add("not ready: taken as a node whose kubelet has been silent all the time", &title);
    }
    let kubelet = kubelet.ok().filter(|own| own.minor_name() != server.minor_name());
    let spec = KubeletSpec { version: kubelet, config: reserved(node.get("status")), ..KubeletSpec::default() };
    Node {
        name: Text::from(name_of(node)),
        zone: label(ZONE),
        region: label(REGION),
        hardware: Arc::new(hardware(node.get("status"), &title, notes)),
        kubelet: Arc::new(spec),
        labels: labels
            .fields()
            .filter(|(key, _)| is_own(key))
            .filter_map(|(key, value)| Some((key.clone(), value.as_text()?.clone())))
            .collect(),
        taints: node.at(&["spec", "taints"]).items().iter().filter(|taint| !is_of_state(taint)).map(untimed).collect(),
        is_cordoned: node.at(&["spec", "unschedulable"]).as_bool() == Some(true),
        is_silent: !is_ready(node),
    }
}

fn is_of_state(taint: &Json) -> bool {
    let key = taint.get("key").as_str().unwrap_or("");
    key.starts_with(TAINTS_OF_STATE) && key != "node.kubernetes.io/out-of-service"
}

fn untimed(taint: &Json) -> Json {
    let mut taint = taint.clone();
    taint.remove(&["timeAdded"]);
    taint
}

/// Reads a machine from what its Node has: extended resources by what of them can be allocated.
fn hardware(status: &Json, title: &str, notes: &mut Notes) -> Hardware {
    let mut hardware = Hardware::default();
    for (name, value) in status.get("capacity").fields() {
        let Some(amount) = Quantity::from_json(value) else { continue };
        let healthy = Quantity::from_json(status.at(&["allocatable", name])).unwrap_or(amount);
        match name.as_str() {
            "cpu" => hardware.cpu = amount,
            "memory" => hardware.memory = amount,
            "ephemeral-storage" => hardware.ephemeral_storage = amount,
            "pods" => hardware.pods = Some(healthy.value()),
            name if name.contains('/') => hardware.extended.push((Text::from(name), amount, healthy)),
            _ if amount.is_zero() => {}
            name => notes.add(format!("capacity of {name} is not taken over"), title),
        }
    }
    hardware
}

/// Returns the configuration of a kubelet that keeps for itself what the Node's kubelet keeps.
fn reserved(status: &Json) -> Json {
    let kept = |name: &str| {
        let amount = |list: &str| Quantity::from_json(status.at(&[list, name]));
        let kept = amount("capacity").zip(amount("allocatable")).map(|(capacity, own)| capacity - own);
        kept.filter(|kept| !kept.is_negative())
    };
    let mut config = Json::object();
    if let Some(cpu) = kept("cpu") {
        config.set(&["systemReserved", "cpu"], cpu.to_string());
    }
    // What is kept of memory and of the disk is kept as thresholds of eviction: whole bytes, without rounding.
    for (name, signal) in [("memory", "memory.available"), ("ephemeral-storage", "nodefs.available")] {
        if let Some(amount) = kept(name) {
            config.set(&["evictionHard", signal], amount.to_string());
        }
    }
    config
}

/// Orders nodes: the first of each zone in turn, as those that flags describe.
fn in_turn(mut nodes: Vec<Node>) -> Vec<Node> {
    nodes.sort_by(|one, other| (&one.zone, &one.name).cmp(&(&other.zone, &other.name)));
    let mut seen: BTreeMap<Option<Text>, usize> = BTreeMap::new();
    let mut places: Vec<(usize, Node)> = Vec::new();
    for node in nodes {
        let place = seen.entry(node.zone.clone()).or_default();
        places.push((*place, node));
        *place += 1;
    }
    places.sort_by_key(|(place, _)| *place);
    places.into_iter().map(|(_, node)| node).collect()
}
