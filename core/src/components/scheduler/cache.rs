//! The scheduler's view of the cluster: nodes in the order in which they are filtered, and the Pods on each.
//!
//! Mirrors pkg/scheduler/backend/cache/{cache,node_tree}.go and pkg/scheduler/framework/types.go, `NodeInfo` (v1.34).
//! Inputs: Nodes and bound Pods as the watches show them, and Pods that this scheduler has just placed ("assumed").
//! Outputs: the nodes, alternating between zones, with the summed requests on each.
//! Invariant: a Pod counts on its node from the moment it is assumed or seen bound until its object is gone or ended.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::OnceCell;

use crate::components::client::node_name;
use crate::components::pod_resources::{Amounts, HostPort, PodLevel, requests, requests_for_scoring, spec_in_effect};
use crate::objects::kubelet_labels::{HOSTNAME, ZONE};
use crate::objects::lifecycle::{is_ending, is_terminal};
use crate::objects::selector::Selector;
use crate::objects::{Json, Object, ObjectKey, Text};

/// A Pod as the scheduler needs it.
#[derive(Clone, Debug)]
pub(super) struct PodInfo {
    pub(super) key: ObjectKey,
    pub(super) object: Object,
    pub(super) requests: Amounts,
    pub(super) for_scoring: Amounts,
    pub(super) ports: Vec<HostPort>,
    pub(super) priority: i64,
}

impl PodInfo {
    pub(super) fn of(object: &Object, level: PodLevel) -> Self {
        // Of a Pod without a node only the spec counts.
        let resized = node_name(object).and_then(|_| spec_in_effect(object.stable()));
        let spec = resized.as_ref().unwrap_or(object.stable().get("spec"));
        Self {
            key: object.key(),
            object: object.clone(),
            requests: requests(spec, level),
            for_scoring: requests_for_scoring(spec, level),
            ports: HostPort::of(object),
            priority: priority(object),
        }
    }

    pub(super) fn spec(&self) -> &Json {
        self.object.stable().get("spec")
    }

    /// Tells whether it requests more of something than another one, or than it does now.
    pub(super) fn requests_more_than(&self, other: &Self) -> bool {
        self.requests.iter().any(|(name, amount)| amount > other.requests.get(name))
    }

    pub(super) fn labels(&self) -> &Json {
        self.object.stable().at(&["metadata", "labels"])
    }

    pub(super) fn has_required_anti_affinity(&self) -> bool {
        let path = ["affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
        !self.spec().at(&path).items().is_empty()
    }

    pub(super) fn has_affinity(&self) -> bool {
        let affinity = self.spec().get("affinity");
        !affinity.get("podAffinity").is_empty() || !affinity.get("podAntiAffinity").is_empty()
    }
}

/// Returns a Pod's priority. Source: k8s.io/component-helpers scheduling/corev1/helpers.go (v1.34), `PodPriority`.
pub(super) fn priority(pod: &Object) -> i64 {
    pod.stable().at(&["spec", "priority"]).as_i64().unwrap_or(0)
}

/// A Node and the Pods on it.
#[derive(Clone, Debug)]
pub(super) struct NodeInfo {
    pub(super) node: Object,
    pub(super) allocatable: Amounts,
    pub(super) requested: Amounts,
    pub(super) for_scoring: Amounts,
    pub(super) pods: BTreeMap<ObjectKey, Arc<PodInfo>>,
    /// Their keys as upstream's list has them: the last one takes the place of one that goes.
    /// Source: pkg/scheduler/framework/types.go (v1.34), `removeFromSlice`.
    pub(super) order: Vec<ObjectKey>,
    /// The host ports in use. One that two Pods have is free once one of them is gone, as upstream.
    /// Source: k8s.io/kube-scheduler framework, `HostPortInfo` (v1.34).
    pub(super) ports: BTreeSet<HostPort>,
    /// The number of Pods with required anti-affinity.
    pub(super) anti_affine: usize,
    /// Whether it has a taint that only makes it less wanted.
    pub(super) is_unpreferred: bool,
    /// Whether it has a taint that keeps Pods away.
    pub(super) is_tainted: bool,
    pub(super) is_unschedulable: bool,
    name: Text,
    zone: Option<Text>,
    hostname: Option<Text>,
    images: BTreeMap<Text, i64>,
}

impl NodeInfo {
    pub(super) const fn name(&self) -> &Text {
        &self.name
    }

    pub(super) fn tree(&self) -> &Json {
        self.node.stable()
    }

    pub(super) fn label(&self, key: &str) -> Option<&Text> {
        match key {
            ZONE => self.zone.as_ref(),
            HOSTNAME => self.hostname.as_ref(),
            _ => self.tree().at(&["metadata", "labels", key]).as_text(),
        }
    }

    pub(super) fn taints(&self) -> &[Json] {
        self.tree().at(&["spec", "taints"]).items()
    }

    pub(super) fn has_image(&self, image: &str) -> bool {
        self.images.contains_key(image)
    }

    pub(super) fn add(&mut self, pod: Arc<PodInfo>) {
        self.requested.add(&pod.requests);
        self.for_scoring.add(&pod.for_scoring);
        self.anti_affine += usize::from(pod.has_required_anti_affinity());
        self.ports.extend(pod.ports.iter().cloned());
        self.order.push(pod.key.clone());
        self.pods.insert(pod.key.clone(), pod);
    }

    pub(super) fn remove(&mut self, key: &ObjectKey) -> Option<Arc<PodInfo>> {
        let pod = self.pods.remove(key)?;
        self.requested.subtract(&pod.requests);
        self.for_scoring.subtract(&pod.for_scoring);
        self.anti_affine -= usize::from(pod.has_required_anti_affinity());
        pod.ports.iter().for_each(|port| {
            self.ports.remove(port);
        });
        if let Some(at) = self.order.iter().position(|own| own == key) {
            self.order.swap_remove(at);
        }
        Some(pod)
    }

    fn set_node(&mut self, node: &Object) {
        let tree = node.stable();
        self.allocatable = Amounts::of(tree.at(&["status", "allocatable"]));
        self.images = images(tree);
        let label = |key| tree.at(&["metadata", "labels", key]).as_text().cloned();
        (self.zone, self.hostname) = (label(ZONE), label(HOSTNAME));
        let effects = || tree.at(&["spec", "taints"]).items().iter().filter_map(|taint| taint.get("effect").as_str());
        self.is_unpreferred = effects().any(|effect| effect == "PreferNoSchedule");
        self.is_tainted = effects().any(|effect| matches!(effect, "NoSchedule" | "NoExecute"));
        self.is_unschedulable = tree.at(&["spec", "unschedulable"]).as_bool() == Some(true);
        self.node = node.clone();
    }
}

fn images(node: &Json) -> BTreeMap<Text, i64> {
    let mut found = BTreeMap::new();
    for image in node.at(&["status", "images"]).items() {
        let size = image.get("sizeBytes").as_i64().unwrap_or(0);
        for name in image.get("names").items().iter().filter_map(Json::as_text) {
            found.entry(name.clone()).or_insert(size);
        }
    }
    found
}

/// The Pods of one namespace with the same labels: how many of them are on each node, without those being deleted.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelGroup {
    labels: Json,
    nodes: BTreeMap<Text, i64>,
    /// The same by the zones of the nodes that are known, a node without zone in one without name.
    zones: BTreeMap<Text, i64>,
}

impl LabelGroup {
    /// Returns how many there are on each node that has one.
    pub(super) const fn on_nodes(&self) -> &BTreeMap<Text, i64> {
        &self.nodes
    }

    /// Returns how many there are in each zone of the nodes that are known.
    pub(super) const fn in_zones(&self) -> &BTreeMap<Text, i64> {
        &self.zones
    }

    fn count_zone(&mut self, zone: Option<&Text>, step: i64) {
        *self.zones.entry(zone.cloned().unwrap_or_default()).or_default() += step;
    }
}

/// The nodes and their Pods.
#[derive(Clone, Debug, Default)]
pub(super) struct SchedulerCache {
    nodes: BTreeMap<Text, NodeInfo>,
    /// The zones in the order in which they were first seen, each with its nodes in the order in which they came.
    zones: Vec<(Text, Vec<Text>)>,
    /// The names alternating between zones; computed on demand after a node was added or removed.
    order: OnceCell<Vec<Text>>,
    /// The node of each Pod that counts.
    placed: BTreeMap<ObjectKey, Text>,
    /// Pods whose node is not known.
    pods_without_node: BTreeMap<Text, BTreeMap<ObjectKey, Arc<PodInfo>>>,
    /// How large an image is on the node that had it first, and how many nodes have it.
    known_images: BTreeMap<Text, (i64, i64)>,
    /// The number of Pods with affinity or anti-affinity to other Pods.
    affine_pods: usize,
    /// By namespace and printed labels. Upstream counts all Pods of all nodes for each Pod that it scores.
    groups: BTreeMap<(Text, Text), LabelGroup>,
}

impl SchedulerCache {
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn get(&self, name: &Text) -> Option<&NodeInfo> {
        self.nodes.get(name)
    }

    /// Returns the names in the order in which the nodes are filtered.
    ///
    /// The order alternates between zones. Source: pkg/scheduler/backend/cache/node_tree.go (v1.34), `list`.
    pub(super) fn order(&self) -> &[Text] {
        self.order.get_or_init(|| {
            let longest = self.zones.iter().map(|(_, nodes)| nodes.len()).max().unwrap_or(0);
            let turns = (0..longest).flat_map(|at| self.zones.iter().filter_map(move |(_, nodes)| nodes.get(at)));
            turns.cloned().collect()
        })
    }

    /// Returns the nodes in the order in which they are filtered.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &NodeInfo> {
        self.order().iter().filter_map(|name| self.nodes.get(name))
    }

    /// Returns how large an image is, and how many nodes have it.
    ///
    /// Source: pkg/scheduler/backend/cache/cache.go (v1.34), `addNodeImageStates`.
    pub(super) fn image(&self, name: &str) -> (i64, i64) {
        self.known_images.get(name).copied().unwrap_or_default()
    }

    /// Tells whether any placed Pod has affinity or anti-affinity to others.
    pub(super) const fn has_affine_pods(&self) -> bool {
        self.affine_pods > 0
    }

    pub(super) fn set_node(&mut self, node: &Object) {
        let name = Text::from(node.name());
        let zone = zone_key(node.stable());
        let old = self.nodes.get(&name).map(|info| (zone_key(info.tree()), info.images.clone()));
        if let Some(info) = self.nodes.get_mut(&name) {
            let label = info.zone.clone();
            info.set_node(node);
            if info.zone != label {
                self.move_counts(&name, label.as_ref(), -1);
                self.move_counts(&name, self.nodes[&name].zone.clone().as_ref(), 1);
            }
        } else {
            let mut info = NodeInfo {
                node: node.clone(),
                allocatable: Amounts::default(),
                requested: Amounts::default(),
                for_scoring: Amounts::default(),
                pods: BTreeMap::new(),
                order: Vec::new(),
                ports: BTreeSet::new(),
                anti_affine: 0,
                is_unpreferred: false,
                is_tainted: false,
                is_unschedulable: false,
                name: name.clone(),
                zone: None,
                hostname: None,
                images: BTreeMap::new(),
            };
            info.set_node(node);
            let pods = self.pods_without_node.remove(&name).unwrap_or_default();
            if !pods.is_empty() {
                self.move_counts(&name, info.zone.as_ref(), 1);
            }
            pods.into_values().for_each(|pod| info.add(pod));
            self.nodes.insert(name.clone(), info);
        }
        let images = self.nodes[&name].images.clone();
        if let Some((_, before)) = &old {
            self.forget_images(before);
        }
        for (name, size) in images {
            self.known_images.entry(name).or_insert((size, 0)).1 += 1;
        }
        match old {
            Some((before, _)) if before == zone => {}
            Some((before, _)) => {
                self.leave_zone(&before, &name);
                self.enter_zone(zone, name);
            }
            None => self.enter_zone(zone, name),
        }
    }

    pub(super) fn remove_node(&mut self, name: &str) {
        let Some((name, info)) = self.nodes.remove_entry(name) else { return };
        self.leave_zone(&zone_key(info.tree()), &name);
        self.forget_images(&info.images);
        if !info.pods.is_empty() {
            self.move_counts(&name, info.zone.as_ref(), -1);
            self.pods_without_node.insert(name, info.pods);
        }
    }

    /// Adds the Pods of a node to those of a zone, or takes them away.
    fn move_counts(&mut self, node: &Text, zone: Option<&Text>, step: i64) {
        for group in self.groups.values_mut() {
            if let Some(count) = group.nodes.get(node).copied() {
                group.count_zone(zone, step * count);
            }
        }
    }

    fn forget_images(&mut self, images: &BTreeMap<Text, i64>) {
        for name in images.keys() {
            if let Some((_, nodes)) = self.known_images.get_mut(name) {
                *nodes -= 1;
                if *nodes == 0 {
                    self.known_images.remove(name);
                }
            }
        }
    }

    fn enter_zone(&mut self, zone: Text, name: Text) {
        match self.zones.iter_mut().find(|(other, _)| *other == zone) {
            Some((_, nodes)) => nodes.push(name),
            None => self.zones.push((zone, Vec::from([name]))),
        }
        self.order.take();
    }

    fn leave_zone(&mut self, zone: &Text, name: &Text) {
        if let Some((_, nodes)) = self.zones.iter_mut().find(|(other, _)| other == zone) {
            nodes.retain(|other| other != name);
        }
        self.zones.retain(|(_, nodes)| !nodes.is_empty());
        self.order.take();
    }

    /// Counts a Pod on a node, and on no other; returns it as it counted before.
    pub(super) fn place(&mut self, pod: Arc<PodInfo>, node: &Text) -> Option<Arc<PodInfo>> {
        let before = self.remove_pod(&pod.key);
        self.affine_pods += usize::from(pod.has_affinity());
        self.placed.insert(pod.key.clone(), node.clone());
        self.count_labels(&pod, node, 1);
        match self.nodes.get_mut(node) {
            Some(info) => info.add(pod),
            None => {
                self.pods_without_node.entry(node.clone()).or_default().insert(pod.key.clone(), pod);
            }
        }
        before
    }

    pub(super) fn remove_pod(&mut self, key: &ObjectKey) -> Option<Arc<PodInfo>> {
        let node = self.placed.remove(key)?;
        let pod = match self.nodes.get_mut(&node) {
            Some(info) => info.remove(key),
            None => self.pods_without_node.get_mut(&node).and_then(|pods| pods.remove(key)),
        };
        if pod.as_ref().is_some_and(|pod| pod.has_affinity()) {
            self.affine_pods -= 1;
        }
        if let Some(pod) = &pod {
            self.count_labels(pod, &node, -1);
        }
        pod
    }

    fn count_labels(&mut self, pod: &PodInfo, node: &Text, step: i64) {
        if is_ending(&pod.object) {
            return;
        }
        let key = (pod.key.namespace.clone(), Text::from(alloc::format!("{}", pod.labels())));
        let group = self.groups.entry(key.clone()).or_default();
        if group.nodes.is_empty() {
            group.labels = pod.labels().clone();
        }
        if let Some(info) = self.nodes.get(node) {
            group.count_zone(info.zone.as_ref(), step);
        }
        let count = group.nodes.entry(node.clone()).or_default();
        *count += step;
        if *count == 0 {
            group.nodes.remove(node);
            if group.nodes.is_empty() {
                self.groups.remove(&key);
            }
        }
    }

    /// Returns how many Pods of a namespace a selector selects, without those being deleted, by what `counts` takes.
    pub(super) fn selected(
        &self,
        namespace: &Text,
        selector: &Selector,
        counts: fn(&LabelGroup) -> &BTreeMap<Text, i64>,
    ) -> Cow<'_, BTreeMap<Text, i64>> {
        let of_namespace = self.groups.range((namespace.clone(), Text::of(""))..);
        let of_namespace = of_namespace.take_while(|((own, _), _)| own == namespace).map(|(_, group)| group);
        let mut selected = of_namespace.filter(|group| selector.matches(&group.labels)).map(counts);
        let Some(first) = selected.next() else { return Cow::default() };
        let mut found = Cow::Borrowed(first);
        for (name, count) in selected.flatten() {
            *found.to_mut().entry(name.clone()).or_default() += count;
        }
        found
    }

    /// Returns a placed Pod.
    pub(super) fn pod(&self, key: &ObjectKey) -> Option<&Arc<PodInfo>> {
        let node = self.placed.get(key)?;
        self.nodes.get(node).map_or_else(|| self.pods_without_node.get(node)?.get(key), |info| info.pods.get(key))
    }
}

/// Returns region and zone in one. Source: k8s.io/component-helpers node/topology/helpers.go (v1.34), `GetZoneKey`.
fn zone_key(node: &Json) -> Text {
    let label = |names: [&str; 2]| {
        let labels = node.at(&["metadata", "labels"]);
        names.into_iter().find_map(|name| labels.get(name).as_str()).unwrap_or("")
    };
    let zone = label(["failure-domain.beta.kubernetes.io/zone", ZONE]);
    let region = label(["failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"]);
    if zone.is_empty() && region.is_empty() {
        return Text::of("");
    }
    Text::from(alloc::format!("{region}:\u{0}:{zone}"))
}

/// Returns the node of a Pod that is bound and has not ended.
pub(super) fn home(pod: &Object) -> Option<&Text> {
    node_name(pod).filter(|_| !is_terminal(pod))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::sync::Arc;
    use alloc::vec::Vec;

    use super::{PodInfo, SchedulerCache};
    use crate::components::pod_resources::PodLevel;
    use crate::json;
    use crate::objects::{Object, Text};

    fn node(name: &str, zone: &str) -> Object {
        Object::new(
            json!({"metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": zone}},
                "status": {"allocatable": {"cpu": "2"}, "images": [{"names": ["a:1"], "sizeBytes": 5}]}}),
            1,
        )
    }

    #[test]
    fn zones_take_turns_and_a_node_that_moves_comes_last() {
        let mut cluster = SchedulerCache::default();
        for (name, zone) in [("a1", "a"), ("a2", "a"), ("b1", "b"), ("a3", "a"), ("b2", "b")] {
            cluster.set_node(&node(name, zone));
        }
        let order = |cluster: &SchedulerCache| cluster.order().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(order(&cluster), ["a1", "b1", "a2", "b2", "a3"]);
        cluster.set_node(&node("a1", "b"));
        assert_eq!(order(&cluster), ["a2", "b1", "a3", "b2", "a1"]);
        cluster.remove_node("b1");
        assert_eq!(order(&cluster), ["a2", "b2", "a3", "a1"]);
        assert_eq!(cluster.image("a:1"), (5, 4));
    }

    #[test]
    fn an_image_is_as_large_as_on_the_node_that_had_it_first() {
        let mut cluster = SchedulerCache::default();
        let with = |name: &str, size: i64| {
            let mut tree = node(name, "a").json();
            tree.set(&["status", "images"], json!([{"names": ["a:1"], "sizeBytes": size}]));
            Object::new(tree, 1)
        };
        cluster.set_node(&with("n1", 7));
        cluster.set_node(&with("n2", 9));
        assert_eq!(cluster.image("a:1"), (7, 2));
        cluster.remove_node("n1");
        assert_eq!(cluster.image("a:1"), (7, 1));
        cluster.set_node(&with("n2", 9));
        assert_eq!(cluster.image("a:1"), (9, 1), "it was on no node for a moment");
    }

    #[test]
    fn a_port_that_two_pods_have_is_free_when_one_of_them_is_gone() {
        let mut cluster = SchedulerCache::default();
        cluster.set_node(&node("w1", ""));
        let pod = |name: &str| {
            let tree = json!({"metadata": {"name": name, "namespace": "default"},
                "spec": {"containers": [{"ports": [{"hostPort": 80}]}]}});
            Arc::new(PodInfo::of(&Object::new(tree, 1), PodLevel::Ignored))
        };
        let (one, other) = (pod("a"), pod("b"));
        cluster.place(one.clone(), &Text::of("w1"));
        cluster.place(other, &Text::of("w1"));
        assert_eq!(cluster.get(&Text::of("w1")).unwrap().ports.len(), 1);
        cluster.remove_pod(&one.key);
        assert!(cluster.get(&Text::of("w1")).unwrap().ports.is_empty());
    }

    #[test]
    fn a_pod_counts_on_its_node_even_before_the_node_is_seen() {
        let mut cluster = SchedulerCache::default();
        let pod = Object::new(
            json!({"metadata": {"name": "p", "namespace": "default"},
                "spec": {"containers": [{"resources": {"requests": {"cpu": "500m"}}}]}}),
            1,
        );
        let info = Arc::new(PodInfo::of(&pod, PodLevel::Ignored));
        cluster.place(info, &Text::of("w1"));
        cluster.set_node(&node("w1", ""));
        assert_eq!(cluster.get(&Text::of("w1")).unwrap().requested.get("cpu"), 500);
        cluster.remove_node("w1");
        cluster.set_node(&node("w1", ""));
        assert_eq!(cluster.get(&Text::of("w1")).unwrap().requested.get("cpu"), 500);
        assert!(cluster.remove_pod(&pod.key()).is_some());
        assert_eq!(cluster.get(&Text::of("w1")).unwrap().requested.get("cpu"), 0);
    }

    #[test]
    fn a_pod_counts_with_what_its_status_tells_once_it_has_a_node() {
        let mut tree = json!({"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
            "status": {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}});
        let cpu = |tree: &crate::objects::Json| {
            PodInfo::of(&Object::new(tree.clone(), 1), PodLevel::Ignored).requests.get("cpu")
        };
        assert_eq!(cpu(&tree), 1_000);
        tree.set(&["spec", "nodeName"], "w1");
        assert_eq!(cpu(&tree), 2_000);
    }
}
