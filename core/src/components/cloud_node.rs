//! Writes what the cloud knows into Nodes: providerID, labels, addresses; the taint of a Node that waits for it goes.
//!
//! Mirrors cloud-controller-manager's `cloud-node-controller` (k8s.io/cloud-provider
//! controllers/node/node_controller.go, v0.37). A Node with the taint `uninitialized` is written once with all that the
//! cloud says, and its addresses after that; of any other Node the stable labels follow the beta ones. Every five
//! minutes the addresses of all Nodes are looked up again.
//! Inputs: Nodes, answers of the API server and the cloud, time. Outputs: calls, writes of Nodes, Events.
//! Left out on purpose: the worker of its own that the look-ups have, and `--concurrent-node-syncs`.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;

use jiff::{SignedDuration, Timestamp};

use super::client::CacheEvent;
use super::cloud_calls::cloud_node;
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, LoopInfo,
    Reconciler, Retries, Watched, code, failure, object,
};
use super::events::{EventType, InvolvedObject};
use super::{Because, DecisionId};
use crate::chance::Chance;
use crate::network::{Call, CloudCall, NODES, Verb};
use crate::objects::patch::status_patch;
use crate::objects::{Json, Object, ObjectKey, Text};

/// The taint of a Node that the cloud has not been asked about. Source: k8s.io/cloud-provider
/// api/well_known_taints.go (v0.37), `TaintExternalCloudProvider`.
const UNINITIALIZED: &str = "node.cloudprovider.kubernetes.io/uninitialized";
/// The addresses that a kubelet was told to have. Source: k8s.io/cloud-provider api/well_known_annotations.go (v0.37).
const PROVIDED_IP: &str = "alpha.kubernetes.io/provided-node-ip";
/// The beta labels, whose values the stable ones get. Source: node_controller.go (v0.37), `labelReconcileInfo`.
const LABELS: [(&str, &str); 3] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
];
/// Tries of the write of a Node. Source: node_controller.go (v0.37), `UpdateNodeSpecBackoff`.
const TRIES_MAX: u32 = 20;
/// Pause after a conflict, with a jitter of up to its own length. Source: as [`TRIES_MAX`].
const CONFLICT_PAUSE: SignedDuration = SignedDuration::from_millis(50);
/// Stands in a key's namespace for a look-up of addresses; Nodes have none.
const ADDRESSES: Text = Text::of("addresses");

const CONFIG: ControllerConfig =
    ControllerConfig { queue: "Nodes", workers: 1, retries: Retries::ENDLESS, watched: &[Watched::with(NODES, None)] };

/// Starts the controller with an empty cache.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let own = CloudNodes {
        chance: context.chance.fork("conflicts"),
        period: context.settings.duration("cloud-node-status-update-frequency"),
        next: None,
        matches_whole_names: context.settings.profile().is("cloud-labels-match-whole-names"),
        began: false,
        pending: BTreeMap::new(),
        read: BTreeMap::new(),
    };
    KeyedController::of_cloud(own, &CONFIG, context, now)
}

/// What a request is for.
#[derive(Clone, Debug)]
enum NodePurpose {
    /// The Node is read, to write these labels.
    Labels(Vec<(&'static str, Text)>, DecisionId),
    /// The cloud is asked about a Node that waits for it.
    Metadata,
    /// The cloud is asked for addresses.
    Addresses,
    /// The Node is written with what the cloud said.
    Update(Json),
    /// The addresses follow, and then the Event.
    LastOfUpdate,
    /// A write after which nothing follows.
    Last,
}

/// What the cloud said of a Node whose write met a conflict.
#[derive(Clone, Debug)]
struct Pending {
    metadata: Json,
    tries: u32,
    until: Timestamp,
}

/// The controller; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
struct CloudNodes {
    chance: Chance,
    period: SignedDuration,
    /// When addresses are looked up next; `None` before the first list.
    next: Option<Timestamp>,
    /// Whether a label is left out only if its whole prefix is Kubernetes' own.
    matches_whole_names: bool,
    began: bool,
    pending: BTreeMap<ObjectKey, Pending>,
    /// The Nodes that are being initialised, as they were read first.
    read: BTreeMap<ObjectKey, InvolvedObject>,
}

type NodeRuntime = KeyedRuntime<NodePurpose>;

fn is_of_cloud(taint: &Json) -> bool {
    taint.get("key").as_str() == Some(UNINITIALIZED)
}

fn waits_for_cloud(node: &Object) -> bool {
    node.stable().at(&["spec", "taints"]).items().iter().any(is_of_cloud)
}

/// Tells whether a label is in a namespace of Kubernetes', which no cloud may use. Where whole names do not matter, a
/// prefix that ends alike will do, with anything for the dot.
///
/// Source: node_controller.go (v0.31, v0.32), `k8sNamespaceRegex`.
fn is_reserved(label: &str, matches_whole_names: bool) -> bool {
    let Some((prefix, _)) = label.split_once('/') else { return false };
    if matches_whole_names {
        let is_own = |before: &str| before.is_empty() || before.ends_with('.');
        return ["kubernetes.io", "k8s.io"].iter().any(|own| prefix.strip_suffix(own).is_some_and(is_own));
    }
    let before = prefix.strip_suffix("io").and_then(|before| before.get(..before.len().checked_sub(1)?));
    before.is_some_and(|before| before.ends_with("kubernetes") || before.ends_with("k8s"))
}

/// Returns the Node with all that the cloud says of it, and without the taint.
fn initialised(node: &Object, metadata: &Json, matches_whole_names: bool) -> Json {
    let mut new = node.json();
    let said = |field: &str| metadata.get(field).as_text().filter(|text| !text.is_empty());
    if cloud_node(node).provider_id.is_empty()
        && let Some(id) = said("providerID")
    {
        new.set(&["spec", "providerID"], id);
    }
    for (field, place) in [("type", 2), ("zone", 0), ("region", 1)] {
        if let Some(value) = said(field) {
            new.set(&["metadata", "labels", LABELS[place].0], value);
            new.set(&["metadata", "labels", LABELS[place].1], value);
        }
    }
    for (label, value) in metadata.get("labels").fields() {
        if !is_reserved(label, matches_whole_names) && new.at(&["metadata", "labels", label]).is_null() {
            new.set(&["metadata", "labels", label], value.clone());
        }
    }
    let taints: Vec<Json> =
        new.at(&["spec", "taints"]).items().iter().filter(|taint| !is_of_cloud(taint)).cloned().collect();
    if taints.is_empty() {
        new.remove(&["spec", "taints"]);
    } else {
        new.set(&["spec", "taints"], taints);
    }
    new
}

/// Source: k8s.io/component-helpers node/util/ips.go (v1.34), `parseNodeIP`.
const NO_PAIR: &str = "must contain either a single IP or a dual-stack pair of IPs";

/// Returns the cloud's addresses, of which those that the kubelet was told to have stand first, without others of
/// their types.
///
/// # Errors
/// The annotation is neither an address nor a pair of two families, or the cloud does not know such an address.
///
/// Source: k8s.io/cloud-provider node/helpers/address.go (v0.37), `GetNodeAddressesFromNodeIP`.
fn with_provided(node: &Object, cloud: &[Json]) -> Result<Vec<Json>, String> {
    let Some(provided) = node.stable().at(&["metadata", "annotations", PROVIDED_IP]).as_str() else {
        return Ok(cloud.to_vec());
    };
    let ip_of = |address: &Json| address.get("address").as_str().and_then(|text| text.parse::<IpAddr>().ok());
    let refuse = |why: String| format!("failed to parse node IP {provided:?}: {why}");
    let parse = |text: &str| text.parse::<IpAddr>().map_err(|_| refuse(format!("could not parse {text:?}")));
    let all: Vec<IpAddr> = provided.split(',').map(parse).collect::<Result<_, _>>()?;
    match all[..] {
        [_] => {}
        [one, other] if one.is_ipv6() == other.is_ipv6() => return Err(refuse(String::from(NO_PAIR))),
        [one, other] if one.is_unspecified() || other.is_unspecified() => {
            return Err(refuse(String::from("dual-stack node IP cannot include '0.0.0.0' or '::'")));
        }
        [_, _] => {}
        _ => return Err(refuse(String::from(NO_PAIR))),
    }
    let mut first = Vec::new();
    for wanted in all {
        let before = first.len();
        first.extend(cloud.iter().filter(|address| ip_of(address) == Some(wanted)).cloned());
        if first.len() == before {
            return Err(format!("failed to get node address from cloud provider that matches ip: {wanted}"));
        }
    }
    let taken: Vec<Json> = first.iter().map(|address| address.get("type").clone()).collect();
    first.extend(cloud.iter().filter(|address| !taken.contains(address.get("type"))).cloned());
    Ok(first)
}

/// Returns the addresses that a Node gets; `None` if it keeps those that it has.
///
/// Source: node_controller.go (v0.37), `updateNodeAddress`, `nodeAddressesChangeDetected`.
fn new_addresses(node: &Object, metadata: &Json) -> Option<Vec<Json>> {
    let mut addresses = metadata.get("addresses").items().to_vec();
    if addresses.is_empty() {
        return None;
    }
    let is_hostname = |address: &Json| address.get("type").as_str() == Some("Hostname");
    let before = node.stable().at(&["status", "addresses"]).items();
    if !addresses.iter().any(is_hostname) {
        addresses.extend(before.iter().filter(|address| is_hostname(address)).cloned());
    }
    let addresses = with_provided(node, &addresses).ok()?;
    // Of several addresses of one type the last counts, as upstream compares them.
    let last = |kind: &Json| before.iter().rev().find(|own| own.get("type") == kind).map(|own| own.get("address"));
    let is_new = |address: &Json| last(address.get("type")) != Some(address.get("address"));
    (addresses.len() != before.len() || addresses.iter().any(is_new)).then_some(addresses)
}

/// Returns the stable labels that do not have the values of the beta ones, with these.
fn stale_labels(node: &Object) -> Vec<(&'static str, Text)> {
    let labels = node.stable().at(&["metadata", "labels"]);
    let stale = |(beta, stable): (&'static str, &'static str)| {
        let value = labels.get(beta).as_text()?;
        (labels.get(stable).as_text() != Some(value)).then(|| (stable, value.clone()))
    };
    LABELS.into_iter().filter_map(stale).collect()
}

impl CloudNodes {
    fn about(key: &ObjectKey) -> String {
        format!("node/{}", key.name)
    }

    /// Sets the stable labels to the values of the beta ones.
    fn reconcile_labels(key: &ObjectKey, node: &Object, runtime: &mut NodeRuntime, now: Timestamp) -> Flow {
        let labels = stale_labels(node);
        if labels.is_empty() {
            return Flow::Done;
        }
        let fact = Because::Fact(String::from("the labels of the beta have other values"));
        let because = runtime.decide(Self::about(key), "stable labels follow", [fact].into());
        let call = Call::new(Verb::Get, NODES, "", &key.name).query("resourceVersion", "0");
        runtime.send(key, NodePurpose::Labels(labels, because), call, Some(because), now);
        Flow::Next
    }

    /// Writes labels into a Node as it was read.
    fn write_labels(
        key: &ObjectKey,
        (labels, because): (&[(&'static str, Text)], DecisionId),
        node: &Object,
        runtime: &mut NodeRuntime,
        now: Timestamp,
    ) {
        let mut patch = Json::object();
        for (label, value) in labels {
            if node.stable().at(&["metadata", "labels", label]).as_text() != Some(value) {
                patch.set(&["metadata", "labels", label], value);
            }
        }
        let call = Call::strategic_patch(NODES, "", &key.name, patch);
        runtime.send(key, NodePurpose::Last, call, Some(because), now);
    }

    fn update(
        &self,
        key: &ObjectKey,
        node: &Object,
        metadata: Json,
        runtime: &mut NodeRuntime,
        now: Timestamp,
    ) -> Flow {
        let cloud = metadata.get("addresses").items();
        if let Err(why) = with_provided(node, cloud) {
            let fact = Because::Fact(format!("provided node ip for node {:?} is not valid: {why}", &*key.name));
            runtime.decide(Self::about(key), "stays uninitialized", [fact].into());
            return Flow::Retry;
        }
        let id = metadata.get("providerID").as_str().unwrap_or("");
        let fact = Because::Fact(format!("the cloud knows it as {id:?}"));
        let because = runtime.decide(Self::about(key), "initialized with the cloud", [fact].into());
        let new = initialised(node, &metadata, self.matches_whole_names);
        let call = Call::new(Verb::Update, NODES, "", &key.name).body(new);
        runtime.send(key, NodePurpose::Update(metadata), call, Some(because), now);
        Flow::Next
    }

    /// Tries a write again after a conflict, with what the cloud has said already.
    fn again(&mut self, key: &ObjectKey, metadata: Json, runtime: &mut NodeRuntime, now: Timestamp) -> Flow {
        let tries = self.pending.get(key).map_or(1, |pending| pending.tries + 1);
        if tries >= TRIES_MAX {
            self.pending.remove(key);
            return Flow::Retry;
        }
        let pause = self.chance.jitter(CONFLICT_PAUSE, 1.0);
        self.pending.insert(key.clone(), Pending { metadata, tries, until: now + pause });
        runtime.add_after(key.clone(), pause, now);
        Flow::Done
    }

    fn write_addresses(
        key: &ObjectKey,
        node: &Object,
        metadata: &Json,
        step: NodePurpose,
        runtime: &mut NodeRuntime,
        now: Timestamp,
    ) -> bool {
        let Some(addresses) = new_addresses(node, metadata) else { return false };
        let (old, mut new) = (node.json(), node.json());
        new.set(&["status", "addresses"], addresses);
        let fact = Because::Fact(String::from("the cloud says other addresses"));
        let because = runtime.decide(Self::about(key), "addresses of the cloud", [fact].into());
        let call = Call::strategic_patch(NODES, "", &key.name, status_patch(&old, &new)).subresource("status");
        runtime.send(key, step, call, Some(because), now);
        true
    }

    fn synced(&mut self, key: &ObjectKey, runtime: &mut NodeRuntime, now: Timestamp) -> Flow {
        if let Some(about) = self.read.remove(key) {
            runtime.emit(&about, EventType::Normal, "Synced", "Node synced successfully", now);
        }
        Flow::Done
    }

    fn look_up(runtime: &mut NodeRuntime) {
        let nodes: Vec<Text> = runtime.cache(0).objects().map(|node| Text::from(node.name())).collect();
        nodes.into_iter().for_each(|name| runtime.add(ObjectKey { namespace: ADDRESSES, name }));
    }
}

impl Reconciler for CloudNodes {
    type Purpose = NodePurpose;

    fn handle_event(&mut self, _: usize, event: &CacheEvent, runtime: &mut NodeRuntime, _: Timestamp) {
        let key = event.object().key();
        match &event.after {
            Some(_) => runtime.add(key),
            None => {
                self.pending.remove(&key);
                self.read.remove(&key);
            }
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut NodeRuntime, now: Timestamp) -> Flow {
        let of_node = ObjectKey::cluster(key.name.clone());
        let Some(node) = runtime.cache(0).get(&of_node).cloned() else { return Flow::Done };
        let waits = waits_for_cloud(&node);
        if key.namespace == ADDRESSES {
            if !waits {
                runtime.call_cloud(key, NodePurpose::Addresses, CloudCall::Metadata(cloud_node(&node)));
            }
            return if waits { Flow::Done } else { Flow::Next };
        }
        if !waits {
            self.pending.remove(key);
            return Self::reconcile_labels(key, &node, runtime, now);
        }
        if let Some(pending) = self.pending.get(key) {
            if now < pending.until {
                runtime.add_after(key.clone(), pending.until.duration_since(now), now);
                return Flow::Done;
            }
            let metadata = pending.metadata.clone();
            return self.update(key, &node, metadata, runtime, now);
        }
        self.read.insert(key.clone(), InvolvedObject::read_node(&node));
        runtime.call_cloud(key, NodePurpose::Metadata, CloudCall::Metadata(cloud_node(&node)));
        Flow::Next
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        step: NodePurpose,
        reply: &ApiResult,
        runtime: &mut NodeRuntime,
        now: Timestamp,
    ) -> Flow {
        let of_node = ObjectKey::cluster(key.name.clone());
        let node = runtime.cache(0).get(&of_node).cloned();
        let body = || reply.as_ref().map(|answer| answer.body()).unwrap_or_default();
        match (step, failure(reply), node) {
            (NodePurpose::Metadata, Some(why), _) => {
                let fact = Because::Fact(format!("failed to get instance metadata for node {}: {why}", key.name));
                runtime.decide(Self::about(key), "stays uninitialized", [fact].into());
                Flow::Retry
            }
            (NodePurpose::Metadata, None, Some(node)) => {
                let mut metadata = body();
                let own = cloud_node(&node).provider_id;
                if metadata.get("providerID").as_str().unwrap_or("").is_empty() {
                    if own.is_empty() && metadata.get("needsProviderID").as_bool() == Some(true) {
                        let text = format!("cloud provider does not set node provider ID for node {}", key.name);
                        runtime.decide(Self::about(key), "stays uninitialized", [Because::Fact(text)].into());
                        return Flow::Retry;
                    }
                    metadata.set(&["providerID"], own);
                }
                self.update(key, &node, metadata, runtime, now)
            }
            (NodePurpose::Addresses, None, Some(node)) if !waits_for_cloud(&node) => {
                Self::write_addresses(key, &node, &body(), NodePurpose::Last, runtime, now);
                Flow::Next
            }
            (NodePurpose::Update(metadata), Some(_), _) if code(reply) == 409 => {
                self.again(key, metadata, runtime, now)
            }
            (NodePurpose::Update(_), Some(_), _) => {
                self.pending.remove(key);
                Flow::Retry
            }
            (NodePurpose::Update(metadata), None, _) => {
                self.pending.remove(key);
                let written = reply.as_ref().ok().and_then(|answer| answer.as_object().cloned());
                let step = NodePurpose::LastOfUpdate;
                match written {
                    Some(node) if Self::write_addresses(key, &node, &metadata, step, runtime, now) => Flow::Next,
                    _ => self.synced(key, runtime, now),
                }
            }
            // A failure is left to the next look-up.
            (NodePurpose::LastOfUpdate, ..) => self.synced(key, runtime, now),
            (NodePurpose::Labels(labels, because), None, _) => match object(reply) {
                Some(node) => {
                    Self::write_labels(key, (&labels, because), &node, runtime, now);
                    Flow::Next
                }
                None => Flow::Retry,
            },
            (NodePurpose::Labels(..), Some(_), _) => Flow::Retry,
            (NodePurpose::Last, Some(_), _) if key.namespace != ADDRESSES => Flow::Retry,
            _ => Flow::Done,
        }
    }

    fn loops(&self) -> Vec<LoopInfo> {
        Vec::from([LoopInfo { name: "address-pass", period: self.period, next: self.next }])
    }

    fn begin(&mut self, now: Timestamp) {
        if !self.began {
            self.began = true;
            self.next = Some(now);
        }
    }

    fn handle_due(&mut self, runtime: &mut NodeRuntime, now: Timestamp) {
        if self.next.is_some_and(|at| at <= now) {
            self.next = Some(now + self.period);
            Self::look_up(runtime);
        }
    }

    fn hold_loops(&mut self) {
        self.began = true;
        self.next = None;
    }

    fn run_once(&mut self, name: &str, runtime: &mut NodeRuntime, _: Timestamp) -> bool {
        if name == "address-pass" {
            Self::look_up(runtime);
        }
        name == "address-pass"
    }
}

#[cfg(test)]
mod tests {
    use super::{is_reserved, new_addresses, with_provided};
    use crate::json;
    use crate::objects::{Json, Object};

    fn node(annotation: Option<&str>) -> Object {
        let mut node = json!({"metadata": {"name": "w1"},
            "status": {"addresses": [{"type": "Hostname", "address": "w1"}]}});
        if let Some(annotation) = annotation {
            node.set(&["metadata", "annotations", super::PROVIDED_IP], annotation);
        }
        Object::new(node, 1)
    }

    fn cloud() -> Json {
        json!({"addresses": [{"type": "InternalIP", "address": "10.0.0.1"},
            {"type": "InternalIP", "address": "10.0.0.2"}, {"type": "ExternalIP", "address": "203.0.113.7"}]})
    }

    #[test]
    fn the_address_of_the_kubelet_stands_alone_among_those_of_its_type() {
        let addresses = cloud();
        let found = with_provided(&node(Some("10.0.0.2")), addresses.get("addresses").items()).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].get("address").as_str(), Some("10.0.0.2"));
        let why = with_provided(&node(Some("10.0.0.9")), addresses.get("addresses").items()).unwrap_err();
        assert_eq!(why, "failed to get node address from cloud provider that matches ip: 10.0.0.9");
        for (text, why) in [
            ("10.0.0.1,10.0.0.2", super::NO_PAIR),
            ("10.0.0.1,fd00::1,fd00::2", super::NO_PAIR),
            ("10.0.0.1,::", "dual-stack node IP cannot include '0.0.0.0' or '::'"),
            ("10.0.0.1, fd00::1", "could not parse \" fd00::1\""),
        ] {
            let found = with_provided(&node(Some(text)), addresses.get("addresses").items()).unwrap_err();
            assert_eq!(found, alloc::format!("failed to parse node IP {text:?}: {why}"));
        }
    }

    #[test]
    fn a_cloud_without_a_host_name_leaves_the_one_of_the_kubelet() {
        let found = new_addresses(&node(None), &cloud()).unwrap();
        assert_eq!(found.last().unwrap().get("type").as_str(), Some("Hostname"));
        assert!(new_addresses(&node(None), &json!({"addresses": []})).is_none());
        assert!(new_addresses(&node(None), &json!({"addresses": [{"type": "Hostname", "address": "w1"}]})).is_none());
    }

    #[test]
    fn labels_of_kubernetes_are_none_of_the_clouds() {
        for (label, before, reserved) in [
            ("kubernetes.io/x", true, true),
            ("a.k8s.io/x", true, true),
            ("notkubernetes.io/x", true, false),
            ("k8s-io/x", true, false),
            ("io/x", false, false),
            ("rack", false, false),
        ] {
            assert_eq!((is_reserved(label, false), is_reserved(label, true)), (before, reserved), "{label}");
        }
    }
}
