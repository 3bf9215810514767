//! The filters: whether a node can run a Pod. They run in upstream's order, and the first that rejects is reported.
//!
//! Mirrors pkg/scheduler/framework/plugins/{nodeunschedulable,tainttoleration,nodeaffinity,nodeports,noderesources,
//! volumebinding,podtopologyspread,interpodaffinity} (v1.34), `Filter`.
//! Inputs: the Pod, the node with its Pods, and what was counted over all nodes before. Outputs: nothing, or the
//! reasons. Conditions are not checked, only taints and `spec.unschedulable` are, unless `TaintNodesByCondition` is
//! off: then as in pkg/scheduler/algorithm/predicates/predicates.go (v1.12).
//! Left out on purpose: `NodeName`, which never rejects here since bound Pods are not scheduled.

use alloc::format;
use alloc::vec::Vec;

use super::cache::{NodeInfo, PodInfo};
use super::interpod::AffinityState;
use super::plugins::{Plugin, Rejection, Remedy};
use super::snapshot::ClusterSnapshot;
use super::spread::SpreadState;
use super::volume_rules::VolumeRules;
use super::volumes::VolumeState;
use crate::components::node_affinity::{is_required, matches_required};
use crate::components::pod_resources::PodLevel;
use crate::components::tolerations::tolerates;
use crate::json;
use crate::objects::lifecycle::is_condition_true;
use crate::objects::{Json, Text};
use crate::profile::Settings;

/// The behaviours of a release that the filters depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) level: PodLevel,
    names_taint: bool,
    too_large_is_final: bool,
    names_volume_affinity: bool,
    consults_conditions: bool,
    pub(super) limits_volumes: bool,
    pub(super) counts_attachments: bool,
    /// A change of taints lets Pods try again that were rejected for other reasons than taints.
    pub(super) wakes_for_any_taint: bool,
    /// What an anti-affinity hint asks: whether one term concerns the changed Pod, or all do.
    pub(super) heeds_any_term: bool,
    /// A Pod that another one's anti-affinity keeps away tries again when that one goes, or its own labels change.
    pub(super) heeds_both_sides: bool,
    /// A nomination that goes lets Pods try again that were rejected for what runs beside them.
    pub(super) counts_nominated: bool,
    /// Of two victims that were not started the later one is the more important.
    pub(super) turns_unstarted_round: bool,
}

impl Rules {
    pub(super) fn of(settings: &Settings) -> Self {
        let profile = settings.profile();
        Self {
            level: PodLevel::of(profile),
            names_taint: profile.is("scheduler-names-untolerated-taint"),
            names_volume_affinity: profile.is("scheduler-names-volume-affinity"),
            consults_conditions: profile.is("scheduler-consults-conditions"),
            limits_volumes: profile.is("scheduler-limits-volumes"),
            counts_attachments: profile.is("scheduler-counts-attachments"),
            wakes_for_any_taint: profile.is("scheduler-wakes-for-any-taint"),
            heeds_any_term: profile.is("scheduler-anti-affinity-hint-heeds-any-term"),
            heeds_both_sides: profile.is("scheduler-affinity-hint-heeds-both-sides"),
            counts_nominated: profile.is("scheduler-hints-count-nominated-pods"),
            turns_unstarted_round: profile.is("scheduler-turns-unstarted-victims-round"),
            too_large_is_final: profile.is("scheduler-request-above-allocatable-is-unresolvable"),
        }
    }
}

/// A Pod with what was counted over all nodes for it.
#[derive(Clone, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) pod: &'a PodInfo,
    pub(super) rules: Rules,
    spread: Option<SpreadState>,
    affinity: Option<AffinityState>,
    volumes: Option<VolumeState<'a>>,
    volume_rules: Option<VolumeRules<'a>>,
    /// Whether the Pod requires anything of its node's labels or name.
    is_choosy: bool,
}

impl<'a> Candidate<'a> {
    pub(super) fn new(pod: &'a PodInfo, rules: Rules, view: &ClusterSnapshot<'a>) -> Self {
        let (spread, affinity) = (SpreadState::of(pod, view), AffinityState::of(pod, view));
        let volumes = VolumeState::of(pod, view.storage);
        let volume_rules = VolumeRules::of(pod, view);
        Self { pod, rules, spread, affinity, volumes, volume_rules, is_choosy: is_required(pod.spec()) }
    }

    /// Tells whether the Pod may run on a node.
    pub(super) fn check(&self, node: &NodeInfo) -> Result<(), Rejection> {
        if self.rules.consults_conditions {
            conditions(node)?;
        } else {
            self.schedulable(node)?;
        }
        self.taints(node)?;
        if self.is_choosy && !matches_required(self.pod.spec(), node.tree()) {
            let reason = "node(s) didn't match Pod's node affinity/selector";
            return Err(Rejection::new(Plugin::NodeAffinity, Remedy::None, Text::of(reason)));
        }
        self.ports(node)?;
        self.resources(node)?;
        if let Some(rules) = &self.volume_rules {
            rules.restrictions(node)?;
            rules.limits(node)?;
        }
        self.volumes.as_ref().map_or(Ok(()), |volumes| volumes.check(node, self.rules.names_volume_affinity))?;
        self.volume_rules.as_ref().map_or(Ok(()), |rules| rules.zones(node))?;
        self.spread.as_ref().map_or(Ok(()), |spread| spread.check(node))?;
        if self.rules.consults_conditions {
            pressures(self.pod, node)?;
        }
        self.affinity.as_ref().map_or(Ok(()), |affinity| affinity.check(node))
    }

    fn schedulable(&self, node: &NodeInfo) -> Result<(), Rejection> {
        if !node.is_unschedulable || tolerates_cordon(self.pod.spec()) {
            return Ok(());
        }
        Err(Rejection::new(Plugin::NodeUnschedulable, Remedy::None, Text::of("node(s) were unschedulable")))
    }

    fn taints(&self, node: &NodeInfo) -> Result<(), Rejection> {
        if !node.is_tainted {
            return Ok(());
        }
        let Some(taint) = untolerated(self.pod.spec(), node.taints()) else { return Ok(()) };
        let reason = if self.rules.names_taint {
            let part = |field| taint.get(field).as_str().unwrap_or("");
            Text::from(format!("node(s) had untolerated taint {{{}: {}}}", part("key"), part("value")))
        } else {
            Text::of("node(s) had untolerated taint(s)")
        };
        Err(Rejection::new(Plugin::TaintToleration, Remedy::None, reason))
    }

    fn ports(&self, node: &NodeInfo) -> Result<(), Rejection> {
        let is_taken = |port| node.ports.iter().any(|own| own.conflicts(port));
        if !self.pod.ports.iter().any(is_taken) {
            return Ok(());
        }
        let reason = "node(s) didn't have free ports for the requested pod ports";
        Err(Rejection::new(Plugin::NodePorts, Remedy::Preemption, Text::of(reason)))
    }

    fn resources(&self, node: &NodeInfo) -> Result<(), Rejection> {
        let (reasons, remedy) = lacking(self.pod, node, self.rules);
        if reasons.is_empty() { Ok(()) } else { Err(Rejection { plugin: Plugin::NodeResourcesFit, remedy, reasons }) }
    }
}

/// Tells whether a Pod tolerates cordoned nodes.
pub(super) fn tolerates_cordon(spec: &Json) -> bool {
    let tolerations = spec.get("tolerations").items();
    if tolerations.is_empty() {
        return false;
    }
    let taint = json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"});
    tolerations.iter().any(|toleration| tolerates(toleration, &taint))
}

/// Returns the first taint that keeps a Pod away.
pub(super) fn untolerated<'a>(spec: &Json, taints: &'a [Json]) -> Option<&'a Json> {
    let tolerations = spec.get("tolerations").items();
    taints.iter().find(|taint| {
        matches!(taint.get("effect").as_str(), Some("NoSchedule" | "NoExecute"))
            && !tolerations.iter().any(|toleration| tolerates(toleration, taint))
    })
}

/// Whether the node's conditions let any Pod run on it.
///
/// Source: pkg/scheduler/algorithm/predicates/predicates.go, error.go (v1.12), `CheckNodeConditionPredicate`.
fn conditions(node: &NodeInfo) -> Result<(), Rejection> {
    let mut reasons = Vec::new();
    for condition in node.tree().at(&["status", "conditions"]).items() {
        let status = condition.get("status").as_str();
        match condition.get("type").as_str() {
            Some("Ready") if status != Some("True") => reasons.push(Text::of("node(s) were not ready")),
            Some("OutOfDisk") if status != Some("False") => reasons.push(Text::of("node(s) were out of disk space")),
            Some("NetworkUnavailable") if status != Some("False") => {
                reasons.push(Text::of("node(s) had unavailable network"));
            }
            _ => {}
        }
    }
    if node.is_unschedulable {
        reasons.push(Text::of("node(s) were unschedulable"));
    }
    if reasons.is_empty() {
        return Ok(());
    }
    Err(Rejection { plugin: Plugin::NodeUnschedulable, remedy: Remedy::None, reasons })
}

/// Whether a pressure on the node keeps the Pod away: that on memory only a Pod without requests and limits.
///
/// Source: pkg/scheduler/algorithm/predicates/predicates.go, error.go (v1.12), `CheckNodeMemoryPressurePredicate`,
/// `CheckNodePIDPressurePredicate`, `CheckNodeDiskPressurePredicate`.
fn pressures(pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection> {
    let is_true = |kind: &str| is_condition_true(node.tree(), kind);
    let is_best_effort = pod.object.stable().at(&["status", "qosClass"]).as_str() == Some("BestEffort");
    let reason = if is_best_effort && is_true("MemoryPressure") {
        "node(s) had memory pressure"
    } else if is_true("PIDPressure") {
        "node(s) had pid pressure"
    } else if is_true("DiskPressure") {
        "node(s) had disk pressure"
    } else {
        return Ok(());
    };
    Err(Rejection::new(Plugin::NodeUnschedulable, Remedy::None, Text::of(reason)))
}

/// Returns what a node lacks for a Pod, in the words of `NodeResourcesFit`.
pub(super) fn lacking(pod: &PodInfo, node: &NodeInfo, rules: Rules) -> (Vec<Text>, Remedy) {
    let mut reasons = Vec::new();
    let mut remedy = Remedy::Preemption;
    let count = i64::try_from(node.pods.len()).unwrap_or(i64::MAX);
    if count + 1 > node.allocatable.get("pods") {
        reasons.push(Text::of("Too many pods"));
    }
    const FIRST: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
    let others = pod.requests.iter().map(|(name, _)| name.as_str()).filter(|name| is_scalar(name));
    for name in FIRST.into_iter().chain(others) {
        let wanted = pod.requests.get(name);
        if wanted <= 0 {
            continue;
        }
        let all = node.allocatable.get(name);
        if wanted > all - node.requested.get(name) {
            reasons.push(Text::from(format!("Insufficient {name}")));
            if wanted > all && rules.too_large_is_final {
                remedy = Remedy::None;
            }
        }
    }
    (reasons, remedy)
}

/// Tells whether a resource is a scalar resource, as an extended one.
///
/// Source: pkg/scheduler/util/utils.go (v1.34), `IsScalarResourceName`.
fn is_scalar(name: &str) -> bool {
    name.contains('/') || name.starts_with("hugepages-") || name.starts_with("attachable-volumes-")
}
