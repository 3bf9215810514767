//! Which changes of the cluster may make a rejected Pod schedulable.
//!
//! Mirrors `EventsToRegister` and the hints of the plugins in pkg/scheduler/framework/plugins, and
//! pkg/scheduler/framework/events.go (v1.34). Before 1.32 a plugin named kinds of changes only, and a change of a Node
//! helped the Pods that the changed Node would admit (pkg/scheduler/eventhandlers.go, v1.31, `preCheckForNode`).
//! Inputs: the change, the Pod, and the plugins that rejected it. Outputs: whether to try again.

use alloc::vec::Vec;

use super::cache::{NodeInfo, PodInfo};
use super::filters::{Rules, lacking, tolerates_cordon, untolerated};
use super::interpod::{Affinity, Term, meets_all, required};
use super::plugins::{Plugin, Plugins};
use super::queue::Queued;
use super::spread::hard_constraints;
use super::volume_hints::{self, StorageChange};
use crate::components::node_affinity::matches_required;
use crate::components::pod_resources::{Amounts, HostPort};
use crate::objects::{Json, Object};

/// The part of a Node that changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NodeChange {
    Allocatable,
    Labels,
    /// Its taints changed, or it was uncordoned.
    Taints,
    Conditions,
    Annotations,
}

impl NodeChange {
    /// Returns the parts that changed, in the order in which they are handled.
    ///
    /// Source: events.go (v1.34), `NodeSchedulingPropertiesChange`.
    pub(super) fn of(before: &Json, after: &Json) -> Vec<Self> {
        let differs = |path: &[&str]| {
            let (before, after) = (before.at(path), after.at(path));
            before != after && !(before.is_empty() && after.is_empty())
        };
        let cordoned = |node: &Json| node.at(&["spec", "unschedulable"]).as_bool() == Some(true);
        let mut found = Vec::new();
        if cordoned(before) && !cordoned(after) {
            found.push(Self::Taints);
        }
        if differs(&["status", "allocatable"]) {
            found.push(Self::Allocatable);
        }
        if differs(&["metadata", "labels"]) {
            found.push(Self::Labels);
        }
        if differs(&["spec", "taints"]) {
            found.push(Self::Taints);
        }
        if statuses(before) != statuses(after) {
            found.push(Self::Conditions);
        }
        if differs(&["metadata", "annotations"]) {
            found.push(Self::Annotations);
        }
        found
    }
}

fn statuses(node: &Json) -> Vec<(&str, &str)> {
    let conditions = node.at(&["status", "conditions"]).items().iter();
    let mut found: Vec<(&str, &str)> = conditions
        .map(|condition| (condition.get("type").as_str().unwrap_or(""), condition.get("status").as_str().unwrap_or("")))
        .collect();
    found.sort_unstable();
    found
}

/// A change of the cluster.
#[derive(Clone, Copy, Debug)]
pub(super) enum ClusterEvent<'a> {
    NodeAdded(&'a NodeInfo),
    NodeChanged {
        what: NodeChange,
        before: &'a Object,
        after: &'a NodeInfo,
    },
    NodeDeleted(&'a Object),
    /// A Pod was bound, by this scheduler or another.
    PodBound(&'a PodInfo),
    /// A bound Pod's labels changed.
    PodRelabelled {
        before: &'a PodInfo,
        after: &'a PodInfo,
    },
    /// A bound Pod was resized down.
    PodShrunk {
        before: &'a PodInfo,
        after: &'a PodInfo,
    },
    /// A Pod that was bound is gone or has ended.
    PodGone(&'a PodInfo),
    /// A Pod that was nominated for a node is gone, or is not nominated for it any more.
    NominationGone(&'a PodInfo),
    Storage(StorageChange<'a>),
}

/// How plugins of a release register for changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hinting {
    /// Each plugin decides whether this change helps this Pod.
    ByPlugin,
    /// Each plugin names kinds of changes.
    ByKind,
}

/// Tells whether a change may help a Pod.
pub(super) fn helps(
    change: ClusterEvent<'_>,
    pod: &PodInfo,
    rejectors: Plugins,
    hinting: Hinting,
    rules: Rules,
) -> bool {
    match hinting {
        Hinting::ByPlugin => rejectors.iter().any(|plugin| hint(plugin, change, pod, rules)),
        Hinting::ByKind => {
            let admits = match change {
                ClusterEvent::NodeAdded(node) | ClusterEvent::NodeChanged { after: node, .. } => {
                    admits(pod, node, rules)
                }
                _ => true,
            };
            admits && rejectors.iter().any(|plugin| is_named(plugin, change, pod))
        }
    }
}

/// Source: eventhandlers.go (v1.31), `preCheckForNode`: only NoSchedule counts here.
fn admits(pod: &PodInfo, node: &NodeInfo, rules: Rules) -> bool {
    let hard: Vec<Json> =
        node.taints().iter().filter(|taint| taint.get("effect").as_str() == Some("NoSchedule")).cloned().collect();
    let ports_free = !node.ports.iter().any(|own| pod.ports.iter().any(|port| own.conflicts(port)));
    lacking(pod, node, rules).0.is_empty()
        && matches_required(pod.spec(), node.tree())
        && ports_free
        && untolerated(pod.spec(), &hard).is_none()
}

/// Tells whether a plugin of 1.31 names a change of this kind.
fn is_named(plugin: Plugin, change: ClusterEvent<'_>, pod: &PodInfo) -> bool {
    use NodeChange::{Labels, Taints};
    match (plugin, change) {
        (Plugin::PodTopologySpread, ClusterEvent::NodeChanged { what, .. })
        | (Plugin::InterPodAffinity, ClusterEvent::NodeChanged { what, .. }) => matches!(what, Labels | Taints),
        (Plugin::NodeVolumeLimits, ClusterEvent::NodeAdded(_) | ClusterEvent::NodeChanged { .. }) => false,
        (_, ClusterEvent::NodeAdded(_) | ClusterEvent::NodeChanged { .. }) => true,
        (Plugin::PodTopologySpread, ClusterEvent::NodeDeleted(_)) => true,
        (_, ClusterEvent::NodeDeleted(_)) => false,
        (
            Plugin::PodTopologySpread,
            ClusterEvent::PodBound(other) | ClusterEvent::PodRelabelled { after: other, .. },
        ) => other.key.namespace == pod.key.namespace,
        (
            Plugin::InterPodAffinity,
            ClusterEvent::PodBound(other) | ClusterEvent::PodRelabelled { after: other, .. },
        ) => required(pod, Affinity::Near).iter().any(|term| term.matches(other, &Json::Null)),
        (
            Plugin::NodePorts
            | Plugin::NodeResourcesFit
            | Plugin::VolumeRestrictions
            | Plugin::NodeVolumeLimits
            | Plugin::PodTopologySpread
            | Plugin::InterPodAffinity,
            ClusterEvent::PodGone(_) | ClusterEvent::NominationGone(_),
        )
        | (Plugin::NodeResourcesFit, ClusterEvent::PodShrunk { .. }) => true,
        (_, ClusterEvent::Storage(change)) => volume_hints::is_named(plugin, change),
        _ => false,
    }
}

/// Calls the hint of a plugin.
///
/// Up to 1.36 a plugin that registers for new Nodes but not for changes of taints is also called for those, and then
/// the change always helps. Source: pkg/scheduler/scheduler.go (v1.34, v1.37), `buildQueueingHintMap`.
fn hint(plugin: Plugin, change: ClusterEvent<'_>, pod: &PodInfo, rules: Rules) -> bool {
    let is_deaf_to_taints = matches!(
        plugin,
        Plugin::NodeAffinity
            | Plugin::NodePorts
            | Plugin::NodeResourcesFit
            | Plugin::VolumeRestrictions
            | Plugin::VolumeBinding
            | Plugin::VolumeZone
            | Plugin::InterPodAffinity
    );
    if rules.wakes_for_any_taint
        && is_deaf_to_taints
        && matches!(change, ClusterEvent::NodeChanged { what: NodeChange::Taints, .. })
    {
        return true;
    }
    match plugin {
        Plugin::NodeUnschedulable => cordon_hint(change),
        Plugin::TaintToleration => taint_hint(change, pod),
        Plugin::NodeAffinity => label_hint(change, pod),
        Plugin::NodePorts => match change {
            ClusterEvent::NodeAdded(_) => true,
            ClusterEvent::PodGone(gone) | ClusterEvent::NominationGone(gone) => conflicts(&gone.ports, &pod.ports),
            _ => false,
        },
        Plugin::NodeResourcesFit => fit_hint(change, pod, rules),
        Plugin::VolumeRestrictions | Plugin::NodeVolumeLimits | Plugin::VolumeBinding | Plugin::VolumeZone => {
            volume_hints::hint(plugin, change, pod)
        }
        Plugin::PodTopologySpread => spread_hint(change, pod, rules),
        Plugin::InterPodAffinity => affinity_hint(change, pod, rules),
    }
}

fn conflicts(one: &[HostPort], other: &[HostPort]) -> bool {
    one.iter().any(|own| other.iter().any(|port| own.conflicts(port)))
}

fn cordon_hint(change: ClusterEvent<'_>) -> bool {
    let cordoned = |node: &Json| node.at(&["spec", "unschedulable"]).as_bool() == Some(true);
    match change {
        ClusterEvent::NodeAdded(node) => !cordoned(node.tree()),
        ClusterEvent::NodeChanged { what: NodeChange::Taints, before, after } => {
            cordoned(before.stable()) && !cordoned(after.tree())
        }
        _ => false,
    }
}

fn taint_hint(change: ClusterEvent<'_>, pod: &PodInfo) -> bool {
    let welcome = |node: &NodeInfo| untolerated(pod.spec(), node.taints()).is_none();
    match change {
        ClusterEvent::NodeAdded(node) => welcome(node),
        ClusterEvent::NodeChanged { what: NodeChange::Taints, before, after } => {
            let before = before.stable().at(&["spec", "taints"]).items();
            untolerated(pod.spec(), before).is_some() && welcome(after)
        }
        _ => false,
    }
}

fn label_hint(change: ClusterEvent<'_>, pod: &PodInfo) -> bool {
    match change {
        ClusterEvent::NodeAdded(node) => matches_required(pod.spec(), node.tree()),
        ClusterEvent::NodeChanged { what: NodeChange::Labels, before, after } => {
            matches_required(pod.spec(), after.tree()) && !matches_required(pod.spec(), before.stable())
        }
        _ => false,
    }
}

fn fit_hint(change: ClusterEvent<'_>, pod: &PodInfo, rules: Rules) -> bool {
    // Whether the Pod would fit on the empty node.
    let fits_alone = |node: &NodeInfo| {
        let mut bare = node.clone();
        bare.pods.clear();
        bare.requested = Amounts::default();
        lacking(pod, &bare, rules).0.is_empty()
    };
    match change {
        ClusterEvent::NodeAdded(node) => fits_alone(node),
        ClusterEvent::NodeChanged { what: NodeChange::Allocatable, before, after } => {
            let before = Amounts::of(before.stable().at(&["status", "allocatable"]));
            let grew = |name: &str| after.allocatable.get(name) > before.get(name);
            let wanted = pod.requests.iter().filter(|(_, amount)| *amount > 0);
            fits_alone(after) && (grew("pods") || wanted.into_iter().any(|(name, _)| grew(name)))
        }
        ClusterEvent::PodGone(_) | ClusterEvent::NominationGone(_) => true,
        ClusterEvent::PodShrunk { before, after } => {
            let mut wanted = pod.requests.iter().filter(|(_, amount)| *amount > 0);
            wanted.any(|(name, _)| before.requests.get(name) > after.requests.get(name))
        }
        _ => false,
    }
}

/// Source: podtopologyspread/plugin.go (v1.34), `isSchedulableAfterPodChange`, `isSchedulableAfterNodeChange`.
fn spread_hint(change: ClusterEvent<'_>, pod: &PodInfo, rules: Rules) -> bool {
    let constraints = hard_constraints(pod);
    let has_all = |node: &Json| constraints.iter().all(|one| !label(node, one.key()).is_null());
    let selects = |other: &PodInfo| {
        other.key.namespace == pod.key.namespace && constraints.iter().any(|one| one.selects(other.labels()))
    };
    match change {
        ClusterEvent::NodeAdded(node) => has_all(node.tree()),
        ClusterEvent::NodeChanged { what: NodeChange::Labels | NodeChange::Taints, before, after } => {
            let (before, after) = (before.stable(), after.tree());
            let taints = |node: &Json| node.at(&["spec", "taints"]).items().to_vec();
            let differs = || {
                let moved = constraints.iter().any(|one| label(before, one.key()) != label(after, one.key()));
                moved || taints(before) != taints(after)
            };
            has_all(before) != has_all(after) || (has_all(after) && differs())
        }
        ClusterEvent::NodeDeleted(node) => has_all(node.stable()),
        ClusterEvent::PodBound(other) | ClusterEvent::PodGone(other) => selects(other),
        ClusterEvent::NominationGone(other) => rules.counts_nominated && selects(other),
        ClusterEvent::PodRelabelled { before, after } => {
            let changes = |labels: &PodInfo| constraints.iter().map(|one| one.selects(labels.labels())).collect();
            let (before_met, after_met): (Vec<bool>, Vec<bool>) = (changes(before), changes(after));
            after.key.namespace == pod.key.namespace && before_met != after_met
        }
        ClusterEvent::NodeChanged { .. } | ClusterEvent::PodShrunk { .. } | ClusterEvent::Storage(_) => false,
    }
}

fn label<'a>(node: &'a Json, key: &str) -> &'a Json {
    node.at(&["metadata", "labels", key])
}

/// Source: interpodaffinity/plugin.go (v1.34, v1.37), `isSchedulableAfterPodChange`, `isSchedulableAfterNodeChange`.
fn affinity_hint(change: ClusterEvent<'_>, pod: &PodInfo, rules: Rules) -> bool {
    let (near, away) = (required(pod, Affinity::Near), required(pod, Affinity::Away));
    let meets = |terms: &[Term], other: &PodInfo| {
        if rules.heeds_any_term {
            terms.iter().any(|term| term.matches(other, &Json::Null))
        } else {
            meets_all(terms, other)
        }
    };
    let kept_away = |other: &PodInfo| meets(&away, other);
    let keeps_away = |other: &PodInfo| rules.heeds_both_sides && meets(&required(other, Affinity::Away), pod);
    match change {
        ClusterEvent::NodeAdded(node) => {
            !away.is_empty() || near.iter().any(|term| !label(node.tree(), term.topology_key()).is_null())
        }
        ClusterEvent::NodeChanged { what: NodeChange::Labels, before, after } => {
            let values = |key: &str| (label(before.stable(), key).clone(), label(after.tree(), key).clone());
            let moved = |one: &Json, other: &Json| !one.is_null() && !other.is_null() && one != other;
            let joined = near.iter().map(|term| values(term.topology_key()));
            let left = away.iter().map(|term| values(term.topology_key()));
            let joined = joined.into_iter().any(|(was, is)| (was.is_null() && !is.is_null()) || moved(&was, &is));
            joined || left.into_iter().any(|(was, is)| (!was.is_null() && is.is_null()) || moved(&was, &is))
        }
        ClusterEvent::PodBound(other) => meets_all(&near, other),
        ClusterEvent::PodGone(other) => kept_away(other) || keeps_away(other),
        ClusterEvent::NominationGone(other) => rules.counts_nominated && (kept_away(other) || keeps_away(other)),
        ClusterEvent::PodRelabelled { before, after } => {
            (!meets_all(&near, before) && meets_all(&near, after)) || (kept_away(before) && !kept_away(after))
        }
        ClusterEvent::NodeChanged { .. }
        | ClusterEvent::NodeDeleted(_)
        | ClusterEvent::PodShrunk { .. }
        | ClusterEvent::Storage(_) => false,
    }
}

/// Tells whether a change of a waiting Pod itself may help it.
///
/// Source: pkg/scheduler/framework/events.go, `PodSchedulingPropertiesChange`, and the hints of the plugins (v1.34);
/// scheduling_queue.go (v1.31), `isPodUpdated`.
pub(super) fn own_change_helps(
    before: &Object,
    after: &PodInfo,
    queued: &Queued,
    hinting: Hinting,
    rules: Rules,
) -> bool {
    let (old, new) = (before.stable(), after.object.stable());
    let labels_differ = old.at(&["metadata", "labels"]) != new.at(&["metadata", "labels"]);
    if hinting == Hinting::ByKind {
        let annotations_differ = old.at(&["metadata", "annotations"]) != new.at(&["metadata", "annotations"]);
        return labels_differ || annotations_differ || old.get("spec") != new.get("spec");
    }
    let tolerations = |pod: &Json| pod.at(&["spec", "tolerations"]).items().len();
    let tolerates_more = tolerations(old) != tolerations(new);
    let counts_otherwise = || {
        let constraints = hard_constraints(after);
        let labels = old.at(&["metadata", "labels"]);
        let selects_otherwise = || constraints.iter().any(|one| one.selects(labels) != one.selects(after.labels()));
        (tolerates_more && constraints.iter().any(|one| one.honours_taints())) || (labels_differ && selects_otherwise())
    };
    queued.rejectors.iter().any(|plugin| match plugin {
        // Source: noderesources/fit.go (v1.33, v1.34, v1.37), `isSchedulableAfterPodScaleDown`.
        Plugin::NodeResourcesFit => PodInfo::of(before, rules.level).requests_more_than(after),
        Plugin::TaintToleration => tolerates_more,
        Plugin::NodeUnschedulable => tolerates_more && tolerates_cordon(after.spec()),
        Plugin::PodTopologySpread => counts_otherwise(),
        Plugin::InterPodAffinity => labels_differ && rules.heeds_both_sides,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::{ClusterEvent, Hinting, NodeChange, helps};
    use crate::components::pod_resources::PodLevel;
    use crate::components::scheduler::cache::{PodInfo, SchedulerCache};
    use crate::components::scheduler::filters::Rules;
    use crate::components::scheduler::plugins::{Plugin, Plugins};
    use crate::json;
    use crate::objects::{Json, Object, Text};
    use crate::profile::{Release, Settings};

    fn node(labels: Json, taints: Json) -> Object {
        let mut tree = json!({"metadata": {"name": "n"}});
        tree.set(&["metadata", "labels"], labels);
        tree.set(&["spec", "taints"], taints);
        Object::new(tree, 1)
    }

    fn pod(spec: Json) -> PodInfo {
        let mut tree = json!({"metadata": {"name": "p", "namespace": "d", "labels": {"app": "x"}}});
        tree.set(&["spec"], spec);
        PodInfo::of(&Object::new(tree, 1), PodLevel::Ignored)
    }

    fn helped(plugin: Plugin, change: ClusterEvent<'_>, pod: &PodInfo) -> bool {
        let mut rejectors = Plugins::default();
        rejectors.insert(plugin);
        helps(change, pod, rejectors, Hinting::ByPlugin, Rules::of(&Settings::of(Release::new(34, 0))))
    }

    /// Tells whether a change of the node helps, if it is reported as one of its labels or of its taints.
    fn changed(plugin: Plugin, what: NodeChange, nodes: [&Object; 2], pod: &PodInfo) -> bool {
        let mut cluster = SchedulerCache::default();
        cluster.set_node(nodes[1]);
        let after = cluster.get(&Text::of("n")).unwrap();
        helped(plugin, ClusterEvent::NodeChanged { what, before: nodes[0], after }, pod)
    }

    #[test]
    fn taints_and_keys_of_a_node_help_a_pod_that_is_to_be_spread() {
        let spread = pod(json!({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "x"}}}]}));
        let (bare, in_a) = (node(json!({}), json!([])), node(json!({"zone": "a"}), json!([])));
        let tainted = node(json!({"zone": "a"}), json!([{"key": "k", "effect": "NoSchedule"}]));
        let other = node(json!({"zone": "a", "disk": "ssd"}), json!([]));
        let by = |what, nodes| changed(Plugin::PodTopologySpread, what, nodes, &spread);
        assert!(by(NodeChange::Taints, [&tainted, &in_a]));
        assert!(!by(NodeChange::Taints, [&in_a, &in_a]), "it was uncordoned");
        let apart = node(json!({}), json!([{"key": "k"}]));
        assert!(!by(NodeChange::Taints, [&apart, &bare]), "it has no zone");
        assert!(by(NodeChange::Labels, [&bare, &in_a]));
        assert!(!by(NodeChange::Labels, [&in_a, &other]));
        assert!(helped(Plugin::PodTopologySpread, ClusterEvent::NodeDeleted(&in_a), &spread));
        assert!(!helped(Plugin::PodTopologySpread, ClusterEvent::NodeDeleted(&bare), &spread));
        assert!(!helped(Plugin::PodTopologySpread, ClusterEvent::NominationGone(&spread), &spread));
        let mut rejectors = Plugins::default();
        rejectors.insert(Plugin::PodTopologySpread);
        let rules = Rules::of(&Settings::of(Release::new(36, 0)));
        assert!(helps(ClusterEvent::NominationGone(&spread), &spread, rejectors, Hinting::ByPlugin, rules));
    }

    #[test]
    fn a_pod_that_asks_for_less_helps_where_it_had_what_is_wanted() {
        let asks = |requests: Json| pod(json!({"containers": [{"name": "c", "resources": {"requests": requests}}]}));
        let (before, after) = (asks(json!({"cpu": "3", "memory": "1Gi"})), asks(json!({"cpu": "1", "memory": "1Gi"})));
        let shrunk = |wanted: &PodInfo, plugin| {
            helped(plugin, ClusterEvent::PodShrunk { before: &before, after: &after }, wanted)
        };
        assert!(shrunk(&asks(json!({"cpu": "2"})), Plugin::NodeResourcesFit));
        assert!(!shrunk(&asks(json!({"memory": "2Gi"})), Plugin::NodeResourcesFit), "it has all its memory still");
        assert!(!shrunk(&asks(json!({"cpu": "0", "memory": "2Gi"})), Plugin::NodeResourcesFit), "none is wanted");
        assert!(!shrunk(&asks(json!({"cpu": "2"})), Plugin::NodePorts));
    }

    #[test]
    fn a_node_helps_affinity_by_joining_a_topology_and_anti_affinity_by_leaving_one() {
        let term = json!([{"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "x"}}}]);
        let with = |kind: &str| {
            let mut spec = json!({});
            spec.set(&["affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution"], term.clone());
            pod(spec)
        };
        let (near, away, neither) = (with("podAffinity"), with("podAntiAffinity"), pod(json!({})));
        let (bare, in_a) = (node(json!({}), json!([])), node(json!({"zone": "a"}), json!([])));
        let in_b = node(json!({"zone": "b"}), json!([]));
        let by = |nodes, pod| changed(Plugin::InterPodAffinity, NodeChange::Labels, nodes, pod);
        assert!(by([&bare, &in_a], &near) && !by([&bare, &in_a], &away));
        assert!(!by([&in_a, &bare], &near) && by([&in_a, &bare], &away));
        assert!(by([&in_a, &in_b], &near) && by([&in_a, &in_b], &away) && !by([&in_a, &in_b], &neither));
        let added = |one: &Object, pod| {
            let mut cluster = SchedulerCache::default();
            cluster.set_node(one);
            helped(Plugin::InterPodAffinity, ClusterEvent::NodeAdded(cluster.get(&Text::of("n")).unwrap()), pod)
        };
        assert!(added(&in_a, &near) && !added(&bare, &near) && added(&bare, &away) && !added(&in_a, &neither));
    }
}
