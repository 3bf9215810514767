//! Which changes of the cluster may make a rejected Pod schedulable.
//!
//! Mirrors `EventsToRegister` and the hints of the plugins in pkg/scheduler/framework/plugins, and
//! pkg/scheduler/framework/events.go (v1.34). Before 1.32 a plugin named kinds of changes only, and a change of a Node
//! helped the Pods that the changed Node would admit (pkg/scheduler/eventhandlers.go, v1.31, `preCheckForNode`).
//! Inputs: the change, the Pod, and the plugins that rejected it. Outputs: whether to try again.

use alloc::vec::Vec;

use super::cache::{NodeInfo, PodInfo};
use super::filters::{Rules, lacking, untolerated};
use super::interpod::{Affinity, meets_all, required};
use super::plugins::{Plugin, Plugins};
use super::volumes::uses;
use crate::components::client::node_name;
use crate::components::node_affinity::matches_required;
use crate::components::pod_resources::{Amounts, HostPort};
use crate::objects::{Json, Object, ObjectKey};

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
    NodeDeleted,
    /// A Pod was bound, by this scheduler or another.
    PodBound(&'a PodInfo),
    /// A bound Pod's labels changed.
    PodRelabelled {
        before: &'a PodInfo,
        after: &'a PodInfo,
    },
    /// A Pod that was bound, or nominated for a node, is gone or has ended.
    PodGone(&'a PodInfo),
    /// A claim of a volume was made or changed.
    Claim(&'a ObjectKey),
    /// A volume was made or changed.
    Volume,
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
        (_, ClusterEvent::NodeAdded(_) | ClusterEvent::NodeChanged { .. }) => true,
        (Plugin::PodTopologySpread, ClusterEvent::NodeDeleted) => true,
        (_, ClusterEvent::NodeDeleted) => false,
        (
            Plugin::PodTopologySpread,
            ClusterEvent::PodBound(other) | ClusterEvent::PodRelabelled { after: other, .. },
        ) => other.key.namespace == pod.key.namespace,
        (
            Plugin::InterPodAffinity,
            ClusterEvent::PodBound(other) | ClusterEvent::PodRelabelled { after: other, .. },
        ) => required(pod, Affinity::Near).iter().any(|term| term.matches(other, &Json::Null)),
        (
            Plugin::NodePorts | Plugin::NodeResourcesFit | Plugin::PodTopologySpread | Plugin::InterPodAffinity,
            ClusterEvent::PodGone(_),
        )
        | (Plugin::VolumeBinding, ClusterEvent::Claim(_) | ClusterEvent::Volume) => true,
        _ => false,
    }
}

/// Calls the hint of a plugin.
///
/// A plugin that registers for new Nodes but not for changes of taints is also called for those, and then the change
/// always helps. Source: pkg/scheduler/scheduler.go (v1.34), `buildQueueingHintMap`.
fn hint(plugin: Plugin, change: ClusterEvent<'_>, pod: &PodInfo, rules: Rules) -> bool {
    let is_deaf_to_taints = matches!(
        plugin,
        Plugin::NodeAffinity | Plugin::NodePorts | Plugin::NodeResourcesFit | Plugin::InterPodAffinity
    );
    if is_deaf_to_taints && matches!(change, ClusterEvent::NodeChanged { what: NodeChange::Taints, .. }) {
        return true;
    }
    match plugin {
        Plugin::NodeUnschedulable => cordon_hint(change),
        Plugin::TaintToleration => taint_hint(change, pod),
        Plugin::NodeAffinity => label_hint(change, pod),
        Plugin::NodePorts => match change {
            ClusterEvent::NodeAdded(_) => true,
            ClusterEvent::PodGone(gone) => conflicts(&gone.ports, &pod.ports),
            _ => false,
        },
        Plugin::NodeResourcesFit => fit_hint(change, pod, rules),
        // Source: pkg/scheduler/framework/plugins/volumebinding/volume_binding.go (v1.34), `EventsToRegister`.
        Plugin::VolumeBinding => match change {
            ClusterEvent::Claim(key) => uses(pod, key),
            ClusterEvent::Volume
            | ClusterEvent::NodeAdded(_)
            | ClusterEvent::NodeChanged { what: NodeChange::Labels | NodeChange::Taints, .. } => true,
            _ => false,
        },
        Plugin::PodTopologySpread => spread_hint(change, pod),
        Plugin::InterPodAffinity => affinity_hint(change, pod),
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
        ClusterEvent::PodGone(_) => true,
        _ => false,
    }
}

fn spread_hint(change: ClusterEvent<'_>, pod: &PodInfo) -> bool {
    let constraints = pod.spec().get("topologySpreadConstraints").items();
    let is_hard = |one: &&Json| one.get("whenUnsatisfiable").as_str() == Some("DoNotSchedule");
    let keys = || constraints.iter().filter(is_hard).filter_map(|one| one.get("topologyKey").as_str());
    let has_all = |node: &Json| keys().all(|key| !node.at(&["metadata", "labels", key]).is_null());
    let selects = |other: &PodInfo| {
        let selector = |one: &Json| crate::objects::selector::Selector::of_object(one.get("labelSelector"));
        other.key.namespace == pod.key.namespace
            && constraints.iter().filter(is_hard).any(|one| selector(one).is_some_and(|s| s.matches(other.labels())))
    };
    match change {
        ClusterEvent::NodeAdded(node) => has_all(node.tree()),
        ClusterEvent::NodeChanged { what: NodeChange::Labels, before, after } => {
            let value = |node: &Json, key: &str| node.at(&["metadata", "labels", key]).as_text().cloned();
            let moved = keys().any(|key| value(before.stable(), key) != value(after.tree(), key));
            (has_all(before.stable()) || has_all(after.tree())) && moved
        }
        ClusterEvent::NodeDeleted => true,
        ClusterEvent::PodBound(other) | ClusterEvent::PodGone(other) => selects(other),
        ClusterEvent::PodRelabelled { before, after } => selects(before) != selects(after),
        ClusterEvent::NodeChanged { .. } | ClusterEvent::Claim(_) | ClusterEvent::Volume => false,
    }
}

fn affinity_hint(change: ClusterEvent<'_>, pod: &PodInfo) -> bool {
    let (near, away) = (required(pod, Affinity::Near), required(pod, Affinity::Away));
    match change {
        ClusterEvent::NodeAdded(_) => true,
        ClusterEvent::NodeChanged { what: NodeChange::Labels, before, after } => {
            before.stable().at(&["metadata", "labels"]) != after.tree().at(&["metadata", "labels"])
        }
        ClusterEvent::PodBound(other) => meets_all(&near, other),
        ClusterEvent::PodGone(other) => node_name(&other.object).is_some() && meets_all(&away, other),
        ClusterEvent::PodRelabelled { before, after } => {
            (!meets_all(&near, before) && meets_all(&near, after))
                || (meets_all(&away, before) && !meets_all(&away, after))
        }
        ClusterEvent::NodeChanged { .. }
        | ClusterEvent::NodeDeleted
        | ClusterEvent::Claim(_)
        | ClusterEvent::Volume => false,
    }
}
